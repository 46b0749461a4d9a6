/// Host time of one launch: through a generated function, and of the same device function through
/// cuLaunchKernelEx.
///
/// A batch fills at most a part of the driver's queue, so the host never waits for the device
/// inside the timed stretch; the two kinds of launch alternate.
#include "add.h"
#include "bench.h"
#include "cuda.h"

#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 256, BATCHES = 60, QUICK_BATCHES = 3, ELEMENTS = 1024 };

typedef struct Launch {
    Bench *b;
    BenchArray x, y, out;
    BenchRaw *raw;
} Launch;

static void launch_newt(const Launch *c)
{
    bench_ok(add_1024(c->b->device, NULL, c->x.at, c->y.at, c->out.at, ELEMENTS), "add_1024");
}

static void launch_raw(const Launch *c)
{
    int64_t n = ELEMENTS;
    void *params[] = { (void *)&c->x.at, (void *)&c->y.at, (void *)&c->out.at, &n };
    if (bench_raw_launch(c->raw, 1, params) != 0) {
        fprintf(stderr, "cuLaunchKernelEx failed\n");
        exit(2);
    }
}

/// Microseconds of host time for each launch of a batch.
static double batch_time(const Launch *c, void (*launch)(const Launch *c))
{
    double start = bench_seconds();
    for (int i = 0; i < BATCH; i++)
        launch(c);
    double seconds = bench_seconds() - start;
    bench_ok(newt_synchronize(c->b->device, NULL), "add_1024");
    return 1e6 * seconds / BATCH;
}

static void check(Launch *c, const char *who, void (*launch)(const Launch *c))
{
    bench_array_poison(c->b, &c->out);
    launch(c);
    bool right = bench_array_fetch(c->b, &c->out);
    for (size_t i = 0; i < ELEMENTS; i++)
        right = right && c->out.host[i] == c->x.host[i] + c->y.host[i];
    if (!right) {
        printf("# WRONG launch %s\n", who);
        c->b->wrong++;
    }
}

static void print(const char *who, double *us, size_t count)
{
    char more[96];
    double median = bench_median(us, count);
    snprintf(more, sizeof more, ", \"us_p10\": %.3f, \"us_p90\": %.3f, \"launches\": %zu",
             bench_quantile(us, count, 0.1), bench_quantile(us, count, 0.9), count * BATCH);
    bench_print("launch", "host time per launch", who, median, "us", more);
}

int main(int argc, char **argv)
{
    Bench b = bench_open(argc, argv);
    Launch c = { &b, bench_array_normal(&b, NEWT_F32, ELEMENTS),
                 bench_array_normal(&b, NEWT_F32, ELEMENTS),
                 bench_array_output(&b, NEWT_F32, ELEMENTS), NULL };
    double newt[BATCHES], raw[BATCHES];
    size_t count = b.quick ? QUICK_BATCHES : BATCHES;
    if (!newt_device_is_host(b.device))
        c.raw = bench_raw_new(add_1024_kernel, b.device_name, newt_device_arch(b.device));
    check(&c, "newt", launch_newt);
    if (c.raw)
        check(&c, "raw", launch_raw);
    for (size_t i = 0; i < count && !b.wrong; i++) {
        newt[i] = batch_time(&c, launch_newt);
        raw[i] = c.raw ? batch_time(&c, launch_raw) : 0.0;
    }
    if (!b.wrong) {
        print("newt", newt, count);
        if (c.raw)
            print("raw cuLaunchKernelEx", raw, count);
    }
    bench_raw_free(c.raw);
    bench_array_free(&b, &c.x);
    bench_array_free(&b, &c.y);
    bench_array_free(&b, &c.out);
    return bench_close(&b);
}
