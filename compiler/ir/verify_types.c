// verify_types.c - the rules of block IR about operand types, result types and attributes.
//
// Operands of one elementwise operation have one type (lowering promoted them), shapes are equal
// (lowering broadcast them), and once layouts are assigned operands and results of elementwise and
// memory operations share one, so that the emitters need no case for anything else.
#include "ir/verify_impl.h"

#include <inttypes.h>
#include <string.h>

static bool has_type(const IrVerifier *v, const IrValue *value, const Type *like, ScalarKind kind)
{
    return value->type == type_with_elem(v->fn->types, like, type_scalar(v->fn->types, kind));
}

static bool is_scalar_int(const Type *t)
{
    return t->kind == TYPE_SCALAR && type_is_int(t);
}

static bool bad_operand(IrVerifier *v, const IrOp *op, uint32_t i)
{
    return ir_verify_fault(v, op, "operand %" PRIu32 " has type '%s'", i,
                           type_text(v->fn->types, op->args[i]->type));
}

static bool bad_result(IrVerifier *v, const IrOp *op)
{
    return ir_verify_fault(v, op, "the result has type '%s'",
                           type_text(v->fn->types, op->results[0]->type));
}

/* ---- creation ---- */

static bool check_const(IrVerifier *v, const IrOp *op)
{
    const Type *type = op->results[0]->type;
    IrConst c = op->attr.konst;
    bool is_float = type_is_float(type) || type_is_fp8(type);
    if (c.is_float != is_float ||
        !ir_const_equal(c, is_float ? ir_const_of_float(type, c.f) : ir_const_of_int(type, c.i)))
        return ir_verify_fault(v, op, "the type '%s' cannot hold the value",
                               type_text(v->fn->types, type));
    return true;
}

static bool check_arange(IrVerifier *v, const IrOp *op)
{
    const Type *type = op->results[0]->type;
    int64_t lo = op->attr.range.lo, hi = op->attr.range.hi;
    if (type->kind != TYPE_BLOCK || type->rank != 1 || type->elem->kind != TYPE_SCALAR ||
        type->elem->scalar != SCALAR_I32)
        return bad_result(v, op);
    if (lo < INT32_MIN || hi > (int64_t)INT32_MAX + 1 || hi - lo != type->shape[0])
        return ir_verify_fault(v, op, "%" PRId64 " to %" PRId64 " in %d elements", lo, hi,
                               (int)type->shape[0]);
    return true;
}

static bool check_splat(IrVerifier *v, const IrOp *op)
{
    if (type_is_block(op->args[0]->type))
        return bad_operand(v, op, 0);
    const Type *type = op->results[0]->type;
    return (type_is_block(type) && type->elem == op->args[0]->type) || bad_result(v, op);
}

static bool check_program_id(IrVerifier *v, const IrOp *op)
{
    const Type *type = op->results[0]->type;
    if (op->attr.axis < 0 || op->attr.axis > 2)
        return ir_verify_fault(v, op, "axis %d", op->attr.axis);
    return type == type_scalar(v->fn->types, SCALAR_I32) || bad_result(v, op);
}

/* ---- elementwise, by the row's rule ---- */

static bool rule_takes(TypeRule rule, const Type *t)
{
    bool is_int = type_is_int(t) || type_is_bool(t);
    switch (rule) {
    case RULE_FLOAT1:
    case RULE_FPRED:
    case RULE_FLOAT2:
    case RULE_FMA3: return type_is_float(t);
    case RULE_DIV2: return type_is_float(t) || type_is_fp8(t);
    case RULE_INT1:
    case RULE_IDIV2:
    case RULE_BIT2:
    case RULE_SHIFT2: return is_int;
    case RULE_UMULHI2: return type_is_int(t) && type_elem_bytes(t) >= 4;
    case RULE_ANY1:
    case RULE_ARITH2:
    case RULE_REM2:
    case RULE_MINMAX2:
    case RULE_CLAMP3: return type_is_num(t);
    case RULE_CMP2:
    case RULE_SELECT3:
    case RULE_NONE: return true;
    }
    return false;
}

