/// Tensors of a tile kernel: what a launch refuses in them, and the argument record that comes out.
#include <newt/module.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

typedef struct Record {
    const void *x, *y;
    int64_t rows, x_stride, y_stride, reach;
} Record;

static const NewtKernel kernel = { .name = "k" };
static const NewtTensorRule tensors[2] = {
    { "x", NEWT_F32, 2, 1, 0, { -1, 8 } },
    { "y", NEWT_F32, 1, -1, 1, { -1 } },
};
static const NewtSizeRule rules[2] = {
    { "M", 1, { 0, 1 }, { 0, 0 } },
    { NULL, 0, { 1, 0 }, { 0, 1 } },
};
static const NewtFill fills[6] = {
    { NEWT_FILL_DATA, offsetof(Record, x), 0, 0 },
    { NEWT_FILL_DATA, offsetof(Record, y), 1, 0 },
    { NEWT_FILL_SIZE, offsetof(Record, rows), 0, 0 },
    { NEWT_FILL_STRIDE, offsetof(Record, x_stride), 0, 0 },
    { NEWT_FILL_STRIDE, offsetof(Record, y_stride), 1, 0 },
    { NEWT_FILL_REACH, offsetof(Record, reach), 0, 0 },
};
static const NewtBinding binding = { &kernel, tensors, rules, fills, 2, 2, 6 };

enum { BLOCK_MOST = 1 << 20 };

static float memory[4096];

static void good(NewtTensor t[2])
{
    t[0] = (NewtTensor){ memory, NEWT_F32, 2, { 5, 8 }, { 10, 1 } };
    t[1] = (NewtTensor){ memory + 1024, NEWT_F32, 1, { 5 }, { 3 } };
}

static void test_record(void **state)
{
    (void)state;
    NewtTensor t[2];
    Record r = { 0 };
    good(t);
    assert_int_equal(newt_bind_(&binding, NULL, t, &r), NEWT_OK);
    assert_ptr_equal(r.x, memory);
    assert_ptr_equal(r.y, memory + 1024);
    assert_int_equal(r.rows, 5);
    assert_int_equal(r.x_stride, 10);
    assert_int_equal(r.y_stride, 3);
    assert_int_equal(r.reach, 4 * 10 + 7 + BLOCK_MOST);  // the last element of x is the farthest
    // Backwards: the last element lies in front.
    t[1].stride[0] = -1000;
    assert_int_equal(newt_bind_(&binding, NULL, t, &r), NEWT_OK);
    assert_int_equal(r.y_stride, -1000);
    assert_int_equal(r.reach, 4 * 1000 + BLOCK_MOST);
    // A stride that moves nothing counts all the same: it is a number of the kernel.
    t[0].shape[0] = t[1].shape[0] = 1;
    t[0].stride[0] = INT64_C(1) << 40;
    assert_int_equal(newt_bind_(&binding, NULL, t, &r), NEWT_OK);
    assert_int_equal(r.reach, (INT64_C(1) << 40) + BLOCK_MOST);
    // Nothing in it: no address is needed.
    t[0].shape[0] = t[1].shape[0] = 0;
    t[0].data = t[1].data = NULL;
    assert_int_equal(newt_bind_(&binding, NULL, t, &r), NEWT_OK);
    assert_int_equal(r.rows, 0);
}

typedef struct Refusal {
    NewtStatus status;
    const char *text;
    NewtTensor t[2];
} Refusal;

#define X(...)                           \
    {                                    \
        memory, NEWT_F32, 2, __VA_ARGS__ \
    }
#define Y(...)                                  \
    {                                           \
        memory + 1024, NEWT_F32, 1, __VA_ARGS__ \
    }
#define GOOD_X X({ 5, 8 }, { 10, 1 })
#define GOOD_Y Y({ 5 }, { 1 })

