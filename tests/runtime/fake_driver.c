/// The fake driver: each function counts itself, fails if told so, else keeps the books.
#include "fake_driver.h"
#include "error.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FakeDriver fake;
_Thread_local CudaContext fake_current;
_Thread_local int fake_pushed;

static pthread_mutex_t launch_lock = PTHREAD_MUTEX_INITIALIZER;  // over what a launch records
static char contexts[2];
const CudaContext fake_primary = (CudaContext)&contexts[0];
const CudaContext fake_other = (CudaContext)&contexts[1];

/// What cuMemAlloc gave and nobody freed: it dies with the fake.
static void *allocated[64];
static size_t allocated_bytes[64];
static float milliseconds;  // of the last launch

void fake_reset(void)
{
    for (size_t i = 0; i < sizeof allocated / sizeof *allocated; i++) {
        free(allocated[i]);
        allocated[i] = NULL;
    }
    memset(&fake, 0, sizeof fake);
    fake.device_count = 1;
    fake.major = 8;
    fake.shared_opt_in = -1;
    fake_current = NULL;
    fake_pushed = 0;
    fake.stream_context = fake_primary;
}

/// What this call returns.
static CudaResult step(const char *name)
{
    int call = atomic_fetch_add(&fake.calls, 1) + 1;
    if (call != fake.fail_at && !(fake.fail_name && strcmp(fake.fail_name, name) == 0))
        return CUDA_OK;
    snprintf(fake.failed, sizeof fake.failed, "%s", name);
    return fake.fail_result;
}

#define STEP(name)                       \
    do {                                 \
        CudaResult result_ = step(name); \
        if (result_ != CUDA_OK)          \
            return result_;              \
    } while (0)

static CudaResult init(unsigned flags)
{
    (void)flags;
    STEP("cuInit");
    return fake.device_count > 0 ? CUDA_OK : CUDA_NO_DEVICE;
}

static CudaResult driver_version(int *version)
{
    STEP("cuDriverGetVersion");
    *version = 13000;
    return CUDA_OK;
}

static CudaResult error_name(CudaResult result, const char **name)
{
    *name = result == CUDA_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_OF_FAKE";
    return CUDA_OK;
}

static CudaResult error_string(CudaResult result, const char **text)
{
    (void)result;
    *text = "as the test wants";
    return CUDA_OK;
}

static CudaResult device_get(CudaOrdinal *device, int ordinal)
{
    STEP("cuDeviceGet");
    *device = ordinal;
    return CUDA_OK;
}

static CudaResult device_count(int *count)
{
    STEP("cuDeviceGetCount");
    *count = fake.device_count;
    return CUDA_OK;
}

static CudaResult device_name(char *name, int size, CudaOrdinal device)
{
    STEP("cuDeviceGetName");
    snprintf(name, (size_t)size, "Fake %d", device);
    return CUDA_OK;
}

static CudaResult device_attribute(int *value, int attribute, CudaOrdinal device)
{
    (void)device;
    STEP("cuDeviceGetAttribute");
    if (attribute == CUDA_DEVICE_MAJOR)
        *value = fake.major;
    else if (attribute == CUDA_DEVICE_MINOR)
        *value = fake.minor;
    else if (attribute == CUDA_DEVICE_SHARED_OPTIN)
        *value = 163 * 1024;
    else if (attribute == CUDA_DEVICE_MULTIPROCESSORS)
        *value = FAKE_SMS;
    else if (attribute == CUDA_DEVICE_L2)
        *value = 1024;
    else
        return 1;
    return CUDA_OK;
}

static CudaResult primary_retain(CudaContext *context, CudaOrdinal device)
{
    (void)device;
    STEP("cuDevicePrimaryCtxRetain");
    fake.retained++;
    *context = fake_primary;
    return CUDA_OK;
}

static CudaResult primary_release(CudaOrdinal device)
{
    (void)device;
    fake.retained--;  // also when told to fail: the caller can do no more about it
    STEP("cuDevicePrimaryCtxRelease");
    return CUDA_OK;
}

static CudaResult context_current(CudaContext *context)
{
    STEP("cuCtxGetCurrent");
    *context = fake_current;
    return CUDA_OK;
}

static CudaResult context_device(CudaOrdinal *device)
{
    STEP("cuCtxGetDevice");
    *device = 0;
    return CUDA_OK;
}

static CudaResult context_push(CudaContext context)
{
    STEP("cuCtxPushCurrent");
    fake_pushed++;
    fake_current = context;
    return CUDA_OK;
}

