/// test_lex.c - tokens, indentation, literals, and the lexer's own messages.
#include "front_run.h"
#include "gram.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *name, *source, *want_tokens, *want_messages;
} LexCase;

static const LexCase lex_cases[] = {
    // lines and indentation
    { "block_opens_and_closes", "if a:\n  b\nc\n", "if a : \\n > b \\n < c \\n", "" },
    { "blank_and_comment_lines", "a\n\n  # note\nb\n", "a \\n b \\n", "" },
    { "newline_inside_parens", "(a\n  + b)\n", "( a + b ) \\n", "" },
    { "two_dedents_at_eof", "if a:\n if b:\n  c\n", "if a : \\n > if b : \\n > c \\n < <", "" },
    { "dedent_over_two_blocks", "if a:\n if b:\n  c\nd\n",
      "if a : \\n > if b : \\n > c \\n < < d \\n", "" },
    { "comment_does_not_dedent", "if a:\n  b\n# c\n  d\n", "if a : \\n > b \\n d \\n <", "" },
    { "crlf_and_lone_cr", "a\r\nb\rc\r\n", "a \\n b \\n c \\n", "" },
    { "byte_order_mark",
      "\xEF\xBB\xBF"
      "a\n",
      "a \\n", "" },
    { "empty_file", "", "", "" },
    { "only_comment", "# c", "", "" },
    { "no_final_newline", "a", "a \\n", "" },
    { "form_feed_resets_column", "if a:\n  b\n\f  c\n", "if a : \\n > b \\n c \\n <", "" },
    { "backslash_joins_lines", "a = \\\n  b\n", "a = b \\n", "" },
    { "tab_is_eight_when_consistent", "if a:\n\tb\n\tc\n", "if a : \\n > b \\n c \\n <", "" },
    { "comment_in_brackets", "[a, # x\n# y\nb]\n", "[ a , b ] \\n", "" },
    { "dedent_to_no_block", "if a:\n    b\n  c\n  d\n", "if a : \\n > b \\n < c \\n d \\n",
      "3:1: this line matches no enclosing block [bad-indent]\n" },
    { "indent_without_header", "a\n    b\n    c\nd\n", "a \\n b \\n c \\n d \\n",
      "2:1: unexpected indentation: the line above opens no block [bad-indent]\n" },
    { "first_line_indented", "  a\nb\n", "a \\n b \\n",
      "1:1: unexpected indentation: the line above opens no block [bad-indent]\n" },
    { "tab_against_spaces_once", "if a:\n\tb\n        c\n        d\n",
      "if a : \\n > b \\n c \\n d \\n <",
      "3:1: this indentation mixes tabs and spaces unlike the lines above [bad-indent]\n"
      "help: indent with spaces only\n" },

    // names and numbers
    { "keywords_and_names", "iff if _x1 None match\n", "iff if _x1 None match \\n", "" },
    { "integers", "0 00 1_000 0xFf_1 0o17 0b1_0\n",
      "0=0 00=0 1000=1000 0xFf1=4081 0o17=15 0b10=2 \\n", "" },
    { "largest_and_too_large", "18446744073709551615 18446744073709551616\n",
      "18446744073709551615=18446744073709551615 18446744073709551616=overflow \\n", "" },
    { "floats", "1. .5 1e3 1E-3 1_0.5 0.1e+2 09.5\n", "1.0 0.5 1e+03 0.001 10.5 1e+01 9.5 \\n",
      "" },
    { "dots", "a.b ... .5.real\n", "a . b ... 0.5 . real \\n", "" },
    { "leading_zero", "x = 012\n", "x = 0=0 \\n",
      "1:5: '012' has a leading zero [syntax]\nhelp: write '0o...' for an octal number\n" },
    { "c_suffix", "x = 1.5f\n", "x = 0=0 \\n", "1:5: '1.5f' is not a number [syntax]\n" },
    { "two_underscores", "1__0\n", "0=0 \\n", "1:1: '1__0' is not a number [syntax]\n" },
    { "bad_binary_digit", "0b12\n", "0=0 \\n", "1:1: '0b12' is not a number [syntax]\n" },
    { "imaginary", "2j\n", "2.0 \\n",
      "1:1: complex numbers are not part of the language [not-in-language]\n" },

    // strings
    { "string_prefixes", "'a' \"b\" r'\\n' u'c' b'd' Rb'\\x'\n",
      "\"a\" \"b\" \"\\\\n\" \"c\" b\"d\" b\"\\\\x\" \\n", "" },
    { "escapes", "'\\t\\'\\\\\\x41\\102\\u00e9\\q'\n", "\"\\011'\\\\AB\\303\\251\\\\q\" \\n", "" },
    { "escaped_newline_vanishes", "'a\\\nb'\n", "\"ab\" \\n", "" },
    { "triple_quotes", "'''a\r\n'b' '''\n", "\"a\\n'b' \" \\n", "" },
    { "raw_keeps_escaped_quote", "r'a\\'b'\n", "\"a\\\\'b\" \\n", "" },
    { "string_not_ended", "f('abc)\nd\n", "f ( \"abc)\" \\n d \\n",
      "1:3: this string does not end on its line [syntax]\n" },
    { "triple_not_ended", "a = '''b\nc\n", "a = \"b\\nc\\n\" \\n",
      "1:5: this string is never closed [syntax]\n" },
    { "short_hex_escape", "'\\x4'\n", "\"\" \\n",
      "1:2: this escape has too few hexadecimal digits [syntax]\n" },
    { "surrogate_escape", "'\\ud800'\n", "\"\" \\n",
      "1:2: this escape names no character [syntax]\n" },
    { "named_character", "'\\N{DASH}'\n", "\"{DASH}\" \\n",
      "1:2: characters by name are not supported [syntax]\n"
      "help: write '\\u' and the four digits of the character\n" },
    { "bytes_are_ascii", "b'\xC3\xA9'\n", "b\"\\303\\251\" \\n",
      "1:1: a bytes literal can only hold ASCII characters [syntax]\n" },

    // f-strings
    { "fstring_fields", "f'a{b}{{c}}'\n", "f\" \"a\" { b } \"{c}\" \" \\n", "" },
    { "fstring_format", "f'{a!r:>{w}.2}'\n", "f\" { a ! r : \">\" { w } \".2\" } \" \\n", "" },
    { "fstring_same_quotes_inside", "f'{a['b']}'\n", "f\" { a [ \"b\" ] } \" \\n", "" },
    { "fstring_not_equal_and_walrus", "f'{a!=b}{c:=3}'\n", "f\" { a != b } { c : \"=3\" } \" \\n",
      "" },
    { "fstring_in_fstring", "f'{f\"{a}\"}'\n", "f\" { f\" { a } \" } \" \\n", "" },
    { "raw_fstring", "rf'\\{a}'\n", "f\" \"\\\\\" { a } \" \\n", "" },
    { "fstring_single_brace", "f'a}'\n", "f\" \"a\" \" \\n",
      "1:4: single '}' in an f-string [syntax]\nhelp: write '}}'\n" },
    { "fstring_not_ended", "f'a\nb\n", "f\" \"a\" \" \\n b \\n",
      "1:1: this f-string does not end on its line [syntax]\n" },
    { "fstring_field_not_ended", "f'{a\nb\n", "f\" { a \\n b \\n",
      "1:1: this f-string does not end on its line [syntax]\n" },

    // brackets
    { "surplus_closer", "a)\nb\n", "a \\n b \\n", "1:2: unmatched ')' [syntax]\n" },
    { "wrong_closer_is_replaced", "(a]\nb\n", "( a ) \\n b \\n",
      "1:3: closing ']' does not match '(' [syntax]\n1:1: note: '(' was opened here\n" },
    { "inner_bracket_left_open", "([a)\nb\n", "( [ a ) \\n b \\n",
      "1:4: closing ')' does not match '[' [syntax]\n1:2: note: '[' was opened here\n" },
    { "open_at_end_of_file", "a(\nb\n", "a ( b \\n", "1:2: '(' was never closed [syntax]\n" },
    { "header_without_closer", "def f(a:\n  b\n", "def f ( a : \\n > b \\n <",
      "1:6: '(' was never closed [syntax]\n" },

    // operators of other languages, and strange bytes
    { "c_logic", "a && b || !c\n", "a and b or not c \\n",
      "1:3: '&&' is not an operator [syntax]\nhelp: write 'and'\n"
      "1:8: '||' is not an operator [syntax]\nhelp: write 'or'\n"
      "1:11: '!' is not an operator [syntax]\nhelp: write 'not'\n" },
    { "increment", "a++\nb = c ++d\n", "a \\n b = c + + d \\n",
      "1:2: '++' is not an operator [syntax]\nhelp: write '+= 1'\n" },
    { "decrement_in_call", "f(a--)\n", "f ( a ) \\n",
      "1:4: '--' is not an operator [syntax]\nhelp: write '-= 1'\n" },
    { "old_not_equal", "a <> b\n", "a != b \\n",
      "1:3: '<>' is not an operator [syntax]\nhelp: write '!='\n" },
    { "stray_ascii", "a $ b\n", "a b \\n", "1:3: unexpected character '$' [syntax]\n" },
    { "typographic_quote", "\xE2\x80\x9C\n", "\\n",
      "1:1: unexpected character '\xE2\x80\x9C' (U+201C) [syntax]\nhelp: write '\"'\n" },
    { "letters_of_other_scripts",
      "gr\xC3\xB6\xC3\x9F"
      "e = 1\n",
      "gr\xC3\xB6\xC3\x9F"
      "e = 1=1 \\n",
      "1:1: 'gr\xC3\xB6\xC3\x9F"
      "e' is not a name: only ASCII letters, digits and '_' may stand in one"
      " [syntax]\n" },
    { "name_before_symbol",
      "a\xE2\x88\x92"
      "b\n",
      "a b \\n", "1:2: unexpected character '\xE2\x88\x92' (U+2212) [syntax]\nhelp: write '-'\n" },
    { "not_utf8", "a # \xFF\nb\n", "a \\n b \\n", "1:5: byte 0xff is not UTF-8 [syntax]\n" },
    { "text_after_backslash", "a \\ b\n", "a b \\n",
      "1:3: unexpected text after the line continuation '\\' [syntax]\n" },
};

