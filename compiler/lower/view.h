/// view.h - tensor descriptors and block pointers: a tensor seen as blocks.
///
/// A VAL_VIEW has what is known at compile time in a View, and its run-time parts as values: base,
/// extents, strides, and the offsets of a block pointer. It never becomes one IR value: loops and
/// branches carry the parts, and each access makes block pointers and a mask of them, the same
/// that a program would write by hand, so all that holds for those holds here.
#ifndef NEWT_LOWER_VIEW_H
#define NEWT_LOWER_VIEW_H
#include "lower/lower_impl.h"

typedef enum { VIEW_DESCRIPTOR, VIEW_BLOCK_POINTER } ViewKind;

typedef struct View {
    ViewKind kind;
    const Type *block;  ///< element type and shape of what one access touches
    bool pads_nan;      ///< outside it reads as NaN, not as 0 (descriptors)
} View;

/// Block pointers, and a mask that is true inside the tensor (NULL: no axis is checked).
typedef struct ViewTile {
    IrValue *pointer, *mask;
} ViewTile;

/// The parts. Extents and offsets are int32 or int64; strides int64, or int32 where the launcher
/// has tested that all distances in the tensor fit that, and NULL for the constant 1.
static inline IrValue *lower_view_base(const Val *v)
{
    return v->tuple.at[0].v;
}
static inline IrValue *lower_view_extent(const Val *v, unsigned axis)
{
    return v->tuple.at[1 + axis].v;
}
static inline IrValue *lower_view_stride(const Val *v, unsigned axis)
{
    const Val *stride = &v->tuple.at[1 + type_rank(v->view->block) + axis];
    return stride->kind == VAL_VALUE ? stride->v : NULL;
}
static inline Val *lower_view_offset(const Val *v, unsigned axis)
{
    return &v->tuple.at[1 + 2 * type_rank(v->view->block) + axis];
}

/// A view of these parts, in the order above; NULL for a stride of 1.
Val lower_view_new(Lower *cx, const View *view, IrValue *const *parts, uint32_t count);

/// Binds the names of parameters desc[T, ...] to descriptors; `args` has the values of the
/// function's parameters. All other names are bound. False after a report.
bool lower_bind_descriptors(Lower *cx, const Function *f, IrValue *const *args);

/// "a tensor descriptor of (16, 32) fp16 blocks".
const char *lower_view_text(Lower *cx, Val v);

/// Tuples of one length, or views that differ in run-time parts only.
bool lower_same_form(const Val *a, const Val *b);

/// The coordinates of a block along one of its axes: start, start + 1, ...
IrValue *lower_view_index(Lower *cx, const View *view, unsigned axis, IrValue *start);

/// The elements at `indices`: one row of coordinates for each axis. Axes in the set `checked` are
/// compared with 0 and with the tensor's extent.
ViewTile lower_view_tile(Lower *cx, const Val *view, IrValue *const *indices, uint32_t checked);

#endif
