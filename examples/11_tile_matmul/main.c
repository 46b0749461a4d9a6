/// A matrix product from a tile kernel: any sizes, any strides. Small results are compared with double precision in
/// full, large ones at random places.
#include "array.h"
#include "tile_matmul.h"

enum { SAMPLES = 3000 };

typedef NewtStatus Launch(NewtDevice *device, NewtStream stream, NewtTensor x, NewtTensor y, NewtTensor bias,
                          NewtTensor out);

typedef struct Product {
    NewtDevice *device;
    Launch *launch;
    Array x, y, bias, out;
    NewtTensor tensors[4];
    int64_t m, n, k;
} Product;

static NewtStatus launch(void *user)
{
    const Product *p = user;
    return p->launch(p->device, NULL, p->tensors[0], p->tensors[1], p->tensors[2], p->tensors[3]);
}

/// A matrix whose rows, or columns when it is transposed, have `padding` elements between them.
static NewtTensor matrix(const Array *a, int64_t rows, int64_t columns, int padding, int transposed)
{
    NewtTensor t = newt_tensor2(a->buffer.at, a->type, rows, columns);
    t.stride[0] = transposed ? 1 : columns + padding;
    t.stride[1] = transposed ? rows + padding : 1;
    return t;
}

static Product product_new(Example *ex, NewtType type, const int64_t shape[3], int padding, int transposed)
{
    Product p = { .device = ex->device, .m = shape[0], .n = shape[1], .k = shape[2] };
    const size_t m = (size_t)(p.m + padding), n = (size_t)(p.n + padding), k = (size_t)(p.k + padding);
    p.launch = type == NEWT_F16 ? tile_matmul_fp16 : tile_matmul_bf16;
    p.x = example_input(ex, type, m * k, 0);
    p.y = example_input(ex, type, k * n, 0);
    p.bias = example_input(ex, NEWT_F32, n, 0);
    p.out = example_output(ex, type, m * n, 0);
    p.tensors[0] = matrix(&p.x, p.m, p.k, padding, 0);
    p.tensors[1] = matrix(&p.y, p.k, p.n, padding, transposed);
    p.tensors[2] = newt_tensor(p.bias.buffer.at, NEWT_F32, 1, &p.n);
    p.tensors[3] = matrix(&p.out, p.m, p.n, padding, 0);
    return p;
}

static void product_free(Example *ex, Product *p)
{
    example_drop(ex, &p->x);
    example_drop(ex, &p->y);
    example_drop(ex, &p->bias);
    example_drop(ex, &p->out);
}

static double element(const Array *a, const NewtTensor *t, int64_t i, int64_t j)
{
    return example_at(a, (size_t)(i * t->stride[0] + j * t->stride[1]));
}

static void check_element(const Product *p, int64_t i, int64_t j)
{
    Sum sum = { 0, 0 };
    for (int64_t k = 0; k < p->k; k++)
        example_add(&sum, element(&p->x, &p->tensors[0], i, k), element(&p->y, &p->tensors[1], k, j));
    const double v = sum.value + example_at(&p->bias, (size_t)j), want = 0.5 * v * (1 + erf(v / sqrt(2)));
    const double slack = 1.2 * example_slack(&sum, 0) + fabs(want) * 2 * example_rounding(p->out.type) + 0x1p-20;
    example_expect(element(&p->out, &p->tensors[3], i, j), want, slack, "matmul", (size_t)(i * p->n + j));
}

static void check(Example *ex, NewtType type, const int64_t shape[3], int padding, int transposed)
{
    Product p = product_new(ex, type, shape, padding, transposed);
    const int64_t elements = p.m * p.n;
    example_ok(launch(&p), "matmul");
    example_fetch(ex, &p.out);
    for (int64_t i = 0; i < elements && elements * p.k < 1 << 24; i++)
        check_element(&p, i / p.n, i % p.n);
    for (int s = 0; s < SAMPLES && elements * p.k >= 1 << 24; s++) {
        example_uniform(ex);
        const int64_t at = (int64_t)((ex->random >> 8) % (uint64_t)elements);
        check_element(&p, at / p.n, at % p.n);
    }
    product_free(ex, &p);
}

/// A call that the kernel cannot take says why.
static void check_refusal(Example *ex)
{
    static const int64_t shape[3] = { 8, 8, 8 };
    Product p = product_new(ex, NEWT_F16, shape, 0, 0);
    p.tensors[1].shape[0] = 7;
    if (launch(&p) != NEWT_BAD_ARGUMENT || !strstr(newt_last_error(), "K differs (x 8, y 7)")) {
        fprintf(stderr, "factors of different sizes were taken\n");
        exit(1);
    }
    product_free(ex, &p);
}

int main(int argc, char **argv)
{
    static const int64_t shapes[][3] = { { 1, 1, 1 },     { 16, 16, 16 },       { 17, 33, 65 },      { 5, 300, 0 },
                                         { 130, 260, 96 }, { 1000, 999, 998 }, { 1024, 1024, 1024 } };
    Example ex = example_open(argc, argv);
    const int small = ex.quick || example_is_host(&ex);
    const size_t count = sizeof shapes / sizeof *shapes - (small ? 2 : 0);
    check_refusal(&ex);
    for (int bf16 = 0; bf16 < 2; bf16++) {
        const NewtType type = bf16 ? NEWT_BF16 : NEWT_F16;
        for (size_t s = 0; s < count; s++)
            for (int way = 0; way < 4; way++)
                check(&ex, type, shapes[s], way & 1 ? 3 : 0, way >> 1);
        const int64_t side = example_is_host(&ex) ? 64 : ex.quick ? 256 : 4096, shape[3] = { side, side, side };
        Product p = product_new(&ex, type, shape, 0, 0);
        example_rate(&ex, launch, &p, 2.0 * (double)(side * side * side), bf16 ? "bf16" : "fp16");
        product_free(&ex, &p);
    }
    return example_close(&ex);
}
