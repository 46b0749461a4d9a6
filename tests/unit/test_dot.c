/// test_dot.c - layouts of matrix products: sums against the formulas of PTX's manual, factors in
/// shared memory, which instruction is chosen.
#include "layout/layout.h"
#include "passes/pass.h"
#include "target/mma.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

typedef struct Cx {
    Arena arena;
    TypeTable *types;
    LayoutTable *layouts;
    SymTable syms;
} Cx;

static void begin(Cx *cx)
{
    *cx = (Cx){ .types = NULL };
    cx->types = type_table_new(&cx->arena);
    cx->layouts = layout_table_new(&cx->arena);
    cx->syms.arena = &cx->arena;
}

static const Type *block(Cx *cx, ScalarKind kind, int32_t batch, int32_t rows, int32_t columns)
{
    const int32_t shape[3] = { batch, rows, columns };
    return type_block(cx->types, type_scalar(cx->types, kind), batch > 1 ? 3 : 2,
                      batch > 1 ? shape : shape + 1);
}

static const struct {
    int32_t batch, rows, columns;
} sums[] = {
    { 1, 16, 8 },   { 1, 16, 16 },   { 1, 32, 8 },  { 1, 64, 64 }, { 1, 128, 32 },
    { 1, 16, 128 }, { 1, 128, 256 }, { 4, 16, 32 }, { 2, 32, 8 },  { 16, 16, 8 },
};
static const struct {
    int32_t batch, rows, columns;
} small_sums[] = { { 1, 1, 1 }, { 1, 1, 16 }, { 1, 16, 1 }, { 1, 8, 4 }, { 2, 4, 8 }, { 8, 1, 1 } };

/// Every element has one owner, and no thread holds one twice.
static void check_whole(const Layout *l)
{
    assert_true(layout_is_surjective(l));
    assert_false(layout_has_replicated_regs(l));
}

/// "mma.m16n8k8: row = groupID for c0, c1 and groupID + 8 for c2, c3; column = threadID_in_group *
/// 2 + (i & 1)", groupID = lane / 4, threadID_in_group = lane % 4.
static void accumulators_follow_the_manual(void **state)
{
    (void)state;
    Cx cx;
    begin(&cx);
    for (size_t s = 0; s < sizeof sums / sizeof *sums; s++)
        for (unsigned warp_bits = 0; warp_bits <= 4; warp_bits++) {
            const Type *sum = block(&cx, SCALAR_F32, sums[s].batch, sums[s].rows, sums[s].columns);
            const Layout *l = layout_dot_mma(cx.layouts, sum, warp_bits, 0);
            const uint32_t columns = (uint32_t)sums[s].columns;
            check_whole(l);
            for (uint32_t thread = 0; thread < layout_threads(l); thread++)
                for (uint32_t reg = 0; reg < layout_regs(l); reg++) {
                    const uint32_t e = layout_element(l, reg, thread), lane = thread % 32;
                    assert_int_equal(e % columns % 8, lane % 4 * 2 + reg % 2);
                    assert_int_equal(e / columns % 16, lane / 4 + reg / 2 % 2 * 8);
                    // the tile is the same for all lanes and for the four slots
                    const uint32_t first = layout_element(l, reg / 4 * 4, thread / 32 * 32);
                    assert_int_equal(e % columns / 8, first % columns / 8);
                    assert_int_equal(e / columns / 16, first / columns / 16);
                }
        }
    assert_null(layout_dot_mma(cx.layouts, block(&cx, SCALAR_F32, 1, 8, 32), 2, 0));
    assert_null(layout_dot_mma(cx.layouts, block(&cx, SCALAR_F32, 1, 16, 4), 2, 0));
    arena_free(&cx.arena);
}

