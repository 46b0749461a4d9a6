/// ir_eval.h - runs integer IR on numbers, element by element: what facts about it are held
/// against.
///
/// Written from the language reference and independent of the fold pass. Pointers are byte
/// addresses. Division by zero ends the run (its result is the hardware's choice).
#ifndef NEWT_TESTS_UNIT_IR_EVAL_H
#define NEWT_TESTS_UNIT_IR_EVAL_H
#include "ir/ir.h"

typedef struct IrEval IrEval;
struct IrEval {
    int64_t **value;  ///< by value id: numel elements; the caller fills in the parameters
    Arena *arena;
    int64_t program_id;   ///< along axis 0; 0 along the others
    int64_t programs[3];
    /// Called for every value each time it is computed.
    void (*check)(void *cx, const IrValue *v, const int64_t *elements);
    /// Called for every store; NULL when the program has none.
    void (*store)(void *cx, const IrOp *op, const int64_t *pointers, const int64_t *elements);
    /// Does operations that touch memory or tiles; false: it is none of its own. NULL: there are none.
    bool (*other)(IrEval *ev, const IrOp *op);
    void *cx;
};

static inline int64_t ir_eval_wrap(const Type *t, int64_t v)
{
    const Type *e = type_elem(t);
    if (e->kind == TYPE_PTR || scalar_info[e->scalar].bits == 64)
        return v;
    unsigned bits = scalar_info[e->scalar].bits;
    v = (int64_t)((uint64_t)v % (UINT64_C(1) << bits));
    return type_is_signed(t) && v >= INT64_C(1) << (bits - 1) ? v - (INT64_C(1) << bits) : v;
}

/// Operations of integers no wider than 64 bits, not uint64. False: division by zero.
static inline bool ir_eval_int(const IrOp *op, const Type *t, int64_t a, int64_t b, int64_t *out)
{
    unsigned bits = type_is_ptr(t) ? 64 : scalar_info[type_scalar_kind(t)].bits;
    int64_t count = b < 0 || b >= (int64_t)bits ? -1 : b;
    switch (op->code) {
    case IR_NEG: *out = (int64_t)(0 - (uint64_t)a); break;
    case IR_ABS: *out = a < 0 ? (int64_t)(0 - (uint64_t)a) : a; break;
    case IR_NOT: *out = ~a; break;
    case IR_ADD: *out = (int64_t)((uint64_t)a + (uint64_t)b); break;
    case IR_SUB: *out = (int64_t)((uint64_t)a - (uint64_t)b); break;
    case IR_MUL: *out = (int64_t)((uint64_t)a * (uint64_t)b); break;
    case IR_AND: *out = a & b; break;
    case IR_OR: *out = a | b; break;
    case IR_XOR: *out = a ^ b; break;
    case IR_MAX: *out = a > b ? a : b; break;
    case IR_MIN: *out = a < b ? a : b; break;
    case IR_EQ: *out = a == b; return true;
    case IR_NE: *out = a != b; return true;
    case IR_LT: *out = a < b; return true;
    case IR_LE: *out = a <= b; return true;
    case IR_GT: *out = a > b; return true;
    case IR_GE: *out = a >= b; return true;
    case IR_SHL: *out = count < 0 ? 0 : (int64_t)((uint64_t)a << count); break;
    case IR_SHR: *out = count < 0 ? (a < 0 ? -1 : 0) : a >> count; break;
    case IR_IDIV:
    case IR_CDIV:
    case IR_REM: {
        if (b == 0)
            return false;
        int64_t q = b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
        int64_t r = b == -1 ? 0 : a % b;
        bool up = op->code == IR_CDIV && r != 0 && (r > 0) == (b > 0);
        *out = op->code == IR_REM ? r : q + up;
        break;
    }
    default: *out = a; break;  // conversions
    }
    *out = ir_eval_wrap(op->results[0]->type, *out);
    return true;
}

/// Splits a row-major number into coordinates, and back.
static inline void ir_eval_split(const Type *t, uint32_t element, uint32_t *coord)
{
    for (unsigned k = type_rank(t); k-- > 0;) {
        coord[k] = element % (uint32_t)t->shape[k];
        element /= (uint32_t)t->shape[k];
    }
}

static inline uint32_t ir_eval_join(const Type *t, const uint32_t *coord)
{
    uint32_t element = 0;
    for (unsigned k = 0; k < type_rank(t); k++)
        element = element * (uint32_t)t->shape[k] + coord[k];
    return element;
}

/// The operand's element that result element `e` of a shape operation is.
static inline uint32_t ir_eval_source(const IrOp *op, uint32_t e)
{
    const Type *to = op->results[0]->type, *from = op->args[0]->type;
    uint32_t c[TYPE_MAX_RANK], d[TYPE_MAX_RANK] = { 0 };
    ir_eval_split(to, e, c);
    switch (op->code) {
    case IR_SPLAT: return 0;
    case IR_BROADCAST:
        for (unsigned k = 0; k < type_rank(from); k++)
            d[k] = from->shape[k] == 1 ? 0 : c[k];
        return ir_eval_join(from, d);
    case IR_TRANS:
        for (unsigned k = 0; k < type_rank(from); k++)
            d[op->attr.perm[k]] = c[k];
        return ir_eval_join(from, d);
    default: return e;  // reshape, expand_dims
    }
}

