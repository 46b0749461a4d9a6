/// emit_async.c - filling tiles of shared memory: asynchronous copies, and blocks from registers.
///
/// A thread's pieces lie where layout/tile.c says, so a place is one expression: a part of the
/// thread, which does not change, and one of the slot. Whoever made the operations has seen to it
/// that nobody still reads the tile.
#include "backend/cuda/emit_impl.h"

enum {
    PIECE_BYTES = 16,
    LEAST_COPY_BYTES = 4,
    PAIR_LANE_BITS = 2,  // of stmatrix: lanes that hold one row's pairs
    ROW_LANE_BITS = 3    // ... and the rows
};

/// Where the elements of a block in registers go in a tile.
typedef struct Tile {
    const IrRing *ring;
    const Layout *layout;
    const char *tile;  // the pointer to its elements
    unsigned bytes;    // of an element
    const char *base;  // the thread's part, in elements
    uint32_t base_image;
} Tile;

static uint32_t place_of(const Tile *t, uint32_t element)
{
    return layout_tile_index(t->ring->block, t->ring->fast, element) / t->bytes;
}

/// Names the tile in stage `slot`.
static Tile begin_tile(Emit *e, const IrOp *op, const IrValue *slot, const Layout *l)
{
    Tile t = { .ring = &e->fn->rings[op->attr.copy.ring], .layout = l };
    t.bytes = type_elem_bytes(t.ring->block);
    t.tile = cuda_name(e, "to");
    cuda_line(e, "NT_SHARED(%s, %s, %s);", cuda_ctype(e, t.ring->block), t.tile,
              cuda_tile_offset(e, t.ring, slot));
    return t;
}

/// Names the thread's part of places: thread bit k adds element basis[k].
static void emit_base(Emit *e, Tile *t, const uint32_t *basis)
{
    const unsigned bits = LAYOUT_LANE_BITS + t->layout->warp_bits;
    uint32_t threads[LAYOUT_MAX_BITS];
    for (unsigned k = 0; k < bits; k++)
        threads[k] = place_of(t, basis[k]);
    t->base = cuda_name(e, "put");
    cuda_line(e, "const int %s = %s;", t->base,
              cuda_linear(e, cuda_tid(e), threads, bits, &t->base_image));
}

/// The place of the group at position `at`, whose bit k adds element basis[k] (0 within a group).
static const char *place_text(Emit *e, const Tile *t, const char *at, const uint32_t *basis,
                              unsigned bits)
{
    uint32_t places[LAYOUT_MAX_BITS], image = 0;
    for (unsigned k = 0; k < bits; k++)
        places[k] = place_of(t, basis[k]);
    const char *offset = *at == '0' ? "0" : cuda_linear(e, at, places, bits, &image);
    return cuda_join(e, t->base, t->base_image, offset, image);
}

static void begin_owners(Emit *e, const Layout *l)
{
    const char *owner = cuda_owner(e, l);
    cuda_line(e, owner ? "if (%s) {" : "{", owner);
    e->body.indent++;
}

bool cuda_emit_async_copy(Emit *e, const IrOp *op)
{
    const IrValue *pointer = op->args[0], *mask = op->args[2];
    const Layout *l = pointer->layout;
    const unsigned vec = op->attr.copy.mem.vec;
    uint32_t basis[LAYOUT_MAX_BITS];
    const unsigned bytes = vec * type_elem_bytes(type_elem(pointer->type)->elem);
    if (bytes < LEAST_COPY_BYTES)
        return cuda_fault(e, op, "its pieces are too small for an asynchronous copy");
    e->needs |= NEED_ASYNC;
    begin_owners(e, l);
    Tile t = begin_tile(e, op, op->args[1], l);
    emit_base(e, &t, l->basis + l->reg_bits);
    for (unsigned k = 0; k < l->reg_bits; k++)
        basis[k] = 1u << k < vec ? 0 : l->basis[k];
    const char *slot = cuda_loop(e, layout_regs(l), vec);
    cuda_line(e, "nt_copy_async<%u>(%s + (%s), %s, %s);", bytes, t.tile,
              place_text(e, &t, slot, basis, l->reg_bits), cuda_ref(e, pointer, slot),
              mask ? cuda_ref(e, mask, slot) : "true");
    cuda_loop_end(e, layout_regs(l), vec);
    cuda_block_end(e);
    return true;
}

