/// barriers.c - inserts BARRIER where threads could overtake each other: the only place that does.
///
/// Contract with the emitters. An operation that smem_plan gave scratch (smem_bytes > 0) first
/// writes it, then synchronises all threads, then reads it (in pieces: again and again); that
/// barrier is inside the operation and none follows the last read. With smem_turn, each execution
/// uses the other half. With smem_by_warp each warp has its own part of the scratch, and the
/// operation synchronises warps alone, also with what they did before in the same parts. An atomic
/// or a load with scratch touches global memory before that barrier.
/// A scalar store or atomic is done by thread 0, a block's elements by their owners; loads are done
/// by every thread that holds the element, replicas included, but those with scratch by owners.
/// A DOT or CONVERT that takes a TILE reads its ring. ASYNC_WAIT is a barrier as well. An
/// ASYNC_COPY reads global memory when it is issued and is done when somebody waits for it: whoever
/// made it lets no store come between. Everything else is ordered here:
///
///     shared    scratch is written only when nobody can still be reading or filling what overlaps
///               it; a ring that is not `ordered` likewise. What fills a ring, its makers order
///               against those who read it and fill it again: the last tiles may have no reader
///     global    accesses of one program through one pointer parameter take effect in program
///               order; pairs of one thread are in order anyway, disjoint ones need none
///
/// The walk carries the accesses since the last barrier on any path. At a loop's end they come back
/// as accesses of an earlier iteration. A barrier that a loop's body needs against what stands
/// before the loop is placed in front of the loop. Conditions are scalars, so every barrier is met
/// by all.
#include "layout/layout.h"
#include "passes/alias.h"
#include "passes/pass.h"

typedef enum {
    ACCESS_GLOBAL,
    ACCESS_SCRATCH,  ///< the reading of op's scratch
    ACCESS_TILE,     ///< the reading of a ring
    ACCESS_FILL      ///< the writing of a ring
} AccessKind;

/// Something done since the last barrier.
typedef struct Access {
    AccessKind kind;
    const IrOp *op;
    const IrOp *loop;  ///< not NULL: in an earlier iteration of it
    int root;          ///< GLOBAL: ir_pointer_root
    uint16_t ring;     ///< TILE, FILL
} Access;

typedef VEC(Access) AccessVec;

typedef struct Barriers {
    Arena *arena;
    IrFunc *fn;
    const AxisInfo *axes;
    const uint32_t *uses;  ///< by value id
    bool *written;         ///< by parameter: something may be stored through it
    AccessVec *back;       ///< by IrOp.mark of a loop: what its end sends to its beginning
} Barriers;

/* ---- what an operation does ---- */

static bool is_atomic(const IrOp *op)
{
    return ir_op_info[op->code].cls == OPCLASS_ATOMIC;
}

static bool touches_global(const IrOp *op)
{
    return ir_op_info[op->code].cls == OPCLASS_MEMORY || is_atomic(op);
}

static bool releases(const IrOp *op)
{
    return is_atomic(op) &&
           (op->attr.atomic.order == ORDER_RELEASE || op->attr.atomic.order == ORDER_ACQ_REL);
}

/// Nobody can act on an acquire whose result nobody looks at.
static bool acquires(const Barriers *b, const IrOp *op)
{
    return is_atomic(op) && b->uses[op->results[0]->id] > 0 &&
           (op->attr.atomic.order == ORDER_ACQUIRE || op->attr.atomic.order == ORDER_ACQ_REL);
}

static bool is_load(const IrOp *op)
{
    return op->code == IR_LOAD || op->code == IR_ASYNC_COPY;
}

/// Bytes of shared memory, from `begin` on and below `end`.
typedef struct Bytes {
    int64_t begin, end;
} Bytes;

static Bytes scratch_of(const IrOp *op)
{
    return (Bytes){ op->smem, op->smem + (int64_t)op->smem_bytes };
}

static Bytes bytes_of_ring(const Barriers *b, uint16_t index)
{
    const IrRing *ring = &b->fn->rings[index];
    return (Bytes){ ring->smem, ring->smem + (int64_t)ring->stages * ring->bytes };
}

