// Tile kernels: what tiles know of themselves, functions, atomics, batches, instances,
// configurations.
#include "number.h"

#define T_(warps, name)  W##warps##name
#define T__(warps, name) T_(warps, name)
#define T(name)          T__(RUN_WARPS, name)

static NewtTensor tensor(void *data, NewtType type, int32_t rank, const int64_t *shape)
{
    NewtTensor t = { data, type, rank, { 0 }, { 0 } };
    int64_t stride = 1;
    for (int32_t i = rank; i-- > 0;) {
        t.shape[i] = shape[i];
        t.stride[i] = stride;
        stride *= shape[i];
    }
    return t;
}
#define TENSOR(data, type, rank, ...) \
    tensor((data), (type), (rank), (const int64_t[]){ __VA_ARGS__ })

static float *floats(RunCx *cx, size_t count)
{
    float *v = run_temp(cx, count * sizeof *v);
    for (size_t i = 0; i < count; i++)
        v[i] = run_uniform(cx);
    return v;
}

static NewtF16 *halves(RunCx *cx, size_t count)
{
    NewtF16 *v = run_temp(cx, count * sizeof *v);
    for (size_t i = 0; i < count; i++)
        v[i] = newt_f16(run_uniform(cx));
    return v;
}

static double half(NewtF16 v)
{
    return (double)newt_f16_to_float(v);
}

static void test_parts(RunCx *cx)
{
    enum { N = 45, TILES = 3 };  // tiles of 16 from 2 on: 2..18, 18..34, 34..45
    int32_t got[TILES][6];
    float x[1] = { 0 };
    void *out = RUN_OUT(cx, sizeof got);
    RUN_OK(K(parts)(cx->device, NULL, TENSOR(RUN_IN(cx, x), NEWT_F32, 1, 1),
                    TENSOR(out, NEWT_I32, 2, TILES, 6), N));
    run_get(cx, out, got);
    for (int32_t k = 0; k < TILES; k++) {
        int32_t begin = 2 + 16 * k, end = begin + 16 < N ? begin + 16 : N, sum = 0, inner = 0;
        for (int32_t i = begin; i < end; i++)
            sum += i;
        for (int32_t i = begin, id = 0; i < end; i += 4, id++)
            inner += (i + 4 < end ? 4 : end - i) + id * 100;
        const int32_t want[6] = { begin, end, TILES, 16, sum, inner };
        for (int i = 0; i < 6; i++)
            assert_int_equal(got[k][i], want[i]);
    }
}

static double leaky(float v)
{
    return (double)v * (v > 0 ? 1 : 0.25);
}

static void check_helpers(RunCx *cx, int64_t rows, int64_t width)
{
    const size_t count = (size_t)(rows * width);
    float *x = floats(cx, count), *got = run_temp(cx, count * sizeof *got);
    float *means = run_temp(cx, (size_t)rows * sizeof *means);
    void *out = RUN_OUT(cx, count * sizeof *got),
         *mean_out = RUN_OUT(cx, (size_t)rows * sizeof *means);
    RUN_OK(K(helpers)(cx->device, NULL,
                      TENSOR(run_buffer(cx, x, count * sizeof *x, 0), NEWT_F32, 2, rows, width),
                      TENSOR(out, NEWT_F32, 2, rows, width), TENSOR(mean_out, NEWT_F32, 1, rows)));
    run_get(cx, out, got);
    run_get(cx, mean_out, means);
    for (int64_t r = 0; r < rows; r++) {
        double mean = 0;
        for (int64_t i = r * width; i < (r + 1) * width; i++)
            mean += leaky(x[i]) / (double)width;
        run_near((double)means[r], mean, 1e-5, (size_t)r);
        for (int64_t i = r * width; i < (r + 1) * width; i++)
            run_near((double)got[i], leaky(x[i]) - mean, 1e-5, (size_t)i);
    }
    run_release(cx);
}

