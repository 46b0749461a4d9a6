/// tensor_case.h - what an access touches as text, one line a dimension, or why it is no tile.
#ifndef NEWT_TESTS_UNIT_TENSOR_CASE_H
#define NEWT_TESTS_UNIT_TENSOR_CASE_H
#include "passes/tensor_access.h"

#include <inttypes.h>

static inline void tensor_case_put_poly(Buf *out, const Poly *p)
{
    if (p->count == 0)
        buf_puts(out, "0");
    for (unsigned i = 0; i < p->count; i++) {
        const PolyTerm *t = &p->terms[i];
        buf_puts(out, i ? " + " : "");
        if (t->factor != 1 || t->degree == 0)
            buf_printf(out, "%" PRId64 "%s", t->factor, t->degree ? "*" : "");
        for (unsigned k = 0; k < t->degree; k++)
            buf_printf(out, "%s%s", k ? "*" : "",
                       t->atoms[k]->hint ? t->atoms[k]->hint->text : "?");
    }
}

static inline void tensor_case_put(Buf *out, const TensorAccess *a)
{
    if (a->reason)
        buf_puts(out, a->reason);
    for (unsigned k = 0; !a->reason && k < a->rank; k++) {
        const TensorDim *d = &a->dims[k];
        buf_printf(out, "axis %d x%d: stride ", d->axis, (int)d->extent);
        tensor_case_put_poly(out, &d->stride);
        buf_puts(out, ", start ");
        tensor_case_put_poly(out, &d->start);
        for (unsigned i = 0; i < d->bound_count; i++) {
            buf_puts(out, i ? " and " : ", bounds ");
            tensor_case_put_poly(out, &d->bounds[i]);
        }
        buf_puts(out, d->masked_below ? ", from 0\n" : "\n");
    }
}

#endif
