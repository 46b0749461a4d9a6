/// emit_wgmma.c - matrix products by a warpgroup's matrix instructions, which read their factors from
/// shared memory through descriptors, and the left one from registers where those hold it as a sum, or
/// where the product is made as its transpose (layout_dot_swaps).
///
/// A factor has one descriptor, of the warpgroup's first block at the first step along K; those of
/// other blocks and steps are that far away in units of 16 bytes, which is a linear map of their
/// numbers. What threads wrote to scratch must reach the asynchronous proxy: a fence before the
/// barrier. A sum that begins at zero is not cleared: its first step takes nothing over.
#include "backend/cuda/emit_dot.h"
#include "target/mma.h"

#include <string.h>

enum {
    UNIT_BYTES = 16,           // of what a descriptor counts in
    STEP_BYTES = 32,           // of one instruction along K
    STEP_WORDS = 4,            // of a left factor in registers for it
    TF32_STEP_BITS = 3,        // of the inner axis, of 4-byte factors
    GROUP_BITS = 7,            // thread bits within a warpgroup
    SWIZZLE_ROWS = 8,          // after which a swizzle repeats
    CORE_BYTES = 8 * 16,       // of a matrix of 8 rows of 16 bytes
    MOST_CLEARED_SLOTS = 128   // of a loop's sums that are cleared late
};

/// One factor as descriptors see it.
typedef struct Described {
    const DotFactor *factor;
    const char *name;  // of the first descriptor
    unsigned bytes;    // of an element
    unsigned block_bits;  // log2 of the slots that one instruction's sum takes
} Described;

static unsigned log2_of(unsigned n)
{
    unsigned bits = 0;
    while (n >> bits > 1)
        bits++;
    return bits;
}

/// How many units the bits of `var` move the beginning: basis[k] are factor elements.
static EmitIndex units(Emit *e, const Described *x, const char *var, const uint32_t *basis,
                       unsigned count)
{
    uint32_t moved[LAYOUT_MAX_BITS] = { 0 };
    EmitIndex out = { "0", 0 };
    for (unsigned k = 0; k < count; k++)
        moved[k] = layout_dot_index(x->factor, basis[k]) * x->bytes / UNIT_BYTES;
    if (strcmp(var, "0") != 0)
        out.text = cuda_linear(e, var, moved, count, &out.image);
    return out;
}

/// Declares the descriptor of the warpgroup's first block.
static void emit_descriptor(Emit *e, const EmitDot *d, unsigned which, Described *x)
{
    static const char *const hints[] = { "left_at", "right_at" };
    static const unsigned swizzles[] = { [4] = 0, [5] = 3, [6] = 2, [7] = 1 };  // by log2 of a row
    const DotFactor *f = &d->plan->factor[which];
    const Layout *l = d->layout;
    uint32_t basis[LAYOUT_MAX_BITS] = { 0 };
    for (unsigned k = GROUP_BITS; k < LAYOUT_LANE_BITS + (unsigned)l->warp_bits; k++)
        basis[k] = layout_dot_element(d->plan, which, l->basis[l->reg_bits + k]);
    const EmitIndex group =
        cuda_dot_index(e, f, cuda_tid(e), basis, LAYOUT_LANE_BITS + l->warp_bits);
    const char *at = strcmp(group.text, "0") == 0
                         ? d->tile[which]
                         : cuda_text(e, "%s + %s", d->tile[which], group.text);
    // Along K the hardware knows the distance of 16-byte pieces itself; else "leading" is from chunk
    // to chunk, but from 8 rows to the next where rows have no swizzle.
    unsigned leading = UNIT_BYTES, stride = SWIZZLE_ROWS * f->row_bytes;
    if (!f->inner_fast)
        leading = f->row_bytes > UNIT_BYTES ? f->row_bytes << f->inner_bits : CORE_BYTES;
    x->name = cuda_name(e, hints[which]);
    cuda_line(e, "const unsigned long long %s = nt_wgmma_desc(%s, %u, %u, %u);", x->name, at, leading,
              stride, swizzles[log2_of(f->row_bytes)]);
}

