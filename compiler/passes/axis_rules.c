// axis_rules.c - the facts of one operation's result from those of its operands.
//
// Wrap-around: a run may cross the end of the type's range, where its next element is not the
// previous plus one. Group starts that are multiples of the group's size cannot, since the end of
// the range is such a multiple too; otherwise the exact range must lie inside the type's. So
// every rule that makes runs ends in `keep_runs`. Divisors are powers of two and survive wrapping.
// In comments, f(0) is the first element of a group and g its size.
#include "passes/axis_impl.h"

#include <string.h>

typedef struct Rule {
    const IrOp *op;
    const Type *type;  // of the result
    const AxisFacts *args[3];
    AxisFacts *out;
    AxisRange exact;  // of the result before it wraps
    bool cannot_wrap;
} Rule;

static int64_t scaled(int64_t divisor, int64_t factor)
{
    return divisor >= AXIS_MAX_DIVISOR / factor ? AXIS_MAX_DIVISOR : divisor * factor;
}

static const Type *arg_type(const Rule *r, unsigned i)
{
    return r->op->args[i]->type;
}

static int64_t divisor(const Rule *r, unsigned i, unsigned axis, int64_t count)
{
    return axis_divisor(r->args[i], arg_type(r, i), axis, count);
}

/// A divisor of every element of operand i, as axis `axis` knows it.
static int64_t every(const Rule *r, unsigned i, unsigned axis)
{
    return divisor(r, i, axis, 1);
}

/// A divisor of every element, from the axis that knows the most.
static int64_t every_on_any_axis(const Rule *r, unsigned i)
{
    int64_t best = 1;
    for (unsigned k = 0; k < (r->args[i]->rank ? r->args[i]->rank : 1u); k++)
        best = axis_max(best, every(r, i, k));
    return best;
}

/// Runs of `count` whose starts are multiples of `start`, if nothing wraps.
static void keep_runs(const Rule *r, AxisDim *d, int64_t count, int64_t start)
{
    d->contiguity = r->cannot_wrap ? count : axis_min(count, start);
    d->divisibility = d->contiguity == count ? start : axis_min(start, d->contiguity);
}

static bool is_negative_possible(const Rule *r, unsigned i)
{
    const Type *t = arg_type(r, i);
    return type_is_signed(t) && !(r->args[i]->has_range && r->args[i]->lo >= 0);
}

/// Size of the groups along `axis` in which operand x runs from a multiple of the size and y is one
/// multiple of the size: both change side at group boundaries only.
static int64_t aligned_group(const Rule *r, unsigned x, unsigned y, unsigned axis)
{
    const AxisDim *dx = &r->args[x]->dim[axis], *dy = &r->args[y]->dim[axis];
    int64_t group = axis_min(axis_min(dx->contiguity, dx->divisibility), dy->constancy);
    return axis_min(group, every(r, y, axis));
}

/* ---- arithmetic ---- */

static void add(const Rule *r, unsigned axis, AxisDim *d)
{
    const AxisDim *x = &r->args[0]->dim[axis], *y = &r->args[1]->dim[axis];
    bool left = r->op->code == IR_SUB ||
                axis_min(x->contiguity, y->constancy) >= axis_min(y->contiguity, x->constancy);
    unsigned run = left ? 0 : 1;  // the operand that runs; the other one is constant there
    const AxisDim *dr = left ? x : y, *dc = left ? y : x;
    int64_t count = axis_min(dr->contiguity, dc->constancy);
    int64_t start = axis_min(divisor(r, run, axis, count), every(r, 1 - run, axis));
    keep_runs(r, d, count, start);
    d->likely = axis_min(dr->likely, dc->constancy);
}

static void multiply(const Rule *r, unsigned axis, AxisDim *d)
{
    d->divisibility = scaled(every(r, 0, axis), every(r, 1, axis));
}

/// x / y and x >> s: x in [f(0), f(0) + g) stays between two multiples of y.
static void divide(const Rule *r, unsigned axis, AxisDim *d)
{
    int64_t by;
    if (!axis_is_constant(r->args[1], &by))
        by = 0;
    if (r->op->code != IR_CDIV && !is_negative_possible(r, 0))
        d->constancy = axis_max(d->constancy, aligned_group(r, 0, 1, axis));
    if (by > 0 && axis_pow2_divisor(by) == by)  // exact when every x is a multiple
        d->divisibility = axis_max(1, every(r, 0, axis) / by);
}

