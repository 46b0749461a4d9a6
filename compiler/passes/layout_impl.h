/// layout_impl.h - what the three files of the layout_assign pass share.
///
/// layout_anchor.c says which layout an access would like, layout_infer.c decides a layout for each
/// block value that is computed once, layout_assign.c rewrites the function accordingly.
#ifndef NEWT_PASSES_LAYOUT_IMPL_H
#define NEWT_PASSES_LAYOUT_IMPL_H
#include "layout/layout.h"
#include "passes/axis_info.h"
#include "passes/pass.h"

/// All accesses of one shape and axis order deal elements out in groups of one size, so that values
/// that meet in elementwise work have one layout whatever their element types are.
typedef struct AccessGroup {
    const Type *block;  ///< a representative of the shape
    uint8_t order[TYPE_MAX_RANK];
    unsigned max_bytes;  ///< the widest element that any of them moves
    int64_t contiguity;  ///< the best that any of them has; 1: none known
} AccessGroup;

typedef struct Assign {
    IrFunc *fn;
    LayoutTable *layouts;
    Arena *scratch;
    const AxisInfo *axes;
    unsigned warp_bits;
    uint32_t value_count;  ///< of the function as it came
    const Layout **fixed;  ///< by value id: decided layout of a value computed once; NULL: not yet
    bool *flexible;        ///< by value id: recomputed in every layout that is asked for
    bool *only_broadcast;  ///< by value id: all uses end in broadcasts to bigger blocks
    uint8_t *turned;  ///< by value id: 1 + the axis along which a load's bytes go to a tile, if
                      ///< another than memory's; 0: they do not
    VEC(AccessGroup) groups;
} Assign;

/// Collects the groups of all block accesses.
void layout_anchor_collect(Assign *as);
/// The layout in which this LOAD, STORE or atomic touches memory best.
const Layout *layout_anchor(Assign *as, const IrOp *op);
/// A layout for a block that no access speaks for.
const Layout *layout_default(Assign *as, const Type *block);
/// A layout that serves as the anchor does and into which `own` converts within warps, or which touches
/// whole sectors and into which it converts within threads; NULL: there is none.
const Layout *layout_near(const Assign *as, const IrOp *op, const Layout *own, const Layout *anchor);
/// A layout to read a tile into for which no user speaks.
const Layout *layout_of_tile(Assign *as, const IrValue *tile);
/// True when accessing through op's pointers in layout `l` is as wide and as coalesced as in
/// `anchor`.
bool layout_serves(const Assign *as, const IrOp *op, const Layout *l, const Layout *anchor);

/// Fills `fixed` and `flexible` for every block value.
void layout_infer(Assign *as);
/// The layout in which `op` (LOAD, STORE, atomic) works, from what is decided so far.
const Layout *layout_of_access(Assign *as, const IrOp *op);
/// The layout that operand i of an elementwise, shape or DOT operation needs for a result in layout
/// `l`.
const Layout *layout_of_operand(Assign *as, const IrOp *op, uint32_t i, const Layout *l);
/// The layout in which a REDUCE takes its operand.
const Layout *layout_of_reduced(Assign *as, const IrOp *op);
/// True for v an operand that stands for itself in every layout (absent, a scalar, or a tile in
/// shared memory).
static inline bool layout_is_scalar(const IrValue *v)
{
    return v == NULL || !type_is_block(v->type) || ir_tile_of(v) != NULL;
}

#endif
