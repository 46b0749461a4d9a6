/// ast_source.c - a syntax tree as the text of a .newt file, laid out as people write it.
///
/// Parentheses stand only where Python needs them. A call that does not fit into the line has its
/// arguments on lines of their own. The recursion is bounded: the parser refuses deep trees.
#include "front/ast_source.h"
#include <inttypes.h>
#include <string.h>

enum { LINE_WIDTH = 110 };

/// How tightly an expression holds together, as in Python's grammar.
enum {
    LEVEL_LAMBDA = 1,
    LEVEL_TERNARY,
    LEVEL_OR,
    LEVEL_AND,
    LEVEL_NOT,
    LEVEL_COMPARE,
    LEVEL_BIT_OR,
    LEVEL_BIT_XOR,
    LEVEL_BIT_AND,
    LEVEL_SHIFT,
    LEVEL_ARITH,
    LEVEL_TERM,
    LEVEL_UNARY,
    LEVEL_POWER,
    LEVEL_PRIMARY
};

static int level_of_binary(AstBinaryOp op)
{
    switch (op) {
    case AST_ADD:
    case AST_SUB: return LEVEL_ARITH;
    case AST_SHL:
    case AST_SHR: return LEVEL_SHIFT;
    case AST_BIT_AND: return LEVEL_BIT_AND;
    case AST_BIT_OR: return LEVEL_BIT_OR;
    case AST_BIT_XOR: return LEVEL_BIT_XOR;
    case AST_POW: return LEVEL_POWER;
    case AST_MUL:
    case AST_DIV:
    case AST_FLOOR_DIV:
    case AST_MOD:
    case AST_MATMUL:
    case AST_BINARY_OP_COUNT: break;
    }
    return LEVEL_TERM;
}

static int level_of(const AstNode *n)
{
    switch (n->kind) {
    case AST_LAMBDA: return LEVEL_LAMBDA;
    case AST_TERNARY: return LEVEL_TERNARY;
    case AST_LOGIC: return ast_logic(n)->op == AST_OR ? LEVEL_OR : LEVEL_AND;
    case AST_COMPARE: return LEVEL_COMPARE;
    case AST_BINARY: return level_of_binary(ast_binary(n)->op);
    case AST_UNARY: return ast_unary(n)->op == AST_NOT ? LEVEL_NOT : LEVEL_UNARY;
    default: return LEVEL_PRIMARY;
    }
}

static void print(const AstNode *n, int level, Buf *out);

static void print_list(AstNodes list, Buf *out)
{
    for (uint32_t i = 0; i < list.len; i++) {
        if (i)
            buf_puts(out, ", ");
        print(list.at[i], LEVEL_LAMBDA, out);
    }
}

static void print_param(const AstParam *p, Buf *out)
{
    buf_puts(out, p->name->text);
    if (p->annotation) {
        buf_puts(out, ": ");
        print(p->annotation, LEVEL_LAMBDA, out);
    }
    if (p->default_value) {
        buf_puts(out, p->annotation ? " = " : "=");
        print(p->default_value, LEVEL_LAMBDA, out);
    }
}

