/// What results are compared with: the host's, as most of up to three configurations compute it; or
/// those of the most general GPU code, of which the host has checked a sample of programs, where
/// the host would take too long for all; or the caller's.
#define _GNU_SOURCE  // MAP_ANONYMOUS
#include "host.h"
#include "memory.h"
#include "tune_impl.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SAMPLES_MAX = 64, RUN_SECONDS = 30 };

/// A run of a host function over some memory.
typedef struct HostJob {
    Tuner *t;
    const NewtVariant *variant;
    uint32_t grid[3];
    _Alignas(16) char record[TUNE_RECORD_MAX];
} HostJob;

/* ---- memory ---- */

/// Host memory for each region that child processes share; on the host there is some already.
static bool memory_new(const Tuner *t, char **at)
{
    bool ok = true;
    for (uint32_t i = 0; i < t->region_count; i++) {
        at[i] = t->regions[i].work;
        if (!t->device->driver)
            continue;
        void *memory = mmap(NULL, t->regions[i].size, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        at[i] = memory == MAP_FAILED ? NULL : memory;
        ok = ok && at[i];
    }
    return ok;
}

static void memory_free(const Tuner *t, char **at)
{
    for (uint32_t i = 0; t->device->driver && i < t->region_count; i++)
        if (at[i])
            munmap(at[i], t->regions[i].size);
}

static NewtStatus memory_fill(const Tuner *t, char *const *at)
{
    NewtStatus status = NEWT_OK;
    for (uint32_t i = 0; i < t->region_count && status == NEWT_OK; i++) {
        const TuneRegion *r = &t->regions[i];
        const int fill = newti_tune_fill(r);
        if (fill >= 0)
            memset(at[i], fill, r->size);
        else
            status = newt_copy(t->device, NULL, at[i], r->user, r->size);
    }
    return status == NEWT_OK ? newt_synchronize(t->device, NULL) : status;
}

static void keep(Tuner *t, char *const *at)
{
    for (uint32_t i = 0; i < t->region_count; i++)
        if (t->regions[i].use & NEWT_USE_WRITTEN)
            memcpy(t->regions[i].want, at[i], t->regions[i].size);
}

/// Whether the written regions of `at` agree with `want`.
static bool agree(const Tuner *t, char *const *at)
{
    const TuneTolerance tolerance = { t->options.rtol, t->options.atol };
    size_t compared = 0;
    for (uint32_t i = 0; i < t->region_count; i++) {
        const TuneRegion *r = &t->regions[i];
        const TuneComparison c = { r->type, at[i], r->want, r->size, false, tolerance };
        if ((r->use & NEWT_USE_WRITTEN) && !newti_tune_equal(&c, NULL, &compared))
            return false;
    }
    return true;
}

/* ---- running ---- */

static NewtStatus job_begin(HostJob *job, Tuner *t, int config, char *const *at)
{
    const NewtConfig *c = &t->kernel->tuning->configs[config];
    Launch launch = { .kernel = t->kernel,
                      .device = t->device,
                      .given = t->given,
                      .args = t->args,
                      .first = c->first_variant,
                      .end = c->first_variant + c->variant_count };
    job->t = t;
    newti_tune_record(t, at, job->record);
    NewtStatus status = newti_host_generic(&launch, &job->variant);
    memcpy(job->grid, launch.grid, sizeof job->grid);
    return status;
}

static void job_run(void *cx)
{
    HostJob *job = cx;
    if (job->grid[0] > 0)
        (void)newti_host_run(job->t->kernel, job->variant, job->record, job->grid,
                             newti_host_cpus());
}

/// Runs all programs in a child, since the code may be wrong on the host too.
static NewtStatus job_finish(HostJob *job, int config)
{
    char why[160];
    Tuner *t = job->t;
    // The first one may take its time; what comes after it is as long, or hangs.
    const double first = t->options.timeout > 0 ? t->options.timeout : 10 * RUN_SECONDS;
    const double seconds = t->reference_seconds > 0 ? 10 + 20 * t->reference_seconds : first;
    if (newti_tune_child(job_run, job, seconds, why, sizeof why) == TUNE_RIGHT)
        return NEWT_OK;
    return newti_fail(NEWT_WRONG_RESULT, "%s: the reference, configuration %s, %s", t->kernel->name,
                      t->kernel->tuning->configs[config].name, why);
}

/// Seconds that all programs would take, by two of them; the memory must stand another run.
static NewtStatus job_estimate(const HostJob *job, double *seconds)
{
    const uint32_t *grid = job->grid;
    const int64_t total = (int64_t)grid[0] * grid[1] * grid[2];
    double longest = 0;
    for (int i = 0; i < 2 && total > 0; i++) {
        const int64_t began = newti_clock_ns();
        NewtStatus status =
            newti_host_run_one(job->t->kernel, job->variant, job->record, grid, i * (total / 2));
        const double took = 1e-9 * (double)(newti_clock_ns() - began);
        if (status != NEWT_OK)
            return status;
        longest = took > longest ? took : longest;
    }
    *seconds = longest * (double)total / newti_host_cpus();
    return NEWT_OK;
}

/// Programs add to what was there: running one twice, or some of them, means nothing.
static bool accumulates(const Tuner *t)
{
    for (uint32_t i = 0; i < t->region_count; i++)
        if ((t->regions[i].use & NEWT_USE_WRITTEN) && newti_tune_fill(&t->regions[i]) != 0xFF)
            return true;
    return false;
}

/// How long the host may take for one run.
static double run_limit(const Tuner *t)
{
    const double quarter = t->options.seconds / 4;
    return t->options.seconds > 0 && quarter < RUN_SECONDS ? quarter : RUN_SECONDS;
}

/* ---- votes ---- */

static NewtStatus disagree(const Tuner *t, int one, int other)
{
    const NewtConfig *configs = t->kernel->tuning->configs;
    return newti_fail(
        NEWT_WRONG_RESULT,
        "%s: configurations %s and %s give different results on the host, and nothing "
        "says which is right",
        t->kernel->name, configs[one].name, configs[other].name);
}

/// The next configuration whose host code is none of the `count` in `used`; -1 when there is none.
static int next_voter(Tuner *t, int after, const NewtHostEntry *used, int count, HostJob *job,
                      char *const *at)
{
    for (int c = after + 1; c < (int)t->kernel->tuning->config_count; c++) {
        bool is_new = job_begin(job, t, c, at) == NEWT_OK;
        for (int i = 0; i < count && is_new; i++)
            is_new = job->variant->host != used[i];
        if (is_new)
            return c;
    }
    return -1;
}

/// `want` holds what configuration `first` computed. Another one is asked, and a third where the
/// two disagree.
static NewtStatus vote(Tuner *t, int first, NewtHostEntry host, char **at, char **second)
{
    HostJob job;
    NewtHostEntry used[3] = { host };
    const int b = next_voter(t, -1, used, 1, &job, at);
    if (b < 0)
        return NEWT_OK;
    used[1] = job.variant->host;
    NewtStatus status = memory_fill(t, at);
    if (status == NEWT_OK)
        status = job_finish(&job, b);
    if (status == NEWT_OK && agree(t, at))
        return NEWT_OK;
    const bool b_ended = status == NEWT_OK;
    for (uint32_t i = 0; i < t->region_count && b_ended; i++)
        if (second[i])  // vote_with_memory sees to it
            memcpy(second[i], at[i], t->regions[i].size);
    const int c = next_voter(t, -1, used, 2, &job, at);
    if (c < 0)
        return b_ended ? disagree(t, first, b) : NEWT_OK;
    status = memory_fill(t, at);
    if (status == NEWT_OK)
        status = job_finish(&job, c);
    if (status != NEWT_OK || agree(t, at))
        return status;
    keep(t, at);
    return b_ended && agree(t, second) ? NEWT_OK : disagree(t, first, c);
}

static NewtStatus vote_with_memory(Tuner *t, int first, NewtHostEntry host, char **at)
{
    char *second[NEWT_PARAM_MAX] = { NULL };
    bool ok = true;
    for (uint32_t i = 0; i < t->region_count; i++)
        ok = (second[i] = malloc(t->regions[i].size)) && ok;
    NewtStatus status =
        ok ? vote(t, first, host, at, second)
           : newti_fail(NEWT_NO_MEMORY, "%s: no memory to compare results", t->kernel->name);
    for (uint32_t i = 0; i < t->region_count; i++)
        free(second[i]);
    return status;
}

/* ---- samples ---- */

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15U);  // SplitMix64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return z ^ z >> 31;
}

