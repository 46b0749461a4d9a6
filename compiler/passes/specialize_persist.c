// specialize_persist.c - as many blocks as the chip holds, each in a loop over programs.
//
// The launcher makes no more blocks than run at once; the copies of the next program then start
// under the end of the one before. Not done where programs could wait for each other, since a block
// runs its programs one after another, nor where their work differs: the chip's own order of blocks
// shares it out better.
//
// A program on four warps whose sum is large gets two teams of them, which run programs in turn:
// while one writes its sum, the other multiplies.
#include "passes/specialize_impl.h"

/// Results of atomic operations let a program wait for another.
static bool may_wait(IrOp *op, void *cx)
{
    const uint32_t *uses = cx;
    return ir_op_info[op->code].cls != OPCLASS_ATOMIC || uses[op->results[0]->id] == 0;
}

static bool has_known_trips(IrOp *op, void *cx)
{
    (void)cx;
    if (op->code == IR_WHILE)
        return false;
    return op->code != IR_FOR || (tensor_host_knows(op->args[0]) &&
                                  tensor_host_knows(op->args[1]) && tensor_host_knows(op->args[2]));
}

static IrValue *programs(IrBuilder *b, int axis, int axes)
{
    if (axis >= axes)
        return ir_const_int(b, type_scalar(b->fn->types, SCALAR_I32), 1);
    IrValue *v = ir_op1(b, IR_NUM_PROGRAMS, type_scalar(b->fn->types, SCALAR_I32), 0, NULL);
    v->def->attr.axis = axis;
    return v;
}

typedef struct Decode {
    IrFunc *fn;
    IrBlock *block;
    IrValue *tile, *extents[3];
    int axes;  // with more than one program
} Decode;

/// program_id: a digit of the program's number.
static bool replace_id(IrOp *op, void *cx)
{
    Decode *d = cx;
    if (op->code != IR_PROGRAM_ID)
        return true;
    IrBuilder b = { .fn = d->fn, .block = op->block, .before = op, .span = op->span };
    IrValue *id = d->tile;
    if (op->attr.axis >= d->axes)
        id = ir_const_int(&b, id->type, 0);
    for (int k = 0; k < op->attr.axis && op->attr.axis < d->axes; k++)
        id = ir_binary(&b, IR_IDIV, id, d->extents[k]);
    if (op->attr.axis + 1 < d->axes)
        id = ir_binary(&b, IR_REM, id, d->extents[op->attr.axis]);
    if (id != d->tile)
        id->hint = op->results[0]->hint;
    ir_replace(op->results[0], id);
    ir_remove(op);
    return true;
}

static IrValue *scalar(IrBuilder *b, IrCode code)
{
    return ir_op1(b, code, type_scalar(b->fn->types, SCALAR_I32), 0, NULL);
}

static IrValue *number(IrBuilder *b, int64_t n)
{
    return ir_const_int(b, type_scalar(b->fn->types, SCALAR_I32), n);
}

/// 2 * pair + rank: the last program may be followed by one that is none.
static IrValue *of_pair(IrBuilder *b, IrValue *pair, IrValue *rank)
{
    return ir_binary(b, IR_ADD, ir_binary(b, IR_MUL, pair, number(b, 2)), rank);
}

static IrValue *at_most_last(IrBuilder *b, IrValue *program, IrValue *all)
{
    return ir_binary(b, IR_MIN, program, ir_binary(b, IR_SUB, all, number(b, 1)));
}

typedef struct Guard {
    IrFunc *fn;
    IrValue *is_program;
} Guard;

/// What runs in the place of no program leaves nothing behind.
static bool guard_store(IrOp *op, void *cx)
{
    const Guard *g = cx;
    if (op->code != IR_STORE && op->code != IR_TENSOR_STORE)
        return true;
    IrBuilder b = { .fn = g->fn, .block = op->block, .before = op, .span = op->span };
    IrOp *choice = ir_op(&b, IR_IF, 1, (IrValue *[]){ g->is_program }, (IrResults){ 0, NULL }, 2);
    for (unsigned r = 0; r < 2; r++) {
        IrBuilder in = { .fn = g->fn, .block = choice->regions[r], .span = op->span };
        ir_op0(&in, IR_YIELD, 0, NULL);
    }
    ir_move_before(op, choice->regions[0]->last);
    return true;
}