/// The descriptor for block `t` at step `k`.
static const char *descriptor(Emit *e, const EmitDot *d, unsigned which, const Described *x,
                              const char *t, const char *k)
{
    const DotFactor *f = x->factor;
    const unsigned block_bits = x->block_bits;
    uint32_t blocks[LAYOUT_MAX_BITS] = { 0 }, steps[LAYOUT_MAX_BITS] = { 0 };
    const unsigned first = log2_of(STEP_BYTES / x->bytes);
    for (unsigned i = block_bits; i < d->layout->reg_bits; i++)
        blocks[i - block_bits] = layout_dot_element(d->plan, which, d->layout->basis[i]);
    for (unsigned i = first; i < f->inner_bits; i++)
        steps[i - first] = UINT32_C(1) << (f->inner_low + i);
    const EmitIndex to = cuda_dot_join(e, units(e, x, t, blocks, d->layout->reg_bits - block_bits),
                                       units(e, x, k, steps, f->inner_bits - first));
    return strcmp(to.text, "0") == 0 ? x->name : cuda_text(e, "%s + (%s)", x->name, to.text);
}

static bool is_zero_constant(const IrValue *v)
{
    if (!ir_is_const(v))
        return false;
    const IrConst *c = &v->def->attr.konst;
    return c->is_float ? c->f == 0 : c->i == 0;
}

bool cuda_dot_starts_anew(const IrOp *op)
{
    return op->attr.dot.wgmma && is_zero_constant(op->args[2]);
}

/// Whether ptxas has registers to spare beside a loop's sums. Else it spills where one is cleared behind a loop
/// that made no round, and has each product wait for the one before (C7515).
static bool leaves_registers(const IrBlock *body)
{
    unsigned slots = 0;
    bool has_words = false;
    for (const IrOp *op = body->first; op; op = op->next) {
        if (op->code != IR_DOT)
            continue;
        slots += layout_regs(op->results[0]->layout);
        has_words |= type_elem_bytes(op->args[0]->type) == sizeof(float);
    }
    return slots <= MOST_CLEARED_SLOTS && !has_words;
}

bool cuda_dot_carries_sum(const IrOp *loop, uint32_t index)
{
    const IrBlock *body = loop->regions[0];
    for (const IrOp *op = body->first; op && loop->code == IR_FOR; op = op->next)
        if (op->code == IR_DOT && op->attr.dot.carried && op->args[2] == body->args[1 + index])
            return true;
    return false;
}

bool cuda_dot_begins_sum(const IrOp *loop, uint32_t index)
{
    return loop->code == IR_FOR && is_zero_constant(loop->args[3 + index]) &&
           leaves_registers(loop->regions[0]) && cuda_dot_carries_sum(loop, index);
}

/// Whether the product adds at step `k`, as an expression.
static const char *adds_at(Emit *e, const IrOp *op, const char *k)
{
    const bool is_first_step = strcmp(k, "0") == 0;
    if (op->attr.dot.carried && cuda_dot_begins_sum(op->block->parent, op->args[2]->index - 1)) {
        const char *held = cuda_ref(e, op->block->args[op->block->argc - 1], "0");  // see dot_carry.c
        return is_first_step ? cuda_text(e, "%s >= 0", held)
                             : cuda_text(e, "%s >= 0 || %s > 0", held, k);
    }
    if (!cuda_dot_starts_anew(op))
        return "1";
    return is_first_step ? "0" : cuda_text(e, "%s > 0", k);
}

static const char *factor_name(const EmitDot *d, unsigned which)
{
    return scalar_info[type_scalar_kind(d->op->args[which]->type)].ir;
}

/// A left factor that threads hold as an earlier sum: pairs of neighbouring slots are a register.
static void emit_held_words(Emit *e, const EmitDot *d)
{
    const IrValue *left = d->op->args[0];
    const unsigned words = layout_regs(left->layout) / 2;
    cuda_line(e, "unsigned %s[%u];", d->words, words);
    const char *r = cuda_dot_loop(e, "r", words, 1);
    cuda_line(e, "%s[%s] = nt_pack(%s, %s);", d->words, r,
              cuda_ref(e, left, cuda_text(e, "2 * %s", r)),
              cuda_ref(e, left, cuda_text(e, "2 * %s + 1", r)));
    cuda_block_end(e);
}

