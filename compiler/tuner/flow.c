/// flow.c - candidates on their way: several are compiled while one is measured.
///
/// The reference that all are compared with comes from an object of its own, with host code and the
/// most general code of the default. A worker gets it before anything else; in a search that goes
/// on with what a store knows, only when it asks. A worker that dies is started again: the store
/// knows what it was running, and passes it over the second time.
#include "tuner/tuner_impl.h"
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum {
    FEW = 128,             // configurations: others than the default take part in the reference
    AHEAD = 6,             // compiled candidates that wait, before no more are compiled
    COMPILE_SECONDS = 20,  // that one may take at least
    REFERENCE_SECONDS = 120,
    DEATHS_MAX = 64,   // processes that candidates may take along
    SPILLS_MAX = 256,  // bytes a thread: more is not measured once something fits
    STEP_MS = 100,
    SILENCE =
        15 * 60  // seconds; libnewt ends what hangs: who says nothing for so long hangs himself
};

static bool is_host(const Search *s)
{
    return strcmp(s->build.arch, "host") == 0;
}

static bool is_late(const Load *l)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (l->at[i] == 0)
            return false;
    return !l->is_reference;
}

/// The default is measured also when there is no time for anything.
static bool is_over(const Search *s)
{
    return search_left(s) <= 0 && s->tried.len && s->tried.at[0].kind != TRIED_NOT;
}

/* ---- compiling ---- */

/// As many as -j says, else what processors there are beside the one that measures.
static uint32_t slots_wanted(const Search *s)
{
    const long given = draft_jobs(s->drafts);
    const long all = given > 0 ? given : sysconf(_SC_NPROCESSORS_ONLN) - 1;
    return all < 1 ? 1 : all > SLOTS_MAX ? SLOTS_MAX : (uint32_t)all;
}

static Slot *free_slot(Search *s)
{
    for (uint32_t i = 0; i < s->slot_count; i++)
        if (!s->slots[i].is_used)
            return &s->slots[i];
    return NULL;
}

static void refuse(Search *s, const Load *l, const char *why)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (s->tried.at[l->at[i]].kind == TRIED_NOT)
            search_settle(s, &s->tried.at[l->at[i]], TRIED_REFUSED, 0, why);
}

static double seconds_of(const Search *s, const Load *l)
{
    const double least = l->is_reference ? REFERENCE_SECONDS : COMPILE_SECONDS;
    return s->opt->budget > 0 ? fmax(s->opt->budget / 3, least) : 0;
}

/// On the host its object is that of candidates too; on a GPU they have others.
static bool owns(const Search *s, const Load *l)
{
    return !l->is_reference || is_host(s);
}

static int take(Search *s)
{
    if (s->queued < s->queue.len)
        return s->queue.at[s->queued++];
    return search_next(s);
}

static bool compiled(Search *s, Slot *slot);

static bool start(Search *s, Slot *slot, const Load *load)
{
    *slot = (Slot){ .load = *load, .is_used = true };
    slot->compile.with_host = load->is_reference;
    slot->compile.seconds = seconds_of(s, load);
    for (uint32_t i = 0; i < load->count; i++)
        slot->compile.texts[slot->compile.count++] = s->tried.at[load->at[i]].text;
    return build_start(s->arena, &s->build, &slot->compile) || compiled(s, slot);
}

/// What computes the reference: the default. On the host it is asked along with others, of which
/// most have to agree. False when there is nothing to compute it by.
static bool next_reference(Search *s, Load *out)
{
    const bool has_voters = is_host(s) && !s->is_alone && s->space.size <= FEW;
    const uint32_t most = has_voters ? COMPILE_MOST : 1;
    *out = (Load){ .is_reference = true };
    while (!is_host(s) && s->next_reference < s->tried.len) {
        const uint32_t i = s->next_reference++;
        const TriedKind kind = s->tried.at[i].kind;
        if (kind != TRIED_REFUSED && kind != TRIED_SAME) {
            out->at[out->count++] = i;
            return true;
        }
    }
    while (out->count < most) {
        const int index = take(s);
        if (index < 0)
            break;
        out->at[out->count++] = (uint32_t)index;
        if (!is_host(s)) {  // it is a candidate besides
            VEC_PUSH(s->arena, &s->queue, index);
            s->next_reference = (uint32_t)index + 1;
        }
    }
    return out->count > 0;
}

