// Matrix products that comparable compilers had wrong in public, with exact values.
#include "number.h"

typedef NewtStatus Bytes(NewtDevice *device, NewtStream stream, const int8_t *a, const int8_t *b,
                         int32_t *c, int32_t m, int32_t n, int32_t k);
typedef NewtStatus FromMemory(NewtDevice *device, NewtStream stream, const NewtF16 *a,
                              const NewtF16 *b, float *c, int32_t k);
typedef NewtStatus Transposed(NewtDevice *device, const void *a, const void *b, void *c);
typedef NewtStatus Chained(NewtDevice *device, NewtStream stream, const int8_t *a, const int8_t *b,
                           const int8_t *c, int32_t *out, int32_t *reshaped);

#define TRANSPOSED(name)                                                              \
    static NewtStatus name(NewtDevice *device, const void *a, const void *b, void *c) \
    {                                                                                 \
        return K(name)(device, NULL, a, b, c);                                        \
    }
TRANSPOSED(transposed_f16)
TRANSPOSED(transposed_bf16)
TRANSPOSED(transposed_f32)
TRANSPOSED(transposed_i8)
TRANSPOSED(transposed_f16_64)
TRANSPOSED(transposed_bf16_64)
TRANSPOSED(transposed_f32_64)
TRANSPOSED(transposed_i8_64)

/// Long sums of the largest products, which no fp32 accumulator can hold.
static void run_bytes(RunCx *cx, Bytes *launch)
{
    static const int8_t small_a[2][2] = { { -44, -20 }, { -126, 6 } },
                        small_b[2][2] = { { 24, -75 }, { 127, -101 } };
    static const int32_t small[2][2] = { { -3596, 5320 }, { -2262, 8844 } };
    enum { LONG = 4608 };
    int32_t c[4], long_c;
    void *dc = RUN_OUT(cx, sizeof c), *dl = RUN_OUT(cx, sizeof long_c);
    int8_t *a = run_temp(cx, LONG), *b = run_temp(cx, LONG);
    RUN_OK(launch(cx->device, NULL, RUN_IN(cx, small_a), RUN_IN(cx, small_b), dc, 2, 2, 2));
    run_get(cx, dc, c);
    run_same_bits(c, small, 4, 4);
    memset(a, 127, LONG);
    memset(b, 127, LONG);
    a[LONG - 1] = 126;
    RUN_OK(launch(cx->device, NULL, run_buffer(cx, a, LONG, 0), run_buffer(cx, b, LONG, 0), dl, 1,
                  1, LONG));
    run_get(cx, dl, &long_c);
    assert_int_equal(long_c, 74322305);
}

static void int8_sums(RunCx *cx)
{
    run_bytes(cx, K(bytes_32));
    run_bytes(cx, K(bytes_64));
}

/// Sum of (m * N + n + 1) * c[m][n]: catches permuted elements too.
static int64_t weighted(const int32_t *c, int count)
{
    int64_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += (int64_t)(i + 1) * c[i];
    return sum;
}

static void accumulator_from_memory(RunCx *cx)
{
    float c[1024], out[1024];
    int32_t whole[1024];
    uint16_t a[2048], b[2048];
    for (int i = 0; i < 2048; i++) {
        num_put(NEWT_F16, a, (size_t)i, (i / 64 + i % 64) % 5 - 2);
        num_put(NEWT_F16, b, (size_t)i, (2 * (i / 32) + i % 32) % 7 - 3);
    }
    for (int i = 0; i < 1024; i++)
        c[i] = (float)(i / 32 - i % 32);
    static FromMemory *const launches[] = { K(from_memory_32), K(from_memory_32_loop),
                                            K(from_memory_64), K(from_memory_64_loop) };
    for (size_t t = 0; t < sizeof launches / sizeof *launches; t++) {
        void *dc = RUN_IN(cx, c), *da = RUN_IN(cx, a), *db = RUN_IN(cx, b);
        RUN_OK(launches[t](cx->device, NULL, da, db, dc, 64));
        run_get(cx, dc, out);
        for (int i = 0; i < 1024; i++)
            whole[i] = (int32_t)out[i];
        assert_int_equal(whole[0], 3);
        assert_int_equal(whole[31], -41);
        assert_int_equal(whole[31 * 32], 36);
        assert_int_equal(whole[31 * 32 + 31], -10);
        assert_int_equal(whole[5 * 32 + 7], 1);
        assert_int_equal(weighted(whole, 1024), 2694213);
    }
}

