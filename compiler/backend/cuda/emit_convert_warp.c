/// emit_convert_warp.c - moving a value to another layout within each warp, piece by piece.
///
/// A warp writes a piece into its part of the scratch, synchronises itself and reads it back. Pairs of
/// 16-bit sums go out as matrices where the chip has stmatrix.
#include "backend/cuda/emit_dot.h"

#include <inttypes.h>
#include <string.h>

/// One side of the exchange.
typedef struct Side {
    const Layout *layout;
    const uint16_t *slots, *piece;
    uint32_t count;
    unsigned vec;
    EmitIndex thread;  // what the thread adds to the place
} Side;

typedef struct Exchange {
    const IrOp *op;
    const ConvertPlan *plan;
    const char *ctype, *scratch, *p;  // p: the piece's number
    Side store, load;
} Exchange;

static unsigned log2_of(uint32_t n)
{
    unsigned bits = 0;
    while (n >> bits > 1)
        bits++;
    return bits;
}

/// The value's slot for position `at` + i of the list.
static const char *slot_text(Emit *e, const Exchange *x, const Side *side, const char *at, unsigned i)
{
    uint32_t basis[LAYOUT_MAX_BITS], image, piece_image = 0;
    for (unsigned k = 0; 1u << k < side->count; k++)
        basis[k] = side->slots[1u << k];
    if (i > 0)
        at = strcmp(at, "0") == 0 ? cuda_text(e, "%u", i) : cuda_text(e, "(%s + %u)", at, i);
    const char *slot = strcmp(at, "0") == 0
                           ? (image = 0, "0")
                           : cuda_linear(e, at, basis, log2_of(side->count), &image);
    for (unsigned k = 0; k < x->plan->piece_bits; k++)
        basis[k] = side->piece[k];
    const char *piece = strcmp(x->p, "0") == 0
                            ? "0"
                            : cuda_linear(e, x->p, basis, x->plan->piece_bits, &piece_image);
    return cuda_join(e, piece, piece_image, slot, image);
}

/// Where position `at` of the list lies.
static const char *place_text(Emit *e, const Exchange *x, const Side *side, const char *at)
{
    uint32_t basis[LAYOUT_MAX_BITS];
    EmitIndex slot = { "0", 0 };
    for (unsigned k = 0; 1u << k < side->count; k++)
        basis[k] = layout_shared_index(x->plan, side->layout, side->slots[1u << k], 0);
    if (strcmp(at, "0") != 0)
        slot.text = cuda_linear(e, at, basis, log2_of(side->count), &slot.image);
    return cuda_join(e, side->thread.text, side->thread.image, slot.text, slot.image);
}

/// Declares the thread's part of the places: basis[k] for each bit of the lane.
static void emit_thread(Emit *e, Side *side, const uint32_t *basis, const char *hint)
{
    uint32_t image;
    const char *name = cuda_name(e, hint);
    cuda_line(e, "const int %s = %s;", name,
              cuda_linear(e, cuda_text(e, "(%s & 31)", cuda_tid(e)), basis, LAYOUT_LANE_BITS, &image));
    side->thread = (EmitIndex){ name, image };
}

static void emit_own_thread(Emit *e, const Exchange *x, Side *side, const char *hint)
{
    uint32_t basis[LAYOUT_LANE_BITS];
    for (unsigned k = 0; k < LAYOUT_LANE_BITS; k++)
        basis[k] = layout_shared_index(x->plan, side->layout, 0, 1u << k);
    emit_thread(e, side, basis, hint);
}

static void emit_store(Emit *e, const Exchange *x)
{
    const Side *side = &x->store;
    const IrValue *from = x->op->args[0];
    const char *at = cuda_block_loop(e, side->count, side->vec);
    const char *place = place_text(e, x, side, at);
    if (side->vec == 1) {
        cuda_line(e, "%s[%s] = %s;", x->scratch, place, cuda_ref(e, from, slot_text(e, x, side, at, 0)));
    } else {
        cuda_line(e, "%s;", cuda_decl(e, x->ctype, "group", side->vec));
        for (unsigned i = 0; i < side->vec; i++)
            cuda_line(e, "group[%u] = %s;", i, cuda_ref(e, from, slot_text(e, x, side, at, i)));
        cuda_line(e, "nt_put<%u>(%s + (%s), group);", side->vec, x->scratch, place);
    }
    cuda_block_end(e);
}

/// How many matrices one stmatrix writes.
static unsigned matrices(const ConvertPlan *plan)
{
    return plan->store_count >= 8 ? 4 : plan->store_count / 2;
}

