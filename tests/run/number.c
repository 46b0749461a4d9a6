// number.c - values, rounding and comparison of every scalar type, for expected values.
#include "number.h"

#include <float.h>
#include <inttypes.h>

_Static_assert(LDBL_MANT_DIG >= 64, "expected values need a long double that holds every int64");

/// A binary float format: `digits` with the hidden bit, exponents of normal values from `low` to
/// `high` (value < 2^high).
typedef struct Format {
    int digits, low, high;
    Num largest;
    bool infinite;  ///< has infinities; otherwise casts saturate
} Format;

static const Format formats[] = {
    [NEWT_F8E4M3] = { 4, -6, 9, 448.0L, false },
    [NEWT_F8E5M2] = { 3, -14, 16, 57344.0L, false },
    [NEWT_F16] = { 11, -14, 16, 65504.0L, true },
    [NEWT_BF16] = { 8, -126, 128, 0x1.fep127L, true },
    [NEWT_F32] = { 24, -126, 128, 0x1.fffffep127L, true },
    [NEWT_F64] = { 53, -1022, 1024, 0x1.fffffffffffffp1023L, true },
};

static const struct {
    const char *name;
    unsigned bits;
    bool is_signed, is_float;
} infos[] = {
    [NEWT_I1] = { "i1", 8, false, false },     [NEWT_I8] = { "i8", 8, true, false },
    [NEWT_I16] = { "i16", 16, true, false },   [NEWT_I32] = { "i32", 32, true, false },
    [NEWT_I64] = { "i64", 64, true, false },   [NEWT_U8] = { "u8", 8, false, false },
    [NEWT_U16] = { "u16", 16, false, false },  [NEWT_U32] = { "u32", 32, false, false },
    [NEWT_U64] = { "u64", 64, false, false },  [NEWT_F8E4M3] = { "e4m3", 8, true, true },
    [NEWT_F8E5M2] = { "e5m2", 8, true, true }, [NEWT_F16] = { "f16", 16, true, true },
    [NEWT_BF16] = { "bf16", 16, true, true },  [NEWT_F32] = { "f32", 32, true, true },
    [NEWT_F64] = { "f64", 64, true, true },
};

size_t num_size(NewtType t)
{
    return infos[t].bits / 8;
}

bool num_is_float(NewtType t)
{
    return infos[t].is_float;
}

bool num_is_signed(NewtType t)
{
    return infos[t].is_signed;
}

unsigned num_bits(NewtType t)
{
    return infos[t].bits;
}

const char *num_name(NewtType t)
{
    return infos[t].name;
}

uint64_t num_code(NewtType t, const void *at, size_t i)
{
    const unsigned char *p = (const unsigned char *)at + i * num_size(t);
    uint64_t code = 0;
    for (size_t b = 0; b < num_size(t); b++)
        code |= (uint64_t)p[b] << (8 * b);
    return code;
}

void num_put_code(NewtType t, void *at, size_t i, uint64_t code)
{
    unsigned char *p = (unsigned char *)at + i * num_size(t);
    for (size_t b = 0; b < num_size(t); b++)
        p[b] = (unsigned char)(code >> (8 * b));
}

static Num float_of_code(NewtType t, uint64_t code)
{
    const Format *f = &formats[t];
    int fraction_bits = f->digits - 1, exponent_bits = (int)num_bits(t) - f->digits;
    uint64_t fraction = code & ((UINT64_C(1) << fraction_bits) - 1);
    int top = (1 << exponent_bits) - 1, exponent = (int)(code >> fraction_bits) & top;
    bool negative = code >> (num_bits(t) - 1) & 1;
    Num v;
    if (t == NEWT_F8E4M3 && (code & 0x7f) == 0x7f)
        v = NAN;
    else if (t != NEWT_F8E4M3 && exponent == top)
        v = fraction ? (Num)NAN : (Num)INFINITY;
    else if (exponent == 0)
        v = ldexpl((Num)fraction, f->low - fraction_bits);
    else
        v = ldexpl((Num)(fraction | UINT64_C(1) << fraction_bits),
                   f->low + exponent - 1 - fraction_bits);
    return negative ? -v : v;
}

