// variants.c - kernels to units, units to variants. Bindings are applied in this order, later ones
// win: annotations and defaults, the signature, @newt.instance, the first autotune configuration,
// -D. Then annotations that name constexprs are evaluated, and facts give the variants.
#include "lower/variants.h"
#include "front/parse.h"
#include "lower/lower_impl.h"
#include "lower/signature.h"

#include <stdlib.h>
#include <string.h>

typedef struct Enumerate {
    Program *p;
    Module *m;
    const VariantOptions *opt;
    KernelUnits *out;
} Enumerate;

typedef struct Settings {
    int64_t num_warps, num_stages;
    const char *name;
    ParamBinding *params;
} Settings;

static uint32_t param_index(const Function *f, const char *name, size_t len)
{
    for (uint32_t i = 0; i < f->param_count; i++)
        if (f->params[i].name->len == len && memcmp(f->params[i].name->text, name, len) == 0)
            return i;
    return UINT32_MAX;
}

/* ---- which kernels ---- */

static Function *find_function(const Enumerate *e, const char *name)
{
    for (uint32_t i = 0; i < e->m->functions.len; i++)
        if (strcmp(e->m->functions.at[i]->name->text, name) == 0)
            return e->m->functions.at[i];
    return NULL;
}

static bool report_no_kernel(const Enumerate *e, const char *name)
{
    const char **names = ARENA_NEW_N(e->p->arena, const char *, e->m->functions.len);
    for (uint32_t i = 0; i < e->m->functions.len; i++)
        names[i] = e->m->functions.at[i]->name->text;
    const char *near = diag_did_you_mean(name, names, e->m->functions.len);
    diag_report(e->p->diags, DIAG_UNDEFINED_NAME, (Span){ 0, 0 }, "no kernel '%s' in '%s'", name,
                e->m->path);
    if (near)
        diag_help(e->p->diags, "did you mean '%s'?", near);
    return false;
}

/* ---- bindings ---- */

static void bind_value(Settings *s, uint32_t at, ConstVal value)
{
    s->params[at].is_constexpr = true;
    s->params[at].value = value;
}

static bool want_count(Enumerate *e, Module *m, const AstNode *n, const char *what, int64_t hi,
                       int64_t *out)
{
    if (!n)
        return true;
    ConstVal c = lower_const_expr(e->p, m, n);
    if (c.kind == CONST_ERROR)
        return false;
    if (c.kind == CONST_INT && c.v.i >= 1 && c.v.i <= hi) {
        *out = (int64_t)c.v.i;
        return true;
    }
    diag_report(e->p->diags, DIAG_BAD_VALUE, n->span, "%s must be an int from 1 to %d", what,
                (int)hi);
    return false;
}

// @newt.instance(T=float16, BLOCK=512, name="..."): keywords are constexpr parameters or settings.
static bool apply_instance(Enumerate *e, const Function *f, const AstCall *call, Settings *s)
{
    for (uint32_t i = 0; i < call->keywords.len; i++) {
        const AstKeyword *k = ast_keyword(call->keywords.at[i]);
        uint32_t at = param_index(f, k->name->text, k->name->len);
        if (at == UINT32_MAX && strcmp(k->name->text, "num_warps") == 0) {
            if (!want_count(e, f->module, k->value, "num_warps", 32, &s->num_warps))
                return false;
            continue;
        }
        if (at == UINT32_MAX && strcmp(k->name->text, "num_stages") == 0) {
            if (!want_count(e, f->module, k->value, "num_stages", 8, &s->num_stages))
                return false;
            continue;
        }
        ConstVal c = lower_const_expr(e->p, f->module, k->value);
        if (c.kind == CONST_ERROR)
            return false;
        if (at != UINT32_MAX) {
            bind_value(s, at, c);
        } else if (strcmp(k->name->text, "name") == 0 && c.kind == CONST_STR) {
            s->name = arena_strndup(e->p->arena, c.v.s.at, c.v.s.len);
        } else {
            diag_report(e->p->diags, DIAG_BAD_CALL, k->base.span,
                        "'%s' is not a parameter of kernel '%s'", k->name->text, f->name->text);
            return false;
        }
    }
    return true;
}

