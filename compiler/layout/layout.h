/// layout.h - which thread holds which element: linear maps over bits.
///
/// A layout maps the bits of (register slot, lane, warp) to the bits of an element's row-major
/// number by XOR: element = XOR of basis[k] over the set input bits k. Block extents are powers of
/// two, so the number's bits are the concatenated coordinate bits and a reshape, expand_dims or
/// split of axes changes no layout at all. A zero basis is replication: threads that differ only
/// in such bits hold the same element, and the owner (all replication bits zero) performs effects.
/// Layouts are interned: `==` compares. Input bit order: register bits, then 5 lane bits, then warp
/// bits. After the algebra (linear.c) come constructors (build.c), conversion planning (convert.c),
/// shared-memory swizzles (swizzle.c), tiles in shared memory (tile.c), reductions (reduce.c), text (text.c) and pictures (draw.c).
/// No constructor makes a layout in which two slots of one thread hold the same element.
#ifndef NEWT_LAYOUT_LAYOUT_H
#define NEWT_LAYOUT_LAYOUT_H
#include "ir/ir.h"

enum { LAYOUT_LANE_BITS = 5, LAYOUT_MAX_BITS = 30 };

typedef struct Layout {
    uint8_t reg_bits, warp_bits;       ///< lane bits are always 5
    uint8_t elem_bits;                 ///< log2 of the block's element count
    uint32_t basis[LAYOUT_MAX_BITS];   ///< reg_bits + 5 + warp_bits entries
} Layout;

typedef struct LayoutTable LayoutTable;
LayoutTable *layout_table_new(Arena *a);
/// The one Layout equal to *l.
const Layout *layout_intern(LayoutTable *t, const Layout *l);

static inline unsigned layout_regs(const Layout *l) { return 1u << l->reg_bits; }
static inline unsigned layout_threads(const Layout *l) { return 32u << l->warp_bits; }
/// How many entries of `basis` are in use.
static inline unsigned layout_in_bits(const Layout *l)
{
    return (unsigned)l->reg_bits + LAYOUT_LANE_BITS + l->warp_bits;
}

/// The element that (reg, thread) holds; thread = warp * 32 + lane.
uint32_t layout_element(const Layout *l, uint32_t reg, uint32_t thread);
/// Contribution of the register bits alone / of the thread bits alone (element = a ^ b).
uint32_t layout_reg_part(const Layout *l, uint32_t reg);
uint32_t layout_thread_part(const Layout *l, uint32_t thread);
/// Mask of thread bits that only replicate (zero basis, or dependent on lower bits so that some
/// combination repeats); 0 when each thread holds elements of its own. The owner of an element is the
/// one thread that holds it with (thread & mask) == 0.
uint32_t layout_replicated_threads(const Layout *l);
/// True when register slots of one thread repeat an element.
bool layout_has_replicated_regs(const Layout *l);
/// True when every element has a holder.
bool layout_is_surjective(const Layout *l);
/// Dimension of the image: 1 << rank elements have a holder.
unsigned layout_rank(const Layout *l);
/// The owner of `element` and the lowest slot in which it holds it. False when nobody holds it.
bool layout_owner_of(const Layout *l, uint32_t element, uint32_t *reg, uint32_t *thread);
/// True when every element has the same owning thread in both (same element count and warps).
bool layout_same_owners(const Layout *a, const Layout *b);

/// The element-number bits of axis `axis` of a block: how many, and the lowest one in *low. The
/// coordinate of element e is (e >> low) & ((1 << count) - 1).
unsigned layout_axis_bits(const Type *block, unsigned axis, unsigned *low);

/* ---- constructors (build.c) ---- */
/// Group-cyclic: with elements numbered along `order` (order[0] is the fastest axis), element i goes
/// to thread (i / vec) mod T, slot (i / (T * vec)) * vec + i mod vec, T = 32 << warp_bits. With fewer
/// than T * vec elements the surplus bits are zero (replication), with fewer than vec there are fewer
/// slots. `order` NULL: row-major, the last axis fastest.
const Layout *layout_group_cyclic(LayoutTable *t, const Type *block, const uint8_t *order,
                                  unsigned vec, unsigned warp_bits);
/// For bytes that are read in runs along axis `from` and written along axis `to`: a thread holds 8 of
/// the one by 4 of the other, so that words can be made of the latter.
const Layout *layout_turned(LayoutTable *t, const Type *block, unsigned from, unsigned to,
                            unsigned warp_bits);
