/// options.c - command line parsing from the table options.def.
///
/// One row, one small handler. Unknown options are errors with the nearest known spelling; a value
/// that is missing or malformed names the option. NEWTC_FLAGS comes first so that the command line
/// wins.
#include "driver/options.h"
#include "support/fs.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef enum { SHAPE_FLAG, SHAPE_JOINED, SHAPE_SEPARATE, SHAPE_PREFIX, SHAPE_PREFIX_OPT } OptShape;

typedef struct OptCx {
    Arena *arena;
    Options *out;
    const char *spelling;
} OptCx;

typedef bool OptHandler(OptCx *cx, void *field, const char *value);

typedef struct OptRow {
    const char *spelling;
    OptShape shape;
    OptHandler *handler;
    size_t field;
    const char *value_name, *group, *doc;
} OptRow;

static bool opt_fail(const OptCx *cx, const char *value, const char *wanted)
{
    fprintf(stderr, "newtc: error: '%s' does not fit option '%s': %s\n", value, cx->spelling,
            wanted);
    return false;
}

static bool opt_TRUE(OptCx *cx, void *field, const char *value)
{
    (void)cx, (void)value;
    *(bool *)field = true;
    return true;
}

static bool opt_STR(OptCx *cx, void *field, const char *value)
{
    (void)cx;
    *(const char **)field = value;
    return true;
}

static bool opt_LIST(OptCx *cx, void *field, const char *value)
{
    StrList *list = field;
    VEC_PUSH(cx->arena, list, value);
    return true;
}

static bool opt_INT(OptCx *cx, void *field, const char *value)
{
    char *end;
    errno = 0;
    long v = strtol(value, &end, 10);
    if (end == value || *end || errno || v < 0 || v > 1000000)
        return opt_fail(cx, value, "it takes a whole number");
    *(int *)field = (int)v;
    return true;
}

/// A number of things of which there is at least one.
static bool opt_COUNT(OptCx *cx, void *field, const char *value)
{
    return opt_INT(cx, field, value) &&
           (*(int *)field > 0 || opt_fail(cx, value, "it takes a whole number from 1 on"));
}

/// Calls `each` for every comma-separated word.
static bool opt_words(OptCx *cx, const char *value, bool (*each)(OptCx *, const char *))
{
    if (!*value)
        return opt_fail(cx, value, "it takes words with commas between");
    while (*value) {
        size_t len = strcspn(value, ",");
        if (len && !each(cx, arena_strndup(cx->arena, value, len)))
            return false;
        value += len + (value[len] == ',');
    }
    return true;
}

static bool opt_emit_word(OptCx *cx, const char *word)
{
    static const struct {
        const char *name;
        unsigned bit;
    } kinds[] = { { "tokens", EMIT_TOKENS },     { "ast", EMIT_AST },
                  { "newt", EMIT_NEWT },         { "ir", EMIT_IR },
                  { "cuda", EMIT_CUDA },         { "ptx", EMIT_PTX },
                  { "cubin", EMIT_CUBIN },       { "sass-summary", EMIT_SASS },
                  { "host-c", EMIT_HOST_C },     { "c", EMIT_C },
                  { "obj", EMIT_OBJ },           { "header", EMIT_HEADER },
                  { "manifest", EMIT_MANIFEST }, { "report", EMIT_REPORT } };
    if (strncmp(word, "ir-after:", 9) == 0 && word[9]) {
        cx->out->ir_after = word + 9;
        cx->out->emit |= EMIT_IR_AFTER;
        return true;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(word, kinds[i].name) == 0) {
            cx->out->emit |= kinds[i].bit;
            return true;
        }
    return opt_fail(
        cx, word,
        "expected tokens, ast, newt, ir, ir-after:PASS, cuda, ptx, cubin, sass-summary, host-c, c, "
        "obj, header, manifest or report");
}

static bool opt_EMIT(OptCx *cx, void *field, const char *value)
{
    (void)field;
    return opt_words(cx, value, opt_emit_word);
}

static bool opt_EMIT_NEWT(OptCx *cx, void *field, const char *value)
{
    (void)cx, (void)value;
    *(unsigned *)field |= EMIT_NEWT;
    return true;
}

