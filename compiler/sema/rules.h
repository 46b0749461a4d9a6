/// rules.h - the type rules of the language as pure functions: promotion, literals, casts, shapes.
///
/// Nothing here makes IR or reports on its own: a rule returns what comes out and the type the
/// operands are converted to, or the reason why it refuses; rule_report() phrases a refusal for
/// everybody in the same words. Section 2 of the language's design is the source of every table.
#ifndef NEWT_SEMA_RULES_H
#define NEWT_SEMA_RULES_H
#include "front/ast.h"
#include "sema/constval.h"
#include "sema/type.h"
#include "sema/typerule.h"
#include "support/diag.h"

typedef enum RuleReason {
    RULE_OK,
    RULE_NEEDS_FLOAT,        ///< operand `at` is no float
    RULE_NEEDS_INT,          ///< operand `at` is no integer (or bool)
    RULE_NEEDS_32_OR_64,     ///< operand `at` is an integer of another width
    RULE_FP8_WITH_INT,       ///< an fp8 beside an integer
    RULE_SIGNEDNESS,         ///< / // % of a signed and an unsigned integer
    RULE_LITERAL_RANGE,      ///< literal `at` does not fit the integer type `operand`
    RULE_LITERAL_NEGATIVE,   ///< literal `at` is negative, `operand` is unsigned
    RULE_LITERAL_TOO_LARGE,  ///< an integer literal outside [-2^63, 2^64)
    RULE_LITERAL_NO_VALUE,   ///< a constant that is no number (str, dtype, None ...)
    RULE_CAST_POINTER,       ///< pointer to or from a type that holds no address
    RULE_CAST_WIDTH,         ///< bitcast between different widths
    RULE_CAST_ROUNDING,      ///< a rounding mode for a cast that does not narrow floats
    RULE_REASON_COUNT
} RuleReason;

/// One operand: a typed value, or a literal that has no type yet (then `kind` is ignored).
typedef struct RuleOperand {
    ScalarKind kind;
    const ConstVal *literal;  ///< NULL: typed
} RuleOperand;

typedef struct RuleResult {
    RuleReason why;        ///< RULE_OK, or the reason; `kind` is meaningless then
    ScalarKind kind;       ///< element type of the result
    ScalarKind operand;    ///< element type that operands are converted to first
    uint8_t at;            ///< which operand is at fault
    RuleOperand given[3];  ///< for the message
    uint8_t count;
    bool wide_literal;      ///< warn: a float literal outside fp32's normal range became fp64
    bool overflow_literal;  ///< warn: a finite float literal becomes inf in `operand`
} RuleResult;

static inline RuleOperand rule_typed(ScalarKind kind)
{
    return (RuleOperand){ .kind = kind };
}
static inline RuleOperand rule_weak(const ConstVal *literal)
{
    return (RuleOperand){ .literal = literal };
}

/// The type a literal gets when it must become a value on its own (2.2).
RuleResult rule_literal(const ConstVal *literal);

/// Two typed operands of + - *, where (2.3).
RuleResult rule_promote(ScalarKind a, ScalarKind b);

/// Any elementwise rule but NONE. Operators and `where` keep literals weak (2.4); the function
/// forms (MINMAX2, FLOAT1, FLOAT2, FMA3, CLAMP3, UMULHI2, ANY1 ...) type them first (2.5).
/// SELECT3 takes the two values only: the condition is the caller's (any number, `!= 0`).
RuleResult rule_apply(TypeRule rule, const RuleOperand *operands, unsigned count);

/// Operands that RULE takes: 1, 2 or 3 (SELECT3 counts its condition).
unsigned rule_arity(TypeRule rule);

/// The rule of an operator on typed values; RULE_NONE for `@` and `**`.
TypeRule rule_of_binary(AstBinaryOp op);

typedef enum RuleReduce {
    RULE_SUM,
    RULE_MAX,
    RULE_MAX_INDICES,
    RULE_ARG,
    RULE_CUMSUM,
    RULE_CUMPROD,
    RULE_BITS,
    RULE_SORT,
    RULE_TOPK,
    RULE_HISTOGRAM
} RuleReduce;  ///< MAX is min too, ARG argmax and argmin, BITS xor_sum and reduce_or

/// Result element type of a reduction or scan (2.13); `operand` is the type it is computed in
/// (fp32 for a sum of fp16, rounded to `kind` once).
RuleResult rule_reduce(RuleReduce op, ScalarKind kind);

/// What pointers take part in (2.16).
typedef enum RulePointer {
    RULE_PTR_REFUSED,
    RULE_PTR_ADD,       ///< pointer + integer
    RULE_PTR_ADD_SWAP,  ///< integer + pointer
    RULE_PTR_SUB,       ///< pointer - integer
    RULE_PTR_DIFF       ///< pointer - pointer of one type: int64
} RulePointer;
/// `a` and `b` are element types, at least one a pointer.
RulePointer rule_pointer(AstBinaryOp op, const Type *a, const Type *b);

typedef enum { ROUNDING_DEFAULT, ROUNDING_RTNE, ROUNDING_RTZ } RuleRounding;

/// May an element of type `from` be cast to `to` (SCALAR or PTR)?
RuleReason rule_cast(const Type *from, const Type *to, bool bitcast, RuleRounding rounding);

typedef struct RuleShape {
    bool ok;
    unsigned rank;
    int32_t shape[TYPE_MAX_RANK];
    unsigned axis;    ///< of the common shape, when refused
    int32_t size[2];  ///< the sizes of the two there
    bool lead;        ///< refused, but the second would fit with a new last axis: `y[:, None]`
} RuleShape;

/// Common shape of two types (rank 0 for scalars): missing leading axes are added, size 1
/// stretches.
RuleShape rule_broadcast(const Type *a, const Type *b);
/// May `from` become exactly `to`'s shape?
RuleShape rule_broadcast_to(const Type *from, const Type *to);

/// Reports why `r` was refused; `what` is the operator or function without quotes ("+", "exp").
void rule_report(DiagSink *d, Span span, const char *what, const RuleResult *r);
/// The same for a refused cast.
void rule_report_cast(DiagSink *d, Span span, TypeTable *t, RuleReason why, const Type *from,
                      const Type *to);
/// The same for shapes. `names` are the operands as the user wrote them, or NULL.
void rule_report_shapes(DiagSink *d, Span span, TypeTable *t, const RuleShape *r, const Type *a,
                        const Type *b);

#endif
