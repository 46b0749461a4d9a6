// Tile kernels: sizes that are no multiples of blocks, strides of every kind, wrong calls.
#include "number.h"

/// A tensor whose rows are `gap` elements longer than they need be; transposed: columns are rows.
static NewtTensor tensor2(void *data, NewtType type, int64_t rows, int64_t columns, int64_t gap,
                          bool transposed)
{
    NewtTensor t = newt_tensor2(data, type, rows, columns);
    t.stride[0] = transposed ? 1 : columns + gap;
    t.stride[1] = transposed ? rows + gap : 1;
    return t;
}

static NewtTensor tensor1(void *data, NewtType type, int64_t size)
{
    NewtTensor t = newt_tensor2(data, type, 1, size);
    t.rank = 1;
    t.shape[0] = size;
    t.stride[0] = 1;
    return t;
}

static size_t place(const NewtTensor *t, int64_t i, int64_t j)
{
    return (size_t)(i * t->stride[0] + j * t->stride[1]);
}

static size_t room(int64_t rows, int64_t columns, int64_t gap)
{
    return (size_t)((rows + gap) * (columns + gap));
}

static void check_matmul(RunCx *cx, int64_t m, int64_t n, int64_t k, int64_t gap, bool transposed)
{
    NewtF16 *x = run_temp(cx, room(m, k, gap) * sizeof *x),
            *y = run_temp(cx, room(k, n, gap) * sizeof *y);
    NewtF16 *got = run_temp(cx, room(m, n, gap) * sizeof *got);
    for (size_t i = 0; i < room(m, k, gap); i++)
        x[i] = newt_f16(run_uniform(cx));
    for (size_t i = 0; i < room(k, n, gap); i++)
        y[i] = newt_f16(run_uniform(cx));
    void *dx = run_buffer(cx, x, room(m, k, gap) * sizeof *x, 0);
    void *dy = run_buffer(cx, y, room(k, n, gap) * sizeof *y, 0);
    void *dout = run_buffer(cx, NULL, room(m, n, gap) * sizeof *got, 0);
    NewtTensor tx = tensor2(dx, NEWT_F16, m, k, gap, transposed),
               ty = tensor2(dy, NEWT_F16, k, n, gap, transposed);
    NewtTensor tout = tensor2(dout, NEWT_F16, m, n, gap, transposed);
    RUN_OK(K(matmul)(cx->device, NULL, tx, ty, tout));
    run_get(cx, dout, got);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0, size = 0;
            for (int64_t l = 0; l < k; l++) {
                double p = (double)newt_f16_to_float(x[place(&tx, i, l)]) *
                           (double)newt_f16_to_float(y[place(&ty, l, j)]);
                sum += p;
                size += fabs(p);
            }
            run_near((double)newt_f16_to_float(got[place(&tout, i, j)]), sum,
                     fabs(sum) * 0x1p-11 + size * 1e-5 + 1e-7, (size_t)(i * n + j));
        }
    run_release(cx);
}

static void test_matmul(RunCx *cx)
{
    static const int64_t shapes[][3] = { { 1, 1, 1 },       { 64, 64, 64 },   { 33, 17, 5 },
                                         { 128, 128, 128 }, { 129, 130, 72 }, { 7, 300, 65 },
                                         { 48, 16, 0 } };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int64_t gap = 0; gap < 4; gap += 3)
            for (int turn = 0; turn < 2; turn++)
                check_matmul(cx, shapes[i][0], shapes[i][1], shapes[i][2], gap, turn == 1);
    // A stride beyond 32 bits: computed in 64.
    NewtF16 row[8], got[8];
    for (size_t i = 0; i < 8; i++)
        row[i] = newt_f16(run_uniform(cx));
    void *drow = RUN_IN(cx, row), *dgot = RUN_OUT(cx, sizeof got);
    NewtTensor one = newt_tensor2(drow, NEWT_F16, 1, 1), many = newt_tensor2(drow, NEWT_F16, 1, 8);
    NewtTensor far = newt_tensor2(dgot, NEWT_F16, 1, 8);
    one.stride[0] = many.stride[0] = far.stride[0] = INT64_C(1) << 33;
    RUN_OK(K(matmul)(cx->device, NULL, one, many, far));
    run_get(cx, dgot, got);
    for (size_t i = 0; i < 8; i++) {
        double want = (double)newt_f16_to_float(row[0]) * (double)newt_f16_to_float(row[i]);
        run_near((double)newt_f16_to_float(got[i]), want, fabs(want) * 0x1p-11, i);
    }
    far.stride[0] = INT64_MAX;
    far.shape[0] = one.shape[0] = 2;
    assert_int_equal(K(matmul)(cx->device, NULL, one, many, far), NEWT_TOO_LARGE);
    NewtTensor empty = newt_tensor2(NULL, NEWT_F16, 0, 0);
    RUN_OK(K(matmul)(cx->device, NULL, empty, empty, empty));
}

