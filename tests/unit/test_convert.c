/// test_convert.c - conversion plans, carried out by simulation on element numbers.
#include "layout_cases.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

enum { NOTHING = UINT32_MAX };

/// One value: what each thread holds in each slot.
typedef struct Held {
    uint32_t regs;
    uint32_t *at;  ///< [thread * regs + slot]
} Held;

static Held held_new(Arena *a, const Layout *l)
{
    Held h = { layout_regs(l), ARENA_NEW_N(a, uint32_t, layout_regs(l) * layout_threads(l)) };
    memset(h.at, 0xff, sizeof *h.at * h.regs * layout_threads(l));
    return h;
}

static uint32_t flip(const uint16_t *by_bit, uint32_t thread)
{
    uint32_t out = 0;
    for (unsigned k = 0; k < 10; k++)
        out ^= thread >> k & 1 ? by_bit[k] : 0;
    return out;
}

static void run_in_warp(const ConvertPlan *plan, const Layout *dst, const Held *in, Held *out)
{
    for (uint32_t t = 0; t < layout_threads(dst); t++) {
        for (uint32_t r = 0; r < out->regs; r++) {
            uint32_t from = t, slot = plan->reg_from[r];
            if (plan->kind == CONVERT_SHUFFLE) {
                if (!plan->same_lane)
                    from = (t & ~31u) | (plan->lane_from[r] ^ flip(plan->lane_flip, t));
                slot ^= flip(plan->send_flip, from);
            }
            assert_in_range(slot, 0, in->regs - 1);
            assert_in_range(from, t & ~31u, t | 31u);
            out->at[t * out->regs + r] = in->at[from * in->regs + slot];
        }
    }
}

/// Extra wavefronts of one vector access, counted as the hardware does: the warp's lanes by groups
/// of as many as move 128 bytes, distinct words by bank.
static unsigned count_conflicts(const uint32_t *index, const bool *active, unsigned elem_bytes,
                                unsigned vec)
{
    const unsigned bytes = elem_bytes * vec, lanes = bytes <= 4 ? 32 : 128 / bytes;
    unsigned extra = 0;
    for (unsigned first = 0; first < 32; first += lanes) {
        for (unsigned bank = 0; bank < 32; bank++) {
            uint32_t words[32 * 4];
            unsigned count = 0;
            for (unsigned lane = first; lane < first + lanes; lane++) {
                const uint32_t word = index[lane] * elem_bytes / 4;
                for (uint32_t w = word; active[lane] && w < word + (bytes + 3) / 4; w++) {
                    bool seen = w % 32 != bank;
                    for (unsigned i = 0; i < count; i++)
                        seen = seen || words[i] == w;
                    if (!seen)
                        words[count++] = w;
                }
            }
            extra = count > extra + 1 ? count - 1 : extra;
        }
    }
    return extra;
}

typedef struct Side {
    const Layout *l;
    const uint16_t *slots;
    uint32_t count, idle;
    unsigned vec, conflicts;
} Side;

/// Calls for every vector access of every warp; moves between memory and registers.
static void run_side(const ConvertPlan *plan, const Side *s, unsigned elem_bytes, Held *regs,
                     uint32_t *memory, bool store)
{
    assert_int_equal(s->count % s->vec, 0);
    assert_in_range(s->vec * elem_bytes, elem_bytes, 16);
    for (uint32_t g = 0; g < s->count; g += s->vec) {
        for (uint32_t warp = 0; warp < layout_threads(s->l); warp += 32) {
            uint32_t index[32];
            bool active[32];
            for (uint32_t t = warp; t < warp + 32; t++) {
                index[t - warp] = layout_shared_index(plan, s->l, s->slots[g], t);
                active[t - warp] = (t & s->idle) == 0;
                assert_int_equal(index[t - warp] % s->vec, 0);
                assert_in_range((index[t - warp] + s->vec) * elem_bytes, 0, plan->bytes);
                for (uint32_t v = 0; v < s->vec && active[t - warp]; v++) {
                    uint32_t *reg = &regs->at[t * regs->regs + s->slots[g + v]];
                    uint32_t *cell = &memory[index[t - warp] + v];
                    if (store)
                        assert_int_equal(*cell, NOTHING);
                    *(store ? cell : reg) = *(store ? reg : cell);
                }
            }
            // Every eleventh access keeps the test short; they differ by an XOR.
            if ((g / s->vec + warp / 32) % 11 == 0)
                assert_int_equal(count_conflicts(index, active, elem_bytes, s->vec), s->conflicts);
        }
    }
}

