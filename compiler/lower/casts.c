// casts.c - explicit conversions: `.to(T)`, `cast`, `T(x)`.
#include "lower/lower_impl.h"

#include <string.h>

static bool rounding_of(Lower *cx, const char *text, Span span, RuleRounding *out)
{
    *out = ROUNDING_DEFAULT;
    if (!text || !*text)
        return true;
    if (strcmp(text, "rtne") == 0)
        *out = ROUNDING_RTNE;
    else if (strcmp(text, "rtz") == 0)
        *out = ROUNDING_RTZ;
    else
        lower_error(cx, DIAG_BAD_VALUE, span, "unknown rounding mode '%s'; expected 'rtne' or 'rtz'", text);
    return *out != ROUNDING_DEFAULT;
}

static bool is_fp8(const Type *t)
{
    return t->kind == TYPE_SCALAR && type_is_fp8(t);
}

static bool is_integer(const Type *t)
{
    return t->kind == TYPE_SCALAR && (type_is_int(t) || type_is_bool(t));
}

static Val convert(Lower *cx, IrValue *v, const Type *elem, bool rtz)
{
    TypeTable *types = cx->program->types;
    const Type *from = type_elem(v->type);
    if (from == elem)
        return val_of(v);
    // Integers and fp8 meet in fp32, pointers and bool in the address.
    if ((is_fp8(from) && is_integer(elem)) || (is_integer(from) && is_fp8(elem)))
        v = ir_cast(&cx->b, v, type_scalar(types, SCALAR_F32));
    if (from->kind == TYPE_PTR && elem->kind == TYPE_SCALAR && type_is_bool(elem))
        v = ir_cast(&cx->b, v, type_scalar(types, SCALAR_I64));
    IrValue *out = ir_cast(&cx->b, v, elem);
    if (rtz && out->def && out->def->code == IR_CAST)
        out->def->attr.round_to_zero = true;
    return val_of(out);
}

Val lower_cast(Lower *cx, Val v, const Type *elem, bool bitcast, const char *rounding, Span span)
{
    RuleRounding mode;
    if (v.kind == VAL_ERROR || !rounding_of(cx, rounding, span, &mode))
        return val_error();
    bool number = v.kind == VAL_CONST && (v.c.kind == CONST_BOOL || v.c.kind == CONST_INT || v.c.kind == CONST_FLOAT);
    if (number && elem->kind == TYPE_SCALAR && !bitcast && mode == ROUNDING_DEFAULT)
        return lower_typed_val(cx, v.c, elem->scalar);
    IrValue *value = lower_value(cx, v, "the value to convert", span);
    if (!value)
        return val_error();
    RuleReason why = rule_cast(type_elem(value->type), elem, bitcast, mode);
    if (why != RULE_OK) {
        rule_report_cast(cx->consts.diags, span, cx->program->types, why, value->type, elem);
        lower_note_calls(cx);
        return val_error();
    }
    if (!bitcast || (type_elem(value->type)->kind == TYPE_PTR) != (elem->kind == TYPE_PTR))
        return convert(cx, value, elem, mode == ROUNDING_RTZ);
    const Type *to = type_with_elem(cx->program->types, value->type, elem);
    return to == value->type ? val_of(value) : val_of(ir_op1(&cx->b, IR_BITCAST, to, 1, &value));
}
