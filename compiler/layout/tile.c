/// tile.c - where the elements of a tile lie in shared memory.
///
/// There is one placement, that of TMA's swizzles, which asynchronous copies, ldmatrix and wgmma's
/// descriptors all can use. The fast axis is cut into chunks of at most 128 bytes; a chunk is a
/// stack of such rows, one for each coordinate of the slow axis, and chunks follow each other.
/// Within a row the 16-byte pieces are XORed with the row's number: with all three of its low bits
/// where rows have 128 bytes, bits 1 and 2 for 64, bit 2 for 32 (PTX manual, "Swizzling modes"), so
/// that the same piece of eight rows meets all banks.
#include "layout/layout.h"
#include "layout/layout_impl.h"
#include <assert.h>

enum {
    CHUNK_BYTES = 128,
    PIECE_BITS = 4,    // log2 of 16 bytes
    SWIZZLE_SHIFT = 7  // a swizzle XORs address bits from here on into those from PIECE_BITS on
};

/// Bits of the two axes of a tile.
typedef struct TileAxes {
    unsigned fast_low, fast_bits, slow_low, slow_bits;
    unsigned bytes;  // log2 of an element's
    unsigned row;    // log2 of the bytes of a chunk's row
} TileAxes;

static TileAxes axes_of(const Type *block, unsigned fast)
{
    TileAxes a;
    const unsigned rank = type_rank(block), slow = fast == rank - 1 ? rank - 2 : rank - 1;
    assert(rank >= 2 && (fast == rank - 1 || fast == rank - 2));
    a.fast_bits = layout_axis_bits(block, fast, &a.fast_low);
    a.slow_bits = layout_axis_bits(block, slow, &a.slow_low);
    a.bytes = layout_log2(type_elem_bytes(block));
    a.row = a.fast_bits + a.bytes;
    if (a.row > layout_log2(CHUNK_BYTES))
        a.row = layout_log2(CHUNK_BYTES);
    return a;
}

static uint32_t coordinate(uint32_t element, unsigned low, unsigned bits)
{
    return element >> low & ((UINT32_C(1) << bits) - 1);
}

uint32_t layout_tile_index(const Type *block, unsigned fast, uint32_t element)
{
    const TileAxes a = axes_of(block, fast);
    const uint32_t along = coordinate(element, a.fast_low, a.fast_bits) << a.bytes;
    const uint32_t row = coordinate(element, a.slow_low, a.slow_bits) << a.row;
    const uint32_t chunk = along >> a.row << (a.row + a.slow_bits);
    const uint32_t swizzled =
        a.row > PIECE_BITS ? (UINT32_C(1) << (a.row - PIECE_BITS)) - 1 : 0;
    return (chunk + row + (along & ((UINT32_C(1) << a.row) - 1))) ^
           (row >> SWIZZLE_SHIFT & swizzled) << PIECE_BITS;
}

unsigned layout_tile_row_bytes(const Type *block, unsigned fast)
{
    return 1u << axes_of(block, fast).row;
}

uint32_t layout_tile_bytes(const Type *block, unsigned fast)
{
    const uint32_t bytes = block->numel * type_elem_bytes(block);
    const uint32_t least = 8 * layout_tile_row_bytes(block, fast);  // the swizzle's period
    return bytes > least ? bytes : least;
}

uint32_t layout_tile_offset(const TilePlace *place, uint32_t element)
{
    return layout_gf2_apply(place->index, element);
}

bool layout_tile_place(const IrFunc *fn, const IrValue *v, TilePlace *out)
{
    const IrOp *tile = ir_tile_of(v);
    if (tile == NULL)
        return false;
    const IrRing *ring = &fn->rings[tile->attr.ring];
    *out = (TilePlace){ .ring = ring, .fast = ring->fast };
    if (v->def == tile) {
        for (unsigned bit = 0; UINT32_C(1) << bit < v->type->numel; bit++)
            out->index[bit] = layout_tile_index(v->type, ring->fast, UINT32_C(1) << bit);
        return true;
    }
    // A transposition: each axis of the result is one of the operand's, with the same places.
    TilePlace of;
    const IrValue *operand = v->def->args[0];
    if (!layout_tile_place(fn, operand, &of))
        return false;
    for (unsigned axis = 0; axis < type_rank(v->type); axis++) {
        unsigned low, from_low;
        const unsigned from = v->def->attr.perm[axis];
        const unsigned bits = layout_axis_bits(v->type, axis, &low);
        layout_axis_bits(operand->type, from, &from_low);
        for (unsigned i = 0; i < bits; i++)
            out->index[low + i] = of.index[from_low + i];
        if (from == of.fast)
            out->fast = (uint8_t)axis;
    }
    return true;
}
