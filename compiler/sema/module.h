/// module.h - the program as resolve leaves it: modules, functions, parameters, constants.
///
/// Resolve runs once per file: it loads imports, binds every module-level name, recognises
/// decorators, splits parameters, and reports names that nothing defines, wherever they stand. It
/// evaluates nothing: expressions of decorators, defaults, annotations and constants stay AST, and
/// lower/ evaluates them (lower_const_expr) when a variant needs them.
#ifndef NEWT_SEMA_MODULE_H
#define NEWT_SEMA_MODULE_H
#include "front/ast.h"
#include "sema/builtin.h"
#include "sema/constval.h"

typedef struct Module Module;
typedef struct Function Function;

enum { MODULE_TENSOR_RANK = 5 };  ///< axes of a tensor that C passes
/// The smallest block over whole rows of a tile kernel, and the warps that share it.
enum { MODULE_ROW_BLOCK = 1024, MODULE_ROW_WARPS = 2 };

/// What a parameter is of a tensor that C passes: a tile kernel became the kernel, or the tensor is
/// a descriptor.
typedef enum { PARAM_PLAIN, PARAM_DATA, PARAM_SIZE, PARAM_STRIDE } ParamRole;

typedef struct Param {
    Sym name;
    const AstNode *annotation;     ///< NULL: none; resolve has stripped nothing
    const AstNode *default_value;  ///< NULL: none
    bool is_constexpr;             ///< annotated nl.constexpr
    Span span;
    ParamRole role;
    uint8_t tensor, axis;  ///< DATA, SIZE, STRIDE: of the function's tensor, and its axis
    bool is_dense;         ///< STRIDE: 1 where elements lie side by side, so variants assume it;
                           ///< SIZE: that of an axis along which they do
    bool is_hidden;        ///< no name of the program: part of a descriptor
    uint32_t covers;       ///< a block over all of a size: 1 + the parameter with the size; else 0
    int64_t beside;        ///< ... and how many elements its blocks have across, by default
    bool is_loop;  ///< 1: blocks over all of a size go along it in a loop; 0: they must hold it
} Param;

/// A tensor that C passes by value: of a tile kernel, or a parameter desc[T, ...].
typedef struct TensorParam {
    Sym name;
    unsigned rank;
    Sym sizes[MODULE_TENSOR_RANK];      ///< sizes of one name are equal; NULL: no name
    int64_t fixed[MODULE_TENSOR_RANK];  ///< the size that the annotation gives, or -1
    Sym constants[MODULE_TENSOR_RANK];  ///< the constexpr parameter that gives it, or NULL
    int64_t dense_axis;                 ///< layout "row" or "col": its stride is 1; else -1
    uint32_t data;                      ///< the parameter with its address
    const AstSubscript *desc;           ///< its annotation desc[T, ...]; NULL: of a tile kernel
    Span span;
} TensorParam;

/// Two sizes that a launch compares: the first one is at most the second, or they are equal.
typedef struct SizeRule {
    uint8_t tensor[2], axis[2];
    bool equal;
} SizeRule;

/// A parameter of the C function.
typedef struct CallParam {
    bool is_tensor;
    uint32_t index;  ///< among the tensors, or the parameters
} CallParam;

/// A constexpr parameter whose value a tuner may choose.
typedef enum { TUNE_POWER, TUNE_INT, TUNE_CHOICE } TunableKind;
typedef struct Tunable {
    Sym name;
    TunableKind kind;
    int64_t lo, hi;         ///< POWER: powers of two from lo to hi; INT: all integers
    const int64_t *values;  ///< CHOICE
    uint32_t value_count;
    int64_t start;  ///< the parameter's default
} Tunable;

typedef enum { FUNC_JIT, FUNC_KERNEL, FUNC_TILE, FUNC_CONSTEXPR } FuncKind;

