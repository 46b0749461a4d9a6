/// text_impl.h - the words of the text form that print.c and read.c share.
///
/// Each table is indexed by its enum; the first entry of `cache` and `evict` is the default, which
/// is not printed. The grammar stands at the head of read.c.
#ifndef NEWT_IR_TEXT_IMPL_H
#define NEWT_IR_TEXT_IMPL_H
#include "ir/ir.h"

extern const char *const ir_text_cache[CACHE_WT + 1];
extern const char *const ir_text_evict[EVICT_LAST + 1];
extern const char *const ir_text_reduce[REDUCE_KIND_COUNT];
extern const char *const ir_text_atomic[ATOMIC_KIND_COUNT];
extern const char *const ir_text_order[ORDER_ACQ_REL + 1];
extern const char *const ir_text_scope[SCOPE_SYS + 1];

#endif
