/// constval.c - arithmetic, comparison and truth of compile-time numbers, with Python's semantics.
///
/// Strings and tuples are in constseq.c, text forms in constprint.c. Integers that leave 128 bits,
/// a division by zero and operands that an operator does not take are reported.
#include "sema/constval_impl.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static ConstVal fail_overflow(ConstCx *cx, const char *op, Span span)
{
    diag_report(cx->diags, DIAG_BAD_VALUE, span, "the result of '%s' does not fit 128 bits", op);
    return const_error();
}

static ConstVal fail_zero(ConstCx *cx, const char *op, Span span)
{
    diag_report(cx->diags, DIAG_BAD_VALUE, span, "'%s' by zero in a compile-time expression", op);
    return const_error();
}

ConstVal const_bad_operands(ConstCx *cx, const char *op, const ConstVal *a, const ConstVal *b,
                            Span span)
{
    diag_report(cx->diags, DIAG_TYPE_MISMATCH, span, "unsupported operands for '%s': %s and %s", op,
                const_kind_text(a), const_kind_text(b));
    return const_error();
}

static bool is_number(const ConstVal *v)
{
    return const_is_int(v) || v->kind == CONST_FLOAT;
}

static double to_double(const ConstVal *v)
{
    return v->kind == CONST_FLOAT ? v->v.f : (double)const_int_of(v);
}

static Int128 magnitude(Int128 v)
{
    return v < 0 ? -v : v;
}

// ---- integers -------------------------------------------------------------------------------

static bool add_ints(Int128 a, Int128 b, Int128 *out)
{
    if (b >= 0 ? a > CONST_INT_MAX - b : a < -CONST_INT_MAX - b)
        return false;
    *out = a + b;
    return true;
}

static bool multiply_ints(Int128 a, Int128 b, Int128 *out)
{
    if (b != 0 && magnitude(a) > CONST_INT_MAX / magnitude(b))
        return false;
    *out = a * b;
    return true;
}

static bool power_ints(Int128 base, Int128 exponent, Int128 *out)
{
    *out = 1;
    if (exponent == 0)
        return true;
    if (base == 0 || base == 1 || base == -1) {
        *out = base == -1 && exponent % 2 == 0 ? 1 : base;
        return true;
    }
    if (exponent > 127)
        return false;
    for (Int128 i = 0; i < exponent; i++)
        if (!multiply_ints(*out, base, out))
            return false;
    return true;
}

static bool shift_left(Int128 v, Int128 count, Int128 *out)
{
    *out = 0;
    if (v == 0)
        return true;
    if (count > 126 || magnitude(v) > CONST_INT_MAX >> count)
        return false;
    *out = v * ((Int128)1 << count);
    return true;
}

