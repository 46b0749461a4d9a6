/// index.c - tensors indexed by tiles, `:`, None, integers and blocks of integers: addresses,
/// masks, loads and stores.
///
/// An address is written as base + offs_m[:, None] * x_s0 + offs_k[None, :] * x_s1 and its mask as
/// (offs_m[:, None] < M) & (offs_k[None, :] < K): the form in which passes recognise a tile of a
/// tensor. What a block of integers points outside of is not touched and reads as 0.
#include "tile/tile_impl.h"
#include <string.h>

typedef struct Item {
    enum { ITEM_AXIS, ITEM_SCALAR, ITEM_NEW, ITEM_GATHER } kind;
    Value value;                   // SCALAR, GATHER
    Axis *axis;                    // AXIS
    bool is_whole;                 // AXIS: it is that of the tensor
    unsigned of;                   // axis of the tensor
    unsigned at;                   // AXIS: where in the result
    unsigned from[TILE_MAX_RANK];  // GATHER: where each axis of the block is in the result
} Item;

typedef struct Indexing {
    Tile *t;
    TileTensor *tensor;
    Item items[2 * TILE_MAX_RANK];
    unsigned count, used;  // items; axes of the tensor that they take
    Span span;
} Indexing;

static bool add_item(Indexing *x, Item item)
{
    if (item.kind != ITEM_NEW)
        item.of = x->used++;
    if (x->used > x->tensor->rank) {
        tile_fault(x->t, DIAG_SHAPE_MISMATCH, x->span, "'%s' has %u ax%s, and more are indexed",
                   x->tensor->name->text, x->tensor->rank, x->tensor->rank == 1 ? "is" : "es");
        return false;
    }
    if (x->count == 2 * TILE_MAX_RANK)
        return false;
    x->items[x->count++] = item;
    return true;
}

static bool add_whole(Indexing *x)
{
    if (x->used >= x->tensor->rank)
        return add_item(x, (Item){ .kind = ITEM_SCALAR });
    Axis *axis = tile_whole(x->t, x->tensor->sizes[x->used], x->tensor, x->used);
    if (axis)
        return add_item(x, (Item){ .kind = ITEM_AXIS, .axis = axis, .is_whole = true });
    Value zero = tile_scalar(tile_int(x->t, 0), SCALAR_I32);
    return add_item(x, (Item){ .kind = ITEM_SCALAR, .value = zero }) &&
           add_item(x, (Item){ .kind = ITEM_NEW });
}

static bool add_slice(Indexing *x, const AstSlice *s)
{
    if (!s->lower && !s->upper && !s->step)
        return add_whole(x);
    tile_fault(x->t, DIAG_NOT_IN_LANGUAGE, s->base.span,
               "a part of an axis is not an index in a tile kernel");
    diag_help(x->t->program->diags, "loop over it with tile(begin, end)");
    return false;
}

/// A block that indexes is read several times, so it gets a name.
static Value named(Tile *t, Value v)
{
    if (v.ast->kind == AST_NAME)
        return v;
    return tile_keep(t, sym_of(t->program->syms, "index"), v, true);
}

static bool add_value(Indexing *x, const AstNode *n)
{
    Tile *t = x->t;
    Value v = tile_expr(t, n);
    bool integer = v.elem == SCALAR_COUNT || scalar_info[v.elem].cls == SCLASS_SINT ||
                   scalar_info[v.elem].cls == SCLASS_UINT;
    if (v.is_weak && v.literal.kind != CONST_INT && v.literal.kind != CONST_ERROR)
        integer = false;
    if (v.kind == VALUE_ERROR)
        return false;
    if (v.kind == VALUE_TILE)
        return add_item(x, (Item){ .kind = ITEM_AXIS, .axis = v.tile });
    if ((v.kind == VALUE_SCALAR || v.kind == VALUE_BLOCK) && integer) {
        if (v.kind == VALUE_BLOCK)
            v = named(t, v);
        return add_item(
            x, (Item){ .kind = v.kind == VALUE_BLOCK ? ITEM_GATHER : ITEM_SCALAR, .value = v });
    }
    tile_fault(t, DIAG_TYPE_MISMATCH, n->span, "%s cannot index a tensor",
               v.elem != SCALAR_COUNT && v.kind != VALUE_TENSOR
                   ? arena_printf(t->arena, "%s of %s", tile_text(t, &v), scalar_text(v.elem))
                   : tile_text(t, &v));
    return false;
}

