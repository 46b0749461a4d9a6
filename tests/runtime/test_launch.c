/// Launches against the fake driver: which image and variant run and with what, loading once,
/// contexts, captures, forks, options.
#include "fake_driver.h"
#include "sample.h"
#include <newt/newt.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const NewtStream a_stream = (NewtStream)(uintptr_t)64;

static NewtDevice *open_device(void)
{
    NewtDevice *device = NULL;
    assert_int_equal(newt_device_open("cuda:0", &device), NEWT_OK);
    return device;
}

static int reset(void **state)
{
    (void)state;
    fake_reset();
    unsetenv("NEWT_CHECK");
    unsetenv("NEWT_FORCE_PTX");
    unsetenv("NEWT_LOG");
    unsetenv("NEWT_DEVICE");
    return 0;
}

typedef struct ChoiceCase {
    const char *name;
    int major, minor;
    uintptr_t offset;  // of x, in bytes, from a multiple of 256
    int64_t n;
    const char *symbol;
} ChoiceCase;

static const ChoiceCase choice_cases[] = {
    { "aligned", 8, 0, 0, 1600, "add_aligned_80" },
    { "plain_cubin_on_later_minor", 8, 9, 0, 1600, "add_aligned_80" },
    { "pointer_off_by_four", 8, 0, 4, 1600, "add_80" },
    { "n_not_multiple", 8, 0, 0, 1601, "add_80" },
    { "n_is_one", 8, 0, 0, 1, "add_one_80" },
    { "accelerated_on_its_own", 9, 0, 0, 1600, "add_aligned_90a" },
    { "variant_without_image_is_passed_over", 9, 0, 0, 1, "add_90a" },
    { "ptx_on_another_major", 10, 0, 0, 1600, "add_ptx" },
    { "accelerated_not_on_later_minor", 9, 1, 0, 1600, "add_ptx" },
};

static void test_choice(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof choice_cases / sizeof *choice_cases; i++) {
        const ChoiceCase *c = &choice_cases[i];
        fake_reset();
        fake.major = c->major;
        fake.minor = c->minor;
        NewtDevice *device = open_device();
        const float *x = (const float *)(0x1000 + c->offset);
        const SampleArgs args = { x, (const float *)0x2000, (float *)0x3000, c->n };
        assert_int_equal(newt_launch_(sample_add, device, a_stream, NULL, &args), NEWT_OK);
        assert_string_equal(fake.symbol, c->symbol);
        assert_int_equal(fake.grid[0], (c->n + SAMPLE_BLOCK - 1) / SAMPLE_BLOCK);
        assert_int_equal(fake.grid[1], 1);
        assert_ptr_equal(fake.parameters[0], &args.x);
        assert_ptr_equal(fake.parameters[3], &args.n);
        newt_device_close(device);
        assert_int_equal(fake.images, 0);
        assert_int_equal(fake.retained, 0);
        assert_int_equal(fake_pushed, 0);
    }
}

static void test_no_image(void **state)
{
    (void)state;
    fake.major = 7;
    fake.minor = 5;
    NewtDevice *device = open_device();
    const SampleArgs args = { .n = 5 };
    assert_int_equal(newt_launch_(sample_add, device, NULL, NULL, &args), NEWT_NO_IMAGE);
    assert_string_equal(newt_last_error(),
                        "add has images for sm_80, sm_90a, compute_80 (PTX), none of them for this "
                        "call; this device is sm_75; compile sample.newt with --arch=sm_75 or add "
                        "--arch=ptx:compute_80");
    assert_int_equal(newt_preload_(sample_add, device), NEWT_NO_IMAGE);
    newt_device_close(device);
}

static void test_empty_grid_touches_nothing(void **state)
{
    (void)state;
    NewtDevice *device = open_device();
    const SampleArgs args = { .n = 0 };
    assert_int_equal(newt_launch_(sample_add, device, NULL, NULL, &args), NEWT_OK);
    assert_int_equal(fake.loads, 0);
    assert_int_equal(fake.launches, 0);
    newt_device_close(device);
}

