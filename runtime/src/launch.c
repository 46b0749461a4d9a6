/// Launches: choose a variant, compute the grid, load if this is the first time, hand over.
///
/// The path of a warm launch takes no lock, allocates nothing and makes two driver calls, and one
/// more for each tensor map: cuCtxGetCurrent and the launch. Parameters are pointers into the
/// caller's argument record, to the tensor maps on the stack, and to the true grid.
#include "launch.h"
#include "host.h"
#include "image.h"
#include "tensor.h"
#include <string.h>

enum { PARAMETER_MAX = NEWT_PARAM_MAX + NEWT_TENSOR_MAX + 3 };

int64_t newti_integer_get(NewtType type, const void *at)
{
#define AS(Type)                          \
    do {                                  \
        Type value;                       \
        memcpy(&value, at, sizeof value); \
        return (int64_t)value;            \
    } while (0)
    switch (type) {
    case NEWT_I1:
    case NEWT_U8: AS(uint8_t);
    case NEWT_I8: AS(int8_t);
    case NEWT_I16: AS(int16_t);
    case NEWT_U16: AS(uint16_t);
    case NEWT_I32: AS(int32_t);
    case NEWT_U32: AS(uint32_t);
    case NEWT_I64:
    case NEWT_U64: AS(int64_t);
    case NEWT_F8E4M3:
    case NEWT_F8E5M2:
    case NEWT_F16:
    case NEWT_BF16:
    case NEWT_F32:
    case NEWT_F64: break;  // newtc writes integer tests for integers only
    }
#undef AS
    return 0;
}

static bool predicate_holds(const NewtPredicate *predicate, const NewtParam *param,
                            const void *args)
{
    const char *at = (const char *)args + param->offset;
    int64_t wanted = predicate->value;
    if (predicate->test == NEWT_TEST_RESULT) {
        int64_t results[3];
        return predicate->computed(args, results) == NEWT_OK && results[0] == wanted;
    }
    if (predicate->test == NEWT_TEST_ALIGN) {
        uintptr_t address;
        memcpy(&address, at, sizeof address);
        return (address & ((uintptr_t)wanted - 1)) == 0;
    }
    int64_t value = newti_integer_get(param->type, at);
    bool is_huge = param->type == NEWT_U64 && value < 0;  // 2^63 and more
    switch (predicate->test) {
    case NEWT_TEST_MULTIPLE:
        return is_huge ? (uint64_t)value % (uint64_t)wanted == 0 : value % wanted == 0;
    case NEWT_TEST_EQUAL: return value == wanted;
    case NEWT_TEST_AT_MOST: return !is_huge && value <= wanted;
    case NEWT_TEST_FITS_I32: return !is_huge && INT32_MIN <= value && value <= INT32_MAX;
    case NEWT_TEST_ALIGN:
    case NEWT_TEST_RESULT: break;
    }
    return false;
}

static bool variant_fits(const NewtKernel *kernel, const NewtVariant *variant, const void *args)
{
    for (uint32_t i = 0; i < variant->predicate_count; i++) {
        const NewtPredicate *predicate = &variant->predicates[i];
        if (!predicate_holds(predicate, &kernel->params[predicate->param], args))
            return false;
    }
    return true;
}

/// Checks the grid against the limits of CUDA, which the host shares, and keeps it.
static NewtStatus grid_check(Launch *launch, const int64_t grid[3])
{
    static const int64_t limits[3] = { INT32_MAX, 65535, 65535 };
    for (int axis = 0; axis < 3; axis++) {
        if (grid[axis] < 0)
            return newti_fail(NEWT_BAD_ARGUMENT, "%s: the grid's %c is %lld", launch->kernel->name,
                              "xyz"[axis], (long long)grid[axis]);
    }
    // An empty grid is fine however long its other axes are.
    bool is_empty = grid[0] == 0 || grid[1] == 0 || grid[2] == 0;
    for (int axis = 0; axis < 3; axis++) {
        if (grid[axis] > limits[axis] && !is_empty)
            return newti_fail(NEWT_TOO_LARGE, "%s: the grid's %c is %lld, and the limit is %lld",
                              launch->kernel->name, "xyz"[axis], (long long)grid[axis],
                              (long long)limits[axis]);
        launch->grid[axis] = is_empty ? 0 : (uint32_t)grid[axis];
    }
    return NEWT_OK;
}

