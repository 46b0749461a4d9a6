/// reduce.c - which stages a reduction along an axis needs.
///
/// Input bits whose basis vector lies in the axis are combined, those outside it are kept, and
/// replication is left alone: combining replicas would count an element several times.
#include "layout/layout.h"
#include "layout/layout_impl.h"

/// Whether input bit k must be combined; false in *pure when its vector mixes the axis with others.
static bool combines(const Layout *l, unsigned k, uint32_t axis, Gf2Span *seen, bool *pure)
{
    const uint32_t vector = l->basis[k];
    if ((vector & axis) == 0)
        return false;
    if ((vector & ~axis) != 0) {
        *pure = false;
        return false;
    }
    // A vector that lower bits make already is replication.
    return layout_gf2_add(seen, vector, 0);
}

const ReducePlan *layout_plan_reduce(LayoutTable *t, const Layout *l, const Type *block,
                                     unsigned axis)
{
    Arena *a = layout_arena(t);
    ReducePlan *plan = ARENA_NEW(a, ReducePlan);
    Gf2Span seen = { 0 };
    bool pure = true;
    unsigned low;
    const unsigned bits = layout_axis_bits(block, axis, &low);
    const uint32_t mask = ((UINT32_C(1) << bits) - 1) << low;

    plan->idle = layout_replicated_threads(l);
    for (unsigned k = 0; k < layout_in_bits(l); k++) {
        if (!combines(l, k, mask, &seen, &pure))
            continue;
        const unsigned thread_bit = k - l->reg_bits;
        if (k < l->reg_bits) {
            plan->reg_mask |= UINT32_C(1) << k;
        } else if (thread_bit < LAYOUT_LANE_BITS) {
            plan->lane_bits[plan->lane_count++] = (uint8_t)thread_bit;
            plan->idle |= UINT32_C(1) << thread_bit;
        } else {
            plan->warp_bits[plan->warp_count++] = (uint8_t)(thread_bit - LAYOUT_LANE_BITS);
        }
    }
    if (!pure)
        return NULL;

    uint16_t *regs = ARENA_NEW_N(a, uint16_t, layout_regs(l));
    plan->result = layout_slice(t, l, block, axis, regs);
    plan->result_reg = regs;
    if (plan->warp_count > 0)
        plan->scratch_elems = UINT32_C(1) << (plan->result->elem_bits + plan->warp_count);
    return plan;
}
