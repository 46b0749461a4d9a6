/// alias.h - whether the addresses of two accesses through one pointer parameter can meet.
///
/// Pointers are taken apart into a constant, scalars and loop counters with factors, and the
/// block's coordinates with factors. What does not fit that form makes the answer ALIAS_UNKNOWN.
/// Offsets are taken not to wrap around within one program.
#ifndef NEWT_PASSES_ALIAS_H
#define NEWT_PASSES_ALIAS_H
#include "passes/axis_info.h"

typedef enum {
    ALIAS_UNKNOWN,
    ALIAS_DISJOINT,  ///< no element of one has the address of an element of the other
    ALIAS_SAME       ///< element by element the same addresses, and no two elements share one
} AliasAnswer;

/// Compares the addresses of pointer `p`, accessed earlier, with those of `q`. `loop` NULL: in the
/// same iteration of every loop around both; else p's were accessed in an earlier iteration of
/// `loop`.
AliasAnswer alias_compare(const AxisInfo *axes, const IrValue *p, const IrValue *q,
                          const IrOp *loop);

#endif
