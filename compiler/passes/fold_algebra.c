// fold_algebra.c - identities that hold for every value of the type, wrap-around, NaN and the sign
// of zero included.
//
// Constants of commutative operations go to the right, so each identity is written once. Floats
// get x * 1, x / 1, x - (+0) and x + (-0) only: x + 0 is not x for -0, x * 0 not 0 for a NaN.
#include "passes/fold_impl.h"

#include <math.h>

static bool is_integer(const IrValue *v)
{
    return type_is_int(v->type) || type_is_bool(v->type);
}

static bool is_signed(const IrValue *v)
{
    return type_is_int(v->type) && !type_is_unsigned(v->type);
}

static IrValue *const_like(Fold *f, const IrValue *v, int64_t i)
{
    return ir_const(&f->b, v->type, ir_const_of_int(v->type, i));
}

static const IrOp *defined_by(const IrValue *v, IrCode code)
{
    return v->def && v->def->code == code ? v->def : NULL;
}

static bool is_commutative(IrCode code)
{
    switch ((int)code) {
    case IR_ADD:
    case IR_MUL:
    case IR_AND:
    case IR_OR:
    case IR_XOR:
    case IR_EQ:
    case IR_NE:
    case IR_MAX:
    case IR_MIN: return true;
    default: return false;
    }
}

/// Comparisons with the operands exchanged; the code itself when there is none.
static IrCode exchanged(IrCode code)
{
    switch ((int)code) {
    case IR_LT: return IR_GT;
    case IR_GT: return IR_LT;
    case IR_LE: return IR_GE;
    case IR_GE: return IR_LE;
    default: return code;
    }
}

static void constants_to_the_right(Fold *f, IrOp *op)
{
    if (op->argc != 2 || !ir_is_const(op->args[0]) || ir_is_const(op->args[1]))
        return;
    if (!is_commutative(op->code) && exchanged(op->code) == op->code)
        return;
    IrValue *swap = op->args[0];
    op->args[0] = op->args[1];
    op->args[1] = swap;
    op->code = (uint16_t)exchanged(op->code);
    f->changed = true;
}

/* ---- integers ---- */

/// x op c, where c leaves x alone.
static bool is_neutral(IrCode code, const IrValue *c)
{
    switch ((int)code) {
    case IR_ADD:
    case IR_SUB:
    case IR_OR:
    case IR_XOR:
    case IR_SHL:
    case IR_SHR: return fold_is_int(c, 0);
    case IR_MUL: return fold_is_int(c, 1);
    case IR_IDIV:
    case IR_CDIV: return fold_is_int(c, 1) && !type_is_bool(c->type);
    case IR_AND: return fold_is_int(c, ir_wrap_int(type_scalar_kind(c->type), -1));
    default: return false;
    }
}

/// (x op c1) op c2 as x op (c1 op c2): exact modulo 2^bits.
static IrValue *reassociate(Fold *f, IrOp *op)
{
    const IrOp *inner = defined_by(op->args[0], op->code);
    IrConst a, b;
    if (!inner || !fold_const_of(inner->args[1], &a) || !fold_const_of(op->args[1], &b))
        return NULL;
    uint64_t ua = (uint64_t)a.i, ub = (uint64_t)b.i;
    int64_t c;
    switch (op->code) {
    case IR_ADD: c = (int64_t)(ua + ub); break;
    case IR_MUL: c = (int64_t)(ua * ub); break;
    case IR_AND: c = (int64_t)(ua & ub); break;
    case IR_OR: c = (int64_t)(ua | ub); break;
    case IR_XOR: c = (int64_t)(ua ^ ub); break;
    default: return NULL;
    }
    return ir_binary(&f->b, op->code, inner->args[0], const_like(f, op->args[1], c));
}

static IrValue *same_operands(Fold *f, IrOp *op)
{
    IrValue *x = op->args[0];
    switch (op->code) {
    case IR_SUB:
    case IR_XOR: return const_like(f, x, 0);
    case IR_AND:
    case IR_OR:
    case IR_MAX:
    case IR_MIN: return x;
    case IR_EQ:
    case IR_LE:
    case IR_GE: return const_like(f, op->results[0], 1);
    case IR_NE:
    case IR_LT:
    case IR_GT: return const_like(f, op->results[0], 0);
    default: return NULL;
    }
}

/// Comparisons of an int1 with a constant, and of a converted int1 with zero.
static IrValue *compare_bool(Fold *f, IrOp *op)
{
    IrValue *x = op->args[0];
    IrConst c;
    if ((op->code != IR_EQ && op->code != IR_NE) || !fold_const_of(op->args[1], &c))
        return NULL;
    const IrOp *cast = defined_by(x, IR_CAST);
    if (type_is_bool(x->type))
        return (op->code == IR_EQ) == (c.i != 0) ? x : ir_unary(&f->b, IR_NOT, x);
    if (!cast || !type_is_bool(cast->args[0]->type) || c.i != 0)
        return NULL;
    return op->code == IR_NE ? cast->args[0] : ir_unary(&f->b, IR_NOT, cast->args[0]);
}

