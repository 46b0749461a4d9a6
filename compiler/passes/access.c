/// access.c - fills in how LOAD and STORE move their elements, given the layout.
///
/// Needs layouts. IrMem.vec: slots g * vec ... g * vec + vec - 1 of a thread are neighbours along
/// one axis, at most 16 bytes together; what was proved of every such group: that the addresses
/// follow each other (contiguous), that the first is a multiple of the access's size (aligned),
/// that one mask value holds for all (mask_uniform). What is not proved the emitted code checks at
/// run time, so groups are kept wide unless the addresses are known to be scattered or apart;
/// aligned_alike and mask_falls make those checks short. What
/// one slot's mask or pointer says of others (IrValue.slot_run) is proved as well: `cols < width`
/// with a width of fours is one comparison in four slots, and the pointers of a row are one
/// address.
#include "layout/layout.h"
#include "passes/axis_info.h"
#include "passes/pass.h"

enum { MAX_ACCESS_BYTES = 16, MAX_DEPTH = 16 };

/// How many of the lowest slot bits step along one axis, from its first coordinate bit up.
static unsigned slot_run(const Layout *l, const Type *block, unsigned *axis)
{
    for (*axis = 0; *axis < block->rank && l->reg_bits > 0; ++*axis) {
        unsigned low, run = 0;
        const unsigned bits = layout_axis_bits(block, *axis, &low);
        while (run < bits && run < l->reg_bits && l->basis[run] == UINT32_C(1) << (low + run))
            run++;
        if (run > 0)
            return run;
    }
    *axis = 0;
    return 0;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/// True when along every axis all elements are equal or, if `or_runs`, each is the one before
/// plus 1.
static bool spans(const AxisInfo *axes, const IrValue *v, bool or_runs)
{
    const AxisFacts *f = axis_info_of(axes, v);
    for (unsigned k = 0; k < f->rank; k++) {
        const int64_t extent = v->type->shape[k];
        if (f->dim[k].constancy < extent && !(or_runs && f->dim[k].contiguity >= extent))
            return false;
    }
    return true;
}

/// A power of two, at most MAX_ACCESS_BYTES, modulo which the first elements (pointers: addresses)
/// of all aligned groups of `vec` along `axis` are equal.
static int64_t modulus(const AxisInfo *axes, const IrValue *v, unsigned axis, int64_t vec,
                       int depth)
{
    const IrOp *op = v->def;
    if (spans(axes, v, false))
        return MAX_ACCESS_BYTES;
    if (op && depth < MAX_DEPTH && (op->code == IR_ADD || op->code == IR_SUB))
        return least(modulus(axes, op->args[0], axis, vec, depth + 1),
                     modulus(axes, op->args[1], axis, vec, depth + 1));
    if (op && depth < MAX_DEPTH && op->code == IR_PTR_ADD) {
        const int64_t bytes = type_elem_bytes(type_elem(v->type)->elem);
        return least(modulus(axes, op->args[0], axis, vec, depth + 1),
                     bytes * modulus(axes, op->args[1], axis, vec, depth + 1));
    }
    if (op && depth < MAX_DEPTH && op->code == IR_CAST && type_is_int(op->args[0]->type) &&
        type_is_int(v->type))
        return modulus(axes, op->args[0], axis, vec, depth + 1);
    return least(MAX_ACCESS_BYTES,
                 axis_info_divisor(axes, v, axis, least(vec, axis_info_contiguity(axes, v, axis))));
}

/// True when along every axis no element of a mask is true behind one that is false.
static bool falls(const AxisInfo *axes, const IrValue *mask, int depth)
{
    const IrOp *op = mask->def;
    if (spans(axes, mask, false))
        return true;
    if (!op || depth == MAX_DEPTH)
        return false;
    switch (op->code) {
    case IR_AND: return falls(axes, op->args[0], depth + 1) && falls(axes, op->args[1], depth + 1);
    case IR_EXPAND_DIMS:
    case IR_BROADCAST:
    case IR_CONVERT: return falls(axes, op->args[0], depth + 1);
    case IR_LT:
    case IR_LE: return spans(axes, op->args[0], true) && spans(axes, op->args[1], false);
    case IR_GT:
    case IR_GE: return spans(axes, op->args[1], true) && spans(axes, op->args[0], false);
    default: return false;
    }
}

/// True when in every thread the last slot has the highest coordinate along every axis.
static bool last_is_highest(const Layout *l)
{
    uint32_t slots = 0;
    for (unsigned k = 0; k < layout_in_bits(l); k++) {
        if (slots & l->basis[k])
            return false;
        if (k < l->reg_bits)
            slots |= l->basis[k];
    }
    return true;
}

/// Bits of element numbers that stay within aligned groups of `count` coordinates along an axis.
static uint32_t group_bits(const Type *block, unsigned axis, int64_t count)
{
    unsigned low;
    const unsigned bits = layout_axis_bits(block, axis, &low);
    const int64_t extent = INT64_C(1) << bits;
    return (uint32_t)(least(count, extent) - 1) << low;
}

/// Slots whose elements differ in `bits` alone.
static uint32_t slots_within(const Layout *l, uint32_t bits)
{
    uint32_t slots = 0;
    for (unsigned k = 0; k < l->reg_bits; k++)
        if (l->basis[k] != 0 && (l->basis[k] & ~bits) == 0)
            slots |= UINT32_C(1) << k;
    return slots;
}

/// Those of `slots` whose bits of the element no other slot, lane or warp turns: distances add up.
static uint32_t slots_apart(const Layout *l, uint32_t slots)
{
    for (unsigned k = 0; k < l->reg_bits; k++)
        for (unsigned other = 0; other < layout_in_bits(l); other++)
            if (other != k && (l->basis[k] & l->basis[other]) != 0)
                slots &= ~(UINT32_C(1) << k);
    return slots;
}

static void fill_slot_run(const AxisInfo *axes, IrValue *v)
{
    if (v->layout == NULL)
        return;
    const AxisFacts *facts = axis_info_of(axes, v);
    if (type_is_bool(type_elem(v->type))) {
        uint32_t bits = 0;
        for (unsigned k = 0; k < facts->rank; k++)
            bits |= group_bits(v->type, k, facts->dim[k].constancy);
        v->slot_run = slots_within(v->layout, bits);
    } else if (type_is_ptr(type_elem(v->type))) {
        for (uint8_t k = 0; k < facts->rank; k++)
            if (facts->dim[k].contiguity > facts->dim[v->run_axis].contiguity)
                v->run_axis = k;
        const uint32_t bits = group_bits(v->type, v->run_axis, facts->dim[v->run_axis].contiguity);
        v->slot_run = slots_apart(v->layout, slots_within(v->layout, bits));
    }
}

static bool fill(IrOp *op, void *cx)
{
    const AxisInfo *axes = cx;
    for (uint32_t i = 0; i < op->resultc; i++)
        fill_slot_run(axes, op->results[i]);
    if (op->code != IR_LOAD && op->code != IR_STORE && op->code != IR_ASYNC_COPY)
        return true;
    const IrValue *pointer = op->args[0], *mask = op->args[op->code == IR_LOAD ? 1 : 2];
    IrMem *mem = &op->attr.mem;
    mem->vec = 1;
    mem->contiguous = mem->aligned = mem->mask_uniform = true;
    if (!type_is_block(pointer->type))
        return true;

    const unsigned bytes = type_elem_bytes(type_elem(pointer->type)->elem);
    unsigned axis;
    int64_t vec = INT64_C(1) << slot_run(pointer->layout, pointer->type, &axis);
    const AxisDim *dim = &axis_info_of(axes, pointer)->dim[axis];
    vec = least(vec, MAX_ACCESS_BYTES / bytes);
    if (op->code == IR_ASYNC_COPY) {  // nothing is checked at run time
        mem->vec =
            (uint8_t)least(vec, axis_info_piece(axes, pointer, mask, axis, MAX_ACCESS_BYTES));
        return true;
    }
    int64_t step;
    if (dim->likely > 1 || dim->constancy > 1 || axis_info_from_memory(axes, pointer) ||
        (axis_info_step(pointer, axis, &step) && step != 1))
        vec = least(vec, dim->likely);
    mem->vec = (uint8_t)vec;
    mem->contiguous = dim->contiguity >= vec;
    const int64_t proved = mem->contiguous ? vec : 1;
    mem->aligned = axis_info_divisor(axes, pointer, axis, proved) % (vec * bytes) == 0;
    mem->mask_uniform = mask == NULL || axis_info_of(axes, mask)->dim[axis].constancy >= vec;
    mem->aligned_alike = !mem->aligned && modulus(axes, pointer, axis, vec, 0) % (vec * bytes) == 0;
    mem->mask_falls = mask != NULL && last_is_highest(pointer->layout) && falls(axes, mask, 0);
    return true;
}

bool pass_access(PassCtx *cx, IrFunc *fn)
{
    ir_walk(fn, fill, axis_info_compute(fn, cx->arena));
    return true;
}