static const Refusal refusals[] = {
    { NEWT_BAD_ARGUMENT, "k: x has 1 axis, and the kernel takes 2", { Y({ 5 }, { 1 }), GOOD_Y } },
    { NEWT_BAD_ARGUMENT,
      "k: y has 0 axes, and the kernel takes 1",
      { GOOD_X, { memory, NEWT_F32, 0, { 0 }, { 0 } } } },
    { NEWT_BAD_ARGUMENT,
      "k: y is int64[5], and the kernel takes float32",
      { GOOD_X, { memory, NEWT_I64, 1, { 5 }, { 1 } } } },
    { NEWT_BAD_ARGUMENT, "k: x.shape[0] is -5", { X({ -5, 8 }, { 10, 1 }), GOOD_Y } },
    { NEWT_BAD_ARGUMENT,
      "k: x.shape[1] is 9, and the kernel takes 8",
      { X({ 5, 9 }, { 10, 1 }), GOOD_Y } },
    { NEWT_BAD_ARGUMENT,
      "k: x.stride[1] is 2, and the kernel takes 1",
      { X({ 5, 8 }, { 16, 2 }), GOOD_Y } },
    { NEWT_BAD_ARGUMENT,
      "k: y is float32[6], but x is float32[5, 8]: M differs (x 5, y 6)",
      { GOOD_X, Y({ 6 }, { 1 }) } },
    { NEWT_BAD_ARGUMENT,
      "k: y.shape[0] is 9, and x.shape[1] is 8: the first must not be larger",
      { X({ 9, 8 }, { 10, 1 }), Y({ 9 }, { 1 }) } },
    { NEWT_BAD_ARGUMENT,
      "k: the data of x is NULL",
      { { NULL, NEWT_F32, 2, { 5, 8 }, { 10, 1 } }, GOOD_Y } },
    { NEWT_BAD_ARGUMENT,
      "k: the data of x is not aligned to its elements",
      { { (char *)memory + 2, NEWT_F32, 2, { 5, 8 }, { 10, 1 } }, GOOD_Y } },
    { NEWT_BAD_ARGUMENT,
      "k: y is written and overlaps x without being the same elements",
      { X({ 5, 8 }, { 8, 1 }), { memory + 39, NEWT_F32, 1, { 5 }, { 1 } } } },
    { NEWT_TOO_LARGE,
      "k: offsets into the tensors do not fit 62 bits",
      { X({ 5, 8 }, { INT64_MAX / 2, 1 }), GOOD_Y } },
    { NEWT_TOO_LARGE,
      "k: offsets into the tensors do not fit 62 bits",
      { GOOD_X, Y({ 5 }, { INT64_MIN }) } },
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        Record r, before;
        memset(&r, 0x5a, sizeof r);
        before = r;
        assert_int_equal(newt_bind_(&binding, NULL, refusals[i].t, &r), refusals[i].status);
        assert_string_equal(newt_last_error(), refusals[i].text);
        assert_memory_equal(&r, &before, sizeof r);
    }
    Record r;
    assert_int_equal(newt_bind_(&binding, NULL, NULL, &r), NEWT_BAD_ARGUMENT);
}

/// What lies apart, or is the same elements, or is strided, is the caller's business.
static void test_no_overlap(void **state)
{
    (void)state;
    Record r;
    NewtTensor t[2];
    good(t);
    t[0].stride[0] = 8;
    t[1].stride[0] = 1;
    t[1].data = memory + 40;  // right behind x
    assert_int_equal(newt_bind_(&binding, NULL, t, &r), NEWT_OK);
    t[0].shape[0] = t[1].shape[0] = 1;
    t[0].shape[1] = 8;
    t[0].stride[0] = 100;
    t[1].data = memory + 8;
    assert_int_equal(newt_bind_(&binding, NULL, t, &r), NEWT_OK);
    good(t);  // x has gaps between its rows, and y lies in one
    t[1].data = memory + 8;
    t[1].stride[0] = 10;
    assert_int_equal(newt_bind_(&binding, NULL, t, &r), NEWT_OK);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_record),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_no_overlap),
    };
    return cmocka_run_group_tests_name("runtime_bind", tests, NULL, NULL);
}
