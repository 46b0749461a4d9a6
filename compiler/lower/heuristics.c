// heuristics.c - @heuristics: constexprs that the launcher computes from the arguments.
//
// Ahead of time every value that one can take needs its variants, so the expression is asked what
// it can be: a comparison is true or false, a choice is one of its arms, next_power_of_2 is a power
// of two that min() bounds. Each value then binds the parameter for the heuristics after it, and
// the launcher compares what it computes with the value that the variants were compiled for.
#include "lower/variants_impl.h"

#include <string.h>

enum { DOMAIN_MAX = 32, POWERS = 63 };

/// What an expression can be.
typedef struct Domain {
    enum { DOMAIN_ANY, DOMAIN_POWERS, DOMAIN_FINITE } kind;
    ConstVal at[DOMAIN_MAX];
    uint32_t len;
} Domain;

typedef struct Heuristic {
    Enumerate *e;
    const Function *f;
    const Settings *s;
    const AstLambda *lambda;
    Sym name;
} Heuristic;

static Domain domain_any(void)
{
    return (Domain){ .kind = DOMAIN_ANY };
}

/// Adds a value unless it is there; one too many makes the domain infinite.
static void domain_add(Domain *d, ConstVal v)
{
    for (uint32_t i = 0; i < d->len; i++)
        if (d->at[i].kind == v.kind && const_equal(&d->at[i], &v))
            return;
    if (d->kind != DOMAIN_FINITE || d->len == DOMAIN_MAX)
        d->kind = DOMAIN_ANY;
    else
        d->at[d->len++] = v;
}

static Domain domain_of(ConstVal v)
{
    Domain d = { .kind = DOMAIN_FINITE };
    domain_add(&d, v);
    return d;
}

static Domain domain_bool(void)
{
    Domain d = domain_of(const_bool(false));
    domain_add(&d, const_bool(true));
    return d;
}

static Domain domain_union(Domain a, Domain b)
{
    if (a.kind != DOMAIN_FINITE || b.kind != DOMAIN_FINITE)
        return domain_any();
    for (uint32_t i = 0; i < b.len; i++)
        domain_add(&a, b.at[i]);
    return a;
}

/// min and max of every pair. Powers of two below the largest of the other side are finite.
static Domain domain_extreme(Domain a, Domain b, bool is_max)
{
    if (a.kind == DOMAIN_POWERS && b.kind == DOMAIN_FINITE) {
        Domain swap = a;
        a = b;
        b = swap;
    }
    if (a.kind != DOMAIN_FINITE || b.kind == DOMAIN_ANY)
        return domain_any();
    Domain out = { .kind = DOMAIN_FINITE };
    for (uint32_t i = 0; i < a.len; i++) {
        if (a.at[i].kind != CONST_INT)
            return domain_any();
        for (uint32_t k = 0; k < (b.kind == DOMAIN_POWERS ? POWERS : b.len); k++) {
            const Int128 x = a.at[i].v.i, y = b.kind == DOMAIN_POWERS     ? (Int128)1 << k
                                              : b.at[k].kind == CONST_INT ? b.at[k].v.i
                                                                          : 0;
            if (b.kind == DOMAIN_FINITE && b.at[k].kind != CONST_INT)
                return domain_any();
            domain_add(&out, const_int(is_max ? (x > y ? x : y) : (x < y ? x : y)));
        }
    }
    return out;
}

/* ---- expressions ---- */

static Domain domain_of_expr(const Heuristic *h, const AstNode *n);

static Variant plain_variant(const Heuristic *h)
{
    return (Variant){ .function = h->f,
                      .params = h->s->params,
                      .num_warps = 4,
                      .num_stages = 1,
                      .num_ctas = 1,
                      .index64 = h->e->opt->index64,
                      .instance_name = h->s->name };
}

/// The value of a part that depends on constants only; CONST_ERROR otherwise.
static ConstVal constant_of(const Heuristic *h, const AstNode *n)
{
    const Variant v = plain_variant(h);
    DiagSink *diags = h->e->p->diags;
    const bool was_muted = diags->muted;
    diags->muted = true;  // a part on its own may be anything: a callee, a string
    IrFunc *fn = lower_launch_value(h->e->p, &v, h->lambda, n, h->e->p->arena);
    diags->muted = was_muted;
    const IrOp *last = fn ? fn->body->last : NULL;
    const IrOp *def = last && last->argc ? last->args[0]->def : NULL;
    return def && def->code == IR_CONST ? const_int(def->attr.konst.i) : const_error();
}

