/// dot_select.c - chooses how each matrix product is computed: by matrix instructions of a
/// warpgroup or of a warp, or by plain multiplication.
///
/// Needs the features of the chips. Plain multiplication takes every type and shape; fp32 factors
/// go to matrix instructions only as tf32 or as sums of shorter floats, the latter to a warp's. A
/// warpgroup's instructions want 64 rows and at least 8 columns for each warpgroup, and no batch.
#include "layout/layout.h"
#include "passes/pass.h"
#include "target/mma.h"

enum { TILE_ROWS = 16, TILE_COLUMNS = 8 };

typedef struct Select {
    const PassCtx *cx;
    const IrFunc *fn;
} Select;

static const char *factor_name(const IrOp *op, unsigned which)
{
    return scalar_info[type_scalar_kind(op->args[which]->type)].ir;
}

static bool select_dot(IrOp *op, void *cx)
{
    const Select *select = cx;
    const PassCtx *pass = select->cx;
    if (op->code != IR_DOT)
        return true;
    const Type *a = op->args[0]->type, *sum = op->args[2]->type;
    const unsigned rank = type_rank(sum);
    const Mma *mma = mma_best(factor_name(op, 0), factor_name(op, 1), pass->features);
    const bool fits = mma && sum->shape[rank - 2] >= TILE_ROWS &&
                      sum->shape[rank - 1] >= TILE_COLUMNS && a->shape[rank - 1] >= mma->inner;
    const bool is_f32 = type_scalar_kind(a) == SCALAR_F32;
    const IrPrecision precision = op->attr.dot.precision;
    const bool plain = pass->dots == DOT_FMA || !fits || (is_f32 && precision == PRECISION_IEEE);
    const bool splits = is_f32 && precision != PRECISION_TF32;
    op->attr.dot.mma = plain ? 0 : mma->inner;
    op->attr.dot.wgmma = !plain && !splits && type_scalar_kind(a) != SCALAR_F64 &&
                         pass->dots != DOT_MMA && (pass->features & TARGET_WGMMA) != 0 &&
                         layout_dot_fits_wgmma(sum, select->fn->num_warps);
    return true;
}

bool pass_dot_select(PassCtx *cx, IrFunc *fn)
{
    Select select = { cx, fn };
    return ir_walk(fn, select_dot, &select);
}
