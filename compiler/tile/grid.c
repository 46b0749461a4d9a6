/// grid.c - the outer loop as a launch grid, and the block sizes as constexpr parameters.
///
/// One or two outer tiles take a program axis each. More than two are dealt out along one axis, the
/// last tile fastest. The two tiles of a matrix product are dealt out in groups of GROUP rows, so
/// that programs that run together share what they read.
#include "tile/tile_impl.h"
#include <string.h>

// ---- program ids ----------------------------------------------------------------------------

/// How many tiles there are along an axis.
static AstNode *tile_count(Tile *t, const Axis *a)
{
    AstNode *length = a->begin ? tile_binary(t, AST_SUB, a->end, a->begin) : a->end;
    return tile_is_int(a->block, 1) ? length : TILE_CALL(t, "cdiv", length, a->block);
}

static TileGrid grid_kind(const Tile *t)
{
    uint32_t n = t->grid.len;
    if (n >= 2 && t->grid.at[n - 1]->in_dot && t->grid.at[n - 2]->in_dot)
        return TILE_GRID_GROUPS;
    return n > 2 ? TILE_GRID_FLAT : TILE_GRID_AXES;
}

void tile_place_ids(Tile *t)
{
    t->span = t->outer->iter->span;
    if (t->grid_kind == TILE_GRID_GROUPS)
        t->group = tile_fresh(t, "GROUP");
    for (uint32_t i = 0; i < t->grid.len; i++) {
        Axis *a = t->grid.at[i];
        a->id =
            t->grid_kind == TILE_GRID_AXES && !t->longest_first[i]
                ? TILE_CALL(t, "program_id", tile_int(t, i))
                : tile_sym(t, tile_fresh(t, arena_printf(t->arena, "pid_%s", tile_stem(a->text))));
        AstNode *at = tile_is_int(a->block, 1) ? a->id : tile_binary(t, AST_MUL, a->id, a->block);
        a->start = tile_both(t, AST_ADD, a->begin, at);
    }
}

bool tile_learn_grid(Tile *t)
{
    TileGrid kind = grid_kind(t);
    bool changed = kind != t->grid_kind;
    t->grid_kind = kind;
    return changed;
}

static AstNode *count_name(Tile *t, const Axis *a)
{
    AstNode *name =
        tile_sym(t, tile_fresh(t, arena_printf(t->arena, "num_%s", tile_stem(a->text))));
    tile_emit_assign(t, name, tile_count(t, a));
    return name;
}

/// The number of a tile when the last one comes first.
static AstNode *from_last(Tile *t, AstNode *count, AstNode *id)
{
    return tile_binary(t, AST_SUB, tile_binary(t, AST_SUB, count, tile_int(t, 1)), id);
}

/// The numbers of the axes up to `to`, the last fastest, out of `pid`.
static void emit_flat(Tile *t, AstNode *pid, AstNode **counts, uint32_t to)
{
    AstNode *below = NULL;
    for (uint32_t i = to; i-- > 0;) {
        AstNode *id = below ? tile_binary(t, AST_FLOOR_DIV, pid, below) : pid;
        if (i)
            id = tile_binary(t, AST_MOD, id, counts[i]);
        if (t->longest_first[i] && counts[i])
            id = from_last(t, counts[i], id);
        tile_emit_assign(t, t->grid.at[i]->id, id);
        below = i ? tile_both(t, AST_MUL, below, counts[i]) : below;
    }
}

/// The last two axes in groups of GROUP rows.
static void emit_groups(Tile *t, AstNode *pid, AstNode **counts, uint32_t n)
{
    AstNode *rows = counts[n - 2], *columns = counts[n - 1];
    if (n > 2) {
        AstNode *plane = tile_sym(t, tile_fresh(t, "plane"));
        tile_emit_assign(t, plane, tile_binary(t, AST_MUL, rows, columns));
        emit_flat(t, tile_binary(t, AST_FLOOR_DIV, pid, plane), counts, n - 2);
        tile_emit_assign(t, pid, tile_binary(t, AST_MOD, pid, plane));
    }
    AstNode *args[] = { tile_binary(t, AST_FLOOR_DIV, pid, columns),
                        tile_binary(t, AST_MOD, pid, columns), rows, columns,
                        tile_sym(t, t->group) };
    AstNode *ids[] = { t->grid.at[n - 2]->id, t->grid.at[n - 1]->id };
    tile_emit_assign(t, tile_list(t, AST_TUPLE, 2, ids),
                     tile_call(t, tile_nl(t, "swizzle2d"), 5, args));
}

void tile_emit_offs(Tile *t, const Axis *a)
{
    AstNode *range = TILE_CALL(t, "arange", tile_int(t, 0), a->block);
    tile_emit_assign(t, tile_sym(t, a->offs), tile_both(t, AST_ADD, a->start, range));
}

/// BLOCK_D: nl.constexpr = nl.next_power_of_2(D)
static void emit_block(Tile *t, const Axis *a)
{
    tile_emit(t, AST_MAKE(t->arena, ANN_ASSIGN, AnnAssign, t->span, .target = a->block,
                          .annotation = tile_nl(t, "constexpr"),
                          .value = TILE_CALL(t, "next_power_of_2", a->end)));
}

