/// function.c - calls of the program's functions from tile kernels.
///
/// A function that only computes element by element is called as it is. Any other is put in place
/// of its call, so that its loads, reductions and products get their masks: it may take tensors and
/// tiles, and returns at its end.
#include "sema/module.h"
#include "tile/tile_impl.h"
#include <string.h>

enum { MAX_CALLS = 50 };

// ---- functions of elements ------------------------------------------------------------------

typedef struct Plainness {
    const Tile *t;
    const Function *f;
    bool plain;
    unsigned depth;
} Plainness;

static bool is_plain(const Tile *t, const Function *f, unsigned depth);

static bool builtin_is_plain(const Builtin *b)
{
    bool python = b->id >= BUILTIN_PY_MIN && b->id <= BUILTIN_PY_ISINSTANCE;
    return (b->op >= 0 && b->rule != RULE_NONE) || b->id == BUILTIN_TO || b->id == BUILTIN_CAST ||
           b->id == BUILTIN_FDIV || b->id == BUILTIN_STATIC_ASSERT || python;
}

static bool callee_is_plain(Plainness *x, const AstNode *callee)
{
    Binding b;
    if (resolve_path(x->t->program, x->f->module, callee, &b)) {
        if (b.value.kind == CONST_FUNC)
            return is_plain(x->t, b.value.v.ref, x->depth + 1);
        return b.value.kind == CONST_BUILTIN && builtin_is_plain(b.value.v.ref);
    }
    if (callee->kind != AST_ATTRIBUTE)
        return false;
    Sym name = ast_attribute(callee)->name;
    const Builtin *method = builtin_find_method(x->t->program->builtins, name, USE_METHOD);
    return method ? builtin_is_plain(method)
                  : builtin_find_method(x->t->program->builtins, name, USE_DTYPE_METHOD) != NULL;
}

static bool check_plain(const AstNode *n, void *cx)
{
    Plainness *x = cx;
    if (n->kind == AST_SUBSCRIPT || n->kind == AST_FOR || n->kind == AST_WHILE ||
        n->kind == AST_TUPLE || n->kind == AST_LIST ||
        (n->kind == AST_BINARY && ast_binary(n)->op == AST_MATMUL) ||
        (n->kind == AST_CALL && !callee_is_plain(x, ast_call(n)->callee)))
        x->plain = false;
    return x->plain;
}

static bool is_plain(const Tile *t, const Function *f, unsigned depth)
{
    Plainness x = { t, f, f->kind == FUNC_JIT && depth < MAX_CALLS, depth };
    for (uint32_t i = 0; i < f->def->body.len && x.plain; i++)
        ast_walk(f->def->body.at[i], &(AstVisitor){ .enter = check_plain, .ctx = &x });
    return x.plain;
}

// ---- arguments ------------------------------------------------------------------------------

typedef struct FunctionArgs {
    Value *at;  // by parameter
    bool *given;
    AstNodes args, keywords;  // of the call in the kernel
} FunctionArgs;

static bool put(Tile *t, const Function *f, FunctionArgs *out, uint32_t at, const AstNode *n)
{
    if (out->given[at]) {
        tile_fault(t, DIAG_BAD_CALL, n->span, "'%s' gets two values for '%s'", f->name->text,
                   f->params[at].name->text);
        return false;
    }
    out->at[at] = tile_expr(t, n);
    out->given[at] = true;
    return out->at[at].kind != VALUE_ERROR;
}

static uint32_t find_param(const Function *f, Sym name)
{
    uint32_t i = 0;
    while (i < f->param_count && f->params[i].name != name)
        i++;
    return i;
}

static bool put_keyword(Tile *t, const Function *f, FunctionArgs *out, const AstKeyword *k)
{
    uint32_t at = find_param(f, k->name);
    if (at == f->param_count) {
        tile_fault(t, DIAG_BAD_CALL, k->base.span, "unknown argument '%s' of '%s'", k->name->text,
                   f->name->text);
        return false;
    }
    if (!put(t, f, out, at, k->value))
        return false;
    out->keywords.at[out->keywords.len++] = AST_MAKE(t->arena, KEYWORD, Keyword, k->base.span,
                                                     .name = k->name, .value = out->at[at].ast);
    return true;
}

