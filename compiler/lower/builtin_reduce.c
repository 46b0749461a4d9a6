/// builtin_reduce.c - reductions along axes: sum, max, min, argmax, argmin, xor_sum, reduce_or,
/// softmax.
///
/// The types are rule_reduce's: small integers widen, sums of 16-bit and 8-bit floats are taken in
/// fp32 and rounded once. A scalar is a block without axes: reducing it gives itself.
#include "lower/builtins.h"

#include <string.h>

// ---- axes -----------------------------------------------------------------------------------

typedef struct Axes {
    bool all;  // axis=None
    bool reduced[TYPE_MAX_RANK];
    unsigned count;
} Axes;

static bool take_axis(Lower *cx, const BoundArgs *args, unsigned index, Val v, unsigned rank,
                      Axes *out)
{
    BoundArgs one = { args->builtin, args->at, args->spans, args->given, args->count, args->call };
    one.at = ARENA_NEW_N(lower_arena(cx), Val, args->count);
    memcpy(one.at, args->at, args->count * sizeof *one.at);
    one.at[index] = v;
    unsigned axis;
    if (!lower_want_axis(cx, &one, index, rank, &axis))
        return false;
    if (out->reduced[axis]) {
        lower_error(cx, DIAG_BAD_VALUE, args->spans[index], "axis %u appears twice", axis);
        return false;
    }
    out->reduced[axis] = true;
    out->count++;
    return true;
}

// None, an int, or a tuple of ints.
static bool want_axes(Lower *cx, const BoundArgs *args, unsigned index, unsigned rank, Axes *out)
{
    Val v = args->at[index];
    *out = (Axes){ .all = lower_is_none(v) };
    if (out->all)
        return true;
    if (v.kind != VAL_TUPLE)
        return take_axis(cx, args, index, v, rank, out);
    for (uint32_t i = 0; i < v.tuple.len; i++)
        if (!take_axis(cx, args, index, v.tuple.at[i], rank, out))
            return false;
    return true;
}

// ---- the operation --------------------------------------------------------------------------

static IrValue *with_ones(Lower *cx, IrValue *v, unsigned rank)
{
    int32_t ones[TYPE_MAX_RANK];
    for (unsigned k = 0; k < rank; k++)
        ones[k] = 1;
    return ir_splat(lower_builder(cx), v,
                    type_block(lower_types(cx), type_elem(v->type), rank, ones));
}

static IrValue *flattened(Lower *cx, IrValue *x)
{
    int32_t numel = (int32_t)x->type->numel;
    return ir_reshape(lower_builder(cx), x,
                      type_block(lower_types(cx), type_elem(x->type), 1, &numel));
}

IrValue *lower_reduce(Lower *cx, IrReduceKind kind, IrValue *x, int axis, bool keep)
{
    IrBuilder *b = lower_builder(cx);
    unsigned rank = type_rank(x->type);
    if (axis < 0) {
        IrValue *v = ir_reduce(b, kind, flattened(cx, x), 0);
        return keep ? with_ones(cx, v, rank) : v;
    }
    IrValue *v = ir_reduce(b, kind, x, axis);
    if (!keep)
        return v;
    return type_is_block(v->type) ? ir_expand_dims(b, v, axis) : with_ones(cx, v, 1);
}

static IrValue *reduce_axes(Lower *cx, IrReduceKind kind, IrValue *x, const Axes *axes, bool keep)
{
    if (axes->all)
        return lower_reduce(cx, kind, x, -1, keep);
    // From the last axis, so that the numbers of those before it stay right.
    for (unsigned k = type_rank(x->type); k-- > 0;)
        if (axes->reduced[k])
            x = lower_reduce(cx, kind, x, (int)k, keep);
    return x;
}

// ---- arguments ------------------------------------------------------------------------------

static IrValue *reduced_input(Lower *cx, const BoundArgs *args)
{
    const char *what =
        arena_printf(lower_arena(cx), "argument 'input' of '%s'", args->builtin->name->text);
    IrValue *x = lower_value(cx, args->at[0], what, args->spans[0]);
    if (!x || type_is_num(x->type))
        return x;
    lower_error(cx, DIAG_TYPE_MISMATCH, args->spans[0], "'%s' needs numbers, got %s",
                args->builtin->name->text, type_text(lower_types(cx), x->type));
    return NULL;
}

/// Zeros that a mask left in `x` take part in the search for the largest or smallest element.
static void warn_absent(Lower *cx, const char *what, const IrValue *x)
{
    while (x->def && (x->def->code == IR_CAST || x->def->code == IR_NEG))
        x = x->def->args[0];
    if (!x->def || x->def->code != IR_LOAD || !x->def->args[1] || x->def->args[2])
        return;
    diag_report(lower_diags(cx), DIAG_MISSING_OTHER, x->def->span,
                "what the mask leaves out reads as 0 and takes part in '%s'", what);
    if (type_is_float(type_elem(x->type)))
        diag_help(lower_diags(cx), "give 'other', as in 'other=%sfloat(\"inf\")'",
                  strstr(what, "min") ? "" : "-");
    else
        diag_help(lower_diags(cx), "give 'other' a value that cannot win");
}

