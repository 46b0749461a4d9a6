// Tensor descriptors and block pointers against plain loops over the tensor: what is inside is
// there, what is outside is 0 or NaN and is never written.
#include "number.h"

typedef NewtStatus Read(NewtDevice *device, const void *x, void *out, int32_t m, int32_t n,
                        int32_t stride, int32_t r, int32_t c);
#define READ(name)                                                                             \
    static NewtStatus name(NewtDevice *device, const void *x, void *out, int32_t m, int32_t n, \
                           int32_t stride, int32_t r, int32_t c)                               \
    {                                                                                          \
        return K(name)(device, NULL, x, out, m, n, stride, r, c);                              \
    }
READ(read_f32)
READ(read_f32_nan)
READ(read_f16_nan)
READ(read_bf16_nan)
READ(read_i8)
READ(read_i64)

/// The six sides of a tensor that a block can lie on.
static const int32_t places[][2] = { { 0, 0 },
                                     { 3, 5 },
                                     { -3, 0 },
                                     { 0, -7 },
                                     { -2, -9 },
                                     { 8, 11 },
                                     { 20, 0 },
                                     { 0, 40 },
                                     { 9, -3 },
                                     { -40, 2 },
                                     { 2, -64 },
                                     { 10, 20 },
                                     { INT32_MAX - 3, 1 },
                                     { 1, INT32_MAX },
                                     { INT32_MIN, INT32_MIN } };

static void read_one(RunCx *cx, Read *launch, NewtType t, bool nan, int32_t bm, int32_t bn)
{
    enum { M = 11, N = 21, STRIDE = 24 };
    const size_t size = num_size(t), count = (size_t)bm * (size_t)bn;
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        const int64_t r = places[p][0], c = places[p][1];
        uint8_t *x = run_temp(cx, M * STRIDE * size), *got = run_temp(cx, 3 * count * size);
        uint8_t *want = run_temp(cx, count * size);
        num_fill(cx, t, x, M * STRIDE);
        for (int32_t i = 0; i < bm; i++)
            for (int32_t j = 0; j < bn; j++) {
                const size_t to = (size_t)(i * bn + j);
                const bool inside = r + i >= 0 && r + i < M && c + j >= 0 && c + j < N;
                if (inside)
                    memcpy(want + to * size, x + (size_t)((r + i) * STRIDE + c + j) * size, size);
                else if (nan)
                    num_put(t, want, to, (Num)NAN);
                else
                    num_put(t, want, to, 0);
            }
        void *out = RUN_OUT(cx, 3 * count * size);
        const void *in = run_buffer(cx, x, ((M - 1) * STRIDE + N) * size, 0);
        RUN_OK(launch(cx->device, in, out, M, N, STRIDE, (int32_t)r, (int32_t)c));
        run_get(cx, out, got);
        num_same(t, got, want, count, "descriptor");
        num_same(t, got + count * size, want, count, "block pointer");
        num_same(t, got + 2 * count * size, want, count, "load_tensor_descriptor");
        run_release(cx);
    }
}

static void reading(RunCx *cx)
{
    read_one(cx, read_f32, NEWT_F32, false, 8, 16);
    read_one(cx, read_f32_nan, NEWT_F32, true, 16, 4);
    read_one(cx, read_f16_nan, NEWT_F16, true, 2, 32);
    read_one(cx, read_bf16_nan, NEWT_BF16, true, 1, 64);
    read_one(cx, read_i8, NEWT_I8, false, 32, 16);
    read_one(cx, read_i64, NEWT_I64, false, 4, 2);
}

static void writing(RunCx *cx)
{
    enum { M = 11, N = 21, STRIDE = 23, BM = 16, BN = 8, COUNT = (M - 1) * STRIDE + N };
    uint16_t got[COUNT], want[COUNT];
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        const int64_t r = places[p][0], c = places[p][1];
        memset(want, 0xff, sizeof want);
        for (int64_t i = 0; i < M; i++)
            for (int64_t j = 0; j < N; j++)
                if (i >= r && i < r + BM && j >= c && j < c + BN)
                    num_put(NEWT_F16, want, (size_t)(i * STRIDE + j),
                            (Num)((i - r) * BN + j - c + 1));
        void *out[3];
        for (size_t k = 0; k < 3; k++)
            out[k] = RUN_OUT(cx, sizeof got);
        RUN_OK(K(write)(cx->device, NULL, out[0], out[1], out[2], M, N, STRIDE, (int32_t)r,
                        (int32_t)c));
        for (size_t k = 0; k < 3; k++) {
            run_get(cx, out[k], got);
            run_same_bits(got, want, sizeof *got, COUNT);
        }
        run_release(cx);
    }
}

