/// builtin_shape.c - the same elements under other shapes: reshape, transposition, new axes,
/// repetition.
#include "lower/builtins.h"

#include <inttypes.h>

static IrValue *input_of(Lower *cx, const BoundArgs *args)
{
    const char *what = arena_printf(lower_arena(cx), "argument '%s' of '%s'",
                                    args->builtin->params[0].name->text, args->builtin->name->text);
    return lower_value(cx, args->at[0], what, args->spans[0]);
}

// `f(x, 4, 8)` and `f(x, (4, 8))` say the same: the variadic argument as one tuple of ints.
static BoundArgs unwrapped(Lower *cx, const BoundArgs *args, unsigned index)
{
    BoundArgs out = *args;
    Val v = args->at[index];
    if (v.kind != VAL_TUPLE || v.tuple.len != 1 || v.tuple.at[0].kind != VAL_TUPLE)
        return out;
    out.at = ARENA_NEW_N(lower_arena(cx), Val, args->count);
    for (uint32_t i = 0; i < args->count; i++)
        out.at[i] = args->at[i];
    out.at[index] = v.tuple.at[0];
    return out;
}

static uint32_t numel_of(unsigned rank, const int32_t *shape)
{
    uint32_t n = 1;
    for (unsigned k = 0; k < rank; k++)
        n *= (uint32_t)shape[k];
    return n;
}

static Val reshape_to(Lower *cx, IrValue *x, unsigned rank, const int32_t *shape, Span span)
{
    TypeTable *types = lower_types(cx);
    const Type *to = type_block(types, type_elem(x->type), rank, shape);
    uint32_t numel = numel_of(rank, shape);
    if (numel != x->type->numel) {
        lower_error(cx, DIAG_SHAPE_MISMATCH, span,
                    "%" PRIu32 " elements do not fit shape %s = %" PRIu32, x->type->numel,
                    type_shape_text(types, to), numel);
        return val_error();
    }
    if (!type_is_block(x->type))
        return val_of(ir_splat(lower_builder(cx), x, to));
    if (rank == 0) {
        lower_error(cx, DIAG_SHAPE_MISMATCH, span, "a block cannot be reshaped to a scalar");
        diag_help(lower_diags(cx), "write x.item()");
        return val_error();
    }
    return val_of(ir_reshape(lower_builder(cx), x, to));
}

Val lower_fn_reshape(Lower *cx, const BoundArgs *args)
{
    BoundArgs one = unwrapped(cx, args, 1);
    IrValue *x = input_of(cx, args);
    unsigned rank;
    int32_t shape[TYPE_MAX_RANK];
    if (!x || !lower_want_shape(cx, &one, 1, &rank, shape))
        return val_error();
    return reshape_to(cx, x, rank, shape, args->call);
}

Val lower_fn_ravel(Lower *cx, const BoundArgs *args)
{
    IrValue *x = input_of(cx, args);
    return x ? reshape_to(cx, x, 1, (int32_t[]){ (int32_t)x->type->numel }, args->call)
             : val_error();
}

// ---- axes in another order ------------------------------------------------------------------

// Each axis once; names the one that stands twice and the one that is missing.
static bool check_permutation(Lower *cx, const uint8_t *perm, unsigned rank, Span span)
{
    unsigned seen[TYPE_MAX_RANK] = { 0 }, twice = rank, missing = rank;
    for (unsigned k = 0; k < rank; k++)
        if (seen[perm[k]]++)
            twice = perm[k];
    for (unsigned k = 0; k < rank; k++)
        if (!seen[k])
            missing = k;
    if (twice == rank)
        return true;
    lower_error(cx, DIAG_BAD_VALUE, span, "axis %u appears twice, axis %u is missing", twice,
                missing);
    return false;
}

static bool read_permutation(Lower *cx, const BoundArgs *args, Val dims, unsigned rank,
                             uint8_t *perm)
{
    if (dims.tuple.len != rank) {
        lower_error(cx, DIAG_BAD_VALUE, args->spans[1],
                    "'%s' of %u axes needs as many axis numbers, got %" PRIu32,
                    args->builtin->name->text, rank, dims.tuple.len);
        return false;
    }
    for (unsigned k = 0; k < rank; k++) {
        Val v = dims.tuple.at[k];
        BoundArgs one = { args->builtin, &v, args->spans + 1, args->given, 1, args->call };
        unsigned axis;
        if (!lower_want_axis(cx, &one, 0, rank, &axis))
            return false;
        perm[k] = (uint8_t)axis;
    }
    return check_permutation(cx, perm, rank, args->spans[1]);
}

Val lower_fn_trans(Lower *cx, const BoundArgs *args)
{
    BoundArgs one = unwrapped(cx, args, 1);
    IrValue *x = input_of(cx, args);
    if (!x)
        return val_error();
    unsigned rank = type_rank(x->type);
    uint8_t perm[TYPE_MAX_RANK];
    if (one.at[1].tuple.len > 0 || args->builtin->id == BUILTIN_PERMUTE) {
        if (!read_permutation(cx, args, one.at[1], rank, perm))
            return val_error();
    } else {
        if (rank < 2) {
            lower_error(cx, DIAG_SHAPE_MISMATCH, args->call,
                        "a transposition needs a block of 2 or more axes, got %s",
                        lower_text(cx, args->at[0]));
            return val_error();
        }
        for (unsigned k = 0; k < rank; k++)
            perm[k] = (uint8_t)(k + 2 < rank ? k : 2 * rank - 3 - k);
    }
    return rank ? val_of(ir_trans(lower_builder(cx), x, perm)) : val_of(x);
}

