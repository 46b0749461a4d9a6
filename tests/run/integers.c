// Integer arithmetic of every width against 128-bit arithmetic cut to the type.
#include "number.h"

__extension__ typedef __int128 Wide;

enum {
    COUNT = 65536,
    ROW_ADD = 0,
    ROW_SUB,
    ROW_MUL,
    ROW_DIV,
    ROW_REM,
    ROW_CDIV,
    ROW_AND,
    ROW_OR,
    ROW_XOR,
    ROW_SHL,
    ROW_SHR,
    ROW_NEG,
    ROW_NOT,
    ROW_ABS,
    ROW_MAX,
    ROW_MIN,
    ROW_WHERE,
    ROW_CLAMP,
    ROW_PLUS_3,
    ROW_100_MINUS,
    ROW_DIV_16,
    ROW_REM_16,
    ROW_TIMES_8,
    ROW_DIV_7,
    ROW_REM_7,
    ROWS,
    FLAG_CHAIN = 6,
    FLAG_OR,
    FLAG_XOR,
    FLAGS
};

static Wide value(NewtType t, const void *at, size_t i)
{
    uint64_t code = num_code(t, at, i);
    if (num_is_signed(t) && code >> (num_bits(t) - 1) & 1)
        return (Wide)code - ((Wide)1 << num_bits(t));
    return (Wide)code;
}

static Wide ceiling(Wide a, Wide b)
{
    Wide q = a / b;
    return q + (a % b != 0 && (a < 0) == (b < 0));
}

static Wide expected(int row, Wide x, Wide y, unsigned bits)
{
    Wide d = y == 0 ? 1 : y, count = y & 127, low = y < 5 ? y : 5, high = y > 5 ? y : 5;
    switch (row) {
    case ROW_ADD: return x + y;
    case ROW_SUB: return x - y;
    case ROW_MUL: return (Wide)((uint64_t)x * (uint64_t)y);
    case ROW_DIV: return x / d;
    case ROW_REM: return x % d;
    case ROW_CDIV: return ceiling(x, d);
    case ROW_AND: return x & y;
    case ROW_OR: return x | y;
    case ROW_XOR: return x ^ y;
    case ROW_SHL: return count >= bits ? 0 : (Wide)((uint64_t)x << count);
    case ROW_SHR: return count >= bits ? (x < 0 ? -1 : 0) : x >> count;
    case ROW_NEG: return -x;
    case ROW_NOT: return ~x;
    case ROW_ABS: return x < 0 ? -x : x;
    case ROW_MAX: return x > y ? x : y;
    case ROW_MIN: return x < y ? x : y;
    case ROW_WHERE: return x < y ? x : y;
    case ROW_CLAMP: return x < low ? low : x > high ? high : x;
    case ROW_PLUS_3: return x + 3;
    case ROW_100_MINUS: return 100 - x;
    case ROW_DIV_16: return x / 16;
    case ROW_REM_16: return x % 16;
    case ROW_TIMES_8: return x * 8;
    case ROW_DIV_7: return x / 7;
    default: return x % 7;
    }
}

static bool flag(int row, Wide x, Wide y)
{
    switch (row) {
    case 0: return x == y;
    case 1: return x != y;
    case 2: return x < y;
    case 3: return x <= y;
    case 4: return x > y;
    case 5: return x >= y;
    case FLAG_CHAIN: return 3 <= x && x < 100;
    case FLAG_OR: return !(x < y) || x == 7;
    default: return (x < y) != (y > 3);
    }
}

/// Every pair of 8-bit values; every value of 16 bits; else boundaries against each other and
/// random ones.
static void fill_pairs(RunCx *cx, NewtType t, void *x, void *y)
{
    num_fill(cx, t, x, COUNT);
    num_fill(cx, t, y, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        if (num_bits(t) == 8)
            num_put_code(t, y, i, i >> 8);
        else if (num_bits(t) == 16)
            num_put_code(t, y, i, run_random(cx) >> run_between(cx, 0, 63));
        else if (i < 4096)
            num_put_code(t, x, i, num_code(t, x, i / 64)),
                num_put_code(t, y, i, num_code(t, y, i % 64));
    }
}

