// Every cast of language section 2.11 against rounding done here: all codes of 8- and 16-bit types,
// boundaries and random values of the wide ones.
#include "number.h"

enum { COUNT = 65536, TYPE_COUNT = NEWT_F64 + 1 };

typedef NewtStatus Launch(NewtDevice *device, void *x, void *const *to);

static void run_from(RunCx *cx, NewtType from, Launch *launch)
{
    void *x = run_temp(cx, num_size(from) * COUNT), *to[TYPE_COUNT];
    num_fill(cx, from, x, COUNT);
    for (size_t i = 0; from == NEWT_I1 && i < COUNT; i++)
        num_put_code(NEWT_I8, x, i, i);
    for (NewtType t = NEWT_I1; t <= NEWT_F64; t++)
        to[t] = RUN_OUT(cx, num_size(t) * COUNT);
    RUN_OK(launch(cx->device, run_buffer(cx, x, num_size(from) * COUNT, 0), to));
    for (NewtType t = NEWT_I1; t <= NEWT_F64; t++) {
        void *got = run_temp(cx, num_size(t) * COUNT);
        run_get(cx, to[t], got);
        for (size_t i = 0; i < COUNT; i++) {
            uint64_t x_code = num_code(from, x, i), want = 0;
            num_cast(from, &x_code, t, &want, 0);
            Num g = num_get(t, got, i), w = num_get(t, &want, 0);
            bool both_nan = num_is_float(t) && isnan(g) && isnan(w);
            if (!both_nan && num_code(t, got, i) != num_code(t, &want, 0))
                fail_msg("%s to %s: %.21Lg gives %.21Lg, should be %.21Lg", num_name(from),
                         num_name(t), num_get(from, x, i), g, w);
        }
    }
}

#define CAST(name, TYPE)                                                                           \
    static NewtStatus launch_##name(NewtDevice *device, void *x, void *const *to)                  \
    {                                                                                              \
        return K(cast_##name)(device, NULL, x, to[NEWT_I1], to[NEWT_I8], to[NEWT_I16],             \
                              to[NEWT_I32], to[NEWT_I64], to[NEWT_U8], to[NEWT_U16], to[NEWT_U32], \
                              to[NEWT_U64], to[NEWT_F8E4M3], to[NEWT_F8E5M2], to[NEWT_F16],        \
                              to[NEWT_BF16], to[NEWT_F32], to[NEWT_F64], COUNT);                   \
    }                                                                                              \
    static void from_##name(RunCx *cx)                                                             \
    {                                                                                              \
        run_from(cx, NEWT_##TYPE, launch_##name);                                                  \
    }
CAST(i1, I1)
CAST(i8, I8)
CAST(i16, I16)
CAST(i32, I32)
CAST(i64, I64)
CAST(u8, U8)
CAST(u16, U16)
CAST(u32, U32)
CAST(u64, U64)
CAST(e4m3, F8E4M3)
CAST(e5m2, F8E5M2)
CAST(f16, F16)
CAST(bf16, BF16)
CAST(f32, F32)
CAST(f64, F64)

typedef NewtStatus Rounding(NewtDevice *device, void *x, void *near, void *zero);

static void run_rounding(RunCx *cx, NewtType from, NewtType to, Rounding *launch)
{
    size_t bytes = num_size(to) * COUNT;
    void *x = run_temp(cx, num_size(from) * COUNT), *near = RUN_OUT(cx, bytes),
         *zero = RUN_OUT(cx, bytes);
    void *want_near = run_temp(cx, bytes), *want_zero = run_temp(cx, bytes),
         *got = run_temp(cx, bytes);
    num_fill(cx, from, x, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        num_put(to, want_near, i, num_get(from, x, i));
        num_put_rtz(to, want_zero, i, num_get(from, x, i));
    }
    RUN_OK(launch(cx->device, run_buffer(cx, x, num_size(from) * COUNT, 0), near, zero));
    run_get(cx, near, got);
    num_same(to, got, want_near, COUNT, "to nearest even");
    run_get(cx, zero, got);
    num_same(to, got, want_zero, COUNT, "towards zero");
}

#define ROUNDING(name)                                                                     \
    static NewtStatus rounding_##name(NewtDevice *device, void *x, void *near, void *zero) \
    {                                                                                      \
        return K(round_##name)(device, NULL, x, near, zero, COUNT);                        \
    }
ROUNDING(f32_f16)
ROUNDING(f32_bf16)
ROUNDING(f64_f32)
ROUNDING(f64_f16)

static void rounding_modes(RunCx *cx)
{
    run_rounding(cx, NEWT_F32, NEWT_F16, rounding_f32_f16);
    run_rounding(cx, NEWT_F32, NEWT_BF16, rounding_f32_bf16);
    run_rounding(cx, NEWT_F64, NEWT_F32, rounding_f64_f32);
    run_rounding(cx, NEWT_F64, NEWT_F16, rounding_f64_f16);
}

static void same_bits(RunCx *cx)
{
    uint32_t x[256], x_got[256];
    uint16_t y[256], y_got[512];
    uint64_t z[256], z_got[256];
    uint8_t w[256], w_got[256];
    for (int i = 0; i < 256; i++) {
        x[i] = (uint32_t)run_random(cx) & UINT32_C(0xff7fffff);  // no NaN: its bits may change
        y[i] = (uint16_t)run_random(cx) & 0xbb7f;
        z[i] = run_random(cx) & UINT64_C(0xffeffffffffffff0);
        w[i] = (i & 0x7f) > 0x7c ? 0x3c : (uint8_t)i;
    }
    void *dx = RUN_OUT(cx, sizeof x_got), *dy = RUN_OUT(cx, sizeof y_got),
         *dz = RUN_OUT(cx, sizeof z_got);
    void *dw = RUN_OUT(cx, sizeof w_got);
    RUN_OK(K(bitcasts)(cx->device, NULL, RUN_IN(cx, x), RUN_IN(cx, y), RUN_IN(cx, z), RUN_IN(cx, w),
                       dx, dy, dz, dw));
    run_get(cx, dx, x_got);
    run_get(cx, dy, y_got);
    run_get(cx, dz, z_got);
    run_get(cx, dw, w_got);
    for (int i = 0; i < 256; i++) {
        assert_int_equal(x_got[i], x[i] ^ UINT32_C(0x80000000));
        assert_int_equal(y_got[i], y[i] ^ 0x8000);
        assert_int_equal(y_got[256 + i], y[i] & 0x7fff);
        assert_true(z_got[i] == (z[i] ^ UINT64_C(1) << 63));
        assert_int_equal(w_got[i], w[i]);
    }
}

RUN_TESTS = {
    { "from int1", from_i1 },       { "from int8", from_i8 },
    { "from int16", from_i16 },     { "from int32", from_i32 },
    { "from int64", from_i64 },     { "from uint8", from_u8 },
    { "from uint16", from_u16 },    { "from uint32", from_u32 },
    { "from uint64", from_u64 },    { "from float8e4nv", from_e4m3 },
    { "from float8e5", from_e5m2 }, { "from float16", from_f16 },
    { "from bfloat16", from_bf16 }, { "from float32", from_f32 },
    { "from float64", from_f64 },   { "rounding modes", rounding_modes },
    { "same bits", same_bits },     RUN_END,
};
