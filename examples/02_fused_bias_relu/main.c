/// Bias and ReLU in one pass over a matrix whose rows need not be packed.
#include "bias_relu.h"
#include "example.h"

typedef struct Call {
    Example *ex;
    const float *x, *bias;
    float *out;
    int32_t rows, width;
    int64_t stride;
} Call;

static NewtStatus launch(void *user)
{
    Call *c = user;
    return bias_relu(c->ex->device, NULL, c->x, c->bias, c->out, c->rows, c->width, c->stride);
}

static void check(Example *ex, size_t rows, size_t width, size_t stride, size_t shift)
{
    float *hx = example_random(ex, rows * stride), *hb = example_random(ex, width);
    Buffer x = example_upload(ex, hx, rows * stride, shift), bias = example_upload(ex, hb, width, shift);
    Buffer out = example_upload(ex, NULL, rows * stride, shift);
    Call call = { ex, x.at, bias.at, out.at, (int32_t)rows, (int32_t)width, (int64_t)stride };
    example_ok(launch(&call), "bias_relu");
    float *got = example_download(ex, &out);
    for (size_t i = 0; i < rows * stride; i++) {
        size_t col = i % stride;
        if (col >= width) {
            if (!isnan(got[i]))
                example_expect((double)got[i], NAN, 0.0, "bias_relu: padding was written", i);
            continue;
        }
        double want = fmax((double)hx[i] + (double)hb[col], 0.0);
        example_expect((double)got[i], want, fabs(want) * 0x1p-24, "bias_relu", i);
    }
    example_free(ex, &x);
    example_free(ex, &bias);
    example_free(ex, &out);
    free(got);
    free(hx);
    free(hb);
}

int main(int argc, char **argv)
{
    static const size_t shapes[][3] = { { 0, 128, 128 }, { 1, 1, 1 }, { 3, 1000, 1003 }, { 17, 1021, 1021 },
                                        { 64, 4096, 4100 }, { 256, 4096, 4096 }, { 4096, 4096, 4096 }, { 16384, 4096, 4096 } };
    Example ex = example_open(argc, argv);
    size_t count = sizeof shapes / sizeof *shapes - (ex.quick ? 2 : 0);
    for (size_t i = 0; i < count; i++)
        for (size_t shift = 0; shift < 2; shift++)
            check(&ex, shapes[i][0], shapes[i][1], shapes[i][2], shift);

    size_t rows = ex.quick ? 256 : 16384, width = 4096;
    float *host = example_random(&ex, rows * width);
    Buffer x = example_upload(&ex, host, rows * width, 0), bias = example_upload(&ex, host, width, 0);
    Buffer out = example_upload(&ex, NULL, rows * width, 0);
    Call call = { &ex, x.at, bias.at, out.at, (int32_t)rows, (int32_t)width, (int64_t)width };
    example_bandwidth(&ex, launch, &call, 2.0 * (double)(rows * width) * sizeof(float), "bias_relu");
    example_free(&ex, &x);
    example_free(&ex, &bias);
    example_free(&ex, &out);
    free(host);
    return example_close(&ex);
}
