// test_cse.c - equal computations become one where the first is visible.
#include "pass_case.h"

static const PassCase cases[] = {
    { "equal_operations", "%p: *i32, %n: i32",
      "%a = neg %n : i32\n%b = neg %n : i32\n%c = add %a, %b : i32\nstore %p, %c\n",
      "%a = neg %n : i32\n%c = add %a, %a : i32\nstore %p, %c\n" },
    { "chains_meet", "%p: *i32, %n: i32",
      "%a = neg %n : i32\n%b = neg %n : i32\n%c = not %a : i32\n%d = not %b : i32\n"
      "store %p, %c\nstore %p, %d\n",
      "%a = neg %n : i32\n%c = not %a : i32\nstore %p, %c\nstore %p, %c\n" },
    { "attributes_count", "%p: *i32",
      "%a = program_id {axis=0} : i32\n%b = program_id {axis=1} : i32\n"
      "%c = program_id {axis=0} : i32\nstore %p, %b\nstore %p, %c\n",
      "%a = program_id {axis=0} : i32\n%b = program_id {axis=1} : i32\n"
      "store %p, %b\nstore %p, %a\n" },
    { "zeros_of_either_sign", "%p: *fp32",
      "%a = const 0.0 : fp32\n%b = const -0.0 : fp32\n%c = const 0.0 : fp32\nstore %p, %a\n"
      "store %p, %b\nstore %p, %c\n",
      "%a = const 0.0 : fp32\n%b = const -0.0 : fp32\nstore %p, %a\nstore %p, %b\n"
      "store %p, %a\n" },
    { "types_count", "%p: *i32, %n: i32",
      "%a = splat %n : (4) i32\n%b = splat %n : (8) i32\n%c = splat %n : (4) i32\n"
      "%d = reduce %b {kind=sum, axis=0} : i32\n%e = reduce %c {kind=sum, axis=0} : i32\n"
      "store %p, %d\nstore %p, %e\n",
      "%a = splat %n : (4) i32\n%b = splat %n : (8) i32\n"
      "%d = reduce %b {kind=sum, axis=0} : i32\n%e = reduce %a {kind=sum, axis=0} : i32\n"
      "store %p, %d\nstore %p, %e\n" },
    { "outer_value_is_seen_inside", "%p: *i32, %n: i32, %c: i1",
      "%a = neg %n : i32\nstore %p, %a\nif %c {\n%b = neg %n : i32\nstore %p, %b\nyield\n} else {\n"
      "yield\n}\n",
      "%a = neg %n : i32\nstore %p, %a\nif %c {\nstore %p, %a\nyield\n} else {\nyield\n}\n" },
    { "inner_value_is_not_seen_after", "%p: *i32, %n: i32, %c: i1",
      "if %c {\n%b = neg %n : i32\nstore %p, %b\nyield\n} else {\n%d = neg %n : i32\n"
      "store %p, %d\nyield\n}\n%a = neg %n : i32\nstore %p, %a\n",
      "if %c {\n%b = neg %n : i32\nstore %p, %b\nyield\n} else {\n%d = neg %n : i32\n"
      "store %p, %d\nyield\n}\n%a = neg %n : i32\nstore %p, %a\n" },
    { "yields_follow", "%p: *i32, %n: i32, %c: i1",
      "%a = neg %n : i32\n%r = if %c : i32 {\n%b = neg %n : i32\nyield %b\n} else {\nyield %n\n}\n"
      "store %p, %r\nstore %p, %a\n",
      "%a = neg %n : i32\n%r = if %c : i32 {\nyield %a\n} else {\nyield %n\n}\n"
      "store %p, %r\nstore %p, %a\n" },
    { "loads_without_a_write_between", "%p: *i32, %q: *i32",
      "%a = load %q : i32\n%b = load %q : i32\n%c = add %a, %b : i32\nstore %p, %c\n",
      "%a = load %q : i32\n%c = add %a, %a : i32\nstore %p, %c\n" },
    { "loads_around_a_write", "%p: *i32, %q: *i32",
      "%a = load %q : i32\nstore %p, %a\n%b = load %q : i32\nstore %p, %b\n",
      "%a = load %q : i32\nstore %p, %a\n%b = load %q : i32\nstore %p, %b\n" },
    { "volatile_loads", "%p: *i32, %q: *i32",
      "%a = load %q {volatile} : i32\n%b = load %q {volatile} : i32\n%c = add %a, %b : i32\n"
      "store %p, %c\n",
      "%a = load %q {volatile} : i32\n%b = load %q {volatile} : i32\n%c = add %a, %b : i32\n"
      "store %p, %c\n" },
    { "a_name_is_kept", "%p: *i32, %n: i32",
      "%1 = neg %n : i32\n%named = neg %n : i32\nstore %p, %1\nstore %p, %named\n",
      "%named = neg %n : i32\nstore %p, %named\nstore %p, %named\n" },
};

static void check(void **state)
{
    pass_case_check(*state, "cse");
}

PASS_CASE_MAIN("cse", cases, check)
