// fold.c - constant folding and exact simplification.
//
// Visits operations in program order with replacements applied on the way, until a round changes
// nothing. Everything keeps run-time semantics bit for bit (NaN payloads aside): integers wrap at
// their width, division truncates, shifts clamp, floats round at each operation. Runs before
// layouts exist; dead operations are left to dce.
#include "passes/fold_impl.h"
#include "passes/pass.h"

enum { FOLD_MAX_ROUNDS = 16 };

static bool is_all_true(const IrValue *v)
{
    return fold_is_int(v, 1);
}

static bool is_all_false(const IrValue *v)
{
    return fold_is_int(v, 0);
}

/// Masks that are constant. Returns the value of a load that reads nothing.
static IrValue *fold_memory(Fold *f, IrOp *op)
{
    uint32_t mask = op->code == IR_LOAD || op->code == IR_ASSERT ? 1 : 2;
    if (is_all_true(op->args[mask])) {
        op->args[mask] = NULL;
        if (op->code == IR_LOAD)
            op->args[2] = NULL;
        f->changed = true;
        return NULL;
    }
    if (op->code != IR_LOAD || !is_all_false(op->args[mask]))
        return NULL;
    const Type *type = op->results[0]->type;
    return op->args[2] ? op->args[2] : ir_const(&f->b, type, ir_const_of_int(type, 0));
}

static bool has_no_effect_left(const IrOp *op)
{
    if (op->code == IR_STORE)
        return is_all_false(op->args[2]);
    if (op->code == IR_ASSERT)
        return is_all_true(op->args[0]) || is_all_false(op->args[1]);
    return false;
}

static IrValue *simplify(Fold *f, IrOp *op)
{
    IrConst c;
    IrValue *v = NULL;
    switch (ir_op_info[op->code].cls) {
    case OPCLASS_ELEMENTWISE:
        if (fold_evaluate(op, &c))
            return ir_const(&f->b, op->results[0]->type, c);
        v = fold_algebra(f, op);
        v = v ? v : fold_dot(f, op);
        return v ? v : fold_shape(f, op);
    case OPCLASS_CREATE:
    case OPCLASS_SHAPE: return fold_shape(f, op);
    case OPCLASS_MEMORY: return fold_memory(f, op);
    case OPCLASS_ATOMIC: return op->code == IR_ATOMIC_RMW ? fold_memory(f, op) : NULL;
    case OPCLASS_DEBUG: return op->code == IR_ASSERT ? fold_memory(f, op) : NULL;
    case OPCLASS_CONST:
    case OPCLASS_REDUCE:
    case OPCLASS_SCAN:
    case OPCLASS_DOT:
    case OPCLASS_CONTROL:
    case OPCLASS_LAYOUT:
    case OPCLASS_TILE: return NULL;
    }
    return NULL;
}

static void fold_op(Fold *f, IrOp *op)
{
    f->b.block = op->block;
    f->b.before = op;
    f->b.span = op->span;
    IrValue *v = simplify(f, op);
    if (v) {
        if (!v->hint)
            v->hint = op->results[0]->hint;
        ir_replace(op->results[0], v);
    }
    if (v || has_no_effect_left(op)) {
        ir_remove(op);
        f->changed = true;
    }
}

static void fold_block(Fold *f, IrBlock *b)
{
    for (IrOp *op = b->first, *next; op; op = next) {
        next = op->next;
        for (uint32_t i = 0; i < op->argc; i++)
            op->args[i] = ir_forwarded(op->args[i]);
        if (!op->regionc) {
            fold_op(f, op);
        } else if (fold_control(f, op)) {
            f->changed = true;
        } else {
            for (uint32_t r = 0; r < op->regionc; r++)
                fold_block(f, op->regions[r]);
        }
    }
}

bool pass_fold(PassCtx *cx, IrFunc *fn)
{
    Fold f = { .b = { .fn = fn } };
    if (fn->has_layouts)
        return true;
    for (int round = 0; round < FOLD_MAX_ROUNDS; round++) {
        f.changed = false;
        f.uses = ir_count_uses(fn, cx->arena);
        f.use_count = fn->value_count;
        fold_block(&f, fn->body);
        ir_apply_replacements(fn);
        if (!f.changed)
            break;
    }
    return true;
}
