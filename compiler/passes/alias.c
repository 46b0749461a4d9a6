/// alias.c - affine forms of addresses, and their differences.
///
/// address = constant + sum of factor * atom + sum of factor * coordinate, in elements. Atoms are
/// values that are not taken apart and the counters of loops (0, 1, 2, ...), into which induction
/// variables and carried values of the form `x += constant` are resolved. Two addresses compare
/// when everything but the constant cancels; counters of the loop asked about leave factor * k, k
/// >= 1.
#include "passes/alias.h"

#include <string.h>

enum { MAX_TERMS = 16, MAX_DEPTH = 40, VALUE_BUDGET = 200 };
#define FACTOR_LIMIT (INT64_C(1) << 31)

typedef struct Term {
    const IrValue *atom;  ///< NULL: the counter of `loop`
    const IrOp *loop;
    bool of_multiples;  ///< counts in unknown steps, each a multiple (not 0) of the factor
    int64_t factor;
    uint8_t axes[TYPE_MAX_RANK];  ///< block atoms: the address block's axis of each of its axes
} Term;

typedef struct Affine {
    const AxisInfo *axes;
    bool lost;
    int64_t constant;
    int64_t coordinate[TYPE_MAX_RANK];
    Term terms[MAX_TERMS];
    unsigned count;
} Affine;

/// Where a part of the address stands: its factor, and the address's axis of each of its axes.
typedef struct Place {
    int64_t factor;
    unsigned depth;
    uint8_t axes[TYPE_MAX_RANK];
} Place;

/* ---- equal values ---- */

static bool same_value(const IrValue *a, const IrValue *b, unsigned *budget)
{
    if (a == b)
        return true;
    if (a == NULL || b == NULL || a->def == NULL || b->def == NULL || a->type != b->type ||
        *budget == 0)
        return false;
    --*budget;
    const IrOp *x = a->def, *y = b->def;
    if (x->code == IR_CONVERT)
        return same_value(x->args[0], b, budget);
    if (y->code == IR_CONVERT)
        return same_value(a, y->args[0], budget);
    if (x->code != y->code || ir_op_info[x->code].effects != EFFECT_PURE || x->regionc > 0 ||
        x->argc != y->argc || !ir_same_attr(x, y))
        return false;
    for (uint32_t i = 0; i < x->argc; i++) {
        if (!same_value(x->args[i], y->args[i], budget))
            return false;
    }
    return true;
}

static bool same_axes(const Term *a, const Term *b)
{
    const unsigned rank = a->atom != NULL ? type_rank(a->atom->type) : 0;
    return memcmp(a->axes, b->axes, rank) == 0;
}

static bool same_atom(const Term *a, const Term *b)
{
    unsigned budget = VALUE_BUDGET;
    if (a->atom == NULL || b->atom == NULL)
        return a->atom == b->atom && a->loop == b->loop && a->of_multiples == b->of_multiples;
    return same_axes(a, b) && same_value(a->atom, b->atom, &budget);
}

/* ---- taking apart ---- */

static void add_term(Affine *f, const Term *t)
{
    for (unsigned i = 0; i < f->count; i++) {
        if (same_atom(&f->terms[i], t)) {
            f->terms[i].factor += t->factor;
            return;
        }
    }
    if (f->count == MAX_TERMS)
        f->lost = true;
    else
        f->terms[f->count++] = *t;
}

static bool scaled(Affine *f, Place *at, int64_t by)
{
    if (at->factor >= FACTOR_LIMIT || at->factor <= -FACTOR_LIMIT || by >= FACTOR_LIMIT ||
        by <= -FACTOR_LIMIT) {
        f->lost = true;
        return false;
    }
    at->factor *= by;
    return true;
}

static void add_constant(Affine *f, const Place *at, int64_t value)
{
    Place scratch = *at;
    if (scaled(f, &scratch, value))
        f->constant += scratch.factor;
}