static void print_token(Buf *out, int kind, const LexValue *v)
{
    bool quoted;

    buf_puts(out, out->len ? " " : "");
    switch (kind) {
    case TOK_NEWLINE: buf_puts(out, "\\n"); break;
    case TOK_INDENT: buf_putc(out, '>'); break;
    case TOK_DEDENT: buf_putc(out, '<'); break;
    case TOK_NAME: buf_puts(out, v->name->text); break;
    case TOK_INT:
        buf_printf(out, "%s=", v->text.at);
        if (v->overflow)
            buf_puts(out, "overflow");
        else
            buf_printf(out, "%llu", (unsigned long long)v->integer);
        break;
    case TOK_FLOAT: buf_double(out, v->real); break;
    case TOK_STRING: buf_puts(out, v->is_bytes ? "b" : "");  // fall through
    case TOK_FSTRING_MIDDLE: buf_c_string(out, v->text.at, v->text.len); break;
    case TOK_FSTRING_START: buf_puts(out, "f\""); break;
    case TOK_FSTRING_END: buf_putc(out, '"'); break;
    default: buf_puts(out, lex_token_text(kind, &quoted)); break;
    }
}

static void lex_all(FrontRun *r)
{
    Lexer lx;
    LexValue value = { 0 };
    Span span;
    int kind;

    lex_init(&lx, &r->arena, &r->syms, r->file, &r->diags);
    while ((kind = lex_next(&lx, &value, &span)) != 0)
        print_token(&r->out, kind, &value);
    assert_int_equal(lex_next(&lx, &value, &span), 0);
}

