// configs.c - the configurations of a kernel: @autotune and the command line's --configs.
//
// A configuration is called after its values, so that adding one renames none of the others. Those
// that -D, --num-warps or an instance make equal count once.
#include "lower/signature.h"
#include "lower/variants_impl.h"

#include <ctype.h>
#include <string.h>

/// The decorator's argument by name, or by position when `position` says so (-1: by name only).
static const AstNode *argument(const AstCall *call, const char *name, int position)
{
    for (uint32_t i = 0; i < call->keywords.len; i++)
        if (call->keywords.at[i]->kind == AST_KEYWORD && ast_keyword(call->keywords.at[i])->name &&
            strcmp(ast_keyword(call->keywords.at[i])->name->text, name) == 0)
            return ast_keyword(call->keywords.at[i])->value;
    return position >= 0 && (uint32_t)position < call->args.len ? call->args.at[position] : NULL;
}

/* ---- the list ---- */

// "BLOCK=64 num_warps=8", of the command line or of a tuning table.
static const ConstConfig *read_text(Enumerate *e, const char *text)
{
    Arena *a = e->p->arena;
    VEC(ConstVal) values = { 0 };
    ConstConfig *config = ARENA_NEW(a, ConstConfig);
    config->num_warps = config->num_stages = config->num_ctas = config->maxnreg = const_none();
    config->copy = config->persistent = const_none();
    while (*text) {
        const size_t gap = strspn(text, " "), len = strcspn(text + gap, " ");
        const char *word = text + gap, *equals = memchr(word, '=', len);
        text = word + len;
        if (!len)
            continue;
        if (!equals || equals == word) {
            diag_report(e->p->diags, DIAG_BAD_VALUE, (Span){ 0, 0 },
                        "--configs: '%.*s' is no NAME=VALUE", (int)len, word);
            return NULL;
        }
        const size_t name_len = (size_t)(equals - word);
        ConstVal value = lower_parse_literal(e->p, equals + 1, len - name_len - 1);
        const struct {
            const char *name;
            ConstVal *at;
        } settings[] = {
            { "num_warps", &config->num_warps }, { "num_stages", &config->num_stages },
            { "num_ctas", &config->num_ctas },   { "maxnreg", &config->maxnreg },
            { "copy", &config->copy },           { "persistent", &config->persistent }
        };
        bool is_setting = false;
        for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
            if (strlen(settings[i].name) == name_len &&
                memcmp(settings[i].name, word, name_len) == 0) {
                *settings[i].at = value;
                is_setting = true;
            }
        if (is_setting)
            continue;
        Str name = { arena_strndup(a, word, name_len), (uint32_t)name_len };
        VEC_PUSH(a, &values, const_str(name));
        VEC_PUSH(a, &values, value);
    }
    config->values = (ConstVal){ .kind = CONST_DICT, .v.tuple = { values.at, values.len } };
    return config;
}

static bool read_decorator(Enumerate *e, const Function *f, ConfigVec *out)
{
    const AstNode *node = argument(f->autotune, "configs", 0);
    if (!node)
        return true;  // reported by resolve
    ConstVal list = lower_const_expr(e->p, f->module, node);
    if (list.kind == CONST_ERROR)
        return false;
    const ConstVal *at = list.kind == CONST_TUPLE ? list.v.tuple.at : &list;
    const uint32_t len = list.kind == CONST_TUPLE ? list.v.tuple.len : 1;
    for (uint32_t i = 0; i < len; i++) {
        if (at[i].kind == CONST_CONFIG) {
            VEC_PUSH(e->p->arena, out, at[i].v.ref);
            continue;
        }
        diag_report(e->p->diags, DIAG_TYPE_MISMATCH, node->span,
                    "'configs' must be a list of newt.Config(...), item %u is %s", i,
                    const_kind_text(&at[i]));
        return false;
    }
    if (len == 0)
        diag_report(e->p->diags, DIAG_BAD_VALUE, node->span, "'configs' is empty");
    if (len > UNIT_MAX_CONFIGS)
        diag_report(e->p->diags, DIAG_LIMIT, node->span,
                    "kernel '%s' has %u configurations, and the limit is %d", f->name->text, len,
                    UNIT_MAX_CONFIGS);
    return len > 0 && len <= UNIT_MAX_CONFIGS;
}

