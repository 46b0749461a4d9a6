// planted_async.cu - asynchronous copies, barriers in shared memory and matrix products: right kernels, and the same with
// one fault each; see test_async.cc. They are plain device code: a GPU runs the right ones as well.
#define NT_WGMMA_N8
#define NT_WGMMA_N16
#define NT_WGMMA_N64
#define NT_WGMMA_N128
#define NT_WGMMA_N256
#include "newt/base.cuh"
#include "newt/memory.cuh"
#include "newt/shared.cuh"
#include "newt/mma.cuh"
#include "newt/async.cuh"
#include "newt/mbarrier.cuh"
#include "newt/tma.cuh"
#include "newt/wgmma.cuh"
#include "newt/warps.cuh"
NT_DEFINE_PLAIN_LOAD(nt_load)
NT_DEFINE_STORE(nt_store, "st.global")

#define PARAMETERS \
    (const __grid_constant__ nt_tensor_map map, const __grid_constant__ nt_tensor_map to, unsigned char *out, const unsigned char *in)
#ifndef SIMT_ENTRY
#define SIMT_ENTRY(NAME)
#endif
#define ENTRY extern "C" __global__
#define KERNEL(NAME, THREADS) \
    ENTRY void NAME PARAMETERS; \
    SIMT_ENTRY(NAME) \
    ENTRY void __launch_bounds__(THREADS, 1) NAME PARAMETERS
#define BEGIN \
    extern __shared__ __align__(1024) unsigned char nt_smem[]; \
    const int tid = (int)threadIdx.x; \
    NT_SHARED(unsigned char, s, 0); \
    NT_SHARED(unsigned long long, bar, 96 * 1024); \
    (void)tid, (void)s, (void)bar;

// 16 bytes between registers and memory.
#define PUT(AT, WORDS) nt_put<16>(AT, (const unsigned char *)(WORDS))
#define TAKE(WORDS, AT) nt_take<16>((unsigned char *)(WORDS), AT)
#define STORE(AT, WORDS) nt_store<16>(out + (AT), (const unsigned char *)(WORDS))
#define LOAD(WORDS, AT) nt_load<16>((unsigned char *)(WORDS), in + (AT))

// ---- copies of single threads: 128 threads, each its 16 bytes of three rows of 2048, two ahead ----

#define RING(NAME, WAIT, BARRIER, LAST) \
    KERNEL(NAME, 128) \
    { \
        BEGIN \
        for (int i = 0; i < 2; i++) { \
            nt_copy_async<16>(s + (i * 2048 + tid * 16), in + i * 2048 + tid * 16, true); \
            nt_copy_commit(); \
        } \
        for (int i = 0; i < 3; i++) { \
            unsigned x[4]; \
            WAIT \
            BARRIER \
            TAKE(x, s + (i % 2 * 2048 + (tid ^ 64) * 16)); \
            LAST \
            if (i == 0) \
                nt_copy_async<16>(s + tid * 16, in + 2 * 2048 + tid * 16, tid < 100); \
            nt_copy_commit(); \
            STORE(i * 2048 + tid * 16, x); \
        } \
    }
RING(ring, nt_copy_wait<1>();, __syncthreads();, __syncthreads();)
#line 10 "planted.newt"
RING(ring_wait_too_short, nt_copy_wait<2>();, __syncthreads();, __syncthreads();)
RING(ring_no_wait, , __syncthreads();, __syncthreads();)
RING(ring_no_barrier, nt_copy_wait<1>();, , __syncthreads();)
RING(ring_overwritten, nt_copy_wait<1>();, __syncthreads();, )

KERNEL(copies_of_every_size, 128)
{
    BEGIN
    nt_copy_async<4>(s + tid * 4, in + tid * 4, true);
    nt_copy_async<8>(s + (1024 + tid * 8), in + 1024 + tid * 8, tid != 5);
    nt_copy_commit();
    nt_copy_wait<0>();
    __syncthreads();
    for (int i = 0; i < 2; i++)
        if (tid < 64 * (i + 1) / 2) {
            unsigned x[4];
            TAKE(x, s + (i * 1024 + tid * 16));
            STORE(i * 1024 + tid * 16, x);
        }
}

