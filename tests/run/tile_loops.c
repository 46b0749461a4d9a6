// Tile kernels: loops whose last tile comes by itself, sums in parts, names of sizes that change.
#include "number.h"

enum { D = 32 };

static NewtTensor tensor2(void *data, NewtType type, int64_t rows, int64_t columns)
{
    return newt_tensor2(data, type, rows, columns);
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

/// Row `m` of the result when it sees the first `keys` keys.
static void expect_row(const NewtF16 *q, const NewtF16 *k, const NewtF16 *v, size_t m, size_t keys,
                       double scale, const float *got)
{
    double want[D] = { 0 }, sum = 0;
    for (size_t n = 0; n < keys; n++) {
        double s = 0;
        for (size_t i = 0; i < D; i++)
            s += half(q[m * D + i]) * half(k[n * D + i]);
        const double p = exp(s * scale);
        sum += p;
        for (size_t i = 0; i < D; i++)
            want[i] += p * half(v[n * D + i]);
    }
    for (size_t i = 0; i < D; i++)
        run_near((double)got[m * D + i], want[i] / sum, 2e-3, m * D + i);
}

typedef NewtStatus Causal(NewtDevice *device, NewtStream stream, NewtTensor q, NewtTensor k,
                          NewtTensor v, NewtTensor out, float scale);

static void check_causal(RunCx *cx, Causal *causal, int64_t length)
{
    const size_t s = (size_t)length;
    NewtF16 *q = halves(cx, s * D), *k = halves(cx, s * D), *v = halves(cx, s * D);
    float *got = run_temp(cx, s * D * sizeof *got);
    void *out = RUN_OUT(cx, s * D * sizeof *got);
    RUN_OK(causal(cx->device, NULL, tensor2(run_buffer(cx, q, s * D * 2, 0), NEWT_F16, length, D),
                  tensor2(run_buffer(cx, k, s * D * 2, 0), NEWT_F16, length, D),
                  tensor2(run_buffer(cx, v, s * D * 2, 0), NEWT_F16, length, D),
                  tensor2(out, NEWT_F32, length, D), 0.25f));
    run_get(cx, out, got);
    for (size_t m = 0; m < s; m++)
        expect_row(q, k, v, m, m + 1, 0.25, got);
    run_release(cx);
}

static void test_causal(RunCx *cx)
{
    Causal *const kernels[] = { K(causal_32_16),   K(causal_16_32),   K(causal_64_64),
                                K(diagonal_32_16), K(diagonal_16_32), K(diagonal_64_64) };
    static const int64_t lengths[] = { 1, 15, 32, 40, 64, 75, 97, 128, 200 };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
            check_causal(cx, kernels[k], lengths[i]);
}

typedef NewtStatus Prefix(NewtDevice *device, NewtStream stream, NewtTensor q, NewtTensor k,
                          NewtTensor v, NewtTensor out, int32_t length, float scale);

static void check_prefix(RunCx *cx, Prefix *prefix, int64_t length)
{
    enum { M = 37, N = 200 };
    NewtF16 *q = halves(cx, M * D), *k = halves(cx, N * D), *v = halves(cx, N * D);
    for (size_t i = (size_t)length * D; i < (size_t)N * D; i++)
        k[i] = v[i] = newt_f16(NAN);
    float got[M * D];
    void *out = RUN_OUT(cx, sizeof got);
    RUN_OK(prefix(cx->device, NULL, tensor2(run_buffer(cx, q, M * D * 2, 0), NEWT_F16, M, D),
                  tensor2(run_buffer(cx, k, N * D * 2, 0), NEWT_F16, N, D),
                  tensor2(run_buffer(cx, v, N * D * 2, 0), NEWT_F16, N, D),
                  tensor2(out, NEWT_F32, M, D), (int32_t)length, 0.25f));
    run_get(cx, out, got);
    for (size_t m = 0; m < M; m++)
        expect_row(q, k, v, m, (size_t)length, 0.25, got);
    run_release(cx);
}

static void test_prefix(RunCx *cx)
{
    static const int64_t lengths[] = { 5, 32, 47, 64, 128, 150, 200 };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        check_prefix(cx, K(prefix_32_16), lengths[i]);
        check_prefix(cx, K(prefix_64_64), lengths[i]);
    }
}

static void test_part_means(RunCx *cx)
{
    enum { M = 20, N = 53, C = 40, BEGIN = 3 };
    NewtF16 *x = halves(cx, M * C), *y = halves(cx, N * C);
    float got[M];
    void *out = RUN_OUT(cx, sizeof got);
    RUN_OK(K(part_means)(cx->device, NULL, tensor2(run_buffer(cx, x, M * C * 2, 0), NEWT_F16, M, C),
                         tensor2(run_buffer(cx, y, N * C * 2, 0), NEWT_F16, N, C),
                         newt_tensor(out, NEWT_F32, 1, (const int64_t[]){ M }), BEGIN));
    run_get(cx, out, got);
    for (size_t m = 0; m < M; m++) {
        double want = 0;
        for (size_t n = BEGIN; n < N; n++)
            for (size_t i = 0; i < C; i++)
                want += half(x[m * C + i]) * half(y[n * C + i]);
        run_near((double)got[m], want, 1e-3, m);
    }
}

static void test_split_k(RunCx *cx)
{
    enum { M = 20, N = 35, C = 150 };
    NewtF16 *x = halves(cx, M * C), *y = halves(cx, C * N);
    float zeros[M * N] = { 0 }, got[M * N];
    void *out = RUN_IN(cx, zeros);
    RUN_OK(K(split_k)(cx->device, NULL, tensor2(run_buffer(cx, x, M * C * 2, 0), NEWT_F16, M, C),
                      tensor2(run_buffer(cx, y, C * N * 2, 0), NEWT_F16, C, N),
                      tensor2(out, NEWT_F32, M, N)));
    run_get(cx, out, got);
    for (size_t m = 0; m < M; m++)
        for (size_t n = 0; n < N; n++) {
            double want = 0;
            for (size_t i = 0; i < C; i++)
                want += half(x[m * C + i]) * half(y[i * N + n]);
            run_near((double)got[m * N + n], want, 1e-4, m * N + n);
        }
}

static void test_renamed(RunCx *cx)
{
    enum { M = 4, N = 11 };
    int32_t x[M * N] = { 0 }, got[M][3];
    void *in = RUN_IN(cx, x), *out = RUN_OUT(cx, sizeof got);
    for (int32_t limit = 2; limit < 12; limit += 5) {
        RUN_OK(K(renamed)(cx->device, NULL, tensor2(in, NEWT_I32, M, N),
                          tensor2(out, NEWT_I32, M, 3), limit));
        run_get(cx, out, got);
        int32_t rest = N;
        while (rest > limit)
            rest -= 2;
        for (size_t i = 0; i < M; i++) {
            assert_int_equal(got[i][0], N - 3);
            assert_int_equal(got[i][1], N - 3 > limit ? limit : M);
            assert_int_equal(got[i][2], rest);
        }
    }
}

RUN_TESTS = { { "causal", test_causal },         { "prefix", test_prefix },
              { "part_means", test_part_means }, { "split_k", test_split_k },
              { "renamed", test_renamed },       RUN_END };
