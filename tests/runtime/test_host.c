/// Kernels on the host: results, grids, variants, scratch, threads, timers, memory.
#include "sample.h"
#include <newt/newt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static NewtDevice *host;

static int open_host(void **state)
{
    (void)state;
    return newt_device_open("host", &host) != NEWT_OK;
}

static int close_host(void **state)
{
    (void)state;
    newt_device_close(host);
    return 0;
}

static void test_identity(void **state)
{
    (void)state;
    NewtDevice *again;
    assert_int_equal(newt_device_open("host", &again), NEWT_OK);
    assert_ptr_equal(again, host);
    newt_device_close(again);
    newt_device_close(NULL);
    assert_string_equal(newt_device_arch(host), "host");
    assert_string_equal(newt_device_name(host), "host");
    assert_int_equal(newt_device_is_host(host), 1);
}

static void test_add_every_length(void **state)
{
    (void)state;
    static const int64_t lengths[] = { 1, 15, 16, 255, 256, 257, 100000 };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        int64_t n = lengths[i];
        size_t bytes = (size_t)n * sizeof(float);
        void *at[3];
        for (int k = 0; k < 3; k++)
            assert_int_equal(newt_alloc(host, bytes, &at[k]), NEWT_OK);
        float *x = at[0], *y = at[1], *out = at[2];
        for (int64_t k = 0; k < n; k++) {
            x[k] = (float)k;
            y[k] = 0.5F;
        }
        const SampleArgs args = { x, y, out, n };
        assert_int_equal(newt_launch_(sample_add, host, NULL, NULL, &args), NEWT_OK);
        for (int64_t k = 0; k < n; k++)
            assert_true(out[k] == (float)k + 0.5F);
        for (int k = 0; k < 3; k++)
            newt_free(host, at[k]);
    }
}

typedef struct GridCase {
    const char *name;
    NewtGrid grid;
    NewtStatus status;
    const char *text;  // in newt_last_error(); NULL: success
} GridCase;

static const GridCase grid_cases[] = {
    { "zero_x", { 0, 1, 1 }, NEWT_OK, NULL },
    { "zero_y_beside_too_large_x", { UINT32_MAX, 0, 1 }, NEWT_OK, NULL },
    { "zero_z", { 1, 1, 0 }, NEWT_OK, NULL },
    { "x_too_large",
      { 0x80000000U, 1, 1 },
      NEWT_TOO_LARGE,
      "mark: the grid's x is 2147483648, and "
      "the limit is 2147483647" },
    { "y_too_large", { 1, 65536, 1 }, NEWT_TOO_LARGE, "the grid's y is 65536" },
    { "z_too_large", { 1, 1, 65536 }, NEWT_TOO_LARGE, "the grid's z is 65536" },
};

static void test_grid_limits(void **state)
{
    (void)state;
    const SampleArgs args = { 0 };
    for (size_t i = 0; i < sizeof grid_cases / sizeof *grid_cases; i++) {
        const GridCase *c = &grid_cases[i];
        assert_int_equal(newt_launch_(sample_mark, host, NULL, &c->grid, &args), c->status);
        if (c->text)
            assert_non_null(strstr(newt_last_error(), c->text));
    }
    assert_int_equal(newt_launch_(sample_mark, host, NULL, NULL, &args), NEWT_BAD_ARGUMENT);
}

typedef struct ExpressionCase {
    int64_t n;
    NewtStatus status;
    const char *text;
} ExpressionCase;

static const ExpressionCase expression_cases[] = {
    { 0, NEWT_OK, NULL },
    { -1, NEWT_BAD_ARGUMENT, "add: the grid's x is -1" },
    { -7, NEWT_BAD_ARGUMENT, "divides by zero" },
    { INT64_MAX, NEWT_TOO_LARGE, "overflows 64 bits" },
    { INT64_C(256) << 31, NEWT_TOO_LARGE, "the grid's x is 2147483648" },
};

