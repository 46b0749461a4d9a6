/// dot_carry.c - lets the products of one iteration run on into the next.
///
/// Needs layouts, the plan of shared memory, and loops as specialize leaves them:
///
///     for ... c: slot = pipe_wait; ... c' = dot (tile slot) (tile slot) c; pipe_release slot; yield c'
///
/// The matrix instructions of an iteration are then waited for behind the start of the next one's,
/// so that a warpgroup which multiplies alone leaves no gap between them, and their stage is handed
/// back an iteration late:
///
///     for ... c, last: slot = pipe_wait; c' = dot ...; dot_wait {groups=1}; if last >= 0: pipe_release last
///     dot_wait {groups=0}; if last >= 0: pipe_release last
///
/// A carried sum lives in the same registers throughout, and nothing but its product touches it.
///
/// Where a factor goes through registers (layout_dot_swaps) the emitter prints the body twice, so that each
/// iteration finds registers that the one before does not read.
#include "layout/layout.h"
#include "passes/pass.h"

enum {
    MIN_STAGES = 3,    // of the pipe: one is held while another is multiplied and a third one filled
    MOST_PRODUCTS = 4, // of an iteration
    CHIP_REGISTERS = 65536,
    OTHER_REGISTERS = 48,    // of a thread, beside sums and factors
    PRODUCER_REGISTERS = 40  // of a thread of its warpgroup
};

/// A loop and what is special in its body.
typedef struct Carry {
    IrFunc *fn;
    IrOp *loop;
    IrBlock *body;
    IrOp *wait, *release;
    IrOp *dots[MOST_PRODUCTS];
    uint32_t dot_count;
} Carry;

static uint32_t uses_in(const IrBlock *b, const IrValue *v)
{
    uint32_t count = 0;
    for (const IrOp *op = b->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->argc; i++)
            count += op->args[i] == v;
        for (uint32_t r = 0; r < op->regionc; r++)
            count += uses_in(op->regions[r], v);
    }
    return count;
}

/// The factor lies in the stage of the pipe that the body waits for.
static bool is_in_stage(const Carry *c, const IrValue *factor)
{
    const IrOp *tile = ir_tile_of(factor);
    return tile && c->wait && tile->args[0] == c->wait->results[0];
}

/// A factor that goes through registers takes them twice, for this iteration and the one before.
static bool has_room(const IrFunc *fn, const IrOp *dot)
{
    const uint32_t threads = 32u * fn->num_warps,
                   team_warps = fn->num_warps * (fn->teams > 1 ? fn->teams : 1u);
    const uint32_t room = (CHIP_REGISTERS / 32 - 4 * PRODUCER_REGISTERS) / team_warps - OTHER_REGISTERS;
    return (dot->results[0]->type->numel + 2 * dot->args[1]->type->numel) / threads <= room;
}

/// A product of two tiles that adds to a carried sum, which nobody else looks at.
static bool can_run_on(const Carry *c, const IrOp *dot)
{
    const IrValue *sum = dot->args[2], *result = dot->results[0];
    if (!dot->attr.dot.wgmma || dot->attr.dot.async || dot->smem_bytes > 0 ||
        type_elem_bytes(result->type) != sizeof(float) ||
        (layout_dot_swaps(c->fn, dot) && !has_room(c->fn, dot)))
        return false;
    return is_in_stage(c, dot->args[0]) && is_in_stage(c, dot->args[1]) && sum->def == NULL &&
           sum->block == c->body && sum->index > 0 &&
           c->body->last->args[sum->index - 1] == result && uses_in(c->body, sum) == 1 &&
           uses_in(c->body, result) == 1;
}

/// Beside the products there is nothing but one stage of one pipe and arithmetic that exchanges nothing.
static bool find_parts(Carry *c)
{
    for (IrOp *op = c->body->first; op; op = op->next) {
        if (op->regionc > 0)
            return false;
        if (op->code == IR_DOT) {
            if (c->dot_count == MOST_PRODUCTS || c->release || !can_run_on(c, op))
                return false;
            c->dots[c->dot_count++] = op;
        } else if (op->code == IR_PIPE_WAIT && !c->wait) {
            c->wait = op;
        } else if (op->code == IR_PIPE_RELEASE && c->wait && !c->release) {
            c->release = op;
        } else if (ir_has_effects(op) || op->smem_bytes > 0) {
            return false;
        }
    }
    return c->dot_count > 0 && c->release && c->release->args[0] == c->wait->results[0] &&
           c->fn->pipes[c->wait->attr.pipe.pipe].stages >= MIN_STAGES;
}

static void be_like(IrValue *v, const IrValue *model)
{
    v->layout = model->layout;
    v->hint = model->hint;
}

/// The loop with one more carried value, the stage that is still held; -1: none.
static IrOp *widen(const Carry *c, IrBuilder *b, Arena *scratch)
{
    const IrOp *loop = c->loop;
    const uint32_t count = loop->resultc;
    const Type *i32 = type_scalar(c->fn->types, SCALAR_I32),
               **types = ARENA_NEW_N(scratch, const Type *, count + 1u);
    IrValue **args = ARENA_NEW_N(scratch, IrValue *, loop->argc + 1u);
    for (uint32_t i = 0; i < loop->argc; i++)
        args[i] = loop->args[i];
    args[loop->argc] = ir_const_int(b, i32, -1);
    for (uint32_t i = 0; i < count; i++)
        types[i] = loop->results[i]->type;
    types[count] = i32;
    IrOp *wide = ir_op(b, IR_FOR, loop->argc + 1, args, (IrResults){ count + 1, types }, 1);
    wide->attr = loop->attr;
    for (uint32_t i = 0; i < c->body->argc; i++) {
        const IrValue *old = c->body->args[i];
        be_like(ir_block_arg(c->fn, wide->regions[0], old->type, old->hint), old);
    }
    ir_block_arg(c->fn, wide->regions[0], i32, sym_of(c->fn->syms, "held"));
    for (uint32_t i = 0; i < count; i++)
        be_like(wide->results[i], loop->results[i]);
    return wide;
}

