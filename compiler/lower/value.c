// value.c - from Val to IrValue: literals become typed, scalars become blocks, and constants that
// builtins want are taken out of arguments with the message that says what was given instead.
#include "lower/view.h"

#include <inttypes.h>

IrBuilder *lower_builder(Lower *cx)
{
    return &cx->b;
}

TypeTable *lower_types(Lower *cx)
{
    return cx->program->types;
}

DiagSink *lower_diags(Lower *cx)
{
    return cx->consts.diags;
}

Arena *lower_arena(Lower *cx)
{
    return cx->arena;
}

ConstCx *lower_consts(Lower *cx)
{
    return &cx->consts;
}

static bool is_number(const ConstVal *c)
{
    return c->kind == CONST_BOOL || c->kind == CONST_INT || c->kind == CONST_FLOAT;
}

const Type *lower_type_of(Lower *cx, Val v)
{
    switch (v.kind) {
    case VAL_VALUE: return v.v->type;
    case VAL_CONST: {
        if (v.fixed)
            return v.fixed;
        if (!is_number(&v.c))
            return type_error(cx->program->types);
        RuleResult r = rule_literal(&v.c);
        return r.why == RULE_OK ? type_scalar(cx->program->types, r.kind)
                                : type_error(cx->program->types);
    }
    case VAL_ERROR:
    case VAL_TUPLE:
    case VAL_VIEW:
    case VAL_METHOD:
    case VAL_VOID: return type_error(cx->program->types);
    }
    return type_error(cx->program->types);
}

const char *lower_source(Lower *cx, Span span)
{
    Str text = source_text(cx->program->sources, span);
    const uint32_t limit = 60;
    if (text.len <= limit)
        return arena_strndup(cx->arena, text.at, text.len);
    return arena_printf(cx->arena, "%.*s...", (int)limit, text.at);
}

const char *lower_text(Lower *cx, Val v)
{
    switch (v.kind) {
    case VAL_ERROR: return "an error";
    case VAL_VALUE: return type_text(cx->program->types, v.v->type);
    case VAL_TUPLE: return arena_printf(cx->arena, "a tuple of %" PRIu32, v.tuple.len);
    case VAL_VIEW: return lower_view_text(cx, v);
    case VAL_METHOD: return "a method";
    case VAL_VOID: return "nothing";
    case VAL_CONST: break;
    }
    if (v.fixed)
        return type_text(cx->program->types, v.fixed);
    if (is_number(&v.c)) {
        const Type *t = lower_type_of(cx, v);
        if (!type_is_error(t))
            return type_text(cx->program->types, t);
    }
    return const_kind_text(&v.c);
}

// Says that `v` cannot be a run-time value.
static void report_no_value(Lower *cx, Val v, const char *what, Span span)
{
    if (v.kind == VAL_VOID)
        lower_error(cx, DIAG_TYPE_MISMATCH, span, "%s is a call that returns nothing", what);
    else
        lower_error(cx, DIAG_TYPE_MISMATCH, span, "%s must be a value, got %s", what,
                    lower_text(cx, v));
    if (v.kind == VAL_METHOD)
        diag_help(cx->consts.diags, "call it: '%s()'", v.method->name->text);
}

bool lower_literal_kind(Lower *cx, Val v, const char *what, Span span, ScalarKind *kind)
{
    DiagSink *d = cx->consts.diags;
    RuleResult r = rule_literal(&v.c);
    if (r.why != RULE_OK) {
        r.given[0] = rule_weak(&v.c);
        r.count = 1;
        rule_report(d, span, what, &r);
        lower_note_calls(cx);
        return false;
    }
    if (r.wide_literal)
        diag_report(d, DIAG_LITERAL_RANGE, span,
                    "literal outside the range of normal fp32 numbers is fp64");
    if (v.folded && r.kind != SCALAR_I32) {
        Buf text = { 0 };
        const_print(&text, &v.c);
        diag_report(d, DIAG_INT_OVERFLOW, span, "%s does not fit int32 and becomes %s", text.at,
                    scalar_info[r.kind].name);
        buf_free(&text);
    }
    *kind = r.kind;
    return true;
}

IrValue *lower_value(Lower *cx, Val v, const char *what, Span span)
{
    if (v.kind == VAL_ERROR)
        return NULL;
    if (v.kind == VAL_VALUE)
        return v.v;
    if (v.kind != VAL_CONST || !is_number(&v.c)) {
        report_no_value(cx, v, what, span);
        return NULL;
    }
    if (v.fixed)
        return lower_typed_value(cx, v.c, v.fixed);
    ScalarKind kind;
    if (!lower_literal_kind(cx, v, what, span, &kind))
        return NULL;
    return lower_typed_value(cx, v.c, type_scalar(cx->program->types, kind));
}