static void test_helpers(RunCx *cx)
{
    check_helpers(cx, 3, 100);
    check_helpers(cx, 2, 1500);
    check_helpers(cx, 1, 17000);
}

static void test_histogram(RunCx *cx)
{
    enum { N = 3001, BINS = 10 };
    int32_t x[N], counts[BINS] = { 0 }, got[BINS], zero[BINS] = { 0 };
    for (size_t i = 0; i < N; i++) {
        x[i] = (int32_t)run_between(cx, -1, BINS);  // -1 and BINS count nowhere
        if (x[i] >= 0 && x[i] < BINS)
            counts[x[i]]++;
    }
    void *out = RUN_IN(cx, zero);
    RUN_OK(K(tile_histogram)(cx->device, NULL, TENSOR(RUN_IN(cx, x), NEWT_I32, 1, N),
                        TENSOR(out, NEWT_I32, 1, BINS)));
    run_get(cx, out, got);
    for (size_t i = 0; i < BINS; i++)
        assert_int_equal(got[i], counts[i]);
}

static void test_batched(RunCx *cx)
{
    enum { B = 3, M = 40, N = 50, D = 33 };
    NewtF16 *x = halves(cx, B * M * D), *y = halves(cx, B * D * N);
    float got[B][M][N];
    void *out = RUN_OUT(cx, sizeof got);
    RUN_OK(K(batched)(cx->device, NULL,
                      TENSOR(run_buffer(cx, x, B * M * D * 2, 0), NEWT_F16, 3, B, M, D),
                      TENSOR(run_buffer(cx, y, B * D * N * 2, 0), NEWT_F16, 3, B, D, N),
                      TENSOR(out, NEWT_F32, 3, B, M, N)));
    run_get(cx, out, got);
    for (size_t b = 0; b < B; b++)
        for (size_t m = 0; m < M; m++)
            for (size_t n = 0; n < N; n++) {
                double sum = 0;
                for (size_t k = 0; k < D; k++)
                    sum += half(x[(b * M + m) * D + k]) * half(y[(b * D + k) * N + n]);
                run_near((double)got[b][m][n], sum, 1e-4, (b * M + m) * N + n);
            }
}

static void test_by_index(RunCx *cx)
{
    enum { B = 5, N = 1100 };
    float *x = floats(cx, B * N), *first = floats(cx, B * N),
          *got = run_temp(cx, B * N * sizeof *got);
    void *out = run_buffer(cx, first, B * N * sizeof *first, 0);
    RUN_OK(K(by_index)(cx->device, NULL,
                       TENSOR(run_buffer(cx, x, B * N * sizeof *x, 0), NEWT_F32, 2, B, N),
                       TENSOR(out, NEWT_F32, 2, B, N), 0.5f));
    run_get(cx, out, got);
    for (size_t i = 0; i < B * N; i++) {
        double v = (double)x[i];
        for (int j = 0; j < 3; j++)
            v = v * 0.5 + j;
        run_near((double)got[i], (double)first[i] + (i / N % 2 ? v : -v), 1e-5, i);
    }
}

static void test_instances(RunCx *cx)
{
    enum { M = 3, N = 77 };
    float *x = floats(cx, M * N), got[M * N], most[M];
    NewtF16 h[M * N];
    for (size_t i = 0; i < M * N; i++) {
        x[i] -= 2;
        h[i] = newt_f16(x[i]);
    }
    void *out = RUN_OUT(cx, sizeof got), *top = RUN_OUT(cx, sizeof most);
    NewtTensor tout = TENSOR(out, NEWT_F32, 2, M, N), ttop = TENSOR(top, NEWT_F32, 1, M);
    for (int half_type = 0; half_type < 2; half_type++) {
        if (half_type)
            RUN_OK(K(cast_scale_f16)(cx->device, NULL, TENSOR(RUN_IN(cx, h), NEWT_F16, 2, M, N), tout,
                               ttop));
        else
            RUN_OK(K(cast_scale_f32)(cx->device, NULL,
                               TENSOR(run_buffer(cx, x, M * N * sizeof *x, 0), NEWT_F32, 2, M, N),
                               tout, ttop));
        run_get(cx, out, got);
        run_get(cx, top, most);
        for (size_t m = 0; m < M; m++) {
            double high = -INFINITY;
            for (size_t i = m * N; i < (m + 1) * N; i++) {
                double v = half_type ? half(h[i]) : (double)x[i];
                high = fmax(high, v);
                run_near((double)got[i], v * 0.5, 0, i);
            }
            run_near((double)most[m], high, 0, m);
        }
    }
}

