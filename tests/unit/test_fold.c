// test_fold.c - constants come out as the machine would compute them, identities only where exact.
//
// Expected values are those of the language reference (division, shifts, casts, maximum of NaN) and
// IEEE 754.
#include "pass_case.h"

typedef struct ConstCase {
    const char *op, *type, *a, *b, *c;  // b, c: NULL when the operation has fewer operands
    const char *result_type, *want;     // want NULL: not folded
} ConstCase;

static const ConstCase const_cases[] = {
    { "add", "i8", "100", "100", NULL, "i8", "-56" },
    { "add", "u8", "200", "100", NULL, "u8", "44" },
    { "add", "i32", "2147483647", "1", NULL, "i32", "-2147483648" },
    { "add", "i1", "true", "true", NULL, "i1", "false" },
    { "sub", "u32", "0", "1", NULL, "u32", "4294967295" },
    { "mul", "i64", "4611686018427387904", "2", NULL, "i64", "-9223372036854775808" },
    { "neg", "i32", "-2147483648", NULL, NULL, "i32", "-2147483648" },
    { "neg", "u16", "1", NULL, NULL, "u16", "65535" },
    { "abs", "i8", "-128", NULL, NULL, "i8", "-128" },
    { "not", "i1", "false", NULL, NULL, "i1", "true" },
    { "not", "u8", "1", NULL, NULL, "u8", "254" },
    { "idiv", "i32", "-7", "2", NULL, "i32", "-3" },
    { "idiv", "i32", "-2147483648", "-1", NULL, "i32", "-2147483648" },
    { "idiv", "i64", "-9223372036854775808", "-1", NULL, "i64", "-9223372036854775808" },
    { "idiv", "u64", "18446744073709551615", "2", NULL, "u64", "9223372036854775807" },
    { "idiv", "i32", "1", "0", NULL, "i32", NULL },
    { "rem", "i32", "-7", "2", NULL, "i32", "-1" },
    { "rem", "i32", "7", "-2", NULL, "i32", "1" },
    { "rem", "i32", "-2147483648", "-1", NULL, "i32", "0" },
    { "rem", "fp32", "-7.5", "2.0", NULL, "fp32", "-1.5" },
    { "cdiv", "i32", "7", "2", NULL, "i32", "4" },
    { "cdiv", "i32", "-7", "2", NULL, "i32", "-3" },
    { "cdiv", "i32", "7", "-2", NULL, "i32", "-3" },
    { "cdiv", "i32", "-7", "-2", NULL, "i32", "4" },
    { "cdiv", "u64", "18446744073709551615", "2", NULL, "u64", "9223372036854775808" },
    { "shl", "i8", "1", "7", NULL, "i8", "-128" },
    { "shl", "i32", "1", "32", NULL, "i32", "0" },
    { "shl", "i32", "1", "-1", NULL, "i32", "0" },
    { "shr", "i32", "-8", "1", NULL, "i32", "-4" },
    { "shr", "i32", "-8", "40", NULL, "i32", "-1" },
    { "shr", "i32", "8", "40", NULL, "i32", "0" },
    { "shr", "u32", "4294967295", "31", NULL, "u32", "1" },
    { "shr", "u64", "18446744073709551615", "64", NULL, "u64", "0" },
    { "umulhi", "u32", "4294967295", "4294967295", NULL, "u32", "4294967294" },
    { "umulhi", "i32", "-1", "-1", NULL, "i32", "-2" },
    { "umulhi", "u64", "18446744073709551615", "18446744073709551615", NULL, "u64",
      "18446744073709551614" },
    { "lt", "u32", "1", "4294967295", NULL, "i1", "true" },
    { "lt", "i32", "1", "-1", NULL, "i1", "false" },
    { "ge", "u64", "18446744073709551615", "1", NULL, "i1", "true" },
    { "ne", "fp32", "nan", "nan", NULL, "i1", "true" },
    { "le", "fp32", "nan", "1.0", NULL, "i1", "false" },
    { "add", "fp16", "2048.0", "1.0", NULL, "fp16", "2048.0" },
    { "add", "bf16", "256.0", "1.0", NULL, "bf16", "256.0" },
    { "add", "fp32", "16777216.0", "1.0", NULL, "fp32", "16777216.0" },
    { "mul", "fp16", "256.0", "256.0", NULL, "fp16", "inf" },
    { "div", "fp32", "1.0", "0.0", NULL, "fp32", "inf" },
    { "sub", "fp32", "inf", "inf", NULL, "fp32", "nan" },
    { "max", "fp32", "nan", "1.0", NULL, "fp32", "1.0" },
    { "min", "fp32", "1.0", "nan", NULL, "fp32", "1.0" },
    { "max", "fp32", "-0.0", "0.0", NULL, "fp32", "0.0" },
    { "min", "fp32", "0.0", "-0.0", NULL, "fp32", "-0.0" },
    { "max", "i32", "-1", "1", NULL, "i32", "1" },
    { "max", "u32", "4294967295", "1", NULL, "u32", "4294967295" },
    { "clamp", "fp32", "nan", "-1.0", "1.0", "fp32", "1.0" },
    { "clamp", "fp32", "-3.0", "-1.0", "1.0", "fp32", "-1.0" },
    { "fma", "fp64", "134217729.0", "134217729.0", "-18014398777917440.0", "fp64", "1.0" },
    { "round", "fp32", "-2.5", NULL, NULL, "fp32", "-3.0" },
    { "rint", "fp32", "2.5", NULL, NULL, "fp32", "2.0" },
    { "floor", "fp32", "-2.5", NULL, NULL, "fp32", "-3.0" },
    { "trunc", "fp32", "-0.5", NULL, NULL, "fp32", "-0.0" },
    { "isnan", "fp16", "nan", NULL, NULL, "i1", "true" },
    { "exp", "fp32", "1.0", NULL, NULL, "fp32", NULL },
    { "select", "i1", "true", "false", "true", "i1", "false" },
    { "cast", "i32", "300", NULL, NULL, "i8", "44" },
    { "cast", "i32", "-1", NULL, NULL, "u8", "255" },
    { "cast", "i8", "-1", NULL, NULL, "u64", "18446744073709551615" },
    { "cast", "u8", "255", NULL, NULL, "i64", "255" },
    { "cast", "i32", "2", NULL, NULL, "i1", "true" },
    { "cast", "fp32", "nan", NULL, NULL, "i1", "true" },
    { "cast", "fp32", "-0.0", NULL, NULL, "i1", "false" },
    { "cast", "i1", "true", NULL, NULL, "i32", "1" },
    { "cast", "fp32", "3e9", NULL, NULL, "i32", "2147483647" },
    { "cast", "fp32", "-1.0", NULL, NULL, "u32", "0" },
    { "cast", "fp32", "-inf", NULL, NULL, "i64", "-9223372036854775808" },
    { "cast", "fp64", "1e20", NULL, NULL, "u64", "18446744073709551615" },
    { "cast", "fp32", "300.0", NULL, NULL, "i8", "127" },
    { "cast", "fp32", "nan", NULL, NULL, "i32", "0" },
    { "cast", "fp32", "-1.9", NULL, NULL, "i32", "-1" },
    { "cast", "i32", "65535", NULL, NULL, "fp16", "inf" },
    { "cast", "i32", "2049", NULL, NULL, "bf16", "2048.0" },
    { "cast", "u64", "18446744073709551615", NULL, NULL, "fp32", "18446744073709551616.0" },
    { "cast", "fp32", "1e9", NULL, NULL, "fp8e4nv", "448.0" },
    { "bitcast", "u32", "4294967295", NULL, NULL, "i32", "-1" },
};

