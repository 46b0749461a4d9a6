/// shape.c - blocks that are made, transposed, given new axes and multiplied as matrices.
#include "tile/tile_impl.h"
#include <string.h>

// ---- constant blocks ------------------------------------------------------------------------

/// One extent of `zeros([tile_m, x.shape[1], 16])`.
static bool add_extent(Tile *t, const Value *v, Span span, Value *out, AstNode **item)
{
    int64_t n;
    if (v->kind == VALUE_ERROR)
        return false;
    if (out->rank == TILE_MAX_RANK) {
        tile_fault(t, DIAG_SHAPE_MISMATCH, span, "a block has at most %d axes", TILE_MAX_RANK);
        return false;
    }
    Axis *axis = NULL;
    if (v->kind == VALUE_TILE) {
        axis = v->tile;
    } else if (v->kind == VALUE_SCALAR && v->size) {
        axis = tile_whole(t, v->size, t->tensors.at[v->size->tensor], v->size->axis);
    } else if (tile_constant_int(t, v, &n) && n >= 1 && n <= TYPE_MAX_NUMEL) {
        axis = n == 1 ? NULL : tile_plain_axis(t, n);
    } else {
        tile_fault(t, DIAG_TYPE_MISMATCH, span,
                   "an extent is a tile, a size of a tensor or a number, got %s", tile_text(t, v));
        return false;
    }
    *item = axis ? axis->block : tile_int(t, 1);
    out->axes[out->rank++] = axis;
    return true;
}

bool tile_take_extents(Tile *t, const TileArgs *args, Value *out, AstNode **shape)
{
    const Value *v = &args->at[0];
    const Value *at = v->kind == VALUE_TUPLE ? v->items.at : v;
    uint32_t n = v->kind == VALUE_TUPLE ? v->items.len : 1;
    AstNode *items[TILE_MAX_RANK + 1];
    *out = (Value){ .kind = n ? VALUE_BLOCK : VALUE_SCALAR };
    for (uint32_t i = 0; i < n; i++) {
        AstNode *item = NULL;
        if (!add_extent(t, &at[i], args->nodes[0]->span, out, &item))
            return false;
        items[i] = item;
    }
    *shape = tile_list(t, AST_TUPLE, n, items);
    return true;
}

static ScalarKind dtype_of(const Value *v)
{
    return v->kind == VALUE_REF && v->literal.kind == CONST_DTYPE &&
                   v->literal.v.dtype->kind == TYPE_SCALAR
               ? v->literal.v.dtype->scalar
               : SCALAR_COUNT;
}

static void fill_pads(Value *v, const ConstVal *c)
{
    for (unsigned i = 0; i < v->rank; i++) {
        if (c->kind == CONST_INT)
            v->pads[i] = tile_pad((double)c->v.i);
        else if (c->kind == CONST_FLOAT)
            v->pads[i] = tile_pad(c->v.f);
    }
}

// zeros(shape, dtype), ones(shape, dtype), full(shape, value, dtype)
Value tile_filled(Tile *t, const TileArgs *args)
{
    BuiltinId id = args->builtin->id;
    unsigned last = id == BUILTIN_FULL ? 2 : 1;
    Value out;
    AstNode *shape;
    if (!tile_take_extents(t, args, &out, &shape))
        return tile_error();
    out.elem = dtype_of(&args->at[last]);
    ConstVal value = const_int(id == BUILTIN_ONES);
    if (id == BUILTIN_FULL)
        value = args->at[1].is_weak ? args->at[1].literal : const_error();
    fill_pads(&out, &value);
    AstNode *dtype = args->at[last].ast;
    if (id == BUILTIN_ZEROS)
        out.ast = tile_with(t, TILE_CALL(t, "zeros", shape), "dtype", dtype);
    else
        out.ast = tile_with(
            t, TILE_CALL(t, "full", shape, id == BUILTIN_ONES ? tile_int(t, 1) : args->at[1].ast),
            "dtype", dtype);
    return out;
}

Value tile_filled_like(Tile *t, const TileArgs *args)
{
    const Value *v = &args->at[0];
    if (v->kind != VALUE_BLOCK) {
        if (v->kind != VALUE_ERROR)
            tile_fault(t, DIAG_TYPE_MISMATCH, args->nodes[0]->span, "'%s' needs a block, got %s",
                       args->builtin->name->text, tile_text(t, v));
        return tile_error();
    }
    Value out = tile_block_like(v, tile_pass_call(t, args), v->elem);
    ConstVal zero = const_int(0);
    fill_pads(&out, &zero);
    return out;
}

