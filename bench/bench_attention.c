/// Attention forward over heads of fp16 rows, all rows or those before (causal).
///
/// SAMPLES rows are computed again in double precision, scattered over heads and rows; of all
/// others the check sees that they are numbers no larger than the largest value.
#include "attention.h"
#include "bench.h"
#include "tile_attention.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SAMPLES = 1024 };

typedef struct Attention {
    Bench *b;
    BenchArray q, k, v, out;
    size_t heads, length, width;
    bool is_causal;
    double scale, largest;
} Attention;

typedef NewtStatus Function(NewtDevice *device, NewtStream stream, const NewtF16 *q,
                            const NewtF16 *k, const NewtF16 *v, NewtF16 *out, int32_t s,
                            int32_t heads, float scale);

typedef NewtStatus TileFunction(NewtDevice *device, NewtStream stream, NewtTensor q, NewtTensor k,
                                NewtTensor v, NewtTensor out, float scale);

static const struct {
    const char *name;
    size_t width;
    bool is_causal;
    Function *launch;  // one of the two
    TileFunction *tile;
} instances[] = {
#define FULL(d, name)               \
    {                               \
#name, d, false, name, NULL \
    }
#define CAUSAL(d, name)            \
    {                              \
#name, d, true, name, NULL \
    }
#define TILE(d, causal, name)        \
    {                                \
#name, d, causal, NULL, name \
    }
    FULL(64, full_d64_128x128_w8_s2),
    FULL(64, full_d64_128x64_w8_s4),
    FULL(64, full_d64_64x128_w4_s3),
    FULL(64, full_d64_256x64_w16_s4),
    FULL(64, full_d64_256x64_w8_s3),
    FULL(128, full_d128_128x128_w8_s2),
    FULL(128, full_d128_128x64_w8_s3),
    FULL(128, full_d128_64x64_w4_s3),
    CAUSAL(128, causal_d128_128x128_w8_s2),
    CAUSAL(128, causal_d128_128x64_w8_s3),
    CAUSAL(128, causal_d128_64x64_w4_s3),
    TILE(64, false, tile_full_d64_256x64_w16_s4),
    TILE(128, false, tile_full_d128_128x128_w8_s2),
    TILE(128, true, tile_causal_d128_128x128_w8_s2),
#undef TILE
#undef FULL
#undef CAUSAL
};

static const char *name_of(void *user, unsigned instance)
{
    (void)user;
    return instances[instance].name;
}

static bool fits(void *user, unsigned instance)
{
    const Attention *x = user;
    return instances[instance].width == x->width && instances[instance].is_causal == x->is_causal;
}

static NewtTensor heads_of(const Attention *x, const BenchArray *array)
{
    const int64_t shape[] = { (int64_t)x->heads, (int64_t)x->length, (int64_t)x->width };
    return newt_tensor(array->at, NEWT_F16, 3, shape);
}

static NewtStatus launch(void *user, unsigned instance)
{
    const Attention *x = user;
    if (instances[instance].tile)
        return instances[instance].tile(x->b->device, NULL, heads_of(x, &x->q), heads_of(x, &x->k),
                                        heads_of(x, &x->v), heads_of(x, &x->out), (float)x->scale);
    return instances[instance].launch(x->b->device, NULL, x->q.at, x->k.at, x->v.at, x->out.at,
                                      (int32_t)x->length, (int32_t)x->heads, (float)x->scale);
}

static double score(const Attention *x, const float *q, size_t head, size_t key)
{
    const float *k = x->k.host + (head * x->length + key) * x->width;
    double sum = 0.0;
    for (size_t d = 0; d < x->width; d++)
        sum += (double)q[d] * (double)k[d];
    return sum * x->scale;
}

/// Row `row` of all heads' rows, whole.
static void check_row(const Attention *x, size_t row, BenchCheck *found)
{
    const size_t head = row / x->length, at = row % x->length;
    const size_t keys = x->is_causal ? at + 1 : x->length;
    const float *q = x->q.host + row * x->width;
    double most = -INFINITY, total = 0.0;
    double *weights = bench_memory((keys + x->width) * sizeof *weights), *want = weights + keys;
    for (size_t j = 0; j < keys; j++)
        most = fmax(most, weights[j] = score(x, q, head, j));
    for (size_t d = 0; d < x->width; d++)
        want[d] = 0.0;
    for (size_t j = 0; j < keys; j++) {
        const float *v = x->v.host + (head * x->length + j) * x->width;
        const double weight = exp(weights[j] - most);
        total += weight;
        for (size_t d = 0; d < x->width; d++)
            want[d] += weight * (double)v[d];
    }
    // the weights are rounded to fp16 (2^-11), and so is the result
    for (size_t d = 0; d < x->width; d++)
        bench_expect(found, row * x->width + d, (double)x->out.host[row * x->width + d],
                     want[d] / total,
                     fabs(want[d] / total) * 1e-3 + 1.5e-3 / sqrt((double)keys) + 1e-5);
    free(weights);
}

static void check(void *user, size_t from, size_t to, BenchCheck *found)
{
    const Attention *x = user;
    const size_t rows = x->heads * x->length;
    for (size_t i = from; i < to; i++) {
        if (i < SAMPLES) {
            check_row(x, i * 2654435761u % rows, found);
            continue;
        }
        const size_t row = i - SAMPLES;
        for (size_t d = 0; d < x->width; d++)
            bench_expect(found, row * x->width + d, (double)x->out.host[row * x->width + d], 0.0,
                         x->largest);
    }
}

static void measure(Bench *b, size_t batch, size_t heads, size_t length, size_t width, bool causal)
{
    char shape[64];
    snprintf(shape, sizeof shape, "B%zu H%zu S%zu D%zu %s", batch, heads, length, width,
             causal ? "causal" : "full");
    if (!bench_is_wanted(b->only_shape, shape))
        return;
    const size_t n = batch * heads * length * width;
    Attention x = { b,
                    bench_array_normal(b, NEWT_F16, n),
                    bench_array_normal(b, NEWT_F16, n),
                    bench_array_normal(b, NEWT_F16, n),
                    bench_array_output(b, NEWT_F16, n),
                    batch * heads,
                    length,
                    width,
                    causal,
                    1.0 / sqrt((double)width),
                    0.0 };
    for (size_t i = 0; i < n; i++)
        x.largest = fmax(x.largest, fabs((double)x.v.host[i]));
    BenchCell cell = { "attention fp16",
                       shape,
                       0.0,
                       (causal ? 2.0 : 4.0) * (double)n * (double)length,
                       sizeof instances / sizeof *instances,
                       &x,
                       name_of,
                       fits,
                       launch,
                       &x.out,
                       check,
                       SAMPLES + x.heads * length };
    bench_cell(b, &cell);
    bench_array_free(b, &x.q);
    bench_array_free(b, &x.k);
    bench_array_free(b, &x.v);
    bench_array_free(b, &x.out);
}

int main(int argc, char **argv)
{
    Bench b = bench_open(argc, argv);
    if (b.quick) {
        measure(&b, 1, 2, 77, 64, false);
        measure(&b, 1, 1, 130, 128, false);
        measure(&b, 1, 2, 77, 128, true);
    } else {
        measure(&b, 4, 32, 4096, 64, false);
        measure(&b, 4, 16, 4096, 128, false);
        measure(&b, 4, 16, 4096, 128, true);
        measure(&b, 1, 16, 16384, 128, false);
        measure(&b, 1, 16, 16384, 128, true);
    }
    return bench_close(&b);
}