KERNEL(copy_misaligned, 128)
{
    BEGIN
#line 20 "planted.newt"
    nt_copy_async<16>(s + tid * 16, in + tid * 16 + 8, true);
}

KERNEL(copy_outside, 128)
{
    BEGIN
    nt_copy_async<16>(s + tid * 16, in + (1 << 20) + tid * 16, true);
}

KERNEL(copy_masked_outside, 128)
{
    BEGIN
    nt_copy_async<16>(s + tid * 16, in + (1 << 20) + tid * 16, false);
    nt_copy_commit();
    nt_copy_wait<0>();
}

KERNEL(barrier_of_half_a_warp, 128)
{
    nt_named_barrier(1, 48);
}

// ---- boxes: warp 0's first thread loads two boxes of 64 x 32 bytes each, the others read them ----

#define INIT(COUNT, FENCE) \
    if (tid == 0) { \
        nt_mbar_init(bar, 1); \
        nt_mbar_init(bar + 1, COUNT); \
        FENCE \
    } \
    __syncthreads();

// Two loads through one buffer: filled, read by three warps, given back, filled again.
#define BOXES(NAME, START, BYTES, FULL, EMPTY, ARRIVE) \
    KERNEL(NAME, 128) \
    { \
        BEGIN \
        START \
        if (tid < 32) { \
            for (int i = 0; i < 2 && tid == 0; i++) { \
                EMPTY \
                nt_mbar_expect(bar, BYTES); \
                nt_tma_load<2>(s, &map, bar, 16 * i, 4 * i); \
            } \
        } else { \
            for (int i = 0; i < 2; i++) { \
                FULL \
                for (int at = (tid - 32) * 16; at < 2048; at += 96 * 16) { \
                    unsigned x[4]; \
                    TAKE(x, s + at); \
                    STORE(2048 * i + at, x); \
                } \
                __syncwarp(); \
                ARRIVE \
            } \
        } \
    }
#define FULL_WAIT nt_mbar_wait(bar, i & 1);
#define EMPTY_WAIT nt_mbar_wait(bar + 1, (i & 1) ^ 1);
#define WARP_ARRIVES \
    if (tid % 32 == 0) \
        nt_mbar_arrive(bar + 1);
BOXES(boxes, INIT(3, nt_mbar_init_fence();), 2048, FULL_WAIT, EMPTY_WAIT, WARP_ARRIVES)
#line 30 "planted.newt"
BOXES(boxes_no_init_fence, INIT(3, ), 2048, FULL_WAIT, EMPTY_WAIT, WARP_ARRIVES)
BOXES(boxes_no_full_wait, INIT(3, nt_mbar_init_fence();), 2048, , EMPTY_WAIT, WARP_ARRIVES)
BOXES(boxes_no_empty_wait, INIT(3, nt_mbar_init_fence();), 2048, FULL_WAIT, , WARP_ARRIVES)
BOXES(boxes_wrong_parity, INIT(3, nt_mbar_init_fence();), 2048, nt_mbar_wait(bar, (i & 1) ^ 1);, EMPTY_WAIT, WARP_ARRIVES)
BOXES(boxes_lost_arrival, INIT(4, nt_mbar_init_fence();), 2048, FULL_WAIT, EMPTY_WAIT, WARP_ARRIVES)
BOXES(boxes_early_release, INIT(1, nt_mbar_init_fence();), 2048, FULL_WAIT, EMPTY_WAIT, WARP_ARRIVES)
BOXES(boxes_too_many_bytes, INIT(3, nt_mbar_init_fence();), 4096, FULL_WAIT, EMPTY_WAIT, WARP_ARRIVES)
BOXES(boxes_not_initialised, , 2048, FULL_WAIT, EMPTY_WAIT, WARP_ARRIVES)
BOXES(boxes_no_barrier_after_init, if (tid == 0) { nt_mbar_init(bar, 1); nt_mbar_init(bar + 1, 3); nt_mbar_init_fence(); }, 2048,
      FULL_WAIT, EMPTY_WAIT, WARP_ARRIVES)

KERNEL(extra_arrival, 128)
{
    BEGIN
    if (tid == 0) {
        nt_mbar_init(bar, 1);
        nt_mbar_expect(bar, 64);
#line 40 "planted.newt"
        nt_mbar_arrive(bar);
    }
}

