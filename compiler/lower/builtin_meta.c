/// builtin_meta.c - asserting and printing, hints to the compiler, questions about types.
#include "lower/builtins.h"

#include <ctype.h>
#include <string.h>

// ---- at compile time ------------------------------------------------------------------------

// "(B = 8, n = 4)": the constants that the text of a condition names.
static void print_names(Lower *cx, Span span, Buf *out)
{
    Str text = source_text(cx->program->sources, span);
    const char *separator = " (";
    for (uint32_t i = 0; i < text.len;) {
        uint32_t start = i;
        while (i < text.len && (isalnum((unsigned char)text.at[i]) || text.at[i] == '_'))
            i++;
        if (i == start) {
            i++;
            continue;
        }
        bool plain =
            (start == 0 || text.at[start - 1] != '.') && !isdigit((unsigned char)text.at[start]);
        Sym name = sym_intern(cx->program->syms, text.at + start, i - start);
        uint32_t slot = plain ? lower_slot_find(cx->frame, name) : UINT32_MAX;
        const Local *local = slot == UINT32_MAX ? NULL : lower_slot_get(cx, slot);
        if (!local || local->status != BIND_SET || local->val.kind != VAL_CONST)
            continue;
        buf_printf(out, "%s%s = ", separator, name->text);
        const_print(out, &local->val.c);
        separator = ", ";
    }
    if (*separator == ',')
        buf_putc(out, ')');
}

static void report_assertion(Lower *cx, const BoundArgs *args, Str message)
{
    Buf text = { 0 };
    if (message.len)
        buf_bytes(&text, message.at, message.len);
    else
        buf_puts(&text, lower_source(cx, args->spans[0]));
    print_names(cx, args->spans[0], &text);
    lower_error(cx, DIAG_STATIC_ASSERT, args->call, "static assertion failed: %s", text.at);
    buf_free(&text);
}

Val lower_fn_static_assert(Lower *cx, const BoundArgs *args)
{
    Val cond = args->at[0];
    Str message;
    bool ok;
    if (cond.kind == VAL_ERROR || !lower_want_str(cx, args, 1, &message))
        return val_error();
    if (cond.kind != VAL_CONST) {
        lower_error(cx, DIAG_NOT_CONSTEXPR, args->spans[0],
                    "'static_assert' needs a compile-time condition, got %s", lower_text(cx, cond));
        diag_help(lower_diags(cx), "device_assert checks run-time values");
        return val_error();
    }
    bool truth = const_truth(lower_consts(cx), cond.c, args->spans[0], &ok);
    if (!ok)
        return val_error();
    if (!truth)
        report_assertion(cx, args, message);
    return val_void();
}

static void print_value(Lower *cx, Buf *out, Val v)
{
    ConstVal c;
    if (!lower_as_const(cx, v, &c))
        buf_puts(out, lower_text(cx, v));
    else if (c.kind == CONST_STR)
        buf_bytes(out, c.v.s.at, c.v.s.len);
    else
        const_print(out, &c);
}

Val lower_fn_static_print(Lower *cx, const BoundArgs *args)
{
    Str separator;
    Buf text = { 0 };
    if (!lower_want_str(cx, args, 1, &separator))
        return val_error();
    Val values = args->at[0];
    for (uint32_t i = 0; i < values.tuple.len; i++) {
        if (i)
            buf_bytes(&text, separator.at, separator.len);
        print_value(cx, &text, values.tuple.at[i]);
    }
    diag_report(lower_diags(cx), DIAG_STATIC_PRINT, args->call, "%s", text.at ? text.at : "");
    buf_free(&text);
    return val_void();
}

// ---- at run time ----------------------------------------------------------------------------

