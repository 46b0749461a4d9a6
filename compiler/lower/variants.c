// variants.c - kernels to units, units to variants. Bindings are applied in this order, later ones
// win: annotations and defaults, the signature, @newt.instance, the first autotune configuration,
// -D. Then annotations that name constexprs are evaluated, and facts give the variants.
#include "front/parse.h"
#include "lower/signature.h"
#include "lower/variants_impl.h"

#include <string.h>

uint32_t lower_param_index(const Function *f, const char *name, size_t len)
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

Settings lower_settings_copy(Enumerate *e, const Function *f, const Settings *s)
{
    Settings out = *s;
    out.params = ARENA_NEW_N(e->p->arena, ParamBinding, f->param_count);
    memcpy(out.params, s->params, f->param_count * sizeof *out.params);
    return out;
}

void lower_bind_setting(Settings *s, uint32_t at, ConstVal value)
{
    s->params[at].is_constexpr = true;
    s->params[at].is_given = true;
    s->params[at].value = value;
}

bool lower_want_count(Enumerate *e, ConstVal value, Span span, const char *what, int64_t hi,
                      int64_t *out)
{
    if (value.kind == CONST_ERROR)
        return false;
    if (value.kind == CONST_INT && value.v.i >= 1 && value.v.i <= hi) {
        *out = (int64_t)value.v.i;
        return true;
    }
    diag_report(e->p->diags, DIAG_BAD_VALUE, span, "%s must be an int from 1 to %d", what, (int)hi);
    return false;
}

static bool want_count(Enumerate *e, Module *m, const AstNode *n, const char *what, int64_t hi,
                       int64_t *out)
{
    return !n || lower_want_count(e, lower_const_expr(e->p, m, n), n->span, what, hi, out);
}

