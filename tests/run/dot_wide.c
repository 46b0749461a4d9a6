// Matrix products of warpgroups against sums in long double.
#include "product.h"

typedef NewtStatus Wide(NewtDevice *device, const void *a, const void *b, void *c, int32_t m,
                        int32_t n, int32_t k, int32_t a_pitch, int32_t b_pitch);
#define WIDE(name)                                                                           \
    static NewtStatus name(NewtDevice *device, const void *a, const void *b, void *c,        \
                           int32_t m, int32_t n, int32_t k, int32_t a_pitch, int32_t b_pitch) \
    {                                                                                        \
        return K(name)(device, NULL, a, b, c, m, n, k, a_pitch, b_pitch);                    \
    }
WIDE(wide_f16)
WIDE(wide_f16_left)
WIDE(wide_f16_right)
WIDE(wide_bf16_both)
WIDE(wide_bf16)
WIDE(wide_8)
WIDE(wide_16)
WIDE(wide_16_both)
WIDE(wide_tf32)
WIDE(wide_tf32_right)
WIDE(wide_tf32_left)
WIDE(wide_tf32_both)
WIDE(wide_i8)
WIDE(wide_i8_right)
WIDE(wide_e4m3)
WIDE(wide_e5m2)
WIDE(wide_fp8)

/// Which of the axes of each factor is contiguous, as the kernel has it.
typedef struct Case {
    Wide *launch;
    const char *name;
    NewtType a, b, c;
    bool turn_a, turn_b;
} Case;

static const Case cases[] = {
    { wide_f16, "fp16", NEWT_F16, NEWT_F16, NEWT_F32, false, false },
    { wide_f16_left, "fp16, A by columns", NEWT_F16, NEWT_F16, NEWT_F32, true, false },
    { wide_f16_right, "fp16, B by columns", NEWT_F16, NEWT_F16, NEWT_F32, false, true },
    { wide_bf16_both, "bf16 by columns", NEWT_BF16, NEWT_BF16, NEWT_F32, true, true },
    { wide_bf16, "bf16", NEWT_BF16, NEWT_BF16, NEWT_F32, false, false },
    { wide_8, "8 columns", NEWT_F16, NEWT_F16, NEWT_F32, false, false },
    { wide_16, "16 columns", NEWT_F16, NEWT_F16, NEWT_F32, false, false },
    { wide_16_both, "16 columns by columns", NEWT_F16, NEWT_F16, NEWT_F32, true, true },
    { wide_tf32, "tf32", NEWT_F32, NEWT_F32, NEWT_F32, false, false },
    { wide_tf32_right, "tf32, B by columns", NEWT_F32, NEWT_F32, NEWT_F32, false, true },
    { wide_tf32_left, "tf32, A by columns", NEWT_F32, NEWT_F32, NEWT_F32, true, false },
    { wide_tf32_both, "tf32 by columns", NEWT_F32, NEWT_F32, NEWT_F32, true, true },
    { wide_i8, "int8", NEWT_I8, NEWT_I8, NEWT_I32, false, false },
    { wide_i8_right, "int8, B by columns", NEWT_I8, NEWT_I8, NEWT_I32, false, true },
    { wide_e4m3, "e4m3", NEWT_F8E4M3, NEWT_F8E4M3, NEWT_F32, false, true },
    { wide_e5m2, "e5m2", NEWT_F8E5M2, NEWT_F8E5M2, NEWT_F32, false, false },
    { wide_fp8, "e5m2 by e4m3", NEWT_F8E5M2, NEWT_F8E4M3, NEWT_F32, false, true },
};

/// Pitches that are multiples of 16 bytes and others.
static int32_t pitch(RunCx *cx, int32_t least)
{
    return run_between(cx, 0, 1) ? (least + 15) / 16 * 16 : least;
}

static void run_case(RunCx *cx, const Case *t)
{
    Product p = { .a = t->a, .b = t->b, .c = t->c, .tf32 = t->a == NEWT_F32 };
    p.m = (int32_t)run_between(cx, 1, 160);
    p.n = (int32_t)run_between(cx, 1, 160);
    p.k = (int32_t)run_between(cx, 1, 200);
    const int32_t a_pitch = pitch(cx, t->turn_a ? p.m : p.k);
    const int32_t b_pitch = pitch(cx, t->turn_b ? p.k : p.n);
    p.a_row = t->turn_a ? 1 : a_pitch;
    p.a_col = t->turn_a ? a_pitch : 1;
    p.b_row = t->turn_b ? 1 : b_pitch;
    p.b_col = t->turn_b ? b_pitch : 1;
    const size_t a_count = (size_t)a_pitch * (size_t)(t->turn_a ? p.k : p.m);
    const size_t b_count = (size_t)b_pitch * (size_t)(t->turn_b ? p.n : p.k);
    const size_t a_bytes = a_count * num_size(p.a), b_bytes = b_count * num_size(p.b);
    const size_t c_bytes = num_size(p.c) * (size_t)(p.m * p.n);
    void *a = run_temp(cx, a_bytes), *b = run_temp(cx, b_bytes);
    void *c = run_temp(cx, c_bytes), *dc = RUN_OUT(cx, c_bytes);
    product_fill(cx, p.a, a, a_count);
    product_fill(cx, p.b, b, b_count);
    RUN_OK(t->launch(cx->device, run_buffer(cx, a, a_bytes, 0), run_buffer(cx, b, b_bytes, 0), dc,
                     p.m, p.n, p.k, a_pitch, b_pitch));
    run_get(cx, dc, c);
    product_check(&p, a, b, c, 0, t->name);
}

static void products(RunCx *cx)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run_case(cx, &cases[i]);
        run_release(cx);
    }
}

