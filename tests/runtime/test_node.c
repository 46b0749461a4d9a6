/// Launches as nodes of CUDA graphs: what newt_kernel_node_params() says against what a launch with
/// the same arguments hands to the fake driver.
#include "fake_driver.h"
#include "sample.h"
#include <newt/newt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if __has_include(<cuda.h>)
#include <cuda.h>
#if CUDA_VERSION >= 12000
#define SAME_PLACE(ours, theirs) \
    (offsetof(NewtNodeParams, ours) == offsetof(CUDA_KERNEL_NODE_PARAMS, theirs))
_Static_assert(SAME_PLACE(func, func) && SAME_PLACE(grid, gridDimX) &&
                   SAME_PLACE(block, blockDimX) && SAME_PLACE(shared, sharedMemBytes) &&
                   SAME_PLACE(params, kernelParams) && SAME_PLACE(extra, extra) &&
                   SAME_PLACE(kern, kern) && SAME_PLACE(ctx, ctx) &&
                   offsetof(NewtNodeParams, cluster) == sizeof(CUDA_KERNEL_NODE_PARAMS),
               "a NewtNodeParams begins with a CUDA_KERNEL_NODE_PARAMS");
#endif
#endif

#include <cmocka.h>

static NewtDevice *device;

static int set_up(void **state)
{
    (void)state;
    fake_reset();
    return newt_device_open("cuda:0", &device) == NEWT_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    newt_device_close(device);
    return fake.images == 0 && fake.retained == 0 && fake_pushed == 0 ? 0 : -1;
}

/// The argument values of one call, and a pointer to each.
typedef struct Values {
    SampleArgs args;
    void *at[4];
} Values;

static void values_set(Values *values, uintptr_t x, int64_t n)
{
    values->args = (SampleArgs){ (const float *)x, (const float *)0x2000, (float *)0x3000, n };
    values->at[0] = &values->args.x;
    values->at[1] = &values->args.y;
    values->at[2] = &values->args.out;
    values->at[3] = &values->args.n;
}

static void test_node_is_the_launch(void **state)
{
    (void)state;
    static const struct {
        uintptr_t x;
        int64_t n;
        const char *symbol;
        unsigned programs;
    } cases[] = {
        { 0x1000, 1600, "add_aligned_80", 7 },
        { 0x1004, 1600, "add_80", 7 },
        { 0x1000, 1, "add_one_80", 1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Values values;
        values_set(&values, cases[i].x, cases[i].n);
        NewtNodeParams node;
        memset(&node, 0xFF, sizeof node);
        assert_int_equal(newt_kernel_node_params(sample_add, values.at, device, NULL, &node),
                         NEWT_OK);
        assert_int_equal(fake.launches, (int)i);
        assert_string_equal((const char *)node.func, cases[i].symbol);
        assert_int_equal(node.grid[0], cases[i].programs);
        assert_int_equal(node.grid[1], 1);
        assert_int_equal(node.grid[2], 1);
        assert_int_equal(node.block[1], 1);
        assert_null(node.extra);
        assert_null(node.kern);
        assert_null(node.ctx);
        assert_int_equal(node.cluster[0], 0);
        assert_ptr_equal(node.params, node.parameters);
        for (int p = 0; p < 4; p++)
            assert_ptr_equal(node.params[p], values.at[p]);

        assert_int_equal(newt_launch_(sample_add, device, NULL, NULL, &values.args), NEWT_OK);
        assert_string_equal(fake.symbol, cases[i].symbol);
        assert_int_equal(fake.grid[0], node.grid[0]);
        assert_int_equal(fake.threads, node.block[0]);
        assert_int_equal(fake.shared, node.shared);
    }
}

static void test_shared_and_given_grid(void **state)
{
    (void)state;
    Values values;
    values_set(&values, 0x1000, 5);
    const NewtGrid grid = { 4, 5, 6 };
    NewtNodeParams node;
    assert_int_equal(newt_kernel_node_params(sample_big, values.at, device, &grid, &node), NEWT_OK);
    assert_int_equal(node.shared, 100 * 1024);
    assert_int_equal(fake.shared_opt_in, 100 * 1024);
    assert_int_equal(node.grid[1], 5);
    assert_int_equal(node.grid[2], 6);
    assert_int_equal(node.block[0], 256);
}

static void test_cluster_is_left_to_the_caller(void **state)
{
    (void)state;
    newt_device_close(device);
    fake.major = 9;
    assert_int_equal(newt_device_open("cuda:0", &device), NEWT_OK);
    Values values;
    values_set(&values, 0x1000, 8192);
    NewtNodeParams node;
    assert_int_equal(newt_kernel_node_params(sample_cluster, values.at, device, NULL, &node),
                     NEWT_OK);
    assert_int_equal(node.cluster[0], 16);
    assert_int_equal(node.cluster[1], 1);
    assert_int_equal(node.cluster[2], 1);
}

/// Loading for a node must work while any stream is being captured.
static void test_capture_does_not_matter(void **state)
{
    (void)state;
    Values values;
    values_set(&values, 0x1000, 5);
    fake.capture_state = 1;
    NewtNodeParams node;
    assert_int_equal(newt_kernel_node_params(sample_add, values.at, device, NULL, &node), NEWT_OK);
    assert_int_equal(fake.functions_loaded, 3);
}

static void test_refusals(void **state)
{
    (void)state;
    Values values, five;
    values_set(&values, 0x1000, 0);
    values_set(&five, 0x1000, 5);
    NewtNodeParams node = { .shared = 77 };
    NewtDevice *host;
    assert_int_equal(newt_device_open("host", &host), NEWT_OK);
    void *holed[4] = { values.at[0], NULL, values.at[2], values.at[3] };
    const struct {
        const NewtKernel *kernel;
        void *const *args;
        NewtDevice *device;
        NewtNodeParams *out;
        NewtStatus status;
        const char *text;
    } cases[] = {
        { NULL, values.at, device, &node, NEWT_BAD_ARGUMENT, "kernel is NULL" },
        { sample_add, values.at, device, NULL, NEWT_BAD_ARGUMENT, "out is NULL" },
        { sample_add, NULL, device, &node, NEWT_BAD_ARGUMENT, "x is NULL" },
        { sample_add, holed, device, &node, NEWT_BAD_ARGUMENT, "y is NULL" },
        { sample_add, values.at, NULL, &node, NEWT_BAD_ARGUMENT, "the device is NULL" },
        { sample_add, values.at, device, &node, NEWT_BAD_ARGUMENT, "the grid is empty" },
        { sample_big, values.at, device, &node, NEWT_BAD_ARGUMENT, "no grid expression" },
        { sample_add, values.at, host, &node, NEWT_UNSUPPORTED, "the host has no graphs" },
        { sample_foreign, values.at, device, &node, NEWT_BAD_IMAGE, "run newtc again" },
        { sample_cluster, five.at, device, &node, NEWT_NO_IMAGE, "cluster has images" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(newt_kernel_node_params(cases[i].kernel, cases[i].args, cases[i].device,
                                                 NULL, cases[i].out),
                         cases[i].status);
        assert_non_null(strstr(newt_last_error(), cases[i].text));
        assert_int_equal(node.shared, 77);
        assert_int_equal(fake_pushed, 0);
    }
    newt_device_close(host);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_node_is_the_launch, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_shared_and_given_grid, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cluster_is_left_to_the_caller, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_capture_does_not_matter, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
