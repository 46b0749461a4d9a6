/// Records of tuned kernels: adding, loading, and the look-up that launches make.
#include "tune_book.h"
#include "launch.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// One entry of a store. `texts` holds the strings.
struct TuneRecord {
    TuneRecord *next;
    const char *kernel, *source, *best;
    bool is_same_gpu;  // as the device
    uint32_t key_count;
    const char *names[TUNE_KEY_MAX];
    int64_t values[TUNE_KEY_MAX];
    _Atomic(const NewtKernel *) of;  // the kernel that it was found to be for last time
    _Atomic uint64_t of_module;      // its module's id: another may come to lie at its address
    atomic_uint hint;                // where `best` was found in the kernel's list last time
    char texts[];
};

static uint32_t bucket_of(const char *kernel)
{
    uint32_t hash = 2166136261U;  // FNV-1a
    for (; *kernel; kernel++)
        hash = (hash ^ (unsigned char)*kernel) * 16777619U;
    return hash % TUNE_BUCKETS;
}

/* ---- looking up ---- */

void newti_tune_class(const NewtKernel *kernel, const void *args, int64_t class[TUNE_KEY_MAX])
{
    const NewtTuning *tuning = kernel->tuning;
    memset(class, 0, TUNE_KEY_MAX * sizeof *class);
    for (uint32_t i = 0; i < tuning->key_count && i < TUNE_KEY_MAX; i++) {
        const NewtParam *param = &kernel->params[tuning->keys[i]];
        class[i] = newti_integer_get(param->type, (const char *)args + param->offset);
    }
}

/// The value of a key in a record; false when the record has none, and so is of another kernel.
static bool record_value(const TuneRecord *record, const char *name, int64_t *out)
{
    for (uint32_t i = 0; i < record->key_count; i++)
        if (strcmp(record->names[i], name) == 0) {
            *out = record->values[i];
            return true;
        }
    return false;
}

/// How far two values of a key are from each other: two to the |log2(a / b)|, so that no logarithm
/// is needed.
static double key_distance(int64_t one, int64_t other)
{
    const double a = one > 1 ? (double)one : 1, b = other > 1 ? (double)other : 1;
    if (one == other)
        return 1;
    return (a > b ? a / b : b / a) * (1 + 1e-9);  // also where both count as 1: exact goes first
}

/// How far a record's class is from the call's; negative when they have other keys.
static double record_distance(const TuneRecord *record, const NewtKernel *kernel,
                              const int64_t class[TUNE_KEY_MAX])
{
    const NewtTuning *tuning = kernel->tuning;
    double product = 1;
    for (uint32_t i = 0; i < tuning->key_count && i < TUNE_KEY_MAX; i++) {
        int64_t value;
        if (!record_value(record, kernel->params[tuning->keys[i]].name, &value))
            return -1;
        product *= key_distance(value, class[i]);
    }
    return product;
}

/// Whether the record is about the kernel: by name and source, which need not be compared again for
/// the same one.
static bool record_is_of(TuneRecord *record, const NewtKernel *kernel)
{
    if (atomic_load_explicit(&record->of, memory_order_acquire) == kernel &&
        atomic_load_explicit(&record->of_module, memory_order_relaxed) == kernel->module->id)
        return true;
    if (strcmp(record->kernel, kernel->name) != 0 ||
        strcmp(record->source, kernel->module->source_sha256) != 0)
        return false;
    atomic_store_explicit(&record->of_module, kernel->module->id, memory_order_relaxed);
    atomic_store_explicit(&record->of, kernel, memory_order_release);
    return true;
}

/// The best so far of those that are compared.
typedef struct Nearest {
    int config;  // -1: none
    bool is_same_gpu;
    double distance;
} Nearest;

static bool is_nearer(const Nearest *found, bool is_same_gpu, double distance)
{
    return found->config < 0 || (is_same_gpu && !found->is_same_gpu) ||
           (is_same_gpu == found->is_same_gpu && distance < found->distance);
}

