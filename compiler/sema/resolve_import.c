/// resolve_import.c - import statements: the language's own namespaces, and other .newt files.
///
/// A file module is looked for beside the importing file, then in the folders given with -I, and
/// read once however often it is imported. Packages do not exist: `a.b` is the file a/b.newt.
#include "sema/resolve_impl.h"
#include "support/fs.h"
#include <string.h>

static Decl *make_namespace(Program *p, Module *m, Sym name, const Namespace *ns, Span span)
{
    Decl *d = resolve_make_decl(p, m, name, DECL_NAMESPACE, span);
    d->value = ns ? const_ref(CONST_NAMESPACE, ns) : const_error();
    return d;
}

// ---- finding files --------------------------------------------------------------------------

static Module *find_loaded(Program *p, const char *path)
{
    for (uint32_t i = 0; i < p->modules.len; i++)
        if (strcmp(p->modules.at[i]->path, path) == 0)
            return p->modules.at[i];
    return NULL;
}

/// "a.b" -> "a/b"
static const char *file_of_name(Arena *a, const char *dotted)
{
    char *path = arena_printf(a, "%s", dotted);
    for (char *c = path; *c; c++)
        if (*c == '.')
            *c = '/';
    return path;
}

static void report_cycle(Program *p, const Module *to, Span span)
{
    Buf chain = { 0 };
    bool inside = false;
    for (uint32_t i = 0; i < p->modules.len; i++) {
        const Module *m = p->modules.at[i];
        inside = inside || m == to;
        if (inside && m->loading)
            buf_printf(&chain, "'%s' imports ", m->name->text);
    }
    diag_report(p->diags, DIAG_BAD_IMPORT, span, "import cycle: %s'%s'", chain.at, to->name->text);
    buf_free(&chain);
}

// Reads and resolves the file; NULL after a report.
static Module *load_file(Program *p, const char *path, Sym name, const char *text, size_t len,
                         Span span)
{
    const SourceFile *file = source_add(p->sources, path, text, len);
    if (!file) {
        diag_report(p->diags, DIAG_BAD_IMPORT, span, "'%s' is too large", path);
        return NULL;
    }
    return resolve_module(p, file, name);
}

static void report_missing(Program *p, Sym name, const char *folder, const char *unreadable,
                           Span span)
{
    static const char *const pythons[] = { "math",      "os",        "sys",   "typing",
                                           "functools", "itertools", "torch", "numpy",
                                           "random",    "re",        "time",  "dataclasses" };
    size_t top = strcspn(name->text, ".");
    for (size_t i = 0; i < sizeof pythons / sizeof pythons[0]; i++) {
        if (strlen(pythons[i]) != top || memcmp(name->text, pythons[i], top) != 0)
            continue;
        diag_report(p->diags, DIAG_NOT_IN_LANGUAGE, span,
                    "the Python module '%s' is not part of the language", name->text);
        if (i == 0)
            diag_help(p->diags, "exp, log, sqrt and others are in newt.language");
        return;
    }
    if (folder) {
        diag_report(p->diags, DIAG_BAD_IMPORT, span, "'%s' is a folder; a module is one .newt file",
                    folder);
    } else if (unreadable) {
        diag_report(p->diags, DIAG_BAD_IMPORT, span, "cannot read %s", unreadable);
    } else {
        diag_report(p->diags, DIAG_BAD_IMPORT, span, "there is no module '%s'", name->text);
        diag_help(p->diags,
                  "it would be the file %s.newt beside this one, or in a folder given with -I",
                  file_of_name(p->arena, name->text));
    }
}

static const char *parent_folder(Arena *a, const char *folder, uint32_t up)
{
    for (; up > 0; up--)
        folder = arena_printf(a, "%s../", folder);
    return folder;
}

// `triton.testing` is no file of the user's that could be missing.
static bool is_below_builtin(Program *p, Sym name)
{
    size_t top = strcspn(name->text, ".");
    return builtin_find_space(p->builtins, arena_strndup(p->arena, name->text, top)) != NULL;
}

/// The module `name`, `level` leading dots before it; NULL after a report.
static Module *load_module(Program *p, const Module *from, Sym name, uint32_t level, Span span)
{
    const char *file = file_of_name(p->arena, name->text), *folder = NULL, *unreadable = NULL;
    if (level == 0 && is_below_builtin(p, name)) {
        diag_report(p->diags, DIAG_BAD_IMPORT, span, "the language has no module '%s'", name->text);
        return NULL;
    }
    uint32_t dirs = level ? 0 : p->import_dir_count;
    for (uint32_t i = 0; i <= dirs; i++) {
        const char *dir =
            i == 0 ? parent_folder(p->arena, fs_dir(p->arena, from->path), level ? level - 1 : 0)
                   : arena_printf(p->arena, "%s/", p->import_dirs[i - 1]);
        const char *path = arena_printf(p->arena, "%s%s.newt", dir, file), *error = NULL;
        Module *loaded = find_loaded(p, path);
        if (loaded && loaded->loading) {
            report_cycle(p, loaded, span);
            return NULL;
        }
        if (loaded)
            return loaded;
        const char *stem = arena_printf(p->arena, "%s%s", dir, file);
        size_t len;
        const char *text = fs_is_dir(path) ? NULL : fs_read(p->arena, path, &len, &error);
        if (text)
            return load_file(p, path, name, text, len, span);
        if (fs_is_dir(path) || fs_is_dir(stem))
            folder = folder ? folder : fs_is_dir(path) ? path : stem;
        else if (error && strcmp(error, "No such file or directory") != 0)
            unreadable = arena_printf(p->arena, "'%s': %s", path, error);
    }
    report_missing(p, name, folder, unreadable, span);
    return NULL;
}

