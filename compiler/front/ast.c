/// ast.c - construction, walking and dumping of syntax trees; all of it made from lang/ast.def.
///
/// The recursion here is bounded: the parser refuses trees nested deeper than PARSE_MAX_DEPTH.
#include "front/ast.h"
#include <inttypes.h>
#include <string.h>

const AstKindInfo ast_kind_info[AST_KIND_COUNT] = {
#define NODE(KIND, Struct, name, class, fields) \
    [AST_##KIND] = { #name, AST_CLASS_##class, sizeof(Ast##Struct) },
#include "ast.def"
};

const char *const ast_unary_text[AST_UNARY_OP_COUNT] = {
#define UNARY_OP(ID, text) [AST_##ID] = text,
#include "ast.def"
};

const char *const ast_binary_text[AST_BINARY_OP_COUNT] = {
#define BINARY_OP(ID, text) [AST_##ID] = text,
#include "ast.def"
};

const char *const ast_compare_text[AST_COMPARE_OP_COUNT] = {
#define COMPARE_OP(ID, text) [AST_##ID] = text,
#include "ast.def"
};

static uint16_t deeper(uint16_t depth, const AstNode *child)
{
    return child && child->depth > depth ? child->depth : depth;
}

// clang-format off
static uint16_t ast_child_depth(const AstNode *n)
{
    uint16_t depth = 0;

    switch ((AstKind)n->kind) {
#define V(T, name)
#define C(name) depth = deeper(depth, self->name);
#define L(name) for (uint32_t i = 0; i < self->name.len; i++) depth = deeper(depth, self->name.at[i]);
#define B(name) L(name)
#define NODE(KIND, Struct, name, class, fields) \
    case AST_##KIND: { const Ast##Struct *self = (const Ast##Struct *)n; (void)self; fields break; }
#include "ast.def"
#undef V
#undef C
#undef L
#undef B
    case AST_KIND_COUNT: break;
    }
    return depth;
}
// clang-format on

AstNode *ast_make(Arena *a, AstKind kind, Span span, const void *model)
{
    AstNode *n = arena_alloc(a, ast_kind_info[kind].size, _Alignof(max_align_t));

    memcpy(n, model, ast_kind_info[kind].size);
    n->kind = (uint8_t)kind;
    n->span = span;
    n->depth = ast_child_depth(n) + 1;
    return n;
}

// clang-format off
void ast_walk(const AstNode *n, const AstVisitor *v)
{
    if (!n || !v->enter(n, v->ctx))
        return;
    switch ((AstKind)n->kind) {
#define V(T, name)
#define C(name) ast_walk(self->name, v);
#define L(name) for (uint32_t i = 0; i < self->name.len; i++) ast_walk(self->name.at[i], v);
#define B(name) L(name)
#define NODE(KIND, Struct, name, class, fields) \
    case AST_##KIND: { const Ast##Struct *self = (const Ast##Struct *)n; (void)self; fields break; }
#include "ast.def"
#undef V
#undef C
#undef L
#undef B
    case AST_KIND_COUNT: break;
    }
    if (v->leave)
        v->leave(n, v->ctx);
}
// clang-format on

static void dump_expr(const AstNode *n, Buf *out);

static void dump_value_Sym(Sym s, Buf *out)
{
    buf_printf(out, " %s", s ? s->text : "-");
}

static void dump_value_AstText(AstText t, Buf *out)
{
    if (!t.at)
        return;  // an absent docstring or debug text is left out
    buf_putc(out, ' ');
    buf_c_string(out, t.at, t.len);
}

static void dump_value_AstFlag(AstFlag on, Buf *out)
{
    buf_puts(out, on ? " yes" : " no");
}

static void dump_value_AstCount(AstCount n, Buf *out)
{
    buf_printf(out, " %" PRIu32, n);
}

static void dump_value_AstCount64(AstCount64 n, Buf *out)
{
    buf_printf(out, " %" PRIu64, n);
}

static void dump_value_AstDouble(AstDouble v, Buf *out)
{
    buf_putc(out, ' ');
    buf_double(out, v);
}

static void dump_value_AstConversion(AstConversion c, Buf *out)
{
    if (c)
        buf_printf(out, " !%c", c);
}

static void dump_value_AstUnaryOp(AstUnaryOp op, Buf *out)
{
    buf_printf(out, " %s", ast_unary_text[op]);
}

static void dump_value_AstBinaryOp(AstBinaryOp op, Buf *out)
{
    buf_printf(out, " %s", ast_binary_text[op]);
}

static void dump_value_AstLogicOp(AstLogicOp op, Buf *out)
{
    buf_puts(out, op == AST_AND ? " and" : " or");
}

static void dump_value_AstCompareOps(AstCompareOps ops, Buf *out)
{
    for (uint32_t i = 0; i < ops.len; i++)
        buf_printf(out, "%s%s", i ? ", " : " ", ast_compare_text[ops.at[i]]);
}

static void dump_value_Span(Span s, Buf *out)
{
    (void)s, (void)out;  // places are not part of the dump: edits above would change it
}

static void dump_value_AstIds(AstIds n, Buf *out)
{
    (void)n, (void)out;  // nor are the ids
}

static void dump_value_AstFile(AstFile f, Buf *out)
{
    (void)f, (void)out;  // nor is the path
}

static void dump_child(const AstNode *n, Buf *out)
{
    buf_putc(out, ' ');
    if (n)
        dump_expr(n, out);
    else
        buf_putc(out, '-');
}

static void dump_list(AstNodes list, Buf *out)
{
    buf_puts(out, " [");
    for (uint32_t i = 0; i < list.len; i++) {
        if (i)
            buf_putc(out, ' ');
        dump_expr(list.at[i], out);
    }
    buf_putc(out, ']');
}

// clang-format off
/// The fields of `n` but for its blocks, each with a space before it.
static void dump_fields(const AstNode *n, Buf *out)
{
    switch ((AstKind)n->kind) {
#define V(T, name) dump_value_##T(self->name, out);
#define C(name) dump_child(self->name, out);
#define L(name) dump_list(self->name, out);
#define B(name)
#define NODE(KIND, Struct, name, class, fields) \
    case AST_##KIND: { const Ast##Struct *self = (const Ast##Struct *)n; (void)self; fields break; }
#include "ast.def"
#undef V
#undef C
#undef L
#undef B
    case AST_KIND_COUNT: break;
    }
}

static void dump_stmt(const AstNode *n, Buf *out);

static void dump_block(const char *name, AstNodes block, Buf *out)
{
    if (block.len == 0)
        return;
    out->indent++;
    buf_line(out, "%s:", name);
    out->indent++;
    for (uint32_t i = 0; i < block.len; i++)
        dump_stmt(block.at[i], out);
    out->indent -= 2;
}

static void dump_blocks(const AstNode *n, Buf *out)
{
    switch ((AstKind)n->kind) {
#define V(T, name)
#define C(name)
#define L(name)
#define B(name) dump_block(#name, self->name, out);
#define NODE(KIND, Struct, name, class, fields) \
    case AST_##KIND: { const Ast##Struct *self = (const Ast##Struct *)n; (void)self; fields break; }
#include "ast.def"
#undef V
#undef C
#undef L
#undef B
    case AST_KIND_COUNT: break;
    }
}
// clang-format on

/// Literals and names stand for themselves; everything else is in parentheses after its kind.
static void dump_expr(const AstNode *n, Buf *out)
{
    switch (n->kind) {
    case AST_NAME: buf_puts(out, ast_name(n)->name->text); return;
    case AST_INT: buf_puts(out, ast_int(n)->text.at); return;
    case AST_FLOAT: buf_double(out, ast_float(n)->value); return;
    case AST_BOOL: buf_puts(out, ast_bool(n)->value ? "True" : "False"); return;
    case AST_NONE: buf_puts(out, "None"); return;
    case AST_ELLIPSIS: buf_puts(out, "..."); return;
    case AST_STRING:
        if (ast_string(n)->is_bytes)
            buf_putc(out, 'b');
        buf_c_string(out, ast_string(n)->value.at, ast_string(n)->value.len);
        return;
    default:
        buf_printf(out, "(%s", ast_kind_info[n->kind].name);
        dump_fields(n, out);
        buf_putc(out, ')');
    }
}

static void dump_stmt(const AstNode *n, Buf *out)
{
    Buf line = { 0 };

    dump_fields(n, &line);
    buf_line(out, "%s%s", ast_kind_info[n->kind].name, line.at ? line.at : "");
    buf_free(&line);
    dump_blocks(n, out);
}

void ast_dump(const AstNode *n, Buf *out)
{
    if (n->kind == AST_MODULE || ast_kind_info[n->kind].node_class == AST_CLASS_STMT)
        dump_stmt(n, out);
    else
        dump_expr(n, out);
}

const char *ast_dotted_name(Arena *a, const AstNode *n)
{
    if (n->kind == AST_NAME)
        return ast_name(n)->name->text;
    if (n->kind != AST_ATTRIBUTE)
        return NULL;

    const char *object = ast_dotted_name(a, ast_attribute(n)->object);
    return object ? arena_printf(a, "%s.%s", object, ast_attribute(n)->name->text) : NULL;
}
