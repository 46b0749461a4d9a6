/// test_rules.c - every cell of the type tables of the language's section 2, written out by hand.
/// Casts, pointers, shapes and messages are in test_rules_more.c.
#include "rules_cases.h"

static const char *result_text(const RuleResult *r)
{
    switch (r->why) {
    case RULE_OK: return scalar_info[r->kind].signature;
    case RULE_FP8_WITH_INT: return "err";
    case RULE_NEEDS_INT: return "int!";
    case RULE_NEEDS_FLOAT: return "float!";
    case RULE_NEEDS_32_OR_64: return "width!";
    case RULE_SIGNEDNESS: return "sign!";
    case RULE_LITERAL_RANGE: return "range!";
    case RULE_LITERAL_NEGATIVE: return "neg!";
    case RULE_LITERAL_TOO_LARGE: return "large!";
    case RULE_LITERAL_NO_VALUE: return "value!";
    case RULE_CAST_POINTER:
    case RULE_CAST_WIDTH:
    case RULE_CAST_ROUNDING:
    case RULE_REASON_COUNT: break;
    }
    return "?";
}

static RuleResult apply2(TypeRule rule, ScalarKind a, ScalarKind b)
{
    return rule_apply(rule, (RuleOperand[]){ rule_typed(a), rule_typed(b) }, 2);
}

static const char columns[] = "i1 i8 i16 i32 i64 u8 u16 u32 u64 fp8e4nv fp16 bf16 fp32 fp64";

/// Rows of a left operand and the result for each column; both orders of operands give it.
static void check_table(TypeRule rule, const char *const *rows, size_t count)
{
    char head[MOST_WORDS][16], cells[MOST_WORDS][16];
    int n = words(columns, head);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(words(rows[i], cells), n + 1);
        ScalarKind a = kind_of(cells[0]);
        for (int k = 0; k < n; k++) {
            ScalarKind b = kind_of(head[k]);
            RuleResult r = apply2(rule, a, b), swapped = apply2(rule, b, a);
            if (strcmp(result_text(&r), cells[k + 1]) != 0)
                fail_msg("%s with %s: %s, not %s", cells[0], head[k], result_text(&r),
                         cells[k + 1]);
            if (strcmp(result_text(&swapped), cells[k + 1]) != 0)
                fail_msg("%s with %s: %s, not %s", head[k], cells[0], result_text(&swapped),
                         cells[k + 1]);
        }
    }
}

#define CHECK_TABLE(rule, rows) check_table((rule), (rows), sizeof(rows) / sizeof(rows)[0])

/* ---- 2.3 ---- */

static void promotion(void **state)
{
    (void)state;
    static const char *const rows[] = {
        /*        i1   i8   i16  i32  i64  u8   u16  u32  u64  fp8  fp16 bf16 fp32 fp64 */
        "i1       i1   i8   i16  i32  i64  u8   u16  u32  u64  err  fp16 fp32 fp32 fp64",
        "i8       i8   i8   i16  i32  i64  u8   u16  u32  u64  err  fp16 fp32 fp32 fp64",
        "i16      i16  i16  i16  i32  i64  i16  u16  u32  u64  err  fp16 fp32 fp32 fp64",
        "i32      i32  i32  i32  i32  i64  i32  i32  u32  u64  err  fp16 fp32 fp32 fp64",
        "i64      i64  i64  i64  i64  i64  i64  i64  i64  u64  err  fp16 fp32 fp32 fp64",
        "u8       u8   u8   i16  i32  i64  u8   u16  u32  u64  err  fp16 fp32 fp32 fp64",
        "u16      u16  u16  u16  i32  i64  u16  u16  u32  u64  err  fp16 fp32 fp32 fp64",
        "u32      u32  u32  u32  u32  i64  u32  u32  u32  u64  err  fp16 fp32 fp32 fp64",
        "u64      u64  u64  u64  u64  u64  u64  u64  u64  u64  err  fp16 fp32 fp32 fp64",
        "fp16     fp16 fp16 fp16 fp16 fp16 fp16 fp16 fp16 fp16 fp16 fp16 fp16 fp32 fp64",
        "bf16     fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp16 bf16 fp32 fp64",
        "fp32     fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp64",
        "fp64     fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64",
        "fp8e4nv  err  err  err  err  err  err  err  err  err  fp8e4nv fp16 fp32 fp32 fp64",
        "fp8e5    err  err  err  err  err  err  err  err  err  fp16 fp16 fp32 fp32 fp64",
    };
    CHECK_TABLE(RULE_ARITH2, rows);
    CHECK_TABLE(RULE_SELECT3, rows);
}

