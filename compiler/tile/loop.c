/// loop.c - loops: over tiles, over ranges, while.
///
/// What a block holds beyond the ends of its axes may change from round to round, so a loop takes
/// nothing for known that its body does not keep. That is learned: the body is walked with what is
/// known in front of the loop; where the end of the body says otherwise, the loop is marked, and
/// the kernel is walked again.
#include "tile/tile_impl.h"
#include <string.h>

// ---- what a loop keeps ----------------------------------------------------------------------

typedef struct Assigned {
    Tile *t;
    VEC(Sym) names;
    bool jumps;
} Assigned;

static void add_target(Assigned *a, const AstNode *n)
{
    if (n->kind == AST_NAME)
        VEC_PUSH(a->t->arena, &a->names, ast_name(n)->name);
    AstNodes items = n->kind == AST_TUPLE  ? ast_tuple(n)->items
                     : n->kind == AST_LIST ? ast_list(n)->items
                                           : (AstNodes){ 0 };
    for (uint32_t i = 0; i < items.len; i++)
        add_target(a, items.at[i]);
}

static bool collect(const AstNode *n, void *cx)
{
    Assigned *a = cx;
    if (n->kind == AST_ASSIGN)
        for (uint32_t i = 0; i < ast_assign(n)->targets.len; i++)
            add_target(a, ast_assign(n)->targets.at[i]);
    else if (n->kind == AST_AUG_ASSIGN)
        add_target(a, ast_aug_assign(n)->target);
    else if (n->kind == AST_ANN_ASSIGN)
        add_target(a, ast_ann_assign(n)->target);
    else if (n->kind == AST_FOR)
        add_target(a, ast_for(n)->target);
    a->jumps = a->jumps || n->kind == AST_BREAK || n->kind == AST_CONTINUE;
    return true;
}

static LoopPads *find_pads(Tile *t, const AstNode *loop, Sym name)
{
    for (uint32_t i = 0; i < t->pads.len; i++)
        if (t->pads.at[i].loop == loop && t->pads.at[i].name == name)
            return &t->pads.at[i];
    return VEC_PUSH(t->arena, &t->pads, ((LoopPads){ .loop = loop, .name = name }));
}

typedef struct LoopState {
    const AstNode *loop;
    Assigned assigned;
    Variables before;  // what the loop carries, as the body sees it first
    uint32_t defined;  // definitions in front of it
} LoopState;

static Assigned assigned_in(Tile *t, AstNodes body)
{
    Assigned a = { .t = t };
    for (uint32_t i = 0; i < body.len; i++)
        ast_walk(body.at[i], &(AstVisitor){ .enter = collect, .ctx = &a });
    return a;
}

static void hold_sizes(Tile *t, const Assigned *a)
{
    for (uint32_t i = 0; i < a->names.len; i++) {
        Variable *var = tile_find(t, a->names.at[i]);
        if (!var || var->value.kind != VALUE_SCALAR)
            continue;
        if (var->value.size) {
            AstNode *local = tile_sym(t, tile_local(t, var->name));
            tile_emit_assign(t, local, var->value.ast);
            var->value = tile_scalar(local, SCALAR_I32);
        }
        var->value.at_most = (SizeBounds){ .tile = NULL };
    }
}

void tile_hold_sizes(Tile *t, AstNodes body)
{
    const Assigned a = assigned_in(t, body);
    hold_sizes(t, &a);
}

static void loop_begin(Tile *t, const AstNode *loop, AstNodes body, LoopState *s)
{
    *s = (LoopState){ .loop = loop, .assigned = assigned_in(t, body) };
    hold_sizes(t, &s->assigned);
    for (uint32_t i = 0; i < s->assigned.names.len; i++) {
        Variable *var = tile_find(t, s->assigned.names.at[i]);
        if (!var)
            continue;
        const LoopPads *pads = find_pads(t, loop, var->name);
        for (unsigned k = 0; k < var->value.rank; k++)
            if (pads->lost[k] || s->assigned.jumps)
                var->value.pads[k] = (Pad){ 0 };
        if (t->chunk && tile_is_chunked(&var->value))
            tile_chunk_fail(t);
        VEC_PUSH(t->arena, &s->before, *var);
    }
    s->defined = t->definitions.len;
}

static void loop_end(Tile *t, const LoopState *s)
{
    tile_chunk_close(t, s->defined);
    for (uint32_t i = 0; i < s->before.len; i++) {
        const Value *was = &s->before.at[i].value;
        Variable *var = tile_find(t, s->before.at[i].name);
        Value *is = &var->value;
        if (was->kind == VALUE_ERROR || is->kind == VALUE_ERROR)
            continue;
        if (is->kind != was->kind || is->rank != was->rank ||
            memcmp(is->axes, was->axes, sizeof is->axes) != 0) {
            tile_fault(t, DIAG_LOOP_TYPE, s->loop->span,
                       "'%s' is %s in front of the loop and %s at its end", var->name->text,
                       tile_text(t, was), tile_text(t, is));
            continue;
        }
        LoopPads *pads = find_pads(t, s->loop, var->name);
        for (unsigned k = 0; k < is->rank; k++) {
            bool kept =
                is->pads[k].known && was->pads[k].known && is->pads[k].value == was->pads[k].value;
            if (was->pads[k].known && !kept && !pads->lost[k]) {
                pads->lost[k] = true;
                t->again = true;
            }
            if (!kept)
                is->pads[k] = (Pad){ 0 };
        }
        is->elem = is->elem == was->elem ? is->elem : SCALAR_COUNT;
    }
}

