/// search.c - which candidate comes next, and when it is enough.
///
/// A small space is tried whole. In a large one the default comes first, and then those that the
/// model (model.c) calls best of a sample and of what lies one choice beside its best. Then come
/// the neighbours of the best measured one, as long as there are any, and in between children of
/// the fastest ones and random points, of which the model picks. It is enough when PATIENCE of
/// them bring nothing. Proposals do not wait for results: what is on its way is as good as tried.
#include "tuner/tuner_impl.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    WHOLE = 128,   // a space of so many is tried whole
    SAMPLE = 160,  // points for the model
    DESCENTS = 8,  // of the sample's best, from which it descends
    ROUNDS = 3,    // of a descent
    SEEDS = 20,
    LIKE = 2,   // seeds that are like one that is a seed already
    STEPS = 3,  // neighbours that a descent notes
    PARENTS = 6,
    DRAWS = 8,      // random points for one proposal
    PATIENCE = 60,  // proposals without something better
    TRIES = 64      // points that are nothing new, before the search counts as done
};
static const double hopeless = 2.5;  // the model's cost against that of the best: not tried
static const double better = 0.997;  // of the best's time: worth more patience

double tuner_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double search_left(const Search *s)
{
    return s->opt->budget > 0 ? s->opt->budget - (tuner_now() - s->began) : 1e9;
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
        fprintf(stderr, ", %.0f s left", fmax(search_left(s), 0));
    fflush(stderr);
}

void search_settle(Search *s, Tried *t, TriedKind kind, double us, const char *why)
{
    const double before = s->best >= 0 ? s->tried.at[s->best].us : 0;
    t->kind = kind;
    t->us = us;
    t->why = why;
    t->seconds = tuner_now() - s->began;
    if (kind == TRIED_RIGHT && (s->best < 0 || us < before)) {
        s->best = (int)(t - s->tried.at);
        if (before <= 0 || us < better * before)
            s->waited = 0;
    }
    show(s);
}

static bool is_tried(const Search *s, const char *text)
{
    for (uint32_t i = 0; i < s->tried.len; i++)
        if (strcmp(s->tried.at[i].text, text) == 0)
            return true;
    return false;
}

static const Tried *tried_code(const Search *s, const Draft *d)
{
    for (uint32_t i = 0; i < s->tried.len; i++)
        if (s->tried.at[i].draft && s->tried.at[i].draft->code == d->code &&
            s->tried.at[i].kind != TRIED_SAME && s->tried.at[i].kind != TRIED_REFUSED)
            return &s->tried.at[i];
    return NULL;
}

/// Adds a point; its index when it is worth compiling, else -1.
static int propose(Search *s, Point p)
{
    const char *text = space_text(s->arena, &s->space, &p);
    if (is_tried(s, text))
        return -1;
    const Draft *d = draft_of(s, text);
    const Tried *same = d->why ? NULL : tried_code(s, d);
    VEC_PUSH(s->arena, &s->tried,
             ((Tried){ .point = p, .text = text, .stage = s->stage, .draft = d }));
    Tried *t = &s->tried.at[s->tried.len - 1];
    if (d->why)
        search_settle(s, t, TRIED_REFUSED, 0, d->why);
    else if (same)
        search_settle(s, t, TRIED_SAME, 0, arena_printf(s->arena, "as %s", same->text));
    return t->kind == TRIED_NOT ? (int)s->tried.len - 1 : -1;
}

/* ---- points ---- */

static double cost_of(Search *s, const Point *p)
{
    const Draft *d = draft_of(s, space_text(s->arena, &s->space, p));
    return d->why ? INFINITY : d->cost;
}

/// Half of the choices as they are by default.
static Point random_point(Search *s)
{
    Point p = space_start(&s->space);
    for (uint32_t i = 0; i < s->space.dim_count; i++)
        if (random_below(s, 2))
            p.at[i] = (uint16_t)random_below(s, s->space.dims[i].count);
    return p;
}

typedef VEC(Point) Points;

/// The points that differ from `p` in one choice, by one step where the choice is ordered.
static void neighbours(const Search *s, Point p, Points *out)
{
    for (uint32_t d = 0; d < s->space.dim_count; d++) {
        const Dimension *dim = &s->space.dims[d];
        for (uint32_t v = 0; v < dim->count; v++) {
            const int step = (int)v - (int)p.at[d];
            if (step == 0 || (dim->is_ordered && step != 1 && step != -1))
                continue;
            Point q = p;
            q.at[d] = (uint16_t)v;
            VEC_PUSH(s->arena, out, q);
        }
    }
}

/* ---- seeds ---- */

typedef struct Ranked {
    Point point;
    double cost;
} Ranked;

static int by_cost(const void *a, const void *b)
{
    const Ranked *x = a, *y = b;
    return (x->cost > y->cost) - (x->cost < y->cost);
}

static uint32_t rank(Search *s, const Points *points, Ranked **out)
{
    *out = ARENA_NEW_N(s->arena, Ranked, points->len + 1);
    for (uint32_t i = 0; i < points->len; i++)
        (*out)[i] = (Ranked){ points->at[i], cost_of(s, &points->at[i]) };
    qsort(*out, points->len, sizeof **out, by_cost);
    return points->len;
}

/// Adds what a descent by the model meets on its way down.
static void descend(Search *s, Point p, Points *met)
{
    for (int round = 0; round < ROUNDS; round++) {
        Points beside = { 0 };
        Ranked *by;
        neighbours(s, p, &beside);
        const uint32_t count = rank(s, &beside, &by);
        for (uint32_t i = 0; i < count && i < STEPS; i++)
            VEC_PUSH(s->arena, met, by[i].point);
        if (!count || !(by[0].cost < cost_of(s, &p)))
            return;
        p = by[0].point;
    }
}

