// call.c - calls: what is called, arguments as Python binds them, and builtins.
#include "lower/lower_impl.h"

bool lower_arguments(Lower *cx, const AstCall *n, ArgumentVec *out)
{
    bool ok = true;
    for (uint32_t i = 0; i < n->args.len; i++) {
        const AstNode *a = n->args.at[i];
        bool splat = a->kind == AST_STARRED;
        Val v = lower_expr(cx, splat ? ast_starred(a)->value : a);
        ok = ok && v.kind != VAL_ERROR;
        if (!splat) {
            VEC_PUSH(cx->arena, out, ((Argument){ .val = v, .span = a->span }));
            continue;
        }
        if (v.kind != VAL_TUPLE && v.kind != VAL_ERROR) {
            lower_error(cx, DIAG_TYPE_MISMATCH, a->span, "'*' needs a tuple, got %s",
                        lower_text(cx, v));
            ok = false;
        }
        for (uint32_t k = 0; v.kind == VAL_TUPLE && k < v.tuple.len; k++)
            VEC_PUSH(cx->arena, out, ((Argument){ .val = v.tuple.at[k], .span = a->span }));
    }
    for (uint32_t i = 0; i < n->keywords.len; i++) {
        const AstNode *k = n->keywords.at[i];
        if (k->kind != AST_KEYWORD || !ast_keyword(k)->name) {
            lower_error(cx, DIAG_NOT_IN_LANGUAGE, k->span, "'**' in a call is not part of newt");
            return false;
        }
        const AstKeyword *keyword = ast_keyword(k);
        Val v = lower_expr(cx, keyword->value);
        ok = ok && v.kind != VAL_ERROR;
        VEC_PUSH(cx->arena, out, ((Argument){ keyword->name, v, keyword->value->span, k->span }));
    }
    return ok;
}

/* ---- builtins ---- */

static bool report_unknown(Lower *cx, const Builtin *b, const Argument *a)
{
    const char *near = builtin_suggest_param(b, a->name->text);
    if (near)
        lower_error(cx, DIAG_BAD_CALL, a->whole,
                    "unknown argument '%s' of '%s'; did you mean '%s'?", a->name->text,
                    b->name->text, near);
    else
        lower_error(cx, DIAG_BAD_CALL, a->whole, "unknown argument '%s' of '%s'", a->name->text,
                    b->name->text);
    return false;
}

static bool put_argument(Lower *cx, BoundArgs *out, uint32_t at, const Argument *a)
{
    if (out->given[at]) {
        lower_error(cx, DIAG_BAD_CALL, a->span, "'%s' gets two values for '%s'",
                    out->builtin->name->text, out->builtin->params[at].name->text);
        return false;
    }
    out->at[at] = a->val;
    out->spans[at] = a->span;
    out->given[at] = true;
    return true;
}

static void put_variadic(Lower *cx, BoundArgs *out, uint32_t at, const Argument *a)
{
    Val old = out->at[at];
    Val grown = { .kind = VAL_TUPLE,
                  .tuple = { ARENA_NEW_N(cx->arena, Val, old.tuple.len + 1), old.tuple.len + 1 } };
    for (uint32_t i = 0; i < old.tuple.len; i++)
        grown.tuple.at[i] = old.tuple.at[i];
    grown.tuple.at[old.tuple.len] = a->val;
    out->at[at] = grown;
    out->spans[at] = out->given[at] ? span_join(out->spans[at], a->span) : a->span;
    out->given[at] = true;
}

static bool bind_positional(Lower *cx, BoundArgs *out, const Argument *a, uint32_t *next)
{
    const Builtin *b = out->builtin;
    if (*next >= b->param_count) {
        lower_error(cx, DIAG_BAD_CALL, a->span, "too many arguments for '%s'; it takes %u",
                    b->name->text, b->param_count);
        return false;
    }
    if (b->params[*next].variadic) {
        put_variadic(cx, out, *next, a);
        return true;
    }
    return put_argument(cx, out, (*next)++, a);
}

