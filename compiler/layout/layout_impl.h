/// layout_impl.h - vectors over GF(2), shared by the files of this folder.
///
/// A vector is a uint32_t, addition is XOR. A Gf2Span grows an independent set and remembers of
/// which inputs each member is the sum, so that it can also solve.
#ifndef NEWT_LAYOUT_LAYOUT_IMPL_H
#define NEWT_LAYOUT_LAYOUT_IMPL_H
#include "layout/layout.h"

typedef struct Gf2Span {
    unsigned rank;
    uint32_t value[32];   ///< by leading bit; 0: no member with that leading bit
    uint32_t inputs[32];  ///< the inputs whose sum value[] is
} Gf2Span;

/// Adds `value`, made of `inputs`. False when it is a sum of members already.
bool layout_gf2_add(Gf2Span *s, uint32_t value, uint32_t inputs);
/// Finds inputs whose sum is `value`; false when there are none. Linear in `value`.
bool layout_gf2_solve(const Gf2Span *s, uint32_t value, uint32_t *inputs);
/// The XOR of basis[k] over the set bits k of `bits`.
uint32_t layout_gf2_apply(const uint32_t *basis, uint32_t bits);

/// log2 of a power of two.
unsigned layout_log2(uint32_t v);
/// The bits of `v` under the set bits of `mask`, moved together to the low end.
uint32_t layout_gather_bits(uint32_t v, uint32_t mask);
Arena *layout_arena(LayoutTable *t);

struct ConvertPlan;
/// Plans an exchange within warps (warp.c); false where elements leave their warps.
bool layout_plan_warp(LayoutTable *t, const Layout *src, const Layout *dst, unsigned elem_bytes,
                      struct ConvertPlan *plan);

/// Extra wavefronts of one access of `vec` elements a lane, without the lanes of `idle`.
uint8_t layout_conflicts(const struct ConvertPlan *plan, const Layout *l, unsigned elem_bytes,
                         unsigned vec, uint32_t idle);
/// What swizzle.c decides about a trip through shared memory (fields as in ConvertPlan).
void layout_plan_shared(LayoutTable *t, const Layout *src, const Layout *dst, unsigned elem_bytes,
                        struct ConvertPlan *plan);

#endif
