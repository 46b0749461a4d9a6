/// reach.c - which parameters decide where and whether a kernel touches memory.
///
/// Knowing that such an integer (a row stride, a width that bounds a mask) is a multiple of a few
/// elements is what makes wide accesses provable, so the specialised variant assumes it. Other
/// integers are left alone: a fact about them would only make the variant fit fewer calls.
#include "lower/variants.h"

typedef struct Reach {
    const IrFunc *fn;
    bool *seen;          // by value id
    bool pointers_only;  // addresses are followed, offsets are not
    bool *params;        // by argument of the body
} Reach;

static void reach_value(Reach *r, const IrValue *v);

static void reach_yields(Reach *r, const IrOp *op, uint32_t result)
{
    for (uint32_t i = 0; i < op->regionc; i++) {
        const IrOp *last = op->regions[i]->last;
        uint32_t at = result;
        if (last && last->code == IR_YIELD && (op->code != IR_WHILE || i == 1) && at < last->argc)
            reach_value(r, last->args[at]);
    }
}

/// A loop's variable comes from its bounds, a carried value from its start and from the body's end.
static void reach_block_arg(Reach *r, const IrValue *v)
{
    const IrOp *op = v->block->parent;
    if (!op) {
        r->params[v->index] = true;
        return;
    }
    if (op->code == IR_FOR && v->index == 0) {
        reach_value(r, op->args[0]);
        reach_value(r, op->args[2]);
        return;
    }
    uint32_t carried = op->code == IR_FOR ? v->index - 1 : v->index;
    reach_value(r, op->args[op->code == IR_FOR ? carried + 3 : carried]);
    reach_yields(r, op, carried);
}

static void reach_value(Reach *r, const IrValue *v)
{
    if (!v || r->seen[v->id] || (r->pointers_only && !type_is_ptr(v->type)))
        return;
    r->seen[v->id] = true;
    if (!v->def) {
        reach_block_arg(r, v);
        return;
    }
    if (v->def->regionc) {
        reach_yields(r, v->def, v->index);
        return;
    }
    if (ir_op_info[v->def->code].effects != EFFECT_PURE)
        return;  // from memory: no fact about an argument says anything about it
    for (uint32_t i = 0; i < v->def->argc; i++)
        reach_value(r, v->def->args[i]);
}

/// The bounds in a mask: operands of its ordering comparisons.
static void reach_mask(Reach *r, const IrValue *mask)
{
    if (!mask || !mask->def)
        return;
    const IrOp *op = mask->def;
    if (op->code == IR_LT || op->code == IR_LE || op->code == IR_GT || op->code == IR_GE) {
        reach_value(r, op->args[0]);
        reach_value(r, op->args[1]);
        return;
    }
    OpClass cls = ir_op_info[op->code].cls;
    if (op->code == IR_AND || op->code == IR_OR || cls == OPCLASS_SHAPE || op->code == IR_SPLAT)
        for (uint32_t i = 0; i < op->argc; i++)
            reach_mask(r, op->args[i]);
}

static bool reach_access(IrOp *op, void *cx)
{
    Reach *r = cx;
    if (op->code == IR_PTR_ADD)
        reach_value(r, op->args[1]);
    if (op->code == IR_LOAD || op->code == IR_STORE)
        reach_mask(r, op->args[op->code == IR_LOAD ? 1 : 2]);
    return true;
}

void lower_reach_addresses(IrFunc *fn, Arena *a, bool *params)
{
    Reach r = { .fn = fn, .seen = ARENA_NEW_N(a, bool, fn->value_count + 1), .params = params };
    ir_walk(fn, reach_access, &r);
}

typedef struct Pointers {
    Reach reads, writes;
} Pointers;

static bool reach_pointer(IrOp *op, void *cx)
{
    Pointers *p = cx;
    const OpClass cls = ir_op_info[op->code].cls;
    if (cls != OPCLASS_MEMORY && cls != OPCLASS_ATOMIC)
        return true;
    for (uint32_t i = 0; i < op->argc; i++) {
        if (op->code != IR_STORE)
            reach_value(&p->reads, op->args[i]);
        if (ir_op_info[op->code].effects == EFFECT_WRITE)
            reach_value(&p->writes, op->args[i]);
    }
    return true;
}

void lower_reach_pointers(IrFunc *fn, Arena *a, bool *reads, bool *writes)
{
    Pointers p = { .reads = { .fn = fn,
                              .seen = ARENA_NEW_N(a, bool, fn->value_count + 1),
                              .params = reads,
                              .pointers_only = true },
                   .writes = { .fn = fn,
                               .seen = ARENA_NEW_N(a, bool, fn->value_count + 1),
                               .params = writes,
                               .pointers_only = true } };
    ir_walk(fn, reach_pointer, &p);
}