static void check_lex(void **state)
{
    const LexCase *c = *state;
    FrontRun r;

    front_begin(&r, c->source, strlen(c->source));
    lex_all(&r);
    assert_string_equal(r.out.at, c->want_tokens);
    assert_string_equal(front_messages(&r), c->want_messages);
    front_end(&r);
}

/// Each spelling of tokens.def is lexed as the token of its row.
static void check_spellings(void **state)
{
    static const struct {
        const char *text;
        int kind;
    } rows[] = {
#define ROW_KEYWORD(ID, text) { text, TOK_##ID },
#define ROW_OPEN(ID, text)    { text, TOK_##ID },
#define ROW_MARK(ID, text)    { text, TOK_##ID },
#define ROW_INFIX(ID, text)   { text, TOK_##ID },
#define ROW_VALUE(ID, text)
#define ROW_LAYOUT(ID, text)
#define TOKEN(ID, text, class) ROW_##class(ID, text)
#include "tokens.def"
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Lexer lx;
        LexValue value = { 0 };
        Span span;
        FrontRun r;
        bool closer = strchr(")]}", rows[i].text[0]) != NULL, quoted;
        if (rows[i].kind == TOK_SPEC || rows[i].kind == TOK_BANG)
            continue;  // only inside f-strings
        front_begin(&r, rows[i].text, strlen(rows[i].text));
        lex_init(&lx, &r.arena, &r.syms, r.file, &r.diags);
        if (!closer)
            assert_int_equal(lex_next(&lx, &value, &span), rows[i].kind);
        assert_string_equal(lex_token_text(rows[i].kind, &quoted), rows[i].text);
        assert_true(quoted);
        front_end(&r);
    }
}

