// Elementwise functions against long double: all inputs of 16-bit types, boundaries and random ones
// of the others.
#include "number.h"

enum { COUNT = 65536, RANDOM_COUNT = 20000 };

static Num f_rsqrt(Num x)
{
    return 1 / sqrtl(x);
}

static Num f_sigmoid(Num x)
{
    return 1 / (1 + expl(-x));
}

static Num f_round(Num x)
{
    return roundl(x);
}

/// A function and its greatest error in fp32: the bounds of the reference.
static const struct Function {
    const char *name;
    Num (*of)(Num x);
    Num ulps;
} table[] = {
    { "exp", expl, 2 },     { "exp2", exp2l, 2.5L },     { "log", logl, 1 },
    { "log2", log2l, 1 },   { "sqrt", sqrtl, 1 },        { "rsqrt", f_rsqrt, 1.5L },
    { "sin", sinl, 1.5L },  { "cos", cosl, 1.5L },       { "tanh", tanhl, 2.5L },
    { "erf", erfl, 1.5L },  { "sigmoid", f_sigmoid, 4 }, { "expm1", expm1l, 2 },
    { "log1p", log1pl, 2 }, { "floor", floorl, 0 },      { "ceil", ceill, 0 },
    { "abs", fabsl, 0 },    { "round", f_round, 0 },     { "rint", rintl, 0 },
    { "trunc", truncl, 0 },
};
enum { ROWS = sizeof table / sizeof *table };

typedef NewtStatus Launch(NewtDevice *device, void *x, void *out, void *flags, int32_t n);

/// 16-bit types are computed in fp32 and rounded once: half an ulp of their own and what fp32 was
/// off. Nothing is promised about fp64 beyond the quality of a C library.
static Num bound(NewtType t, Num ulps)
{
    if (ulps == 0)
        return 0;
    return num_bits(t) == 16 ? 0.51L : t == NEWT_F64 ? ulps + 1 : ulps;
}

/// The reference's table of accuracy keeps the greatest of what this prints.
static void print_worst(NewtType t, const Num *worst)
{
    printf("ulps of %s:", num_name(t));
    for (size_t row = 0; row < ROWS; row++)
        if (table[row].ulps > 0)
            printf(" %s %.3Lf", table[row].name, worst[row]);
    printf("\n");
}

static void run_type(RunCx *cx, NewtType t, Launch *launch)
{
    size_t n = num_bits(t) == 16 ? COUNT : RANDOM_COUNT, bytes = num_size(t) * n;
    void *x = run_temp(cx, bytes), *out = run_temp(cx, bytes * ROWS),
         *dout = RUN_OUT(cx, bytes * ROWS);
    unsigned char *flags = run_temp(cx, 2 * n);
    void *dflags = RUN_OUT(cx, 2 * n);
    num_fill(cx, t, x, n);
    for (size_t i = 64; num_bits(t) > 16 && i < n; i++)
        if (i % 2)
            num_put(t, x, i,
                    (Num)run_uniform(cx) * (i % 4 == 1   ? 20
                                            : i % 8 == 3 ? 1
                                                         : 100) +
                        (Num)run_uniform(cx) * 1e-6L);
    RUN_OK(launch(cx->device, run_buffer(cx, x, bytes, 0), dout, dflags, (int32_t)n));
    run_get(cx, dout, out);
    run_get(cx, dflags, flags);
    Num worst[ROWS] = { 0 };
    for (size_t row = 0; row < ROWS; row++)
        for (size_t i = 0; i < n; i++) {
            char what[80];
            Num v = num_get(t, x, i);
            snprintf(what, sizeof what, "%s(%.21Lg)", table[row].name, v);
            Num want = table[row].of(v);
            // exp(-x) overflows before the quotient does: where that is subnormal, 0 is right too.
            if (table[row].of == f_sigmoid && want < (t == NEWT_F64 ? 0x1p-1020L : 0x1p-124L) &&
                num_get(t, out, row * n + i) == 0)
                continue;
            Num off = num_near(t, out, row * n + i, want, bound(t, table[row].ulps), what);
            worst[row] = off > worst[row] ? off : worst[row];
        }
    print_worst(t, worst);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(flags[i], isnan(num_get(t, x, i)) != 0);
        assert_int_equal(flags[n + i], isinf(num_get(t, x, i)) != 0);
    }
}

