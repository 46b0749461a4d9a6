/// search.c - which candidates are measured, and when it is enough.
///
/// A small space is measured whole. In a large one the default and its neighbours, one choice away,
/// come first, and then those of the best as long as one is better. Random points follow, and such
/// a climb from the best of all; then points are bred from the best ones until generations bring
/// nothing or the time is over. The worker measures one batch while the next one is compiled.
#include "tuner/tuner_impl.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    WHOLE = 128,  // a space of so many is measured whole
    BATCH = 8,    // candidates an object
    RANDOM_POINTS = 32,
    PARENTS = 6,
    GENERATIONS = 12,
    COMPILE_SECONDS = 20,  // that a batch may take at least
    DEATHS_MAX = 64,       // processes that candidates may take along
    SPILLS_MAX = 256       // bytes a thread: more is not measured once something fits
};

/// Candidates that were compiled and wait for the worker.
typedef struct Batch {
    uint32_t at[BATCH], count;  // indices into `tried`
    const char *object;
} Batch;

double tuner_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double left(const Search *s)
{
    const double spent = tuner_now() - s->began;
    return s->opt->budget > 0 ? s->opt->budget - spent : 1e9;
}

static uint32_t random_below(Search *s, uint32_t n)
{
    s->random = s->random * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX
    return (uint32_t)((s->random >> 33) % n);
}

/* ---- what was tried ---- */

static void show(const Search *s)
{
    uint32_t done = 0;
    for (uint32_t i = 0; i < s->tried.len; i++)
        done += s->tried.at[i].kind != TRIED_NOT;
    if (!s->is_terminal || s->opt->quiet)
        return;
    fprintf(stderr, "\r\033[K%s: %u of %.0f", s->stage, done, s->space.size);
    if (s->best >= 0)
        fprintf(stderr, ", best %.2f us  %s", s->tried.at[s->best].us, s->tried.at[s->best].text);
    if (s->opt->budget > 0)
        fprintf(stderr, ", %.0f s left", fmax(left(s), 0));
    fflush(stderr);
}

static Tried *find(const Search *s, const char *text)
{
    for (uint32_t i = 0; i < s->tried.len; i++)
        if (space_is(s->tried.at[i].text, text))
            return &s->tried.at[i];
    return NULL;
}

static void settle(Search *s, Tried *t, TriedKind kind, double us, const char *why)
{
    t->kind = kind;
    t->us = us;
    t->why = why;
    t->seconds = tuner_now() - s->began;
    const int index = (int)(t - s->tried.at);
    if (kind == TRIED_RIGHT && (s->best < 0 || us < s->tried.at[s->best].us))
        s->best = index;
    show(s);
}

/// Adds a point that was not tried yet.
static bool propose(Search *s, Point p, Batch *b)
{
    const char *text = space_text(s->arena, &s->space, &p);
    if (b->count == BATCH || find(s, text))
        return false;
    b->at[b->count++] = s->tried.len;
    VEC_PUSH(s->arena, &s->tried, ((Tried){ .point = p, .text = text, .stage = s->stage }));
    return true;
}

/* ---- compiling and measuring ---- */

static void drop(Batch *b, uint32_t index)
{
    memmove(&b->at[index], &b->at[index + 1], (b->count - index - 1) * sizeof *b->at);
    b->count--;
}

/// Takes out what will not win: it spills where something that does not is already measured.
static void prune(Search *s, Batch *b)
{
    for (uint32_t i = b->count; i-- > 0;) {
        Tried *t = &s->tried.at[b->at[i]];
        if (t->res.known && t->res.spills > SPILLS_MAX && s->best >= 0 &&
            s->tried.at[s->best].res.spills <= SPILLS_MAX) {
            settle(s, t, TRIED_PRUNED, 0, "spills too many registers");
            drop(b, i);
        }
    }
}

static bool build(Search *s, Batch *b, bool with_host, Resources *res, const char **why)
{
    const char *texts[BATCH];
    for (uint32_t i = 0; i < b->count; i++)
        texts[i] = s->tried.at[b->at[i]].text;
    b->object =
        b->count ? build_batch(s->arena, &s->build, texts, b->count, with_host, res, why) : NULL;
    return b->object;
}