static void division(void **state)
{
    (void)state;
    static const char *const rows[] = {
        /*        i1   i8   i16  i32  i64  u8   u16  u32  u64  fp8  fp16 bf16 fp32 fp64 */
        "i1       fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 err  fp32 fp32 fp32 fp64",
        "i8       fp32 fp32 fp32 fp32 fp32 sign! sign! sign! sign! err fp32 fp32 fp32 fp64",
        "i16      fp32 fp32 fp32 fp32 fp32 sign! sign! sign! sign! err fp32 fp32 fp32 fp64",
        "i32      fp32 fp32 fp32 fp32 fp32 sign! sign! sign! sign! err fp32 fp32 fp32 fp64",
        "i64      fp32 fp32 fp32 fp32 fp32 sign! sign! sign! sign! err fp32 fp32 fp32 fp64",
        "u8       fp32 sign! sign! sign! sign! fp32 fp32 fp32 fp32 err fp32 fp32 fp32 fp64",
        "u16      fp32 sign! sign! sign! sign! fp32 fp32 fp32 fp32 err fp32 fp32 fp32 fp64",
        "u32      fp32 sign! sign! sign! sign! fp32 fp32 fp32 fp32 err fp32 fp32 fp32 fp64",
        "u64      fp32 sign! sign! sign! sign! fp32 fp32 fp32 fp32 err fp32 fp32 fp32 fp64",
        "fp16     fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp64",
        "bf16     fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp64",
        "fp32     fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp64",
        "fp64     fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64",
        "fp8e4nv  err  err  err  err  err  err  err  err  err  fp8e4nv fp32 fp32 fp32 fp64",
        "fp8e5    err  err  err  err  err  err  err  err  err  fp32 fp32 fp32 fp32 fp64",
    };
    CHECK_TABLE(RULE_DIV2, rows);
    assert_int_equal(apply2(RULE_DIV2, SCALAR_I64, SCALAR_I64).operand, SCALAR_F32);
}

static void integer_division(void **state)
{
    (void)state;
    static const char *const rows[] = {
        /*        i1   i8   i16  i32  i64  u8   u16  u32  u64  fp8  fp16 bf16 fp32 fp64 */
        "i1       i1   i8   i16  i32  i64  u8   u16  u32  u64  int! int! int! int! int!",
        "i8       i8   i8   i16  i32  i64  sign! sign! sign! sign! int! int! int! int! int!",
        "i16      i16  i16  i16  i32  i64  sign! sign! sign! sign! int! int! int! int! int!",
        "i32      i32  i32  i32  i32  i64  sign! sign! sign! sign! int! int! int! int! int!",
        "i64      i64  i64  i64  i64  i64  sign! sign! sign! sign! int! int! int! int! int!",
        "u8       u8   sign! sign! sign! sign! u8 u16 u32 u64 int! int! int! int! int!",
        "u16      u16  sign! sign! sign! sign! u16 u16 u32 u64 int! int! int! int! int!",
        "u32      u32  sign! sign! sign! sign! u32 u32 u32 u64 int! int! int! int! int!",
        "u64      u64  sign! sign! sign! sign! u64 u64 u64 u64 int! int! int! int! int!",
        "fp16     int! int! int! int! int! int! int! int! int! int! int! int! int! int!",
        "fp64     int! int! int! int! int! int! int! int! int! int! int! int! int! int!",
    };
    CHECK_TABLE(RULE_IDIV2, rows);
}

static void remainder_of(void **state)
{
    (void)state;
    static const char *const rows[] = {
        /*        i1   i8   i16  i32  i64  u8   u16  u32  u64  fp8  fp16 bf16 fp32 fp64 */
        "i1       i1   i8   i16  i32  i64  u8   u16  u32  u64  err  fp32 fp32 fp32 fp64",
        "i32      i32  i32  i32  i32  i64  sign! sign! sign! sign! err fp32 fp32 fp32 fp64",
        "u16      u16  sign! sign! sign! sign! u16 u16 u32 u64 err fp32 fp32 fp32 fp64",
        "fp16     fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp64",
        "bf16     fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp64",
        "fp64     fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64",
    };
    CHECK_TABLE(RULE_REM2, rows);
}

