// convert.cuh - conversions between all number types, the same bits on every chip and on the host.
//
// To a 16-bit or 8-bit float: one rounding (nearest even or towards zero), subnormals kept; fp8
// saturates, a NaN stays a NaN. Float to integer truncates and saturates, a NaN gives 0. Integer to
// integer wraps. To bool: not equal to zero. cvt where the chip has it, else nt_soft_narrow.
#ifndef NT_CONVERT_CUH
#define NT_CONVERT_CUH
#include "newt/base.cuh"

// Rounds a float to EXP exponent and MAN mantissa bits. TOP is the code of the largest finite number,
// NOT_A_NUMBER the code for NaNs; SATURATE gives TOP where others give infinity (TOP + 1).
template <int EXP, int MAN, unsigned TOP, unsigned NOT_A_NUMBER, bool SATURATE>
NT_DEV unsigned nt_soft_narrow(float value, bool to_zero)
{
    const unsigned f = __float_as_uint(value), a = f & 0x7fffffffu;
    const unsigned sign = (f >> 31) << (EXP + MAN);
    const int bias = (1 << (EXP - 1)) - 1, least = 127 - bias;  // least: fp32 exponent that becomes 0
    const int exponent = (int)(a >> 23);
    unsigned bits = a - ((unsigned)least << 23);  // with the exponent rebiased
    int drop = 23 - MAN;

    if (a > 0x7f800000u)
        return NOT_A_NUMBER;
    if (EXP < 8 && exponent <= least) {  // a subnormal result: the hidden bit becomes explicit
        bits = (a & 0x7fffffu) | 0x800000u;
        drop += least - exponent + 1;
        if (drop > 25)  // less than half of the least subnormal
            return sign;
    }
    if (!to_zero)
        bits += (1u << (drop - 1)) - 1 + ((bits >> drop) & 1);
    bits >>= drop;
    if (bits > TOP)
        bits = SATURATE || (to_zero && a != 0x7f800000u) ? TOP : TOP + 1;
    return sign | bits;
}

// The float with the value of a code; exact. FINITE: the largest exponent holds numbers too (e4m3).
template <int EXP, int MAN, bool FINITE> NT_DEV float nt_soft_widen(unsigned code)
{
    const unsigned sign = (code >> (EXP + MAN)) << 31;
    const unsigned bits = code & ((1u << (EXP + MAN)) - 1);
    const unsigned top = ((1u << EXP) - 1) << MAN;
    // As a float these bits are the number less the difference of the exponents' biases.
    const float scale = __uint_as_float((unsigned)(127 + 128 - (1 << (EXP - 1))) << 23);

    if (FINITE ? bits == (1u << (EXP + MAN)) - 1 : bits >= top)
        return __uint_as_float(sign | 0x7f800000u | (FINITE ? 0x7fffffu : (bits & ~top) << (23 - MAN)));
    return __uint_as_float(sign | __float_as_uint(__uint_as_float(bits << (23 - MAN)) * scale));
}

NT_DEV float nt_widen(nt_f16 x)
{
#if NT_HAS_CVT_F16
    float r;
    asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(x.bits));
    return r;
#else
    return nt_soft_widen<5, 10, false>(x.bits);
#endif
}

NT_DEV float nt_widen(nt_bf16 x)
{
    return __uint_as_float((unsigned)x.bits << 16);
}

NT_DEV float nt_widen(nt_e4m3 x)
{
#if NT_HAS_CVT_FP8
    unsigned pair;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"((unsigned short)x.bits));
    return nt_widen(nt_f16 { (unsigned short)pair });
#else
    return nt_soft_widen<4, 3, true>(x.bits);
#endif
}

NT_DEV float nt_widen(nt_e5m2 x)
{
    return nt_widen(nt_f16 { (unsigned short)(x.bits << 8) });
}

// From a float, to the nearest.
template <class T> NT_DEV T nt_narrow(float x);
// From a float, towards zero.
template <class T> NT_DEV T nt_narrow_rtz(float x);

