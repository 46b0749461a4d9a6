/// pipeline_build.c - rewrites a loop so that what its dots take is brought ahead of them.
///
/// What runs ahead has copies of the carried values that it depends on, some iterations older than
/// the loop's own (and of the counter). They are carried by the prologue first, then by the loop.
/// In iterations that never come nothing is read: copies stand in an IF, other loads get a mask.
#include "layout/layout.h"
#include "passes/pipeline_impl.h"

#include <assert.h>
#include <string.h>

enum { ORIGINAL = 1 };  // mark of the body's operations as they came

/// The part of the body that runs `distance` iterations ahead.
typedef struct Ahead {
    Pipe *pipe;
    const Loop *loop;
    const FeedVec *feeds;
    FeedKind kind;
    unsigned distance, stages;
    bool *needed;           ///< by value id
    bool *early;            ///< ... a load's result, or needed for one
    VEC(uint32_t) carried;  ///< arguments of the body that are needed; 0: the counter
    IrValue **state;        ///< their values for the iteration to bring; as many
    IrValue **map;          ///< by value id: the copy for that iteration
    IrValue *left, *slot;   ///< arguments of the new loop: iterations to bring, the tile to read
} Ahead;

/* ---- what is needed ---- */

static void need(const Ahead *a, const IrValue *v, bool *set)
{
    const IrBlock *body = a->loop->body;
    if (v == NULL || ir_value_block(v) != body || set[v->id])
        return;
    set[v->id] = true;
    if (v->def == NULL) {
        if (v->index > 0)
            need(a, body->last->args[v->index - 1], set);
        return;
    }
    for (uint32_t i = 0; i < v->def->argc; i++)
        need(a, v->def->args[i], set);
}

static void find_needed(Ahead *a)
{
    Arena *arena = a->pipe->cx->arena;
    const IrBlock *body = a->loop->body;
    a->needed = ARENA_NEW_N(arena, bool, a->pipe->value_count);
    a->early = ARENA_NEW_N(arena, bool, a->pipe->value_count);
    for (uint32_t i = 0; i < a->feeds->len; i++) {
        const Feed *f = &a->feeds->at[i];
        if (f->kind != a->kind)
            continue;
        if (f->kind == FEED_STAGED)
            need(a, f->value, a->needed);
        for (uint32_t k = 0; f->kind == FEED_ASYNC && k < 2; k++)
            need(a, f->value->def->args[k], a->needed);
    }
    for (const IrOp *op = body->first; op != NULL; op = op->next)
        if (op->code == IR_LOAD && a->needed[op->results[0]->id])
            need(a, op->results[0], a->early);
    for (uint32_t i = 0; i < body->argc; i++) {
        if (a->needed[body->args[i]->id])
            VEC_PUSH(arena, &a->carried, i);
        if (i > 0 && a->needed[body->args[i]->id])
            need(a, body->last->args[i - 1], a->early);
    }
    a->state = ARENA_NEW_N(arena, IrValue *, a->carried.len);
    a->map = ARENA_NEW_N(arena, IrValue *, a->pipe->value_count);
}

/* ---- one iteration ahead of its time ---- */

/// `mask` where `more`; a NULL mask is true.
static IrValue *masked(IrBuilder *b, IrValue *mask, IrValue *more, const Type *pointer)
{
    TypeTable *types = b->fn->types;
    const Type *type = type_with_elem(types, pointer, type_scalar(types, SCALAR_I1));
    IrValue *all = type_is_block(type) ? ir_splat(b, more, type) : more;
    return mask == NULL ? all : ir_binary(b, IR_AND, mask, all);
}

static IrValue *mapped(const Ahead *a, IrValue *v)
{
    return v != NULL && v->id < a->pipe->value_count && a->map[v->id] ? a->map[v->id] : v;
}

/// Copies the needed operations that are early, or those that are not.
static void copy_ops(Ahead *a, IrBuilder *b, bool early, IrValue *more)
{
    for (const IrOp *op = a->loop->body->first; op != NULL; op = op->next) {
        if (op->mark != ORIGINAL || op->resultc != 1 || !a->needed[op->results[0]->id] ||
            a->early[op->results[0]->id] != early)
            continue;
        const bool is_load = op->code == IR_LOAD;
        IrValue *mask = is_load ? masked(b, mapped(a, op->args[1]), more, op->args[0]->type) : NULL;
        IrOp *copy = ir_clone(b, op, a->map);
        if (is_load)
            copy->args[1] = mask;
    }
}

static void attach_copy(IrOp *op, const Feed *f, bool ordered)
{
    op->attr.copy.ring = f->ring;
    op->attr.copy.ordered = ordered;
    op->attr.copy.tf32 = f->rounds;
}