KERNEL(box_misaligned, 128)
{
    BEGIN
    INIT(1, nt_mbar_init_fence();)
    if (tid == 0) {
        nt_mbar_expect(bar, 2048);
        nt_tma_load<2>(s + 64, &map, bar, 0, 0);
        nt_mbar_wait(bar, 0);
    }
}

KERNEL(box_at_odd_column, 128)
{
    BEGIN
    INIT(1, nt_mbar_init_fence();)
    if (tid == 0) {
        nt_mbar_expect(bar, 2048);
        nt_tma_load<2>(s, &map, bar, 8, 0);
        nt_mbar_wait(bar, 0);
    }
}

KERNEL(box_of_other_rank, 128)
{
    BEGIN
    INIT(1, nt_mbar_init_fence();)
    if (tid == 0)
        nt_tma_load<1>(s, &map, bar, 0);
}

// The box of `map` at (-16, 5) as it stands in shared memory, and then stored through `to` at (32, -2).
#define ROUND(NAME, FENCE, BARRIER, BEFORE_REUSE, END) \
    KERNEL(NAME, 128) \
    { \
        BEGIN \
        INIT(1, nt_mbar_init_fence();) \
        if (tid == 0) { \
            nt_mbar_expect(bar, 2048); \
            nt_tma_load<2>(s, &map, bar, -16, 5); \
        } \
        nt_mbar_wait(bar, 0); \
        unsigned x[4]; \
        TAKE(x, s + tid * 16); \
        STORE(tid * 16, x); \
        PUT(s + (2048 + tid * 16), x); \
        FENCE \
        BARRIER \
        if (tid == 0) { \
            nt_tma_store<2>(&to, s + 2048, 32, -2); \
            nt_tma_store_commit(); \
            BEFORE_REUSE \
        } \
        __syncthreads(); \
        PUT(s + (2048 + tid * 16), x); \
        if (tid == 0) { \
            END \
        } \
    }
ROUND(round_trip, nt_fence_async();, __syncthreads();, nt_tma_store_wait_read<0>();, nt_tma_store_wait<0>();)
#line 50 "planted.newt"
ROUND(round_no_fence, , __syncthreads();, nt_tma_store_wait_read<0>();, nt_tma_store_wait<0>();)
ROUND(round_no_barrier, nt_fence_async();, , nt_tma_store_wait_read<0>();, nt_tma_store_wait<0>();)
ROUND(round_no_read_wait, nt_fence_async();, __syncthreads();, , nt_tma_store_wait<0>();)
ROUND(round_short_read_wait, nt_fence_async();, __syncthreads();, nt_tma_store_wait_read<1>();, nt_tma_store_wait<0>();)

KERNEL(store_not_waited_for, 128)
{
    BEGIN
    unsigned x[4] = {};
    PUT(s + tid * 16, x);
    nt_fence_async();
    __syncthreads();
    if (tid == 0) {
        nt_tma_store<2>(&to, s, 0, 0);
        nt_tma_store_commit();
    }
}

// ---- matrices of a warp ----

// What stmatrix writes, ldmatrix reads, with and without transposition.
KERNEL(matrices, 32)
{
    BEGIN
    unsigned x[4], y[4];
    for (int i = 0; i < 4; i++)
        x[i] = (unsigned)(tid * 2 + 64 * i) | (unsigned)(tid * 2 + 64 * i + 1) << 16;
    nt_stmatrix<4>(s + tid * 16, x);
    __syncwarp();
    TAKE(y, s + tid * 16);
    STORE(tid * 16, y);
    nt_stmatrix_trans<4>(s + (512 + tid * 16), x);
    __syncwarp();
    TAKE(y, s + (512 + tid * 16));
    STORE(512 + tid * 16, y);
    nt_ldmatrix<4>(y, s + tid * 16);
    STORE(1024 + tid * 16, y);
    nt_ldmatrix_trans<4>(y, s + (512 + tid * 16));
    STORE(1536 + tid * 16, y);
}

KERNEL(matrices_of_half, 32)
{
    BEGIN
    unsigned x[4] = { 1, 2, 3, 4 };
    PUT(s + tid * 16, x);
    __syncwarp();
#line 45 "planted.newt"
    if (tid < 16)
        nt_ldmatrix<4>(x, s + tid * 16);
    STORE(tid * 16, x);
}

