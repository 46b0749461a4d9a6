// axis_info.c - the analysis of axis facts: definitions in order, loops to a fixed point.
//
// A carried value starts with the facts of its initial value and loses what the body does not
// give back, until nothing is lost; after a few rounds it gives up everything, which ends the
// search. So each answer is one that the rules confirm from the final facts of the operands.
#include "passes/axis_impl.h"

#include <assert.h>
#include <string.h>

enum { AXIS_MAX_ROUNDS = 6 };

int64_t axis_unit(const Type *t)
{
    return type_is_ptr(t) ? (int64_t)type_elem_bytes(type_elem(t)->elem) : 1;
}

int64_t axis_divisor(const AxisFacts *f, const Type *t, unsigned axis, int64_t count)
{
    const AxisDim *d = &f->dim[axis];
    assert(count <= d->contiguity);
    if (count == d->contiguity)
        return d->divisibility;
    return axis_min(d->divisibility, count * axis_unit(t));
}

static unsigned dims_of(const Type *t)
{
    return type_rank(t) ? type_rank(t) : 1;
}

static void set_range(AxisFacts *f, AxisRange r)
{
    f->has_range = r.known;
    f->lo = r.lo;
    f->hi = r.hi;
}

void axis_set_unknown(AxisFacts *f, const Type *t)
{
    for (unsigned k = 0; k < dims_of(t); k++)
        f->dim[k] = (AxisDim){ 1, 1, 1, 1 };
    set_range(f, axis_type_range(t));
}

static AxisFacts *facts_of(AxisInfo *info, const IrValue *v)
{
    AxisFacts *f = &info->facts[v->id];
    if (!f->dim) {
        f->rank = (uint8_t)type_rank(v->type);
        f->dim = ARENA_NEW_N(info->arena, AxisDim, dims_of(v->type));
        axis_set_unknown(f, v->type);
    }
    return f;
}

void axis_join(AxisFacts *out, const AxisFacts *a, const AxisFacts *b, const Type *t)
{
    for (unsigned k = 0; k < dims_of(t); k++) {
        const AxisDim *x = &a->dim[k], *y = &b->dim[k];
        int64_t count = axis_min(x->contiguity, y->contiguity);
        int64_t divisor = axis_min(axis_divisor(a, t, k, count), axis_divisor(b, t, k, count));
        out->dim[k] = (AxisDim){ count, divisor, axis_min(x->constancy, y->constancy),
                                 axis_min(x->likely, y->likely) };
    }
    AxisRange r = { a->has_range && b->has_range, axis_min(a->lo, b->lo), axis_max(a->hi, b->hi) };
    set_range(out, r);
    out->from_memory = a->from_memory || b->from_memory;
}

static bool same_facts(const AxisFacts *a, const AxisFacts *b, const Type *t)
{
    return a->has_range == b->has_range && (!a->has_range || (a->lo == b->lo && a->hi == b->hi)) &&
           a->from_memory == b->from_memory &&
           memcmp(a->dim, b->dim, dims_of(t) * sizeof *a->dim) == 0;
}

static void copy_facts(AxisInfo *info, const IrValue *to, const IrValue *from)
{
    AxisFacts *f = facts_of(info, to);
    const AxisFacts *x = facts_of(info, from);
    memcpy(f->dim, x->dim, dims_of(to->type) * sizeof *f->dim);
    set_range(f, axis_range_of(x));
    f->from_memory = x->from_memory;
}

/* ---- control ---- */

static void run_block(AxisInfo *info, const IrBlock *b);

/// `bound` of a loop whose body runs. Lowering makes a step that might not be positive harmless
/// with hi = select(ok, hi, lo) and step = select(ok, step, 1): no iteration unless ok.
static const IrValue *when_entered(const IrOp *loop, const IrValue *bound)
{
    const IrOp *hi = loop->args[1]->def;
    if (hi && hi->code == IR_SELECT && hi->args[2] == loop->args[0] && bound->def &&
        bound->def->code == IR_SELECT && bound->def->args[0] == hi->args[0])
        return bound->def->args[1];
    return bound;
}

