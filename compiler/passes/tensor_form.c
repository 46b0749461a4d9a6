// tensor_form.c - forms by definition: sums, products with scalars, shape operations, carried
// values that every iteration moves by the same amount.
#include "passes/tensor_form.h"

#include <string.h>

enum { MAX_DEPTH = 64 };

static const Form *lose(Tensors *t, const char *reason)
{
    t->reason = reason;
    return NULL;
}

static const Form *keep(Tensors *t, const IrValue *v, const Form *f)
{
    bool lost = f->base.lost;
    for (unsigned k = 0; k < TENSOR_MAX_RANK; k++)
        lost |= f->axis[k].lost;
    if (lost)
        return lose(t, "the address is too complicated");
    Form *out = ARENA_NEW(t->arena, Form);
    *out = *f;
    return t->forms[v->id] = out;
}

static Form form_of_poly(Poly base)
{
    return (Form){ .param = -1, .base = base };
}

/// a + scale * b; at most one of them is a pointer.
static Form sum_of(const Form *a, const Form *b, int64_t scale)
{
    Form f = { .param = a->param >= 0 ? a->param : b->param };
    f.base = poly_add(&a->base, &b->base, scale);
    for (unsigned k = 0; k < TENSOR_MAX_RANK; k++)
        f.axis[k] = poly_add(&a->axis[k], &b->axis[k], scale);
    return f;
}

static Form scaled_by(const Form *a, const Poly *by)
{
    Form f = { .param = -1, .base = poly_mul(&a->base, by) };
    for (unsigned k = 0; k < TENSOR_MAX_RANK; k++)
        f.axis[k] = poly_mul(&a->axis[k], by);
    return f;
}

static bool is_uniform(const Form *f)
{
    bool uniform = true;
    for (unsigned k = 0; k < TENSOR_MAX_RANK; k++)
        uniform &= poly_is_zero(&f->axis[k]);
    return uniform;
}

Form tensor_form_reshaped(const IrOp *op, const Form *in)
{
    Form f = { .param = in->param, .base = in->base };
    const unsigned rank = type_rank(op->args[0]->type);
    for (unsigned k = 0; k < rank; k++) {
        unsigned to = k;
        if (op->code == IR_EXPAND_DIMS && k >= (unsigned)op->attr.axis)
            to = k + 1;
        for (unsigned i = 0; op->code == IR_TRANS && i < rank; i++)
            to = op->attr.perm[i] == k ? i : to;
        // one coordinate, and 0: it has no part in the value
        if (op->args[0]->type->shape[k] > 1)
            f.axis[to] = in->axis[k];
    }
    return f;
}

static bool is_scalar_int(const IrValue *v)
{
    return !type_is_block(v->type) && type_is_int(v->type);
}

/* ---- arguments of regions ---- */

static bool is_inside(const IrValue *v, const IrOp *loop)
{
    for (const IrBlock *b = ir_value_block(v); b->parent; b = b->parent->block)
        if (b->parent == loop)
            return true;
    return false;
}

static bool varies_in(const Poly *p, const IrOp *loop)
{
    for (unsigned i = 0; i < p->count; i++)
        for (unsigned k = 0; k < p->terms[i].degree; k++)
            if (is_inside(p->terms[i].atoms[k], loop))
                return true;
    return false;
}

/// What each iteration adds to the carried argument `v`, with its sign; NULL when it is no sum.
static const IrValue *step_of(const IrValue *v, int64_t *sign)
{
    const IrOp *next = v->block->last->args[v->index - 1]->def;
    *sign = 1;
    if (!next)
        return NULL;
    if (next->code == IR_SUB && next->args[0] == v) {
        *sign = -1;
        return next->args[1];
    }
    if ((next->code == IR_ADD || next->code == IR_PTR_ADD) && next->args[0] == v)
        return next->args[1];
    return next->code == IR_ADD && next->args[1] == v ? next->args[0] : NULL;
}

static const Form *carried_form(Tensors *t, const IrValue *v)
{
    const IrOp *loop = v->block->parent;
    int64_t sign;
    const IrValue *by = step_of(v, &sign);
    const Form *first = by ? tensor_form(t, loop->args[3 + v->index - 1]) : NULL;
    const Form *step = first ? tensor_form(t, by) : NULL;
    if (!step)
        return by ? NULL : lose(t, "the loop moves it by no fixed step");
    bool varies = varies_in(&step->base, loop);
    for (unsigned k = 0; k < TENSOR_MAX_RANK; k++)
        varies |= varies_in(&step->axis[k], loop);
    if (varies)
        return lose(t, "the loop moves it by no fixed step");
    const Poly number = poly_atom(v->block->args[0]);
    const Form moved = scaled_by(step, &number);
    const Form f = sum_of(first, &moved, sign);
    return keep(t, v, &f);
}

