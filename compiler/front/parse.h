/// parse.h - text to syntax tree: the one entry point of the front end.
#ifndef NEWT_FRONT_PARSE_H
#define NEWT_FRONT_PARSE_H
#include "front/ast.h"
#include "support/diag.h"

/// Expressions nest at most this deep, so that later stages may recurse over the tree.
enum { PARSE_MAX_DEPTH = 1000 };

/// Parses `file`, a file of `sources`. Always returns a module: faults are reported to `diags`,
/// and AST_ERROR nodes stand where they were. Reports everything a Python compiler would refuse
/// in the text itself (syntax, `break` outside a loop, two parameters of one name) and Python
/// that is not newt (`try`, `lambda` in a function body). Names and types are not looked at.
AstModule *parse_file(Arena *a, SymTable *syms, const SourceMap *sources, const SourceFile *file,
                      DiagSink *diags);

#endif
