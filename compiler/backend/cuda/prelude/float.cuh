// float.cuh - elementwise operations on float and double; compiled without -ftz: subnormals count.
//
// A product and a sum may become one fma. That must not happen across threads, where both sides of
// a shuffle have to get the same bits: nt_sum is the addition that is never contracted.
// The math functions are NVRTC's built-in ones: exp 1 ulp, exp2 2, log 1, sin and cos 2, tanh 2, erf 2,
// pow 4 (CUDA programming guide, "Mathematical Functions").
#ifndef NT_FLOAT_CUH
#define NT_FLOAT_CUH
#include "newt/base.cuh"

// 2 ulp over the full range by the PTX manual (2.002 was measured), subnormals kept, without the branch
// that the exactly rounded division (div_rn) needs.
NT_DEV float nt_div_full(float a, float b)
{
#ifdef __CUDA_ARCH__
    float q;
    asm("div.full.f32 %0, %1, %2;" : "=f"(q) : "f"(a), "f"(b));
    return q;
#else
    return a / b;
#endif
}

// Templates, although only float and double fit: NVRTC spends time on what is instantiated, and a kernel
// uses few of these (12 ms of 30 for plain functions).
#define NT_FLOAT1(NAME, F32, F64) \
    template <class T> NT_DEV nt_float<T> nt_##NAME(T x) \
    { \
        if constexpr (nt_same<T, float>) \
            return F32; \
        else \
            return F64; \
    }
#define NT_FLOAT2(NAME, F32, F64) \
    template <class T> NT_DEV nt_float<T> nt_##NAME(T a, T b) \
    { \
        if constexpr (nt_same<T, float>) \
            return F32; \
        else \
            return F64; \
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

// Fused, rounded once.
template <class T> NT_DEV nt_float<T> nt_fma(T a, T b, T c)
{
    if constexpr (nt_same<T, float>)
        return __fmaf_rn(a, b, c);
    else
        return __fma_rn(a, b, c);
}

template <class T, class = nt_float<T>> NT_DEV bool nt_isnan(T x)
{
    return x != x;
}

template <class T, class = nt_float<T>> NT_DEV bool nt_isinf(T x)
{
    return nt_abs(x) == (T)NT_INF_F32;
}

// 1 / (1 + exp(-x)) without overflow: the exponential is of -|x|.
template <class T> NT_DEV nt_float<T> nt_sigmoid(T x)
{
    T e = nt_exp(-nt_abs(x));
    return nt_div(x < (T)0 ? e : (T)1, (T)1 + e);
}

// The forms in which a NaN wins: one instruction for floats from sm_80 on.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define NT_NAN_WINS(NAME, INSTRUCTION) \
    NT_DEV float nt_##NAME##_nan(float a, float b) \
    { \
        float r; \
        asm(INSTRUCTION " %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); \
        return r; \
    }
NT_NAN_WINS(max, "max.NaN.f32")
NT_NAN_WINS(min, "min.NaN.f32")
#undef NT_NAN_WINS
#endif

template <class T> NT_DEV nt_float<T> nt_max_nan(T a, T b)
{
    return a != a || b != b ? (T)NT_NAN_F32 : nt_max(a, b);
}

template <class T> NT_DEV nt_float<T> nt_min_nan(T a, T b)
{
    return a != a || b != b ? (T)NT_NAN_F32 : nt_min(a, b);
}

// min(max(x, lo), hi), but a NaN gives hi.
template <class T> NT_DEV nt_float<T> nt_clamp(T x, T lo, T hi)
{
    return x != x ? hi : nt_min(nt_max(x, lo), hi);
}

template <class T> NT_DEV nt_float<T> nt_clamp_nan(T x, T lo, T hi)
{
    return nt_min_nan(nt_max_nan(x, lo), hi);
}

#undef NT_FLOAT1
#undef NT_FLOAT2

#endif