static void run_shared(Arena *a, const ConvertPlan *plan, const Layout *src, const Layout *dst,
                       unsigned elem_bytes, Held *in, Held *out)
{
    const Side store = { src,
                         plan->store_slots,
                         plan->store_count,
                         plan->store_idle,
                         plan->store_vec,
                         plan->store_conflicts };
    const Side load = { dst, plan->load_slots, plan->load_count,
                        0,   plan->load_vec,   plan->load_conflicts };
    uint32_t *memory = ARENA_NEW_N(a, uint32_t, 1u << src->elem_bits);
    memset(memory, 0xff, sizeof *memory << src->elem_bits);
    assert_int_equal(plan->bytes, elem_bytes << src->elem_bits);
    run_side(plan, &store, elem_bytes, in, memory, true);
    run_side(plan, &load, elem_bytes, out, memory, false);
}

/// The slots of piece `p`.
static uint32_t piece_slot(const uint16_t *piece, uint32_t p)
{
    uint32_t slot = 0;
    for (unsigned k = 0; p >> k; k++)
        slot ^= p >> k & 1 ? piece[k] : 0;
    return slot;
}

/// Each warp and piece has a memory of its own.
static void run_by_warp(Arena *a, const ConvertPlan *plan, const Layout *src, const Layout *dst,
                        unsigned elem_bytes, Held *in, Held *out)
{
    uint32_t *memory = ARENA_NEW_N(a, uint32_t, plan->bytes);
    for (uint32_t warp = 0; warp < layout_threads(src); warp += 32)
        for (uint32_t p = 0; p < 1u << plan->piece_bits; p++) {
            memset(memory, 0xff, sizeof *memory * plan->bytes);
            for (unsigned side = 0; side < 2; side++) {
                const Layout *l = side ? dst : src;
                Held *held = side ? out : in;
                const uint16_t *slots = side ? plan->load_slots : plan->store_slots;
                const uint32_t count = side ? plan->load_count : plan->store_count;
                const unsigned vec = side ? plan->load_vec : plan->store_vec;
                const uint32_t first = piece_slot(side ? plan->load_piece : plan->store_piece, p);
                assert_int_equal(count << plan->piece_bits, layout_regs(l));
                for (uint32_t g = 0; g < count; g += vec) {
                    uint32_t index[32];
                    bool active[32];
                    for (uint32_t t = warp; t < warp + 32; t++) {
                        index[t - warp] = layout_shared_index(plan, l, slots[g], t);
                        active[t - warp] = true;
                        assert_int_equal(index[t - warp] % vec, 0);
                        assert_in_range((index[t - warp] + vec) * elem_bytes, 0, plan->bytes);
                        for (uint32_t v = 0; v < vec; v++) {
                            uint32_t *reg = &held->at[t * held->regs + (first ^ slots[g + v])];
                            uint32_t *cell = &memory[index[t - warp] + v];
                            if (side == 0)
                                assert_int_equal(*cell, NOTHING);
                            *(side ? reg : cell) = *(side ? cell : reg);
                        }
                    }
                    assert_int_equal(count_conflicts(index, active, elem_bytes, vec),
                                     side ? plan->load_conflicts : plan->store_conflicts);
                }
            }
        }
}

