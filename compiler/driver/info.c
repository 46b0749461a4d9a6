/// info.c - see info.h. Everything goes to standard output; a name that does not exist is a usage
/// error.
#include "driver/info.h"
#include "backend/cuda/nvrtc.h"
#include "sema/builtin.h"
#include "target/target.h"
#include <string.h>

static Nvrtc *info_nvrtc(Arena *a, const Options *opt)
{
    const NvrtcPaths paths = { opt->nvrtc, opt->cuda_path };
    return nvrtc_open(a, &paths);
}

static int info_version(Arena *a, const Options *opt)
{
    if (!*opt->version) {
        printf("newtc %s\n", NEWTC_VERSION);
        return 0;
    }
    if (strcmp(opt->version, "json") != 0) {
        fprintf(stderr, "newtc: error: --version takes json, not '%s'\n", opt->version);
        return 2;
    }
    const Nvrtc *n = info_nvrtc(a, opt);
    printf("{ \"newtc\": \"%s\", \"abi\": 1, \"nvrtc\": ", NEWTC_VERSION);
    if (n->loaded)
        printf("\"%d.%d\" }\n", n->major, n->minor);
    else
        printf("null }\n");
    return 0;
}

static int info_archs(Arena *a, const Options *opt)
{
    const Nvrtc *n = info_nvrtc(a, opt);
    DiagSink quiet;
    SourceMap none = { .arena = a };
    size_t count;
    const Target *t = target_list(&count);
    diag_init(&quiet, a, &none);
    quiet.muted = true;
    for (size_t i = 0; i < count; i++)
        if (nvrtc_check_target(n, &t[i], (Span){ 0, 0 }, &quiet))
            printf("%s\n", t[i].name);
    printf("host\n");
    return 0;
}

static int info_nvrtc_places(Arena *a, const Options *opt)
{
    const Nvrtc *n = info_nvrtc(a, opt);
    NvrtcPlace *place;
    VEC_EACH (place, &n->places)
        printf("%s: %s\n", place->path, place->result);
    if (n->loaded)
        printf("NVRTC %d.%d from %s\n", n->major, n->minor, n->path);
    else
        printf("no NVRTC: only the host target can be compiled for\n");
    return 0;
}

/// "nl.load", "newt.kernel", "min", "x.to": how a program says it.
static void info_name(const BuiltinTable *t, const Builtin *b, Buf *out)
{
    static const struct {
        BuiltinSpace space;
        const char *prefix;
    } spaces[] = { { SPACE_LANG, "nl." },
                   { SPACE_TOP, "newt." },
                   { SPACE_CUDA, "nl.extra.cuda." },
                   { SPACE_BARE, "" } };
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        ConstVal found = builtin_find(t, spaces[i].space, b->name);
        if ((found.kind == CONST_BUILTIN || found.kind == CONST_ANNOTATION) && found.v.ref == b) {
            buf_printf(out, "%s%s", spaces[i].prefix, b->name->text);
            return;
        }
    }
    const char *object = b->use == USE_DTYPE_METHOD  ? "dtype"
                         : b->use == USE_DESC_METHOD ? "desc"
                                                     : "x";
    buf_printf(out, "%s.%s", object, b->name->text);
}

/// One builtin: a line with its parameters, a line with what it does.
static void info_builtin(const BuiltinTable *t, const Builtin *b, Buf *out)
{
    info_name(t, b, out);
    if (b->use != USE_DTYPE && b->param_count) {
        bool is_method =
            out->at[0] == 'x' || b->use == USE_DTYPE_METHOD || b->use == USE_DESC_METHOD;
        buf_putc(out, '(');
        for (uint32_t i = is_method; i < b->param_count; i++) {
            const BuiltinParam *p = &b->params[i];
            buf_printf(out, "%s%s%s", i > is_method ? ", " : "", p->variadic ? "*" : "",
                       p->name->text);
            if (p->has_default && !p->variadic) {
                buf_putc(out, '=');
                const_print(out, &p->default_value);
            }
        }
        buf_putc(out, ')');
    }
    buf_printf(out, "\n    %s", b->doc);
    if (b->unsupported)
        buf_printf(out, " (not compiled by this version: %s)", b->unsupported);
    buf_putc(out, '\n');
}

static int info_ops(Arena *a)
{
    SymTable syms = { .arena = a };
    BuiltinTable *t = builtin_table_new(a, &syms, type_table_new(a));
    Buf one = { 0 };
    for (int id = 0; id < BUILTIN_LATER; id++) {
        const Builtin *b = builtin_get(t, (BuiltinId)id);
        buf_clear(&one);
        if (b)
            info_builtin(t, b, &one);
        if (one.len)
            fwrite(one.at, 1, one.len, stdout);
    }
    buf_free(&one);
    return 0;
}

static int info_explain(const char *slug)
{
    DiagId id = diag_find(slug);
    if (id != DIAG_COUNT) {
        printf("%s\n", diag_info[id].explain);
        return 0;
    }
    const char *slugs[DIAG_COUNT];
    for (int i = 0; i < DIAG_COUNT; i++)
        slugs[i] = diag_info[i].slug;
    const char *near = diag_did_you_mean(slug, slugs, DIAG_COUNT);
    fprintf(stderr, "newtc: error: no diagnostic is called '%s'%s%s%s\n", slug,
            near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return 2;
}

static int info_help(const char *topic)
{
    Buf text = { 0 };
    bool known = options_help(topic, &text);
    if (known)
        fputs(text.at, stdout);
    else
        fprintf(stderr,
                "newtc: error: no help on '%s'; --help=TOPIC takes the name of a group that --help "
                "shows\n",
                topic);
    buf_free(&text);
    return known ? 0 : 2;
}

int info_answer(Arena *a, const Options *opt, bool *handled)
{
    *handled = true;
    if (opt->help)
        return info_help(opt->help);
    if (opt->version)
        return info_version(a, opt);
    if (opt->print_archs)
        return info_archs(a, opt);
    if (opt->print_nvrtc)
        return info_nvrtc_places(a, opt);
    if (opt->print_ops)
        return info_ops(a);
    if (opt->explain)
        return info_explain(opt->explain);
    *handled = false;
    return 0;
}
