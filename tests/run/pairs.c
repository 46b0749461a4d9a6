// Values of operations between any two types: each operand cast to the type of the table, then the
// operation there, in the tests' own arithmetic.
#include "number.h"

enum { COUNT = 512, FILLED = 65536, TYPE_COUNT = NEWT_F64 + 1, OPS = 8, CELL = 8 };

/// The table of language section 2.3, rows and columns in the order of NewtType.
static const char promoted[TYPE_COUNT][TYPE_COUNT * 5] = {
    /*         i1   i8   i16  i32  i64  u8   u16  u32  u64  e4m3 e5m2 f16  bf16 f32  f64 */
    /* i1 */ "i1   i8   i16  i32  i64  u8   u16  u32  u64  err  err  f16  f32  f32  f64",
    /* i8 */ "i8   i8   i16  i32  i64  u8   u16  u32  u64  err  err  f16  f32  f32  f64",
    /* i16 */ "i16  i16  i16  i32  i64  i16  u16  u32  u64  err  err  f16  f32  f32  f64",
    /* i32 */ "i32  i32  i32  i32  i64  i32  i32  u32  u64  err  err  f16  f32  f32  f64",
    /* i64 */ "i64  i64  i64  i64  i64  i64  i64  i64  u64  err  err  f16  f32  f32  f64",
    /* u8 */ "u8   u8   i16  i32  i64  u8   u16  u32  u64  err  err  f16  f32  f32  f64",
    /* u16 */ "u16  u16  u16  i32  i64  u16  u16  u32  u64  err  err  f16  f32  f32  f64",
    /* u32 */ "u32  u32  u32  u32  i64  u32  u32  u32  u64  err  err  f16  f32  f32  f64",
    /* u64 */ "u64  u64  u64  u64  u64  u64  u64  u64  u64  err  err  f16  f32  f32  f64",
    /* e4m3 */ "err  err  err  err  err  err  err  err  err  e4m3 f16  f16  f32  f32  f64",
    /* e5m2 */ "err  err  err  err  err  err  err  err  err  f16  e5m2 f16  f32  f32  f64",
    /* f16 */ "f16  f16  f16  f16  f16  f16  f16  f16  f16  f16  f16  f16  f16  f32  f64",
    /* bf16 */ "f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f16  bf16 f32  f64",
    /* f32 */ "f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f64",
    /* f64 */ "f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64",
};

/// TYPE_COUNT for "err".
static NewtType promoted_type(NewtType a, NewtType b)
{
    static const char *const names[TYPE_COUNT] = { "i1",   "i8",  "i16",  "i32", "i64",
                                                   "u8",   "u16", "u32",  "u64", "e4m3",
                                                   "e5m2", "f16", "bf16", "f32", "f64" };
    char name[CELL] = "";
    sscanf(promoted[a] + 5 * (size_t)b, "%7s", name);
    unsigned t = 0;
    while (t < TYPE_COUNT && strcmp(names[t], name) != 0)
        t++;
    return (NewtType)t;
}

typedef enum PairOp {
    PAIR_ADD,
    PAIR_SUB,
    PAIR_MUL,
    PAIR_WHERE,
    PAIR_LT,
    PAIR_AND,
    PAIR_REM,
    PAIR_DIV
} PairOp;

/// Whether the kernel has the operation for these types.
static bool has(PairOp op, NewtType a, NewtType b)
{
    const bool both_ints = !num_is_float(a) && !num_is_float(b);
    const bool alike = a == NEWT_I1 || b == NEWT_I1 || num_is_signed(a) == num_is_signed(b);
    if (op == PAIR_AND)
        return both_ints;
    if (op < PAIR_REM)
        return true;
    return both_ints ? alike : a >= NEWT_F16 || b >= NEWT_F16;
}

/// The integer `code` of type `t`, extended to 64 bits.
static uint64_t extended(NewtType t, uint64_t code)
{
    const unsigned bits = t == NEWT_I1 ? 1 : num_bits(t);
    code = bits < 64 ? code & ((UINT64_C(1) << bits) - 1) : code;
    if (t != NEWT_I1 && num_is_signed(t) && bits < 64 && code >> (bits - 1) & 1)
        code |= UINT64_MAX << bits;
    return code;
}