static ConvertKind check_convert(LayoutTable *layouts, const Layout *src, const Layout *dst,
                                 unsigned elem_bytes)
{
    Arena a = { 0 };
    Held in = held_new(&a, src), out = held_new(&a, dst);
    for (uint32_t t = 0; t < layout_threads(src); t++) {
        for (uint32_t r = 0; r < in.regs; r++)
            in.at[t * in.regs + r] = layout_element(src, r, t);
    }
    const ConvertPlan *plan = layout_plan_convert(layouts, src, dst, elem_bytes);
    if (plan->kind == CONVERT_SHARED)
        run_shared(&a, plan, src, dst, elem_bytes, &in, &out);
    else if (plan->kind == CONVERT_WARP)
        run_by_warp(&a, plan, src, dst, elem_bytes, &in, &out);
    else
        run_in_warp(plan, dst, &in, &out);
    for (uint32_t t = 0; t < layout_threads(dst); t++) {
        for (uint32_t r = 0; r < out.regs; r++)
            assert_int_equal(out.at[t * out.regs + r], layout_element(dst, r, t));
    }
    const ConvertKind kind = plan->kind;
    assert_in_range(plan->store_conflicts + plan->load_conflicts, 0, kind == CONVERT_WARP);
    if (src == dst)
        assert_int_equal(kind, CONVERT_FREE);
    arena_free(&a);
    return kind;
}

/// Every pair of group-cyclic layouts of every block.
static void test_group_cyclic_pairs(void **state)
{
    (void)state;
    LayoutCx cx;
    unsigned kinds[5] = { 0 };
    for (unsigned b = 0; b < BLOCK_CASE_COUNT; b++) {
        layout_cx_begin(&cx);
        const Type *block = block_case(&cx, b);
        for (unsigned i = 0; i < LAYOUT_CASE_COUNT; i++) {
            const unsigned same_warps = i / 10 * 10;
            for (unsigned j = same_warps; j < same_warps + 10; j++) {
                const unsigned elem_bytes = 1u << (i + j + b) % 4;
                kinds[check_convert(cx.layouts, layout_case(&cx, block, i),
                                    layout_case(&cx, block, j), elem_bytes)]++;
            }
        }
        arena_free(&cx.arena);
    }
    for (unsigned k = 0; k < 5; k++)
        assert_int_not_equal(kinds[k], 0);
}

/// Slices (replicated, warps apart) to and from 1-D layouts, as after a reduction.
static void test_slices(void **state)
{
    (void)state;
    LayoutCx cx;
    layout_cx_begin(&cx);
    for (unsigned b = 7; b < BLOCK_CASE_COUNT; b++) {
        const Type *block = block_case(&cx, b);
        for (unsigned n = 0; n < LAYOUT_CASE_COUNT * block->rank; n++) {
            const unsigned axis = n % block->rank, i = n / block->rank;
            int32_t shape[3];
            for (unsigned k = 0, to = 0; k < block->rank; k++) {
                if (k != axis)
                    shape[to++] = block->shape[k];
            }
            const Type *sum = type_block(cx.types, block->elem, block->rank - 1u, shape);
            const Layout *l = layout_case(&cx, block, i);
            const Layout *slice = layout_slice(cx.layouts, l, block, axis, NULL);
            const Layout *plain =
                layout_group_cyclic(cx.layouts, sum, NULL, 1u << n % 3, l->warp_bits);
            check_convert(cx.layouts, slice, plain, 1u << n % 4);
            check_convert(cx.layouts, plain, slice, 1u << n % 4);
        }
    }
    arena_free(&cx.arena);
}