static void test_grid_expression(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof expression_cases / sizeof *expression_cases; i++) {
        const ExpressionCase *c = &expression_cases[i];
        const SampleArgs args = { .n = c->n };
        assert_int_equal(newt_launch_(sample_add, host, NULL, NULL, &args), c->status);
        if (c->text)
            assert_non_null(strstr(newt_last_error(), c->text));
    }
}

/// Every program runs exactly once, whether alone or on several threads.
static void test_each_program_once(void **state)
{
    (void)state;
    static const NewtGrid grids[] = {
        { 1, 1, 1 }, { 7, 1, 1 }, { 3, 5, 7 }, { 1, 1000, 3 }, { 2000000, 2, 1 }, { 99, 101, 103 },
    };
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        const NewtGrid *grid = &grids[i];
        size_t total = (size_t)grid->x * grid->y * grid->z;
        float *counts = calloc(total, sizeof *counts);
        assert_non_null(counts);
        const SampleArgs args = { .out = counts };
        assert_int_equal(newt_launch_(sample_mark, host, NULL, grid, &args), NEWT_OK);
        for (size_t k = 0; k < total; k++)
            assert_true(counts[k] == 1.0F);
        free(counts);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    const SampleArgs args = { .n = 1 };
    NewtStream stream = (NewtStream)(uintptr_t)16;
    NewtDevice *device = NULL;
    const NewtGrid grid = { 1, 1, 1 };
    assert_int_equal(newt_launch_(sample_add, NULL, NULL, NULL, &args), NEWT_BAD_ARGUMENT);
    assert_string_equal(newt_last_error(), "add: the device is NULL");
    assert_int_equal(newt_launch_(sample_add, host, stream, NULL, &args), NEWT_BAD_ARGUMENT);
    assert_int_equal(newt_launch_(sample_big, host, NULL, &grid, &args), NEWT_NO_IMAGE);
    assert_non_null(strstr(newt_last_error(), "--arch=host"));
    assert_int_equal(newt_launch_(sample_foreign, host, NULL, NULL, &args), NEWT_BAD_IMAGE);
    assert_int_equal(newt_device_open("gpu", &device), NEWT_BAD_ARGUMENT);
    assert_int_equal(newt_device_open("cuda:", &device), NEWT_BAD_ARGUMENT);
    assert_int_equal(newt_device_open("cuda:1x", &device), NEWT_BAD_ARGUMENT);
    assert_int_equal(newt_device_open("cuda:99999999999", &device), NEWT_BAD_ARGUMENT);
    assert_null(device);
    assert_int_equal(newt_preload_(sample_add, host), NEWT_OK);
}

static void test_memory(void **state)
{
    (void)state;
    void *at = &at;
    assert_int_equal(newt_alloc(host, 0, &at), NEWT_OK);
    assert_null(at);
    assert_int_equal(newt_alloc(host, SIZE_MAX, &at), NEWT_NO_MEMORY);
    assert_int_equal(newt_alloc(host, SIZE_MAX / 2, &at), NEWT_NO_MEMORY);
    assert_int_equal(newt_alloc(host, 5, &at), NEWT_OK);
    assert_int_equal((uintptr_t)at % 256, 0);
    assert_int_equal(newt_copy(host, NULL, at, "newt", 5), NEWT_OK);
    assert_string_equal(at, "newt");
    assert_int_equal(newt_copy(host, NULL, NULL, "newt", 5), NEWT_BAD_ARGUMENT);
    assert_int_equal(newt_copy(host, NULL, NULL, NULL, 0), NEWT_OK);
    assert_int_equal(newt_synchronize(host, NULL), NEWT_OK);
    newt_free(host, at);
    newt_free(host, NULL);
}