static CudaResult context_pop(CudaContext *context)
{
    *context = fake_current;
    fake_pushed--;
    fake_current = NULL;
    STEP("cuCtxPopCurrent");
    return CUDA_OK;
}

static CudaResult context_id(CudaContext context, unsigned long long *id)
{
    STEP("cuCtxGetId");
    *id = context == fake_primary ? 7 : 8;
    return CUDA_OK;
}

/// An image is its own handle. Fills in the JIT's error log when it is told to fail.
static CudaResult image_load(const char *name, const void *image, unsigned count,
                             const int *options, void **values)
{
    CudaResult result = step(name);
    if (result == CUDA_OK) {
        snprintf(fake.image, sizeof fake.image, "%s", (const char *)image);
        fake.images++;
        fake.loads++;
        return CUDA_OK;
    }
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == CUDA_JIT_ERROR_LOG)
            strcpy(values[i], fake.jit_log);
    }
    return result;
}

static CudaResult module_load(CudaModule *module, const void *image, unsigned count, int *options,
                              void **values)
{
    *module = (CudaModule)(uintptr_t)image;
    return image_load("cuModuleLoadDataEx", image, count, options, values);
}

static CudaResult module_unload(CudaModule module)
{
    (void)module;
    fake.images--;
    STEP("cuModuleUnload");
    return CUDA_OK;
}

static CudaResult module_function(CudaFunction *function, CudaModule module, const char *symbol)
{
    (void)module;
    STEP("cuModuleGetFunction");
    *function = (CudaFunction)(uintptr_t)symbol;
    return CUDA_OK;
}

static CudaResult library_load(CudaLibrary *library, const void *image, int *jit_options,
                               void **jit_values, unsigned jit_count, int *options, void **values,
                               unsigned count)
{
    (void)options;
    (void)values;
    (void)count;
    *library = (CudaLibrary)(uintptr_t)image;
    return image_load("cuLibraryLoadData", image, jit_count, jit_options, jit_values);
}

static CudaResult library_unload(CudaLibrary library)
{
    (void)library;
    fake.images--;
    STEP("cuLibraryUnload");
    return CUDA_OK;
}

static CudaResult library_kernel(CudaKernel *kernel, CudaLibrary library, const char *symbol)
{
    (void)library;
    STEP("cuLibraryGetKernel");
    *kernel = (CudaKernel)(uintptr_t)symbol;
    return CUDA_OK;
}

static CudaResult kernel_function(CudaFunction *function, CudaKernel kernel)
{
    STEP("cuKernelGetFunction");
    *function = (CudaFunction)kernel;
    return CUDA_OK;
}

static CudaResult function_attribute(int *value, int attribute, CudaFunction function)
{
    (void)function;
    STEP("cuFuncGetAttribute");
    if (attribute != CUDA_FUNCTION_SHARED_STATIC)
        return 1;
    *value = fake.shared_static;
    return CUDA_OK;
}

static CudaResult function_set(CudaFunction function, int attribute, int value)
{
    (void)function;
    STEP("cuFuncSetAttribute");
    if (attribute == CUDA_FUNCTION_SHARED_DYNAMIC_MAX)
        fake.shared_opt_in = value;
    return CUDA_OK;
}

static CudaResult function_load(CudaFunction function)
{
    (void)function;
    STEP("cuFuncLoad");
    fake.functions_loaded++;
    return CUDA_OK;
}

static void record(CudaFunction function, const CudaLaunchConfig *config, void **parameters)
{
    pthread_mutex_lock(&launch_lock);
    fake.launches++;
    snprintf(fake.symbol, sizeof fake.symbol, "%s", (const char *)function);
    fake.grid[0] = config->grid_x;
    fake.grid[1] = config->grid_y;
    fake.grid[2] = config->grid_z;
    fake.threads = config->block_x * config->block_y * config->block_z;
    fake.shared = config->shared;
    memset(fake.cluster, 0, sizeof fake.cluster);
    for (unsigned i = 0; i < config->attribute_count; i++) {
        if (config->attributes[i].id == CUDA_LAUNCH_CLUSTER)
            memcpy(fake.cluster, config->attributes[i].value.cluster, sizeof fake.cluster);
    }
    memcpy(fake.parameters, parameters, sizeof fake.parameters);
    for (int i = 0; i < fake.map_count; i++)
        memcpy(&fake.encoded[i], parameters[fake.map_at + i], sizeof fake.encoded[i]);
    for (int axis = 0; axis < 3 && fake.grid_at > 0; axis++)
        memcpy(&fake.true_grid[axis], parameters[fake.grid_at + axis], sizeof(unsigned));
    if (fake.run)
        fake.run((const char *)function, parameters, fake.grid, &milliseconds);
    pthread_mutex_unlock(&launch_lock);
}

