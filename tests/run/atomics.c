// Atomics of every kind and type, contended by many programs.
#include "number.h"

enum { PROGRAMS = 37, N = 1000 };

typedef NewtStatus Tickets(NewtDevice *device, void *counter, void *seen, int32_t per,
                           int32_t programs);

static void run_tickets(RunCx *cx, NewtType t, Tickets *launch)
{
    enum { PER = 11, SLOTS = 3 + PROGRAMS };
    uint64_t raw[SLOTS] = { 0 };
    int32_t seen[PER * PROGRAMS];
    void *counter = run_buffer(cx, raw, num_size(t) * SLOTS, 0), *dseen = RUN_OUT(cx, sizeof seen);
    RUN_OK(launch(cx->device, counter, dseen, PER, PROGRAMS));
    run_get(cx, counter, raw);
    run_get(cx, dseen, seen);
    for (int i = 0; i < PER * PROGRAMS; i++)
        assert_int_equal(seen[i], 1);
    assert_true(num_get(t, raw, 0) == PER * PROGRAMS);
    assert_true(num_get(t, raw, 1) == 2 * PROGRAMS);
    assert_true(num_get(t, raw, 2) == 4 * PROGRAMS);
    for (size_t i = 0; i < PROGRAMS; i++)
        assert_true(num_get(t, raw, 3 + i) == 4);
}

