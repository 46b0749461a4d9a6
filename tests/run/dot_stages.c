// Matrix products in loops of every number of stages against sums in long double.
#include "product.h"

typedef NewtStatus Steps(NewtDevice *device, const void *a, const void *b, void *c, int32_t m,
                         int32_t n, int32_t k, int32_t a_pitch, int32_t b_pitch);
#define STEPS(name)                                                                              \
    static NewtStatus name(NewtDevice *device, const void *a, const void *b, void *c, int32_t m, \
                           int32_t n, int32_t k, int32_t a_pitch, int32_t b_pitch)               \
    {                                                                                            \
        return K(name)(device, NULL, a, b, c, m, n, k, a_pitch, b_pitch);                        \
    }
STEPS(steps_f16_1)
STEPS(steps_f16_2)
STEPS(steps_f16_3)
STEPS(steps_f16_5)
STEPS(steps_bf16_4)
STEPS(steps_tf32_3)
STEPS(steps_tf32_6)
STEPS(steps_ieee_2)
STEPS(steps_i8_8)
STEPS(steps_i8_3)
STEPS(steps_e4m3_4)
STEPS(steps_f64_3)

typedef struct StepsCase {
    Steps *launch;
    const char *name;
    NewtType factor, sum;
    bool turn_a, turn_b, tf32;
} StepsCase;

static const StepsCase cases[] = {
    { steps_f16_1, "fp16, 1 stage", NEWT_F16, NEWT_F32, false, false, false },
    { steps_f16_2, "fp16, 2 stages", NEWT_F16, NEWT_F32, false, false, false },
    { steps_f16_3, "fp16, 3 stages, A by columns", NEWT_F16, NEWT_F16, true, false, false },
    { steps_f16_5, "fp16, 5 stages, B by columns", NEWT_F16, NEWT_F32, false, true, false },
    { steps_bf16_4, "bf16, 4 stages, by columns", NEWT_BF16, NEWT_F32, true, true, false },
    { steps_tf32_3, "tf32, 3 stages", NEWT_F32, NEWT_F32, false, false, true },
    { steps_tf32_6, "tf32, 6 stages, by columns", NEWT_F32, NEWT_F32, true, true, true },
    { steps_ieee_2, "fp32, 2 stages, B by columns", NEWT_F32, NEWT_F32, false, true, false },
    { steps_i8_8, "int8, 8 stages, B by columns", NEWT_I8, NEWT_I32, false, true, false },
    { steps_i8_3, "int8, 3 stages, A by columns", NEWT_I8, NEWT_I32, true, false, false },
    { steps_e4m3_4, "e4m3, 4 stages, B by columns", NEWT_F8E4M3, NEWT_F32, false, true, false },
    { steps_f64_3, "fp64, 3 stages", NEWT_F64, NEWT_F64, false, false, false },
};

/// Sizes that are multiples of 16 in half of the rounds: then copies move whole pieces.
static int32_t size_of(RunCx *cx, bool whole, int32_t most)
{
    const int32_t n = (int32_t)run_between(cx, 1, most);
    return whole ? (n + 15) / 16 * 16 : n;
}

