/// driver.c - the CUDA driver that libnewt sees in these tests: its devices are the emulator.
///
/// Linked instead of runtime/src/driver_api.c. cuda:0 is an sm_80, cuda:1 an sm_90 (which runs sm_90a
/// images). An image is the path of a shared object. A launch has run when cuLaunchKernel returns; faults
/// make it fail, with the reports as the error's text.
#include "driver_api.h"
#include "simt.h"
#include "tensor_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICE_COUNT = 2, SM_COUNT = 3, FAULT = 999 };
static const int device_major[DEVICE_COUNT] = { 8, 9 };

/// Handles of a device's context and of functions.
struct CUctx_st {
    int ordinal;
};
struct CUfunc_st {
    void *entry;
    struct CUfunc_st *next;
    char name[];
};
struct CUlib_st {
    SimtModule *module;
    struct CUfunc_st *functions;
};

static struct CUctx_st contexts[DEVICE_COUNT] = { { 0 }, { 1 } };
static _Thread_local CudaContext current;

static CudaResult driver_init(unsigned flags)
{
    (void)flags;
    const char *seed = getenv("SIMT_SEED");
    simt_seed(seed ? strtoull(seed, NULL, 10) : 1);
    return CUDA_OK;
}

static CudaResult error_name(CudaResult result, const char **name)
{
    *name = result == FAULT ? "SIMT_FAULT" : "CUDA_ERROR";
    return CUDA_OK;
}

static CudaResult error_string(CudaResult result, const char **text)
{
    *text = result == FAULT ? simt_report() : "the emulator's driver refuses";
    return CUDA_OK;
}

static CudaResult device_get(CudaOrdinal *device, int ordinal)
{
    *device = ordinal;
    return ordinal < DEVICE_COUNT ? CUDA_OK : CUDA_INVALID_DEVICE;
}

static CudaResult device_count(int *count)
{
    *count = DEVICE_COUNT;
    return CUDA_OK;
}

static CudaResult device_name(char *name, int size, CudaOrdinal device)
{
    snprintf(name, (size_t)size, "SIMT emulator sm_%d0", device_major[device]);
    return CUDA_OK;
}

static CudaResult device_attribute(int *value, int attribute, CudaOrdinal device)
{
    switch (attribute) {
    case CUDA_DEVICE_MAJOR: *value = device_major[device]; return CUDA_OK;
    case CUDA_DEVICE_MINOR: *value = 0; return CUDA_OK;
    case CUDA_DEVICE_SHARED_OPTIN: *value = device_major[device] == 8 ? 163 * 1024 : SIMT_MAX_SHARED; return CUDA_OK;
    case CUDA_DEVICE_MULTIPROCESSORS: *value = SM_COUNT; return CUDA_OK;
    default: return 1;
    }
}

static CudaResult primary_retain(CudaContext *context, CudaOrdinal device)
{
    *context = &contexts[device];
    return CUDA_OK;
}

static CudaResult primary_release(CudaOrdinal device)
{
    (void)device;
    return CUDA_OK;
}

static CudaResult context_current(CudaContext *context)
{
    *context = current;
    return CUDA_OK;
}

static CudaResult context_device(CudaOrdinal *device)
{
    *device = current ? current->ordinal : 0;
    return CUDA_OK;
}

static CudaResult context_push(CudaContext context)
{
    current = context;
    return CUDA_OK;
}

static CudaResult context_pop(CudaContext *context)
{
    *context = current;
    current = NULL;
    return CUDA_OK;
}

static CudaResult context_id(CudaContext context, unsigned long long *id)
{
    *id = (unsigned long long)context->ordinal + 1;
    return CUDA_OK;
}

static CudaResult library_load(CudaLibrary *library, const void *image, int *jit_options, void **jit_values,
                               unsigned jit_count, int *options, void **values, unsigned count)
{
    (void)jit_options, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    struct CUlib_st *l = calloc(1, sizeof *l);
    if (!l)
        return CUDA_OUT_OF_MEMORY;
    l->module = simt_open(image);
    if (!l->module) {
        free(l);
        return CUDA_INVALID_IMAGE;
    }
    *library = l;
    return CUDA_OK;
}

