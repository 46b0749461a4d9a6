/// builtin_create.c - values out of nothing: program ids, ranges, blocks of one value.
#include "lower/builtins.h"

#include <inttypes.h>
#include <math.h>

Val lower_fn_program_id(Lower *cx, const BoundArgs *args)
{
    int64_t axis;
    if (!lower_want_int(cx, args, 0, &axis))
        return val_error();
    if (axis < 0 || axis > 2) {
        lower_error(cx, DIAG_BAD_VALUE, args->spans[0], "axis must be 0, 1 or 2, got %" PRId64,
                    axis);
        return val_error();
    }
    IrCode code = args->builtin->id == BUILTIN_PROGRAM_ID ? IR_PROGRAM_ID : IR_NUM_PROGRAMS;
    IrValue *v = ir_op1(lower_builder(cx), code, type_scalar(lower_types(cx), SCALAR_I32), 0, NULL);
    v->def->attr.axis = (int)axis;
    return val_of(v);
}

static int64_t power_of_two_from(int64_t n)
{
    int64_t p = 1;
    while (p < n)
        p *= 2;
    return p;
}

Val lower_fn_arange(Lower *cx, const BoundArgs *args)
{
    int64_t lo, hi;
    if (!lower_want_int(cx, args, 0, &lo) || !lower_want_int(cx, args, 1, &hi))
        return val_error();
    // The last element is hi - 1, so hi itself may be one past int32.
    if (lo < INT32_MIN || lo > INT32_MAX || hi < INT32_MIN || hi > (int64_t)INT32_MAX + 1) {
        lower_error(cx, DIAG_BAD_VALUE, args->call,
                    "arange elements are int32; %" PRId64 "..%" PRId64 " does not fit", lo, hi);
        return val_error();
    }
    int64_t length = hi - lo;
    if (length <= 0) {
        lower_error(cx, DIAG_BAD_VALUE, args->call, "empty range %" PRId64 "..%" PRId64, lo, hi);
        return val_error();
    }
    if (length > TYPE_MAX_NUMEL) {
        lower_error(cx, DIAG_SHAPE_MISMATCH, args->call,
                    "block of %" PRId64 " elements; the limit is %d", length, TYPE_MAX_NUMEL);
        return val_error();
    }
    if ((length & (length - 1)) != 0) {
        lower_error(cx, DIAG_BAD_VALUE, args->call,
                    "arange length %" PRId64 " is not a power of two", length);
        diag_help(lower_diags(cx), "use %" PRId64 " and a mask", power_of_two_from(length));
        return val_error();
    }
    return val_of(ir_arange(lower_builder(cx), lo, hi));
}

static Val zeros_of(Lower *cx, const Type *type)
{
    return val_of(ir_const_int(lower_builder(cx), type, 0));
}

Val lower_fn_zeros(Lower *cx, const BoundArgs *args)
{
    unsigned rank;
    int32_t shape[TYPE_MAX_RANK];
    const Type *elem;
    if (!lower_want_shape(cx, args, 0, &rank, shape) || !lower_dtype_arg(cx, args, 1, &elem))
        return val_error();
    return zeros_of(cx, type_block(lower_types(cx), elem, rank, shape));
}

Val lower_fn_zeros_like(Lower *cx, const BoundArgs *args)
{
    IrValue *like =
        lower_value(cx, args->at[0], "argument 'input' of 'zeros_like'", args->spans[0]);
    return like ? zeros_of(cx, like->type) : val_error();
}

// 1.5 is no int32, though a cast of a value would truncate it: the user wrote both side by side.
static bool check_literal(Lower *cx, Val v, const Type *elem, Span span)
{
    if (v.kind != VAL_CONST || v.c.kind != CONST_FLOAT ||
        !(type_is_int(elem) || type_is_bool(elem)))
        return true;
    if (isfinite(v.c.v.f) && trunc(v.c.v.f) == v.c.v.f)
        return true;
    Buf text = { 0 };
    const_print(&text, &v.c);
    lower_error(cx, DIAG_BAD_VALUE, span, "%s is not an %s value", text.at,
                scalar_text(elem->scalar));
    buf_free(&text);
    return false;
}

Val lower_fn_full(Lower *cx, const BoundArgs *args)
{
    unsigned rank;
    int32_t shape[TYPE_MAX_RANK];
    const Type *elem;
    if (!lower_want_shape(cx, args, 0, &rank, shape) || !lower_dtype_arg(cx, args, 2, &elem))
        return val_error();
    if (!check_literal(cx, args->at[1], elem, args->spans[1]))
        return val_error();
    IrValue *v =
        lower_value_as(cx, args->at[1], elem, "argument 'value' of 'full'", args->spans[1]);
    if (!v)
        return val_error();
    if (type_is_block(v->type)) {
        lower_error(cx, DIAG_SHAPE_MISMATCH, args->spans[1],
                    "'full' repeats one value, got a block of shape %s",
                    type_shape_text(lower_types(cx), v->type));
        return val_error();
    }
    return val_of(ir_splat(lower_builder(cx), v, type_block(lower_types(cx), elem, rank, shape)));
}

Val lower_fn_to_tensor(Lower *cx, const BoundArgs *args)
{
    return val_of(lower_value(cx, args->at[0], "argument 'value' of 'to_tensor'", args->spans[0]));
}