static const AstNode *keyword_of(const AstCall *call, const char *name)
{
    for (uint32_t i = 0; call && i < call->keywords.len; i++)
        if (call->keywords.at[i]->kind == AST_KEYWORD && ast_keyword(call->keywords.at[i])->name &&
            strcmp(ast_keyword(call->keywords.at[i])->name->text, name) == 0)
            return ast_keyword(call->keywords.at[i])->value;
    return NULL;
}

// The first configuration of @autotune(configs=[Config({...}, num_warps=, num_stages=), ...]).
static bool apply_config(Enumerate *e, const Function *f, Settings *s)
{
    const AstNode *configs = keyword_of(f->autotune, "configs");
    if (f->autotune && !configs && f->autotune->args.len)
        configs = f->autotune->args.at[0];
    if (!configs || configs->kind != AST_LIST || !ast_list(configs)->items.len)
        return true;
    AstNodes items = ast_list(configs)->items;
    if (items.len > 1)
        diag_report(e->p->diags, DIAG_DEFAULT_CONFIG, items.at[0]->span,
                    "only this configuration of %u is compiled by this version", items.len);
    if (items.at[0]->kind != AST_CALL)
        return true;
    const AstCall *config = ast_call(items.at[0]);
    const AstNode *values = config->args.len ? config->args.at[0] : keyword_of(config, "kwargs");
    s->num_stages = 3;
    if (!want_count(e, f->module, keyword_of(config, "num_warps"), "num_warps", 32,
                    &s->num_warps) ||
        !want_count(e, f->module, keyword_of(config, "num_stages"), "num_stages", 8,
                    &s->num_stages))
        return false;
    if (!values || values->kind != AST_DICT)
        return true;
    const AstDict *dict = ast_dict(values);
    for (uint32_t i = 0; i < dict->keys.len; i++) {
        const AstNode *key = dict->keys.at[i];
        Str name = key->kind == AST_STRING ? ast_string(key)->value : (Str){ "", 0 };
        uint32_t at = param_index(f, name.at, name.len);
        if (at == UINT32_MAX) {
            diag_report(e->p->diags, DIAG_BAD_CALL, key->span,
                        "'%.*s' is not a parameter of kernel '%s'", (int)name.len, name.at,
                        f->name->text);
            return false;
        }
        ConstVal c = lower_const_expr(e->p, f->module, dict->values.at[i]);
        if (c.kind == CONST_ERROR)
            return false;
        bind_value(s, at, c);
    }
    return true;
}

// -D NAME=VALUE binds a constexpr parameter of that name in every kernel that has one.
static void apply_defines(Enumerate *e, const Function *f, Settings *s)
{
    for (uint32_t i = 0; i < e->opt->define_count; i++) {
        const char *text = e->opt->defines[i], *equals = strchr(text, '=');
        if (!equals)
            continue;
        uint32_t at = param_index(f, text, (size_t)(equals - text));
        if (at != UINT32_MAX)
            bind_value(s, at, lower_parse_literal(e->p, equals + 1, strlen(equals + 1)));
    }
}