static bool add_index(Indexing *x, const AstNode *n, unsigned rest)
{
    if (n->kind == AST_NONE)
        return add_item(x, (Item){ .kind = ITEM_NEW });
    if (n->kind == AST_SLICE)
        return add_slice(x, ast_slice(n));
    if (n->kind != AST_ELLIPSIS)
        return add_value(x, n);
    while (x->used + rest < x->tensor->rank)
        if (!add_whole(x))
            return false;
    return true;
}

/// How many of the indices take an axis of the tensor.
static unsigned axes_taken(const AstNodes *indices, uint32_t from)
{
    unsigned n = 0;
    for (uint32_t i = from; i < indices->len; i++)
        n += indices->at[i]->kind != AST_NONE && indices->at[i]->kind != AST_ELLIPSIS;
    return n;
}

static bool take_items(Indexing *x, const AstNodes *indices)
{
    for (uint32_t i = 0; i < indices->len; i++)
        if (!add_index(x, indices->at[i], axes_taken(indices, i + 1)))
            return false;
    while (x->used < x->tensor->rank)
        if (!add_whole(x))
            return false;
    return true;
}

// ---- the axes of the result -----------------------------------------------------------------

static bool too_many(Indexing *x)
{
    tile_fault(x->t, DIAG_SHAPE_MISMATCH, x->span, "a block has at most %d axes", TILE_MAX_RANK);
    return false;
}

static bool push_axis(Indexing *x, Value *block, Axis *axis, unsigned *at)
{
    if (block->rank == TILE_MAX_RANK)
        return too_many(x);
    *at = block->rank;
    block->axes[block->rank++] = axis;
    return true;
}

static bool has_axis(const Value *block, const Axis *axis, unsigned *at)
{
    for (*at = 0; *at < block->rank; ++*at)
        if (axis && block->axes[*at] == axis)
            return true;
    return false;
}

static bool place_item(Indexing *x, Item *item, Value *block)
{
    if (item->kind == ITEM_AXIS && has_axis(block, item->axis, &item->at)) {
        tile_fault(x->t, DIAG_SHAPE_MISMATCH, x->span, "'%s' indexes two axes of '%s'",
                   item->axis->text, x->tensor->name->text);
        return false;
    }
    if (item->kind == ITEM_AXIS || item->kind == ITEM_NEW)
        return push_axis(x, block, item->axis, &item->at);
    for (unsigned i = 0; item->kind == ITEM_GATHER && i < item->value.rank; i++)
        if (!has_axis(block, item->value.axes[i], &item->from[i]) &&
            !push_axis(x, block, item->value.axes[i], &item->from[i]))
            return false;
    for (unsigned i = 1; item->kind == ITEM_GATHER && i < item->value.rank; i++)
        if (item->from[i] < item->from[i - 1]) {
            tile_fault(x->t, DIAG_SHAPE_MISMATCH, x->span,
                       "the axes of an index come in another order than those before it");
            return false;
        }
    return true;
}

/// The index block with its axes where they are in the result.
static AstNode *spread_block(Tile *t, const Item *item, unsigned rank)
{
    const Value *v = &item->value;
    if (v->rank == rank)
        return v->ast;
    AstNode **indices = ARENA_NEW_N(t->arena, AstNode *, rank);
    unsigned next = 0;
    for (unsigned i = 0; i < rank; i++) {
        bool here = next < v->rank && item->from[next] == i;
        indices[i] = here ? AST_MAKE(t->arena, SLICE, Slice, t->span, .lower = NULL)
                          : ast_make(t->arena, AST_NONE, t->span, &(const AstNone){ 0 });
        next += here;
    }
    return AST_MAKE(t->arena, SUBSCRIPT, Subscript, t->span, .object = v->ast, .is_tuple = true,
                    .indices = { indices, rank });
}

