// mma.cuh - matrix instructions of a warp, and the reading of their factors from shared memory.
//
// nt_mma_<shape>_<sum>_<A>_<B>(sum, a, b) adds a product of 16 x K and K x 8 numbers; registers are in
// the order of PTX's manual (mma.m16n8kK). All 32 lanes take part.
#ifndef NT_MMA_CUH
#define NT_MMA_CUH
#include "newt/base.cuh"

// N matrices of 8 rows of 16 bytes; lane 8 * i + r names row r of matrix i, a multiple of 16 bytes. Lane
// l gets word l % 4 of row l / 4 of each.
template <int N, class T> NT_DEV void nt_ldmatrix(unsigned *to, const T *row)
{
    const unsigned at = (unsigned)__cvta_generic_to_shared(row);
    if constexpr (N == 4)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at) : "memory");
    else if constexpr (N == 2)
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                     : "=r"(to[0]), "=r"(to[1]) : "r"(at) : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(to[0]) : "r"(at) : "memory");
}

// The same of 8 rows of 8 16-bit elements, transposed: lane l gets elements l / 4 of rows 2 * (l % 4) and
// the next.
template <int N, class T> NT_DEV void nt_ldmatrix_trans(unsigned *to, const T *row)
{
    const unsigned at = (unsigned)__cvta_generic_to_shared(row);
    if constexpr (N == 4)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at) : "memory");
    else if constexpr (N == 2)
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                     : "=r"(to[0]), "=r"(to[1]) : "r"(at) : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(to[0]) : "r"(at) : "memory");
}

// A word of shared memory.
template <class T> NT_DEV unsigned nt_shared_word(const T *at)
{
    return *(const unsigned *)at;
}

#define NT_MMA_4_2(NAME, SHAPE, TYPES, T, C) \
    NT_DEV void NAME(T *sum, const unsigned *a, const unsigned *b) \
    { \
        asm("mma.sync.aligned." SHAPE ".row.col." TYPES " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, " \
            "{%0, %1, %2, %3};" \
            : "+" C(sum[0]), "+" C(sum[1]), "+" C(sum[2]), "+" C(sum[3]) \
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])); \
    }

NT_DEV void nt_mma_m16n8k8_f32_f16_f16(float *sum, const unsigned *a, const unsigned *b)
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}

#if __CUDA_ARCH__ >= 800
NT_DEV void nt_mma_m16n8k8_f32_bf16_bf16(float *sum, const unsigned *a, const unsigned *b)
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}

NT_MMA_4_2(nt_mma_m16n8k16_f32_f16_f16, "m16n8k16", "f32.f16.f16.f32", float, "f")
NT_MMA_4_2(nt_mma_m16n8k16_f32_bf16_bf16, "m16n8k16", "f32.bf16.bf16.f32", float, "f")
NT_MMA_4_2(nt_mma_m16n8k8_f32_tf32_tf32, "m16n8k8", "f32.tf32.tf32.f32", float, "f")
NT_MMA_4_2(nt_mma_m16n8k32_s32_s8_s8, "m16n8k32", "s32.s8.s8.s32", int, "r")
#else
// The fragments are those of four m8n8k16: rows by the number's low bit, K by its high one.
NT_DEV void nt_mma_m16n8k32_s32_s8_s8(int *sum, const unsigned *a, const unsigned *b)
{
    NT_UNROLL for (int i = 0; i < 4; i++)
        asm("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
            : "+r"(sum[i % 2 * 2]), "+r"(sum[i % 2 * 2 + 1])
            : "r"(a[i]), "r"(b[i / 2]));
}
#endif

// As PTX lays out m16n8k8 of doubles, the fragments are those of four m8n8k4.
#if __CUDA_ARCH__ >= 900
NT_DEV void nt_mma_m16n8k8_f64_f64_f64(double *sum, const double *a, const double *b)
{
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}
#elif __CUDA_ARCH__ >= 800
NT_DEV void nt_mma_m16n8k8_f64_f64_f64(double *sum, const double *a, const double *b)
{
    NT_UNROLL for (int i = 0; i < 4; i++)
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
            : "+d"(sum[i % 2 * 2]), "+d"(sum[i % 2 * 2 + 1])
            : "d"(a[i]), "d"(b[i / 2]));
}
#endif

#if __CUDA_ARCH__ >= 890
NT_MMA_4_2(nt_mma_m16n8k32_f32_e4m3_e4m3, "m16n8k32", "f32.e4m3.e4m3.f32", float, "f")
NT_MMA_4_2(nt_mma_m16n8k32_f32_e4m3_e5m2, "m16n8k32", "f32.e4m3.e5m2.f32", float, "f")
NT_MMA_4_2(nt_mma_m16n8k32_f32_e5m2_e4m3, "m16n8k32", "f32.e5m2.e4m3.f32", float, "f")
NT_MMA_4_2(nt_mma_m16n8k32_f32_e5m2_e5m2, "m16n8k32", "f32.e5m2.e5m2.f32", float, "f")
#endif

#endif
