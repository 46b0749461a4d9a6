/// pipeline_guard.c - a loop's own version for programs in which nothing negative is wrapped
/// around.
///
/// `(first + arange) % n` runs like arange does where `first` is not negative; where it is, C's
/// remainder breaks runs. Block numbers are never negative, but nothing proves that of a quotient
/// of program ids. So such a loop is doubled:
///
///     first' = min(max(first, 0), limit)
///     if first == first': the loop and the addresses it needs, computed from first'
///     else: the loop as it was, and without a pipeline
///
/// Only where this proves pieces of memory for a load that feeds a dot.
#include "passes/pipeline_impl.h"

#include <string.h>

enum { MOST_FIRSTS = 4, MOST_DEPTH = 24, LIMIT = INT32_MAX - (1 << 21) + 1 };

typedef struct Guard {
    Pipe *pipe;
    IrOp *loop;
    IrValue *firsts[MOST_FIRSTS];
    unsigned count;
    IrBuilder in;   ///< the end of the first version
    IrValue **map;  ///< by value id: what stands there for it
    bool *depends;  ///< by value id, valid where `known`
    bool *known;
} Guard;

/* ---- what is wrapped around ---- */

static void add_first(Guard *g, IrValue *v)
{
    for (unsigned i = 0; i < g->count; i++)
        if (g->firsts[i] == v)
            return;
    if (g->count < MOST_FIRSTS)
        g->firsts[g->count++] = v;
}

/// The scalars of a dividend that might be negative.
static void collect_firsts(Guard *g, const IrValue *v, unsigned depth)
{
    const IrOp *op = v->def;
    if (op == NULL || depth == MOST_DEPTH)
        return;
    if (op->code == IR_SPLAT) {
        const AxisFacts *f = axis_info_of(g->pipe->axes, op->args[0]);
        if (type_scalar_kind(op->args[0]->type) == SCALAR_I32 && !(f->has_range && f->lo >= 0))
            add_first(g, op->args[0]);
        return;
    }
    if (op->code == IR_ADD || ir_op_info[op->code].cls == OPCLASS_SHAPE)
        for (uint32_t i = 0; i < op->argc; i++)
            collect_firsts(g, op->args[i], depth + 1);
}

/// Looks for remainders in what an address is made of.
static void look_for_remainders(Guard *g, const IrValue *v, unsigned depth)
{
    const IrOp *op = v->def;
    if (depth == MOST_DEPTH)
        return;
    if (op == NULL) {  // carried by the loop: its first value
        if (v->block == g->loop->regions[0] && v->index > 0)
            look_for_remainders(g, g->loop->args[v->index + 2], depth + 1);
        return;
    }
    if (op->code == IR_REM && type_is_block(v->type))
        collect_firsts(g, op->args[0], depth + 1);
    if (op->regionc > 0 || ir_op_info[op->code].effects != EFFECT_PURE)
        return;
    for (uint32_t i = 0; i < op->argc; i++)
        look_for_remainders(g, op->args[i], depth + 1);
}

/* ---- the versions ---- */

static bool depends(Guard *g, const IrValue *v)
{
    const IrOp *op = v->def;
    if (op == NULL || op->regionc > 0 || ir_op_info[op->code].effects != EFFECT_PURE)
        return g->map[v->id] != NULL;
    if (!g->known[v->id]) {
        g->known[v->id] = true;
        g->depends[v->id] = g->map[v->id] != NULL;
        for (uint32_t i = 0; i < op->argc && !g->depends[v->id]; i++)
            g->depends[v->id] = depends(g, op->args[i]);
    }
    return g->depends[v->id];
}

/// Computes an outside value that depends on the firsts once more, from what stands for them.
static void copy_outside(Guard *g, IrValue *v)
{
    if (g->map[v->id] != NULL || !depends(g, v))
        return;
    for (uint32_t i = 0; i < v->def->argc; i++)
        copy_outside(g, v->def->args[i]);
    ir_clone(&g->in, v->def, g->map);
}

static bool is_inside(const IrValue *v, const IrOp *loop)
{
    for (const IrBlock *b = ir_value_block(v); b->parent != NULL; b = b->parent->block)
        if (b->parent == loop)
            return true;
    return false;
}

