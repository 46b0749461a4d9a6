/// lex_layout.c - the structure of lines: indentation, brackets, and the way back after an error.
///
/// Indentation is Python's: a stack of columns, INDENT and DEDENT where it changes. A line that is
/// indented for no reason is reported once and pushed as a `ghost` level that gives no tokens, so
/// the block structure that the parser sees stays sound.
#include "front/lex_impl.h"
#include <string.h>

void lex_drop_brackets(Lexer *lx)
{
    lx->brackets = 0;
    lx->fstrings = 0;
}

/// Ends the file here: whatever would follow is noise after a nesting limit.
static void give_up(Lexer *lx)
{
    lex_drop_brackets(lx);
    lx->cur = lx->end;
}

static void measure_indent(const char *p, const char *end, LexIndent *in)
{
    *in = (LexIndent){ 0 };
    for (; p < end; p++) {
        if (*p == '\f') {
            *in = (LexIndent){ 0 };
        } else {
            in->column = *p == '\t' ? in->column / 8 * 8 + 8 : in->column + 1;
            in->narrow++;
        }
    }
}

static void check_tabs(Lexer *lx, const LexIndent *line, const LexIndent *level)
{
    bool agree = line->column == level->column ? line->narrow == level->narrow
                                               : line->narrow > level->narrow;
    if (agree || lx->tabs_reported)
        return;
    lx->tabs_reported = true;
    diag_report(lx->diags, DIAG_BAD_INDENT, lex_span(lx, lx->tok, lx->cur),
                "this indentation mixes tabs and spaces unlike the lines above");
    diag_help(lx->diags, "indent with spaces only");
}

static int push_indent(Lexer *lx, LexIndent line)
{
    if (lx->depth == LEX_MAX_INDENT) {
        lex_fault(lx, "blocks nest more than %d deep", LEX_MAX_INDENT);
        give_up(lx);
        return 0;
    }
    lx->indent[++lx->depth] = line;
    return line.ghost ? 0 : TOK_INDENT;
}

static int dedent_to(Lexer *lx, LexIndent line)
{
    for (; line.column < lx->indent[lx->depth].column; lx->depth--)
        lx->pending_dedents += !lx->indent[lx->depth].ghost;
    if (line.column != lx->indent[lx->depth].column) {
        diag_report(lx->diags, DIAG_BAD_INDENT, lex_span(lx, lx->tok, lx->cur),
                    "this line matches no enclosing block");
        line.ghost = true;
        push_indent(lx, line);
    } else {
        check_tabs(lx, &line, &lx->indent[lx->depth]);
    }
    if (lx->pending_dedents == 0)
        return 0;
    lx->pending_dedents--;
    return TOK_DEDENT;
}

/// At the first token of a logical line, with the white space before it in tok..cur.
int lex_begin_line(Lexer *lx)
{
    LexIndent line, *level = &lx->indent[lx->depth];
    bool opens_block = lx->last_colon || (lx->line_is_header && !lx->line_has_colon);

    if (lx->cur == lx->end) {
        lx->at_line_start = false;
        return 0;
    }
    measure_indent(lx->tok, lx->cur, &line);
    lx->at_line_start = false;
    lx->line_faulty = lx->recovering = lx->wrong_closer = false;
    lx->line_is_header = lx->line_has_colon = lx->line_has_lambda = false;
    lx->line_has_tokens = lx->last_colon = lx->last_inner_colon = false;
    if (line.column < level->column)
        return dedent_to(lx, line);
    check_tabs(lx, &line, level);
    if (line.column == level->column)
        return 0;
    if (!opens_block) {
        diag_report(lx->diags, DIAG_BAD_INDENT, lex_span(lx, lx->tok, lx->cur),
                    "unexpected indentation: the line above opens no block");
        line.ghost = true;
    }
    return push_indent(lx, line);
}

static void report_open_bracket(Lexer *lx, const LexBracket *b)
{
    if (!lx->line_faulty && !lx->recovering)
        diag_report(lx->diags, DIAG_SYNTAX, lex_span(lx, lx->text + b->at, lx->text + b->at + 1),
                    "'%c' was never closed", lx->text[b->at]);
    lx->line_faulty = true;
}

