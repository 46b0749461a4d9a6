// operators.c - binary, comparison and unary operators, and elementwise builtins, on any operands.
//
// Untyped constants fold as Python does; a constant with a type folds as run-time code would
// (typed.c); everything else becomes IR: the rule of the operator (rules.h) gives the element type,
// operands are converted and broadcast, one operation is made. Pointers have rules of their own.
#include "lower/lower_impl.h"

static bool is_const_kind(Val v, ConstKind kind)
{
    return v.kind == VAL_CONST && v.c.kind == kind;
}

static bool is_weak(Val v)
{
    return v.kind == VAL_CONST && !v.fixed;
}

static bool is_number(Val v)
{
    return v.kind == VAL_CONST &&
           (v.c.kind == CONST_BOOL || v.c.kind == CONST_INT || v.c.kind == CONST_FLOAT);
}

static bool is_pointer(Val v)
{
    return v.kind == VAL_VALUE && type_is_ptr(v.v->type);
}

static RuleOperand operand_of(const Val *v)
{
    if (v->kind == VAL_VALUE)
        return rule_typed(type_scalar_kind(v->v->type));
    return v->fixed ? rule_typed(v->fixed->scalar) : rule_weak(&v->c);
}

// Operands with their places, and the place of the whole expression.
typedef struct Operands {
    const Val *v;
    const Span *spans;
    unsigned n;
    Span span;
} Operands;

// All operands as numbers (not pointers, tuples, strings), or a report.
static bool want_numbers(Lower *cx, const char *op, const Val *v, const Span *spans, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (v[i].kind == VAL_ERROR)
            return false;
        if (is_number(v[i]) || (v[i].kind == VAL_VALUE && type_is_num(v[i].v->type)))
            continue;
        if (v[i].kind == VAL_VOID)
            lower_error(cx, DIAG_TYPE_MISMATCH, spans[i],
                        "operand of '%s' is a call that returns nothing", op);
        else
            lower_error(cx, DIAG_TYPE_MISMATCH, spans[i],
                        "operand of '%s' must be a number, got %s", op, lower_text(cx, v[i]));
        return false;
    }
    return true;
}

static bool refused(Lower *cx, const RuleResult *r, const char *op, const Span *spans, Span span)
{
    DiagSink *d = cx->consts.diags;
    if (r->why != RULE_OK) {
        bool literal = r->why == RULE_LITERAL_RANGE || r->why == RULE_LITERAL_NEGATIVE ||
                       r->why == RULE_LITERAL_TOO_LARGE || r->why == RULE_LITERAL_NO_VALUE;
        rule_report(d, literal ? spans[r->at] : span, op, r);
        lower_note_calls(cx);
        return true;
    }
    if (r->wide_literal)
        diag_report(d, DIAG_LITERAL_RANGE, span,
                    "literal outside the range of normal fp32 numbers is fp64");
    if (r->overflow_literal)
        diag_report(d, DIAG_LITERAL_RANGE, span, "literal becomes infinite in %s",
                    scalar_info[r->operand].name);
    return false;
}

// The operation `code` on numbers: folded when all operands are constants, else IR.
static Val make_op(Lower *cx, IrCode code, const RuleResult *r, const Operands *x)
{
    ConstVal folded;
    if (x->n == 2 && x->v[0].kind == VAL_CONST && x->v[1].kind == VAL_CONST &&
        lower_fold_binary(cx, code, r->operand, (ConstVal[]){ x->v[0].c, x->v[1].c }, &folded,
                          x->span))
        return lower_typed_val(cx, folded, r->kind);

    const Type *elem = type_scalar(cx->program->types, r->operand);
    IrValue *args[3];
    for (unsigned i = 0; i < x->n; i++)
        if (!(args[i] = lower_value_as(cx, x->v[i], elem, "operand", x->spans[i])))
            return val_error();
    if (!lower_broadcast(cx, args, x->spans, x->n, x->span))
        return val_error();
    TypeRule rule = ir_op_info[code].rule;
    bool predicate = rule == RULE_CMP2 || rule == RULE_FPRED;
    const Type *result = type_scalar(cx->program->types, predicate ? SCALAR_I1 : r->operand);
    IrValue *out =
        ir_op1(&cx->b, code, type_with_elem(cx->program->types, args[0]->type, result), x->n, args);
    return val_of(ir_cast(&cx->b, out, type_scalar(cx->program->types, r->kind)));
}

