// tma.cuh - the emulator's copies of boxes of tensors; see the prelude's file of this name.
#ifndef NT_TMA_CUH
#define NT_TMA_CUH
#include "newt/base.cuh"

struct alignas(64) nt_tensor_map { unsigned char bytes[128]; };

template <int RANK, class TO, class BAR, class... C> NT_DEV void nt_tma_load(TO to, const nt_tensor_map *map, BAR bar, C... coords)
{
    static_assert(sizeof...(C) == RANK, "one coordinate an axis");
    const int c[] = { (int)coords... };
    simt_tma_load((void *)simt_at(to), map, (void *)simt_at(bar), RANK, c);
}

template <int RANK, class TO, class BAR, class... C>
NT_DEV void nt_tma_load_hint(TO to, const nt_tensor_map *map, BAR bar, unsigned long long, C... coords)
{
    nt_tma_load<RANK>(to, map, bar, coords...);
}

NT_DEV unsigned long long nt_policy_evict_first()
{
    return 0;
}

template <int RANK, class FROM, class... C> NT_DEV void nt_tma_store(const nt_tensor_map *map, FROM from, C... coords)
{
    static_assert(sizeof...(C) == RANK, "one coordinate an axis");
    const int c[] = { (int)coords... };
    simt_tma_store(map, (const void *)simt_at(from), RANK, c);
}

NT_DEV void nt_tma_store_commit()
{
    simt_tma_store_commit();
}

template <int N> NT_DEV void nt_tma_store_wait_read()
{
    simt_tma_store_wait(N, true);
}

template <int N> NT_DEV void nt_tma_store_wait()
{
    simt_tma_store_wait(N, false);
}

NT_DEV void nt_tma_prefetch(const nt_tensor_map *)
{
}

NT_DEV void nt_fence_async()
{
    simt_fence_async();
}

#endif
