/// build.c - syntax trees of generated code, each at the place of the source it stands for.
#include "tile/tile_impl.h"
#include <inttypes.h>
#include <string.h>

AstNode *tile_sym(Tile *t, Sym name)
{
    return AST_MAKE(t->arena, NAME, Name, t->span, .name = name);
}

AstNode *tile_name(Tile *t, const char *name)
{
    return tile_sym(t, sym_of(t->program->syms, name));
}

AstNode *tile_int(Tile *t, int64_t value)
{
    bool negative = value < 0;
    uint64_t size = negative ? 0 - (uint64_t)value : (uint64_t)value;
    const char *text = arena_printf(t->arena, "%" PRIu64, size);
    AstNode *n = AST_MAKE(t->arena, INT, Int, t->span, .text = { text, (uint32_t)strlen(text) },
                          .value = size);
    return negative ? AST_MAKE(t->arena, UNARY, Unary, t->span, .op = AST_NEG, .op_span = t->span,
                               .operand = n)
                    : n;
}

/// Infinities are float("inf"), as people write them.
AstNode *tile_float(Tile *t, double value)
{
    bool negative = value < 0;
    AstNode *n;
    if (value - value != 0.0)
        n = tile_call(
            t, tile_name(t, "float"), 1,
            (AstNode *[]){ AST_MAKE(t->arena, STRING, String, t->span, .value = { "inf", 3 }) });
    else
        n = AST_MAKE(t->arena, FLOAT, Float, t->span, .value = negative ? -value : value);
    return negative ? AST_MAKE(t->arena, UNARY, Unary, t->span, .op = AST_NEG, .op_span = t->span,
                               .operand = n)
                    : n;
}

AstNode *tile_nl(Tile *t, const char *name)
{
    return AST_MAKE(t->arena, ATTRIBUTE, Attribute, t->span, .object = tile_name(t, "nl"),
                    .name = sym_of(t->program->syms, name), .name_span = t->span);
}

bool tile_is_int(const AstNode *n, int64_t value)
{
    return n->kind == AST_INT && !ast_int(n)->overflow && ast_int(n)->value == (uint64_t)value;
}

AstNode *tile_binary(Tile *t, AstBinaryOp op, AstNode *a, AstNode *b)
{
    return AST_MAKE(t->arena, BINARY, Binary, t->span, .op = op, .op_span = t->span, .lhs = a,
                    .rhs = b);
}

AstNode *tile_both(Tile *t, AstBinaryOp op, AstNode *a, AstNode *b)
{
    return !a ? b : !b ? a : tile_binary(t, op, a, b);
}

AstNode *tile_list(Tile *t, AstKind kind, uint32_t count, AstNode *const *items)
{
    AstNode **at = ARENA_NEW_N(t->arena, AstNode *, count + 1);
    for (uint32_t i = 0; i < count; i++)
        if (!(at[i] = items[i]))
            return NULL;
    AstNodes list = { at, count };
    return kind == AST_TUPLE ? AST_MAKE(t->arena, TUPLE, Tuple, t->span, .items = list)
                             : AST_MAKE(t->arena, LIST, List, t->span, .items = list);
}

AstNode *tile_compare(Tile *t, AstNode *a, AstCompareOp op, AstNode *b)
{
    AstNode **operands = ARENA_NEW_N(t->arena, AstNode *, 2);
    AstCompareOp *ops = ARENA_NEW(t->arena, AstCompareOp);
    operands[0] = a;
    operands[1] = b;
    *ops = op;
    return AST_MAKE(t->arena, COMPARE, Compare, t->span, .ops = { ops, 1 },
                    .operands = { operands, 2 });
}

/// `n`, or a report: tiles, tensors and lists of them are no expressions of blocks.
static AstNode *passed(Tile *t, AstNode *n)
{
    if (n)
        return n;
    if (diag_error_met(t->program->diags) == t->errors)
        tile_fault(t, DIAG_TYPE_MISMATCH, t->span,
                   "a tile, a tensor or a list of them is no value here");
    return tile_int(t, 0);
}

AstNode *tile_call(Tile *t, AstNode *callee, uint32_t count, AstNode *const *args)
{
    AstNode **at = ARENA_NEW_N(t->arena, AstNode *, count + 1);
    for (uint32_t i = 0; i < count; i++)
        at[i] = passed(t, args[i]);
    return AST_MAKE(t->arena, CALL, Call, t->span, .callee = callee, .args = { at, count });
}

AstNode *tile_with(Tile *t, AstNode *call, const char *name, AstNode *value)
{
    const AstCall *c = ast_call(call);
    AstNode **at = ARENA_NEW_N(t->arena, AstNode *, c->keywords.len + 1);
    for (uint32_t i = 0; i < c->keywords.len; i++)
        at[i] = c->keywords.at[i];
    at[c->keywords.len] =
        AST_MAKE(t->arena, KEYWORD, Keyword, t->span, .name = sym_of(t->program->syms, name),
                 .value = passed(t, value));
    return AST_MAKE(t->arena, CALL, Call, t->span, .callee = c->callee, .args = c->args,
                    .keywords = { at, c->keywords.len + 1 });
}

AstNode *tile_spread(Tile *t, AstNode *v, unsigned at, unsigned rank)
{
    if (rank < 2)
        return v;
    AstNode **indices = ARENA_NEW_N(t->arena, AstNode *, rank);
    for (unsigned i = 0; i < rank; i++)
        indices[i] = i == at ? AST_MAKE(t->arena, SLICE, Slice, t->span, .lower = NULL)
                             : ast_make(t->arena, AST_NONE, t->span, &(const AstNone){ 0 });
    return AST_MAKE(t->arena, SUBSCRIPT, Subscript, t->span, .object = v, .is_tuple = true,
                    .indices = { indices, rank });
}

void tile_emit(Tile *t, AstNode *statement)
{
    VEC_PUSH(t->arena, t->out, statement);
}

void tile_emit_assign(Tile *t, AstNode *target, AstNode *value)
{
    AstNode **targets = ARENA_NEW(t->arena, AstNode *);
    *targets = target;
    tile_emit(
        t, AST_MAKE(t->arena, ASSIGN, Assign, t->span, .targets = { targets, 1 }, .value = value));
}

static bool is_taken(const Tile *t, Sym name)
{
    for (uint32_t i = 0; i < t->names.len; i++)
        if (t->names.at[i] == name)
            return true;
    return false;
}

Sym tile_fresh(Tile *t, const char *text)
{
    Sym name = sym_of(t->program->syms, text);
    for (unsigned i = 1; is_taken(t, name); i++)
        name = sym_of(t->program->syms, arena_printf(t->arena, "%s_%u", text, i));
    VEC_PUSH(t->arena, &t->names, name);
    return name;
}
