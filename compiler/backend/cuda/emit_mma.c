/// emit_mma.c - matrix products by mma.sync: fragments from shared memory, step by step along K.
///
/// A fragment register is a word of 4 bytes along the inner axis, or one fp64; lanes 0, 1 count
/// words, lanes 2 to 4 rows (of B: columns). ldmatrix fetches 8 x 16 bytes of rows that follow the
/// inner axis, and with .trans 16-bit elements of rows that follow the outer one; tf32 factors of
/// the latter order and fp64 are read word by word.
#include "backend/cuda/emit_dot.h"
#include "target/mma.h"

#include <string.h>

enum { ROW_BITS = 3, WORD_BITS = 2, WORD_BYTES = 4 };  // of an 8 x 16 byte matrix

typedef enum { FETCH_ROWS, FETCH_TRANS, FETCH_WORDS } Fetch;

/// One factor's fragments of one step.
typedef struct Fragments {
    const DotFactor *factor;
    unsigned which;
    const char *name;
    Fetch fetch;
    const char *type;         // of a word
    unsigned element;         // log2 of elements in it
    unsigned words;           // registers of one fragment
    unsigned apart;           // registers from one part of split factors to the next
    uint32_t rows[ROW_BITS];  // the element that each bit of a row's number (of B: a column's) adds
    uint32_t inside[2];       // the element that each bit of a register's number adds
    unsigned inside_bits;
    uint8_t slots[LAYOUT_MAX_BITS];   // slot bits of the sum that choose a fragment
    uint32_t tiles[LAYOUT_MAX_BITS];  // ... and their elements
    unsigned tile_bits;
    unsigned step_bits;  // of the inner axis, within a step
    EmitIndex thread;
} Fragments;

static unsigned log2_of(unsigned n)
{
    unsigned bits = 0;
    while (n >> bits > 1)
        bits++;
    return bits;
}

static void plan_fragments(const EmitDot *d, unsigned which, Fragments *f)
{
    uint8_t slots[LAYOUT_MAX_BITS];
    const unsigned bytes = type_elem_bytes(d->op->args[which]->type);
    f->factor = &d->plan->factor[which];
    f->type = bytes > WORD_BYTES ? d->ctype[which] : "unsigned";
    f->element = bytes > WORD_BYTES ? 0 : log2_of(WORD_BYTES / bytes);
    f->step_bits = log2_of(d->op->attr.dot.mma);
    f->fetch = bytes > WORD_BYTES      ? FETCH_WORDS
               : f->factor->inner_fast ? FETCH_ROWS
               : bytes == 2            ? FETCH_TRANS
                                       : FETCH_WORDS;
    const uint32_t *slots_add = d->layout->basis, *lanes_add = slots_add + d->layout->reg_bits;
    const uint32_t rows[2][ROW_BITS] = { { lanes_add[2], lanes_add[3], lanes_add[4] },
                                         { slots_add[0], lanes_add[0], lanes_add[1] } };
    for (unsigned k = 0; k < ROW_BITS; k++)
        f->rows[k] = layout_dot_element(d->plan, which, rows[which][k]);
    if (which == 0)
        f->inside[f->inside_bits++] = layout_dot_element(d->plan, which, slots_add[1]);
    if (f->step_bits > f->element + WORD_BITS)
        f->inside[f->inside_bits++] = UINT32_C(1)
                                      << (f->factor->inner_low + f->element + WORD_BITS);
    f->words = 1u << f->inside_bits;
    const unsigned count = cuda_dot_slots(d, which, slots);
    for (unsigned k = 0; k < count; k++) {
        if (slots[k] < 2)  // within a tile
            continue;
        f->slots[f->tile_bits] = slots[k];
        f->tiles[f->tile_bits++] = layout_dot_element(d->plan, which, d->layout->basis[slots[k]]);
    }
}

/// How many fragments one ldmatrix fetches: two where B's are small.
static unsigned together(const Fragments *f)
{
    return f->fetch != FETCH_WORDS && f->words < 4 && f->tile_bits > 0 ? 2 : 1;
}

/// Where a thread's address begins: for ldmatrix the row it names, else its own word.
static void emit_base(Emit *e, const EmitDot *d, unsigned which, Fragments *f)
{
    static const char *const hints[] = { "row", "column" };
    const Layout *l = d->layout;
    const DotFactor *x = f->factor;
    uint32_t basis[LAYOUT_MAX_BITS] = { 0 };
    if (f->fetch == FETCH_WORDS) {
        for (unsigned k = 0; k < WORD_BITS; k++)
            basis[k] = UINT32_C(1) << (x->inner_low + f->element + k);
        for (unsigned k = 0; k < ROW_BITS; k++)
            basis[WORD_BITS + k] = f->rows[k];
    } else {
        for (unsigned k = 0; k < ROW_BITS; k++)
            basis[k] = f->fetch == FETCH_ROWS ? f->rows[k] : UINT32_C(1) << (x->inner_low + k);
        for (unsigned k = 0; k < f->inside_bits; k++)
            basis[ROW_BITS + k] = f->inside[k];
        if (together(f) == 2)
            basis[ROW_BITS + f->inside_bits] = f->tiles[0];
    }
    for (unsigned k = 0; k < l->warp_bits; k++)
        basis[LAYOUT_LANE_BITS + k] =
            layout_dot_element(d->plan, which, l->basis[l->reg_bits + LAYOUT_LANE_BITS + k]);
    f->thread = cuda_dot_index(e, x, cuda_tid(e), basis, LAYOUT_LANE_BITS + l->warp_bits);
    const char *name = cuda_name(e, hints[which]);
    cuda_line(e, "const int %s = %s;", name, f->thread.text);
    f->thread.text = name;
}