static void test_saxpy(RunCx *cx)
{
    static const int64_t sizes[] = { 0, 1, 3, 1023, 1024, 1025, 70000 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t n = (size_t)sizes[s];
        float *x = run_temp(cx, n * sizeof *x), *y = run_temp(cx, n * sizeof *y);
        for (size_t i = 0; i < n; i++) {
            x[i] = run_uniform(cx);
            y[i] = run_uniform(cx);
        }
        // In place: the output is an input, element for element.
        void *dx = run_buffer(cx, x, n * sizeof *x, 0),
             *dy = run_buffer(cx, y, n * sizeof *y, s % 2 * 4);
        RUN_OK(K(saxpy)(cx->device, NULL, tensor1(dx, NEWT_F32, sizes[s]),
                        tensor1(dy, NEWT_F32, sizes[s]), tensor1(dy, NEWT_F32, sizes[s]), 0.75f));
        float *got = run_temp(cx, n * sizeof *got);
        run_get(cx, dy, got);
        for (size_t i = 0; i < n; i++)
            run_near((double)got[i], 0.75 * (double)x[i] + (double)y[i], 1.2e-7, i);
        run_release(cx);
    }
}

static void check_softmax(RunCx *cx, int64_t rows, int64_t width, int64_t gap, bool transposed)
{
    size_t all = room(rows, width, gap);
    float *x = run_temp(cx, all * sizeof *x), *got = run_temp(cx, all * sizeof *got);
    for (size_t i = 0; i < all; i++)
        x[i] = run_uniform(cx) * 4 - 90;  // far below 0, which lanes beyond the end would be
    const NewtTensor like = tensor2(NULL, NEWT_F32, rows, width, gap, transposed);
    for (int64_t i = 1; i < rows && width > 3; i += 2) {  // as far apart as floats are, and nothing
        x[place(&like, i, 0)] = x[place(&like, i, width - 1)] = 3.3e38F;
        x[place(&like, i, 1)] = -3.3e38F;
        x[place(&like, i, 2)] = -INFINITY;
    }
    void *dx = run_buffer(cx, x, all * sizeof *x, 0),
         *dout = run_buffer(cx, NULL, all * sizeof *x, 0);
    NewtTensor tx = tensor2(dx, NEWT_F32, rows, width, gap, transposed);
    NewtTensor tout = tensor2(dout, NEWT_F32, rows, width, gap, transposed);
    RUN_OK(K(softmax)(cx->device, NULL, tx, tout));
    run_get(cx, dout, got);
    for (int64_t i = 0; i < rows; i++) {
        double most = -INFINITY, sum = 0;
        for (int64_t j = 0; j < width; j++)
            most = fmax(most, (double)x[place(&tx, i, j)]);
        for (int64_t j = 0; j < width; j++)
            sum += exp((double)x[place(&tx, i, j)] - most);
        for (int64_t j = 0; j < width; j++)
            run_near((double)got[place(&tout, i, j)], exp((double)x[place(&tx, i, j)] - most) / sum,
                     2e-6, (size_t)(i * width + j));
    }
    run_release(cx);
}

static void test_softmax(RunCx *cx)
{
    static const int64_t shapes[][2] = { { 1, 1 },    { 5, 7 },    { 3, 1024 },
                                         { 4, 1025 }, { 2, 1500 }, { 2, 4096 },
                                         { 1, 5000 }, { 0, 9 },    { 3, 16385 } };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int64_t gap = 0; gap < 3; gap += 2)
            for (int turn = 0; turn < 2; turn++)
                check_softmax(cx, shapes[i][0], shapes[i][1], gap, turn == 1);
}

static void test_row_stats(RunCx *cx)
{
    enum { ROWS = 5, WIDTH = 301 };
    float x[ROWS * WIDTH], got[4][ROWS];
    void *out[4];
    NewtTensor t[4];
    for (size_t i = 0; i < ROWS * WIDTH; i++)
        x[i] = run_uniform(cx) - 3;
    void *dx = RUN_IN(cx, x);
    for (int i = 0; i < 4; i++) {
        out[i] = RUN_OUT(cx, sizeof got[i]);
        t[i] = tensor1(out[i], NEWT_F32, ROWS);
    }
    RUN_OK(K(row_stats)(cx->device, NULL, newt_tensor2(dx, NEWT_F32, ROWS, WIDTH), t[0], t[1], t[2],
                        t[3]));
    for (int i = 0; i < 4; i++)
        run_get(cx, out[i], got[i]);
    for (size_t r = 0; r < ROWS; r++) {
        double most = -INFINITY, least = INFINITY, sum = 0;
        for (size_t i = r * WIDTH; i < (r + 1) * WIDTH; i++) {
            most = fmax(most, (double)x[i]);
            least = fmin(least, (double)x[i]);
            sum += (double)x[i];
        }
        run_near((double)got[0][r], most, 0, r);
        run_near((double)got[1][r], least, 0, r);
        run_near((double)got[2][r], sum / WIDTH, 1e-5, r);
        run_near((double)got[3][r], sum + WIDTH, 1e-3, r);
    }
}

