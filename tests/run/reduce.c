// Reductions against sums in 64-bit floats and integers; ties, NaN, wrap-around, both orders of two
// axes.
#include "number.h"

enum { ROWS = 16 };

typedef NewtStatus Line(NewtDevice *device, void *x, void *sums, void *extremes, void *indices,
                        int32_t n);

static NewtType sum_type(NewtType t)
{
    if (num_is_float(t) || num_bits(t) >= 32)
        return t;
    return num_is_signed(t) ? NEWT_I32 : NEWT_U32;
}

static NewtType extreme_type(NewtType t)
{
    if (num_is_float(t))
        return num_bits(t) == 16 ? NEWT_F32 : t;
    return num_bits(t) >= 32 ? t : NEWT_I32;
}

/// One largest and one least element among small integers, at places of their own, so that a part
/// of the row that is left out shows.
static void plant_extremes(RunCx *cx, NewtType t, void *x, size_t first, size_t n)
{
    if (n < 2)
        return;
    const size_t high = (size_t)run_between(cx, 0, (int64_t)n - 1);
    const size_t low = (high + (size_t)run_between(cx, 1, (int64_t)n - 1)) % n;
    num_put(t, x, first + high, 60);
    num_put(t, x, first + low, num_is_float(t) || num_is_signed(t) ? -60 : 0);
}

/// Small integers, every value twice or more; in odd float rows any float, with a NaN in every
/// fourth.
static void fill_row(RunCx *cx, NewtType t, void *x, size_t row, size_t n)
{
    for (size_t i = row * n; i < (row + 1) * n; i++) {
        if (!num_is_float(t))
            num_put_int(t, x, i,
                        row % 2 ? run_random(cx)
                                : (uint64_t)run_between(cx, num_is_signed(t) ? -50 : 1, 50));
        else if (row % 4 == 3 && run_random(cx) % 16 == 0)
            num_put(t, x, i, NAN);
        else
            num_put(t, x, i, row % 2 ? (Num)run_uniform(cx) : (Num)run_between(cx, -8, 8));
    }
    if (row % 4 == 2)
        plant_extremes(cx, t, x, row * n, n);
}

static void check_sum(NewtType t, const void *x, size_t row, size_t n, const void *sums)
{
    NewtType s = sum_type(t);
    if (!num_is_float(t)) {
        uint64_t total = 0, want = 0;
        for (size_t i = row * n; i < (row + 1) * n; i++) {
            uint64_t one = 0;
            num_cast(t, (const char *)x + i * num_size(t), NEWT_I64, &one, 0);
            total += one;
        }
        num_put_int(s, &want, 0, total);
        assert_int_equal(num_code(s, sums, row), num_code(s, &want, 0));
        return;
    }
    Num total = 0, size = 0;
    for (size_t i = row * n; i < (row + 1) * n; i++) {
        total += num_get(t, x, i);
        size += fabsl(num_get(t, x, i));
    }
    Num inner = row % 2 ? (Num)n * size * (t == NEWT_F64 ? 0x1p-53L : 0x1p-24L) : 0;
    Num got = num_get(s, sums, row),
        slack = inner + (num_bits(t) == 16 ? num_ulp(s, total) / 2 : 0);
    if (!(fabsl(got - total) <= slack || (isnan(got) && isnan(total))))
        fail_msg("sum of %zu %s is %.21Lg, should be %.21Lg within %.3Lg", n, num_name(t), got,
                 total, slack);
}

/// The lowest index of the largest value times `sign`, NaN ignored; n when all are NaN.
static size_t best(NewtType t, const void *x, size_t first, size_t stride, size_t n, int sign)
{
    size_t at = n;
    for (size_t i = 0; i < n; i++) {
        Num v = sign * num_get(t, x, first + i * stride);
        if (!isnan(v) && (at == n || v > sign * num_get(t, x, first + at * stride)))
            at = i;
    }
    return at;
}

