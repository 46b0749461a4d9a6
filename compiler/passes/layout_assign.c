/// layout_assign.c - gives every block value a layout and inserts CONVERT where values must move.
///
/// Needs axis information; leaves fn->has_layouts set. After layout_infer.c has decided, each
/// operation asks for its operands in the layout it works in. A flexible operand is computed anew
/// in that layout (once for each layout), another one is converted, beside its definition: what a
/// loop does not change is then converted outside it. Operations that nobody uses any more are
/// removed.
#include "passes/layout_impl.h"

#include <assert.h>

/// A value as it was made for one layout.
typedef struct Version {
    const Layout *layout;
    IrValue *value;
    struct Version *next;
} Version;

typedef struct Rewrite {
    Assign *as;
    IrFunc *fn;
    Version **versions;  ///< by id of the original value
} Rewrite;

static IrValue *remember(Rewrite *rw, const IrValue *v, const Layout *l, IrValue *made)
{
    Version *version = ARENA_NEW(rw->as->scratch, Version);
    *version = (Version){ l, made, rw->versions[v->id] };
    rw->versions[v->id] = version;
    return made;
}

static IrValue *convert(Rewrite *rw, IrValue *v, const Layout *l)
{
    IrBuilder b = { .fn = rw->fn };
    if (v->def != NULL) {
        b.block = v->def->block;
        b.before = v->def->next;
        b.span = v->def->span;
    } else {
        b.block = v->block;
        b.before = v->block->first;
        b.span = v->block->first->span;
    }
    IrValue *made = ir_op1(&b, IR_CONVERT, v->type, 1, &v);
    made->layout = l;
    made->hint = v->hint;
    return made;
}

static IrValue *demand(Rewrite *rw, IrValue *v, const Layout *l);

/// A copy of a flexible value's operation that works in layout `l`, in front of the original (whose
/// operands are never rewritten, so that it can be copied again).
static IrValue *recompute(Rewrite *rw, const IrValue *v, const Layout *l)
{
    IrOp *op = v->def;
    IrBuilder b = { .fn = rw->fn, .block = op->block, .before = op, .span = op->span };
    IrOp *copy = ir_op(&b, op->code, op->argc, op->args, (IrResults){ 1, &v->type }, 0);
    copy->attr = op->attr;
    copy->results[0]->layout = l;
    copy->results[0]->hint = v->hint;
    for (uint32_t i = 0; i < op->argc; i++) {
        if (!layout_is_scalar(op->args[i]))
            copy->args[i] = demand(rw, op->args[i], layout_of_operand(rw->as, op, i, l));
    }
    return copy->results[0];
}

/// A cast to wider elements: what it is made from moves with less.
static bool is_widened(const IrValue *v)
{
    return v->def != NULL && v->def->code == IR_CAST &&
           type_elem_bytes(v->def->args[0]->type) < type_elem_bytes(v->type);
}

/// `v`, a value of the original function, in layout `l`.
static IrValue *demand(Rewrite *rw, IrValue *v, const Layout *l)
{
    assert(v->id < rw->as->value_count);
    if (!rw->as->flexible[v->id] && rw->as->fixed[v->id] == l)
        return v;
    for (const Version *version = rw->versions[v->id]; version != NULL; version = version->next) {
        if (version->layout == l)
            return version->value;
    }
    const bool anew = rw->as->flexible[v->id] || is_widened(v);
    IrValue *made = anew ? recompute(rw, v, l) : convert(rw, v, l);
    return remember(rw, v, l, made);
}

/// Operand i of an operation that stays, in layout `l`.
static void demand_operand(Rewrite *rw, IrOp *op, uint32_t i, const Layout *l)
{
    if (!layout_is_scalar(op->args[i]))
        op->args[i] = demand(rw, op->args[i], l);
}

static void rewrite_regions(Rewrite *rw, IrOp *op)
{
    for (uint32_t i = 0; i < op->resultc; i++) {
        const Layout *l = rw->as->fixed[op->results[i]->id];
        for (uint32_t r = op->code == IR_WHILE ? 1 : 0; r < op->regionc; r++)
            demand_operand(rw, op->regions[r]->last, i, l);
        if (op->code != IR_IF)
            demand_operand(rw, op, (op->code == IR_FOR ? 3 : 0) + i, l);
    }
}

