/// parse_expr.c - calls, comparisons, displays and strings: expressions that take work to make.
#include "front/parse_impl.h"
#include <string.h>

enum { MAX_KEYWORDS = 255 };

static void deepen(AstNode *n, const AstNode *child)
{
    if (child && n->depth <= child->depth)
        n->depth = child->depth + 1;
}

static AstCompareOps add_op(Parser *p, AstCompareOps ops, AstCompareOp op)
{
    if ((ops.len & (ops.len - 1)) == 0) {  // full: the room is the next power of two
        AstCompareOp *at = ARENA_NEW_N(p->arena, AstCompareOp, ops.len ? 2 * (size_t)ops.len : 1);
        if (ops.len)
            memcpy(at, ops.at, ops.len * sizeof *at);
        ops.at = at;
    }
    ops.at[ops.len++] = op;
    return ops;
}

AstNode *parse_compare(Parser *p, Span span, AstNode *lhs, AstCompareOp op, AstNode *rhs)
{
    AstNodes operands = parse_list_add(p, parse_list_add(p, (AstNodes){ 0 }, lhs), rhs);

    return PARSE_NODE(p, COMPARE, Compare, span, .ops = add_op(p, (AstCompareOps){ 0 }, op),
                      .operands = operands);
}

AstNode *parse_compare_more(Parser *p, Span span, AstNode *chain, AstCompareOp op, AstNode *rhs)
{
    if (chain->kind != AST_COMPARE)
        return chain;

    AstCompare *c = (AstCompare *)chain;
    c->ops = add_op(p, c->ops, op);
    c->operands = parse_list_add(p, c->operands, rhs);
    chain->span = span;
    deepen(chain, rhs);
    return chain;
}

static void check_keyword(Parser *p, AstNodes keywords, const AstKeyword *k)
{
    for (uint32_t i = 0; i < keywords.len; i++) {
        if (ast_keyword(keywords.at[i])->name == k->name) {
            parse_report(p, DIAG_SYNTAX, k->base.span, "argument '%s' is given twice",
                         k->name->text);
            return;
        }
    }
}

static bool is_bare_generator(const AstNode *n)
{
    return n->kind == AST_COMPREHENSION && !ast_comprehension(n)->is_list &&
           !(n->flags & AST_FLAG_PARENS);
}

AstNode *parse_call(Parser *p, Span span, AstNode *callee, AstNodes arguments)
{
    AstNodes args = { 0 }, keywords = { 0 };

    for (uint32_t i = 0; i < arguments.len; i++) {
        AstNode *n = arguments.at[i];
        if (n->kind == AST_KEYWORD) {
            if (keywords.len == MAX_KEYWORDS) {
                parse_report(p, DIAG_SYNTAX, n->span, "more than %d named arguments", MAX_KEYWORDS);
                break;
            }
            check_keyword(p, keywords, ast_keyword(n));
            keywords = parse_list_add(p, keywords, n);
            continue;
        }
        if (keywords.len > 0 && n->kind != AST_STARRED && n->kind != AST_ERROR)
            parse_report(p, DIAG_SYNTAX, n->span,
                         "an argument without a name cannot follow one with a name");
        if (arguments.len > 1 && is_bare_generator(n))
            parse_report(p, DIAG_SYNTAX, n->span,
                         "a generator among other arguments needs parentheses");
        args = parse_list_add(p, args, n);
    }
    return PARSE_NODE(p, CALL, Call, span, .callee = callee, .args = args, .keywords = keywords);
}

AstNode *parse_keyword(Parser *p, Span span, AstNode *name, AstNode *value)
{
    if (name->kind == AST_NAME)
        return PARSE_NODE(p, KEYWORD, Keyword, span, .name = ast_name(name)->name, .value = value);
    if (name->kind != AST_ERROR &&
        parse_report(p, DIAG_SYNTAX, name->span, "the name of an argument must be a plain name"))
        diag_help(p->diags, "write '==' to compare");
    return parse_error_node(p, span);
}

AstNode *parse_subscript(Parser *p, Span span, AstNode *object, AstNodes indices, bool comma)
{
    return PARSE_NODE(p, SUBSCRIPT, Subscript, span, .object = object,
                      .is_tuple = comma || indices.len > 1, .indices = indices);
}

