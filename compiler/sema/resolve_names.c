/// resolve_names.c - finds names that nothing defines, in every function whether it is used or not.
///
/// As in Python, a name assigned anywhere in a function is local to it; whether it has a value
/// where it is read depends on the path taken, and is lower's to say. Each unknown name is reported
/// once a function.
#include "sema/resolve_impl.h"

typedef struct NameCheck {
    const Program *program;
    const Module *module;
    ModuleMap locals, reported;
    ModuleMap augmented;  // names that only `+=` and its like assign
} NameCheck;

// ---- what a function assigns ----------------------------------------------------------------

static void add_target(NameCheck *c, const AstNode *target)
{
    if (target->kind == AST_NAME) {
        module_map_put(&c->locals, ast_name(target)->name, 1);
    } else if (target->kind == AST_TUPLE || target->kind == AST_LIST) {
        AstNodes items =
            target->kind == AST_TUPLE ? ast_tuple(target)->items : ast_list(target)->items;
        for (uint32_t i = 0; i < items.len; i++)
            add_target(c, items.at[i]);
    } else if (target->kind == AST_STARRED) {
        add_target(c, ast_starred(target)->value);
    }
}

static void add_params(NameCheck *c, AstNodes params)
{
    for (uint32_t i = 0; i < params.len; i++)
        if (params.at[i]->kind == AST_PARAM)
            module_map_put(&c->locals, ast_param(params.at[i])->name, 1);
}

static bool collect_assigned(const AstNode *n, void *ctx)
{
    NameCheck *c = ctx;
    if (n->kind == AST_ASSIGN)
        for (uint32_t i = 0; i < ast_assign(n)->targets.len; i++)
            add_target(c, ast_assign(n)->targets.at[i]);
    else if (n->kind == AST_ANN_ASSIGN)
        add_target(c, ast_ann_assign(n)->target);
    else if (n->kind == AST_FOR)
        add_target(c, ast_for(n)->target);
    else if (n->kind == AST_COMPREHENSION)
        add_target(c, ast_comprehension(n)->target);
    else if (n->kind == AST_LAMBDA)
        add_params(c, ast_lambda(n)->params);
    else if (n->kind == AST_FUNCTION)
        module_map_put(&c->locals, ast_function(n)->name, 1);
    return n->kind != AST_FUNCTION;  // one inside another was refused, with all that is in it
}

static bool collect_augmented(const AstNode *n, void *ctx)
{
    NameCheck *c = ctx;
    if (n->kind != AST_AUG_ASSIGN || ast_aug_assign(n)->target->kind != AST_NAME)
        return n->kind != AST_FUNCTION;
    Sym name = ast_name(ast_aug_assign(n)->target)->name;
    if (module_map_has(&c->locals, name) || module_map_has(&c->augmented, name))
        return true;
    module_map_put(&c->augmented, name, 1);
    diag_report(c->program->diags, DIAG_UNDEFINED_NAME, n->span,
                "'%s' is read by '%s=' before it is assigned", name->text,
                ast_binary_text[ast_aug_assign(n)->op]);
    return true;
}

/// The sizes that `tensor[T, "M", "K"]` names can be used in the body.
static bool collect_sizes(const AstNode *n, void *ctx)
{
    NameCheck *c = ctx;
    if (n->kind == AST_STRING && ast_string(n)->value.len) {
        Str s = ast_string(n)->value;
        module_map_put(&c->locals, sym_intern(c->program->syms, s.at, s.len), 1);
    }
    return true;
}

// ---- names that are read --------------------------------------------------------------------

static bool is_local(const NameCheck *c, Sym name)
{
    return module_map_has(&c->locals, name) || module_map_has(&c->augmented, name);
}

static void check_name(NameCheck *c, const AstNode *n)
{
    Sym name = ast_name(n)->name;
    Binding b;
    if (is_local(c, name) || module_map_has(&c->reported, name) ||
        resolve_name(c->program, c->module, name, &b))
        return;
    module_map_put(&c->reported, name, 1);
    resolve_report_undefined(c->program, c->module, NULL, name, n->span);
}

