// fold_const.c - elementwise operations on constants, as the machine would compute them.
//
// Integers: modulo 2^bits, division towards zero, shifts by the width and above give 0 or the sign.
// Floats: one rounding to the type after an operation in double, which is the same as rounding once
// for + - * / sqrt on types of half the width (53 >= 2 * 24 + 2); fma uses the type's own. Division
// by zero of integers and the inexact functions (exp, sin, pow ...) are left to the hardware.
#include "passes/fold_impl.h"

#include <math.h>

enum { FOLD_MAX_OPERANDS = 3 };

/* ---- integers ---- */

static uint64_t high_product(uint64_t a, uint64_t b)
{
    uint64_t al = a & UINT32_MAX, ah = a >> 32, bl = b & UINT32_MAX, bh = b >> 32;
    uint64_t middle = ah * bl + (al * bl >> 32);
    return ah * bh + (middle >> 32) + (((middle & UINT32_MAX) + al * bh) >> 32);
}

typedef struct IntType {
    ScalarKind kind;
    unsigned bits;
    bool is_signed;
} IntType;

static bool less(IntType t, int64_t a, int64_t b)
{
    return t.is_signed ? a < b : (uint64_t)a < (uint64_t)b;
}

/// IDIV, REM, CDIV. The smallest number divided by -1 wraps to itself.
static bool divide(IntType t, IrCode code, int64_t a, int64_t b, int64_t *out)
{
    if (b == 0)
        return false;
    int64_t quotient, rest;
    if (!t.is_signed) {
        quotient = (int64_t)((uint64_t)a / (uint64_t)b);
        rest = (int64_t)((uint64_t)a % (uint64_t)b);
    } else if (b == -1) {
        quotient = (int64_t)(0 - (uint64_t)a);
        rest = 0;
    } else {
        quotient = a / b;
        rest = a % b;
    }
    bool positive = !t.is_signed || (a < 0) == (b < 0);
    bool up = code == IR_CDIV && rest != 0 && positive;
    *out = code == IR_REM ? rest : (int64_t)((uint64_t)quotient + up);
    return true;
}

static int64_t shift(IntType t, IrCode code, int64_t a, int64_t count)
{
    uint64_t mask = t.bits == 64 ? UINT64_MAX : (UINT64_C(1) << t.bits) - 1;
    bool too_far = ((uint64_t)count & mask) >= t.bits;  // a negative count is a large one
    if (code == IR_SHL)
        return too_far ? 0 : (int64_t)((uint64_t)a << count);
    if (!t.is_signed)
        return too_far ? 0 : (int64_t)((uint64_t)a >> count);
    int64_t distance = too_far ? 63 : count;
    return a < 0 ? ~(~a >> distance) : a >> distance;
}

static bool eval_int(IntType t, IrCode code, const int64_t *x, int64_t *out)
{
    int64_t a = x[0], b = x[1];
    switch ((int)code) {
    case IR_NEG: *out = (int64_t)(0 - (uint64_t)a); return true;
    case IR_NOT: *out = ~a; return true;
    case IR_ABS: *out = t.is_signed && a < 0 ? (int64_t)(0 - (uint64_t)a) : a; return true;
    case IR_ADD: *out = (int64_t)((uint64_t)a + (uint64_t)b); return true;
    case IR_SUB: *out = (int64_t)((uint64_t)a - (uint64_t)b); return true;
    case IR_MUL: *out = (int64_t)((uint64_t)a * (uint64_t)b); return true;
    case IR_IDIV:
    case IR_REM:
    case IR_CDIV: return divide(t, code, a, b, out);
    case IR_AND: *out = a & b; return true;
    case IR_OR: *out = a | b; return true;
    case IR_XOR: *out = a ^ b; return true;
    case IR_SHL:
    case IR_SHR: *out = shift(t, code, a, b); return true;
    case IR_MAX: *out = less(t, a, b) ? b : a; return true;
    case IR_MIN: *out = less(t, b, a) ? b : a; return true;
    case IR_CLAMP:
        a = less(t, a, b) ? b : a;
        *out = less(t, x[2], a) ? x[2] : a;
        return true;
    case IR_UMULHI: {
        uint64_t mask = t.bits == 64 ? UINT64_MAX : UINT32_MAX;
        uint64_t ua = (uint64_t)a & mask, ub = (uint64_t)b & mask;
        *out = (int64_t)(t.bits == 64 ? high_product(ua, ub) : ua * ub >> 32);
        return true;
    }
    default: return false;
    }
}

