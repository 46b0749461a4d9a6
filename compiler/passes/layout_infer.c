/// layout_infer.c - decides in which layout each block value lives.
///
/// Flexible values (index arithmetic, constants, masks, anything broadcast to a bigger block) are
/// computed anew in each layout that asks for them and get no layout here. The others are decided
/// by rounds of, in this order of preference:
///
///     forward    loads have their anchors, results follow the first operand that is decided,
///                carried values follow what the loop yields
///     initial    a carried value follows its initial value
///     backward   what a decided operation needs is asked of its undecided operands, through
///                flexible ones too (a pointer carried by a loop follows the load that uses it; a
///                row index or weight that is only ever broadcast is loaded where that wants it)
///     default    the first undecided value gets its anchor or the default of its shape
#include "passes/layout_impl.h"

#include <assert.h>

/* ---- which values are flexible ---- */

/// Elementwise operations that are cheaper to repeat than to move the result.
static bool is_cheap(const IrOp *op)
{
    const IrOpInfo *info = &ir_op_info[op->code];
    return info->cls == OPCLASS_ELEMENTWISE && info->rule != RULE_FLOAT1 &&
           info->rule != RULE_FLOAT2 && op->code != IR_DIV;
}

static bool is_flexible(const Assign *as, const IrOp *op)
{
    if (op->resultc != 1 || layout_is_scalar(op->results[0]))
        return false;
    switch (ir_op_info[op->code].cls) {
    case OPCLASS_CONST:
    case OPCLASS_CREATE: return true;
    case OPCLASS_SHAPE:
        if (op->code == IR_BROADCAST)
            return true;
        break;
    case OPCLASS_ELEMENTWISE:
        if (!is_cheap(op))
            return false;
        break;
    case OPCLASS_MEMORY:
    case OPCLASS_ATOMIC:
    case OPCLASS_REDUCE:
    case OPCLASS_SCAN:
    case OPCLASS_DOT:
    case OPCLASS_CONTROL:
    case OPCLASS_LAYOUT:
    case OPCLASS_TILE:
    case OPCLASS_DEBUG: return false;
    }
    for (uint32_t i = 0; i < op->argc; i++) {
        if (!layout_is_scalar(op->args[i]) && !as->flexible[op->args[i]->id])
            return false;
    }
    return true;
}

static bool mark_flexible(IrOp *op, void *cx)
{
    Assign *as = cx;
    if (is_flexible(as, op))
        as->flexible[op->results[0]->id] = true;
    return true;
}

/// Clears only_broadcast for operands that some operation needs as they are; users before
/// definitions.
static void mark_broadcast(Assign *as, const IrBlock *b)
{
    for (const IrOp *op = b->last; op != NULL; op = op->prev) {
        for (uint32_t r = 0; r < op->regionc; r++)
            mark_broadcast(as, op->regions[r]);
        const OpClass cls = ir_op_info[op->code].cls;
        bool only = op->code == IR_BROADCAST && op->args[0]->type != op->results[0]->type;
        if (!only && (cls == OPCLASS_SHAPE || cls == OPCLASS_ELEMENTWISE))
            only = as->only_broadcast[op->results[0]->id];
        for (uint32_t i = 0; i < op->argc && !only; i++) {
            if (op->args[i] != NULL)
                as->only_broadcast[op->args[i]->id] = false;
        }
    }
}

/* ---- what operations need and give ---- */

static const Layout *decided(const Assign *as, const IrValue *v)
{
    return layout_is_scalar(v) || v->id >= as->value_count ? NULL : as->fixed[v->id];
}

const Layout *layout_of_operand(Assign *as, const IrOp *op, uint32_t i, const Layout *l)
{
    const IrValue *v = op->args[i];
    if (op->code == IR_DOT && i < 2)  // a factor is read through shared memory
        return as->flexible[v->id] ? layout_default(as, v->type) : as->fixed[v->id];
    if (op->code == IR_TRANS)
        return layout_untrans(as->layouts, l, v->type, op->attr.perm);
    if (op->code == IR_BROADCAST)
        return layout_unbroadcast(as->layouts, l, op->results[0]->type, v->type, NULL);
    return l;
}

