// Kernels that people write, against loops in long double or integers.
#include "number.h"

static void colours(RunCx *cx)
{
    for (int32_t n = 0; n < 1200; n += 199) {
        uint8_t image[1200 * 4], got[1200 * 4];
        for (int32_t i = 0; i < 4 * n; i++)
            image[i] = (uint8_t)run_random(cx);
        void *d = run_buffer(cx, image, (size_t)n * 4, 0);
        RUN_OK(K(invert_colours)(cx->device, NULL, d, n));
        run_get(cx, d, got);
        for (int32_t i = 0; i < 4 * n; i++)
            assert_int_equal(got[i], i % 4 == 3 ? image[i] : 255 - image[i]);
    }
}

static void jagged(RunCx *cx)
{
    enum { ROWS = 9, WIDTH = 45 };
    int64_t starts[ROWS + 1] = { 0 };
    for (int i = 0; i < ROWS; i++)
        starts[i + 1] = starts[i] + (i == 3 ? 0 : run_between(cx, 0, 30));
    size_t total = (size_t)starts[ROWS] * WIDTH;
    float *x = run_temp(cx, sizeof *x * (total + 1)), got[ROWS * WIDTH];
    for (size_t i = 0; i < total; i++)
        x[i] = (float)run_between(cx, -100, 100);
    void *out = RUN_OUT(cx, sizeof got);
    RUN_OK(K(jagged_sum)(cx->device, NULL, run_buffer(cx, x, sizeof *x * total, 0),
                         RUN_IN(cx, starts), out, ROWS, WIDTH));
    run_get(cx, out, got);
    for (size_t b = 0; b < ROWS; b++)
        for (size_t c = 0; c < WIDTH; c++) {
            float want = 0;
            for (int64_t r = starts[b]; r < starts[b + 1]; r++)
                want += x[(size_t)r * WIDTH + c];
            assert_true(got[b * WIDTH + c] == want);
        }
}

typedef NewtStatus RmsNorm(NewtDevice *device, void *x, void *weight, void *out, void *scale,
                           int32_t rows, int32_t width);

static void run_rms_norm(RunCx *cx, NewtType t, int32_t rows, int32_t width, RmsNorm *launch)
{
    size_t n = (size_t)(rows * width), e = num_size(t);
    void *x = run_temp(cx, e * n), *w = run_temp(cx, e * (size_t)width), *got = run_temp(cx, e * n);
    float *scale = run_temp(cx, sizeof *scale * (size_t)rows);
    for (size_t i = 0; i < n; i++)
        num_put(t, x, i, (Num)run_uniform(cx) * 4);
    for (size_t i = 0; i < (size_t)width; i++)
        num_put(t, w, i, (Num)run_uniform(cx) + 1);
    void *out = RUN_OUT(cx, e * n), *ds = RUN_OUT(cx, sizeof *scale * (size_t)rows);
    RUN_OK(launch(cx->device, run_buffer(cx, x, e * n, 0), run_buffer(cx, w, e * (size_t)width, 0),
                  out, ds, rows, width));
    run_get(cx, out, got);
    run_get(cx, ds, scale);
    for (int32_t r = 0; r < rows; r++) {
        Num square = 0;
        for (int32_t c = 0; c < width; c++)
            square +=
                num_get(t, x, (size_t)(r * width + c)) * num_get(t, x, (size_t)(r * width + c));
        Num want_scale = 1 / sqrtl(square / width + 1e-6f);
        run_near(scale[r], (double)want_scale, (double)want_scale * 3e-6, (size_t)r);
        for (int32_t c = 0; c < width; c++) {
            size_t i = (size_t)(r * width + c);
            Num want = num_get(t, x, i) * want_scale * num_get(t, w, (size_t)c);
            run_near(
                (double)num_get(t, got, i), (double)want,
                (double)(fabsl(want) * 4e-6L + (num_bits(t) == 16 ? num_ulp(t, want) * 0.51L : 0)),
                i);
        }
    }
}