#define TICKETS(name)                                                                            \
    static NewtStatus tickets_##name(NewtDevice *device, void *counter, void *seen, int32_t per, \
                                     int32_t programs)                                           \
    {                                                                                            \
        return K(tickets_##name)(device, NULL, counter, seen, per, programs);                    \
    }
TICKETS(i32)
TICKETS(i64)
TICKETS(u32)
TICKETS(u64)

static void counters(RunCx *cx)
{
    run_tickets(cx, NEWT_I32, tickets_i32);
    run_tickets(cx, NEWT_I64, tickets_i64);
    run_tickets(cx, NEWT_U32, tickets_u32);
    run_tickets(cx, NEWT_U64, tickets_u64);
}

typedef NewtStatus Merge(NewtDevice *device, void *x, void *out);

/// Random numbers of both signs; zeros of both signs among the floats.
static void fill(RunCx *cx, NewtType t, void *x)
{
    for (size_t i = 0; i < N; i++) {
        if (num_is_float(t))
            num_put(t, x, i, i % 50 == 0 ? (i % 100 ? 0.0L : -0.0L) : (Num)run_uniform(cx) * 100);
        else
            num_put_int(t, x, i, run_random(cx));
    }
}

static void run_extremes(RunCx *cx, NewtType t, Merge *launch)
{
    uint64_t start[8], x[N], got[8];
    fill(cx, t, x);
    for (size_t i = 0; i < 8; i++)
        num_put_code(t, start, i, num_code(t, x, run_random(cx) % N));
    void *out = run_buffer(cx, start, num_size(t) * 8, 0);
    RUN_OK(launch(cx->device, run_buffer(cx, x, num_size(t) * N, 0), out));
    run_get(cx, out, got);
    for (size_t k = 0; k < 4; k++) {
        Num high = num_get(t, start, k), low = num_get(t, start, 4 + k);
        for (size_t i = k; i < N; i += 4) {
            high = fmaxl(high, num_get(t, x, i));
            low = fminl(low, num_get(t, x, i));
        }
        assert_true(num_get(t, got, k) == high);
        assert_true(num_get(t, got, 4 + k) == low);
    }
}

#define MERGE(kernel, name)                                                   \
    static NewtStatus kernel##_##name(NewtDevice *device, void *x, void *out) \
    {                                                                         \
        return K(kernel##_##name)(device, NULL, x, out, N);                   \
    }
MERGE(extremes, i32)
MERGE(extremes, i64)
MERGE(extremes, u32)
MERGE(extremes, u64)
MERGE(extremes, f32)
MERGE(extremes, f64)
MERGE(sums, f16)
MERGE(sums, bf16)
MERGE(sums, f32)
MERGE(sums, f64)

static void max_and_min(RunCx *cx)
{
    run_extremes(cx, NEWT_I32, extremes_i32);
    run_extremes(cx, NEWT_I64, extremes_i64);
    run_extremes(cx, NEWT_U32, extremes_u32);
    run_extremes(cx, NEWT_U64, extremes_u64);
    run_extremes(cx, NEWT_F32, extremes_f32);
    run_extremes(cx, NEWT_F64, extremes_f64);
}

typedef NewtStatus Olds(NewtDevice *device, void *x, void *memory, void *old);

enum { OLDS = 256, KINDS = 3 };

/// What an atomic leaves of `m` in memory and its operand `x`; a NaN operand is above infinity, and
/// +0 above -0.
static Num left_by(NewtType t, size_t kind, Num m, Num x)
{
    const bool is_max = kind == 0;
    if (kind == 2)
        return t == NEWT_F64 ? (Num)((double)m + (double)x) : m + x;
    if (isnan(m) || isnan(x))
        return isnan(m) == is_max ? m : x;
    if (m == x)
        return !signbit(m) == is_max ? m : x;
    return (m > x) == is_max ? m : x;
}

/// GPUs add float32 in memory without subnormals.
static bool is_flushed(NewtType t, size_t kind, Num m, Num x)
{
    const Num least = 0x1p-126L;
    return kind == 2 && t == NEWT_F32 &&
           ((m != 0 && fabsl(m) < least) || (x != 0 && fabsl(x) < least) || fabsl(m + x) < least);
}

static void check_left(NewtType t, size_t kind, const void *memory, const void *x, size_t i,
                       const void *left)
{
    const size_t at = kind * OLDS + i;
    const Num m = num_get(t, memory, at), v = num_get(t, x, i);
    uint64_t want = 0;
    if (is_flushed(t, kind, m, v))
        return;
    if (kind == 2 && !num_is_float(t))
        num_put_int(t, &want, 0, num_code(t, memory, at) + num_code(t, x, i));
    else
        num_put(t, &want, 0, left_by(t, kind, m, v));
    const Num l = num_get(t, left, at), w = num_get(t, &want, 0);
    if (!(isnan(l) && isnan(w)) && (l != w || !signbit(l) != !signbit(w)))
        fail_msg("operation %zu of %s %.21Lg and %.21Lg leaves %.21Lg", kind, num_name(t), m, v, l);
}

static void run_olds(RunCx *cx, NewtType t, Olds *launch)
{
    uint64_t x[OLDS], memory[KINDS * OLDS], left[KINDS * OLDS], old[KINDS * OLDS];
    num_fill(cx, t, x, OLDS);
    num_fill(cx, t, memory, KINDS * OLDS);
    for (size_t i = 0; i < KINDS * OLDS; i++) {
        if (i % 3 == 0)
            num_put_code(t, memory, i, num_code(t, x, run_random(cx) % OLDS));
        if (isnan(num_get(t, memory, i)))
            num_put(t, memory, i, (Num)NAN);
    }
    void *dx = run_buffer(cx, x, num_size(t) * OLDS, 0),
         *dm = run_buffer(cx, memory, num_size(t) * KINDS * OLDS, 0),
         *dold = RUN_OUT(cx, num_size(t) * KINDS * OLDS);
    RUN_OK(launch(cx->device, dx, dm, dold));
    run_get(cx, dm, left);
    run_get(cx, dold, old);
    num_same(t, old, memory, KINDS * OLDS, "old value");
    for (size_t kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < OLDS; i++)
            check_left(t, kind, memory, x, i, left);
}

#define OLD(name)                                                                       \
    static NewtStatus olds_##name(NewtDevice *device, void *x, void *memory, void *old) \
    {                                                                                   \
        return K(olds_##name)(device, NULL, x, memory, old);                            \
    }
OLD(i32)
OLD(i64)
OLD(u32)
OLD(u64)
OLD(f32)
OLD(f64)

static void old_values(RunCx *cx)
{
    run_olds(cx, NEWT_I32, olds_i32);
    run_olds(cx, NEWT_I64, olds_i64);
    run_olds(cx, NEWT_U32, olds_u32);
    run_olds(cx, NEWT_U64, olds_u64);
    run_olds(cx, NEWT_F32, olds_f32);
    run_olds(cx, NEWT_F64, olds_f64);
}

/// Small integers: the sums are exact in every order.
static void run_sums(RunCx *cx, NewtType t, Merge *launch)
{
    uint64_t x[N], got[8], start[8] = { 0 };
    Num want[8] = { 0 };
    for (size_t i = 0; i < N; i++) {
        num_put(t, x, i, (Num)run_between(cx, -1, 2));
        want[i % 8] += num_get(t, x, i);
    }
    void *out = run_buffer(cx, start, num_size(t) * 8, 0);
    RUN_OK(launch(cx->device, run_buffer(cx, x, num_size(t) * N, 0), out));
    run_get(cx, out, got);
    for (size_t i = 0; i < 8; i++)
        if (num_get(t, got, i) != want[i])
            fail_msg("sum %zu of %s is %Lg, should be %Lg", i, num_name(t), num_get(t, got, i),
                     want[i]);
}

static void float_sums(RunCx *cx)
{
    run_sums(cx, NEWT_F16, sums_f16);
    run_sums(cx, NEWT_BF16, sums_bf16);
    run_sums(cx, NEWT_F32, sums_f32);
    run_sums(cx, NEWT_F64, sums_f64);
}

typedef NewtStatus Bits(NewtDevice *device, void *x, void *out, void *old);

static void run_bits(RunCx *cx, NewtType t, Bits *launch)
{
    uint64_t x[N], start[3 + N], got[3 + N], old[N], want[3] = { UINT64_MAX, 0, 0 };
    for (size_t i = 0; i < N; i++)
        num_put_int(t, x, i,
                    i % 2 ? run_random(cx) | UINT64_C(0xff00ff0000) : run_random(cx) | 0x10010);
    for (size_t i = 0; i < 3 + N; i++)
        num_put_int(t, start, i, i < 3 ? want[i] : run_random(cx));
    for (size_t i = 0; i < N; i++) {
        want[0] &= num_code(t, x, i);
        want[1] |= num_code(t, x, i);
        want[2] ^= num_code(t, x, i);
    }
    void *out = run_buffer(cx, start, num_size(t) * (3 + N), 0),
         *dold = RUN_OUT(cx, num_size(t) * N);
    RUN_OK(launch(cx->device, run_buffer(cx, x, num_size(t) * N, 0), out, dold));
    run_get(cx, out, got);
    run_get(cx, dold, old);
    for (size_t i = 0; i < 3; i++)
        assert_true(num_code(t, got, i) == want[i]);
    run_same_bits((char *)got + 3 * num_size(t), x, num_size(t), N);
    run_same_bits(old, (char *)start + 3 * num_size(t), num_size(t), N);
}

#define BITS(name)                                                                   \
    static NewtStatus bits_##name(NewtDevice *device, void *x, void *out, void *old) \
    {                                                                                \
        return K(bits_##name)(device, NULL, x, out, old, N);                         \
    }
BITS(i32)
BITS(i64)
BITS(u32)
BITS(u64)

static void bit_operations(RunCx *cx)
{
    run_bits(cx, NEWT_I32, bits_i32);
    run_bits(cx, NEWT_I64, bits_i64);
    run_bits(cx, NEWT_U32, bits_u32);
    run_bits(cx, NEWT_U64, bits_u64);
}

static void compare_and_swap(RunCx *cx)
{
    int32_t a = 10;
    uint64_t b = UINT64_C(1) << 40;
    void *da = run_buffer(cx, &a, sizeof a, 0), *db = run_buffer(cx, &b, sizeof b, 0);
    RUN_OK(K(swaps_i32)(cx->device, NULL, da, PROGRAMS));
    RUN_OK(K(swaps_u64)(cx->device, NULL, db, PROGRAMS));
    run_get(cx, da, &a);
    run_get(cx, db, &b);
    assert_int_equal(a, 10 + 2 * PROGRAMS);
    assert_int_equal(b, (UINT64_C(1) << 40) + 2 * PROGRAMS);
}

static void lock_and_unlock(RunCx *cx)
{
    int32_t lock = 0, total = 0;
    void *dl = run_buffer(cx, &lock, sizeof lock, 0), *dt = run_buffer(cx, &total, sizeof total, 0);
    RUN_OK(K(locked)(cx->device, NULL, dl, dt, PROGRAMS));
    run_get(cx, dl, &lock);
    run_get(cx, dt, &total);
    assert_int_equal(lock, 0);
    assert_int_equal(total, PROGRAMS * (PROGRAMS - 1) / 2);
}

static void other_forms(RunCx *cx)
{
    int32_t out[40] = { 1, -9 }, old[40];
    float f[3] = { -1.0f, -2.0f, 0.5f };
    for (int32_t i = 0; i < 32; i++)
        out[8 + i] = 1000 * i;
    void *dout = RUN_IN(cx, out), *df = RUN_IN(cx, f), *dold = RUN_OUT(cx, sizeof old);
    RUN_OK(K(forms)(cx->device, NULL, dout, df, dold));
    run_get(cx, dout, out);
    run_get(cx, df, f);
    run_get(cx, dold, old);
    static const int32_t first[5] = { 1, 6, -9, 0, 9 };
    num_same(NEWT_I32, old, first, 5, "old values");
    assert_int_equal(out[0], 11);
    assert_int_equal(out[1], -7);
    assert_int_equal(out[2], 9);
    for (int32_t i = 0; i < 32; i++) {
        int32_t row = i / 4 * 4;
        assert_int_equal(out[8 + i], 1001 * i);
        assert_int_equal(old[8 + i], 1000 * (i + 4 * row + 6));
    }
    assert_true(f[0] == 0 && f[1] == -2.5f && f[2] == 1.5f);
}

RUN_TESTS = {
    { "counters", counters },
    { "max and min", max_and_min },
    { "old values", old_values },
    { "sums of floats", float_sums },
    { "bits", bit_operations },
    { "compare and swap", compare_and_swap },
    { "lock", lock_and_unlock },
    { "other forms", other_forms },
    RUN_END,
};
