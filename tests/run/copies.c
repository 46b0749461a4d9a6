// Matrix products whose tiles one thread may copy, against sums in long double: sizes that the
// conditions of such copies allow and others, one tile to many, no iteration at all.
#include "product.h"

typedef NewtStatus Moved(NewtDevice *device, const void *a, const void *b, void *c, int32_t m,
                         int32_t n, int32_t k, int32_t lda, int32_t ldb, int32_t ldc);
typedef NewtStatus Anew(NewtDevice *device, const void *a, const void *b, void *c, int32_t m,
                        int32_t n, int32_t k, int32_t lda, int32_t ldb, int32_t ldc,
                        int32_t batches);
typedef NewtStatus Twice(NewtDevice *device, const void *a, const void *b, const void *c, void *out,
                         int32_t m, int32_t heads);
#define MOVED(name)                                                                          \
    static NewtStatus name(NewtDevice *device, const void *a, const void *b, void *c,        \
                           int32_t m, int32_t n, int32_t k, int32_t lda, int32_t ldb,        \
                           int32_t ldc)                                                      \
    {                                                                                        \
        return K(name)(device, NULL, a, b, c, m, n, k, lda, ldb, ldc);                       \
    }
#define ANEW(name)                                                                           \
    static NewtStatus name(NewtDevice *device, const void *a, const void *b, void *c,        \
                           int32_t m, int32_t n, int32_t k, int32_t lda, int32_t ldb,        \
                           int32_t ldc, int32_t batches)                                     \
    {                                                                                        \
        return K(name)(device, NULL, a, b, c, m, n, k, lda, ldb, ldc, batches);              \
    }
#define TWICE(name)                                                                          \
    static NewtStatus name(NewtDevice *device, const void *a, const void *b, const void *c,  \
                           void *out, int32_t m, int32_t heads)                              \
    {                                                                                        \
        return K(name)(device, NULL, a, b, c, out, m, heads);                                \
    }
MOVED(moved_f16)
MOVED(moved_f16_wide)
MOVED(moved_f16_pairs)
MOVED(moved_bf16)
MOVED(moved_tf32)
MOVED(paired_f16)
MOVED(paired_bf16)
ANEW(anew_f16)
ANEW(anew_f16_left)
ANEW(anew_bf16_right)
ANEW(anew_bf16_pairs)
ANEW(anew_e4m3)
TWICE(twice_f16)
TWICE(twice_bf16)
TWICE(online_d64)
TWICE(online_d128)

/// Rows, columns and depth: one tile, parts of one, several, none in depth.
static const int32_t shapes[][3] = { { 64, 64, 64 },  { 8, 16, 16 },   { 200, 136, 104 },
                                     { 256, 192, 0 }, { 72, 328, 240 }, { 61, 77, 83 } };
enum { SHAPE_COUNT = sizeof shapes / sizeof *shapes };

static int32_t padded(int32_t count)
{
    return (count + 15) / 16 * 16;
}

/// The sum is in fp32, rounded once to the result's type; nothing is written behind a row.
static void check_rows(const Product *p, NewtType type, const void *a, const void *b,
                       const unsigned char *c, int32_t ldc, const char *name)
{
    const Num ulp = type == NEWT_F16 ? 0x1p-11L : type == NEWT_BF16 ? 0x1p-8L : 0;
    for (int32_t r = 0; r < p->m; r++) {
        const unsigned char *row = c + (size_t)r * (size_t)ldc * num_size(type);
        for (int32_t i = 0; i < p->n; i++) {
            Num slack;
            const Num want = product_element(p, a, b, r, i, 0, &slack);
            const Num got = num_get(type, row, (size_t)i), off = got > want ? got - want : want - got;
            const Num most = slack + ulp * (want < 0 ? -want : want) + (ulp > 0 ? 0x1p-24L : 0);
            if (!(off <= most))
                fail_msg("%s: element (%d, %d) of %d x %d x %d is %.10Lg, should be %.10Lg", name,
                         (int)r, (int)i, (int)p->m, (int)p->n, (int)p->k, got, want);
        }
        for (size_t k = (size_t)p->n * num_size(type); k < (size_t)ldc * num_size(type); k++)
            assert_int_equal(row[k], 0xFF);
    }
}

