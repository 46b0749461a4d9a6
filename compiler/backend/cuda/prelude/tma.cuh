// tma.cuh - copies of boxes of tensors between global and shared memory; one thread issues one.
//
// Coordinates are of elements, the innermost axis first, and that one a multiple of 16 bytes: anything else is an
// illegal instruction. What lies outside of the tensor reads as zero and is not written. A load completes its
// whole box's bytes on the barrier, those outside of the tensor too. The map is a kernel parameter,
// `const __grid_constant__ nt_tensor_map`; the box in shared memory starts at a multiple of 128 bytes, of 1024 with
// the 128-byte swizzle. The emulator of the tests has a file of this name of its own.
#ifndef NT_TMA_CUH
#define NT_TMA_CUH
#include "newt/base.cuh"

// What cuTensorMapEncodeTiled fills.
struct alignas(64) nt_tensor_map { unsigned char bytes[128]; };

#if __CUDA_ARCH__ >= 900
NT_DEV unsigned nt_tma_at(const void *shared)
{
    return (unsigned)__cvta_generic_to_shared(shared);
}

// For each rank: F(rank, coordinates as operands from %2 on, from %3 on, from %4 on, the inputs).
#define NT_TMA_BY_RANK(F) \
    if constexpr (RANK == 1) \
        F("1", "%2", "%3", "%4", "r"(c[0])); \
    else if constexpr (RANK == 2) \
        F("2", "%2, %3", "%3, %4", "%4, %5", "r"(c[0]), "r"(c[1])); \
    else if constexpr (RANK == 3) \
        F("3", "%2, %3, %4", "%3, %4, %5", "%4, %5, %6", "r"(c[0]), "r"(c[1]), "r"(c[2])); \
    else if constexpr (RANK == 4) \
        F("4", "%2, %3, %4, %5", "%3, %4, %5, %6", "%4, %5, %6, %7", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3])); \
    else \
        F("5", "%2, %3, %4, %5, %6", "%3, %4, %5, %6, %7", "%4, %5, %6, %7, %8", \
          "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]))

#define NT_TMA_LOAD(DIMS, FROM_2, COORDS, FROM_4, ...) \
    asm volatile("cp.async.bulk.tensor." DIMS "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes " \
                 "[%0], [%1, {" COORDS "}], [%2];" \
                 ::"r"(nt_tma_at(to)), "l"(map), "r"(nt_tma_at(bar)), __VA_ARGS__ : "memory")
template <int RANK, class... C>
NT_DEV void nt_tma_load(void *to, const nt_tensor_map *map, unsigned long long *bar, C... coords)
{
    static_assert(sizeof...(C) == RANK, "one coordinate an axis");
    const int c[] = { (int)coords... };
    NT_TMA_BY_RANK(NT_TMA_LOAD);
}

// The same with a policy of the L2 as nt_policy_evict_first gives it.
#define NT_TMA_LOAD_HINT(DIMS, FROM_2, FROM_3, COORDS, ...) \
    asm volatile("cp.async.bulk.tensor." DIMS "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes" \
                 ".L2::cache_hint [%0], [%1, {" COORDS "}], [%2], %3;" \
                 ::"r"(nt_tma_at(to)), "l"(map), "r"(nt_tma_at(bar)), "l"(policy), __VA_ARGS__ : "memory")
template <int RANK, class... C>
NT_DEV void nt_tma_load_hint(void *to, const nt_tensor_map *map, unsigned long long *bar, unsigned long long policy, C... coords)
{
    static_assert(sizeof...(C) == RANK, "one coordinate an axis");
    const int c[] = { (int)coords... };
    NT_TMA_BY_RANK(NT_TMA_LOAD_HINT);
}

// For data that the grid reads once.
NT_DEV unsigned long long nt_policy_evict_first()
{
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}

#define NT_TMA_STORE(DIMS, COORDS, FROM_3, FROM_4, ...) \
    asm volatile("cp.async.bulk.tensor." DIMS "d.global.shared::cta.tile.bulk_group [%0, {" COORDS "}], [%1];" \
                 ::"l"(map), "r"(nt_tma_at(from)), __VA_ARGS__ : "memory")
template <int RANK, class... C> NT_DEV void nt_tma_store(const nt_tensor_map *map, const void *from, C... coords)
{
    static_assert(sizeof...(C) == RANK, "one coordinate an axis");
    const int c[] = { (int)coords... };
    NT_TMA_BY_RANK(NT_TMA_STORE);
}

// The thread's stores since the last commit are a group.
NT_DEV void nt_tma_store_commit()
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until all groups of the thread but the N newest have read shared memory, or are done.
template <int N> NT_DEV void nt_tma_store_wait_read()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}

template <int N> NT_DEV void nt_tma_store_wait()
{
    asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory");
}

NT_DEV void nt_tma_prefetch(const nt_tensor_map *map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// What this thread wrote to shared memory, wgmma and stores of boxes started later read; for those that other
// threads start there is a barrier in between besides.
NT_DEV void nt_fence_async()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
#endif

#endif
