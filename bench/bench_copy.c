/// The ceiling of everything memory bound: copying 2^30 floats.
#include "bench.h"
#include "copy.h"

typedef NewtStatus CopyFunction(NewtDevice *device, NewtStream stream, const float *x, float *out,
                                int64_t n);

typedef struct Copy {
    Bench *b;
    BenchArray x, out;
} Copy;

static const struct {
    const char *name;
    CopyFunction *launch;
} instances[] = {
#define ROW(name)   \
    {               \
#name, name \
    }
    ROW(copy_1024), ROW(copy_2048), ROW(copy_4096_w8), ROW(copy_1024_stream), ROW(copy_2048_stream),
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
    const Copy *c = user;
    return instances[instance].launch(c->b->device, NULL, c->x.at, c->out.at, (int64_t)c->x.count);
}

static void check(void *user, size_t from, size_t to, BenchCheck *found)
{
    const Copy *c = user;
    for (size_t i = from; i < to; i++)
        bench_expect(found, i, (double)c->out.host[i], (double)c->x.host[i], 0.0);
}

int main(int argc, char **argv)
{
    Bench b = bench_open(argc, argv);
    size_t n = b.quick ? 100004 : (size_t)1 << 30;
    const char *shape = b.quick ? "100004 fp32" : "1G fp32";
    if (bench_is_wanted(b.only_shape, shape)) {
        Copy c = { &b, bench_array_normal(&b, NEWT_F32, n), bench_array_output(&b, NEWT_F32, n) };
        BenchCell cell = { "copy",
                           shape,
                           8.0 * (double)n,
                           0.0,
                           sizeof instances / sizeof *instances,
                           &c,
                           name_of,
                           fits,
                           launch,
                           &c.out,
                           check,
                           n };
        bench_cell(&b, &cell);
        bench_array_free(&b, &c.x);
        bench_array_free(&b, &c.out);
    }
    return bench_close(&b);
}
