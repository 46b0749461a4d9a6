// mma.cuh - the emulator's matrix instructions; see the prelude's file of this name.
//
// Lanes exchange words by shuffles, as PTX's manual lays fragments out: lane l holds words l % 4 of row
// l / 4 (of B: column l / 4). Products are exact in double, sums rounded once.
#ifndef NT_MMA_CUH
#define NT_MMA_CUH
#include "newt/convert.cuh"

NT_DEV unsigned simt_lane()
{
    return threadIdx.x & 31;
}

// The row that this lane names, where it names one.
template <int N, class T> NT_DEV void simt_row(unsigned *words, SimtShared<T> row)
{
    memset(words, 0, 16);
    simt_load(words, row.at, 16, simt_lane() < 8 * N, SIMT_SHARED);
}

template <int N, class T> NT_DEV void nt_ldmatrix(unsigned *to, SimtShared<T> row)
{
    unsigned words[4];
    const unsigned lane = simt_lane();
    simt_row<N>(words, row);
    for (unsigned i = 0; i < N; i++) {
        to[i] = 0;
        for (unsigned w = 0; w < 4; w++) {
            const unsigned word = __shfl_sync(0xffffffffu, words[w], 8 * i + lane / 4);
            to[i] = lane % 4 == w ? word : to[i];
        }
    }
}

template <int N, class T> NT_DEV void nt_ldmatrix_trans(unsigned *to, SimtShared<T> row)
{
    unsigned words[4];
    const unsigned lane = simt_lane(), shift = lane / 4 % 2 * 16;
    simt_row<N>(words, row);
    for (unsigned i = 0; i < N; i++) {
        to[i] = 0;
        for (unsigned w = 0; w < 4; w++) {
            const unsigned low = __shfl_sync(0xffffffffu, words[w], 8 * i + lane % 4 * 2);
            const unsigned high = __shfl_sync(0xffffffffu, words[w], 8 * i + lane % 4 * 2 + 1);
            to[i] = lane / 8 == w ? (low >> shift & 0xffffu) | (high >> shift & 0xffffu) << 16 : to[i];
        }
    }
}

template <class T> NT_DEV unsigned nt_shared_word(SimtShared<T> at)
{
    unsigned word;
    simt_load(&word, at.at, sizeof word, true, SIMT_SHARED);
    return word;
}

NT_DEV double simt_number(nt_f16 x) { return nt_widen(x); }
NT_DEV double simt_number(nt_bf16 x) { return nt_widen(x); }
NT_DEV double simt_number(nt_e4m3 x) { return nt_widen(x); }
NT_DEV double simt_number(nt_e5m2 x) { return nt_widen(x); }
NT_DEV double simt_number(float x) { return x; }
NT_DEV double simt_number(signed char x) { return x; }

// The sum of products of the elements in two words.
template <class A, class B> NT_DEV double simt_products(unsigned a, unsigned b)
{
    double sum = 0;
    for (unsigned i = 0; i < 4 / sizeof(A); i++) {
        A x;
        B y;
        memcpy(&x, (const char *)&a + i * sizeof x, sizeof x);
        memcpy(&y, (const char *)&b + i * sizeof y, sizeof y);
        sum += simt_number(x) * simt_number(y);
    }
    return sum;
}

// HALVES: groups of four words along K.
template <int HALVES, class A, class B, class C> NT_DEV void simt_mma(C *sum, const unsigned *a, const unsigned *b)
{
    const unsigned lane = simt_lane();
    double total[4] = { (double)sum[0], (double)sum[1], (double)sum[2], (double)sum[3] };
    for (unsigned half = 0; half < HALVES; half++)
        for (unsigned q = 0; q < 4; q++) {
            unsigned x[2], y[2];
            for (unsigned i = 0; i < 2; i++) {
                x[i] = __shfl_sync(0xffffffffu, a[2 * half + i], lane / 4 * 4 + q);
                y[i] = __shfl_sync(0xffffffffu, b[half], (lane % 4 * 2 + i) * 4 + q);
            }
            for (unsigned i = 0; i < 4; i++)
                total[i] += simt_products<A, B>(x[i / 2], y[i % 2]);
        }
    for (unsigned i = 0; i < 4; i++)
        sum[i] = (C)total[i];
}

#define SIMT_MMA(NAME, HALVES, A, B, C) \
    NT_DEV void NAME(C *sum, const unsigned *a, const unsigned *b) \
    { \
        simt_mma<HALVES, A, B>(sum, a, b); \
    }
SIMT_MMA(nt_mma_m16n8k16_f32_f16_f16, 2, nt_f16, nt_f16, float)
SIMT_MMA(nt_mma_m16n8k8_f32_f16_f16, 1, nt_f16, nt_f16, float)
SIMT_MMA(nt_mma_m16n8k16_f32_bf16_bf16, 2, nt_bf16, nt_bf16, float)
SIMT_MMA(nt_mma_m16n8k8_f32_tf32_tf32, 2, float, float, float)
SIMT_MMA(nt_mma_m16n8k32_s32_s8_s8, 2, signed char, signed char, int)
SIMT_MMA(nt_mma_m16n8k32_f32_e4m3_e4m3, 2, nt_e4m3, nt_e4m3, float)
SIMT_MMA(nt_mma_m16n8k32_f32_e4m3_e5m2, 2, nt_e4m3, nt_e5m2, float)
SIMT_MMA(nt_mma_m16n8k32_f32_e5m2_e4m3, 2, nt_e5m2, nt_e4m3, float)
SIMT_MMA(nt_mma_m16n8k32_f32_e5m2_e5m2, 2, nt_e5m2, nt_e5m2, float)

#endif