static uint64_t float_code(NewtType t, Num v)
{
    const Format *f = &formats[t];
    int fraction_bits = f->digits - 1, exponent_bits = (int)num_bits(t) - f->digits;
    uint64_t sign = signbit(v) ? UINT64_C(1) << (num_bits(t) - 1) : 0,
             top = (UINT64_C(1) << exponent_bits) - 1;
    if (isnan(v))
        return sign |
               (t == NEWT_F8E4M3 ? 0x7f
                                 : top << fraction_bits | UINT64_C(1) << (fraction_bits - 1));
    v = fabsl(v);
    if (isinf(v))
        return sign | top << fraction_bits;
    if (v < ldexpl(1, f->low))
        return sign | (uint64_t)ldexpl(v, fraction_bits - f->low);
    int e;
    Num m = frexpl(v, &e);
    uint64_t fraction = (uint64_t)ldexpl(m, f->digits) - (UINT64_C(1) << fraction_bits);
    return sign | (uint64_t)(e - f->low) << fraction_bits | fraction;
}

Num num_get(NewtType t, const void *at, size_t i)
{
    uint64_t code = num_code(t, at, i);
    if (t == NEWT_I1)
        return code != 0;
    if (num_is_float(t))
        return float_of_code(t, code);
    if (num_is_signed(t) && code >> (num_bits(t) - 1) & 1)
        return -(Num)((~code + 1) &
                      (num_bits(t) == 64 ? UINT64_MAX : (UINT64_C(1) << num_bits(t)) - 1));
    return (Num)code;
}

void num_put_int(NewtType t, void *at, size_t i, uint64_t value)
{
    num_put_code(t, at, i, t == NEWT_I1 ? value != 0 : value);
}

/// The value rounded to the precision of a float type, to nearest even or towards zero; not yet its
/// range.
static Num round_digits(const Format *f, Num v, bool to_zero)
{
    if (v == 0 || !isfinite(v))
        return v;
    int e;
    frexpl(v, &e);
    int unit = (e - 1 < f->low ? f->low : e - 1) - (f->digits - 1);
    Num scaled = ldexpl(v, -unit);
    return copysignl(ldexpl(to_zero ? truncl(scaled) : rintl(scaled), unit), v);
}

static void put_float(NewtType t, void *at, size_t i, Num v, bool to_zero)
{
    const Format *f = &formats[t];
    Num r = round_digits(f, v, to_zero);
    if (fabsl(r) > f->largest) {
        bool stays = !f->infinite || (to_zero && !isinf(v));
        r = copysignl(stays ? f->largest : (Num)INFINITY, v);
    }
    num_put_code(t, at, i, float_code(t, r));
}

static void put_integer(NewtType t, void *at, size_t i, Num v)
{
    if (t == NEWT_I1) {
        num_put_code(t, at, i, isnan(v) || v != 0);
        return;
    }
    Num low = num_is_signed(t) ? -ldexpl(1, (int)num_bits(t) - 1) : 0;
    Num high = ldexpl(1, (int)num_bits(t) - (num_is_signed(t) ? 1 : 0)) - 1;
    v = isnan(v) ? 0 : truncl(v);
    v = v < low ? low : v > high ? high : v;
    num_put_code(t, at, i, v < 0 ? (uint64_t)(int64_t)v : (uint64_t)v);
}

void num_put(NewtType t, void *at, size_t i, Num v)
{
    if (num_is_float(t))
        put_float(t, at, i, v, false);
    else
        put_integer(t, at, i, v);
}

void num_put_rtz(NewtType t, void *at, size_t i, Num v)
{
    if (num_is_float(t))
        put_float(t, at, i, v, true);
    else
        put_integer(t, at, i, v);
}

Num num_round(NewtType t, Num v)
{
    uint64_t room = 0;
    num_put(t, &room, 0, v);
    return num_get(t, &room, 0);
}

void num_cast(NewtType from, const void *in, NewtType to, void *out, size_t i)
{
    if (from == to && from != NEWT_I1) {
        num_put_code(to, out, i, num_code(from, in, i));
        return;
    }
    if (num_is_float(from) || num_is_float(to)) {
        Num v = num_get(from, in, i);
        bool through_f32 = !num_is_float(from) && (to == NEWT_F8E4M3 || to == NEWT_F8E5M2);
        num_put(to, out, i, through_f32 ? num_round(NEWT_F32, v) : v);
        return;
    }
    uint64_t code = num_code(from, in, i);
    if (from == NEWT_I1)
        code = code != 0;
    if (num_is_signed(from) && num_bits(from) < 64 && code >> (num_bits(from) - 1) & 1)
        code |= UINT64_MAX << num_bits(from);
    num_put_int(to, out, i, code);
}

Num num_ulp(NewtType t, Num v)
{
    const Format *f = &formats[t];
    int e;
    if (v == 0 || !isfinite(v))
        e = f->low + 1;
    else
        frexpl(v, &e);
    if (e > f->high)
        e = f->high;
    return ldexpl(1, (e - 1 < f->low ? f->low : e - 1) - (f->digits - 1));
}

