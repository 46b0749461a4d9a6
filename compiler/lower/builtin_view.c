/// builtin_view.c - tensor descriptors and block pointers: making, moving, reading, writing.
///
/// Offsets outside the tensor are no fault: reads give 0 (or NaN), writes are dropped. A block
/// pointer is checked along the axes of `boundary_check` alone.
#include "lower/builtins.h"
#include "lower/view.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { ALL_AXES = -1, MOST_PARTS = 1 + 3 * TYPE_MAX_RANK };

// ---- arguments ------------------------------------------------------------------------------

static const char *name_of(const BoundArgs *args, unsigned index)
{
    return args->builtin->params[index].name->text;
}

/// The elements of a tuple argument; an argument that is none is its only one.
static Val *elements(const BoundArgs *args, unsigned index, uint32_t *count)
{
    Val *v = &args->at[index];
    *count = v->kind == VAL_TUPLE ? v->tuple.len : 1;
    return v->kind == VAL_TUPLE ? v->tuple.at : v;
}

/// An integer scalar as int64 if `wide`, else as int32 where its type fits that.
static IrValue *int_part(Lower *cx, const BoundArgs *args, unsigned index, Val v, bool wide)
{
    TypeTable *types = lower_types(cx);
    const Type *i32 = type_scalar(types, SCALAR_I32), *i64 = type_scalar(types, SCALAR_I64);
    const char *what = arena_printf(lower_arena(cx), "an element of '%s'", name_of(args, index));
    const Type *t = lower_type_of(cx, v);
    if (type_is_error(t))
        return lower_value(cx, v, what, args->spans[index]);  // which says why it is none
    if (type_is_block(t) || !type_is_int(t)) {
        lower_error(cx, DIAG_TYPE_MISMATCH, args->spans[index],
                    "'%s' is made of integer scalars, got %s", name_of(args, index),
                    type_text(types, t));
        return NULL;
    }
    const ScalarKind kind = type_scalar_kind(t);
    const bool fits = kind != SCALAR_I64 && kind != SCALAR_U64 && kind != SCALAR_U32;
    return lower_value_as(cx, v, fits && !wide ? i32 : i64, what, args->spans[index]);
}

static bool int_parts(Lower *cx, const BoundArgs *args, unsigned index, unsigned rank, bool wide,
                      IrValue **out)
{
    uint32_t count;
    const Val *at = elements(args, index, &count);
    if (args->at[index].kind == VAL_ERROR)
        return false;
    if (count != rank) {
        lower_error(cx, DIAG_SHAPE_MISMATCH, args->spans[index],
                    "'%s' has %" PRIu32 " element%s, and the block has %u ax%s",
                    name_of(args, index), count, count == 1 ? "" : "s", rank,
                    rank == 1 ? "is" : "es");
        return false;
    }
    for (unsigned k = 0; k < rank; k++) {
        out[k] = int_part(cx, args, index, at[k], wide);
        if (!out[k])
            return false;
    }
    return true;
}

/// The base of a view: one pointer to numbers.
static IrValue *base_arg(Lower *cx, const BoundArgs *args)
{
    IrValue *base = lower_pointer_arg(cx, args, false);
    if (!base || (!type_is_block(base->type) && base->type->elem->kind == TYPE_SCALAR))
        return base;
    lower_error(cx, DIAG_TYPE_MISMATCH, args->spans[0],
                "the base of a tensor is one pointer to numbers, got %s",
                type_text(lower_types(cx), base->type));
    return NULL;
}

static const Type *block_arg(Lower *cx, const BoundArgs *args, unsigned index, const Type *elem)
{
    unsigned rank;
    int32_t shape[TYPE_MAX_RANK];
    if (!lower_want_shape(cx, args, index, &rank, shape))
        return NULL;
    if (rank > 0)
        return type_block(lower_types(cx), elem, rank, shape);
    lower_error(cx, DIAG_SHAPE_MISMATCH, args->spans[index], "a block needs at least one axis");
    return NULL;
}

