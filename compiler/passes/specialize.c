// specialize.c - one thread copies tiles by the copy engine, ahead of the warps that multiply them.
//
// Needs dot_select, and no layouts yet. A load that feeds matrix products and touches a tile of a
// tensor (tensor_access.h) is not made by the warps that use it: a thread beside them, the
// producer, runs through the same control flow reduced to scalars and starts a copy into a ring of
// tiles for each of them. Loads whose tiles one product uses share a pipe: two barriers a stage
// hand it over and back. This side becomes
//
//     slot = pipe_wait; a = tile slot; b = tile slot; ... dot a, b ...; pipe_release slot
//
// Both sides count stages for themselves, so any control flow works as long as both decide alike.
// What the producer reads early must not be written by the kernel.
#include "layout/layout.h"
#include "passes/specialize_impl.h"
#include "passes/tensor_host.h"
#include "passes/tf32.h"
#include "target/target.h"

#include <assert.h>

enum {
    MIN_ROWS = 8,        // of a tile: the period of the swizzle
    MIN_LINE_BYTES = 32  // ... and of its fast axis
};

/* ---- which loads ---- */

static bool note_written(IrOp *op, void *cx)
{
    Special *s = cx;
    if (ir_op_info[op->code].cls != OPCLASS_ATOMIC && op->code != IR_STORE)
        return true;
    const int root = ir_pointer_root(s->fn, op->args[0]);
    for (uint32_t i = 0; i < s->fn->body->argc; i++)
        s->written[i] |= root == (int)i || (root < 0 && !s->fn->params[i].is_const);
    return true;
}

/// Tiles have two axes; those before them have extent 1.
static bool has_two_axes(const Type *t)
{
    const unsigned rank = type_rank(t);
    for (unsigned k = 0; k + 2 < rank; k++)
        if (t->shape[k] != 1)
            return false;
    return rank >= 2;
}

unsigned specialize_line(const TensorAccess *access)
{
    for (unsigned k = 0; k < access->rank; k++) {
        int64_t one;
        const TensorDim *d = &access->dims[k];
        if (d->axis >= 0 && poly_is_const(&d->stride, &one) && one == 1)
            return k;
    }
    return 0;
}

const char *specialize_unbounded(Special *s, const IrOp *op, const TensorAccess *access)
{
    TensorHost *h = tensor_host_begin(s->fn, s->cx->arena);
    return tensor_host_add(h, op, access, specialize_line(access), false);
}

/// Why the tile of a load cannot be copied; NULL: it can.
static const char *obstacle(Special *s, const IrOp *load, const TensorAccess *access)
{
    const Type *block = load->results[0]->type;
    if (access->reason)
        return access->reason;
    if (s->written[access->param])
        return "the kernel stores through the same pointer";
    const char *reason = tensor_copy_obstacle(s->tensors, access);
    if (reason)
        return reason;
    const unsigned fast = (unsigned)access->dims[specialize_line(access)].axis;
    const uint32_t line = (uint32_t)block->shape[fast] * type_elem_bytes(block);
    if (!has_two_axes(block) || line < MIN_LINE_BYTES ||
        block->numel * type_elem_bytes(block) / line < MIN_ROWS)
        return "the tile is too small or has more than two axes";
    return specialize_unbounded(s, load, access);
}

Feed *specialize_feed_of(Special *s, const IrOp *load)
{
    for (uint32_t i = 0; i < s->feeds.len; i++)
        if (s->feeds.at[i].load == load)
            return &s->feeds.at[i];
    return NULL;
}

IrOp *specialize_load_behind(IrValue *v)
{
    while (v->def && v->def->code == IR_TRANS)
        v = v->def->args[0];
    return v->def && v->def->code == IR_LOAD && type_is_block(v->type) ? v->def : NULL;
}

void specialize_note(Special *s, const IrOp *op, const char *reason)
{
    if (op && s->cx->on_copy)
        s->cx->on_copy(s->cx->on_copy_cx, op, reason);
}

static Feed *take_load(Special *s, IrOp *load)
{
    Feed *known = load ? specialize_feed_of(s, load) : NULL;
    if (!load || known)
        return known;
    const TensorAccess *access = tensor_access_of(s->tensors, load);
    const char *reason = obstacle(s, load, access);
    specialize_note(s, load, reason);
    if (reason)
        return NULL;
    const unsigned line = specialize_line(access);
    VEC_PUSH(s->cx->arena, &s->feeds,
             ((Feed){ .load = load,
                      .access = access,
                      .line = (uint8_t)line,
                      .fast = (uint8_t)access->dims[line].axis,
                      .tf32 = tf32_everywhere(s->fn, load->results[0]),
                      .group = s->group_count++ }));
    return &s->feeds.at[s->feeds.len - 1];
}

static void join(Special *s, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < s->feeds.len; i++)
        if (s->feeds.at[i].group == b)
            s->feeds.at[i].group = a;
}

