/// test_lower.c - the IR that statements and expressions become. Every text was checked by hand against
/// the language's rules, and passes the verifier.
#include "lower_case.h"

typedef struct {
    const char *name, *params, *body, *ir;
} Case;

static const char helpers[] =
    LOWER_HEAD
    "@newt.jit\n"
    "def both(x, y: constexpr = 3, *, z=1):\n"
    "    return x + y, x * z\n"
    "@newt.jit\n"
    "def find(n):\n"
    "    for i in range(n):\n"
    "        if i * i > 10:\n"
    "            return i\n"
    "    return -1\n";

// clang-format off
static const Case cases[] = {
    { "constants_fold_as_python_does",
      "out: ptr[int32], B: constexpr = -7",
      "a: constexpr = B // 2\n"
      "nl.store(out, a + B % 3 + (2 if B < 0 else 1))\n",
      "    %1 = const 0 : i32\n"
      "    store %out.0, %1\n"
      "    return\n" },
    { "typed_constants_fold_as_run_time_does",
      "out: ptr[int32]",
      "n = -7\n"
      "nl.store(out, n // 2)\n"
      "nl.store(out, n % 3)\n",
      "    %1 = const -3 : i32\n"
      "    store %out.0, %1\n"
      "    %2 = const -1 : i32\n"
      "    store %out.0, %2\n"
      "    return\n" },
    { "a_name_of_one_constant_is_a_shape",
      "out: ptr[int32]",
      "B = 8\n"
      "nl.store(out + nl.arange(0, B), B)\n",
      "    %1 = arange 0, 8 : (8) i32\n"
      "    %2 = splat %out.0 : (8) *i32\n"
      "    %3 = ptr_add %2, %1 : (8) *i32\n"
      "    %4 = const 8 : i32\n"
      "    %5 = const 8 : (8) i32\n"
      "    store %3, %5\n"
      "    return\n" },
    { "scalar_beside_a_block_is_repeated",
      "out: ptr[float32], s: float32",
      "o = nl.arange(0, 4)\n"
      "nl.store(out + o, o * s)\n",
      "    %o.2 = arange 0, 4 : (4) i32\n"
      "    %3 = splat %out.0 : (4) *fp32\n"
      "    %4 = ptr_add %3, %o.2 : (4) *fp32\n"
      "    %5 = cast %o.2 : (4) fp32\n"
      "    %6 = splat %s.1 : (4) fp32\n"
      "    %7 = mul %5, %6 : (4) fp32\n"
      "    store %4, %7\n"
      "    return\n" },
    { "new_axes_and_broadcasting",
      "out: ptr[int32]",
      "i = nl.arange(0, 2)\n"
      "j = nl.arange(0, 4)\n"
      "nl.store(out + i[:, None] * 4 + j, j)\n",
      "    %i.1 = arange 0, 2 : (2) i32\n"
      "    %j.2 = arange 0, 4 : (4) i32\n"
      "    %3 = expand_dims %i.1 {axis=1} : (2, 1) i32\n"
      "    %4 = const 4 : i32\n"
      "    %5 = const 4 : (2, 1) i32\n"
      "    %6 = mul %3, %5 : (2, 1) i32\n"
      "    %7 = splat %out.0 : (2, 1) *i32\n"
      "    %8 = ptr_add %7, %6 : (2, 1) *i32\n"
      "    %9 = broadcast %8 : (2, 4) *i32\n"
      "    %10 = expand_dims %j.2 {axis=0} : (1, 4) i32\n"
      "    %11 = broadcast %10 : (2, 4) i32\n"
      "    %12 = ptr_add %9, %11 : (2, 4) *i32\n"
      "    %13 = expand_dims %j.2 {axis=0} : (1, 4) i32\n"
      "    %14 = broadcast %13 : (2, 4) i32\n"
      "    store %12, %14\n"
      "    return\n" },
    { "pointer_minus_unsigned",
      "out: ptr[int32], n: uint32",
      "nl.store(out - n, 1)\n",
      "    %2 = cast %n.1 : i64\n"
      "    %3 = neg %2 : i64\n"
      "    %4 = ptr_add %out.0, %3 : *i32\n"
      "    %5 = const 1 : i32\n"
      "    store %4, %5\n"
      "    return\n" },
    { "pointers_compare_and_subtract",
      "out: ptr[int32], p: ptr[int32]",
      "nl.store(out, p - out, mask=p != out)\n",
      "    %2 = ptr_diff %p.1, %out.0 : i64\n"
      "    %3 = cast %p.1 : i64\n"
      "    %4 = cast %out.0 : i64\n"
      "    %5 = ne %3, %4 : i1\n"
      "    %6 = cast %2 : i32\n"
      "    store %out.0, %6, mask=%5\n"
      "    return\n" },
    { "logic_of_values_and_constants",
      "out: ptr[int32], n: int32, m: int32, F: constexpr = True",
      "nl.store(out, 1, mask=F and n or m)\n",
      "    %3 = const 0 : i32\n"
      "    %4 = ne %n.1, %3 : i1\n"
      "    %5 = const 0 : i32\n"
      "    %6 = ne %m.2, %5 : i1\n"
      "    %7 = or %4, %6 : i1\n"
      "    %8 = const 1 : i32\n"
      "    store %out.0, %8, mask=%7\n"
      "    return\n" },
    { "chained_comparison",
      "out: ptr[int32], n: int32",
      "nl.store(out, 1, mask=0 <= n < 9)\n",
      "    %2 = const 0 : i32\n"
      "    %3 = le %2, %n.1 : i1\n"
      "    %4 = const 9 : i32\n"
      "    %5 = lt %n.1, %4 : i1\n"
      "    %6 = and %3, %5 : i1\n"
      "    %7 = const 1 : i32\n"
      "    store %out.0, %7, mask=%6\n"
      "    return\n" },
    { "constant_branch_is_pruned",
      "out: ptr[int32], F: constexpr = None",
      "if F is None:\n"
      "    y = 1\n"
      "else:\n"
      "    y = nl.arange(0, 4) + 'text'\n"
      "nl.store(out, y)\n",
      "    %1 = const 1 : i32\n"
      "    store %out.0, %1\n"
      "    return\n" },
    { "if_merges_what_changed",
      "out: ptr[int32], n: int32",
      "y = 0\n"
      "z = n\n"
      "if n > 3:\n"
      "    y = n + 1\n"
      "nl.store(out, y + z)\n",
      "    %2 = const 3 : i32\n"
      "    %3 = gt %n.1, %2 : i1\n"
      "    %y.4 = if %3 : i32 {\n"
      "        %5 = const 1 : i32\n"
      "        %y.6 = add %n.1, %5 : i32\n"
      "        yield %y.6\n"
      "    } else {\n"
      "        %7 = const 0 : i32\n"
      "        yield %7\n"
      "    }\n"
      "    %8 = add %y.4, %n.1 : i32\n"
      "    store %out.0, %8\n"
      "    return\n" },
    { "early_return_moves_the_rest",
      "out: ptr[int32], n: int32",
      "if n > 3:\n"
      "    return\n"
      "nl.store(out, n)\n",
      "    %2 = const 3 : i32\n"
      "    %3 = gt %n.1, %2 : i1\n"
      "    if %3 {\n"
      "        yield\n"
      "    } else {\n"
      "        store %out.0, %n.1\n"
      "        yield\n"
      "    }\n"
      "    return\n" },
    { "return_under_two_ifs_guards_the_rest",
      "out: ptr[int32], n: int32",
      "if n > 3:\n"
      "    if n > 5:\n"
      "        return\n"
      "    nl.store(out, 1)\n"
      "nl.store(out, n)\n",
      "    %2 = const 3 : i32\n"
      "    %3 = gt %n.1, %2 : i1\n"
      "    %4 = if %3 : i1 {\n"
      "        %5 = const 5 : i32\n"
      "        %6 = gt %n.1, %5 : i1\n"
      "        if %6 {\n"
      "            yield\n"
      "        } else {\n"
      "            %7 = const 1 : i32\n"
      "            store %out.0, %7\n"
      "            yield\n"
      "        }\n"
      "        yield %6\n"
      "    } else {\n"
      "        %8 = const false : i1\n"
      "        yield %8\n"
      "    }\n"
      "    %9 = not %4 : i1\n"
      "    %10 = if %9 : i1 {\n"
      "        store %out.0, %n.1\n"
      "        yield %4\n"
      "    } else {\n"
      "        %11 = const true : i1\n"
      "        yield %11\n"
      "    }\n"
      "    return\n" },
    { "for_carries_what_it_changes",
      "out: ptr[int32], n: int32",
      "a = 0\n"
      "b = n\n"
      "for i in range(2, n):\n"
      "    a += b\n"
      "nl.store(out, a)\n",
      "    %2 = const 2 : i32\n"
      "    %3 = const 1 : i32\n"
      "    %4 = const 0 : i32\n"
      "    %a.5 = for %2, %n.1, %3, %4 : i32 (%i.6: i32, %a.7: i32) {\n"
      "        %a.8 = add %a.7, %n.1 : i32\n"
      "        yield %a.8\n"
      "    }\n"
      "    store %out.0, %a.5\n"
      "    return\n" },
    { "for_downwards",
      "out: ptr[int32], n: int32",
      "for i in range(n, 0, -2):\n"
      "    nl.store(out + i, i)\n",
      "    %2 = const 0 : i32\n"
      "    %3 = const 2 : i32\n"
      "    %4 = const 0 : i32\n"
      "    %5 = sub %n.1, %2 : i32\n"
      "    for %4, %5, %3 (%6: i32) {\n"
      "        %i.7 = sub %n.1, %6 : i32\n"
      "        %8 = ptr_add %out.0, %i.7 : *i32\n"
      "        store %8, %i.7\n"
      "        yield\n"
      "    }\n"
      "    return\n" },
    { "run_time_step_below_one_runs_nothing",
      "out: ptr[int32], n: int32",
      "for i in range(0, 9, n):\n"
      "    nl.store(out + i, i)\n",
      "    %2 = const 0 : i32\n"
      "    %3 = const 9 : i32\n"
      "    %4 = const 0 : i32\n"
      "    %5 = gt %n.1, %4 : i1\n"
      "    %6 = select %5, %3, %2 : i32\n"
      "    %7 = const 1 : i32\n"
      "    %8 = select %5, %n.1, %7 : i32\n"
      "    for %2, %6, %8 (%i.9: i32) {\n"
      "        %10 = ptr_add %out.0, %i.9 : *i32\n"
      "        store %10, %i.9\n"
      "        yield\n"
      "    }\n"
      "    return\n" },
    { "bounds_promote_to_int64",
      "out: ptr[int64], n: int64",
      "for i in range(n):\n"
      "    nl.store(out + i, i)\n",
      "    %2 = const 0 : i64\n"
      "    %3 = const 1 : i64\n"
      "    for %2, %n.1, %3 (%i.4: i64) {\n"
      "        %5 = ptr_add %out.0, %i.4 : *i64\n"
      "        store %5, %i.4\n"
      "        yield\n"
      "    }\n"
      "    return\n" },
    { "continue_keeps_carried_values",
      "out: ptr[int32], n: int32",
      "a = 1\n"
      "for i in range(n):\n"
      "    if i == 2:\n"
      "        continue\n"
      "    a += i\n"
      "nl.store(out, a)\n",
      "    %2 = const 0 : i32\n"
      "    %3 = const 1 : i32\n"
      "    %4 = const 1 : i32\n"
      "    %a.5 = for %2, %n.1, %3, %4 : i32 (%i.6: i32, %a.7: i32) {\n"
      "        %8 = const 2 : i32\n"
      "        %9 = eq %i.6, %8 : i1\n"
      "        %a.10 = if %9 : i32 {\n"
      "            yield %a.7\n"
      "        } else {\n"
      "            %a.11 = add %a.7, %i.6 : i32\n"
      "            yield %a.11\n"
      "        }\n"
      "        yield %a.10\n"
      "    }\n"
      "    store %out.0, %a.5\n"
      "    return\n" },
    { "break_becomes_a_while",
      "out: ptr[int32], n: int32",
      "for i in range(n):\n"
      "    if i == 2:\n"
      "        break\n"
      "    nl.store(out + i, i)\n",
      "    %2 = const 0 : i32\n"
      "    %3 = const 1 : i32\n"
      "    %4 = cast %2 : u32\n"
      "    %5 = cast %n.1 : u32\n"
      "    %6 = sub %5, %4 : u32\n"
      "    %7 = const 0 : u32\n"
      "    %8 = lt %2, %n.1 : i1\n"
      "    %9 = select %8, %6, %7 : u32\n"
      "    %10 = const 0 : u32\n"
      "    %11 = const false : i1\n"
      "    %12, %13 = while %10, %11 : u32, i1 (%14: u32, %15: i1) {\n"
      "        %16 = lt %14, %9 : i1\n"
      "        %17 = not %15 : i1\n"
      "        %18 = and %16, %17 : i1\n"
      "        yield %18\n"
      "    } do (%19: u32, %20: i1) {\n"
      "        %21 = cast %19 : i32\n"
      "        %22 = mul %21, %3 : i32\n"
      "        %i.23 = add %2, %22 : i32\n"
      "        %24 = const 2 : i32\n"
      "        %25 = eq %i.23, %24 : i1\n"
      "        if %25 {\n"
      "            yield\n"
      "        } else {\n"
      "            %26 = ptr_add %out.0, %i.23 : *i32\n"
      "            store %26, %i.23\n"
      "            yield\n"
      "        }\n"
      "        %27 = const 1 : u32\n"
      "        %28 = add %19, %27 : u32\n"
      "        yield %28, %25\n"
      "    }\n"
      "    return\n" },
    { "while_with_an_int_condition",
      "out: ptr[int32], n: int32",
      "while n:\n"
      "    n -= 1\n"
      "nl.store(out, n)\n",
      "    %n.2 = while %n.1 : i32 (%n.3: i32) {\n"
      "        %4 = const 0 : i32\n"
      "        %5 = ne %n.3, %4 : i1\n"
      "        yield %5\n"
      "    } do (%n.6: i32) {\n"
      "        %7 = const 1 : i32\n"
      "        %n.8 = sub %n.6, %7 : i32\n"
      "        yield %n.8\n"
      "    }\n"
      "    store %out.0, %n.2\n"
      "    return\n" },
    { "while_true_with_return",
      "out: ptr[int32], n: int32",
      "while True:\n"
      "    n -= 1\n"
      "    if n < 0:\n"
      "        return\n"
      "    nl.store(out, n)\n",
      "    %2 = const false : i1\n"
      "    %n.3, %4 = while %n.1, %2 : i32, i1 (%n.5: i32, %6: i1) {\n"
      "        %7 = not %6 : i1\n"
      "        yield %7\n"
      "    } do (%n.8: i32, %9: i1) {\n"
      "        %10 = const 1 : i32\n"
      "        %n.11 = sub %n.8, %10 : i32\n"
      "        %12 = const 0 : i32\n"
      "        %13 = lt %n.11, %12 : i1\n"
      "        if %13 {\n"
      "            yield\n"
      "        } else {\n"
      "            store %out.0, %n.11\n"
      "            yield\n"
      "        }\n"
      "        yield %n.11, %13\n"
      "    }\n"
      "    return\n" },
    { "else_of_a_loop",
      "out: ptr[int32], n: int32",
      "for i in nl.static_range(2):\n"
      "    if i == 5:\n"
      "        break\n"
      "else:\n"
      "    nl.store(out, n)\n",
      "    store %out.0, %n.1\n"
      "    return\n" },
    { "static_range_unrolls",
      "out: ptr[int32]",
      "for i in nl.static_range(1, 5, 2):\n"
      "    nl.store(out + i, i)\n",
      "    %1 = const 1 : i32\n"
      "    %2 = ptr_add %out.0, %1 : *i32\n"
      "    %3 = const 1 : i32\n"
      "    store %2, %3\n"
      "    %4 = const 3 : i32\n"
      "    %5 = ptr_add %out.0, %4 : *i32\n"
      "    %6 = const 3 : i32\n"
      "    store %5, %6\n"
      "    return\n" },
    { "tuples_swap_through_a_loop",
      "out: ptr[int32], n: int32",
      "t = (1, n)\n"
      "for i in range(n):\n"
      "    t = (t[1], t[0])\n"
      "nl.store(out, t[0] - t[1])\n",
      "    %2 = const 0 : i32\n"
      "    %3 = const 1 : i32\n"
      "    %4 = const 1 : i32\n"
      "    %t.5, %t.6 = for %2, %n.1, %3, %4, %n.1 : i32, i32 (%i.7: i32, %t.8: i32, %t.9: i32) {\n"
      "        yield %t.9, %t.8\n"
      "    }\n"
      "    %10 = sub %t.5, %t.6 : i32\n"
      "    store %out.0, %10\n"
      "    return\n" },
    { "ternary_unifies_literals",
      "out: ptr[float32], n: int32",
      "nl.store(out, 1 if n < 4 else 2.5)\n",
      "    %2 = const 4 : i32\n"
      "    %3 = lt %n.1, %2 : i1\n"
      "    %4 = if %3 : fp32 {\n"
      "        %5 = const 1.0 : fp32\n"
      "        yield %5\n"
      "    } else {\n"
      "        %6 = const 2.5 : fp32\n"
      "        yield %6\n"
      "    }\n"
      "    store %out.0, %4\n"
      "    return\n" },
    { "call_with_defaults_keywords_and_splat",
      "out: ptr[int32], n: int32",
      "t = (n, 2)\n"
      "a, b = both(*t, z=5)\n"
      "nl.store(out + a, b)\n",
      "    %2 = const 2 : i32\n"
      "    %a.3 = add %n.1, %2 : i32\n"
      "    %4 = const 5 : i32\n"
      "    %b.5 = mul %n.1, %4 : i32\n"
      "    %6 = ptr_add %out.0, %a.3 : *i32\n"
      "    store %6, %b.5\n"
      "    return\n" },
    { "return_value_from_a_loop",
      "out: ptr[int32], n: int32",
      "nl.store(out, find(n))\n",
      "    %2 = const 0 : i32\n"
      "    %3 = const 1 : i32\n"
      "    %4 = cast %2 : u32\n"
      "    %5 = cast %n.1 : u32\n"
      "    %6 = sub %5, %4 : u32\n"
      "    %7 = const 0 : u32\n"
      "    %8 = lt %2, %n.1 : i1\n"
      "    %9 = select %8, %6, %7 : u32\n"
      "    %10 = const 0 : u32\n"
      "    %11 = const false : i1\n"
      "    %12 = const 0 : i32\n"
      "    %13, %14, %15 = while %10, %11, %12 : u32, i1, i32 (%16: u32, %17: i1, %18: i32) {\n"
      "        %19 = lt %16, %9 : i1\n"
      "        %20 = not %17 : i1\n"
      "        %21 = and %19, %20 : i1\n"
      "        yield %21\n"
      "    } do (%22: u32, %23: i1, %24: i32) {\n"
      "        %25 = cast %22 : i32\n"
      "        %26 = mul %25, %3 : i32\n"
      "        %i.27 = add %2, %26 : i32\n"
      "        %28 = mul %i.27, %i.27 : i32\n"
      "        %29 = const 10 : i32\n"
      "        %30 = gt %28, %29 : i1\n"
      "        %31 = if %30 : i32 {\n"
      "            yield %i.27\n"
      "        } else {\n"
      "            %32 = const 0 : i32\n"
      "            yield %32\n"
      "        }\n"
      "        %33 = const 1 : u32\n"
      "        %34 = add %22, %33 : u32\n"
      "        yield %34, %30, %31\n"
      "    }\n"
      "    %35 = not %14 : i1\n"
      "    %36 = if %35 : i32 {\n"
      "        %37 = const -1 : i32\n"
      "        yield %37\n"
      "    } else {\n"
      "        yield %15\n"
      "    }\n"
      "    store %out.0, %36\n"
      "    return\n" },
    { "annotation_converts",
      "out: ptr[float32], n: int32",
      "x: float32 = n\n"
      "nl.store(out, x)\n",
      "    %x.2 = cast %n.1 : fp32\n"
      "    store %out.0, %x.2\n"
      "    return\n" },
    { "unread_entry_may_change_type",
      "out: ptr[float32], n: int32",
      "x = 0\n"
      "for i in range(n):\n"
      "    x = i * 0.5\n"
      "    nl.store(out + i, x)\n",
      "    %2 = const 0 : i32\n"
      "    %3 = const 1 : i32\n"
      "    %4 = const 0 : i32\n"
      "    for %2, %n.1, %3 (%i.5: i32) {\n"
      "        %6 = cast %i.5 : fp32\n"
      "        %7 = const 0.5 : fp32\n"
      "        %x.8 = mul %6, %7 : fp32\n"
      "        %9 = ptr_add %out.0, %i.5 : *fp32\n"
      "        store %9, %x.8\n"
      "        yield\n"
      "    }\n"
      "    return\n" },
};
// clang-format on

