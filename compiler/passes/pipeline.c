/// pipeline.c - brings what dots need to shared memory iterations before they need it.
///
/// Needs dot_select, and no layouts yet. In a loop, a block that dots take (directly, or
/// transposed) moves to a ring of tiles:
///
///     ASYNC    a load whose address and mask can be computed for a later iteration, and whose
///              elements lie in memory by at least 4 aligned bytes: copied without registers,
///              num_stages - 1 iterations ahead
///     STAGED   any other value that can be computed for the next iteration (loads of narrower
///              runs, weights that are converted first): its loads are issued before the dots of
///              this iteration, its tile is written behind them
///
/// The loop is rewritten so (pipeline_build.c):
///
///     for the first num_stages - 1 iterations: begin the copies, as far as there are iterations
///     loop:  wait for the copies of this iteration, and for all threads
///            begin the copies of the iteration num_stages - 1 ahead: into the tile that the
///            iteration before this one has used
///            the body, with TILE in place of the loads
///
/// Where a load's address cannot be computed ahead (a WHILE never is), the products wait instead, if
/// they can (pipeline_defer.c).
///
/// One barrier an iteration is enough, since a tile is written again only behind the next one. The
/// loops of range(num_stages=1), and those whose tiles shared memory cannot hold twice, stay.
#include "layout/layout.h"
#include "passes/pipeline_impl.h"
#include "passes/tf32.h"
#include "target/target.h"

#include <math.h>

enum {
    LEAST_COPY_BYTES = 4,
    MOST_COPY_BYTES = 16,
    SCRATCH_MARGIN = 4096  ///< of shared memory, left for what else a kernel needs
};

/* ---- what a loop feeds its dots ---- */

/// What is found of one loop.
typedef struct Search {
    Pipe *pipe;
    Loop loop;
    FeedVec feeds;
    bool defers;  ///< products may come later: no address need advance
    bool misses;  ///< a factor cannot be brought ahead
} Search;

static bool is_fed(const FeedVec *feeds, const IrValue *v)
{
    for (uint32_t i = 0; i < feeds->len; i++)
        if (feeds->at[i].value == v)
            return true;
    return false;
}

/// The value that an operand of a dot is a transposition of, or itself; *inner is in: an axis of
/// the operand, out: which axis of that value it is.
static IrValue *untransposed(IrValue *v, unsigned *inner)
{
    for (; v->def != NULL && v->def->code == IR_TRANS; v = v->def->args[0])
        *inner = v->def->attr.perm[*inner];
    return v;
}

/// Tiles have two axes; more must have extent 1.
static bool fits_tile(const Type *t)
{
    const unsigned rank = type_rank(t);
    for (unsigned k = 0; k + 2 < rank; k++)
        if (t->shape[k] != 1)
            return false;
    return rank >= 2 && type_is_num(t);
}

/// The axis along which a pointer's elements are neighbours in memory, as far as one can tell.
static unsigned memory_axis(const Pipe *p, const IrValue *pointer)
{
    const unsigned last = type_rank(pointer->type) - 1;
    const AxisDim *dim = axis_info_of(p->axes, pointer)->dim;
    return dim[last - 1].likely > dim[last].likely ? last - 1 : last;
}

/// True when copies can move what is loaded: its elements are proved to lie in pieces.
static bool moves_in_pieces(const Pipe *p, const IrOp *load, unsigned axis)
{
    const int64_t bytes = type_elem_bytes(load->results[0]->type);
    return bytes * axis_info_piece(p->axes, load->args[0], load->args[1], axis, MOST_COPY_BYTES) >=
           LEAST_COPY_BYTES;
}

static bool is_zero(const IrValue *v)
{
    if (v == NULL)
        return true;
    if (v->def != NULL && v->def->code == IR_SPLAT)
        v = v->def->args[0];
    return ir_is_const(v) && (v->def->attr.konst.is_float
                                  ? v->def->attr.konst.f == 0 && !signbit(v->def->attr.konst.f)
                                  : v->def->attr.konst.i == 0);
}

static bool is_async(const Search *s, const IrValue *v, unsigned axis)
{
    const Pipe *p = s->pipe;
    const IrOp *load = v->def;
    return (p->cx->features & TARGET_CP_ASYNC) != 0 && p->cx->copies != COPY_SYNC &&
           load->code == IR_LOAD && is_zero(load->args[2]) &&
           (s->defers || (pipeline_advances(p, &s->loop, load->args[0]) &&
                          pipeline_advances(p, &s->loop, load->args[1]))) &&
           pipeline_may_overtake(p, s->loop.op, load) && moves_in_pieces(p, load, axis);
}

/// A load of the body that `v` is computed from, element by element or nearly so; NULL: none.
static const IrOp *load_behind(const Search *s, const IrValue *v)
{
    if (v == NULL || v->def == NULL || v->def->block != s->loop.body)
        return NULL;
    if (v->def->code == IR_LOAD)
        return type_is_block(v->type) ? v->def : NULL;
    for (uint32_t i = 0; i < v->def->argc; i++) {
        const IrOp *load = load_behind(s, v->def->args[i]);
        if (load != NULL)
            return load;
    }
    return NULL;
}