static bool take_args(Tile *t, const Function *f, const AstCall *n, FunctionArgs *out)
{
    bool ok = true;
    *out = (FunctionArgs){ .at = ARENA_NEW_N(t->arena, Value, f->param_count + 1),
                           .given = ARENA_NEW_N(t->arena, bool, f->param_count + 1) };
    out->args.at = ARENA_NEW_N(t->arena, AstNode *, n->args.len + 1);
    out->keywords.at = ARENA_NEW_N(t->arena, AstNode *, n->keywords.len + 1);
    for (uint32_t i = 0; i < n->args.len && ok; i++) {
        if (i >= f->param_count) {
            tile_fault(t, DIAG_BAD_CALL, n->args.at[i]->span, "'%s' takes %u argument%s",
                       f->name->text, f->param_count, f->param_count == 1 ? "" : "s");
            return false;
        }
        ok = put(t, f, out, i, n->args.at[i]);
        out->args.at[out->args.len++] = out->at[i].ast;
    }
    for (uint32_t i = 0; i < n->keywords.len && ok; i++)
        ok = put_keyword(t, f, out, ast_keyword(n->keywords.at[i]));
    for (uint32_t i = 0; i < f->param_count && ok; i++) {
        if (out->given[i])
            continue;
        ok = f->params[i].default_value != NULL;
        if (!ok)
            tile_fault(t, DIAG_BAD_CALL, n->base.span, "'%s' needs the argument '%s'",
                       f->name->text, f->params[i].name->text);
        else
            out->at[i] = tile_expr(t, f->params[i].default_value);
    }
    return ok;
}

// ---- in place of the call -------------------------------------------------------------------

/// An argument as a variable of the function: what is computed gets a name of its own.
static Value as_variable(Tile *t, Sym name, Value v)
{
    bool is_number = v.kind == VALUE_SCALAR || v.kind == VALUE_BLOCK;
    if (!is_number || v.size || v.is_weak || v.ast->kind == AST_NAME)
        return v;
    return tile_keep(t, name, v, false);
}

static Value returned(Tile *t, const Function *f, Span call)
{
    AstNodes body = f->def->body;
    const AstNode *last = body.len ? body.at[body.len - 1] : NULL;
    if (!last || last->kind != AST_RETURN) {
        tile_block(t, body, t->out);
        return (Value){ .kind = VALUE_REF, .literal = const_none() };
    }
    body.len--;
    tile_block(t, body, t->out);
    if (diag_error_met(t->program->diags) != t->errors || t->failed) {
        diag_note(t->program->diags, call, "called from here");
        return tile_error();
    }
    return ast_return(last)->value ? tile_expr(t, ast_return(last)->value)
                                   : (Value){ .kind = VALUE_REF, .literal = const_none() };
}

static Value inlined(Tile *t, const Function *f, const FunctionArgs *args, Span call)
{
    const Variables outer = t->env;
    Module *module = t->module;
    TileFrame frame = { .outer = t->frame,
                        .function = f,
                        .depth = t->frame ? t->frame->depth + 1 : 1 };
    if (frame.depth > MAX_CALLS) {
        tile_fault(t, DIAG_RECURSION, call, "calls of '%s' do not end", f->name->text);
        return tile_error();
    }
    Variables env = { 0 };
    t->frame = &frame;
    for (uint32_t i = 0; i < f->param_count; i++) {
        Value v = as_variable(t, f->params[i].name, args->at[i]);
        VEC_PUSH(t->arena, &env, ((Variable){ .name = f->params[i].name, .value = v }));
    }
    t->env = env;
    t->module = f->module;
    Value v = returned(t, f, call);
    t->env = outer;
    t->module = module;
    t->frame = frame.outer;
    return v;
}

/// The type of what a plain function returns, when walking its body shows it.
static ScalarKind plain_kind(Tile *t, const Function *f, const FunctionArgs *args)
{
    DiagSink *diags = t->program->diags;
    const bool muted = diags->muted;
    TileNodes scratch = { 0 };
    TileNodes *out = t->out;
    const uint32_t names = t->names.len;
    diags->muted = true;
    t->out = &scratch;
    Value v = inlined(t, f, args, f->def->name_span);
    t->out = out;
    t->names.len = names;
    diags->muted = muted;
    return v.kind == VALUE_SCALAR || v.kind == VALUE_BLOCK ? v.elem : SCALAR_COUNT;
}

static bool only_numbers(const Function *f, const FunctionArgs *args)
{
    for (uint32_t i = 0; i < f->param_count; i++)
        if (args->at[i].kind == VALUE_TENSOR || args->at[i].kind == VALUE_TILE ||
            args->at[i].kind == VALUE_TUPLE)
            return false;
    return true;
}

Value tile_call_function(Tile *t, const Function *f, const AstCall *n)
{
    FunctionArgs args;
    Value out;
    if (f->kind != FUNC_JIT && f->kind != FUNC_CONSTEXPR) {
        tile_fault(t, DIAG_BAD_CALL, n->base.span, "'%s' is a kernel, which only C calls",
                   f->name->text);
        return tile_error();
    }
    if (!take_args(t, f, n, &args))
        return tile_error();
    bool here = f->module == t->home && t->module == t->home;
    bool plain = here && (f->kind == FUNC_CONSTEXPR || is_plain(t, f, 0)) && only_numbers(f, &args);
    if (!plain)
        return inlined(t, f, &args, n->base.span);
    if (!tile_broadcast(t, args.at, f->param_count, &out))
        return tile_error();
    out.elem = plain_kind(t, f, &args);
    out.is_weak = f->kind == FUNC_CONSTEXPR;
    out.ast = AST_MAKE(t->arena, CALL, Call, n->base.span, .callee = n->callee, .args = args.args,
                       .keywords = args.keywords);
    return out;
}