/// How many blocks of 64 columns a warpgroup has of a transposed product: the slot bits from *first on.
static unsigned column_blocks(const EmitDot *d, unsigned *first)
{
    *first = d->layout->reg_bits;
    while (*first > 2 && layout_dot_element(d->plan, 1, d->layout->basis[*first - 1]) != 0)
        --*first;
    return 1u << (d->layout->reg_bits - *first);
}

static unsigned words_of_step(const EmitDot *d)
{
    unsigned first;
    return column_blocks(d, &first) * STEP_WORDS;
}

/// Where a thread's words of a transposed product begin in the right factor's tile.
static EmitIndex emit_column(Emit *e, const EmitDot *d)
{
    const DotFactor *f = &d->plan->factor[1];
    const Layout *l = d->layout;
    uint32_t basis[LAYOUT_MAX_BITS];
    for (unsigned k = 0; k < LAYOUT_LANE_BITS + (unsigned)l->warp_bits; k++)
        basis[k] = k < 2 ? UINT32_C(1) << (f->inner_low + k)
                         : layout_dot_element(d->plan, 1, l->basis[l->reg_bits + k]);
    EmitIndex at = cuda_dot_index(e, f, cuda_tid(e), basis, LAYOUT_LANE_BITS + l->warp_bits);
    const char *name = cuda_name(e, "column");
    cuda_line(e, "const int %s = %s;", name, at.text);
    at.text = name;
    return at;
}

/// Fetches the words of a transposed product, step by step and block by block: two neighbouring columns at
/// inner coordinates t and t + 4, t the lane's two low bits. Earlier products run meanwhile, so the words
/// stay in registers until theirs has ended.
static void emit_fetch(Emit *e, const EmitDot *d)
{
    const DotFactor *f = &d->plan->factor[1];
    EmitIndex at = emit_column(e, d);
    unsigned first;
    const unsigned blocks = column_blocks(d, &first), step_bits = f->inner_bits - TF32_STEP_BITS;
    uint32_t basis[LAYOUT_MAX_BITS];
    for (unsigned i = 0; i < step_bits; i++)
        basis[i] = UINT32_C(1) << (f->inner_low + TF32_STEP_BITS + i);
    const char *k = cuda_dot_loop(e, "k", 1u << step_bits, 1);
    at = cuda_dot_join(e, at, cuda_dot_index(e, f, k, basis, step_bits));
    for (unsigned i = first; i < d->layout->reg_bits; i++)
        basis[i - first] = layout_dot_element(d->plan, 1, d->layout->basis[i]);
    const char *b = cuda_dot_loop(e, "b", blocks, 1);
    at = cuda_dot_join(e, at, cuda_dot_index(e, f, b, basis, d->layout->reg_bits - first));
    basis[0] = UINT32_C(1) << (f->inner_low + TF32_STEP_BITS - 1);
    const char *h = cuda_dot_loop(e, "h", 2, 1);
    at = cuda_dot_join(e, at, cuda_dot_index(e, f, h, basis, 1));
    const char *to = blocks > 1 ? cuda_text(e, "(%s * %u + %s)", k, blocks, b) : k;
    cuda_line(e, "float group[2];");
    cuda_line(e, "nt_take<2>(group, %s + (%s));", cuda_place(e, d->op->args[1]).text, at.text);
    for (unsigned i = 0; i < 2; i++)
        cuda_line(e, "%s[%s * %d + 2 * %s + %u] = __float_as_uint(%s);", d->words, to, STEP_WORDS, h, i,
                  cuda_text(e, f->is_tf32 ? "group[%u]" : "nt_tf32(group[%u])", i));
    cuda_block_end(e);
    cuda_block_end(e);
    cuda_block_end(e);
}

static unsigned fetched_words(const EmitDot *d)
{
    return words_of_step(d) << (d->plan->factor[1].inner_bits - TF32_STEP_BITS);
}

void cuda_dot_words(Emit *e, EmitDot *d)
{
    for (uint32_t i = 0; i < e->flights.len; i++)
        if (e->flights.at[i].dot == d->op)
            d->words = e->flights.at[i].words;
    if (d->words)
        return;
    d->words = cuda_name(e, "words");
    if (d->swapped)
        cuda_line(e, "unsigned %s[%u];", d->words, fetched_words(d));
    else
        emit_held_words(e, d);
    if (d->op->attr.dot.async)
        VEC_PUSH(e->arena, &e->flights, ((EmitFlight){ d->op, d->words, NULL }));
}

