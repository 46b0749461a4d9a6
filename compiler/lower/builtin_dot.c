/// builtin_dot.c - matrix products: dot(a, b, acc) and a @ b.
///
/// Operands have one type and at least two axes; axes before the last two are a batch, and more
/// than one of them are taken together. The accumulator's type says what the sum is rounded to, so
/// out_dtype need not be repeated beside it.
#include "lower/builtins.h"

#include <inttypes.h>

/// A dot under construction: its factors, and what the user said about the result.
typedef struct Dot {
    IrValue *x[2];
    Span spans[2], call;
    IrValue *acc;  // NULL: none
    Span acc_span;
    const Type *out;  // element type of the result; NULL: not said
    Span out_span;
    IrPrecision precision;
    int64_t imprecise;  // -1: not said
    Span imprecise_span;
} Dot;

static const char *type_of(Lower *cx, const IrValue *v)
{
    return type_text(lower_types(cx), v->type);
}

static bool is_factor(ScalarKind k)
{
    return scalar_info[k].cls == SCLASS_FLOAT || scalar_info[k].cls == SCLASS_FP8 || k == SCALAR_I8;
}

static bool check_types(Lower *cx, const Dot *d)
{
    for (int i = 0; i < 2; i++) {
        const IrValue *v = d->x[i];
        if (type_rank(v->type) < 2) {
            lower_error(cx, DIAG_SHAPE_MISMATCH, d->spans[i],
                        "'dot' needs blocks of two or more axes, got %s", type_of(cx, v));
            if (type_is_block(v->type))
                diag_help(lower_diags(cx), "for vectors use 'sum(a * b, axis=0)'");
            return false;
        }
        if (!type_is_num(v->type) || !is_factor(type_scalar_kind(v->type))) {
            lower_error(cx, DIAG_TYPE_MISMATCH, d->spans[i],
                        "'dot' multiplies floats and int8, got %s", type_of(cx, v));
            return false;
        }
    }
    const Type *a = type_elem(d->x[0]->type), *b = type_elem(d->x[1]->type);
    if (a == b || (type_is_fp8(a) && type_is_fp8(b)))
        return true;
    lower_error(cx, DIAG_TYPE_MISMATCH, d->call,
                "operands of 'dot' must have the same type, got %s and %s",
                type_text(lower_types(cx), a), type_text(lower_types(cx), b));
    const bool wide = scalar_info[a->scalar].bits < scalar_info[b->scalar].bits;
    diag_help(lower_diags(cx), "convert the %s: '.to(%s)'", wide ? "second" : "first",
              scalar_info[wide ? a->scalar : b->scalar].name);
    return false;
}

static bool check_shapes(Lower *cx, const Dot *d)
{
    const Type *a = d->x[0]->type, *b = d->x[1]->type;
    const unsigned rank = type_rank(a);
    if (type_rank(b) != rank) {
        lower_error(cx, DIAG_SHAPE_MISMATCH, d->call,
                    "operands of 'dot' have %u and %u axes, and need equally many", rank,
                    type_rank(b));
        return false;
    }
    for (unsigned k = 0; k + 2 < rank; k++)
        if (a->shape[k] != b->shape[k]) {
            lower_error(cx, DIAG_SHAPE_MISMATCH, d->call,
                        "operands of 'dot' differ in batch axis %u: %" PRId32 " and %" PRId32, k,
                        a->shape[k], b->shape[k]);
            return false;
        }
    const int32_t inner = a->shape[rank - 1];
    if (inner != b->shape[rank - 2]) {
        lower_error(cx, DIAG_SHAPE_MISMATCH, d->call,
                    "inner sizes of 'dot' differ: %" PRId32 " and %" PRId32, inner,
                    b->shape[rank - 2]);
        return false;
    }
    const unsigned bits = scalar_info[a->elem->scalar].bits;
    const int32_t least = bits == 8 ? 32 : 16;
    if (inner < least) {
        lower_error(cx, DIAG_SHAPE_MISMATCH, d->call,
                    "the inner size of 'dot' is %" PRId32 ", and at least %" PRId32
                    " for %u-bit types",
                    inner, least, bits);
        diag_help(lower_diags(cx), "load wider blocks with a mask and other=0");
        return false;
    }
    if (d->imprecise > inner) {
        lower_error(cx, DIAG_BAD_VALUE, d->imprecise_span,
                    "max_num_imprecise_acc is %" PRId64 ", and at most %" PRId32 ", the inner size",
                    d->imprecise, inner);
        return false;
    }
    return true;
}

