/// test_rules_more.c - casts, pointers, shapes, and the words for what the rules refuse.
#include "rules_cases.h"

/* ---- 2.10, 2.11, 2.16 ---- */

static const Type *type_of(TypeTable *t, const char *text)
{
    if (*text == '*')
        return type_ptr(t, type_scalar(t, kind_of(text + 1)), false);
    return type_scalar(t, kind_of(text));
}

static void casts(void **state)
{
    (void)state;
    Arena a = { 0 };
    TypeTable *t = type_table_new(&a);
    static const struct {
        const char *from, *to;
        bool bitcast;
        RuleRounding rounding;
        RuleReason why;
    } cases[] = {
        { "i32", "i8", false, ROUNDING_DEFAULT, RULE_OK },
        { "fp32", "i1", false, ROUNDING_DEFAULT, RULE_OK },
        { "i32", "fp8e5", false, ROUNDING_DEFAULT, RULE_OK },
        { "fp8e4nv", "i64", false, ROUNDING_DEFAULT, RULE_OK },
        { "fp16", "bf16", false, ROUNDING_DEFAULT, RULE_OK },
        { "fp32", "fp16", false, ROUNDING_RTZ, RULE_OK },
        { "fp32", "bf16", false, ROUNDING_RTNE, RULE_OK },
        { "fp16", "fp32", false, ROUNDING_RTZ, RULE_CAST_ROUNDING },
        { "fp16", "bf16", false, ROUNDING_RTZ, RULE_CAST_ROUNDING },
        { "fp32", "i8", false, ROUNDING_RTNE, RULE_CAST_ROUNDING },
        { "fp32", "i32", true, ROUNDING_DEFAULT, RULE_OK },
        { "fp32", "i32", true, ROUNDING_RTZ, RULE_CAST_ROUNDING },
        { "fp32", "i16", true, ROUNDING_DEFAULT, RULE_CAST_WIDTH },
        { "i1", "i8", true, ROUNDING_DEFAULT, RULE_CAST_WIDTH },
        { "fp16", "bf16", true, ROUNDING_DEFAULT, RULE_OK },
        { "*fp32", "i64", false, ROUNDING_DEFAULT, RULE_OK },
        { "*fp32", "u64", false, ROUNDING_DEFAULT, RULE_OK },
        { "*fp32", "i1", false, ROUNDING_DEFAULT, RULE_OK },
        { "*fp32", "i32", false, ROUNDING_DEFAULT, RULE_CAST_POINTER },
        { "*fp32", "fp64", false, ROUNDING_DEFAULT, RULE_CAST_POINTER },
        { "*fp32", "*i8", false, ROUNDING_DEFAULT, RULE_OK },
        { "i64", "*fp32", false, ROUNDING_DEFAULT, RULE_OK },
        { "i32", "*fp32", false, ROUNDING_DEFAULT, RULE_OK },
        { "fp64", "*fp32", false, ROUNDING_DEFAULT, RULE_CAST_POINTER },
        { "*fp32", "i64", true, ROUNDING_DEFAULT, RULE_OK },
        { "*fp32", "i32", true, ROUNDING_DEFAULT, RULE_CAST_WIDTH },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        RuleReason why = rule_cast(type_of(t, cases[i].from), type_of(t, cases[i].to),
                                   cases[i].bitcast, cases[i].rounding);
        if (why != cases[i].why)
            fail_msg("%s to %s: reason %d, not %d", cases[i].from, cases[i].to, (int)why,
                     (int)cases[i].why);
    }
    arena_free(&a);
}

