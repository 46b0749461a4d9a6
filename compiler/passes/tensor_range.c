// tensor_range.c - interval arithmetic as operations of the launcher's function.
//
// Every rule gives a range that holds all exact results for operands in theirs. That each result
// stays in its type is required as well, so exact results are what the kernel computes.
#include "passes/tensor_range.h"

enum { MAX_DEPTH = 64 };

static bool lose(TensorHost *h, const char *reason)
{
    h->reason = reason;
    return false;
}

static IrValue *number(TensorHost *h, int64_t v)
{
    return ir_const_int(&h->b, h->i64, v);
}

static bool is_point(Range r)
{
    return r.lo == r.hi;
}

static Range point(IrValue *v)
{
    return (Range){ v, v };
}

static IrValue *binary(TensorHost *h, IrCode code, IrValue *x, IrValue *y)
{
    return ir_binary(&h->b, code, x, y);
}

IrValue *tensor_range_add(TensorHost *h, IrValue *x, int64_t constant)
{
    if (ir_is_const(x))
        return number(h, x->def->attr.konst.i + constant);
    return constant ? binary(h, IR_ADD, x, number(h, constant)) : x;
}

void tensor_range_require(TensorHost *h, IrCode code, IrValue *a, IrValue *b)
{
    h->ok = binary(h, IR_AND, h->ok, binary(h, code, a, b));
}

static bool is_positive(Range r)
{
    return is_point(r) && ir_is_const(r.lo) && r.lo->def->attr.konst.i > 0;
}

/// All values of the operands' ends, where the result is monotone in each.
static Range corners(TensorHost *h, IrCode code, Range x, Range y)
{
    if (is_point(x) && is_point(y))
        return point(binary(h, code, x.lo, y.lo));
    if (is_positive(y))  // then the result rises with x
        return (Range){ binary(h, code, x.lo, y.lo), binary(h, code, x.hi, y.lo) };
    IrValue *v[4] = { binary(h, code, x.lo, y.lo) };
    unsigned n = 1;
    if (!is_point(y))
        v[n++] = binary(h, code, x.lo, y.hi);
    if (!is_point(x))
        v[n++] = binary(h, code, x.hi, y.lo);
    if (!is_point(x) && !is_point(y))
        v[n++] = binary(h, code, x.hi, y.hi);
    Range r = point(v[0]);
    for (unsigned i = 1; i < n; i++) {
        r.lo = binary(h, IR_MIN, r.lo, v[i]);
        r.hi = binary(h, IR_MAX, r.hi, v[i]);
    }
    return r;
}

static Range sum(TensorHost *h, Range x, Range y)
{
    if (is_point(x) && is_point(y))
        return point(binary(h, IR_ADD, x.lo, y.lo));
    return (Range){ binary(h, IR_ADD, x.lo, y.lo), binary(h, IR_ADD, x.hi, y.hi) };
}

static Range difference(TensorHost *h, Range x, Range y)
{
    if (is_point(x) && is_point(y))
        return point(binary(h, IR_SUB, x.lo, y.lo));
    return (Range){ binary(h, IR_SUB, x.lo, y.hi), binary(h, IR_SUB, x.hi, y.lo) };
}

/// By a positive number, with the sign of the dividend.
static Range remainder_of(TensorHost *h, Range x, Range y)
{
    if (is_point(x) && is_point(y))
        return point(binary(h, IR_REM, x.lo, y.lo));
    IrValue *most = tensor_range_add(h, y.hi, -1), *zero = number(h, 0);
    IrValue *least = binary(h, IR_SUB, zero, most);
    return (Range){ binary(h, IR_MIN, zero, binary(h, IR_MAX, x.lo, least)),
                    binary(h, IR_MAX, zero, binary(h, IR_MIN, x.hi, most)) };
}

static Range either(TensorHost *h, Range x, Range y)
{
    return (Range){ binary(h, IR_MIN, x.lo, y.lo), binary(h, IR_MAX, x.hi, y.hi) };
}

/* ---- loops ---- */

/// The number of an iteration: 0, 1, ... The step must be positive.
static bool range_of_number(TensorHost *h, const IrOp *loop, Range *out)
{
    Range lo, hi, step;
    if (!tensor_range_of(h, loop->args[0], &lo) || !tensor_range_of(h, loop->args[1], &hi) ||
        !tensor_range_of(h, loop->args[2], &step))
        return false;
    tensor_range_require(h, IR_GE, step.lo, number(h, 1));
    IrValue *trips = binary(h, IR_CDIV, binary(h, IR_SUB, hi.hi, lo.lo), step.lo);
    *out = (Range){ number(h, 0), binary(h, IR_MAX, number(h, 0), tensor_range_add(h, trips, -1)) };
    return true;
}