static bool reads_tile_by_wgmma(IrOp *op, void *cx)
{
    bool *found = cx;
    *found = op->code == IR_DOT && op->attr.dot.wgmma &&
             (ir_tile_of(op->args[0]) != NULL || ir_tile_of(op->args[1]) != NULL);
    return !*found;
}

/// True when warpgroups' matrix instructions read tiles: through another proxy than what fills
/// them.
static bool is_read_by_wgmma(const Emit *e)
{
    bool found = false;
    ir_walk((IrFunc *)e->fn, reads_tile_by_wgmma, &found);  // changes nothing
    return found;
}

/// What this thread has written to tiles becomes visible to those instructions, once a barrier is
/// passed.
static void emit_fence(Emit *e)
{
    if (!is_read_by_wgmma(e))
        return;
    e->needs |= NEED_TMA;
    cuda_line(e, "nt_fence_async();");
}

/// Slots in the order in which they are written: first those of one piece. Gives how many are.
static unsigned order_slots(const Tile *t, uint32_t *slots)
{
    const Layout *l = t->layout;
    uint32_t taken = 0;
    unsigned together = 0, count;
    for (unsigned k = 0; k < l->reg_bits && t->bytes << together < PIECE_BYTES;) {
        const bool next = place_of(t, l->basis[k]) == 1u << together;
        if (next) {
            slots[together++] = UINT32_C(1) << k;
            taken |= UINT32_C(1) << k;
        }
        k = next ? 0 : k + 1;
    }
    count = together;
    for (unsigned k = 0; k < l->reg_bits; k++)
        if ((taken >> k & 1) == 0)
            slots[count++] = UINT32_C(1) << k;
    return 1u << together;
}

/// Whether lanes hold 16-bit elements as stmatrix wants them: pairs, four lanes a piece of 16 bytes, eight
/// such pieces in three lane bits.
static bool holds_matrices(const Emit *e, const Tile *t, const IrValue *v, unsigned vec)
{
    const Layout *l = t->layout;
    if ((e->opt->features & TARGET_STMATRIX) == 0 || t->bytes != 2 || vec != 2 || l->reg_bits < 2 ||
        layout_replicated_threads(l) != 0 || cuda_place(e, v).kind != PLACE_ARRAY)
        return false;
    for (unsigned k = 0; k < LAYOUT_LANE_BITS; k++) {
        const uint32_t place = place_of(t, l->basis[l->reg_bits + k]);
        if (k < PAIR_LANE_BITS ? place != UINT32_C(2) << k : place % (PIECE_BYTES / 2) != 0)
            return false;
    }
    return true;
}

