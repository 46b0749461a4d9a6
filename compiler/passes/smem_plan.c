/// smem_plan.c - gives rings of tiles their places in shared memory, and operations that exchange
/// values through it their scratch.
///
///     REDUCE      one value a warp: scratch_elems values of at least 4 bytes; for argmax and
///     argmin,
///                 from the next multiple of 16 on, as many int32 indices
///     CONVERT     of kind SHARED: the whole block, or a piece of it if the chip has not that much
///     DOT         the factors that are in no tile
///     ATOMIC_...  whose result is used by threads that did not perform it: the old values by
///                 element number
///     LOAD        that is volatile and of which several threads hold an element: likewise
///
/// Rings lie at the bottom. A loose one holds something only from the first operation that fills it
/// to the end of the loop that reads it: scratch before and behind, and rings of other loops, lie
/// where it does.
///
/// Scratch is live only within its operation, so everything could lie at offset 0; but then each
/// operation would have to wait for the readers of the one before. Small scratch therefore keeps
/// clear of its neighbours in execution order (the one before, and the first of each loop around,
/// which comes next at the loop's end): the barrier inside each operation then orders all. An
/// operation alone in its loop is its own neighbour: it gets two places and takes turns.
#include "layout/layout.h"
#include "passes/pass.h"
#include "target/target.h"

enum {
    ALIGNMENT = 16,
    BARRIER_BYTES = 8,      ///< of a pipe
    RING_ALIGNMENT = 1024,  ///< the period of the widest swizzle
    PIECE_MARGIN = 4096,    ///< of shared memory, left for others beside a piece
    LEAST_PIECE = 512,      ///< more pieces would be no use
    SMALL_BYTES = 4096,     ///< up to here room is cheaper than a barrier
    NOTED_PART = 16         ///< of a chip's shared memory: errors name what takes this much
};

typedef struct Plan {
    PassCtx *cx;
    IrFunc *fn;
    const uint32_t *uses;
    const IrOp *last;          ///< the scratch user before, in program order
    VEC(const IrOp *) firsts;  ///< first scratch user of each loop around; NULL: none yet
    bool alone;                ///< the loop around has one scratch user
    uint32_t number;           ///< of operations, which count up in program order (IrOp.mark)
    uint32_t *from, *until;    ///< by ring: the operations between which it holds something
    bool ok;
} Plan;

static uint32_t align(uint32_t bytes, uint32_t to)
{
    return (bytes + to - 1) / to * to;
}

/* ---- when a ring holds something ---- */

static void touch(const Plan *p, uint16_t ring, uint32_t number)
{
    if (p->from[ring] == 0)
        p->from[ring] = number;
    if (number > p->until[ring])
        p->until[ring] = number;
}

static void touch_read(const Plan *p, const IrOp *op)
{
    for (uint32_t i = 0; i < op->argc; i++) {
        const IrOp *tile = op->args[i] != NULL ? ir_tile_of(op->args[i]) : NULL;
        if (tile != NULL)
            touch(p, tile->attr.ring, op->mark);
    }
}

static void number_block(Plan *p, const IrBlock *b)
{
    for (IrOp *op = b->first; op != NULL; op = op->next) {
        op->mark = ++p->number;
        if (op->code == IR_TILE_PUT || op->code == IR_ASYNC_COPY)
            touch(p, op->attr.copy.ring, op->mark);
        touch_read(p, op);
        for (uint32_t r = 0; r < op->regionc; r++)
            number_block(p, op->regions[r]);
        // What is read in a loop stays for its next iteration.
        const bool is_loop = op->code == IR_FOR || op->code == IR_WHILE;
        for (uint32_t r = 0; r < op->regionc && is_loop; r++)
            for (const IrOp *in = op->regions[r]->first; in != NULL; in = in->next)
                if (in->code == IR_TILE)
                    touch(p, in->attr.ring, p->number);
    }
}

