// test_ir.c - building, walking, cloning, where pointers come from, and what constants hold.
#include "ir_case.h"

#include <math.h>

typedef struct RoundCase {
    const char *name;
    ScalarKind kind;
    bool towards_zero;
    double from, want;
} RoundCase;

// From the table of casts in the language reference, and IEEE 754 for the rest.
static const RoundCase round_cases[] = {
    { "f16_below_tie", SCALAR_F16, false, 65519.9, 65504 },
    { "f16_tie_overflows", SCALAR_F16, false, 65520, INFINITY },
    { "f16_towards_zero", SCALAR_F16, true, 70000, 65504 },
    { "f16_smallest_subnormal", SCALAR_F16, false, 0x1p-24, 0x1p-24 },
    { "f16_half_of_it_is_even", SCALAR_F16, false, 0x1p-25, 0 },
    { "bf16_to_even", SCALAR_BF16, false, 2049, 2048 },
    { "bf16_rtne", SCALAR_BF16, false, 1 + 3 * 0x1p-8, 1.015625 },
    { "bf16_rtz", SCALAR_BF16, true, 1 + 3 * 0x1p-8, 1.0078125 },
    { "bf16_overflow", SCALAR_BF16, false, 3.4e38, INFINITY },
    { "f32_to_even", SCALAR_F32, false, 16777217, 16777216 },
    { "f32_subnormal", SCALAR_F32, false, 0x1.8p-149, 0x1p-148 },
    { "e4m3_saturates", SCALAR_E4M3, false, 465, 448 },
    { "e4m3_infinity", SCALAR_E4M3, false, -INFINITY, -448 },
    { "e4m3_tie_to_zero", SCALAR_E4M3, false, 0x1p-10, 0 },
    { "e5m2_rounds", SCALAR_E5M2, false, 500, 512 },
    { "e5m2_saturates", SCALAR_E5M2, false, 1e9, 57344 },
    { "f64_keeps", SCALAR_F64, false, 0.1, 0.1 },
};

static void check_round(void **state)
{
    const RoundCase *c = *state;
    double got = ir_round_float(c->kind, c->from, c->towards_zero);
    assert_memory_equal(&got, &c->want, sizeof got);
}

static void integers_wrap(void **state)
{
    (void)state;
    assert_int_equal(ir_wrap_int(SCALAR_I8, 300), 44);
    assert_int_equal(ir_wrap_int(SCALAR_I8, 128), -128);
    assert_int_equal(ir_wrap_int(SCALAR_U8, -1), 255);
    assert_int_equal(ir_wrap_int(SCALAR_I1, 2), 0);
    assert_int_equal(ir_wrap_int(SCALAR_U32, -1), 4294967295);
    assert_int_equal(ir_wrap_int(SCALAR_I32, INT64_C(2147483648)), INT32_MIN);
}

static void integers_become_floats_in_one_rounding(void **state)
{
    (void)state;
    // 2^60 + 2^36 + 1: just above the tie between two fp32 numbers; a double loses the 1.
    assert_true(ir_float_of_int(SCALAR_F32, (INT64_C(1) << 60) + (INT64_C(1) << 36) + 1, false) ==
                0x1.000002p60);
    assert_true(ir_float_of_int(SCALAR_F32, (INT64_C(1) << 60) + (INT64_C(1) << 36), false) ==
                0x1p60);
    assert_true(ir_float_of_int(SCALAR_F64, -1, true) == 0x1p64);
    assert_true(ir_float_of_int(SCALAR_F64, INT64_MIN, false) == -0x1p63);
    assert_true(isinf(ir_float_of_int(SCALAR_F16, 65520, false)));
}

static void building_gives_valid_ir(void **state)
{
    (void)state;
    IrCase c;
    ir_case_init(&c);
    const Type *f32 = type_scalar(c.types, SCALAR_F32);
    IrFunc *fn = ir_func_new(&c.arena, c.types, &c.syms, sym_of(&c.syms, "scale"));
    IrValue *p = ir_func_param(fn, sym_of(&c.syms, "p"), type_ptr(c.types, f32, false));
    IrBuilder b = { .fn = fn, .block = fn->body };
    IrValue *offsets = ir_arange(&b, 0, 64);
    const Type *ptrs = type_with_elem(c.types, offsets->type, p->type);
    IrValue *at = ir_ptr_add(&b, ir_splat(&b, p, ptrs), offsets);
    IrValue *v = ir_load(&b, at, NULL, NULL, (IrMem){ .cache = CACHE_DEFAULT });
    IrValue *two = ir_splat(&b, ir_const_float(&b, f32, 2.0), v->type);
    ir_store(&b, at, ir_binary(&b, IR_MUL, v, two), NULL, (IrMem){ .cache = CACHE_DEFAULT });
    ir_op0(&b, IR_RETURN, 0, NULL);
    assert_true(ir_verify(fn, &c.diags));
    assert_string_equal(ir_case_print(&c, fn),
                        "func @scale(%p.0: *fp32) num_warps=4 num_stages=1 {\n"
                        "    %1 = arange 0, 64 : (64) i32\n"
                        "    %2 = splat %p.0 : (64) *fp32\n"
                        "    %3 = ptr_add %2, %1 : (64) *fp32\n"
                        "    %4 = load %3 : (64) fp32\n"
                        "    %5 = const 2.0 : fp32\n"
                        "    %6 = const 2.0 : (64) fp32\n"
                        "    %7 = mul %4, %6 : (64) fp32\n"
                        "    store %3, %7\n"
                        "    return\n"
                        "}\n");
    ir_case_free(&c);
}

