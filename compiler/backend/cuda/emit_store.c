/// emit_store.c - sums of warpgroups as tiles: through shared memory in the order of the copy
/// engine, which writes them on.
///
/// A warpgroup stores its part by itself, 64 rows by 128 bytes at a time, and takes turns between
/// two buffers: while one is read by the copy engine, the other is filled. The turn is kept from
/// one tile to the next, so a buffer is used again only after the store before the last has read
/// it. Where the map's boxes have 16 rows each warp does so with its part of the buffers.
#include "backend/cuda/emit_impl.h"

#include <inttypes.h>
#include <string.h>

enum {
    LINE_BYTES = 128,
    BUFFER_BYTES = 64 * LINE_BYTES,
    GROUP_BITS = 7,    // thread bits within a warpgroup
    FIRST_BARRIER = 3  // of the warpgroups
};

/// One TENSOR_STORE on its way.
typedef struct Store {
    const IrOp *op;
    const IrValue *value;
    const Layout *layout;
    const IrTensorMap *map;
    unsigned bytes;        // of an element
    unsigned chunk_bits;   // log2 of a thread's slots in one buffer
    unsigned column_bits;  // of an element's number
    const char *buffer;
    unsigned threads;      // that store together: a warpgroup's or a warp's
} Store;

static bool find_store(IrOp *op, void *cx)
{
    (void)cx;
    return op->code != IR_TENSOR_STORE;
}

static bool has_stores(const Emit *e)
{
    return !ir_walk((IrFunc *)e->fn, find_store, NULL);  // which changes nothing
}

void cuda_begin_stores(Emit *e)
{
    if (has_stores(e))
        cuda_line(e, "int %s = 0;", e->store_turn);
}

/// A warp has the 16 rows of a fragment.
static unsigned storing_threads(const IrTensorMap *map)
{
    for (unsigned k = 1; k < map->rank; k++)
        if (map->box[k] > 1)
            return map->box[k] * 2u;
    return 128;
}

static bool wait_at_end(IrOp *op, void *cx)
{
    Emit *e = cx;
    if (op->code != IR_TENSOR_STORE)
        return true;
    cuda_line(e, "if (%s %% %u == 0)", cuda_tid(e),
              storing_threads(&e->fn->maps[op->attr.pipe.map]));
    cuda_line(e, "    nt_tma_store_wait_read<0>();");
    return false;
}

void cuda_end_stores(Emit *e)
{
    ir_walk((IrFunc *)e->fn, wait_at_end, e);  // all stores are made by the same threads
}

/// The warpgroup's number in the block.
static const char *group_of(Emit *e)
{
    return e->team ? e->team : cuda_text(e, "(%s >> %d)", cuda_tid(e), GROUP_BITS);
}

static unsigned log2_of(unsigned n)
{
    unsigned bits = 0;
    while (n >> bits > 1)
        bits++;
    return bits;
}

/// The row or column of an element that bits of `var` make, as an expression; "0" when they move
/// none.
static const char *coordinate(Emit *e, const Store *s, const char *var, const uint32_t *basis,
                              unsigned bits, bool row)
{
    uint32_t moved[LAYOUT_MAX_BITS], image;
    for (unsigned k = 0; k < bits; k++)
        moved[k] =
            row ? basis[k] >> s->column_bits : basis[k] & ((UINT32_C(1) << s->column_bits) - 1);
    return strcmp(var, "0") == 0 ? "0" : cuda_linear(e, var, moved, bits, &image);
}

/// The coordinates of chunk `q` of this warpgroup, behind commas.
static const char *coordinates(Emit *e, const Store *s, const char *q)
{
    const Layout *l = s->layout;
    uint32_t groups[LAYOUT_MAX_BITS] = { 0 };
    Buf out = { 0 };
    for (unsigned k = GROUP_BITS; k < LAYOUT_LANE_BITS + (unsigned)l->warp_bits; k++)
        groups[k] = l->basis[l->reg_bits + k];
    for (unsigned k = 0; k < s->map->rank; k++) {
        buf_printf(&out, ", %s", cuda_ref(e, s->op->args[1 + k], "0"));
        if (k > 0 && s->map->box[k] == 1)
            continue;
        const char *group =
            coordinate(e, s, cuda_tid(e), groups, LAYOUT_LANE_BITS + l->warp_bits, k > 0);
        const char *chunk =
            coordinate(e, s, q, l->basis + s->chunk_bits, l->reg_bits - s->chunk_bits, k > 0);
        if (strcmp(group, "0") != 0)
            buf_printf(&out, " + (%s)", group);
        if (strcmp(chunk, "0") != 0)
            buf_printf(&out, " + (%s)", chunk);
        if (k > 0 && s->threads == 32)
            buf_printf(&out, " + (%s >> 5 & 3) * 16", cuda_tid(e));
    }
    const char *text = arena_strndup(e->arena, out.at, out.len);
    buf_free(&out);
    return text;
}

/// Slot `at` of chunk `q`.
static const char *slot_of(Emit *e, const Store *s, const char *q, const char *j, unsigned step,
                           unsigned at)
{
    return cuda_ref(e, s->value,
                    cuda_text(e, "%s * %u + %s * %u + %u", q, 1u << s->chunk_bits, j, step, at));
}

