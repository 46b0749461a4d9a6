/// The autotuned module of the runtime's tests.
#define _POSIX_C_SOURCE 200809L
#include "tuned_sample.h"
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void pause_us(long us)
{
    const struct timespec time = { .tv_nsec = us * 1000 };
    nanosleep(&time, NULL);
}

static NewtStatus grid_of(const void *args, int64_t grid[3])
{
    grid[0] = (((const TunedArgs *)args)->n + TUNED_BLOCK - 1) / TUNED_BLOCK;
    return NEWT_OK;
}

static void compute(const TunedArgs *a, int32_t program, int32_t short_by)
{
    const int32_t first = program * TUNED_BLOCK, end = first + TUNED_BLOCK;
    for (int32_t i = first; i < end && i < a->n - short_by; i++)
        a->out[i] = 2 * a->x[i];
    if (a->count)
        __atomic_add_fetch(a->count, end < a->n ? TUNED_BLOCK : a->n - first, __ATOMIC_RELAXED);
}

static void fast_host(const void *args, const NewtHostProgram *program)
{
    compute(args, program->id[0], 0);
}

static void slow_host(const void *args, const NewtHostProgram *program)
{
    pause_us(300);
    compute(args, program->id[0], 0);
}

static void wrong_host(const void *args, const NewtHostProgram *program)
{
    compute(args, program->id[0], 1);  // leaves the last element alone
}

static void crash_host(const void *args, const NewtHostProgram *program)
{
    compute(args, program->id[0], 0);
    raise(SIGKILL);
}

static void hang_host(const void *args, const NewtHostProgram *program)
{
    compute(args, program->id[0], 0);
    for (;;)
        pause();
}

/// Right the first time that a process runs it, and never again.
static void fickle_host(const void *args, const NewtHostProgram *program)
{
    static int runs;
    compute(args, program->id[0], runs > 0);
    runs += program->id[0] == 0;
}

/// Writes behind the end of its output.
static void outside_host(const void *args, const NewtHostProgram *program)
{
    const TunedArgs *a = args;
    compute(args, program->id[0], 0);
    a->out[a->n] = 0;
}

static void long_host(const void *args, const NewtHostProgram *program)
{
    pause_us(3000);
    compute(args, program->id[0], 0);
}

static void in_place(const TunedArgs *a, int32_t program)
{
    float *x = (float *)(uintptr_t)a->x;
    const int32_t first = program * TUNED_BLOCK;
    for (int32_t i = first; i < first + TUNED_BLOCK && i < a->n; i++)
        x[i] = 2 * x[i];
}

static void place_fast_host(const void *args, const NewtHostProgram *program)
{
    in_place(args, program->id[0]);
}

static void place_slow_host(const void *args, const NewtHostProgram *program)
{
    pause_us(300);
    in_place(args, program->id[0]);
}

void tuned_run(const char *symbol, void **parameters, const unsigned grid[3], float *milliseconds)
{
    TunedArgs a;
    memcpy(&a.x, parameters[0], sizeof a.x);
    memcpy(&a.out, parameters[1], sizeof a.out);
    memcpy(&a.count, parameters[2], sizeof a.count);
    memcpy(&a.n, parameters[3], sizeof a.n);
    *milliseconds = strcmp(symbol, "fast") == 0 ? 1.0F : strcmp(symbol, "slow") == 0 ? 4.0F : 0.5F;
    for (unsigned i = 0; i < grid[0]; i++)
        compute(&a, (int32_t)i, strcmp(symbol, "wrong") == 0);
}

static const NewtImage images[] = {
    { NEWT_IMAGE_CUBIN, NEWT_SET_COMMON, 80, "cubin sm_80", 12, "80", NULL, 0 },
};

#define PARAM(name, kind, type, size, is_const, use)                      \
    {                                                                     \
#name, kind, type, offsetof(TunedArgs, name), size, is_const, use \
    }
static const NewtParam params[] = {
    PARAM(x, NEWT_PARAM_POINTER, NEWT_F32, 8, true, NEWT_USE_READ),
    PARAM(out, NEWT_PARAM_POINTER, NEWT_F32, 8, false, NEWT_USE_WRITTEN),
    PARAM(count, NEWT_PARAM_POINTER, NEWT_I32, 8, false,
          NEWT_USE_READ | NEWT_USE_WRITTEN | NEWT_USE_ZEROED),
    PARAM(n, NEWT_PARAM_SCALAR, NEWT_I32, 4, false, 0),
};
static const NewtParam place_params[] = {
    PARAM(x, NEWT_PARAM_POINTER, NEWT_F32, 8, false, NEWT_USE_READ | NEWT_USE_WRITTEN),
    PARAM(out, NEWT_PARAM_POINTER, NEWT_F32, 8, true, NEWT_USE_READ),
    PARAM(count, NEWT_PARAM_POINTER, NEWT_I32, 8, true, NEWT_USE_READ),
    PARAM(n, NEWT_PARAM_SCALAR, NEWT_I32, 4, false, 0),
};

static const NewtEntry entries[TUNED_COUNT] = {
    { .symbol = "slow", .threads = 32 },
    { .symbol = "fast", .threads = 32 },
    { .symbol = "wrong", .threads = 32 },
    { .symbol = "crash", .threads = 32 },
    { .symbol = "hang", .threads = 32 },
    { .symbol = "large", .threads = 32, .shared = 200 * 1024 },
};

#define VARIANT(i, host)                                     \
    {                                                        \
        "generic", NULL, &entries[i], 0, 1, grid_of, host, 0 \
    }