/// Accumulator D of wgmma.m64nNk16: warp w of the warpgroup has rows 16 w + lane / 4 and 8 more, columns
/// 8 (i / 4) + 2 (lane % 4) and the next, in register i in order; blocks of 64 rows and up to 256 columns.
static void warpgroups_follow_the_manual(void **state)
{
    (void)state;
    static const struct {
        int32_t rows, columns;
        unsigned warps, wide;  // wide: columns of one instruction; 0: none
    } cases[] = {
        { 64, 64, 4, 64 },   { 128, 256, 8, 256 }, { 128, 256, 4, 256 }, { 64, 256, 8, 128 },
        { 64, 8, 4, 8 },     { 64, 16, 8, 8 },     { 256, 128, 8, 128 }, { 64, 512, 4, 256 },
        { 128, 64, 16, 32 }, { 64, 8, 8, 0 },      { 32, 64, 4, 0 },     { 64, 64, 2, 0 },
        { 256, 256, 4, 0 },
    };
    Cx cx;
    begin(&cx);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Type *sum = block(&cx, SCALAR_F32, 1, cases[i].rows, cases[i].columns);
        const unsigned warps = cases[i].warps, wide = cases[i].wide;
        unsigned warp_bits = 0;
        while (1u << warp_bits < warps)
            warp_bits++;
        assert_int_equal(layout_dot_wgmma_columns(sum, warps, false), wide);
        assert_int_equal(layout_dot_fits_wgmma(sum, warps), wide != 0);
        if (wide == 0)
            continue;
        const Layout *l = layout_dot_wgmma(cx.layouts, sum, warp_bits);
        const uint32_t columns = (uint32_t)cases[i].columns;
        check_whole(l);
        for (uint32_t thread = 0; thread < layout_threads(l); thread++)
            for (uint32_t reg = 0; reg < layout_regs(l); reg++) {
                const uint32_t e = layout_element(l, reg, thread), lane = thread % 32, r = reg % (wide / 2);
                assert_int_equal(e % columns % wide, r / 4 * 8 + lane % 4 * 2 + r % 2);
                assert_int_equal(e / columns % 64, thread / 32 % 4 * 16 + lane / 4 + r / 2 % 2 * 8);
                // the block is the same for all threads of the warpgroup and registers of one instruction
                const uint32_t first = layout_element(l, reg - r, thread / 128 * 128);
                assert_int_equal(e % columns / wide, first % columns / wide);
                assert_int_equal(e / columns / 64, first / columns / 64);
            }
    }
    assert_false(layout_dot_fits_wgmma(block(&cx, SCALAR_F32, 2, 64, 64), 4));
    arena_free(&cx.arena);
}

static void plain_sums_are_whole(void **state)
{
    (void)state;
    Cx cx;
    begin(&cx);
    for (unsigned warp_bits = 0; warp_bits <= 5; warp_bits++) {
        for (size_t s = 0; s < sizeof sums / sizeof *sums; s++)
            check_whole(layout_dot_fma(
                cx.layouts, block(&cx, SCALAR_F32, sums[s].batch, sums[s].rows, sums[s].columns),
                warp_bits));
        for (size_t s = 0; s < sizeof small_sums / sizeof *small_sums; s++)
            check_whole(layout_dot_fma(cx.layouts,
                                       block(&cx, SCALAR_F32, small_sums[s].batch,
                                             small_sums[s].rows, small_sums[s].columns),
                                       warp_bits));
    }
    arena_free(&cx.arena);
}

/// A DOT whose factors lie in group-cyclic layouts, along the first axis when `turned`.
static IrOp *make_dot(Cx *cx, ScalarKind kind, int32_t rows, int32_t inner, int32_t columns,
                      bool turned, unsigned mma)
{
    static const uint8_t first_fastest[] = { 0, 1 };
    IrFunc *fn = ir_func_new(&cx->arena, cx->types, &cx->syms, sym_of(&cx->syms, "f"));
    IrBuilder b = { .fn = fn, .block = fn->body };
    const ScalarKind sum = kind == SCALAR_I8 ? SCALAR_I32 : SCALAR_F32;
    IrValue *args[3] = {
        ir_func_param(fn, sym_of(&cx->syms, "a"), block(cx, kind, 1, rows, inner)),
        ir_func_param(fn, sym_of(&cx->syms, "b"), block(cx, kind, 1, inner, columns)),
        ir_func_param(fn, sym_of(&cx->syms, "c"), block(cx, sum, 1, rows, columns)),
    };
    for (int i = 0; i < 2; i++)
        args[i]->layout =
            layout_group_cyclic(cx->layouts, args[i]->type, turned ? first_fastest : NULL,
                                16 / scalar_info[kind].bytes, 2);
    IrOp *op = ir_op1(&b, IR_DOT, args[2]->type, 3, args)->def;
    op->attr.dot.mma = (uint8_t)mma;
    return op;
}