/// Moves the body into a loop over programs from `first` on in steps of `step`, or over pairs of them.
static SpecialLoop wrap(IrFunc *fn, IrBuilder *b, IrValue *first, IrValue *step, int axes)
{
    const Type *i32 = type_scalar(fn->types, SCALAR_I32);
    const bool pairs = fn->num_ctas > 1;
    SpecialLoop made = { 0 };
    Decode d = { .fn = fn, .axes = axes };
    for (int k = 0; k < 3; k++)
        d.extents[k] = programs(b, k, axes);
    IrValue *all = d.extents[0], *rank = NULL, *end;
    for (int k = 1; k < axes; k++)
        all = ir_binary(b, IR_MUL, all, d.extents[k]);
    end = all;
    if (pairs) {
        rank = ir_binary(b, IR_REM, scalar(b, IR_BLOCK_ID), number(b, 2));
        end = ir_binary(b, IR_ADD, ir_binary(b, IR_IDIV, all, number(b, 2)),
                        ir_binary(b, IR_REM, all, number(b, 2)));
    }
    const IrOp *last = b->before->prev;  // of what stays in front of the loop
    b->before = fn->body->last;
    IrOp *loop = ir_op(b, IR_FOR, 3, (IrValue *[]){ first, end, step }, (IrResults){ 0, NULL }, 1);
    IrBlock *body = loop->regions[0];
    d.tile = ir_block_arg(fn, body, i32, sym_of(fn->syms, pairs ? "pair" : "program"));
    IrBuilder in = { .fn = fn, .block = body, .span = fn->span };
    Guard guard = { fn, NULL };
    if (pairs) {
        IrValue *other = ir_binary(&in, IR_SUB, number(&in, 1), rank), *pair = d.tile;
        made.partner = at_most_last(&in, of_pair(&in, pair, other), all);
        IrValue *program = of_pair(&in, pair, rank);
        guard.is_program = ir_binary(&in, IR_LT, program, all);
        d.tile = at_most_last(&in, program, all);
        d.tile->hint = sym_of(fn->syms, "program");
    }
    IrOp *yield = ir_op0(&in, IR_YIELD, 0, NULL);
    for (IrOp *op = last->next, *next; op != loop; op = next) {
        next = op->next;
        ir_move_before(op, yield);
    }
    ir_walk_block(body, replace_id, &d);
    if (pairs)
        ir_walk_block(body, guard_store, &guard);
    ir_apply_replacements(fn);
    b->before = loop;
    made.op = loop;
    made.program = d.tile;
    return made;
}

/* ---- teams ---- */

typedef struct Sums {
    uint32_t largest;
    bool all_wgmma;
} Sums;

static bool look_at_sum(IrOp *op, void *cx)
{
    Sums *s = cx;
    if (op->code != IR_DOT)
        return true;
    s->all_wgmma &= op->attr.dot.wgmma;
    if (op->results[0]->type->numel > s->largest)
        s->largest = op->results[0]->type->numel;
    return true;
}

bool specialize_pays_to_persist(const Special *s)
{
    IrFunc *fn = s->fn;
    if (s->cx->is_flat)
        return false;
    Arena scratch = { 0 };
    const uint32_t *uses = ir_count_uses(fn, &scratch);
    const bool pays = ir_walk(fn, may_wait, (void *)uses) && ir_walk(fn, has_known_trips, NULL);
    arena_free(&scratch);
    return pays;
}

bool specialize_wants_teams(const Special *s)
{
    enum { TEAM_WARPS = 4, LEAST_SUMS = 64 };  // a thread; less runs in several blocks as well
    Sums sums = { 0, true };
    if (s->fn->num_warps != TEAM_WARPS || !specialize_pays_to_persist(s))
        return false;
    for (uint32_t i = 0; i < s->feeds.len; i++) {
        const IrOp *loop = s->feeds.at[i].load->block->parent;
        if (s->feeds.at[i].shares != s->feeds.at[0].shares || !loop || loop->code != IR_FOR ||
            loop->block != s->fn->body)
            return false;
    }
    ir_walk(s->fn, look_at_sum, &sums);
    return sums.all_wgmma && sums.largest >= LEAST_SUMS * 32u * TEAM_WARPS;
}

