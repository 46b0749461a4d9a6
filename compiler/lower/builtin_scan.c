/// builtin_scan.c - cumsum, cumprod, associative_scan and reduce: elements combined along an axis,
/// by an operator or by a function of the program.
///
/// In step k, groups of 2^(k+1) elements are made of two halves that have been scanned: CARRY hands
/// the total of the first half to all of the second one, where it is combined with what is there.
/// The function sees blocks, so it is put in place once a step. Steps combine neighbours in order,
/// so it need not be commutative.
#include "lower/builtins.h"

#include <string.h>

enum { INPUTS_MAX = 16 };

/// Blocks of one shape that are combined together.
typedef struct Scan {
    Lower *cx;
    IrValue *x[INPUTS_MAX];
    uint32_t count;
    unsigned axis;
    bool reverse;
    IrCode code;        ///< the operator; without one:
    const Function *f;  ///< of 2 * count values, first those that come first
    Span span;          ///< of f, as it is given
    bool is_tuple;
} Scan;

static const Type *shape_of(const Scan *s)
{
    return s->x[0]->type;
}

static unsigned steps_of(const Scan *s)
{
    unsigned steps = 0;
    while (type_is_block(shape_of(s)) && 1 << steps < shape_of(s)->shape[s->axis])
        steps++;
    return steps;
}

/// The number of each element along the axis.
static IrValue *numbers(const Scan *s)
{
    IrBuilder *b = lower_builder(s->cx);
    const Type *like = shape_of(s);
    IrValue *v = ir_arange(b, 0, like->shape[s->axis]);
    for (unsigned k = 0; k < like->rank; k++)
        if (k != s->axis)
            v = ir_expand_dims(b, v, (int)k);
    return ir_broadcast(b, v, type_with_elem(lower_types(s->cx), like, type_elem(v->type)));
}

/// Whether a number's bits in `mask` are `value`.
static IrValue *bits_are(const Scan *s, int64_t mask, int64_t value)
{
    IrBuilder *b = lower_builder(s->cx);
    IrValue *v = numbers(s);
    v = ir_binary(b, IR_AND, v, ir_const_int(b, v->type, mask));
    return ir_binary(b, IR_EQ, v, ir_const_int(b, v->type, value));
}

static IrValue *carry(const Scan *s, IrValue *x, unsigned bit)
{
    IrValue *v = ir_op1(lower_builder(s->cx), IR_CARRY, x->type, 1, &x);
    v->def->attr.scan.axis = (int)s->axis;
    v->def->attr.scan.bit = (int)bit;
    v->def->attr.scan.reverse = s->reverse;
    return v;
}

static bool wrong_result(const Scan *s, const char *wanted, const char *found)
{
    lower_error(s->cx, DIAG_TYPE_MISMATCH, s->span, "combine function must return %s, returns %s",
                wanted, found);
    return false;
}

/// One of the values that the function gave, which must have the type of what it combines.
static bool take_result(const Scan *s, Val v, uint32_t i, IrValue **out)
{
    const Type *wanted = s->x[i]->type;
    if (v.kind == VAL_ERROR)
        return false;
    const Type *found = lower_type_of(s->cx, v);
    const bool is_literal = v.kind == VAL_CONST && !v.fixed;
    if (!is_literal && type_elem(found) != type_elem(wanted))
        return wrong_result(s, type_text(lower_types(s->cx), type_elem(wanted)),
                            type_text(lower_types(s->cx), type_elem(found)));
    *out = lower_value_as(s->cx, v, type_elem(wanted), "result of the combine function", s->span);
    *out = *out ? lower_broadcast_to(s->cx, *out, wanted, s->span) : NULL;
    return *out;
}

/// first[i] with second[i] to out[i].
static bool combine(const Scan *s, IrValue *const *first, IrValue *const *second, IrValue **out)
{
    Val args[2 * INPUTS_MAX];
    if (!s->f) {
        out[0] = ir_binary(lower_builder(s->cx), s->code, first[0], second[0]);
        return true;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        args[i] = val_of(first[i]);
        args[s->count + i] = val_of(second[i]);
    }
    const Val v = lower_call_function(s->cx, s->f, args, 2 * s->count, s->span);
    const uint32_t given = v.kind == VAL_TUPLE ? v.tuple.len : 1;
    if (v.kind == VAL_ERROR)
        return false;
    if (given != s->count || (v.kind == VAL_VOID))
        return wrong_result(
            s, arena_printf(lower_arena(s->cx), "%u value%s", s->count, s->count == 1 ? "" : "s"),
            v.kind == VAL_VOID ? "none" : arena_printf(lower_arena(s->cx), "%u", given));
    for (uint32_t i = 0; i < s->count; i++)
        if (!take_result(s, v.kind == VAL_TUPLE ? v.tuple.at[i] : v, i, &out[i]))
            return false;
    return true;
}

