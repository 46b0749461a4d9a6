// grid.c - a kernel's grid expression as a function of its run-time parameters.
//
// The grid is a tuple of one to three integers, or a lambda over the kernel's own parameters. It is
// lowered like any expression; integers are int64 there, so that no product of extents wraps.
#include "lower/lower_impl.h"

static void bind_parameters(Lower *cx, const Variant *v)
{
    const Function *f = v->function;
    const Type *i64 = type_scalar(cx->program->types, SCALAR_I64);
    for (uint32_t i = 0; i < f->param_count; i++) {
        const ParamBinding *b = &v->params[i];
        Sym name = f->params[i].name;
        Val value = lower_from_const(cx, b->value);
        if (!b->is_constexpr) {
            bool integer =
                b->type->kind == TYPE_SCALAR && (type_is_int(b->type) || type_is_bool(b->type));
            IrValue *arg = ir_func_param(cx->b.fn, name, integer ? i64 : b->type);
            IrParam *param = &cx->b.fn->params[cx->b.fn->body->argc - 1];
            param->source_index = i;
            value = val_of(arg);
        }
        lower_bind(cx, lower_slot_of(cx, name), value, f->params[i].span);
    }
}

static bool check_lambda(Lower *cx, const Function *f, const AstLambda *n)
{
    for (uint32_t i = 0; i < n->params.len; i++) {
        if (n->params.at[i]->kind != AST_PARAM)
            return false;
        Sym name = ast_param(n->params.at[i])->name;
        bool found = false;
        for (uint32_t k = 0; k < f->param_count; k++)
            found = found || f->params[k].name == name;
        if (found)
            continue;
        lower_error(cx, DIAG_UNDEFINED_NAME, n->params.at[i]->span,
                    "'%s' is not a parameter of kernel '%s'", name->text, f->name->text);
        diag_help(cx->consts.diags, "the grid's lambda names parameters of its kernel");
        return false;
    }
    return true;
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
        if (i >= n) {
            out[i] = ir_const_int(&cx->b, i64, 1);
            continue;
        }
        const Type *t = lower_type_of(cx, at[i]);
        if (t->kind != TYPE_SCALAR || (!type_is_int(t) && !type_is_bool(t))) {
            if (at[i].kind == VAL_CONST && at[i].c.kind == CONST_INT)
                lower_error(cx, DIAG_BAD_VALUE, span, "grid extent %u does not fit int64", i);
            else if (at[i].kind != VAL_ERROR)
                lower_error(cx, DIAG_TYPE_MISMATCH, span,
                            "grid extent %u must be an integer, got %s", i, lower_text(cx, at[i]));
            return false;
        }
        if (!(out[i] = lower_value_as(cx, at[i], i64, "grid extent", span)))
            return false;
    }
    return true;
}

IrFunc *lower_grid(Program *p, const Variant *variant, Arena *a)
{
    const Function *f = variant->function;
    return f->grid ? lower_grid_expr(p, variant, f->grid, a) : NULL;
}

IrFunc *lower_grid_expr(Program *p, const Variant *variant, const AstNode *e, Arena *a)
{
    const Function *f = variant->function;
    Lower *cx = lower_new(p, a, f->module);
    IrFunc *fn = cx->b.fn;
    fn->name = sym_of(
        p->syms, arena_printf(a, "%s_grid",
                              variant->instance_name ? variant->instance_name : f->name->text));
    fn->span = e->span;
    bind_parameters(cx, variant);
    if (e->kind == AST_LAMBDA) {
        if (!check_lambda(cx, f, ast_lambda(e)))
            return NULL;
        e = ast_lambda(e)->body;
    }
    unsigned before = diag_error_met(p->diags);
    IrValue *extents[3];
    cx->b.span = e->span;
    if (!take_extents(cx, lower_expr(cx, e), e->span, extents) ||
        diag_error_met(p->diags) != before)
        return NULL;
    ir_op(&cx->b, IR_RETURN, 3, extents, 0, NULL, 0);
    ir_apply_replacements(fn);
    return fn;
}
