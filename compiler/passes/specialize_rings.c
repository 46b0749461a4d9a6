// specialize_rings.c - what the copies of a producer need: a map of the tensor, a ring to copy
// into, a pipe that hands its stages over.
#include "layout/layout.h"
#include "passes/specialize_impl.h"
#include "passes/tf32.h"
#include "target/target.h"

enum {
    MAX_BOX = 256,              // coordinates along a dimension
    SUM_CHAIN = 12,             // operations from a sum to a factor that are looked through
    SCRATCH_MARGIN = 2 * 1024,  // of shared memory a warp, for what else exchanges values
    BARRIER_BYTES = 1024        // ... and for the barriers of pipes
};

/* ---- shared memory ---- */

bool specialize_in_loop(const IrOp *op)
{
    for (const IrOp *p = op->block->parent; p; p = p->block->parent)
        if (p->code == IR_FOR || p->code == IR_WHILE)
            return true;
    return false;
}

/// The tile as the TMA writes it: at least as many bytes as it has elements.
static uint32_t tile_bytes(const Feed *f)
{
    return layout_tile_bytes(f->load->results[0]->type, f->fast);
}

/// Stages of the pipe that a group owns: one where no loop fills it.
static unsigned depth_of(const Special *s, uint32_t group, unsigned stages)
{
    for (uint32_t i = 0; i < s->feeds.len; i++)
        if (s->feeds.at[i].shares == group && specialize_in_loop(s->feeds.at[i].load))
            return stages;
    return 1;
}

static uint32_t ring_bytes(const Special *s, unsigned stages)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < s->feeds.len; i++) {
        const Feed *f = &s->feeds.at[i];
        if (f->shares == f->group)
            sum += tile_bytes(f) * depth_of(s, f->group, stages);
    }
    return sum;
}

/// True when the DOT reads the factor where the copy engine puts it.
static bool stays_in_tile(Special *s, const IrOp *dot, unsigned which)
{
    const IrValue *v = dot->args[which];
    const Feed *f = specialize_feed_of(s, specialize_load_behind(dot->args[which]));
    unsigned inner = type_rank(v->type) - (which == 0 ? 1 : 2);
    for (; v->def && v->def->code == IR_TRANS; v = v->def->args[0])
        inner = v->def->attr.perm[inner];
    return f && (f->tf32 || !tf32_must_be_rounded(dot)) &&
           layout_dot_takes_tile(dot, which, inner == f->fast, s->fn->num_warps);
}

/// True for what is computed of a warpgroup's sum, element by element, and so is held as it is.
static bool is_made_of_sum(const IrValue *v, unsigned depth)
{
    const IrOp *op = v->def;
    if (!op || depth == 0)
        return false;
    if (op->code == IR_DOT)
        return op->attr.dot.wgmma;
    for (uint32_t i = 0; i < op->argc && ir_op_info[op->code].cls == OPCLASS_ELEMENTWISE; i++)
        if (op->args[i] && is_made_of_sum(op->args[i], depth - 1))
            return true;
    return false;
}

/// A left factor that a warpgroup takes from its registers.
static bool is_in_registers(const IrOp *dot, unsigned operand)
{
    const IrValue *v = dot->args[operand];
    return operand == 0 && dot->attr.dot.wgmma && type_elem_bytes(v->type) == 2 &&
           is_made_of_sum(v, SUM_CHAIN);
}

/// What an operation needs of shared memory for a factor that is in no ring, or to hand a result to
/// other threads.
static bool add_scratch(IrOp *op, void *cx)
{
    Special *s = cx;
    const bool shares =
        ir_op_info[op->code].cls == OPCLASS_ATOMIC && s->uses[op->results[0]->id] > 0;
    for (unsigned i = 0; i < 2 && (op->code == IR_DOT || shares); i++)
        if (shares ? i == 0 : !stays_in_tile(s, op, i) && !is_in_registers(op, i))
            op->mark += op->args[i]->type->numel * type_elem_bytes(op->args[i]->type);
    return true;
}

static bool clear_mark(IrOp *op, void *cx)
{
    (void)cx;
    op->mark = 0;
    return true;
}

static bool most_scratch(IrOp *op, void *cx)
{
    uint32_t *most = cx;
    *most = op->mark > *most ? op->mark : *most;
    return true;
}