/// Feeds `v`, whose axis `inner` the dot sums along as its factor `which`, from a ring if that can
/// be.
static void consider(Search *s, const IrOp *dot, unsigned which, IrValue *v, unsigned inner)
{
    const Pipe *p = s->pipe;
    const IrOp *load = load_behind(s, v);
    if (load == NULL || !fits_tile(v->type) || is_fed(&s->feeds, v))
        return;
    unsigned axis = inner;
    if (type_rank(load->args[0]->type) == type_rank(v->type))
        axis = memory_axis(p, load->args[0]);
    // Some dots read only tiles that are fast along the inner axis.
    const bool turned =
        axis != inner && !layout_dot_takes_tile(dot, which, false, p->fn->num_warps);
    // Rounded in registers on the way; a right factor in rows, when they are read
    // (layout_dot_swaps).
    const bool by_rows = which == 1 && axis != inner && !turned;
    const bool rounds = tf32_must_be_rounded(dot) && !by_rows;
    if (rounds && !tf32_everywhere(p->fn, v))
        return;
    Feed f = { .kind = FEED_ASYNC, .value = v, .fast = (uint8_t)axis };
    if (turned || rounds || !is_async(s, v, axis)) {
        if (s->defers || !pipeline_advances(p, &s->loop, v)) {
            s->misses = true;
            return;
        }
        f.kind = FEED_STAGED;
        f.fast = (uint8_t)(turned ? inner : axis);
        f.rounds = rounds;
    }
    VEC_PUSH(p->cx->arena, &s->feeds, f);
}

static bool look_at_dot(IrOp *op, void *cx)
{
    Search *s = cx;
    for (unsigned i = 0; i < 2 && op->code == IR_DOT; i++) {
        const unsigned rank = type_rank(op->args[i]->type);
        unsigned inner = i == 0 ? rank - 1 : rank - 2;
        IrValue *v = untransposed(op->args[i], &inner);
        consider(s, op, i, v, inner);
    }
    return true;
}

/* ---- shared memory ---- */

static bool add_scratch(IrOp *op, void *cx)
{
    Search *s = cx;
    uint32_t bytes = 0;
    for (unsigned i = 0; i < 2 && op->code == IR_DOT; i++) {
        unsigned inner = 0;
        const IrValue *v = untransposed(op->args[i], &inner);
        if (ir_tile_of(v) == NULL && !is_fed(&s->feeds, v))
            bytes += v->type->numel * type_elem_bytes(v->type);
    }
    if (bytes > s->pipe->scratch)
        s->pipe->scratch = bytes;
    return true;
}

/// True when ring `r` is made for tiles like feed `i`'s, and no feed before it has taken it.
static bool is_free_like(const Search *s, uint16_t r, uint32_t i)
{
    const IrRing *ring = &s->pipe->fn->rings[r];
    const Feed *f = &s->feeds.at[i];
    for (uint32_t k = 0; k < i; k++)
        if (s->feeds.at[k].ring == r)
            return false;
    return ring->loose && ring->block == f->value->type && ring->stages == f->stages &&
           ring->fast == f->fast && ring->tf32 == f->rounds;
}

/// Gives each feed the index of its ring: one of another loop that is alike (loops that have rings
/// never lie in each other), or a new one. Gives the bytes that all rings need.
static uint32_t plan_rings(Search *s, unsigned stages)
{
    const IrFunc *fn = s->pipe->fn;
    uint32_t sum = 0;
    uint16_t next = fn->ring_count;
    for (uint16_t r = 0; r < fn->ring_count; r++)
        sum += fn->rings[r].stages * layout_tile_bytes(fn->rings[r].block, fn->rings[r].fast);
    for (uint32_t i = 0; i < s->feeds.len; i++) {
        Feed *f = &s->feeds.at[i];
        f->stages = (uint16_t)(f->kind == FEED_ASYNC ? stages : 2);
        f->ring = 0;
        while (f->ring < fn->ring_count && !is_free_like(s, f->ring, i))
            f->ring++;
        if (f->ring < fn->ring_count)
            continue;
        f->ring = next++;
        sum += f->stages * layout_tile_bytes(f->value->type, f->fast);
    }
    return sum;
}

/// As many of the wanted stages as shared memory holds; below 2: it holds no pipeline.
static unsigned stages_that_fit(Search *s, unsigned wanted)
{
    Pipe *p = s->pipe;
    p->scratch = 0;
    ir_walk(p->fn, add_scratch, s);
    const uint32_t others = p->scratch + SCRATCH_MARGIN, all = p->cx->target->shared_max;
    while (wanted > 1 && plan_rings(s, wanted) + others > all)
        wanted--;
    return wanted;
}

