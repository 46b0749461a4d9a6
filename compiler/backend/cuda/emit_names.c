/// emit_names.c - identifiers, C++ types, literals, and where values are held.
///
/// A name is the user's where C++ and this text leave it free, else the user's with the value's id.
#include "backend/cuda/emit_impl.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Words of C++ and CUDA, and the names that the emitters use for themselves.
static const char reserved[] =
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t "
    "char32_t char8_t class compl concept const const_cast consteval constexpr constinit "
    "continue co_await co_return co_yield decltype default delete do double dynamic_cast else "
    "enum explicit export extern false float for friend goto if inline int long mutable "
    "namespace new noexcept not not_eq nullptr operator or or_eq private protected public "
    "register reinterpret_cast requires return short signed sizeof static static_assert "
    "static_cast struct switch template this thread_local throw true try typedef typeid "
    "typename union unsigned using virtual void volatile wchar_t while xor xor_eq typeof linux "
    "unix NULL threadIdx blockIdx blockDim gridDim warpSize memcpy memset printf assert tid r group";

void cuda_names_begin(Emit *e)
{
    e->names = (SymTable){ .arena = e->arena };
    for (const char *at = reserved; *at; at += strspn(at, " ")) {
        const size_t len = strcspn(at, " ");
        sym_intern(&e->names, at, len);
        at += len;
    }
}

/// Takes a name; false when it was taken before.
static bool take_name(Emit *e, const char *name)
{
    const uint32_t before = e->names.count;
    sym_of(&e->names, name);
    return e->names.count != before;
}