int lex_end(Lexer *lx)
{
    if (lx->brackets > 0) {
        report_open_bracket(lx, &lx->bracket[lx->brackets - 1]);
        lex_drop_brackets(lx);
    }
    if (lx->line_has_tokens)
        return TOK_NEWLINE;
    while (lx->depth > 0) {
        if (!lx->indent[lx->depth--].ghost)
            return TOK_DEDENT;
    }
    return 0;
}

/// Words that begin a statement and can stand nowhere inside an expression.
static bool is_statement_word(const char *p, size_t len)
{
    static const char *const words[] = { "assert", "break", "class",    "continue", "def",
                                         "del",    "elif",  "except",   "finally",  "global",
                                         "import", "pass",  "nonlocal", "raise",    "return",
                                         "try",    "while", "with" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strlen(words[i]) == len && memcmp(words[i], p, len) == 0)
            return true;
    }
    return false;
}

static size_t word_length(const char *p)
{
    size_t len = 0;

    while ((p[len] >= 'a' && p[len] <= 'z') || p[len] == '_')
        len++;
    return len;
}

/// Whether the physical line at `p`, met inside brackets, looks like the next statement.
static bool line_looks_new(const Lexer *lx, const char *p)
{
    LexIndent line;
    const char *begin = p;

    while (*p == ' ' || *p == '\t' || *p == '\f')
        p++;
    if (*p == ')' || *p == ']' || *p == '}' || *p == '#' || *p == '\n' || *p == '\r')
        return false;
    measure_indent(begin, p, &line);
    return line.column <= lx->indent[lx->depth].column || is_statement_word(p, word_length(p));
}

/// `def f(a, b:` and the end of the line: the ':' was to end a header, not to annotate.
static bool header_lacks_paren(const Lexer *lx)
{
    return lx->brackets > 0 && lx->bracket[lx->brackets - 1].open == '(' && lx->line_is_header &&
           !lx->line_has_lambda && lx->last_inner_colon;
}

/// After a newline: true when it ends the logical line.
bool lex_newline_ends_line(Lexer *lx)
{
    if (lx->fstrings > 0 && !lx->fstring[lx->fstrings - 1].triple) {
        const LexFstring *f = &lx->fstring[lx->fstrings - 1];
        if (!lx->line_faulty && !lx->recovering)
            diag_report(lx->diags, DIAG_SYNTAX, lex_span(lx, lx->text + f->at, lx->tok),
                        "this f-string does not end on its line");
        lx->line_faulty = true;
        lex_drop_brackets(lx);
    } else if (header_lacks_paren(lx)) {
        report_open_bracket(lx, &lx->bracket[lx->brackets - 1]);
        lex_drop_brackets(lx);
        lx->last_colon = true;
    }
    if (lx->brackets > 0 && lx->recovering && line_looks_new(lx, lx->cur))
        lex_drop_brackets(lx);
    return lx->brackets == 0;
}

bool lex_recover(Lexer *lx, Span at)
{
    const char *tok = lx->text + (at.lo - lx->file->base), *line = tok;
    const LexBracket *b = NULL;

    lx->recovering = true;
    while (line > lx->text && line[-1] != '\n' && line[-1] != '\r')
        line--;
    for (uint32_t i = lx->brackets; i > 0 && !b; i--) {
        if (lx->text + lx->bracket[i - 1].at < line)
            b = &lx->bracket[i - 1];
    }
    if (!b || !line_looks_new(lx, line))
        return false;

    const char *first = line + strspn(line, " \t\f");
    size_t len = word_length(first);
    bool keyword = is_statement_word(first, len) || (len == 3 && memcmp(first, "for", 3) == 0) ||
                   (len == 2 && memcmp(first, "if", 2) == 0);
    if (tok != first && !keyword)
        return false;
    diag_report(lx->diags, DIAG_SYNTAX, lex_span(lx, lx->text + b->at, lx->text + b->at + 1),
                "'%c' was never closed", lx->text[b->at]);
    diag_note(lx->diags, lex_span(lx, first, first + (len ? len : 1)),
              "this looks like the next statement");
    lex_drop_brackets(lx);
    lx->cur = line;
    lx->at_line_start = lx->pending_newline = true;
    lx->pending_dedents = 0;
    lx->line_faulty = true;
    return true;
}