// All lanes to one bank.
KERNEL(copy_conflicts, 128)
{
    BEGIN
    nt_copy_async<4>(s + tid * 128, in + tid * 4, true);
    nt_copy_commit();
    nt_copy_wait<0>();
}

// ---- products of a warpgroup ----

// Where a piece of 16 bytes of a factor stands: `line` is a row of a K-major factor and a k of the other kind, SPAN the bytes
// of the swizzle (0: none), LINES the lines of a chunk of SPAN bytes.
template <int SPAN, bool SWAPS, int LINES> NT_DEV int place(int line, int piece)
{
    if constexpr (SPAN == 0)
        return SWAPS ? piece * 256 + line / 8 * 128 + line % 8 * 16 : line / 8 * 256 + piece * 128 + line % 8 * 16;
    constexpr int across = SPAN == 0 ? 1 : SPAN / 16;
    const int change = SPAN == 128 ? line % 8 : SPAN == 64 ? line / 2 % 4 : line / 4 % 2;
    return piece / across * LINES * SPAN + line * SPAN + (piece % across ^ change) * 16;
}

template <int SPAN, bool SWAPS, int LINES, class P> NT_DEV unsigned long long factor(P at, int step)
{
    constexpr unsigned layout = SPAN == 128 ? 1 : SPAN == 64 ? 2 : SPAN == 32 ? 3 : 0;
    if constexpr (SPAN == 0)
        return nt_wgmma_desc(at, 128, 256, layout);
    else
        return nt_wgmma_desc(at + step * (SWAPS ? 16 * SPAN : 32), LINES * SPAN, 8 * SPAN, layout);
}

// Fills a factor of LINES lines of PIECES pieces from its rows in global memory.
template <int SPAN, bool SWAPS, int LINES, int PIECES, class P> NT_DEV void fill(P at, const unsigned char *from, int tid)
{
    for (int i = tid; i < LINES * PIECES; i += 128) {
        unsigned x[4];
        nt_load<16>((unsigned char *)x, from + i * 16);
        PUT((at + place<SPAN, SWAPS, LINES>(i / PIECES, i % PIECES)), x);
    }
}

// K bytes of a row of a K-major factor are the span, 32 without one. A stands in front of B, at 32 KiB from it.
#define PRODUCT_BEGIN(N, SPAN, SWAP_A, SWAP_B, BYTES) \
    BEGIN \
    constexpr int row = SPAN ? SPAN : 32, k = row / BYTES, steps = row / 32; \
    constexpr int a_lines = SWAP_A ? k : 64, b_lines = SWAP_B ? k : N; \
    fill<SPAN, SWAP_A, a_lines, (SWAP_A ? 64 * BYTES : row) / 16>(s, in, tid); \
    fill<SPAN, SWAP_B, b_lines, (SWAP_B ? N * BYTES : row) / 16>(s + 32768, in + 32768, tid);
#define A_AT factor<SPAN, SWAP_A, a_lines>(s, i)
#define B_AT factor<SPAN, SWAP_B, b_lines>(s + 32768, i)

// The sum as rows of N numbers.
template <int N, class T> NT_DEV void put_sum(unsigned char *out, const T *sum, int tid)
{
    for (int i = 0; i < N / 2; i += 2) {
        const int row = tid / 32 * 16 + tid % 32 / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + tid % 4 * 2;
        nt_store<2>((T *)out + row * N + column, sum + i);
    }
}

#define PRODUCT(NAME, N_, SPAN_, SWAP_A_, SWAP_B_, BYTES, T, CALL) \
    KERNEL(NAME, 128) \
    { \
        constexpr int N = N_, SPAN = SPAN_; \
        constexpr bool SWAP_A = SWAP_A_, SWAP_B = SWAP_B_; \
        PRODUCT_BEGIN(N, SPAN, SWAP_A, SWAP_B, BYTES) \
        nt_fence_async(); \
        __syncthreads(); \
        T sum[N / 2]; \
        nt_wgmma_fence(); \
        for (int i = 0; i < steps; i++) \
            CALL(sum, A_AT, B_AT, i > 0); \
        nt_wgmma_commit(); \
        nt_wgmma_wait<0>(); \
        nt_wgmma_keep(sum); \
        put_sum<N>(out, sum, tid); \
    }
