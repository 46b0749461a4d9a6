/// expr.c - expressions of tile kernels: what they are in the generated kernel, and their axes.
#include "tile/tile_impl.h"
#include <math.h>
#include <string.h>

// ---- names ----------------------------------------------------------------------------------

/// How a builtin is written where only the language's own names are known.
static AstNode *builtin_ast(Tile *t, const ConstVal *c, const AstNode *n)
{
    if (c->kind == CONST_DTYPE && c->v.dtype->kind == TYPE_SCALAR)
        return tile_nl(t, scalar_info[c->v.dtype->scalar].name);
    const Builtin *b = c->kind == CONST_BUILTIN || c->kind == CONST_ANNOTATION ? c->v.ref : NULL;
    if (b && builtin_find(t->program->builtins, SPACE_LANG, b->name).kind == c->kind)
        return tile_nl(t, b->name->text);
    return b ? tile_sym(t, b->name) : (AstNode *)(uintptr_t)n;
}

static Value reference(Tile *t, Binding *b, const AstNode *n)
{
    ConstVal c = b->value;
    if (b->decl && b->decl->state != DECL_READY)
        c = lower_const_decl(t->program, b->decl, n->span);
    if (c.kind == CONST_ERROR)
        return tile_error();
    bool constant = b->decl && b->decl->kind == DECL_CONSTANT;
    AstNode *ast =
        constant || c.kind == CONST_FUNC ? (AstNode *)(uintptr_t)n : builtin_ast(t, &c, n);
    if (c.kind != CONST_INT && c.kind != CONST_FLOAT && c.kind != CONST_BOOL)
        return (Value){ .kind = VALUE_REF, .ast = ast, .literal = c };
    Value v = tile_scalar(ast, SCALAR_COUNT);
    v.is_weak = true;
    v.literal = c;
    return v;
}

static Value read_variable(Tile *t, const Variable *var, const AstNode *n)
{
    Value v = var->value;
    if (v.kind == VALUE_ERROR && v.is_weak)
        tile_fault(t, DIAG_BRANCH_TYPE, n->span, "'%s' has other axes on some ways that lead here",
                   var->name->text);
    return v.size ? tile_size_value(t, v.size) : v;
}

static Value name(Tile *t, const AstNode *n)
{
    const Variable *var = tile_find(t, ast_name(n)->name);
    Binding b;
    if (var)
        return read_variable(t, var, n);
    if (resolve_name(t->program, t->module, ast_name(n)->name, &b))
        return reference(t, &b, n);
    if (!diag_error_count(t->program->diags))
        tile_fault(t, DIAG_UNDEFINED_NAME, n->span, "'%s' has no value here",
                   ast_name(n)->name->text);
    return tile_error();
}

/// A literal, which stands as it is.
static Value literal(AstNode *n, ConstVal c)
{
    Value v = tile_scalar(n, SCALAR_COUNT);
    v.is_weak = true;
    v.literal = c;
    return v;
}

// ---- attributes -----------------------------------------------------------------------------

static const AstNode *base_of(const AstNode *n)
{
    while (n->kind == AST_ATTRIBUTE)
        n = ast_attribute(n)->object;
    return n;
}

static Value shape_of(Tile *t, const TileTensor *x)
{
    Value v = { .kind = VALUE_TUPLE, .literal = const_none() };
    AstNode *items[TILE_MAX_RANK];
    v.items.at = ARENA_NEW_N(t->arena, Value, x->rank);
    v.items.len = x->rank;
    for (unsigned i = 0; i < x->rank; i++) {
        // Which sizes are used is known when one of them is.
        v.items.at[i] = (Value){ .kind = VALUE_SCALAR, .elem = SCALAR_I32, .size = x->sizes[i] };
        items[i] = tile_sym(t, tile_size_root(x->sizes[i])->name);
    }
    v.ast = tile_list(t, AST_TUPLE, x->rank, items);
    return v;
}

static Value tensor_attribute(Tile *t, const TileTensor *x, const AstAttribute *n)
{
    const char *word = n->name->text;
    if (strcmp(word, "shape") == 0)
        return shape_of(t, x);
    if (strcmp(word, "dtype") == 0)
        return tile_expr(t, x->dtype);
    if (strcmp(word, "ndim") == 0)
        return literal(tile_int(t, x->rank), const_int(x->rank));
    tile_fault(t, DIAG_TYPE_MISMATCH, n->name_span, "a tensor has no '%s'", word);
    return tile_error();
}

