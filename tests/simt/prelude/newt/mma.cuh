// mma.cuh - the emulator's matrix instructions; see the prelude's file of this name.
#ifndef NT_MMA_CUH
#define NT_MMA_CUH
#include "newt/base.cuh"

template <int N, class P> NT_DEV void nt_ldmatrix(unsigned *to, P row)
{
    simt_ldmatrix(to, (const void *)simt_at(row), N, false);
}

template <int N, class P> NT_DEV void nt_ldmatrix_trans(unsigned *to, P row)
{
    simt_ldmatrix(to, (const void *)simt_at(row), N, true);
}

template <class P> NT_DEV unsigned nt_shared_word(P at)
{
    unsigned word;
    simt_load(&word, (const void *)simt_at(at), sizeof word, true, SIMT_SHARED);
    return word;
}

// ROWS of A, K columns.
#define SIMT_MMA(NAME, ROWS, K, A, B, SUM, WORD, C) \
    NT_DEV void NAME(C *sum, const WORD *a, const WORD *b) \
    { \
        simt_mma(sum, a, b, A | B << 4 | SUM << 8 | ROWS << 16 | (unsigned)K << 24); \
    }
SIMT_MMA(nt_mma_m16n8k16_f32_f16_f16, 16, 16, SIMT_F16, SIMT_F16, SIMT_F32, unsigned, float)
SIMT_MMA(nt_mma_m16n8k8_f32_f16_f16, 16, 8, SIMT_F16, SIMT_F16, SIMT_F32, unsigned, float)
SIMT_MMA(nt_mma_m16n8k16_f32_bf16_bf16, 16, 16, SIMT_BF16, SIMT_BF16, SIMT_F32, unsigned, float)
SIMT_MMA(nt_mma_m16n8k8_f32_bf16_bf16, 16, 8, SIMT_BF16, SIMT_BF16, SIMT_F32, unsigned, float)
SIMT_MMA(nt_mma_m16n8k8_f32_tf32_tf32, 16, 8, SIMT_TF32, SIMT_TF32, SIMT_F32, unsigned, float)
SIMT_MMA(nt_mma_m16n8k32_s32_s8_s8, 16, 32, SIMT_S8, SIMT_S8, SIMT_S32, unsigned, int)
SIMT_MMA(nt_mma_m16n8k32_f32_e4m3_e4m3, 16, 32, SIMT_E4M3, SIMT_E4M3, SIMT_F32, unsigned, float)
SIMT_MMA(nt_mma_m16n8k32_f32_e4m3_e5m2, 16, 32, SIMT_E4M3, SIMT_E5M2, SIMT_F32, unsigned, float)
SIMT_MMA(nt_mma_m16n8k32_f32_e5m2_e4m3, 16, 32, SIMT_E5M2, SIMT_E4M3, SIMT_F32, unsigned, float)
SIMT_MMA(nt_mma_m16n8k32_f32_e5m2_e5m2, 16, 32, SIMT_E5M2, SIMT_E5M2, SIMT_F32, unsigned, float)
SIMT_MMA(nt_mma_m16n8k8_f64_f64_f64, 16, 8, SIMT_F64, SIMT_F64, SIMT_F64, double, double)

#endif
