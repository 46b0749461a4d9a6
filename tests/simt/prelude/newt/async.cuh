// async.cuh - the emulator's asynchronous copies and barriers of some threads; see the prelude's file of this name.
#ifndef NT_ASYNC_CUH
#define NT_ASYNC_CUH
#include "newt/base.cuh"

NT_DEV void nt_named_barrier(int id, int threads)
{
    simt_barrier((unsigned)id, (unsigned)threads, true);
}

#endif
