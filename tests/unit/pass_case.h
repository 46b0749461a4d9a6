/// pass_case.h - a pass takes one function to another; both are written by hand as text.
///
/// Both sides are `params` and a body without its return; the wanted one is read and printed again,
/// so that it can be written without numbers and indentation.
#ifndef NEWT_TESTS_UNIT_PASS_CASE_H
#define NEWT_TESTS_UNIT_PASS_CASE_H
#include "ir_case.h"
#include "passes/pass.h"

typedef struct PassCase {
    const char *name, *params, *body, *want;
} PassCase;

static inline const char *pass_case_func(IrCase *c, const PassCase *t, const char *body)
{
    return arena_printf(&c->arena, "func @f(%s) {\n%sreturn\n}\n", t->params, body);
}

/// `passes` are names with one space between them.
static inline void pass_case_run(IrCase *c, IrFunc *fn, const char *passes)
{
    PassCtx cx = { .arena = &c->arena, .diags = &c->diags, .verify_each = true };
    while (*passes) {
        size_t len = strcspn(passes, " ");
        if (!pass_run_named(&cx, fn, arena_strndup(&c->arena, passes, len)))
            fail_msg("%s", ir_case_diags(c));
        passes += len + (passes[len] == ' ');
    }
}

static inline void pass_case_check(const PassCase *t, const char *passes)
{
    IrCase c;
    ir_case_init(&c);
    IrFunc *fn = ir_case_valid(&c, pass_case_func(&c, t, t->body));
    pass_case_run(&c, fn, passes);
    const char *got = ir_case_print(&c, fn);
    got = arena_strndup(&c.arena, got, strlen(got));
    IrFunc *want = ir_case_valid(&c, pass_case_func(&c, t, t->want));
    assert_string_equal(got, ir_case_print(&c, want));
    ir_case_free(&c);
}

#define PASS_CASE_MAIN(group, cases, check)                                                     \
    int main(void)                                                                              \
    {                                                                                           \
        struct CMUnitTest tests[sizeof(cases) / sizeof *(cases)];                               \
        for (size_t i = 0; i < sizeof(cases) / sizeof *(cases); i++)                            \
            tests[i] =                                                                          \
                (struct CMUnitTest){ (cases)[i].name, check, NULL, NULL, (void *)&(cases)[i] }; \
        return cmocka_run_group_tests_name(group, tests, NULL, NULL);                           \
    }

#endif
