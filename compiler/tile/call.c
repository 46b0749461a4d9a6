/// call.c - calls in tile kernels: which builtin is meant, its arguments, and what it does to axes.
#include "tile/tile_impl.h"
#include <assert.h>
#include <math.h>
#include <string.h>

// ---- arguments ------------------------------------------------------------------------------

static const char *const load_words[] = { "input",           "index",          "extra_mask",
                                          "eviction_policy", "cache_modifier", NULL };
static const char *const store_words[] = { "input",      "index",           "value",
                                           "extra_mask", "eviction_policy", "cache_modifier",
                                           NULL };
static const char *const atomic_words[] = { "input", "index", "value", "sem", "scope", NULL };
static const char *const reduce_words[] = { "input",     "axis",  "combine_fn",
                                            "keep_dims", "other", NULL };
static const char *const random_words[] = { "shape", "seed", NULL };
static const char *const random_integer_words[] = { "shape", "low", "high", "seed", NULL };

static bool is_atomic(BuiltinId id)
{
    switch ((unsigned)id) {
    case BUILTIN_ATOMIC_ADD:
    case BUILTIN_ATOMIC_MAX:
    case BUILTIN_ATOMIC_MIN:
    case BUILTIN_ATOMIC_AND:
    case BUILTIN_ATOMIC_OR:
    case BUILTIN_ATOMIC_XOR:
    case BUILTIN_ATOMIC_XCHG: return true;
    default: return false;
    }
}

/// Parameters that a builtin has in tile kernels and nowhere else; NULL: its own.
static const char *const *tile_words(Tile *t, const TileArgs *args, const AstCall *n)
{
    const BuiltinId id = args->builtin->id;
    bool of_shape = n->args.len && tile_is_shape(t, n->args.at[0]);
    if (id == BUILTIN_LOAD)
        return load_words;
    if (id == BUILTIN_STORE)
        return store_words;
    if (id == BUILTIN_REDUCE)
        return reduce_words;
    if (of_shape && id == BUILTIN_RANDINT)
        return random_integer_words;
    if (of_shape && (id == BUILTIN_RAND || id == BUILTIN_RANDN))
        return random_words;
    return is_atomic(id) ? atomic_words : NULL;
}

static void take_words(Tile *t, TileArgs *args, const AstCall *n)
{
    const Builtin *b = args->builtin;
    const char *const *words = tile_words(t, args, n);
    args->has_own_words = words != NULL;
    args->of_shape = words == random_words || words == random_integer_words;
    for (; words && words[args->count]; args->count++)
        args->names[args->count] = words[args->count];
    for (; !words && args->count < b->param_count && args->count < TILE_MAX_ARGS; args->count++)
        args->names[args->count] = b->params[args->count].name->text;
}

static int find_word(const TileArgs *args, const char *name)
{
    for (uint32_t i = 0; i < args->count; i++)
        if (strcmp(args->names[i], name) == 0)
            return (int)i;
    return -1;
}

/// PyTorch's words for axes are understood.
static int find_argument(const TileArgs *args, const char *name)
{
    int at = find_word(args, name);
    if (at < 0 && strcmp(name, "dim") == 0)
        at = find_word(args, "axis");
    if (at < 0 && strcmp(name, "axis") == 0)
        at = find_word(args, "dim");
    if (at < 0 && (strcmp(name, "keepdim") == 0 || strcmp(name, "keepdims") == 0))
        at = find_word(args, "keep_dims");
    return at;
}

static bool put(Tile *t, TileArgs *args, uint32_t at, Value v, const AstNode *n)
{
    if (args->given[at]) {
        tile_fault(t, DIAG_BAD_CALL, n->span, "'%s' gets two values for '%s'",
                   args->builtin->name->text, args->names[at]);
        return false;
    }
    args->at[at] = v;
    args->nodes[at] = n;
    args->given[at] = true;
    return v.kind != VALUE_ERROR;
}

static bool is_variadic(const TileArgs *args, uint32_t at)
{
    return !args->has_own_words && args->builtin->params[at].variadic;
}

