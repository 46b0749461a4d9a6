/* ---- support for kernels on the host: one function an operation and type ---- */
#include <math.h>
#include <stdint.h>
#include <string.h>

/* a * b + c is rounded twice, as written: clang obeys the pragma, gcc the attribute */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#define NTH_KERNEL
#elif defined(__GNUC__)
#define NTH_KERNEL __attribute__((optimize("fp-contract=off")))
#else
#define NTH_KERNEL
#endif
#if defined(__GNUC__)
#define NTH_FN __attribute__((unused)) static inline
#else
#define NTH_FN static inline
#endif

NTH_FN unsigned char *nth_ptr_add(const unsigned char *p, int64_t n, int64_t size)
{
    return (unsigned char *)((uintptr_t)p + (uintptr_t)((uint64_t)n * (uint64_t)size));
}
NTH_FN int64_t nth_ptr_diff(const unsigned char *a, const unsigned char *b, int64_t size)
{
    return (int64_t)((uintptr_t)a - (uintptr_t)b) / size;
}
NTH_FN uint8_t nth_eq_ptr(const unsigned char *a, const unsigned char *b) { return (uint8_t)(a == b); }
NTH_FN uint8_t nth_ne_ptr(const unsigned char *a, const unsigned char *b) { return (uint8_t)(a != b); }

/* Rounds to a format of `bits` fraction bits and least normal exponent `least`: to nearest even, or
 * towards zero. The format's overflow is the caller's. */
NTH_FN double nth_quantum(double x, int bits, int least)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    int e = (int)(b >> 52 & 0x7ff) - 1023;
    e = e < least ? least : e > 1000 ? 1000 : e;
    b = (uint64_t)(e - bits + 1023) << 52;
    memcpy(&x, &b, sizeof b);
    return x;
}
NTH_FN double nth_nearest(double x, int bits, int least)
{
    const double q = nth_quantum(x, bits, least), c = 6755399441055744.0; /* 1.5 * 2^52 */
    double scaled = x / q;
    if (!(fabs(scaled) < 4503599627370496.0))
        return x; /* infinity, NaN */
    return copysign(((scaled + c) - c) * q, x);
}
NTH_FN double nth_towards_zero(double x, int bits, int least)
{
    const double q = nth_quantum(x, bits, least);
    return trunc(x / q) * q;
}
NTH_FN double nth_saturate(double x, double most) { return x > most ? most : x < -most ? -most : x; }
NTH_FN float nth_round_f32(double x) { return (float)x; }
NTH_FN float nth_round_f16(double x)
{
    const double r = nth_nearest(x, 10, -14);
    return fabs(r) > 65504.0 ? (float)copysign(INFINITY, r) : (float)r;
}
NTH_FN float nth_round_bf16(double x) { return (float)nth_nearest(x, 7, -126); }
NTH_FN float nth_round_e4m3(double x) { return (float)nth_saturate(nth_nearest(nth_saturate(x, 448.0), 3, -6), 448.0); }
NTH_FN float nth_round_e5m2(double x)
{
    return (float)nth_saturate(nth_nearest(nth_saturate(x, 57344.0), 2, -14), 57344.0);
}
/* tf32 keeps 10 bits of fraction; halves go away from zero, as cvt.rna does */
NTH_FN float nth_round_tf32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if ((bits & 0x7f800000u) != 0x7f800000u)
        bits = (bits + 0x1000u) & 0xffffe000u;
    memcpy(&x, &bits, sizeof x);
    return x;
}
NTH_FN float nth_round_f32_rtz(double x)
{
    const float r = (float)x;
    return isinf(x) || !(fabs((double)r) > fabs(x)) ? r : nextafterf(r, 0.0f);
}
NTH_FN float nth_round_f16_rtz(double x)
{
    return isinf(x) ? (float)x : (float)nth_saturate(nth_towards_zero(x, 10, -14), 65504.0);
}
NTH_FN float nth_round_bf16_rtz(double x)
{
    return isinf(x) ? (float)x : (float)nth_saturate(nth_towards_zero(x, 7, -126), 3.3895313892515355e38);
}
NTH_FN float nth_round_e4m3_rtz(double x) { return (float)nth_saturate(nth_towards_zero(nth_saturate(x, 448.0), 3, -6), 448.0); }
NTH_FN float nth_round_e5m2_rtz(double x)
{
    return (float)nth_saturate(nth_towards_zero(nth_saturate(x, 57344.0), 2, -14), 57344.0);
}

/* Integers to narrow floats with one rounding: below 2^53 a double is exact, and above it setting the
 * last bit when something is lost makes the second rounding right. */
