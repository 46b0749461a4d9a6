// Memory access against plain loops; guards stand around every buffer.
#include "number.h"

typedef NewtStatus Copy(NewtDevice *device, const void *x, void *out, int32_t n);

#define COPY(name)                                                                         \
    static NewtStatus copy_##name(NewtDevice *device, const void *x, void *out, int32_t n) \
    {                                                                                      \
        return K(copy_##name)(device, NULL, x, out, n);                                    \
    }
COPY(8)
COPY(16)
COPY(32)
COPY(64)
COPY(bool)
COPY(f16)
COPY(e5m2)
COPY(f64)

static void run_copy(RunCx *cx, size_t size, Copy *launch, uint8_t mask)
{
    static const size_t counts[] = { 0,   1,   2,   3,   15,  16,  17,   127,
                                     128, 255, 256, 257, 511, 513, 1000, 2049 };
    uint8_t x[2049 * 8], got[2049 * 8];
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (size_t shift = 0; shift < 3; shift++) {
            size_t n = counts[k], bytes = n * size;
            for (size_t i = 0; i < bytes; i++)
                x[i] = (uint8_t)run_random(cx) & mask;
            void *out = run_buffer(cx, NULL, bytes, shift == 2 ? 0 : shift * size);
            RUN_OK(launch(cx->device, run_buffer(cx, x, bytes, shift * size), out, (int32_t)n));
            run_get(cx, out, got);
            run_same_bits(got, x, size, n);
            run_release(cx);
        }
}

static void alignments(RunCx *cx)
{
    run_copy(cx, 1, copy_8, 0xff);
    run_copy(cx, 2, copy_16, 0xff);
    run_copy(cx, 4, copy_32, 0xff);
    run_copy(cx, 8, copy_64, 0xff);
    run_copy(cx, 1, copy_bool, 1);
    run_copy(cx, 2, copy_f16, 0x3b);  // no NaN
    run_copy(cx, 1, copy_e5m2, 0xfb);
    run_copy(cx, 8, copy_f64, 0x3b);
}

static void strides(RunCx *cx)
{
    for (int32_t xs = 0; xs < 6; xs++)
        for (int32_t os = 1; os < 4; os++) {
            int32_t n = 333, x[333 * 5 + 1], got[333 * 3], want[333 * 3];
            for (int32_t i = 0; i < 333 * 5 + 1; i++)
                x[i] = (int32_t)run_random(cx);
            memset(want, 0xff, sizeof want);
            for (int32_t i = 0; i < n; i++)
                want[i * os] = (int32_t)((uint32_t)x[i * xs] + 1);
            void *out = run_buffer(cx, NULL, (size_t)((n - 1) * os + 1) * 4, 0);
            RUN_OK(K(strided)(cx->device, NULL,
                              run_buffer(cx, x, (size_t)((n - 1) * xs + 1) * 4, 4), out, n, xs,
                              os));
            run_get(cx, out, got);
            num_same(NEWT_I32, got, want, (size_t)((n - 1) * os + 1), "strided copy");
            run_release(cx);
        }
}

static void mask_shapes(RunCx *cx)
{
    int32_t x[64], got[514], want[514];
    float f[64], fgot[128];
    uint8_t m[64];
    for (int32_t n = 0; n <= 64; n += 8) {
        memset(want, 0xff, sizeof want);
        for (int32_t i = 0; i < 64; i++) {
            x[i] = (int32_t)run_random(cx);
            f[i] = run_uniform(cx);
            m[i] = run_random(cx) & 1;
        }
        for (int32_t i = 0; i < 64; i++) {
            want[i] = m[i] ? x[i] : -5;
            want[64 + i] = i % 3 == 0 ? x[i] : 0;
            want[128 + i] = (i >= 3 && i < n) || i == 60 ? x[i] : 2 * i;
            want[192 + i] = n > 30 ? x[i] : 1;
            want[256 + i] = 9;
            want[320 + i] = x[i];
            want[384 + i] = m[i] ? 1 : x[i];
            if (m[i])
                want[448 + i] = (int32_t)((uint32_t)x[0] + (uint32_t)i);
        }
        want[512] = n > 5 ? x[3] : 8;
        if (n > 5)
            want[513] = 77;
        void *out = RUN_OUT(cx, sizeof got), *fout = RUN_OUT(cx, sizeof fgot);
        RUN_OK(
            K(masks)(cx->device, NULL, RUN_IN(cx, x), RUN_IN(cx, f), RUN_IN(cx, m), out, fout, n));
        run_get(cx, out, got);
        run_get(cx, fout, fgot);
        num_same(NEWT_I32, got, want, 514, "masked loads");
        for (int32_t i = 0; i < 64; i++) {
            assert_true(fgot[i] == (i < n ? f[i] : -INFINITY));
            assert_true(fgot[64 + i] == (i >= n ? f[i] : 2));
        }
    }
}

static void matrices(RunCx *cx)
{
    static const int32_t sizes[][3] = { { 1, 1, 1 },    { 16, 32, 32 },   { 17, 33, 40 },
                                        { 50, 31, 31 }, { 64, 128, 129 }, { 3, 200, 200 } };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        int32_t m = sizes[k][0], n = sizes[k][1], stride = sizes[k][2];
        size_t count = (size_t)(m * n);
        float *x = run_temp(cx, sizeof *x * (size_t)(m * stride)),
              *got = run_temp(cx, sizeof *got * count);
        int16_t *s = run_temp(cx, 2 * count), *s_got = run_temp(cx, 2 * count);
        for (int32_t i = 0; i < m * stride; i++)
            x[i] = run_uniform(cx);
        for (size_t i = 0; i < count; i++)
            s[i] = (int16_t)run_random(cx);
        void *out = RUN_OUT(cx, sizeof *got * count), *across = RUN_OUT(cx, sizeof *got * count);
        void *s_out = RUN_OUT(cx, 2 * count);
        RUN_OK(K(copy_2d)(cx->device, NULL,
                          run_buffer(cx, x, sizeof *x * (size_t)((m - 1) * stride + n), 0), out,
                          across, m, n, stride));
        run_get(cx, out, got);
        for (int32_t r = 0; r < m; r++)
            for (int32_t c = 0; c < n; c++)
                assert_true(got[r * n + c] == 2 * x[r * stride + c]);
        run_get(cx, across, got);
        for (int32_t r = 0; r < m; r++)
            for (int32_t c = 0; c < n; c++)
                assert_true(got[c * m + r] == x[r * stride + c]);
        RUN_OK(K(copy_columns)(cx->device, NULL, run_buffer(cx, s, 2 * count, 2), s_out, m, n));
        run_get(cx, s_out, s_got);
        run_same_bits(s_got, s, 2, count);
        run_release(cx);
    }
}