#define F16(N) nt_wgmma_m64n##N##k16_f32_f16_f16
#define COMMA ,
PRODUCT(f16_128, 64, 128, false, false, 2, float, F16(64)<0 COMMA 0>)
PRODUCT(f16_64, 64, 64, false, false, 2, float, F16(64)<0 COMMA 0>)
PRODUCT(f16_32, 64, 32, false, false, 2, float, F16(64)<0 COMMA 0>)
PRODUCT(f16_0, 64, 0, false, false, 2, float, F16(64)<0 COMMA 0>)
PRODUCT(f16_128_b, 64, 128, false, true, 2, float, F16(64)<0 COMMA 1>)
PRODUCT(f16_64_b, 64, 64, false, true, 2, float, F16(64)<0 COMMA 1>)
PRODUCT(f16_32_b, 64, 32, false, true, 2, float, F16(64)<0 COMMA 1>)
PRODUCT(f16_0_b, 64, 0, false, true, 2, float, F16(64)<0 COMMA 1>)
PRODUCT(f16_128_ab, 128, 128, true, true, 2, float, F16(128)<1 COMMA 1>)
PRODUCT(f16_64_a, 16, 64, true, false, 2, float, F16(16)<1 COMMA 0>)
PRODUCT(f16_32_a, 16, 32, true, false, 2, float, F16(16)<1 COMMA 0>)
PRODUCT(f16_0_a, 16, 0, true, false, 2, float, F16(16)<1 COMMA 0>)
PRODUCT(f16_n256, 256, 128, false, true, 2, float, F16(256)<0 COMMA 1>)
PRODUCT(f16_n8, 8, 128, false, false, 2, float, F16(8)<0 COMMA 0>)
PRODUCT(bf16_128, 64, 128, false, true, 2, float, nt_wgmma_m64n64k16_f32_bf16_bf16<0 COMMA 1>)
PRODUCT(tf32_128, 64, 128, false, false, 4, float, nt_wgmma_m64n64k8_f32_tf32_tf32)
PRODUCT(e4m3_e4m3, 64, 128, false, false, 1, float, nt_wgmma_m64n64k32_f32_e4m3_e4m3)
PRODUCT(e4m3_e5m2, 64, 128, false, false, 1, float, nt_wgmma_m64n64k32_f32_e4m3_e5m2)
PRODUCT(e5m2_e4m3, 64, 128, false, false, 1, float, nt_wgmma_m64n64k32_f32_e5m2_e4m3)
PRODUCT(e5m2_e5m2, 64, 128, false, false, 1, float, nt_wgmma_m64n64k32_f32_e5m2_e5m2)
PRODUCT(s8_128, 64, 128, false, false, 1, int, nt_wgmma_m64n64k32_s32_s8_s8)
#define SWIZZLE_FLIPPED(SUM, A, B, SCALE) F16(64)<0, 0>(SUM, A ^ 3ull << 62, B, SCALE)
PRODUCT(f16_flipped, 64, 128, false, false, 2, float, SWIZZLE_FLIPPED)

// A from registers, and a sum that starts at 1.
#define FROM_REGISTERS(NAME, N_, BYTES, T, CALL) \
    KERNEL(NAME, 128) \
    { \
        constexpr int N = N_, SPAN = 128; \
        constexpr bool SWAP_B = false; \
        PRODUCT_BEGIN(N, 128, false, false, BYTES) \
        (void)k, (void)a_lines; \
        nt_fence_async(); \
        __syncthreads(); \
        T sum[N / 2]; \
        for (int i = 0; i < N / 2; i++) \
            sum[i] = 1; \
        for (int i = 0; i < steps; i++) { \
            unsigned x[4]; \
            for (int w = 0; w < 4; w++) { \
                const int line = tid / 32 * 16 + tid % 32 / 4 + w % 2 * 8, word = tid % 4 + w / 2 * 4; \
                nt_load<4>((unsigned char *)&x[w], in + line * 128 + i * 32 + word * 4); \
            } \
            nt_wgmma_keep(x); \
            nt_wgmma_fence(); \
            CALL(sum, x, B_AT, 1); \
            nt_wgmma_commit(); \
            nt_wgmma_wait<0>(); \
            nt_wgmma_keep(sum); \
            nt_wgmma_keep(x); \
        } \
        put_sum<N>(out, sum, tid); \
    }
