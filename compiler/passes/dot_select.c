/// dot_select.c - chooses how each matrix product is computed: matrix instructions or plain
/// multiplication.
///
/// Needs the target. Plain multiplication takes every type and shape.
#include "passes/pass.h"

static bool select_dot(IrOp *op, void *cx)
{
    (void)cx;
    if (op->code == IR_DOT)
        op->attr.dot.mma = false;
    return true;
}

bool pass_dot_select(PassCtx *cx, IrFunc *fn)
{
    (void)cx;
    return ir_walk(fn, select_dot, NULL);
}
