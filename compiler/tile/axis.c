/// axis.c - the axes of tile loops: begins, ends and block sizes, and what a tile knows of them.
#include "tile/tile_impl.h"
#include <assert.h>
#include <string.h>

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

/// The loop ends with some tile. If it begins with that, or at 0, tiles that divide the other's
/// meet its end. If the other is one of the grid, the last programs that begin at 0 have most to
/// do, and are to begin first.
static void note_near(Tile *t, Axis *a, const Value *begin, const SizeBounds *end)
{
    const Axis *near = end->tile;
    if (!near)
        return;
    if (end->is_start && !a->begin)
        a->behind = end->tile;
    if (end->is_edge && (!a->begin || begin->ast == near->start))
        a->near = end->tile;
    if (a->begin || near->loop != &t->outer->base || t->longest_first[near->position])
        return;
    t->longest_first[near->position] = true;
    t->again = true;
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
    a->at_most = end->at_most;
    note_near(t, a, item_of(&r->begin, position), &end->at_most);
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

uint32_t tile_loop_axes(Tile *t, const AstFor *n, const AstCall *call, BuiltinId id, Axis **axes,
                        AstNodes *targets)
{
    LoopRange r;
    if (n->orelse.len) {
        tile_fault(t, DIAG_TILE_FORM, n->orelse.at[0]->span, "a loop over tiles has no 'else'");
        return 0;
    }
    if (!loop_targets(t, n, targets) || !take_range(t, call, id, &r) ||
        (r.block.kind == VALUE_TUPLE &&
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
    assert(call);  // that is how the outer loop was found
    Axis *axes[TILE_MAX_RANK];
    AstNodes targets;
    uint32_t n = tile_loop_axes(t, t->outer, call, id, axes, &targets);
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
    if (strcmp(word, "begin") == 0) {
        Value v = tile_scalar(a->start, SCALAR_I32);
        v.at_most = a->at_most;
        v.at_most.is_edge = false;
        v.at_most.is_start = a->size != NULL;
        v.at_most.tile = a;
        return v;
    }
    if (strcmp(word, "end") == 0) {
        AstNode *both[] = { next, a->end };
        Value v = tile_scalar(a->is_inside ? next : tile_call(t, tile_name(t, "min"), 2, both),
                              SCALAR_I32);
        v.at_most = a->at_most;
        v.at_most.is_edge = a->size && !a->is_inside;
        v.at_most.tile = a;
        return v;
    }
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