static void ranks(RunCx *cx)
{
    static const int32_t sizes[][3] = { { 1, 1, 1 }, { 2, 4, 8 }, { 3, 5, 9 }, { 4, 11, 30 } };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const size_t count = (size_t)sizes[k][0] * (size_t)sizes[k][1] * (size_t)sizes[k][2];
        float *x = run_temp(cx, count * sizeof *x), *got = run_temp(cx, count * sizeof *x);
        for (size_t i = 0; i < count; i++)
            x[i] = run_uniform(cx);
        void *in = run_buffer(cx, x, count * sizeof *x, 0);
        void *out = RUN_OUT(cx, count * sizeof *x), *five = RUN_OUT(cx, count * sizeof *x);
        RUN_OK(K(copy_3d)(cx->device, NULL, in, out, five, sizes[k][0], sizes[k][1], sizes[k][2]));
        run_get(cx, out, got);
        run_same_bits(got, x, sizeof *x, count);
        run_get(cx, five, got);
        run_same_bits(got, x, sizeof *x, count);
        void *line = RUN_OUT(cx, count * sizeof *x);
        RUN_OK(K(copy_1d)(cx->device, NULL, in, line, (int32_t)count));
        run_get(cx, line, got);
        run_same_bits(got, x, sizeof *x, count);
        run_release(cx);
    }
}

static void products(RunCx *cx)
{
    static const int32_t sizes[][3] = {
        { 1, 1, 1 }, { 32, 16, 16 }, { 33, 17, 15 }, { 70, 40, 100 }, { 5, 90, 0 }
    };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const int32_t m = sizes[s][0], n = sizes[s][1], k = sizes[s][2];
        const size_t bytes = (size_t)(m * n) * sizeof(float);
        uint16_t *a = run_temp(cx, 2 * (size_t)(m * k)), *b = run_temp(cx, 2 * (size_t)(k * n));
        float *got[2] = { run_temp(cx, bytes), run_temp(cx, bytes) };
        for (int32_t i = 0; i < m * k; i++)
            num_put(NEWT_F16, a, (size_t)i, (Num)run_uniform(cx));
        for (int32_t i = 0; i < k * n; i++)
            num_put(NEWT_F16, b, (size_t)i, (Num)run_uniform(cx));
        void *c = RUN_OUT(cx, bytes), *d = RUN_OUT(cx, bytes);
        const void *in_a = run_buffer(cx, a, 2 * (size_t)(m * k), 0);
        const void *in_b = run_buffer(cx, b, 2 * (size_t)(k * n), 0);
        RUN_OK(K(product)(cx->device, NULL, in_a, in_b, c, d, m, n, k));
        run_get(cx, c, got[0]);
        run_get(cx, d, got[1]);
        for (int32_t i = 0; i < m * n; i++) {
            double sum = 0, size = 0;
            for (int32_t l = 0; l < k; l++) {
                const double term = (double)(num_get(NEWT_F16, a, (size_t)(i / n * k + l)) *
                                             num_get(NEWT_F16, b, (size_t)(l * n + i % n)));
                sum += term;
                size += fabs(term);
            }
            run_near((double)got[0][i], sum, size * 2e-6, (size_t)i);
            run_near((double)got[1][i], sum, size * 2e-6, (size_t)i);
        }
        run_release(cx);
    }
}

static void choosing(RunCx *cx)
{
    enum { M = 9, N = 5, LINE = 16, BLOCK = 8 * LINE };
    float x[M * LINE], y[N * LINE], got[5 * BLOCK], want[5 * BLOCK];
    for (size_t i = 0; i < M * LINE; i++)
        x[i] = run_uniform(cx);
    for (size_t i = 0; i < N * LINE; i++)
        y[i] = run_uniform(cx);
    for (int32_t which = 0; which < 2; which++) {
        for (int r = 0; r < 8; r++)
            for (int c = 0; c < LINE; c++) {
                const int at = r * LINE + c;
                const float *one = which ? y : x;
                want[at] = want[BLOCK + at] = r + 2 < M ? x[(r + 2) * LINE + c] : 0;
                want[2 * BLOCK + at] = x[at];
                want[3 * BLOCK + at] = r + 1 < (which ? N : M) ? one[(r + 1) * LINE + c] : 0;
                const bool inside = r >= 3 && r - 3 < N && c >= 1;  // y both times
                want[4 * BLOCK + at] = inside ? y[(r - 3) * LINE + c - 1] : 0;
            }
        void *out = RUN_OUT(cx, sizeof got);
        RUN_OK(K(chosen)(cx->device, NULL, RUN_IN(cx, x), RUN_IN(cx, y), out, M, N, which));
        run_get(cx, out, got);
        run_same_bits(got, want, sizeof *got, 5 * BLOCK);
        run_release(cx);
    }
}