/// The integer that every element of `v` is.
static bool constant_of(const IrValue *v, int64_t *value)
{
    if (v->def != NULL && v->def->code == IR_SPLAT)
        v = v->def->args[0];
    if (v->def == NULL || v->def->code != IR_CONST || v->def->attr.konst.is_float)
        return false;
    *value = v->def->attr.konst.i;
    return true;
}

static void take_apart(Affine *f, const IrValue *v, Place at);

static void add_opaque(Affine *f, const IrValue *v, const Place *at)
{
    Term t = { .atom = v, .factor = at->factor };
    memcpy(t.axes, at->axes, sizeof t.axes);
    add_term(f, &t);
}

static void add_counter(Affine *f, const IrOp *loop, const Place *at, int64_t step,
                        bool of_multiples)
{
    Place scratch = *at;
    if (!scaled(f, &scratch, step))
        return;
    const Term t = { .loop = loop, .factor = scratch.factor, .of_multiples = of_multiples };
    add_term(f, &t);
}

/// For a carried argument `v` of a loop's region: its value before the loop and what each iteration
/// adds.
static bool carried_step(const IrValue *v, const IrValue **first, int64_t *step)
{
    const IrOp *loop = v->block->parent;
    const bool is_for = loop->code == IR_FOR;
    const uint32_t i = v->index - (is_for ? 1 : 0);
    const IrBlock *body = loop->regions[is_for ? 0 : 1];
    const IrOp *next = body->last->args[i]->def;
    *first = loop->args[(is_for ? 3 : 0) + i];
    return next != NULL && (next->code == IR_ADD || next->code == IR_PTR_ADD) &&
           next->args[0] == body->args[v->index] && constant_of(next->args[1], step);
}

static void take_argument(Affine *f, const IrValue *v, const Place *at)
{
    const IrOp *loop = v->block->parent;
    const IrValue *first;
    int64_t step;
    if (loop != NULL && loop->code == IR_FOR && v->index == 0) {
        // A step of 0 would never end.
        const bool known = constant_of(loop->args[2], &step);
        if (!known)
            step = axis_info_divisor(f->axes, loop->args[2], 0, 1);
        add_counter(f, loop, at, step, !known);
        take_apart(f, loop->args[0], *at);
    } else if (loop != NULL && loop->regionc > 0 && carried_step(v, &first, &step)) {
        add_counter(f, loop, at, step, false);
        take_apart(f, first, *at);
    } else {
        add_opaque(f, v, at);
    }
}

static void take_product(Affine *f, const IrValue *v, Place at)
{
    const IrOp *op = v->def;
    int64_t by;
    for (uint32_t i = 0; i < 2; i++) {
        if (constant_of(op->args[i], &by)) {
            if (scaled(f, &at, by))
                take_apart(f, op->args[1 - i], at);
            return;
        }
    }
    add_opaque(f, v, &at);
}

/// A shift by a constant is a product.
static void take_shift(Affine *f, const IrValue *v, Place at)
{
    int64_t by;
    if (!constant_of(v->def->args[1], &by) || by < 0 || by >= 31)
        add_opaque(f, v, &at);
    else if (scaled(f, &at, INT64_C(1) << by))
        take_apart(f, v->def->args[0], at);
}

/// Narrow unsigned numbers wrap when they are negated, and then a widening cast shows it.
static void take_negative(Affine *f, const IrValue *v, Place at)
{
    if (type_is_unsigned(v->type) && type_elem_bytes(v->type) < 8)
        add_opaque(f, v, &at);
    else if (scaled(f, &at, -1))
        take_apart(f, v->def->args[0], at);
}

static void take_arange(Affine *f, const IrOp *op, const Place *at)
{
    add_constant(f, at, op->attr.range.lo);
    if (op->attr.range.hi - op->attr.range.lo > 1)
        f->coordinate[at->axes[0]] += at->factor;
}

/// The place of the operand of a shape operation.
static Place through_shape(const IrOp *op, Place at)
{
    Place in = at;
    const unsigned rank = type_rank(op->args[0]->type);
    for (unsigned k = 0; k < rank; k++) {
        if (op->code == IR_EXPAND_DIMS)
            in.axes[k] = at.axes[k + (k >= (unsigned)op->attr.axis ? 1 : 0)];
        else if (op->code == IR_TRANS)
            in.axes[op->attr.perm[k]] = at.axes[k];
    }
    return in;
}

