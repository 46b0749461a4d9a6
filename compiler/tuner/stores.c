/// stores.c - tuning stores without a device: printing one, and joining several.
#include "json.h"
#include "support/fs.h"
#include "tuner/tuner_impl.h"
#include <stdlib.h>
#include <string.h>

static Json *store_read(Arena *a, const char *path)
{
    const char *why;
    size_t len;
    const char *text = fs_read(a, path, &len, &why);
    Json *root = text ? newti_json_read(text, len) : NULL;
    if (!text)
        tuner_fail("cannot read '%s': %s", path, why);
    else if (!root || newti_json_number(root, "schema", 0) != 1) {
        newti_json_free(root);
        root = NULL;
        tuner_fail("'%s' is no tuning store of schema 1", path);
    }
    return root;
}

static const char *text_of(const Json *object, const char *key)
{
    const char *text = newti_json_text(object, key);
    return text ? text : "?";
}

static void list_entry(const Json *kernel, const Json *entry)
{
    const Json *class = newti_json_get(entry, "class"), *us = newti_json_get(entry, "us");
    const char *best = text_of(entry, "best");
    printf("%s on %s (%s):", text_of(kernel, "kernel"), text_of(entry, "gpu"),
           text_of(entry, "arch"));
    for (const Json *at = class ? class->first : NULL; at; at = at->next)
        printf(" %s=%s", at->key, at->text ? at->text : "?");
    printf("\n    best %s, %.2f us\n", best, newti_json_number(us, best, 0));
    static const char *const bad[] = { "wrong", "failed", "too_large" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const Json *list = newti_json_get(entry, bad[i]);
        for (const Json *at = list ? list->first : NULL; at; at = at->next)
            printf("    %s: %s\n", bad[i], at->text ? at->text : "?");
    }
}

static void list_kernel(const Json *kernel)
{
    const Json *entries = newti_json_get(kernel, "entries");
    for (const Json *at = entries ? entries->first : NULL; at; at = at->next)
        list_entry(kernel, at);
}

int stores_list(const char *path)
{
    Arena a = { 0 };
    Json *root = store_read(&a, path);
    const Json *kernels = newti_json_get(root, "kernels");
    if (root)
        list_kernel(root);
    for (const Json *at = kernels ? kernels->first : NULL; at; at = at->next)
        list_kernel(at);
    const bool ok = root != NULL;
    newti_json_free(root);
    arena_free(&a);
    return ok ? TUNER_CLEAN : TUNER_ENVIRONMENT;
}

/* ---- joining ---- */

static Json *copy_of(const Json *from)
{
    Json *to = newti_json_new(from->kind, from->text);
    for (const Json *at = from->first; to && at; at = at->next)
        if (!newti_json_put(to, at->key, copy_of(at))) {
            newti_json_free(to);
            return NULL;
        }
    return to;
}

static bool same(const Json *a, const Json *b, const char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(text_of(a, keys[i]), text_of(b, keys[i])) != 0)
            return false;
    return true;
}

static bool same_class(const Json *a, const Json *b)
{
    const Json *x = newti_json_get(a, "class"), *y = newti_json_get(b, "class");
    for (const Json *at = x ? x->first : NULL; at; at = at->next)
        if (strcmp(text_of(x, at->key), text_of(y, at->key)) != 0)
            return false;
    return true;
}

/// The configuration with the shortest time.
static bool choose_best(Json *entry)
{
    const Json *us = newti_json_get(entry, "us"), *best = NULL;
    for (const Json *at = us ? us->first : NULL; at; at = at->next)
        if (at->kind == JSON_NUMBER && (!best || strtod(at->text, NULL) < strtod(best->text, NULL)))
            best = at;
    return !best || newti_json_put_text(entry, "best", best->key);
}

/// Members of an object, and items of an array that it lacks.
static bool join_member(Json *to, const Json *member)
{
    Json *mine = newti_json_get(to, member->key);
    if (!mine || mine->kind != member->kind)
        return newti_json_put(to, member->key, copy_of(member));
    for (const Json *at = member->first; at; at = at->next) {
        bool has = false;
        for (const Json *k = mine->first; member->kind == JSON_ARRAY && k; k = k->next)
            has |= k->text && at->text && strcmp(k->text, at->text) == 0;
        if (!has && !newti_json_put(mine, at->key, copy_of(at)))
            return false;
    }
    return true;
}

static bool join_entry(Json *entries, const Json *entry)
{
    static const char *const keys[] = { "gpu", "arch", "driver" };
    for (Json *at = entries->first; at; at = at->next) {
        if (!same(at, entry, keys, 3) || !same_class(at, entry) || !same_class(entry, at))
            continue;
        bool ok = true;
        for (const Json *m = entry->first; m && ok; m = m->next)
            ok = m->kind != JSON_OBJECT && m->kind != JSON_ARRAY ? true : join_member(at, m);
        return ok && choose_best(at);
    }
    return newti_json_put(entries, NULL, copy_of(entry));
}

static bool join_kernel(Json *kernels, const Json *kernel)
{
    static const char *const keys[] = { "kernel", "source" };
    const Json *entries = newti_json_get(kernel, "entries");
    Json *mine = kernels->first;
    while (mine && !same(mine, kernel, keys, 2))
        mine = mine->next;
    if (!mine) {
        mine = newti_json_new(JSON_OBJECT, NULL);
        if (!newti_json_put(kernels, NULL, mine) ||
            !newti_json_put_text(mine, "kernel", text_of(kernel, "kernel")) ||
            !newti_json_put_text(mine, "source", text_of(kernel, "source")))
            return false;
    }
    Json *to = newti_json_member(mine, "entries", JSON_ARRAY);
    bool ok = to != NULL;
    for (const Json *at = entries ? entries->first : NULL; at && ok; at = at->next)
        ok = join_entry(to, at);
    return ok;
}

static bool join(Json *root, const Json *other)
{
    Json *kernels = newti_json_member(root, "kernels", JSON_ARRAY);
    const Json *theirs = newti_json_get(other, "kernels");
    bool ok = kernels != NULL;
    if (ok && newti_json_get(other, "kernel"))
        ok = join_kernel(kernels, other);
    for (const Json *at = theirs ? theirs->first : NULL; at && ok; at = at->next)
        ok = join_kernel(kernels, at);
    return ok;
}

int stores_merge(const char *output, const StrList *paths)
{
    Arena a = { 0 };
    Json *root = newti_json_new(JSON_OBJECT, NULL);
    bool ok = root && newti_json_put_number(root, "schema", 1);
    for (uint32_t i = 0; i < paths->len && ok; i++) {
        Json *other = store_read(&a, paths->at[i]);
        ok = other && join(root, other);
        newti_json_free(other);
    }
    char *text = ok ? newti_json_write(root) : NULL;
    OutputSet set = { .arena = &a };
    const char *why = NULL;
    if (text)
        fs_output(&set, output, text, strlen(text), false);
    if (text && !fs_commit(&set, &why))
        ok = tuner_fail("cannot write %s", why);
    free(text);
    newti_json_free(root);
    arena_free(&a);
    return ok ? TUNER_CLEAN : TUNER_ENVIRONMENT;
}
