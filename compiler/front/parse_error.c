/// parse_error.c - the words of the parser: what was found, what could have stood there, and the
/// slips that have a message of their own.
///
/// On a line where the lexer reported something the parser keeps quiet: what it sees is a guess.
#include "front/parse_impl.h"
#include "gram.h"
#include <stdarg.h>
#include <string.h>

/// A longer list of what was expected helps nobody.
enum { MAX_EXPECTED = 4 };

bool parse_report(Parser *p, DiagId id, Span span, const char *format, ...)
{
    va_list args;
    Buf text = { 0 };

    if (p->lexer.line_faulty)
        return false;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    diag_report(p->diags, id, span, "%s", text.at);
    buf_free(&text);
    return true;
}

void parse_too_deep(Parser *p, Span at)
{
    if (p->too_deep || p->lexer.line_faulty)
        return;
    p->too_deep = true;
    diag_report(p->diags, DIAG_SYNTAX, at, "this nests more than %d deep", PARSE_MAX_DEPTH);
    diag_help(p->diags, "break it up with intermediate names");
}

static bool wants(const int *want, int count, int kind)
{
    for (int i = 0; i < count; i++) {
        if (want[i] == kind)
            return true;
    }
    return false;
}

/// Whether an expected token is worth naming, given what else could stand there.
static bool is_listed(const Parser *p, const int *want, int count, int kind)
{
    bool expression = wants(want, count, TOK_INT), after = wants(want, count, TOK_DOT);
    bool ends_line = wants(want, count, TOK_NEWLINE), header = p->lexer.line_is_header;

    switch (kind) {
    case TOK_RPAREN:
    case TOK_RBRACKET:
    case TOK_RBRACE:
    case TOK_ARROW:
    case TOK_INDENT:
    case TOK_DEF:
    case TOK_IMPORT:
    case TOK_ELSE: return true;
    case TOK_NEWLINE: return !header || !wants(want, count, TOK_COLON);
    case TOK_COMMA: return !ends_line;
    case TOK_COLON: return !ends_line || header;
    case TOK_IN: return !wants(want, count, TOK_EQ);
    case TOK_AS: return !wants(want, count, TOK_COMMA);
    case TOK_NAME:
    case TOK_LPAREN: return !expression && !after;
    default: return false;
    }
}

static void add_expected(Buf *list, int n, int total, int kind)
{
    bool quoted;
    const char *text = lex_token_text(kind, &quoted);

    buf_puts(list, n == 0 ? "" : n + 1 < total ? ", " : " or ");
    if (kind == TOK_INT)
        buf_puts(list, "an expression");
    else if (kind == TOK_NAME)
        buf_puts(list, "a name");
    else
        buf_printf(list, quoted ? "'%s'" : "%s", text);
}

/// ", expected ..." for `want`, or nothing when that would be long or empty.
static void describe_expected(const Parser *p, const int *want, int count, Buf *out)
{
    int listed[MAX_EXPECTED], n = 0;

    if (wants(want, count, TOK_INT) && wants(want, count, TOK_DEF))
        return;  // at the beginning of a statement anything goes
    if (wants(want, count, TOK_INT))
        listed[n++] = TOK_INT;
    for (int i = 0; i < count; i++) {
        if (!is_listed(p, want, count, want[i]))
            continue;
        if (n == MAX_EXPECTED)
            return;
        listed[n++] = want[i];
    }
    if (n > 0)
        buf_puts(out, ", expected ");
    for (int i = 0; i < n; i++)
        add_expected(out, i, n, listed[i]);
}

static void describe_found(const Parser *p, Span at, Buf *out)
{
    bool quoted;
    const char *text = lex_token_text(p->token, &quoted);
    int len = (int)(at.hi - at.lo);
    const char *source = p->file->text + (at.lo - p->file->base);

    if (p->token == TOK_NAME || p->token == TOK_INT || p->token == TOK_FLOAT)
        buf_printf(out, "%s '%.*s'", text, len, source);
    else if (p->token == TOK_INDENT)
        buf_puts(out, "indentation");
    else
        buf_printf(out, quoted ? "'%s'" : "%s", text);
}