/// Begins the copies of an iteration into stage `slot` if there is one, and makes them a group.
static void begin_copies(const Ahead *a, IrBuilder *b, IrValue *more, IrValue *slot, bool ordered)
{
    IrOp *branch = ir_op(b, IR_IF, 1, &more, (IrResults){ 0, NULL }, 2);
    for (unsigned r = 0; r < 2; r++) {
        IrBuilder in = { .fn = b->fn, .block = branch->regions[r], .span = b->span };
        for (uint32_t i = 0; i < a->feeds->len && r == 0; i++) {
            const Feed *f = &a->feeds->at[i];
            if (f->kind != FEED_ASYNC)
                continue;
            const IrOp *load = f->value->def;
            in.span = load->span;
            IrValue *args[] = { mapped(a, load->args[0]), slot, mapped(a, load->args[1]) };
            IrOp *copy = ir_op0(&in, IR_ASYNC_COPY, 3, args);
            copy->attr.copy.mem = load->attr.mem;
            attach_copy(copy, f, ordered);
        }
        ir_op0(&in, IR_YIELD, 0, NULL);
    }
    ir_op0(b, IR_ASYNC_COMMIT, 0, NULL);
}

/// Writes the staged values of an iteration into stage `slot`.
static void put_tiles(const Ahead *a, IrBuilder *b, IrValue *slot, bool ordered)
{
    for (uint32_t i = 0; i < a->feeds->len; i++) {
        const Feed *f = &a->feeds->at[i];
        if (f->kind != FEED_STAGED)
            continue;
        IrValue *args[] = { slot, mapped(a, f->value) };
        b->span = f->value->def->span;
        attach_copy(ir_op0(b, IR_TILE_PUT, 2, args), f, ordered);
    }
}

/// Takes a->state as the values of the iteration to bring.
static void enter_state(Ahead *a)
{
    for (uint32_t i = 0; i < a->carried.len; i++)
        a->map[a->loop->body->args[a->carried.at[i]]->id] = a->state[i];
}

/// Moves a->state on by one iteration.
static void advance_state(Ahead *a, IrBuilder *b)
{
    const IrBlock *body = a->loop->body;
    for (uint32_t i = 0; i < a->carried.len; i++) {
        const uint32_t at = a->carried.at[i];
        a->state[i] = at == 0 ? ir_binary(b, IR_ADD, a->state[i], a->loop->op->args[2])
                              : mapped(a, body->last->args[at - 1]);
    }
}

/* ---- the prologue ---- */

static void initial_state(Ahead *a)
{
    for (uint32_t i = 0; i < a->carried.len; i++) {
        const uint32_t at = a->carried.at[i];
        a->state[i] = a->loop->op->args[at == 0 ? 0 : at + 2];
    }
}

static void bring(Ahead *a, IrBuilder *b, IrValue *more, IrValue *slot)
{
    enter_state(a);
    copy_ops(a, b, true, more);
    copy_ops(a, b, false, more);
    if (a->kind == FEED_ASYNC)
        begin_copies(a, b, more, slot, false);
    else
        put_tiles(a, b, slot, false);
    advance_state(a, b);
}

/// for (j = 0; j < distance; j++): bring iteration j, if there is one, into stage j.
static void build_prologue(Ahead *a, IrBuilder *b, IrValue *trips)
{
    const Type *i32 = type_scalar(b->fn->types, SCALAR_I32);
    IrValue *none = ir_const_int(b, i32, 0);
    initial_state(a);
    if (a->distance == 1) {
        bring(a, b, ir_binary(b, IR_NE, trips, ir_const_int(b, trips->type, 0)), none);
        return;
    }
    const uint32_t count = a->carried.len;
    VEC(IrValue *) args = { 0 };
    VEC(const Type *) types = { 0 };
    Arena *arena = a->pipe->cx->arena;
    IrValue *one = ir_const_int(b, i32, 1), *end = ir_const_int(b, i32, a->distance);
    IrValue *bounds[] = { none, end, one };
    for (uint32_t i = 0; i < 3; i++)
        VEC_PUSH(arena, &args, bounds[i]);
    for (uint32_t i = 0; i < count; i++) {
        VEC_PUSH(arena, &args, a->state[i]);
        VEC_PUSH(arena, &types, a->state[i]->type);
    }
    IrOp *loop = ir_op(b, IR_FOR, args.len, args.at, (IrResults){ count, types.at }, 1);
    IrBuilder in = { .fn = b->fn, .block = loop->regions[0], .span = b->span };
    IrValue *j = ir_block_arg(b->fn, in.block, i32, NULL);
    for (uint32_t i = 0; i < count; i++)
        a->state[i] = ir_block_arg(b->fn, in.block, a->state[i]->type, a->state[i]->hint);
    bring(a, &in, ir_binary(&in, IR_LT, ir_cast(&in, j, trips->type), trips), j);
    ir_op0(&in, IR_YIELD, count, a->state);
    memcpy(a->state, loop->results, count * sizeof *a->state);
}