/// x % y: within a group of multiples the quotient stays and the rest runs.
static void remainder_of(const Rule *r, unsigned axis, AxisDim *d)
{
    int64_t group = is_negative_possible(r, 0) ? 1 : aligned_group(r, 0, 1, axis);
    d->contiguity = group;
    d->divisibility = axis_min(divisor(r, 0, axis, group), every(r, 1, axis));
    d->likely = axis_max(group, d->likely);
}

static void shift_left(const Rule *r, unsigned axis, AxisDim *d)
{
    int64_t by;
    if (axis_is_constant(r->args[1], &by) && by >= 0 && by < 40)
        d->divisibility = scaled(every(r, 0, axis), INT64_C(1) << by);
}

/// x >> s is a floor division by 2^s, whatever the sign.
static void shift_right(const Rule *r, unsigned axis, AxisDim *d)
{
    int64_t by;
    if (!axis_is_constant(r->args[1], &by) || by < 0 || by >= 40)
        return;
    const AxisDim *x = &r->args[0]->dim[axis];
    int64_t group = axis_min(axis_min(x->contiguity, x->divisibility), INT64_C(1) << by);
    d->constancy = axis_max(d->constancy, group);
    d->divisibility = axis_max(1, every(r, 0, axis) >> by);
}

static int64_t trailing_ones(int64_t v)
{
    return axis_pow2_divisor((int64_t)((uint64_t)v + 1));
}

/// A constant mask lets low bits through (a remainder) or clears them (rounding down).
static void bit_and(const Rule *r, unsigned axis, AxisDim *d)
{
    int64_t mask;
    d->divisibility = axis_max(every(r, 0, axis), every(r, 1, axis));
    if (!axis_is_constant(r->args[1], &mask))
        return;
    const AxisDim *x = &r->args[0]->dim[axis];
    int64_t aligned = axis_min(x->contiguity, x->divisibility);
    d->constancy = axis_max(d->constancy, axis_min(aligned, axis_pow2_divisor(mask)));
    int64_t group = axis_min(aligned, trailing_ones(mask));
    if (group > 1) {
        d->contiguity = group;
        d->divisibility = divisor(r, 0, axis, group);
        d->likely = axis_max(d->likely, group);
    }
}

/// In groups where one runs from a multiple of g and the other is a multiple of g, `|` and `^` add.
static void bit_or(const Rule *r, unsigned axis, AxisDim *d)
{
    int64_t left = aligned_group(r, 0, 1, axis), right = aligned_group(r, 1, 0, axis);
    unsigned run = left >= right ? 0 : 1;
    int64_t group = axis_max(left, right);
    d->contiguity = group;
    d->divisibility = axis_min(divisor(r, run, axis, group), every(r, 1 - run, axis));
    d->likely = axis_max(d->likely, group);
}

/* ---- comparison, choice ---- */

/// x < y with x running and y constant: true or false for the whole group; so is x >= y, and with
/// the operands exchanged > and <=.
static void compare(const Rule *r, unsigned axis, AxisDim *d)
{
    IrCode code = r->op->code;
    if (!type_is_int(arg_type(r, 0)))
        return;
    if (code == IR_LT || code == IR_GE)
        d->constancy = axis_max(d->constancy, aligned_group(r, 0, 1, axis));
    else if (code == IR_GT || code == IR_LE)
        d->constancy = axis_max(d->constancy, aligned_group(r, 1, 0, axis));
}

static void choose(const Rule *r, unsigned axis, AxisDim *d)
{
    const AxisDim *c = &r->args[0]->dim[axis];
    const AxisDim *x = &r->args[1]->dim[axis], *y = &r->args[2]->dim[axis];
    int64_t count = axis_min(c->constancy, axis_min(x->contiguity, y->contiguity));
    d->contiguity = count;
    d->divisibility = axis_min(divisor(r, 1, axis, count), divisor(r, 2, axis, count));
    d->likely = axis_min(c->constancy, axis_min(x->likely, y->likely));
}

static void either(const Rule *r, unsigned axis, AxisDim *d)
{
    d->divisibility = axis_min(every(r, 0, axis), every(r, 1, axis));
}

static void keep_divisor(const Rule *r, unsigned axis, AxisDim *d)
{
    d->divisibility = every(r, 0, axis);
}

/* ---- conversions, addresses ---- */

