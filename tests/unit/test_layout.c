/// test_layout.c - the algebra and the constructors, by enumeration.
#include "layout_cases.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

/// Every element has exactly one owner, and the masks say who it is.
static void check_owners(LayoutCx *cx, const Layout *l)
{
    const uint32_t numel = 1u << l->elem_bits, idle = layout_replicated_threads(l);
    uint16_t *owners = ARENA_NEW_N(&cx->arena, uint16_t, numel);
    assert_true(layout_is_surjective(l));
    assert_false(layout_has_replicated_regs(l));
    for (uint32_t thread = 0; thread < layout_threads(l); thread++) {
        for (uint32_t reg = 0; reg < layout_regs(l); reg++) {
            const uint32_t e = layout_element(l, reg, thread);
            assert_in_range(e, 0, numel - 1);
            owners[e] = (uint16_t)(owners[e] + ((thread & idle) == 0));
        }
    }
    for (uint32_t e = 0; e < numel; e++) {
        uint32_t reg, thread;
        assert_int_equal(owners[e], 1);
        assert_true(layout_owner_of(l, e, &reg, &thread));
        assert_int_equal(layout_element(l, reg, thread), e);
        assert_int_equal(thread & idle, 0);
    }
}

/// The documented formula, in plain integer arithmetic.
static void check_group_cyclic(const Layout *l, const Type *block, bool first_fastest, unsigned vec)
{
    const uint32_t threads = layout_threads(l);
    for (uint32_t i = 0; i < block->numel; i++) {
        uint32_t coordinates[3] = { 0 }, rest = i, element = 0;
        for (unsigned k = 0; k < block->rank; k++) {
            const unsigned axis = first_fastest ? k : block->rank - 1u - k;
            coordinates[axis] = rest % (uint32_t)block->shape[axis];
            rest /= (uint32_t)block->shape[axis];
        }
        for (unsigned axis = 0; axis < block->rank; axis++)
            element = element * (uint32_t)block->shape[axis] + coordinates[axis];
        const uint32_t thread = i / vec % threads;
        const uint32_t slot = i / (threads * vec) * vec + i % vec;
        assert_int_equal(layout_element(l, slot, thread), element);
    }
}

static void test_group_cyclic(void **state)
{
    (void)state;
    LayoutCx cx;
    layout_cx_begin(&cx);
    for (unsigned b = 0; b < BLOCK_CASE_COUNT; b++) {
        const Type *block = block_case(&cx, b);
        for (unsigned i = 0; i < LAYOUT_CASE_COUNT; i++) {
            const Layout *l = layout_case(&cx, block, i);
            check_owners(&cx, l);
            check_group_cyclic(l, block, i & 1, 1u << (i >> 1) % 5);
            assert_ptr_equal(l, layout_case(&cx, block, i));
        }
    }
    arena_free(&cx.arena);
}

/// A slice or unbroadcast holds, in each thread, the elements without the axis's coordinate.
static void test_slices(void **state)
{
    (void)state;
    LayoutCx cx;
    layout_cx_begin(&cx);
    for (unsigned b = 0; b < BLOCK_CASE_COUNT; b++) {
        const Type *block = block_case(&cx, b);
        for (unsigned n = 0; n < LAYOUT_CASE_COUNT * block->rank; n++) {
            const Layout *l = layout_case(&cx, block, n / block->rank);
            const unsigned axis = n % block->rank;
            uint32_t inner = 1;
            for (unsigned k = axis + 1; k < block->rank; k++)
                inner *= (uint32_t)block->shape[k];
            const uint32_t extent = (uint32_t)block->shape[axis];

            uint16_t to_old[4096], to_new[4096];
            int32_t shape[3] = { block->shape[0], block->shape[1], block->shape[2] };
            shape[axis] = 1;
            const Type *thin = type_block(cx.types, block->elem, block->rank, shape);
            const Layout *slice = layout_slice(cx.layouts, l, block, axis, to_old);
            assert_ptr_equal(slice, layout_unbroadcast(cx.layouts, l, block, thin, to_new));
            check_owners(&cx, slice);
            for (uint32_t t = 0; t < layout_threads(l); t += 7) {
                for (uint32_t r = 0; r < layout_regs(slice); r++) {
                    const uint32_t e = layout_element(l, to_old[r], t);
                    assert_int_equal(layout_element(slice, r, t),
                                     e / (inner * extent) * inner + e % inner);
                }
                for (uint32_t r = 0; r < layout_regs(l); r++) {
                    const uint32_t e = layout_element(l, r, t);
                    assert_int_equal(layout_element(slice, to_new[r], t),
                                     e / (inner * extent) * inner + e % inner);
                }
            }
        }
    }
    arena_free(&cx.arena);
}

static void test_transposes(void **state)
{
    (void)state;
    static const uint8_t perms[][3] = { { 1, 0, 2 }, { 1, 2, 0 }, { 2, 1, 0 }, { 0, 2, 1 } };
    LayoutCx cx;
    layout_cx_begin(&cx);
    const int32_t shape[3] = { 4, 32, 16 };
    const Type *block = type_block(cx.types, type_scalar(cx.types, SCALAR_F32), 3, shape);
    for (unsigned n = 0; n < LAYOUT_CASE_COUNT * 4; n++) {
        const Layout *l = layout_case(&cx, block, n / 4);
        const uint8_t *perm = perms[n % 4];
        const Layout *moved = layout_trans(cx.layouts, l, block, perm);
        assert_ptr_equal(l, layout_untrans(cx.layouts, moved, block, perm));
        for (uint32_t t = 0; t < layout_threads(l); t++) {
            const uint32_t e = layout_element(l, 0, t);
            const uint32_t at[3] = { e / 512, e / 16 % 32, e % 16 };
            const uint32_t want =
                (at[perm[0]] * (uint32_t)shape[perm[1]] + at[perm[1]]) * (uint32_t)shape[perm[2]] +
                at[perm[2]];
            assert_int_equal(layout_element(moved, 0, t), want);
        }
    }
    arena_free(&cx.arena);
}