/// A thread's place and what loops that unroll away add to it: bits that the thread's place may
/// have by XOR, the others as one number behind it, which becomes part of the access.
typedef struct Spot {
    EmitIndex thread, crossed, beside;
} Spot;

static void add_to_spot(Emit *e, Spot *at, const DotFactor *f, const char *var,
                        const uint32_t *basis, unsigned count)
{
    uint32_t crossed[LAYOUT_MAX_BITS], beside[LAYOUT_MAX_BITS];
    EmitIndex more[2];
    if (strcmp(var, "0") == 0)
        return;
    for (unsigned k = 0; k < count; k++) {
        const uint32_t place = layout_dot_index(f, basis[k]);
        crossed[k] = place & at->thread.image;
        beside[k] = place & ~at->thread.image;
    }
    more[0].text = cuda_linear(e, var, crossed, count, &more[0].image);
    more[1].text = cuda_linear(e, var, beside, count, &more[1].image);
    at->crossed = cuda_dot_join(e, at->crossed, more[0]);
    at->beside = cuda_dot_join(e, at->beside, more[1]);
}

static const char *spot_text(Emit *e, const Spot *at)
{
    const char *text = at->thread.text;
    if (at->crossed.image)
        text = cuda_text(e, "(%s ^ (%s))", text, at->crossed.text);
    return at->beside.image ? cuda_text(e, "%s + (%s)", text, at->beside.text) : text;
}

/// Fetches the fragments of step k.
static void emit_fetch(Emit *e, const EmitDot *d, unsigned which, const Fragments *f, const char *k)
{
    const DotFactor *x = f->factor;
    uint32_t steps[LAYOUT_MAX_BITS], tiles[LAYOUT_MAX_BITS];
    const unsigned step_count = x->inner_bits - f->step_bits;
    Spot at = { f->thread, { "0", 0 }, { "0", 0 } };
    for (unsigned i = 0; i < step_count; i++)
        steps[i] = UINT32_C(1) << (x->inner_low + f->step_bits + i);
    add_to_spot(e, &at, x, k, steps, step_count);
    const char *j = cuda_dot_loop(e, "j", 1u << f->tile_bits, together(f));
    memcpy(tiles, f->tiles, sizeof tiles);
    if (together(f) == 2)
        tiles[0] = 0;
    add_to_spot(e, &at, x, j, tiles, f->tile_bits);
    if (f->fetch == FETCH_WORDS) {
        const char *w = cuda_dot_loop(e, "w", f->words, 1);
        add_to_spot(e, &at, x, w, f->inside, f->inside_bits);
        const char *place = spot_text(e, &at);
        const char *word = f->type == d->ctype[which]
                               ? cuda_text(e, "%s[%s]", d->tile[which], place)
                               : cuda_text(e, "nt_shared_word(%s + (%s))", d->tile[which], place);
        cuda_line(e, "%s[%s * %u + %s] = %s;", f->name, j, f->words, w, word);
        cuda_block_end(e);
    } else {
        cuda_line(e, "nt_ldmatrix%s<%u>(%s + %s * %u, %s + (%s));",
                  f->fetch == FETCH_TRANS ? "_trans" : "", f->words * together(f), f->name, j,
                  f->words, d->tile[which], spot_text(e, &at));
    }
    cuda_block_end(e);
}

/// What has been fetched from a tile is rounded here.
static void emit_rounding(Emit *e, const EmitDot *d, const Fragments *f)
{
    if (!f->factor->in_tile || f->factor->is_tf32 || d->op->attr.dot.precision != PRECISION_TF32)
        return;
    const unsigned half = f->words / 2;  // of a row: the words behind are of its other half
    const char *r = cuda_dot_loop(e, "r", f->words << f->tile_bits, f->words);
    for (unsigned w = 0; w < half; w++)
        cuda_line(e, "nt_tf32_words(%s + (%s + %u), %s + (%s + %u));", f->name, r, w, f->name, r,
                  w + half);
    cuda_block_end(e);
}

/* ---- fp32 factors as sums of shorter floats ---- */

/// Which parts of A and B are multiplied, the smallest products first.
typedef struct Split {
    const char *mma;  // the instruction; NULL: the factors' own
    unsigned parts, count;
    uint8_t a[6], b[6];
} Split;