/// "zero" or "nan"; what is empty is zero.
static bool padding_arg(Lower *cx, const BoundArgs *args, unsigned index, const Type *elem,
                        bool *is_nan)
{
    Str s;
    if (!lower_want_str(cx, args, index, &s))
        return false;
    *is_nan = str_is(s, "nan");
    if (!*is_nan && s.len > 0 && !str_is(s, "zero")) {
        lower_error(cx, DIAG_BAD_VALUE, args->spans[index],
                    "unknown padding option '%.*s'; expected zero or nan", (int)s.len, s.at);
        return false;
    }
    if (!*is_nan || type_is_float(elem) || type_is_fp8(elem))
        return true;
    lower_error(cx, DIAG_BAD_VALUE, args->spans[index], "nan cannot be represented in %s",
                scalar_text(elem->scalar));
    return false;
}

/// What a load gives outside the tensor; NULL for 0.
static IrValue *padding(Lower *cx, const Type *elem, const IrValue *pointer, bool is_nan, Span span)
{
    if (!is_nan)
        return NULL;
    IrValue *nan =
        lower_value_as(cx, val_const(const_float((double)NAN)), elem, "the padding", span);
    return ir_splat(lower_builder(cx), nan, type_with_elem(lower_types(cx), pointer->type, elem));
}

// ---- tensor descriptors -----------------------------------------------------------------------

enum { DESC_SHAPE = 1, DESC_STRIDES, DESC_BLOCK, DESC_PADDING };

/// The rules of the copy engine for the last axis hold everywhere, so that a program does.
static bool check_last_bytes(Lower *cx, const Type *block, Span span)
{
    enum { LEAST_BYTES = 16 };
    const int64_t bytes = (int64_t)block->shape[type_rank(block) - 1] * type_elem_bytes(block);
    if (bytes >= LEAST_BYTES)
        return true;
    lower_error(cx, DIAG_SHAPE_MISMATCH, span,
                "the last axis of a descriptor's block is %" PRId64 " bytes; the least is %d",
                bytes, LEAST_BYTES);
    return false;
}

static bool check_last_axis(Lower *cx, const BoundArgs *args, const Type *block)
{
    uint32_t count;
    const Val *strides = elements(args, DESC_STRIDES, &count);
    if (!check_last_bytes(cx, block, args->spans[DESC_BLOCK]))
        return false;
    const Val *last = &strides[count - 1];
    if (last->kind == VAL_CONST && last->c.kind == CONST_INT && last->c.v.i == 1)
        return true;
    if (last->kind == VAL_VALUE && ir_is_const(last->v) && last->v->def->attr.konst.i == 1)
        return true;  // from another descriptor's strides
    lower_error(cx, DIAG_BAD_VALUE, args->spans[DESC_STRIDES],
                "the last stride of a descriptor must be the constant 1, got %s",
                last->kind == VAL_VALUE ? "a run-time value" : lower_text(cx, *last));
    diag_help(lower_diags(cx), "write 1, or order the axes so that the last one is contiguous");
    return false;
}

Val lower_fn_make_descriptor(Lower *cx, const BoundArgs *args)
{
    View view = { .kind = VIEW_DESCRIPTOR };
    IrValue *parts[MOST_PARTS];
    parts[0] = base_arg(cx, args);
    if (!parts[0])
        return val_error();
    const Type *elem = type_elem(parts[0]->type)->elem;
    view.block = block_arg(cx, args, DESC_BLOCK, elem);
    if (!view.block)
        return val_error();
    const size_t rank = type_rank(view.block);
    if (!int_parts(cx, args, DESC_SHAPE, rank, false, parts + 1) ||
        !int_parts(cx, args, DESC_STRIDES, rank, true, parts + 1 + rank) ||
        !check_last_axis(cx, args, view.block) ||
        !padding_arg(cx, args, DESC_PADDING, elem, &view.pads_nan))
        return val_error();
    parts[2 * rank] = NULL;  // the last stride
    return lower_view_new(cx, &view, parts, 1 + 2 * rank);
}