// ---- addresses and masks --------------------------------------------------------------------

static AstNode *scaled(Tile *t, TileTensor *tensor, unsigned of, AstNode *index)
{
    if (tensor->dense_axis == (int)of)
        return index;
    tensor->stride_used[of] = true;
    if (tile_is_int(index, 0))
        return index;
    AstNode *stride = tile_sym(t, tensor->strides[of]);
    return tile_is_int(index, 1) ? stride : tile_binary(t, AST_MUL, index, stride);
}

static AstNode *scalar_index(Tile *t, const TileTensor *tensor, const Item *item)
{
    const Value *v = &item->value;
    bool behind = v->is_weak && v->literal.kind == CONST_INT && v->literal.v.i < 0;
    if (!behind)
        return v->ast;
    return tile_binary(t, AST_SUB, tile_size_ast(t, tensor->sizes[item->of]),
                       tile_int(t, (int64_t)-v->literal.v.i));
}

/// Where the tile may run beyond the tensor: nowhere if both are one size; checked at the launch if
/// both are sizes; else by the mask.
static AstNode *tensor_bound(Indexing *x, const Item *item, unsigned rank)
{
    Tile *t = x->t;
    Size *size = tile_size_root(x->tensor->sizes[item->of]);
    Size *other = item->axis->size ? tile_size_root(item->axis->size) : NULL;
    if (item->is_whole || other == size)
        return NULL;
    if (item->axis->end && item->axis->end->kind == AST_INT && size->fixed >= 0 &&
        ast_int(item->axis->end)->value <= (uint64_t)size->fixed)
        return NULL;
    if (other) {
        SizeRule rule = { { other->tensor, size->tensor }, { other->axis, size->axis }, false };
        for (uint32_t i = 0; i < t->rules.len; i++)
            if (memcmp(&t->rules.at[i], &rule, sizeof rule) == 0)
                return NULL;
        VEC_PUSH(t->arena, &t->rules, rule);
        return NULL;
    }
    item->axis->is_cut |= item->axis->near == NULL;
    if (tile_is_within(&item->axis->at_most, size))
        return NULL;
    AstNode *index = tile_spread(t, tile_offs(t, item->axis), item->at, rank);
    return tile_compare(t, index, AST_LT, tile_size_ast(t, size));
}

static AstNode *gather_bound(Indexing *x, const Item *item, unsigned rank)
{
    Tile *t = x->t;
    AstNode *size = tile_size_ast(t, x->tensor->sizes[item->of]);
    bool is_unsigned =
        item->value.elem != SCALAR_COUNT && scalar_info[item->value.elem].cls == SCLASS_UINT;
    AstNode *below = tile_compare(t, spread_block(t, item, rank), AST_LT, size);
    if (is_unsigned)
        return below;
    AstNode *above = tile_compare(t, spread_block(t, item, rank), AST_GE, tile_int(t, 0));
    return tile_binary(t, AST_BIT_AND, above, below);
}

static void add_term(Indexing *x, const Item *item, unsigned rank, Place *out)
{
    Tile *t = x->t;
    AstNode *index = NULL, *bound = NULL;
    if (item->kind == ITEM_NEW)
        return;
    if (item->kind == ITEM_AXIS) {
        item->axis->is_fast |= item->of > 0 && item->of + 1 == x->tensor->rank;
        index = tile_spread(t, tile_offs(t, item->axis), item->at, rank);
        bound = tensor_bound(x, item, rank);
    } else if (item->kind == ITEM_SCALAR) {
        index = scalar_index(t, x->tensor, item);
    } else {
        index = spread_block(t, item, rank);
        bound = gather_bound(x, item, rank);
    }
    AstNode *term = scaled(t, x->tensor, item->of, index);
    if (!tile_is_int(term, 0))
        out->pointer = tile_binary(t, AST_ADD, out->pointer, term);
    out->mask = tile_both(t, AST_BIT_AND, out->mask, bound);
}

