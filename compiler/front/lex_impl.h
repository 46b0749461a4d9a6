/// lex_impl.h - what lang/lex.re and the lex_*.c files share; nobody else includes it.
#ifndef NEWT_FRONT_LEX_IMPL_H
#define NEWT_FRONT_LEX_IMPL_H
#include "front/lex.h"
#include "gram.h"

/// The next token, with lx->tok and lx->cur around its text (made from lang/lex.re).
int lex_scan(Lexer *lx, LexValue *value);

/// Reports a fault and marks the line. `lex_fault` is at the current token.
void lex_fault(Lexer *lx, const char *format, ...) __attribute__((format(printf, 2, 3)));
Span lex_span(const Lexer *lx, const char *from, const char *to);

// lex_layout.c: lines and brackets. A result of 0 means: no token, scan on.
int lex_begin_line(Lexer *lx);
int lex_end(Lexer *lx);
bool lex_newline_ends_line(Lexer *lx);
int lex_open(Lexer *lx, int kind);
int lex_close(Lexer *lx);
int lex_colon(Lexer *lx);
int lex_walrus(Lexer *lx);
int lex_bang(Lexer *lx);
int lex_misspelt(Lexer *lx, int kind, const char *right);
int lex_double_sign(Lexer *lx);
bool lex_in_fstring_text(const Lexer *lx);
/// Leaves all brackets and f-strings, so that the line ends with its text.
void lex_drop_brackets(Lexer *lx);

// lex_literal.c and lex_string.c: tokens with values.
int lex_name(Lexer *lx, LexValue *value);
int lex_foreign_name(Lexer *lx, LexValue *value);
int lex_integer(Lexer *lx, LexValue *value);
int lex_float(Lexer *lx, LexValue *value);
int lex_imaginary(Lexer *lx, LexValue *value);
int lex_bad_number(Lexer *lx, LexValue *value);
int lex_string(Lexer *lx, LexValue *value);
int lex_fstring_start(Lexer *lx);
int lex_fstring_part(Lexer *lx, LexValue *value);

/// The code point at `p` and its length in bytes; length 0 when it is not UTF-8.
uint32_t lex_decode(const char *p, const char *end, unsigned *len);

#endif
