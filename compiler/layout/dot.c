/// dot.c - matrix products: layouts of the sum, and where factors lie in shared memory.
///
/// By plain multiplication a thread sums a small rectangle: neighbouring columns in neighbouring
/// slots, the rest of its rows and columns spread over the block. By matrix instructions a warp
/// sums tiles of 16 rows and 8 columns as PTX lays out m16n8 accumulators. Factors lie in shared
/// memory by rows of their faster axis, whose 16-byte pieces are XORed with the row's number so
/// that eight rows at one column meet eight different banks. Warpgroups sum blocks of 64 rows and
/// up to 256 columns, from factors placed as tiles (tile.c).
#include "layout/layout.h"
#include "layout/layout_impl.h"

enum {
    PIECE_BYTES = 16,
    LINE_BYTES = 128,   // all banks once
    TILE_ROW_BITS = 4,  // of m16n8
    TILE_COLUMN_BITS = 3,
    GROUP_WARP_BITS = 2,  // of a warpgroup
    BLOCK_ROW_BITS = 6,   // of a wgmma
    MOST_COLUMN_BITS = 8,
    MOST_SLOT_BITS = 8,
    TILE_ALIGNMENT = 1024
};

/// The element bits of a sum: columns, then rows, then the batch.
typedef struct SumBits {
    unsigned column, row, batch;  // how many
} SumBits;

static unsigned axis_bits(const Type *block, unsigned from_end)
{
    return block->rank > from_end ? layout_log2((uint32_t)block->shape[block->rank - 1 - from_end])
                                  : 0;
}

static SumBits sum_bits(const Type *sum)
{
    return (SumBits){ axis_bits(sum, 0), axis_bits(sum, 1), axis_bits(sum, 2) };
}

/// Deals the bits of an axis out, the lowest first.
typedef struct Axis {
    unsigned next, left;
} Axis;

