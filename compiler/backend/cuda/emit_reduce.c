/// emit_reduce.c - reductions: slots of a thread, lanes of a warp, warps of a program.
///
/// The plan (layout_plan_reduce) says which bits to combine. Slots are combined pairwise, lanes by
/// a butterfly of shuffles, warps through shared memory, where every thread combines all partial
/// results in one order or, of many warps, every lane takes one of them to a second butterfly; so
/// all replicas of a result hold the same bits. A 16-bit or 8-bit sum is
/// kept in float and rounded once. argmax and argmin carry an index beside each value.
#include "backend/cuda/emit_impl.h"

#include <inttypes.h>
#include <string.h>

/// Strands in which the parts of a few warps are combined; each takes a register, and all parts are
/// read at once. From 16 warps on a thread has 64 registers if two blocks are to share a
/// multiprocessor, and 32 if four: a second butterfly takes one instead of 16, and no longer.
enum { MANY_WARPS = 16, MAX_STRANDS = 4 };

typedef struct Reduce {
    const IrOp *op;
    const ReducePlan *plan;
    const Layout *layout;        // of the operand
    unsigned slots, kept;        // of the operand; of the result
    const char *ctype, *part;    // element type and array of partial results
    const char *index;           // array of their indices; NULL: not an arg reduction
    const char *inner, *across;  // functions that combine: within a thread, across threads
    unsigned bytes;              // of one partial result, without its index
    bool widened;                // small floats combined as float
} Reduce;

static bool is_arg(IrReduceKind kind)
{
    return kind == REDUCE_ARGMAX || kind == REDUCE_ARGMIN;
}

static void choose_functions(Emit *e, Reduce *rd)
{
    static const char *const names[REDUCE_KIND_COUNT] = { [REDUCE_MAX] = "nt_max",
                                                          [REDUCE_MIN] = "nt_min",
                                                          [REDUCE_XOR] = "nt_xor",
                                                          [REDUCE_OR] = "nt_or" };
    const Type *type = rd->op->args[0]->type;
    const IrReduceKind kind = rd->op->attr.reduce.kind;
    const bool is_small = type_is_fp8(type) || (type_is_float(type) && type_elem_bytes(type) < 4);
    const bool is_float = is_small || type_is_float(type),
               nan = is_float && rd->op->attr.reduce.propagate_nan;

    rd->ctype = cuda_ctype(e, type);
    rd->bytes = type_elem_bytes(type);
    e->needs |= NEED_REDUCE | (is_small ? NEED_SMALL : is_float ? NEED_FLOAT : NEED_INT);
    if (is_small && (kind == REDUCE_SUM || is_arg(kind))) {
        rd->ctype = "float";
        rd->bytes = 4;
        rd->widened = true;
    }
    if (kind == REDUCE_SUM) {
        rd->inner = "nt_add";  // may absorb a product; nt_sum never does
        rd->across = "nt_sum";
    } else if (is_arg(kind)) {
        rd->inner = rd->across =
            cuda_text(e, "nt_arg_step<%s, %s>", kind == REDUCE_ARGMAX ? "NT_ARGMAX" : "NT_ARGMIN",
                      nan ? "true" : "false");
    } else {
        rd->inner = rd->across = cuda_text(e, "%s%s", names[kind], nan ? "_nan" : "");
    }
}

/// An element of the array of partial results, and its index in an arg reduction.
typedef struct Part {
    const char *value, *index;
} Part;

static Part part_of(Emit *e, const char *values, const char *indices, const char *at)
{
    return (Part){ cuda_text(e, "%s[%s]", values, at),
                   indices ? cuda_text(e, "%s[%s]", indices, at) : NULL };
}

/// to = combine(to, from), where `condition` (NULL: anything) holds.
static void emit_combine(Emit *e, const char *fn, const char *condition, Part to, Part from)
{
    const char *guard = condition ? cuda_text(e, "if (%s) ", condition) : "";
    if (to.index)
        cuda_line(e, "%s%s(%s, %s, %s, %s);", guard, fn, to.value, to.index, from.value,
                  from.index);
    else
        cuda_line(e, "%s%s = %s(%s, %s);", guard, to.value, fn, to.value, from.value);
}

