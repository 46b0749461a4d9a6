/// The part of a launch that graph nodes share: which variant, which grid, which function.
#ifndef NEWT_SRC_LAUNCH_H
#define NEWT_SRC_LAUNCH_H
#include "load.h"

/// One call of newt_launch_().
typedef struct Launch {
    const NewtKernel *kernel;
    NewtDevice *device;
    NewtStream stream;
    const NewtGrid *given;
    const void *args;
    uint32_t grid[3];
} Launch;

/// Whether `kernel` is of this libnewt's ABI and `device` can be used now.
NewtStatus newti_kernel_check(const NewtKernel *kernel, const NewtDevice *device);

/// Chooses the variant for a launch on a CUDA device whose context is current, loads it if need be
/// and computes `launch->grid`. An empty grid is NEWT_OK with `*slot` NULL and loads nothing.
NewtStatus newti_launch_choose(Launch *launch, const NewtVariant **variant, const Slot **slot);
#endif
