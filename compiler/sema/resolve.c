/// resolve.c - a file becomes a module: its imports, functions and constants under their names.
///
/// Statements are taken in order, so an import is complete before what follows it; bodies are
/// looked at last (resolve_names.c), so functions may use what is defined below them. A fault
/// leaves a declaration without a value behind, which absorbs: nobody reports it a second time.
#include "front/parse.h"
#include "sema/resolve_impl.h"
#include "support/fs.h"
#include <string.h>

// ---- declarations ---------------------------------------------------------------------------

Decl *resolve_make_decl(Program *p, Module *m, Sym name, DeclKind kind, Span span)
{
    Decl *d = ARENA_NEW(p->arena, Decl);
    *d = (Decl){ .name = name,
                 .kind = kind,
                 .span = span,
                 .module = m,
                 .state = kind == DECL_CONSTANT ? DECL_UNTOUCHED : DECL_READY };
    return d;
}

static bool same_thing(const Decl *a, const Decl *b)
{
    bool both_values = a->kind != DECL_CONSTANT && b->kind != DECL_CONSTANT &&
                       a->kind != DECL_FUNCTION && b->kind != DECL_FUNCTION;
    return a == b || (both_values && const_equal(&a->value, &b->value));
}

void resolve_declare(Program *p, Module *m, Sym name, Decl *decl, Span span)
{
    const Decl *before = module_find(m, name);
    if (before && !same_thing(before, decl)) {
        diag_report(p->diags, DIAG_REDEFINITION, span, "'%s' is defined twice", name->text);
        diag_note(p->diags, before->span, "the first definition");
        return;
    }
    if (before)
        return;
    module_map_put(m->index, name, m->decls.len);
    VEC_PUSH(p->arena, &m->decls, decl);
    VEC_PUSH(p->arena, &m->names, name);
}

static void declare_function(Program *p, Module *m, const AstFunction *def)
{
    Function *f = resolve_function(p, m, def);
    Decl *d = resolve_make_decl(p, m, def->name, DECL_FUNCTION, def->name_span);
    d->value = const_ref(CONST_FUNC, f);
    VEC_PUSH(p->arena, &m->functions, f);
    resolve_declare(p, m, def->name, d, def->name_span);
}

static void declare_constant(Program *p, Module *m, const AstNode *target,
                             const AstNode *annotation, const AstNode *value)
{
    if (target->kind == AST_ERROR)
        return;
    if (target->kind != AST_NAME) {
        diag_report(p->diags, DIAG_NOT_IN_LANGUAGE, target->span,
                    "only a plain name can be assigned at module level");
        return;
    }
    Sym name = ast_name(target)->name;
    if (!value) {
        diag_report(p->diags, DIAG_SYNTAX, target->span, "the constant '%s' has no value",
                    name->text);
        return;
    }
    Decl *d = resolve_make_decl(p, m, name, DECL_CONSTANT, target->span);
    d->expr = value;
    d->annotation = annotation;
    resolve_declare(p, m, name, d, target->span);
}

static void refuse_statement(Program *p, const AstNode *n)
{
    diag_report(p->diags, DIAG_NOT_IN_LANGUAGE, n->span,
                "only imports, constants and functions stand at module level");
}

static void declare_statement(Program *p, Module *m, const AstNode *n)
{
    switch (n->kind) {
    case AST_IMPORT: resolve_import(p, m, ast_import(n)); break;
    case AST_IMPORT_FROM: resolve_import_from(p, m, ast_import_from(n)); break;
    case AST_FUNCTION: declare_function(p, m, ast_function(n)); break;
    case AST_ASSIGN:
        for (uint32_t i = 0; i < ast_assign(n)->targets.len; i++)
            declare_constant(p, m, ast_assign(n)->targets.at[i], NULL, ast_assign(n)->value);
        break;
    case AST_ANN_ASSIGN:
        declare_constant(p, m, ast_ann_assign(n)->target, ast_ann_assign(n)->annotation,
                         ast_ann_assign(n)->value);
        break;
    case AST_ERROR:
    case AST_PASS: break;
    case AST_EXPR_STMT:
        if (ast_expr(n)->value->kind != AST_STRING && ast_expr(n)->value->kind != AST_ERROR)
            refuse_statement(p, n);
        break;
    default: refuse_statement(p, n); break;
    }
}