NTH_FN double nth_odd_u(uint64_t x)
{
    return x >> 53 ? (double)(x >> 11 << 11 | (uint64_t)((x & 2047) != 0) << 11) : (double)x;
}
NTH_FN double nth_odd_s(int64_t x) { return x < 0 ? -nth_odd_u(-(uint64_t)x) : nth_odd_u((uint64_t)x); }
#define NTH_FROM_INT(T) \
    NTH_FN float nth_int_to_##T##_s(int64_t x) { return nth_round_##T(nth_odd_s(x)); } \
    NTH_FN float nth_int_to_##T##_u(uint64_t x) { return nth_round_##T(nth_odd_u(x)); }
NTH_FROM_INT(f16)
NTH_FROM_INT(bf16)
NTH_FROM_INT(e4m3)
NTH_FROM_INT(e5m2)

/* Floats to integers: towards zero, saturating, NaN gives 0. */
#define NTH_TO_INT(T, C, LO, HI, LEAST, MOST) \
    NTH_FN C nth_to_##T(double x) { return x != x ? 0 : x <= (LO) ? (LEAST) : x >= (HI) ? (MOST) : (C)x; }
NTH_TO_INT(i8, int8_t, -128.0, 127.0, INT8_MIN, INT8_MAX)
NTH_TO_INT(i16, int16_t, -32768.0, 32767.0, INT16_MIN, INT16_MAX)
NTH_TO_INT(i32, int32_t, -2147483648.0, 2147483647.0, INT32_MIN, INT32_MAX)
NTH_TO_INT(i64, int64_t, -9223372036854775808.0, 9223372036854775808.0, INT64_MIN, INT64_MAX)
NTH_TO_INT(u8, uint8_t, 0.0, 255.0, 0, UINT8_MAX)
NTH_TO_INT(u16, uint16_t, 0.0, 65535.0, 0, UINT16_MAX)
NTH_TO_INT(u32, uint32_t, 0.0, 4294967295.0, 0, UINT32_MAX)
NTH_TO_INT(u64, uint64_t, 0.0, 18446744073709551616.0, 0, UINT64_MAX)

/* ---- bits of floats ---- */
NTH_FN uint32_t nth_to_bits_f32(float x) { uint32_t b; memcpy(&b, &x, sizeof b); return b; }
NTH_FN float nth_from_bits_f32(uint32_t b) { float x; memcpy(&x, &b, sizeof b); return x; }
NTH_FN uint64_t nth_to_bits_f64(double x) { uint64_t b; memcpy(&b, &x, sizeof b); return b; }
NTH_FN double nth_from_bits_f64(uint64_t b) { double x; memcpy(&x, &b, sizeof b); return x; }
NTH_FN uint16_t nth_to_bits_bf16(float x) { return (uint16_t)(nth_to_bits_f32(x) >> 16 | (x != x ? 0x40u : 0u)); }
NTH_FN float nth_from_bits_bf16(uint16_t b) { return nth_from_bits_f32((uint32_t)b << 16); }
/* A format of one byte or two: `bits` fraction bits, exponent bias `bias`. x is a value of the format. */
NTH_FN uint32_t nth_pack(float x, unsigned bits, int bias, uint32_t nan, uint32_t inf)
{
    uint32_t b = nth_to_bits_f32(x) & 0x7fffffffu;
    if (b > 0x7f800000u)
        return nan;
    if (b == 0x7f800000u)
        return inf;
    int e = (int)(b >> 23) - 127 + bias;
    if (e > 0)
        return (uint32_t)e << bits | (b >> (23 - bits) & ((1u << bits) - 1));
    return (uint32_t)(fabsf(x) * ldexpf(1.0f, bias - 1 + (int)bits));
}
NTH_FN float nth_unpack(uint32_t b, unsigned bits, unsigned width, int bias)
{
    const uint32_t f = b & ((1u << bits) - 1), e = b >> bits & ((1u << (width - 1 - bits)) - 1);
    const float v = e ? ldexpf((float)(f | 1u << bits), (int)e - bias - (int)bits) : ldexpf((float)f, 1 - bias - (int)bits);
    return b >> (width - 1) & 1 ? -v : v;
}
NTH_FN uint16_t nth_to_bits_f16(float x)
{
    return (uint16_t)(nth_pack(x, 10, 15, 0x7e00, 0x7c00) | (signbit(x) ? 0x8000u : 0u));
}
NTH_FN float nth_from_bits_f16(uint16_t b)
{
    if ((b & 0x7c00) == 0x7c00) {
        const float v = b & 0x3ff ? NAN : INFINITY;
        return b & 0x8000 ? -v : v;
    }
    return nth_unpack(b, 10, 16, 15);
}
NTH_FN uint8_t nth_to_bits_e4m3(float x)
{
    return (uint8_t)(nth_pack(x, 3, 7, 0x7f, 0x7e) | (signbit(x) ? 0x80u : 0u));
}
NTH_FN float nth_from_bits_e4m3(uint8_t b) { return (b & 0x7f) == 0x7f ? NAN : nth_unpack(b, 3, 8, 7); }
NTH_FN uint8_t nth_to_bits_e5m2(float x)
{
    return (uint8_t)(nth_pack(x, 2, 15, 0x7f, 0x7c) | (signbit(x) ? 0x80u : 0u));
}
NTH_FN float nth_from_bits_e5m2(uint8_t b)
{
    if ((b & 0x7c) == 0x7c) {
        const float v = b & 3 ? NAN : INFINITY;
        return b & 0x80 ? -v : v;
    }
    return nth_unpack(b, 2, 8, 15);
}

