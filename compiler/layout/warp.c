/// warp.c - an exchange within each warp, through shared memory of its own.
///
/// Where no element leaves its warp, a conversion needs no barrier of the program, and can go piece
/// by piece: register directions that both layouts have need no exchange, so a small scratch serves
/// them one after another. Within a piece elements lie in rows of 128 bytes: what the reading side
/// takes at once, then what its neighbouring lanes take. The 16-byte parts of a row are XORed with
/// directions of the writing side's lanes that no bank tells apart, so that both sides meet each bank
/// once. A sum of matrix instructions, 16-bit, is written by stmatrix.
#include "layout/layout.h"
#include "layout/layout_impl.h"

enum {
    ACCESS_BYTES = 16,
    PART_BITS = 3,        // log2 of the parts of a row
    PIECE_BYTES = 2048,   // worth one synchronisation of the warp
    MOST_BYTES = 8192,    // of a piece
    MOST_CONFLICTS = 1,   // more wavefronts cost as much as a barrier
    PAIR_LANES = 2        // lane bits that hold the rest of a 16-byte row of stmatrix
};

/// True when every direction is one element bit, and none comes twice.
static bool is_plain(const Layout *l)
{
    uint32_t seen = 0;
    for (unsigned k = 0; k < layout_in_bits(l); k++) {
        if (l->basis[k] == 0 || (l->basis[k] & (l->basis[k] - 1)) != 0 || (seen & l->basis[k]) != 0)
            return false;
        seen |= l->basis[k];
    }
    return true;
}

static bool same_warps(const Layout *a, const Layout *b)
{
    for (unsigned k = 0; k < a->warp_bits; k++)
        if (a->basis[a->reg_bits + LAYOUT_LANE_BITS + k] !=
            b->basis[b->reg_bits + LAYOUT_LANE_BITS + k])
            return false;
    return true;
}

/// The register bit of `l` for `vector`; false when it has none.
static bool find_register(const Layout *l, uint32_t vector, unsigned *bit)
{
    for (*bit = 0; *bit < l->reg_bits; (*bit)++)
        if (l->basis[*bit] == vector)
            return true;
    return false;
}

/// Element bits by what they are in the scratch.
typedef struct Rows {
    uint32_t access;  // what the reading side takes at once
    uint32_t parts;   // what its lanes 0 to 2 add
    uint32_t pieces;  // one after another
} Rows;

/// Register directions that both sides have become pieces, the highest first, down to a fair size.
static void choose_pieces(const Layout *src, const Layout *dst, unsigned elem_bytes, Rows *rows,
                          ConvertPlan *plan)
{
    unsigned bit;
    plan->bytes = elem_bytes << (src->reg_bits + LAYOUT_LANE_BITS);
    for (unsigned k = src->reg_bits; k-- > 0 && plan->bytes > PIECE_BYTES;) {
        const uint32_t vector = src->basis[k];
        if ((vector & (rows->access | rows->parts)) != 0 || !find_register(dst, vector, &bit))
            continue;
        rows->pieces |= vector;
        plan->store_piece[plan->piece_bits] = (uint16_t)(1u << k);
        plan->load_piece[plan->piece_bits++] = (uint16_t)(1u << bit);
        plan->bytes /= 2;
    }
}

/// Gives each element bit its place: first the access, then the parts, then rows.
static void place(const Layout *src, const Layout *dst, const Rows *rows, ConvertPlan *plan)
{
    unsigned at = 0, part = 0, taken = 0;
    for (unsigned k = 0; k < plan->access_bits; k++)
        plan->swizzle_basis[layout_log2(dst->basis[k])] = UINT32_C(1) << at++;
    const unsigned first = at;
    for (unsigned k = 0; k < PART_BITS; k++)
        plan->swizzle_basis[layout_log2(dst->basis[dst->reg_bits + k])] = UINT32_C(1) << at++;
    // Rows: the writing lanes first. Parts that tell lanes apart already are not used for others.
    for (unsigned k = 0; k < LAYOUT_LANE_BITS; k++)
        for (unsigned p = 0; p < PART_BITS; p++)
            if (src->basis[src->reg_bits + k] == dst->basis[dst->reg_bits + p])
                taken |= 1u << p;
    for (unsigned turn = 0; turn < 2; turn++)
        for (unsigned k = turn ? 0 : src->reg_bits;
             k < src->reg_bits + (turn ? 0 : (unsigned)LAYOUT_LANE_BITS); k++) {
            if ((src->basis[k] & (rows->access | rows->parts | rows->pieces)) != 0)
                continue;
            uint32_t *index = &plan->swizzle_basis[layout_log2(src->basis[k])];
            *index = UINT32_C(1) << at++;
            while (part < PART_BITS && taken >> part & 1)
                part++;
            if (turn == 0 && part < PART_BITS)
                *index |= UINT32_C(1) << (first + part++);
        }
}