static void test_gather(RunCx *cx)
{
    enum { R = 9, C = 37, M = 21, WHICH = 2 };
    int32_t x[R * C], rows[M], bias[3 * 2 * C], got[M * C];
    for (size_t i = 0; i < R * C; i++)
        x[i] = (int32_t)run_between(cx, -1000, 1000);
    for (size_t i = 0; i < M; i++)
        rows[i] = (int32_t)run_between(cx, 0, R - 1);
    rows[0] = -1;  // outside: reads as 0
    rows[1] = R;
    for (size_t i = 0; i < 3 * 2 * C; i++)
        bias[i] = (int32_t)run_between(cx, -1000, 1000);
    void *dout = RUN_OUT(cx, sizeof got);
    NewtTensor tbias = newt_tensor2(RUN_IN(cx, bias), NEWT_I32, 2, C);
    tbias.rank = 3;
    tbias.shape[0] = 3, tbias.shape[1] = 2, tbias.shape[2] = C;
    tbias.stride[0] = 2 * C, tbias.stride[1] = C, tbias.stride[2] = 1;
    RUN_OK(K(gather_add)(cx->device, NULL, newt_tensor2(RUN_IN(cx, x), NEWT_I32, R, C),
                         tensor1(RUN_IN(cx, rows), NEWT_I32, M), tbias,
                         newt_tensor2(dout, NEWT_I32, M, C), WHICH));
    run_get(cx, dout, got);
    for (size_t m = 0; m < M; m++)
        for (size_t c = 0; c < C; c++) {
            bool inside = rows[m] >= 0 && rows[m] < R;
            int32_t v = inside ? x[(size_t)rows[m] * C + c] : 0;
            assert_int_equal(got[m * C + c], v * 2 + bias[(WHICH * 2 + 1) * C + c] - (int32_t)m);
        }
}

static void expect_refusal(NewtStatus status, const char *text)
{
    assert_int_equal(status, NEWT_BAD_ARGUMENT);
    if (!strstr(newt_last_error(), text))
        fail_msg("'%s' does not say '%s'", newt_last_error(), text);
}

static void test_refusals(RunCx *cx)
{
    void *data = RUN_OUT(cx, 1 << 16);
    NewtTensor x = newt_tensor2(data, NEWT_F16, 8, 16), y = newt_tensor2(data, NEWT_F16, 16, 4);
    NewtTensor out = newt_tensor2((char *)data + 4096, NEWT_F16, 8, 4), bad = y;
    bad.shape[0] = 15;
    expect_refusal(K(matmul)(cx->device, NULL, x, bad, out),
                   "matmul: y is float16[15, 4], but x is float16[8, 16]: K differs (x 16, y 15)");
    bad = y;
    bad.type = NEWT_BF16;
    expect_refusal(K(matmul)(cx->device, NULL, x, bad, out),
                   "matmul: y is bfloat16[16, 4], and the kernel takes float16");
    bad = y;
    bad.rank = 3;
    expect_refusal(K(matmul)(cx->device, NULL, x, bad, out),
                   "matmul: y has 3 axes, and the kernel takes 2");
    bad = out;
    bad.data = NULL;
    expect_refusal(K(matmul)(cx->device, NULL, x, y, bad), "matmul: the data of out is NULL");
    bad.data = (char *)data + 1;
    expect_refusal(K(matmul)(cx->device, NULL, x, y, bad),
                   "matmul: the data of out is not aligned to its elements");
    bad.data = (char *)data + 2;
    expect_refusal(K(matmul)(cx->device, NULL, x, y, bad),
                   "matmul: out is written and overlaps x without being the same elements");
    bad = x;
    bad.shape[0] = -1;
    expect_refusal(K(matmul)(cx->device, NULL, bad, y, out), "matmul: x.shape[0] is -1");
    expect_refusal(K(saxpy)(cx->device, NULL, tensor1(data, NEWT_F32, 8),
                            tensor1(data, NEWT_F32, 7), tensor1(data, NEWT_F32, 8), 1.0f),
                   "saxpy: x.shape[0] is 8, and y.shape[0] is 7: the first must not be larger");
}

RUN_TESTS = { { "matmul", test_matmul },
              { "saxpy", test_saxpy },
              { "softmax", test_softmax },
              { "row_stats", test_row_stats },
              { "gather", test_gather },
              { "refusals", test_refusals },
              RUN_END };