bool cuda_dot_words_in_turn(Emit *e, const IrBlock *body)
{
    bool any = false;
    for (const IrOp *op = body->first; op; op = op->next) {
        if (op->code != IR_DOT || !op->attr.dot.carried || !layout_dot_swaps(e->fn, op))
            continue;
        const EmitDot d = { .op = op,
                            .plan = layout_plan_dot(e->opt->layouts, e->fn, op),
                            .layout = op->results[0]->layout };
        const EmitFlight f = { op, cuda_name(e, "words"), cuda_name(e, "words") };
        cuda_line(e, "unsigned %s[%u], %s[%u];", f.words, fetched_words(&d), f.others,
                  fetched_words(&d));
        VEC_PUSH(e->arena, &e->flights, f);
        any = true;
    }
    return any;
}

void cuda_dot_take_turns(Emit *e, const IrBlock *body)
{
    for (uint32_t i = 0; i < e->flights.len; i++) {
        EmitFlight *f = &e->flights.at[i];
        const char *words = f->words;
        if (f->dot->block != body || !f->others)
            continue;
        f->words = f->others;
        f->others = words;
    }
}

/// Behind a wait for `sum`: no register of products that have ended was free before. In a loop that carries
/// products these are the ones of the iteration before, behind it those of the last two.
static void keep_words(Emit *e, const IrValue *sum)
{
    const bool is_behind = sum->def->code == IR_FOR, runs_on = !is_behind && sum->def->attr.dot.carried;
    const IrBlock *carries = is_behind ? sum->def->regions[0] : sum->def->block;
    for (uint32_t i = 0; i < e->flights.len; i++) {
        const EmitFlight *f = &e->flights.at[i];
        const bool is_carried = f->others && f->dot->block == carries;
        if (f->dot == sum->def ? !runs_on : is_carried && is_behind)
            cuda_line(e, "nt_wgmma_keep(%s);", f->words);
        if (is_carried && (runs_on || is_behind))
            cuda_line(e, "nt_wgmma_keep(%s);", f->others);
    }
}

/// Clears a sum that its loop has not begun, since it made no round.
static void clear_unbegun(Emit *e, const IrValue *sum)
{
    if (!cuda_dot_begins_sum(sum->def, sum->index))
        return;
    cuda_line(e, "if (%s < 0) {", cuda_ref(e, sum->def->results[sum->def->resultc - 1], "0"));
    e->body.indent++;
    const char *slot = cuda_loop(e, cuda_slots(sum), 1);
    cuda_line(e, "%s = 0;", cuda_slot_of(e, sum, cuda_place(e, sum).text, slot));
    cuda_loop_end(e, cuda_slots(sum), 1);
    cuda_block_end(e);
}

bool cuda_emit_dot_wait(Emit *e, const IrOp *op)
{
    const IrValue *sum = op->args[0];
    // Once for several sums: ptxas takes what is still waited for as under way, and then no register may change.
    if (!op->prev || op->prev->code != IR_DOT_WAIT || op->prev->attr.groups > op->attr.groups)
        cuda_line(e, "nt_wgmma_wait<%u>();", op->attr.groups);
    if (sum->def->code == IR_FOR || !sum->def->attr.dot.carried)  // else it runs on
        cuda_line(e, "nt_wgmma_keep(%s);", cuda_place(e, sum).text);
    keep_words(e, sum);
    e->places[op->results[0]->id] = cuda_place(e, sum);
    if (op->next->code == IR_DOT_WAIT)
        return true;
    const IrOp *wait = op;
    while (wait->prev && wait->prev->code == IR_DOT_WAIT)
        wait = wait->prev;
    for (; wait != op->next; wait = wait->next)
        clear_unbegun(e, wait->args[0]);
    return true;
}

