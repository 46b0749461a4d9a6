/// constval_impl.h - what constval.c, constseq.c and constprint.c share.
#ifndef NEWT_SEMA_CONSTVAL_IMPL_H
#define NEWT_SEMA_CONSTVAL_IMPL_H
#include "sema/constval.h"

/// Integers stay in [-CONST_INT_MAX, CONST_INT_MAX]: every negation is safe.
#define CONST_INT_MAX ((((Int128)1 << 126) - 1) * 2 + 1)

static inline bool const_is_int(const ConstVal *v)
{
    return v->kind == CONST_INT || v->kind == CONST_BOOL;
}
static inline Int128 const_int_of(const ConstVal *v)
{
    return v->kind == CONST_BOOL ? v->v.b : v->v.i;
}

/// "unsupported operands for '+': an int and a string"; CONST_ERROR.
ConstVal const_bad_operands(ConstCx *cx, const char *op, const ConstVal *a, const ConstVal *b,
                            Span span);

/// Operators where one operand is a string or tuple (constseq.c).
ConstVal const_sequence_binary(ConstCx *cx, AstBinaryOp op, const ConstVal *a, const ConstVal *b,
                               Span span);
/// -1, 0, 1 for strings and tuples of comparable things; false when there is no order.
bool const_sequence_order(const ConstVal *a, const ConstVal *b, int *out);
/// -1, 0, 1, or 2 when unordered (NaN); both are numbers.
int const_number_order(const ConstVal *a, const ConstVal *b);
/// `a in b`; *ok = false, reported, when b holds nothing.
bool const_contains(ConstCx *cx, const ConstVal *a, const ConstVal *b, Span span, bool *ok);
/// "..." % args (constformat.c).
ConstVal const_format(ConstCx *cx, Str format, const ConstVal *args, Span span);

#endif