/// A Python literal of the text: escapes mean the same in C but for the octal ones.
static void print_text(Str s, Buf *out)
{
    buf_putc(out, '"');
    for (uint32_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.at[i];
        if (c == '"' || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (c == '\n')
            buf_puts(out, "\\n");
        else if (c < 0x20 || c == 0x7f)
            buf_printf(out, "\\x%02x", c);
        else
            buf_putc(out, (char)c);
    }
    buf_putc(out, '"');
}

static void print_fstring(AstNodes parts, Buf *out);

static void print_field(const AstField *f, Buf *out)
{
    buf_putc(out, '{');
    print(f->value, LEVEL_TERNARY, out);
    if (f->debug.at)
        buf_putc(out, '=');
    if (f->conversion)
        buf_printf(out, "!%c", f->conversion);
    if (f->spec) {
        buf_putc(out, ':');
        print_fstring(ast_fstring(f->spec)->parts, out);
    }
    buf_putc(out, '}');
}

/// The inside of an f-string: braces of its text are doubled.
static void print_fstring(AstNodes parts, Buf *out)
{
    for (uint32_t i = 0; i < parts.len; i++) {
        if (parts.at[i]->kind == AST_FIELD) {
            print_field(ast_field(parts.at[i]), out);
            continue;
        }
        Str s = ast_string(parts.at[i])->value;
        for (uint32_t k = 0; k < s.len; k++) {
            if (strchr("{}", s.at[k]))
                buf_putc(out, s.at[k]);
            if (strchr("\"\\", s.at[k]))
                buf_putc(out, '\\');
            buf_putc(out, s.at[k]);
        }
    }
}

static void print_slice(const AstSlice *s, Buf *out)
{
    if (s->lower)
        print(s->lower, LEVEL_TERNARY, out);
    buf_putc(out, ':');
    if (s->upper)
        print(s->upper, LEVEL_TERNARY, out);
    if (s->step) {
        buf_putc(out, ':');
        print(s->step, LEVEL_TERNARY, out);
    }
}

static void print_call(const AstCall *c, Buf *out)
{
    print(c->callee, LEVEL_PRIMARY, out);
    buf_putc(out, '(');
    print_list(c->args, out);
    if (c->args.len && c->keywords.len)
        buf_puts(out, ", ");
    print_list(c->keywords, out);
    buf_putc(out, ')');
}

static void print_binary(const AstBinary *b, Buf *out)
{
    int level = level_of_binary(b->op);
    bool right = b->op == AST_POW;  // the one that groups from the right
    print(b->lhs, right ? level + 1 : level, out);
    buf_printf(out, right ? "%s" : " %s ", ast_binary_text[b->op]);
    print(b->rhs, right ? LEVEL_UNARY : level + 1, out);
}

static void print_compare(const AstCompare *c, Buf *out)
{
    for (uint32_t i = 0; i < c->operands.len; i++) {
        if (i)
            buf_printf(out, " %s ", ast_compare_text[c->ops.at[i - 1]]);
        print(c->operands.at[i], LEVEL_COMPARE + 1, out);
    }
}

static void print_logic(const AstLogic *l, Buf *out)
{
    for (uint32_t i = 0; i < l->operands.len; i++) {
        if (i)
            buf_puts(out, l->op == AST_OR ? " or " : " and ");
        print(l->operands.at[i], l->op == AST_OR ? LEVEL_AND : LEVEL_NOT, out);
    }
}

static void print_ternary(const AstTernary *t, Buf *out)
{
    print(t->then, LEVEL_OR, out);
    buf_puts(out, " if ");
    print(t->cond, LEVEL_OR, out);
    buf_puts(out, " else ");
    print(t->orelse, LEVEL_TERNARY, out);
}

static void print_comprehension(const AstComprehension *c, Buf *out)
{
    buf_putc(out, c->is_list ? '[' : '(');
    print(c->element, LEVEL_TERNARY, out);
    buf_puts(out, " for ");
    print(c->target, LEVEL_BIT_OR, out);
    buf_puts(out, " in ");
    print(c->iter, LEVEL_OR, out);
    for (uint32_t i = 0; i < c->conditions.len; i++) {
        buf_puts(out, " if ");
        print(c->conditions.at[i], LEVEL_OR, out);
    }
    buf_putc(out, c->is_list ? ']' : ')');
}

static void print_dict(const AstDict *d, Buf *out)
{
    buf_putc(out, '{');
    for (uint32_t i = 0; i < d->keys.len; i++) {
        if (i)
            buf_puts(out, ", ");
        print(d->keys.at[i], LEVEL_TERNARY, out);
        buf_puts(out, ": ");
        print(d->values.at[i], LEVEL_TERNARY, out);
    }
    buf_putc(out, '}');
}

static void print_tuple(AstNodes items, Buf *out)
{
    buf_putc(out, '(');
    print_list(items, out);
    buf_puts(out, items.len == 1 ? ",)" : ")");
}

static void print_lambda(const AstLambda *l, Buf *out)
{
    buf_puts(out, l->params.len ? "lambda " : "lambda");
    print_list(l->params, out);
    buf_puts(out, ": ");
    print(l->body, LEVEL_LAMBDA, out);
}

static void print_float(const AstFloat *f, Buf *out)
{
    if (f->text.at)
        buf_bytes(out, f->text.at, f->text.len);
    else
        buf_double(out, f->value);
}

static void print_unary(const AstUnary *u, Buf *out)
{
    buf_printf(out, u->op == AST_NOT ? "%s " : "%s", ast_unary_text[u->op]);
    print(u->operand, u->op == AST_NOT ? LEVEL_NOT : LEVEL_UNARY, out);
}

static void print_subscript(const AstSubscript *s, Buf *out)
{
    print(s->object, LEVEL_PRIMARY, out);
    buf_putc(out, '[');
    print_list(s->indices, out);
    buf_puts(out, s->is_tuple && s->indices.len == 1 ? ",]" : "]");
}

/// `n` in parentheses when it holds together less than `level`.
static void print(const AstNode *n, int level, Buf *out)
{
    bool parens = level_of(n) < level;
    if (parens)
        buf_putc(out, '(');
    switch (n->kind) {
    case AST_NAME: buf_puts(out, ast_name(n)->name->text); break;
    case AST_INT: buf_bytes(out, ast_int(n)->text.at, ast_int(n)->text.len); break;
    case AST_FLOAT: print_float(ast_float(n), out); break;
    case AST_STRING: print_text(ast_string(n)->value, out); break;
    case AST_FSTRING:
        buf_puts(out, "f\"");
        print_fstring(ast_fstring(n)->parts, out);
        buf_putc(out, '"');
        break;
    case AST_BOOL: buf_puts(out, ast_bool(n)->value ? "True" : "False"); break;
    case AST_NONE: buf_puts(out, "None"); break;
    case AST_ELLIPSIS: buf_puts(out, "..."); break;
    case AST_TUPLE: print_tuple(ast_tuple(n)->items, out); break;
    case AST_LIST:
        buf_putc(out, '[');
        print_list(ast_list(n)->items, out);
        buf_putc(out, ']');
        break;
    case AST_DICT: print_dict(ast_dict(n), out); break;
    case AST_COMPREHENSION: print_comprehension(ast_comprehension(n), out); break;
    case AST_ATTRIBUTE:
        print(ast_attribute(n)->object, LEVEL_PRIMARY, out);
        buf_printf(out, ".%s", ast_attribute(n)->name->text);
        break;
    case AST_CALL: print_call(ast_call(n), out); break;
    case AST_SUBSCRIPT: print_subscript(ast_subscript(n), out); break;
    case AST_SLICE: print_slice(ast_slice(n), out); break;
    case AST_UNARY: print_unary(ast_unary(n), out); break;
    case AST_BINARY: print_binary(ast_binary(n), out); break;
    case AST_COMPARE: print_compare(ast_compare(n), out); break;
    case AST_LOGIC: print_logic(ast_logic(n), out); break;
    case AST_TERNARY: print_ternary(ast_ternary(n), out); break;
    case AST_LAMBDA: print_lambda(ast_lambda(n), out); break;
    case AST_STARRED:
        buf_putc(out, '*');
        if (ast_starred(n)->value)
            print(ast_starred(n)->value, LEVEL_BIT_OR, out);
        break;
    case AST_PARAM: print_param(ast_param(n), out); break;
    case AST_KEYWORD:
        buf_printf(out, "%s=", ast_keyword(n)->name ? ast_keyword(n)->name->text : "");
        print(ast_keyword(n)->value, LEVEL_LAMBDA, out);
        break;
    default: buf_puts(out, "..."); break;  // AST_ERROR, and parts that stand nowhere by themselves
    }
    if (parens)
        buf_putc(out, ')');
}

// ---- lines ----------------------------------------------------------------------------------

/// Where a piece of a long line goes.
typedef struct Wrap {
    unsigned indent;
    bool in_brackets;  ///< a line may end anywhere
} Wrap;

static void wrap(const AstNode *n, int level, Wrap w, size_t column, Buf *out);

/// The column that the next character goes to.
static size_t column_of(const Buf *out)
{
    size_t at = out->len;
    while (at && out->at[at - 1] != '\n')
        at--;
    return out->len - at;
}

/// f(...) with each argument on lines of its own; the object of a method before it.
static void wrap_call(const AstCall *c, Wrap w, Buf *out)
{
    const AstNode *object =
        c->callee->kind == AST_ATTRIBUTE ? ast_attribute(c->callee)->object : NULL;
    uint32_t total = c->args.len + c->keywords.len;
    if (object && object->kind == AST_CALL) {
        wrap(object, LEVEL_PRIMARY, w, LINE_WIDTH, out);
        buf_printf(out, ".%s", ast_attribute(c->callee)->name->text);
    } else {
        print(c->callee, LEVEL_PRIMARY, out);
    }
    if (object && object->kind == AST_CALL && total < 2) {
        buf_putc(out, '(');
        print_list(c->args, out);
        print_list(c->keywords, out);
        buf_putc(out, ')');
        return;
    }
    buf_puts(out, "(\n");
    for (uint32_t i = 0; i < total; i++) {
        const AstNode *item = i < c->args.len ? c->args.at[i] : c->keywords.at[i - c->args.len];
        const Wrap inside = { w.indent + 1, true };
        buf_printf(out, "%*s", (int)(4 * inside.indent), "");
        wrap(item, LEVEL_LAMBDA, inside, 4 * inside.indent + 1, out);
        buf_puts(out, ",\n");
    }
    buf_printf(out, "%*s)", (int)(4 * w.indent), "");
}

/// A line ends in front of the operator.
static void wrap_binary(const AstBinary *b, Wrap w, Buf *out)
{
    int level = level_of_binary(b->op);
    wrap(b->lhs, level, w, column_of(out), out);
    buf_printf(out, "\n%*s%s ", (int)(4 * w.indent), "", ast_binary_text[b->op]);
    wrap(b->rhs, level + 1, w, column_of(out), out);
}

/// `n` behind `column` characters of its line, over several lines when it is a call or an operator
/// and too long.
static void wrap(const AstNode *n, int level, Wrap w, size_t column, Buf *out)
{
    Buf flat = { 0 };
    print(n, level, &flat);
    const AstNode *inner = n->kind == AST_KEYWORD ? ast_keyword(n)->value : n;
    bool call =
        inner->kind == AST_CALL && ast_call(inner)->args.len + ast_call(inner)->keywords.len > 0;
    bool binary =
        inner->kind == AST_BINARY && ast_binary(inner)->op != AST_POW && level_of(inner) >= level;
    if (column + flat.len <= LINE_WIDTH || (!call && !binary)) {
        buf_bytes(out, flat.at, flat.len);
        buf_free(&flat);
        return;
    }
    buf_free(&flat);
    if (n->kind == AST_KEYWORD)
        buf_printf(out, "%s=", ast_keyword(n)->name->text);
    if (call) {
        wrap_call(ast_call(inner), w, out);
    } else if (w.in_brackets) {
        wrap_binary(ast_binary(inner), w, out);
    } else {
        const Wrap inside = { w.indent + 1, true };
        buf_printf(out, "(\n%*s", (int)(4 * inside.indent), "");
        wrap_binary(ast_binary(inner), inside, out);
        buf_printf(out, "\n%*s)", (int)(4 * w.indent), "");
    }
}

/// `head` and then an expression on one line, or several.
static void line(const char *head, const AstNode *n, const char *tail, Buf *out)
{
    buf_printf(out, "%*s%s", (int)(4 * out->indent), "", head);
    if (n)
        wrap(n, LEVEL_LAMBDA, (Wrap){ .indent = out->indent },
             (size_t)4 * out->indent + strlen(head) + strlen(tail), out);
    buf_printf(out, "%s\n", tail);
}

static void statement(const AstNode *n, Buf *out);

static void block(AstNodes body, Buf *out)
{
    out->indent++;
    for (uint32_t i = 0; i < body.len; i++)
        statement(body.at[i], out);
    if (!body.len)
        buf_line(out, "pass");
    out->indent--;
}

static void print_if(const AstIf *n, const char *word, Buf *out)
{
    line(word, n->cond, ":", out);
    block(n->body, out);
    if (n->orelse.len == 1 && n->orelse.at[0]->kind == AST_IF) {
        print_if(ast_if(n->orelse.at[0]), "elif ", out);
    } else if (n->orelse.len) {
        buf_line(out, "else:");
        block(n->orelse, out);
    }
}

static void print_else(AstNodes orelse, Buf *out)
{
    if (!orelse.len)
        return;
    buf_line(out, "else:");
    block(orelse, out);
}

/// A tuple of loop or assignment targets needs no parentheses.
static void print_target(const AstNode *n, Buf *out)
{
    if (n->kind == AST_TUPLE && ast_tuple(n)->items.len > 1)
        print_list(ast_tuple(n)->items, out);
    else
        print(n, LEVEL_LAMBDA, out);
}

static void print_assign(const AstNode *n, Buf *out)
{
    Buf head = { 0 };
    const AstNode *value = NULL;
    if (n->kind == AST_ASSIGN) {
        AstNodes targets = ast_assign(n)->targets;
        for (uint32_t i = 0; i < targets.len; i++) {
            print_target(targets.at[i], &head);
            buf_puts(&head, " = ");
        }
        value = ast_assign(n)->value;
    } else if (n->kind == AST_AUG_ASSIGN) {
        print(ast_aug_assign(n)->target, LEVEL_LAMBDA, &head);
        buf_printf(&head, " %s= ", ast_binary_text[ast_aug_assign(n)->op]);
        value = ast_aug_assign(n)->value;
    } else {
        print(ast_ann_assign(n)->target, LEVEL_LAMBDA, &head);
        buf_puts(&head, ": ");
        print(ast_ann_assign(n)->annotation, LEVEL_LAMBDA, &head);
        value = ast_ann_assign(n)->value;
        if (value)
            buf_puts(&head, " = ");
    }
    line(head.at ? head.at : "", value, "", out);
    buf_free(&head);
}

static void print_for(const AstFor *n, Buf *out)
{
    Buf head = { 0 };
    buf_puts(&head, "for ");
    print_target(n->target, &head);
    buf_puts(&head, " in ");
    line(head.at, n->iter, ":", out);
    buf_free(&head);
    block(n->body, out);
    print_else(n->orelse, out);
}

/// Parameters on lines of at most LINE_WIDTH, under the first one.
static void print_params(AstNodes params, size_t column, Buf *out)
{
    size_t at = column;
    Buf item = { 0 };
    for (uint32_t i = 0; i < params.len; i++) {
        bool last = i + 1 == params.len;
        buf_clear(&item);
        print(params.at[i], LEVEL_LAMBDA, &item);
        size_t width = item.len + (last ? 2 : 1);
        if (i && at + 1 + width > LINE_WIDTH) {
            buf_printf(out, "\n%*s", (int)column, "");
            at = column;
        } else if (i) {
            buf_putc(out, ' ');
            at++;
        }
        buf_printf(out, "%s%s", item.at, last ? "" : ",");
        at += width;
    }
    buf_free(&item);
}

static void print_function(const AstFunction *f, Buf *out)
{
    for (uint32_t i = 0; i < f->decorators.len; i++)
        line("@", f->decorators.at[i], "", out);
    buf_printf(out, "def %s(", f->name->text);
    print_params(f->params, 5 + strlen(f->name->text), out);
    buf_puts(out, "):\n");
    if (f->doc.at && f->doc.len && !memchr(f->doc.at, '\\', f->doc.len) &&
        !strstr(f->doc.at, "\"\"\""))
        buf_printf(out, "    \"\"\"%s\"\"\"\n", f->doc.at);
    block(f->body, out);
}

static void print_assert(const AstAssert *n, Buf *out)
{
    Buf tail = { 0 };
    if (n->message) {
        buf_puts(&tail, ", ");
        print(n->message, LEVEL_LAMBDA, &tail);
    }
    line("assert ", n->cond, tail.at ? tail.at : "", out);
    buf_free(&tail);
}

static void statement(const AstNode *n, Buf *out)
{
    switch (n->kind) {
    case AST_FUNCTION: print_function(ast_function(n), out); break;
    case AST_ASSIGN:
    case AST_AUG_ASSIGN:
    case AST_ANN_ASSIGN: print_assign(n, out); break;
    case AST_IF: print_if(ast_if(n), "if ", out); break;
    case AST_FOR: print_for(ast_for(n), out); break;
    case AST_WHILE:
        line("while ", ast_while(n)->cond, ":", out);
        block(ast_while(n)->body, out);
        print_else(ast_while(n)->orelse, out);
        break;
    case AST_RETURN:
        line(ast_return(n)->value ? "return " : "return", ast_return(n)->value, "", out);
        break;
    case AST_BREAK: buf_line(out, "break"); break;
    case AST_CONTINUE: buf_line(out, "continue"); break;
    case AST_ASSERT: print_assert(ast_assert(n), out); break;
    case AST_EXPR_STMT: line("", ast_expr(n)->value, "", out); break;
    default: buf_line(out, "pass"); break;
    }
}

void ast_source(const AstNode *n, Buf *out)
{
    if (ast_kind_info[n->kind].node_class == AST_CLASS_STMT)
        statement(n, out);
    else
        print(n, LEVEL_LAMBDA, out);
}