/// The transposed sum is a sum whose rows and columns changed places, but for the order of a block's 64
/// columns, in which the two elements of a pair are neighbours.
static void transposed_sums(void **state)
{
    (void)state;
    static const struct {
        int32_t rows, columns;
        unsigned warp_bits;
    } shapes[] = { { 128, 256, 3 }, { 64, 64, 2 }, { 256, 128, 3 }, { 8, 128, 3 }, { 64, 64, 3 } };
    Cx cx;
    begin(&cx);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const Type *sum = block(&cx, SCALAR_F32, 1, shapes[i].rows, shapes[i].columns);
        const Type *turned = block(&cx, SCALAR_F32, 1, shapes[i].columns, shapes[i].rows);
        const uint32_t rows = (uint32_t)shapes[i].rows, columns = (uint32_t)shapes[i].columns;
        const Layout *l = layout_dot_wgmma_swapped(cx.layouts, sum, shapes[i].warp_bits);
        const Layout *m = layout_dot_wgmma(cx.layouts, turned, shapes[i].warp_bits);
        check_whole(l);
        assert_int_equal(layout_dot_wgmma_columns(sum, 1u << shapes[i].warp_bits, true),
                         layout_dot_wgmma_columns(turned, 1u << shapes[i].warp_bits, false));
        for (uint32_t thread = 0; thread < layout_threads(l); thread++)
            for (uint32_t reg = 0; reg < layout_regs(l); reg++) {
                const uint32_t e = layout_element(l, reg, thread), f = layout_element(m, reg, thread);
                assert_int_equal(e / columns, f % rows);
                assert_int_equal(e % columns / 64, f / rows / 64);
                // 8 rows further in the instruction is the next column
                assert_int_equal(layout_element(l, reg ^ 2, thread), e ^ 1);
            }
    }
    assert_null(layout_dot_wgmma_swapped(cx.layouts, block(&cx, SCALAR_F32, 1, 64, 32), 2));
    arena_free(&cx.arena);
}

/// K-major factors any type may have, others 16-bit types, if an instruction takes whole rows of a chunk.
static void tiles_that_products_take(void **state)
{
    (void)state;
    static const struct {
        ScalarKind kind;
        int32_t columns;
        unsigned mma, warps, which;
        bool wgmma, inner_fast, wanted;
    } cases[] = {
        { SCALAR_F16, 64, 16, 4, 0, true, false, true },   { SCALAR_F16, 64, 16, 4, 1, true, false, true },
        { SCALAR_F16, 64, 16, 8, 1, true, false, false },  { SCALAR_F16, 64, 16, 8, 1, true, true, true },
        { SCALAR_F16, 128, 16, 8, 1, true, false, true },  { SCALAR_F32, 64, 8, 4, 0, true, false, false },
        { SCALAR_F32, 64, 8, 4, 0, true, true, true },     { SCALAR_F32, 64, 8, 4, 1, false, false, true },
        { SCALAR_F32, 64, 8, 4, 1, true, false, true },    { SCALAR_F32, 32, 8, 4, 1, true, false, false },
        { SCALAR_I8, 64, 32, 4, 1, true, false, false },   { SCALAR_I8, 64, 32, 4, 1, false, false, false },
        { SCALAR_I8, 64, 32, 4, 1, false, true, true },    { SCALAR_I8, 64, 0, 4, 1, false, false, true },
    };
    Cx cx;
    begin(&cx);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        IrOp *dot = make_dot(&cx, cases[i].kind, 64, 64, cases[i].columns, false, cases[i].mma);
        dot->attr.dot.wgmma = cases[i].wgmma;
        assert_int_equal(
            layout_dot_takes_tile(dot, cases[i].which, cases[i].inner_fast, cases[i].warps),
            cases[i].wanted);
    }
    arena_free(&cx.arena);
}

/// Each element has a place of its own; groups of slots are neighbours there; eight rows of 16
/// bytes, as one matrix of ldmatrix reads them, touch every bank once.
static void check_factor(const IrOp *dot, const DotFactor *f, const IrValue *v)
{
    static bool taken[1 << 16];
    const uint32_t bytes = type_elem_bytes(v->type), piece = 16 / bytes;
    memset(taken, 0, sizeof taken);
    for (uint32_t e = 0; e < v->type->numel; e++) {
        const uint32_t at = layout_dot_index(f, e);
        assert_in_range(at, 0, v->type->numel - 1);
        assert_false(taken[at]);
        taken[at] = true;
    }
    for (uint32_t i = 1; i < f->vec; i++) {
        uint32_t slot = 0;
        for (unsigned p = 0; i >> p; p++)
            slot |= (i >> p & 1) << f->slot_bits[p];
        assert_int_equal(layout_dot_index(f, layout_reg_part(v->layout, slot)), i);
    }
    const unsigned fast = f->inner_fast ? f->inner_low : f->outer_low;
    const unsigned fast_bits = f->inner_fast ? f->inner_bits : f->outer_bits;
    const unsigned slow = f->inner_fast ? f->outer_low : f->inner_low;
    if (dot->attr.dot.mma == 0 || (bytes == 4 && !f->inner_fast))
        return;
    for (uint32_t first = 0; first < 1u << fast_bits; first += piece) {
        uint32_t seen = 0;
        for (uint32_t row = 0; row < 8; row++)
            seen |= 1u << layout_dot_index(f, first << fast | row << slow) / piece % 8;
        assert_int_equal(seen, 0xff);
    }
}

