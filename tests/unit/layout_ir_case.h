/// layout_ir_case.h - what the tests of the layout and memory passes share: functions with layouts
/// in, passes by name, and questions about what came out.
#ifndef NEWT_TESTS_UNIT_LAYOUT_IR_CASE_H
#define NEWT_TESTS_UNIT_LAYOUT_IR_CASE_H
#include "ir_case.h"
#include "layout/layout.h"
#include "passes/pass.h"
#include "target/target.h"

typedef struct LayoutIrCase {
    IrCase ir;
    LayoutTable *layouts;
    PassCtx cx;
} LayoutIrCase;

static inline void layout_ir_init(LayoutIrCase *c)
{
    ir_case_init(&c->ir);
    c->layouts = layout_table_new(&c->ir.arena);
    c->cx = (PassCtx){ .arena = &c->ir.arena,
                       .diags = &c->ir.diags,
                       .layouts = c->layouts,
                       .target = target_find("sm_90a"),
                       .verify_each = true };
}

/// Reads and verifies a function whose text may hold layouts.
static inline IrFunc *layout_ir_read(LayoutIrCase *c, const char *text)
{
    const IrLayoutText layouts = layout_ir_text(c->layouts);
    const SourceFile *file = source_add(&c->ir.sources, "t.ir", text, strlen(text));
    IrFunc *fn = ir_read(&c->ir.arena, c->ir.types, &c->ir.syms, file, &layouts, &c->ir.diags);
    if (!fn || !ir_verify(fn, &c->ir.diags))
        fail_msg("%s", ir_case_diags(&c->ir));
    return fn;
}

static inline void layout_ir_run(LayoutIrCase *c, IrFunc *fn, const char *pass)
{
    if (!pass_run_named(&c->cx, fn, pass))
        fail_msg("%s: %s", pass, ir_case_diags(&c->ir));
}

/// With layouts, for messages.
static inline const char *layout_ir_print(LayoutIrCase *c, const IrFunc *fn)
{
    const IrLayoutText layouts = layout_ir_text(c->layouts);
    buf_clear(&c->ir.out);
    ir_print(fn, &layouts, &c->ir.out);
    return c->ir.out.at;
}

static inline void layout_ir_collect(const IrBlock *b, IrCode code, const IrOp **found,
                                     unsigned max, unsigned *count)
{
    for (const IrOp *op = b->first; op != NULL; op = op->next) {
        if (op->code == code && *count < max)
            found[(*count)++] = op;
        for (uint32_t r = 0; r < op->regionc; r++)
            layout_ir_collect(op->regions[r], code, found, max, count);
    }
}

static inline unsigned layout_ir_count(const IrFunc *fn, IrCode code)
{
    const IrOp *found[64];
    unsigned count = 0;
    layout_ir_collect(fn->body, code, found, 64, &count);
    return count;
}

/// Operation number `n` (from 0, in order of the text) of that code; fails when there is none.
static inline const IrOp *layout_ir_op(const IrFunc *fn, IrCode code, unsigned n)
{
    const IrOp *found[64];
    unsigned count = 0;
    layout_ir_collect(fn->body, code, found, 64, &count);
    assert_in_range(n + 1, 1, count);
    return found[n];
}

#endif
