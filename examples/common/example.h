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
    void *at;             // the elements there
    size_t size, bytes;   // bytes of the elements, and of the whole allocation
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

/// Room for `size` bytes that starts `shift` bytes behind a 256-byte boundary, filled from `data`, or poisoned
/// when that is NULL.
static inline Buffer example_put(Example *ex, const void *data, size_t size, size_t shift)
{
    Buffer b = { NULL, NULL, size, size + 2 * EXAMPLE_GUARD + shift };
    unsigned char *host = example_memory(b.bytes);
    memset(host, 0xff, b.bytes);
    if (data)
        memcpy(host + EXAMPLE_GUARD + shift, data, size);
    void *base = NULL;
    example_ok(newt_alloc(ex->device, b.bytes, &base), "newt_alloc");
    example_ok(newt_copy(ex->device, NULL, base, host, b.bytes), "newt_copy");
    example_ok(newt_synchronize(ex->device, NULL), "newt_synchronize");
    free(host);
    b.base = base;
    b.at = b.base + EXAMPLE_GUARD + shift;
    return b;
}

/// The same for `count` floats, `shift` of them behind the boundary.
static inline Buffer example_upload(Example *ex, const float *values, size_t count, size_t shift)
{
    return example_put(ex, values, count * sizeof(float), shift * sizeof(float));
}

/// The elements, in host memory that the caller frees. Ends the program when a guard byte changed.
static inline void *example_download(Example *ex, const Buffer *b)
{
    unsigned char *host = example_memory(b->bytes);
    size_t before = (size_t)((unsigned char *)b->at - b->base);
    example_ok(newt_copy(ex->device, NULL, host, b->base, b->bytes), "newt_copy");
    example_ok(newt_synchronize(ex->device, NULL), "the kernel");
    for (size_t i = 0; i < b->bytes; i++)
        if ((i < before || i >= before + b->size) && host[i] != 0xff) {
            fprintf(stderr, "the kernel wrote outside its output, at byte %td\n", (ptrdiff_t)i - (ptrdiff_t)before);
            exit(1);
        }
    memmove(host, host + before, b->size);
    return host;
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

/// A call of the kernel that is timed.
typedef NewtStatus ExampleLaunch(void *user);

static inline int example_repeats(const Example *ex)
{
    return ex->quick ? 3 : EXAMPLE_REPEATS;
}

/// The median time of `launch(user)` in microseconds.
static inline double example_time(Example *ex, ExampleLaunch *launch, void *user, const char *what)
{
    double us[EXAMPLE_REPEATS];
    NewtTimer *timer = NULL;
    example_ok(newt_timer_new(ex->device, &timer), "newt_timer_new");
    example_ok(launch(user), what);
    for (int i = 0; i < example_repeats(ex); i++) {
        example_ok(newt_timer_start(timer, NULL), "newt_timer_start");
        example_ok(launch(user), what);
        example_ok(newt_timer_stop(timer, NULL, &us[i]), "newt_timer_stop");
    }
    newt_timer_free(timer);
    qsort(us, (size_t)example_repeats(ex), sizeof *us, example_compare);
    return us[example_repeats(ex) / 2];
}

/// Times `launch(user)` and prints the median bandwidth for `bytes` moved each time.
static inline void example_bandwidth(Example *ex, ExampleLaunch *launch, void *user, double bytes, const char *what)
{
    double us = example_time(ex, launch, user, what);
    printf("%s: %.1f us, %.1f GB/s (median of %d)\n", what, us, bytes / us * 1e-3, example_repeats(ex));
}

/// The same for the rate of `operations` done each time: additions and multiplications.
static inline void example_rate(Example *ex, ExampleLaunch *launch, void *user, double operations, const char *what)
{
    double us = example_time(ex, launch, user, what);
    printf("%s: %.1f us, %.3g TFLOP/s (median of %d)\n", what, us, operations / us * 1e-6, example_repeats(ex));
}

#endif