/// Compares `want`, which the GPU computed, with what the host's samples wrote.
static NewtStatus samples_check(const Tuner *t, char *const *at)
{
    const TuneTolerance tolerance = { t->options.rtol, t->options.atol };
    size_t compared = 0;
    TuneMismatch bad;
    for (uint32_t i = 0; i < t->region_count; i++) {
        const TuneRegion *r = &t->regions[i];
        const TuneComparison c = { r->type, r->want, at[i], r->size, true, tolerance };
        if ((r->use & NEWT_USE_WRITTEN) && !newti_tune_equal(&c, &bad, &compared))
            return newti_fail(NEWT_WRONG_RESULT,
                              "%s: the most general code gives %g at element %zu of an output, and "
                              "the host gives %g",
                              t->kernel->name, bad.got, bad.index, bad.want);
    }
    return compared ? NEWT_OK
                    : newti_fail(NEWT_WRONG_RESULT,
                                 "%s: the host's samples wrote nothing that could "
                                 "be compared",
                                 t->kernel->name);
}

/// The GPU's most general code gives `want`; the host checks as many programs as time allows.
static NewtStatus sampled(Tuner *t, HostJob *job, char **at, double estimate)
{
    const NewtConfig *c = &t->kernel->tuning->configs[t->kernel->tuning->default_config];
    Launch launch = { .kernel = t->kernel,
                      .device = t->device,
                      .given = t->given,
                      .args = t->record,
                      .first = c->first_variant,
                      .end = c->first_variant + c->variant_count };
    NewtStatus status = newti_tune_prepare(t, true);
    if (status == NEWT_OK)
        status = newti_launch_generic(&launch);
    for (uint32_t i = 0; i < t->region_count && status == NEWT_OK; i++)
        if (t->regions[i].use & NEWT_USE_WRITTEN)
            status = newt_copy(t->device, NULL, t->regions[i].want, t->regions[i].work,
                               t->regions[i].size);
    if (status == NEWT_OK)
        status = newt_synchronize(t->device, NULL);
    const int64_t total = (int64_t)job->grid[0] * job->grid[1] * job->grid[2];
    const double one = estimate * newti_host_cpus() / (double)total;
    uint64_t random = t->options.seed + 1;
    double spent = 0;
    for (int i = 0; i < SAMPLES_MAX && spent < run_limit(t) && status == NEWT_OK; i++) {
        const int64_t program = (int64_t)(next_random(&random) % (uint64_t)total);
        status = newti_host_run_one(t->kernel, job->variant, job->record, job->grid, program);
        spent += one;
    }
    return status == NEWT_OK ? samples_check(t, at) : status;
}

