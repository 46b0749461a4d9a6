/// Softmax and layer normalisation of rows of any width, 1500 among them: the source has no mask and no block size.
/// Compared with double precision in full.
#include "array.h"
#include "tile_rows.h"

typedef struct Rows {
    NewtDevice *device;
    Array x, weight, bias, out;
    NewtTensor tensors[4];  // x, weight, bias, out
    int64_t rows, width;
} Rows;

static NewtStatus softmax(void *user)
{
    const Rows *r = user;
    return tile_softmax(r->device, NULL, r->tensors[0], r->tensors[3]);
}

static NewtStatus layernorm(void *user)
{
    const Rows *r = user;
    return tile_layernorm(r->device, NULL, r->tensors[0], r->tensors[1], r->tensors[2], r->tensors[3], 1e-5f);
}

/// Rows with `padding` elements between them, `shift` elements behind a 256-byte boundary.
static Rows rows_new(Example *ex, NewtType type, int64_t rows, int64_t width, int padding, size_t shift)
{
    Rows r = { .device = ex->device, .rows = rows, .width = width };
    const size_t count = (size_t)(rows * (width + padding));
    r.x = example_input(ex, type, count, shift);
    r.weight = example_input(ex, type, (size_t)width, 0);
    r.bias = example_input(ex, type, (size_t)width, 0);
    r.out = example_output(ex, type, count, shift);
    r.tensors[0] = newt_tensor2(r.x.buffer.at, type, rows, width);
    r.tensors[1] = newt_tensor(r.weight.buffer.at, type, 1, &width);
    r.tensors[2] = newt_tensor(r.bias.buffer.at, type, 1, &width);
    r.tensors[3] = newt_tensor2(r.out.buffer.at, type, rows, width);
    r.tensors[0].stride[0] = r.tensors[3].stride[0] = width + padding;
    return r;
}

static void rows_free(Example *ex, Rows *r)
{
    example_drop(ex, &r->x);
    example_drop(ex, &r->weight);
    example_drop(ex, &r->bias);
    example_drop(ex, &r->out);
}

static void check_softmax_row(const Rows *r, size_t from, int64_t row)
{
    const size_t width = (size_t)r->width;
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < width; i++)
        most = fmax(most, example_at(&r->x, from + i));
    for (size_t i = 0; i < width; i++)
        sum += exp(example_at(&r->x, from + i) - most);
    for (size_t i = 0; i < width; i++) {
        const double want = exp(example_at(&r->x, from + i) - most) / sum;
        example_expect(example_at(&r->out, from + i), want, 1e-5 * want + 1e-7, "softmax", (size_t)row * width + i);
    }
}

static void check_layernorm_row(const Rows *r, size_t from, int64_t row)
{
    const size_t width = (size_t)r->width;
    double mean = 0, variance = 0;
    for (size_t i = 0; i < width; i++)
        mean += example_at(&r->x, from + i);
    mean /= (double)width;
    for (size_t i = 0; i < width; i++)
        variance += pow(example_at(&r->x, from + i) - mean, 2);
    const double scale = 1 / sqrt(variance / (double)width + (double)1e-5f);
    for (size_t i = 0; i < width; i++) {
        const double normal = (example_at(&r->x, from + i) - mean) * scale * example_at(&r->weight, i);
        const double want = normal + example_at(&r->bias, i);
        const double slack = 2 * example_rounding(NEWT_F16) * fabs(want) + 1e-4 * (1 + fabs(normal));
        example_expect(example_at(&r->out, from + i), want, slack, "layernorm", (size_t)row * width + i);
    }
}

static void check(Example *ex, int normal, int64_t rows, int64_t width, int padding, size_t shift)
{
    Rows r = rows_new(ex, normal ? NEWT_F16 : NEWT_F32, rows, width, padding, shift);
    example_ok(normal ? layernorm(&r) : softmax(&r), normal ? "layernorm" : "softmax");
    example_fetch(ex, &r.out);
    for (int64_t i = 0; i < rows; i++) {
        const size_t from = (size_t)(i * (width + padding));
        if (normal)
            check_layernorm_row(&r, from, i);
        else
            check_softmax_row(&r, from, i);
    }
    rows_free(ex, &r);
}

int main(int argc, char **argv)
{
    static const int64_t shapes[][2] = { { 0, 128 },   { 1, 1 },     { 3, 2 },      { 7, 1021 },     { 64, 1500 },
                                         { 16, 4096 }, { 5, 8191 }, { 2, 50000 }, { 16384, 1500 }, { 4096, 8192 } };
    Example ex = example_open(argc, argv);
    const int small = ex.quick || example_is_host(&ex);
    const size_t count = sizeof shapes / sizeof *shapes - (small ? 2 : 0);
    for (int normal = 0; normal < 2; normal++) {
        for (size_t s = 0; s < count; s++) {
            check(&ex, normal, shapes[s][0], shapes[s][1], 0, 0);
            check(&ex, normal, shapes[s][0], shapes[s][1], 5, 1);
        }
        const int64_t rows = small ? 256 : 16384, width = 1500;
        Rows r = rows_new(&ex, normal ? NEWT_F16 : NEWT_F32, rows, width, 0, 0);
        const double bytes = 2.0 * (double)(rows * width) * (double)example_size(r.x.type);
        example_bandwidth(&ex, normal ? layernorm : softmax, &r, bytes, normal ? "layernorm 1500" : "softmax 1500");
        rows_free(&ex, &r);
    }
    return example_close(&ex);
}
