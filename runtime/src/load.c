/// Loads images into a context, once for each variant that is used there.
///
/// A device has a hash table of LoadedModules, keyed by the address and id of their description;
/// chains only grow, so a look-up takes no lock. Driver 12.0 and later load through libraries,
/// older ones through modules; PTX and cubin go the same way.
#include "load.h"
#include "image.h"
#include "image_file.h"
#include "tensor.h"
#include <stdlib.h>

/// An image that is in the context; one of the two handles is set.
typedef struct LoadedImage {
    CudaLibrary library;
    CudaModule module;
} LoadedImage;

struct LoadedModule {
    LoadedModule *next;
    const NewtModuleDesc *module;
    uint64_t id;  // the module's: another one may come to lie at its address after dlclose
    uint32_t image_count;
    LoadedImage *images;  // each under the load lock
    Slot **slots;         // [kernel][variant], rows of one array
};

/// One attempt to make a slot ready.
typedef struct Load {
    NewtDevice *device;
    const NewtKernel *kernel;
    const NewtVariant *variant;
    LoadedModule *loaded;
    LoadMode mode;
} Load;

static _Atomic(LoadedModule *) *bucket_of(NewtDevice *device, const NewtModuleDesc *module)
{
    return &device->modules[((uintptr_t)module >> 4) % MODULE_BUCKETS];
}

static LoadedModule *loaded_find(NewtDevice *device, const NewtModuleDesc *module)
{
    LoadedModule *at = atomic_load_explicit(bucket_of(device, module), memory_order_acquire);
    while (at && (at->module != module || at->id != module->id))
        at = at->next;
    return at;
}

static void loaded_free(LoadedModule *loaded)
{
    if (loaded->slots)
        free(loaded->slots[0]);
    free(loaded->slots);
    free(loaded->images);
    free(loaded);
}

/// Allocates the cold slots of all kernels.
static bool slots_new(LoadedModule *loaded, const NewtModuleDesc *module)
{
    size_t count = 0;
    for (uint32_t k = 0; k < module->kernel_count; k++)
        count += module->kernels[k].variant_count;
    loaded->slots = calloc((size_t)module->kernel_count + 1, sizeof *loaded->slots);
    if (!loaded->slots)
        return false;
    Slot *row = calloc(count + 1, sizeof *row);  // neither is of nothing
    loaded->slots[0] = row;
    if (!row)
        return false;
    for (uint32_t k = 0; k < module->kernel_count; k++) {
        loaded->slots[k] = row;
        row += module->kernels[k].variant_count;
    }
    return true;
}

/// Adds an empty entry for `module`; NULL when out of memory. The load lock is held.
static LoadedModule *loaded_add(NewtDevice *device, const NewtModuleDesc *module)
{
    LoadedModule *loaded = calloc(1, sizeof *loaded);
    if (!loaded)
        return NULL;
    loaded->module = module;
    loaded->id = module->id;
    loaded->image_count = module->image_count;
    loaded->images = calloc(module->image_count + (size_t)1, sizeof *loaded->images);
    if (!loaded->images || !slots_new(loaded, module)) {
        loaded_free(loaded);
        return NULL;
    }
    _Atomic(LoadedModule *) *bucket = bucket_of(device, module);
    loaded->next = atomic_load_explicit(bucket, memory_order_relaxed);
    atomic_store_explicit(bucket, loaded, memory_order_release);
    return loaded;
}

static bool has_libraries(const Driver *driver)
{
    return driver->cuLibraryLoadData && driver->cuLibraryUnload && driver->cuLibraryGetKernel &&
           driver->cuKernelGetFunction;
}

/// Brings the image of `entry` into the context unless it is there.
static NewtStatus image_load(const Load *load, const NewtEntry *entry, LoadedImage **out)
{
    NewtDevice *device = load->device;
    const Driver *driver = device->driver;
    const NewtImage *image = &load->kernel->module->images[entry->image];
    LoadedImage *slot = &load->loaded->images[entry->image];
    *out = slot;
    if (slot->library || slot->module)
        return NEWT_OK;

    char *file = NULL;
    if (image->file) {
        NewtStatus status = newti_image_read(device, load->kernel->module, image, &file);
        if (status != NEWT_OK)
            return status;
    }
    const void *data = file ? file : image->data;
    char log[512] = "";
    int options[] = { CUDA_JIT_ERROR_LOG, CUDA_JIT_ERROR_LOG_SIZE };
    void *values[] = { log, (void *)(uintptr_t)(sizeof log - 1) };
    const char *call = has_libraries(driver) ? "cuLibraryLoadData" : "cuModuleLoadDataEx";
    CudaResult result;
    if (has_libraries(driver))
        result = driver->cuLibraryLoadData(&slot->library, data, options, values, 2, NULL, NULL, 0);
    else
        result = driver->cuModuleLoadDataEx(&slot->module, data, 2, options, values);
    free(file);  // the driver has a copy

    char name[32];
    newti_image_print(image, name, sizeof name);
    if (result != CUDA_OK) {
        slot->library = NULL;
        slot->module = NULL;
        log[sizeof log - 1] = '\0';
        newti_device_note(device, result);
        return newti_fail_driver(driver, result, call, "%s: cannot load the %s image on %s%s%s",
                                 load->kernel->name, name, device->label, *log ? ": " : "", log);
    }
    if (device->options.log >= LOG_LOAD)
        newti_log("load %s: %s, %llu bytes, sha256 %s, on %s", load->kernel->module->name, name,
                  (unsigned long long)image->size, image->sha256, device->label);
    return NEWT_OK;
}

