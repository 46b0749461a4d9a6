// axis_range.c - intervals of integers: what an operation can give before it wraps.
//
// All arithmetic is checked; a bound that might leave int64 makes the range unknown. uint64 values
// have a range only where it is known to lie below 2^63.
#include "passes/axis_impl.h"

static const AxisRange unknown = { false, 0, 0 };

AxisRange axis_type_range(const Type *t)
{
    const Type *elem = type_elem(t);
    if (elem->kind != TYPE_SCALAR)
        return unknown;
    const ScalarInfo *s = &scalar_info[elem->scalar];
    switch (s->cls) {
    case SCLASS_BOOL: return (AxisRange){ true, 0, 1 };
    case SCLASS_SINT:
        return (AxisRange){ true, INT64_MIN >> (64 - s->bits), INT64_MAX >> (64 - s->bits) };
    case SCLASS_UINT:
        if (s->bits == 64)
            return unknown;
        return (AxisRange){ true, 0, INT64_MAX >> (63 - s->bits) };
    case SCLASS_FLOAT:
    case SCLASS_FP8: return unknown;
    }
    return unknown;
}

static bool add(int64_t a, int64_t b, int64_t *out)
{
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b)
        return false;
    *out = a + b;
    return true;
}

static bool negate(int64_t a, int64_t *out)
{
    *out = a == INT64_MIN ? 0 : -a;
    return a != INT64_MIN;
}

static bool multiply(int64_t a, int64_t b, int64_t *out)
{
    if (a == 0 || b == 0) {
        *out = 0;
        return true;
    }
    if (a == INT64_MIN || b == INT64_MIN)
        return false;
    // cppcheck-suppress zerodivcond; it takes the other way of the condition for zero
    const int64_t limit = INT64_MAX / (b < 0 ? -b : b);
    if (a > limit || a < -limit)
        return false;
    *out = a * b;
    return true;
}

static AxisRange sum(AxisRange x, AxisRange y)
{
    AxisRange r = { true, 0, 0 };
    return add(x.lo, y.lo, &r.lo) && add(x.hi, y.hi, &r.hi) ? r : unknown;
}

static AxisRange negative(AxisRange x)
{
    AxisRange r = { true, 0, 0 };
    return negate(x.hi, &r.lo) && negate(x.lo, &r.hi) ? r : unknown;
}

static AxisRange product(AxisRange x, AxisRange y)
{
    int64_t p[4];
    if (!multiply(x.lo, y.lo, &p[0]) || !multiply(x.lo, y.hi, &p[1]) ||
        !multiply(x.hi, y.lo, &p[2]) || !multiply(x.hi, y.hi, &p[3]))
        return unknown;
    AxisRange r = { true, p[0], p[0] };
    for (int i = 1; i < 4; i++) {
        r.lo = axis_min(r.lo, p[i]);
        r.hi = axis_max(r.hi, p[i]);
    }
    return r;
}

/// By a positive constant.
static AxisRange quotient(IrCode code, AxisRange x, AxisRange y)
{
    if (y.lo != y.hi || y.lo <= 0)
        return unknown;
    if (code == IR_IDIV)
        return (AxisRange){ true, x.lo / y.lo, x.hi / y.lo };
    if (code == IR_CDIV)
        return (AxisRange){ true, x.lo / y.lo + (x.lo > 0 && x.lo % y.lo != 0),
                            x.hi / y.lo + (x.hi > 0 && x.hi % y.lo != 0) };
    int64_t most = y.lo - 1;
    return (AxisRange){ true, x.lo >= 0 ? 0 : axis_max(x.lo, -most),
                        x.hi <= 0 ? 0 : axis_min(x.hi, most) };
}

/// By a constant below the width.
static AxisRange shifted(IrCode code, AxisRange x, AxisRange y)
{
    if (y.lo != y.hi || y.lo < 0 || y.lo > 62)
        return unknown;
    if (code == IR_SHL) {
        int64_t factor = INT64_C(1) << y.lo;
        return product(x, (AxisRange){ true, factor, factor });
    }
    int64_t divisor = INT64_C(1) << y.lo;
    int64_t lo = x.lo / divisor - (x.lo % divisor < 0), hi = x.hi / divisor - (x.hi % divisor < 0);
    return (AxisRange){ true, lo, hi };
}

static AxisRange masked(AxisRange x, AxisRange y)
{
    if (x.lo < 0 && y.lo < 0)
        return unknown;
    int64_t hi = x.lo < 0 ? y.hi : y.lo < 0 ? x.hi : axis_min(x.hi, y.hi);
    return (AxisRange){ true, 0, hi };
}

static AxisRange one_operand(const IrOp *op, AxisRange x)
{
    switch (op->code) {
    case IR_NEG: return negative(x);
    case IR_ABS:
        if (x.lo >= 0)
            return x;
        if (x.lo == INT64_MIN)
            return unknown;
        return (AxisRange){ true, 0, axis_max(-x.lo, x.hi) };
    case IR_REDUCE:
        if (op->attr.reduce.kind != REDUCE_MAX && op->attr.reduce.kind != REDUCE_MIN)
            return unknown;
        return x;
    case IR_CAST:  // a float operand has no range
    case IR_SPLAT:
    case IR_EXPAND_DIMS:
    case IR_BROADCAST:
    case IR_RESHAPE:
    case IR_TRANS:
    case IR_CONVERT: return x;
    default: return unknown;
    }
}

static AxisRange two_operands(IrCode code, AxisRange x, AxisRange y)
{
    switch ((int)code) {
    case IR_ADD: return sum(x, y);
    case IR_SUB: y = negative(y); return y.known ? sum(x, y) : unknown;
    case IR_MUL: return product(x, y);
    case IR_IDIV:
    case IR_CDIV:
    case IR_REM: return quotient(code, x, y);
    case IR_SHL:
    case IR_SHR: return shifted(code, x, y);
    case IR_AND: return masked(x, y);
    case IR_MAX: return (AxisRange){ true, axis_max(x.lo, y.lo), axis_max(x.hi, y.hi) };
    case IR_MIN: return (AxisRange){ true, axis_min(x.lo, y.lo), axis_min(x.hi, y.hi) };
    case IR_SELECT: return (AxisRange){ true, axis_min(x.lo, y.lo), axis_max(x.hi, y.hi) };
    default: return unknown;
    }
}

AxisRange axis_exact_range(const IrOp *op, const AxisFacts *const *args)
{
    uint32_t first = op->code == IR_SELECT ? 1 : 0;
    if (op->argc < first + 1 || !args[first]->has_range)
        return unknown;
    AxisRange x = axis_range_of(args[first]);
    if (op->argc == 1)
        return one_operand(op, x);
    if (op->argc != first + 2 || !args[first + 1]->has_range)
        return unknown;
    return two_operands(op->code, x, axis_range_of(args[first + 1]));
}