static void factors_have_places(void **state)
{
    (void)state;
    static const struct {
        ScalarKind kind;
        unsigned mma;
    } kinds[] = { { SCALAR_F16, 16 }, { SCALAR_F16, 0 }, { SCALAR_F32, 8 },  { SCALAR_F32, 0 },
                  { SCALAR_I8, 32 },  { SCALAR_I8, 0 },  { SCALAR_E4M3, 32 } };
    Cx cx;
    begin(&cx);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int32_t inner = 32; inner <= 128; inner *= 2)
            for (int turned = 0; turned < 2; turned++) {
                const IrOp *dot = make_dot(&cx, kinds[i].kind, 64, inner, 32, turned, kinds[i].mma);
                const DotPlan *plan = layout_plan_dot(cx.layouts, NULL, dot);
                for (int which = 0; which < 2; which++)
                    check_factor(dot, &plan->factor[which], dot->args[which]);
                assert_int_equal(plan->factor[1].at % 16, 0);
                assert_true(plan->factor[0].at + plan->factor[0].bytes <= plan->factor[1].at);
                assert_int_equal(plan->bytes, plan->factor[1].at + plan->factor[1].bytes);
            }
    arena_free(&cx.arena);
}

/// A sum's element (m, n) is made of row m of the first factor and column n of the second.
static void elements_of_sums(void **state)
{
    (void)state;
    Cx cx;
    begin(&cx);
    const DotPlan *plan =
        layout_plan_dot(cx.layouts, NULL, make_dot(&cx, SCALAR_F16, 64, 128, 32, false, 16));
    for (uint32_t m = 0; m < 64; m++)
        for (uint32_t n = 0; n < 32; n++) {
            assert_int_equal(layout_dot_element(plan, 0, m * 32 + n), m * 128);
            assert_int_equal(layout_dot_element(plan, 1, m * 32 + n), n);
        }
    arena_free(&cx.arena);
}

