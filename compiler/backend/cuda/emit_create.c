/// emit_create.c - constants, ranges, program ids, and operations that only change a shape.
///
/// Most of these emit nothing: a splat is its scalar in every slot, a reshape is the same array.
#include "backend/cuda/emit_impl.h"

#include <inttypes.h>

bool cuda_emit_const(Emit *e, const IrOp *op)
{
    const IrValue *v = op->results[0];
    if (type_is_ptr(v->type))
        e->needs |= NEED_BASE;
    cuda_set_place(e, v, PLACE_SAME, cuda_literal(e, v->type, op->attr.konst));
    return true;
}

bool cuda_emit_arange(Emit *e, const IrOp *op)
{
    const IrValue *v = op->results[0];
    const char *name = cuda_value_name(e, v), *decl = cuda_value_decl(e, v, "int", name);
    const int64_t lo = op->attr.range.lo;
    const char *slot = "0", *target = cuda_text(e, "const %s", decl);

    cuda_set_place(e, v, cuda_held_as(v), name);
    if (cuda_slots(v) > 1) {
        cuda_line(e, "%s;", decl);
        slot = cuda_loop(e, cuda_slots(v), 1);
        target = cuda_slot_of(e, v, name, slot);
    }
    const char *element = cuda_element(e, v->layout, slot);
    cuda_line(e, "%s = %s;", target,
              lo ? cuda_text(e, "%" PRId64 " + (%s)", lo, element) : element);
    cuda_loop_end(e, cuda_slots(v), 1);
    return true;
}

bool cuda_emit_splat(Emit *e, const IrOp *op)
{
    e->places[op->results[0]->id] = cuda_place(e, op->args[0]);
    return true;
}

static bool emit_grid_value(Emit *e, const IrOp *op, const char *variable)
{
    const char *name = cuda_value_name(e, op->results[0]);
    cuda_line(e, "const int %s = (int)%s.%c;", name, variable, "xyz"[op->attr.axis]);
    cuda_set_place(e, op->results[0], PLACE_SAME, name);
    return true;
}

bool cuda_emit_program_id(Emit *e, const IrOp *op)
{
    return emit_grid_value(e, op, "blockIdx");
}

bool cuda_emit_num_programs(Emit *e, const IrOp *op)
{
    if (e->fn->is_persistent) {
        cuda_set_place(e, op->results[0], PLACE_SAME, e->grid[op->attr.axis]);
        return true;
    }
    return emit_grid_value(e, op, "gridDim");
}

/// EXPAND_DIMS, RESHAPE, TRANS: passes gave the result the layout for which nothing moves.
bool cuda_emit_same_slots(Emit *e, const IrOp *op)
{
    const IrValue *from = op->args[0], *to = op->results[0];
    if (cuda_slots(from) != cuda_slots(to) && cuda_place(e, from).kind == PLACE_ARRAY)
        return cuda_fault(e, op, "operand and result have different numbers of slots");
    e->places[to->id] = cuda_place(e, from);
    if (!type_is_block(to->type) && cuda_place(e, from).kind == PLACE_ARRAY)
        cuda_set_place(e, to, PLACE_SAME, cuda_ref(e, from, "0"));
    return true;
}

bool cuda_emit_broadcast(Emit *e, const IrOp *op)
{
    const IrValue *from = op->args[0], *to = op->results[0];
    const unsigned slots = cuda_slots(to);
    uint16_t *map = ARENA_NEW_N(e->arena, uint16_t, slots);
    uint32_t basis[LAYOUT_MAX_BITS], image;
    bool same = true, first = true;

    if (cuda_place(e, from).kind == PLACE_SAME) {
        e->places[to->id] = cuda_place(e, from);
        return true;
    }
    if (layout_unbroadcast(e->opt->layouts, to->layout, to->type, from->type, map) != from->layout)
        return cuda_fault(e, op, "the operand's layout is not the result's without the axes");
    for (unsigned r = 0; r < slots; r++) {
        same = same && map[r] == r;
        first = first && map[r] == 0;
    }
    if (same || first) {
        cuda_set_place(e, to, same ? PLACE_ARRAY : PLACE_SAME,
                       same ? cuda_place(e, from).text : cuda_ref(e, from, "0"));
        return true;
    }
    for (unsigned k = 0; k < to->layout->reg_bits; k++)
        basis[k] = map[1u << k];
    const char *name = cuda_declare(e, to);
    const char *slot = cuda_loop(e, slots, 1);
    cuda_line(e, "%s[%s] = %s;", name, slot,
              cuda_ref(e, from, cuda_linear(e, slot, basis, to->layout->reg_bits, &image)));
    cuda_loop_end(e, slots, 1);
    return true;
}