// A configuration that names what this kernel does not have is meant for another one.
static bool is_for(const Function *f, const ConstConfig *config)
{
    const ConstVal *at = config->values.v.tuple.at;
    for (uint32_t i = 0; i + 1 < config->values.v.tuple.len; i += 2)
        if (lower_param_index(f, at[i].v.s.at, at[i].v.s.len) == UINT32_MAX)
            return false;
    return true;
}

/// A C name that is a keyword or a library function has an underscore behind it.
static bool is_called(const char *c_name, const char *name)
{
    const size_t len = strlen(name);
    return strncmp(c_name, name, len) == 0 && strspn(c_name + len, "_") == strlen(c_name + len);
}

static bool read_winners(Enumerate *e, const char *name, ConfigVec *out)
{
    for (uint32_t i = 0; i < e->opt->winner_count; i++) {
        if (!is_called(e->opt->winners[i].kernel, name))
            continue;
        const ConstConfig *config = read_text(e, e->opt->winners[i].text);
        if (!config)
            return false;
        VEC_PUSH(e->p->arena, out, config);
    }
    return true;
}

bool lower_configs(Enumerate *e, const Function *f, const char *name, ConfigVec *out)
{
    ConfigVec given = { 0 }, winners = { 0 };
    for (uint32_t i = 0; i < e->opt->config_count; i++) {
        if (!strchr(e->opt->configs[i], '='))
            continue;
        const ConstConfig *config = read_text(e, e->opt->configs[i]);
        if (!config)
            return false;
        if (is_for(f, config))
            VEC_PUSH(e->p->arena, &given, config);
    }
    if (given.len) {
        *out = given;
        return true;
    }
    if (!read_winners(e, name, &winners) || (f->autotune && !read_decorator(e, f, out)))
        return false;
    if (!winners.len)
        return true;
    if (!out->len)  // a tile kernel's default: every tunable as it starts
        VEC_PUSH(e->p->arena, out, read_text(e, ""));
    out->len = 1;
    for (uint32_t i = 0; i < winners.len; i++)
        VEC_PUSH(e->p->arena, out, winners.at[i]);
    return true;
}

/* ---- one configuration ---- */

static const char *const copy_names[] = { NULL, "sync", "cp_async", "tma" };  // as CopyChoice

// How tiles come to shared memory, and whether programs share blocks that stay: at most so.
static bool apply_ways(Enumerate *e, const ConstConfig *config, Settings *s)
{
    const ConstVal *stays = &config->persistent, *copy = &config->copy;
    const bool is_flag = stays->kind == CONST_BOOL ||
                         (stays->kind == CONST_INT && (stays->v.i == 0 || stays->v.i == 1));
    if (stays->kind != CONST_NONE && !is_flag) {
        diag_report(e->p->diags, DIAG_TYPE_MISMATCH, config->span,
                    "'persistent' must be True or False, got %s", const_kind_text(stays));
        return false;
    }
    s->is_flat = is_flag && !(stays->kind == CONST_BOOL ? stays->v.b : stays->v.i != 0);
    s->copies = 0;
    for (uint8_t i = 1; i < sizeof copy_names / sizeof *copy_names && copy->kind == CONST_STR; i++)
        if (copy->v.s.len == strlen(copy_names[i]) &&
            memcmp(copy->v.s.at, copy_names[i], copy->v.s.len) == 0)
            s->copies = i;
    if (copy->kind == CONST_NONE || s->copies)
        return true;
    diag_report(e->p->diags, DIAG_BAD_VALUE, config->span,
                "'copy' must be 'sync', 'cp_async' or 'tma', got %s", const_kind_text(copy));
    return false;
}

