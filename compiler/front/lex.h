/// lex.h - text to tokens, by Python's rules: logical lines, INDENT and DEDENT, brackets, literals.
///
/// The token kinds are Bison's (TOK_IF, ...), one a row of lang/tokens.def. A fault is reported at
/// its place and replaced by what was probably meant, so that the parser can go on: it stays
/// silent about the rest of a line that is marked `line_faulty`. Lexing is linear and never fails.
#ifndef NEWT_FRONT_LEX_H
#define NEWT_FRONT_LEX_H
#include "support/diag.h"
#include "support/source.h"
#include "support/str.h"

enum {
    LEX_MAX_INDENT = 100,    ///< blocks in blocks
    LEX_MAX_BRACKETS = 200,  ///< brackets in brackets, as in CPython
    LEX_MAX_FSTRINGS = 16    ///< f-strings in fields of f-strings
};

typedef struct LexValue {
    Sym name;  ///< NAME
    Str text;  ///< INT and FLOAT without '_'; STRING and FSTRING_MIDDLE decoded; NUL after it
    uint64_t integer;  ///< INT, modulo 2**64
    double real;       ///< FLOAT
    bool overflow;     ///< INT does not fit
    bool is_bytes;     ///< STRING had the prefix b
} LexValue;

typedef struct LexIndent {
    uint32_t column;  ///< tabs go to the next multiple of 8
    uint32_t narrow;  ///< tabs count 1: both must agree on the order of two lines
    bool ghost;       ///< reported as wrong: gave no INDENT and gives no DEDENT
} LexIndent;

typedef struct LexBracket {
    char open;     ///< '(', '[', '{', or 'f' for the '{' of an f-string field
    bool in_spec;  ///< of a field: the ':' of its format has been read
    uint32_t at;   ///< offset in the text
} LexBracket;

/// A string literal that is being read; f-strings stay on the stack while their fields are read.
typedef struct LexFstring {
    char quote;
    bool triple, raw, is_bytes, is_format;
    uint32_t brackets;  ///< how many brackets were open before it
    uint32_t at;        ///< offset of its prefix
} LexFstring;

typedef struct Lexer {
    Arena *arena;
    SymTable *syms;
    const SourceFile *file;
    DiagSink *diags;
    const char *text, *end;        ///< the file; *end == 0
    const char *cur, *tok, *mark;  ///< read position, start of the token, re2c's backtracking
    LexIndent indent[LEX_MAX_INDENT + 1];
    LexBracket bracket[LEX_MAX_BRACKETS];
    LexFstring fstring[LEX_MAX_FSTRINGS];
    uint32_t depth, brackets, fstrings;
    uint32_t pending_dedents;
    bool pending_newline;  ///< the next token is a NEWLINE that no text stands for
    bool at_line_start;
    bool line_has_tokens;  ///< a NEWLINE is due
    bool line_is_header;   ///< it began with a word like `if`
    bool line_has_colon;   ///< outside brackets
    bool line_has_lambda;
    bool last_colon;        ///< the token before was a ':', and outside brackets
    bool last_inner_colon;  ///< the same inside brackets
    bool line_faulty;       ///< something on this logical line was reported
    bool recovering;        ///< the parser skips to the next line
    bool wrong_closer;      ///< a ']' was taken for a ')': one surplus closer is forgiven
    bool tabs_reported;
} Lexer;

void lex_init(Lexer *lx, Arena *a, SymTable *syms, const SourceFile *file, DiagSink *diags);

/// The next token; 0 at the end of the file, again and again.
int lex_next(Lexer *lx, LexValue *value, Span *span);

/// The parser met an error at `at`. When the line of `at` looks like a new statement although a
/// bracket is open, reports that bracket, arranges that the line is read again as a statement,
/// and returns true. Otherwise the lexer only leaves the bracket at the next such line.
bool lex_recover(Lexer *lx, Span at);

/// How messages call a token ("if", "end of line"), and whether to put it in quotes.
const char *lex_token_text(int kind, bool *quoted);

/// One token a line: `line:column spelling value`; for --emit=tokens.
void lex_dump(Arena *a, SymTable *syms, const SourceMap *sources, const SourceFile *file,
              DiagSink *diags, Buf *out);

#endif