/// False for what may have threads exchange values through scratch: blocks stored in another layout
/// than they were computed in, reductions, scans, results of atomics.
static bool needs_no_scratch(IrOp *op, void *cx)
{
    const Special *s = cx;
    const OpClass cls = ir_op_info[op->code].cls;
    for (uint32_t i = 0; op->code == IR_STORE && i < s->stores.len; i++)
        if (s->stores.at[i].load == op)
            return true;
    return cls != OPCLASS_REDUCE && cls != OPCLASS_SCAN && cls != OPCLASS_ATOMIC &&
           !(op->code == IR_STORE && type_is_block(op->args[0]->type));
}

/// As many of the wanted stages as fit; 0: not even two.
/// What the loops say, else the kernel; at least two.
static unsigned wanted_stages(const Special *s)
{
    unsigned wanted = 0;
    for (uint32_t i = 0; i < s->feeds.len; i++) {
        const IrOp *loop = s->feeds.at[i].load->block->parent;
        if (loop && loop->code == IR_FOR && loop->attr.num_stages > wanted)
            wanted = loop->attr.num_stages;
    }
    wanted = wanted ? wanted : s->fn->num_stages;
    return wanted > 2 ? wanted : 2;
}

unsigned specialize_stages(Special *s)
{
    uint32_t scratch = 0;
    s->uses = ir_count_uses(s->fn, s->cx->arena);
    ir_walk(s->fn, clear_mark, NULL);
    ir_walk(s->fn, add_scratch, s);
    ir_walk(s->fn, most_scratch, &scratch);
    const uint32_t warps = s->fn->num_warps;
    const bool exchanges = !ir_walk(s->fn, needs_no_scratch, s);
    const uint32_t others = (scratch + (exchanges ? SCRATCH_MARGIN * warps : 0)) * s->teams +
                            BARRIER_BYTES + specialize_store_bytes(s);
    const uint32_t room = s->cx->target->shared_max;
    unsigned stages = wanted_stages(s);
    while (stages >= 2 && ring_bytes(s, stages) + others > room)
        stages--;
    return stages >= 2 ? stages : 0;
}

/* ---- maps ---- */

/// Blocks that share a tile copy half of it each.
static int32_t box_side(const Special *s, int32_t extent)
{
    enum { LEAST_HALF = 8 };
    const bool halves = s->fn->num_ctas > 1 && extent / 2 >= LEAST_HALF;
    extent = halves ? extent / 2 : extent;
    return extent < MAX_BOX ? extent : MAX_BOX;
}

static IrTensorMap map_of(const Special *s, const Feed *f)
{
    const TensorAccess *a = f->access;
    const uint32_t bytes = type_elem_bytes(a->elem);
    const Type *block = f->load->results[0]->type;
    const uint32_t row = layout_tile_row_bytes(block, f->fast);
    IrTensorMap map = {
        .param = a->param, .elem = a->elem, .rank = (uint8_t)a->rank, .tf32 = f->tf32
    };
    map.swizzle = (uint8_t)row;
    map.box[0] = (uint16_t)(row / bytes);
    for (unsigned k = 0, to = 1; k < a->rank; k++)
        if (k != f->line)
            map.box[to++] = (uint16_t)box_side(s, a->dims[k].extent);
    return map;
}

/// True when one map serves both: the same tensor in boxes of the same form.
static bool same_map(const Feed *f, const Feed *g)
{
    const TensorAccess *a = f->access, *b = g->access;
    if (a->param != b->param || a->rank != b->rank || f->line != g->line || f->tf32 != g->tf32 ||
        f->load->results[0]->type != g->load->results[0]->type)
        return false;
    for (unsigned k = 0; k < a->rank; k++) {
        const TensorDim *x = &a->dims[k], *y = &b->dims[k];
        bool same = x->axis == y->axis && x->bound_count == y->bound_count &&
                    poly_equal(&x->stride, &y->stride);
        for (unsigned i = 0; i < x->bound_count && same; i++)
            same = poly_equal(&x->bounds[i], &y->bounds[i]);
        // without a bound the size is how far the tiles reach
        if (!same || (x->bound_count == 0 && !poly_equal(&x->start, &y->start)))
            return false;
    }
    return true;
}

static void choose_map(Special *s, Feed *f)
{
    for (Feed *g = s->feeds.at; g != f; g++) {
        if (same_map(f, g)) {
            f->map = g->map;
            return;
        }
    }
    const IrTensorMap map = map_of(s, f);
    f->map = ir_add_map(s->fn, &map);
    f->has_own_map = true;
}

