/// Layer normalisation over the rows of a matrix, with weight and bias.
#include "bench.h"
#include "layernorm.h"
#include "tile.h"

#include <math.h>
#include <stdio.h>

typedef NewtStatus RowFunction(NewtDevice *device, NewtStream stream, const float *x,
                               const float *weight, const float *bias, float *out, int32_t rows,
                               int32_t width, int64_t stride, float eps);
typedef NewtStatus LoopFunction(NewtDevice *device, NewtStream stream, const float *x,
                                const float *weight, const float *bias, float *out, int32_t rows,
                                int32_t width, int64_t stride, float eps, int32_t programs);

typedef NewtStatus TileFunction(NewtDevice *device, NewtStream stream, NewtTensor x,
                                NewtTensor weight, NewtTensor bias, NewtTensor out, float eps);

static const float epsilon = 1e-5f;

typedef struct LayerNorm {
    Bench *b;
    BenchArray x, weight, bias, out;
    size_t rows, width;
} LayerNorm;

static const struct {
    const char *name;
    size_t above, width;  // for rows of above < width <= width elements
    RowFunction *launch;  // one of the three
    LoopFunction *loop;
    TileFunction *tile;
    unsigned programs;  // of the loop, for each processor
} instances[] = {
#define BLOCK(name, block)                             \
    {                                                  \
#name, (block) / 2, block, name, NULL, NULL, 0 \
    }
#define SPLIT(name)                            \
    {                                          \
#name, 1024, 1536, name, NULL, NULL, 0 \
    }
#define LOOP(name, block, programs)                           \
    {                                                         \
#name, (block) / 2, block, NULL, name, NULL, programs \
    }
#define ANY(name, above)                            \
    {                                               \
#name, above, SIZE_MAX, name, NULL, NULL, 0 \
    }
#define TILE(name)                              \
    {                                           \
#name, 0, SIZE_MAX, NULL, NULL, name, 0 \
    }
    BLOCK(layernorm_1024_w1, 1024),
    BLOCK(layernorm_1024_w2, 1024),
    BLOCK(layernorm_1024_w4, 1024),
    BLOCK(layernorm_1024_w2_stream, 1024),
    BLOCK(layernorm_1024_w4_stream, 1024),
    BLOCK(layernorm_1024_w4_late, 1024),
    LOOP(layernorm_loop_1024_w2, 1024, 10),
    SPLIT(layernorm_split_1536_w1),
    SPLIT(layernorm_split_1536_w2),
    SPLIT(layernorm_split_1536_w4),
    BLOCK(layernorm_2048_w4, 2048),
    BLOCK(layernorm_2048_w8, 2048),
    BLOCK(layernorm_2048_w4_stream, 2048),
    BLOCK(layernorm_2048_w8_late, 2048),
    LOOP(layernorm_loop_2048_w4, 2048, 5),
    BLOCK(layernorm_4096_w8, 4096),
    BLOCK(layernorm_4096_w8_stream, 4096),
    BLOCK(layernorm_4096_w16, 4096),
    BLOCK(layernorm_4096_w16_late, 4096),
    LOOP(layernorm_loop_4096_w8, 4096, 2),
    BLOCK(layernorm_8192_w16, 8192),
    BLOCK(layernorm_8192_w16_stream, 8192),
    LOOP(layernorm_loop_8192_w16, 8192, 1),
    ANY(layernorm_twice_2048_w4, 2048),
    TILE(tile_layernorm),
#undef BLOCK
#undef SPLIT
#undef LOOP
#undef ANY
#undef TILE
};

static const char *name_of(void *user, unsigned instance)
{
    (void)user;
    return instances[instance].name;
}

static bool fits(void *user, unsigned instance)
{
    size_t width = ((const LayerNorm *)user)->width;
    return instances[instance].above < width && width <= instances[instance].width;
}

