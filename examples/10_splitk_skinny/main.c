/// A few rows times a large matrix, by two kernels and by two with atomics, against double precision.
#include "array.h"
#include "skinny.h"

enum { SAMPLES = 2000, MOST_ROWS = 16 };

typedef struct Product {
    NewtDevice *device;
    Array a, b, partial, c, sums, streamed;  // c: fp16, of the two kernels; the last two: fp32, of the atomics
    int32_t m, n, k, parts;
} Product;

static NewtStatus launch_two(void *user)
{
    const Product *p = user;
    NewtStatus status = skinny_parts(p->device, NULL, p->a.buffer.at, p->b.buffer.at, p->partial.buffer.at, p->m, p->n,
                                     p->k, p->parts);
    if (status != NEWT_OK)
        return status;
    return skinny_sum(p->device, NULL, p->partial.buffer.at, p->c.buffer.at, p->m * p->n, p->parts);
}

/// Expects that the sums hold what is to be added to.
static NewtStatus launch_atomic(void *user)
{
    const Product *p = user;
    return skinny_atomic(p->device, NULL, p->a.buffer.at, p->b.buffer.at, p->sums.buffer.at, p->m, p->n, p->k, p->parts);
}

/// The same, by as many programs as there are parts.
static NewtStatus launch_stream(void *user)
{
    const Product *p = user;
    return skinny_stream(p->device, NULL, p->a.buffer.at, p->b.buffer.at, p->streamed.buffer.at, p->m, p->n, p->k, p->parts);
}

static Product product_new(Example *ex, const int32_t shape[4])
{
    Product p = { .device = ex->device, .m = shape[0], .n = shape[1], .k = shape[2], .parts = shape[3] };
    const size_t size = (size_t)p.m * (size_t)p.n;
    p.a = example_input(ex, NEWT_F16, (size_t)p.m * (size_t)p.k, 0);
    p.b = example_input(ex, NEWT_F16, (size_t)p.k * (size_t)p.n, 0);
    p.partial = example_output(ex, NEWT_F32, size * (size_t)p.parts, 0);
    p.c = example_output(ex, NEWT_F16, size, 0);
    p.sums = example_input(ex, NEWT_F32, size, 0);
    p.streamed = example_input(ex, NEWT_F32, size, 0);
    Array *const sums[] = { &p.sums, &p.streamed };
    for (int i = 0; i < 2; i++) {
        memset(sums[i]->values, 0, size * sizeof(float));
        example_send(ex, sums[i]);
    }
    return p;
}

static void product_free(Example *ex, Product *p)
{
    Array *const arrays[] = { &p->a, &p->b, &p->partial, &p->c, &p->sums, &p->streamed };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        example_drop(ex, arrays[i]);
}

static void check_element(const Product *p, int64_t i, int64_t j)
{
    Sum sum = { 0, 0 };
    const size_t at = (size_t)(i * p->n + j);
    for (int64_t k = 0; k < p->k; k++)
        example_add(&sum, example_at(&p->a, (size_t)(i * p->k + k)), example_at(&p->b, (size_t)(k * p->n + j)));
    const double slack = example_slack(&sum, 0);
    example_expect(example_at(&p->sums, at), sum.value, slack, "skinny_atomic", at);
    example_expect(example_at(&p->streamed, at), sum.value, slack, "skinny_stream", at);
    example_expect(example_at(&p->c, at), sum.value,
                   slack + fabs(sum.value) * 2 * example_rounding(NEWT_F16) + 0x1p-20, "skinny_parts", at);
}

static void check(Example *ex, const int32_t shape[4])
{
    Product p = product_new(ex, shape);
    const int64_t elements = (int64_t)p.m * p.n;
    example_ok(launch_two(&p), "skinny_parts");
    example_ok(launch_atomic(&p), "skinny_atomic");
    example_ok(launch_stream(&p), "skinny_stream");
    example_fetch(ex, &p.partial);  // for the guards
    example_fetch(ex, &p.c);
    example_fetch(ex, &p.sums);
    example_fetch(ex, &p.streamed);
    if (elements * p.k < 1 << 22) {
        for (int64_t i = 0; i < elements; i++)
            check_element(&p, i / p.n, i % p.n);
    } else {
        for (int s = 0; s < SAMPLES; s++) {
            example_uniform(ex);
            const int64_t at = (int64_t)((ex->random >> 8) % (uint64_t)elements);
            check_element(&p, at / p.n, at % p.n);
        }
    }
    product_free(ex, &p);
}

int main(int argc, char **argv)
{
    // rows, columns, k, parts: more parts than blocks of k leave some with nothing
    static const int32_t shapes[][4] = {
        { 1, 1, 1, 1 },     { 1, 64, 128, 2 },    { 16, 65, 700, 4 },     { 7, 130, 1000, 16 },
        { 3, 40, 0, 3 },    { 16, 1024, 300, 1 }, { MOST_ROWS, 5000, 4000, 5 }, { MOST_ROWS, 8192, 8192, 4 },
    };
    Example ex = example_open(argc, argv);
    const int is_small = ex.quick || example_is_host(&ex);
    const size_t count = sizeof shapes / sizeof *shapes - (is_small ? 2 : 0);
    for (size_t s = 0; s < count; s++)
        check(&ex, shapes[s]);

    const int32_t side = is_small ? 512 : 8192, shape[4] = { MOST_ROWS, side, side, is_small ? 2 : 4 };
    Product p = product_new(&ex, shape);
    const double bytes = 2.0 * side * side, operations = 2.0 * MOST_ROWS * side * side;
    example_rate(&ex, launch_two, &p, operations, "fp16, two kernels");
    example_bandwidth(&ex, launch_two, &p, bytes, "fp16, two kernels");
    example_rate(&ex, launch_atomic, &p, operations, "fp16, atomic");
    example_bandwidth(&ex, launch_atomic, &p, bytes, "fp16, atomic");
    p.parts = is_small ? 3 : 132;  // an H200's multiprocessors
    example_rate(&ex, launch_stream, &p, operations, "fp16, stream-K");
    example_bandwidth(&ex, launch_stream, &p, bytes, "fp16, stream-K");
    product_free(&ex, &p);
    return example_close(&ex);
}
