/// emit_elementwise.c - operations on one slot at a time.
///
/// The operation itself is nt_<mnemonic>() of the prelude, so a new one needs nothing here. Where
/// every operand is the same in all slots the result is computed once, and what one slot's mask or
/// pointer says of others is not computed again (IrValue.slot_run). Sums of an online softmax are
/// not scaled where no row of the warp has a new maximum: x * 1 is x.
#include "backend/cuda/emit_impl.h"

#include <inttypes.h>

enum { LEAST_REPEATS = 8 };  // of a scale in a thread, for a vote to be cheaper than the products

/// The prelude header that has an operation on elements of this type.
static uint32_t need_for(const IrOp *op, const Type *type)
{
    const bool compare = ir_op_info[op->code].rule == RULE_CMP2;
    if (op->code == IR_SELECT || op->code == IR_PTR_ADD || op->code == IR_PTR_DIFF)
        return NEED_BASE;
    if (type_is_ptr(type))
        return NEED_COMPARE;
    if (type_is_float(type) && type_elem_bytes(type) >= 4)
        return compare ? NEED_COMPARE : NEED_FLOAT;
    if (type_is_float(type) || type_is_fp8(type))
        return NEED_SMALL;
    return compare ? NEED_COMPARE : NEED_INT;
}

/// The slot whose operands give the result in `slot`, or in one from which it is a known distance.
static const char *first_of_run(Emit *e, const IrValue *out, unsigned slots, const char *slot)
{
    const uint32_t others = (slots - 1) & ~out->slot_run;
    if (out->slot_run == 0 || slots == 1)
        return slot;
    return others == 0 ? "0" : cuda_text(e, "%s & %" PRIu32, slot, others);
}

/// How far a pointer lies behind the one in the first slot of its run.
static const char *distance_in_run(Emit *e, const IrValue *out, const char *slot)
{
    uint32_t basis[LAYOUT_MAX_BITS] = { 0 }, image;
    unsigned low;
    layout_axis_bits(out->type, out->run_axis, &low);
    for (unsigned k = 0; k < out->layout->reg_bits; k++)
        if (out->slot_run >> k & 1)
            basis[k] = out->layout->basis[k] >> low;
    return cuda_linear(e, slot, basis, out->layout->reg_bits, &image);
}

/// Writes `result = before operands after` for each slot.
static bool emit_per_slot(Emit *e, const IrOp *op, const char *before, const char *after)
{
    const IrValue *out = op->results[0];
    bool same = true;
    for (uint32_t i = 0; i < op->argc; i++)
        same = same && cuda_place(e, op->args[i]).kind == PLACE_SAME;

    const unsigned slots = same ? 1 : cuda_slots(out);
    const char *name, *slot = NULL, *target;
    if (same) {
        name = cuda_value_name(e, out);
        target = cuda_text(e, "const %s", cuda_decl(e, cuda_ctype(e, out->type), name, 0));
        if (type_is_ptr(out->type))
            target = cuda_decl(e, cuda_ctype(e, out->type), name, 0);
        cuda_set_place(e, out, PLACE_SAME, name);
    } else {
        name = cuda_declare(e, out);
        slot = cuda_loop(e, slots, 1);
        target = cuda_slot_of(e, out, name, slot);
    }
    const char *operands = "", *from = same ? slot : first_of_run(e, out, slots, slot);
    for (uint32_t i = 0; i < op->argc; i++)
        operands = cuda_text(e, "%s%s%s", operands, i ? ", " : "", cuda_ref(e, op->args[i], from));
    if (from != slot && type_is_ptr(out->type))
        cuda_line(e, "%s = %s%s%s + %s;", target, before, operands, after,
                  distance_in_run(e, out, slot));
    else
        cuda_line(e, "%s = %s%s%s;", target, before, operands, after);
    if (!same)
        cuda_loop_end(e, slots, 1);
    return true;
}

/* ---- sums of an online softmax ---- */

/// Whether a warpgroup's product made `v`, in this iteration of a loop or the one before.
static bool is_running_sum(const IrValue *v)
{
    if (!v->def && v->block->parent && v->block->parent->code == IR_FOR && v->index > 0)
        v = v->block->last->args[v->index - 1];
    return v->def &&
           (v->def->code == IR_DOT_WAIT || (v->def->code == IR_DOT && v->def->attr.dot.wgmma));
}

/// The exponentials, few a thread, that `v` repeats along the other axis; NULL: it is something
/// else.
static const IrValue *exponentials(const IrValue *v)
{
    const unsigned slots = cuda_slots(v);
    while (v->def && (v->def->code == IR_BROADCAST || v->def->code == IR_EXPAND_DIMS))
        v = v->def->args[0];
    const bool is_power = v->def && (v->def->code == IR_EXP || v->def->code == IR_EXP2);
    return is_power && cuda_slots(v) * LEAST_REPEATS <= slots ? v : NULL;
}