/// The signed integer that a wider one is made of.
static const IrValue *unwidened(const IrValue *v)
{
    while (v->def && v->def->code == IR_CAST && is_signed(v) && is_signed(v->def->args[0]) &&
           type_elem_bytes(v->def->args[0]->type) <= type_elem_bytes(v->type))
        v = v->def->args[0];
    return v;
}

/// Along each axis a program's number is below the size of the grid, which may be a parameter.
static IrValue *compare_program(Fold *f, const IrOp *op)
{
    const IrValue *x = unwidened(op->args[0]), *y = unwidened(op->args[1]);
    if ((op->code != IR_LT && op->code != IR_GE) || !x->def || x->def->code != IR_PROGRAM_ID ||
        y->def || y->block != f->b.fn->body || !is_signed(y) ||
        f->b.fn->params[y->index].grid_axis != x->def->attr.axis + 1)
        return NULL;
    return const_like(f, op->results[0], op->code == IR_LT);
}

static IrValue *integer_rules(Fold *f, IrOp *op)
{
    IrValue *x = op->args[0], *y = op->args[1];
    if (is_neutral(op->code, y))
        return x;
    if ((op->code == IR_MUL || op->code == IR_AND) && fold_is_int(y, 0))
        return y;
    if (op->code == IR_OR && is_neutral(IR_AND, y))
        return y;
    if (op->code == IR_REM && fold_is_int(y, 1) && !type_is_bool(y->type))
        return const_like(f, x, 0);
    if (type_is_unsigned(x->type) && fold_is_int(y, 0) && (op->code == IR_LT || op->code == IR_GE))
        return const_like(f, op->results[0], op->code == IR_GE);
    IrConst c;
    if (op->code == IR_SUB && fold_const_of(y, &c))
        return ir_binary(&f->b, IR_ADD, x, const_like(f, y, (int64_t)(0 - (uint64_t)c.i)));
    IrValue *v = x == y ? same_operands(f, op) : NULL;
    v = v ? v : compare_bool(f, op);
    v = v ? v : compare_program(f, op);
    return v ? v : reassociate(f, op);
}

/* ---- floats ---- */

static IrValue *float_rules(IrOp *op)
{
    IrConst c;
    if (!fold_const_of(op->args[1], &c))
        return NULL;
    bool keeps = false;
    switch (op->code) {
    case IR_MUL:
    case IR_DIV:
    case IR_DIV_RN: keeps = c.f == 1; break;
    case IR_SUB: keeps = c.f == 0 && !signbit(c.f); break;
    case IR_ADD: keeps = c.f == 0 && signbit(c.f); break;
    default: break;
    }
    return keeps ? op->args[0] : NULL;
}

/* ---- one operand ---- */

/// not (a op b) as the opposite comparison; of floats only == and != have one.
static IrValue *opposite(Fold *f, const IrOp *compare)
{
    IrCode code;
    switch (compare->code) {
    case IR_EQ: code = IR_NE; break;
    case IR_NE: code = IR_EQ; break;
    case IR_LT: code = IR_GE; break;
    case IR_GE: code = IR_LT; break;
    case IR_GT: code = IR_LE; break;
    case IR_LE: code = IR_GT; break;
    default: return NULL;
    }
    if (code != IR_EQ && code != IR_NE && !is_integer(compare->args[0]))
        return NULL;
    return ir_binary(&f->b, code, compare->args[0], compare->args[1]);
}

static IrValue *unary_rules(Fold *f, IrOp *op)
{
    const IrOp *inner = op->args[0]->def;
    if (!inner)
        return NULL;
    if ((op->code == IR_NEG || op->code == IR_NOT) && inner->code == op->code)
        return inner->args[0];
    if (op->code == IR_ABS && inner->code == IR_ABS)
        return op->args[0];
    return op->code == IR_NOT && type_is_bool(op->args[0]->type) ? opposite(f, inner) : NULL;
}

/* ---- select ---- */

static IrValue *select_rules(Fold *f, IrOp *op)
{
    IrValue *c = op->args[0], *x = op->args[1], *y = op->args[2];
    if (x == y || fold_is_int(c, 1))
        return x;
    if (fold_is_int(c, 0))
        return y;
    if (type_is_bool(x->type) && fold_is_int(x, 1) && fold_is_int(y, 0))
        return c;
    if (type_is_bool(x->type) && fold_is_int(x, 0) && fold_is_int(y, 1))
        return ir_unary(&f->b, IR_NOT, c);
    const IrOp *negated = defined_by(c, IR_NOT);
    return negated ? ir_select(&f->b, negated->args[0], y, x) : NULL;
}

