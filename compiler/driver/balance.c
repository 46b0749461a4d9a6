/// balance.c - see balance.h.
///
/// The figures of a multiprocessor are those of server chips, by clock: 64 bytes from the L2, some
/// 20 from memory, 4 instructions of a warp, and 4096 operations of a warpgroup's products of
/// 16-bit factors (twice as many of factors half as wide), half of that for a warp's.
#include "driver/balance.h"
#include <stdint.h>

enum { L2_BYTES = 64, MEMORY_BYTES = 20, ISSUED = 4, WARP = 32 };
enum {
    OF_WARPGROUPS = 8192,
    OF_WARPS = 4096,
    OF_THREADS = 256
};  // operations times factor's bytes

static double product_operations(const IrOp *op)
{
    const Type *left = op->args[0]->type;
    const unsigned rank = type_rank(op->results[0]->type);
    return 2.0 * (double)op->results[0]->type->numel * (double)left->shape[rank - 1];
}

static void add_op(const IrOp *op, Balance *out)
{
    if (op->code == IR_DOT) {
        out->operations += product_operations(op);
        out->factor = type_elem_bytes(op->args[0]->type);
        out->inner = op->args[0]->type->shape[type_rank(op->args[0]->type) - 1];
    } else if (op->code == IR_LOAD || op->code == IR_STORE || op->code == IR_ATOMIC_RMW) {
        const Type *moved = op->code == IR_LOAD ? op->results[0]->type : op->args[1]->type;
        const double count = type_is_block(moved) ? (double)moved->numel : 1.0;
        out->bytes += count * type_elem_bytes(moved);
    }
}

/// `all` takes everything, `loops` what stands in loops that have products.
static Balance add_block(const IrBlock *b, Balance *loops)
{
    Balance all = { 0 };
    for (const IrOp *op = b->first; op; op = op->next) {
        Balance inner = { 0 };
        add_op(op, &inner);
        for (uint32_t r = 0; r < op->regionc; r++) {
            const Balance part = add_block(op->regions[r], loops);
            inner.operations += part.operations;
            inner.bytes += part.bytes;
            inner.factor = part.factor ? part.factor : inner.factor;
            inner.inner = part.factor ? part.inner : inner.inner;
        }
        const bool is_loop = op->code == IR_FOR || op->code == IR_WHILE;
        if (is_loop && inner.factor && !loops->factor)
            *loops = inner;
        all.operations += inner.operations;
        all.bytes += inner.bytes;
        all.factor = inner.factor ? inner.factor : all.factor;
        all.inner = inner.factor ? inner.inner : all.inner;
    }
    return all;
}

void balance_count(const IrFunc *fn, Balance *out)
{
    Balance loops = { 0 };
    const Balance all = add_block(fn->body, &loops);
    *out = loops.factor ? loops : all;
}

static bool note_product(IrOp *op, void *cx)
{
    Balance *out = cx;
    out->by_warpgroups |= op->code == IR_DOT && op->attr.dot.wgmma;
    return true;
}

void balance_note_products(const IrFunc *fn, Balance *out)
{
    ir_walk((IrFunc *)(uintptr_t)fn, note_product, out);  // changes nothing
}

static bool has_class(const SassSummary *s, SassClass cls)
{
    for (unsigned i = 0; i < SASS_OP_COUNT; i++)
        if (sass_info[i].cls == cls)
            for (unsigned w = 0; w < SASS_WIDTH_COUNT; w++)
                if (s->count[i][w])
                    return true;
    return false;
}

void balance_print(const Balance *b, const Target *t, const SassSummary *sass, unsigned threads,
                   Buf *out)
{
    if (b->bytes <= 0)
        return;
    if (b->factor) {
        const bool is_matrix = has_class(sass, SASS_MATRIX);
        const unsigned clock =
            is_matrix ? (target_has(t, TARGET_WGMMA) ? OF_WARPGROUPS : OF_WARPS) / b->factor
                      : OF_THREADS;
        const double found = b->operations / b->bytes, least = (double)clock / L2_BYTES;
        buf_printf(out, "%.0f operations of products a byte: bound by %s (%s %.0f)\n", found,
                   found < least ? "loads"
                   : is_matrix   ? "tensor cores"
                                 : "arithmetic",
                   found < least ? "below" : "from", least);
        return;
    }
    const double warps = (double)threads / WARP;
    const bool is_slow = sass->total * warps / ISSUED > b->bytes / MEMORY_BYTES;
    buf_printf(out, "%.0f bytes moved by %.0f instructions of warps: bound by %s\n", b->bytes,
               sass->total * warps, is_slow ? "instructions" : "memory");
}
