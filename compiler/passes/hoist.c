/// hoist.c - issues loads before the first exchange between threads instead of behind it.
///
/// A reduction waits for all threads, and no compiler moves a load across that wait: a row's
/// weights, loaded where they are used, would cost their latency once more. A load that stands
/// behind a reduction or a conversion in the same block, with nothing between them that writes
/// memory, moves in front of the first of these, with the index arithmetic it needs, as long as the
/// blocks that are live there leave room for others: with 16 slots each of a row, its weight and
/// its bias that was worth 5 % on an H200, and what is larger costs more programs at a time than it
/// saves. Nor does a load move where registers let a multiprocessor be full without it and not with
/// it: other programs hide the latency then (8 slots each, rows of 1500: 53 us instead of 58).
/// Quotients and roots of single numbers that do not depend on the exchange move along, to be there
/// when it is over. Needs layouts.
#include "layout/layout.h"
#include "passes/axis_info.h"
#include "passes/pass.h"

enum { FILE_REGISTERS = 65536, MOST_REGISTERS = 48 };
// Of a multiprocessor; and what a thread needs besides blocks, for addresses, masks and partial
// results.
enum { MOST_WARPS = 64, MOST_PROGRAMS = 32, OTHER_REGISTERS = 20 };

typedef struct Hoist {
    const AxisInfo *axes;
    uint32_t limit;   ///< registers of a thread for blocks that stem from memory
    uint32_t full;    ///< ... with which a multiprocessor holds as many warps as it can
    uint32_t *last;   ///< by value id: number of the last operation that uses it
    uint32_t count;   ///< values of those arrays
    uint32_t number;  ///< of the last operation; operations of one block count up (IrOp.mark)
} Hoist;

/// Registers that a thread holds of a value; index arithmetic is recomputed rather than held.
static uint32_t registers(const Hoist *h, const IrValue *v)
{
    if (v->layout == NULL || v->id >= h->count || !axis_info_from_memory(h->axes, v))
        return 0;
    const unsigned bytes = type_elem_bytes(v->type);
    return (layout_regs(v->layout) * bytes + 3) / 4;
}

static void number_block(Hoist *h, IrBlock *b)
{
    for (IrOp *op = b->first; op != NULL; op = op->next) {
        op->mark = ++h->number;
        for (uint32_t r = 0; r < op->regionc; r++)
            number_block(h, op->regions[r]);
        // What an inner block uses is in use until the operation around it ends.
        for (uint32_t i = 0; i < op->argc; i++)
            if (op->args[i] != NULL)
                h->last[op->args[i]->id] = h->number;
    }
}

/// Registers of what was made before `where`, in its block or one around, and is used from there
/// on.
static uint32_t live_at(const Hoist *h, const IrOp *where)
{
    uint32_t sum = 0;
    for (const IrBlock *b = where->block; b != NULL; b = where->block) {
        for (uint32_t i = 0; i < b->argc; i++)
            sum += h->last[b->args[i]->id] >= where->mark ? registers(h, b->args[i]) : 0;
        for (const IrOp *op = b->first; op != where; op = op->next)
            for (uint32_t i = 0; i < op->resultc; i++)
                sum +=
                    h->last[op->results[i]->id] >= where->mark ? registers(h, op->results[i]) : 0;
        if (b->parent == NULL)
            break;
        where = b->parent;
    }
    return sum;
}

static bool is_exchange(const IrOp *op)
{
    return op->code == IR_REDUCE || op->code == IR_CARRY || op->code == IR_CONVERT;
}

static bool is_behind(const IrValue *v, const IrOp *where)
{
    return v->def != NULL && v->def->block == where->block && v->def->mark > where->mark;
}

/// True when `v` is there before `where`, or pure operations other than exchanges can give it
/// there.
static bool can_rise(const IrValue *v, const IrOp *where)
{
    if (v == NULL || !is_behind(v, where))
        return v == NULL || v->def != where;
    const IrOp *op = v->def;
    if (ir_op_info[op->code].effects != EFFECT_PURE || op->regionc > 0 || is_exchange(op))
        return false;
    for (uint32_t i = 0; i < op->argc; i++)
        if (!can_rise(op->args[i], where))
            return false;
    return true;
}

static void rise(IrOp *op, IrOp *where)
{
    for (uint32_t i = 0; i < op->argc; i++)
        if (op->args[i] != NULL && is_behind(op->args[i], where))
            rise(op->args[i]->def, where);
    ir_move_before(op, where);
    op->mark = where->mark;  // no longer behind it
}

/// Nothing moves across these.
static bool is_fence(const IrOp *op)
{
    return op->regionc > 0 || ir_has_effects(op) || op->code == IR_BARRIER ||
           (op->code == IR_LOAD && (op->attr.mem.is_volatile || op->attr.mem.cache == CACHE_CV));
}

/// A number that takes long and no room.
static bool is_slow_scalar(const IrOp *op)
{
    const bool is_slow = op->code == IR_DIV || op->code == IR_DIV_RN || op->code == IR_IDIV ||
                         op->code == IR_REM || op->code == IR_CDIV || op->code == IR_SQRT ||
                         op->code == IR_RSQRT;
    return is_slow && !type_is_block(op->results[0]->type);
}

/// Moves what is made of the operands in front of `where` if they can come along.
static void try_rise_scalar(IrOp *op, IrOp *where)
{
    if (can_rise(op->results[0], where))
        rise(op, where);
}

/// Moves a load in front of `where` if all it needs can come along and there is room.
static void try_rise(const Hoist *h, IrOp *load, IrOp *where)
{
    const uint32_t live = live_at(h, where), more = live + registers(h, load->results[0]);
    if (more > h->limit || (live <= h->full && more > h->full))
        return;
    for (uint32_t i = 0; i < load->argc; i++)
        if (!can_rise(load->args[i], where))
            return;
    rise(load, where);
}

static void run_block(Hoist *h, IrBlock *b)
{
    IrOp *exchange = NULL;  // the first one behind the last fence
    for (IrOp *op = b->first, *next; op != NULL; op = next) {
        next = op->next;
        for (uint32_t r = 0; r < op->regionc; r++)
            run_block(h, op->regions[r]);
        if (is_fence(op))
            exchange = NULL;
        else if (exchange == NULL && is_exchange(op))
            exchange = op;
        else if (exchange != NULL && op->code == IR_LOAD)
            try_rise(h, op, exchange);
        else if (exchange != NULL && is_slow_scalar(op))
            try_rise_scalar(op, exchange);
    }
}

bool pass_hoist(PassCtx *cx, IrFunc *fn)
{
    const uint32_t share = FILE_REGISTERS / (32u * fn->num_warps) / 2;
    const uint32_t warps =
        MOST_PROGRAMS * fn->num_warps < MOST_WARPS ? MOST_PROGRAMS * fn->num_warps : MOST_WARPS;
    Hoist h = { .axes = axis_info_compute(fn, cx->arena),
                .limit = share < MOST_REGISTERS ? share : MOST_REGISTERS,
                .full = FILE_REGISTERS / (32u * warps) - OTHER_REGISTERS,
                .last = ARENA_NEW_N(cx->arena, uint32_t, fn->value_count),
                .count = fn->value_count };
    number_block(&h, fn->body);
    run_block(&h, fn->body);
    return true;
}