// -D of a module-level constant replaces its value; a define that names nothing is an error.
static bool define_constants(Enumerate *e)
{
    bool ok = true;
    for (uint32_t i = 0; i < e->opt->define_count; i++) {
        const char *text = e->opt->defines[i], *equals = strchr(text, '=');
        size_t len = equals ? (size_t)(equals - text) : strlen(text);
        if (!equals || !len) {
            diag_report(e->p->diags, DIAG_BAD_VALUE, (Span){ 0, 0 }, "-D%s: expected NAME=VALUE",
                        text);
            ok = false;
            continue;
        }
        Decl *d = module_find(e->m, sym_intern(e->p->syms, text, len));
        bool used = d && d->kind == DECL_CONSTANT;
        if (used) {
            d->value = lower_parse_literal(e->p, equals + 1, strlen(equals + 1));
            d->state = DECL_READY;
        }
        for (uint32_t k = 0; k < e->m->functions.len && !used; k++)
            used = param_index(e->m->functions.at[k], text, len) != UINT32_MAX;
        if (!used) {
            diag_report(e->p->diags, DIAG_UNDEFINED_NAME, (Span){ 0, 0 },
                        "-D%s: no constant or parameter has this name", text);
            ok = false;
        }
    }
    return ok;
}

// Unannotated parameters with a default that is no number (None) are bound to it; the others need a
// type.
static bool check_bound(Enumerate *e, const Function *f, const Settings *s)
{
    bool ok = true;
    for (uint32_t i = 0; i < f->param_count; i++) {
        ParamBinding *b = &s->params[i];
        if (!b->is_constexpr && !b->type && b->value.kind != CONST_ERROR)
            b->is_constexpr = true;
        if (b->is_constexpr ? b->value.kind != CONST_ERROR : b->type != NULL)
            continue;
        ok = false;
        if (b->is_constexpr) {
            diag_report(e->p->diags, DIAG_NOT_CONSTEXPR, f->params[i].span,
                        "constexpr parameter '%s' of kernel '%s' has no value",
                        f->params[i].name->text, f->name->text);
            diag_help(e->p->diags, "give a default, an @newt.instance, or -D %s=VALUE",
                      f->params[i].name->text);
        } else {
            diag_report(e->p->diags, DIAG_BAD_CALL, f->params[i].span,
                        "parameter '%s' of kernel '%s' has no type", f->params[i].name->text,
                        f->name->text);
            diag_help(e->p->diags, "annotate it, or give its type with --signature");
        }
    }
    return ok;
}

/* ---- facts ---- */

typedef struct Facts {
    ParamBinding *params;
    Buf name;
} Facts;

static void add_fact(Facts *facts, const Function *f, uint32_t at, const char *word, int64_t n)
{
    buf_printf(&facts->name, "%s%s:%s%d", facts->name.len ? " " : "", f->params[at].name->text,
               word, (int)n);
}

static ParamBinding *copy_params(Enumerate *e, const Function *f, const ParamBinding *params)
{
    ParamBinding *out = ARENA_NEW_N(e->p->arena, ParamBinding, f->param_count);
    memcpy(out, params, f->param_count * sizeof *out);
    return out;
}

// The elements in 16 bytes of the narrowest type that the kernel points to.
static int64_t wide_elements(const ParamBinding *params, uint32_t count)
{
    int64_t most = 1;
    for (uint32_t i = 0; i < count; i++)
        if (!params[i].is_constexpr && params[i].type->kind == TYPE_PTR) {
            int64_t n = 16 / (int64_t)type_elem_bytes(params[i].type->elem);
            most = n > most ? n : most;
        }
    return most;
}

// Integers that decide where memory is touched are multiples of a wide access: strides and bounds.
static void assume_multiples(Enumerate *e, Facts *facts, const Function *f, const Settings *s)
{
    const Variant plain = { .function = f,
                            .params = s->params,
                            .num_warps = (uint16_t)s->num_warps,
                            .num_stages = (uint16_t)s->num_stages,
                            .index64 = e->opt->index64,
                            .instance_name = s->name };
    IrFunc *fn = lower_kernel(e->p, &plain, e->p->arena);
    if (!fn)
        return;
    bool *reached = ARENA_NEW_N(e->p->arena, bool, fn->body->argc + 1);
    const int64_t n = wide_elements(s->params, f->param_count);
    lower_reach_addresses(fn, e->p->arena, reached);
    for (uint32_t i = 0; i < fn->body->argc; i++) {
        const uint32_t at = fn->params[i].source_index;
        ParamBinding *b = &facts->params[at];
        if (!reached[i] || n == 1 || b->type->kind != TYPE_SCALAR || !type_is_int(b->type) ||
            b->divisor % n == 0)
            continue;
        b->divisor = n;
        b->assumed = true;
        add_fact(facts, f, at, "div", n);
    }
}