static bool copy_operands(IrOp *op, void *cx)
{
    Guard *g = cx;
    for (uint32_t i = 0; i < op->argc; i++)
        if (op->args[i] != NULL && !is_inside(op->args[i], g->loop))
            copy_outside(g, op->args[i]);
    return true;
}

/// first' for each first; gives whether all are equal to their firsts.
static IrValue *clamp_firsts(Guard *g, IrBuilder *b)
{
    IrValue *all = NULL;
    for (unsigned i = 0; i < g->count; i++) {
        IrValue *v = g->firsts[i];
        IrValue *low = ir_binary(b, IR_MAX, v, ir_const_int(b, v->type, 0));
        IrValue *clamped = ir_binary(b, IR_MIN, low, ir_const_int(b, v->type, LIMIT));
        IrValue *same = ir_binary(b, IR_EQ, v, clamped);
        all = all == NULL ? same : ir_binary(b, IR_AND, all, same);
        g->map[v->id] = clamped;
    }
    return all;
}

/// The branch, with the first version, which it gives; the other arm hands on the initial values.
static IrOp *build_branch(Guard *g, IrOp **copy)
{
    IrFunc *fn = g->pipe->fn;
    IrOp *loop = g->loop;
    Arena *arena = g->pipe->cx->arena;
    IrBuilder b = { .fn = fn, .block = loop->block, .before = loop, .span = loop->span };
    g->map = ARENA_NEW_N(arena, IrValue *, fn->value_count);
    g->depends = ARENA_NEW_N(arena, bool, fn->value_count);
    g->known = ARENA_NEW_N(arena, bool, fn->value_count);
    const Type **types = ARENA_NEW_N(arena, const Type *, loop->resultc);
    for (uint32_t i = 0; i < loop->resultc; i++)
        types[i] = loop->results[i]->type;
    IrValue *all = clamp_firsts(g, &b);
    IrOp *branch = ir_op(&b, IR_IF, 1, &all, (IrResults){ loop->resultc, types }, 2);
    g->in = (IrBuilder){ .fn = fn, .block = branch->regions[0], .span = loop->span };
    copy_operands(loop, g);
    ir_walk_block(loop->regions[0], copy_operands, g);
    *copy = ir_clone(&g->in, loop, g->map);
    ir_op0(&g->in, IR_YIELD, loop->resultc, (*copy)->results);
    IrBuilder other = { .fn = fn, .block = branch->regions[1], .span = loop->span };
    ir_op0(&other, IR_YIELD, loop->resultc, loop->args + 3);
    return branch;
}

/// Moves the loop itself to the other arm, and gives its users the branch's results.
static void keep_branch(const Guard *g, IrOp *branch)
{
    IrOp *loop = g->loop, *yield = branch->regions[1]->last;
    for (uint32_t i = 0; i < loop->resultc; i++) {
        branch->results[i]->hint = loop->results[i]->hint;
        ir_replace(loop->results[i], branch->results[i]);
    }
    ir_apply_replacements(g->pipe->fn);
    memcpy(yield->args, loop->results, loop->resultc * sizeof *yield->args);
    ir_move_before(loop, yield);
    loop->attr.num_stages = 1;
}

IrOp *pipeline_guard(Pipe *p, IrOp *loop, IrOp *const *loads, uint32_t count,
                     bool (*proved)(const Pipe *p, const IrOp *load))
{
    Guard g = { .pipe = p, .loop = loop };
    for (uint32_t i = 0; i < count; i++)
        if (!proved(p, loads[i]))
            look_for_remainders(&g, loads[i]->args[0], 0);
    if (g.count == 0)
        return loop;
    IrOp *copy;
    IrOp *branch = build_branch(&g, &copy);
    p->axes = axis_info_compute(p->fn, p->cx->arena);
    for (uint32_t i = 0; i < count; i++) {
        if (!proved(p, loads[i]) && proved(p, g.map[loads[i]->results[0]->id]->def)) {
            keep_branch(&g, branch);
            return copy;
        }
    }
    ir_remove(branch);
    return loop;
}