static NewtStatus grid_compute(Launch *launch, const NewtVariant *variant)
{
    const char *name = launch->kernel->name;
    int64_t grid[3] = { 1, 1, 1 };
    if (launch->given) {
        grid[0] = launch->given->x;
        grid[1] = launch->given->y;
        grid[2] = launch->given->z;
        return grid_check(launch, grid);
    }
    if (!variant->grid)
        return newti_fail(NEWT_BAD_ARGUMENT, "%s has no grid expression: pass a grid", name);
    NewtStatus status = variant->grid(launch->args, grid);
    if (status == NEWT_TOO_LARGE)
        return newti_fail(status, "%s: the grid expression overflows 64 bits", name);
    if (status != NEWT_OK)
        return newti_fail(status, "%s: the grid expression divides by zero", name);
    return grid_check(launch, grid);
}

/// A size is beyond what the largest block of the kernel holds.
static NewtStatus variant_missing(const NewtKernel *kernel)
{
    return newti_fail(NEWT_TOO_LARGE, "%s has no variant for sizes as large as these",
                      kernel->name);
}

NewtStatus newti_host_generic(Launch *launch, const NewtVariant **out)
{
    const NewtKernel *kernel = launch->kernel;
    for (uint32_t v = launch->end; v-- > launch->first;) {
        const NewtVariant *variant = &kernel->variants[v];
        if (!variant->host || !variant_fits(kernel, variant, launch->args))
            continue;
        *out = variant;
        return grid_compute(launch, variant);
    }
    return newti_fail(NEWT_NO_IMAGE,
                      "%s was not compiled for the host, which gives the results that "
                      "configurations are compared with; add --arch=host to the command that "
                      "compiles %s",
                      kernel->name, kernel->module->name);
}

/// Tries the variants of one configuration.
static NewtStatus host_launch_config(Launch *launch)
{
    const NewtKernel *kernel = launch->kernel;
    for (uint32_t v = launch->first; v < launch->end; v++) {
        const NewtVariant *variant = &kernel->variants[v];
        if (!variant->host || !variant_fits(kernel, variant, launch->args))
            continue;
        NewtStatus status = grid_compute(launch, variant);
        if (status != NEWT_OK || launch->grid[0] == 0)
            return status;
        if (launch->device->options.log >= LOG_CHOICE)
            newti_log("choice %s [%s] on host", kernel->name, variant->name);
        if (launch->device->options.log >= LOG_LAUNCH)
            newti_log("launch %s grid %u %u %u", kernel->name, launch->grid[0], launch->grid[1],
                      launch->grid[2]);
        return newti_host_run(kernel, variant, launch->args, launch->grid, launch->device->cpus);
    }
    return newti_fail(NEWT_NO_IMAGE,
                      "%s was not compiled for the host; add --arch=host to the "
                      "command that compiles %s",
                      kernel->name, kernel->module->name);
}

static NewtStatus host_launch(Launch *launch)
{
    ConfigWalk walk;
    NewtStatus status = newti_config_begin(launch, &walk);
    if (status == NEWT_OK && launch->stream)
        status =
            newti_fail(NEWT_BAD_ARGUMENT, "%s: the stream is not NULL, and the host has no streams",
                       launch->kernel->name);
    if (status != NEWT_OK)
        return status;
    for (status = NEWT_NO_IMAGE; newti_config_next(launch, &walk, status);)
        status = host_launch_config(launch);
    return status;
}

/// NEWT_CHECK: a stream of another context would run the kernel somewhere else.
static NewtStatus stream_check(const Launch *launch)
{
    NewtDevice *device = launch->device;
    CudaContext context = NULL;
    if (!launch->stream)
        return NEWT_OK;
    CudaResult result = device->driver->cuStreamGetCtx(launch->stream, &context);
    if (result != CUDA_OK)
        return newti_device_fail(device, result, "cuStreamGetCtx", launch->kernel->name);
    if (context != device->context)
        return newti_fail(NEWT_BAD_ARGUMENT,
                          "%s: the stream belongs to another context than the device %s",
                          launch->kernel->name, device->label);
    return NEWT_OK;
}

