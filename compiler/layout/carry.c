/// carry.c - how the halves of a group of elements along an axis are found in a layout.
///
/// Needs layouts of single bits along the axis up to the one that tells the halves apart, as all
/// are that accesses, products and conversions have. Guarantees that threads and slots which differ
/// in none of the plan's bits hold the same coordinates along the axis within the group.
#include "layout/layout.h"

static unsigned log2_of(uint32_t n)
{
    unsigned bits = 0;
    while (n >> bits > 1)
        bits++;
    return bits;
}

/// Bits of an element's number below those of the axis.
static unsigned inner_bits(const Type *block, unsigned axis)
{
    unsigned bits = 0;
    for (unsigned k = axis + 1; k < block->rank; k++)
        bits += log2_of((uint32_t)block->shape[k]);
    return bits;
}

static unsigned count_bits(uint32_t x)
{
    unsigned count = 0;
    for (; x; x &= x - 1)
        count++;
    return count;
}

CarryPlan layout_plan_carry(const Layout *l, const Type *block, unsigned axis, unsigned bit)
{
    const unsigned first = inner_bits(block, axis);
    const uint32_t half = 1u << (first + bit), low = half - (1u << first);
    CarryPlan plan = { .ok = true };
    uint32_t found = 0;
    for (unsigned k = 0; k < layout_in_bits(l); k++) {
        const uint32_t basis = l->basis[k], own = basis & (half | low);
        if (!own)
            continue;
        plan.ok = plan.ok && own == basis && count_bits(basis) == 1 && !(found & basis);
        found |= own;
        uint32_t *mask = k < l->reg_bits ? (own == half ? &plan.reg_half : &plan.reg_low)
                                         : (own == half ? &plan.thread_half : &plan.thread_low);
        *mask |= 1u << (k < l->reg_bits ? k : k - l->reg_bits);
    }
    plan.ok = plan.ok && found == (half | low);
    plan.parts = 1u << (l->reg_bits - count_bits(plan.reg_half | plan.reg_low));
    if ((plan.thread_half | plan.thread_low) >> LAYOUT_LANE_BITS)
        plan.scratch_elems = plan.parts * layout_threads(l);
    return plan;
}