static IrOp *find_op(IrFunc *fn, IrCode code)
{
    for (IrOp *op = fn->body->first; op; op = op->next)
        if (op->code == code)
            return op;
    fail();
    return NULL;
}

static const char loop_text[] = "func @f(%p: *fp32, %q: *fp32, %n: i32, %c: i1) {\n"
                                "    %z = const 0 : i32\n"
                                "    %r, %s = for %z, %n, %z, %p, %p : *fp32, *fp32 (%i: i32, %a: "
                                "*fp32, %b: *fp32) {\n"
                                "        %d = ptr_add %a, %i : *fp32\n"
                                "        yield %d, %q\n"
                                "    }\n"
                                "    %t = select %c, %r, %p : *fp32\n"
                                "    return\n"
                                "}\n";

static void pointers_have_roots(void **state)
{
    (void)state;
    IrCase c;
    ir_case_init(&c);
    IrFunc *fn = ir_case_valid(&c, loop_text);
    IrOp *loop = find_op(fn, IR_FOR);
    assert_int_equal(ir_pointer_root(fn, fn->body->args[1]), 1);
    assert_int_equal(ir_pointer_root(fn, loop->results[0]), 0);
    assert_int_equal(ir_pointer_root(fn, loop->regions[0]->first->results[0]), 0);
    assert_int_equal(ir_pointer_root(fn, loop->results[1]), -1);
    assert_int_equal(ir_pointer_root(fn, find_op(fn, IR_SELECT)->results[0]), 0);
    ir_case_free(&c);
}

static void clones_stand_on_their_own(void **state)
{
    (void)state;
    IrCase c;
    ir_case_init(&c);
    IrFunc *fn = ir_case_valid(&c, loop_text);
    IrOp *loop = find_op(fn, IR_FOR), *select = find_op(fn, IR_SELECT);
    IrValue **map = ARENA_NEW_N(&c.arena, IrValue *, fn->value_count);
    IrBuilder b = { .fn = fn, .block = fn->body, .before = select };
    IrOp *copy = ir_clone(&b, loop, map);
    assert_true(ir_verify(fn, &c.diags));
    assert_ptr_equal(map[loop->results[0]->id], copy->results[0]);
    ir_replace(loop->results[0], copy->results[0]);
    ir_apply_replacements(fn);
    assert_ptr_equal(select->args[1], copy->results[0]);
    assert_int_equal(ir_count_uses(fn, &c.arena)[loop->results[0]->id], 0);
    ir_remove(loop);
    assert_true(ir_verify(fn, &c.diags));
    assert_true(ir_dominates(copy->results[0], select));
    assert_false(ir_dominates(select->results[0], copy));
    assert_true(ir_dominates(fn->body->args[0], copy->regions[0]->last));
    assert_false(ir_dominates(copy->results[0], copy->regions[0]->last));
    ir_case_free(&c);
}

enum { ROUNDS = sizeof round_cases / sizeof *round_cases };

int main(void)
{
    const struct CMUnitTest others[] = {
        cmocka_unit_test(integers_wrap),
        cmocka_unit_test(integers_become_floats_in_one_rounding),
        cmocka_unit_test(building_gives_valid_ir),
        cmocka_unit_test(pointers_have_roots),
        cmocka_unit_test(clones_stand_on_their_own),
    };
    struct CMUnitTest tests[ROUNDS + sizeof others / sizeof *others];
    for (size_t i = 0; i < ROUNDS; i++)
        tests[i] = (struct CMUnitTest){ round_cases[i].name, check_round, NULL, NULL,
                                        (void *)&round_cases[i] };
    memcpy(tests + ROUNDS, others, sizeof others);
    return cmocka_run_group_tests_name("ir", tests, NULL, NULL);
}
