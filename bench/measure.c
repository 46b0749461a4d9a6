/// measure.c - checks and times the instances of one shape; see bench.h.
///
/// The guard against timing the host: the flush keeps the device busy for some 65 us while the host
/// queues the first event, the kernel and the second event behind it. A repetition in which the
/// host was slower than that is dropped and counted as late.
#include "bench.h"
#include "copy.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Times {
    double median, low, high;  ///< us; tenth and ninetieth percentile
    unsigned count, late;
} Times;

struct BenchCheck {
    pthread_mutex_t lock;
    size_t wrong, index;  ///< how many, the lowest
    double got, want;
};

typedef struct CheckRun {
    const BenchCell *cell;
    BenchCheck *check;
} CheckRun;

void bench_expect(BenchCheck *check, size_t index, double got, double want, double allowed)
{
    if (fabs(got - want) <= allowed)  // false for a NaN
        return;
    pthread_mutex_lock(&check->lock);
    if (check->wrong++ == 0 || index < check->index) {
        check->index = index;
        check->got = got;
        check->want = want;
    }
    pthread_mutex_unlock(&check->lock);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    return bench_quantile(values, count, 0.5);
}

double bench_quantile(const double *values, size_t count, double q)
{
    double at = q * (double)(count - 1);
    size_t low = (size_t)at;
    double part = at - (double)low;
    return low + 1 < count ? values[low] * (1.0 - part) + values[low + 1] * part : values[low];
}

void bench_print(const char *suite, const char *shape, const char *who, double value,
                 const char *unit, const char *more)
{
    printf("{\"suite\": \"%s\", \"shape\": \"%s\", \"who\": \"%s\", \"value\": %.2f, \"unit\": "
           "\"%s\"%s}\n",
           suite, shape, who, value, unit, more);
    fflush(stdout);
}

static void check_part(void *user, size_t from, size_t to)
{
    const CheckRun *run = user;
    run->cell->check(run->cell->user, from, to, run->check);
}

bool bench_check(Bench *b, const BenchCell *cell, unsigned instance)
{
    const char *name = cell->name(cell->user, instance);
    BenchCheck check = { .lock = PTHREAD_MUTEX_INITIALIZER };
    CheckRun run = { cell, &check };
    bench_array_poison(b, cell->out);
    bench_ok(cell->launch(cell->user, instance), name);
    bool intact = bench_array_fetch(b, cell->out);
    bench_parallel(b, cell->check_count, check_part, &run);
    if (!intact)
        printf("# WRONG %s %s %s: wrote outside its output\n", cell->suite, cell->shape, name);
    if (check.wrong)
        printf("# WRONG %s %s %s: %zu elements, the first is %zu: %.9g, should be %.9g\n",
               cell->suite, cell->shape, name, check.wrong, check.index, check.got, check.want);
    bool is_right = intact && check.wrong == 0;
    b->wrong += !is_right;
    return is_right;
}

/// One repetition. False when the host fell behind the device.
static bool repeat(Bench *b, const BenchCell *cell, unsigned instance, double *us)
{
    double start = bench_seconds();
    bench_ok(fill(b->device, NULL, b->flush, 0.0f, (int64_t)b->flush_count), "fill");
    bench_ok(newt_timer_start(b->timer, NULL), "newt_timer_start");
    bench_ok(cell->launch(cell->user, instance), cell->suite);
    double queued_us = 1e6 * (bench_seconds() - start);
    bench_ok(newt_timer_stop(b->timer, NULL, us), "newt_timer_stop");
    return newt_device_is_host(b->device) || queued_us < 0.8 * b->flush_us;
}

static Times time_instance(Bench *b, const BenchCell *cell, unsigned instance)
{
    Times times = { 0 };
    double *us = bench_memory(b->repetitions * sizeof *us), warm_until = bench_seconds() + 0.025;
    do
        (void)repeat(b, cell, instance, us);
    while (!b->quick && bench_seconds() < warm_until);
    while (times.count < b->repetitions && times.late <= 4 * b->repetitions) {
        if (repeat(b, cell, instance, &us[times.count]))
            times.count++;
        else
            times.late++;
    }
    if (times.count < b->repetitions) {
        fprintf(stderr, "%s: the host is too slow to keep the device busy\n", cell->suite);
        exit(2);
    }
    times.median = bench_median(us, times.count);
    times.low = bench_quantile(us, times.count, 0.1);
    times.high = bench_quantile(us, times.count, 0.9);
    free(us);
    return times;
}

static void print_times(const BenchCell *cell, const char *who, const char *cfg, const Times *times,
                        double first)
{
    char more[256];
    int n = snprintf(more, sizeof more,
                     ", \"cfg\": \"%s\", \"us\": %.2f, \"us_p10\": %.2f, \"us_p90\": %.2f, "
                     "\"reps\": %u, \"late\": %u",
                     cfg, times->median, times->low, times->high, times->count, times->late);
    if (first > 0.0)
        snprintf(more + n, sizeof more - (size_t)n, ", \"us_first\": %.2f", first);
    const bool is_compute = cell->flops > 0.0;
    const double value = is_compute ? cell->flops * 1e-3 : cell->bytes;
    bench_print(cell->suite, cell->shape, who, value / times->median * 1e-3,
                is_compute ? "TFLOP/s" : "GB/s", more);
}

void bench_cell(Bench *b, const BenchCell *cell)
{
    unsigned best = 0;
    double best_us = 0.0;
    for (unsigned i = 0; i < cell->instance_count; i++) {
        const char *name = cell->name(cell->user, i);
        char who[96];
        if (!cell->fits(cell->user, i) || !bench_is_wanted(b->only_name, name))
            continue;
        if (!bench_check(b, cell, i) || b->is_check_only)
            continue;
        Times times = time_instance(b, cell, i);
        snprintf(who, sizeof who, "newt/%s", name);
        print_times(cell, who, name, &times, 0.0);
        if (best_us == 0.0 || times.median < best_us) {
            best_us = times.median;
            best = i;
        }
    }
    if (best_us > 0.0) {  // again: the first time of the fastest of many is a lucky one
        Times times = time_instance(b, cell, best);
        print_times(cell, "newt", cell->name(cell->user, best), &times, best_us);
    }
}