/* ---- memory: through memcpy, so free of alignment and aliasing rules ---- */
#define NTH_MEMORY(T, C, BITS, LOAD, STORE) \
    NTH_FN C nth_load_##T(const unsigned char *p) { BITS b; memcpy(&b, p, sizeof b); return LOAD; } \
    NTH_FN void nth_store_##T(unsigned char *p, C v) { const BITS b = STORE; memcpy(p, &b, sizeof b); }
NTH_MEMORY(i1, uint8_t, uint8_t, (uint8_t)(b != 0), (uint8_t)(v != 0))
NTH_MEMORY(i8, int8_t, int8_t, b, v)
NTH_MEMORY(i16, int16_t, int16_t, b, v)
NTH_MEMORY(i32, int32_t, int32_t, b, v)
NTH_MEMORY(i64, int64_t, int64_t, b, v)
NTH_MEMORY(u8, uint8_t, uint8_t, b, v)
NTH_MEMORY(u16, uint16_t, uint16_t, b, v)
NTH_MEMORY(u32, uint32_t, uint32_t, b, v)
NTH_MEMORY(u64, uint64_t, uint64_t, b, v)
NTH_MEMORY(f32, float, float, b, v)
NTH_MEMORY(f64, double, double, b, v)
NTH_MEMORY(f16, float, uint16_t, nth_from_bits_f16(b), nth_to_bits_f16(v))
NTH_MEMORY(bf16, float, uint16_t, nth_from_bits_bf16(b), nth_to_bits_bf16(v))
NTH_MEMORY(e4m3, float, uint8_t, nth_from_bits_e4m3(b), nth_to_bits_e4m3(v))
NTH_MEMORY(e5m2, float, uint8_t, nth_from_bits_e5m2(b), nth_to_bits_e5m2(v))

/* ---- integers: arithmetic wraps, through unsigned ---- */
#define NTH_INT(T, C, U, WIDTH) \
    NTH_FN C nth_add_##T(C a, C b) { return (C)((uint64_t)a + (uint64_t)b); } \
    NTH_FN C nth_sub_##T(C a, C b) { return (C)((uint64_t)a - (uint64_t)b); } \
    NTH_FN C nth_mul_##T(C a, C b) { return (C)((uint64_t)a * (uint64_t)b); } \
    NTH_FN C nth_neg_##T(C a) { return (C)(0u - (uint64_t)a); } \
    NTH_FN C nth_not_##T(C a) { return (C) ~(uint64_t)a; } \
    NTH_FN C nth_and_##T(C a, C b) { return (C)(a & b); } \
    NTH_FN C nth_or_##T(C a, C b) { return (C)(a | b); } \
    NTH_FN C nth_xor_##T(C a, C b) { return (C)(a ^ b); } \
    NTH_FN C nth_shl_##T(C a, C n) { return (U)n < (WIDTH) ? (C)((uint64_t)a << (U)n) : (C)0; } \
    NTH_FN uint8_t nth_eq_##T(C a, C b) { return (uint8_t)(a == b); } \
    NTH_FN uint8_t nth_ne_##T(C a, C b) { return (uint8_t)(a != b); } \
    NTH_FN uint8_t nth_lt_##T(C a, C b) { return (uint8_t)(a < b); } \
    NTH_FN uint8_t nth_le_##T(C a, C b) { return (uint8_t)(a <= b); } \
    NTH_FN uint8_t nth_gt_##T(C a, C b) { return (uint8_t)(a > b); } \
    NTH_FN uint8_t nth_ge_##T(C a, C b) { return (uint8_t)(a >= b); } \
    NTH_FN C nth_max_##T(C a, C b) { return a > b ? a : b; } \
    NTH_FN C nth_min_##T(C a, C b) { return a < b ? a : b; } \
    NTH_FN C nth_clamp_##T(C x, C lo, C hi) { return nth_min_##T(nth_max_##T(x, lo), hi); } \
    NTH_FN uint8_t nth_argmax_##T(C a, C best) { return (uint8_t)(a > best); } \
    NTH_FN uint8_t nth_argmin_##T(C a, C best) { return (uint8_t)(a < best); } \
    NTH_FN U nth_to_bits_##T(C a) { return (U)a; } \
    NTH_FN C nth_from_bits_##T(U a) { return (C)a; }
