/// layout.h - which thread holds which element: linear maps over bits.
///
/// A layout maps the bits of (register slot, lane, warp) to the bits of an element's row-major
/// number by XOR: element = XOR of basis[k] over the set input bits k. Block extents are powers of
/// two, so the number's bits are the concatenated coordinate bits and a reshape, expand_dims or
/// split of axes changes no layout at all. A zero basis is replication: threads that differ only
/// in such bits hold the same element, and the owner (all replication bits zero) performs effects.
/// Layouts are interned: `==` compares. Input bit order: register bits, then 5 lane bits, then warp
/// bits. After the algebra (linear.c) come constructors (build.c), conversion planning
/// (convert.c), shared-memory swizzles (swizzle.c) and pictures (draw.c).
#ifndef NEWT_LAYOUT_LAYOUT_H
#define NEWT_LAYOUT_LAYOUT_H
#include "sema/type.h"

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

/// The element that (reg, thread) holds; thread = warp * 32 + lane.
uint32_t layout_element(const Layout *l, uint32_t reg, uint32_t thread);
/// Contribution of the register bits alone / of the thread bits alone (element = a ^ b).
uint32_t layout_reg_part(const Layout *l, uint32_t reg);
uint32_t layout_thread_part(const Layout *l, uint32_t thread);
/// Mask of thread bits that only replicate (zero basis, or dependent on lower bits so that some
/// combination repeats); 0 when each thread holds elements of its own.
uint32_t layout_replicated_threads(const Layout *l);
/// True when register slots of one thread repeat an element.
bool layout_has_replicated_regs(const Layout *l);
/// True when every element has a holder.
bool layout_is_surjective(const Layout *l);

/* ---- constructors (build.c) ---- */
/// Group-cyclic: with elements numbered along `order` (order[0] is the fastest axis), element i goes
/// to thread (i / vec) mod T, slot (i / (T * vec)) * vec + i mod vec, T = 32 << warp_bits. With fewer
/// than T * vec elements the surplus bits are zero (replication).
const Layout *layout_group_cyclic(LayoutTable *t, const Type *block, const uint8_t *order,
                                  unsigned vec, unsigned warp_bits);
/// The layout of the result of removing axis `axis` (reduce): its bits projected out, register
/// slots that became equal merged. `reg_map` (may be NULL) receives for each new slot an old one.
const Layout *layout_slice(LayoutTable *t, const Layout *l, const Type *block, unsigned axis, uint16_t *reg_map);
/// For a value of type `from` (some axes of extent 1) broadcast to `to` with layout `l`: the layout of
/// the source for which the broadcast moves nothing. reg_map as above, from result slots.
const Layout *layout_unbroadcast(LayoutTable *t, const Layout *l, const Type *to, const Type *from);
/// The layout of trans(x, perm) when x has layout l.
const Layout *layout_trans(LayoutTable *t, const Layout *l, const Type *operand, const uint8_t *perm);
/// The operand's layout for which trans gives `l` (inverse of the above).
const Layout *layout_untrans(LayoutTable *t, const Layout *l, const Type *operand, const uint8_t *perm);

/* ---- conversion (convert.c) ---- */
typedef enum { CONVERT_FREE, CONVERT_REGS, CONVERT_SHUFFLE, CONVERT_SHARED } ConvertKind;

/// How to move a value from one layout to another.
typedef struct ConvertPlan {
    ConvertKind kind;
    /* FREE, REGS: new slot r takes old slot reg_from[r] of the same thread */
    uint16_t *reg_from;
    /* SHUFFLE: rounds; in round k each lane reads, for new slot r, old slot and lane as described by
       the linear maps below (both are XOR maps of the destination's bits) */
    uint32_t rounds;
    const Layout *src_of_dst;      ///< maps (dst reg, lane, warp) to (src reg | lane << reg_bits | warp << ...)
    /* SHARED: the element is stored at byte swizzle(element) * size */
    uint32_t swizzle_basis[20];    ///< shared index bit contributions of each element bit (XOR map, bijective)
    uint8_t store_vec, load_vec;   ///< elements a thread writes / reads at once
    uint32_t bytes;                ///< shared memory needed
    uint8_t store_conflicts, load_conflicts;  ///< predicted extra wavefronts per access; 0: none
} ConvertPlan;

/// Plans a conversion of elements of `elem_bytes` (1, 2, 4, 8; int1 is 1). Same answer for the same input.
const ConvertPlan *layout_plan_convert(LayoutTable *t, const Layout *src, const Layout *dst, unsigned elem_bytes);

/* ---- reductions ---- */
/// Stages that reducing along `axis` needs: which register, lane and warp bits must be combined.
typedef struct ReducePlan {
    uint32_t reg_mask;             ///< register bits combined within a thread
    uint8_t lane_bits[LAYOUT_LANE_BITS];
    unsigned lane_count;           ///< butterfly steps: shuffle xor 1 << lane_bits[i]
    uint8_t warp_bits[5];
    unsigned warp_count;           ///< > 0: one value a warp goes through shared memory
    const Layout *result;          ///< the slice
    uint16_t *result_reg;          ///< result slot -> a source slot of the combined registers
} ReducePlan;
const ReducePlan *layout_plan_reduce(LayoutTable *t, const Layout *l, const Type *block, unsigned axis);

/* ---- text and pictures ---- */
/// "reg=[1,2];lane=[4,8,16,32,64];warp=[128,256]" and back (NULL when malformed).
void layout_print(Buf *out, const Layout *l);
const Layout *layout_read(LayoutTable *t, const char *text, size_t len, unsigned elem_bits);
/// An SVG of a 1-D or 2-D block: one cell an element, labelled thread:slot, coloured by warp.
void layout_draw_svg(Buf *out, const Layout *l, const Type *block, const char *title);

#endif
