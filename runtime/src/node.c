/// Kernel nodes of CUDA graphs: what a launch would hand to the driver, as data.
#include "launch.h"
#include <string.h>

/// The most that a kernel's parameters take: the driver's limit.
enum { RECORD_MAX = 4096 };

_Static_assert(NEWT_NODE_PARAMETERS >= NEWT_PARAM_MAX + NEWT_TENSOR_MAX + 3,
               "a node has room for every parameter");
_Static_assert(sizeof((NewtNodeParams){ 0 }.maps) >=
                   NEWT_TENSOR_MAX * sizeof(CudaTensorMap) + _Alignof(CudaTensorMap) - 1,
               "and for every tensor map");

/// Lays the argument values out as the generated functions do.
static NewtStatus record_fill(const NewtKernel *kernel, void *const args[], char record[RECORD_MAX])
{
    if (kernel->binding)
        return newti_fail(NEWT_UNSUPPORTED,
                          "%s takes tensors, and a node's arguments are its parameters: capture a "
                          "launch instead",
                          kernel->name);
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const NewtParam *param = &kernel->params[i];
        if (!args || !args[i])
            return newti_fail_null("newt_kernel_node_params", param->name);
        if (param->size > RECORD_MAX || param->offset > RECORD_MAX - param->size)
            return newti_fail(NEWT_BAD_IMAGE, "%s: the parameter %s lies beyond %d bytes",
                              kernel->name, param->name, RECORD_MAX);
        memcpy(record + param->offset, args[i], param->size);
    }
    return NEWT_OK;
}

/// The device's context is current.
static NewtStatus node_fill(Launch *launch, void *const args[], NewtNodeParams *out)
{
    const NewtKernel *kernel = launch->kernel;
    CudaTensorMap made[NEWT_TENSOR_MAX];
    launch->maps = made;
    const NewtVariant *variant;
    const Slot *slot;
    uint32_t ready;
    // Loaded ahead, so that choosing need not ask whether some stream is being captured.
    NewtStatus status = newti_config_load(launch->device, kernel, launch->config, &ready);
    if (status == NEWT_OK)
        status = newti_launch_choose(launch, &variant, &slot);
    launch->maps = NULL;
    if (status != NEWT_OK)
        return status;
    if (!slot)
        return newti_fail(NEWT_BAD_ARGUMENT,
                          "%s: the grid is empty, and a kernel node cannot be: add an empty node",
                          kernel->name);
    const NewtEntry *entry = slot->entry;
    *out = (NewtNodeParams){
        .func = slot->function,
        .grid = { launch->blocks[0], launch->blocks[1], launch->blocks[2] },
        .block = { entry->threads, 1, 1 },
        .shared = entry->shared,
        .params = out->parameters,
        .cluster = { entry->cluster[0], entry->cluster[1], entry->cluster[2] },
        .programs = { launch->grid[0], launch->grid[1], launch->grid[2] },
    };
    const size_t align = _Alignof(CudaTensorMap);
    CudaTensorMap *maps = (void *)(((uintptr_t)out->maps + align - 1) / align * align);
    memcpy(maps, made, entry->tensor_count * sizeof *maps);
    for (uint32_t i = 0; i < kernel->param_count; i++)
        out->parameters[i] = args[i];
    newti_launch_extras(maps, out->programs, entry, out->parameters + kernel->param_count);
    return NEWT_OK;
}

static NewtStatus node_params(const NewtKernel *kernel, void *const args[], NewtDevice *device,
                              const NewtGrid *grid, NewtNodeParams *out)
{
    _Alignas(16) char record[RECORD_MAX];
    Launch launch = {
        .kernel = kernel, .device = device, .given = grid, .args = record, .config = -1
    };
    NewtStatus status = newti_kernel_check(kernel, device);
    if (status == NEWT_OK)
        status = record_fill(kernel, args, record);
    if (status != NEWT_OK)
        return status;
    if (!device->driver)
        return newti_fail(NEWT_UNSUPPORTED, "%s: the host has no graphs", kernel->name);
    bool pushed;
    status = newti_device_enter(device, kernel->name, &pushed);
    if (status != NEWT_OK)
        return status;
    status = node_fill(&launch, args, out);
    newti_device_leave(device, pushed);
    return status;
}

NewtStatus newt_kernel_node_params(const NewtKernel *kernel, void *const args[], NewtDevice *device,
                                   const NewtGrid *grid, NewtNodeParams *out)
{
    if (!kernel || !out)
        return newti_fail_null("newt_kernel_node_params", kernel ? "out" : "kernel");
    NewtStatus status = node_params(kernel, args, device, grid, out);
    return newti_log_status(device ? device->options.log : LOG_OFF, status);
}
