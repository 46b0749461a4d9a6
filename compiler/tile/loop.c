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

static void loop_begin(Tile *t, const AstNode *loop, AstNodes body, LoopState *s)
{
    *s = (LoopState){ .loop = loop, .assigned = { .t = t } };
    for (uint32_t i = 0; i < body.len; i++)
        ast_walk(body.at[i], &(AstVisitor){ .enter = collect, .ctx = &s->assigned });
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

// ---- axes of tile loops ---------------------------------------------------------------------

const AstCall *tile_loop_call(Tile *t, const AstFor *n, BuiltinId *id)
{
    Binding b;
    if (n->iter->kind != AST_CALL ||
        !resolve_path(t->program, t->module, ast_call(n->iter)->callee, &b) ||
        b.value.kind != CONST_BUILTIN)
        return NULL;
    *id = ((const Builtin *)b.value.v.ref)->id;
    return *id == BUILTIN_TILE || *id == BUILTIN_GRID ? ast_call(n->iter) : NULL;
}

typedef struct LoopRange {
    Value begin, end, block;  // one number each, or a tuple of them; begin, block: ERROR for none
    uint32_t count;
} LoopRange;

static const Value *item_of(const Value *v, uint32_t i)
{
    return v->kind == VALUE_TUPLE ? &v->items.at[i] : v;
}

static bool is_integer(Tile *t, const Value *v, const char *what, Span span)
{
    if (v->kind == VALUE_ERROR)
        return false;
    bool weak = v->is_weak && v->literal.kind != CONST_INT && v->literal.kind != CONST_ERROR;
    bool typed = !v->is_weak && v->elem != SCALAR_COUNT &&
                 scalar_info[v->elem].cls != SCLASS_SINT && scalar_info[v->elem].cls != SCLASS_UINT;
    if (v->kind == VALUE_SCALAR && !weak && !typed)
        return true;
    tile_fault(t, DIAG_TYPE_MISMATCH, span, "%s of a tile loop must be an integer, got %s", what,
               v->kind == VALUE_SCALAR && typed ? scalar_text(v->elem) : tile_text(t, v));
    return false;
}

static bool check_part(Tile *t, const Value *v, uint32_t count, const char *what, Span span)
{
    uint32_t n = v->kind == VALUE_TUPLE ? v->items.len : 1;
    if (v->kind == VALUE_ERROR)
        return false;
    if (n != count) {
        tile_fault(t, DIAG_BAD_CALL, span, "%u %s for %u sizes", n, what, count);
        return false;
    }
    return true;
}

static bool loop_argument(Tile *t, const AstNode *n, Value *out)
{
    *out = tile_expr(t, n);
    return out->kind != VALUE_ERROR;
}

/// tile(sizes), tile(begin, end), tile(..., block_size=...); grid takes no block size.
static bool take_range(Tile *t, const AstCall *call, BuiltinId id, LoopRange *out)
{
    const char *name = id == BUILTIN_TILE ? "tile" : "grid";
    bool has_begin = call->args.len == 2, ok = true;
    *out = (LoopRange){ .begin = tile_error(), .end = tile_error(), .block = tile_error() };
    if (call->args.len < 1 || call->args.len > 2) {
        tile_fault(t, DIAG_BAD_CALL, call->base.span, "'%s' takes one size, or a begin and an end",
                   name);
        return false;
    }
    if (has_begin)
        ok = loop_argument(t, call->args.at[0], &out->begin);
    ok = loop_argument(t, call->args.at[has_begin], &out->end) && ok;
    for (uint32_t i = 0; i < call->keywords.len && ok; i++) {
        const AstKeyword *k = ast_keyword(call->keywords.at[i]);
        if (id == BUILTIN_TILE && strcmp(k->name->text, "block_size") == 0) {
            ok = loop_argument(t, k->value, &out->block);
            continue;
        }
        tile_fault(t, DIAG_BAD_CALL, k->base.span, "unknown argument '%s' of '%s'", k->name->text,
                   name);
        ok = false;
    }
    out->count = out->end.kind == VALUE_TUPLE ? out->end.items.len : 1;
    return ok &&
           (!has_begin || check_part(t, &out->begin, out->count, "begins", call->args.at[0]->span));
}

static char *upper_name(Tile *t, Sym name)
{
    char *text = arena_printf(t->arena, "BLOCK_%s", name->text);
    for (char *c = text; *c; c++)
        if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
    return text;
}

static bool take_block(Tile *t, Axis *axis, const Value *v, Sym name, Span span)
{
    int64_t n;
    if (v->kind == VALUE_ERROR || (v->kind == VALUE_REF && v->literal.kind == CONST_NONE)) {
        axis->block = tile_sym(t, tile_fresh(t, upper_name(t, name)));
        axis->is_open = true;
        return true;
    }
    if (v->open && !v->ast) {
        axis->block = tile_name_open(t, *v, sym_of(t->program->syms, upper_name(t, name))).ast;
        return true;
    }
    if (v->kind != VALUE_SCALAR || !v->is_weak) {
        tile_fault(t, DIAG_NOT_CONSTEXPR, span, "a block size must be a compile-time constant");
        return false;
    }
    if (tile_constant_int(t, v, &n) && (n < 1 || (n & (n - 1)) != 0)) {
        tile_fault(t, DIAG_BAD_VALUE, span, "block size %lld is not a power of two", (long long)n);
        return false;
    }
    axis->block = v->ast;
    return true;
}

/// A bound that is more than a name is computed once.
static AstNode *bound(Tile *t, const Value *v, const char *what, Sym name)
{
    bool leaf = v->ast->kind == AST_NAME || v->ast->kind == AST_INT;
    if (leaf || !t->inside)
        return v->ast;
    AstNode *local =
        tile_sym(t, tile_fresh(t, arena_printf(t->arena, "%s_%s", what, tile_stem(name->text))));
    tile_emit_assign(t, local, v->ast);
    return local;
}

static Axis *loop_axis(Tile *t, const AstFor *n, unsigned position, Sym name, const LoopRange *r)
{
    const Value *end = item_of(&r->end, position);
    Axis *a = ARENA_NEW(t->arena, Axis);
    const Span span = ast_call(n->iter)->args.at[0]->span;
    *a = (Axis){ .loop = &n->base, .position = position, .text = name->text };
    if (!is_integer(t, end, "the end", span))
        return NULL;
    if (r->begin.kind != VALUE_ERROR) {
        const Value *begin = item_of(&r->begin, position);
        if (!is_integer(t, begin, "the begin", span))
            return NULL;
        a->begin = tile_is_int(begin->ast, 0) ? NULL : bound(t, begin, "begin", name);
    }
    a->end = bound(t, end, "end", name);
    a->size = end->size && !a->begin ? tile_size_root(end->size) : NULL;
    a->offs = tile_offs_name(t, name->text);
    if (!take_block(t, a, r->block.kind == VALUE_ERROR ? &r->block : item_of(&r->block, position),
                    name, n->iter->span))
        return NULL;
    VEC_PUSH(t->arena, &t->axes, a);
    return a;
}

static bool loop_targets(Tile *t, const AstFor *n, AstNodes *out)
{
    AstNode **one = ARENA_NEW(t->arena, AstNode *);
    *one = n->target;
    *out = n->target->kind == AST_TUPLE ? ast_tuple(n->target)->items : (AstNodes){ one, 1 };
    for (uint32_t i = 0; i < out->len; i++) {
        if (out->at[i]->kind == AST_NAME)
            continue;
        tile_fault(t, DIAG_TILE_FORM, out->at[i]->span, "a tile needs a name");
        return false;
    }
    return true;
}

/// The axes of a tile loop, and their targets; 0 after a report.
static uint32_t loop_axes(Tile *t, const AstFor *n, const AstCall *call, BuiltinId id, Axis **axes,
                          AstNodes *targets)
{
    LoopRange r;
    if (n->orelse.len) {
        tile_fault(t, DIAG_TILE_FORM, n->orelse.at[0]->span, "a loop over tiles has no 'else'");
        return 0;
    }
    if (!loop_targets(t, n, targets) || !take_range(t, call, id, &r) ||
        (r.block.kind != VALUE_ERROR && r.block.kind == VALUE_TUPLE &&
         !check_part(t, &r.block, r.count, "block sizes", call->base.span)))
        return 0;
    if (targets->len != r.count || r.count > TILE_MAX_RANK) {
        tile_fault(t, DIAG_BAD_CALL, n->iter->span, "%u sizes for %u tile%s", r.count, targets->len,
                   targets->len == 1 ? "" : "s");
        return 0;
    }
    for (uint32_t i = 0; i < r.count; i++)
        if (!(axes[i] = loop_axis(t, n, i, ast_name(targets->at[i])->name, &r)))
            return 0;
    return r.count;
}

bool tile_outer_axes(Tile *t)
{
    BuiltinId id;
    const AstCall *call = tile_loop_call(t, t->outer, &id);
    Axis *axes[TILE_MAX_RANK];
    AstNodes targets;
    uint32_t n = loop_axes(t, t->outer, call, id, axes, &targets);
    for (uint32_t i = 0; i < n; i++) {
        VEC_PUSH(t->arena, &t->grid, axes[i]);
        axes[i]->is_index = id == BUILTIN_GRID;
        if (axes[i]->is_index) {
            axes[i]->block = tile_int(t, 1);
            axes[i]->is_open = false;
        }
    }
    tile_place_ids(t);
    for (uint32_t i = 0; i < n; i++) {
        Value v = { .kind = VALUE_TILE, .ast = NULL, .tile = axes[i] };
        if (axes[i]->is_index)
            v = tile_scalar(axes[i]->start, SCALAR_I32);
        tile_bind(t, ast_name(targets.at[i])->name, v);
    }
    return n > 0;
}

// ---- loops ----------------------------------------------------------------------------------

/// for start_k in range(begin, end, BLOCK): offs_k = start_k + arange(0, BLOCK); ...
static void tile_loop(Tile *t, const AstFor *n, const AstCall *call, BuiltinId id)
{
    Axis *axes[TILE_MAX_RANK];
    AstNodes targets;
    LoopState state;
    uint32_t count = loop_axes(t, n, call, id, axes, &targets);
    if (!count)
        return;
    loop_begin(t, &n->base, n->body, &state);
    for (uint32_t i = 0; i < count; i++) {
        bool index = id == BUILTIN_GRID;
        Sym local =
            index ? tile_local(t, ast_name(targets.at[i])->name)
                  : tile_fresh(t, arena_printf(t->arena, "start_%s", tile_stem(axes[i]->text)));
        axes[i]->start = tile_sym(t, local);
        axes[i]->is_open = axes[i]->is_open && !index;
        tile_bind(t, ast_name(targets.at[i])->name,
                  index ? tile_scalar(axes[i]->start, SCALAR_I32)
                        : (Value){ .kind = VALUE_TILE, .ast = NULL, .tile = axes[i] });
    }
    TileNodes inner = { 0 };
    tile_block(t, n->body, &inner);
    loop_end(t, &state);
    for (uint32_t i = count; i-- > 0;) {
        TileNodes body = { 0 };
        TileNodes *outer = t->out;
        t->out = &body;
        if (axes[i]->offs_used)
            tile_emit_offs(t, axes[i]);
        for (uint32_t k = 0; k < inner.len; k++)
            tile_emit(t, inner.at[k]);
        t->out = outer;
        AstNode *from = axes[i]->begin ? axes[i]->begin : tile_int(t, 0);
        AstNode *args[] = { from, axes[i]->end, axes[i]->block };
        uint32_t given = id == BUILTIN_GRID ? 2 : 3;
        AstNode *range = tile_call(t, tile_name(t, "range"), given, args);
        inner = (TileNodes){ 0 };
        VEC_PUSH(t->arena, &inner,
                 AST_MAKE(t->arena, FOR, For, n->base.span, .target = axes[i]->start, .iter = range,
                          .body = { body.at, body.len }));
    }
    tile_emit(t, inner.at[0]);
}

static void range_loop(Tile *t, const AstFor *n)
{
    LoopState state;
    Value iter = tile_expr(t, n->iter);
    if (iter.kind == VALUE_ERROR)
        return;
    if (n->target->kind != AST_NAME || iter.ast->kind != AST_CALL) {
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

// ---- what a tile knows ----------------------------------------------------------------------

Value tile_axis_attribute(Tile *t, const Value *tile, Sym name, Span span)
{
    Axis *a = tile->tile;
    const char *word = name->text;
    if (strcmp(word, "index") == 0) {
        Value v = { .kind = VALUE_BLOCK, .ast = tile_offs(t, a), .elem = SCALAR_I32, .rank = 1 };
        v.axes[0] = a;
        return v;
    }
    AstNode *next = tile_binary(t, AST_ADD, a->start, a->block);
    AstNode *from_begin = a->begin ? tile_binary(t, AST_SUB, a->start, a->begin) : a->start;
    AstNode *length = a->begin ? tile_binary(t, AST_SUB, a->end, a->begin) : a->end;
    if (strcmp(word, "begin") == 0)
        return tile_scalar(a->start, SCALAR_I32);
    if (strcmp(word, "end") == 0)
        return tile_scalar(tile_call(t, tile_name(t, "min"), 2, (AstNode *[]){ next, a->end }),
                           SCALAR_I32);
    if (strcmp(word, "id") == 0)
        return tile_scalar(a->id ? a->id : tile_binary(t, AST_FLOOR_DIV, from_begin, a->block),
                           SCALAR_I32);
    if (strcmp(word, "count") == 0)
        return tile_scalar(TILE_CALL(t, "cdiv", length, a->block), SCALAR_I32);
    if (strcmp(word, "block_size") == 0) {
        Value v = tile_scalar(a->block, SCALAR_COUNT);
        v.is_weak = true;
        return v;
    }
    static const char *const words[] = { "index", "begin", "end", "id", "count", "block_size" };
    const char *near = diag_did_you_mean(word, words, sizeof words / sizeof *words);
    tile_fault(t, DIAG_UNDEFINED_NAME, span, "a tile has no '%s'", word);
    if (near)
        diag_help(t->program->diags, "did you mean '%s'?", near);
    return tile_error();
}
