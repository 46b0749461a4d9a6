// planted_cluster.cu - pairs of programs that run together: one right kernel, and the same with one fault each; see
// test_cluster.cc. Each program copies its half of two rounds of boxes to both, and both read all of it.
#include "newt/base.cuh"
#include "newt/memory.cuh"
#include "newt/shared.cuh"
#include "newt/mbarrier.cuh"
#include "newt/tma.cuh"
#include "newt/cluster.cuh"
NT_DEFINE_PLAIN_LOAD(nt_load)
NT_DEFINE_STORE(nt_store, "st.global")

#ifndef SIMT_ENTRY
#define SIMT_ENTRY(NAME)
#endif
#define PARAMETERS (const __grid_constant__ nt_tensor_map map, unsigned char *out)
#define ENTRY extern "C" __global__
#define KERNEL(NAME) \
    ENTRY void NAME PARAMETERS; \
    SIMT_ENTRY(NAME) \
    ENTRY void __launch_bounds__(128, 1) NAME PARAMETERS

// bar: all bytes have come; bar + 1: the warps that read them, of both programs.
#define PAIR(NAME, FENCE, FIRST, MASK, BYTES, COUNT, ARRIVE, LAST) \
    KERNEL(NAME) \
    { \
        extern __shared__ __align__(1024) unsigned char nt_smem[]; \
        NT_SHARED(unsigned char, s, 0); \
        NT_SHARED(unsigned long long, bar, 4096); \
        const int tid = (int)threadIdx.x; \
        const unsigned rank = blockIdx.x % 2, other = rank ^ 1; \
        (void)other; \
        if (tid == 0) { \
            nt_mbar_init(bar, 1); \
            nt_mbar_init(bar + 1, COUNT); \
            FENCE \
        } \
        FIRST \
        if (tid == 0) { \
            for (int i = 0; i < 2; i++) { \
                nt_mbar_wait(bar + 1, (i & 1) ^ 1); \
                nt_mbar_expect(bar, BYTES); \
                nt_tma_load_multicast<2>(s + rank * 2048, &map, bar, MASK, 16 * (int)rank, 4 * i); \
            } \
        } else if (tid >= 32) { \
            for (int i = 0; i < 2; i++) { \
                nt_mbar_wait(bar, i & 1); \
                for (int at = (tid - 32) * 16; at < 4096; at += 96 * 16) { \
                    unsigned x[4]; \
                    nt_take<16>((unsigned char *)x, s + at); \
                    nt_store<16>(out + ((rank * 2 + i) * 4096 + at), (const unsigned char *)x); \
                } \
                __syncwarp(); \
                if (tid % 32 == 0) { \
                    nt_mbar_arrive(bar + 1); \
                    ARRIVE \
                } \
            } \
        } \
        LAST \
    }
#define FENCED nt_mbar_init_fence();
#define SYNC nt_cluster_sync();
#define BOTH nt_mbar_arrive_at(bar + 1, other);
PAIR(pair, FENCED, SYNC, 3, 4096, 6, BOTH, SYNC)
#line 10 "planted.newt"
PAIR(pair_no_fence, , SYNC, 3, 4096, 6, BOTH, SYNC)
PAIR(pair_no_first_sync, FENCED, __syncthreads();, 3, 4096, 6, BOTH, SYNC)
PAIR(pair_copies_to_itself, FENCED, SYNC, 1 << rank, 4096, 6, BOTH, SYNC)
PAIR(pair_of_three, FENCED, SYNC, 7, 4096, 6, BOTH, SYNC)
PAIR(pair_too_many_bytes, FENCED, SYNC, 3, 8192, 6, BOTH, SYNC)
PAIR(pair_waits_for_own_readers, FENCED, SYNC, 3, 4096, 3, , SYNC)
PAIR(pair_lost_arrivals, FENCED, SYNC, 3, 4096, 6, , SYNC)
PAIR(pair_arrives_nowhere, FENCED, SYNC, 3, 4096, 3, nt_mbar_arrive_at(bar + 1, 2);, SYNC)
PAIR(pair_arrives_twice, FENCED, SYNC, 3, 4096, 6, BOTH nt_mbar_arrive_at(bar + 1, other);, SYNC)
PAIR(pair_no_last_sync, FENCED, SYNC, 3, 4096, 6, BOTH, )
PAIR(pair_one_warp_lacks, FENCED, if (tid >= 32) nt_cluster_sync();, 3, 4096, 6, BOTH, __syncthreads();)