/// The layout in which a DOT sums.
static const Layout *layout_of_sum(Assign *as, const IrOp *op)
{
    const Type *sum = op->results[0]->type;
    if (layout_dot_swaps(as->fn, op))
        return layout_dot_wgmma_swapped(as->layouts, sum, as->warp_bits);
    if (op->attr.dot.wgmma)
        return layout_dot_wgmma(as->layouts, sum, as->warp_bits);
    return op->attr.dot.mma ? layout_dot_mma(as->layouts, sum, as->warp_bits,
                                             layout_dot_apart(as->fn, op))
                            : layout_dot_fma(as->layouts, sum, as->warp_bits);
}

const Layout *layout_of_access(Assign *as, const IrOp *op)
{
    const Layout *anchor = layout_anchor(as, op);
    if (op->code == IR_ASYNC_COPY)
        return anchor;
    const Layout *pointer = decided(as, op->args[0]);
    if (pointer != NULL && (op->code == IR_LOAD || axis_info_from_memory(as->axes, op->args[0])))
        return pointer;
    const Layout *own = NULL;
    for (uint32_t i = 1; own == NULL && i < op->argc && op->code != IR_LOAD; i++)
        own = decided(as, op->args[i]);
    if (own == NULL)
        own = pointer;
    if (own == NULL)
        return anchor;
    // Small blocks are cheaper to write scattered than to carry through shared memory.
    if (ir_op_info[op->code].cls == OPCLASS_ATOMIC || layout_serves(as, op, own, anchor) ||
        layout_replicated_threads(anchor) != 0)
        return own;
    const Layout *near = layout_near(as, op, own, anchor);
    return near != NULL ? near : anchor;
}

const Layout *layout_of_reduced(Assign *as, const IrOp *op)
{
    const IrValue *v = op->args[0];
    const Layout *l = decided(as, v);
    if (l != NULL &&
        layout_plan_reduce(as->layouts, l, v->type, (unsigned)op->attr.reduce.axis) != NULL)
        return l;
    return layout_default(as, v->type);
}

/* ---- rounds ---- */

static bool decide(Assign *as, const IrValue *v, const Layout *l)
{
    if (l == NULL || layout_is_scalar(v) || as->flexible[v->id] || as->fixed[v->id] != NULL)
        return false;
    assert(v->type->numel == UINT32_C(1) << l->elem_bits);
    as->fixed[v->id] = l;
    return true;
}

static IrValue *yielded(const IrOp *op, uint32_t region, uint32_t i)
{
    return op->regions[region]->last->args[i];
}

/// Decides result i of a region operation and everything that must agree with it.
static bool decide_carried(Assign *as, const IrOp *op, uint32_t i, const Layout *l)
{
    bool changed = decide(as, op->results[i], l);
    const uint32_t skip = op->code == IR_FOR ? 1 : 0;
    for (uint32_t r = 0; r < op->regionc && op->code != IR_IF; r++)
        changed |= decide(as, op->regions[r]->args[skip + i], l);
    return changed;
}

/// Decides `v` and, when a region operation carries it, all that it stands for.
static bool decide_with_others(Assign *as, const IrValue *v, const Layout *l)
{
    const IrOp *op = v->def != NULL ? v->def : v->block->parent;
    if (op == NULL || op->regionc == 0)
        return decide(as, v, l);
    return decide_carried(as, op, v->index - (v->def == NULL && op->code == IR_FOR ? 1 : 0), l);
}