static bool check_by_rule(IrVerifier *v, const IrOp *op)
{
    TypeRule rule = ir_op_info[op->code].rule;
    uint32_t first = rule == RULE_SELECT3 ? 1 : 0;
    const Type *type = op->args[first]->type;
    for (uint32_t i = first; i < op->argc; i++)
        if (op->args[i]->type != type || !rule_takes(rule, op->args[i]->type))
            return bad_operand(v, op, i);
    if (first == 1 && !has_type(v, op->args[0], type, SCALAR_I1))
        return bad_operand(v, op, 0);
    if (rule == RULE_FPRED || rule == RULE_CMP2)
        return has_type(v, op->results[0], type, SCALAR_I1) || bad_result(v, op);
    return op->results[0]->type == type || bad_result(v, op);
}

static bool check_cast(IrVerifier *v, const IrOp *op)
{
    const Type *from = op->args[0]->type, *to = op->results[0]->type;
    bool ok = type_same_shape(from, to);
    if (type_is_ptr(from))
        ok = ok &&
             (type_is_ptr(to) || type_is_bool(to) || (type_is_int(to) && type_elem_bytes(to) == 8));
    else if (type_is_ptr(to))
        ok = ok && type_is_int(from);
    if (op->attr.round_to_zero)
        ok = ok && (type_is_float(from) || type_is_fp8(from)) &&
             (type_is_float(to) || type_is_fp8(to));
    return ok || bad_result(v, op);
}

static unsigned elem_bits(const Type *t)
{
    return type_is_ptr(t) ? 64 : scalar_info[type_scalar_kind(t)].bits;
}

static bool check_bitcast(IrVerifier *v, const IrOp *op)
{
    const Type *from = op->args[0]->type, *to = op->results[0]->type;
    return (type_same_shape(from, to) && elem_bits(from) == elem_bits(to)) || bad_result(v, op);
}

static bool check_ptr_add(IrVerifier *v, const IrOp *op)
{
    const Type *p = op->args[0]->type, *offset = op->args[1]->type;
    if (!type_is_ptr(p))
        return bad_operand(v, op, 0);
    if (!type_is_int(offset) || !type_same_shape(p, offset))
        return bad_operand(v, op, 1);
    return op->results[0]->type == p || bad_result(v, op);
}

static bool check_ptr_diff(IrVerifier *v, const IrOp *op)
{
    const Type *p = op->args[0]->type;
    if (!type_is_ptr(p))
        return bad_operand(v, op, 0);
    if (op->args[1]->type != p)
        return bad_operand(v, op, 1);
    return has_type(v, op->results[0], p, SCALAR_I64) || bad_result(v, op);
}

/* ---- shape ---- */

static bool check_expand_dims(IrVerifier *v, const IrOp *op)
{
    const Type *from = op->args[0]->type, *to = op->results[0]->type;
    unsigned rank = type_rank(from);
    int axis = op->attr.axis;
    bool ok = type_rank(to) == rank + 1 && type_elem(from) == type_elem(to) && axis >= 0 &&
              (unsigned)axis <= rank;
    for (unsigned k = 0; ok && k <= rank; k++) {
        unsigned from_axis = k < (unsigned)axis ? k : k - 1;
        ok = to->shape[k] == (k == (unsigned)axis ? 1 : from->shape[from_axis]);
    }
    return ok || bad_result(v, op);
}

static bool check_broadcast(IrVerifier *v, const IrOp *op)
{
    const Type *from = op->args[0]->type, *to = op->results[0]->type;
    bool ok =
        type_is_block(from) && type_rank(from) == type_rank(to) && type_elem(from) == type_elem(to);
    for (unsigned k = 0; ok && k < from->rank; k++)
        ok = from->shape[k] == to->shape[k] || from->shape[k] == 1;
    return ok || bad_result(v, op);
}

static bool check_reshape(IrVerifier *v, const IrOp *op)
{
    const Type *from = op->args[0]->type, *to = op->results[0]->type;
    return (type_is_block(from) && type_is_block(to) && from->elem == to->elem &&
            from->numel == to->numel) ||
           bad_result(v, op);
}

static bool check_trans(IrVerifier *v, const IrOp *op)
{
    const Type *from = op->args[0]->type, *to = op->results[0]->type;
    bool ok =
        type_is_block(from) && type_rank(from) == type_rank(to) && type_elem(from) == type_elem(to);
    uint32_t seen = 0;
    for (unsigned k = 0; ok && k < from->rank; k++) {
        unsigned axis = op->attr.perm[k];
        ok = axis < from->rank && (seen >> axis & 1) == 0 && to->shape[k] == from->shape[axis];
        seen |= ok ? UINT32_C(1) << axis : 0;
    }
    return ok || bad_result(v, op);
}

/* ---- memory ---- */