void tile_emit_ids(Tile *t)
{
    t->span = t->outer->iter->span;
    if (t->grid_kind != TILE_GRID_AXES) {
        AstNode *counts[TILE_MAX_RANK] = { NULL };
        AstNode *pid = tile_sym(t, tile_fresh(t, "pid"));
        tile_emit_assign(t, pid, TILE_CALL(t, "program_id", tile_int(t, 0)));
        // Nobody asks how many there are of the slowest, but for the rows of a group.
        for (uint32_t i = t->grid_kind == TILE_GRID_GROUPS && t->grid.len == 2 ? 0 : 1;
             i < t->grid.len; i++)
            counts[i] = count_name(t, t->grid.at[i]);
        if (t->grid_kind == TILE_GRID_GROUPS)
            emit_groups(t, pid, counts, t->grid.len);
        else
            emit_flat(t, pid, counts, t->grid.len);
    }
    for (uint32_t i = 0; i < t->grid.len && t->grid_kind == TILE_GRID_AXES; i++)
        if (t->longest_first[i])
            tile_emit_assign(t, t->grid.at[i]->id,
                             from_last(t, TILE_CALL(t, "num_programs", tile_int(t, i)),
                                       TILE_CALL(t, "program_id", tile_int(t, i))));
    for (uint32_t i = 0; i < t->grid.len; i++)
        if (t->grid.at[i]->offs_used)
            tile_emit_offs(t, t->grid.at[i]);
    for (uint32_t i = 0; i < t->axes.len; i++)
        if (t->axes.at[i]->is_named)
            emit_block(t, t->axes.at[i]);
    for (uint32_t i = 0; i < t->axes.len; i++)
        if (!t->axes.at[i]->loop && t->axes.at[i]->offs_used && !t->axes.at[i]->is_chunked)
            tile_emit_offs(t, t->axes.at[i]);
}

// ---- the grid expression --------------------------------------------------------------------

typedef struct Mentions {
    Tile *t;
    const Function *f;
    bool *found;
} Mentions;

static bool find_mentions(const AstNode *n, void *cx)
{
    Mentions *m = cx;
    for (uint32_t i = 0; n->kind == AST_NAME && i < m->f->param_count; i++)
        if (m->f->params[i].name == ast_name(n)->name)
            m->found[i] = true;
    return true;
}

AstNode *tile_grid_expr(Tile *t, const Function *f)
{
    AstNode *extents[TILE_MAX_RANK];
    uint32_t n = t->grid.len;
    t->span = t->outer->iter->span;
    for (uint32_t i = 0; i < n; i++)
        extents[i] = tile_count(t, t->grid.at[i]);
    for (uint32_t i = 1; i < n && t->grid_kind != TILE_GRID_AXES; i++)
        extents[0] = tile_binary(t, AST_MUL, extents[0], extents[i]);
    AstNode *body = tile_list(t, AST_TUPLE, t->grid_kind == TILE_GRID_AXES ? n : 1, extents);
    Mentions m = { t, f, ARENA_NEW_N(t->arena, bool, f->param_count + 1) };
    ast_walk(body, &(AstVisitor){ .enter = find_mentions, .ctx = &m });
    TileNodes params = { 0 };
    for (uint32_t i = 0; i < f->param_count; i++)
        if (m.found[i])
            VEC_PUSH(t->arena, &params,
                     AST_MAKE(t->arena, PARAM, Param, t->span, .name = f->params[i].name));
    return AST_MAKE(t->arena, LAMBDA, Lambda, t->span, .params = { params.at, params.len },
                    .body = body);
}

// ---- block sizes ----------------------------------------------------------------------------

static bool is_outer(const Tile *t, const Axis *a)
{
    for (uint32_t i = 0; i < t->grid.len; i++)
        if (t->grid.at[i] == a)
            return true;
    return false;
}

/// Some other axis is one along which elements lie side by side.
static bool other_is_fast(const Tile *t, const Axis *a)
{
    for (uint32_t i = 0; i < t->axes.len; i++)
        if (t->axes.at[i] != a && t->axes.at[i]->is_fast)
            return true;
    return false;
}

static bool takes_whole(const Tile *t)
{
    for (uint32_t i = 0; i < t->axes.len; i++)
        if (!t->axes.at[i]->loop && t->axes.at[i]->is_open)
            return true;
    return false;
}

/// Where a search begins, and what is compiled without one.
int64_t tile_first_block(const Tile *t, const Axis *a)
{
    if (a->in_dot)
        return is_outer(t, a) ? 128 : t->dot_bits >= 32 ? 32 : t->dot_bits == 8 ? 128 : 64;
    if (!a->loop)
        return MODULE_ROW_BLOCK;
    if (a->is_fast && takes_whole(t))
        return 32;
    if (a->is_fast)
        return other_is_fast(t, a) || t->grid.len > 1 ? 128 : 1024;
    if (t->has_reduce || t->has_dot || takes_whole(t))
        return 1;
    return other_is_fast(t, a) ? 8 : 1024;
}

void tile_open_blocks(Tile *t, Function *f)
{
    for (uint32_t i = 0; i < t->axes.len; i++) {
        const Axis *a = t->axes.at[i];
        if (!a->is_open)
            continue;
        Tunable open = { .name = ast_name(a->block)->name,
                         .kind = TUNE_POWER,
                         .lo = a->in_dot ? 16 : 1,
                         .hi = a->in_dot ? 256 : 16384,
                         .start = tile_first_block(t, a) };
        VEC_PUSH(t->arena, &f->tunables, open);
    }
    tile_open_registered(t, f);
    if (t->loop_param)
        VEC_PUSH(t->arena, &f->tunables,
                 ((Tunable){ .name = t->loop_param, .kind = TUNE_INT, .lo = 0, .hi = 1 }));
    if (t->grid_kind == TILE_GRID_GROUPS)
        VEC_PUSH(
            t->arena, &f->tunables,
            ((Tunable){ .name = t->group, .kind = TUNE_POWER, .lo = 1, .hi = 64, .start = 8 }));
}