/* ---- casts ---- */

static int fraction_bits(const Type *t)
{
    static const int bits[SCALAR_COUNT] = {
        [SCALAR_E4M3] = 3, [SCALAR_E5M2] = 2, [SCALAR_F16] = 10,
        [SCALAR_BF16] = 7, [SCALAR_F32] = 23, [SCALAR_F64] = 52
    };
    return bits[type_scalar_kind(t)];
}

static int exponent_bits(const Type *t)
{
    static const int bits[SCALAR_COUNT] = {
        [SCALAR_E4M3] = 4, [SCALAR_E5M2] = 5, [SCALAR_F16] = 5,
        [SCALAR_BF16] = 8, [SCALAR_F32] = 8,  [SCALAR_F64] = 11
    };
    return bits[type_scalar_kind(t)];
}

static bool is_any_float(const Type *t)
{
    return type_is_float(t) || type_is_fp8(t);
}

static unsigned int_bits(const Type *t)
{
    return scalar_info[type_scalar_kind(t)].bits;
}

/// Every value of `from` is a value of `to`.
static bool keeps_values(const Type *from, const Type *to)
{
    if (is_any_float(from) && is_any_float(to)) {
        // fp8 saturates instead of having infinities, so nothing but itself goes in unharmed.
        return from == to || (!type_is_fp8(to) && fraction_bits(from) <= fraction_bits(to) &&
                              exponent_bits(from) <= exponent_bits(to));
    }
    if (is_any_float(from) || is_any_float(to) || type_is_bool(to))
        return from == to;
    bool to_signed = type_is_signed(to), from_signed = type_is_signed(from);
    if (from_signed && !to_signed)
        return false;
    return int_bits(from) + (to_signed && !from_signed) <= int_bits(to);
}

/// A -> B -> C as A -> C where B takes nothing away that C would see.
static IrValue *cast_rules(Fold *f, IrOp *op)
{
    const IrOp *inner = defined_by(op->args[0], IR_CAST);
    const Type *to = type_elem(op->results[0]->type);
    if (op->args[0]->type == op->results[0]->type)
        return op->args[0];
    if (!inner)
        return NULL;
    const Type *from = type_elem(inner->args[0]->type), *middle = type_elem(op->args[0]->type);
    if (type_is_ptr(from) || type_is_ptr(middle) || type_is_ptr(to))
        return NULL;
    bool all_floats = is_any_float(from) && is_any_float(middle) && is_any_float(to);
    bool no_floats = !is_any_float(from) && !is_any_float(middle) && !is_any_float(to);
    bool exact = (all_floats || no_floats) && keeps_values(from, middle);
    if (no_floats && !type_is_bool(middle) && !type_is_bool(to))
        exact = exact || int_bits(to) <= int_bits(middle);
    if (exact && from == to)
        return inner->args[0];
    if (!exact || (type_is_fp8(from) && type_is_fp8(to)))
        return NULL;  // fp8 to another fp8 goes through a wider type
    IrValue *v = ir_cast(&f->b, inner->args[0], to);
    v->def->attr.round_to_zero = op->attr.round_to_zero;
    return v;
}

/* ---- pointers ---- */

static IrValue *pointer_rules(Fold *f, IrOp *op)
{
    IrValue *p = op->args[0], *offset = op->args[1];
    const IrOp *inner = defined_by(p, IR_PTR_ADD);
    IrConst a, b;
    if (fold_is_int(offset, 0))
        return p;
    if (!inner || inner->args[1]->type != offset->type || !fold_const_of(inner->args[1], &a) ||
        !fold_const_of(offset, &b))
        return NULL;
    int64_t sum = (int64_t)((uint64_t)a.i + (uint64_t)b.i);
    ScalarKind kind = type_scalar_kind(offset->type);
    if (scalar_info[kind].bits < 64 && ir_wrap_int(kind, sum) != sum)
        return NULL;  // the sum in the offsets' own type would be another
    return ir_ptr_add(&f->b, inner->args[0], const_like(f, offset, sum));
}

IrValue *fold_algebra(Fold *f, IrOp *op)
{
    constants_to_the_right(f, op);
    switch (op->code) {
    case IR_SELECT: return select_rules(f, op);
    case IR_CAST: return cast_rules(f, op);
    case IR_BITCAST: return op->args[0]->type == op->results[0]->type ? op->args[0] : NULL;
    case IR_PTR_ADD: return pointer_rules(f, op);
    default: break;
    }
    if (op->argc == 1)
        return unary_rules(f, op);
    if (op->argc != 2 || type_is_ptr(op->args[0]->type))
        return NULL;
    return is_integer(op->args[0]) ? integer_rules(f, op) : float_rules(op);
}