/* A division by zero gives -1 and the dividend as remainder, as the GPU's does; it never traps. */
#define NTH_SIGNED(T, C, U, WIDTH, LEAST) \
    NTH_INT(T, C, U, WIDTH) \
    NTH_FN C nth_idiv_##T(C a, C b) { return b == 0 ? (C)-1 : b == -1 ? nth_neg_##T(a) : (C)(a / b); } \
    NTH_FN C nth_rem_##T(C a, C b) { return b == 0 ? a : b == -1 ? (C)0 : (C)(a % b); } \
    NTH_FN C nth_cdiv_##T(C a, C b) \
    { \
        const C q = nth_idiv_##T(a, b), r = nth_rem_##T(a, b); \
        return b != 0 && r != 0 && ((r < 0) == (b < 0)) ? (C)(q + 1) : q; \
    } \
    NTH_FN C nth_shr_##T(C a, C n) { return (C)(a >> ((U)n < (WIDTH) ? (int)n : (WIDTH)-1)); } \
    NTH_FN C nth_abs_##T(C a) { return a < 0 ? nth_neg_##T(a) : a; } \
    NTH_FN uint64_t nth_trips_##T(C lo, C hi, C step) \
    { \
        return step > 0 ? lo < hi ? ((uint64_t)hi - (uint64_t)lo - 1) / (uint64_t)step + 1 : 0 \
               : step < 0 && lo > hi ? ((uint64_t)lo - (uint64_t)hi - 1) / (0u - (uint64_t)step) + 1 : 0; \
    }
#define NTH_UNSIGNED(T, C, WIDTH) \
    NTH_INT(T, C, C, WIDTH) \
    NTH_FN C nth_idiv_##T(C a, C b) { return b == 0 ? (C)-1 : (C)(a / b); } \
    NTH_FN C nth_rem_##T(C a, C b) { return b == 0 ? a : (C)(a % b); } \
    NTH_FN C nth_cdiv_##T(C a, C b) { return b == 0 ? (C)-1 : (C)(a / b + (a % b != 0)); } \
    NTH_FN C nth_shr_##T(C a, C n) { return n < (WIDTH) ? (C)(a >> n) : (C)0; } \
    NTH_FN C nth_abs_##T(C a) { return a; } \
    NTH_FN uint64_t nth_trips_##T(C lo, C hi, C step) \
    { \
        return lo < hi && step ? ((uint64_t)hi - (uint64_t)lo - 1) / (uint64_t)step + 1 : 0; \
    }
NTH_SIGNED(i8, int8_t, uint8_t, 8, INT8_MIN)
NTH_SIGNED(i16, int16_t, uint16_t, 16, INT16_MIN)
NTH_SIGNED(i32, int32_t, uint32_t, 32, INT32_MIN)
NTH_SIGNED(i64, int64_t, uint64_t, 64, INT64_MIN)
NTH_UNSIGNED(u8, uint8_t, 8)
NTH_UNSIGNED(u16, uint16_t, 16)
NTH_UNSIGNED(u32, uint32_t, 32)
NTH_UNSIGNED(u64, uint64_t, 64)

