// test_tuner.c - what a search may choose from, and why a winner is said to have won.
#include "tuner/tuner_impl.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/// The text of the space's start, and that of the point where every choice is the last one.
static void check_space(const char *arch, bool has_product, const char *start, const char *last)
{
    Arena a = { 0 };
    SymTable syms = { .arena = &a };
    Function f = { .has_product = has_product };
    Variant variant = { .num_warps = 8, .num_stages = 4 };
    const KernelUnit unit = { .variants = &variant, .variant_count = 1 };
    Space s;
    VEC_PUSH(&a, &f.tunables,
             ((Tunable){ .name = sym_of(&syms, "BLOCK"), .kind = TUNE_POWER, .lo = 16, .hi = 256, .start = 128 }));
    space_of(&a, &f, &unit, arch ? target_find(arch) : NULL, &s);
    Point p = space_start(&s);
    assert_string_equal(space_text(&a, &s, &p), start);
    p = space_at(&s, (uint64_t)s.size - 1);
    assert_string_equal(space_text(&a, &s, &p), last);
    arena_free(&a);
}

static void choices_of_a_product(void **state)
{
    (void)state;
    check_space("sm_90a", true, "BLOCK=128 num_warps=8 num_stages=4",
                "BLOCK=256 num_warps=16 num_stages=8 num_ctas=2 copy='cp_async' persistent=0");
    check_space("sm_80", true, "BLOCK=128 num_warps=8 num_stages=4", "BLOCK=256 num_warps=16 num_stages=8");
}

static void choices_of_others(void **state)
{
    (void)state;
    check_space("sm_90a", false, "BLOCK=128 num_warps=8 num_stages=4", "BLOCK=256 num_warps=16 num_stages=8");
    check_space(NULL, true, "BLOCK=128", "BLOCK=256");
}

typedef struct WhyCase {
    const char *name;
    Resources best, other;  // threads, registers, shared, spills
    const char *said;
} WhyCase;

// sm_90a holds 65536 registers, 2048 threads and 228 KiB of shared memory, 1 KiB of it for each block.
static const WhyCase why_cases[] = {
    { "fewer_spills", { 256, 128, 1000, 0, true }, { 256, 128, 1000, 96, true }, "it spills 96 bytes a thread less" },
    { "more_warps", { 128, 64, 1000, 0, true }, { 128, 128, 1000, 0, true },
      "it has 32 warps a multiprocessor in flight, where registers leave 16" },
    { "less_shared", { 128, 64, 50000, 0, true }, { 128, 64, 100000, 0, true },
      "it has 16 warps a multiprocessor in flight, where shared memory leaves 8" },
    { "more_registers", { 128, 200, 1000, 0, true }, { 128, 64, 1000, 0, true },
      "it keeps more in registers, 200 a thread against 64, and does with 8 warps" },
    { "more_stages", { 384, 168, 200000, 0, true }, { 384, 168, 150000, 0, true },
      "it has more on the way in shared memory, 200000 bytes against 150000" },
};

static void why_it_won(void **state)
{
    const WhyCase *c = *state;
    Arena a = { 0 };
    Search s = { .arena = &a, .best = 0, .build = { .arch = "sm_90a" } };
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    VEC_PUSH(&a, &s.tried, ((Tried){ .text = "B=1 num_warps=4", .kind = TRIED_RIGHT, .us = 10, .res = c->best }));
    VEC_PUSH(&a, &s.tried, ((Tried){ .text = "B=2 num_warps=4", .kind = TRIED_RIGHT, .us = 12, .res = c->other }));
    report_explain(&s, out);
    fclose(out);
    if (!strstr(text, c->said) || !strstr(text, "by B=1 against 2"))
        fail_msg("%s\ndoes not say\n%s", text, c->said);
    free(text);
    arena_free(&a);
}

int main(void)
{
    enum { COUNT = sizeof why_cases / sizeof *why_cases };
    struct CMUnitTest tests[COUNT + 2] = { cmocka_unit_test(choices_of_a_product), cmocka_unit_test(choices_of_others) };
    for (size_t i = 0; i < COUNT; i++)
        tests[2 + i] = (struct CMUnitTest){ why_cases[i].name, why_it_won, NULL, NULL, (void *)(uintptr_t)&why_cases[i] };
    return cmocka_run_group_tests_name("tuner", tests, NULL, NULL);
}
