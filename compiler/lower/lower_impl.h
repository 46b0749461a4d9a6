/// lower_impl.h - what the files of lower/ share: the state of one lowering and the environment.
///
/// A Frame is one inlined call. Its names are slots; a slot points to a Local that never changes
/// its meaning (assigning makes a new one), and every change of a slot is journalled, so that the
/// arm of a branch is lowered, its changes are taken off, and both arms are merged. Control flow
/// that cannot be a region (return, break, continue) is a flag in a hidden slot; statements after
/// it are guarded.
#ifndef NEWT_LOWER_LOWER_IMPL_H
#define NEWT_LOWER_LOWER_IMPL_H
#include "lower/lower.h"

enum {
    LOWER_MAX_CALLS = 100,    ///< calls inlined into each other
    LOWER_MAX_NESTING = 200,  ///< regions inside each other; C compilers stop at 256 braces
    LOWER_MAX_DEPTH = 3000,  ///< recursion of this code: expressions, statements and calls together
    LOWER_MAX_STEPS = 100000  ///< statements after inlining and unrolling
};

typedef enum {
    BIND_SET,
    BIND_IN_ARM,    ///< assigned in one arm of an if only
    BIND_IN_LOOP,   ///< assigned in a loop's body, which may run zero times
    BIND_LOOP_VAR,  ///< the variable of a finished loop
    BIND_MIXED      ///< of different types on the ways that lead here
} BindStatus;

typedef struct Local {
    BindStatus status;
    bool is_constexpr;  ///< declared so: must not be assigned again
    bool was_read;
    bool in_else;  ///< IN_ARM: the arm that assigns is the else
    Val val;       ///< SET
    Span span;     ///< the assignment (IN_*: the one that counts on some way)
    Span cond;     ///< IN_ARM: the condition; IN_LOOP, LOOP_VAR: the loop's head; MIXED: the other
                   ///< place
    const char *types[2];  ///< MIXED: what it is at `span` and at `cond`
} Local;

typedef struct Change {
    uint32_t slot;
    Local *binding;  ///< journal: the one before; Arm: the one after
} Change;

/// The loop that `break` and `continue` mean. Its flags are slots that hold booleans.
typedef struct LoopScope {
    struct LoopScope *outer;
    uint32_t broke, continued;
    const struct Carry *carry;  ///< NULL: it runs at compile time
} LoopScope;

typedef struct Slot {
    Sym name;        ///< NULL: hidden
    Local *binding;  ///< NULL: never assigned
    uint32_t stamp;  ///< mark of the last collection that met it
} Slot;

typedef struct Frame {
    struct Frame *caller;
    const Function *function;  ///< NULL: an expression at module level
    Module *module;            ///< where free names are looked up
    Span call;                 ///< the call that made it
    bool is_constant;  ///< constexpr function or module level: names stay weak, loops run here
    uint32_t *map, map_cap;  ///< open addressing by name: slot + 1
    VEC(Slot) slots;
    VEC(Change) journal;
    LoopScope *loop;
    uint32_t returned, result;  ///< slots: the flag, and the value
    uint32_t stamp;
    Span first_return;
} Frame;

struct Lower {
    Program *program;
    Arena *arena;
    ConstCx consts;
    IrBuilder b;
    Frame *frame;
    Sym meta;  ///< NULL, or the lambda parameter that holds the arguments by name: args["n"]
    bool index64;
    bool stopped;  ///< a limit was hit: unwind without more messages
    unsigned calls, nesting, depth, steps;
};

/// One way through a branch while it is lowered: its block, and what it changed in the frame.
typedef struct Arm {
    IrBlock *block, *outer;
    uint32_t mark;
    bool exits;    ///< it surely returns, breaks or continues
    bool returns;  ///< it surely returns: its variables matter to nobody
    VEC(Change) changes;
} Arm;

typedef enum { EXIT_NO, EXIT_MAYBE, EXIT_YES } ExitState;