/// The layout of the result of removing axis `axis` (reduce): its bits projected out, register
/// slots that became equal merged. `reg_map` (may be NULL; layout_regs(result) long) receives for each
/// new slot an old one.
const Layout *layout_slice(LayoutTable *t, const Layout *l, const Type *block, unsigned axis, uint16_t *reg_map);
/// For a value of type `from` (some axes of extent 1) broadcast to `to` with layout `l`: the layout of
/// the source for which the broadcast moves nothing. `reg_map` (may be NULL; layout_regs(l) long)
/// receives for each slot of the broadcast's result the source's slot.
const Layout *layout_unbroadcast(LayoutTable *t, const Layout *l, const Type *to, const Type *from,
                                 uint16_t *reg_map);
/// A layout in which each warp holds the elements that it holds in `l`, but dealt out along `order`:
/// 1 << access_bits neighbours to a slot group, up to 1 << run_bits to neighbouring lanes, then along the
/// other axes. NULL where a warp of `l` has no such neighbours, or threads of `l` share elements.
const Layout *layout_regroup(LayoutTable *t, const Layout *l, const Type *block, const uint8_t *order,
                             unsigned access_bits, unsigned run_bits);
/// `l` with its slots in another order: neighbours along `axis` follow each other, as far as slots hold them.
const Layout *layout_in_order(LayoutTable *t, const Layout *l, const Type *block, unsigned axis);
/// The layout of trans(x, perm) when x has layout l.
const Layout *layout_trans(LayoutTable *t, const Layout *l, const Type *operand, const uint8_t *perm);
/// The operand's layout for which trans gives `l` (inverse of the above).
const Layout *layout_untrans(LayoutTable *t, const Layout *l, const Type *operand, const uint8_t *perm);

/* ---- conversion (convert.c) ---- */
typedef enum { CONVERT_FREE, CONVERT_REGS, CONVERT_SHUFFLE, CONVERT_WARP, CONVERT_SHARED } ConvertKind;

/// How to move a value from one layout to another. What each kind means for the emitter:
///
/// FREE     slot r stays slot r: nothing to emit.
/// REGS     new[r] = old[reg_from[r]], same thread.
/// SHUFFLE  one round for each new slot r (round r of `rounds`), all lanes together:
///              sent   = old[reg_from[r] ^ flip(send_flip, thread)]      (sender's thread number)
///              new[r] = shfl(sent, lane_from[r] ^ flip(lane_flip, thread))   (reader's)
///          flip(f, t) is the XOR of f[k] over the set bits k of t: bits 0-4 the lane, then the warp.
///          With `same_lane` reader and sender are one thread and new[r] = sent.
/// SHARED   index(slot, thread) = layout_shared_index(); byte address = index * elem_bytes.
///          Store: threads with (thread & store_idle) == 0, group g of store_count / vec writes slots
///          store_slots[g * vec ..] to index(store_slots[g * vec], thread) and the vec - 1 that follow.
///          A barrier (inside the operation). Load: every thread, likewise with load_slots.
///          Each index is a multiple of vec. The index is linear: the thread's part XOR the slot's.
/// WARP     as SHARED, but each warp has `bytes` of its own, and synchronises itself alone; and for
///          one piece after another: piece p's slots are those of the lists XOR the slots of
///          store_piece[k] (load_piece[k]) for the set bits k of p < 1 << piece_bits. With `matrices`
///          the store may be by stmatrix: lanes 0, 1 and store_slots[1] are the index bits of 8
///          elements, lanes 2 to 4 the rows of a matrix, and the list's further slots the matrices.
typedef struct ConvertPlan {
    ConvertKind kind;
    /* FREE, REGS, SHUFFLE: as long as the new layout has slots */
    uint16_t *reg_from;
    /* SHUFFLE */
    uint32_t rounds;
    uint16_t *lane_from;
    uint16_t send_flip[LAYOUT_LANE_BITS + 5], lane_flip[LAYOUT_LANE_BITS + 5];
    bool same_lane;
    const Layout *src_of_dst;      ///< FREE, REGS, SHUFFLE: maps (new slot | thread << new reg_bits) to
                                   ///< (old slot | thread << old reg_bits), as "elements"
    /* SHARED */
    uint32_t swizzle_basis[20];    ///< index bits of each element bit (XOR map, bijective)
    uint8_t store_vec, load_vec;   ///< elements a thread writes / reads at once; at most 16 bytes
    uint16_t *store_slots, *load_slots;
    uint32_t store_count, load_count;
    uint32_t store_idle;           ///< mask of thread bits: a set one writes nothing (replicas)
    uint32_t bytes;                ///< shared memory needed (WARP: of each warp)
    /* WARP besides */
    uint8_t access_bits;           ///< log2 of the elements that a thread of the new layout may take at once
    uint8_t piece_bits;
    uint16_t store_piece[LAYOUT_MAX_BITS], load_piece[LAYOUT_MAX_BITS];
    bool matrices;
    /* SHARED, WARP */
    uint8_t store_conflicts, load_conflicts;  ///< simulated extra wavefronts per access; 0: none
} ConvertPlan;

