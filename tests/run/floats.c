// Float arithmetic against exact values rounded once; NaN, infinities, zeros and subnormals are
// among the inputs.
#include "number.h"

#include <float.h>

enum { COUNT = 65536, ROWS = 16, WIDE_ROWS = 4, FLAGS = 8 };

static Num larger(Num a, Num b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) ? b : a;
    return a == b ? (signbit(a) ? b : a) : a > b ? a : b;
}

static Num smaller(Num a, Num b)
{
    return -larger(-a, -b);
}

/// x * y + x of 16-bit types, whose product is exact; when the sum is not, its last bit is set,
/// which leaves no tie that is none.
static Num fused(Num x, Num y)
{
    Num p = x * y, s = p + x, t = s - p, lost = (p - (s - t)) + (x - t);
    if (!(lost > 0 || lost < 0))
        return s;
    int e;
    Num unit = ldexpl(1, -LDBL_MANT_DIG), m = frexpl(s, &e);
    bool odd = fmodl(ldexpl(fabsl(m), LDBL_MANT_DIG), 2) != 0;
    return odd ? s : ldexpl(m + (lost > 0 ? unit : -unit), e);
}

/// The exact value of a row; fp32 and fp64 round their fma here, and fp64, having no wider type,
/// everything.
static Num expected(NewtType type, int row, Num x, Num y)
{
    bool nan = isnan(x) || isnan(y);
    switch (row) {
    case 0: return type == NEWT_F64 ? (Num)((double)x + (double)y) : x + y;
    case 1: return type == NEWT_F64 ? (Num)((double)x - (double)y) : x - y;
    case 2: return type == NEWT_F64 ? (Num)((double)x * (double)y) : x * y;
    case 3: return -x;
    case 4: return fabsl(x);
    case 5: return larger(x, y);
    case 6: return smaller(x, y);
    case 7: return nan ? (Num)NAN : larger(x, y);
    case 8: return nan ? (Num)NAN : smaller(x, y);
    case 9: return isnan(x) ? 1 : x < -1 ? -1 : x > 1 ? 1 : x;
    case 10: return x < -1 ? -1 : x > 1 ? 1 : x;
    case 11: return x < y ? x : y;
    case 12: return isnan(x) ? 3.5L : x;
    case 13: return type == NEWT_F64 ? (Num)((double)x + 1.0) : x + 1;
    case 14: return type == NEWT_F64 ? (Num)((double)x * 0.5) : x * 0.5L;
    default:
        return type == NEWT_F64   ? (Num)fma((double)x, (double)y, (double)x)
               : type == NEWT_F32 ? (Num)fmaf((float)x, (float)y, (float)x)
                                  : fused(x, y);
    }
}

static bool flag(int row, Num x, Num y)
{
    switch (row) {
    case 0: return x == y;
    case 1: return x != y;
    case 2: return x < y;
    case 3: return x <= y;
    case 4: return x > y;
    case 5: return x >= y;
    case 6: return -2 < x && x <= 2;
    default: return !(x < y);
    }
}

typedef NewtStatus Launch(NewtDevice *device, void *x, void *y, void *out, void *wide, void *flags);

static void fill(RunCx *cx, NewtType t, void *x, void *y)
{
    num_fill(cx, t, x, COUNT);
    num_fill(cx, t, y, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        if (num_bits(t) == 16)
            num_put_code(t, y, i,
                         i % 3 ? num_code(t, x, run_random(cx) % COUNT)
                               : num_code(t, x, i) ^ run_random(cx) % 16);
        else if (i < 4096)
            num_put_code(t, x, i, num_code(t, x, i / 64)),
                num_put_code(t, y, i, num_code(t, y, i % 64));
    }
}

