/// swizzle.c - a conversion's trip through shared memory: where each element lies, how wide both
/// sides go.
///
/// The place is a bijective linear map of the element number, built as a basis of the element space
/// in four parts, from the low index bits up:
///
///     vector   register directions common to both layouts: one access moves them
///     word     directions inside one 4-byte word, when the vector is smaller than that
///     bank     the rest of a 128-byte line
///     line     elements that differ in these directions share a bank
///
/// Lanes that one wavefront serves must not meet in a bank, so the line directions are chosen to
/// have no sum in common with the lane directions of either side. Two subspaces of dimensions p and
/// q have a common complement of dimension n - max(p, q), and a wavefront's lanes never span more
/// than a line: conflict-free always exists. The conflicts reported are simulated all the same.
#include "layout/layout.h"
#include "layout/layout_impl.h"
#include <assert.h>

enum { BANKS = 32, WORD_BYTES = 4, LINE_BYTES = BANKS * WORD_BYTES, MAX_ACCESS_BYTES = 16 };

typedef struct Vectors {
    uint32_t at[2 * LAYOUT_MAX_BITS];
    unsigned count;
} Vectors;

static void push(Vectors *v, uint32_t value)
{
    assert(v->count < sizeof v->at / sizeof v->at[0]);
    v->at[v->count++] = value;
}

/// Appends to `out` those of `from` that are independent of `span`, which grows by them.
static void extend(Gf2Span *span, const Vectors *from, Vectors *out)
{
    for (unsigned i = 0; i < from->count; i++) {
        if (layout_gf2_add(span, from->at[i], 0))
            push(out, from->at[i]);
    }
}

/// How many lanes' bits one wavefront serves when each moves `bytes`.
static unsigned wavefront_lane_bits(unsigned bytes)
{
    return bytes <= 4 ? 5 : bytes == 8 ? 4 : 3;
}

/// Appends the lane directions of one wavefront; replicated lanes (of the storing side) sit out.
static void push_lanes(const Layout *l, unsigned lane_bits, Vectors *out)
{
    Gf2Span span = { 0 };
    Vectors lanes = { .count = 0 };
    for (unsigned k = 0; k < lane_bits; k++)
        push(&lanes, l->basis[l->reg_bits + k]);
    extend(&span, &lanes, out);
}

static bool has_register(const Layout *l, uint32_t vector, unsigned *bit)
{
    for (*bit = 0; *bit < l->reg_bits; (*bit)++) {
        if (l->basis[*bit] == vector)
            return true;
    }
    return false;
}

/// The basis of the element space that the map is made of.
typedef struct Parts {
    Vectors vector;
    Vectors rest;  ///< completes `vector` to a basis of the space; spans all other moves
    uint8_t src_bit[4], dst_bit[4];  ///< register bit of each vector direction, either side
} Parts;

/// Takes up to 16 bytes of register directions that both sides have and that no other direction of
/// either side leaks into (else the order inside a vector would depend on the thread).
static void choose_vector(const Layout *src, const Layout *dst, unsigned elem_bytes, Parts *parts)
{
    bool common[LAYOUT_MAX_BITS] = { false };
    uint32_t taken = 0;
    unsigned bit, count = 0;
    const unsigned limit = layout_log2(MAX_ACCESS_BYTES / elem_bytes);
    for (unsigned k = 0; k < src->reg_bits && count < limit; k++) {
        common[k] =
            src->basis[k] != 0 && has_register(dst, src->basis[k], &bit) && !(taken >> bit & 1);
        if (common[k]) {
            taken |= UINT32_C(1) << bit;
            count++;
        }
    }

    Gf2Span span = { 0 };
    Vectors others = { .count = 0 };
    for (unsigned k = 0; k < layout_in_bits(src); k++) {
        if (k >= src->reg_bits || !common[k])
            push(&others, src->basis[k]);
    }
    extend(&span, &others, &parts->rest);
    others.count = 0;
    for (unsigned k = 0; k < layout_in_bits(dst); k++) {
        if (k >= dst->reg_bits || !(taken >> k & 1))
            push(&others, dst->basis[k]);
    }
    extend(&span, &others, &parts->rest);

    for (unsigned k = 0; k < src->reg_bits; k++) {
        if (!common[k] || !layout_gf2_add(&span, src->basis[k], 0))
            continue;
        has_register(dst, src->basis[k], &bit);
        parts->src_bit[parts->vector.count] = (uint8_t)k;
        parts->dst_bit[parts->vector.count] = (uint8_t)bit;
        push(&parts->vector, src->basis[k]);
    }
    Vectors units = { .count = 0 };
    for (unsigned b = 0; b < src->elem_bits; b++)
        push(&units, UINT32_C(1) << b);
    extend(&span, &units, &parts->rest);
}