static const char *const_body(IrCase *c, const ConstCase *t)
{
    const char *b = t->b ? arena_printf(&c->arena, "%%b = const %s : %s\n", t->b, t->type) : "";
    const char *d = t->c ? arena_printf(&c->arena, "%%c = const %s : %s\n", t->c, t->type) : "";
    return arena_printf(
        &c->arena, "%%a = const %s : %s\n%s%s%%r = %s %%a%s%s : %s\nstore %%p, %%r\n", t->a,
        t->type, b, d, t->op, t->b ? ", %b" : "", t->c ? ", %c" : "", t->result_type);
}

static void constants_are_computed_as_at_run_time(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof const_cases / sizeof *const_cases; i++) {
        const ConstCase *t = &const_cases[i];
        IrCase c;
        ir_case_init(&c);
        const char *body = const_body(&c, t), *want = body;
        if (t->want)
            want = arena_printf(&c.arena, "%%r = const %s : %s\nstore %%p, %%r\n", t->want,
                                t->result_type);
        PassCase p = { t->op, arena_printf(&c.arena, "%%p: *%s", t->result_type), body, want };
        pass_case_check(&p, "fold dce");
        ir_case_free(&c);
    }
}

#define UNCHANGED(name, params, body) \
    {                                 \
        name, params, body, body      \
    }

