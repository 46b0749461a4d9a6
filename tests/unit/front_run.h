/// front_run.h - a text through the lexer or parser, with what came out as text to compare.
#ifndef NEWT_TESTS_FRONT_RUN_H
#define NEWT_TESTS_FRONT_RUN_H
#include "front/lex.h"
#include "front/parse.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

typedef struct FrontRun {
    Arena arena;
    SourceMap sources;
    SymTable syms;
    DiagSink diags;
    const SourceFile *file;
    Buf out, messages;
} FrontRun;

static inline void front_begin(FrontRun *r, const char *text, size_t len)
{
    *r = (FrontRun){ 0 };
    r->sources.arena = r->syms.arena = &r->arena;
    diag_init(&r->diags, &r->arena, &r->sources);
    r->file = source_add(&r->sources, "t.newt", text, len);
    buf_puts(&r->out, "");
    buf_puts(&r->messages, "");
}

static inline void front_place(FrontRun *r, Span span)
{
    SourcePos pos = source_pos(&r->sources, span.lo);

    if (pos.file)
        buf_printf(&r->messages, "%u:%u: ", (unsigned)pos.line, (unsigned)pos.column);
}

/// Collects what was reported: `line:column: message [slug]`, notes and help on lines of their own.
static inline const char *front_messages(FrontRun *r)
{
    for (uint32_t i = 0; i < r->diags.list.len; i++) {
        const Diag *d = r->diags.list.at[i];
        front_place(r, d->span);
        buf_printf(&r->messages, "%s [%s]\n", d->text, diag_info[d->id].slug);
        for (uint32_t k = 0; k < d->notes.len; k++) {
            const DiagNote *note = &d->notes.at[k];
            front_place(r, note->span);
            buf_printf(&r->messages, "%s: %s\n", note->is_help ? "help" : "note", note->text);
        }
    }
    return r->messages.at;
}

static inline void front_end(FrontRun *r)
{
    buf_free(&r->out);
    buf_free(&r->messages);
    arena_free(&r->arena);
}

/// Runs every row of `cases` (whose first member is `name`) as a test of its own.
#define FRONT_RUN_CASES(group, cases, check) \
    front_run_cases((group), (cases), sizeof(cases) / sizeof *(cases), sizeof *(cases), (check))

static inline int front_run_cases(const char *group, const void *cases, size_t count, size_t size,
                                  void (*check)(void **))
{
    struct CMUnitTest tests[512];

    assert(count <= sizeof tests / sizeof *tests);
    for (size_t i = 0; i < count; i++) {
        const char *row = (const char *)cases + i * size;
        tests[i] = (struct CMUnitTest){ *(const char *const *)row, check, NULL, NULL, (void *)row };
    }
    return _cmocka_run_group_tests(group, tests, count, NULL, NULL);
}

#endif
