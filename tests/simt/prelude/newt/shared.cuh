// shared.cuh - the emulator's wide accesses of shared memory; see the prelude's file of this name.
#ifndef NT_SHARED_CUH
#define NT_SHARED_CUH
#include "newt/base.cuh"

template <int N, class T> NT_DEV void nt_put(SimtShared<T> to, const T *from)
{
    simt_store(to.at, from, N * sizeof(T), true, SIMT_SHARED);
}

template <int N, class T> NT_DEV void nt_take(T *to, SimtShared<T> from)
{
    simt_load(to, from.at, N * sizeof(T), true, SIMT_SHARED);
}

#endif