IrValue *lower_value_as(Lower *cx, Val v, const Type *elem, const char *what, Span span)
{
    if (v.kind == VAL_CONST && is_number(&v.c) && elem->kind == TYPE_SCALAR)
        return lower_typed_value(cx, v.c, elem);
    IrValue *value = lower_value(cx, v, what, span);
    if (!value || type_elem(value->type) == elem)
        return value;
    RuleReason why = rule_cast(type_elem(value->type), elem, false, ROUNDING_DEFAULT);
    if (why == RULE_OK)
        return ir_cast(&cx->b, value, elem);
    rule_report_cast(cx->consts.diags, span, cx->program->types, why, value->type, elem);
    lower_note_calls(cx);
    return NULL;
}

static IrValue *stretch(Lower *cx, IrValue *v, const Type *shape_like)
{
    TypeTable *types = cx->program->types;
    const Type *to = type_with_elem(types, shape_like, type_elem(v->type));
    if (v->type == to)
        return v;
    if (!type_is_block(v->type))
        return ir_splat(&cx->b, v, to);
    while (type_rank(v->type) < type_rank(to))
        v = ir_expand_dims(&cx->b, v, 0);
    return ir_broadcast(&cx->b, v, to);
}

IrValue *lower_broadcast_to(Lower *cx, IrValue *v, const Type *shape_like, Span span)
{
    RuleShape r = rule_broadcast_to(v->type, shape_like);
    if (r.ok)
        return stretch(cx, v, shape_like);
    rule_report_shapes(cx->consts.diags, span, cx->program->types, &r, v->type, shape_like);
    lower_note_calls(cx);
    return NULL;
}

bool lower_broadcast(Lower *cx, IrValue **v, const Span *spans, uint32_t n, Span span)
{
    TypeTable *types = cx->program->types;
    const Type *common = v[0]->type;
    for (uint32_t i = 1; i < n; i++) {
        RuleShape r = rule_broadcast(common, v[i]->type);
        if (!r.ok) {
            rule_report_shapes(cx->consts.diags, span, types, &r, common, v[i]->type);
            diag_note(cx->consts.diags, spans[0], "this has shape %s",
                      type_shape_text(types, v[0]->type));
            diag_note(cx->consts.diags, spans[i], "this has shape %s",
                      type_shape_text(types, v[i]->type));
            lower_note_calls(cx);
            return false;
        }
        uint64_t numel = 1;
        for (unsigned k = 0; k < r.rank; k++)
            numel *= (uint64_t)r.shape[k];
        if (numel > TYPE_MAX_NUMEL) {
            lower_error(cx, DIAG_SHAPE_MISMATCH, span,
                        "block of %" PRIu64 " elements; the limit is %d", numel, TYPE_MAX_NUMEL);
            return false;
        }
        const Type *i32 = type_scalar(types, SCALAR_I32);
        common = type_block(types, i32, r.rank, r.shape);
    }
    for (uint32_t i = 0; i < n; i++)
        v[i] = stretch(cx, v[i], common);
    return true;
}

/* ---- constants wanted by builtins ---- */

static const char *argument_text(Lower *cx, const BoundArgs *args, unsigned index)
{
    return arena_printf(cx->arena, "argument '%s' of '%s'", args->builtin->params[index].name->text,
                        args->builtin->name->text);
}

// Says that `v` is not the constant that was wanted, with the way out when it is a run-time name.
static bool refuse(Lower *cx, Val v, const char *what, const char *wanted, Span span)
{
    if (v.kind == VAL_ERROR)
        return false;
    if (v.kind != VAL_VALUE) {
        lower_error(cx, DIAG_TYPE_MISMATCH, span, "%s must be %s, got %s", what, wanted,
                    lower_text(cx, v));
        return false;
    }
    // within a tuple the span is the whole of it; the value's own name says which element it is
    const char *text = lower_source(cx, span);
    if (*text == '(' && v.v->hint)
        text = v.v->hint->text;
    lower_error(cx, DIAG_NOT_CONSTEXPR, span,
                "%s must be a compile-time constant; '%s' is a run-time %s", what, text,
                type_text(cx->program->types, v.v->type));
    if (v.v->block && !v.v->block->parent && v.v->hint)
        diag_help(cx->consts.diags, "declare the parameter '%s: constexpr'", v.v->hint->text);
    return false;
}

static bool int_of(Val v, Int128 *out)
{
    if (v.kind != VAL_CONST || (v.c.kind != CONST_INT && v.c.kind != CONST_BOOL))
        return false;
    *out = v.c.kind == CONST_BOOL ? v.c.v.b : v.c.v.i;
    return true;
}

