// consteval.c - evaluation at module level: constants, decorator arguments, defaults.
//
// The same walk as for kernels, in a frame whose names stay untyped and whose loops run here. A
// scratch function takes the IR of what is no constant after all, so nothing below has to know.
#include "lower/lower_impl.h"

Lower *lower_new(Program *p, Arena *a, Module *m)
{
    Lower *cx = ARENA_NEW(a, Lower);
    cx->program = p;
    cx->arena = a;
    cx->consts = (ConstCx){ .arena = a, .diags = p->diags };
    cx->b.fn = ir_func_new(a, p->types, p->syms, m->name);
    cx->b.block = cx->b.fn->body;
    lower_frame_push(cx, NULL, m, (Span){ 0, 0 });
    return cx;
}

Val lower_from_const(Lower *cx, ConstVal c)
{
    if (c.kind != CONST_TUPLE)
        return val_const(c);
    Val out = { .kind = VAL_TUPLE,
                .tuple = { ARENA_NEW_N(cx->arena, Val, c.v.tuple.len), c.v.tuple.len } };
    for (uint32_t i = 0; i < c.v.tuple.len; i++)
        out.tuple.at[i] = lower_from_const(cx, c.v.tuple.at[i]);
    return out;
}

bool lower_as_const(Lower *cx, Val v, ConstVal *out)
{
    if (v.kind == VAL_CONST) {
        *out = v.c;
        return true;
    }
    if (v.kind != VAL_TUPLE)
        return false;
    ConstVal *items = ARENA_NEW_N(cx->arena, ConstVal, v.tuple.len);
    for (uint32_t i = 0; i < v.tuple.len; i++)
        if (!lower_as_const(cx, v.tuple.at[i], &items[i]))
            return false;
    *out = (ConstVal){ .kind = CONST_TUPLE, .v.tuple = { items, v.tuple.len } };
    return true;
}

static ConstVal want_const(Lower *cx, Val v, Span span)
{
    ConstVal c;
    if (lower_as_const(cx, v, &c))
        return c;
    if (v.kind != VAL_ERROR)
        lower_error(cx, DIAG_NOT_CONSTEXPR, span, "'%s' is not a compile-time constant, it is %s",
                    lower_source(cx, span), lower_text(cx, v));
    return const_error();
}

ConstVal lower_const_expr(Program *p, Module *m, const AstNode *e)
{
    Lower *cx = lower_new(p, p->arena, m);
    return want_const(cx, lower_expr(cx, e), e->span);
}

ConstVal lower_const_decl(Program *p, Decl *d, Span span)
{
    if (d->state == DECL_READY || d->kind != DECL_CONSTANT)
        return d->value;
    if (d->state == DECL_RUNNING) {
        diag_report(p->diags, DIAG_UNDEFINED_NAME, span, "constant '%s' is defined by itself",
                    d->name->text);
        diag_note(p->diags, d->span, "it is defined here");
        return const_error();
    }
    d->state = DECL_RUNNING;
    d->value = d->expr ? lower_const_expr(p, d->module, d->expr) : const_error();
    d->state = DECL_READY;
    return d->value;
}

Val lower_decl(Lower *cx, Decl *d, Span span)
{
    return lower_from_const(cx, lower_const_decl(cx->program, d, span));
}
