/// example.h - what the examples' host programs share: the device, guarded buffers, random data, timing.
///
/// A buffer lies between guard bytes and may start off a 16-byte boundary; example_download checks that a
/// kernel wrote nothing outside it. Outputs are poisoned with NaNs, so an element that was not written is
/// found. Any failure prints what went wrong and ends the program with exit code 1.
#ifndef EXAMPLE_H
#define EXAMPLE_H
#include <newt/newt.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EXAMPLE_GUARD = 256, EXAMPLE_REPEATS = 20 };

typedef struct Example {
    NewtDevice *device;
    uint64_t random;  // state of the generator
    int quick;        // small sizes only
} Example;

typedef struct Buffer {
    unsigned char *base;  // device memory, guards included
    float *at;            // the elements there
    size_t count, bytes;  // elements; bytes of the whole allocation
} Buffer;

static inline void example_ok(NewtStatus status, const char *what)
{
    if (status == NEWT_OK)
        return;
    fprintf(stderr, "%s: %s: %s\n", what, newt_status_name(status), newt_last_error());
    exit(1);
}

static inline void *example_memory(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    if (!p) {
        fprintf(stderr, "out of memory: %zu bytes\n", bytes);
        exit(1);
    }
    return p;
}

/// Reads `[--quick] [--skip-without-device] [--seed N] [device]` and opens the device (default: a GPU if there is one,
/// else the host). A named device that does not exist is an error, or exit code 77 for test drivers.
static inline Example example_open(int argc, char **argv)
{
    Example ex = { NULL, (uint64_t)time(NULL), 0 };
    const char *name = NULL;
    int skip = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0)
            ex.quick = 1;
        else if (strcmp(argv[i], "--skip-without-device") == 0)
            skip = 1;
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            ex.random = strtoull(argv[++i], NULL, 10);
        else
            name = argv[i];
    }
    NewtStatus status = newt_device_open(name, &ex.device);
    if (skip && (status == NEWT_NO_DRIVER || status == NEWT_NO_DEVICE)) {
        printf("skipped: %s\n", newt_last_error());
        exit(77);
    }
    example_ok(status, "newt_device_open");
    printf("device %s (%s), seed %" PRIu64 "\n", newt_device_name(ex.device), newt_device_arch(ex.device), ex.random);
    return ex;
}

static inline int example_close(Example *ex)
{
    newt_device_close(ex->device);
    printf("all results are right\n");
    return 0;
}

/// Uniform in [-1, 1): xorshift64*, one multiply a number.
static inline float example_uniform(Example *ex)
{
    ex->random ^= ex->random >> 12;
    ex->random ^= ex->random << 25;
    ex->random ^= ex->random >> 27;
    if (!ex->random)
        ex->random = 88172645463325252u;
    return (float)((ex->random * UINT64_C(2685821657736338717)) >> 40) / 8388608.0f - 1.0f;
}

/// Random values in host memory.
static inline float *example_random(Example *ex, size_t count)
{
    float *v = example_memory(count * sizeof *v);
    for (size_t i = 0; i < count; i++)
        v[i] = example_uniform(ex);
    return v;
}

/// Room for `count` floats that starts `shift` elements behind a 256-byte boundary, filled from `values`, or
/// poisoned when that is NULL.
static inline Buffer example_upload(Example *ex, const float *values, size_t count, size_t shift)
{
    Buffer b = { NULL, NULL, count, count * sizeof(float) + 2 * EXAMPLE_GUARD + shift * sizeof(float) };
    unsigned char *host = example_memory(b.bytes);
    memset(host, 0xff, b.bytes);
    if (values)
        memcpy(host + EXAMPLE_GUARD + shift * sizeof(float), values, count * sizeof(float));
    void *base = NULL;
    example_ok(newt_alloc(ex->device, b.bytes, &base), "newt_alloc");
    example_ok(newt_copy(ex->device, NULL, base, host, b.bytes), "newt_copy");
    example_ok(newt_synchronize(ex->device, NULL), "newt_synchronize");
    free(host);
    b.base = base;
    b.at = (float *)(void *)(b.base + EXAMPLE_GUARD + shift * sizeof(float));
    return b;
}

/// The elements, in host memory that the caller frees. Ends the program when a guard byte changed.
static inline float *example_download(Example *ex, const Buffer *b)
{
    unsigned char *host = example_memory(b->bytes);
    size_t before = (size_t)((unsigned char *)b->at - b->base), size = b->count * sizeof(float);
    example_ok(newt_copy(ex->device, NULL, host, b->base, b->bytes), "newt_copy");
    example_ok(newt_synchronize(ex->device, NULL), "the kernel");
    for (size_t i = 0; i < b->bytes; i++)
        if ((i < before || i >= before + size) && host[i] != 0xff) {
            fprintf(stderr, "the kernel wrote outside its output, at byte %td\n", (ptrdiff_t)i - (ptrdiff_t)before);
            exit(1);
        }
    float *v = example_memory(size);
    memcpy(v, host + before, size);
    free(host);
    return v;
}

static inline void example_free(Example *ex, Buffer *b)
{
    newt_free(ex->device, b->base);
    b->base = NULL;
}

/// Ends the program when |got - want| > tolerance, or when got is NaN.
static inline void example_expect(double got, double want, double tolerance, const char *what, size_t index)
{
    if (fabs(got - want) <= tolerance)
        return;
    fprintf(stderr, "%s: element %zu is %.9g, should be %.9g\n", what, index, got, want);
    exit(1);
}

static inline int example_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/// Times `launch(user)` and prints the median bandwidth for `bytes` moved each time.
static inline void example_bandwidth(Example *ex, NewtStatus (*launch)(void *user), void *user, double bytes,
                                     const char *what)
{
    double us[EXAMPLE_REPEATS];
    NewtTimer *timer = NULL;
    example_ok(newt_timer_new(ex->device, &timer), "newt_timer_new");
    example_ok(launch(user), what);
    for (int i = 0; i < EXAMPLE_REPEATS; i++) {
        example_ok(newt_timer_start(timer, NULL), "newt_timer_start");
        example_ok(launch(user), what);
        example_ok(newt_timer_stop(timer, NULL, &us[i]), "newt_timer_stop");
    }
    newt_timer_free(timer);
    qsort(us, EXAMPLE_REPEATS, sizeof *us, example_compare);
    double median = us[EXAMPLE_REPEATS / 2];
    printf("%s: %.1f us, %.1f GB/s (median of %d)\n", what, median, bytes / median * 1e-3, EXAMPLE_REPEATS);
}

#endif