static const AstNode *base_of(const AstNode *n)
{
    while (n->kind == AST_ATTRIBUTE)
        n = ast_attribute(n)->object;
    return n;
}

/// Members of modules: `nl.nonexist`. Attributes of values are lower's.
static void check_member(NameCheck *c, const AstNode *n)
{
    const AstNode *base = base_of(n);
    Binding b;
    if (base->kind != AST_NAME || is_local(c, ast_name(base)->name))
        return;
    const AstAttribute *attribute = ast_attribute(n);
    if (!resolve_path(c->program, c->module, attribute->object, &b) ||
        b.value.kind != CONST_NAMESPACE)
        return;
    Binding member;
    if (!resolve_member(c->program, b.value.v.ref, attribute->name, &member))
        resolve_report_undefined(c->program, c->module, b.value.v.ref, attribute->name,
                                 attribute->name_span);
}

static bool check_node(const AstNode *n, void *ctx)
{
    NameCheck *c = ctx;
    if (n->kind == AST_NAME)
        check_name(c, n);
    else if (n->kind == AST_ATTRIBUTE)
        check_member(c, n);
    return n->kind != AST_FUNCTION;
}

static void walk(NameCheck *c, const AstNode *n, bool (*enter)(const AstNode *, void *))
{
    ast_walk(n, &(const AstVisitor){ .enter = enter, .ctx = c });
}

static void walk_all(NameCheck *c, AstNodes nodes, bool (*enter)(const AstNode *, void *))
{
    for (uint32_t i = 0; i < nodes.len; i++)
        walk(c, nodes.at[i], enter);
}

static NameCheck new_check(const Program *p, const Module *m)
{
    return (NameCheck){ .program = p,
                        .module = m,
                        .locals.arena = p->arena,
                        .reported.arena = p->arena,
                        .augmented.arena = p->arena };
}

/// An @newt.example has a language of its own: generators, and the names of other arguments.
static bool is_example(const Function *f, const AstNode *n)
{
    for (uint32_t i = 0; i < f->examples.len; i++)
        if (&f->examples.at[i]->base == n)
            return true;
    return false;
}

/// Decorators see the module and the parameters of their own lambdas.
static void check_decorators(const Program *p, const Module *m, const Function *f)
{
    const AstFunction *def = f->def;
    for (uint32_t i = 0; i < def->decorators.len; i++) {
        const AstNode *n = def->decorators.at[i];
        if (n->kind != AST_CALL || is_example(f, n))
            continue;
        NameCheck c = new_check(p, m);
        walk(&c, n, collect_assigned);
        walk_all(&c, ast_call(n)->args, check_node);
        walk_all(&c, ast_call(n)->keywords, check_node);
    }
}

static void check_function(const Program *p, const Module *m, const AstFunction *def)
{
    NameCheck c = new_check(p, m);
    add_params(&c, def->params);
    walk_all(&c, def->params, collect_assigned);
    walk_all(&c, def->params, check_node);
    walk_all(&c, def->params, collect_sizes);
    walk_all(&c, def->body, collect_assigned);
    walk_all(&c, def->body, collect_augmented);
    walk_all(&c, def->body, check_node);
}

void resolve_check_names(Program *p, const Module *m)
{
    for (uint32_t i = 0; i < m->functions.len; i++) {
        check_decorators(p, m, m->functions.at[i]);
        check_function(p, m, m->functions.at[i]->def);
    }
    for (uint32_t i = 0; i < m->decls.len; i++) {
        const Decl *d = m->decls.at[i];
        if (d->kind != DECL_CONSTANT || d->module != m)
            continue;
        NameCheck c = new_check(p, m);
        walk(&c, d->expr, collect_assigned);
        walk(&c, d->expr, check_node);
        walk(&c, d->annotation, check_node);
    }
}
