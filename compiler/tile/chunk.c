/// chunk.c - whole axes in chunks: for sizes that no block holds.
///
/// A kernel that takes an axis as a whole is walked a second time for this. Values that run along
/// the axis are then not computed where they are assigned; they are definitions, and every
/// reduction along the axis and every store becomes a loop over chunks in which the definitions
/// that it needs are computed anew. Where that could mean something else than computing them once,
/// the walk fails and the kernel has no such form: behind a store nothing is loaded again, and no
/// loop or branch carries a value along the axis.
#include "tile/tile_impl.h"
#include <string.h>

bool tile_is_chunked(const Value *v)
{
    for (unsigned i = 0; i < v->rank; i++)
        if (v->axes[i] && v->axes[i]->is_chunked)
            return true;
    return false;
}

static Axis *chunked_axis(const Value *v)
{
    for (unsigned i = 0; i < v->rank; i++)
        if (v->axes[i] && v->axes[i]->is_chunked)
            return v->axes[i];
    return NULL;
}

void tile_chunk_fail(Tile *t)
{
    t->chunk_failed = true;
}

const Axis *tile_chunk_axis(const Tile *t)
{
    const Axis *found = NULL;
    for (uint32_t i = 0; i < t->axes.len; i++) {
        const Axis *a = t->axes.at[i];
        if (a->loop || !a->is_open)
            continue;
        if (found || a->in_dot)
            return NULL;
        found = a;
    }
    return found;
}

// ---- definitions ----------------------------------------------------------------------------

typedef struct Mention {
    Sym name;
    bool found, loads;
} Mention;

static bool find_mention(const AstNode *n, void *cx)
{
    Mention *m = cx;
    m->found = m->found || (n->kind == AST_NAME && ast_name(n)->name == m->name);
    m->loads =
        m->loads || (n->kind == AST_ATTRIBUTE && strcmp(ast_attribute(n)->name->text, "load") == 0);
    return true;
}

static Mention mention(const AstNode *n, Sym name)
{
    Mention m = { .name = name };
    ast_walk(n, &(AstVisitor){ .enter = find_mention, .ctx = &m });
    return m;
}

bool tile_mentions(const AstNode *n, Sym name)
{
    return mention(n, name).found;
}

Value tile_chunk_define(Tile *t, Sym name, Value v)
{
    if (v.has_effect)
        tile_chunk_fail(t);
    Sym local = tile_fresh(t, name->text);
    VEC_PUSH(
        t->arena, &t->definitions,
        ((Definition){ .name = local, .value = v.ast, .span = t->span, .is_late = t->has_stored }));
    v.ast = tile_sym(t, local);
    v.is_product = false;
    return v;
}

void tile_chunk_assigned(Tile *t, Sym local)
{
    for (uint32_t i = 0; i < t->definitions.len && t->chunk; i++)
        if (mention(t->definitions.at[i].value, local).found)
            tile_chunk_fail(t);
}

void tile_chunk_stored(Tile *t, const TileTensor *tensor)
{
    // A tensor's name is that of its address, so a load from it mentions it.
    for (uint32_t i = 0; i < t->definitions.len && t->chunk; i++)
        if (mention(t->definitions.at[i].value, tensor->name).found)
            tile_chunk_fail(t);
}

void tile_chunk_close(Tile *t, uint32_t from)
{
    for (uint32_t i = from; i < t->definitions.len; i++)
        t->definitions.at[i].is_closed = true;
    t->store_loop = (StoreLoop){ 0 };
}

/// Marks the definitions that `n` needs, directly or through others. True when something is loaded.
static bool mark_needed(Tile *t, const AstNode *n, bool *needed)
{
    bool loads = mention(n, NULL).loads;
    for (uint32_t i = t->definitions.len; i-- > 0;) {
        const Definition *d = &t->definitions.at[i];
        bool found = mention(n, d->name).found;
        for (uint32_t k = i + 1; k < t->definitions.len && !found; k++)
            found = needed[k] && mention(t->definitions.at[k].value, d->name).found;
        needed[i] = found;
        bool reads = found && mention(d->value, NULL).loads;
        if (found && (d->is_closed || (reads && d->is_late)))
            tile_chunk_fail(t);
        loads = loads || reads;
    }
    return loads;
}