static void cast(const Rule *r, unsigned axis, AxisDim *d)
{
    const Type *from = arg_type(r, 0);
    const AxisDim *x = &r->args[0]->dim[axis];
    if (type_is_int(from) && type_is_int(r->type)) {
        keep_runs(r, d, x->contiguity, x->divisibility);
        d->likely = x->likely;
    } else if (type_is_ptr(from) && type_is_ptr(r->type) && axis_unit(from) == axis_unit(r->type)) {
        *d = *x;
    } else if (!type_is_bool(r->type) && !type_is_bool(from) &&
               (type_is_ptr(from) || type_is_ptr(r->type))) {
        d->divisibility = every(r, 0, axis);
    }
}

/// Addresses count modulo 2^64 and never meet the end; offsets are numbers of their own type.
static void pointer_add(const Rule *r, unsigned axis, AxisDim *d)
{
    const AxisDim *p = &r->args[0]->dim[axis], *o = &r->args[1]->dim[axis];
    int64_t unit = axis_unit(r->type);
    int64_t by_offset = axis_min(o->contiguity, p->constancy);
    int64_t by_pointer = axis_min(p->contiguity, o->constancy);
    d->contiguity = axis_max(by_offset, by_pointer);
    if (by_offset >= by_pointer)
        d->divisibility = axis_min(every(r, 0, axis), scaled(divisor(r, 1, axis, by_offset), unit));
    else
        d->divisibility =
            axis_min(divisor(r, 0, axis, by_pointer), scaled(every(r, 1, axis), unit));
    d->likely = axis_max(axis_min(o->likely, p->constancy), axis_min(p->likely, o->constancy));
}

typedef void DimRule(const Rule *r, unsigned axis, AxisDim *d);
static DimRule *const dim_rules[IR_CODE_COUNT] = {
    [IR_ADD] = add,          [IR_SUB] = add,         [IR_MUL] = multiply,
    [IR_IDIV] = divide,      [IR_CDIV] = divide,     [IR_REM] = remainder_of,
    [IR_SHL] = shift_left,   [IR_SHR] = shift_right, [IR_AND] = bit_and,
    [IR_OR] = bit_or,        [IR_XOR] = bit_or,      [IR_EQ] = compare,
    [IR_NE] = compare,       [IR_LT] = compare,      [IR_LE] = compare,
    [IR_GT] = compare,       [IR_GE] = compare,      [IR_SELECT] = choose,
    [IR_MAX] = either,       [IR_MIN] = either,      [IR_NEG] = keep_divisor,
    [IR_ABS] = keep_divisor, [IR_CAST] = cast,       [IR_PTR_ADD] = pointer_add,
};

static bool is_integral(const Type *t)
{
    return type_is_int(t) || type_is_bool(t) || type_is_ptr(t);
}

/// Every elementwise operation gives equal results for equal operands; dim_rules adds the rest.
static void elementwise(Rule *r)
{
    const IrOp *op = r->op;
    DimRule *rule = dim_rules[op->code];
    bool integral = is_integral(arg_type(r, op->code == IR_SELECT ? 1 : 0));
    for (unsigned k = 0; k < (r->out->rank ? r->out->rank : 1u); k++) {
        AxisDim *d = &r->out->dim[k];
        d->constancy = r->args[0]->dim[k].constancy;
        for (uint32_t i = 1; i < op->argc; i++)
            d->constancy = axis_min(d->constancy, r->args[i]->dim[k].constancy);
        if (rule && integral)
            rule(r, k, d);
    }
}

/* ---- shape ---- */

static void all_elements(Rule *r, AxisDim *d)
{
    *d = (AxisDim){ 1, every_on_any_axis(r, 0), 1, 1 };
}

static void expand_dims(Rule *r)
{
    for (unsigned k = 0, from = 0; k < r->out->rank; k++) {
        if (k == (unsigned)r->op->attr.axis)
            all_elements(r, &r->out->dim[k]);
        else
            r->out->dim[k] = r->args[0]->dim[from++];
    }
}

static void broadcast(Rule *r)
{
    for (unsigned k = 0; k < r->out->rank; k++) {
        r->out->dim[k] = r->args[0]->dim[k];
        if (arg_type(r, 0)->shape[k] == 1)
            r->out->dim[k].constancy = r->type->shape[k];
    }
}

static void trans(Rule *r)
{
    for (unsigned k = 0; k < r->out->rank; k++)
        r->out->dim[k] = r->args[0]->dim[r->op->attr.perm[k]];
}

/// The next axis from `k` down whose extent is not 1; -1 when there is none.
static int longer_axis(const Type *t, int k)
{
    while (k >= 0 && t->shape[k] == 1)
        k--;
    return k;
}

