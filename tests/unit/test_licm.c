// test_licm.c - what a loop does not change moves in front of it.
#include "pass_case.h"

#define LOOP(before, inside) before "for %n, %n, %n (%i: i32) {\n" inside "yield\n}\n"

static const PassCase cases[] = {
    { "invariant_chain", "%p: *i32, %n: i32",
      LOOP("", "%a = neg %n : i32\n%b = not %a : i32\nstore %p, %b\n"),
      LOOP("%a = neg %n : i32\n%b = not %a : i32\n", "store %p, %b\n") },
    { "what_depends_on_the_counter_stays", "%p: *i32, %n: i32",
      LOOP("", "%a = neg %i : i32\nstore %p, %a\n"),
      LOOP("", "%a = neg %i : i32\nstore %p, %a\n") },
    { "loads_stay", "%p: *i32, %n: i32", LOOP("", "%a = load %p : i32\nstore %p, %a\n"),
      LOOP("", "%a = load %p : i32\nstore %p, %a\n") },
    { "a_constant_moves_only_with_a_user", "%p: *i32, %n: i32",
      LOOP("", "%a = const 1 : i32\n%c = const 2 : i32\n%b = add %n, %a : i32\nstore %p, %b\n"
               "store %p, %c\n"),
      LOOP("%a = const 1 : i32\n%b = add %n, %a : i32\n",
           "%c = const 2 : i32\nstore %p, %b\nstore %p, %c\n") },
    { "free_blocks_stay", "%p: (4) *i32, %n: i32",
      LOOP("", "%a = arange 0, 4 : (4) i32\n%b = splat %n : (4) i32\nstore %p, %a\nstore %p, %b\n"),
      LOOP("", "%a = arange 0, 4 : (4) i32\n%b = splat %n : (4) i32\nstore %p, %a\n"
               "store %p, %b\n") },
    { "a_branch_is_not_emptied", "%p: *i32, %n: i32, %c: i1",
      LOOP("", "if %c {\n%a = neg %n : i32\nstore %p, %a\nyield\n} else {\nyield\n}\n"),
      LOOP("", "if %c {\n%a = neg %n : i32\nstore %p, %a\nyield\n} else {\nyield\n}\n") },
    { "out_of_two_loops", "%p: *i32, %n: i32",
      LOOP("", "for %n, %n, %n (%j: i32) {\n%a = neg %n : i32\n%b = add %a, %i : i32\n"
               "store %p, %b\nyield\n}\n"),
      LOOP("%a = neg %n : i32\n", "%b = add %a, %i : i32\nfor %n, %n, %n (%j: i32) {\n"
                                  "store %p, %b\nyield\n}\n") },
    { "out_of_both_parts_of_while", "%p: *i32, %n: i32",
      "%r = while %n : i32 (%a: i32) {\n%m = neg %n : i32\n%c = lt %a, %m : i1\nyield %c\n} do "
      "(%e: i32) {\n%k = not %n : i32\n%x = add %e, %k : i32\nyield %x\n}\nstore %p, %r\n",
      "%m = neg %n : i32\n%k = not %n : i32\n%r = while %n : i32 (%a: i32) {\n"
      "%c = lt %a, %m : i1\nyield %c\n} do (%e: i32) {\n%x = add %e, %k : i32\nyield %x\n}\n"
      "store %p, %r\n" },
};

static void check(void **state)
{
    pass_case_check(*state, "licm");
}

PASS_CASE_MAIN("licm", cases, check)