static Domain domain_of_call(const Heuristic *h, const AstCall *call)
{
    const Variant v = plain_variant(h);
    ConstVal callee = lower_const_expr(h->e->p, v.function->module, call->callee);
    const int id = callee.kind == CONST_BUILTIN ? (int)((const Builtin *)callee.v.ref)->id : -1;
    if (id == BUILTIN_NEXT_POWER_OF_2)
        return (Domain){ .kind = DOMAIN_POWERS };
    if (id != BUILTIN_PY_MIN && id != BUILTIN_PY_MAX)
        return domain_any();
    Domain out = domain_any();
    for (uint32_t i = 0; i < call->args.len; i++) {
        Domain next = domain_of_expr(h, call->args.at[i]);
        out = i ? domain_extreme(out, next, id == BUILTIN_PY_MAX) : next;
    }
    return out;
}

/// args["n"], or n: a parameter of type int1 is a bool.
static Domain domain_of_name(const Heuristic *h, Str name)
{
    const uint32_t at = lower_param_index(h->f, name.at, name.len);
    const ParamBinding *b = at == UINT32_MAX ? NULL : &h->s->params[at];
    return b && !b->is_constexpr && b->type && type_is_bool(b->type) ? domain_bool() : domain_any();
}

static Domain domain_of_expr(const Heuristic *h, const AstNode *n)
{
    const ConstVal c = constant_of(h, n);
    if (n->kind == AST_TERNARY) {
        const AstTernary *t = ast_ternary(n);
        const ConstVal cond = constant_of(h, t->cond);
        if (cond.kind == CONST_INT)
            return domain_of_expr(h, cond.v.i ? t->then : t->orelse);
        return domain_union(domain_of_expr(h, t->then), domain_of_expr(h, t->orelse));
    }
    const bool is_truth = n->kind == AST_COMPARE || n->kind == AST_BOOL ||
                          (n->kind == AST_UNARY && ast_unary(n)->op == AST_NOT);
    if (c.kind == CONST_INT)
        return domain_of(is_truth ? const_bool(c.v.i != 0) : c);
    if (is_truth)
        return domain_bool();
    if (n->kind == AST_LOGIC) {
        Domain out = domain_of_expr(h, ast_logic(n)->operands.at[0]);
        for (uint32_t i = 1; i < ast_logic(n)->operands.len; i++)
            out = domain_union(out, domain_of_expr(h, ast_logic(n)->operands.at[i]));
        return out;
    }
    if (n->kind == AST_CALL)
        return domain_of_call(h, ast_call(n));
    if (n->kind == AST_NAME)
        return domain_of_name(h, (Str){ ast_name(n)->name->text, ast_name(n)->name->len });
    const AstNode *index = n->kind == AST_SUBSCRIPT && ast_subscript(n)->indices.len == 1
                               ? ast_subscript(n)->indices.at[0]
                               : NULL;
    return index && index->kind == AST_STRING ? domain_of_name(h, ast_string(index)->value)
                                              : domain_any();
}

/* ---- forms ---- */

static bool add_forms_from(Enumerate *e, UnitBuild *b, const AstDict *dict, uint32_t index,
                           Settings *s);

static bool report_infinite(const Heuristic *h)
{
    diag_report(h->e->p->diags, DIAG_HEURISTIC, h->lambda->body->span,
                "the values that '%s' can have are not known ahead of time", h->name->text);
    diag_help(h->e->p->diags,
              "give it a finite number of them: a comparison, a choice between constants, or "
              "min(4096, next_power_of_2(...))");
    return false;
}

