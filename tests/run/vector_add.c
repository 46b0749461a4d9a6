// Sizes around the block, every alignment of a float, in place.
#include "run.h"

static void check(RunCx *cx, size_t n, size_t shift)
{
    float x[4099] = { 0 }, y[4099] = { 0 }, got[4099];
    for (size_t i = 0; i < n; i++) {
        x[i] = run_uniform(cx);
        y[i] = run_uniform(cx);
    }
    float *dx = run_buffer(cx, x, n * sizeof *x, shift), *dy = run_buffer(cx, y, n * sizeof *y, shift == 12 ? 4 : 0);
    float *out = shift == 8 ? dx : run_buffer(cx, NULL, n * sizeof *x, shift);
    RUN_OK(K(vector_add)(cx->device, NULL, dx, dy, out, (int32_t)n));
    run_get(cx, out, got);
    for (size_t i = 0; i < n; i++) {
        float want = (float)((double)x[i] + (double)y[i]);
        run_same_bits(&got[i], &want, sizeof want, 1);
    }
}

static void sizes_and_shifts(RunCx *cx)
{
    static const size_t sizes[] = { 0, 1, 2, 511, 512, 513, 528, 1021, 4096, 4099 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t shift = 0; shift < 16; shift += 4)
            check(cx, sizes[i], shift);
}

RUN_TESTS = { { "sizes and shifts", sizes_and_shifts }, RUN_END };
