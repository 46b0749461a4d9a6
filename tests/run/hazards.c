// Loads and stores of one program at the same addresses, against a walk through the text.
#include "number.h"

enum { SIZE = 1100, GIVEN = 1024 };

typedef struct Hazard {
    int32_t p[SIZE], q[SIZE];  // as the test has them
    int32_t got_p[SIZE], got_q[SIZE];
    void *dp, *dq;
} Hazard;

static Hazard *begin(RunCx *cx)
{
    Hazard *h = run_temp(cx, sizeof *h);
    for (size_t i = 0; i < SIZE; i++) {
        h->p[i] = (int32_t)run_between(cx, -1000, 1000);
        h->q[i] = -1;
    }
    h->dp = RUN_IN(cx, h->p);
    h->dq = RUN_OUT(cx, sizeof h->q);
    return h;
}

static void end(RunCx *cx, Hazard *h, const char *what)
{
    run_get(cx, h->dp, h->got_p);
    run_get(cx, h->dq, h->got_q);
    num_same(NEWT_I32, h->got_p, h->p, SIZE, what);
    num_same(NEWT_I32, h->got_q, h->q, SIZE, what);
}

/// p[to(i)] = p[i] for all i at once.
static void move(Hazard *h, size_t count, size_t (*to)(size_t i))
{
    int32_t before[SIZE];
    memcpy(before, h->p, sizeof before);
    for (size_t i = 0; i < count; i++)
        h->p[to(i)] = before[i];
}

static size_t next(size_t i)
{
    return i + 1;
}
static size_t backwards(size_t i)
{
    return GIVEN - 1 - i;
}
static size_t across(size_t i)
{
    return i % 32 * 32 + i / 32;
}

static void moves(RunCx *cx)
{
    Hazard *h = begin(cx);
    RUN_OK(K(shifted)(cx->device, NULL, h->dp));
    move(h, GIVEN, next);
    end(cx, h, "shifted by one");
    RUN_OK(K(reversed_in_place)(cx->device, NULL, h->dp));
    move(h, GIVEN, backwards);
    end(cx, h, "reversed");
    RUN_OK(K(transposed_in_place)(cx->device, NULL, h->dp));
    move(h, GIVEN, across);
    end(cx, h, "transposed");
    RUN_OK(K(exchanged)(cx->device, NULL, h->dp));
    move(h, GIVEN, backwards);
    end(cx, h, "exchanged");
}

static void loops(RunCx *cx)
{
    for (int32_t n = 0; n < 6; n++) {
        Hazard *h = begin(cx);
        RUN_OK(K(rounds)(cx->device, NULL, h->dp, n));
        for (int32_t k = 0; k < n; k++) {
            int32_t before[SIZE];
            memcpy(before, h->p, sizeof before);
            for (size_t i = 0; i < GIVEN; i++)
                h->p[i] = before[i] + before[(i + 1 + (size_t)k) % GIVEN];
        }
        end(cx, h, "rounds");
        RUN_OK(K(walking)(cx->device, NULL, h->dp, n));
        for (int32_t k = 0; k < n; k++)
            memmove(h->p + k + 1, h->p + k, 256 * sizeof *h->p);
        end(cx, h, "walking");
        RUN_OK(K(sums_of_sums)(cx->device, NULL, h->dp, n));
        for (int32_t k = 0; k < n; k++) {
            uint32_t sum = 0, before[512];
            for (size_t i = 0; i < 512; i++)
                sum += before[i] = (uint32_t)h->p[i];
            for (size_t i = 0; i < 512; i++)
                h->p[i] = (int32_t)(before[(i + 7) % 512] + sum);
        }
        end(cx, h, "sums of sums");
        run_release(cx);
    }
}

static void branches(RunCx *cx)
{
    for (int32_t flag = 0; flag < 3; flag++) {
        Hazard *h = begin(cx);
        RUN_OK(K(behind_branch)(cx->device, NULL, h->dp, h->dq, flag));
        for (int32_t i = 0; flag > 0 && i < GIVEN; i++)
            h->p[i] = 3 * i;
        for (size_t i = 0; i < GIVEN; i++)
            h->q[i] = h->p[GIVEN - 1 - i];
        for (size_t i = 0; flag > 1 && i < GIVEN; i++)
            h->p[i] = -1;
        end(cx, h, "behind a branch");
    }
}

static void atomics(RunCx *cx)
{
    Hazard *h = begin(cx);
    RUN_OK(K(behind_atomic)(cx->device, NULL, h->dp, h->dq));
    for (int32_t i = 0; i < GIVEN; i++)
        h->p[i] += i;
    for (int32_t i = 0; i < GIVEN; i++)
        h->q[i] = h->p[GIVEN - 1 - i];
    for (int32_t i = 0; i < GIVEN; i++)
        h->p[i] = 5 + GIVEN - 1 - i;
    end(cx, h, "behind atomics");
}

static void scalars(RunCx *cx)
{
    static const int32_t places[] = { 0, 1, 31, 32, 500, 1023 };
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        const int32_t at = places[k];
        Hazard *h = begin(cx);
        RUN_OK(K(one_and_many)(cx->device, NULL, h->dp, h->dq, at));
        h->p[at] = -7;
        for (size_t i = 0; i < GIVEN; i++)
            h->p[i]++;
        const int32_t s = h->p[at];
        h->p[at] = 2 * s;
        for (size_t i = 0; i < GIVEN; i++)
            h->q[i] = h->p[i] + s;
        end(cx, h, "one element and all");
    }
}

static void masks(RunCx *cx)
{
    static const int32_t limits[] = { 0, 1, 100, 1000, 1024 };
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
        const int32_t n = limits[k];
        Hazard *h = begin(cx);
        RUN_OK(K(masked)(cx->device, NULL, h->dp, n));
        int32_t v[GIVEN], w[GIVEN];
        for (int32_t i = 0; i < GIVEN; i++)
            v[i] = i < n ? h->p[i] : -1;
        for (int32_t i = 0; i < GIVEN; i += 2)
            h->p[i + 3] = v[i];
        for (int32_t i = 0; i < GIVEN; i++)
            w[i] = i > n ? h->p[i + 3] : -2;
        for (int32_t i = 0; i < GIVEN; i += 3)
            h->p[i] = w[i];
        end(cx, h, "under masks");
    }
}

RUN_TESTS = {
    { "moved in place", moves },
    { "loops", loops },
    { "branches", branches },
    { "atomics", atomics },
    { "scalars", scalars },
    { "masks", masks },
    RUN_END,
};
