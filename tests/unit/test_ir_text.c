// test_ir_text.c - the text form: what is printed is what was read, and bad text is reported.
#include "ir_case.h"

typedef struct RoundTrip {
    const char *name, *text;
} RoundTrip;

static const RoundTrip round_trips[] = {
    { "empty_function", "func @f() num_warps=4 num_stages=1 {\n    return\n}\n" },
    { "parameter_facts",
      "func @f(%x.0: *const fp32 {index=2, divisor=16}, %n.1: i32 {range=[-3, 100]}, %y.2: *fp16 "
      "{const}) num_warps=8 num_stages=3 smem=1024 index64 {\n    return\n}\n" },
    { "copies_and_stages",
      "func @f(%s.0: i32, %p.1: (8, 16) *fp16, %m.2: (8, 16) i1, %v.3: (8, 16) fp16) num_warps=4 "
      "num_stages=3 ring[(8, 16) fp16 stages=2 fast=1] {\n"
      "    async_copy %p.1, %s.0, mask=%m.2 {ring=0, ordered, cache=cg, vec=8}\n"
      "    async_copy %p.1, %s.0 {ring=0}\n    async_commit\n    async_wait {groups=2}\n"
      "    tile_put %s.0, %v.3 {ring=0, tf32}\n"
      "    for %s.0, %s.0, %s.0 {num_stages=4} (%4: i32) {\n        yield\n    }\n"
      "    %5 = while %s.0 {num_stages=2} : i32 (%6: i32) {\n        %7 = const true : i1\n"
      "        yield %7\n    } do (%8: i32) {\n        yield %8\n    }\n    return\n}\n" },
    { "rings",
      "func @f(%s.0: i32) num_warps=4 num_stages=3 ring[(64, 32) fp16 stages=3 fast=1] "
      "ring[(32, 8) fp32 stages=2 fast=0 loose=1 smem=12288 bytes=1024] reserved=14336 smem=20000 {\n"
      "    %1 = tile %s.0 {ring=0} : (64, 32) fp16\n    %2 = trans %1 {perm=[1, 0]} : (32, 64) fp16\n"
      "    %3 = convert %2 : (32, 64) fp16\n    return\n}\n" },
    { "constants", "func @f() num_warps=4 num_stages=1 {\n"
                   "    %0 = const -7 : i32\n"
                   "    %1 = const true : (4) i1\n"
                   "    %2 = const 18446744073709551615 : u64\n"
                   "    %3 = const 0.1 : fp64\n"
                   "    %4 = const -0.0 : fp16\n"
                   "    %5 = const inf : bf16\n"
                   "    %6 = const nan : fp32\n"
                   "    return\n"
                   "}\n" },
    { "load_with_mask_and_other",
      "func @f(%p.0: *fp32, %m.1: i1, %o.2: fp32) num_warps=4 num_stages=1 {\n"
      "    %v.3 = load %p.0, mask=%m.1, other=%o.2 {cache=cg, evict=first, volatile} : fp32\n"
      "    store %p.0, %v.3, mask=%m.1 {cache=wt, vec=4, contiguous, aligned, mask_uniform}\n"
      "    %old.4 = atomic_rmw %p.0, %v.3 {kind=add, order=acq_rel, scope=gpu} : fp32\n"
      "    return\n"
      "}\n" },
    { "shapes_and_reductions", "func @f() num_warps=4 num_stages=1 {\n"
                               "    %0 = arange 0, 16 : (16) i32\n"
                               "    %1 = expand_dims %0 {axis=1} : (16, 1) i32\n"
                               "    %2 = broadcast %1 : (16, 8) i32\n"
                               "    %3 = trans %2 {perm=[1, 0]} : (8, 16) i32\n"
                               "    %4 = reduce %3 {kind=sum, axis=0, tie_break_left} : (16) i32\n"
                               "    %5 = cast %4 {rtz} : (16) fp16\n"
                               "    %6 = carry %3 {axis=1, bit=3, reverse} : (8, 16) i32\n"
                               "    return\n"
                               "}\n" },
    { "control",
      "func @f(%n.0: i32) num_warps=4 num_stages=1 {\n"
      "    %1 = const 0 : i32\n"
      "    %2 = const 1 : i32\n"
      "    %s.3, %t.4 = for %1, %n.0, %2, %1, %2 : i32, i32 (%i.5: i32, %s.6: i32, %t.7: i32) {\n"
      "        %8 = lt %i.5, %s.6 : i1\n"
      "        %9 = if %8 : i32 {\n"
      "            yield %i.5\n"
      "        } else {\n"
      "            yield %t.7\n"
      "        }\n"
      "        yield %9, %s.6\n"
      "    }\n"
      "    %w.10 = while %s.3 : i32 (%w.11: i32) {\n"
      "        %12 = lt %w.11, %n.0 : i1\n"
      "        yield %12\n"
      "    } do (%w.13: i32) {\n"
      "        barrier {from_user}\n"
      "        assert %8 {text=\"a \\\"b\\\"\\n\"}\n"
      "        yield %w.13\n"
      "    }\n"
      "    return %1, %2, %2\n"
      "}\n" },
};

