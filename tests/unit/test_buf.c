/// test_buf.c - the text buffer and its literals.
#include "support/buf.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void appends_and_indents(void **state)
{
    Buf b = { 0 };

    (void)state;
    buf_puts(&b, "");
    assert_string_equal(b.at, "");
    buf_printf(&b, "%s=%d", "x", 7);
    buf_putc(&b, ';');
    buf_bytes(&b, "\0y", 2);
    assert_int_equal(b.len, 6);
    buf_clear(&b);
    assert_string_equal(b.at, "");
    b.indent = 2;
    buf_line(&b, "if (%s)", "a");
    buf_printf(&b, "%300d|", 1);
    assert_memory_equal(b.at, "        if (a)\n   ", 18);
    assert_int_equal(b.len, 15 + 301);
    assert_string_equal(b.at + b.len - 3, " 1|");
    buf_free(&b);
    assert_null(b.at);
}

typedef struct {
    const char *text;
    size_t len;
    const char *want;
} LiteralCase;

static const LiteralCase c_cases[] = {
    { "", 0, "\"\"" },
    { "a\"b\\c", 5, "\"a\\\"b\\\\c\"" },
    { "l\n", 2, "\"l\\n\"" },
    { "\0"
      "1",
      2, "\"\\0001\"" },            // never read as octal 1
    { "\?\?=", 3, "\"\\?\\?=\"" },  // never a trigraph
    { "\xc3\xa4"
      "b",
      3, "\"\\303\\244b\"" },
};

static const LiteralCase json_cases[] = {
    { "", 0, "\"\"" },
    { "a\"b\\c/", 6, "\"a\\\"b\\\\c/\"" },
    { "\n\t\x01", 3, "\"\\n\\u0009\\u0001\"" },
    { "\xc3\xa4", 2, "\"\xc3\xa4\"" },
    { "\xff"
      "a\xc3",
      3,
      "\"\xef\xbf\xbd"
      "a\xef\xbf\xbd\"" },
};

static void check_literals(const LiteralCase *cases, size_t count,
                           void (*print)(Buf *, const char *, size_t))
{
    for (size_t i = 0; i < count; i++) {
        Buf b = { 0 };
        print(&b, cases[i].text, cases[i].len);
        assert_string_equal(b.at, cases[i].want);
        buf_free(&b);
    }
}

static void c_strings_are_portable(void **state)
{
    (void)state;
    check_literals(c_cases, sizeof c_cases / sizeof *c_cases, buf_c_string);
}

static void json_strings_are_utf8(void **state)
{
    (void)state;
    check_literals(json_cases, sizeof json_cases / sizeof *json_cases, buf_json_string);
}

static const struct {
    double value;
    const char *want;
} double_cases[] = {
    { 0.0, "0.0" },        { -0.0, "-0.0" },
    { 1.0, "1.0" },        { 0.1, "0.1" },
    { 1e20, "1e+20" },     { 1.0 / 3, "0.3333333333333333" },
    { 1e-300, "1e-300" },  { 123456789.0, "123456789.0" },
    { 5e-324, "5e-324" },  { INFINITY, "inf" },
    { -INFINITY, "-inf" }, { NAN, "nan" },
};

static void doubles_are_shortest(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof double_cases / sizeof *double_cases; i++) {
        Buf b = { 0 };
        buf_double(&b, double_cases[i].value);
        assert_string_equal(b.at, double_cases[i].want);
        buf_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appends_and_indents),
        cmocka_unit_test(c_strings_are_portable),
        cmocka_unit_test(json_strings_are_utf8),
        cmocka_unit_test(doubles_are_shortest),
    };
    return cmocka_run_group_tests_name("buf", tests, NULL, NULL);
}
