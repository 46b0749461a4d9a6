/// emit_dot.c - matrix products: factors to shared memory, and plain multiplication.
///
/// A factor in registers is written by every thread that owns elements of it (tf32 factors rounded
/// once, here), one in a tile is there already and rounded when it is read; after the barrier each reads the rows and columns that its part of the sum needs. Places are linear in
/// thread, slot and inner coordinate, so each is one expression.
#include "backend/cuda/emit_dot.h"

#include <inttypes.h>
#include <string.h>

enum { PIECE_BYTES = 16, WORDS_IN_FLIGHT = 120 };

unsigned cuda_dot_slots(const EmitDot *d, unsigned which, uint8_t *bits)
{
    unsigned count = 0;
    for (unsigned k = 0; k < d->layout->reg_bits; k++)
        if (layout_dot_element(d->plan, which, d->layout->basis[k]) != 0)
            bits[count++] = (uint8_t)k;
    return count;
}

EmitIndex cuda_dot_index(Emit *e, const DotFactor *f, const char *var, const uint32_t *basis,
                         unsigned count)
{
    uint32_t places[LAYOUT_MAX_BITS];
    EmitIndex out;
    for (unsigned k = 0; k < count; k++)
        places[k] = layout_dot_index(f, basis[k]);
    out.text = strcmp(var, "0") == 0 ? "0" : cuda_linear(e, var, places, count, &out.image);
    if (strcmp(out.text, "0") == 0)
        out.image = 0;
    return out;
}

EmitIndex cuda_dot_join(Emit *e, EmitIndex a, EmitIndex b)
{
    // A sum in brackets of its own: what does not depend on the thread becomes part of the access.
    const bool is_sum = (a.image & b.image) == 0 && a.image != 0 && b.image != 0;
    const char *left = is_sum ? cuda_text(e, "(%s)", a.text) : a.text;
    return (EmitIndex){ cuda_join(e, left, a.image, b.text, b.image), a.image | b.image };
}

const char *cuda_dot_loop(Emit *e, const char *var, unsigned n, unsigned step)
{
    if (n > step)
        var = cuda_name(e, var);  // tiles have the user's names, which are read inside
    if (n <= step) {
        cuda_line(e, "{");
        var = "0";
    } else if (step == 1) {
        cuda_line(e, "NT_UNROLL for (int %s = 0; %s < %u; %s++) {", var, var, n, var);
    } else {
        cuda_line(e, "NT_UNROLL for (int %s = 0; %s < %u; %s += %u) {", var, var, n, var, step);
    }
    e->body.indent++;
    return var;
}

/* ---- factors to shared memory ---- */

static unsigned log2_of(unsigned n)
{
    unsigned bits = 0;
    while (n >> bits > 1)
        bits++;
    return bits;
}

/// The slot at position `at` + i of the store's order.
static const char *stored_slot(Emit *e, const DotFactor *f, unsigned bits, const char *at,
                               unsigned i)
{
    uint32_t basis[LAYOUT_MAX_BITS], image;
    for (unsigned p = 0; p < bits; p++)
        basis[p] = UINT32_C(1) << f->slot_bits[p];
    if (i > 0)
        at = strcmp(at, "0") == 0 ? cuda_text(e, "%u", i) : cuda_text(e, "(%s + %u)", at, i);
    return strcmp(at, "0") == 0 ? at : cuda_linear(e, at, basis, bits, &image);
}

/// The value of a slot as it is multiplied.
static const char *stored_value(Emit *e, const EmitDot *d, unsigned which, const char *slot)
{
    const char *x = cuda_ref(e, d->op->args[which], slot);
    return d->op->attr.dot.precision == PRECISION_TF32 ? cuda_text(e, "nt_tf32(%s)", x) : x;
}

