// cluster.cuh - two blocks that run together: their barriers, arrivals at each other's mbarriers, copies for both.
//
// Blocks of a cluster have the same layout of shared memory: what one names by its own address is at that place in all.
// nt_cluster_sync stands in front of the first access to another block's memory, behind the initialisation of barriers,
// and behind the last one: no block ends before. The emulator of the tests has a file of this name of its own.
#ifndef NT_CLUSTER_CUH
#define NT_CLUSTER_CUH
#include "newt/mbarrier.cuh"
#include "newt/tma.cuh"

#if __CUDA_ARCH__ >= 900
// All threads of all blocks of the cluster; those of a warp together.
NT_DEV void nt_cluster_sync()
{
    asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
}

// Arrives at the barrier that block RANK of the cluster has in the place of `bar`. It orders no accesses of this thread:
// what is handed back has been read by instructions that the thread has waited for.
NT_DEV void nt_mbar_arrive_at(unsigned long long *bar, unsigned rank)
{
    asm volatile("{\n\t.reg .b32 there;\n\tmapa.shared::cluster.u32 there, %0, %1;\n\t"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];\n\t}"
                 ::"r"((unsigned)__cvta_generic_to_shared(bar)), "r"(rank) : "memory");
}

// A copy to the same place of all blocks in MASK, which completes its bytes on each one's own barrier.
#define NT_TMA_LOAD_MULTICAST(DIMS, FROM_2, FROM_3, COORDS, ...) \
    asm volatile("cp.async.bulk.tensor." DIMS "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes" \
                 ".multicast::cluster [%0], [%1, {" COORDS "}], [%2], %3;" \
                 ::"r"(nt_tma_at(to)), "l"(map), "r"(nt_tma_at(bar)), "h"(mask), __VA_ARGS__ : "memory")
template <int RANK, class... C>
NT_DEV void nt_tma_load_multicast(void *to, const nt_tensor_map *map, unsigned long long *bar, unsigned short mask,
                                  C... coords)
{
    static_assert(sizeof...(C) == RANK, "one coordinate an axis");
    const int c[] = { (int)coords... };
    NT_TMA_BY_RANK(NT_TMA_LOAD_MULTICAST);
}
#endif

#endif