static void bits_and_shifts(void **state)
{
    (void)state;
    static const char *const rows[] = {
        /*        i1   i8   i16  i32  i64  u8   u16  u32  u64  fp8  fp16 bf16 fp32 fp64 */
        "i1       i1   i8   i16  i32  i64  u8   u16  u32  u64  int! int! int! int! int!",
        "i8       i8   i8   i16  i32  i64  u8   u16  u32  u64  int! int! int! int! int!",
        "i16      i16  i16  i16  i32  i64  i16  u16  u32  u64  int! int! int! int! int!",
        "i32      i32  i32  i32  i32  i64  i32  i32  u32  u64  int! int! int! int! int!",
        "i64      i64  i64  i64  i64  i64  i64  i64  i64  u64  int! int! int! int! int!",
        "u8       u8   u8   i16  i32  i64  u8   u16  u32  u64  int! int! int! int! int!",
        "u16      u16  u16  u16  i32  i64  u16  u16  u32  u64  int! int! int! int! int!",
        "u32      u32  u32  u32  u32  i64  u32  u32  u32  u64  int! int! int! int! int!",
        "u64      u64  u64  u64  u64  u64  u64  u64  u64  u64  int! int! int! int! int!",
        "fp32     int! int! int! int! int! int! int! int! int! int! int! int! int! int!",
        "fp8e4nv  int! int! int! int! int! int! int! int! int! int! int! int! int! int!",
    };
    CHECK_TABLE(RULE_BIT2, rows);
    CHECK_TABLE(RULE_SHIFT2, rows);
}

static void comparisons(void **state)
{
    (void)state;
    for (unsigned a = 0; a < SCALAR_COUNT; a++)
        for (unsigned b = 0; b < SCALAR_COUNT; b++) {
            RuleResult sum = apply2(RULE_ARITH2, (ScalarKind)a, (ScalarKind)b);
            RuleResult cmp = apply2(RULE_CMP2, (ScalarKind)a, (ScalarKind)b);
            assert_int_equal(cmp.why, sum.why);
            if (cmp.why == RULE_OK) {
                assert_int_equal(cmp.kind, SCALAR_I1);
                assert_int_equal(cmp.operand, sum.kind);
            }
        }
}

/* ---- 2.2 ---- */

static void literals(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        { "True", "i1" },     { "False", "i1" },    { "0", "i32" },          { "-2^31", "i32" },
        { "2^31-1", "i32" },  { "2^31", "u32" },    { "2^32-1", "u32" },     { "2^32", "i64" },
        { "2^63-1", "i64" },  { "-2^31-1", "i64" }, { "-2^63", "i64" },      { "2^63", "u64" },
        { "2^64-1", "u64" },  { "2^64", "large!" }, { "-2^63-1", "large!" }, { "1.5", "fp32" },
        { "0.0", "fp32" },    { "-0.0", "fp32" },   { "inf", "fp32" },       { "-inf", "fp32" },
        { "nan", "fp32" },    { "3e38", "fp32" },   { "4e38", "fp64" },      { "1e300", "fp64" },
        { "1e-300", "fp64" }, { "1e-40", "fp64" },  { "1.2e-38", "fp32" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ConstVal v = literal(cases[i][0]);
        RuleResult r = rule_literal(&v);
        assert_string_equal(result_text(&r), cases[i][1]);
        assert_int_equal(r.wide_literal, strcmp(cases[i][1], "fp64") == 0);
    }
    ConstVal none = const_none(), text = const_str((Str){ "a", 1 });
    assert_int_equal(rule_literal(&none).why, RULE_LITERAL_NO_VALUE);
    assert_int_equal(rule_literal(&text).why, RULE_LITERAL_NO_VALUE);
}

/* ---- 2.4 ---- */

static RuleResult apply_weak(TypeRule rule, ScalarKind typed, const ConstVal *v, bool literal_first)
{
    RuleOperand o[2] = { rule_typed(typed), rule_weak(v) };
    if (literal_first) {
        o[0] = rule_weak(v);
        o[1] = rule_typed(typed);
    }
    return rule_apply(rule, o, 2);
}