static Int128 floor_divide(Int128 a, Int128 b)
{
    Int128 q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

static ConstVal int_power(ConstCx *cx, Int128 a, Int128 b, Span span)
{
    if (b < 0)
        return a == 0 ? fail_zero(cx, "**", span) : const_float(pow((double)a, (double)b));
    Int128 v;
    return power_ints(a, b, &v) ? const_int(v) : fail_overflow(cx, "**", span);
}

static ConstVal int_shift(ConstCx *cx, AstBinaryOp op, Int128 a, Int128 b, Span span)
{
    if (b < 0) {
        diag_report(cx->diags, DIAG_BAD_VALUE, span, "negative shift count %d",
                    (int)(b < -999 ? -999 : b));
        return const_error();
    }
    if (op == AST_SHR)
        return const_int(b > 126 ? (a < 0 ? -1 : 0) : floor_divide(a, (Int128)1 << b));
    Int128 v;
    return shift_left(a, b, &v) ? const_int(v) : fail_overflow(cx, "<<", span);
}

static ConstVal int_binary(ConstCx *cx, AstBinaryOp op, const ConstVal *x, const ConstVal *y,
                           Span span)
{
    Int128 a = const_int_of(x), b = const_int_of(y), v = 0;
    bool fits = true;
    switch (op) {
    case AST_ADD: fits = add_ints(a, b, &v); break;
    case AST_SUB: fits = add_ints(a, -b, &v); break;
    case AST_MUL: fits = multiply_ints(a, b, &v); break;
    case AST_DIV:
        return b == 0 ? fail_zero(cx, "/", span)
                      : const_float((double)((long double)a / (long double)b));
    case AST_FLOOR_DIV:
    case AST_MOD:
        if (b == 0)
            return fail_zero(cx, ast_binary_text[op], span);
        v = floor_divide(a, b);
        v = op == AST_MOD ? a - v * b : v;
        break;
    case AST_POW: return int_power(cx, a, b, span);
    case AST_SHL:
    case AST_SHR: return int_shift(cx, op, a, b, span);
    case AST_BIT_AND: v = a & b; break;
    case AST_BIT_OR: v = a | b; break;
    case AST_BIT_XOR: v = a ^ b; break;
    case AST_MATMUL:
    case AST_BINARY_OP_COUNT: return const_bad_operands(cx, ast_binary_text[op], x, y, span);
    }
    bool bits = op == AST_BIT_AND || op == AST_BIT_OR || op == AST_BIT_XOR;
    if (bits && x->kind == CONST_BOOL && y->kind == CONST_BOOL)
        return const_bool(v != 0);
    return fits ? const_int(v) : fail_overflow(cx, ast_binary_text[op], span);
}

// ---- floats ---------------------------------------------------------------------------------

// Python's divmod: the remainder has the divisor's sign, the quotient is a whole number.
static void float_divmod(double a, double b, double *quotient, double *remainder)
{
    double rem = fmod(a, b), div = (a - rem) / b;
    if (rem != 0) {
        if ((b < 0) != (rem < 0)) {
            rem += b;
            div -= 1;
        }
    } else {
        rem = copysign(0, b);
    }
    double whole = floor(div);
    *quotient = div == 0 ? copysign(0, a / b) : div - whole > 0.5 ? whole + 1 : whole;
    *remainder = rem;
}

static ConstVal float_power(ConstCx *cx, double a, double b, Span span)
{
    if (a == 0 && b < 0)
        return fail_zero(cx, "**", span);
    double v = pow(a, b);
    if (isfinite(a) && isfinite(b) && !isfinite(v)) {
        diag_report(cx->diags, DIAG_BAD_VALUE, span,
                    isnan(v) ? "a negative number to a fractional power is no real number"
                             : "the result of '**' is too large for a float");
        return const_error();
    }
    return const_float(v);
}

static ConstVal float_binary(ConstCx *cx, AstBinaryOp op, const ConstVal *x, const ConstVal *y,
                             Span span)
{
    double a = to_double(x), b = to_double(y), quotient, remainder;
    switch (op) {
    case AST_ADD: return const_float(a + b);
    case AST_SUB: return const_float(a - b);
    case AST_MUL: return const_float(a * b);
    case AST_POW: return float_power(cx, a, b, span);
    case AST_DIV:
    case AST_FLOOR_DIV:
    case AST_MOD:
        if (b == 0)
            return fail_zero(cx, ast_binary_text[op], span);
        if (op == AST_DIV)
            return const_float(a / b);
        float_divmod(a, b, &quotient, &remainder);
        return const_float(op == AST_MOD ? remainder : quotient);
    case AST_SHL:
    case AST_SHR:
    case AST_BIT_AND:
    case AST_BIT_OR:
    case AST_BIT_XOR:
        diag_report(cx->diags, DIAG_TYPE_MISMATCH, span, "'%s' needs integers, got %s",
                    ast_binary_text[op], const_kind_text(x->kind == CONST_FLOAT ? x : y));
        return const_error();
    case AST_MATMUL:
    case AST_BINARY_OP_COUNT: break;
    }
    return const_bad_operands(cx, ast_binary_text[op], x, y, span);
}

// ---- operators ------------------------------------------------------------------------------

ConstVal const_binary(ConstCx *cx, AstBinaryOp op, ConstVal a, ConstVal b, Span span)
{
    if (a.kind == CONST_ERROR || b.kind == CONST_ERROR)
        return const_error();
    if (const_is_int(&a) && const_is_int(&b))
        return int_binary(cx, op, &a, &b, span);
    if (is_number(&a) && is_number(&b))
        return float_binary(cx, op, &a, &b, span);
    return const_sequence_binary(cx, op, &a, &b, span);
}

ConstVal const_unary(ConstCx *cx, AstUnaryOp op, ConstVal a, Span span)
{
    bool ok = true, truth;
    if (a.kind == CONST_ERROR)
        return a;
    switch (op) {
    case AST_NOT:
        truth = const_truth(cx, a, span, &ok);
        return ok ? const_bool(!truth) : const_error();
    case AST_POS:
        if (is_number(&a))
            return a.kind == CONST_BOOL ? const_int(a.v.b) : a;
        break;
    case AST_NEG:
        if (is_number(&a))
            return a.kind == CONST_FLOAT ? const_float(-a.v.f) : const_int(-const_int_of(&a));
        break;
    case AST_INVERT:
        if (const_is_int(&a))
            return const_int(-const_int_of(&a) - 1);
        break;
    case AST_UNARY_OP_COUNT: break;
    }
    diag_report(cx->diags, DIAG_TYPE_MISMATCH, span, "unary '%s' needs %s, got %s",
                ast_unary_text[op], op == AST_INVERT ? "an integer" : "a number",
                const_kind_text(&a));
    return const_error();
}

int const_number_order(const ConstVal *a, const ConstVal *b)
{
    if (const_is_int(a) && const_is_int(b)) {
        Int128 x = const_int_of(a), y = const_int_of(b);
        return (x > y) - (x < y);
    }
    if (const_is_int(b)) {
        int order = const_number_order(b, a);
        return order == 2 ? 2 : -order;
    }
    double y = b->v.f;
    if (a->kind == CONST_FLOAT || !isfinite(y) || fabs(y) >= 0x1p126) {
        double x = to_double(a);
        return isnan(x) || isnan(y) ? 2 : (x > y) - (x < y);
    }
    // An int and a float of moderate size: exactly, not through a rounded double.
    Int128 x = const_int_of(a), whole = (Int128)y;
    if (x != whole)
        return x > whole ? 1 : -1;
    double fraction = y - trunc(y);
    return (fraction < 0) - (fraction > 0);
}

bool const_equal(const ConstVal *a, const ConstVal *b)
{
    if (is_number(a) && is_number(b))
        return const_number_order(a, b) == 0;
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case CONST_NONE: return true;
    case CONST_STR: return str_equal(a->v.s, b->v.s);
    case CONST_DTYPE: return a->v.dtype == b->v.dtype;
    case CONST_TUPLE:
    case CONST_DICT:
        if (a->v.tuple.len != b->v.tuple.len)
            return false;
        for (uint32_t i = 0; i < a->v.tuple.len; i++)
            if (!const_equal(&a->v.tuple.at[i], &b->v.tuple.at[i]))
                return false;
        return true;
    case CONST_CONFIG:
    case CONST_FUNC:
    case CONST_BUILTIN:
    case CONST_NAMESPACE:
    case CONST_ANNOTATION: return a->v.ref == b->v.ref;
    case CONST_ERROR:
    case CONST_BOOL:
    case CONST_INT:
    case CONST_FLOAT: break;
    }
    return false;
}

