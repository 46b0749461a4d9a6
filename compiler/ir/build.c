// build.c - construction of block IR: functions, blocks, operations and the usual shorthands.
//
// An IrBuilder is a place (block, operation to stand in front of) and a span; every function here
// puts one operation there. Result types follow from the operands by the rules that verify.c
// checks; shapes and promotion are the caller's work. Nothing is folded except a splat of a
// constant and a cast to the same type, which would only be noise in every printed function.
#include "ir/ir.h"

#include <assert.h>
#include <string.h>

const IrOpInfo ir_op_info[IR_CODE_COUNT] = {
#define OP(ID, mnemonic, surface, rule, cls, effects, attr, doc)                          \
    [IR_##ID] = {                                                                         \
        mnemonic, surface, RULE_##rule, OPCLASS_##cls, EFFECT_##effects, ATTR_##attr, doc \
    },
#include "ops.def"
#undef OP
};

static uint8_t rule_operands(TypeRule rule)
{
    if (rule == RULE_NONE)
        return 0;
    return rule < RULE_ARITH2 ? 1 : rule < RULE_FMA3 ? 2 : 3;  // ORDER TypeRule
}

IrArity ir_arity(IrCode code)
{
    switch ((int)code) {
    case IR_CONST:
    case IR_ARANGE:
    case IR_PROGRAM_ID:
    case IR_NUM_PROGRAMS: return (IrArity){ .results = 1 };
    case IR_PTR_ADD:
    case IR_PTR_DIFF: return (IrArity){ .required = 2, .results = 1 };
    case IR_LOAD:
        return (IrArity){
            .required = 1, .optional = 2, .results = 1, .optional_names = { "mask", "other" }
        };
    case IR_STORE: return (IrArity){ .required = 2, .optional = 1, .optional_names = { "mask" } };
    case IR_ATOMIC_RMW:
        return (
            IrArity){ .required = 2, .optional = 1, .results = 1, .optional_names = { "mask" } };
    case IR_ATOMIC_CAS:
    case IR_DOT: return (IrArity){ .required = 3, .results = 1 };
    case IR_FOR: return (IrArity){ .required = 3, .regions = 1, .variadic = true };
    case IR_WHILE: return (IrArity){ .regions = 2, .variadic = true };
    case IR_IF: return (IrArity){ .required = 1, .regions = 2, .variadic = true };
    case IR_YIELD:
    case IR_RETURN: return (IrArity){ .variadic = true };
    case IR_BARRIER:
    case IR_ASYNC_COMMIT:
    case IR_ASYNC_WAIT: return (IrArity){ 0 };
    case IR_TILE_PUT: return (IrArity){ .required = 2 };
    case IR_ASYNC_COPY:
        return (IrArity){ .required = 2, .optional = 1, .optional_names = { "mask" } };
    case IR_PIPE_ACQUIRE:
    case IR_PIPE_WAIT:
    case IR_TEAM_ID:
    case IR_BLOCK_ID:
    case IR_BLOCK_COUNT: return (IrArity){ .results = 1 };
    case IR_TEAM_TAKE:
    case IR_TEAM_PASS: return (IrArity){ 0 };
    case IR_PIPE_SKIP:
    case IR_PIPE_RELEASE: return (IrArity){ .required = 1 };
    case IR_TENSOR_STORE:
    case IR_TENSOR_LOAD: return (IrArity){ .required = 1, .variadic = true };
    case IR_ASSERT: return (IrArity){ .required = 1, .optional = 1, .optional_names = { "mask" } };
    default: break;
    }
    uint8_t required = rule_operands(ir_op_info[code].rule);
    return (IrArity){ .required = required ? required : 1, .results = 1 };
}

IrFunc *ir_func_new(Arena *a, TypeTable *types, SymTable *syms, Sym name)
{
    IrFunc *fn = ARENA_NEW(a, IrFunc);
    *fn = (IrFunc){ .arena = a, .types = types, .syms = syms, .name = name };
    fn->num_warps = 4;
    fn->num_stages = 1;
    fn->body = ARENA_NEW(a, IrBlock);
    return fn;
}