static void make_ring(IrFunc *fn, const Feed *f)
{
    const uint16_t ring = ir_add_ring(fn, f->value->type, f->stages, f->fast);
    fn->rings[ring].loose = true;
    fn->rings[ring].tf32 = f->rounds;
}

static void make_rings(Search *s)
{
    for (uint32_t i = 0; i < s->feeds.len; i++) {
        const Feed *f = &s->feeds.at[i];
        if (f->ring == s->pipe->fn->ring_count)
            make_ring(s->pipe->fn, f);
    }
}

/* ---- the pass ---- */

static bool is_pipelined(IrOp *op, void *cx)
{
    bool *found = cx;
    *found = op->code == IR_TILE;
    return !*found;
}

/// The loop's loads that feed dots; of those, copies could move the ones in pieces.
typedef struct Loads {
    Search *search;
    VEC(IrOp *) list;
} Loads;

static bool collect_loads(IrOp *op, void *cx)
{
    Loads *l = cx;
    for (unsigned i = 0; i < 2 && op->code == IR_DOT; i++) {
        unsigned inner = 0;
        const IrValue *v = untransposed(op->args[i], &inner);
        if (v->def != NULL && v->def->code == IR_LOAD && v->def->block == l->search->loop.body &&
            fits_tile(v->type))
            VEC_PUSH(l->search->pipe->cx->arena, &l->list, v->def);
    }
    return true;
}

static bool in_pieces(const Pipe *p, const IrOp *load)
{
    return moves_in_pieces(p, load, memory_axis(p, load->args[0]));
}

/// The loop, or the version of it in which more loads are proved to move in pieces.
static IrOp *guarded(Pipe *p, IrOp *op)
{
    Search s = { .pipe = p, .loop = { .op = op, .body = op->regions[0] } };
    Loads loads = { .search = &s };
    if ((p->cx->features & TARGET_CP_ASYNC) == 0 || p->cx->copies == COPY_SYNC)
        return op;
    ir_walk_block(s.loop.body, collect_loads, &loads);
    return pipeline_guard(p, op, loads.list.at, loads.list.len, in_pieces);
}

/// The loop with its products some iterations later, if that helps and can be.
static bool deferred(Pipe *p, const Loop *loop, unsigned wanted)
{
    Search s = { .pipe = p, .loop = *loop, .defers = true };
    ir_walk_block(s.loop.body, look_at_dot, &s);
    if (s.misses || !pipeline_can_defer(p, &s.loop, &s.feeds))
        return false;
    const unsigned stages = stages_that_fit(&s, wanted);
    if (stages < 2)
        return false;
    make_rings(&s);
    pipeline_defer(p, &s.loop, &s.feeds, stages);
    return true;
}

static void run_for(Pipe *p, IrOp *op, unsigned wanted)
{
    op = guarded(p, op);
    p->axes = axis_info_compute(p->fn, p->cx->arena);
    p->value_count = p->fn->value_count;
    Search s = { .pipe = p, .loop = { .op = op, .body = op->regions[0] } };
    pipeline_find_advancing(p, &s.loop);
    ir_walk_block(s.loop.body, look_at_dot, &s);
    if (s.misses && deferred(p, &s.loop, wanted))
        return;
    const unsigned stages = stages_that_fit(&s, wanted);
    if (s.feeds.len == 0 || stages < 2)
        return;
    make_rings(&s);
    pipeline_build(p, &s.loop, &s.feeds, stages);
}

static void run_loop(Pipe *p, IrOp *op)
{
    const unsigned wanted = op->attr.num_stages ? op->attr.num_stages : p->fn->num_stages;
    bool pipelined = false;
    for (uint32_t r = 0; r < op->regionc && !pipelined; r++)
        ir_walk_block(op->regions[r], is_pipelined, &pipelined);
    if (wanted < 2 || pipelined)
        return;
    p->axes = axis_info_compute(p->fn, p->cx->arena);
    p->value_count = p->fn->value_count;
    if (op->code == IR_WHILE) {
        const Loop loop = { .op = op, .body = op->regions[1] };
        deferred(p, &loop, wanted);
    } else if (!ir_is_const(op->args[2]) || op->args[2]->def->attr.konst.i > 0) {
        run_for(p, op, wanted);
    }
}

static void run_block(Pipe *p, IrBlock *b)
{
    for (IrOp *op = b->first, *next; op != NULL; op = next) {
        next = op->next;
        for (uint32_t r = 0; r < op->regionc; r++)
            run_block(p, op->regions[r]);
        if (op->code == IR_FOR || op->code == IR_WHILE)
            run_loop(p, op);
    }
}

bool pass_pipeline(PassCtx *cx, IrFunc *fn)
{
    Pipe p = { .cx = cx, .fn = fn };
    if (fn->producer)  // which copies ahead already
        return true;
    run_block(&p, fn->body);
    return true;
}