/// Binds what the heuristic sets: a constexpr parameter, num_warps or num_stages.
static bool bind_result(const Heuristic *h, Settings *s, ConstVal value, Span span)
{
    Enumerate *e = h->e;
    const uint32_t at = lower_param_index(h->f, h->name->text, h->name->len);
    if (at != UINT32_MAX && h->f->params[at].is_constexpr) {
        lower_bind_setting(s, at, value);
        return true;
    }
    if (at != UINT32_MAX) {
        diag_report(e->p->diags, DIAG_BAD_CALL, span,
                    "parameter '%s' of kernel '%s' is not a constexpr", h->name->text,
                    h->f->name->text);
        return false;
    }
    if (strcmp(h->name->text, "num_warps") == 0)
        return lower_want_count(e, value, span, "num_warps", 32, &s->num_warps);
    if (strcmp(h->name->text, "num_stages") == 0)
        return lower_want_count(e, value, span, "num_stages", 8, &s->num_stages);
    diag_report(e->p->diags, DIAG_BAD_CALL, span, "'%s' is not a parameter of kernel '%s'",
                h->name->text, h->f->name->text);
    return false;
}

static bool add_values(const Heuristic *h, UnitBuild *b, const AstDict *dict, uint32_t index)
{
    Enumerate *e = h->e;
    const Variant v = plain_variant(h);
    const unsigned before = diag_error_met(e->p->diags);
    IrFunc *fn = lower_launch_value(e->p, &v, h->lambda, h->lambda->body, e->p->arena);
    if (!fn) {
        if (diag_error_met(e->p->diags) == before)
            diag_report(e->p->diags, DIAG_HEURISTIC, h->lambda->body->span,
                        "'%s' depends on a parameter that has no value yet", h->name->text);
        return false;
    }
    fn->name =
        sym_of(e->p->syms, arena_printf(e->p->arena, "%s_%s", b->unit.c_name, h->name->text));
    const Domain domain = domain_of_expr(h, h->lambda->body);
    if (domain.kind != DOMAIN_FINITE)
        return report_infinite(h);
    for (uint32_t i = 0; i < domain.len; i++) {
        Settings next = lower_settings_copy(e, h->f, h->s);
        if (!bind_result(h, &next, domain.at[i], dict->keys.at[index]->span))
            return false;
        if (domain.len > 1 && next.choice_count == UNIT_MAX_CHOICES) {
            diag_report(e->p->diags, DIAG_LIMIT, dict->keys.at[index]->span,
                        "at most %d heuristics can depend on arguments", UNIT_MAX_CHOICES);
            return false;
        }
        const int64_t equals =
            domain.at[i].kind == CONST_BOOL ? domain.at[i].v.b : (int64_t)domain.at[i].v.i;
        if (domain.len > 1)
            next.choices[next.choice_count++] = (UnitChoice){ h->name->text, fn, equals };
        if (!add_forms_from(e, b, dict, index + 1, &next))
            return false;
    }
    return true;
}

static bool add_forms_from(Enumerate *e, UnitBuild *b, const AstDict *dict, uint32_t index,
                           Settings *s)
{
    if (!dict || index == dict->keys.len)
        return lower_add_form(e, b, s);
    const AstNode *key = dict->keys.at[index], *value = dict->values.at[index];
    if (key->kind != AST_STRING || value->kind != AST_LAMBDA) {
        diag_report(e->p->diags, DIAG_TYPE_MISMATCH,
                    key->kind != AST_STRING ? key->span : value->span,
                    "'heuristics' takes a dict of parameter names and lambdas");
        return false;
    }
    const Str name = ast_string(key)->value;
    const Heuristic h = { e, b->unit.function, s, ast_lambda(value),
                          sym_intern(e->p->syms, name.at, name.len) };
    return add_values(&h, b, dict, index);
}

bool lower_add_forms(Enumerate *e, UnitBuild *b, Settings *s)
{
    const AstCall *call = b->unit.function->heuristics;
    const AstNode *values = NULL;
    if (call && call->args.len)
        values = call->args.at[0];
    else if (call && call->keywords.len && call->keywords.at[0]->kind == AST_KEYWORD)
        values = ast_keyword(call->keywords.at[0])->value;
    if (call && (!values || values->kind != AST_DICT)) {
        diag_report(e->p->diags, DIAG_TYPE_MISMATCH, call->base.span,
                    "'heuristics' takes a dict of parameter names and lambdas");
        return false;
    }
    return add_forms_from(e, b, values ? ast_dict(values) : NULL, 0, s);
}