// ---- axes in another order ------------------------------------------------------------------

static Value permuted(Tile *t, const Value *v, const unsigned *order, AstNode *ast)
{
    Value out = { .kind = VALUE_BLOCK, .ast = ast, .elem = v->elem, .rank = v->rank };
    (void)t;
    for (unsigned i = 0; i < v->rank; i++) {
        out.axes[i] = v->axes[order[i]];
        out.pads[i] = v->pads[order[i]];
    }
    return out;
}

Value tile_transpose_last(Tile *t, const Value *v, Span span)
{
    unsigned order[TILE_MAX_RANK] = { 0, 1, 2, 3, 4 };
    if (v->rank < 2) {
        tile_fault(t, DIAG_SHAPE_MISMATCH, span, "%s has no two axes to swap", tile_text(t, v));
        return tile_error();
    }
    order[v->rank - 1] = v->rank - 2;
    order[v->rank - 2] = v->rank - 1;
    return permuted(t, v, order, TILE_CALL(t, "trans", v->ast));
}

/// The axes of permute(x, 1, 0) or permute(x, (1, 0)).
static bool take_order(Tile *t, const TileArgs *args, unsigned *order)
{
    const Value *list = args->rest.at;
    uint32_t n = args->rest.len;
    bool seen[TILE_MAX_RANK] = { false };
    if (n == 1 && list[0].kind == VALUE_TUPLE) {
        n = list[0].items.len;
        list = list[0].items.at;
    }
    bool ok = n == args->at[0].rank;
    for (uint32_t i = 0; i < n && ok; i++) {
        int64_t at;
        ok = tile_constant_int(t, &list[i], &at) && at >= -(int64_t)n && at < (int64_t)n;
        if (!ok)
            break;
        at += at < 0 ? (int64_t)n : 0;
        ok = !seen[at];
        seen[at] = true;
        order[i] = (unsigned)at;
    }
    if (!ok)
        tile_fault(t, DIAG_BAD_VALUE, args->span, "'%s' needs each of the %u axes once",
                   args->builtin->name->text, args->at[0].rank);
    return ok;
}

Value tile_transposed(Tile *t, const TileArgs *args)
{
    unsigned order[TILE_MAX_RANK];
    if (args->at[0].kind != VALUE_BLOCK) {
        tile_fault(t, DIAG_TYPE_MISMATCH, args->span, "'%s' needs a block, got %s",
                   args->builtin->name->text, tile_text(t, &args->at[0]));
        return tile_error();
    }
    if (!args->rest.len)
        return tile_transpose_last(t, &args->at[0], args->span);
    return take_order(t, args, order) ? permuted(t, &args->at[0], order, tile_pass_call(t, args))
                                      : tile_error();
}

Value tile_reindex(Tile *t, const Value *v, const AstSubscript *n)
{
    Value out = { .kind = VALUE_BLOCK, .elem = v->elem };
    unsigned next = 0;
    for (uint32_t i = 0; i < n->indices.len; i++) {
        const AstNode *index = n->indices.at[i];
        bool whole = index->kind == AST_SLICE && !ast_slice(index)->lower &&
                     !ast_slice(index)->upper && !ast_slice(index)->step;
        if (index->kind != AST_NONE && !whole) {
            tile_fault(t, DIAG_NOT_IN_LANGUAGE, index->span,
                       "blocks cannot be indexed; only None and ':' are allowed");
            return tile_error();
        }
        if (out.rank == TILE_MAX_RANK || (whole && next == v->rank)) {
            tile_fault(t, DIAG_SHAPE_MISMATCH, n->base.span, "too many indices for %s",
                       tile_text(t, v));
            return tile_error();
        }
        if (whole) {
            out.axes[out.rank] = v->axes[next];
            out.pads[out.rank] = v->pads[next++];
        }
        out.rank++;
    }
    if (next != v->rank) {
        tile_fault(t, DIAG_SHAPE_MISMATCH, n->base.span, "too few indices for %s", tile_text(t, v));
        return tile_error();
    }
    out.ast = AST_MAKE(t->arena, SUBSCRIPT, Subscript, n->base.span, .object = v->ast,
                       .is_tuple = n->is_tuple, .indices = n->indices);
    return out;
}

// ---- matrix products ------------------------------------------------------------------------

static bool is_matrix(Tile *t, const Value *v, Span span)
{
    if (v->kind == VALUE_BLOCK && v->rank >= 2)
        return true;
    if (v->kind == VALUE_ERROR)
        return false;
    tile_fault(t, DIAG_SHAPE_MISMATCH, span, "'@' needs blocks of two axes, got %s",
               tile_text(t, v));
    return false;
}

