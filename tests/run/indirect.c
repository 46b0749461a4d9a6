// Matrix products of pages and rows that a table names, against sums in long double.
#include "product.h"

typedef NewtStatus Indirect(NewtDevice *device, const void *a, const void *b, const int32_t *table,
                            float *c, int32_t m, int32_t n, int32_t k, int32_t count);
#define INDIRECT(name)                                                                             \
    static NewtStatus name(NewtDevice *device, const void *a, const void *b, const int32_t *table, \
                           float *c, int32_t m, int32_t n, int32_t k, int32_t count)               \
    {                                                                                              \
        return K(name)(device, NULL, a, b, table, c, m, n, k, count);                              \
    }
INDIRECT(paged_f16)
INDIRECT(paged_tf32)
INDIRECT(chained_f16)
INDIRECT(chained_bf16)
INDIRECT(chained_tf32)
INDIRECT(walked_f16)
INDIRECT(walked_tf32)
INDIRECT(gathered)

enum { PAGE = 32, MOST = 80, MOST_PAGES = 9, MOST_COUNT = 12 };

typedef struct IndirectCase {
    Indirect *launch;
    const char *name;
    NewtType type;
    bool tf32, leaves_out;  ///< leaves_out: odd pages
    int page;               ///< rows of B that an entry of the table names
} IndirectCase;

/// What is multiplied in the end: the columns of A and rows of B that the table names, side by
/// side.
typedef struct Picked {
    char *a, *b;
    int32_t k;
} Picked;

static void pick(RunCx *cx, const IndirectCase *t, const Product *p, const int32_t *table,
                 int32_t count, const char *a, const char *b, int32_t k, Picked *out)
{
    const size_t size = num_size(t->type), width = (size_t)(count * t->page);
    out->k = count * t->page;
    out->a = run_temp(cx, width * (size_t)p->m * size + 1);
    out->b = run_temp(cx, width * (size_t)p->n * size + 1);
    for (int32_t i = 0, at = 0; i < count; i++) {
        int32_t page = table[at++];
        if (t->leaves_out && page % 2 == 1)
            page = table[at++];
        for (int32_t j = 0; j < t->page; j++) {
            const size_t from = (size_t)(page * t->page + j), to = (size_t)(i * t->page + j);
            for (size_t m = 0; m < (size_t)p->m; m++)
                memcpy(out->a + (m * width + to) * size, a + (m * (size_t)k + from) * size, size);
            memcpy(out->b + to * (size_t)p->n * size, b + from * (size_t)p->n * size,
                   size * (size_t)p->n);
        }
    }
}

/// `whole`: sizes that let copies move pieces.
static void run_indirect(RunCx *cx, const IndirectCase *t, int32_t count, bool whole)
{
    Product p = { .a = t->type, .b = t->type, .c = NEWT_F32, .tf32 = t->tf32 };
    Picked picked;
    int32_t table[2 * MOST_COUNT * PAGE + 2];
    const int32_t pages = (int32_t)run_between(cx, 1, MOST_PAGES), k = pages * PAGE;
    const int32_t entries = k / t->page, used = t->page == 1 ? count * PAGE - 5 : count;
    p.m = (int32_t)run_between(cx, 1, MOST);
    p.n = (int32_t)run_between(cx, 1, MOST);
    p.n = whole ? (p.n + 7) / 8 * 8 : p.n;
    for (int32_t i = 0; i < 2 * used + 1; i++)
        table[i] = (int32_t)run_between(cx, 0, entries - 1);
    table[2 * used + 1] = -1;
    if (!t->leaves_out)
        table[used < 0 ? 0 : used] = -1;
    const size_t size = num_size(t->type), c_bytes = sizeof(float) * (size_t)(p.m * p.n);
    const size_t a_count = (size_t)(p.m * k), b_count = (size_t)(p.n * k);
    char *a = run_temp(cx, a_count * size), *b = run_temp(cx, b_count * size);
    float *c = run_temp(cx, c_bytes), *dc = RUN_OUT(cx, c_bytes);
    product_fill(cx, t->type, a, a_count);
    product_fill(cx, t->type, b, b_count);
    RUN_OK(t->launch(
        cx->device, run_buffer(cx, a, a_count * size, 0), run_buffer(cx, b, b_count * size, 0),
        run_buffer(cx, table, sizeof *table * (size_t)(2 * used + 2), 0), dc, p.m, p.n, k, used));
    run_get(cx, dc, c);
    pick(cx, t, &p, table, used, a, b, k, &picked);
    p.k = picked.k;
    p.a_row = picked.k;
    p.a_col = 1;
    p.b_row = p.n;
    p.b_col = 1;
    product_check(&p, picked.a, picked.b, c, 0, t->name);
    run_release(cx);
}

static void tables(RunCx *cx)
{
    static const IndirectCase cases[] = {
        { paged_f16, "pages", NEWT_F16, false, false, PAGE },
        { paged_tf32, "pages of fp32", NEWT_F32, true, false, PAGE },
        { chained_f16, "pages that a branch chooses", NEWT_F16, false, true, PAGE },
        { chained_bf16, "bf16 pages that a branch chooses", NEWT_BF16, false, true, PAGE },
        { chained_tf32, "fp32 pages that a branch chooses", NEWT_F32, true, true, PAGE },
        { walked_f16, "a list of pages", NEWT_F16, false, false, PAGE },
        { walked_tf32, "a list of fp32 pages", NEWT_F32, true, false, PAGE },
        { gathered, "rows", NEWT_F16, false, false, 1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int32_t count = 1; count <= 7; count++)  // fewer than stages, as many, more
            run_indirect(cx, &cases[i], count, count % 3 != 0);
}

RUN_TESTS = { { "tables", tables }, RUN_END };
