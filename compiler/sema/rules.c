/// rules.c - promotion of numbers, literals beside them, reductions and casts.
///
/// Every function is pure. The tables of the language's section 2 are encoded as the few rules they
/// follow; tests/unit/test_rules.c has each cell written out. Messages are in rules_report.c.
#include "sema/rules.h"
#include <math.h>
#include <string.h>

static ScalarClass class_of(ScalarKind k)
{
    return scalar_info[k].cls;
}

static bool is_float(ScalarKind k)
{
    return class_of(k) == SCLASS_FLOAT;
}

static bool is_int_or_bool(ScalarKind k)
{
    ScalarClass c = class_of(k);
    return c == SCLASS_BOOL || c == SCLASS_SINT || c == SCLASS_UINT;
}

static RuleResult accepted(ScalarKind kind, ScalarKind operand)
{
    return (RuleResult){ .why = RULE_OK, .kind = kind, .operand = operand };
}

static RuleResult refused(RuleReason why, unsigned at, ScalarKind operand)
{
    return (RuleResult){ .why = why, .operand = operand, .at = (uint8_t)at };
}

// ---- literals -------------------------------------------------------------------------------

static ScalarKind kind_of_float(double v)
{
    double magnitude = fabs(v);
    bool fits = magnitude == 0 || isinf(v) || isnan(v) ||
                (magnitude >= 0x1p-126 && magnitude <= 0x1.fffffep127);
    return fits ? SCALAR_F32 : SCALAR_F64;
}

RuleResult rule_literal(const ConstVal *literal)
{
    const Int128 one = 1;
    switch (literal->kind) {
    case CONST_BOOL: return accepted(SCALAR_I1, SCALAR_I1);
    case CONST_FLOAT: {
        ScalarKind k = kind_of_float(literal->v.f);
        RuleResult r = accepted(k, k);
        r.wide_literal = k == SCALAR_F64;
        return r;
    }
    case CONST_INT: {
        Int128 i = literal->v.i;
        if (i < -(one << 63) || i >= one << 64)
            return refused(RULE_LITERAL_TOO_LARGE, 0, SCALAR_I64);
        ScalarKind k = i >= one << 63                       ? SCALAR_U64
                       : i < -(one << 31) || i >= one << 32 ? SCALAR_I64
                       : i >= one << 31                     ? SCALAR_U32
                                                            : SCALAR_I32;
        return accepted(k, k);
    }
    case CONST_ERROR:
    case CONST_NONE:
    case CONST_STR:
    case CONST_DTYPE:
    case CONST_TUPLE:
    case CONST_DICT:
    case CONST_CONFIG:
    case CONST_FUNC:
    case CONST_BUILTIN:
    case CONST_NAMESPACE:
    case CONST_ANNOTATION: break;
    }
    return refused(RULE_LITERAL_NO_VALUE, 0, SCALAR_I32);
}

// bool < int < float: a literal of lower or equal rank takes the other operand's type.
static int rank_of_class(ScalarClass c)
{
    return c == SCLASS_BOOL ? 0 : c == SCLASS_SINT || c == SCLASS_UINT ? 1 : 2;
}

static int rank_of_literal(const ConstVal *literal)
{
    return literal->kind == CONST_BOOL ? 0 : literal->kind == CONST_INT ? 1 : 2;
}

static bool overflows(const ConstVal *literal, ScalarKind k)
{
    double v = literal->kind == CONST_FLOAT ? literal->v.f
               : literal->kind == CONST_INT ? (double)literal->v.i
                                            : 0;
    // The smallest magnitudes that round to infinity: the largest finite value plus half a step.
    double limit = k == SCALAR_F16    ? 65520.0
                   : k == SCALAR_BF16 ? 0x1.ffp127
                   : k == SCALAR_F32  ? 0x1.ffffffp127
                                      : HUGE_VAL;
    return isfinite(v) && fabs(v) >= limit;
}

static RuleReason check_range(const ConstVal *literal, ScalarKind k)
{
    if (literal->kind != CONST_INT)
        return RULE_OK;
    const Int128 one = 1;
    bool is_signed = class_of(k) == SCLASS_SINT;
    unsigned bits = scalar_info[k].bits;
    if (!is_signed && literal->v.i < 0)
        return RULE_LITERAL_NEGATIVE;
    Int128 hi = one << (is_signed ? bits - 1 : bits);
    return literal->v.i >= hi || (is_signed && literal->v.i < -hi) ? RULE_LITERAL_RANGE : RULE_OK;
}

// ---- two operands ---------------------------------------------------------------------------

