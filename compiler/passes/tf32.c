/// tf32.c - see tf32.h.
#include "passes/tf32.h"

typedef struct Uses {
    const IrFunc *fn;
    const IrValue *value;
    bool all_round;
} Uses;

static bool rounds(const IrOp *op, uint32_t operand)
{
    return op->code == IR_DOT && operand < 2 && op->attr.dot.precision == PRECISION_TF32;
}

static bool note_use(IrOp *op, void *cx)
{
    Uses *u = cx;
    for (uint32_t i = 0; i < op->argc && u->all_round; i++) {
        if (op->args[i] != u->value)
            continue;
        u->all_round = op->code == IR_TRANS ? tf32_everywhere(u->fn, op->results[0]) : rounds(op, i);
    }
    return u->all_round;
}

bool tf32_everywhere(const IrFunc *fn, const IrValue *v)
{
    Uses u = { fn, v, type_scalar_kind(v->type) == SCALAR_F32 };
    ir_walk((IrFunc *)fn, note_use, &u);  // changes nothing
    return u.all_round;
}

bool tf32_must_be_rounded(const IrOp *dot)
{
    return dot->attr.dot.wgmma && dot->attr.dot.precision == PRECISION_TF32 &&
           type_scalar_kind(dot->args[0]->type) == SCALAR_F32;
}
