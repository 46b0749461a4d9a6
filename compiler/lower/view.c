/// view.c - addresses and masks of tensor descriptors and block pointers.
#include "lower/view.h"

#include <string.h>

Val lower_view_new(Lower *cx, const View *view, IrValue *const *parts, uint32_t count)
{
    View *kept = ARENA_NEW(lower_arena(cx), View);
    *kept = *view;
    Val out = { .kind = VAL_VIEW, .view = kept };
    out.tuple.len = count;
    out.tuple.at = ARENA_NEW_N(lower_arena(cx), Val, count);
    for (uint32_t i = 0; i < count; i++)
        out.tuple.at[i] = parts[i] ? val_of(parts[i]) : val_const(const_int(1));
    return out;
}

const char *lower_view_text(Lower *cx, Val v)
{
    return arena_printf(lower_arena(cx), "a %s of %s blocks",
                        v.view->kind == VIEW_DESCRIPTOR ? "tensor descriptor" : "block pointer",
                        type_text(lower_types(cx), v.view->block));
}

bool lower_same_form(const Val *a, const Val *b)
{
    if (a->kind != b->kind || a->tuple.len != b->tuple.len)
        return false;
    return a->kind != VAL_VIEW ||
           (a->view->kind == b->view->kind && a->view->block == b->view->block &&
            a->view->pads_nan == b->view->pads_nan);
}

static bool is_wide(const IrValue *v)
{
    return type_scalar_kind(v->type) == SCALAR_I64;
}

IrValue *lower_view_index(Lower *cx, const View *view, unsigned axis, IrValue *start)
{
    IrBuilder *b = lower_builder(cx);
    IrValue *steps = ir_cast(b, ir_arange(b, 0, view->block->shape[axis]), start->type);
    return ir_binary(b, IR_ADD, ir_splat(b, start, steps->type), steps);
}

/// A row of values along `axis` of a block like `full`.
static IrValue *along(Lower *cx, IrValue *row, unsigned axis, const Type *full)
{
    IrBuilder *b = lower_builder(cx);
    for (unsigned k = 0; k < type_rank(full); k++)
        if (k != axis)
            row = ir_expand_dims(b, row, (int)k);
    return ir_broadcast(b, row, type_with_elem(lower_types(cx), full, type_elem(row->type)));
}

/// The type of distances in memory: int64, but where the variant knows that 32 bits are enough and
/// the program counts in them too.
static const Type *distance_type(Lower *cx, const Val *view, IrValue *const *indices)
{
    bool wide = false;
    for (unsigned k = 0; k < type_rank(view->view->block); k++) {
        const IrValue *stride = lower_view_stride(view, k);
        wide |= is_wide(indices[k]) || (stride && is_wide(stride));
    }
    return type_scalar(lower_types(cx), wide ? SCALAR_I64 : SCALAR_I32);
}

/// How far the elements lie from those of coordinate 0 along one axis.
static IrValue *distances(Lower *cx, IrValue *index, IrValue *stride, const Type *type)
{
    IrBuilder *b = lower_builder(cx);
    index = ir_cast(b, index, type);
    if (!stride || (ir_is_const(stride) && stride->def->attr.konst.i == 1))
        return index;
    return ir_binary(b, IR_MUL, index, ir_splat(b, ir_cast(b, stride, type), index->type));
}

static IrValue *inside(Lower *cx, IrValue *index, IrValue *extent)
{
    IrBuilder *b = lower_builder(cx);
    const Type *wide = type_scalar(lower_types(cx), SCALAR_I64);
    if (is_wide(index) || is_wide(extent)) {
        index = ir_cast(b, index, wide);
        extent = ir_cast(b, extent, wide);
    }
    IrValue *zero = ir_const_int(b, index->type, 0);
    return ir_binary(b, IR_AND, ir_binary(b, IR_GE, index, zero),
                     ir_binary(b, IR_LT, index, ir_splat(b, extent, index->type)));
}

ViewTile lower_view_tile(Lower *cx, const Val *view, IrValue *const *indices, uint32_t checked)
{
    IrBuilder *b = lower_builder(cx);
    TypeTable *types = lower_types(cx);
    const unsigned rank = type_rank(view->view->block);
    int32_t shape[TYPE_MAX_RANK];
    for (unsigned k = 0; k < rank; k++)
        shape[k] = indices[k]->type->shape[0];
    IrValue *base = lower_view_base(view), *sum = NULL;
    const Type *full = type_block(types, base->type, rank, shape);
    const Type *type = distance_type(cx, view, indices);
    ViewTile out = { 0 };
    for (unsigned k = 0; k < rank; k++) {
        IrValue *part = distances(cx, indices[k], lower_view_stride(view, k), type);
        part = along(cx, part, k, full);
        sum = sum ? ir_binary(b, IR_ADD, sum, part) : part;
        if (!(checked >> k & 1))
            continue;
        part = along(cx, inside(cx, indices[k], lower_view_extent(view, k)), k, full);
        out.mask = out.mask ? ir_binary(b, IR_AND, out.mask, part) : part;
    }
    out.pointer = ir_ptr_add(b, ir_splat(b, base, full), sum);
    return out;
}
