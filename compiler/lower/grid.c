// grid.c - a kernel's grid expression, and other values that the launcher computes, as functions of
// its run-time parameters.
//
// The grid is a tuple of one to three integers, or a lambda over the kernel's own parameters. It is
// lowered like any expression; integers are int64 there, so that no product of extents wraps.
#include "lower/view.h"

static bool bind_parameters(Lower *cx, const Variant *v)
{
    const Function *f = v->function;
    IrValue **args = ARENA_NEW_N(cx->arena, IrValue *, f->param_count);
    const Type *i64 = type_scalar(cx->program->types, SCALAR_I64);
    for (uint32_t i = 0; i < f->param_count; i++) {
        const ParamBinding *b = &v->params[i];
        Sym name = f->params[i].name;
        Val value = lower_from_const(cx, b->value);
        if (!b->is_constexpr && !b->type)
            return false;  // of a heuristic, before the kernel's own check of its parameters
        if (!b->is_constexpr) {
            bool integer =
                b->type->kind == TYPE_SCALAR && (type_is_int(b->type) || type_is_bool(b->type));
            IrValue *arg = ir_func_param(cx->b.fn, name, integer ? i64 : b->type);
            IrParam *param = &cx->b.fn->params[cx->b.fn->body->argc - 1];
            param->source_index = i;
            value = val_of(args[i] = arg);
        }
        if (!f->params[i].is_hidden)
            lower_bind(cx, lower_slot_of(cx, name), value, f->params[i].span);
    }
    return lower_bind_descriptors(cx, f, args);
}

static bool is_parameter(const Function *f, Sym name)
{
    for (uint32_t k = 0; k < f->param_count; k++)
        if (f->params[k].name == name && !f->params[k].is_hidden)
            return true;
    return false;
}

// A lambda's parameters are the kernel's by name, or one of another name that holds them all:
// Triton's `lambda META: (cdiv(n, META["BLOCK"]),)`.
static bool take_lambda(Lower *cx, const Function *f, const AstLambda *n)
{
    for (uint32_t i = 0; i < n->params.len; i++) {
        if (n->params.at[i]->kind != AST_PARAM)
            return false;
        Sym name = ast_param(n->params.at[i])->name;
        if (is_parameter(f, name))
            continue;
        if (n->params.len == 1) {
            cx->meta = name;
            return true;
        }
        lower_error(cx, DIAG_UNDEFINED_NAME, n->params.at[i]->span,
                    "'%s' is not a parameter of kernel '%s'", name->text, f->name->text);
        diag_help(cx->consts.diags, "the lambda names parameters of its kernel, or has one "
                                    "parameter and reads them as args[\"name\"]");
        return false;
    }
    return true;
}

Val lower_meta_item(Lower *cx, const AstSubscript *n)
{
    const AstNode *index = n->indices.len == 1 ? n->indices.at[0] : NULL;
    if (!index || index->kind != AST_STRING) {
        lower_error(cx, DIAG_TYPE_MISMATCH, n->base.span, "'%s' holds the parameters by name",
                    cx->meta->text);
        diag_help(cx->consts.diags, "write %s[\"name\"]", cx->meta->text);
        return val_error();
    }
    Str text = ast_string(index)->value;
    Sym name = sym_intern(cx->program->syms, text.at, text.len);
    uint32_t slot = lower_slot_find(cx->frame, name);
    if (slot != UINT32_MAX)
        return lower_read_slot(cx, slot, n->base.span);
    lower_error(cx, DIAG_UNDEFINED_NAME, index->span, "the kernel has no parameter '%s'",
                name->text);
    return val_error();
}

// An integer as the launcher computes it; `what` says what it is for.
static IrValue *take_integer(Lower *cx, Val v, const char *what, Span span)
{
    const Type *t = lower_type_of(cx, v);
    if (t->kind == TYPE_SCALAR && (type_is_int(t) || type_is_bool(t)))
        return lower_value_as(cx, v, type_scalar(cx->program->types, SCALAR_I64), what, span);
    if (v.kind == VAL_CONST && v.c.kind == CONST_INT)
        lower_error(cx, DIAG_BAD_VALUE, span, "%s does not fit int64", what);
    else if (v.kind != VAL_ERROR)
        lower_error(cx, DIAG_TYPE_MISMATCH, span, "%s must be an integer, got %s", what,
                    lower_text(cx, v));
    return NULL;
}

