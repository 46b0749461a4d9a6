/// constval.h - compile-time values and their arithmetic with Python's semantics.
///
/// Integers hold 128 bits (more is a diagnostic), `//` and `%` floor, `/` gives a float, `**`
/// works, comparison and bool follow Python. Nothing here knows about IR: lower/ turns a ConstVal
/// into a typed value by the literal rules of rules.h.
#ifndef NEWT_SEMA_CONSTVAL_H
#define NEWT_SEMA_CONSTVAL_H
#include "front/ast.h"
#include "sema/type.h"
#include "support/diag.h"

__extension__ typedef __int128 Int128;

typedef enum {
    CONST_ERROR,
    CONST_NONE,
    CONST_BOOL,
    CONST_INT,
    CONST_FLOAT,
    CONST_STR,
    CONST_DTYPE,
    CONST_TUPLE,
    CONST_DICT,       ///< decorator arguments only; `tuple` holds key, value, key, value ...
    CONST_CONFIG,     ///< newt.Config(...) (struct ConstConfig)
    CONST_FUNC,       ///< a function of the program (struct Function)
    CONST_BUILTIN,    ///< a builtin function (row of the builtin tables)
    CONST_NAMESPACE,  ///< nl, nl.math, an imported module (struct Namespace of builtin.h)
    CONST_ANNOTATION  ///< nl.constexpr, nl.ptr, nl.tensor ... as values (struct Builtin)
} ConstKind;

typedef struct ConstVal ConstVal;
struct ConstVal {
    ConstKind kind;
    union {
        bool b;
        Int128 i;
        double f;
        Str s;
        const Type *dtype;  ///< SCALAR or PTR type
        struct {
            const ConstVal *at;
            uint32_t len;
        } tuple;
        const void *ref;  ///< CONFIG, FUNC, BUILTIN, NAMESPACE, ANNOTATION
    } v;
};

/// What newt.Config(...) was given; CONST_NONE for what stands at its default.
typedef struct ConstConfig {
    ConstVal values;  ///< DICT: constexpr parameter -> value
    ConstVal num_warps, num_stages, num_ctas, maxnreg, copy, persistent;
    Span span;  ///< the call
} ConstConfig;

static inline ConstVal const_error(void)
{
    return (ConstVal){ .kind = CONST_ERROR };
}
static inline ConstVal const_none(void)
{
    return (ConstVal){ .kind = CONST_NONE };
}
static inline ConstVal const_bool(bool b)
{
    return (ConstVal){ .kind = CONST_BOOL, .v.b = b };
}
static inline ConstVal const_int(Int128 i)
{
    return (ConstVal){ .kind = CONST_INT, .v.i = i };
}
static inline ConstVal const_float(double f)
{
    return (ConstVal){ .kind = CONST_FLOAT, .v.f = f };
}
static inline ConstVal const_str(Str s)
{
    return (ConstVal){ .kind = CONST_STR, .v.s = s };
}
static inline ConstVal const_tuple(const ConstVal *at, uint32_t len)
{
    return (ConstVal){ .kind = CONST_TUPLE, .v.tuple = { at, len } };
}
static inline ConstVal const_ref(ConstKind kind, const void *ref)
{
    return (ConstVal){ .kind = kind, .v.ref = ref };
}
static inline ConstVal const_dtype(const Type *t)
{
    return (ConstVal){ .kind = CONST_DTYPE, .v.dtype = t };
}

typedef struct ConstCx {
    Arena *arena;
    DiagSink *diags;
} ConstCx;

/// Reports at `span` and returns CONST_ERROR on a fault (an operand that is CONST_ERROR gives
/// CONST_ERROR silently).
ConstVal const_binary(ConstCx *cx, AstBinaryOp op, ConstVal a, ConstVal b, Span span);
ConstVal const_unary(ConstCx *cx, AstUnaryOp op, ConstVal a, Span span);
ConstVal const_compare(ConstCx *cx, AstCompareOp op, ConstVal a, ConstVal b,
                       Span span);  ///< one link of a chain
/// `v[i]` of a tuple or string by an int (negative counts from the end).
ConstVal const_index(ConstCx *cx, ConstVal v, ConstVal index, Span span);
/// `v[lower:upper:step]` of a tuple or string; CONST_NONE for what is left out.
ConstVal const_slice(ConstCx *cx, ConstVal v, ConstVal lower, ConstVal upper, ConstVal step,
                     Span span);
/// int(v), float(v) of a number or of text ("inf", "nan", "0x10"), bool(v).
ConstVal const_to_int(ConstCx *cx, ConstVal v, Span span);
ConstVal const_to_float(ConstCx *cx, ConstVal v, Span span);
/// The value of an AST_INT; text beyond 64 bits is read too, beyond 128 is reported.
ConstVal const_of_int(ConstCx *cx, const AstInt *n);
/// Python truth; *ok = false for kinds without one (dtype, function ...), reported.
bool const_truth(ConstCx *cx, ConstVal v, Span span, bool *ok);
bool const_equal(const ConstVal *a, const ConstVal *b);  ///< Python ==; 1 == 1.0 == True
/// As Python's repr (strings in single quotes); for static_print, messages, names of instances.
void const_print(Buf *out, const ConstVal *v);
const char *const_kind_text(const ConstVal *v);  ///< "an int", "a dtype", ...

#endif
