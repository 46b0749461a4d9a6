/// Layer normalisation of rows of any width, 1500 among them: nothing needs a power of two.
#include "example.h"
#include "layernorm.h"

typedef struct Call {
    Example *ex;
    const float *x, *weight, *bias;
    float *out;
    int32_t rows, width;
    int64_t stride;
} Call;

static NewtStatus launch(void *user)
{
    Call *c = user;
    if (c->width <= 2048)
        return layernorm_2048(c->ex->device, NULL, c->x, c->weight, c->bias, c->out, c->rows, c->width, c->stride, 1e-5f);
    return layernorm_8192(c->ex->device, NULL, c->x, c->weight, c->bias, c->out, c->rows, c->width, c->stride, 1e-5f);
}

static void check_row(const float *x, const float *weight, const float *bias, const float *got, size_t width, size_t row)
{
    double mean = 0.0, variance = 0.0;
    for (size_t i = 0; i < width; i++)
        mean += (double)x[i];
    mean /= (double)width;
    for (size_t i = 0; i < width; i++)
        variance += ((double)x[i] - mean) * ((double)x[i] - mean);
    double scale = 1.0 / sqrt(variance / (double)width + (double)1e-5f);
    for (size_t i = 0; i < width; i++) {
        double want = ((double)x[i] - mean) * scale * (double)weight[i] + (double)bias[i];
        example_expect((double)got[i], want, 1e-5 * (1.0 + fabs(want)), "layernorm", row * width + i);
    }
}

static void check(Example *ex, size_t rows, size_t width, size_t stride, size_t shift)
{
    float *hx = example_random(ex, rows * stride), *hw = example_random(ex, width), *hb = example_random(ex, width);
    Buffer x = example_upload(ex, hx, rows * stride, shift), out = example_upload(ex, NULL, rows * stride, shift);
    Buffer weight = example_upload(ex, hw, width, shift), bias = example_upload(ex, hb, width, 0);
    Call call = { ex, x.at, weight.at, bias.at, out.at, (int32_t)rows, (int32_t)width, (int64_t)stride };
    example_ok(launch(&call), "layernorm");
    float *got = example_download(ex, &out);
    for (size_t r = 0; r < rows; r++)
        check_row(hx + r * stride, hw, hb, got + r * stride, width, r);
    example_free(ex, &x);
    example_free(ex, &weight);
    example_free(ex, &bias);
    example_free(ex, &out);
    free(got);
    free(hx);
    free(hw);
    free(hb);
}

int main(int argc, char **argv)
{
    static const size_t shapes[][3] = { { 0, 128, 128 }, { 1, 1, 1 }, { 1, 2, 2 }, { 128, 8192, 8192 }, { 7, 1021, 1021 }, { 64, 1500, 1500 }, { 33, 1500, 1507 },
                                        { 16, 8192, 8192 }, { 16384, 1500, 1500 }, { 8192, 8192, 8192 } };
    Example ex = example_open(argc, argv);
    size_t count = sizeof shapes / sizeof *shapes - (ex.quick ? 2 : 0);
    for (size_t i = 0; i < count; i++)
        for (size_t shift = 0; shift < 2; shift++)
            check(&ex, shapes[i][0], shapes[i][1], shapes[i][2], shift);

    size_t rows = ex.quick ? 256 : 16384, width = 1500;
    float *host = example_random(&ex, rows * width);
    Buffer x = example_upload(&ex, host, rows * width, 0), out = example_upload(&ex, NULL, rows * width, 0);
    Buffer weight = example_upload(&ex, host, width, 0), bias = example_upload(&ex, host, width, 0);
    Call call = { &ex, x.at, weight.at, bias.at, out.at, (int32_t)rows, (int32_t)width, (int64_t)width };
    example_bandwidth(&ex, launch, &call, 2.0 * (double)(rows * width) * sizeof(float), "layernorm 1500");
    example_free(&ex, &x);
    example_free(&ex, &weight);
    example_free(&ex, &bias);
    example_free(&ex, &out);
    free(host);
    return example_close(&ex);
}