static void transposed_operand(RunCx *cx)
{
    static const struct {
        NewtType t, c;
        Transposed *launch;
    } cases[] = {
        { NEWT_F16, NEWT_F32, transposed_f16 },   { NEWT_F16, NEWT_F32, transposed_f16_64 },
        { NEWT_BF16, NEWT_F32, transposed_bf16 }, { NEWT_BF16, NEWT_F32, transposed_bf16_64 },
        { NEWT_F32, NEWT_F32, transposed_f32 },   { NEWT_F32, NEWT_F32, transposed_f32_64 },
        { NEWT_I8, NEWT_I32, transposed_i8 },     { NEWT_I8, NEWT_I32, transposed_i8_64 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t bytes = 2048 * num_size(cases[i].t);
        void *a = run_temp(cx, bytes), *b = run_temp(cx, bytes);
        uint32_t out[2048];
        int32_t c[2048];
        for (int k = 0; k < 64; k++)
            for (int m = 0; m < 32; m++) {
                const int x = (3 * k + m) % 7 - 3, y = (k + 5 * m) % 6 - 2;
                num_cast(NEWT_I32, &x, cases[i].t,
                         (char *)a + (size_t)(k * 32 + m) * num_size(cases[i].t), 0);
                num_cast(NEWT_I32, &y, cases[i].t,
                         (char *)b + (size_t)(k * 32 + m) * num_size(cases[i].t), 0);
            }
        void *dc = RUN_OUT(cx, sizeof out);
        RUN_OK(cases[i].launch(cx->device, run_buffer(cx, a, bytes, 0), run_buffer(cx, b, bytes, 0),
                               dc));
        run_get(cx, dc, out);
        for (size_t k = 0; k < 2048; k++)
            c[k] = (int32_t)num_get(cases[i].c, out, k);
        assert_int_equal(c[0], 12);
        assert_int_equal(c[31], 3);
        assert_int_equal(c[31 * 32], 12);
        assert_int_equal(c[31 * 32 + 31], -12);
        assert_int_equal(c[5 * 32 + 7], 6);
        assert_int_equal(weighted(c, 1024), -50478);
        for (int k = 0; k < 1024; k++)  // the second product is the first one's transpose
            assert_int_equal(c[1024 + k], c[k % 32 * 32 + k / 32]);
    }
}

static void run_chain(RunCx *cx, Chained *launch)
{
    int8_t a[1024], b[1024], c[1024];
    int32_t middle[1024], want[1024] = { 0 }, out[1024], reshaped[1024];
    for (int i = 0; i < 1024; i++) {
        a[i] = (int8_t)run_between(cx, -1, 1);
        b[i] = (int8_t)run_between(cx, -1, 1);
        c[i] = (int8_t)run_between(cx, -100, 100);
    }
    for (int i = 0; i < 1024; i++) {
        middle[i] = 0;
        for (int k = 0; k < 32; k++)
            middle[i] += a[i / 32 * 32 + k] * b[k * 32 + i % 32];
    }
    for (int i = 0; i < 1024; i++)
        for (int k = 0; k < 32; k++)
            want[i] += middle[i / 32 * 32 + k] * c[k * 32 + i % 32];
    void *dout = RUN_OUT(cx, sizeof out), *dreshaped = RUN_OUT(cx, sizeof reshaped);
    RUN_OK(launch(cx->device, NULL, RUN_IN(cx, a), RUN_IN(cx, b), RUN_IN(cx, c), dout, dreshaped));
    run_get(cx, dout, out);
    run_get(cx, dreshaped, reshaped);
    run_same_bits(out, want, 4, 1024);
    run_same_bits(reshaped, middle, 4, 1024);
}

static void chains(RunCx *cx)
{
    run_chain(cx, K(chained_32));
    run_chain(cx, K(chained_64));
}

RUN_TESTS = { { "int8_sums", int8_sums },
              { "accumulator_from_memory", accumulator_from_memory },
              { "transposed_operand", transposed_operand },
              { "chains", chains },
              RUN_END };
