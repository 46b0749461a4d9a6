// number.c - the values that constants of each scalar type can have.
//
// Integers are kept as int64_t inside their type's range (uint64 by its bits), floats as doubles
// that the type represents exactly. Rounding is to nearest, ties to even, in one step from the
// double; fp8 saturates as casts to it do.
#include "ir/ir.h"

#include <math.h>
#include <string.h>

int64_t ir_wrap_int(ScalarKind kind, int64_t v)
{
    const ScalarInfo *s = &scalar_info[kind];
    if (s->cls == SCLASS_BOOL)
        return v & 1;
    if (s->bits == 64)
        return v;
    uint64_t mask = (UINT64_C(1) << s->bits) - 1;
    uint64_t low = (uint64_t)v & mask;
    if (s->cls == SCLASS_SINT && low >> (s->bits - 1) != 0)
        low |= ~mask;
    return (int64_t)low;
}

typedef struct FloatFormat {
    int fraction_bits, min_exponent;  // of the smallest normal number
    double max;
    bool saturates;  // beyond max: max instead of infinity
} FloatFormat;

static double round_to_format(const FloatFormat *f, double v, bool towards_zero)
{
    if (isnan(v) || v == 0)
        return v;
    if (isinf(v))
        return f->saturates ? copysign(f->max, v) : v;
    int exponent;
    frexp(v, &exponent);  // v = m * 2^exponent, 0.5 <= |m| < 1
    int scale =
        (exponent - 1 > f->min_exponent ? exponent - 1 : f->min_exponent) - f->fraction_bits;
    double steps = ldexp(v, -scale);
    double rounded = ldexp(towards_zero ? trunc(steps) : nearbyint(steps), scale);
    if (fabs(rounded) > f->max)
        return copysign(f->saturates || towards_zero ? f->max : (double)INFINITY, v);
    return rounded;
}

double ir_round_float(ScalarKind kind, double v, bool towards_zero)
{
    static const FloatFormat formats[SCALAR_COUNT] = {
        [SCALAR_E4M3] = { 3, -6, 448, true },
        [SCALAR_E5M2] = { 2, -14, 57344, true },
        [SCALAR_F16] = { 10, -14, 65504, false },
        [SCALAR_BF16] = { 7, -126, 0x1.fep127, false },
        [SCALAR_F32] = { 23, -126, 0x1.fffffep127, false },
    };
    return formats[kind].fraction_bits ? round_to_format(&formats[kind], v, towards_zero) : v;
}

double ir_float_of_int(ScalarKind to, int64_t v, bool is_unsigned)
{
    bool negative = !is_unsigned && v < 0;
    uint64_t magnitude = negative ? 0 - (uint64_t)v : (uint64_t)v;
    if (scalar_info[to].bits < 64 && magnitude >> 53 != 0) {
        // Round to odd on the way through the double, so that the second rounding sees the truth.
        uint64_t sticky = (magnitude & 0xfff) != 0;
        magnitude = (magnitude & ~UINT64_C(0xfff)) | sticky << 12;
    }
    double d = (double)magnitude;
    return ir_round_float(to, negative ? -d : d, false);
}

IrConst ir_const_of_int(const Type *type, int64_t v)
{
    const Type *elem = type_elem(type);
    if (elem->kind == TYPE_PTR)
        return (IrConst){ .i = v };
    if (type_is_float(elem) || type_is_fp8(elem))
        return (IrConst){ .is_float = true, .f = ir_float_of_int(elem->scalar, v, false) };
    return (IrConst){ .i = ir_wrap_int(elem->scalar, v) };
}

IrConst ir_const_of_float(const Type *type, double v)
{
    return (IrConst){ .is_float = true, .f = ir_round_float(type_scalar_kind(type), v, false) };
}

bool ir_const_equal(IrConst a, IrConst b)
{
    if (a.is_float != b.is_float)
        return false;
    uint64_t x = 0, y = 0;
    memcpy(&x, &a.f, sizeof x);
    memcpy(&y, &b.f, sizeof y);
    return a.is_float ? x == y : a.i == b.i;
}
