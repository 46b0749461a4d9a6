/// emit_atomic.c - atomic updates: one owner performs each, every replica gets the old value.
///
/// Where replicas need the old value smem_plan gave scratch, one place an element: owners write it,
/// all wait, all read. A masked-off element gives zero.
#include "backend/cuda/emit_impl.h"

#include <inttypes.h>
#include <string.h>

static const char *order_suffix(Emit *e, const IrOp *op)
{
    static const char *const orders[] = { "relaxed", "acquire", "release", "acq_rel" };
    static const char *const scopes[] = { "cta", "gpu", "sys" };
    const char *order = orders[op->attr.atomic.order], *scope = scopes[op->attr.atomic.scope];
    const char *line =
        cuda_text(e, "NT_DEFINE_ATOMICS(%s_%s, \".%s.%s\")", order, scope, order, scope);

    e->needs |= NEED_ATOMIC;
    for (uint32_t i = 0; i < e->access.len; i++)
        if (strcmp(e->access.at[i], line) == 0)
            return cuda_text(e, "%s_%s", order, scope);
    VEC_PUSH(e->arena, &e->access, line);
    return cuda_text(e, "%s_%s", order, scope);
}

bool cuda_hand_out(Emit *e, const IrOp *op, const char *name, const char *owner)
{
    const IrValue *out = op->results[0];
    const unsigned slots = cuda_slots(out);
    const char *ctype = cuda_ctype(e, out->type);
    const char *old =
        cuda_scratch(e, op, ctype, "handed", 0, type_elem_bytes(out->type) * out->type->numel);
    if (!old)
        return false;

    const char *slot;
    cuda_line(e, "if (%s) {", owner);
    e->body.indent++;
    slot = cuda_loop(e, slots, 1);
    const char *first = cuda_first_slot(e, out->layout, slot);
    const char *element = out->layout ? cuda_element(e, out->layout, slot) : "0";
    cuda_line(e, "%s%s%s%s[%s] = %s;", first ? "if (" : "", first ? first : "", first ? ") " : "",
              old, element, cuda_slot_of(e, out, name, slot));
    cuda_loop_end(e, slots, 1);
    e->body.indent--;
    cuda_line(e, "}");
    cuda_line(e, "%s", cuda_barrier(e));
    slot = cuda_loop(e, slots, 1);
    element = out->layout ? cuda_element(e, out->layout, slot) : "0";
    cuda_line(e, "%s = %s[%s];", cuda_slot_of(e, out, name, slot), old, element);
    cuda_loop_end(e, slots, 1);
    return true;
}

/// Slots that repeat a lower one get its value.
static void emit_repeat(Emit *e, const IrValue *out, const char *name)
{
    uint32_t distinct = 0;
    for (unsigned k = 0; k < out->layout->reg_bits; k++)
        distinct |= out->layout->basis[k] ? 1u << k : 0;
    if (distinct == cuda_slots(out) - 1)
        return;
    const char *slot = cuda_loop(e, cuda_slots(out), 1);
    cuda_line(e, "%s[%s] = %s[%s & %" PRIu32 "];", name, slot, name, slot, distinct);
    cuda_loop_end(e, cuda_slots(out), 1);
}

/// Both kinds: `call` is the function's name, operands 1 ... operand_count follow the pointer.
static bool emit_atomic(Emit *e, const IrOp *op, const char *call, uint32_t operand_count,
                        const IrValue *mask)
{
    const IrValue *out = op->results[0], *pointer = op->args[0];
    const unsigned slots = cuda_slots(pointer);
    const bool used = e->uses[out->id] > 0;
    const char *name = cuda_value_name(e, out), *owner = cuda_owner(e, pointer->layout);

    cuda_set_place(e, out, cuda_held_as(out), name);
    if (used)
        cuda_line(e, "%s = {};", cuda_value_decl(e, out, cuda_ctype(e, out->type), name));
    if (owner) {
        cuda_line(e, "if (%s) {", owner);
        e->body.indent++;
    }
    const char *slot = cuda_loop(e, slots, 1);
    const char *first = cuda_first_slot(e, pointer->layout, slot),
               *condition = mask ? cuda_ref(e, mask, slot) : first;
    if (mask && first)
        condition = cuda_text(e, "%s && %s", first, condition);
    const char *operands = cuda_ref(e, pointer, slot);
    for (uint32_t i = 1; i <= operand_count; i++)
        operands = cuda_text(e, "%s, %s", operands, cuda_ref(e, op->args[i], slot));
    cuda_line(e, "%s%s%s%s%s%s(%s);", condition ? "if (" : "", condition ? condition : "",
              condition ? ") " : "", used ? cuda_slot_of(e, out, name, slot) : "",
              used ? " = " : "", call, operands);
    cuda_loop_end(e, slots, 1);
    if (owner) {
        e->body.indent--;
        cuda_line(e, "}");
    }
    if (op->smem_bytes > 0)
        return cuda_hand_out(e, op, name, owner ? owner : "true");
    if (used && owner)
        return cuda_fault(e, op, "replicas need the old value and there is no scratch");
    if (used)
        emit_repeat(e, out, name);
    return true;
}

bool cuda_emit_atomic_rmw(Emit *e, const IrOp *op)
{
    static const char *const kinds[] = { "add", "max", "min", "and", "or", "xor", "xchg" };
    const char *call =
        cuda_text(e, "nt_atomic_%s_%s", kinds[op->attr.atomic.kind], order_suffix(e, op));
    return emit_atomic(e, op, call, 1, op->args[2]);
}

bool cuda_emit_atomic_cas(Emit *e, const IrOp *op)
{
    return emit_atomic(e, op, cuda_text(e, "nt_atomic_cas_%s", order_suffix(e, op)), 2, NULL);
}
