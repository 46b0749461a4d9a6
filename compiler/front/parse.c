/// parse.c - the parser's door: parse_file, the flow of tokens into the grammar, node numbering.
///
/// lang/gram.y is the grammar; parse_build.c, parse_expr.c make nodes, parse_error.c words the
/// messages, parse_check.c looks at whole functions afterwards.
#include "front/parse_impl.h"
#include "gram.h"
#include <string.h>

/// Words that only begin statements which newt does not have: the line is not looked at.
static bool is_foreign_word(int kind)
{
    static const int kinds[] = { TOK_WITH,  TOK_CLASS, TOK_DEL, TOK_GLOBAL, TOK_NONLOCAL,
                                 TOK_RAISE, TOK_ASYNC, TOK_TRY, TOK_EXCEPT, TOK_FINALLY };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i] == kind)
            return true;
    }
    return false;
}

int parse_next_token(Parser *p, LexValue *value, Span *span)
{
    int kind = lex_next(&p->lexer, value, span);

    while (p->skip_line && kind != TOK_NEWLINE && kind != 0)
        kind = lex_next(&p->lexer, value, span);
    p->skip_line = is_foreign_word(kind);
    p->before = p->token;
    p->name_before = p->name;
    p->token = kind;
    p->name = kind == TOK_NAME ? value->name : NULL;
    return kind;
}

AstNode *parse_node(Parser *p, AstNode *n)
{
    n->id = ++p->node_count;
    if (n->depth <= PARSE_MAX_DEPTH)
        return n;
    parse_too_deep(p, n->span);
    return parse_error_node(p, n->span);
}

AstNode *parse_leaf(Parser *p, AstKind kind, Span span)
{
    AstNode none = { 0 };

    assert(ast_kind_info[kind].size == sizeof none);
    return parse_node(p, ast_make(p->arena, kind, span, &none));
}

AstNode *parse_error_node(Parser *p, Span span)
{
    assert(diag_error_count(p->diags) > 0 || p->diags->muted);
    return parse_leaf(p, AST_ERROR, span);
}

AstText parse_text(Parser *p, Span span)
{
    uint32_t len = span.hi - span.lo;

    return (AstText){ arena_strndup(p->arena, p->file->text + (span.lo - p->file->base), len),
                      len };
}

AstNodes parse_list_add(Parser *p, AstNodes list, AstNode *n)
{
    if ((list.len & (list.len - 1)) == 0) {  // full: the room is the next power of two
        AstNode **at = ARENA_NEW_N(p->arena, AstNode *, list.len ? 2 * (size_t)list.len : 1);
        if (list.len)
            memcpy(at, list.at, list.len * sizeof *at);
        list.at = at;
    }
    list.at[list.len++] = n;
    return list;
}

AstNodes parse_list_join(Parser *p, AstNodes list, AstNodes more)
{
    if (list.len == 0)
        return more;
    for (uint32_t i = 0; i < more.len; i++)
        list = parse_list_add(p, list, more.at[i]);
    return list;
}

/// Puts the reports from `first` on into the order of the text: checks run after the grammar.
static void sort_reports(DiagSink *d, uint32_t first)
{
    for (uint32_t i = first + 1; i < d->list.len; i++) {
        Diag *diag = d->list.at[i];
        uint32_t at = i;
        for (; at > first && d->list.at[at - 1]->span.lo > diag->span.lo; at--)
            d->list.at[at] = d->list.at[at - 1];
        d->list.at[at] = diag;
    }
}

AstModule *parse_file(Arena *a, SymTable *syms, const SourceMap *sources, const SourceFile *file,
                      DiagSink *diags)
{
    Parser *p = ARENA_NEW(a, Parser);
    Span span = { file->base, file->base + file->len };
    uint32_t reports = diags->list.len;

    assert(source_pos(sources, file->base).file == file);
    (void)sources;
    *p = (Parser){ .arena = a, .syms = syms, .file = file, .diags = diags };
    lex_init(&p->lexer, a, syms, file, diags);
    gram_parse(p);

    AstModule *m = ARENA_NEW(a, AstModule);
    AstText doc = parse_take_doc(&p->body);
    *m = (AstModule){ .file = file, .doc = doc, .node_count = p->node_count + 1, .body = p->body };
    m->base = (AstNode){ .kind = AST_MODULE, .depth = 1, .id = m->node_count, .span = span };
    for (uint32_t i = 0; i < m->body.len; i++) {
        if (m->body.at[i]->depth >= m->base.depth)
            m->base.depth = m->body.at[i]->depth + 1;
    }
    parse_check_module(p, m);
    sort_reports(diags, reports);
    return m;
}
