// typed.c - constants that have a type: folding that gives what run-time code would give.
//
// Values are kept normalised to their type: integers inside the range of their kind, floats
// rounded to it. Arithmetic on floats is done in double and rounded once, which for + - * / is
// the correctly rounded result in every narrower format.
#include "lower/lower_impl.h"

#include <math.h>

__extension__ typedef unsigned __int128 Uint128;

static Int128 max_of(ScalarKind kind)
{
    const ScalarInfo *s = &scalar_info[kind];
    unsigned bits = s->cls == SCLASS_SINT ? s->bits - 1u : s->bits;
    return ((Int128)1 << bits) - 1;
}

static Int128 min_of(ScalarKind kind)
{
    return scalar_info[kind].cls == SCLASS_SINT ? -max_of(kind) - 1 : 0;
}

// The low bits of `v` as a value of `kind`.
static Int128 wrap(ScalarKind kind, Int128 v)
{
    int64_t low = ir_wrap_int(kind, (int64_t)(uint64_t)v);
    return scalar_info[kind].cls == SCLASS_UINT ? (Int128)(uint64_t)low : (Int128)low;
}

static bool is_float_kind(ScalarKind kind)
{
    return scalar_info[kind].cls == SCLASS_FLOAT || scalar_info[kind].cls == SCLASS_FP8;
}

static ConstVal int_of_kind(ScalarKind kind, Int128 v)
{
    return scalar_info[kind].cls == SCLASS_BOOL ? const_bool(v != 0) : const_int(v);
}

static Int128 int_of_float(ScalarKind kind, double v)
{
    if (isnan(v))
        return 0;
    if (v >= (double)max_of(kind))
        return max_of(kind);
    if (v <= (double)min_of(kind))
        return min_of(kind);
    return (Int128)v;
}

static double float_of_int(ScalarKind kind, Int128 v)
{
    if (v >= INT64_MIN && v <= INT64_MAX)
        return ir_float_of_int(kind, (int64_t)v, false);
    if (v > 0 && v <= (Int128)UINT64_MAX)
        return ir_float_of_int(kind, (int64_t)(uint64_t)v, true);
    return ir_round_float(kind, (double)v, false);
}

ConstVal lower_typed_const(ConstVal v, ScalarKind kind)
{
    bool is_float = v.kind == CONST_FLOAT;
    Int128 i = v.kind == CONST_BOOL ? v.v.b : is_float ? 0 : v.v.i;
    if (is_float_kind(kind))
        return const_float(is_float ? ir_round_float(kind, v.v.f, false) : float_of_int(kind, i));
    if (scalar_info[kind].cls == SCLASS_BOOL)
        return const_bool(is_float ? v.v.f != 0 : i != 0);
    return const_int(is_float ? int_of_float(kind, v.v.f) : wrap(kind, i));
}

Val lower_typed_val(Lower *cx, ConstVal v, ScalarKind kind)
{
    Val out = val_const(lower_typed_const(v, kind));
    out.fixed = type_scalar(cx->program->types, kind);
    return out;
}

IrValue *lower_typed_value(Lower *cx, ConstVal v, const Type *elem)
{
    ConstVal c = lower_typed_const(v, elem->scalar);
    switch ((unsigned)c.kind) {
    case CONST_FLOAT: return ir_const_float(&cx->b, elem, c.v.f);
    case CONST_BOOL: return ir_const_int(&cx->b, elem, c.v.b);
    default: return ir_const_int(&cx->b, elem, (int64_t)(uint64_t)c.v.i);
    }
}

static Int128 shift(IrCode code, ScalarKind kind, Int128 a, Int128 b)
{
    bool over = b < 0 || b >= scalar_info[kind].bits;
    if (code == IR_SHL)
        return over ? 0 : (Int128)((uint64_t)a << (unsigned)b);
    return over ? (a < 0 ? -1 : 0) : a >> (unsigned)b;
}

// Two 64-bit factors: the product of unsigned ones may need bit 127.
static Int128 multiply(Int128 a, Int128 b)
{
    return (Int128)((Uint128)a * (Uint128)b);
}

