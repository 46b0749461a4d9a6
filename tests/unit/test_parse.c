/// test_parse.c - trees: precedence, every statement and expression form, places, sizes.
///
/// The messages of wrong programs are in test_parse_errors.c.
#include "front_run.h"
#include <string.h>

typedef struct {
    const char *name, *source, *want;
} ParseCase;

/// Expressions, as the value of `x = ...`.
static const ParseCase expr_cases[] = {
    // precedence and associativity, from Python's reference
    { "product_before_sum", "a + b * c", "(binary + a (binary * b c))" },
    { "sums_from_the_left", "a - b - c", "(binary - (binary - a b) c)" },
    { "products_from_the_left", "a // b @ c % d / e",
      "(binary / (binary % (binary @ (binary // a b) c) d) e)" },
    { "power_from_the_right", "a ** b ** c", "(binary ** a (binary ** b c))" },
    { "power_before_sign", "-a ** b", "(unary - (binary ** a b))" },
    { "sign_in_exponent", "a ** -b", "(binary ** a (unary - b))" },
    { "sign_before_product", "-a * ~b", "(binary * (unary - a) (unary ~ b))" },
    { "call_before_power", "f(a) ** b[c].d",
      "(binary ** (call f [a] []) (attribute (subscript b no [c]) d))" },
    { "shift_after_sum", "a << b + c >> d", "(binary >> (binary << a (binary + b c)) d)" },
    { "bits_in_order", "a | b ^ c & d << e",
      "(binary | a (binary ^ b (binary & c (binary << d e))))" },
    { "comparison_after_bits", "a & b == c", "(compare == [(binary & a b) c])" },
    { "not_after_comparison", "not a == b", "(unary not (compare == [a b]))" },
    { "and_before_or", "a or b and not c or d", "(logic or [a (logic and [b (unary not c)]) d])" },
    { "ternary_after_or", "a or b if c else d if e else f",
      "(ternary (logic or [a b]) c (ternary d e f))" },
    { "lambda_is_loosest", "lambda a: a if b else c",
      "(lambda [(param a no - -)] (ternary a b c))" },
    { "parentheses_group", "(a + b) * c", "(binary * (binary + a b) c)" },

    // comparison chains
    { "chain_is_one_node", "a < b <= c != d", "(compare <, <=, != [a b c d])" },
    { "chain_ends_at_parentheses", "(a < b) < c", "(compare < [(compare < [a b]) c])" },
    { "words_compare", "a is b is not c in d not in e",
      "(compare is, is not, in, not in [a b c d e])" },
    { "signs_compare", "a == b > c >= d", "(compare ==, >, >= [a b c d])" },

    // literals
    { "integer_keeps_its_text", "0x1F + 99999999999999999999",
      "(binary + 0x1F 99999999999999999999)" },
    { "constants", "None, True, False, ...", "(tuple [None True False ...])" },
    { "adjacent_strings_join", "'a' \"b\" 'c'", "\"abc\"" },
    { "bytes", "b'a' b'b'", "b\"ab\"" },
    { "fstring", "f'a{b!r:>{c}}{d + 1}'",
      "(fstring [\"a\" (field b !r (fstring [\">\" (field c -)])) (field (binary + d 1) -)])" },
    { "fstring_joins_strings", "'a' f'b{c}d' 'e'", "(fstring [\"ab\" (field c -) \"de\"])" },
    { "fstring_shows_its_text", "f'{a + 1=}'", "(fstring [(field (binary + a 1) \"a + 1=\" -)])" },
    { "fstring_with_tuple", "f'{a, b}'", "(fstring [(field (tuple [a b]) -)])" },

    // displays
    { "tuples", "(), (a,), (a, b,)", "(tuple [(tuple []) (tuple [a]) (tuple [a b])])" },
    { "lists", "[[], [a], [a, b,]]", "(list [(list []) (list [a]) (list [a b])])" },
    { "dicts", "{}, {a: b, 'c': d,}", "(tuple [(dict [] []) (dict [a \"c\"] [b d])])" },
    { "list_comprehension", "[a for a, b in range(4) if a if b]",
      "(comprehension yes a (tuple [a b]) (call range [4] []) [a b])" },
    { "generator", "(a for a in b)", "(comprehension no a a b [])" },
    { "generator_argument", "f(a for a in b)", "(call f [(comprehension no a a b [])] [])" },
    { "star_in_tuple", "*a, b", "(tuple [(starred a) b])" },

    // calls and subscripts
    { "attributes_chain", "a.b.c().d", "(attribute (call (attribute (attribute a b) c) [] []) d)" },
    { "arguments", "f(a, *b, c=d, e=f,)",
      "(call f [a (starred b)] [(keyword c d) (keyword e f)])" },
    { "index", "a[b]", "(subscript a no [b])" },
    { "index_of_several", "a[b, c]", "(subscript a yes [b c])" },
    { "index_with_comma", "a[b,]", "(subscript a yes [b])" },
    { "index_by_tuple", "a[(b, c)]", "(subscript a no [(tuple [b c])])" },
    { "slices", "a[:, None, b:, :c, ::d, b:c:d, ...]",
      "(subscript a yes [(slice - - -) None (slice b - -) (slice - c -) (slice - - d) (slice b c "
      "d) ...])" },
    { "lambda_parameters", "lambda a, b=1, *, c, d=2: 0",
      "(lambda [(param a no - -) (param b no - 1) (param c yes - -) (param d yes - 2)] 0)" },
    { "lambda_without_parameters", "lambda: (a,)", "(lambda [] (tuple [a]))" },
};