/// The end of the ring if it holds something while `op` runs, else 0.
static uint32_t end_of_live(const Plan *p, uint16_t index, const IrOp *op)
{
    const IrRing *ring = &p->fn->rings[index];
    const bool live = !ring->loose || (p->from[index] <= op->mark && op->mark <= p->until[index]);
    return live ? ring->smem + ring->stages * ring->bytes : 0;
}

/// Where what is live while `op` runs ends: no scratch lies below.
static uint32_t floor_of(const Plan *p, const IrOp *op)
{
    uint32_t floor = p->fn->smem_reserved;
    for (uint16_t r = 0; r < p->fn->ring_count; r++) {
        const uint32_t end = end_of_live(p, r, op);
        floor = end > floor ? end : floor;
    }
    return floor;
}

/* ---- how much scratch ---- */

static uint32_t reduce_bytes(const Plan *p, const IrOp *op)
{
    const IrValue *v = op->args[0];
    const IrReduceKind kind = op->attr.reduce.kind;
    const ReducePlan *plan =
        layout_plan_reduce(p->cx->layouts, v->layout, v->type, (unsigned)op->attr.reduce.axis);
    // At least 4 bytes each: sums of small floats are kept in float.
    const uint32_t bytes = type_elem_bytes(v->type) < 4 ? 4 : type_elem_bytes(v->type);
    const uint32_t values = plan->scratch_elems * bytes;
    if (kind != REDUCE_ARGMAX && kind != REDUCE_ARGMIN)
        return values;
    return align(values, ALIGNMENT) + plan->scratch_elems * (uint32_t)sizeof(int32_t);
}

static uint32_t carry_bytes(const IrOp *op)
{
    const IrValue *v = op->args[0];
    const CarryPlan plan = layout_plan_carry(v->layout, v->type, (unsigned)op->attr.scan.axis,
                                             (unsigned)op->attr.scan.bit);
    return plan.scratch_elems * type_elem_bytes(v->type);
}

static uint32_t convert_bytes(const Plan *p, const IrOp *op)
{
    const IrValue *from = op->args[0], *to = op->results[0];
    if (ir_tile_of(from))
        return 0;
    const ConvertPlan *plan =
        layout_plan_convert(p->cx->layouts, from->layout, to->layout, type_elem_bytes(from->type));
    if (plan->kind == CONVERT_WARP)
        return plan->bytes << to->layout->warp_bits;
    uint32_t bytes = plan->kind == CONVERT_SHARED ? plan->bytes : 0;
    while (bytes + PIECE_MARGIN + floor_of(p, op) > p->cx->target->shared_max &&
           bytes > LEAST_PIECE)
        bytes /= 2;
    return bytes;
}

static bool is_by_warp(const Plan *p, const IrOp *op)
{
    return op->code == IR_CONVERT &&
           layout_plan_convert(p->cx->layouts, op->args[0]->layout, op->results[0]->layout,
                               type_elem_bytes(op->args[0]->type))
                   ->kind == CONVERT_WARP;
}

/// For a result that one thread gets and others use too.
static uint32_t shared_result_bytes(const Plan *p, const IrOp *op)
{
    const IrValue *v = op->results[0];
    const bool all_own = v->layout != NULL && layout_replicated_threads(v->layout) == 0;
    if (p->uses[v->id] == 0 || all_own)
        return 0;
    return v->type->numel * type_elem_bytes(v->type);
}

/// True when a second look at memory may give another value, and replicas must not differ.
static bool looks_again(const IrOp *op)
{
    return op->attr.mem.is_volatile || op->attr.mem.cache == CACHE_CV;
}

/// Of the scratch.
static uint32_t alignment(const Plan *p, const IrOp *op)
{
    return op->code == IR_DOT ? layout_plan_dot(p->cx->layouts, p->fn, op)->alignment : ALIGNMENT;
}