/// A block over a whole axis may be as long as what stands beside it allows.
static void note_neighbours(const Value *block, unsigned at)
{
    Axis *a = block->axes[at];
    if (!a || a->loop)
        return;
    for (unsigned i = 0; i < block->rank; i++) {
        Axis *other = block->axes[i];
        bool known = !other || other == a || !other->loop || a->beside_count == TILE_MAX_RANK;
        for (unsigned k = 0; k < a->beside_count; k++)
            known = known || a->beside[k] == other;
        if (!known)
            a->beside[a->beside_count++] = other;
    }
}

bool tile_place(Tile *t, TileTensor *tensor, const AstNodes *indices, Span span, Place *out)
{
    Indexing x = { .t = t, .tensor = tensor, .span = span };
    *out = (Place){ .block = { .kind = VALUE_SCALAR, .elem = tensor->elem } };
    if (!take_items(&x, indices))
        return false;
    for (unsigned i = 0; i < x.count; i++)
        if (!place_item(&x, &x.items[i], &out->block))
            return false;
    if (out->block.rank)
        out->block.kind = VALUE_BLOCK;
    for (unsigned i = 0; i < out->block.rank; i++)
        note_neighbours(&out->block, i);
    out->pointer = tile_sym(t, tensor->name);
    out->mask = tile_mask(t, &out->block);
    for (unsigned i = 0; i < x.count; i++)
        add_term(&x, &x.items[i], out->block.rank, out);
    return true;
}

// ---- loads and stores -----------------------------------------------------------------------

static AstNode *zero_of(Tile *t, ScalarKind elem)
{
    bool is_float = elem != SCALAR_COUNT && scalar_info[elem].cls == SCLASS_FLOAT;
    return is_float ? tile_float(t, 0.0) : tile_int(t, 0);
}

static Value load(Tile *t, const TileTensor *tensor, const Place *place)
{
    Value v = place->block;
    v.ast = TILE_CALL(t, "load", place->pointer);
    if (place->mask) {
        v.ast = tile_with(t, v.ast, "mask", place->mask);
        v.ast = tile_with(t, v.ast, "other", zero_of(t, tensor->elem));
    }
    for (unsigned i = 0; i < v.rank; i++)
        if (tile_has_end(v.axes[i]))
            v.pads[i] = tile_pad(0.0);
    return v;
}

Value tile_load(Tile *t, TileTensor *tensor, const AstNodes *indices, Span span)
{
    Place place;
    if (!tile_place(t, tensor, indices, span, &place))
        return tile_error();
    return load(t, tensor, &place);
}

/// The value goes to every axis of the place and to no other.
static bool fits(Tile *t, const TileTensor *tensor, const Value *v, const Place *place, Span span)
{
    Value both[2] = { place->block, *v }, common;
    if (v->kind == VALUE_ERROR)
        return false;
    if (v->kind != VALUE_SCALAR && v->kind != VALUE_BLOCK) {
        tile_fault(t, DIAG_TYPE_MISMATCH, span, "%s cannot be stored to '%s'", tile_text(t, v),
                   tensor->name->text);
        return false;
    }
    if (!tile_broadcast(t, both, 2, &common))
        return false;
    if (common.rank == place->block.rank &&
        memcmp(common.axes, place->block.axes, sizeof common.axes) == 0)
        return true;
    tile_fault(t, DIAG_SHAPE_MISMATCH, span, "%s does not fit into %s of '%s'", tile_text(t, v),
               tile_text(t, &place->block), tensor->name->text);
    return false;
}

void tile_emit_effect(Tile *t, const TileTensor *tensor, const Value *block, AstNode *call)
{
    AstNode *statement = AST_MAKE(t->arena, EXPR_STMT, ExprStmt, t->span, .value = call);
    if (t->chunk && tile_is_chunked(block)) {
        tile_chunk_statement(t, block, statement, true);
        return;
    }
    tile_chunk_stored(t, tensor);
    tile_emit(t, statement);
}

