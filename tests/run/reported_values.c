// Faults that comparable compilers had in public, in values; right values by rule or by counting.
#include "number.h"

static void sum_of_a_sum(RunCx *cx)
{
    float x[32 * 128], r[32], t;
    for (size_t i = 0; i < 32 * 128; i++)
        x[i] = 1.0f / 128;
    void *dr = RUN_OUT(cx, sizeof r), *dt = RUN_OUT(cx, sizeof t);
    RUN_OK(K(sum_of_sum)(cx->device, NULL, RUN_IN(cx, x), dr, dt));
    run_get(cx, dr, r);
    run_get(cx, dt, &t);
    for (size_t i = 0; i < 32; i++)
        assert_true(r[i] == 1.0f);
    assert_true(t == 32.0f);
}

static void order_of_reductions(RunCx *cx)
{
    int32_t x[80], got[3];
    for (int32_t i = 0; i < 80; i++)
        x[i] = i;
    void *out = RUN_OUT(cx, sizeof got);
    RUN_OK(K(order_of_sums)(cx->device, NULL, RUN_IN(cx, x), out));
    run_get(cx, out, got);
    for (int i = 0; i < 3; i++)
        assert_int_equal(got[i], 3160);
}

static void rank_four(RunCx *cx)
{
    float ones[32], got[32], total = 0;
    for (int i = 0; i < 32; i++)
        ones[i] = 1;
    void *out = RUN_OUT(cx, sizeof got);
    RUN_OK(K(sums_of_rank4)(cx->device, NULL, RUN_IN(cx, ones), out));
    run_get(cx, out, got);
    for (int h = 0; h < 4; h++)
        for (int w = 0; w < 8; w++) {
            assert_true(got[h * 8 + w] == (float)((h < 3 ? 2 : 1) * (w < 7 ? 2 : 1)));
            total += got[h * 8 + w];
        }
    assert_true(total == 105);
}

static const int32_t dividends[9] = { -9, -8, -7, -1, 0, 1, 7, 8, 9 };
/// By 2 and by -2: quotient and remainder, towards zero and floored.
static const int32_t truncated[2][2][9] = {
    { { -4, -4, -3, 0, 0, 0, 3, 4, 4 }, { -1, 0, -1, -1, 0, 1, 1, 0, 1 } },
    { { 4, 4, 3, 0, 0, 0, -3, -4, -4 }, { -1, 0, -1, -1, 0, 1, 1, 0, 1 } },
};
static const int32_t floored[2][2][9] = {
    { { -5, -4, -4, -1, 0, 0, 3, 4, 4 }, { 1, 0, 1, 1, 0, 1, 1, 0, 1 } },
    { { 4, 4, 3, 0, 0, -1, -4, -4, -5 }, { -1, 0, -1, -1, 0, -1, -1, 0, -1 } },
};
static const int32_t ceilings[2][9] = { { -4, -4, -3, 0, 0, 1, 4, 4, 5 },
                                        { 5, 4, 4, 1, 0, 0, -3, -4, -4 } };

static void division(RunCx *cx)
{
    for (int k = 0; k < 2; k++) {
        int32_t got[9];
        void *n = RUN_IN(cx, dividends), *q = RUN_OUT(cx, sizeof got), *r = RUN_OUT(cx, sizeof got);
        void *c = RUN_OUT(cx, sizeof got), *fq = RUN_OUT(cx, sizeof got),
             *fr = RUN_OUT(cx, sizeof got);
        RUN_OK(K(divide_run_time)(cx->device, NULL, n, q, r, c, 9, k ? -2 : 2));
        run_get(cx, q, got);
        num_same(NEWT_I32, got, truncated[k][0], 9, "run-time //");
        run_get(cx, r, got);
        num_same(NEWT_I32, got, truncated[k][1], 9, "run-time %");
        run_get(cx, c, got);
        num_same(NEWT_I32, got, ceilings[k], 9, "cdiv");
        RUN_OK(k ? K(divide_constant_m2)(cx->device, NULL, n, q, r, 9)
                 : K(divide_constant_2)(cx->device, NULL, n, q, r, 9));
        run_get(cx, q, got);
        num_same(NEWT_I32, got, truncated[k][0], 9, "// by a constant");
        run_get(cx, r, got);
        num_same(NEWT_I32, got, truncated[k][1], 9, "% by a constant");
        RUN_OK(k ? K(divide_constexpr_m2)(cx->device, NULL, q, r, fq, fr)
                 : K(divide_constexpr_2)(cx->device, NULL, q, r, fq, fr));
        run_get(cx, q, got);
        num_same(NEWT_I32, got, floored[k][0], 9, "constexpr //");
        run_get(cx, r, got);
        num_same(NEWT_I32, got, floored[k][1], 9, "constexpr %");
        run_get(cx, fq, got);
        num_same(NEWT_I32, got, truncated[k][0], 9, "folded run-time //");
        run_get(cx, fr, got);
        num_same(NEWT_I32, got, truncated[k][1], 9, "folded run-time %");
    }
}