static NewtStatus function_find(const Load *load, const LoadedImage *image, const NewtEntry *entry,
                                CudaFunction *function)
{
    const Driver *driver = load->device->driver;
    const char *call = "cuModuleGetFunction";
    CudaResult result;
    if (image->library) {
        CudaKernel kernel;
        call = "cuLibraryGetKernel";
        result = driver->cuLibraryGetKernel(&kernel, image->library, entry->symbol);
        if (result == CUDA_OK) {
            call = "cuKernelGetFunction";
            result = driver->cuKernelGetFunction(function, kernel);
        }
    } else {
        result = driver->cuModuleGetFunction(function, image->module, entry->symbol);
    }
    return result == CUDA_OK ? NEWT_OK
                             : newti_device_fail(load->device, result, call, load->kernel->name);
}

/// Asks for the dynamic shared memory and the cluster size that the launches will need.
static NewtStatus function_configure(const Load *load, const NewtEntry *entry,
                                     CudaFunction function)
{
    enum { PLAIN_SHARED = 48 * 1024, PORTABLE_CLUSTER = 8 };
    NewtDevice *device = load->device;
    const Driver *driver = device->driver;
    int fixed = 0;
    const char *call = "cuFuncGetAttribute";
    CudaResult result = driver->cuFuncGetAttribute(&fixed, CUDA_FUNCTION_SHARED_STATIC, function);
    if (result != CUDA_OK)
        return newti_device_fail(device, result, call, load->kernel->name);

    uint64_t total = (uint64_t)fixed + entry->shared;
    if (total > device->shared_max)
        return newti_fail(NEWT_TOO_LARGE,
                          "%s [%s] needs %llu bytes of shared memory per block; %s (%s) has %lu",
                          load->kernel->name, load->variant->name, (unsigned long long)total,
                          device->label, device->name, (unsigned long)device->shared_max);
    call = "cuFuncSetAttribute";
    if (total >= PLAIN_SHARED && entry->shared > 0)
        result = driver->cuFuncSetAttribute(function, CUDA_FUNCTION_SHARED_DYNAMIC_MAX,
                                            (int)entry->shared);
    const uint32_t *cluster = entry->cluster;
    if (result == CUDA_OK && cluster[0] * cluster[1] * cluster[2] > PORTABLE_CLUSTER)
        result = driver->cuFuncSetAttribute(function, CUDA_FUNCTION_NON_PORTABLE_CLUSTER, 1);
    if (result == CUDA_OK && load->mode == LOAD_AHEAD && driver->cuFuncLoad) {
        call = "cuFuncLoad";
        result = driver->cuFuncLoad(function);
    }
    return result == CUDA_OK ? NEWT_OK
                             : newti_device_fail(device, result, call, load->kernel->name);
}

/// Makes a cold slot ready or absent. The load lock is held.
static NewtStatus slot_load(const Load *load, Slot *slot)
{
    NewtDevice *device = load->device;
    const NewtEntry *entry = newti_entry_find(load->kernel->module, load->variant, device->arch,
                                              device->options.force_ptx);
    if (!entry) {
        atomic_store_explicit(&slot->state, SLOT_ABSENT, memory_order_release);
        return NEWT_OK;
    }
    if (entry->cluster[0] && !device->driver->cuLaunchKernelEx)
        return newti_fail(NEWT_OLD_DRIVER, "%s needs cuLaunchKernelEx: a driver of CUDA 11.8",
                          load->kernel->name);
    LoadedImage *image = NULL;
    CudaFunction function = NULL;
    NewtStatus status = newti_tensor_check(load->kernel, entry);
    if (status == NEWT_OK)
        status = image_load(load, entry, &image);
    if (status == NEWT_OK)
        status = function_find(load, image, entry, &function);
    if (status == NEWT_OK)
        status = function_configure(load, entry, function);
    if (status != NEWT_OK)
        return status;
    slot->entry = entry;
    slot->function = function;
    atomic_store_explicit(&slot->state, SLOT_READY, memory_order_release);
    return NEWT_OK;
}

