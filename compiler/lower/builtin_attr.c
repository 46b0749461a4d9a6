/// builtin_attr.c - what stands after the dot of a value, a dtype or a constant: attributes and
/// methods.
#include "lower/builtins.h"
#include "lower/view.h"

#include <string.h>

static bool is(Sym name, const char *text)
{
    return strcmp(name->text, text) == 0;
}

static Val method(Lower *cx, Val receiver, const Builtin *b)
{
    Val *copy = ARENA_NEW(lower_arena(cx), Val);
    *copy = receiver;
    return (Val){ .kind = VAL_METHOD,
                  .method = b,
                  .receiver = copy,
                  .v = receiver.kind == VAL_VALUE ? receiver.v : NULL };
}

static Val shape_of(Lower *cx, const Type *t)
{
    Val out = { .kind = VAL_TUPLE };
    out.tuple.len = type_rank(t);
    out.tuple.at = ARENA_NEW_N(lower_arena(cx), Val, out.tuple.len);
    for (uint32_t k = 0; k < out.tuple.len; k++)
        out.tuple.at[k] = val_const(const_int(t->shape[k]));
    return out;
}

static Val report_attribute(Lower *cx, const char *what, Sym name, BuiltinUse use, Span span)
{
    lower_error(cx, DIAG_UNDEFINED_NAME, span, "%s has no attribute '%s'", what, name->text);
    static const char *const attributes[] = { "dtype",       "shape",   "numel",
                                              "type",        "T",       "element_ty",
                                              "block_shape", "strides", "primitive_bitwidth" };
    const char *near =
        diag_did_you_mean(name->text, attributes, sizeof attributes / sizeof attributes[0]);
    if (!near)
        near = builtin_suggest_method(cx->program->builtins, name->text, use);
    if (near && strcmp(near, name->text) != 0)
        diag_help(lower_diags(cx), "did you mean '%s'?", near);
    return val_error();
}

// ---- numbers, blocks, pointers --------------------------------------------------------------

static Val transposed(Lower *cx, Val x, Span span)
{
    const Builtin *b = builtin_get(cx->program->builtins, BUILTIN_TRANS);
    Val at[2] = { x, { .kind = VAL_TUPLE } };
    Span spans[2] = { span, span };
    bool given[2] = { true, false };
    return lower_fn_trans(cx, &(BoundArgs){ b, at, spans, given, 2, span });
}

static Val value_attribute(Lower *cx, Val x, Sym name, Span span, Span name_span)
{
    const Type *t = lower_type_of(cx, x);
    if (is(name, "dtype"))
        return val_const(const_dtype(type_elem(t)));
    if (is(name, "type"))
        return val_const(const_dtype(t));
    if (is(name, "shape"))
        return shape_of(cx, t);
    if (is(name, "numel"))
        return val_const(const_int(type_is_block(t) ? t->numel : 1));
    if (is(name, "T"))
        return transposed(cx, x, span);
    if (is(name, "value") && x.kind == VAL_CONST)
        return x;
    const Builtin *b = builtin_find_method(cx->program->builtins, name, USE_METHOD);
    if (b)
        return method(cx, x, b);
    return report_attribute(cx, arena_printf(lower_arena(cx), "%s value", lower_text(cx, x)), name,
                            USE_METHOD, name_span);
}

// ---- dtypes ---------------------------------------------------------------------------------

static Val bits_of(const Type *t)
{
    if (type_is_ptr(t))
        return val_const(const_int(64));
    return val_const(const_int(scalar_info[type_scalar_kind(t)].bits));
}