static bool range_of_counter(TensorHost *h, const IrOp *loop, Range *out)
{
    Range lo, hi, step;
    if (!tensor_range_of(h, loop->args[0], &lo) || !tensor_range_of(h, loop->args[1], &hi) ||
        !tensor_range_of(h, loop->args[2], &step))
        return false;
    tensor_range_require(h, IR_GE, step.lo, number(h, 1));
    *out = (Range){ lo.lo, binary(h, IR_MAX, lo.lo, tensor_range_add(h, hi.hi, -1)) };
    return true;
}

/// The operand that each iteration adds to the carried argument `v`.
static const IrOp *moving_op(const IrValue *v, unsigned *step)
{
    const IrOp *next = v->block->last->args[v->index - 1]->def;
    *step = 1;
    if (!next || (next->code != IR_ADD && next->code != IR_SUB && next->code != IR_PTR_ADD))
        return NULL;
    if (next->args[0] == v)
        return next;
    *step = 0;
    return next->code == IR_ADD && next->args[1] == v ? next : NULL;
}

static bool range_of_carried(TensorHost *h, const IrValue *v, Range *out)
{
    const IrOp *loop = v->block->parent;
    unsigned which;
    const IrOp *next = moving_op(v, &which);
    Range first, step, count;
    if (!next)
        return lose(h, "the loop moves it by no fixed step");
    if (!tensor_range_of(h, loop->args[3 + v->index - 1], &first) ||
        !tensor_range_of(h, next->args[which], &step) || !range_of_number(h, loop, &count))
        return false;
    const Range moved = corners(h, IR_MUL, count, step);
    *out = next->code == IR_SUB ? difference(h, first, moved) : sum(h, first, moved);
    return true;
}

static bool range_of_argument(TensorHost *h, const IrValue *v, Range *out)
{
    const IrOp *parent = v->block->parent;
    if (!parent) {
        *out = point(h->fn->body->args[v->index]);
        return true;
    }
    if (parent->code != IR_FOR)
        return lose(h, "a 'while' loop moves it");
    return v->index == 0 ? range_of_counter(h, parent, out) : range_of_carried(h, v, out);
}

/* ---- operations ---- */

static bool range_of_grid(TensorHost *h, const IrOp *op, Range *out)
{
    IrValue *programs = ir_op1(&h->b, IR_NUM_PROGRAMS, type_scalar(h->types, SCALAR_I32), 0, NULL);
    programs->def->attr.axis = op->attr.axis;
    programs = ir_cast(&h->b, programs, h->i64);
    *out = op->code == IR_NUM_PROGRAMS ? point(programs)
                                       : (Range){ number(h, 0), tensor_range_add(h, programs, -1) };
    return true;
}

static bool range_of_quotient(TensorHost *h, const IrOp *op, Range x, Range y, Range *out)
{
    tensor_range_require(h, IR_GE, y.lo, number(h, 1));
    *out = op->code == IR_REM ? remainder_of(h, x, y) : corners(h, (IrCode)op->code, x, y);
    return true;
}

static bool range_of_binary(TensorHost *h, const IrOp *op, Range *out)
{
    const unsigned first = op->code == IR_SELECT ? 1 : 0;
    Range x, y;
    if (!tensor_range_of(h, op->args[first], &x) || !tensor_range_of(h, op->args[first + 1], &y))
        return false;
    switch (op->code) {
    case IR_ADD: *out = sum(h, x, y); return true;
    case IR_SUB: *out = difference(h, x, y); return true;
    case IR_SELECT: *out = either(h, x, y); return true;
    case IR_IDIV:
    case IR_CDIV:
    case IR_REM: return range_of_quotient(h, op, x, y, out);
    default: *out = corners(h, (IrCode)op->code, x, y); return true;  // MUL, MIN, MAX
    }
}

static bool range_of_branch(TensorHost *h, const IrValue *v, Range *out)
{
    Range x, y;
    if (!tensor_range_of(h, v->def->regions[0]->last->args[v->index], &x) ||
        !tensor_range_of(h, v->def->regions[1]->last->args[v->index], &y))
        return false;
    *out = either(h, x, y);
    return true;
}