static void ceiling_division(RunCx *cx)
{
    int32_t a[64], b[64], want[64], got[64], fixed[3];
    int32_t count = 0;
    for (int32_t x = -8; x <= 8; x += 2)
        for (int32_t y = -3; y <= 3; y++) {
            if (y == 0 || count == 62)
                continue;
            a[count] = x * 9 / 2;
            b[count] = y;
            want[count] = (int32_t)ceil((double)a[count] / y);
            count++;
        }
    a[count] = -36, b[count] = 5, want[count++] = -7;
    a[count] = INT32_MIN, b[count] = -1, want[count++] = INT32_MIN;
    void *out = run_buffer(cx, NULL, sizeof *got * (size_t)count, 0),
         *df = RUN_OUT(cx, sizeof fixed);
    RUN_OK(K(cdiv_values)(cx->device, NULL, run_buffer(cx, a, sizeof *a * (size_t)count, 0),
                          run_buffer(cx, b, sizeof *b * (size_t)count, 0), out, df, count));
    run_get(cx, out, got);
    num_same(NEWT_I32, got, want, (size_t)count, "cdiv");
    run_get(cx, df, fixed);
    assert_int_equal(fixed[0], -7);
    assert_int_equal(fixed[1], -7);
    assert_int_equal(fixed[2], 8);
}

static void bools(RunCx *cx)
{
    int32_t sums[2], again[256];
    uint8_t bytes[256];
    void *ds = RUN_OUT(cx, sizeof sums), *db = RUN_OUT(cx, sizeof bytes),
         *da = RUN_OUT(cx, sizeof again);
    RUN_OK(K(sum_of_bools)(cx->device, NULL, ds, db, da));
    run_get(cx, ds, sums);
    run_get(cx, db, bytes);
    run_get(cx, da, again);
    assert_int_equal(sums[0], 256);
    assert_int_equal(sums[1], 256);
    for (int i = 0; i < 256; i++) {
        assert_int_equal(bytes[i], 1);
        assert_int_equal(again[i], 1);
    }
}

static void fp8(RunCx *cx)
{
    static const float f32[8] = { 1.0625001f, 1.0625f, 448, 464, 500, -0.0f, 0x1p-10f, 0x1.8p-10f };
    static const uint8_t want_e4m3[8] = { 0x39, 0x38, 0x7e, 0x7e, 0x7e, 0x80, 0x00, 0x01 };
    static const uint16_t f16[2] = { 0x3c80, 0x7c00 };
    static const uint8_t want_e5m2[2] = { 0x3c, 0x7b }, e4m3[2] = { 0x7f, 0xff };
    uint8_t got_e4m3[8], got_e5m2[2];
    uint16_t bf16[2];
    void *a = RUN_OUT(cx, 8), *b = RUN_OUT(cx, 2), *c = RUN_OUT(cx, 4);
    RUN_OK(K(fp8_casts)(cx->device, NULL, RUN_IN(cx, f32), a, RUN_IN(cx, f16), b, RUN_IN(cx, e4m3),
                        c));
    run_get(cx, a, got_e4m3);
    run_get(cx, b, got_e5m2);
    run_get(cx, c, bf16);
    num_same(NEWT_F8E4M3, got_e4m3, want_e4m3, 8, "fp32 to e4m3");
    num_same(NEWT_F8E5M2, got_e5m2, want_e5m2, 2, "fp16 to e5m2");
    assert_true(isnan(num_get(NEWT_BF16, bf16, 0)));
    assert_true(isnan(num_get(NEWT_BF16, bf16, 1)));
}

/// x goes to max and argmax, y to min and argmin.
typedef struct NanCase {
    float x[4], x_rest, y[4], y_rest;
    float max, min;
    int32_t argmax, argmin;  ///< -1: anything in range
} NanCase;

