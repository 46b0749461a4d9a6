/// test_constval.c - compile-time arithmetic against what Python answers (the expected texts are
/// Python's).
#include "sema/constval.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct {
    Arena arena;
    SourceMap sources;
    DiagSink diags;
    ConstCx cx;
} Fixture;

static void set_up(Fixture *f)
{
    memset(f, 0, sizeof *f);
    f->sources.arena = &f->arena;
    diag_init(&f->diags, &f->arena, &f->sources);
    f->cx = (ConstCx){ &f->arena, &f->diags };
}

static const Span nowhere = { 0, 0 };

/// Reads a value: 12, -3, 1.5, True, None, 'text', (1, 'a'), i for 10**30 parts like 2^100-1.
static ConstVal read_value(Fixture *f, const char **p)
{
    const char *s = *p;
    if (*s == '\'') {
        const char *end = strchr(s + 1, '\'');
        *p = end + 1;
        return const_str((Str){ s + 1, (uint32_t)(end - s - 1) });
    }
    if (*s == '(') {
        ConstVal *at = ARENA_NEW_N(&f->arena, ConstVal, 8);
        uint32_t n = 0;
        for (s++; *s != ')'; s += strspn(s, ", "))
            at[n++] = read_value(f, &s);
        *p = s + 1;
        return const_tuple(at, n);
    }
    size_t len = strcspn(s, ",) ");
    const char *word = arena_strndup(&f->arena, s, len);
    *p = s + len;
    if (strcmp(word, "True") == 0 || strcmp(word, "False") == 0)
        return const_bool(*word == 'T');
    if (strcmp(word, "None") == 0)
        return const_none();
    if (strchr(word, '.') || strstr(word, "inf") || strstr(word, "nan"))
        return const_float(strtod(word, NULL));
    char *end;
    bool negative = *word == '-';
    Int128 v = strtoll(word + negative, &end, 10);
    if (*end == '^')
        v = (Int128)1 << strtol(end + 1, &end, 10);
    return const_int(negative ? -v : v);
}

static ConstVal value(Fixture *f, const char *text)
{
    return read_value(f, &text);
}

static const char *text_of(Fixture *f, ConstVal v)
{
    if (v.kind == CONST_ERROR)
        return f->diags.list.len ? f->diags.list.at[f->diags.list.len - 1]->text : "silent";
    Buf b = { 0 };
    const_print(&b, &v);
    const char *text = arena_strndup(&f->arena, b.at, b.len);
    buf_free(&b);
    return text;
}