#define SLOW  VARIANT(TUNED_SLOW, slow_host)
#define FAST  VARIANT(TUNED_FAST, fast_host)
#define WRONG VARIANT(TUNED_WRONG, wrong_host)
#define CRASH VARIANT(TUNED_CRASH, crash_host)
static const NewtVariant all_variants[] = {
    SLOW, FAST, WRONG, CRASH, VARIANT(TUNED_HANG, hang_host), VARIANT(TUNED_LARGE, slow_host)
};
static const NewtVariant right_variants[] = { SLOW, FAST };
static const NewtVariant outvoted_variants[] = { WRONG, SLOW, FAST };
static const NewtVariant split_variants[] = { WRONG, FAST };
static const NewtVariant hopeless_variants[] = { CRASH, CRASH };
static const NewtVariant careless_variants[] = { SLOW, VARIANT(TUNED_FAST, fickle_host),
                                                 VARIANT(TUNED_FAST, outside_host) };
static const NewtVariant place_variants[] = { VARIANT(TUNED_FAST, place_fast_host),
                                              VARIANT(TUNED_SLOW, place_slow_host) };
static const NewtVariant long_variants[] = { VARIANT(TUNED_SLOW, long_host),
                                             VARIANT(TUNED_FAST, long_host),
                                             VARIANT(TUNED_WRONG, long_host) };

#define CONFIG(name, i)       \
    {                         \
        name, "W=" name, i, 1 \
    }
static const NewtConfig all_configs[] = {
    CONFIG("SLOW", 0),  CONFIG("FAST", 1), CONFIG("WRONG", 2),
    CONFIG("CRASH", 3), CONFIG("HANG", 4), CONFIG("LARGE", 5)
};
static const NewtConfig outvoted_configs[] = { CONFIG("WRONG", 0), CONFIG("SLOW", 1),
                                               CONFIG("FAST", 2) };
static const NewtConfig split_configs[] = { CONFIG("WRONG", 0), CONFIG("FAST", 1) };
static const NewtConfig hopeless_configs[] = { CONFIG("CRASH", 0), CONFIG("CRASH2", 1) };
static const NewtConfig careless_configs[] = { CONFIG("SLOW", 0), CONFIG("FICKLE", 1),
                                               CONFIG("OUTSIDE", 2) };
static const NewtConfig place_configs[] = { CONFIG("FAST", 0), CONFIG("SLOW", 1) };
static const uint32_t keys[] = { 3 };

#define TUNING(configs, count)              \
    {                                       \
        configs, keys, count, 1, 0, NULL, 0 \
    }
static const NewtTuning tunings[] = {
    TUNING(all_configs, TUNED_COUNT), TUNING(all_configs, 2),      TUNING(outvoted_configs, 3),
    TUNING(split_configs, 2),         TUNING(hopeless_configs, 2), TUNING(place_configs, 2),
    TUNING(all_configs, 3),           TUNING(careless_configs, 3),
};

// What a build with a store knows: FAST for 100 and SLOW for 9000 on the fake GPU, FAST for 9000 on
// another one.
static const int64_t hundred[] = { 100 }, large[] = { 9000 };
#define FAKE_0 UINT64_C(0xdb328b6c47f7ae44)  // FNV-1a of "Fake 0"
#define OTHER  UINT64_C(0xc9e494c8346b7cb5)  // of "Other"
static const NewtTuned built[] = { { FAKE_0, 80, 1, hundred },
                                   { FAKE_0, 80, 0, large },
                                   { OTHER, 80, 1, large },
                                   { FAKE_0, 90, 1, large } };
static const NewtTuning built_tuning = { all_configs, keys, 2, 1, 0, built, COUNT(built) };

static const NewtModuleDesc module;
#define KERNEL(text, i, parameters, choices)                                                    \
    {                                                                                           \
        .module = &module, .name = text, .location = "tuned.newt:1", .params = parameters,      \
        .variants = choices, .param_count = COUNT(parameters), .variant_count = COUNT(choices), \
        .tuning = &tunings[i]                                                                   \
    }
static const NewtKernel kernels[] = {
    KERNEL("double", 0, params, all_variants),
    KERNEL("right", 1, params, right_variants),
    KERNEL("outvoted", 2, params, outvoted_variants),
    KERNEL("split", 3, params, split_variants),
    KERNEL("hopeless", 4, params, hopeless_variants),
    KERNEL("in_place", 5, place_params, place_variants),
    KERNEL("long", 6, params, long_variants),
    KERNEL("careless", 7, params, careless_variants),
    { .module = &module,
      .name = "built",
      .location = "tuned.newt:1",
      .params = params,
      .variants = right_variants,
      .param_count = COUNT(params),
      .variant_count = COUNT(right_variants),
      .tuning = &built_tuning },
};

static const NewtModuleDesc module = {
    .abi = NEWT_ABI,
    .image_count = COUNT(images),
    .kernel_count = COUNT(kernels),
    .id = 77,
    .name = "tuned.newt",
    .source_sha256 = "5eed",
    .images = images,
    .kernels = kernels,
};

const NewtKernel *const tuned_double = &kernels[0];
const NewtKernel *const tuned_right = &kernels[1];
const NewtKernel *const tuned_outvoted = &kernels[2];
const NewtKernel *const tuned_split = &kernels[3];
const NewtKernel *const tuned_hopeless = &kernels[4];
const NewtKernel *const tuned_in_place = &kernels[5];
const NewtKernel *const tuned_long = &kernels[6];
const NewtKernel *const tuned_careless = &kernels[7];
const NewtKernel *const tuned_built = &kernels[8];