static void nan_case(RunCx *cx, const NanCase *c)
{
    float x[16], y[16], want[16], want_nan[16], each[16], each_nan[16], whole[2];
    int32_t index[2];
    for (int i = 0; i < 16; i++) {
        x[i] = i < 4 ? c->x[i] : c->x_rest;
        y[i] = i < 4 ? c->y[i] : c->y_rest;
        want[i] = x[i] > 2 ? x[i] : 2;
        want_nan[i] = isnan(x[i]) ? x[i] : want[i];
    }
    void *de = RUN_OUT(cx, sizeof each), *dn = RUN_OUT(cx, sizeof each_nan),
         *dw = RUN_OUT(cx, sizeof whole);
    void *di = RUN_OUT(cx, sizeof index);
    RUN_OK(K(nan_rules)(cx->device, NULL, RUN_IN(cx, x), RUN_IN(cx, y), de, dn, dw, di));
    run_get(cx, de, each);
    run_get(cx, dn, each_nan);
    run_get(cx, dw, whole);
    run_get(cx, di, index);
    num_same(NEWT_F32, each, want, 16, "maximum");
    num_same(NEWT_F32, each_nan, want_nan, 16, "maximum with NaN");
    num_same(NEWT_F32, &whole[0], &c->max, 1, "max");
    num_same(NEWT_F32, &whole[1], &c->min, 1, "min");
    if (c->argmax >= 0) {
        assert_int_equal(index[0], c->argmax);
        assert_int_equal(index[1], c->argmin);
    }
    assert_in_range(index[0], 0, 15);
    assert_in_range(index[1], 0, 15);
}

static void nans(RunCx *cx)
{
    static const NanCase cases[] = {
        { { 1, NAN, 3, 3 }, -INFINITY, { 3, NAN, 1, 1 }, INFINITY, 3, 1, 2, 2 },
        { { 3, 1, 3, 3 }, 3, { 1, 3, 1, 1 }, 1, 3, 1, 0, 0 },
        { { -INFINITY, -INFINITY, -INFINITY, -INFINITY },
          -INFINITY,
          { INFINITY, INFINITY, INFINITY, INFINITY },
          INFINITY,
          -INFINITY,
          INFINITY,
          0,
          0 },
        { { NAN, -INFINITY, NAN, NAN },
          NAN,
          { NAN, NAN, NAN, INFINITY },
          NAN,
          -INFINITY,
          INFINITY,
          1,
          3 },
        { { NAN, NAN, NAN, NAN }, NAN, { NAN, NAN, NAN, NAN }, NAN, NAN, NAN, -1, -1 },
        { { -0.0f, 0.0f, -0.0f, -0.0f },
          -0.0f,
          { 0.0f, 0.0f, -0.0f, 0.0f },
          0.0f,
          0.0f,
          -0.0f,
          -1,
          -1 },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        nan_case(cx, &cases[k]);
}

static void launch_scalars(RunCx *cx)
{
    static const int64_t longs[] = { (INT64_C(1) << 40) + 1, 1, 16, 17, 0 };
    static const int32_t ints[] = { -7, INT32_MAX, 1, 16, INT32_MIN };
    for (size_t k = 0; k < sizeof longs / sizeof *longs; k++) {
        int64_t got[10], sum = (int64_t)((uint64_t)longs[k] + (uint64_t)(int64_t)ints[k]);
        const int64_t want[10] = { 0xff,   0x3e000000, longs[k],
                                   0x5140, 0xff,       INT64_C(0x3FB999999999999A),
                                   1,      0xc020,     (int64_t)(uint32_t)ints[k],
                                   sum };
        void *out = RUN_OUT(cx, sizeof got);
        RUN_OK(K(scalars)(cx->device, NULL, -1, 0.125f, longs[k], newt_f16(42.0f), 255, 0.1, true,
                          newt_bf16(-2.5f), ints[k], out));
        run_get(cx, out, got);
        num_same(NEWT_I64, got, want, 10, "scalar arguments");
    }
}

RUN_TESTS = {
    { "sum of a sum", sum_of_a_sum },
    { "order of reductions", order_of_reductions },
    { "two reductions of rank 4", rank_four },
    { "division of negatives", division },
    { "ceiling division", ceiling_division },
    { "sum of bools", bools },
    { "casts to fp8", fp8 },
    { "NaN in max, min, argmax", nans },
    { "scalars through the launcher", launch_scalars },
    RUN_END,
};
