/// Runs host kernels, and tells the time.
#ifndef NEWT_SRC_HOST_H
#define NEWT_SRC_HOST_H
#include <newt/module.h>

/// Runs all programs of a grid and returns when they are done; at most `cpus` at a time. Each
/// dimension is in [1, 2^31 - 1] and their product below 2^63. NEWT_NO_MEMORY for scratch.
NewtStatus newti_host_run(const NewtKernel *kernel, const NewtVariant *variant, const void *args,
                          const uint32_t grid[3], unsigned cpus);

/// Nanoseconds of the monotonic clock.
int64_t newti_clock_ns(void);
#endif
