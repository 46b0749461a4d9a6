/// access.c - fills in how LOAD and STORE move their elements, given the layout.
///
/// Needs layouts. IrMem.vec: slots g * vec ... g * vec + vec - 1 of a thread are neighbours along
/// one axis, at most 16 bytes together; what was proved of every such group: that the addresses
/// follow each other (contiguous), that the first is a multiple of the access's size (aligned),
/// that one mask value holds for all (mask_uniform). What is not proved the emitted code checks at
/// run time, so groups are kept wide unless the addresses are known to be scattered.
#include "layout/layout.h"
#include "passes/axis_info.h"
#include "passes/pass.h"

enum { MAX_ACCESS_BYTES = 16 };

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

static bool fill(IrOp *op, void *cx)
{
    const AxisInfo *axes = cx;
    if (op->code != IR_LOAD && op->code != IR_STORE)
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
    vec = vec < MAX_ACCESS_BYTES / bytes ? vec : MAX_ACCESS_BYTES / bytes;
    if (dim->likely > 1 || dim->constancy > 1 || axis_info_from_memory(axes, pointer))
        vec = vec < dim->likely ? vec : dim->likely;
    mem->vec = (uint8_t)vec;
    mem->contiguous = dim->contiguity >= vec;
    const int64_t proved = mem->contiguous ? vec : 1;
    mem->aligned = axis_info_divisor(axes, pointer, axis, proved) % (vec * bytes) == 0;
    mem->mask_uniform = mask == NULL || axis_info_of(axes, mask)->dim[axis].constancy >= vec;
    return true;
}

bool pass_access(PassCtx *cx, IrFunc *fn)
{
    ir_walk(fn, fill, axis_info_compute(fn, cx->arena));
    return true;
}