static bool fills(const IrOp *op)
{
    return op->code == IR_TILE_PUT || op->code == IR_ASYNC_COPY;
}

/// What an operation writes while others may be reading; nothing: empty.
static Bytes writes(const Barriers *b, const IrOp *op)
{
    if (fills(op) && !op->attr.copy.ordered)
        return bytes_of_ring(b, op->attr.copy.ring);
    return scratch_of(op);
}

/// Pending reads of an operation's scratch are of its last execution, so turns keep it clear of
/// itself.
static bool conflicts_in_shared(const Barriers *b, const Access *before, const IrOp *now)
{
    if (before->op == now && now->smem_turn > 0 && before->kind == ACCESS_SCRATCH)
        return false;
    // Each warp is in order with itself.
    if (before->kind == ACCESS_SCRATCH && before->op->smem_by_warp && now->smem_by_warp &&
        before->op->smem == now->smem && before->op->smem_bytes == now->smem_bytes)
        return false;
    if (before->kind == ACCESS_FILL && fills(now) && now->attr.copy.ring == before->ring)
        return false;
    const Bytes written = writes(b, now);
    const Bytes there =
        before->kind == ACCESS_SCRATCH ? scratch_of(before->op) : bytes_of_ring(b, before->ring);
    return there.begin < written.end && written.begin < there.end;
}

static bool has_barrier(const IrOp *op)
{
    return op->smem_bytes > 0 && !op->smem_by_warp;
}

/* ---- global order ---- */

/// Two atomics whose order nobody can tell: they combine in the same way and nobody reads between.
static bool commute(const IrOp *a, const IrOp *b)
{
    return a->code == IR_ATOMIC_RMW && b->code == IR_ATOMIC_RMW &&
           a->attr.atomic.kind == b->attr.atomic.kind && a->attr.atomic.kind != ATOMIC_XCHG &&
           a->smem_bytes == 0 && b->smem_bytes == 0;
}

static bool loads_copies(const IrOp *op)
{
    return is_load(op) && op->smem_bytes == 0;
}

/// For accesses with the same addresses element by element: whether one thread does both.
static bool same_thread(const IrOp *a, const IrOp *b)
{
    const Layout *x = a->args[0]->layout, *y = b->args[0]->layout;
    const bool loads = loads_copies(a) || loads_copies(b);
    if (x == NULL || y == NULL)
        return x == y && !loads;  // scalars are loaded by all threads, stored by one
    if (loads && (layout_replicated_threads(x) != 0 || layout_replicated_threads(y) != 0))
        return false;
    return layout_same_owners(x, y);
}

static bool reads_constant(const Barriers *b, const Access *access)
{
    return is_load(access->op) && access->root >= 0 && !b->written[access->root];
}

/// An output may be exactly an input's buffer, element for element: what replicas load through one
/// parameter, owners may overwrite through another.
static bool overtakes_replicas(const Access *before, const Access *now)
{
    const IrOp *x = before->op, *y = now->op;
    const Layout *l = x->args[0]->layout;
    if (before->loop != NULL || is_load(y) || !is_load(x) || !loads_copies(x) ||
        x->args[0]->type->numel != y->args[0]->type->numel)
        return false;
    return l != NULL && layout_replicated_threads(l) != 0;
}

static bool conflicts_in_global(const Barriers *b, const Access *before, const Access *now)
{
    const IrOp *x = before->op, *y = now->op;
    if (before->root != now->root && overtakes_replicas(before, now))
        return true;
    if ((is_load(x) && is_load(y)) || reads_constant(b, before) || reads_constant(b, now) ||
        commute(x, y))
        return false;
    // Other programs may look at anything after a scalar release (a lock), or at stores after one
    // of a block's elements; likewise what stands behind an acquire.
    if (releases(y) && (y->args[0]->layout == NULL || !is_load(x)))
        return true;
    if (acquires(b, x))
        return true;
    if (before->root >= 0 && now->root >= 0 && before->root != now->root)
        return false;
    const AliasAnswer answer = alias_compare(b->axes, x->args[0], y->args[0], before->loop);
    return answer == ALIAS_UNKNOWN || (answer == ALIAS_SAME && !same_thread(x, y));
}