bool lower_apply_config(Enumerate *e, const Function *f, const ConstConfig *config, Settings *s)
{
    const ConstVal *at = config->values.v.tuple.at;
    int64_t registers = 0;
    for (uint32_t i = 0; i + 1 < config->values.v.tuple.len; i += 2) {
        if (at[i].kind != CONST_STR) {
            diag_report(e->p->diags, DIAG_TYPE_MISMATCH, config->span,
                        "a configuration names parameters, got %s", const_kind_text(&at[i]));
            return false;
        }
        Str name = at[i].v.s;
        const uint32_t param = lower_param_index(f, name.at, name.len);
        if (param == UINT32_MAX) {
            diag_report(e->p->diags, DIAG_BAD_CALL, config->span,
                        "'%.*s' is not a parameter of kernel '%s'", (int)name.len, name.at,
                        f->name->text);
            return false;
        }
        if (!f->params[param].is_constexpr) {
            diag_report(e->p->diags, DIAG_BAD_CALL, config->span,
                        "parameter '%s' of kernel '%s' is not a constexpr",
                        f->params[param].name->text, f->name->text);
            return false;
        }
        lower_bind_setting(s, param, at[i + 1]);
    }
    const struct {
        const ConstVal *value;
        const char *what;
        int64_t most;
        int64_t *out;
    } settings[] = { { &config->num_warps, "num_warps", 32, &s->num_warps },
                     { &config->num_stages, "num_stages", 8, &s->num_stages },
                     { &config->num_ctas, "num_ctas", LOWER_MOST_CTAS, &s->num_ctas },
                     { &config->maxnreg, "maxnreg", 255, &registers } };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (settings[i].value->kind != CONST_NONE &&
            !lower_want_count(e, *settings[i].value, config->span, settings[i].what,
                              settings[i].most, settings[i].out))
            return false;
    s->max_registers = (uint32_t)registers;
    return apply_ways(e, config, s);
}

/* ---- names ---- */

/// "BLOCK_SIZE_M" and "BLOCK_TILE_M" are M in the name of a configuration.
static Str short_name(Str name)
{
    static const char *const prefixes[] = { "BLOCK_SIZE_", "BLOCK_TILE_", "BLOCK_" };
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        const uint32_t len = (uint32_t)strlen(prefixes[i]);
        if (name.len > len && memcmp(name.at, prefixes[i], len) == 0)
            return (Str){ name.at + len, name.len - len };
    }
    return name;
}

/// Letters and digits in capitals, anything else an underscore; a minus sign is an N.
static void put_word(Buf *out, const char *at, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        const unsigned char c = (unsigned char)at[i];
        buf_putc(out, isalnum(c) ? (char)toupper(c) : c == '-' ? 'N' : '_');
    }
}

static void put_value(Buf *out, const ConstVal *value)
{
    Buf text = { 0 };
    if (value->kind == CONST_STR)
        buf_bytes(&text, value->v.s.at, value->v.s.len);
    else if (value->kind == CONST_BOOL)
        buf_putc(&text, value->v.b ? '1' : '0');
    else
        const_print(&text, value);
    put_word(out, text.at ? text.at : "", text.len);
    buf_free(&text);
}

/// The text is what --configs takes, so a string keeps its quotes.
static void name_config(const Enumerate *e, const ConstConfig *config, const Function *f,
                        const Settings *s, Buf *name, Buf *text)
{
    const ConstVal *at = config->values.v.tuple.at;
    const VariantOptions *opt = e->opt;
    const int warps = opt->num_warps ? (int)opt->num_warps : (int)s->num_warps;
    const int stages = opt->num_stages ? (int)opt->num_stages : (int)s->num_stages;
    for (uint32_t i = 0; i + 1 < config->values.v.tuple.len; i += 2) {
        const Str key = at[i].v.s, word = short_name(key);
        const ConstVal *value = &s->params[lower_param_index(f, key.at, key.len)].value;
        put_word(name, word.at, word.len);
        put_value(name, value);
        buf_putc(name, '_');
        buf_printf(text, "%.*s=", (int)key.len, key.at);
        const_print(text, value);
        buf_putc(text, ' ');
    }
    buf_printf(name, "W%d_S%d", warps, stages);
    buf_printf(text, "num_warps=%d num_stages=%d", warps, stages);
    if (s->num_ctas > 1) {
        buf_printf(name, "_C%d", (int)s->num_ctas);
        buf_printf(text, " num_ctas=%d", (int)s->num_ctas);
    }
    if (s->max_registers) {
        buf_printf(name, "_R%u", s->max_registers);
        buf_printf(text, " maxnreg=%u", s->max_registers);
    }
    if (s->copies) {
        buf_putc(name, '_');
        put_word(name, copy_names[s->copies], strlen(copy_names[s->copies]));
        buf_printf(text, " copy='%s'", copy_names[s->copies]);
    }
    if (s->is_flat) {
        buf_puts(name, "_FLAT");
        buf_puts(text, " persistent=0");
    }
}

static const char *kept(Arena *a, Buf *b)
{
    const char *text = arena_strndup(a, b->at ? b->at : "", b->len);
    buf_free(b);
    return text;
}