static Value block_shape(Tile *t, const Value *v)
{
    Value shape = { .kind = VALUE_TUPLE };
    AstNode *items[TILE_MAX_RANK];
    shape.items.at = ARENA_NEW_N(t->arena, Value, v->rank);
    shape.items.len = v->rank;
    for (unsigned i = 0; i < v->rank; i++) {
        items[i] = v->axes[i] ? v->axes[i]->block : tile_int(t, 1);
        shape.items.at[i] = literal(items[i], const_error());
    }
    shape.ast = tile_list(t, AST_TUPLE, v->rank, items);
    return shape;
}

static Value attribute(Tile *t, const AstAttribute *n)
{
    const AstNode *base = base_of(&n->base);
    Binding b;
    if (base->kind == AST_NAME && !tile_find(t, ast_name(base)->name) &&
        resolve_path(t->program, t->module, &n->base, &b))
        return reference(t, &b, &n->base);
    Value v = tile_expr(t, n->object);
    if (v.kind == VALUE_TENSOR)
        return tensor_attribute(t, v.tensor, n);
    if (v.kind == VALUE_TILE)
        return tile_axis_attribute(t, &v, n->name, n->name_span);
    if (v.kind == VALUE_BLOCK && strcmp(n->name->text, "T") == 0)
        return tile_transpose_last(t, &v, n->base.span);
    if (v.kind == VALUE_BLOCK && strcmp(n->name->text, "shape") == 0)
        return block_shape(t, &v);
    if (v.kind == VALUE_ERROR)
        return v;
    if (v.kind != VALUE_REF && strcmp(n->name->text, "dtype") != 0) {
        tile_fault(t, DIAG_UNDEFINED_NAME, n->name_span, "%s has no attribute '%s'",
                   tile_text(t, &v), n->name->text);
        return tile_error();
    }
    AstNode *ast = AST_MAKE(t->arena, ATTRIBUTE, Attribute, n->base.span, .object = v.ast,
                            .name = n->name, .name_span = n->name_span);
    return (Value){ .kind = VALUE_REF, .ast = ast, .literal = const_none() };
}

// ---- operators ------------------------------------------------------------------------------

static bool is_operand(Tile *t, const Value *v, Span span)
{
    if (v->kind == VALUE_SCALAR || v->kind == VALUE_BLOCK)
        return true;
    if (v->kind == VALUE_ERROR)
        return false;
    tile_fault(t, DIAG_TYPE_MISMATCH, span, "%s is no number", tile_text(t, v));
    if (v->kind == VALUE_TILE)
        diag_help(t->program->diags, "its indices are '%s.index'", v->tile->text);
    else if (v->kind == VALUE_TENSOR)
        diag_help(t->program->diags, "index it with tiles, as in %s[tile]", v->tensor->name->text);
    return false;
}

Value tile_number(Tile *t, const AstNode *n, const char *what)
{
    Value v = tile_expr(t, n);
    if (v.kind != VALUE_SCALAR && v.kind != VALUE_ERROR) {
        tile_fault(t, DIAG_TYPE_MISMATCH, n->span, "%s must be a number, got %s", what,
                   tile_text(t, &v));
        return tile_error();
    }
    return v;
}

bool tile_constant_int(Tile *t, const Value *v, int64_t *out)
{
    (void)t;
    if (v->kind != VALUE_SCALAR || !v->is_weak || v->literal.kind != CONST_INT ||
        v->literal.v.i < INT64_MIN || v->literal.v.i > INT64_MAX)
        return false;
    *out = (int64_t)v->literal.v.i;
    return true;
}

static bool both_known(const Value *a, const Value *b)
{
    return a->is_weak && b->is_weak && a->literal.kind != CONST_ERROR &&
           b->literal.kind != CONST_ERROR;
}

static ScalarKind result_kind(TypeRule rule, const Value *v, unsigned n)
{
    RuleOperand operands[3];
    for (unsigned i = 0; i < n; i++) {
        operands[i] = tile_operand(&v[i]);
        if (!operands[i].literal && v[i].elem == SCALAR_COUNT)
            return SCALAR_COUNT;
    }
    RuleResult r = rule_apply(rule, operands, n);
    return r.why == RULE_OK ? r.kind : SCALAR_COUNT;
}

static Pad combine(AstBinaryOp op, const double *v)
{
    switch ((unsigned)op) {
    case AST_ADD: return tile_pad(v[0] + v[1]);
    case AST_SUB: return tile_pad(v[0] - v[1]);
    case AST_MUL: return tile_pad(v[0] * v[1]);
    case AST_DIV: return tile_pad(v[0] / v[1]);
    default: return (Pad){ 0 };
    }
}