// ---- statements -----------------------------------------------------------------------------

static void import_one(Program *p, Module *m, const AstAlias *alias)
{
    Span span = alias->base.span;
    Sym bound = alias->as_name ? alias->as_name : alias->name;
    const Namespace *ns = builtin_find_space(p->builtins, alias->name->text);
    const char *dot = strchr(alias->name->text, '.');
    if (ns && !alias->as_name && dot) {
        // `import newt.language` binds `newt`.
        bound = sym_intern(p->syms, alias->name->text, (size_t)(dot - alias->name->text));
        ns = builtin_find_space(p->builtins, bound->text);
    }
    if (!ns && !alias->as_name && dot && !is_below_builtin(p, alias->name)) {
        diag_report(p->diags, DIAG_BAD_IMPORT, span,
                    "a module in a folder needs a name of its own");
        diag_help(p->diags, "write 'import %s as %s'", alias->name->text, strrchr(dot, '.') + 1);
        return;
    }
    if (!ns) {
        const Module *loaded = load_module(p, m, alias->name, 0, span);
        ns = loaded ? &loaded->space : NULL;
    }
    resolve_declare(p, m, bound, make_namespace(p, m, bound, ns, span), span);
}

void resolve_import(Program *p, Module *m, const AstImport *n)
{
    for (uint32_t i = 0; i < n->names.len; i++)
        if (n->names.at[i]->kind == AST_ALIAS)
            import_one(p, m, ast_alias(n->names.at[i]));
}

/// `from newt.language import exp as e`
static void bind_builtin(Program *p, Module *m, const Namespace *ns, const AstAlias *alias)
{
    Sym bound = alias->as_name ? alias->as_name : alias->name;
    ConstVal v = builtin_find(p->builtins, ns->space, alias->name);
    if (v.kind == CONST_ERROR)
        resolve_report_undefined(p, m, ns, alias->name, alias->base.span);
    Decl *d = resolve_make_decl(
        p, m, bound, v.kind == CONST_NAMESPACE ? DECL_NAMESPACE : DECL_BUILTIN, alias->base.span);
    d->value = v;
    resolve_declare(p, m, bound, d, alias->base.span);
}

static void bind_all(Program *p, Module *m, const Module *from, Span span)
{
    for (uint32_t i = 0; i < from->decls.len; i++)
        if (from->names.at[i]->text[0] != '_' && from->decls.at[i]->module == from)
            resolve_declare(p, m, from->names.at[i], from->decls.at[i], span);
}

static void bind_from_file(Program *p, Module *m, const Module *from, const AstAlias *alias)
{
    Sym bound = alias->as_name ? alias->as_name : alias->name;
    Decl *d = from ? module_find(from, alias->name) : NULL;
    if (!d) {
        if (from)
            resolve_report_undefined(p, m, &from->space, alias->name, alias->base.span);
        d = resolve_make_decl(p, m, bound, DECL_BUILTIN, alias->base.span);
        d->value = const_error();
    }
    resolve_declare(p, m, bound, d, alias->base.span);
}

/// `from . import activations`: each name is a module.
static void import_siblings(Program *p, Module *m, const AstImportFrom *n)
{
    for (uint32_t i = 0; i < n->names.len; i++) {
        if (n->names.at[i]->kind != AST_ALIAS)
            continue;
        const AstAlias *alias = ast_alias(n->names.at[i]);
        Sym bound = alias->as_name ? alias->as_name : alias->name;
        const Module *loaded = load_module(p, m, alias->name, n->level, alias->base.span);
        resolve_declare(
            p, m, bound,
            make_namespace(p, m, bound, loaded ? &loaded->space : NULL, alias->base.span),
            alias->base.span);
    }
}

void resolve_import_from(Program *p, Module *m, const AstImportFrom *n)
{
    if (!n->module) {
        import_siblings(p, m, n);
        return;
    }
    if (strcmp(n->module->text, "__future__") == 0)
        return;
    const Namespace *ns = n->level ? NULL : builtin_find_space(p->builtins, n->module->text);
    const Module *from = ns ? NULL : load_module(p, m, n->module, n->level, n->base.span);
    for (uint32_t i = 0; i < n->names.len; i++) {
        if (n->names.at[i]->kind != AST_ALIAS)
            continue;
        const AstAlias *alias = ast_alias(n->names.at[i]);
        bool all = strcmp(alias->name->text, "*") == 0;
        if (ns && !all)
            bind_builtin(p, m, ns, alias);
        else if (!ns && !all)
            bind_from_file(p, m, from, alias);
        else if (from)
            bind_all(p, m, from, alias->base.span);
    }
}
