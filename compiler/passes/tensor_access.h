/// tensor_access.h - loads and stores that touch a tile of a tensor.
///
/// A tile's addresses are parameter + sum of (start + j) * stride over its dimensions, j from 0 up
/// along an axis of the block (a dimension without an axis has one coordinate), and its mask lets
/// through what lies inside the tensor. The copy engine of sm_90 can move such tiles. The form is
/// exact in unbounded integers: whoever uses it has to make sure that nothing in the access's slice
/// wraps (tensor_host.h makes the launcher check it).
#ifndef NEWT_PASSES_TENSOR_ACCESS_H
#define NEWT_PASSES_TENSOR_ACCESS_H
#include "passes/axis_info.h"
#include "passes/poly.h"

enum { TENSOR_MAX_RANK = 5, TENSOR_MAX_BOUNDS = 2 };

typedef struct TensorDim {
    Poly stride;     ///< elements from one coordinate to the next; the host knows it
    Poly start;      ///< the tile's first coordinate
    int axis;        ///< of the block; -1: none, the tile has one coordinate here
    int32_t extent;  ///< coordinates that the tile spans
    unsigned bound_count;
    Poly bounds[TENSOR_MAX_BOUNDS];  ///< coordinates from any of them on are masked off; the host
                                     ///< knows them. None: all are inside
    bool masked_below;               ///< coordinates below 0 are masked off; else there are none
} TensorDim;

typedef struct TensorAccess {
    const char *reason;  ///< why it is none; NULL: it is a tile
    uint32_t param;      ///< the pointer: argument of the function's body
    const Type *elem;
    unsigned rank;
    TensorDim dims[TENSOR_MAX_RANK];  ///< axes of the block in their order, then those without
} TensorAccess;

typedef struct Tensors Tensors;

/// Nothing is computed yet. The answers hold as long as no value's definition changes.
Tensors *tensor_analysis(const IrFunc *fn, const AxisInfo *axes, Arena *a);

/// What a LOAD or STORE touches; never NULL.
const TensorAccess *tensor_access_of(Tensors *t, const IrOp *op);

/// True when the launcher can compute `v`: a scalar integer made of parameters and the grid.
bool tensor_host_knows(const IrValue *v);
bool tensor_host_knows_all(const Poly *p);

/// Why the copy engine cannot move the tile (alignment, the order of its dimensions); NULL: it can.
const char *tensor_copy_obstacle(Tensors *t, const TensorAccess *access);

#endif