/// Line directions: up to `want` vectors independent of each of the lane sets p and q, within
/// `space`.
static void choose_lines(const Vectors *p, const Vectors *q, const Vectors *space, unsigned want,
                         Vectors *lines)
{
    // all: p, then of q what is new (f). A vector of q that is not new gives one of the
    // intersection.
    Gf2Span all = { 0 }, inner = { 0 };
    Vectors e = { .count = 0 }, f = { .count = 0 };
    for (unsigned i = 0; i < p->count; i++)
        layout_gf2_add(&all, p->at[i], UINT32_C(1) << i);
    const uint32_t p_inputs = (UINT32_C(1) << p->count) - 1;
    for (unsigned i = 0; i < q->count; i++) {
        uint32_t inputs;
        if (layout_gf2_solve(&all, q->at[i], &inputs)) {
            layout_gf2_add(&inner, layout_gf2_apply(p->at, inputs & p_inputs), 0);
        } else {
            layout_gf2_add(&all, q->at[i], UINT32_C(1) << (p->count + i));
            push(&f, q->at[i]);
        }
    }
    extend(&inner, p, &e);
    Vectors free_space = { .count = 0 };
    extend(&all, space, &free_space);
    for (unsigned i = 0; i < free_space.count && lines->count < want; i++)
        push(lines, free_space.at[i]);
    for (unsigned i = 0; i < e.count && i < f.count && lines->count < want; i++)
        push(lines, e.at[i] ^ f.at[i]);
}

static void enter(Gf2Span *map, const Vectors *v, unsigned *index_bit)
{
    for (unsigned i = 0; i < v->count; i++) {
        if (layout_gf2_add(map, v->at[i], UINT32_C(1) << *index_bit))
            (*index_bit)++;
    }
}

/// Fills swizzle_basis from the parts.
static void build_map(const Layout *src, const Layout *dst, unsigned elem_bytes, const Parts *parts,
                      uint32_t *swizzle_basis)
{
    const unsigned access_bytes = elem_bytes << parts->vector.count;
    const unsigned lane_bits = wavefront_lane_bits(access_bytes);
    Vectors word = { .count = 0 }, p = { .count = 0 }, q = { .count = 0 }, lines = { .count = 0 };

    push_lanes(src, lane_bits, &p);
    push_lanes(dst, lane_bits, &q);
    if (access_bytes < WORD_BYTES) {
        // Neighbours within a word never conflict: let them be whatever comes first.
        Gf2Span span = { 0 }, p_span = { 0 }, q_span = { 0 };
        const unsigned word_bits = layout_log2(WORD_BYTES / access_bytes);
        Vectors all = { .count = 0 }, p_word = { .count = 0 }, q_word = { .count = 0 };
        extend(&span, &q, &all);
        extend(&span, &parts->rest, &all);
        for (unsigned i = 0; i < all.count && i < word_bits; i++)
            push(&word, all.at[i]);
        extend(&p_span, &word, &p_word);
        extend(&p_span, &p, &p_word);
        extend(&q_span, &word, &q_word);
        extend(&q_span, &q, &q_word);
        p = p_word;
        q = q_word;
    }
    const unsigned line_bits = layout_log2(LINE_BYTES / elem_bytes);
    const unsigned want = src->elem_bits > line_bits ? src->elem_bits - line_bits : 0;
    choose_lines(&p, &q, &parts->rest, want, &lines);

    // Lines are entered into the span early, so that the bank part is what remains beside them.
    Gf2Span map = { 0 };
    unsigned index_bit = 0, top = src->elem_bits - lines.count;
    enter(&map, &parts->vector, &index_bit);
    enter(&map, &word, &index_bit);
    enter(&map, &lines, &top);
    enter(&map, &parts->rest, &index_bit);
    for (unsigned b = 0; b < src->elem_bits; b++) {
        const bool found = layout_gf2_solve(&map, UINT32_C(1) << b, &swizzle_basis[b]);
        assert(found);
        (void)found;
    }
}