static void test_shared_memory(void **state)
{
    (void)state;
    const NewtGrid grid = { 4, 5, 6 };
    const SampleArgs args = { .n = 5 };
    NewtDevice *device = open_device();
    assert_int_equal(newt_launch_(sample_big, device, NULL, &grid, &args), NEWT_OK);
    assert_int_equal(fake.shared_opt_in, 100 * 1024);
    assert_int_equal(fake.shared, 100 * 1024);
    assert_int_equal(fake.threads, 256);
    assert_int_equal(fake.grid[1], 5);
    assert_int_equal(fake.grid[2], 6);
    newt_device_close(device);

    fake.shared_static = 64 * 1024;
    device = open_device();
    assert_int_equal(newt_launch_(sample_big, device, NULL, &grid, &args), NEWT_TOO_LARGE);
    assert_non_null(strstr(newt_last_error(), "big [generic] needs 167936 bytes of shared memory "
                                              "per block; cuda:0 (Fake 0) has 166912"));
    newt_device_close(device);
    assert_int_equal(fake.images, 0);
}

static void test_cluster_is_an_attribute(void **state)
{
    (void)state;
    fake.major = 9;
    NewtDevice *device = open_device();
    const SampleArgs args = { .n = 8192 };
    assert_int_equal(newt_launch_(sample_cluster, device, NULL, NULL, &args), NEWT_OK);
    assert_int_equal(fake.cluster[0], 16);
    assert_int_equal(fake.cluster[1], 1);
    assert_int_equal(fake.grid[0], 32);
    newt_device_close(device);
}

static void test_capture(void **state)
{
    (void)state;
    NewtDevice *device = open_device();
    const SampleArgs args = { .n = 5 };
    fake.capture_state = 1;
    assert_int_equal(newt_launch_(sample_add, device, a_stream, NULL, &args), NEWT_NOT_LOADED);
    assert_non_null(strstr(newt_last_error(), "add_preload()"));
    assert_int_equal(fake.loads, 0);
    assert_int_equal(newt_preload_(sample_add, device), NEWT_OK);
    assert_int_equal(fake.functions_loaded, 3);
    assert_int_equal(newt_launch_(sample_add, device, a_stream, NULL, &args), NEWT_OK);
    assert_int_equal(fake.loads, 1);
    newt_device_close(device);
}

static void test_context_is_pushed_only_when_needed(void **state)
{
    (void)state;
    NewtDevice *device = open_device();
    const SampleArgs args = { .n = 5 };
    fake_current = fake_primary;
    assert_int_equal(newt_launch_(sample_add, device, NULL, NULL, &args), NEWT_OK);
    int calls = fake.calls;
    assert_int_equal(newt_launch_(sample_add, device, NULL, NULL, &args), NEWT_OK);
    assert_int_equal(fake.calls - calls, 2);  // cuCtxGetCurrent, cuLaunchKernel
    fake_current = NULL;
    calls = fake.calls;
    assert_int_equal(newt_launch_(sample_add, device, NULL, NULL, &args), NEWT_OK);
    assert_int_equal(fake.calls - calls, 4);
    assert_int_equal(fake_pushed, 0);
    newt_device_close(device);
}

static void test_handles_are_interned(void **state)
{
    (void)state;
    NewtDevice *first = open_device(), *second = open_device(), *adopted, *other;
    assert_ptr_equal(first, second);
    assert_int_equal(fake.retained, 1);
    assert_int_equal(newt_device_current(&adopted), NEWT_NO_DEVICE);
    fake_current = fake_primary;
    assert_int_equal(newt_device_current(&adopted), NEWT_OK);
    assert_ptr_equal(adopted, first);
    fake_current = fake_other;
    assert_int_equal(newt_device_current(&other), NEWT_OK);
    assert_ptr_not_equal(other, first);
    assert_string_equal(newt_device_arch(first), "sm_80");
    assert_string_equal(newt_device_name(first), "Fake 0");
    newt_device_close(other);
    newt_device_close(second);
    newt_device_close(adopted);
    assert_int_equal(fake.retained, 1);
    newt_device_close(first);
    assert_int_equal(fake.retained, 0);
}

