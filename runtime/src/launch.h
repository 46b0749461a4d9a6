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
    CudaTensorMap *maps;  // room for NEWT_TENSOR_MAX
    uint32_t grid[3];     // programs
    uint32_t blocks[3];   // as launched: fewer when the grid is persistent
    int config;           // what the caller wants; -1: what is best
    uint32_t first, end;  // variants of the configuration that is tried
} Launch;

/// The integer parameter at `at`; an I64 view of the bits for U64.
int64_t newti_integer_get(NewtType type, const void *at);

/// Whether `kernel` is of this libnewt's ABI and `device` can be used now.
NewtStatus newti_kernel_check(const NewtKernel *kernel, const NewtDevice *device);

/// The configurations of a launch, in the order in which they are tried.
typedef struct ConfigWalk {
    int chosen;     // the first; -1: the kernel has none
    uint32_t step;  // how many were tried
} ConfigWalk;

/// Checks `launch->config` and chooses what is tried first.
NewtStatus newti_config_begin(const Launch *launch, ConfigWalk *walk);

/// Points the launch at the next configuration; false when all were tried. `status` is what the one
/// before gave: only where the device cannot run it is there a next.
bool newti_config_next(Launch *launch, ConfigWalk *walk, NewtStatus status);

/// Loads a configuration, or for -1 all that the device can hold; `*ready` counts variants.
NewtStatus newti_config_load(NewtDevice *device, const NewtKernel *kernel, int config,
                             uint32_t *ready);

/// Chooses the variant for a launch on a CUDA device whose context is current, loads it if need be
/// and fills in `launch->grid`, `launch->blocks` and what it needs of `launch->maps`. An empty grid
/// is NEWT_OK with `*slot` NULL and loads nothing.
NewtStatus newti_launch_choose(Launch *launch, const NewtVariant **variant, const Slot **slot);

/// Writes where the parameters lie that `entry` takes behind those of the kernel: its tensor maps,
/// and the true grid of a persistent one.
void newti_launch_extras(CudaTensorMap *maps, const uint32_t grid[3], const NewtEntry *entry,
                         void **parameters);

/// The most general variant from [first, end) whose host code is for these arguments, and its grid.
NewtStatus newti_host_generic(Launch *launch, const NewtVariant **out);

/// Launches on a CUDA device the most general variant from [first, end) that it has.
NewtStatus newti_launch_generic(Launch *launch);
#endif