static bool conflicts(const Barriers *b, const AccessVec *pending, const Access *now)
{
    for (uint32_t i = 0; i < pending->len; i++) {
        const Access *before = &pending->at[i];
        if (before->kind != ACCESS_GLOBAL
                ? conflicts_in_shared(b, before, now->op)
                : touches_global(now->op) && conflicts_in_global(b, before, now))
            return true;
    }
    return false;
}

/* ---- the walk ---- */

static void add(const Barriers *b, AccessVec *pending, Access access)
{
    for (uint32_t i = 0; i < pending->len; i++) {
        const Access *p = &pending->at[i];
        if (p->op == access.op && p->loop == access.loop && p->kind == access.kind &&
            p->ring == access.ring)
            return;
    }
    VEC_PUSH(b->arena, pending, access);
}

static void add_all(const Barriers *b, AccessVec *pending, const AccessVec *more, const IrOp *loop)
{
    for (uint32_t i = 0; i < more->len; i++) {
        Access access = more->at[i];
        if (loop != NULL)
            access.loop = loop;
        add(b, pending, access);
    }
}

static AccessVec copy_of(const Barriers *b, const AccessVec *from)
{
    AccessVec copy = { 0 };
    add_all(b, &copy, from, NULL);
    return copy;
}

static void insert_barrier(const Barriers *b, IrOp *before, AccessVec *pending)
{
    IrBuilder builder = {
        .fn = b->fn, .block = before->block, .before = before, .span = before->span
    };
    ir_op0(&builder, IR_BARRIER, 0, NULL);
    pending->len = 0;
}

static Access access_of(const Barriers *b, const IrOp *op)
{
    return (Access){ .op = op,
                     .root = touches_global(op) ? ir_pointer_root(b->fn, op->args[0]) : -1 };
}

static bool is_barrier(const IrOp *op)
{
    return op->code == IR_BARRIER || op->code == IR_ASYNC_WAIT;
}

/// Whether an operation in `block` conflicts with `pending` before any barrier orders them. On
/// return `pending` holds what no path through the block has ordered.
static bool meets(const Barriers *b, const IrBlock *block, AccessVec *pending)
{
    for (const IrOp *op = block->first; op != NULL && pending->len > 0; op = op->next) {
        if (is_barrier(op)) {
            pending->len = 0;
            continue;
        }
        if (op->regionc > 0) {
            AccessVec left = { 0 };
            for (uint32_t r = 0; r < op->regionc; r++) {
                AccessVec in = copy_of(b, pending);
                if (meets(b, op->regions[r], &in))
                    return true;
                add_all(b, &left, op->code == IR_IF ? &in : pending, NULL);
            }
            *pending = left;
            continue;
        }
        const Access now = access_of(b, op);
        if (conflicts(b, pending, &now))
            return true;
        if (has_barrier(op))
            pending->len = 0;
    }
    return false;
}

static void walk(const Barriers *b, IrBlock *block, AccessVec *pending);

/// Between programs that a block runs one after another only shared memory needs order.
static void forget_other_programs(const Barriers *b, const IrOp *loop, AccessVec *back)
{
    if (!b->fn->is_persistent || loop->block != b->fn->body)
        return;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < back->len; i++)
        if (back->at[i].kind != ACCESS_GLOBAL)
            back->at[kept++] = back->at[i];
    back->len = kept;
}

static void walk_loop(const Barriers *b, IrOp *loop, AccessVec *pending)
{
    AccessVec *back = &b->back[loop->mark], out;
    uint32_t known;
    for (uint32_t r = 0; r < loop->regionc; r++) {
        AccessVec probe = copy_of(b, pending);
        if (meets(b, loop->regions[r], &probe)) {
            insert_barrier(b, loop, pending);
            break;
        }
    }
    // Until the end of the body sends nothing new back to its beginning. A loop around this one comes
    // again: what was sent back then still is, or each depth of loops would double the walks.
    do {
        known = back->len;
        AccessVec now = copy_of(b, pending);
        add_all(b, &now, back, NULL);
        out = copy_of(b, &now);
        for (uint32_t r = 0; r < loop->regionc; r++) {
            walk(b, loop->regions[r], &now);
            if (loop->code == IR_WHILE && r == 0)
                out = copy_of(b, &now);
        }
        add_all(b, back, &now, loop);
        forget_other_programs(b, loop, back);
        if (loop->code == IR_FOR)
            add_all(b, &out, &now, NULL);
    } while (back->len > known);
    *pending = out;
}

