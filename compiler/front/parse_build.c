/// parse_build.c - statements, functions and parameters: nodes that take checks to make.
#include "front/parse_impl.h"

/// Enough for any kernel (CUDA passes 4 KiB), and few enough to compare names pairwise.
enum { MAX_PARAMS = 255 };

static const char *target_fault(const AstNode *n)
{
    switch (n->kind) {
    case AST_CALL: return "the result of a call";
    case AST_INT:
    case AST_FLOAT:
    case AST_STRING:
    case AST_FSTRING: return "a literal";
    case AST_NONE: return "'None'";
    case AST_BOOL: return ast_bool(n)->value ? "'True'" : "'False'";
    case AST_ELLIPSIS: return "'...'";
    case AST_COMPARE: return "a comparison";
    case AST_LAMBDA: return "a lambda";
    case AST_DICT: return "a dict";
    default: return "an expression";
    }
}

AstNode *parse_target(Parser *p, AstNode *target)
{
    AstNodes items = { 0 };

    switch (target->kind) {
    case AST_NAME:
    case AST_ATTRIBUTE:
    case AST_SUBSCRIPT:
    case AST_ERROR: return target;
    case AST_TUPLE: items = ast_tuple(target)->items; break;
    case AST_LIST: items = ast_list(target)->items; break;
    case AST_STARRED:
        diag_report(p->diags, DIAG_NOT_IN_LANGUAGE, target->span,
                    "a starred target is not part of the language");
        return parse_error_node(p, target->span);
    default:
        parse_report(p, DIAG_SYNTAX, target->span, "cannot assign to %s", target_fault(target));
        return parse_error_node(p, target->span);
    }
    for (uint32_t i = 0; i < items.len; i++)
        items.at[i] = parse_target(p, items.at[i]);
    return target;
}

/// A target that is one thing: `+=` and annotations do not take tuples.
static AstNode *single_target(Parser *p, AstNode *n, const char *action)
{
    if (n->kind != AST_TUPLE && n->kind != AST_LIST)
        return parse_target(p, n);
    parse_report(p, DIAG_SYNTAX, n->span, "only one name at a time can be %s", action);
    return parse_error_node(p, n->span);
}

AstNode *parse_assign(Parser *p, Span span, AstNodes chain)
{
    AstNode *value = chain.at[--chain.len];

    for (uint32_t i = 0; i < chain.len; i++)
        chain.at[i] = parse_target(p, chain.at[i]);
    return PARSE_NODE(p, ASSIGN, Assign, span, .targets = chain, .value = value);
}

AstNode *parse_aug_assign(Parser *p, Span span, AstNode *target, AstBinaryOp op, AstNode *value)
{
    target = single_target(p, target, "updated");
    return PARSE_NODE(p, AUG_ASSIGN, AugAssign, span, .op = op, .target = target, .value = value);
}

AstNode *parse_ann_assign(Parser *p, Span span, AstNode *target, AstNode *annotation,
                          AstNode *value)
{
    target = single_target(p, target, "annotated");
    return PARSE_NODE(p, ANN_ASSIGN, AnnAssign, span, .target = target, .annotation = annotation,
                      .value = value);
}

AstNode *parse_for(Parser *p, Span span, AstNode *target, AstNode *iter, AstNodes body,
                   AstNodes orelse)
{
    target = parse_target(p, target);
    return PARSE_NODE(p, FOR, For, span, .target = target, .iter = iter, .body = body,
                      .orelse = orelse);
}

AstText parse_take_doc(AstNodes *body)
{
    if (body->len == 0 || body->at[0]->kind != AST_EXPR_STMT)
        return (AstText){ 0 };

    const AstNode *value = ast_expr(body->at[0])->value;
    if (value->kind != AST_STRING || ast_string(value)->is_bytes)
        return (AstText){ 0 };
    body->at++;
    body->len--;
    return ast_string(value)->value;
}

AstNode *parse_function(Parser *p, Span span, Span name_span, const AstFunction *model)
{
    AstFunction f = *model;

    f.name_span = name_span;
    f.doc = parse_take_doc(&f.body);
    return parse_node(p, ast_make(p->arena, AST_FUNCTION, span, &f));
}

static void check_param(Parser *p, AstNodes before, const AstParam *param)
{
    const AstParam *optional = NULL;

    for (uint32_t i = 0; i < before.len; i++) {
        const AstParam *other = ast_param(before.at[i]);
        if (other->name == param->name) {
            parse_report(p, DIAG_SYNTAX, param->base.span, "parameter '%s' appears twice",
                         param->name->text);
            return;
        }
        if (other->default_value)
            optional = other;
    }
    if (optional && !param->default_value && !param->keyword_only)
        parse_report(p, DIAG_SYNTAX, param->base.span,
                     "parameter '%s' needs a default, since '%s' before it has one",
                     param->name->text, optional->name->text);
}

/// Drops the markers `*` (STARRED) and `/` (NULL), and what was reported already.
AstNodes parse_params(Parser *p, AstNodes list)
{
    AstNodes params = { list.at, 0 };
    bool keyword_only = false;

    for (uint32_t i = 0; i < list.len; i++) {
        AstNode *n = list.at[i];
        if (n && n->kind == AST_STARRED)
            keyword_only = true;
        if (!n || n->kind != AST_PARAM)
            continue;
        ((AstParam *)n)->keyword_only = keyword_only;
        if (params.len == MAX_PARAMS) {
            parse_report(p, DIAG_SYNTAX, n->span, "more than %d parameters", MAX_PARAMS);
            break;
        }
        check_param(p, params, ast_param(n));
        params.at[params.len++] = n;
    }
    return params;
}

AstNode *parse_import_from(Parser *p, Span span, uint32_t level, Sym module, AstNodes names)
{
    return PARSE_NODE(p, IMPORT_FROM, ImportFrom, span, .level = level, .module = module,
                      .names = names);
}

Sym parse_join_dotted(Parser *p, AstNodes names)
{
    Buf text = { 0 };

    for (uint32_t i = 0; i < names.len; i++)
        buf_printf(&text, "%s%s", i ? "." : "", ast_name(names.at[i])->name->text);

    Sym joined = sym_intern(p->syms, text.at, text.len);
    buf_free(&text);
    return joined;
}
