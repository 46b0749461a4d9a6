// test_tensor_access.c - which loads are tiles of a tensor, with the dimensions written out by
// hand, and why others are none.
#include "ir_case.h"
#include "tensor_case.h"

typedef struct AccessCase {
    const char *name, *text;  // the access is the first load or store
    const char *want;         // one line a dimension, or the reason
} AccessCase;

/* m = pm * 128 + 0..127 as (128, 1), k = 0..63 as (1, 64) */
#define ROWS(start)                                      \
    "%r = arange 0, 128 : (128) i32\n%r1 = splat " start \
    " : (128) i32\n%r2 = add %r1, %r : (128) i32\n"      \
    "%m = expand_dims %r2 {axis=1} : (128, 1) i32\n"
#define PID     "%pm = program_id {axis=0} : i32\n%c128 = const 128 : i32\n%s0 = mul %pm, %c128 : i32\n"
#define COLUMNS "%c = arange 0, 64 : (64) i32\n%k = expand_dims %c {axis=0} : (1, 64) i32\n"
#define POINTERS(param, stride)                                                                   \
    "%ld = splat " stride " : (128, 1) i32\n%mo = mul %m, %ld : (128, 1) i32\n%p0 = splat " param \
    " : (128, 1) *fp16\n%p1 = ptr_add %p0, %mo : (128, 1) *fp16\n"                                \
    "%p2 = broadcast %p1 : (128, 64) *fp16\n%k2 = broadcast %k : (128, 64) i32\n"                 \
    "%p = ptr_add %p2, %k2 : (128, 64) *fp16\n"
#define ROW_MASK                                                      \
    "%ms = splat %M : (128, 1) i32\n%m1 = lt %m, %ms : (128, 1) i1\n" \
    "%m2 = broadcast %m1 : (128, 64) i1\n"
#define COLUMN_MASK(bound)                                                 \
    "%ks = splat " bound " : (1, 64) i32\n%k1 = lt %k, %ks : (1, 64) i1\n" \
    "%k3 = broadcast %k1 : (128, 64) i1\n%mask = and %m2, %k3 : (128, 64) i1\n"
#define END  "return\n}\n"
#define HEAD "func @f(%a: *fp16, %M: i32, %K: i32, %lda: i32) {\n"

