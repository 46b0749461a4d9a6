/// source.c - a module without tile kernels, as text.
///
/// The functions stand as they are, tile kernels as the kernels they became. Imports are kept, and
/// what generated code names itself is imported as well.
#include "front/ast_source.h"
#include "tile/tile.h"
#include <string.h>

static void print_aliases(AstNodes names, Buf *out)
{
    for (uint32_t i = 0; i < names.len; i++) {
        if (names.at[i]->kind != AST_ALIAS)
            continue;
        const AstAlias *a = ast_alias(names.at[i]);
        buf_printf(out, "%s%s", i ? ", " : "", a->name->text);
        if (a->as_name)
            buf_printf(out, " as %s", a->as_name->text);
    }
    buf_putc(out, '\n');
}

static void print_import(const AstNode *n, Buf *out)
{
    if (n->kind == AST_IMPORT) {
        buf_puts(out, "import ");
        print_aliases(ast_import(n)->names, out);
        return;
    }
    const AstImportFrom *from = ast_import_from(n);
    buf_puts(out, "from ");
    for (uint32_t i = 0; i < from->level; i++)
        buf_putc(out, '.');
    buf_printf(out, "%s import ", from->module ? from->module->text : "");
    print_aliases(from->names, out);
}

/// Whether an import statement binds `name`.
static bool binds(const AstNode *n, const char *name)
{
    for (uint32_t i = 0; n->kind == AST_IMPORT && i < ast_import(n)->names.len; i++) {
        const AstAlias *a = ast_alias(ast_import(n)->names.at[i]);
        const char *bound = a->as_name ? a->as_name->text : a->name->text;
        size_t len = strlen(name);
        if (strncmp(bound, name, len) == 0 && (!bound[len] || bound[len] == '.'))
            return true;
    }
    return false;
}

static void print_head(const AstModule *ast, Buf *out)
{
    bool newt = false, nl = false;
    for (uint32_t i = 0; i < ast->body.len; i++) {
        newt = newt || binds(ast->body.at[i], "newt");
        nl = nl || binds(ast->body.at[i], "nl");
    }
    if (!newt)
        buf_puts(out, "import newt\n");
    if (!nl)
        buf_puts(out, "import newt.language as nl\n");
    for (uint32_t i = 0; i < ast->body.len; i++)
        if (ast->body.at[i]->kind == AST_IMPORT || ast->body.at[i]->kind == AST_IMPORT_FROM)
            print_import(ast->body.at[i], out);
}

static const Function *function_of(const Module *m, const AstNode *n)
{
    for (uint32_t i = 0; i < m->functions.len; i++)
        if (m->functions.at[i]->def->name == ast_function(n)->name)
            return m->functions.at[i];
    return NULL;
}

/// Whether a define switches on the loop over chunks.
static bool is_looped(const Function *f, const char *const *defines, uint32_t count)
{
    bool on = false;
    for (uint32_t i = 0; i < f->param_count; i++)
        for (uint32_t k = 0; k < count && f->params[i].is_loop; k++) {
            size_t len = f->params[i].name->len;
            if (strncmp(defines[k], f->params[i].name->text, len) == 0 && defines[k][len] == '=')
                on = strcmp(defines[k] + len, "=0") != 0 && strcmp(defines[k] + len, "=False") != 0;
        }
    return on;
}

void tile_source(const Module *m, const char *const *defines, uint32_t define_count, Buf *out)
{
    const AstModule *ast = m->ast;
    print_head(ast, out);
    bool gap = true;
    for (uint32_t i = 0; i < ast->body.len; i++) {
        const AstNode *n = ast->body.at[i];
        if (n->kind == AST_IMPORT || n->kind == AST_IMPORT_FROM || n->kind == AST_PASS)
            continue;
        const Function *f = n->kind == AST_FUNCTION ? function_of(m, n) : NULL;
        if (n->kind == AST_FUNCTION || gap)
            buf_puts(out, n->kind == AST_FUNCTION ? "\n\n" : "\n");
        const AstFunction *form = f ? f->shown[is_looped(f, defines, define_count)] : NULL;
        ast_source(form ? &form->base : f ? &f->def->base : n, out);
        gap = n->kind == AST_FUNCTION;
    }
}
