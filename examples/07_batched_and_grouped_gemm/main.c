/// Batches and groups of matrix products, each compared with double precision.
#include "array.h"
#include "gemm.h"

enum { SAMPLES = 500, MOST_GROUPS = 64, PROGRAMS = 132, SIDE = 512, BATCH = 64 };

/// One product of a group or batch: where its matrices begin in the arrays.
typedef struct Product {
    const Array *a, *b, *c;
    size_t a_at, b_at, c_at;
    int32_t m, n, k;
} Product;

static void check_element(const Product *p, int64_t i, int64_t j, const char *what)
{
    Sum sum = { 0, 0 };
    for (int64_t k = 0; k < p->k; k++)
        example_add(&sum, example_at(p->a, p->a_at + (size_t)(i * p->k + k)),
                    example_at(p->b, p->b_at + (size_t)(k * p->n + j)));
    double slack = example_slack(&sum, 0) + fabs(sum.value) * 2 * example_rounding(NEWT_F16) + 0x1p-20;
    size_t at = (size_t)(i * p->n + j);
    example_expect(example_at(p->c, p->c_at + at), sum.value, slack, what, at);
}

static void check_product(Example *ex, const Product *p, const char *what)
{
    const int64_t elements = (int64_t)p->m * p->n;
    if (elements * p->k < 1 << 22) {
        for (int64_t i = 0; i < elements; i++)
            check_element(p, i / p->n, i % p->n, what);
        return;
    }
    for (int s = 0; s < SAMPLES; s++) {
        example_uniform(ex);
        const int64_t at = (int64_t)((ex->random >> 8) % (uint64_t)elements);
        check_element(p, at / p->n, at % p->n, what);
    }
}

// ---- a batch ---------------------------------------------------------------------------------------------------

typedef struct Batch {
    NewtDevice *device;
    Array a, b, c;
    int32_t m, n, k, count;
    int64_t next_a, next_b, next_c;
} Batch;

static NewtStatus launch_batch(void *user)
{
    const Batch *x = user;
    return matmul_batched(x->device, NULL, x->a.buffer.at, x->b.buffer.at, x->c.buffer.at, x->m, x->n, x->k, x->count,
                          x->next_a, x->next_b, x->next_c);
}

static Batch batch_new(Example *ex, const int32_t shape[4], int is_shared)
{
    Batch x = { .device = ex->device, .m = shape[0], .n = shape[1], .k = shape[2], .count = shape[3] };
    x.next_a = (int64_t)x.m * x.k;
    x.next_b = is_shared ? 0 : (int64_t)x.k * x.n;
    x.next_c = (int64_t)x.m * x.n;
    x.a = example_input(ex, NEWT_F16, (size_t)(x.next_a * x.count), 0);
    x.b = example_input(ex, NEWT_F16, (size_t)((int64_t)x.k * x.n * (is_shared ? 1 : x.count)), 0);
    x.c = example_output(ex, NEWT_F16, (size_t)(x.next_c * x.count), 0);
    return x;
}

static void batch_free(Example *ex, Batch *x)
{
    example_drop(ex, &x->a);
    example_drop(ex, &x->b);
    example_drop(ex, &x->c);
}

static void check_batch(Example *ex, const int32_t shape[4], int is_shared)
{
    Batch x = batch_new(ex, shape, is_shared);
    example_ok(launch_batch(&x), "matmul_batched");
    example_fetch(ex, &x.c);
    for (int64_t i = 0; i < x.count; i++) {
        const Product p = { &x.a, &x.b, &x.c, (size_t)(i * x.next_a), (size_t)(i * x.next_b), (size_t)(i * x.next_c),
                            x.m,  x.n,  x.k };
        check_product(ex, &p, "matmul_batched");
    }
    batch_free(ex, &x);
}

// ---- a group ---------------------------------------------------------------------------------------------------

/// All factors stand in one array, all results in another, one after another at multiples of 8 elements.
typedef struct Group {
    NewtDevice *device;
    Array factors, results;
    Buffer a, b, c, sizes;  // device: addresses, and m, n, k of each
    Product products[MOST_GROUPS];
    int32_t count;
} Group;

static NewtStatus launch_group(void *user)
{
    const Group *x = user;
    return matmul_grouped(x->device, NULL, x->a.at, x->b.at, x->c.at, x->sizes.at, x->count, PROGRAMS);
}