/// Pairs whose kind is known by hand.
static void test_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *name, *src, *dst;
        unsigned elem_bits, elem_bytes;
        ConvertKind want;
    } cases[] = {
        { "same", "reg=[1,2];lane=[4,8,16,32,64];warp=[]", "reg=[1,2];lane=[4,8,16,32,64];warp=[]",
          7, 4, CONVERT_FREE },
        { "slots_swapped", "reg=[1,2];lane=[4,8,16,32,64];warp=[]",
          "reg=[2,1];lane=[4,8,16,32,64];warp=[]", 7, 4, CONVERT_REGS },
        { "replicas_suffice", "reg=[1,2];lane=[4,8,16,0,0];warp=[0]",
          "reg=[1,2];lane=[4,8,16,0,0];warp=[0]", 5, 4, CONVERT_FREE },
        { "own_slot_by_lane", "reg=[1,2];lane=[4,8,16,0,0];warp=[]",
          "reg=[];lane=[4,8,16,1,2];warp=[]", 5, 4, CONVERT_SHUFFLE },
        { "lanes_permuted", "reg=[];lane=[1,2,4,8,16];warp=[32]",
          "reg=[];lane=[16,8,4,2,1];warp=[32]", 6, 4, CONVERT_SHUFFLE },
        { "gather_to_all_lanes", "reg=[];lane=[1,2,0,0,0];warp=[]",
          "reg=[1,2];lane=[0,0,0,0,0];warp=[]", 2, 4, CONVERT_SHUFFLE },
        { "slot_lane_swap", "reg=[1];lane=[2,4,8,16,32];warp=[64]",
          "reg=[32];lane=[2,4,8,16,1];warp=[64]", 7, 4, CONVERT_WARP },
        { "slot_rotation", "reg=[1,2];lane=[4,8,16,32,64];warp=[]",
          "reg=[32,64];lane=[1,2,4,8,16];warp=[]", 7, 4, CONVERT_WARP },
        { "across_warps", "reg=[];lane=[1,2,4,8,16];warp=[32]",
          "reg=[];lane=[32,2,4,8,16];warp=[1]", 6, 4, CONVERT_SHARED },
    };
    LayoutCx cx;
    layout_cx_begin(&cx);
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const Layout *src =
            layout_read(cx.layouts, cases[i].src, strlen(cases[i].src), cases[i].elem_bits);
        const Layout *dst =
            layout_read(cx.layouts, cases[i].dst, strlen(cases[i].dst), cases[i].elem_bits);
        const ConvertKind got = check_convert(cx.layouts, src, dst, cases[i].elem_bytes);
        if (got != cases[i].want)
            fail_msg("%s: got kind %d, wanted %d", cases[i].name, (int)got, (int)cases[i].want);
    }
    arena_free(&cx.arena);
}

/// Random injective layouts with XOR in them: nothing about units is assumed.
static void test_xor_layouts(void **state)
{
    (void)state;
    enum { BITS = 9, TRIES = 400 };
    LayoutCx cx;
    uint32_t seed = 1;
    layout_cx_begin(&cx);
    for (unsigned n = 0; n < TRIES; n++) {
        const Layout *pair[2];
        for (unsigned side = 0; side < 2; side++) {
            Layout l = { .reg_bits = 3, .warp_bits = 1, .elem_bits = BITS };
            for (unsigned k = 0; k < BITS; k++)
                l.basis[k] = 1u << k;
            for (unsigned step = 0; step < n % 16; step++) {
                seed = seed * 1664525u + 1013904223u;
                const unsigned to = (seed >> 8) % BITS, from = (seed >> 16) % BITS;
                if (to != from)
                    l.basis[to] ^= l.basis[from];
            }
            pair[side] = layout_intern(cx.layouts, &l);
        }
        check_convert(cx.layouts, pair[0], pair[1], 1u << n % 4);
    }
    arena_free(&cx.arena);
}