// ---- loops ----------------------------------------------------------------------------------

/// A loop over tiles that is being made.
typedef struct TileLoop {
    const AstFor *node;
    bool is_grid;
    uint32_t count;
    Axis *axes[TILE_MAX_RANK];
} TileLoop;

static void bind_tiles(Tile *t, TileLoop *l, AstNodes targets)
{
    for (uint32_t i = 0; i < l->count; i++) {
        Axis *a = l->axes[i];
        Sym name = ast_name(targets.at[i])->name;
        a->start = tile_sym(
            t, l->is_grid ? tile_local(t, name)
                          : tile_fresh(t, arena_printf(t->arena, "start_%s", tile_stem(a->text))));
        a->is_open = a->is_open && !l->is_grid;
        tile_bind(t, name,
                  l->is_grid ? tile_scalar(a->start, SCALAR_I32)
                             : (Value){ .kind = VALUE_TILE, .ast = NULL, .tile = a });
    }
}

/// for start_k in range(from, to, BLOCK): offs_k = start_k + arange(0, BLOCK); ...
///
/// NULL as `from` and `to`: as the axes say. False when the body makes what cannot be made twice.
static bool emit_round(Tile *t, TileLoop *l, AstNode *from, AstNode *to)
{
    LoopState state;
    TileNodes inner = { 0 };
    const uint32_t axes = t->axes.len, opens = t->opens.len;
    loop_begin(t, &l->node->base, l->node->body, &state);
    tile_block(t, l->node->body, &inner);
    loop_end(t, &state);
    bool repeats = !state.assigned.jumps && t->opens.len == opens;
    for (uint32_t i = axes; i < t->axes.len; i++)
        repeats = repeats && !t->axes.at[i]->loop;
    for (uint32_t i = l->count; i-- > 0;) {
        Axis *a = l->axes[i];
        TileNodes body = { 0 };
        TileNodes *outer = t->out;
        t->out = &body;
        if (a->offs_used)
            tile_emit_offs(t, a);
        for (uint32_t k = 0; k < inner.len; k++)
            tile_emit(t, inner.at[k]);
        t->out = outer;
        AstNode *begin = from ? from : a->begin ? a->begin : tile_int(t, 0);
        AstNode *args[] = { begin, to ? to : a->end, a->block };
        AstNode *range = tile_call(t, tile_name(t, "range"), l->is_grid ? 2 : 3, args);
        inner = (TileNodes){ 0 };
        VEC_PUSH(t->arena, &inner,
                 AST_MAKE(t->arena, FOR, For, l->node->base.span, .target = a->start, .iter = range,
                          .body = { body.at, body.len }));
    }
    tile_emit(t, inner.at[0]);
    return repeats;
}

static const LoopForm *form_of(const Tile *t, const AstFor *n)
{
    for (uint32_t i = t->forms.len; i-- > 0;)
        if (t->forms.at[i].loop == &n->base)
            return &t->forms.at[i];
    return NULL;
}

/// What the block size of `a` leaves of that of `other`. NULL: they are numbers, and it is 0.
static AstNode *remainder_of(Tile *t, const Axis *a, const Axis *other)
{
    if (other->block->kind == AST_INT && a->block->kind == AST_INT &&
        ast_int(other->block)->value % ast_int(a->block)->value == 0)
        return NULL;
    return tile_binary(t, AST_MOD, other->block, a->block);
}

/// edge_n = N if BLOCK_M % BLOCK_N == 0 else end: where tiles end that end with those of another
/// axis, no tile runs beyond any end but the size's, whose masks the copy engine knows.
static void emit_edge(Tile *t, Axis *a)
{
    AstNode *rest = remainder_of(t, a, a->near);
    a->edge = tile_size_ast(t, a->at_most.of[0]);
    if (!rest)
        return;
    AstNode *fits = tile_compare(t, rest, AST_EQ, tile_int(t, 0));
    AstNode *edge =
        tile_sym(t, tile_fresh(t, arena_printf(t->arena, "edge_%s", tile_stem(a->text))));
    tile_emit_assign(t, edge,
                     AST_MAKE(t->arena, TERNARY, Ternary, t->span, .cond = fits, .then = a->edge,
                              .orelse = a->end));
    a->edge = edge;
}