static void check_weak(TypeRule rule, const char *typed, const char *text, const char *wanted)
{
    ConstVal v = literal(text);
    for (int first = 0; first < 2; first++) {
        RuleResult r = apply_weak(rule, kind_of(typed), &v, first);
        if (strcmp(result_text(&r), wanted) != 0)
            fail_msg("%s with %s: %s, not %s", typed, text, result_text(&r), wanted);
        if (r.why != RULE_OK && r.why != RULE_FP8_WITH_INT)
            assert_int_equal(r.at, first ? 0 : 1);
    }
}

static void weak_literals(void **state)
{
    (void)state;
    static const char head[] = "True 1 -1 300 2^31 1.5 1e300";
    static const char *const rows[] = {
        "i1    i1   i32  i32   i32    u32    fp32 fp64",
        "i8    i8   i8   i8    range! range! fp32 fp64",
        "i16   i16  i16  i16   i16    range! fp32 fp64",
        "i32   i32  i32  i32   i32    range! fp32 fp64",
        "i64   i64  i64  i64   i64    i64    fp32 fp64",
        "u8    u8   u8   neg!  range! range! fp32 fp64",
        "u16   u16  u16  neg!  u16    range! fp32 fp64",
        "u32   u32  u32  neg!  u32    u32    fp32 fp64",
        "u64   u64  u64  neg!  u64    u64    fp32 fp64",
        "fp16  fp16 fp16 fp16  fp16   fp16   fp16 fp16",
        "bf16  bf16 bf16 bf16  bf16   bf16   bf16 bf16",
        "fp32  fp32 fp32 fp32  fp32   fp32   fp32 fp32",
        "fp64  fp64 fp64 fp64  fp64   fp64   fp64 fp64",
        "fp8e4nv fp16 fp16 fp16 fp16  fp16   fp16 fp16",
        "fp8e5 fp16 fp16 fp16  fp16   fp16   fp16 fp16",
    };
    char columns_of[MOST_WORDS][16], cells[MOST_WORDS][16];
    int n = words(head, columns_of);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(words(rows[i], cells), n + 1);
        for (int k = 0; k < n; k++) {
            check_weak(RULE_ARITH2, cells[0], columns_of[k], cells[k + 1]);
            check_weak(RULE_SELECT3, cells[0], columns_of[k], cells[k + 1]);
        }
    }
}

