/// place.c - decides where each block value lives and which operations share a loop.
///
/// Shape operations, constants and index arithmetic over them are virtual: recomputed where an
/// element is wanted, which keeps masks and offsets out of memory. A run of elementwise, load and
/// store operations of one shape becomes one loop (a group); its values are locals unless somebody
/// outside the loop, or at other coordinates, wants them; what wants them at other coordinates
/// begins another loop, for this one has not come there yet. A store joins a group only when every
/// load before it in the group reads the same offsets (so that an output that is an input, element
/// for element, stays right) and no access of its own pointer stands there: a loop runs element by
/// element, while the operations' order is block by block.
#include "backend/hostc/hostc_impl.h"

enum { VIRTUAL_LIMIT = 24 };  // operations recomputed at most; more are worth an array

static uint32_t place_weight(const HostEmit *e, const IrValue *v)
{
    if (!v || !type_is_block(v->type))
        return 0;
    return e->values[v->id].place == PLACE_VIRTUAL ? e->values[v->id].weight : UINT32_MAX;
}

/// Marks the result virtual when it is cheap to recompute.
static void place_virtual(HostEmit *e, const IrOp *op)
{
    const IrValue *out = op->results[0];
    OpClass cls = ir_op_info[op->code].cls;
    uint64_t weight = 1;

    if (cls == OPCLASS_ELEMENTWISE) {
        if (type_is_float(out->type) || type_is_fp8(out->type))
            return;
        for (uint32_t i = 0; i < op->argc; i++)
            weight += place_weight(e, op->args[i]);
        if (weight > VIRTUAL_LIMIT)
            return;
    } else if (cls == OPCLASS_SHAPE) {
        uint32_t w = place_weight(e, op->args[0]);
        weight += w == UINT32_MAX ? 1 : w;
    } else if (cls != OPCLASS_CONST && cls != OPCLASS_CREATE) {
        return;
    }
    e->values[out->id].place = PLACE_VIRTUAL;
    e->values[out->id].weight = (uint32_t)weight;
}

/// The type whose elements a groupable operation walks, or NULL.
static const Type *place_domain(const HostEmit *e, const IrOp *op)
{
    OpClass cls = ir_op_info[op->code].cls;
    if (op->code == IR_STORE)
        return type_is_block(op->args[0]->type) ? op->args[0]->type : NULL;
    if (op->resultc != 1 || !type_is_block(op->results[0]->type))
        return NULL;
    if (e->values[op->results[0]->id].place == PLACE_VIRTUAL)
        return NULL;
    return cls == OPCLASS_ELEMENTWISE || op->code == IR_LOAD ? op->results[0]->type : NULL;
}

/// The offset operand of a pointer, for "reads the same places".
static const IrValue *place_offset(const IrValue *p)
{
    return p->def && p->def->code == IR_PTR_ADD ? p->def->args[1] : NULL;
}

typedef struct Group {
    const Type *shape;
    const IrOp *accesses[16];
    unsigned access_count;
    uint32_t id;
} Group;

static bool group_takes_access(const HostEmit *e, const Group *g, const IrOp *op)
{
    if (g->access_count == sizeof g->accesses / sizeof *g->accesses)
        return false;
    int root = ir_pointer_root(e->fn, op->args[0]);
    const IrValue *offset = place_offset(op->args[0]);
    for (unsigned i = 0; i < g->access_count; i++) {
        const IrOp *before = g->accesses[i];
        if (before->code == IR_LOAD && op->code == IR_LOAD)
            continue;
        int other = ir_pointer_root(e->fn, before->args[0]);
        if (root < 0 || other < 0 || root == other || !offset ||
            offset != place_offset(before->args[0]))
            return false;
    }
    return true;
}

/// Whether `v` is computed from a member of the group at other coordinates than those of the loop.
static bool group_moves(const HostEmit *e, const Group *g, const IrValue *v, bool moved)
{
    if (!v || !v->def || !type_is_block(v->type))
        return false;
    if (v->def->mark == g->id)
        return moved;
    if (e->values[v->id].place != PLACE_VIRTUAL)
        return false;
    moved |= ir_op_info[v->def->code].cls == OPCLASS_SHAPE;
    for (uint32_t i = 0; i < v->def->argc; i++)
        if (group_moves(e, g, v->def->args[i], moved))
            return true;
    return false;
}

static bool group_takes(const HostEmit *e, const Group *g, const IrOp *op, const Type *domain)
{
    if (!g->shape || !type_same_shape(g->shape, domain))
        return false;
    for (uint32_t i = 0; i < op->argc; i++)
        if (group_moves(e, g, op->args[i], false))
            return false;
    bool access = op->code == IR_LOAD || op->code == IR_STORE;
    return !access || group_takes_access(e, g, op);
}

static void place_needs_array(HostEmit *e, const IrValue *v)
{
    if (v && type_is_block(v->type) && e->values[v->id].place != PLACE_VIRTUAL)
        e->values[v->id].place = PLACE_ARRAY;
}

/// An operand that `op` reads at other coordinates, or outside the operand's own loop, needs an
/// array.
static void place_operands(HostEmit *e, const IrOp *op)
{
    for (uint32_t i = 0; i < op->argc; i++) {
        const IrValue *v = op->args[i];
        if (!v || !type_is_block(v->type))
            continue;
        bool same_loop =
            op->mark && v->def && v->def->block == op->block && v->def->mark == op->mark;
        if (!same_loop)
            place_needs_array(e, v);
    }
}

static bool place_ends_group(const HostEmit *e, const IrOp *op)
{
    OpClass cls = ir_op_info[op->code].cls;
    if (cls == OPCLASS_CONTROL || cls == OPCLASS_REDUCE || cls == OPCLASS_SCAN || cls == OPCLASS_DOT ||
        cls == OPCLASS_ATOMIC || cls == OPCLASS_DEBUG)
        return true;
    if (op->code == IR_LOAD || op->code == IR_STORE)
        return !place_domain(e, op);  // a scalar access keeps its place among the block accesses
    return false;
}

static void place_block(HostEmit *e, const IrBlock *b, uint32_t *next_group)
{
    Group g = { 0 };
    for (uint32_t i = 0; i < b->argc; i++)
        place_needs_array(e, b->args[i]);
    for (IrOp *op = b->first; op; op = op->next) {
        op->mark = 0;
        if (op->resultc == 1 && type_is_block(op->results[0]->type))
            place_virtual(e, op);
        const Type *domain = place_domain(e, op);
        if (place_ends_group(e, op)) {
            g = (Group){ 0 };
        } else if (domain) {
            if (!group_takes(e, &g, op, domain))
                g = (Group){ .shape = domain, .id = ++*next_group };
            if (op->code == IR_LOAD || op->code == IR_STORE)
                g.accesses[g.access_count++] = op;
            op->mark = g.id;
        }
        if (op->resultc == 1 && type_is_block(op->results[0]->type) &&
            e->values[op->results[0]->id].place == PLACE_NONE)
            e->values[op->results[0]->id].place = domain ? PLACE_LOCAL : PLACE_ARRAY;
        place_operands(e, op);
        for (uint32_t r = 0; r < op->regionc; r++)
            place_block(e, op->regions[r], next_group);
        if (op->regionc)
            for (uint32_t i = 0; i < op->resultc; i++)
                place_needs_array(e, op->results[i]);
    }
}

void host_plan(HostEmit *e)
{
    uint32_t groups = 0;
    e->values = ARENA_NEW_N(&e->scratch, HostValue, e->fn->value_count + 1);
    e->uses = ir_count_uses(e->fn, &e->scratch);
    place_block(e, e->fn->body, &groups);
}
