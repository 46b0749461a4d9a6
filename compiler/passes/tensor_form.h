/// tensor_form.h - integers and pointers as functions of the block's coordinates.
#ifndef NEWT_PASSES_TENSOR_FORM_H
#define NEWT_PASSES_TENSOR_FORM_H
#include "passes/tensor_access.h"

/// value[i0, i1, ...] = base + axis[0] * i0 + axis[1] * i1 + ...; a pointer's value is in elements
/// from parameter `param`. Masks are forms too: true where the value is at least 1.
typedef struct Form {
    int param;  ///< -1: an integer
    Poly base;
    Poly axis[TENSOR_MAX_RANK];
} Form;

struct Tensors {
    const IrFunc *fn;
    const AxisInfo *axes;
    Arena *arena;
    const Form **forms;  ///< by value id; NULL: not computed
    uint32_t count;
    unsigned depth;
    const char *reason;  ///< why the last form was not found
};

/// The form of an integer or a pointer; NULL with t->reason set.
const Form *tensor_form(Tensors *t, const IrValue *v);

/// The form of an operand behind one of the shape operations (`op`).
Form tensor_form_reshaped(const IrOp *op, const Form *in);

#endif
