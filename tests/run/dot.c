// Matrix products against sums in long double: types, shapes, orders of operands, accumulators,
// batches.
#include "product.h"

typedef NewtStatus Mm(NewtDevice *device, const void *a, const void *b, void *c, int32_t m,
                      int32_t n, int32_t k, int32_t a_row, int32_t a_col, int32_t b_row,
                      int32_t b_col);
#define MM(name)                                                                               \
    static NewtStatus mm_##name(NewtDevice *device, const void *a, const void *b, void *c,     \
                                int32_t m, int32_t n, int32_t k, int32_t a_row, int32_t a_col, \
                                int32_t b_row, int32_t b_col)                                  \
    {                                                                                          \
        return K(mm_##name)(device, NULL, a, b, c, m, n, k, a_row, a_col, b_row, b_col);       \
    }
MM(f16)
MM(bf16)
MM(ieee)
MM(tf32)
MM(tf32x3)
MM(bf16x3)
MM(bf16x6)
MM(f64)
MM(i8)
MM(e4m3)
MM(e5m2)
MM(fp8)
MM(16)
MM(16x8)
MM(128x32)
MM(32x128)
MM(deep)
MM(1x16)
MM(16x1)
MM(1x1)
MM(8x4)

typedef NewtStatus Fixed(NewtDevice *device, const void *a, const void *b, void *c);
#define FIXED(name)                                                                   \
    static NewtStatus name(NewtDevice *device, const void *a, const void *b, void *c) \
    {                                                                                 \
        return K(name)(device, NULL, a, b, c);                                        \
    }
FIXED(batch_f16)
FIXED(batch_f32)
FIXED(batch_bf16)

/// Each order of the factors' axes has a variant of its own for sizes in units of 16 bytes.
enum { ORDERS = 4, AT_RANDOM = ORDERS };

/// One product. `order`: which factors' axes are turned, in units of 16 elements and with many steps along K; or all of it at
/// random.
static void run_mm(RunCx *cx, Product p, Mm *launch, int32_t most, unsigned order, const char *what)
{
    const int32_t unit = order == AT_RANDOM ? 1 : 16;
    if (order == AT_RANDOM)
        order = (unsigned)(run_random(cx) % ORDERS);
    p.m = unit * (int32_t)run_between(cx, 1, most / unit);
    p.n = unit * (int32_t)run_between(cx, 1, most / unit);
    p.k = unit * (int32_t)run_between(cx, unit == 1 ? 1 : most / unit, 2 * most / unit);
    const bool turn_a = order & 1, turn_b = order & 2;
    const int32_t pad = (int32_t)run_between(cx, 0, 1) * (unit == 1 ? 8 : 16);
    p.a_row = turn_a ? 1 : (p.k + 15) / 16 * 16 + pad;
    p.a_col = turn_a ? (p.m + 15) / 16 * 16 + pad : 1;
    p.b_row = turn_b ? 1 : p.n + pad;
    p.b_col = turn_b ? p.k + pad : 1;
    const size_t a_count = (size_t)((p.m - 1) * p.a_row + (p.k - 1) * p.a_col + 1);
    const size_t b_count = (size_t)((p.k - 1) * p.b_row + (p.n - 1) * p.b_col + 1);
    const size_t c_bytes = num_size(p.c) * (size_t)(p.m * p.n);
    void *a = run_temp(cx, a_count * num_size(p.a)), *b = run_temp(cx, b_count * num_size(p.b));
    void *c = run_temp(cx, c_bytes), *dc = RUN_OUT(cx, c_bytes);
    product_fill(cx, p.a, a, a_count);
    product_fill(cx, p.b, b, b_count);
    RUN_OK(launch(cx->device, run_buffer(cx, a, a_count * num_size(p.a), 0),
                  run_buffer(cx, b, b_count * num_size(p.b), 0), dc, p.m, p.n, p.k, p.a_row,
                  p.a_col, p.b_row, p.b_col));
    run_get(cx, dc, c);
    product_check(&p, a, b, c, 0, what);
}

enum { ROUNDS = 3 };

static void types(RunCx *cx)
{
    static const struct {
        Product p;
        Mm *launch;
        const char *name;
    } cases[] = {
        { { NEWT_F16, NEWT_F16, NEWT_F32, .tf32 = false }, mm_f16, "fp16" },
        { { NEWT_BF16, NEWT_BF16, NEWT_F32, .tf32 = false }, mm_bf16, "bf16" },
        { { NEWT_F32, NEWT_F32, NEWT_F32, .tf32 = false }, mm_ieee, "ieee" },
        { { NEWT_F32, NEWT_F32, NEWT_F32, .tf32 = true }, mm_tf32, "tf32" },
        { { NEWT_F32, NEWT_F32, NEWT_F32, .tf32 = false }, mm_tf32x3, "tf32x3" },
        { { NEWT_F32, NEWT_F32, NEWT_F32, .lost = 0x1p-15L }, mm_bf16x3, "bf16x3" },
        { { NEWT_F32, NEWT_F32, NEWT_F32, .tf32 = false }, mm_bf16x6, "bf16x6" },
        { { NEWT_F64, NEWT_F64, NEWT_F64, .tf32 = false }, mm_f64, "fp64" },
        { { NEWT_I8, NEWT_I8, NEWT_I32, .tf32 = false }, mm_i8, "int8" },
        { { NEWT_F8E4M3, NEWT_F8E4M3, NEWT_F32, .tf32 = false }, mm_e4m3, "e4m3" },
        { { NEWT_F8E5M2, NEWT_F8E5M2, NEWT_F32, .tf32 = false }, mm_e5m2, "e5m2" },
        { { NEWT_F8E4M3, NEWT_F8E5M2, NEWT_F32, .tf32 = false }, mm_fp8, "e4m3 by e5m2" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned order = 0; order <= AT_RANDOM; order++) {
            run_mm(cx, cases[i].p, cases[i].launch, 100, order, cases[i].name);
            run_release(cx);
        }
}

static void shapes(RunCx *cx)
{
    static const Product f16 = { NEWT_F16, NEWT_F16, NEWT_F32, .tf32 = false };
    static const Product bf16 = { NEWT_BF16, NEWT_BF16, NEWT_F32, .tf32 = false };
    static const Product f32 = { NEWT_F32, NEWT_F32, NEWT_F32, .tf32 = false };
    static const Product i8 = { NEWT_I8, NEWT_I8, NEWT_I32, .tf32 = false };
    for (int round = 0; round < ROUNDS; round++) {
        run_mm(cx, f16, mm_16, 40, AT_RANDOM, "16 x 16 x 16");
        run_mm(cx, bf16, mm_16x8, 40, AT_RANDOM, "16 x 8 x 16");
        run_mm(cx, f16, mm_128x32, 150, AT_RANDOM, "128 x 32 x 16");
        run_mm(cx, f16, mm_32x128, 150, AT_RANDOM, "32 x 128 x 64");
        run_mm(cx, f16, mm_deep, 100, AT_RANDOM, "16 x 64 x 128");
        run_mm(cx, f16, mm_1x16, 20, AT_RANDOM, "1 x 16 x 32");
        run_mm(cx, f32, mm_16x1, 20, AT_RANDOM, "16 x 1 x 16");
        run_mm(cx, f16, mm_1x1, 5, AT_RANDOM, "1 x 1 x 16");
        run_mm(cx, i8, mm_8x4, 20, AT_RANDOM, "8 x 4 x 32");
        run_release(cx);
    }
}

static void run_batch(RunCx *cx, NewtType t, int32_t g, int32_t m, int32_t n, Fixed *launch)
{
    const size_t a_count = (size_t)(g * m * 32), b_count = (size_t)(g * n * 32),
                 c_count = (size_t)(g * m * n);
    char *a = run_temp(cx, a_count * num_size(t)), *b = run_temp(cx, b_count * num_size(t));
    float *c = run_temp(cx, c_count * sizeof *c);
    const Product p = { t, t, NEWT_F32, false, m, n, 32, 32, 1, n, 1, 0, 0 };
    void *dc = RUN_OUT(cx, c_count * sizeof *c);
    product_fill(cx, t, a, a_count);
    product_fill(cx, t, b, b_count);
    RUN_OK(launch(cx->device, run_buffer(cx, a, a_count * num_size(t), 0),
                  run_buffer(cx, b, b_count * num_size(t), 0), dc));
    run_get(cx, dc, c);
    for (int32_t i = 0; i < g; i++)
        product_check(&p, a + (size_t)(i * m * 32) * num_size(t),
                      b + (size_t)(i * n * 32) * num_size(t), c, (size_t)(i * m * n), "batch");
}

static void batches(RunCx *cx)
{
    run_batch(cx, NEWT_F16, 4, 16, 32, batch_f16);
    run_batch(cx, NEWT_F32, 2, 4, 8, batch_f32);
    run_batch(cx, NEWT_BF16, 8, 32, 16, batch_bf16);
}

static void epilogues(RunCx *cx)
{
    uint16_t a[64 * 64], b[64 * 32], c[64 * 32];
    float bias[32], rows[64], columns[32];
    Num top[32];
    const Product p = { NEWT_F16, NEWT_F16, NEWT_F32, false, 64, 32, 64, 64, 1, 32, 1, 0, 0 };
    void *dc = RUN_OUT(cx, sizeof c), *drows = RUN_OUT(cx, sizeof rows),
         *dcolumns = RUN_OUT(cx, sizeof columns);
    product_fill(cx, NEWT_F16, a, 64 * 64);
    product_fill(cx, NEWT_F16, b, 64 * 32);
    product_fill(cx, NEWT_F32, bias, 32);
    RUN_OK(K(epilogue)(cx->device, NULL, RUN_IN(cx, a), RUN_IN(cx, b), RUN_IN(cx, bias), dc, drows,
                       dcolumns));
    run_get(cx, dc, c);
    run_get(cx, drows, rows);
    run_get(cx, dcolumns, columns);
    for (int32_t m = 0; m < 64; m++) {
        Num sum = 0, slack, all = 0;
        for (int32_t n = 0; n < 32; n++) {
            Num z = product_element(&p, a, b, m, n, bias[n], &slack);
            z = z > 0 ? z : z / 2;
            all += slack + fabsl(z) * 0x1p-20L;
            sum += z;
            top[n] = m == 0 || z > top[n] ? z : top[n];
            run_near((double)num_get(NEWT_F16, c, (size_t)(m * 32 + n)), (double)z,
                     (double)(slack + num_ulp(NEWT_F16, z)), (size_t)(m * 32 + n));
        }
        run_near(rows[m], (double)sum, (double)all, (size_t)m);
    }
    for (size_t n = 0; n < 32; n++)
        run_near(columns[n], (double)top[n], 1e-4, n);
}

/// Small integers: exact in fp16 whatever is rounded when.
static void half_sums(RunCx *cx)
{
    uint16_t a[256], b[256], c[256];
    const Product p = { NEWT_F16, NEWT_F16, NEWT_F16, false, 16, 16, 16, 16, 1, 16, 1, 0, 0 };
    Num slack;
    void *dc = RUN_OUT(cx, sizeof c);
    for (size_t i = 0; i < 256; i++) {
        num_put(NEWT_F16, a, i, (Num)run_between(cx, -4, 4));
        num_put(NEWT_F16, b, i, (Num)run_between(cx, -4, 4));
    }
    RUN_OK(K(half)(cx->device, NULL, RUN_IN(cx, a), RUN_IN(cx, b), dc));
    run_get(cx, dc, c);
    for (int i = 0; i < 256; i++)
        assert_true(num_get(NEWT_F16, c, (size_t)i) ==
                    2 * product_element(&p, a, b, i / 16, i % 16, 0, &slack));
}

/// Quiet NaNs of any bits and infinities reach what they are part of, and nothing else. (A
/// signalling NaN may have nothing but bits that tf32 lacks; none comes of arithmetic. Of tf32x3 an
/// infinity may become one.)
static void no_numbers(RunCx *cx)
{
    enum { M = 40, N = 48, DEPTH = 56 };
    static const uint32_t strange[] = { 0x7fffffff, 0xffffffff, 0x7fc00000,
                                        0xffc00001, 0x7f800000, 0xff800000 };
    static Mm *const launches[] = { mm_tf32, mm_ieee };
    float a[M * DEPTH], b[DEPTH * N], c[M * N];
    for (size_t i = 0; i < sizeof launches / sizeof *launches; i++) {
        const Product p = {
            NEWT_F32, NEWT_F32, NEWT_F32, i == 0, M, N, DEPTH, DEPTH, 1, N, 1, 0, 0
        };
        void *dc = RUN_OUT(cx, sizeof c);
        product_fill(cx, NEWT_F32, a, M * DEPTH);
        product_fill(cx, NEWT_F32, b, DEPTH * N);
        for (size_t j = 0; j < sizeof strange / sizeof *strange; j++) {
            memcpy(&a[7 * j * DEPTH + (size_t)run_between(cx, 0, DEPTH - 1)], &strange[j], 4);
            memcpy(&b[(size_t)run_between(cx, 0, DEPTH - 1) * N + 5 * j], &strange[j], 4);
        }
        RUN_OK(
            launches[i](cx->device, RUN_IN(cx, a), RUN_IN(cx, b), dc, M, N, DEPTH, DEPTH, 1, N, 1));
        run_get(cx, dc, c);
        for (int32_t at = 0; at < M * N; at++) {
            Num sum = 0, slack = 0;
            for (int32_t k = 0; k < DEPTH; k++)
                sum += (Num)a[at / N * DEPTH + k] * b[k * N + at % N];
            if (isfinite(sum))
                sum = product_element(&p, a, b, at / N, at % N, 0, &slack);
            run_near(c[at], (double)sum, (double)slack, (size_t)at);
        }
    }
}

RUN_TESTS = { { "types", types },
              { "shapes", shapes },
              { "batches", batches },
              { "epilogues", epilogues },
              { "half_sums", half_sums },
              { "no_numbers", no_numbers },
              RUN_END };