/// What the lanes whose numbers differ in `mask` hold of the same.
static Part of_lane(Emit *e, Part mine, unsigned mask)
{
    return (Part){ cuda_text(e, "nt_shfl_xor(%s, %u)", mine.value, mask),
                   mine.index ? cuda_text(e, "nt_shfl_xor(%s, %u)", mine.index, mask) : NULL };
}

/// The coordinate along the reduced axis of what `slot` holds.
static const char *coordinate(Emit *e, const Reduce *rd, const char *slot)
{
    const Type *block = rd->op->args[0]->type;
    const int axis = rd->op->attr.reduce.axis;
    const char *text = cuda_element(e, rd->layout, slot);
    uint32_t inner = 1;  // elements from one coordinate to the next
    for (int k = axis + 1; k < block->rank; k++)
        inner *= (uint32_t)block->shape[k];
    if (inner > 1)
        text = cuda_text(e, "(%s) / %" PRIu32, text, inner);
    if (axis > 0)
        text = cuda_text(e, "(%s) %% %" PRId32, text, block->shape[axis]);
    return text;
}

/// Copies the operand into the array of partial results.
static void emit_begin(Emit *e, Reduce *rd)
{
    const IrValue *x = rd->op->args[0];
    rd->part = cuda_name(e, "part");
    cuda_line(e, "%s;", cuda_decl(e, rd->ctype, rd->part, rd->slots));
    const char *slot = cuda_loop(e, rd->slots, 1), *value = cuda_ref(e, x, slot);
    cuda_line(e, rd->widened ? "%s[%s] = nt_widen(%s);" : "%s[%s] = %s;", rd->part, slot, value);
    cuda_loop_end(e, rd->slots, 1);
    if (!is_arg(rd->op->attr.reduce.kind))
        return;
    rd->index = cuda_name(e, "index");
    cuda_line(e, "%s;", cuda_decl(e, "int", rd->index, rd->slots));
    slot = cuda_loop(e, rd->slots, 1);
    cuda_line(e, "%s[%s] = %s;", rd->index, slot, coordinate(e, rd, slot));
    cuda_loop_end(e, rd->slots, 1);
}

/// Slots: halves the set for each bit, the highest first.
static void emit_slots(Emit *e, const Reduce *rd)
{
    uint32_t done = 0;
    for (unsigned k = rd->layout->reg_bits; k-- > 0;) {
        const uint32_t bit = 1u << k;
        if (!(rd->plan->reg_mask & bit))
            continue;
        done |= bit;
        // With all bits from k up combined, the slots left are the first ones.
        const bool plain = done == (rd->slots - 1) - (bit - 1);
        const unsigned n = plain ? bit : rd->slots;
        const char *slot = cuda_loop(e, n, 1);
        const char *from =
            n > 1 ? cuda_text(e, "%s + %" PRIu32, slot, bit) : cuda_text(e, "%" PRIu32, bit);
        emit_combine(e, rd->inner,
                     plain ? NULL : cuda_text(e, "(%s & %" PRIu32 ") == 0", slot, done),
                     part_of(e, rd->part, rd->index, slot), part_of(e, rd->part, rd->index, from));
        cuda_loop_end(e, n, 1);
    }
}

/// The slot of the partial results that belongs to a slot of the result: linear in it.
static const char *kept_slot(Emit *e, const Reduce *rd, const char *slot)
{
    uint32_t basis[LAYOUT_MAX_BITS], image;
    for (unsigned k = 0; k < rd->plan->result->reg_bits; k++)
        basis[k] = rd->plan->result_reg[1u << k];
    return rd->kept == 1 ? "0" : cuda_linear(e, slot, basis, rd->plan->result->reg_bits, &image);
}

/// Lanes: a butterfly.
static void emit_lanes(Emit *e, const Reduce *rd)
{
    for (unsigned i = 0; i < rd->plan->lane_count; i++) {
        const unsigned mask = 1u << rd->plan->lane_bits[i];
        const char *slot = kept_slot(e, rd, cuda_loop(e, rd->kept, 1));
        const Part mine = part_of(e, rd->part, rd->index, slot);
        emit_combine(e, rd->across, NULL, mine, of_lane(e, mine, mask));
        cuda_loop_end(e, rd->kept, 1);
    }
}

