// specialize_cluster.c - blocks in pairs, in which one copy fills the tiles of both.
//
// Programs 2 p and 2 p + 1 run side by side as a cluster of two blocks. A tile that both copy is
// fetched once: each block fetches half of it for both. Whether they do copy the same is seen at run
// time: the producer computes where the other program's tiles begin, too. A stage is handed back to
// both producers, so both sides must take the same steps: nothing that steers the copies may depend on
// the program. Where the number of programs is odd the last one runs in both blocks, and one of them
// stores nothing; so programs must not read what they write, nor speak to others.
#include "passes/specialize_impl.h"
#include "target/target.h"

/* ---- may they run in pairs ---- */

typedef struct Dependence {
    bool *on;      // by id: depends on which program runs
    bool changed;
    bool steers;   // something that decides over copies does
} Dependence;

static void mark(Dependence *d, const IrValue *v)
{
    d->changed |= !d->on[v->id];
    d->on[v->id] = true;
}

/// What a loop carries depends on the program when its first value or a later one does.
static void mark_carried(Dependence *d, const IrOp *loop)
{
    const IrBlock *body = loop->regions[0];
    for (uint32_t i = 0; i < loop->resultc; i++) {
        if (!d->on[loop->args[3 + i]->id] && !d->on[body->last->args[i]->id])
            continue;
        mark(d, body->args[1 + i]);
        mark(d, loop->results[i]);
    }
}

static bool is_on(const Dependence *d, const IrValue *v)
{
    return v != NULL && d->on[v->id];
}

static bool find_dependence(IrOp *op, void *cx)
{
    Dependence *d = cx;
    bool depends = op->code == IR_PROGRAM_ID;
    for (uint32_t i = 0; i < op->argc; i++)
        depends |= is_on(d, op->args[i]);
    if (op->code == IR_FOR) {
        for (unsigned i = 0; i < 3; i++)
            d->steers |= is_on(d, op->args[i]);
        mark_carried(d, op);
        return true;
    }
    d->steers |= op->code == IR_WHILE || (op->regionc > 0 && is_on(d, op->args[0]));
    for (uint32_t i = 0; i < op->resultc && (depends || op->regionc > 0); i++)
        mark(d, op->results[i]);
    return true;
}

/// Nobody sees that a program runs a second time without its stores.
static bool may_run_twice(IrOp *op, void *cx)
{
    const Special *s = cx;
    if (op->code == IR_LOAD) {
        const int root = ir_pointer_root(s->fn, op->args[0]);
        return root >= 0 && !s->written[root];
    }
    return ir_op_info[op->code].cls != OPCLASS_ATOMIC;
}

void specialize_choose_pairs(Special *s, IrFunc *producer)
{
    IrFunc *fn = s->fn;
    Dependence d = { .on = ARENA_NEW_N(s->cx->arena, bool, producer->value_count) };
    do {
        d.changed = false;
        ir_walk(producer, find_dependence, &d);
    } while (d.changed);
    if (!(s->cx->features & TARGET_CLUSTER) || d.steers || !specialize_pays_to_persist(s) ||
        !ir_walk(fn, may_run_twice, s))
        fn->num_ctas = producer->num_ctas = 1;
    s->depends = d.on;
    s->depends_count = producer->value_count;
}

/* ---- copies for both ---- */

typedef struct Other {
    const Special *s;
    const SpecialLoop *loop;
    IrBuilder b;
    IrValue **of;  // by id: what the other program has; NULL: not known yet
    uint32_t count;
} Other;

static bool depends(const Other *o, const IrValue *v)
{
    if (v == o->loop->program)
        return true;
    if (v->id < o->s->depends_count)
        return o->s->depends[v->id];
    for (uint32_t i = 0; v->def && i < v->def->argc; i++)
        if (depends(o, v->def->args[i]))
            return true;
    return false;
}

/// The value that the other block's program has in the place of `v`; NULL: it cannot be computed.
static IrValue *other_value(Other *o, IrValue *v)
{
    IrValue *args[3];
    IrOp *op = v->def;
    if (v == o->loop->program)
        return o->loop->partner;
    if (!depends(o, v))
        return v;
    if (!op || op->block != o->loop->op->regions[0] || op->argc > 3 ||
        ir_op_info[op->code].cls != OPCLASS_ELEMENTWISE)
        return NULL;
    if (v->id < o->count && o->of[v->id])
        return o->of[v->id];
    for (uint32_t i = 0; i < op->argc; i++) {
        args[i] = other_value(o, op->args[i]);
        if (!args[i])
            return NULL;
    }
    IrValue *copy = ir_op1(&o->b, (IrCode)op->code, v->type, op->argc, args);
    copy->def->attr = op->attr;
    if (v->id < o->count)
        o->of[v->id] = copy;
    return copy;
}

/// Whether both programs copy the same tile; NULL: that is not known in front of their loops.
static IrValue *is_same_tile(Other *o, const IrOp *load)
{
    IrValue *same = NULL;
    for (uint32_t i = 1; i < load->argc; i++) {
        if (!depends(o, load->args[i]))
            continue;
        IrValue *other = other_value(o, load->args[i]);
        if (!other)
            return NULL;
        IrValue *equal = ir_binary(&o->b, IR_EQ, load->args[i], other);
        same = same ? ir_binary(&o->b, IR_AND, same, equal) : equal;
    }
    return same ? same
                : ir_const_int(&o->b, type_scalar(o->b.fn->types, SCALAR_I1), 1);
}

static bool share_copy(IrOp *load, void *cx)
{
    Other *o = cx;
    IrValue *args[2 + TENSOR_MAX_RANK];
    IrOp *at = load;
    if (load->code != IR_TENSOR_LOAD || load->attr.pipe.multicast)
        return true;
    while (at->block != o->loop->op->regions[0])
        at = at->block->parent;
    o->b.block = at->block;
    o->b.before = at;
    for (uint32_t i = 0; i < o->count; i++)
        o->of[i] = NULL;  // what is computed for one copy does not dominate the next one
    IrValue *same = is_same_tile(o, load);
    if (!same)
        return true;
    for (uint32_t i = 0; i < load->argc; i++)
        args[i] = load->args[i];
    args[load->argc] = same;
    IrBuilder b = { .fn = o->b.fn, .block = load->block, .before = load, .span = load->span };
    IrOp *shared = ir_op0(&b, IR_TENSOR_LOAD, load->argc + 1, args);
    shared->attr = load->attr;
    shared->attr.pipe.multicast = true;
    ir_remove(load);
    return true;
}

void specialize_share_copies(const Special *s, IrFunc *producer, const SpecialLoop *loop)
{
    Arena scratch = { 0 };
    Other o = { .s = s, .loop = loop, .count = producer->value_count };
    o.b = (IrBuilder){ .fn = producer, .span = producer->span };
    o.of = ARENA_NEW_N(&scratch, IrValue *, o.count);
    ir_walk(producer, share_copy, &o);
    arena_free(&scratch);
}