static bool check_mem(IrVerifier *v, const IrOp *op)
{
    const IrMem *m = &op->attr.mem;
    if ((m->vec & (m->vec - 1)) != 0 || m->cache > CACHE_WT || m->evict > EVICT_LAST)
        return ir_verify_fault(v, op, "memory attributes out of range");
    return true;
}

static bool check_mask(IrVerifier *v, const IrOp *op, uint32_t i)
{
    return !op->args[i] || has_type(v, op->args[i], op->args[0]->type, SCALAR_I1) ||
           bad_operand(v, op, i);
}

static const Type *pointee_type(const IrVerifier *v, const Type *p)
{
    return type_with_elem(v->fn->types, p, type_elem(p)->elem);
}

static bool check_load(IrVerifier *v, const IrOp *op)
{
    const Type *p = op->args[0]->type;
    if (!type_is_ptr(p))
        return bad_operand(v, op, 0);
    if (!check_mask(v, op, 1))
        return false;
    const IrValue *other = op->args[2];
    if (other && (!op->args[1] || other->type != pointee_type(v, p)))
        return bad_operand(v, op, 2);
    return op->results[0]->type == pointee_type(v, p) ? check_mem(v, op) : bad_result(v, op);
}

/// STORE and both atomics: a pointer that may be written through, values of its element type.
static bool check_writing(IrVerifier *v, const IrOp *op, uint32_t values)
{
    const Type *p = op->args[0]->type;
    if (!type_is_ptr(p) || type_elem(p)->is_const)
        return bad_operand(v, op, 0);
    for (uint32_t i = 1; i <= values; i++)
        if (op->args[i]->type != pointee_type(v, p))
            return bad_operand(v, op, i);
    return op->resultc == 0 || op->results[0]->type == pointee_type(v, p) || bad_result(v, op);
}

static bool check_store(IrVerifier *v, const IrOp *op)
{
    return check_writing(v, op, 1) && check_mask(v, op, 2) && check_mem(v, op);
}

static bool check_atomic_rmw(IrVerifier *v, const IrOp *op)
{
    IrAtomicKind kind = op->attr.atomic.kind;
    bool bitwise = kind == ATOMIC_AND || kind == ATOMIC_OR || kind == ATOMIC_XOR;
    if (!check_writing(v, op, 1) || !check_mask(v, op, 2))
        return false;
    return !bitwise || type_is_int(op->args[1]->type) || bad_operand(v, op, 1);
}

static bool check_atomic_cas(IrVerifier *v, const IrOp *op)
{
    return check_writing(v, op, 2);
}

static bool check_reduce(IrVerifier *v, const IrOp *op)
{
    const Type *type = op->args[0]->type;
    IrReduceKind kind = op->attr.reduce.kind;
    int axis = op->attr.reduce.axis;
    bool bitwise = kind == REDUCE_XOR || kind == REDUCE_OR;
    if (!type_is_block(type) || !type_is_num(type) ||
        (bitwise && !type_is_int(type) && !type_is_bool(type)))
        return bad_operand(v, op, 0);
    if (axis < 0 || axis >= type->rank)
        return ir_verify_fault(v, op, "axis %d", axis);
    return op->results[0]->type == ir_reduce_type(v->fn->types, kind, type, axis) ||
           bad_result(v, op);
}

/// What a dot sums in, and so gives: the operands' own kind, wide.
static bool sums_in(ScalarKind factor, ScalarKind sum)
{
    switch ((int)factor) {
    case SCALAR_I8: return sum == SCALAR_I32;
    case SCALAR_E4M3:
    case SCALAR_E5M2:
    case SCALAR_F16: return sum == SCALAR_F32 || sum == SCALAR_F16;
    case SCALAR_BF16:
    case SCALAR_F32: return sum == SCALAR_F32;
    case SCALAR_F64: return sum == SCALAR_F64;
    default: return false;
    }
}

/// What the body of a loop yields as its result `index`, waited for or not.
static const IrOp *yielded_by(const IrOp *loop, uint32_t index)
{
    const IrBlock *body = loop->regions[0];
    const IrOp *last = body->last && index < body->last->argc ? body->last->args[index]->def : NULL;
    return last && last->code == IR_DOT_WAIT ? last->args[0]->def : last;
}

/// A carried product adds to what the loop carries, and gives that on.
static bool check_running_on(IrVerifier *v, const IrOp *op)
{
    const IrValue *sum = op->args[2];
    const IrOp *loop = op->block->parent;
    if (!op->attr.dot.async || !loop || loop->code != IR_FOR || sum->def ||
        sum->block != op->block || sum->index == 0 || yielded_by(loop, sum->index - 1) != op)
        return ir_verify_fault(v, op, "it does not add to a sum that its loop carries");
    return true;
}