/* ---- the loop ---- */

/// Appends a value to `*list`.
static void append(Arena *arena, IrValue ***list, uint32_t count, IrValue *v)
{
    IrValue **longer = ARENA_NEW_N(arena, IrValue *, (size_t)count + 1);
    if (count > 0)
        memcpy(longer, *list, count * sizeof *longer);
    longer[count] = v;
    *list = longer;
}

IrValue *pipeline_carry(IrFunc *fn, IrOp *loop, IrValue *initial)
{
    IrValue *result = ARENA_NEW(fn->arena, IrValue), *arg = NULL;
    *result = (IrValue){
        .type = initial->type, .def = loop, .index = loop->resultc, .id = fn->value_count++
    };
    append(fn->arena, &loop->args, loop->argc++, initial);
    append(fn->arena, &loop->results, loop->resultc++, result);
    for (uint32_t r = 0; r < loop->regionc; r++)
        arg = ir_block_arg(fn, loop->regions[r], initial->type, initial->hint);
    return arg;
}

void pipeline_yield_more(IrFunc *fn, IrOp *loop, IrValue *v)
{
    IrOp *yield = loop->regions[loop->regionc - 1]->last;
    append(fn->arena, &yield->args, yield->argc++, v);
}

IrValue *pipeline_turned(IrBuilder *b, IrValue *slot, unsigned by, unsigned stages)
{
    IrValue *sum = ir_binary(b, IR_ADD, slot, ir_const_int(b, slot->type, by));
    if ((stages & (stages - 1)) == 0)
        return ir_binary(b, IR_AND, sum, ir_const_int(b, slot->type, stages - 1));
    IrValue *all = ir_const_int(b, slot->type, stages);
    return ir_select(b, ir_binary(b, IR_LT, sum, all), sum, ir_binary(b, IR_SUB, sum, all));
}

/// The loop carries the state, how many iterations are left to bring, and which tile is read.
static void carry_state(Ahead *a, IrBuilder *b, IrValue *trips)
{
    IrOp *loop = a->loop->op;
    const Type *i32 = type_scalar(b->fn->types, SCALAR_I32);
    IrValue *distance = ir_const_int(b, trips->type, a->distance);
    IrValue *left =
        ir_select(b, ir_binary(b, IR_GT, trips, distance), ir_binary(b, IR_SUB, trips, distance),
                  ir_const_int(b, trips->type, 0));
    IrValue *slot = ir_const_int(b, i32, 0);
    for (uint32_t i = 0; i < a->carried.len; i++)
        a->state[i] = pipeline_carry(b->fn, loop, a->state[i]);
    a->left = pipeline_carry(b->fn, loop, left);
    a->slot = pipeline_carry(b->fn, loop, slot);
}

/// At the beginning of the body: what of a later iteration is done before this one's own work.
static void build_begin(Ahead *a, IrBuilder *b)
{
    IrValue *none = ir_const_int(b, a->left->type, 0);
    IrValue *more = ir_binary(b, IR_NE, a->left, none);
    enter_state(a);
    copy_ops(a, b, true, more);
    if (a->kind == FEED_STAGED)
        return;
    copy_ops(a, b, false, more);
    begin_copies(a, b, more, pipeline_turned(b, a->slot, a->distance, a->stages), true);
}

/// At its end: the rest of it, and what the loop carries on.
static void build_end(Ahead *a, IrBuilder *b)
{
    IrOp *loop = a->loop->op;
    if (a->kind == FEED_STAGED) {
        copy_ops(a, b, false, NULL);
        put_tiles(a, b, pipeline_turned(b, a->slot, 1, a->stages), true);
    }
    advance_state(a, b);
    for (uint32_t i = 0; i < a->carried.len; i++)
        pipeline_yield_more(b->fn, loop, a->state[i]);
    IrValue *some = ir_binary(b, IR_NE, a->left, ir_const_int(b, a->left->type, 0));
    pipeline_yield_more(b->fn, loop,
                        ir_binary(b, IR_SUB, a->left, ir_cast(b, some, a->left->type)));
    pipeline_yield_more(b->fn, loop, pipeline_turned(b, a->slot, 1, a->stages));
}

/* ---- what reads the tiles ---- */

/// Rewriting the uses of one value.
typedef struct Readers {
    Pipe *pipe;
    IrBlock *body;
    const IrValue *value;
    unsigned fast;         ///< of its axes
    IrBuilder at;          ///< where it is named
    IrValue *tile, *read;  ///< the tile, and its elements in registers once somebody wants them
    bool fits;             ///< no use needs registers
} Readers;

static bool takes_tile(Readers *r, const IrOp *op, uint32_t i);

