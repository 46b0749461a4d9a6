/// fuzz_front.c - libFuzzer: any bytes through the lexer, the parser, the walker and the dumper.
///
/// Checks besides memory: a tree with AST_ERROR in it implies a report, spans lie inside the file,
/// and ids are those the module says.
#include "front/lex.h"
#include "front/parse.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
    const AstModule *module;
    const SourceFile *file;
    bool has_error;
} Facts;

static bool check_node(const AstNode *n, void *ctx)
{
    Facts *f = ctx;

    if (n->id == 0 || n->id > f->module->node_count || n->depth == 0)
        abort();
    if (n->span.lo < f->file->base || n->span.hi > f->file->base + f->file->len ||
        n->span.lo > n->span.hi)
        abort();
    f->has_error |= n->kind == AST_ERROR;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena arena = { 0 };
    SourceMap sources = { .arena = &arena };
    SymTable syms = { .arena = &arena };
    DiagSink diags;
    Buf out = { 0 };

    diag_init(&diags, &arena, &sources);
    const SourceFile *file = source_add(&sources, "fuzz.newt", (const char *)data, size);
    const AstModule *m = parse_file(&arena, &syms, &sources, file, &diags);
    Facts facts = { m, file, false };
    ast_walk(&m->base, &(AstVisitor){ check_node, NULL, &facts });
    if (facts.has_error && diag_error_count(&diags) == 0)
        abort();
    ast_dump(&m->base, &out);
    lex_dump(&arena, &syms, &sources, file, &diags, &out);
    diag_print(&diags, DIAG_TEXT, false, &out);
    buf_free(&out);
    arena_free(&arena);
    return 0;
}
