/// ast_source.h - a syntax tree back as text.
#ifndef NEWT_FRONT_AST_SOURCE_H
#define NEWT_FRONT_AST_SOURCE_H
#include "front/ast.h"

/// Prints an expression without a newline, or a statement (a function with its decorators) as
/// lines at the buffer's indentation. parse_file reads the text back to the same tree, but for
/// docstrings that hold a backslash or three quotes, which are left out. Imports print as `pass`.
void ast_source(const AstNode *n, Buf *out);

#endif
