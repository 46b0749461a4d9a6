/// builtin_memory.c - load and store, and what they share with atomics: pointers, masks, values.
///
/// A load broadcasts pointer, mask and other together; a store brings value and mask to the
/// pointer's shape. A scalar pointer takes scalars only. Masked-off elements are 0 when there is no
/// `other`.
#include "lower/builtins.h"

#include <math.h>

// ---- arguments ------------------------------------------------------------------------------

static const char *root_name(Lower *cx, const IrValue *pointer)
{
    const IrFunc *fn = lower_builder(cx)->fn;
    int root = ir_pointer_root(fn, pointer);
    return root >= 0 && fn->params[root].name ? fn->params[root].name->text : NULL;
}

bool lower_check_writable(Lower *cx, const BoundArgs *args, const IrValue *pointer)
{
    if (!type_elem(pointer->type)->is_const)
        return true;
    const char *name = args->builtin->name->text, *root = root_name(cx, pointer);
    if (root)
        lower_error(cx, DIAG_TYPE_MISMATCH, args->spans[0],
                    "'%s' through parameter '%s', which is declared const", name, root);
    else
        lower_error(cx, DIAG_TYPE_MISMATCH, args->spans[0], "'%s' through a const pointer", name);
    return false;
}

IrValue *lower_pointer_arg(Lower *cx, const BoundArgs *args, bool writes)
{
    Val v = args->at[0];
    const char *name = args->builtin->name->text;
    if (v.kind == VAL_ERROR)
        return NULL;
    if (v.kind != VAL_VALUE || !type_is_ptr(v.v->type)) {
        lower_error(cx, DIAG_TYPE_MISMATCH, args->spans[0], "'%s' needs a pointer, got %s '%s'",
                    name, lower_text(cx, v), lower_source(cx, args->spans[0]));
        return NULL;
    }
    return !writes || lower_check_writable(cx, args, v.v) ? v.v : NULL;
}

bool lower_mask(Lower *cx, const BoundArgs *args, unsigned index, IrValue **out)
{
    Val v = args->at[index];
    *out = NULL;
    if (lower_is_none(v) || (v.kind == VAL_CONST && v.c.kind == CONST_BOOL && v.c.v.b))
        return true;
    IrValue *mask = lower_value(cx, v, "the mask", args->spans[index]);
    if (!mask)
        return false;
    if (!type_is_bool(mask->type)) {
        lower_error(cx, DIAG_TYPE_MISMATCH, args->spans[index], "the mask must be bool, got %s",
                    type_text(lower_types(cx), type_elem(mask->type)));
        if (type_is_num(mask->type))
            diag_help(lower_diags(cx), "write '!= 0'");
        return false;
    }
    *out = mask;
    return true;
}

// A scalar pointer with a block beside it; the offset is probably missing.
static bool check_scalar_pointer(Lower *cx, const IrValue *pointer, const IrValue *v,
                                 const char *what, Span pointer_span, Span span)
{
    if (!v || type_is_block(pointer->type) || !type_is_block(v->type))
        return true;
    lower_error(cx, DIAG_SHAPE_MISMATCH, span, "the pointer is a scalar but the %s has shape %s",
                what, type_shape_text(lower_types(cx), v->type));
    if (type_rank(v->type) == 1)
        diag_help(lower_diags(cx), "did you mean '%s + arange(0, %d)'?",
                  lower_source(cx, pointer_span), (int)v->type->shape[0]);
    return false;
}

static bool to_pointer_shape(Lower *cx, const IrValue *pointer, IrValue **v, const char *what,
                             Span span)
{
    if (!*v)
        return true;
    RuleShape r = rule_broadcast_to((*v)->type, pointer->type);
    if (!r.ok) {
        lower_error(cx, DIAG_SHAPE_MISMATCH, span, "%s shape %s does not match pointer shape %s",
                    what, type_shape_text(lower_types(cx), (*v)->type),
                    type_shape_text(lower_types(cx), pointer->type));
        return false;
    }
    *v = lower_broadcast_to(cx, *v, pointer->type, span);
    return *v != NULL;
}

bool lower_mask_like(Lower *cx, const BoundArgs *args, unsigned index, const IrValue *pointer,
                     IrValue **out)
{
    return lower_mask(cx, args, index, out) &&
           check_scalar_pointer(cx, pointer, *out, "mask", args->spans[0], args->spans[index]) &&
           to_pointer_shape(cx, pointer, out, "mask", args->spans[index]);
}

// ---- values ---------------------------------------------------------------------------------