static void take_apart(Affine *f, const IrValue *v, Place at)
{
    const IrOp *op = v->def;
    Place negative = at;
    if (f->lost || at.depth++ == MAX_DEPTH) {
        f->lost = true;
        return;
    }
    if (op == NULL) {
        take_argument(f, v, &at);
        return;
    }
    switch (op->code) {
    case IR_CONST: add_constant(f, &at, op->attr.konst.i); return;
    case IR_ARANGE: take_arange(f, op, &at); return;
    case IR_PTR_ADD:
    case IR_ADD:
        take_apart(f, op->args[0], at);
        take_apart(f, op->args[1], at);
        return;
    case IR_SUB:
        take_apart(f, op->args[0], at);
        if (scaled(f, &negative, -1))
            take_apart(f, op->args[1], negative);
        return;
    case IR_MUL: take_product(f, v, at); return;
    case IR_SHL: take_shift(f, v, at); return;
    case IR_NEG: take_negative(f, v, at); return;
    case IR_SPLAT:
    case IR_CONVERT:
    case IR_BROADCAST:
    case IR_EXPAND_DIMS:
    case IR_TRANS: take_apart(f, op->args[0], through_shape(op, at)); return;
    case IR_CAST:
        if (type_is_int(v->type) && type_is_int(op->args[0]->type) &&
            type_elem_bytes(v->type) >= type_elem_bytes(op->args[0]->type)) {
            take_apart(f, op->args[0], at);
            return;
        }
        break;
    default: break;
    }
    add_opaque(f, v, &at);
}

static void affine_of(const AxisInfo *axes, const IrValue *pointer, Affine *f)
{
    Place at = { .factor = 1 };
    for (unsigned k = 0; k < TYPE_MAX_RANK; k++)
        at.axes[k] = (uint8_t)k;
    *f = (Affine){ .axes = axes };
    take_apart(f, pointer, at);
}

/* ---- comparing ---- */

static bool inside(const IrBlock *b, const IrOp *loop)
{
    for (; b != NULL; b = b->parent != NULL ? b->parent->block : NULL) {
        if (b->parent == loop)
            return true;
    }
    return false;
}

/// True when `v` is seen to be the same in every iteration of `loop`.
static bool is_invariant(const IrValue *v, const IrOp *loop, unsigned *budget)
{
    if (v == NULL || !inside(v->def != NULL ? v->def->block : v->block, loop))
        return true;
    if (v->def == NULL || *budget == 0 || v->def->regionc > 0 ||
        ir_op_info[v->def->code].effects != EFFECT_PURE)
        return false;
    --*budget;
    for (uint32_t i = 0; i < v->def->argc; i++) {
        if (!is_invariant(v->def->args[i], loop, budget))
            return false;
    }
    return true;
}

/// What an iteration of `loop` adds to the address, or with *of_multiples a divisor of that; false
/// when a term changes in another way.
static bool step_of(const Affine *f, const IrOp *loop, int64_t *step, bool *of_multiples)
{
    unsigned counters = 0;
    *step = 0;
    *of_multiples = false;
    for (unsigned i = 0; i < f->count; i++) {
        const Term *t = &f->terms[i];
        unsigned budget = VALUE_BUDGET;
        if (t->factor == 0)
            continue;
        if (t->atom == NULL && t->loop == loop) {
            *step += t->factor;
            *of_multiples |= t->of_multiples;
            counters++;
        } else if (t->atom == NULL ? inside(t->loop->block, loop)
                                   : !is_invariant(t->atom, loop, &budget)) {
            return false;
        }
    }
    return counters <= 1 || !*of_multiples;
}

static bool terms_cancel(const Affine *difference)
{
    for (unsigned i = 0; i < difference->count; i++) {
        if (difference->terms[i].factor != 0)
            return false;
    }
    return true;
}