static void check_layernorm(RunCx *cx, int64_t rows, int64_t width)
{
    const size_t count = (size_t)(rows * width);
    NewtF16 *x = halves(cx, count), *w = halves(cx, (size_t)width),
            *got = run_temp(cx, count * sizeof *got);
    float *mu = run_temp(cx, (size_t)rows * sizeof *mu);
    void *out = RUN_OUT(cx, count * 2), *mean_out = RUN_OUT(cx, (size_t)rows * sizeof *mu);
    RUN_OK(K(layernorm)(
        cx->device, NULL, TENSOR(run_buffer(cx, x, count * 2, 0), NEWT_F16, 2, rows, width),
        TENSOR(run_buffer(cx, w, (size_t)width * 2, 0), NEWT_F16, 1, width),
        TENSOR(out, NEWT_F16, 2, rows, width), TENSOR(mean_out, NEWT_F32, 1, rows), 1e-5f));
    run_get(cx, out, got);
    run_get(cx, mean_out, mu);
    for (int64_t r = 0; r < rows; r++) {
        double mean = 0, var = 0;
        for (int64_t i = 0; i < width; i++)
            mean += half(x[r * width + i]) / (double)width;
        for (int64_t i = 0; i < width; i++)
            var += pow(half(x[r * width + i]) - mean, 2) / (double)width;
        run_near((double)mu[r], mean, 1e-5, (size_t)r);
        for (int64_t i = 0; i < width; i++) {
            double want = (half(x[r * width + i]) - mean) / sqrt(var + 1e-5) * half(w[i]);
            run_near(half(got[r * width + i]), want, 1e-4 + fabs(want) * 1e-3,
                     (size_t)(r * width + i));
        }
    }
    run_release(cx);
}

static void test_layernorm(RunCx *cx)
{
    static const int64_t shapes[][2] = { { 1, 1 },    { 7, 300 },  { 3, 1500 },
                                         { 2, 4096 }, { 1, 5001 }, { 2, 20000 } };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        check_layernorm(cx, shapes[i][0], shapes[i][1]);
}

static void test_exchange(RunCx *cx)
{
    enum { M = 3, N = 5000 };
    float *x = floats(cx, M * N), *y = floats(cx, M * N), *got = run_temp(cx, M * N * sizeof *got);
    void *dx = run_buffer(cx, x, M * N * sizeof *x, 0),
         *dy = run_buffer(cx, y, M * N * sizeof *y, 0);
    RUN_OK(K(exchange)(cx->device, NULL, TENSOR(dx, NEWT_F32, 2, M, N),
                       TENSOR(dy, NEWT_F32, 2, M, N)));
    run_get(cx, dx, got);
    run_same_bits(got, y, sizeof *got, M * N);
    run_get(cx, dy, got);
    run_same_bits(got, x, sizeof *got, M * N);
    NewtStatus status = K(exchange)(cx->device, NULL, TENSOR(dx, NEWT_F32, 2, M, N),
                                    TENSOR(dy, NEWT_F32, 2, M, N - 1));
    assert_int_equal(status, NEWT_BAD_ARGUMENT);
}

