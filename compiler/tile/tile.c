/// tile.c - one tile kernel from its syntax tree to that of the kernel it becomes.
#include "tile/tile.h"
#include "tile/tile_impl.h"
#include <string.h>

// ---- the walk -------------------------------------------------------------------------------

static bool take_name(const AstNode *n, void *cx)
{
    Tile *t = cx;
    if (n->kind == AST_NAME)
        VEC_PUSH(t->arena, &t->names, ast_name(n)->name);
    else if (n->kind == AST_PARAM)
        VEC_PUSH(t->arena, &t->names, ast_param(n)->name);
    return true;
}

static const AstFor *find_outer(Tile *t, uint32_t *at)
{
    const AstNodes body = t->function->def->body;
    for (*at = 0; *at < body.len; ++*at) {
        BuiltinId id;
        if (body.at[*at]->kind == AST_FOR && tile_loop_call(t, ast_for(body.at[*at]), &id))
            return ast_for(body.at[*at]);
    }
    tile_fault(t, DIAG_TILE_FORM, t->function->def->name_span,
               "tile kernel '%s' has no loop over tiles", t->function->name->text);
    diag_help(t->program->diags, "begin it with 'for tile in tile(x.shape[0]):'");
    return NULL;
}

/// Nothing but `return` and `pass` may stand behind the outer loop.
static bool check_behind(Tile *t, uint32_t from)
{
    const AstNodes body = t->function->def->body;
    for (uint32_t i = from; i < body.len; i++) {
        const AstNode *n = body.at[i];
        BuiltinId id;
        if (n->kind == AST_PASS || (n->kind == AST_RETURN && !ast_return(n)->value))
            continue;
        bool loop = n->kind == AST_FOR && tile_loop_call(t, ast_for(n), &id);
        tile_fault(t, DIAG_TILE_FORM, n->span,
                   loop ? "a tile kernel has one outer loop over tiles"
                        : "nothing stands behind the outer loop of a tile kernel");
        if (loop)
            diag_help(t->program->diags, "make a kernel of each");
        return false;
    }
    return true;
}

/// What a walk begins with; what earlier walks learned stays.
static void begin_walk(Tile *t, const Tile *start)
{
    for (uint32_t i = 0; i < t->sizes.len; i++) {
        t->sizes.at[i]->whole = NULL;
        t->sizes.at[i]->is_used = false;
    }
    for (uint32_t i = 0; i < t->tensors.len; i++)
        memset(t->tensors.at[i]->stride_used, 0, sizeof t->tensors.at[i]->stride_used);
    t->env = (Variables){ 0 };
    for (uint32_t i = 0; i < start->env.len; i++)
        VEC_PUSH(t->arena, &t->env, start->env.at[i]);
    t->names.len = start->names.len;
    t->axes.len = t->grid.len = t->locals.len = t->opens.len = 0;
    t->definitions.len = 0;
    t->store_loop = (StoreLoop){ 0 };
    t->inside = t->again = t->chunk_failed = t->has_stored = t->failed = false;
    t->has_dot = t->has_reduce = false;
}

/// One walk: the statements of the kernel into `out`. False after errors.
static bool walk(Tile *t, uint32_t outer_at, TileNodes *out)
{
    AstNodes before = t->function->def->body;
    TileNodes body = { 0 };
    *out = (TileNodes){ 0 };
    before.len = outer_at;
    tile_block(t, before, out);
    t->out = out;
    if (diag_error_met(t->program->diags) != t->errors || !tile_outer_axes(t))
        return false;
    t->inside = true;
    tile_block(t, t->outer->body, &body);
    if (diag_error_met(t->program->diags) != t->errors)
        return false;
    t->again = tile_learn_grid(t) || t->again;
    t->out = out;
    tile_emit_ids(t);
    for (uint32_t i = 0; i < body.len; i++)
        VEC_PUSH(t->arena, out, body.at[i]);
    return true;
}