static void picking(RunCx *cx)
{
    enum { M = 20, N = 45, ROWS = 16, COLUMNS = 32 };
    static const int32_t index[ROWS] = { 3, 0,  19, 7,  20, -1, 12, INT32_MAX,
                                         1, 18, 5,  11, 6,  -9, 2,  INT32_MIN };
    static const int32_t starts[] = { 0, 8, 13, 14, 44, -5, 45, -32 };
    float x[M * N], got[ROWS * COLUMNS], back[M * N], want[M * N];
    for (size_t i = 0; i < M * N; i++)
        x[i] = run_uniform(cx);
    for (size_t k = 0; k < sizeof starts / sizeof *starts; k++) {
        void *out = RUN_OUT(cx, sizeof got), *put = RUN_OUT(cx, sizeof back);
        RUN_OK(
            K(rows)(cx->device, NULL, RUN_IN(cx, x), out, put, RUN_IN(cx, index), M, N, starts[k]));
        run_get(cx, out, got);
        run_get(cx, put, back);
        memset(want, 0xff, sizeof want);
        for (int32_t i = 0; i < ROWS; i++)
            for (int32_t j = 0; j < COLUMNS; j++) {
                const int32_t row = index[i], column = starts[k] + j;
                const bool inside = row >= 0 && row < M && column >= 0 && column < N;
                assert_true(got[i * COLUMNS + j] == (inside ? x[row * N + column] : 0));
                if (inside)
                    want[row * N + column] = x[row * N + column] + 1;
            }
        run_same_bits(back, want, sizeof *back, M * N);
        run_release(cx);
    }
}

static void atomics(RunCx *cx)
{
    enum { M = 7, N = 9, PROGRAMS = 50 };
    float sums[M * N] = { 0 };
    int32_t least[M * N], most[M * N], bits[3 * M * N], combined[3] = { -1, 0, 0 };
    for (int32_t i = 1; i <= PROGRAMS; i++) {
        combined[0] &= i | 64;
        combined[1] |= i;
        combined[2] ^= i;
    }
    for (int32_t i = 0; i < M * N; i++) {
        least[i] = 1000;
        most[i] = -1000;
        bits[i] = -1;
        bits[M * N + i] = bits[2 * M * N + i] = 0;
    }
    void *s = RUN_IN(cx, sums), *l = RUN_IN(cx, least), *h = RUN_IN(cx, most);
    void *b = RUN_IN(cx, bits);
    RUN_OK(K(tally)(cx->device, NULL, s, l, h, b, M, N));
    run_get(cx, s, sums);
    run_get(cx, l, least);
    run_get(cx, h, most);
    run_get(cx, b, bits);
    for (int32_t r = 0; r < 3 * M; r++)
        for (int32_t c = 0; c < N; c++) {
            const int32_t at = r * N + c;
            const bool low = r >= 1 && c >= 2;  // of a block that begins at (1, 2)
            const bool high = r < 7 && c < 8;   // at (-1, 0)
            if (r < M) {
                assert_true(sums[at] == (low ? PROGRAMS * (PROGRAMS + 1) / 2 : 0));
                assert_int_equal(least[at], low ? 1 : 1000);
                assert_int_equal(most[at], high ? PROGRAMS : -1000);
            }
            // Three blocks of 8 rows from 0, 7 and 14 on: a row where two meet gets both.
            int32_t want = r < M ? -1 : 0;
            if (c < 8) {
                want = r < 8 ? want & combined[0] : want;
                want = r >= M && r < M + 8 ? want | combined[1] : want;
                want = r >= 2 * M ? want ^ combined[2] : want;
            }
            if (r != M && r != 2 * M)  // there the order counts
                assert_int_equal(bits[at], want);
        }
}

