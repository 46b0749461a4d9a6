/// emit_convert.c - moving a value to another layout, as layout_plan_convert found cheapest.
///
/// A block that shared memory cannot hold moves in pieces: those elements whose place in the whole
/// has the piece's number in its high bits. All the plan's maps are linear over bits, so each is
/// printed as one expression in the slot and one in the thread.
#include "backend/cuda/emit_impl.h"

#include <inttypes.h>
#include <string.h>

typedef struct Convert {
    const IrOp *op;
    const ConvertPlan *plan;
    const Layout *src, *dst;
    const char *ctype;
    const char *piece;  // the counter of pieces; NULL: the block moves at once
    uint32_t piece_elems;
} Convert;

/// The linear map of which table[0], table[1], ... are the values, as an expression in `var`.
static const char *table_text(Emit *e, const uint16_t *table, unsigned bits, const char *var,
                              uint32_t *image)
{
    uint32_t basis[LAYOUT_MAX_BITS];
    for (unsigned k = 0; k < bits; k++)
        basis[k] = table[1u << k];
    return cuda_linear(e, var, basis, bits, image);
}

/// A map of the thread number's bits.
static const char *thread_text(Emit *e, const uint16_t *flips, const Layout *l, uint32_t *image)
{
    uint32_t basis[LAYOUT_MAX_BITS];
    const unsigned bits = LAYOUT_LANE_BITS + l->warp_bits;
    for (unsigned k = 0; k < bits; k++)
        basis[k] = flips[k];
    return cuda_linear(e, cuda_tid(e), basis, bits, image);
}

static bool emit_regs(Emit *e, const Convert *c)
{
    const IrValue *from = c->op->args[0], *to = c->op->results[0];
    const unsigned slots = cuda_slots(to);
    uint32_t image;
    const char *name = cuda_declare(e, to);
    const char *slot = cuda_loop(e, slots, 1);
    const char *source = table_text(e, c->plan->reg_from, c->dst->reg_bits, slot, &image);
    cuda_line(e, "%s = %s;", cuda_slot_of(e, to, name, slot), cuda_ref(e, from, source));
    cuda_loop_end(e, slots, 1);
    return true;
}

/// Reorders the slots of each lane so that lane by lane the slot to send has one number: a slot
/// index that depends on the lane would put the array into memory. Gives the array to send from.
static const char *emit_flips(Emit *e, const Convert *c)
{
    const char *array = cuda_place(e, c->op->args[0]).text;
    const unsigned slots = layout_regs(c->src);
    for (unsigned k = 0; k < LAYOUT_LANE_BITS + (unsigned)c->dst->warp_bits; k++) {
        if (c->plan->send_flip[k] == 0)
            continue;
        const char *next = cuda_name(e, "sent");
        cuda_line(e, "%s;", cuda_decl(e, c->ctype, next, slots));
        const char *slot = cuda_loop(e, slots, 1);
        cuda_line(e, "%s[%s] = (%s >> %u & 1) != 0 ? %s[%s ^ %u] : %s[%s];", next, slot,
                  cuda_tid(e), k, array, slot, c->plan->send_flip[k], array, slot);
        cuda_loop_end(e, slots, 1);
        array = next;
    }
    return array;
}

static bool emit_shuffle(Emit *e, const Convert *c)
{
    const IrValue *to = c->op->results[0];
    const unsigned slots = cuda_slots(to);
    uint32_t image, slot_image, thread_image;
    const Place from = cuda_place(e, c->op->args[0]);
    const char *array = from.kind == PLACE_ARRAY ? emit_flips(e, c) : NULL,
               *name = cuda_declare(e, to);

    const char *slot = cuda_loop(e, slots, 1), *source = from.text;
    if (array)
        source = cuda_text(e, "%s[%s]", array,
                           table_text(e, c->plan->reg_from, c->dst->reg_bits, slot, &image));
    if (c->plan->same_lane) {
        cuda_line(e, "%s = %s;", cuda_slot_of(e, to, name, slot), source);
    } else {
        const char *by_slot =
            table_text(e, c->plan->lane_from, c->dst->reg_bits, slot, &slot_image);
        const char *by_thread = thread_text(e, c->plan->lane_flip, c->dst, &thread_image);
        e->needs |= NEED_REDUCE;
        const char *lane = cuda_join(e, by_thread, thread_image, by_slot, slot_image);
        cuda_line(e, "%s = nt_shfl(%s, %s);", cuda_slot_of(e, to, name, slot), source, lane);
    }
    cuda_loop_end(e, slots, 1);
    return true;
}