FROM_REGISTERS(f16_registers, 64, 2, float, nt_wgmma_m64n64k16_f32_f16_f16_rs<0>)
FROM_REGISTERS(tf32_registers, 64, 4, float, nt_wgmma_m64n64k8_f32_tf32_tf32_rs)
FROM_REGISTERS(e4m3_registers, 64, 1, float, nt_wgmma_m64n64k32_f32_e4m3_e5m2_rs)
FROM_REGISTERS(s8_registers, 64, 1, int, nt_wgmma_m64n64k32_s32_s8_s8_rs)

#define REGISTER_FACTOR(NAME, EARLY, FENCE, BEFORE, AFTER) \
    KERNEL(NAME, 128) \
    { \
        constexpr int N = 8, SPAN = 128; \
        constexpr bool SWAP_B = false; \
        PRODUCT_BEGIN(N, 128, false, false, 2) \
        (void)k, (void)a_lines, (void)steps; \
        nt_fence_async(); \
        __syncthreads(); \
        const int i = 0; \
        unsigned x[4]; \
        float sum[N / 2]; \
        EARLY \
        for (int w = 0; w < 4; w++) \
            nt_load<4>((unsigned char *)&x[w], in + tid * 16 + w * 4); \
        FENCE \
        nt_wgmma_m64n8k16_f32_f16_f16_rs<0>(sum, x, B_AT, 0); \
        nt_wgmma_commit(); \
        BEFORE \
        nt_wgmma_wait<0>(); \
        nt_wgmma_keep(sum); \
        AFTER \
        put_sum<N>(out, sum, tid); \
        STORE(64 * 1024 + tid * 16, x); \
    }
#define KEEP nt_wgmma_keep(x);
#define KEEP_FENCE KEEP nt_wgmma_fence();
REGISTER_FACTOR(registers_kept, , KEEP_FENCE, , KEEP)
#line 55 "planted.newt"
REGISTER_FACTOR(registers_behind_fence, nt_wgmma_fence();, KEEP, , KEEP)
REGISTER_FACTOR(registers_overwritten, , KEEP_FENCE, x[2] ^= 1;, KEEP)
REGISTER_FACTOR(registers_not_kept, , KEEP_FENCE, , )
REGISTER_FACTOR(registers_kept_too_early, , KEEP_FENCE, KEEP, )

// An fp16 sum, in words.
KERNEL(f16_sum, 128)
{
    constexpr int N = 64, SPAN = 128;
    constexpr bool SWAP_A = false, SWAP_B = false;
    PRODUCT_BEGIN(N, SPAN, SWAP_A, SWAP_B, 2)
    nt_fence_async();
    __syncthreads();
    unsigned sum[N / 4];
    nt_wgmma_fence();
    for (int i = 0; i < steps; i++)
        nt_wgmma_m64n64k16_f16_f16_f16<0, 0>(sum, A_AT, B_AT, i > 0);
    nt_wgmma_commit();
    nt_wgmma_wait<0>();
    nt_wgmma_keep(sum);
    for (int i = 0; i < N / 4; i++) {
        const int row = tid / 32 * 16 + tid % 32 / 4 + i % 2 * 8, column = i / 2 * 8 + tid % 4 * 2;
        nt_store<1>((unsigned *)out + (row * N + column) / 2, sum + i);
    }
}

// Two products in groups of their own; the faults are in what stands around them.
#define FAULTY(NAME, PROXY_FENCE, BARRIER, FENCE, COMMIT, WAIT, AFTER) \
    KERNEL(NAME, 128) \
    { \
        constexpr int N = 8, SPAN = 128; \
        constexpr bool SWAP_A = false, SWAP_B = false; \
        PRODUCT_BEGIN(N, SPAN, SWAP_A, SWAP_B, 2) \
        PROXY_FENCE \
        BARRIER \
        float sum[N / 2]; \
        FENCE \
        for (int i = 0; i < 2; i++) { \
            F16(8)<0, 0>(sum, A_AT, B_AT, i > 0); \
            COMMIT \
        } \
        WAIT \
        AFTER \
        nt_wgmma_wait<0>(); \
        put_sum<N>(out, sum, tid); \
    }
