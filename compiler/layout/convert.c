/// convert.c - the cheapest way from one layout to another.
///
/// The planner looks for a linear map from each place of the new layout to a place of the old one
/// that holds the same element, staying in the thread if it can, else in the warp. Where neither
/// works, or the shuffles would cost more than a trip through shared memory, warp.c plans a trip
/// within each warp, swizzle.c one of all threads.
#include "layout/layout.h"
#include "layout/layout_impl.h"
#include <assert.h>

enum {
    MAX_SHUFFLES = 8,  ///< beyond this many warp shuffles shared memory is cheaper
    MAX_SELECTS = 32,  ///< likewise for selects of the register that a lane sends
};

/// Spans of the old layout's places: this thread's slots alone, and with the warp's lanes.
typedef struct Places {
    const Layout *src;
    Gf2Span slots, lanes;
} Places;

static void places_of(const Layout *src, Places *p)
{
    *p = (Places){ .src = src };
    for (unsigned k = 0; k < src->reg_bits + (unsigned)LAYOUT_LANE_BITS; k++) {
        if (k < src->reg_bits)
            layout_gf2_add(&p->slots, src->basis[k], UINT32_C(1) << k);
        layout_gf2_add(&p->lanes, src->basis[k], UINT32_C(1) << k);
    }
}

/// The old place (slot | thread << src->reg_bits) for one basis vector of the new layout: for slots
/// `own` is 0, for thread bit k it is that bit of the old input. Prefers the same lane.
static bool find_place(const Places *p, uint32_t element, uint32_t own, uint32_t *place)
{
    const uint32_t moved = element ^ layout_gf2_apply(p->src->basis, own);
    if (layout_gf2_solve(&p->slots, moved, place)) {
        *place ^= own;
        return true;
    }
    const uint32_t own_warp = own >> (p->src->reg_bits + LAYOUT_LANE_BITS);
    if (own_warp == 0)
        return layout_gf2_solve(&p->lanes, element, place);
    if (!layout_gf2_solve(&p->lanes, moved, place))
        return false;
    *place ^= own;
    return true;
}

/// A map from new places to old ones that never leaves the warp; NULL when there is none.
static const Layout *place_map(LayoutTable *t, const Layout *src, const Layout *dst)
{
    Places places;
    places_of(src, &places);
    Layout map = { .reg_bits = dst->reg_bits, .warp_bits = dst->warp_bits };
    map.elem_bits = (uint8_t)layout_in_bits(src);
    for (unsigned k = 0; k < layout_in_bits(dst); k++) {
        const uint32_t own =
            k < dst->reg_bits ? 0 : UINT32_C(1) << (k - dst->reg_bits + src->reg_bits);
        if (!find_place(&places, dst->basis[k], own, &map.basis[k]))
            return NULL;
    }
    return layout_intern(t, &map);
}

/// Splits the map into what each lane sends and whence each lane reads. False when two readers of
/// one lane would want different slots in one round.
static bool split_rounds(const Layout *src, const Layout *dst, ConvertPlan *plan)
{
    const Layout *map = plan->src_of_dst;
    const uint32_t slot_mask = layout_regs(src) - 1, lane_mask = 31;
    const uint32_t *of_thread = map->basis + dst->reg_bits;
    Gf2Span lanes = { 0 };  // source lane -> slot, as far as readers ask

    for (unsigned k = 0; k < LAYOUT_LANE_BITS; k++) {
        const uint32_t slot = of_thread[k] & slot_mask;
        const uint32_t lane = of_thread[k] >> src->reg_bits & lane_mask;
        uint32_t known;
        if (!layout_gf2_add(&lanes, lane, slot) && layout_gf2_solve(&lanes, lane, &known) &&
            known != slot)
            return false;
        plan->lane_flip[k] = (uint16_t)lane;
    }
    // Lanes that nobody reads may send anything: they complete the map.
    for (unsigned k = 0; k < LAYOUT_LANE_BITS; k++)
        layout_gf2_add(&lanes, UINT32_C(1) << k, 0);
    for (unsigned k = 0; k < LAYOUT_LANE_BITS; k++) {
        uint32_t slot;
        layout_gf2_solve(&lanes, UINT32_C(1) << k, &slot);
        plan->send_flip[k] = (uint16_t)slot;
    }
    return true;
}

