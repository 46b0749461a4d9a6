// test_verify.c - each rule of block IR has a function that breaks it, and only it.
#include "ir_case.h"

typedef struct VerifyCase {
    const char *name;
    const char *params, *body;  // of the function; the body without its return
    const char *want;           // the message after "malformed IR in 'f': "; "" when sound
} VerifyCase;

static const VerifyCase cases[] = {
    { "sound_loop", "%n: i32",
      "%z = const 0 : i32\n"
      "%s = for %z, %n, %z, %z : i32 (%i: i32, %a: i32) {\n %b = add %a, %i : i32\n yield %b\n}\n",
      "" },
    { "sound_memory", "%p: *fp32, %n: i32",
      "%o = arange 0, 8 : (8) i32\n%n8 = splat %n : (8) i32\n%m = lt %o, %n8 : (8) i1\n"
      "%q = splat %p : (8) *fp32\n%a = ptr_add %q, %o : (8) *fp32\n%v = load %a, mask=%m : (8) "
      "fp32\n"
      "store %a, %v, mask=%m\n",
      "" },
    { "operand_types_differ", "%a: i32, %b: i64", "%c = add %a, %b : i32\n",
      "add: operand 1 has type 'int64'" },
    { "result_type_differs", "%a: i32", "%c = add %a, %a : i64\n",
      "add: the result has type 'int64'" },
    { "float_operation_on_ints", "%a: i32", "%c = exp %a : i32\n",
      "exp: operand 0 has type 'int32'" },
    { "int_division_of_floats", "%a: fp32", "%c = idiv %a, %a : fp32\n",
      "idiv: operand 0 has type 'fp32'" },
    { "comparison_gives_int1", "%a: i32", "%c = lt %a, %a : i32\n",
      "lt: the result has type 'int32'" },
    { "select_condition", "%a: i32", "%c = select %a, %a, %a : i32\n",
      "select: operand 0 has type 'int32'" },
    { "umulhi_of_narrow", "%a: i16", "%c = umulhi %a, %a : i16\n",
      "umulhi: operand 0 has type 'int16'" },
    { "cast_changes_shape", "%a: (4) i32", "%c = cast %a : (8) fp32\n",
      "cast: the result has type '(8) fp32'" },
    { "cast_of_pointer_to_float", "%a: *i32", "%c = cast %a : fp64\n",
      "cast: the result has type 'fp64'" },
    { "bitcast_changes_width", "%a: i32", "%c = bitcast %a : i64\n",
      "bitcast: the result has type 'int64'" },
    { "ptr_add_of_float", "%p: *i32, %a: fp32", "%c = ptr_add %p, %a : *i32\n",
      "ptr_add: operand 1 has type 'fp32'" },
    { "arange_extent", "", "%c = arange 0, 16 : (8) i32\n", "arange: 0 to 16 in 8 elements" },
    { "splat_of_block", "%a: (4) i32", "%c = splat %a : (4) i32\n",
      "splat: operand 0 has type '(4) int32'" },
    { "program_id_axis", "", "%c = program_id {axis=3} : i32\n", "program_id: axis 3" },
    { "expand_dims_axis", "%a: (4) i32", "%c = expand_dims %a {axis=0} : (4, 1) i32\n",
      "expand_dims: the result has type '(4, 1) int32'" },
    { "broadcast_of_two", "%a: (2) i32", "%c = broadcast %a : (4) i32\n",
      "broadcast: the result has type '(4) int32'" },
    { "reshape_count", "%a: (4) i32", "%c = reshape %a : (4, 2) i32\n",
      "reshape: the result has type '(4, 2) int32'" },
    { "trans_repeats_axis", "%a: (4, 4) i32", "%c = trans %a {perm=[0, 0]} : (4, 4) i32\n",
      "trans: the result has type '(4, 4) int32'" },
    { "load_of_int", "%a: i32", "%c = load %a : i32\n", "load: operand 0 has type 'int32'" },
    { "mask_of_other_shape", "%p: (4) *i32, %m: i1", "%c = load %p, mask=%m : (4) i32\n",
      "load: operand 1 has type 'int1'" },
    { "other_without_mask", "%p: *i32, %a: i32", "%c = load %p, other=%a : i32\n",
      "load: operand 2 has type 'int32'" },
    { "store_through_const", "%p: *const i32, %a: i32", "store %p, %a\n",
      "store: operand 0 has type '*const int32'" },
    { "store_of_other_type", "%p: *i32, %a: i64", "store %p, %a\n",
      "store: operand 1 has type 'int64'" },
    { "vector_of_three", "%p: *i32", "%c = load %p {vec=3} : i32\n",
      "load: memory attributes out of range" },
    { "atomic_and_of_floats", "%p: *fp32, %a: fp32",
      "%c = atomic_rmw %p, %a {kind=and, order=relaxed, scope=gpu} : fp32\n",
      "atomic_rmw: operand 1 has type 'fp32'" },
    { "reduce_axis", "%a: (4) i32", "%c = reduce %a {kind=sum, axis=1} : i32\n", "reduce: axis 1" },
    { "carry_bit", "%a: (4, 8) i32", "%c = carry %a {axis=0, bit=2} : (4, 8) i32\n",
      "carry: axis 0, bit 2" },
    { "carry_scalar", "%a: i32", "%c = carry %a {axis=0, bit=0} : i32\n",
      "carry: a block of numbers is carried along an axis" },
    { "argmax_gives_int32", "%a: (4) fp32", "%c = reduce %a {kind=argmax, axis=0} : fp32\n",
      "reduce: the result has type 'fp32'" },
    { "for_bounds_differ", "%a: i32, %b: i64", "for %a, %b, %a (%i: i32) {\n yield\n}\n",
      "for: operand 1 has type 'int64'" },
    { "for_counter_type", "%a: i32", "for %a, %a, %a (%i: i64) {\n yield\n}\n",
      "for: the counter's type differs" },
    { "for_yield_count", "%a: i32", "for %a, %a, %a (%i: i32) {\n yield %i\n}\n",
      "for: a region yields 1 values for 0" },
    { "for_carried_type", "%a: i32, %f: fp32",
      "%r = for %a, %a, %a, %f : i32 (%i: i32, %c: i32) {\n yield %c\n}\n",
      "for: operand 3 has type 'fp32'" },
    { "while_condition", "%a: i32",
      "%r = while %a : i32 (%c: i32) {\n yield %c\n} do (%d: i32) {\n yield %d\n}\n",
      "while: the condition is not one int1" },
    { "if_condition", "%a: i32", "if %a {\n yield\n} else {\n yield\n}\n",
      "if: operand 0 has type 'int32'" },
    { "if_yields_differ", "%a: i1, %b: i32",
      "%r = if %a : i32 {\n yield %b\n} else {\n yield %a\n}\n",
      "if: yielded value 0 differs from the result" },
    { "no_yield", "%a: i1", "if %a {\n} else {\n yield\n}\n",
      "if: the block does not end with 'yield'" },
    { "yield_inside", "%a: i1", "if %a {\n yield\n yield\n} else {\n yield\n}\n",
      "yield: it stands inside a block" },
    { "inner_value_escapes", "%a: i1, %b: i32",
      "if %a {\n %c = neg %b : i32\n yield\n} else {\n yield\n}\n%d = neg %c : i32\n",
      "neg: operand 0 is not visible here" },
    { "convert_without_layouts", "%a: (4) i32", "%c = convert %a : (4) i32\n",
      "convert: only blocks with layouts are converted" },
};

