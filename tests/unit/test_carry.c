// test_carry.c - which slots and threads are the halves of a group of elements along an axis.
//
// The plan is held against layout_element: of every holder of an element the neighbour in the other half must be held
// by the thread and slot that the plan's bits lead to.
#include "layout/layout.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct CarryCase {
    const char *name;
    Layout layout;
    int32_t shape[2];
    unsigned axis, bit;
    CarryPlan want;
} CarryCase;

// A thread has 4 elements of a row of 512, and 2 rows; lanes and 2 bits of warps the rest of the row, one bit of warps
// none: it replicates.
#define ROWS { .reg_bits = 3, .warp_bits = 3, .elem_bits = 10, .basis = { 1, 2, 512, 4, 8, 16, 32, 64, 128, 256, 0 } }

static const CarryCase cases[] = {
    { "slots", ROWS, { 2, 512 }, 1, 1, { true, 2, 1, 0, 0, 2, 0 } },
    { "lanes", ROWS, { 2, 512 }, 1, 4, { true, 0, 3, 4, 3, 2, 0 } },
    { "warps", ROWS, { 2, 512 }, 1, 8, { true, 0, 3, 64, 63, 2, 512 } },
    { "the_other_axis", ROWS, { 2, 512 }, 0, 0, { true, 4, 0, 0, 0, 4, 0 } },
    { "mixed_bits", { .reg_bits = 1, .elem_bits = 6, .basis = { 1, 3, 4, 8, 16, 32 } }, { 1, 64 }, 1, 1,
      { false, 0, 0, 0, 0, 0, 0 } },
};

static uint32_t with(uint32_t x, uint32_t mask, uint32_t set)
{
    return (x & ~mask) | set;
}

/// In the upper half the neighbour's coordinate is the last one of the lower half.
static void check_neighbours(const CarryCase *c, const CarryPlan *p)
{
    const uint32_t inner = c->axis == 1 ? 1 : (uint32_t)c->shape[1], extent = (uint32_t)c->shape[c->axis];
    const uint32_t half = 1u << c->bit;
    for (uint32_t reg = 0; reg < layout_regs(&c->layout); reg++)
        for (uint32_t thread = 0; thread < layout_threads(&c->layout); thread++) {
            const uint32_t element = layout_element(&c->layout, reg, thread), at = element / inner % extent;
            const uint32_t from = layout_element(&c->layout, with(reg, p->reg_half | p->reg_low, p->reg_low),
                                                 with(thread, p->thread_half | p->thread_low, p->thread_low));
            if (at & half)
                assert_int_equal(from, element - at * inner + ((at & -half) - 1) * inner);
        }
}

static void plan(void **state)
{
    const CarryCase *c = *state;
    Arena a = { 0 };
    TypeTable *types = type_table_new(&a);
    const Type *block = type_block(types, type_scalar(types, SCALAR_F32), 2, c->shape);
    const CarryPlan p = layout_plan_carry(&c->layout, block, c->axis, c->bit);
    assert_int_equal(p.ok, c->want.ok);
    if (p.ok) {
        assert_int_equal(p.reg_half, c->want.reg_half);
        assert_int_equal(p.reg_low, c->want.reg_low);
        assert_int_equal(p.thread_half, c->want.thread_half);
        assert_int_equal(p.thread_low, c->want.thread_low);
        assert_int_equal(p.parts, c->want.parts);
        assert_int_equal(p.scratch_elems, c->want.scratch_elems);
        check_neighbours(c, &p);
    }
    arena_free(&a);
}

int main(void)
{
    struct CMUnitTest tests[sizeof cases / sizeof *cases];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        tests[i] = (struct CMUnitTest){ cases[i].name, plan, NULL, NULL, (void *)(uintptr_t)&cases[i] };
    return cmocka_run_group_tests_name("carry", tests, NULL, NULL);
}
