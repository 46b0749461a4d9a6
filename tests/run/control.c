// Control flow against the same loops and branches in C.
#include "number.h"

static void check(RunCx *cx, const void *at, const int32_t *want, size_t count, const char *what)
{
    int32_t *got = run_temp(cx, sizeof *got * count);
    run_get(cx, at, got);
    num_same(NEWT_I32, got, want, count, what);
}

#define OUT(n) RUN_OUT(cx, (n) * sizeof(int32_t))

static void bounds(RunCx *cx)
{
    static const int32_t ranges[][3] = { { 0, 10, 1 },
                                         { 0, 10, 3 },
                                         { 5, 5, 1 },
                                         { 5, 4, 1 },
                                         { -7, 9, 4 },
                                         { 3, 4, 100 },
                                         { INT32_MAX - 5, INT32_MAX, 4 } };
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++) {
        int32_t want[3] = { 0, 0, -1 };
        for (int64_t i = ranges[k][0]; i < ranges[k][1]; i += ranges[k][2]) {
            want[0]++;
            want[1] = (int32_t)((uint32_t)want[1] + (uint32_t)i);
            want[2] = (int32_t)i;
        }
        void *out = OUT(3);
        RUN_OK(K(run_time_bounds)(cx->device, NULL, out, ranges[k][0], ranges[k][1], ranges[k][2]));
        check(cx, out, want, 3, "range(lo, hi, step)");
    }
}

static void downwards(RunCx *cx)
{
    for (int32_t hi = -2; hi < 12; hi++) {
        int32_t want[33], n = 0;
        memset(want, 0xff, sizeof want);
        for (int32_t i = hi; i > 0; i -= 3)
            want[n++] = i;
        want[32] = n;
        void *out = OUT(33);
        RUN_OK(K(negative_step)(cx->device, NULL, out, 0, hi));
        check(cx, out, want, 33, "range(hi, lo, -3)");
    }
}

static void wide(RunCx *cx)
{
    int64_t lo = INT64_C(1) << 40, got, want = 0;
    void *out = RUN_OUT(cx, sizeof got);
    RUN_OK(K(wide_bounds)(cx->device, NULL, out, lo, 100));
    run_get(cx, out, &got);
    for (int64_t i = lo; i < lo + 100; i++)
        want += i;
    assert_int_equal(got, want);
}

static void nested_loops(RunCx *cx)
{
    int32_t want[17];
    memset(want, 0xff, sizeof want);
    want[16] = 0;
    for (int32_t i = 0; i < 9; i++) {
        want[i] = 0;
        for (int32_t j = i; j < 7; j++, want[16]++)
            want[i] += i * j;
    }
    void *out = OUT(17);
    RUN_OK(K(nested)(cx->device, NULL, out, 9, 7));
    check(cx, out, want, 17, "nested loops");
}

static void carried(RunCx *cx)
{
    static const int32_t sizes[] = { 0, 1, 63, 64, 65, 640, 1000 };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        float x[1000], got[64], want[64] = { 0 };
        int32_t n = sizes[k];
        for (int32_t i = 0; i < n; i++) {
            x[i] = (float)run_between(cx, -1000, 1000);
            want[i % 64] += x[i];
        }
        void *out = RUN_OUT(cx, sizeof got);
        RUN_OK(K(carried_block)(cx->device, NULL, run_buffer(cx, x, sizeof *x * (size_t)n, 0), out,
                                n));
        run_get(cx, out, got);
        num_same(NEWT_F32, got, want, 64, "p += BLOCK");
    }
}

static void swaps(RunCx *cx)
{
    for (int32_t n = 0; n < 6; n++) {
        int32_t want[26], a = 1, b = 1;
        memset(want, 0xff, sizeof want);
        for (int32_t k = 0; k < n; k++) {
            int32_t c = a + b;
            a = b;
            b = c;
            want[24 + k % 2] = k;
        }
        want[0] = a;
        want[1] = b;
        want[24 + (n + 1) % 2] = 100;
        for (int32_t i = 0; i < 8; i++)
            want[8 + i] = n % 2 ? 10 * i : i;
        void *out = OUT(26);
        RUN_OK(K(swapped)(cx->device, NULL, out, n));
        check(cx, out, want, 26, "swapped values");
    }
}

