/// The sum of 2^30 floats: partial sums and a second launch, or one atomic addition a program.
///
/// Sums of random numbers hide an element that is left out or counted twice in what rounding is
/// allowed, so that every instance first sums ones, exactly.
#include "bench.h"
#include "copy.h"
#include "sum.h"

#include <math.h>

enum { MAX_PROGRAMS = 8192 };

typedef NewtStatus SumFunction(NewtDevice *device, NewtStream stream, const float *x, float *to,
                               int64_t n, int32_t programs);

typedef struct Sum {
    Bench *b;
    BenchArray x, partial, out;
    double want, allowed;
    bool *is_right;  // of each instance, for ones
} Sum;

static const struct {
    const char *name;
    SumFunction *launch;
    int32_t programs;
    bool is_atomic;
} instances[] = {
#define TWO_PASSES(name, programs)                 \
    {                                              \
#name "/" #programs, name, programs, false \
    }
#define ATOMIC(name, programs)                    \
    {                                             \
#name "/" #programs, name, programs, true \
    }
    TWO_PASSES(sum_partial_1024x8_w8, 1024),
    TWO_PASSES(sum_partial_1024x8_w8, 4096),
    TWO_PASSES(sum_partial_2048x8_w16, 512),
    TWO_PASSES(sum_partial_2048x8_w16, 2048),
    TWO_PASSES(sum_partial_4096x4_w8, 1024),
    TWO_PASSES(sum_partial_4096x4_w8, 8192),
    TWO_PASSES(sum_partial_8192_w8, 1024),
    TWO_PASSES(sum_partial_1024x8_w8_stream, 1024),
    TWO_PASSES(sum_partial_1024x8_w8_stream, 4096),
    TWO_PASSES(sum_partial_4096x4_w8_stream, 4096),
    ATOMIC(sum_atomic_1024x8_w8, 1024),
    ATOMIC(sum_atomic_1024x8_w8_stream, 1024),
    ATOMIC(sum_atomic_1024x8_w8_stream, 4096),
#undef TWO_PASSES
#undef ATOMIC
};
enum { INSTANCE_COUNT = sizeof instances / sizeof *instances };

static const char *name_of(void *user, unsigned instance)
{
    (void)user;
    return instances[instance].name;
}

static bool fits(void *user, unsigned instance)
{
    return ((const Sum *)user)->is_right[instance];
}

static NewtStatus launch(void *user, unsigned instance)
{
    const Sum *c = user;
    NewtDevice *device = c->b->device;
    int64_t n = (int64_t)c->x.count;
    int32_t programs = instances[instance].programs;
    bool is_atomic = instances[instance].is_atomic;
    NewtStatus status = is_atomic ? sum_clear(device, NULL, c->out.at) : NEWT_OK;
    if (status == NEWT_OK)
        status = instances[instance].launch(device, NULL, c->x.at,
                                            is_atomic ? c->out.at : c->partial.at, n, programs);
    if (status == NEWT_OK && !is_atomic)
        status = sum_final(device, NULL, c->partial.at, c->out.at, programs);
    return status;
}

static void check(void *user, size_t from, size_t to, BenchCheck *found)
{
    const Sum *c = user;
    for (size_t i = from; i < to; i++)
        bench_expect(found, i, (double)c->out.host[i], c->want, c->allowed);
}

/// Rounding errors are random: they grow with the root of the sum of squares.
static void set_expectation(Sum *c)
{
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < c->x.count; i++) {
        sum += (double)c->x.host[i];
        squares += (double)c->x.host[i] * (double)c->x.host[i];
    }
    c->want = sum;
    c->allowed = 1e-5 * sqrt(squares);
}

/// Sums ones with every instance. The device's copy of x holds ones meanwhile.
static void check_ones(Sum *c, const BenchCell *cell)
{
    Bench *b = c->b;
    int64_t n = (int64_t)c->x.count;
    bench_ok(fill(b->device, NULL, c->x.at, 1.0f, n), "fill");
    c->want = (double)n;
    c->allowed = 0.0;
    for (unsigned i = 0; i < INSTANCE_COUNT; i++)
        if (bench_is_wanted(b->only_name, instances[i].name))
            c->is_right[i] = bench_check(b, cell, i);
    bench_ok(newt_copy(b->device, NULL, c->x.at, c->x.host, c->x.count * sizeof(float)),
             "newt_copy");
    bench_ok(newt_synchronize(b->device, NULL), "newt_synchronize");
}

int main(int argc, char **argv)
{
    Bench b = bench_open(argc, argv);
    size_t n = b.quick ? 100004 : (size_t)1 << 30;
    const char *shape = b.quick ? "100004 fp32" : "1G fp32";
    if (bench_is_wanted(b.only_shape, shape)) {
        bool is_right[INSTANCE_COUNT] = { false };
        Sum c = { &b,
                  bench_array_normal(&b, NEWT_F32, n),
                  bench_array_output(&b, NEWT_F32, MAX_PROGRAMS),
                  bench_array_output(&b, NEWT_F32, 1),
                  0.0,
                  0.0,
                  is_right };
        BenchCell cell = { "sum",   shape, 4.0 * (double)n, 0.0,    INSTANCE_COUNT, &c,
                           name_of, fits,  launch,          &c.out, check,          1 };
        check_ones(&c, &cell);
        set_expectation(&c);
        bench_cell(&b, &cell);
        bench_array_free(&b, &c.x);
        bench_array_free(&b, &c.partial);
        bench_array_free(&b, &c.out);
    }
    return bench_close(&b);
}
