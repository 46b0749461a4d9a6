// test_type.c - interning, texts and classes of types.
#include "sema/type.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static int setup(void **state)
{
    static Arena arena;
    static TypeTable *types;
    types = type_table_new(&arena);
    *state = types;
    return 0;
}

static void equal_types_are_one(void **state)
{
    TypeTable *t = *state;
    const Type *f16 = type_scalar(t, SCALAR_F16);
    const int32_t a[] = { 4, 8 }, b[] = { 8, 4 };
    assert_ptr_equal(type_block(t, f16, 2, a), type_block(t, f16, 2, a));
    assert_ptr_not_equal(type_block(t, f16, 2, a), type_block(t, f16, 2, b));
    assert_ptr_equal(type_ptr(t, f16, true), type_ptr(t, f16, true));
    assert_ptr_not_equal(type_ptr(t, f16, true), type_ptr(t, f16, false));
    assert_ptr_equal(type_block(t, f16, 0, NULL), f16);
}

static void many_types_stay_one(void **state)
{
    TypeTable *t = *state;
    const Type *made[15][17];
    for (int k = 0; k < SCALAR_COUNT; k++)
        for (int bits = 0; bits <= 16; bits++)
            made[k][bits] =
                type_block(t, type_scalar(t, (ScalarKind)k), 1, (int32_t[]){ 1 << bits });
    for (int k = 0; k < SCALAR_COUNT; k++)
        for (int bits = 0; bits <= 16; bits++)
            assert_ptr_equal(made[k][bits], type_block(t, type_scalar(t, (ScalarKind)k), 1,
                                                       (int32_t[]){ 1 << bits }));
}

static void texts_are_as_written(void **state)
{
    TypeTable *t = *state;
    const Type *f32 = type_scalar(t, SCALAR_F32), *ptr = type_ptr(t, f32, false);
    const int32_t shape[] = { 16, 128 };
    assert_string_equal(type_text(t, f32), "fp32");
    assert_string_equal(type_text(t, type_ptr(t, f32, true)), "*const fp32");
    assert_string_equal(type_text(t, type_block(t, f32, 2, shape)), "(16, 128) fp32");
    assert_string_equal(type_text(t, type_block(t, ptr, 1, shape)), "(16) *fp32");
    assert_string_equal(type_text(t, type_scalar(t, SCALAR_I1)), "int1");
    assert_string_equal(type_shape_text(t, type_block(t, ptr, 1, shape)), "(16)");
    assert_string_equal(type_shape_text(t, f32), "()");
}

static void blocks_have_the_class_of_their_elements(void **state)
{
    TypeTable *t = *state;
    const int32_t shape[] = { 32 };
    const Type *u8 = type_block(t, type_scalar(t, SCALAR_U8), 1, shape);
    assert_true(type_is_int(u8) && type_is_unsigned(u8));
    assert_false(type_is_signed(u8) || type_is_bool(u8) || type_is_float(u8));
    assert_int_equal(type_elem_bytes(u8), 1);
    assert_int_equal(u8->numel, 32);
    const Type *i1 = type_scalar(t, SCALAR_I1);
    assert_true(type_is_bool(i1));
    assert_false(type_is_int(i1) || type_is_unsigned(i1));
    assert_int_equal(type_elem_bytes(i1), 1);
    const Type *e4 = type_scalar(t, SCALAR_E4M3);
    assert_true(type_is_fp8(e4));
    assert_false(type_is_float(e4));
    const Type *p = type_with_elem(t, u8, type_ptr(t, type_scalar(t, SCALAR_F64), false));
    assert_true(type_is_ptr(p) && type_same_shape(p, u8));
    assert_false(type_is_num(p) || type_is_int(p));
    assert_int_equal(type_elem_bytes(p), 8);
}

static void scalars_are_found_by_their_names(void **state)
{
    (void)state;
    assert_int_equal(scalar_find("half"), SCALAR_F16);
    assert_int_equal(scalar_find("float16"), SCALAR_F16);
    assert_int_equal(scalar_find("fp16"), SCALAR_COUNT);
    assert_int_equal(scalar_find_signature("fp16"), SCALAR_F16);
    assert_int_equal(scalar_find_signature("half"), SCALAR_COUNT);
    assert_string_equal(scalar_info[SCALAR_U64].newt, "NEWT_U64");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(equal_types_are_one, setup),
        cmocka_unit_test_setup(many_types_stay_one, setup),
        cmocka_unit_test_setup(texts_are_as_written, setup),
        cmocka_unit_test_setup(blocks_have_the_class_of_their_elements, setup),
        cmocka_unit_test_setup(scalars_are_found_by_their_names, setup),
    };
    return cmocka_run_group_tests_name("type", tests, NULL, NULL);
}
