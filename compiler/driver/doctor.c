/// doctor.c - see doctor.h. The tests run newtc itself, so that they see what a user's build would.
#include "driver/doctor.h"
#include "backend/cuda/cache.h"
#include "driver/place.h"
#include "support/fs.h"
#include "support/proc.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char doctor_kernel[] =
    "import newt.language as nl\n\n\n"
    "@newt.kernel(grid=lambda n: (nl.cdiv(n, 64),))\n"
    "def doctor(x: nl.ptr[nl.float32], n: nl.int32):\n"
    "    i = nl.program_id(0) * 64 + nl.arange(0, 64)\n"
    "    nl.store(x + i, nl.load(x + i, mask=i < n) + 1.0, mask=i < n)\n";

static void doctor_nvrtc(Arena *a, const Nvrtc *n)
{
    if (!n->loaded) {
        printf("NVRTC        not found, so only the host can be compiled for; looked at\n");
        for (uint32_t i = 0; i < n->places.len; i++)
            printf("               %s: %s\n", n->places.at[i].path, n->places.at[i].result);
        return;
    }
    size_t count;
    const Target *t = target_list(&count);
    SourceMap none = { .arena = a };
    DiagSink quiet;
    diag_init(&quiet, a, &none);
    quiet.muted = true;
    printf("NVRTC        %d.%d, %s\nGPU targets ", n->major, n->minor, n->path);
    for (size_t i = 0; i < count; i++)
        if (nvrtc_check_target(n, &t[i], (Span){ 0, 0 }, &quiet))
            printf(" %s", t[i].name);
    printf("\n");
}

/// The devices, by the calls of the driver library that need no header.
static void doctor_driver(void)
{
    int (*init)(unsigned), (*version)(int *), (*count_of)(int *), (*get)(int *, int);
    int (*name_of)(char *, int, int), (*attribute)(int *, int, int);
    enum { MAJOR = 75, MINOR = 76 };  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!driver) {
        printf("CUDA driver  not found (libcuda.so.1): programs run on the host\n");
        return;
    }
    // POSIX lets a data pointer from dlsym become a function pointer this way.
    *(void **)&init = dlsym(driver, "cuInit");
    *(void **)&version = dlsym(driver, "cuDriverGetVersion");
    *(void **)&count_of = dlsym(driver, "cuDeviceGetCount");
    *(void **)&get = dlsym(driver, "cuDeviceGet");
    *(void **)&name_of = dlsym(driver, "cuDeviceGetName");
    *(void **)&attribute = dlsym(driver, "cuDeviceGetAttribute");
    int number = 0, count = 0, result = -1;
    if (init && version && count_of && get && name_of && attribute && (result = init(0)) == 0 &&
        (result = version(&number)) == 0)
        result = count_of(&count);
    if (result != 0)
        printf("CUDA driver  there, but not usable (error %d): programs run on the host\n", result);
    else
        printf("CUDA driver  for CUDA %d.%d, %d device%s\n", number / 1000, number % 1000 / 10,
               count, count == 1 ? "" : "s");
    for (int i = 0; result == 0 && i < count; i++) {
        int device, major = 0, minor = 0;
        char name[128] = "";
        if (get(&device, i) == 0 && name_of(name, sizeof name - 1, device) == 0 &&
            attribute(&major, MAJOR, device) == 0 && attribute(&minor, MINOR, device) == 0)
            printf("  cuda:%d     %s, sm_%d%d\n", i, name, major, minor);
    }
    dlclose(driver);
}

static void doctor_cache(Arena *a, const Options *opt)
{
    CudaCache cache = { 0 };
    uint32_t entries;
    uint64_t bytes;
    if (opt->no_cache) {
        printf("cache        off: --no-cache\n");
        return;
    }
    cache_open(&cache, a, opt->cache_dir);
    cache_measure(&cache, &entries, &bytes);
    if (cache.dir)
        printf("cache        %s, %u images, %.1f MiB\n", cache.dir, entries,
               (double)bytes / (1 << 20));
    else
        printf("cache        %s\n", cache.why_off);
}