uint32_t layout_shared_index(const ConvertPlan *plan, const Layout *l, uint32_t slot,
                             uint32_t thread)
{
    return layout_gf2_apply(plan->swizzle_basis, layout_element(l, slot, thread));
}

/// Slots in the order in which accesses take them: vector directions first; skips directions in
/// which slots repeat elements when `distinct`.
static uint16_t *order_slots(Arena *a, const Layout *l, const uint8_t *vector_bit,
                             unsigned vector_count, bool distinct, uint32_t *count)
{
    uint32_t place[LAYOUT_MAX_BITS], used = 0;
    unsigned n = 0;
    Gf2Span span = { 0 };
    for (unsigned i = 0; i < vector_count; i++) {
        used |= place[n++] = UINT32_C(1) << vector_bit[i];
        layout_gf2_add(&span, l->basis[vector_bit[i]], 0);
    }
    for (unsigned k = 0; k < l->reg_bits; k++) {
        if (!(used >> k & 1) && (layout_gf2_add(&span, l->basis[k], 0) || !distinct))
            place[n++] = UINT32_C(1) << k;
    }
    *count = UINT32_C(1) << n;
    uint16_t *slots = ARENA_NEW_N(a, uint16_t, *count);
    for (uint32_t i = 0; i < *count; i++)
        slots[i] = (uint16_t)layout_gf2_apply(place, i);
    return slots;
}

/// The map is linear, so other groups, warps and wavefronts see the same pattern with the banks
/// permuted.
uint8_t layout_conflicts(const ConvertPlan *plan, const Layout *l, unsigned elem_bytes, unsigned vec,
                         uint32_t idle)
{
    uint32_t words[BANKS][BANKS];
    unsigned depth[BANKS] = { 0 }, most = 1;
    const unsigned bytes = elem_bytes * vec;
    for (uint32_t lane = 0; lane < 1u << wavefront_lane_bits(bytes); lane++) {
        if (lane & idle)
            continue;
        const uint32_t first = layout_shared_index(plan, l, 0, lane) * elem_bytes / WORD_BYTES;
        for (uint32_t w = first; w < first + (bytes + WORD_BYTES - 1) / WORD_BYTES; w++) {
            const uint32_t bank = w % BANKS;
            bool seen = false;
            for (unsigned i = 0; i < depth[bank]; i++)
                seen = seen || words[bank][i] == w;
            if (!seen)
                words[bank][depth[bank]++] = w;
            most = depth[bank] > most ? depth[bank] : most;
        }
    }
    return (uint8_t)(most - 1);
}

void layout_plan_shared(LayoutTable *t, const Layout *src, const Layout *dst, unsigned elem_bytes,
                        ConvertPlan *plan)
{
    Arena *a = layout_arena(t);
    Parts parts = { .vector = { .count = 0 } };
    choose_vector(src, dst, elem_bytes, &parts);
    build_map(src, dst, elem_bytes, &parts, plan->swizzle_basis);

    plan->kind = CONVERT_SHARED;
    plan->bytes = elem_bytes << src->elem_bits;
    plan->store_vec = plan->load_vec = (uint8_t)(1u << parts.vector.count);
    plan->store_slots =
        order_slots(a, src, parts.src_bit, parts.vector.count, true, &plan->store_count);
    plan->load_slots =
        order_slots(a, dst, parts.dst_bit, parts.vector.count, false, &plan->load_count);
    plan->store_idle = layout_replicated_threads(src);
    plan->store_conflicts = layout_conflicts(plan, src, elem_bytes, plan->store_vec, plan->store_idle);
    plan->load_conflicts = layout_conflicts(plan, dst, elem_bytes, plan->load_vec, 0);
}