static bool is_nan_code(NewtType t, uint64_t code)
{
    return num_is_float(t) && isnan(float_of_code(t, code));
}

void num_same(NewtType t, const void *got, const void *want, size_t count, const char *what)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t g = num_code(t, got, i), w = num_code(t, want, i);
        if (g != w && !(is_nan_code(t, g) && is_nan_code(t, w)))
            fail_msg("%s: %s element %zu is %.21Lg (0x%" PRIx64 "), should be %.21Lg (0x%" PRIx64
                     ")",
                     what, num_name(t), i, num_get(t, got, i), g, num_get(t, want, i), w);
    }
}

Num num_near(NewtType t, const void *got, size_t i, Num want, Num ulps, const char *what)
{
    Num g = num_get(t, got, i), rounded = num_round(t, want);
    bool same = (isnan(g) && isnan(want)) || (g == rounded && !signbit(g) == !signbit(rounded));
    Num ulp = num_ulp(t, want), off = fabsl(g - want) / ulp;
    if (same)
        return isfinite(off) ? off : 0;
    bool largest =
        isinf(g) && fabsl(want) + ulps * ulp > formats[t].largest && !signbit(g) == !signbit(want);
    bool near = !isnan(g) && isfinite(g) && off <= ulps && !isinf(want);
    bool zero_sign = want == 0 && g == 0;
    if ((near && !zero_sign) || largest)
        return near ? off : 0;
    fail_msg("%s: %s element %zu is %.21Lg, should be %.21Lg within %Lg ulp (%.3Lg off)", what,
             num_name(t), i, g, want, ulps, off);
    return off;
}

/// A random float of any magnitude, often with few significant bits: ties of narrower types.
static uint64_t random_float(RunCx *cx, NewtType t)
{
    int fraction_bits = formats[t].digits - 1;
    uint64_t code = run_random(cx);
    if (run_random(cx) % 2)
        code &= UINT64_MAX << run_between(cx, 0, fraction_bits);
    switch (run_random(cx) % 4) {
    case 0: return code;
    case 1: return float_code(t, num_round(t, (Num)run_between(cx, -70000, 70000) / 4));
    default: {
        Num m = 1 + ldexpl((Num)(code & ((UINT64_C(1) << fraction_bits) - 1)), -fraction_bits);
        Num v = ldexpl(m, (int)run_between(cx, -30, 70));
        return float_code(t, num_round(t, run_random(cx) % 2 ? v : -v));
    }
    }
}

static uint64_t random_integer(RunCx *cx, NewtType t)
{
    uint64_t code = run_random(cx) >> run_between(cx, 0, 63);
    return run_random(cx) % 2 && num_is_signed(t) ? ~code + 1 : code;
}

/// Where ranges of types end, ties of narrower types, and what is no number.
static const Num specials[] = {
    0,
    -0.0L,
    1,
    -1,
    0.5L,
    -0.5L,
    1.5L,
    2.5L,
    127,
    128,
    -128,
    -129,
    255,
    256,
    300,
    32767,
    32768,
    -32769,
    65504,
    65519.9L,
    65520,
    65535,
    65536,
    70000,
    2049,
    16777217,
    2147483647,
    2147483648.0L,
    -2147483648.0L,
    -2147483649.0L,
    4294967295.0L,
    4294967296.0L,
    3e9L,
    9223372036854775807.0L,
    -9223372036854775808.0L,
    18446744073709551615.0L,
    1e20L,
    -1e20L,
    448,
    464,
    465,
    500,
    61440,
    61441,
    0x1p-10L,
    0x1p-9L,
    0x1p-24L,
    0x1p-25L,
    0x1.8p-25L,
    0x1p-126L,
    0x1p-149L,
    1e-40L,
    3.4e38L,
    1e300L,
    0x1.03p0L,
    INFINITY,
    -INFINITY,
    NAN,
    1.0625000000000001L,
    1.0625L,
    1.0625001L,
    1.125L,
    57344,
};
enum { SPECIAL_COUNT = sizeof specials / sizeof *specials };

void num_fill(RunCx *cx, NewtType t, void *at, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (t == NEWT_I1)
            num_put_code(t, at, i, run_random(cx) & 1);
        else if (num_bits(t) <= 16)
            num_put_code(t, at, i, i);
        else if (i < SPECIAL_COUNT)
            num_put(t, at, i, specials[i]);
        else
            num_put_code(t, at, i, num_is_float(t) ? random_float(cx, t) : random_integer(cx, t));
    }
}