/* ---- the reference ---- */

/// Runs the default configuration, or where it crashes the next one that does not.
static NewtStatus first_result(Tuner *t, HostJob *job, char **at, int *config)
{
    const int count = (int)t->kernel->tuning->config_count;
    const int first = (int)t->kernel->tuning->default_config;
    const int64_t began = newti_clock_ns();
    NewtStatus status = job_finish(job, first);
    *config = first;
    for (int c = 0; c < count && status == NEWT_WRONG_RESULT; c++) {
        if (c == first)
            continue;
        status = memory_fill(t, at);
        if (status == NEWT_OK)
            status = job_begin(job, t, c, at);
        if (status == NEWT_OK)
            status = job_finish(job, c);
        *config = c;
    }
    t->reference_seconds = 1e-9 * (double)(newti_clock_ns() - began);
    return status;
}

static NewtStatus by_host(Tuner *t, char **at)
{
    HostJob job;
    int config = (int)t->kernel->tuning->default_config;
    double estimate = 0;
    NewtStatus status = memory_fill(t, at);
    if (status == NEWT_OK)
        status = job_begin(&job, t, config, at);
    if (status == NEWT_OK && t->device->driver && !accumulates(t))
        status = job_estimate(&job, &estimate);
    if (status != NEWT_OK)
        return status;
    if (estimate > run_limit(t))
        return sampled(t, &job, at, estimate);
    status = first_result(t, &job, at, &config);
    if (status != NEWT_OK)
        return status;
    keep(t, at);
    if (3 * t->reference_seconds > run_limit(t))
        return NEWT_OK;
    return vote_with_memory(t, config, job.variant->host, at);
}