// ---- loops ----------------------------------------------------------------------------------

/// for start_n in range(0, N, BLOCK_N): offs_n = ...; what is needed; the statements.
static AstNode *chunk_loop(Tile *t, const Axis *axis, const bool *needed, const TileNodes *last)
{
    TileNodes body = { 0 }, *outer = t->out;
    const Span span = t->span;
    t->out = &body;
    tile_emit_offs(t, axis);
    for (uint32_t i = 0; i < t->definitions.len; i++) {
        const Definition *d = &t->definitions.at[i];
        t->span = d->span;
        if (needed[i])
            tile_emit_assign(t, tile_sym(t, d->name), d->value);
    }
    t->span = span;
    for (uint32_t i = 0; i < last->len; i++)
        tile_emit(t, last->at[i]);
    t->out = outer;
    AstNode *args[] = { tile_int(t, 0), axis->end, axis->block };
    return AST_MAKE(t->arena, FOR, For, t->span, .target = axis->start,
                    .iter = tile_call(t, tile_name(t, "range"), 3, args),
                    .body = { body.at, body.len });
}

void tile_chunk_statement(Tile *t, const Value *v, AstNode *statement, bool stores)
{
    StoreLoop *before = &t->store_loop;
    bool *needed = ARENA_NEW_N(t->arena, bool, t->definitions.len + 1);
    bool loads = mark_needed(t, statement, needed);
    bool joins = stores && before->out == t->out && t->out->len && before->at + 1 == t->out->len;
    if (loads && t->has_stored && !joins)
        tile_chunk_fail(t);
    TileNodes last = { 0 };
    for (uint32_t i = 0; joins && i < before->stores.len; i++)
        VEC_PUSH(t->arena, &last, before->stores.at[i]);
    VEC_PUSH(t->arena, &last, statement);
    for (uint32_t i = 0; joins && i < before->defined; i++)
        needed[i] = needed[i] || before->has[i];
    AstNode *loop = chunk_loop(t, chunked_axis(v), needed, &last);
    if (joins)
        t->out->at[before->at] = loop;
    else
        tile_emit(t, loop);
    t->has_stored = t->has_stored || stores;
    if (stores)
        t->store_loop = (StoreLoop){ t->out, t->out->len - 1, last, needed, t->definitions.len };
}

// ---- reductions -----------------------------------------------------------------------------

static AstNode *block_shape(Tile *t, const Value *v)
{
    AstNode *items[TILE_MAX_RANK];
    for (unsigned i = 0; i < v->rank; i++)
        items[i] = v->axes[i] ? v->axes[i]->block : tile_int(t, 1);
    return tile_list(t, AST_TUPLE, v->rank, items);
}

Value tile_chunk_accumulate(Tile *t, const Value *v, AstNode *masked, AstNode *identity,
                            ScalarKind kind, const char *combine)
{
    Value out = tile_block_like(v, NULL, kind);
    Sym sum = tile_fresh(t, "acc");
    AstNode *dtype = tile_nl(t, scalar_info[kind].name);
    AstNode *start =
        combine ? tile_with(t, TILE_CALL(t, "full", block_shape(t, v), identity), "dtype", dtype)
                : tile_with(t, TILE_CALL(t, "zeros", block_shape(t, v)), "dtype", dtype);
    tile_emit_assign(t, tile_sym(t, sum), start);
    AstNode *step, *acc = tile_sym(t, sum);
    if (combine) {
        AstNode **targets = ARENA_NEW(t->arena, AstNode *);
        *targets = acc;
        step = AST_MAKE(t->arena, ASSIGN, Assign, t->span, .targets = { targets, 1 },
                        .value = TILE_CALL(t, combine, acc, masked));
    } else {
        step = AST_MAKE(t->arena, AUG_ASSIGN, AugAssign, t->span, .op = AST_ADD, .target = acc,
                        .value = masked);
    }
    tile_chunk_statement(t, v, step, false);
    // What is left is an ordinary block: its lanes all count, and none runs along the size any
    // more.
    out.ast = acc;
    return out;
}
