// Faults that comparable compilers had in public, in memory and loops; right values by rule or by
// counting.
#include "number.h"

enum { MOST_STAGES = 4 };

typedef NewtStatus Branch(NewtDevice *device, NewtStream stream, const int32_t *idx, int32_t *out,
                          int32_t n, int32_t flag);

static void load_in_branch(RunCx *cx)
{
    Branch *const kernels[MOST_STAGES] = { K(load_used_in_branch_1), K(load_used_in_branch_2),
                                           K(load_used_in_branch_3), K(load_used_in_branch_4) };
    int32_t idx[17], got[17];
    for (int32_t i = 0; i < 17; i++)
        idx[i] = i;
    for (int at = 0; at < 2 * MOST_STAGES; at++) {
        const int32_t flag = at % 2;
        void *out = RUN_OUT(cx, sizeof got);
        RUN_OK(kernels[at / 2](cx->device, NULL, RUN_IN(cx, idx), out, 17, flag));
        run_get(cx, out, got);
        for (int32_t i = 0; i < 17; i++)
            assert_int_equal(got[i], flag ? i + 1 : -1);
    }
}

static void masked_loads(RunCx *cx)
{
    uint16_t x[64], want[64], got[64];
    double total = 0;
    for (int r = 0; r < 8; r++)
        for (int c = 0; c < 8; c++) {
            int v = (r > 0 ? 8 * (r - 1) + c + 1 : 0) + (c > 0 ? 8 * r + c : 0) +
                    (c < 7 ? 8 * r + c + 2 : 0);
            num_put(NEWT_F16, x, (size_t)(8 * r + c), 8 * r + c + 1);
            num_put(NEWT_F16, want, (size_t)(8 * r + c), v);
            total += v;
        }
    assert_true(total == 5236);
    for (int other = 0; other < 2; other++) {
        void *out = RUN_OUT(cx, sizeof got);
        RUN_OK(other ? K(masked_neighbours_other)(cx->device, NULL, RUN_IN(cx, x), out)
                     : K(masked_neighbours)(cx->device, NULL, RUN_IN(cx, x), out));
        run_get(cx, out, got);
        num_same(NEWT_F16, got, want, 64, "sum of neighbours");
    }
}

static void offset_width(RunCx *cx)
{
    static const int32_t strides[] = { 7864320, 1, 16, 6731987, -7864320 };
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
        int64_t got[4], full = INT64_C(319) * strides[i];
        int64_t wrapped = (int32_t)(uint32_t)(uint64_t)full;
        void *out = RUN_OUT(cx, sizeof got);
        RUN_OK(K(offsets)(cx->device, NULL, out, out, strides[i]));
        run_get(cx, out, got);
        assert_int_equal(got[0], wrapped);
        assert_int_equal(got[1], full);
        assert_int_equal(got[2], 2 * wrapped);
        assert_int_equal(got[3], -1);
    }
}

static void result_of_atomic(RunCx *cx)
{
    int32_t cnt[2] = { 0, 2 }, got[16];
    void *dcnt = RUN_IN(cx, cnt), *out = RUN_OUT(cx, sizeof got);
    RUN_OK(K(atomic_result)(cx->device, NULL, dcnt, out));
    run_get(cx, out, got);
    run_get(cx, dcnt, cnt);
    for (int i = 0; i < 16; i++)
        assert_int_equal(got[i], i < 8 ? 0 : 2);
    assert_int_equal(cnt[0], 1);
    assert_int_equal(cnt[1], 3);
}

typedef NewtStatus RowByRow(NewtDevice *device, NewtStream stream, float *p, float *d, int32_t rows,
                            int32_t width);

