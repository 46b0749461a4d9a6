// Configurations of @autotune, values of @heuristics: each program tells what it was compiled for.
#include "run.h"

#define T_(warps, name)  W##warps##name
#define T__(warps, name) T_(warps, name)
#define T(name)          T__(RUN_WARPS, name)

enum { MOST = 2048 };

// Runs a configuration of `configured`, or for -1 what the launcher takes, and checks every
// program.
static void check_config(RunCx *cx, int config, int32_t n, int32_t block, bool narrow)
{
    int32_t x[MOST], got[MOST], seen[MOST];
    for (int32_t i = 0; i < n; i++)
        x[i] = (int32_t)run_between(cx, -1000, 1000);
    const int32_t programs = (n + block - 1) / block;
    int32_t *out = RUN_OUT(cx, (size_t)n * sizeof *out);
    int32_t *which = RUN_OUT(cx, (size_t)programs * sizeof *which);
    const T(ConfiguredArgs) args = { run_buffer(cx, x, (size_t)n * sizeof *x, 0), out, which, n };
    if (config < 0)
        RUN_OK(K(configured)(cx->device, NULL, args.x, args.out, args.seen, args.n));
    else
        RUN_OK(K(configured_with)(cx->device, NULL, (T(ConfiguredConfig))config, &args));
    run_get(cx, out, got);
    run_get(cx, which, seen);
    for (int32_t i = 0; i < n; i++)
        assert_int_equal(got[i], x[i] + block);
    const bool even = n % block == 0;
    const int32_t small = even && n < 300 ? 3 : 5;
    for (int32_t i = 0; i < programs; i++)
        assert_int_equal(seen[i], block * 100 + (narrow ? 10 : 0) + (even ? small : 0));
    run_release(cx);
}

static void each_configuration(RunCx *cx)
{
    static const int32_t sizes[] = { 1, 63, 64, 256, 300, 512, 1024, 1500, 2048 };
    static const struct {
        int32_t block;
        bool narrow;
    } configs[] = { { 64, true }, { 256, false }, { 1024, true }, { 512, false } };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int c = 0; c < 4; c++)
            check_config(cx, c, sizes[i], configs[c].block, configs[c].narrow);
        check_config(cx, -1, sizes[i], configs[0].block, configs[0].narrow);
    }
}

static void what_is_chosen(RunCx *cx)
{
    const T(ConfiguredArgs) args = { NULL, NULL, NULL, 100 };
    T(ConfiguredConfig) config;
    RUN_OK(K(configured_choose)(cx->device, &args, &config));
    assert_int_equal(config, 0);
    assert_int_equal(K(configured_with)(cx->device, NULL, (T(ConfiguredConfig))4, &args),
                     NEWT_BAD_ARGUMENT);
    assert_null(K(configured_config_text)((T(ConfiguredConfig))4));
    assert_null(K(configured_config_text)((T(ConfiguredConfig)) - 1));
    assert_memory_equal(K(configured_config_text)((T(ConfiguredConfig))1),
                        "BLOCK=256 NARROW=False num_warps=", 33);
}

static void check_width(RunCx *cx, int32_t rows, int32_t n, bool wide, int32_t width)
{
    int32_t *x = run_temp(cx, (size_t)rows * (size_t)n * sizeof *x);
    int32_t got[4], widths[4];
    for (int32_t i = 0; i < rows * n; i++)
        x[i] = (int32_t)run_between(cx, -1000, 1000);
    int32_t *out = RUN_OUT(cx, (size_t)rows * sizeof *out);
    int32_t *seen = RUN_OUT(cx, (size_t)rows * sizeof *seen);
    const int32_t *in = run_buffer(cx, x, (size_t)rows * (size_t)n * sizeof *x, 0);
    RUN_OK(K(chosen_width)(cx->device, NULL, in, out, seen, rows, n, wide));
    run_get(cx, out, got);
    run_get(cx, seen, widths);
    for (int32_t r = 0; r < rows; r++) {
        int32_t sum = 0;
        for (int32_t i = 0; i < n; i++)
            sum += x[r * n + i];
        assert_int_equal(got[r], sum);
        assert_int_equal(widths[r], width);
    }
    run_release(cx);
}

