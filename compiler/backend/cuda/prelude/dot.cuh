// dot.cuh - plain multiplication for matrix products, and fp32 factors as sums of shorter ones.
#ifndef NT_DOT_CUH
#define NT_DOT_CUH
#include "newt/convert.cuh"

// To the nearest tf32, halves away from zero; infinities and NaNs stay.
NT_DEV float nt_tf32(float x)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return __uint_as_float(bits);
#else
    const unsigned bits = __float_as_uint(x);
    return (bits & 0x7f800000u) == 0x7f800000u ? x : __uint_as_float((bits + 0x1000u) & 0xffffe000u);
#endif
}

// Two words of one row (of B: of one column) to tf32 for a matrix instruction, which does not look at the bits that a
// rounded number has not. One that is no number spoils what both are part of, so that it may leave both as they are.
NT_DEV void nt_tf32_words(unsigned *x, unsigned *y)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(*x) : "f"(__uint_as_float(*x)));
    asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(*y) : "f"(__uint_as_float(*y)));
#else
    const float a = __uint_as_float(*x), b = __uint_as_float(*y);
    if (!(a != a || b != b)) {
        *x += 0x1000u;  // infinities stay: only the bits that nobody looks at change
        *y += 0x1000u;
    }
#endif
}

// What is left of `x` without its rounded part; nothing where that is infinite or no number.
NT_DEV float nt_rest(float x, float rounded)
{
    return (__float_as_uint(rounded) & 0x7f800000u) == 0x7f800000u ? 0.0f : x - rounded;
}

// A word of an fp32 factor as the sum of two tf32.
NT_DEV void nt_split_tf32(unsigned word, unsigned *most, unsigned *rest)
{
    const float x = __uint_as_float(word), rounded = nt_tf32(x);
    *most = __float_as_uint(rounded);
    *rest = __float_as_uint(nt_tf32(nt_rest(x, rounded)));
}

// Two words as sums of PARTS bf16: part i of both is in parts[i * apart].
template <int PARTS> NT_DEV void nt_split_bf16(unsigned low, unsigned high, unsigned *parts, int apart)
{
    float x = __uint_as_float(low), y = __uint_as_float(high);
    NT_UNROLL for (int i = 0; i < PARTS; i++) {
        const nt_bf16 a = nt_narrow<nt_bf16>(x), b = nt_narrow<nt_bf16>(y);
        parts[i * apart] = nt_pack(a, b);
        x = nt_rest(x, nt_widen(a));
        y = nt_rest(y, nt_widen(b));
    }
}

NT_DEV float nt_mad(float a, float b, float c)
{
    return __fmaf_rn(a, b, c);
}

NT_DEV double nt_mad(double a, double b, double c)
{
    return __fma_rn(a, b, c);
}

NT_DEV int nt_mad(int a, int b, int c)
{
    return (int)((unsigned)a * (unsigned)b + (unsigned)c);
}

#endif
