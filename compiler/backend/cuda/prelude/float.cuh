// float.cuh - elementwise operations on float and double; compiled without -ftz: subnormals count.
//
// A product and a sum may become one fma. That must not happen across threads, where both sides of
// a shuffle have to get the same bits: nt_sum is the addition that is never contracted.
// The math functions are NVRTC's built-in ones: exp 1 ulp, exp2 2, log 1, sin and cos 2, tanh 2, erf 2,
// pow 4 (CUDA programming guide, "Mathematical Functions").
#ifndef NT_FLOAT_CUH
#define NT_FLOAT_CUH
#include "newt/base.cuh"

#define NT_FLOAT1(NAME, F32, F64) \
    NT_DEV float nt_##NAME(float x) { return F32; } \
    NT_DEV double nt_##NAME(double x) { return F64; }
#define NT_FLOAT2(NAME, F32, F64) \
    NT_DEV float nt_##NAME(float a, float b) { return F32; } \
    NT_DEV double nt_##NAME(double a, double b) { return F64; }

// Within 2 ulp over the full range, subnormals kept, and without the branch that the exactly rounded
// division (div_rn) needs.
NT_DEV float nt_div_full(float a, float b)
{
    float q;
    asm("div.full.f32 %0, %1, %2;" : "=f"(q) : "f"(a), "f"(b));
    return q;
}

NT_FLOAT1(neg, -x, -x)
NT_FLOAT1(abs, fabsf(x), fabs(x))
NT_FLOAT1(exp, expf(x), exp(x))
NT_FLOAT1(exp2, exp2f(x), exp2(x))
NT_FLOAT1(expm1, expm1f(x), expm1(x))
NT_FLOAT1(log, logf(x), log(x))
NT_FLOAT1(log2, log2f(x), log2(x))
NT_FLOAT1(log1p, log1pf(x), log1p(x))
NT_FLOAT1(sqrt, __fsqrt_rn(x), __dsqrt_rn(x))
NT_FLOAT1(sqrt_rn, __fsqrt_rn(x), __dsqrt_rn(x))
NT_FLOAT1(rsqrt, rsqrtf(x), rsqrt(x))
NT_FLOAT1(sin, sinf(x), sin(x))
NT_FLOAT1(cos, cosf(x), cos(x))
NT_FLOAT1(tanh, tanhf(x), tanh(x))
NT_FLOAT1(erf, erff(x), erf(x))
NT_FLOAT1(floor, floorf(x), floor(x))
NT_FLOAT1(ceil, ceilf(x), ceil(x))
NT_FLOAT1(round, roundf(x), round(x))
NT_FLOAT1(rint, rintf(x), rint(x))
NT_FLOAT1(trunc, truncf(x), trunc(x))

NT_FLOAT2(add, a + b, a + b)
NT_FLOAT2(sub, a - b, a - b)
NT_FLOAT2(mul, a * b, a * b)
NT_FLOAT2(div, nt_div_full(a, b), a / b)
NT_FLOAT2(div_rn, __fdiv_rn(a, b), __ddiv_rn(a, b))
NT_FLOAT2(rem, fmodf(a, b), fmod(a, b))
NT_FLOAT2(pow, powf(a, b), pow(a, b))
NT_FLOAT2(sum, __fadd_rn(a, b), __dadd_rn(a, b))

// maxNum and minNum: a NaN loses, +0 is above -0 (max.f32 and max.f64 of PTX order the zeros).
NT_FLOAT2(max, fmaxf(a, b), fmax(a, b))
NT_FLOAT2(min, fminf(a, b), fmin(a, b))

#undef NT_FLOAT1
#undef NT_FLOAT2

NT_DEV bool nt_isnan(float x)
{
    return x != x;
}

NT_DEV bool nt_isnan(double x)
{
    return x != x;
}

NT_DEV bool nt_isinf(float x)
{
    return fabsf(x) == NT_INF_F32;
}

NT_DEV bool nt_isinf(double x)
{
    return fabs(x) == NT_INF_F64;
}

// 1 / (1 + exp(-x)) without overflow: the exponential is of -|x|.
template <class T> NT_DEV T nt_sigmoid_of(T x)
{
    T e = nt_exp(-nt_abs(x));
    return (x < (T)0 ? e : (T)1) / ((T)1 + e);
}

NT_DEV float nt_sigmoid(float x)
{
    return nt_sigmoid_of(x);
}

NT_DEV double nt_sigmoid(double x)
{
    return nt_sigmoid_of(x);
}

NT_DEV float nt_fma(float a, float b, float c)
{
    return __fmaf_rn(a, b, c);
}

NT_DEV double nt_fma(double a, double b, double c)
{
    return __fma_rn(a, b, c);
}

// The forms in which a NaN wins.
NT_DEV float nt_max_nan(float a, float b)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    float r;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
    return r;
#else
    return a != a || b != b ? NT_NAN_F32 : fmaxf(a, b);
#endif
}

NT_DEV float nt_min_nan(float a, float b)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    float r;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
    return r;
#else
    return a != a || b != b ? NT_NAN_F32 : fminf(a, b);
#endif
}

NT_DEV double nt_max_nan(double a, double b)
{
    return a != a || b != b ? NT_NAN_F64 : fmax(a, b);
}

NT_DEV double nt_min_nan(double a, double b)
{
    return a != a || b != b ? NT_NAN_F64 : fmin(a, b);
}

// min(max(x, lo), hi), but a NaN gives hi.
NT_DEV float nt_clamp(float x, float lo, float hi)
{
    return x != x ? hi : fminf(fmaxf(x, lo), hi);
}

NT_DEV double nt_clamp(double x, double lo, double hi)
{
    return x != x ? hi : fmin(fmax(x, lo), hi);
}

NT_DEV float nt_clamp_nan(float x, float lo, float hi)
{
    return nt_min_nan(nt_max_nan(x, lo), hi);
}

NT_DEV double nt_clamp_nan(double x, double lo, double hi)
{
    return nt_min_nan(nt_max_nan(x, lo), hi);
}

#endif
