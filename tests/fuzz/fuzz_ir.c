// fuzz_ir.c - libFuzzer target: any text is either reported or read, verified and printed stably.
//
// clang -fsanitize=fuzzer,address,undefined, with the compiler's support, sema, ir and layout
// libraries. Each text is read twice: as IR before layouts, and as IR whose types may have them.
#include "ir/ir.h"
#include "layout/layout.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static IrFunc *read_text(Arena *a, const IrLayoutText *layouts, const char *text, size_t size)
{
    SourceMap sources = { .arena = a };
    SymTable syms = { .arena = a };
    DiagSink diags;
    diag_init(&diags, a, &sources);
    const SourceFile *file = source_add(&sources, "fuzz.ir", text, size);
    IrFunc *fn = ir_read(a, type_table_new(a), &syms, file, layouts, &diags);
    if (!fn && diags.errors == 0)
        abort();
    return fn && ir_verify(fn, &diags) ? fn : NULL;
}

static void check_text(Arena *a, const IrLayoutText *layouts, const char *text, size_t size)
{
    Buf once = { 0 }, twice = { 0 };
    IrFunc *fn = read_text(a, layouts, text, size);
    if (fn) {
        ir_print(fn, layouts, &once);
        IrFunc *again = read_text(a, layouts, once.at, once.len);
        if (!again)
            abort();
        ir_print(again, layouts, &twice);
        if (once.len != twice.len || memcmp(once.at, twice.at, once.len) != 0)
            abort();
    }
    buf_free(&once);
    buf_free(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena a = { 0 };
    const IrLayoutText layouts = layout_ir_text(layout_table_new(&a));
    check_text(&a, NULL, (const char *)data, size);
    check_text(&a, &layouts, (const char *)data, size);
    arena_free(&a);
    return 0;
}
