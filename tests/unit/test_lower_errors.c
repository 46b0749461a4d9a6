/// test_lower_errors.c - wrong programs and the whole text of what is said about them.
#include "lower_case.h"

// Line 3 on; the kernel of a case begins at line 27, its body at line 29.
static const char helpers[] = LOWER_HEAD "@newt.jit\n"
                                         "def two_args(a, b):\n"
                                         "    return a + b\n"
                                         "@newt.jit\n"
                                         "def needs_constant(B: constexpr):\n"
                                         "    return B\n"
                                         "@newt.jit\n"
                                         "def pair():\n"
                                         "    return 1, 2\n"
                                         "@newt.jit\n"
                                         "def shapes(n):\n"
                                         "    if n > 0:\n"
                                         "        return nl.arange(0, 4)\n"
                                         "    return nl.arange(0, 8)\n"
                                         "@newt.jit\n"
                                         "def sometimes(n):\n"
                                         "    if n > 0:\n"
                                         "        return 1\n"
                                         "@newt.jit\n"
                                         "def inner(n):\n"
                                         "    return n ** 2\n"
                                         "@newt.jit\n"
                                         "def outer(n):\n"
                                         "    return inner(n)\n";

typedef struct {
    const char *name, *params, *body, *messages;
} Case;

static const Case cases[] = {
    { "combine_takes_other_parameters", "", "    y = nl.reduce(nl.arange(0, 8), 0, inner)\n",
      "29: combine function for 1 input must take 2 parameters, takes 1 [bad-call]\n" },
    { "combine_of_two_takes_four", "",
      "    i = nl.arange(0, 8)\n    y = nl.associative_scan((i, i), 0, two_args)\n",
      "30: combine function for 2 inputs must take 4 parameters, takes 2 [bad-call]\n" },
    { "combine_returns_another_type", "",
      "    y = nl.reduce(nl.arange(0, 8), 0, halved)\n"
      "@newt.jit\ndef halved(a, b):\n    return a / b\n",
      "29: combine function must return int32, returns fp32 [type-mismatch]\n" },
    { "combine_returns_two", "",
      "    y = nl.associative_scan(nl.arange(0, 8), 0, both)\n"
      "@newt.jit\ndef both(a, b):\n    return a, b\n",
      "29: combine function must return 1 value, returns 2 [type-mismatch]\n" },
    { "combine_is_a_builtin", "", "    y = nl.reduce(nl.arange(0, 8), 0, nl.fdiv)\n",
      "29: argument 'combine_fn' of 'reduce' must be a function of the program, not a "
      "builtin function [type-mismatch]\n" },
    { "combine_is_no_function", "", "    y = nl.associative_scan(nl.arange(0, 8), 0, 3)\n",
      "29: argument 'combine_fn' of 'associative_scan' must be a function of the program, not "
      "int32 [type-mismatch]\n" },
    { "scan_beyond_the_axes", "", "    y = nl.cumsum(nl.arange(0, 8), axis=1)\n",
      "29: invalid axis 1; expected -1 <= axis < 1 [bad-value]\n" },
    { "scan_of_pointers", "p: nl.ptr[int32]", "    y = nl.cumsum(p + nl.arange(0, 8))\n",
      "29: 'cumsum' needs numbers, got (8) *int32 [type-mismatch]\n" },
    { "undefined_name", "", "    y = a + 1\n", "29: name 'a' is not defined [undefined-name]\n" },
    { "augmented_before_assigned", "", "    a += 1\n",
      "29: 'a' is read by '+=' before it is assigned [undefined-name]\n" },
    { "assigned_in_one_arm", "n: int32",
      "    if n > 0:\n"
      "        y = 1\n"
      "    z = y\n",
      "31: 'y' is assigned only when n > 0; assign it before the if or in an else "
      "[undefined-name]\n"
      "note 30: assigned here\n" },
    { "assigned_in_the_else_only", "n: int32",
      "    if n > 0:\n"
      "        pass\n"
      "    else:\n"
      "        y = 1\n"
      "    z = y\n",
      "33: 'y' is not assigned when n > 0; assign it before the if or in both arms "
      "[undefined-name]\n"
      "note 32: assigned here\n" },
    { "assigned_in_a_loop_only", "n: int32",
      "    for i in range(n):\n"
      "        y = i\n"
      "    z = y\n",
      "31: 'y' may be unassigned if the loop runs zero times; initialise it before the loop "
      "[undefined-name]\n"
      "note 30: assigned here\n" },
    { "loop_variable_after_the_loop", "n: int32",
      "    for i in range(n):\n"
      "        pass\n"
      "    z = i + 1\n",
      "31: loop variable 'i' has no value after the loop [undefined-name]\n"
      "note 29: the loop is here\n" },
    { "pointer_times_two", "x: ptr[float32]", "    y = x * 2\n",
      "29: cannot multiply a pointer; pointers support + and - with integers [type-mismatch]\n" },
    { "pointer_plus_pointer", "x: ptr[float32], z: ptr[float32]", "    y = x + z\n",
      "29: cannot add two pointers [type-mismatch]\n" },
    { "pointer_plus_float", "x: ptr[float32]", "    y = x + 1.0\n",
      "29: pointer offset must be an integer, got fp32 [type-mismatch]\n" },
    { "negated_pointer", "x: ptr[float32]", "    y = -x\n",
      "29: cannot negate a pointer [type-mismatch]\n" },
    { "pointer_order", "x: ptr[float32], z: ptr[float32]", "    y = x < z\n",
      "29: pointers compare with == and != only [type-mismatch]\n" },
    { "indexed_pointer", "x: ptr[float32]", "    y = x[0]\n",
      "29: a pointer is not indexed; use load(x + ...) [type-mismatch]\n" },
    { "inverted_float", "f: float32", "    y = ~f\n",
      "29: '~' needs an integer or bool, got fp32 [type-mismatch]\n" },
    { "power_of_values", "f: float32", "    y = f ** 2\n",
      "29: '**' is only for constants [type-mismatch]\n"
      "help: multiply, as in 'f * f', or call 'pow'\n" },
    { "indexed_block", "", "    y = nl.arange(0, 4)[2]\n",
      "29: blocks cannot be indexed; only None and ':' are allowed [type-mismatch]\n" },
    { "sliced_block", "", "    y = nl.arange(0, 4)[0:2]\n",
      "29: blocks cannot be indexed; only None and ':' are allowed [type-mismatch]\n" },
    { "too_many_indices", "", "    y = nl.arange(0, 4)[:, :]\n",
      "29: too many indices: block has 1 axis [shape-mismatch]\n" },
    { "assigned_element", "",
      "    x = nl.arange(0, 4)\n"
      "    x[0] = 1.0\n",
      "30: cannot assign to one element of a block; use 'where' [not-in-language]\n" },
    { "tuple_index_out_of_range", "",
      "    t = (1, 2)\n"
      "    y = t[2]\n",
      "30: index 2 is outside a tuple of 2 [bad-value]\n" },
    { "tuple_index_at_run_time", "n: int32",
      "    t = (1, 2)\n"
      "    y = t[n]\n",
      "30: the index of a tuple must be a compile-time constant; 'n' is a run-time int32 "
      "[not-constexpr]\n" },
    { "carried_int_becomes_float", "n: int32",
      "    acc = 0\n"
      "    for i in range(n):\n"
      "        acc += 1.5\n",
      "31: 'acc' is int32 before the loop and becomes fp32 here [loop-type]\n"
      "note 29: int32 here\n"
      "help: start with 'acc = 0.0'\n" },
    { "carried_scalar_becomes_block", "n: int32",
      "    acc = 0.0\n"
      "    for i in range(n):\n"
      "        acc += nl.arange(0, 16)\n",
      "31: 'acc' is fp32 before the loop and becomes (16) fp32 here [loop-type]\n"
      "note 29: fp32 here\n"
      "help: start with 'acc = zeros((16,), float32)'\n" },
    { "carried_half_divided", "n: int32, h: float16",
      "    h = h / 2\n"
      "    x = h.to(float16)\n"
      "    for i in range(n):\n"
      "        x = x / 2\n",
      "32: 'x' is fp16 before the loop and becomes fp32 here [loop-type]\n"
      "note 30: fp16 here\n"
      "help: convert it back with '.to(float16)'\n" },
    { "carried_constant_changes_kind", "n: int32",
      "    x = None\n"
      "    for i in range(n):\n"
      "        y = x is None\n"
      "        x = n\n",
      "32: 'x' is None before the loop and becomes int32 here [loop-type]\n"
      "note 29: None here\n" },
    { "float_loop_bound", "f: float32",
      "    for i in range(0, f):\n"
      "        pass\n",
      "29: loop bound must be an integer, got fp32 [type-mismatch]\n" },
    { "loop_step_zero", "n: int32",
      "    for i in range(0, n, 0):\n"
      "        pass\n",
      "29: the step of a loop is 0 [bad-value]\n" },
    { "static_range_at_run_time", "n: int32",
      "    for i in nl.static_range(n):\n"
      "        pass\n",
      "29: static_range needs a compile-time bound; 'n' is a run-time int32 [not-constexpr]\n" },
    { "loop_over_a_list", "",
      "    for i in [1, 2]:\n"
      "        pass\n",
      "29: loops need range(...) or static_range(...) [type-mismatch]\n" },
    { "infinite_loop", "",
      "    while True:\n"
      "        pass\n",
      "29: infinite loop: the condition is constant and nothing leaves the loop [bad-value]\n" },
    { "block_as_condition", "",
      "    if nl.arange(0, 16) < 4:\n"
      "        pass\n",
      "29: condition is a block of shape (16); use where, or any/all reductions "
      "[type-mismatch]\n" },
    { "arm_changes_type", "n: int32",
      "    y = 0\n"
      "    if n > 0:\n"
      "        y = 1.5\n",
      "31: 'y' is int32 before the if and becomes fp32 here [branch-type]\n"
      "note 29: int32 here\n" },
    { "arms_of_different_types", "n: int32",
      "    if n > 0:\n"
      "        y = 1\n"
      "    else:\n"
      "        y = 1.5\n"
      "    z = y\n",
      "33: 'y' is int32 or fp32 here, depending on the way taken [type-mismatch]\n"
      "note 30: int32 here\n"
      "note 32: fp32 here\n" },
    { "ternary_of_different_types", "n: int32, f: float32", "    y = n if n > 0 else f\n",
      "29: the values of 'if else' are int32 and fp32 [type-mismatch]\n" },
    { "missing_argument", "", "    two_args(1)\n",
      "29: 'two_args' is missing 1 required argument: 'b' [bad-call]\n"
      "note 4: 'two_args' is defined here\n" },
    { "unexpected_keyword", "", "    two_args(1, 4, c=4)\n",
      "29: 'two_args' got an unexpected keyword argument 'c' [bad-call]\n"
      "note 4: 'two_args' is defined here\n" },
    { "argument_given_twice", "", "    two_args(1, 2, a=4)\n",
      "29: 'two_args' got two values for argument 'a' [bad-call]\n"
      "note 4: 'two_args' is defined here\n" },
    { "too_many_arguments", "", "    two_args(1, 2, 3)\n",
      "29: 'two_args' takes 2 arguments, 3 given [bad-call]\n"
      "note 4: 'two_args' is defined here\n" },
    { "constexpr_parameter", "n: int32", "    needs_constant(n)\n",
      "29: parameter 'B' of 'needs_constant' is constexpr; 'n' is a run-time int32 "
      "[not-constexpr]\n"
      "note 7: declared here\n" },
    { "unpacked_call", "", "    a, b, c = pair()\n",
      "29: 'pair' returns 2 values, 3 names given [bad-call]\n" },
    { "unpacked_tuple", "", "    a, b = 1, 2, 3\n", "29: 3 values for 2 names [type-mismatch]\n" },
    { "unpacked_scalar", "n: int32", "    a, b = n\n",
      "29: cannot unpack int32 into 2 names [type-mismatch]\n" },
    { "returns_of_different_types", "n: int32", "    y = shapes(n)\n",
      "15: 'shapes' returns (4) int32 here and (8) int32 elsewhere [return-type]\n"
      "note 29: in 'shapes', called from here\n"
      "note 16: (8) int32 is returned here\n" },
    { "returns_on_one_path", "n: int32", "    y = sometimes(n)\n",
      "18: not all paths of 'sometimes' return a value [return-type]\n"
      "note 29: in 'sometimes', called from here\n"
      "note 20: a value is returned here\n" },
    { "fault_in_a_called_function", "n: int32", "    y = outer(n)\n",
      "23: '**' is only for constants [type-mismatch]\n"
      "note 26: in 'inner', called from here\n"
      "note 29: in 'outer', called from here\n"
      "help: multiply, as in 'f * f', or call 'pow'\n" },
    { "result_of_a_call_without_one", "", "    y = nothing()\n",
      "29: the call returns nothing that 'y' could be [type-mismatch]\n" },
    { "kernel_returns_a_value", "n: int32", "    return n\n",
      "29: a kernel returns nothing; store results through a pointer [return-type]\n" },
    { "constexpr_declared_twice", "",
      "    B: constexpr = 4\n"
      "    B: constexpr = 8\n",
      "30: 'B' is constexpr and cannot be assigned again [constexpr-reassigned]\n"
      "note 29: declared here\n" },
    { "constexpr_assigned", "",
      "    B: constexpr = 4\n"
      "    B = 8\n",
      "30: 'B' is constexpr and cannot be assigned again [constexpr-reassigned]\n"
      "note 29: declared here\n" },
    { "constexpr_of_a_value", "n: int32", "    y: constexpr = n\n",
      "29: 'n' is not a compile-time constant, it is int32 [not-constexpr]\n" },
    { "unknown_argument", "x: ptr[float32]", "    nl.load(x, masks=True)\n",
      "29: unknown argument 'masks' of 'load'; did you mean 'mask'? [bad-call]\n" },
    { "called_string", "", "    'abc'(1)\n",
      "29: ''abc'' is not a function, it is a string [bad-call]\n" },
    { "constant_overflow", "",
      "    b = 319\n"
      "    s = 7864320\n"
      "    y = b * s\n",
      "31: 2508718080 does not fit int32 and wraps to -1786249216 [int-overflow]\n"
      "help: convert an operand with '.to(int64)'\n" },
    { "literal_overflow", "", "    y = 319 * 7864320\n",
      "29: 2508718080 does not fit int32 and becomes uint32 [int-overflow]\n" },
    { "shift_count", "n: int32", "    y = n << 32\n",
      "29: shift count is outside 0..31, the bits of int32 [shift-count]\n" },
    { "tiny_literal", "", "    y = 1e-40\n",
      "29: literal outside the range of normal fp32 numbers is fp64 [literal-range]\n" },
    { "unrolled_too_far", "",
      "    for i in nl.static_range(1000000):\n"
      "        pass\n",
      "30: more than 100000 statements after inlining and unrolling [limit]\n" },
    { "false_assertion", "", "    assert 1 > 2, 'no'\n",
      "29: assertion failed: 1 > 2 [static-assert]\n" },
};

static void check_messages(void **state)
{
    const Case *row = *state;
    LowerCase c;
    Buf source = { 0 };
    bool needs_nothing = strstr(row->body, "nothing()") != NULL;
    buf_printf(&source, "%s@newt.kernel\ndef k(%s):\n%s", helpers, row->params, row->body);
    if (needs_nothing)
        buf_puts(&source, "@newt.jit\ndef nothing():\n    pass\n");
    if (lower_case_begin(&c, source.at, &(VariantOptions){ .specialize = "none" }))
        for (int times = 0; times < 2; times++) {
            // The second time nothing new is said, and yet it fails again.
            bool failed = !*lower_case_ir(&c, &c.units.at[0].variants[0]);
            assert_int_equal(failed, diag_error_count(&c.diags) > 0);
        }
    assert_string_equal(lower_case_messages(&c), row->messages);
    buf_free(&source);
    arena_free(&c.arena);
}

int main(void)
{
    return LOWER_RUN_CASES("lower_errors", cases, check_messages);
}
