/// test_target.c - the table of chips.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "target/target.h"

#include <string.h>

typedef struct {
    const char *name;
    unsigned sm;
    char suffix;
    uint32_t shared_max;
    const char *ptx;
} ChipCase;

// Shared memory per block: CUDA C++ programming guide, table of technical specifications.
static const ChipCase chip_cases[] = {
    { "sm_75", 75, 0, 64 * 1024, "compute_75" },
    { "sm_80", 80, 0, 163 * 1024, "compute_80" },
    { "sm_86", 86, 0, 99 * 1024, "compute_86" },
    { "sm_89", 89, 0, 99 * 1024, "compute_89" },
    { "sm_90", 90, 0, 227 * 1024, "compute_90" },
    { "sm_90a", 90, 'a', 227 * 1024, "compute_90a" },
    { "sm_100a", 100, 'a', 227 * 1024, "compute_100a" },
    { "sm_100f", 100, 'f', 227 * 1024, "compute_100f" },
    { "sm_120", 120, 0, 99 * 1024, "compute_120" },
};

static void finds_each_chip(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof chip_cases / sizeof *chip_cases; i++) {
        const ChipCase *c = &chip_cases[i];
        const Target *t = target_find(c->name);
        char ptx[16];
        assert_non_null(t);
        assert_string_equal(t->name, c->name);
        assert_int_equal(t->sm, c->sm);
        assert_int_equal(t->suffix, c->suffix);
        assert_int_equal(t->shared_max, c->shared_max);
        target_ptx_name(t, ptx);
        assert_string_equal(ptx, c->ptx);
    }
    assert_null(target_find("sm_7"));
    assert_null(target_find("host"));
}

static void features_follow_generations(void **state)
{
    (void)state;
    assert_false(target_has(target_find("sm_75"), TARGET_BF16));
    assert_true(target_has(target_find("sm_80"), TARGET_CP_ASYNC));
    assert_false(target_has(target_find("sm_86"), TARGET_CVT_FP8));
    assert_true(target_has(target_find("sm_89"), TARGET_CVT_FP8));
    assert_false(target_has(target_find("sm_90"), TARGET_WGMMA));
    assert_true(target_has(target_find("sm_90a"), TARGET_WGMMA));
    assert_false(target_has(target_find("sm_100a"), TARGET_WGMMA));
    assert_true(target_has(target_find("sm_100a"), TARGET_TCGEN05));
    assert_false(target_has(target_find("sm_120a"), TARGET_TCGEN05));
}

static void lists_in_rising_order(void **state)
{
    (void)state;
    size_t count, majors = 0;
    const Target *all = target_list(&count);
    for (size_t i = 0; i < count; i++) {
        assert_true(i == 0 || all[i].sm >= all[i - 1].sm);
        assert_ptr_equal(target_find(all[i].name), &all[i]);
        majors += target_is_major(&all[i]);
    }
    assert_int_equal(majors, 6);  // 75 80 90 100 110 120
}

static void suggests_the_nearest_name(void **state)
{
    (void)state;
    Arena a = { 0 };
    SourceMap sources = { .arena = &a };
    DiagSink diags;
    Buf out = { 0 };
    diag_init(&diags, &a, &sources);
    assert_null(target_get("sm_90b", (Span){ 0, 0 }, &diags));
    assert_int_equal(diag_error_count(&diags), 1);
    diag_print(&diags, DIAG_TEXT, false, &out);
    assert_non_null(strstr(out.at, "unknown architecture 'sm_90b'"));
    assert_non_null(strstr(out.at, "did you mean 'sm_90"));
    assert_ptr_equal(target_get("sm_80", (Span){ 0, 0 }, &diags), target_find("sm_80"));
    buf_free(&out);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_each_chip),
        cmocka_unit_test(features_follow_generations),
        cmocka_unit_test(lists_in_rising_order),
        cmocka_unit_test(suggests_the_nearest_name),
    };
    return cmocka_run_group_tests_name("target", tests, NULL, NULL);
}
