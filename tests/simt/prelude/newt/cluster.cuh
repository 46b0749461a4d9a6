// cluster.cuh - the emulator's clusters of programs; see the prelude's file of this name.
#ifndef NT_CLUSTER_CUH
#define NT_CLUSTER_CUH
#include "newt/tma.cuh"

NT_DEV void nt_cluster_sync()
{
    simt_cluster_barrier();
}

template <class P> NT_DEV void nt_mbar_arrive_at(P bar, unsigned rank)
{
    simt_mbar_arrive_at((void *)simt_at(bar), rank);
}

template <int RANK, class TO, class BAR, class... C>
NT_DEV void nt_tma_load_multicast(TO to, const nt_tensor_map *map, BAR bar, unsigned short mask, C... coords)
{
    static_assert(sizeof...(C) == RANK, "one coordinate an axis");
    const int c[] = { (int)coords... };
    simt_tma_load_multicast((void *)simt_at(to), map, (void *)simt_at(bar), mask, RANK, c);
}

#endif