static void emit_store(Emit *e, const EmitDot *d, unsigned which)
{
    const DotFactor *f = &d->plan->factor[which];
    const Layout *l = d->op->args[which]->layout;
    uint32_t basis[LAYOUT_MAX_BITS];
    EmitIndex base =
        cuda_dot_index(e, f, cuda_tid(e), l->basis + l->reg_bits, LAYOUT_LANE_BITS + l->warp_bits);
    const char *put = cuda_name(e, "put");
    cuda_line(e, "const int %s = %s;", put, base.text);
    base.text = put;
    if (f->idle) {
        cuda_line(e, "if ((%s & %" PRIu32 ") == 0) {", cuda_tid(e), f->idle);
        e->body.indent++;
    }
    const char *at = cuda_block_loop(e, layout_regs(l), f->vec);
    for (unsigned p = 0; p < l->reg_bits; p++)
        basis[p] = 1u << p < f->vec ? 0 : l->basis[f->slot_bits[p]];
    const EmitIndex place = cuda_dot_join(e, base, cuda_dot_index(e, f, at, basis, l->reg_bits));
    if (f->vec == 1) {
        cuda_line(e, "%s[%s] = %s;", d->tile[which], place.text,
                  stored_value(e, d, which, stored_slot(e, f, l->reg_bits, at, 0)));
    } else {
        cuda_line(e, "%s;", cuda_decl(e, d->ctype[which], "group", f->vec));
        for (unsigned i = 0; i < f->vec; i++)
            cuda_line(e, "group[%u] = %s;", i,
                      stored_value(e, d, which, stored_slot(e, f, l->reg_bits, at, i)));
        cuda_line(e, "nt_put<%u>(%s + (%s), group);", f->vec, d->tile[which], place.text);
    }
    cuda_block_end(e);
    if (f->idle)
        cuda_block_end(e);
}

/* ---- plain multiplication ---- */

/// One factor's part of a step: `depth` inner coordinates for each slot position.
typedef struct Part {
    const char *name, *base;
    EmitIndex thread;
    uint8_t slots[LAYOUT_MAX_BITS];
    uint32_t elements[LAYOUT_MAX_BITS];  // by position bit
    unsigned bits, vec;                  // vec: along the outer axis
} Part;

static void plan_part(const EmitDot *d, unsigned which, Part *p)
{
    const DotFactor *f = &d->plan->factor[which];
    p->bits = cuda_dot_slots(d, which, p->slots);
    for (unsigned k = 0; k < p->bits; k++)
        p->elements[k] = layout_dot_element(d->plan, which, d->layout->basis[p->slots[k]]);
    p->vec = 1;
    const unsigned most = PIECE_BYTES / type_elem_bytes(d->op->args[which]->type);
    for (unsigned k = 0; k < p->bits && p->vec < most && !f->inner_fast; k++) {
        if (p->elements[k] != UINT32_C(1) << (f->outer_low + k))
            break;
        p->vec *= 2;
    }
}

static void emit_part_base(Emit *e, const EmitDot *d, unsigned which, Part *p)
{
    static const char *const hints[] = { "row", "column" };
    const DotFactor *f = &d->plan->factor[which];
    uint32_t basis[LAYOUT_MAX_BITS];
    const unsigned bits = LAYOUT_LANE_BITS + d->layout->warp_bits;
    for (unsigned k = 0; k < bits; k++)
        basis[k] = layout_dot_element(d->plan, which, d->layout->basis[d->layout->reg_bits + k]);
    p->thread = cuda_dot_index(e, f, cuda_tid(e), basis, bits);
    const char *name = cuda_name(e, hints[which]);
    cuda_line(e, "const int %s = %s;", name, p->thread.text);
    p->thread.text = name;
}

/// The inner coordinate `var`, of which bits [first, end) count.
static EmitIndex inner_index(Emit *e, const DotFactor *f, const char *var, unsigned first,
                             unsigned end)
{
    uint32_t basis[LAYOUT_MAX_BITS];
    for (unsigned k = 0; k < f->inner_bits; k++)
        basis[k] = k >= first && k < end ? UINT32_C(1) << (f->inner_low + k) : 0;
    return cuda_dot_index(e, f, var, basis, first < end ? end : 0);
}