static bool fold_int(IrCode code, ScalarKind kind, Int128 a, Int128 b, Int128 *out)
{
    switch ((unsigned)code) {
    case IR_ADD: *out = a + b; return true;
    case IR_SUB: *out = a - b; return true;
    case IR_MUL: *out = multiply(a, b); return true;
    case IR_IDIV: *out = b ? a / b : 0; return b != 0;
    case IR_REM: *out = b ? a % b : 0; return b != 0;
    case IR_CDIV: *out = b ? a / b + (a % b != 0 && (a < 0) == (b < 0)) : 0; return b != 0;
    case IR_MAX: *out = a > b ? a : b; return true;
    case IR_MIN: *out = a < b ? a : b; return true;
    case IR_AND: *out = a & b; return true;
    case IR_OR: *out = a | b; return true;
    case IR_XOR: *out = a ^ b; return true;
    case IR_SHL:
    case IR_SHR: *out = shift(code, kind, a, b); return true;
    default: return false;
    }
}

static bool fold_float(IrCode code, double a, double b, double *out)
{
    switch ((unsigned)code) {
    case IR_ADD: *out = a + b; return true;
    case IR_SUB: *out = a - b; return true;
    case IR_MUL: *out = a * b; return true;
    case IR_DIV: *out = a / b; return true;
    case IR_REM: *out = fmod(a, b); return true;
    default: return false;
    }
}

#define COMPARE(code, a, b, out)                  \
    switch ((unsigned)(code)) {                   \
    case IR_EQ: *(out) = (a) == (b); return true; \
    case IR_NE: *(out) = (a) != (b); return true; \
    case IR_LT: *(out) = (a) < (b); return true;  \
    case IR_LE: *(out) = (a) <= (b); return true; \
    case IR_GT: *(out) = (a) > (b); return true;  \
    case IR_GE: *(out) = (a) >= (b); return true; \
    default: return false;                        \
    }

static bool compare_int(IrCode code, Int128 a, Int128 b, bool *out)
{
    COMPARE(code, a, b, out)
}

static bool compare_float(IrCode code, double a, double b, bool *out)
{
    COMPARE(code, a, b, out)
}

static void warn_overflow(Lower *cx, Span span, ScalarKind kind, Int128 exact, Int128 got)
{
    Buf text[2] = { 0 };
    ConstVal values[2] = { const_int(exact), const_int(got) };
    for (int i = 0; i < 2; i++)
        const_print(&text[i], &values[i]);
    diag_report(cx->consts.diags, DIAG_INT_OVERFLOW, span, "%s does not fit %s and wraps to %s",
                text[0].at, scalar_info[kind].name, text[1].at);
    diag_help(cx->consts.diags, "convert an operand with '.to(int64)'");
    buf_free(&text[0]);
    buf_free(&text[1]);
}

bool lower_fold_binary(Lower *cx, IrCode code, ScalarKind kind, const ConstVal operands[2],
                       ConstVal *out, Span span)
{
    const ConstVal a = lower_typed_const(operands[0], kind),
                   b = lower_typed_const(operands[1], kind);
    bool truth;
    if (is_float_kind(kind)) {
        double f;
        if (compare_float(code, a.v.f, b.v.f, &truth)) {
            *out = const_bool(truth);
            return true;
        }
        if (!fold_float(code, a.v.f, b.v.f, &f))
            return false;
        *out = const_float(ir_round_float(kind, f, false));
        return true;
    }
    Int128 x = a.kind == CONST_BOOL ? a.v.b : a.v.i, y = b.kind == CONST_BOOL ? b.v.b : b.v.i, r;
    if (compare_int(code, x, y, &truth)) {
        *out = const_bool(truth);
        return true;
    }
    if (!fold_int(code, kind, x, y, &r))
        return false;
    Int128 wrapped = wrap(kind, r);
    if (wrapped != r && scalar_info[kind].cls == SCLASS_SINT && code != IR_SHL)
        warn_overflow(cx, span, kind, r, wrapped);
    *out = int_of_kind(kind, wrapped);
    return true;
}
