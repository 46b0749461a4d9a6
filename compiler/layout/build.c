/// build.c - constructors: group-cyclic layouts and those derived from another by a shape
/// operation.
///
/// All of them move bits: group-cyclic deals the element number's bits out to register, thread and
/// register bits again; a slice removes the bits of an axis, a transpose reorders them.
#include "layout/layout.h"
#include "layout/layout_impl.h"
#include <assert.h>

/// place[i] = the row-major bit that is bit i when elements are numbered along `order`.
static unsigned bits_along(const Type *block, const uint8_t *order, uint8_t *place)
{
    unsigned count = 0;
    for (unsigned k = 0; k < type_rank(block); k++) {
        unsigned low;
        const unsigned axis = order != NULL ? order[k] : type_rank(block) - 1 - k;
        const unsigned bits = layout_axis_bits(block, axis, &low);
        for (unsigned i = 0; i < bits; i++)
            place[count++] = (uint8_t)(low + i);
    }
    return count;
}

const Layout *layout_group_cyclic(LayoutTable *t, const Type *block, const uint8_t *order,
                                  unsigned vec, unsigned warp_bits)
{
    uint8_t place[LAYOUT_MAX_BITS];
    const unsigned bits = bits_along(block, order, place);
    const unsigned want = layout_log2(vec);
    const unsigned vec_bits = want < bits ? want : bits;
    const unsigned thread_bits = LAYOUT_LANE_BITS + warp_bits;
    const unsigned used = bits - vec_bits < thread_bits ? bits - vec_bits : thread_bits;

    Layout l = { .warp_bits = (uint8_t)warp_bits, .elem_bits = (uint8_t)bits };
    l.reg_bits = (uint8_t)(bits - used);
    for (unsigned i = 0; i < vec_bits; i++)
        l.basis[i] = UINT32_C(1) << place[i];
    for (unsigned i = 0; i < used; i++)
        l.basis[l.reg_bits + i] = UINT32_C(1) << place[vec_bits + i];
    for (unsigned i = vec_bits; i < l.reg_bits; i++)
        l.basis[i] = UINT32_C(1) << place[used + i];
    return layout_intern(t, &l);
}

/// The bits of an axis that are still to be dealt out.
typedef struct AxisBits {
    unsigned next, end;
} AxisBits;

static AxisBits bits_of(const Type *block, unsigned axis)
{
    unsigned low;
    const unsigned count = layout_axis_bits(block, axis, &low);
    return (AxisBits){ low, low + count };
}

/// Deals the next `count` bits of an axis, as far as there are any.
static void deal(AxisBits *a, unsigned count, uint32_t *dealt, unsigned *at)
{
    for (; count > 0 && a->next < a->end; count--)
        dealt[(*at)++] = UINT32_C(1) << a->next++;
}

const Layout *layout_turned(LayoutTable *t, const Type *block, unsigned from, unsigned to,
                            unsigned warp_bits)
{
    enum { RUN_BITS = 3, WORD_BITS = 2 };
    uint32_t dealt[LAYOUT_MAX_BITS];
    unsigned count = 0;
    AxisBits run = bits_of(block, from), word = bits_of(block, to);
    deal(&run, RUN_BITS, dealt, &count);
    deal(&word, WORD_BITS, dealt, &count);
    const unsigned held = count;
    deal(&word, 2, dealt, &count);
    deal(&run, 2, dealt, &count);
    deal(&word, 1, dealt, &count);
    deal(&run, LAYOUT_MAX_BITS, dealt, &count);
    deal(&word, LAYOUT_MAX_BITS, dealt, &count);
    for (unsigned axis = 0; axis < type_rank(block); axis++) {
        AxisBits other = bits_of(block, axis);
        if (axis != from && axis != to)
            deal(&other, LAYOUT_MAX_BITS, dealt, &count);
    }
    const unsigned thread_bits = LAYOUT_LANE_BITS + warp_bits;
    const unsigned used = count - held < thread_bits ? count - held : thread_bits;
    Layout l = { .warp_bits = (uint8_t)warp_bits, .elem_bits = (uint8_t)count };
    for (unsigned i = 0; i < count; i++)
        if (i < held || i >= held + used)
            l.basis[l.reg_bits++] = dealt[i];
    for (unsigned i = 0; i < used; i++)
        l.basis[l.reg_bits + i] = dealt[held + i];
    return layout_intern(t, &l);
}