/// Hands a stage back unless it is -1.
static void hand_back(const Carry *c, IrBuilder *b, IrValue *slot)
{
    IrValue *is_held = ir_binary(b, IR_GE, slot, ir_const_int(b, slot->type, 0));
    IrOp *choice = ir_op(b, IR_IF, 1, &is_held, (IrResults){ 0, NULL }, 2);
    IrBuilder in = { .fn = c->fn, .block = choice->regions[0], .span = c->release->span };
    ir_op0(&in, IR_PIPE_RELEASE, 1, &slot)->attr = c->release->attr;
    ir_op0(&in, IR_YIELD, 0, NULL);
    in.block = choice->regions[1];
    ir_op0(&in, IR_YIELD, 0, NULL);
}

/// Waits until all groups but the newest `groups` have ended; `sum` is of the last product that may go on.
static IrValue *wait_for(IrBuilder *b, IrValue *sum, uint32_t groups)
{
    IrValue *waited = ir_op1(b, IR_DOT_WAIT, sum->type, 1, &sum);
    be_like(waited, sum);
    waited->def->attr.groups = (uint8_t)groups;
    return waited;
}

/// Moves the body into the new loop and has it wait for what the iteration before began.
static void fill(const Carry *c, IrOp *wide, Arena *scratch)
{
    IrBlock *to = wide->regions[0];
    IrOp *old = c->body->last;
    const uint32_t count = old->argc;
    IrBuilder b = { .fn = c->fn, .block = to, .span = c->release->span };
    IrValue **out = ARENA_NEW_N(scratch, IrValue *, count + 1u), *slot = c->wait->results[0];
    IrOp *yield = ir_op0(&b, IR_YIELD, 0, NULL);
    for (IrOp *op = c->body->first, *next; op != old; op = next) {
        next = op->next;
        if (op != c->release)
            ir_move_before(op, yield);
    }
    const IrOp *last = c->dots[c->dot_count - 1];
    b.before = last->next;
    IrValue *waited = wait_for(&b, last->results[0], c->dot_count);
    hand_back(c, &b, to->args[c->body->argc]);
    for (uint32_t i = 0; i < count; i++)
        out[i] = old->args[i] == last->results[0] ? waited : old->args[i];
    out[count] = slot;
    b.before = NULL;
    ir_remove(yield);
    ir_op0(&b, IR_YIELD, count + 1, out);
    for (uint32_t i = 0; i < c->dot_count; i++)
        c->dots[i]->attr.dot.async = c->dots[i]->attr.dot.carried = true;
}

/// Where the other team gets its turn, if nothing behind the loop has an effect before; else NULL.
static IrOp *turn_behind(const IrOp *wide)
{
    for (IrOp *op = wide->next; op; op = op->next) {
        if (op->code == IR_TEAM_PASS)
            return op;
        if (ir_has_effects(op) || op->regionc > 0)
            break;
    }
    return NULL;
}

/// Behind the loop: the other team may begin, then the last products are waited for.
static void finish(const Carry *c, IrOp *wide)
{
    IrOp *turn = turn_behind(wide);
    if (turn && turn != wide->next)
        ir_move_before(turn, wide->next);
    IrOp *where = turn ? turn->next : wide->next;
    IrBuilder b = { .fn = c->fn, .block = where->block, .before = where, .span = wide->span };
    for (uint32_t i = 0; i < c->dot_count; i++) {
        const uint32_t at = c->dots[i]->args[2]->index - 1;
        ir_replace(c->loop->results[at], wait_for(&b, wide->results[at], 0));
    }
    hand_back(c, &b, wide->results[wide->resultc - 1]);
}

static void rewrite(const Carry *c)
{
    Arena scratch = { 0 };
    IrBuilder b = { .fn = c->fn, .block = c->loop->block, .before = c->loop, .span = c->loop->span };
    IrOp *wide = widen(c, &b, &scratch);
    ir_remove(c->loop);
    finish(c, wide);
    for (uint32_t i = 0; i < c->loop->resultc; i++)
        if (!c->loop->results[i]->forward)
            ir_replace(c->loop->results[i], wide->results[i]);
    fill(c, wide, &scratch);
    for (uint32_t i = 0; i < c->body->argc; i++)
        ir_replace(c->body->args[i], wide->regions[0]->args[i]);
    arena_free(&scratch);
}

static void look_in(IrFunc *fn, IrBlock *b)
{
    for (IrOp *op = b->first, *next; op; op = next) {
        next = op->next;
        for (uint32_t r = 0; r < op->regionc; r++)
            look_in(fn, op->regions[r]);
        Carry c = { .fn = fn, .loop = op, .body = op->code == IR_FOR ? op->regions[0] : NULL };
        if (c.body && find_parts(&c))
            rewrite(&c);
    }
}

bool pass_dot_carry(PassCtx *cx, IrFunc *fn)
{
    (void)cx;
    look_in(fn, fn->body);
    ir_apply_replacements(fn);
    return true;
}