/// The counter: lo plus a multiple of step, between the bounds when the direction is known.
static void run_counter(AxisInfo *info, const IrOp *loop)
{
    const IrValue *i = loop->regions[0]->args[0];
    const AxisFacts *lo = facts_of(info, loop->args[0]);
    const AxisFacts *hi = facts_of(info, when_entered(loop, loop->args[1]));
    const AxisFacts *step = facts_of(info, loop->args[2]);
    const AxisFacts *stepped = facts_of(info, when_entered(loop, loop->args[2]));
    AxisFacts *f = facts_of(info, i);
    axis_set_unknown(f, i->type);
    f->dim[0].divisibility = axis_min(lo->dim[0].divisibility, stepped->dim[0].divisibility);
    f->from_memory = lo->from_memory || hi->from_memory || step->from_memory;
    if (!lo->has_range || !hi->has_range || !step->has_range)
        return;
    if (step->lo > 0 && hi->hi > lo->lo)
        set_range(f, (AxisRange){ true, lo->lo, hi->hi - 1 });
    else if (step->hi < 0 && hi->lo < lo->hi)
        set_range(f, (AxisRange){ true, hi->lo + 1, lo->hi });
}

/// Loses from `carried` what `yielded` lacks; all of it when `give_up`. True when it changed.
static bool weaken(AxisInfo *info, const IrValue *carried, const IrValue *yielded, bool give_up)
{
    AxisFacts *f = facts_of(info, carried);
    AxisDim before_dims[TYPE_MAX_RANK];
    AxisFacts before = *f;
    before.dim = before_dims;
    memcpy(before_dims, f->dim, dims_of(carried->type) * sizeof *f->dim);
    axis_join(f, f, facts_of(info, yielded), carried->type);
    if (same_facts(f, &before, carried->type))
        return false;
    // A range that grew once would grow step by step: give it up at once.
    set_range(f, axis_type_range(carried->type));
    if (give_up)
        axis_set_unknown(f, carried->type);
    return true;
}

static void run_loop(AxisInfo *info, const IrOp *op)
{
    bool is_for = op->code == IR_FOR;
    uint32_t skip = is_for ? 1 : 0, first = is_for ? 3 : 0;
    const IrBlock *body = op->regions[op->regionc - 1u];
    for (uint32_t i = 0; i < op->resultc; i++)
        copy_facts(info, body->args[skip + i], op->args[first + i]);
    bool changed = true;
    for (int round = 0; changed; round++) {
        changed = false;
        if (is_for)
            run_counter(info, op);
        for (uint32_t i = 0; !is_for && i < op->resultc; i++)
            copy_facts(info, op->regions[0]->args[i], body->args[i]);
        for (uint32_t r = 0; r < op->regionc; r++)
            run_block(info, op->regions[r]);
        for (uint32_t i = 0; i < op->resultc; i++)
            changed |=
                weaken(info, body->args[skip + i], body->last->args[i], round >= AXIS_MAX_ROUNDS);
    }
    for (uint32_t i = 0; i < op->resultc; i++)
        copy_facts(info, op->results[i], body->args[skip + i]);
}

static void run_if(AxisInfo *info, const IrOp *op)
{
    run_block(info, op->regions[0]);
    run_block(info, op->regions[1]);
    for (uint32_t i = 0; i < op->resultc; i++) {
        AxisFacts *f = facts_of(info, op->results[i]);
        axis_join(f, facts_of(info, op->regions[0]->last->args[i]),
                  facts_of(info, op->regions[1]->last->args[i]), op->results[i]->type);
        f->from_memory |= facts_of(info, op->args[0])->from_memory;
    }
}

static void run_block(AxisInfo *info, const IrBlock *b)
{
    for (const IrOp *op = b->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->resultc; i++)
            facts_of(info, op->results[i]);
        if (op->code == IR_FOR || op->code == IR_WHILE)
            run_loop(info, op);
        else if (op->code == IR_IF)
            run_if(info, op);
        else if (op->resultc == 1)
            axis_apply_rule(info, op);
    }
}

static void set_param(AxisInfo *info, const IrValue *v, const IrParam *p)
{
    AxisFacts *f = facts_of(info, v);
    if (type_is_ptr(v->type) || type_is_int(v->type))
        f->dim[0].divisibility = axis_pow2_divisor(p->divisor);
    if (p->has_range && type_is_int(v->type)) {
        AxisRange type = axis_type_range(v->type), given = { true, p->lo, p->hi };
        if (axis_within(given, type) || (!type.known && p->lo >= 0))
            set_range(f, given);
    }
}