#define WAIT(N) \
    nt_wgmma_wait<N>(); \
    nt_wgmma_keep(sum);
#define PUT_AGAIN \
    __syncthreads(); \
    fill<128, false, 64, 8>(s, in, tid);
FAULTY(f16_right, nt_fence_async();, __syncthreads();, nt_wgmma_fence();, nt_wgmma_commit();, WAIT(0), PUT_AGAIN)
#line 60 "planted.newt"
FAULTY(f16_no_proxy_fence, , __syncthreads();, nt_wgmma_fence();, nt_wgmma_commit();, WAIT(0), )
FAULTY(f16_no_barrier, nt_fence_async();, , nt_wgmma_fence();, nt_wgmma_commit();, WAIT(0), )
FAULTY(f16_no_fence, nt_fence_async();, __syncthreads();, , nt_wgmma_commit();, WAIT(0), )
FAULTY(f16_no_commit, nt_fence_async();, __syncthreads();, nt_wgmma_fence();, , WAIT(0), )
FAULTY(f16_wait_too_short, nt_fence_async();, __syncthreads();, nt_wgmma_fence();, nt_wgmma_commit();, WAIT(1), )
FAULTY(f16_factor_overwritten, nt_fence_async();, __syncthreads();, nt_wgmma_fence();, nt_wgmma_commit();, nt_wgmma_wait<1>();, PUT_AGAIN)
FAULTY(f16_sum_used, nt_fence_async();, __syncthreads();, nt_wgmma_fence();, nt_wgmma_commit();, nt_wgmma_wait<1>();,
       nt_store<1>((float *)out, sum);)
FAULTY(f16_sum_written, nt_fence_async();, __syncthreads();, nt_wgmma_fence();, nt_wgmma_commit();, nt_wgmma_wait<1>();, sum[1] = 0;)

KERNEL(f16_touched_without_fence, 128)
{
    constexpr int N = 8, SPAN = 128;
    constexpr bool SWAP_A = false, SWAP_B = false;
    PRODUCT_BEGIN(N, SPAN, SWAP_A, SWAP_B, 2)
    nt_fence_async();
    __syncthreads();
    float sum[N / 2];
    nt_wgmma_fence();
    for (int i = 0; i < 2; i++) {
#line 70 "planted.newt"
        F16(8)<0, 0>(sum, A_AT, B_AT, i > 0);
        nt_wgmma_commit();
        nt_wgmma_wait<0>();
        nt_wgmma_keep(sum);
        for (int j = 0; j < N / 2; j++)
            sum[j] += 1;
    }
    put_sum<N>(out, sum, tid);
}

KERNEL(f16_three_warps, 96)
{
    BEGIN
    float sum[4];
    nt_wgmma_fence();
    F16(8)<0, 0>(sum, nt_wgmma_desc(s, 0, 1024, 1), nt_wgmma_desc(s, 0, 1024, 1), 0);
}

KERNEL(f16_one_warp_lacks, 128)
{
    constexpr int N = 8, SPAN = 128;
    constexpr bool SWAP_A = false, SWAP_B = false;
    PRODUCT_BEGIN(N, SPAN, SWAP_A, SWAP_B, 2)
    nt_fence_async();
    __syncthreads();
    const int i = 0;
    float sum[N / 2];
    nt_wgmma_fence();
    if (tid < 96)
        F16(8)<0, 0>(sum, A_AT, B_AT, 0);
}

// ---- registers: 128 threads produce, 256 compute ----

#define REGISTERS(NAME, FEW, MANY) \
    KERNEL(NAME, 384) \
    { \
        BEGIN \
        if (tid < 128) \
            nt_registers_down<FEW>(); \
        else \
            nt_registers_up<MANY>(); \
        __syncthreads(); \
        if (tid == 0) \
            nt_store<1>(out, (const unsigned char *)&map); \
    }
REGISTERS(registers, 40, 232)
#line 80 "planted.newt"
REGISTERS(registers_too_many, 40, 240)
#ifndef __CUDA_ARCH__  // ptxas refuses these
REGISTERS(registers_odd, 44, 232)
REGISTERS(registers_down_is_up, 176, 168)
#endif

KERNEL(registers_of_one_warp, 384)
{
    if (threadIdx.x < 32)
        nt_registers_down<40>();
}