static void block_shapes(RunCx *cx)
{
    int32_t x[128], got[8 * 128], want[8 * 128];
    for (int32_t i = 0; i < 128; i++)
        x[i] = (int32_t)run_random(cx);
    for (int32_t r = 0; r < 8; r++)
        for (int32_t c = 0; c < 16; c++) {
            int32_t v = x[r * 16 + c], at = r * 16 + c, back = c * 8 + r;
            want[at] = c < 10 ? x[r] : -1;
            want[128 + at] = v;
            want[256 + back] = v;
            want[384 + back] = v;
            want[512 + back] = v;
            want[640 + at] = x[c];
            want[768 + at] = 100 * r + c;
            want[896 + at] = (int32_t)((uint32_t)v + (uint32_t)r);
        }
    void *out = RUN_OUT(cx, sizeof got);
    RUN_OK(K(shapes)(cx->device, NULL, RUN_IN(cx, x), out));
    run_get(cx, out, got);
    num_same(NEWT_I32, got, want, 8 * 128, "shapes");
}

static void indirect(RunCx *cx)
{
    enum { N = 200, SIZE = 500 };
    float x[SIZE], got[N], back[SIZE], want[SIZE];
    int64_t idx[N];
    memset(want, 0xff, sizeof want);
    for (size_t i = 0; i < SIZE; i++)
        x[i] = run_uniform(cx);
    for (int64_t i = 0; i < N; i++) {
        idx[i] = i * 7 % SIZE / 2 * 2 + i % 2;
        want[idx[i]] = x[idx[i]] + 1;
    }
    void *out = RUN_OUT(cx, sizeof got), *scattered = RUN_OUT(cx, sizeof back), *dx = RUN_IN(cx, x);
    RUN_OK(K(gather)(cx->device, NULL, dx, RUN_IN(cx, idx), out, scattered, N));
    run_get(cx, out, got);
    run_get(cx, scattered, back);
    for (size_t i = 0; i < N; i++)
        assert_true(got[i] == x[idx[i]]);
    run_same_bits(back, want, sizeof *back, SIZE);
    void *dy = RUN_IN(cx, x);
    RUN_OK(K(in_place)(cx->device, NULL, dy, SIZE - 3));
    run_get(cx, dy, back);
    for (size_t i = 0; i < SIZE; i++)
        run_near(back[i], i < SIZE - 3 ? (double)x[i] * 3 - 1 : (double)x[i], 3e-7, i);
}

