/// tune_db.c - see tune_db.h. The file is read as libnewt reads it (runtime/src/tune_store.h).
#include "driver/tune_db.h"
#include "json.h"
#include "support/sha256.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEMA = 1 };

/// The architectures of this compile.
static bool is_wanted(const Job *job, const char *arch)
{
    if (strcmp(arch, "host") == 0)
        return job->archs->host;
    for (uint32_t i = 0; i < job->archs->gpu.len; i++)
        if (strcmp(job->archs->gpu.at[i].text, arch) == 0)
            return true;
    return false;
}

static int number_of(const Job *job, const char *arch)
{
    for (uint32_t i = 0; i < job->archs->gpu.len; i++)
        if (strcmp(job->archs->gpu.at[i].text, arch) == 0)
            return (int)job->archs->gpu.at[i].target->sm;
    return 0;
}

static const char *kept(Job *job, const char *text)
{
    return arena_strndup(&job->arena, text, strlen(text));
}

/// An entry that lacks something is somebody else's.
static void read_entry(Job *job, const char *kernel, const Json *entry)
{
    const char *gpu = newti_json_text(entry, "gpu"), *arch = newti_json_text(entry, "arch");
    const char *best = newti_json_text(entry, "best");
    const char *text = best ? newti_json_text(newti_json_get(entry, "configs"), best) : NULL;
    const Json *class = newti_json_get(entry, "class");
    if (!gpu || !arch || !text || !is_wanted(job, arch))
        return;
    TuneRecord record = { .kernel = kept(job, kernel),
                          .gpu = kept(job, gpu),
                          .arch = kept(job, arch),
                          .text = kept(job, text) };
    for (const Json *at = class ? class->first : NULL; at; at = at->next) {
        if (!at->text || record.key_count == TUNE_RECORD_KEYS)
            return;
        record.names[record.key_count] = kept(job, at->key);
        record.values[record.key_count++] = strtoll(at->text, NULL, 10);
    }
    VEC_PUSH(&job->arena, &job->tuned, record);
}

/// The kernel's name without --prefix; NULL for one of another module.
static const char *without_prefix(const Job *job, const char *name)
{
    const char *prefix = job->opt->prefix ? job->opt->prefix : "";
    const size_t len = strlen(prefix);
    return strncmp(name, prefix, len) == 0 ? name + len : NULL;
}

static void read_kernel(Job *job, const Json *kernel, const char *source, bool *stale)
{
    const char *name = newti_json_text(kernel, "kernel"), *of = newti_json_text(kernel, "source");
    const Json *entries = newti_json_get(kernel, "entries");
    name = name ? without_prefix(job, name) : NULL;
    if (!name || !of || !entries)
        return;
    if (strcmp(of, source) != 0) {
        *stale = true;
        return;
    }
    for (const Json *at = entries->first; at; at = at->next)
        read_entry(job, name, at);
}

bool tune_db_read(Job *job)
{
    const char *path = job->opt->tune_db, *why = NULL;
    char hex[65];
    size_t len;
    Sha256 sha;
    bool stale = false;
    if (!path)
        return true;
    const char *text = fs_read(&job->arena, path, &len, &why);
    if (!text) {
        job_file_error(job, "cannot read '%s': %s", path, why);
        return false;
    }
    Json *root = newti_json_read(text, len);
    if (newti_json_number(root, "schema", 0) != SCHEMA) {
        job_file_error(job, "'%s' is no tuning store of schema %d", path, SCHEMA);
        newti_json_free(root);
        return false;
    }
    sha256_begin(&sha);
    sha256_add(&sha, job->text, job->text_len);
    sha256_hex(&sha, hex);
    const char *source = arena_printf(&job->arena, "sha256:%s", hex);
    const Json *kernels = newti_json_get(root, "kernels");
    read_kernel(job, root, source, &stale);
    for (const Json *at = kernels ? kernels->first : NULL; at; at = at->next)
        read_kernel(job, at, source, &stale);
    newti_json_free(root);
    if (stale && !job->tuned.len)
        diag_report(&job->diags, DIAG_STALE_TUNING, (Span){ 0, 0 },
                    "'%s' was made for another version of '%s', so it is not used", path,
                    job->path);
    return true;
}

const TunedConfig *tune_db_winners(Job *job, uint32_t *count)
{
    TunedConfig *out = ARENA_NEW_N(&job->arena, TunedConfig, (size_t)job->tuned.len + 1);
    *count = job->tuned.len;
    for (uint32_t i = 0; i < job->tuned.len; i++)
        out[i] = (TunedConfig){ job->tuned.at[i].kernel, job->tuned.at[i].text };
    return out;
}

/// The record's values in the order of the kernel's keys; NULL when it lacks one.
static const int64_t *values_of(Job *job, const JobKernel *k, const TuneRecord *record)
{
    int64_t *out = ARENA_NEW_N(&job->arena, int64_t, (size_t)k->param_count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < k->param_count; i++) {
        bool found = false;
        if (!artifact_is_key(&k->params[i]))
            continue;
        for (uint32_t n = 0; n < record->key_count && !found; n++)
            if (strcmp(record->names[n], k->params[i].name) == 0) {
                out[count++] = record->values[n];
                found = true;
            }
        if (!found)
            return NULL;
    }
    return out;
}

const ArtifactTuned *tune_db_table(Job *job, const JobKernel *k, uint32_t *count)
{
    const KernelUnit *unit = k->unit;
    ArtifactTuned *out = ARENA_NEW_N(&job->arena, ArtifactTuned, (size_t)job->tuned.len + 1);
    *count = 0;
    for (uint32_t i = 0; i < job->tuned.len; i++) {
        const TuneRecord *record = &job->tuned.at[i];
        const size_t len = strlen(unit->c_name);
        if (strncmp(record->kernel, unit->c_name, len) != 0 ||
            strspn(record->kernel + len, "_") != strlen(record->kernel + len))
            continue;
        const int64_t *values = values_of(job, k, record);
        for (uint32_t c = 0; values && c < unit->config_count; c++)
            if (strcmp(unit->configs[c].text, record->text) == 0)
                out[(*count)++] = (ArtifactTuned){ record->gpu, record->arch,
                                                   number_of(job, record->arch), values, c };
    }
    return out;
}