/* ---- env.c ---- */
Frame *lower_frame_push(Lower *cx, const Function *f, Module *m, Span call);
void lower_frame_pop(Lower *cx);
/// The slot of a name, made when new; lower_slot_find gives UINT32_MAX for a name never assigned.
uint32_t lower_slot_of(Lower *cx, Sym name);
uint32_t lower_slot_find(const Frame *f, Sym name);
uint32_t lower_slot_hidden(Lower *cx);
Local *lower_slot_get(const Lower *cx, uint32_t slot);
Local *lower_bind(Lower *cx, uint32_t slot, Val v, Span span);
void lower_rebind(Lower *cx, uint32_t slot, Local *b);
/// Everything bound since `mark` is taken back; the last binding of each slot goes to `out`.
uint32_t lower_mark(const Lower *cx);
void lower_take_changes(Lower *cx, uint32_t mark, Arm *out);
/// The value of a variable for a read at `span`, or VAL_ERROR after saying why it has none.
Val lower_read_slot(Lower *cx, uint32_t slot, Span span);
/// A report in the current frame with the chain of calls as notes.
void lower_error(Lower *cx, DiagId id, Span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/// Adds "called from here" notes for the frames around the current one.
void lower_note_calls(Lower *cx);
/// Counts a level of recursion or region nesting; false (after one report) when there are too many.
bool lower_enter(Lower *cx, Span span);
void lower_leave(Lower *cx);

/* ---- branch.c ---- */
void lower_arm_begin(Lower *cx, Arm *arm);
/// Goes on in an arm that was ended.
void lower_arm_resume(Lower *cx, Arm *arm);
void lower_arm_end(Lower *cx, Arm *arm);
/// Makes the IF of two ended arms at the current place and merges the variables.
/// `dead`: no statement of the function follows, so only what it returns is merged.
void lower_merge_arms(Lower *cx, IrValue *cond, Arm *then, Arm *other, Span cond_span, bool dead);
/// True when statements of the current block may still run.
ExitState lower_exit_state(const Lower *cx);
/// Runs `body` under "no exit flag is set".
void lower_guarded(Lower *cx, Span span, bool dead, void (*body)(Lower *cx, void *at), void *at);
/// An if statement at `index` of `block`. True when it has taken the rest of the block along.
bool lower_if(Lower *cx, AstNodes block, uint32_t index);
Val lower_ternary(Lower *cx, const AstTernary *n);
/// Puts a finished detached block into an operation as region `index`.
void lower_attach(IrOp *op, uint32_t index, IrBlock *block);
void lower_yield(Lower *cx, IrBlock *block, IrValue *const *values, uint32_t n);

/* ---- stmt.c ---- */
void lower_block(Lower *cx, AstNodes body, uint32_t from);
void lower_stmt(Lower *cx, const AstNode *n);
/// Binds a target (name, tuple of targets) to a value; un-annotated numbers become typed constants.
/// `value` is the expression it came from, or NULL.
void lower_assign(Lower *cx, const AstNode *target, Val v, const AstNode *value, Span span);
/// What an un-annotated assignment makes of a value: literals get their type, the value stays
/// known.
Val lower_settle(Lower *cx, Val v, Span span);

/* ---- names.c ---- */
typedef struct Assigned {
    VEC(Sym) names;          ///< in the order of their first assignment
    bool breaks, continues;  ///< for the loop whose body this is
    bool returns;
} Assigned;
/// What statements assign, loops and branches inside them included.
void lower_assigned(Lower *cx, AstNodes body, Assigned *out);
/// After a fault in its head: what the statement assigns has no value that needs reporting.
void lower_poison(Lower *cx, const AstNode *n);

/* ---- loop.c, carry.c ---- */
void lower_for(Lower *cx, const AstFor *n);
void lower_while(Lower *cx, const AstWhile *n);
/// True when the value of a variable at the end of an iteration may matter to the next.
bool lower_is_carried(const LoopScope *loop, uint32_t slot);

/// Counts a statement, or a round of a loop that runs at compile time; stops after LOWER_MAX_STEPS.
void lower_count_step(Lower *cx, Span span);

/* ---- operators.c ---- */
/// where(c, x, y): condition and two values, literals weak.
Val lower_select(Lower *cx, const Val *v, const Span *spans, Span span);

/* ---- builtin_dot.c ---- */
/// a @ b.
Val lower_matmul(Lower *cx, Operand a, Operand b, Span span);

/* ---- value.c ---- */
/// The type that an untyped number gets on its own; false after reporting that it has none.
bool lower_literal_kind(Lower *cx, Val v, const char *what, Span span, ScalarKind *kind);

/* ---- expr.c ---- */
Val lower_expr(Lower *cx, const AstNode *n);
/// A condition as one int1 scalar value (ints and pointers are compared with 0), or NULL after a
/// report.
IrValue *lower_condition(Lower *cx, Val v, Span span, const char *what);
/// Truth of a constant condition; *ok false after a report.
bool lower_const_truth(Lower *cx, Val v, Span span, bool *ok);

/* ---- call.c ---- */
Val lower_call(Lower *cx, const AstCall *n);

typedef struct Argument {
    Sym name;  ///< NULL: by position
    Val val;
    Span span;   ///< of the value
    Span whole;  ///< of `name=value`
} Argument;
typedef VEC(Argument) ArgumentVec;
/// Evaluates the arguments of a call, splats included.
bool lower_arguments(Lower *cx, const AstCall *n, ArgumentVec *out);
/// Arguments in the order of the parameters, with defaults for absent ones; `receiver` goes first.
bool lower_bind_builtin(Lower *cx, const Builtin *b, const Val *receiver, const ArgumentVec *args,
                        Span call, BoundArgs *out);
Val lower_call_builtin(Lower *cx, const Builtin *b, const Val *receiver, const ArgumentVec *args,
                       Span call);

/* ---- function.c ---- */
Val lower_inline(Lower *cx, const Function *f, const ArgumentVec *args, Span call);

/* ---- consteval.c ---- */
Lower *lower_new(Program *p, Arena *a, Module *m);
Val lower_from_const(Lower *cx, ConstVal c);
/// The constant that a Val is (tuples of constants included); false when it is a run-time value.
bool lower_as_const(Lower *cx, Val v, ConstVal *out);
/// The value of a module-level declaration for a use at `span`.
Val lower_decl(Lower *cx, Decl *d, Span span);
/// `Val` in words for messages: "int32", "(16) fp32", "a tuple", "None".
const char *lower_text(Lower *cx, Val v);
const char *lower_source(Lower *cx, Span span);

/* ---- typed.c: constants that have a type ---- */
/// `v` as a value of the scalar type `kind`, converted as a cast does.
ConstVal lower_typed_const(ConstVal v, ScalarKind kind);
/// A constant Val of a known scalar type.
Val lower_typed_val(Lower *cx, ConstVal v, ScalarKind kind);
IrValue *lower_typed_value(Lower *cx, ConstVal v, const Type *elem);
/// Folds an elementwise operation on operands of type `kind` as run-time code would compute it.
/// False where it is left to run time (division by zero).
bool lower_fold_binary(Lower *cx, IrCode code, ScalarKind kind, const ConstVal operands[2],
                       ConstVal *out, Span span);

/* ---- params.c ---- */
/// Types and facts of the annotations, with the constexpr parameters that have values in `out`. An
/// annotation that mentions one without a value leaves the type NULL.
bool lower_annotations(Program *p, const Function *f, ParamBinding *out);
/// A parameter without a value that an annotation mentions, or NULL.
const Param *lower_unbound(const Function *f, const ParamBinding *bindings, const AstNode *n);
/// `ptr[T]` as a value.
Val lower_type_word(Lower *cx, const AstSubscript *n);

/* ---- grid.c ---- */
/// `args["n"]` where `args` is cx->meta.
Val lower_meta_item(Lower *cx, const AstSubscript *n);

/* ---- builtin_config.c ---- */
/// A display of constants as CONST_DICT.
Val lower_dict(Lower *cx, const AstDict *n);

#endif