bool lower_bind_builtin(Lower *cx, const Builtin *b, const Val *receiver, const ArgumentVec *args,
                        Span call, BoundArgs *out)
{
    uint32_t n = b->param_count, next = 0;
    *out = (BoundArgs){ .builtin = b, .count = n, .call = call };
    out->at = ARENA_NEW_N(cx->arena, Val, n);
    out->spans = ARENA_NEW_N(cx->arena, Span, n);
    out->given = ARENA_NEW_N(cx->arena, bool, n);
    ConstVal *defaults = ARENA_NEW_N(cx->arena, ConstVal, n);
    builtin_default_args(b, defaults);
    for (uint32_t i = 0; i < n; i++) {
        if (b->params[i].variadic)
            out->at[i] = (Val){ .kind = VAL_TUPLE };
        else
            out->at[i] = lower_from_const(cx, defaults[i]);
        out->spans[i] = call;
    }
    Argument self = { .val = receiver ? *receiver : val_error(), .span = call };
    if (receiver && !bind_positional(cx, out, &self, &next))
        return false;
    for (uint32_t i = 0; i < args->len; i++) {
        const Argument *a = &args->at[i];
        if (!a->name) {
            if (!bind_positional(cx, out, a, &next))
                return false;
            continue;
        }
        int at = builtin_find_param(b, a->name);
        if (at < 0 || b->params[at].variadic)
            return report_unknown(cx, b, a);
        if (!put_argument(cx, out, (uint32_t)at, a))
            return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (out->given[i] || b->params[i].has_default || b->params[i].variadic)
            continue;
        lower_error(cx, DIAG_BAD_CALL, call, "'%s' is missing argument '%s'", b->name->text,
                    b->params[i].name->text);
        return false;
    }
    return true;
}

static Val call_elementwise(Lower *cx, const Builtin *b, const BoundArgs *args)
{
    unsigned n = rule_arity(b->rule);
    bool propagate = false, has_flag = args->count > n;
    if (has_flag && !lower_want_bool(cx, args, n, &propagate))
        return val_error();
    Val out = lower_elementwise(cx, (IrCode)b->op, args->at, args->spans, n, args->call);
    if (!propagate || out.kind != VAL_VALUE)
        return out;
    IrOp *op = out.v->def;
    if (op && op->code == IR_CAST && op->args[0]->def)
        op = op->args[0]->def;
    if (op && op->code == b->op)
        op->attr.propagate_nan = true;
    return out;
}

// --index64: what addresses begin with is 64 bits wide from the beginning.
static Val widen_source(Lower *cx, Val v)
{
    if (!cx->index64 || v.kind != VAL_VALUE || !v.v->def)
        return v;
    unsigned code = v.v->def->code;
    if (code != IR_PROGRAM_ID && code != IR_NUM_PROGRAMS && code != IR_ARANGE)
        return v;
    return val_of(ir_cast(&cx->b, v.v, type_scalar(cx->program->types, SCALAR_I64)));
}

Val lower_call_builtin(Lower *cx, const Builtin *b, const Val *receiver, const ArgumentVec *args,
                       Span call)
{
    BoundArgs bound;
    if (b->unsupported) {
        builtin_report_unsupported(cx->consts.diags, call, b);
        lower_note_calls(cx);
        return val_error();
    }
    if (b->id == BUILTIN_RANGE || b->id == BUILTIN_STATIC_RANGE || b->id == BUILTIN_CONDITION) {
        lower_error(cx, DIAG_BAD_CALL, call, "'%s' is only for the head of a loop", b->name->text);
        return val_error();
    }
    if (!lower_bind_builtin(cx, b, receiver, args, call, &bound))
        return val_error();
    if (lower_builtin_fn[b->id])
        return widen_source(cx, lower_builtin_fn[b->id](cx, &bound));
    if (b->op >= 0)
        return call_elementwise(cx, b, &bound);
    lower_error(cx, DIAG_BAD_CALL, call, "'%s' cannot be called inside a function", b->name->text);
    return val_error();
}

static Val call_dtype(Lower *cx, const Type *type, const ArgumentVec *args, Span call)
{
    if (args->len != 1 || args->at[0].name) {
        lower_error(cx, DIAG_BAD_CALL, call, "a conversion takes one value");
        return val_error();
    }
    return lower_cast(cx, args->at[0].val, type, false, NULL, call);
}

Val lower_call(Lower *cx, const AstCall *n)
{
    Val callee = lower_expr(cx, n->callee);
    ArgumentVec args = { 0 };
    bool ok = lower_arguments(cx, n, &args);
    Span span = n->base.span;
    cx->b.span = span;
    if (callee.kind == VAL_ERROR || !ok)
        return val_error();
    if (callee.kind == VAL_METHOD)
        return lower_call_builtin(cx, callee.method, callee.receiver, &args, span);
    if (callee.kind == VAL_CONST) {
        switch ((unsigned)callee.c.kind) {
        case CONST_FUNC: return lower_inline(cx, callee.c.v.ref, &args, span);
        case CONST_BUILTIN:
        case CONST_ANNOTATION: return lower_call_builtin(cx, callee.c.v.ref, NULL, &args, span);
        case CONST_DTYPE: return call_dtype(cx, callee.c.v.dtype, &args, span);
        default: break;
        }
    }
    lower_error(cx, DIAG_BAD_CALL, n->callee->span, "'%s' is not a function, it is %s",
                lower_source(cx, n->callee->span), lower_text(cx, callee));
    return val_error();
}
