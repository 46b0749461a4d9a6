// specialize_producer.c - the producer's function: a clone in which copies stand for loads and
// everything that is no scalar has gone.
#include "passes/specialize_impl.h"
#include "passes/tensor_value.h"

/// The coordinates of the tile's first element, the dimension of neighbours first.
static void coordinates(IrBuilder *b, const Feed *f, IrValue **map, IrValue **out)
{
    unsigned n = 0;
    out[n++] = tensor_value(b, &f->access->dims[f->line].start, map);
    for (unsigned k = 0; k < f->access->rank; k++)
        if (k != f->line)
            out[n++] = tensor_value(b, &f->access->dims[k].start, map);
}

/// Puts a copy in front of the clone of the feed's load.
static void put_copy(IrFunc *p, const Feed *f, IrValue **map, IrValue *slot)
{
    IrOp *load = map[f->load->results[0]->id]->def;
    IrBuilder b = { .fn = p, .block = load->block, .before = load, .span = load->span };
    IrValue *args[1 + TENSOR_MAX_RANK];
    args[0] = slot;
    coordinates(&b, f, map, args + 1);
    IrOp *copy = ir_op0(&b, IR_TENSOR_LOAD, 1 + f->access->rank, args);
    copy->attr.pipe.pipe = f->pipe;
    copy->attr.pipe.ring = f->ring;
    copy->attr.pipe.map = f->map;
    copy->attr.pipe.evict_first = f->load->attr.mem.evict == EVICT_FIRST;
}

static bool is_before(const IrOp *a, const IrOp *b)
{
    for (const IrOp *op = a->next; op; op = op->next)
        if (op == b)
            return true;
    return false;
}

/// Puts the copies, and a wait for a free stage in front of the first load of each group.
static void put_copies(IrFunc *p, Arena *scratch, const FeedVec *feeds, IrValue **map)
{
    // by group, of which there are at most as many as feeds
    const Feed **first = ARENA_NEW_N(scratch, const Feed *, feeds->len);
    IrValue **slots = ARENA_NEW_N(scratch, IrValue *, feeds->len);
    for (uint32_t i = 0; i < feeds->len; i++) {
        const Feed *f = &feeds->at[i], **at = &first[f->group];
        *at = *at == NULL || is_before(f->load, (*at)->load) ? f : *at;
    }
    for (uint32_t g = 0; g < feeds->len; g++) {
        if (first[g] == NULL)
            continue;
        IrOp *load = map[first[g]->load->results[0]->id]->def;
        IrBuilder b = { .fn = p, .block = load->block, .before = load, .span = load->span };
        slots[g] = ir_op1(&b, IR_PIPE_ACQUIRE, type_scalar(p->types, SCALAR_I32), 0, NULL);
        slots[g]->def->attr.pipe.pipe = first[g]->pipe;
    }
    for (uint32_t i = 0; i < feeds->len; i++)
        put_copy(p, &feeds->at[i], map, slots[feeds->at[i].group]);
}

/* ---- what is left ---- */

static bool is_copying(const IrOp *op)
{
    return ir_op_info[op->code].attr == ATTR_PIPE;
}

/// Effects are the other side's.
static bool drop_effect(IrOp *op, void *cx)
{
    (void)cx;
    if (ir_has_effects(op) && op->resultc == 0 && op->regionc == 0 && !is_copying(op))
        ir_remove(op);
    return true;
}

static bool drop_unused_atomic(IrOp *op, void *cx)
{
    const uint32_t *uses = cx;
    if (ir_op_info[op->code].cls == OPCLASS_ATOMIC && uses[op->results[0]->id] == 0)
        ir_remove(op);
    return true;
}

typedef struct Check {
    const IrFunc *fn;
    const bool *written;
    const char *reason;
} Check;

static bool has_block(IrValue *const *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (type_is_block(values[i]->type))
            return true;
    return false;
}

static bool check_op(IrOp *op, void *cx)
{
    Check *c = cx;
    if (ir_has_effects(op) && !is_copying(op)) {
        c->reason = "what is loaded depends on an atomic operation";
    } else if (has_block(op->results, op->resultc)) {
        c->reason = "what is loaded depends on blocks that the kernel computes";
    } else if (op->code == IR_LOAD) {
        const int root = ir_pointer_root(c->fn, op->args[0]);
        if (root < 0 || c->written[root] || op->attr.mem.is_volatile)
            c->reason = "what is loaded depends on memory that the kernel writes";
    }
    return c->reason == NULL;
}

static IrFunc *clone_function(const IrFunc *fn, IrValue **map)
{
    IrFunc *p = ARENA_NEW(fn->arena, IrFunc);
    *p = *fn;
    p->name = sym_of(fn->syms, arena_printf(fn->arena, "%s_producer", fn->name->text));
    p->body = ARENA_NEW(fn->arena, IrBlock);
    p->params = NULL;
    for (uint32_t i = 0; i < fn->body->argc; i++) {
        map[fn->body->args[i]->id] = ir_func_param(p, fn->params[i].name, fn->body->args[i]->type);
        map[fn->body->args[i]->id]->hint = fn->body->args[i]->hint;
        p->params[i] = fn->params[i];
    }
    IrBuilder b = { .fn = p, .block = p->body };
    for (const IrOp *op = fn->body->first; op; op = op->next)
        ir_clone(&b, op, map);
    return p;
}

IrFunc *specialize_producer(PassCtx *cx, const IrFunc *fn, const FeedVec *feeds,
                            const bool *written, const char **reason)
{
    Arena scratch = { 0 };
    IrValue **map = ARENA_NEW_N(&scratch, IrValue *, fn->value_count);
    IrFunc *p = clone_function(fn, map);
    put_copies(p, &scratch, feeds, map);
    ir_walk(p, drop_effect, NULL);
    pass_dce(cx, p);
    ir_walk(p, drop_unused_atomic, ir_count_uses(p, &scratch));
    pass_dce(cx, p);
    Check check = { p, written, NULL };
    ir_walk(p, check_op, &check);
    arena_free(&scratch);
    *reason = check.reason;
    return check.reason == NULL && pass_cse(cx, p) && pass_licm(cx, p) ? p : NULL;
}