/// 64 x 64 numbers of fp32 of which a tf32 is the nearest, or two where half a unit is left.
static void put_roundable(RunCx *cx, uint32_t *at)
{
    static const uint32_t rests[] = { 0x0, 0x1, 0xfff, 0x1000, 0x1001, 0x1800, 0x1fff };
    for (size_t i = 0; i < 64 * 64; i++) {
        const uint32_t exponent = (uint32_t)run_between(cx, 64, 190) << 23;
        const uint32_t fraction = i % 5 == 0 ? 0x3ff : (uint32_t)run_between(cx, 0, 0x3ff);
        at[i] = (uint32_t)(run_random(cx) & 0x80000000) | exponent | fraction << 13 | rests[i % 7];
    }
}

/// Whether `got` is the tf32 nearest to `x`; both are where two are.
static bool is_nearest_tf32(uint32_t got, uint32_t x)
{
    const uint32_t below = x & ~UINT32_C(0x1fff), rest = x & 0x1fff;
    return (got == below && rest <= 0x1000) || (got == below + 0x2000 && rest >= 0x1000);
}

/// Products with the identity show to which tf32 each element of a factor is rounded.
static void tf32_is_nearest(RunCx *cx)
{
    static Wide *const launches[] = { wide_tf32, wide_tf32_right, wide_tf32_left, wide_tf32_both };
    enum { N = 64, BYTES = N * N * sizeof(float) };
    for (size_t i = 0; i < 2 * sizeof launches / sizeof *launches; i++) {
        const bool turn_a = i / 2 > 1, turn_b = i / 2 % 2 == 1, by_left = i % 2 == 0;
        uint32_t *x = run_temp(cx, BYTES), *got = run_temp(cx, BYTES);
        float *one = run_temp(cx, BYTES);
        put_roundable(cx, x);
        for (size_t k = 0; k < N; k++)
            one[k * N + k] = 1;
        const void *dx = run_buffer(cx, x, BYTES, 0), *done = run_buffer(cx, one, BYTES, 0);
        void *dc = RUN_OUT(cx, BYTES);
        RUN_OK(launches[i / 2](cx->device, by_left ? dx : done, by_left ? done : dx, dc, N, N, N, N, N));
        run_get(cx, dc, got);
        for (size_t k = 0; k < N * N; k++) {
            const bool turned = by_left ? turn_a : turn_b;
            const size_t at = turned ? k % N * N + k / N : k;
            if (!is_nearest_tf32(got[k], x[at]))
                fail_msg("factor %u of product %zu: 0x%08x became 0x%08x", by_left ? 0U : 1U, i / 2,
                         (unsigned)x[at], (unsigned)got[k]);
        }
        run_release(cx);
    }
}

typedef NewtStatus Chain(NewtDevice *device, const void *a, const void *b, const void *c, void *out,
                         int32_t m, int32_t l);
#define CHAIN(name)                                                                           \
    static NewtStatus name(NewtDevice *device, const void *a, const void *b, const void *c,   \
                           void *out, int32_t m, int32_t l)                                   \
    {                                                                                         \
        return K(name)(device, NULL, a, b, c, out, m, l);                                     \
    }
CHAIN(chain_f16)
CHAIN(chain_bf16)

/// Small integers: every sum of the first product is exact, and so is its rounding.
static void run_chain(RunCx *cx, NewtType t, int32_t d, Chain *launch)
{
    const int32_t m = (int32_t)run_between(cx, 1, 100), l = (int32_t)run_between(cx, 1, 100);
    const size_t size = num_size(t), out_bytes = (size_t)(m * d) * sizeof(float);
    void *a = run_temp(cx, (size_t)(m * d) * size), *b = run_temp(cx, (size_t)(l * d) * size),
         *c = run_temp(cx, (size_t)(l * d) * size);
    float *out = run_temp(cx, out_bytes);
    for (int32_t i = 0; i < m * d; i++)
        num_put(t, a, (size_t)i, i % 5 == 0 ? (Num)run_between(cx, -1, 1) : 0);
    for (int32_t i = 0; i < l * d; i++) {
        num_put(t, b, (size_t)i, (Num)run_between(cx, -1, 1));
        num_put(t, c, (size_t)i, (Num)run_between(cx, -2, 2));
    }
    void *dout = RUN_OUT(cx, out_bytes);
    RUN_OK(launch(cx->device, run_buffer(cx, a, (size_t)(m * d) * size, 0),
                  run_buffer(cx, b, (size_t)(l * d) * size, 0),
                  run_buffer(cx, c, (size_t)(l * d) * size, 0), dout, m, l));
    run_get(cx, dout, out);
    for (int32_t i = 0; i < m; i++) {
        Num want[128] = { 0 };
        for (int32_t n = 0; n < l; n++) {
            Num s = 0;
            for (int32_t k = 0; k < d; k++)
                s += num_get(t, a, (size_t)(i * d + k)) * num_get(t, b, (size_t)(n * d + k));
            s = (s > 0 ? s : 0) + 1;
            for (int32_t k = 0; k < d; k++)
                want[k] += s * num_get(t, c, (size_t)(n * d + k));
        }
        for (int32_t k = 0; k < d; k++)
            assert_true((Num)out[i * d + k] == want[k]);
    }
}

static void chains(RunCx *cx)
{
    for (int round = 0; round < 3; round++) {
        run_chain(cx, NEWT_F16, 64, chain_f16);
        run_chain(cx, NEWT_BF16, 128, chain_bf16);
        run_release(cx);
    }
}

RUN_TESTS = { { "products", products }, { "tf32_is_nearest", tf32_is_nearest }, { "chains", chains }, RUN_END };