static bool put_positional(Tile *t, TileArgs *args, Value v, const AstNode *n, uint32_t *next)
{
    if (*next >= args->count) {
        tile_fault(t, DIAG_BAD_CALL, n->span, "too many arguments for '%s'; it takes %u",
                   args->builtin->name->text, args->count);
        return false;
    }
    if (!is_variadic(args, *next))
        return put(t, args, (*next)++, v, n);
    if (!args->given[*next]) {
        args->at[*next] = v;
        args->nodes[*next] = n;
        args->given[*next] = true;
    }
    VEC_PUSH(t->arena, &args->rest, v);
    return v.kind != VALUE_ERROR;
}

static bool put_keyword(Tile *t, TileArgs *args, const AstKeyword *k)
{
    int at = find_argument(args, k->name->text);
    if (at >= 0)
        return put(t, args, (uint32_t)at, tile_expr(t, k->value), k->value);
    const char *near = diag_did_you_mean(k->name->text, args->names, args->count);
    tile_fault(t, DIAG_BAD_CALL, k->base.span, "unknown argument '%s' of '%s'", k->name->text,
               args->builtin->name->text);
    if (near)
        diag_help(t->program->diags, "did you mean '%s'?", near);
    return false;
}

static bool bind(Tile *t, const Builtin *b, const Value *receiver, const AstCall *n, TileArgs *out)
{
    uint32_t next = 0;
    bool ok = true;
    *out = (TileArgs){ .builtin = b, .span = n->base.span };
    take_words(t, out, n);
    if (receiver)
        ok = put_positional(t, out, *receiver, ast_attribute(n->callee)->object, &next);
    for (uint32_t i = 0; i < n->args.len && ok; i++)
        ok = put_positional(t, out, tile_expr(t, n->args.at[i]), n->args.at[i], &next);
    for (uint32_t i = 0; i < n->keywords.len && ok; i++)
        ok = put_keyword(t, out, ast_keyword(n->keywords.at[i]));
    for (uint32_t i = 0; i < b->param_count && ok && !out->has_own_words; i++) {
        if (out->given[i] || b->params[i].has_default)
            continue;
        tile_fault(t, DIAG_BAD_CALL, n->base.span, "'%s' needs the argument '%s'", b->name->text,
                   b->params[i].name->text);
        ok = false;
    }
    return ok;
}

static AstNode *callee_of(Tile *t, const Builtin *b)
{
    bool in_language = builtin_find(t->program->builtins, SPACE_LANG, b->name).kind != CONST_ERROR;
    bool python = b->id >= BUILTIN_PY_MIN && b->id <= BUILTIN_PY_PRINT;
    return in_language && !python ? tile_nl(t, b->name->text) : tile_sym(t, b->name);
}

AstNode *tile_pass_call(Tile *t, const TileArgs *args)
{
    AstNode *call = tile_call(t, callee_of(t, args->builtin), 0, NULL);
    bool positional = true;
    AstNode **list = ARENA_NEW_N(t->arena, AstNode *, args->count + args->rest.len + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < args->count && positional; i++) {
        if (is_variadic(args, i)) {
            for (uint32_t k = 0; k < args->rest.len; k++)
                list[n++] = args->rest.at[k].ast;
            continue;
        }
        positional = args->given[i] && !(i && is_variadic(args, i - 1));
        if (positional)
            list[n++] = args->at[i].ast;
    }
    call = tile_call(t, ast_call(call)->callee, n, list);
    bool behind = false;
    for (uint32_t i = 0, k = 0; i < args->count; i++) {
        bool variadic = is_variadic(args, i);
        k += variadic ? args->rest.len : 1;
        behind = behind || (!variadic && k > n);
        if (behind && !variadic && args->given[i])
            call = tile_with(t, call, args->names[i], args->at[i].ast);
    }
    return call;
}

// ---- elementwise functions ------------------------------------------------------------------

static Pad unary_pad(int op, double x)
{
    switch (op) {
    case IR_ABS: return tile_pad(fabs(x));
    case IR_EXP: return tile_pad(exp(x));
    case IR_EXP2: return tile_pad(exp2(x));
    case IR_SQRT:
    case IR_TANH:
    case IR_SIN:
    case IR_ERF:
    case IR_EXPM1:
    case IR_LOG1P:
    case IR_FLOOR:
    case IR_CEIL:
    case IR_ROUND:
    case IR_RINT:
    case IR_TRUNC: return x == 0.0 ? tile_pad(0.0) : (Pad){ 0 };
    default: return (Pad){ 0 };
    }
}

