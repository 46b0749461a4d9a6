/// Softmax over the rows of a matrix, one row a program; the caller picks the instance by width.
#include "example.h"
#include "softmax.h"

typedef struct Call {
    Example *ex;
    const float *x;
    float *out;
    int32_t rows, width;
    int64_t stride;
} Call;

static NewtStatus launch(void *user)
{
    Call *c = user;
    if (c->width <= 1024)
        return softmax_1024(c->ex->device, NULL, c->x, c->out, c->rows, c->width, c->stride);
    if (c->width <= 4096)
        return softmax_4096(c->ex->device, NULL, c->x, c->out, c->rows, c->width, c->stride);
    return softmax_16384(c->ex->device, NULL, c->x, c->out, c->rows, c->width, c->stride);
}

static void check_row(const float *x, const float *got, size_t width, size_t row)
{
    double most = -INFINITY, sum = 0.0;
    for (size_t i = 0; i < width; i++)
        most = fmax(most, (double)x[i]);
    for (size_t i = 0; i < width; i++)
        sum += exp((double)x[i] - most);
    for (size_t i = 0; i < width; i++) {
        // x - max is rounded before the exponential, which turns half an ulp of it into a relative error
        double distance = most - (double)x[i], want = exp(-distance) / sum;
        example_expect((double)got[i], want, want * (1e-6 + distance * 0x1p-24), "softmax", row * width + i);
    }
}

static void check(Example *ex, size_t rows, size_t width, size_t stride, size_t shift)
{
    float *hx = example_random(ex, rows * stride);
    for (size_t i = 0; i < rows * stride; i++)
        hx[i] *= 20.0f;
    Buffer x = example_upload(ex, hx, rows * stride, shift), out = example_upload(ex, NULL, rows * stride, shift);
    Call call = { ex, x.at, out.at, (int32_t)rows, (int32_t)width, (int64_t)stride };
    example_ok(launch(&call), "softmax");
    float *got = example_download(ex, &out);
    for (size_t r = 0; r < rows; r++) {
        check_row(hx + r * stride, got + r * stride, width, r);
        for (size_t i = width; i < stride; i++)
            if (!isnan(got[r * stride + i]))
                example_expect((double)got[r * stride + i], NAN, 0.0, "softmax: padding was written", r * stride + i);
    }
    example_free(ex, &x);
    example_free(ex, &out);
    free(got);
    free(hx);
}

int main(int argc, char **argv)
{
    static const size_t shapes[][3] = { { 0, 128, 128 }, { 1, 1, 1 }, { 5, 997, 1001 }, { 37, 1024, 1024 }, { 64, 1500, 1500 },
                                        { 3, 4096, 4099 }, { 9, 16381, 16381 }, { 256, 4096, 4096 }, { 4096, 16384, 16384 } };
    Example ex = example_open(argc, argv);
    size_t count = sizeof shapes / sizeof *shapes - (ex.quick ? 1 : 0);
    for (size_t i = 0; i < count; i++)
        for (size_t shift = 0; shift < 2; shift++)
            check(&ex, shapes[i][0], shapes[i][1], shapes[i][2], shift);

    size_t rows = ex.quick ? 256 : 16384, width = 4096;
    float *host = example_random(&ex, rows * width);
    Buffer x = example_upload(&ex, host, rows * width, 0), out = example_upload(&ex, NULL, rows * width, 0);
    Call call = { &ex, x.at, out.at, (int32_t)rows, (int32_t)width, (int64_t)width };
    example_bandwidth(&ex, launch, &call, 2.0 * (double)(rows * width) * sizeof(float), "softmax");
    example_free(&ex, &x);
    example_free(&ex, &out);
    free(host);
    return example_close(&ex);
}