/* ---- pointers ---- */

static IrValue *negated_offset(Lower *cx, IrValue *offset)
{
    // The negative of an unsigned or of the least signed number exists in 64 bits only.
    const Type *i64 = type_scalar(cx->program->types, SCALAR_I64);
    if (type_scalar_kind(offset->type) != SCALAR_I64)
        offset = ir_cast(&cx->b, offset, i64);
    return ir_unary(&cx->b, IR_NEG, offset);
}

// --index64: an int32 sum, difference or product that moves a pointer is computed in 64 bits.
static IrValue *widened(Lower *cx, IrValue *v, unsigned depth)
{
    const Type *i64 = type_scalar(cx->program->types, SCALAR_I64);
    TypeTable *types = cx->program->types;
    const IrOp *op = v->def;
    if (type_scalar_kind(v->type) != SCALAR_I32)
        return v;
    bool arithmetic = op && (op->code == IR_ADD || op->code == IR_SUB || op->code == IR_MUL);
    bool shape =
        op && (op->code == IR_SPLAT || op->code == IR_EXPAND_DIMS || op->code == IR_BROADCAST);
    if (depth > 32 || (!arithmetic && !shape))
        return ir_cast(&cx->b, v, i64);
    IrValue *args[2];
    for (uint32_t i = 0; i < op->argc; i++)
        args[i] = widened(cx, op->args[i], depth + 1);
    IrValue *out =
        ir_op1(&cx->b, (IrCode)op->code, type_with_elem(types, v->type, i64), op->argc, args);
    out->def->attr = op->attr;
    return out;
}

static Val move_pointer(Lower *cx, Operand p, Operand by, bool subtract, Span span)
{
    Val offset = by.val;
    if (offset.kind == VAL_CONST && !offset.fixed && subtract && offset.c.kind == CONST_INT) {
        offset.c.v.i = -offset.c.v.i;
        subtract = false;
    }
    IrValue *v[2] = { p.val.v, lower_value(cx, offset, "pointer offset", by.span) };
    if (!v[1])
        return val_error();
    if (type_is_bool(v[1]->type))
        v[1] = ir_cast(&cx->b, v[1], type_scalar(cx->program->types, SCALAR_I32));
    if (cx->index64)
        v[1] = widened(cx, v[1], 0);
    if (subtract)
        v[1] = negated_offset(cx, v[1]);
    if (!lower_broadcast(cx, v, (Span[]){ p.span, by.span }, 2, span))
        return val_error();
    return val_of(ir_ptr_add(&cx->b, v[0], v[1]));
}

static Val report_pointer(Lower *cx, AstBinaryOp op, Operand left, Operand right, Span span)
{
    const Val a = left.val, b = right.val;
    if (is_pointer(a) && is_pointer(b) && op == AST_ADD)
        lower_error(cx, DIAG_TYPE_MISMATCH, span, "cannot add two pointers");
    else if (is_pointer(a) && is_pointer(b) && op == AST_SUB)
        lower_error(cx, DIAG_TYPE_MISMATCH, span, "cannot subtract %s from %s", lower_text(cx, b),
                    lower_text(cx, a));
    else if (op == AST_ADD || (op == AST_SUB && is_pointer(a)))
        lower_error(cx, DIAG_TYPE_MISMATCH, is_pointer(a) ? right.span : left.span,
                    "pointer offset must be an integer, got %s",
                    lower_text(cx, is_pointer(a) ? b : a));
    else if (op == AST_MUL)
        lower_error(cx, DIAG_TYPE_MISMATCH, span,
                    "cannot multiply a pointer; pointers support + and - with integers");
    else
        lower_error(cx, DIAG_TYPE_MISMATCH, span,
                    "operator '%s' does not take a pointer; pointers support + and - with integers",
                    ast_binary_text[op]);
    return val_error();
}