static Pad elementwise_pad(int op, const double *v)
{
    switch (op) {
    case IR_MAX: return tile_pad(fmax(v[0], v[1]));
    case IR_MIN: return tile_pad(fmin(v[0], v[1]));
    case IR_SELECT: return v[0] == v[1] ? tile_pad(v[0]) : (Pad){ 0 };
    default: return unary_pad(op, v[0]);
    }
}

static ScalarKind elementwise_kind(const Builtin *b, const Value *v, uint32_t n)
{
    RuleOperand operands[3];
    for (uint32_t i = 0; i < n; i++) {
        operands[i] = tile_operand(&v[i]);
        if (!operands[i].literal && v[i].elem == SCALAR_COUNT)
            return SCALAR_COUNT;
    }
    RuleResult r = rule_apply(b->rule, operands, n);
    return r.why == RULE_OK ? r.kind : SCALAR_COUNT;
}

static bool numbers_only(Tile *t, const TileArgs *args, const Value *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (v[i].kind == VALUE_SCALAR || v[i].kind == VALUE_BLOCK)
            continue;
        if (v[i].kind != VALUE_ERROR)
            tile_fault(t, DIAG_TYPE_MISMATCH, args->nodes[i] ? args->nodes[i]->span : args->span,
                       "'%s' needs numbers, got %s", args->builtin->name->text,
                       tile_text(t, &v[i]));
        if (v[i].kind == VALUE_TENSOR)
            diag_help(t->program->diags, "index it with tiles, as in %s[tile]",
                      v[i].tensor->name->text);
        return false;
    }
    return true;
}

static Value elementwise(Tile *t, const TileArgs *args)
{
    const Builtin *b = args->builtin;
    unsigned arity = rule_arity(b->rule), first = b->rule == RULE_SELECT3 ? 1 : 0;
    Value out;
    if (!numbers_only(t, args, args->at, arity) || !tile_broadcast(t, args->at, arity, &out))
        return tile_error();
    out.elem = elementwise_kind(b, args->at + first, arity - first);
    for (unsigned i = 0; i < out.rank; i++) {
        double pads[3];
        if (tile_pads_of(args->at + first, arity - first, &out, i, pads))
            out.pads[i] = elementwise_pad(b->op, pads);
    }
    out.ast = tile_pass_call(t, args);
    return out;
}

static Value cast(Tile *t, const TileArgs *args)
{
    const Value *v = &args->at[0];
    if (!numbers_only(t, args, v, 1))
        return tile_error();
    const ConstVal *c = &args->at[1].literal;
    ScalarKind to =
        args->at[1].kind == VALUE_REF && c->kind == CONST_DTYPE && c->v.dtype->kind == TYPE_SCALAR
            ? c->v.dtype->scalar
            : SCALAR_COUNT;
    Value out = tile_block_like(v, NULL, to);
    bool is_float = to != SCALAR_COUNT && scalar_info[to].cls == SCLASS_FLOAT;
    for (unsigned i = 0; i < out.rank; i++)
        if (v->pads[i].known && (v->pads[i].value == 0.0 || v->pads[i].value == 1.0 || is_float))
            out.pads[i] = v->pads[i];
    AstNode *method = AST_MAKE(t->arena, ATTRIBUTE, Attribute, t->span, .object = v->ast,
                               .name = sym_of(t->program->syms, "to"), .name_span = t->span);
    out.ast = tile_call(t, method, 1, (AstNode *[]){ args->at[1].ast });
    for (uint32_t i = 2; i < args->count; i++)
        if (args->given[i])
            out.ast = tile_with(t, out.ast, args->names[i], args->at[i].ast);
    return out;
}

/// Python's min and max: a reduction of one block, else elementwise.
static Value python_max(Tile *t, const TileArgs *args)
{
    Value out;
    if (args->rest.len == 0) {
        tile_fault(t, DIAG_BAD_CALL, t->span, "'%s' of nothing", args->builtin->name->text);
        return tile_error();
    }
    if (args->rest.len == 1 || args->given[1])
        return tile_reduce(t, args);
    if (!numbers_only(t, args, args->rest.at, args->rest.len) ||
        !tile_broadcast(t, args->rest.at, args->rest.len, &out))
        return tile_error();
    ScalarKind kind = args->rest.at[0].elem;
    for (uint32_t i = 1; i < args->rest.len; i++)
        if (!args->rest.at[i].is_weak)
            kind = kind == args->rest.at[i].elem || args->rest.at[0].is_weak ? args->rest.at[i].elem
                                                                             : SCALAR_COUNT;
    out.elem = kind;
    out.ast = tile_pass_call(t, args);
    for (uint32_t i = 0; args->builtin->id == BUILTIN_PY_MIN && i < args->rest.len; i++)
        out.at_most = tile_least(&out.at_most, &args->rest.at[i].at_most);
    return out;
}

