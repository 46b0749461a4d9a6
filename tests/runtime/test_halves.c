/// fp16 and bf16 conversions against arithmetic: all bit patterns to float, and all roundings
/// between neighbours back.
#include <math.h>
#include <newt/newt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

typedef struct Format {
    int fraction_bits, bias, exponent_max;
} Format;

static const Format f16_format = { 10, 15, 31 };
static const Format bf16_format = { 7, 127, 255 };

/// The value of a bit pattern by its definition.
static double value_of(uint16_t bits, const Format *format)
{
    int fraction = bits & ((1 << format->fraction_bits) - 1);
    int exponent = (bits & 0x7fff) >> format->fraction_bits;
    double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == format->exponent_max)
        return fraction ? NAN : sign * INFINITY;
    if (exponent == 0)
        return sign * ldexp(fraction, 1 - format->bias - format->fraction_bits);
    return sign * ldexp(fraction + (1 << format->fraction_bits),
                        exponent - format->bias - format->fraction_bits);
}

static void check_float(float got, double wanted)
{
    if (isnan(wanted)) {
        assert_true(isnan(got));
        return;
    }
    assert_true((double)got == wanted);
    assert_int_equal(signbit(got) != 0, signbit(wanted) != 0);
}

static uint16_t f16_of(float value)
{
    return newt_f16(value).bits;
}

static uint16_t bf16_of(float value)
{
    return newt_bf16(value).bits;
}

static void test_all_patterns_to_float_and_back(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits <= 0xffff; bits++) {
        NewtF16 half = { (uint16_t)bits };
        NewtBf16 brain = { (uint16_t)bits };
        check_float(newt_f16_to_float(half), value_of(half.bits, &f16_format));
        check_float(newt_bf16_to_float(brain), value_of(brain.bits, &bf16_format));
        uint32_t quiet_f16 = isnan(newt_f16_to_float(half)) ? 0x200 : 0;
        uint32_t quiet_bf16 = isnan(newt_bf16_to_float(brain)) ? 0x40 : 0;
        assert_int_equal(f16_of(newt_f16_to_float(half)), bits | quiet_f16);
        assert_int_equal(bf16_of(newt_bf16_to_float(brain)), bits | quiet_bf16);
    }
}

/// Between each pattern and the next one up: just above the lower, the tie, just below the upper.
static void check_rounding(uint16_t (*convert)(float), const Format *format)
{
    uint32_t infinity = (uint32_t)format->exponent_max << format->fraction_bits;
    for (uint32_t bits = 0; bits < infinity; bits++) {
        double low = value_of((uint16_t)bits, format);
        double step = low - (bits ? value_of((uint16_t)(bits - 1), format) : low);
        double high = value_of((uint16_t)(bits + 1), format);
        if (isinf(high))  // ties as if the exponent went on
            high = low + step;
        float middle = (float)((low + high) / 2);
        assert_true((double)middle == (low + high) / 2);
        uint32_t even = bits + (bits & 1);
        for (int negative = 0; negative < 2; negative++) {
            float sign = negative ? -1.0F : 1.0F;
            uint32_t sign_bit = negative ? 0x8000 : 0;
            assert_int_equal(convert(sign * nextafterf((float)low, INFINITY)), bits | sign_bit);
            assert_int_equal(convert(sign * nextafterf(middle, 0)), bits | sign_bit);
            assert_int_equal(convert(sign * middle), even | sign_bit);
            assert_int_equal(convert(sign * nextafterf(middle, INFINITY)), (bits + 1) | sign_bit);
        }
    }
}

static void test_rounds_to_nearest_even(void **state)
{
    (void)state;
    check_rounding(f16_of, &f16_format);
    check_rounding(bf16_of, &bf16_format);
}

static void test_extremes(void **state)
{
    (void)state;
    assert_int_equal(f16_of(65504.0F), 0x7bff);
    assert_int_equal(f16_of(65520.0F), 0x7c00);
    assert_int_equal(f16_of(0x1.fffffep127F), 0x7c00);
    assert_int_equal(f16_of(-INFINITY), 0xfc00);
    assert_int_equal(f16_of(0x1p-149F), 0);
    assert_int_equal(f16_of(0x1p-25F), 0);
    assert_int_equal(f16_of(0x1.000002p-25F), 1);
    assert_int_equal(f16_of(-0.0F), 0x8000);
    assert_int_equal(bf16_of(0x1.fffffep127F), 0x7f80);
    assert_int_equal(f16_of(1.0F), 0x3c00);
    assert_int_equal(bf16_of(1.0F), 0x3f80);
}

static void test_dense_tensor(void **state)
{
    (void)state;
    char data;
    NewtTensor tensor = newt_tensor2(&data, NEWT_F16, 3, 5);
    assert_ptr_equal(tensor.data, &data);
    assert_int_equal(tensor.type, NEWT_F16);
    assert_int_equal(tensor.rank, 2);
    assert_int_equal(tensor.shape[0], 3);
    assert_int_equal(tensor.shape[1], 5);
    assert_int_equal(tensor.stride[0], 5);
    assert_int_equal(tensor.stride[1], 1);
    tensor = newt_tensor(&data, NEWT_I8, 3, (const int64_t[]){ 2, 7, 4 });
    assert_ptr_equal(tensor.data, &data);
    assert_int_equal(tensor.type, NEWT_I8);
    assert_int_equal(tensor.rank, 3);
    assert_int_equal(tensor.shape[0], 2);
    assert_int_equal(tensor.shape[2], 4);
    assert_int_equal(tensor.stride[0], 28);
    assert_int_equal(tensor.stride[1], 4);
    assert_int_equal(tensor.stride[2], 1);
    assert_int_equal(newt_tensor(&data, NEWT_I8, 6, NULL).rank, 0);
    assert_int_equal(newt_tensor(&data, NEWT_I8, 0, NULL).rank, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_patterns_to_float_and_back),
        cmocka_unit_test(test_rounds_to_nearest_even),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_dense_tensor),
    };
    return cmocka_run_group_tests_name("runtime_halves", tests, NULL, NULL);
}