/// Makes variants [first, end) of `kernel` ready or absent; `*out` is the last one's slot.
static NewtStatus slots_load(NewtDevice *device, const NewtKernel *kernel, uint32_t first,
                             uint32_t end, LoadMode mode, const Slot **out)
{
    const NewtModuleDesc *module = kernel->module;
    // A capture on another thread, in global mode, would be broken by a load here: leave it alone.
    int capture_mode = CUDA_CAPTURE_MODE_RELAXED;
    const char *call = "cuThreadExchangeStreamCaptureMode";
    CudaResult result = device->driver->cuThreadExchangeStreamCaptureMode(&capture_mode);
    if (result != CUDA_OK)
        return newti_device_fail(device, result, call, kernel->name);

    NewtStatus status = NEWT_OK;
    pthread_mutex_lock(&device->load_lock);
    LoadedModule *loaded = loaded_find(device, module);
    if (!loaded)
        loaded = loaded_add(device, module);
    if (!loaded)
        status = newti_fail(NEWT_NO_MEMORY, "%s: no memory to load %s", kernel->name, module->name);
    for (uint32_t v = first; v < end && status == NEWT_OK; v++) {
        Load load = { device, kernel, &kernel->variants[v], loaded, mode };
        Slot *slot = &loaded->slots[kernel - module->kernels][v];
        if (atomic_load_explicit(&slot->state, memory_order_relaxed) == SLOT_COLD)
            status = slot_load(&load, slot);
        *out = slot;
    }
    pthread_mutex_unlock(&device->load_lock);
    device->driver->cuThreadExchangeStreamCaptureMode(&capture_mode);
    return status;
}

/// Loading would break a capture of the stream, so it is refused there.
static NewtStatus capture_check(NewtDevice *device, const NewtKernel *kernel, NewtStream stream)
{
    int state = CUDA_CAPTURE_NONE;
    CudaResult result = device->driver->cuStreamIsCapturing(stream, &state);
    if (result == CUDA_OK && state == CUDA_CAPTURE_NONE)
        return NEWT_OK;
    if (result == CUDA_OK || result == CUDA_CAPTURE_IMPLICIT)
        return newti_fail(NEWT_NOT_LOADED,
                          "%s is used for the first time on %s inside a stream capture; call "
                          "%s_preload() before the capture begins",
                          kernel->name, device->label, kernel->name);
    return newti_device_fail(device, result, "cuStreamIsCapturing", kernel->name);
}

NewtStatus newti_slot_get(NewtDevice *device, const NewtKernel *kernel, uint32_t v,
                          NewtStream stream, const Slot **out)
{
    const LoadedModule *loaded = loaded_find(device, kernel->module);
    if (loaded) {
        const Slot *slot = &loaded->slots[kernel - kernel->module->kernels][v];
        *out = slot;
        if (atomic_load_explicit(&slot->state, memory_order_acquire) != SLOT_COLD)
            return NEWT_OK;
    }
    NewtStatus status = capture_check(device, kernel, stream);
    if (status != NEWT_OK)
        return status;
    return slots_load(device, kernel, v, v + 1, LOAD_FOR_LAUNCH, out);
}

NewtStatus newti_slots_load(NewtDevice *device, const NewtKernel *kernel, uint32_t first,
                            uint32_t end, uint32_t *ready)
{
    const Slot *last = NULL;
    NewtStatus status = slots_load(device, kernel, first, end, LOAD_AHEAD, &last);
    if (status != NEWT_OK)
        return status;
    const LoadedModule *loaded = loaded_find(device, kernel->module);
    const Slot *slots = loaded->slots[kernel - kernel->module->kernels];
    for (uint32_t v = first; v < end; v++)
        *ready += atomic_load_explicit(&slots[v].state, memory_order_acquire) == SLOT_READY;
    return NEWT_OK;
}

void newti_modules_free(NewtDevice *device, bool is_current)
{
    for (int b = 0; b < MODULE_BUCKETS; b++) {
        LoadedModule *loaded = atomic_load(&device->modules[b]);
        while (loaded) {
            LoadedModule *next = loaded->next;
            for (uint32_t i = 0; i < loaded->image_count; i++) {
                const LoadedImage *image = &loaded->images[i];
                if (image->library)
                    device->driver->cuLibraryUnload(image->library);
                else if (image->module && is_current)
                    device->driver->cuModuleUnload(image->module);
            }
            loaded_free(loaded);
            loaded = next;
        }
    }
}