/// The slots of one piece, those that lie beside each other first.
static uint16_t *order_slots(Arena *a, const ConvertPlan *plan, const Layout *l, uint32_t pieces,
                             uint8_t *vec, uint32_t *count)
{
    uint32_t place[LAYOUT_MAX_BITS], used = 0;
    unsigned n = 0, k = 0;
    while (k < l->reg_bits) {
        const bool next = (used >> k & 1) == 0 && (l->basis[k] & pieces) == 0 && n < 4 &&
                          plan->swizzle_basis[layout_log2(l->basis[k])] == UINT32_C(1) << n &&
                          n < plan->access_bits;
        if (next) {
            place[n++] = UINT32_C(1) << k;
            used |= UINT32_C(1) << k;
        }
        k = next ? 0 : k + 1;
    }
    *vec = (uint8_t)(1u << n);
    for (k = 0; k < l->reg_bits; k++)
        if ((used >> k & 1) == 0 && (l->basis[k] & pieces) == 0)
            place[n++] = UINT32_C(1) << k;
    *count = UINT32_C(1) << n;
    uint16_t *slots = ARENA_NEW_N(a, uint16_t, *count);
    for (uint32_t i = 0; i < *count; i++)
        slots[i] = (uint16_t)layout_gf2_apply(place, i);
    return slots;
}

/// Whether rows of stmatrix are what the writing lanes hold: pairs in a slot, four lanes a row.
static bool has_matrices(const ConvertPlan *plan, const Layout *src, unsigned elem_bytes)
{
    if (elem_bytes != 2 || plan->store_vec != 2 || plan->access_bits != PAIR_LANES + 1 ||
        plan->store_count < 4)
        return false;
    for (unsigned k = 0; k < LAYOUT_LANE_BITS; k++) {
        const uint32_t at = plan->swizzle_basis[layout_log2(src->basis[src->reg_bits + k])];
        if (k < PAIR_LANES ? at != UINT32_C(2) << k : (at & 7) != 0)
            return false;
    }
    return true;
}

/// Where the writing side has more conflicts than one, the trip of all threads is planned.
bool layout_plan_warp(LayoutTable *t, const Layout *src, const Layout *dst, unsigned elem_bytes,
                      ConvertPlan *plan)
{
    Arena *a = layout_arena(t);
    Rows rows = { 0 };
    const unsigned most = layout_log2(ACCESS_BYTES / elem_bytes);
    if (!is_plain(src) || !is_plain(dst) || !same_warps(src, dst))
        return false;
    plan->access_bits = (uint8_t)(dst->reg_bits < most ? dst->reg_bits : most);
    for (unsigned k = 0; k < plan->access_bits; k++)
        rows.access |= dst->basis[k];
    for (unsigned k = 0; k < PART_BITS; k++)
        rows.parts |= dst->basis[dst->reg_bits + k];
    choose_pieces(src, dst, elem_bytes, &rows, plan);
    if (plan->bytes > MOST_BYTES)
        return false;
    place(src, dst, &rows, plan);
    plan->kind = CONVERT_WARP;
    plan->store_slots =
        order_slots(a, plan, src, rows.pieces, &plan->store_vec, &plan->store_count);
    plan->load_slots = order_slots(a, plan, dst, rows.pieces, &plan->load_vec, &plan->load_count);
    plan->matrices = has_matrices(plan, src, elem_bytes);
    plan->store_conflicts = layout_conflicts(plan, src, elem_bytes, plan->store_vec, 0);
    plan->load_conflicts = layout_conflicts(plan, dst, elem_bytes, plan->load_vec, 0);
    return plan->store_conflicts + plan->load_conflicts <= MOST_CONFLICTS;
}

/// Deals the bits of an axis that are in `from` to registers and lanes; gives how many.
static unsigned deal(uint32_t *from, const Type *block, unsigned axis, unsigned most, uint32_t *to)
{
    unsigned low, n = 0;
    const unsigned bits = layout_axis_bits(block, axis, &low);
    for (unsigned i = 0; i < bits && n < most; i++) {
        const uint32_t vector = UINT32_C(1) << (low + i);
        if ((*from & vector) == 0)
            continue;
        to[n++] = vector;
        *from &= ~vector;
    }
    return n;
}

const Layout *layout_regroup(LayoutTable *t, const Layout *l, const Type *block,
                             const uint8_t *order, unsigned access_bits, unsigned run_bits)
{
    uint32_t left = 0, *lanes;
    if (!is_plain(l))
        return NULL;
    for (unsigned k = 0; k < l->reg_bits + (unsigned)LAYOUT_LANE_BITS; k++)
        left |= l->basis[k];
    Layout out = *l;
    unsigned at = deal(&left, block, order[0], access_bits, out.basis), lane = 0;
    if (at < access_bits || at > l->reg_bits)
        return NULL;
    lanes = out.basis + l->reg_bits;
    lane = deal(&left, block, order[0], run_bits - access_bits, lanes);
    for (unsigned n = 1; n <= type_rank(block); n++)  // the fastest axis last
        lane += deal(&left, block, order[n % type_rank(block)], LAYOUT_LANE_BITS - lane, lanes + lane);
    for (unsigned n = 1; n <= type_rank(block); n++)
        at += deal(&left, block, order[n % type_rank(block)], l->reg_bits - at, out.basis + at);
    return layout_intern(t, &out);
}