static void check_nul_byte(void **state)
{
    FrontRun r;

    (void)state;
    front_begin(&r, "a\0b\n", 4);
    lex_all(&r);
    assert_string_equal(r.out.at, "a b \\n");
    assert_string_equal(front_messages(&r), "1:2: NUL byte in the source [syntax]\n");
    front_end(&r);
}

static void check_binary_file(void **state)
{
    char text[100];
    FrontRun r;

    (void)state;
    memset(text, 0xFE, sizeof text);
    front_begin(&r, text, sizeof text);
    lex_all(&r);
    assert_string_equal(r.out.at, "");
    assert_int_equal(r.diags.list.len, 9);
    assert_string_equal(r.diags.list.at[8]->text, "this is not a text file in UTF-8");
    front_end(&r);
}

static void check_spans(void **state)
{
    FrontRun r;
    Lexer lx;
    LexValue value = { 0 };
    Span span;

    (void)state;
    front_begin(&r, "ab + 'c'\n", 9);
    lex_init(&lx, &r.arena, &r.syms, r.file, &r.diags);
    const uint32_t want[][2] = { { 0, 2 }, { 3, 4 }, { 5, 8 }, { 8, 9 }, { 9, 9 } };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        lex_next(&lx, &value, &span);
        assert_int_equal(span.lo - r.file->base, want[i][0]);
        assert_int_equal(span.hi - r.file->base, want[i][1]);
    }
    front_end(&r);
}

static void check_dump(void **state)
{
    FrontRun r;

    (void)state;
    front_begin(&r, "if a:\n  b = 'c'\n", 16);
    buf_clear(&r.out);
    lex_dump(&r.arena, &r.syms, &r.sources, r.file, &r.diags, &r.out);
    assert_string_equal(r.out.at, "1:1 if\n1:4 name a\n1:5 :\n1:6 end of line\n"
                                  "2:1 an indented block\n2:3 name b\n2:5 =\n2:7 string \"c\"\n"
                                  "2:10 end of line\n2:10 end of block\n");
    front_end(&r);
}

int main(void)
{
    const struct CMUnitTest singles[] = {
        cmocka_unit_test(check_spellings),   cmocka_unit_test(check_nul_byte),
        cmocka_unit_test(check_binary_file), cmocka_unit_test(check_spans),
        cmocka_unit_test(check_dump),
    };
    int failed = FRONT_RUN_CASES("lex", lex_cases, check_lex);

    return cmocka_run_group_tests_name("lex_single", singles, NULL, NULL) + failed;
}