/// acc + a @ b is one operation.
static AstNode *fused(Tile *t, AstBinaryOp op, const Value *a, const Value *b)
{
    const Value *product = b->is_product ? b : a, *sum = product == b ? a : b;
    if (op != AST_ADD || !product->is_product || sum->kind != VALUE_BLOCK ||
        sum->rank != product->rank || memcmp(sum->axes, product->axes, sizeof sum->axes) != 0)
        return NULL;
    return TILE_CALL(t, "dot", product->factors[0], product->factors[1], sum->ast);
}

/// -inf less what is the same along the axis, as in exp(x - max(x)): it is -inf unless the other is
/// an infinity too, and then what counts is no number either.
static bool stays_low(const Value *out, const Value *a, const Value *b, unsigned at)
{
    unsigned lead = out->rank - a->rank, from = b->kind == VALUE_BLOCK ? out->rank - b->rank : 0;
    bool low = a->kind == VALUE_BLOCK && at >= lead && a->pads[at - lead].known &&
               a->pads[at - lead].value == -(double)INFINITY;
    return low && (b->kind == VALUE_SCALAR || at < from || !b->axes[at - from]);
}

Value tile_binary_value(Tile *t, AstBinaryOp op, const Value *a, const Value *b, Span span)
{
    Value v[2] = { *a, *b }, out;
    if (op == AST_MATMUL)
        return tile_matmul(t, a, b, span);
    if (!is_operand(t, a, span) || !is_operand(t, b, span) || !tile_broadcast(t, v, 2, &out))
        return tile_error();
    out.elem = op == AST_POW ? SCALAR_COUNT : result_kind(rule_of_binary(op), v, 2);
    out.is_weak = a->is_weak && b->is_weak;
    out.literal = const_error();
    if (both_known(a, b)) {
        ConstCx cx = { t->arena, t->program->diags };
        out.literal = const_binary(&cx, op, a->literal, b->literal, span);
        if (out.literal.kind == CONST_ERROR)
            return tile_error();
    }
    for (unsigned i = 0; i < out.rank; i++) {
        double pads[2];
        if (tile_pads_of(v, 2, &out, i, pads))
            out.pads[i] = combine(op, pads);
        else if (op == AST_SUB && stays_low(&out, a, b, i))
            out.pads[i] = tile_pad(-(double)INFINITY);
    }
    out.ast = fused(t, op, a, b);
    if (!out.ast)
        out.ast = AST_MAKE(t->arena, BINARY, Binary, span, .op = op, .op_span = span, .lhs = a->ast,
                           .rhs = b->ast);
    return out;
}

static Value unary(Tile *t, const AstUnary *n)
{
    Value v = tile_expr(t, n->operand);
    if (!is_operand(t, &v, n->operand->span))
        return tile_error();
    Value out = tile_block_like(&v, NULL, n->op == AST_NOT ? SCALAR_I1 : v.elem);
    out.is_weak = v.is_weak;
    if (v.is_weak && v.literal.kind != CONST_ERROR) {
        ConstCx cx = { t->arena, t->program->diags };
        out.literal = const_unary(&cx, n->op, v.literal, n->base.span);
    }
    for (unsigned i = 0; i < out.rank; i++)
        if (n->op == AST_NEG && v.pads[i].known)
            out.pads[i] = tile_pad(-v.pads[i].value);
    out.ast = AST_MAKE(t->arena, UNARY, Unary, n->base.span, .op = n->op, .op_span = n->op_span,
                       .operand = v.ast);
    return out;
}

/// Operands with their axes; false after a report.
static bool operands(Tile *t, AstNodes nodes, AstNodes *asts, Value *common)
{
    Value *v = ARENA_NEW_N(t->arena, Value, nodes.len);
    *asts = (AstNodes){ ARENA_NEW_N(t->arena, AstNode *, nodes.len), nodes.len };
    bool ok = true;
    for (uint32_t i = 0; i < nodes.len; i++) {
        v[i] = tile_expr(t, nodes.at[i]);
        bool compared = v[i].kind == VALUE_REF;  // `x is None`, dtypes
        ok = (compared || is_operand(t, &v[i], nodes.at[i]->span)) && ok;
        asts->at[i] = v[i].ast;
    }
    return ok && tile_broadcast(t, v, nodes.len, common);
}

static Value compare(Tile *t, const AstCompare *n)
{
    AstNodes asts;
    Value out;
    if (!operands(t, n->operands, &asts, &out))
        return tile_error();
    out.elem = SCALAR_I1;
    out.ast = AST_MAKE(t->arena, COMPARE, Compare, n->base.span, .ops = n->ops, .operands = asts);
    return out;
}