#define RMS_NORM(name)                                                                      \
    static NewtStatus rms_##name(NewtDevice *device, void *x, void *weight, void *out,      \
                                 void *scale, int32_t rows, int32_t width)                  \
    {                                                                                       \
        return K(rms_norm_##name)(device, NULL, x, weight, out, scale, rows, width, 1e-6f); \
    }
RMS_NORM(f32)
RMS_NORM(f16)
RMS_NORM(bf16)

static void root_mean_square(RunCx *cx)
{
    run_rms_norm(cx, NEWT_F32, 5, 1000, rms_f32);
    run_rms_norm(cx, NEWT_F16, 3, 1024, rms_f16);
    run_rms_norm(cx, NEWT_BF16, 4, 77, rms_bf16);
}

static void groups(RunCx *cx)
{
    enum {
        BATCH = 2,
        GROUPS = 3,
        CHANNELS = 4,
        SIZE = 150,
        COUNT = CHANNELS * SIZE,
        ALL = BATCH * GROUPS * COUNT
    };
    float *x = run_temp(cx, sizeof *x * ALL), *got = run_temp(cx, sizeof *x * ALL),
          w[GROUPS * CHANNELS], b[GROUPS * CHANNELS];
    for (int i = 0; i < ALL; i++)
        x[i] = run_uniform(cx) + 0.25f;
    for (int i = 0; i < GROUPS * CHANNELS; i++) {
        w[i] = run_uniform(cx) + 2;
        b[i] = run_uniform(cx);
    }
    for (int affine = 0; affine < 2; affine++) {
        void *dx = run_buffer(cx, x, sizeof *x * ALL, 0), *out = RUN_OUT(cx, sizeof *x * ALL);
        if (affine)
            RUN_OK(K(group_norm_affine)(cx->device, NULL, dx, RUN_IN(cx, w), RUN_IN(cx, b), out,
                                        BATCH, GROUPS, CHANNELS, SIZE, 1e-5f));
        else
            RUN_OK(K(group_norm_plain)(cx->device, NULL, dx, out, BATCH, GROUPS, CHANNELS, SIZE,
                                       1e-5f));
        run_get(cx, out, got);
        for (int g = 0; g < BATCH * GROUPS; g++) {
            Num mean = 0, square = 0;
            for (int i = 0; i < COUNT; i++)
                mean += x[g * COUNT + i];
            mean /= COUNT;
            for (int i = 0; i < COUNT; i++)
                square += (x[g * COUNT + i] - mean) * (x[g * COUNT + i] - mean);
            Num scale = 1 / sqrtl(square / COUNT + 1e-5f);
            for (int i = 0; i < COUNT; i++) {
                int c = g % GROUPS * CHANNELS + i / SIZE;
                Num v = (x[g * COUNT + i] - mean) * scale, want = affine ? v * w[c] + b[c] : v;
                run_near(got[g * COUNT + i], (double)want, 2e-5, (size_t)(g * COUNT + i));
            }
        }
    }
}

/// Logits of rows, with one in every other row so large that the exponential of its distance to
/// another overflows: whatever is subtracted must be the row's own maximum.
static void fill_logits(RunCx *cx, float *x, int rows, int width)
{
    for (int i = 0; i < rows * width; i++)
        x[i] = run_uniform(cx) * 30;
    for (int r = 1; r < rows; r += 2)
        x[r * width + (int)run_between(cx, 0, width - 1)] = 300;
}

static void softmax(RunCx *cx)
{
    enum { ROWS = 13, WIDTH = 401 };
    float *x = run_temp(cx, sizeof *x * ROWS * WIDTH),
          *got = run_temp(cx, sizeof *x * ROWS * WIDTH);
    fill_logits(cx, x, ROWS, WIDTH);
    for (int32_t programs = 1; programs < 16; programs += 6) {
        void *out = RUN_OUT(cx, sizeof *x * ROWS * WIDTH);
        RUN_OK(K(softmax_persistent)(cx->device, NULL,
                                     run_buffer(cx, x, sizeof *x * ROWS * WIDTH, 0), out, ROWS,
                                     WIDTH, programs));
        run_get(cx, out, got);
        for (int r = 0; r < ROWS; r++) {
            Num high = -100, total = 0;
            for (int c = 0; c < WIDTH; c++)
                high = fmaxl(high, x[r * WIDTH + c]);
            for (int c = 0; c < WIDTH; c++)
                total += expl(x[r * WIDTH + c] - high);
            for (int c = 0; c < WIDTH; c++) {
                Num want = expl(x[r * WIDTH + c] - high) / total;
                run_near(got[r * WIDTH + c], (double)want, (double)want * 4e-6 + 1e-37,
                         (size_t)(r * WIDTH + c));
            }
        }
    }
}

static void losses(RunCx *cx)
{
    enum { ROWS = 6, VOCAB = 1003 };
    float *x = run_temp(cx, sizeof *x * ROWS * VOCAB), loss[ROWS], lse[ROWS];
    int64_t labels[ROWS];
    fill_logits(cx, x, ROWS, VOCAB);
    for (int r = 0; r < ROWS; r++)
        labels[r] = r == 2 ? -100 : run_between(cx, 0, VOCAB - 1);
    void *dloss = RUN_OUT(cx, sizeof loss), *dlse = RUN_OUT(cx, sizeof lse);
    RUN_OK(K(cross_entropy)(cx->device, NULL, run_buffer(cx, x, sizeof *x * ROWS * VOCAB, 0),
                            RUN_IN(cx, labels), dloss, dlse, ROWS, VOCAB, -100));
    run_get(cx, dloss, loss);
    run_get(cx, dlse, lse);
    for (int r = 0; r < ROWS; r++) {
        Num total = 0;
        for (int c = 0; c < VOCAB; c++)
            total += expl(x[r * VOCAB + c]);
        const double slack = r % 2 ? 6e-5 : 1e-5;  // two units of the last place of 300, of 30
        run_near(lse[r], (double)logl(total), slack, (size_t)r);
        run_near(loss[r], r == 2 ? 0 : (double)(logl(total) - x[r * VOCAB + labels[r]]), slack,
                 (size_t)r);
    }
}

static void optimisers(RunCx *cx)
{
    enum { N = 700 };
    for (int w = 0; w < 2; w++) {
        float p[N], g[N], m[N], v[N], got[3][N];
        for (int i = 0; i < N; i++) {
            p[i] = run_uniform(cx);
            g[i] = run_uniform(cx);
            m[i] = run_uniform(cx);
            v[i] = fabsf(run_uniform(cx));
        }
        void *dp = RUN_IN(cx, p), *dm = RUN_IN(cx, m), *dv = RUN_IN(cx, v), *dg = RUN_IN(cx, g);
        const float lr = 0.01f, b1 = 0.9f, b2 = 0.999f, eps = 0.01f, decay = 0.1f, c1 = 0.271f,
                    c2 = 0.002997001f;
        RUN_OK(w ? K(adamw)(cx->device, NULL, dp, dg, dm, dv, lr, b1, b2, eps, decay, c1, c2, N)
                 : K(adam)(cx->device, NULL, dp, dg, dm, dv, lr, b1, b2, eps, decay, c1, c2, N));
        run_get(cx, dp, got[0]);
        run_get(cx, dm, got[1]);
        run_get(cx, dv, got[2]);
        for (size_t i = 0; i < N; i++) {
            Num grad = g[i] + (w ? 0 : (Num)decay * p[i]),
                mean = (Num)m[i] * b1 + (1 - (Num)b1) * grad;
            Num square = (Num)v[i] * b2 + (1 - (Num)b2) * grad * grad;
            Num weight = p[i] * (w ? 1 - (Num)lr * decay : 1) -
                         lr * (mean / c1) / (sqrtl(square / c2) + eps);
            run_near(got[0][i], (double)weight, 1e-6, i);
            run_near(got[1][i], (double)mean, 1e-6, i);
            run_near(got[2][i], (double)square, 1e-6, i);
        }
    }
}

static void embedding(RunCx *cx)
{
    enum { TOKENS = 60, WIDTH = 100, VOCAB = 10 };
    float *grad = run_temp(cx, sizeof *grad * TOKENS * WIDTH), table[VOCAB * WIDTH],
          want[VOCAB * WIDTH];
    int32_t ids[TOKENS];
    for (int i = 0; i < VOCAB * WIDTH; i++)
        table[i] = want[i] = (float)run_between(cx, -50, 50);
    for (int t = 0; t < TOKENS; t++) {
        ids[t] = (int32_t)run_between(cx, 0, VOCAB - 1);
        for (int c = 0; c < WIDTH; c++) {
            grad[t * WIDTH + c] = (float)run_between(cx, -50, 50);
            want[ids[t] * WIDTH + c] += ids[t] == 3 ? 0 : grad[t * WIDTH + c];
        }
    }
    void *dt = RUN_IN(cx, table);
    RUN_OK(K(embedding_backward)(cx->device, NULL,
                                 run_buffer(cx, grad, sizeof *grad * TOKENS * WIDTH, 0),
                                 RUN_IN(cx, ids), dt, TOKENS, WIDTH, 3));
    run_get(cx, dt, table);
    num_same(NEWT_F32, table, want, VOCAB * WIDTH, "embedding");
}

static void pooling(RunCx *cx)
{
    enum { H = 21, W = 19, HO = (H - 1) / 2 + 1, WO = (W - 1) / 2 + 1 };
    float x[H * W], got[HO * WO];
    int64_t index[HO * WO];
    for (int i = 0; i < H * W; i++)
        x[i] = (float)run_between(cx, -9, 9);
    void *out = RUN_OUT(cx, sizeof got), *di = RUN_OUT(cx, sizeof index);
    RUN_OK(K(max_pool)(cx->device, NULL, RUN_IN(cx, x), out, di, H, W, HO, WO));
    run_get(cx, out, got);
    run_get(cx, di, index);
    for (int r = 0; r < HO; r++)
        for (int c = 0; c < WO; c++) {
            int best = -1;
            for (int k = 0; k < 9; k++) {
                int y = 2 * r - 1 + k / 3, z = 2 * c - 1 + k % 3;
                if (y >= 0 && y < H && z >= 0 && z < W && (best < 0 || x[y * W + z] > x[best]))
                    best = y * W + z;
            }
            assert_int_equal(index[r * WO + c], best);
            assert_true(got[r * WO + c] == x[best]);
        }
}

static void counting(RunCx *cx)
{
    enum { N = 3001, BINS = 20 };
    int32_t x[N], bins[BINS] = { 0 }, want[BINS] = { 0 };
    for (int i = 0; i < N; i++) {
        x[i] = (int32_t)run_between(cx, -5, BINS + 5);
        if (x[i] >= 0 && x[i] < BINS)
            want[x[i]]++;
    }
    void *db = RUN_IN(cx, bins);
    RUN_OK(K(histogram)(cx->device, NULL, RUN_IN(cx, x), db, N, BINS));
    run_get(cx, db, bins);
    num_same(NEWT_I32, bins, want, BINS, "histogram");
}

static void hashing(RunCx *cx)
{
    enum { N = 555 };
    uint32_t x[N], got[N], want[N];
    for (int i = 0; i < N; i++)
        x[i] = (uint32_t)run_random(cx);
    for (int32_t rounds = 0; rounds < 4; rounds++) {
        for (int i = 0; i < N; i++) {
            want[i] = x[i];
            for (int32_t k = 0; k < rounds; k++) {
                uint32_t h = 2166136261u;
                for (int b = 0; b < 4; b++)
                    h = (h ^ (want[i] >> 8 * b & 255)) * 16777619u;
                want[i] = h;
            }
        }
        void *out = RUN_OUT(cx, sizeof got);
        RUN_OK(K(fnv_hash)(cx->device, NULL, RUN_IN(cx, x), out, N, rounds));
        run_get(cx, out, got);
        num_same(NEWT_U32, got, want, N, "hash");
    }
}

static void rotations(RunCx *cx)
{
    enum { TOKENS = 5, HEADS = 3, HALF = 40, POSITIONS = 11, ALL = TOKENS * HEADS * HALF * 2 };
    float x[ALL], got[ALL], c[POSITIONS * HALF], s[POSITIONS * HALF];
    int32_t at[TOKENS] = { 7, 0, -1, 10, 3 };
    for (int i = 0; i < ALL; i++)
        x[i] = run_uniform(cx);
    for (int i = 0; i < POSITIONS * HALF; i++) {
        c[i] = (float)cos(i * 0.1);
        s[i] = (float)sin(i * 0.1);
    }
    for (int pairs = 0; pairs < 2; pairs++) {
        void *d = RUN_IN(cx, x), *dc = RUN_IN(cx, c), *ds = RUN_IN(cx, s), *da = RUN_IN(cx, at);
        RUN_OK(pairs ? K(rotary_pairs)(cx->device, NULL, d, dc, ds, da, TOKENS, HEADS, HALF)
                     : K(rotary_halves)(cx->device, NULL, d, dc, ds, da, TOKENS, HEADS, HALF));
        run_get(cx, d, got);
        for (int k = 0; k < TOKENS * HEADS; k++)
            for (int i = 0; i < HALF; i++) {
                int first = k * HALF * 2 + (pairs ? 2 * i : i), second = first + (pairs ? 1 : HALF),
                    p = at[k / HEADS];
                Num a = x[first], b = x[second], cosine = p < 0 ? 1 : c[p * HALF + i],
                    sine = p < 0 ? 0 : s[p * HALF + i];
                run_near(got[first], (double)(a * cosine - b * sine), 3e-7, (size_t)first);
                run_near(got[second], (double)(b * cosine + a * sine), 3e-7, (size_t)second);
            }
    }
}

static void activations(RunCx *cx)
{
    enum { N = 1000 };
    float x[N], got[N];
    for (int i = 0; i < N; i++)
        x[i] = run_uniform(cx) * 6;
    for (int act = 0; act < 5; act++) {
        void *dx = RUN_IN(cx, x), *out = RUN_OUT(cx, sizeof got);
        RUN_OK(act == 0   ? K(act_relu)(cx->device, NULL, dx, out, N)
               : act == 1 ? K(act_gelu)(cx->device, NULL, dx, out, N)
               : act == 2 ? K(act_silu)(cx->device, NULL, dx, out, N)
               : act == 3 ? K(act_leaky)(cx->device, NULL, dx, out, N)
                          : K(act_tanh)(cx->device, NULL, dx, out, N));
        run_get(cx, out, got);
        for (size_t i = 0; i < N; i++) {
            Num v = x[i];
            Num want = act == 0   ? fmaxl(v, 0)
                       : act == 1 ? v / 2 * (1 + erfl(v * 0.70710678L))
                       : act == 2 ? v / (1 + expl(-v))
                       : act == 3 ? (v > 0 ? v : v * 0.01L)
                                  : tanhl(v);
            run_near(got[i], (double)want, 1e-6, i);
        }
    }
}

static void long_sum(RunCx *cx)
{
    for (int32_t n = 0; n < 10000; n = 2 * n + 77) {
        float *x = run_temp(cx, sizeof *x * (size_t)n), got = 0, want = 0;
        for (int32_t i = 0; i < n; i++)
            want += x[i] = (float)run_between(cx, -9, 9);
        void *out = run_buffer(cx, &got, sizeof got, 0);
        RUN_OK(K(sum_to_one)(cx->device, NULL, run_buffer(cx, x, sizeof *x * (size_t)n, 4), out, n,
                             3));
        run_get(cx, out, &got);
        assert_true(got == want);
    }
}

static void packed_weights(RunCx *cx)
{
    enum { ROWS = 7, WIDTH = 192, GROUPS = WIDTH / 32 };
    uint8_t packed[ROWS * WIDTH / 2];
    uint16_t scales[ROWS * GROUPS];
    float x[WIDTH], got[ROWS];
    for (int i = 0; i < ROWS * WIDTH / 2; i++)
        packed[i] = (uint8_t)run_random(cx);
    for (size_t i = 0; i < ROWS * GROUPS; i++)
        num_put(NEWT_F16, scales, i, (Num)run_between(cx, 1, 8) / 8);
    for (int i = 0; i < WIDTH; i++)
        x[i] = (float)run_between(cx, -8, 8);
    void *out = RUN_OUT(cx, sizeof got);
    RUN_OK(K(int4_matrix_vector)(cx->device, NULL, RUN_IN(cx, packed), RUN_IN(cx, scales),
                                 RUN_IN(cx, x), out, ROWS, WIDTH));
    run_get(cx, out, got);
    for (int r = 0; r < ROWS; r++) {
        Num want = 0;
        for (int i = 0; i < WIDTH; i++) {
            int w = (packed[(r * WIDTH + i) / 2] >> (i % 2 * 4) & 15) - 8;
            want += w * num_get(NEWT_F16, scales, (size_t)(r * GROUPS + i / 32)) * x[i];
        }
        assert_true(got[r] == want);
    }
}

RUN_TESTS = {
    { "colour inversion", colours },
    { "jagged sum", jagged },
    { "rms norm", root_mean_square },
    { "group norm", groups },
    { "softmax, persistent", softmax },
    { "cross entropy", losses },
    { "adam", optimisers },
    { "embedding backward", embedding },
    { "max pool", pooling },
    { "histogram", counting },
    { "FNV hash", hashing },
    { "rotary embedding", rotations },
    { "activations", activations },
    { "sum by atomics", long_sum },
    { "int4 matrix times vector", packed_weights },
    RUN_END,
};
