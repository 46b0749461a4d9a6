/// lex_string.c - string literals: prefixes, escapes, and the text parts of f-strings.
///
/// A literal decodes to UTF-8 that is never longer than its source, so one allocation does.
#include "front/lex_impl.h"
#include <string.h>

typedef struct Literal {
    Lexer *lx;
    const char *p;  ///< next source byte
    char *out;      ///< next decoded byte
    bool raw, is_bytes;
} Literal;

static void put_utf8(Literal *s, uint32_t c)
{
    if (c < 0x80 || s->is_bytes) {
        *s->out++ = (char)c;
        return;
    }

    unsigned more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    *s->out++ = (char)((0xFF00u >> (more + 1)) | c >> 6 * more);
    while (more-- > 0)
        *s->out++ = (char)(0x80 | (c >> 6 * more & 0x3F));
}

static void escape_fault(Literal *s, const char *from, const char *message)
{
    diag_report(s->lx->diags, DIAG_SYNTAX, lex_span(s->lx, from, s->p), "%s", message);
    s->lx->line_faulty = true;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'                     ? c - '0'
           : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                    : -1;
}

/// The `count` hex digits after `\x`, `\u` or `\U`, with p behind the letter.
static void hex_escape(Literal *s, const char *from, int count)
{
    uint32_t c = 0;

    for (int i = 0; i < count; i++) {
        int digit = hex_digit(*s->p);
        if (digit < 0) {
            escape_fault(s, from, "this escape has too few hexadecimal digits");
            return;
        }
        c = c << 4 | (uint32_t)digit;
        s->p++;
    }
    if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) {
        escape_fault(s, from, "this escape names no character");
        return;
    }
    put_utf8(s, c);
}

static void octal_escape(Literal *s)
{
    uint32_t c = 0;

    for (int i = 0; i < 3 && *s->p >= '0' && *s->p <= '7'; i++)
        c = c * 8 + (uint32_t)(*s->p++ - '0');
    put_utf8(s, c & (s->is_bytes ? 0xFF : 0x1FF));
}

/// At a backslash. An unknown escape stands for itself, as in Python.
static void escape(Literal *s)
{
    static const char letters[] = "abfnrtv\\'\"", values[] = "\a\b\f\n\r\t\v\\'\"";
    const char *from = s->p++;
    char c = *s->p;
    const char *simple = c ? strchr(letters, c) : NULL;

    if (simple) {
        s->p++;
        *s->out++ = values[simple - letters];
    } else if (c == '\n' || c == '\r') {
        s->p += c == '\r' && s->p[1] == '\n' ? 2 : 1;
    } else if (c >= '0' && c <= '7') {
        octal_escape(s);
    } else if (c == 'x') {
        s->p++;
        hex_escape(s, from, 2);
    } else if ((c == 'u' || c == 'U') && !s->is_bytes) {
        s->p++;
        hex_escape(s, from, c == 'u' ? 4 : 8);
    } else if (c == 'N' && !s->is_bytes) {
        s->p++;
        escape_fault(s, from, "characters by name are not supported");
        diag_help(s->lx->diags, "write '\\u' and the four digits of the character");
    } else {
        *s->out++ = '\\';
    }
}

/// A raw string keeps its backslashes; a quote after one does not end the string.
static void raw_pair(Literal *s)
{
    *s->out++ = *s->p++;
    if (*s->p == '\\' || *s->p == '"' || *s->p == '\'')
        *s->out++ = *s->p++;
}

/// One source character or escape; a line end becomes '\n'.
static void literal_step(Literal *s)
{
    if (*s->p == '\\' && s->p + 1 < s->lx->end) {
        if (s->raw)
            raw_pair(s);
        else
            escape(s);
    } else if (*s->p == '\r') {
        s->p += s->p[1] == '\n' ? 2 : 1;
        *s->out++ = '\n';
    } else {
        *s->out++ = *s->p++;
    }
}

static bool at_quote(const char *p, char quote, bool triple)
{
    return p[0] == quote && (!triple || (p[1] == quote && p[2] == quote));
}

/// In the text between fields, `{{` and `}}` stand for one brace; in a format they do not.
static bool is_double_brace(const char *p, bool in_spec)
{
    return !in_spec && (*p == '{' || *p == '}') && p[1] == *p;
}

static size_t escape_length(const char *p)
{
    return p[1] == '\r' && p[2] == '\n' ? 3 : 2;
}

/// Room for the decoded text from `p` to the closing quote, or to the field if one comes first.
static size_t literal_room(const Lexer *lx, const char *p, const LexFstring *f, bool in_spec)
{
    const char *q = p;

    while (q < lx->end && !at_quote(q, f->quote, f->triple)) {
        bool brace = f->is_format && (*q == '{' || *q == '}');
        if (*q == '\\' && q + 1 < lx->end)
            q += escape_length(q);
        else if (brace && is_double_brace(q, in_spec))
            q += 2;
        else if (brace || (!f->triple && (*q == '\n' || *q == '\r')))
            break;
        else
            q++;
    }
    return (size_t)(q - p) + 2;  // a raw backslash may stand before a brace
}

