/// ir_random.h - random programs of narrow integers, and arguments that fit their parameters.
///
/// Narrow types wrap often, constants are mostly powers of two, and loops and branches nest: what
/// analyses and rewrites of integer code get wrong shows here. Deterministic for a seed.
#ifndef NEWT_TESTS_UNIT_IR_RANDOM_H
#define NEWT_TESTS_UNIT_IR_RANDOM_H
#include "ir_case.h"
#include "ir_eval.h"

typedef struct Random {
    uint64_t state;
} Random;

static inline uint32_t pick(Random *r, uint32_t count)
{
    r->state ^= r->state << 13;
    r->state ^= r->state >> 7;
    r->state ^= r->state << 17;
    return (uint32_t)((r->state * UINT64_C(0x2545F4914F6CDD1D)) >> 33) % count;
}

typedef struct Maker {
    Random random;
    IrBuilder b;
    VEC(IrValue *) values;  // visible ones
} Maker;

static const ScalarKind maker_kinds[] = { SCALAR_I8, SCALAR_U8, SCALAR_I16, SCALAR_I32,
                                          SCALAR_I64 };

static const Type *any_scalar(Maker *m)
{
    return type_scalar(m->b.fn->types, maker_kinds[pick(&m->random, 5)]);
}

static inline IrValue *any_value(Maker *m)
{
    return m->values.at[pick(&m->random, m->values.len)];
}

/// A visible value of that type; NULL after some tries.
static inline IrValue *any_of_type(Maker *m, const Type *t)
{
    for (int i = 0; i < 30; i++) {
        IrValue *v = any_value(m);
        if (v->type == t)
            return v;
    }
    return NULL;
}

static inline int64_t any_number(Maker *m)
{
    static const int64_t nice[] = { 0,   1,  2,  3,  4,    5, 8,  16, 32, 64,
                                    127, -1, -4, -8, -128, 7, 15, 12, -16 };
    return nice[pick(&m->random, sizeof nice / sizeof *nice)];
}

static inline IrValue *make_binary(Maker *m)
{
    static const IrCode codes[] = { IR_ADD,  IR_ADD, IR_ADD,  IR_SUB, IR_MUL, IR_MUL,
                                    IR_IDIV, IR_REM, IR_CDIV, IR_AND, IR_OR,  IR_XOR,
                                    IR_SHL,  IR_SHR, IR_MAX,  IR_MIN, IR_LT,  IR_LE,
                                    IR_GT,   IR_GE,  IR_EQ,   IR_NE };
    IrValue *x = any_value(m);
    IrValue *y = any_of_type(m, x->type);
    if (!type_is_int(x->type))
        return NULL;
    if (!y || pick(&m->random, 3) == 0)
        y = ir_const_int(&m->b, x->type, any_number(m));
    IrCode code = codes[pick(&m->random, sizeof codes / sizeof *codes)];
    return pick(&m->random, 2) ? ir_binary(&m->b, code, x, y) : ir_binary(&m->b, code, y, x);
}

static inline IrValue *make_shape(Maker *m)
{
    static const int32_t shapes[][2] = { { 4, 8 },  { 8, 4 },  { 2, 16 },
                                         { 16, 2 }, { 1, 32 }, { 32, 1 } };
    TypeTable *types = m->b.fn->types;
    IrValue *x = any_value(m);
    const Type *t = x->type;
    if (type_rank(t) == 0) {
        const int32_t *shape = shapes[pick(&m->random, 6)];
        unsigned rank = 1 + pick(&m->random, 2);
        return ir_splat(&m->b, x, type_block(types, t, rank, rank == 1 ? (int32_t[]){ 8 } : shape));
    }
    if (type_rank(t) == 1 && t->numel == 8) {
        bool row = pick(&m->random, 2);
        IrValue *y = ir_expand_dims(&m->b, x, row ? 0 : 1);
        return ir_broadcast(&m->b, y, type_block(types, t->elem, 2, shapes[row ? 0 : 1]));
    }
    if (type_rank(t) == 2 && pick(&m->random, 2))
        return ir_trans(&m->b, x, (uint8_t[]){ 1, 0 });
    if (t->numel != 32)
        return NULL;
    unsigned rank = 1 + pick(&m->random, 2);
    const int32_t *shape = rank == 1 ? (int32_t[]){ 32 } : shapes[pick(&m->random, 6)];
    return ir_reshape(&m->b, x, type_block(types, t->elem, rank, shape));
}

static inline IrValue *make_unary(Maker *m)
{
    IrValue *x = any_value(m);
    if (!type_is_int(x->type))
        return NULL;
    switch (pick(&m->random, 8)) {
    case 0: return ir_unary(&m->b, IR_NEG, x);
    case 1: return ir_unary(&m->b, IR_ABS, x);
    case 2: return ir_unary(&m->b, IR_NOT, x);
    default: return ir_cast(&m->b, x, any_scalar(m));
    }
}

static inline IrValue *make_choice(Maker *m)
{
    IrValue *x = any_value(m);
    IrValue *y = any_of_type(m, x->type);
    TypeTable *types = m->b.fn->types;
    IrValue *c = any_of_type(m, type_with_elem(types, x->type, type_scalar(types, SCALAR_I1)));
    return y && c ? ir_select(&m->b, c, x, y) : NULL;
}

static inline IrValue *make_pointer(Maker *m)
{
    IrValue *x = any_value(m), *p = any_value(m);
    if (!type_is_int(x->type) || !type_is_ptr(p->type))
        return NULL;
    if (type_is_block(x->type) && !type_is_block(p->type))
        p = ir_splat(&m->b, p, type_with_elem(m->b.fn->types, x->type, p->type));
    return type_same_shape(p->type, x->type) ? ir_ptr_add(&m->b, p, x) : NULL;
}

