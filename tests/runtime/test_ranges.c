/// NEWT_NVTX: each launch stands in a range with its kernel's name. The library is fake_nvtx.c,
/// which is found by LD_LIBRARY_PATH under the name of NVTX's.
#include "fake_driver.h"
#include "sample.h"
#include <dlfcn.h>
#include <newt/newt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/// What the library heard of two launches, one of which fails, with NEWT_NVTX as `value`.
static void check_ranges(const char *device_name, const char *value, const char *wanted)
{
    void *library = dlopen("libnvToolsExt.so.1", RTLD_NOW);
    assert_non_null(library);
    char *heard = dlsym(library, "fake_ranges");
    assert_non_null(heard);
    *heard = '\0';
    fake_reset();
    setenv("NEWT_NVTX", value, 1);
    NewtDevice *device;
    float x[1] = { 1 }, y[1] = { 2 }, out[1] = { 0 };
    const SampleArgs args = { x, y, out, 1 };
    assert_int_equal(newt_device_open(device_name, &device), NEWT_OK);
    assert_int_equal(newt_launch_(sample_add, device, NULL, NULL, &args), NEWT_OK);
    assert_int_not_equal(newt_launch_(sample_big, device, NULL, NULL, &args), NEWT_OK);
    newt_device_close(device);
    assert_string_equal(heard, wanted);
    dlclose(library);
}

static void test_ranges(void **state)
{
    (void)state;
    check_ranges("cuda:0", "1", "<add><big>");
    check_ranges("host", "1", "<add><big>");
    check_ranges("cuda:0", "0", "");
    check_ranges("cuda:0", "", "");
}

int main(void)
{
    static const struct CMUnitTest tests[] = { cmocka_unit_test(test_ranges) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