static void launch_product(RunCx *cx, Product p, NewtType type, Moved *moved, Anew *anew,
                           int32_t batches, const char *name)
{
    const int32_t lda = p.a_row == 1 ? p.a_col : p.a_row, ldb = p.b_row == 1 ? p.b_col : p.b_row;
    const int32_t ldc = padded(p.n), lines_a = p.a_row == 1 ? p.k : p.m,
                  lines_b = p.b_row == 1 ? p.n : p.k;
    const size_t a_bytes = (size_t)lda * (size_t)(lines_a * batches) * num_size(p.a);
    const size_t b_bytes = (size_t)ldb * (size_t)(lines_b * batches) * num_size(p.b);
    const size_t c_bytes = (size_t)ldc * (size_t)(p.m * batches) * num_size(type);
    unsigned char *a = run_temp(cx, a_bytes + 1), *b = run_temp(cx, b_bytes + 1);
    unsigned char *c = run_temp(cx, c_bytes);
    void *dc = RUN_OUT(cx, c_bytes);
    product_fill(cx, p.a, a, a_bytes / num_size(p.a));
    product_fill(cx, p.b, b, b_bytes / num_size(p.b));
    const void *da = run_buffer(cx, a, a_bytes, 0), *db = run_buffer(cx, b, b_bytes, 0);
    if (moved)
        RUN_OK(moved(cx->device, da, db, dc, p.m, p.n, p.k, lda, ldb, ldc));
    else
        RUN_OK(anew(cx->device, da, db, dc, p.m, p.n, p.k, lda, ldb, ldc, batches));
    run_get(cx, dc, c);
    for (int32_t i = 0; i < batches; i++)
        check_rows(&p, type, a + a_bytes / (size_t)batches * (size_t)i,
                   b + b_bytes / (size_t)batches * (size_t)i, c + c_bytes / (size_t)batches * (size_t)i,
                   ldc, name);
}

static void run_product(RunCx *cx, NewtType t, NewtType c, bool turn_a, bool turn_b, Moved *moved,
                        Anew *anew, const char *name)
{
    for (int i = 0; i < SHAPE_COUNT; i++) {
        Product p = { t, t, NEWT_F32, t == NEWT_F32, shapes[i][0], shapes[i][1], shapes[i][2], 1, 1, 1, 1, 0, 0 };
        *(turn_a ? &p.a_col : &p.a_row) = padded(turn_a ? p.m : p.k);
        *(turn_b ? &p.b_col : &p.b_row) = padded(turn_b ? p.k : p.n);
        launch_product(cx, p, c, moved, anew, anew ? 1 + i % 2 : 1, name);
        run_release(cx);
    }
}

static void pointers_moved(RunCx *cx)
{
    run_product(cx, NEWT_F16, NEWT_F16, false, false, moved_f16, NULL, "fp16");
    run_product(cx, NEWT_F16, NEWT_F16, false, false, moved_f16_wide, NULL, "fp16, 64x128");
    run_product(cx, NEWT_BF16, NEWT_BF16, false, false, moved_bf16, NULL, "bf16");
    run_product(cx, NEWT_F32, NEWT_F32, false, false, moved_tf32, NULL, "tf32");
}

/// Of blocks in pairs, which copy tiles that both need once; odd numbers of programs too.
static void blocks_in_pairs(RunCx *cx)
{
    run_product(cx, NEWT_F16, NEWT_F16, false, false, moved_f16_pairs, NULL, "fp16");
    run_product(cx, NEWT_BF16, NEWT_BF16, true, true, NULL, anew_bf16_pairs, "bf16, by columns");
}

static void sums_side_by_side(RunCx *cx)
{
    run_product(cx, NEWT_F16, NEWT_F16, false, false, paired_f16, NULL, "fp16, 64x192");
    run_product(cx, NEWT_BF16, NEWT_BF16, false, false, paired_bf16, NULL, "bf16, 64x128");
}

static void offsets_anew(RunCx *cx)
{
    run_product(cx, NEWT_F16, NEWT_F16, false, false, NULL, anew_f16, "fp16");
    run_product(cx, NEWT_F16, NEWT_F32, true, false, NULL, anew_f16_left, "fp16, A by columns");
    run_product(cx, NEWT_BF16, NEWT_BF16, false, true, NULL, anew_bf16_right, "bf16, B by columns");
    run_product(cx, NEWT_F8E4M3, NEWT_F16, false, true, NULL, anew_e4m3, "e4m3, B by columns");
}

