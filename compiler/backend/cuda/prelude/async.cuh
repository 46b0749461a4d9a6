// async.cuh - copies from global to shared memory that run beside the thread, and barriers of some threads.
//
// A copy has arrived for the thread that issued it after nt_copy_wait, for others after a barrier besides. The
// emulator of the tests has a file of this name of its own.
#ifndef NT_ASYNC_CUH
#define NT_ASYNC_CUH
#include "newt/base.cuh"

#if __CUDA_ARCH__ >= 800
// BYTES are 4, 8 or 16, and both addresses multiples of that. Where `on` is false zeros arrive, and `from` is
// not touched. 16 bytes pass the L1 by.
template <int BYTES> NT_DEV void nt_copy_async(void *to, const void *from, bool on)
{
    const unsigned at = (unsigned)__cvta_generic_to_shared(to);
    if constexpr (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(on ? 16 : 0) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                     ::"r"(at), "l"(from), "n"(BYTES), "r"(on ? BYTES : 0) : "memory");
}

// The thread's copies since the last commit are a group.
NT_DEV void nt_copy_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits for all groups of the thread but the N newest.
template <int N> NT_DEV void nt_copy_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}
#endif

// Waits until `threads` threads, whole warps, are at barrier `id` of 16; 0 is that of __syncthreads.
NT_DEV void nt_named_barrier(int id, int threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

#endif