static void test_timer(void **state)
{
    (void)state;
    NewtTimer *timer;
    double microseconds = -1;
    const struct timespec pause = { .tv_nsec = 2000000 };
    assert_int_equal(newt_timer_new(host, &timer), NEWT_OK);
    assert_int_equal(newt_timer_stop(timer, NULL, &microseconds), NEWT_BAD_ARGUMENT);
    assert_int_equal(newt_timer_start(timer, NULL), NEWT_OK);
    nanosleep(&pause, NULL);
    assert_int_equal(newt_timer_stop(timer, NULL, &microseconds), NEWT_OK);
    assert_true(microseconds >= 2000);
    newt_timer_free(timer);
    newt_timer_free(NULL);
}

static void expect_null_refused(NewtStatus status, const char *text)
{
    assert_int_equal(status, NEWT_BAD_ARGUMENT);
    assert_string_equal(newt_last_error(), text);
}

static void test_null_is_refused(void **state)
{
    NewtTimer *timer;
    void *at;
    double us;
    float x = 0;
    (void)state;
    expect_null_refused(newt_device_open("host", NULL), "newt_device_open: out is NULL");
    expect_null_refused(newt_device_current(NULL), "newt_device_current: out is NULL");
    expect_null_refused(newt_alloc(NULL, 4, &at), "newt_alloc: the device is NULL");
    expect_null_refused(newt_alloc(host, 4, NULL), "newt_alloc: out is NULL");
    expect_null_refused(newt_alloc(host, 0, NULL), "newt_alloc: out is NULL");
    expect_null_refused(newt_copy(NULL, NULL, &x, &x, 4), "newt_copy: the device is NULL");
    expect_null_refused(newt_synchronize(NULL, NULL), "newt_synchronize: the device is NULL");
    expect_null_refused(newt_timer_new(NULL, &timer), "newt_timer_new: the device is NULL");
    expect_null_refused(newt_timer_new(host, NULL), "newt_timer_new: out is NULL");
    expect_null_refused(newt_timer_start(NULL, NULL), "newt_timer_start: the timer is NULL");
    expect_null_refused(newt_timer_stop(NULL, NULL, &us), "newt_timer_stop: the timer is NULL");
    assert_int_equal(newt_timer_new(host, &timer), NEWT_OK);
    expect_null_refused(newt_timer_stop(timer, NULL, NULL),
                        "newt_timer_stop: microseconds is NULL");
    newt_timer_free(timer);
    newt_free(NULL, &x);
    assert_string_equal(newt_device_arch(NULL), "");
    assert_string_equal(newt_device_name(NULL), "");
    assert_int_equal(newt_device_is_host(NULL), 0);
}

static void test_host_works_after_fork(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        float x = 1, y = 2, out = 0;
        const SampleArgs args = { &x, &y, &out, 1 };
        NewtStatus status = newt_launch_(sample_add, host, NULL, NULL, &args);
        _exit(status == NEWT_OK && out == 3 ? 0 : 1);
    }
    int result = -1;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
}

static void test_statuses_have_names(void **state)
{
    (void)state;
    for (int i = NEWT_OK; i <= NEWT_WRONG_RESULT; i++) {
        assert_memory_equal(newt_status_name((NewtStatus)i), "NEWT_", 5);
        assert_true(strlen(newt_status_text((NewtStatus)i)) > 5);
    }
    assert_string_equal(newt_status_name((NewtStatus)15), "NEWT_?");
    assert_string_equal(newt_status_name((NewtStatus)-1), "NEWT_?");
    assert_int_equal(newt_version(), NEWT_VERSION);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_add_every_length),
        cmocka_unit_test(test_grid_limits),
        cmocka_unit_test(test_grid_expression),
        cmocka_unit_test(test_each_program_once),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_timer),
        cmocka_unit_test(test_null_is_refused),
        cmocka_unit_test(test_host_works_after_fork),
        cmocka_unit_test(test_statuses_have_names),
    };
    return cmocka_run_group_tests_name("runtime_host", tests, open_host, close_host);
}