static ConstVal compare_order(ConstCx *cx, AstCompareOp op, const ConstVal *a, const ConstVal *b,
                              Span span)
{
    int order;
    if (is_number(a) && is_number(b))
        order = const_number_order(a, b);
    else if (!const_sequence_order(a, b, &order))
        return const_bad_operands(cx, ast_compare_text[op], a, b, span);
    bool ordered = order != 2;
    switch (op) {
    case AST_LT: return const_bool(ordered && order < 0);
    case AST_LE: return const_bool(ordered && order <= 0);
    case AST_GT: return const_bool(ordered && order > 0);
    case AST_EQ:
    case AST_NE:
    case AST_GE:
    case AST_IS:
    case AST_IS_NOT:
    case AST_IN:
    case AST_NOT_IN:
    case AST_COMPARE_OP_COUNT: break;
    }
    return const_bool(ordered && order >= 0);
}

ConstVal const_compare(ConstCx *cx, AstCompareOp op, ConstVal a, ConstVal b, Span span)
{
    bool ok = true, held;
    if (a.kind == CONST_ERROR || b.kind == CONST_ERROR)
        return const_error();
    switch (op) {
    case AST_EQ: return const_bool(const_equal(&a, &b));
    case AST_NE: return const_bool(!const_equal(&a, &b));
    case AST_IS: return const_bool(a.kind == b.kind && const_equal(&a, &b));
    case AST_IS_NOT: return const_bool(a.kind != b.kind || !const_equal(&a, &b));
    case AST_IN:
    case AST_NOT_IN:
        held = const_contains(cx, &a, &b, span, &ok);
        return ok ? const_bool(held == (op == AST_IN)) : const_error();
    case AST_LT:
    case AST_LE:
    case AST_GT:
    case AST_GE:
    case AST_COMPARE_OP_COUNT: break;
    }
    return compare_order(cx, op, &a, &b, span);
}

bool const_truth(ConstCx *cx, ConstVal v, Span span, bool *ok)
{
    *ok = true;
    switch (v.kind) {
    case CONST_NONE: return false;
    case CONST_BOOL: return v.v.b;
    case CONST_INT: return v.v.i != 0;
    case CONST_FLOAT: return v.v.f != 0;
    case CONST_STR: return v.v.s.len != 0;
    case CONST_TUPLE:
    case CONST_DICT: return v.v.tuple.len != 0;
    case CONST_ERROR:
    case CONST_DTYPE:
    case CONST_CONFIG:
    case CONST_FUNC:
    case CONST_BUILTIN:
    case CONST_NAMESPACE:
    case CONST_ANNOTATION: break;
    }
    *ok = false;
    if (v.kind != CONST_ERROR)
        diag_report(cx->diags, DIAG_TYPE_MISMATCH, span, "%s is neither true nor false",
                    const_kind_text(&v));
    return false;
}

