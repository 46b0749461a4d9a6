/// The tuning store on disk: lock, read, find, write.
#define _GNU_SOURCE  // flock, fileno
#include "tune_store.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { PATH_LENGTH = 4096, STORE_MAX = 256 * 1024 * 1024 };

static NewtStatus store_fail(const char *path, const char *what)
{
    return newti_fail(NEWT_BAD_FILE, "cannot %s the tuning store %s: %s", what, path,
                      strerror(errno));
}

/* ---- reading ---- */

/// The whole file, to be freed; NULL when it cannot be read.
static char *file_text(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rbe");
    char *text = NULL;
    if (!file)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0) {
        const long size = ftell(file);
        if (size >= 0 && size <= STORE_MAX && fseek(file, 0, SEEK_SET) == 0 &&
            (text = malloc((size_t)size + 1)) != NULL)
            *len = fread(text, 1, (size_t)size, file);
    }
    fclose(file);
    return text;
}

NewtStatus newti_store_read(const char *path, Json **root)
{
    size_t len = 0;
    char *text = file_text(path, &len);
    *root = text ? newti_json_read(text, len) : NULL;
    free(text);
    const double schema = newti_json_number(*root, "schema", 0);
    if (schema > TUNE_SCHEMA) {
        newti_json_free(*root);
        *root = NULL;
        return newti_fail(NEWT_BAD_FILE,
                          "the tuning store %s has schema %g, and this libnewt knows %d", path,
                          schema, TUNE_SCHEMA);
    }
    if (*root && schema != TUNE_SCHEMA) {  // some other file, or half of one
        newti_json_free(*root);
        *root = NULL;
    }
    return NEWT_OK;
}

static void each_entry(const Json *kernel,
                       void (*each)(void *cx, const Json *kernel, const Json *entry), void *cx)
{
    const Json *entries = newti_json_get(kernel, "entries");
    for (const Json *at = entries ? entries->first : NULL; at; at = at->next)
        each(cx, kernel, at);
}

void newti_store_each(const Json *root,
                      void (*each)(void *cx, const Json *kernel, const Json *entry), void *cx)
{
    const Json *kernels = newti_json_get(root, "kernels");
    each_entry(root, each, cx);
    for (const Json *at = kernels ? kernels->first : NULL; at; at = at->next)
        each_entry(at, each, cx);
}

/* ---- finding ---- */

static bool is_text(const Json *object, const char *key, const char *text)
{
    const char *have = newti_json_text(object, key);
    return have && strcmp(have, text) == 0;
}

/// The object of a kernel, made when there is none.
static Json *kernel_object(Json *root, const NewtKernel *kernel)
{
    char source[80];
    snprintf(source, sizeof source, "sha256:%s", kernel->module->source_sha256);
    if (is_text(root, "kernel", kernel->name) && is_text(root, "source", source))
        return root;
    Json *kernels = newti_json_member(root, "kernels", JSON_ARRAY);
    for (Json *at = kernels ? kernels->first : NULL; at; at = at->next)
        if (is_text(at, "kernel", kernel->name) && is_text(at, "source", source))
            return at;
    Json *made = newti_json_new(JSON_OBJECT, NULL);
    if (!kernels || !newti_json_put(kernels, NULL, made))
        return NULL;
    return newti_json_put_text(made, "kernel", kernel->name) &&
                   newti_json_put_text(made, "source", source)
               ? made
               : NULL;
}

/// "class": { "m": "4096" }: the names and values of the keys, all of them.
static bool is_class(const Json *entry, const TuneSubject *subject)
{
    const NewtTuning *tuning = subject->kernel->tuning;
    const Json *class = newti_json_get(entry, "class");
    for (uint32_t i = 0; i < tuning->key_count; i++) {
        char value[24];
        snprintf(value, sizeof value, "%lld", (long long)subject->class[i]);
        if (!is_text(class, subject->kernel->params[tuning->keys[i]].name, value))
            return false;
    }
    return class != NULL;
}

static bool put_class(Json *entry, const TuneSubject *subject)
{
    const NewtTuning *tuning = subject->kernel->tuning;
    Json *class = newti_json_member(entry, "class", JSON_OBJECT);
    bool ok = class != NULL;
    for (uint32_t i = 0; i < tuning->key_count && ok; i++) {
        char value[24];
        snprintf(value, sizeof value, "%lld", (long long)subject->class[i]);
        ok = newti_json_put_text(class, subject->kernel->params[tuning->keys[i]].name, value);
    }
    return ok;
}

