/// The tuner: which configurations are tried, in what order, for how long, and what is kept.
///
/// With a store each verdict is written as soon as it is known, and before a configuration runs on
/// a GPU its name and the process stand in the entry ("running"): a process that dies with it
/// leaves the name behind. The first time somebody may have killed it; after the second the
/// configuration counts as failed.
#define _GNU_SOURCE  // gethostname
#include "host.h"
#include "tune_book.h"
#include "tune_impl.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// The verdicts so far.
typedef struct Verdicts {
    TuneTrial *at;  // by configuration
    uint32_t *order;
    TuneSubject subject;
    char driver[32];
} Verdicts;

/* ---- the store ---- */

/// Calls `change` on the subject's entry under the store's lock, and writes it.
static NewtStatus store_change(const Tuner *t, const Verdicts *v,
                               bool (*change)(const Tuner *t, const Verdicts *v, Json *entry,
                                              uint32_t config),
                               uint32_t config)
{
    TuneStore store;
    if (!t->options.store)
        return NEWT_OK;
    NewtStatus status = newti_store_begin(&store, t->options.store);
    if (status != NEWT_OK)
        return status;
    Json *entry = newti_store_entry(&store, &v->subject);
    const bool ok = entry && change(t, v, entry, config);
    status = newti_store_end(&store, ok);
    return ok ? status : newti_fail(NEWT_NO_MEMORY, "no memory for the tuning store");
}

/// The configuration with the shortest time in an entry, also one that this kernel does not have.
static const char *entry_best(const Json *entry)
{
    const Json *us = newti_json_get(entry, "us"), *best = NULL;
    for (const Json *at = us ? us->first : NULL; at; at = at->next)
        if (at->kind == JSON_NUMBER && at->key &&
            (!best || strtod(at->text, NULL) < strtod(best->text, NULL)))
            best = at;
    return best ? best->key : NULL;
}

static bool put_running(const Tuner *t, const Verdicts *v, Json *entry, uint32_t config)
{
    char host[64] = "";
    (void)v;
    Json *running = newti_json_new(JSON_OBJECT, NULL);
    if (!newti_json_put(entry, "running", running))
        return false;
    gethostname(host, sizeof host - 1);
    return newti_json_put_text(running, "config", t->kernel->tuning->configs[config].name) &&
           newti_json_put_text(running, "host", host) &&
           newti_json_put_number(running, "pid", (double)getpid());
}

static bool put_verdict(const Tuner *t, const Verdicts *v, Json *entry, uint32_t config)
{
    static const char *const lists[] = {
        [TUNE_WRONG] = "wrong", [TUNE_FAILED] = "failed", [TUNE_TOO_LARGE] = "too_large"
    };
    const NewtConfig *c = &t->kernel->tuning->configs[config];
    const TuneTrial *trial = &v->at[config];
    Json *texts = newti_json_member(entry, "configs", JSON_OBJECT);
    Json *us = newti_json_member(entry, "us", JSON_OBJECT);
    newti_json_remove(entry, "running");
    if (!texts || !us || !newti_json_put_text(texts, c->name, c->text))
        return false;
    if (trial->verdict == TUNE_RIGHT) {
        if (!newti_json_put_number(us, c->name, (double)trial->us))
            return false;
    } else if (trial->verdict <= TUNE_TOO_LARGE && lists[trial->verdict] &&
               !newti_store_list(entry, lists[trial->verdict], c->name)) {
        return false;
    }
    const char *best = entry_best(entry);
    return !best || newti_json_put_text(entry, "best", best);
}

/// What an entry says of one configuration.
static void take_verdict(const Json *entry, const NewtConfig *c, TuneTrial *out)
{
    const double us = newti_json_number(newti_json_get(entry, "us"), c->name, -1);
    if (us >= 0) {
        out->verdict = TUNE_RIGHT;
        out->us = (float)us;
    } else if (newti_store_lists(entry, "wrong", c->name)) {
        out->verdict = TUNE_WRONG;
    } else if (newti_store_lists(entry, "failed", c->name)) {
        out->verdict = TUNE_FAILED;
    } else if (newti_store_lists(entry, "too_large", c->name)) {
        out->verdict = TUNE_TOO_LARGE;
    }
}

