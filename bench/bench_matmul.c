/// Matrix products with fp32 accumulation. BENCH_TYPES chooses the suite: 16-bit factors, fp32
/// factors rounded to tf32, or e4m3 factors with B given as its transpose.
///
/// A result is checked twice in double precision: SAMPLES elements each against their sum of
/// products, and every row against the product with a vector of random signs, C v = A (B v), which
/// sees any element that is far off. Sums of e4m3 products may be off by more than rounding: Hopper
/// keeps about 14 bits of them from one instruction to the next, as the peers' fast accumulation
/// does.
#include "bench.h"
#include "matmul.h"
#include "tile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SAMPLES = 4096 };
#define SUITE_MATMUL 1
#define SUITE_TF32   2
#define SUITE_FP8    3

#if BENCH_TYPES == SUITE_MATMUL
typedef NewtF16 Factor;
typedef NewtF16 Sum;
#elif BENCH_TYPES == SUITE_TF32
typedef float Factor;
typedef float Sum;
#else
typedef NewtE4m3 Factor;
typedef NewtF16 Sum;
#endif

typedef struct Matmul {
    Bench *b;
    BenchArray a, b_factor, c;
    size_t m, n, k;
    NewtType type;
    bool is_transposed;  // B is [n, k]
    signed char *sign;   // v, n entries
    double *want;        // A (B v), m entries
    double rounding;     // of one stored element, relative
    double noise;        // of one sum, in units of sqrt(k)
} Matmul;

typedef NewtStatus Function(NewtDevice *device, NewtStream stream, const Factor *a, const Factor *b,
                            Sum *c, int32_t m, int32_t n, int32_t k, int64_t lda, int64_t ldb,
                            int64_t ldc);
typedef NewtStatus Bf16Function(NewtDevice *device, NewtStream stream, const NewtBf16 *a,
                                const NewtBf16 *b, NewtBf16 *c, int32_t m, int32_t n, int32_t k,
                                int64_t lda, int64_t ldb, int64_t ldc);

typedef NewtStatus TileFunction(NewtDevice *device, NewtStream stream, NewtTensor x, NewtTensor y,
                                NewtTensor out);

typedef struct Instance {
    const char *name;
    Function *launch;  // one of the three
    Bf16Function *bf16;
    TileFunction *tile;
    size_t most_rows;  // of C; 0: any number
} Instance;

#define ANY(name)                  \
    {                              \
#name, name, NULL, NULL, 0 \
    }
#define BF16(name)                 \
    {                              \
#name, NULL, name, NULL, 0 \
    }
#define ROWS(name, rows)              \
    {                                 \
#name, name, NULL, NULL, rows \
    }
#define TILE(name)                 \
    {                              \
#name, NULL, NULL, name, 0 \
    }
static const Instance instances[] = {
#if BENCH_TYPES == SUITE_MATMUL
    ANY(fp16_128x256x64_w8_s4),
    ANY(fp16_256x128x64_w8_s4),
    ANY(fp16_128x128x64_w8_s6),
    ANY(fp16_128x128x64_w4_s6),
    ANY(fp16_128x64x64_w8_s8),
    ANY(fp16_64x128x64_w4_s8),
    ANY(fp16_128x192x64_w4_s4),
    ROWS(fp16_64x128x64_w4_s8_evict, 256),
    ROWS(fp16_128x64x64_w8_s8_evict, 256),
    ROWS(fp16_64x128x64_w4_s8_flat, 1024),
    ROWS(fp16_128x64x64_w8_s8_flat, 1024),
    ROWS(fp16_128x256x64_w8_s4_flat, 2048),
    ROWS(fp16_128x128x64_w4_s6_flat, 2048),
    ROWS(fp16_64x128x64_w4_s8_pairs, 1024),
    ANY(fp16_128x256x64_w8_s4_pairs),
    ANY(fp16_128x128x64_w4_s6_pairs),
    ROWS(fp16_skinny_16x64x128_w4_s6, 128),
    ROWS(fp16_skinny_16x64x256_w4_s4, 128),
    TILE(tile_matmul_128x256x64_w8_s4),
    TILE(tile_matmul_128x128x64_w8_s6),
    TILE(tile_matmul_128x64x64_w8_s8),
    BF16(bf16_128x256x64_w8_s4),
    BF16(bf16_256x128x64_w8_s4),
    BF16(bf16_128x128x64_w4_s6),
    BF16(bf16_128x192x64_w4_s4),
#elif BENCH_TYPES == SUITE_TF32
    ANY(tf32_256x128x32_w8_s4),
    ANY(tf32_128x128x32_w8_s4),
    ROWS(tf32_128x128x32_w8_s6_flat, 1024),
    ROWS(tf32_128x64x32_w4_s8_flat, 1024),
    ROWS(tf32_64x128x32_w8_s8_flat, 1024),
    ROWS(tf32_128x64x32_w4_s8_pairs, 1024),
#else
    ANY(fp8_128x256x128_w8_s4),
    ANY(fp8_256x128x128_w8_s4),
    ANY(fp8_128x128x128_w8_s6),
    ANY(fp8_128x128x128_w4_s6),
#endif
};
#undef ANY
#undef BF16
#undef ROWS
#undef TILE

