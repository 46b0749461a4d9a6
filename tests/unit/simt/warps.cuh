// warps.cuh - plain twin of the prelude's: matrices to shared memory by way of shuffles.
#ifndef NT_WARPS_CUH
#define NT_WARPS_CUH
#include "newt/base.cuh"

template <int N> NT_DEV void nt_stmatrix(void *row, const unsigned *from)
{
    const int lane = (int)(threadIdx.x % 32);
    for (int i = 0; i < N; i++) {
        char *to = __shfl_sync(0xffffffffu, (char *)row, 8 * i + lane / 4);
        if ((unsigned long long)to % 16 != 0)
            printf("a row of stmatrix is not aligned\n");
        memcpy(to + lane % 4 * 4, &from[i], 4);
    }
}

#endif
