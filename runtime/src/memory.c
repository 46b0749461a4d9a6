/// Memory of a device or the host, copies, and waiting.
#include "memory.h"
#include <stdlib.h>
#include <string.h>

enum { HOST_ALIGN = 256 };  // what cuMemAlloc gives at least, so that variants choose alike

/// Stands in front of what newt_alloc() gives on the host, so that the tuner finds the size of a
/// buffer as the CUDA driver tells it.
struct HostBlock {
    NewtDevice *owner;  // NULL: it was closed
    HostBlock *next, *previous;
    size_t bytes;
};
_Static_assert(sizeof(HostBlock) <= HOST_ALIGN, "a block's head fits in front of it");

static char *block_memory(HostBlock *block)
{
    return (char *)block + HOST_ALIGN;
}

static NewtStatus host_alloc(NewtDevice *device, size_t bytes, void **out)
{
    HostBlock *block = NULL;
    const size_t more = (size_t)2 * HOST_ALIGN;
    if (bytes <= SIZE_MAX - more)
        block = aligned_alloc(HOST_ALIGN, (bytes + more - 1) / HOST_ALIGN * HOST_ALIGN);
    if (!block)
        return newti_fail(NEWT_NO_MEMORY, "newt_alloc: no memory for %zu bytes on the host", bytes);
    pthread_mutex_lock(&device->load_lock);
    *block = (HostBlock){ .owner = device, .next = device->blocks, .bytes = bytes };
    if (device->blocks)
        device->blocks->previous = block;
    device->blocks = block;
    pthread_mutex_unlock(&device->load_lock);
    *out = block_memory(block);
    return NEWT_OK;
}

static void host_free(NewtDevice *device, void *at)
{
    HostBlock *block = (HostBlock *)(void *)((char *)at - HOST_ALIGN);
    pthread_mutex_lock(&device->load_lock);
    if (block->next)
        block->next->previous = block->previous;
    if (block->previous)
        block->previous->next = block->next;
    else if (block->owner == device)
        device->blocks = block->next;
    pthread_mutex_unlock(&device->load_lock);
    free(block);
}

void newti_memory_leave(NewtDevice *device)
{
    for (HostBlock *block = device->blocks; block;) {
        HostBlock *next = block->next;
        block->owner = NULL;
        block->next = block->previous = NULL;
        block = next;
    }
}

static bool host_range(NewtDevice *device, const char *at, size_t *bytes)
{
    bool found = false;
    pthread_mutex_lock(&device->load_lock);
    for (HostBlock *block = device->blocks; block && !found; block = block->next) {
        const char *begin = block_memory(block);
        found = at >= begin && at < begin + block->bytes;
        if (found)
            *bytes = block->bytes - (size_t)(at - begin);
    }
    pthread_mutex_unlock(&device->load_lock);
    return found;
}

bool newti_memory_range(NewtDevice *device, const void *at, size_t *bytes)
{
    CudaAddress base = 0;
    size_t size = 0;
    bool pushed;
    if (!device->driver)
        return host_range(device, at, bytes);
    if (newti_device_enter(device, "newt_tune", &pushed) != NEWT_OK)
        return false;
    const CudaAddress address = (CudaAddress)(uintptr_t)at;
    const CudaResult result = device->driver->cuMemGetAddressRange(&base, &size, address);
    newti_device_note(device, result);
    newti_device_leave(device, pushed);
    if (result != CUDA_OK || address < base || address - base >= size)
        return false;
    *bytes = size - (size_t)(address - base);
    return true;
}

NewtStatus newti_memory_set(NewtDevice *device, void *at, unsigned char value, size_t bytes)
{
    bool pushed;
    if (!device->driver) {
        memset(at, value, bytes);
        return NEWT_OK;
    }
    NewtStatus status = newti_device_enter(device, "newt_tune", &pushed);
    if (status != NEWT_OK)
        return status;
    const CudaResult result =
        device->driver->cuMemsetD8Async((CudaAddress)(uintptr_t)at, value, bytes, NULL);
    if (result != CUDA_OK)
        status = newti_device_fail(device, result, "cuMemsetD8Async", "newt_tune");
    newti_device_leave(device, pushed);
    return status;
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
    return device->driver ? cuda_alloc(device, bytes, out) : host_alloc(device, bytes, out);
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
        host_free(device, at);
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
