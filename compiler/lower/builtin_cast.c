/// builtin_cast.c - conversions that the user writes: cast(), .to(), a dtype called like a
/// function.
#include "lower/builtins.h"

#include <string.h>

bool lower_is_missing_dtype(Lower *cx, Val v, Span span)
{
    const Builtin *b = v.kind == VAL_CONST && v.c.kind == CONST_BUILTIN ? v.c.v.ref : NULL;
    if (!b || b->use != USE_DTYPE)
        return false;
    lower_error(cx, DIAG_UNSUPPORTED, span,
                "no target has the type %s; supported fp8 types: %s, %s", b->name->text,
                scalar_info[SCALAR_E4M3].name, scalar_info[SCALAR_E5M2].name);
    return true;
}

bool lower_dtype_arg(Lower *cx, const BoundArgs *args, unsigned index, const Type **out)
{
    Val v = args->at[index];
    if (lower_is_missing_dtype(cx, v, args->spans[index]))
        return false;
    if (v.kind == VAL_CONST && v.c.kind == CONST_BUILTIN) {
        const Builtin *b = v.c.v.ref;
        // `x.to(float)`: Python's word for the conversion is taken for the type.
        ScalarKind kind = b->id == BUILTIN_PY_FLOAT  ? SCALAR_F32
                          : b->id == BUILTIN_PY_INT  ? SCALAR_I32
                          : b->id == BUILTIN_PY_BOOL ? SCALAR_I1
                                                     : SCALAR_COUNT;
        if (kind != SCALAR_COUNT) {
            *out = type_scalar(lower_types(cx), kind);
            return true;
        }
    }
    if (!lower_want_dtype(cx, args, index, out))
        return false;
    if ((*out)->kind == TYPE_SCALAR || (*out)->kind == TYPE_PTR)
        return true;
    lower_error(cx, DIAG_TYPE_MISMATCH, args->spans[index], "'%s' is not the type of an element",
                type_text(lower_types(cx), *out));
    return false;
}

static bool read_rounding(Lower *cx, const char *text, RuleRounding *out, Span span)
{
    *out = ROUNDING_DEFAULT;
    if (!text)
        return true;
    *out = strcmp(text, "rtz") == 0 ? ROUNDING_RTZ : ROUNDING_RTNE;
    if (*out == ROUNDING_RTZ || strcmp(text, "rtne") == 0)
        return true;
    lower_error(cx, DIAG_BAD_VALUE, span, "unknown rounding '%s'; expected rtne or rtz", text);
    return false;
}

static bool is_fp8_beside_int(const Type *from, const Type *to)
{
    return (type_is_fp8(from) && (type_is_int(to) || type_is_bool(to))) ||
           (type_is_fp8(to) && (type_is_int(from) || type_is_bool(from)));
}

Val lower_cast(Lower *cx, Val v, const Type *elem, bool bitcast, const char *rounding, Span span)
{
    RuleRounding mode;
    if (v.kind == VAL_ERROR || !read_rounding(cx, rounding, &mode, span))
        return val_error();
    if (lower_is_number(v) && elem->kind == TYPE_SCALAR && !bitcast && mode == ROUNDING_DEFAULT)
        return lower_typed_val(cx, lower_typed_const(v.c, elem->scalar), elem->scalar);
    IrValue *x = lower_value(cx, v, "the value of a cast", span);
    if (!x)
        return val_error();
    const Type *from = type_elem(x->type);
    RuleReason why = rule_cast(from, elem, bitcast, mode);
    if (why != RULE_OK) {
        rule_report_cast(lower_diags(cx), span, lower_types(cx), why, from, elem);
        lower_note_calls(cx);
        return val_error();
    }
    IrBuilder *b = lower_builder(cx);
    if (from == elem)
        return val_of(x);
    if (bitcast)
        return val_of(ir_op1(b, IR_BITCAST, type_with_elem(lower_types(cx), x->type, elem), 1, &x));
    if (is_fp8_beside_int(from, elem))
        x = ir_cast(b, x, type_scalar(lower_types(cx), SCALAR_F32));
    x = ir_cast(b, x, elem);
    x->def->attr.round_to_zero = mode == ROUNDING_RTZ;
    return val_of(x);
}

Val lower_fn_cast(Lower *cx, const BoundArgs *args)
{
    const Type *elem;
    Str rounding;
    bool bitcast;
    if (!lower_dtype_arg(cx, args, 1, &elem) || !lower_want_str(cx, args, 2, &rounding) ||
        !lower_want_bool(cx, args, 3, &bitcast))
        return val_error();
    const char *text =
        rounding.len ? arena_strndup(lower_arena(cx), rounding.at, rounding.len) : NULL;
    return lower_cast(cx, args->at[0], elem, bitcast, text, args->call);
}