/// A configuration that was running in a process of this machine that is gone has ended it.
static bool take_running(Json *entry)
{
    char host[64] = "";
    const Json *running = newti_json_get(entry, "running");
    const char *config = newti_json_text(running, "config");
    const char *where = newti_json_text(running, "host");
    const double pid = newti_json_number(running, "pid", 0);
    gethostname(host, sizeof host - 1);
    if (!config || !where || strcmp(where, host) != 0 || pid < 1 || kill((pid_t)pid, 0) == 0)
        return true;
    Json *died = newti_json_member(entry, "died", JSON_OBJECT);
    const double times = newti_json_number(died, config, 0) + 1;
    const bool ok = died && newti_json_put_number(died, config, times) &&
                    (times < 2 || newti_store_list(entry, "failed", config));
    newti_json_remove(entry, "running");
    return ok;
}

static bool take_known(const Tuner *t, const Verdicts *v, Json *entry, uint32_t config)
{
    (void)config;
    if (!take_running(entry))
        return false;
    for (uint32_t i = 0; i < t->kernel->tuning->config_count && !t->options.again; i++)
        take_verdict(entry, &t->kernel->tuning->configs[i], &v->at[i]);
    return true;
}

/* ---- results ---- */

/// The best of this kernel's configurations; -1 when none is right.
static int best_of(const Tuner *t, const Verdicts *v)
{
    int best = -1;
    for (uint32_t i = 0; i < t->kernel->tuning->config_count; i++)
        if (v->at[i].verdict == TUNE_RIGHT && (best < 0 || v->at[i].us < v->at[best].us))
            best = (int)i;
    return best;
}

static NewtStatus finish(Tuner *t, const Verdicts *v, NewtTuneResult *result)
{
    const NewtTuning *tuning = t->kernel->tuning;
    const int best = best_of(t, v);
    for (uint32_t i = 0; i < tuning->config_count; i++) {
        result->wrong += v->at[i].verdict == TUNE_WRONG;
        result->failed += v->at[i].verdict == TUNE_FAILED || v->at[i].verdict == TUNE_TOO_LARGE;
    }
    if (best < 0)
        return newti_fail(
            NEWT_WRONG_RESULT,
            "%s: of %lu configurations none could be chosen: %d gave wrong results, %d "
            "failed",
            t->kernel->name, (unsigned long)tuning->config_count, result->wrong, result->failed);
    result->config = best;
    result->microseconds = v->at[best].us;
    if (t->device->options.log >= LOG_CHOICE)
        newti_log("tune %s: %s is best with %.2f us on %s", t->kernel->name,
                  tuning->configs[best].name, (double)v->at[best].us, t->device->label);
    return newti_book_add(t->device, &v->subject, tuning->configs[best].name);
}

static void report(const Tuner *t, uint32_t config, const TuneTrial *trial, int done)
{
    static const float codes[] = { [TUNE_WRONG] = -1, [TUNE_FAILED] = -2, [TUNE_TOO_LARGE] = -3 };
    const NewtConfig *c = &t->kernel->tuning->configs[config];
    const float us = trial->verdict == TUNE_RIGHT       ? trial->us
                     : trial->verdict <= TUNE_TOO_LARGE ? codes[trial->verdict]
                                                        : -3;
    if (trial->verdict != TUNE_RIGHT && t->device->options.log >= LOG_ERROR)
        newti_log("tune %s: configuration %s is left out: %s", t->kernel->name, c->name,
                  trial->why);
    if (t->options.progress)
        t->options.progress(t->options.user, done, (int)t->kernel->tuning->config_count, c->text,
                            us);
}

/* ---- the search ---- */

/// The default first, then the others as they are listed or, with a seed, shuffled.
static void order_fill(const Tuner *t, uint32_t *order)
{
    const uint32_t count = t->kernel->tuning->config_count;
    uint64_t state = t->options.seed;
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    for (uint32_t i = count; i > 1 && t->options.seed; i--) {
        state = state * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX
        const uint32_t k = (uint32_t)((state >> 33) % i), other = order[i - 1];
        order[i - 1] = order[k];
        order[k] = other;
    }
    for (uint32_t i = 1; i < count; i++)
        if (order[i] == t->kernel->tuning->default_config) {
            order[i] = order[0];
            order[0] = t->kernel->tuning->default_config;
        }
}