static const Form *counter_form(Tensors *t, const IrValue *v)
{
    const IrOp *loop = v->block->parent;
    const Form *lo = tensor_form(t, loop->args[0]), *step = tensor_form(t, loop->args[2]);
    const Poly number = poly_atom(v);
    const Form moved = scaled_by(step, &number);
    const Form f = sum_of(lo, &moved, 1);
    return keep(t, v, &f);
}

static const Form *argument_form(Tensors *t, const IrValue *v)
{
    const IrOp *parent = v->block->parent;
    if (!parent) {
        Form f = form_of_poly((Poly){ 0 });
        if (!type_is_ptr(v->type))
            f.base = poly_atom(v);
        else
            f.param = (int)v->index;
        return keep(t, v, &f);
    }
    if (parent->code != IR_FOR)
        return lose(t, "a 'while' loop moves it");
    return v->index == 0 ? counter_form(t, v) : carried_form(t, v);
}

/* ---- operations ---- */

static const Form *product_form(Tensors *t, const IrValue *v, const Form *a, const Form *b)
{
    if (!is_uniform(b)) {
        const Form *swap = a;
        a = b;
        b = swap;
    }
    if (!is_uniform(b))
        return lose(t, "coordinates are multiplied with each other");
    const Form f = scaled_by(a, &b->base);
    return keep(t, v, &f);
}

static const Form *binary_form(Tensors *t, const IrValue *v)
{
    const IrOp *op = v->def;
    const Form *a = tensor_form(t, op->args[0]), *b = a ? tensor_form(t, op->args[1]) : NULL;
    if (!b)
        return NULL;
    if (op->code == IR_MUL)
        return product_form(t, v, a, b);
    const Form f = sum_of(a, b, op->code == IR_SUB ? -1 : 1);
    return keep(t, v, &f);
}

static const Form *same_form(Tensors *t, const IrValue *v)
{
    const Form *in = tensor_form(t, v->def->args[0]);
    if (!in)
        return NULL;
    const Form f = tensor_form_reshaped(v->def, in);
    return keep(t, v, &f);
}

static const Form *arange_form(Tensors *t, const IrValue *v)
{
    Form f = form_of_poly(poly_const(v->def->attr.range.lo));
    f.axis[0] = poly_const(1);
    return keep(t, v, &f);
}

static const Form *cast_form(Tensors *t, const IrValue *v)
{
    const IrValue *from = v->def->args[0];
    if (!type_is_int(v->type) || !type_is_int(from->type))
        return lose(t, "the address is made of numbers that are no integers");
    return same_form(t, v);
}

static const Form *other_form(Tensors *t, const IrValue *v)
{
    if (v->def->code == IR_LOAD)
        return lose(t, "the address depends on loaded values");
    return lose(t, "the address is no sum of coordinates times strides");
}

static const Form *result_form(Tensors *t, const IrValue *v)
{
    const IrOp *op = v->def;
    switch (op->code) {
    case IR_CONST: {
        const Form f = form_of_poly(poly_const(op->attr.konst.i));
        return op->attr.konst.is_float || type_is_ptr(v->type) ? other_form(t, v) : keep(t, v, &f);
    }
    case IR_ARANGE: return arange_form(t, v);
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_PTR_ADD: return binary_form(t, v);
    case IR_CAST: return cast_form(t, v);
    case IR_SPLAT:
    case IR_EXPAND_DIMS:
    case IR_BROADCAST:
    case IR_TRANS:
    case IR_CONVERT: return same_form(t, v);
    default: return other_form(t, v);
    }
}

const Form *tensor_form(Tensors *t, const IrValue *v)
{
    if (t->forms[v->id])
        return t->forms[v->id];
    if (!type_is_int(v->type) && !type_is_ptr(v->type))
        return lose(t, "the address is made of numbers that are no integers");
    if (type_rank(v->type) > TENSOR_MAX_RANK)
        return lose(t, "the block has more than 5 axes");
    if (t->depth == MAX_DEPTH)
        return lose(t, "the address is too complicated");
    t->depth++;
    const Form *f = v->def ? result_form(t, v) : argument_form(t, v);
    t->depth--;
    if (f || !is_scalar_int(v))
        return f;
    const Form opaque = form_of_poly(poly_atom(v));
    return keep(t, v, &opaque);
}
