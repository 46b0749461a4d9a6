/// lower.h - one variant of a kernel: AST -> block IR, checking types and shapes on the way.
///
/// One walk does all of it: constexprs are bound and folded with Python semantics, branches on
/// constants are pruned, called functions are inlined, loop-carried variables become explicit.
/// Every expression gives a Val. The files: expr.c, operators.c, stmt.c, loop.c, call.c, function.c
/// (inlining), builtin_*.c (one family of builtins each), value.c (Val to IrValue), consteval.c.
#ifndef NEWT_LOWER_LOWER_H
#define NEWT_LOWER_LOWER_H
#include "ir/ir.h"
#include "sema/builtin.h"
#include "sema/constval.h"
#include "sema/module.h"
#include "sema/rules.h"
#include "sema/variant.h"

typedef enum {
    VAL_ERROR,   ///< a fault was reported; absorbs silently
    VAL_CONST,   ///< known at compile time
    VAL_VALUE,   ///< an IrValue
    VAL_TUPLE,   ///< of Vals (a tuple of constants only is still VAL_TUPLE)
    VAL_VIEW,    ///< a tensor descriptor or block pointer (view.h)
    VAL_METHOD,  ///< `receiver.name` of a block, scalar or view, to be called
    VAL_VOID     ///< result of a call that returns nothing
} ValKind;

typedef struct Val Val;
struct Val {
    ValKind kind;
    ConstVal c;         ///< CONST
    const Type *fixed;  ///< CONST: NULL for a weak literal; the type of the run-time name it was
                        ///< assigned to otherwise (its value is still usable as a constant)
    bool folded;  ///< CONST int that arithmetic on int32 numbers made and that int32 cannot hold
    IrValue *v;   ///< VALUE; METHOD: the receiver when it is a value
    struct {
        Val *at;
        uint32_t len;
    } tuple;                  ///< TUPLE; the run-time parts of a VIEW
    const struct View *view;  ///< VIEW: what is fixed of it
    const Builtin *method;    ///< METHOD
    Val *receiver;            ///< METHOD
};

typedef struct Lower Lower;  ///< state of one lowering; fields in lower_impl.h

/* ---- entry points ---- */
/// The kernel's IR for this variant, or NULL after errors. Verified level 0 (no layouts).
IrFunc *lower_kernel(Program *p, const Variant *variant, Arena *a);

/// The kernel's grid expression as a function of its run-time parameters (same order, integers
/// widened to int64) that returns three int64; NULL when the kernel has no grid= or after errors.
IrFunc *lower_grid(Program *p, const Variant *variant, Arena *a);

/// Marks the parameters of `fn` that `grid`, of the same variant, gives as sizes along axes.
void lower_mark_grid(IrFunc *fn, const IrFunc *grid);

/// The same as lower_grid for an expression that the command line gave.
IrFunc *lower_grid_expr(Program *p, const Variant *variant, const AstNode *e, Arena *a);

/// An integer that the launcher computes from the kernel's parameters, as a function like a grid's:
/// it is the first result, the others are 1. `lambda` names the parameters, or holds them all in
/// its only one, read as args["n"].
IrFunc *lower_launch_value(Program *p, const Variant *variant, const AstLambda *lambda,
                           const AstNode *e, Arena *a);

/// Evaluates an expression at module level (decorator arguments, constants, defaults).
ConstVal lower_const_expr(Program *p, Module *m, const AstNode *e);

/// The value of a module-level constant, evaluated when first asked for. CONST_ERROR after a
/// report.
ConstVal lower_const_decl(Program *p, Decl *d, Span span);

/// The parameter bindings that annotations and defaults give, before instances, -D and signature
/// apply: is_constexpr, type (NULL when unannotated), value (CONST_ERROR when not bound), facts.
bool lower_bind_params(Program *p, const Function *f, ParamBinding *out);

/* ---- for builtins ---- */
/// An argument list bound to a builtin's parameters (in its order). Absent ones hold their default
/// as a weak constant; `given` tells them apart.
typedef struct BoundArgs {
    const Builtin *builtin;
    Val *at;
    Span *spans;
    bool *given;
    uint32_t count;
    Span call;  ///< the whole call
} BoundArgs;

typedef Val BuiltinFn(Lower *cx, const BoundArgs *args);
extern BuiltinFn
    *const lower_builtin_fn[BUILTIN_COUNT];  ///< NULL: elementwise, or not supported yet