static bool doctor_compiler(Arena *a, const Options *opt)
{
    const char *cc = opt->cc ? opt->cc : getenv("CC");
    StrList words = { 0 };
    Buf text = { 0 };
    options_split(a, cc && *cc ? cc : "cc", &words);
    VEC_PUSH(a, &words, "--version");
    VEC_PUSH(a, &words, NULL);
    bool ok = words.len > 2 && proc_run(words.at, &text) == 0;
    if (ok)
        printf("C compiler   %s: %.*s\n", words.at[0], (int)strcspn(text.at ? text.at : "", "\n"),
               text.at ? text.at : "");
    else
        printf("C compiler   '%s' does not run; it is needed for -c only\n", words.at[0]);
    buf_free(&text);
    return ok;
}

typedef struct Trial {
    const char *what, *arch, *emit;
} Trial;

/// Compiles the kernel in `dir`; prints how it went.
static bool doctor_test(Arena *a, const Options *opt, const char *program, const char *dir,
                        Trial trial)
{
    StrList argv = { 0 };
    Buf log = { 0 };
    const char *const words[] = {
        program, trial.arch, trial.emit, "-q", "--no-cache", "-o", arena_printf(a, "%s/out", dir)
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        VEC_PUSH(a, &argv, words[i]);
    if (opt->nvrtc)
        VEC_PUSH(a, &argv, arena_printf(a, "--nvrtc=%s", opt->nvrtc));
    if (opt->cuda_path)
        VEC_PUSH(a, &argv, arena_printf(a, "--cuda-path=%s", opt->cuda_path));
    if (opt->cc)
        VEC_PUSH(a, &argv, arena_printf(a, "--cc=%s", opt->cc));
    VEC_PUSH(a, &argv, arena_printf(a, "%s/doctor.newt", dir));
    VEC_PUSH(a, &argv, NULL);
    int status = proc_run(argv.at, &log);
    printf("%-12s %s\n%s", trial.what,
           status == 0 ? "works" : "FAILS:", status != 0 && log.at ? log.at : "");
    unlink(arena_printf(a, "%s/out", dir));
    unlink(arena_printf(a, "%s/out.h", dir));
    buf_free(&log);
    return status == 0;
}

static bool doctor_tests(Arena *a, const Options *opt, bool has_nvrtc, bool has_cc)
{
    const char *tmp = getenv("TMPDIR"), *why = NULL, *program = place_of_program(a);
    char *dir = arena_printf(a, "%s/newtc-doctor-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!program || !mkdtemp(dir)) {
        printf("tests        cannot be run: %s\n",
               program ? strerror(errno) : "this system has no /proc");
        return false;
    }
    const char *kernel = arena_printf(a, "%s/doctor.newt", dir);
    OutputSet set = { .arena = a };
    fs_output(&set, kernel, doctor_kernel, sizeof doctor_kernel - 1, false);
    bool ok = fs_commit(&set, &why);
    const Trial host = { "host code", "--arch=host", "--emit=c" },
                object = { "host object", "--arch=host", "--emit=obj" },
                gpu = { "GPU code", "--arch=sm_90a", "--emit=cubin" };
    ok = ok && doctor_test(a, opt, program, dir, host);
    if (has_cc)
        ok = doctor_test(a, opt, program, dir, object) && ok;
    if (has_nvrtc)
        ok = doctor_test(a, opt, program, dir, gpu) && ok;
    unlink(kernel);
    rmdir(dir);
    return ok;
}

int doctor_run(Arena *a, const Options *opt)
{
    const NvrtcPaths paths = { opt->nvrtc, opt->cuda_path };
    const Nvrtc *nvrtc = nvrtc_open(a, &paths);
    const char *program = place_of_program(a), *headers = place_of_headers(a);
    printf("newtc        %s, %s\n", NEWTC_VERSION, program ? program : "place unknown");
    printf("headers      %s\n", headers ? headers : "not beside newtc: generated C needs -I");
    doctor_nvrtc(a, nvrtc);
    doctor_driver();
    bool has_cc = doctor_compiler(a, opt);
    doctor_cache(a, opt);
    fflush(stdout);
    return doctor_tests(a, opt, nvrtc->loaded, has_cc && headers) ? 0 : 2;
}