static void check_type(NewtType t, const void *x, const void *y, const void *out,
                       const unsigned char *flags)
{
    static const char *const names[] = { "+",    "-",   "*",     "//",    "%",   "cdiv",  "&",
                                         "|",    "^",   "<<",    ">>",    "neg", "~",     "abs",
                                         "max",  "min", "where", "clamp", "+ 3", "100 -", "// 16",
                                         "% 16", "* 8", "// 7",  "% 7" };
    uint64_t want = 0;
    for (size_t i = 0; i < COUNT; i++) {
        Wide a = value(t, x, i), b = value(t, y, i);
        for (int row = 0; row < ROWS; row++) {
            num_put_int(t, &want, 0, (uint64_t)expected(row, a, b, num_bits(t)));
            uint64_t got = num_code(t, out, (size_t)row * COUNT + i);
            if (got != num_code(t, &want, 0))
                fail_msg("%s: x %s y: x %.21Lg, y %.21Lg gives %.21Lg, should be %.21Lg",
                         num_name(t), names[row], num_get(t, x, i), num_get(t, y, i),
                         num_get(t, out, (size_t)row * COUNT + i), num_get(t, &want, 0));
        }
        for (int row = 0; row < FLAGS; row++)
            if (flags[(size_t)row * COUNT + i] != flag(row, a, b))
                fail_msg("%s: comparison %d of x %.21Lg, y %.21Lg gives %d", num_name(t), row,
                         num_get(t, x, i), num_get(t, y, i), flags[(size_t)row * COUNT + i]);
    }
}

typedef NewtStatus Binary(NewtDevice *device, void *x, void *y, void *out, void *flags);

static void run_type(RunCx *cx, NewtType t, Binary *launch)
{
    size_t bytes = num_size(t) * COUNT;
    void *x = run_temp(cx, bytes), *y = run_temp(cx, bytes), *out = run_temp(cx, bytes * ROWS);
    unsigned char *flags = run_temp(cx, COUNT * FLAGS);
    fill_pairs(cx, t, x, y);
    void *dout = RUN_OUT(cx, bytes * ROWS), *dflags = RUN_OUT(cx, COUNT * FLAGS);
    RUN_OK(
        launch(cx->device, run_buffer(cx, x, bytes, 0), run_buffer(cx, y, bytes, 0), dout, dflags));
    run_get(cx, dout, out);
    run_get(cx, dflags, flags);
    check_type(t, x, y, out, flags);
}