/// A tensor of `rank` axes, rows dense and the others with gaps of `gap` elements.
static NewtTensor tensor(void *data, NewtType type, int32_t rank, const int64_t *shape, int64_t gap)
{
    NewtTensor t = { .data = data, .type = type, .rank = rank };
    int64_t next = 1;
    for (int32_t i = rank; i-- > 0;) {
        t.shape[i] = shape[i];
        t.stride[i] = next;
        next = next * shape[i] + gap;
    }
    return t;
}

static void passed_products(RunCx *cx)
{
    static const int64_t sizes[][3] = {
        { 1, 1, 1 }, { 32, 16, 16 }, { 33, 17, 15 }, { 70, 40, 100 }
    };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const int64_t m = sizes[s][0], n = sizes[s][1], k = sizes[s][2], gap = (int64_t)s % 3;
        const size_t rows = (size_t)(m * (n + gap) - gap);
        uint16_t *a = run_temp(cx, 2 * (size_t)(m * k)), *b = run_temp(cx, 2 * (size_t)(k * n));
        float *got = run_temp(cx, rows * sizeof *got);
        for (int64_t i = 0; i < m * k; i++)
            num_put(NEWT_F16, a, (size_t)i, (Num)run_uniform(cx));
        for (int64_t i = 0; i < k * n; i++)
            num_put(NEWT_F16, b, (size_t)i, (Num)run_uniform(cx));
        void *c = RUN_OUT(cx, rows * sizeof *got);
        const NewtTensor in_a = tensor(run_buffer(cx, a, 2 * (size_t)(m * k), 0), NEWT_F16, 2,
                                       (const int64_t[]){ m, k }, 0);
        const NewtTensor in_b = tensor(run_buffer(cx, b, 2 * (size_t)(k * n), 0), NEWT_F16, 2,
                                       (const int64_t[]){ k, n }, 0);
        NewtTensor out = tensor(c, NEWT_F32, 2, (const int64_t[]){ m, n }, gap);
        RUN_OK(K(passed_product)(cx->device, NULL, in_a, 0.5F, in_b, out));
        run_get(cx, c, got);
        for (int64_t i = 0; i < (int64_t)rows; i++) {
            double sum = 0, size = 0;
            const int64_t row = i / (n + gap), column = i % (n + gap);
            if (column >= n) {
                assert_true(isnan(got[i]));
                continue;
            }
            for (int64_t l = 0; l < k; l++) {
                const double term = (double)(num_get(NEWT_F16, a, (size_t)(row * k + l)) *
                                             num_get(NEWT_F16, b, (size_t)(l * n + column)));
                sum += term / 2;
                size += fabs(term);
            }
            run_near((double)got[i], sum, size * 2e-6, (size_t)i);
        }
        out.stride[1] = 2;
        if (n > 1)
            assert_int_equal(K(passed_product)(cx->device, NULL, in_a, 0.5F, in_b, out),
                             NEWT_BAD_ARGUMENT);
        run_release(cx);
    }
}

static void passed_cubes(RunCx *cx)
{
    enum { A = 3, B = 9, C = 13, STRIDE = C + 2, PLANE = STRIDE * B + 2, COUNT = PLANE * A };
    float x[COUNT], got[COUNT];
    int32_t line[20], sum = 0;
    for (int32_t i = 0; i < 20; i++) {
        line[i] = (int32_t)run_between(cx, -50, 50);
        sum += i >= 1 && i < 9 ? line[i] : 0;
    }
    for (size_t i = 0; i < COUNT; i++)
        x[i] = (float)run_between(cx, -1000, 1000);
    void *data = RUN_IN(cx, x);
    RUN_OK(K(passed_cube)(cx->device, NULL,
                          tensor(data, NEWT_F32, 3, (const int64_t[]){ A, B, C }, 2),
                          tensor(RUN_IN(cx, line), NEWT_I32, 1, (const int64_t[]){ 20 }, 0)));
    run_get(cx, data, got);
    for (int32_t i = 0; i < COUNT; i++) {
        const bool inside = i % PLANE / STRIDE < B && i % PLANE % STRIDE < C;
        assert_true(got[i] == x[i] + (inside ? (float)(STRIDE + sum) : 0));
    }
}

RUN_TESTS = {
    { "reading", reading },
    { "writing", writing },
    { "ranks", ranks },
    { "products", products },
    { "choosing", choosing },
    { "rows by number", picking },
    { "atomics", atomics },
    { "passed products", passed_products },
    { "passed cubes", passed_cubes },
    RUN_END,
};