static void flush_new(Tuner *t)
{
    int bytes = 0;
    bool pushed;
    if (!t->device->driver || newti_device_enter(t->device, "newt_tune", &pushed) != NEWT_OK)
        return;
    const CudaResult result =
        t->device->driver->cuDeviceGetAttribute(&bytes, CUDA_DEVICE_L2, t->device->ordinal);
    newti_device_leave(t->device, pushed);
    t->flush_size = result == CUDA_OK && bytes > 0 ? 2 * (size_t)bytes : 0;
    if (t->flush_size > 0 && newt_alloc(t->device, t->flush_size, &t->flush) != NEWT_OK)
        t->flush = NULL;  // times are then those of a warm cache
}

/// A kernel with host code computes the reference for others that come later.
static bool wants_reference(const Tuner *t)
{
    const NewtConfig *c = &t->kernel->tuning->configs[t->kernel->tuning->default_config];
    return t->options.kept && !*t->options.kept && t->kernel->variants[c->first_variant].host;
}

/// Runs one configuration and keeps its verdict in the store; NEWT_KERNEL_FAULT ends the search.
static NewtStatus search_one(Tuner *t, Verdicts *v, uint32_t config, NewtTuneResult *result)
{
    const int best = best_of(t, v);
    const float own = best < 0 ? 0 : v->at[best].us, given = (float)t->options.best;
    const float beaten = own > 0 && (given <= 0 || own < given) ? own : given;
    TuneTrial *trial = &v->at[config];
    NewtStatus status = t->device->driver ? store_change(t, v, put_running, config) : NEWT_OK;
    if (status != NEWT_OK)
        return status;
    const NewtStatus ran = newti_tune_trial(t, (int)config, beaten, trial);
    result->tried += trial->verdict != TUNE_ABSENT;
    if (ran != NEWT_OK) {
        char error[512];
        snprintf(error, sizeof error, "%s", newt_last_error());
        trial->verdict = TUNE_FAILED;
        status = store_change(t, v, put_verdict, config);
        return status == NEWT_OK ? newti_fail(ran, "%s, in configuration %s", error,
                                              t->kernel->tuning->configs[config].name)
                                 : status;
    }
    return store_change(t, v, put_verdict, config);
}

static NewtStatus search(Tuner *t, Verdicts *v, NewtTuneResult *result)
{
    const uint32_t count = t->kernel->tuning->config_count;
    bool any = wants_reference(t);
    int done = 0;
    for (uint32_t i = 0; i < count; i++)
        any |= v->at[i].verdict == TUNE_UNKNOWN;
    NewtStatus status = any ? newti_tune_buffers(t) : NEWT_OK;
    if (any && status == NEWT_OK)
        status = newti_tune_reference(t);
    if (any && status == NEWT_OK)
        flush_new(t);
    for (uint32_t i = 0; i < count && status == NEWT_OK; i++) {
        const uint32_t config = v->order[i];
        if (v->at[config].verdict == TUNE_UNKNOWN) {
            if (i > 0 && newti_tune_left(t) <= 0)
                continue;
            status = search_one(t, v, config, result);
        }
        if (status == NEWT_OK)
            report(t, config, &v->at[config], ++done);
    }
    return status;
}

static void driver_text(const NewtDevice *device, char *out, size_t size)
{
    int version = 0;
    if (!device->driver)
        snprintf(out, size, "libnewt %d", NEWT_VERSION);
    else if (device->driver->cuDriverGetVersion(&version) == CUDA_OK)
        snprintf(out, size, "CUDA %d.%d", version / 1000, version % 1000 / 10);
    else
        snprintf(out, size, "CUDA");
}

