/// parse_check.c - rules that need more than one statement in view: where `break`, `return`,
/// `import`, `def` and `lambda` may stand. Runs once over a parsed module.
#include "front/parse_impl.h"

typedef struct Place {
    bool in_function, in_loop;
} Place;

static void check_block(Parser *p, AstNodes block, Place place);

static void report_foreign(Parser *p, Span span, const char *what, const char *help)
{
    diag_report(p->diags, DIAG_NOT_IN_LANGUAGE, span,
                "%s inside a function is not part of the language", what);
    if (help)
        diag_help(p->diags, "%s", help);
}

static bool enter_expr(const AstNode *n, void *ctx)
{
    Parser *p = ctx;

    if (n->kind == AST_LAMBDA) {
        report_foreign(p, n->span, "'lambda'", "define a function with 'def' and use its name");
        return false;
    }
    if (n->kind == AST_DICT) {
        report_foreign(p, n->span, "a dict", NULL);
        return false;
    }
    return true;
}

/// Whether ast_walk from this statement meets expressions only.
static bool is_simple(const AstNode *n)
{
    return n->kind != AST_FUNCTION && n->kind != AST_IF && n->kind != AST_FOR &&
           n->kind != AST_WHILE;
}

static void check_expr(Parser *p, const AstNode *n, Place place)
{
    const AstVisitor visitor = { enter_expr, NULL, p };

    if (place.in_function)
        ast_walk(n, &visitor);
}

static void check_function(Parser *p, const AstFunction *f, Place place)
{
    if (place.in_function) {
        report_foreign(p, f->name_span, "a function", "move it to the top level of the file");
        return;
    }
    check_block(p, f->body, (Place){ .in_function = true });
}

static void check_loop(Parser *p, AstNodes body, AstNodes orelse, Place place)
{
    check_block(p, body, (Place){ place.in_function, true });
    check_block(p, orelse, place);
}

static void check_jump(Parser *p, const AstNode *n, Place place)
{
    if (n->kind == AST_RETURN ? !place.in_function : !place.in_loop)
        diag_report(p->diags, DIAG_SYNTAX, n->span, "'%s' outside a %s",
                    ast_kind_info[n->kind].name, n->kind == AST_RETURN ? "function" : "loop");
}

static void check_stmt(Parser *p, const AstNode *n, Place place)
{
    switch (n->kind) {
    case AST_FUNCTION: check_function(p, ast_function(n), place); break;
    case AST_IF:
        check_expr(p, ast_if(n)->cond, place);
        check_block(p, ast_if(n)->body, place);
        check_block(p, ast_if(n)->orelse, place);
        break;
    case AST_FOR:
        check_expr(p, ast_for(n)->target, place);
        check_expr(p, ast_for(n)->iter, place);
        check_loop(p, ast_for(n)->body, ast_for(n)->orelse, place);
        break;
    case AST_WHILE:
        check_expr(p, ast_while(n)->cond, place);
        check_loop(p, ast_while(n)->body, ast_while(n)->orelse, place);
        break;
    case AST_RETURN:
    case AST_BREAK:
    case AST_CONTINUE: check_jump(p, n, place); break;
    case AST_IMPORT:
    case AST_IMPORT_FROM:
        if (place.in_function)
            report_foreign(p, n->span, "'import'", "move it to the top of the file");
        break;
    default: break;
    }
    if (is_simple(n))
        check_expr(p, n, place);
}

static void check_block(Parser *p, AstNodes block, Place place)
{
    for (uint32_t i = 0; i < block.len; i++)
        check_stmt(p, block.at[i], place);
}

void parse_check_module(Parser *p, const AstModule *m)
{
    check_block(p, m->body, (Place){ 0 });
}
