/// pipeline_slice.c - what of a loop's body can be computed before its iteration comes.
///
/// Addresses that depend on a dot, on a reduction or on memory that the loop writes cannot. What
/// can is found from above: everything is taken to advance until an operation or an operand shows
/// that it does not.
#include "passes/alias.h"
#include "passes/pipeline_impl.h"

/// The search for something in a loop that a load must not overtake.
typedef struct Overtake {
    const Pipe *pipe;
    const IrOp *loop, *load;
    int root;
    bool met;
} Overtake;

static bool orders_memory(const IrOp *op)
{
    const IrMem *mem = &op->attr.mem;
    switch (op->code) {
    case IR_LOAD: return mem->is_volatile || mem->cache == CACHE_CV;
    case IR_STORE: return mem->is_volatile;
    case IR_ATOMIC_RMW:
    case IR_ATOMIC_CAS:
        return op->attr.atomic.order == ORDER_ACQUIRE || op->attr.atomic.order == ORDER_ACQ_REL;
    default: return ir_has_effects(op);
    }
}

/// True when what `write` writes may be what the load reads.
static bool may_meet(const Overtake *o, const IrOp *write)
{
    const int root = ir_pointer_root(o->pipe->fn, write->args[0]);
    const IrValue *from = write->args[0], *to = o->load->args[0];
    if (root >= 0 && o->root >= 0 && root != o->root)
        return false;
    return alias_compare(o->pipe->axes, from, to, o->loop) != ALIAS_DISJOINT ||
           alias_compare(o->pipe->axes, from, to, NULL) != ALIAS_DISJOINT;
}

static bool look_at(IrOp *op, void *cx)
{
    Overtake *o = cx;
    o->met = orders_memory(op) || (ir_has_effects(op) && may_meet(o, op));
    return !o->met;
}

bool pipeline_may_overtake(const Pipe *p, const IrOp *loop, const IrOp *load)
{
    Overtake o = { .pipe = p, .loop = loop, .load = load };
    if (orders_memory(load))
        return false;
    o.root = ir_pointer_root(p->fn, load->args[0]);
    for (uint32_t r = 0; r < loop->regionc && !o.met; r++)
        ir_walk_block(loop->regions[r], look_at, &o);
    return !o.met;
}

/// An operation that may be done again for another iteration. Exchanges between threads are too
/// dear.
static bool repeats(const Pipe *p, const Loop *loop, const IrOp *op)
{
    if (op->code == IR_LOAD)
        return pipeline_may_overtake(p, loop->op, op);
    switch (ir_op_info[op->code].cls) {
    case OPCLASS_CONST:
    case OPCLASS_CREATE:
    case OPCLASS_ELEMENTWISE:
    case OPCLASS_SHAPE: return true;
    case OPCLASS_MEMORY:
    case OPCLASS_ATOMIC:
    case OPCLASS_REDUCE:
    case OPCLASS_SCAN:
    case OPCLASS_DOT:
    case OPCLASS_CONTROL:
    case OPCLASS_LAYOUT:
    case OPCLASS_TILE:
    case OPCLASS_DEBUG: break;
    }
    return false;
}

/// Lets `v` advance no longer; true when it did.
static bool stop(Loop *loop, const IrValue *v)
{
    const bool did = loop->advances[v->id];
    loop->advances[v->id] = false;
    return did;
}

static bool operands_advance(const Loop *loop, const IrOp *op)
{
    for (uint32_t i = 0; i < op->argc; i++)
        if (op->args[i] != NULL && !loop->advances[op->args[i]->id])
            return false;
    return true;
}

static bool stop_results(Loop *loop, const IrOp *op)
{
    bool changed = false;
    for (uint32_t i = 0; i < op->resultc; i++)
        changed |= stop(loop, op->results[i]);
    return changed;
}

void pipeline_find_advancing(const Pipe *p, Loop *loop)
{
    const IrBlock *body = loop->body;
    loop->advances = ARENA_NEW_N(p->cx->arena, bool, p->value_count);
    for (uint32_t id = 0; id < p->value_count; id++)
        loop->advances[id] = true;
    for (const IrOp *op = body->first; op != NULL; op = op->next)
        if (!repeats(p, loop, op))
            stop_results(loop, op);
    for (bool changed = true; changed;) {
        changed = false;
        for (const IrOp *op = body->first; op != NULL; op = op->next)
            if (!operands_advance(loop, op))
                changed |= stop_results(loop, op);
        for (uint32_t i = 0; i < loop->op->resultc; i++)
            if (!loop->advances[body->last->args[i]->id])
                changed |= stop(loop, body->args[i + 1]);
    }
}