/* bool is an unsigned integer of one bit */
NTH_FN uint8_t nth_add_i1(uint8_t a, uint8_t b) { return a ^ b; }
NTH_FN uint8_t nth_sub_i1(uint8_t a, uint8_t b) { return a ^ b; }
NTH_FN uint8_t nth_mul_i1(uint8_t a, uint8_t b) { return a & b; }
NTH_FN uint8_t nth_idiv_i1(uint8_t a, uint8_t b) { return (uint8_t)(b ? a : 1); }
NTH_FN uint8_t nth_cdiv_i1(uint8_t a, uint8_t b) { return (uint8_t)(b ? a : 1); }
NTH_FN uint8_t nth_rem_i1(uint8_t a, uint8_t b) { return (uint8_t)(b ? 0 : a); }
NTH_FN uint8_t nth_neg_i1(uint8_t a) { return a; }
NTH_FN uint8_t nth_abs_i1(uint8_t a) { return a; }
NTH_FN uint8_t nth_not_i1(uint8_t a) { return a ^ 1; }
NTH_FN uint8_t nth_and_i1(uint8_t a, uint8_t b) { return a & b; }
NTH_FN uint8_t nth_or_i1(uint8_t a, uint8_t b) { return a | b; }
NTH_FN uint8_t nth_xor_i1(uint8_t a, uint8_t b) { return a ^ b; }
NTH_FN uint8_t nth_shl_i1(uint8_t a, uint8_t n) { return (uint8_t)(n ? 0 : a); }
NTH_FN uint8_t nth_shr_i1(uint8_t a, uint8_t n) { return (uint8_t)(n ? 0 : a); }
NTH_FN uint8_t nth_eq_i1(uint8_t a, uint8_t b) { return (uint8_t)(a == b); }
NTH_FN uint8_t nth_ne_i1(uint8_t a, uint8_t b) { return a ^ b; }
NTH_FN uint8_t nth_lt_i1(uint8_t a, uint8_t b) { return (uint8_t)(a < b); }
NTH_FN uint8_t nth_le_i1(uint8_t a, uint8_t b) { return (uint8_t)(a <= b); }
NTH_FN uint8_t nth_gt_i1(uint8_t a, uint8_t b) { return (uint8_t)(a > b); }
NTH_FN uint8_t nth_ge_i1(uint8_t a, uint8_t b) { return (uint8_t)(a >= b); }
NTH_FN uint8_t nth_max_i1(uint8_t a, uint8_t b) { return a | b; }
NTH_FN uint8_t nth_min_i1(uint8_t a, uint8_t b) { return a & b; }
NTH_FN uint8_t nth_clamp_i1(uint8_t x, uint8_t lo, uint8_t hi) { return (uint8_t)((x | lo) & hi); }
NTH_FN uint8_t nth_argmax_i1(uint8_t a, uint8_t best) { return (uint8_t)(a > best); }
NTH_FN uint8_t nth_argmin_i1(uint8_t a, uint8_t best) { return (uint8_t)(a < best); }
NTH_FN uint8_t nth_to_bits_i1(uint8_t a) { return a; }
NTH_FN uint8_t nth_from_bits_i1(uint8_t a) { return (uint8_t)(a & 1); }

NTH_FN uint32_t nth_umulhi_u32(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b >> 32); }
NTH_FN int32_t nth_umulhi_i32(int32_t a, int32_t b) { return (int32_t)nth_umulhi_u32((uint32_t)a, (uint32_t)b); }
NTH_FN uint64_t nth_umulhi_u64(uint64_t a, uint64_t b)
{
    const uint64_t al = a & UINT32_MAX, ah = a >> 32, bl = b & UINT32_MAX, bh = b >> 32;
    const uint64_t mid = ah * bl + (al * bl >> 32), low = al * bh + (mid & UINT32_MAX);
    return ah * bh + (mid >> 32) + (low >> 32);
}
NTH_FN int64_t nth_umulhi_i64(int64_t a, int64_t b) { return (int64_t)nth_umulhi_u64((uint64_t)a, (uint64_t)b); }

/* A signalling NaN becomes a quiet one: C's pow(NaN, 0) and pow(1, NaN) are 1 for these alone. */
NTH_FN float nth_quiet_f(float x) { return x != x ? NAN : x; }
NTH_FN double nth_quiet_(double x) { return x != x ? (double)NAN : x; }