/// A factor that must be rounded is rounded by the engine, and so for whatever else uses it.
static void take_factor(Special *s, const IrOp *dot, IrOp *load)
{
    if (load && tf32_must_be_rounded(dot) && !tf32_everywhere(s->fn, load->results[0]))
        specialize_note(s, load, "it is also used as it is, not rounded to tf32");
    else
        take_load(s, load);
}

/// Factors that are loaded side by side share a pipe.
static bool look_at_dot(IrOp *op, void *cx)
{
    Special *s = cx;
    if (op->code != IR_DOT)
        return true;
    const IrOp *a = specialize_load_behind(op->args[0]), *b = specialize_load_behind(op->args[1]);
    take_factor(s, op, (IrOp *)a);
    take_factor(s, op, (IrOp *)b);
    const Feed *x = a ? specialize_feed_of(s, a) : NULL, *y = b ? specialize_feed_of(s, b) : NULL;
    if (x && y && a->block == b->block)
        join(s, x->group, y->group);
    return true;
}

/* ---- the consumers ---- */

/// The operation of `block` that `op` is or stands in.
static IrOp *ancestor_in(IrOp *op, const IrBlock *block)
{
    while (op->block != block)
        op = op->block->parent;
    return op;
}

static bool is_before(const IrOp *a, const IrOp *b)
{
    for (const IrOp *op = a->next; op; op = op->next)
        if (op == b)
            return true;
    return false;
}

typedef struct Uses {
    const IrFunc *fn;
    const IrBlock *block;
    const IrValue *value;
    unsigned fast;  // its axis of neighbours
    IrOp *last;     // of the block, that a use stands in
    bool tf32;      // the tile is rounded to it
    bool all_tile;  // every use reads the tile where it lies
} Uses;

static bool note_use(IrOp *op, void *cx);

static void note_uses_of_trans(Uses *u, const IrOp *trans)
{
    Uses of = *u;
    of.value = trans->results[0];
    for (unsigned k = 0; k < type_rank(of.value->type); k++)
        if (trans->attr.perm[k] == u->fast)
            of.fast = k;
    ir_walk((IrFunc *)u->fn, note_use, &of);
    u->last = of.last;
    u->all_tile = of.all_tile;
}

static bool reads_tile(const Uses *u, const IrOp *op, uint32_t operand)
{
    const unsigned rank = type_rank(u->value->type), inner = operand == 0 ? rank - 1 : rank - 2;
    return op->code == IR_DOT && operand < 2 && (u->tf32 || !tf32_must_be_rounded(op)) &&
           layout_dot_takes_tile(op, operand, u->fast == inner, u->fn->num_warps);
}

/// The uses of a value that may stay in its tile, transpositions of it included.
static bool note_use(IrOp *op, void *cx)
{
    Uses *u = cx;
    for (uint32_t i = 0; i < op->argc; i++) {
        if (op->args[i] != u->value)
            continue;
        IrOp *at = ancestor_in(op, u->block);
        if (!u->last || is_before(u->last, at))
            u->last = at;
        if (op->code == IR_TRANS)
            note_uses_of_trans(u, op);
        else
            u->all_tile &= reads_tile(u, op, i);
    }
    return true;
}

IrOp *specialize_last_use(const IrFunc *fn, const IrOp *load)
{
    Uses uses = { .fn = fn, .block = load->block, .value = load->results[0], .all_tile = true };
    ir_walk((IrFunc *)fn, note_use, &uses);  // changes nothing
    return uses.last;
}

/// Puts a tile in the place of the load; gives the last operation of its block that reads the tile.
static IrOp *replace_load(Special *s, Feed *f, IrValue *slot)
{
    Uses uses = { .fn = s->fn,
                  .block = f->load->block,
                  .value = f->load->results[0],
                  .fast = f->fast,
                  .tf32 = f->tf32,
                  .all_tile = true };
    ir_walk(s->fn, note_use, &uses);
    IrBuilder b = {
        .fn = s->fn, .block = f->load->block, .before = f->load, .span = f->load->span
    };
    IrValue *tile = ir_tile(&b, f->ring, slot);
    tile->hint = f->load->results[0]->hint;
    if (!uses.all_tile) {
        tile = ir_op1(&b, IR_CONVERT, tile->type, 1, &tile);
        uses.last = tile->def;
    }
    ir_replace(f->load->results[0], tile);
    return uses.last ? uses.last : tile->def;
}

