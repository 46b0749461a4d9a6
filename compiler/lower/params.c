// params.c - parameters: what annotations say (types, facts, constexpr) and what defaults bind.
#include "lower/builtins.h"
#include "lower/lower_impl.h"

#include <inttypes.h>

static const Builtin *word_of(Lower *cx, const AstNode *n)
{
    if (n->kind != AST_NAME && n->kind != AST_ATTRIBUTE)
        return NULL;
    Val v = lower_expr(cx, n);
    bool word = v.kind == VAL_CONST && (v.c.kind == CONST_ANNOTATION || v.c.kind == CONST_BUILTIN);
    return word ? v.c.v.ref : NULL;
}

static const Type *element_type(Lower *cx, const AstNode *n)
{
    Val v = lower_expr(cx, n);
    if (v.kind == VAL_CONST && v.c.kind == CONST_DTYPE && v.c.v.dtype->kind == TYPE_SCALAR)
        return v.c.v.dtype;
    if (v.kind != VAL_ERROR && !lower_is_missing_dtype(cx, v, n->span))
        lower_error(cx, DIAG_TYPE_MISMATCH, n->span,
                    "a pointer's element must be a type such as float32, got %s",
                    lower_text(cx, v));
    return NULL;
}

// The pointer of T or const[T].
static const Type *pointer_to(Lower *cx, const AstNode *pointee)
{
    bool is_const = false;
    if (pointee->kind == AST_SUBSCRIPT) {
        const AstSubscript *inner = ast_subscript(pointee);
        const Builtin *word = word_of(cx, inner->object);
        if (word && word->id == BUILTIN_CONST && inner->indices.len == 1) {
            pointee = inner->indices.at[0];
            is_const = true;
        }
    }
    const Type *elem = element_type(cx, pointee);
    return elem ? type_ptr(cx->program->types, elem, is_const) : NULL;
}

// ptr[T] and ptr[const[T]].
static const Type *pointer_type(Lower *cx, const AstSubscript *n)
{
    if (n->indices.len == 1)
        return pointer_to(cx, n->indices.at[0]);
    lower_error(cx, DIAG_BAD_CALL, n->base.span, "ptr takes one element type");
    return NULL;
}

Val lower_type_word(Lower *cx, const AstSubscript *n)
{
    const Builtin *word = word_of(cx, n->object);
    if (word && word->id == BUILTIN_PTR) {
        const Type *t = pointer_type(cx, n);
        return t ? val_const(const_dtype(t)) : val_error();
    }
    lower_error(cx, DIAG_TYPE_MISMATCH, n->base.span, "'%s' is not a value",
                lower_source(cx, n->base.span));
    return val_error();
}

static bool int_argument(Lower *cx, const AstNode *n, int64_t *out)
{
    Val v = lower_expr(cx, n);
    if (v.kind == VAL_CONST && v.c.kind == CONST_INT && v.c.v.i >= INT64_MIN &&
        v.c.v.i <= INT64_MAX) {
        *out = (int64_t)v.c.v.i;
        return true;
    }
    if (v.kind != VAL_ERROR)
        lower_error(cx, DIAG_TYPE_MISMATCH, n->span, "expected an int constant, got %s",
                    lower_text(cx, v));
    return false;
}

static bool annotation(Lower *cx, const AstNode *n, ParamBinding *out);

static bool divisor(Lower *cx, const AstSubscript *n, const Builtin *word, ParamBinding *out)
{
    bool pointer = word->id == BUILTIN_ALIGNED;
    int64_t value;
    if (n->indices.len != 2) {
        lower_error(cx, DIAG_BAD_CALL, n->base.span, "%s takes a type and a number",
                    word->name->text);
        return false;
    }
    if (!annotation(cx, n->indices.at[0], out) || !int_argument(cx, n->indices.at[1], &value))
        return false;
    if (!out->type || (out->type->kind == TYPE_PTR) != pointer ||
        (!pointer && !type_is_int(out->type))) {
        lower_error(cx, DIAG_TYPE_MISMATCH, n->indices.at[0]->span,
                    pointer ? "aligned takes a pointer type" : "multiple takes an integer type");
        return false;
    }
    if (value < 1 || (pointer && (value & (value - 1)) != 0)) {
        lower_error(cx, DIAG_BAD_VALUE, n->indices.at[1]->span,
                    pointer ? "an alignment is a power of two" : "a divisor is at least 1");
        return false;
    }
    out->divisor = value;
    return true;
}

static bool value_range(Lower *cx, const AstSubscript *n, ParamBinding *out)
{
    if (n->indices.len != 3) {
        lower_error(cx, DIAG_BAD_CALL, n->base.span,
                    "range takes an integer type, the least and the greatest value");
        return false;
    }
    if (!annotation(cx, n->indices.at[0], out) || !int_argument(cx, n->indices.at[1], &out->lo) ||
        !int_argument(cx, n->indices.at[2], &out->hi))
        return false;
    if (!out->type || out->type->kind != TYPE_SCALAR || !type_is_int(out->type)) {
        lower_error(cx, DIAG_TYPE_MISMATCH, n->indices.at[0]->span, "range takes an integer type");
        return false;
    }
    if (out->lo > out->hi) {
        lower_error(cx, DIAG_BAD_VALUE, n->base.span, "empty range %" PRId64 "..%" PRId64, out->lo,
                    out->hi);
        return false;
    }
    out->has_range = true;
    return true;
}

