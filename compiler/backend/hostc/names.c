/// names.c - how types, constants and values are spelled in the host's C.
///
/// Narrow floats are computed as float and hold only values of their type: each operation rounds.
/// Pointers are byte pointers, so that every access goes through memcpy and is free of aliasing rules.
#include "backend/hostc/hostc_impl.h"
#include <inttypes.h>
#include <math.h>

const char *host_ctype(const Type *t)
{
    const Type *elem = type_elem(t);
    if (elem->kind == TYPE_PTR)
        return "unsigned char *";
    switch (scalar_info[elem->scalar].cls) {
    case SCLASS_FP8: return "float";
    case SCLASS_FLOAT: return elem->scalar == SCALAR_F64 ? "double" : "float";
    case SCLASS_BOOL:
    case SCLASS_SINT:
    case SCLASS_UINT: break;
    }
    return scalar_info[elem->scalar].c;
}

const char *host_suffix(const Type *t)
{
    static const char *const suffixes[SCALAR_COUNT] = {
        [SCALAR_I1] = "i1",   [SCALAR_I8] = "i8",     [SCALAR_I16] = "i16",   [SCALAR_I32] = "i32",
        [SCALAR_I64] = "i64", [SCALAR_U8] = "u8",     [SCALAR_U16] = "u16",   [SCALAR_U32] = "u32",
        [SCALAR_U64] = "u64", [SCALAR_E4M3] = "e4m3", [SCALAR_E5M2] = "e5m2", [SCALAR_F16] = "f16",
        [SCALAR_BF16] = "bf16", [SCALAR_F32] = "f32", [SCALAR_F64] = "f64",
    };
    const Type *elem = type_elem(t);
    return elem->kind == TYPE_PTR ? "ptr" : suffixes[elem->scalar];
}

/// The user's name with the id behind it, so that it is unique and can be no keyword.
const char *host_name(HostEmit *e, const IrValue *v)
{
    return arena_printf(&e->scratch, "%s_%u", v->hint ? v->hint->text : "v", v->id);
}

static const char *host_const_float(HostEmit *e, const Type *t, double v)
{
    const char *suffix = type_scalar_kind(t) == SCALAR_F64 ? "" : "f";
    if (isnan(v))
        return arena_printf(&e->scratch, "(%s)NAN", host_ctype(t));
    if (isinf(v))
        return arena_printf(&e->scratch, "(%s)%sINFINITY", host_ctype(t), v < 0 ? "-" : "");
    Buf b = { 0 };
    buf_double(&b, v);
    const char *text = arena_printf(&e->scratch, signbit(v) ? "(%s%s)" : "%s%s", b.at, suffix);
    buf_free(&b);
    return text;
}

const char *host_const(HostEmit *e, const Type *t, const IrConst *c)
{
    const Type *elem = type_elem(t);
    if (elem->kind == TYPE_PTR)
        return arena_printf(&e->scratch, "(unsigned char *)(uintptr_t)UINT64_C(%" PRIu64 ")", (uint64_t)c->i);
    if (type_is_float(elem) || type_is_fp8(elem))
        return host_const_float(e, elem, c->is_float ? c->f : (double)c->i);
    switch ((int)elem->scalar) {
    case SCALAR_I64:
        if (c->i == INT64_MIN)
            return "INT64_MIN";
        return arena_printf(&e->scratch, c->i < 0 ? "(-INT64_C(%" PRIu64 "))" : "INT64_C(%" PRIu64 ")",
                            c->i < 0 ? -(uint64_t)c->i : (uint64_t)c->i);
    case SCALAR_U64: return arena_printf(&e->scratch, "UINT64_C(%" PRIu64 ")", (uint64_t)c->i);
    case SCALAR_U32: return arena_printf(&e->scratch, "UINT32_C(%" PRIu64 ")", (uint64_t)c->i & UINT32_MAX);
    case SCALAR_I32:
        if (c->i == INT32_MIN)
            return "INT32_MIN";
        return arena_printf(&e->scratch, c->i < 0 ? "(%" PRId64 ")" : "%" PRId64, c->i);
    case SCALAR_I1: return c->i ? "1" : "0";
    default: return arena_printf(&e->scratch, "(%s)%" PRId64, scalar_info[elem->scalar].c, c->i);
    }
}