static const AccessCase access_cases[] = {
    { "tile_with_masks",
      HEAD PID ROWS("%s0") COLUMNS POINTERS("%a", "%lda")
          ROW_MASK COLUMN_MASK("%K") "%x = load %p, mask=%mask : (128, 64) fp16\n" END,
      "axis 0 x128: stride lda, start 128*pm, bounds M\n"
      "axis 1 x64: stride 1, start 0, bounds K\n" },
    { "no_masks",
      HEAD PID ROWS("%s0") COLUMNS POINTERS("%a", "%lda") "%x = load %p : (128, 64) fp16\n" END,
      "axis 0 x128: stride lda, start 128*pm\naxis 1 x64: stride 1, start 0\n" },
    { "pointers_moved_by_the_loop",
      HEAD PID ROWS("%s0") COLUMNS POINTERS("%a", "%lda") ROW_MASK
      "%z = const 0 : i32\n%one = const 1 : i32\n%bk = const 64 : i32\n%n = cdiv %K, %bk : i32\n"
      "%e = for %z, %n, %one, %p : (128, 64) *fp16 (%i: i32, %q: (128, 64) *fp16) {\n"
      "%done = mul %i, %bk : i32\n%left = sub %K, %done : i32\n" COLUMN_MASK(
          "%left") "%x = load %q, mask=%mask : (128, 64) fp16\n"
                   "%step = const 64 : (128, 64) i32\n%next = ptr_add %q, %step : (128, 64) *fp16\n"
                   "yield %next\n}\n" END,
      "axis 0 x128: stride lda, start 128*pm, bounds M\n"
      "axis 1 x64: stride 1, start 64*i, bounds K\n" },
    { "rows_moved_by_the_loop",  // b_ptrs += BK * ldb
      HEAD "%s0 = const 0 : i32\n" ROWS("%s0") COLUMNS POINTERS(
          "%a",
          "%lda") "%z = const 0 : i32\n%by = const 128 : i32\n%st = mul %lda, %by : i32\n"
                  "%e = for %z, %K, %by, %p : (128, 64) *fp16 (%i: i32, %q: (128, 64) *fp16) {\n"
                  "%left = sub %K, %i : i32\n%ms = splat %left : (128, 1) i32\n"
                  "%m1 = lt %m, %ms : (128, 1) i1\n%mask = broadcast %m1 : (128, 64) i1\n"
                  "%x = load %q, mask=%mask : (128, 64) fp16\n%step = splat %st : (128, 64) i32\n"
                  "%next = ptr_add %q, %step : (128, 64) *fp16\nyield %next\n}\n" END,
      "axis 0 x128: stride lda, start 128*i, bounds K\naxis 1 x64: stride 1, start 0\n" },
    { "offsets_recomputed_with_the_counter",  // m = i + 0..127, i in steps of 128 from 256
      HEAD "%lo = const 256 : i32\n%by = const 128 : i32\n"
           "for %lo, %K, %by (%i: i32) {\n" ROWS("%i") COLUMNS POINTERS("%a", "%lda") ROW_MASK
      "%x = load %p, mask=%m2 : (128, 64) fp16\nyield\n}\n" END,
      "axis 0 x128: stride lda, start 128*i + 256, bounds M\naxis 1 x64: stride 1, start 0\n" },
    { "batch_is_a_dimension",
      HEAD PID ROWS("%s0") COLUMNS "%b = program_id {axis=1} : i32\n%sb = mul %b, %K : i32\n%ab = "
                                   "ptr_add %a, %sb : *fp16\n" POINTERS("%ab", "%lda") ROW_MASK
      "%x = load %p, mask=%m2 : (128, 64) fp16\n" END,
      "axis 0 x128: stride lda, start 128*pm, bounds M\naxis 1 x64: stride 1, start 0\n"
      "axis -1 x1: stride K, start b\n" },
    { "bound_with_a_shift",  // the mask counts rows from 5 on
      HEAD PID ROWS("%s0") COLUMNS POINTERS(
          "%a", "%lda") "%five = const 5 : (128, 1) i32\n%mm = add %m, %five : (128, 1) i32\n"
                        "%ms = splat %M : (128, 1) i32\n%m1 = le %mm, %ms : (128, 1) i1\n"
                        "%m2 = broadcast %m1 : (128, 64) i1\n%x = load %p, mask=%m2 : (128, 64) "
                        "fp16\n" END,
      "axis 0 x128: stride lda, start 128*pm, bounds M + -4\naxis 1 x64: stride 1, start 0\n" },
    { "constant_strides",
      "func @f(%a: *fp16, %M: i32) {\n%lda = const 1024 : i32\n" PID ROWS("%s0")
          COLUMNS POINTERS("%a", "%lda") "%x = load %p : (128, 64) fp16\n" END,
      "axis 0 x128: stride 1024, start 128*pm\naxis 1 x64: stride 1, start 0\n" },
    { "columns_first",  // a column-major matrix: rows are neighbours
      HEAD PID "%one = const 1 : i32\n" ROWS(
          "%s0") "%c = arange 0, 64 : (64) i32\n%k0 = expand_dims %c {axis=0} : (1, 64) i32\n"
                 "%ks = splat %lda : (1, 64) i32\n%k = mul %k0, %ks : (1, 64) i32\n" POINTERS(
                     "%a", "%one") "%x = load %p : (128, 64) fp16\n" END,
      "axis 0 x128: stride 1, start 128*pm\naxis 1 x64: stride lda, start 0\n" },
    { "halo_masked_on_both_sides",  // m = pm * 128 - 1 + 0..127, m >= 0, m < M
      HEAD PID "%one = const 1 : i32\n%s = sub %s0, %one : i32\n" ROWS("%s")
          COLUMNS POINTERS("%a", "%lda") ROW_MASK
      "%zero = const 0 : (128, 64) i32\n%mb = broadcast %m : (128, 64) i32\n"
      "%ge = ge %mb, %zero : (128, 64) i1\n%mask = and %m2, %ge : (128, 64) i1\n"
      "%x = load %p, mask=%mask : (128, 64) fp16\n" END,
      "axis 0 x128: stride lda, start 128*pm + -1, bounds M, from 0\n"
      "axis 1 x64: stride 1, start 0\n" },
    { "store",
      HEAD PID ROWS("%s0") COLUMNS POINTERS("%a", "%lda") ROW_MASK
      "%v = const 1.0 : (128, 64) fp16\nstore %p, %v, mask=%m2\n" END,
      "axis 0 x128: stride lda, start 128*pm, bounds M\naxis 1 x64: stride 1, start 0\n" },

    { "mask_that_stays_while_the_pointers_move",
      HEAD "%s0 = const 0 : i32\n" ROWS("%s0") COLUMNS POINTERS("%a", "%lda") ROW_MASK COLUMN_MASK(
          "%K") "%z = const 0 : i32\n%one = const 1 : i32\n"
                "%e = for %z, %M, %one, %p : (128, 64) *fp16 (%i: i32, %q: (128, 64) *fp16) {\n"
                "%x = load %q, mask=%mask : (128, 64) fp16\n"
                "%step = const 64 : (128, 64) i32\n%next = ptr_add %q, %step : (128, 64) *fp16\n"
                "yield %next\n}\n" END,
      "axis 0 x128: stride lda, start 0, bounds M\naxis 1 x64: stride 1, start 0, bounds K\n"
      "axis -1 x1: stride 64, start i\n" },
    { "rows_modulo",
      HEAD PID
      "%r = arange 0, 128 : (128) i32\n%r1 = splat %s0 : (128) i32\n"
      "%r2 = add %r1, %r : (128) i32\n%Ms = splat %M : (128) i32\n%r3 = rem %r2, %Ms : (128) i32\n"
      "%m = expand_dims %r3 {axis=1} : (128, 1) i32\n" COLUMNS POINTERS(
          "%a", "%lda") "%x = load %p : (128, 64) fp16\n" END,
      "the address is no sum of coordinates times strides" },
    { "gathered_rows",
      HEAD
      "%r = arange 0, 128 : (128) i32\n%ip0 = splat %a : (128) *fp16\n"
      "%ip = ptr_add %ip0, %r : (128) *fp16\n%ii = cast %r : (128) fp32\n"
      "%r3 = cast %ii : (128) i32\n%m = expand_dims %r3 {axis=1} : (128, 1) i32\n" COLUMNS POINTERS(
          "%a", "%lda") "%x = load %p : (128, 64) fp16\n" END,
      "the address is made of numbers that are no integers" },
    { "mask_between_axes",  // a triangle
      HEAD PID ROWS("%s0") COLUMNS POINTERS(
          "%a", "%lda") "%mb = broadcast %m : (128, 64) i32\n%t = ge %mb, %k2 : (128, 64) i1\n"
                        "%x = load %p, mask=%t : (128, 64) fp16\n" END,
      "the mask compares coordinates of two axes" },
    { "stride_that_the_program_chooses",
      HEAD PID ROWS("%s0") COLUMNS POINTERS("%a", "%pm") "%x = load %p : (128, 64) fp16\n" END,
      "a stride is not known when the kernel is launched" },
    { "bound_that_the_program_chooses",
      HEAD PID ROWS("%s0")
          COLUMNS POINTERS("%a", "%lda") "%r9 = rem %pm, %M : i32\n%ms = splat %r9 : (1, 64) "
                                         "i32\n%m1 = lt %k, %ms : (1, 64) i1\n"
                                         "%m2 = broadcast %m1 : (128, 64) i1\n%x = load %p, "
                                         "mask=%m2 : (128, 64) fp16\n" END,
      "the mask does not move with the tile" },
    { "other_than_zero",
      HEAD PID ROWS("%s0") COLUMNS POINTERS("%a", "%lda") ROW_MASK
      "%o = const 1.0 : (128, 64) fp16\n%x = load %p, mask=%m2, other=%o : (128, 64) fp16\n" END,
      "what is masked off is not 0" },
    { "negative_zero_is_not_zero",
      HEAD PID ROWS("%s0") COLUMNS POINTERS("%a", "%lda") ROW_MASK
      "%o = const -0.0 : (128, 64) fp16\n%x = load %p, mask=%m2, other=%o : (128, 64) fp16\n" END,
      "what is masked off is not 0" },
    { "one_row_for_all",
      HEAD COLUMNS "%p0 = splat %a : (1, 64) *fp16\n%p1 = ptr_add %p0, %k : (1, 64) *fp16\n"
                   "%p = broadcast %p1 : (128, 64) *fp16\n%x = load %p : (128, 64) fp16\n" END,
      "elements along an axis have one address" },
    { "one_condition_for_the_tile",
      HEAD PID ROWS("%s0") COLUMNS POINTERS(
          "%a",
          "%lda") "%ms = splat %M : (128, 64) i32\n%z = splat %pm : (128, 64) i32\n"
                  "%m2 = lt %z, %ms : (128, 64) i1\n%x = load %p, mask=%m2 : (128, 64) fp16\n" END,
      "the mask is one condition for the whole tile" },
    { "moved_by_a_while_loop",
      HEAD PID ROWS("%s0") COLUMNS POINTERS(
          "%a",
          "%lda") "%e, %f = while %p, %M : (128, 64) *fp16, i32 (%v: (128, 64) *fp16, %g: i32) {\n"
                  "%z = const 0 : i32\n%go = gt %g, %z : i1\nyield %go\n} do (%q: (128, 64) *fp16, "
                  "%n: i32) {\n"
                  "%x = load %q : (128, 64) fp16\n%one = const 1 : i32\n%n1 = sub %n, %one : i32\n"
                  "%step = const 64 : (128, 64) i32\n%next = ptr_add %q, %step : (128, 64) *fp16\n"
                  "yield %next, %n1\n}\n" END,
      "a 'while' loop moves it" },
};

