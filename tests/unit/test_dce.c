// test_dce.c - what nothing uses goes; effects and what they need stay.
#include "pass_case.h"

static const PassCase cases[] = {
    { "unused_chain", "%p: *i32, %n: i32", "%a = neg %n : i32\n%b = neg %a : i32\n", "" },
    { "stored_value_stays", "%p: *i32, %n: i32", "%a = neg %n : i32\nstore %p, %a\n",
      "%a = neg %n : i32\nstore %p, %a\n" },
    { "unused_load", "%p: *i32", "%a = load %p : i32\n", "" },
    { "volatile_load_stays", "%p: *i32", "%a = load %p {volatile} : i32\n",
      "%a = load %p {volatile} : i32\n" },
    { "unused_atomic_stays", "%p: *i32, %n: i32",
      "%a = atomic_rmw %p, %n {kind=add, order=relaxed, scope=gpu} : i32\n",
      "%a = atomic_rmw %p, %n {kind=add, order=relaxed, scope=gpu} : i32\n" },
    { "loop_without_effect", "%p: *i32, %n: i32",
      "%r = for %n, %n, %n, %n : i32 (%i: i32, %a: i32) {\n%b = add %a, %i : i32\nyield %b\n}\n",
      "" },
    { "carried_value_feeding_itself", "%p: *i32, %n: i32",
      "%r, %s = for %n, %n, %n, %n, %n : i32, i32 (%i: i32, %a: i32, %d: i32) {\n"
      "%b = add %a, %i : i32\n%e = add %d, %i : i32\nstore %p, %e\nyield %b, %e\n}\n",
      "%s = for %n, %n, %n, %n : i32 (%i: i32, %d: i32) {\n"
      "%e = add %d, %i : i32\nstore %p, %e\nyield %e\n}\n" },
    { "result_keeps_its_carried_value", "%p: *i32, %n: i32",
      "%r, %s = for %n, %n, %n, %n, %n : i32, i32 (%i: i32, %a: i32, %d: i32) {\n"
      "%b = add %a, %i : i32\nyield %b, %a\n}\nstore %p, %s\n",
      "%r, %s = for %n, %n, %n, %n, %n : i32, i32 (%i: i32, %a: i32, %d: i32) {\n"
      "%b = add %a, %i : i32\nyield %b, %a\n}\nstore %p, %s\n" },
    { "while_keeps_its_condition", "%p: *i32, %n: i32",
      "%r, %s = while %n, %n : i32, i32 (%a: i32, %d: i32) {\n%c = lt %a, %n : i1\nyield %c\n} do "
      "(%e: i32, %g: i32) {\n%x = add %e, %n : i32\n%y = add %g, %n : i32\nstore %p, %n\n"
      "yield %x, %y\n}\n",
      "%r = while %n : i32 (%a: i32) {\n%c = lt %a, %n : i1\nyield %c\n} do (%e: i32) {\n"
      "%x = add %e, %n : i32\nstore %p, %n\nyield %x\n}\n" },
    { "unused_result_of_if", "%p: *i32, %n: i32, %c: i1",
      "%r, %s = if %c : i32, i32 {\n%a = neg %n : i32\nyield %a, %n\n} else {\n"
      "%b = not %n : i32\nyield %n, %b\n}\nstore %p, %s\n",
      "%s = if %c : i32 {\nyield %n\n} else {\n%b = not %n : i32\nyield %b\n}\nstore %p, %s\n" },
    { "if_with_effect_stays", "%p: *i32, %n: i32, %c: i1",
      "%r = if %c : i32 {\nstore %p, %n\nyield %n\n} else {\nyield %n\n}\n",
      "if %c {\nstore %p, %n\nyield\n} else {\nyield\n}\n" },
};

static void check(void **state)
{
    pass_case_check(*state, "dce");
}

PASS_CASE_MAIN("dce", cases, check)