static void test_open_by_environment(void **state)
{
    (void)state;
    NewtDevice *device;
    assert_int_equal(newt_device_open(NULL, &device), NEWT_OK);
    assert_false(newt_device_is_host(device));
    newt_device_close(device);
    setenv("NEWT_DEVICE", "host", 1);
    assert_int_equal(newt_device_open(NULL, &device), NEWT_OK);
    assert_true(newt_device_is_host(device));
    newt_device_close(device);
    setenv("NEWT_DEVICE", "cuda:1", 1);
    assert_int_equal(newt_device_open(NULL, &device), NEWT_NO_DEVICE);
    assert_string_equal(newt_last_error(), "cannot open cuda:1: the driver sees 1 device");
    unsetenv("NEWT_DEVICE");
    fake.device_count = 0;
    assert_int_equal(newt_device_open("cuda:0", &device), NEWT_NO_DEVICE);
    assert_int_equal(newt_device_open(NULL, &device), NEWT_OK);
    assert_true(newt_device_is_host(device));
    newt_device_close(device);
}

static void test_stub_is_recognised(void **state)
{
    (void)state;
    NewtDevice *device;
    fake.fail_name = "cuInit";
    fake.fail_result = CUDA_STUB_LIBRARY;
    assert_int_equal(newt_device_open("cuda:0", &device), NEWT_NO_DRIVER);
    assert_non_null(strstr(newt_last_error(), "toolkit's stub"));
}

static void test_force_ptx(void **state)
{
    (void)state;
    setenv("NEWT_FORCE_PTX", "1", 1);
    NewtDevice *device = open_device();
    const SampleArgs args = { .n = 1 };
    assert_int_equal(newt_launch_(sample_add, device, NULL, NULL, &args), NEWT_OK);
    assert_string_equal(fake.symbol, "add_ptx");
    newt_device_close(device);
}