struct Function {
    Sym name;
    FuncKind kind;
    const AstFunction *def;
    Module *module;
    Param *params;
    uint32_t param_count;
    /* decorator arguments, NULL when absent */
    const AstNode *grid, *num_warps, *num_stages, *num_ctas, *export_name, *alias;
    VEC(const AstCall *) instances;  ///< @newt.instance(...), in source order
    VEC(const AstCall *) examples;   ///< @newt.example(...)
    const AstCall *autotune, *heuristics;
    const char *doc;  ///< docstring without its indentation, or NULL
    /* of a kernel with descriptors, or one that a tile kernel became (compiler/tile) */
    VEC(TensorParam) tensors;
    VEC(SizeRule) size_rules;
    VEC(CallParam) call_params;  ///< of the C function; empty: the run-time parameters
    VEC(Tunable) tunables;
    bool has_product;  ///< of a tile kernel: it has matrix products
    const AstFunction *shown[2];  ///< what `newtc -E` prints where the is_loop parameter is 0, and 1;
                                  ///< NULL: `def`
};

typedef enum {
    DECL_FUNCTION,   ///< `value` is CONST_FUNC
    DECL_CONSTANT,   ///< `x = e` at module level; evaluated when first asked for
    DECL_NAMESPACE,  ///< an import; `value` is CONST_NAMESPACE
    DECL_BUILTIN     ///< `from newt.language import exp`; `value` as builtin_find gives it
} DeclKind;

typedef struct Decl {
    Sym name;
    DeclKind kind;
    Span span;
    Module *module;             ///< the module that defines it (not the one that imports it)
    const AstNode *expr;        ///< CONSTANT: its expression
    const AstNode *annotation;  ///< CONSTANT: or NULL
    ConstVal value;             ///< CONSTANT: after lower_const_decl; the others from the beginning
    enum {
        DECL_UNTOUCHED,
        DECL_RUNNING,
        DECL_READY
    } state;  ///< RUNNING met again is a cycle of constants
} Decl;

struct Module {
    const char *path;
    Sym name;
    const AstModule *ast;
    Namespace space;          ///< what `import` of it binds
    VEC(Decl *) decls;        ///< in source order; imported ones are the very Decls of their module
    VEC(Sym) names;           ///< names[i] is what decls[i] is called here (`import ... as`)
    struct ModuleMap *index;  ///< name -> position in decls
    VEC(Function *) functions;  ///< defined here
    bool loading;               ///< its imports are being read: an import of it now is a cycle
};

typedef struct Program {
    Arena *arena;
    SymTable *syms;
    TypeTable *types;
    BuiltinTable *builtins;  ///< made by resolve_program when NULL
    SourceMap *sources;
    DiagSink *diags;
    VEC(Module *) modules;  ///< the compiled file first, then imports in the order met
    const char *const *import_dirs;
    uint32_t import_dir_count;
    bool no_stdlib;
} Program;

/// Parses and resolves `file` and what it imports. NULL never; errors are in p->diags.
Module *resolve_program(Program *p, const SourceFile *file);
/// The declaration of a module-level name in `m`, or NULL. Builtins are not looked at.
Decl *module_find(const Module *m, Sym name);

/// What a name means where no local variable hides it.
typedef struct Binding {
    Decl *decl;  ///< a declaration of the program: when its state is not DECL_READY, evaluate it
                 ///< first
    ConstVal
        value;  ///< a builtin's value, or the declaration's when it is ready; CONST_ERROR otherwise
} Binding;

/// What a dotted expression means at module level: NAME, or attributes of modules. False when it is
/// something else, or not defined; nothing is reported.
bool resolve_path(const Program *p, const Module *m, const AstNode *e, Binding *out);

/// Looks `name` up at module level of `m`, then among the builtins. False: nothing defines it.
bool resolve_name(const Program *p, const Module *m, Sym name, Binding *out);
/// The same for `ns.name`.
bool resolve_member(const Program *p, const Namespace *ns, Sym name, Binding *out);
/// Reports `undefined-name` for `name` in `m` (or, with `ns`, as its member) with the nearest name
/// there is.
void resolve_report_undefined(const Program *p, const Module *m, const Namespace *ns, Sym name,
                              Span span);

#endif