/// Whole files.
static const ParseCase stmt_cases[] = {
    { "empty_file", "", "module\n" },
    { "module_docstring", "'''text'''\npass\n", "module \"text\"\n    body:\n        pass\n" },
    { "statements_on_a_line", "a; b = 1;\n",
      "module\n    body:\n        expr a\n        assign [b] 1\n" },
    { "assignments", "a = b\na = b = c\na, b = b, a\n(a.x), [b[0]] = c\n",
      "module\n    body:\n        assign [a] b\n        assign [a b] c\n"
      "        assign [(tuple [a b])] (tuple [b a])\n"
      "        assign [(tuple [(attribute a x) (list [(subscript b no [0])])])] c\n" },
    { "augmented_assignments",
      "a += 1\na -= 1\na *= 1\na /= 1\na //= 1\na %= 1\na @= 1\na **= 1\na <<= 1\na >>= 1\n"
      "a &= 1\na |= 1\na ^= 1\n",
      "module\n    body:\n        aug_assign + a 1\n        aug_assign - a 1\n        aug_assign * "
      "a 1\n"
      "        aug_assign / a 1\n        aug_assign // a 1\n        aug_assign % a 1\n"
      "        aug_assign @ a 1\n        aug_assign ** a 1\n        aug_assign << a 1\n"
      "        aug_assign >> a 1\n        aug_assign & a 1\n        aug_assign | a 1\n"
      "        aug_assign ^ a 1\n" },
    { "annotations", "a: b = 1\nc: d.e\n",
      "module\n    body:\n        ann_assign a b 1\n        ann_assign c (attribute d e) -\n" },
    { "imports", "import a\nimport a.b.c as d, e\n",
      "module\n    body:\n        import [(alias a -)]\n        import [(alias a.b.c d) (alias e "
      "-)]\n" },
    { "imports_from",
      "from a.b import c as d, e\nfrom . import f\nfrom ...g import (h, i,)\nfrom j import *\n",
      "module\n    body:\n        import_from 0 a.b [(alias c d) (alias e -)]\n"
      "        import_from 1 - [(alias f -)]\n        import_from 3 g [(alias h -) (alias i -)]\n"
      "        import_from 0 j [(alias * -)]\n" },
    { "function", "@a.b\n@c(d=1)\ndef f(x, y: z = 1, *, w: v) -> u:\n    'doc'\n    return x\n",
      "module\n    body:\n"
      "        function f \"doc\" [(attribute a b) (call c [] [(keyword d 1)])]"
      " [(param x no - -) (param y no z 1) (param w yes v -)] u\n"
      "            body:\n                return x\n" },
    { "function_on_a_line", "def f(a, /, b,): return\n",
      "module\n    body:\n        function f [] [(param a no - -) (param b no - -)] -\n"
      "            body:\n                return -\n" },
    { "kernel_decorator", "@newt.kernel(grid=lambda n, B: (cdiv(n, B),))\ndef k(): pass\n",
      "module\n    body:\n        function k [(call (attribute newt kernel) [] [(keyword grid "
      "(lambda [(param n no - -) (param B no - -)] (tuple [(call cdiv [n B] [])])))])] [] -\n"
      "            body:\n                pass\n" },
    { "if_elif_else", "if a: b\nelif c:\n  d\nelse:\n  e\n",
      "module\n    body:\n        if a\n            body:\n                expr b\n"
      "            orelse:\n                if c\n                    body:\n"
      "                        expr d\n                    orelse:\n"
      "                        expr e\n" },
    { "for_else", "for a, b in c, d:\n  break\nelse:\n  pass\n",
      "module\n    body:\n        for (tuple [a b]) (tuple [c d])\n            body:\n"
      "                break\n            orelse:\n                pass\n" },
    { "while_else", "while a: continue\nelse: b\n",
      "module\n    body:\n        while a\n            body:\n                continue\n"
      "            orelse:\n                expr b\n" },
    { "assert", "assert a\nassert a, 'b'\n",
      "module\n    body:\n        assert a -\n        assert a \"b\"\n" },
    { "return_values", "def f():\n  return a, b\n",
      "module\n    body:\n        function f [] [] -\n            body:\n"
      "                return (tuple [a b])\n" },
};

