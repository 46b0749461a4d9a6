// dot.cuh - plain multiplication for matrix products.
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

NT_DEV unsigned nt_tf32_word(unsigned bits)
{
    return __float_as_uint(nt_tf32(__uint_as_float(bits)));
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