static inline bool ir_eval_op(IrEval *ev, const IrOp *op)
{
    const IrValue *r = op->results[0];
    int64_t *out = ev->value[r->id] = ARENA_NEW_N(ev->arena, int64_t, r->type->numel);
    const int64_t *x[3] = { NULL };
    for (uint32_t i = 0; i < op->argc; i++)
        x[i] = op->args[i] ? ev->value[op->args[i]->id] : NULL;
    for (uint32_t e = 0; e < r->type->numel; e++) {
        switch (op->code) {
        case IR_CONST: out[e] = op->attr.konst.i; break;
        case IR_ARANGE: out[e] = op->attr.range.lo + e; break;
        case IR_PROGRAM_ID: out[e] = op->attr.axis == 0 ? ev->program_id : 0; break;
        case IR_NUM_PROGRAMS: out[e] = ev->programs[op->attr.axis]; break;
        case IR_LOAD: out[e] = 0; break;
        case IR_SELECT: out[e] = x[0][e] ? x[1][e] : x[2][e]; break;
        case IR_PTR_ADD:
            out[e] = (int64_t)((uint64_t)x[0][e] +
                               (uint64_t)x[1][e] * type_elem_bytes(type_elem(r->type)->elem));
            break;
        case IR_SPLAT:
        case IR_EXPAND_DIMS:
        case IR_BROADCAST:
        case IR_RESHAPE:
        case IR_TRANS: out[e] = x[0][ir_eval_source(op, e)]; break;
        default:
            if (!ir_eval_int(op, op->args[0]->type, x[0][e], op->argc > 1 ? x[1][e] : 0, &out[e]))
                return false;
            break;
        }
    }
    ev->check(ev->cx, r, out);
    return true;
}

static inline bool ir_eval_block(IrEval *ev, const IrBlock *b);

static inline void ir_eval_set(IrEval *ev, const IrValue *v, int64_t *elements)
{
    ev->value[v->id] = elements;
    ev->check(ev->cx, v, elements);
}

static inline bool ir_eval_for(IrEval *ev, const IrOp *op)
{
    const IrBlock *body = op->regions[0];
    int64_t **carried = ARENA_NEW_N(ev->arena, int64_t *, op->resultc);
    int64_t lo = *ev->value[op->args[0]->id], hi = *ev->value[op->args[1]->id];
    int64_t step = *ev->value[op->args[2]->id];
    for (uint32_t i = 0; i < op->resultc; i++)
        carried[i] = ev->value[op->args[3 + i]->id];
    for (int64_t at = lo; step > 0 ? at < hi : step < 0 && at > hi; at += step) {
        int64_t *counter = ARENA_NEW(ev->arena, int64_t);
        *counter = at;
        ir_eval_set(ev, body->args[0], counter);
        for (uint32_t i = 0; i < op->resultc; i++)
            ir_eval_set(ev, body->args[1 + i], carried[i]);
        if (!ir_eval_block(ev, body))
            return false;
        for (uint32_t i = 0; i < op->resultc; i++)
            carried[i] = ev->value[body->last->args[i]->id];
    }
    for (uint32_t i = 0; i < op->resultc; i++)
        ir_eval_set(ev, op->results[i], carried[i]);
    return true;
}

static inline bool ir_eval_while(IrEval *ev, const IrOp *op)
{
    const IrBlock *condition = op->regions[0], *body = op->regions[1];
    int64_t **carried = ARENA_NEW_N(ev->arena, int64_t *, op->resultc);
    for (uint32_t i = 0; i < op->resultc; i++)
        carried[i] = ev->value[op->args[i]->id];
    for (;;) {
        for (uint32_t i = 0; i < op->resultc; i++)
            ir_eval_set(ev, condition->args[i], carried[i]);
        if (!ir_eval_block(ev, condition))
            return false;
        if (!*ev->value[condition->last->args[0]->id])
            break;
        for (uint32_t i = 0; i < op->resultc; i++)
            ir_eval_set(ev, body->args[i], carried[i]);
        if (!ir_eval_block(ev, body))
            return false;
        for (uint32_t i = 0; i < op->resultc; i++)
            carried[i] = ev->value[body->last->args[i]->id];
    }
    for (uint32_t i = 0; i < op->resultc; i++)
        ir_eval_set(ev, op->results[i], carried[i]);
    return true;
}

static inline bool ir_eval_if(IrEval *ev, const IrOp *op)
{
    const IrBlock *taken = op->regions[*ev->value[op->args[0]->id] ? 0 : 1];
    if (!ir_eval_block(ev, taken))
        return false;
    for (uint32_t i = 0; i < op->resultc; i++)
        ir_eval_set(ev, op->results[i], ev->value[taken->last->args[i]->id]);
    return true;
}

/// False when a division by zero ended the run.
static inline bool ir_eval_block(IrEval *ev, const IrBlock *b)
{
    for (const IrOp *op = b->first; op != b->last; op = op->next) {
        bool ok = true;
        if (ev->other && ev->other(ev, op))
            continue;
        if (op->code == IR_FOR)
            ok = ir_eval_for(ev, op);
        else if (op->code == IR_WHILE)
            ok = ir_eval_while(ev, op);
        else if (op->code == IR_IF)
            ok = ir_eval_if(ev, op);
        else if (op->code == IR_STORE)
            ev->store(ev->cx, op, ev->value[op->args[0]->id], ev->value[op->args[1]->id]);
        else
            ok = ir_eval_op(ev, op);
        if (!ok)
            return false;
    }
    return true;
}

#endif
