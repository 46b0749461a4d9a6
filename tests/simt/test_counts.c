/// test_counts.c - what the softmax of the examples costs on the device: access widths, conflicts, barriers.
///
/// The numbers follow from the row's size alone: a row of 4096 floats read and written once, 16 bytes a
/// lane where the row is aligned and 4 where not, two reductions across warps with one barrier each.
#include "simt.h"
#include "softmax.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ROWS = 3, WIDTH = 4096, WIDTH_4 = 2, WIDTH_16 = 4 };  // indices of 4 and 16 bytes

static NewtDevice *device;

/// Runs softmax on rows of `width` elements, `stride` apart, from `shift` floats after an aligned address.
static SimtCounts run(int width, int64_t stride, size_t shift)
{
    const size_t bytes = ((size_t)ROWS * (size_t)stride + shift) * sizeof(float);
    float *host = malloc(bytes), *x = NULL, *out = NULL;
    assert_non_null(host);
    for (size_t i = 0; i < bytes / sizeof(float); i++)
        host[i] = (float)(i % 13);
    assert_int_equal(newt_alloc(device, bytes, (void **)&x), NEWT_OK);
    assert_int_equal(newt_alloc(device, bytes, (void **)&out), NEWT_OK);
    assert_int_equal(newt_copy(device, NULL, x, host, bytes), NEWT_OK);
    simt_counts_reset();
    if (softmax_4096(device, NULL, x + shift, out + shift, ROWS, width, stride) != NEWT_OK)
        fail_msg("%s", newt_last_error());
    const SimtCounts c = simt_counts();
    assert_int_equal(newt_copy(device, NULL, host, out, bytes), NEWT_OK);
    for (int r = 0; r < ROWS; r++) {
        double sum = 0;
        for (int i = 0; i < width; i++)
            sum += host[shift + (size_t)(r * stride) + (size_t)i];
        assert_true(fabs(sum - 1) < 1e-4);
    }
    newt_free(device, x);
    newt_free(device, out);
    free(host);
    return c;
}

static void check_widths(const SimtCounts *c, int width, uint64_t lanes)
{
    for (int k = 0; k < SIMT_WIDTHS; k++) {
        assert_int_equal(c->loads[k], k == width ? lanes : 0);
        assert_int_equal(c->stores[k], k == width ? lanes : 0);
    }
}

static void aligned(void **state)
{
    (void)state;
    const SimtCounts c = run(WIDTH, WIDTH, 0);
    check_widths(&c, WIDTH_16, ROWS * WIDTH / 4);
    assert_int_equal(c.programs, ROWS);
    assert_int_equal(c.barriers, 2 * ROWS);
    assert_int_equal(c.bank_conflicts, 0);
    assert_int_equal(c.global_bytes, 2 * ROWS * WIDTH * sizeof(float));
    assert_int_equal(c.global_sectors, c.global_bytes / 32);
    assert_int_equal(c.atomics, 0);
}

/// The same by lines: the load, the maximum, the sum and its division, the store.
static void lines(void **state)
{
    (void)state;
    run(WIDTH, WIDTH, 0);
    const SimtCounts load = simt_counts_at("softmax.newt:14"), maximum = simt_counts_at("softmax.newt:15");
    const SimtCounts store = simt_counts_at("softmax.newt:16");
    assert_int_equal(load.loads[WIDTH_16], ROWS * WIDTH / 4);
    assert_int_equal(load.global_bytes, ROWS * WIDTH * sizeof(float));
    assert_int_equal(load.global_sectors, load.global_bytes / 32);
    assert_int_equal(load.barriers + load.shared_requests, 0);
    assert_int_equal(store.stores[WIDTH_16], ROWS * WIDTH / 4);
    assert_int_equal(store.global_sectors, ROWS * WIDTH * sizeof(float) / 32);
    assert_int_equal(maximum.barriers, ROWS);
    assert_int_equal(store.barriers, ROWS);
    assert_int_equal(maximum.global_bytes, 0);
    assert_true(maximum.shared_requests > 0 && store.shared_requests > 0);
    assert_int_equal(maximum.bank_conflicts + store.bank_conflicts, 0);
    assert_int_equal(simt_counts_at("softmax.newt:1").global_bytes, 0);
}

static void misaligned_pointer(void **state)
{
    (void)state;
    for (size_t shift = 1; shift < 4; shift++) {
        const SimtCounts c = run(WIDTH, WIDTH, shift);
        check_widths(&c, WIDTH_4, ROWS * WIDTH);
        assert_int_equal(c.barriers, 2 * ROWS);
        assert_int_equal(c.bank_conflicts, 0);
    }
}

/// With an odd stride only every fourth row begins at a multiple of 16 bytes.
static void misaligned_rows(void **state)
{
    (void)state;
    const SimtCounts c = run(WIDTH, WIDTH + 1, 0);
    assert_int_equal(c.loads[WIDTH_16], WIDTH / 4);
    assert_int_equal(c.loads[WIDTH_4], (ROWS - 1) * WIDTH);
    assert_int_equal(c.bank_conflicts, 0);
}

/// Nothing is read or written beyond the row.
static void partial_row(void **state)
{
    (void)state;
    const SimtCounts c = run(1000, 1000, 0);
    assert_int_equal(c.global_bytes, 2 * ROWS * 1000 * sizeof(float));
    assert_int_equal(c.bank_conflicts, 0);
}

int main(int argc, char **argv)
{
    if (newt_device_open(argc > 1 ? argv[1] : "cuda:0", &device) != NEWT_OK) {
        fprintf(stderr, "%s\n", newt_last_error());
        return 1;
    }
    const struct CMUnitTest tests[] = { cmocka_unit_test(aligned), cmocka_unit_test(lines), cmocka_unit_test(misaligned_pointer),
                                        cmocka_unit_test(misaligned_rows), cmocka_unit_test(partial_row) };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    newt_device_close(device);
    return failed;
}