static const PassCase cases[] = {
    { "int_plus_zero", "%p: *i32, %n: i32",
      "%z = const 0 : i32\n%a = add %z, %n : i32\nstore %p, %a\n", "store %p, %n\n" },
    UNCHANGED("float_plus_zero_stays", "%p: *fp32, %n: fp32",
              "%z = const 0.0 : fp32\n%a = add %n, %z : fp32\nstore %p, %a\n"),
    { "float_plus_negative_zero", "%p: *fp32, %n: fp32",
      "%z = const -0.0 : fp32\n%a = add %n, %z : fp32\nstore %p, %a\n", "store %p, %n\n" },
    { "float_minus_zero", "%p: *fp32, %n: fp32",
      "%z = const 0.0 : fp32\n%a = sub %n, %z : fp32\nstore %p, %a\n", "store %p, %n\n" },
    { "float_times_one", "%p: *fp16, %n: fp16",
      "%z = const 1.0 : fp16\n%a = mul %z, %n : fp16\nstore %p, %a\n", "store %p, %n\n" },
    UNCHANGED("float_times_zero_stays", "%p: *fp32, %n: fp32",
              "%z = const 0.0 : fp32\n%a = mul %n, %z : fp32\nstore %p, %a\n"),
    UNCHANGED("float_minus_itself_stays", "%p: *fp32, %n: fp32",
              "%a = sub %n, %n : fp32\nstore %p, %a\n"),
    { "int_times_zero", "%p: *i32, %n: i32",
      "%z = const 0 : i32\n%a = mul %n, %z : i32\nstore %p, %a\n",
      "%z = const 0 : i32\nstore %p, %z\n" },
    { "constants_of_sums_meet", "%p: *i8, %n: i8",
      "%x = const 100 : i8\n%a = add %n, %x : i8\n%b = add %a, %x : i8\nstore %p, %b\n",
      "%1 = const -56 : i8\n%b = add %n, %1 : i8\nstore %p, %b\n" },
    { "difference_is_a_sum", "%p: *i32, %n: i32",
      "%x = const 3 : i32\n%a = sub %n, %x : i32\nstore %p, %a\n",
      "%1 = const -3 : i32\n%a = add %n, %1 : i32\nstore %p, %a\n" },
    { "comparison_turns_round", "%p: *i1, %n: i32",
      "%x = const 3 : i32\n%a = lt %x, %n : i1\nstore %p, %a\n",
      "%x = const 3 : i32\n%a = gt %n, %x : i1\nstore %p, %a\n" },
    { "int_equals_itself", "%p: *i1, %n: i32", "%a = le %n, %n : i1\nstore %p, %a\n",
      "%a = const true : i1\nstore %p, %a\n" },
    UNCHANGED("float_may_not_equal_itself", "%p: *i1, %n: fp32",
              "%a = eq %n, %n : i1\nstore %p, %a\n"),
    { "unsigned_is_not_below_zero", "%p: *i1, %n: u32",
      "%z = const 0 : u32\n%a = lt %n, %z : i1\nstore %p, %a\n",
      "%a = const false : i1\nstore %p, %a\n" },
    { "programs_are_in_the_grid", "%p: *i1, %n: i32 {programs=1}",
      "%i = program_id {axis=1} : i32\n%a = lt %i, %n : i1\nstore %p, %a\n",
      "%a = const true : i1\nstore %p, %a\n" },
    { "programs_as_blocks_and_wider", "%p: (4) *i1, %n: i32 {programs=0}",
      "%i = program_id {axis=0} : i32\n%w = cast %i : i64\n%m = cast %n : i64\n%s = splat %w : (1) i64\n"
      "%r = arange 0, 1 : (1) i32\n%c = cast %r : (1) i64\n%o = add %s, %c : (1) i64\n%t = splat %m : (1) i64\n"
      "%a = ge %o, %t : (1) i1\n%b = broadcast %a : (4) i1\nstore %p, %b\n",
      "%b = const false : (4) i1\nstore %p, %b\n" },
    UNCHANGED("programs_of_another_axis_stay", "%p: *i1, %n: i32 {programs=0}",
              "%i = program_id {axis=1} : i32\n%a = lt %i, %n : i1\nstore %p, %a\n"),
    UNCHANGED("programs_may_equal_what_is_less", "%p: *i1, %n: i32 {programs=0}, %m: i32",
              "%i = program_id {axis=0} : i32\n%a = lt %i, %m : i1\nstore %p, %a\n"),
    { "not_of_int_comparison", "%p: *i1, %n: i32, %m: i32",
      "%a = lt %n, %m : i1\n%b = not %a : i1\nstore %p, %b\n",
      "%b = ge %n, %m : i1\nstore %p, %b\n" },
    UNCHANGED("not_of_float_comparison_stays", "%p: *i1, %n: fp32, %m: fp32",
              "%a = lt %n, %m : i1\n%b = not %a : i1\nstore %p, %b\n"),
    { "truth_of_a_converted_bool", "%p: *i1, %c: i1",
      "%a = cast %c : i32\n%z = const 0 : i32\n%b = ne %a, %z : i1\nstore %p, %b\n",
      "store %p, %c\n" },
    { "select_of_equals", "%p: *i32, %c: i1, %n: i32",
      "%a = select %c, %n, %n : i32\nstore %p, %a\n", "store %p, %n\n" },
    { "select_of_truth", "%p: *i1, %c: i1",
      "%t = const true : i1\n%f = const false : i1\n%a = select %c, %t, %f : i1\nstore %p, %a\n",
      "store %p, %c\n" },
    { "cast_there_and_back", "%p: *fp16, %n: fp16",
      "%a = cast %n : fp32\n%b = cast %a : fp16\nstore %p, %b\n", "store %p, %n\n" },
    UNCHANGED("narrowing_cast_stays", "%p: *fp32, %n: fp32",
              "%a = cast %n : fp16\n%b = cast %a : fp32\nstore %p, %b\n"),
    { "low_bits_of_a_wide_int", "%p: *i8, %n: i32",
      "%a = cast %n : i64\n%b = cast %a : i8\nstore %p, %b\n",
      "%b = cast %n : i8\nstore %p, %b\n" },
    UNCHANGED("sign_goes_through_unsigned", "%p: *i64, %n: i32",
              "%a = cast %n : u32\n%b = cast %a : i64\nstore %p, %b\n"),
    { "constant_offsets_meet", "%p: *i32, %n: i32",
      "%x = const 3 : i32\n%a = ptr_add %p, %x : *i32\n%b = ptr_add %a, %x : *i32\nstore %b, %n\n",
      "%1 = const 6 : i32\n%b = ptr_add %p, %1 : *i32\nstore %b, %n\n" },
    UNCHANGED("offsets_that_would_wrap_stay", "%p: *i32, %n: i32",
              "%x = const 2147483647 : i32\n%a = ptr_add %p, %x : *i32\n"
              "%b = ptr_add %a, %x : *i32\nstore %b, %n\n"),
    { "operation_on_splats", "%p: (8) *i32, %n: i32, %m: i32",
      "%a = splat %n : (8) i32\n%b = splat %m : (8) i32\n%c = add %a, %b : (8) i32\nstore %p, %c\n",
      "%c.1 = add %n, %m : i32\n%c.2 = splat %c.1 : (8) i32\nstore %p, %c.2\n" },
    { "shapes_of_a_splat", "%p: (8, 4) *i32, %n: i32",
      "%a = splat %n : (4) i32\n%b = expand_dims %a {axis=1} : (4, 1) i32\n"
      "%c = broadcast %b : (4, 8) i32\n%d = trans %c {perm=[1, 0]} : (8, 4) i32\nstore %p, %d\n",
      "%d = splat %n : (8, 4) i32\nstore %p, %d\n" },
    { "trans_twice", "%p: (2, 4, 8) *i32, %n: (2, 4, 8) i32",
      "%a = trans %n {perm=[1, 2, 0]} : (4, 8, 2) i32\n"
      "%b = trans %a {perm=[2, 0, 1]} : (2, 4, 8) i32\nstore %p, %b\n",
      "store %p, %n\n" },
    { "reshape_twice", "%p: (32) *i32, %n: (4, 8) i32",
      "%a = reshape %n : (2, 16) i32\n%b = reshape %a : (32) i32\nstore %p, %b\n",
      "%b = reshape %n : (32) i32\nstore %p, %b\n" },
    { "mask_of_all", "%p: (4) *i32, %o: (4) i32",
      "%t = const true : (4) i1\n%a = load %p, mask=%t, other=%o : (4) i32\n"
      "store %p, %a, mask=%t\n",
      "%a = load %p : (4) i32\nstore %p, %a\n" },
    { "mask_of_none", "%p: *i32, %o: i32",
      "%t = const false : i1\n%a = load %p, mask=%t, other=%o : i32\n"
      "%b = load %p, mask=%t : i32\nstore %p, %a, mask=%t\nstore %p, %a\nstore %p, %b\n",
      "%b = const 0 : i32\nstore %p, %o\nstore %p, %b\n" },
    { "assertion_that_holds", "%p: *i32", "%t = const true : i1\nassert %t {text=\"x\"}\n", "" },
    { "decided_branch", "%p: *i32, %n: i32",
      "%t = const false : i1\n%r = if %t : i32 {\nstore %p, %n\nyield %n\n} else {\n"
      "%a = neg %n : i32\nyield %a\n}\nstore %p, %r\n",
      "%a = neg %n : i32\nstore %p, %a\n" },
    { "branches_that_agree", "%p: *i32, %n: i32, %c: i1",
      "%r, %s = if %c : i32, i32 {\nstore %p, %n\nyield %n, %n\n} else {\n%a = neg %n : i32\n"
      "yield %n, %a\n}\nstore %p, %r\nstore %p, %s\n",
      "%s = if %c : i32 {\nstore %p, %n\nyield %n\n} else {\n%a = neg %n : i32\nyield %a\n}\n"
      "store %p, %n\nstore %p, %s\n" },
    { "loop_of_no_iteration", "%p: *i32, %n: i32",
      "%x = const 4 : i32\n%o = const 1 : i32\n"
      "%r = for %x, %x, %o, %n : i32 (%i: i32, %a: i32) {\nyield %i\n}\nstore %p, %r\n",
      "store %p, %n\n" },
    { "loop_of_one_iteration", "%p: *i32, %n: i32",
      "%x = const 4 : i32\n%y = const 7 : i32\n%o = const 3 : i32\n"
      "%r = for %x, %y, %o, %n : i32 (%i: i32, %a: i32) {\n%b = add %a, %i : i32\nyield %b\n}\n"
      "store %p, %r\n",
      "%x = const 4 : i32\n%b = add %n, %x : i32\nstore %p, %b\n" },
    { "loop_down_once", "%p: *i32",
      "%x = const 4 : i32\n%y = const 1 : i32\n%o = const -3 : i32\n"
      "for %x, %y, %o (%i: i32) {\nstore %p, %i\nyield\n}\n",
      "%x = const 4 : i32\nstore %p, %x\n" },
    UNCHANGED("loop_of_two_iterations", "%p: *i32",
              "%x = const 4 : i32\n%y = const 8 : i32\n%o = const 3 : i32\n"
              "for %x, %y, %o (%i: i32) {\nstore %p, %i\nyield\n}\n"),
    { "unchanged_carried_value", "%p: *i32, %n: i32, %m: i32",
      "%r, %s = for %n, %n, %n, %n, %m : i32, i32 (%i: i32, %a: i32, %b: i32) {\n"
      "%c = add %a, %b : i32\nyield %c, %b\n}\nstore %p, %r\nstore %p, %s\n",
      "%r = for %n, %n, %n, %n : i32 (%i: i32, %a: i32) {\n"
      "%c = add %a, %m : i32\nyield %c\n}\nstore %p, %r\nstore %p, %m\n" },
};

static void check(void **state)
{
    pass_case_check(*state, "fold dce");
}

enum { CASES = sizeof cases / sizeof *cases };

int main(void)
{
    struct CMUnitTest tests[CASES + 1];
    for (size_t i = 0; i < CASES; i++)
        tests[i] = (struct CMUnitTest){ cases[i].name, check, NULL, NULL, (void *)&cases[i] };
    tests[CASES] = (struct CMUnitTest)cmocka_unit_test(constants_are_computed_as_at_run_time);
    return cmocka_run_group_tests_name("fold", tests, NULL, NULL);
}
