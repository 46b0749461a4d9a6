// licm.c - moves what a loop does not change in front of it.
//
// Only pure operations move, from the loop's own blocks (not out of an IF inside, which may not
// run). Block constants, splats and aranges cost nothing where they are used, so they move only
// when an operation that does needs them. Memory operations never move. Inner loops come first, so
// a value rises as far as it can. Keeps layouts.
#include "passes/pass.h"

static bool is_inside(const IrValue *v, const IrOp *loop)
{
    const IrBlock *b = ir_value_block(v);
    while (b->parent && b->parent != loop)
        b = b->parent->block;
    return b->parent == loop;
}

static bool is_free(const IrOp *op)
{
    if (op->code == IR_CONST)
        return true;
    return (op->code == IR_SPLAT || op->code == IR_ARANGE) && type_is_block(op->results[0]->type);
}

static bool is_pure(const IrOp *op)
{
    return ir_op_info[op->code].effects == EFFECT_PURE && op->regionc == 0 && op->resultc == 1;
}

/// `v` does not change in `loop`, or a free operation on such values inside gives it.
static bool is_invariant(const IrValue *v, const IrOp *loop)
{
    if (!v || !is_inside(v, loop))
        return true;
    if (!v->def || !is_free(v->def))
        return false;
    for (uint32_t i = 0; i < v->def->argc; i++)
        if (!is_invariant(v->def->args[i], loop))
            return false;
    return true;
}

static void hoist(IrOp *op, IrOp *loop)
{
    for (uint32_t i = 0; i < op->argc; i++)
        if (op->args[i] && is_inside(op->args[i], loop))
            hoist(op->args[i]->def, loop);
    ir_move_before(op, loop);
}

static void hoist_from(IrBlock *b, IrOp *loop)
{
    for (IrOp *op = b->first, *next; op; op = next) {
        next = op->next;
        if (!is_pure(op) || is_free(op))
            continue;
        bool invariant = true;
        for (uint32_t i = 0; invariant && i < op->argc; i++)
            invariant = is_invariant(op->args[i], loop);
        if (invariant)
            hoist(op, loop);
    }
}

static void run_block(IrBlock *b)
{
    for (IrOp *op = b->first; op; op = op->next) {
        for (uint32_t r = 0; r < op->regionc; r++)
            run_block(op->regions[r]);
        if (op->code == IR_FOR || op->code == IR_WHILE)
            for (uint32_t r = 0; r < op->regionc; r++)
                hoist_from(op->regions[r], op);
    }
}

bool pass_licm(PassCtx *cx, IrFunc *fn)
{
    (void)cx;
    run_block(fn->body);
    return true;
}
