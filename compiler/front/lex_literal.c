/// lex_literal.c - names, keywords and numbers.
#include "front/lex_impl.h"
#include <stdlib.h>
#include <string.h>

typedef struct Keyword {
    const char *text;
    uint8_t len, is_keyword;
    int kind;
} Keyword;

static const Keyword keywords[] = {
#define IS_KEYWORD_KEYWORD     1
#define IS_KEYWORD_LAYOUT      0
#define IS_KEYWORD_VALUE       0
#define IS_KEYWORD_OPEN        0
#define IS_KEYWORD_MARK        0
#define IS_KEYWORD_INFIX       0
#define TOKEN(ID, text, class) { text, sizeof text - 1, IS_KEYWORD_##class, TOK_##ID },
#include "tokens.def"
};

int lex_name(Lexer *lx, LexValue *value)
{
    size_t len = (size_t)(lx->cur - lx->tok);

    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        const Keyword *k = &keywords[i];
        if (k->len == len && k->is_keyword && memcmp(k->text, lx->tok, len) == 0)
            return k->kind;
    }
    value->name = sym_intern(lx->syms, lx->tok, len);
    return TOK_NAME;
}

/// Punctuation and spaces from outside ASCII, as opposed to letters of other scripts.
static bool is_symbol(uint32_t c)
{
    return (c >= 0x80 && c <= 0xBF && c != 0xAA && c != 0xB5 && c != 0xBA) || c == 0xD7 ||
           c == 0xF7 || (c >= 0x2000 && c <= 0x2BFF) || (c >= 0x3000 && c <= 0x303F) ||
           (c >= 0xFE00 && c <= 0xFE6F) || c == 0xFEFF || (c >= 0xFF00 && c <= 0xFF20) ||
           c >= 0x1F000;
}

static const char *ascii_for(uint32_t c)
{
    switch (c) {
    case 0x00A0: return " ";
    case 0x2018:
    case 0x2019: return "'";
    case 0x201C:
    case 0x201D: return "\"";
    case 0x2013:
    case 0x2014:
    case 0x2212: return "-";
    case 0x00D7: return "*";
    case 0x00F7: return "/";
    case 0x2264: return "<=";
    case 0x2265: return ">=";
    case 0x2260: return "!=";
    case 0xFF08: return "(";
    case 0xFF09: return ")";
    case 0xFF0C: return ",";
    case 0xFF1A: return ":";
    default: return NULL;
    }
}

/// A run of letters and bytes above ASCII.
int lex_foreign_name(Lexer *lx, LexValue *value)
{
    const char *stop = lx->cur;

    for (const char *p = lx->tok; p < stop;) {
        unsigned len;
        uint32_t c = lex_decode(p, stop, &len);
        if (len > 0 && !is_symbol(c)) {
            p += len;
            continue;
        }
        if (p > lx->tok) {
            lx->cur = p;  // the part before it is a token of its own
            break;
        }
        lx->cur = p + (len ? len : 1);
        if (len == 0) {
            lx->line_faulty = true;  // lex_init has reported it
            return 0;
        }
        lex_fault(lx, "unexpected character '%.*s' (U+%04X)", (int)len, p, (unsigned)c);
        if (ascii_for(c))
            diag_help(lx->diags, "write '%s'", ascii_for(c));
        return 0;
    }
    for (const char *p = lx->tok; p < lx->cur; p++) {
        if ((signed char)*p < 0) {
            lex_fault(lx,
                      "'%.*s' is not a name: only ASCII letters, digits and '_' may stand in one",
                      (int)(lx->cur - lx->tok), lx->tok);
            break;
        }
    }
    return lex_name(lx, value);
}

/// The token without its underscores.
static Str plain_digits(Lexer *lx)
{
    char *text = arena_strndup(lx->arena, lx->tok, (size_t)(lx->cur - lx->tok));
    uint32_t len = 0;

    for (const char *p = text; *p; p++) {
        if (*p != '_')
            text[len++] = *p;
    }
    text[len] = '\0';
    return (Str){ text, len };
}

static unsigned digit_value(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a') + 10;
}

int lex_integer(Lexer *lx, LexValue *value)
{
    Str text = plain_digits(lx);
    const char *p = text.at;
    unsigned base = 10;

    if (p[0] == '0' && text.len > 1 && p[1] > '9') {
        base = (p[1] | 0x20) == 'x' ? 16 : (p[1] | 0x20) == 'o' ? 8 : 2;
        p += 2;
    }
    *value = (LexValue){ .text = text };
    for (; *p; p++) {
        unsigned digit = digit_value(*p);
        value->overflow |= value->integer > (UINT64_MAX - digit) / base;
        value->integer = value->integer * base + digit;
    }
    return TOK_INT;
}

int lex_float(Lexer *lx, LexValue *value)
{
    Str text = plain_digits(lx);

    *value = (LexValue){ .text = text, .real = strtod(text.at, NULL) };
    return TOK_FLOAT;
}

int lex_imaginary(Lexer *lx, LexValue *value)
{
    diag_report(lx->diags, DIAG_NOT_IN_LANGUAGE, lex_span(lx, lx->tok, lx->cur),
                "complex numbers are not part of the language");
    lx->line_faulty = true;
    return lex_float(lx, value);
}

int lex_bad_number(Lexer *lx, LexValue *value)
{
    int len = (int)(lx->cur - lx->tok);
    size_t digits = strspn(lx->tok, "0123456789_");

    if (lx->tok[0] == '0' && (int)digits == len && lx->tok[len - 1] != '_') {
        lex_fault(lx, "'%.*s' has a leading zero", len, lx->tok);
        diag_help(lx->diags, "write '0o...' for an octal number");
    } else {
        lex_fault(lx, "'%.*s' is not a number", len, lx->tok);
    }
    *value = (LexValue){ .text = { "0", 1 } };
    return TOK_INT;
}
