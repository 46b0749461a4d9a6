/// dot_wait.c - lets the matrix instructions of a warpgroup run on while other work is done.
///
/// Needs layouts and the plan of shared memory. Such a product is issued and waited for in two
/// steps, the second as late as possible in its block: in front of the first operation that reads
/// the sum, that writes what the product may still be reading, or that makes what takes the place
/// of a left factor in registers in the next iteration. Handing back a stage of a pipe that the
/// product reads moves behind the wait. Where nothing stands between, one operation stays.
#include "layout/layout.h"
#include "passes/pass.h"

/// A product that may be running.
typedef struct Flight {
    IrOp *dot;
    IrOp *release;  ///< to move behind the wait; NULL: none yet
} Flight;

typedef struct Waits {
    PassCtx *cx;
    IrFunc *fn;
    VEC(Flight) flights;  ///< oldest first
} Waits;

/// Sums that matrix instructions keep as they are held otherwise.
static bool can_fly(const IrOp *op)
{
    return op->code == IR_DOT && op->attr.dot.wgmma && !op->attr.dot.async &&
           type_elem_bytes(op->results[0]->type) == sizeof(float);
}

static bool uses_value(const IrOp *op, const IrValue *v)
{
    for (uint32_t i = 0; i < op->argc; i++)
        if (op->args[i] == v)
            return true;
    return false;
}

static bool overlaps(const IrOp *a, const IrOp *b)
{
    return a->smem_bytes > 0 && b->smem_bytes > 0 &&
           a->smem < b->smem + (int64_t)b->smem_bytes && b->smem < a->smem + (int64_t)a->smem_bytes;
}

/// Whether a stage of a ring that `dot` reads may be given to others.
static bool reads_stage(const IrOp *dot, const IrValue *slot)
{
    for (uint32_t i = 0; i < 2; i++) {
        const IrOp *tile = ir_tile_of(dot->args[i]);
        if (tile != NULL && tile->args[0] == slot)
            return true;
    }
    return false;
}

/// True for what the next iteration has in the place of the left factor, while that is in registers.
static bool makes_next_factor(const IrOp *op, const IrOp *dot)
{
    const IrValue *left = dot->args[0];
    const IrOp *loop = dot->block->parent;
    if (left->layout == NULL || left->def != NULL || left->block != dot->block || loop == NULL ||
        loop->code != IR_FOR || left->index == 0 || op->resultc != 1)
        return false;
    return dot->block->last->args[left->index - 1] == op->results[0];
}

/// Whether `op` cannot be done before the product has ended.
static bool must_wait(const IrOp *op, const IrOp *dot)
{
    if (op->regionc > 0 || op->code == IR_YIELD || op->code == IR_RETURN)
        return true;
    if (uses_value(op, dot->results[0]) || overlaps(op, dot) || makes_next_factor(op, dot))
        return true;
    switch (op->code) {
    case IR_TILE_PUT:
    case IR_ASYNC_COPY:
    case IR_ASYNC_WAIT:
    case IR_BARRIER: return true;  // stages may be filled anew from here on
    case IR_PIPE_RELEASE: return reads_stage(dot, op->args[0]);
    default: return false;
    }
}

/// Whether `op` waits for a stage of the pipe that `f` has not handed back yet: there may be no other.
static bool starves(const IrOp *op, const Flight *f)
{
    return op->code == IR_PIPE_WAIT && f->release != NULL &&
           f->release->attr.pipe.pipe == op->attr.pipe.pipe;
}

static void replace_uses(IrBlock *b, IrValue *from, IrValue *to, const IrOp *except)
{
    for (IrOp *op = b->first; op != NULL; op = op->next) {
        for (uint32_t i = 0; i < op->argc && op != except; i++)
            if (op->args[i] == from)
                op->args[i] = to;
        for (uint32_t r = 0; r < op->regionc; r++)
            replace_uses(op->regions[r], from, to, except);
    }
}

/// Has flights up to number `last` end in front of `where`; newer ones run on.
static void land(Waits *w, uint32_t last, IrOp *where)
{
    const Flight *newest = &w->flights.at[last];
    const bool at_once = newest->dot->next == where && newest->release == NULL;
    for (uint32_t i = 0; i + at_once <= last; i++) {
        Flight *f = &w->flights.at[i];
        IrOp *dot = f->dot;
        IrBuilder b = { .fn = w->fn, .block = where->block, .before = where, .span = dot->span };
        IrValue *sum = dot->results[0];
        IrValue *waited = ir_op1(&b, IR_DOT_WAIT, sum->type, 1, &sum);
        waited->layout = sum->layout;
        waited->hint = sum->hint;
        waited->def->attr.groups = (uint8_t)(w->flights.len - 1 - last);
        replace_uses(where->block, sum, waited, waited->def);
        dot->attr.dot.async = true;
        if (f->release != NULL)
            ir_move_before(f->release, where);
    }
    for (uint32_t i = last + 1; i < w->flights.len; i++)
        w->flights.at[i - last - 1] = w->flights.at[i];
    w->flights.len -= last + 1;
}

/// The newest flight that `op` must wait for, and all older ones end before it.
static void land_before(Waits *w, IrOp *op)
{
    for (uint32_t i = w->flights.len; i-- > 0;) {
        Flight *f = &w->flights.at[i];
        if (op->code == IR_PIPE_RELEASE && f->release == NULL && reads_stage(f->dot, op->args[0])) {
            f->release = op;
            return;
        }
        if (must_wait(op, f->dot) || starves(op, f)) {
            land(w, i, op);
            return;
        }
    }
}

static void run_block(Waits *w, IrBlock *b)
{
    for (IrOp *op = b->first, *next; op != NULL; op = next) {
        next = op->next;
        land_before(w, op);
        for (uint32_t r = 0; r < op->regionc; r++)
            run_block(w, op->regions[r]);
        if (can_fly(op))
            VEC_PUSH(w->cx->arena, &w->flights, ((Flight){ op, NULL }));
    }
}

bool pass_dot_wait(PassCtx *cx, IrFunc *fn)
{
    Waits w = { .cx = cx, .fn = fn };
    run_block(&w, fn->body);
    return true;
}