static AstModule *parse(FrontRun *r, const char *source, size_t len)
{
    front_begin(r, source, len);
    return parse_file(&r->arena, &r->syms, &r->sources, r->file, &r->diags);
}

static void check_stmt(void **state)
{
    const ParseCase *c = *state;
    FrontRun r;
    AstModule *m = parse(&r, c->source, strlen(c->source));

    ast_dump(&m->base, &r.out);
    assert_string_equal(front_messages(&r), "");
    assert_string_equal(r.out.at, c->want);
    front_end(&r);
}

static void check_expr(void **state)
{
    const ParseCase *c = *state;
    FrontRun r;
    Buf source = { 0 };

    buf_printf(&source, "x = %s\n", c->source);
    AstModule *m = parse(&r, source.at, source.len);
    assert_string_equal(front_messages(&r), "");
    assert_int_equal(m->body.len, 1);
    ast_dump(ast_assign(m->body.at[0])->value, &r.out);
    assert_string_equal(r.out.at, c->want);
    buf_free(&source);
    front_end(&r);
}

// places

typedef struct {
    AstKind kind;
    const AstNode *found;
} Search;

static bool enter_search(const AstNode *n, void *ctx)
{
    Search *s = ctx;

    if (!s->found && n->kind == s->kind)
        s->found = n;
    return !s->found;
}

typedef struct {
    const char *name, *source;
    AstKind kind;
    const char *want;
} SpanCase;

static const SpanCase span_cases[] = {
    { "binary_spans_both_sides", "x = a + b * c  # d\n", AST_BINARY, "a + b * c" },
    { "parentheses_belong_to_the_place", "x = (a + b)\n", AST_BINARY, "(a + b)" },
    { "call_to_its_parenthesis", "f(a)(b)\n", AST_CALL, "f(a)(b)" },
    { "if_to_its_last_statement", "if a:\n  b\nelse:\n  c\n\nd\n", AST_IF,
      "if a:\n  b\nelse:\n  c" },
    { "if_without_else", "if a:\n  b\n\n\nd\n", AST_IF, "if a:\n  b" },
    { "function_from_its_decorator", "@a\ndef f(): pass\n", AST_FUNCTION, "@a\ndef f(): pass" },
    { "function_without_decorator", "a\ndef f(): pass\n", AST_FUNCTION, "def f(): pass" },
    { "keyword_with_value", "f(a, b=c)\n", AST_KEYWORD, "b=c" },
    { "slice", "a[b:c]\n", AST_SLICE, "b:c" },
    { "fstring_field", "f'a{b!r}'\n", AST_FIELD, "{b!r}" },
    { "annotated", "a: b = c\n", AST_ANN_ASSIGN, "a: b = c" },
};

static void check_span(void **state)
{
    const SpanCase *c = *state;
    FrontRun r;
    AstModule *m = parse(&r, c->source, strlen(c->source));
    Search search = { c->kind, NULL };

    ast_walk(&m->base, &(AstVisitor){ enter_search, NULL, &search });
    assert_non_null(search.found);
    Str text = source_text(&r.sources, search.found->span);
    buf_bytes(&r.out, text.at, text.len);
    assert_string_equal(r.out.at, c->want);
    front_end(&r);
}

// whole trees

static bool enter_id(const AstNode *n, void *ctx)
{
    unsigned char *seen = ctx;

    if (n->kind != AST_ERROR)
        assert_int_equal(seen[n->id]++, 0);
    assert_true(n->depth >= 1 && n->span.lo > 0 && n->span.hi >= n->span.lo);
    return true;
}

