/// Quantised products against double precision on the values that the codes stand for. The sums of int8 are exact.
#include "array.h"
#include "quantised.h"

enum { SAMPLES = 3000, GROUP = 128 };

typedef struct Product {
    NewtDevice *device;
    Array a, b, a_scale, b_scale, c;  // int4: b is packed, a_scale is not used
    int32_t m, n, k;
} Product;

typedef struct Kernel {
    const char *name;
    NewtStatus (*launch)(void *product);
    Product (*product)(Example *ex, const int32_t shape[3]);
    /// Factors of a sum; *scale belongs to the whole of it.
    void (*factors)(const Product *p, int64_t i, int64_t j, int64_t k, double *x, double *y, double *scale);
    double error;  // of one product, relative
} Kernel;

static size_t groups(int32_t k)
{
    return ((size_t)k + GROUP - 1) / GROUP;
}

static Product int8_product(Example *ex, const int32_t shape[3])
{
    Product p = { .device = ex->device, .m = shape[0], .n = shape[1], .k = shape[2] };
    p.a = example_input(ex, NEWT_I8, (size_t)p.m * (size_t)p.k, 0);
    p.b = example_input(ex, NEWT_I8, (size_t)p.n * (size_t)p.k, 0);
    p.a_scale = example_input(ex, NEWT_F32, (size_t)p.m, 0);
    p.b_scale = example_input(ex, NEWT_F32, (size_t)p.n, 0);
    for (size_t i = 0; i < p.a_scale.count; i++)
        ((float *)p.a_scale.values)[i] *= 0x1p-8f;  // so that results stay within fp16
    example_send(ex, &p.a_scale);
    p.c = example_output(ex, NEWT_F16, (size_t)p.m * (size_t)p.n, 0);
    return p;
}

static void int8_factors(const Product *p, int64_t i, int64_t j, int64_t k, double *x, double *y, double *scale)
{
    *x = example_at(&p->a, (size_t)(i * p->k + k));
    *y = example_at(&p->b, (size_t)(j * p->k + k));
    *scale = example_at(&p->a_scale, (size_t)i) * example_at(&p->b_scale, (size_t)j);
}

static NewtStatus launch_int8(void *user)
{
    const Product *p = user;
    return matmul_int8(p->device, NULL, p->a.buffer.at, p->b.buffer.at, p->a_scale.buffer.at, p->b_scale.buffer.at,
                       p->c.buffer.at, p->m, p->n, p->k);
}

/// Random bytes are random weights; the rows behind k of the last group are there too, and count for nothing.
static Product int4_product(Example *ex, const int32_t shape[3])
{
    Product p = { .device = ex->device, .m = shape[0], .n = shape[1], .k = shape[2] };
    p.a = example_input(ex, NEWT_F16, (size_t)p.m * (size_t)p.k, 0);
    p.b = example_input(ex, NEWT_U8, groups(p.k) * GROUP / 2 * (size_t)p.n, 0);
    p.a_scale = example_input(ex, NEWT_F32, 0, 0);
    p.b_scale = example_input(ex, NEWT_F16, groups(p.k) * (size_t)p.n, 0);
    p.c = example_output(ex, NEWT_F16, (size_t)p.m * (size_t)p.n, 0);
    return p;
}

static void int4_factors(const Product *p, int64_t i, int64_t j, int64_t k, double *x, double *y, double *scale)
{
    const int64_t group = k / GROUP, within = k % GROUP;
    const int64_t row = group * (GROUP / 2) + within % (GROUP / 2);
    const int byte = ((const uint8_t *)p->b.values)[row * p->n + j];
    *x = example_at(&p->a, (size_t)(i * p->k + k));
    *y = ((within < GROUP / 2 ? byte & 15 : byte >> 4) - 8) * example_at(&p->b_scale, (size_t)(group * p->n + j));
    *scale = 1;
}

static NewtStatus launch_int4(void *user)
{
    const Product *p = user;
    return matmul_int4(p->device, NULL, p->a.buffer.at, p->b.buffer.at, p->b_scale.buffer.at, p->c.buffer.at, p->m, p->n,
                       p->k);
}

static const Kernel kernels[] = {
    { "int8", launch_int8, int8_product, int8_factors, 0x1p-24 },
    { "int4 weights", launch_int4, int4_product, int4_factors, 0x1p-11 },  // a weight is rounded to fp16
};

static void product_free(Example *ex, Product *p)
{
    example_drop(ex, &p->a);
    example_drop(ex, &p->b);
    example_drop(ex, &p->a_scale);
    example_drop(ex, &p->b_scale);
    example_drop(ex, &p->c);
}

static void check_element(const Product *p, const Kernel *kernel, int64_t i, int64_t j)
{
    Sum sum = { 0, 0 };
    double x, y, scale = 1;
    for (int64_t k = 0; k < p->k; k++) {
        kernel->factors(p, i, j, k, &x, &y, &scale);
        example_add(&sum, x, y);
    }
    // An exact sum is off only by the roundings of the scales' products.
    double slack = kernel->factors == int8_factors ? fabs(sum.value) * 0x1p-21 : example_slack(&sum, kernel->error);
    double want = sum.value * scale;
    slack = slack * fabs(scale) + fabs(want) * 2 * example_rounding(NEWT_F16) + 0x1p-24;
    example_expect(example_at(&p->c, (size_t)(i * p->n + j)), want, slack, kernel->name, (size_t)(i * p->n + j));
}

static void check(Example *ex, const Kernel *kernel, const int32_t shape[3])
{
    Product p = kernel->product(ex, shape);
    const int64_t elements = (int64_t)p.m * p.n;
    example_ok(kernel->launch(&p), kernel->name);
    example_fetch(ex, &p.c);
    if (elements * p.k < 1 << 24) {
        for (int64_t i = 0; i < elements; i++)
            check_element(&p, kernel, i / p.n, i % p.n);
    } else {
        for (int s = 0; s < SAMPLES; s++) {
            example_uniform(ex);
            const int64_t at = (int64_t)((ex->random >> 8) % (uint64_t)elements);
            check_element(&p, kernel, at / p.n, at % p.n);
        }
    }
    product_free(ex, &p);
}

int main(int argc, char **argv)
{
    static const int32_t shapes[][3] = {
        { 1, 1, 1 },     { 16, 16, 128 }, { 17, 33, 65 },       { 5, 130, 0 },        { 130, 140, 200 },
        { 64, 256, 600 }, { 500, 999, 777 }, { 1024, 1024, 1024 },
    };
    Example ex = example_open(argc, argv);
    const int small = ex.quick || example_is_host(&ex);
    const size_t count = sizeof shapes / sizeof *shapes - (small ? 2 : 0);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        for (size_t s = 0; s < count; s++)
            check(&ex, &kernels[k], shapes[s]);
        const int32_t side = example_is_host(&ex) ? 64 : ex.quick ? 256 : 4096, shape[3] = { side, side, side };
        Product p = kernels[k].product(&ex, shape);
        example_rate(&ex, kernels[k].launch, &p, 2.0 * side * side * side, kernels[k].name);
        product_free(&ex, &p);
    }
    return example_close(&ex);
}