/* ---- floats: S is the type computed in, R rounds its result to the format ---- */
#define NTH_FLOAT(T, S, F, R) \
    NTH_FN S nth_add_##T(S a, S b) { return R(a + b); } \
    NTH_FN S nth_sub_##T(S a, S b) { return R(a - b); } \
    NTH_FN S nth_mul_##T(S a, S b) { return R(a * b); } \
    NTH_FN S nth_div_##T(S a, S b) { return R(a / b); } \
    NTH_FN S nth_div_rn_##T(S a, S b) { return R(a / b); } \
    NTH_FN S nth_rem_##T(S a, S b) { return R(fmod##F(a, b)); } \
    NTH_FN S nth_pow_##T(S a, S b) { return R(pow##F(nth_quiet_##F(a), nth_quiet_##F(b))); } \
    NTH_FN S nth_neg_##T(S a) { return -a; } \
    NTH_FN S nth_abs_##T(S a) { return fabs##F(a); } \
    NTH_FN S nth_exp_##T(S a) { return R(exp##F(a)); } \
    NTH_FN S nth_exp2_##T(S a) { return R(exp2##F(a)); } \
    NTH_FN S nth_expm1_##T(S a) { return R(expm1##F(a)); } \
    NTH_FN S nth_log_##T(S a) { return R(log##F(a)); } \
    NTH_FN S nth_log2_##T(S a) { return R(log2##F(a)); } \
    NTH_FN S nth_log1p_##T(S a) { return R(log1p##F(a)); } \
    NTH_FN S nth_sqrt_##T(S a) { return R(sqrt##F(a)); } \
    NTH_FN S nth_sqrt_rn_##T(S a) { return R(sqrt##F(a)); } \
    NTH_FN S nth_rsqrt_##T(S a) { return R(1 / sqrt##F(a)); } \
    NTH_FN S nth_sin_##T(S a) { return R(sin##F(a)); } \
    NTH_FN S nth_cos_##T(S a) { return R(cos##F(a)); } \
    NTH_FN S nth_tanh_##T(S a) { return R(tanh##F(a)); } \
    NTH_FN S nth_erf_##T(S a) { return R(erf##F(a)); } \
    NTH_FN S nth_sigmoid_##T(S a) { return R(1 / (1 + exp##F(-a))); } \
    NTH_FN S nth_floor_##T(S a) { return floor##F(a); } \
    NTH_FN S nth_ceil_##T(S a) { return ceil##F(a); } \
    NTH_FN S nth_round_##T##_half(S a) { return round##F(a); } \
    NTH_FN S nth_rint_##T(S a) { return rint##F(a); } \
    NTH_FN S nth_trunc_##T(S a) { return trunc##F(a); } \
    NTH_FN uint8_t nth_isnan_##T(S a) { return (uint8_t)(a != a); } \
    NTH_FN uint8_t nth_isinf_##T(S a) { return (uint8_t)(fabs##F(a) == (S)INFINITY); } \
    NTH_FN uint8_t nth_eq_##T(S a, S b) { return (uint8_t)(a == b); } \
    NTH_FN uint8_t nth_ne_##T(S a, S b) { return (uint8_t)(a != b); } \
    NTH_FN uint8_t nth_lt_##T(S a, S b) { return (uint8_t)(a < b); } \
    NTH_FN uint8_t nth_le_##T(S a, S b) { return (uint8_t)(a <= b); } \
    NTH_FN uint8_t nth_gt_##T(S a, S b) { return (uint8_t)(a > b); } \
    NTH_FN uint8_t nth_ge_##T(S a, S b) { return (uint8_t)(a >= b); } \
    /* a NaN loses; +0 is above -0 */ \
    NTH_FN S nth_max_##T(S a, S b) { return a != a ? b : b != b ? a : a > b || (a == b && !signbit(a)) ? a : b; } \
    NTH_FN S nth_min_##T(S a, S b) { return a != a ? b : b != b ? a : a < b || (a == b && signbit(a)) ? a : b; } \
    NTH_FN S nth_max_nan_##T(S a, S b) { return a != a ? a : b != b ? b : nth_max_##T(a, b); } \
    NTH_FN S nth_min_nan_##T(S a, S b) { return a != a ? a : b != b ? b : nth_min_##T(a, b); } \
    NTH_FN S nth_clamp_##T(S x, S lo, S hi) { return x != x ? hi : nth_min_##T(nth_max_##T(x, lo), hi); } \
    NTH_FN S nth_clamp_nan_##T(S x, S lo, S hi) { return x != x ? x : nth_clamp_##T(x, lo, hi); } \
    NTH_FN uint8_t nth_argmax_##T(S a, S best) { return (uint8_t)(a > best || best != best); } \
    NTH_FN uint8_t nth_argmin_##T(S a, S best) { return (uint8_t)(a < best || best != best); }
#define NTH_SAME(x) (x)
NTH_FLOAT(f32, float, f, NTH_SAME)
NTH_FLOAT(f64, double, , NTH_SAME)
#define NTH_R_F16(x) nth_round_f16((double)(x))
#define NTH_R_BF16(x) nth_round_bf16((double)(x))
#define NTH_R_E4M3(x) nth_round_e4m3((double)(x))
#define NTH_R_E5M2(x) nth_round_e5m2((double)(x))
/* a * b + c of narrow floats with its last bit set when something is lost, so that rounding it again is right. The
 * product is exact. */
