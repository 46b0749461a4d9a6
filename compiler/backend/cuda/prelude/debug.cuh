// debug.cuh - device assertions.
#ifndef NT_DEBUG_CUH
#define NT_DEBUG_CUH
#include "newt/base.cuh"

// The CUDA runtime's: prints message, file, line and thread, and ends the launch with an error.
extern "C" __device__ void __assertfail(const char *message, const char *file, unsigned line,
                                        const char *function, size_t char_size);

NT_DEV void nt_assert(bool ok, const char *message, const char *file, unsigned line, const char *kernel)
{
    if (!ok)
        __assertfail(message, file, line, kernel, 1);
}

#endif