static bool check_dot(IrVerifier *v, const IrOp *op)
{
    const Type *a = op->args[0]->type, *b = op->args[1]->type, *acc = op->args[2]->type;
    const unsigned rank = type_rank(a);
    if (rank < 2 || rank > 3 || !type_is_num(a))
        return bad_operand(v, op, 0);
    const bool alike = type_is_num(b) && (a->elem == b->elem || (type_is_fp8(a) && type_is_fp8(b)));
    if (type_rank(b) != rank || !alike || a->shape[rank - 1] != b->shape[rank - 2] ||
        (rank == 3 && a->shape[0] != b->shape[0]))
        return bad_operand(v, op, 1);
    if (type_rank(acc) != rank || !type_is_num(acc) || acc->shape[rank - 2] != a->shape[rank - 2] ||
        acc->shape[rank - 1] != b->shape[rank - 1] || (rank == 3 && acc->shape[0] != a->shape[0]) ||
        !sums_in(a->elem->scalar, acc->elem->scalar))
        return bad_operand(v, op, 2);
    if (op->results[0]->layout != op->args[2]->layout)
        return ir_verify_fault(v, op, "the result has another layout than the accumulator");
    if (op->attr.dot.precision >= PRECISION_COUNT)
        return ir_verify_fault(v, op, "precision out of range");
    if (op->attr.dot.wgmma && op->attr.dot.mma == 0)
        return ir_verify_fault(v, op, "a warpgroup without a matrix instruction");
    if (op->attr.dot.carried && !check_running_on(v, op))
        return false;
    return op->results[0]->type == acc || bad_result(v, op);
}

/* ---- control ---- */

static bool carried_alike(const IrValue *a, const IrValue *b)
{
    return a->type == b->type && a->layout == b->layout;
}

/// The yield of `b` gives what `results` of the operation take.
static bool check_yield(IrVerifier *v, const IrOp *op, const IrBlock *b)
{
    if (b->last->argc != op->resultc)
        return ir_verify_fault(v, op, "a region yields %" PRIu32 " values for %" PRIu32,
                               b->last->argc, op->resultc);
    for (uint32_t i = 0; i < op->resultc; i++)
        if (!b->last->args[i] || !carried_alike(b->last->args[i], op->results[i]))
            return ir_verify_fault(v, op, "yielded value %" PRIu32 " differs from the result", i);
    return true;
}

/// Initial values, block arguments after the first `skip`, and results correspond.
static bool check_carried(IrVerifier *v, const IrOp *op, const IrBlock *b, uint32_t skip)
{
    uint32_t first = op->argc - op->resultc;
    if (b->argc != op->resultc + skip)
        return ir_verify_fault(v, op, "a region takes %" PRIu32 " arguments", b->argc);
    for (uint32_t i = 0; i < op->resultc; i++) {
        if (!carried_alike(op->args[first + i], op->results[i]))
            return bad_operand(v, op, first + i);
        if (!carried_alike(b->args[skip + i], op->results[i]))
            return ir_verify_fault(v, op, "carried value %" PRIu32 " differs from the result", i);
    }
    return true;
}

static bool check_for(IrVerifier *v, const IrOp *op)
{
    const IrBlock *body = op->regions[0];
    const Type *type = op->args[0]->type;
    for (uint32_t i = 0; i < 3; i++)
        if (!is_scalar_int(type) || op->args[i]->type != type)
            return bad_operand(v, op, i);
    if (op->argc != 3 + op->resultc)
        return ir_verify_fault(v, op, "%" PRIu32 " operands", op->argc);
    if (!check_carried(v, op, body, 1) || !check_yield(v, op, body))
        return false;
    return body->args[0]->type == type || ir_verify_fault(v, op, "the counter's type differs");
}

static bool check_while(IrVerifier *v, const IrOp *op)
{
    const IrOp *test = op->regions[0]->last;
    if (op->argc != op->resultc)
        return ir_verify_fault(v, op, "%" PRIu32 " operands", op->argc);
    if (!check_carried(v, op, op->regions[0], 0) || !check_carried(v, op, op->regions[1], 0))
        return false;
    if (test->argc != 1 || !test->args[0] ||
        test->args[0]->type != type_scalar(v->fn->types, SCALAR_I1))
        return ir_verify_fault(v, op, "the condition is not one int1");
    return check_yield(v, op, op->regions[1]);
}