/// Plans a conversion of elements of `elem_bytes` (1, 2, 4, 8; int1 is 1). Same answer for the same
/// input. Both layouts have the same elements and warps, and `src` holds every element.
const ConvertPlan *layout_plan_convert(LayoutTable *t, const Layout *src, const Layout *dst, unsigned elem_bytes);
/// SHARED: where `slot` of `thread` in layout `l` (the source's or the destination's) lies.
uint32_t layout_shared_index(const ConvertPlan *plan, const Layout *l, uint32_t slot, uint32_t thread);

/* ---- reductions (reduce.c) ---- */
/// Stages that reducing along `axis` needs: which register, lane and warp bits must be combined.
///
/// 1. Registers: slots that differ only in reg_mask, in one fixed order for all threads; what is left
///    is one value for each slot of the result, result_reg[s] names a slot of its set (mask bits 0).
/// 2. Lanes: v = op(v, shfl_xor(v, 1 << lane_bits[i])) for i = 0 ... lane_count - 1. With a commutative
///    op all lanes end with the same bits.
/// 3. Warps, when warp_count > 0: threads with (thread & idle) == 0 write their values to scratch index
///    (result element << warp_count | w), w = warp bits warp_bits[0] (lowest), warp_bits[1], ...; a
///    barrier (inside the operation); every thread reads the 1 << warp_count neighbours of its result
///    elements and combines them in one order: again the same bits everywhere.
typedef struct ReducePlan {
    uint32_t reg_mask;             ///< register bits combined within a thread
    uint8_t lane_bits[LAYOUT_LANE_BITS];
    unsigned lane_count;           ///< butterfly steps
    uint8_t warp_bits[5];          ///< bit numbers within the warp number
    unsigned warp_count;           ///< > 0: one value a warp goes through shared memory
    uint32_t idle;                 ///< mask of thread bits: a set one writes no scratch
    uint32_t scratch_elems;        ///< 0 without a warp stage, else result elements << warp_count
    const Layout *result;          ///< the slice
    uint16_t *result_reg;          ///< result slot -> a source slot of the combined registers
} ReducePlan;
/// NULL when one basis vector of `l` moves along `axis` and another axis at once (convert first); no
/// constructor makes such a layout.
const ReducePlan *layout_plan_reduce(LayoutTable *t, const Layout *l, const Type *block, unsigned axis);

/* ---- tiles in shared memory (tile.c) ---- */
/// Byte offset of an element in a tile whose neighbours along axis `fast` (one of the last two; the
/// others have extent 1) are neighbours in memory. Linear: offsets of unit elements XOR to all
/// others. With at least 8 rows along the slow axis it is what TMA writes with a box of one chunk a
/// time and the swizzle of layout_tile_row_bytes.
uint32_t layout_tile_index(const Type *block, unsigned fast, uint32_t element);
/// Bytes of a chunk's row: 128, 64 or 32, which is the swizzle's name, or less and no swizzle.
/// A chunk has as many rows as the slow axis coordinates.
unsigned layout_tile_row_bytes(const Type *block, unsigned fast);
/// Bytes of a tile: at least 8 rows. Tiles begin at multiples of 8 rows.
uint32_t layout_tile_bytes(const Type *block, unsigned fast);

/// Where the elements of a value that lives in a tile (a TILE, or a TRANS of one) lie.
typedef struct TilePlace {
    const IrRing *ring;
    uint8_t fast;                   ///< the value's axis along which neighbours are neighbours
    uint32_t index[20];             ///< byte offset of each element bit (XOR map)
} TilePlace;
/// False for a value in registers.
bool layout_tile_place(const IrFunc *fn, const IrValue *v, TilePlace *out);
/// The byte offset of one of the value's elements: linear.
uint32_t layout_tile_offset(const TilePlace *place, uint32_t element);

/* ---- matrix products (dot.c) ---- */
/// The layout of a product's sum, (M, N) or (batch, M, N), as plain multiplication wants it.
const Layout *layout_dot_fma(LayoutTable *t, const Type *sum, unsigned warp_bits);
/// As mma.sync's m16n8 accumulators: slot bit 0 the lowest column bit, slot bit 1 row bit 3, lanes
/// column bits 1, 2 and row bits 0 to 2. The slots above are columns, rows, batch. NULL when the
/// sum has fewer than 16 rows or 8 columns.
const Layout *layout_dot_mma(LayoutTable *t, const Type *sum, unsigned warp_bits, unsigned apart);
/// For words that threads read one by one from a tile whose neighbours are neighbours along a factor's
/// outer axis: eight of these and four along the inner one meet all banks if the outer ones are two
/// groups of four, 16 apart. With these bits layout_dot_mma exchanges bits 2 and 4 of rows or columns.
enum { DOT_ROWS_APART = 1, DOT_COLUMNS_APART = 2 };
unsigned layout_dot_apart(const IrFunc *fn, const IrOp *dot);