/// The expression with its parentheses: they belong to its place, not to the tree.
AstNode *parse_parens(AstNode *n, Span span)
{
    n->flags |= AST_FLAG_PARENS;
    n->span = span;
    return n;
}

AstNode *parse_dict(Parser *p, Span span, AstNodes items)
{
    AstNodes keys = { 0 }, values = { 0 };

    for (uint32_t i = 0; i + 1 < items.len; i += 2) {
        keys = parse_list_add(p, keys, items.at[i]);
        values = parse_list_add(p, values, items.at[i + 1]);
    }
    return PARSE_NODE(p, DICT, Dict, span, .keys = keys, .values = values);
}

AstNode *parse_comprehension(Span span, AstNode *element, AstNode *clause, bool is_list)
{
    if (clause->kind != AST_COMPREHENSION)
        return clause;

    AstComprehension *c = (AstComprehension *)clause;
    c->is_list = is_list;
    c->element = element;
    clause->span = span;
    deepen(clause, element);
    return clause;
}

static bool is_text(const AstNode *n)
{
    return n->kind == AST_STRING;
}

/// One STRING for parts[from..to), which are all STRINGs.
static AstNode *join_texts(Parser *p, AstNodes parts, uint32_t from, uint32_t to)
{
    size_t len = 0;

    if (to - from == 1)
        return parts.at[from];
    for (uint32_t i = from; i < to; i++)
        len += ast_string(parts.at[i])->value.len;

    char *text = arena_alloc(p->arena, len + 1, 1), *out = text;
    for (uint32_t i = from; i < to; i++) {
        Str piece = ast_string(parts.at[i])->value;
        memcpy(out, piece.at, piece.len);
        out += piece.len;
    }
    return PARSE_NODE(p, STRING, String, span_join(parts.at[from]->span, parts.at[to - 1]->span),
                      .value = { text, (uint32_t)len },
                      .is_bytes = ast_string(parts.at[from])->is_bytes);
}

static AstNodes merge_texts(Parser *p, AstNodes parts)
{
    AstNodes merged = { 0 };

    for (uint32_t i = 0, to; i < parts.len; i = to) {
        to = i + 1;
        while (is_text(parts.at[i]) && to < parts.len && is_text(parts.at[to]))
            to++;
        merged = parse_list_add(p, merged,
                                is_text(parts.at[i]) ? join_texts(p, parts, i, to) : parts.at[i]);
    }
    return merged;
}

static bool mixes_bytes(AstNodes pieces)
{
    bool bytes = false, text = false;

    for (uint32_t i = 0; i < pieces.len; i++) {
        bool is_bytes = is_text(pieces.at[i]) && ast_string(pieces.at[i])->is_bytes;
        bytes |= is_bytes;
        text |= !is_bytes;
    }
    return bytes && text;
}

AstNode *parse_strings(Parser *p, Span span, AstNodes pieces)
{
    AstNodes parts = { 0 };
    bool formatted = false;

    if (pieces.len == 1)
        return pieces.at[0];
    if (mixes_bytes(pieces)) {
        parse_report(p, DIAG_SYNTAX, span, "bytes and text literals cannot be joined");
        return parse_error_node(p, span);
    }
    for (uint32_t i = 0; i < pieces.len; i++) {
        AstNode *n = pieces.at[i];
        formatted |= !is_text(n);
        if (n->kind == AST_FSTRING)
            parts = parse_list_join(p, parts, ast_fstring(n)->parts);
        else
            parts = parse_list_add(p, parts, n);
    }
    parts = merge_texts(p, parts);
    assert(formatted || parts.len == 1);
    if (formatted)
        return PARSE_NODE(p, FSTRING, Fstring, span, .parts = parts);
    return parts.at[0];
}

char parse_conversion(Parser *p, Span span, Sym name)
{
    if (name->len == 1 && strchr("rsa", name->text[0]))
        return name->text[0];
    parse_report(p, DIAG_SYNTAX, span, "unknown conversion '!%s', expected '!r', '!s' or '!a'",
                 name->text);
    return 0;
}