static NewtStatus tune_known_device(Tuner *t, NewtTuneResult *result)
{
    const uint32_t count = t->kernel->tuning->config_count;
    Verdicts v = { .at = calloc(count, sizeof *v.at), .order = calloc(count, sizeof *v.order) };
    NewtStatus status =
        v.at && v.order ? NEWT_OK
                        : newti_fail(NEWT_NO_MEMORY, "%s: no memory to tune with", t->kernel->name);
    driver_text(t->device, v.driver, sizeof v.driver);
    v.subject = (TuneSubject){ .kernel = t->kernel,
                               .gpu = t->device->tune_name,
                               .arch = t->device->arch_name,
                               .driver = v.driver };
    if (t->args)
        newti_tune_class(t->kernel, t->args, v.subject.class);
    if (status == NEWT_OK)
        status = store_change(t, &v, take_known, 0);
    if (status == NEWT_OK) {
        order_fill(t, v.order);
        status = search(t, &v, result);
    }
    if (status == NEWT_OK)
        status = finish(t, &v, result);
    newti_tune_buffers_free(t);
    free(v.at);
    free(v.order);
    return status;
}

/* ---- the call ---- */

/// The options that the caller's version of the struct has; the others are zero.
static NewtStatus options_take(const NewtKernel *kernel, const NewtTuneOptions *from,
                               NewtTuneOptions *out)
{
    memset(out, 0, sizeof *out);
    if (!from)
        return NEWT_OK;
    if (from->size < sizeof from->size || from->size > 4096)
        return newti_fail(NEWT_BAD_ARGUMENT,
                          "%s: NewtTuneOptions.size is %zu; set it to sizeof(NewtTuneOptions)",
                          kernel->name, from->size);
    memcpy(out, from, from->size < sizeof *out ? from->size : sizeof *out);
    if (out->seconds >= 0 && out->rtol >= 0 && out->atol >= 0 && out->timeout >= 0 &&
        out->best >= 0)
        return NEWT_OK;
    return newti_fail(NEWT_BAD_ARGUMENT, "%s: a number of NewtTuneOptions is negative",
                      kernel->name);
}

/// The bytes that the argument record takes.
static size_t record_size(const NewtKernel *kernel)
{
    size_t size = 0;
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const size_t end = (size_t)kernel->params[i].offset + kernel->params[i].size;
        size = end > size ? end : size;
    }
    // Behind the parameters stand members that only predicates read.
    for (uint32_t v = 0; v < kernel->variant_count; v++)
        for (uint32_t i = 0; i < kernel->variants[v].predicate_count; i++) {
            const NewtParam *param = &kernel->params[kernel->variants[v].predicates[i].param];
            const size_t end = (size_t)param->offset + param->size;
            size = end > size ? end : size;
        }
    return size;
}

static NewtStatus tune(Tuner *t, const NewtTuneOptions *options, NewtTuneResult *result)
{
    const NewtKernel *kernel = t->kernel;
    NewtStatus status = newti_kernel_check(kernel, t->device);
    if (status == NEWT_OK)
        status = options_take(kernel, options, &t->options);
    if (status != NEWT_OK)
        return status;
    if (!kernel->tuning)
        return newti_fail(NEWT_BAD_ARGUMENT, "%s is not autotuned: it has one configuration",
                          kernel->name);
    if ((!t->args && kernel->param_count) || !result)
        return newti_fail_null(kernel->name, t->args ? "result" : "args");
    t->record_size = record_size(kernel);
    if (t->record_size > sizeof t->record)
        return newti_fail(NEWT_BAD_ARGUMENT, "%s: the arguments take more than %d bytes",
                          kernel->name, TUNE_RECORD_MAX);
    *result = (NewtTuneResult){ .config = -1 };
    return tune_known_device(t, result);
}

NewtStatus newt_tune_(const NewtKernel *kernel, NewtDevice *device, const NewtGrid *grid,
                      const void *args, const NewtTuneOptions *options, NewtTuneResult *result)
{
    Tuner *t = calloc(1, sizeof *t);
    if (!t)
        return newti_fail(NEWT_NO_MEMORY, "%s: no memory to tune with", kernel->name);
    t->kernel = kernel;
    t->device = device;
    t->given = grid;
    t->args = args;
    t->began_ns = newti_clock_ns();
    NewtStatus status = tune(t, options, result);
    free(t);
    return newti_log_status(device ? device->options.log : LOG_OFF, status);
}