/// NEWT_CHECK: waits, so that a fault is reported by the launch that caused it. A stream that is
/// being captured runs nothing yet.
static NewtStatus fault_check(const Launch *launch)
{
    NewtDevice *device = launch->device;
    const Driver *driver = device->driver;
    int state = CUDA_CAPTURE_NONE;
    const char *call = "cuStreamIsCapturing";
    CudaResult result = driver->cuStreamIsCapturing(launch->stream, &state);
    if (result == CUDA_OK && state == CUDA_CAPTURE_NONE) {
        call = "cuStreamSynchronize";
        result = driver->cuStreamSynchronize(launch->stream);
    }
    return result == CUDA_OK ? NEWT_OK
                             : newti_device_fail(device, result, call, launch->kernel->name);
}

static CudaResult driver_launch(const Launch *launch, const Slot *slot, void **parameters)
{
    const Driver *driver = launch->device->driver;
    const NewtEntry *entry = slot->entry;
    const uint32_t *blocks = launch->blocks;
    if (entry->cluster[0] == 0)
        return driver->cuLaunchKernel(slot->function, blocks[0], blocks[1], blocks[2],
                                      entry->threads, 1, 1, entry->shared, launch->stream,
                                      parameters, NULL);
    CudaLaunchAttribute cluster = { .id = CUDA_LAUNCH_CLUSTER };
    memcpy(cluster.value.cluster, entry->cluster, sizeof entry->cluster);
    CudaLaunchConfig config = {
        .grid_x = blocks[0],
        .grid_y = blocks[1],
        .grid_z = blocks[2],
        .block_x = entry->threads,
        .block_y = 1,
        .block_z = 1,
        .shared = entry->shared,
        .stream = launch->stream,
        .attributes = &cluster,
        .attribute_count = 1,
    };
    return driver->cuLaunchKernelEx(&config, slot->function, parameters, NULL);
}

/// Cuts the blocks of a persistent grid to what the device runs at once, in whole clusters. False,
/// and why in `refusal`, when its programs cannot be counted in 32 bits.
static bool blocks_compute(Launch *launch, const NewtEntry *entry, TensorRefusal *refusal)
{
    const uint32_t *grid = launch->grid;
    memcpy(launch->blocks, grid, sizeof launch->blocks);
    if (entry->blocks_per_sm == 0)
        return true;
    const uint64_t programs = (uint64_t)grid[0] * grid[1] * grid[2];
    if (programs > INT32_MAX) {
        *refusal = (TensorRefusal){ .rule = TENSOR_PROGRAMS, .value = (int64_t)programs };
        return false;
    }
    const uint32_t *shape = entry->cluster;
    const uint64_t cluster = shape[0] ? (uint64_t)shape[0] * shape[1] * shape[2] : 1;
    const uint64_t most = (uint64_t)entry->blocks_per_sm * launch->device->sms / cluster;
    const uint64_t clusters = (programs + cluster - 1) / cluster;
    launch->blocks[0] = (uint32_t)((clusters < most || most == 0 ? clusters : most) * cluster);
    launch->blocks[1] = launch->blocks[2] = 1;
    return true;
}

/// Makes what the entry needs beyond the argument record; false, and why, when it cannot be made.
static bool entry_prepare(Launch *launch, const NewtEntry *entry, TensorRefusal *refusal)
{
    const TensorCall call = { launch->kernel, entry, launch->args, launch->grid };
    return blocks_compute(launch, entry, refusal) &&
           (entry->tensor_count == 0 ||
            newti_tensor_encode(launch->device, &call, launch->maps, refusal));
}

void newti_launch_extras(CudaTensorMap *maps, const uint32_t grid[3], const NewtEntry *entry,
                         void **parameters)
{
    for (uint32_t i = 0; i < entry->tensor_count; i++)
        *parameters++ = &maps[i];
    for (int axis = 0; axis < 3 && entry->blocks_per_sm > 0; axis++)
        *parameters++ = (void *)(uintptr_t)&grid[axis];
}

static void parameters_fill(const Launch *launch, const NewtEntry *entry, void **parameters)
{
    const NewtKernel *kernel = launch->kernel;
    for (uint32_t i = 0; i < kernel->param_count; i++)
        *parameters++ = (char *)(uintptr_t)launch->args + kernel->params[i].offset;
    newti_launch_extras(launch->maps, launch->grid, entry, parameters);
}