static Value logic(Tile *t, const AstLogic *n)
{
    AstNodes asts;
    Value out;
    if (!operands(t, n->operands, &asts, &out))
        return tile_error();
    out.elem = SCALAR_I1;
    out.ast = AST_MAKE(t->arena, LOGIC, Logic, n->base.span, .op = n->op, .operands = asts);
    return out;
}

static Value ternary(Tile *t, const AstTernary *n)
{
    Value cond = tile_number(t, n->cond, "a condition");
    Value v[2] = { tile_expr(t, n->then), tile_expr(t, n->orelse) }, out;
    if (cond.kind == VALUE_ERROR || v[0].kind == VALUE_ERROR || v[1].kind == VALUE_ERROR)
        return tile_error();
    AstNode *ast = AST_MAKE(t->arena, TERNARY, Ternary, n->base.span, .cond = cond.ast,
                            .then = v[0].ast, .orelse = v[1].ast);
    if (v[0].kind == VALUE_REF && v[1].kind == VALUE_REF)
        return (Value){ .kind = VALUE_REF, .ast = ast, .literal = v[0].literal };
    if (!is_operand(t, &v[0], n->then->span) || !is_operand(t, &v[1], n->orelse->span) ||
        !tile_broadcast(t, v, 2, &out))
        return tile_error();
    out.elem = result_kind(RULE_ARITH2, v, 2);
    out.is_weak = v[0].is_weak && v[1].is_weak;
    out.at_most = tile_either(&v[0].at_most, &v[1].at_most);
    out.ast = ast;
    return out;
}

static Value sequence(Tile *t, const AstNode *n)
{
    AstNodes items = n->kind == AST_TUPLE ? ast_tuple(n)->items : ast_list(n)->items;
    Value v = { .kind = VALUE_TUPLE };
    AstNode **asts = ARENA_NEW_N(t->arena, AstNode *, items.len);
    v.items.at = ARENA_NEW_N(t->arena, Value, items.len);
    v.items.len = items.len;
    for (uint32_t i = 0; i < items.len; i++) {
        v.items.at[i] = tile_expr(t, items.at[i]);
        if (v.items.at[i].kind == VALUE_ERROR)
            return tile_error();
        asts[i] = v.items.at[i].ast;
    }
    v.ast = tile_list(t, n->kind, items.len, asts);
    return v;
}

static Value expr(Tile *t, const AstNode *n)
{
    AstNode *self = (AstNode *)(uintptr_t)n;
    ConstCx cx = { t->arena, t->program->diags };
    switch (n->kind) {
    case AST_NAME: return name(t, n);
    case AST_INT: return literal(self, const_of_int(&cx, ast_int(n)));
    case AST_FLOAT: return literal(self, const_float(ast_float(n)->value));
    case AST_BOOL: return literal(self, const_bool(ast_bool(n)->value));
    case AST_STRING:
        return (
            Value){ .kind = VALUE_REF, .ast = self, .literal = const_str(ast_string(n)->value) };
    case AST_NONE:
    case AST_FSTRING: return (Value){ .kind = VALUE_REF, .ast = self, .literal = const_none() };
    case AST_TUPLE:
    case AST_LIST: return sequence(t, n);
    case AST_ATTRIBUTE: return attribute(t, ast_attribute(n));
    case AST_CALL: return tile_call_value(t, ast_call(n));
    case AST_SUBSCRIPT: return tile_subscript(t, ast_subscript(n));
    case AST_UNARY: return unary(t, ast_unary(n));
    case AST_BINARY: {
        // A reduction on the right may give the variable on the left what does not count beyond its
        // ends (tile_masked), so the variable is read last.
        bool last = ast_binary(n)->lhs->kind == AST_NAME;
        Value a = last ? tile_error() : tile_expr(t, ast_binary(n)->lhs);
        Value b = tile_expr(t, ast_binary(n)->rhs);
        if (last)
            a = tile_expr(t, ast_binary(n)->lhs);
        return tile_binary_value(t, ast_binary(n)->op, &a, &b, n->span);
    }
    case AST_COMPARE: return compare(t, ast_compare(n));
    case AST_LOGIC: return logic(t, ast_logic(n));
    case AST_TERNARY: return ternary(t, ast_ternary(n));
    case AST_ERROR: return tile_error();
    default: break;
    }
    tile_fault(t, DIAG_NOT_IN_LANGUAGE, n->span, "this is not part of tile kernels");
    return tile_error();
}

Value tile_expr(Tile *t, const AstNode *n)
{
    const Span outer = t->span;
    t->span = n->span;
    Value v = expr(t, n);
    t->span = outer;
    return v;
}