/// Layouts that no constructor makes: dependent vectors, missing elements.
static void test_questions(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned elem_bits;
        uint32_t replicated;
        bool replicated_regs, surjective;
        unsigned rank;
    } cases[] = {
        { "reg=[];lane=[1,2,4,8,16];warp=[]", 5, 0, false, true, 5 },
        { "reg=[1,2];lane=[4,8,16,32,64];warp=[128,0]", 8, 64, false, true, 8 },
        { "reg=[1,1];lane=[2,4,0,0,0];warp=[]", 3, 28, true, true, 3 },
        { "reg=[1];lane=[2,3,4,8,16];warp=[]", 5, 2, false, true, 5 },
        { "reg=[];lane=[1,2,0,0,0];warp=[8]", 4, 28, false, false, 3 },
    };
    LayoutCx cx;
    layout_cx_begin(&cx);
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const Layout *l =
            layout_read(cx.layouts, cases[i].text, strlen(cases[i].text), cases[i].elem_bits);
        assert_non_null(l);
        assert_int_equal(layout_replicated_threads(l), cases[i].replicated);
        assert_int_equal(layout_has_replicated_regs(l), cases[i].replicated_regs);
        assert_int_equal(layout_is_surjective(l), cases[i].surjective);
        assert_int_equal(layout_rank(l), cases[i].rank);
        Buf out = { 0 };
        layout_print(&out, l);
        assert_string_equal(out.at, cases[i].text);
        buf_free(&out);
    }
    arena_free(&cx.arena);
}

static void test_text_faults(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "reg=[]",
        "reg=[];lane=[1,2,4,8];warp=[]",
        "reg=[];lane=[1,2,4,8,16];warp=[32]",
        "reg=[];lane=[1,2,4,8,16];warp=[];",
        "reg=[x];lane=[1,2,4,8,16];warp=[]",
        "reg=[1,];lane=[1,2,4,8,16];warp=[]",
        "reg=[];lane=[1,2,4,8,16,0];warp=[]",
        "reg=[];lane=[1,2,4,8,16];warp=[0,0,0,0,0,0]",
        "reg=[];lane=[1,2,4,8,99999999999];warp=[]",
    };
    LayoutCx cx;
    layout_cx_begin(&cx);
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_null(layout_read(cx.layouts, bad[i], strlen(bad[i]), 5));
    arena_free(&cx.arena);
}

static void test_same_owners(void **state)
{
    (void)state;
    LayoutCx cx;
    layout_cx_begin(&cx);
    const Type *block = block_case(&cx, 5);
    const Layout *by_four = layout_group_cyclic(cx.layouts, block, NULL, 4, 2);
    assert_true(layout_same_owners(by_four, by_four));
    assert_false(layout_same_owners(by_four, layout_group_cyclic(cx.layouts, block, NULL, 1, 2)));
    arena_free(&cx.arena);
}

/// Slots 0 to 31 of a large enough block are 8 neighbours along one axis by 4 along the other.
static void test_turned(void **state)
{
    (void)state;
    LayoutCx cx;
    layout_cx_begin(&cx);
    for (unsigned b = 0; b < BLOCK_CASE_COUNT; b++) {
        const Type *block = block_case(&cx, b);
        for (unsigned from = 0; from < 2 && block->rank == 2; from++) {
            const Layout *l = layout_turned(cx.layouts, block, from, 1 - from, 2);
            check_owners(&cx, l);
            if (block->shape[from] < 8 || block->shape[1 - from] < 4)
                continue;
            for (uint32_t slot = 0; slot < 32; slot++) {
                const uint32_t along = from == 1 ? slot % 8 : slot / 8,
                               down = from == 1 ? slot / 8 : slot % 8;
                assert_int_equal(layout_reg_part(l, slot),
                                 down * (uint32_t)block->shape[1] + along);
            }
        }
    }
    arena_free(&cx.arena);
}

static void test_picture(void **state)
{
    (void)state;
    LayoutCx cx;
    layout_cx_begin(&cx);
    const Type *block = block_case(&cx, 9);
    Buf out = { 0 };
    layout_draw_svg(&out, layout_group_cyclic(cx.layouts, block, NULL, 2, 0), block,
                    "4 x 8 & more");
    unsigned cells = 0;
    for (const char *at = out.at; (at = strstr(at, "<rect")) != NULL; at++)
        cells++;
    assert_int_equal(cells, 32);
    assert_non_null(strstr(out.at, ">15:1<"));
    assert_non_null(strstr(out.at, "4 x 8 &amp; more"));
    assert_null(strstr(out.at, ">16:"));
    buf_free(&out);
    arena_free(&cx.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_group_cyclic), cmocka_unit_test(test_slices),
        cmocka_unit_test(test_transposes),   cmocka_unit_test(test_questions),
        cmocka_unit_test(test_text_faults),  cmocka_unit_test(test_same_owners),
        cmocka_unit_test(test_turned),       cmocka_unit_test(test_picture),
    };
    return cmocka_run_group_tests_name("layout", tests, NULL, NULL);
}
