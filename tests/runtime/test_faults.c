/// Every driver call of a whole session fails in turn, with each kind of CUresult.
///
/// Whatever fails: the first error is reported with the right status, the call's name and the
/// CUresult, later calls do not crash, and after closing nothing is left with the driver.
/// `test_faults old` runs the same against a driver without the optional functions.
#include "error.h"
#include "fake_driver.h"
#include "sample.h"
#include <newt/newt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct Result {
    CudaResult result;
    NewtStatus status;
} Result;

/// What a CUresult means, whichever call returns it.
static const Result results[] = {
    { 1, NEWT_DRIVER_ERROR },     { 2, NEWT_NO_MEMORY },      { 34, NEWT_NO_DRIVER },
    { 46, NEWT_NO_DEVICE },       { 101, NEWT_NO_DEVICE },    { 200, NEWT_BAD_IMAGE },
    { 209, NEWT_NO_IMAGE },       { 218, NEWT_BAD_IMAGE },    { 222, NEWT_OLD_DRIVER },
    { 700, NEWT_KERNEL_FAULT },   { 701, NEWT_TOO_LARGE },    { 719, NEWT_KERNEL_FAULT },
    { 803, NEWT_OLD_DRIVER },     { 900, NEWT_DRIVER_ERROR }, { 999, NEWT_DRIVER_ERROR },
    { 12345, NEWT_DRIVER_ERROR },
};

/// Calls whose failure has no one to tell: they give something back, restore a mode, or have a
/// variant that does without.
static bool is_silent(const char *call)
{
    static const char *const names[] = { "cuDevicePrimaryCtxRelease",
                                         "cuCtxPopCurrent",
                                         "cuMemFree",
                                         "cuEventDestroy",
                                         "cuLibraryUnload",
                                         "cuModuleUnload",
                                         "cuTensorMapEncodeTiled",
                                         "cuThreadExchangeStreamCaptureMode" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(call, names[i]) == 0)
            return true;
    }
    return false;
}

static void keep_first(NewtStatus *first, char *text, size_t size, NewtStatus status)
{
    if (*first != NEWT_OK || status == NEWT_OK)
        return;
    *first = status;
    snprintf(text, size, "%s", newt_last_error());
}

/// Uses every function once and goes on after failures. Returns the first failure; its text.
static NewtStatus session(char *text, size_t size)
{
    NewtStatus first = NEWT_OK;
    NewtDevice *device = NULL, *same = NULL;
    NewtTimer *timer = NULL;
    void *memory = NULL;
    double microseconds;
    keep_first(&first, text, size, newt_device_open("cuda:0", &device));
    if (!device)
        return first;
    fake_current = fake_primary;
    keep_first(&first, text, size, newt_device_current(&same));
    fake_current = NULL;
    keep_first(&first, text, size, newt_alloc(device, 1024, &memory));
    keep_first(&first, text, size, newt_timer_new(device, &timer));
    if (timer)
        keep_first(&first, text, size, newt_timer_start(timer, NULL));
    if (memory) {
        char bytes[16] = "abc";
        const SampleArgs args = { memory, memory, memory, 100 };
        keep_first(&first, text, size, newt_copy(device, NULL, memory, bytes, sizeof bytes));
        keep_first(&first, text, size, newt_launch_(sample_add, device, NULL, NULL, &args));
        const TileArgs tile = { memory, memory, 16, 64, 64 };
        if (fake.major == 9)
            keep_first(&first, text, size, newt_launch_(sample_tile, device, NULL, NULL, &tile));
        else
            keep_first(&first, text, size, newt_preload_(sample_big, device));
    }
    NewtStatus timed = timer ? newt_timer_stop(timer, NULL, &microseconds) : NEWT_OK;
    keep_first(&first, text, size, timed);
    keep_first(&first, text, size, newt_synchronize(device, NULL));
    newt_timer_free(timer);
    newt_free(device, memory);
    newt_device_close(same);
    newt_device_close(device);
    return first;
}

static void check_nothing_left(void)
{
    assert_int_equal(fake.retained, 0);
    assert_int_equal(fake_pushed, 0);
}

static bool is_old;

static void every_call_fails_in_turn(int major)
{
    char text[1024];
    fake_reset();
    fake.is_old = is_old;
    fake.major = major;
    assert_int_equal(session(text, sizeof text), NEWT_OK);
    int count = fake.calls;
    assert_true(count > 30);
    for (int call = 1; call <= count; call++) {
        for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
            fake_reset();
            fake.major = major;
            fake.fail_at = call;
            fake.fail_result = results[i].result;
            *text = '\0';
            NewtStatus status = session(text, sizeof text);
            check_nothing_left();
            // A lost context takes its images, memory and events along, unfreed.
            if (!newti_is_fault(results[i].result)) {
                // Freeing needs the context; if that call fails they go with the context too.
                bool is_context = strncmp(fake.failed, "cuCtx", 5) == 0;
                assert_true(fake.images == 0 || is_context);
                assert_true(fake.events == 0 || is_context);
                assert_true(fake.allocations == 0 || is_context);
            }
            if (is_silent(fake.failed) && status == NEWT_OK)
                continue;
            if (strcmp(fake.failed, "cuCtxGetCurrent") == 0 ||
                strcmp(fake.failed, "cuCtxPushCurrent") == 0) {
                if (status == NEWT_OK)  // of newt_free, newt_timer_free or newt_device_close
                    continue;
            }
            assert_int_equal(status, results[i].status);
            assert_non_null(strstr(text, fake.failed));
            assert_non_null(strstr(text, "CUDA_ERROR_"));
        }
    }
}