/// The last tile, if it is not whole; none is where a tile of another axis begins whose blocks are
/// multiples.
static void emit_last(Tile *t, TileLoop *l, AstNode *border)
{
    Axis *a = l->axes[0];
    AstNode *rest = a->behind ? remainder_of(t, a, a->behind) : NULL;
    if (!a->behind)
        emit_round(t, l, border, NULL);
    if (!rest)
        return;
    TileNodes body = { 0 };
    TileNodes *outer = t->out;
    t->out = &body;
    emit_round(t, l, border, NULL);
    t->out = outer;
    tile_emit(t, AST_MAKE(t->arena, IF, If, t->span,
                          .cond = tile_compare(t, rest, AST_NE, tile_int(t, 0)),
                          .body = { body.at, body.len }));
}

/// The tiles that are whole, without masks; behind them the last one, if it is not.
static void emit_split(Tile *t, TileLoop *l)
{
    Axis *a = l->axes[0];
    AstNode *length = a->begin ? tile_binary(t, AST_SUB, a->end, a->begin) : a->end;
    AstNode *whole =
        tile_binary(t, AST_MUL, tile_binary(t, AST_FLOOR_DIV, length, a->block), a->block);
    AstNode *border =
        tile_sym(t, tile_fresh(t, arena_printf(t->arena, "whole_%s", tile_stem(a->text))));
    tile_emit_assign(t, border, tile_both(t, AST_ADD, a->begin, whole));
    a->is_inside = true;
    emit_round(t, l, NULL, border);
    a->is_inside = a->offs_used = false;
    emit_last(t, l, border);
}

static void tile_loop(Tile *t, const AstFor *n, const AstCall *call, BuiltinId id)
{
    TileLoop l = { .node = n, .is_grid = id == BUILTIN_GRID };
    AstNodes targets;
    l.count = tile_loop_axes(t, n, call, id, l.axes, &targets);
    if (!l.count)
        return;
    bind_tiles(t, &l, targets);
    Axis *a = l.axes[0];
    const LoopForm *form = t->chunk || l.count != 1 ? NULL : form_of(t, n);
    if (form && a->near)
        emit_edge(t, a);
    if (form && form->is_split) {
        emit_split(t, &l);
        return;
    }
    // A loop over one tile of another axis has few rounds.
    const bool few = a->begin && a->near;
    const bool repeats = emit_round(t, &l, NULL, NULL), splits = repeats && a->is_cut && !few;
    if (!t->chunk && l.count == 1 && a->in_dot && (splits || (!form && a->near))) {
        VEC_PUSH(t->arena, &t->forms, ((LoopForm){ &n->base, splits }));
        t->again = true;
    }
}

static void range_loop(Tile *t, const AstFor *n)
{
    LoopState state;
    Value iter = tile_expr(t, n->iter);
    if (iter.kind == VALUE_ERROR)
        return;
    if (n->target->kind != AST_NAME || !iter.ast || iter.ast->kind != AST_CALL) {
        tile_fault(t, DIAG_TYPE_MISMATCH, n->iter->span,
                   "a loop needs tile(...), grid(...), range(...) or static_range(...)");
        return;
    }
    loop_begin(t, &n->base, n->body, &state);
    Sym name = ast_name(n->target)->name;
    AstNode *local = tile_sym(t, tile_local(t, name));
    Value v = tile_scalar(local, SCALAR_I32);
    v.is_weak = tile_is_static_range(t, n->iter);
    tile_bind(t, name, v);
    TileNodes body = { 0 }, orelse = { 0 };
    tile_block(t, n->body, &body);
    loop_end(t, &state);
    tile_block(t, n->orelse, &orelse);
    tile_emit(t, AST_MAKE(t->arena, FOR, For, n->base.span, .target = local, .iter = iter.ast,
                          .body = { body.at, body.len }, .orelse = { orelse.at, orelse.len }));
}

void tile_for(Tile *t, const AstFor *n)
{
    BuiltinId id;
    const AstCall *call = tile_loop_call(t, n, &id);
    if (call)
        tile_loop(t, n, call, id);
    else
        range_loop(t, n);
}

void tile_while(Tile *t, const AstWhile *n)
{
    LoopState state;
    loop_begin(t, &n->base, n->body, &state);
    Value cond = tile_number(t, n->cond, "a condition");
    TileNodes body = { 0 }, orelse = { 0 };
    if (cond.kind == VALUE_ERROR)
        return;
    tile_block(t, n->body, &body);
    loop_end(t, &state);
    tile_block(t, n->orelse, &orelse);
    tile_emit(t, AST_MAKE(t->arena, WHILE, While, n->base.span, .cond = cond.ast,
                          .body = { body.at, body.len }, .orelse = { orelse.at, orelse.len }));
}

bool tile_is_static_range(Tile *t, const AstNode *iter)
{
    Binding b;
    return iter->kind == AST_CALL &&
           resolve_path(t->program, t->module, ast_call(iter)->callee, &b) &&
           b.value.kind == CONST_BUILTIN &&
           ((const Builtin *)b.value.v.ref)->id == BUILTIN_STATIC_RANGE;
}