// Every pointer 16-byte aligned: what wide loads and stores need.
static void assume_alignment(Facts *facts, const Function *f)
{
    for (uint32_t i = 0; i < f->param_count; i++) {
        ParamBinding *b = &facts->params[i];
        if (b->is_constexpr || b->type->kind != TYPE_PTR || b->divisor >= 16)
            continue;
        b->divisor = 16;
        b->assumed = true;
        add_fact(facts, f, i, "align", 16);
    }
}

static bool fact_error(Enumerate *e, const char *item, size_t len, const char *why)
{
    diag_report(e->p->diags, DIAG_BAD_VALUE, (Span){ 0, 0 }, "--specialize: '%.*s' %s", (int)len,
                item, why);
    diag_help(e->p->diags, "write facts as 'x:align16 n:div16 stride:1'");
    return false;
}

static bool assume_item(Enumerate *e, const Function *f, const char *item, size_t len, Facts *facts)
{
    const char *colon = memchr(item, ':', len);
    if (!colon)
        return fact_error(e, item, len, "is no fact");
    uint32_t at = param_index(f, item, (size_t)(colon - item));
    if (at == UINT32_MAX)
        return true;  // a fact about another kernel's parameter
    ParamBinding *b = &facts->params[at];
    const char *word = colon + 1;
    char *end;
    bool pointer = !b->is_constexpr && b->type->kind == TYPE_PTR;
    bool integer = !b->is_constexpr && b->type->kind == TYPE_SCALAR && type_is_int(b->type);
    bool align = strncmp(word, "align", 5) == 0, div = strncmp(word, "div", 3) == 0;
    const char *digits = word + (align ? 5 : div ? 3 : 0);
    long n = strtol(digits, &end, 10);
    if (end == digits || end != item + len || (align && !pointer) || (!align && !integer))
        return fact_error(e, item, len, "does not fit the parameter's type");
    if (!align && !div) {
        b->has_value = true;
        b->equals = n;
        add_fact(facts, f, at, "", n);
        return true;
    }
    if (n < 1 || (align && (n & (n - 1)) != 0))
        return fact_error(e, item, len, "is not possible");
    b->divisor = n;
    b->assumed = n > 1;
    add_fact(facts, f, at, align ? "align" : "div", n);
    return true;
}

static bool assume_list(Enumerate *e, const Function *f, const char *list, Facts *facts)
{
    bool ok = true;
    while (*list) {
        size_t gap = strspn(list, " ,"), len = strcspn(list + gap, " ,");
        if (len)
            ok = assume_item(e, f, list + gap, len, facts) && ok;
        list += gap + len;
    }
    return ok;
}

static void add_variant(Enumerate *e, KernelUnit *unit, const Settings *s, ParamBinding *params,
                        const char *name)
{
    uint32_t n = unit->variant_count++;
    unit->variant_names[n] = name;
    unit->variants[n] = (Variant){
        .function = unit->function,
        .params = params,
        .num_warps = (uint16_t)(e->opt->num_warps ? e->opt->num_warps : (unsigned)s->num_warps),
        .num_stages = (uint16_t)(e->opt->num_stages ? e->opt->num_stages : (unsigned)s->num_stages),
        .index64 = e->opt->index64,
        .instance_name = unit->c_name
    };
}

