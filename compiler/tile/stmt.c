/// stmt.c - statements of tile kernels.
///
/// In front of the outer loop assignments only give names to expressions, so that the grid can be
/// computed from parameters; inside it they are assignments of the generated kernel.
#include "tile/tile_impl.h"
#include <string.h>

// ---- assignments ----------------------------------------------------------------------------

/// What a name holds once a number without a type was assigned to it.
static Value settled(Value v)
{
    v.is_product = false;
    if (v.kind == VALUE_SCALAR && v.is_weak) {
        v.elem = v.literal.kind == CONST_ERROR ? SCALAR_COUNT : rule_literal(&v.literal).kind;
        v.is_weak = false;
        v.literal = const_error();
    }
    return v;
}

/// `v`, as the assignment at `at` keeps it: with 0 beyond the ends of axes along which its square
/// is summed.
static Value zeroed(Tile *t, uint32_t at, Value v)
{
    AstNode *mask = NULL;
    const ZeroedPads *pads = NULL;
    for (uint32_t i = 0; i < t->zeroed.len && !t->chunk; i++)
        pads = t->zeroed.at[i].at == at ? &t->zeroed.at[i] : pads;
    for (unsigned i = 0; pads && i < v.rank; i++) {
        const bool holds = v.pads[i].known && v.pads[i].value == 0.0;
        if (pads->on[i] && tile_has_end(v.axes[i]) && !holds) {
            mask = tile_both(t, AST_BIT_AND, mask, tile_where_mask(t, v.axes[i], i, v.rank));
            v.pads[i] = tile_pad(0.0);
        }
    }
    v.ast = mask ? TILE_CALL(t, "where", mask, v.ast, tile_float(t, 0.0)) : v.ast;
    return v;
}

static void assign_name(Tile *t, const AstNode *target, Value v)
{
    Sym name = ast_name(target)->name;
    v = tile_name_open(t, v, name);
    bool is_number = v.kind == VALUE_SCALAR || v.kind == VALUE_BLOCK;
    if (v.kind == VALUE_BLOCK && !t->inside) {
        tile_fault(t, DIAG_TILE_FORM, t->span,
                   "a block is made in front of the outer loop, where there is no tile yet");
        v = tile_error();
    }
    if (!is_number || v.size || v.open || !t->inside) {
        tile_bind(t, name, v);
        return;
    }
    if (v.kind == VALUE_BLOCK)
        v = zeroed(t, target->span.lo, v);
    tile_bind(t, name, settled(tile_keep(t, name, v, false)));
    tile_find(t, name)->at = target->span.lo;
}

/// Whether `n` reads a variable that one of the first `count` targets changes.
static bool reads_target(Tile *t, const AstNode *n, AstNodes targets, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (targets.at[i]->kind != AST_NAME ||
            tile_mentions(n, tile_local(t, ast_name(targets.at[i])->name)))
            return true;
    return false;
}

static void assign_parts(Tile *t, AstNodes targets, const Value *v, Span span)
{
    if (targets.len != v->items.len) {
        tile_fault(t, DIAG_BAD_CALL, span, "%u values for %u names", v->items.len, targets.len);
        return;
    }
    // All values are taken before the first name changes.
    Value *parts = ARENA_NEW_N(t->arena, Value, targets.len);
    for (uint32_t i = 0; i < targets.len; i++) {
        parts[i] = v->items.at[i];
        bool is_number = parts[i].kind == VALUE_SCALAR || parts[i].kind == VALUE_BLOCK;
        if (!t->inside || !is_number || !reads_target(t, parts[i].ast, targets, i))
            continue;
        parts[i] = tile_keep(t, sym_of(t->program->syms, "value"), parts[i], true);
    }
    for (uint32_t i = 0; i < targets.len; i++)
        tile_assign(t, targets.at[i], parts[i], span);
}

void tile_assign(Tile *t, const AstNode *target, Value v, Span span)
{
    switch (target->kind) {
    case AST_NAME: assign_name(t, target, v); return;
    case AST_ERROR: return;
    case AST_TUPLE:
    case AST_LIST:
        if (v.kind == VALUE_TUPLE)
            assign_parts(
                t, target->kind == AST_TUPLE ? ast_tuple(target)->items : ast_list(target)->items,
                &v, span);
        else if (v.kind != VALUE_ERROR)
            tile_fault(t, DIAG_TYPE_MISMATCH, span, "%s cannot be taken apart", tile_text(t, &v));
        return;
    case AST_SUBSCRIPT: {
        Value object = tile_expr(t, ast_subscript(target)->object);
        if (object.kind == VALUE_TENSOR && t->inside)
            tile_store(t, object.tensor, &ast_subscript(target)->indices, &v, span);
        else if (object.kind == VALUE_TENSOR)
            tile_fault(t, DIAG_TILE_FORM, span,
                       "a tensor is written in front of the outer loop; write it inside");
        else if (object.kind != VALUE_ERROR)
            tile_fault(t, DIAG_TYPE_MISMATCH, target->span,
                       "cannot assign to a part of %s; use where", tile_text(t, &object));
        return;
    }
    default: break;
    }
    tile_fault(t, DIAG_NOT_IN_LANGUAGE, target->span, "cannot assign to this");
}