static bool text_ends(const Literal *s, bool triple)
{
    return s->p >= s->lx->end || (!triple && (*s->p == '\n' || *s->p == '\r'));
}

static void unterminated(Lexer *lx, const char *from, const char *what, bool triple)
{
    diag_report(lx->diags, DIAG_SYNTAX, lex_span(lx, from, triple ? from + 3 : lx->cur), "%s %s",
                what, triple ? "is never closed" : "does not end on its line");
    lx->line_faulty = true;
    lex_drop_brackets(lx);  // their closers were probably swallowed
}

static void check_bytes(Lexer *lx, const char *from)
{
    for (const char *p = from; p < lx->cur; p++) {
        if ((signed char)*p < 0) {
            lex_fault(lx, "a bytes literal can only hold ASCII characters");
            return;
        }
    }
}

/// The kind of literal that the prefix before the quote and the quote itself make.
static LexFstring literal_head(const Lexer *lx, const char *quote)
{
    LexFstring head = { .quote = *quote,
                        .triple = quote[1] == *quote && quote[2] == *quote,
                        .brackets = lx->brackets,
                        .at = (uint32_t)(lx->tok - lx->text) };

    for (const char *p = lx->tok; p < quote; p++) {
        head.raw |= (*p | 0x20) == 'r';
        head.is_bytes |= (*p | 0x20) == 'b';
        head.is_format |= (*p | 0x20) == 'f';
    }
    return head;
}

int lex_string(Lexer *lx, LexValue *value)
{
    const char *quote = lx->cur - 1;
    LexFstring head = literal_head(lx, quote);
    Literal s = { lx, quote + (head.triple ? 3 : 1), NULL, head.raw, head.is_bytes };
    char *text = arena_alloc(lx->arena, literal_room(lx, s.p, &head, false), 1);

    s.out = text;
    while (!text_ends(&s, head.triple) && !at_quote(s.p, *quote, head.triple))
        literal_step(&s);
    *value = (LexValue){ .text = { text, (uint32_t)(s.out - text) }, .is_bytes = s.is_bytes };
    lx->cur = s.p;
    if (text_ends(&s, head.triple))
        unterminated(lx, quote, "this string", head.triple);
    else
        lx->cur += head.triple ? 3 : 1;
    if (s.is_bytes)
        check_bytes(lx, quote);
    return TOK_STRING;
}

int lex_fstring_start(Lexer *lx)
{
    const char *quote = lx->cur - 1;
    LexFstring head = literal_head(lx, quote);

    if (lx->fstrings == LEX_MAX_FSTRINGS) {
        lex_fault(lx, "f-strings nest more than %d deep", LEX_MAX_FSTRINGS);
        lex_drop_brackets(lx);
        lx->cur = lx->end;
        return lex_end(lx);
    }
    lx->fstring[lx->fstrings] = head;
    lx->fstrings++;
    if (head.triple)
        lx->cur += 2;
    return TOK_FSTRING_START;
}

static int fstring_text(Lexer *lx, LexValue *value, const LexFstring *f, bool in_spec)
{
    Literal s = { .lx = lx, .p = lx->cur, .raw = f->raw };
    char *text = arena_alloc(lx->arena, literal_room(lx, s.p, f, in_spec), 1);

    s.out = text;
    while (!text_ends(&s, f->triple) && !at_quote(s.p, f->quote, f->triple)) {
        if (is_double_brace(s.p, in_spec)) {
            *s.out++ = *s.p;
            s.p += 2;
        } else if (*s.p == '{' || *s.p == '}') {
            break;
        } else {
            literal_step(&s);
        }
    }
    lx->cur = s.p;
    *value = (LexValue){ .text = { text, (uint32_t)(s.out - text) } };
    return TOK_FSTRING_MIDDLE;
}

/// Inside an f-string but outside its fields' expressions.
int lex_fstring_part(Lexer *lx, LexValue *value)
{
    const LexFstring *f = &lx->fstring[lx->fstrings - 1];
    bool in_spec = lx->brackets > f->brackets;
    const char *p = lx->cur;

    if (p >= lx->end || (!f->triple && (*p == '\n' || *p == '\r'))) {
        unterminated(lx, lx->text + f->at, "this f-string", f->triple);
        return TOK_FSTRING_END;
    }
    if (at_quote(p, f->quote, f->triple) && in_spec) {
        lex_fault(lx, "'{' was never closed");
        lx->brackets = f->brackets;
    }
    if (at_quote(p, f->quote, f->triple)) {
        lx->cur += f->triple ? 3 : 1;
        lx->fstrings--;
        return TOK_FSTRING_END;
    }
    if ((*p != '{' && *p != '}') || is_double_brace(p, in_spec))
        return fstring_text(lx, value, f, in_spec);
    lx->cur++;
    if (*p == '}' && in_spec)
        return lex_close(lx);
    if (*p == '}') {
        lex_fault(lx, "single '}' in an f-string");
        diag_help(lx->diags, "write '}}'");
        return 0;
    }

    int kind = lex_open(lx, TOK_LBRACE);
    if (kind == TOK_LBRACE)
        lx->bracket[lx->brackets - 1].open = 'f';
    return kind;
}