static void check_round_trip(void **state)
{
    const RoundTrip *t = *state;
    IrCase c;
    ir_case_init(&c);
    IrFunc *fn = ir_case_read(&c, t->text);
    if (!fn)
        fail_msg("%s", ir_case_diags(&c));
    assert_string_equal(ir_case_print(&c, fn), t->text);
    ir_case_free(&c);
}

typedef struct Fault {
    const char *name, *text, *want;
} Fault;

static const Fault faults[] = {
    { "no_function", "bla", "1:1: expected 'func'\n" },
    { "undefined_value", "func @f() {\n  %1 = neg %x : i32\n}\n", "2:12: '%x' is not defined\n" },
    { "defined_twice", "func @f(%x: i32) {\n  %x = const 1 : i32\n}\n",
      "2:3: '%x' is defined twice\n" },
    { "unknown_operation", "func @f() {\n  frobnicate\n}\n",
      "2:3: there is no operation 'frobnicate'\n" },
    { "unknown_attribute", "func @f(%p: *i32) {\n  %1 = load %p {axis=1} : i32\n}\n",
      "2:17: 'load' has no attribute 'axis'\n" },
    { "unknown_operand", "func @f(%p: *i32) {\n  %1 = load %p, musk=%p : i32\n}\n",
      "2:17: 'load' has no operand 'musk'\n" },
    { "missing_operand", "func @f(%p: i32) {\n  %1 = add %p : i32\n}\n",
      "2:3: 'add' takes 2 operands\n" },
    { "too_many_operands", "func @f(%p: i32) {\n  %1 = neg %p, %p : i32\n}\n",
      "2:16: 'neg' takes 1 operands\n" },
    { "result_count", "func @f(%p: i32) {\n  neg %p\n}\n", "2:3: 'neg' has 1 results\n" },
    { "unknown_word_in_ring", "func @f() ring[(8, 8) fp16 depth=2] {\n}\n",
      "1:28: 'depth' is nothing that a ring has\n" },
    { "shape_not_power_of_two", "func @f(%p: (3) i32) {\n}\n", "1:13: not the shape of a block\n" },
    { "block_too_large", "func @f(%p: (1048576, 2) i32) {\n}\n",
      "1:13: not the shape of a block\n" },
    { "constant_of_wrong_type", "func @f() {\n  %1 = const 1.5 : i32\n}\n",
      "2:14: '1.5' is not a constant of type 'int32'\n" },
    { "integer_out_of_range", "func @f() num_warps=5000 {\n}\n",
      "1:21: expected an integer from 0 to 1024\n" },
    { "perm_of_other_rank",
      "func @f(%p: (4, 2) i32) {\n  %1 = trans %p {perm=[1]} : (2, 4) i32\n}\n",
      "2:3: perm has 1 entries for 2 axes\n" },
    { "no_layouts_here", "func @f(%p: (4) i32 @[reg=[]]) {\n}\n",
      "1:21: layouts are not read here\n" },
    { "text_ends_early", "func @f(", "1:9: expected '%'\n" },
    { "text_after", "func @f() {\n}\nx", "3:1: text after the function\n" },
};

static void check_fault(void **state)
{
    const Fault *f = *state;
    IrCase c;
    ir_case_init(&c);
    assert_null(ir_case_read(&c, f->text));
    assert_string_equal(ir_case_diags(&c), f->want);
    ir_case_free(&c);
}

static void hints_survive_without_numbers(void **state)
{
    (void)state;
    IrCase c;
    ir_case_init(&c);
    IrFunc *fn = ir_case_read(&c, "func @f(%x: i32) { # a comment\n"
                                  "  %acc = neg %x : i32\n\n"
                                  "  %t.7 = neg %acc : i32\n"
                                  "  %9 = neg %t.7 : i32\n"
                                  "  return }");
    assert_non_null(fn);
    assert_string_equal(ir_case_print(&c, fn), "func @f(%x.0: i32) num_warps=4 num_stages=1 {\n"
                                               "    %acc.1 = neg %x.0 : i32\n"
                                               "    %t.2 = neg %acc.1 : i32\n"
                                               "    %3 = neg %t.2 : i32\n"
                                               "    return\n"
                                               "}\n");
    ir_case_free(&c);
}

enum {
    ROUND_TRIPS = sizeof round_trips / sizeof *round_trips,
    FAULTS = sizeof faults / sizeof *faults
};

int main(void)
{
    struct CMUnitTest tests[ROUND_TRIPS + FAULTS + 1];
    for (size_t i = 0; i < ROUND_TRIPS; i++)
        tests[i] = (struct CMUnitTest){ round_trips[i].name, check_round_trip, NULL, NULL,
                                        (void *)&round_trips[i] };
    for (size_t i = 0; i < FAULTS; i++)
        tests[ROUND_TRIPS + i] =
            (struct CMUnitTest){ faults[i].name, check_fault, NULL, NULL, (void *)&faults[i] };
    tests[ROUND_TRIPS + FAULTS] =
        (struct CMUnitTest)cmocka_unit_test(hints_survive_without_numbers);
    return cmocka_run_group_tests_name("ir_text", tests, NULL, NULL);
}