template <> NT_DEV nt_f16 nt_narrow<nt_f16>(float x)
{
#if NT_HAS_CVT_F16
    nt_f16 r;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r.bits) : "f"(x));
    return r;
#else
    return nt_f16 { (unsigned short)nt_soft_narrow<5, 10, 0x7bff, 0x7fff, false>(x, false) };
#endif
}

template <> NT_DEV nt_f16 nt_narrow_rtz<nt_f16>(float x)
{
#if NT_HAS_CVT_F16
    nt_f16 r;
    asm("cvt.rz.f16.f32 %0, %1;" : "=h"(r.bits) : "f"(x));
    return r;
#else
    return nt_f16 { (unsigned short)nt_soft_narrow<5, 10, 0x7bff, 0x7fff, false>(x, true) };
#endif
}

template <> NT_DEV nt_bf16 nt_narrow<nt_bf16>(float x)
{
#if NT_HAS_CVT_BF16
    nt_bf16 r;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r.bits) : "f"(x));
    return r;
#else
    return nt_bf16 { (unsigned short)nt_soft_narrow<8, 7, 0x7f7f, 0x7fff, false>(x, false) };
#endif
}

template <> NT_DEV nt_bf16 nt_narrow_rtz<nt_bf16>(float x)
{
#if NT_HAS_CVT_BF16
    nt_bf16 r;
    asm("cvt.rz.bf16.f32 %0, %1;" : "=h"(r.bits) : "f"(x));
    return r;
#else
    return nt_bf16 { (unsigned short)nt_soft_narrow<8, 7, 0x7f7f, 0x7fff, false>(x, true) };
#endif
}

template <> NT_DEV nt_e4m3 nt_narrow<nt_e4m3>(float x)
{
#if NT_HAS_CVT_FP8
    unsigned short pair;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(x));
    return nt_e4m3 { (unsigned char)pair };
#else
    return nt_e4m3 { (unsigned char)nt_soft_narrow<4, 3, 0x7e, 0x7f, true>(x, false) };
#endif
}

template <> NT_DEV nt_e4m3 nt_narrow_rtz<nt_e4m3>(float x)
{
    return nt_e4m3 { (unsigned char)nt_soft_narrow<4, 3, 0x7e, 0x7f, true>(x, true) };
}

template <> NT_DEV nt_e5m2 nt_narrow<nt_e5m2>(float x)
{
#if NT_HAS_CVT_FP8
    unsigned short pair;
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(x));
    return nt_e5m2 { (unsigned char)pair };
#else
    return nt_e5m2 { (unsigned char)nt_soft_narrow<5, 2, 0x7b, 0x7f, true>(x, false) };
#endif
}

template <> NT_DEV nt_e5m2 nt_narrow_rtz<nt_e5m2>(float x)
{
    return nt_e5m2 { (unsigned char)nt_soft_narrow<5, 2, 0x7b, 0x7f, true>(x, true) };
}

// Rounding to odd: of the two floats around a number the one with an odd last bit, so that a second
// rounding to fewer bits gives what one rounding of the number itself would.
NT_DEV float nt_pick_odd(float below, float above)
{
    return __float_as_uint(below) & 1 ? below : above;
}

NT_DEV float nt_odd_f32(float x)
{
    return x;
}

NT_DEV float nt_odd_f32(double x)
{
    return nt_pick_odd(__double2float_rd(x), __double2float_ru(x));
}

template <class T> NT_DEV float nt_odd_f32(T x)
{
    if constexpr (sizeof(T) < 4)
        return (float)x;
    else if constexpr (sizeof(T) == 4 && (T)-1 < (T)0)
        return nt_pick_odd(__int2float_rd(x), __int2float_ru(x));
    else if constexpr (sizeof(T) == 4)
        return nt_pick_odd(__uint2float_rd(x), __uint2float_ru(x));
    else if constexpr ((T)-1 < (T)0)
        return nt_pick_odd(__ll2float_rd(x), __ll2float_ru(x));
    else
        return nt_pick_odd(__ull2float_rd(x), __ull2float_ru(x));
}

