// type.c - the interning of types. The scalar types are in scalar.c.
//
// A TypeTable keeps every type it made in one open-addressing table keyed by the type's contents;
// asking twice gives the same address, so the rest of the compiler compares types with `==`.
#include "sema/type.h"

#include <assert.h>
#include <string.h>

struct TypeTable {
    Arena *arena;
    const Type **slots;
    uint32_t count, cap;  // cap is a power of two
    const Type *error, *void_type;
    const Type *scalars[SCALAR_COUNT];
};

static uint64_t hash_type(const Type *t)
{
    uint64_t h = HASH_SEED;
    const uint32_t head[4] = { (uint32_t)t->kind, (uint32_t)t->scalar, t->is_const, t->rank };
    h = hash_bytes(h, head, sizeof head);
    h = hash_bytes(h, &t->elem, sizeof t->elem);
    return hash_bytes(h, t->shape, t->rank * sizeof t->shape[0]);
}

static bool same_type(const Type *a, const Type *b)
{
    return a->kind == b->kind && a->scalar == b->scalar && a->is_const == b->is_const &&
           a->rank == b->rank && a->elem == b->elem &&
           memcmp(a->shape, b->shape, a->rank * sizeof a->shape[0]) == 0;
}

static const Type **find_slot(const Type **slots, uint32_t cap, const Type *t)
{
    uint32_t at = (uint32_t)hash_type(t) & (cap - 1);
    while (slots[at] && !same_type(slots[at], t))
        at = (at + 1) & (cap - 1);
    return &slots[at];
}

static void grow(TypeTable *t)
{
    uint32_t cap = t->cap * 2;
    const Type **slots = ARENA_NEW_N(t->arena, const Type *, cap);
    for (uint32_t i = 0; i < t->cap; i++)
        if (t->slots[i])
            *find_slot(slots, cap, t->slots[i]) = t->slots[i];
    t->slots = slots;
    t->cap = cap;
}

static const Type *intern(TypeTable *t, const Type *wanted)
{
    const Type **slot = find_slot(t->slots, t->cap, wanted);
    if (*slot)
        return *slot;
    if (2 * (t->count + 1) > t->cap) {
        grow(t);
        slot = find_slot(t->slots, t->cap, wanted);
    }
    Type *made = ARENA_NEW(t->arena, Type);
    *made = *wanted;
    t->count++;
    return *slot = made;
}

TypeTable *type_table_new(Arena *a)
{
    TypeTable *t = ARENA_NEW(a, TypeTable);
    t->arena = a;
    t->cap = 64;
    t->slots = ARENA_NEW_N(a, const Type *, t->cap);
    t->error = intern(t, &(Type){ .kind = TYPE_ERROR, .numel = 1 });
    t->void_type = intern(t, &(Type){ .kind = TYPE_VOID, .numel = 1 });
    for (int k = 0; k < SCALAR_COUNT; k++)
        t->scalars[k] =
            intern(t, &(Type){ .kind = TYPE_SCALAR, .scalar = (ScalarKind)k, .numel = 1 });
    return t;
}

const Type *type_error(TypeTable *t)
{
    return t->error;
}

const Type *type_void(TypeTable *t)
{
    return t->void_type;
}

const Type *type_scalar(TypeTable *t, ScalarKind k)
{
    assert(k < SCALAR_COUNT);
    return t->scalars[k];
}

const Type *type_ptr(TypeTable *t, const Type *pointee, bool is_const)
{
    assert(pointee->kind == TYPE_SCALAR);
    return intern(t,
                  &(Type){ .kind = TYPE_PTR, .is_const = is_const, .elem = pointee, .numel = 1 });
}

const Type *type_block(TypeTable *t, const Type *elem, unsigned rank, const int32_t *shape)
{
    assert(elem->kind == TYPE_SCALAR || elem->kind == TYPE_PTR);
    assert(rank <= TYPE_MAX_RANK);
    if (rank == 0)
        return elem;
    Type wanted = { .kind = TYPE_BLOCK, .rank = (uint8_t)rank, .elem = elem, .numel = 1 };
    for (unsigned i = 0; i < rank; i++) {
        assert(shape[i] >= 1 && (shape[i] & (shape[i] - 1)) == 0);
        assert((uint64_t)wanted.numel * (uint32_t)shape[i] <= TYPE_MAX_NUMEL);
        wanted.shape[i] = shape[i];
        wanted.numel *= (uint32_t)shape[i];
    }
    return intern(t, &wanted);
}

const Type *type_with_elem(TypeTable *t, const Type *like, const Type *elem)
{
    return type_block(t, elem, type_rank(like), like->shape);
}

static bool has_class(const Type *t, unsigned classes)
{
    const Type *elem = type_elem(t);
    return elem->kind == TYPE_SCALAR && (classes >> scalar_info[elem->scalar].cls & 1) != 0;
}

bool type_is_bool(const Type *t)
{
    return has_class(t, 1u << SCLASS_BOOL);
}

bool type_is_int(const Type *t)
{
    return has_class(t, 1u << SCLASS_SINT | 1u << SCLASS_UINT);
}

bool type_is_signed(const Type *t)
{
    return has_class(t, 1u << SCLASS_SINT);
}

bool type_is_unsigned(const Type *t)
{
    return has_class(t, 1u << SCLASS_UINT);
}

bool type_is_float(const Type *t)
{
    return has_class(t, 1u << SCLASS_FLOAT);
}

bool type_is_fp8(const Type *t)
{
    return has_class(t, 1u << SCLASS_FP8);
}

ScalarKind type_scalar_kind(const Type *t)
{
    assert(type_elem(t)->kind == TYPE_SCALAR);
    return type_elem(t)->scalar;
}

unsigned type_elem_bytes(const Type *t)
{
    return type_is_ptr(t) ? 8 : scalar_info[type_scalar_kind(t)].bytes;
}

bool type_same_shape(const Type *a, const Type *b)
{
    return type_rank(a) == type_rank(b) &&
           memcmp(a->shape, b->shape, type_rank(a) * sizeof a->shape[0]) == 0;
}

static void print_shape(Buf *b, const Type *t)
{
    buf_putc(b, '(');
    for (unsigned i = 0; i < type_rank(t); i++)
        buf_printf(b, "%s%d", i ? ", " : "", (int)t->shape[i]);
    buf_putc(b, ')');
}

// Block IR says "i32" where messages say "int32".
static void print_type(Buf *b, const Type *t, bool in_ir)
{
    switch (t->kind) {
    case TYPE_ERROR: buf_puts(b, "<error>"); break;
    case TYPE_VOID: buf_puts(b, "void"); break;
    case TYPE_SCALAR:
        buf_puts(b, in_ir ? scalar_info[t->scalar].ir : scalar_text(t->scalar));
        break;
    case TYPE_PTR:
        buf_puts(b, t->is_const ? "*const " : "*");
        print_type(b, t->elem, in_ir);
        break;
    case TYPE_BLOCK:
        print_shape(b, t);
        buf_putc(b, ' ');
        print_type(b, t->elem, in_ir);
        break;
    }
}

void type_print(Buf *b, const Type *t)
{
    print_type(b, t, true);
}

const char *type_text(TypeTable *t, const Type *type)
{
    Buf b = { 0 };
    print_type(&b, type, false);
    const char *text = arena_strndup(t->arena, b.at, b.len);
    buf_free(&b);
    return text;
}

const char *type_shape_text(TypeTable *t, const Type *type)
{
    Buf b = { 0 };
    print_shape(&b, type);
    const char *text = arena_strndup(t->arena, b.at, b.len);
    buf_free(&b);
    return text;
}
