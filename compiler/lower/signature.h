/// signature.h - Triton's signature language: `*fp32:16, *kfp16, i32, i32:1, 64, 0.5`.
#ifndef NEWT_LOWER_SIGNATURE_H
#define NEWT_LOWER_SIGNATURE_H
#include "lower/lower.h"

/// Applies `text`, one item a parameter of `f`, to bindings that annotations have begun. Reports
/// what does not fit at the kernel's name and returns false.
bool lower_apply_signature(Program *p, const Function *f, const char *text, ParamBinding *params);
/// A literal as on a command line: int, float, True, False, None, a type name, a quoted or bare
/// string.
ConstVal lower_parse_literal(Program *p, const char *at, size_t len);

#endif