/// What products of `k` are summed in, and the only other type that a result may be asked in.
static ScalarKind sum_kind(ScalarKind k, ScalarKind *other)
{
    const bool small = k == SCALAR_F16 || scalar_info[k].cls == SCLASS_FP8;
    const ScalarKind sum = k == SCALAR_I8 ? SCALAR_I32 : k == SCALAR_F64 ? SCALAR_F64 : SCALAR_F32;
    *other = small ? SCALAR_F16 : sum;
    return sum;
}

static const char *sums_text(Lower *cx, ScalarKind sum, ScalarKind other)
{
    return sum == other
               ? scalar_text(sum)
               : arena_printf(lower_arena(cx), "%s or %s", scalar_text(sum), scalar_text(other));
}

/// The result's element type from out_dtype, else from the accumulator, else the default.
static const Type *choose_result(Lower *cx, const Dot *d)
{
    ScalarKind other;
    const ScalarKind factor = type_scalar_kind(d->x[0]->type), sum = sum_kind(factor, &other);
    const Type *out = d->out;
    if (out && (out->kind != TYPE_SCALAR || (out->scalar != sum && out->scalar != other))) {
        lower_error(cx, DIAG_TYPE_MISMATCH, d->out_span,
                    "out_dtype %s is not possible for %s operands, it must be %s",
                    type_text(lower_types(cx), out), scalar_text(factor),
                    sums_text(cx, sum, other));
        return NULL;
    }
    if (!d->acc)
        return out ? out : type_scalar(lower_types(cx), sum);
    const Type *acc = type_elem(d->acc->type);
    const bool fits = acc->kind == TYPE_SCALAR && (acc->scalar == sum || acc->scalar == other);
    if (fits && (!out || out == acc))
        return acc;
    lower_error(cx, DIAG_TYPE_MISMATCH, d->acc_span, "accumulator must be %s, got %s",
                fits ? type_text(lower_types(cx), out) : sums_text(cx, sum, other),
                type_text(lower_types(cx), acc));
    return NULL;
}

/// The block of the product's shape.
static const Type *product_type(Lower *cx, const Dot *d, const Type *elem)
{
    const Type *a = d->x[0]->type;
    const unsigned rank = type_rank(a);
    int32_t shape[TYPE_MAX_RANK];
    uint64_t numel = 1;
    for (unsigned k = 0; k < rank; k++) {
        shape[k] = k + 1 == rank ? d->x[1]->type->shape[k] : a->shape[k];
        numel *= (uint64_t)shape[k];
    }
    if (numel <= TYPE_MAX_NUMEL)
        return type_block(lower_types(cx), elem, rank, shape);
    lower_error(cx, DIAG_SHAPE_MISMATCH, d->call,
                "the product has %" PRIu64 " elements, and a block at most %d", numel,
                TYPE_MAX_NUMEL);
    return NULL;
}

/// All axes before the last two as one.
static IrValue *flatten_batch(Lower *cx, IrValue *v)
{
    const unsigned rank = type_rank(v->type);
    if (rank <= 3)
        return v;
    const int32_t rows = v->type->shape[rank - 2], cols = v->type->shape[rank - 1];
    const int32_t shape[3] = { (int32_t)v->type->numel / rows / cols, rows, cols };
    return ir_reshape(lower_builder(cx), v,
                      type_block(lower_types(cx), type_elem(v->type), 3, shape));
}