/// The configuration that the record calls best; -1 when the kernel has none of that name.
static int record_config(TuneRecord *record, const NewtTuning *tuning)
{
    const unsigned hint = atomic_load_explicit(&record->hint, memory_order_relaxed);
    if (hint < tuning->config_count && strcmp(tuning->configs[hint].name, record->best) == 0)
        return (int)hint;
    for (uint32_t i = 0; i < tuning->config_count; i++)
        if (strcmp(tuning->configs[i].name, record->best) == 0) {
            atomic_store_explicit(&record->hint, i, memory_order_relaxed);
            return (int)i;
        }
    return -1;
}

/// What was tuned in this process, or read from a store.
static Nearest find_record(const NewtDevice *device, const NewtKernel *kernel,
                           const int64_t class[TUNE_KEY_MAX])
{
    Nearest found = { .config = -1 };
    TuneRecord *record =
        atomic_load_explicit(&device->tuned[bucket_of(kernel->name)], memory_order_acquire);
    for (; record; record = record->next) {
        if (!record_is_of(record, kernel))
            continue;
        const double distance = record_distance(record, kernel, class);
        const bool same = record->is_same_gpu;
        const int config = distance >= 0 && is_nearer(&found, same, distance)
                               ? record_config(record, kernel->tuning)
                               : -1;
        if (config >= 0)
            found = (Nearest){ config, same, distance };
    }
    return found;
}

/// What the build knew.
static Nearest find_built(const NewtDevice *device, const NewtKernel *kernel,
                          const int64_t class[TUNE_KEY_MAX])
{
    const NewtTuning *tuning = kernel->tuning;
    Nearest found = { .config = -1 };
    for (uint32_t i = 0; i < tuning->tuned_count; i++) {
        const NewtTuned *t = &tuning->tuned[i];
        const bool same = t->gpu == device->tune_hash;
        double distance = 1;
        if (t->arch != device->arch)
            continue;
        for (uint32_t k = 0; k < tuning->key_count && k < TUNE_KEY_MAX; k++)
            distance *= key_distance(t->values[k], class[k]);
        if (is_nearer(&found, same, distance))
            found = (Nearest){ (int)t->config, same, distance };
    }
    return found;
}

int newti_book_find(const NewtDevice *device, const NewtKernel *kernel, const void *args)
{
    int64_t class[TUNE_KEY_MAX];
    const bool any =
        atomic_load_explicit(&device->tuned[bucket_of(kernel->name)], memory_order_relaxed);
    if (!args || (!any && kernel->tuning->tuned_count == 0))
        return -1;
    newti_tune_class(kernel, args, class);
    const Nearest record = any ? find_record(device, kernel, class) : (Nearest){ .config = -1 };
    return record.config >= 0 ? record.config : find_built(device, kernel, class).config;
}

/* ---- adding ---- */

typedef struct RecordTexts {
    const char *kernel, *source, *gpu, *arch, *best;
    uint32_t key_count;
    const char *names[TUNE_KEY_MAX];
    int64_t values[TUNE_KEY_MAX];
} RecordTexts;

static const char *keep(char **at, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *out = memcpy(*at, text, size);
    *at += size;
    return out;
}

static NewtStatus record_add(NewtDevice *device, const RecordTexts *from)
{
    size_t size = strlen(from->kernel) + strlen(from->source) + strlen(from->best) + 3;
    for (uint32_t i = 0; i < from->key_count; i++)
        size += strlen(from->names[i]) + 1;
    TuneRecord *record = calloc(1, sizeof *record + size);
    if (!record)
        return newti_fail(NEWT_NO_MEMORY, "no memory for the tuning of %s", from->kernel);
    char *at = record->texts;
    record->kernel = keep(&at, from->kernel);
    record->source = keep(&at, from->source);
    record->is_same_gpu = strcmp(from->gpu, device->tune_name) == 0;
    record->best = keep(&at, from->best);
    record->key_count = from->key_count;
    for (uint32_t i = 0; i < from->key_count; i++) {
        record->names[i] = keep(&at, from->names[i]);
        record->values[i] = from->values[i];
    }
    _Atomic(TuneRecord *) *bucket = &device->tuned[bucket_of(record->kernel)];
    pthread_mutex_lock(&device->load_lock);
    record->next = atomic_load_explicit(bucket, memory_order_relaxed);
    atomic_store_explicit(bucket, record, memory_order_release);
    pthread_mutex_unlock(&device->load_lock);
    return NEWT_OK;
}

