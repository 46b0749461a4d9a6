// small.cuh - elementwise operations on fp16, bf16 and fp8: computed in float, rounded once.
//
// For + - * / and square root that is the correctly rounded result: float has more than twice
// the digits of each of these types. fma needs the sum rounded to odd in between.
#ifndef NT_SMALL_CUH
#define NT_SMALL_CUH
#include "newt/compare.cuh"
#include "newt/convert.cuh"
#include "newt/float.cuh"

#define NT_SMALL1(NAME) \
    template <class T> NT_DEV nt_small<T> nt_##NAME(T x) \
    { \
        return nt_narrow<T>(nt_##NAME(nt_widen(x))); \
    }
#define NT_SMALL2(NAME) \
    template <class T> NT_DEV nt_small<T> nt_##NAME(T a, T b) \
    { \
        return nt_narrow<T>(nt_##NAME(nt_widen(a), nt_widen(b))); \
    }
#define NT_SMALL3(NAME) \
    template <class T> NT_DEV nt_small<T> nt_##NAME(T x, T lo, T hi) \
    { \
        return nt_narrow<T>(nt_##NAME(nt_widen(x), nt_widen(lo), nt_widen(hi))); \
    }
#define NT_SMALL_COMPARE(NAME, T) \
    NT_DEV bool nt_##NAME(T a, T b) \
    { \
        return nt_##NAME(nt_widen(a), nt_widen(b)); \
    }
#define NT_SMALL_PREDICATES(T) \
    NT_SMALL_COMPARE(eq, T) NT_SMALL_COMPARE(ne, T) NT_SMALL_COMPARE(lt, T) \
    NT_SMALL_COMPARE(le, T) NT_SMALL_COMPARE(gt, T) NT_SMALL_COMPARE(ge, T) \
    NT_DEV bool nt_isnan(T x) { return nt_isnan(nt_widen(x)); } \
    NT_DEV bool nt_isinf(T x) { return nt_isinf(nt_widen(x)); }

NT_SMALL1(neg) NT_SMALL1(abs) NT_SMALL1(exp) NT_SMALL1(exp2) NT_SMALL1(expm1) NT_SMALL1(log)
NT_SMALL1(log2) NT_SMALL1(log1p) NT_SMALL1(sqrt) NT_SMALL1(sqrt_rn) NT_SMALL1(rsqrt) NT_SMALL1(sin)
NT_SMALL1(cos) NT_SMALL1(tanh) NT_SMALL1(erf) NT_SMALL1(sigmoid) NT_SMALL1(floor) NT_SMALL1(ceil)
NT_SMALL1(round) NT_SMALL1(rint) NT_SMALL1(trunc)
NT_SMALL2(add) NT_SMALL2(sub) NT_SMALL2(mul) NT_SMALL2(div) NT_SMALL2(div_rn) NT_SMALL2(rem)
NT_SMALL2(pow) NT_SMALL2(max) NT_SMALL2(min) NT_SMALL2(max_nan) NT_SMALL2(min_nan)
NT_SMALL3(clamp) NT_SMALL3(clamp_nan)
NT_SMALL_PREDICATES(nt_f16)
NT_SMALL_PREDICATES(nt_bf16)
NT_SMALL_PREDICATES(nt_e4m3)
NT_SMALL_PREDICATES(nt_e5m2)

template <class T> NT_DEV nt_small<T> nt_fma(T a, T b, T c)
{
    float x = nt_widen(a), y = nt_widen(b), z = nt_widen(c);
    return nt_narrow<T>(nt_pick_odd(__fmaf_rd(x, y, z), __fmaf_ru(x, y, z)));
}

#undef NT_SMALL1
#undef NT_SMALL2
#undef NT_SMALL3
#undef NT_SMALL_COMPARE
#undef NT_SMALL_PREDICATES

#endif