static const struct {
    const char *a, *op, *b, *result;
} binary_cases[] = {
    { "7", "//", "2", "3" },
    { "-7", "//", "2", "-4" },
    { "7", "//", "-2", "-4" },
    { "-7", "//", "-2", "3" },
    { "-8", "//", "3", "-3" },
    { "7", "%", "2", "1" },
    { "-7", "%", "2", "1" },
    { "7", "%", "-2", "-1" },
    { "-7", "%", "-2", "-1" },
    { "-7", "%", "3", "2" },
    { "7", "/", "2", "3.5" },
    { "6", "/", "2", "3.0" },
    { "1", "/", "3", "0.3333333333333333" },
    { "2", "**", "4", "16" },
    { "2", "**", "-1", "0.5" },
    { "-2", "**", "3", "-8" },
    { "0", "**", "0", "1" },
    { "-1", "**", "1001", "-1" },
    { "2", "**", "0.5", "1.4142135623730951" },
    { "2", "**", "126", "85070591730234615865843651857942052864" },
    { "True", "+", "True", "2" },
    { "True", "&", "False", "False" },
    { "True", "^", "1", "0" },
    { "6", "|", "9", "15" },
    { "-1", "&", "255", "255" },
    { "1", "<<", "100", "1267650600228229401496703205376" },
    { "-5", ">>", "1", "-3" },
    { "-5", ">>", "1000", "-1" },
    { "5", ">>", "1000", "0" },
    { "7.5", "//", "2", "3.0" },
    { "-7.5", "//", "2", "-4.0" },
    { "7.5", "%", "-2", "-0.5" },
    { "-7.5", "%", "2", "0.5" },
    { "-0.0", "%", "3", "0.0" },
    { "5", "-", "7.5", "-2.5" },
    { "0.1", "+", "0.2", "0.30000000000000004" },
    { "inf", "-", "inf", "nan" },
    { "'re'", "+", "'lu'", "'relu'" },
    { "'ab'", "*", "3", "'ababab'" },
    { "2", "*", "(1, 2)", "(1, 2, 1, 2)" },
    { "(1,)", "*", "-1", "()" },
    { "(1, 2)", "+", "(3,)", "(1, 2, 3)" },
    { "'%d of %s'", "%", "(3, 'x')", "'3 of x'" },
    { "'%05.1f|%x|%%'", "%", "(2.25, 255)", "'002.2|ff|%'" },
    { "'%r'", "%", "'a'", "\"'a'\"" },
    { "'%5s|%-4d|'", "%", "('ab', 7)", "'   ab|7   |'" },
    { "'%999d'", "%", "1", "string formatting has a '%' that begins no directive" },
    { "'%d'", "%", "2^100", "string formatting has a value that its directive does not take" },
    { "''", "*", "10000000", "''" },
    { "1", "/", "0", "'/' by zero in a compile-time expression" },
    { "1", "//", "0", "'//' by zero in a compile-time expression" },
    { "1.0", "%", "0", "'%' by zero in a compile-time expression" },
    { "0", "**", "-1", "'**' by zero in a compile-time expression" },
    { "2", "**", "127", "the result of '**' does not fit 128 bits" },
    { "10", "**", "1000", "the result of '**' does not fit 128 bits" },
    { "2^126", "+", "2^126", "the result of '+' does not fit 128 bits" },
    { "2^100", "*", "2^100", "the result of '*' does not fit 128 bits" },
    { "1", "<<", "127", "the result of '<<' does not fit 128 bits" },
    { "1", "<<", "-1", "negative shift count -1" },
    { "1.0", "<<", "1", "'<<' needs integers, got a float" },
    { "10.0", "**", "1000", "the result of '**' is too large for a float" },
    { "-1.0", "**", "0.5", "a negative number to a fractional power is no real number" },
    { "0", "+", "'a'", "unsupported operands for '+': an int and a string" },
    { "None", "+", "1", "unsupported operands for '+': None and an int" },
    { "1", "@", "2", "unsupported operands for '@': an int and an int" },
    { "'%d'", "%", "()", "string formatting has more directives than values" },
    { "'x'", "%", "1", "string formatting has more values than directives" },
    { "'%d'", "%", "'a'", "string formatting has a value that its directive does not take" },
    { "'ab'", "*", "10000000", "the result of '*' is longer than 1048576" },
};

static void check_binary(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof binary_cases / sizeof binary_cases[0]; i++) {
        Fixture f;
        set_up(&f);
        int op = 0;
        while (strcmp(ast_binary_text[op], binary_cases[i].op) != 0)
            op++;
        ConstVal v = const_binary(&f.cx, (AstBinaryOp)op, value(&f, binary_cases[i].a),
                                  value(&f, binary_cases[i].b), nowhere);
        assert_string_equal(text_of(&f, v), binary_cases[i].result);
        arena_free(&f.arena);
    }
}

static const struct {
    const char *a, *op, *b, *result;
} compare_cases[] = {
    { "1", "==", "1.0", "True" },
    { "1", "==", "True", "True" },
    { "1", "is", "True", "False" },
    { "2^100", "==", "2^100", "True" },
    { "9007199254740993", "==", "9007199254740992.0", "False" },
    { "9007199254740993", ">", "9007199254740992.0", "True" },
    { "3", "<", "3.5", "True" },
    { "-3", ">", "-3.5", "True" },
    { "3.5", ">", "3", "True" },
    { "1", "<", "inf", "True" },
    { "nan", "==", "nan", "False" },
    { "nan", "!=", "nan", "True" },
    { "1", "<", "nan", "False" },
    { "1", ">=", "nan", "False" },
    { "'relu'", "==", "'relu'", "True" },
    { "'a'", "<", "'b'", "True" },
    { "'a'", "<", "'ab'", "True" },
    { "'b'", ">", "'ab'", "True" },
    { "'a'", "==", "1", "False" },
    { "(1, 2)", "==", "(1.0, 2)", "True" },
    { "(1, 2)", "<", "(1, 3)", "True" },
    { "(1,)", "<", "(1, 0)", "True" },
    { "None", "is", "None", "True" },
    { "None", "is not", "1", "True" },
    { "None", "==", "0", "False" },
    { "4", "in", "(1, 2, 4)", "True" },
    { "3", "not in", "(1, 2, 4)", "True" },
    { "'el'", "in", "'relu'", "True" },
    { "'x'", "in", "'relu'", "False" },
    { "1", "in", "2", "unsupported operands for 'in': an int and an int" },
    { "None", "<", "1", "unsupported operands for '<': None and an int" },
    { "'a'", "<", "1", "unsupported operands for '<': a string and an int" },
};

