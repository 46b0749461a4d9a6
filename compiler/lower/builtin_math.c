/// builtin_math.c - arithmetic that is more than one operation, or that constants can do.
#include "lower/builtins.h"

#include <inttypes.h>

// add, sub, mul: the operators under other names.
Val lower_fn_arithmetic(Lower *cx, const BoundArgs *args)
{
    AstBinaryOp op = args->builtin->id == BUILTIN_ADD   ? AST_ADD
                     : args->builtin->id == BUILTIN_SUB ? AST_SUB
                                                        : AST_MUL;
    return lower_binary(cx, op, operand_at(args->at[0], args->spans[0]),
                        operand_at(args->at[1], args->spans[1]), args->call);
}

static bool check_float(Lower *cx, const BoundArgs *args, unsigned index)
{
    Val v = args->at[index];
    const Type *t = type_elem(lower_type_of(cx, v));
    if (v.kind == VAL_ERROR || lower_is_number(v) || type_is_float(t))
        return v.kind != VAL_ERROR;
    lower_error(cx, DIAG_TYPE_MISMATCH, args->spans[index], "'fdiv' needs floats, got %s",
                lower_text(cx, v));
    return false;
}

Val lower_fn_fdiv(Lower *cx, const BoundArgs *args)
{
    bool ieee;
    if (!check_float(cx, args, 0) || !check_float(cx, args, 1) ||
        !lower_want_bool(cx, args, 2, &ieee))
        return val_error();
    Val q = lower_binary(cx, AST_DIV, operand_at(args->at[0], args->spans[0]),
                         operand_at(args->at[1], args->spans[1]), args->call);
    if (ieee && q.kind == VAL_VALUE && q.v->def && q.v->def->code == IR_DIV)
        q.v->def->code = IR_DIV_RN;
    return q;
}

static Val truth_of(Lower *cx, Val v, Span span)
{
    if (v.kind == VAL_VALUE && type_is_bool(v.v->type))
        return v;
    return lower_compare(cx, AST_NE, operand_at(v, span), operand_at(val_const(const_int(0)), span),
                         span);
}

Val lower_fn_logical(Lower *cx, const BoundArgs *args)
{
    AstBinaryOp op = args->builtin->id == BUILTIN_LOGICAL_AND ? AST_BIT_AND : AST_BIT_OR;
    Val a = truth_of(cx, args->at[0], args->spans[0]),
        b = truth_of(cx, args->at[1], args->spans[1]);
    return lower_binary(cx, op, operand_at(a, args->spans[0]), operand_at(b, args->spans[1]),
                        args->call);
}

// Programs numbered row by row are visited in groups of size_g rows, column by column inside a
// group: neighbours then share rows and columns of the operands.
Val lower_fn_swizzle2d(Lower *cx, const BoundArgs *args)
{
    const Span s = args->call;
    const Val i = args->at[0], j = args->at[1], size_i = args->at[2], size_j = args->at[3],
              size_g = args->at[4];
#define BINARY(op, a, b) lower_binary(cx, (op), operand_at((a), s), operand_at((b), s), s)
    Val ij = BINARY(AST_ADD, BINARY(AST_MUL, i, size_j), j);
    Val size_gj = BINARY(AST_MUL, size_g, size_j);
    Val first = BINARY(AST_MUL, BINARY(AST_FLOOR_DIV, ij, size_gj), size_g);
    Val pair[2] = { BINARY(AST_SUB, size_i, first), size_g };
    Val rows = lower_elementwise(cx, IR_MIN, pair, (Span[]){ s, s }, 2, s);
    Val within = BINARY(AST_MOD, ij, size_gj);
    Val out = { .kind = VAL_TUPLE, .tuple = { ARENA_NEW_N(lower_arena(cx), Val, 2), 2 } };
    out.tuple.at[0] = BINARY(AST_ADD, first, BINARY(AST_MOD, within, rows));
    out.tuple.at[1] = BINARY(AST_FLOOR_DIV, within, rows);
#undef BINARY
    bool failed = out.tuple.at[0].kind == VAL_ERROR || out.tuple.at[1].kind == VAL_ERROR;
    return failed ? val_error() : out;
}

// Of a run-time integer: the bits below the highest of n - 1 are filled, and one more is added.
static Val power_of_run_time(Lower *cx, const BoundArgs *args)
{
    const Span s = args->call;
    const unsigned width = 8 * type_elem_bytes(args->at[0].v->type);
    const Val one = val_const(const_int(1));
    Val pair[2] = { args->at[0], one };
    Val x = lower_elementwise(cx, IR_MAX, pair, (Span[]){ s, s }, 2, s);
    x = lower_binary(cx, AST_SUB, operand_at(x, s), operand_at(one, s), s);
    for (unsigned shift = 1; shift < width; shift *= 2) {
        Val by = lower_binary(cx, AST_SHR, operand_at(x, s),
                              operand_at(val_const(const_int(shift)), s), s);
        x = lower_binary(cx, AST_BIT_OR, operand_at(x, s), operand_at(by, s), s);
    }
    return lower_binary(cx, AST_ADD, operand_at(x, s), operand_at(one, s), s);
}

Val lower_fn_next_power_of_2(Lower *cx, const BoundArgs *args)
{
    int64_t n, power = 1;
    const Val v = args->at[0];
    if (v.kind == VAL_VALUE && v.v->type->kind == TYPE_SCALAR && type_is_int(v.v->type))
        return power_of_run_time(cx, args);
    if (!lower_want_int(cx, args, 0, &n))
        return val_error();
    if (n > INT64_C(1) << 62) {
        lower_error(cx, DIAG_BAD_VALUE, args->spans[0],
                    "the next power of two of %" PRId64 " does not fit int64", n);
        return val_error();
    }
    while (power < n)
        power *= 2;
    return val_const(const_int(power));
}

Val lower_fn_abs(Lower *cx, const BoundArgs *args)
{
    Val v = args->at[0];
    if (lower_is_number(v) && !v.fixed) {
        ConstVal zero = const_int(0),
                 negative = const_compare(lower_consts(cx), AST_LT, v.c, zero, args->call);
        return val_const(
            const_unary(lower_consts(cx), negative.v.b ? AST_NEG : AST_POS, v.c, args->call));
    }
    return lower_elementwise(cx, IR_ABS, args->at, args->spans, 1, args->call);
}