NTH_FN double nth_fma_odd(double a, double b, double c)
{
    const double p = a * b, s = p + c, t = s - p, lost = (p - (s - t)) + (c - t);
    uint64_t bits;
    if (!(lost > 0 || lost < 0))
        return s;
    memcpy(&bits, &s, sizeof bits);
    if (!(bits & 1))
        bits += (lost > 0) == (s > 0) ? 1 : UINT64_MAX;
    memcpy(&a, &bits, sizeof bits);
    return a;
}
NTH_FN float nth_fma_f32(float a, float b, float c) { return fmaf(a, b, c); }
NTH_FN double nth_fma_f64(double a, double b, double c) { return fma(a, b, c); }
NTH_FN float nth_fma_f16(float a, float b, float c) { return nth_round_f16(nth_fma_odd(a, b, c)); }
NTH_FN float nth_fma_bf16(float a, float b, float c) { return nth_round_bf16(nth_fma_odd(a, b, c)); }
NTH_FN float nth_fma_e4m3(float a, float b, float c) { return nth_round_e4m3(nth_fma_odd(a, b, c)); }
NTH_FN float nth_fma_e5m2(float a, float b, float c) { return nth_round_e5m2(nth_fma_odd(a, b, c)); }
NTH_FLOAT(f16, float, f, NTH_R_F16)
NTH_FLOAT(bf16, float, f, NTH_R_BF16)
NTH_FLOAT(e4m3, float, f, NTH_R_E4M3)
NTH_FLOAT(e5m2, float, f, NTH_R_E5M2)