static void test_tuned(RunCx *cx)
{
    enum { M = 50, N = 70, D = 40 };
    NewtF16 *x = halves(cx, M * D), *y = halves(cx, D * N);
    float got[M * N];
    T(TunedArgs)
    args = { TENSOR(run_buffer(cx, x, M * D * 2, 0), NEWT_F16, 2, M, D),
             TENSOR(run_buffer(cx, y, D * N * 2, 0), NEWT_F16, 2, D, N),
             TENSOR(RUN_OUT(cx, sizeof got), NEWT_F32, 2, M, N), 0.5f };
    for (int config = -1; config < 2; config++) {
        memset(got, 0xff, sizeof got);
        RUN_OK(K(tuned_with)(cx->device, NULL, (T(TunedConfig))config, &args));
        run_get(cx, args.out.data, got);
        for (size_t m = 0; m < M; m++)
            for (size_t n = 0; n < N; n++) {
                double sum = 0;
                for (size_t k = 0; k < D; k++)
                    sum += half(x[m * D + k]) * half(y[k * N + n]);
                run_near((double)got[m * N + n], sum * 0.5, 1e-4, m * N + n);
            }
    }
    assert_int_equal(K(tuned_with)(cx->device, NULL, (T(TunedConfig))0, NULL), NEWT_BAD_ARGUMENT);
    args.y.shape[0]--;
    assert_int_equal(K(tuned_with)(cx->device, NULL, (T(TunedConfig))0, &args), NEWT_BAD_ARGUMENT);
}

typedef NewtStatus Attend(NewtDevice *device, NewtStream stream, NewtTensor q, NewtTensor k,
                          NewtTensor v, NewtTensor out, float scale);

static void check_attention(RunCx *cx, Attend *attend, size_t width)
{
    enum { M = 45, N = 75 };
    NewtF16 *q = halves(cx, M * width), *k = halves(cx, N * width), *v = halves(cx, N * width);
    float *got = run_temp(cx, M * width * sizeof *got);
    const int64_t d = (int64_t)width;
    void *out = RUN_OUT(cx, M * width * sizeof *got);
    NewtTensor tq = TENSOR(run_buffer(cx, q, M * width * 2, 0), NEWT_F16, 2, M, d);
    NewtTensor tk = TENSOR(run_buffer(cx, k, N * width * 2, 0), NEWT_F16, 2, N, d);
    NewtTensor tv = TENSOR(run_buffer(cx, v, N * width * 2, 0), NEWT_F16, 2, N, d);
    RUN_OK(attend(cx->device, NULL, tq, tk, tv, TENSOR(out, NEWT_F32, 2, M, d), 0.125f));
    run_get(cx, out, got);
    for (size_t m = 0; m < M; m++) {
        double p[N], sum = 0;
        for (size_t n = 0; n < N; n++) {
            double s = 0;
            for (size_t i = 0; i < width; i++)
                s += half(q[m * width + i]) * half(k[n * width + i]);
            sum += p[n] = exp(s * 0.125);
        }
        for (size_t i = 0; i < width; i++) {
            double want = 0;
            for (size_t n = 0; n < N; n++)
                want += p[n] / sum * half(v[n * width + i]);
            run_near((double)got[m * width + i], want, 2e-3, m * width + i);
        }
    }
    tk.shape[1]--;
    assert_int_equal(attend(cx->device, NULL, tq, tk, tv, TENSOR(out, NEWT_F32, 2, M, d), 0.125f),
                     NEWT_BAD_ARGUMENT);
    run_release(cx);
}

static void test_attention(RunCx *cx)
{
    check_attention(cx, K(attend_d64), 64);
    check_attention(cx, K(attend_d80), 80);
}

static void test_words(RunCx *cx)
{
    enum { M = 150 };
    float *x = floats(cx, M), got[M];
    void *out = RUN_OUT(cx, sizeof got);
    RUN_OK(K(words)(cx->device, NULL, TENSOR(run_buffer(cx, x, M * sizeof *x, 0), NEWT_F32, 1, M),
                    TENSOR(out, NEWT_F32, 1, M), -2.0f));
    run_get(cx, out, got);
    for (size_t i = 0; i < M; i++) {
        uint32_t bits;
        memcpy(&bits, &got[i], sizeof bits);
        if (i >= 3 && x[i] > 0)
            run_near((double)got[i], (double)x[i] * (double)(i / 64), 1e-5, i);
        else  // poison: nothing was written
            assert_int_equal(bits, UINT32_MAX);
    }
}