/// A copy of a scalar that the host knows, in front of b->before.
static IrValue *copy_scalar(IrBuilder *b, IrValue *v)
{
    IrValue *args[3];
    const IrOp *op = v->def;
    if (!op)
        return v;
    for (uint32_t i = 0; i < op->argc; i++)
        args[i] = copy_scalar(b, op->args[i]);
    IrValue *copy = ir_op1(b, (IrCode)op->code, v->type, op->argc, args);
    copy->def->attr = op->attr;
    copy->hint = v->hint;
    return copy;
}

static bool find_wait(IrOp *op, void *cx)
{
    (void)cx;
    return op->code != IR_PIPE_WAIT;
}

/// The operation of the loop's body that has the first of its waits in it, or the last.
static IrOp *with_wait(const IrOp *loop, bool last)
{
    IrOp *found = NULL;
    for (IrOp *op = loop->regions[0]->first; op && (last || !found); op = op->next)
        for (uint32_t r = 0; r < op->regionc; r++)
            if (!ir_walk_block(op->regions[r], find_wait, NULL))
                found = op;
    return found;
}

/// How many stages a program takes, in front of the loop over programs.
static IrValue *stages_of_program(IrBuilder *b, const IrOp *loop)
{
    const Type *i32 = type_scalar(b->fn->types, SCALAR_I32);
    IrValue *sum = NULL;
    for (IrOp *op = loop->regions[0]->first; op; op = op->next) {
        if (op->code != IR_FOR || ir_walk_block(op->regions[0], find_wait, NULL))
            continue;
        IrValue *bounds[3];
        for (unsigned i = 0; i < 3; i++)
            bounds[i] = copy_scalar(b, op->args[i]);
        IrValue *trips = ir_cast(b, ir_trip_count(b, bounds[0], bounds[1], bounds[2]), i32);
        sum = sum ? ir_binary(b, IR_ADD, sum, trips) : trips;
    }
    return sum;
}

static void skip(IrBuilder *b, IrValue *count)
{
    ir_op0(b, IR_PIPE_SKIP, 1, &count);
}

/// The consumers' side of two teams. Each takes what it wants of the pipe while the other one does
/// not; so a wait is never more than one phase away from its barrier.
static void take_turns(IrFunc *fn, IrBuilder *b, IrValue *team, IrOp *loop)
{
    IrValue *count = stages_of_program(b, loop);
    skip(b, ir_binary(b, IR_MUL, team, count));
    IrOp *first = with_wait(loop, false), *last = with_wait(loop, true);
    IrBuilder in = { .fn = fn, .block = first->block, .before = first, .span = first->span };
    ir_op0(&in, IR_TEAM_TAKE, 0, NULL);
    in.before = last->next;
    ir_op0(&in, IR_TEAM_PASS, 0, NULL);
    in.before = loop->regions[0]->last;
    skip(&in, count);
}

static SpecialLoop wrap_side(IrFunc *fn, unsigned teams, int axes)
{
    IrBuilder b = { .fn = fn, .block = fn->body, .before = fn->body->first, .span = fn->span };
    IrValue *first = scalar(&b, IR_BLOCK_ID), *step = scalar(&b, IR_BLOCK_COUNT), *team = NULL;
    if (fn->num_ctas > 1) {
        first = ir_binary(&b, IR_IDIV, first, number(&b, fn->num_ctas));
        step = ir_binary(&b, IR_IDIV, step, number(&b, fn->num_ctas));
    }
    if (teams > 1) {
        team = scalar(&b, IR_TEAM_ID);
        first = ir_binary(&b, IR_ADD, first, ir_binary(&b, IR_MUL, team, step));
        step = ir_binary(&b, IR_MUL, step, number(&b, teams));
    }
    const SpecialLoop loop = wrap(fn, &b, first, step, axes);
    if (teams > 1)
        take_turns(fn, &b, team, loop.op);
    return loop;
}

void specialize_persist(Special *s)
{
    IrFunc *fn = s->fn;
    if (!specialize_pays_to_persist(s))
        return;
    fn->is_persistent = fn->producer->is_persistent = true;
    fn->teams = (uint16_t)s->teams;
    const int axes = s->cx->grid_axes ? (int)s->cx->grid_axes : 3;
    wrap_side(fn, s->teams, axes);
    fn->producer->value_count = fn->value_count;
    const SpecialLoop loop = wrap_side(fn->producer, 1, axes);
    if (fn->num_ctas > 1)
        specialize_share_copies(s, fn->producer, &loop);
    fn->value_count = fn->producer->value_count;
}