static void pipelined_store_then_load(RunCx *cx)
{
    enum { ROWS = 64, WIDTH = 512, BYTES = ROWS * WIDTH * sizeof(float) };
    RowByRow *const kernels[MOST_STAGES] = { K(store_then_load_1), K(store_then_load_2),
                                             K(store_then_load_3), K(store_then_load_4) };
    float *p = run_temp(cx, BYTES), *d = run_temp(cx, BYTES);
    for (int at = 0; at < MOST_STAGES; at++) {
        void *dp = RUN_OUT(cx, BYTES), *dd = RUN_OUT(cx, BYTES);
        RUN_OK(kernels[at](cx->device, NULL, dp, dd, ROWS, WIDTH));
        run_get(cx, dp, p);
        run_get(cx, dd, d);
        for (size_t i = 0; i < ROWS * WIDTH; i++) {
            float zero = 0, v = (float)(i % WIDTH + i / WIDTH);
            run_same_bits(&d[i], &zero, sizeof zero, 1);
            run_same_bits(&p[i], &v, sizeof v, 1);
        }
    }
}

static void program_order(RunCx *cx)
{
    for (int barrier = 0; barrier < 2; barrier++) {
        int32_t p[129], q[128];
        void *dp = RUN_OUT(cx, sizeof p), *dq = RUN_OUT(cx, sizeof q);
        RUN_OK(barrier ? K(overlapping_stores_barrier)(cx->device, NULL, dp, dq)
                       : K(overlapping_stores)(cx->device, NULL, dp, dq));
        run_get(cx, dp, p);
        run_get(cx, dq, q);
        for (int i = 0; i < 129; i++)
            assert_int_equal(p[i], i ? 2 : 1);
        for (int i = 0; i < 128; i++)
            assert_int_equal(q[i], 2);
    }
}

static void read_back_transposed(RunCx *cx)
{
    int32_t p[512], q[512];
    void *dp = RUN_OUT(cx, sizeof p), *dq = RUN_OUT(cx, sizeof q);
    RUN_OK(K(store_then_load_transposed)(cx->device, NULL, dp, dq));
    run_get(cx, dq, q);
    for (int c = 0; c < 16; c++)
        for (int r = 0; r < 32; r++)
            assert_int_equal(q[c * 32 + r], r * 100 + c);
}

typedef NewtStatus Short(NewtDevice *device, NewtStream stream, const int32_t *table,
                         const float *x, float *out, int32_t n);

static void loop_shorter_than_pipeline(RunCx *cx)
{
    enum { ROWS = 5 };
    Short *const kernels[MOST_STAGES] = { K(short_loop_1), K(short_loop_2), K(short_loop_3),
                                          K(short_loop_4) };
    float x[ROWS * 64], got[64];
    for (size_t i = 0; i < ROWS * 64; i++)
        x[i] = (float)run_between(cx, -1000, 1000);
    for (int32_t n = 0; n <= ROWS; n++)
        for (int at = 0; at < MOST_STAGES; at++) {
            int32_t table[ROWS];
            for (int32_t k = 0; k < n; k++)
                table[k] = ROWS - 1 - k;
            void *out = RUN_OUT(cx, sizeof got),
                 *dt = run_buffer(cx, table, sizeof *table * (size_t)n, 0);
            void *dx = RUN_IN(cx, x);
            RUN_OK(kernels[at](cx->device, NULL, dt, dx, out, n));
            run_get(cx, out, got);
            for (size_t i = 0; i < 64; i++) {
                float want = 0;
                for (int32_t k = 0; k < n; k++)
                    want += x[(size_t)(ROWS - 1 - k) * 64 + i];
                assert_true(got[i] == want);
            }
            run_release(cx);
        }
}

RUN_TESTS = {
    { "load used in a branch", load_in_branch },
    { "masked loads without other", masked_loads },
    { "width of offsets", offset_width },
    { "result of an atomic", result_of_atomic },
    { "store then load in a pipelined loop", pipelined_store_then_load },
    { "overlapping stores in program order", program_order },
    { "stored and read back transposed", read_back_transposed },
    { "loop shorter than its pipeline", loop_shorter_than_pipeline },
    RUN_END,
};
