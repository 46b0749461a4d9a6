/// emit_pipe.c - a producer beside the other warps: the two sides of the text, pipes between them,
/// copies of tiles.
///
/// A pipe's barriers and each side's position in it (stage_<p>, parity_<p>) are variables of the
/// whole text; positions are counted where pipes are used, so they live through any control flow.
/// Where there is a producer, the barriers of the program are those of the consumers' threads
/// alone.
#include "backend/cuda/emit_impl.h"

#include <inttypes.h>

enum { CONSUMER_BARRIER = 1, REGISTER_STEP = 8, FEW_REGISTERS = 40, FEWEST_REGISTERS = 32 };

const char *cuda_barrier(Emit *e)
{
    if (!e->fn->producer)
        return "__syncthreads();";
    e->needs |= NEED_ASYNC;
    if (e->team)
        return cuda_text(e, "nt_named_barrier(%d + %s, %u);", CONSUMER_BARRIER, e->team,
                         32u * e->fn->num_warps);
    return cuda_text(e, "nt_named_barrier(%d, %u);", CONSUMER_BARRIER, 32u * e->fn->num_warps);
}

const char *cuda_team_offset(Emit *e)
{
    if (!e->team || e->fn->team_bytes == 0)
        return "";
    return cuda_text(e, " + %s * %" PRIu32, e->team, e->fn->team_bytes);
}

void cuda_name_pipes(Emit *e)
{
    static const char *const extents[] = { "grid_x", "grid_y", "grid_z" };
    const IrFunc *fn = e->fn;
    e->maps = ARENA_NEW_N(e->arena, const char *, fn->map_count + 1u);
    e->pipes = ARENA_NEW_N(e->arena, EmitPipe, fn->pipe_count + 1u);
    for (unsigned i = 0; i < fn->map_count; i++) {
        const Sym name = fn->params[fn->maps[i].param].name;
        e->maps[i] = cuda_name(e, cuda_text(e, "map_%s", name ? name->text : ""));
    }
    for (unsigned i = 0; i < fn->pipe_count; i++)
        e->pipes[i] = (EmitPipe){ cuda_name(e, cuda_text(e, "full_%u", i)),
                                  cuda_name(e, cuda_text(e, "free_%u", i)),
                                  cuda_name(e, cuda_text(e, "stage_%u", i)),
                                  cuda_name(e, cuda_text(e, "parity_%u", i)) };
    for (unsigned i = 0; i < 3 && fn->is_persistent; i++)
        e->grid[i] = cuda_name(e, extents[i]);
    if (fn->producer)
        e->store_turn = cuda_name(e, "store_turn");
    if (fn->num_ctas > 1)
        e->rank = cuda_name(e, "rank");
    if (fn->teams > 1) {
        e->team = cuda_name(e, "team");
        e->team_turns = cuda_name(e, "turns");
        e->turn_parity = cuda_name(e, "turn_parity");
    }
}

/* ---- pipes ---- */

/// The stage at hand as the operation's result.
static const char *emit_slot(Emit *e, const IrOp *op)
{
    const unsigned pipe = op->attr.pipe.pipe;
    const char *slot = "0";
    if (e->fn->pipes[pipe].stages > 1) {
        slot = cuda_value_name(e, op->results[0]);
        cuda_line(e, "const int %s = %s;", slot, e->pipes[pipe].stage);
    }
    cuda_set_place(e, op->results[0], PLACE_SAME, slot);
    return slot;
}

/// Steps to the next stage.
static void emit_advance(Emit *e, unsigned pipe)
{
    const unsigned stages = e->fn->pipes[pipe].stages;
    const EmitPipe *name = &e->pipes[pipe];
    if (stages == 1) {
        cuda_line(e, "%s ^= 1;", name->parity);
        return;
    }
    cuda_line(e, "if (++%s == %u)", name->stage, stages);
    cuda_line(e, "    %s = 0, %s ^= 1;", name->stage, name->parity);
}

bool cuda_emit_pipe_acquire(Emit *e, const IrOp *op)
{
    const unsigned pipe = op->attr.pipe.pipe;
    const EmitPipe *name = &e->pipes[pipe];
    const char *slot = emit_slot(e, op);
    cuda_line(e, "nt_mbar_wait(%s + %s, %s ^ 1);", name->free, slot, name->parity);
    cuda_line(e, "nt_mbar_expect(%s + %s, %" PRIu32 ");", name->full, slot,
              e->fn->pipes[pipe].bytes);
    emit_advance(e, pipe);
    return true;
}