static bool range_of_result(TensorHost *h, const IrValue *v, Range *out)
{
    const IrOp *op = v->def;
    Range x;
    switch (op->code) {
    case IR_CONST:
        *out = point(number(h, op->attr.konst.i));
        return type_scalar_kind(v->type) != SCALAR_U64 || op->attr.konst.i >= 0 ||
               lose(h, "a number is beyond int64");
    case IR_ARANGE:
        *out = (Range){ number(h, op->attr.range.lo), number(h, op->attr.range.hi - 1) };
        return true;
    case IR_PROGRAM_ID:
    case IR_NUM_PROGRAMS: return range_of_grid(h, op, out);
    case IR_SPLAT:
    case IR_EXPAND_DIMS:
    case IR_BROADCAST:
    case IR_TRANS:
    case IR_RESHAPE:
    case IR_CONVERT: return tensor_range_of(h, op->args[0], out);
    case IR_CAST:
        return type_is_int(op->args[0]->type)
                   ? tensor_range_of(h, op->args[0], out)
                   : lose(h, "the address depends on other than integers");
    case IR_NEG:
        if (!tensor_range_of(h, op->args[0], &x))
            return false;
        *out = difference(h, point(number(h, 0)), x);
        return true;
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_IDIV:
    case IR_CDIV:
    case IR_REM:
    case IR_MIN:
    case IR_MAX:
    case IR_SELECT: return range_of_binary(h, op, out);
    case IR_IF: return range_of_branch(h, v, out);
    default: return lose(h, "the address depends on values that the launcher cannot bound");
    }
}

/// Shapes, parameters and what the grid says hold values that fit anyway.
static bool may_leave_type(const IrValue *v)
{
    if (!v->def)
        return v->block->parent != NULL;
    switch (v->def->code) {
    case IR_CONST:
    case IR_ARANGE:
    case IR_SPLAT:
    case IR_EXPAND_DIMS:
    case IR_BROADCAST:
    case IR_TRANS:
    case IR_RESHAPE:
    case IR_PROGRAM_ID:
    case IR_NUM_PROGRAMS: return false;
    default: return true;
    }
}

static void require_type(TensorHost *h, const IrValue *v, Range r)
{
    const unsigned bits = 8 * type_elem_bytes(v->type);
    if (type_is_unsigned(v->type))
        tensor_range_require(h, IR_GE, r.lo, number(h, 0));
    else if (bits < 64)
        tensor_range_require(h, IR_GE, r.lo, number(h, -(INT64_C(1) << (bits - 1))));
    if (bits < 64)
        tensor_range_require(h, IR_LE, r.hi,
                             number(h, (INT64_C(1) << (bits - type_is_signed(v->type))) - 1));
}

bool tensor_range_of(TensorHost *h, const IrValue *v, Range *out)
{
    if (h->ranges[v->id].lo) {
        *out = h->ranges[v->id];
        return true;
    }
    if (!type_is_int(v->type))
        return lose(h, "the address depends on other than integers");
    if (h->depth == MAX_DEPTH)
        return lose(h, "the address is too complicated");
    h->depth++;
    const bool found = v->def ? range_of_result(h, v, out) : range_of_argument(h, v, out);
    h->depth--;
    if (!found)
        return false;
    if (may_leave_type(v))
        require_type(h, v, *out);
    h->ranges[v->id] = *out;
    return true;
}

bool tensor_range_visit(TensorHost *h, const IrValue *v)
{
    Range r;
    unsigned step;
    if (type_is_int(v->type))
        return tensor_range_of(h, v, &r);
    if (h->depth == MAX_DEPTH)
        return lose(h, "the address is too complicated");
    h->depth++;
    bool ok = true;
    if (v->def) {
        for (uint32_t i = 0; i < v->def->argc && ok; i++)
            ok = tensor_range_visit(h, v->def->args[i]);
    } else if (v->block->parent) {
        const IrOp *next = moving_op(v, &step);
        ok = next && tensor_range_visit(h, v->block->parent->args[3 + v->index - 1]) &&
             tensor_range_visit(h, next->args[step]) && range_of_number(h, v->block->parent, &r);
        if (!next)
            lose(h, "the loop moves it by no fixed step");
    }
    h->depth--;
    return ok;
}

bool tensor_range_of_poly(TensorHost *h, const Poly *p, Range *out)
{
    Range total = point(number(h, 0));
    for (unsigned i = 0; i < p->count; i++) {
        const PolyTerm *t = &p->terms[i];
        Range product = point(number(h, t->factor)), atom;
        for (unsigned k = 0; k < t->degree; k++) {
            const IrValue *v = t->atoms[k];
            const bool counts = !v->def && v->block->parent;  // stands for the iteration's number
            if (counts ? !range_of_number(h, v->block->parent, &atom)
                       : !tensor_range_of(h, v, &atom))
                return false;
            product = corners(h, IR_MUL, product, atom);
        }
        total = sum(h, total, product);
    }
    *out = total;
    return true;
}