static Val pointer_binary(Lower *cx, AstBinaryOp op, Operand a, Operand b, Span span)
{
    const Type *ta = type_elem(lower_type_of(cx, a.val)), *tb = type_elem(lower_type_of(cx, b.val));
    if (a.val.kind == VAL_ERROR || b.val.kind == VAL_ERROR)
        return val_error();
    RulePointer rule =
        type_is_error(ta) || type_is_error(tb) ? RULE_PTR_REFUSED : rule_pointer(op, ta, tb);
    switch (rule) {
    case RULE_PTR_REFUSED: return report_pointer(cx, op, a, b, span);
    case RULE_PTR_ADD: return move_pointer(cx, a, b, false, span);
    case RULE_PTR_ADD_SWAP: return move_pointer(cx, b, a, false, span);
    case RULE_PTR_SUB: return move_pointer(cx, a, b, true, span);
    case RULE_PTR_DIFF: break;
    }
    IrValue *v[2] = { a.val.v, b.val.v };
    if (!lower_broadcast(cx, v, (Span[]){ a.span, b.span }, 2, span))
        return val_error();
    const Type *i64 = type_scalar(cx->program->types, SCALAR_I64);
    return val_of(
        ir_op1(&cx->b, IR_PTR_DIFF, type_with_elem(cx->program->types, v[0]->type, i64), 2, v));
}

// Addresses compare as int64 values.
static Val address_of(Lower *cx, Val v)
{
    return is_pointer(v) ? val_of(ir_cast(&cx->b, v.v, type_scalar(cx->program->types, SCALAR_I64)))
                         : v;
}

/* ---- binary ---- */

static const IrCode binary_code[AST_BINARY_OP_COUNT] = {
    [AST_ADD] = IR_ADD,        [AST_SUB] = IR_SUB,        [AST_MUL] = IR_MUL,
    [AST_DIV] = IR_DIV,        [AST_FLOOR_DIV] = IR_IDIV, [AST_MOD] = IR_REM,
    [AST_SHL] = IR_SHL,        [AST_SHR] = IR_SHR,        [AST_BIT_AND] = IR_AND,
    [AST_BIT_OR] = IR_OR,      [AST_BIT_XOR] = IR_XOR,    [AST_MATMUL] = IR_CODE_COUNT,
    [AST_POW] = IR_CODE_COUNT,
};

static bool fits_i32(const ConstVal *c)
{
    return c->kind == CONST_INT && c->v.i >= INT32_MIN && c->v.i <= INT32_MAX;
}

static Val concat(Lower *cx, Val a, Val b, Span span)
{
    enum { MOST_ITEMS = 1 << 16 };
    Val out = { .kind = VAL_TUPLE };
    if (a.tuple.len > MOST_ITEMS - b.tuple.len) {
        lower_error(cx, DIAG_BAD_VALUE, span, "the result of '+' is longer than %d", MOST_ITEMS);
        return val_error();
    }
    out.tuple.len = a.tuple.len + b.tuple.len;
    out.tuple.at = ARENA_NEW_N(cx->arena, Val, out.tuple.len);
    for (uint32_t i = 0; i < out.tuple.len; i++)
        out.tuple.at[i] = i < a.tuple.len ? a.tuple.at[i] : b.tuple.at[i - a.tuple.len];
    return out;
}

static void check_shift(Lower *cx, AstBinaryOp op, const RuleResult *r, Val count, Span span)
{
    if ((op != AST_SHL && op != AST_SHR) || count.kind != VAL_CONST || count.c.kind != CONST_INT)
        return;
    if (count.c.v.i >= scalar_info[r->kind].bits || count.c.v.i < 0)
        diag_report(cx->consts.diags, DIAG_SHIFT_COUNT, span,
                    "shift count is outside 0..%d, the bits of %s", scalar_info[r->kind].bits - 1,
                    scalar_info[r->kind].name);
}