AxisInfo *axis_info_compute(const IrFunc *fn, Arena *a)
{
    AxisInfo *info = ARENA_NEW(a, AxisInfo);
    *info = (AxisInfo){ .fn = fn, .arena = a };
    info->count = fn->value_count;
    info->facts = ARENA_NEW_N(a, AxisFacts, info->count);
    for (uint32_t i = 0; i < fn->body->argc; i++)
        set_param(info, fn->body->args[i], &fn->params[i]);
    run_block(info, fn->body);
    return info;
}

const AxisFacts *axis_info_of(const AxisInfo *info, const IrValue *v)
{
    assert(v->id < info->count && info->facts[v->id].dim);
    return &info->facts[v->id];
}

int64_t axis_info_divisor(const AxisInfo *info, const IrValue *v, unsigned axis, int64_t count)
{
    return axis_divisor(axis_info_of(info, v), v->type, axis, count);
}

int64_t axis_info_piece(const AxisInfo *info, const IrValue *pointer, const IrValue *mask,
                        unsigned axis, int64_t most)
{
    const int64_t bytes = axis_unit(pointer->type);
    int64_t run = axis_min(axis_info_contiguity(info, pointer, axis), most / bytes);
    if (mask != NULL)
        run = axis_min(run, axis_info_of(info, mask)->dim[axis].constancy);
    while (run > 1 && axis_info_divisor(info, pointer, axis, run) % (run * bytes) != 0)
        run /= 2;
    return run;
}

bool axis_info_constant(const AxisInfo *info, const IrValue *v, int64_t *out)
{
    return axis_is_constant(axis_info_of(info, v), out);
}

/* ---- steps ---- */

enum { STEP_DEPTH = 16 };

static bool step_of(const IrValue *v, unsigned axis, unsigned depth, uint64_t *step);

/// `product` of a value and a constant.
static bool step_of_product(const IrOp *product, unsigned axis, unsigned depth, uint64_t *step)
{
    for (unsigned i = 0; i < 2; i++) {
        const IrValue *factor = product->args[i];
        if (!ir_is_const(factor) || !step_of(product->args[1 - i], axis, depth, step))
            continue;
        *step *= (uint64_t)factor->def->attr.konst.i;
        return true;
    }
    return false;
}

static bool step_of_op(const IrOp *op, unsigned axis, unsigned depth, uint64_t *step)
{
    uint64_t other = 0;
    const unsigned added = (unsigned)op->attr.axis;
    switch (op->code) {
    case IR_ARANGE: *step = 1; return true;
    case IR_CONST:
    case IR_SPLAT: *step = 0; return true;
    case IR_EXPAND_DIMS:
        *step = 0;
        return axis == added || step_of(op->args[0], axis - (axis > added), depth, step);
    case IR_BROADCAST:
        *step = 0;
        return op->args[0]->type->shape[axis] == 1 || step_of(op->args[0], axis, depth, step);
    case IR_CONVERT: return step_of(op->args[0], axis, depth, step);
    case IR_CAST:
        return type_is_int(type_elem(op->args[0]->type)) &&
               type_is_int(type_elem(op->results[0]->type)) &&
               step_of(op->args[0], axis, depth, step);
    case IR_MUL: return step_of_product(op, axis, depth, step);
    case IR_ADD:
    case IR_SUB:
    case IR_PTR_ADD:
        if (!step_of(op->args[0], axis, depth, step) || !step_of(op->args[1], axis, depth, &other))
            return false;
        *step = op->code == IR_SUB ? *step - other : *step + other;
        return true;
    default: return false;
    }
}

static bool step_of(const IrValue *v, unsigned axis, unsigned depth, uint64_t *step)
{
    return v->def && depth < STEP_DEPTH && step_of_op(v->def, axis, depth + 1, step);
}

bool axis_info_step(const IrValue *v, unsigned axis, int64_t *step)
{
    uint64_t found = 0;
    const bool is_known = type_is_block(v->type) && step_of(v, axis, 0, &found);
    *step = (int64_t)found;
    return is_known;
}