static bool opt_EMIT_CUDA(OptCx *cx, void *field, const char *value)
{
    (void)cx, (void)value;
    *(unsigned *)field |= EMIT_CUDA;
    return true;
}

static bool opt_EMIT_OBJ(OptCx *cx, void *field, const char *value)
{
    (void)cx, (void)value;
    *(unsigned *)field |= EMIT_OBJ | EMIT_HEADER;
    return true;
}

static bool opt_arch_word(OptCx *cx, const char *word)
{
    VEC_PUSH(cx->arena, &cx->out->archs, word);
    return true;
}

static bool opt_ARCH(OptCx *cx, void *field, const char *value)
{
    (void)field;
    return opt_words(cx, value, opt_arch_word);
}

static bool opt_config_word(OptCx *cx, const char *word)
{
    VEC_PUSH(cx->arena, &cx->out->configs, word);
    return true;
}

static bool opt_CONFIGS(OptCx *cx, void *field, const char *value)
{
    (void)field;
    return opt_words(cx, value, opt_config_word);
}

static bool opt_choice(OptCx *cx, const char *value, const char *const *names, int *out,
                       const char *wanted)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(value, names[i]) == 0) {
            *out = i;
            return true;
        }
    return opt_fail(cx, value, wanted);
}

static bool opt_VISIBILITY(OptCx *cx, void *field, const char *value)
{
    static const char *const names[] = { "default", "hidden", NULL };
    int which = 0;
    bool ok = opt_choice(cx, value, names, &which, "expected default or hidden");
    *(bool *)field = which == 1;
    return ok;
}

static bool opt_EMBED(OptCx *cx, void *field, const char *value)
{
    static const char *const names[] = {
        [EMBED_WORDS] = "words", [EMBED_INCBIN] = "incbin", [EMBED_FILE] = "file", NULL
    };
    int which = EMBED_WORDS;
    bool ok = opt_choice(cx, value, names, &which, "expected words, incbin or file");
    *(EmbedMode *)field = (EmbedMode)which;
    return ok;
}

static bool opt_DOT(OptCx *cx, void *field, const char *value)
{
    static const char *const names[] = { "fma", "mma", "wgmma", NULL };
    int at;
    if (!opt_choice(cx, value, names, &at, "expected fma, mma or wgmma"))
        return false;
    *(DotChoice *)field = at == 0 ? DOT_FMA : at == 1 ? DOT_MMA : DOT_WGMMA;
    return true;
}

static bool opt_COPY(OptCx *cx, void *field, const char *value)
{
    static const char *const names[] = { "sync", "cp_async", "tma", NULL };
    int at;
    if (!opt_choice(cx, value, names, &at, "expected sync, cp_async or tma"))
        return false;
    *(CopyChoice *)field = at == 0 ? COPY_SYNC : at == 1 ? COPY_CP_ASYNC : COPY_TMA;
    return true;
}

static bool opt_COLOR(OptCx *cx, void *field, const char *value)
{
    static const char *const names[] = { "auto", "always", "never", NULL };
    int which = 0;
    bool ok = opt_choice(cx, value, names, &which, "expected auto, always or never");
    *(ColorMode *)field = (ColorMode)which;
    return ok;
}

static bool opt_FORMAT(OptCx *cx, void *field, const char *value)
{
    static const char *const names[] = { "text", "json", "sarif", NULL };
    int which = 0;
    bool ok = opt_choice(cx, value, names, &which, "expected text, json or sarif");
    *(DiagFormat *)field = (DiagFormat)which;
    return ok;
}

static bool opt_DEP_M(OptCx *cx, void *field, const char *value)
{
    (void)cx, (void)value;
    *(DepMode *)field = DEP_ONLY;
    return true;
}

static bool opt_DEP_MD(OptCx *cx, void *field, const char *value)
{
    (void)cx, (void)value;
    if (*(DepMode *)field == DEP_NONE)
        *(DepMode *)field = DEP_ALSO;
    return true;
}

static bool opt_TIME(OptCx *cx, void *field, const char *value)
{
    static const char *const names[] = { "", "json", NULL };
    int which = 0;
    bool ok = opt_choice(cx, value, names, &which, "expected json or nothing");
    *(TimeReport *)field = which ? TIME_JSON : TIME_TEXT;
    return ok;
}

