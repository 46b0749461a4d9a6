/// Prints, as a table, facts about the CUDA driver on this machine that libnewt relies on.
///
/// Nothing is asserted: runtime/README.md keeps the findings, and libnewt is changed where it
/// assumed otherwise. Kernels are PTX strings; the cubin of another architecture comes from the
/// driver's own linker, so no toolkit is needed. Exit status 77 when there is no driver or device.
///
///     gpu_facts                 all facts; starts itself for those that need a fresh process
///     gpu_facts persistent      first launch beside a kernel that does not end
///     gpu_facts start           what loading and starting the driver gives (stubs)
///     gpu_facts reset           a launch of a CUfunction after its context was reset
///     gpu_facts reset-kernel    the same of a CUkernel
#include "driver_api.h"
#include "host.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct Graph *CudaGraph;
typedef struct LinkState *CudaLink;

/// Functions that only this program calls.
#define EXTRAS(X)                                                                           \
    X(cuStreamCreate, "cuStreamCreate", (NewtStream *, unsigned))                           \
    X(cuStreamBeginCapture, "cuStreamBeginCapture_v2", (NewtStream, int))                   \
    X(cuStreamEndCapture, "cuStreamEndCapture", (NewtStream, CudaGraph *))                  \
    X(cuEventQuery, "cuEventQuery", (CudaEvent))                                            \
    X(cuMemHostAlloc, "cuMemHostAlloc", (void **, size_t, unsigned))                        \
    X(cuTensorMapEncodeTiled, "cuTensorMapEncodeTiled",                                     \
      (void *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const uint32_t *, \
       const uint32_t *, int, int, int, int))                                               \
    X(cuLinkCreate, "cuLinkCreate_v2", (unsigned, int *, void **, CudaLink *))              \
    X(cuLinkAddData, "cuLinkAddData_v2",                                                    \
      (CudaLink, int, const void *, size_t, const char *, unsigned, int *, void **))        \
    X(cuLinkComplete, "cuLinkComplete", (CudaLink, void **, size_t *))                      \
    X(cuDevicePrimaryCtxReset, "cuDevicePrimaryCtxReset_v2", (CudaOrdinal))

static struct {
    Driver driver;
#define X(name, symbol, parameters) CudaResult(*name) parameters;
    EXTRAS(X)
#undef X
    CudaContext context;
    NewtStream stream;
    CudaFunction empty;
} cu;

