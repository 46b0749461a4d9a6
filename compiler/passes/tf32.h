/// tf32.h - which fp32 blocks products may find rounded to tf32.
///
/// A warpgroup's instructions cut what is finer than tf32 off, so fp32 factors that they read where
/// they lie must have been rounded before: by the copy engine, or by threads that write them.
#ifndef NEWT_PASSES_TF32_H
#define NEWT_PASSES_TF32_H
#include "ir/ir.h"

/// True when all that uses `v`, transpositions looked through, are products that round it to tf32:
/// then it may be rounded wherever it comes from.
bool tf32_everywhere(const IrFunc *fn, const IrValue *v);

/// True for a product that needs factors in shared memory rounded already.
bool tf32_must_be_rounded(const IrOp *dot);

#endif