static uint64_t int_result(PairOp op, NewtType t, uint64_t a, uint64_t b)
{
    const bool is_signed = t != NEWT_I1 && num_is_signed(t);
    const bool less = is_signed ? (int64_t)a < (int64_t)b : a < b;
    switch (op) {
    case PAIR_ADD: return extended(t, a + b);
    case PAIR_SUB: return extended(t, a - b);
    case PAIR_MUL: return extended(t, a * b);
    case PAIR_WHERE: return less ? a : b;
    case PAIR_LT: return less;
    case PAIR_AND: return a & b;
    case PAIR_REM:
    case PAIR_DIV: break;
    }
    if (!is_signed)
        return a % b;
    return (int64_t)b == -1 ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
}

/// fp64 has no wider type here: its results are rounded by the operation itself.
static Num float_result(PairOp op, NewtType t, Num a, Num b)
{
    const bool is_double = t == NEWT_F64;
    switch (op) {
    case PAIR_ADD: return is_double ? (Num)((double)a + (double)b) : a + b;
    case PAIR_SUB: return is_double ? (Num)((double)a - (double)b) : a - b;
    case PAIR_MUL: return is_double ? (Num)((double)a * (double)b) : a * b;
    case PAIR_WHERE: return a < b ? a : b;
    case PAIR_REM: return fmodl(a, b);
    case PAIR_DIV: return a / b;
    case PAIR_LT:
    case PAIR_AND: break;
    }
    return 0;
}

typedef struct Pair {
    NewtType a, b;
    PairOp op;
    const void *x, *y;
    const int64_t *ints;
    const double *reals;
} Pair;

static void check_float(const Pair *p, size_t i, NewtType t)
{
    static const char *const names[OPS] = { "+", "-", "*", "where", "<", "&", "%", "/" };
    char what[160];
    uint64_t xa = num_code(p->a, p->x, i), yb = num_code(p->b, p->y, i), a = 0, b = 0, got = 0;
    num_cast(p->a, &xa, t, &a, 0);
    num_cast(p->b, &yb, t, &b, 0);
    const Num u = num_get(t, &a, 0), v = num_get(t, &b, 0);
    snprintf(what, sizeof what, "%s %s %s of %.21Lg and %.21Lg", num_name(p->a), names[p->op],
             num_name(p->b), num_get(p->a, p->x, i), num_get(p->b, p->y, i));
    if (p->op == PAIR_LT) {
        if (p->ints[i] != (u < v))
            fail_msg("%s gives %lld", what, (long long)p->ints[i]);
        return;
    }
    num_put(t, &got, 0, p->reals[i]);
    if (isfinite(p->reals[i]) && num_get(t, &got, 0) != (Num)p->reals[i])
        fail_msg("%s gives %.17g, which is no %s", what, p->reals[i], num_name(t));
    num_near(t, &got, 0, float_result(p->op, t, u, v), p->op == PAIR_DIV ? 2.5L : 0, what);
}

static void check_int(const Pair *p, size_t i, NewtType t)
{
    uint64_t xa = num_code(p->a, p->x, i), yb = num_code(p->b, p->y, i), a = 0, b = 0;
    num_cast(p->a, &xa, t, &a, 0);
    num_cast(p->b, &yb, t, &b, 0);
    a = extended(t, a);
    b = extended(t, b);
    if (p->op == PAIR_REM && b == 0)
        return;
    const uint64_t want = int_result(p->op, t, a, b);
    if ((uint64_t)p->ints[i] != want)
        fail_msg("operation %d of %s %.21Lg and %s %.21Lg gives %lld, should be %lld", (int)p->op,
                 num_name(p->a), num_get(p->a, p->x, i), num_name(p->b), num_get(p->b, p->y, i),
                 (long long)p->ints[i], (long long)want);
}

static void check_pair(Pair *p, const int64_t *ints, const double *reals)
{
    const NewtType t = promoted_type(p->a, p->b);
    if ((unsigned)t == TYPE_COUNT)
        return;
    for (p->op = PAIR_ADD; p->op <= PAIR_DIV; p->op++) {
        if (!has(p->op, p->a, p->b))
            continue;
        const size_t at = ((size_t)p->b * OPS + p->op) * COUNT;
        const bool divides = p->op == PAIR_DIV || (p->op == PAIR_REM && num_is_float(t));
        const NewtType in = divides ? (t == NEWT_F64 ? NEWT_F64 : NEWT_F32) : t;
        p->ints = ints + at;
        p->reals = reals + at;
        for (size_t i = 0; i < COUNT; i++)
            num_is_float(in) ? check_float(p, i, in) : check_int(p, i, in);
    }
}

