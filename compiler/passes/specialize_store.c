// specialize_store.c - stores of sums become copies of tiles.
//
// A store of what warpgroups have summed up touches a tile of a tensor too: it goes through shared
// memory in the copy engine's order, which writes it on while the next program's sum is made. The
// engine's writes take effect later than a thread's, so nothing else of the kernel may touch the
// tensor but to store tiles beside it, and nothing may tell other programs that it is written.
#include "layout/layout.h"
#include "passes/specialize_impl.h"
#include "passes/tensor_value.h"

enum { LINE_BYTES = 128, ROWS = 64, WARP_ROWS = 16, MAX_DEPTH = 16, BUFFERS = 2 };

/// True when `v` is computed element by element from a warpgroup's product. One of tf32 is made as its
/// transpose (layout_dot_swaps): threads store whole sectors of that, and rows of tiles they do not hold.
static bool is_sum(const IrValue *v, int depth)
{
    const IrOp *op = v->def;
    if (!op || depth == MAX_DEPTH || !type_is_block(v->type))
        return false;
    if (op->code == IR_DOT)
        return op->attr.dot.wgmma && type_scalar_kind(op->args[0]->type) != SCALAR_F32;
    if (op->code == IR_FOR)
        return is_sum(op->regions[0]->last->args[v->index], depth + 1);
    for (uint32_t i = 0; ir_op_info[op->code].cls == OPCLASS_ELEMENTWISE && i < op->argc; i++)
        if (is_sum(op->args[i], depth + 1))
            return true;
    return false;
}

/// True when two tiles of a tensor have no element in common: beside each other along one dimension.
static bool are_beside(const TensorAccess *a, const TensorAccess *b)
{
    bool apart = false;
    if (a->reason || b->reason || a->rank != b->rank)
        return false;
    for (unsigned k = 0; k < a->rank; k++) {
        int64_t distance;
        if (!poly_equal(&a->dims[k].stride, &b->dims[k].stride))
            return false;
        const Poly way = poly_add(&b->dims[k].start, &a->dims[k].start, -1);
        apart |= poly_is_const(&way, &distance) &&
                 (distance >= a->dims[k].extent || -distance >= b->dims[k].extent);
    }
    return apart;
}

typedef struct Others {
    const Special *s;
    const IrOp *store;
    int root;
    bool met;
} Others;

static bool is_other(IrOp *op, void *cx)
{
    Others *o = cx;
    const OpClass cls = ir_op_info[op->code].cls;
    if (cls == OPCLASS_ATOMIC)
        o->met = true;
    else if (cls == OPCLASS_MEMORY && op != o->store) {
        const int root = ir_pointer_root(o->s->fn, op->args[0]);
        o->met = root < 0 || root == o->root;
        if (root == o->root && op->code == IR_STORE)
            o->met = !are_beside(tensor_access_of(o->s->tensors, op),
                                 tensor_access_of(o->s->tensors, o->store));
    }
    return !o->met;
}

/// True when the kernel does nothing else to what the store may write, and never speaks to other programs.
static bool is_alone(const Special *s, const IrOp *store)
{
    Others o = { s, store, ir_pointer_root(s->fn, store->args[0]), false };
    ir_walk(s->fn, is_other, &o);
    return o.root >= 0 && !o.met;
}

/// Why a store cannot be a copy; NULL: it can.
static const char *obstacle(Special *s, const IrOp *store, const TensorAccess *access,
                            unsigned line)
{
    const Type *value = store->args[1]->type;
    if (access->reason)
        return access->reason;
    const unsigned rank = type_rank(value), bytes = type_elem_bytes(value);
    const char *reason = tensor_copy_obstacle(s->tensors, access);
    if (reason)
        return reason;
    if (rank != 2 || access->dims[line].axis != 1 || (bytes != 2 && bytes != 4) ||
        layout_dot_wgmma_columns(value, s->fn->num_warps, false) * bytes < LINE_BYTES)
        return "the tile has not 128 bytes in a row for each warpgroup";
    if (!is_alone(s, store))
        return "the kernel touches the same tensor elsewhere, or is not alone";
    return specialize_unbounded(s, store, access);
}

static bool look_at_store(IrOp *op, void *cx)
{
    Special *s = cx;
    if (op->code != IR_STORE || !is_sum(op->args[1], 0))
        return true;
    const TensorAccess *access = tensor_access_of(s->tensors, op);
    const unsigned line = access->reason ? 0 : specialize_line(access);
    const char *reason = obstacle(s, op, access, line);
    specialize_note(s, op, reason);
    if (!reason)
        VEC_PUSH(s->cx->arena, &s->stores,
                 ((Feed){ .load = op, .access = access, .line = (uint8_t)line }));
    return true;
}

void specialize_find_stores(Special *s)
{
    ir_walk(s->fn, look_at_store, s);
}

/// Warpgroups of a block.
static unsigned groups(const Special *s)
{
    return s->fn->num_warps / 4u * s->teams;
}

uint32_t specialize_store_bytes(const Special *s)
{
    return s->stores.len ? BUFFERS * ROWS * LINE_BYTES * groups(s) : 0;
}

void specialize_make_store_maps(Special *s)
{
    // While another team multiplies, its warps write on their own; else they go on together.
    const unsigned rows = s->teams > 1 ? WARP_ROWS : ROWS;
    for (uint32_t i = 0; i < s->stores.len; i++) {
        Feed *f = &s->stores.at[i];
        const TensorAccess *a = f->access;
        IrTensorMap map = {
            .param = a->param, .elem = a->elem, .rank = (uint8_t)a->rank, .swizzle = LINE_BYTES
        };
        map.box[0] = (uint16_t)(LINE_BYTES / type_elem_bytes(a->elem));
        for (unsigned k = 0, to = 1; k < a->rank; k++)
            if (k != f->line)
                map.box[to++] = (uint16_t)(a->dims[k].axis >= 0 ? rows : 1);
        f->map = ir_add_map(s->fn, &map);
        f->has_own_map = true;
    }
}

/// One ring serves all stores; its stages are the warpgroups' buffers.
void specialize_rewrite_stores(Special *s)
{
    Arena scratch = { 0 };
    IrValue **map = ARENA_NEW_N(&scratch, IrValue *, s->fn->value_count);
    for (uint32_t i = 0; i < s->stores.len; i++) {
        const Feed *f = &s->stores.at[i];
        const int32_t shape[] = { ROWS, LINE_BYTES / (int32_t)type_elem_bytes(f->access->elem) };
        const Type *block = type_block(s->fn->types, f->access->elem, 2, shape);
        if (i == 0)
            ir_add_ring(s->fn, block, BUFFERS * groups(s), 1);
        IrBuilder b = {
            .fn = s->fn, .block = f->load->block, .before = f->load, .span = f->load->span
        };
        IrValue *args[1 + TENSOR_MAX_RANK] = { f->load->args[1] };
        unsigned n = 1;
        args[n++] = tensor_value(&b, &f->access->dims[f->line].start, map);
        for (unsigned k = 0; k < f->access->rank; k++)
            if (k != f->line)
                args[n++] = tensor_value(&b, &f->access->dims[k].start, map);
        IrOp *store = ir_op0(&b, IR_TENSOR_STORE, n, args);
        store->attr.pipe.ring = (uint16_t)(s->fn->ring_count - 1);
        store->attr.pipe.map = f->map;
        ir_remove(f->load);
    }
    arena_free(&scratch);
}