static bool find_access(IrOp *op, void *cx)
{
    IrOp **found = cx;
    if (op->code == IR_LOAD || op->code == IR_STORE)
        *found = op;
    return *found == NULL;
}

static void check_access(void **state)
{
    const AccessCase *t = *state;
    IrCase c;
    ir_case_init(&c);
    IrFunc *fn = ir_case_valid(&c, t->text);
    IrOp *op = NULL;
    ir_walk(fn, find_access, &op);
    assert_non_null(op);
    Tensors *tensors = tensor_analysis(fn, axis_info_compute(fn, &c.arena), &c.arena);
    buf_clear(&c.out);
    tensor_case_put(&c.out, tensor_access_of(tensors, op));
    assert_string_equal(c.out.at, t->want);
    ir_case_free(&c);
}

typedef struct ObstacleCase {
    const char *name, *params, *stride, *want;
} ObstacleCase;

static const ObstacleCase obstacle_cases[] = {
    { "aligned", "%a: *fp16 {divisor=16}, %lda: i32 {divisor=8}", "%lda", "" },
    { "pointer", "%a: *fp16 {divisor=8}, %lda: i32 {divisor=8}", "%lda",
      "the pointer may not be a multiple of 16 bytes" },
    { "stride", "%a: *fp16 {divisor=16}, %lda: i32 {divisor=4}", "%lda",
      "a stride may not be a multiple of 16 bytes" },
};

