/// cuda.c - see cuda.h.
#include "cuda.h"
#include "bench.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ATTRIBUTE_MULTIPROCESSORS = 16 };

/// CUlaunchConfig of the driver API.
typedef struct LaunchConfig {
    unsigned grid[3], block[3], shared;
    void *stream, *attributes;
    unsigned attribute_count;
} LaunchConfig;

typedef struct Cuda {
    int (*init)(unsigned flags);
    int (*device_get)(int *device, int ordinal);
    int (*device_attribute)(int *value, int attribute, int device);
    int (*context_retain)(void **context, int device);
    int (*context_release)(int device);
    int (*context_set)(void *context);
    int (*module_load)(void **module, const void *image);
    int (*module_unload)(void *module);
    int (*module_function)(void **function, void *module, const char *name);
    int (*launch)(const LaunchConfig *config, void *function, void **params, void **extra);
} Cuda;

struct BenchRaw {
    Cuda cuda;
    int device;
    void *module, *function;
    LaunchConfig config;
};

static void fail(const char *what, int result)
{
    fprintf(stderr, "%s: CUDA error %d\n", what, result);
    exit(2);
}

static void symbol_find(void *library, const char *name, void *to)
{
    void *at = dlsym(library, name);
    if (!at) {
        fprintf(stderr, "%s: not in libcuda.so.1\n", name);
        exit(2);
    }
    memcpy(to, &at, sizeof at);  // an object pointer is no function pointer in C
}

static Cuda cuda_open(const char *name, int *device)
{
    Cuda cuda;
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    symbol_find(library, "cuInit", &cuda.init);
    symbol_find(library, "cuDeviceGet", &cuda.device_get);
    symbol_find(library, "cuDeviceGetAttribute", &cuda.device_attribute);
    symbol_find(library, "cuDevicePrimaryCtxRetain", &cuda.context_retain);
    symbol_find(library, "cuDevicePrimaryCtxRelease_v2", &cuda.context_release);
    symbol_find(library, "cuCtxSetCurrent", &cuda.context_set);
    symbol_find(library, "cuModuleLoadData", &cuda.module_load);
    symbol_find(library, "cuModuleUnload", &cuda.module_unload);
    symbol_find(library, "cuModuleGetFunction", &cuda.module_function);
    symbol_find(library, "cuLaunchKernelEx", &cuda.launch);
    const char *colon = name ? strchr(name, ':') : NULL;
    int result = cuda.init(0);
    if (result == 0)
        result = cuda.device_get(device, colon ? atoi(colon + 1) : 0);
    if (result != 0)
        fail("cuInit, cuDeviceGet", result);
    return cuda;
}

unsigned bench_cuda_processors(const char *device)
{
    int at = 0, count = 0;
    Cuda cuda = cuda_open(device, &at);
    int result = cuda.device_attribute(&count, ATTRIBUTE_MULTIPROCESSORS, at);
    if (result != 0)
        fail("cuDeviceGetAttribute", result);
    return (unsigned)count;
}

/// The entry of the kernel's first variant in an image for exactly `arch`; NULL: none.
static const NewtEntry *entry_find(const NewtKernel *kernel, const char *arch)
{
    const NewtVariant *variant = &kernel->variants[0];
    for (uint32_t i = 0; i < variant->entry_count; i++) {
        const NewtImage *image = &kernel->module->images[variant->entries[i].image];
        char spelling[16];
        snprintf(spelling, sizeof spelling, "sm_%d%s", (int)image->arch,
                 image->set == NEWT_SET_ACCELERATED ? "a" : "");
        if (image->kind == NEWT_IMAGE_CUBIN && strcmp(spelling, arch) == 0)
            return &variant->entries[i];
    }
    return NULL;
}

BenchRaw *bench_raw_new(const NewtKernel *kernel, const char *device, const char *arch)
{
    const NewtEntry *entry = entry_find(kernel, arch);
    if (!entry)
        return NULL;
    BenchRaw *raw = bench_memory(sizeof *raw);
    *raw = (BenchRaw){ .config = {
                           { 1, 1, 1 }, { entry->threads, 1, 1 }, entry->shared, NULL, NULL, 0 } };
    raw->cuda = cuda_open(device, &raw->device);
    void *context = NULL;
    int result = raw->cuda.context_retain(&context, raw->device);
    if (result == 0)
        result = raw->cuda.context_set(context);
    if (result == 0)
        result = raw->cuda.module_load(&raw->module, kernel->module->images[entry->image].data);
    if (result == 0)
        result = raw->cuda.module_function(&raw->function, raw->module, entry->symbol);
    if (result != 0)
        fail(entry->symbol, result);
    return raw;
}

int bench_raw_launch(BenchRaw *raw, unsigned programs, void **params)
{
    raw->config.grid[0] = programs;
    return raw->cuda.launch(&raw->config, raw->function, params, NULL);
}

void bench_raw_free(BenchRaw *raw)
{
    if (!raw)
        return;
    raw->cuda.module_unload(raw->module);
    raw->cuda.context_release(raw->device);
    free(raw);
}
