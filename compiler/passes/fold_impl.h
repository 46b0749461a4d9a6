/// fold_impl.h - the parts of the fold pass: the driver (fold.c) and four families of rules.
///
/// A rule gets an operation whose operands are up to date and returns what its result may be
/// replaced by (an older value, or a new one built in front of it), or NULL. Rules run before
/// layouts exist.
#ifndef NEWT_PASSES_FOLD_IMPL_H
#define NEWT_PASSES_FOLD_IMPL_H
#include "ir/ir.h"

typedef struct Fold {
    IrBuilder b;           ///< in front of the operation at hand
    bool changed;          ///< something was changed in place
    const uint32_t *uses;  ///< by value id, of the function as the round began
    uint32_t use_count;    ///< ids that `uses` knows
} Fold;

static inline bool fold_const_of(const IrValue *v, IrConst *out)
{
    if (!v || !ir_is_const(v))
        return false;
    *out = v->def->attr.konst;
    return true;
}

/// True when `v` is the integer or bool constant `i` (in every element).
static inline bool fold_is_int(const IrValue *v, int64_t i)
{
    IrConst c;
    return fold_const_of(v, &c) && !c.is_float && c.i == i;
}

/// fold_const.c: the value of an elementwise operation on constants, with run-time semantics. False
/// when an operand is not constant, or the result is the hardware's choice.
bool fold_evaluate(const IrOp *op, IrConst *out);

/// fold_algebra.c: identities of elementwise operations that hold for every value of the type.
IrValue *fold_algebra(Fold *f, IrOp *op);

/// fold_shape.c: splats, compositions of shape operations, elementwise operations on splats.
IrValue *fold_shape(Fold *f, IrOp *op);

/// fold_dot.c: an addition to a matrix product.
IrValue *fold_dot(Fold *f, IrOp *op);

/// fold_control.c: decided branches, loops of no or one iteration, values that loops only hand on.
/// True when it changed something; `op` may be gone then.
bool fold_control(Fold *f, IrOp *op);

#endif