static void store(Tile *t, TileTensor *tensor, const Place *place, const Value *v)
{
    AstNode *call = TILE_CALL(t, "store", place->pointer, v->ast);
    if (place->mask)
        call = tile_with(t, call, "mask", place->mask);
    tensor->is_stored = true;
    tile_emit_effect(t, tensor, &place->block, call);
}

void tile_store(Tile *t, TileTensor *tensor, const AstNodes *indices, const Value *v, Span span)
{
    Place place;
    if (tile_place(t, tensor, indices, span, &place) && fits(t, tensor, v, &place, span))
        store(t, tensor, &place, v);
}

// ---- load, store and atomics as calls -------------------------------------------------------

/// The indices of `load(x, [tile_m, tile_k])`: a list, a tuple, or one index.
static AstNodes indices_of(Tile *t, const AstNode *n)
{
    if (n->kind == AST_LIST)
        return ast_list(n)->items;
    if (n->kind == AST_TUPLE)
        return ast_tuple(n)->items;
    AstNode **one = ARENA_NEW(t->arena, AstNode *);
    *one = (AstNode *)(uintptr_t)n;
    return (AstNodes){ one, 1 };
}

static bool call_place(Tile *t, const TileArgs *args, unsigned index, Place *out)
{
    if (args->at[0].kind == VALUE_ERROR)
        return false;
    if (args->at[0].kind != VALUE_TENSOR) {
        tile_fault(t, DIAG_TYPE_MISMATCH, args->nodes[0]->span, "'%s' needs a tensor, got %s",
                   args->builtin->name->text, tile_text(t, &args->at[0]));
        return false;
    }
    if (!args->given[index]) {
        tile_fault(t, DIAG_BAD_CALL, args->span, "'%s' of a tensor needs its indices",
                   args->builtin->name->text);
        return false;
    }
    AstNodes indices = indices_of(t, args->nodes[index]);
    return tile_place(t, args->at[0].tensor, &indices, args->span, out);
}

/// An argument that is a further mask.
static bool add_mask(Tile *t, const Value *mask, Place *place)
{
    Value both[2] = { place->block, *mask }, common;
    if (mask->kind == VALUE_ERROR || !tile_broadcast(t, both, 2, &common))
        return false;
    place->mask = tile_both(t, AST_BIT_AND, place->mask, mask->ast);
    return true;
}

/// The keywords of `args` that the kernel's call takes as they are.
static AstNode *keep_keywords(Tile *t, const TileArgs *args, AstNode *call)
{
    static const char *const kept[] = { "cache_modifier", "eviction_policy", "sem", "scope" };
    for (unsigned i = 0; i < args->count; i++)
        for (size_t k = 0; k < sizeof kept / sizeof *kept && args->given[i]; k++)
            if (strcmp(args->names[i], kept[k]) == 0)
                call = tile_with(t, call, kept[k], args->at[i].ast);
    return call;
}

// load(x, index, extra_mask)
Value tile_load_call(Tile *t, const TileArgs *args)
{
    Place place;
    if (!call_place(t, args, 1, &place) || (args->given[2] && !add_mask(t, &args->at[2], &place)))
        return tile_error();
    Value v = load(t, args->at[0].tensor, &place);
    v.ast = keep_keywords(t, args, v.ast);
    return v;
}

// store(x, index, value, extra_mask)
Value tile_store_call(Tile *t, const TileArgs *args)
{
    Place place;
    TileTensor *x = args->at[0].tensor;
    if (!call_place(t, args, 1, &place) || (args->given[3] && !add_mask(t, &args->at[3], &place)))
        return tile_error();
    if (!args->given[2]) {
        tile_fault(t, DIAG_BAD_CALL, args->span, "'store' needs a value");
        return tile_error();
    }
    if (!fits(t, x, &args->at[2], &place, args->nodes[2]->span))
        return tile_error();
    x->is_stored = true;
    AstNode *call = TILE_CALL(t, "store", place.pointer, args->at[2].ast);
    if (place.mask)
        call = tile_with(t, call, "mask", place.mask);
    tile_emit_effect(t, x, &place.block, keep_keywords(t, args, call));
    return (Value){ .kind = VALUE_REF };
}