/// What multiplies a running sum; NULL: `op` is no such product.
static const IrValue *scale_of_sum(const Emit *e, const IrOp *op)
{
    for (unsigned i = 0; i < 2 && op->code == IR_MUL; i++)
        if (is_running_sum(op->args[i]) && cuda_place(e, op->args[i]).kind == PLACE_ARRAY)
            return exponentials(op->args[1 - i]);
    return NULL;
}

/// Each slot of `out` is a's, or a's times b's.
static void emit_each(Emit *e, const IrValue *out, const char *name, const IrValue *a,
                      const IrValue *b)
{
    const char *slot = cuda_loop(e, cuda_slots(out), 1), *value = cuda_ref(e, a, slot);
    if (b)
        value = cuda_text(e, "nt_mul(%s, %s)", value, cuda_ref(e, b, slot));
    cuda_line(e, "%s = %s;", cuda_slot_of(e, out, name, slot), value);
    cuda_loop_end(e, cuda_slots(out), 1);
}

static bool emit_scaled_sum(Emit *e, const IrOp *op, const IrValue *scale)
{
    const IrValue *out = op->results[0];
    const IrValue *sum = op->args[is_running_sum(op->args[0]) ? 0 : 1];
    const char *name = cuda_declare(e, out);
    e->needs |= NEED_FLOAT | NEED_REDUCE;
    cuda_line(e, "if (nt_all_ones(%s)) {", cuda_place(e, scale).text);
    e->body.indent++;
    emit_each(e, out, name, sum, NULL);
    e->body.indent--;
    cuda_line(e, "} else {");
    e->body.indent++;
    emit_each(e, out, name, op->args[0], op->args[1]);
    e->body.indent--;
    cuda_line(e, "}");
    return true;
}

bool cuda_emit_elementwise(Emit *e, const IrOp *op)
{
    const IrValue *scale = scale_of_sum(e, op);
    if (scale)
        return emit_scaled_sum(e, op, scale);
    const Type *type = op->args[op->argc - 1]->type;
    const bool is_float = type_is_float(type) || type_is_fp8(type);
    const bool nan = ir_op_info[op->code].attr == ATTR_NAN && op->attr.propagate_nan && is_float;
    e->needs |= need_for(op, op->code == IR_PTR_ADD ? op->args[0]->type : type);
    return emit_per_slot(
        e, op, cuda_text(e, "nt_%s%s(", ir_op_info[op->code].mnemonic, nan ? "_nan" : ""), ")");
}

/// Whether neighbouring slots are rounded together.
static bool casts_pairs(const Emit *e, const IrOp *op)
{
    const IrValue *from = op->args[0], *to = op->results[0];
    const ScalarKind kind = type_scalar_kind(to->type);
    return type_scalar_kind(from->type) == SCALAR_F32 &&
           (kind == SCALAR_F16 || kind == SCALAR_BF16) && !op->attr.round_to_zero &&
           cuda_slots(to) > 1 && cuda_place(e, from).kind == PLACE_ARRAY;
}

static bool emit_pairs(Emit *e, const IrOp *op)
{
    const IrValue *from = op->args[0], *to = op->results[0];
    const char *name = cuda_declare(e, to);
    const char *slot = cuda_loop(e, cuda_slots(to), 2);
    const char *next = *slot == '0' ? "1" : cuda_text(e, "%s + 1", slot);
    cuda_line(e, "nt_cast_pair(%s, %s, %s);", cuda_address(e, name, cuda_slots(to), slot),
              cuda_ref(e, from, slot), cuda_ref(e, from, next));
    cuda_loop_end(e, cuda_slots(to), 2);
    return true;
}

bool cuda_emit_cast(Emit *e, const IrOp *op)
{
    const Type *from = op->args[0]->type, *to = op->results[0]->type;
    const char *ctype = cuda_ctype(e, to);
    if (type_is_ptr(to))  // by way of an integer as wide as an address
        return emit_per_slot(e, op, cuda_text(e, "(%s)(unsigned long long)(", ctype), ")");
    if (type_is_ptr(from) && type_is_bool(to))
        return emit_per_slot(e, op, "(", ") != 0");
    if (type_is_ptr(from))
        return emit_per_slot(e, op, cuda_text(e, "(%s)(", ctype), ")");
    e->needs |= NEED_CONVERT;
    if (!type_is_ptr(from) && !type_is_ptr(to) && casts_pairs(e, op))
        return emit_pairs(e, op);
    return emit_per_slot(
        e, op, cuda_text(e, "nt_cast%s<%s>(", op->attr.round_to_zero ? "_rtz" : "", ctype), ")");
}

bool cuda_emit_bitcast(Emit *e, const IrOp *op)
{
    e->needs |= NEED_BASE;
    return emit_per_slot(e, op,
                         cuda_text(e, "nt_bitcast<%s>(", cuda_ctype(e, op->results[0]->type)), ")");
}
