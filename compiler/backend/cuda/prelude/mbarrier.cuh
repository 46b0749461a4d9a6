// mbarrier.cuh - barriers in shared memory that count arrivals of threads and bytes of copies.
//
// A barrier is in a phase until its count of threads have arrived and all bytes that were expected have come.
// Phases alternate between parity 0, the first, and 1. Waiting for a parity waits for the end of the phase
// of that parity: that of parity 1 counts as over on a fresh barrier. A waiter must never be more than one phase away.
#ifndef NT_MBARRIER_CUH
#define NT_MBARRIER_CUH
#include "newt/base.cuh"

#if __CUDA_ARCH__ >= 900
NT_DEV void nt_mbar_init(unsigned long long *bar, unsigned count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                 ::"r"((unsigned)__cvta_generic_to_shared(bar)), "r"(count) : "memory");
}

// Makes barriers that this thread has initialised visible to copies; threads need a barrier besides.
NT_DEV void nt_mbar_init_fence()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Arrives, and has the phase wait for so many bytes more.
NT_DEV void nt_mbar_expect(unsigned long long *bar, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 ::"r"((unsigned)__cvta_generic_to_shared(bar)), "r"(bytes) : "memory");
}

NT_DEV void nt_mbar_arrive(unsigned long long *bar)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];"
                 ::"r"((unsigned)__cvta_generic_to_shared(bar)) : "memory");
}

NT_DEV void nt_mbar_wait(unsigned long long *bar, unsigned parity)
{
    asm volatile("{\n\t.reg .pred done;\nWAIT:\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t@!done bra WAIT;\n\t}"
                 ::"r"((unsigned)__cvta_generic_to_shared(bar)), "r"(parity) : "memory");
}
#endif

#endif
