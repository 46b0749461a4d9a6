/// What the tuner asks of a device's memory beyond the public functions.
#ifndef NEWT_SRC_MEMORY_H
#define NEWT_SRC_MEMORY_H
#include "device.h"

/// The bytes from `at` to the end of the allocation that it lies in; false when nobody knows it.
bool newti_memory_range(NewtDevice *device, const void *at, size_t *bytes);

/// Sets bytes, in the order of the default stream.
NewtStatus newti_memory_set(NewtDevice *device, void *at, unsigned char value, size_t bytes);

/// Before a host device goes: what newt_alloc() gave may still be freed on a later handle.
void newti_memory_leave(NewtDevice *device);
#endif