static bool check_if(IrVerifier *v, const IrOp *op)
{
    if (op->argc != 1 || op->args[0]->type != type_scalar(v->fn->types, SCALAR_I1))
        return bad_operand(v, op, 0);
    if (op->regions[0]->argc || op->regions[1]->argc)
        return ir_verify_fault(v, op, "its regions take no arguments");
    return check_yield(v, op, op->regions[0]) && check_yield(v, op, op->regions[1]);
}

static bool check_terminator(IrVerifier *v, const IrOp *op)
{
    if (op->resultc)
        return ir_verify_fault(v, op, "it has results");
    for (uint32_t i = 0; op->code == IR_RETURN && i < op->argc; i++)
        if (!is_scalar_int(op->args[i]->type))
            return bad_operand(v, op, i);
    return true;
}

static bool check_assert(IrVerifier *v, const IrOp *op)
{
    if (!type_is_bool(op->args[0]->type))
        return bad_operand(v, op, 0);
    if (!op->attr.text)
        return ir_verify_fault(v, op, "no message");
    return check_mask(v, op, 1);
}

static bool check_dot_wait(IrVerifier *v, const IrOp *op)
{
    const IrOp *dot = op->args[0]->def;
    if (dot != NULL && dot->code == IR_FOR && dot->block == op->block)
        dot = yielded_by(dot, op->args[0]->index);
    else if (dot != NULL && dot->block != op->block)
        dot = NULL;
    if (dot == NULL || dot->code != IR_DOT || !dot->attr.dot.async)
        return ir_verify_fault(v, op, "it does not wait for an asynchronous product of its block");
    if (op->results[0]->layout != op->args[0]->layout)
        return ir_verify_fault(v, op, "the result has another layout");
    return op->results[0]->type == op->args[0]->type || bad_result(v, op);
}

static bool check_tile(IrVerifier *v, const IrOp *op)
{
    if (op->attr.ring >= v->fn->ring_count)
        return ir_verify_fault(v, op, "there is no ring %u", op->attr.ring);
    if (op->args[0]->type != type_scalar(v->fn->types, SCALAR_I32))
        return bad_operand(v, op, 0);
    return op->results[0]->type == v->fn->rings[op->attr.ring].block || bad_result(v, op);
}

/// TILE_PUT and ASYNC_COPY: the ring, and the stage of it in operand `slot`.
static bool check_ring_slot(IrVerifier *v, const IrOp *op, uint32_t slot)
{
    if (op->attr.copy.ring >= v->fn->ring_count)
        return ir_verify_fault(v, op, "there is no ring %u", op->attr.copy.ring);
    return op->args[slot]->type == type_scalar(v->fn->types, SCALAR_I32) ||
           bad_operand(v, op, slot);
}

static bool check_tile_put(IrVerifier *v, const IrOp *op)
{
    return check_ring_slot(v, op, 0) &&
           (op->args[1]->type == v->fn->rings[op->attr.copy.ring].block || bad_operand(v, op, 1));
}

static bool check_async_copy(IrVerifier *v, const IrOp *op)
{
    const Type *p = op->args[0]->type;
    if (!check_ring_slot(v, op, 1))
        return false;
    if (!type_is_ptr(p) || pointee_type(v, p) != v->fn->rings[op->attr.copy.ring].block)
        return bad_operand(v, op, 0);
    return check_mask(v, op, 2) && check_mem(v, op);
}

static bool check_pipe(IrVerifier *v, const IrOp *op)
{
    const Type *i32 = type_scalar(v->fn->types, SCALAR_I32);
    const bool store = op->code == IR_TENSOR_STORE, moves = store || op->code == IR_TENSOR_LOAD;
    if (!store && op->attr.pipe.pipe >= v->fn->pipe_count)
        return ir_verify_fault(v, op, "there is no pipe %u", op->attr.pipe.pipe);
    if (moves && (op->attr.pipe.ring >= v->fn->ring_count || op->attr.pipe.map >= v->fn->map_count))
        return ir_verify_fault(v, op, "there is no such ring or map");
    if (store && (!type_is_block(op->args[0]->type) ||
                  type_elem(op->args[0]->type) != v->fn->maps[op->attr.pipe.map].elem))
        return bad_operand(v, op, 0);
    const uint32_t count = op->argc - op->attr.pipe.multicast;
    if (op->attr.pipe.multicast && op->args[count]->type != type_scalar(v->fn->types, SCALAR_I1))
        return bad_operand(v, op, count);
    for (uint32_t i = store; i < count; i++)
        if (op->args[i]->type != i32)
            return bad_operand(v, op, i);
    if (moves && count != 1u + v->fn->maps[op->attr.pipe.map].rank)
        return ir_verify_fault(v, op, "it has another number of coordinates than its map");
    return op->resultc == 0 || op->results[0]->type == i32 || bad_result(v, op);
}