// ---- new axes -------------------------------------------------------------------------------

Val lower_fn_expand_dims(Lower *cx, const BoundArgs *args)
{
    IrValue *x = input_of(cx, args);
    Val axes = args->at[1];
    Val *at = axes.kind == VAL_TUPLE ? axes.tuple.at : &axes;
    uint32_t n = axes.kind == VAL_TUPLE ? axes.tuple.len : 1;
    if (!x)
        return val_error();
    if (n + type_rank(x->type) > TYPE_MAX_RANK) {
        lower_error(cx, DIAG_SHAPE_MISMATCH, args->call, "%u axes; the limit is %d",
                    n + type_rank(x->type), TYPE_MAX_RANK);
        return val_error();
    }
    // Axis numbers are those of the result.
    unsigned rank = type_rank(x->type) + n;
    bool is_new[TYPE_MAX_RANK] = { false };
    for (uint32_t i = 0; i < n; i++) {
        unsigned axis;
        BoundArgs one = { args->builtin, &at[i], args->spans + 1, args->given, 1, args->call };
        if (!lower_want_axis(cx, &one, 0, rank, &axis))
            return val_error();
        if (is_new[axis]) {
            lower_error(cx, DIAG_BAD_VALUE, args->spans[1], "axis %u appears twice", axis);
            return val_error();
        }
        is_new[axis] = true;
    }
    for (unsigned k = 0; k < rank; k++)
        if (is_new[k])
            x = type_is_block(x->type)
                    ? ir_expand_dims(lower_builder(cx), x, (int)k)
                    : ir_splat(lower_builder(cx), x,
                               type_block(lower_types(cx), x->type, 1, (int32_t[]){ 1 }));
    return val_of(x);
}

// ---- repetition -----------------------------------------------------------------------------

Val lower_fn_broadcast_to(Lower *cx, const BoundArgs *args)
{
    BoundArgs one = unwrapped(cx, args, 1);
    IrValue *x = input_of(cx, args);
    unsigned rank;
    int32_t shape[TYPE_MAX_RANK];
    if (!x || !lower_want_shape(cx, &one, 1, &rank, shape))
        return val_error();
    const Type *to = type_block(lower_types(cx), type_elem(x->type), rank, shape);
    RuleShape r = rule_broadcast_to(x->type, to);
    if (!r.ok && type_rank(x->type) <= rank) {
        unsigned axis = r.axis - (rank - type_rank(x->type));
        lower_error(cx, DIAG_SHAPE_MISMATCH, args->call, "axis %u has size %d and cannot become %d",
                    axis, (int)r.size[0], (int)r.size[1]);
        return val_error();
    }
    if (!r.ok) {
        lower_error(cx, DIAG_SHAPE_MISMATCH, args->call,
                    "a block of %u axes cannot become one of %u", type_rank(x->type), rank);
        return val_error();
    }
    return val_of(lower_broadcast_to(cx, x, to, args->call));
}

Val lower_fn_broadcast(Lower *cx, const BoundArgs *args)
{
    IrValue *v[2] = { input_of(cx, args),
                      lower_value(cx, args->at[1], "argument 'other' of 'broadcast'",
                                  args->spans[1]) };
    if (!v[0] || !v[1] || !lower_broadcast(cx, v, args->spans, 2, args->call))
        return val_error();
    Val out = { .kind = VAL_TUPLE, .tuple = { ARENA_NEW_N(lower_arena(cx), Val, 2), 2 } };
    out.tuple.at[0] = val_of(v[0]);
    out.tuple.at[1] = val_of(v[1]);
    return out;
}

// ---- one element ----------------------------------------------------------------------------

// The exclusive or of one element's bits is that element; a float sum would lose the sign of -0.
Val lower_fn_item(Lower *cx, const BoundArgs *args)
{
    IrValue *x = input_of(cx, args);
    if (!x || !type_is_block(x->type))
        return x ? val_of(x) : val_error();
    if (x->type->numel != 1) {
        lower_error(cx, DIAG_SHAPE_MISMATCH, args->call,
                    "item() needs a block of one element, got shape %s",
                    type_shape_text(lower_types(cx), x->type));
        return val_error();
    }
    IrBuilder *b = lower_builder(cx);
    TypeTable *types = lower_types(cx);
    const Type *elem = type_elem(x->type), *bits = elem;
    static const ScalarKind of_bytes[] = {
        [1] = SCALAR_U8, [2] = SCALAR_U16, [4] = SCALAR_U32, [8] = SCALAR_U64
    };
    if (!type_is_int(elem) && !type_is_bool(elem))
        bits = type_scalar(types, of_bytes[type_elem_bytes(elem)]);
    if (bits != elem)
        x = ir_op1(b, IR_BITCAST, type_with_elem(types, x->type, bits), 1, &x);
    while (type_is_block(x->type))
        x = ir_reduce(b, REDUCE_XOR, x, 0);
    return val_of(bits == elem ? x : ir_op1(b, IR_BITCAST, elem, 1, &x));
}
