/// Runs host kernels: one call per program, spread over threads when that pays.
///
/// libnewt keeps no threads, so a launch that wants them starts and joins them, which costs some
/// ten microseconds each. The caller therefore begins alone and looks at the clock now and then;
/// only when the programs done so far predict enough work does it start helpers for the rest.
/// All take chunks of consecutive programs from one counter until none are left.
#define _GNU_SOURCE  // sched_getaffinity
#include "host.h"
#include "error.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum {
    ALONE_NS = 50 * 1000,    // the caller works alone at least this long
    HELPER_NS = 100 * 1000,  // a helper must have this much to do
    HELPERS_MAX = 255,
    CHUNKS_PER_THREAD = 8,  // evens out programs of different length
    SCRATCH_ALIGN = 64
};

typedef struct HostRun {
    NewtHostEntry entry;
    const void *args;
    int32_t grid[3];
    int64_t total;
    int64_t chunk;
    atomic_llong next;  // the first program that nobody has taken
} HostRun;

typedef struct Helper {
    HostRun *run;
    void *scratch;
    pthread_t thread;
} Helper;

unsigned newti_host_cpus(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

int64_t newti_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/// Runs programs [first, end) in order, the first axis fastest.
static void run_range(const HostRun *run, void *scratch, int64_t first, int64_t end)
{
    const int32_t *grid = run->grid;
    NewtHostProgram program = {
        .id = { (int32_t)(first % grid[0]), (int32_t)(first / grid[0] % grid[1]),
                (int32_t)(first / grid[0] / grid[1]) },
        .grid = { grid[0], grid[1], grid[2] },
        .scratch = scratch,
    };
    for (int64_t i = first; i < end; i++) {
        run->entry(run->args, &program);
        if (++program.id[0] < grid[0])
            continue;
        program.id[0] = 0;
        if (++program.id[1] < grid[1])
            continue;
        program.id[1] = 0;
        program.id[2]++;
    }
}

static void run_chunks(HostRun *run, void *scratch)
{
    for (;;) {
        int64_t first = atomic_fetch_add_explicit(&run->next, run->chunk, memory_order_relaxed);
        if (first >= run->total)
            return;
        int64_t rest = run->total - first;
        run_range(run, scratch, first, first + (rest < run->chunk ? rest : run->chunk));
    }
}

static void *helper_main(void *at)
{
    const Helper *helper = at;
    run_chunks(helper->run, helper->scratch);
    return NULL;
}

/// Runs programs in growing batches until ALONE_NS are over or all are done. Returns how many
/// helpers the rest is worth.
static int64_t run_alone(HostRun *run, void *scratch)
{
    int64_t begin = newti_clock_ns();
    int64_t done = 0, spent = 0;
    while (done < run->total && spent < ALONE_NS) {
        int64_t batch = done > 0 ? done : 1;
        if (batch > run->total - done)
            batch = run->total - done;
        run_range(run, scratch, done, done + batch);
        done += batch;
        spent = newti_clock_ns() - begin;
    }
    atomic_store_explicit(&run->next, done, memory_order_relaxed);
    double rest_ns = (double)spent / (double)done * (double)(run->total - done);
    double helpers = rest_ns / HELPER_NS;
    return helpers < HELPERS_MAX ? (int64_t)helpers : HELPERS_MAX;
}

/// Starts helpers with all signals blocked, so that the user's handlers keep running on the user's
/// threads. Returns how many the system gave; with none the caller does all the work.
static int64_t helpers_start(HostRun *run, Helper *helpers, int64_t count, char *scratch,
                             size_t scratch_size)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int64_t started = 0;
    while (started < count) {
        Helper *helper = &helpers[started];
        helper->run = run;
        helper->scratch = scratch ? scratch + (size_t)started * scratch_size : NULL;
        if (pthread_create(&helper->thread, NULL, helper_main, helper) != 0)
            break;
        started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/// Runs what run_alone() left, with up to `wanted` helpers.
static void run_rest(HostRun *run, void *own_scratch, int64_t wanted, size_t scratch_size)
{
    Helper helpers[HELPERS_MAX];
    char *scratch = NULL;
    if (scratch_size > 0 && wanted > 0) {
        scratch = aligned_alloc(SCRATCH_ALIGN, (size_t)wanted * scratch_size);
        if (!scratch)
            wanted = 0;
    }
    int64_t rest = run->total - atomic_load_explicit(&run->next, memory_order_relaxed);
    run->chunk = rest / ((wanted + 1) * CHUNKS_PER_THREAD);
    if (run->chunk < 1)
        run->chunk = 1;
    int64_t started = helpers_start(run, helpers, wanted, scratch, scratch_size);
    run_chunks(run, own_scratch);
    for (int64_t i = 0; i < started; i++)
        pthread_join(helpers[i].thread, NULL);
    free(scratch);
}

static size_t scratch_size(const NewtVariant *variant)
{
    return (variant->host_scratch + SCRATCH_ALIGN - 1) / SCRATCH_ALIGN * SCRATCH_ALIGN;
}

/// One thread's scratch memory, to be freed; NULL when the variant needs none.
static NewtStatus scratch_new(const NewtKernel *kernel, const NewtVariant *variant, void **out)
{
    const size_t size = scratch_size(variant);
    *out = size > 0 ? aligned_alloc(SCRATCH_ALIGN, size) : NULL;
    return *out || size == 0 ? NEWT_OK
                             : newti_fail(NEWT_NO_MEMORY, "%s: no memory for %zu bytes of scratch",
                                          kernel->name, size);
}

NewtStatus newti_host_run(const NewtKernel *kernel, const NewtVariant *variant, const void *args,
                          const uint32_t grid[3], unsigned cpus)
{
    HostRun run = {
        .entry = variant->host,
        .args = args,
        .grid = { (int32_t)grid[0], (int32_t)grid[1], (int32_t)grid[2] },
        .total = (int64_t)grid[0] * grid[1] * grid[2],
    };
    void *scratch;
    NewtStatus status = scratch_new(kernel, variant, &scratch);
    if (status != NEWT_OK)
        return status;
    int64_t wanted = run_alone(&run, scratch);
    if (wanted > (int64_t)cpus - 1)
        wanted = (int64_t)cpus - 1;
    if (atomic_load_explicit(&run.next, memory_order_relaxed) < run.total)
        run_rest(&run, scratch, wanted, scratch_size(variant));
    free(scratch);
    return NEWT_OK;
}

NewtStatus newti_host_run_one(const NewtKernel *kernel, const NewtVariant *variant,
                              const void *args, const uint32_t grid[3], int64_t index)
{
    HostRun run = {
        .entry = variant->host,
        .args = args,
        .grid = { (int32_t)grid[0], (int32_t)grid[1], (int32_t)grid[2] },
    };
    void *scratch = NULL;
    NewtStatus status = scratch_new(kernel, variant, &scratch);
    if (status == NEWT_OK)
        run_range(&run, scratch, index, index + 1);
    free(scratch);
    return status;
}