static bool subscripted(Lower *cx, const AstSubscript *n, ParamBinding *out)
{
    const Builtin *word = word_of(cx, n->object);
    if (word && word->unsupported) {
        builtin_report_unsupported(cx->consts.diags, n->base.span, word);
        return false;
    }
    switch (word ? (int)word->id : -1) {
    case BUILTIN_PTR: out->type = pointer_type(cx, n); return out->type != NULL;
    // Its address: resolve has added its sizes and strides.
    case BUILTIN_DESC: out->type = pointer_to(cx, n->indices.at[0]); return out->type != NULL;
    case BUILTIN_ALIGNED:
    case BUILTIN_MULTIPLE: return divisor(cx, n, word, out);
    case BUILTIN_RANGE: return value_range(cx, n, out);
    case BUILTIN_CONSTEXPR: out->is_constexpr = true; return true;
    case BUILTIN_TENSOR:
        lower_error(cx, DIAG_UNSUPPORTED, n->base.span,
                    "tensor parameters are not compiled by this version yet");
        return false;
    default:
        lower_error(cx, DIAG_TYPE_MISMATCH, n->base.span, "'%s' is not a parameter type",
                    lower_source(cx, n->base.span));
        return false;
    }
}

static bool plain_word(Lower *cx, const AstNode *n, const Builtin *word, ParamBinding *out)
{
    switch ((unsigned)word->id) {
    case BUILTIN_CONSTEXPR: out->is_constexpr = true; return true;
    // Words that leave the type to the signature.
    case BUILTIN_TENSOR:
    case BUILTIN_CONST:
    case BUILTIN_PY_INT:
    case BUILTIN_PY_FLOAT:
    case BUILTIN_PY_BOOL: return true;
    case BUILTIN_PTR:
        lower_error(cx, DIAG_TYPE_MISMATCH, n->span,
                    "ptr needs an element type, as in ptr[float32]");
        return false;
    case BUILTIN_DESC:
        lower_error(cx, DIAG_TYPE_MISMATCH, n->span,
                    "desc needs an element type and a block, as in desc[float16, 64, 32]");
        return false;
    default:
        if (word->unsupported)
            builtin_report_unsupported(cx->consts.diags, n->span, word);
        else
            lower_error(cx, DIAG_TYPE_MISMATCH, n->span, "'%s' is not a parameter type",
                        lower_source(cx, n->span));
        return false;
    }
}

static bool annotation(Lower *cx, const AstNode *n, ParamBinding *out)
{
    if (n->kind == AST_SUBSCRIPT)
        return subscripted(cx, ast_subscript(n), out);
    Val v = lower_expr(cx, n);
    if (v.kind == VAL_ERROR || lower_is_missing_dtype(cx, v, n->span))
        return false;
    if (v.kind == VAL_CONST && v.c.kind == CONST_DTYPE) {
        out->type = v.c.v.dtype;
        return true;
    }
    if (v.kind == VAL_CONST && (v.c.kind == CONST_ANNOTATION || v.c.kind == CONST_BUILTIN))
        return plain_word(cx, n, v.c.v.ref, out);
    lower_error(cx, DIAG_TYPE_MISMATCH, n->span, "a parameter's annotation must be a type, got %s",
                lower_text(cx, v));
    return false;
}

typedef struct Mention {
    const Function *f;
    const ParamBinding *bindings;
    const Param *unbound;  // found: a constexpr parameter without a value
} Mention;

static bool find_mention(const AstNode *n, void *ctx)
{
    Mention *m = ctx;
    for (uint32_t i = 0; n->kind == AST_NAME && i < m->f->param_count; i++)
        if (m->f->params[i].name == ast_name(n)->name && m->bindings[i].value.kind == CONST_ERROR)
            m->unbound = &m->f->params[i];
    return true;
}

const Param *lower_unbound(const Function *f, const ParamBinding *bindings, const AstNode *n)
{
    Mention m = { .f = f, .bindings = bindings };
    ast_walk(n, &(AstVisitor){ .enter = find_mention, .ctx = &m });
    return m.unbound;
}

bool lower_annotations(Program *p, const Function *f, ParamBinding *out)
{
    Lower *cx = lower_new(p, p->arena, f->module);
    bool ok = true;
    for (uint32_t i = 0; i < f->param_count; i++)
        if (out[i].is_constexpr && out[i].value.kind != CONST_ERROR)
            lower_bind(cx, lower_slot_of(cx, f->params[i].name), lower_from_const(cx, out[i].value),
                       f->params[i].span);
    for (uint32_t i = 0; i < f->param_count; i++) {
        const AstNode *a = f->params[i].annotation;
        if (f->params[i].is_hidden)  // 64 bits where they have to be (facts.c)
            out[i].type = type_scalar(p->types, SCALAR_I32);
        if (!a || out[i].is_constexpr)
            continue;
        if (!lower_unbound(f, out, a))
            ok = annotation(cx, a, &out[i]) && ok;
    }
    return ok;
}

bool lower_bind_params(Program *p, const Function *f, ParamBinding *out)
{
    bool ok = true;
    for (uint32_t i = 0; i < f->param_count; i++) {
        const Param *param = &f->params[i];
        out[i] = (ParamBinding){ .is_constexpr = param->is_constexpr, .divisor = 1 };
        if (!param->default_value)
            continue;
        out[i].value = lower_const_expr(p, f->module, param->default_value);
        ok = ok && out[i].value.kind != CONST_ERROR;
    }
    return lower_annotations(p, f, out) && ok;
}