#define FUNCTIONS(name, TYPE)                                                            \
    static NewtStatus launch_##name(NewtDevice *device, void *x, void *out, void *flags, \
                                    int32_t n)                                           \
    {                                                                                    \
        return K(functions_##name)(device, NULL, x, out, flags, n);                      \
    }                                                                                    \
    static void all_##name(RunCx *cx)                                                    \
    {                                                                                    \
        run_type(cx, NEWT_##TYPE, launch_##name);                                        \
    }
FUNCTIONS(f16, F16)
FUNCTIONS(bf16, BF16)
FUNCTIONS(f32, F32)
FUNCTIONS(f64, F64)

/// The code of a signalling NaN.
static uint64_t signalling(NewtType t)
{
    return t == NEWT_F16    ? 0x7d00
           : t == NEWT_BF16 ? 0x7fa0
           : t == NEWT_F32  ? 0x7fa00000
                            : 0x7ff4000000000000;
}

typedef NewtStatus Powers(NewtDevice *device, void *x, void *y, void *out, int32_t n);

static void run_powers(RunCx *cx, NewtType t, Powers *launch)
{
    const size_t bytes = num_size(t) * COUNT;
    void *x = run_temp(cx, bytes), *y = run_temp(cx, bytes), *out = run_temp(cx, bytes),
         *dout = RUN_OUT(cx, bytes);
    Num worst = 0;
    num_fill(cx, t, x, COUNT);
    num_fill(cx, t, y, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        if (i % 4 == 1)
            num_put(t, x, i, fabsl((Num)run_uniform(cx)) * 20);
        if (i % 4 > 1)
            num_put(t, y, i, (Num)run_uniform(cx) * 8);
        else
            num_put_code(t, y, i, num_code(t, y, run_random(cx) % COUNT));
    }
    num_put_code(t, x, 0, signalling(t));
    num_put(t, y, 0, 0);
    num_put(t, x, 1, 1);
    num_put_code(t, y, 1, signalling(t));
    RUN_OK(
        launch(cx->device, run_buffer(cx, x, bytes, 0), run_buffer(cx, y, bytes, 0), dout, COUNT));
    run_get(cx, dout, out);
    assert_true(num_get(t, out, 0) == 1 && num_get(t, out, 1) == 1);
    for (size_t i = 0; i < COUNT; i++) {
        char what[96];
        Num a = num_get(t, x, i), b = num_get(t, y, i);
        snprintf(what, sizeof what, "pow(%.21Lg, %.21Lg)", a, b);
        Num off = num_near(t, out, i, powl(a, b), bound(t, 4.5L), what);
        worst = off > worst ? off : worst;
    }
    printf("ulps of %s: pow %.3Lf\n", num_name(t), worst);
}

#define POWERS(name)                                                                            \
    static NewtStatus powers_##name(NewtDevice *device, void *x, void *y, void *out, int32_t n) \
    {                                                                                           \
        return K(powers_##name)(device, NULL, x, y, out, n);                                    \
    }
POWERS(f16)
POWERS(bf16)
POWERS(f32)
POWERS(f64)

static void powers(RunCx *cx)
{
    run_powers(cx, NEWT_F16, powers_f16);
    run_powers(cx, NEWT_BF16, powers_bf16);
    run_powers(cx, NEWT_F32, powers_f32);
    run_powers(cx, NEWT_F64, powers_f64);
}

static void other_spellings(RunCx *cx)
{
    enum { N = 1000 };
    float x[N], y[N], got[7 * N];
    for (size_t i = 0; i < N; i++) {
        x[i] = run_uniform(cx) * 20;
        y[i] = run_uniform(cx) * 4;
    }
    void *out = RUN_OUT(cx, sizeof got);
    RUN_OK(K(spellings)(cx->device, NULL, RUN_IN(cx, x), RUN_IN(cx, y), out, N));
    run_get(cx, out, got);
    for (size_t i = 0; i < N; i++) {
        for (size_t row = 0; row < 3; row++)
            num_near(NEWT_F32, got, row * N + i, expl(x[i]), 2, "exp");
        num_near(NEWT_F32, got, 3 * N + i, sqrtl(fabsl(x[i])), 1, "sqrt(abs)");
        num_near(NEWT_F32, got, 4 * N + i, powl(fabsl(x[i]), y[i]), 4.5L, "pow");
        num_near(NEWT_F32, got, 5 * N + i, expl(1.5L), 2, "exp(1.5)");
        num_near(NEWT_F32, got, 6 * N + i, sqrtl(2) * x[i], 2, "sqrt(2) * x");
    }
}

static void edge_values(RunCx *cx)
{
    static const float x[9] = { 88.8f, -104.0f, -1, 0, -0.0f, -2.5f, 1e6f, -1e6f, 1e-40f };
    float got[11];
    void *out = RUN_OUT(cx, sizeof got);
    RUN_OK(K(edges)(cx->device, NULL, RUN_IN(cx, x), out));
    run_get(cx, out, got);
    assert_true(isinf(got[0]) && got[0] > 0);
    assert_true(got[1] == 0);
    assert_true(isnan(got[2]));
    assert_true(isinf(got[3]) && got[3] < 0);
    assert_true(got[4] == 0 && signbit(got[4]));
    assert_true(got[5] == -3);
    assert_true(got[6] == 1);
    assert_true(got[7] == 0);
    num_near(NEWT_F32, got, 8, sqrtl(1e-40f), 1, "sqrt of a subnormal");
    num_near(NEWT_F32, got, 9, 1 / sqrtl(1e-40f), 1.5L, "rsqrt of a subnormal");
    assert_true(isinf(got[10]));
}

RUN_TESTS = {
    { "float16", all_f16 },         { "bfloat16", all_bf16 },
    { "float32", all_f32 },         { "float64", all_f64 },
    { "powers", powers },           { "spellings", other_spellings },
    { "edge values", edge_values }, RUN_END,
};