static void run_line(RunCx *cx, NewtType t, size_t n, Line *launch)
{
    NewtType s = sum_type(t), m = extreme_type(t);
    void *x = run_temp(cx, num_size(t) * ROWS * n), *sums = run_temp(cx, num_size(s) * ROWS);
    void *extremes = run_temp(cx, num_size(m) * ROWS * 2);
    int32_t indices[ROWS * 2];
    for (size_t row = 0; row < ROWS; row++)
        fill_row(cx, t, x, row, n);
    void *ds = RUN_OUT(cx, num_size(s) * ROWS), *dm = RUN_OUT(cx, num_size(m) * ROWS * 2);
    void *di = RUN_OUT(cx, sizeof indices);
    RUN_OK(
        launch(cx->device, run_buffer(cx, x, num_size(t) * ROWS * n, 0), ds, dm, di, (int32_t)n));
    run_get(cx, ds, sums);
    run_get(cx, dm, extremes);
    run_get(cx, di, indices);
    for (size_t row = 0; row < ROWS; row++) {
        check_sum(t, x, row, n, sums);
        for (size_t k = 0; k < 2; k++) {
            size_t at = best(t, x, row * n, 1, n, k ? -1 : 1);
            Num got = num_get(m, extremes, 2 * row + k),
                want = at == n ? (Num)NAN : num_get(t, x, row * n + at);
            if (!(got == want || (isnan(got) && isnan(want))))
                fail_msg("%s of %zu %s is %.21Lg, should be %.21Lg", k ? "min" : "max", n,
                         num_name(t), got, want);
            if (at < n)
                assert_int_equal(indices[2 * row + k], at);
        }
    }
}

#define LINE(name)                                                                         \
    static NewtStatus line_##name(NewtDevice *device, void *x, void *sums, void *extremes, \
                                  void *indices, int32_t n)                                \
    {                                                                                      \
        return K(line_##name)(device, NULL, x, sums, extremes, indices, ROWS, n);          \
    }
LINE(1)
LINE(2)
LINE(4)
LINE(8)
LINE(16)
LINE(32)
LINE(64)
LINE(128)
LINE(256)
LINE(512)
LINE(2048)
LINE(4096)
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
    static Line *const lines[] = { line_1,  line_2,   line_4,   line_8,   line_16,   line_32,
                                   line_64, line_128, line_256, line_512, line_2048, line_4096 };
    static const size_t n[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 2048, 4096 };
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
        run_line(cx, NEWT_F32, n[i], lines[i]);
}

static void types(RunCx *cx)
{
    run_line(cx, NEWT_I8, 1024, line_i8);
    run_line(cx, NEWT_I16, 1024, line_i16);
    run_line(cx, NEWT_I32, 1024, line_i32);
    run_line(cx, NEWT_I64, 1024, line_i64);
    run_line(cx, NEWT_U8, 1024, line_u8);
    run_line(cx, NEWT_U16, 1024, line_u16);
    run_line(cx, NEWT_U32, 1024, line_u32);
    run_line(cx, NEWT_U64, 1024, line_u64);
    run_line(cx, NEWT_F16, 1024, line_f16);
    run_line(cx, NEWT_BF16, 1024, line_bf16);
    run_line(cx, NEWT_F32, 1024, line_f32);
    run_line(cx, NEWT_F64, 1024, line_f64);
}

typedef NewtStatus Grid(NewtDevice *device, void *x, void *sum0, void *sum1, void *whole,
                        void *max0, void *max1, void *arg0, void *arg1, void *centred);

