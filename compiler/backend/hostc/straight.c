/// straight.c - the form of a group's innermost loop that a C compiler vectorises.
///
/// Masks such as `offs < n` and addresses such as `x + offs` hide from it that a whole row is in bounds and
/// lies in order: offsets may wrap and every access is guarded. Where offsets rise by one along the
/// innermost axis, two comparisons before the loop settle both: the last offset is not below the first
/// (so nothing wrapped), and the mask holds at the last element (so it holds at all). Then accesses go
/// through one pointer each and without masks; otherwise the ordinary loop runs.
#include "backend/hostc/hostc_impl.h"
#include <string.h>

typedef enum { TREND_FLAT, TREND_RISING, TREND_OTHER } Trend;

/// How v's elements change along `axis`: not at all, by one from each to the next, or in another way.
static Trend trend_of(const HostEmit *e, const IrValue *v, unsigned axis);

static Trend trend_sum(Trend a, Trend b)
{
    return a == TREND_FLAT ? b : b == TREND_FLAT ? a : TREND_OTHER;
}

static Trend trend_shape(const HostEmit *e, const IrOp *op, unsigned axis)
{
    const IrValue *from = op->args[0];
    switch (op->code) {
    case IR_EXPAND_DIMS:
        if ((int)axis == op->attr.axis)
            return TREND_FLAT;
        return trend_of(e, from, (int)axis > op->attr.axis ? axis - 1 : axis);
    case IR_BROADCAST: return from->type->shape[axis] == 1 ? TREND_FLAT : trend_of(e, from, axis);
    case IR_TRANS: return trend_of(e, from, op->attr.perm[axis]);
    default: return TREND_OTHER;
    }
}

static Trend trend_of(const HostEmit *e, const IrValue *v, unsigned axis)
{
    if (!type_is_block(v->type))
        return TREND_FLAT;
    if (e->values[v->id].place != PLACE_VIRTUAL)
        return TREND_OTHER;
    const IrOp *op = v->def;
    if (ir_op_info[op->code].cls == OPCLASS_SHAPE)
        return trend_shape(e, op, axis);
    switch (op->code) {
    case IR_CONST:
    case IR_SPLAT: return TREND_FLAT;
    case IR_ARANGE: return TREND_RISING;
    case IR_ADD: return trend_sum(trend_of(e, op->args[0], axis), trend_of(e, op->args[1], axis));
    case IR_SUB: return trend_of(e, op->args[1], axis) == TREND_FLAT ? trend_of(e, op->args[0], axis) : TREND_OTHER;
    case IR_CAST:
        if (type_is_int(v->type) && type_is_int(op->args[0]->type) &&
            type_elem_bytes(v->type) >= type_elem_bytes(op->args[0]->type))
            return trend_of(e, op->args[0], axis);
        break;
    default: break;
    }
    for (uint32_t i = 0; i < op->argc; i++)
        if (trend_of(e, op->args[i], axis) != TREND_FLAT)
            return TREND_OTHER;
    return TREND_FLAT;
}

/// An arange under any shape, or widened, cannot wrap; a sum with one can.
static bool straight_is_plain(const IrValue *v)
{
    while (v->def->code == IR_CAST || ir_op_info[v->def->code].cls == OPCLASS_SHAPE)
        v = v->def->args[0];
    return v->def->code == IR_ARANGE;
}

/// Notes that `v` must not wrap within the row. False when there are too many to note.
static bool straight_note(HostStraight *s, const IrValue *v)
{
    if (straight_is_plain(v))
        return true;
    for (unsigned i = 0; i < s->rising_count; i++)
        if (s->rising[i] == v)
            return true;
    if (s->rising_count == HOST_STRAIGHT_MAX)
        return false;
    s->rising[s->rising_count++] = v;
    return true;
}

