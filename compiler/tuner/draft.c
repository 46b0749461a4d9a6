/// draft.c - what is known of a candidate before it is compiled: lowering takes milliseconds, and
/// tells what the compiler refuses, what becomes the same code as another candidate, and how many
/// programs there are to share among multiprocessors.
#include "tuner/tuner_impl.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct Drafts {
    Options options;
    ArchList archs;
    VEC(Draft *) made;
};

bool draft_begin(Search *s)
{
    Drafts *d = ARENA_NEW(s->arena, Drafts);
    StrList argv = { 0 };
    const bool is_host = strcmp(s->build.arch, "host") == 0;
    build_words(s->arena, &s->build, false, &argv);
    if (!options_parse(s->arena, (int)argv.len, (char **)(uintptr_t)argv.at, &d->options))
        return false;
    d->options.max_errors = 1;
    d->archs.host = is_host;
    if (!is_host) {
        const Target *target = target_find(s->build.arch);
        VEC_PUSH(s->arena, &d->archs.gpu, ((Arch){ target, false, target->name }));
    }
    s->drafts = d;
    return true;
}

int draft_jobs(const Drafts *d)
{
    return d->options.jobs;
}

/* ---- code ---- */

/// Lines of comment name the configuration.
static uint64_t add_text(uint64_t hash, const Buf *text)
{
    const char *end = text->at + text->len;
    for (const char *at = text->at; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *next = newline ? newline + 1 : end;
        if (next - at < 2 || memcmp(at, "//", 2) != 0)
            hash = hash_bytes(hash, at, (size_t)(next - at));
        at = next;
    }
    return hash;
}

/// Of everything that a launch depends on.
static uint64_t hash_code(const Job *job, const JobKernel *k)
{
    uint64_t hash = HASH_SEED;
    if (!job->archs->gpu.len)
        return add_text(hash, &job->host);
    for (uint32_t t = 0; t < k->texts.len; t++) {
        const JobText *text = k->texts.at[t];
        hash = add_text(add_text(hash, &text->cuda), &text->maps);
        for (uint32_t v = 0; v < text->variant_count; v++) {
            const ArtifactEntry *e = &text->entries[v];
            const uint32_t facts[] = { e->threads, e->shared, e->cluster[0], e->blocks_per_sm };
            hash = hash_bytes(hash, facts, sizeof facts);
        }
    }
    return hash;
}

/* ---- the grid ---- */

typedef struct Grid {
    const IrFunc *fn;
    const char *values;  ///< "M=512 N=64"
} Grid;

static bool param_value(const Grid *g, const char *name, int64_t *out)
{
    const size_t len = strlen(name);
    for (const char *at = g->values; *at; at += strcspn(at, " "), at += *at == ' ')
        if (strncmp(at, name, len) == 0 && at[len] == '=') {
            *out = strtoll(at + len + 1, NULL, 10);
            return true;
        }
    return false;
}

static bool integer_of(const Grid *g, const IrValue *v, int64_t *out)
{
    int64_t x = 0, y = 0;
    const IrOp *op = v->def;
    if (!op)
        return param_value(g, g->fn->params[v->index].name->text, out);
    if (op->code == IR_CONST) {
        *out = op->attr.konst.i;
        return !op->attr.konst.is_float;
    }
    if (op->argc < 1 || op->argc > 2 || !integer_of(g, op->args[0], &x) ||
        (op->argc == 2 && !integer_of(g, op->args[1], &y)))
        return false;
    const bool divides = op->code == IR_IDIV || op->code == IR_CDIV || op->code == IR_REM;
    if (divides && y <= 0)
        return false;
    switch ((int)op->code) {
    case IR_CAST: *out = x; return true;
    case IR_ADD: *out = x + y; return true;
    case IR_SUB: *out = x - y; return true;
    case IR_MUL: *out = x * y; return true;
    case IR_IDIV: *out = x / y; return true;
    case IR_REM: *out = x % y; return true;
    case IR_CDIV: *out = x / y + (x % y > 0); return true;
    case IR_MAX: *out = x > y ? x : y; return true;
    case IR_MIN: *out = x < y ? x : y; return true;
    default: return false;
    }
}

/// How many programs a launch has; 0 where that depends on what is not known here.
static double programs_of(const IrFunc *grid, const char *values)
{
    const Grid g = { grid, values };
    double total = 1;
    if (!grid || !values)
        return 0;
    for (unsigned axis = 0; axis < 3; axis++) {
        int64_t extent;
        if (!integer_of(&g, grid->body->last->args[axis], &extent) || extent < 1)
            return 0;
        total *= (double)extent;
    }
    return total;
}

/* ---- a draft ---- */

static const char *first_error(Arena *a, const DiagSink *diags)
{
    for (uint32_t i = 0; i < diags->list.len; i++) {
        const Diag *d = diags->list.at[i];
        if (d->severity >= SEVERITY_ERROR)
            return arena_printf(a, "%s [%s]", d->text, diag_info[d->id].slug);
    }
    return "it cannot be compiled";
}

static void describe(Search *s, const Job *job, const JobKernel *k, Draft *d)
{
    const JobText *text = k->texts.len ? k->texts.at[0] : NULL;
    d->code = hash_code(job, k);
    if (!job->archs->gpu.len)
        return;
    if (!text || !text->cuda.len) {
        d->why = "the chip cannot hold it";
        return;
    }
    const ArtifactEntry *entry = &text->entries[0];
    const Variant *v = &k->unit->variants[text->first_variant];
    d->threads = entry->threads;
    d->shared = entry->shared;
    d->stages = v->num_stages;
    d->stays = entry->blocks_per_sm;
    d->by_engine = entry->tensor_count > 0;
    d->balance = k->balances[text->first_variant];
    d->programs = programs_of(k->unit->forms[0].grid, s->build.values);
    d->cost = model_cost(d, job->archs->gpu.at[0].target, s->worker.processors);
}

static void lower(Search *s, Draft *d)
{
    Job job;
    job_init(&job, &s->drafts->options, &s->drafts->archs, s->opt->file);
    const bool ok = job_front(&job) && job.module && job_lower(&job);
    const JobKernel *found = NULL;
    for (uint32_t i = 0; ok && i < job.units.len; i++)
        if (strcmp(job.units.at[i].c_name, s->build.name) == 0)
            found = &job.kernels[i];
    if (found)
        describe(s, &job, found, d);
    else
        d->why = first_error(s->arena, &job.diags);
    job_free(&job);
}

const Draft *draft_of(Search *s, const char *text)
{
    Drafts *all = s->drafts;
    for (uint32_t i = 0; i < all->made.len; i++)
        if (strcmp(all->made.at[i]->text, text) == 0)
            return all->made.at[i];
    Draft *d = ARENA_NEW(s->arena, Draft);
    *d = (Draft){ .text = text };
    all->options.configs = (StrList){ 0 };
    VEC_PUSH(s->arena, &all->options.configs, text);
    lower(s, d);
    VEC_PUSH(s->arena, &all->made, d);
    return d;
}