/// Writes up to four matrices at a time: lanes 0 to 2 name a row, 3 and 4 a matrix.
static void emit_matrices(Emit *e, Tile *t, const IrValue *v, const uint32_t *slots)
{
    const Layout *l = t->layout;
    uint32_t basis[LAYOUT_MAX_BITS] = { 0 }, image;
    const unsigned together = l->reg_bits < 3 ? 1 : 2, count = 1u << together;
    for (unsigned k = 0; k < ROW_LANE_BITS; k++)
        basis[k] = l->basis[l->reg_bits + PAIR_LANE_BITS + k];
    for (unsigned k = 0; k < together; k++)
        basis[ROW_LANE_BITS + k] = layout_reg_part(l, slots[1 + k]);
    for (unsigned k = LAYOUT_LANE_BITS; k < LAYOUT_LANE_BITS + (unsigned)l->warp_bits; k++)
        basis[k] = l->basis[l->reg_bits + k];
    emit_base(e, t, basis);
    for (unsigned k = 0; k < l->reg_bits; k++)
        basis[k] = k <= together ? 0 : layout_reg_part(l, slots[k]);
    e->needs |= NEED_WARPS;
    const char *at = cuda_block_loop(e, layout_regs(l), 2 * count);
    const char *place = place_text(e, t, at, basis, l->reg_bits);
    cuda_line(e, "unsigned words[%u];", count);
    for (unsigned i = 0; i < count; i++) {
        const char *pair[2];
        for (unsigned h = 0; h < 2; h++) {
            const bool is_first = *at == '0' && i + h == 0;
            const char *position = cuda_text(e, "(%s + %u)", at, 2 * i + h);
            pair[h] = cuda_ref(e, v,
                               is_first ? "0" : cuda_linear(e, position, slots, l->reg_bits, &image));
        }
        cuda_line(e, "words[%u] = nt_pack(%s, %s);", i, pair[0], pair[1]);
    }
    cuda_line(e, "nt_stmatrix<%u>(%s + (%s), words);", count, t->tile, place);
    cuda_block_end(e);
}

/// Writes pieces of up to 16 bytes.
static void emit_pieces(Emit *e, const IrOp *op, Tile *t, const uint32_t *slots, unsigned vec)
{
    const IrValue *v = op->args[1];
    const Layout *l = t->layout;
    uint32_t basis[LAYOUT_MAX_BITS], image;
    emit_base(e, t, l->basis + l->reg_bits);
    for (unsigned k = 0; k < l->reg_bits; k++)
        basis[k] = 1u << k < vec ? 0 : layout_reg_part(l, slots[k]);
    const char *at = cuda_block_loop(e, layout_regs(l), vec);
    const char *place = place_text(e, t, at, basis, l->reg_bits);
    cuda_line(e, "%s;", cuda_decl(e, cuda_ctype(e, v->type), "group", vec));
    for (unsigned i = 0; i < vec; i++) {
        const char *position = i == 0 ? at : cuda_text(e, "(%s + %u)", at, i);
        const bool is_first = *at == '0' && i == 0;
        const char *x =
            cuda_ref(e, v, is_first ? "0" : cuda_linear(e, position, slots, l->reg_bits, &image));
        cuda_line(e, op->attr.copy.tf32 ? "group[%u] = nt_tf32(%s);" : "group[%u] = %s;", i, x);
    }
    cuda_line(e, "nt_put<%u>(%s + (%s), group);", vec, t->tile, place);
    cuda_block_end(e);
}

bool cuda_emit_tile_put(Emit *e, const IrOp *op)
{
    const IrValue *v = op->args[1];
    uint32_t slots[LAYOUT_MAX_BITS];
    e->needs |= NEED_SHARED | (op->attr.copy.tf32 ? NEED_DOT : 0);
    begin_owners(e, v->layout);
    Tile t = begin_tile(e, op, op->args[0], v->layout);
    const unsigned vec = order_slots(&t, slots);
    if (holds_matrices(e, &t, v, vec))
        emit_matrices(e, &t, v, slots);
    else
        emit_pieces(e, op, &t, slots, vec);
    cuda_block_end(e);
    emit_fence(e);
    return true;
}

bool cuda_emit_async_commit(Emit *e, const IrOp *op)
{
    (void)op;
    e->needs |= NEED_ASYNC;
    cuda_line(e, "nt_copy_commit();");
    return true;
}

bool cuda_emit_async_wait(Emit *e, const IrOp *op)
{
    e->needs |= NEED_ASYNC;
    cuda_line(e, "nt_copy_wait<%u>();", op->attr.groups);
    emit_fence(e);
    cuda_line(e, "%s", cuda_barrier(e));
    return true;
}
