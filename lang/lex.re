/// lex.re - the lexical rules, for re2c: one block for the start of a logical line, one for tokens.
///
/// Needs a text that ends in a newline and a NUL (SourceFile guarantees both), so no rule can run
/// past the end. What takes more than a line of C is in compiler/front/lex_layout.c (indentation,
/// brackets) and lex_literal.c (names, numbers, strings).
#include "front/lex_impl.h"

/*!re2c
    re2c:yyfill:enable = 0;
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYCURSOR = lx->cur;
    re2c:define:YYMARKER = lx->mark;

    newline = "\r\n" | "\n" | "\r";
    space   = [ \t\f];
    comment = "#" [^\n\r\x00]*;
    name    = [a-zA-Z_][a-zA-Z_0-9]*;
    foreign = [a-zA-Z_\x80-\xff][a-zA-Z_0-9\x80-\xff]*;

    digits  = [0-9] ("_"? [0-9])*;
    integer = "0" ("_"? "0")* | [1-9] ("_"? [0-9])*
            | "0" [xX] ("_"? [0-9a-fA-F])+ | "0" [oO] ("_"? [0-7])+ | "0" [bB] ("_"? [01])+;
    power   = [eE] [-+]? digits;
    float   = (digits "." digits? | "." digits) power? | digits power;
    numeral = [0-9] [0-9a-zA-Z_]* ("." [0-9a-zA-Z_]*)? | "." [0-9] [0-9a-zA-Z_]*;

    plain_prefix  = [rR] | [uU] | [bB] | [rR] [bB] | [bB] [rR];
    format_prefix = [fF] | [fF] [rR] | [rR] [fF];
*/

int lex_scan(Lexer *lx, LexValue *value)
{
    int kind;

next:
    lx->tok = lx->cur;
    if (lx->pending_newline) {
        lx->pending_newline = false;
        return TOK_NEWLINE;
    }
    if (lx->pending_dedents) {
        lx->pending_dedents--;
        return TOK_DEDENT;
    }
    if (lx->at_line_start) {
        /*!re2c
        space* comment? newline  { goto next; }  // blank and comment lines have no tokens
        space*                   {
            kind = lex_begin_line(lx);
            if (kind)
                return kind;
            goto next;
        }
        */
    }
    if (lex_in_fstring_text(lx)) {
        kind = lex_fstring_part(lx, value);
        if (kind)
            return kind;
        goto next;
    }
    /*!re2c
    space+ | comment         { goto next; }
    "\\" newline             { goto next; }
    "\\"                     { lex_fault(lx, "unexpected text after the line continuation '\\'"); goto next; }
    newline                  {
        if (lex_newline_ends_line(lx))
            return TOK_NEWLINE;
        goto next;
    }

    name                     { return lex_name(lx, value); }
    foreign                  {
        kind = lex_foreign_name(lx, value);
        if (kind)
            return kind;
        goto next;
    }
    integer                  { return lex_integer(lx, value); }
    float                    { return lex_float(lx, value); }
    (float | digits) [jJ]    { return lex_imaginary(lx, value); }
    numeral                  { return lex_bad_number(lx, value); }
    plain_prefix? ['"]       { return lex_string(lx, value); }
    format_prefix ['"]       { return lex_fstring_start(lx); }

    "("                      { return lex_open(lx, TOK_LPAREN); }
    "["                      { return lex_open(lx, TOK_LBRACKET); }
    "{"                      { return lex_open(lx, TOK_LBRACE); }
    [)\]}]                   {
        kind = lex_close(lx);
        if (kind)
            return kind;
        goto next;
    }
    ":"                      { return lex_colon(lx); }
    "!"                      { return lex_bang(lx); }
    ","                      { return TOK_COMMA; }
    ";"                      { return TOK_SEMICOLON; }
    "."                      { return TOK_DOT; }
    "..."                    { return TOK_ELLIPSIS; }
    "->"                     { return TOK_ARROW; }
    ":="                     { return lex_walrus(lx); }
    "="                      { return TOK_ASSIGN; }

    "+"                      { return TOK_PLUS; }
    "-"                      { return TOK_MINUS; }
    "*"                      { return TOK_STAR; }
    "/"                      { return TOK_SLASH; }
    "//"                     { return TOK_SLASH2; }
    "%"                      { return TOK_PERCENT; }
    "@"                      { return TOK_AT; }
    "**"                     { return TOK_STAR2; }
    "<<"                     { return TOK_SHL; }
    ">>"                     { return TOK_SHR; }
    "&"                      { return TOK_AMP; }
    "|"                      { return TOK_BAR; }
    "^"                      { return TOK_CARET; }
    "~"                      { return TOK_TILDE; }
    "=="                     { return TOK_EQ; }
    "!="                     { return TOK_NE; }
    "<"                      { return TOK_LT; }
    "<="                     { return TOK_LE; }
    ">"                      { return TOK_GT; }
    ">="                     { return TOK_GE; }
    "+="                     { return TOK_PLUS_ASSIGN; }
    "-="                     { return TOK_MINUS_ASSIGN; }
    "*="                     { return TOK_STAR_ASSIGN; }
    "/="                     { return TOK_SLASH_ASSIGN; }
    "//="                    { return TOK_SLASH2_ASSIGN; }
    "%="                     { return TOK_PERCENT_ASSIGN; }
    "@="                     { return TOK_AT_ASSIGN; }
    "**="                    { return TOK_STAR2_ASSIGN; }
    "<<="                    { return TOK_SHL_ASSIGN; }
    ">>="                    { return TOK_SHR_ASSIGN; }
    "&="                     { return TOK_AMP_ASSIGN; }
    "|="                     { return TOK_BAR_ASSIGN; }
    "^="                     { return TOK_CARET_ASSIGN; }

    // operators of other languages, read as what they mean
    "&&"                     { return lex_misspelt(lx, TOK_AND, "and"); }
    "||"                     { return lex_misspelt(lx, TOK_OR, "or"); }
    "<>"                     { return lex_misspelt(lx, TOK_NE, "!="); }
    "++" | "--"              {
        kind = lex_double_sign(lx);
        if (kind)
            return kind;
        goto next;
    }

    "\x00"                   {
        if (lx->tok < lx->end) {
            lx->line_faulty = true;  // lex_init has reported it
            goto next;
        }
        lx->cur = lx->tok;
        return lex_end(lx);
    }
    *                        {
        lex_fault(lx, "unexpected character '%.*s'", (int)(lx->cur - lx->tok), lx->tok);
        goto next;
    }
    */
}
