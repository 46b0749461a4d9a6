// async.cuh - the emulator's asynchronous copies and barriers of some threads; see the prelude's file of this name.
#ifndef NT_ASYNC_CUH
#define NT_ASYNC_CUH
#include "newt/base.cuh"

template <int BYTES, class P> NT_DEV void nt_copy_async(P to, const void *from, bool on)
{
    static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "cp.async copies 4, 8 or 16 bytes");
    simt_copy_async((void *)simt_at(to), from, BYTES, on);
}

NT_DEV void nt_copy_commit()
{
    simt_copy_commit();
}

template <int N> NT_DEV void nt_copy_wait()
{
    simt_copy_wait(N);
}

NT_DEV void nt_named_barrier(int id, int threads)
{
    simt_barrier((unsigned)id, (unsigned)threads, true);
}

#endif