/// 16 columns at a time: four matrices, whose rows lanes 0 to 15 and 16 to 31 name.
static void emit_matrices(Emit *e, const Store *s, const char *q)
{
    const char *tid = cuda_tid(e);
    cuda_line(e, "NT_UNROLL for (int j = 0; j < %u; j++) {", (1u << s->chunk_bits) / 8);
    e->body.indent++;
    cuda_line(e, "unsigned words[4];");
    for (unsigned i = 0; i < 4; i++)
        cuda_line(e, "words[%u] = nt_pack(%s, %s);", i, slot_of(e, s, q, "j", 8, 2 * i),
                  slot_of(e, s, q, "j", 8, 2 * i + 1));
    cuda_line(e,
              "nt_stmatrix<4>(%s + (%s >> 5 & 3) * 1024 + (%s & 15) * 64 + "
              "((%s >> 4 & 1) + j * 2 ^ %s & 7) * 8, words);",
              s->buffer, tid, tid, tid, tid);
    e->body.indent--;
    cuda_line(e, "}");
}

/// 8 columns of 4 bytes at a time: two neighbours of two rows.
static void emit_pairs(Emit *e, const Store *s, const char *q)
{
    const char *tid = cuda_tid(e), *ctype = cuda_ctype(e, s->value->type);
    cuda_line(e, "NT_UNROLL for (int j = 0; j < %u; j++) {", (1u << s->chunk_bits) / 4);
    e->body.indent++;
    for (unsigned half = 0; half < 2; half++) {
        cuda_line(e, "%s pair_%u[2];", ctype, half);
        for (unsigned i = 0; i < 2; i++)
            cuda_line(e, "pair_%u[%u] = %s;", half, i, slot_of(e, s, q, "j", 4, 2 * half + i));
        cuda_line(e,
                  "nt_put<2>(%s + ((%s >> 5 & 3) * 16 + (%s >> 2 & 7) + %u) * 32 + "
                  "(j * 2 + (%s >> 1 & 1) ^ %s >> 2 & 7) * 4 + (%s & 1) * 2, pair_%u);",
                  s->buffer, tid, tid, half * 8, tid, tid, tid, half);
    }
    e->body.indent--;
    cuda_line(e, "}");
}

static void emit_chunk(Emit *e, const Store *s, const char *ring, const char *q)
{
    const char *tid = cuda_tid(e);
    const bool by_warp = s->threads == 32;
    const char *barrier =
        by_warp ? "__syncwarp();"
                : cuda_text(e, "nt_named_barrier(%d + %s, 128);", FIRST_BARRIER, group_of(e));
    const char *from = by_warp ? cuda_text(e, "%s + (%s >> 5 & 3) * %u", s->buffer, tid,
                                           BUFFER_BYTES / 4 / s->bytes)
                               : s->buffer;
    cuda_line(e, "if (%s %% %u == 0)", tid, s->threads);
    cuda_line(e, "    nt_tma_store_wait_read<1>();");
    cuda_line(e, "%s", barrier);
    cuda_line(e, "const auto %s = %s + %s / %u;", s->buffer, ring, e->store_turn, s->bytes);
    if (s->bytes == 2)
        emit_matrices(e, s, q);
    else
        emit_pairs(e, s, q);
    cuda_line(e, "nt_fence_async();");
    cuda_line(e, "%s", barrier);
    cuda_line(e, "if (%s %% %u == 0) {", tid, s->threads);
    cuda_line(e, "    nt_tma_store<%u>(&%s, %s%s);", s->map->rank, e->maps[s->op->attr.pipe.map], from,
              coordinates(e, s, q));
    cuda_line(e, "    nt_tma_store_commit();");
    cuda_line(e, "}");
    cuda_line(e, "%s ^= %d;", e->store_turn, BUFFER_BYTES);
}

bool cuda_emit_tensor_store(Emit *e, const IrOp *op)
{
    const IrValue *value = op->args[0];
    const IrRing *ring = &e->fn->rings[op->attr.pipe.ring];
    Store s = { .op = op,
                .value = value,
                .layout = value->layout,
                .map = &e->fn->maps[op->attr.pipe.map],
                .bytes = type_elem_bytes(value->type),
                .threads = storing_threads(&e->fn->maps[op->attr.pipe.map]) };
    s.chunk_bits = log2_of(LINE_BYTES / s.bytes) - 1;
    s.column_bits = log2_of((unsigned)value->type->shape[type_rank(value->type) - 1]);
    if (s.layout->reg_bits < s.chunk_bits)
        return cuda_fault(e, op, "a warpgroup holds less than a line");
    e->needs |= NEED_TMA | NEED_WARPS | NEED_ASYNC | NEED_SHARED | NEED_CONVERT;
    cuda_line(e, "{");
    e->body.indent++;
    const char *staged = cuda_name(e, "staged"), *q = "0";
    s.buffer = cuda_name(e, "buffer");
    cuda_line(e, "NT_SHARED(%s, %s, %" PRIu32 " + %s * %d);", cuda_ctype(e, value->type), staged,
              ring->smem, group_of(e), 2 * BUFFER_BYTES);
    const unsigned chunks = 1u << (s.layout->reg_bits - s.chunk_bits);
    if (chunks > 1) {
        q = cuda_name(e, "q");
        cuda_line(e, "NT_UNROLL for (int %s = 0; %s < %u; %s++) {", q, q, chunks, q);
        e->body.indent++;
    }
    emit_chunk(e, &s, staged, q);
    if (chunks > 1) {
        e->body.indent--;
        cuda_line(e, "}");
    }
    e->body.indent--;
    cuda_line(e, "}");
    return true;
}