static bool check_block_number(IrVerifier *v, const IrOp *op)
{
    return op->results[0]->type == type_scalar(v->fn->types, SCALAR_I32) || bad_result(v, op);
}

/// A tile may be read before there are layouts.
static bool check_convert(IrVerifier *v, const IrOp *op)
{
    if (ir_tile_of(op->args[0]))
        return op->results[0]->type == op->args[0]->type || bad_result(v, op);
    if (!v->fn->has_layouts || !type_is_block(op->args[0]->type))
        return ir_verify_fault(v, op, "only blocks with layouts are converted");
    return op->results[0]->type == op->args[0]->type || bad_result(v, op);
}

/* ---- dispatch ---- */

typedef bool Check(IrVerifier *v, const IrOp *op);
static Check *const checks[IR_CODE_COUNT] = {
    [IR_CONST] = check_const,
    [IR_ARANGE] = check_arange,
    [IR_SPLAT] = check_splat,
    [IR_PROGRAM_ID] = check_program_id,
    [IR_NUM_PROGRAMS] = check_program_id,
    [IR_CAST] = check_cast,
    [IR_BITCAST] = check_bitcast,
    [IR_PTR_ADD] = check_ptr_add,
    [IR_PTR_DIFF] = check_ptr_diff,
    [IR_EXPAND_DIMS] = check_expand_dims,
    [IR_BROADCAST] = check_broadcast,
    [IR_RESHAPE] = check_reshape,
    [IR_TRANS] = check_trans,
    [IR_LOAD] = check_load,
    [IR_STORE] = check_store,
    [IR_ATOMIC_RMW] = check_atomic_rmw,
    [IR_ATOMIC_CAS] = check_atomic_cas,
    [IR_REDUCE] = check_reduce,
    [IR_CARRY] = ir_verify_carry,
    [IR_DOT] = check_dot,
    [IR_DOT_WAIT] = check_dot_wait,
    [IR_FOR] = check_for,
    [IR_WHILE] = check_while,
    [IR_IF] = check_if,
    [IR_YIELD] = check_terminator,
    [IR_RETURN] = check_terminator,
    [IR_ASSERT] = check_assert,
    [IR_CONVERT] = check_convert,
    [IR_TILE] = check_tile,
    [IR_TILE_PUT] = check_tile_put,
    [IR_ASYNC_COPY] = check_async_copy,
    [IR_PIPE_ACQUIRE] = check_pipe,
    [IR_PIPE_WAIT] = check_pipe,
    [IR_PIPE_RELEASE] = check_pipe,
    [IR_PIPE_SKIP] = check_pipe,
    [IR_TEAM_ID] = check_block_number,
    [IR_TENSOR_LOAD] = check_pipe,
    [IR_TENSOR_STORE] = check_pipe,
    [IR_BLOCK_ID] = check_block_number,
    [IR_BLOCK_COUNT] = check_block_number,
};

/// Elementwise and memory operations move nothing between threads.
static bool check_layouts(IrVerifier *v, const IrOp *op)
{
    OpClass cls = ir_op_info[op->code].cls;
    if (cls != OPCLASS_ELEMENTWISE && cls != OPCLASS_MEMORY && cls != OPCLASS_ATOMIC)
        return true;
    for (uint32_t i = 1; i < op->argc; i++)
        if (op->args[i] && type_is_block(op->args[i]->type) &&
            op->args[i]->layout != op->args[0]->layout)
            return ir_verify_fault(v, op, "operand %" PRIu32 " has another layout", i);
    if (op->resultc && op->results[0]->layout != op->args[0]->layout)
        return ir_verify_fault(v, op, "the result has another layout");
    return true;
}

bool ir_verify_types(IrVerifier *v, const IrOp *op)
{
    Check *check = checks[op->code];
    if (!check && ir_op_info[op->code].rule != RULE_NONE)
        check = check_by_rule;
    return (!check || check(v, op)) && check_layouts(v, op);
}