/// Small integers, so that all sums are exact.
static void run_twice(RunCx *cx, NewtType t, Twice *launch, int32_t m)
{
    enum { D = 64, HEADS = 2 };
    const size_t count = (size_t)(HEADS * m * D), bytes = count * num_size(t);
    void *a = run_temp(cx, bytes), *b = run_temp(cx, bytes), *c = run_temp(cx, bytes);
    float *out = run_temp(cx, count * sizeof *out);
    for (size_t i = 0; i < count; i++) {
        num_put(t, a, i, i % 5 == 0 ? (Num)run_between(cx, -1, 1) : 0);
        num_put(t, b, i, (Num)run_between(cx, -1, 1));
        num_put(t, c, i, (Num)run_between(cx, -2, 2));
    }
    void *dout = RUN_OUT(cx, count * sizeof *out);
    RUN_OK(launch(cx->device, run_buffer(cx, a, bytes, 0), run_buffer(cx, b, bytes, 0),
                  run_buffer(cx, c, bytes, 0), dout, m, HEADS));
    run_get(cx, dout, out);
    for (int32_t row = 0; row < HEADS * m; row++) {
        const int32_t head = row / m * m;
        Num want[D] = { 0 };
        for (int32_t n = head; n <= row; n++) {
            Num s = 0;
            for (int32_t d = 0; d < D; d++)
                s += num_get(t, a, (size_t)(row * D + d)) * num_get(t, b, (size_t)(n * D + d));
            s = (s > 0 ? s : 0) + 1;
            for (int32_t d = 0; d < D; d++)
                want[d] += s * num_get(t, c, (size_t)(n * D + d));
        }
        for (int32_t d = 0; d < D; d++)
            assert_true((Num)out[row * D + d] == want[d]);
    }
}

static void two_products(RunCx *cx)
{
    static const int32_t sizes[] = { 64, 8, 200, 61 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        run_twice(cx, NEWT_F16, twice_f16, sizes[i]);
        run_twice(cx, NEWT_BF16, twice_bf16, sizes[i]);
        run_release(cx);
    }
}

/// Scores of some units where 16 rows stand together, none among the next 16, so that some warps have
/// sums to scale and others have not.
static void run_attend(RunCx *cx, Twice *launch, int32_t m, int32_t d_count)
{
    enum { HEADS = 2, D_MAX = 128 };
    const size_t count = (size_t)(HEADS * m * d_count), bytes = count * sizeof(uint16_t);
    const Num spread = d_count == 64 ? 2 : 1.5L;
    void *q = run_temp(cx, bytes), *k = run_temp(cx, bytes), *v = run_temp(cx, bytes);
    float *out = run_temp(cx, count * sizeof *out);
    for (size_t i = 0; i < count; i++) {
        const bool is_flat = i / (size_t)d_count % (size_t)m / 16 % 2 == 1;
        num_put(NEWT_F16, q, i, is_flat ? 0 : spread * (Num)run_uniform(cx));
        num_put(NEWT_F16, k, i, spread * (Num)run_uniform(cx));
        num_put(NEWT_F16, v, i, (Num)run_uniform(cx));
    }
    void *dout = RUN_OUT(cx, count * sizeof *out);
    RUN_OK(launch(cx->device, run_buffer(cx, q, bytes, 0), run_buffer(cx, k, bytes, 0),
                  run_buffer(cx, v, bytes, 0), dout, m, HEADS));
    run_get(cx, dout, out);
    for (int32_t row = 0; row < HEADS * m; row++) {
        const int32_t head = row / m * m;
        Num want[D_MAX] = { 0 }, sum = 0;
        for (int32_t n = head; n < head + m; n++) {
            Num s = 0;
            for (int32_t d = 0; d < d_count; d++)
                s += num_get(NEWT_F16, q, (size_t)(row * d_count + d)) *
                     num_get(NEWT_F16, k, (size_t)(n * d_count + d));
            const Num p = exp2l(s);
            sum += p;
            for (int32_t d = 0; d < d_count; d++)
                want[d] += p * num_get(NEWT_F16, v, (size_t)(n * d_count + d));
        }
        for (int32_t d = 0; d < d_count; d++)
            run_near((double)out[row * d_count + d], (double)(want[d] / sum), 1e-3,
                     (size_t)(row * d_count + d));
    }
}

static void online_softmax(RunCx *cx)
{
    static const int32_t sizes[] = { 64, 8, 200, 61 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        run_attend(cx, online_d64, sizes[i], 64);
        run_attend(cx, online_d128, sizes[i], 128);
        run_release(cx);
    }
}

RUN_TESTS = { { "pointers_moved", pointers_moved },
              { "blocks_in_pairs", blocks_in_pairs },
              { "sums_side_by_side", sums_side_by_side },
              { "offsets_anew", offsets_anew },
              { "two_products", two_products },
              { "online_softmax", online_softmax },
              RUN_END };