static NewtStatus launch(void *user, unsigned instance)
{
    const LayerNorm *c = user;
    NewtDevice *device = c->b->device;
    int32_t rows = (int32_t)c->rows, width = (int32_t)c->width;
    if (instances[instance].launch)
        return instances[instance].launch(device, NULL, c->x.at, c->weight.at, c->bias.at,
                                          c->out.at, rows, width, width, epsilon);
    if (instances[instance].tile) {
        const int64_t n = (int64_t)c->width;
        return instances[instance].tile(
            device, NULL, newt_tensor2(c->x.at, NEWT_F32, (int64_t)c->rows, n),
            newt_tensor(c->weight.at, NEWT_F32, 1, &n), newt_tensor(c->bias.at, NEWT_F32, 1, &n),
            newt_tensor2(c->out.at, NEWT_F32, (int64_t)c->rows, n), epsilon);
    }
    int32_t programs = (int32_t)(instances[instance].programs * c->b->processors);
    return instances[instance].loop(device, NULL, c->x.at, c->weight.at, c->bias.at, c->out.at,
                                    rows, width, width, epsilon, programs);
}

static void check_row(const LayerNorm *c, size_t row, BenchCheck *found)
{
    const float *x = c->x.host + row * c->width, *got = c->out.host + row * c->width;
    double mean = 0.0, variance = 0.0;
    for (size_t i = 0; i < c->width; i++)
        mean += (double)x[i];
    mean /= (double)c->width;
    for (size_t i = 0; i < c->width; i++)
        variance += ((double)x[i] - mean) * ((double)x[i] - mean);
    double scale = 1.0 / sqrt(variance / (double)c->width + (double)epsilon);
    for (size_t i = 0; i < c->width; i++) {
        double weight = (double)c->weight.host[i], bias = (double)c->bias.host[i];
        double scaled = ((double)x[i] - mean) * scale * weight;
        double allowed = 2e-6 * (fabs(scaled) + fabs(weight) + fabs(bias));
        bench_expect(found, row * c->width + i, (double)got[i], scaled + bias, allowed);
    }
}

static void check(void *user, size_t from, size_t to, BenchCheck *found)
{
    for (size_t row = from; row < to; row++)
        check_row(user, row, found);
}

static void measure(Bench *b, size_t rows, size_t width)
{
    char shape[32];
    snprintf(shape, sizeof shape, "%zux%zu", rows, width);
    if (!bench_is_wanted(b->only_shape, shape))
        return;
    size_t n = rows * width;
    LayerNorm c = { b,
                    bench_array_normal(b, NEWT_F32, n),
                    bench_array_normal(b, NEWT_F32, width),
                    bench_array_normal(b, NEWT_F32, width),
                    bench_array_output(b, NEWT_F32, n),
                    rows,
                    width };
    BenchCell cell = { "layernorm",
                       shape,
                       8.0 * (double)n,
                       0.0,
                       sizeof instances / sizeof *instances,
                       &c,
                       name_of,
                       fits,
                       launch,
                       &c.out,
                       check,
                       rows };
    bench_cell(b, &cell);
    bench_array_free(b, &c.x);
    bench_array_free(b, &c.weight);
    bench_array_free(b, &c.bias);
    bench_array_free(b, &c.out);
}

int main(int argc, char **argv)
{
    static const size_t shapes[][2] = { { 4096, 1024 }, { 4096, 2048 },  { 4096, 4096 },
                                        { 4096, 8192 }, { 32768, 1024 }, { 16384, 8192 },
                                        { 16384, 1500 } };
    static const size_t quick[][2] = {
        { 7, 1000 }, { 5, 1500 }, { 3, 2048 }, { 3, 4092 }, { 2, 8192 }
    };
    Bench b = bench_open(argc, argv);
    size_t count = b.quick ? sizeof quick / sizeof *quick : sizeof shapes / sizeof *shapes;
    for (size_t i = 0; i < count; i++) {
        const size_t *shape = b.quick ? quick[i] : shapes[i];
        measure(&b, shape[0], shape[1]);
    }
    return bench_close(&b);
}