static void plain_assign(Tile *t, const AstAssign *n)
{
    Value v = tile_expr(t, n->value);
    for (uint32_t i = 0; i < n->targets.len; i++) {
        tile_assign(t, n->targets.at[i], v, n->base.span);
        const AstNode *first = n->targets.at[0];
        if (first->kind == AST_NAME && tile_find(t, ast_name(first)->name))
            v = tile_find(t, ast_name(first)->name)->value;
    }
}

static void update_tensor(Tile *t, const AstAugAssign *n, TileTensor *x)
{
    const AstNodes *indices = &ast_subscript(n->target)->indices;
    Value old = tile_load(t, x, indices, n->target->span), v = tile_expr(t, n->value);
    if (old.kind == VALUE_ERROR || v.kind == VALUE_ERROR)
        return;
    v = tile_binary_value(t, n->op, &old, &v, n->base.span);
    tile_store(t, x, indices, &v, n->base.span);
}

static void update(Tile *t, const AstAugAssign *n)
{
    if (n->target->kind == AST_SUBSCRIPT) {
        Value object = tile_expr(t, ast_subscript(n->target)->object);
        if (object.kind == VALUE_TENSOR) {
            update_tensor(t, n, object.tensor);
            return;
        }
    }
    if (n->target->kind != AST_NAME) {
        tile_fault(t, DIAG_NOT_IN_LANGUAGE, n->target->span, "cannot assign to this");
        return;
    }
    Value old = tile_expr(t, n->target), v = tile_expr(t, n->value);
    if (old.kind == VALUE_ERROR || v.kind == VALUE_ERROR)
        return;
    Value both = tile_binary_value(t, n->op, &old, &v, n->base.span);
    if (both.kind == VALUE_ERROR)
        return;
    if (!t->inside || both.ast->kind != AST_BINARY || (t->chunk && tile_is_chunked(&both))) {
        assign_name(t, n->target, both);
        return;
    }
    AstNode *local = tile_sym(t, tile_local(t, ast_name(n->target)->name));
    tile_chunk_assigned(t, ast_name(local)->name);
    tile_emit(t, AST_MAKE(t->arena, AUG_ASSIGN, AugAssign, n->base.span, .op = n->op,
                          .target = local, .value = v.ast));
    both = settled(both);
    both.ast = local;
    tile_bind(t, ast_name(n->target)->name, both);
}

/// `BLOCK: nl.constexpr = 16`, or a plain annotation.
static void annotated(Tile *t, const AstAnnAssign *n)
{
    if (!n->value || n->target->kind != AST_NAME)
        return;
    Value v = tile_expr(t, n->value), word = tile_expr(t, n->annotation);
    bool constant = word.kind == VALUE_REF && word.literal.kind == CONST_ANNOTATION &&
                    ((const Builtin *)word.literal.v.ref)->id == BUILTIN_CONSTEXPR;
    if (v.kind == VALUE_ERROR || word.kind == VALUE_ERROR)
        return;
    if (!constant || !t->inside) {
        assign_name(t, n->target, v);
        return;
    }
    AstNode *local = tile_sym(t, tile_local(t, ast_name(n->target)->name));
    tile_emit(t, AST_MAKE(t->arena, ANN_ASSIGN, AnnAssign, n->base.span, .target = local,
                          .annotation = word.ast, .value = v.ast));
    v.ast = local;
    tile_bind(t, ast_name(n->target)->name, v);
}

// ---- branches -------------------------------------------------------------------------------

static Variables copy_env(Tile *t)
{
    Variables out = { 0 };
    for (uint32_t i = 0; i < t->env.len; i++)
        VEC_PUSH(t->arena, &out, t->env.at[i]);
    return out;
}

static bool same_axes(const Value *a, const Value *b)
{
    return a->kind == b->kind && a->rank == b->rank &&
           memcmp(a->axes, b->axes, sizeof a->axes) == 0 && a->tensor == b->tensor &&
           a->tile == b->tile;
}

/// What a variable is after both ways, or a fault for whoever reads it.
static Value joined(Tile *t, const Value *a, const Value *b)
{
    // A definition of one way is not that of the other.
    if (t->chunk && (tile_is_chunked(a) || tile_is_chunked(b)) && a->ast != b->ast)
        tile_chunk_fail(t);
    if (!same_axes(a, b)) {
        Value v = tile_error();
        v.is_weak = true;
        return v;
    }
    Value v = *a;
    v.elem = a->elem == b->elem ? a->elem : SCALAR_COUNT;
    for (unsigned i = 0; i < v.rank; i++)
        if (!b->pads[i].known || !v.pads[i].known || b->pads[i].value != v.pads[i].value)
            v.pads[i] = (Pad){ 0 };
    return v;
}

