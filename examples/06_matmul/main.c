/// Matrix products of 16-bit, tf32 and 8-bit factors with a bias and an activation. Small results are compared with
/// double precision in full, large ones at random places.
#include "array.h"
#include "matmul.h"

enum { SAMPLES = 3000, PADDING = 8, SCALE_PERCENT = 50 };

typedef enum { PLAIN, RELU, GELU } Activation;

typedef struct Product {
    Array a, b, bias, c;
    int32_t m, n, k;
    int64_t lda, ldb, ldc;
    NewtDevice *device;
} Product;

/// One of the C functions that matmul.newt gives, and what it computes.
typedef struct Kernel {
    const char *name;
    NewtStatus (*launch)(void *product);
    NewtType factor, result;
    Activation activation;
    int transposed;  // B is [n, k]
    double scale;
    double error;  // of one product, relative
} Kernel;

#define LAUNCH(name)                                                                                              \
    static NewtStatus launch_##name(void *user)                                                                   \
    {                                                                                                             \
        const Product *p = user;                                                                                  \
        return name(p->device, NULL, p->a.buffer.at, p->b.buffer.at, p->bias.buffer.at, p->c.buffer.at, p->m,     \
                    p->n, p->k, p->lda, p->ldb, p->ldc);                                                          \
    }
LAUNCH(matmul_fp16_relu)
LAUNCH(matmul_bf16_gelu)
LAUNCH(matmul_tf32)

/// A matrix whose rows lie `stride` elements apart, as a kernel with descriptors takes it.
static NewtTensor matrix(const Array *a, int64_t rows, int64_t columns, int64_t stride)
{
    NewtTensor t = newt_tensor2(a->buffer.at, a->type, rows, columns);
    t.stride[0] = stride;
    return t;
}

static NewtStatus launch_matmul_descriptors(void *user)
{
    const Product *p = user;
    return matmul_descriptors(p->device, NULL, matrix(&p->a, p->m, p->k, p->lda), matrix(&p->b, p->k, p->n, p->ldb),
                              p->bias.buffer.at, matrix(&p->c, p->m, p->n, p->ldc));
}

static NewtStatus launch_matmul_fp8(void *user)
{
    const Product *p = user;
    return matmul_fp8(p->device, NULL, p->a.buffer.at, p->b.buffer.at, p->bias.buffer.at, p->c.buffer.at, p->m, p->n,
                      p->k, p->lda, p->ldb, p->ldc, SCALE_PERCENT / 100.0f);
}

static const Kernel kernels[] = {
    { "fp16, relu", launch_matmul_fp16_relu, NEWT_F16, NEWT_F16, RELU, 0, 1, 0 },
    { "bf16, gelu", launch_matmul_bf16_gelu, NEWT_BF16, NEWT_BF16, GELU, 0, 1, 0 },
    { "tf32", launch_matmul_tf32, NEWT_F32, NEWT_F32, PLAIN, 0, 1, 2 * EXAMPLE_TF32_ERROR },
    { "fp8", launch_matmul_fp8, NEWT_F8E4M3, NEWT_F16, PLAIN, 1, SCALE_PERCENT / 100.0, 0x1p-12 },
    { "fp16 by descriptors, relu", launch_matmul_descriptors, NEWT_F16, NEWT_F16, RELU, 0, 1, 0 },
};

static double activate(double v, Activation activation)
{
    switch (activation) {
    case RELU: return fmax(v, 0);
    case GELU: return 0.5 * v * (1 + erf(v / sqrt(2)));
    case PLAIN: break;
    }
    return v;
}

static Product product_new(Example *ex, const Kernel *kernel, const int32_t shape[3], int padding, size_t shift)
{
    Product p = { .m = shape[0], .n = shape[1], .k = shape[2], .device = ex->device };
    size_t rows_of_b = (size_t)(kernel->transposed ? p.n : p.k);
    p.lda = p.k + padding;
    p.ldb = (kernel->transposed ? p.k : p.n) + padding;
    p.ldc = p.n + padding;
    p.a = example_input(ex, kernel->factor, (size_t)(p.m * p.lda), shift);
    p.b = example_input(ex, kernel->factor, rows_of_b * (size_t)p.ldb, shift);
    p.bias = example_input(ex, NEWT_F32, (size_t)p.n, 0);
    p.c = example_output(ex, kernel->result, (size_t)(p.m * p.ldc), shift);
    return p;
}

static void product_free(Example *ex, Product *p)
{
    example_drop(ex, &p->a);
    example_drop(ex, &p->b);
    example_drop(ex, &p->bias);
    example_drop(ex, &p->c);
}

static void check_element(const Product *p, const Kernel *kernel, int64_t i, int64_t j)
{
    Sum sum = { 0, 0 };
    for (int64_t k = 0; k < p->k; k++)
        example_add(&sum, example_at(&p->a, (size_t)(i * p->lda + k)),
                    example_at(&p->b, (size_t)(kernel->transposed ? j * p->ldb + k : k * p->ldb + j)));
    double slack = 1.2 * example_slack(&sum, kernel->error);  // no activation here is steeper than 1.13
    double want = activate(sum.value * kernel->scale + example_at(&p->bias, (size_t)j), kernel->activation);
    slack += fabs(want) * 2 * example_rounding(kernel->result) + 0x1p-20;
    example_expect(example_at(&p->c, (size_t)(i * p->ldc + j)), want, slack, kernel->name, (size_t)(i * p->n + j));
}

static void check(Example *ex, const Kernel *kernel, const int32_t shape[3], int padding, size_t shift)
{
    Product p = product_new(ex, kernel, shape, padding, shift);
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
    // What lies between the rows of C is not the kernel's.
    for (int64_t i = 0; padding && i < p.m; i++)
        if (!isnan(example_at(&p.c, (size_t)(i * p.ldc + p.n)))) {
            fprintf(stderr, "%s: wrote behind row %lld\n", kernel->name, (long long)i);
            exit(1);
        }
    product_free(ex, &p);
}

int main(int argc, char **argv)
{
    static const int32_t shapes[][3] = {
        { 1, 1, 1 },     { 16, 16, 16 },    { 17, 33, 65 },       { 5, 300, 0 },        { 130, 260, 96 },
        { 200, 64, 40 }, { 1000, 999, 998 }, { 1024, 1024, 1024 }, { 2048, 1500, 3000 },
    };
    Example ex = example_open(argc, argv);
    const int small = ex.quick || example_is_host(&ex);
    const size_t count = sizeof shapes / sizeof *shapes - (small ? 3 : 0);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        for (size_t s = 0; s < count; s++) {
            check(&ex, &kernels[k], shapes[s], 0, 0);
            check(&ex, &kernels[k], shapes[s], s % 2 ? PADDING : 1, s % 3);
        }
        const int32_t side = example_is_host(&ex) ? 64 : ex.quick ? 256 : 4096, shape[3] = { side, side, side };
        Product p = product_new(&ex, &kernels[k], shape, 0, 0);
        example_rate(&ex, kernels[k].launch, &p, 2.0 * side * side * side, kernels[k].name);
        product_free(&ex, &p);
    }
    return example_close(&ex);
}