/// Where in the scratch the partial results for a result's slot begin, one of each warp.
static const char *first_place(Emit *e, const Reduce *rd, const char *slot)
{
    const char *element = cuda_element(e, rd->plan->result, slot);
    return strcmp(element, "0") == 0
               ? element
               : cuda_text(e, "(%s) * %u", element, 1u << rd->plan->warp_count);
}

/// Declares an array of `count` partial results (0: one, no array).
static Part declare_parts(Emit *e, const Reduce *rd, unsigned count)
{
    Part all = { cuda_name(e, "of_warp"), NULL };
    cuda_line(e, "%s;", cuda_decl(e, rd->ctype, all.value, count));
    if (rd->index) {
        all.index = cuda_name(e, "index_of_warp");
        cuda_line(e, "%s;", cuda_decl(e, "int", all.index, count));
    }
    return all;
}

static void emit_copy(Emit *e, Part to, Part from)
{
    cuda_line(e, "%s = %s;", to.value, from.value);
    if (to.index)
        cuda_line(e, "%s = %s;", to.index, from.index);
}

/// to = what the warps wrote to `wrote` from `first` on, combined in several strands and these in
/// pairs: fewer steps that wait for each other than one by one.
static void emit_gather(Emit *e, const Reduce *rd, Part to, Part wrote, const char *first)
{
    const unsigned warps = 1u << rd->plan->warp_count;
    const unsigned strands = warps < MAX_STRANDS ? warps : MAX_STRANDS;
    const char *from = strcmp(first, "0") == 0 ? "i" : cuda_text(e, "%s + i", first);
    const Part all = declare_parts(e, rd, strands);

    cuda_line(e, "NT_UNROLL for (int i = 0; i < %u; i++)%s", strands, rd->index ? " {" : "");
    e->body.indent++;
    emit_copy(e, part_of(e, all.value, all.index, "i"), part_of(e, wrote.value, wrote.index, from));
    e->body.indent--;
    if (rd->index)
        cuda_line(e, "}");
    if (warps > strands) {
        cuda_line(e, "NT_UNROLL for (int i = %u; i < %u; i++)", strands, warps);
        e->body.indent++;
        emit_combine(e, rd->across, NULL,
                     part_of(e, all.value, all.index, cuda_text(e, "i & %u", strands - 1)),
                     part_of(e, wrote.value, wrote.index, from));
        e->body.indent--;
    }
    for (unsigned half = strands / 2; half > 0; half /= 2) {
        const char *low = half > 1 ? "i" : "0",
                   *high = half > 1 ? cuda_text(e, "i + %u", half) : "1";
        if (half > 1)
            cuda_line(e, "NT_UNROLL for (int i = 0; i < %u; i++)", half);
        e->body.indent += half > 1;
        emit_combine(e, rd->across, NULL, part_of(e, all.value, all.index, low),
                     part_of(e, all.value, all.index, high));
        e->body.indent -= half > 1;
    }
    emit_copy(e, to, part_of(e, all.value, all.index, "0"));
}

/// The same of many warps by a butterfly: a lane takes the part of one.
static void emit_gather_by_lanes(Emit *e, const Reduce *rd, Part to, Part wrote, const char *first)
{
    const unsigned warps = 1u << rd->plan->warp_count;
    const char *mine = cuda_text(e, "%s & %u", cuda_tid(e), warps - 1);
    if (strcmp(first, "0") != 0)
        mine = cuda_text(e, "%s + (%s)", first, mine);
    const Part all = declare_parts(e, rd, 0);
    emit_copy(e, all, part_of(e, wrote.value, wrote.index, mine));
    for (unsigned mask = 1; mask < warps; mask *= 2)
        emit_combine(e, rd->across, NULL, all, of_lane(e, all, mask));
    emit_copy(e, to, all);
}

/// Whether all lanes of a warp hold the same elements of the result.
static bool lanes_agree(const Layout *result)
{
    for (unsigned k = 0; k < LAYOUT_LANE_BITS; k++)
        if (result->basis[result->reg_bits + k] != 0)
            return false;
    return true;
}

