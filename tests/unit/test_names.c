/// test_names.c - names of kernels and parameters in the generated C.
#include "artifact/artifact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

typedef struct {
    const char *name, *as_param, *as_function;  ///< as_function NULL: refused
} NameCase;

static const NameCase name_cases[] = {
    { "x", "x", "x" },
    { "auto", "auto_", "auto_" },
    { "delete", "delete_", "delete_" },
    { "device", "device_", "device_" },
    { "int32_t", "int32_t_", "int32_t_" },
    { "w_t", "w_t", "w_t" },
    { "_Alignas", "_Alignas_", "_Alignas_" },
    { "__func__", "__func___", "__func___" },
    { "_x", "_x", "_x" },
    { "INT64_MAX", "INT64_MAX_", "INT64_MAX_" },
    { "FLT_MIN", "FLT_MIN_", "FLT_MIN_" },
    { "ROW_MAX", "ROW_MAX", "ROW_MAX" },
    { "EOF", "EOF_", "EOF_" },
    { "exp", "exp", "exp_" },
    { "sqrtf", "sqrtf", "sqrtf_" },
    { "newt_launch", "arg_newt_launch", NULL },
    { "NewtDevice", "arg_NewtDevice", NULL },
    { "NEWT_OK", "arg_NEWT_OK", NULL },
    { "nth_min", "arg_nth_min", NULL },
    { "newton", "newton", "newton" },
};

static void names_are_free_in_c(void **state)
{
    Arena a = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof name_cases / sizeof *name_cases; i++) {
        const NameCase *c = &name_cases[i];
        const char *function = artifact_c_function(&a, c->name);
        assert_string_equal(artifact_c_name(&a, c->name), c->as_param);
        if (c->as_function)
            assert_string_equal(function, c->as_function);
        else
            assert_null(function);
    }
    arena_free(&a);
}

static void renamed_parameters_stay_different(void **state)
{
    static const char *const wanted[] = { "auto___", "auto_", "auto__", "do_" };
    ArtifactParam p[] = {
        { .name = "auto" }, { .name = "auto_" }, { .name = "auto__" }, { .name = "do" }
    };
    Arena a = { 0 };
    (void)state;
    artifact_c_params(&a, p, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(p[i].c_name, wanted[i]);
    arena_free(&a);
}

typedef struct {
    const char *one, *other, *both;  ///< NULL: none
} ClashCase;

static const ClashCase clash_cases[] = {
    { "k", "k", "k" },
    { "k", "k_preload", "k_preload" },
    { "k_kernel", "k", "k_kernel" },
    { "k", "k_grid", "k_grid" },
    { "k_host", "k", "k_host" },
    { "k", "k_other", NULL },
    { "k_grid", "k_host", NULL },
    { "kk", "k_host", NULL },
};

static void functions_of_two_kernels_clash(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof clash_cases / sizeof *clash_cases; i++) {
        const ClashCase *c = &clash_cases[i];
        const char *found = artifact_c_clash(c->one, c->other);
        if (c->both)
            assert_string_equal(found, c->both);
        else
            assert_null(found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_free_in_c),
        cmocka_unit_test(renamed_parameters_stay_different),
        cmocka_unit_test(functions_of_two_kernels_clash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