static void join_env(Tile *t, const Variables *other)
{
    for (uint32_t i = 0; i < other->len; i++) {
        Variable *mine = tile_find(t, other->at[i].name);
        if (mine)
            mine->value = joined(t, &mine->value, &other->at[i].value);
        else
            VEC_PUSH(t->arena, &t->env, other->at[i]);
    }
}

static void branch(Tile *t, const AstIf *n)
{
    Value cond = tile_expr(t, n->cond);
    if (cond.kind == VALUE_BLOCK) {
        tile_fault(t, DIAG_TYPE_MISMATCH, n->cond->span,
                   "a condition must be one value, got %s; use where", tile_text(t, &cond));
        return;
    }
    if (cond.kind != VALUE_ERROR && !cond.ast)
        tile_fault(t, DIAG_TYPE_MISMATCH, n->cond->span, "a condition must be a number, got %s",
                   tile_text(t, &cond));
    if (cond.kind == VALUE_ERROR || !cond.ast)
        return;
    tile_hold_sizes(t, n->body);
    tile_hold_sizes(t, n->orelse);
    TileNodes then = { 0 }, other = { 0 };
    Variables before = copy_env(t);
    const uint32_t defined = t->definitions.len;
    tile_block(t, n->body, &then);
    Variables after = t->env;
    t->env = before;
    tile_block(t, n->orelse, &other);
    join_env(t, &after);
    tile_chunk_close(t, defined);
    tile_emit(t, AST_MAKE(t->arena, IF, If, n->base.span, .cond = cond.ast,
                          .body = { then.at, then.len }, .orelse = { other.at, other.len }));
}

// ---- the others -----------------------------------------------------------------------------

static void expression(Tile *t, const AstExprStmt *n)
{
    if (n->value->kind == AST_STRING)
        return;
    Value v = tile_expr(t, n->value);
    if (v.kind == VALUE_ERROR || !v.ast || v.ast->kind != AST_CALL)
        return;
    AstNode *statement = AST_MAKE(t->arena, EXPR_STMT, ExprStmt, n->base.span, .value = v.ast);
    if (t->chunk && tile_is_chunked(&v))
        tile_chunk_statement(t, &v, statement, v.has_effect);
    else
        tile_emit(t, statement);
}

static void only_assignments(Tile *t, const AstNode *n)
{
    tile_fault(t, DIAG_TILE_FORM, n->span,
               "only assignments and assertions stand in front of the outer loop");
    diag_help(t->program->diags, "move it into the loop over tiles");
}

static void statement(Tile *t, const AstNode *n)
{
    bool flow =
        n->kind == AST_IF || n->kind == AST_FOR || n->kind == AST_WHILE || n->kind == AST_RETURN;
    if (!t->inside && flow) {
        only_assignments(t, n);
        return;
    }
    switch (n->kind) {
    case AST_ASSIGN: plain_assign(t, ast_assign(n)); break;
    case AST_AUG_ASSIGN: update(t, ast_aug_assign(n)); break;
    case AST_ANN_ASSIGN: annotated(t, ast_ann_assign(n)); break;
    case AST_IF: branch(t, ast_if(n)); break;
    case AST_FOR: tile_for(t, ast_for(n)); break;
    case AST_WHILE: tile_while(t, ast_while(n)); break;
    case AST_EXPR_STMT: expression(t, ast_expr(n)); break;
    case AST_RETURN:
        if (ast_return(n)->value)
            tile_fault(t, DIAG_TILE_FORM, n->span,
                       "a tile kernel returns nothing; write to a tensor");
        else
            tile_emit(t, (AstNode *)(uintptr_t)n);
        break;
    case AST_BREAK:
    case AST_CONTINUE: tile_emit(t, (AstNode *)(uintptr_t)n); break;
    case AST_PASS:
    case AST_ERROR: break;
    default:
        tile_fault(t, DIAG_NOT_IN_LANGUAGE, n->span, "this is not part of tile kernels");
        break;
    }
}

void tile_block(Tile *t, AstNodes body, TileNodes *out)
{
    TileNodes *outer = t->out;
    const Span span = t->span;
    t->out = out;
    t->depth++;
    for (uint32_t i = 0; i < body.len; i++) {
        t->span = body.at[i]->span;
        statement(t, body.at[i]);
    }
    for (uint32_t i = 0; i < t->env.len; i++) {
        Variable *var = &t->env.at[i];
        if (var->depth == t->depth && var->unmasked) {
            var->value = *var->unmasked;
            var->unmasked = NULL;
        }
    }
    t->depth--;
    t->out = outer;
    t->span = span;
}