static const Type *scalar_of(Lower *cx, ScalarKind kind)
{
    return type_scalar(lower_types(cx), kind);
}

Val lower_fn_sum(Lower *cx, const BoundArgs *args)
{
    Axes axes;
    bool keep;
    const Type *dtype = NULL;
    IrValue *x = reduced_input(cx, args);
    if (!x || !want_axes(cx, args, 1, type_rank(x->type), &axes) ||
        !lower_want_bool(cx, args, 2, &keep))
        return val_error();
    if (!lower_is_none(args->at[3])) {
        if (!lower_dtype_arg(cx, args, 3, &dtype))
            return val_error();
        if (dtype->kind != TYPE_SCALAR) {
            lower_error(cx, DIAG_TYPE_MISMATCH, args->spans[3], "a sum cannot have the type %s",
                        type_text(lower_types(cx), dtype));
            return val_error();
        }
        x = ir_cast(lower_builder(cx), x, dtype);
    }
    RuleResult r = rule_reduce(RULE_SUM, type_scalar_kind(x->type));
    ScalarKind kind = dtype ? dtype->scalar : r.kind;
    ScalarKind computed = dtype && (type_is_int(dtype) || type_is_bool(dtype)) ? kind : r.operand;
    x = ir_cast(lower_builder(cx), x, scalar_of(cx, computed));
    if (type_is_block(x->type))
        x = reduce_axes(cx, REDUCE_SUM, x, &axes, keep);
    return val_of(ir_cast(lower_builder(cx), x, scalar_of(cx, kind)));
}

// int1 has no order of its own in IR: it is compared as int32.
static IrValue *ordered(Lower *cx, IrValue *x)
{
    return type_is_bool(x->type) ? ir_cast(lower_builder(cx), x, scalar_of(cx, SCALAR_I32)) : x;
}

static IrValue *reduce_index(Lower *cx, IrReduceKind kind, IrValue *x, const Axes *axes, bool keep,
                             bool left)
{
    if (!type_is_block(x->type))
        return ir_const_int(lower_builder(cx), scalar_of(cx, SCALAR_I32), 0);
    x = ordered(cx, x);
    IrOp *last = lower_builder(cx)->block->last;
    IrValue *v = reduce_axes(cx, kind, x, axes, keep);
    for (IrOp *op = last ? last->next : lower_builder(cx)->block->first; op; op = op->next)
        if (op->code == IR_REDUCE)
            op->attr.reduce.tie_break_left = left;
    return v;
}

static bool one_axis(Lower *cx, const Axes *axes, const BoundArgs *args)
{
    if (axes->all || axes->count == 1)
        return true;
    lower_error(cx, DIAG_BAD_VALUE, args->spans[1],
                "an index is along one axis, or along all with axis=None");
    return false;
}

static Val pair(Lower *cx, IrValue *a, IrValue *b)
{
    Val out = { .kind = VAL_TUPLE, .tuple = { ARENA_NEW_N(lower_arena(cx), Val, 2), 2 } };
    out.tuple.at[0] = val_of(a);
    out.tuple.at[1] = val_of(b);
    return out;
}

Val lower_fn_max(Lower *cx, const BoundArgs *args)
{
    Axes axes;
    bool keep, indices, left, is_max = args->builtin->id == BUILTIN_MAX;
    IrValue *x = reduced_input(cx, args);
    if (!x || !want_axes(cx, args, 1, type_rank(x->type), &axes) ||
        !lower_want_bool(cx, args, 2, &indices) || !lower_want_bool(cx, args, 3, &left) ||
        !lower_want_bool(cx, args, 4, &keep))
        return val_error();
    if (indices && type_is_block(x->type) && !one_axis(cx, &axes, args))
        return val_error();
    warn_absent(cx, args->builtin->name->text, x);
    RuleResult r = rule_reduce(indices ? RULE_MAX_INDICES : RULE_MAX, type_scalar_kind(x->type));
    IrValue *index = NULL;
    IrValue *value = ordered(cx, ir_cast(lower_builder(cx), x, scalar_of(cx, r.operand)));
    if (indices)
        index = reduce_index(cx, is_max ? REDUCE_ARGMAX : REDUCE_ARGMIN, value, &axes, keep, left);
    if (type_is_block(value->type))
        value = reduce_axes(cx, is_max ? REDUCE_MAX : REDUCE_MIN, value, &axes, keep);
    value = ir_cast(lower_builder(cx), value, scalar_of(cx, r.kind));
    return indices ? pair(cx, value, index) : val_of(value);
}

