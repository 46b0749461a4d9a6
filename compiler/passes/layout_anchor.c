/// layout_anchor.c - the layout in which an access touches memory best.
///
/// Group-cyclic along the axes by falling contiguity of the pointer, in groups of up to 16 bytes of
/// the widest element that any access of that shape and order moves. A group never gets so large
/// that threads stay idle. Contiguity that nothing proved does not narrow the group: the emitted
/// access checks at run time. Narrowed are those whose pointers come from memory (a gather).
#include "passes/layout_impl.h"

#include <string.h>

enum { MAX_ACCESS_BYTES = 16, LINE_BYTES = 128, SECTOR_BYTES = 32, PAIR_BYTES = 8 };

/// The run of neighbours to expect along `axis`; 1 when nothing is known.
static int64_t expected_run(const Assign *as, const IrValue *pointer, unsigned axis)
{
    return axis_info_of(as->axes, pointer)->dim[axis].likely;
}

/// Axes by falling run; among equals the last axis is the fastest.
static void axis_order(const Assign *as, const IrValue *pointer, uint8_t *order)
{
    const unsigned rank = type_rank(pointer->type);
    for (unsigned n = 0; n < rank; n++) {
        const uint8_t axis = (uint8_t)(rank - 1 - n);
        const int64_t run = expected_run(as, pointer, axis);
        unsigned at = n;
        for (; at > 0 && expected_run(as, pointer, order[at - 1]) < run; at--)
            order[at] = order[at - 1];
        order[at] = axis;
    }
}

static AccessGroup *find_group(Assign *as, const Type *block, const uint8_t *order)
{
    AccessGroup *g;
    VEC_EACH (g, &as->groups) {
        if (type_same_shape(g->block, block) && memcmp(g->order, order, block->rank) == 0)
            return g;
    }
    return NULL;
}

static unsigned access_bytes(const IrValue *pointer)
{
    return type_elem_bytes(type_elem(pointer->type)->elem);
}

/// Notes the load of bytes that go to a tile along another axis than memory's.
static void note_turned(Assign *as, const IrOp *put)
{
    uint8_t order[TYPE_MAX_RANK];
    const IrRing *ring = &as->fn->rings[put->attr.copy.ring];
    const IrValue *v = put->args[1];
    while (v->def != NULL && ir_op_info[v->def->code].cls == OPCLASS_ELEMENTWISE &&
           v->def->argc == 1)
        v = v->def->args[0];
    if (v->def == NULL || v->def->code != IR_LOAD || type_elem_bytes(v->type) > 1)
        return;
    axis_order(as, v->def->args[0], order);
    if (order[0] != ring->fast)
        as->turned[v->id] = (uint8_t)(1 + ring->fast);
}

static bool collect(IrOp *op, void *cx)
{
    Assign *as = cx;
    uint8_t order[TYPE_MAX_RANK];
    if (op->code == IR_TILE_PUT && type_elem_bytes(op->args[1]->type) == 1)
        note_turned(as, op);
    if ((op->code != IR_LOAD && op->code != IR_STORE) || !type_is_block(op->args[0]->type))
        return true;
    const IrValue *pointer = op->args[0];
    axis_order(as, pointer, order);
    AccessGroup *g = find_group(as, pointer->type, order);
    if (g == NULL) {
        g = VEC_PUSH(as->scratch, &as->groups, ((AccessGroup){ .block = pointer->type }));
        memcpy(g->order, order, pointer->type->rank);
    }
    const unsigned bytes = access_bytes(pointer);
    int64_t contiguity = expected_run(as, pointer, order[0]);
    if (contiguity == 1 && !axis_info_from_memory(as->axes, pointer))
        contiguity = MAX_ACCESS_BYTES;
    g->max_bytes = bytes > g->max_bytes ? bytes : g->max_bytes;
    g->contiguity = contiguity > g->contiguity ? contiguity : g->contiguity;
    return true;
}

void layout_anchor_collect(Assign *as)
{
    ir_walk(as->fn, collect, as);
}

/// The largest power of two up to `limit` that leaves no thread without elements; at least 1.
static unsigned group_size(const Assign *as, const Type *block, int64_t limit)
{
    const uint32_t threads = UINT32_C(32) << as->warp_bits;
    unsigned vec = 1;
    while (INT64_C(2) * vec <= limit && vec * 2 * threads <= block->numel)
        vec *= 2;
    return vec;
}

static const Layout *grouped(Assign *as, const Type *block, const uint8_t *order)
{
    const AccessGroup *g = find_group(as, block, order);
    int64_t limit = MAX_ACCESS_BYTES / type_elem_bytes(block);
    if (g != NULL) {
        limit = MAX_ACCESS_BYTES / g->max_bytes;
        limit = g->contiguity < limit ? g->contiguity : limit;
    }
    return layout_group_cyclic(as->layouts, block, order, group_size(as, block, limit),
                               as->warp_bits);
}