static Val no_power(Lower *cx, Span span)
{
    lower_error(cx, DIAG_TYPE_MISMATCH, span, "'**' is only for constants");
    diag_help(cx->consts.diags, "multiply, as in 'f * f', or call 'pow'");
    return val_error();
}

Val lower_binary(Lower *cx, AstBinaryOp op, Operand left, Operand right, Span span)
{
    const Val v[2] = { left.val, right.val }, a = v[0], b = v[1];
    const Span spans[2] = { left.span, right.span };
    ConstVal ca, cb;
    if (a.kind == VAL_ERROR || b.kind == VAL_ERROR)
        return val_error();
    if (!(a.kind == VAL_CONST && a.fixed) && !(b.kind == VAL_CONST && b.fixed) &&
        lower_as_const(cx, a, &ca) && lower_as_const(cx, b, &cb)) {
        Val out = lower_from_const(cx, const_binary(&cx->consts, op, ca, cb, span));
        bool arithmetic = op == AST_ADD || op == AST_SUB || op == AST_MUL;
        out.folded = arithmetic && fits_i32(&ca) && fits_i32(&cb) && out.c.kind == CONST_INT &&
                     !fits_i32(&out.c);
        return out;
    }
    if (op == AST_ADD && a.kind == VAL_TUPLE && b.kind == VAL_TUPLE)
        return concat(cx, a, b, span);
    if (is_pointer(a) || is_pointer(b))
        return pointer_binary(cx, op, left, right, span);
    const char *text = ast_binary_text[op];
    if (!want_numbers(cx, text, v, spans, 2))
        return val_error();
    if (op == AST_MATMUL)
        return lower_matmul(cx, left, right, span);
    if (op == AST_POW)
        return no_power(cx, span);
    RuleResult r =
        rule_apply(rule_of_binary(op), (RuleOperand[]){ operand_of(&v[0]), operand_of(&v[1]) }, 2);
    if (refused(cx, &r, text, spans, span))
        return val_error();
    check_shift(cx, op, &r, b, span);
    return make_op(cx, binary_code[op], &r, &(Operands){ v, spans, 2, span });
}

/* ---- comparison ---- */

static Val compare_identity(Lower *cx, AstCompareOp op, Val a, Val b, Span span)
{
    bool wanted = op == AST_IS;
    if (is_const_kind(a, CONST_NONE) || is_const_kind(b, CONST_NONE)) {
        bool same = is_const_kind(a, CONST_NONE) && is_const_kind(b, CONST_NONE);
        return val_const(const_bool(same == wanted));
    }
    lower_error(cx, DIAG_TYPE_MISMATCH, span, "'%s' compares constants only; use '%s' for values",
                ast_compare_text[op], wanted ? "==" : "!=");
    return val_error();
}

// `x in (a, b)` of a run-time x: equal to any of them.
static Val compare_member(Lower *cx, AstCompareOp op, Operand a, Operand group, Span span)
{
    const Val b = group.val;
    if (b.kind != VAL_TUPLE) {
        lower_error(cx, DIAG_TYPE_MISMATCH, group.span, "'%s' needs a tuple on its right, got %s",
                    ast_compare_text[op], lower_text(cx, b));
        return val_error();
    }
    bool in = op == AST_IN;
    Val out = val_const(const_bool(!in));
    for (uint32_t i = 0; i < b.tuple.len; i++) {
        Val one =
            lower_compare(cx, in ? AST_EQ : AST_NE, a, operand_at(b.tuple.at[i], group.span), span);
        out = i ? lower_binary(cx, in ? AST_BIT_OR : AST_BIT_AND, operand_at(out, span),
                               operand_at(one, span), span)
                : one;
    }
    return out;
}

static const IrCode compare_code[AST_COMPARE_OP_COUNT] = {
    [AST_EQ] = IR_EQ, [AST_NE] = IR_NE, [AST_LT] = IR_LT,
    [AST_LE] = IR_LE, [AST_GT] = IR_GT, [AST_GE] = IR_GE,
};