static void check_row(NewtType t, int row, const void *x, const void *y, const void *out)
{
    static const char *const names[ROWS] = { "+",
                                             "-",
                                             "*",
                                             "neg",
                                             "abs",
                                             "maximum",
                                             "minimum",
                                             "maximum with NaN",
                                             "minimum with NaN",
                                             "clamp",
                                             "clamp with NaN",
                                             "where",
                                             "where x == x",
                                             "x + 1",
                                             "0.5 * x",
                                             "fma" };
    for (size_t i = 0; i < COUNT; i++) {
        Num a = num_get(t, x, i), b = num_get(t, y, i);
        uint64_t want = 0;
        num_put(t, &want, 0, expected(t, row, a, b));
        Num g = num_get(t, out, (size_t)row * COUNT + i), w = num_get(t, &want, 0);
        bool same = (isnan(g) && isnan(w)) || (g == w && !signbit(g) == !signbit(w));
        if (row == 11 && a == b)
            same = g == w;
        if (!same)
            fail_msg("%s: %s of %.21Lg and %.21Lg gives %.21Lg, should be %.21Lg", num_name(t),
                     names[row], a, b, g, w);
    }
}

static void check_wide(NewtType t, NewtType w, const void *x, const void *y, const void *wide)
{
    Num worst = 0;
    for (size_t i = 0; i < COUNT; i++) {
        Num a = num_get(t, x, i), b = num_get(t, y, i),
            off = num_near(w, wide, i, a / b, 2.5L, "x / y");
        worst = off > worst ? off : worst;
        num_near(w, wide, COUNT + i, fmodl(a, b), 0, "x % y");
        if (t == w)
            num_near(w, wide, 2 * COUNT + i, a / b, 2.5L, "fdiv(x, y)");
        num_near(w, wide, 3 * COUNT + i, 1 / a, 2.5L, "1 / x");
    }
    printf("ulps of %s: / %.3Lf\n", num_name(t), worst);
}

static void run_type(RunCx *cx, NewtType t, NewtType w, Launch *launch)
{
    size_t bytes = num_size(t) * COUNT, wide_bytes = num_size(w) * COUNT * WIDE_ROWS;
    void *x = run_temp(cx, bytes), *y = run_temp(cx, bytes), *out = run_temp(cx, bytes * ROWS);
    void *wide = run_temp(cx, wide_bytes);
    unsigned char *flags = run_temp(cx, COUNT * FLAGS);
    fill(cx, t, x, y);
    void *dout = RUN_OUT(cx, bytes * ROWS), *dflags = RUN_OUT(cx, COUNT * FLAGS),
         *dwide = RUN_OUT(cx, wide_bytes);
    RUN_OK(launch(cx->device, run_buffer(cx, x, bytes, 0), run_buffer(cx, y, bytes, 0), dout, dwide,
                  dflags));
    run_get(cx, dout, out);
    run_get(cx, dwide, wide);
    run_get(cx, dflags, flags);
    for (int row = 0; row < ROWS; row++)
        check_row(t, row, x, y, out);
    for (size_t i = 0; i < COUNT; i++)
        for (int row = 0; row < FLAGS; row++)
            if (flags[(size_t)row * COUNT + i] != flag(row, num_get(t, x, i), num_get(t, y, i)))
                fail_msg("%s: comparison %d of %.21Lg and %.21Lg gives %d", num_name(t), row,
                         num_get(t, x, i), num_get(t, y, i), flags[(size_t)row * COUNT + i]);
    check_wide(t, w, x, y, wide);
}