/// Values of every kind, small ones in every fourth place, so that some are equal.
static void *values(RunCx *cx, NewtType t, void **on_device)
{
    const size_t size = num_size(t);
    unsigned char *all = run_temp(cx, size * FILLED), *some = run_temp(cx, size * COUNT);
    num_fill(cx, t, all, FILLED);
    for (size_t i = 0; i < COUNT; i++) {
        num_put_code(t, some, i, num_code(t, all, run_random(cx) % FILLED));
        if (i % 4 == 0)
            num_put(t, some, i, (Num)run_between(cx, t == NEWT_I1 ? 0 : -3, 4));
    }
    *on_device = run_buffer(cx, some, size * COUNT, 0);
    return some;
}

typedef NewtStatus Launch(NewtDevice *device, void *x, void *const *y, void *ints, void *reals);

static void run_pairs(RunCx *cx, NewtType a, Launch *launch)
{
    enum { CELLS = TYPE_COUNT * OPS * COUNT };
    void *y[TYPE_COUNT], *dy[TYPE_COUNT], *dx = NULL;
    Pair p = { .a = a, .x = values(cx, a, &dx) };
    for (NewtType t = NEWT_I1; t <= NEWT_F64; t++)
        y[t] = values(cx, t, &dy[t]);
    int64_t *ints = run_temp(cx, sizeof *ints * CELLS);
    double *reals = run_temp(cx, sizeof *reals * CELLS);
    void *dints = RUN_OUT(cx, sizeof *ints * CELLS), *dreals = RUN_OUT(cx, sizeof *reals * CELLS);
    RUN_OK(launch(cx->device, dx, dy, dints, dreals));
    run_get(cx, dints, ints);
    run_get(cx, dreals, reals);
    for (NewtType t = a; t <= NEWT_F64; t++) {
        p.b = t;
        p.y = y[t];
        check_pair(&p, ints, reals);
    }
}

#define PAIRS(name, TYPE)                                                                         \
    static NewtStatus launch_##name(NewtDevice *device, void *x, void *const *y, void *ints,      \
                                    void *reals)                                                  \
    {                                                                                             \
        return K(pairs_##name)(device, NULL, x, y[NEWT_I1], y[NEWT_I8], y[NEWT_I16], y[NEWT_I32], \
                               y[NEWT_I64], y[NEWT_U8], y[NEWT_U16], y[NEWT_U32], y[NEWT_U64],    \
                               y[NEWT_F8E4M3], y[NEWT_F8E5M2], y[NEWT_F16], y[NEWT_BF16],         \
                               y[NEWT_F32], y[NEWT_F64], ints, reals, COUNT);                     \
    }                                                                                             \
    static void with_##name(RunCx *cx)                                                            \
    {                                                                                             \
        run_pairs(cx, NEWT_##TYPE, launch_##name);                                                \
    }
PAIRS(i1, I1)
PAIRS(i8, I8)
PAIRS(i16, I16)
PAIRS(i32, I32)
PAIRS(i64, I64)
PAIRS(u8, U8)
PAIRS(u16, U16)
PAIRS(u32, U32)
PAIRS(u64, U64)
PAIRS(e4m3, F8E4M3)
PAIRS(e5m2, F8E5M2)
PAIRS(f16, F16)
PAIRS(bf16, BF16)
PAIRS(f32, F32)
PAIRS(f64, F64)

RUN_TESTS = {
    { "int1", with_i1 },         { "int8", with_i8 },
    { "int16", with_i16 },       { "int32", with_i32 },
    { "int64", with_i64 },       { "uint8", with_u8 },
    { "uint16", with_u16 },      { "uint32", with_u32 },
    { "uint64", with_u64 },      { "float16", with_f16 },
    { "float8e4nv", with_e4m3 }, { "float8e5", with_e5m2 },
    { "float32", with_f32 },     { "bfloat16", with_bf16 },
    { "float64", with_f64 },     RUN_END,
};