static void grids(RunCx *cx)
{
    static const NewtGrid shapes[] = {
        { 1, 1, 1 }, { 5, 1, 1 }, { 3, 4, 5 }, { 1, 7, 2 }, { 2, 1, 9 }
    };
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        NewtGrid g = shapes[k];
        size_t n = (size_t)g.x * g.y * g.z;
        int32_t got[128];
        void *out = RUN_OUT(cx, 4 * (n + 1));
        RUN_OK(K(grid_3d)(cx->device, NULL, g, out));
        run_get(cx, out, got);
        for (uint32_t z = 0, at = 0; z < g.z; z++)
            for (uint32_t y = 0; y < g.y; y++)
                for (uint32_t x = 0; x < g.x; x++)
                    assert_int_equal(got[at++], x + 100 * y + 10000 * z);
        assert_int_equal(got[n], g.x + 100 * g.y + 10000 * g.z);
    }
    void *out = RUN_OUT(cx, 16);
    RUN_OK(K(grid_3d)(cx->device, NULL, (NewtGrid){ 0, 3, 3 }, out));
    int32_t got[4];
    run_get(cx, out, got);
    for (int i = 0; i < 4; i++)
        assert_int_equal(got[i], -1);
}

/// Every operation of a grid expression tells when its result does not fit 64 bits.
static void grid_overflows(RunCx *cx)
{
    static const struct {
        int64_t a, b, c, d, e, f, g, h;
        NewtStatus status;
    } values[] = {
        { 1, 1, 1, 1, 0, 0, 0, 1, NEWT_OK },
        { 1, 0, 1, 1, 0, 0, 0, 1, NEWT_BAD_ARGUMENT },
        { INT64_MIN, -1, 1, 1, 0, 0, 0, 1, NEWT_TOO_LARGE },
        { INT64_MIN + 1, -1, 1, 1, 0, 0, 0, 1, NEWT_TOO_LARGE },  // 2^63 - 1 programs
        { 1, 1, 1, 0, 0, 0, 0, 1, NEWT_BAD_ARGUMENT },
        { 1, 1, INT64_MIN, -1, 0, 0, 0, 1, NEWT_TOO_LARGE },
        { 1, 1, 0, 1, 1, 0, 0, 1, NEWT_OK },
        { 1, 1, 0, 1, 1, 62, 0, 1, NEWT_TOO_LARGE },  // beyond the device's limit only
        { 1, 1, 1, 1, 1, 63, 0, 1, NEWT_TOO_LARGE },
        { 1, 1, 1, 1, 1, 64, 0, 1, NEWT_TOO_LARGE },
        { 1, 1, 1, 1, -2, 63, 0, 1, NEWT_TOO_LARGE },
        { 1, 1, 1, 1, 0, 64, 0, 1, NEWT_OK },
        { 1, 1, 1, 1, 0, 0, 0, -1, NEWT_OK },
        { 1, 1, 1, 1, 0, 0, 0, INT64_MIN, NEWT_TOO_LARGE },
        { 1, 1, 1, 1, 0, 0, INT64_MIN, 1, NEWT_TOO_LARGE },
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        int32_t got;
        void *out = RUN_OUT(cx, 4);
        assert_int_equal(K(grid_values)(cx->device, NULL, out, values[i].a, values[i].b,
                                        values[i].c, values[i].d, values[i].e, values[i].f,
                                        values[i].g, values[i].h),
                         values[i].status);
        run_get(cx, out, &got);
        assert_int_equal(got, values[i].status == NEWT_OK ? 1 : -1);
    }
    void *out = RUN_OUT(cx, 4);
    RUN_OK(K(grid_negative)(cx->device, NULL, out, -1));
    assert_int_equal(K(grid_negative)(cx->device, NULL, out, INT64_MIN), NEWT_TOO_LARGE);
}

