// Scans against loops in order: sums in 64-bit integers and long doubles, linear functions modulo
// 2^32, whose composition is associative and not commutative.
#include "number.h"

enum { ROWS = 3 };

typedef NewtStatus Line(NewtDevice *device, void *x, void *sums, void *back, void *products);

static NewtType sum_type(NewtType t)
{
    if (num_is_float(t))
        return t == NEWT_BF16 ? NEWT_F32 : t;
    return num_bits(t) >= 32 ? t : num_is_signed(t) ? NEWT_I32 : NEWT_U32;
}

/// Element i as 64 bits, sign-extended.
static uint64_t integer(NewtType t, const void *x, size_t i)
{
    uint64_t out[1] = { 0 };
    num_cast(t, (const char *)x + i * num_size(t), NEWT_I64, out, 0);
    return out[0];
}

static void check_integers(NewtType t, const void *x, size_t n, const void *sums, const void *back,
                           const void *products)
{
    const NewtType s = sum_type(t);
    uint64_t sum = 0, product = 1, all = 0, want = 0;
    for (size_t i = 0; i < n; i++)
        all += integer(t, x, i);
    for (size_t i = 0; i < n; i++) {
        num_put_int(s, &want, 0, all - sum);
        assert_int_equal(num_code(s, back, i), num_code(s, &want, 0));
        sum += integer(t, x, i);
        product *= integer(t, x, i);
        num_put_int(s, &want, 0, sum);
        assert_int_equal(num_code(s, sums, i), num_code(s, &want, 0));
        num_put_int(t, &want, 0, product);
        assert_int_equal(num_code(t, products, i), num_code(t, &want, 0));
    }
}

static void near(NewtType t, const void *got, size_t i, Num want, Num slack, const char *what)
{
    const Num v = num_get(t, got, i);
    if (!(fabsl(v - want) <= slack || (isnan(v) && isnan(want))))
        fail_msg("%s %zu is %.21Lg, should be %.21Lg within %.3Lg", what, i, v, want, slack);
}

/// A tree of n sums is off by at most log2(n) roundings of the sum of sizes, and one to the result.
static void check_floats(NewtType t, const void *x, size_t n, const void *sums, const void *back,
                         const void *products)
{
    const NewtType s = sum_type(t);
    const Num unit = t == NEWT_F64 ? 0x1p-53L : 0x1p-24L;
    Num sum = 0, product = 1, all = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        all += num_get(t, x, i);
        size += fabsl(num_get(t, x, i));
    }
    for (size_t i = 0; i < n; i++) {
        near(s, back, i, all - sum, 16 * unit * size + num_ulp(s, all - sum) / 2, "sum from the end");
        sum += num_get(t, x, i);
        product *= num_get(t, x, i);
        near(s, sums, i, sum, 16 * unit * size + num_ulp(s, sum) / 2, "sum");
        near(s, products, i, product, 2 * (Num)(i + 1) * unit * fabsl(product) + num_ulp(s, product) / 2,
             "product");
    }
}

static void run_line(RunCx *cx, NewtType t, size_t n, Line *launch)
{
    const NewtType s = sum_type(t), p = num_is_float(t) ? s : t;
    const size_t count = ROWS * n;
    void *x = run_temp(cx, num_size(t) * count), *sums = run_temp(cx, num_size(s) * count);
    void *back = run_temp(cx, num_size(s) * count), *products = run_temp(cx, num_size(p) * count);
    for (size_t i = 0; i < count; i++) {
        if (num_is_float(t))  // near 1, of both signs: products stay where numbers are dense
            num_put(t, x, i, (run_random(cx) % 2 ? 1 : -1) * (1 + (Num)run_between(cx, -4, 4) / 256));
        else
            num_put_int(t, x, i, run_random(cx) | 1);
    }
    void *ds = RUN_OUT(cx, num_size(s) * count), *db = RUN_OUT(cx, num_size(s) * count),
         *dp = RUN_OUT(cx, num_size(p) * count);
    RUN_OK(launch(cx->device, run_buffer(cx, x, num_size(t) * count, 0), ds, db, dp));
    run_get(cx, ds, sums);
    run_get(cx, db, back);
    run_get(cx, dp, products);
    for (size_t row = 0; row < ROWS; row++) {
        const char *a = (char *)x + row * n * num_size(t), *b = (char *)sums + row * n * num_size(s),
                   *c = (char *)back + row * n * num_size(s),
                   *d = (char *)products + row * n * num_size(p);
        if (num_is_float(t))
            check_floats(t, a, n, b, c, d);
        else
            check_integers(t, a, n, b, c, d);
    }
    run_release(cx);
}