static bool is_keyword(int kind)
{
    return kind >= TOK_FALSE && kind <= TOK_YIELD;  // ORDER tokens.def
}

/// Faults that have a better name than "unexpected". False: it is none of them.
static bool report_slip(Parser *p, Span at, const int *want, int count)
{
    bool quoted, statement = wants(want, count, TOK_DEF);
    const char *text = lex_token_text(p->token, &quoted);

    if (p->before == TOK_NAME && strcmp(p->name_before->text, "print") == 0 &&
        wants(want, count, TOK_NEWLINE)) {
        diag_report(p->diags, DIAG_SYNTAX, at, "'print' is not a statement");
        diag_help(p->diags, "write 'device_print(\"text\", value)'");
        return true;
    }
    if (statement && (p->token == TOK_ELSE || p->token == TOK_ELIF)) {
        diag_report(p->diags, DIAG_SYNTAX, at, "'%s' has no %s before it at this indentation", text,
                    p->token == TOK_ELIF ? "'if'" : "'if', 'for' or 'while'");
        return true;
    }
    if (statement && (p->token == TOK_EXCEPT || p->token == TOK_FINALLY)) {
        parse_foreign(p, at, text);
        return true;
    }
    if (is_keyword(p->token) && wants(want, count, TOK_NAME) && !wants(want, count, TOK_INT)) {
        diag_report(p->diags, DIAG_SYNTAX, at, "'%s' is a keyword and cannot be a name", text);
        return true;
    }
    return false;
}

void parse_syntax_error(Parser *p, Span at, const int *want, int count)
{
    Buf message = { 0 };

    if (p->lexer.line_faulty) {
        p->lexer.recovering = true;
        return;
    }
    if (lex_recover(&p->lexer, at) || report_slip(p, at, want, count))
        return;
    describe_found(p, at, &message);
    describe_expected(p, want, count, &message);
    diag_report(p->diags, DIAG_SYNTAX, at, "unexpected %s", message.at);
    buf_free(&message);
}

AstNode *parse_foreign(Parser *p, Span at, const char *what)
{
    diag_report(p->diags, DIAG_NOT_IN_LANGUAGE, at, "'%s' is not part of the language", what);
    return parse_error_node(p, at);
}

AstNode *parse_foreign_param(Parser *p, Span span, const char *stars)
{
    diag_report(p->diags, DIAG_NOT_IN_LANGUAGE, span,
                "a '%s' parameter is not part of the language", stars);
    diag_help(p->diags, "give every parameter a name");
    return parse_error_node(p, span);
}

AstNode *parse_foreign_argument(Parser *p, Span span)
{
    diag_report(p->diags, DIAG_NOT_IN_LANGUAGE, span,
                "a '**' argument is not part of the language");
    diag_help(p->diags, "write the arguments out as 'name=value'");
    return parse_error_node(p, span);
}

AstNode *parse_foreign_display(Parser *p, Span span, const char *what)
{
    diag_report(p->diags, DIAG_NOT_IN_LANGUAGE, span, "%s is not part of the language", what);
    return parse_error_node(p, span);
}

AstNodes parse_slip_no_block(Parser *p, Span colon)
{
    parse_report(p, DIAG_SYNTAX, colon, "expected an indented block after this ':'");
    return parse_list_add(p, (AstNodes){ 0 }, parse_error_node(p, colon));
}

void parse_slip_no_colon(Parser *p, Span line_end)
{
    parse_report(p, DIAG_SYNTAX, line_end, "expected ':' at the end of this line");
}

void parse_slip_else_if(Parser *p, Span at)
{
    if (parse_report(p, DIAG_SYNTAX, at, "'else if' is not a keyword"))
        diag_help(p->diags, "write 'elif'");
}

AstNode *parse_slip_equal(Parser *p, Span at, AstNode *lhs, AstNode *rhs)
{
    if (parse_report(p, DIAG_SYNTAX, at, "'=' assigns and cannot stand inside an expression"))
        diag_help(p->diags, "write '==' to compare");
    return parse_compare(p, span_join(lhs->span, rhs->span), lhs, AST_EQ, rhs);
}