static uint32_t scratch_bytes(const Plan *p, const IrOp *op)
{
    switch (op->code) {
    case IR_REDUCE: return reduce_bytes(p, op);
    case IR_CARRY: return carry_bytes(op);
    case IR_CONVERT: return convert_bytes(p, op);
    case IR_DOT: return layout_plan_dot(p->cx->layouts, p->fn, op)->bytes;
    case IR_ATOMIC_RMW:
    case IR_ATOMIC_CAS: return shared_result_bytes(p, op);
    case IR_LOAD: return looks_again(op) ? shared_result_bytes(p, op) : 0;
    default: return 0;
    }
}

/// The neighbour whose scratch [at, at + bytes) touches and is worth keeping clear of, or NULL.
static const IrOp *touched(const Plan *p, uint32_t at, uint32_t bytes)
{
    for (uint32_t i = 0; i <= p->firsts.len; i++) {
        const IrOp *other = i < p->firsts.len ? p->firsts.at[i] : p->last;
        if (other == NULL || (bytes > SMALL_BYTES && other->smem_bytes > SMALL_BYTES))
            continue;
        const uint32_t begin = (uint32_t)other->smem;
        if (at < begin + other->smem_bytes && begin < at + bytes)
            return other;
    }
    return NULL;
}

/// How many operations of a block, at most 2, have scratch.
static uint32_t count_users(const Plan *p, const IrBlock *b)
{
    uint32_t count = 0;
    for (const IrOp *op = b->first; op != NULL && count < 2; op = op->next) {
        count += scratch_bytes(p, op) > 0;
        for (uint32_t r = 0; r < op->regionc; r++)
            count += count_users(p, op->regions[r]);
    }
    return count < 2 ? count : 2;
}

static bool note_scratch(IrOp *op, void *cx)
{
    const Plan *p = cx;
    const uint32_t bytes = scratch_bytes(p, op);
    if (bytes >= p->cx->target->shared_max / NOTED_PART)
        diag_note(p->cx->diags, op->span, "'%s' here needs %u bytes", ir_op_info[op->code].mnemonic,
                  (unsigned)bytes);
    return true;
}

/// Whatever takes a large part of shared memory.
static void note_buffers(Plan *p, Span span)
{
    for (uint32_t r = 0; r < p->fn->ring_count; r++) {
        const IrRing *ring = &p->fn->rings[r];
        if (ring->bytes > 0)
            diag_note(p->cx->diags, span, "%u tiles of %u bytes are kept for the loop's products",
                      (unsigned)ring->stages, (unsigned)ring->bytes);
    }
    ir_walk(p->fn, note_scratch, p);
}

/// The function uses shared memory up to `end`.
static void take_up_to(Plan *p, uint32_t end, Span span)
{
    if (end > p->fn->smem_bytes)
        p->fn->smem_bytes = end;
    if (end > p->cx->target->shared_max && p->ok) {
        p->ok = false;
        diag_report(p->cx->diags, DIAG_SHARED_MEMORY, span,
                    "needs %u bytes of shared memory, and '%s' has %u", (unsigned)end,
                    p->cx->target->name, (unsigned)p->cx->target->shared_max);
        note_buffers(p, span);
        diag_help(p->cx->diags, "use a smaller block");
    }
}

static uint32_t end_of(const IrRing *ring)
{
    return ring->smem + ring->stages * ring->bytes;
}

static bool overlap(const IrRing *a, const IrRing *b)
{
    return a->smem < end_of(b) && b->smem < end_of(a);
}

/// True when two rings hold something at once.
static bool meet(const Plan *p, uint32_t a, uint32_t b)
{
    const IrRing *rings = p->fn->rings;
    return !rings[a].loose || !rings[b].loose ||
           (p->from[a] <= p->until[b] && p->from[b] <= p->until[a]);
}