static bool take_extents(Lower *cx, Val v, Span span, IrValue **out)
{
    const Type *i64 = type_scalar(cx->program->types, SCALAR_I64);
    Val *at = v.kind == VAL_TUPLE ? v.tuple.at : &v;
    uint32_t n = v.kind == VAL_TUPLE ? v.tuple.len : 1;
    if (v.kind == VAL_ERROR)
        return false;
    if (n < 1 || n > 3) {
        lower_error(cx, DIAG_BAD_VALUE, span, "a grid has one to three extents, this has %u", n);
        return false;
    }
    for (uint32_t i = 0; i < 3; i++) {
        const char *what = arena_printf(cx->arena, "grid extent %u", i);
        if (i < n && at[i].kind == VAL_CONST && at[i].c.kind == CONST_INT && at[i].c.v.i < 0) {
            lower_error(cx, DIAG_BAD_VALUE, span, "%s is negative", what);
            return false;
        }
        out[i] = i < n ? take_integer(cx, at[i], what, span) : ir_const_int(&cx->b, i64, 1);
        if (!out[i])
            return false;
    }
    return true;
}

static bool take_value(Lower *cx, Val v, Span span, IrValue **out)
{
    const Type *i64 = type_scalar(cx->program->types, SCALAR_I64);
    out[0] = take_integer(cx, v, "a heuristic's value", span);
    out[1] = out[2] = ir_const_int(&cx->b, i64, 1);
    return out[0] != NULL;
}

/// Takes the three results of a launch function out of what its expression gave.
typedef bool TakeResults(Lower *cx, Val v, Span span, IrValue **out);

static IrFunc *launch_function(Program *p, const Variant *variant, const AstLambda *lambda,
                               const AstNode *e, Arena *a, TakeResults *take)
{
    const Function *f = variant->function;
    Lower *cx = lower_new(p, a, f->module);
    IrFunc *fn = cx->b.fn;
    fn->name = sym_of(
        p->syms, arena_printf(a, "%s_grid",
                              variant->instance_name ? variant->instance_name : f->name->text));
    fn->span = e->span;
    if (!bind_parameters(cx, variant) || (lambda && !take_lambda(cx, f, lambda)))
        return NULL;
    unsigned before = diag_error_met(p->diags);
    IrValue *results[3];
    cx->b.span = e->span;
    if (!take(cx, lower_expr(cx, e), e->span, results) || diag_error_met(p->diags) != before)
        return NULL;
    ir_op0(&cx->b, IR_RETURN, 3, results);
    ir_apply_replacements(fn);
    return fn;
}

IrFunc *lower_grid(Program *p, const Variant *variant, Arena *a)
{
    const Function *f = variant->function;
    return f->grid ? lower_grid_expr(p, variant, f->grid, a) : NULL;
}

/// The parameter that an extent is, also in pieces of 1.
static const IrValue *extent_param(const IrValue *v)
{
    while (v->def) {
        const IrOp *op = v->def;
        const bool is_whole = op->code == IR_CDIV && ir_is_const(op->args[1]) &&
                              op->args[1]->def->attr.konst.i == 1;
        if (op->code != IR_CAST && !is_whole)
            return NULL;
        v = op->args[0];
    }
    return v;
}

void lower_mark_grid(IrFunc *fn, const IrFunc *grid)
{
    for (unsigned axis = 0; grid && axis < 3; axis++) {
        const IrValue *param = extent_param(grid->body->last->args[axis]);
        if (param && type_is_int(fn->body->args[param->index]->type))
            fn->params[param->index].grid_axis = (uint8_t)(axis + 1);
    }
}

IrFunc *lower_grid_expr(Program *p, const Variant *variant, const AstNode *e, Arena *a)
{
    const AstLambda *lambda = e->kind == AST_LAMBDA ? ast_lambda(e) : NULL;
    return launch_function(p, variant, lambda, lambda ? lambda->body : e, a, take_extents);
}

IrFunc *lower_launch_value(Program *p, const Variant *variant, const AstLambda *lambda,
                           const AstNode *e, Arena *a)
{
    return launch_function(p, variant, lambda, e, a, take_value);
}