bool cuda_emit_pipe_wait(Emit *e, const IrOp *op)
{
    const EmitPipe *name = &e->pipes[op->attr.pipe.pipe];
    const char *slot = emit_slot(e, op);
    cuda_line(e, "nt_mbar_wait(%s + %s, %s);", name->full, slot, name->parity);
    emit_advance(e, op->attr.pipe.pipe);
    return true;
}

bool cuda_emit_pipe_release(Emit *e, const IrOp *op)
{
    const char *free = e->pipes[op->attr.pipe.pipe].free, *slot = cuda_ref(e, op->args[0], "0");
    cuda_line(e, "__syncwarp();");
    if (e->rank) {  // in both blocks: the copies of either may go to both
        cuda_line(e, "if (%s %% 32 < %u)", cuda_tid(e), e->fn->num_ctas);
        cuda_line(e, "    nt_mbar_arrive_at(%s + %s, %s %% 32);", free, slot, cuda_tid(e));
        return true;
    }
    cuda_line(e, "if (%s %% 32 == 0)", cuda_tid(e));
    cuda_line(e, "    nt_mbar_arrive(%s + %s);", free, slot);
    return true;
}

bool cuda_emit_pipe_skip(Emit *e, const IrOp *op)
{
    const EmitPipe *name = &e->pipes[op->attr.pipe.pipe];
    const unsigned stages = e->fn->pipes[op->attr.pipe.pipe].stages;
    const char *count = cuda_ref(e, op->args[0], "0"), *to = cuda_name(e, "to");
    if (stages == 1) {
        cuda_line(e, "%s ^= %s & 1;", name->parity, count);
        return true;
    }
    cuda_line(e, "const unsigned %s = %s + %s;", to, name->stage, count);
    cuda_line(e, "%s = (int)(%s %% %u), %s ^= %s / %u & 1;", name->stage, to, stages, name->parity,
              to, stages);
    return true;
}

/* ---- teams ---- */

bool cuda_emit_team_id(Emit *e, const IrOp *op)
{
    cuda_set_place(e, op->results[0], PLACE_SAME, e->team);
    return true;
}

bool cuda_emit_team_take(Emit *e, const IrOp *op)
{
    (void)op;
    cuda_line(e, "nt_mbar_wait(%s + %s, %s);", e->team_turns, e->team, e->turn_parity);
    cuda_line(e, "%s ^= 1;", e->turn_parity);
    return true;
}

bool cuda_emit_team_pass(Emit *e, const IrOp *op)
{
    (void)op;
    cuda_line(e, "__syncwarp();");
    cuda_line(e, "if (%s %% 32 == 0)", cuda_tid(e));
    cuda_line(e, "    nt_mbar_arrive(%s + (%s ^ 1));", e->team_turns, e->team);
    return true;
}

/* ---- copies ---- */

/// How the copies of one tile are written.
typedef enum CopyKind { COPY_PLAIN, COPY_EVICT, COPY_SHARED } CopyKind;