static void instructions_of_chips(void **state)
{
    (void)state;
    static const struct {
        const char *chip, *kind;
        unsigned inner;  // 0: none
    } cases[] = {
        { "sm_75", "fp16", 8 },    { "sm_75", "bf16", 0 },     { "sm_80", "fp16", 16 },
        { "sm_80", "bf16", 16 },   { "sm_80", "fp32", 8 },     { "sm_75", "i8", 32 },
        { "sm_80", "fp8e4nv", 0 }, { "sm_89", "fp8e4nv", 32 }, { "sm_90a", "fp8e5", 32 },
        { "sm_90a", "fp64", 8 },   { "sm_80", "fp64", 8 },     { "sm_89", "fp64", 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Mma *mma =
            mma_best(cases[i].kind, cases[i].kind, target_find(cases[i].chip)->features);
        assert_int_equal(mma ? mma->inner : 0, cases[i].inner);
        if (mma)
            assert_ptr_equal(mma_find(cases[i].kind, cases[i].kind, mma->inner), mma);
    }
}

static void selection(void **state)
{
    (void)state;
    static const struct {
        ScalarKind kind;
        int32_t rows, columns;
        IrPrecision precision;
        DotChoice dots;
        const char *chip;
        unsigned wanted;
        bool wgmma;
    } cases[] = {
        { SCALAR_F16, 16, 8, PRECISION_IEEE, DOT_BEST, "sm_80", 16, false },
        { SCALAR_F16, 8, 16, PRECISION_IEEE, DOT_BEST, "sm_80", 0, false },
        { SCALAR_F16, 16, 4, PRECISION_IEEE, DOT_BEST, "sm_80", 0, false },
        { SCALAR_F16, 64, 64, PRECISION_IEEE, DOT_FMA, "sm_90a", 0, false },
        { SCALAR_F16, 64, 64, PRECISION_IEEE, DOT_MMA, "sm_90a", 16, false },
        { SCALAR_F16, 64, 64, PRECISION_IEEE, DOT_BEST, "sm_90a", 16, true },
        { SCALAR_F16, 64, 64, PRECISION_IEEE, DOT_BEST, "sm_90", 16, false },
        { SCALAR_F16, 64, 64, PRECISION_IEEE, DOT_WGMMA, "sm_80", 16, false },
        { SCALAR_F16, 32, 64, PRECISION_IEEE, DOT_WGMMA, "sm_90a", 16, false },
        { SCALAR_F32, 64, 64, PRECISION_TF32, DOT_BEST, "sm_80", 8, false },
        { SCALAR_F32, 64, 64, PRECISION_TF32, DOT_BEST, "sm_90a", 8, true },
        { SCALAR_F32, 64, 64, PRECISION_IEEE, DOT_BEST, "sm_90a", 0, false },
        { SCALAR_F32, 64, 64, PRECISION_TF32X3, DOT_BEST, "sm_90a", 8, false },
        { SCALAR_F32, 64, 64, PRECISION_BF16X6, DOT_BEST, "sm_80", 8, false },
        { SCALAR_F32, 64, 64, PRECISION_BF16X3, DOT_BEST, "sm_75", 0, false },
        { SCALAR_F64, 64, 64, PRECISION_IEEE, DOT_BEST, "sm_90a", 8, false },
        { SCALAR_F64, 64, 64, PRECISION_IEEE, DOT_BEST, "sm_89", 0, false },
    };
    Cx cx;
    begin(&cx);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        IrOp *dot = make_dot(&cx, cases[i].kind, cases[i].rows, 32, cases[i].columns, false, 0);
        IrFunc *fn = ir_func_new(&cx.arena, cx.types, &cx.syms, sym_of(&cx.syms, "g"));
        PassCtx pass = { .arena = &cx.arena,
                         .features = target_find(cases[i].chip)->features,
                         .dots = cases[i].dots };
        dot->attr.dot.precision = cases[i].precision;
        fn->body = dot->block;
        assert_true(pass_run_named(&pass, fn, "dot_select"));
        assert_int_equal(dot->attr.dot.mma, cases[i].wanted);
        assert_int_equal(dot->attr.dot.wgmma, cases[i].wgmma);
    }
    arena_free(&cx.arena);
}

/// With rows and columns apart, the words of a fragment that 32 lanes read from a tile that is fast
/// along the outer axis lie in 32 banks. (What else the layout gives is held to by products.)
static void words_apart_meet_all_banks(void **state)
{
    (void)state;
    Cx cx;
    begin(&cx);
    const Type *sum = block(&cx, SCALAR_F32, 1, 64, 128), *tile = block(&cx, SCALAR_F32, 1, 16, 128);
    const Layout *l =
        layout_dot_mma(cx.layouts, sum, 2, DOT_ROWS_APART | DOT_COLUMNS_APART);
    const uint32_t *lanes = l->basis + l->reg_bits;
    check_whole(l);
    for (unsigned which = 0; which < 2; which++) {
        const uint32_t outer[] = { which ? l->basis[0] : lanes[2] / 128,
                                   which ? lanes[0] : lanes[3] / 128,
                                   which ? lanes[1] : lanes[4] / 128 };
        uint32_t met = 0;
        for (uint32_t lane = 0; lane < 32; lane++) {
            uint32_t at = 0;
            for (unsigned k = 0; k < 3; k++)
                at |= lane >> (2 + k) & 1 ? outer[k] : 0;
            met |= UINT32_C(1) << (layout_tile_index(tile, 1, lane % 4 * 128 + at) / 4 % 32);
        }
        assert_int_equal(met, UINT32_MAX);
    }
    arena_free(&cx.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_apart_meet_all_banks),
        cmocka_unit_test(accumulators_follow_the_manual),
        cmocka_unit_test(warpgroups_follow_the_manual),
        cmocka_unit_test(tiles_that_products_take),
        cmocka_unit_test(transposed_sums),
        cmocka_unit_test(plain_sums_are_whole),
        cmocka_unit_test(factors_have_places),
        cmocka_unit_test(elements_of_sums),
        cmocka_unit_test(instructions_of_chips),
        cmocka_unit_test(selection),
    };
    return cmocka_run_group_tests_name("dot", tests, NULL, NULL);
}
