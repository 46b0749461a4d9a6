// warps.cuh - what a warp or a warpgroup does as a whole beside computing: registers, matrices to shared memory.
//
// The emulator of the tests has a file of this name of its own.
#ifndef NT_WARPS_CUH
#define NT_WARPS_CUH
#include "newt/base.cuh"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
// All warps of a warpgroup take part. N registers a thread from now on: a multiple of 8 from 24 to 256, not
// fewer (up: waits until others have given some back), not more (down) than before. ptxas ignores both without
// __launch_bounds__(threads, blocks): it must know the count at entry, and one argument is not enough.
template <int N> NT_DEV void nt_registers_up()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N) : "memory");
}

template <int N> NT_DEV void nt_registers_down()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N) : "memory");
}
#endif

#if __CUDA_ARCH__ >= 900
// The reverse of nt_ldmatrix: N matrices of 8 rows of 16 bytes; lane 8 * i + r names row r of matrix i, and lane l
// has word l % 4 of row l / 4 of each.
template <int N> NT_DEV void nt_stmatrix(void *row, const unsigned *from)
{
    const unsigned at = (unsigned)__cvta_generic_to_shared(row);
    if constexpr (N == 4)
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                     ::"r"(at), "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3]) : "memory");
    else if constexpr (N == 2)
        asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};"
                     ::"r"(at), "r"(from[0]), "r"(from[1]) : "memory");
    else
        asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(at), "r"(from[0]) : "memory");
}

// The same transposed: lane l has elements l / 4 of rows 2 * (l % 4) and the next.
template <int N> NT_DEV void nt_stmatrix_trans(void *row, const unsigned *from)
{
    const unsigned at = (unsigned)__cvta_generic_to_shared(row);
    if constexpr (N == 4)
        asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};"
                     ::"r"(at), "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3]) : "memory");
    else if constexpr (N == 2)
        asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};"
                     ::"r"(at), "r"(from[0]), "r"(from[1]) : "memory");
    else
        asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(at), "r"(from[0]) : "memory");
}
#endif

#endif