static CudaResult library_unload(CudaLibrary library)
{
    while (library->functions) {
        struct CUfunc_st *f = library->functions;
        library->functions = f->next;
        free(f);
    }
    simt_close(library->module);
    free(library);
    return CUDA_OK;
}

static CudaResult library_kernel(CudaKernel *kernel, CudaLibrary library, const char *symbol)
{
    struct CUfunc_st *f = calloc(1, sizeof *f + strlen(symbol) + 1);
    if (!f)
        return CUDA_OUT_OF_MEMORY;
    memcpy(f->name, symbol, strlen(symbol) + 1);
    f->next = library->functions;
    library->functions = f;
    f->entry = simt_entry(library->module, symbol);
    *kernel = (CudaKernel)f;
    return f->entry ? CUDA_OK : CUDA_INVALID_IMAGE;
}

static CudaResult kernel_function(CudaFunction *function, CudaKernel kernel)
{
    *function = (CudaFunction)kernel;
    return CUDA_OK;
}

static CudaResult module_load(CudaModule *module, const void *image, unsigned count, int *options, void **values)
{
    (void)count, (void)options, (void)values;
    return library_load((CudaLibrary *)module, image, NULL, NULL, 0, NULL, NULL, 0);
}

static CudaResult module_unload(CudaModule module)
{
    return library_unload((CudaLibrary)module);
}

static CudaResult module_function(CudaFunction *function, CudaModule module, const char *symbol)
{
    return library_kernel((CudaKernel *)function, (CudaLibrary)module, symbol);
}

static CudaResult function_attribute(int *value, int attribute, CudaFunction function)
{
    (void)attribute, (void)function;
    *value = 0;
    return CUDA_OK;
}

static CudaResult function_set(CudaFunction function, int attribute, int value)
{
    (void)function, (void)attribute, (void)value;
    return CUDA_OK;
}

static CudaResult function_load(CudaFunction function)
{
    (void)function;
    return CUDA_OK;
}

static CudaResult launch_ex(const CudaLaunchConfig *c, CudaFunction function, void **parameters, void **extra)
{
    (void)extra;
    SimtLaunch l = { .grid = { c->grid_x, c->grid_y, c->grid_z },
                     .threads = c->block_x * c->block_y * c->block_z,
                     .shared_bytes = c->shared,
                     .parameters = parameters };
    for (unsigned i = 0; i < c->attribute_count; i++)
        if (c->attributes[i].id == CUDA_LAUNCH_CLUSTER)
            l.cluster = c->attributes[i].value.cluster[0];
    return simt_launch(function->name, function->entry, &l) ? CUDA_OK : FAULT;
}

static CudaResult launch(CudaFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                         unsigned block_y, unsigned block_z, unsigned shared, NewtStream stream, void **parameters,
                         void **extra)
{
    const CudaLaunchConfig config = { .grid_x = grid_x, .grid_y = grid_y, .grid_z = grid_z, .block_x = block_x,
                                      .block_y = block_y, .block_z = block_z, .shared = shared, .stream = stream };
    return launch_ex(&config, function, parameters, extra);
}

