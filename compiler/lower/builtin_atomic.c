/// builtin_atomic.c - atomics: which element types each takes, its order and scope.
#include "lower/builtins.h"

typedef struct AtomicRow {
    BuiltinId id;
    IrAtomicKind kind;
    uint32_t kinds;  // set of ScalarKind
} AtomicRow;

#define K(ID) (UINT32_C(1) << SCALAR_##ID)
enum {
    WORDS = (int)(K(I32) | K(I64) | K(U32) | K(U64)),
    WIDE_FLOATS = (int)(K(F32) | K(F64)),
    HALVES = (int)(K(F16) | K(BF16)),
    SHORTS = (int)(K(I16) | K(U16))
};
#undef K

static const AtomicRow atomics[] = {
    { BUILTIN_ATOMIC_ADD, ATOMIC_ADD, WORDS | WIDE_FLOATS | HALVES },
    { BUILTIN_ATOMIC_MAX, ATOMIC_MAX, WORDS | WIDE_FLOATS },
    { BUILTIN_ATOMIC_MIN, ATOMIC_MIN, WORDS | WIDE_FLOATS },
    { BUILTIN_ATOMIC_AND, ATOMIC_AND, WORDS },
    { BUILTIN_ATOMIC_OR, ATOMIC_OR, WORDS },
    { BUILTIN_ATOMIC_XOR, ATOMIC_XOR, WORDS },
    { BUILTIN_ATOMIC_XCHG, ATOMIC_XCHG, WORDS | WIDE_FLOATS },
    { BUILTIN_DESC_ATOMIC_ADD, ATOMIC_ADD, WORDS | WIDE_FLOATS | HALVES },
    { BUILTIN_DESC_ATOMIC_MAX, ATOMIC_MAX, WORDS | WIDE_FLOATS },
    { BUILTIN_DESC_ATOMIC_MIN, ATOMIC_MIN, WORDS | WIDE_FLOATS },
    { BUILTIN_DESC_ATOMIC_AND, ATOMIC_AND, WORDS },
    { BUILTIN_DESC_ATOMIC_OR, ATOMIC_OR, WORDS },
    { BUILTIN_DESC_ATOMIC_XOR, ATOMIC_XOR, WORDS },
};
static const uint32_t cas_kinds = WORDS | WIDE_FLOATS | HALVES | SHORTS;

static const AtomicRow *row_of(BuiltinId id)
{
    const AtomicRow *row = atomics;
    while (row->id != id)
        row++;
    return row;
}

static bool check_element(Lower *cx, const BoundArgs *args, const Type *elem, uint32_t kinds)
{
    if (elem->kind == TYPE_SCALAR && kinds >> elem->scalar & 1)
        return true;
    Buf list = { 0 };
    for (unsigned k = 0; k < SCALAR_COUNT; k++)
        if (kinds >> k & 1)
            buf_printf(&list, "%s%s", list.len ? ", " : "", scalar_text((ScalarKind)k));
    lower_error(cx, DIAG_TYPE_MISMATCH, args->spans[0], "'%s' does not take %s",
                args->builtin->name->text, type_text(lower_types(cx), elem));
    diag_help(lower_diags(cx), "it takes %s", list.at);
    buf_free(&list);
    return false;
}

bool lower_check_atomic(Lower *cx, const BoundArgs *args, const Type *elem)
{
    return check_element(cx, args, elem, row_of(args->builtin->id)->kinds);
}

// The index of a word among `words`; *out stays what it is when None is given.
static bool want_word(Lower *cx, const BoundArgs *args, unsigned index, const char *const *words,
                      const char *what, int *out)
{
    Str s;
    if (!lower_want_str(cx, args, index, &s))
        return false;
    if (s.len == 0)
        return true;
    Buf list = { 0 };
    for (int i = 0; words[i]; i++) {
        if (str_is(s, words[i])) {
            *out = i;
            buf_free(&list);
            return true;
        }
        buf_printf(&list, "%s%s", !i ? "" : words[i + 1] ? ", " : " or ", words[i]);
    }
    lower_error(cx, DIAG_BAD_VALUE, args->spans[index], "unknown %s '%.*s'; expected %s", what,
                (int)s.len, s.at, list.at);
    buf_free(&list);
    return false;
}

// ORDER IrOrder, IrScope
static bool want_order(Lower *cx, const BoundArgs *args, unsigned index, IrOrder *order,
                       IrScope *scope)
{
    static const char *const orders[] = { "relaxed", "acquire", "release", "acq_rel", NULL };
    static const char *const scopes[] = { "cta", "gpu", "sys", NULL };
    int o = ORDER_ACQ_REL, s = SCOPE_GPU;
    if (!want_word(cx, args, index, orders, "memory order", &o) ||
        !want_word(cx, args, index + 1, scopes, "scope", &s))
        return false;
    *order = (IrOrder)o;
    *scope = (IrScope)s;
    return true;
}

IrValue *lower_atomic(Lower *cx, BuiltinId id, IrValue *pointer, IrValue *value, IrValue *mask)
{
    IrValue *old = ir_op1(lower_builder(cx), IR_ATOMIC_RMW, value->type, 3,
                          (IrValue *[]){ pointer, value, mask });
    old->def->attr.atomic.kind = row_of(id)->kind;
    old->def->attr.atomic.order = ORDER_ACQ_REL;
    old->def->attr.atomic.scope = SCOPE_GPU;
    return old;
}

Val lower_fn_atomic(Lower *cx, const BoundArgs *args)
{
    IrOrder order;
    IrScope scope;
    IrValue *mask, *pointer = lower_pointer_arg(cx, args, true);
    if (!pointer || !lower_check_atomic(cx, args, type_elem(pointer->type)->elem) ||
        !want_order(cx, args, 3, &order, &scope))
        return val_error();
    IrValue *value = lower_stored_value(cx, args, 1, pointer);
    if (!value || !lower_mask_like(cx, args, 2, pointer, &mask))
        return val_error();
    IrValue *old = lower_atomic(cx, args->builtin->id, pointer, value, mask);
    old->def->attr.atomic.order = order;
    old->def->attr.atomic.scope = scope;
    return val_of(old);
}

Val lower_fn_atomic_cas(Lower *cx, const BoundArgs *args)
{
    IrOrder order;
    IrScope scope;
    IrValue *pointer = lower_pointer_arg(cx, args, true);
    if (!pointer || !check_element(cx, args, type_elem(pointer->type)->elem, cas_kinds) ||
        !want_order(cx, args, 3, &order, &scope))
        return val_error();
    IrValue *expected = lower_stored_value(cx, args, 1, pointer);
    IrValue *desired = expected ? lower_stored_value(cx, args, 2, pointer) : NULL;
    if (!desired)
        return val_error();
    IrValue *old = ir_op1(lower_builder(cx), IR_ATOMIC_CAS, desired->type, 3,
                          (IrValue *[]){ pointer, expected, desired });
    old->def->attr.atomic.kind = ATOMIC_XCHG;
    old->def->attr.atomic.order = order;
    old->def->attr.atomic.scope = scope;
    return val_of(old);
}