static void width_by_heuristic(RunCx *cx)
{
    check_width(cx, 3, 1, true, 16);
    check_width(cx, 3, 16, true, 16);
    check_width(cx, 3, 17, true, 32);
    check_width(cx, 2, 100, true, 128);
    check_width(cx, 2, 512, true, 512);
    check_width(cx, 2, 513, true, 1024);
    check_width(cx, 2, 3000, true, 1024);
    check_width(cx, 2, 100, false, 32);
}

static void powers_of_two(RunCx *cx)
{
    int32_t a[] = { INT32_MIN, -5, 0, 1, 2, 3, 4, 5, 127, 128, 129, (1 << 30) - 1, 1 << 30 };
    enum { COUNT = sizeof a / sizeof *a };
    int32_t want_a[] = { 1, 1, 1, 1, 2, 4, 4, 8, 128, 128, 256, 1 << 30, 1 << 30 };
    int64_t b[COUNT], want_b[COUNT], got_b[COUNT];
    int32_t got_a[COUNT];
    for (int i = 0; i < COUNT; i++) {
        b[i] = a[i] > 2 ? (int64_t)a[i] << 30 : a[i];
        want_b[i] = a[i] > 2 ? (int64_t)want_a[i] << 30 : want_a[i];
    }
    int32_t *out_a = RUN_OUT(cx, sizeof got_a);
    int64_t *out_b = RUN_OUT(cx, sizeof got_b);
    RUN_OK(K(powers)(cx->device, NULL, RUN_IN(cx, a), RUN_IN(cx, b), out_a, out_b, COUNT));
    run_get(cx, out_a, got_a);
    run_get(cx, out_b, got_b);
    run_same_bits(got_a, want_a, sizeof *got_a, COUNT);
    run_same_bits(got_b, want_b, sizeof *got_b, COUNT);
}

// Outputs to compare with: those of the first configuration. The emulator's build has no host
// images.
static NewtStatus first_configuration(void *user, NewtDevice *device, const void *args)
{
    (void)user;
    return K(planted_with)(device, NULL, (T(PlantedConfig))0, args);
}

// A configuration that gives wrong results never wins; tuning works on copies.
static void planted_fault(RunCx *cx)
{
    enum { LENGTH = 1000 };
    float x[LENGTH], out[LENGTH];
    int32_t total = 5;
    for (int i = 0; i < LENGTH; i++) {
        x[i] = run_uniform(cx);
        out[i] = 7;
    }
    float *dx = RUN_IN(cx, x), *dout = RUN_IN(cx, out);
    int32_t *dtotal = run_buffer(cx, &total, sizeof total, 0);
    const size_t bytes[] = { sizeof x, sizeof out, sizeof total };
    NewtTuneOptions options = { .size = sizeof options, .bytes = bytes, .timeout = 60 };
    const T(PlantedArgs) args = { dx, dout, dtotal, LENGTH };
    NewtTuneResult result;
    NewtStatus status = K(planted_tune)(cx->device, &args, &options, &result);
    if (status == NEWT_NO_IMAGE) {
        options.reference = first_configuration;
        status = K(planted_tune)(cx->device, &args, &options, &result);
    }
    RUN_OK(status);
    assert_int_equal(result.tried, 3);
    assert_int_equal(result.wrong, 1);
    assert_int_equal(result.failed, 0);
    assert_in_range(result.config, 0, 1);
    T(PlantedConfig) config;
    RUN_OK(K(planted_choose)(cx->device, &args, &config));
    assert_int_equal(config, result.config);
    run_get(cx, dx, x);
    run_get(cx, dout, out);
    run_get(cx, dtotal, &total);
    assert_int_equal(total, 5);
    for (int i = 0; i < LENGTH; i++)
        assert_true(out[i] == 7);
    RUN_OK(K(planted)(cx->device, NULL, dx, dout, dtotal, LENGTH));
    run_get(cx, dout, out);
    run_get(cx, dtotal, &total);
    assert_int_equal(total, 5 + LENGTH);
    for (int i = 0; i < LENGTH; i++)
        run_near((double)out[i], 3 * (double)x[i] + 1, 1e-6, (size_t)i);
}

RUN_TESTS = { { "each configuration", each_configuration }, { "what is chosen", what_is_chosen },
              { "width by heuristic", width_by_heuristic }, { "powers of two", powers_of_two },
              { "planted fault", planted_fault },           RUN_END };
