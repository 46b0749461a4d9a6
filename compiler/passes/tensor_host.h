/// tensor_host.h - what the launcher computes for tensor maps: sizes, strides, and whether they may
/// stand for the accesses.
///
/// The form of an access (tensor_access.h) is exact only where no integer wraps, and the copy
/// engine reads zero where a coordinate is negative. Neither can be proved when the kernel is
/// compiled. So the launcher, which knows all arguments and the grid, computes the range of every
/// integer in the access's slice, by interval arithmetic in checked int64; if one may leave its
/// type, or a start be negative, the maps are not used.
#ifndef NEWT_PASSES_TENSOR_HOST_H
#define NEWT_PASSES_TENSOR_HOST_H
#include "passes/tensor_access.h"

typedef struct TensorHost TensorHost;

/// Begins the function over the kernel's parameters (integers as int64); see IrFunc.map_host.
TensorHost *tensor_host_begin(const IrFunc *fn, Arena *a);

/// Adds the sizes and strides of the access of `op`, dimension `line` first, then the others in
/// order; with `has_map` false only what has to hold. Returns why the slice cannot be bounded;
/// NULL: it can.
const char *tensor_host_add(TensorHost *h, const IrOp *op, const TensorAccess *access,
                            unsigned line, bool has_map);

/// The function, complete.
IrFunc *tensor_host_end(TensorHost *h);

#endif