/// Warps: each writes its partial results, all read those of all warps.
static bool emit_warps(Emit *e, const Reduce *rd)
{
    const ReducePlan *plan = rd->plan;
    const uint32_t value_bytes = plan->scratch_elems * rd->bytes;
    uint32_t basis[LAYOUT_LANE_BITS + 5] = { 0 }, image;

    if (plan->warp_count == 0)
        return true;
    Part wrote = { cuda_scratch(e, rd->op, rd->ctype, "warp_part", 0, value_bytes), NULL };
    if (wrote.value && rd->index)
        wrote.index = cuda_scratch(e, rd->op, "int", "warp_index", (value_bytes + 15) / 16 * 16,
                                   plan->scratch_elems * 4);
    if (!wrote.value || (rd->index && !wrote.index))
        return false;
    for (unsigned i = 0; i < plan->warp_count; i++)
        basis[LAYOUT_LANE_BITS + plan->warp_bits[i]] = 1u << i;
    const char *warp =
        cuda_linear(e, cuda_tid(e), basis, LAYOUT_LANE_BITS + rd->layout->warp_bits, &image);

    if (plan->idle)
        cuda_line(e, "if ((%s & %" PRIu32 ") == 0) {", cuda_tid(e), plan->idle);
    e->body.indent += plan->idle != 0;
    const char *slot = rd->kept > 1 ? cuda_block_loop(e, rd->kept, 1) : "0",
               *first = first_place(e, rd, slot);
    const char *place = strcmp(first, "0") == 0 ? warp : cuda_text(e, "%s + %s", first, warp);
    emit_copy(e, part_of(e, wrote.value, wrote.index, place),
              part_of(e, rd->part, rd->index, kept_slot(e, rd, slot)));
    if (rd->kept > 1)
        cuda_block_end(e);
    e->body.indent -= plan->idle != 0;
    if (plan->idle)
        cuda_line(e, "}");
    cuda_line(e, "%s", cuda_barrier(e));

    slot = rd->kept > 1 ? cuda_block_loop(e, rd->kept, 1) : "0";
    first = first_place(e, rd, slot);
    const Part to = part_of(e, rd->part, rd->index, kept_slot(e, rd, slot));
    if (1u << plan->warp_count >= MANY_WARPS && lanes_agree(plan->result))
        emit_gather_by_lanes(e, rd, to, wrote, first);
    else
        emit_gather(e, rd, to, wrote, first);
    if (rd->kept > 1)
        cuda_block_end(e);
    return true;
}

/// Takes the results out of the partial ones, rounded to their type.
static void emit_end(Emit *e, const Reduce *rd, const char *name)
{
    const IrValue *out = rd->op->results[0];
    const char *slot = cuda_loop(e, rd->kept, 1);
    const char *value =
        cuda_text(e, "%s[%s]", rd->index ? rd->index : rd->part, kept_slot(e, rd, slot));
    if (rd->widened && !rd->index)
        value = cuda_text(e, "nt_narrow<%s>(%s)", cuda_ctype(e, out->type), value);
    cuda_line(e, "%s = %s;", cuda_slot_of(e, out, name, slot), value);
    cuda_loop_end(e, rd->kept, 1);
}

bool cuda_emit_reduce(Emit *e, const IrOp *op)
{
    const IrValue *x = op->args[0], *out = op->results[0];
    Reduce rd = { .op = op, .layout = x->layout, .slots = cuda_slots(x) };

    rd.plan =
        layout_plan_reduce(e->opt->layouts, x->layout, x->type, (unsigned)op->attr.reduce.axis);
    if (!rd.plan)
        return cuda_fault(e, op, "the operand's layout cannot be reduced along the axis");
    if (type_is_block(out->type) && out->layout != rd.plan->result)
        return cuda_fault(e, op, "the result's layout is not the operand's without the axis");
    rd.kept = layout_regs(rd.plan->result);
    choose_functions(e, &rd);
    const char *name = cuda_declare(e, out);
    cuda_line(e, "{");
    e->body.indent++;
    if (rd.slots >= CUDA_ROLL_FROM)  // an array in memory: short loops over parts of it pay no more
        e->roll_from = 2 * CUDA_ROLLED_COPIES;
    emit_begin(e, &rd);
    emit_slots(e, &rd);
    e->roll_from = CUDA_ROLL_FROM;
    emit_lanes(e, &rd);
    if (!emit_warps(e, &rd))
        return false;
    emit_end(e, &rd, name);
    e->body.indent--;
    cuda_line(e, "}");
    return true;
}