/// The slot that a lane adds to the round's slot, for lanes that readers reach.
static uint32_t sent_by(const ConvertPlan *plan, uint32_t lane)
{
    uint32_t slot = 0;
    for (unsigned k = 0; k < LAYOUT_LANE_BITS; k++) {
        if (lane >> k & 1)
            slot ^= plan->send_flip[k];
    }
    return slot;
}

static void fill_rounds(Arena *a, const Layout *src, const Layout *dst, ConvertPlan *plan)
{
    const Layout *map = plan->src_of_dst;
    const uint32_t slot_mask = layout_regs(src) - 1;
    plan->rounds = layout_regs(dst);
    plan->reg_from = ARENA_NEW_N(a, uint16_t, plan->rounds);
    plan->lane_from = ARENA_NEW_N(a, uint16_t, plan->rounds);
    for (uint32_t r = 0; r < plan->rounds; r++) {
        const uint32_t place = layout_reg_part(map, r);
        const uint32_t lane = place >> src->reg_bits & 31;
        plan->lane_from[r] = (uint16_t)lane;
        plan->reg_from[r] = (uint16_t)((place & slot_mask) ^ sent_by(plan, lane));
    }
    for (unsigned k = LAYOUT_LANE_BITS; k < LAYOUT_LANE_BITS + (unsigned)dst->warp_bits; k++) {
        const uint32_t place = map->basis[dst->reg_bits + k];
        const uint32_t lane = place >> src->reg_bits & 31;
        plan->lane_flip[k] = (uint16_t)lane;
        plan->send_flip[k] = (uint16_t)((place & slot_mask) ^ sent_by(plan, lane));
    }
}

/// Sorts a plan with filled rounds into FREE, REGS or SHUFFLE. False: shared memory is cheaper.
static bool classify(const Layout *src, const Layout *dst, unsigned elem_bytes, ConvertPlan *plan)
{
    bool free_move = src->reg_bits == dst->reg_bits;
    plan->same_lane = true;
    for (uint32_t r = 0; r < plan->rounds; r++) {
        free_move = free_move && plan->reg_from[r] == r;
        plan->same_lane = plan->same_lane && plan->lane_from[r] == 0;
    }
    unsigned flips = 0;
    for (unsigned k = 0; k < LAYOUT_LANE_BITS + (unsigned)dst->warp_bits; k++) {
        flips += plan->send_flip[k] != 0;
        const unsigned own = k < LAYOUT_LANE_BITS ? 1u << k : 0;
        plan->same_lane = plan->same_lane && plan->lane_flip[k] == own;
    }
    if (plan->same_lane && flips == 0) {
        plan->kind = free_move ? CONVERT_FREE : CONVERT_REGS;
        return true;
    }
    plan->kind = CONVERT_SHUFFLE;
    const uint32_t shuffles = plan->same_lane ? 0 : plan->rounds * ((elem_bytes + 3) / 4);
    return shuffles <= MAX_SHUFFLES && plan->rounds * ((UINT32_C(1) << flips) - 1) <= MAX_SELECTS;
}

const ConvertPlan *layout_plan_convert(LayoutTable *t, const Layout *src, const Layout *dst,
                                       unsigned elem_bytes)
{
    assert(src->elem_bits == dst->elem_bits && src->warp_bits == dst->warp_bits);
    assert(layout_is_surjective(src));
    Arena *a = layout_arena(t);
    ConvertPlan *plan = ARENA_NEW(a, ConvertPlan);
    plan->src_of_dst = place_map(t, src, dst);
    if (plan->src_of_dst != NULL && split_rounds(src, dst, plan)) {
        fill_rounds(a, src, dst, plan);
        if (classify(src, dst, elem_bytes, plan))
            return plan;
    }
    plan = ARENA_NEW(a, ConvertPlan);
    if (layout_plan_warp(t, src, dst, elem_bytes, plan))
        return plan;
    plan = ARENA_NEW(a, ConvertPlan);
    layout_plan_shared(t, src, dst, elem_bytes, plan);
    return plan;
}