static const char *name_of(void *user, unsigned instance)
{
    (void)user;
    return instances[instance].name;
}

static bool fits(void *user, unsigned instance)
{
    const Matmul *x = user;
    const Instance *i = &instances[instance];
    return (i->bf16 != NULL) == (x->type == NEWT_BF16) &&
           (i->most_rows == 0 || x->m <= i->most_rows);
}

static NewtStatus launch(void *user, unsigned instance)
{
    const Matmul *x = user;
    const Instance *i = &instances[instance];
    const int32_t m = (int32_t)x->m, n = (int32_t)x->n, k = (int32_t)x->k;
    const int64_t ldb = x->is_transposed ? k : n;
    if (i->tile)
        return i->tile(x->b->device, NULL, newt_tensor2(x->a.at, x->type, m, k),
                       newt_tensor2(x->b_factor.at, x->type, k, n),
                       newt_tensor2(x->c.at, x->type, m, n));
    return i->bf16
               ? i->bf16(x->b->device, NULL, x->a.at, x->b_factor.at, x->c.at, m, n, k, k, ldb, n)
               : i->launch(x->b->device, NULL, x->a.at, x->b_factor.at, x->c.at, m, n, k, k, ldb,
                           n);
}

/* ---- checking ---- */

static double factor_b(const Matmul *x, size_t p, size_t j)
{
    return (double)x->b_factor.host[x->is_transposed ? j * x->k + p : p * x->n + j];
}

static void signed_rows_of_b(void *user, size_t from, size_t to)
{
    Matmul *x = user;
    for (size_t p = from; p < to; p++) {
        double sum = 0.0;
        for (size_t j = 0; j < x->n; j++)
            sum += x->sign[j] * factor_b(x, p, j);
        x->want[x->m + p] = sum;
    }
}

static void rows_of_a(void *user, size_t from, size_t to)
{
    Matmul *x = user;
    const double *y = x->want + x->m;
    for (size_t i = from; i < to; i++) {
        double sum = 0.0;
        for (size_t p = 0; p < x->k; p++)
            sum += (double)x->a.host[i * x->k + p] * y[p];
        x->want[i] = sum;
    }
}

static void check_row(const Matmul *x, size_t i, BenchCheck *found)
{
    const double size = sqrt((double)x->k);
    double sum = 0.0;
    for (size_t j = 0; j < x->n; j++)
        sum += x->sign[j] * (double)x->c.host[i * x->n + j];
    bench_expect(found, i * x->n, sum, x->want[i],
                 8.0 * sqrt((double)x->n) * size * (x->rounding + x->noise / 3.0));
}

static void check_sample(const Matmul *x, size_t index, BenchCheck *found)
{
    // a fixed scatter over rows and columns: both multipliers are odd and far from powers of two
    const size_t i = index * 2654435761u % x->m, j = index * 40503u % x->n;
    double sum = 0.0;
    for (size_t p = 0; p < x->k; p++)
        sum += (double)x->a.host[i * x->k + p] * factor_b(x, p, j);
    bench_expect(found, i * x->n + j, (double)x->c.host[i * x->n + j], sum,
                 fabs(sum) * x->rounding + sqrt((double)x->k) * x->noise);
}