static bool compare_int(IntType t, IrCode code, int64_t a, int64_t b, int64_t *out)
{
    switch ((int)code) {
    case IR_EQ: *out = a == b; return true;
    case IR_NE: *out = a != b; return true;
    case IR_LT: *out = less(t, a, b); return true;
    case IR_LE: *out = !less(t, b, a); return true;
    case IR_GT: *out = less(t, b, a); return true;
    case IR_GE: *out = !less(t, a, b); return true;
    default: return false;
    }
}

/* ---- floats ---- */

static double larger(double a, double b, bool propagate)
{
    if (isnan(a) || isnan(b))
        return propagate || (isnan(a) && isnan(b)) ? NAN : isnan(a) ? b : a;
    if (a == b)
        return signbit(a) ? b : a;
    return a > b ? a : b;
}

static double smaller(double a, double b, bool propagate)
{
    return -larger(-a, -b, propagate);
}

static bool eval_float(ScalarKind kind, const IrOp *op, const double *x, double *out)
{
    double a = x[0], b = x[1];
    bool propagate = op->attr.propagate_nan;
    switch (op->code) {
    case IR_NEG: *out = -a; return true;
    case IR_ABS: *out = fabs(a); return true;
    case IR_SQRT:
    case IR_SQRT_RN: *out = sqrt(a); break;
    case IR_FLOOR: *out = floor(a); break;
    case IR_CEIL: *out = ceil(a); break;
    case IR_ROUND: *out = round(a); break;
    case IR_RINT: *out = nearbyint(a); break;
    case IR_TRUNC: *out = trunc(a); break;
    case IR_ADD: *out = a + b; break;
    case IR_SUB: *out = a - b; break;
    case IR_MUL: *out = a * b; break;
    case IR_DIV:
    case IR_DIV_RN: *out = a / b; break;
    case IR_REM: *out = fmod(a, b); break;
    case IR_MAX: *out = larger(a, b, propagate); break;
    case IR_MIN: *out = smaller(a, b, propagate); break;
    case IR_CLAMP:
        if (isnan(a))
            *out = propagate ? a : x[2];
        else
            *out = smaller(larger(a, b, propagate), x[2], propagate);
        break;
    case IR_FMA:
        if (kind != SCALAR_F64 && kind != SCALAR_F32)
            return false;  // one rounding to 16 bits: left to run time
        *out = kind == SCALAR_F64 ? fma(a, b, x[2]) : (double)fmaf((float)a, (float)b, (float)x[2]);
        break;
    default: return false;
    }
    *out = isnan(*out) ? (double)NAN : ir_round_float(kind, *out, false);
    return true;
}

static bool compare_float(const IrOp *op, double a, double b, int64_t *out)
{
    switch (op->code) {
    case IR_EQ: *out = a == b; return true;
    case IR_NE: *out = a != b; return true;
    case IR_LT: *out = a < b; return true;
    case IR_LE: *out = a <= b; return true;
    case IR_GT: *out = a > b; return true;
    case IR_GE: *out = a >= b; return true;
    case IR_ISNAN: *out = isnan(a); return true;
    case IR_ISINF: *out = isinf(a); return true;
    default: return false;
    }
}

/* ---- casts ---- */