static void check_obstacle(void **state)
{
    const ObstacleCase *t = *state;
    IrCase c;
    ir_case_init(&c);
    const char *text = arena_printf(
        &c.arena, "func @f(%s) {\n%s", t->params,
        PID ROWS("%s0") COLUMNS POINTERS("%a", "%lda") "%x = load %p : (128, 64) fp16\n" END);
    IrFunc *fn = ir_case_valid(&c, text);
    IrOp *op = NULL;
    ir_walk(fn, find_access, &op);
    Tensors *tensors = tensor_analysis(fn, axis_info_compute(fn, &c.arena), &c.arena);
    const char *got = tensor_copy_obstacle(tensors, tensor_access_of(tensors, op));
    assert_string_equal(got ? got : "", t->want);
    ir_case_free(&c);
}

enum {
    ACCESS_COUNT = sizeof access_cases / sizeof *access_cases,
    OBSTACLE_COUNT = sizeof obstacle_cases / sizeof *obstacle_cases
};

int main(void)
{
    struct CMUnitTest tests[ACCESS_COUNT + OBSTACLE_COUNT];
    for (unsigned i = 0; i < ACCESS_COUNT; i++)
        tests[i] = (struct CMUnitTest){ access_cases[i].name, check_access, NULL, NULL,
                                        (void *)&access_cases[i] };
    for (unsigned i = 0; i < OBSTACLE_COUNT; i++)
        tests[ACCESS_COUNT + i] = (struct CMUnitTest){ obstacle_cases[i].name, check_obstacle, NULL,
                                                       NULL, (void *)&obstacle_cases[i] };
    return cmocka_run_group_tests_name("tensor_access", tests, NULL, NULL);
}