/// The descriptor argument, which is the first one; stores need one of a pointer that is not const.
static const Val *desc_arg(Lower *cx, const BoundArgs *args, bool writes)
{
    const Val *v = &args->at[0];
    if (v->kind == VAL_ERROR)
        return NULL;
    if (v->kind != VAL_VIEW || v->view->kind != VIEW_DESCRIPTOR) {
        lower_error(cx, DIAG_TYPE_MISMATCH, args->spans[0],
                    "'%s' needs a tensor descriptor, got %s", args->builtin->name->text,
                    lower_text(cx, *v));
        return NULL;
    }
    return !writes || lower_check_writable(cx, args, lower_view_base(v)) ? v : NULL;
}

static bool desc_tile(Lower *cx, const BoundArgs *args, const Val *desc, unsigned offsets,
                      ViewTile *out)
{
    IrValue *index[TYPE_MAX_RANK];
    const unsigned rank = type_rank(desc->view->block);
    if (!int_parts(cx, args, offsets, rank, false, index))
        return false;
    for (unsigned k = 0; k < rank; k++)
        index[k] = lower_view_index(cx, desc->view, k, index[k]);
    *out = lower_view_tile(cx, desc, index, (uint32_t)ALL_AXES);
    return true;
}

static Val desc_load_tile(Lower *cx, const BoundArgs *args, const Val *desc, const ViewTile *tile)
{
    IrValue *other =
        padding(cx, type_elem(desc->view->block), tile->pointer, desc->view->pads_nan, args->call);
    return val_of(ir_load(lower_builder(cx), tile->pointer, tile->mask, other, (IrMem){ 0 }));
}

/// The value to be stored: its shape is the block's, its elements are cast.
static IrValue *block_value(Lower *cx, const BoundArgs *args, unsigned index,
                            const IrValue *pointer)
{
    const Val *v = &args->at[index];
    const Type *t = lower_type_of(cx, *v);
    if (v->kind == VAL_VALUE && !type_same_shape(t, pointer->type)) {
        lower_error(cx, DIAG_SHAPE_MISMATCH, args->spans[index],
                    "value shape %s does not match block shape %s",
                    type_shape_text(lower_types(cx), t),
                    type_shape_text(lower_types(cx), pointer->type));
        return NULL;
    }
    return lower_stored_value(cx, args, index, pointer);
}

Val lower_fn_desc_load(Lower *cx, const BoundArgs *args)
{
    ViewTile tile;
    const Val *desc = desc_arg(cx, args, false);
    return desc && desc_tile(cx, args, desc, 1, &tile) ? desc_load_tile(cx, args, desc, &tile)
                                                       : val_error();
}

Val lower_fn_desc_store(Lower *cx, const BoundArgs *args)
{
    ViewTile tile;
    const Val *desc = desc_arg(cx, args, true);
    if (!desc || !desc_tile(cx, args, desc, 1, &tile))
        return val_error();
    IrValue *value = block_value(cx, args, 2, tile.pointer);
    if (!value)
        return val_error();
    ir_store(lower_builder(cx), tile.pointer, value, tile.mask, (IrMem){ 0 });
    return val_void();
}

Val lower_fn_desc_atomic(Lower *cx, const BoundArgs *args)
{
    ViewTile tile;
    const Val *desc = desc_arg(cx, args, true);
    if (!desc || !lower_check_atomic(cx, args, type_elem(desc->view->block)) ||
        !desc_tile(cx, args, desc, 1, &tile))
        return val_error();
    IrValue *value = block_value(cx, args, 2, tile.pointer);
    if (!value)
        return val_error();
    lower_atomic(cx, args->builtin->id, tile.pointer, value, tile.mask);
    return val_void();
}