static Val make_dot(Lower *cx, const Dot *d)
{
    IrBuilder *b = lower_builder(cx);
    if (!check_types(cx, d) || !check_shapes(cx, d))
        return val_error();
    const Type *elem = choose_result(cx, d), *type = elem ? product_type(cx, d, elem) : NULL;
    if (!type)
        return val_error();
    if (d->acc && d->acc->type != type) {
        lower_error(cx, DIAG_SHAPE_MISMATCH, d->acc_span, "accumulator is %s, the product is %s",
                    type_shape_text(lower_types(cx), d->acc->type),
                    type_shape_text(lower_types(cx), type));
        return val_error();
    }
    IrValue *args[3] = { flatten_batch(cx, d->x[0]), flatten_batch(cx, d->x[1]) };
    args[2] = flatten_batch(cx, d->acc ? d->acc : ir_const(b, type, ir_const_of_int(type, 0)));
    IrValue *v = ir_op1(b, IR_DOT, args[2]->type, 3, args);
    v->def->attr.dot.precision =
        type_scalar_kind(args[0]->type) == SCALAR_F32 ? d->precision : PRECISION_IEEE;
    return val_of(v->type == type ? v : ir_reshape(b, v, type));
}

static bool want_factor(Lower *cx, Dot *d, int i, Val v, Span span, const char *what)
{
    d->spans[i] = span;
    d->x[i] = lower_value(cx, v, what, span);
    return d->x[i] != NULL;
}

static bool want_precision(Lower *cx, const BoundArgs *args, Dot *d)
{
    enum { INPUT_PRECISION = 3, ALLOW_TF32 };
    static const char *const words[PRECISION_COUNT] = { "ieee", "tf32", "tf32x3", "bf16x3",
                                                        "bf16x6" };
    Str word;
    bool tf32 = true;
    const bool says = !lower_is_none(args->at[INPUT_PRECISION]);
    if (!lower_want_str(cx, args, INPUT_PRECISION, &word))
        return false;
    if (!lower_is_none(args->at[ALLOW_TF32])) {
        if (!lower_want_bool(cx, args, ALLOW_TF32, &tf32))
            return false;
        if (says) {
            lower_error(cx, DIAG_BAD_CALL, args->spans[ALLOW_TF32],
                        "'dot' takes input_precision or allow_tf32, not both");
            return false;
        }
    }
    d->precision = tf32 ? PRECISION_TF32 : PRECISION_IEEE;
    for (unsigned k = 0; says && k < PRECISION_COUNT; k++)
        if (str_is(word, words[k])) {
            d->precision = (IrPrecision)k;
            return true;
        }
    if (!says)
        return true;
    lower_error(cx, DIAG_BAD_VALUE, args->spans[INPUT_PRECISION],
                "unknown input_precision '%.*s'; expected tf32, tf32x3, ieee, bf16x3 or bf16x6",
                (int)word.len, word.at);
    return false;
}

Val lower_fn_dot(Lower *cx, const BoundArgs *args)
{
    enum { ACC = 2, IMPRECISE = 5, OUT };
    Dot d = { .call = args->call, .imprecise = -1 };
    if (!want_factor(cx, &d, 0, args->at[0], args->spans[0], "argument 'input' of 'dot'") ||
        !want_factor(cx, &d, 1, args->at[1], args->spans[1], "argument 'other' of 'dot'") ||
        !want_precision(cx, args, &d))
        return val_error();
    if (!lower_is_none(args->at[ACC])) {
        d.acc_span = args->spans[ACC];
        d.acc = lower_value(cx, args->at[ACC], "argument 'acc' of 'dot'", d.acc_span);
        if (!d.acc)
            return val_error();
    }
    if (!lower_is_none(args->at[IMPRECISE])) {
        d.imprecise_span = args->spans[IMPRECISE];
        if (!lower_want_int(cx, args, IMPRECISE, &d.imprecise))
            return val_error();
    }
    if (!lower_is_none(args->at[OUT])) {
        d.out_span = args->spans[OUT];
        if (!lower_dtype_arg(cx, args, OUT, &d.out))
            return val_error();
    }
    return make_dot(cx, &d);
}

Val lower_matmul(Lower *cx, Operand a, Operand b, Span span)
{
    Dot d = { .call = span, .imprecise = -1, .precision = PRECISION_TF32 };
    if (!want_factor(cx, &d, 0, a.val, a.span, "left operand of '@'") ||
        !want_factor(cx, &d, 1, b.val, b.span, "right operand of '@'"))
        return val_error();
    return make_dot(cx, &d);
}