static void weak_literals_at_their_limits(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        { "i8", "127", "i8" },      { "i8", "128", "range!" },
        { "i8", "-128", "i8" },     { "i8", "-129", "range!" },
        { "u8", "255", "u8" },      { "u8", "256", "range!" },
        { "u8", "0", "u8" },        { "i32", "2^31-1", "i32" },
        { "i32", "-2^31", "i32" },  { "i32", "-2^31-1", "range!" },
        { "i64", "2^63-1", "i64" }, { "i64", "2^63", "range!" },
        { "u64", "2^64-1", "u64" }, { "u64", "2^64", "range!" },
        { "i1", "2^64", "large!" }, { "i1", "2^32", "i64" },
        { "i8", "inf", "fp32" },    { "i64", "nan", "fp32" },
        { "fp16", "2^64", "fp16" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_weak(RULE_ARITH2, cases[i][0], cases[i][1], cases[i][2]);
}

static void weak_literals_of_other_operators(void **state)
{
    (void)state;
    check_weak(RULE_DIV2, "fp16", "2", "fp32");
    check_weak(RULE_DIV2, "bf16", "2", "fp32");
    check_weak(RULE_DIV2, "i32", "2", "fp32");
    check_weak(RULE_DIV2, "u32", "2", "fp32");
    check_weak(RULE_DIV2, "fp64", "2", "fp64");
    check_weak(RULE_REM2, "i8", "3", "i8");
    check_weak(RULE_REM2, "fp16", "2", "fp32");
    check_weak(RULE_IDIV2, "i8", "3", "i8");
    check_weak(RULE_IDIV2, "u32", "3", "u32");
    check_weak(RULE_IDIV2, "i1", "3", "i32");
    check_weak(RULE_IDIV2, "i32", "2.5", "int!");
    check_weak(RULE_SHIFT2, "i8", "4", "i8");
    check_weak(RULE_SHIFT2, "i64", "4", "i64");
    check_weak(RULE_BIT2, "u8", "255", "u8");
    check_weak(RULE_CMP2, "u8", "255", "i1");
    check_weak(RULE_CMP2, "u8", "300", "range!");
    check_weak(RULE_CMP2, "i1", "True", "i1");
    assert_int_equal(
        apply_weak(RULE_SHIFT2, SCALAR_F32, &(ConstVal){ .kind = CONST_INT, .v.i = 1 }, false).at,
        0);
}

static void warnings_of_literals(void **state)
{
    (void)state;
    static const struct {
        const char *typed, *literal;
        bool overflows;
    } cases[] = { { "fp16", "65519.0", false }, { "fp16", "65520.0", true },
                  { "fp16", "inf", false },     { "bf16", "3e38", false },
                  { "bf16", "4e38", true },     { "fp32", "3e38", false },
                  { "fp32", "4e38", true },     { "fp64", "1e300", false },
                  { "fp8e5", "65520.0", true } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ConstVal v = literal(cases[i].literal);
        RuleResult r = apply_weak(RULE_ARITH2, kind_of(cases[i].typed), &v, false);
        assert_int_equal(r.why, RULE_OK);
        assert_int_equal(r.overflow_literal, cases[i].overflows);
    }
}

/* ---- 2.5 ---- */

static void check_function(TypeRule rule, const char *operands, const char *wanted)
{
    char text[MOST_WORDS][16];
    int n = words(operands, text);
    RuleOperand o[3];
    ConstVal values[3];
    for (int i = 0; i < n; i++) {
        if (scalar_find_signature(text[i]) != SCALAR_COUNT) {
            o[i] = rule_typed(kind_of(text[i]));
        } else {
            values[i] = literal(text[i]);
            o[i] = rule_weak(&values[i]);
        }
    }
    RuleResult r = rule_apply(rule, o, (unsigned)n);
    if (strcmp(result_text(&r), wanted) != 0)
        fail_msg("rule %d of %s: %s, not %s", (int)rule, operands, result_text(&r), wanted);
}

static void function_forms(void **state)
{
    (void)state;
    static const struct {
        TypeRule rule;
        const char *operands, *result;
    } cases[] = {
        { RULE_MINMAX2, "fp16 0.0", "fp32" },
        { RULE_MINMAX2, "fp16 0", "fp16" },
        { RULE_MINMAX2, "bf16 0", "fp32" },
        { RULE_MINMAX2, "bf16 bf16", "fp32" },
        { RULE_MINMAX2, "bf16 fp16", "fp32" },
        { RULE_MINMAX2, "fp16 fp16", "fp16" },
        { RULE_MINMAX2, "i8 1", "i32" },
        { RULE_MINMAX2, "u8 u32", "u32" },
        { RULE_SELECT3, "fp16 0.0", "fp16" },
        { RULE_SELECT3, "1 2.5", "fp32" },
        { RULE_SELECT3, "1 2", "i32" },
        { RULE_CLAMP3, "fp16 0.0 1.0", "fp32" },
        { RULE_CLAMP3, "bf16 bf16 bf16", "fp32" },
        { RULE_CLAMP3, "i32 0 2", "i32" },
        { RULE_CLAMP3, "fp64 0.0 1.0", "fp64" },
        { RULE_FMA3, "fp16 fp32 1.0", "fp32" },
        { RULE_FMA3, "bf16 bf16 bf16", "bf16" },
        { RULE_FMA3, "fp32 2 3", "fp32" },
        { RULE_FMA3, "i32 i32 i32", "float!" },
        { RULE_FLOAT1, "fp32", "fp32" },
        { RULE_FLOAT1, "fp16", "fp16" },
        { RULE_FLOAT1, "bf16", "bf16" },
        { RULE_FLOAT1, "fp64", "fp64" },
        { RULE_FLOAT1, "1.5", "fp32" },
        { RULE_FLOAT1, "i32", "float!" },
        { RULE_FLOAT1, "2", "float!" },
        { RULE_FLOAT1, "fp8e5", "float!" },
        { RULE_FLOAT2, "fp32 2", "fp32" },
        { RULE_FLOAT2, "fp16 2.0", "fp32" },
        { RULE_FLOAT2, "i32 i32", "float!" },
        { RULE_FPRED, "fp16", "i1" },
        { RULE_FPRED, "i32", "float!" },
        { RULE_ANY1, "u8", "u8" },
        { RULE_ANY1, "i1", "i1" },
        { RULE_ANY1, "fp8e5", "fp8e5" },
        { RULE_INT1, "i1", "i1" },
        { RULE_INT1, "fp32", "int!" },
        { RULE_UMULHI2, "u32 u32", "u32" },
        { RULE_UMULHI2, "i64 5", "i64" },
        { RULE_UMULHI2, "u8 u8", "width!" },
        { RULE_UMULHI2, "fp32 u32", "int!" },
        { RULE_IDIV2, "i64 128", "i64" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_function(cases[i].rule, cases[i].operands, cases[i].result);
}

/* ---- 2.13 ---- */

static void reductions(void **state)
{
    (void)state;
    static const struct {
        RuleReduce op;
        const char *cells;
    } rows[] = {
        /*                   i1  i8  i16 i32 i64 u8  u16 u32 u64 fp8     fp16 bf16 fp32 fp64 */
        { RULE_SUM, "u32 i32 i32 i32 i64 u32 u32 u32 u64 fp8e4nv fp16 bf16 fp32 fp64" },
        { RULE_MAX, "i32 i32 i32 i32 i64 i32 i32 u32 u64 fp32    fp32 fp32 fp32 fp64" },
        { RULE_MAX_INDICES, "i1  i8  i16 i32 i64 u8  u16 u32 u64 fp32    fp16 fp32 fp32 fp64" },
        { RULE_ARG, "i32 i32 i32 i32 i32 i32 i32 i32 i32 i32     i32  i32  i32  i32" },
        { RULE_CUMSUM, "u32 i32 i32 i32 i64 u32 u32 u32 u64 fp8e4nv fp16 fp32 fp32 fp64" },
        { RULE_CUMPROD, "i1  i8  i16 i32 i64 u8  u16 u32 u64 fp8e4nv fp16 fp32 fp32 fp64" },
        { RULE_BITS, "i1  i8  i16 i32 i64 u8  u16 u32 u64 int!    int! int! int! int!" },
        { RULE_SORT, "i1  i8  i16 i32 i64 u8  u16 u32 u64 fp8e4nv fp16 bf16 fp32 fp64" },
        { RULE_TOPK, "i32 i32 i32 i32 i64 i32 i32 u32 u64 fp32    fp32 fp32 fp32 fp64" },
        { RULE_HISTOGRAM, "i32 i32 i32 i32 i32 i32 i32 i32 i32 int!    int! int! int! int!" },
    };
    char head[MOST_WORDS][16], cells[MOST_WORDS][16];
    int n = words(columns, head);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(words(rows[i].cells, cells), n);
        for (int k = 0; k < n; k++) {
            RuleResult r = rule_reduce(rows[i].op, kind_of(head[k]));
            if (strcmp(result_text(&r), cells[k]) != 0)
                fail_msg("reduction %d of %s: %s, not %s", (int)rows[i].op, head[k],
                         result_text(&r), cells[k]);
        }
    }
    // Sums of small floats are taken in fp32 and rounded once.
    assert_int_equal(rule_reduce(RULE_SUM, SCALAR_F16).operand, SCALAR_F32);
    assert_int_equal(rule_reduce(RULE_SUM, SCALAR_BF16).operand, SCALAR_F32);
    assert_int_equal(rule_reduce(RULE_SUM, SCALAR_E5M2).operand, SCALAR_F32);
    assert_int_equal(rule_reduce(RULE_SUM, SCALAR_F64).operand, SCALAR_F64);
    assert_int_equal(rule_reduce(RULE_SUM, SCALAR_I8).operand, SCALAR_I32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(promotion),
        cmocka_unit_test(division),
        cmocka_unit_test(integer_division),
        cmocka_unit_test(remainder_of),
        cmocka_unit_test(bits_and_shifts),
        cmocka_unit_test(comparisons),
        cmocka_unit_test(literals),
        cmocka_unit_test(weak_literals),
        cmocka_unit_test(weak_literals_at_their_limits),
        cmocka_unit_test(weak_literals_of_other_operators),
        cmocka_unit_test(warnings_of_literals),
        cmocka_unit_test(function_forms),
        cmocka_unit_test(reductions),
    };
    return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