/// Compiles a batch; where the compiler refuses one of it, each alone, and the refused ones go.
static bool compile(Search *s, Batch *b, bool with_host)
{
    Resources res[BATCH];
    const char *why = "";
    if (build(s, b, with_host, res, &why)) {
        for (uint32_t i = 0; i < b->count; i++)
            s->tried.at[b->at[i]].res = with_host && s->build.values ? (Resources){ 0 } : res[i];
        prune(s, b);
        return b->count > 0;
    }
    if (b->count == 1)
        settle(s, &s->tried.at[b->at[0]], TRIED_REFUSED, 0, why);
    if (b->count <= 1) {
        b->count = 0;
        return false;
    }
    Batch half[2] = { { .count = b->count / 2 }, { .count = b->count - b->count / 2 } };
    memcpy(half[0].at, b->at, half[0].count * sizeof *b->at);
    memcpy(half[1].at, b->at + half[0].count, half[1].count * sizeof *b->at);
    b->count = 0;
    for (int i = 0; i < 2; i++) {
        if (compile(s, &half[i], false))
            for (uint32_t k = 0; k < half[i].count; k++)
                b->at[b->count++] = half[i].at[k];
    }
    // What is left compiles together.
    return b->count > 0 && compile(s, b, with_host);
}

static bool start_measuring(Search *s, const Batch *b)
{
    const double seconds = s->opt->budget > 0 ? (left(s) > 0.1 ? left(s) : 0.1) : 0;
    const char *line = arena_printf(s->arena, "measure %s %.3f\n", b->object, seconds);
    return client_start(&s->worker) && client_send(&s->worker, line);
}

static TriedKind kind_of(double us)
{
    return us >= 0 ? TRIED_RIGHT : us == -1 ? TRIED_WRONG : us == -2 ? TRIED_FAILED : TRIED_LARGE;
}

/// Reads the results of a batch that is measured. A process that dies is started again: the store
/// knows what it was running, and passes it over the second time. A process that has no reference
/// yet, and got an object without host code, gets one with it.
static bool finish_measuring(Search *s, Batch *b)
{
    for (bool has_asked = false;;) {
        const WorkerLine line = client_read(s->arena, &s->worker);
        if (line.kind == LINE_RESULT) {
            Tried *t = find(s, line.text);
            if (t && t->kind == TRIED_NOT)
                settle(s, t, kind_of(line.us), line.us > 0 ? line.us : 0, "");
            continue;
        }
        if (line.kind == LINE_DEAD) {
            s->worker.argv[WORKER_AGAIN][0] = '0';  // what is known is not asked again
            if (++s->deaths > DEATHS_MAX || !start_measuring(s, b))
                return tuner_fail("too many candidates end their process");
            continue;
        }
        if (line.kind == LINE_DONE && strcmp(line.text, WORKER_WANTS_HOST) == 0 && !has_asked) {
            Resources res[BATCH];
            const char *why = "";
            has_asked = true;
            if (!build(s, b, true, res, &why) || !start_measuring(s, b))
                return tuner_fail("cannot compile for the host, which gives the results that "
                                  "candidates are compared with: %s",
                                  why);
            continue;
        }
        const bool is_lost = strstr(line.text, "in configuration") != NULL;
        if (!*line.text || is_lost) {
            if (is_lost && left(s) > 0)
                continue;  // its process ends now: the next line says so
            return true;
        }
        return tuner_fail("%s", line.text);
    }
}

/// Compiles `next` while the worker measures `now`, then takes its results.
static bool turn(Search *s, Batch *now, Batch *next)
{
    if (now->count && !start_measuring(s, now))
        return false;
    const bool compiled = next->count && left(s) > 0 && compile(s, next, !s->has_host);
    s->has_host = s->has_host || compiled;
    if (now->count && !finish_measuring(s, now))
        return false;
    *now = compiled ? *next : (Batch){ .count = 0 };
    *next = (Batch){ .count = 0 };
    return true;
}

static bool flush(Search *s, Batch *now)
{
    Batch none = { .count = 0 };
    while (now->count)
        if (!turn(s, now, &none))
            return false;
    return true;
}

/* ---- the stages ---- */

/// Every configuration of this shard; the default first, since it is what all are compared with.
static bool search_whole(Search *s)
{
    Batch now = { .count = 0 }, next = { .count = 0 };
    const Point start = space_start(&s->space);
    s->stage = "all";
    propose(s, start, &next);
    if (s->build.values && !turn(s, &now, &next))  // all its variants, and those of no other
        return false;
    for (uint64_t i = 0; i < (uint64_t)s->space.size && left(s) > 0; i++) {
        if (i % (uint64_t)s->opt->shard_count == (uint64_t)s->opt->shard)
            propose(s, space_at(&s->space, i), &next);
        if (next.count == BATCH && !turn(s, &now, &next))
            return false;
    }
    return (!next.count || turn(s, &now, &next)) && flush(s, &now);
}

static Point random_point(Search *s)
{
    Point p = { { 0 } };
    for (uint32_t i = 0; i < s->space.dim_count; i++)
        p.at[i] = (uint16_t)random_below(s, s->space.dims[i].count);
    return p;
}

static bool search_random(Search *s)
{
    Batch now = { .count = 0 }, next = { .count = 0 };
    s->stage = "random";
    for (int i = 0; i < RANDOM_POINTS && left(s) > 0; i++) {
        propose(s, random_point(s), &next);
        if (next.count == BATCH && !turn(s, &now, &next))
            return false;
    }
    return (!next.count || turn(s, &now, &next)) && flush(s, &now);
}