/// Places the rings that are loose, or the others, from `at` on, each as low as those before it let
/// it. Gives where they end.
static uint32_t place_rings(Plan *p, bool loose, uint32_t at)
{
    IrRing *rings = p->fn->rings;
    uint32_t end = at;
    for (uint32_t i = 0; i < p->fn->ring_count; i++) {
        if (rings[i].loose != loose)
            continue;
        rings[i].bytes = layout_tile_bytes(rings[i].block, rings[i].fast);
        rings[i].smem = align(at, RING_ALIGNMENT);
        for (uint32_t r = 0; r < i; r++) {
            if (rings[r].loose != loose || !meet(p, r, i) || !overlap(&rings[r], &rings[i]))
                continue;
            rings[i].smem = align(end_of(&rings[r]), RING_ALIGNMENT);
            r = UINT32_MAX;  // from the beginning
        }
        end = end_of(&rings[i]) > end ? end_of(&rings[i]) : end;
    }
    return end;
}

/// Rings lie at the bottom, where addresses have all the alignment that swizzles need.
static void place_all_rings(Plan *p)
{
    IrFunc *fn = p->fn;
    fn->smem_reserved = place_rings(p, false, 0);
    for (uint32_t i = 0; i < fn->pipe_count; i++) {
        fn->pipes[i].smem = fn->smem_reserved;
        fn->smem_reserved += 2u * BARRIER_BYTES * fn->pipes[i].stages;
    }
    if (fn->teams > 1) {
        fn->turn_smem = fn->smem_reserved;
        fn->smem_reserved += 2u * BARRIER_BYTES;
    }
    fn->smem_reserved = align(fn->smem_reserved, ALIGNMENT);
    take_up_to(p, place_rings(p, true, fn->smem_reserved), fn->span);
}

static void place(Plan *p, IrOp *op, uint32_t bytes)
{
    const uint32_t to = alignment(p, op);
    uint32_t at = align(floor_of(p, op), to);
    op->smem_by_warp = is_by_warp(p, op);
    if (p->alone && bytes <= SMALL_BYTES / 2 && !op->smem_by_warp) {
        op->smem_turn = align(bytes, to);
        bytes += op->smem_turn;
    }
    for (const IrOp *other; (other = touched(p, at, bytes)) != NULL;)
        at = align((uint32_t)other->smem + other->smem_bytes, to);
    op->smem = (int32_t)at;
    op->smem_bytes = bytes;
    p->last = op;
    for (uint32_t i = 0; i < p->firsts.len; i++) {
        if (p->firsts.at[i] == NULL)
            p->firsts.at[i] = op;
    }
    take_up_to(p, at + bytes, op->span);
}

static void plan_block(Plan *p, IrBlock *b)
{
    for (IrOp *op = b->first; op != NULL; op = op->next) {
        const bool is_loop = op->code == IR_FOR || op->code == IR_WHILE, alone = p->alone;
        if (is_loop) {
            uint32_t users = 0;
            for (uint32_t r = 0; r < op->regionc; r++)
                users += count_users(p, op->regions[r]);
            p->alone = users == 1;
            VEC_PUSH(p->cx->arena, &p->firsts, NULL);
        }
        for (uint32_t r = 0; r < op->regionc; r++)
            plan_block(p, op->regions[r]);
        p->firsts.len -= is_loop;
        p->alone = alone;
        const uint32_t bytes = scratch_bytes(p, op);
        if (bytes > 0)
            place(p, op, bytes);
    }
}

bool pass_smem_plan(PassCtx *cx, IrFunc *fn)
{
    Plan p = { .cx = cx, .fn = fn, .uses = ir_count_uses(fn, cx->arena), .ok = true };
    fn->smem_bytes = 0;
    p.from = ARENA_NEW_N(cx->arena, uint32_t, fn->ring_count);
    p.until = ARENA_NEW_N(cx->arena, uint32_t, fn->ring_count);
    number_block(&p, fn->body);
    place_all_rings(&p);
    plan_block(&p, fn->body);
    if (fn->teams > 1) {
        fn->team_bytes = align(fn->smem_bytes - fn->smem_reserved, RING_ALIGNMENT);
        take_up_to(&p, fn->smem_bytes + fn->team_bytes, fn->span);
    }
    return p.ok;
}