static void warn_float_to_int(Lower *cx, Val v, const Type *elem, Span span)
{
    const Type *from = type_elem(lower_type_of(cx, v));
    bool whole = lower_is_number(v) && v.c.kind == CONST_FLOAT && v.c.v.f == trunc(v.c.v.f);
    if (type_is_error(from) || !(type_is_float(from) || type_is_fp8(from)) || !type_is_int(elem) ||
        whole)
        return;
    diag_report(lower_diags(cx), DIAG_FLOAT_TO_INT, span, "%s becomes %s without a cast",
                scalar_text(from->scalar), scalar_text(elem->scalar));
    diag_help(lower_diags(cx), "write .to(%s) when that is meant", scalar_info[elem->scalar].name);
}

// An infinity or NaN has no value as an integer.
static bool check_finite(Lower *cx, Val v, const Type *elem, Span span)
{
    if (!lower_is_number(v) || v.c.kind != CONST_FLOAT || isfinite(v.c.v.f) || !type_is_int(elem))
        return true;
    Buf text = { 0 };
    const_print(&text, &v.c);
    lower_error(cx, DIAG_BAD_VALUE, span, "%s cannot be represented in %s", text.at,
                scalar_text(elem->scalar));
    buf_free(&text);
    return false;
}

static IrValue *converted(Lower *cx, Val v, const Type *elem, const char *what, Span span)
{
    if (!check_finite(cx, v, elem, span))
        return NULL;
    warn_float_to_int(cx, v, elem, span);
    return lower_value_as(cx, v, elem, what, span);
}

IrValue *lower_stored_value(Lower *cx, const BoundArgs *args, unsigned index,
                            const IrValue *pointer)
{
    const Type *elem = type_elem(pointer->type)->elem;
    Val v = args->at[index];
    if (v.kind == VAL_VALUE && type_is_ptr(v.v->type) && !type_is_bool(elem) &&
        !(type_is_int(elem) && type_elem_bytes(elem) == 8)) {
        lower_error(cx, DIAG_TYPE_MISMATCH, args->spans[index], "cannot store a pointer through %s",
                    type_text(lower_types(cx), type_elem(pointer->type)));
        diag_help(lower_diags(cx), "cast it to int64 and store it through *int64");
        return NULL;
    }
    const char *what =
        arena_printf(lower_arena(cx), "argument '%s' of '%s'",
                     args->builtin->params[index].name->text, args->builtin->name->text);
    IrValue *value = converted(cx, v, elem, what, args->spans[index]);
    if (!value)
        return NULL;
    if (!type_is_block(pointer->type) && type_is_block(value->type)) {
        lower_error(cx, DIAG_SHAPE_MISMATCH, args->spans[index],
                    "a block of %u elements through one pointer", value->type->numel);
        return NULL;
    }
    return to_pointer_shape(cx, pointer, &value, "value", args->spans[index]) ? value : NULL;
}

// ---- attributes -----------------------------------------------------------------------------

typedef struct NamedCode {
    const char *name;
    int code;
} NamedCode;

static const NamedCode load_caches[] = {
    { ".ca", CACHE_CA }, { ".cg", CACHE_CG }, { ".cv", CACHE_CV }, { NULL, 0 }
};
static const NamedCode store_caches[] = {
    { ".wb", CACHE_WB }, { ".cg", CACHE_CG }, { ".cs", CACHE_CS }, { ".wt", CACHE_WT }, { NULL, 0 }
};
static const NamedCode evictions[] = { { "evict_first", EVICT_FIRST },
                                       { "evict_last", EVICT_LAST },
                                       { NULL, 0 } };

static bool want_code(Lower *cx, const BoundArgs *args, unsigned index, const NamedCode *codes,
                      const char *what, int *out)
{
    Str s;
    *out = 0;
    if (!lower_want_str(cx, args, index, &s))
        return false;
    if (s.len == 0)
        return true;
    Buf list = { 0 };
    for (const NamedCode *c = codes; c->name; c++) {
        if (str_is(s, c->name)) {
            *out = c->code;
            buf_free(&list);
            return true;
        }
        buf_printf(&list, "%s%s", c == codes ? "" : c[1].name ? ", " : " or ", c->name);
    }
    lower_error(cx, DIAG_BAD_VALUE, args->spans[index], "unknown %s '%.*s'; expected %s", what,
                (int)s.len, s.at, list.at);
    buf_free(&list);
    return false;
}

static bool refuse_block_pointer_args(Lower *cx, const BoundArgs *args, unsigned index)
{
    if (!args->given[index] ||
        (args->at[index].kind == VAL_TUPLE && args->at[index].tuple.len == 0))
        return true;
    if (args->at[index].kind == VAL_CONST && args->at[index].c.kind == CONST_STR &&
        args->at[index].c.v.s.len == 0)
        return true;
    lower_error(cx, DIAG_BAD_CALL, args->spans[index], "'%s' is for block pointers; use 'mask'",
                args->builtin->params[index].name->text);
    return false;
}