static void check_ids(void **state)
{
    const char *source = "def f(a, b=1):\n  if a < b < 2:\n    return f'{a}' 'b'\n";
    FrontRun r;
    AstModule *m = parse(&r, source, strlen(source));
    unsigned char *seen = arena_alloc(&r.arena, m->node_count + 1, 1);

    (void)state;
    ast_walk(&m->base, &(AstVisitor){ enter_id, NULL, seen });
    assert_int_equal(seen[0], 0);
    assert_int_equal(seen[m->node_count], 1);
    front_end(&r);
}

static void check_dotted_name(void **state)
{
    FrontRun r;
    AstModule *m = parse(&r, "a.b.c\nf().b\n", 12);

    (void)state;
    assert_string_equal(ast_dotted_name(&r.arena, ast_expr(m->body.at[0])->value), "a.b.c");
    assert_null(ast_dotted_name(&r.arena, ast_expr(m->body.at[1])->value));
    front_end(&r);
}

static void check_int_overflow(void **state)
{
    FrontRun r;
    AstModule *m = parse(&r, "18446744073709551615\n18446744073709551616\n", 42);

    (void)state;
    assert_true(ast_int(ast_expr(m->body.at[0])->value)->value == UINT64_MAX);
    assert_false(ast_int(ast_expr(m->body.at[0])->value)->overflow);
    assert_true(ast_int(ast_expr(m->body.at[1])->value)->overflow);
    front_end(&r);
}

// sizes: each is linear, and nesting is refused once

typedef struct {
    const char *name, *head, *repeated, *tail;
    uint32_t count;
    const char *want_messages;
} SizeCase;

#define TOO_DEEP \
    "this nests more than 1000 deep [syntax]\nhelp: break it up with intermediate names\n"

static const SizeCase size_cases[] = {
    { "long_line", "x = [", "1, ", "1]\n", 350000, "" },
    { "long_name", "", "x", " = 1\n", 1000000, "" },
    { "long_fstring", "x = f'", "a{b}", "'\n", 200000, "" },
    { "many_strings", "x = ", "'a' ", "\n", 100000, "" },
    { "long_chain_of_comparisons", "x = ", "a < ", "1\n", 100000, "" },
    { "long_or", "x = ", "a or ", "1\n", 100000, "" },
    { "many_lines", "", "x = a[i] + f(b, c=1)\n", "", 20000, "" },
    { "long_dotted_import", "import ", "a.", "b\n", 30000, "" },
    { "nested_parentheses", "x = ", "(", "\n", 10000,
      "1:205: brackets nest more than 200 deep [syntax]\n" },
    { "nested_brackets_over_lines", "x = [\n", "[\n", "", 10000,
      "201:1: brackets nest more than 200 deep [syntax]\n" },
    { "signs", "x = ", "-", "1\n", 30000, "1:20001: " TOO_DEEP },
    { "sum", "x = ", "1 + ", "1\n", 3000, "1:5: " TOO_DEEP },
    { "attributes", "x = a", ".b", "\n", 3000, "1:5: " TOO_DEEP },
    { "elif_ladder", "if a: pass\n", "elif a: pass\n", "", 990, "" },
};

static void check_size(void **state)
{
    const SizeCase *c = *state;
    FrontRun r;
    Buf source = { 0 };

    buf_puts(&source, c->head);
    for (uint32_t i = 0; i < c->count; i++)
        buf_puts(&source, c->repeated);
    buf_puts(&source, c->tail);
    parse(&r, source.at, source.len);
    assert_string_equal(front_messages(&r), c->want_messages);
    buf_free(&source);
    front_end(&r);
}

static void check_deep_blocks(void **state)
{
    FrontRun r;
    Buf source = { 0 };

    (void)state;
    for (int i = 0; i < 150; i++)
        buf_printf(&source, "%*sif a:\n", i, "");
    buf_printf(&source, "%*sb\n", 150, "");
    parse(&r, source.at, source.len);
    assert_string_equal(front_messages(&r), "102:1: blocks nest more than 100 deep [syntax]\n");
    buf_free(&source);
    front_end(&r);
}

int main(void)
{
    const struct CMUnitTest singles[] = {
        cmocka_unit_test(check_ids),
        cmocka_unit_test(check_dotted_name),
        cmocka_unit_test(check_int_overflow),
        cmocka_unit_test(check_deep_blocks),
    };
    int failed = FRONT_RUN_CASES("parse_expr", expr_cases, check_expr);

    failed += FRONT_RUN_CASES("parse_stmt", stmt_cases, check_stmt);
    failed += FRONT_RUN_CASES("parse_span", span_cases, check_span);
    failed += FRONT_RUN_CASES("parse_size", size_cases, check_size);
    return cmocka_run_group_tests_name("parse_single", singles, NULL, NULL) + failed;
}