const Layout *layout_anchor(Assign *as, const IrOp *op)
{
    uint8_t order[TYPE_MAX_RANK];
    axis_order(as, op->args[0], order);
    if (op->code == IR_ASYNC_COPY) {
        // Each thread moves whole pieces, even if others then move nothing.
        const int64_t piece =
            axis_info_piece(as->axes, op->args[0], op->args[2], order[0], MAX_ACCESS_BYTES);
        return layout_group_cyclic(as->layouts, op->args[0]->type, order, (unsigned)piece,
                                   as->warp_bits);
    }
    if (op->code == IR_LOAD && as->turned[op->results[0]->id] > 0)
        return layout_turned(as->layouts, op->args[0]->type, order[0],
                             as->turned[op->results[0]->id] - 1u, as->warp_bits);
    if (op->code == IR_LOAD || op->code == IR_STORE)
        return grouped(as, op->args[0]->type, order);
    // Atomics move single elements: neighbours belong to neighbouring lanes.
    return layout_group_cyclic(as->layouts, op->args[0]->type, order, 1, as->warp_bits);
}

const Layout *layout_default(Assign *as, const Type *block)
{
    uint8_t order[TYPE_MAX_RANK];
    for (unsigned n = 0; n < block->rank; n++)
        order[n] = (uint8_t)(block->rank - 1 - n);
    return grouped(as, block, order);
}

const Layout *layout_of_tile(Assign *as, const IrValue *tile)
{
    uint8_t order[TYPE_MAX_RANK];
    TilePlace place;
    unsigned n = 0;
    layout_tile_place(as->fn, tile, &place);
    order[n++] = place.fast;
    for (unsigned axis = type_rank(tile->type); axis-- > 0;)
        if (axis != place.fast)
            order[n++] = (uint8_t)axis;
    const int64_t limit = MAX_ACCESS_BYTES / type_elem_bytes(tile->type);
    return layout_group_cyclic(as->layouts, tile->type, order, group_size(as, tile->type, limit),
                               as->warp_bits);
}

static bool holds_bit(const Layout *l, unsigned first, unsigned end, uint32_t bit)
{
    for (unsigned k = first; k < end; k++) {
        if (l->basis[k] == bit)
            return true;
    }
    return false;
}

/// How many of the lowest element bits along `order` the slots hold, and how many slots and lanes
/// of one warp hold together: log2 of the widest access and of the run that a warp touches.
static void measure_runs(const Layout *l, const Type *block, const uint8_t *order, unsigned *vector,
                         unsigned *run)
{
    bool in_slots = true;
    *vector = *run = 0;
    for (unsigned n = 0; n < block->rank; n++) {
        unsigned low = 0;
        const unsigned bits = layout_axis_bits(block, order[n], &low);
        for (unsigned i = 0; i < bits; i++) {
            const uint32_t bit = UINT32_C(1) << (low + i);
            in_slots = in_slots && holds_bit(l, 0, l->reg_bits, bit);
            if (!holds_bit(l, 0, l->reg_bits + (unsigned)LAYOUT_LANE_BITS, bit))
                return;
            *vector += in_slots;
            ++*run;
        }
    }
}

bool layout_serves(const Assign *as, const IrOp *op, const Layout *l, const Layout *anchor)
{
    uint8_t order[TYPE_MAX_RANK] = { 0 };
    unsigned vector, run, best_vector, best_run;
    const IrValue *pointer = op->args[0];
    const unsigned bytes = access_bytes(pointer);
    axis_order(as, pointer, order);
    measure_runs(l, pointer->type, order, &vector, &run);
    measure_runs(anchor, pointer->type, order, &best_vector, &best_run);
    const bool wide = vector >= best_vector || bytes << vector >= MAX_ACCESS_BYTES;
    const bool coalesced = run >= best_run || bytes << run >= LINE_BYTES;
    return wide && coalesced;
}

const Layout *layout_near(const Assign *as, const IrOp *op, const Layout *own, const Layout *anchor)
{
    uint8_t order[TYPE_MAX_RANK] = { 0 };
    unsigned vector, run, most = 0;
    const IrValue *pointer = op->args[0];
    axis_order(as, pointer, order);
    measure_runs(anchor, pointer->type, order, &vector, &run);
    while (access_bytes(pointer) << most < LINE_BYTES)
        most++;
    const Layout *l = layout_regroup(as->layouts, own, pointer->type, order, vector,
                                     run < most ? run : most);
    if (l != NULL && layout_serves(as, op, l, anchor))
        return l;
    // Whole sectors are worth more than a trip of the whole block.
    l = layout_in_order(as->layouts, own, pointer->type, order[0]);
    measure_runs(l, pointer->type, order, &vector, &run);
    return access_bytes(pointer) << vector >= PAIR_BYTES &&
                   access_bytes(pointer) << run >= SECTOR_BYTES
               ? l
               : NULL;
}
