/// Prints how long the CUDA driver on this machine takes to compile PTX, where it keeps the result,
/// and what it says of PTX that is too new, as seen from a new home folder.
///
/// Nothing is asserted: runtime/README.md keeps the findings. Exit status 77 when there is no
/// driver or device.
///
///     gpu_jit           all; starts itself, since a process compiles a text once
///     gpu_jit load      the time of two loads
#include "driver_api.h"
#include "host.h"
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEPS = 4000, LONG_SIZE = 160 * STEPS };
#define HEAD ".version 7.0\n.target sm_80\n.address_size 64\n"

static const char short_ptx[] = HEAD ".visible .entry empty() { ret; }\n";

/// An entry of STEPS dependent multiplications, each stored: about what a large kernel has.
static char *long_ptx(void)
{
    char *text = malloc(LONG_SIZE);
    if (!text)
        exit(1);
    size_t at = (size_t)snprintf(text, LONG_SIZE,
                                 HEAD ".visible .entry chain(.param .u64 p)\n"
                                      "{ .reg .u64 a; .reg .f32 x, y; ld.param.u64 a, [p];\n"
                                      "ld.global.f32 x, [a]; ld.global.f32 y, [a+4];\n");
    for (unsigned i = 0; i < STEPS; i++)
        at += (size_t)snprintf(text + at, LONG_SIZE - at,
                               "fma.rn.f32 x, x, y, 0f%08x; st.global.f32 [a+%u], x;\n",
                               0x3F800000 + i, 8 + 4 * i);
    snprintf(text + at, LONG_SIZE - at, "ret; }\n");
    return text;
}

static bool start(Driver *driver)
{
    CudaContext context;
    return newti_driver_load(driver) == NEWT_OK && driver->cuInit(0) == CUDA_OK &&
           driver->cuDevicePrimaryCtxRetain(&context, 0) == CUDA_OK &&
           driver->cuCtxPushCurrent(context) == CUDA_OK;
}

static void time_load(const Driver *driver, const char *text)
{
    CudaModule module;
    int64_t begin = newti_clock_ns();
    CudaResult result = driver->cuModuleLoadDataEx(&module, text, 0, NULL, NULL);
    double milliseconds = (double)(newti_clock_ns() - begin) / 1e6;
    printf("  load of %7zu bytes of PTX: %9.2f ms, CUresult %d\n", strlen(text), milliseconds,
           result);
}

static int run_load(void)
{
    Driver driver;
    if (!start(&driver))
        return 1;
    char *text = long_ptx();
    time_load(&driver, short_ptx);
    time_load(&driver, text);
    free(text);
    return 0;
}

/// `gpu_jit load` in a process of its own.
static void run_again(const char *self, const char *title)
{
    printf("%s\n", title);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        execl(self, self, "load", (char *)NULL);
        _exit(126);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0)
        printf("  failed\n");
}

static int print_file(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)where;
    if (kind == FTW_F)
        printf("  %s: %lld bytes\n", path, (long long)status->st_size);
    return 0;
}

static int remove_file(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status;
    (void)kind;
    (void)where;
    return remove(path);
}

static void print_too_new(const Driver *driver)
{
    enum { ERROR_LOG = 5, ERROR_LOG_BYTES = 6 };
    static const char text[] = ".version 99.0\n.target sm_80\n.address_size 64\n";
    char log[512] = "";
    int options[] = { ERROR_LOG, ERROR_LOG_BYTES };
    void *values[] = { log, (void *)(uintptr_t)sizeof log };
    CudaModule module;
    CudaResult result = driver->cuModuleLoadDataEx(&module, text, 2, options, values);
    printf("PTX of version 99.0: CUresult %d\n  %s\n", result, log);
}

int main(int argc, char **argv)
{
    enum { DEPTH = 16 };
    char home[] = "/tmp/gpu_jit_XXXXXX";
    Driver driver;
    if (argc > 1 && strcmp(argv[1], "load") == 0)
        return run_load();
    if (!start(&driver)) {
        printf("no CUDA driver or no device\n");
        return 77;
    }
    print_too_new(&driver);
    if (!mkdtemp(home))
        return 1;
    unsetenv("CUDA_CACHE_PATH");
    setenv("HOME", home, 1);
    setenv("CUDA_CACHE_DISABLE", "1", 1);
    run_again(argv[0], "without the driver's cache");
    unsetenv("CUDA_CACHE_DISABLE");
    run_again(argv[0], "with an empty cache");
    run_again(argv[0], "again");
    printf("files of the cache\n");
    nftw(home, print_file, DEPTH, FTW_PHYS);
    nftw(home, remove_file, DEPTH, FTW_PHYS | FTW_DEPTH);
    return 0;
}
