// tensor_host.c - the function for the launcher: from the accesses' polynomials and the ranges of
// their slices (tensor_range.c).
#include "passes/tensor_range.h"

#include <assert.h>

TensorHost *tensor_host_begin(const IrFunc *fn, Arena *a)
{
    TensorHost *h = ARENA_NEW(a, TensorHost);
    *h = (TensorHost){ .kernel = fn, .arena = a, .types = fn->types };
    h->i64 = type_scalar(fn->types, SCALAR_I64);
    const char *name = arena_printf(a, "%s_maps", fn->name->text);
    h->fn = ir_func_new(a, fn->types, fn->syms, sym_of(fn->syms, name));
    h->fn->span = fn->span;
    h->b = (IrBuilder){ .fn = h->fn, .block = h->fn->body, .span = fn->span };
    for (uint32_t i = 0; i < fn->body->argc; i++) {
        const Type *type = fn->body->args[i]->type;
        const bool integer = type_is_int(type) || type_is_bool(type);
        ir_func_param(h->fn, fn->params[i].name, integer ? h->i64 : type);
        h->fn->params[i].source_index = fn->params[i].source_index;
    }
    h->ranges = ARENA_NEW_N(a, Range, fn->value_count);
    h->ok = ir_const_int(&h->b, type_scalar(fn->types, SCALAR_I1), 1);
    return h;
}

/// The number of coordinates of a dimension: up to its bounds, or all that any tile touches. NULL
/// with h->reason set.
static IrValue *size_of(TensorHost *h, const TensorDim *d)
{
    Range start, bound;
    if (!tensor_range_of_poly(h, &d->start, &start))
        return NULL;
    IrValue *end = tensor_range_add(h, start.hi, d->extent),
            *size = d->bound_count == 0 ? end : NULL;
    tensor_range_require(h, IR_LE, end, ir_const_int(&h->b, h->i64, INT32_MAX));
    const int64_t least = d->masked_below ? INT32_MIN : 0;
    tensor_range_require(h, IR_GE, start.lo, ir_const_int(&h->b, h->i64, least));
    for (unsigned i = 0; i < d->bound_count; i++) {
        if (!tensor_range_of_poly(h, &d->bounds[i], &bound))
            return NULL;
        assert(bound.lo == bound.hi);
        size = size ? ir_binary(&h->b, IR_MIN, size, bound.lo) : bound.lo;
    }
    return size;
}

const char *tensor_host_add(TensorHost *h, const IrOp *op, const TensorAccess *access,
                            unsigned line, bool has_map)
{
    const IrValue *mask = op->args[op->code == IR_LOAD ? 1 : 2];
    IrValue *values[2 * TENSOR_MAX_RANK];
    unsigned count = 0;
    Range stride;
    if (!tensor_range_visit(h, op->args[0]) || (mask && !tensor_range_visit(h, mask)))
        return h->reason;
    for (unsigned i = 0; i < access->rank; i++) {
        const unsigned k = i == 0 ? line : i <= line ? i - 1 : i;
        values[count] = size_of(h, &access->dims[k]);
        if (!values[count++])
            return h->reason;
    }
    for (unsigned i = 1; i < access->rank; i++) {
        const unsigned k = i <= line ? i - 1 : i;
        if (!tensor_range_of_poly(h, &access->dims[k].stride, &stride))
            return h->reason;
        assert(stride.lo == stride.hi);
        values[count++] = stride.lo;
    }
    for (unsigned i = 0; i < count && has_map; i++)
        VEC_PUSH(h->arena, &h->results, values[i]);
    return NULL;
}

IrFunc *tensor_host_end(TensorHost *h)
{
    VEC_PUSH(h->arena, &h->results, ir_cast(&h->b, h->ok, h->i64));
    ir_op0(&h->b, IR_RETURN, h->results.len, h->results.at);
    return h->fn;
}