/// The factor with zeros in the lanes beyond the axis that is summed over.
static AstNode *factor(Tile *t, const Value *v, unsigned at)
{
    AstNode *mask = NULL;
    bool holds = v->pads[at].known && v->pads[at].value == 0.0;
    if (!holds)
        mask = tile_where_mask(t, v->axes[at], at, v->rank);
    return mask ? TILE_CALL(t, "where", mask, v->ast, tile_float(t, 0.0)) : v->ast;
}

static bool inner_fits(Tile *t, const Value *a, const Value *b, Span span)
{
    Axis *x = a->axes[a->rank - 1], *y = b->axes[b->rank - 2];
    if (x && x == y)
        return true;
    if (x && y && !x->loop && !y->loop && x->size && y->size && x->size->fixed < 0 &&
        y->size->fixed < 0 && !(x->size->is_named && y->size->is_named)) {
        tile_join_sizes(t, x->size, y->size);
        return true;
    }
    tile_fault(t, DIAG_SHAPE_MISMATCH, span, "inner axes of '@' differ: '%s' and '%s'",
               x ? x->text : "1", y ? y->text : "1");
    return false;
}

static ScalarKind product_kind(const Value *a, const Value *b)
{
    if (a->elem == SCALAR_COUNT || b->elem == SCALAR_COUNT)
        return SCALAR_COUNT;
    if (scalar_info[a->elem].cls == SCLASS_SINT || scalar_info[a->elem].cls == SCLASS_UINT)
        return SCALAR_I32;
    return a->elem == SCALAR_F64 ? SCALAR_F64 : SCALAR_F32;
}

Value tile_matmul(Tile *t, const Value *a, const Value *b, Span span)
{
    if (!is_matrix(t, a, span) || !is_matrix(t, b, span) || !inner_fits(t, a, b, span))
        return tile_error();
    if (a->rank != b->rank || memcmp(a->axes, b->axes, (a->rank - 2) * sizeof a->axes[0]) != 0) {
        tile_fault(t, DIAG_SHAPE_MISMATCH, span, "%s and %s have other axes in front",
                   tile_text(t, a), tile_text(t, b));
        return tile_error();
    }
    t->has_dot = true;
    if (t->chunk && (tile_is_chunked(a) || tile_is_chunked(b)))
        tile_chunk_fail(t);
    if (a->elem != SCALAR_COUNT)
        t->dot_bits = scalar_info[a->elem].bits;
    Value out = { .kind = VALUE_BLOCK, .elem = product_kind(a, b), .rank = a->rank };
    memcpy(out.axes, a->axes, sizeof out.axes);
    out.axes[a->rank - 1] = b->axes[b->rank - 1];
    for (unsigned i = a->rank - 2; i < a->rank; i++) {
        if (out.axes[i])
            out.axes[i]->in_dot = true;
        if (a->axes[i])
            a->axes[i]->in_dot = true;
    }
    out.factors[0] = factor(t, a, a->rank - 1);
    out.factors[1] = factor(t, b, b->rank - 2);
    out.is_product = true;
    out.ast = TILE_CALL(t, "dot", out.factors[0], out.factors[1]);
    return out;
}

// dot(a, b, acc=None, ...), matmul(a, b)
Value tile_matmul_call(Tile *t, const TileArgs *args)
{
    Value v = tile_matmul(t, &args->at[0], &args->at[1], args->span);
    if (v.kind == VALUE_ERROR || args->builtin->id == BUILTIN_MATMUL)
        return v;
    bool acc = args->given[2] && args->at[2].kind == VALUE_BLOCK;
    if (acc &&
        (args->at[2].rank != v.rank || memcmp(args->at[2].axes, v.axes, sizeof v.axes) != 0)) {
        tile_fault(t, DIAG_SHAPE_MISMATCH, args->nodes[2]->span,
                   "the accumulator is %s, the product %s", tile_text(t, &args->at[2]),
                   tile_text(t, &v));
        return tile_error();
    }
    v.ast = acc ? TILE_CALL(t, "dot", v.factors[0], v.factors[1], args->at[2].ast) : v.ast;
    v.is_product = !acc;
    for (uint32_t i = 3; i < args->count; i++) {
        if (!args->given[i])
            continue;
        v.ast = tile_with(t, v.ast, args->names[i], args->at[i].ast);
        v.is_product = false;
    }
    return v;
}