static Json *entry_new(Json *entries, const TuneSubject *subject)
{
    Json *entry = newti_json_new(JSON_OBJECT, NULL);
    if (!newti_json_put(entries, NULL, entry))
        return NULL;
    return newti_json_put_text(entry, "gpu", subject->gpu) &&
                   newti_json_put_text(entry, "arch", subject->arch) &&
                   newti_json_put_text(entry, "driver", subject->driver) &&
                   put_class(entry, subject)
               ? entry
               : NULL;
}

Json *newti_store_entry(TuneStore *store, const TuneSubject *subject)
{
    static const char *const measured[] = { "best", "us", "wrong", "too_large", "failed", "died" };
    Json *kernel = kernel_object(store->root, subject->kernel);
    Json *entries = kernel ? newti_json_member(kernel, "entries", JSON_ARRAY) : NULL;
    if (!entries)
        return NULL;
    for (Json *at = entries->first; at; at = at->next) {
        if (!is_text(at, "gpu", subject->gpu) || !is_text(at, "arch", subject->arch) ||
            !is_class(at, subject))
            continue;
        if (is_text(at, "driver", subject->driver))
            return at;
        for (size_t i = 0; i < sizeof measured / sizeof *measured; i++)
            newti_json_remove(at, measured[i]);
        return newti_json_put_text(at, "driver", subject->driver) ? at : NULL;
    }
    return entry_new(entries, subject);
}

bool newti_store_lists(const Json *entry, const char *array, const char *config)
{
    const Json *list = newti_json_get(entry, array);
    for (const Json *at = list ? list->first : NULL; at; at = at->next)
        if (at->kind == JSON_STRING && strcmp(at->text, config) == 0)
            return true;
    return false;
}

bool newti_store_list(Json *entry, const char *array, const char *config)
{
    Json *list = newti_json_member(entry, array, JSON_ARRAY);
    return list && (newti_store_lists(entry, array, config) ||
                    newti_json_put(list, NULL, newti_json_new(JSON_STRING, config)));
}

/* ---- changing ---- */

static void unlock(TuneStore *store)
{
    newti_json_free(store->root);
    store->root = NULL;
    close(store->lock);  // which unlocks
}

NewtStatus newti_store_begin(TuneStore *store, const char *path)
{
    char name[PATH_LENGTH];
    *store = (TuneStore){ .path = path, .lock = -1 };
    if (snprintf(name, sizeof name, "%s.lock", path) >= (int)sizeof name)
        return newti_fail(NEWT_BAD_FILE, "the path of the tuning store is too long: %.64s...",
                          path);
    store->lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (store->lock < 0)
        return store_fail(name, "lock");
    while (flock(store->lock, LOCK_EX) != 0) {
        if (errno == EINTR)
            continue;
        close(store->lock);
        return store_fail(name, "lock");
    }
    NewtStatus status = newti_store_read(path, &store->root);
    if (status == NEWT_OK && !store->root) {
        store->root = newti_json_new(JSON_OBJECT, NULL);
        if (!store->root || !newti_json_put_number(store->root, "schema", TUNE_SCHEMA))
            status = newti_fail(NEWT_NO_MEMORY, "no memory for the tuning store %s", path);
    }
    if (status != NEWT_OK)
        unlock(store);
    return status;
}

static bool write_all(int file, const char *text)
{
    for (size_t len = strlen(text); len > 0;) {
        const ssize_t done = write(file, text, len);
        if (done < 0 && errno != EINTR)
            return false;
        if (done > 0) {
            text += done;
            len -= (size_t)done;
        }
    }
    return true;
}

/// Only the holder of the lock writes, so one name serves all.
static NewtStatus replace(const TuneStore *store, const char *text)
{
    char name[PATH_LENGTH];
    snprintf(name, sizeof name, "%s.new", store->path);
    const int file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0)
        return store_fail(name, "write");
    bool ok = write_all(file, text) && fsync(file) == 0;
    ok = close(file) == 0 && ok;
    ok = ok && rename(name, store->path) == 0;
    if (ok)
        return NEWT_OK;
    NewtStatus status = store_fail(store->path, "write");
    unlink(name);
    return status;
}

NewtStatus newti_store_end(TuneStore *store, bool write)
{
    NewtStatus status = NEWT_OK;
    if (write) {
        char *text = newti_json_write(store->root);
        status = text
                     ? replace(store, text)
                     : newti_fail(NEWT_NO_MEMORY, "no memory for the tuning store %s", store->path);
        free(text);
    }
    unlock(store);
    return status;
}