static void check_compare(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof compare_cases / sizeof compare_cases[0]; i++) {
        Fixture f;
        set_up(&f);
        int op = 0;
        while (strcmp(ast_compare_text[op], compare_cases[i].op) != 0)
            op++;
        ConstVal v = const_compare(&f.cx, (AstCompareOp)op, value(&f, compare_cases[i].a),
                                   value(&f, compare_cases[i].b), nowhere);
        if (strcmp(text_of(&f, v), compare_cases[i].result) != 0)
            fail_msg("%s %s %s", compare_cases[i].a, compare_cases[i].op, compare_cases[i].b);
        arena_free(&f.arena);
    }
}

static void check_unary(void **state)
{
    (void)state;
    static const struct {
        AstUnaryOp op;
        const char *operand, *result;
    } cases[] = {
        { AST_NEG, "5", "-5" },
        { AST_NEG, "1.5", "-1.5" },
        { AST_NEG, "True", "-1" },
        { AST_POS, "True", "1" },
        { AST_INVERT, "5", "-6" },
        { AST_INVERT, "True", "-2" },
        { AST_NOT, "0", "True" },
        { AST_NOT, "''", "True" },
        { AST_NOT, "(0,)", "False" },
        { AST_NOT, "None", "True" },
        { AST_NOT, "nan", "False" },
        { AST_INVERT, "1.5", "unary '~' needs an integer, got a float" },
        { AST_NEG, "'a'", "unary '-' needs a number, got a string" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Fixture f;
        set_up(&f);
        assert_string_equal(
            text_of(&f, const_unary(&f.cx, cases[i].op, value(&f, cases[i].operand), nowhere)),
            cases[i].result);
        arena_free(&f.arena);
    }
}

static void check_print(void **state)
{
    (void)state;
    Fixture f;
    set_up(&f);
    static const struct {
        double v;
        const char *text;
    } floats[] = {
        { 0.0, "0.0" },
        { -0.0, "-0.0" },
        { 1.0, "1.0" },
        { 100.0, "100.0" },
        { 0.1, "0.1" },
        { 1e15, "1000000000000000.0" },
        { 1e16, "1e+16" },
        { 1e300, "1e+300" },
        { 0.0001, "0.0001" },
        { 0.00001, "1e-05" },
        { 1.5e-7, "1.5e-07" },
        { 123456789.125, "123456789.125" },
        { 5e-324, "5e-324" },
        { 1.7976931348623157e308, "1.7976931348623157e+308" },
        { 9007199254740993.0, "9007199254740992.0" },
        { 123456789012345680.0, "1.2345678901234568e+17" },
    };
    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++)
        assert_string_equal(text_of(&f, const_float(floats[i].v)), floats[i].text);
    TypeTable *types = type_table_new(&f.arena);
    const Type *half = type_scalar(types, SCALAR_F16);
    assert_string_equal(text_of(&f, const_dtype(half)), "fp16");
    assert_string_equal(
        text_of(&f, const_dtype(type_ptr(types, type_scalar(types, SCALAR_I32), true))),
        "*const int32");
    assert_string_equal(text_of(&f, value(&f, "(1, 'a', (2.0,), None, True)")),
                        "(1, 'a', (2.0,), None, True)");
    assert_string_equal(text_of(&f, const_str((Str){ "it's\n", 5 })), "\"it's\\n\"");
    assert_string_equal(text_of(&f, const_int(-((Int128)1 << 126))),
                        "-85070591730234615865843651857942052864");
    arena_free(&f.arena);
}