// Without the lines of the function's own braces.
static const char *body_of(LowerCase *c, const char *text)
{
    const char *first = strchr(text, '\n'), *end = text + strlen(text);
    assert_non_null(first);
    while (end > first && end[-1] != '}')
        end--;
    return arena_strndup(&c->arena, first + 1, (size_t)(end - 1 - (first + 1)));
}

static void check_ir(void **state)
{
    const Case *row = *state;
    LowerCase c;
    Buf source = { 0 };
    buf_printf(&source, "%s@newt.kernel(num_warps=1, num_stages=1)\ndef k(%s):\n", helpers, row->params);
    for (const char *at = row->body; *at;) {
        size_t len = strcspn(at, "\n");
        buf_printf(&source, "    %.*s\n", (int)len, at);
        at += len + (at[len] != 0);
    }
    const char *ir = "";
    if (lower_case_begin(&c, source.at, &(VariantOptions){ .specialize = "none" }))
        ir = lower_case_ir(&c, &c.units.at[0].variants[0]);
    assert_string_equal(lower_case_messages(&c), "");
    assert_string_equal(body_of(&c, ir), row->ir);
    buf_free(&source);
    arena_free(&c.arena);
}

int main(void)
{
    return LOWER_RUN_CASES("lower", cases, check_ir);
}
