// fold_control.c - decided branches, loops that run once or not at all, and values that a loop
// hands on unchanged.
//
// A region that certainly runs once is spliced in front of its operation; its operations are seen
// by the next round.
#include "passes/fold_impl.h"

#include <assert.h>

/// Moves the region's operations in front of `op` and returns what it yielded.
static IrOp *splice(IrOp *op, IrBlock *region)
{
    IrOp *yield = region->last;
    while (region->first != yield)
        ir_move_before(region->first, op);
    return yield;
}

static void replace_results(IrOp *op, IrValue *const *values)
{
    for (uint32_t i = 0; i < op->resultc; i++) {
        IrValue *v = ir_forwarded(values[i]);
        if (!v->hint)
            v->hint = op->results[i]->hint;
        ir_replace(op->results[i], v);
    }
    ir_remove(op);
}

static void drop_operand(IrOp *op, uint32_t i)
{
    for (op->argc--; i < op->argc; i++)
        op->args[i] = op->args[i + 1];
}

static void drop_definition(IrValue **values, uint32_t *count, uint32_t i)
{
    for (--*count; i < *count; i++) {
        values[i] = values[i + 1];
        values[i]->index = i;
    }
}

/// Branches that yield the same value give it, whichever is taken.
static bool fold_equal_yields(IrOp *op)
{
    IrOp *yields[] = { op->regions[0]->last, op->regions[1]->last };
    bool changed = false;
    for (uint32_t i = op->resultc; i-- > 0;) {
        IrValue *v = ir_forwarded(yields[0]->args[i]);
        if (v != ir_forwarded(yields[1]->args[i]))
            continue;
        ir_replace(op->results[i], v);
        drop_operand(yields[0], i);
        drop_operand(yields[1], i);
        drop_definition(op->results, &op->resultc, i);
        changed = true;
    }
    return changed;
}

static bool fold_if(IrOp *op)
{
    IrConst c;
    if (!fold_const_of(op->args[0], &c))
        return fold_equal_yields(op);
    const IrOp *yield = splice(op, op->regions[c.i ? 0 : 1]);
    replace_results(op, yield->args);
    return true;
}

/// How often `for lo, hi, step` with constant bounds runs, told apart as 0, 1 and more (2); -1 when
/// unknown.
static int trip_class(const IrOp *op)
{
    IrConst lo, hi, step;
    if (!fold_const_of(op->args[0], &lo) || !fold_const_of(op->args[1], &hi) ||
        !fold_const_of(op->args[2], &step))
        return -1;
    bool is_signed = type_is_signed(op->args[0]->type);
    bool down = is_signed && step.i < 0;
    int64_t from = down ? hi.i : lo.i, to = down ? lo.i : hi.i;
    bool empty = is_signed ? from >= to : (uint64_t)from >= (uint64_t)to;
    if (step.i == 0)
        return -1;
    if (empty)
        return 0;
    uint64_t distance = (uint64_t)to - (uint64_t)from;
    uint64_t stride = down ? 0 - (uint64_t)step.i : (uint64_t)step.i;
    return distance <= stride ? 1 : 2;
}

/// A carried value that each iteration yields as it came (or as it was at first) never changes.
static bool fold_unchanged(IrOp *op)
{
    IrBlock *body = op->regions[0];
    bool changed = false;
    for (uint32_t i = op->resultc; i-- > 0;) {
        IrValue *arg = body->args[i + 1], *init = op->args[i + 3];
        assert(arg && init);  // what a loop carries is never left out
        IrValue *yielded = ir_forwarded(body->last->args[i]);
        if (yielded != arg && yielded != init)
            continue;
        if (!init->hint)
            init->hint = arg->hint;
        ir_replace(arg, init);
        ir_replace(op->results[i], init);
        drop_operand(body->last, i);
        drop_operand(op, i + 3);
        drop_definition(body->args, &body->argc, i + 1);
        drop_definition(op->results, &op->resultc, i);
        changed = true;
    }
    return changed;
}

static bool fold_for(IrOp *op)
{
    IrBlock *body = op->regions[0];
    int trips = trip_class(op);
    if (trips == 0) {
        replace_results(op, op->args + 3);
        return true;
    }
    if (trips != 1)
        return fold_unchanged(op);
    ir_replace(body->args[0], op->args[0]);
    for (uint32_t i = 0; i < op->resultc; i++)
        ir_replace(body->args[i + 1], op->args[i + 3]);
    const IrOp *yield = splice(op, body);
    replace_results(op, yield->args);
    return true;
}

bool fold_control(Fold *f, IrOp *op)
{
    (void)f;
    switch (op->code) {
    case IR_IF: return fold_if(op);
    case IR_FOR: return fold_for(op);
    default: return false;
    }
}
