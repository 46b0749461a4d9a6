/// Vector addition in fp32 with 64-bit indices.
#include "add.h"
#include "bench.h"

#include <math.h>
#include <stdio.h>

typedef NewtStatus AddFunction(NewtDevice *device, NewtStream stream, const float *x,
                               const float *y, float *out, int64_t n);

typedef struct Add {
    Bench *b;
    BenchArray x, y, out;
} Add;

static const struct {
    const char *name;
    AddFunction *launch;
} instances[] = {
#define ROW(name)   \
    {               \
#name, name \
    }
    ROW(add_512),        ROW(add_1024),        ROW(add_2048),        ROW(add_4096_w8),
    ROW(add_512_stream), ROW(add_1024_stream), ROW(add_2048_stream), ROW(add_1024_w8),
    ROW(add_2048_w8),    ROW(add_2048_w16),    ROW(add_8192_w8),     ROW(add_512_in),
    ROW(add_1024_in),
#undef ROW
};

static const char *name_of(void *user, unsigned instance)
{
    (void)user;
    return instances[instance].name;
}

static bool fits(void *user, unsigned instance)
{
    (void)user;
    (void)instance;
    return true;
}

static NewtStatus launch(void *user, unsigned instance)
{
    const Add *c = user;
    return instances[instance].launch(c->b->device, NULL, c->x.at, c->y.at, c->out.at,
                                      (int64_t)c->x.count);
}

static void check(void *user, size_t from, size_t to, BenchCheck *found)
{
    const Add *c = user;
    for (size_t i = from; i < to; i++) {
        double want = (double)c->x.host[i] + (double)c->y.host[i];
        bench_expect(found, i, (double)c->out.host[i], want, fabs(want) * 0x1p-24);
    }
}

static void measure(Bench *b, const char *shape, size_t n)
{
    if (!bench_is_wanted(b->only_shape, shape))
        return;
    Add c = { b, bench_array_normal(b, NEWT_F32, n), bench_array_normal(b, NEWT_F32, n),
              bench_array_output(b, NEWT_F32, n) };
    BenchCell cell = { "add",
                       shape,
                       12.0 * (double)n,
                       0.0,
                       sizeof instances / sizeof *instances,
                       &c,
                       name_of,
                       fits,
                       launch,
                       &c.out,
                       check,
                       n };
    bench_cell(b, &cell);
    bench_array_free(b, &c.x);
    bench_array_free(b, &c.y);
    bench_array_free(b, &c.out);
}

int main(int argc, char **argv)
{
    static const unsigned millions[] = { 1, 16, 64, 256 };
    Bench b = bench_open(argc, argv);
    if (b.quick)
        measure(&b, "100004", 100004);
    for (size_t i = 0; !b.quick && i < sizeof millions / sizeof *millions; i++) {
        char shape[16];
        snprintf(shape, sizeof shape, "%uM", millions[i]);
        measure(&b, shape, (size_t)millions[i] << 20);
    }
    return bench_close(&b);
}