/* ---- pipes ---- */

static bool is_around(const IrBlock *outer, const IrBlock *b)
{
    for (; b; b = b->parent ? b->parent->block : NULL)
        if (b == outer)
            return true;
    return false;
}

static Feed *member(const Special *s, uint32_t group, uint32_t index)
{
    for (uint32_t i = 0; i < s->feeds.len; i++)
        if (s->feeds.at[i].group == group && index-- == 0)
            return &s->feeds.at[i];
    return NULL;
}

static bool is_before(const IrOp *a, const IrOp *b)
{
    for (const IrOp *op = a->next; op; op = op->next)
        if (op == b)
            return true;
    return false;
}

/// True when a load in an outer block has been used before a loop or branch that holds the inner
/// one begins, or is made after it.
static bool is_apart_from_inner(const Special *s, const Feed *outer, const Feed *inner)
{
    const IrOp *at = inner->load, *last = specialize_last_use(s->fn, outer->load);
    while (at->block != outer->load->block)
        at = at->block->parent;
    return (last && is_before(last, at)) || is_before(at, outer->load);
}

/// True when neither is held while the other is copied. Side by side in a loop they would be in
/// each other's way.
static bool are_apart(const Special *s, const Feed *f, const Feed *g)
{
    const IrBlock *a = f->load->block, *b = g->load->block;
    if (a == b)
        return !specialize_in_loop(f->load) && is_apart_from_inner(s, f, g) &&
               is_apart_from_inner(s, g, f);
    if (is_around(a, b))
        return is_apart_from_inner(s, f, g);
    return !is_around(b, a) || is_apart_from_inner(s, g, f);
}

/// True when the groups can use one pipe: they fill it alike, and neither does while the other
/// holds a stage of it.
static bool can_share(const Special *s, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0;; i++) {
        const Feed *f = member(s, a, i), *g = member(s, b, i);
        if (!f || !g)
            return f == g;
        if (f->load->results[0]->type != g->load->results[0]->type || f->fast != g->fast ||
            f->tf32 != g->tf32 || !are_apart(s, f, g))
            return false;
    }
}

/// Has a later group use the pipe of an earlier one where that is possible: the loop over a tail
/// needs no rings of its own.
void specialize_share_pipes(Special *s)
{
    for (uint32_t i = 0; i < s->feeds.len; i++)
        s->feeds.at[i].shares = s->feeds.at[i].group;
    for (uint32_t b = 1; b < s->group_count; b++) {
        for (uint32_t a = 0; a < b; a++) {
            const Feed *owner = member(s, a, 0), *first = member(s, b, 0);
            bool free = owner && first && owner->shares == a;
            for (uint32_t c = 0; c < b && free; c++)  // all that share it already
                free = !member(s, c, 0) || member(s, c, 0)->shares != a || can_share(s, c, b);
            for (uint32_t i = 0; free && member(s, b, i); i++)
                member(s, b, i)->shares = a;
            if (free)
                break;
        }
    }
}

static void make_pipe(Special *s, uint32_t group, unsigned stages)
{
    IrFunc *fn = s->fn;
    const unsigned depth = depth_of(s, group, stages);
    const uint16_t pipe = ir_add_pipe(fn, (IrPipe){ .stages = (uint16_t)depth });
    Feed *f;
    for (uint32_t i = 0; (f = member(s, group, i)) != NULL; i++) {
        const Type *block = f->load->results[0]->type;
        f->pipe = pipe;
        f->ring = ir_add_ring(fn, block, depth, f->fast);
        fn->rings[f->ring].tf32 = f->tf32;
        fn->pipes[pipe].bytes += block->numel * type_elem_bytes(block);
    }
}

void specialize_make_rings(Special *s, unsigned stages)
{
    for (uint32_t g = 0; g < s->group_count; g++) {
        const Feed *first = member(s, g, 0);
        if (first && first->shares == g)
            make_pipe(s, g, stages);
    }
    for (uint32_t i = 0; i < s->feeds.len; i++)
        choose_map(s, &s->feeds.at[i]);
    for (uint32_t g = 0; g < s->group_count; g++) {
        Feed *f;
        for (uint32_t i = 0; (f = member(s, g, i)) != NULL && f->shares != g; i++) {
            f->pipe = member(s, f->shares, i)->pipe;
            f->ring = member(s, f->shares, i)->ring;
        }
    }
}
