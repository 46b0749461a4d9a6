/// options_check.c - what the table cannot say about one option: how options and inputs fit
/// together.
#include "driver/options.h"
#include "passes/pass.h"
#include "support/fs.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool check_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
static bool check_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("newtc: error: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return false;
}

/// Two inputs with one stem would write the same files.
static bool check_stems(Arena *a, const Options *opt)
{
    for (uint32_t i = 1; i < opt->inputs.len; i++)
        for (uint32_t j = 0; j < i; j++)
            if (strcmp(fs_stem(a, opt->inputs.at[i]), fs_stem(a, opt->inputs.at[j])) == 0)
                return check_fail(
                    "'%s' and '%s' would write the same outputs; compile them one at a time",
                    opt->inputs.at[j], opt->inputs.at[i]);
    return true;
}

static bool check_output(Arena *a, const Options *opt)
{
    size_t len = opt->output ? strlen(opt->output) : 0;
    bool folder = len && opt->output[len - 1] == '/';
    if (opt->output && !len)
        return check_fail("-o has an empty name");
    if (folder && !fs_make_dirs(a, opt->output))
        return check_fail("cannot make the folder '%s'", opt->output);
    if (opt->inputs.len > 1 && len && !folder && !fs_is_dir(opt->output))
        return check_fail("with several inputs -o must name a folder, and '%s' is none",
                          opt->output);
    if (opt->inputs.len > 1 && (opt->header || opt->manifest))
        return check_fail("with several inputs %s cannot name one file",
                          opt->header ? "--header" : "--manifest");
    if (len && strcmp(opt->output, "-") == 0 && opt->dep != DEP_ONLY &&
        (!opt->emit || (opt->emit & (opt->emit - 1))))
        return check_fail("-o - writes one kind of output; name it with --emit=KIND");
    if (len && strcmp(opt->output, "-") == 0 && opt->embed == EMBED_FILE && opt->dep != DEP_ONLY)
        return check_fail("--embed=file writes images as files, and -o - names none");
    return opt->inputs.len < 2 || check_stems(a, opt);
}

/// A word of C; with `colons` also several, joined by ::.
static bool check_is_name(const char *text, bool colons)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    bool begins = true;
    for (; *text; text++) {
        if (colons && !begins && strncmp(text, "::", 2) == 0) {
            begins = true;
            text++;
        } else if (strchr(letters, *text) || (!begins && *text >= '0' && *text <= '9')) {
            begins = false;
        } else {
            return false;
        }
    }
    return !begins;
}

static bool check_names(const Options *opt)
{
    if (opt->prefix && !check_is_name(opt->prefix, false))
        return check_fail("--prefix is '%s'; it takes what may begin a C name", opt->prefix);
    if (opt->export_macro && !check_is_name(opt->export_macro, false))
        return check_fail("--export-macro is '%s'; it takes a C name", opt->export_macro);
    if (opt->cxx_namespace && !check_is_name(opt->cxx_namespace, true))
        return check_fail("--namespace is '%s'; it takes a C++ name as a or a::b",
                          opt->cxx_namespace);
    return true;
}

static bool check_numbers(const Options *opt)
{
    if (opt->num_warps && (opt->num_warps > 32 || (opt->num_warps & (opt->num_warps - 1))))
        return check_fail("--num-warps is %d; it takes 1, 2, 4, 8, 16 or 32", opt->num_warps);
    if (opt->num_stages > 8)
        return check_fail("--num-stages is %d; it takes 1 to 8", opt->num_stages);
    return true;
}

/// The pass of ir-after:PASS, or PASS.N for its Nth run.
static bool check_pass(Arena *a, const Options *opt)
{
    if (!opt->ir_after)
        return true;
    const char *name = arena_strndup(a, opt->ir_after, strcspn(opt->ir_after, "."));
    const char *suffix = opt->ir_after + strlen(name);
    unsigned rows = 0;
    for (const PassInfo *p = pass_info; p->name; p++)
        rows += strcmp(p->name, name) == 0;
    char *end = "";
    const unsigned long wanted = *suffix ? strtoul(suffix + 1, &end, 10) : 1;
    if (wanted >= 1 && wanted <= rows && *end == '\0')
        return true;
    fprintf(stderr, "newtc: error: there is no pass '%s'; the passes, in order:", opt->ir_after);
    for (const PassInfo *p = pass_info; p->name; p++)
        fprintf(stderr, " %s", p->name);
    fputc('\n', stderr);
    return false;
}

/// The slug in a -W option's text: without "no-" and "error=".
static const char *check_slug_of(const char *option)
{
    const char *name = strncmp(option, "no-", 3) == 0 ? option + 3 : option;
    return strncmp(name, "error=", 6) == 0 ? name + 6 : name;
}

static bool check_warnings(Arena *a, const Options *opt)
{
    SourceMap none = { .arena = a };
    DiagSink sink;
    diag_init(&sink, a, &none);
    for (uint32_t i = 0; i < opt->warnings.len; i++) {
        const char *option = opt->warnings.at[i], *slug = check_slug_of(option);
        if (diag_set_option(&sink, option) || strncmp(option, "no-", 3) == 0)
            continue;
        if (diag_find(slug) != DIAG_COUNT)
            return check_fail("-W%s: '%s' is no warning, so nothing switches it", option, slug);
        const char *slugs[DIAG_COUNT + 3] = { "all", "extra", "perf" };
        size_t count = 3;
        for (int id = 0; id < DIAG_COUNT; id++)
            if (diag_info[id].severity == SEVERITY_WARNING)
                slugs[count++] = diag_info[id].slug;
        const char *near = diag_did_you_mean(slug, slugs, count);
        if (near)
            return check_fail("-W%s: no warning is called '%s'; did you mean '%s'?", option, slug,
                              near);
        return check_fail("-W%s: no warning is called '%s'", option, slug);
    }
    return true;
}

void options_note_unknown_warnings(const Options *opt)
{
    for (uint32_t i = 0; i < opt->warnings.len; i++) {
        const char *option = opt->warnings.at[i], *slug = check_slug_of(option);
        bool known = strcmp(slug, "all") == 0 || strcmp(slug, "extra") == 0 ||
                     strcmp(slug, "perf") == 0 || strcmp(slug, "error") == 0 ||
                     diag_find(slug) != DIAG_COUNT;
        if (!known)
            fprintf(stderr, "newtc: note: -W%s: no warning is called '%s'\n", option, slug);
    }
}

/// What says something about a rule needs one.
static bool check_depfile(const Options *opt)
{
    if (opt->dep != DEP_NONE || (!opt->dep_file && !opt->dep_targets.len && !opt->dep_phony))
        return true;
    return check_fail("%s says something about a rule for make; ask for one by -M or -MD",
                      opt->dep_file          ? "-MF"
                      : opt->dep_targets.len ? "-MT"
                                             : "-MP");
}

bool options_check(Arena *a, const Options *opt)
{
    if (opt->inputs.len == 0)
        return check_fail("no input file; newtc --help shows how to call it");
    return check_output(a, opt) && check_pass(a, opt) && check_names(opt) && check_numbers(opt) &&
           check_depfile(opt) && check_warnings(a, opt);
}