static void run_steps(RunCx *cx, const StepsCase *t, bool whole)
{
    Product p = { .a = t->factor, .b = t->factor, .c = t->sum, .tf32 = t->tf32 };
    p.m = size_of(cx, whole, 80);
    p.n = size_of(cx, whole, 80);
    p.k = size_of(cx, whole, 300);
    const int32_t a_pitch = (t->turn_a ? p.m : p.k) + (whole ? 16 : 1);
    const int32_t b_pitch = (t->turn_b ? p.k : p.n) + (whole ? 16 : 3);
    p.a_row = t->turn_a ? 1 : a_pitch;
    p.a_col = t->turn_a ? a_pitch : 1;
    p.b_row = t->turn_b ? 1 : b_pitch;
    p.b_col = t->turn_b ? b_pitch : 1;
    // The last row ends with its last element: what is read behind it is outside of the buffer.
    const size_t a_count =
        (size_t)(p.m - 1) * (size_t)p.a_row + (size_t)(p.k - 1) * (size_t)p.a_col + 1;
    const size_t b_count =
        (size_t)(p.k - 1) * (size_t)p.b_row + (size_t)(p.n - 1) * (size_t)p.b_col + 1;
    const size_t a_bytes = a_count * num_size(p.a), b_bytes = b_count * num_size(p.b);
    const size_t c_bytes = num_size(p.c) * (size_t)(p.m * p.n);
    void *a = run_temp(cx, a_bytes), *b = run_temp(cx, b_bytes);
    void *c = run_temp(cx, c_bytes), *dc = RUN_OUT(cx, c_bytes);
    product_fill(cx, p.a, a, a_count);
    product_fill(cx, p.b, b, b_count);
    RUN_OK(t->launch(cx->device, run_buffer(cx, a, a_bytes, 0), run_buffer(cx, b, b_bytes, 0), dc,
                     p.m, p.n, p.k, a_pitch, b_pitch));
    run_get(cx, dc, c);
    product_check(&p, a, b, c, 0, t->name);
}

static void stages(RunCx *cx)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int whole = 0; whole < 2; whole++) {
            run_steps(cx, &cases[i], whole);
            run_release(cx);
        }
}

typedef NewtStatus Weights(NewtDevice *device, const void *a, const void *b, const void *scale,
                           const float *bias, float *c, int32_t m, int32_t n, int32_t k,
                           int32_t a_pitch, int32_t b_pitch);
#define WEIGHTS(name)                                                                           \
    static NewtStatus name(NewtDevice *device, const void *a, const void *b, const void *scale, \
                           const float *bias, float *c, int32_t m, int32_t n, int32_t k,        \
                           int32_t a_pitch, int32_t b_pitch)                                    \
    {                                                                                           \
        return K(name)(device, NULL, a, b, scale, bias, c, m, n, k, a_pitch, b_pitch);          \
    }
WEIGHTS(weights_3)
WEIGHTS(weights_4)

/// Small integers and scales of 1, 2, 4: every sum is exact.
static void run_weights(RunCx *cx, Weights *launch, bool whole)
{
    const int32_t m = size_of(cx, whole, 150), n = size_of(cx, whole, 150),
                  k = size_of(cx, whole, 200);
    const int32_t a_pitch = k, b_pitch = n;
    void *a = run_temp(cx, (size_t)(m * k) * 2), *scale = run_temp(cx, (size_t)n * 2);
    int8_t *b = run_temp(cx, (size_t)(k * n));
    float *bias = run_temp(cx, (size_t)n * 4), *c = run_temp(cx, (size_t)(m * n) * 4),
          *got = run_temp(cx, (size_t)(m * n) * 4);
    for (int32_t i = 0; i < m * k; i++)
        num_put(NEWT_F16, a, (size_t)i, (Num)run_between(cx, -3, 3));
    for (int32_t i = 0; i < k * n; i++)
        b[i] = (int8_t)run_between(cx, -20, 20);
    for (int32_t i = 0; i < n; i++) {
        num_put(NEWT_F16, scale, (size_t)i, ldexpl(1, (int)run_between(cx, 0, 2)));
        bias[i] = (float)run_between(cx, -500, 500);
    }
    for (int32_t i = 0; i < m * n; i++)
        c[i] = (float)run_between(cx, -9, 9);
    float *dc = run_buffer(cx, c, (size_t)(m * n) * 4, 0);
    RUN_OK(launch(cx->device, run_buffer(cx, a, (size_t)(m * k) * 2, 0),
                  run_buffer(cx, b, (size_t)(k * n), 0), run_buffer(cx, scale, (size_t)n * 2, 0),
                  run_buffer(cx, bias, (size_t)n * 4, 0), dc, m, n, k, a_pitch, b_pitch));
    run_get(cx, dc, got);
    for (int32_t i = 0; i < m; i++)
        for (int32_t j = 0; j < n; j++) {
            Num sum = bias[j];
            for (int32_t l = 0; l < k; l++)
                sum += num_get(NEWT_F16, a, (size_t)(i * k + l)) * b[l * n + j] *
                       num_get(NEWT_F16, scale, (size_t)j);
            assert_true((Num)got[i * n + j] == (sum > 0 ? sum : 0) + c[i * n + j]);
        }
}

