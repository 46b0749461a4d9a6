// walk.c - visiting, comparing and changing block IR.
//
// Uses are not kept in lists: passes count them (ir_count_uses), note replacements on the values
// (ir_replace) and rewrite all operands in one walk (ir_apply_replacements).
#include "ir/ir.h"

#include <assert.h>
#include <string.h>

bool ir_walk_block(IrBlock *b, bool (*visit)(IrOp *op, void *cx), void *cx)
{
    for (IrOp *op = b->first, *next; op; op = next) {
        next = op->next;
        if (!visit(op, cx))
            return false;
        if (op->block != b)
            continue;  // removed or moved by visit
        for (uint32_t r = 0; r < op->regionc; r++)
            if (!ir_walk_block(op->regions[r], visit, cx))
                return false;
    }
    return true;
}

bool ir_walk(IrFunc *fn, bool (*visit)(IrOp *op, void *cx), void *cx)
{
    return ir_walk_block(fn->body, visit, cx);
}

void ir_remove(IrOp *op)
{
    IrBlock *b = op->block;
    assert(b);
    if (op->prev)
        op->prev->next = op->next;
    else
        b->first = op->next;
    if (op->next)
        op->next->prev = op->prev;
    else
        b->last = op->prev;
    op->block = NULL;
    op->prev = op->next = NULL;
}

void ir_move_before(IrOp *op, IrOp *where)
{
    assert(op != where);
    ir_remove(op);
    op->block = where->block;
    op->next = where;
    op->prev = where->prev;
    if (op->prev)
        op->prev->next = op;
    else
        op->block->first = op;
    where->prev = op;
}

void ir_replace(IrValue *from, IrValue *to)
{
    to = ir_forwarded(to);
    assert(from != to && !from->forward);
    from->forward = to;
}

static bool forward_operands(IrOp *op, void *cx)
{
    (void)cx;
    for (uint32_t i = 0; i < op->argc; i++)
        op->args[i] = ir_forwarded(op->args[i]);
    return true;
}

static bool forget_forwards(IrOp *op, void *cx)
{
    (void)cx;
    for (uint32_t i = 0; i < op->resultc; i++)
        op->results[i]->forward = NULL;
    for (uint32_t r = 0; r < op->regionc; r++)
        for (uint32_t i = 0; i < op->regions[r]->argc; i++)
            op->regions[r]->args[i]->forward = NULL;
    return true;
}

void ir_apply_replacements(IrFunc *fn)
{
    ir_walk(fn, forward_operands, NULL);
    ir_walk(fn, forget_forwards, NULL);
    for (uint32_t i = 0; i < fn->body->argc; i++)
        fn->body->args[i]->forward = NULL;
}

static void count_block(const IrBlock *b, uint32_t *uses)
{
    for (const IrOp *op = b->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->argc; i++)
            if (op->args[i])
                uses[op->args[i]->id]++;
        for (uint32_t r = 0; r < op->regionc; r++)
            count_block(op->regions[r], uses);
    }
}

uint32_t *ir_count_uses(const IrFunc *fn, Arena *a)
{
    uint32_t *uses = ARENA_NEW_N(a, uint32_t, fn->value_count);
    count_block(fn->body, uses);
    return uses;
}

bool ir_dominates(const IrValue *v, const IrOp *op)
{
    const IrBlock *home = ir_value_block(v);
    while (op && op->block != home)
        op = op->block ? op->block->parent : NULL;
    if (!op)
        return false;
    if (!v->def)
        return true;
    for (op = op->prev; op; op = op->prev)
        if (op == v->def)
            return true;
    return false;
}

static IrValue *mapped(IrValue *v, IrValue *const *map)
{
    return v && map[v->id] ? map[v->id] : v;
}

static void clone_region(IrFunc *fn, const IrBlock *from, IrBlock *to, IrValue **map)
{
    for (uint32_t i = 0; i < from->argc; i++) {
        const IrValue *arg = from->args[i];
        IrValue *copy = ir_block_arg(fn, to, arg->type, arg->hint);
        copy->layout = arg->layout;
        map[arg->id] = copy;
    }
    IrBuilder b = { .fn = fn, .block = to };
    for (const IrOp *op = from->first; op; op = op->next)
        ir_clone(&b, op, map);
}

IrOp *ir_clone(IrBuilder *b, const IrOp *op, IrValue **map)
{
    Span span = b->span;
    b->span = op->span;
    IrOp *copy = ir_op(b, op->code, op->argc, op->args, (IrResults){ 0, NULL }, op->regionc);
    b->span = span;
    for (uint32_t i = 0; i < op->argc; i++)
        copy->args[i] = mapped(op->args[i], map);
    copy->attr = op->attr;
    copy->smem = op->smem;
    copy->smem_bytes = op->smem_bytes;
    copy->smem_turn = op->smem_turn;
    copy->smem_by_warp = op->smem_by_warp;
    copy->resultc = op->resultc;
    copy->results = ARENA_NEW_N(b->fn->arena, IrValue *, op->resultc);
    for (uint32_t i = 0; i < op->resultc; i++) {
        IrValue *v = ARENA_NEW(b->fn->arena, IrValue);
        *v = *op->results[i];
        v->forward = NULL;
        v->def = copy;
        v->id = b->fn->value_count++;
        copy->results[i] = v;
    }
    for (uint32_t r = 0; r < op->regionc; r++)
        clone_region(b->fn, op->regions[r], copy->regions[r], map);
    // Entered last: the operation's own operands and regions cannot refer to its results.
    for (uint32_t i = 0; i < op->resultc; i++)
        map[op->results[i]->id] = copy->results[i];
    return copy;
}