static bool opt_PREFIX_MAP(OptCx *cx, void *field, const char *value)
{
    return strchr(value, '=') ? opt_LIST(cx, field, value)
                              : opt_fail(cx, value, "expected OLD=NEW");
}

/// As -MT, with what make would interpret quoted as gcc does.
static bool opt_DEP_MQ(OptCx *cx, void *field, const char *value)
{
    Buf b = { 0 };
    for (; *value; value++) {
        if (*value == '$')
            buf_putc(&b, '$');
        else if (*value == ' ' || *value == '\t' || *value == '#')
            buf_putc(&b, '\\');
        buf_putc(&b, *value);
    }
    const char *copy = arena_strndup(cx->arena, b.at ? b.at : "", b.len);
    buf_free(&b);
    return opt_LIST(cx, field, copy);
}

static bool opt_O0(OptCx *cx, void *field, const char *value)
{
    (void)cx, (void)value;
    *(int *)field = 0;
    return true;
}

static bool opt_O1(OptCx *cx, void *field, const char *value)
{
    (void)cx, (void)value;
    *(int *)field = 1;
    return true;
}

static bool opt_O2(OptCx *cx, void *field, const char *value)
{
    (void)cx, (void)value;
    *(int *)field = 2;
    return true;
}

#define opt_VERSION opt_STR
#define opt_HELP    opt_STR

