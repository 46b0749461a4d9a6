// mbarrier.cuh - the emulator's barriers in shared memory; see the prelude's file of this name.
#ifndef NT_MBARRIER_CUH
#define NT_MBARRIER_CUH
#include "newt/base.cuh"

template <class P> NT_DEV void nt_mbar_init(P bar, unsigned count)
{
    simt_mbar_init((void *)simt_at(bar), count);
}

NT_DEV void nt_mbar_init_fence()
{
    simt_mbar_init_fence();
}

template <class P> NT_DEV void nt_mbar_expect(P bar, unsigned bytes)
{
    simt_mbar_arrive((void *)simt_at(bar), bytes);
}

template <class P> NT_DEV void nt_mbar_arrive(P bar)
{
    simt_mbar_arrive((void *)simt_at(bar), 0);
}

template <class P> NT_DEV void nt_mbar_wait(P bar, unsigned parity)
{
    simt_mbar_wait((void *)simt_at(bar), parity);
}

#endif
