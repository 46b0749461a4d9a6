// warps.cuh - the emulator's setmaxnreg and stmatrix; see the prelude's file of this name.
#ifndef NT_WARPS_CUH
#define NT_WARPS_CUH
#include "newt/base.cuh"

template <int N> NT_DEV void nt_registers_up()
{
    simt_registers(N, true);
}

template <int N> NT_DEV void nt_registers_down()
{
    simt_registers(N, false);
}

template <int N, class P> NT_DEV void nt_stmatrix(P row, const unsigned *from)
{
    simt_stmatrix((void *)simt_at(row), from, N, false);
}

template <int N, class P> NT_DEV void nt_stmatrix_trans(P row, const unsigned *from)
{
    simt_stmatrix((void *)simt_at(row), from, N, true);
}

#endif
