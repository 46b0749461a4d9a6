/// poly.h - integer polynomials over the scalars of a function.
///
/// Values are exact: they stand for what the program computes only where its integers do not wrap.
/// The counter of a FOR stands for the number of the iteration, 0, 1, 2, ...: what the source calls
/// the counter is `lo + step * number`.
#ifndef NEWT_PASSES_POLY_H
#define NEWT_PASSES_POLY_H
#include "ir/ir.h"

enum { POLY_MAX_DEGREE = 4, POLY_MAX_TERMS = 12 };

/// factor * atoms[0] * atoms[1] * ...; atoms stand by rising id.
typedef struct PolyTerm {
    int64_t factor;  ///< not 0
    unsigned degree;
    const IrValue *atoms[POLY_MAX_DEGREE];
} PolyTerm;

/// A sum of terms with different atoms; no terms: zero.
typedef struct Poly {
    bool lost;  ///< too large for this form: nothing is known
    unsigned count;
    PolyTerm terms[POLY_MAX_TERMS];
} Poly;

Poly poly_const(int64_t value);
Poly poly_atom(const IrValue *v);
/// a + scale * b
Poly poly_add(const Poly *a, const Poly *b, int64_t scale);
Poly poly_mul(const Poly *a, const Poly *b);
void poly_add_term(Poly *p, const PolyTerm *t);
/// True when it is a number.
bool poly_is_const(const Poly *p, int64_t *value);
static inline bool poly_is_zero(const Poly *p)
{
    return !p->lost && p->count == 0;
}
bool poly_equal(const Poly *a, const Poly *b);
/// t = quotient * by; false when `by` is no factor of it.
bool poly_divide_term(const PolyTerm *t, const PolyTerm *by, PolyTerm *quotient);

#endif
