/// ir_case.h - what the tests of block IR and its passes share: text in, text out.
#ifndef NEWT_TESTS_UNIT_IR_CASE_H
#define NEWT_TESTS_UNIT_IR_CASE_H
#include "ir/ir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

typedef struct IrCase {
    Arena arena;
    TypeTable *types;
    SymTable syms;
    SourceMap sources;
    DiagSink diags;
    Buf out;
} IrCase;

static inline void ir_case_init(IrCase *c)
{
    memset(c, 0, sizeof *c);
    c->types = type_table_new(&c->arena);
    c->syms.arena = &c->arena;
    c->sources.arena = &c->arena;
    diag_init(&c->diags, &c->arena, &c->sources);
}

static inline void ir_case_free(IrCase *c)
{
    buf_free(&c->out);
    arena_free(&c->arena);
}

/// NULL after a report.
static inline IrFunc *ir_case_read(IrCase *c, const char *text)
{
    const SourceFile *file = source_add(&c->sources, "t.ir", text, strlen(text));
    return ir_read(&c->arena, c->types, &c->syms, file, NULL, &c->diags);
}

/// "line:column: message" of each diagnostic, one a line.
static inline const char *ir_case_diags(IrCase *c)
{
    buf_clear(&c->out);
    for (uint32_t i = 0; i < c->diags.list.len; i++) {
        const Diag *d = c->diags.list.at[i];
        SourcePos pos = source_pos(&c->sources, d->span.lo);
        buf_printf(&c->out, "%u:%u: %s\n", (unsigned)pos.line, (unsigned)pos.column, d->text);
    }
    return c->out.at ? c->out.at : "";
}

/// Reads and verifies; fails the test with the diagnostics otherwise.
static inline IrFunc *ir_case_valid(IrCase *c, const char *text)
{
    IrFunc *fn = ir_case_read(c, text);
    if (!fn || !ir_verify(fn, &c->diags))
        fail_msg("%s", ir_case_diags(c));
    return fn;
}

static inline const char *ir_case_print(IrCase *c, const IrFunc *fn)
{
    buf_clear(&c->out);
    ir_print(fn, NULL, &c->out);
    return c->out.at;
}

#endif
