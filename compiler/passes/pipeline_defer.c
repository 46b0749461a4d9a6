/// pipeline_defer.c - loops whose addresses nobody knows iterations ahead: their products wait
/// instead.
///
/// Where the next pointer depends on a branch, a reduction or a loop's condition, no iteration can
/// be begun before it comes. But a product that is only summed up may be done later:
///
///     loop:  wait for the oldest copies, and for all threads
///            begin this iteration's copies
///            if num_stages - 1 iterations are under way: the product of the oldest one
///     behind it: the products of those that are left
///
/// One barrier an iteration is enough, as in pipeline_build.c: the tile that is written now was
/// read by the iteration before this one.
#include "passes/pipeline_impl.h"

#include <assert.h>
#include <string.h>

typedef VEC(IrOp *) OpVec;

/// Looking through a loop, or rewriting it.
typedef struct Defer {
    Pipe *pipe;
    const Loop *loop;
    const FeedVec *feeds;
    unsigned stages;
    OpVec dots;
    bool fits;
    IrValue **map;  ///< by value id
} Defer;

/* ---- whether that can be ---- */

static bool is_inside(const IrValue *v, const IrOp *loop)
{
    for (const IrBlock *b = ir_value_block(v); b->parent != NULL; b = b->parent->block)
        if (b->parent == loop)
            return true;
    return false;
}

/// Which of the loop's results a block argument of its body becomes.
static uint32_t carried_index(const Loop *loop, const IrValue *arg)
{
    return arg->index - (loop->op->code == IR_FOR ? 1 : 0);
}

/// True for a sum that the loop carries from product to product.
static bool sums_up(const Loop *loop, const IrOp *dot)
{
    const IrValue *sum = dot->args[2];
    return dot->block == loop->body && sum->def == NULL && sum->block == loop->body &&
           !(loop->op->code == IR_FOR && sum->index == 0) &&
           loop->body->last->args[carried_index(loop, sum)] == dot->results[0];
}

static bool is_feed(const Defer *d, const IrValue *v)
{
    for (uint32_t i = 0; i < d->feeds->len; i++)
        if (d->feeds->at[i].value == v)
            return true;
    return false;
}

static const IrValue *untransposed(const IrValue *v)
{
    while (v->def != NULL && v->def->code == IR_TRANS)
        v = v->def->args[0];
    return v;
}

static bool collect_dots(IrOp *op, void *cx)
{
    Defer *d = cx;
    if (op->code != IR_DOT)
        return true;
    for (unsigned i = 0; i < 2; i++) {
        const IrValue *v = untransposed(op->args[i]);
        d->fits = d->fits && (is_feed(d, v) || !is_inside(v, d->loop->op));
    }
    d->fits = d->fits && sums_up(d->loop, op);
    VEC_PUSH(d->pipe->cx->arena, &d->dots, op);
    return d->fits;
}

/// True when operand i of `op` may be used iterations later.
static bool may_wait(const Defer *d, const IrOp *op, uint32_t i)
{
    const IrValue *v = op->args[i];
    if (is_feed(d, untransposed(v)))
        return op->code == IR_TRANS || (op->code == IR_DOT && i < 2);
    for (uint32_t k = 0; k < d->dots.len; k++) {
        const IrOp *dot = d->dots.at[k];
        if (v == dot->args[2] && !(op == dot && i == 2))
            return false;
        if (v == dot->results[0] &&
            !(op == d->loop->body->last && i == carried_index(d->loop, dot->args[2])))
            return false;
    }
    return true;
}

static bool look_at_uses(IrOp *op, void *cx)
{
    Defer *d = cx;
    for (uint32_t i = 0; i < op->argc && d->fits; i++)
        d->fits = op->args[i] == NULL || may_wait(d, op, i);
    return d->fits;
}

/// The condition of a WHILE sees the carried values under names of its own.
static bool look_at_condition(IrOp *op, void *cx)
{
    Defer *d = cx;
    for (uint32_t i = 0; i < op->argc; i++)
        for (uint32_t k = 0; k < d->dots.len && op->args[i] != NULL; k++)
            d->fits = d->fits &&
                      op->args[i] != d->loop->op->regions[0]->args[d->dots.at[k]->args[2]->index];
    return d->fits;
}

