/// tensor_range.h - ranges of a kernel's integers, computed where arguments and grid are known.
#ifndef NEWT_PASSES_TENSOR_RANGE_H
#define NEWT_PASSES_TENSOR_RANGE_H
#include "passes/tensor_host.h"

/// int64 values of the launcher's function; the same one when there is one possible value.
typedef struct Range {
    IrValue *lo, *hi;
} Range;

struct TensorHost {
    const IrFunc *kernel;
    Arena *arena;
    TypeTable *types;
    const Type *i64;
    IrFunc *fn;
    IrBuilder b;
    Range *ranges;  ///< by id of the kernel's values
    IrValue *ok;    ///< what was required so far holds
    VEC(IrValue *) results;
    unsigned depth;
    const char *reason;
};

/// The range of an integer of the kernel, scalar or block, in all programs and iterations; requires
/// that it stays within its type. False with h->reason set.
bool tensor_range_of(TensorHost *h, const IrValue *v, Range *out);
/// The same for all integers that a pointer or a mask is made of.
bool tensor_range_visit(TensorHost *h, const IrValue *v);
bool tensor_range_of_poly(TensorHost *h, const Poly *p, Range *out);

/// `x + constant`
IrValue *tensor_range_add(TensorHost *h, IrValue *x, int64_t constant);
/// Has the launcher go on only if `a code b`.
void tensor_range_require(TensorHost *h, IrCode code, IrValue *a, IrValue *b);

#endif