/// The rows `x_offsets` of a descriptor of one-row blocks, from column `y_offset` on.
static bool desc_rows(Lower *cx, const BoundArgs *args, const Val *desc, unsigned x, ViewTile *out)
{
    enum { LEAST_ROWS = 8, LEAST_BITS = 256 };
    TypeTable *types = lower_types(cx);
    const Type *block = desc->view->block;
    if (type_rank(block) != 2 || block->shape[0] != 1 ||
        block->shape[1] * (int32_t)type_elem_bytes(block) * 8 < LEAST_BITS) {
        lower_error(cx, DIAG_SHAPE_MISMATCH, args->spans[0],
                    "'%s' needs blocks of one row of at least 32 bytes, got %s",
                    args->builtin->name->text, type_text(types, block));
        return false;
    }
    IrValue *rows = lower_value(cx, args->at[x], "argument 'x_offsets'", args->spans[x]);
    if (!rows)
        return false;
    if (type_rank(rows->type) != 1 || !type_is_int(rows->type) ||
        rows->type->shape[0] < LEAST_ROWS) {
        lower_error(cx, DIAG_SHAPE_MISMATCH, args->spans[x],
                    "'x_offsets' must be a row of at least %d integers, got %s", LEAST_ROWS,
                    type_text(types, rows->type));
        return false;
    }
    IrValue *start = int_part(cx, args, x + 1, args->at[x + 1], false);
    if (!start)
        return false;
    const bool wide = type_elem_bytes(rows->type) > 4 || type_scalar_kind(rows->type) == SCALAR_U32;
    rows = ir_cast(lower_builder(cx), rows, type_scalar(types, wide ? SCALAR_I64 : SCALAR_I32));
    IrValue *index[2] = { rows, lower_view_index(cx, desc->view, 1, start) };
    *out = lower_view_tile(cx, desc, index, (uint32_t)ALL_AXES);
    return true;
}

Val lower_fn_desc_gather(Lower *cx, const BoundArgs *args)
{
    ViewTile tile;
    const Val *desc = desc_arg(cx, args, false);
    return desc && desc_rows(cx, args, desc, 1, &tile) ? desc_load_tile(cx, args, desc, &tile)
                                                       : val_error();
}

Val lower_fn_desc_scatter(Lower *cx, const BoundArgs *args)
{
    ViewTile tile;
    const Val *desc = desc_arg(cx, args, true);
    if (!desc || !desc_rows(cx, args, desc, 2, &tile))
        return val_error();
    IrValue *value = block_value(cx, args, 1, tile.pointer);
    if (!value)
        return val_error();
    ir_store(lower_builder(cx), tile.pointer, value, tile.mask, (IrMem){ 0 });
    return val_void();
}

// ---- parameters -------------------------------------------------------------------------------

/// The block of `desc[T, M, N]`.
static const Type *annotated_block(Lower *cx, const AstSubscript *n, const Type *elem)
{
    Val sizes = { .kind = VAL_TUPLE };
    Span span = n->base.span;
    bool given = true;
    sizes.tuple.len = n->indices.len - 1;
    sizes.tuple.at = ARENA_NEW_N(lower_arena(cx), Val, sizes.tuple.len);
    for (uint32_t i = 0; i < sizes.tuple.len; i++) {
        sizes.tuple.at[i] = lower_expr(cx, n->indices.at[i + 1]);
        if (sizes.tuple.at[i].kind == VAL_ERROR)
            return NULL;
    }
    const Builtin *b = builtin_get(cx->program->builtins, BUILTIN_DESC);
    const BoundArgs args = { b, &sizes, &span, &given, 1, span };
    const Type *block = block_arg(cx, &args, 0, elem);
    return block && check_last_bytes(cx, block, span) ? block : NULL;
}