#define LINE(name)                                                                                   \
    static NewtStatus line_##name(NewtDevice *device, void *x, void *sums, void *back, void *products) \
    {                                                                                                \
        return K(scan_##name)(device, NULL, x, sums, back, products, ROWS);                          \
    }
LINE(1)
LINE(2)
LINE(16)
LINE(128)
LINE(2048)
LINE(i8)
LINE(i16)
LINE(i32)
LINE(i64)
LINE(u8)
LINE(u16)
LINE(u32)
LINE(u64)
LINE(f16)
LINE(bf16)
LINE(f32)
LINE(f64)

static void sizes(RunCx *cx)
{
    static Line *const lines[] = { line_1, line_2, line_16, line_128, line_2048 };
    static const size_t n[] = { 1, 2, 16, 128, 2048 };
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
        run_line(cx, NEWT_F32, n[i], lines[i]);
}

static void types(RunCx *cx)
{
    run_line(cx, NEWT_I8, 512, line_i8);
    run_line(cx, NEWT_I16, 512, line_i16);
    run_line(cx, NEWT_I32, 512, line_i32);
    run_line(cx, NEWT_I64, 512, line_i64);
    run_line(cx, NEWT_U8, 512, line_u8);
    run_line(cx, NEWT_U16, 512, line_u16);
    run_line(cx, NEWT_U32, 512, line_u32);
    run_line(cx, NEWT_U64, 512, line_u64);
    run_line(cx, NEWT_F16, 512, line_f16);
    run_line(cx, NEWT_BF16, 512, line_bf16);
    run_line(cx, NEWT_F32, 512, line_f32);
    run_line(cx, NEWT_F64, 512, line_f64);
}

/* ---- functions, two axes ---- */

typedef struct Linear {
    uint32_t a, b;
} Linear;

/// The one, and then the other.
static Linear then(Linear first, Linear second)
{
    return (Linear){ second.a * first.a, second.a * first.b + second.b };
}

/// The scan of `count` elements that are `step` apart, from x on, into `out`; gives the last one.
static Linear scan(const Linear *x, size_t count, ptrdiff_t step, uint32_t *out)
{
    Linear sum = x[0];
    for (size_t i = 0; i < count; i++) {
        sum = i ? then(sum, x[(ptrdiff_t)i * step]) : sum;
        if (out)
            out[(ptrdiff_t)i * step] = sum.a ^ sum.b;
    }
    return sum;
}

typedef NewtStatus Grid(NewtDevice *device, void *a, void *b, void *out, void *by_row,
                        void *by_column, void *whole);

static void check_scans(const Linear *x, size_t rows, size_t cols, const uint32_t *got, uint32_t *want)
{
    const size_t n = rows * cols;
    for (size_t c = 0; c < cols; c++) {
        scan(x + c, rows, (ptrdiff_t)cols, want + c);
        scan(x + n - cols + c, rows, -(ptrdiff_t)cols, want + 2 * n + n - cols + c);
    }
    for (size_t r = 0; r < rows; r++) {
        scan(x + r * cols, cols, 1, want + n + r * cols);
        scan(x + (r + 1) * cols - 1, cols, -1, want + 3 * n + (r + 1) * cols - 1);
    }
    for (size_t i = 0; i < n; i++) {
        const size_t mirrored = n - 1 - i;
        want[4 * n + i] = x[i].b + (i >= cols ? want[4 * n + i - cols] : 0);
        want[5 * n + mirrored] = x[mirrored].b + (i % cols ? want[5 * n + mirrored + 1] : 0);
    }
    for (size_t i = 0; i < 6 * n; i++)
        if (got[i] != want[i])
            fail_msg("scan %zu of %zu x %zu: element %zu is %u, should be %u", i / n, rows, cols, i % n,
                     got[i], want[i]);
}

static void run_grid(RunCx *cx, size_t rows, size_t cols, Grid *launch)
{
    const size_t n = rows * cols;
    uint32_t *a = run_temp(cx, 4 * n), *b = run_temp(cx, 4 * n), *out = run_temp(cx, 24 * n),
             *want = run_temp(cx, 24 * n), *by_row = run_temp(cx, 4 * rows),
             *by_column = run_temp(cx, 4 * cols), whole;
    Linear *x = run_temp(cx, sizeof *x * n);
    for (size_t i = 0; i < n; i++) {
        a[i] = x[i].a = (uint32_t)run_random(cx) | 1;
        b[i] = x[i].b = (uint32_t)run_random(cx);
    }
    void *dout = RUN_OUT(cx, 24 * n), *dr = RUN_OUT(cx, 4 * rows), *dc = RUN_OUT(cx, 4 * cols),
         *dw = RUN_OUT(cx, 4);
    RUN_OK(launch(cx->device, run_buffer(cx, a, 4 * n, 0), run_buffer(cx, b, 4 * n, 0), dout, dr, dc, dw));
    run_get(cx, dout, out);
    run_get(cx, dr, by_row);
    run_get(cx, dc, by_column);
    run_get(cx, dw, &whole);
    check_scans(x, rows, cols, out, want);
    for (size_t r = 0; r < rows; r++) {
        const Linear sum = scan(x + r * cols, cols, 1, NULL);
        assert_int_equal(by_row[r], sum.a ^ sum.b);
    }
    for (size_t c = 0; c < cols; c++) {
        const Linear sum = scan(x + c, rows, (ptrdiff_t)cols, NULL);
        assert_int_equal(by_column[c], sum.a ^ sum.b);
    }
    const Linear sum = scan(x, n, 1, NULL);
    assert_int_equal(whole, sum.a ^ sum.b);
    run_release(cx);
}

#define GRID(name)                                                                        \
    static NewtStatus grid_##name(NewtDevice *device, void *a, void *b, void *out,        \
                                  void *by_row, void *by_column, void *whole)             \
    {                                                                                     \
        return K(scans_##name)(device, NULL, a, b, out, by_row, by_column, whole);         \
    }
GRID(16x8)
GRID(1x64)
GRID(64x1)
GRID(32x16)
GRID(4x128)

static void two_axes(RunCx *cx)
{
    run_grid(cx, 16, 8, grid_16x8);
    run_grid(cx, 1, 64, grid_1x64);
    run_grid(cx, 64, 1, grid_64x1);
    run_grid(cx, 32, 16, grid_32x16);
    run_grid(cx, 4, 128, grid_4x128);
}

static void forms(RunCx *cx)
{
    enum { N = 256 };
    float x[N], most[N], least[4];
    int32_t where[N], seen[N];
    uint32_t counts[N], count = 0;
    NewtF16 half[N];
    for (int i = 0; i < N; i++)
        x[i] = (float)run_between(cx, -8, 8) / 4;  // many are equal
    void *dm = RUN_OUT(cx, sizeof most), *dw = RUN_OUT(cx, sizeof where), *ds = RUN_OUT(cx, sizeof seen),
         *dh = RUN_OUT(cx, sizeof half), *dl = RUN_OUT(cx, sizeof least), *dc = RUN_OUT(cx, sizeof counts);
    RUN_OK(K(scan_forms)(cx->device, NULL, RUN_IN(cx, x), dm, dw, ds, dh, dl, dc));
    run_get(cx, dm, most);
    run_get(cx, dw, where);
    run_get(cx, ds, seen);
    run_get(cx, dh, half);
    run_get(cx, dl, least);
    run_get(cx, dc, counts);
    int at = 0, is_seen = 0;
    float low = x[N - 1];
    for (int i = 0; i < N; i++) {
        at = x[i] > x[at] ? i : at;
        is_seen |= x[i] > 1.5F;
        count += x[i] > 0;
        assert_true(most[i] == x[at]);
        assert_int_equal(where[i], at);
        assert_int_equal(seen[i], is_seen);
        assert_int_equal(counts[i], 3 * count);
        low = x[N - 1 - i] < low ? x[N - 1 - i] : low;
        assert_true(newt_f16_to_float(half[N - 1 - i]) == low);
    }
    assert_true(least[0] == low);
    assert_true(least[1] == x[at]);
    assert_true(least[2] == (float)at);
    assert_true(least[3] == x[0]);
}

/* ---- tile kernels ---- */

static void check_tile(RunCx *cx, int64_t rows, int64_t cols)
{
    const size_t n = (size_t)(rows * cols);
    int32_t *x = run_temp(cx, 4 * n), *got[3], *least = run_temp(cx, 4 * (size_t)rows);
    void *out[3], *dl = run_buffer(cx, NULL, 4 * (size_t)rows, 0);
    for (size_t i = 0; i < n; i++)
        x[i] = (int32_t)run_between(cx, -900, -100);  // below the zeros beyond the ends
    for (int k = 0; k < 3; k++) {
        got[k] = run_temp(cx, 4 * n);
        out[k] = run_buffer(cx, NULL, 4 * n, 0);
    }
    const NewtTensor tl = newt_tensor(dl, NEWT_I32, 1, &rows);
    RUN_OK(K(tile_scans)(cx->device, NULL, newt_tensor2(run_buffer(cx, x, 4 * n, 0), NEWT_I32, rows, cols),
                         newt_tensor2(out[0], NEWT_I32, rows, cols), newt_tensor2(out[1], NEWT_I32, rows, cols),
                         newt_tensor2(out[2], NEWT_I32, rows, cols), tl));
    for (int k = 0; k < 3; k++)
        run_get(cx, out[k], got[k]);
    run_get(cx, dl, least);
    for (int64_t r = 0; r < rows; r++) {
        int32_t sum = 0, most = INT32_MIN, low = INT32_MAX;
        for (int64_t c = 0; c < cols; c++) {
            const int64_t at = r * cols + c, mirrored = (r + 1) * cols - 1 - c;
            const int32_t behind = c ? got[1][mirrored + 1] : 0;
            sum += x[at];
            most = x[at] > most ? x[at] : most;
            low = x[at] < low ? x[at] : low;
            assert_int_equal(got[0][at], sum);
            assert_int_equal(got[1][mirrored], behind + x[mirrored]);
            assert_int_equal(got[2][at], most);
        }
        assert_int_equal(least[r], low);
    }
    run_release(cx);
}

static void tiles(RunCx *cx)
{
    check_tile(cx, 3, 64);
    check_tile(cx, 5, 37);
    check_tile(cx, 1, 1);
    check_tile(cx, 2, 1000);
}

RUN_TESTS = {
    { "sizes", sizes },
    { "types", types },
    { "two axes", two_axes },
    { "forms", forms },
    { "tiles", tiles },
    RUN_END,
};
