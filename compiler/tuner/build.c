/// build.c - candidates to a shared object: newtc with --configs, then the C compiler, each a
/// process beside which the search goes on.
///
/// Objects for a GPU have host code too only where the reference is still to be computed: it is
/// what takes the C compiler long.
#include "json.h"
#include "support/fs.h"
#include "tuner/tuner_impl.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// What a command that ended so means; NULL: it went well.
static const char *fault_of(Arena *a, const char *program, int status, const Buf *log)
{
    const char *text = arena_strndup(a, log->at ? log->at : "", log->len);
    const char *at = strstr(text, "error: ");
    if (status == 0)
        return NULL;
    if (status == PROC_LATE)
        return "takes too long to compile";
    return at ? arena_strndup(a, at + 7, strcspn(at + 7, "\n"))
              : arena_printf(a, "'%s' ended with %d", program, status);
}

/// Objects for a GPU without host code hold tables only: there is nothing to optimise.
static void words_of_cc(Arena *a, const Build *b, const Compile *c, StrList *argv)
{
    const char *cc = getenv("CC");
    const bool has_code = c->with_host || strcmp(b->arch, "host") == 0;
    options_split(a, cc && *cc ? cc : "cc", argv);
    const char *const words[] = { "-std=c11", has_code ? "-O3" : "-O0",
                                  "-fPIC",    "-shared",
                                  "-w",       arena_printf(a, "-I%s", b->headers),
                                  "-o",       c->object,
                                  c->source };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        VEC_PUSH(a, argv, words[i]);
}

void build_words(Arena *a, const Build *b, bool with_host, StrList *argv)
{
    const bool is_host = strcmp(b->arch, "host") == 0;
    VEC_PUSH(a, argv, b->program);
    VEC_PUSH(a, argv, "--compile-budget=60");  // by estimate, which is several times too high
    VEC_PUSH(a, argv, "--specialize=rows");    // candidates compile sooner
    for (uint32_t i = 0; i < b->opt->pass.len; i++)
        VEC_PUSH(a, argv, b->opt->pass.at[i]);
    VEC_PUSH(a, argv,
             arena_printf(a, "--arch=%s%s", b->arch, !is_host && with_host ? ",host" : ""));
    VEC_PUSH(a, argv, arena_printf(a, "--kernel=%s", b->function));
    if (b->values && !with_host)  // the reference takes the most general code
        VEC_PUSH(a, argv, arena_printf(a, "--only-for=%s", b->values));
}

static void words_of_newt(Arena *a, const Build *b, const Compile *c, StrList *argv)
{
    build_words(a, b, c->with_host, argv);
    for (uint32_t i = 0; i < c->count; i++)
        VEC_PUSH(a, argv, arena_printf(a, "--configs=%s", c->texts[i]));
    const char *const words[] = { "-o", c->source, b->opt->file };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        VEC_PUSH(a, argv, words[i]);
}

/// The next command; false when it cannot be started.
static bool start(Arena *a, const Build *b, Compile *c)
{
    StrList argv = { 0 };
    if (c->step == COMPILE_NEWT)
        words_of_newt(a, b, c, &argv);
    else
        words_of_cc(a, b, c, &argv);
    VEC_PUSH(a, &argv, NULL);
    c->program = argv.at[0];
    proc_end(&c->proc);
    if (proc_start(&c->proc, argv.at, c->seconds))
        return true;
    c->why = arena_printf(a, "cannot run '%s': %s", c->program, strerror(errno));
    return false;
}

bool build_start(Arena *a, Build *b, Compile *c)
{
    const char *stem = arena_printf(a, "%s/candidate%u", b->dir, b->made++);
    c->source = arena_printf(a, "%s.c", stem);
    c->object = arena_printf(a, "%s.so", stem);
    c->manifest = arena_printf(a, "%s.json", stem);
    c->step = COMPILE_NEWT;
    c->why = NULL;
    memset(c->resources, 0, sizeof c->resources);
    return start(a, b, c);
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
                        .known = newti_json_number(entry, "registers", 0) > 0 };
}

static void read_manifest(Arena *a, const Build *b, Compile *c)
{
    const char *why;
    size_t len;
    const char *text = fs_read(a, c->manifest, &len, &why);
    Json *root = text ? newti_json_read(text, len) : NULL;
    const Json *kernels = newti_json_get(root, "kernels"),
               *kernel = kernels ? kernels->first : NULL;
    while (kernel && strcmp(newti_json_text(kernel, "name"), b->symbol) != 0)
        kernel = kernel->next;
    const Json *configs = newti_json_get(kernel, "configs");
    for (const Json *at = configs ? configs->first : NULL; at; at = at->next)
        for (uint32_t i = 0; i < c->count; i++)
            if (space_is(c->texts[i], newti_json_text(at, "text")))
                read_config(kernel, at, &c->resources[i]);
    newti_json_free(root);
}

bool build_step(Arena *a, const Build *b, Compile *c)
{
    int status;
    if (!proc_step(&c->proc, &status))
        return false;
    c->why = fault_of(a, c->program, status, &c->proc.log);
    if (!c->why && c->step == COMPILE_NEWT) {
        c->step = COMPILE_C;
        return !start(a, b, c);
    }
    proc_end(&c->proc);
    if (!c->why)
        read_manifest(a, b, c);
    unlink(c->source);
    unlink(c->manifest);
    return true;
}
