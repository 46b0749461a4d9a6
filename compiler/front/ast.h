/// ast.h - the syntax tree of a .newt file: a tagged struct per node kind, made from lang/ast.def.
///
/// Nodes live in the arena given to parse_file and are not changed after parsing; what later
/// stages learn about a node they keep in tables indexed by its `id`. Every node has the span of
/// its source text. Switch on `kind`, then use the checked cast of the kind: `ast_binary(n)->lhs`.
/// AST_ERROR stands wherever a fault was reported, and absorbs: check nothing below or around it.
#ifndef NEWT_FRONT_AST_H
#define NEWT_FRONT_AST_H
#include "support/buf.h"
#include "support/source.h"
#include <assert.h>
#include <stdbool.h>

typedef enum AstKind {
#define NODE(KIND, Struct, name, class, fields) AST_##KIND,
#include "ast.def"
    AST_KIND_COUNT
} AstKind;

typedef enum AstUnaryOp {
#define UNARY_OP(ID, text) AST_##ID,
#include "ast.def"
    AST_UNARY_OP_COUNT
} AstUnaryOp;

typedef enum AstBinaryOp {
#define BINARY_OP(ID, text) AST_##ID,
#include "ast.def"
    AST_BINARY_OP_COUNT
} AstBinaryOp;

typedef enum AstCompareOp {
#define COMPARE_OP(ID, text) AST_##ID,
#include "ast.def"
    AST_COMPARE_OP_COUNT
} AstCompareOp;

typedef enum { AST_AND, AST_OR } AstLogicOp;
typedef enum { AST_CLASS_EXPR, AST_CLASS_STMT, AST_CLASS_PART } AstClass;

enum { AST_FLAG_PARENS = 1 };  ///< the expression stood in parentheses of its own

typedef struct AstNode {
    uint8_t kind, flags;
    uint16_t depth;  ///< 1 + that of the deepest child
    uint32_t id;     ///< 1 to the module's node_count; 0 in nodes that a rewrite made
    Span span;
} AstNode;

typedef struct {
    AstNode **at;
    uint32_t len;
} AstNodes;

/// n operands have n - 1 operators: `a < b <= c` is one AST_COMPARE with ops { LT, LE }.
typedef struct {
    AstCompareOp *at;
    uint32_t len;
} AstCompareOps;

/// Bytes with a NUL after them; at == NULL means absent (an empty string has at != NULL).
typedef Str AstText;
typedef bool AstFlag;
typedef uint32_t AstCount;
typedef uint32_t AstIds;  ///< how many ids are in use; not part of the dump
typedef uint64_t AstCount64;
typedef double AstDouble;
typedef char AstConversion;  ///< 'r', 's', 'a' of `{x!r}`, or 0
typedef const SourceFile *AstFile;

// Notes on single kinds:
//   MODULE, FUNCTION  a leading string statement is moved out of `body` into `doc`
//   IF                `elif` is an AST_IF alone in `orelse`
//   FOR, ASSIGN       a target is NAME, ATTRIBUTE, SUBSCRIPT, or TUPLE/LIST of targets
//   ASSIGN            `a = b = e` has two targets
//   IMPORT_FROM       `level` counts leading dots; `from m import *` has the one alias "*"
//   INT               value is modulo 2**64; overflow: it does not fit, use `text` (no '_' in it)
//   STRING            adjacent literals are joined, escapes decoded to UTF-8
//   FSTRING           parts are STRING or FIELD; a FIELD's `spec` is NULL or again an FSTRING
//   CALL              args may hold STARRED; keywords are AST_KEYWORD
//   SUBSCRIPT         `x[i]` has one index; `x[i, j]` has several and is_tuple, `x[i,]` one
//   LOGIC             two or more operands: `a and b and c` is one node
#define V(T, name) T name;
#define C(name)    AstNode *name;
#define L(name)    AstNodes name;
#define B(name)    AstNodes name;
#define NODE(KIND, Struct, name, class, fields) \
    typedef struct Ast##Struct {                \
        AstNode base;                           \
        fields                                  \
    } Ast##Struct;
#include "ast.def"
#undef V
#undef C
#undef L
#undef B

// ast_binary(n) and so on: the node as its own struct; `n` must be of that kind.
#define NODE(KIND, Struct, name, class, fields)                   \
    static inline const Ast##Struct *ast_##name(const AstNode *n) \
    {                                                             \
        assert(n->kind == AST_##KIND);                            \
        return (const Ast##Struct *)n;                            \
    }
#include "ast.def"

typedef struct AstKindInfo {
    const char *name;
    AstClass node_class;
    uint32_t size;
} AstKindInfo;
extern const AstKindInfo ast_kind_info[AST_KIND_COUNT];

/// The operators as written: "+", "not", "//", "is not".
extern const char *const ast_unary_text[AST_UNARY_OP_COUNT];
extern const char *const ast_binary_text[AST_BINARY_OP_COUNT];
extern const char *const ast_compare_text[AST_COMPARE_OP_COUNT];

/// A copy of `model` (an Ast<Struct> of the size of `kind`) in the arena, with kind and span set.
AstNode *ast_make(Arena *a, AstKind kind, Span span, const void *model);

/// AST_MAKE(a, BINARY, Binary, span, .op = AST_ADD, .lhs = x, .rhs = y). Give at least one field.
#define AST_MAKE(a, KIND, Struct, span, ...) \
    ast_make((a), AST_##KIND, (span), &(const Ast##Struct){ __VA_ARGS__ })

typedef struct AstVisitor {
    bool (*enter)(const AstNode *n, void *ctx);  ///< false: leave out the children
    void (*leave)(const AstNode *n, void *ctx);  ///< or NULL; only after a true enter
    void *ctx;
} AstVisitor;

/// Visits `n` (NULL is fine) and all below it in source order.
void ast_walk(const AstNode *n, const AstVisitor *v);

/// Prints a stable text form. An expression becomes one line without its newline,
/// `(binary + a (call f [1] []))`; a statement or module becomes lines, blocks indented.
void ast_dump(const AstNode *n, Buf *out);

/// `a.b.c` as text when `n` is a name or attributes of a name, else NULL.
const char *ast_dotted_name(Arena *a, const AstNode *n);

#endif
