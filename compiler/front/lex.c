/// lex.c - the lexer's door: set-up with a check of the whole text, the state between tokens.
///
/// The rules are in lang/lex.re (lex_scan); lex_layout.c and lex_literal.c do the rest.
#include "front/lex_impl.h"
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

typedef enum {
    CLASS_LAYOUT,
    CLASS_VALUE,
    CLASS_KEYWORD,
    CLASS_OPEN,
    CLASS_MARK,
    CLASS_INFIX
} TokenClass;

enum { FIRST_TOKEN = TOK_NEWLINE };  // ORDER tokens.def: gram.y declares the same sequence

typedef struct TokenInfo {
    const char *text;
    TokenClass token_class;
} TokenInfo;

static const TokenInfo token_info[] = {
#define TOKEN(ID, text, class) [TOK_##ID - FIRST_TOKEN] = { text, CLASS_##class },
#include "tokens.def"
};

enum { TOKEN_COUNT = sizeof token_info / sizeof *token_info };

/// More stray bytes than this and the file is not a text at all.
enum { MAX_STRAY_BYTES = 8 };

const char *lex_token_text(int kind, bool *quoted)
{
    if (kind < FIRST_TOKEN || kind >= FIRST_TOKEN + TOKEN_COUNT) {
        *quoted = false;
        return "end of file";
    }

    const TokenInfo *t = &token_info[kind - FIRST_TOKEN];
    *quoted = t->token_class != CLASS_LAYOUT && t->token_class != CLASS_VALUE;
    return t->text;
}

Span lex_span(const Lexer *lx, const char *from, const char *to)
{
    return (Span){ lx->file->base + (uint32_t)(from - lx->text),
                   lx->file->base + (uint32_t)(to - lx->text) };
}

void lex_fault(Lexer *lx, const char *format, ...)
{
    va_list args;
    Buf text = { 0 };

    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    diag_report(lx->diags, DIAG_SYNTAX, lex_span(lx, lx->tok, lx->cur), "%s", text.at);
    buf_free(&text);
    lx->line_faulty = true;
}

uint32_t lex_decode(const char *p, const char *end, unsigned *len)
{
    static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char *u = (const unsigned char *)p;
    unsigned n = u[0] < 0x80   ? 1
                 : u[0] < 0xC2 ? 0
                 : u[0] < 0xE0 ? 2
                 : u[0] < 0xF0 ? 3
                 : u[0] < 0xF5 ? 4
                               : 0;
    uint32_t c = n < 2 ? u[0] : u[0] & (0x7Fu >> n);

    *len = 0;
    if (n == 0 || n > (size_t)(end - p))
        return 0;
    for (unsigned i = 1; i < n; i++) {
        if ((u[i] & 0xC0) != 0x80)
            return 0;
        c = c << 6 | (u[i] & 0x3Fu);
    }
    if (c < least[n] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000))
        return 0;
    *len = n;
    return c;
}

/// Reports NUL bytes and what is not UTF-8, also in comments and strings. Returns false when there
/// is so much of it that the file cannot be meant as text.
static bool check_text(const Lexer *lx)
{
    unsigned stray = 0;

    for (const char *p = lx->text; p < lx->end;) {
        unsigned len = 1;
        if ((signed char)*p > 0) {
            p++;
            continue;
        }
        if (*p != '\0')
            lex_decode(p, lx->end, &len);
        if (*p != '\0' && len > 0) {
            p += len;
            continue;
        }
        if (++stray > MAX_STRAY_BYTES) {
            diag_report(lx->diags, DIAG_SYNTAX, lex_span(lx, p, p + 1),
                        "this is not a text file in UTF-8");
            return false;
        }
        if (*p == '\0')
            diag_report(lx->diags, DIAG_SYNTAX, lex_span(lx, p, p + 1), "NUL byte in the source");
        else
            diag_report(lx->diags, DIAG_SYNTAX, lex_span(lx, p, p + 1), "byte 0x%02x is not UTF-8",
                        (unsigned char)*p);
        p++;
    }
    return true;
}

void lex_init(Lexer *lx, Arena *a, SymTable *syms, const SourceFile *file, DiagSink *diags)
{
    *lx = (Lexer){ .arena = a,
                   .syms = syms,
                   .file = file,
                   .diags = diags,
                   .text = file->text,
                   .end = file->text + file->len,
                   .cur = file->text,
                   .at_line_start = true };
    if (!check_text(lx))
        lx->cur = lx->end;
    else if (file->len >= 3 && memcmp(file->text, "\xEF\xBB\xBF", 3) == 0)
        lx->cur += 3;
}

/// Whether a statement that begins with this word owns a block.
static bool begins_header(int kind)
{
    static const int kinds[] = {
        TOK_IF,    TOK_ELIF,   TOK_ELSE,    TOK_FOR,  TOK_WHILE, TOK_DEF,
        TOK_CLASS, TOK_EXCEPT, TOK_FINALLY, TOK_WITH, TOK_TRY,   TOK_ASYNC
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i] == kind)
            return true;
    }
    return false;
}

static void note_token(Lexer *lx, int kind)
{
    bool colon = kind == TOK_COLON;

    if (!lx->line_has_tokens)
        lx->line_is_header = begins_header(kind);
    lx->line_has_tokens = true;
    lx->line_has_lambda |= kind == TOK_LAMBDA;
    lx->last_colon = colon && lx->brackets == 0;
    lx->last_inner_colon = colon && lx->brackets > 0;
    lx->line_has_colon |= lx->last_colon;
}

int lex_next(Lexer *lx, LexValue *value, Span *span)
{
    int kind = lex_scan(lx, value);

    *span = lex_span(lx, lx->tok, lx->cur);
    if (kind == TOK_NEWLINE) {
        lx->line_has_tokens = false;
        lx->at_line_start = true;
    } else if (kind != TOK_INDENT && kind != TOK_DEDENT && kind != 0) {
        note_token(lx, kind);
    }
    return kind;
}

static void dump_value(int kind, const LexValue *value, Buf *out)
{
    switch (kind) {
    case TOK_NAME: buf_printf(out, " %s", value->name->text); break;
    case TOK_INT:
    case TOK_FLOAT: buf_printf(out, " %s", value->text.at); break;
    case TOK_STRING:
    case TOK_FSTRING_MIDDLE:
        buf_putc(out, ' ');
        buf_c_string(out, value->text.at, value->text.len);
        break;
    default: break;
    }
}

void lex_dump(Arena *a, SymTable *syms, const SourceMap *sources, const SourceFile *file,
              DiagSink *diags, Buf *out)
{
    Lexer lx;
    LexValue value = { 0 };
    Span span;
    int kind;

    lex_init(&lx, a, syms, file, diags);
    while ((kind = lex_next(&lx, &value, &span)) != 0) {
        bool quoted;
        SourcePos pos = source_pos(sources, span.lo);
        buf_printf(out, "%" PRIu32 ":%" PRIu32 " %s", pos.line, pos.column,
                   lex_token_text(kind, &quoted));
        dump_value(kind, &value, out);
        buf_putc(out, '\n');
    }
}