static void converted_weights(RunCx *cx)
{
    for (int whole = 0; whole < 2; whole++) {
        run_weights(cx, weights_3, whole);
        run_weights(cx, weights_4, whole);
        run_release(cx);
    }
}

typedef NewtStatus Table(NewtDevice *device, const void *a, const void *b, const int32_t *rows,
                         float *c, int32_t count, int32_t a_pitch, int32_t b_pitch);
#define TABLE(name)                                                                               \
    static NewtStatus name(NewtDevice *device, const void *a, const void *b, const int32_t *rows, \
                           float *c, int32_t count, int32_t a_pitch, int32_t b_pitch)             \
    {                                                                                             \
        return K(name)(device, NULL, a, b, rows, c, count, a_pitch, b_pitch);                     \
    }
TABLE(table_3)
TABLE(table_6)

/// The table ends with its buffer, and so do the tiles of A: nothing behind them may be read.
static void run_table(RunCx *cx, Table *launch, int32_t count, int32_t pitch)
{
    enum { TILES = 7 };
    const int32_t most = count > 0 ? count : 1, a_pitch = most * 32;
    void *a = run_temp(cx, (size_t)(32 * a_pitch) * 2),
         *b = run_temp(cx, (size_t)(TILES * 32 * pitch) * 2);
    int32_t *rows = run_temp(cx, (size_t)most * 4);
    float *c = run_temp(cx, 32 * 32 * 4), *dc = RUN_OUT(cx, 32 * 32 * 4);
    for (int32_t i = 0; i < 32 * a_pitch; i++)
        num_put(NEWT_F16, a, (size_t)i, (Num)run_between(cx, -3, 3));
    for (int32_t i = 0; i < TILES * 32 * pitch; i++)
        num_put(NEWT_F16, b, (size_t)i, (Num)run_between(cx, -3, 3));
    for (int32_t i = 0; i < most; i++)
        rows[i] = (int32_t)run_between(cx, 0, (TILES - 1) * 32);
    RUN_OK(launch(cx->device, run_buffer(cx, a, (size_t)(32 * a_pitch) * 2, 0),
                  run_buffer(cx, b, (size_t)(TILES * 32 * pitch) * 2, 0),
                  run_buffer(cx, rows, (size_t)most * 4, 0), dc, count, a_pitch, pitch));
    run_get(cx, dc, c);
    for (int32_t i = 0; i < 32; i++)
        for (int32_t j = 0; j < 32; j++) {
            Num sum = 0;
            for (int32_t k = 0; k < count * 32; k++)
                sum += num_get(NEWT_F16, a, (size_t)(i * a_pitch + k)) *
                       num_get(NEWT_F16, b, (size_t)((rows[k / 32] + k % 32) * pitch + j));
            assert_true((Num)c[i * 32 + j] == sum);
        }
}

static void tiles_of_a_table(RunCx *cx)
{
    for (int32_t count = 0; count < 9; count++) {
        run_table(cx, count % 2 ? table_3 : table_6, count, count % 3 ? 32 : 33);
        run_release(cx);
    }
}

RUN_TESTS = { { "stages", stages },
              { "converted_weights", converted_weights },
              { "tiles_of_a_table", tiles_of_a_table },
              RUN_END };
