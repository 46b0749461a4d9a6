/// Comparing results element by element.
#include "tune_compare.h"
#include <math.h>
#include <string.h>

typedef struct TypeInfo {
    size_t size;
    bool is_float;
    double tolerance;
} TypeInfo;

static const TypeInfo types[] = {
    [NEWT_I1] = { 1, false, 0 },       [NEWT_I8] = { 1, false, 0 },
    [NEWT_I16] = { 2, false, 0 },      [NEWT_I32] = { 4, false, 0 },
    [NEWT_I64] = { 8, false, 0 },      [NEWT_U8] = { 1, false, 0 },
    [NEWT_U16] = { 2, false, 0 },      [NEWT_U32] = { 4, false, 0 },
    [NEWT_U64] = { 8, false, 0 },      [NEWT_F8E4M3] = { 1, true, 0.13 },
    [NEWT_F8E5M2] = { 1, true, 0.25 }, [NEWT_F16] = { 2, true, 4e-3 },
    [NEWT_BF16] = { 2, true, 2e-2 },   [NEWT_F32] = { 4, true, 4e-3 },
    [NEWT_F64] = { 8, true, 1e-9 },
};

size_t newti_type_size(NewtType type)
{
    return types[type].size;
}

/// A float of 8 bits: sign, exponent, fraction. E4M3 has no infinity and one NaN pattern; E5M2 is
/// as IEEE's.
static double fp8_value(unsigned bits, unsigned fraction_bits)
{
    const unsigned exponent_bits = 7 - fraction_bits, bias = (1U << (exponent_bits - 1)) - 1;
    const unsigned fraction = bits & ((1U << fraction_bits) - 1);
    const unsigned exponent = bits >> fraction_bits & ((1U << exponent_bits) - 1);
    const double sign = bits & 0x80 ? -1 : 1, one = (double)(1U << fraction_bits);
    if (fraction_bits == 3 && (bits & 0x7F) == 0x7F)
        return NAN;
    if (fraction_bits == 2 && exponent == 31)
        return fraction ? NAN : sign * INFINITY;
    double scale = 1;
    for (unsigned e = exponent ? exponent : 1; e > bias; e--)
        scale *= 2;
    for (unsigned e = exponent ? exponent : 1; e < bias; e++)
        scale /= 2;
    return sign * scale * ((exponent ? 1 : 0) + fraction / one);
}

/// The element `index` as a double. Integers are compared by their bytes; this shows them.
static double value_at(NewtType type, const void *array, size_t index)
{
    const char *at = (const char *)array + index * types[type].size;
#define AS(Type)                          \
    do {                                  \
        Type value;                       \
        memcpy(&value, at, sizeof value); \
        return (double)value;             \
    } while (0)
    NewtF16 half;
    NewtBf16 brain;
    switch (type) {
    case NEWT_I1:
    case NEWT_U8: AS(uint8_t);
    case NEWT_I8: AS(int8_t);
    case NEWT_I16: AS(int16_t);
    case NEWT_U16: AS(uint16_t);
    case NEWT_I32: AS(int32_t);
    case NEWT_U32: AS(uint32_t);
    case NEWT_I64: AS(int64_t);
    case NEWT_U64: AS(uint64_t);
    case NEWT_F8E4M3: return fp8_value((unsigned char)*at, 3);
    case NEWT_F8E5M2: return fp8_value((unsigned char)*at, 2);
    case NEWT_F16: memcpy(&half, at, sizeof half); return (double)newt_f16_to_float(half);
    case NEWT_BF16: memcpy(&brain, at, sizeof brain); return (double)newt_bf16_to_float(brain);
    case NEWT_F32: AS(float);
    case NEWT_F64: AS(double);
    }
#undef AS
    return 0;
}

/// The mean square of what is finite. Its root is not needed: tolerances are squared instead.
static double mean_square(NewtType type, const void *want, size_t count)
{
    double sum = 0;
    size_t finite = 0;
    for (size_t i = 0; i < count; i++) {
        const double v = value_at(type, want, i);
        if (!isfinite(v))
            continue;
        sum += v * v;
        finite++;
    }
    return finite ? sum / (double)finite : 0;
}

static bool is_near(double got, double want, double mean, double tolerance, TuneTolerance given)
{
    if (got == want || (isnan(got) && isnan(want)))
        return true;
    if (!isfinite(got) || !isfinite(want))
        return false;
    const double error = got > want ? got - want : want - got, size = want < 0 ? -want : want;
    if (given.rtol > 0 || given.atol > 0)
        return error <= given.atol + given.rtol * size;
    return error <= tolerance * size || error * error <= tolerance * tolerance * mean;
}

static bool is_poison(const char *at, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)at[i] != 0xFF)
            return false;
    return true;
}

bool newti_tune_equal(const TuneComparison *c, TuneMismatch *at, size_t *compared)
{
    const TypeInfo *info = &types[c->type];
    const size_t count = c->bytes / info->size;
    *compared += count;
    if (!c->poison && memcmp(c->got, c->want, c->bytes) == 0)
        return true;
    const double mean = info->is_float ? mean_square(c->type, c->want, count) : 0;
    for (size_t i = 0; i < count; i++) {
        const char *g = (const char *)c->got + i * info->size,
                   *w = (const char *)c->want + i * info->size;
        if (c->poison && is_poison(w, info->size)) {
            --*compared;
            continue;
        }
        if (memcmp(g, w, info->size) == 0)
            continue;
        const double x = value_at(c->type, c->got, i), y = value_at(c->type, c->want, i);
        if (info->is_float && is_near(x, y, mean, info->tolerance, c->tolerance))
            continue;
        if (at)
            *at = (TuneMismatch){ i, x, y };
        return false;
    }
    return true;
}
