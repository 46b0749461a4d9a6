/// lower_case.h - a .newt text through resolve, enumeration and lowering, as IR text and messages.
#ifndef NEWT_TESTS_UNIT_LOWER_CASE_H
#define NEWT_TESTS_UNIT_LOWER_CASE_H
#include "lower/variants.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

typedef struct LowerCase {
    Arena arena;
    SourceMap sources;
    SymTable syms;
    DiagSink diags;
    Program program;
    KernelUnits units;
} LowerCase;

/// What stands in front of the kernels of the cases: two lines.
#define LOWER_HEAD                                                                            \
    "import newt.language as nl\nfrom newt.language import ptr, const, int8, int32, uint32, " \
    "int64, float16, float32, constexpr\n"

/// Resolves and enumerates; false when something was reported as an error.
static inline bool lower_case_begin(LowerCase *c, const char *source, const VariantOptions *opt)
{
    memset(c, 0, sizeof *c);
    c->sources.arena = c->syms.arena = &c->arena;
    diag_init(&c->diags, &c->arena, &c->sources);
    c->program = (Program){ .arena = &c->arena,
                            .syms = &c->syms,
                            .types = type_table_new(&c->arena),
                            .sources = &c->sources,
                            .diags = &c->diags };
    Module *m =
        resolve_program(&c->program, source_add(&c->sources, "t.newt", source, strlen(source)));
    if (diag_error_count(&c->diags))
        return false;
    return lower_enumerate(&c->program, m, opt, &c->units) && diag_error_count(&c->diags) == 0;
}

/// The verified IR of a variant as text, in the case's arena; "" after errors.
static inline const char *lower_case_ir(LowerCase *c, const Variant *v)
{
    IrFunc *fn = lower_kernel(&c->program, v, &c->arena);
    if (!fn || !ir_verify(fn, &c->diags))
        return "";
    Buf out = { 0 };
    ir_print(fn, NULL, &out);
    const char *text = arena_strndup(&c->arena, out.at, out.len);
    buf_free(&out);
    return text;
}

/// "line: message [slug]", notes as "note line: text", help as "help: text".
static inline const char *lower_case_messages(LowerCase *c)
{
    Buf b = { 0 };
    for (uint32_t i = 0; i < c->diags.list.len; i++) {
        const Diag *d = c->diags.list.at[i];
        buf_printf(&b, "%u: %s [%s]\n", source_pos(&c->sources, d->span.lo).line, d->text,
                   diag_info[d->id].slug);
        for (uint32_t k = 0; k < d->notes.len; k++) {
            const DiagNote *n = &d->notes.at[k];
            if (n->is_help)
                buf_printf(&b, "help: %s\n", n->text);
            else
                buf_printf(&b, "note %u: %s\n", source_pos(&c->sources, n->span.lo).line, n->text);
        }
    }
    const char *text = arena_strndup(&c->arena, b.at ? b.at : "", b.len);
    buf_free(&b);
    return text;
}

#define LOWER_RUN_CASES(group, cases, check) \
    lower_run_cases((group), (cases), sizeof(cases) / sizeof *(cases), sizeof *(cases), (check))

/// Runs every row of `cases`, whose first member is its name, as a test of its own.
static inline int lower_run_cases(const char *group, const void *cases, size_t count, size_t size,
                                  void (*check)(void **))
{
    struct CMUnitTest tests[256];

    assert_true(count <= sizeof tests / sizeof *tests);
    for (size_t i = 0; i < count; i++) {
        const char *row = (const char *)cases + i * size;
        tests[i] = (struct CMUnitTest){ *(const char *const *)row, check, NULL, NULL, (void *)row };
    }
    return _cmocka_run_group_tests(group, tests, count, NULL, NULL);
}

#endif