static void launch_log(const Launch *launch, const NewtVariant *variant, const NewtEntry *entry)
{
    const LogLevel level = launch->device->options.log;
    const char *name = launch->kernel->name;
    const uint32_t *grid = launch->grid;
    if (level >= LOG_CHOICE)
        newti_log("choice %s [%s] %s on %s", name, variant->name, entry->symbol,
                  launch->device->label);
    if (level < LOG_LAUNCH)
        return;
    if (entry->blocks_per_sm > 0)
        newti_log("launch %s grid %u %u %u by %u blocks, %u threads, %u bytes shared", name,
                  grid[0], grid[1], grid[2], launch->blocks[0], entry->threads, entry->shared);
    else
        newti_log("launch %s grid %u %u %u, %u threads, %u bytes shared", name, grid[0], grid[1],
                  grid[2], entry->threads, entry->shared);
}

/// Launches the function of a ready slot whose entry was prepared.
static NewtStatus slot_launch(const Launch *launch, const NewtVariant *variant, const Slot *slot)
{
    const NewtKernel *kernel = launch->kernel;
    NewtDevice *device = launch->device;
    const Options *options = &device->options;
    if (options->log >= LOG_CHOICE)
        launch_log(launch, variant, slot->entry);
    if (options->check) {
        NewtStatus status = stream_check(launch);
        if (status != NEWT_OK)
            return status;
    }
    void *parameters[PARAMETER_MAX];
    parameters_fill(launch, slot->entry, parameters);
    CudaResult result = driver_launch(launch, slot, parameters);
    if (result != CUDA_OK)
        return newti_device_fail(device, result,
                                 slot->entry->cluster[0] ? "cuLaunchKernelEx" : "cuLaunchKernel",
                                 kernel->name);
    return options->check ? fault_check(launch) : NEWT_OK;
}

static void refusal_log(const Launch *launch, const NewtVariant *variant, const NewtEntry *entry,
                        const TensorRefusal *refusal)
{
    char text[256];
    newti_tensor_refusal_print(launch->kernel, entry, refusal, text, sizeof text);
    newti_log("choice %s [%s] %s passed over: %s", launch->kernel->name, variant->name,
              entry->symbol, text);
}

/// No variant was left after `entry` had been refused.
static NewtStatus refusal_fail(const Launch *launch, const NewtEntry *entry,
                               const TensorRefusal *refusal)
{
    char text[256];
    newti_tensor_refusal_print(launch->kernel, entry, refusal, text, sizeof text);
    NewtStatus status = refusal->rule == TENSOR_NO_ENCODER ? NEWT_OLD_DRIVER : NEWT_BAD_ARGUMENT;
    return newti_fail(status, "%s has no variant for these arguments: %s", launch->kernel->name,
                      text);
}

/// Tries the variants of one configuration.
static NewtStatus config_choose(Launch *launch, const NewtVariant **chosen, const Slot **out)
{
    const NewtKernel *kernel = launch->kernel;
    *out = NULL;
    TensorRefusal refusal;
    const NewtEntry *refused = NULL;
    bool fits = false;
    for (uint32_t v = launch->first; v < launch->end; v++) {
        const NewtVariant *variant = &kernel->variants[v];
        if (!variant_fits(kernel, variant, launch->args))
            continue;
        fits = true;
        NewtStatus status = grid_compute(launch, variant);
        if (status != NEWT_OK || launch->grid[0] == 0)
            return status;
        const Slot *slot;
        status = newti_slot_get(launch->device, kernel, v, launch->stream, &slot);
        if (status != NEWT_OK)
            return status;
        if (atomic_load_explicit(&slot->state, memory_order_relaxed) != SLOT_READY)
            continue;
        if (entry_prepare(launch, slot->entry, &refusal)) {
            *chosen = variant;
            *out = slot;
            return NEWT_OK;
        }
        refused = slot->entry;
        if (launch->device->options.log >= LOG_CHOICE)
            refusal_log(launch, variant, refused, &refusal);
    }
    if (!fits)
        return variant_missing(kernel);
    return refused ? refusal_fail(launch, refused, &refusal)
                   : newti_image_missing(kernel, launch->device->arch);
}

NewtStatus newti_launch_choose(Launch *launch, const NewtVariant **variant, const Slot **slot)
{
    ConfigWalk walk;
    NewtStatus status = newti_config_begin(launch, &walk);
    if (status != NEWT_OK)
        return status;
    for (status = NEWT_NO_IMAGE; newti_config_next(launch, &walk, status);)
        status = config_choose(launch, variant, slot);
    return status;
}