static void test_columns(RunCx *cx)
{
    enum { M = 70, N = 21 };
    int32_t x[N][M], got[3][N];
    for (size_t n = 0; n < N; n++)
        for (size_t m = 0; m < M; m++)
            x[n][m] = (int32_t)run_between(cx, 5, 1000);
    void *out = RUN_OUT(cx, sizeof got);
    NewtTensor t = TENSOR(RUN_IN(cx, x), NEWT_I32, 2, M, N);
    t.stride[0] = 1, t.stride[1] = M;
    RUN_OK(K(columns)(cx->device, NULL, t, TENSOR(out, NEWT_I32, 2, 3, N)));
    run_get(cx, out, got);
    for (size_t n = 0; n < N; n++) {
        int32_t least = INT32_MAX, most = 0, bits = 0;
        for (int32_t m = 0; m < M; m++) {
            least = x[n][m] < least ? x[n][m] : least;
            most = x[n][m] > x[n][most] ? m : most;
            bits ^= x[n][m];
        }
        assert_int_equal(got[0][n], least);
        assert_int_equal(got[1][n], most);
        assert_int_equal(got[2][n], bits);
    }
    t.stride[0] = 2;
    assert_int_equal(K(columns)(cx->device, NULL, t, TENSOR(out, NEWT_I32, 2, 3, N)),
                     NEWT_BAD_ARGUMENT);
}

static void test_carried(RunCx *cx)
{
    enum { M = 6, N = 45 };
    float *x = floats(cx, M * N), got[M];
    void *out = RUN_OUT(cx, sizeof got);
    RUN_OK(K(carried)(cx->device, NULL,
                      TENSOR(run_buffer(cx, x, M * N * sizeof *x, 0), NEWT_F32, 2, M, N),
                      TENSOR(out, NEWT_F32, 1, M)));
    run_get(cx, out, got);
    for (size_t m = 0; m < M; m++) {
        double sum = 0;
        for (size_t n = 0; n < N; n++)
            sum += 2 * exp((double)x[m * N + n] - 1);
        run_near((double)got[m], sum, 1e-4, m);
    }
}

static void test_sums_of_narrow_steps(RunCx *cx)
{
    enum { M = 3, N = 37 };
    int32_t x[M * N];
    int64_t got[M * N];
    for (size_t i = 0; i < M * N; i++)
        x[i] = i % 2 ? INT32_MAX - (int32_t)run_between(cx, 0, 30) : (int32_t)run_random(cx);
    void *out = RUN_OUT(cx, sizeof got);
    const int32_t by = (int32_t)run_between(cx, 1, 10);
    RUN_OK(K(sums_of_narrow_steps)(cx->device, NULL, TENSOR(RUN_IN(cx, x), NEWT_I32, 2, M, N),
                          TENSOR(out, NEWT_I64, 2, M, N), by));
    run_get(cx, out, got);
    for (size_t i = 0; i < M * N; i++)
        assert_int_equal(got[i], (int32_t)((uint32_t)x[i] + (uint32_t)by + (uint32_t)(i % N)));
}

RUN_TESTS = { { "parts", test_parts },
              { "helpers", test_helpers },
              { "histogram", test_histogram },
              { "batched", test_batched },
              { "by_index", test_by_index },
              { "instances", test_instances },
              { "layernorm", test_layernorm },
              { "exchange", test_exchange },
              { "tuned", test_tuned },
              { "attention", test_attention },
              { "words", test_words },
              { "columns", test_columns },
              { "carried", test_carried },
              { "sums_of_narrow_steps", test_sums_of_narrow_steps },
              RUN_END };