/// The words for block `t` at step `k`.
static const char *words_at(Emit *e, const EmitDot *d, const Described *x, unsigned block_bits,
                            const char *t, const char *k)
{
    uint32_t blocks[LAYOUT_MAX_BITS] = { 0 }, image;
    const unsigned unit = d->swapped ? STEP_WORDS : 1u << x->factor->inner_bits >> 2;
    unsigned next = 0;
    for (unsigned i = block_bits; i < d->layout->reg_bits; i++)
        if (layout_dot_element(d->plan, d->swapped, d->layout->basis[i]) != 0)
            blocks[i - block_bits] = unit << next++;
    const char *at = strcmp(t, "0") == 0 ? "0"
                                         : cuda_linear(e, t, blocks, d->layout->reg_bits - block_bits,
                                                       &image);
    if (strcmp(k, "0") != 0)
        at = cuda_text(e, "%s%s%s * %u", strcmp(at, "0") == 0 ? "" : at,
                       strcmp(at, "0") == 0 ? "" : " + ", k, d->swapped ? words_of_step(d) : STEP_WORDS);
    return strcmp(at, "0") == 0 ? d->words : cuda_text(e, "%s + %s", d->words, at);
}

/// What follows the shape and types in the function's name: which factors are not along K.
static const char *majors(Emit *e, const EmitDot *d, const Described *x)
{
    const bool is_16_bit = x[0].bytes == 2;
    if (d->words != NULL)
        return is_16_bit ? cuda_text(e, "_rs<%d>", !x[1].factor->inner_fast) : "_rs";
    return is_16_bit ? cuda_text(e, "<%d, %d>", !x[0].factor->inner_fast, !x[1].factor->inner_fast)
                     : "";
}

/// Starts the instructions, all blocks at each step.
static void emit_instructions(Emit *e, const EmitDot *d, const Described *x, unsigned columns)
{
    const Mma *mma = mma_find(factor_name(d, 0), factor_name(d, 1), d->op->attr.dot.mma);
    const unsigned block_bits = log2_of(columns / 2), right = d->swapped ? 0 : 1;
    const char *k = cuda_dot_loop(
        e, "k", x[0].bytes << x[0].factor->inner_bits >> log2_of(STEP_BYTES), 1);
    const char *t = cuda_dot_loop(e, "t", d->slots >> block_bits, 1);
    const char *sum =
        strcmp(t, "0") == 0 ? d->sum : cuda_text(e, "%s + %s * %u", d->sum, t, columns / 2);
    const char *left = d->words ? words_at(e, d, &x[0], block_bits, t, k)
                                : descriptor(e, d, 0, &x[0], t, k);
    cuda_line(e, "nt_wgmma_m64n%u%s%s(%s, %s, %s, %s);", columns, strchr(mma->name, 'k'),
              majors(e, d, x), sum, left, descriptor(e, d, right, &x[right], t, k),
              adds_at(e, d->op, k));
    cuda_block_end(e);
    cuda_block_end(e);
}

void cuda_dot_wgmma(Emit *e, const EmitDot *d)
{
    Described x[2];
    const unsigned columns =
        layout_dot_wgmma_columns(d->op->results[0]->type, e->fn->num_warps, d->swapped);
    e->needs |= NEED_WGMMA;
    e->wgmma_columns |= columns;
    for (unsigned which = 0; which < 2; which++) {
        const bool in_words = d->words != NULL && which == (d->swapped ? 1 : 0);
        x[which] = (Described){ .factor = &d->plan->factor[which],
                                .bytes = type_elem_bytes(d->op->args[which]->type),
                                .block_bits = log2_of(columns / 2) };
        if (!in_words)
            emit_descriptor(e, d, which, &x[which]);
    }
    if (d->swapped)
        emit_fetch(e, d);
    if (d->words)
        cuda_line(e, "nt_wgmma_keep(%s);", d->words);
    if (!cuda_dot_starts_anew(d->op) && !d->op->attr.dot.carried)  // whatever made the sum stays in front of the fence
        cuda_line(e, "nt_wgmma_keep(%s);", d->sum);
    cuda_line(e, "nt_wgmma_fence();");
    emit_instructions(e, d, x, columns);
    cuda_line(e, "nt_wgmma_commit();");
    if (d->op->attr.dot.async)
        return;
    cuda_line(e, "nt_wgmma_wait<0>();");
    cuda_line(e, "nt_wgmma_keep(%s);", d->sum);
    if (d->words)
        cuda_line(e, "nt_wgmma_keep(%s);", d->words);
}