/// The slots that both sides have in common set the width of the accesses.
static void test_widths(void **state)
{
    (void)state;
    static const struct {
        const char *src, *dst;
        unsigned elem_bytes, vec;
    } cases[] = {
        { "reg=[1,2];lane=[4,8,16,32,64];warp=[128]", "reg=[2,1];lane=[128,4,8,16,32];warp=[64]", 4,
          4 },
        { "reg=[1,2];lane=[4,8,16,32,64];warp=[128]", "reg=[2,1];lane=[128,4,8,16,32];warp=[64]", 8,
          2 },
        { "reg=[1,2];lane=[4,8,16,32,64];warp=[128]", "reg=[2,128];lane=[1,4,8,16,32];warp=[64]", 4,
          2 },
        { "reg=[1,2];lane=[4,8,16,32,64];warp=[128]", "reg=[64,128];lane=[4,8,16,32,1];warp=[2]", 2,
          1 },
    };
    LayoutCx cx;
    layout_cx_begin(&cx);
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const Layout *src = layout_read(cx.layouts, cases[i].src, strlen(cases[i].src), 8);
        const Layout *dst = layout_read(cx.layouts, cases[i].dst, strlen(cases[i].dst), 8);
        assert_int_equal(check_convert(cx.layouts, src, dst, cases[i].elem_bytes), CONVERT_SHARED);
        const ConvertPlan *plan = layout_plan_convert(cx.layouts, src, dst, cases[i].elem_bytes);
        assert_int_equal(plan->store_vec, cases[i].vec);
        assert_int_equal(plan->load_vec, cases[i].vec);
        assert_int_equal(plan->bytes, 256 * cases[i].elem_bytes);
    }
    arena_free(&cx.arena);
}

/// Sums of matrix instructions on their way to rows of memory: within warps, without conflicts, as matrices
/// where elements have 16 bits.
static void test_sums(void **state)
{
    (void)state;
    static const uint8_t order[] = { 1, 0 };
    static const struct {
        int32_t rows, columns;
        unsigned warp_bits;
    } sums[] = { { 64, 64, 2 },  { 128, 256, 3 }, { 128, 128, 2 }, { 64, 256, 2 },
                 { 256, 64, 3 }, { 64, 32, 2 },   { 128, 64, 3 } };
    LayoutCx cx;
    layout_cx_begin(&cx);
    for (unsigned i = 0; i < sizeof sums / sizeof *sums; i++)
        for (unsigned bytes = 1; bytes <= 8; bytes *= 2)
            for (unsigned wgmma = 0; wgmma < 2; wgmma++) {
                const int32_t shape[2] = { sums[i].rows, sums[i].columns };
                const Type *block = type_block(cx.types, type_scalar(cx.types, SCALAR_F32), 2, shape);
                const Layout *sum = wgmma ? layout_dot_wgmma(cx.layouts, block, sums[i].warp_bits)
                                          : layout_dot_mma(cx.layouts, block, sums[i].warp_bits, 0);
                unsigned access = 0, run = 0;
                while (bytes << access < 16 && 1u << access < 8)
                    access++;
                while (bytes << run < 128 && 1 << run < sums[i].columns)
                    run++;
                const Layout *rows = layout_regroup(cx.layouts, sum, block, order, access, run);
                if (rows == NULL)  // another warp has the neighbours
                    continue;
                const ConvertPlan *plan = layout_plan_convert(cx.layouts, sum, rows, bytes);
                assert_int_equal(check_convert(cx.layouts, sum, rows, bytes), CONVERT_WARP);
                assert_in_range(plan->bytes, 512, 2048);
                assert_int_equal(plan->matrices, bytes == 2);
                if (bytes > 1)
                    assert_int_equal(plan->store_conflicts + plan->load_conflicts, 0);
                for (unsigned k = 0; k < access; k++)
                    assert_int_equal(rows->basis[k], 1u << k);
            }
    arena_free(&cx.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_group_cyclic_pairs),
        cmocka_unit_test(test_slices),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_xor_layouts),
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_sums),
    };
    return cmocka_run_group_tests_name("convert", tests, NULL, NULL);
}