/// Every element becomes what is combined up to it. `all` false: only the last one, or going
/// backwards the first one, need be right.
static bool run(Scan *s, bool all)
{
    IrValue *before[INPUTS_MAX], *next[INPUTS_MAX];
    const unsigned steps = steps_of(s);
    for (unsigned bit = 0; bit < steps; bit++) {
        const int64_t half = (int64_t)1 << bit;
        for (uint32_t i = 0; i < s->count; i++)
            before[i] = carry(s, s->x[i], bit);
        if (!combine(s, before, s->x, next))
            return false;
        IrValue *takes = all ? bits_are(s, half, s->reverse ? 0 : half) : NULL;
        for (uint32_t i = 0; i < s->count; i++)
            s->x[i] = all ? ir_select(lower_builder(s->cx), takes, next[i], s->x[i]) : next[i];
    }
    return true;
}

/// The last element along the axis, bit by bit: an or with nothing else.
static IrValue *last_of(const Scan *s, IrValue *x, bool keep)
{
    static const ScalarKind kinds[] = {
        [1] = SCALAR_I8, [2] = SCALAR_I16, [4] = SCALAR_I32, [8] = SCALAR_I64
    };
    IrBuilder *b = lower_builder(s->cx);
    const Type *elem = type_elem(x->type);
    const bool is_bits = type_is_int(elem) || type_is_bool(elem);
    const Type *bits =
        is_bits ? elem : type_scalar(lower_types(s->cx), kinds[type_elem_bytes(elem)]);
    const int64_t last = shape_of(s)->shape[s->axis] - 1;
    if (!is_bits)
        x = ir_op1(b, IR_BITCAST, type_with_elem(lower_types(s->cx), x->type, bits), 1, &x);
    x = ir_select(b, bits_are(s, -1, last), x, ir_const_int(b, x->type, 0));
    x = lower_reduce(s->cx, REDUCE_OR, x, (int)s->axis, keep);
    return is_bits
               ? x
               : ir_op1(b, IR_BITCAST,
                        type_is_block(x->type) ? type_with_elem(lower_types(s->cx), x->type, elem)
                                               : elem,
                        1, &x);
}

static Val results(const Scan *s)
{
    if (!s->is_tuple)
        return val_of(s->x[0]);
    Val out = { .kind = VAL_TUPLE,
                .tuple = { ARENA_NEW_N(lower_arena(s->cx), Val, s->count), s->count } };
    for (uint32_t i = 0; i < s->count; i++)
        out.tuple.at[i] = val_of(s->x[i]);
    return out;
}

// ---- arguments ------------------------------------------------------------------------------

/// A block, or a tuple of blocks, which get one shape.
static bool take_inputs(Scan *s, const BoundArgs *args)
{
    const Val v = args->at[0];
    const char *name = args->builtin->name->text;
    Span spans[INPUTS_MAX];
    s->is_tuple = v.kind == VAL_TUPLE;
    s->count = s->is_tuple ? v.tuple.len : 1;
    if (s->count == 0 || s->count > INPUTS_MAX) {
        lower_error(s->cx, DIAG_BAD_VALUE, args->spans[0], "'%s' takes 1 to %d blocks, not %u",
                    name, INPUTS_MAX, s->count);
        return false;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        const char *what = arena_printf(lower_arena(s->cx), "argument 'input' of '%s'", name);
        spans[i] = args->spans[0];
        s->x[i] = lower_value(s->cx, s->is_tuple ? v.tuple.at[i] : v, what, args->spans[0]);
        if (!s->x[i])
            return false;
        if (!type_is_num(s->x[i]->type) && !type_is_bool(s->x[i]->type)) {
            lower_error(s->cx, DIAG_TYPE_MISMATCH, args->spans[0], "'%s' needs numbers, got %s",
                        name, type_text(lower_types(s->cx), s->x[i]->type));
            return false;
        }
    }
    return s->count == 1 || lower_broadcast(s->cx, s->x, spans, s->count, args->spans[0]);
}

static bool take_axis(Scan *s, const BoundArgs *args)
{
    const unsigned rank = type_rank(s->x[0]->type);
    return !type_is_block(s->x[0]->type) || lower_want_axis(s->cx, args, 1, rank, &s->axis);
}