static ScalarKind promote_ints(ScalarKind a, ScalarKind b)
{
    unsigned bits_a = scalar_info[a].bits, bits_b = scalar_info[b].bits;
    bool signed_a = class_of(a) == SCLASS_SINT, signed_b = class_of(b) == SCLASS_SINT;
    if (signed_a == signed_b)
        return bits_a >= bits_b ? a : b;
    ScalarKind u = signed_a ? b : a, s = signed_a ? a : b;
    return scalar_info[u].bits >= scalar_info[s].bits ? u : s;
}

RuleResult rule_promote(ScalarKind a, ScalarKind b)
{
    static const ScalarKind order[] = { SCALAR_F64, SCALAR_F32, SCALAR_F16 };
    for (unsigned i = 0; i < sizeof order / sizeof order[0]; i++)
        if (a == order[i] || b == order[i])
            return accepted(order[i], order[i]);
    if (a == SCALAR_BF16 || b == SCALAR_BF16) {
        ScalarKind k = a == b ? SCALAR_BF16 : SCALAR_F32;
        return accepted(k, k);
    }
    bool fp8_a = class_of(a) == SCLASS_FP8, fp8_b = class_of(b) == SCLASS_FP8;
    if (fp8_a && fp8_b) {
        ScalarKind k = a == b ? a : SCALAR_F16;
        return accepted(k, k);
    }
    if (fp8_a || fp8_b)
        return refused(RULE_FP8_WITH_INT, fp8_a ? 1 : 0, fp8_a ? a : b);
    ScalarKind k = promote_ints(a, b);
    return accepted(k, k);
}

// A literal beside a typed operand (2.4); `at` is the literal's position.
static RuleResult promote_weak(ScalarKind typed, const ConstVal *literal, unsigned at)
{
    RuleResult own = rule_literal(literal);
    if (own.why == RULE_LITERAL_NO_VALUE) {
        own.at = (uint8_t)at;
        return own;
    }
    RuleResult r;
    if (rank_of_literal(literal) <= rank_of_class(class_of(typed))) {
        // fp8 has no arithmetic with numbers of its own; fp16 holds all its values.
        ScalarKind k = class_of(typed) == SCLASS_FP8 ? SCALAR_F16 : typed;
        r = accepted(k, k);
        RuleReason why = is_int_or_bool(k) ? check_range(literal, k) : RULE_OK;
        if (why != RULE_OK)
            return refused(why, at, k);
    } else if (own.why != RULE_OK) {
        own.at = (uint8_t)at;
        return own;
    } else {
        r = rule_promote(typed, own.kind);
        r.wide_literal = own.wide_literal;
    }
    r.overflow_literal = overflows(literal, r.operand);
    return r;
}

// Both operands brought to one type, literals weak. With two literals each gets its own type first.
static RuleResult promote_pair(const RuleOperand *o)
{
    if (o[0].literal && !o[1].literal)
        return promote_weak(o[1].kind, o[0].literal, 0);
    if (o[1].literal && !o[0].literal)
        return promote_weak(o[0].kind, o[1].literal, 1);
    ScalarKind kinds[2];
    for (unsigned i = 0; i < 2; i++) {
        RuleResult own = o[i].literal ? rule_literal(o[i].literal) : accepted(o[i].kind, o[i].kind);
        if (own.why != RULE_OK) {
            own.at = (uint8_t)i;
            return own;
        }
        kinds[i] = own.kind;
    }
    return rule_promote(kinds[0], kinds[1]);
}

static bool operand_is_float(const RuleOperand *o)
{
    return o->literal ? o->literal->kind == CONST_FLOAT : !is_int_or_bool(o->kind);
}

static RuleResult need_ints(const RuleOperand *o)
{
    for (unsigned i = 0; i < 2; i++)
        if (operand_is_float(&o[i]))
            return refused(RULE_NEEDS_INT, i, SCALAR_I32);
    return promote_pair(o);
}

// int1 counts as unsigned only by accident, so it divides with anything.
static bool signedness_differs(const RuleOperand *o)
{
    if (o[0].literal || o[1].literal)
        return false;
    ScalarClass a = class_of(o[0].kind), b = class_of(o[1].kind);
    return (a == SCLASS_SINT && b == SCLASS_UINT) || (a == SCLASS_UINT && b == SCLASS_SINT);
}

// `/`, `//`, `%`: as promotion, but fp16 and bf16 give fp32.
static RuleResult divide(TypeRule rule, const RuleOperand *o)
{
    if (signedness_differs(o))
        return refused(RULE_SIGNEDNESS, 1, SCALAR_I32);
    RuleResult r = rule == RULE_IDIV2 ? need_ints(o) : promote_pair(o);
    if (r.why != RULE_OK)
        return r;
    bool half = r.kind == SCALAR_F16 || r.kind == SCALAR_BF16;
    if (half || (rule == RULE_DIV2 && is_int_or_bool(r.kind)))
        r.kind = r.operand = SCALAR_F32;
    return r;
}