#define FLOATS(name, TYPE, WIDE)                                                                 \
    static NewtStatus launch_##name(NewtDevice *device, void *x, void *y, void *out, void *wide, \
                                    void *flags)                                                 \
    {                                                                                            \
        return K(floats_##name)(device, NULL, x, y, out, wide, flags, COUNT);                    \
    }                                                                                            \
    static void all_##name(RunCx *cx)                                                            \
    {                                                                                            \
        run_type(cx, NEWT_##TYPE, NEWT_##WIDE, launch_##name);                                   \
    }
FLOATS(f16, F16, F32)
FLOATS(bf16, BF16, F32)
FLOATS(f32, F32, F32)
FLOATS(f64, F64, F64)

static void ieee_rounding(RunCx *cx)
{
    float *x = run_temp(cx, sizeof *x * COUNT), *y = run_temp(cx, sizeof *y * COUNT),
          *got = run_temp(cx, sizeof *x * COUNT * 3);
    fill(cx, NEWT_F32, x, y);
    void *out = RUN_OUT(cx, sizeof *x * COUNT * 3);
    RUN_OK(K(rounded)(cx->device, NULL, run_buffer(cx, x, sizeof *x * COUNT, 0),
                      run_buffer(cx, y, sizeof *y * COUNT, 0), out, COUNT));
    run_get(cx, out, got);
    for (size_t i = 0; i < COUNT; i++) {
        num_near(NEWT_F32, got, i, num_round(NEWT_F32, (Num)x[i] / (Num)y[i]), 0, "div_rn");
        num_near(NEWT_F32, got, COUNT + i, num_round(NEWT_F32, sqrtl((Num)x[i])), 0, "sqrt_rn");
        num_near(NEWT_F32, got, 2 * COUNT + i, num_round(NEWT_F32, (Num)x[i] / 3), 0,
                 "div_rn by 3");
    }
}

static void mixed_types(RunCx *cx)
{
    int32_t i32[64];
    int64_t i64[64];
    uint16_t f16[64], bf16[64];
    double got[10][64];
    for (size_t i = 0; i < 64; i++) {
        i32[i] = i == 0 ? INT32_MIN : (int32_t)run_random(cx) >> run_between(cx, 0, 28);
        i32[i] += i32[i] == 0;
        i64[i] = i == 0 ? INT64_MIN : (int64_t)run_random(cx) >> run_between(cx, 0, 60);
        num_put(NEWT_F16, f16, i, (Num)run_uniform(cx) * 100);
        num_put(NEWT_BF16, bf16, i, i == 1 ? 1e20L : (Num)run_uniform(cx) * 100);
    }
    void *out = RUN_OUT(cx, sizeof got);
    RUN_OK(K(mixed)(cx->device, NULL, RUN_IN(cx, i32), RUN_IN(cx, i64), RUN_IN(cx, f16),
                    RUN_IN(cx, bf16), out));
    run_get(cx, out, got);
    for (size_t i = 0; i < 64; i++) {
        Num a = num_round(NEWT_F32, i32[i]), l = num_round(NEWT_F32, i64[i]),
            h = num_get(NEWT_F16, f16, i);
        Num b = num_get(NEWT_BF16, bf16, i), hb = num_round(NEWT_F16, b),
            hl = num_round(NEWT_F16, i64[i]);
        run_near(got[0][i], (double)(a / 7), 2 * (double)num_ulp(NEWT_F32, a / 7), i);
        run_near(got[1][i], (double)(l / a), 2 * (double)num_ulp(NEWT_F32, l / a), i);
        run_near(got[2][i], (double)num_round(NEWT_F16, h + hb), 0, i);
        run_near(got[3][i], (double)num_round(NEWT_F16, h + hl), 0, i);
        run_near(got[4][i], (double)num_round(NEWT_F32, b + a), 0, i);
        run_near(got[5][i], (double)(a / 2), 0, i);
        run_near(got[6][i], (double)(h > 0 ? h : 0), 0, i);
        run_near(got[7][i], (double)(b > 0 ? b : 0), 0, i);
        run_near(got[8][i],
                 (double)(h == 0  ? (Num)NAN
                          : h > 0 ? (Num)INFINITY
                                  : -(Num)INFINITY),
                 0, i);
        run_near(got[9][i], (double)i32[i] * 1e300, 0, i);
    }
}

RUN_TESTS = {
    { "float16", all_f16 },
    { "bfloat16", all_bf16 },
    { "float32", all_f32 },
    { "float64", all_f64 },
    { "rounded division and root", ieee_rounding },
    { "mixed types", mixed_types },
    RUN_END,
};