static const char ptx[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry empty(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 n)\n"
    "{ ret; }\n"
    ".extern .shared .align 16 .b8 dynamic[];\n"
    ".visible .entry shared0()\n"
    "{ .reg .b32 r; ld.shared.u32 r, [dynamic]; st.shared.u32 [dynamic+4], r; ret; }\n"
    ".visible .entry shared16()\n"
    "{ .reg .b32 r; .shared .align 16 .b8 fixed[16]; st.shared.u32 [fixed], 1;\n"
    "  ld.shared.u32 r, [fixed]; st.shared.u32 [dynamic+4], r; ret; }\n"
    ".visible .entry spin(.param .u64 flag)\n"
    "{ .reg .u64 a; .reg .u32 v; .reg .pred p; ld.param.u64 a, [flag];\n"
    "again: ld.volatile.global.u32 v, [a]; setp.eq.u32 p, v, 0; @p bra again; ret; }\n";

static void row(const char *fact, const char *detail, CudaResult result)
{
    const char *name = "?";
    if (cu.driver.cuGetErrorName(result, &name) != CUDA_OK || !name)
        name = "?";
    printf("%-10s %-58s %4d %s\n", fact, detail, result, name);
}

static void time_row(const char *detail, double nanoseconds)
{
    printf("%-10s %-58s %8.1f ns\n", "4 time", detail, nanoseconds);
}

/// A function of a new module of the PTX above.
static CudaResult function_new(const char *symbol, CudaFunction *function)
{
    CudaModule module;
    CudaResult result = cu.driver.cuModuleLoadDataEx(&module, ptx, 0, NULL, NULL);
    return result ? result : cu.driver.cuModuleGetFunction(function, module, symbol);
}

static CudaResult launch_empty(unsigned x, unsigned y, unsigned z)
{
    uint64_t zero = 0;
    void *parameters[] = { &zero, &zero, &zero, &zero };
    return cu.driver.cuLaunchKernel(cu.empty, x, y, z, 32, 1, 1, 0, cu.stream, parameters, NULL);
}

/// Stores the address of a library's function in the function pointer at `to`.
static void function_get(void *to, void *library, const char *symbol)
{
    void *found = dlsym(library, symbol);
    memcpy(to, &found, sizeof found);
}

static bool start(void)
{
    if (newti_driver_load(&cu.driver) != NEWT_OK)
        return false;
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
#define X(name, symbol, parameters) function_get(&cu.name, library, symbol);
    EXTRAS(X)
#undef X
    return cu.driver.cuInit(0) == CUDA_OK &&
           cu.driver.cuDevicePrimaryCtxRetain(&cu.context, 0) == CUDA_OK &&
           cu.driver.cuCtxPushCurrent(cu.context) == CUDA_OK &&
           cu.cuStreamCreate(&cu.stream, 1) == CUDA_OK;
}

/// A cubin of `arch`, made by the driver's linker.
static CudaResult cubin_make(int arch, void **cubin)
{
    enum { JIT_TARGET = 9, INPUT_PTX = 1 };
    int options[] = { JIT_TARGET };
    void *values[] = { (void *)(uintptr_t)arch };
    size_t size;
    CudaLink link;
    CudaResult result = cu.cuLinkCreate(1, options, values, &link);
    if (result == CUDA_OK)
        result = cu.cuLinkAddData(link, INPUT_PTX, ptx, sizeof ptx, "facts", 0, NULL, NULL);
    return result ? result : cu.cuLinkComplete(link, cubin, &size);
}

static void fact_foreign_image(void)
{
    void *cubin = NULL;
    CudaModule module;
    CudaLibrary library;
    CudaKernel kernel;
    CudaFunction function;
    CudaResult result = cubin_make(80, &cubin);
    row("1 image", "driver's linker makes an sm_80 cubin", result);
    if (result == CUDA_OK) {
        row("1 image", "cuModuleLoadDataEx of it",
            cu.driver.cuModuleLoadDataEx(&module, cubin, 0, NULL, NULL));
        result = cu.driver.cuLibraryLoadData(&library, cubin, NULL, NULL, 0, NULL, NULL, 0);
        row("1 image", "cuLibraryLoadData of it", result);
        if (result == CUDA_OK)
            result = cu.driver.cuLibraryGetKernel(&kernel, library, "empty");
        if (result == CUDA_OK)
            result = cu.driver.cuKernelGetFunction(&function, kernel);
        row("1 image", "cuLibraryGetKernel, cuKernelGetFunction", result);
    }
    static const char new_ptx[] = ".version 99.0\n.target sm_80\n.address_size 64\n";
    static const char broken[] = "neither PTX nor ELF";
    row("1 image", "PTX version 99.0",
        cu.driver.cuModuleLoadDataEx(&module, new_ptx, 0, NULL, NULL));
    row("1 image", "neither PTX nor ELF",
        cu.driver.cuModuleLoadDataEx(&module, broken, 0, NULL, NULL));
}

static void fact_shared_memory(void)
{
    static const char *const symbols[] = { "shared0", "shared16" };
    static const unsigned sizes[] = { 48 * 1024 - 16, 48 * 1024, 48 * 1024 + 16 };
    for (int s = 0; s < 2; s++) {
        for (int i = 0; i < 3; i++) {
            for (int opt_in = 0; opt_in < 2; opt_in++) {
                CudaFunction function;
                char detail[80];
                CudaResult result = function_new(symbols[s], &function);
                if (result == CUDA_OK && opt_in)
                    result = cu.driver.cuFuncSetAttribute(
                        function, CUDA_FUNCTION_SHARED_DYNAMIC_MAX, (int)sizes[i]);
                if (result == CUDA_OK)
                    result = cu.driver.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, sizes[i],
                                                      cu.stream, NULL, NULL);
                if (result == CUDA_OK)
                    result = cu.driver.cuStreamSynchronize(cu.stream);
                snprintf(detail, sizeof detail, "static %d, dynamic %u, opt-in %s", 16 * s,
                         sizes[i], opt_in ? "yes" : "no");
                row("2 shared", detail, result);
            }
        }
    }
}

typedef enum Action { LOAD, LIBRARY, FUNC_LOAD, SET_ATTRIBUTE, ENCODE, ACTION_COUNT } Action;

static CudaResult encode(void)
{
    enum { FLOAT16 = 6, SWIZZLE_128B = 3 };
    static _Alignas(64) char map[128];
    uint64_t sizes[] = { 4096, 4096 }, strides[] = { 8192 };
    uint32_t box[] = { 64, 64 }, steps[] = { 1, 1 };
    return cu.cuTensorMapEncodeTiled(map, FLOAT16, 2, (void *)(uintptr_t)0x7f0000000000, sizes,
                                     strides, box, steps, 0, SWIZZLE_128B, 0, 0);
}