static void walk_if(const Barriers *b, IrOp *op, AccessVec *pending)
{
    AccessVec out = { 0 };
    for (uint32_t r = 0; r < op->regionc; r++) {
        AccessVec arm = copy_of(b, pending);
        walk(b, op->regions[r], &arm);
        add_all(b, &out, &arm, NULL);
    }
    *pending = out;
}

static void add_tile_reads(const Barriers *b, const IrOp *op, AccessVec *pending)
{
    const uint32_t count = op->code == IR_DOT ? 2 : op->code == IR_CONVERT ? 1 : 0;
    for (uint32_t i = 0; i < count; i++) {
        const IrOp *tile = ir_tile_of(op->args[i]);
        if (tile != NULL)
            add(b, pending,
                (Access){ .kind = ACCESS_TILE, .op = op, .root = -1, .ring = tile->attr.ring });
    }
}

/// An asynchronous product reads until it has been waited for.
static void add_product_reads(const Barriers *b, const IrOp *dot, AccessVec *pending)
{
    add_tile_reads(b, dot, pending);
    if (dot->smem_bytes > 0)
        add(b, pending, (Access){ .kind = ACCESS_SCRATCH, .op = dot, .root = -1 });
}

static void walk_op(const Barriers *b, IrOp *op, AccessVec *pending)
{
    Access now = access_of(b, op);
    if (conflicts(b, pending, &now))
        insert_barrier(b, op, pending);
    if (op->smem_bytes > 0) {
        now.kind = ACCESS_SCRATCH;
        if (has_barrier(op))
            pending->len = 0;
    }
    if (op->smem_bytes > 0 || touches_global(op))
        add(b, pending, now);
    if (fills(op))
        add(b, pending,
            (Access){ .kind = ACCESS_FILL, .op = op, .root = -1, .ring = op->attr.copy.ring });
    if (op->code == IR_DOT_WAIT)
        add_product_reads(b, op->args[0]->def, pending);
    else
        add_tile_reads(b, op, pending);
}

static void walk(const Barriers *b, IrBlock *block, AccessVec *pending)
{
    for (IrOp *op = block->first; op != NULL; op = op->next) {
        if (is_barrier(op)) {
            pending->len = 0;
        } else if (op->code == IR_IF) {
            walk_if(b, op, pending);
        } else if (op->regionc > 0) {
            walk_loop(b, op, pending);
        } else {
            walk_op(b, op, pending);
        }
    }
}

static bool note_written(IrOp *op, void *cx)
{
    const Barriers *b = cx;
    if (!touches_global(op) || is_load(op))
        return true;
    const int root = ir_pointer_root(b->fn, op->args[0]);
    for (uint32_t i = 0; i < b->fn->body->argc; i++)
        b->written[i] = b->written[i] || root == (int)i || (root < 0 && !b->fn->params[i].is_const);
    return true;
}

static bool number_loop(IrOp *op, void *cx)
{
    uint32_t *count = cx;
    if (op->regionc > 0)
        op->mark = (*count)++;
    return true;
}

bool pass_barriers(PassCtx *cx, IrFunc *fn)
{
    uint32_t loops = 0;
    ir_walk(fn, number_loop, &loops);
    Barriers b = { .arena = cx->arena,
                   .fn = fn,
                   .axes = axis_info_compute(fn, cx->arena),
                   .uses = ir_count_uses(fn, cx->arena),
                   .written = ARENA_NEW_N(cx->arena, bool, fn->body->argc),
                   .back = ARENA_NEW_N(cx->arena, AccessVec, loops) };
    AccessVec pending = { 0 };
    ir_walk(fn, note_written, &b);
    walk(&b, fn->body, &pending);
    return true;
}
