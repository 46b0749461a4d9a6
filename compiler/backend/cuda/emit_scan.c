/// emit_scan.c - CARRY: the last element of the lower half of each group along an axis, to the
/// upper one (or the first of the upper half to the lower one).
///
/// The plan (layout_plan_carry) says which bits of slots and threads are the group's. What a thread
/// holds once for all of them is a part: within a warp one shuffle hands it over, from warp to warp
/// it goes through shared memory, and where only slots are concerned nothing moves.
#include "backend/cuda/emit_impl.h"

#include <inttypes.h>
#include <string.h>

typedef struct Carry {
    const IrOp *op;
    CarryPlan plan;
    bool reverse;
    unsigned slots;
    const Layout *layout;
    const char *ctype;
} Carry;

/// Bits of `low` as the neighbour has them, and its half.
static uint32_t neighbour_bits(const Carry *c, uint32_t half, uint32_t low)
{
    return c->reverse ? half : low;
}

/// "(x & ~mask) | set".
static const char *with_bits(Emit *e, const char *x, uint32_t mask, uint32_t set)
{
    if (!mask)
        return x;
    const char *cleared = cuda_text(e, "(%s & ~%" PRIu32 "u)", x, mask);
    return set ? cuda_text(e, "(%s | %" PRIu32 "u)", cleared, set) : cleared;
}

/// The slot that part `part` is taken from, in the thread that gives it.
static const char *slot_of_part(Emit *e, const Carry *c, const char *part)
{
    const uint32_t own = c->plan.reg_half | c->plan.reg_low;
    const uint32_t set = neighbour_bits(c, c->plan.reg_half, c->plan.reg_low);
    uint32_t basis[LAYOUT_MAX_BITS], image;
    unsigned bits = 0;
    for (unsigned k = 0; k < c->layout->reg_bits; k++)
        if (!(own >> k & 1))
            basis[bits++] = 1u << k;
    if (strcmp(part, "0") == 0)
        return cuda_text(e, "%" PRIu32, set);
    const char *others = cuda_linear(e, part, basis, bits, &image);
    return set ? cuda_text(e, "(%s) + %" PRIu32, others, set) : others;
}

/// The part that slot `slot` takes.
static const char *part_of_slot(Emit *e, const Carry *c, const char *slot)
{
    const uint32_t own = c->plan.reg_half | c->plan.reg_low;
    uint32_t basis[LAYOUT_MAX_BITS], image;
    unsigned bits = 0;
    for (unsigned k = 0; k < c->layout->reg_bits; k++)
        basis[k] = own >> k & 1 ? 0 : 1u << bits++;
    return c->plan.parts == 1 || strcmp(slot, "0") == 0
               ? "0"
               : cuda_linear(e, slot, basis, c->layout->reg_bits, &image);
}

/// Fills the array `parts` from other lanes of the warp.
static void emit_shuffles(Emit *e, const Carry *c, const char *parts)
{
    const CarryPlan *p = &c->plan;
    const char *lane = cuda_name(e, "lane");
    cuda_line(e, "const int %s = %s;", lane,
              with_bits(e, cuda_text(e, "(%s & 31)", cuda_tid(e)), p->thread_half | p->thread_low,
                        neighbour_bits(c, p->thread_half, p->thread_low)));
    const char *part = cuda_loop(e, p->parts, 1);
    cuda_line(e, "%s[%s] = nt_shfl(%s, %s);", parts, part,
              cuda_ref(e, c->op->args[0], slot_of_part(e, c, part)), lane);
    cuda_loop_end(e, p->parts, 1);
}

/// The same from other warps.
static bool emit_exchange(Emit *e, const Carry *c, const char *parts)
{
    const CarryPlan *p = &c->plan;
    const uint32_t own = p->thread_half | p->thread_low;
    const uint32_t set = neighbour_bits(c, p->thread_half, p->thread_low);
    const uint32_t threads = layout_threads(c->layout);
    const uint32_t bytes = p->scratch_elems * type_elem_bytes(c->op->args[0]->type);
    const char *scratch = cuda_scratch(e, c->op, c->ctype, "carried", 0, bytes);
    if (!scratch)
        return false;
    cuda_line(e, "if ((%s & %" PRIu32 ") == %" PRIu32 ") {", cuda_tid(e), own, set);
    e->body.indent++;
    const char *part = cuda_loop(e, p->parts, 1);
    cuda_line(e, "%s[%s * %" PRIu32 " + %s] = %s;", scratch, part, threads, cuda_tid(e),
              cuda_ref(e, c->op->args[0], slot_of_part(e, c, part)));
    cuda_loop_end(e, p->parts, 1);
    e->body.indent--;
    cuda_line(e, "}");
    cuda_line(e, "%s", cuda_barrier(e));
    part = cuda_loop(e, p->parts, 1);
    cuda_line(e, "%s[%s] = %s[%s * %" PRIu32 " + %s];", parts, part, scratch, part, threads,
              with_bits(e, cuda_tid(e), own, set));
    cuda_loop_end(e, p->parts, 1);
    return true;
}

/// Whether an element is in the half that takes from the other one.
static const char *takes(Emit *e, const Carry *c, const char *slot)
{
    const char *what = c->plan.reg_half ? slot : cuda_tid(e);
    return cuda_text(e, "(%s & %" PRIu32 ") %s 0", what,
                     c->plan.reg_half ? c->plan.reg_half : c->plan.thread_half,
                     c->reverse ? "==" : "!=");
}

bool cuda_emit_carry(Emit *e, const IrOp *op)
{
    const IrValue *x = op->args[0], *out = op->results[0];
    Carry c = { .op = op,
                .reverse = op->attr.scan.reverse,
                .slots = cuda_slots(x),
                .layout = x->layout,
                .ctype = cuda_ctype(e, x->type) };
    c.plan = layout_plan_carry(x->layout, x->type, (unsigned)op->attr.scan.axis,
                               (unsigned)op->attr.scan.bit);
    if (!c.plan.ok || out->layout != x->layout)
        return cuda_fault(e, op, "the operand's layout cannot be carried along the axis");
    const bool moves = c.plan.thread_half | c.plan.thread_low;
    const char *name = cuda_declare(e, out), *parts = NULL;
    e->needs |= NEED_REDUCE;
    cuda_line(e, "{");
    e->body.indent++;
    if (moves) {
        parts = cuda_name(e, "part");
        cuda_line(e, "%s %s[%" PRIu32 "];", c.ctype, parts, c.plan.parts);
        if (!c.plan.scratch_elems)
            emit_shuffles(e, &c, parts);
        else if (!emit_exchange(e, &c, parts))
            return false;
    }
    const char *slot = cuda_loop(e, c.slots, 1);
    const uint32_t own = c.plan.reg_half | c.plan.reg_low;
    const char *from =
        moves ? cuda_text(e, "%s[%s]", parts, part_of_slot(e, &c, slot))
              : cuda_ref(
                    e, x,
                    with_bits(e, slot, own, neighbour_bits(&c, c.plan.reg_half, c.plan.reg_low)));
    cuda_line(e, "%s = %s ? %s : %s;", cuda_slot_of(e, out, name, slot), takes(e, &c, slot), from,
              cuda_ref(e, x, slot));
    cuda_loop_end(e, c.slots, 1);
    e->body.indent--;
    cuda_line(e, "}");
    return true;
}