/// Accepts what the documentation of CUDA allows.
static CudaResult tensor_encode(CudaTensorMap *map, int type, uint32_t rank, void *base,
                                const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,
                                const uint32_t *steps, int interleave, int swizzle, int promotion, int fill)
{
    enum { INVALID_VALUE = 1, TFLOAT32 = 11 };
    static const uint8_t bytes_of[] = { 1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 0, 4 };
    (void)promotion;
    if (type < 0 || type >= (int)sizeof bytes_of || !bytes_of[type] || rank < 1 || rank > 5 || interleave || fill ||
        swizzle < 0 || swizzle > 3 || (uintptr_t)base % 16)
        return INVALID_VALUE;
    SimtTensorMap m = { .base = (uintptr_t)base, .rank = (uint8_t)rank, .elem_bytes = bytes_of[type],
                        .swizzle = (uint8_t)(swizzle ? 16 << swizzle : 0), .tf32 = type == TFLOAT32, .magic = SIMT_TENSOR_MAGIC };
    for (uint32_t axis = 0; axis < rank; axis++) {
        bool has_stride = axis + 1 < rank;
        if (sizes[axis] < 1 || sizes[axis] > 1ULL << 32 || box[axis] < 1 || box[axis] > 256 || steps[axis] != 1 ||
            (has_stride && (strides[axis] % 16 || strides[axis] >= 1ULL << 40)))
            return INVALID_VALUE;
        m.sizes[axis] = sizes[axis];
        m.box[axis] = (uint16_t)box[axis];
        if (has_stride)
            m.strides[axis] = strides[axis];
    }
    uint32_t inner = box[0] * m.elem_bytes;
    if (inner % 16 || (m.swizzle && inner > m.swizzle))
        return INVALID_VALUE;
    memcpy(map, &m, sizeof m);
    return CUDA_OK;
}

_Static_assert(sizeof(SimtTensorMap) <= sizeof(CudaTensorMap), "it has to fit");

static CudaResult stream_synchronize(NewtStream stream)
{
    (void)stream;
    return CUDA_OK;
}

static CudaResult stream_query(NewtStream stream)
{
    (void)stream;
    return CUDA_OK;
}

static CudaResult stream_capturing(NewtStream stream, int *state)
{
    (void)stream;
    *state = CUDA_CAPTURE_NONE;
    return CUDA_OK;
}

static CudaResult stream_context(NewtStream stream, CudaContext *context)
{
    (void)stream;
    *context = current;
    return CUDA_OK;
}

static CudaResult exchange_mode(int *mode)
{
    (void)mode;
    return CUDA_OK;
}

static CudaResult memory_alloc(CudaAddress *at, size_t bytes)
{
    void *memory = aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (!memory)
        return CUDA_OUT_OF_MEMORY;
    simt_expose(memory, bytes);
    *at = (CudaAddress)(uintptr_t)memory;
    return CUDA_OK;
}

static CudaResult memory_free(CudaAddress at)
{
    simt_forget((void *)(uintptr_t)at);
    free((void *)(uintptr_t)at);
    return CUDA_OK;
}

/// Nobody asks: tests that tune give the sizes of their buffers.
static CudaResult memory_range(CudaAddress *base, size_t *bytes, CudaAddress at)
{
    (void)base, (void)bytes, (void)at;
    return 1;
}

static CudaResult memory_set(CudaAddress at, unsigned char value, size_t bytes, NewtStream stream)
{
    (void)stream;
    memset((void *)(uintptr_t)at, value, bytes);
    return CUDA_OK;
}

static CudaResult driver_version(int *version)
{
    *version = 13000;
    return CUDA_OK;
}

static CudaResult memory_copy(CudaAddress to, CudaAddress from, size_t bytes, NewtStream stream)
{
    (void)stream;
    memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
    return CUDA_OK;
}

static CudaResult event_create(CudaEvent *event, unsigned flags)
{
    (void)flags;
    *event = NULL;
    return CUDA_OK;
}

static CudaResult event_destroy(CudaEvent event)
{
    (void)event;
    return CUDA_OK;
}

static CudaResult event_record(CudaEvent event, NewtStream stream)
{
    (void)event, (void)stream;
    return CUDA_OK;
}

static CudaResult event_synchronize(CudaEvent event)
{
    (void)event;
    return CUDA_OK;
}

static CudaResult event_elapsed(float *milliseconds, CudaEvent start, CudaEvent end)
{
    (void)start, (void)end;
    *milliseconds = 0;
    return CUDA_OK;
}

NewtStatus newti_driver_load(Driver *driver)
{
    *driver = (Driver){
        .cuInit = driver_init,
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
        .cuDriverGetVersion = driver_version,
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
    return NEWT_OK;
}