/// Keeps the element bits of `mask`; register bits that became dependent vanish. For slot r of `l`
/// to_new (may be NULL) gets the new slot of that element; for new slot s, to_old gets a slot of l.
static const Layout *project(LayoutTable *t, const Layout *l, uint32_t mask, uint16_t *to_new,
                             uint16_t *to_old)
{
    Layout out = { .warp_bits = l->warp_bits };
    for (uint32_t m = mask; m != 0; m &= m - 1)
        out.elem_bits++;

    Gf2Span regs = { 0 };
    uint32_t kept[LAYOUT_MAX_BITS], moved[LAYOUT_MAX_BITS];
    for (unsigned k = 0; k < l->reg_bits; k++) {
        const uint32_t value = layout_gather_bits(l->basis[k], mask);
        if (layout_gf2_add(&regs, value, UINT32_C(1) << out.reg_bits)) {
            kept[out.reg_bits] = UINT32_C(1) << k;
            out.basis[out.reg_bits++] = value;
        }
        layout_gf2_solve(&regs, value, &moved[k]);
    }
    for (unsigned k = 0; k < LAYOUT_LANE_BITS + (unsigned)l->warp_bits; k++)
        out.basis[out.reg_bits + k] = layout_gather_bits(l->basis[l->reg_bits + k], mask);

    for (uint32_t r = 0; to_new != NULL && r < layout_regs(l); r++)
        to_new[r] = (uint16_t)layout_gf2_apply(moved, r);
    for (uint32_t s = 0; to_old != NULL && s < layout_regs(&out); s++)
        to_old[s] = (uint16_t)layout_gf2_apply(kept, s);
    return layout_intern(t, &out);
}

/// A mask of the element bits of `axis`.
static uint32_t axis_mask(const Type *block, unsigned axis)
{
    unsigned low;
    const unsigned bits = layout_axis_bits(block, axis, &low);
    return ((UINT32_C(1) << bits) - 1) << low;
}

const Layout *layout_slice(LayoutTable *t, const Layout *l, const Type *block, unsigned axis,
                           uint16_t *reg_map)
{
    const uint32_t all = (UINT32_C(1) << l->elem_bits) - 1;
    return project(t, l, all & ~axis_mask(block, axis), NULL, reg_map);
}

const Layout *layout_unbroadcast(LayoutTable *t, const Layout *l, const Type *to, const Type *from,
                                 uint16_t *reg_map)
{
    assert(type_rank(to) == type_rank(from));
    uint32_t mask = (UINT32_C(1) << l->elem_bits) - 1;
    for (unsigned axis = 0; axis < type_rank(to); axis++) {
        if (to->shape[axis] != from->shape[axis])
            mask &= ~axis_mask(to, axis);
    }
    return project(t, l, mask, reg_map, NULL);
}

const Layout *layout_in_order(LayoutTable *t, const Layout *l, const Type *block, unsigned axis)
{
    Layout out = *l;
    unsigned low;
    const unsigned bits = layout_axis_bits(block, axis, &low);
    for (unsigned i = 0; i < bits; i++) {
        const uint32_t vector = UINT32_C(1) << (low + i);
        unsigned k = i;
        while (k < l->reg_bits && out.basis[k] != vector)
            k++;
        if (k >= l->reg_bits)
            break;
        for (; k > i; k--)
            out.basis[k] = out.basis[k - 1];
        out.basis[i] = vector;
    }
    return layout_intern(t, &out);
}

/// Renames element bits: bit b becomes bit rename[b].
static const Layout *rename_bits(LayoutTable *t, const Layout *l, const uint8_t *rename)
{
    Layout out = *l;
    for (unsigned k = 0; k < layout_in_bits(l); k++) {
        out.basis[k] = 0;
        for (unsigned b = 0; b < l->elem_bits; b++) {
            if (l->basis[k] >> b & 1)
                out.basis[k] |= UINT32_C(1) << rename[b];
        }
    }
    return layout_intern(t, &out);
}

/// to_result[b] = the bit of trans(operand, perm)'s element number that operand bit b becomes.
static void trans_bits(const Type *operand, const uint8_t *perm, uint8_t *to_result)
{
    unsigned result_low = 0;
    for (unsigned k = type_rank(operand); k-- > 0;) {
        unsigned low;
        const unsigned bits = layout_axis_bits(operand, perm[k], &low);
        for (unsigned i = 0; i < bits; i++)
            to_result[low + i] = (uint8_t)(result_low + i);
        result_low += bits;
    }
}

const Layout *layout_trans(LayoutTable *t, const Layout *l, const Type *operand,
                           const uint8_t *perm)
{
    uint8_t to_result[LAYOUT_MAX_BITS] = { 0 };
    trans_bits(operand, perm, to_result);
    return rename_bits(t, l, to_result);
}

const Layout *layout_untrans(LayoutTable *t, const Layout *l, const Type *operand,
                             const uint8_t *perm)
{
    uint8_t to_result[LAYOUT_MAX_BITS] = { 0 }, to_operand[LAYOUT_MAX_BITS] = { 0 };
    trans_bits(operand, perm, to_result);
    for (unsigned b = 0; b < l->elem_bits; b++)
        to_operand[to_result[b]] = (uint8_t)b;
    return rename_bits(t, l, to_operand);
}