Val lower_compare(Lower *cx, AstCompareOp op, Operand left, Operand right, Span span)
{
    Val a = left.val, b = right.val;
    ConstVal ca, cb;
    if (a.kind == VAL_ERROR || b.kind == VAL_ERROR)
        return val_error();
    bool equality = op == AST_EQ || op == AST_NE;
    bool typed = is_number(a) && is_number(b) && !(is_weak(a) && is_weak(b));
    if (!typed && lower_as_const(cx, a, &ca) && lower_as_const(cx, b, &cb))
        return lower_from_const(cx, const_compare(&cx->consts, op, ca, cb, span));
    if (op == AST_IS || op == AST_IS_NOT)
        return compare_identity(cx, op, a, b, span);
    if (op == AST_IN || op == AST_NOT_IN)
        return compare_member(cx, op, left, right, span);
    if (equality && (is_const_kind(a, CONST_NONE) || is_const_kind(b, CONST_NONE)))
        return val_const(const_bool(op == AST_NE));
    if (is_pointer(a) || is_pointer(b)) {
        if (!equality) {
            lower_error(cx, DIAG_TYPE_MISMATCH, span, "pointers compare with == and != only");
            return val_error();
        }
        a = address_of(cx, a);
        b = address_of(cx, b);
    }
    const Val v[2] = { a, b };
    const Span spans[2] = { left.span, right.span };
    if (!want_numbers(cx, ast_compare_text[op], v, spans, 2))
        return val_error();
    RuleResult r =
        rule_apply(RULE_CMP2, (RuleOperand[]){ operand_of(&v[0]), operand_of(&v[1]) }, 2);
    if (refused(cx, &r, ast_compare_text[op], spans, span))
        return val_error();
    return make_op(cx, compare_code[op], &r, &(Operands){ v, spans, 2, span });
}

/* ---- unary ---- */

// `not x` of a run-time value: x == 0.
static Val logical_not(Lower *cx, Val a, Span span)
{
    a = address_of(cx, a);
    if (!want_numbers(cx, "not", &a, &span, 1))
        return val_error();
    if (a.kind == VAL_VALUE && type_is_bool(a.v->type))
        return val_of(ir_unary(&cx->b, IR_NOT, a.v));
    return lower_compare(cx, AST_EQ, operand_at(a, span), operand_at(val_const(const_int(0)), span),
                         span);
}

static Val fold_unary(Lower *cx, AstUnaryOp op, Val a, Span span)
{
    ScalarKind kind = a.fixed->scalar;
    ConstVal out = a.c;
    if (op == AST_NEG && a.c.kind == CONST_FLOAT)
        out = const_float(-a.c.v.f);
    else if (op == AST_NEG)
        lower_fold_binary(cx, IR_SUB, kind, (ConstVal[]){ const_int(0), a.c }, &out, span);
    else
        out = a.c.kind == CONST_BOOL ? const_bool(!a.c.v.b) : const_int(~a.c.v.i);
    return lower_typed_val(cx, out, kind);
}

Val lower_unary(Lower *cx, AstUnaryOp op, Val a, Span span)
{
    ConstVal c;
    if (a.kind == VAL_ERROR)
        return a;
    bool constant = lower_as_const(cx, a, &c);
    if (constant && (op == AST_NOT || !(a.kind == VAL_CONST && a.fixed)))
        return lower_from_const(cx, const_unary(&cx->consts, op, c, span));
    if (op == AST_NOT)
        return logical_not(cx, a, span);
    if (is_pointer(a) && op == AST_NEG) {
        lower_error(cx, DIAG_TYPE_MISMATCH, span, "cannot negate a pointer");
        return val_error();
    }
    if (!want_numbers(cx, ast_unary_text[op], &a, &span, 1))
        return val_error();
    const Type *elem = type_elem(lower_type_of(cx, a));
    if (op == AST_INVERT && !type_is_int(elem) && !type_is_bool(elem)) {
        lower_error(cx, DIAG_TYPE_MISMATCH, span, "'~' needs an integer or bool, got %s",
                    lower_text(cx, a));
        return val_error();
    }
    if (op == AST_POS)
        return a;
    if (a.kind == VAL_CONST)
        return fold_unary(cx, op, a, span);
    return val_of(ir_unary(&cx->b, op == AST_NEG ? IR_NEG : IR_NOT, a.v));
}

