/// text_impl.h - what the printer and the two halves of the reader share.
///
/// The word tables are indexed by their enums; the first entry of `cache` and `evict` is the
/// default, which is not printed. The grammar stands at the head of read.c. Every ir_text_
/// function of the reader returns false after it reported a fault; the caller then gives up.
#ifndef NEWT_IR_TEXT_IMPL_H
#define NEWT_IR_TEXT_IMPL_H
#include "ir/ir.h"

extern const char *const ir_text_cache[CACHE_WT + 1];
extern const char *const ir_text_evict[EVICT_LAST + 1];
extern const char *const ir_text_reduce[REDUCE_KIND_COUNT];
extern const char *const ir_text_precision[PRECISION_COUNT];
extern const char *const ir_text_atomic[ATOMIC_KIND_COUNT];
extern const char *const ir_text_order[ORDER_ACQ_REL + 1];
extern const char *const ir_text_scope[SCOPE_SYS + 1];

typedef struct IrName {
    Sym full;
    IrValue *value;
} IrName;

typedef struct IrReader {
    Arena *arena;
    TypeTable *types;
    SymTable *syms;
    const SourceFile *file;
    const IrLayoutText *layouts;
    DiagSink *diags;
    IrFunc *fn;
    uint32_t at;     ///< offset in file->text
    unsigned depth;  ///< of regions
    IrName *names;   ///< open addressing by Sym
    uint32_t name_count, name_cap;
} IrReader;

/// A type with its layout, as it stands after a colon.
typedef struct IrTypeText {
    const Type *type;
    const struct Layout *layout;
} IrTypeText;

/// What the reader knows of an operation before it can be made.
typedef struct IrDraft {
    IrCode code;
    uint32_t at;  ///< where the operation begins
    VEC(Sym) result_names;
    VEC(IrValue *) args;
    VEC(IrTypeText) types;
    Str literal;  ///< CONST: as written
    IrAttr attr;
    uint32_t perm_count;
    int32_t ring;
    int32_t smem;
    uint32_t smem_bytes, smem_turn;
    bool smem_by_warp;
} IrDraft;

/* ---- read_words.c ---- */
bool ir_text_fail(IrReader *r, uint32_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void ir_text_blanks(IrReader *r);  ///< skips blanks and comments, not newlines
void ir_text_lines(IrReader *r);   ///< skips newlines too
char ir_text_peek(IrReader *r);    ///< the next character after blanks, without taking it
bool ir_text_accept(IrReader *r, char c);
bool ir_text_expect(IrReader *r, char c);
Str ir_text_word(IrReader *r);  ///< an identifier; empty when there is none
bool ir_text_expect_word(IrReader *r, const char *word);
bool ir_text_int(IrReader *r, int64_t lo, int64_t hi, int64_t *out);
bool ir_text_enum(IrReader *r, const char *const *words, int count, int *out);
bool ir_text_type(IrReader *r, IrTypeText *out);
/// The constant `literal` of `type`.
bool ir_text_const(IrReader *r, Str literal, const Type *type, IrConst *out);
/// The part of an attribute list between the braces, for an operation.
bool ir_text_attrs(IrReader *r, IrDraft *d);

#endif