NewtStatus newti_book_add(NewtDevice *device, const TuneSubject *subject, const char *best)
{
    const NewtKernel *kernel = subject->kernel;
    RecordTexts texts = { .kernel = kernel->name,
                          .source = kernel->module->source_sha256,
                          .gpu = subject->gpu,
                          .arch = subject->arch,
                          .best = best };
    for (uint32_t i = 0; i < kernel->tuning->key_count && i < TUNE_KEY_MAX; i++) {
        texts.names[i] = kernel->params[kernel->tuning->keys[i]].name;
        texts.values[i] = subject->class[i];
        texts.key_count++;
    }
    return record_add(device, &texts);
}

typedef struct Loading {
    NewtDevice *device;
    NewtStatus status;
} Loading;

/// Entries that lack something are somebody else's.
static void load_entry(void *cx, const Json *kernel, const Json *entry)
{
    Loading *loading = cx;
    RecordTexts texts = { .kernel = newti_json_text(kernel, "kernel"),
                          .source = newti_json_text(kernel, "source"),
                          .gpu = newti_json_text(entry, "gpu"),
                          .arch = newti_json_text(entry, "arch"),
                          .best = newti_json_text(entry, "best") };
    const Json *class = newti_json_get(entry, "class");
    if (loading->status != NEWT_OK || !texts.kernel || !texts.source || !texts.gpu || !texts.arch ||
        !texts.best || strncmp(texts.source, "sha256:", 7) != 0 ||
        strcmp(texts.arch, loading->device->arch_name) != 0)
        return;
    texts.source += 7;
    for (const Json *at = class ? class->first : NULL; at; at = at->next) {
        if (!at->key || !at->text || texts.key_count == TUNE_KEY_MAX)
            return;
        texts.names[texts.key_count] = at->key;
        texts.values[texts.key_count++] = strtoll(at->text, NULL, 10);
    }
    loading->status = record_add(loading->device, &texts);
}

NewtStatus newti_book_load(NewtDevice *device, const char *path)
{
    Json *root;
    Loading loading = { device, newti_store_read(path, &root) };
    if (root)
        newti_store_each(root, load_entry, &loading);
    newti_json_free(root);
    return loading.status;
}

NewtStatus newt_tune_load(NewtDevice *device, const char *path)
{
    NewtStatus status = newti_device_check(device, "newt_tune_load");
    if (status == NEWT_OK && !path)
        status = newti_fail_null("newt_tune_load", "path");
    if (status == NEWT_OK)
        status = newti_book_load(device, path);
    return newti_log_status(device ? device->options.log : LOG_OFF, status);
}

void newti_tune_name(const NewtDevice *device, char *out, size_t size)
{
    snprintf(out, size, "%s", device->name);
    FILE *file = device->driver ? NULL : fopen("/proc/cpuinfo", "re");
    char line[256];
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
        if (!colon)
            continue;
        snprintf(out, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
        break;
    }
    if (file)
        fclose(file);
}

void newti_book_free(NewtDevice *device)
{
    for (int i = 0; i < TUNE_BUCKETS; i++) {
        TuneRecord *record = atomic_load(&device->tuned[i]);
        while (record) {
            TuneRecord *next = record->next;
            free(record);
            record = next;
        }
    }
}