// atomic_add(x, index, value)
Value tile_atomic_call(Tile *t, const TileArgs *args)
{
    Place place;
    TileTensor *x = args->at[0].tensor;
    if (!call_place(t, args, 1, &place))
        return tile_error();
    if (!args->given[2]) {
        tile_fault(t, DIAG_BAD_CALL, args->span, "'%s' needs a value", args->builtin->name->text);
        return tile_error();
    }
    if (!fits(t, x, &args->at[2], &place, args->nodes[2]->span))
        return tile_error();
    x->is_stored = true;
    Value v = place.block;
    v.ast = TILE_CALL(t, args->builtin->name->text, place.pointer, args->at[2].ast);
    if (place.mask)
        v.ast = tile_with(t, v.ast, "mask", place.mask);
    v.ast = keep_keywords(t, args, v.ast);
    v.has_effect = true;
    tile_chunk_stored(t, x);
    return v;
}

// ---- subscripts -----------------------------------------------------------------------------

Value tile_subscript(Tile *t, const AstSubscript *n)
{
    Value v = tile_expr(t, n->object);
    int64_t at;
    if (v.kind == VALUE_ERROR)
        return v;
    if (v.kind == VALUE_TENSOR && t->inside)
        return tile_load(t, v.tensor, &n->indices, n->base.span);
    if (v.kind == VALUE_TENSOR) {
        tile_fault(t, DIAG_TILE_FORM, n->base.span,
                   "a tensor is read in front of the outer loop; read it inside");
        return tile_error();
    }
    if (v.kind == VALUE_BLOCK)
        return tile_reindex(t, &v, n);
    Value index = n->indices.len == 1 ? tile_expr(t, n->indices.at[0]) : tile_error();
    if (v.kind == VALUE_TUPLE && tile_constant_int(t, &index, &at) && at >= -(int64_t)v.items.len &&
        at < (int64_t)v.items.len) {
        Value item = v.items.at[at < 0 ? at + (int64_t)v.items.len : at];
        return item.size ? tile_size_value(t, item.size) : item;
    }
    if (v.kind == VALUE_TUPLE && tile_constant_int(t, &index, &at))
        tile_fault(t, DIAG_BAD_VALUE, n->base.span, "index %lld of %u values", (long long)at,
                   v.items.len);
    else if (index.kind != VALUE_ERROR || n->indices.len != 1)
        tile_fault(t, DIAG_TYPE_MISMATCH, n->base.span, "%s cannot be indexed like this",
                   tile_text(t, &v));
    return tile_error();
}

// x.size(0), x.stride(1), x.dim()
Value tile_tensor_method(Tile *t, const TileTensor *x, const AstCall *n)
{
    const AstAttribute *callee = ast_attribute(n->callee);
    const char *word = callee->name->text;
    int64_t at = -1;
    bool one = n->args.len == 1 && !n->keywords.len;
    if (one) {
        Value v = tile_expr(t, n->args.at[0]);
        one = tile_constant_int(t, &v, &at) && at >= -(int64_t)x->rank && at < (int64_t)x->rank;
        at += at < 0 ? (int64_t)x->rank : 0;
    }
    if (strcmp(word, "size") == 0 && one)
        return tile_size_value(t, x->sizes[at]);
    if (strcmp(word, "stride") == 0 && one && x->dense_axis != at) {
        t->tensors.at[x->index]->stride_used[at] = true;
        return tile_scalar(tile_sym(t, x->strides[at]), SCALAR_I32);
    }
    if (strcmp(word, "stride") == 0 && one)
        return tile_scalar(tile_int(t, 1), SCALAR_I32);
    if (strcmp(word, "size") == 0 || strcmp(word, "stride") == 0)
        tile_fault(t, DIAG_BAD_VALUE, n->base.span, "'%s' needs the number of an axis of '%s'",
                   word, x->name->text);
    else
        tile_fault(t, DIAG_UNDEFINED_NAME, callee->name_span, "the tensor '%s' has no method '%s'",
                   x->name->text, word);
    return tile_error();
}