// ---- modules --------------------------------------------------------------------------------

Module *resolve_module(Program *p, const SourceFile *file, Sym name)
{
    Module *m = ARENA_NEW(p->arena, Module);
    m->path = file->path;
    m->name = name;
    m->space = (Namespace){ .module = m, .name = name->text };
    m->index = ARENA_NEW(p->arena, ModuleMap);
    m->index->arena = p->arena;
    m->loading = true;
    VEC_PUSH(p->arena, &p->modules, m);
    m->ast = parse_file(p->arena, p->syms, p->sources, file, p->diags);
    for (uint32_t i = 0; i < m->ast->body.len; i++)
        declare_statement(p, m, m->ast->body.at[i]);
    m->loading = false;
    resolve_check_names(p, m);
    return m;
}

Module *resolve_program(Program *p, const SourceFile *file)
{
    if (!p->builtins)
        p->builtins = builtin_table_new(p->arena, p->syms, p->types);
    return resolve_module(p, file, sym_of(p->syms, fs_stem(p->arena, file->path)));
}

// ---- looking names up -----------------------------------------------------------------------

static bool bind_decl(Decl *d, Binding *out)
{
    *out = (Binding){ .decl = d, .value = const_error() };
    if (d && d->state == DECL_READY)
        out->value = d->value;
    return d != NULL;
}

bool resolve_name(const Program *p, const Module *m, Sym name, Binding *out)
{
    if (bind_decl(module_find(m, name), out))
        return true;
    out->value = builtin_find(p->builtins, SPACE_BARE, name);
    return out->value.kind != CONST_ERROR;
}

bool resolve_member(const Program *p, const Namespace *ns, Sym name, Binding *out)
{
    if (ns->module)
        return bind_decl(module_find(ns->module, name), out);
    *out = (Binding){ .value = builtin_find(p->builtins, ns->space, name) };
    return out->value.kind != CONST_ERROR;
}

bool resolve_path(const Program *p, const Module *m, const AstNode *e, Binding *out)
{
    if (e->kind == AST_NAME)
        return resolve_name(p, m, ast_name(e)->name, out);
    if (e->kind != AST_ATTRIBUTE || !resolve_path(p, m, ast_attribute(e)->object, out))
        return false;
    return out->value.kind == CONST_NAMESPACE &&
           resolve_member(p, out->value.v.ref, ast_attribute(e)->name, out);
}

static const char *suggest_in_module(const Program *p, const Module *m, const char *name)
{
    const char **names = ARENA_NEW_N(p->arena, const char *, m->names.len);
    for (uint32_t i = 0; i < m->names.len; i++)
        names[i] = m->names.at[i]->text;
    return diag_did_you_mean(name, names, m->names.len);
}

void resolve_report_undefined(const Program *p, const Module *m, const Namespace *ns, Sym name,
                              Span span)
{
    const char *near;
    if (ns) {
        diag_report(p->diags, DIAG_UNDEFINED_NAME, span, "'%s' has no '%s'", ns->name, name->text);
        near = ns->module ? suggest_in_module(p, ns->module, name->text)
                          : builtin_suggest(p->builtins, ns->space, name->text);
    } else {
        diag_report(p->diags, DIAG_UNDEFINED_NAME, span, "name '%s' is not defined", name->text);
        near = suggest_in_module(p, m, name->text);
        near = near ? near : builtin_suggest(p->builtins, SPACE_BARE, name->text);
    }
    if (near)
        diag_help(p->diags, "did you mean '%s'?", near);
}