static Val dtype_attribute(Lower *cx, Val x, Sym name, Span name_span)
{
    const Type *t = x.c.v.dtype;
    const Builtin *b = builtin_find_method(cx->program->builtins, name, USE_DTYPE_METHOD);
    if (b)
        return method(cx, x, b);
    bool measured = t->kind != TYPE_VOID;
    if (is(name, "element_ty") && type_is_block(t))
        return val_const(const_dtype(t->elem));
    if (is(name, "element_ty") && t->kind == TYPE_PTR)
        return val_const(const_dtype(t->elem));
    if (is(name, "scalar") && measured)
        return val_const(const_dtype(type_elem(t)));
    if (is(name, "primitive_bitwidth") && measured)
        return bits_of(t);
    if (is(name, "int_bitwidth") && measured && (type_is_int(t) || type_is_bool(t)))
        return bits_of(t);
    if (is(name, "itemsize") && measured)
        return val_const(const_int(type_elem_bytes(t)));
    if (is(name, "shape") && type_is_block(t))
        return shape_of(cx, t);
    if (is(name, "numel") && type_is_block(t))
        return val_const(const_int(t->numel));
    if (is(name, "name")) {
        const char *text = type_text(lower_types(cx), t);
        return val_const(const_str((Str){ text, (uint32_t)strlen(text) }));
    }
    return report_attribute(
        cx, arena_printf(lower_arena(cx), "dtype %s", type_text(lower_types(cx), t)), name,
        USE_DTYPE_METHOD, name_span);
}

// ---- views ----------------------------------------------------------------------------------

/// `count` of the parts of a view, from `first` on. They are int64 whatever the variant has.
static Val parts_of(Lower *cx, Val view, uint32_t first, uint32_t count)
{
    const Type *i64 = type_scalar(lower_types(cx), SCALAR_I64);
    Val out = { .kind = VAL_TUPLE };
    out.tuple.len = count;
    out.tuple.at = ARENA_NEW_N(lower_arena(cx), Val, count);
    for (uint32_t k = 0; k < count; k++) {
        const Val *part = &view.tuple.at[first + k];
        out.tuple.at[k] = *part;
        if (part->kind == VAL_VALUE && ir_is_const(part->v))
            out.tuple.at[k] = val_const(const_int(part->v->def->attr.konst.i));
        else if (part->kind == VAL_VALUE)
            out.tuple.at[k] = val_of(ir_cast(lower_builder(cx), part->v, i64));
    }
    return out;
}

/// What a program may do with a block pointer but by functions: they are methods too.
static bool goes_with_block_pointers(const Builtin *b)
{
    return b->id == BUILTIN_LOAD || b->id == BUILTIN_STORE || b->id == BUILTIN_ADVANCE;
}

static Val view_attribute(Lower *cx, Val x, Sym name, Span name_span)
{
    const bool is_desc = x.view->kind == VIEW_DESCRIPTOR;
    const BuiltinUse use = is_desc ? USE_DESC_METHOD : USE_METHOD;
    const uint32_t rank = type_rank(x.view->block);
    const Builtin *b = builtin_find_method(cx->program->builtins, name, use);
    if (b && (is_desc || goes_with_block_pointers(b)))
        return method(cx, x, b);
    if (is(name, "dtype"))
        return val_const(const_dtype(type_elem(x.view->block)));
    if (is_desc && is(name, "block_shape"))
        return shape_of(cx, x.view->block);
    if (is_desc && is(name, "shape"))
        return parts_of(cx, x, 1, rank);
    if (is_desc && is(name, "strides"))
        return parts_of(cx, x, 1 + rank, rank);
    return report_attribute(cx, lower_text(cx, x), name, use, name_span);
}

// ---- all ------------------------------------------------------------------------------------

Val lower_attribute(Lower *cx, Val object, Sym name, Span span, Span name_span)
{
    if (object.kind == VAL_ERROR)
        return object;
    if (object.kind == VAL_VALUE || lower_is_number(object))
        return value_attribute(cx, object, name, span, name_span);
    if (object.kind == VAL_VIEW)
        return view_attribute(cx, object, name, name_span);
    if (object.kind == VAL_CONST && object.c.kind == CONST_DTYPE)
        return dtype_attribute(cx, object, name, name_span);
    if (object.kind == VAL_CONST && is(name, "value"))
        return object;
    if (object.kind == VAL_CONST && object.c.kind == CONST_FUNC && is(name, "__name__")) {
        Sym text = ((const Function *)object.c.v.ref)->name;
        return val_const(const_str((Str){ text->text, text->len }));
    }
    return report_attribute(cx, lower_text(cx, object), name, USE_METHOD, name_span);
}
