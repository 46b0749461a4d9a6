/// tensor_value.h - polynomials as operations.
#ifndef NEWT_PASSES_TENSOR_VALUE_H
#define NEWT_PASSES_TENSOR_VALUE_H
#include "passes/poly.h"

/// Computes `p` in int64 or, when all its atoms are at most that wide, int32, and gives it as
/// int32; it must fit. `map` (by id) says what stands for the atoms where `b` builds, NULL entries
/// for themselves.
IrValue *tensor_value(IrBuilder *b, const Poly *p, IrValue **map);

#endif