static void rewrite_group(Special *s, uint32_t first)
{
    const Type *i32 = type_scalar(s->fn->types, SCALAR_I32);
    Feed *head = &s->feeds.at[first];
    IrOp *where = head->load;
    for (uint32_t i = first; i < s->feeds.len; i++)
        if (s->feeds.at[i].group == head->group && is_before(s->feeds.at[i].load, where))
            where = s->feeds.at[i].load;
    IrBuilder b = { .fn = s->fn, .block = where->block, .before = where, .span = where->span };
    IrValue *slot = ir_op1(&b, IR_PIPE_WAIT, i32, 0, NULL);
    slot->def->attr.pipe.pipe = head->pipe;
    IrOp *last = replace_load(s, head, slot);
    for (uint32_t i = first + 1; i < s->feeds.len; i++) {
        if (s->feeds.at[i].group != head->group)
            continue;
        IrOp *end = replace_load(s, &s->feeds.at[i], slot);
        last = is_before(last, end) ? end : last;
    }
    b = (IrBuilder){ .fn = s->fn, .block = where->block, .before = last->next, .span = last->span };
    IrOp *release = ir_op0(&b, IR_PIPE_RELEASE, 1, &slot);
    release->attr.pipe.pipe = head->pipe;
}

static void rewrite_consumers(Special *s)
{
    for (uint32_t i = 0; i < s->feeds.len; i++) {
        bool is_first = true;
        for (uint32_t k = 0; k < i; k++)
            is_first &= s->feeds.at[k].group != s->feeds.at[i].group;
        if (is_first)
            rewrite_group(s, i);
    }
    ir_apply_replacements(s->fn);
}

/* ---- the pass ---- */

static bool any_in_loop(const Special *s)
{
    for (uint32_t i = 0; i < s->feeds.len; i++)
        if (specialize_in_loop(s->feeds.at[i].load))
            return true;
    return false;
}

/// The launcher's function for the maps. Each access has been tried (specialize_unbounded).
static IrFunc *make_map_host(Special *s)
{
    TensorHost *h = tensor_host_begin(s->fn, s->cx->arena);
    for (uint32_t i = 0; i < s->feeds.len + s->stores.len; i++) {
        const Feed *f = i < s->feeds.len ? &s->feeds.at[i] : &s->stores.at[i - s->feeds.len];
        const char *reason = tensor_host_add(h, f->load, f->access, f->line, f->has_own_map);
        assert(reason == NULL);
        (void)reason;
    }
    IrFunc *host = tensor_host_end(h);
    return pass_fold(s->cx, host) && pass_cse(s->cx, host) && pass_dce(s->cx, host) ? host : NULL;
}

/// Nothing becomes a copy after all.
static bool give_up(Special *s, const char *reason)
{
    IrFunc *fn = s->fn;
    for (uint32_t i = 0; i < s->feeds.len; i++)
        specialize_note(s, s->feeds.at[i].load, reason);
    for (uint32_t i = 0; i < s->stores.len; i++)
        specialize_note(s, s->stores.at[i].load, reason);
    fn->ring_count = fn->pipe_count = fn->map_count = 0;
    fn->num_ctas = 1;
    return true;
}

static bool make_sides(Special *s)
{
    const char *reason = NULL;
    IrFunc *fn = s->fn;
    IrFunc *producer = specialize_producer(s->cx, fn, &s->feeds, s->written, &reason);
    if (!producer)
        return give_up(s, reason);
    fn->map_host = make_map_host(s);
    if (!fn->map_host)
        return false;
    fn->value_count = producer->value_count;  // ids of the two sides differ
    fn->producer = producer;
    fn->producer_warps = fn->num_warps * s->teams > 4 ? 4 : 1;
    if (fn->num_ctas > 1)
        specialize_choose_pairs(s, producer);
    specialize_rewrite_stores(s);
    rewrite_consumers(s);
    specialize_persist(s);
    return pass_dce(s->cx, fn);
}

bool pass_specialize(PassCtx *cx, IrFunc *fn)
{
    const uint32_t needed = TARGET_TMA | TARGET_MBARRIER | TARGET_WGMMA;
    if ((cx->features & needed) != needed || cx->no_tensor_copies || cx->copies == COPY_SYNC ||
        cx->copies == COPY_CP_ASYNC || fn->ring_count > 0 || fn->num_warps < 4) {
        fn->num_ctas = 1;
        return true;
    }
    Special s = { .cx = cx, .fn = fn };
    s.tensors = tensor_analysis(fn, axis_info_compute(fn, cx->arena), cx->arena);
    s.written = ARENA_NEW_N(cx->arena, bool, fn->body->argc + 1u);
    ir_walk(fn, note_written, &s);
    ir_walk(fn, look_at_dot, &s);
    specialize_share_pipes(&s);
    specialize_find_stores(&s);
    if (!any_in_loop(&s))
        return give_up(&s, "no loop repeats it");
    s.teams = specialize_wants_teams(&s) ? 2 : 1;
    const unsigned stages = specialize_stages(&s);
    if (stages == 0)
        return give_up(&s, "shared memory does not hold two stages");
    specialize_make_rings(&s, stages);
    specialize_make_store_maps(&s);
    return make_sides(&s);
}
