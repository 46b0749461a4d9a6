/// What a device has loaded: for each module its images, and for each variant its function.
///
/// A slot starts cold and becomes ready or absent once, under the device's load lock; readers see
/// that with one acquire load. A failed load leaves it cold, and the next launch tries again.
#ifndef NEWT_SRC_LOAD_H
#define NEWT_SRC_LOAD_H
#include "device.h"
#include <newt/module.h>

typedef enum SlotState {
    SLOT_COLD,   ///< nothing was tried, or it failed
    SLOT_READY,  ///< `function` and `entry` may be used
    SLOT_ABSENT  ///< the variant has no entry for this device
} SlotState;

typedef struct Slot {
    _Atomic(SlotState) state;
    CudaFunction function;
    const NewtEntry *entry;
} Slot;

typedef enum LoadMode {
    LOAD_FOR_LAUNCH,
    LOAD_AHEAD  ///< also what the driver would put off to the first launch
} LoadMode;

/// The slot of variant `v` of `kernel`, ready or absent. A cold slot is loaded, unless `stream`
/// is being captured (NEWT_NOT_LOADED). The device's context is current.
/// NEWT_TOO_LARGE when the device has not enough shared memory, and what loading can return.
NewtStatus newti_slot_get(NewtDevice *device, const NewtKernel *kernel, uint32_t v,
                          NewtStream stream, const Slot **out);

/// Makes the slots of variants [first, end) of `kernel` ready or absent, and adds the number of
/// ready ones to `*ready`. As above, but asks nothing about captures.
NewtStatus newti_slots_load(NewtDevice *device, const NewtKernel *kernel, uint32_t first,
                            uint32_t end, uint32_t *ready);

/// Unloads and frees all that the device loaded. Without its context current, modules are left to
/// die with the context; libraries belong to the process and are unloaded always.
void newti_modules_free(NewtDevice *device, bool is_current);
#endif