/// All points that differ from `p` in one choice, by one step where the choice is ordered.
static bool propose_neighbours(Search *s, Point p, Batch *now, Batch *next)
{
    for (uint32_t d = 0; d < s->space.dim_count; d++) {
        const Dimension *dim = &s->space.dims[d];
        for (uint32_t v = 0; v < dim->count; v++) {
            const int step = (int)v - (int)p.at[d];
            if (step == 0 || (dim->is_ordered && step != 1 && step != -1))
                continue;
            Point q = p;
            q.at[d] = (uint16_t)v;
            propose(s, q, next);
            if (next->count == BATCH && (left(s) <= 0 || !turn(s, now, next)))
                return left(s) <= 0;
        }
    }
    return true;
}

/// The default and its neighbours, in one go.
static bool search_start(Search *s)
{
    Batch now = { .count = 0 }, next = { .count = 0 };
    const Point start = space_start(&s->space);
    s->stage = "default";
    propose(s, start, &next);
    return turn(s, &now, &next) && propose_neighbours(s, start, &now, &next) &&
           (!next.count || turn(s, &now, &next)) && flush(s, &now);
}

static bool search_pattern(Search *s)
{
    s->stage = "pattern";
    for (int before = -2; s->best >= 0 && s->best != before && left(s) > 0;) {
        Batch now = { .count = 0 }, next = { .count = 0 };
        before = s->best;
        if (!propose_neighbours(s, s->tried.at[before].point, &now, &next) ||
            (next.count && !turn(s, &now, &next)) || !flush(s, &now))
            return false;
    }
    return true;
}

static int by_time(const void *a, const void *b)
{
    const Tried *x = *(const Tried *const *)a, *y = *(const Tried *const *)b;
    return (x->us > y->us) - (x->us < y->us);
}

/// The fastest ones, at most PARENTS.
static uint32_t parents(const Search *s, Tried **out)
{
    Tried **all = ARENA_NEW_N(s->arena, Tried *, s->tried.len + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->tried.len; i++)
        if (s->tried.at[i].kind == TRIED_RIGHT)
            all[count++] = &s->tried.at[i];
    qsort(all, count, sizeof *all, by_time);
    count = count < PARENTS ? count : PARENTS;
    memcpy(out, all, count * sizeof *all);
    return count;
}

/// Each choice from one of two parents; one of them anew.
static Point child(Search *s, const Point *a, const Point *b)
{
    Point p;
    for (uint32_t i = 0; i < SPACE_DIMENSIONS; i++)
        p.at[i] = random_below(s, 2) ? a->at[i] : b->at[i];
    const uint32_t d = random_below(s, s->space.dim_count);
    p.at[d] = (uint16_t)random_below(s, s->space.dims[d].count);
    return p;
}

static bool search_evolution(Search *s)
{
    s->stage = "evolution";
    for (int g = 0, idle = 0; g < GENERATIONS && idle < 3 && left(s) > 0; g++) {
        Batch now = { .count = 0 }, next = { .count = 0 };
        Point at[PARENTS];
        Tried *best[PARENTS];
        const int before = s->best;
        const uint32_t count = parents(s, best);
        for (uint32_t i = 0; i < count; i++)
            at[i] = best[i]->point;
        if (count < 2)
            return true;
        for (int tries = 0; next.count < BATCH && tries < 4 * BATCH; tries++)
            propose(s, child(s, &at[random_below(s, count)], &at[random_below(s, count)]), &next);
        if ((next.count && !turn(s, &now, &next)) || !flush(s, &now))
            return false;
        idle = s->best == before ? idle + 1 : 0;
    }
    return search_pattern(s);
}

/// What the winner takes on the chip, where it is the default, of which all variants were compiled.
static void know_winner(Search *s)
{
    const char *why;
    Tried *t = s->best >= 0 ? &s->tried.at[s->best] : NULL;
    if (t && s->build.values && !t->res.known)
        build_batch(s->arena, &s->build, &t->text, 1, false, &t->res, &why);
}

bool search_run(Search *s)
{
    bool ok;
    s->began = tuner_now();
    s->best = -1;
    s->build.seconds = s->opt->budget > 0 ? fmax(s->opt->budget / 3, COMPILE_SECONDS) : 0;
    s->random = s->opt->seed + 0x5DEECE66DU * (uint64_t)(s->opt->shard + 1);
    if (s->space.size <= WHOLE || s->space.listed.len)
        ok = search_whole(s);
    else
        ok = search_start(s) && search_pattern(s) && search_random(s) && search_pattern(s) &&
             search_evolution(s);
    know_winner(s);
    if (s->is_terminal && !s->opt->quiet)
        fputs("\r\033[K", stderr);
    return ok;
}