/// Names that begin so belong to the prelude, to the layouts or to the compiler.
static bool is_ours(const char *name)
{
    static const char *const prefixes[] = { "nt_", "NT_", "_", "at_L", "own_L" };
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static bool is_identifier(const char *name)
{
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            return false;
    return *name && !isdigit((unsigned char)*name);
}

/// `hint`, or hint_<number> from the first number on that is free.
static const char *free_name(Emit *e, const char *hint, uint32_t number)
{
    if (!is_identifier(hint) || is_ours(hint))
        hint = "t";
    else if (take_name(e, hint))
        return hint;
    for (;; number++) {
        const char *name = cuda_text(e, "%s_%" PRIu32, hint, number);
        if (take_name(e, name))
            return name;
    }
}

const char *cuda_name(Emit *e, const char *hint)
{
    return free_name(e, hint, 1);
}

const char *cuda_value_name(Emit *e, const IrValue *v)
{
    return free_name(e, v->hint ? v->hint->text : "", v->id);
}

const char *cuda_memory_type(Emit *e, const Type *type)
{
    const Type *elem = type_elem(type);
    if (elem->kind == TYPE_SCALAR && elem->scalar == SCALAR_I1)
        return "unsigned char";
    return cuda_ctype(e, type);
}

const char *cuda_ctype(Emit *e, const Type *type)
{
    const Type *elem = type_elem(type);
    if (elem->kind == TYPE_SCALAR)
        return scalar_info[elem->scalar].cuda;
    return cuda_text(e, "%s%s *", elem->is_const ? "const " : "", cuda_memory_type(e, elem->elem));
}

const char *cuda_decl(Emit *e, const char *ctype, const char *name, unsigned slots)
{
    const char *space = ctype[strlen(ctype) - 1] == '*' ? "" : " ";
    return slots ? cuda_text(e, "%s%s%s[%u]", ctype, space, name, slots)
                 : cuda_text(e, "%s%s%s", ctype, space, name);
}

/// The bits of a number that the format holds exactly: sign, biased exponent, fraction.
static unsigned small_bits(double v, int exponent_bits, int fraction_bits, unsigned nan_bits)
{
    assert(exponent_bits > 0 && fraction_bits > 0);
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const unsigned sign = signbit(v) ? 1u << (exponent_bits + fraction_bits) : 0;
    if (isnan(v))
        return nan_bits;
    if (isinf(v))
        return sign | ((1u << exponent_bits) - 1) << fraction_bits;
    int exponent;
    frexp(v, &exponent);
    exponent =
        v == 0 || exponent < 2 - bias ? 2 - bias : exponent;  // subnormals share the least one
    const unsigned steps = (unsigned)ldexp(fabs(v), fraction_bits + 1 - exponent);
    return sign | (((unsigned)(exponent - 2 + bias) << fraction_bits) + steps);
}

static const char *float_literal(Emit *e, ScalarKind kind, double v)
{
    char text[64];
    const bool wide = kind == SCALAR_F64;
    if (isnan(v))
        return wide ? "NT_NAN_F64" : "NT_NAN_F32";
    if (isinf(v))
        return cuda_text(e, "%s%s", v < 0 ? "-" : "", wide ? "NT_INF_F64" : "NT_INF_F32");
    for (int digits = 1; digits <= 17; digits++) {  // the shortest that reads back the same
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (wide ? strtod(text, NULL) == v : strtof(text, NULL) == (float)v)
            break;
    }
    const char *point = strpbrk(text, ".en") ? "" : ".0";
    return cuda_text(e, "%s%s%s", text, point, wide ? "" : "f");
}

static const char *small_literal(Emit *e, ScalarKind kind, double v)
{
    static const struct {
        int exponent_bits, fraction_bits;
        unsigned nan_bits;
    } formats[SCALAR_COUNT] = { [SCALAR_F16] = { 5, 10, 0x7fff },
                                [SCALAR_BF16] = { 8, 7, 0x7fff },
                                [SCALAR_E4M3] = { 4, 3, 0x7f },
                                [SCALAR_E5M2] = { 5, 2, 0x7f } };
    return cuda_text(e, "%s { 0x%x /* %g */ }", scalar_info[kind].cuda,
                     small_bits(v, formats[kind].exponent_bits, formats[kind].fraction_bits,
                                formats[kind].nan_bits),
                     v);
}

static const char *int_literal(Emit *e, ScalarKind kind, int64_t v)
{
    switch (scalar_info[kind].bits) {
    case 1: return v ? "true" : "false";
    case 64:
        if (kind == SCALAR_U64)
            return cuda_text(e, "%" PRIu64 "ULL", (uint64_t)v);
        return v == INT64_MIN ? "(-9223372036854775807LL - 1)" : cuda_text(e, "%" PRId64 "LL", v);
    case 32:
        if (kind == SCALAR_U32)
            return cuda_text(e, "%" PRId64 "u", v);
        return v == INT32_MIN ? "(-2147483647 - 1)" : cuda_text(e, "%" PRId64, v);
    default: return cuda_text(e, "(%s)%" PRId64, scalar_info[kind].cuda, v);
    }
}

const char *cuda_literal(Emit *e, const Type *type, IrConst value)
{
    const Type *elem = type_elem(type);
    if (elem->kind == TYPE_PTR)
        return cuda_text(e, "(%s)%" PRIu64 "ULL", cuda_ctype(e, elem), (uint64_t)value.i);
    if (!value.is_float)
        return int_literal(e, elem->scalar, value.i);
    if (elem->scalar == SCALAR_F32 || elem->scalar == SCALAR_F64)
        return float_literal(e, elem->scalar, value.f);
    return small_literal(e, elem->scalar, value.f);
}

unsigned cuda_slots(const IrValue *v)
{
    return v->layout ? layout_regs(v->layout) : 1;
}

const char *cuda_ref(Emit *e, const IrValue *v, const char *slot)
{
    const Place p = cuda_place(e, v);
    return p.kind == PLACE_ARRAY ? cuda_text(e, "%s[%s]", p.text, slot) : p.text;
}

void cuda_set_place(Emit *e, const IrValue *v, PlaceKind kind, const char *text)
{
    e->places[v->id] = (Place){ kind, text };
}

PlaceKind cuda_held_as(const IrValue *v)
{
    return cuda_slots(v) > 1 ? PLACE_ARRAY : PLACE_SAME;
}

const char *cuda_value_decl(Emit *e, const IrValue *v, const char *ctype, const char *name)
{
    return cuda_decl(e, ctype, name, cuda_slots(v) > 1 ? cuda_slots(v) : 0);
}

const char *cuda_address(Emit *e, const char *name, unsigned slots, const char *slot)
{
    if (slots == 1)
        return cuda_text(e, "&%s", name);
    return strcmp(slot, "0") == 0 ? name : cuda_text(e, "%s + %s", name, slot);
}

const char *cuda_declare(Emit *e, const IrValue *v)
{
    const char *name = cuda_value_name(e, v);
    cuda_line(e, "%s;", cuda_value_decl(e, v, cuda_ctype(e, v->type), name));
    cuda_set_place(e, v, cuda_held_as(v), name);
    return name;
}

const char *cuda_slot_of(Emit *e, const IrValue *v, const char *name, const char *slot)
{
    return cuda_held_as(v) == PLACE_ARRAY ? cuda_text(e, "%s[%s]", name, slot) : name;
}