/* ---- atomics; programs of a launch run on several threads ---- */
#define NTH_ATOMIC_INT(T, C) \
    NTH_FN C nth_atomic_add_##T(unsigned char *p, C v) { return __atomic_fetch_add((C *)(void *)p, v, __ATOMIC_SEQ_CST); } \
    NTH_FN C nth_atomic_and_##T(unsigned char *p, C v) { return __atomic_fetch_and((C *)(void *)p, v, __ATOMIC_SEQ_CST); } \
    NTH_FN C nth_atomic_or_##T(unsigned char *p, C v) { return __atomic_fetch_or((C *)(void *)p, v, __ATOMIC_SEQ_CST); } \
    NTH_FN C nth_atomic_xor_##T(unsigned char *p, C v) { return __atomic_fetch_xor((C *)(void *)p, v, __ATOMIC_SEQ_CST); } \
    NTH_FN C nth_atomic_xchg_##T(unsigned char *p, C v) { return __atomic_exchange_n((C *)(void *)p, v, __ATOMIC_SEQ_CST); } \
    NTH_FN C nth_atomic_cas_##T(unsigned char *p, C expected, C v) \
    { \
        __atomic_compare_exchange_n((C *)(void *)p, &expected, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
        return expected; \
    } \
    NTH_FN C nth_atomic_max_##T(unsigned char *p, C v) \
    { \
        C old = __atomic_load_n((C *)(void *)p, __ATOMIC_SEQ_CST); \
        while (v > old && !__atomic_compare_exchange_n((C *)(void *)p, &old, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) { \
        } \
        return old; \
    } \
    NTH_FN C nth_atomic_min_##T(unsigned char *p, C v) \
    { \
        C old = __atomic_load_n((C *)(void *)p, __ATOMIC_SEQ_CST); \
        while (v < old && !__atomic_compare_exchange_n((C *)(void *)p, &old, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) { \
        } \
        return old; \
    }
NTH_ATOMIC_INT(i32, int32_t)
NTH_ATOMIC_INT(i64, int64_t)
NTH_ATOMIC_INT(u32, uint32_t)
NTH_ATOMIC_INT(u64, uint64_t)
#define NTH_ATOMIC_FLOAT(T, S, U, OP, NEXT) \
    NTH_FN S nth_atomic_##OP##_##T(unsigned char *p, S v) \
    { \
        U old = __atomic_load_n((U *)(void *)p, __ATOMIC_SEQ_CST), next; \
        do { \
            const S was = nth_from_bits_##T(old); \
            next = nth_to_bits_##T(NEXT); \
        } while (!__atomic_compare_exchange_n((U *)(void *)p, &old, next, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)); \
        return nth_from_bits_##T(old); \
    }
#define NTH_ATOMIC_FLOATS(T, S, U) \
    NTH_ATOMIC_FLOAT(T, S, U, add, nth_add_##T(was, v)) \
    NTH_ATOMIC_FLOAT(T, S, U, xchg, ((void)was, v)) \
    NTH_FN S nth_atomic_cas_##T(unsigned char *p, S expected, S v) \
    { \
        U old = nth_to_bits_##T(expected); \
        __atomic_compare_exchange_n((U *)(void *)p, &old, nth_to_bits_##T(v), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
        return nth_from_bits_##T(old); \
    }
NTH_ATOMIC_FLOATS(f16, float, uint16_t)
NTH_ATOMIC_FLOATS(bf16, float, uint16_t)
NTH_ATOMIC_FLOATS(f32, float, uint32_t)
NTH_ATOMIC_FLOATS(f64, double, uint64_t)
/* Maximum and minimum compare bits, as on a GPU: for numbers and zeros that is their order; a NaN operand counts as above
 * infinity. */
#define NTH_ATOMIC_ORDER(T, S, U, NAN_BITS, OP, BEYOND) \
    NTH_FN S nth_atomic_##OP##_##T(unsigned char *p, S v) \
    { \
        const U bits = v != v ? NAN_BITS : nth_to_bits_##T(v); \
        U old = __atomic_load_n((U *)(void *)p, __ATOMIC_SEQ_CST); \
        while (nth_order_##T(bits) BEYOND nth_order_##T(old) && \
               !__atomic_compare_exchange_n((U *)(void *)p, &old, bits, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) { \
        } \
        return nth_from_bits_##T(old); \
    }
#define NTH_ATOMIC_ORDERS(T, S, U, I, NAN_BITS) \
    NTH_FN I nth_order_##T(U bits) { return bits > NAN_BITS ? (I)~(bits & NAN_BITS) : (I)bits; } \
    NTH_ATOMIC_ORDER(T, S, U, NAN_BITS, max, >) \
    NTH_ATOMIC_ORDER(T, S, U, NAN_BITS, min, <)
NTH_ATOMIC_ORDERS(f32, float, uint32_t, int32_t, UINT32_C(0x7fffffff))
NTH_ATOMIC_ORDERS(f64, double, uint64_t, int64_t, UINT64_C(0x7fffffffffffffff))

/* ---- grid expressions: 64-bit, every overflow is noticed ---- */
NTH_FN int64_t nth_checked(int failed, int64_t v, NewtStatus why, NewtStatus *status)
{
    if (failed && *status == NEWT_OK)
        *status = why;
    return failed ? 0 : v;
}
NTH_FN int64_t nth_add_checked_i64(int64_t a, int64_t b, NewtStatus *s)
{
    return nth_checked(b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b, nth_add_i64(a, b), NEWT_TOO_LARGE, s);
}
NTH_FN int64_t nth_sub_checked_i64(int64_t a, int64_t b, NewtStatus *s)
{
    return nth_checked(b < 0 ? a > INT64_MAX + b : a < INT64_MIN + b, nth_sub_i64(a, b), NEWT_TOO_LARGE, s);
}
NTH_FN int64_t nth_mul_checked_i64(int64_t a, int64_t b, NewtStatus *s)
{
    const int64_t p = nth_mul_i64(a, b);
    const int failed = a != 0 && ((a == -1 && b == INT64_MIN) || (b == -1 && a == INT64_MIN) || nth_idiv_i64(p, a) != b);
    return nth_checked(failed, p, NEWT_TOO_LARGE, s);
}
NTH_FN int64_t nth_idiv_checked_i64(int64_t a, int64_t b, NewtStatus *s)
{
    const int64_t q = nth_checked(b == 0, nth_idiv_i64(a, b), NEWT_BAD_ARGUMENT, s);
    return nth_checked(a == INT64_MIN && b == -1, q, NEWT_TOO_LARGE, s);
}
NTH_FN int64_t nth_rem_checked_i64(int64_t a, int64_t b, NewtStatus *s)
{
    return nth_checked(b == 0, nth_rem_i64(a, b), NEWT_BAD_ARGUMENT, s);
}
NTH_FN int64_t nth_cdiv_checked_i64(int64_t a, int64_t b, NewtStatus *s)
{
    const int64_t q = nth_checked(b == 0, nth_cdiv_i64(a, b), NEWT_BAD_ARGUMENT, s);
    return nth_checked(a == INT64_MIN && b == -1, q, NEWT_TOO_LARGE, s);
}
NTH_FN int64_t nth_neg_checked_i64(int64_t a, NewtStatus *s)
{
    return nth_checked(a == INT64_MIN, nth_neg_i64(a), NEWT_TOO_LARGE, s);
}
NTH_FN int64_t nth_abs_checked_i64(int64_t a, NewtStatus *s)
{
    return nth_checked(a == INT64_MIN, nth_abs_i64(a), NEWT_TOO_LARGE, s);
}
NTH_FN int64_t nth_shl_checked_i64(int64_t a, int64_t n, NewtStatus *s)
{
    const int64_t r = nth_shl_i64(a, n);
    return nth_checked(nth_shr_i64(r, n) != a, r, NEWT_TOO_LARGE, s);
}
/* ---- end of support ---- */

