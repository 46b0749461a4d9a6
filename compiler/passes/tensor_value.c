// tensor_value.c - polynomials as operations, the numbers of iterations among them.
#include "passes/tensor_value.h"

typedef struct Builder {
    IrBuilder *b;
    IrValue **map;
    const Type *type;
} Builder;

static IrValue *mapped(const Builder *b, const IrValue *v)
{
    return b->map[v->id] ? b->map[v->id] : (IrValue *)v;
}

static IrValue *constant(const Builder *b, int64_t value)
{
    return ir_const_int(b->b, b->type, value);
}

static IrValue *operand(const Builder *b, const IrValue *v)
{
    return ir_cast(b->b, mapped(b, v), b->type);
}

static bool is_number(const IrValue *v)
{
    return !v->def && v->block->parent && v->block->parent->code == IR_FOR && v->index == 0;
}

static int64_t const_or(const IrValue *v, int64_t otherwise)
{
    return ir_is_const(v) ? v->def->attr.konst.i : otherwise;
}

/// What the atom is. For the number of an iteration where the counter is a multiple of it, the
/// counter, and *factor is divided by the step when that divides it.
static IrValue *atom_value(const Builder *b, const IrValue *v, int64_t *factor)
{
    if (!is_number(v))
        return operand(b, v);
    const IrOp *loop = v->block->parent;
    const int64_t lo = const_or(loop->args[0], 1), step = const_or(loop->args[2], 0);
    IrValue *counter = operand(b, v);
    if (lo == 0 && step > 0 && *factor % step == 0) {
        *factor /= step;
        return counter;
    }
    IrValue *moved = ir_binary(b->b, IR_SUB, counter, operand(b, loop->args[0]));
    return ir_binary(b->b, IR_IDIV, moved, operand(b, loop->args[2]));
}

static IrValue *term_value(const Builder *b, const PolyTerm *t)
{
    int64_t factor = t->factor;
    IrValue *product = NULL;
    for (unsigned i = 0; i < t->degree; i++) {
        IrValue *v = atom_value(b, t->atoms[i], &factor);
        product = product ? ir_binary(b->b, IR_MUL, product, v) : v;
    }
    if (!product)
        return constant(b, factor);
    return factor == 1 ? product : ir_binary(b->b, IR_MUL, product, constant(b, factor));
}

IrValue *tensor_value(IrBuilder *b, const Poly *p, IrValue **map)
{
    const Type *i32 = type_scalar(b->fn->types, SCALAR_I32);
    Builder builder = { b, map, i32 };
    for (unsigned i = 0; i < p->count; i++)
        for (unsigned k = 0; k < p->terms[i].degree; k++)
            if (type_elem_bytes(p->terms[i].atoms[k]->type) > 4 ||
                type_is_unsigned(p->terms[i].atoms[k]->type))
                builder.type = type_scalar(b->fn->types, SCALAR_I64);
    IrValue *sum = NULL;
    for (unsigned i = 0; i < p->count; i++) {
        IrValue *term = term_value(&builder, &p->terms[i]);
        sum = sum ? ir_binary(b, IR_ADD, sum, term) : term;
    }
    return sum ? ir_cast(b, sum, i32) : ir_const_int(b, i32, 0);
}