Val lower_fn_argmax(Lower *cx, const BoundArgs *args)
{
    Axes axes;
    bool keep, left;
    IrReduceKind kind = args->builtin->id == BUILTIN_ARGMAX ? REDUCE_ARGMAX : REDUCE_ARGMIN;
    IrValue *x = reduced_input(cx, args);
    if (!x || !want_axes(cx, args, 1, type_rank(x->type), &axes) ||
        !lower_want_bool(cx, args, 2, &left) || !lower_want_bool(cx, args, 3, &keep))
        return val_error();
    if (type_is_block(x->type) && !one_axis(cx, &axes, args))
        return val_error();
    warn_absent(cx, args->builtin->name->text, x);
    return val_of(reduce_index(cx, kind, x, &axes, keep, left));
}

Val lower_fn_reduce_bits(Lower *cx, const BoundArgs *args)
{
    Axes axes;
    bool keep;
    IrValue *x = reduced_input(cx, args);
    if (!x || !want_axes(cx, args, 1, type_rank(x->type), &axes) ||
        !lower_want_bool(cx, args, 2, &keep))
        return val_error();
    RuleResult r = rule_reduce(RULE_BITS, type_scalar_kind(x->type));
    if (r.why != RULE_OK) {
        rule_report(lower_diags(cx), args->spans[0], args->builtin->name->text, &r);
        lower_note_calls(cx);
        return val_error();
    }
    IrReduceKind kind = args->builtin->id == BUILTIN_XOR_SUM ? REDUCE_XOR : REDUCE_OR;
    return val_of(type_is_block(x->type) ? reduce_axes(cx, kind, x, &axes, keep) : x);
}

// ---- softmax --------------------------------------------------------------------------------

static IrValue *along(Lower *cx, IrReduceKind kind, IrValue *x, unsigned axis)
{
    return type_is_block(x->type) ? lower_reduce(cx, kind, x, (int)axis, type_rank(x->type) > 1)
                                  : x;
}

static IrValue *like(Lower *cx, IrValue *v, const IrValue *x)
{
    return type_is_block(x->type) ? lower_broadcast_to(cx, v, x->type, lower_builder(cx)->span)
                                  : v;
}

static IrValue *number_like(IrBuilder *b, const IrValue *x, double number)
{
    return ir_const(b, x->type, ir_const_of_float(type_elem(x->type), number));
}

/// exp(x - peak), but for a factor that is the same along the axis, and so leaves the quotients
/// alone: 2 to the x * log2(e) - peak * log2(e), the second product rounded once for all. Where it
/// might overflow x is the peak or as good as minus infinity, whatever it is multiplied by.
static IrValue *powers_below(Lower *cx, IrValue *x, IrValue *peak)
{
    IrBuilder *b = lower_builder(cx);
    if (type_scalar_kind(x->type) == SCALAR_F64)
        return ir_unary(b, IR_EXP, ir_binary(b, IR_SUB, x, like(cx, peak, x)));
    IrValue *is_small =
        ir_binary(b, IR_LT, ir_unary(b, IR_ABS, peak), number_like(b, peak, 0x1p126));
    IrValue *scale = ir_select(b, is_small, number_like(b, peak, 1.4426950408889634),
                               number_like(b, peak, 1));
    IrValue *minus = ir_unary(b, IR_NEG, ir_binary(b, IR_MUL, peak, scale));
    IrValue *const args[] = { x, like(cx, scale, x), like(cx, minus, x) };
    return ir_unary(b, IR_EXP2, ir_op1(b, IR_FMA, x->type, 3, args));
}

// Computed in fp32 (fp64 stays): max and exp of 16-bit floats give fp32 anyway.
Val lower_fn_softmax(Lower *cx, const BoundArgs *args)
{
    unsigned axis = 0;
    bool ieee, keep;
    IrBuilder *b = lower_builder(cx);
    IrValue *x = lower_value(cx, args->at[0], "argument 'x' of 'softmax'", args->spans[0]);
    if (!x || !lower_want_bool(cx, args, 2, &keep) || !lower_want_bool(cx, args, 3, &ieee))
        return val_error();
    if (!type_is_float(x->type)) {
        lower_error(cx, DIAG_TYPE_MISMATCH, args->spans[0], "'softmax' needs floats, got %s",
                    lower_text(cx, args->at[0]));
        return val_error();
    }
    if (!lower_is_none(args->at[1]) && !lower_want_axis(cx, args, 1, type_rank(x->type), &axis))
        return val_error();
    warn_absent(cx, "softmax", x);
    if (type_scalar_kind(x->type) != SCALAR_F64)
        x = ir_cast(b, x, scalar_of(cx, SCALAR_F32));
    IrValue *powers = powers_below(cx, x, along(cx, REDUCE_MAX, x, axis));
    IrValue *sum = like(cx, along(cx, REDUCE_SUM, powers, axis), powers);
    return val_of(ir_binary(b, ieee ? IR_DIV_RN : IR_DIV, powers, sum));
}