static bool bind_descriptor(Lower *cx, const Function *f, const TensorParam *t,
                            IrValue *const *args)
{
    View view = { .kind = VIEW_DESCRIPTOR };
    IrValue *parts[MOST_PARTS];
    parts[0] = args[t->data];
    if (!parts[0]) {
        lower_error(cx, DIAG_BAD_CALL, t->span,
                    "parameter '%s' is a tensor that C passes, and no constant", t->name->text);
        return false;
    }
    view.block = annotated_block(cx, t->desc, parts[0]->type->elem);
    if (!view.block)
        return false;
    for (uint32_t i = 0; i < f->param_count; i++) {
        const Param *p = &f->params[i];
        if (p->is_hidden && p->tensor == f->params[t->data].tensor)
            parts[1 + p->axis + (p->role == PARAM_STRIDE ? t->rank : 0)] = args[i];
    }
    parts[2 * (size_t)t->rank] = NULL;  // the last stride
    lower_bind(cx, lower_slot_of(cx, t->name), lower_view_new(cx, &view, parts, 1 + 2 * t->rank),
               t->span);
    return true;
}

bool lower_bind_descriptors(Lower *cx, const Function *f, IrValue *const *args)
{
    const TensorParam *t;
    VEC_EACH (t, &f->tensors)
        if (t->desc && !bind_descriptor(cx, f, t, args))
            return false;
    return true;
}

// ---- block pointers ---------------------------------------------------------------------------

enum { BLOCK_SHAPE = 1, BLOCK_STRIDES, BLOCK_OFFSETS, BLOCK_BLOCK, BLOCK_ORDER };

/// A set of axes, given as a tuple of constants; a permutation of all when `all`.
static bool axes_arg(Lower *cx, const BoundArgs *args, unsigned index, unsigned rank, bool all,
                     uint32_t *out)
{
    uint32_t count;
    const Val *at = elements(args, index, &count);
    *out = 0;
    for (uint32_t i = 0; i < count; i++) {
        const bool is_int = at[i].kind == VAL_CONST && at[i].c.kind == CONST_INT;
        const bool fits = is_int && at[i].c.v.i >= 0 && at[i].c.v.i < rank;
        if (at[i].kind == VAL_ERROR)
            return false;
        if (fits && !(*out >> (unsigned)at[i].c.v.i & 1)) {
            *out |= UINT32_C(1) << (unsigned)at[i].c.v.i;
            continue;
        }
        lower_error(cx, is_int ? DIAG_BAD_VALUE : DIAG_TYPE_MISMATCH, args->spans[index],
                    "'%s' is made of different axes from 0 to %u, got %s", name_of(args, index),
                    rank - 1, lower_source(cx, args->spans[index]));
        return false;
    }
    if (!all || count == rank)
        return true;
    lower_error(cx, DIAG_BAD_VALUE, args->spans[index], "'%s' must name each of the %u axes once",
                name_of(args, index), rank);
    return false;
}

Val lower_fn_make_block_ptr(Lower *cx, const BoundArgs *args)
{
    View view = { .kind = VIEW_BLOCK_POINTER };
    IrValue *parts[MOST_PARTS];
    uint32_t order;
    parts[0] = base_arg(cx, args);
    if (!parts[0])
        return val_error();
    view.block = block_arg(cx, args, BLOCK_BLOCK, type_elem(parts[0]->type)->elem);
    if (!view.block)
        return val_error();
    const size_t rank = type_rank(view.block);
    if (!int_parts(cx, args, BLOCK_SHAPE, rank, false, parts + 1) ||
        !int_parts(cx, args, BLOCK_STRIDES, rank, true, parts + 1 + rank) ||
        !int_parts(cx, args, BLOCK_OFFSETS, rank, false, parts + 1 + 2 * rank) ||
        !axes_arg(cx, args, BLOCK_ORDER, rank, true, &order))
        return val_error();
    return lower_view_new(cx, &view, parts, 1 + 3 * rank);
}