// ---- load -----------------------------------------------------------------------------------

static bool load_attributes(Lower *cx, const BoundArgs *args, IrMem *mem)
{
    int cache, evict;
    if (!want_code(cx, args, LOAD_CACHE, load_caches, "cache modifier", &cache) ||
        !want_code(cx, args, LOAD_EVICT, evictions, "eviction policy", &evict) ||
        !lower_want_bool(cx, args, LOAD_VOLATILE, &mem->is_volatile))
        return false;
    mem->cache = (IrCache)cache;
    mem->evict = (IrEvict)evict;
    return true;
}

static bool load_other(Lower *cx, const BoundArgs *args, const IrValue *pointer, IrValue **out)
{
    *out = NULL;
    if (lower_is_none(args->at[LOAD_OTHER]))
        return true;
    if (lower_is_none(args->at[LOAD_MASK])) {
        lower_error(cx, DIAG_BAD_CALL, args->spans[LOAD_OTHER],
                    "'other' has no effect without 'mask'");
        return false;
    }
    *out = converted(cx, args->at[LOAD_OTHER], type_elem(pointer->type)->elem,
                     "argument 'other' of 'load'", args->spans[LOAD_OTHER]);
    return *out && check_scalar_pointer(cx, pointer, *out, "value of 'other'", args->spans[0],
                                        args->spans[LOAD_OTHER]);
}

// Pointer, mask and other at their common shape.
static bool load_shapes(Lower *cx, const BoundArgs *args, IrValue **pointer, IrValue **mask,
                        IrValue **other)
{
    IrValue *v[3];
    Span spans[3];
    uint32_t n = 0;
    if (*mask && !rule_broadcast((*pointer)->type, (*mask)->type).ok) {
        lower_error(cx, DIAG_SHAPE_MISMATCH, args->spans[LOAD_MASK],
                    "mask shape %s does not broadcast to pointer shape %s",
                    type_shape_text(lower_types(cx), (*mask)->type),
                    type_shape_text(lower_types(cx), (*pointer)->type));
        return false;
    }
    IrValue **all[3] = { pointer, mask, other };
    const unsigned index[3] = { 0, LOAD_MASK, LOAD_OTHER };
    for (unsigned i = 0; i < 3; i++) {
        if (!*all[i])
            continue;
        v[n] = *all[i];
        spans[n++] = args->spans[index[i]];
    }
    if (!lower_broadcast(cx, v, spans, n, args->call))
        return false;
    for (unsigned i = 0, k = 0; i < 3; i++)
        if (*all[i])
            *all[i] = v[k++];
    return true;
}

Val lower_fn_load(Lower *cx, const BoundArgs *args)
{
    IrMem mem = { 0 };
    IrValue *mask, *other, *pointer;
    if (args->at[0].kind == VAL_VIEW)
        return load_attributes(cx, args, &mem) ? lower_view_load(cx, args, mem) : val_error();
    pointer = lower_pointer_arg(cx, args, false);
    if (!pointer || !refuse_block_pointer_args(cx, args, LOAD_BOUNDARY) ||
        !refuse_block_pointer_args(cx, args, LOAD_PADDING) || !load_attributes(cx, args, &mem) ||
        !lower_mask(cx, args, LOAD_MASK, &mask) ||
        !check_scalar_pointer(cx, pointer, mask, "mask", args->spans[0], args->spans[LOAD_MASK]) ||
        !load_other(cx, args, pointer, &other))
        return val_error();
    if (!mask)
        other = NULL;  // the mask was the constant True
    if (!load_shapes(cx, args, &pointer, &mask, &other))
        return val_error();
    return val_of(ir_load(lower_builder(cx), pointer, mask, other, mem));
}

// ---- store ----------------------------------------------------------------------------------

Val lower_fn_store(Lower *cx, const BoundArgs *args)
{
    int cache, evict;
    if (!want_code(cx, args, STORE_CACHE, store_caches, "cache modifier", &cache) ||
        !want_code(cx, args, STORE_EVICT, evictions, "eviction policy", &evict))
        return val_error();
    const IrMem mem = { .cache = (IrCache)cache, .evict = (IrEvict)evict };
    if (args->at[0].kind == VAL_VIEW)
        return lower_view_store(cx, args, mem);
    IrValue *pointer = lower_pointer_arg(cx, args, true), *value, *mask;
    if (!pointer || !refuse_block_pointer_args(cx, args, STORE_BOUNDARY))
        return val_error();
    value = lower_stored_value(cx, args, STORE_VALUE, pointer);
    if (!value || !lower_mask_like(cx, args, STORE_MASK, pointer, &mask))
        return val_error();
    ir_store(lower_builder(cx), pointer, value, mask, mem);
    return val_void();
}