/// The device's context is current.
static NewtStatus cuda_launch(Launch *launch)
{
    CudaTensorMap maps[NEWT_TENSOR_MAX];
    const NewtVariant *variant;
    const Slot *slot;
    launch->maps = maps;
    NewtStatus status = newti_launch_choose(launch, &variant, &slot);
    if (status == NEWT_OK && slot)
        status = slot_launch(launch, variant, slot);
    launch->maps = NULL;
    return status;
}

NewtStatus newti_kernel_check(const NewtKernel *kernel, const NewtDevice *device)
{
    const NewtModuleDesc *module = kernel->module;
    if (module->abi != NEWT_ABI)
        return newti_fail(
            NEWT_BAD_IMAGE,
            "a kernel was generated for libnewt ABI %lu, and this libnewt has ABI %d: "
            "run newtc again",
            (unsigned long)module->abi, NEWT_ABI);
    return newti_device_check(device, kernel->name);
}

static NewtStatus launch_any(Launch *launch)
{
    NewtDevice *device = launch->device;
    NewtStatus status = newti_kernel_check(launch->kernel, device);
    if (status != NEWT_OK || !device)  // NULL is an error for the check
        return status;
    if (!device->driver)
        return host_launch(launch);
    bool pushed;
    status = newti_device_enter(device, launch->kernel->name, &pushed);
    if (status != NEWT_OK)
        return status;
    status = cuda_launch(launch);
    newti_device_leave(device, pushed);
    return status;
}

NewtStatus newti_launch_generic(Launch *launch)
{
    const uint32_t first = launch->first;
    NewtStatus status = NEWT_NO_IMAGE;
    bool pushed;
    NewtStatus entered = newti_device_enter(launch->device, launch->kernel->name, &pushed);
    if (entered != NEWT_OK)
        return entered;
    CudaTensorMap maps[NEWT_TENSOR_MAX];
    launch->maps = maps;
    for (uint32_t v = launch->end; v-- > first && status == NEWT_NO_IMAGE;) {
        const NewtVariant *variant;
        const Slot *slot;
        launch->first = v;
        launch->end = v + 1;
        status = config_choose(launch, &variant, &slot);
        if (status == NEWT_OK && slot)
            status = slot_launch(launch, variant, slot);
    }
    launch->maps = NULL;
    newti_device_leave(launch->device, pushed);
    return status;
}

static NewtStatus preload(const NewtKernel *kernel, NewtDevice *device, int config)
{
    NewtStatus status = newti_kernel_check(kernel, device);
    if (status != NEWT_OK || !device->driver)
        return status;
    bool pushed;
    status = newti_device_enter(device, kernel->name, &pushed);
    if (status != NEWT_OK)
        return status;
    uint32_t ready;
    status = newti_config_load(device, kernel, config, &ready);
    newti_device_leave(device, pushed);
    if (status == NEWT_OK && ready == 0)
        return newti_image_missing(kernel, device->arch);
    return status;
}

static NewtStatus logged(const NewtDevice *device, NewtStatus status)
{
    return newti_log_status(device ? device->options.log : LOG_OFF, status);
}

NewtStatus newt_launch_config_(const NewtKernel *kernel, NewtDevice *device, NewtStream stream,
                               int config, const NewtGrid *grid, const void *args)
{
    Launch launch = {
        .kernel = kernel,
        .device = device,
        .stream = stream,
        .given = grid,
        .args = args,
        .config = config,
    };
    const Ranges *ranges = device && device->options.ranges.push ? &device->options.ranges : NULL;
    if (ranges)
        ranges->push(kernel->name);
    NewtStatus status = launch_any(&launch);
    if (ranges)
        ranges->pop();
    return logged(device, status);
}

NewtStatus newt_launch_(const NewtKernel *kernel, NewtDevice *device, NewtStream stream,
                        const NewtGrid *grid, const void *args)
{
    return newt_launch_config_(kernel, device, stream, -1, grid, args);
}

NewtStatus newt_preload_config_(const NewtKernel *kernel, NewtDevice *device, int config)
{
    return logged(device, preload(kernel, device, config));
}

NewtStatus newt_preload_(const NewtKernel *kernel, NewtDevice *device)
{
    return newt_preload_config_(kernel, device, -1);
}
