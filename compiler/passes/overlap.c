/// overlap.c - lets one product run under the arithmetic that the next one waits for.
///
/// Needs specialize, and no layouts yet. In a loop as attention's,
///
///     s = dot q k; p = f(s); acc = dot p v (g(acc))
///
/// the second product cannot begin before f is done, and f cannot begin before the first one is. It
/// is moved into the next iteration, behind the first product, where f does not wait for it:
///
///     s = dot q k; p = f(s); a = g(acc)                   the first iteration, without the last
///     part loop: s = dot q k; acc = dot p v a; p = f(s); a = g(acc) acc = dot p v a
///
/// Only products of warpgroups gain, which go on while others compute; and only tiles of a pipe can
/// be taken an iteration later, since the producer does not care when.
#include "passes/pass.h"

enum {
    MOST_REGISTERS = 176,  ///< of a thread, for both sums and what the second product waits with
    REGISTER_BYTES = 4
};

/// One loop and what moves in it.
typedef struct Overlap {
    IrFunc *fn;
    IrOp *loop;
    IrBlock *body;
    IrOp *lead, *trail;                    ///< the first product, and the one that moves
    IrOp *wait, *tile, *turned, *release;  ///< of trail's right factor; turned: a TRANS, or NULL
    uint32_t sum;                          ///< trail's result is carried as this value
} Overlap;

static uint32_t register_count(const IrFunc *fn, const Type *t)
{
    return t->numel * type_elem_bytes(t) / (32u * fn->num_warps * REGISTER_BYTES);
}

static bool uses_value(const IrOp *op, const IrValue *v)
{
    for (uint32_t i = 0; i < op->argc; i++)
        if (op->args[i] == v)
            return true;
    return false;
}

/// The only operation of the body, `other` apart, that uses `v`; NULL: there is none or are
/// several.
static IrOp *only_user(const IrBlock *body, const IrValue *v, const IrOp *other)
{
    IrOp *found = NULL;
    for (IrOp *op = body->first; op; op = op->next) {
        if (op == other || !uses_value(op, v))
            continue;
        if (found)
            return NULL;
        found = op;
    }
    return found;
}

/// Products and the pipes' operations are all that the body may do beside pure arithmetic.
static bool find_products(Overlap *o)
{
    for (IrOp *op = o->body->first; op; op = op->next) {
        const bool is_pipe = op->code == IR_PIPE_WAIT || op->code == IR_PIPE_RELEASE;
        if (op->regionc || (ir_has_effects(op) && !is_pipe))
            return false;
        if (op->code != IR_DOT)
            continue;
        if (!op->attr.dot.wgmma)
            return false;
        if (!o->lead)
            o->lead = op;
        o->trail = op;
    }
    return o->lead != o->trail;
}

/// The chain wait -> tile (-> trans) -> trail, and the release; nothing else may use any of them.
static bool find_tile(Overlap *o)
{
    IrOp *at = o->trail->args[1]->def;
    o->turned = at && at->code == IR_TRANS ? at : NULL;
    o->tile = o->turned ? at->args[0]->def : at;
    if (!o->tile || o->tile->code != IR_TILE || o->tile->block != o->body)
        return false;
    o->wait = o->tile->args[0]->def;
    if (!o->wait || o->wait->code != IR_PIPE_WAIT || o->wait->block != o->body)
        return false;
    o->release = only_user(o->body, o->wait->results[0], o->tile);
    if (!o->release || o->release->code != IR_PIPE_RELEASE)
        return false;
    const IrOp *reader = o->turned ? o->turned : o->trail;
    return only_user(o->body, o->tile->results[0], NULL) == reader &&
           (!o->turned || only_user(o->body, o->turned->results[0], NULL) == o->trail);
}

/// True when the sum is carried by the loop, and not looked at before the first product.
static bool find_sum(Overlap *o)
{
    IrOp *yield = o->body->last;
    const IrValue *sum = o->trail->results[0];
    uint32_t places = 0;
    for (uint32_t i = 0; i < yield->argc; i++) {
        if (yield->args[i] != sum)
            continue;
        o->sum = i;
        places++;
    }
    if (places != 1 || only_user(o->body, sum, NULL) != yield)
        return false;
    const IrValue *carried = o->body->args[1 + o->sum];
    for (const IrOp *op = o->body->first; op != o->lead->next; op = op->next)
        if (uses_value(op, carried))
            return false;
    return !uses_value(yield, carried);
}

