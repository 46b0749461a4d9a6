// dce.c - removes what nothing uses.
//
// Marks from the effects backwards, then sweeps. A carried value of a loop is one thing: its
// result, its block arguments, its initial and its yielded value live or die together, so cycles
// of values that only feed each other vanish. Loops without effects or used results vanish too;
// an endless one is no effect. Needs nothing and keeps layouts.
#include "passes/pass.h"

typedef struct Dce {
    Arena scratch;
    bool *live;  // by value id
    VEC(IrValue *) work;
} Dce;

static void mark_value(Dce *d, IrValue *v)
{
    if (!v || d->live[v->id])
        return;
    d->live[v->id] = true;
    VEC_PUSH(&d->scratch, &d->work, v);
}

static bool is_control(const IrOp *op)
{
    return op->regionc > 0;
}

/// `op` stays, and so does what it needs whatever its results are.
static void keep_op(Dce *d, IrOp *op)
{
    for (; op && !op->mark; op = op->block->parent) {
        op->mark = 1;
        uint32_t needed = op->code == IR_FOR ? 3 : op->code == IR_IF ? 1 : op->argc;
        if (op->code == IR_WHILE) {
            mark_value(d, op->regions[0]->last->args[0]);
            continue;
        }
        for (uint32_t i = 0; i < needed; i++)
            mark_value(d, op->args[i]);
    }
}

/// Everything that belongs to result `k` of a control operation.
static void keep_carried(Dce *d, IrOp *op, uint32_t k)
{
    mark_value(d, op->results[k]);
    if (op->code == IR_IF) {
        mark_value(d, op->regions[0]->last->args[k]);
        mark_value(d, op->regions[1]->last->args[k]);
        return;
    }
    bool is_for = op->code == IR_FOR;
    mark_value(d, op->args[(is_for ? 3 : 0) + k]);
    mark_value(d, op->regions[is_for ? 0 : 1]->last->args[k]);
    for (uint32_t r = 0; r < op->regionc; r++)
        mark_value(d, op->regions[r]->args[(is_for ? 1 : 0) + k]);
}

static void follow(Dce *d, IrValue *v)
{
    if (v->def) {
        keep_op(d, v->def);
        if (is_control(v->def))
            keep_carried(d, v->def, v->index);
    } else if (v->block->parent) {
        IrOp *op = v->block->parent;
        keep_op(d, op);
        if (op->code == IR_WHILE)
            keep_carried(d, op, v->index);
        else if (v->index > 0)
            keep_carried(d, op, v->index - 1);
    }
}

static bool is_root(const IrOp *op)
{
    return ir_has_effects(op) || op->code == IR_RETURN ||
           (op->code == IR_LOAD && op->attr.mem.is_volatile);
}

static bool clear_mark(IrOp *op, void *cx)
{
    (void)cx;
    op->mark = 0;
    return true;
}

static bool mark_root(IrOp *op, void *cx)
{
    if (is_root(op))
        keep_op(cx, op);
    return true;
}

/// Drops those of `count` values from `values + first` that belong to a dead result.
static uint32_t compact(const Dce *d, const IrOp *op, IrValue **values, uint32_t first)
{
    uint32_t n = first;
    for (uint32_t k = 0; k < op->resultc; k++)
        if (d->live[op->results[k]->id])
            values[n++] = values[first + k];
    return n;
}

static uint32_t compact_args(const Dce *d, const IrOp *op, IrBlock *b, uint32_t first)
{
    uint32_t n = compact(d, op, b->args, first);
    for (uint32_t i = first; i < n; i++)
        b->args[i]->index = i;
    return n;
}

static void shrink(const Dce *d, IrOp *op)
{
    bool is_if = op->code == IR_IF, is_for = op->code == IR_FOR;
    if (!is_if)
        op->argc = compact(d, op, op->args, is_for ? 3 : 0);
    for (uint32_t r = 0; r < op->regionc; r++) {
        IrBlock *b = op->regions[r];
        if (!is_if)
            b->argc = compact_args(d, op, b, is_for ? 1 : 0);
        if (is_if || is_for || r == 1)
            b->last->argc = compact(d, op, b->last->args, 0);
    }
    uint32_t n = 0;
    for (uint32_t k = 0; k < op->resultc; k++) {
        if (!d->live[op->results[k]->id])
            continue;
        op->results[n] = op->results[k];
        op->results[n]->index = n;
        n++;
    }
    op->resultc = n;
}

static bool sweep(IrOp *op, void *cx)
{
    if (op->code == IR_YIELD)
        return true;
    if (!op->mark)
        ir_remove(op);
    else if (is_control(op))
        shrink(cx, op);
    return true;
}

bool pass_dce(PassCtx *cx, IrFunc *fn)
{
    (void)cx;
    Dce d = { .live = NULL };
    d.live = ARENA_NEW_N(&d.scratch, bool, fn->value_count);
    ir_walk(fn, clear_mark, NULL);
    ir_walk(fn, mark_root, &d);
    while (d.work.len > 0)
        follow(&d, d.work.at[--d.work.len]);
    ir_walk(fn, sweep, &d);
    arena_free(&d.scratch);
    return true;
}