static size_t take(size_t *used, int64_t count)
{
    size_t at = *used;
    *used += ((size_t)count + 7) / 8 * 8;
    return at;
}

/// Sizes of a product: random ones, some of them empty; in the timed group up to `most`.
static Group *group_new(Example *ex, int32_t count, int32_t most)
{
    Group *x = example_memory(sizeof *x);
    int32_t sizes[MOST_GROUPS][3];
    int64_t at[3][MOST_GROUPS];
    size_t factors = 0, results = 0;
    *x = (Group){ .device = ex->device, .count = count };
    for (int32_t g = 0; g < count; g++) {
        for (int side = 0; side < 3; side++)
            sizes[g][side] = (int32_t)(fabs((double)example_uniform(ex)) * most);
        Product p = { .m = sizes[g][0], .n = sizes[g][1], .k = sizes[g][2] };
        p.a_at = take(&factors, (int64_t)p.m * p.k);
        p.b_at = take(&factors, (int64_t)p.k * p.n);
        p.c_at = take(&results, (int64_t)p.m * p.n);
        x->products[g] = p;
    }
    x->factors = example_input(ex, NEWT_F16, factors, 0);
    x->results = example_output(ex, NEWT_F16, results, 0);
    for (int32_t g = 0; g < count; g++) {
        Product *p = &x->products[g];
        p->a = p->b = &x->factors;
        p->c = &x->results;
        at[0][g] = (int64_t)(uintptr_t)x->factors.buffer.at + 2 * (int64_t)p->a_at;
        at[1][g] = (int64_t)(uintptr_t)x->factors.buffer.at + 2 * (int64_t)p->b_at;
        at[2][g] = (int64_t)(uintptr_t)x->results.buffer.at + 2 * (int64_t)p->c_at;
    }
    x->a = example_put(ex, at[0], (size_t)count * sizeof(int64_t), 0);
    x->b = example_put(ex, at[1], (size_t)count * sizeof(int64_t), 0);
    x->c = example_put(ex, at[2], (size_t)count * sizeof(int64_t), 0);
    x->sizes = example_put(ex, sizes, (size_t)count * sizeof sizes[0], 0);
    return x;
}

static void group_free(Example *ex, Group *x)
{
    example_drop(ex, &x->factors);
    example_drop(ex, &x->results);
    example_free(ex, &x->a);
    example_free(ex, &x->b);
    example_free(ex, &x->c);
    example_free(ex, &x->sizes);
    free(x);
}

static void check_group(Example *ex, int32_t count, int32_t most)
{
    Group *x = group_new(ex, count, most);
    example_ok(launch_group(x), "matmul_grouped");
    example_fetch(ex, &x->results);
    for (int32_t g = 0; g < count; g++)
        check_product(ex, &x->products[g], "matmul_grouped");
    group_free(ex, x);
}

int main(int argc, char **argv)
{
    static const int32_t shapes[][4] = {
        { 1, 1, 1, 1 }, { 16, 16, 16, 3 }, { 17, 33, 65, 5 }, { 130, 40, 0, 2 }, { 128, 130, 72, 4 }, { 300, 200, 500, 20 },
    };
    Example ex = example_open(argc, argv);
    const int small = ex.quick || example_is_host(&ex);
    const size_t count = sizeof shapes / sizeof *shapes - (small ? 1 : 0);
    for (size_t s = 0; s < count; s++) {
        check_batch(&ex, shapes[s], 0);
        check_batch(&ex, shapes[s], 1);
    }
    check_group(&ex, 1, 50);
    check_group(&ex, 7, 150);
    check_group(&ex, MOST_GROUPS, small ? 40 : 700);

    const int32_t side = example_is_host(&ex) ? 64 : SIDE, timed[4] = { side, side, side, small ? 2 : BATCH };
    Batch batch = batch_new(&ex, timed, 0);
    example_rate(&ex, launch_batch, &batch, 2.0 * side * side * side * timed[3], "fp16, a batch");
    batch_free(&ex, &batch);
    Group *group = group_new(&ex, small ? 2 : MOST_GROUPS, example_is_host(&ex) ? 64 : 2 * SIDE);
    double operations = 0;
    for (int32_t g = 0; g < group->count; g++)
        operations += 2.0 * group->products[g].m * group->products[g].n * group->products[g].k;
    example_rate(&ex, launch_group, group, operations, "fp16, a group");
    group_free(&ex, group);
    return example_close(&ex);
}
