// poly.c - sums of products of scalars: terms sorted by their atoms, so equal polynomials look
// equal.
#include "passes/poly.h"

#include <string.h>

#define FACTOR_LIMIT (INT64_C(1) << 31)

static bool same_atoms(const PolyTerm *a, const PolyTerm *b)
{
    return a->degree == b->degree && memcmp(a->atoms, b->atoms, a->degree * sizeof *a->atoms) == 0;
}

static bool is_small(int64_t factor)
{
    return -FACTOR_LIMIT < factor && factor < FACTOR_LIMIT;
}

void poly_add_term(Poly *p, const PolyTerm *t)
{
    if (t->factor == 0 || p->lost)
        return;
    for (unsigned i = 0; i < p->count; i++) {
        PolyTerm *other = &p->terms[i];
        if (!same_atoms(other, t))
            continue;
        other->factor += t->factor;
        p->lost = !is_small(other->factor);
        if (other->factor == 0)
            *other = p->terms[--p->count];
        return;
    }
    if (p->count == POLY_MAX_TERMS || !is_small(t->factor))
        p->lost = true;
    else
        p->terms[p->count++] = *t;
}

Poly poly_const(int64_t value)
{
    Poly p = { .lost = false };
    poly_add_term(&p, &(PolyTerm){ .factor = value });
    return p;
}

Poly poly_atom(const IrValue *v)
{
    return (Poly){ .count = 1, .terms = { { .factor = 1, .degree = 1, .atoms = { v } } } };
}

static bool multiply_terms(const PolyTerm *a, const PolyTerm *b, PolyTerm *out)
{
    if (a->degree + b->degree > POLY_MAX_DEGREE || !is_small(a->factor) || !is_small(b->factor))
        return false;
    *out = (PolyTerm){ .factor = a->factor * b->factor };
    for (unsigned i = 0, k = 0; i < a->degree || k < b->degree;) {
        const bool left = k == b->degree || (i < a->degree && a->atoms[i]->id <= b->atoms[k]->id);
        out->atoms[out->degree++] = left ? a->atoms[i++] : b->atoms[k++];
    }
    return true;
}

Poly poly_add(const Poly *a, const Poly *b, int64_t scale)
{
    const Poly by = poly_const(scale), scaled = poly_mul(b, &by);
    Poly sum = *a;
    sum.lost |= scaled.lost;
    for (unsigned i = 0; i < scaled.count; i++)
        poly_add_term(&sum, &scaled.terms[i]);
    return sum;
}

Poly poly_mul(const Poly *a, const Poly *b)
{
    Poly product = { .lost = a->lost || b->lost };
    for (unsigned i = 0; i < a->count; i++) {
        for (unsigned k = 0; k < b->count && !product.lost; k++) {
            PolyTerm t;
            if (multiply_terms(&a->terms[i], &b->terms[k], &t))
                poly_add_term(&product, &t);
            else
                product.lost = true;
        }
    }
    return product;
}

bool poly_is_const(const Poly *p, int64_t *value)
{
    *value = p->count == 1 ? p->terms[0].factor : 0;
    return !p->lost && (p->count == 0 || (p->count == 1 && p->terms[0].degree == 0));
}

bool poly_equal(const Poly *a, const Poly *b)
{
    const Poly difference = poly_add(a, b, -1);
    return poly_is_zero(&difference);
}

bool poly_divide_term(const PolyTerm *t, const PolyTerm *by, PolyTerm *quotient)
{
    if (t->factor % by->factor != 0)
        return false;
    *quotient = (PolyTerm){ .factor = t->factor / by->factor };
    unsigned used = 0;
    for (unsigned i = 0; i < t->degree; i++) {
        if (used < by->degree && t->atoms[i] == by->atoms[used])
            used++;
        else
            quotient->atoms[quotient->degree++] = t->atoms[i];
    }
    return used == by->degree;
}