// ---- conversions ----------------------------------------------------------------------------

// Digits in any base Python writes; false for anything else, or beyond 128 bits (*too_large).
static bool parse_int(const char *text, bool prefixes, Int128 *out, bool *too_large)
{
    int base = 10;
    bool negative = *text == '-';
    text += negative || *text == '+';
    if (prefixes && text[0] == '0' && text[1]) {
        char c = text[1];
        base = c == 'x' || c == 'X' ? 16 : c == 'o' || c == 'O' ? 8 : c == 'b' || c == 'B' ? 2 : 10;
        text += base != 10 ? 2 : 0;
    }
    *out = 0;
    *too_large = false;
    if (!*text)
        return false;
    for (; *text; text++) {
        int digit = *text >= '0' && *text <= '9'   ? *text - '0'
                    : *text >= 'a' && *text <= 'f' ? *text - 'a' + 10
                    : *text >= 'A' && *text <= 'F' ? *text - 'A' + 10
                                                   : 99;
        if (digit >= base)
            return false;
        if (!multiply_ints(*out, base, out) || !add_ints(*out, digit, out)) {
            *too_large = true;
            return false;
        }
    }
    *out = negative ? -*out : *out;
    return true;
}

// The text without the blanks around it, NUL-terminated.
static const char *stripped(Arena *a, Str s)
{
    while (s.len && strchr(" \t\n\r\f\v", s.at[0]))
        s = (Str){ s.at + 1, s.len - 1 };
    while (s.len && strchr(" \t\n\r\f\v", s.at[s.len - 1]))
        s.len--;
    return arena_strndup(a, s.at, s.len);
}

ConstVal const_of_int(ConstCx *cx, const AstInt *n)
{
    if (!n->overflow)
        return const_int((Int128)n->value);
    Int128 v;
    bool too_large;
    if (parse_int(arena_strndup(cx->arena, n->text.at, n->text.len), true, &v, &too_large))
        return const_int(v);
    diag_report(cx->diags, DIAG_BAD_VALUE, n->base.span, "this integer does not fit 128 bits");
    return const_error();
}

ConstVal const_to_int(ConstCx *cx, ConstVal v, Span span)
{
    if (v.kind == CONST_ERROR)
        return v;
    if (const_is_int(&v))
        return const_int(const_int_of(&v));
    if (v.kind == CONST_FLOAT) {
        if (isfinite(v.v.f) && fabs(v.v.f) < 0x1p126)
            return const_int((Int128)v.v.f);
        diag_report(cx->diags, DIAG_BAD_VALUE, span,
                    "a float that is %s has no value as an integer",
                    isnan(v.v.f)   ? "NaN"
                    : isinf(v.v.f) ? "infinite"
                                   : "so large");
        return const_error();
    }
    if (v.kind == CONST_STR) {
        Int128 i;
        bool too_large;
        if (parse_int(stripped(cx->arena, v.v.s), false, &i, &too_large))
            return const_int(i);
        diag_report(cx->diags, DIAG_BAD_VALUE, span, "'%.*s' is not an integer", (int)v.v.s.len,
                    v.v.s.at);
        return const_error();
    }
    diag_report(cx->diags, DIAG_TYPE_MISMATCH, span, "int() needs a number or a string, got %s",
                const_kind_text(&v));
    return const_error();
}

ConstVal const_to_float(ConstCx *cx, ConstVal v, Span span)
{
    if (v.kind == CONST_ERROR)
        return v;
    if (is_number(&v))
        return const_float(to_double(&v));
    if (v.kind == CONST_STR) {
        const char *text = stripped(cx->arena, v.v.s);
        char *end;
        double f = strtod(text, &end);
        bool hex = strchr(text, 'x') || strchr(text, 'X') || strchr(text, '(');
        if (end != text && !*end && !hex)
            return const_float(f);
        diag_report(cx->diags, DIAG_BAD_VALUE, span, "'%.*s' is not a float", (int)v.v.s.len,
                    v.v.s.at);
        return const_error();
    }
    diag_report(cx->diags, DIAG_TYPE_MISMATCH, span, "float() needs a number or a string, got %s",
                const_kind_text(&v));
    return const_error();
}