/// Walks until nothing is learned any more. Each walk but the last loses a pad, joins two sizes or
/// settles the grid, so this ends.
static bool walk_until_known(Tile *t, const Tile *start, uint32_t outer_at, TileNodes *out)
{
    bool ok;
    do {
        begin_walk(t, start);
        ok = walk(t, outer_at, out);
        t->out = NULL;
    } while (ok && t->again);
    return ok;
}

/// The form that takes a whole axis in chunks, if there is one.
static bool walk_in_chunks(Tile *t, const Tile *start, uint32_t outer_at, TileNodes *out)
{
    DiagSink *diags = t->program->diags;
    const bool muted = diags->muted;
    const Axis *axis = tile_chunk_axis(t);
    const Sym block = axis ? ast_name(axis->block)->name : NULL;
    if (!axis)
        return false;
    diags->muted = t->chunk = true;
    bool ok = walk_until_known(t, start, outer_at, out) && !t->failed && !t->chunk_failed;
    axis = tile_chunk_axis(t);
    diags->muted = muted;
    t->chunk = false;
    return ok && axis && ast_name(axis->block)->name == block;
}

/// if LOOP_N: the form in chunks, else the other one.
static void join_forms(Tile *t, const TileNodes *chunks, const TileNodes *whole, TileNodes *out)
{
    AstNode *choice =
        AST_MAKE(t->arena, IF, If, t->span, .cond = tile_sym(t, t->loop_param),
                 .body = { chunks->at, chunks->len }, .orelse = { whole->at, whole->len });
    *out = (TileNodes){ 0 };
    VEC_PUSH(t->arena, out, choice);
}

/// The kernel's statements: one form, or a choice of two.
static bool walk_all(Tile *t, TileNodes *out)
{
    uint32_t outer_at;
    TileNodes whole, chunks;
    const Tile start = *t;
    t->outer = find_outer(t, &outer_at);
    if (!t->outer || !check_behind(t, outer_at + 1) ||
        !walk_until_known(t, &start, outer_at, &whole))
        return false;
    const bool chunked = walk_in_chunks(t, &start, outer_at, &chunks);
    if (!walk_until_known(t, &start, outer_at, &whole))
        return false;
    *out = whole;
    if (!chunked)
        return true;
    t->span = t->outer->iter->span;
    const Size *size = tile_chunk_axis(t)->size;
    t->loop_param = tile_fresh(t, arena_printf(t->arena, "LOOP_%s", size->name->text));
    join_forms(t, &chunks, &whole, out);
    return true;
}

// ---- the kernel -----------------------------------------------------------------------------

static AstNode *keyword(Tile *t, const char *name, const AstNode *value)
{
    return AST_MAKE(t->arena, KEYWORD, Keyword, t->span, .name = sym_of(t->program->syms, name),
                    .value = (AstNode *)(uintptr_t)value);
}

/// The warps of a kernel of blocks over rows, whose size classes have warps of their own.
static AstNode *row_warps(Tile *t)
{
    for (uint32_t i = 0; i < t->axes.len; i++) {
        const Axis *a = t->axes.at[i];
        if (!a->loop && a->is_open && !a->in_dot)
            return tile_int(t, MODULE_ROW_WARPS);
    }
    return NULL;
}

