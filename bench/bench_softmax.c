/// Softmax over the rows of a matrix.
#include "bench.h"
#include "softmax.h"
#include "tile.h"

#include <math.h>
#include <stdio.h>

typedef NewtStatus RowFunction(NewtDevice *device, NewtStream stream, const float *x, float *out,
                               int32_t rows, int32_t width, int64_t stride);
typedef NewtStatus LoopFunction(NewtDevice *device, NewtStream stream, const float *x, float *out,
                                int32_t rows, int32_t width, int64_t stride, int32_t programs);

typedef NewtStatus TileFunction(NewtDevice *device, NewtStream stream, NewtTensor x,
                                NewtTensor out);

typedef struct Softmax {
    Bench *b;
    BenchArray x, out;
    size_t rows, width;
} Softmax;

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
    BLOCK(softmax_1024_w1, 1024),           BLOCK(softmax_1024_w2, 1024),
    BLOCK(softmax_1024_w4, 1024),           BLOCK(softmax_1024_w1_stream, 1024),
    BLOCK(softmax_1024_w2_stream, 1024),    BLOCK(softmax_1024_w2_in, 1024),
    BLOCK(softmax_rows_2x1024_w2, 1024),    BLOCK(softmax_rows_4x1024_w4, 1024),
    BLOCK(softmax_rows_2x1024_w4, 1024),    LOOP(softmax_loop_1024_w2, 1024, 16),
    BLOCK(softmax_4096_w4, 4096),           BLOCK(softmax_4096_w8, 4096),
    BLOCK(softmax_4096_w4_stream, 4096),    BLOCK(softmax_4096_w8_stream, 4096),
    LOOP(softmax_loop_4096_w8, 4096, 4),    BLOCK(softmax_8192_w8, 8192),
    BLOCK(softmax_8192_w16, 8192),          BLOCK(softmax_8192_w8_stream, 8192),
    BLOCK(softmax_8192_w16_stream, 8192),   LOOP(softmax_loop_8192_w16, 8192, 2),
    BLOCK(softmax_16384_w16, 16384),        BLOCK(softmax_16384_w32, 16384),
    BLOCK(softmax_16384_w16_stream, 16384), BLOCK(softmax_16384_w32_in, 16384),
    LOOP(softmax_loop_16384_w32, 16384, 1), ANY(softmax_twice_2048_w4, 2048),
    ANY(softmax_twice_4096_w8, 4096),       TILE(tile_softmax),
#undef BLOCK
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
    size_t width = ((const Softmax *)user)->width;
    return instances[instance].above < width && width <= instances[instance].width;
}

static NewtStatus launch(void *user, unsigned instance)
{
    const Softmax *c = user;
    NewtDevice *device = c->b->device;
    int32_t rows = (int32_t)c->rows, width = (int32_t)c->width;
    if (instances[instance].launch)
        return instances[instance].launch(device, NULL, c->x.at, c->out.at, rows, width, width);
    if (instances[instance].tile)
        return instances[instance].tile(
            device, NULL, newt_tensor2(c->x.at, NEWT_F32, (int64_t)c->rows, (int64_t)c->width),
            newt_tensor2(c->out.at, NEWT_F32, (int64_t)c->rows, (int64_t)c->width));
    int32_t programs = (int32_t)(instances[instance].programs * c->b->processors);
    return instances[instance].loop(device, NULL, c->x.at, c->out.at, rows, width, width, programs);
}

static void check(void *user, size_t from, size_t to, BenchCheck *found)
{
    const Softmax *c = user;
    for (size_t r = from; r < to; r++) {
        const float *x = c->x.host + r * c->width, *got = c->out.host + r * c->width;
        double most = -INFINITY, sum = 0.0;
        for (size_t i = 0; i < c->width; i++)
            most = fmax(most, (double)x[i]);
        for (size_t i = 0; i < c->width; i++)
            sum += exp((double)x[i] - most);
        for (size_t i = 0; i < c->width; i++) {
            double want = exp((double)x[i] - most) / sum;
            bench_expect(found, r * c->width + i, (double)got[i], want, want * 4e-6);
        }
    }
}

static void measure(Bench *b, size_t rows, size_t width)
{
    char shape[32];
    snprintf(shape, sizeof shape, "%zux%zu", rows, width);
    if (!bench_is_wanted(b->only_shape, shape))
        return;
    size_t n = rows * width;
    Softmax c = { b, bench_array_normal(b, NEWT_F32, n), bench_array_output(b, NEWT_F32, n), rows,
                  width };
    BenchCell cell = { "softmax",
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
    bench_array_free(b, &c.out);
}

int main(int argc, char **argv)
{
    static const size_t shapes[][2] = { { 4096, 1024 },  { 4096, 4096 },  { 4096, 8192 },
                                        { 4096, 16384 }, { 32768, 1024 }, { 16384, 8192 } };
    static const size_t quick[][2] = { { 7, 1000 }, { 3, 4092 }, { 2, 8192 }, { 3, 16380 } };
    Bench b = bench_open(argc, argv);
    size_t count = b.quick ? sizeof quick / sizeof *quick : sizeof shapes / sizeof *shapes;
    for (size_t i = 0; i < count; i++) {
        const size_t *shape = b.quick ? quick[i] : shapes[i];
        measure(&b, shape[0], shape[1]);
    }
    return bench_close(&b);
}