Val lower_fn_device_assert(Lower *cx, const BoundArgs *args)
{
    Str message;
    IrValue *mask;
    if (!lower_want_str(cx, args, 1, &message) || !lower_mask(cx, args, 2, &mask))
        return val_error();
    IrValue *cond = lower_value(cx, args->at[0], "the condition of an assertion", args->spans[0]);
    if (cond && !type_is_bool(cond->type)) {
        Val truth = lower_compare(cx, AST_NE, operand_at(val_of(cond), args->spans[0]),
                                  operand_at(val_const(const_int(0)), args->spans[0]), args->call);
        cond = lower_value(cx, truth, "the condition of an assertion", args->spans[0]);
    }
    if (!cond)
        return val_error();
    IrValue *v[2] = { cond, mask };
    if (mask && !lower_broadcast(cx, v, (Span[]){ args->spans[0], args->spans[2] }, 2, args->call))
        return val_error();
    IrOp *op = ir_op0(lower_builder(cx), IR_ASSERT, 2, v);
    op->attr.text = message.len ? arena_strndup(lower_arena(cx), message.at, message.len)
                                : lower_source(cx, args->spans[0]);
    return val_void();
}

Val lower_fn_debug_barrier(Lower *cx, const BoundArgs *args)
{
    (void)args;
    ir_op0(lower_builder(cx), IR_BARRIER, 0, NULL)->attr.from_user = true;
    return val_void();
}

// ---- promises -------------------------------------------------------------------------------

// A promise about a parameter where every run comes by becomes a fact of the parameter.
static void note_divisor(Lower *cx, const IrValue *v, int64_t divisor)
{
    IrBuilder *b = lower_builder(cx);
    if (v->def || v->block != b->fn->body || b->block != b->fn->body)
        return;
    IrParam *param = &b->fn->params[v->index];
    if (divisor > param->divisor && divisor % param->divisor == 0)
        param->divisor = divisor;
}

static bool want_promise(Lower *cx, const BoundArgs *args, Val v, int64_t *out)
{
    BoundArgs one = *args;
    one.at = (Val[]){ args->at[0], v };
    if (!lower_want_int(cx, &one, 1, out))
        return false;
    if (*out >= 1)
        return true;
    lower_error(cx, DIAG_BAD_VALUE, args->spans[1], "'%s' needs numbers from 1",
                args->builtin->name->text);
    return false;
}

// The value itself comes back. Inside a block a promise about runs of values adds nothing that the
// analysis of addresses does not find or the launcher does not test.
Val lower_fn_hint(Lower *cx, const BoundArgs *args)
{
    Val x = args->at[0], values = args->at[1];
    uint32_t n = values.kind == VAL_TUPLE ? values.tuple.len : 1;
    if (x.kind == VAL_ERROR)
        return x;
    unsigned rank = type_rank(lower_type_of(cx, x)), axes = rank ? rank : 1;
    if (n != axes && n != 1) {
        lower_error(cx, DIAG_BAD_VALUE, args->spans[1], "'%s' needs one number an axis: %u, got %u",
                    args->builtin->name->text, axes, n);
        return val_error();
    }
    for (uint32_t i = 0; i < n; i++) {
        int64_t promise;
        if (!want_promise(cx, args, values.kind == VAL_TUPLE ? values.tuple.at[i] : values,
                          &promise))
            return val_error();
        if (args->builtin->id == BUILTIN_MULTIPLE_OF && x.kind == VAL_VALUE && rank == 0)
            note_divisor(cx, x.v, promise);
    }
    return x;
}

Val lower_fn_assume(Lower *cx, const BoundArgs *args)
{
    (void)cx;
    return args->at[0].kind == VAL_ERROR ? val_error() : val_void();
}

// ---- types ----------------------------------------------------------------------------------

Val lower_fn_constexpr(Lower *cx, const BoundArgs *args)
{
    ConstVal c;
    if (args->at[0].kind == VAL_ERROR || lower_as_const(cx, args->at[0], &c))
        return args->at[0].kind == VAL_ERROR ? val_error() : lower_from_const(cx, c);
    lower_error(cx, DIAG_NOT_CONSTEXPR, args->spans[0],
                "'constexpr' needs a compile-time constant, got %s", lower_text(cx, args->at[0]));
    return val_error();
}