/// Whether two points differ in one choice or none.
static bool is_like(const Search *s, const Point *a, const Point *b)
{
    uint32_t apart = 0;
    for (uint32_t d = 0; d < s->space.dim_count; d++)
        apart += a->at[d] != b->at[d];
    return apart <= 1;
}

static void add_seed(Search *s, const Point *p)
{
    const Draft *d = draft_of(s, space_text(s->arena, &s->space, p));
    uint32_t like = 0;
    for (uint32_t i = 0; i < s->seeds.len; i++) {
        const Point *q = &s->seeds.at[i];
        if (draft_of(s, space_text(s->arena, &s->space, q))->code == d->code)
            return;
        like += is_like(s, p, q);
    }
    if (!d->why && like < LIKE)
        VEC_PUSH(s->arena, &s->seeds, *p);
}

/// The best by the model, not too many alike; nothing where it can tell nothing.
static void make_seeds(Search *s)
{
    Points sample = { 0 };
    Ranked *by;
    const Point start = space_start(&s->space);
    if (!(cost_of(s, &start) > 0))
        return;
    VEC_PUSH(s->arena, &sample, start);
    for (int i = 0; i < SAMPLE; i++)
        VEC_PUSH(s->arena, &sample, random_point(s));
    rank(s, &sample, &by);
    for (int i = 0; i < DESCENTS; i++)
        descend(s, by[i].point, &sample);
    const uint32_t count = rank(s, &sample, &by);
    for (uint32_t i = 0; i < count && s->seeds.len < SEEDS; i++)
        add_seed(s, &by[i].point);
}

/// The seeds of this shard.
static int next_seed(Search *s)
{
    const uint32_t shards = (uint32_t)s->opt->shard_count;
    if (!s->is_seeded)
        make_seeds(s);
    s->is_seeded = true;
    s->stage = "model";
    while (s->next_seed < s->seeds.len) {
        const uint32_t i = s->next_seed++;
        const int index = i % shards == (uint32_t)s->opt->shard ? propose(s, s->seeds.at[i]) : -1;
        if (index >= 0)
            return index;
    }
    return -1;
}

/* ---- what is better than what was measured ---- */

static bool is_hopeless(Search *s, const Point *p)
{
    const double best = s->best >= 0 ? s->tried.at[s->best].draft->cost : 0;
    return best > 0 && cost_of(s, p) > hopeless * best;
}

/// The neighbour of the best that the model likes most.
static int next_neighbour(Search *s)
{
    Points beside = { 0 };
    Ranked *by;
    if (s->best < 0)
        return -1;
    s->stage = "neighbour";
    neighbours(s, s->tried.at[s->best].point, &beside);
    const uint32_t count = rank(s, &beside, &by);
    for (uint32_t i = 0; i < count; i++) {
        const int index = is_hopeless(s, &by[i].point) ? -1 : propose(s, by[i].point);
        if (index >= 0)
            return index;
    }
    return -1;
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

static int next_child(Search *s)
{
    Tried *best[PARENTS];
    const uint32_t count = parents(s, best);
    s->stage = "child";
    for (int i = 0; count > 1 && i < TRIES; i++) {
        const Point p =
            child(s, &best[random_below(s, count)]->point, &best[random_below(s, count)]->point);
        const int index = is_hopeless(s, &p) ? -1 : propose(s, p);
        if (index >= 0)
            return index;
    }
    return -1;
}

static int next_random(Search *s)
{
    Points drawn = { 0 };
    Ranked *by;
    s->stage = "random";
    for (int i = 0; i < DRAWS; i++)
        VEC_PUSH(s->arena, &drawn, random_point(s));
    const uint32_t count = rank(s, &drawn, &by);
    for (uint32_t i = 0; i < count; i++) {
        const int index = is_hopeless(s, &by[i].point) ? -1 : propose(s, by[i].point);
        if (index >= 0)
            return index;
    }
    return -1;
}

/* ---- the next one ---- */

/// Every configuration of this shard.
static int next_of_whole(Search *s)
{
    s->stage = "all";
    while (s->next_index < (uint64_t)s->space.size) {
        const uint64_t i = s->next_index++;
        if (i % (uint64_t)s->opt->shard_count != (uint64_t)s->opt->shard)
            continue;
        const int index = propose(s, space_at(&s->space, i));
        if (index >= 0)
            return index;
    }
    return -1;
}

static int next_of_many(Search *s)
{
    int index = next_seed(s);
    if (index < 0)
        index = next_neighbour(s);
    if (index >= 0)
        return index;
    if (s->waited >= PATIENCE)
        return -1;
    for (int i = 0; i < TRIES && index < 0; i++)
        index = s->best >= 0 && random_below(s, 2) ? next_child(s) : next_random(s);
    s->waited++;
    return index;
}

int search_next(Search *s)
{
    if (!s->tried.len) {  // what all are compared with
        s->stage = "default";
        const int index = propose(s, space_start(&s->space));
        if (index >= 0)
            return index;
    }
    const bool is_small = s->space.size <= WHOLE || s->space.listed.len;
    return is_small ? next_of_whole(s) : next_of_many(s);
}

bool search_run(Search *s)
{
    s->began = tuner_now();
    s->best = -1;
    s->stage = "";
    s->random = s->opt->seed + 0x5DEECE66DU * (uint64_t)(s->opt->shard + 1);
    const bool ok = draft_begin(s) && flow_run(s);
    if (s->is_terminal && !s->opt->quiet)
        fputs("\r\033[K", stderr);
    return ok;
}
