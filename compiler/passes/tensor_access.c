// tensor_access.c - recognises tiles: the pointer's form, taken apart into one start a dimension.
//
// The pointer gives a stride for each axis of the block and a sum of terms for the tile's first
// element. Which of these terms belong to which axis the masks tell: `start + j < bound` says where
// the axis's coordinates are counted from. Terms that no mask claims go to the axis with the
// largest stride that divides them; what is left (a batch's offset) becomes a dimension of its own.
// Parts of a bound that change from program to program or in a loop have to cancel.
#include "passes/tensor_form.h"

#include <assert.h>

/// One access on its way.
typedef struct Split {
    Tensors *t;
    TensorAccess *out;
    Poly rest;                         // terms of the first element that no dimension has yet
    int dim_of_axis[TENSOR_MAX_RANK];  // -1: the axis has one coordinate
    Poly lowest[TENSOR_MAX_RANK];  // masked_below: the first j that is let through, by dimension
} Split;

static bool fail(Split *s, const char *reason)
{
    s->out->reason = reason;
    return false;
}

/* ---- what the host knows ---- */

static bool is_host_op(IrCode code)
{
    switch ((int)code) {
    case IR_CONST:
    case IR_NUM_PROGRAMS:
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_NEG:
    case IR_MIN:
    case IR_MAX:
    case IR_IDIV:
    case IR_REM:
    case IR_CDIV:
    case IR_CAST: return true;
    default: return false;
    }
}

bool tensor_host_knows(const IrValue *v)
{
    if (type_is_block(v->type) || !type_is_int(v->type))
        return false;
    if (!v->def)
        return v->block->parent == NULL;
    if (!is_host_op(v->def->code))
        return false;
    for (uint32_t i = 0; i < v->def->argc; i++)
        if (!tensor_host_knows(v->def->args[i]))
            return false;
    return true;
}

static bool host_knows_term(const PolyTerm *t)
{
    for (unsigned i = 0; i < t->degree; i++)
        if (!tensor_host_knows(t->atoms[i]))
            return false;
    return true;
}

bool tensor_host_knows_all(const Poly *p)
{
    bool known = !p->lost;
    for (unsigned i = 0; i < p->count; i++)
        known &= host_knows_term(&p->terms[i]);
    return known;
}

/// The terms of `p` that the host does not know.
static Poly varying_part(const Poly *p)
{
    Poly out = { .lost = p->lost };
    for (unsigned i = 0; i < p->count; i++)
        if (!host_knows_term(&p->terms[i]))
            poly_add_term(&out, &p->terms[i]);
    return out;
}

/* ---- masks ---- */

/// start + j < bound for the dimension of one axis, where `difference` = bound - (start + j).
/// The first bound fixes the varying part of the dimension's start.
static bool take_bound(Split *s, TensorDim *d, const Poly *difference)
{
    if (d->bound_count == 0) {
        const Poly varying = varying_part(difference), minus = poly_const(-1);
        const Poly moved = poly_mul(&varying, &d->stride);
        const unsigned before = s->rest.count;
        d->start = poly_mul(&varying, &minus);
        s->rest = poly_add(&s->rest, &moved, 1);
        if (s->rest.count + varying.count != before)  // what the mask adds the address has not
            return fail(s, "the mask does not move with the tile");
    }
    if (d->bound_count == TENSOR_MAX_BOUNDS)
        return fail(s, "the mask has too many conditions");
    d->bounds[d->bound_count] = poly_add(difference, &d->start, 1);
    if (!tensor_host_knows_all(&d->bounds[d->bound_count++]))
        return fail(s, "the mask does not move with the tile");
    return true;
}

