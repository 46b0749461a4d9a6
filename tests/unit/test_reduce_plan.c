/// test_reduce_plan.c - reduction plans, carried out by simulation.
///
/// Values are sets of elements (a bit each) beside a hash that depends on the order of combination
/// the way rounding does: commutative, not associative. Equal hashes mean equal bits.
#include "layout_cases.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

typedef struct Sum {
    uint64_t elements;  ///< sum of element numbers + 1: tells double counting
    uint64_t order;
} Sum;

static Sum combine(Sum a, Sum b)
{
    return (Sum){ a.elements + b.elements,
                  (a.order + b.order) * 0x9e3779b97f4a7c15u ^ (a.order * b.order >> 7) };
}

/// The three stages of layout.h's contract; results at [thread * result slots + slot].
static Sum *simulate(Arena *a, const ReducePlan *plan, const Layout *l)
{
    const uint32_t threads = layout_threads(l), slots = layout_regs(plan->result);
    Sum *now = ARENA_NEW_N(a, Sum, threads * slots), *next = ARENA_NEW_N(a, Sum, threads * slots);
    for (uint32_t t = 0; t < threads; t++) {
        for (uint32_t s = 0; s < slots; s++) {
            Sum *sum = &now[t * slots + s];
            assert_int_equal(plan->result_reg[s] & plan->reg_mask, 0);
            for (uint32_t sub = plan->reg_mask;; sub = (sub - 1) & plan->reg_mask) {
                const uint32_t e = layout_element(l, plan->result_reg[s] | sub, t);
                const Sum one = { e + 1, (e + 1) * 0xda942042e4dd58b5u };
                *sum = sub == plan->reg_mask ? one : combine(*sum, one);
                if (sub == 0)
                    break;
            }
        }
    }
    for (unsigned i = 0; i < plan->lane_count; i++) {
        for (uint32_t t = 0; t < threads; t++) {
            for (uint32_t s = 0; s < slots; s++)
                next[t * slots + s] =
                    combine(now[t * slots + s], now[(t ^ 1u << plan->lane_bits[i]) * slots + s]);
        }
        memcpy(now, next, sizeof *now * threads * slots);
    }
    if (plan->warp_count == 0)
        return now;
    Sum *scratch = ARENA_NEW_N(a, Sum, plan->scratch_elems);
    for (uint32_t t = 0; t < threads; t++) {
        for (uint32_t s = 0; s < slots && (t & plan->idle) == 0; s++) {
            uint32_t w = 0;
            for (unsigned i = 0; i < plan->warp_count; i++)
                w |= (t >> (5 + plan->warp_bits[i]) & 1) << i;
            const uint32_t at = layout_element(plan->result, s, t) << plan->warp_count | w;
            assert_in_range(at, 0, plan->scratch_elems - 1);
            assert_int_equal(scratch[at].elements, 0);
            scratch[at] = now[t * slots + s];
        }
    }
    for (uint32_t t = 0; t < threads; t++) {
        for (uint32_t s = 0; s < slots; s++) {
            const Sum *from = &scratch[layout_element(plan->result, s, t) << plan->warp_count];
            now[t * slots + s] = from[0];
            for (uint32_t w = 1; w < 1u << plan->warp_count; w++)
                now[t * slots + s] = combine(now[t * slots + s], from[w]);
        }
    }
    return now;
}

static void check_reduce(LayoutTable *layouts, const Layout *l, const Type *block, unsigned axis)
{
    Arena a = { 0 };
    const ReducePlan *plan = layout_plan_reduce(layouts, l, block, axis);
    assert_non_null(plan);
    assert_ptr_equal(plan->result, layout_slice(layouts, l, block, axis, NULL));
    const Sum *got = simulate(&a, plan, l);

    uint32_t inner = 1;
    for (unsigned k = axis + 1; k < block->rank; k++)
        inner *= (uint32_t)block->shape[k];
    const uint32_t extent = (uint32_t)block->shape[axis];
    uint64_t *want = ARENA_NEW_N(&a, uint64_t, block->numel / extent);
    uint64_t *order = ARENA_NEW_N(&a, uint64_t, block->numel / extent);
    for (uint32_t e = 0; e < block->numel; e++)
        want[e / (inner * extent) * inner + e % inner] += e + 1;

    const uint32_t slots = layout_regs(plan->result);
    for (uint32_t i = 0; i < layout_threads(l) * slots; i++) {
        const uint32_t e = layout_element(plan->result, i % slots, i / slots);
        assert_int_equal(got[i].elements, want[e]);
        if (order[e] == 0)
            order[e] = got[i].order;
        assert_int_equal(got[i].order, order[e]);
    }
    arena_free(&a);
}