/// One copy moves a box: a chunk of the tile's fast axis, some rows of it. Of shared ones, each block of the
/// pair makes every other for both.
static void emit_copies(Emit *e, const IrOp *op, CopyKind kind, const char *to)
{
    static const char *const names[] = { "", "_hint", "_multicast" };
    const IrRing *ring = &e->fn->rings[op->attr.pipe.ring];
    const IrTensorMap *map = &e->fn->maps[op->attr.pipe.map];
    const unsigned bytes = type_elem_bytes(ring->block), rank = type_rank(ring->block);
    const unsigned slow = ring->fast == rank - 1 ? rank - 2 : rank - 1;
    const unsigned line = (unsigned)ring->block->shape[ring->fast],
                   rows = (unsigned)ring->block->shape[slow], width = map->box[0];
    unsigned tall = 0, number = 0;  // the dimension of the rows; the others have one coordinate
    for (unsigned k = 1; k < map->rank; k++)
        tall = map->box[k] > 1 ? k : tall;
    const unsigned height = tall ? map->box[tall] : rows;
    const char *policy = kind == COPY_EVICT    ? ", nt_policy_evict_first()"
                         : kind == COPY_SHARED ? cuda_text(e, ", %u", (1u << e->fn->num_ctas) - 1)
                                               : "";
    for (unsigned x = 0; x < line; x += width) {
        for (unsigned y = 0; y < rows; y += height, number++) {
            Buf coords = { 0 };
            for (unsigned k = 0; k < map->rank; k++) {
                buf_printf(&coords, ", %s", cuda_ref(e, op->args[1 + k], "0"));
                const unsigned shift = k == 0 ? x : k == tall ? y : 0;
                if (shift)
                    buf_printf(&coords, " + %u", shift);
            }
            if (kind == COPY_SHARED)
                cuda_line(e, "if (%s == %u)", e->rank, number % e->fn->num_ctas);
            cuda_line(e, "%snt_tma_load%s<%u>(%s + %u, &%s, %s + %s%s%s);",
                      kind == COPY_SHARED ? "    " : "", names[kind], map->rank, to,
                      (x / width * rows + y) * width * bytes, e->maps[op->attr.pipe.map],
                      e->pipes[op->attr.pipe.pipe].full, cuda_ref(e, op->args[0], "0"), policy,
                      coords.at);
            buf_free(&coords);
        }
    }
}

bool cuda_emit_tensor_load(Emit *e, const IrOp *op)
{
    const IrRing *ring = &e->fn->rings[op->attr.pipe.ring];
    const CopyKind alone = op->attr.pipe.evict_first ? COPY_EVICT : COPY_PLAIN;
    const char *to = cuda_name(e, "tile");
    e->needs |= NEED_TMA;
    cuda_line(e, "NT_SHARED(unsigned char, %s, %" PRIu32 " + %s * %" PRIu32 ");", to, ring->smem,
              cuda_ref(e, op->args[0], "0"), ring->bytes);
    if (!op->attr.pipe.multicast) {
        emit_copies(e, op, alone, to);
        return true;
    }
    cuda_line(e, "if (%s) {", cuda_ref(e, op->args[op->argc - 1], "0"));
    e->body.indent++;
    emit_copies(e, op, COPY_SHARED, to);
    e->body.indent--;
    cuda_line(e, "} else {");
    e->body.indent++;
    emit_copies(e, op, alone, to);
    e->body.indent--;
    cuda_line(e, "}");
    return true;
}

/* ---- blocks and programs ---- */

static bool emit_int(Emit *e, const IrOp *op, const char *text)
{
    const char *name = cuda_value_name(e, op->results[0]);
    cuda_line(e, "const int %s = (int)%s;", name, text);
    cuda_set_place(e, op->results[0], PLACE_SAME, name);
    return true;
}

bool cuda_emit_block_id(Emit *e, const IrOp *op)
{
    return emit_int(e, op, "blockIdx.x");
}

bool cuda_emit_block_count(Emit *e, const IrOp *op)
{
    return emit_int(e, op, "gridDim.x");
}

/* ---- the two sides ---- */

/// Registers of the threads at entry; the register file's share, rounded down.
static unsigned registers_at_entry(const IrFunc *fn)
{
    const unsigned share = 65536 / cuda_threads(fn) / REGISTER_STEP * REGISTER_STEP;
    return share > 248 ? 248 : share;
}

/// What a producer of four warps gives up the others share.
static void registers_of(const IrFunc *fn, unsigned *few, unsigned *many)
{
    const unsigned producers = 32u * fn->producer_warps, consumers = cuda_threads(fn) - producers;
    *few = consumers <= 256 ? FEW_REGISTERS : FEWEST_REGISTERS;
    *many = (registers_at_entry(fn) * cuda_threads(fn) - *few * producers) / consumers /
            REGISTER_STEP * REGISTER_STEP;
    if (*many > 240)
        *many = 240;
}

/// The maps come to the multiprocessor meanwhile: the first copy does not wait for its own, nor the last one.
static void emit_map_prefetch(Emit *e)
{
    cuda_line(e, "if (threadIdx.x == %u) {", cuda_threads(e->fn) - 32u * e->fn->producer_warps);
    for (unsigned i = 0; i < e->fn->map_count; i++)
        cuda_line(e, "    nt_tma_prefetch(&%s);", e->maps[i]);
    cuda_line(e, "}");
}