// ---- function forms -------------------------------------------------------------------------

static RuleResult promote_typed(TypeRule rule, const RuleOperand *o, unsigned count)
{
    RuleResult all = { 0 };
    bool wide = false;
    for (unsigned i = 0; i < count; i++) {
        RuleResult own = o[i].literal ? rule_literal(o[i].literal) : accepted(o[i].kind, o[i].kind);
        if (own.why == RULE_OK) {
            wide = wide || own.wide_literal;
            bool widen = (rule == RULE_MINMAX2 || rule == RULE_CLAMP3) && own.kind == SCALAR_BF16;
            ScalarKind k = widen ? SCALAR_F32 : own.kind;
            own = i == 0 ? accepted(k, k) : rule_promote(all.kind, k);
        } else {
            own.at = (uint8_t)i;
        }
        if (own.why != RULE_OK) {
            if (own.why == RULE_FP8_WITH_INT)
                own.at = (uint8_t)i;
            return own;
        }
        all = own;
    }
    all.wide_literal = wide;
    return all;
}

static unsigned first_that_is_no_float(const RuleOperand *o, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (o[i].literal ? o[i].literal->kind != CONST_FLOAT : !is_float(o[i].kind))
            return i;
    return 0;
}

static RuleResult apply_function(TypeRule rule, const RuleOperand *o, unsigned count)
{
    RuleResult r = promote_typed(rule, o, count);
    if (r.why != RULE_OK)
        return r;
    bool wants_float =
        rule == RULE_FLOAT1 || rule == RULE_FPRED || rule == RULE_FLOAT2 || rule == RULE_FMA3;
    if (wants_float && !is_float(r.kind))
        return refused(RULE_NEEDS_FLOAT, first_that_is_no_float(o, count), r.kind);
    if ((rule == RULE_INT1 || rule == RULE_UMULHI2) && !is_int_or_bool(r.kind))
        return refused(RULE_NEEDS_INT, operand_is_float(&o[0]) ? 0 : 1, r.kind);
    if (rule == RULE_UMULHI2 && scalar_info[r.kind].bits < 32)
        return refused(RULE_NEEDS_32_OR_64, 0, r.kind);
    if (rule == RULE_FPRED)
        r.kind = SCALAR_I1;
    return r;
}

RuleResult rule_apply(TypeRule rule, const RuleOperand *operands, unsigned count)
{
    RuleResult r;
    switch (rule) {
    case RULE_NONE:
    case RULE_ARITH2:
    case RULE_SELECT3: r = promote_pair(operands); break;
    case RULE_DIV2:
    case RULE_IDIV2:
    case RULE_REM2: r = divide(rule, operands); break;
    case RULE_BIT2:
    case RULE_SHIFT2: r = need_ints(operands); break;
    case RULE_CMP2:
        r = promote_pair(operands);
        r.kind = SCALAR_I1;
        break;
    case RULE_FLOAT1:
    case RULE_ANY1:
    case RULE_INT1:
    case RULE_FPRED:
    case RULE_MINMAX2:
    case RULE_FLOAT2:
    case RULE_UMULHI2:
    case RULE_FMA3:
    case RULE_CLAMP3:
    default: r = apply_function(rule, operands, count); break;
    }
    memcpy(r.given, operands, count * sizeof *operands);
    r.count = (uint8_t)count;
    return r;
}

unsigned rule_arity(TypeRule rule)
{
    switch (rule) {
    case RULE_NONE: return 0;
    case RULE_FLOAT1:
    case RULE_ANY1:
    case RULE_INT1:
    case RULE_FPRED: return 1;
    case RULE_FMA3:
    case RULE_CLAMP3:
    case RULE_SELECT3: return 3;
    case RULE_ARITH2:
    case RULE_DIV2:
    case RULE_IDIV2:
    case RULE_REM2:
    case RULE_BIT2:
    case RULE_SHIFT2:
    case RULE_CMP2:
    case RULE_MINMAX2:
    case RULE_FLOAT2:
    case RULE_UMULHI2: break;
    }
    return 2;
}