static CudaResult act(Action action)
{
    CudaModule module;
    CudaLibrary library;
    CudaKernel kernel;
    CudaFunction function;
    CudaResult result;
    switch (action) {
    case LOAD: return cu.driver.cuModuleLoadDataEx(&module, ptx, 0, NULL, NULL);
    case LIBRARY:
        result = cu.driver.cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0);
        if (result == CUDA_OK)
            result = cu.driver.cuLibraryGetKernel(&kernel, library, "empty");
        return result ? result : cu.driver.cuKernelGetFunction(&function, kernel);
    case FUNC_LOAD: return cu.driver.cuFuncLoad ? cu.driver.cuFuncLoad(cu.empty) : CUDA_OK;
    case SET_ATTRIBUTE:
        return cu.driver.cuFuncSetAttribute(cu.empty, CUDA_FUNCTION_SHARED_DYNAMIC_MAX, 1024);
    case ENCODE: return encode();
    case ACTION_COUNT: break;
    }
    return CUDA_OK;
}

static void *act_elsewhere(void *at)
{
    cu.driver.cuCtxPushCurrent(cu.context);
    *(CudaResult *)at = act(LOAD);
    return NULL;
}

static void fact_capture(void)
{
    static const char *const modes[] = { "global", "thread-local", "relaxed" };
    static const char *const actions[] = { "cuModuleLoadDataEx", "cuLibraryLoadData", "cuFuncLoad",
                                           "cuFuncSetAttribute", "cuTensorMapEncodeTiled" };
    for (int mode = 0; mode < 3; mode++) {
        for (int action = 0; action <= ACTION_COUNT; action++) {
            for (int relax = 0; relax < 2; relax++) {
                bool elsewhere = action == ACTION_COUNT;
                CudaResult done = CUDA_OK;
                CudaGraph graph;
                int exchanged = CUDA_CAPTURE_MODE_RELAXED;
                char detail[96];
                cu.cuStreamBeginCapture(cu.stream, mode);
                if (relax)
                    cu.driver.cuThreadExchangeStreamCaptureMode(&exchanged);
                if (elsewhere) {
                    pthread_t thread;
                    pthread_create(&thread, NULL, act_elsewhere, &done);
                    pthread_join(thread, NULL);
                } else {
                    done = act((Action)action);
                }
                if (relax)
                    cu.driver.cuThreadExchangeStreamCaptureMode(&exchanged);
                CudaResult launched = launch_empty(1, 1, 1);
                CudaResult ended = cu.cuStreamEndCapture(cu.stream, &graph);
                snprintf(detail, sizeof detail, "%s%s, %s: then launch %d, end %d", modes[mode],
                         relax ? " + relaxed" : "",
                         elsewhere ? "load on another thread" : actions[action], launched, ended);
                row("3 capture", detail, done);
            }
        }
    }
}

/// The median over batches of the time of one call.
#define TIME(detail, call)                                            \
    do {                                                              \
        double best_ = 1e30;                                          \
        for (int batch_ = 0; batch_ < 30; batch_++) {                 \
            int64_t begin_ = newti_clock_ns();                        \
            for (int i_ = 0; i_ < 200; i_++)                          \
                call;                                                 \
            double each_ = (double)(newti_clock_ns() - begin_) / 200; \
            best_ = each_ < best_ ? each_ : best_;                    \
            cu.driver.cuStreamSynchronize(cu.stream);                 \
        }                                                             \
        time_row(detail, best_);                                      \
    } while (0)

static CudaResult launch_ex(unsigned attributes)
{
    enum { PROGRAMMATIC_SERIALIZATION = 6 };
    uint64_t zero = 0;
    void *parameters[] = { &zero, &zero, &zero, &zero };
    CudaLaunchAttribute list[2] = { { .id = CUDA_LAUNCH_CLUSTER },
                                    { .id = PROGRAMMATIC_SERIALIZATION } };
    for (int i = 0; i < 3; i++)
        list[0].value.cluster[i] = 1;
    CudaLaunchConfig config = { 1, 1, 1, 32, 1, 1, 0, cu.stream, list, attributes };
    return cu.driver.cuLaunchKernelEx(&config, cu.empty, parameters, NULL);
}

static void push_pop(void)
{
    CudaContext context;
    cu.driver.cuCtxPushCurrent(cu.context);
    cu.driver.cuCtxPopCurrent(&context);
}