/// True when the mask can only go from true to false along the row.
static bool straight_falls(const HostEmit *e, HostStraight *s, const IrValue *mask)
{
    if (trend_of(e, mask, s->axis) == TREND_FLAT)
        return true;
    const IrOp *op = mask->def;
    if (!op || e->values[mask->id].place != PLACE_VIRTUAL)
        return false;
    if (op->code == IR_AND)
        return straight_falls(e, s, op->args[0]) && straight_falls(e, s, op->args[1]);
    const bool less = op->code == IR_LT || op->code == IR_LE, greater = op->code == IR_GT || op->code == IR_GE;
    if (!less && !greater)
        return false;
    const IrValue *low = op->args[less ? 0 : 1], *high = op->args[less ? 1 : 0];
    return trend_of(e, low, s->axis) == TREND_RISING && trend_of(e, high, s->axis) == TREND_FLAT && straight_note(s, low);
}

static bool straight_access(const HostEmit *e, HostStraight *s, const IrOp *op)
{
    const IrValue *mask = op->args[op->code == IR_LOAD ? 1 : 2], *p = op->args[0];
    if (mask && !straight_falls(e, s, mask))
        return false;
    if (mask && s->mask_count == HOST_STRAIGHT_MAX)
        return false;
    if (mask)
        s->masks[s->mask_count++] = mask;
    if (trend_of(e, p, s->axis) == TREND_FLAT)
        return true;
    const IrOp *add = p->def;
    if (e->values[p->id].place != PLACE_VIRTUAL || add->code != IR_PTR_ADD ||
        trend_of(e, add->args[0], s->axis) != TREND_FLAT || trend_of(e, add->args[1], s->axis) != TREND_RISING)
        return false;
    if (s->pointer_count == HOST_STRAIGHT_MAX || !straight_note(s, add->args[1]))
        return false;
    s->pointers[s->pointer_count++] = p;
    return true;
}

bool host_straight_plan(HostEmit *e, const IrOp *first, const IrOp *last, const Type *shape, HostStraight *s)
{
    *s = (HostStraight){ .axis = UINT32_MAX };
    for (unsigned i = 0; i < type_rank(shape); i++)
        if (shape->shape[i] > 1)
            s->axis = i;
    if (s->axis == UINT32_MAX)
        return false;
    s->extent = shape->shape[s->axis];
    for (const IrOp *op = first; op != last->next; op = op->next)
        if (op->mark && (op->code == IR_LOAD || op->code == IR_STORE) && !straight_access(e, s, op))
            return false;
    s->is_tested = s->rising_count || s->mask_count;
    return s->is_tested || s->pointer_count;
}

void host_straight_begin(HostEmit *e, HostStraight *s, const Type *shape)
{
    HostCoords head = host_coords_of_loops(e, shape), tail = head;
    Buf test = { 0 };
    head.at[s->axis] = "0";
    tail.at[s->axis] = arena_printf(&e->scratch, "%d", s->extent - 1);
    for (unsigned i = 0; i < s->rising_count; i++)
        buf_printf(&test, "%s%s <= %s", test.len ? " && " : "", host_at(e, s->rising[i], &head), host_at(e, s->rising[i], &tail));
    for (unsigned i = 0; i < s->mask_count; i++) {
        bool seen = false;
        for (unsigned k = 0; k < i; k++)
            seen |= s->masks[k] == s->masks[i];
        if (!seen)
            buf_printf(&test, "%s%s", test.len ? " && " : "", host_at(e, s->masks[i], &tail));
    }
    if (s->is_tested)
        buf_line(e->out, "if (%s) {", test.at);
    else
        buf_line(e->out, "{");
    buf_free(&test);
    e->out->indent++;
    for (unsigned i = 0; i < s->pointer_count; i++) {
        bool seen = false;
        for (unsigned k = 0; k < i; k++)
            seen |= s->pointers[k] == s->pointers[i];
        if (!seen)
            buf_line(e->out, "unsigned char *const row_%u = %s;", s->pointers[i]->id, host_at(e, s->pointers[i], &head));
    }
    e->straight = s;
}

const char *host_straight_pointer(HostEmit *e, const IrValue *v, const HostCoords *c)
{
    const HostStraight *s = e->straight;
    for (unsigned i = 0; s && i < s->pointer_count; i++)
        if (s->pointers[i] == v)
            return arena_printf(&e->scratch, "(row_%u + (size_t)%s * %u)", v->id, c->at[s->axis],
                                type_elem_bytes(type_elem(v->type)->elem));
    return NULL;
}