/// From the last axis: axes of equal extent are the same axis; the first that differs shares the
/// runs that fit both, and what lies before it is unknown.
static void reshape(Rule *r)
{
    const Type *from = arg_type(r, 0);
    for (unsigned k = 0; k < r->out->rank; k++)
        all_elements(r, &r->out->dim[k]);
    int a = longer_axis(from, from->rank - 1), b = longer_axis(r->type, r->type->rank - 1);
    while (a >= 0 && b >= 0 && from->shape[a] == r->type->shape[b]) {
        r->out->dim[b] = r->args[0]->dim[a];
        a = longer_axis(from, a - 1);
        b = longer_axis(r->type, b - 1);
    }
    if (a < 0 || b < 0)
        return;
    const AxisDim *x = &r->args[0]->dim[a];
    int64_t limit = r->type->shape[b];
    AxisDim *d = &r->out->dim[b];
    d->contiguity = axis_min(x->contiguity, limit);
    d->divisibility = divisor(r, 0, (unsigned)a, d->contiguity);
    d->constancy = axis_min(x->constancy, limit);
    d->likely = axis_min(x->likely, limit);
}

static void splat(Rule *r)
{
    for (unsigned k = 0; k < r->out->rank; k++) {
        r->out->dim[k] = (AxisDim){ 1, r->args[0]->dim[0].divisibility, r->type->shape[k], 1 };
    }
}

static void constant(Rule *r)
{
    IrConst c = r->op->attr.konst;
    int64_t divides = c.is_float ? 1 : axis_pow2_divisor(c.i);
    for (unsigned k = 0; k < (r->out->rank ? r->out->rank : 1u); k++)
        r->out->dim[k] = (AxisDim){ 1, divides, r->out->rank ? r->type->shape[k] : 1, 1 };
    bool large = type_scalar_kind(r->type) == SCALAR_U64 && c.i < 0;
    r->exact = (AxisRange){ !c.is_float && !large, c.i, c.i };
}

static void arange(Rule *r)
{
    int64_t lo = r->op->attr.range.lo, hi = r->op->attr.range.hi;
    r->out->dim[0] = (AxisDim){ hi - lo, axis_pow2_divisor(lo), 1, hi - lo };
    r->exact = (AxisRange){ true, lo, hi - 1 };
}

/* ---- dispatch ---- */

static void run(Rule *r)
{
    switch (r->op->code) {
    case IR_CONST:
        if (!type_is_ptr(r->type))
            constant(r);
        break;
    case IR_ARANGE: arange(r); break;
    case IR_PROGRAM_ID: r->exact = (AxisRange){ true, 0, INT32_MAX - 1 }; break;
    case IR_NUM_PROGRAMS: r->exact = (AxisRange){ true, 1, INT32_MAX }; break;
    case IR_SPLAT: splat(r); break;
    case IR_EXPAND_DIMS: expand_dims(r); break;
    case IR_BROADCAST: broadcast(r); break;
    case IR_RESHAPE: reshape(r); break;
    case IR_TRANS: trans(r); break;
    case IR_CONVERT:
        memcpy(r->out->dim, r->args[0]->dim, r->out->rank * sizeof *r->out->dim);
        break;
    case IR_BITCAST: break;
    default:
        if (ir_op_info[r->op->code].cls == OPCLASS_ELEMENTWISE)
            elementwise(r);
        break;
    }
}

void axis_apply_rule(AxisInfo *info, const IrOp *op)
{
    const IrValue *v = op->results[0];
    Rule r = { .op = op, .type = v->type, .out = &info->facts[v->id] };
    axis_set_unknown(r.out, r.type);
    OpClass cls = ir_op_info[op->code].cls;
    r.out->from_memory = cls == OPCLASS_MEMORY || cls == OPCLASS_ATOMIC;
    if (op->argc > 3 || r.out->from_memory)
        return;
    for (uint32_t i = 0; i < op->argc; i++) {
        r.args[i] = &info->facts[op->args[i]->id];
        r.out->from_memory |= r.args[i]->from_memory;
    }
    AxisRange type = axis_type_range(r.type);
    r.exact = axis_exact_range(op, r.args);
    r.cannot_wrap = axis_within(r.exact, type) ||
                    (!type.known && r.exact.known && r.exact.lo >= 0 && type_is_unsigned(r.type));
    run(&r);
    if (r.exact.known && (axis_within(r.exact, type) || (r.cannot_wrap && !type.known))) {
        r.out->has_range = true;
        r.out->lo = r.exact.lo;
        r.out->hi = r.exact.hi;
    }
}