/// Reads `depth` inner coordinates from k on: name[position * depth + i].
static void emit_part(Emit *e, const EmitDot *d, unsigned which, const Part *p, unsigned depth)
{
    const DotFactor *f = &d->plan->factor[which];
    const unsigned low = log2_of(depth), vec = f->inner_fast ? depth : p->vec;
    EmitIndex at = cuda_dot_join(e, p->thread, inner_index(e, f, "k", low, f->inner_bits));
    const char *i = "0";
    if (!f->inner_fast) {
        i = cuda_dot_loop(e, "i", depth, 1);
        at = cuda_dot_join(e, at, inner_index(e, f, i, 0, low));
    }
    const char *j = cuda_dot_loop(e, "j", 1u << p->bits, f->inner_fast ? 1 : p->vec);
    at = cuda_dot_join(e, at, cuda_dot_index(e, f, j, p->elements, p->bits));
    cuda_line(e, "%s;", cuda_decl(e, d->ctype[which], "group", vec));
    cuda_line(e, "nt_take<%u>(group, %s + (%s));", vec, d->tile[which], at.text);
    for (unsigned q = 0; q < vec; q++) {
        const char *to = f->inner_fast ? cuda_text(e, "%s * %u + %u", j, depth, q)
                                       : cuda_text(e, "(%s + %u) * %u + %s", j, q, depth, i);
        cuda_line(e, "%s[%s] = nt_cast<%s>(%s);", p->name, to, d->sum_type,
                  f->in_tile && !f->is_tf32 && d->op->attr.dot.precision == PRECISION_TF32
                      ? cuda_text(e, "nt_tf32(group[%u])", q)
                      : cuda_text(e, "group[%u]", q));
    }
    cuda_block_end(e);
    if (!f->inner_fast)
        cuda_block_end(e);
}

/// The position in a part that belongs to `slot` of the sum.
static const char *part_position(Emit *e, const EmitDot *d, const Part *p, const char *slot)
{
    uint32_t basis[LAYOUT_MAX_BITS] = { 0 }, image;
    for (unsigned k = 0; k < p->bits; k++)
        basis[p->slots[k]] = UINT32_C(1) << k;
    return strcmp(slot, "0") == 0 ? slot : cuda_linear(e, slot, basis, d->layout->reg_bits, &image);
}

/// How many inner coordinates to read at once: as many as registers allow.
static unsigned choose_depth(const EmitDot *d, const Part *parts)
{
    const unsigned words = strcmp(d->sum_type, "double") == 0 ? 2 : 1;
    unsigned depth = 4;
    for (unsigned which = 0; which < 2; which++)
        while (depth * type_elem_bytes(d->op->args[which]->type) > PIECE_BYTES)
            depth /= 2;
    while (depth > 1 &&
           words * (d->slots + depth * ((1u << parts[0].bits) + (1u << parts[1].bits))) >
               WORDS_IN_FLIGHT)
        depth /= 2;
    return depth;
}

static void emit_fma(Emit *e, const EmitDot *d)
{
    Part parts[2] = { { .name = cuda_name(e, "x") }, { .name = cuda_name(e, "y") } };
    for (unsigned which = 0; which < 2; which++) {
        plan_part(d, which, &parts[which]);
        emit_part_base(e, d, which, &parts[which]);
    }
    const unsigned depth = choose_depth(d, parts);
    cuda_line(e, "for (int k = 0; k < %u; k += %u) {", 1u << d->plan->factor[0].inner_bits, depth);
    e->body.indent++;
    for (unsigned which = 0; which < 2; which++)
        cuda_line(e, "%s %s[%u];", d->sum_type, parts[which].name, depth << parts[which].bits);
    for (unsigned which = 0; which < 2; which++)
        emit_part(e, d, which, &parts[which], depth);
    const char *i = cuda_dot_loop(e, "i", depth, 1);
    const char *slot = cuda_loop(e, d->slots, 1);
    cuda_line(e, "%s[%s] = nt_mad(%s[(%s) * %u + %s], %s[(%s) * %u + %s], %s[%s]);", d->sum,
              slot, parts[0].name, part_position(e, d, &parts[0], slot), depth, i, parts[1].name,
              part_position(e, d, &parts[1], slot), depth, i, d->sum, slot);
    cuda_loop_end(e, d->slots, 1);
    cuda_block_end(e);
    cuda_block_end(e);
}