int lex_open(Lexer *lx, int kind)
{
    if (lx->brackets == LEX_MAX_BRACKETS) {
        lex_fault(lx, "brackets nest more than %d deep", LEX_MAX_BRACKETS);
        give_up(lx);
        return lex_end(lx);
    }
    lx->bracket[lx->brackets++] =
        (LexBracket){ .open = *lx->tok, .at = (uint32_t)(lx->tok - lx->text) };
    return kind;
}

static char closer_of(char open)
{
    switch (open) {
    case '(': return ')';
    case '[': return ']';
    default: return '}';
    }
}

static int close_kind(char closer)
{
    return closer == ')' ? TOK_RPAREN : closer == ']' ? TOK_RBRACKET : TOK_RBRACE;
}

int lex_close(Lexer *lx)
{
    char c = *lx->tok;

    if (lx->brackets == 0) {
        if (!lx->wrong_closer)
            lex_fault(lx, "unmatched '%c'", c);
        lx->wrong_closer = false;
        return 0;
    }

    const LexBracket *top = &lx->bracket[lx->brackets - 1];
    if (closer_of(top->open) == c) {
        lx->brackets--;
        return close_kind(c);
    }

    lex_fault(lx, "closing '%c' does not match '%c'", c, lx->text[top->at]);
    diag_note(lx->diags, lex_span(lx, lx->text + top->at, lx->text + top->at + 1),
              "'%c' was opened here", lx->text[top->at]);
    for (uint32_t i = lx->brackets - 1; i > 0 && lx->bracket[i].open != 'f'; i--) {
        if (closer_of(lx->bracket[i - 1].open) == c) {
            lx->brackets = i - 1;  // the inner brackets were left open
            return close_kind(c);
        }
    }
    lx->brackets--;  // the wrong key was hit
    lx->wrong_closer = true;
    return close_kind(closer_of(top->open));
}

static LexBracket *field(Lexer *lx)
{
    LexBracket *top = lx->brackets ? &lx->bracket[lx->brackets - 1] : NULL;

    return top && top->open == 'f' ? top : NULL;
}

/// Directly in a field of an f-string a ':' begins the format.
int lex_colon(Lexer *lx)
{
    LexBracket *f = field(lx);

    if (!f)
        return TOK_COLON;
    f->in_spec = true;
    return TOK_SPEC;
}

int lex_walrus(Lexer *lx)
{
    if (!field(lx))
        return TOK_WALRUS;
    lx->cur = lx->tok + 1;
    return lex_colon(lx);
}

int lex_bang(Lexer *lx)
{
    if (field(lx))
        return TOK_BANG;
    return lex_misspelt(lx, TOK_NOT, "not");
}

int lex_misspelt(Lexer *lx, int kind, const char *right)
{
    int len = (int)(lx->cur - lx->tok);

    lex_fault(lx, "'%.*s' is not an operator", len, lx->tok);
    diag_help(lx->diags, "write '%s'", right);
    return kind;
}

/// `x++` at the end of a statement or argument is C's; `x ++y` and `--y` are signs.
int lex_double_sign(Lexer *lx)
{
    const char *p = lx->cur;

    while (*p == ' ' || *p == '\t')
        p++;
    if (*p != '\0' && strchr("\n\r;#),]", *p)) {
        lex_fault(lx, "'%.2s' is not an operator", lx->tok);
        diag_help(lx->diags, "write '%c= 1'", *lx->tok);
        return 0;
    }
    lx->cur = lx->tok + 1;
    return *lx->tok == '+' ? TOK_PLUS : TOK_MINUS;
}

bool lex_in_fstring_text(const Lexer *lx)
{
    if (lx->fstrings == 0)
        return false;
    if (lx->brackets == lx->fstring[lx->fstrings - 1].brackets)
        return true;
    return lx->bracket[lx->brackets - 1].open == 'f' && lx->bracket[lx->brackets - 1].in_spec;
}
