/// fold_dot.c - a sum of a dot that starts from zero and something else: that dot starting there.
///
/// acc += dot(a, b) and acc = dot(a, b, acc) are one operation; only rounding may differ.
#include "passes/fold_impl.h"

/// The DOT that makes `v` for nobody but `user`, starting from zeros.
static IrOp *lone_product(const Fold *f, const IrValue *v, const IrOp *user)
{
    IrConst c;
    IrOp *dot = v->def;
    if (!dot || dot->code != IR_DOT || dot->block != user->block || v->id >= f->use_count ||
        f->uses[v->id] != 1 || !fold_const_of(dot->args[2], &c))
        return NULL;
    return (c.is_float ? c.f == 0 : c.i == 0) ? dot : NULL;
}

IrValue *fold_dot(Fold *f, IrOp *op)
{
    for (uint32_t i = 0; op->code == IR_ADD && i < 2; i++) {
        const IrOp *dot = lone_product(f, op->args[i], op);
        if (!dot)
            continue;
        IrValue *args[] = { dot->args[0], dot->args[1], op->args[1 - i] };
        IrValue *v = ir_op1(&f->b, IR_DOT, op->results[0]->type, 3, args);
        v->def->attr = dot->attr;
        return v;
    }
    return NULL;
}