/// A condition `value >= 1` on the block's coordinates.
static bool take_condition(Split *s, const Form *f)
{
    int axis = -1;
    int64_t slope = 0, number;
    for (int k = 0; k < TENSOR_MAX_RANK; k++) {
        if (poly_is_zero(&f->axis[k]) || s->dim_of_axis[k] < 0)
            continue;
        if (axis >= 0)
            return fail(s, "the mask compares coordinates of two axes");
        axis = k;
        if (!poly_is_const(&f->axis[k], &slope))
            return fail(s, "the mask is no bound of a coordinate");
    }
    if (axis < 0)
        return (poly_is_const(&f->base, &number) && number >= 1) ||
               fail(s, "the mask is one condition for the whole tile");
    TensorDim *d = &s->out->dims[s->dim_of_axis[axis]];
    if (slope == -1)
        return take_bound(s, d, &f->base);
    if (slope != 1)
        return fail(s, "the mask is no bound of a coordinate");
    if (d->masked_below)
        return fail(s, "the mask has too many conditions");
    const Poly one = poly_const(1);  // base + j >= 1
    s->lowest[s->dim_of_axis[axis]] = poly_add(&one, &f->base, -1);
    return d->masked_below = true;
}

/// The form of a comparison: at least 1 where it is true.
static bool comparison_form(Split *s, const IrOp *op, Form *out)
{
    const bool less = op->code == IR_LT || op->code == IR_LE;
    const Form *low = tensor_form(s->t, op->args[less ? 0 : 1]);
    const Form *high = low ? tensor_form(s->t, op->args[less ? 1 : 0]) : NULL;
    if (!high || low->param >= 0 || high->param >= 0)
        return fail(s, "the mask is no bound of a coordinate");
    *out = (Form){ .param = -1, .base = poly_add(&high->base, &low->base, -1) };
    for (unsigned k = 0; k < TENSOR_MAX_RANK; k++)
        out->axis[k] = poly_add(&high->axis[k], &low->axis[k], -1);
    const Poly one = poly_const(1);
    if (op->code == IR_LE || op->code == IR_GE)
        out->base = poly_add(&out->base, &one, 1);
    return true;
}

/// `path`: the shape operations between `mask` and the access's mask, outermost first.
typedef struct Path {
    const IrOp *op;
    const struct Path *outer;
} Path;

static bool take_mask(Split *s, const IrValue *mask, const Path *path)
{
    const IrOp *op = mask->def;
    if (!op)
        return fail(s, "the mask is no bound of a coordinate");
    if (type_rank(mask->type) > TENSOR_MAX_RANK)
        return fail(s, "the block has more than 5 axes");
    const Path step = { op, path };
    Form f;
    switch (op->code) {
    case IR_AND: return take_mask(s, op->args[0], path) && take_mask(s, op->args[1], path);
    case IR_EXPAND_DIMS:
    case IR_BROADCAST:
    case IR_TRANS:
    case IR_SPLAT:
    case IR_CONVERT: return take_mask(s, op->args[0], &step);
    case IR_CONST:
        return op->attr.konst.i != 0 || fail(s, "the mask is one condition for the whole tile");
    case IR_LT:
    case IR_LE:
    case IR_GT:
    case IR_GE:
        if (!type_is_int(op->args[0]->type) || !comparison_form(s, op, &f))
            return fail(s, "the mask is no bound of a coordinate");
        for (; path; path = path->outer)
            f = tensor_form_reshaped(path->op, &f);
        return take_condition(s, &f);
    default: return fail(s, "the mask is no bound of a coordinate");
    }
}

/// Each lower bound must be where the coordinates begin.
static bool check_lower_bounds(Split *s)
{
    for (unsigned k = 0; k < s->out->rank; k++) {
        const Poly first = poly_add(&s->lowest[k], &s->out->dims[k].start, 1);
        if (s->out->dims[k].masked_below && !poly_is_zero(&first))
            return fail(s, "the mask cuts coordinates off below others than 0");
    }
    return true;
}

/* ---- dimensions ---- */

static bool take_axes(Split *s, const Form *f, const Type *block)
{
    for (unsigned k = 0; k < type_rank(block); k++) {
        if (block->shape[k] == 1)
            continue;
        if (f->axis[k].count == 0)
            return fail(s, "elements along an axis have one address");
        if (f->axis[k].count > 1 || !tensor_host_knows_all(&f->axis[k]))
            return fail(s, "a stride is not known when the kernel is launched");
        s->dim_of_axis[k] = (int)s->out->rank;
        s->out->dims[s->out->rank++] =
            (TensorDim){ .stride = f->axis[k], .axis = (int)k, .extent = block->shape[k] };
    }
    return true;
}