static void whiles(RunCx *cx)
{
    for (int32_t n = 1; n < 30; n++) {
        int32_t want[2] = { 0, 0 };
        for (int32_t k = n; k != 1; k = k % 2 ? 3 * k + 1 : k / 2)
            want[0]++;
        void *out = OUT(1);
        RUN_OK(K(collatz)(cx->device, NULL, out, n));
        check(cx, out, want, 1, "while n != 1");
        want[0] = 0;
        want[1] = n < 8 ? n : 8;
        out = OUT(2);
        RUN_OK(K(count_down)(cx->device, NULL, out, n));
        check(cx, out, want, 2, "while k");
    }
}

static void break_and_continue(RunCx *cx)
{
    for (int round = 0; round < 20; round++) {
        int32_t x[16], n = (int32_t)run_between(cx, 0, 16), want[2] = { 0, 0 };
        for (int32_t i = 0; i < 16; i++)
            x[i] = (int32_t)(run_random(cx) % 12 == 0 ? 99 : run_between(cx, -20, 20));
        for (; want[1] < n;) {
            int32_t v = x[want[1]++];
            if (v == 99) {
                want[0] = -want[0];
                break;
            }
            want[0] += v < 0 ? 0 : v;
        }
        void *out = OUT(2);
        RUN_OK(K(forever_with_break)(cx->device, NULL, out, RUN_IN(cx, x), n));
        check(cx, out, want, 2, "while True");
        int32_t stop = (int32_t)run_between(cx, 0, 10);
        want[0] = want[1] = 0;
        for (int32_t i = 0; i < n && i != stop; i++, want[1]++)
            for (int32_t j = 0; j < n && j <= i; j++)
                want[0] += (i + j) % 2 ? 0 : i * 10 + j;
        out = OUT(2);
        RUN_OK(K(breaks_of_two_loops)(cx->device, NULL, out, n, stop));
        check(cx, out, want, 2, "break of two loops");
    }
}

static void returns(RunCx *cx)
{
    int32_t x[16];
    for (int32_t i = 0; i < 16; i++)
        x[i] = 3 * i;
    for (int32_t wanted = -1; wanted < 50; wanted += 2) {
        int32_t at = wanted >= 0 && wanted % 3 == 0 && wanted < 48 ? wanted / 3 : -1,
                next = wanted + 1;
        int32_t want[2] = { at, at < 0 ? 1 : -1 };
        void *out = OUT(2);
        RUN_OK(K(return_in_loop)(cx->device, NULL, out, RUN_IN(cx, x), 8, wanted));
        check(cx, out, want, 2, "return in loops");
        want[1] = (next % 3 == 0 && next < 48 ? next / 3 : -1) + 100;
        out = OUT(2);
        RUN_OK(K(return_of_helper)(cx->device, NULL, out, RUN_IN(cx, x), 16, wanted));
        check(cx, out, want, 2, "return of a helper's loop");
    }
    int32_t want[16];
    for (int32_t i = 0; i < 16; i++)
        want[i] = i >= 10 ? -1 : i % 3 ? i : i % 2 ? 3 : 0;
    void *out = OUT(16);
    RUN_OK(K(early_return)(cx->device, NULL, out, 16, 10));
    check(cx, out, want, 16, "early return");
}

static void merged_branches(RunCx *cx)
{
    int32_t x[24], want[24 * 8];
    memset(want, 0xff, sizeof want);
    for (int32_t i = 0; i < 24; i++) {
        int32_t v = x[i] = i - 6, *w = want + i * 8;
        w[0] = v > 10 ? v : v > 5 ? 2 * v : v == 3 ? 333 : -v;
        w[1] = v < 0 ? -1 : v == 0 ? 0 : v < 7 ? 1 : 2;
        w[2] = v % 2 == 0 ? w[0] : -w[0];
        for (int32_t k = 0; k < 4; k++)
            w[4 + k] = v > 10 ? k : v > 5 ? k + 10 : 0;
    }
    void *out = OUT(24 * 8);
    RUN_OK(K(branches)(cx->device, NULL, out, RUN_IN(cx, x), 24));
    check(cx, out, want, 24 * 8, "if, elif, else");
}