static CudaResult launch(CudaFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                         unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                         NewtStream stream, void **parameters, void **extra)
{
    (void)extra;
    STEP("cuLaunchKernel");
    CudaLaunchConfig config = {
        .grid_x = grid_x,
        .grid_y = grid_y,
        .grid_z = grid_z,
        .block_x = block_x,
        .block_y = block_y,
        .block_z = block_z,
        .shared = shared,
        .stream = stream,
    };
    record(function, &config, parameters);
    return CUDA_OK;
}

static CudaResult launch_ex(const CudaLaunchConfig *config, CudaFunction function,
                            void **parameters, void **extra)
{
    (void)extra;
    STEP("cuLaunchKernelEx");
    record(function, config, parameters);
    return CUDA_OK;
}

/// Refuses what CUDA's documentation calls illegal, without help from libnewt.
static CudaResult tensor_encode(CudaTensorMap *map, int type, uint32_t rank, void *base,
                                const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,
                                const uint32_t *steps, int interleave, int swizzle, int promotion,
                                int fill)
{
    enum { ILLEGAL = 1 };
    STEP("cuTensorMapEncodeTiled");
    FakeEncode e = { .type = type, .rank = rank, .base = base, .swizzle = swizzle };
    e.promotion = promotion;
    if ((uintptr_t)map % 64 || (uintptr_t)base % 16 || rank < 1 || rank > 5 || interleave || fill)
        return ILLEGAL;
    for (uint32_t axis = 0; axis < rank; axis++) {
        e.sizes[axis] = sizes[axis];
        e.box_less_one[axis] = (uint8_t)(box[axis] - 1);
        if (sizes[axis] < 1 || sizes[axis] > 1ULL << 32 || box[axis] < 1 || box[axis] > 256 ||
            steps[axis] != 1)
            return ILLEGAL;
        if (axis + 1 == rank)
            break;
        e.strides[axis] = strides[axis];
        if (strides[axis] % 16 || strides[axis] >= 1ULL << 40)
            return ILLEGAL;
    }
    memcpy(map, &e, sizeof e);
    return CUDA_OK;
}

_Static_assert(sizeof(FakeEncode) <= sizeof(CudaTensorMap),
               "the fake's map fits into the real one");

static CudaResult stream_synchronize(NewtStream stream)
{
    (void)stream;
    STEP("cuStreamSynchronize");
    fake.synchronizations++;
    return CUDA_OK;
}

static CudaResult stream_query(NewtStream stream)
{
    (void)stream;
    STEP("cuStreamQuery");
    return fake.query;
}

static CudaResult stream_capturing(NewtStream stream, int *state)
{
    (void)stream;
    STEP("cuStreamIsCapturing");
    *state = fake.capture_state;
    return CUDA_OK;
}

static CudaResult stream_context(NewtStream stream, CudaContext *context)
{
    (void)stream;
    STEP("cuStreamGetCtx");
    *context = fake.stream_context;
    return CUDA_OK;
}

static CudaResult exchange_mode(int *mode)
{
    (void)mode;
    STEP("cuThreadExchangeStreamCaptureMode");
    return CUDA_OK;
}

static CudaResult memory_alloc(CudaAddress *at, size_t bytes)
{
    STEP("cuMemAlloc");
    for (size_t i = 0; i < sizeof allocated / sizeof *allocated; i++) {
        if (allocated[i])
            continue;
        allocated[i] = aligned_alloc(256, (bytes + 255) / 256 * 256);
        allocated_bytes[i] = bytes;
        fake.allocations += allocated[i] != NULL;
        *at = (CudaAddress)(uintptr_t)allocated[i];
        return allocated[i] ? CUDA_OK : CUDA_OUT_OF_MEMORY;
    }
    return CUDA_OUT_OF_MEMORY;
}

static CudaResult memory_free(CudaAddress at)
{
    for (size_t i = 0; i < sizeof allocated / sizeof *allocated; i++) {
        if ((CudaAddress)(uintptr_t)allocated[i] != at)
            continue;
        free(allocated[i]);
        allocated[i] = NULL;
        fake.allocations--;
    }
    STEP("cuMemFree");
    return CUDA_OK;
}