static inline IrValue *make_source(Maker *m)
{
    static const int64_t starts[] = { 0, 0, 8, 3, -8, 4, 100, 124 };
    TypeTable *types = m->b.fn->types;
    if (pick(&m->random, 2))
        return ir_const_int(&m->b, any_scalar(m), any_number(m));
    if (pick(&m->random, 4) == 0)
        return ir_op1(&m->b, IR_PROGRAM_ID, type_scalar(types, SCALAR_I32), 0, NULL);
    int64_t lo = starts[pick(&m->random, 8)];
    IrValue *v = ir_arange(&m->b, lo, lo + (pick(&m->random, 2) ? 8 : 32));
    return ir_cast(&m->b, v, any_scalar(m));
}

static inline void make_ops(Maker *m, int count, int depth);

static inline IrValue *make_loop(Maker *m, int depth)
{
    TypeTable *types = m->b.fn->types;
    const Type *i32 = type_scalar(types, SCALAR_I32);
    uint32_t visible = m->values.len;
    IrValue *init = any_value(m);
    int64_t step = (int64_t[]){ 1, 2, 4, -1, -2 }[pick(&m->random, 5)];
    int64_t lo = 8 * (int64_t)pick(&m->random, 3), hi = lo + step * (int64_t)pick(&m->random, 4);
    IrValue *args[] = { ir_const_int(&m->b, i32, lo), ir_const_int(&m->b, i32, hi),
                        ir_const_int(&m->b, i32, step), init };
    IrOp *loop = ir_op(&m->b, IR_FOR, 4, args, (IrResults){ 1, &init->type }, 1);
    IrBuilder outer = m->b;
    m->b.block = loop->regions[0];
    VEC_PUSH(outer.fn->arena, &m->values, ir_block_arg(outer.fn, m->b.block, i32, NULL));
    VEC_PUSH(outer.fn->arena, &m->values, ir_block_arg(outer.fn, m->b.block, init->type, NULL));
    make_ops(m, 6, depth + 1);
    IrValue *back = any_of_type(m, init->type);
    ir_op0(&m->b, IR_YIELD, 1, &(IrValue *){ back ? back : init });
    m->b = outer;
    m->values.len = visible;
    return loop->results[0];
}

static inline IrValue *make_branch(Maker *m, int depth)
{
    IrValue *c = any_of_type(m, type_scalar(m->b.fn->types, SCALAR_I1));
    const Type *type = any_value(m)->type;
    if (!c)
        return NULL;
    uint32_t visible = m->values.len;
    IrOp *op = ir_op(&m->b, IR_IF, 1, &c, (IrResults){ 1, &type }, 2);
    IrBuilder outer = m->b;
    for (int r = 0; r < 2; r++) {
        m->b.block = op->regions[r];
        make_ops(m, 3, depth + 1);
        IrValue *v = any_of_type(m, type);
        if (!v)
            v = ir_op1(&m->b, IR_CONST, type, 0, NULL);
        ir_op0(&m->b, IR_YIELD, 1, &v);
        m->values.len = visible;
    }
    m->b = outer;
    return op->results[0];
}

static inline void make_ops(Maker *m, int count, int depth)
{
    for (int i = 0; i < count; i++) {
        IrValue *v = NULL;
        uint32_t what = pick(&m->random, 24);
        if (what < 3)
            v = make_source(m);
        else if (what < 8)
            v = make_shape(m);
        else if (what < 11)
            v = make_unary(m);
        else if (what < 13)
            v = make_choice(m);
        else if (what < 15)
            v = make_pointer(m);
        else if (what == 15 && depth < 2)
            v = make_loop(m, depth);
        else if (what == 16 && depth < 2)
            v = make_branch(m, depth);
        else
            v = make_binary(m);
        if (v)
            VEC_PUSH(m->b.fn->arena, &m->values, v);
    }
}

enum { MAKER_PARAMS = 5 };

/// A function without its return, with every value of its body visible in `m`.
static inline IrFunc *make_program(Maker *m, IrCase *c, uint64_t seed)
{
    IrFunc *fn = ir_case_read(c, "func @f(%x: i32 {divisor=16}, %y: i8 {divisor=4}, "
                                 "%z: u8 {range=[0, 40]}, %p: *fp16 {divisor=16}, %w: i8) {\n}\n");
    *m = (Maker){ .random = { seed * UINT64_C(0x9E3779B97F4A7C15) },
                  .b = { .fn = fn, .block = fn->body } };
    for (uint32_t i = 0; i < fn->body->argc; i++)
        VEC_PUSH(&c->arena, &m->values, fn->body->args[i]);
    for (int i = 0; i < 6; i++)
        VEC_PUSH(&c->arena, &m->values, make_source(m));
    make_ops(m, 40, 0);
    return fn;
}

/// Sets up a run; `args` must live as long as it.
static inline void make_arguments(Random *r, const IrFunc *fn, IrEval *ev, int64_t *args)
{
    args[0] = 16 * ((int64_t)pick(r, 1 << 28) - (1 << 27));
    args[1] = 4 * ((int64_t)pick(r, 64) - 32);
    args[2] = pick(r, 41);
    args[3] = (int64_t)pick(r, 1 << 20) * 16;
    args[4] = (int64_t)pick(r, 256) - 128;
    ev->program_id = pick(r, 2) ? pick(r, 8) : INT32_MAX - 1 - (int64_t)pick(r, 8);
    ev->value = ARENA_NEW_N(ev->arena, int64_t *, fn->value_count);
    for (uint32_t i = 0; i < MAKER_PARAMS; i++)
        ev->value[fn->body->args[i]->id] = &args[i];
}

#endif