/// The reference could not be compiled: each candidate alone, then another one.
static bool other_reference(Search *s, const Slot *slot)
{
    const Load *l = &slot->load;
    if (is_host(s) && l->count == 1)
        refuse(s, l, slot->compile.why);
    for (uint32_t i = 0; is_host(s) && l->count > 1 && i < l->count; i++)
        VEC_PUSH(s->arena, &s->queue, (int)l->at[i]);
    s->is_alone = true;
    s->state = REFERENCE_WANTED;
    s->reference_why = slot->compile.why;
    return true;
}

/// Takes what a compile gave; false after printing why the search cannot go on.
static bool compiled(Search *s, Slot *slot)
{
    Load load = slot->load;
    const Compile *c = &slot->compile;
    slot->is_used = false;
    if (c->why && load.is_reference)
        return other_reference(s, slot);
    if (c->why) {
        refuse(s, &load, c->why);
        return true;
    }
    load.object = c->object;
    for (uint32_t i = 0; i < load.count && owns(s, &load); i++)
        s->tried.at[load.at[i]].res = c->resources[i];
    if (load.is_reference) {
        s->reference = load;
        s->state = REFERENCE_READY;
    } else {
        VEC_PUSH(s->arena, &s->ready, load);
    }
    return true;
}

static bool start_compiles(Search *s)
{
    Slot *slot;
    while ((slot = free_slot(s)) && s->ready.len < AHEAD && !is_over(s)) {
        Load load = { .count = 1 };
        if (s->state == REFERENCE_WANTED) {
            if (!next_reference(s, &load))
                return tuner_fail("cannot compile for the host, which gives the results that "
                                  "candidates are compared with: %s",
                                  s->reference_why);
            s->state = REFERENCE_BUILDING;
        } else {
            const int index = take(s);
            if (index < 0)
                return true;
            load.at[0] = (uint32_t)index;
        }
        if (!start(s, slot, &load))
            return false;
    }
    return true;
}

static bool step_compiles(Search *s)
{
    for (uint32_t i = 0; i < s->slot_count; i++) {
        Slot *slot = &s->slots[i];
        if (slot->is_used && build_step(s->arena, &s->build, &slot->compile) && !compiled(s, slot))
            return false;
    }
    return true;
}

/// Ends what cannot be measured any more.
static void stop_late(Search *s, bool all)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->slot_count; i++)
        if (s->slots[i].is_used && (all || is_late(&s->slots[i].load))) {
            proc_end(&s->slots[i].compile.proc);
            s->slots[i].is_used = false;
        }
    for (uint32_t i = 0; i < s->ready.len; i++)
        if (!all && !is_late(&s->ready.at[i]))
            s->ready.at[kept++] = s->ready.at[i];
    s->ready.len = kept;
}

/* ---- measuring ---- */

static bool measure(Search *s, const Load *load)
{
    const double left = search_left(s);
    const double seconds = s->opt->budget > 0 ? fmax(left, 0.1) : 0;
    const double best = s->best >= 0 ? s->tried.at[s->best].us : 0;
    s->busy = *load;
    s->heard = tuner_now();
    return client_start(&s->worker) &&
           client_send(&s->worker, arena_printf(s->arena, "measure %s %.3f %.6g\n", load->object,
                                                seconds, best));
}

/// It spills where something that does not is already measured.
static bool spills(const Search *s, const Load *load)
{
    const Tried *t = &s->tried.at[load->at[0]];
    return t->res.known && t->res.spills > SPILLS_MAX && s->best >= 0 &&
           s->tried.at[s->best].res.spills <= SPILLS_MAX;
}

/// Gives the worker what it waits for.
static bool dispatch(Search *s)
{
    if (s->busy.count)
        return true;
    if (s->state == REFERENCE_READY)
        return measure(s, &s->reference);
    while (s->ready.len && (s->state == REFERENCE_KNOWN || s->state == REFERENCE_NONE)) {
        const Load load = s->ready.at[0];
        memmove(&s->ready.at[0], &s->ready.at[1], --s->ready.len * sizeof load);
        if (!spills(s, &load))
            return measure(s, &load);
        search_settle(s, &s->tried.at[load.at[0]], TRIED_PRUNED, 0, "spills too many registers");
    }
    return true;
}