// The facts of a signature's hints, named; the generic variant forgets them.
static void name_assumed(Facts *facts, const Function *f)
{
    for (uint32_t i = 0; i < f->param_count; i++) {
        const ParamBinding *b = &facts->params[i];
        if (b->assumed)
            add_fact(facts, f, i, b->type->kind == TYPE_PTR ? "align" : "div", b->divisor);
        if (b->has_value)
            add_fact(facts, f, i, "", b->equals);
    }
}

static bool make_variants(Enumerate *e, KernelUnit *unit, const Settings *s)
{
    const Function *f = unit->function;
    const char *how = e->opt->specialize ? e->opt->specialize : "auto";
    unit->variants = ARENA_NEW_N(e->p->arena, Variant, 2);
    unit->variant_names = ARENA_NEW_N(e->p->arena, const char *, 2);
    Facts facts = { .params = copy_params(e, f, s->params) };
    bool ok = true;
    if (strcmp(how, "none") != 0) {
        name_assumed(&facts, f);
        if (strcmp(how, "auto") == 0) {
            assume_alignment(&facts, f);
            assume_multiples(e, &facts, f, s);
        } else
            ok = assume_list(e, f, how, &facts);
    }
    if (facts.name.len)
        add_variant(e, unit, s, facts.params,
                    arena_strndup(e->p->arena, facts.name.at, facts.name.len));
    buf_free(&facts.name);
    for (uint32_t i = 0; i < f->param_count; i++) {
        ParamBinding *b = &s->params[i];
        b->has_value = false;
        if (b->assumed) {
            b->assumed = false;
            b->divisor = 1;
        }
    }
    add_variant(e, unit, s, s->params, "generic");
    return ok;
}

/* ---- grid ---- */

static const AstNode *parse_grid(Enumerate *e, const char *text)
{
    const SourceFile *file = source_add(e->p->sources, "--grid", text, strlen(text));
    AstModule *m =
        file ? parse_file(e->p->arena, e->p->syms, e->p->sources, file, e->p->diags) : NULL;
    if (!m || m->body.len != 1 || m->body.at[0]->kind != AST_EXPR_STMT) {
        if (file && m && diag_error_count(e->p->diags) == 0)
            diag_report(e->p->diags, DIAG_SYNTAX, (Span){ file->base, file->base + file->len },
                        "--grid takes one expression");
        return NULL;
    }
    return ast_expr(m->body.at[0])->value;
}

static bool make_grid(Enumerate *e, KernelUnit *unit)
{
    const Variant *generic = &unit->variants[unit->variant_count - 1];
    const AstNode *grid = unit->function->grid;
    if (!grid && e->opt->grid && !(grid = parse_grid(e, e->opt->grid)))
        return false;
    if (!grid)
        return true;
    unit->grid = lower_grid_expr(e->p, generic, grid, e->p->arena);
    return unit->grid != NULL;
}

/* ---- units ---- */

static bool export_name(Enumerate *e, const Function *f, Settings *s)
{
    s->name = f->name->text;
    if (!f->export_name)
        return true;
    ConstVal c = lower_const_expr(e->p, f->module, f->export_name);
    if (c.kind == CONST_STR)
        s->name = arena_strndup(e->p->arena, c.v.s.at, c.v.s.len);
    else if (c.kind != CONST_ERROR && c.kind != CONST_NONE)
        diag_report(e->p->diags, DIAG_TYPE_MISMATCH, f->export_name->span,
                    "a kernel's name must be a string");
    return c.kind == CONST_STR || c.kind == CONST_NONE;
}

static bool check_warps(Enumerate *e, const Function *f, const Settings *s)
{
    int64_t warps = e->opt->num_warps ? (int64_t)e->opt->num_warps : s->num_warps;
    if (warps >= 1 && warps <= 32 && (warps & (warps - 1)) == 0)
        return true;
    Span span = f->num_warps && !e->opt->num_warps ? f->num_warps->span : f->def->name_span;
    diag_report(e->p->diags, DIAG_BAD_VALUE, span,
                "num_warps is %d, not a power of two from 1 to 32", (int)warps);
    return false;
}