/// The layout of result i as far as the operation itself, its body or its arms tell.
static const Layout *carried_layout(const Assign *as, const IrOp *op, uint32_t i)
{
    const Layout *l = decided(as, op->results[i]);
    const uint32_t skip = op->code == IR_FOR ? 1 : 0;
    for (uint32_t r = 0; l == NULL && r < op->regionc && op->code != IR_IF; r++)
        l = decided(as, op->regions[r]->args[skip + i]);
    for (uint32_t r = op->code == IR_WHILE ? 1 : 0; l == NULL && r < op->regionc; r++)
        l = decided(as, yielded(op, r, i));
    return l;
}

static bool forward_regions(Assign *as, const IrOp *op)
{
    bool changed = false;
    for (uint32_t i = 0; i < op->resultc; i++) {
        if (!layout_is_scalar(op->results[i]))
            changed |= decide_carried(as, op, i, carried_layout(as, op, i));
    }
    return changed;
}

/// The first operand's layout that is decided, as the result of `op` sees it.
static const Layout *follow_operands(Assign *as, const IrOp *op)
{
    const Layout *l = NULL;
    for (uint32_t i = 0; l == NULL && i < op->argc; i++)
        l = decided(as, op->args[i]);
    if (l != NULL && op->code == IR_TRANS)
        return layout_trans(as->layouts, l, op->args[0]->type, op->attr.perm);
    return l;
}

static const Layout *forward_layout(Assign *as, const IrOp *op)
{
    switch (ir_op_info[op->code].cls) {
    case OPCLASS_MEMORY:
        if (as->only_broadcast[op->results[0]->id] && decided(as, op->args[0]) == NULL)
            return NULL;
        return layout_of_access(as, op);
    case OPCLASS_ATOMIC: return layout_of_access(as, op);
    case OPCLASS_REDUCE: {
        if (decided(as, op->args[0]) == NULL && !as->flexible[op->args[0]->id])
            return NULL;
        const Type *block = op->args[0]->type;
        const unsigned axis = (unsigned)op->attr.reduce.axis;
        return layout_plan_reduce(as->layouts, layout_of_reduced(as, op), block, axis)->result;
    }
    case OPCLASS_ELEMENTWISE:
    case OPCLASS_SHAPE:
    case OPCLASS_SCAN: return follow_operands(as, op);
    case OPCLASS_DOT: return layout_of_sum(as, op);
    case OPCLASS_CONST:
    case OPCLASS_CREATE:
    case OPCLASS_CONTROL:
    case OPCLASS_LAYOUT:
    case OPCLASS_TILE:
    case OPCLASS_DEBUG: break;
    }
    return NULL;
}

static bool forward(Assign *as, const IrBlock *b)
{
    bool changed = false;
    for (const IrOp *op = b->first; op != NULL; op = op->next) {
        for (uint32_t r = 0; r < op->regionc; r++)
            changed |= forward(as, op->regions[r]);
        if (op->regionc > 0)
            changed |= forward_regions(as, op);
        else if (op->resultc == 1 && !layout_is_scalar(op->results[0]) &&
                 decided(as, op->results[0]) == NULL && !as->flexible[op->results[0]->id])
            changed |= decide(as, op->results[0], forward_layout(as, op));
    }
    return changed;
}

static bool from_initial(Assign *as, const IrBlock *b)
{
    for (const IrOp *op = b->first; op != NULL; op = op->next) {
        const uint32_t skip = op->code == IR_FOR ? 3 : 0;
        for (uint32_t i = 0; i < op->resultc && op->regionc > 0 && op->code != IR_IF; i++) {
            if (decide_carried(as, op, i, decided(as, op->args[skip + i])))
                return true;
        }
        for (uint32_t r = 0; r < op->regionc; r++) {
            if (from_initial(as, op->regions[r]))
                return true;
        }
    }
    return false;
}

/// A backward round; `asked` marks flexible values whose operands have been asked.
typedef struct Backward {
    Assign *as;
    bool *asked;
    bool changed;
} Backward;

