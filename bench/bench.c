/// bench.c - the device, the options, the host's threads; see bench.h.
#include "bench.h"
#include "copy.h"
#include "cuda.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_THREADS = 64, FLUSH_MIB = 256, QUICK_FLUSH_MIB = 1 };

void bench_ok(NewtStatus status, const char *what)
{
    if (status == NEWT_OK)
        return;
    fprintf(stderr, "%s: %s: %s\n", what, newt_status_name(status), newt_last_error());
    exit(2);
}

void *bench_memory(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    if (!p) {
        fprintf(stderr, "out of memory: %zu bytes\n", bytes);
        exit(2);
    }
    return p;
}

bool bench_is_wanted(const char *asked, const char *what)
{
    return !asked || strstr(what, asked);
}

double bench_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- all the host's threads ---- */

typedef struct Share {
    void (*body)(void *user, size_t from, size_t to);
    void *user;
    size_t from, to;
} Share;

static void *share_run(void *at)
{
    const Share *share = at;
    share->body(share->user, share->from, share->to);
    return NULL;
}

void bench_parallel(const Bench *b, size_t count, void (*body)(void *user, size_t from, size_t to),
                    void *user)
{
    Share shares[MAX_THREADS];
    pthread_t threads[MAX_THREADS];
    unsigned n = b->threads, started = 1;
    for (unsigned i = 0; i < n; i++)
        shares[i] = (Share){ body, user, count / n * i, i + 1 < n ? count / n * (i + 1) : count };
    while (started < n && !pthread_create(&threads[started], NULL, share_run, &shares[started]))
        started++;
    share_run(&shares[0]);
    for (unsigned i = started; i < n; i++)  // threads that could not be had
        share_run(&shares[i]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(threads[i], NULL);
}

/* ---- the program ---- */

static void usage(const char *what)
{
    fprintf(stderr,
            "%s\nusage: [--quick] [--check] [--reps N] [--seed N] [--shape TEXT] [--name TEXT] "
            "[--skip-without-device] [device]\n",
            what);
    exit(2);
}

/// Gives the device's name and whether to skip when it is not there.
static const char *options_read(Bench *b, int argc, char **argv, bool *skip)
{
    const char *name = NULL;
    for (int i = 1; i < argc; i++) {
        const char *option = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(option, "--quick") == 0)
            b->quick = true;
        else if (strcmp(option, "--check") == 0)
            b->is_check_only = true;
        else if (strcmp(option, "--skip-without-device") == 0)
            *skip = true;
        else if (option[0] != '-')
            name = option;
        else if (!value)
            usage(option);
        else if (strcmp(option, "--reps") == 0)
            b->repetitions = (unsigned)strtoul(argv[++i], NULL, 10);
        else if (strcmp(option, "--seed") == 0)
            b->seed = strtoull(argv[++i], NULL, 10);
        else if (strcmp(option, "--shape") == 0)
            b->only_shape = argv[++i];
        else if (strcmp(option, "--name") == 0)
            b->only_name = argv[++i];
        else
            usage(option);
    }
    return name;
}

/// Allocates what is written between repetitions, and times that.
static void flush_open(Bench *b)
{
    double us[9];
    size_t bytes = (size_t)(b->quick ? QUICK_FLUSH_MIB : FLUSH_MIB) << 20;
    void *at = NULL;
    b->flush_count = bytes / sizeof(float);
    bench_ok(newt_alloc(b->device, bytes, &at), "newt_alloc");
    b->flush = at;
    bench_ok(newt_timer_new(b->device, &b->timer), "newt_timer_new");
    for (int i = -2; i < 9; i++) {
        double *to = &us[i < 0 ? 0 : i];
        bench_ok(newt_timer_start(b->timer, NULL), "newt_timer_start");
        bench_ok(fill(b->device, NULL, b->flush, 0.0f, (int64_t)b->flush_count), "fill");
        bench_ok(newt_timer_stop(b->timer, NULL, to), "newt_timer_stop");
    }
    b->flush_us = bench_median(us, 9);
}

Bench bench_open(int argc, char **argv)
{
    Bench b = { .repetitions = 100, .seed = (uint64_t)time(NULL) };
    bool skip = false;
    b.device_name = options_read(&b, argc, argv, &skip);
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    b.threads = cpus < 1 ? 1 : cpus > MAX_THREADS ? MAX_THREADS : (unsigned)cpus;
    NewtStatus status = newt_device_open(b.device_name, &b.device);
    if (skip && (status == NEWT_NO_DRIVER || status == NEWT_NO_DEVICE)) {
        printf("# skipped: %s\n", newt_last_error());
        exit(77);
    }
    bench_ok(status, "newt_device_open");
    if (b.quick)
        b.repetitions = 3;
    else if (b.repetitions < 50)
        usage("--reps: at least 50, else the median is noise");
    b.processors = b.threads;
    if (!newt_device_is_host(b.device))
        b.processors = bench_cuda_processors(b.device_name);
    flush_open(&b);
    printf("# newt on %s (%s), seed %" PRIu64 ", %u repetitions, flush of %zu MiB takes %.0f us\n",
           newt_device_name(b.device), newt_device_arch(b.device), b.seed, b.repetitions,
           b.flush_count * sizeof(float) >> 20, b.flush_us);
    fflush(stdout);
    return b;
}

int bench_close(Bench *b)
{
    newt_timer_free(b->timer);
    newt_free(b->device, b->flush);
    newt_device_close(b->device);
    if (b->wrong)
        printf("# %u wrong results\n", b->wrong);
    return b->wrong ? 1 : 0;
}