static void check_verify(void **state)
{
    const VerifyCase *t = *state;
    IrCase c;
    ir_case_init(&c);
    IrFunc *fn = ir_case_read(
        &c, arena_printf(&c.arena, "func @f(%s) {\n%sreturn\n}\n", t->params, t->body));
    if (!fn)
        fail_msg("%s", ir_case_diags(&c));
    assert_int_equal(ir_verify(fn, &c.diags), *t->want == 0);
    assert_int_equal(c.diags.list.len, *t->want != 0);
    if (*t->want)
        assert_string_equal(c.diags.list.at[0]->text,
                            arena_printf(&c.arena, "malformed IR in 'f': %s", t->want));
    ir_case_free(&c);
}

static void a_constant_fits_its_type(void **state)
{
    (void)state;
    IrCase c;
    ir_case_init(&c);
    IrFunc *fn = ir_case_valid(&c, "func @f() {\n %a = const 1 : i8\n return\n}\n");
    fn->body->first->attr.konst.i = 128;
    assert_false(ir_verify(fn, &c.diags));
    assert_string_equal(c.diags.list.at[0]->text,
                        "malformed IR in 'f': const: the type 'int8' cannot hold the value");
    ir_case_free(&c);
}

static const struct {
    const char *ring, *body, *want;
} ring_cases[] = {
    { "(8, 16) fp16 stages=2 fast=1",
      "%t = tile %s {ring=0} : (8, 16) fp16\n%u = trans %t {perm=[1, 0]} : (16, 8) fp16\n"
      "%c = const 0.0 : (8, 8) fp32\n%d = dot %t, %u, %c {precision=ieee} : (8, 8) fp32\n"
      "%v = convert %t : (8, 16) fp16\n%w = neg %v : (8, 16) fp16\n",
      "" },
    { "(16) fp16 stages=2 fast=0", "", "func: a ring of tiles of type '(16) fp16'" },
    { "(8, 16) fp16 stages=0 fast=1", "", "func: a ring of 0 stages, fast along axis 1" },
    { "(8, 16) fp16 stages=1 fast=2", "", "func: a ring of 1 stages, fast along axis 2" },
    { "(1, 8, 16) fp16 stages=1 fast=0", "", "func: a ring of 1 stages, fast along axis 0" },
    { "(8, 16) fp16 stages=1 fast=0", "%t = tile %s {ring=1} : (8, 16) fp16\n",
      "tile: there is no ring 1" },
    { "(8, 16) fp16 stages=1 fast=0", "%t = tile %s {ring=0} : (16, 8) fp16\n",
      "tile: the result has type '(16, 8) fp16'" },
    { "(8, 16) fp16 stages=1 fast=0", "%t = tile %l {ring=0} : (8, 16) fp16\n",
      "tile: operand 0 has type 'int64'" },
    { "(8, 16) fp16 stages=1 fast=0",
      "%t = tile %s {ring=0} : (8, 16) fp16\n%u = neg %t : (8, 16) fp16\n",
      "neg: operand 0 is a tile in shared memory" },
    { "(8, 16) fp16 stages=2 fast=1",
      "%v = const 1.0 : (8, 16) fp16\ntile_put %s, %v {ring=0}\n%p = const 64 : (8, 16) *fp16\n"
      "async_copy %p, %s {ring=0}\nasync_commit\nasync_wait {groups=1}\n",
      "" },
    { "(8, 16) fp16 stages=2 fast=1",
      "%v = const 1.0 : (8, 16) fp16\ntile_put %s, %v {ring=1}\n",
      "tile_put: there is no ring 1" },
    { "(8, 16) fp16 stages=2 fast=1",
      "%v = const 1.0 : (16, 8) fp16\ntile_put %s, %v {ring=0}\n",
      "tile_put: operand 1 has type '(16, 8) fp16'" },
    { "(8, 16) fp16 stages=2 fast=1",
      "%v = const 1.0 : (8, 16) fp16\ntile_put %l, %v {ring=0}\n",
      "tile_put: operand 0 has type 'int64'" },
    { "(8, 16) fp16 stages=2 fast=1",
      "%p = const 64 : (8, 16) *fp32\nasync_copy %p, %s {ring=0}\n",
      "async_copy: operand 0 has type '(8, 16) *fp32'" },
    { "(8, 16) fp16 stages=2 fast=1",
      "%p = const 64 : (8, 16) *fp16\n%m = const true : (16, 8) i1\n"
      "async_copy %p, %s, mask=%m {ring=0}\n",
      "async_copy: operand 2 has type '(16, 8) int1'" },
};

