/// layout_cases.h - the layouts that test_layout, test_convert and test_reduce_plan enumerate.
///
/// Blocks of 1 to 4096 elements in one dimension, up to 64 x 128 in two and three, both orders,
/// groups of 1 to 16 elements, 1 to 32 warps.
#ifndef NEWT_TESTS_LAYOUT_CASES_H
#define NEWT_TESTS_LAYOUT_CASES_H
#include "layout/layout.h"

typedef struct LayoutCx {
    Arena arena;
    TypeTable *types;
    LayoutTable *layouts;
} LayoutCx;

static inline void layout_cx_begin(LayoutCx *cx)
{
    *cx = (LayoutCx){ .types = NULL };
    cx->types = type_table_new(&cx->arena);
    cx->layouts = layout_table_new(&cx->arena);
}

static const struct {
    unsigned rank;
    int32_t shape[3];
} block_cases[] = {
    { 1, { 1 } },         { 1, { 2 } },         { 1, { 32 } },     { 1, { 64 } },
    { 1, { 256 } },       { 1, { 1024 } },      { 1, { 4096 } },   { 2, { 1, 64 } },
    { 2, { 64, 1 } },     { 2, { 4, 8 } },      { 2, { 16, 8 } },  { 2, { 32, 32 } },
    { 2, { 32, 128 } },   { 2, { 64, 128 } },   { 2, { 128, 4 } }, { 3, { 2, 4, 8 } },
    { 3, { 16, 4, 32 } }, { 3, { 4, 32, 16 } },
};
enum { BLOCK_CASE_COUNT = sizeof block_cases / sizeof block_cases[0] };

static inline const Type *block_case(LayoutCx *cx, unsigned i)
{
    return type_block(cx->types, type_scalar(cx->types, SCALAR_F32), block_cases[i].rank,
                      block_cases[i].shape);
}

static const uint8_t first_axis_fastest[3] = { 0, 1, 2 };

/// The layouts tried for one block: 5 group sizes x 2 orders x 4 warp counts.
enum { LAYOUT_CASE_COUNT = 40 };
static inline const Layout *layout_case(LayoutCx *cx, const Type *block, unsigned i)
{
    static const uint8_t warp_bits[4] = { 0, 1, 2, 5 };
    const uint8_t *order = i & 1 ? first_axis_fastest : NULL;
    return layout_group_cyclic(cx->layouts, block, order, 1u << (i >> 1) % 5, warp_bits[i / 10]);
}

#endif