Val lower_fn_advance(Lower *cx, const BoundArgs *args)
{
    const Val *old = &args->at[0];
    IrValue *by[TYPE_MAX_RANK];
    IrBuilder *b = lower_builder(cx);
    if (old->kind == VAL_ERROR)
        return *old;
    if (old->kind != VAL_VIEW || old->view->kind != VIEW_BLOCK_POINTER) {
        lower_error(cx, DIAG_TYPE_MISMATCH, args->spans[0],
                    "'advance' needs a block pointer, got %s", lower_text(cx, *old));
        return val_error();
    }
    const unsigned rank = type_rank(old->view->block);
    if (!int_parts(cx, args, 1, rank, false, by))
        return val_error();
    Val moved = *old;
    moved.tuple.at = ARENA_NEW_N(lower_arena(cx), Val, old->tuple.len);
    memcpy(moved.tuple.at, old->tuple.at, old->tuple.len * sizeof(Val));
    for (unsigned k = 0; k < rank; k++) {
        IrValue *from = lower_view_offset(old, k)->v;  // keeps its type, so that loops can carry it
        *lower_view_offset(&moved, k) =
            val_of(ir_binary(b, IR_ADD, from, ir_cast(b, by[k], from->type)));
    }
    return moved;
}

static bool refuse_arg(Lower *cx, const BoundArgs *args, unsigned index)
{
    if (lower_is_none(args->at[index]))
        return true;
    lower_error(cx, DIAG_BAD_CALL, args->spans[index],
                "'%s' does not go with a block pointer; use 'boundary_check'",
                name_of(args, index));
    return false;
}

/// The block that a block pointer points to, checked along the axes of argument `boundary`.
static bool block_pointer_tile(Lower *cx, const BoundArgs *args, unsigned boundary, ViewTile *out)
{
    const Val *v = &args->at[0];
    IrValue *index[TYPE_MAX_RANK];
    uint32_t checked;
    if (v->view->kind != VIEW_BLOCK_POINTER) {
        lower_error(cx, DIAG_TYPE_MISMATCH, args->spans[0], "'%s' needs a pointer, got %s",
                    args->builtin->name->text, lower_text(cx, *v));
        diag_help(lower_diags(cx), "write '%s.%s(...)'", lower_source(cx, args->spans[0]),
                  args->builtin->name->text);
        return false;
    }
    const unsigned rank = type_rank(v->view->block);
    if (!axes_arg(cx, args, boundary, rank, false, &checked))
        return false;
    for (unsigned k = 0; k < rank; k++)
        index[k] = lower_view_index(cx, v->view, k, lower_view_offset(v, k)->v);
    *out = lower_view_tile(cx, v, index, checked);
    return true;
}

Val lower_view_load(Lower *cx, const BoundArgs *args, IrMem mem)
{
    ViewTile tile;
    bool is_nan;
    const Type *elem = type_elem(args->at[0].view->block);
    if (!refuse_arg(cx, args, LOAD_MASK) || !refuse_arg(cx, args, LOAD_OTHER) ||
        !block_pointer_tile(cx, args, LOAD_BOUNDARY, &tile) ||
        !padding_arg(cx, args, LOAD_PADDING, elem, &is_nan))
        return val_error();
    IrValue *other = padding(cx, elem, tile.pointer, is_nan && tile.mask, args->call);
    return val_of(ir_load(lower_builder(cx), tile.pointer, tile.mask, other, mem));
}

Val lower_view_store(Lower *cx, const BoundArgs *args, IrMem mem)
{
    ViewTile tile;
    if (!refuse_arg(cx, args, STORE_MASK) || !block_pointer_tile(cx, args, STORE_BOUNDARY, &tile) ||
        !lower_check_writable(cx, args, tile.pointer))
        return val_error();
    IrValue *value = block_value(cx, args, STORE_VALUE, tile.pointer);
    if (!value)
        return val_error();
    ir_store(lower_builder(cx), tile.pointer, value, tile.mask, mem);
    return val_void();
}
