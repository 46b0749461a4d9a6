// intrinsics.h - what CUDA supplies to device code, on the host: conversions and rounded arithmetic.
//
// As the CUDA math API documents them; truncations saturate as cvt.rzi of the PTX manual does.
#ifndef NEWT_TESTS_SIMT_INTRINSICS_H
#define NEWT_TESTS_SIMT_INTRINSICS_H
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

struct uint2 { unsigned x, y; };
struct uint4 { unsigned x, y, z, w; };

template <class To, class From> static inline To simt_bits(From x)
{
    static_assert(sizeof(To) == sizeof(From), "bits keep their number");
    To to;
    memcpy(&to, &x, sizeof to);
    return to;
}

static inline unsigned __float_as_uint(float x) { return simt_bits<unsigned>(x); }
static inline int __float_as_int(float x) { return simt_bits<int>(x); }
static inline float __uint_as_float(unsigned x) { return simt_bits<float>(x); }
static inline float __int_as_float(int x) { return simt_bits<float>(x); }
static inline double __longlong_as_double(long long x) { return simt_bits<double>(x); }
static inline long long __double_as_longlong(double x) { return simt_bits<long long>(x); }

static inline float __fadd_rn(float a, float b) { return a + b; }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
static inline float __fsqrt_rn(float x) { return std::sqrt(x); }
static inline double __dsqrt_rn(double x) { return std::sqrt(x); }
static inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
static inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
static inline float rsqrtf(float x) { return (float)(1 / std::sqrt((double)x)); }
static inline double rsqrt(double x) { return 1 / std::sqrt(x); }

// max and min of PTX: a NaN loses, +0 is above -0, two NaNs give the canonical one.
template <class T> static inline T simt_max(T a, T b)
{
    if (a != a && b != b)
        return sizeof(T) == 4 ? (T)simt_bits<float>(0x7fffffffu) : (T)simt_bits<double>(0x7fffffffffffffffull);
    if (a != a || b != b)
        return a != a ? b : a;
    return a == b ? (std::signbit(a) ? b : a) : a > b ? a : b;
}
template <class T> static inline T simt_min(T a, T b)
{
    if (a != a || b != b)
        return simt_max(a, b);
    return a == b ? (std::signbit(a) ? a : b) : a < b ? a : b;
}

// A signalling NaN is no other to CUDA's pow than a quiet one: with 0, or as exponent of 1, it gives 1.
template <class T> static inline T simt_pow(T a, T b)
{
    return std::pow(a != a ? (T)NAN : a, b != b ? (T)NAN : b);
}
#define fmaxf(a, b) simt_max<float>(a, b)
#define fminf(a, b) simt_min<float>(a, b)
#define fmax(a, b) simt_max<double>(a, b)
#define fmin(a, b) simt_min<double>(a, b)
#define powf(a, b) simt_pow<float>(a, b)
#define pow(a, b) simt_pow<double>(a, b)

// The floats next to a number, on the side that the direction names.
template <class T> static inline float simt_below(T x)
{
    const float f = (float)x;
    return (long double)f > (long double)x ? std::nextafter(f, -INFINITY) : f;
}
template <class T> static inline float simt_above(T x)
{
    const float f = (float)x;
    return (long double)f < (long double)x ? std::nextafter(f, INFINITY) : f;
}
static inline float __double2float_rd(double x) { return x != x ? (float)x : simt_below(x); }
static inline float __double2float_ru(double x) { return x != x ? (float)x : simt_above(x); }
static inline float __double2float_rz(double x) { return x < 0 ? __double2float_ru(x) : __double2float_rd(x); }
static inline float __int2float_rd(int x) { return simt_below(x); }
static inline float __int2float_ru(int x) { return simt_above(x); }
static inline float __uint2float_rd(unsigned x) { return simt_below(x); }
static inline float __uint2float_ru(unsigned x) { return simt_above(x); }
static inline float __ll2float_rd(long long x) { return simt_below(x); }
static inline float __ll2float_ru(long long x) { return simt_above(x); }
static inline float __ull2float_rd(unsigned long long x) { return simt_below(x); }
static inline float __ull2float_ru(unsigned long long x) { return simt_above(x); }
// A product of floats is exact in double. What its sum with a float loses in long double is exact again, and
// tells on which side of the sum the true one lies.
static inline float simt_fma_towards(float a, float b, float c, bool up)
{
    const long double product = (double)a * b, sum = product + c, back = sum - product;
    const long double lost = (product - (sum - back)) + (c - back);
    const float f = (float)sum;
    if (up)
        return (long double)f < sum || ((long double)f == sum && lost > 0) ? std::nextafter(f, INFINITY) : f;
    return (long double)f > sum || ((long double)f == sum && lost < 0) ? std::nextafter(f, -INFINITY) : f;
}
static inline float __fmaf_rd(float a, float b, float c) { return simt_fma_towards(a, b, c, false); }
static inline float __fmaf_ru(float a, float b, float c) { return simt_fma_towards(a, b, c, true); }

template <class T, class F> static inline T simt_truncate(F x, T nan)
{
    typedef std::numeric_limits<T> Limits;
    if (x != x)
        return nan;
    if ((long double)x <= (long double)Limits::min())
        return Limits::min();
    return (long double)x >= (long double)Limits::max() ? Limits::max() : (T)x;
}
static inline int __float2int_rz(float x) { return simt_truncate<int>(x, 0); }
static inline int __double2int_rz(double x) { return simt_truncate<int>(x, INT32_MIN); }
static inline unsigned __float2uint_rz(float x) { return simt_truncate<unsigned>(x, 0); }
static inline unsigned __double2uint_rz(double x) { return simt_truncate<unsigned>(x, 1u << 31); }
static inline long long __float2ll_rz(float x) { return simt_truncate<long long>(x, INT64_MIN); }
static inline long long __double2ll_rz(double x) { return simt_truncate<long long>(x, INT64_MIN); }
static inline unsigned long long __float2ull_rz(float x) { return simt_truncate<unsigned long long>(x, 1ull << 63); }
static inline unsigned long long __double2ull_rz(double x)
{
    return simt_truncate<unsigned long long>(x, 1ull << 63);
}

static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((uint64_t)a * b >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    __extension__ typedef unsigned __int128 Wide;
    return (unsigned long long)((Wide)a * b >> 64);
}

#endif