// @newt.instance(T=float16, BLOCK=512, name="..."): keywords are constexpr parameters or settings.
static bool apply_instance(Enumerate *e, const Function *f, const AstCall *call, Settings *s)
{
    for (uint32_t i = 0; i < call->keywords.len; i++) {
        const AstKeyword *k = ast_keyword(call->keywords.at[i]);
        uint32_t at = lower_param_index(f, k->name->text, k->name->len);
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
        if (at == UINT32_MAX && strcmp(k->name->text, "num_ctas") == 0) {
            if (!want_count(e, f->module, k->value, "num_ctas", LOWER_MOST_CTAS, &s->num_ctas))
                return false;
            continue;
        }
        ConstVal c = lower_const_expr(e->p, f->module, k->value);
        if (c.kind == CONST_ERROR)
            return false;
        if (at != UINT32_MAX) {
            lower_bind_setting(s, at, c);
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

// -D NAME=VALUE binds a constexpr parameter of that name in every kernel that has one.
static void apply_defines(Enumerate *e, const Function *f, Settings *s)
{
    for (uint32_t i = 0; i < e->opt->define_count; i++) {
        const char *text = e->opt->defines[i], *equals = strchr(text, '=');
        if (!equals)
            continue;
        uint32_t at = lower_param_index(f, text, (size_t)(equals - text));
        if (at != UINT32_MAX)
            lower_bind_setting(s, at, lower_parse_literal(e->p, equals + 1, strlen(equals + 1)));
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
            used = lower_param_index(e->m->functions.at[k], text, len) != UINT32_MAX;
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
        const AstNode *annotation = f->params[i].annotation;
        const Param *needed = annotation ? lower_unbound(f, s->params, annotation) : NULL;
        if (b->is_constexpr) {
            diag_report(e->p->diags, DIAG_NOT_CONSTEXPR, f->params[i].span,
                        "constexpr parameter '%s' of kernel '%s' has no value",
                        f->params[i].name->text, f->name->text);
            diag_help(e->p->diags, "give a default, an @newt.instance, or -D %s=VALUE",
                      f->params[i].name->text);
        } else if (needed) {
            diag_report(e->p->diags, DIAG_NOT_CONSTEXPR, f->params[i].span,
                        "the type of parameter '%s' of kernel '%s' needs the value of '%s'",
                        f->params[i].name->text, f->name->text, needed->name->text);
            diag_help(e->p->diags, "declare it '%s: constexpr' and give it one",
                      needed->name->text);
        } else {
            diag_report(e->p->diags, DIAG_BAD_CALL, f->params[i].span,
                        "parameter '%s' of kernel '%s' has no type", f->params[i].name->text,
                        f->name->text);
            diag_help(e->p->diags, "annotate it, or give its type with --signature");
        }
    }
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

static bool make_grid(Enumerate *e, const Variant *generic, IrFunc **out)
{
    const AstNode *grid = generic->function->grid;
    if (grid && e->opt->grid && e->opt->kernel_count > 0) {
        diag_report(e->p->diags, DIAG_BAD_VALUE, grid->span, "'%s' has a grid, and --grid another",
                    generic->function->name->text);
        return false;
    }
    if (!grid && e->opt->grid && !(grid = parse_grid(e, e->opt->grid)))
        return false;
    if (!grid)
        return true;
    *out = lower_grid_expr(e->p, generic, grid, e->p->arena);
    return *out != NULL;
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

bool lower_add_form(Enumerate *e, UnitBuild *b, Settings *s)
{
    Function *f = (Function *)b->unit.function;
    UnitForm form = { .config = b->configs.len ? b->configs.len - 1 : 0,
                      .first_variant = b->variants.len };
    if (b->forms.len == UNIT_MAX_FORMS) {
        diag_report(e->p->diags, DIAG_LIMIT, f->def->name_span,
                    "kernel '%s' has more than %d configurations and values of heuristics",
                    f->name->text, UNIT_MAX_FORMS);
        return false;
    }
    if (f->heuristics && !lower_annotations(e->p, f, s->params))
        return false;
    if (!check_bound(e, f, s) || !check_warps(e, f, s) || !lower_make_variants(e, b, s))
        return false;
    Variant *general = ARENA_NEW(e->p->arena, Variant);
    *general = b->variants.at[b->variants.len - 1];
    form.general = general;
    if (!lower_keep_fitting(e, b, form.first_variant))
        return false;
    form.variant_count = b->variants.len - form.first_variant;
    form.choice_count = s->choice_count;
    UnitChoice *choices = ARENA_NEW_N(e->p->arena, UnitChoice, (size_t)s->choice_count + 1);
    memcpy(choices, s->choices, s->choice_count * sizeof *choices);
    form.choices = choices;
    if (!make_grid(e, general, &form.grid))
        return false;
    VEC_PUSH(e->p->arena, &b->forms, form);
    return true;
}

// The forms of one configuration, or of a kernel without any.
static bool add_config(Enumerate *e, UnitBuild *b, const AstCall *instance,
                       const ConstConfig *config, const Settings *base)
{
    Function *f = (Function *)b->unit.function;
    Settings s = lower_settings_copy(e, f, base);
    if ((config && !lower_apply_config(e, f, config, &s)) ||
        (instance && !apply_instance(e, f, instance, &s)))
        return false;
    apply_defines(e, f, &s);
    if (!lower_annotations(e->p, f, s.params))
        return false;
    if (config && !lower_add_config(e, b, config, &s))
        return true;
    return lower_add_forms(e, b, &s);
}

static bool add_unit(Enumerate *e, Function *f, const AstCall *instance)
{
    Settings s = { .num_warps = 4, .num_stages = 3, .num_ctas = 1 };
    ConfigVec configs = { 0 };
    s.params = ARENA_NEW_N(e->p->arena, ParamBinding, f->param_count);
    // The instance is applied now for its name, and after each configuration for its values.
    if (!export_name(e, f, &s) || (instance && !apply_instance(e, f, instance, &s)) ||
        !want_count(e, f->module, f->num_warps, "num_warps", 32, &s.num_warps) ||
        !want_count(e, f->module, f->num_stages, "num_stages", 8, &s.num_stages) ||
        !want_count(e, f->module, f->num_ctas, "num_ctas", LOWER_MOST_CTAS, &s.num_ctas) ||
        !lower_bind_params(e->p, f, s.params))
        return false;
    if (e->opt->signature && e->opt->kernel_count == 1 &&
        !lower_apply_signature(e->p, f, e->opt->signature, s.params))
        return false;
    UnitBuild b = { .unit = { .function = f, .c_name = s.name } };
    if (!check_name(e, f, s.name) || !lower_configs(e, f, s.name, &configs) ||
        !lower_tuned_params(e, f, &b.unit))
        return false;
    for (uint32_t i = 0; i < configs.len; i++)
        if (!add_config(e, &b, instance, configs.at[i], &s))
            return false;
    if (!configs.len && !add_config(e, &b, instance, NULL, &s))
        return false;
    if (configs.len && !b.configs.len) {
        diag_report(e->p->diags, DIAG_BAD_VALUE, f->def->name_span,
                    "--configs names no configuration of '%s'", f->name->text);
        diag_help(e->p->diags, "the manifest that --configs=all gives lists them");
        return false;
    }
    b.unit.variants = b.variants.at;
    b.unit.variant_names = b.names.at;
    b.unit.variant_count = b.variants.len;
    b.unit.forms = b.forms.at;
    b.unit.form_count = b.forms.len;
    b.unit.configs = b.configs.at;
    b.unit.config_count = b.configs.len;
    VEC_PUSH(e->p->arena, e->out, b.unit);
    return true;
}

static bool add_function(Enumerate *e, Function *f)
{
    if (f->kind == FUNC_TILE)  // with a fault that was reported
        return false;
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