static bool take_function(Scan *s, const BoundArgs *args)
{
    const Val v = args->at[2];
    s->span = args->spans[2];
    if (v.kind == VAL_ERROR)
        return false;
    if (v.kind != VAL_CONST || v.c.kind != CONST_FUNC) {
        lower_error(s->cx, DIAG_TYPE_MISMATCH, s->span,
                    "argument 'combine_fn' of '%s' must be a function of the program, not %s",
                    args->builtin->name->text, lower_text(s->cx, v));
        return false;
    }
    s->f = v.c.v.ref;
    if (s->f->param_count == 2 * s->count)
        return true;
    lower_error(s->cx, DIAG_BAD_CALL, s->span,
                "combine function for %u input%s must take %u parameters, takes %u", s->count,
                s->count == 1 ? "" : "s", 2 * s->count, s->f->param_count);
    return false;
}

// ---- builtins -------------------------------------------------------------------------------

// cumsum(input, axis, reverse, dtype), cumprod(input, axis, reverse)
Val lower_fn_cumulate(Lower *cx, const BoundArgs *args)
{
    const bool is_sum = args->builtin->id == BUILTIN_CUMSUM;
    Scan s = { .cx = cx, .code = is_sum ? IR_ADD : IR_MUL, .count = 1 };
    const Type *dtype = NULL;
    IrBuilder *b = lower_builder(cx);
    if (!take_inputs(&s, args) || !take_axis(&s, args) || !lower_want_bool(cx, args, 2, &s.reverse))
        return val_error();
    if (s.is_tuple) {
        lower_error(cx, DIAG_TYPE_MISMATCH, args->spans[0], "'%s' needs a block, got %s",
                    args->builtin->name->text, lower_text(cx, args->at[0]));
        return val_error();
    }
    if (is_sum && !lower_is_none(args->at[3]) && !lower_dtype_arg(cx, args, 3, &dtype))
        return val_error();
    if (dtype && dtype->kind != TYPE_SCALAR) {
        lower_error(cx, DIAG_TYPE_MISMATCH, args->spans[3], "a sum cannot have the type %s",
                    type_text(lower_types(cx), dtype));
        return val_error();
    }
    if (dtype)
        s.x[0] = ir_cast(b, s.x[0], dtype);
    const RuleResult r =
        rule_reduce(is_sum ? RULE_CUMSUM : RULE_CUMPROD, type_scalar_kind(s.x[0]->type));
    const bool is_given = dtype && (type_is_int(dtype) || type_is_bool(dtype));
    const Type *computed = type_scalar(lower_types(cx), is_given ? dtype->scalar : r.operand);
    const Type *result = dtype ? dtype : type_scalar(lower_types(cx), r.kind);
    if (type_is_bool(computed))  // 1 and 1: what else is there
        s.code = is_sum ? IR_XOR : IR_AND;
    s.x[0] = ir_cast(b, s.x[0], computed);
    return run(&s, true) ? val_of(ir_cast(b, s.x[0], result)) : val_error();
}

// associative_scan(input, axis, combine_fn, reverse)
Val lower_fn_associative_scan(Lower *cx, const BoundArgs *args)
{
    Scan s = { .cx = cx };
    if (!take_inputs(&s, args) || !take_axis(&s, args) || !take_function(&s, args) ||
        !lower_want_bool(cx, args, 3, &s.reverse))
        return val_error();
    return run(&s, true) ? results(&s) : val_error();
}

// reduce(input, axis, combine_fn, keep_dims)
Val lower_fn_reduce(Lower *cx, const BoundArgs *args)
{
    Scan s = { .cx = cx };
    bool keep;
    IrBuilder *b = lower_builder(cx);
    const bool all = lower_is_none(args->at[1]);
    if (!take_inputs(&s, args) || (!all && !take_axis(&s, args)) || !take_function(&s, args) ||
        !lower_want_bool(cx, args, 3, &keep))
        return val_error();
    if (!type_is_block(s.x[0]->type))
        return results(&s);
    const unsigned rank = type_rank(s.x[0]->type);
    const int32_t numel = (int32_t)s.x[0]->type->numel;
    for (uint32_t i = 0; i < s.count && all; i++)
        s.x[i] =
            ir_reshape(b, s.x[i], type_block(lower_types(cx), type_elem(s.x[i]->type), 1, &numel));
    if (!run(&s, false))
        return val_error();
    const Scan done = s;
    for (uint32_t i = 0; i < s.count; i++) {
        s.x[i] = last_of(&done, s.x[i], keep && !all);
        if (keep && all) {
            int32_t ones[TYPE_MAX_RANK];
            for (unsigned k = 0; k < rank; k++)
                ones[k] = 1;
            s.x[i] = ir_splat(b, s.x[i],
                              type_block(lower_types(cx), type_elem(s.x[i]->type), rank, ones));
        }
    }
    return results(&s);
}