static void fact_times(void)
{
    CudaContext context;
    CudaFunction function = cu.empty;
    CudaLibrary library;
    unsigned long long id;
    int state;
    TIME("cuLaunchKernel", launch_empty(1, 1, 1));
    TIME("cuLaunchKernelEx, no attribute", launch_ex(0));
    TIME("cuLaunchKernelEx, cluster", launch_ex(1));
    TIME("cuLaunchKernelEx, cluster and programmatic", launch_ex(2));
    if (cu.driver.cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0) == CUDA_OK &&
        cu.driver.cuLibraryGetKernel((CudaKernel *)&cu.empty, library, "empty") == CUDA_OK)
        TIME("cuLaunchKernel of a CUkernel", launch_empty(1, 1, 1));
    cu.empty = function;
    TIME("cuCtxGetId", cu.driver.cuCtxGetId(cu.context, &id));
    TIME("cuCtxGetCurrent", cu.driver.cuCtxGetCurrent(&context));
    TIME("cuCtxPushCurrent + cuCtxPopCurrent", push_pop());
    TIME("cuStreamIsCapturing", cu.driver.cuStreamIsCapturing(cu.stream, &state));
    TIME("cuStreamGetCtx", cu.driver.cuStreamGetCtx(cu.stream, &context));
    TIME("cuTensorMapEncodeTiled", encode());
}

static void fact_grids(void)
{
    static const unsigned grids[][3] = { { 0, 1, 1 },        { 1, 0, 1 },          { 1, 1, 0 },
                                         { 1, 65535, 1 },    { 1, 65536, 1 },      { 1, 1, 65536 },
                                         { 1U << 20, 1, 1 }, { 0x80000000U, 1, 1 } };
    for (size_t i = 0; i < sizeof grids / sizeof grids[0]; i++) {
        char detail[48];
        snprintf(detail, sizeof detail, "%u x %u x %u", grids[i][0], grids[i][1], grids[i][2]);
        row("5 grid", detail, launch_empty(grids[i][0], grids[i][1], grids[i][2]));
        cu.driver.cuStreamSynchronize(cu.stream);
    }
}

/// A first launch on another stream, while a kernel spins.
typedef struct Beside {
    atomic_int step;  // how many of the steps below are done
    CudaResult result;
} Beside;

static void *launch_beside(void *at)
{
    Beside *beside = at;
    NewtStream stream;
    CudaFunction function;
    cu.driver.cuCtxPushCurrent(cu.context);
    CudaResult result = cu.cuStreamCreate(&stream, 1);
    atomic_store(&beside->step, 1);
    if (result == CUDA_OK)
        result = function_new("shared0", &function);
    atomic_store(&beside->step, 2);
    if (result == CUDA_OK)
        result = cu.driver.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 1024, stream, NULL, NULL);
    atomic_store(&beside->step, 3);
    if (result == CUDA_OK)
        result = cu.driver.cuStreamSynchronize(stream);
    beside->result = result;
    atomic_store(&beside->step, 4);
    return NULL;
}

static int run_persistent(void)
{
    if (!start())
        return 77;
    const struct timespec tick = { .tv_nsec = 10000000 };
    CudaFunction spin;
    uint32_t *flag;
    pthread_t thread;
    Beside beside = { 0 };
    if (function_new("spin", &spin) || cu.cuMemHostAlloc((void **)&flag, 4, 2))
        return 1;
    atomic_store((_Atomic uint32_t *)flag, 0);
    void *parameters[] = { &flag };
    CudaResult result =
        cu.driver.cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, cu.stream, parameters, NULL);
    pthread_create(&thread, NULL, launch_beside, &beside);
    int ticks = 0;
    while (atomic_load(&beside.step) < 4 && ticks++ < 300)
        nanosleep(&tick, NULL);
    static const char *const steps[] = { "BLOCKED in cuStreamCreate", "BLOCKED in the load",
                                         "BLOCKED in the launch", "BLOCKED until it ends", "runs" };
    int step = atomic_load(&beside.step);
    atomic_store((_Atomic uint32_t *)flag, 1);
    pthread_join(thread, NULL);
    char detail[96];
    const char *loading = getenv("CUDA_MODULE_LOADING");
    snprintf(detail, sizeof detail, "%s: first launch beside a spinning kernel: %s",
             loading ? loading : "default", steps[step]);
    row("6 first", detail, result ? result : beside.result);
    return 0;
}

static int run_start(void)
{
    NewtStatus status = newti_driver_load(&cu.driver);
    printf("%-10s %-58s %s %s\n", "9 stub", "load", newt_status_name(status),
           status ? newt_last_error() : "");
    if (status == NEWT_OK)
        row("9 stub", "cuInit", cu.driver.cuInit(0));
    return 0;
}