static const Split splits[PRECISION_COUNT] = {
    [PRECISION_IEEE] = { NULL, 1, 1, { 0 }, { 0 } },
    [PRECISION_TF32] = { NULL, 1, 1, { 0 }, { 0 } },
    [PRECISION_TF32X3] = { NULL, 2, 3, { 1, 0, 0 }, { 0, 1, 0 } },
    [PRECISION_BF16X3] = { "m16n8k8_f32_bf16_bf16", 2, 3, { 1, 0, 0 }, { 0, 1, 0 } },
    [PRECISION_BF16X6] = { "m16n8k8_f32_bf16_bf16",
                           3,
                           6,
                           { 2, 1, 0, 1, 0, 0 },
                           { 0, 1, 2, 0, 1, 0 } },
};

/// How the dot's factors are split; those that are not fp32 stand for themselves.
static const Split *split_of(const EmitDot *d)
{
    const bool is_f32 = type_scalar_kind(d->op->args[0]->type) == SCALAR_F32;
    return &splits[is_f32 ? d->op->attr.dot.precision : PRECISION_IEEE];
}

/// Splits the fragments: from here on they are part 0, behind which the others lie. A pair of bf16
/// is made of the two words of a row: their places along the inner axis are the same in both
/// factors.
static void emit_split(Emit *e, const Split *s, Fragments *f)
{
    if (s->parts == 1)
        return;
    const unsigned half = f->words / 2, from = f->words;
    const char *words = f->name;
    f->name = cuda_name(e, f->which == 0 ? "xs" : "ys");
    f->words = s->mma ? half : f->words;
    f->apart = f->words << f->tile_bits;
    cuda_line(e, "unsigned %s[%u];", f->name, s->parts * f->apart);
    const char *r = cuda_dot_loop(e, "r", f->apart, 1);
    if (!s->mma) {
        cuda_line(e, "nt_split_tf32(%s[%s], %s + %s, %s + %s + %u);", words, r, f->name, r, f->name,
                  r, f->apart);
    } else {
        const char *first = cuda_text(e, "%s / %u * %u + %s %% %u", r, half, from, r, half);
        cuda_line(e, "nt_split_bf16<%u>(%s[%s], %s[%s + %u], %s + %s, %u);", s->parts, words, first,
                  words, first, half, f->name, r, f->apart);
    }
    cuda_block_end(e);
}

/// The first register of the fragment for tile `t` of the sum.
static const char *fragment_of(Emit *e, const EmitDot *d, const Fragments *f, const char *t,
                               unsigned part)
{
    uint32_t basis[LAYOUT_MAX_BITS] = { 0 }, image;
    for (unsigned k = 0; k < f->tile_bits; k++)
        basis[f->slots[k] - 2] = f->words << k;
    const char *first =
        strcmp(t, "0") == 0 ? "0" : cuda_linear(e, t, basis, d->layout->reg_bits - 2u, &image);
    if (part > 0)
        first = cuda_text(e, "%u + (%s)", part * f->apart, first);
    return strcmp(first, "0") == 0 ? f->name : cuda_text(e, "%s + (%s)", f->name, first);
}

static const char *factor_name(const EmitDot *d, unsigned which)
{
    return scalar_info[type_scalar_kind(d->op->args[which]->type)].ir;
}

void cuda_dot_mma(Emit *e, const EmitDot *d)
{
    Fragments f[2] = { { .name = cuda_name(e, "x") }, { .which = 1, .name = cuda_name(e, "y") } };
    const Split *split = split_of(d);
    const Mma *mma = mma_find(factor_name(d, 0), factor_name(d, 1), d->op->attr.dot.mma);
    e->needs |= NEED_MMA;
    for (unsigned which = 0; which < 2; which++) {
        plan_fragments(d, which, &f[which]);
        emit_base(e, d, which, &f[which]);
    }
    const char *k = cuda_dot_loop(e, "k", 1u << (f[0].factor->inner_bits - f[0].step_bits), 1);
    for (unsigned which = 0; which < 2; which++)
        cuda_line(e, "%s %s[%u];", f[which].type, f[which].name,
                  f[which].words << f[which].tile_bits);
    for (unsigned which = 0; which < 2; which++)
        emit_fetch(e, d, which, &f[which], k);
    for (unsigned which = 0; which < 2; which++) {
        emit_rounding(e, d, &f[which]);
        emit_split(e, split, &f[which]);
    }
    const char *t = cuda_dot_loop(e, "t", d->slots / 4, 1);
    const char *sum = strcmp(t, "0") == 0 ? d->sum : cuda_text(e, "%s + %s * 4", d->sum, t);
    for (unsigned i = 0; i < split->count; i++)
        cuda_line(e, "nt_mma_%s(%s, %s, %s);", split->mma ? split->mma : mma->name, sum,
                  fragment_of(e, d, &f[0], t, split->a[i]),
                  fragment_of(e, d, &f[1], t, split->b[i]));
    cuda_block_end(e);
    cuda_block_end(e);
}
