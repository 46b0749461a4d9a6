/// Runs host kernels, and tells the time.
#ifndef NEWT_SRC_HOST_H
#define NEWT_SRC_HOST_H
#include <newt/module.h>

/// Runs all programs of a grid and returns when they are done; at most `cpus` at a time. Each
/// dimension is in [1, 2^31 - 1] and their product below 2^63. NEWT_NO_MEMORY for scratch.
NewtStatus newti_host_run(const NewtKernel *kernel, const NewtVariant *variant, const void *args,
                          const uint32_t grid[3], unsigned cpus);

/// Runs one program, the `index`th with the first axis fastest, on the calling thread.
NewtStatus newti_host_run_one(const NewtKernel *kernel, const NewtVariant *variant,
                              const void *args, const uint32_t grid[3], int64_t index);

/// The processors that this process may use.
unsigned newti_host_cpus(void);

/// Nanoseconds of the monotonic clock.
int64_t newti_clock_ns(void);
#endif
