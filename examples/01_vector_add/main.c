/// Vector addition: checks every size, alignment and the in-place call, then prints the bandwidth.
#include "example.h"
#include "vector_add.h"

typedef struct Call {
    Example *ex;
    const float *x, *y;
    float *out;
    int64_t n;
} Call;

static NewtStatus launch(void *user)
{
    Call *c = user;
    return vector_add(c->ex->device, NULL, c->x, c->y, c->out, c->n);
}

/// One size; the pointers start `shift`, 2 * shift and 0 elements off a boundary.
static void check(Example *ex, size_t n, size_t shift, int in_place)
{
    float *hx = example_random(ex, n), *hy = example_random(ex, n);
    Buffer x = example_upload(ex, hx, n, shift), y = example_upload(ex, hy, n, 2 * shift);
    Buffer out = in_place ? x : example_upload(ex, NULL, n, 0);
    Call call = { ex, x.at, y.at, out.at, (int64_t)n };
    example_ok(launch(&call), "vector_add");
    float *got = example_download(ex, &out);
    for (size_t i = 0; i < n; i++) {
        double want = (double)hx[i] + (double)hy[i];
        example_expect((double)got[i], want, fabs(want) * 0x1p-24, "vector_add", i);
    }
    if (!in_place)
        example_free(ex, &out);
    example_free(ex, &x);
    example_free(ex, &y);
    free(got);
    free(hx);
    free(hy);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = { 0, 1, 3, 1023, 1024, 1025, 1000003, 1 << 20, 1 << 26 };
    Example ex = example_open(argc, argv);
    size_t count = sizeof sizes / sizeof *sizes - (ex.quick ? 1 : 0);
    for (size_t i = 0; i < count; i++)
        for (size_t shift = 0; shift < 2; shift++)
            check(&ex, sizes[i], shift, i % 2 == 1);

    size_t n = ex.quick ? 1 << 20 : 1 << 26;
    float *host = example_random(&ex, n);
    Buffer x = example_upload(&ex, host, n, 0), y = example_upload(&ex, host, n, 0), out = example_upload(&ex, NULL, n, 0);
    Call call = { &ex, x.at, y.at, out.at, (int64_t)n };
    example_bandwidth(&ex, launch, &call, 3.0 * (double)n * sizeof(float), "vector_add");
    example_free(&ex, &x);
    example_free(&ex, &y);
    example_free(&ex, &out);
    free(host);
    return example_close(&ex);
}