static bool take(Axis *a, uint32_t *basis)
{
    *basis = a->left > 0 ? UINT32_C(1) << a->next : 0;
    if (a->left == 0)
        return false;
    a->next++;
    a->left--;
    return true;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

const Layout *layout_dot_fma(LayoutTable *t, const Type *sum, unsigned warp_bits)
{
    const SumBits bits = sum_bits(sum);
    const unsigned all = bits.column + bits.row + bits.batch;
    const unsigned thread_bits = LAYOUT_LANE_BITS + warp_bits;
    Layout l = { .warp_bits = (uint8_t)warp_bits, .elem_bits = (uint8_t)all };
    l.reg_bits = (uint8_t)(all > thread_bits ? all - thread_bits : 0);

    // Slots: half of the bits columns and half rows, as far as there are any.
    const unsigned columns = least(bits.column, (l.reg_bits + 1u) / 2);
    const unsigned rows = least(bits.row, l.reg_bits - columns);
    const unsigned more = least(bits.column, l.reg_bits - rows);
    Axis column = { 0, bits.column }, row = { bits.column, bits.row },
         batch = { bits.column + bits.row, bits.batch };
    unsigned at = 0;
    while (at < more && at < 2)
        take(&column, &l.basis[at++]);

    // Lanes: up to eight groups of columns, then rows; what is left goes to the slots.
    unsigned free_columns = bits.column - more, free_rows = bits.row - rows;
    uint32_t *threads = l.basis + l.reg_bits;
    for (unsigned k = 0; k < thread_bits; k++) {
        const bool wants_column = free_columns > 0 && (k < 3 || free_rows == 0);
        free_columns -= wants_column;
        if (wants_column)
            take(&column, &threads[k]);
        else if (free_rows > 0)
            take(&row, &threads[k]);
        else
            take(&batch, &threads[k]);
        free_rows -= !wants_column && free_rows > 0;
    }
    while (at < l.reg_bits &&
           (take(&column, &l.basis[at]) || take(&row, &l.basis[at]) || take(&batch, &l.basis[at])))
        at++;
    return layout_intern(t, &l);
}

/// Exchanges bits 2 and 4 of an axis of `bits` bits from `low` on.
static void set_apart(Layout *l, unsigned low, unsigned bits)
{
    const uint32_t near = UINT32_C(1) << (low + 2), far = UINT32_C(1) << (low + 4);
    for (unsigned k = 0; k < layout_in_bits(l) && bits > 4; k++)
        l->basis[k] = l->basis[k] == near ? far : l->basis[k] == far ? near : l->basis[k];
}

const Layout *layout_dot_mma(LayoutTable *t, const Type *sum, unsigned warp_bits, unsigned apart)
{
    const SumBits bits = sum_bits(sum);
    if (bits.row < TILE_ROW_BITS || bits.column < TILE_COLUMN_BITS)
        return NULL;
    Layout l = { .warp_bits = (uint8_t)warp_bits };
    l.elem_bits = (uint8_t)(bits.column + bits.row + bits.batch);

    // Warps: first over the batch, then along the axis that has more tiles left for each.
    unsigned batch = least(bits.batch, warp_bits), rows = bits.row - TILE_ROW_BITS,
             columns = bits.column - TILE_COLUMN_BITS, used = batch;
    for (; used < warp_bits && rows + columns > 0; used++) {
        if (rows + TILE_ROW_BITS >= columns + TILE_COLUMN_BITS ? rows > 0 : columns == 0)
            rows--;
        else
            columns--;
    }
    l.reg_bits = (uint8_t)(2 + rows + columns + bits.batch - batch);

    Axis column = { 0, bits.column }, row = { bits.column, bits.row },
         group = { bits.column + bits.row, bits.batch };
    uint32_t *lanes = l.basis + l.reg_bits, *warps = lanes + LAYOUT_LANE_BITS;
    take(&column, &l.basis[0]);
    take(&column, &lanes[0]);
    take(&column, &lanes[1]);
    for (unsigned k = 2; k < LAYOUT_LANE_BITS; k++)
        take(&row, &lanes[k]);
    take(&row, &l.basis[1]);
    unsigned at = 2;
    for (unsigned k = 0; k < columns; k++)
        take(&column, &l.basis[at++]);
    for (unsigned k = 0; k < rows; k++)
        take(&row, &l.basis[at++]);
    for (unsigned k = 0; k < warp_bits; k++) {
        if (!take(&column, &warps[k]) && !take(&row, &warps[k]))
            take(&group, &warps[k]);
    }
    while (at < l.reg_bits)
        take(&group, &l.basis[at++]);
    if (apart & DOT_COLUMNS_APART)
        set_apart(&l, 0, bits.column);
    if (apart & DOT_ROWS_APART)
        set_apart(&l, bits.column, bits.row);
    return layout_intern(t, &l);
}

unsigned layout_dot_apart(const IrFunc *fn, const IrOp *dot)
{
    unsigned apart = 0;
    for (unsigned i = 0; i < 2; i++) {
        const unsigned rank = type_rank(dot->args[i]->type);
        TilePlace place;
        if (type_elem_bytes(dot->args[i]->type) == 4 &&
            layout_tile_place(fn, dot->args[i], &place) &&
            place.fast == (i == 0 ? rank - 2 : rank - 1))
            apart |= i == 0 ? DOT_ROWS_APART : DOT_COLUMNS_APART;
    }
    return apart;
}

/* ---- warpgroups ---- */

/// How many warpgroup bits divide rows and columns; false when that is not possible.
static bool split_groups(SumBits bits, unsigned warp_bits, unsigned *rows, unsigned *columns)
{
    if (warp_bits < GROUP_WARP_BITS || bits.row < BLOCK_ROW_BITS || bits.batch > 0)
        return false;
    *rows = least(warp_bits - GROUP_WARP_BITS, bits.row - BLOCK_ROW_BITS);
    *columns = warp_bits - GROUP_WARP_BITS - *rows;
    return bits.column >= TILE_COLUMN_BITS + *columns &&
           bits.row + bits.column - LAYOUT_LANE_BITS - warp_bits <= MOST_SLOT_BITS;
}

/// Of the transposed sum.
static SumBits swapped_bits(const Type *sum)
{
    const SumBits bits = sum_bits(sum);
    return (SumBits){ bits.row, bits.column, bits.batch };
}

static unsigned instruction_columns(SumBits bits, unsigned num_warps)
{
    unsigned rows, columns;
    if (!split_groups(bits, layout_log2(num_warps), &rows, &columns))
        return 0;
    return 1u << least(bits.column - columns, MOST_COLUMN_BITS);
}

bool layout_dot_fits_wgmma(const Type *sum, unsigned num_warps)
{
    return instruction_columns(sum_bits(sum), num_warps) != 0;
}

unsigned layout_dot_wgmma_columns(const Type *sum, unsigned num_warps, bool swapped)
{
    return instruction_columns(swapped ? swapped_bits(sum) : sum_bits(sum), num_warps);
}

bool layout_dot_swaps(const IrFunc *fn, const IrOp *dot)
{
    TilePlace place;
    const IrValue *right = dot->args[1];
    return dot->attr.dot.wgmma && type_elem_bytes(right->type) == 4 &&
           layout_tile_place(fn, right, &place) && place.fast == type_rank(right->type) - 1;
}

const Layout *layout_dot_wgmma_swapped(LayoutTable *t, const Type *sum, unsigned warp_bits)
{
    const SumBits bits = sum_bits(sum);
    unsigned group_rows, group_columns, at = 0;
    if (!split_groups(swapped_bits(sum), warp_bits, &group_rows, &group_columns))
        return NULL;
    Layout l = { .warp_bits = (uint8_t)warp_bits };
    l.elem_bits = (uint8_t)(bits.column + bits.row);
    l.reg_bits = (uint8_t)(l.elem_bits - LAYOUT_LANE_BITS - warp_bits);

    // The instruction's rows are columns here; it does not matter which. These let two neighbours of
    // eight lanes lie in eight parts of a row of 128 bytes.
    Axis row = { bits.column, bits.row }, column = { BLOCK_ROW_BITS, bits.column - BLOCK_ROW_BITS };
    uint32_t *lanes = l.basis + l.reg_bits, *warps = lanes + LAYOUT_LANE_BITS;
    take(&row, &l.basis[at++]);
    take(&row, &lanes[0]);
    take(&row, &lanes[1]);
    lanes[2] = 1 << 4;
    lanes[3] = 1 << 1;
    lanes[4] = 1 << 2;
    l.basis[at++] = 1 << 0;
    warps[0] = 1 << 3;
    warps[1] = 1 << 5;
    while (row.left > group_columns)
        take(&row, &l.basis[at++]);
    for (unsigned k = GROUP_WARP_BITS; k < warp_bits; k++)
        take(k < GROUP_WARP_BITS + group_rows ? &column : &row, &warps[k]);
    while (at < l.reg_bits)
        take(&column, &l.basis[at++]);
    return layout_intern(t, &l);
}

const Layout *layout_dot_wgmma(LayoutTable *t, const Type *sum, unsigned warp_bits)
{
    const SumBits bits = sum_bits(sum);
    unsigned group_rows, group_columns, at = 0;
    if (!split_groups(bits, warp_bits, &group_rows, &group_columns))
        return NULL;
    Layout l = { .warp_bits = (uint8_t)warp_bits };
    l.elem_bits = (uint8_t)(bits.column + bits.row);
    l.reg_bits = (uint8_t)(l.elem_bits - LAYOUT_LANE_BITS - warp_bits);

    Axis column = { 0, bits.column }, row = { bits.column, bits.row };
    uint32_t *lanes = l.basis + l.reg_bits, *warps = lanes + LAYOUT_LANE_BITS;
    take(&column, &l.basis[at++]);
    take(&column, &lanes[0]);
    take(&column, &lanes[1]);
    for (unsigned k = 2; k < LAYOUT_LANE_BITS; k++)
        take(&row, &lanes[k]);
    take(&row, &l.basis[at++]);
    for (unsigned k = 0; k < GROUP_WARP_BITS; k++)
        take(&row, &warps[k]);
    while (column.left > group_columns)
        take(&column, &l.basis[at++]);
    for (unsigned k = GROUP_WARP_BITS; k < warp_bits; k++)
        take(k < GROUP_WARP_BITS + group_rows ? &row : &column, &warps[k]);
    while (at < l.reg_bits)
        take(&row, &l.basis[at++]);
    return layout_intern(t, &l);
}

/* ---- factors ---- */

/// How many of the axis's lowest bits the slots of `l` hold.
static unsigned held_in_slots(const Layout *l, unsigned low, unsigned bits)
{
    unsigned run = 0;
    for (unsigned k = 0; run < bits && k < l->reg_bits;) {
        const bool found = l->basis[k] == UINT32_C(1) << (low + run);
        run += found;
        k = found ? 0 : k + 1;
    }
    return run;
}

static void place(DotFactor *f, unsigned bytes)
{
    const unsigned fast_low = f->inner_fast ? f->inner_low : f->outer_low;
    const unsigned fast = f->inner_fast ? f->inner_bits : f->outer_bits;
    const unsigned slow_low = f->inner_fast ? f->outer_low : f->inner_low;
    const unsigned slow = f->inner_fast ? f->outer_bits : f->inner_bits;
    const unsigned piece = layout_log2(PIECE_BYTES / bytes);
    const unsigned pieces = fast > piece ? fast - piece : 0;  // bits of a row's pieces
    const unsigned line = layout_log2(LINE_BYTES / bytes);
    const unsigned first = line > fast ? line - fast : 0;  // rows in one line are no conflict
    // Words read one by one along the slow axis take two pieces of each of four rows.
    const unsigned skip = bytes == 4 && !f->inner_fast && pieces > 1 ? 1 : 0;

    for (unsigned i = 0; i < fast; i++)
        f->index[fast_low + i] = UINT32_C(1) << i;
    for (unsigned i = 0; i < slow; i++) {
        f->index[slow_low + i] = UINT32_C(1) << (fast + i);
        if (i >= first && i - first < least(3, pieces) - (pieces > 0 ? skip : 0))
            f->index[slow_low + i] |= UINT32_C(1) << (piece + skip + i - first);
    }
    for (unsigned i = 0; i < f->batch_bits; i++)
        f->index[f->batch_low + i] = UINT32_C(1) << (fast + slow + i);
}

/// Which slots go together: first those of the faster axis's lowest bits.
static void plan_store(DotFactor *f, const Layout *l, unsigned bytes)
{
    const unsigned low = f->inner_fast ? f->inner_low : f->outer_low;
    const unsigned bits = f->inner_fast ? f->inner_bits : f->outer_bits;
    const unsigned run = least(held_in_slots(l, low, bits), layout_log2(PIECE_BYTES / bytes));
    unsigned others = run;
    for (unsigned k = 0; k < l->reg_bits; k++) {
        unsigned position = run;
        for (unsigned i = 0; i < run; i++)
            position = l->basis[k] == UINT32_C(1) << (low + i) ? i : position;
        f->slot_bits[position < run ? position : others++] = (uint8_t)k;
    }
    f->vec = (uint8_t)(1u << run);
    f->idle = layout_replicated_threads(l);
}

bool layout_dot_takes_tile(const IrOp *dot, unsigned which, bool inner_fast, unsigned num_warps)
{
    const Type *factor = dot->args[which]->type, *sum = dot->results[0]->type;
    const unsigned bytes = type_elem_bytes(factor);
    if (inner_fast || dot->attr.dot.mma == 0)
        return true;
    if (!dot->attr.dot.wgmma)
        return bytes > 1;  // fragments are words along the inner axis
    // The left factor of the transposed product goes through registers.
    if (bytes == 4 && which == 1)
        return layout_dot_wgmma_columns(sum, num_warps, true) != 0;
    // A descriptor begins with a whole row of a chunk: with all columns, or 128 bytes of them.
    const unsigned columns = layout_dot_wgmma_columns(sum, num_warps, false);
    return bytes == 2 && (which == 0 || (int32_t)columns == sum->shape[sum->rank - 1] ||
                          columns * bytes >= LINE_BYTES);
}

/// A factor in registers that goes to scratch for wgmma.
static void place_as_tile(const IrOp *dot, unsigned which, unsigned num_warps, DotFactor *f)
{
    const Type *type = dot->args[which]->type;
    const unsigned bytes = type_elem_bytes(type), rank = type_rank(type);
    f->inner_fast =
        f->inner_fast || bytes != 2 || !layout_dot_takes_tile(dot, which, false, num_warps);
    const unsigned fast = f->inner_fast == (which == 0) ? rank - 1 : rank - 2;
    for (unsigned bit = 0; UINT32_C(1) << bit < type->numel; bit++)
        f->index[bit] = layout_tile_index(type, fast, UINT32_C(1) << bit) / bytes;
    f->bytes = layout_tile_bytes(type, fast);
    f->row_bytes = (uint8_t)layout_tile_row_bytes(type, fast);
}

static void plan_tile(const TilePlace *place, unsigned rank, unsigned which, unsigned bytes,
                      DotFactor *f)
{
    f->in_tile = true;
    f->is_tf32 = place->ring->tf32;
    f->row_bytes = (uint8_t)layout_tile_row_bytes(place->ring->block, place->ring->fast);
    f->inner_fast = place->fast == (which == 0 ? rank - 1 : rank - 2);
    for (unsigned k = 0; k < sizeof f->index / sizeof *f->index; k++)
        f->index[k] = place->index[k] / bytes;
}

/// Two neighbouring sums of a warpgroup make a register of a 16-bit left factor, as long as each
/// warpgroup has all columns of its rows: what is computed of a sum multiplies where it is.
static bool stays_in_registers(LayoutTable *t, const IrOp *dot, unsigned which)
{
    const IrValue *v = dot->args[which], *sum = dot->results[0];
    unsigned rows, columns;
    if (which != 0 || !dot->attr.dot.wgmma || type_elem_bytes(v->type) != 2)
        return false;
    const unsigned warp_bits = sum->layout->warp_bits;
    return split_groups(sum_bits(sum->type), warp_bits, &rows, &columns) && columns == 0 &&
           layout_dot_wgmma(t, v->type, warp_bits) == v->layout;
}

static void plan_factor(LayoutTable *t, const IrFunc *fn, const IrOp *dot, unsigned which, DotFactor *f)
{
    const IrValue *v = dot->args[which];
    const unsigned bytes = type_elem_bytes(v->type);
    const unsigned last = axis_bits(v->type, 0), before = axis_bits(v->type, 1);
    f->inner_bits = (uint8_t)(which == 0 ? last : before);
    f->inner_low = (uint8_t)(which == 0 ? 0 : last);
    f->outer_bits = (uint8_t)(which == 0 ? before : last);
    f->outer_low = (uint8_t)(which == 0 ? last : 0);
    f->batch_low = (uint8_t)(last + before);
    f->batch_bits = (uint8_t)axis_bits(v->type, 2);
    TilePlace tile;
    if (layout_tile_place(fn, v, &tile)) {
        plan_tile(&tile, type_rank(v->type), which, bytes, f);
        return;
    }
    f->in_registers = stays_in_registers(t, dot, which);
    if (f->in_registers)
        return;
    const unsigned inner = held_in_slots(v->layout, f->inner_low, f->inner_bits);
    const unsigned outer = held_in_slots(v->layout, f->outer_low, f->outer_bits);
    f->inner_fast =
        inner > outer || (inner == outer && which == 0) ||
        (dot->attr.dot.mma > 0 && bytes == 1);  // fragments are words along the inner axis
    f->bytes = v->type->numel * bytes;
    if (dot->attr.dot.wgmma)
        place_as_tile(dot, which, 1u << dot->results[0]->layout->warp_bits, f);
    else
        place(f, bytes);
    plan_store(f, v->layout, bytes);
}

const DotPlan *layout_plan_dot(LayoutTable *t, const IrFunc *fn, const IrOp *dot)
{
    DotPlan *plan = ARENA_NEW(layout_arena(t), DotPlan);
    plan_factor(t, fn, dot, 0, &plan->factor[0]);
    plan_factor(t, fn, dot, 1, &plan->factor[1]);
    plan->alignment = dot->attr.dot.wgmma ? TILE_ALIGNMENT : PIECE_BYTES;
    plan->factor[1].at =
        (plan->factor[0].bytes + plan->alignment - 1) / plan->alignment * plan->alignment;
    plan->bytes = plan->factor[1].at + plan->factor[1].bytes;
    return plan;
}

uint32_t layout_dot_element(const DotPlan *plan, unsigned which, uint32_t sum_element)
{
    const DotFactor *a = &plan->factor[0], *b = &plan->factor[1], *f = &plan->factor[which];
    const uint32_t column = sum_element & ((UINT32_C(1) << b->outer_bits) - 1);
    const uint32_t row = sum_element >> b->outer_bits & ((UINT32_C(1) << a->outer_bits) - 1);
    const uint32_t batch = sum_element >> (a->outer_bits + b->outer_bits);
    return (which == 0 ? row : column) << f->outer_low | batch << f->batch_low;
}

uint32_t layout_dot_index(const DotFactor *f, uint32_t element)
{
    return layout_gf2_apply(f->index, element);
}