bool lower_want_int(Lower *cx, const BoundArgs *args, unsigned index, int64_t *out)
{
    Int128 i;
    const char *what = argument_text(cx, args, index);
    if (!int_of(args->at[index], &i))
        return refuse(cx, args->at[index], what, "an int", args->spans[index]);
    if (i < INT64_MIN || i > INT64_MAX) {
        lower_error(cx, DIAG_BAD_VALUE, args->spans[index], "%s does not fit 64 bits", what);
        return false;
    }
    *out = (int64_t)i;
    return true;
}

bool lower_want_bool(Lower *cx, const BoundArgs *args, unsigned index, bool *out)
{
    Int128 i;
    if (!int_of(args->at[index], &i))
        return refuse(cx, args->at[index], argument_text(cx, args, index), "a bool",
                      args->spans[index]);
    *out = i != 0;
    return true;
}

bool lower_want_str(Lower *cx, const BoundArgs *args, unsigned index, Str *out)
{
    Val v = args->at[index];
    *out = (Str){ "", 0 };
    if (v.kind == VAL_CONST && v.c.kind == CONST_NONE)
        return true;
    if (v.kind != VAL_CONST || v.c.kind != CONST_STR)
        return refuse(cx, v, argument_text(cx, args, index), "a string", args->spans[index]);
    *out = v.c.v.s;
    return true;
}

bool lower_want_dtype(Lower *cx, const BoundArgs *args, unsigned index, const Type **out)
{
    Val v = args->at[index];
    if (v.kind != VAL_CONST || v.c.kind != CONST_DTYPE) {
        const char *what = argument_text(cx, args, index);
        if (v.kind == VAL_CONST && is_number(&v.c)) {
            Buf text = { 0 };
            const_print(&text, &v.c);
            lower_error(cx, DIAG_TYPE_MISMATCH, args->spans[index], "expected a dtype, got %s",
                        text.at);
            buf_free(&text);
            return false;
        }
        return refuse(cx, v, what, "a dtype such as float32", args->spans[index]);
    }
    *out = v.c.v.dtype;
    return true;
}

static bool want_extent(Lower *cx, const BoundArgs *args, unsigned index, Val v, unsigned axis,
                        int32_t *out)
{
    Int128 i;
    const char *what = arena_printf(cx->arena, "a block's shape");
    if (!int_of(v, &i))
        return refuse(cx, v, what, "made of ints", args->spans[index]);
    if (i < 1 || i > INT32_MAX || (i & (i - 1)) != 0) {
        Buf text = { 0 };
        ConstVal c = const_int(i);
        const_print(&text, &c);
        lower_error(cx, DIAG_SHAPE_MISMATCH, args->spans[index],
                    "dimension %u is %s, not a power of two", axis, text.at);
        buf_free(&text);
        return false;
    }
    *out = (int32_t)i;
    return true;
}

bool lower_want_shape(Lower *cx, const BoundArgs *args, unsigned index, unsigned *rank,
                      int32_t *shape)
{
    Val v = args->at[index];
    Val *at = v.kind == VAL_TUPLE ? v.tuple.at : &v;
    *rank = v.kind == VAL_TUPLE ? v.tuple.len : 1;
    if (*rank > TYPE_MAX_RANK) {
        lower_error(cx, DIAG_SHAPE_MISMATCH, args->spans[index], "%u axes; the limit is %d", *rank,
                    TYPE_MAX_RANK);
        return false;
    }
    uint64_t numel = 1;
    for (unsigned k = 0; k < *rank; k++) {
        if (!want_extent(cx, args, index, at[k], k, &shape[k]))
            return false;
        numel = numel > UINT32_MAX ? numel : numel * (uint64_t)shape[k];
    }
    if (numel > TYPE_MAX_NUMEL) {
        lower_error(cx, DIAG_SHAPE_MISMATCH, args->spans[index],
                    "block of %" PRIu64 " elements; the limit is %d", numel, TYPE_MAX_NUMEL);
        return false;
    }
    return true;
}

bool lower_want_axis(Lower *cx, const BoundArgs *args, unsigned index, unsigned rank, unsigned *out)
{
    int64_t axis;
    if (!lower_want_int(cx, args, index, &axis))
        return false;
    if (axis < -(int64_t)rank || axis >= (int64_t)rank) {
        lower_error(cx, DIAG_BAD_VALUE, args->spans[index],
                    "invalid axis %" PRId64 "; expected -%u <= axis < %u", axis, rank, rank);
        return false;
    }
    *out = (unsigned)(axis < 0 ? axis + (int64_t)rank : axis);
    return true;
}