static CudaResult memory_range(CudaAddress *base, size_t *bytes, CudaAddress at)
{
    STEP("cuMemGetAddressRange");
    for (size_t i = 0; i < sizeof allocated / sizeof *allocated; i++) {
        const CudaAddress begin = (CudaAddress)(uintptr_t)allocated[i];
        if (!allocated[i] || at < begin || at >= begin + allocated_bytes[i])
            continue;
        *base = begin;
        *bytes = allocated_bytes[i];
        return CUDA_OK;
    }
    return CUDA_INVALID_DEVICE;
}

static CudaResult memory_set(CudaAddress at, unsigned char value, size_t bytes, NewtStream stream)
{
    (void)stream;
    STEP("cuMemsetD8Async");
    memset((void *)(uintptr_t)at, value, bytes);
    return CUDA_OK;
}

static CudaResult memory_copy(CudaAddress to, CudaAddress from, size_t bytes, NewtStream stream)
{
    (void)stream;
    STEP("cuMemcpyAsync");
    memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
    return CUDA_OK;
}

static CudaResult event_create(CudaEvent *event, unsigned flags)
{
    (void)flags;
    STEP("cuEventCreate");
    fake.events++;
    *event = NULL;
    return CUDA_OK;
}

static CudaResult event_destroy(CudaEvent event)
{
    (void)event;
    fake.events--;
    STEP("cuEventDestroy");
    return CUDA_OK;
}

static CudaResult event_record(CudaEvent event, NewtStream stream)
{
    (void)event;
    (void)stream;
    STEP("cuEventRecord");
    return CUDA_OK;
}

static CudaResult event_synchronize(CudaEvent event)
{
    (void)event;
    STEP("cuEventSynchronize");
    return CUDA_OK;
}

static CudaResult event_elapsed(float *elapsed, CudaEvent start, CudaEvent end)
{
    (void)start;
    (void)end;
    STEP("cuEventElapsedTime");
    *elapsed = fake.run ? milliseconds : 1.5F;
    return CUDA_OK;
}

static const Driver whole = {
    .cuInit = init,
    .cuDriverGetVersion = driver_version,
    .cuGetErrorName = error_name,
    .cuGetErrorString = error_string,
    .cuDeviceGet = device_get,
    .cuDeviceGetCount = device_count,
    .cuDeviceGetName = device_name,
    .cuDeviceGetAttribute = device_attribute,
    .cuDevicePrimaryCtxRetain = primary_retain,
    .cuDevicePrimaryCtxRelease = primary_release,
    .cuCtxGetCurrent = context_current,
    .cuCtxGetDevice = context_device,
    .cuCtxPushCurrent = context_push,
    .cuCtxPopCurrent = context_pop,
    .cuCtxGetId = context_id,
    .cuModuleLoadDataEx = module_load,
    .cuModuleUnload = module_unload,
    .cuModuleGetFunction = module_function,
    .cuLibraryLoadData = library_load,
    .cuLibraryUnload = library_unload,
    .cuLibraryGetKernel = library_kernel,
    .cuKernelGetFunction = kernel_function,
    .cuFuncGetAttribute = function_attribute,
    .cuFuncSetAttribute = function_set,
    .cuFuncLoad = function_load,
    .cuLaunchKernel = launch,
    .cuLaunchKernelEx = launch_ex,
    .cuTensorMapEncodeTiled = tensor_encode,
    .cuStreamSynchronize = stream_synchronize,
    .cuStreamQuery = stream_query,
    .cuStreamIsCapturing = stream_capturing,
    .cuStreamGetCtx = stream_context,
    .cuThreadExchangeStreamCaptureMode = exchange_mode,
    .cuMemAlloc = memory_alloc,
    .cuMemFree = memory_free,
    .cuMemGetAddressRange = memory_range,
    .cuMemsetD8Async = memory_set,
    .cuMemcpyAsync = memory_copy,
    .cuEventCreate = event_create,
    .cuEventDestroy = event_destroy,
    .cuEventRecord = event_record,
    .cuEventSynchronize = event_synchronize,
    .cuEventElapsedTime = event_elapsed,
};

NewtStatus newti_driver_load(Driver *driver)
{
    if (fake.load_status != NEWT_OK)
        return newti_fail(fake.load_status, "cannot load the CUDA driver: as the test wants");
    *driver = whole;
    if (fake.is_old) {
        driver->cuCtxGetId = NULL;
        driver->cuLibraryLoadData = NULL;
        driver->cuLibraryUnload = NULL;
        driver->cuLibraryGetKernel = NULL;
        driver->cuKernelGetFunction = NULL;
        driver->cuFuncLoad = NULL;
        driver->cuLaunchKernelEx = NULL;
        driver->cuTensorMapEncodeTiled = NULL;
    }
    return NEWT_OK;
}