static bool is_power_of_two(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

IrValue *ir_func_param(IrFunc *fn, Sym name, const Type *type)
{
    uint32_t count = fn->body->argc;
    if (is_power_of_two(count)) {
        IrParam *params = ARENA_NEW_N(fn->arena, IrParam, count ? 2 * (size_t)count : 1);
        if (count)
            memcpy(params, fn->params, count * sizeof *params);
        fn->params = params;
    }
    fn->params[count] = (IrParam){ .name = name, .source_index = count, .divisor = 1 };
    fn->params[count].is_const = type->kind == TYPE_PTR && type->is_const;
    return ir_block_arg(fn, fn->body, type, name);
}

uint16_t ir_add_ring(IrFunc *fn, const Type *block, unsigned stages, unsigned fast)
{
    const uint16_t count = fn->ring_count;
    IrRing *rings = ARENA_NEW_N(fn->arena, IrRing, (size_t)count + 1);
    if (count)
        memcpy(rings, fn->rings, count * sizeof *rings);
    rings[count] = (IrRing){ .block = block, .stages = (uint16_t)stages, .fast = (uint8_t)fast };
    fn->rings = rings;
    fn->ring_count++;
    return count;
}

uint16_t ir_add_pipe(IrFunc *fn, IrPipe pipe)
{
    IrPipe *pipes = ARENA_NEW_N(fn->arena, IrPipe, (size_t)fn->pipe_count + 1);
    if (fn->pipe_count)
        memcpy(pipes, fn->pipes, fn->pipe_count * sizeof *pipes);
    pipes[fn->pipe_count] = pipe;
    fn->pipes = pipes;
    return fn->pipe_count++;
}

uint16_t ir_add_map(IrFunc *fn, const IrTensorMap *map)
{
    IrTensorMap *maps = ARENA_NEW_N(fn->arena, IrTensorMap, (size_t)fn->map_count + 1);
    if (fn->map_count)
        memcpy(maps, fn->maps, fn->map_count * sizeof *maps);
    maps[fn->map_count] = *map;
    fn->maps = maps;
    return fn->map_count++;
}

IrValue *ir_tile(IrBuilder *b, uint16_t ring, IrValue *slot)
{
    IrValue *v = ir_op1(b, IR_TILE, b->fn->rings[ring].block, 1, &slot);
    v->def->attr.ring = ring;
    return v;
}

IrBlock *ir_block_new(IrFunc *fn, IrOp *parent)
{
    IrBlock *b = ARENA_NEW(fn->arena, IrBlock);
    b->parent = parent;
    return b;
}

static IrValue *value_new(IrFunc *fn, const Type *type, uint32_t index)
{
    IrValue *v = ARENA_NEW(fn->arena, IrValue);
    v->type = type;
    v->index = index;
    v->id = fn->value_count++;
    return v;
}

IrValue *ir_block_arg(IrFunc *fn, IrBlock *b, const Type *type, Sym hint)
{
    if (is_power_of_two(b->argc)) {
        IrValue **args = ARENA_NEW_N(fn->arena, IrValue *, b->argc ? 2 * (size_t)b->argc : 1);
        if (b->argc)
            memcpy(args, b->args, b->argc * sizeof(IrValue *));
        b->args = args;
    }
    IrValue *v = value_new(fn, type, b->argc);
    v->block = b;
    v->hint = hint;
    return b->args[b->argc++] = v;
}

static void link_op(IrBlock *block, IrOp *op, IrOp *before)
{
    op->block = block;
    op->next = before;
    op->prev = before ? before->prev : block->last;
    if (op->prev)
        op->prev->next = op;
    else
        block->first = op;
    if (before)
        before->prev = op;
    else
        block->last = op;
}

IrOp *ir_op(IrBuilder *b, IrCode code, uint32_t argc, IrValue *const *args, IrResults results,
            uint32_t regionc)
{
    Arena *a = b->fn->arena;
    IrOp *op = ARENA_NEW(a, IrOp);
    op->code = (uint16_t)code;
    op->span = b->span;
    op->smem = -1;
    op->argc = argc;
    op->args = ARENA_NEW_N(a, IrValue *, argc);
    for (uint32_t i = 0; i < argc; i++)
        op->args[i] = args[i];
    op->resultc = results.count;
    op->results = ARENA_NEW_N(a, IrValue *, results.count);
    for (uint32_t i = 0; i < results.count; i++) {
        op->results[i] = value_new(b->fn, results.types[i], i);
        op->results[i]->def = op;
    }
    op->regionc = (uint16_t)regionc;
    op->regions = ARENA_NEW_N(a, IrBlock *, regionc);
    for (uint32_t i = 0; i < regionc; i++)
        op->regions[i] = ir_block_new(b->fn, op);
    link_op(b->block, op, b->before);
    return op;
}

IrOp *ir_op0(IrBuilder *b, IrCode code, uint32_t argc, IrValue *const *args)
{
    return ir_op(b, code, argc, args, (IrResults){ 0, NULL }, 0);
}

IrValue *ir_op1(IrBuilder *b, IrCode code, const Type *type, uint32_t argc, IrValue *const *args)
{
    return ir_op(b, code, argc, args, (IrResults){ 1, &type }, 0)->results[0];
}

IrValue *ir_const(IrBuilder *b, const Type *type, IrConst value)
{
    IrValue *v = ir_op1(b, IR_CONST, type, 0, NULL);
    v->def->attr.konst = value;
    return v;
}

IrValue *ir_const_int(IrBuilder *b, const Type *type, int64_t v)
{
    return ir_const(b, type, ir_const_of_int(type, v));
}

IrValue *ir_const_float(IrBuilder *b, const Type *type, double v)
{
    return ir_const(b, type, ir_const_of_float(type, v));
}

IrValue *ir_unary(IrBuilder *b, IrCode code, IrValue *x)
{
    const Type *type = x->type;
    if (ir_op_info[code].rule == RULE_FPRED)
        type = type_with_elem(b->fn->types, type, type_scalar(b->fn->types, SCALAR_I1));
    return ir_op1(b, code, type, 1, &x);
}

IrValue *ir_binary(IrBuilder *b, IrCode code, IrValue *x, IrValue *y)
{
    const Type *type = x->type;
    if (ir_op_info[code].rule == RULE_CMP2)
        type = type_with_elem(b->fn->types, type, type_scalar(b->fn->types, SCALAR_I1));
    return ir_op1(b, code, type, 2, (IrValue *[]){ x, y });
}

IrValue *ir_select(IrBuilder *b, IrValue *c, IrValue *x, IrValue *y)
{
    return ir_op1(b, IR_SELECT, x->type, 3, (IrValue *[]){ c, x, y });
}

IrValue *ir_cast(IrBuilder *b, IrValue *x, const Type *elem)
{
    const Type *type = type_with_elem(b->fn->types, x->type, elem);
    return type == x->type ? x : ir_op1(b, IR_CAST, type, 1, &x);
}

IrValue *ir_splat(IrBuilder *b, IrValue *x, const Type *block)
{
    if (x->type == block)
        return x;
    if (ir_is_const(x))
        return ir_const(b, block, x->def->attr.konst);
    return ir_op1(b, IR_SPLAT, block, 1, &x);
}

IrValue *ir_arange(IrBuilder *b, int64_t lo, int64_t hi)
{
    TypeTable *types = b->fn->types;
    int32_t extent = (int32_t)(hi - lo);
    const Type *type = type_block(types, type_scalar(types, SCALAR_I32), 1, &extent);
    IrValue *v = ir_op1(b, IR_ARANGE, type, 0, NULL);
    v->def->attr.range.lo = lo;
    v->def->attr.range.hi = hi;
    return v;
}

IrValue *ir_expand_dims(IrBuilder *b, IrValue *x, int axis)
{
    unsigned rank = type_rank(x->type);
    int32_t shape[TYPE_MAX_RANK];
    assert(axis >= 0 && (unsigned)axis <= rank && rank < TYPE_MAX_RANK);
    for (unsigned k = 0, from = 0; k <= rank; k++)
        shape[k] = k == (unsigned)axis ? 1 : x->type->shape[from++];
    const Type *type = type_block(b->fn->types, type_elem(x->type), rank + 1, shape);
    IrValue *v = ir_op1(b, IR_EXPAND_DIMS, type, 1, &x);
    v->def->attr.axis = axis;
    return v;
}

IrValue *ir_broadcast(IrBuilder *b, IrValue *x, const Type *to)
{
    return x->type == to ? x : ir_op1(b, IR_BROADCAST, to, 1, &x);
}

IrValue *ir_reshape(IrBuilder *b, IrValue *x, const Type *to)
{
    return x->type == to ? x : ir_op1(b, IR_RESHAPE, to, 1, &x);
}

IrValue *ir_trans(IrBuilder *b, IrValue *x, const uint8_t *perm)
{
    unsigned rank = type_rank(x->type);
    int32_t shape[TYPE_MAX_RANK];
    for (unsigned k = 0; k < rank; k++)
        shape[k] = x->type->shape[perm[k]];
    const Type *type = type_block(b->fn->types, type_elem(x->type), rank, shape);
    IrValue *v = ir_op1(b, IR_TRANS, type, 1, &x);
    memcpy(v->def->attr.perm, perm, rank);
    return v;
}

IrValue *ir_ptr_add(IrBuilder *b, IrValue *p, IrValue *offset)
{
    return ir_op1(b, IR_PTR_ADD, p->type, 2, (IrValue *[]){ p, offset });
}

IrValue *ir_load(IrBuilder *b, IrValue *p, IrValue *mask, IrValue *other, IrMem mem)
{
    const Type *type = type_with_elem(b->fn->types, p->type, type_elem(p->type)->elem);
    IrValue *v = ir_op1(b, IR_LOAD, type, 3, (IrValue *[]){ p, mask, other });
    v->def->attr.mem = mem;
    return v;
}

void ir_store(IrBuilder *b, IrValue *p, IrValue *v, IrValue *mask, IrMem mem)
{
    IrOp *op = ir_op0(b, IR_STORE, 3, (IrValue *[]){ p, v, mask });
    op->attr.mem = mem;
}

const Type *ir_reduce_type(TypeTable *types, IrReduceKind kind, const Type *operand, int axis)
{
    const Type *elem = type_elem(operand);
    if (kind == REDUCE_ARGMAX || kind == REDUCE_ARGMIN)
        elem = type_scalar(types, SCALAR_I32);
    int32_t shape[TYPE_MAX_RANK];
    unsigned rank = 0;
    for (unsigned k = 0; k < operand->rank; k++)
        if (k != (unsigned)axis)
            shape[rank++] = operand->shape[k];
    return type_block(types, elem, rank, shape);
}

IrValue *ir_reduce(IrBuilder *b, IrReduceKind kind, IrValue *x, int axis)
{
    assert(axis >= 0 && (unsigned)axis < type_rank(x->type));
    IrValue *v = ir_op1(b, IR_REDUCE, ir_reduce_type(b->fn->types, kind, x->type, axis), 1, &x);
    v->def->attr.reduce.kind = kind;
    v->def->attr.reduce.axis = axis;
    v->def->attr.reduce.tie_break_left = true;
    return v;
}

IrValue *ir_trip_count(IrBuilder *b, IrValue *lo, IrValue *hi, IrValue *step)
{
    const ScalarKind kind = type_elem_bytes(lo->type) == 8 ? SCALAR_U64 : SCALAR_U32;
    const Type *u = type_scalar(b->fn->types, kind);
    IrValue *from = ir_cast(b, lo, u), *to = ir_cast(b, hi, u);
    IrValue *span = ir_binary(b, IR_SUB, to, from);
    IrValue *none = ir_const_int(b, u, 0), *runs = ir_binary(b, IR_LT, lo, hi);
    if (ir_is_const(step) && step->def->attr.konst.i == 1)
        return ir_select(b, runs, span, none);
    // How often the step fits between the bounds, rounded up.
    IrValue *one = ir_const_int(b, u, 1);
    IrValue *whole = ir_binary(b, IR_IDIV, ir_binary(b, IR_SUB, span, one), ir_cast(b, step, u));
    return ir_select(b, runs, ir_binary(b, IR_ADD, whole, one), none);
}