/// For stmatrix lanes 0 to 2 name a row, lanes 3 and 4 the matrix.
static void emit_matrix_thread(Emit *e, const Exchange *x, Side *side)
{
    uint32_t basis[LAYOUT_LANE_BITS] = { 0 };
    for (unsigned k = 0; k < 3; k++)
        basis[k] = layout_shared_index(x->plan, side->layout, 0, 4u << k);
    for (unsigned k = 0; 1u << k < matrices(x->plan); k++)
        basis[3 + k] = layout_shared_index(x->plan, side->layout, side->slots[2u << k], 0);
    emit_thread(e, side, basis, "row");
}

static void emit_matrices(Emit *e, const Exchange *x)
{
    const Side *side = &x->store;
    const IrValue *from = x->op->args[0];
    const unsigned count = matrices(x->plan);
    const char *at = cuda_block_loop(e, side->count, 2 * count);
    const char *place = place_text(e, x, side, at);
    cuda_line(e, "unsigned words[%u];", count);
    for (unsigned i = 0; i < count; i++)
        cuda_line(e, "words[%u] = nt_pack(%s, %s);", i,
                  cuda_ref(e, from, slot_text(e, x, side, at, 2 * i)),
                  cuda_ref(e, from, slot_text(e, x, side, at, 2 * i + 1)));
    cuda_line(e, "nt_stmatrix<%u>(%s + (%s), words);", count, x->scratch, place);
    cuda_block_end(e);
}

static void emit_load(Emit *e, const Exchange *x, const char *name)
{
    const Side *side = &x->load;
    const IrValue *to = x->op->results[0];
    const char *at = cuda_block_loop(e, side->count, side->vec);
    const char *place = place_text(e, x, side, at);
    if (side->vec == 1) {
        cuda_line(e, "%s = %s[%s];", cuda_slot_of(e, to, name, slot_text(e, x, side, at, 0)), x->scratch,
                  place);
    } else {
        cuda_line(e, "%s;", cuda_decl(e, x->ctype, "group", side->vec));
        cuda_line(e, "nt_take<%u>(group, %s + (%s));", side->vec, x->scratch, place);
        for (unsigned i = 0; i < side->vec; i++)
            cuda_line(e, "%s = group[%u];", cuda_slot_of(e, to, name, slot_text(e, x, side, at, i)), i);
    }
    cuda_block_end(e);
}

bool cuda_emit_convert_warp(Emit *e, const IrOp *op, const ConvertPlan *plan)
{
    const IrValue *from = op->args[0], *to = op->results[0];
    Exchange x = {
        .op = op,
        .plan = plan,
        .ctype = cuda_ctype(e, to->type),
        .store = { from->layout, plan->store_slots, plan->store_piece, plan->store_count, plan->store_vec,
                   { "0", 0 } },
        .load = { to->layout, plan->load_slots, plan->load_piece, plan->load_count, plan->load_vec,
                  { "0", 0 } },
    };
    const bool by_matrices = plan->matrices && (e->opt->features & TARGET_STMATRIX) != 0 &&
                             cuda_place(e, from).kind == PLACE_ARRAY;
    if (op->smem < 0 || op->smem_bytes < plan->bytes << to->layout->warp_bits)
        return cuda_fault(e, op, "its scratch in shared memory is too small");
    const char *name = cuda_declare(e, to);
    e->needs |= NEED_SHARED | (by_matrices ? NEED_WARPS : 0);
    cuda_line(e, "{");
    e->body.indent++;
    x.scratch = cuda_name(e, "scratch");
    cuda_line(e, "NT_SHARED(%s, %s, %" PRId32 "%s + (%s >> 5) * %" PRIu32 ");", x.ctype, x.scratch,
              op->smem, cuda_team_offset(e),
              cuda_tid(e), plan->bytes);
    if (by_matrices)
        emit_matrix_thread(e, &x, &x.store);
    else
        emit_own_thread(e, &x, &x.store, "put");
    emit_own_thread(e, &x, &x.load, "take");
    x.p = cuda_dot_loop(e, "p", 1u << plan->piece_bits, 1);
    cuda_line(e, "__syncwarp();");
    if (by_matrices)
        emit_matrices(e, &x);
    else
        emit_store(e, &x);
    cuda_line(e, "__syncwarp();");
    emit_load(e, &x, name);
    cuda_block_end(e);
    e->body.indent--;
    cuda_line(e, "}");
    return true;
}