static NewtStatus by_caller(Tuner *t)
{
    NewtStatus status = newti_tune_prepare(t, true);
    if (status == NEWT_OK)
        status = t->options.reference(t->options.user, t->device, t->record);
    for (uint32_t i = 0; i < t->region_count && status == NEWT_OK; i++)
        if (t->regions[i].use & NEWT_USE_WRITTEN)
            status = newt_copy(t->device, NULL, t->regions[i].want, t->regions[i].work,
                               t->regions[i].size);
    return status == NEWT_OK ? newt_synchronize(t->device, NULL) : status;
}

/* ---- kept ones ---- */

struct NewtTuneReference {
    uint32_t count;
    double seconds;
    size_t sizes[NEWT_PARAM_MAX];
    char *data[NEWT_PARAM_MAX];  // of written regions
};

void newt_tune_reference_free(NewtTuneReference *reference)
{
    for (uint32_t i = 0; reference && i < reference->count; i++)
        free(reference->data[i]);
    free(reference);
}

/// Fills `want` with what was kept, if it is of regions like these.
static bool take_kept(Tuner *t, const NewtTuneReference *kept)
{
    bool fits = kept && kept->count == t->region_count;
    for (uint32_t i = 0; fits && i < t->region_count; i++)
        fits = kept->sizes[i] == t->regions[i].size &&
               !kept->data[i] == !(t->regions[i].use & NEWT_USE_WRITTEN);
    for (uint32_t i = 0; fits && i < t->region_count; i++)
        if (kept->data[i])
            memcpy(t->regions[i].want, kept->data[i], kept->sizes[i]);
    if (fits)
        t->reference_seconds = kept->seconds;
    return fits;
}

/// What cannot be kept for want of memory is computed again.
static void keep_for_later(const Tuner *t, NewtTuneReference **out)
{
    NewtTuneReference *kept = calloc(1, sizeof *kept);
    bool ok = kept != NULL;
    for (uint32_t i = 0; ok && i < t->region_count; i++) {
        const TuneRegion *r = &t->regions[i];
        kept->count++;
        kept->sizes[i] = r->size;
        if (!(r->use & NEWT_USE_WRITTEN))
            continue;
        kept->data[i] = malloc(r->size);
        ok = kept->data[i];
        if (ok)
            memcpy(kept->data[i], r->want, r->size);
    }
    if (ok) {
        kept->seconds = t->reference_seconds;
        newt_tune_reference_free(*out);
        *out = kept;
    } else {
        newt_tune_reference_free(kept);
    }
}

static NewtStatus compute(Tuner *t)
{
    char *at[NEWT_PARAM_MAX] = { NULL };
    if (t->options.reference)
        return by_caller(t);
    NewtStatus status = memory_new(t, at) ? by_host(t, at)
                                          : newti_fail(NEWT_NO_MEMORY,
                                                       "%s: no memory on the host to compute the "
                                                       "reference",
                                                       t->kernel->name);
    memory_free(t, at);
    return status;
}

NewtStatus newti_tune_reference(Tuner *t)
{
    if (t->options.kept && take_kept(t, *t->options.kept))
        return NEWT_OK;
    NewtStatus status = compute(t);
    if (status == NEWT_OK && t->options.kept)
        keep_for_later(t, t->options.kept);
    return status;
}