/* ---- elementwise builtins ---- */

// The condition of where(): any number, compared with 0.
static IrValue *select_condition(Lower *cx, Val c, Span span)
{
    c = address_of(cx, c);
    if (!want_numbers(cx, "where", &c, &span, 1))
        return NULL;
    IrValue *v = lower_value(cx, c, "condition", span);
    if (!v || type_is_bool(v->type))
        return v;
    if (c.kind == VAL_VALUE) {
        diag_report(cx->consts.diags, DIAG_INT_CONDITION, span,
                    "the condition of 'where' is %s and counts as true where it is not 0",
                    type_text(cx->program->types, type_elem(v->type)));
        diag_help(cx->consts.diags, "write '!= 0'");
    }
    Val nonzero = lower_compare(cx, AST_NE, operand_at(c, span),
                                operand_at(val_const(const_int(0)), span), span);
    return lower_value(cx, nonzero, "condition", span);
}

static Val select_pointers(Lower *cx, IrValue *cond, const Val *v, const Span *spans, Span span)
{
    if (lower_type_of(cx, v[0]) != lower_type_of(cx, v[1]) &&
        type_elem(lower_type_of(cx, v[0])) != type_elem(lower_type_of(cx, v[1]))) {
        lower_error(cx, DIAG_TYPE_MISMATCH, span, "'where' needs values of one type, got %s and %s",
                    lower_text(cx, v[0]), lower_text(cx, v[1]));
        return val_error();
    }
    IrValue *args[3] = { cond, v[0].v, v[1].v };
    if (!lower_broadcast(cx, args, spans, 3, span))
        return val_error();
    return val_of(ir_select(&cx->b, args[0], args[1], args[2]));
}

Val lower_select(Lower *cx, const Val *v, const Span *spans, Span span)
{
    if (v[1].kind == VAL_ERROR || v[2].kind == VAL_ERROR)
        return val_error();
    IrValue *cond = select_condition(cx, v[0], spans[0]);
    if (!cond)
        return val_error();
    if (is_pointer(v[1]) || is_pointer(v[2]))
        return select_pointers(cx, cond, v + 1, spans, span);
    if (!want_numbers(cx, "where", v + 1, spans + 1, 2))
        return val_error();
    RuleResult r =
        rule_apply(RULE_SELECT3, (RuleOperand[]){ operand_of(&v[1]), operand_of(&v[2]) }, 2);
    if (refused(cx, &r, "where", spans + 1, span))
        return val_error();
    const Type *elem = type_scalar(cx->program->types, r.kind);
    IrValue *args[3] = { cond };
    for (unsigned i = 1; i < 3; i++)
        if (!(args[i] = lower_value_as(cx, v[i], elem, "operand", spans[i])))
            return val_error();
    if (!lower_broadcast(cx, args, spans, 3, span))
        return val_error();
    return val_of(ir_select(&cx->b, args[0], args[1], args[2]));
}

Val lower_elementwise(Lower *cx, IrCode code, const Val *args, const Span *spans, uint32_t n,
                      Span span)
{
    const IrOpInfo *info = &ir_op_info[code];
    const char *text = info->surface ? info->surface : info->mnemonic;
    RuleOperand operands[3] = { 0 };
    if (code == IR_SELECT && n == 3)
        return lower_select(cx, args, spans, span);
    if (n > 3 || !want_numbers(cx, text, args, spans, n))
        return val_error();
    bool weak = true;
    for (uint32_t i = 0; i < n; i++) {
        operands[i] = operand_of(&args[i]);
        weak = weak && is_weak(args[i]);
    }
    RuleResult r = rule_apply(info->rule, operands, n);
    if (refused(cx, &r, text, spans, span))
        return val_error();
    Val out = make_op(cx, code, &r, &(Operands){ args, spans, n, span });
    // cdiv(BLOCK, 4) of constexprs is a constexpr.
    if (weak && code == IR_CDIV)
        out.fixed = NULL;
    return out;
}