/// As wgmma's accumulators: warps 0 to 3 of a warpgroup hold 16 rows each of a block of 64. Warpgroups
/// divide the rows, and what is left over the columns. Slots: the block's, as in mma.sync's layout and
/// then the columns up to 256; above them more columns, then rows.
const Layout *layout_dot_wgmma(LayoutTable *t, const Type *sum, unsigned warp_bits);
/// False where that layout is not possible: fewer than 4 warps, fewer than 64 rows or than 8 columns for each
/// warpgroup, a batch, more sums than registers.
bool layout_dot_fits_wgmma(const Type *sum, unsigned num_warps);
/// Columns of one instruction; 0: the layout is not possible.
unsigned layout_dot_wgmma_columns(const Type *sum, unsigned num_warps, bool swapped);
/// Whether the product is made as its transpose, right factor first: 4-byte factors must follow the inner
/// axis in shared memory, or go through registers, which the instruction's first factor can, and a tile
/// that is fast along the columns is such a first factor.
bool layout_dot_swaps(const IrFunc *fn, const IrOp *dot);
/// The sum's layout then: rows and columns exchanged, and the columns of a block of 64 in an order in which
/// threads fetch neighbours in pairs without bank conflicts: bit 0 a slot's; 4, 1, 2 the lanes'; 3, 5 the warps'.
const Layout *layout_dot_wgmma_swapped(LayoutTable *t, const Type *sum, unsigned warp_bits);

/// Where a factor lies: in the dot's scratch, in a tile, or in registers. A factor's element is made of the inner axis's bits
/// (K), the outer one's (M or N) and the batch's.
typedef struct DotFactor {
    uint8_t inner_low, inner_bits, outer_low, outer_bits, batch_low, batch_bits;
    bool in_tile;                   ///< nothing is stored; `index` counts from the tile's beginning
    bool is_tf32;                   ///< in a tile, rounded already
    bool in_registers;              ///< wgmma's left factor, held by threads as it wants it: it lies nowhere
    bool inner_fast;                ///< elements of one row of shared memory follow the inner axis
    uint32_t index[20];             ///< shared index of each element bit (XOR map, bijective)
    /* Store: groups of `vec` slots, position p's bits being the slot's bits slot_bits[]; threads
     * with (thread & idle) == 0 write. */
    uint8_t slot_bits[LAYOUT_MAX_BITS], vec;
    uint32_t idle;
    uint32_t at, bytes;             ///< in the dot's scratch
    uint8_t row_bytes;              ///< wgmma: layout_tile_row_bytes of the place
} DotFactor;

typedef struct DotPlan {
    DotFactor factor[2];
    uint32_t bytes;                 ///< shared memory needed
    uint32_t alignment;             ///< of the scratch
} DotPlan;

/// For a DOT whose operands have layouts or are tiles; attr.dot.mma counts.
const DotPlan *layout_plan_dot(LayoutTable *t, const IrFunc *fn, const IrOp *dot);
/// Whether the DOT, run by that many warps, can read factor `which` from a tile that is fast along the
/// factor's inner axis (K), or along its outer one. Else the tile has to be read into registers (CONVERT).
bool layout_dot_takes_tile(const IrOp *dot, unsigned which, bool inner_fast, unsigned num_warps);
/// The factor's element with inner coordinate 0 that an element of the sum is made of: linear.
uint32_t layout_dot_element(const DotPlan *plan, unsigned which, uint32_t sum_element);
/// Its place in shared memory, counted in elements: linear.
uint32_t layout_dot_index(const DotFactor *f, uint32_t element);

/* ---- text and pictures ---- */
/// "reg=[1,2];lane=[4,8,16,32,64];warp=[128,256]" and back (NULL when malformed).
void layout_print(Buf *out, const Layout *l);
const Layout *layout_read(LayoutTable *t, const char *text, size_t len, unsigned elem_bits);
/// The same for ir_print and ir_read.
IrLayoutText layout_ir_text(LayoutTable *t);
/// An SVG of a 1-D or 2-D block: one cell an element, labelled thread:slot, coloured by warp.
void layout_draw_svg(Buf *out, const Layout *l, const Type *block, const char *title);

/// For a CARRY: where the neighbour in the other half is held. `half` are the bits of slots and of
/// threads that tell the halves apart, `low` those of the coordinates within one.
typedef struct CarryPlan {
    bool ok;  ///< false: the layout mixes bits, and cannot be carried along the axis
    uint32_t reg_half, reg_low, thread_half, thread_low;
    uint32_t parts;          ///< slots that differ in no such bit: what is handed over by a thread
    uint32_t scratch_elems;  ///< where it goes from warp to warp
} CarryPlan;
CarryPlan layout_plan_carry(const Layout *l, const Type *block, unsigned axis, unsigned bit);

#endif
