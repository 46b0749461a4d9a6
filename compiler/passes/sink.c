/// sink.c - computes what is only used behind a loop behind it.
///
/// Addresses and masks of the last stores stand in front of a loop when the source forms them
/// there, and licm puts them there when the loop uses a part of them. Across the loop they would
/// hold registers that its sums want: the epilogue of a 256 x 128 product had 64 row offsets and 64
/// masks a thread. A pure operation whose first use comes behind a loop moves in front of that use,
/// with the arithmetic it alone needs, unless that kept blocks alive that come from memory; other
/// blocks are recomputed rather than held. Needs layouts.
#include "layout/layout.h"
#include "passes/axis_info.h"
#include "passes/pass.h"

typedef struct Sink {
    Arena *arena;
    const AxisInfo *axes;
    IrOp **first, **last;  ///< by value id: the operations of the block that use it first and last
    uint32_t *loops;       ///< by mark: operations with inner blocks that stand in front
    uint32_t count;        ///< values of these arrays
} Sink;

static void note_use(Sink *s, IrOp *op, const IrValue *v)
{
    if (v == NULL || v->id >= s->count)
        return;
    IrOp **first = &s->first[v->id], **last = &s->last[v->id];
    if (*first == NULL || (*first)->block != op->block || op->mark <= (*first)->mark)
        *first = op;
    if (*last == NULL || (*last)->block != op->block || op->mark > (*last)->mark)
        *last = op;
}

/// What `op` of the block uses, its inner blocks included, is used by `user`.
static void note_uses(Sink *s, const IrOp *op, IrOp *user)
{
    for (uint32_t i = 0; i < op->argc; i++)
        note_use(s, user, op->args[i]);
    for (uint32_t r = 0; r < op->regionc; r++)
        for (const IrOp *inner = op->regions[r]->first; inner != NULL; inner = inner->next)
            note_uses(s, inner, user);
}

static bool may_move(const IrOp *op)
{
    const IrOpInfo *info = &ir_op_info[op->code];
    const bool is_arithmetic = info->cls == OPCLASS_CONST || info->cls == OPCLASS_CREATE ||
                               info->cls == OPCLASS_ELEMENTWISE || info->cls == OPCLASS_SHAPE;
    return is_arithmetic && info->effects == EFFECT_PURE && op->resultc == 1 &&
           op->results[0]->layout != NULL;
}

/// True when `v` would be held until `where` only for the operation that moves there, and cannot be
/// had again by arithmetic.
static bool is_held_for(const Sink *s, const IrOp *op, const IrValue *v, const IrOp *where)
{
    if (v == NULL || v->layout == NULL || ir_value_block(v) != op->block || v->id >= s->count)
        return false;
    const IrOp *last = s->last[v->id];
    const bool is_used = last != NULL && last->block == op->block && last->mark >= where->mark;
    return !is_used && axis_info_from_memory(s->axes, v);
}

/// The operation in front of which `op` goes, or NULL.
static IrOp *place_of(const Sink *s, const IrOp *op)
{
    if (!may_move(op) || op->results[0]->id >= s->count)
        return NULL;
    IrOp *use = s->first[op->results[0]->id];
    if (use == NULL || use->block != op->block || s->loops[use->mark] == s->loops[op->mark])
        return NULL;
    for (uint32_t i = 0; i < op->argc; i++)
        if (is_held_for(s, op, op->args[i], use))
            return NULL;
    // What has moved there already stood behind `op`, and may use what `op` needs.
    while (use->prev != NULL && use->prev->mark == use->mark)
        use = use->prev;
    return use;
}

/// Numbers the operations; returns how many have inner blocks, which are done.
static uint32_t number_block(Sink *s, IrBlock *b)
{
    uint32_t count = 0, loops = 0;
    for (IrOp *op = b->first; op != NULL; op = op->next)
        op->mark = ++count;
    s->loops = ARENA_NEW_N(s->arena, uint32_t, count + 1);
    for (IrOp *op = b->first; op != NULL; op = op->next) {
        s->loops[op->mark] = loops;
        loops += op->regionc > 0;
    }
    return loops;
}

static void sink_block(Sink *s, IrBlock *b)
{
    for (IrOp *op = b->first; op != NULL; op = op->next)
        for (uint32_t r = 0; r < op->regionc; r++)
            sink_block(s, op->regions[r]);
    if (number_block(s, b) == 0)
        return;
    for (IrOp *op = b->last, *previous; op != NULL; op = previous) {
        previous = op->prev;
        IrOp *place = place_of(s, op);
        if (place != NULL) {
            ir_move_before(op, place);
            op->mark = place->mark;
        }
        note_uses(s, op, op);
    }
}

bool pass_sink(PassCtx *cx, IrFunc *fn)
{
    Sink s = { .arena = cx->arena,
               .axes = axis_info_compute(fn, cx->arena),
               .first = ARENA_NEW_N(cx->arena, IrOp *, fn->value_count),
               .last = ARENA_NEW_N(cx->arena, IrOp *, fn->value_count),
               .count = fn->value_count };
    sink_block(&s, fn->body);
    return true;
}
