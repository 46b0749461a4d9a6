/// axis_impl.h - shared by the analysis (axis_info.c), its rules (axis_rules.c) and the ranges
/// (axis_range.c).
#ifndef NEWT_PASSES_AXIS_IMPL_H
#define NEWT_PASSES_AXIS_IMPL_H
#include "passes/axis_info.h"

#define AXIS_MAX_DIVISOR (INT64_C(1) << 40)  // zero is divisible by everything

struct AxisInfo {
    const IrFunc *fn;
    Arena *arena;
    uint32_t count;    ///< values that existed
    AxisFacts *facts;  ///< by value id
};

static inline int64_t axis_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t axis_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/// The largest power of two that divides `v`.
static inline int64_t axis_pow2_divisor(int64_t v)
{
    uint64_t low = (uint64_t)v & (0 - (uint64_t)v);
    return low == 0 || low > (uint64_t)AXIS_MAX_DIVISOR ? AXIS_MAX_DIVISOR : (int64_t)low;
}

/// Bytes between neighbouring elements for pointers, else 1.
int64_t axis_unit(const Type *t);

/// As axis_info_divisor, on facts.
int64_t axis_divisor(const AxisFacts *f, const Type *t, unsigned axis, int64_t count);

/// True when [f->lo, f->hi] is one number.
static inline bool axis_is_constant(const AxisFacts *f, int64_t *out)
{
    *out = f->lo;
    return f->has_range && f->lo == f->hi;
}

/// Facts of a result that nothing is known of, but what its type says. `dim` is set up.
void axis_set_unknown(AxisFacts *f, const Type *t);

/// out becomes what holds of both. `out` may be `a`.
void axis_join(AxisFacts *out, const AxisFacts *a, const AxisFacts *b, const Type *t);

/// The facts of an operation's only result; operands have theirs.
void axis_apply_rule(AxisInfo *info, const IrOp *op);

/* ---- axis_range.c ---- */
typedef struct AxisRange {
    bool known;
    int64_t lo, hi;
} AxisRange;

AxisRange axis_type_range(const Type *t);
/// The range of the exact result of an integer operation, not cut to the type; unknown when it
/// might leave int64 or no rule covers it.
AxisRange axis_exact_range(const IrOp *op, const AxisFacts *const *args);

static inline AxisRange axis_range_of(const AxisFacts *f)
{
    return (AxisRange){ f->has_range, f->lo, f->hi };
}

static inline bool axis_within(AxisRange inner, AxisRange outer)
{
    return inner.known && outer.known && inner.lo >= outer.lo && inner.hi <= outer.hi;
}

#endif
