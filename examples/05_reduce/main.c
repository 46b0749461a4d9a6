/// The sum of a long array, in two ways: partial sums and a second kernel (the same bits on every
/// run), or one atomic addition a program (one kernel, but the order of the additions is left to
/// chance).
#include "example.h"
#include "reduce.h"

enum { PROGRAMS = 1056 };  // enough for every processor of a large GPU to hold several

typedef struct Call {
    Example *ex;
    const float *x;
    float *partial, *out;
    int64_t n;
} Call;

static NewtStatus launch_two_pass(void *user)
{
    Call *c = user;
    NewtStatus status = sum_partial(c->ex->device, NULL, c->x, c->partial, c->n, PROGRAMS);
    return status == NEWT_OK ? sum_final(c->ex->device, NULL, c->partial, c->out, PROGRAMS)
                             : status;
}

/// Expects that *out holds the value to add to.
static NewtStatus launch_atomic(void *user)
{
    Call *c = user;
    return sum_atomic(c->ex->device, NULL, c->x, c->out, c->n, PROGRAMS);
}

/// The rounding errors of n additions: they are random, so they grow with the root of what is
/// added. An element left out or counted twice is found by the sums of ones, which are exact.
static double tolerance(const float *x, size_t n)
{
    double squares = 0.0;
    for (size_t i = 0; i < n; i++)
        squares += (double)x[i] * (double)x[i];
    return 1e-5 * sqrt(squares);
}

static void check_sum(Example *ex, const float *x, size_t n, size_t shift, double allowed)
{
    Buffer in = example_upload(ex, x, n, shift), partial = example_upload(ex, NULL, PROGRAMS, 0);
    double want = 0.0;
    for (size_t i = 0; i < n; i++)
        want += (double)x[i];
    for (int atomic = 0; atomic < 2; atomic++) {
        float zero = 0.0f;
        Buffer out = example_upload(ex, atomic ? &zero : NULL, 1, 0);
        Call call = { ex, in.at, partial.at, out.at, (int64_t)n };
        example_ok(atomic ? launch_atomic(&call) : launch_two_pass(&call), "sum");
        float *got = example_download(ex, &out);
        example_expect((double)got[0], want, allowed, atomic ? "sum_atomic" : "sum_partial", 0);
        example_free(ex, &out);
        free(got);
    }
    float *sums = example_download(ex, &partial);  // for the guards
    free(sums);
    example_free(ex, &in);
    example_free(ex, &partial);
}

static void check(Example *ex, size_t n, size_t shift)
{
    float *x = example_random(ex, n);
    check_sum(ex, x, n, shift, tolerance(x, n));
    for (size_t i = 0; i < n; i++)
        x[i] = 1.0f;
    check_sum(ex, x, n, shift, 0.0);
    free(x);
}

int main(int argc, char **argv)
{
    // Sums of ones are exact up to 2^24 of them, and for powers of two.
    static const size_t sizes[] = { 0, 1, 3, 8191, 8192, 8193, 1000003, 1 << 22, 1 << 28, 1 << 30 };
    Example ex = example_open(argc, argv);
    size_t count = sizeof sizes / sizeof *sizes - (ex.quick ? 2 : 0);
    for (size_t i = 0; i < count; i++)
        for (size_t shift = 0; shift < (sizes[i] < 1 << 28 ? 2 : 1); shift++)
            check(&ex, sizes[i], shift);

    size_t n = ex.quick ? 1 << 20 : 1 << 30;
    float *host = example_random(&ex, n), zero = 0.0f;
    Buffer x = example_upload(&ex, host, n, 0), partial = example_upload(&ex, NULL, PROGRAMS, 0);
    Buffer out = example_upload(&ex, &zero, 1, 0);
    Call call = { &ex, x.at, partial.at, out.at, (int64_t)n };
    double bytes = (double)n * sizeof(float);
    example_bandwidth(&ex, launch_two_pass, &call, bytes, "sum, two passes");
    example_bandwidth(&ex, launch_atomic, &call, bytes, "sum, atomic");
    example_free(&ex, &x);
    example_free(&ex, &partial);
    example_free(&ex, &out);
    free(host);
    return example_close(&ex);
}
