/// rules_report.c - the words for what rules.c and rules_shape.c refuse, the same from everywhere.
#include "sema/rules.h"
#include <string.h>

static const char *const_text(DiagSink *d, const ConstVal *v)
{
    Buf b = { 0 };
    const_print(&b, v);
    const char *text = arena_strndup(d->arena, b.at, b.len);
    buf_free(&b);
    return text;
}

static const char *operand_text(DiagSink *d, const RuleOperand *o)
{
    return o->literal ? arena_printf(d->arena, "the constant %s", const_text(d, o->literal))
                      : scalar_text(o->kind);
}

/// The smallest integer type that holds `literal`, of the same signedness where that is possible.
static ScalarKind type_that_holds(Int128 v, bool is_signed)
{
    static const ScalarKind signed_kinds[] = { SCALAR_I8, SCALAR_I16, SCALAR_I32, SCALAR_I64 };
    static const ScalarKind unsigned_kinds[] = { SCALAR_U8, SCALAR_U16, SCALAR_U32, SCALAR_U64 };
    for (unsigned i = 0; i < 4; i++) {
        unsigned bits = 8u << i;
        Int128 hi = (Int128)1 << (is_signed ? bits - 1 : bits);
        if (v < hi && (is_signed ? v >= -hi : v >= 0))
            return is_signed ? signed_kinds[i] : unsigned_kinds[i];
    }
    return SCALAR_COUNT;
}

static void report_range(DiagSink *d, Span span, const RuleResult *r)
{
    const ConstVal *literal = r->given[r->at].literal;
    diag_report(d, DIAG_BAD_VALUE, span, "%s is out of range for %s", const_text(d, literal),
                scalar_text(r->operand));
    ScalarKind wide = type_that_holds(literal->v.i, scalar_info[r->operand].cls == SCLASS_SINT);
    if (wide != SCALAR_COUNT)
        diag_help(d, "cast the other operand to %s first", scalar_info[wide].name);
}

static void report_negative(DiagSink *d, Span span, const char *what, const RuleResult *r)
{
    const ConstVal *literal = r->given[r->at].literal;
    diag_report(d, DIAG_BAD_VALUE, span,
                "'%s' of an unsigned operand (%s) and the negative constant %s", what,
                scalar_text(r->operand), const_text(d, literal));
    if (strcmp(what, "+") == 0) {
        ConstVal positive = const_int(-literal->v.i);
        diag_help(d, "subtract %s instead", const_text(d, &positive));
    } else {
        diag_help(d, "cast the other operand to a signed type first");
    }
}

static void report_needs_int(DiagSink *d, Span span, const char *what, const RuleResult *r)
{
    bool takes_bool = strcmp(what, "~") == 0;
    diag_report(d, DIAG_TYPE_MISMATCH, span, "'%s' needs %s, got %s", what,
                takes_bool ? "an integer or bool" : "integers", operand_text(d, &r->given[r->at]));
    if (strcmp(what, "//") == 0)
        diag_help(d, "write floor(x / y)");
}

void rule_report(DiagSink *d, Span span, const char *what, const RuleResult *r)
{
    const RuleOperand *at = &r->given[r->at];
    switch (r->why) {
    case RULE_NEEDS_FLOAT:
        diag_report(d, DIAG_TYPE_MISMATCH, span, "'%s' needs a float, got %s", what,
                    operand_text(d, at));
        diag_help(d, "cast it with .to(float32)");
        break;
    case RULE_NEEDS_INT: report_needs_int(d, span, what, r); break;
    case RULE_NEEDS_32_OR_64:
        diag_report(d, DIAG_TYPE_MISMATCH, span, "'%s' needs integers of 32 or 64 bits, got %s",
                    what, scalar_text(r->operand));
        break;
    case RULE_FP8_WITH_INT:
        diag_report(d, DIAG_TYPE_MISMATCH, span, "'%s' of %s and %s", what,
                    operand_text(d, &r->given[0]), operand_text(d, &r->given[1]));
        diag_help(d, "cast the fp8 operand to float16 or float32 first");
        break;
    case RULE_SIGNEDNESS:
        diag_report(d, DIAG_TYPE_MISMATCH, span, "'%s' of %s and %s, which differ in signedness",
                    what, operand_text(d, &r->given[0]), operand_text(d, &r->given[1]));
        diag_help(d, "cast one of them to the type of the other");
        break;
    case RULE_LITERAL_RANGE: report_range(d, span, r); break;
    case RULE_LITERAL_NEGATIVE: report_negative(d, span, what, r); break;
    case RULE_LITERAL_TOO_LARGE:
        diag_report(d, DIAG_BAD_VALUE, span,
                    "%s fits no integer type; they end at int64 and uint64",
                    const_text(d, at->literal));
        break;
    case RULE_LITERAL_NO_VALUE:
        if (at->literal->kind != CONST_ERROR)
            diag_report(d, DIAG_TYPE_MISMATCH, span, "'%s' needs numbers, got %s", what,
                        const_kind_text(at->literal));
        break;
    case RULE_OK:
    case RULE_CAST_POINTER:
    case RULE_CAST_WIDTH:
    case RULE_CAST_ROUNDING:
    case RULE_REASON_COUNT: break;
    }
}

static unsigned bits_of(const Type *t)
{
    return type_is_ptr(t) ? 64 : scalar_info[type_scalar_kind(t)].bits;
}

void rule_report_cast(DiagSink *d, Span span, TypeTable *t, RuleReason why, const Type *from,
                      const Type *to)
{
    const char *text_from = type_text(t, from), *text_to = type_text(t, to);
    if (why == RULE_CAST_WIDTH) {
        diag_report(d, DIAG_TYPE_MISMATCH, span, "cannot bitcast %s (%u bits) to %s (%u bits)",
                    text_from, bits_of(from), text_to, bits_of(to));
    } else if (why == RULE_CAST_ROUNDING) {
        diag_report(d, DIAG_BAD_VALUE, span,
                    "a rounding mode is only for casts to a narrower float, not %s to %s",
                    text_from, text_to);
    } else {
        diag_report(d, DIAG_TYPE_MISMATCH, span, "cannot cast %s to %s", text_from, text_to);
        if (type_is_ptr(from))
            diag_help(d, "an address fits int64 only");
    }
}

void rule_report_shapes(DiagSink *d, Span span, TypeTable *t, const RuleShape *r, const Type *a,
                        const Type *b)
{
    diag_report(d, DIAG_SHAPE_MISMATCH, span,
                "shapes %s and %s do not broadcast: axis %u has sizes %d and %d",
                type_shape_text(t, a), type_shape_text(t, b), r->axis, (int)r->size[0],
                (int)r->size[1]);
    if (r->lead)
        diag_help(d, "axes are matched from the last one; add one with [:, None]");
}