bool pipeline_can_defer(Pipe *p, const Loop *loop, const FeedVec *feeds)
{
    Defer d = { .pipe = p, .loop = loop, .feeds = feeds, .fits = feeds->len > 0 };
    for (uint32_t i = 0; i < feeds->len; i++)
        d.fits = d.fits && feeds->at[i].kind == FEED_ASYNC;
    ir_walk_block(loop->body, collect_dots, &d);
    if (d.fits)
        ir_walk_block(loop->body, look_at_uses, &d);
    if (d.fits && loop->op->code == IR_WHILE)
        ir_walk_block(loop->op->regions[0], look_at_condition, &d);
    return d.fits;
}

/* ---- the rewriting ---- */

/// Each load becomes a copy where it stands, and the iteration's copies a group.
static void begin_copies(const Defer *d, IrValue *slot)
{
    const IrOp *last = NULL;
    for (IrOp *op = d->loop->body->first; op != NULL; op = op->next)
        for (uint32_t i = 0; i < d->feeds->len; i++) {
            const Feed *f = &d->feeds->at[i];
            if (op != f->value->def)
                continue;
            IrBuilder b = { .fn = d->pipe->fn, .block = op->block, .before = op, .span = op->span };
            IrValue *args[] = { op->args[0], slot, op->args[1] };
            IrOp *copy = ir_op0(&b, IR_ASYNC_COPY, 3, args);
            copy->attr.copy.mem = op->attr.mem;
            copy->attr.copy.ring = f->ring;
            copy->attr.copy.ordered = true;
            last = op;
        }
    assert(last);  // there are feeds
    IrBuilder b = {
        .fn = d->pipe->fn, .block = d->loop->body, .before = last->next, .span = last->span
    };
    ir_op0(&b, IR_ASYNC_COMMIT, 0, NULL);
}

static IrValue *copied(Defer *d, IrBuilder *b, IrValue *v)
{
    if (d->map[v->id] != NULL || v->def == NULL || v->def->code != IR_TRANS ||
        !is_inside(v, d->loop->op))
        return d->map[v->id] ? d->map[v->id] : v;
    copied(d, b, v->def->args[0]);
    return ir_clone(b, v->def, d->map)->results[0];
}

/// Adds the products of stage `slot` to sums[], which are the new ones then.
static void multiply(Defer *d, IrBuilder *b, IrValue *slot, IrValue **sums)
{
    memset(d->map, 0, d->pipe->value_count * sizeof *d->map);
    for (uint32_t i = 0; i < d->feeds->len; i++) {
        const Feed *f = &d->feeds->at[i];
        b->span = f->value->def->span;
        IrValue *tile = ir_tile(b, f->ring, slot);
        tile->hint = f->value->hint;
        d->map[f->value->id] = tile;
    }
    for (uint32_t i = 0; i < d->dots.len; i++) {
        const IrOp *dot = d->dots.at[i];
        for (unsigned k = 0; k < 2; k++)
            copied(d, b, dot->args[k]);
        d->map[dot->args[2]->id] = sums[i];
        sums[i] = ir_clone(b, dot, d->map)->results[0];
    }
}

static const Type **sum_types(const Defer *d, unsigned more)
{
    const Type **types = ARENA_NEW_N(d->pipe->cx->arena, const Type *, (size_t)d->dots.len + more);
    for (uint32_t i = 0; i < d->dots.len; i++)
        types[i] = d->dots.at[i]->results[0]->type;
    return types;
}

/// In the body's end: the oldest products, if as many iterations as can be are under way. Gives
/// whether.
static IrValue *multiply_oldest(Defer *d, IrBuilder *b, IrValue *filled, IrValue *oldest)
{
    IrBlock *body = d->loop->body;
    const uint32_t count = d->dots.len;
    IrValue *all = ir_const_int(b, filled->type, d->stages - 1);
    IrValue *is_full = ir_binary(b, IR_EQ, filled, all);
    IrOp *branch = ir_op(b, IR_IF, 1, &is_full, (IrResults){ count, sum_types(d, 0) }, 2);
    IrValue **sums = ARENA_NEW_N(d->pipe->cx->arena, IrValue *, count);
    for (unsigned r = 0; r < 2; r++) {
        IrBuilder in = { .fn = b->fn, .block = branch->regions[r], .span = b->span };
        for (uint32_t i = 0; i < count; i++)
            sums[i] = d->dots.at[i]->args[2];
        if (r == 0)
            multiply(d, &in, oldest, sums);
        ir_op0(&in, IR_YIELD, count, sums);
    }
    for (uint32_t i = 0; i < count; i++) {
        const IrOp *dot = d->dots.at[i];
        branch->results[i]->hint = dot->results[0]->hint;
        body->last->args[carried_index(d->loop, dot->args[2])] = branch->results[i];
    }
    return is_full;
}

