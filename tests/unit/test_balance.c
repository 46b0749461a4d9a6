// test_balance.c - what will bound a kernel: figures worked out by hand.
#include "driver/balance.h"
#include "ir_case.h"

// One k-step of 64 x 32 sums over 16: loads of 64 x 16 and 16 x 32 halves in the loop, one store of
// floats behind it.
#define PRODUCT                                                                                    \
    "func @f(%a: (64, 16) *fp16, %b: (16, 32) *fp16, %c: (64, 32) *fp32, %n: i32) num_warps=4 {\n" \
    "%lo = const 0 : i32\n%by = const 1 : i32\n%zero = const 0.0 : (64, 32) fp32\n"                \
    "%sum = for %lo, %n, %by, %zero : (64, 32) fp32 (%i: i32, %s: (64, 32) fp32) {\n"              \
    "%x = load %a : (64, 16) fp16\n%y = load %b : (16, 32) fp16\n"                                 \
    "%d = dot %x, %y, %s {precision=ieee} : (64, 32) fp32\nyield %d\n}\nstore %c, "                \
    "%sum\nreturn\n}\n"
#define MOVES                                                                              \
    "func @f(%a: (256) *fp32, %c: (256) *fp16) num_warps=4 {\n%x = load %a : (256) fp32\n" \
    "%y = cast %x : (256) fp16\nstore %c, %y\nreturn\n}\n"
#define NOTHING "func @f(%n: i32) num_warps=4 {\nreturn\n}\n"

typedef struct BalanceCase {
    const char *name, *text;
    double operations, bytes;
    unsigned factor;
} BalanceCase;

static const BalanceCase balance_cases[] = {
    { "products_in_a_loop", PRODUCT, 2.0 * 64 * 32 * 16, 64 * 16 * 2 + 16 * 32 * 2, 2 },
    { "elements", MOVES, 0, 256 * 4 + 256 * 2, 0 },
    { "nothing", NOTHING, 0, 0, 0 },
};

static void check_count(void **state)
{
    const BalanceCase *t = *state;
    IrCase c;
    Balance got;
    ir_case_init(&c);
    IrFunc *fn = ir_case_read(&c, t->text);
    balance_count(fn, &got);
    assert_float_equal(got.operations, t->operations, 0);
    assert_float_equal(got.bytes, t->bytes, 0);
    assert_int_equal(got.factor, t->factor);
    ir_case_free(&c);
}

static SassOp matrix_op(void)
{
    for (unsigned i = 0; i < SASS_OP_COUNT; i++)
        if (sass_info[i].cls == SASS_MATRIX)
            return (SassOp)i;
    fail();
    return SASS_OP_COUNT;
}

static const struct {
    Balance balance;
    const char *chip;
    bool is_matrix;
    unsigned total, threads;
    const char *want;
} word_rows[] = {
    // 4096 operations and 64 bytes a clock of a warpgroup's 16-bit products: 64 a byte
    { { 64000, 1000, 2, 0, false },
      "sm_90a",
      true,
      9,
      128,
      "64 operations of products a byte: bound by tensor cores (from 64)\n" },
    { { 63000, 1000, 2, 0, false },
      "sm_90a",
      true,
      9,
      128,
      "63 operations of products a byte: bound by loads (below 64)\n" },
    { { 127000, 1000, 1, 0, false },
      "sm_90a",
      true,
      9,
      128,
      "127 operations of products a byte: bound by loads (below 128)\n" },
    { { 32000, 1000, 2, 0, false },
      "sm_80",
      true,
      9,
      128,
      "32 operations of products a byte: bound by tensor cores (from 32)\n" },
    { { 5000, 1000, 4, 0, false },
      "sm_90a",
      false,
      9,
      128,
      "5 operations of products a byte: bound by arithmetic (from 4)\n" },
    // 4 warps of 50 instructions take 50 clocks, 1000 bytes as long
    { { 0, 1000, 0, 0, false },
      "sm_90a",
      false,
      50,
      128,
      "1000 bytes moved by 200 instructions of warps: bound by memory\n" },
    { { 0, 1000, 0, 0, false },
      "sm_90a",
      false,
      51,
      128,
      "1000 bytes moved by 204 instructions of warps: bound by instructions\n" },
    { { 0, 0, 0, 0, false }, "sm_90a", false, 51, 128, "" },
};

static void check_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof word_rows / sizeof *word_rows; i++) {
        Buf out = { 0 };
        SassSummary sass = { .total = word_rows[i].total };
        if (word_rows[i].is_matrix)
            sass.count[matrix_op()][0] = 1;
        balance_print(&word_rows[i].balance, target_find(word_rows[i].chip), &sass,
                      word_rows[i].threads, &out);
        assert_string_equal(out.len ? out.at : "", word_rows[i].want);
        buf_free(&out);
    }
}

static void check_occupancy(void **state)
{
    (void)state;
    // The programming guide's limits: 64 K registers, 2048 threads (1536 on sm_86 to 89 and 120,
    // 1024 on sm_75), 32 blocks.
    static const struct {
        const char *chip;
        unsigned threads, registers, shared, blocks;
        const char *limit;
    } rows[] = {
        { "sm_90a", 128, 30, 0, 16, "threads" },
        { "sm_90a", 512, 66, 0, 1, "registers" },
        { "sm_90a", 512, 64, 0, 2, "registers" },
        { "sm_90a", 384, 168, 229440, 1, "registers" },
        { "sm_90a", 128, 32, 100 * 1024, 2, "shared memory" },
        { "sm_90a", 32, 16, 0, 32, "blocks" },
        { "sm_86", 128, 30, 0, 12, "threads" },
        { "sm_75", 128, 30, 0, 8, "threads" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *limit;
        assert_int_equal(target_occupancy(target_find(rows[i].chip), rows[i].threads,
                                          rows[i].registers, rows[i].shared, &limit),
                         rows[i].blocks);
        assert_string_equal(limit, rows[i].limit);
    }
}

int main(void)
{
    enum { COUNT = sizeof balance_cases / sizeof *balance_cases };
    struct CMUnitTest tests[COUNT + 2];
    for (size_t i = 0; i < COUNT; i++)
        tests[i] = (struct CMUnitTest){ balance_cases[i].name, check_count, NULL, NULL,
                                        (void *)&balance_cases[i] };
    tests[COUNT] = (struct CMUnitTest)cmocka_unit_test(check_words);
    tests[COUNT + 1] = (struct CMUnitTest)cmocka_unit_test(check_occupancy);
    return cmocka_run_group_tests_name("balance", tests, NULL, NULL);
}