Val lower_fn_pointer_type(Lower *cx, const BoundArgs *args)
{
    const Type *elem;
    bool is_const;
    if (!lower_dtype_arg(cx, args, 0, &elem) || !lower_want_bool(cx, args, 2, &is_const))
        return val_error();
    if (elem->kind == TYPE_SCALAR)
        return val_const(const_dtype(type_ptr(lower_types(cx), elem, is_const)));
    lower_error(cx, DIAG_TYPE_MISMATCH, args->spans[0], "a pointer points to numbers, not to %s",
                type_text(lower_types(cx), elem));
    return val_error();
}

// Words that only the tile layer understands, met in a kernel of blocks.
Val lower_fn_tile_word(Lower *cx, const BoundArgs *args)
{
    lower_error(cx, DIAG_TILE_FORM, args->call, "'%s' stands only in tile kernels",
                args->builtin->name->text);
    diag_help(lower_diags(cx), "mark the kernel with @newt.tile");
    return val_error();
}

// x.dtype.is_int8() and the like ask for one kind.
static ScalarKind kind_asked_for(BuiltinId id)
{
    static const struct {
        BuiltinId id;
        ScalarKind kind;
    } rows[] = {
        { BUILTIN_IS_FP16, SCALAR_F16 },     { BUILTIN_IS_BF16, SCALAR_BF16 },
        { BUILTIN_IS_FP32, SCALAR_F32 },     { BUILTIN_IS_FP64, SCALAR_F64 },
        { BUILTIN_IS_FP8E4NV, SCALAR_E4M3 }, { BUILTIN_IS_FP8E5, SCALAR_E5M2 },
        { BUILTIN_IS_BOOL, SCALAR_I1 },      { BUILTIN_IS_INT8, SCALAR_I8 },
        { BUILTIN_IS_INT16, SCALAR_I16 },    { BUILTIN_IS_INT32, SCALAR_I32 },
        { BUILTIN_IS_INT64, SCALAR_I64 },    { BUILTIN_IS_UINT8, SCALAR_U8 },
        { BUILTIN_IS_UINT16, SCALAR_U16 },   { BUILTIN_IS_UINT32, SCALAR_U32 },
        { BUILTIN_IS_UINT64, SCALAR_U64 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].id == id)
            return rows[i].kind;
    return SCALAR_COUNT;
}

Val lower_fn_dtype_question(Lower *cx, const BoundArgs *args)
{
    const Type *t;
    if (!lower_want_dtype(cx, args, 0, &t))
        return val_error();
    bool number = t->kind != TYPE_VOID && type_is_num(t), answer = false;
    BuiltinId id = args->builtin->id;
    switch ((unsigned)id) {
    case BUILTIN_IS_PTR: answer = t->kind == TYPE_PTR; break;
    case BUILTIN_IS_CONST: answer = t->kind == TYPE_PTR && t->is_const; break;
    case BUILTIN_IS_BLOCK: answer = type_is_block(t); break;
    case BUILTIN_IS_FLOATING: answer = number && (type_is_float(t) || type_is_fp8(t)); break;
    case BUILTIN_IS_STANDARD_FLOATING: answer = number && type_is_float(t); break;
    case BUILTIN_IS_FP8: answer = number && type_is_fp8(t); break;
    case BUILTIN_IS_INT: answer = number && (type_is_int(t) || type_is_bool(t)); break;
    case BUILTIN_IS_INT_SIGNED: answer = number && type_is_signed(t); break;
    case BUILTIN_IS_INT_UNSIGNED:
        answer = number && (type_is_unsigned(t) || type_is_bool(t));
        break;
    default: answer = number && type_scalar_kind(t) == kind_asked_for(id); break;
    }
    return val_const(const_bool(answer));
}