/// One side of the trip: groups of `vec` slots from the list go to or come from consecutive places.
typedef struct Side {
    const Layout *layout;
    const uint16_t *slots;  // in the order of the groups; linear in the position
    uint32_t count;
    unsigned vec;
} Side;

static unsigned bit_count(uint32_t power_of_two)
{
    unsigned n = 0;
    while (power_of_two >> n > 1)
        n++;
    return n;
}

/// The place of the group at position `at`: the thread's part is the variable `base`.
static const char *place_text(Emit *e, const ConvertPlan *plan, const Side *side, const char *base,
                              const char *at)
{
    uint32_t basis[LAYOUT_MAX_BITS], image;
    const unsigned bits = bit_count(side->count);
    for (unsigned k = 0; k < bits; k++)
        basis[k] = 1u << k < side->vec
                       ? 0
                       : layout_shared_index(plan, side->layout, side->slots[1u << k], 0);
    const char *offset = cuda_linear(e, at, basis, bits, &image);
    return offset[0] == '0' && !offset[1] ? base : cuda_text(e, "(%s ^ (%s))", base, offset);
}

static const char *emit_base(Emit *e, const ConvertPlan *plan, const Side *side, const char *hint)
{
    uint32_t basis[LAYOUT_MAX_BITS], image;
    const unsigned bits = LAYOUT_LANE_BITS + side->layout->warp_bits;
    for (unsigned k = 0; k < bits; k++)
        basis[k] = layout_shared_index(plan, side->layout, 0, 1u << k);
    const char *name = cuda_name(e, hint);
    cuda_line(e, "const int %s = %s;", name, cuda_linear(e, cuda_tid(e), basis, bits, &image));
    return name;
}

/// The slot for register i of the group at `at`.
static const char *member_slot(Emit *e, const Side *side, const char *at, unsigned i)
{
    uint32_t image;
    if (i > 0)
        at = strcmp(at, "0") == 0 ? cuda_text(e, "%u", i) : cuda_text(e, "(%s + %u)", at, i);
    return table_text(e, side->slots, bit_count(side->count), at, &image);
}

/// Begins the group at `at`: gives its place in the scratch. With several pieces what follows is
/// for groups of the piece whose turn it is.
static const char *begin_group(Emit *e, const Convert *c, const Side *side, const char *base,
                               const char *at)
{
    const char *place = place_text(e, c->plan, side, base, at);
    if (!c->piece)
        return place;
    const char *whole = cuda_name(e, "place");
    cuda_line(e, "const int %s = %s;", whole, place);
    cuda_line(e, "if (%s >> %u == %s) {", whole, bit_count(c->piece_elems), c->piece);
    e->body.indent++;
    return cuda_text(e, "(%s & %" PRIu32 ")", whole, c->piece_elems - 1);
}

static void end_group(Emit *e, const Convert *c)
{
    if (!c->piece)
        return;
    e->body.indent--;
    cuda_line(e, "}");
}

static void emit_store_side(Emit *e, const Convert *c, const Side *side, const char *scratch,
                            const char *base)
{
    const IrValue *from = c->op->args[0];
    if (c->plan->store_idle) {
        cuda_line(e, "if ((%s & %" PRIu32 ") == 0) {", cuda_tid(e), c->plan->store_idle);
        e->body.indent++;
    }
    const char *at = cuda_block_loop(e, side->count, side->vec);
    const char *place = begin_group(e, c, side, base, at);
    if (side->vec == 1) {
        cuda_line(e, "%s[%s] = %s;", scratch, place,
                  cuda_ref(e, from, member_slot(e, side, at, 0)));
    } else {
        const char *group = cuda_name(e, "group");
        cuda_line(e, "%s;", cuda_decl(e, c->ctype, group, side->vec));
        for (unsigned i = 0; i < side->vec; i++)
            cuda_line(e, "%s[%u] = %s;", group, i, cuda_ref(e, from, member_slot(e, side, at, i)));
        cuda_line(e, "nt_put<%u>(%s + %s, %s);", side->vec, scratch, place, group);
    }
    end_group(e, c);
    cuda_block_end(e);
    if (c->plan->store_idle) {
        e->body.indent--;
        cuda_line(e, "}");
    }
}