static void check(void *user, size_t from, size_t to, BenchCheck *found)
{
    const Matmul *x = user;
    for (size_t at = from; at < to; at++) {
        if (at < SAMPLES)
            check_sample(x, at, found);
        else
            check_row(x, at - SAMPLES, found);
    }
}

/* ---- one shape ---- */

static void measure(Bench *b, const char *suite, NewtType type, const size_t shape[3])
{
    char text[48];
    const size_t m = shape[0], n = shape[1], k = shape[2];
    const NewtType stored = type == NEWT_F8E4M3 ? NEWT_F16 : type;
    snprintf(text, sizeof text, "%zux%zux%zu", m, n, k);
    if (!bench_is_wanted(b->only_shape, text))
        return;
    Matmul x = { b,
                 bench_array_normal(b, type, m * k),
                 bench_array_normal(b, type, k * n),
                 bench_array_output(b, stored, m * n),
                 m,
                 n,
                 k,
                 type,
                 type == NEWT_F8E4M3,
                 bench_memory(n),
                 bench_memory((m + k) * sizeof(double)),
                 type == NEWT_F32    ? 0x1p-20
                 : type == NEWT_BF16 ? 0x1.01p-8
                                     : 0x1.01p-11,
                 type == NEWT_F32      ? 6e-3
                 : type == NEWT_F8E4M3 ? (double)k / 32.0 * 0x1p-13
                                       : 2e-4 };
    for (size_t j = 0; j < n; j++)
        x.sign[j] = (j * 2654435761u >> 13 & 1) ? 1 : -1;
    bench_parallel(b, k, signed_rows_of_b, &x);
    bench_parallel(b, m, rows_of_a, &x);
    BenchCell cell = { suite,
                       text,
                       0.0,
                       2.0 * (double)m * (double)n * (double)k,
                       sizeof instances / sizeof *instances,
                       &x,
                       name_of,
                       fits,
                       launch,
                       &x.c,
                       check,
                       SAMPLES + m };
    bench_cell(b, &cell);
    bench_array_free(b, &x.a);
    bench_array_free(b, &x.b_factor);
    bench_array_free(b, &x.c);
    free(x.sign);
    free(x.want);
}

int main(int argc, char **argv)
{
    static const size_t quick[][3] = { { 100, 72, 200 }, { 16, 130, 33 }, { 5, 256, 64 } };
#if BENCH_TYPES == SUITE_MATMUL
    static const size_t shapes[][3] = {
        { 1024, 1024, 1024 }, { 2048, 2048, 2048 }, { 4096, 4096, 4096 },
        { 8192, 8192, 8192 }, { 16, 8192, 8192 },   { 128, 8192, 8192 },
        { 4096, 4096, 512 },  { 1000, 1000, 1000 }, { 8192, 1024, 4096 },
    };
    static const char suite[] = "matmul fp16";
    static const NewtType type = NEWT_F16;
#elif BENCH_TYPES == SUITE_TF32
    static const size_t shapes[][3] = {
        { 1024, 1024, 1024 },
        { 2048, 2048, 2048 },
        { 4096, 4096, 4096 },
        { 8192, 8192, 8192 },
    };
    static const char suite[] = "matmul tf32";
    static const NewtType type = NEWT_F32;
#else
    static const size_t shapes[][3] = { { 2048, 2048, 2048 },
                                        { 4096, 4096, 4096 },
                                        { 8192, 8192, 8192 } };
    static const char suite[] = "matmul fp8e4m3";
    static const NewtType type = NEWT_F8E4M3;
#endif
    Bench b = bench_open(argc, argv);
    const size_t count = b.quick ? sizeof quick / sizeof *quick : sizeof shapes / sizeof *shapes;
    for (size_t i = 0; i < count; i++)
        measure(&b, suite, type, b.quick ? quick[i] : shapes[i]);
#if BENCH_TYPES == SUITE_MATMUL
    const size_t large[3] = { 8192, 8192, 8192 };
    measure(&b, "matmul bf16", NEWT_BF16, b.quick ? quick[0] : large);
#endif
    return bench_close(&b);
}