static bool look_for_misfit(IrOp *op, void *cx)
{
    Readers *r = cx;
    for (uint32_t i = 0; i < op->argc && r->fits; i++)
        r->fits = op->args[i] != r->value || takes_tile(r, op, i);
    return r->fits;
}

/// True when operand i of `op`, which holds the value, can be read from the tile.
static bool takes_tile(Readers *r, const IrOp *op, uint32_t i)
{
    const unsigned rank = type_rank(op->args[i]->type);
    if (op->code == IR_DOT && i < 2)
        return layout_dot_takes_tile(op, i, r->fast == (i == 0 ? rank - 1 : rank - 2),
                                     r->pipe->fn->num_warps);
    if (op->code != IR_TRANS)
        return false;
    Readers moved = { .pipe = r->pipe, .body = r->body, .value = op->results[0], .fits = true };
    while (op->attr.perm[moved.fast] != r->fast)
        moved.fast++;
    ir_walk_block(r->body, look_for_misfit, &moved);
    return moved.fits;
}

static bool rewrite_uses(IrOp *op, void *cx)
{
    Readers *r = cx;
    if (op->mark != ORIGINAL)
        return true;
    for (uint32_t i = 0; i < op->argc; i++) {
        if (op->args[i] != r->value)
            continue;
        const bool in_place = takes_tile(r, op, i);
        if (!in_place && r->read == NULL)
            r->read = ir_op1(&r->at, IR_CONVERT, r->tile->type, 1, &r->tile);
        op->args[i] = in_place ? r->tile : r->read;
    }
    return true;
}

/// From now on the body reads the feed's value from stage `slot`.
static void read_from_tile(Pipe *p, IrBlock *body, const Feed *f, IrBuilder *b, IrValue *slot)
{
    Readers r = { .pipe = p, .body = body, .value = f->value, .fast = f->fast, .at = *b };
    r.at.span = f->value->def->span;
    r.tile = ir_tile(&r.at, f->ring, slot);
    r.tile->hint = f->value->hint;
    ir_walk_block(body, rewrite_uses, &r);
}

/* ---- everything ---- */

static bool mark_original(IrOp *op, void *cx)
{
    (void)cx;
    op->mark = ORIGINAL;
    return true;
}

static void wait_for_tiles(IrBuilder *b, const Ahead *async)
{
    if (async == NULL)
        ir_op0(b, IR_BARRIER, 0, NULL);
    else
        ir_op0(b, IR_ASYNC_WAIT, 0, NULL)->attr.groups = (uint8_t)(async->distance - 1);
}

static bool has_kind(const FeedVec *feeds, FeedKind kind)
{
    for (uint32_t i = 0; i < feeds->len; i++)
        if (feeds->at[i].kind == kind)
            return true;
    return false;
}

void pipeline_build(Pipe *p, Loop *loop, const FeedVec *feeds, unsigned stages)
{
    Ahead ahead[2];
    unsigned count = 0;
    for (FeedKind kind = FEED_ASYNC; kind <= FEED_STAGED; kind++) {
        const unsigned tiles = kind == FEED_ASYNC ? stages : 2;
        if (has_kind(feeds, kind))
            ahead[count++] = (Ahead){ .pipe = p,
                                      .loop = loop,
                                      .feeds = feeds,
                                      .kind = kind,
                                      .distance = tiles - 1,
                                      .stages = tiles };
    }
    assert(count > 0);  // loops that feed nothing stay as they are
    IrOp *op = loop->op;
    IrBuilder before = { .fn = p->fn, .block = op->block, .before = op, .span = op->span };
    ir_walk_block(loop->body, mark_original, NULL);
    IrOp *const first = loop->body->first;
    IrValue *trips = ir_trip_count(&before, op->args[0], op->args[1], op->args[2]);
    for (unsigned i = 0; i < count; i++) {
        find_needed(&ahead[i]);
        build_prologue(&ahead[i], &before, trips);
    }
    for (unsigned i = 0; i < count; i++)
        carry_state(&ahead[i], &before, trips);

    IrBuilder begin = { .fn = p->fn, .block = loop->body, .before = first, .span = op->span };
    IrBuilder end = {
        .fn = p->fn, .block = loop->body, .before = loop->body->last, .span = op->span
    };
    wait_for_tiles(&begin, ahead[0].kind == FEED_ASYNC ? &ahead[0] : NULL);
    IrBuilder tiles = begin;
    for (unsigned i = 0; i < count; i++)
        build_begin(&ahead[i], &begin);
    for (unsigned i = 0; i < count; i++)
        build_end(&ahead[i], &end);
    for (uint32_t i = 0; i < feeds->len; i++) {
        const Feed *f = &feeds->at[i];
        read_from_tile(p, loop->body, f, &tiles, ahead[f->kind == ahead[0].kind ? 0 : 1].slot);
    }
}