/// @newt.kernel(grid=..., ...) in place of the decorator that made it a tile kernel.
static AstNodes decorators(Tile *t, const Function *f)
{
    TileNodes out = { 0 }, words = { 0 };
    const AstNodes given = t->function->def->decorators;
    for (uint32_t i = 0; i < given.len; i++) {
        const AstNode *name =
            given.at[i]->kind == AST_CALL ? ast_call(given.at[i])->callee : given.at[i];
        Binding b;
        bool makes = resolve_path(t->program, t->module, name, &b) &&
                     b.value.kind == CONST_BUILTIN &&
                     ((const Builtin *)b.value.v.ref)->id == BUILTIN_TILE_KERNEL;
        if (!makes)
            VEC_PUSH(t->arena, &out, given.at[i]);
    }
    VEC_PUSH(t->arena, &words, keyword(t, "grid", f->grid));
    const AstNode *warps = f->num_warps ? f->num_warps : row_warps(t);
    if (warps)
        VEC_PUSH(t->arena, &words, keyword(t, "num_warps", warps));
    if (f->num_stages)
        VEC_PUSH(t->arena, &words, keyword(t, "num_stages", f->num_stages));
    if (f->export_name)
        VEC_PUSH(t->arena, &words, keyword(t, "name", f->export_name));
    AstNode *callee =
        AST_MAKE(t->arena, ATTRIBUTE, Attribute, t->span, .object = tile_name(t, "newt"),
                 .name = sym_of(t->program->syms, "kernel"), .name_span = t->span);
    VEC_PUSH(t->arena, &out,
             AST_MAKE(t->arena, CALL, Call, t->span, .callee = callee,
                      .keywords = { words.at, words.len }));
    return (AstNodes){ out.at, out.len };
}

/// The kernel with one of its forms, for reading.
static const AstFunction *shown(Tile *t, const AstFunction *def, const AstNodes *body)
{
    AstFunction out = *def;
    TileNodes params = { 0 };
    for (uint32_t i = 0; i < def->params.len; i++)
        if (ast_param(def->params.at[i])->name != t->loop_param)
            VEC_PUSH(t->arena, &params, def->params.at[i]);
    out.params = (AstNodes){ params.at, params.len };
    out.body = *body;
    return ast_function(ast_make(t->arena, AST_FUNCTION, def->base.span, &out));
}

static void make_kernel(Tile *t, Function *f, const TileNodes *body)
{
    AstFunction def = *t->function->def;
    Function made = *t->function;
    t->span = def.name_span;
    made.kind = FUNC_KERNEL;
    made.has_product = t->has_dot;
    tile_open_blocks(t, &made);
    tile_make_params(t, &made, &def.params);
    for (uint32_t i = 0; i < t->rules.len; i++)
        VEC_PUSH(t->arena, &made.size_rules, t->rules.at[i]);
    made.grid = tile_grid_expr(t, &made);
    if (!made.num_warps && t->grid_kind == TILE_GRID_GROUPS)
        made.num_warps = tile_int(t, 8);
    if (!made.num_stages && t->grid_kind == TILE_GRID_GROUPS)
        made.num_stages = tile_int(t, 4);
    def.decorators = decorators(t, &made);
    def.body = (AstNodes){ body->at, body->len };
    made.def = ast_function(ast_make(t->arena, AST_FUNCTION, t->function->def->base.span, &def));
    if (t->loop_param) {
        const AstIf *forms = ast_if(body->at[0]);
        made.shown[0] = shown(t, made.def, &forms->orelse);
        made.shown[1] = shown(t, made.def, &forms->body);
    }
    *f = made;
}

static bool rewrite(Program *p, Module *m, Function *f)
{
    const Function given = *f;
    Tile t = { .program = p,
               .arena = p->arena,
               .module = m,
               .home = m,
               .function = &given,
               .span = f->def->name_span,
               .errors = diag_error_met(p->diags) };
    TileNodes body = { 0 };
    ast_walk(&f->def->base, &(AstVisitor){ .enter = take_name, .ctx = &t });
    if (!tile_take_params(&t) || !walk_all(&t, &body))
        return false;
    make_kernel(&t, f, &body);
    return diag_error_met(p->diags) == t.errors;
}

bool tile_rewrite(Program *p, Module *m)
{
    bool ok = true;
    for (uint32_t i = 0; i < m->functions.len; i++)
        if (m->functions.at[i]->kind == FUNC_TILE)
            ok = rewrite(p, m, m->functions.at[i]) && ok;
    return ok;
}
