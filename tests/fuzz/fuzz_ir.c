// fuzz_ir.c - libFuzzer target: any text is either reported or read, verified and printed stably.
//
// clang -fsanitize=fuzzer,address,undefined, with the compiler's support, sema and ir libraries.
#include "ir/ir.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static IrFunc *read_text(Arena *a, const char *text, size_t size)
{
    SourceMap sources = { .arena = a };
    SymTable syms = { .arena = a };
    DiagSink diags;
    diag_init(&diags, a, &sources);
    const SourceFile *file = source_add(&sources, "fuzz.ir", text, size);
    IrFunc *fn = ir_read(a, type_table_new(a), &syms, file, NULL, &diags);
    if (!fn && diags.errors == 0)
        abort();
    return fn && ir_verify(fn, &diags) ? fn : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena a = { 0 };
    Buf once = { 0 }, twice = { 0 };
    IrFunc *fn = read_text(&a, (const char *)data, size);
    if (fn) {
        ir_print(fn, NULL, &once);
        IrFunc *again = read_text(&a, once.at, once.len);
        if (!again)
            abort();
        ir_print(again, NULL, &twice);
        if (once.len != twice.len || memcmp(once.at, twice.at, once.len) != 0)
            abort();
    }
    buf_free(&once);
    buf_free(&twice);
    arena_free(&a);
    return 0;
}