static const OptRow rows[] = {
#define OPT(spelling, shape, handler, field, value_name, group, doc) \
    { spelling, SHAPE_##shape, opt_##handler, offsetof(Options, field), value_name, group, doc },
#include "driver/options.def"
#undef OPT
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

/// Does `arg` use this row? *value is its inline value, or NULL when none stands in `arg`.
static bool opt_matches(const OptRow *row, const char *arg, const char **value)
{
    size_t len = strlen(row->spelling);
    *value = NULL;
    if (strncmp(arg, row->spelling, len) != 0)
        return false;
    const char *rest = arg + len;
    switch (row->shape) {
    case SHAPE_FLAG: return *rest == '\0';
    case SHAPE_JOINED: *value = *rest ? rest : NULL; return true;
    case SHAPE_SEPARATE:
        *value = *rest == '=' ? rest + 1 : NULL;
        return *rest == '\0' || *rest == '=';
    case SHAPE_PREFIX:
        if (row->spelling[1] == 'W') {
            *value = rest;
            return *rest != '\0';
        }
        *value = rest + 1;
        return *rest == '=';
    case SHAPE_PREFIX_OPT:
        *value = *rest == '=' ? rest + 1 : "";
        return *rest == '\0' || *rest == '=';
    }
    return false;
}

/// The longest spelling that matches: -MF before -M, --header before nothing.
static const OptRow *opt_find(const char *arg, const char **value)
{
    const OptRow *best = NULL;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const char *v;
        if (opt_matches(&rows[i], arg, &v) &&
            (!best || strlen(rows[i].spelling) > strlen(best->spelling))) {
            best = &rows[i];
            *value = v;
        }
    }
    return best;
}

static bool opt_unknown(const char *arg)
{
    const char *names[ROW_COUNT];
    for (size_t i = 0; i < ROW_COUNT; i++)
        names[i] = rows[i].spelling;
    char word[64];
    size_t len = strcspn(arg, "=");
    snprintf(word, sizeof word, "%.*s", (int)(len < sizeof word ? len : sizeof word - 1), arg);
    const char *near = diag_did_you_mean(word, names, ROW_COUNT);
    if (near)
        fprintf(stderr, "newtc: error: unknown option '%s'; did you mean '%s'?\n", arg, near);
    else
        fprintf(stderr, "newtc: error: unknown option '%s'; --help lists them\n", arg);
    return false;
}

/// Splits a response file or NEWTC_FLAGS: white space separates, quotes and backslash as in a
/// shell.
void options_split(Arena *a, const char *text, StrList *out)
{
    Buf word = { 0 };
    bool in_word = false;
    char quote = 0;
    for (;; text++) {
        bool space = !quote && (*text == ' ' || *text == '\t' || *text == '\n' || *text == '\r');
        if (*text == '\0' || space) {
            if (in_word)
                VEC_PUSH(a, out, arena_strndup(a, word.at ? word.at : "", word.len));
            buf_clear(&word);
            in_word = false;
            if (*text == '\0')
                break;
            continue;
        }
        in_word = true;
        if (quote && *text == quote)
            quote = 0;
        else if (!quote && (*text == '"' || *text == '\''))
            quote = *text;
        else if (*text == '\\' && quote != '\'' && text[1])
            buf_putc(&word, *++text);
        else
            buf_putc(&word, *text);
    }
    buf_free(&word);
}

/// Replaces @FILE by the words of FILE; a file may name others, sixteen deep.
static bool opt_expand(Arena *a, const char *arg, unsigned depth, StrList *out)
{
    if (arg[0] != '@' || !arg[1]) {
        VEC_PUSH(a, out, arg);
        return true;
    }
    const char *why = NULL;
    size_t len;
    const char *text = depth < 16 ? fs_read(a, arg + 1, &len, &why) : NULL;
    if (!text) {
        fprintf(stderr, "newtc: error: cannot read response file '%s': %s\n", arg + 1,
                why ? why : "nested too deep");
        return false;
    }
    StrList words = { 0 };
    options_split(a, text, &words);
    for (uint32_t i = 0; i < words.len; i++)
        if (!opt_expand(a, words.at[i], depth + 1, out))
            return false;
    return true;
}

static bool opt_apply(OptCx *cx, const StrList *args, uint32_t *i)
{
    const char *arg = args->at[*i], *value = NULL;
    const OptRow *row = opt_find(arg, &value);
    if (!row)
        return opt_unknown(arg);
    cx->spelling = row->spelling;
    if (!value && row->shape != SHAPE_FLAG) {
        if (*i + 1 == args->len) {
            fprintf(stderr, "newtc: error: option '%s' needs a value: %s\n", row->spelling,
                    row->value_name);
            return false;
        }
        value = args->at[++*i];
    }
    return row->handler(cx, (char *)cx->out + row->field, value);
}

bool options_parse(Arena *a, int argc, char **argv, Options *out)
{
    *out = (Options){ .opt_level = 2, .max_errors = 20 };
    OptCx cx = { a, out, NULL };
    StrList args = { 0 };
    const char *flags = getenv("NEWTC_FLAGS");
    if (flags)
        options_split(a, flags, &args);
    for (int i = 1; i < argc; i++)
        if (!opt_expand(a, argv[i], 0, &args))
            return false;

    out->words = args;
    bool only_files = false;
    for (uint32_t i = 0; i < args.len; i++) {
        const char *arg = args.at[i];
        if (!only_files && strcmp(arg, "--") == 0)
            only_files = true;
        else if (only_files || arg[0] != '-' || !arg[1])
            VEC_PUSH(a, &out->inputs, arg);
        else if (!opt_apply(&cx, &args, &i))
            return false;
    }
    return true;
}

static void opt_help_row(const OptRow *row, Buf *out)
{
    static const char *const between[] = { "", " ", "=", "=", "[=" };
    char left[64];
    const char *name = row->value_name ? row->value_name : "";
    snprintf(left, sizeof left, "%s%s%s%s", row->spelling,
             !row->value_name || strcmp(row->spelling, "-W") == 0 ? "" : between[row->shape], name,
             row->shape == SHAPE_PREFIX_OPT ? "]" : "");
    if (strlen(left) > 26)
        buf_printf(out, "  %s\n  %-27s%s\n", left, "", row->doc);
    else
        buf_printf(out, "  %-26s %s\n", left, row->doc);
}

bool options_help(const char *topic, Buf *out)
{
    const char *group = "";
    bool any = false;
    if (!*topic)
        buf_puts(
            out,
            "newtc [options] file.newt...     compiles each to file.c, file.h and file.json\n");
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (*topic && strcmp(topic, rows[i].group) != 0)
            continue;
        if (strcmp(group, rows[i].group) != 0) {
            group = rows[i].group;
            buf_printf(out, "\n%s\n", group);
        }
        opt_help_row(&rows[i], out);
        any = true;
    }
    return any;
}