static void rings_and_tiles(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ring_cases / sizeof *ring_cases; i++) {
        IrCase c;
        ir_case_init(&c);
        IrFunc *fn =
            ir_case_read(&c, arena_printf(&c.arena, "func @f(%%s: i32, %%l: i64) ring[%s] {\n%sreturn\n}\n",
                                          ring_cases[i].ring, ring_cases[i].body));
        if (!fn)
            fail_msg("%s", ir_case_diags(&c));
        assert_int_equal(ir_verify(fn, &c.diags), *ring_cases[i].want == 0);
        assert_string_equal(c.diags.list.len ? c.diags.list.at[0]->text : "",
                            *ring_cases[i].want ? arena_printf(&c.arena, "malformed IR in 'f': %s",
                                                          ring_cases[i].want)
                                           : "");
        ir_case_free(&c);
    }
}

static void layouts_are_all_there_or_none(void **state)
{
    (void)state;
    IrCase c;
    ir_case_init(&c);
    IrFunc *fn = ir_case_valid(&c, "func @f() {\n %a = arange 0, 4 : (4) i32\n return\n}\n");
    fn->has_layouts = true;
    assert_false(ir_verify(fn, &c.diags));
    assert_string_equal(c.diags.list.at[0]->text,
                        "malformed IR in 'f': arange: a block without a layout");
    ir_case_free(&c);
}

enum { CASES = sizeof cases / sizeof *cases };

int main(void)
{
    struct CMUnitTest tests[CASES + 3];
    for (size_t i = 0; i < CASES; i++)
        tests[i] =
            (struct CMUnitTest){ cases[i].name, check_verify, NULL, NULL, (void *)&cases[i] };
    tests[CASES] = (struct CMUnitTest)cmocka_unit_test(a_constant_fits_its_type);
    tests[CASES + 2] = (struct CMUnitTest)cmocka_unit_test(rings_and_tiles);
    tests[CASES + 1] = (struct CMUnitTest)cmocka_unit_test(layouts_are_all_there_or_none);
    return cmocka_run_group_tests_name("verify", tests, NULL, NULL);
}