/// The layout in which an operation without regions takes its block operands.
static const Layout *operand_layout(Rewrite *rw, const IrOp *op)
{
    if (op->code == IR_TENSOR_STORE)
        return layout_dot_wgmma(rw->as->layouts, op->args[0]->type, rw->as->warp_bits);
    switch (ir_op_info[op->code].cls) {
    case OPCLASS_MEMORY:
    case OPCLASS_ATOMIC:
        if (op->resultc == 0)
            return layout_of_access(rw->as, op);
        break;
    case OPCLASS_REDUCE: return layout_of_reduced(rw->as, op);
    case OPCLASS_TILE: {  // TILE_PUT
        const Layout *l = rw->as->fixed[op->args[1]->id];
        return l != NULL ? l : layout_default(rw->as, op->args[1]->type);
    }
    case OPCLASS_DEBUG: {
        const Layout *l = rw->as->fixed[op->args[0]->id];
        return l != NULL ? l : layout_default(rw->as, op->args[0]->type);
    }
    case OPCLASS_CONST:
    case OPCLASS_CREATE:
    case OPCLASS_ELEMENTWISE:
    case OPCLASS_SHAPE:
    case OPCLASS_SCAN:
    case OPCLASS_DOT:
    case OPCLASS_CONTROL:
    case OPCLASS_LAYOUT: break;
    }
    return rw->as->fixed[op->results[0]->id];
}

static bool has_block_operand(const IrOp *op)
{
    for (uint32_t i = 0; i < op->argc; i++) {
        if (!layout_is_scalar(op->args[i]))
            return true;
    }
    return false;
}

static void rewrite_block(Rewrite *rw, IrBlock *b)
{
    for (IrOp *op = b->first, *next; op != NULL; op = next) {
        next = op->next;
        for (uint32_t r = 0; r < op->regionc; r++)
            rewrite_block(rw, op->regions[r]);
        if (op->regionc > 0) {
            rewrite_regions(rw, op);
            continue;
        }
        if (op->code == IR_YIELD || !has_block_operand(op))
            continue;
        if (op->resultc == 1 && rw->as->flexible[op->results[0]->id])
            continue;
        const Layout *l = operand_layout(rw, op);
        for (uint32_t i = 0; i < op->argc; i++)
            demand_operand(rw, op, i, layout_of_operand(rw->as, op, i, l));
    }
}

static void set_layout(const Assign *as, IrValue *v)
{
    if (!layout_is_scalar(v) && v->id < as->value_count && !as->flexible[v->id])
        v->layout = as->fixed[v->id];
}

static bool set_layouts(IrOp *op, void *cx)
{
    const Assign *as = cx;
    for (uint32_t i = 0; i < op->resultc; i++)
        set_layout(as, op->results[i]);
    for (uint32_t r = 0; r < op->regionc; r++) {
        for (uint32_t i = 0; i < op->regions[r]->argc; i++)
            set_layout(as, op->regions[r]->args[i]);
    }
    return true;
}

static unsigned log2_of(unsigned n)
{
    unsigned bits = 0;
    while (n >>= 1)
        bits++;
    return bits;
}

bool pass_layout_assign(PassCtx *cx, IrFunc *fn)
{
    Assign as = { .fn = fn,
                  .layouts = cx->layouts,
                  .scratch = cx->arena,
                  .axes = axis_info_compute(fn, cx->arena),
                  .warp_bits = log2_of(fn->num_warps),
                  .value_count = fn->value_count };
    as.fixed = ARENA_NEW_N(cx->arena, const Layout *, fn->value_count);
    as.flexible = ARENA_NEW_N(cx->arena, bool, fn->value_count);
    as.only_broadcast = ARENA_NEW_N(cx->arena, bool, fn->value_count);
    as.turned = ARENA_NEW_N(cx->arena, uint8_t, fn->value_count);
    layout_anchor_collect(&as);
    layout_infer(&as);

    Rewrite rw = { .as = &as,
                   .fn = fn,
                   .versions = ARENA_NEW_N(cx->arena, Version *, fn->value_count) };
    rewrite_block(&rw, fn->body);
    ir_walk(fn, set_layouts, &as);
    fn->has_layouts = true;
    return pass_dce(cx, fn);
}