/// Behind the loop: the products of the `filled` iterations before stage `slot`.
static void multiply_rest(Defer *d, IrBuilder *b, IrValue *filled, IrValue *slot)
{
    IrFunc *fn = d->pipe->fn;
    const IrOp *loop = d->loop->op;
    const uint32_t count = d->dots.len;
    Arena *arena = d->pipe->cx->arena;
    IrValue *none = ir_const_int(b, slot->type, 0), *one = ir_const_int(b, slot->type, 1);
    IrValue *back = ir_binary(b, IR_SUB, slot, filled);
    IrValue *turned = ir_binary(b, IR_ADD, back, ir_const_int(b, slot->type, d->stages));
    IrValue *oldest = ir_select(b, ir_binary(b, IR_LT, back, none), turned, back);
    ir_op0(b, IR_ASYNC_WAIT, 0, NULL);

    IrValue **args = ARENA_NEW_N(arena, IrValue *, (size_t)count + 4);
    const Type **types = sum_types(d, 1);
    IrValue **sums = ARENA_NEW_N(arena, IrValue *, (size_t)count + 1);
    args[0] = none;
    args[1] = filled;
    args[2] = one;
    for (uint32_t i = 0; i < count; i++)
        args[3 + i] = loop->results[carried_index(d->loop, d->dots.at[i]->args[2])];
    args[3 + count] = oldest;
    types[count] = slot->type;
    IrOp *rest = ir_op(b, IR_FOR, count + 4, args, (IrResults){ count + 1, types }, 1);
    IrBuilder in = { .fn = fn, .block = rest->regions[0], .span = b->span };
    ir_block_arg(fn, in.block, slot->type, NULL);
    for (uint32_t i = 0; i < count; i++)
        sums[i] = ir_block_arg(fn, in.block, types[i], d->dots.at[i]->results[0]->hint);
    IrValue *at = ir_block_arg(fn, in.block, slot->type, NULL);
    multiply(d, &in, at, sums);
    sums[count] = pipeline_turned(&in, at, 1, d->stages);
    ir_op0(&in, IR_YIELD, count + 1, sums);
    for (uint32_t i = 0; i < count; i++) {
        rest->results[i]->hint = args[3 + i]->hint;
        ir_replace(args[3 + i], rest->results[i]);
    }
    ir_apply_replacements(fn);
    memcpy(rest->args + 3, args + 3, count * sizeof *args);
}

void pipeline_defer(Pipe *p, Loop *loop, const FeedVec *feeds, unsigned stages)
{
    Defer d = { .pipe = p, .loop = loop, .feeds = feeds, .stages = stages, .fits = true };
    IrOp *op = loop->op;
    const Type *i32 = type_scalar(p->fn->types, SCALAR_I32);
    ir_walk_block(loop->body, collect_dots, &d);
    d.map = ARENA_NEW_N(p->cx->arena, IrValue *, p->value_count);
    IrBuilder before = { .fn = p->fn, .block = op->block, .before = op, .span = op->span };
    IrBuilder begin = {
        .fn = p->fn, .block = loop->body, .before = loop->body->first, .span = op->span
    };
    IrBuilder end = {
        .fn = p->fn, .block = loop->body, .before = loop->body->last, .span = op->span
    };
    IrBuilder behind = { .fn = p->fn, .block = op->block, .before = op->next, .span = op->span };
    IrValue *none = ir_const_int(&before, i32, 0);
    IrValue *slot = pipeline_carry(p->fn, op, none), *filled = pipeline_carry(p->fn, op, none);

    ir_op0(&begin, IR_ASYNC_WAIT, 0, NULL)->attr.groups = (uint8_t)(stages - 2);
    begin_copies(&d, slot);
    IrValue *next = pipeline_turned(&end, slot, 1, stages);  // the oldest, when all are under way
    IrValue *is_full = multiply_oldest(&d, &end, filled, next);
    IrValue *more = ir_binary(&end, IR_ADD, filled, ir_const_int(&end, i32, 1));
    pipeline_yield_more(p->fn, op, next);
    pipeline_yield_more(p->fn, op, ir_select(&end, is_full, filled, more));
    multiply_rest(&d, &behind, op->results[op->resultc - 1], op->results[op->resultc - 2]);
}