/// --configs: all, default, or names; explicit ones have been read before and count as all.
static bool is_selected(const Enumerate *e, const UnitBuild *b, const char *name)
{
    bool any = false;
    for (uint32_t i = 0; i < e->opt->config_count; i++) {
        const char *word = e->opt->configs[i];
        if (strcmp(word, "all") == 0 || strchr(word, '=') ||
            (strcmp(word, "default") == 0 && b->configs.len == 0) || strcmp(word, name) == 0)
            return true;
        any = true;
    }
    return !any;
}

bool lower_add_config(Enumerate *e, UnitBuild *b, const ConstConfig *config, const Settings *s)
{
    Arena *a = e->p->arena;
    Buf name_buf = { 0 }, text_buf = { 0 };
    name_config(e, config, b->unit.function, s, &name_buf, &text_buf);
    const char *name = kept(a, &name_buf), *text = kept(a, &text_buf);
    unsigned alike = 1;
    for (uint32_t i = 0; i < b->configs.len; i++) {
        if (strcmp(b->configs.at[i].text, text) == 0)
            return false;
        alike += strncmp(b->configs.at[i].name, name, strlen(name)) == 0;
    }
    if (alike > 1)  // two values that make one word
        name = arena_printf(a, "%s_%u", name, alike);
    if (!is_selected(e, b, name))
        return false;
    VEC_PUSH(a, &b->configs,
             ((UnitConfig){ name, text, s->max_registers, s->copies, s->is_flat, config->span }));
    return true;
}

/* ---- parameters ---- */

// A list of parameter names, or None.
static bool mark_params(Enumerate *e, const Function *f, const char *what, int position,
                        bool *marks)
{
    const AstNode *node = argument(f->autotune, what, position);
    ConstVal list = node ? lower_const_expr(e->p, f->module, node) : const_none();
    if (list.kind == CONST_ERROR)
        return false;
    for (uint32_t i = 0; list.kind == CONST_TUPLE && i < list.v.tuple.len; i++) {
        const ConstVal *item = &list.v.tuple.at[i];
        const uint32_t at = item->kind == CONST_STR
                                ? lower_param_index(f, item->v.s.at, item->v.s.len)
                                : UINT32_MAX;
        if (at == UINT32_MAX) {
            Buf text = { 0 };
            const_print(&text, item);
            diag_report(e->p->diags, DIAG_BAD_CALL, node->span,
                        "'%s' lists %s, which is not a parameter of kernel '%s'", what, text.at,
                        f->name->text);
            buf_free(&text);
            return false;
        }
        marks[at] = true;
    }
    if (list.kind == CONST_TUPLE || list.kind == CONST_NONE)
        return true;
    diag_report(e->p->diags, DIAG_TYPE_MISMATCH, node->span,
                "'%s' must be a list of parameter names, got %s", what, const_kind_text(&list));
    return false;
}

static bool no_hooks(Enumerate *e, const Function *f)
{
    static const char *const hooks[] = { "pre_hook", "post_hook" };
    for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++) {
        const AstNode *hook = argument(f->autotune, hooks[i], -1);
        if (!hook || hook->kind == AST_NONE)
            continue;
        diag_report(e->p->diags, DIAG_UNSUPPORTED, hook->span,
                    "'%s' of autotune runs Python code and is not compiled", hooks[i]);
        diag_help(e->p->diags, "reset_to_zero=[...] or restore_value=[...] prepare arguments "
                               "before each run");
        return false;
    }
    return true;
}

bool lower_tuned_params(Enumerate *e, const Function *f, KernelUnit *unit)
{
    unit->is_key = ARENA_NEW_N(e->p->arena, bool, f->param_count);
    unit->is_zeroed = ARENA_NEW_N(e->p->arena, bool, f->param_count);
    unit->is_restored = ARENA_NEW_N(e->p->arena, bool, f->param_count);
    // Sizes of tensors make the class of a tile kernel; without a key= all integers do.
    for (uint32_t i = 0; i < f->param_count; i++)
        unit->is_key[i] =
            f->params[i].role == PARAM_SIZE || (!f->autotune && f->params[i].role == PARAM_PLAIN);
    return !f->autotune || (no_hooks(e, f) && mark_params(e, f, "key", 1, unit->is_key) &&
                            mark_params(e, f, "reset_to_zero", 3, unit->is_zeroed) &&
                            mark_params(e, f, "restore_value", 4, unit->is_restored));
}
