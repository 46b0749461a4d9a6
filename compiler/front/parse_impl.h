/// parse_impl.h - what lang/gram.y and the parse_*.c files share; nobody else includes it.
///
/// The functions here are called from the grammar's actions. Those that check something report it
/// and return an AST_ERROR node.
#ifndef NEWT_FRONT_PARSE_IMPL_H
#define NEWT_FRONT_PARSE_IMPL_H
#include "front/lex.h"
#include "front/parse.h"

typedef struct Parser {
    Arena *arena;
    SymTable *syms;
    const SourceFile *file;
    DiagSink *diags;
    Lexer lexer;
    AstNodes body;  ///< of the module, once it is complete
    uint32_t node_count;
    int token, before;      ///< kinds of the token read last and the one before it
    Sym name, name_before;  ///< their names, if they are names
    bool skip_line;         ///< only the end of this line matters
    bool too_deep;          ///< the nesting limit was reported
} Parser;

typedef struct ParseDots {
    uint32_t count;
} ParseDots;

#define PARSE_NODE(p, KIND, Struct, span, ...) \
    parse_node((p), AST_MAKE((p)->arena, KIND, Struct, (span), __VA_ARGS__))

// parse.c
int parse_next_token(Parser *p, LexValue *value, Span *span);
/// Gives the node its id; an AST_ERROR in its place when it nests too deep.
AstNode *parse_node(Parser *p, AstNode *n);
AstNode *parse_leaf(Parser *p, AstKind kind, Span span);
AstNode *parse_error_node(Parser *p, Span span);
AstText parse_text(Parser *p, Span span);
/// `list` with `n` behind it; the storage is that of `list`, which must not be used again.
AstNodes parse_list_add(Parser *p, AstNodes list, AstNode *n);
AstNodes parse_list_join(Parser *p, AstNodes list, AstNodes more);

// parse_build.c: nodes that take more than a line
AstNode *parse_assign(Parser *p, Span span, AstNodes chain);
AstNode *parse_aug_assign(Parser *p, Span span, AstNode *target, AstBinaryOp op, AstNode *value);
AstNode *parse_ann_assign(Parser *p, Span span, AstNode *target, AstNode *annotation,
                          AstNode *value);
AstNode *parse_for(Parser *p, Span span, AstNode *target, AstNode *iter, AstNodes body,
                   AstNodes orelse);
AstNode *parse_function(Parser *p, Span span, Span name_span, const AstFunction *model);
AstNodes parse_params(Parser *p, AstNodes list);
AstNode *parse_target(Parser *p, AstNode *target);
AstNode *parse_import_from(Parser *p, Span span, uint32_t level, Sym module, AstNodes names);
/// The names with dots between them.
Sym parse_join_dotted(Parser *p, AstNodes names);
/// Moves a leading string statement out of `body`.
AstText parse_take_doc(AstNodes *body);

// parse_expr.c
AstNode *parse_compare(Parser *p, Span span, AstNode *lhs, AstCompareOp op, AstNode *rhs);
AstNode *parse_compare_more(Parser *p, Span span, AstNode *chain, AstCompareOp op, AstNode *rhs);
AstNode *parse_call(Parser *p, Span span, AstNode *callee, AstNodes arguments);
AstNode *parse_keyword(Parser *p, Span span, AstNode *name, AstNode *value);
AstNode *parse_subscript(Parser *p, Span span, AstNode *object, AstNodes indices, bool comma);
AstNode *parse_parens(AstNode *n, Span span);
AstNode *parse_dict(Parser *p, Span span, AstNodes items);
AstNode *parse_comprehension(Span span, AstNode *element, AstNode *clause, bool is_list);
AstNode *parse_strings(Parser *p, Span span, AstNodes pieces);
char parse_conversion(Parser *p, Span span, Sym name);

// parse_error.c: messages
/// False, and nothing is reported, on a line where the lexer reported something.
bool parse_report(Parser *p, DiagId id, Span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void parse_syntax_error(Parser *p, Span at, const int *want, int count);
void parse_too_deep(Parser *p, Span at);
AstNode *parse_foreign(Parser *p, Span at, const char *what);
AstNode *parse_foreign_param(Parser *p, Span span, const char *stars);
AstNode *parse_foreign_argument(Parser *p, Span span);
AstNode *parse_foreign_display(Parser *p, Span span, const char *what);
AstNodes parse_slip_no_block(Parser *p, Span colon);
void parse_slip_no_colon(Parser *p, Span line_end);
void parse_slip_else_if(Parser *p, Span at);
AstNode *parse_slip_equal(Parser *p, Span at, AstNode *lhs, AstNode *rhs);

// parse_check.c: rules over whole functions
void parse_check_module(Parser *p, const AstModule *m);

#endif