static bool pays(const Overlap *o)
{
    const IrValue *factor = o->trail->args[0], *step = o->loop->args[2];
    if (!ir_is_const(step) || step->def->attr.konst.i <= 0)
        return false;
    if (!factor->def || factor->def->block != o->body || factor->def->code == IR_TILE)
        return false;
    return register_count(o->fn, o->lead->results[0]->type) +
               register_count(o->fn, o->trail->results[0]->type) +
               register_count(o->fn, factor->type) <=
           MOST_REGISTERS;
}

/* ---- rewriting ---- */

static bool moves(const Overlap *o, const IrOp *op)
{
    return op == o->wait || op == o->tile || op == o->turned || op == o->trail ||
           op == o->release || op == o->body->last;
}

/// The second product of `factor` and the next tile of the pipe, added to `sum`; `map` then knows
/// its parts.
static IrValue *place_product(const Overlap *o, IrBuilder *b, IrValue **map, IrValue *factor,
                              IrValue *sum)
{
    map[o->trail->args[0]->id] = factor;
    map[o->trail->args[2]->id] = sum;
    ir_clone(b, o->wait, map);
    ir_clone(b, o->tile, map);
    if (o->turned)
        ir_clone(b, o->turned, map);
    return ir_clone(b, o->trail, map)->results[0];
}

/// map[] of the body's arguments for values `first`, ...
static IrValue **map_arguments(const Overlap *o, Arena *scratch, IrValue *counter,
                               IrValue *const *carried)
{
    IrValue **map = ARENA_NEW_N(scratch, IrValue *, o->fn->value_count);
    map[o->body->args[0]->id] = counter;
    for (uint32_t i = 1; i < o->body->argc; i++)
        map[o->body->args[i]->id] = carried[i - 1];
    return map;
}

static IrValue *mapped(IrValue *const *map, IrValue *v)
{
    return map[v->id] ? map[v->id] : v;
}

/// What an iteration without its last part hands on: the carried values, the sum as the product
/// will find it, and the product's left factor.
static void hand_on(const Overlap *o, IrValue *const *map, IrValue **out)
{
    const IrOp *yield = o->body->last;
    for (uint32_t i = 0; i < yield->argc; i++)
        out[i] = mapped(map, i == o->sum ? o->trail->args[2] : yield->args[i]);
    out[yield->argc] = mapped(map, o->trail->args[0]);
}

static void first_iteration(const Overlap *o, IrBuilder *b, Arena *scratch, IrValue **out)
{
    IrValue **map = map_arguments(o, scratch, o->loop->args[0], o->loop->args + 3);
    for (const IrOp *op = o->body->first; op; op = op->next)
        if (!moves(o, op))
            ir_clone(b, op, map);
    hand_on(o, map, out);
}

/// The counter of the second iteration, or the end if that comes first: no sum that could overflow.
static IrValue *second_counter(const Overlap *o, IrBuilder *b)
{
    IrValue *lo = o->loop->args[0], *hi = o->loop->args[1], *step = o->loop->args[2];
    const bool is_long = type_elem_bytes(lo->type) == 8;
    const Type *bits = type_scalar(o->fn->types, is_long ? SCALAR_U64 : SCALAR_U32);
    IrValue *left = ir_binary(b, IR_SUB, hi, lo);
    IrValue *unsigned_step = ir_op1(b, IR_BITCAST, bits, 1, &step);
    left = ir_op1(b, IR_BITCAST, bits, 1, &left);
    IrValue *least = ir_binary(b, IR_MIN, left, unsigned_step);
    least = ir_op1(b, IR_BITCAST, lo->type, 1, &least);
    return ir_binary(b, IR_ADD, lo, least);
}