static void emit_barriers(Emit *e)
{
    const IrFunc *fn = e->fn;
    for (unsigned i = 0; i < fn->pipe_count; i++) {
        const uint32_t full = fn->pipes[i].smem, free = full + 8u * fn->pipes[i].stages;
        cuda_line(e, "NT_SHARED(unsigned long long, %s, %" PRIu32 ");", e->pipes[i].full, full);
        cuda_line(e, "NT_SHARED(unsigned long long, %s, %" PRIu32 ");", e->pipes[i].free, free);
    }
    if (e->team)
        cuda_line(e, "NT_SHARED(unsigned long long, %s, %" PRIu32 ");", e->team_turns, fn->turn_smem);
    cuda_line(e, e->team ? "if (threadIdx.x == 0) {" : "if (tid == 0) {");
    e->wants_tid = true;
    e->body.indent++;
    for (unsigned i = 0; i < 2 && e->team; i++)
        cuda_line(e, "nt_mbar_init(%s + %u, %u);", e->team_turns, i, fn->num_warps);
    for (unsigned i = 0; i < fn->pipe_count; i++) {
        cuda_line(e, "for (int s = 0; s < %u; s++) {", fn->pipes[i].stages);
        cuda_line(e, "    nt_mbar_init(%s + s, 1);", e->pipes[i].full);
        cuda_line(e, "    nt_mbar_init(%s + s, %u);", e->pipes[i].free,
                  fn->num_warps * (e->rank ? fn->num_ctas : 1u));
        cuda_line(e, "}");
    }
    cuda_line(e, "nt_mbar_init_fence();");
    e->body.indent--;
    cuda_line(e, "}");
    emit_map_prefetch(e);
    cuda_line(e, e->rank ? "nt_cluster_sync();" : "__syncthreads();");
    if (e->rank)
        cuda_line(e, "const unsigned %s = blockIdx.x %% %u;", e->rank, fn->num_ctas);
    for (unsigned i = 0; i < fn->pipe_count; i++) {
        if (fn->pipes[i].stages > 1)
            cuda_line(e, "int %s = 0;", e->pipes[i].stage);
        cuda_line(e, "unsigned %s = 0;", e->pipes[i].parity);
    }
}

static bool emit_producer(Emit *e)
{
    const IrFunc *producer = e->fn->producer;
    for (uint32_t i = 0; i < producer->body->argc; i++)
        e->places[producer->body->args[i]->id] = cuda_place(e, e->fn->body->args[i]);
    if (e->team)
        cuda_line(e, "if (%s == %u && %s == 0) {", e->team, e->fn->teams, cuda_tid(e));
    else
        cuda_line(e, "if (%s == %u) {", cuda_tid(e), 32u * e->fn->num_warps);
    e->body.indent++;
    const bool ok = cuda_emit_ops(e, producer->body);
    e->body.indent--;
    cuda_line(e, "}");
    return ok;
}

bool cuda_emit_sides(Emit *e)
{
    const IrFunc *fn = e->fn;
    const bool moves =
        fn->producer_warps % 4 == 0 && fn->num_warps % 4 == 0 && cuda_register_limit(e) == 0;
    unsigned few, many;
    registers_of(fn, &few, &many);
    e->needs |= NEED_MBARRIER | (moves ? NEED_WARPS : 0) | (e->rank ? NEED_CLUSTER : 0);
    emit_barriers(e);
    if (e->team)
        cuda_line(e, "if (%s >= %u) {", e->team, fn->teams);
    else
        cuda_line(e, "if (%s >= %u) {", cuda_tid(e), 32u * fn->num_warps);
    e->body.indent++;
    if (moves)
        cuda_line(e, "nt_registers_down<%u>();", few);
    bool ok = emit_producer(e);
    e->body.indent--;
    cuda_line(e, "} else {");
    e->body.indent++;
    if (moves)
        cuda_line(e, "nt_registers_up<%u>();", many);
    if (e->team)
        cuda_line(e, "unsigned %s = %s ^ 1;", e->turn_parity, e->team);
    cuda_begin_stores(e);
    ok = ok && cuda_emit_ops(e, fn->body);
    cuda_end_stores(e);
    e->body.indent--;
    cuda_line(e, "}");
    if (e->rank) {  // no block ends while the other one may still write to its shared memory
        cuda_line(e, "__syncwarp();");
        cuda_line(e, "nt_cluster_sync();");
    }
    return ok;
}