/// Small integers in every element: all results are exact.
static void run_grid_once(RunCx *cx, NewtType t, size_t rows, size_t cols, Grid *launch)
{
    size_t e = num_size(t), n = rows * cols;
    void *x = run_temp(cx, e * n), *s0 = run_temp(cx, e * cols), *s1 = run_temp(cx, e * rows),
         *w = run_temp(cx, e * 3);
    void *m0 = run_temp(cx, e * cols), *m1 = run_temp(cx, e * rows), *centred = run_temp(cx, e * n);
    int32_t *a0 = run_temp(cx, sizeof *a0 * cols), *a1 = run_temp(cx, sizeof *a1 * rows);
    Num total = 0;
    for (size_t i = 0; i < n; i++)
        num_put(t, x, i, (Num)run_between(cx, -20, 20));
    plant_extremes(cx, t, x, 0, n);
    for (size_t i = 0; i < n; i++)
        total += num_get(t, x, i);
    void *ds0 = RUN_OUT(cx, e * cols), *ds1 = RUN_OUT(cx, e * rows), *dw = RUN_OUT(cx, e * 3),
         *dc = RUN_OUT(cx, e * n);
    void *dm0 = RUN_OUT(cx, e * cols), *dm1 = RUN_OUT(cx, e * rows), *da0 = RUN_OUT(cx, 4 * cols);
    void *da1 = RUN_OUT(cx, 4 * rows);
    RUN_OK(launch(cx->device, run_buffer(cx, x, e * n, 0), ds0, ds1, dw, dm0, dm1, da0, da1, dc));
    run_get(cx, ds0, s0);
    run_get(cx, ds1, s1);
    run_get(cx, dw, w);
    run_get(cx, dm0, m0);
    run_get(cx, dm1, m1);
    run_get(cx, da0, a0);
    run_get(cx, da1, a1);
    run_get(cx, dc, centred);
    for (size_t c = 0; c < cols; c++) {
        Num sum = 0;
        for (size_t r = 0; r < rows; r++)
            sum += num_get(t, x, r * cols + c);
        size_t at = best(t, x, c, cols, rows, 1);
        assert_true(num_get(t, s0, c) == sum);
        assert_int_equal(a0[c], at);
        assert_true(num_get(t, m0, c) == num_get(t, x, at * cols + c));
    }
    for (size_t r = 0; r < rows; r++) {
        Num sum = 0;
        for (size_t c = 0; c < cols; c++)
            sum += num_get(t, x, r * cols + c);
        size_t high = best(t, x, r * cols, 1, cols, 1);
        assert_true(num_get(t, s1, r) == sum);
        assert_int_equal(a1[r], best(t, x, r * cols, 1, cols, -1));
        assert_true(num_get(t, m1, r) == num_get(t, x, r * cols + high));
        for (size_t c = 0; c < cols; c++) {
            size_t low = best(t, x, c, cols, rows, -1);
            Num want =
                num_get(t, x, r * cols + c) - num_get(t, m1, r) + num_get(t, x, low * cols + c);
            assert_true(num_get(t, centred, r * cols + c) == want);
        }
    }
    assert_true(num_get(t, w, 0) == total);
    assert_true(num_get(t, w, 1) == num_get(t, x, best(t, x, 0, 1, n, 1)));
    assert_true(num_get(t, w, 2) == num_get(t, x, best(t, x, 0, 1, n, -1)));
}

/// Three times, for the largest element stands somewhere else each time.
static void run_grid(RunCx *cx, NewtType t, size_t rows, size_t cols, Grid *launch)
{
    for (int round = 0; round < 3; round++) {
        run_grid_once(cx, t, rows, cols, launch);
        run_release(cx);
    }
}

#define GRID(name)                                                                             \
    static NewtStatus grid_##name(NewtDevice *device, void *x, void *sum0, void *sum1,         \
                                  void *whole, void *max0, void *max1, void *arg0, void *arg1, \
                                  void *centred)                                               \
    {                                                                                          \
        return K(grid_##name)(device, NULL, x, sum0, sum1, whole, max0, max1, arg0, arg1,      \
                              centred);                                                        \
    }
GRID(16x8)
GRID(1x64)
GRID(64x1)
GRID(2x2)
GRID(128x32)
GRID(4x256)
GRID(32x128)
GRID(i32)
GRID(f16)

static void two_axes(RunCx *cx)
{
    run_grid(cx, NEWT_F32, 16, 8, grid_16x8);
    run_grid(cx, NEWT_F32, 1, 64, grid_1x64);
    run_grid(cx, NEWT_F32, 64, 1, grid_64x1);
    run_grid(cx, NEWT_F32, 2, 2, grid_2x2);
    run_grid(cx, NEWT_F32, 128, 32, grid_128x32);
    run_grid(cx, NEWT_F32, 4, 256, grid_4x256);
    run_grid(cx, NEWT_F32, 32, 128, grid_32x128);
    run_grid(cx, NEWT_I32, 32, 16, grid_i32);
    run_grid(cx, NEWT_F16, 8, 64, grid_f16);
}