/// Runs this program again with another environment.
static int run_self(const char *self, const char *mode, const char *variable, const char *value)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        setenv(variable, value, 1);
        execl(self, self, mode, (char *)NULL);
        _exit(126);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}

/// Launches after the primary context was reset; `as_kernel` goes through a library.
static int run_reset(bool as_kernel)
{
    CudaLibrary library;
    CudaKernel kernel;
    unsigned long long before = 0, after = 0;
    if (!start() || function_new("empty", &cu.empty) != CUDA_OK)
        return 1;
    if (as_kernel) {
        if (cu.driver.cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0) ||
            cu.driver.cuLibraryGetKernel(&kernel, library, "empty"))
            return 1;
        cu.empty = (CudaFunction)kernel;
    }
    cu.stream = NULL;
    row("7 reset", "launch before", launch_empty(1, 1, 1));
    cu.driver.cuCtxGetId(cu.context, &before);
    row("7 reset", "cuDevicePrimaryCtxReset", cu.cuDevicePrimaryCtxReset(0));
    row("7 reset", "cuCtxGetId", cu.driver.cuCtxGetId(cu.context, &after));
    printf("%-10s %-58s %llu, %llu\n", "7 reset", "the context's id before and after", before,
           after);
    row("7 reset", as_kernel ? "launch of a CUkernel after" : "launch of a CUfunction after",
        launch_empty(1, 1, 1));
    row("7 reset", "and synchronise", cu.driver.cuStreamSynchronize(NULL));
    return 0;
}

/// What cudart does with the same primary context, where cudart is installed.
static void fact_cudart(void)
{
    static const char *const names[] = { "libcudart.so.13", "libcudart.so.12", "libcudart.so" };
    void *library = NULL;
    for (int i = 0; i < 3 && !library; i++)
        library = dlopen(names[i], RTLD_NOW);
    int (*set_device)(int) = NULL, (*stream_create)(NewtStream *) = NULL, (*reset)(void) = NULL;
    if (library) {
        function_get(&set_device, library, "cudaSetDevice");
        function_get(&stream_create, library, "cudaStreamCreate");
        function_get(&reset, library, "cudaDeviceReset");
    }
    if (set_device && stream_create) {
        NewtStream own = cu.stream;
        CudaContext context = NULL;
        row("7 cudart", "cudaSetDevice(0)", set_device(0));
        row("7 cudart", "cudaStreamCreate", stream_create(&cu.stream));
        cu.driver.cuCtxGetCurrent(&context);
        printf("%-10s %-58s %s\n", "7 cudart", "its context is our primary one",
               context == cu.context ? "yes" : "no");
        row("7 cudart", "our launch on its stream", launch_empty(1, 1, 1));
        row("7 cudart", "synchronise it", cu.driver.cuStreamSynchronize(cu.stream));
        cu.stream = own;
    } else {
        printf("%-10s %-58s\n", "7 cudart", "libcudart is not here");
    }
    if (reset)
        row("7 cudart", "cudaDeviceReset", reset());
    else
        row("7 cudart", "cuDevicePrimaryCtxReset", cu.cuDevicePrimaryCtxReset(0));
    CudaContext current = NULL;
    row("7 cudart", "cuCtxGetCurrent after the reset", cu.driver.cuCtxGetCurrent(&current));
    printf("%-10s %-58s %s\n", "7 cudart", "current is still our context",
           current == cu.context ? "yes" : "no");
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    if (argc > 1 && strcmp(argv[1], "persistent") == 0)
        return run_persistent();
    if (argc > 1 && strcmp(argv[1], "start") == 0)
        return run_start();
    if (argc > 1 && strncmp(argv[1], "reset", 5) == 0)
        return run_reset(strcmp(argv[1], "reset-kernel") == 0);
    if (run_self(argv[0], "persistent", "CUDA_MODULE_LOADING", "LAZY") == 77) {
        printf("no CUDA driver or no device\n");
        return 77;
    }
    run_self(argv[0], "persistent", "CUDA_MODULE_LOADING", "EAGER");
    if (!start() || function_new("empty", &cu.empty) != CUDA_OK)
        return 1;
    fact_foreign_image();
    fact_shared_memory();
    fact_capture();
    fact_times();
    fact_grids();
    fact_cudart();
    static const char *const modes[] = { "reset", "reset-kernel" };
    for (int i = 0; i < 2; i++)
        printf("%-10s %-58s exit %d\n", "7 reset", modes[i],
               run_self(argv[0], modes[i], "CUDA_MODULE_LOADING", "LAZY"));
    return 0;
}
