/// Memory of a device or the host, copies, and waiting.
#include "device.h"
#include <stdlib.h>
#include <string.h>

enum { HOST_ALIGN = 256 };  // what cuMemAlloc gives at least, so that variants choose alike

static NewtStatus host_alloc(size_t bytes, void **out)
{
    void *at = NULL;
    if (bytes <= SIZE_MAX - HOST_ALIGN)
        at = aligned_alloc(HOST_ALIGN, (bytes + HOST_ALIGN - 1) / HOST_ALIGN * HOST_ALIGN);
    if (!at)
        return newti_fail(NEWT_NO_MEMORY, "newt_alloc: no memory for %zu bytes on the host", bytes);
    *out = at;
    return NEWT_OK;
}

static NewtStatus cuda_alloc(NewtDevice *device, size_t bytes, void **out)
{
    bool pushed;
    CudaAddress at = 0;
    NewtStatus status = newti_device_enter(device, "newt_alloc", &pushed);
    if (status != NEWT_OK)
        return status;
    CudaResult result = device->driver->cuMemAlloc(&at, bytes);
    if (result != CUDA_OK) {
        newti_device_note(device, result);
        status = newti_fail_driver(device->driver, result, "cuMemAlloc",
                                   "newt_alloc: %zu bytes on %s", bytes, device->label);
    } else {
        *out = (void *)(uintptr_t)at;
    }
    newti_device_leave(device, pushed);
    return status;
}

static NewtStatus alloc_any(NewtDevice *device, size_t bytes, void **out)
{
    NewtStatus status = newti_device_check(device, "newt_alloc");
    if (status != NEWT_OK)
        return status;
    if (!out)
        return newti_fail_null("newt_alloc", "out");
    if (bytes == 0) {
        *out = NULL;
        return NEWT_OK;
    }
    return device->driver ? cuda_alloc(device, bytes, out) : host_alloc(bytes, out);
}

static NewtStatus logged(const NewtDevice *device, NewtStatus status)
{
    return newti_log_status(device ? device->options.log : LOG_OFF, status);
}

NewtStatus newt_alloc(NewtDevice *device, size_t bytes, void **out)
{
    return logged(device, alloc_any(device, bytes, out));
}

void newt_free(NewtDevice *device, void *at)
{
    bool pushed;
    if (!at || !device)
        return;
    if (!device->driver) {
        free(at);
        return;
    }
    // A context that is lost took its memory along; a child after fork owns none of it.
    if (newti_device_check(device, "newt_free") != NEWT_OK ||
        newti_device_enter(device, "newt_free", &pushed) != NEWT_OK)
        return;
    CudaResult result = device->driver->cuMemFree((CudaAddress)(uintptr_t)at);
    if (result != CUDA_OK)
        logged(device, newti_device_fail(device, result, "cuMemFree", "newt_free"));
    newti_device_leave(device, pushed);
}

static NewtStatus copy_any(NewtDevice *device, NewtStream stream, void *to, const void *from,
                           size_t bytes)
{
    NewtStatus status = newti_device_check(device, "newt_copy");
    if (status != NEWT_OK || bytes == 0)
        return status;
    if (!to || !from)
        return newti_fail(NEWT_BAD_ARGUMENT, "newt_copy: %s is NULL for %zu bytes",
                          to ? "from" : "to", bytes);
    if (!device->driver) {
        memcpy(to, from, bytes);
        return NEWT_OK;
    }
    bool pushed;
    status = newti_device_enter(device, "newt_copy", &pushed);
    if (status != NEWT_OK)
        return status;
    CudaResult result = device->driver->cuMemcpyAsync((CudaAddress)(uintptr_t)to,
                                                      (CudaAddress)(uintptr_t)from, bytes, stream);
    if (result != CUDA_OK)
        status = newti_device_fail(device, result, "cuMemcpyAsync", "newt_copy");
    newti_device_leave(device, pushed);
    return status;
}

NewtStatus newt_copy(NewtDevice *device, NewtStream stream, void *to, const void *from,
                     size_t bytes)
{
    return logged(device, copy_any(device, stream, to, from, bytes));
}

static NewtStatus synchronize_any(NewtDevice *device, NewtStream stream)
{
    NewtStatus status = newti_device_check(device, "newt_synchronize");
    if (status != NEWT_OK || !device->driver)
        return status;
    bool pushed;
    status = newti_device_enter(device, "newt_synchronize", &pushed);
    if (status != NEWT_OK)
        return status;
    CudaResult result = device->driver->cuStreamSynchronize(stream);
    if (result != CUDA_OK)
        status = newti_device_fail(device, result, "cuStreamSynchronize", "newt_synchronize");
    newti_device_leave(device, pushed);
    return status;
}

NewtStatus newt_synchronize(NewtDevice *device, NewtStream stream)
{
    return logged(device, synchronize_any(device, stream));
}