static void turned_again(RunCx *cx)
{
    int32_t x[256], got[256];
    for (int32_t i = 0; i < 256; i++)
        x[i] = i * 7919 % 2048;
    void *out = RUN_OUT(cx, sizeof got);
    RUN_OK(K(turned_again)(cx->device, NULL, RUN_IN(cx, x), out));
    run_get(cx, out, got);
    for (int32_t i = 0; i < 256; i++)
        assert_int_equal(got[i], x[i % 16 * 16 + i / 16]);
}

static void turned_squares(RunCx *cx)
{
    int32_t x[256];
    float got[256];
    for (int32_t i = 0; i < 256; i++)
        x[i] = i * 7919 % 2048;
    void *out = RUN_OUT(cx, sizeof got);
    RUN_OK(K(turned_square)(cx->device, NULL, RUN_IN(cx, x), out));
    run_get(cx, out, got);
    for (int32_t i = 0; i < 256; i++) {
        const int32_t turned = x[i % 16 * 16 + i / 16] & 1023;
        assert_true(got[i] == (float)((turned > 3 ? turned : 3) - (x[i] & 1023)));
    }
}

static void pointer_arithmetic(RunCx *cx)
{
    int32_t x[16], y[16];
    for (int32_t i = 0; i < 16; i++) {
        x[i] = 1000 + i * 300;
        y[i] = -i;
    }
    for (int32_t n = 1; n < 9; n++) {
        int64_t got[19], want[19] = { n - 5, n == 5, n != 5, x[2], x[7], n > 3 ? x[1] : y[1],
                                      x[6],  4 * n,  x[0],   x[1], x[2], x[3],
                                      y[4],  y[5],   y[6],   y[7], x[3], x[1] & 0xff,
                                      1 };
        void *out = RUN_OUT(cx, sizeof got);
        RUN_OK(K(pointers)(cx->device, NULL, RUN_IN(cx, x), RUN_IN(cx, y), out, n, INT64_C(1) << 33,
                           7));
        run_get(cx, out, got);
        num_same(NEWT_I64, got, want, 19, "pointer arithmetic");
    }
}

static void access_modifiers(RunCx *cx)
{
    enum { N = 777 };
    float x[N], got[4 * N];
    for (size_t i = 0; i < N; i++)
        x[i] = run_uniform(cx);
    void *out = RUN_OUT(cx, sizeof got);
    RUN_OK(K(modifiers)(cx->device, NULL, RUN_IN(cx, x), out, N));
    run_get(cx, out, got);
    for (size_t i = 0; i < 4 * N; i++)
        assert_true(got[i] == (i < 3 * N ? 2 : 1) * x[i % N]);
}

static void promised_facts(RunCx *cx)
{
    enum { N = 1008 };
    float x[N], got[N];
    for (size_t i = 0; i < N; i++)
        x[i] = (float)i;
    void *dx = RUN_IN(cx, x), *out = RUN_OUT(cx, sizeof got);
    RUN_OK(K(facts)(cx->device, NULL, dx, out, N));
    run_get(cx, out, got);
    for (size_t i = 0; i < N; i++)
        assert_true(got[i] == x[i] + 1);
}

RUN_TESTS = {
    { "alignment of every size", alignments },
    { "odd strides", strides },
    { "masks", mask_shapes },
    { "matrices", matrices },
    { "shapes", block_shapes },
    { "gather and in place", indirect },
    { "grids", grids },
    { "grid overflows", grid_overflows },
    { "turned squares", turned_squares },
    { "turned again", turned_again },
    { "pointers", pointer_arithmetic },
    { "access modifiers", access_modifiers },
    { "facts", promised_facts },
    RUN_END,
};