/* ---- the operation ---- */

static const char *sum_type(const Type *type)
{
    switch ((int)type_scalar_kind(type)) {
    case SCALAR_I32: return "int";
    case SCALAR_F64: return "double";
    default: return "float";
    }
}

static void emit_copy(Emit *e, const EmitDot *d, const char *name, bool out)
{
    const IrValue *acc = d->op->args[2], *result = d->op->results[0];
    const char *slot = cuda_loop(e, d->slots, 1);
    if (out)
        cuda_line(e, "%s = nt_cast<%s>(%s[%s]);", cuda_slot_of(e, result, name, slot),
                  cuda_ctype(e, result->type), d->sum, slot);
    else
        cuda_line(e, "%s[%s] = nt_cast<%s>(%s);", d->sum, slot, d->sum_type,
                  cuda_ref(e, acc, slot));
    cuda_loop_end(e, d->slots, 1);
}

/// The multiplication, its sum in an array of what it is summed in.
static void emit_product(Emit *e, EmitDot *d, const char *name)
{
    const bool in_place = d->op->attr.dot.wgmma &&
                          strcmp(d->sum_type, cuda_ctype(e, d->op->results[0]->type)) == 0;
    d->sum = in_place ? name : cuda_name(e, "sum");
    if (!in_place)
        cuda_line(e, "%s %s[%u];", d->sum_type, d->sum, d->slots);
    if (!cuda_dot_starts_anew(d->op) && !d->op->attr.dot.carried)
        emit_copy(e, d, name, false);
    if (d->op->attr.dot.wgmma)
        cuda_dot_wgmma(e, d);
    else if (d->op->attr.dot.mma)
        cuda_dot_mma(e, d);
    else
        emit_fma(e, d);
    if (!in_place)
        emit_copy(e, d, name, true);
}

bool cuda_emit_dot(Emit *e, const IrOp *op)
{
    static const char *const hints[] = { "left", "right" };
    const IrValue *result = op->results[0];
    EmitDot d = { .op = op,
                  .plan = layout_plan_dot(e->opt->layouts, e->fn, op),
                  .layout = result->layout,
                  .swapped = layout_dot_swaps(e->fn, op),
                  .slots = cuda_slots(result),
                  .sum_type = sum_type(result->type) };
    bool stores = false;
    const char *name;
    if (op->attr.dot.carried) {  // the sum stays where it is
        name = cuda_place(e, op->args[2]).text;
        e->places[result->id] = cuda_place(e, op->args[2]);
    } else {
        name = cuda_declare(e, result);
    }
    e->needs |= NEED_SHARED | NEED_CONVERT | NEED_DOT | (op->attr.dot.wgmma ? NEED_TMA : 0);
    if (d.plan->factor[0].in_registers || d.swapped)
        cuda_dot_words(e, &d);
    cuda_line(e, "{");
    e->body.indent++;
    for (unsigned which = 0; which < 2; which++) {
        const DotFactor *f = &d.plan->factor[which];
        d.ctype[which] = cuda_ctype(e, op->args[which]->type);
        if (f->in_tile) {
            d.tile[which] = cuda_place(e, op->args[which]).text;
            continue;
        }
        if (f->in_registers)
            continue;
        d.tile[which] = cuda_scratch(e, op, d.ctype[which], hints[which], f->at, f->bytes);
        if (!d.tile[which])
            return false;
        emit_store(e, &d, which);
        stores = true;
    }
    if (stores && op->attr.dot.wgmma)
        cuda_line(e, "nt_fence_async();");
    if (stores)
        cuda_line(e, "%s", cuda_barrier(e));
    emit_product(e, &d, name);
    e->body.indent--;
    cuda_line(e, "}");
    return true;
}
