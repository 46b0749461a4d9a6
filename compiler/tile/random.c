/// random.c - random numbers in tile kernels: rand(seed, offsets) as in kernels of blocks, or
/// rand([tile_m, tile_n], seed), where the offset of an element is its place in the whole.
#include "tile/tile_impl.h"

bool tile_is_shape(Tile *t, const AstNode *n)
{
    if (n->kind == AST_LIST || n->kind == AST_TUPLE)
        return true;
    const Variable *var = n->kind == AST_NAME ? tile_find(t, ast_name(n)->name) : NULL;
    return var && var->value.kind == VALUE_TILE;
}

static ScalarKind kind_of(BuiltinId id)
{
    return id == BUILTIN_RANDINT || id == BUILTIN_RANDINT4X ? SCALAR_U32 : SCALAR_F32;
}

static Value four_results(Tile *t, const Value *like, AstNode *call)
{
    Value out = { .kind = VALUE_TUPLE, .items = { ARENA_NEW_N(t->arena, Value, 4), 4 } };
    AstNode *names[4];
    for (unsigned i = 0; i < 4; i++) {
        names[i] = tile_sym(t, tile_fresh(t, "random"));
        out.items.at[i] = *like;
        out.items.at[i].ast = names[i];
    }
    tile_emit_assign(t, tile_list(t, AST_TUPLE, 4, names), call);
    out.ast = tile_list(t, AST_TUPLE, 4, names);
    return out;
}

/// rand(seed, offset) and its kin: one number for each offset.
static Value at_offsets(Tile *t, const TileArgs *args)
{
    const BuiltinId id = args->builtin->id;
    const bool four = id == BUILTIN_RAND4X || id == BUILTIN_RANDN4X || id == BUILTIN_RANDINT4X;
    Value out;
    for (unsigned i = 0; i < 2; i++) {
        if (args->at[i].kind == VALUE_SCALAR || args->at[i].kind == VALUE_BLOCK)
            continue;
        if (args->at[i].kind != VALUE_ERROR)
            tile_fault(t, DIAG_TYPE_MISMATCH, args->nodes[i]->span, "'%s' needs numbers, got %s",
                       args->builtin->name->text, tile_text(t, &args->at[i]));
        return tile_error();
    }
    if (!tile_broadcast(t, args->at, 2, &out))
        return tile_error();
    out.elem = kind_of(id);
    out.ast = tile_pass_call(t, args);
    if (t->chunk && four && tile_is_chunked(&out))
        tile_chunk_fail(t);
    return four ? four_results(t, &out, out.ast) : out;
}

/// How many indices an axis has in all.
static AstNode *length_of(Tile *t, const Axis *a)
{
    if (a->fixed)
        return tile_int(t, a->fixed);
    return a->begin ? tile_binary(t, AST_SUB, a->end, a->begin) : a->end;
}

/// The row-major number of each element among all that the tiles run over.
static AstNode *places(Tile *t, const Value *shape)
{
    AstNode *place = NULL;
    for (unsigned i = 0; i < shape->rank; i++) {
        Axis *a = shape->axes[i];
        if (!a)
            continue;
        AstNode *index = tile_spread(t, tile_offs(t, a), i, shape->rank);
        if (place)
            place = tile_binary(t, AST_MUL, place, length_of(t, a));
        place = tile_both(t, AST_ADD, place, index);
    }
    return place ? place : tile_int(t, 0);
}

// rand(shape, seed), randn(shape, seed), randint(shape, low, high, seed)
static Value of_shape(Tile *t, const TileArgs *args)
{
    const BuiltinId id = args->builtin->id;
    const unsigned seed = id == BUILTIN_RANDINT ? 3 : 1;
    Value out;
    AstNode *shape;
    for (unsigned i = 1; i <= seed; i++) {
        if (args->given[i] && args->at[i].kind == VALUE_SCALAR)
            continue;
        tile_fault(t, DIAG_BAD_CALL, args->span, "'%s' of a shape needs the number '%s'",
                   args->builtin->name->text, args->names[i]);
        return tile_error();
    }
    if (!tile_take_extents(t, args, &out, &shape))
        return tile_error();
    out.elem = kind_of(id);
    out.ast = TILE_CALL(t, args->builtin->name->text, args->at[seed].ast, places(t, &out));
    if (id != BUILTIN_RANDINT)
        return out;
    AstNode *range = tile_binary(t, AST_SUB, args->at[2].ast, args->at[1].ast);
    AstNode *to = TILE_CALL(t, "cast", range, tile_nl(t, "uint32"));
    AstNode *within = tile_binary(t, AST_MOD, out.ast, to);
    out.elem = SCALAR_I32;
    out.ast =
        tile_binary(t, AST_ADD, TILE_CALL(t, "cast", within, tile_nl(t, "int32")), args->at[1].ast);
    return out;
}

Value tile_random(Tile *t, const TileArgs *args)
{
    return args->of_shape ? of_shape(t, args) : at_offsets(t, args);
}
