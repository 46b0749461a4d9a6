// specialize_persist.c - as many blocks as the chip holds, each in a loop over programs.
//
// The launcher makes no more blocks than run at once; the copies of the next program then start
// under the end of the one before. Not done where programs could wait for each other, since a block
// runs its programs one after another, nor where their work differs: the chip's own order of blocks
// shares it out better.
#include "passes/specialize_impl.h"

/// Results of atomic operations let a program wait for another.
static bool may_wait(IrOp *op, void *cx)
{
    const uint32_t *uses = cx;
    return ir_op_info[op->code].cls != OPCLASS_ATOMIC || uses[op->results[0]->id] == 0;
}

static bool has_known_trips(IrOp *op, void *cx)
{
    (void)cx;
    if (op->code == IR_WHILE)
        return false;
    return op->code != IR_FOR || (tensor_host_knows(op->args[0]) &&
                                  tensor_host_knows(op->args[1]) && tensor_host_knows(op->args[2]));
}

static IrValue *programs(IrBuilder *b, int axis)
{
    IrValue *v = ir_op1(b, IR_NUM_PROGRAMS, type_scalar(b->fn->types, SCALAR_I32), 0, NULL);
    v->def->attr.axis = axis;
    return v;
}

typedef struct Decode {
    IrFunc *fn;
    IrBlock *block;
    IrValue *tile, *extents[3];
} Decode;

/// program_id: a digit of the program's number.
static bool replace_id(IrOp *op, void *cx)
{
    Decode *d = cx;
    if (op->code != IR_PROGRAM_ID)
        return true;
    IrBuilder b = { .fn = d->fn, .block = op->block, .before = op, .span = op->span };
    IrValue *id = d->tile;
    for (int k = 0; k < op->attr.axis; k++)
        id = ir_binary(&b, IR_IDIV, id, d->extents[k]);
    if (op->attr.axis < 2)
        id = ir_binary(&b, IR_REM, id, d->extents[op->attr.axis]);
    id->hint = op->results[0]->hint;
    ir_replace(op->results[0], id);
    ir_remove(op);
    return true;
}

static void wrap(IrFunc *fn)
{
    const Type *i32 = type_scalar(fn->types, SCALAR_I32);
    IrOp *body_end = fn->body->last;
    IrBuilder b = { .fn = fn, .block = fn->body, .before = fn->body->first, .span = fn->span };
    IrValue *first = ir_op1(&b, IR_BLOCK_ID, i32, 0, NULL);
    IrValue *step = ir_op1(&b, IR_BLOCK_COUNT, i32, 0, NULL);
    Decode d = { .fn = fn };
    for (int k = 0; k < 3; k++)
        d.extents[k] = programs(&b, k);
    IrValue *all =
        ir_binary(&b, IR_MUL, ir_binary(&b, IR_MUL, d.extents[0], d.extents[1]), d.extents[2]);
    b.before = body_end;
    IrOp *loop = ir_op(&b, IR_FOR, 3, (IrValue *[]){ first, all, step }, 0, NULL, 1);
    IrBlock *body = loop->regions[0];
    d.tile = ir_block_arg(fn, body, i32, sym_of(fn->syms, "program"));
    IrBuilder in = { .fn = fn, .block = body, .span = fn->span };
    IrOp *yield = ir_op(&in, IR_YIELD, 0, NULL, 0, NULL, 0);
    for (IrOp *op = all->def->next, *next; op != loop; op = next) {
        next = op->next;
        ir_move_before(op, yield);
    }
    ir_walk_block(body, replace_id, &d);
    ir_apply_replacements(fn);
}

void specialize_persist(IrFunc *fn)
{
    Arena scratch = { 0 };
    const uint32_t *uses = ir_count_uses(fn, &scratch);
    const bool pays = ir_walk(fn, may_wait, (void *)uses) && ir_walk(fn, has_known_trips, NULL);
    arena_free(&scratch);
    if (!pays)
        return;
    fn->is_persistent = fn->producer->is_persistent = true;
    wrap(fn);
    fn->producer->value_count = fn->value_count;
    wrap(fn->producer);
    fn->value_count = fn->producer->value_count;
}
