/// builtin_python.c - Python's own functions: they fold constants, and do the obvious on values.
#include "lower/builtins.h"

// ---- min, max -------------------------------------------------------------------------------

static bool weak(Val v)
{
    return lower_is_number(v) && !v.fixed;
}

static Val larger_of(Lower *cx, bool is_max, bool propagate_nan, Val a, Val b, Span span)
{
    if (weak(a) && weak(b)) {
        // As Python: the first one stays unless the other is really larger (smaller).
        ConstVal other = const_compare(lower_consts(cx), is_max ? AST_GT : AST_LT, b.c, a.c, span);
        return other.kind == CONST_ERROR ? val_error() : other.v.b ? b : a;
    }
    Val out = lower_elementwise(cx, is_max ? IR_MAX : IR_MIN, (Val[]){ a, b },
                                (Span[]){ span, span }, 2, span);
    if (propagate_nan && out.kind == VAL_VALUE && out.v->def &&
        out.v->def->code == (is_max ? IR_MAX : IR_MIN))
        out.v->def->attr.propagate_nan = true;
    return out;
}

enum { PY_VALUES, PY_AXIS, PY_INDICES, PY_TIES, PY_KEEP, PY_NAN };

// max(x), max(x, axis=1): the reduction of nl.max with the same arguments.
static Val reduce_one(Lower *cx, const BoundArgs *args, bool is_max)
{
    BoundArgs all = *args;
    all.builtin = builtin_get(cx->program->builtins, is_max ? BUILTIN_MAX : BUILTIN_MIN);
    all.at = ARENA_NEW_N(lower_arena(cx), Val, args->count);
    for (uint32_t i = 0; i < args->count; i++)
        all.at[i] = args->at[i];
    all.at[PY_VALUES] = args->at[PY_VALUES].tuple.at[0];
    all.count = all.builtin->param_count;
    return lower_fn_max(cx, &all);
}

static bool reduction_arguments(const BoundArgs *args)
{
    return args->given[PY_AXIS] || args->given[PY_INDICES] || args->given[PY_TIES] ||
           args->given[PY_KEEP];
}

static void warn_axis(Lower *cx, const BoundArgs *args)
{
    Val block = args->at[PY_VALUES].tuple.at[0], n = args->at[PY_VALUES].tuple.at[1];
    if (block.kind != VAL_VALUE || n.kind != VAL_CONST || n.c.kind != CONST_INT || n.fixed ||
        n.c.v.i < 0 || n.c.v.i >= type_rank(block.v->type))
        return;
    const char *name = args->builtin->name->text;
    diag_report(lower_diags(cx), DIAG_MAX_AXIS, args->call,
                "'%s' of a block and a number compares each element with it", name);
    diag_help(lower_diags(cx), "write '%s(x, axis=%d)' for a reduction, '%simum(x, %d)' for this",
              name, (int)n.c.v.i, name, (int)n.c.v.i);
}

Val lower_fn_py_max(Lower *cx, const BoundArgs *args)
{
    bool is_max = args->builtin->id == BUILTIN_PY_MAX, nan;
    Val values = args->at[PY_VALUES];
    if (!lower_want_bool(cx, args, PY_NAN, &nan))
        return val_error();
    if (values.tuple.len == 1 && values.tuple.at[0].kind == VAL_TUPLE && !reduction_arguments(args))
        values = values.tuple.at[0];
    else if (values.tuple.len == 1)
        return reduce_one(cx, args, is_max);
    if (values.tuple.len == 0 || reduction_arguments(args)) {
        lower_error(cx, DIAG_BAD_CALL, args->call,
                    values.tuple.len ? "a reduction takes one block" : "'%s' of nothing",
                    args->builtin->name->text);
        return val_error();
    }
    if (values.tuple.len == 2 && args->at[PY_VALUES].tuple.len == 2)
        warn_axis(cx, args);
    Val out = values.tuple.at[0];
    for (uint32_t i = 1; i < values.tuple.len; i++)
        out = larger_of(cx, is_max, nan, out, values.tuple.at[i], args->call);
    return out;
}

// ---- conversions ----------------------------------------------------------------------------

static Val convert(Lower *cx, const BoundArgs *args,
                   ConstVal (*of_constant)(ConstCx *, ConstVal, Span), ScalarKind kind)
{
    Val v = args->at[0];
    if (v.kind == VAL_CONST)
        return val_const(of_constant(lower_consts(cx), v.c, args->call));
    return lower_cast(cx, v, type_scalar(lower_types(cx), kind), false, NULL, args->call);
}

Val lower_fn_py_int(Lower *cx, const BoundArgs *args)
{
    return convert(cx, args, const_to_int, SCALAR_I32);
}

Val lower_fn_py_float(Lower *cx, const BoundArgs *args)
{
    return convert(cx, args, const_to_float, SCALAR_F32);
}