static void test_check_names_the_kernel(void **state)
{
    (void)state;
    setenv("NEWT_CHECK", "1", 1);
    NewtDevice *device = open_device();
    const SampleArgs args = { .n = 5 };
    assert_int_equal(newt_launch_(sample_add, device, a_stream, NULL, &args), NEWT_OK);
    assert_int_equal(fake.synchronizations, 1);
    fake.stream_context = fake_other;
    assert_int_equal(newt_launch_(sample_add, device, a_stream, NULL, &args), NEWT_BAD_ARGUMENT);
    assert_non_null(strstr(newt_last_error(), "another context"));
    fake.stream_context = fake_primary;
    fake.fail_name = "cuStreamSynchronize";
    fake.fail_result = CUDA_ILLEGAL_ADDRESS;
    assert_int_equal(newt_launch_(sample_add, device, a_stream, NULL, &args), NEWT_KERNEL_FAULT);
    assert_non_null(strstr(newt_last_error(),
                           "add on cuda:0: cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
    newt_device_close(device);
}

enum { RACERS = 16, LAUNCHES = 100 };

static void *race(void *at)
{
    static const SampleArgs args = { .n = 5 };
    for (int i = 0; i < LAUNCHES; i++) {
        if (newt_launch_(sample_add, at, NULL, NULL, &args) != NEWT_OK)
            return at;
    }
    return NULL;
}

static void test_racing_threads_load_once(void **state)
{
    (void)state;
    NewtDevice *device = open_device();
    pthread_t threads[RACERS];
    for (int i = 0; i < RACERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, race, device), 0);
    for (int i = 0; i < RACERS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(fake.loads, 1);
    assert_int_equal(fake.launches, RACERS * LAUNCHES);
    newt_device_close(device);
}

static void test_child_after_fork_is_refused(void **state)
{
    (void)state;
    NewtDevice *device = open_device();
    pid_t child = fork();
    if (child == 0) {
        const SampleArgs args = { .n = 5 };
        NewtStatus status = newt_launch_(sample_add, device, NULL, NULL, &args);
        bool is_clear = strstr(newt_last_error(), "before fork") != NULL;
        newt_free(device, &child);
        newt_device_close(device);
        _exit(status == NEWT_UNSUPPORTED && is_clear && fake.retained == 1 ? 0 : 1);
    }
    int result = -1;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    newt_device_close(device);
    assert_int_equal(fake.retained, 0);
}

static void test_timer_reads_events(void **state)
{
    (void)state;
    NewtDevice *device = open_device();
    NewtTimer *timer;
    double microseconds = 0;
    assert_int_equal(newt_timer_new(device, &timer), NEWT_OK);
    assert_int_equal(newt_timer_start(timer, a_stream), NEWT_OK);
    assert_int_equal(newt_timer_stop(timer, a_stream, &microseconds), NEWT_OK);
    assert_true(microseconds == 1500);
    newt_timer_free(timer);
    assert_int_equal(fake.events, 0);
    newt_device_close(device);
}

/// What a launch at NEWT_LOG=launch writes to stderr.
static void test_log_lines(void **state)
{
    (void)state;
    char text[2048] = "";
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    int saved = dup(STDERR_FILENO);
    setenv("NEWT_LOG", "launch", 1);
    NewtDevice *device = open_device();
    const SampleArgs args = { .n = 5 };
    dup2(ends[1], STDERR_FILENO);
    NewtStatus good = newt_launch_(sample_add, device, NULL, NULL, &args);
    NewtStatus bad = newt_launch_(sample_big, device, NULL, NULL, &args);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(ends[1]);
    assert_true(read(ends[0], text, sizeof text - 1) > 0);
    close(ends[0]);
    newt_device_close(device);
    assert_int_equal(good, NEWT_OK);
    assert_int_equal(bad, NEWT_BAD_ARGUMENT);
    assert_string_equal(text, "newt: load sample.newt: sm_80, 12 bytes, sha256 80, on cuda:0\n"
                              "newt: choice add [generic] add_80 on cuda:0\n"
                              "newt: launch add grid 1 1 1, 128 threads, 0 bytes shared\n"
                              "newt: NEWT_BAD_ARGUMENT: big has no grid expression: pass a grid\n");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_choice, reset),
        cmocka_unit_test_setup(test_no_image, reset),
        cmocka_unit_test_setup(test_empty_grid_touches_nothing, reset),
        cmocka_unit_test_setup(test_shared_memory, reset),
        cmocka_unit_test_setup(test_cluster_is_an_attribute, reset),
        cmocka_unit_test_setup(test_capture, reset),
        cmocka_unit_test_setup(test_context_is_pushed_only_when_needed, reset),
        cmocka_unit_test_setup(test_handles_are_interned, reset),
        cmocka_unit_test_setup(test_open_by_environment, reset),
        cmocka_unit_test_setup(test_stub_is_recognised, reset),
        cmocka_unit_test_setup(test_force_ptx, reset),
        cmocka_unit_test_setup(test_check_names_the_kernel, reset),
        cmocka_unit_test_setup(test_racing_threads_load_once, reset),
        cmocka_unit_test_setup(test_child_after_fork_is_refused, reset),
        cmocka_unit_test_setup(test_timer_reads_events, reset),
        cmocka_unit_test_setup(test_log_lines, reset),
    };
    return cmocka_run_group_tests_name("runtime_launch", tests, NULL, NULL);
}