static void test_every_axis(void **state)
{
    (void)state;
    LayoutCx cx;
    layout_cx_begin(&cx);
    for (unsigned b = 0; b < BLOCK_CASE_COUNT; b++) {
        const Type *block = block_case(&cx, b);
        for (unsigned n = 0; n < LAYOUT_CASE_COUNT * block->rank; n++)
            check_reduce(cx.layouts, layout_case(&cx, block, n / block->rank), block,
                         n % block->rank);
    }
    arena_free(&cx.arena);
}

/// A reduction of a reduction starts from a replicated slice.
static void test_sum_of_sum(void **state)
{
    (void)state;
    LayoutCx cx;
    layout_cx_begin(&cx);
    for (unsigned b = 7; b < BLOCK_CASE_COUNT; b++) {
        const Type *block = block_case(&cx, b);
        for (unsigned n = 0; n < LAYOUT_CASE_COUNT * block->rank; n++) {
            const unsigned axis = n % block->rank;
            int32_t shape[3];
            for (unsigned k = 0, to = 0; k < block->rank; k++) {
                if (k != axis)
                    shape[to++] = block->shape[k];
            }
            const Type *sum = type_block(cx.types, block->elem, block->rank - 1u, shape);
            const Layout *l = layout_case(&cx, block, n / block->rank);
            check_reduce(cx.layouts, layout_slice(cx.layouts, l, block, axis, NULL), sum, 0);
        }
    }
    arena_free(&cx.arena);
}

/// Only the stages that the layout needs.
static void test_stages(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int32_t shape[2];
        unsigned vec, warp_bits, axis;
        uint32_t regs;
        unsigned lanes, warps;
        uint32_t scratch;
    } cases[] = {
        { "row_1024_in_8_warps", { 1, 1024 }, 4, 3, 1, 3, 5, 3, 8 },
        { "row_16384_in_32_warps", { 1, 16384 }, 4, 5, 1, 15, 5, 5, 32 },
        { "row_in_a_quad", { 64, 16 }, 4, 2, 1, 3, 2, 0, 0 },
        { "column_across_warps", { 64, 16 }, 4, 2, 0, 4, 3, 2, 64 },
        { "row_in_slots_only", { 128, 4 }, 4, 2, 1, 3, 0, 0, 0 },
        { "smaller_than_the_threads", { 1, 64 }, 4, 3, 1, 3, 4, 0, 0 },
    };
    LayoutCx cx;
    layout_cx_begin(&cx);
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const Type *block =
            type_block(cx.types, type_scalar(cx.types, SCALAR_F32), 2, cases[i].shape);
        const Layout *l =
            layout_group_cyclic(cx.layouts, block, NULL, cases[i].vec, cases[i].warp_bits);
        const ReducePlan *plan = layout_plan_reduce(cx.layouts, l, block, cases[i].axis);
        print_message("%s\n", cases[i].name);
        assert_int_equal(plan->reg_mask, cases[i].regs);
        assert_int_equal(plan->lane_count, cases[i].lanes);
        assert_int_equal(plan->warp_count, cases[i].warps);
        assert_int_equal(plan->scratch_elems, cases[i].scratch);
    }
    arena_free(&cx.arena);
}

static void test_mixed_axes_are_refused(void **state)
{
    (void)state;
    static const char text[] = "reg=[1];lane=[2,4,9,16,32];warp=[8]";
    LayoutCx cx;
    layout_cx_begin(&cx);
    const int32_t shape[2] = { 8, 8 };
    const Type *block = type_block(cx.types, type_scalar(cx.types, SCALAR_F32), 2, shape);
    const Layout *l = layout_read(cx.layouts, text, sizeof text - 1, 6);
    assert_non_null(l);
    assert_null(layout_plan_reduce(cx.layouts, l, block, 1));
    arena_free(&cx.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_axis),
        cmocka_unit_test(test_sum_of_sum),
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_mixed_axes_are_refused),
    };
    return cmocka_run_group_tests_name("reduce_plan", tests, NULL, NULL);
}