static void ask(Backward *bw, const IrValue *v, const Layout *l)
{
    Assign *as = bw->as;
    // A reduction's result is the slice of its operand's layout, whatever users would like.
    if (layout_is_scalar(v) || (v->def != NULL && v->def->code == IR_REDUCE))
        return;
    if (!as->flexible[v->id]) {
        bw->changed |= decide_with_others(as, v, l);
        return;
    }
    if (bw->asked[v->id])
        return;
    bw->asked[v->id] = true;
    for (uint32_t i = 0; i < v->def->argc; i++) {
        if (!layout_is_scalar(v->def->args[i]))
            ask(bw, v->def->args[i], layout_of_operand(as, v->def, i, l));
    }
}

/// The layout in which an operation without regions takes its operands; NULL: it does not say.
static const Layout *working_layout(Assign *as, const IrOp *op)
{
    switch (ir_op_info[op->code].cls) {
    case OPCLASS_MEMORY:
    case OPCLASS_ATOMIC:
        if (layout_is_scalar(op->args[0]))
            return NULL;
        return op->resultc == 0 ? layout_of_access(as, op) : decided(as, op->results[0]);
    case OPCLASS_ELEMENTWISE:
    case OPCLASS_SHAPE:
    case OPCLASS_SCAN:
    case OPCLASS_DOT: return decided(as, op->results[0]);
    case OPCLASS_CONST:
    case OPCLASS_CREATE:
    case OPCLASS_REDUCE:
    case OPCLASS_CONTROL:
    case OPCLASS_LAYOUT:
    case OPCLASS_TILE:
    case OPCLASS_DEBUG: break;
    }
    return NULL;
}

static void backward(Backward *bw, const IrBlock *b)
{
    Assign *as = bw->as;
    for (const IrOp *op = b->last; op != NULL; op = op->prev) {
        for (uint32_t i = 0; i < op->resultc && op->regionc > 0; i++) {
            const Layout *l = decided(as, op->results[i]);
            if (l == NULL)
                continue;
            for (uint32_t r = op->code == IR_WHILE ? 1 : 0; r < op->regionc; r++)
                ask(bw, yielded(op, r, i), l);
            if (op->code != IR_IF)
                ask(bw, op->args[(op->code == IR_FOR ? 3 : 0) + i], l);
        }
        for (uint32_t r = op->regionc; r-- > 0;)
            backward(bw, op->regions[r]);
        const Layout *l = working_layout(as, op);
        for (uint32_t i = op->code == IR_DOT ? 2 : 0; i < op->argc && l != NULL; i++) {
            if (!layout_is_scalar(op->args[i]))
                ask(bw, op->args[i], layout_of_operand(as, op, i, l));
        }
    }
}

static bool from_users(Assign *as)
{
    Backward bw = { .as = as, .asked = ARENA_NEW_N(as->scratch, bool, as->value_count) };
    backward(&bw, as->fn->body);
    return bw.changed;
}

static bool from_default(Assign *as, const IrBlock *b)
{
    for (const IrOp *op = b->first; op != NULL; op = op->next) {
        for (uint32_t i = 0; i < op->resultc; i++) {
            const IrValue *v = op->results[i];
            if (layout_is_scalar(v) || as->flexible[v->id] || decided(as, v) != NULL)
                continue;
            const Layout *l = op->code == IR_LOAD      ? layout_of_access(as, op)
                              : op->code == IR_CONVERT ? layout_of_tile(as, op->args[0])
                                                       : layout_default(as, v->type);
            return op->regionc > 0 ? decide_carried(as, op, i, l) : decide(as, v, l);
        }
        for (uint32_t r = 0; r < op->regionc; r++) {
            if (from_default(as, op->regions[r]))
                return true;
        }
    }
    return false;
}

void layout_infer(Assign *as)
{
    ir_walk(as->fn, mark_flexible, as);
    for (uint32_t id = 0; id < as->value_count; id++)
        as->only_broadcast[id] = true;
    mark_broadcast(as, as->fn->body);
    do {
        while (forward(as, as->fn->body))
            continue;
    } while (from_initial(as, as->fn->body) || from_users(as) || from_default(as, as->fn->body));
}