static bool is_identifier(const char *name)
{
    bool ok = *name && (*name < '0' || *name > '9');
    for (; *name && ok; name++)
        ok = *name == '_' || (*name >= '0' && *name <= '9') ||
             ((*name | 0x20) >= 'a' && (*name | 0x20) <= 'z');
    return ok;
}

static bool check_name(Enumerate *e, const Function *f, const char *name)
{
    if (!is_identifier(name)) {
        diag_report(e->p->diags, DIAG_BAD_VALUE, f->def->name_span,
                    "'%s' cannot be the name of a C function", name);
        return false;
    }
    for (uint32_t i = 0; i < e->out->len; i++) {
        if (strcmp(e->out->at[i].c_name, name) != 0)
            continue;
        diag_report(e->p->diags, DIAG_BAD_VALUE, f->def->name_span,
                    "two kernels are exported as '%s'", name);
        diag_note(e->p->diags, e->out->at[i].function->def->name_span, "the other one");
        diag_help(e->p->diags, "give each instance a name=\"...\"");
        return false;
    }
    return true;
}

static bool add_unit(Enumerate *e, Function *f, const AstCall *instance)
{
    Settings s = { .num_warps = 4, .num_stages = 3 };
    s.params = ARENA_NEW_N(e->p->arena, ParamBinding, f->param_count);
    if (!export_name(e, f, &s) ||
        !want_count(e, f->module, f->num_warps, "num_warps", 32, &s.num_warps) ||
        !want_count(e, f->module, f->num_stages, "num_stages", 8, &s.num_stages) ||
        !lower_bind_params(e->p, f, s.params))
        return false;
    if (e->opt->signature && e->opt->kernel_count == 1 &&
        !lower_apply_signature(e->p, f, e->opt->signature, s.params))
        return false;
    if (!apply_config(e, f, &s) || (instance && !apply_instance(e, f, instance, &s)))
        return false;
    apply_defines(e, f, &s);
    if (!lower_annotations(e->p, f, s.params) || !check_bound(e, f, &s) || !check_warps(e, f, &s) ||
        !check_name(e, f, s.name))
        return false;
    KernelUnit unit = { .function = f, .c_name = s.name };
    if (!make_variants(e, &unit, &s) || !make_grid(e, &unit))
        return false;
    VEC_PUSH(e->p->arena, e->out, unit);
    return true;
}

static bool add_function(Enumerate *e, Function *f)
{
    if (f->kind == FUNC_TILE) {
        diag_report(e->p->diags, DIAG_UNSUPPORTED, f->def->name_span,
                    "tile kernels are not compiled by this version yet");
        return false;
    }
    if (!f->instances.len)
        return add_unit(e, f, NULL);
    bool ok = true;
    for (uint32_t i = 0; i < f->instances.len; i++)
        ok = add_unit(e, f, f->instances.at[i]) && ok;
    return ok;
}

bool lower_enumerate(Program *p, Module *m, const VariantOptions *opt, KernelUnits *out)
{
    Enumerate e = { .p = p, .m = m, .opt = opt, .out = out };
    bool ok = define_constants(&e);
    if (opt->signature && opt->kernel_count != 1) {
        diag_report(p->diags, DIAG_BAD_VALUE, (Span){ 0, 0 },
                    "--signature needs exactly one --kernel");
        return false;
    }
    for (uint32_t i = 0; i < opt->kernel_count; i++) {
        Function *f = find_function(&e, opt->kernels[i]);
        ok = (f ? add_function(&e, f) : report_no_kernel(&e, opt->kernels[i])) && ok;
    }
    for (uint32_t i = 0; i < m->functions.len && !opt->kernel_count; i++) {
        FuncKind kind = m->functions.at[i]->kind;
        if (kind == FUNC_KERNEL || kind == FUNC_TILE)
            ok = add_function(&e, m->functions.at[i]) && ok;
    }
    return ok;
}