static void subtract(Affine *f, const Affine *g)
{
    f->constant -= g->constant;
    for (unsigned i = 0; i < g->count; i++) {
        Term t = g->terms[i];
        t.factor = -t.factor;
        add_term(f, &t);
    }
}

/// The largest difference of two elements' addresses; sets *injective when all are distinct. False
/// when the form does not tell.
static bool spread_of(const Affine *f, const Type *block, int64_t *spread, bool *injective)
{
    int64_t size[TYPE_MAX_RANK];
    bool done[TYPE_MAX_RANK] = { false };
    *spread = 0;
    *injective = true;
    for (unsigned i = 0; i < f->count; i++) {
        if (f->terms[i].factor != 0 && f->terms[i].atom != NULL &&
            type_is_block(f->terms[i].atom->type))
            return false;
    }
    for (unsigned k = 0; k < type_rank(block); k++)
        size[k] = f->coordinate[k] < 0 ? -f->coordinate[k] : f->coordinate[k];
    // By rising factor: an axis keeps addresses distinct when it steps over all smaller ones
    // together.
    for (unsigned n = 0; n < type_rank(block); n++) {
        unsigned least = 0;
        while (done[least])
            least++;
        for (unsigned k = least + 1; k < type_rank(block); k++) {
            if (!done[k] && size[k] < size[least])
                least = k;
        }
        done[least] = true;
        if (block->shape[least] > 1 && size[least] <= *spread)
            *injective = false;
        *spread += size[least] * (block->shape[least] - 1);
    }
    return true;
}

/// The least and the greatest address of a block's elements, but for the terms.
static void bounds_of(const Affine *f, const Type *block, int64_t *low, int64_t *high)
{
    *low = *high = f->constant;
    for (unsigned k = 0; k < type_rank(block); k++) {
        const int64_t reach = f->coordinate[k] * (block->shape[k] - 1);
        *(reach < 0 ? low : high) += reach;
    }
}

/// True when two blocks with one base, perhaps of different shapes, lie side by side.
static bool lie_apart(const Affine *f, const Type *f_block, const Affine *g, const Type *g_block)
{
    int64_t f_spread, g_spread, f_low, f_high, g_low, g_high;
    bool injective;
    if (!spread_of(f, f_block, &f_spread, &injective) ||
        !spread_of(g, g_block, &g_spread, &injective))
        return false;
    bounds_of(f, f_block, &f_low, &f_high);
    bounds_of(g, g_block, &g_low, &g_high);
    return f_high < g_low || g_high < f_low;
}

AliasAnswer alias_compare(const AxisInfo *axes, const IrValue *p, const IrValue *q,
                          const IrOp *loop)
{
    Affine from, to, difference;
    int64_t step = 0, spread;
    bool injective, of_multiples = false;
    if (type_elem(p->type) != type_elem(q->type))
        return ALIAS_UNKNOWN;
    affine_of(axes, p, &from);
    affine_of(axes, q, &to);
    difference = to;
    subtract(&difference, &from);
    if (from.lost || to.lost || difference.lost || !terms_cancel(&difference))
        return ALIAS_UNKNOWN;
    if (p->type != q->type || memcmp(from.coordinate, to.coordinate, sizeof from.coordinate) != 0)
        return loop == NULL && lie_apart(&from, p->type, &to, q->type) ? ALIAS_DISJOINT
                                                                       : ALIAS_UNKNOWN;
    if (loop != NULL && !step_of(&from, loop, &step, &of_multiples))
        return ALIAS_UNKNOWN;
    if (!spread_of(&from, p->type, &spread, &injective))
        return ALIAS_UNKNOWN;
    if (of_multiples && difference.constant != 0)
        return ALIAS_UNKNOWN;
    // In the nearest iteration the distance is least, unless the steps lead back towards p.
    const int64_t apart = difference.constant + step;
    if ((difference.constant < 0) == (step < 0) || difference.constant == 0 || step == 0) {
        if (apart > spread || apart < -spread)
            return ALIAS_DISJOINT;
    }
    return apart == 0 && step == 0 && injective ? ALIAS_SAME : ALIAS_UNKNOWN;
}