static void emit_load_side(Emit *e, const Convert *c, const Side *side, const char *scratch,
                           const char *base, const char *name)
{
    const IrValue *to = c->op->results[0];
    const char *at = cuda_block_loop(e, side->count, side->vec);
    const char *place = begin_group(e, c, side, base, at);
    if (side->vec == 1) {
        cuda_line(e, "%s = %s[%s];", cuda_slot_of(e, to, name, member_slot(e, side, at, 0)),
                  scratch, place);
    } else {
        const char *group = cuda_name(e, "group");
        cuda_line(e, "%s;", cuda_decl(e, c->ctype, group, side->vec));
        cuda_line(e, "nt_take<%u>(%s, %s + %s);", side->vec, group, scratch, place);
        for (unsigned i = 0; i < side->vec; i++)
            cuda_line(e, "%s = %s[%u];", cuda_slot_of(e, to, name, member_slot(e, side, at, i)),
                      group, i);
    }
    end_group(e, c);
    cuda_block_end(e);
}

/// Slots that the load side's list leaves out hold what another slot holds.
static void emit_repeats(Emit *e, const Convert *c, const char *name)
{
    for (uint32_t r = 1; r < layout_regs(c->dst); r++) {
        uint32_t first = 0;
        bool listed = false;
        for (uint32_t i = 0; i < c->plan->load_count; i++)
            listed = listed || c->plan->load_slots[i] == r;
        while (layout_reg_part(c->dst, first) != layout_reg_part(c->dst, r))
            first++;
        if (!listed && first < r)
            cuda_line(e, "%s[%" PRIu32 "] = %s[%" PRIu32 "];", name, r, name, first);
    }
}

/// A loop over pieces of the block, where the scratch is smaller than the block.
static void begin_pieces(Emit *e, Convert *c)
{
    const uint32_t bytes = c->op->smem_bytes - c->op->smem_turn;
    if (bytes >= c->plan->bytes)
        return;
    c->piece_elems = bytes / type_elem_bytes(c->op->results[0]->type);
    c->piece = cuda_name(e, "piece");
    cuda_line(e, "for (int %s = 0; %s < %" PRIu32 "; %s++) {", c->piece, c->piece,
              c->plan->bytes / bytes, c->piece);
    e->body.indent++;
    cuda_line(e, "if (%s > 0)", c->piece);
    cuda_line(e, "    %s", cuda_barrier(e));
}

static bool emit_shared(Emit *e, Convert *c)
{
    const ConvertPlan *plan = c->plan;
    const Side put = { c->src, plan->store_slots, plan->store_count, plan->store_vec };
    const Side take = { c->dst, plan->load_slots, plan->load_count, plan->load_vec };
    const char *name = cuda_declare(e, c->op->results[0]);

    e->needs |= NEED_SHARED;
    cuda_line(e, "{");
    e->body.indent++;
    const char *scratch =
        cuda_scratch(e, c->op, c->ctype, "scratch", 0, c->op->smem_bytes - c->op->smem_turn);
    if (!scratch)
        return false;
    const char *from = emit_base(e, plan, &put, "put"), *to = emit_base(e, plan, &take, "take");
    begin_pieces(e, c);
    emit_store_side(e, c, &put, scratch, from);
    cuda_line(e, "%s", cuda_barrier(e));
    emit_load_side(e, c, &take, scratch, to, name);
    end_group(e, c);
    emit_repeats(e, c, name);
    e->body.indent--;
    cuda_line(e, "}");
    return true;
}

bool cuda_emit_convert(Emit *e, const IrOp *op)
{
    const IrValue *from = op->args[0], *to = op->results[0];
    if (cuda_place(e, from).kind == PLACE_SHARED)
        return cuda_emit_read_tile(e, op);
    Convert c = {
        .op = op, .src = from->layout, .dst = to->layout, .ctype = cuda_ctype(e, to->type)
    };

    c.plan = layout_plan_convert(e->opt->layouts, c.src, c.dst, type_elem_bytes(to->type));
    if (cuda_place(e, from).kind == PLACE_SAME && c.plan->kind != CONVERT_SHARED &&
        c.plan->kind != CONVERT_SHUFFLE) {
        e->places[to->id] = cuda_place(e, from);
        return true;
    }
    switch (c.plan->kind) {
    case CONVERT_FREE: e->places[to->id] = cuda_place(e, from); return true;
    case CONVERT_REGS: return emit_regs(e, &c);
    case CONVERT_SHUFFLE: return emit_shuffle(e, &c);
    case CONVERT_WARP: return cuda_emit_convert_warp(e, op, c.plan);
    case CONVERT_SHARED: return emit_shared(e, &c);
    }
    return false;
}
