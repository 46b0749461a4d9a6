/// linear.c - layouts as linear maps: interning, application, rank and replication.
///
/// Everything is Gaussian elimination on at most 30 vectors of at most 20 bits. The other files of
/// this folder build on the Gf2Span of layout_impl.h. Read build.c next.
#include "layout/layout.h"
#include "layout/layout_impl.h"
#include <assert.h>
#include <string.h>

struct LayoutTable {
    Arena *arena;
    const Layout **slots;
    uint32_t count, cap;
};

enum { TABLE_FIRST_CAP = 64 };

LayoutTable *layout_table_new(Arena *a)
{
    LayoutTable *t = ARENA_NEW(a, LayoutTable);
    t->arena = a;
    t->cap = TABLE_FIRST_CAP;
    t->slots = ARENA_NEW_N(a, const Layout *, t->cap);
    return t;
}

Arena *layout_arena(LayoutTable *t)
{
    return t->arena;
}

static bool same_layout(const Layout *a, const Layout *b)
{
    return a->reg_bits == b->reg_bits && a->warp_bits == b->warp_bits &&
           a->elem_bits == b->elem_bits &&
           memcmp(a->basis, b->basis, layout_in_bits(a) * sizeof a->basis[0]) == 0;
}

/// The slot that holds a layout equal to *l, or the free one where it belongs.
static const Layout **find_slot(const LayoutTable *t, const Layout *l)
{
    const uint8_t head[3] = { l->reg_bits, l->warp_bits, l->elem_bits };
    uint64_t hash = hash_bytes(HASH_SEED, head, sizeof head);
    hash = hash_bytes(hash, l->basis, layout_in_bits(l) * sizeof l->basis[0]);
    uint32_t i = (uint32_t)hash & (t->cap - 1);
    while (t->slots[i] != NULL && !same_layout(t->slots[i], l))
        i = (i + 1) & (t->cap - 1);
    return &t->slots[i];
}

static void grow(LayoutTable *t)
{
    const Layout **old = t->slots;
    const uint32_t old_cap = t->cap;
    t->cap *= 2;
    t->slots = ARENA_NEW_N(t->arena, const Layout *, t->cap);
    for (uint32_t i = 0; i < old_cap; i++) {
        if (old[i] != NULL)
            *find_slot(t, old[i]) = old[i];
    }
}

const Layout *layout_intern(LayoutTable *t, const Layout *l)
{
    assert(layout_in_bits(l) <= LAYOUT_MAX_BITS);
    const Layout **slot = find_slot(t, l);
    if (*slot != NULL)
        return *slot;
    if (2 * ++t->count > t->cap) {
        grow(t);
        slot = find_slot(t, l);
    }
    Layout *copy = ARENA_NEW(t->arena, Layout);
    copy->reg_bits = l->reg_bits;
    copy->warp_bits = l->warp_bits;
    copy->elem_bits = l->elem_bits;
    memcpy(copy->basis, l->basis, layout_in_bits(l) * sizeof l->basis[0]);
    *slot = copy;
    return copy;
}

/* ---- vectors ---- */

static unsigned leading_bit(uint32_t v)
{
    unsigned bit = 0;
    while (v >>= 1)
        bit++;
    return bit;
}

bool layout_gf2_add(Gf2Span *s, uint32_t value, uint32_t inputs)
{
    while (value != 0) {
        const unsigned bit = leading_bit(value);
        if (s->value[bit] == 0) {
            s->value[bit] = value;
            s->inputs[bit] = inputs;
            s->rank++;
            return true;
        }
        value ^= s->value[bit];
        inputs ^= s->inputs[bit];
    }
    return false;
}

bool layout_gf2_solve(const Gf2Span *s, uint32_t value, uint32_t *inputs)
{
    *inputs = 0;
    while (value != 0) {
        const unsigned bit = leading_bit(value);
        if (s->value[bit] == 0)
            return false;
        value ^= s->value[bit];
        *inputs ^= s->inputs[bit];
    }
    return true;
}

uint32_t layout_gf2_apply(const uint32_t *basis, uint32_t bits)
{
    uint32_t sum = 0;
    for (unsigned k = 0; bits != 0; k++, bits >>= 1) {
        if (bits & 1)
            sum ^= basis[k];
    }
    return sum;
}

unsigned layout_log2(uint32_t v)
{
    assert(v != 0 && (v & (v - 1)) == 0);
    return leading_bit(v);
}

uint32_t layout_gather_bits(uint32_t v, uint32_t mask)
{
    uint32_t out = 0;
    for (unsigned to = 0; mask != 0; mask &= mask - 1, to++) {
        if (v & mask & -mask)
            out |= UINT32_C(1) << to;
    }
    return out;
}

unsigned layout_axis_bits(const Type *block, unsigned axis, unsigned *low)
{
    *low = 0;
    for (unsigned k = type_rank(block); k-- > axis + 1;)
        *low += layout_log2((uint32_t)block->shape[k]);
    return layout_log2((uint32_t)block->shape[axis]);
}

/* ---- questions ---- */

uint32_t layout_reg_part(const Layout *l, uint32_t reg)
{
    return layout_gf2_apply(l->basis, reg);
}

uint32_t layout_thread_part(const Layout *l, uint32_t thread)
{
    return layout_gf2_apply(l->basis + l->reg_bits, thread);
}

uint32_t layout_element(const Layout *l, uint32_t reg, uint32_t thread)
{
    return layout_reg_part(l, reg) ^ layout_thread_part(l, thread);
}

unsigned layout_rank(const Layout *l)
{
    Gf2Span span = { 0 };
    for (unsigned k = 0; k < layout_in_bits(l); k++)
        layout_gf2_add(&span, l->basis[k], 0);
    return span.rank;
}

uint32_t layout_replicated_threads(const Layout *l)
{
    Gf2Span span = { 0 };
    uint32_t mask = 0;
    for (unsigned k = 0; k < layout_in_bits(l); k++) {
        if (!layout_gf2_add(&span, l->basis[k], 0) && k >= l->reg_bits)
            mask |= UINT32_C(1) << (k - l->reg_bits);
    }
    return mask;
}

bool layout_has_replicated_regs(const Layout *l)
{
    Gf2Span span = { 0 };
    for (unsigned k = 0; k < l->reg_bits; k++) {
        if (!layout_gf2_add(&span, l->basis[k], 0))
            return true;
    }
    return false;
}

bool layout_is_surjective(const Layout *l)
{
    return layout_rank(l) == l->elem_bits;
}

bool layout_owner_of(const Layout *l, uint32_t element, uint32_t *reg, uint32_t *thread)
{
    Gf2Span span = { 0 };
    uint32_t input;
    for (unsigned k = 0; k < layout_in_bits(l); k++)
        layout_gf2_add(&span, l->basis[k], UINT32_C(1) << k);
    if (!layout_gf2_solve(&span, element, &input))
        return false;
    *reg = input & (layout_regs(l) - 1);
    *thread = input >> l->reg_bits;
    return true;
}

bool layout_same_owners(const Layout *a, const Layout *b)
{
    if (a->elem_bits != b->elem_bits || a->warp_bits != b->warp_bits)
        return false;
    // Owners are the threads outside the replication masks; the element's thread is linear in it,
    // so comparing unit elements compares all.
    for (unsigned bit = 0; bit < a->elem_bits; bit++) {
        uint32_t reg, thread_a, thread_b;
        if (!layout_owner_of(a, UINT32_C(1) << bit, &reg, &thread_a) ||
            !layout_owner_of(b, UINT32_C(1) << bit, &reg, &thread_b) || thread_a != thread_b)
            return false;
    }
    return true;
}
