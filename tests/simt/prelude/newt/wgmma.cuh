// wgmma.cuh - the emulator's matrix instructions of a warpgroup; see the prelude's file of this name.
#ifndef NT_WGMMA_CUH
#define NT_WGMMA_CUH
#include "newt/base.cuh"

NT_DEV void nt_wgmma_fence()
{
    simt_product_fence();
}

NT_DEV void nt_wgmma_commit()
{
    simt_product_commit();
}

template <int N> NT_DEV void nt_wgmma_wait()
{
    simt_product_wait(N);
}

template <class T, int N> NT_DEV void nt_wgmma_keep(T (&sum)[N])
{
    simt_product_keep(sum, sizeof sum, std::is_same<T, unsigned>::value);
}

template <class P> NT_DEV unsigned long long nt_wgmma_desc(P at, unsigned leading, unsigned stride, unsigned layout)
{
    const unsigned long long start = (unsigned long long)((const unsigned char *)simt_at(at) - nt_smem) & 0x3ffff;
    return start >> 4 | (unsigned long long)(leading >> 4) << 16 | (unsigned long long)(stride >> 4) << 32 |
           (unsigned long long)layout << 62;
}

constexpr unsigned simt_product_kind(unsigned a, unsigned b, unsigned sum, unsigned n, unsigned a_swaps, unsigned b_swaps)
{
    return a | b << 4 | sum << 8 | a_swaps << 12 | b_swaps << 13 | n << 16;
}

#define SIMT_WGMMA(NAME, N, T, A, B, SUM) \
    NT_DEV void NAME(T *sum, unsigned long long a, unsigned long long b, int scale) \
    { \
        simt_product(sum, nullptr, a, b, simt_product_kind(A, B, SUM, N, 0, 0), scale); \
    } \
    NT_DEV void NAME##_rs(T *sum, const unsigned *a, unsigned long long b, int scale) \
    { \
        simt_product(sum, a, 0, b, simt_product_kind(A, B, SUM, N, 0, 0), scale); \
    }
#define SIMT_WGMMA_16(NAME, N, T, A, SUM) \
    template <int SWAP_A, int SWAP_B> NT_DEV void NAME(T *sum, unsigned long long a, unsigned long long b, int scale) \
    { \
        simt_product(sum, nullptr, a, b, simt_product_kind(A, A, SUM, N, SWAP_A, SWAP_B), scale); \
    } \
    template <int SWAP_B> NT_DEV void NAME##_rs(T *sum, const unsigned *a, unsigned long long b, int scale) \
    { \
        simt_product(sum, a, 0, b, simt_product_kind(A, A, SUM, N, 0, SWAP_B), scale); \
    }
#define SIMT_WGMMA_ALL(N) \
    SIMT_WGMMA_16(nt_wgmma_m64n##N##k16_f32_f16_f16, N, float, SIMT_F16, SIMT_F32) \
    SIMT_WGMMA_16(nt_wgmma_m64n##N##k16_f32_bf16_bf16, N, float, SIMT_BF16, SIMT_F32) \
    SIMT_WGMMA_16(nt_wgmma_m64n##N##k16_f16_f16_f16, N, unsigned, SIMT_F16, SIMT_F16) \
    SIMT_WGMMA(nt_wgmma_m64n##N##k8_f32_tf32_tf32, N, float, SIMT_TF32, SIMT_TF32, SIMT_F32) \
    SIMT_WGMMA(nt_wgmma_m64n##N##k32_f32_e4m3_e4m3, N, float, SIMT_E4M3, SIMT_E4M3, SIMT_F32) \
    SIMT_WGMMA(nt_wgmma_m64n##N##k32_f32_e4m3_e5m2, N, float, SIMT_E4M3, SIMT_E5M2, SIMT_F32) \
    SIMT_WGMMA(nt_wgmma_m64n##N##k32_f32_e5m2_e4m3, N, float, SIMT_E5M2, SIMT_E4M3, SIMT_F32) \
    SIMT_WGMMA(nt_wgmma_m64n##N##k32_f32_e5m2_e5m2, N, float, SIMT_E5M2, SIMT_E5M2, SIMT_F32) \
    SIMT_WGMMA(nt_wgmma_m64n##N##k32_s32_s8_s8, N, int, SIMT_S8, SIMT_S8, SIMT_S32)
SIMT_WGMMA_ALL(8)
SIMT_WGMMA_ALL(16)
SIMT_WGMMA_ALL(32)
SIMT_WGMMA_ALL(64)
SIMT_WGMMA_ALL(96)
SIMT_WGMMA_ALL(128)
SIMT_WGMMA_ALL(192)
SIMT_WGMMA_ALL(256)

#endif