static void pointers(void **state)
{
    (void)state;
    Arena a = { 0 };
    TypeTable *t = type_table_new(&a);
    static const struct {
        const char *a, *b;
        AstBinaryOp op;
        RulePointer rule;
    } cases[] = {
        { "*fp32", "i32", AST_ADD, RULE_PTR_ADD },
        { "*fp32", "u8", AST_ADD, RULE_PTR_ADD },
        { "i64", "*fp32", AST_ADD, RULE_PTR_ADD_SWAP },
        { "*fp32", "i32", AST_SUB, RULE_PTR_SUB },
        { "*fp32", "*fp32", AST_SUB, RULE_PTR_DIFF },
        { "*fp32", "*fp16", AST_SUB, RULE_PTR_REFUSED },
        { "i32", "*fp32", AST_SUB, RULE_PTR_REFUSED },
        { "*fp32", "*fp32", AST_ADD, RULE_PTR_REFUSED },
        { "*fp32", "fp32", AST_ADD, RULE_PTR_REFUSED },
        { "*fp32", "i32", AST_MUL, RULE_PTR_REFUSED },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(rule_pointer(cases[i].op, type_of(t, cases[i].a), type_of(t, cases[i].b)),
                         cases[i].rule);
    arena_free(&a);
}

/// "(4, 8)" or "()" as a block of fp32.
static const Type *shaped(TypeTable *t, const char *text)
{
    int32_t shape[TYPE_MAX_RANK];
    unsigned rank = 0;
    for (text++; *text != ')'; text += strspn(text, ", ")) {
        char *end;
        shape[rank++] = (int32_t)strtol(text, &end, 10);
        text = end;
    }
    return type_block(t, type_scalar(t, SCALAR_F32), rank, shape);
}

static void broadcasting(void **state)
{
    (void)state;
    Arena a = { 0 };
    TypeTable *t = type_table_new(&a);
    static const struct {
        const char *a, *b, *shape;  // NULL: refused
        unsigned axis;
        int size_a, size_b;
        bool lead;
    } cases[] = {
        { "()", "(4)", "(4)", 0, 0, 0, false },
        { "(4, 8)", "()", "(4, 8)", 0, 0, 0, false },
        { "(4, 8)", "(8)", "(4, 8)", 0, 0, 0, false },
        { "(8)", "(4, 8)", "(4, 8)", 0, 0, 0, false },
        { "(16, 1)", "(1, 16)", "(16, 16)", 0, 0, 0, false },
        { "(2, 1, 4)", "(8, 1)", "(2, 8, 4)", 0, 0, 0, false },
        { "(1)", "(4)", "(4)", 0, 0, 0, false },
        { "(4, 8)", "(4)", NULL, 1, 8, 4, true },
        { "(4)", "(4, 8)", NULL, 1, 4, 8, true },
        { "(8)", "(16)", NULL, 0, 8, 16, false },
        { "(4, 8)", "(2, 8)", NULL, 0, 4, 2, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        RuleShape r = rule_broadcast(shaped(t, cases[i].a), shaped(t, cases[i].b));
        assert_int_equal(r.ok, cases[i].shape != NULL);
        if (r.ok) {
            const Type *got = type_block(t, type_scalar(t, SCALAR_F32), r.rank, r.shape);
            assert_string_equal(type_shape_text(t, got), cases[i].shape);
        } else {
            assert_int_equal(r.axis, cases[i].axis);
            assert_int_equal(r.size[0], cases[i].size_a);
            assert_int_equal(r.size[1], cases[i].size_b);
            assert_int_equal(r.lead, cases[i].lead);
        }
    }
    assert_true(rule_broadcast_to(shaped(t, "(8)"), shaped(t, "(4, 8)")).ok);
    assert_true(rule_broadcast_to(shaped(t, "()"), shaped(t, "(4, 8)")).ok);
    assert_false(rule_broadcast_to(shaped(t, "(4, 8)"), shaped(t, "(8)")).ok);
    RuleShape r = rule_broadcast_to(shaped(t, "(4, 1)"), shaped(t, "(8, 8)"));
    assert_false(r.ok);
    assert_int_equal(r.axis, 0);
    assert_int_equal(r.size[0], 4);
    assert_int_equal(r.size[1], 8);
    arena_free(&a);
}

/* ---- words ---- */

static void messages(void **state)
{
    (void)state;
    Arena a = { 0 };
    SourceMap sources = { .arena = &a };
    static const struct {
        TypeRule rule;
        const char *what, *operands, *message, *help;
    } cases[] = {
        { RULE_ARITH2, "+", "i8 300", "300 is out of range for int8",
          "cast the other operand to int16 first" },
        { RULE_ARITH2, "+", "u32 -1",
          "'+' of an unsigned operand (uint32) and the negative constant -1",
          "subtract 1 instead" },
        { RULE_ARITH2, "*", "u32 -1",
          "'*' of an unsigned operand (uint32) and the negative constant -1",
          "cast the other operand to a signed type first" },
        { RULE_IDIV2, "//", "u32 i32", "'//' of uint32 and int32, which differ in signedness",
          "cast one of them to the type of the other" },
        { RULE_IDIV2, "//", "fp32 2.0", "'//' needs integers, got fp32", "write floor(x / y)" },
        { RULE_SHIFT2, "<<", "i32 1.5", "'<<' needs integers, got the constant 1.5", NULL },
        { RULE_FLOAT1, "exp", "i32", "'exp' needs a float, got int32",
          "cast it with .to(float32)" },
        { RULE_INT1, "~", "fp32", "'~' needs an integer or bool, got fp32", NULL },
        { RULE_UMULHI2, "umulhi", "u8 u8", "'umulhi' needs integers of 32 or 64 bits, got uint8",
          NULL },
        { RULE_ARITH2, "+", "fp8e5 i32", "'+' of fp8e5 and int32",
          "cast the fp8 operand to float16 or float32 first" },
        { RULE_ARITH2, "+", "i1 2^64",
          "18446744073709551616 fits no integer type; they end at int64 and uint64", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        DiagSink d;
        diag_init(&d, &a, &sources);
        char text[MOST_WORDS][16];
        int n = words(cases[i].operands, text);
        RuleOperand o[2];
        ConstVal v[2];
        for (int k = 0; k < n; k++) {
            bool typed = scalar_find_signature(text[k]) != SCALAR_COUNT;
            v[k] = typed ? const_none() : literal(text[k]);
            o[k] = typed ? rule_typed(kind_of(text[k])) : rule_weak(&v[k]);
        }
        RuleResult r = rule_apply(cases[i].rule, o, (unsigned)n);
        rule_report(&d, (Span){ 0, 0 }, cases[i].what, &r);
        assert_int_equal(d.list.len, 1);
        assert_string_equal(d.list.at[0]->text, cases[i].message);
        assert_int_equal(d.list.at[0]->notes.len, cases[i].help != NULL);
        if (cases[i].help)
            assert_string_equal(d.list.at[0]->notes.at[0].text, cases[i].help);
    }
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(casts),
        cmocka_unit_test(pointers),
        cmocka_unit_test(broadcasting),
        cmocka_unit_test(messages),
    };
    return cmocka_run_group_tests_name("rules_more", tests, NULL, NULL);
}