/// The body of the new loop, whose block has its arguments.
static void other_iterations(const Overlap *o, IrBlock *to, Arena *scratch)
{
    const uint32_t count = o->body->last->argc;
    const IrValue *carried = o->body->args[1 + o->sum];
    IrBuilder b = { .fn = o->fn, .block = to, .span = o->loop->span };
    IrValue **map = map_arguments(o, scratch, to->args[0], to->args + 1);
    IrValue **product = ARENA_NEW_N(scratch, IrValue *, o->fn->value_count);
    IrValue **out = ARENA_NEW_N(scratch, IrValue *, count + 1);
    bool is_released = false;
    for (const IrOp *op = o->body->first; op; op = op->next) {
        // The tile has been read once the sum is looked at; and the registers of the old left
        // factor are wanted for the new one.
        if (!is_released &&
            (uses_value(op, carried) || op == o->trail->args[0]->def || !op->next)) {
            ir_clone(&b, o->release, product);
            is_released = true;
        }
        if (moves(o, op))
            continue;
        ir_clone(&b, op, map);
        if (op == o->lead)
            map[carried->id] =
                place_product(o, &b, product, to->args[count + 1], to->args[1 + o->sum]);
    }
    hand_on(o, map, out);
    ir_op0(&b, IR_YIELD, count + 1, out);
}

static const Type **carried_types(const Overlap *o, Arena *scratch)
{
    const uint32_t count = o->loop->resultc;
    const Type **types = ARENA_NEW_N(scratch, const Type *, count + 1);
    for (uint32_t i = 0; i < count; i++)
        types[i] = o->loop->results[i]->type;
    types[count] = o->trail->args[0]->type;
    return types;
}

/// All iterations, given that there is one.
static void some_iterations(const Overlap *o, IrBlock *to, Arena *scratch)
{
    const uint32_t count = o->loop->resultc;
    IrBuilder b = { .fn = o->fn, .block = to, .span = o->loop->span };
    IrValue **args = ARENA_NEW_N(scratch, IrValue *, count + 4);
    IrValue **product = ARENA_NEW_N(scratch, IrValue *, o->fn->value_count);
    first_iteration(o, &b, scratch, args + 3);
    args[0] = second_counter(o, &b);
    args[1] = o->loop->args[1];
    args[2] = o->loop->args[2];
    IrOp *rest =
        ir_op(&b, IR_FOR, count + 4, args, (IrResults){ count + 1, carried_types(o, scratch) }, 1);
    IrBlock *body = rest->regions[0];
    for (uint32_t i = 0; i < o->body->argc; i++)
        ir_block_arg(o->fn, body, o->body->args[i]->type, o->body->args[i]->hint);
    ir_block_arg(o->fn, body, o->trail->args[0]->type, o->trail->args[0]->hint);
    other_iterations(o, body, scratch);
    IrValue **out = rest->results;
    IrValue *sum = place_product(o, &b, product, out[count], out[o->sum]);
    ir_clone(&b, o->release, product);
    for (uint32_t i = 0; i < count; i++)
        args[i] = i == o->sum ? sum : out[i];
    ir_op0(&b, IR_YIELD, count, args);
}

static void rewrite(const Overlap *o)
{
    Arena scratch = { 0 };
    const uint32_t count = o->loop->resultc;
    IrBuilder b = {
        .fn = o->fn, .block = o->loop->block, .before = o->loop, .span = o->loop->span
    };
    IrValue *any = ir_binary(&b, IR_LT, o->loop->args[0], o->loop->args[1]);
    IrOp *choice = ir_op(&b, IR_IF, 1, &any, (IrResults){ count, carried_types(o, &scratch) }, 2);
    some_iterations(o, choice->regions[0], &scratch);
    IrBuilder none = { .fn = o->fn, .block = choice->regions[1], .span = o->loop->span };
    ir_op0(&none, IR_YIELD, count, o->loop->args + 3);
    for (uint32_t i = 0; i < count; i++) {
        choice->results[i]->hint = o->loop->results[i]->hint;
        ir_replace(o->loop->results[i], choice->results[i]);
    }
    ir_remove(o->loop);
    arena_free(&scratch);
}

static bool overlap_loop(IrOp *op, void *cx)
{
    Overlap o = { .fn = cx, .loop = op };
    if (op->code != IR_FOR)
        return true;
    o.body = op->regions[0];
    if (find_products(&o) && pays(&o) && find_tile(&o) && find_sum(&o))
        rewrite(&o);
    return true;
}

bool pass_overlap(PassCtx *cx, IrFunc *fn)
{
    (void)cx;
    if (!fn->producer)
        return true;
    fn->value_count =
        fn->producer->value_count > fn->value_count ? fn->producer->value_count : fn->value_count;
    ir_walk(fn, overlap_loop, fn);
    ir_apply_replacements(fn);
    fn->producer->value_count = fn->value_count;
    return true;
}