Val lower_fn_py_bool(Lower *cx, const BoundArgs *args)
{
    Val v = args->at[0];
    bool ok = true;
    if (v.kind == VAL_TUPLE)
        return val_const(const_bool(v.tuple.len > 0));
    if (v.kind != VAL_CONST)
        return lower_cast(cx, v, type_scalar(lower_types(cx), SCALAR_I1), false, NULL, args->call);
    bool truth = const_truth(lower_consts(cx), v.c, args->call, &ok);
    return ok ? val_const(const_bool(truth)) : val_error();
}

Val lower_fn_py_str(Lower *cx, const BoundArgs *args)
{
    ConstVal c;
    if (!lower_as_const(cx, args->at[0], &c)) {
        lower_error(cx, DIAG_NOT_CONSTEXPR, args->spans[0],
                    "'str' needs a compile-time constant, got %s", lower_text(cx, args->at[0]));
        return val_error();
    }
    if (c.kind == CONST_STR)
        return args->at[0];
    Buf text = { 0 };
    const_print(&text, &c);
    ConstVal s =
        const_str((Str){ arena_strndup(lower_arena(cx), text.at, text.len), (uint32_t)text.len });
    buf_free(&text);
    return val_const(s);
}

Val lower_fn_py_len(Lower *cx, const BoundArgs *args)
{
    Val v = args->at[0];
    if (v.kind == VAL_TUPLE)
        return val_const(const_int(v.tuple.len));
    if (v.kind == VAL_CONST && v.c.kind == CONST_STR)
        return val_const(const_int(v.c.v.s.len));
    if (v.kind == VAL_VALUE && type_is_block(v.v->type))
        return val_const(const_int(v.v->type->shape[0]));
    if (v.kind != VAL_ERROR)
        lower_error(cx, DIAG_TYPE_MISMATCH, args->spans[0],
                    "'len' needs a tuple, a string or a block, got %s", lower_text(cx, v));
    return val_error();
}

// ---- isinstance -----------------------------------------------------------------------------

static bool is_const_of(Val v, ConstKind kind)
{
    return v.kind == VAL_CONST && !v.fixed && v.c.kind == kind;
}

// 1: yes, 0: no, -1: `kind` is no kind of value.
static int is_of_kind(Val v, const Builtin *kind)
{
    switch ((unsigned)kind->id) {
    case BUILTIN_TENSOR: return v.kind == VAL_VALUE || (v.kind == VAL_CONST && v.fixed);
    case BUILTIN_CONSTEXPR: return v.kind == VAL_CONST && !v.fixed;
    case BUILTIN_DTYPE: return is_const_of(v, CONST_DTYPE);
    case BUILTIN_TUPLE: return v.kind == VAL_TUPLE;
    case BUILTIN_PTR:
    case BUILTIN_POINTER_TYPE: return is_const_of(v, CONST_DTYPE) && v.c.v.dtype->kind == TYPE_PTR;
    case BUILTIN_PY_INT: return is_const_of(v, CONST_INT) || is_const_of(v, CONST_BOOL);
    case BUILTIN_PY_FLOAT: return is_const_of(v, CONST_FLOAT);
    case BUILTIN_PY_BOOL: return is_const_of(v, CONST_BOOL);
    case BUILTIN_PY_STR: return is_const_of(v, CONST_STR);
    default: return -1;
    }
}

static int is_of_kinds(Val v, Val kinds)
{
    if (kinds.kind == VAL_TUPLE) {
        int any = 0;
        for (uint32_t i = 0; i < kinds.tuple.len && any >= 0; i++) {
            int one = is_of_kinds(v, kinds.tuple.at[i]);
            any = one < 0 ? -1 : any | one;
        }
        return any;
    }
    bool named = kinds.kind == VAL_CONST &&
                 (kinds.c.kind == CONST_ANNOTATION || kinds.c.kind == CONST_BUILTIN);
    return named ? is_of_kind(v, kinds.c.v.ref) : -1;
}

Val lower_fn_py_isinstance(Lower *cx, const BoundArgs *args)
{
    if (args->at[0].kind == VAL_ERROR || args->at[1].kind == VAL_ERROR)
        return val_error();
    int answer = is_of_kinds(args->at[0], args->at[1]);
    if (answer >= 0)
        return val_const(const_bool(answer != 0));
    lower_error(cx, DIAG_TYPE_MISMATCH, args->spans[1],
                "'isinstance' knows tensor, constexpr, dtype, tuple, int, float, bool and str");
    return val_error();
}

Val lower_fn_tuple(Lower *cx, const BoundArgs *args)
{
    if (args->at[0].kind == VAL_TUPLE || args->at[0].kind == VAL_ERROR)
        return args->at[0];
    lower_error(cx, DIAG_TYPE_MISMATCH, args->spans[0], "'tuple' needs a tuple or list, got %s",
                lower_text(cx, args->at[0]));
    return val_error();
}