static void three_axes(RunCx *cx)
{
    int32_t x[4][8][16], s0[8][16], s1[4][16], s2[4][8], both[10], total = 0, flat = 0;
    for (int i = 0; i < 512; i++) {
        (&x[0][0][0])[i] = (int32_t)run_between(cx, -1000000, 1000000);
        total += (&x[0][0][0])[i];
        flat = (&x[0][0][0])[i] > (&x[0][0][0])[flat] ? i : flat;
    }
    void *d0 = RUN_OUT(cx, sizeof s0), *d1 = RUN_OUT(cx, sizeof s1), *d2 = RUN_OUT(cx, sizeof s2);
    void *db = RUN_OUT(cx, sizeof both);
    RUN_OK(K(cube)(cx->device, NULL, RUN_IN(cx, x), d0, d1, d2, db));
    run_get(cx, d0, s0);
    run_get(cx, d1, s1);
    run_get(cx, d2, s2);
    run_get(cx, db, both);
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 8; b++)
            for (int c = 0; c < 16; c++) {
                s0[b][c] -= x[a][b][c];
                s1[a][c] -= x[a][b][c];
                s2[a][b] -= x[a][b][c];
                both[b] -= x[a][b][c];
            }
    for (int i = 0; i < 128; i++)
        assert_int_equal((&s0[0][0])[i], 0);
    for (int i = 0; i < 64; i++)
        assert_int_equal((&s1[0][0])[i], 0);
    for (int i = 0; i < 32; i++)
        assert_int_equal((&s2[0][0])[i], 0);
    for (int i = 0; i < 8; i++)
        assert_int_equal(both[i], 0);
    assert_int_equal(both[8], total);
    assert_int_equal(both[9], flat);
}

static void forms(RunCx *cx)
{
    int32_t x[64];
    float f[64], f_out[2], soft[64];
    int64_t got[11], want[11] = { 0 };
    Num even = 0, largest = 0, top = -1, denominator = 0;
    for (int i = 0; i < 64; i++) {
        x[i] = (int32_t)run_random(cx);
        f[i] = run_uniform(cx);
        want[1] = x[i] > x[want[1]] ? i : want[1];
        want[3] = x[i] < x[want[3]] ? i : want[3];
        want[4] ^= x[i];
        want[5] |= x[i];
        want[6] += x[i];
        want[9] += x[i] > 0;
        even += i % 2 ? 0 : f[i];
        largest = fabsl(f[i]) > largest ? fabsl(f[i]) : largest;
        top = f[i] > top ? f[i] : top;
    }
    want[0] = want[8] = want[10] = x[want[1]];
    want[2] = x[want[3]];
    want[7] = (int32_t)(uint32_t)(uint64_t)want[6];
    for (int i = 0; i < 64; i++)
        denominator += expl(f[i] - top);
    void *out = RUN_OUT(cx, sizeof got), *df = RUN_OUT(cx, sizeof f_out),
         *ds = RUN_OUT(cx, sizeof soft);
    RUN_OK(K(other_forms)(cx->device, NULL, RUN_IN(cx, x), out, RUN_IN(cx, f), df, ds));
    run_get(cx, out, got);
    run_get(cx, df, f_out);
    run_get(cx, ds, soft);
    num_same(NEWT_I64, got, want, 11, "forms of reductions");
    run_near(f_out[0], (double)even, 1e-5, 0);
    assert_true(f_out[1] == largest);
    for (size_t i = 0; i < 64; i++)
        run_near(soft[i], (double)(expl(f[i] - top) / denominator), 1e-7, i);
}

static void narrow(RunCx *cx)
{
    float f[3];
    int32_t i[3];
    void *df = RUN_OUT(cx, sizeof f), *di = RUN_OUT(cx, sizeof i);
    RUN_OK(K(narrow_sums)(cx->device, NULL, df, di));
    run_get(cx, df, f);
    run_get(cx, di, i);
    assert_true(f[0] == 4096);
    assert_true(f[1] == 4096);
    assert_true(f[2] == 32784);
    assert_int_equal(i[0], 1600);
    assert_int_equal(i[1], 0);
    assert_int_equal(i[2], -2);
}

RUN_TESTS = {
    { "sizes", sizes },
    { "types", types },
    { "two axes", two_axes },
    { "three axes", three_axes },
    { "forms", forms },
    { "narrow sums", narrow },
    RUN_END,
};
