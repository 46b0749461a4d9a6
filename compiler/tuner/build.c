/// build.c - candidates to a shared object: newtc with --configs, then the C compiler.
///
/// Objects for a GPU have host code too only where the reference is still to be computed: it is
/// what takes the C compiler long.
#include "json.h"
#include "support/fs.h"
#include "support/proc.h"
#include "tuner/tuner_impl.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/// Runs a command; its output's first line that says "error" goes to *why.
static bool run(Arena *a, const Build *b, const StrList *argv, const char **why)
{
    Buf log = { 0 };
    const int status = proc_run_for(argv->at, &log, b->seconds);
    *why = status == PROC_LATE ? arena_printf(a, "takes longer than %g s to compile", b->seconds)
           : status < 0 ? arena_printf(a, "cannot run '%s': %s", argv->at[0], strerror(errno))
                        : "";
    if (status > 0) {
        const char *at = log.at ? strstr(log.at, "error: ") : NULL;
        *why = at ? arena_strndup(a, at + 7, strcspn(at + 7, "\n"))
                  : arena_printf(a, "'%s' ended with %d", argv->at[0], status);
    }
    buf_free(&log);
    return status == 0;
}

static bool compile_c(Arena *a, const Build *b, const char *source, const char *object,
                      const char **why)
{
    const char *cc = getenv("CC");
    StrList argv = { 0 };
    options_split(a, cc && *cc ? cc : "cc", &argv);
    const char *const words[] = { "-std=c11", "-O3",  "-fPIC",
                                  "-shared",  "-w",   arena_printf(a, "-I%s", b->headers),
                                  "-o",       object, source,
                                  NULL };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        VEC_PUSH(a, &argv, words[i]);
    return run(a, b, &argv, why);
}

static bool compile_newt(Arena *a, const Build *b, const char *source, const char *const *texts,
                         uint32_t count, bool with_host, const char **why)
{
    StrList argv = { 0 };
    const bool is_host = strcmp(b->arch, "host") == 0;
    VEC_PUSH(a, &argv, b->program);
    VEC_PUSH(a, &argv, "--compile-budget=60");  // by estimate, which is several times too high
    VEC_PUSH(a, &argv, "--specialize=rows");    // candidates compile sooner
    for (uint32_t i = 0; i < b->opt->pass.len; i++)
        VEC_PUSH(a, &argv, b->opt->pass.at[i]);
    VEC_PUSH(a, &argv,
             arena_printf(a, "--arch=%s%s", b->arch, !is_host && with_host ? ",host" : ""));
    VEC_PUSH(a, &argv, arena_printf(a, "--kernel=%s", b->function));
    if (b->values && !with_host)  // the reference takes the most general code
        VEC_PUSH(a, &argv, arena_printf(a, "--only-for=%s", b->values));
    for (uint32_t i = 0; i < count; i++)
        VEC_PUSH(a, &argv, arena_printf(a, "--configs=%s", texts[i]));
    const char *const words[] = { "-o", source, b->opt->file, NULL };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        VEC_PUSH(a, &argv, words[i]);
    return run(a, b, &argv, why);
}

static const Json *item(const Json *array, uint32_t index)
{
    const Json *at = array ? array->first : NULL;
    while (at && index-- > 0)
        at = at->next;
    return at;
}

/// What the manifest says of one configuration: of its last variant, the only one where the
/// compiler knew the arguments.
static void read_config(const Json *kernel, const Json *config, Resources *out)
{
    const uint32_t last = (uint32_t)(newti_json_number(config, "first_variant", 0) +
                                     newti_json_number(config, "variants", 1) - 1);
    const Json *entry =
        item(newti_json_get(item(newti_json_get(kernel, "variants"), last), "entries"), 0);
    if (!entry)
        return;
    *out = (Resources){ .threads = (uint32_t)newti_json_number(entry, "threads", 0),
                        .registers = (uint32_t)newti_json_number(entry, "registers", 0),
                        .shared = (uint32_t)(newti_json_number(entry, "shared", 0) +
                                             newti_json_number(entry, "shared_static", 0)),
                        .spills = (uint32_t)newti_json_number(entry, "spills", 0),
                        .known = true };
}

static void read_manifest(Arena *a, const Build *b, const char *path, const char *const *texts,
                          uint32_t count, Resources *res)
{
    const char *why;
    size_t len;
    const char *text = fs_read(a, path, &len, &why);
    Json *root = text ? newti_json_read(text, len) : NULL;
    const Json *kernels = newti_json_get(root, "kernels"),
               *kernel = kernels ? kernels->first : NULL;
    while (kernel && strcmp(newti_json_text(kernel, "name"), b->symbol) != 0)
        kernel = kernel->next;
    const Json *configs = newti_json_get(kernel, "configs");
    for (const Json *at = configs ? configs->first : NULL; at; at = at->next)
        for (uint32_t i = 0; i < count; i++)
            if (space_is(texts[i], newti_json_text(at, "text")))
                read_config(kernel, at, &res[i]);
    newti_json_free(root);
}

const char *build_batch(Arena *a, Build *b, const char *const *texts, uint32_t count,
                        bool with_host, Resources *res, const char **why)
{
    const char *stem = arena_printf(a, "%s/batch%u", b->dir, b->made);
    const char *source = arena_printf(a, "%s.c", stem), *object = arena_printf(a, "%s.so", stem);
    memset(res, 0, count * sizeof *res);
    if (!compile_newt(a, b, source, texts, count, with_host, why) ||
        !compile_c(a, b, source, object, why))
        return NULL;
    read_manifest(a, b, arena_printf(a, "%s.json", stem), texts, count, res);
    b->made++;
    return object;
}
