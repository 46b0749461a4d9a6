/// builtin.h - the names that the language brings: functions, methods, dtypes, namespaces.
///
/// lang/builtins.def and the rows of lang/ops.def with a surface name are the source. The table is
/// read once per compile into the arena; rows point at each other by id. A name that is part of
/// the language but not compiled by this version has a row too, and is answered with one
/// `unsupported` diagnostic (builtin_report_unsupported). lower/ has the function of each id.
#ifndef NEWT_SEMA_BUILTIN_H
#define NEWT_SEMA_BUILTIN_H
#include "sema/constval.h"
#include "sema/typerule.h"

// ORDER builtins.def, ops.def: the rows give the numbers; BUILTIN_OP_<ID> - BUILTIN_OP_CONST is the
// IrCode.
typedef enum BuiltinId {
#define BUILTIN(ID, names, spaces, use, signature, later, doc) BUILTIN_##ID,
#include "builtins.def"
#define OP(ID, mnemonic, surface, rule, cls, effects, attr, doc) BUILTIN_OP_##ID,
#include "ops.def"
#undef OP
    BUILTIN_LATER,  ///< all of the LATER rows: functions without a row of their own
    BUILTIN_COUNT
} BuiltinId;

typedef enum BuiltinSpace {
#define SPACE(ID, name) SPACE_##ID,
#include "builtins.def"
    SPACE_COUNT
} BuiltinSpace;

typedef enum {
    USE_FUNCTION,
    USE_METHOD,        ///< also callable as x.name(...) on blocks and scalars
    USE_DTYPE_METHOD,  ///< only dtype.name()
    USE_DESC_METHOD,   ///< only desc.name(...) of a tensor descriptor
    USE_ANNOTATION,
    USE_DECORATOR,
    USE_DTYPE  ///< a dtype that no target has
} BuiltinUse;

typedef struct BuiltinParam {
    Sym name;
    bool has_default;
    bool variadic;  ///< `*name`: BoundArgs holds a VAL_TUPLE of what was left; those after are
                    ///< keyword-only
    ConstVal default_value;
} BuiltinParam;

typedef struct Builtin {
    BuiltinId id;
    Sym name;
    BuiltinUse use;
    BuiltinParam *params;
    uint32_t param_count;
    int op;                   ///< row of ops.def (an IrCode) for elementwise builtins, else -1
    TypeRule rule;            ///< of that row
    const char *unsupported;  ///< NULL: compiled; else what it belongs to ("scans")
    const char *doc;
} Builtin;

/// What CONST_NAMESPACE refers to: a module of the program, or a space of builtins.
typedef struct Namespace {
    const struct Module *module;  ///< NULL: a builtin space
    BuiltinSpace space;
    const char *name;  ///< "newt.language.math"; a module's name
} Namespace;

typedef struct BuiltinTable BuiltinTable;

BuiltinTable *builtin_table_new(Arena *a, SymTable *syms, TypeTable *types);

/// What `name` means in a space: CONST_BUILTIN or CONST_ANNOTATION (ref is the Builtin),
/// CONST_DTYPE, CONST_NAMESPACE (ref is a Namespace), a constant, or CONST_ERROR for none. In
/// SPACE_BARE the names of SPACE_LANG count too, in SPACE_DEUTERON those of SPACE_LANG and SPACE_TOP.
ConstVal builtin_find(const BuiltinTable *t, BuiltinSpace space, Sym name);
/// A space by its path from `import`: "newt.language", "triton.language.extra.cuda.libdevice". Or
/// NULL.
const Namespace *builtin_find_space(const BuiltinTable *t, const char *path);
/// The row of `x.name(...)`: of blocks and scalars (METHOD), dtypes or descriptors. NULL for none.
const Builtin *builtin_find_method(const BuiltinTable *t, Sym name, BuiltinUse use);
/// The row of an id (not LATER; ops.def rows without a surface name give NULL).
const Builtin *builtin_get(const BuiltinTable *t, BuiltinId id);

/// The nearest name in a space, for "did you mean"; NULL when nothing is near.
const char *builtin_suggest(const BuiltinTable *t, BuiltinSpace space, const char *name);
/// The nearest name of such a method.
const char *builtin_suggest_method(const BuiltinTable *t, const char *name, BuiltinUse use);
/// The index of the parameter `name`, or -1.
int builtin_find_param(const Builtin *b, Sym name);
/// The nearest parameter name, or NULL.
const char *builtin_suggest_param(const Builtin *b, const char *name);
/// The default of every parameter, in order (CONST_ERROR: it has none, the empty tuple: variadic).
void builtin_default_args(const Builtin *b, ConstVal *out);

/// "'sort' is not compiled by this version yet (sorting)" with slug unsupported.
void builtin_report_unsupported(DiagSink *d, Span span, const Builtin *b);

#endif