/// What knows nothing of axes: allowed on scalars and constants.
static Value pass_on(Tile *t, const TileArgs *args)
{
    for (uint32_t i = 0; i < args->count; i++) {
        if (!args->given[i] || (args->at[i].kind != VALUE_BLOCK &&
                                args->at[i].kind != VALUE_TENSOR && args->at[i].kind != VALUE_TILE))
            continue;
        tile_fault(t, DIAG_TILE_FORM, args->nodes[i]->span,
                   "'%s' does not take %s in a tile kernel", args->builtin->name->text,
                   tile_text(t, &args->at[i]));
        return tile_error();
    }
    if (args->builtin->id == BUILTIN_STATIC_ASSERT || args->builtin->id == BUILTIN_STATIC_PRINT)
        return (Value){ .kind = VALUE_REF, .ast = tile_pass_call(t, args) };
    Value v = tile_scalar(tile_pass_call(t, args), SCALAR_COUNT);
    v.is_weak = args->given[0] && args->at[0].is_weak;
    return v;
}

/// tile_begin(tile) is tile.begin.
static Value tile_question(Tile *t, const TileArgs *args)
{
    assert(args->given[0] && args->nodes[0]);
    if (args->at[0].kind != VALUE_TILE) {
        tile_fault(t, DIAG_TYPE_MISMATCH, args->nodes[0]->span, "'%s' needs a tile, got %s",
                   args->builtin->name->text, tile_text(t, &args->at[0]));
        return tile_error();
    }
    const char *word = args->builtin->name->text + strlen("tile_");
    return tile_axis_attribute(t, &args->at[0], sym_of(t->program->syms, word), args->span);
}

/// device_assert holds where there is something.
static Value assertion(Tile *t, const TileArgs *args)
{
    const Value *cond = &args->at[0];
    if (!numbers_only(t, args, cond, 1))
        return tile_error();
    AstNode *call = tile_pass_call(t, args), *mask = tile_mask(t, cond);
    if (mask && args->given[2])
        mask = tile_both(t, AST_BIT_AND, mask, args->at[2].ast);
    Value v = tile_block_like(cond, NULL, SCALAR_COUNT);
    v.ast = mask ? TILE_CALL(t, "device_assert", cond->ast, args->at[1].ast) : call;
    if (mask)
        v.ast = tile_with(t, v.ast, "mask", mask);
    return v;
}

static Value call_builtin(Tile *t, const TileArgs *args)
{
    const Builtin *b = args->builtin;
    if (b->unsupported) {
        builtin_report_unsupported(t->program->diags, args->span, b);
        t->failed = true;
        return tile_error();
    }
    switch ((unsigned)b->id) {
    case BUILTIN_TILE:
    case BUILTIN_GRID:
        tile_fault(t, DIAG_TILE_FORM, args->span, "'%s' stands only in the head of a for loop",
                   b->name->text);
        return tile_error();
    case BUILTIN_CUMSUM:
    case BUILTIN_CUMPROD:
    case BUILTIN_ASSOCIATIVE_SCAN: return tile_scan(t, args);
    case BUILTIN_REDUCE: return tile_reduce_by(t, args);
    case BUILTIN_DEVICE_ASSERT: return assertion(t, args);
    case BUILTIN_REGISTER_BLOCK_SIZE: return tile_register_block(t, args);
    case BUILTIN_ZEROS:
    case BUILTIN_ONES:
    case BUILTIN_FULL: return tile_filled(t, args);
    case BUILTIN_ZEROS_LIKE: return tile_filled_like(t, args);
    case BUILTIN_SUM:
    case BUILTIN_MEAN:
    case BUILTIN_MAX:
    case BUILTIN_MIN:
    case BUILTIN_AMAX:
    case BUILTIN_AMIN:
    case BUILTIN_ARGMAX:
    case BUILTIN_ARGMIN:
    case BUILTIN_XOR_SUM:
    case BUILTIN_REDUCE_OR: return tile_reduce(t, args);
    case BUILTIN_PY_MAX:
    case BUILTIN_PY_MIN: return python_max(t, args);
    case BUILTIN_SOFTMAX: return tile_softmax(t, args);
    case BUILTIN_DOT:
    case BUILTIN_MATMUL: return tile_matmul_call(t, args);
    case BUILTIN_TRANS:
    case BUILTIN_PERMUTE: return tile_transposed(t, args);
    case BUILTIN_RAND:
    case BUILTIN_RANDN:
    case BUILTIN_RANDINT:
    case BUILTIN_RAND4X:
    case BUILTIN_RANDN4X:
    case BUILTIN_RANDINT4X: return tile_random(t, args);
    case BUILTIN_LOAD: return tile_load_call(t, args);
    case BUILTIN_STORE: return tile_store_call(t, args);
    case BUILTIN_TO:
    case BUILTIN_CAST: return cast(t, args);
    default: break;
    }
    if (is_atomic(b->id))
        return tile_atomic_call(t, args);
    if (b->id >= BUILTIN_TILE_INDEX && b->id <= BUILTIN_TILE_BLOCK_SIZE)
        return tile_question(t, args);
    return b->op >= 0 && b->rule != RULE_NONE ? elementwise(t, args) : pass_on(t, args);
}