static int64_t float_to_int(ScalarKind to, double v)
{
    const ScalarInfo *s = &scalar_info[to];
    bool is_signed = s->cls == SCLASS_SINT;
    double low = is_signed ? -ldexp(1, s->bits - 1) : 0;
    double limit = ldexp(1, is_signed ? s->bits - 1 : s->bits);  // the first above the range
    if (isnan(v))
        return 0;
    v = trunc(v);
    if (v <= low)
        return is_signed ? INT64_MIN >> (64 - s->bits) : 0;
    if (v >= limit)
        return is_signed ? (int64_t)(UINT64_MAX >> (65 - s->bits))
                         : (int64_t)(UINT64_MAX >> (64 - s->bits));
    return is_signed ? (int64_t)v : (int64_t)(uint64_t)v;
}

static bool eval_cast(const IrOp *op, IrConst x, IrConst *out)
{
    const Type *from = op->args[0]->type, *to = op->results[0]->type;
    if (type_is_ptr(from) || type_is_ptr(to))
        return false;
    ScalarKind kind = type_scalar_kind(to);
    if (type_is_bool(to)) {
        *out = (IrConst){ .i = x.is_float ? x.f != 0 : x.i != 0 };  // true for a NaN
    } else if (type_is_int(to)) {
        *out = (IrConst){ .i = x.is_float ? float_to_int(kind, x.f) : ir_wrap_int(kind, x.i) };
    } else if (x.is_float) {
        *out =
            (IrConst){ .is_float = true, .f = ir_round_float(kind, x.f, op->attr.round_to_zero) };
    } else {
        double v = ir_float_of_int(type_is_fp8(to) ? SCALAR_F32 : kind, x.i, !type_is_signed(from));
        *out = (IrConst){ .is_float = true, .f = ir_round_float(kind, v, false) };
    }
    return true;
}

static bool eval_bitcast(const IrOp *op, IrConst x, IrConst *out)
{
    const Type *from = op->args[0]->type, *to = op->results[0]->type;
    if (!type_is_int(from) || !type_is_int(to))
        return false;
    *out = (IrConst){ .i = ir_wrap_int(type_scalar_kind(to), x.i) };
    return true;
}

/* ---- dispatch ---- */

static bool eval_numbers(const IrOp *op, const IrConst *x, IrConst *out)
{
    const Type *type = op->args[0]->type;
    bool to_bool =
        ir_op_info[op->code].rule == RULE_CMP2 || ir_op_info[op->code].rule == RULE_FPRED;
    if (type_is_ptr(type) || type_is_fp8(type))
        return false;
    *out = (IrConst){ .i = 0 };
    ScalarKind kind = type_scalar_kind(type);
    if (type_is_float(type)) {
        const double v[] = { x[0].f, x[1].f, x[2].f };
        if (to_bool)
            return compare_float(op, v[0], v[1], &out->i);
        out->is_float = true;
        return eval_float(kind, op, v, &out->f);
    }
    IntType t = { kind, scalar_info[kind].bits, type_is_signed(type) };
    const int64_t v[] = { x[0].i, x[1].i, x[2].i };
    if (to_bool)
        return compare_int(t, op->code, v[0], v[1], &out->i);
    if (!eval_int(t, op->code, v, &out->i))
        return false;
    out->i = ir_wrap_int(kind, out->i);
    return true;
}

bool fold_evaluate(const IrOp *op, IrConst *out)
{
    IrConst x[FOLD_MAX_OPERANDS] = { { .i = 0 } };
    if (op->argc > FOLD_MAX_OPERANDS)
        return false;
    for (uint32_t i = 0; i < op->argc; i++)
        if (!fold_const_of(op->args[i], &x[i]))
            return false;
    switch (op->code) {
    case IR_SELECT: *out = x[0].i ? x[1] : x[2]; return true;
    case IR_CAST: return eval_cast(op, x[0], out);
    case IR_BITCAST: return eval_bitcast(op, x[0], out);
    case IR_PTR_ADD:
    case IR_PTR_DIFF: return false;
    default: return eval_numbers(op, x, out);
    }
}
