// fold_shape.c - shape operations of constants and splats, compositions of shape operations, and
// elementwise operations on splats, which are one scalar operation and a splat.
#include "passes/fold_impl.h"

static const IrOp *def_of(const IrValue *v, IrCode code)
{
    return v && v->def && v->def->code == code ? v->def : NULL;
}

/// The scalar that every element of `v` equals, built when it is a constant; NULL when unknown.
static IrValue *scalar_of(Fold *f, IrValue *v)
{
    const IrOp *splat = def_of(v, IR_SPLAT);
    if (splat)
        return splat->args[0];
    IrConst c;
    return fold_const_of(v, &c) ? ir_const(&f->b, type_elem(v->type), c) : NULL;
}

static bool is_uniform(const IrValue *v)
{
    return ir_is_const(v) || def_of(v, IR_SPLAT);
}

static IrValue *elementwise_on_splats(Fold *f, IrOp *op)
{
    const Type *type = op->results[0]->type;
    IrValue *args[3];
    bool uniform = type_is_block(type) && op->argc <= 3;
    for (uint32_t i = 0; uniform && i < op->argc; i++)
        uniform = is_uniform(op->args[i]);
    if (!uniform)
        return NULL;
    for (uint32_t i = 0; i < op->argc; i++)
        args[i] = scalar_of(f, op->args[i]);
    IrValue *scalar = ir_op1(&f->b, op->code, type_elem(type), op->argc, args);
    scalar->def->attr = op->attr;
    scalar->hint = op->results[0]->hint;
    return ir_splat(&f->b, scalar, type);
}

static IrValue *trans_of_trans(Fold *f, const IrOp *outer, const IrOp *inner)
{
    uint8_t perm[TYPE_MAX_RANK];
    unsigned rank = type_rank(outer->results[0]->type);
    for (unsigned k = 0; k < rank; k++)
        perm[k] = inner->attr.perm[outer->attr.perm[k]];
    return ir_trans(&f->b, inner->args[0], perm);
}

static bool is_identity(const IrOp *trans)
{
    for (unsigned k = 0; k < type_rank(trans->results[0]->type); k++)
        if (trans->attr.perm[k] != k)
            return false;
    return true;
}

/// A splat or constant under another shape is one of that shape.
static IrValue *reshaped_splat(Fold *f, IrOp *op)
{
    const Type *type = op->results[0]->type;
    const IrOp *splat = def_of(op->args[0], IR_SPLAT);
    IrConst c;
    if (splat)
        return ir_splat(&f->b, splat->args[0], type);
    return fold_const_of(op->args[0], &c) ? ir_const(&f->b, type, c) : NULL;
}

IrValue *fold_shape(Fold *f, IrOp *op)
{
    IrConst c;
    if (op->code == IR_ARANGE && op->results[0]->type->numel == 1)
        return ir_const(&f->b, op->results[0]->type,
                        ir_const_of_int(op->results[0]->type, op->attr.range.lo));
    if (op->argc == 0)
        return NULL;
    IrValue *x = op->args[0];
    const Type *type = op->results[0]->type;
    if (ir_op_info[op->code].cls == OPCLASS_ELEMENTWISE)
        return elementwise_on_splats(f, op);
    if (op->code == IR_SPLAT)
        return fold_const_of(x, &c) ? ir_const(&f->b, type, c) : NULL;
    IrValue *v = reshaped_splat(f, op);
    if (v)
        return v;
    const IrOp *inner = def_of(x, op->code);
    switch (op->code) {
    case IR_BROADCAST:
        if (x->type == type)
            return x;
        return inner ? ir_broadcast(&f->b, inner->args[0], type) : NULL;
    case IR_RESHAPE:
        if (x->type == type)
            return x;
        if (!inner)
            inner = def_of(x, IR_EXPAND_DIMS);
        if (!inner || !type_is_block(inner->args[0]->type))
            return NULL;
        return ir_reshape(&f->b, inner->args[0], type);
    case IR_TRANS:
        if (is_identity(op))
            return x;
        return inner ? trans_of_trans(f, op, inner) : NULL;
    default: return NULL;
    }
}