/* ---- where a pointer comes from ---- */

enum { ROOT_MAX_VALUES = 256 };

typedef struct RootSearch {
    const IrValue *seen[ROOT_MAX_VALUES];
    uint32_t count;
    bool lost;
} RootSearch;

static void root_add(RootSearch *s, const IrValue *v)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->seen[i] == v)
            return;
    if (s->count == ROOT_MAX_VALUES)
        s->lost = true;
    else
        s->seen[s->count++] = v;
}

static void root_add_yield(RootSearch *s, const IrBlock *b, uint32_t index)
{
    if (b->last && b->last->code == IR_YIELD && index < b->last->argc)
        root_add(s, b->last->args[index]);
    else
        s->lost = true;
}

static void root_add_carried(RootSearch *s, const IrOp *loop, uint32_t index)
{
    uint32_t first = loop->code == IR_FOR ? 3 : 0;
    root_add(s, loop->args[first + index]);
    root_add_yield(s, loop->regions[loop->code == IR_FOR ? 0 : 1], index);
}

static void root_follow_arg(RootSearch *s, const IrValue *v)
{
    const IrOp *parent = v->block->parent;
    if (parent->code == IR_FOR && v->index > 0)
        root_add_carried(s, parent, v->index - 1);
    else if (parent->code == IR_WHILE)
        root_add_carried(s, parent, v->index);
    else
        s->lost = true;
}

static void root_follow_result(RootSearch *s, const IrValue *v)
{
    const IrOp *op = v->def;
    switch (op->code) {
    case IR_PTR_ADD:
    case IR_SPLAT:
    case IR_EXPAND_DIMS:
    case IR_BROADCAST:
    case IR_RESHAPE:
    case IR_TRANS:
    case IR_CONVERT: root_add(s, op->args[0]); break;
    case IR_CAST:
    case IR_BITCAST:
        if (type_is_ptr(op->args[0]->type))
            root_add(s, op->args[0]);
        else
            s->lost = true;
        break;
    case IR_SELECT:
        root_add(s, op->args[1]);
        root_add(s, op->args[2]);
        break;
    case IR_FOR:
    case IR_WHILE: root_add_carried(s, op, v->index); break;
    case IR_IF:
        root_add_yield(s, op->regions[0], v->index);
        root_add_yield(s, op->regions[1], v->index);
        break;
    default: s->lost = true; break;
    }
}

int ir_pointer_root(const IrFunc *fn, const IrValue *p)
{
    RootSearch s = { .count = 0 };
    int root = -1;
    root_add(&s, p);
    for (uint32_t i = 0; i < s.count && !s.lost; i++) {
        const IrValue *v = s.seen[i];
        if (v->def) {
            root_follow_result(&s, v);
        } else if (v->block != fn->body) {
            root_follow_arg(&s, v);
        } else {
            s.lost = root >= 0 && root != (int)v->index;
            root = (int)v->index;
        }
    }
    return s.lost ? -1 : root;
}

/* ---- equality ---- */

static bool same_mem(const IrMem *a, const IrMem *b)
{
    return a->cache == b->cache && a->evict == b->evict && a->vec == b->vec &&
           a->contiguous == b->contiguous && a->aligned == b->aligned &&
           a->mask_uniform == b->mask_uniform && a->aligned_alike == b->aligned_alike &&
           a->mask_falls == b->mask_falls;
}

bool ir_same_attr(const IrOp *x, const IrOp *y)
{
    const IrAttr *a = &x->attr, *b = &y->attr;
    switch (ir_op_info[x->code].attr) {
    case ATTR_NONE: return true;
    case ATTR_CONST: return ir_const_equal(a->konst, b->konst);
    case ATTR_RANGE: return a->range.lo == b->range.lo && a->range.hi == b->range.hi;
    case ATTR_AXIS: return a->axis == b->axis;
    case ATTR_PERM: return memcmp(a->perm, b->perm, type_rank(x->results[0]->type)) == 0;
    case ATTR_MEM: return same_mem(&a->mem, &b->mem);
    case ATTR_REDUCE:
        return a->reduce.kind == b->reduce.kind && a->reduce.axis == b->reduce.axis &&
               a->reduce.propagate_nan == b->reduce.propagate_nan &&
               a->reduce.tie_break_left == b->reduce.tie_break_left;
    case ATTR_SCAN:
        return a->scan.axis == b->scan.axis && a->scan.bit == b->scan.bit &&
               a->scan.reverse == b->scan.reverse;
    case ATTR_NAN: return a->propagate_nan == b->propagate_nan;
    case ATTR_CAST: return a->round_to_zero == b->round_to_zero;
    case ATTR_DOT:
        return a->dot.precision == b->dot.precision && a->dot.mma == b->dot.mma &&
               a->dot.wgmma == b->dot.wgmma;
    case ATTR_LOOP:
    case ATTR_COPY:
    case ATTR_GROUPS:
    case ATTR_ATOMIC:
    case ATTR_TEXT:
    case ATTR_BARRIER:
    case ATTR_RING:
    case ATTR_PIPE: return false;  // effects are never equal, tiles change
    }
    return false;
}