// Float to integer. The instructions saturate; what they make of a NaN depends on the widths.
NT_DEV int nt_to_int(float x) { return __float2int_rz(x); }
NT_DEV int nt_to_int(double x) { return x != x ? 0 : __double2int_rz(x); }
NT_DEV unsigned nt_to_uint(float x) { return __float2uint_rz(x); }
NT_DEV unsigned nt_to_uint(double x) { return x != x ? 0 : __double2uint_rz(x); }
NT_DEV long long nt_to_ll(float x) { return x != x ? 0 : __float2ll_rz(x); }
NT_DEV long long nt_to_ll(double x) { return x != x ? 0 : __double2ll_rz(x); }
NT_DEV unsigned long long nt_to_ull(float x) { return x != x ? 0 : __float2ull_rz(x); }
NT_DEV unsigned long long nt_to_ull(double x) { return x != x ? 0 : __double2ull_rz(x); }

template <class T, class F> NT_DEV T nt_saturate(F x)
{
    constexpr bool is_signed = (T)-1 < (T)0;
    if constexpr (sizeof(T) == 8 && is_signed)
        return nt_to_ll(x);
    else if constexpr (sizeof(T) == 8)
        return nt_to_ull(x);
    else if constexpr (sizeof(T) == 4 && is_signed)
        return nt_to_int(x);
    else if constexpr (sizeof(T) == 4)
        return nt_to_uint(x);
    else {
        constexpr int hi = (1 << (8 * sizeof(T) - is_signed)) - 1, lo = is_signed ? -hi - 1 : 0;
        int i = nt_to_int(x);
        return (T)(i < lo ? lo : i > hi ? hi : i);
    }
}

template <class To, class From> NT_DEV To nt_cast(From x)
{
    if constexpr (nt_same<To, From>)
        return x;
    else if constexpr (nt_kind<From> == NT_SMALL)
        return nt_cast<To>(nt_widen(x));
    else if constexpr (nt_same<To, bool>)
        return x != (From)0;
    else if constexpr (nt_kind<To> == NT_SMALL)
        return nt_narrow<To>(nt_odd_f32(x));
    else if constexpr (nt_kind<To> == NT_INT && nt_kind<From> == NT_FLOAT)
        return nt_saturate<To>(x);
    else
        return (To)x;
}

// A narrowing float to float conversion towards zero; two in a row are as good as one.
template <class To, class From> NT_DEV To nt_cast_rtz(From x)
{
    if constexpr (nt_kind<From> == NT_SMALL)
        return nt_cast_rtz<To>(nt_widen(x));
    else if constexpr (nt_kind<To> != NT_SMALL)
        return nt_same<From, double> && nt_same<To, float> ? (To)__double2float_rz((double)x) : (To)x;
    else if constexpr (nt_same<From, double>)
        return nt_narrow_rtz<To>(__double2float_rz(x));
    else
        return nt_narrow_rtz<To>(x);
}

// Two neighbours at once: one instruction where the chip has it.
NT_DEV void nt_cast_pair(nt_f16 *to, float low, float high)
{
#if NT_HAS_CVT_BF16
    unsigned both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    to[0].bits = (unsigned short)both;
    to[1].bits = (unsigned short)(both >> 16);
#else
    to[0] = nt_narrow<nt_f16>(low);
    to[1] = nt_narrow<nt_f16>(high);
#endif
}

NT_DEV void nt_cast_pair(nt_bf16 *to, float low, float high)
{
#if NT_HAS_CVT_BF16
    unsigned both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    to[0].bits = (unsigned short)both;
    to[1].bits = (unsigned short)(both >> 16);
#else
    to[0] = nt_narrow<nt_bf16>(low);
    to[1] = nt_narrow<nt_bf16>(high);
#endif
}

#endif