#define INTEGERS(name, TYPE)                                                                      \
    static NewtStatus launch_##name(NewtDevice *device, void *x, void *y, void *out, void *flags) \
    {                                                                                             \
        return K(integers_##name)(device, NULL, x, y, out, flags, COUNT);                         \
    }                                                                                             \
    static void all_##name(RunCx *cx)                                                             \
    {                                                                                             \
        run_type(cx, NEWT_##TYPE, launch_##name);                                                 \
    }
INTEGERS(i8, I8)
INTEGERS(i16, I16)
INTEGERS(i32, I32)
INTEGERS(i64, I64)
INTEGERS(u8, U8)
INTEGERS(u16, U16)
INTEGERS(u32, U32)
INTEGERS(u64, U64)

/// Operands become `common` first, as C's conversions do.
static void run_compare(RunCx *cx, NewtType a, NewtType b, NewtType common, Binary *launch)
{
    void *x = run_temp(cx, num_size(a) * COUNT), *y = run_temp(cx, num_size(b) * COUNT);
    unsigned char *flags = run_temp(cx, COUNT * 6);
    num_fill(cx, a, x, COUNT);
    num_fill(cx, b, y, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        if (i % 4 == 1)
            num_put_int(b, y, i, (uint64_t)run_between(cx, -3, 3));
        if (i % 4 == 2)
            num_put_int(a, x, i, (uint64_t)value(b, y, i));
        if (i % 8 == 3)
            num_put_int(a, x, i, (uint64_t)run_between(cx, -3, 3));
    }
    void *dflags = RUN_OUT(cx, COUNT * 6);
    RUN_OK(launch(cx->device, run_buffer(cx, x, num_size(a) * COUNT, 0),
                  run_buffer(cx, y, num_size(b) * COUNT, 0), NULL, dflags));
    run_get(cx, dflags, flags);
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t p = 0, q = 0;
        num_put_int(common, &p, 0, (uint64_t)value(a, x, i));
        num_put_int(common, &q, 0, (uint64_t)value(b, y, i));
        for (int row = 0; row < 6; row++)
            if (flags[(size_t)row * COUNT + i] !=
                flag(row, value(common, &p, 0), value(common, &q, 0)))
                fail_msg("%s with %s: comparison %d of %.21Lg and %.21Lg gives %d", num_name(a),
                         num_name(b), row, num_get(a, x, i), num_get(b, y, i),
                         flags[(size_t)row * COUNT + i]);
    }
}

#define COMPARE(name)                                                                             \
    static NewtStatus launch_##name(NewtDevice *device, void *x, void *y, void *out, void *flags) \
    {                                                                                             \
        (void)out;                                                                                \
        return K(compare_##name)(device, NULL, x, y, flags, COUNT);                               \
    }
COMPARE(u32_i32)
COMPARE(i8_i32)
COMPARE(u32_i64)
COMPARE(u64_i64)
COMPARE(u8_i8)
COMPARE(i16_u8)
COMPARE(i16_u64)

static void mixed_comparisons(RunCx *cx)
{
    run_compare(cx, NEWT_U32, NEWT_I32, NEWT_U32, launch_u32_i32);
    run_compare(cx, NEWT_I8, NEWT_I32, NEWT_I32, launch_i8_i32);
    run_compare(cx, NEWT_U32, NEWT_I64, NEWT_I64, launch_u32_i64);
    run_compare(cx, NEWT_U64, NEWT_I64, NEWT_U64, launch_u64_i64);
    run_compare(cx, NEWT_U8, NEWT_I8, NEWT_U8, launch_u8_i8);
    run_compare(cx, NEWT_I16, NEWT_U8, NEWT_I16, launch_i16_u8);
    run_compare(cx, NEWT_I16, NEWT_U64, NEWT_U64, launch_i16_u64);
}

static void bool_arithmetic(RunCx *cx)
{
    uint8_t x[256], y[256], out[12][256];
    int32_t wide[3][256];
    float half[256];
    for (int i = 0; i < 256; i++) {
        x[i] = (uint8_t)i;
        y[i] = (uint8_t)(run_random(cx) & 1 ? run_random(cx) : 0);
    }
    void *dout = RUN_OUT(cx, sizeof out), *dwide = RUN_OUT(cx, sizeof wide),
         *dhalf = RUN_OUT(cx, sizeof half);
    RUN_OK(K(bools)(cx->device, NULL, RUN_IN(cx, x), RUN_IN(cx, y), dout, dwide, dhalf));
    run_get(cx, dout, out);
    run_get(cx, dwide, wide);
    run_get(cx, dhalf, half);
    for (int i = 0; i < 256; i++) {
        bool a = x[i], b = y[i];
        const bool want[12] = { a,      a && b, a || b,  a != b, !a,       a != b,
                                a && b, a == b, !a && b, a,      i != 128, i != 128 };
        for (int row = 0; row < 12; row++)
            if (out[row][i] != want[row])
                fail_msg("row %d of bytes %d and %d is %d, should be %d", row, x[i], y[i],
                         out[row][i], want[row]);
        assert_int_equal(wide[0][i], a);
        assert_int_equal(wide[1][i], a + 1);
        assert_int_equal(wide[2][i], a * 3 + b);
        assert_true(half[i] == (a ? 2.5f : 0.0f));
    }
}

static void run_umulhi(RunCx *cx, NewtType t, Binary *launch)
{
    size_t bytes = num_size(t) * COUNT;
    void *x = run_temp(cx, bytes), *y = run_temp(cx, bytes), *out = run_temp(cx, bytes),
         *dout = RUN_OUT(cx, bytes);
    fill_pairs(cx, t, x, y);
    RUN_OK(
        launch(cx->device, run_buffer(cx, x, bytes, 0), run_buffer(cx, y, bytes, 0), dout, NULL));
    run_get(cx, dout, out);
    for (size_t i = 0; i < COUNT; i++) {
        __extension__ unsigned __int128 product = num_code(t, x, i);
        product *= num_code(t, y, i);
        assert_int_equal(num_code(t, out, i), (uint64_t)(product >> num_bits(t)));
    }
}

#define UMULHI(name)                                                                              \
    static NewtStatus umulhi_##name(NewtDevice *device, void *x, void *y, void *out, void *flags) \
    {                                                                                             \
        (void)flags;                                                                              \
        return K(umulhi_##name)(device, NULL, x, y, out, COUNT);                                  \
    }
UMULHI(i32)
UMULHI(u32)
UMULHI(i64)
UMULHI(u64)

static void upper_products(RunCx *cx)
{
    run_umulhi(cx, NEWT_I32, umulhi_i32);
    run_umulhi(cx, NEWT_U32, umulhi_u32);
    run_umulhi(cx, NEWT_I64, umulhi_i64);
    run_umulhi(cx, NEWT_U64, umulhi_u64);
}

static void launch_scalars(RunCx *cx)
{
    static const int32_t pairs[][2] = { { 7, 2 },   { -7, 2 },        { 7, -2 },
                                        { -7, -2 }, { INT32_MAX, 3 }, { 16, 16 },
                                        { 1, 1 },   { 0, 5 },         { INT32_MIN + 1, 7 } };
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        int32_t a = pairs[k][0], b = pairs[k][1];
        int64_t got[18], d = INT64_C(0x123456789abcdef);
        uint8_t c = (uint8_t)(255 - k);
        const int64_t want[18] = { (int32_t)((uint32_t)a + (uint32_t)b),
                                   (int32_t)((uint32_t)a * (uint32_t)b),
                                   a / b,
                                   a % b,
                                   (uint8_t)(c + 1),
                                   a + d,
                                   a < b ? a : b,
                                   a > b ? a : b,
                                   a < 0 ? -a : a,
                                   (uint8_t)-c,
                                   (int32_t)((uint32_t)(a > b ? a : b) * 2u),
                                   a > 0 && b > 0,
                                   a > 0 || b <= 0,
                                   a && b,
                                   (int64_t)ceil((double)a / b),
                                   0,
                                   a < 0 ? -1 : 0,
                                   (int32_t)((float)a / (float)b) };
        void *out = RUN_OUT(cx, sizeof got);
        RUN_OK(K(scalar_arithmetic)(cx->device, NULL, a, b, c, d, out));
        run_get(cx, out, got);
        num_same(NEWT_I64, got, want, 17, "scalar arithmetic");
        if (a < 1 << 24 && a > -(1 << 24))
            assert_int_equal(got[17], want[17]);
    }
}

RUN_TESTS = {
    { "int8", all_i8 },
    { "int16", all_i16 },
    { "int32", all_i32 },
    { "int64", all_i64 },
    { "uint8", all_u8 },
    { "uint16", all_u16 },
    { "uint32", all_u32 },
    { "uint64", all_u64 },
    { "comparisons of two types", mixed_comparisons },
    { "bool", bool_arithmetic },
    { "umulhi", upper_products },
    { "launch scalars", launch_scalars },
    RUN_END,
};