static void test_every_call_fails_in_turn(void **state)
{
    (void)state;
    every_call_fails_in_turn(8);
    every_call_fails_in_turn(9);
}

static void test_driver_error_is_kept_until_next_failure(void **state)
{
    (void)state;
    NewtDevice *device;
    fake_reset();
    assert_int_equal(newt_device_open("cuda:0", &device), NEWT_OK);
    fake.fail_name = "cuMemAlloc";
    fake.fail_result = CUDA_OUT_OF_MEMORY;
    void *memory = &memory;
    assert_int_equal(newt_alloc(device, 4096, &memory), NEWT_NO_MEMORY);
    assert_ptr_equal(memory, &memory);
    assert_int_equal(newt_last_driver_error(), CUDA_OUT_OF_MEMORY);
    assert_non_null(strstr(newt_last_error(), "newt_alloc: 4096 bytes on cuda:0: cuMemAlloc"));
    assert_int_equal(newt_synchronize(device, NULL), NEWT_OK);
    assert_int_equal(newt_last_driver_error(), CUDA_OUT_OF_MEMORY);
    assert_int_equal(newt_alloc(NULL, 4096, &memory), NEWT_BAD_ARGUMENT);
    assert_int_equal(newt_last_driver_error(), 0);
    newt_device_close(device);
}

static void test_jit_log_is_in_the_text(void **state)
{
    (void)state;
    NewtDevice *device;
    fake_reset();
    fake.fail_name = is_old ? "cuModuleLoadDataEx" : "cuLibraryLoadData";
    fake.fail_result = CUDA_UNSUPPORTED_PTX_VERSION;
    strcpy(fake.jit_log, "ptxas fatal: Unsupported .version 9.9");
    assert_int_equal(newt_device_open("cuda:0", &device), NEWT_OK);
    assert_int_equal(newt_preload_(sample_add, device), NEWT_OLD_DRIVER);
    assert_non_null(strstr(newt_last_error(), "sm_80 image"));
    assert_non_null(strstr(newt_last_error(), "Unsupported .version 9.9"));
    newt_device_close(device);
}

static void test_lost_context_stays_lost(void **state)
{
    (void)state;
    NewtDevice *device;
    fake_reset();
    assert_int_equal(newt_device_open("cuda:0", &device), NEWT_OK);
    fake.fail_name = "cuStreamSynchronize";
    fake.fail_result = CUDA_ILLEGAL_ADDRESS;
    assert_int_equal(newt_synchronize(device, NULL), NEWT_KERNEL_FAULT);
    int calls = fake.calls;
    float data[4] = { 0 };
    const SampleArgs args = { data, data, data, 4 };
    assert_int_equal(newt_launch_(sample_add, device, NULL, NULL, &args), NEWT_KERNEL_FAULT);
    assert_non_null(strstr(newt_last_error(), "add: an earlier kernel on cuda:0 faulted"));
    assert_int_equal(newt_last_driver_error(), CUDA_ILLEGAL_ADDRESS);
    void *memory;
    assert_int_equal(newt_alloc(device, 1, &memory), NEWT_KERNEL_FAULT);
    assert_int_equal(fake.calls, calls);
    newt_device_close(device);
    assert_int_equal(fake.retained, 0);
}

static void test_no_driver(void **state)
{
    (void)state;
    NewtDevice *device;
    fake_reset();
    fake.load_status = NEWT_NO_DRIVER;
    assert_int_equal(newt_device_open("cuda:0", &device), NEWT_NO_DRIVER);
    assert_int_equal(newt_device_current(&device), NEWT_NO_DRIVER);
    assert_int_equal(newt_device_open(NULL, &device), NEWT_OK);
    assert_true(newt_device_is_host(device));
    newt_device_close(device);
    fake.load_status = NEWT_OLD_DRIVER;
    assert_int_equal(newt_device_open(NULL, &device), NEWT_OLD_DRIVER);
}

int main(int argc, char **argv)
{
    is_old = argc > 1 && strcmp(argv[1], "old") == 0;
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_driver),  // before any test that loads the driver
        cmocka_unit_test(test_every_call_fails_in_turn),
        cmocka_unit_test(test_driver_error_is_kept_until_next_failure),
        cmocka_unit_test(test_jit_log_is_in_the_text),
        cmocka_unit_test(test_lost_context_stays_lost),
    };
    unsetenv("NEWT_DEVICE");
    return cmocka_run_group_tests_name("runtime_faults", tests, NULL, NULL);
}