TypeRule rule_of_binary(AstBinaryOp op)
{
    static const TypeRule rules[AST_BINARY_OP_COUNT] = {
        [AST_ADD] = RULE_ARITH2,  [AST_SUB] = RULE_ARITH2,   [AST_MUL] = RULE_ARITH2,
        [AST_DIV] = RULE_DIV2,    [AST_MOD] = RULE_REM2,     [AST_FLOOR_DIV] = RULE_IDIV2,
        [AST_SHL] = RULE_SHIFT2,  [AST_SHR] = RULE_SHIFT2,   [AST_BIT_AND] = RULE_BIT2,
        [AST_BIT_OR] = RULE_BIT2, [AST_BIT_XOR] = RULE_BIT2,
    };
    return rules[op];
}

// ---- across elements ------------------------------------------------------------------------

static ScalarKind widened_sum(ScalarKind k)
{
    if (!is_int_or_bool(k) || scalar_info[k].bits >= 32)
        return k;
    return class_of(k) == SCLASS_SINT ? SCALAR_I32 : SCALAR_U32;
}

static ScalarKind widened_max(ScalarKind k)
{
    if (is_int_or_bool(k))
        return scalar_info[k].bits < 32 ? SCALAR_I32 : k;
    return scalar_info[k].bits < 32 ? SCALAR_F32 : k;
}

RuleResult rule_reduce(RuleReduce op, ScalarKind k)
{
    bool small_float = !is_int_or_bool(k) && scalar_info[k].bits < 32;
    ScalarKind wide = small_float ? SCALAR_F32 : k;
    ScalarKind scanned = k == SCALAR_BF16 ? SCALAR_F32 : k;
    RuleResult r = accepted(k, k);
    switch (op) {
    case RULE_SUM: {
        ScalarKind sum = widened_sum(k);
        r = accepted(sum, small_float ? wide : sum);
        break;
    }
    case RULE_MAX:
    case RULE_TOPK: r = accepted(widened_max(k), widened_max(k)); break;
    case RULE_MAX_INDICES: {
        ScalarKind value = k == SCALAR_F16 ? k : wide;
        r = accepted(value, value);
        break;
    }
    case RULE_ARG: r = accepted(SCALAR_I32, k); break;
    case RULE_CUMSUM: {
        ScalarKind sum = widened_sum(scanned);
        r = accepted(sum, small_float ? wide : sum);
        break;
    }
    case RULE_CUMPROD: r = accepted(scanned, wide); break;
    case RULE_BITS: r = is_int_or_bool(k) ? r : refused(RULE_NEEDS_INT, 0, k); break;
    case RULE_SORT: break;
    case RULE_HISTOGRAM:
        r = is_int_or_bool(k) ? accepted(SCALAR_I32, k) : refused(RULE_NEEDS_INT, 0, k);
        break;
    }
    r.given[0] = rule_typed(k);
    r.count = 1;
    return r;
}

// ---- casts and pointers ---------------------------------------------------------------------

static unsigned bits_of(const Type *t)
{
    return t->kind == TYPE_PTR ? 64 : scalar_info[t->scalar].bits;
}

static bool is_any_float(const Type *t)
{
    return type_is_float(t) || type_is_fp8(t);
}

RuleReason rule_cast(const Type *from, const Type *to, bool bitcast, RuleRounding rounding)
{
    bool narrows = is_any_float(from) && is_any_float(to) && bits_of(to) < bits_of(from);
    if (rounding != ROUNDING_DEFAULT && (bitcast || !narrows))
        return RULE_CAST_ROUNDING;
    if (bitcast)
        return bits_of(from) == bits_of(to) ? RULE_OK : RULE_CAST_WIDTH;
    if (from->kind == TYPE_PTR && to->kind != TYPE_PTR)
        return bits_of(to) == 1 || (bits_of(to) == 64 && type_is_int(to)) ? RULE_OK
                                                                          : RULE_CAST_POINTER;
    if (to->kind == TYPE_PTR && from->kind != TYPE_PTR)
        return type_is_int(from) ? RULE_OK : RULE_CAST_POINTER;
    return RULE_OK;
}

RulePointer rule_pointer(AstBinaryOp op, const Type *a, const Type *b)
{
    bool ptr_a = a->kind == TYPE_PTR, ptr_b = b->kind == TYPE_PTR;
    if (op == AST_ADD && ptr_a && type_is_num(b) && !is_any_float(b))
        return RULE_PTR_ADD;
    if (op == AST_ADD && ptr_b && type_is_num(a) && !is_any_float(a))
        return RULE_PTR_ADD_SWAP;
    if (op == AST_SUB && ptr_a && type_is_num(b) && !is_any_float(b))
        return RULE_PTR_SUB;
    if (op == AST_SUB && ptr_a && ptr_b && a->elem == b->elem)
        return RULE_PTR_DIFF;
    return RULE_PTR_REFUSED;
}
