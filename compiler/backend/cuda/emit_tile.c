/// emit_tile.c - tiles in shared memory: their addresses, and their reading into registers.
///
/// A tile is held as a pointer to its elements. Places within it are linear in slot and thread
/// (layout/tile.c), so each access is one expression; neighbouring slots of up to 16 bytes move
/// together. Whoever wrote the tile has made sure that it is there.
#include "backend/cuda/emit_impl.h"

#include <inttypes.h>

enum { PIECE_BYTES = 16 };

const char *cuda_tile_offset(Emit *e, const IrRing *ring, const IrValue *slot)
{
    const char *at = cuda_text(e, "%" PRIu32, ring->smem);
    return ring->stages == 1
               ? at
               : cuda_text(e, "%s + %s * %" PRIu32, at, cuda_ref(e, slot, "0"), ring->bytes);
}

bool cuda_emit_tile(Emit *e, const IrOp *op)
{
    const IrValue *v = op->results[0];
    const IrRing *ring = &e->fn->rings[op->attr.ring];
    // Not the value's own name: the emitters of products use short ones for themselves.
    const char *name = cuda_name(e, v->hint ? cuda_text(e, "%s_tile", v->hint->text) : "tile");
    cuda_line(e, "NT_SHARED(%s, %s, %s);", cuda_ctype(e, v->type), name,
              cuda_tile_offset(e, ring, op->args[0]));
    cuda_set_place(e, v, PLACE_SHARED, name);
    return true;
}

/// Slots in the order in which they are read: first those of one piece. Gives log2 of how many.
static unsigned order_slots(const Layout *l, const TilePlace *place, unsigned bytes,
                            uint32_t *slots, uint32_t *places)
{
    unsigned together = 0, count = 0;
    for (unsigned k = 0; k < l->reg_bits;) {
        const bool next = layout_tile_offset(place, l->basis[k]) == bytes << together &&
                          bytes << together < PIECE_BYTES;
        if (next)
            slots[together++] = UINT32_C(1) << k;
        k = next ? 0 : k + 1;
    }
    count = together;
    for (unsigned k = 0; k < l->reg_bits; k++) {
        const uint32_t offset = layout_tile_offset(place, l->basis[k]);
        const bool taken = offset < bytes << together && offset != 0;
        places[count] = taken ? 0 : offset / bytes;
        if (!taken)
            slots[count++] = UINT32_C(1) << k;
    }
    for (unsigned k = 0; k < together; k++)
        places[k] = 0;
    return together;
}

bool cuda_emit_read_tile(Emit *e, const IrOp *op)
{
    const IrValue *from = op->args[0], *to = op->results[0];
    const Layout *l = to->layout;
    const unsigned bytes = type_elem_bytes(to->type), bits = LAYOUT_LANE_BITS + l->warp_bits;
    uint32_t slots[LAYOUT_MAX_BITS], places[LAYOUT_MAX_BITS], threads[LAYOUT_MAX_BITS];
    uint32_t image, thread_image, slot_image = 0;
    TilePlace place;
    layout_tile_place(e->fn, from, &place);
    const unsigned vec = 1u << order_slots(l, &place, bytes, slots, places);
    for (unsigned k = 0; k < bits; k++)
        threads[k] = layout_tile_offset(&place, l->basis[l->reg_bits + k]) / bytes;

    const char *name = cuda_declare(e, to), *take = cuda_name(e, "take");
    e->needs |= NEED_SHARED;
    cuda_line(e, "const int %s = %s;", take,
              cuda_linear(e, cuda_tid(e), threads, bits, &thread_image));
    const char *at = cuda_block_loop(e, layout_regs(l), vec);
    const char *slot = *at == '0' ? "0" : cuda_linear(e, at, places, l->reg_bits, &slot_image);
    const char *index = cuda_join(e, take, thread_image, slot, slot_image);
    const char *first = *at == '0' ? "0" : cuda_linear(e, at, slots, l->reg_bits, &image);
    if (vec == 1) {
        cuda_line(e, "%s = %s[%s];", cuda_slot_of(e, to, name, first), cuda_place(e, from).text,
                  index);
    } else {
        cuda_line(e, "%s;", cuda_decl(e, cuda_ctype(e, to->type), "group", vec));
        cuda_line(e, "nt_take<%u>(group, %s + (%s));", vec, cuda_place(e, from).text, index);
        for (unsigned i = 0; i < vec; i++) {
            uint32_t within = 0;
            for (unsigned k = 0; i >> k; k++)
                within |= i >> k & 1 ? slots[k] : 0;
            cuda_line(e, "%s = group[%u];",
                      cuda_slot_of(e, to, name,
                                   i == 0 ? first : cuda_text(e, "%s + %" PRIu32, first, within)),
                      i);
        }
    }
    cuda_block_end(e);
    return true;
}