IrBuilder *lower_builder(Lower *cx);  ///< its span is kept at the expression being lowered
TypeTable *lower_types(Lower *cx);
DiagSink *lower_diags(Lower *cx);
Arena *lower_arena(Lower *cx);
ConstCx *lower_consts(Lower *cx);

/// Made of other Vals: what carries or merges values goes through `tuple`.
static inline bool val_has_parts(const Val *v)
{
    return v->kind == VAL_TUPLE || v->kind == VAL_VIEW;
}
static inline Val val_error(void)
{
    return (Val){ .kind = VAL_ERROR };
}
static inline Val val_void(void)
{
    return (Val){ .kind = VAL_VOID };
}
static inline Val val_const(ConstVal c)
{
    return (Val){ .kind = c.kind == CONST_ERROR ? VAL_ERROR : VAL_CONST, .c = c };
}
static inline Val val_of(IrValue *v)
{
    return v ? (Val){ .kind = VAL_VALUE, .v = v } : val_error();
}

/// An operand and where it stands.
typedef struct Operand {
    Val val;
    Span span;
} Operand;
static inline Operand operand_at(Val val, Span span)
{
    return (Operand){ val, span };
}

/// The type a Val has or would get as a value (weak literals by the literal table); type_error for
/// none.
const Type *lower_type_of(Lower *cx, Val v);
/// As a run-time value: weak literals become typed scalars by the literal table. NULL after
/// reporting (silently for VAL_ERROR); `what` names it in messages ("operand", "argument 'mask'").
IrValue *lower_value(Lower *cx, Val v, const char *what, Span span);
/// The same, converted to element type `elem` as by an implicit cast; literals are rounded once.
IrValue *lower_value_as(Lower *cx, Val v, const Type *elem, const char *what, Span span);
/// Splats and broadcasts (leading axes are added) to exactly `shape_like`'s shape, or reports.
IrValue *lower_broadcast_to(Lower *cx, IrValue *v, const Type *shape_like, Span span);
/// Brings `n` values to their common shape in place, or reports the axis and both sizes.
bool lower_broadcast(Lower *cx, IrValue **v, const Span *spans, uint32_t n, Span span);
/// Binary, comparison and unary operators on any Vals: constants fold, else IR by rules.h.
/// `span` is the whole expression's.
Val lower_binary(Lower *cx, AstBinaryOp op, Operand left, Operand right, Span span);
Val lower_compare(Lower *cx, AstCompareOp op, Operand left, Operand right, Span span);
Val lower_unary(Lower *cx, AstUnaryOp op, Val a, Span span);
/// A typed conversion as `.to(elem)` does (casts.c); reports what cannot be cast.
Val lower_cast(Lower *cx, Val v, const Type *elem, bool bitcast, const char *rounding, Span span);
/// Elementwise builtin of ops.def on already evaluated arguments, by its type rule.
Val lower_elementwise(Lower *cx, IrCode code, const Val *args, const Span *spans, uint32_t n,
                      Span span);
/// Calls a user function with evaluated arguments (combine functions of reduce, scans).
Val lower_call_function(Lower *cx, const Function *f, const Val *args, uint32_t n, Span span);

/// `object.name` of anything but a module: shape, dtype, a method ... (builtin_attr.c). `name_span`
/// is where the name stands.
Val lower_attribute(Lower *cx, Val object, Sym name, Span span, Span name_span);

/* constants wanted by builtins; each reports what was given instead and returns false */
bool lower_want_int(Lower *cx, const BoundArgs *args, unsigned index, int64_t *out);
bool lower_want_bool(Lower *cx, const BoundArgs *args, unsigned index, bool *out);
bool lower_want_str(Lower *cx, const BoundArgs *args, unsigned index,
                    Str *out);  ///< None gives {"", 0}
bool lower_want_dtype(Lower *cx, const BoundArgs *args, unsigned index, const Type **out);
/// A block shape: an int or a tuple or list of ints, each a power of two, total within the limit.
bool lower_want_shape(Lower *cx, const BoundArgs *args, unsigned index, unsigned *rank,
                      int32_t *shape);
/// An axis in [-rank, rank) normalised to [0, rank).
bool lower_want_axis(Lower *cx, const BoundArgs *args, unsigned index, unsigned rank,
                     unsigned *out);

#endif