static TriedKind kind_of(double us)
{
    return us >= 0 ? TRIED_RIGHT : us == -1 ? TRIED_WRONG : us == -2 ? TRIED_FAILED : TRIED_LARGE;
}

static void take_result(Search *s, const WorkerLine *line)
{
    for (uint32_t i = 0; i < s->busy.count && owns(s, &s->busy); i++) {
        Tried *t = &s->tried.at[s->busy.at[i]];
        if (t->kind == TRIED_NOT && space_is(t->text, line->text))
            search_settle(s, t, kind_of(line->us), line->us > 0 ? line->us : 0, "");
    }
}

/// The worker's load is to be measured again, before others.
static void put_back(Search *s)
{
    const Load load = s->busy;
    s->busy.count = 0;
    if (load.is_reference)
        return;
    VEC_PUSH(s->arena, &s->ready, load);
    memmove(&s->ready.at[1], &s->ready.at[0], (s->ready.len - 1) * sizeof load);
    s->ready.at[0] = load;
}

/// "done": false after printing why the search cannot go on.
static bool take_end(Search *s, const char *text)
{
    if (strcmp(text, WORKER_WANTS_HOST) == 0 && !s->busy.is_reference) {
        s->state = REFERENCE_WANTED;
        put_back(s);
        return true;
    }
    if (strstr(text, "in configuration"))  // its process ends now: the next line says so
        return true;
    if (*text)
        return tuner_fail("%s", text);
    if (s->busy.is_reference)
        s->state = REFERENCE_KNOWN;
    s->busy.count = 0;
    return true;
}

static bool take_death(Search *s)
{
    s->worker.argv[WORKER_AGAIN][0] = '0';  // what is known is not asked again
    put_back(s);
    if (s->reference.count)
        s->state = REFERENCE_READY;
    return ++s->deaths <= DEATHS_MAX || tuner_fail("too many candidates end their process");
}

/// Everything that the worker has to say, at least one line.
static bool listen_to(Search *s)
{
    do {
        const WorkerLine line = client_read(s->arena, &s->worker);
        s->heard = tuner_now();
        if (line.kind == LINE_RESULT)
            take_result(s, &line);
        else if (line.kind == LINE_DEAD)
            return take_death(s);
        else if (!take_end(s, line.text))
            return false;
    } while (client_has_line(&s->worker));
    return true;
}

/* ---- all of it ---- */

/// Until something is to be done.
static void wait_for_any(Search *s, bool *worker_speaks)
{
    struct pollfd fds[SLOTS_MAX + 1];
    nfds_t count = 0;
    if (s->busy.count)
        fds[count++] = (struct pollfd){ .fd = s->worker.from, .events = POLLIN };
    for (uint32_t i = 0; i < s->slot_count; i++)
        if (s->slots[i].is_used)
            fds[count++] = (struct pollfd){ .fd = s->slots[i].compile.proc.from, .events = POLLIN };
    poll(fds, count, STEP_MS);
    *worker_speaks = s->busy.count && fds[0].revents;
    if (s->busy.count && tuner_now() - s->heard > SILENCE)
        kill(s->worker.pid, SIGKILL);
}

static bool is_idle(const Search *s)
{
    bool any = s->busy.count || s->ready.len || s->state == REFERENCE_READY;
    for (uint32_t i = 0; i < s->slot_count; i++)
        any |= s->slots[i].is_used;
    return !any;
}

bool flow_run(Search *s)
{
    bool ok = true, speaks;
    s->slot_count = slots_wanted(s);
    s->reference_why = "no configuration can be compiled";
    s->state = s->opt->resume && !is_host(s) ? REFERENCE_NONE : REFERENCE_WANTED;
    while (ok) {
        if (is_over(s))
            stop_late(s, false);
        ok = start_compiles(s) && dispatch(s);
        if (!ok || is_idle(s))
            break;
        wait_for_any(s, &speaks);
        ok = step_compiles(s) && (!speaks || listen_to(s));
    }
    stop_late(s, true);
    return ok;
}