static void check_sequences(void **state)
{
    (void)state;
    static const struct {
        const char *v, *lower, *upper, *step, *result;
    } slices[] = {
        { "(1, 2, 3, 4)", "1", "3", "None", "(2, 3)" },
        { "(1, 2, 3, 4)", "None", "None", "-1", "(4, 3, 2, 1)" },
        { "(1, 2, 3, 4)", "-2", "None", "None", "(3, 4)" },
        { "(1, 2, 3, 4)", "0", "100", "2", "(1, 3)" },
        { "(1, 2, 3, 4)", "3", "0", "-2", "(4, 2)" },
        { "'abc'", "None", "2", "None", "'ab'" },
        { "(1, 2)", "None", "None", "0", "a slice step must be an int other than 0" },
        { "(1, 2)", "'a'", "None", "1", "a slice bound must be an int, got a string" },
        { "5", "None", "None", "1", "an int cannot be indexed" },
    };
    for (size_t i = 0; i < sizeof slices / sizeof slices[0]; i++) {
        Fixture f;
        set_up(&f);
        ConstVal v = const_slice(&f.cx, value(&f, slices[i].v), value(&f, slices[i].lower),
                                 value(&f, slices[i].upper), value(&f, slices[i].step), nowhere);
        assert_string_equal(text_of(&f, v), slices[i].result);
        arena_free(&f.arena);
    }
    static const char *const indices[][3] = {
        { "(1, 2, 3)", "0", "1" },
        { "(1, 2, 3)", "-1", "3" },
        { "'abc'", "1", "'b'" },
        { "(1, 2)", "True", "2" },
        { "(1, 2)", "2", "index 2 is outside a tuple of length 2" },
        { "(1, 2)", "1.0", "an index must be an int, got a float" },
    };
    for (size_t i = 0; i < sizeof indices / sizeof indices[0]; i++) {
        Fixture f;
        set_up(&f);
        ConstVal v =
            const_index(&f.cx, value(&f, indices[i][0]), value(&f, indices[i][1]), nowhere);
        assert_string_equal(text_of(&f, v), indices[i][2]);
        arena_free(&f.arena);
    }
}

static void check_conversions(void **state)
{
    (void)state;
    static const struct {
        bool to_float;
        const char *v, *result;
    } cases[] = {
        { false, "1.9", "1" },
        { false, "-1.9", "-1" },
        { false, "True", "1" },
        { false, "' 12 '", "12" },
        { false, "'-7'", "-7" },
        { true, "3", "3.0" },
        { true, "'inf'", "inf" },
        { true, "'-inf'", "-inf" },
        { true, "'nan'", "nan" },
        { true, "' 1e3 '", "1000.0" },
        { true, "True", "1.0" },
        { false, "inf", "a float that is infinite has no value as an integer" },
        { false, "nan", "a float that is NaN has no value as an integer" },
        { false, "'0x10'", "'0x10' is not an integer" },
        { true, "'0x10'", "'0x10' is not a float" },
        { true, "'one'", "'one' is not a float" },
        { false, "None", "int() needs a number or a string, got None" },
        { true, "(1,)", "float() needs a number or a string, got a tuple" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Fixture f;
        set_up(&f);
        ConstVal v = value(&f, cases[i].v);
        v = cases[i].to_float ? const_to_float(&f.cx, v, nowhere) : const_to_int(&f.cx, v, nowhere);
        assert_string_equal(text_of(&f, v), cases[i].result);
        arena_free(&f.arena);
    }
}

static void check_literals(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        { "18446744073709551616", "18446744073709551616" },
        { "0xffffffffffffffffffff", "1208925819614629174706175" },
        { "0b1", "1" },
        { "170141183460469231731687303715884105727", "170141183460469231731687303715884105727" },
        { "170141183460469231731687303715884105728", "this integer does not fit 128 bits" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Fixture f;
        set_up(&f);
        AstInt n = { .text = { cases[i][0], (uint32_t)strlen(cases[i][0]) }, .overflow = true };
        assert_string_equal(text_of(&f, const_of_int(&f.cx, &n)), cases[i][1]);
        arena_free(&f.arena);
    }
}

static void errors_absorb(void **state)
{
    (void)state;
    Fixture f;
    set_up(&f);
    ConstVal bad = const_error(), one = const_int(1);
    assert_int_equal(const_binary(&f.cx, AST_ADD, bad, one, nowhere).kind, CONST_ERROR);
    assert_int_equal(const_compare(&f.cx, AST_LT, one, bad, nowhere).kind, CONST_ERROR);
    assert_int_equal(const_unary(&f.cx, AST_NOT, bad, nowhere).kind, CONST_ERROR);
    assert_int_equal(const_index(&f.cx, bad, one, nowhere).kind, CONST_ERROR);
    assert_int_equal(const_slice(&f.cx, one, bad, one, one, nowhere).kind, CONST_ERROR);
    assert_int_equal(f.diags.list.len, 0);
    bool ok;
    assert_false(const_truth(&f.cx, const_dtype(NULL), nowhere, &ok));
    assert_false(ok);
    assert_string_equal(f.diags.list.at[0]->text, "a dtype is neither true nor false");
    arena_free(&f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_binary),    cmocka_unit_test(check_compare),
        cmocka_unit_test(check_unary),     cmocka_unit_test(check_print),
        cmocka_unit_test(check_sequences), cmocka_unit_test(check_conversions),
        cmocka_unit_test(check_literals),  cmocka_unit_test(errors_absorb),
    };
    return cmocka_run_group_tests_name("constval", tests, NULL, NULL);
}