static bool is_larger(const PolyTerm *a, const PolyTerm *b)
{
    return a->degree != b->degree ? a->degree > b->degree : a->factor > b->factor;
}

/// True when a term may join the start of a dimension: a bound must stay one that the host knows,
/// and a product of something of the host with something else is a coordinate times a stride.
static bool may_join(const TensorDim *d, const PolyTerm *quotient)
{
    unsigned known = 0;
    for (unsigned i = 0; i < quotient->degree; i++)
        known += tensor_host_knows(quotient->atoms[i]);
    return known == quotient->degree || (known == 0 && d->bound_count == 0);
}

/// Moves a term into the start of the dimension with the largest stride that takes it.
static bool join_axis(Split *s, const PolyTerm *term)
{
    TensorDim *best = NULL;
    PolyTerm part = { 0 };
    for (unsigned k = 0; k < s->out->rank; k++) {
        TensorDim *d = &s->out->dims[k];
        PolyTerm quotient;
        if (d->axis < 0 || !poly_divide_term(term, &d->stride.terms[0], &quotient) ||
            !may_join(d, &quotient) ||
            (best && !is_larger(&d->stride.terms[0], &best->stride.terms[0])))
            continue;
        best = d;
        part = quotient;
    }
    if (!best)
        return false;
    poly_add_term(&best->start, &part);
    for (unsigned i = 0; i < best->bound_count; i++)
        poly_add_term(&best->bounds[i], &part);
    return true;
}

/// A term that no axis takes: a coordinate times a stride of its own.
static bool add_dimension(Split *s, const PolyTerm *term)
{
    PolyTerm stride = { .factor = term->factor }, start = { .factor = 1 };
    for (unsigned i = 0; i < term->degree; i++) {
        PolyTerm *to = tensor_host_knows(term->atoms[i]) ? &stride : &start;
        to->atoms[to->degree++] = term->atoms[i];
    }
    TensorDim d = { .axis = -1, .extent = 1 };
    poly_add_term(&d.stride, &stride);
    poly_add_term(&d.start, &start);
    for (unsigned k = 0; k < s->out->rank; k++) {
        TensorDim *same = &s->out->dims[k];
        if (same->axis < 0 && poly_equal(&same->stride, &d.stride)) {
            poly_add_term(&same->start, &start);
            return true;
        }
    }
    if (s->out->rank == TENSOR_MAX_RANK)
        return fail(s, "the tensor would have more than 5 dimensions");
    s->out->dims[s->out->rank++] = d;
    return true;
}

static bool share_out(Split *s)
{
    const Poly rest = s->rest;
    if (rest.lost)
        return fail(s, "the address is too complicated");
    for (unsigned i = 0; i < rest.count; i++)
        if (!join_axis(s, &rest.terms[i]) && !add_dimension(s, &rest.terms[i]))
            return false;
    for (unsigned k = 0; k < s->out->rank; k++) {
        const TensorDim *d = &s->out->dims[k];
        bool lost = d->start.lost || d->stride.lost;
        for (unsigned i = 0; i < d->bound_count; i++)
            lost |= d->bounds[i].lost;
        if (lost)
            return fail(s, "the address is too complicated");
    }
    return true;
}

#ifndef NDEBUG
/// The first element's address is what the dimensions' starts make of it.
static bool adds_up(const TensorAccess *a, const Form *f)
{
    Poly sum = f->base;
    for (unsigned k = 0; k < a->rank; k++) {
        const Poly part = poly_mul(&a->dims[k].start, &a->dims[k].stride);
        sum = poly_add(&sum, &part, -1);
    }
    return poly_is_zero(&sum);
}
#endif

/* ---- accesses ---- */

static bool is_zero_block(const IrValue *v)
{
    if (v->def && v->def->code == IR_SPLAT)
        v = v->def->args[0];
    if (!ir_is_const(v))
        return false;
    const IrConst zero = { .is_float = v->def->attr.konst.is_float };
    return ir_const_equal(v->def->attr.konst, zero);
}