static void constant_branches(RunCx *cx)
{
    static const int32_t want[3][8] = { { 1012, -1, -1, -1, 0, 1, 2, 3 },
                                        { 1043, -1, -1, -1, 0, 0, 0, 0 },
                                        { -50011, -1, -1, -1, 0, 1, 2, 3 } };
    for (int k = 0; k < 3; k++) {
        void *out = OUT(8);
        RUN_OK(k == 0   ? K(pruned_double)(cx->device, NULL, out, 6)
               : k == 1 ? K(pruned_square)(cx->device, NULL, out, 6)
                        : K(pruned_add)(cx->device, NULL, out, 6));
        check(cx, out, want[k], 8, "constant conditions");
    }
}

static void unrolled_loops(RunCx *cx)
{
    static const int32_t x[4] = { 11, 12, 13, 14 };
    // 0 * 1 + 1 * 2 + 2 * 4 + 3 * 8, then 10 + 6 + 2 hundreds, then 15 ten-thousands.
    static const int32_t want[5] = { 11, 24, 39, 56, 34 + 1800 + 150000 };
    void *out = OUT(5);
    RUN_OK(K(unrolled)(cx->device, NULL, out, RUN_IN(cx, x)));
    check(cx, out, want, 5, "static_range");
}

static void called_functions(RunCx *cx)
{
    for (int32_t v = -3; v < 12; v += 5) {
        int32_t p = 2 * v + 1, q = 10 - v;
        const int32_t want[17] = { p,
                                   q,
                                   15,
                                   v - 4,
                                   5 * v + 1,
                                   p + q * 100 + p * 3 + q,
                                   v * v * v * v * v,
                                   3 * v + 3 * (v + 1),
                                   3 - v,
                                   (v + 2) * 100 + v + 1,
                                   6 * v,
                                   2 * v,
                                   16,
                                   v + 4 + (v < 0 ? -v : v),
                                   v == 2 ? 8 : 7,
                                   3 - 4 + 16 + 3,
                                   4 + 16 };
        void *out = OUT(17);
        RUN_OK(K(functions)(cx->device, NULL, out, v));
        check(cx, out, want, 17, "called functions");
    }
}

static void no_trips(RunCx *cx)
{
    for (int32_t n = -1; n < 4; n++) {
        const int32_t a = n > 0 ? n - 1 : 5, f = n > 0 ? 1 << n : 1;
        const int32_t want[8] = { a, -1, -1, -1, 0, f, 2 * f, 3 * f };
        void *out = OUT(8);
        RUN_OK(K(zero_trips)(cx->device, NULL, out, n));
        check(cx, out, want, 8, "zero trips");
        const int32_t sum = n > 0 ? 10 * (n * (n - 1) / 2) : 0;
        out = OUT(1);
        RUN_OK(K(assigned_counter)(cx->device, NULL, out, n));
        check(cx, out, &sum, 1, "assigned counter");
    }
}

static void logic(RunCx *cx)
{
    for (int32_t n = 0; n < 8; n++) {
        const int32_t want =
            (n > 2 && n < 5) * 1000 + (n < 2 || n > 5) * 100 + (n != 3) * 10 + (2 <= n && n < 5);
        void *out = OUT(1);
        RUN_OK(K(short_circuit)(cx->device, NULL, out, out, n));
        check(cx, out, &want, 1, "and, or, not");
    }
}

static void else_of_loops(RunCx *cx)
{
    for (int32_t n = 0; n < 5; n++)
        for (int32_t stop = -1; stop < 6; stop++) {
            bool broken = stop >= 0 && stop < n;
            const int32_t want[3] = { broken ? -1 : n, broken ? -1 : 100, 2 * (broken ? stop : n) };
            void *out = OUT(3);
            RUN_OK(K(loop_else)(cx->device, NULL, out, n, stop));
            check(cx, out, want, 3, "else of a loop");
        }
}

RUN_TESTS = {
    { "bounds", bounds },
    { "downwards", downwards },
    { "int64 bounds", wide },
    { "nested", nested_loops },
    { "carried block and pointer", carried },
    { "swaps", swaps },
    { "while", whiles },
    { "break and continue", break_and_continue },
    { "return", returns },
    { "branches", merged_branches },
    { "constant branches", constant_branches },
    { "static_range", unrolled_loops },
    { "functions", called_functions },
    { "zero trips", no_trips },
    { "logic", logic },
    { "else of loops", else_of_loops },
    RUN_END,
};