// ---- what is called -------------------------------------------------------------------------

static Value call_method(Tile *t, const AstCall *n, const AstAttribute *callee)
{
    Value receiver = tile_expr(t, callee->object);
    if (receiver.kind == VALUE_ERROR)
        return receiver;
    if (receiver.kind == VALUE_TENSOR)
        return tile_tensor_method(t, receiver.tensor, n);
    bool of_dtype = receiver.kind == VALUE_REF;
    const BuiltinUse use = of_dtype ? USE_DTYPE_METHOD : USE_METHOD;
    const Builtin *b = builtin_find_method(t->program->builtins, callee->name, use);
    if (!b) {
        const char *near = builtin_suggest_method(t->program->builtins, callee->name->text, use);
        tile_fault(t, DIAG_UNDEFINED_NAME, callee->name_span, "%s has no method '%s'",
                   tile_text(t, &receiver), callee->name->text);
        if (near)
            diag_help(t->program->diags, "did you mean '%s'?", near);
        return tile_error();
    }
    TileArgs args;
    if (of_dtype) {
        AstNode *method = AST_MAKE(t->arena, ATTRIBUTE, Attribute, t->span, .object = receiver.ast,
                                   .name = callee->name, .name_span = callee->name_span);
        Value v = tile_scalar(tile_call(t, method, 0, NULL), SCALAR_COUNT);
        v.is_weak = true;
        return v;
    }
    return bind(t, b, &receiver, n, &args) ? call_builtin(t, &args) : tile_error();
}

static bool is_path(Tile *t, const AstNode *n)
{
    while (n->kind == AST_ATTRIBUTE)
        n = ast_attribute(n)->object;
    return n->kind == AST_NAME && !tile_find(t, ast_name(n)->name);
}

bool tile_bind_args(Tile *t, const Builtin *b, const AstCall *n, TileArgs *out)
{
    return bind(t, b, NULL, n, out);
}

Value tile_call_value(Tile *t, const AstCall *n)
{
    if (n->callee->kind == AST_ATTRIBUTE && !is_path(t, n->callee))
        return call_method(t, n, ast_attribute(n->callee));
    Binding bound;
    if (is_path(t, n->callee) && resolve_path(t->program, t->module, n->callee, &bound)) {
        if (bound.value.kind == CONST_BUILTIN || bound.value.kind == CONST_ANNOTATION) {
            TileArgs args;
            if (((const Builtin *)bound.value.v.ref)->id == BUILTIN_REGISTER_TUNABLE)
                return tile_register_tunable(t, n);
            return bind(t, bound.value.v.ref, NULL, n, &args) ? call_builtin(t, &args)
                                                              : tile_error();
        }
        if (bound.value.kind == CONST_FUNC)
            return tile_call_function(t, bound.value.v.ref, n);
    }
    if (n->callee->kind == AST_ATTRIBUTE)
        return call_method(t, n, ast_attribute(n->callee));
    tile_fault(t, DIAG_BAD_CALL, n->callee->span, "this is no function");
    return tile_error();
}