static bool is_plain(Split *s, const IrOp *op)
{
    const bool load = op->code == IR_LOAD;
    if (!type_is_block(op->args[0]->type))
        return fail(s, "it is one element");
    if (op->attr.mem.is_volatile || op->attr.mem.cache == CACHE_CV)
        return fail(s, "it is volatile");
    if (load && op->args[1] && op->args[2] && !is_zero_block(op->args[2]))
        return fail(s, "what is masked off is not 0");
    return true;
}

static void access_of(Tensors *t, const IrOp *op, TensorAccess *out)
{
    const IrValue *pointer = op->args[0], *mask = op->args[op->code == IR_LOAD ? 1 : 2];
    Split s = { .t = t, .out = out, .dim_of_axis = { -1, -1, -1, -1, -1 } };
    if (!is_plain(&s, op))
        return;
    const Form *f = tensor_form(t, pointer);
    if (!f) {
        out->reason = t->reason;
        return;
    }
    if (f->param < 0) {
        out->reason = "the pointer is no parameter of the kernel";
        return;
    }
    out->param = (uint32_t)f->param;
    out->elem = type_elem(pointer->type)->elem;
    s.rest = f->base;
    if (take_axes(&s, f, pointer->type) && (!mask || take_mask(&s, mask, NULL)) && share_out(&s) &&
        check_lower_bounds(&s))
        assert(adds_up(out, f));
}

const TensorAccess *tensor_access_of(Tensors *t, const IrOp *op)
{
    TensorAccess *out = ARENA_NEW(t->arena, TensorAccess);
    *out = (TensorAccess){ .reason = NULL };
    access_of(t, op, out);
    return out;
}

Tensors *tensor_analysis(const IrFunc *fn, const AxisInfo *axes, Arena *a)
{
    Tensors *t = ARENA_NEW(a, Tensors);
    *t = (Tensors){ .fn = fn, .axes = axes, .arena = a, .count = fn->value_count };
    t->forms = ARENA_NEW_N(a, const Form *, t->count);
    return t;
}

/* ---- what the copy engine asks for ---- */

/// True for the number of an iteration: nothing is known of it (poly.h), whatever is of the counter.
static bool is_iteration(const IrValue *atom)
{
    const IrOp *loop = atom->def ? NULL : atom->block->parent;
    return loop && loop->code == IR_FOR && atom->index == 0;
}

/// A number that divides every value of the term, times the element's size.
static int64_t divisor_of(const Tensors *t, const PolyTerm *term, int64_t bytes)
{
    int64_t divisor = term->factor * bytes;
    for (unsigned i = 0; i < term->degree && divisor % 16 != 0; i++)
        if (!is_iteration(term->atoms[i]))
            divisor *= axis_info_divisor(t->axes, term->atoms[i], 0, 1);
    return divisor;
}

/// The engine faults where a box begins elsewhere along its line.
static bool begins_at_16_bytes(const Tensors *t, const Poly *start, int64_t bytes)
{
    for (unsigned i = 0; i < start->count; i++)
        if (divisor_of(t, &start->terms[i], bytes) % 16 != 0)
            return false;
    return true;
}

const char *tensor_copy_obstacle(Tensors *t, const TensorAccess *access)
{
    const int64_t bytes = type_elem_bytes(access->elem);
    int64_t one = 0;
    bool has_line = false;
    if (t->fn->params[access->param].divisor % 16 != 0)
        return "the pointer may not be a multiple of 16 bytes";
    for (unsigned k = 0; k < access->rank; k++) {
        const TensorDim *d = &access->dims[k];
        const bool is_line = poly_is_const(&d->stride, &one) && one == 1 && d->axis >= 0;
        has_line |= is_line;
        if (!is_line && divisor_of(t, &d->stride.terms[0], bytes) % 16 != 0)
            return "a stride may not be a multiple of 16 bytes";
        if (is_line && !begins_at_16_bytes(t, &d->start, bytes))
            return "the tile may begin at no multiple of 16 bytes";
    }
    return has_line ? NULL : "no axis has neighbours in memory";
}
