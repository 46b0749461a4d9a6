/// dot_overlap.c - has a product of one iteration run beside the work of the next.
///
/// Needs dot_select, and no layouts yet. In a loop such as attention's,
///
///     s = dot(q, k[j]);  p = softmax(s);  acc = dot(p, v[j], acc * shrink)
///
/// everything waits for something. Done one iteration later, the second product runs while p of
/// the next iteration is computed:
///
///     s = dot(q, k[0]);  p = softmax(s)
///     for j = 1 ...:  s' = dot(q, k[j]);  acc = dot(p, v[j - 1], acc * shrink);  p' = softmax(s')
///     acc = dot(p, v[last], acc * shrink)
///
/// Only where the copy engine brings the factors: with what cp.async needs of addresses besides, the
/// sums of both products do not fit the registers.
///
/// Late is the product whose sum the loop carries, with all that serves nothing else; the rest is
/// early. What the late part takes from the early one is carried, but for index arithmetic, which is
/// computed again. dot_wait.c then finds the time in which both products run.
#include "passes/pass.h"
#include "passes/tensor_access.h"
#include "target/target.h"

enum { MAX_CROSSING = 8, MAX_CHAIN = 64 };

typedef struct Overlap {
    PassCtx *cx;
    IrFunc *fn;
    IrOp *loop;
    IrBlock *body;
    IrOp *late_dot, *early_dot;
    uint32_t sum;  ///< which carried value is the late product's sum
    /* by value id */
    bool *late;    ///< its operation is late
    bool *first;   ///< it is needed for the early product
    VEC(IrValue *) crossing;
    bool ok;
} Overlap;

static bool is_wgmma(const IrOp *op)
{
    return op != NULL && op->code == IR_DOT && op->attr.dot.wgmma;
}

static bool is_in(const Overlap *o, const IrValue *v)
{
    return v != NULL && v->def != NULL && v->def->block == o->body;
}

/// Loops of straight code without effects.
static bool is_plain(const IrOp *loop)
{
    for (const IrOp *op = loop->regions[0]->first; op != NULL; op = op->next)
        if (op->regionc > 0 || ir_has_effects(op) || op->resultc > 1 ||
            (op->code == IR_LOAD && op->attr.mem.is_volatile))
            return false;
    const IrValue *step = loop->args[2];
    return ir_is_const(step) && step->def->attr.konst.i > 0;
}

/* ---- which operations are late ---- */

/// Marks the operations of the body that give `v`.
static void mark_slice(const Overlap *o, const IrValue *v, bool *in_slice)
{
    if (!is_in(o, v) || in_slice[v->id])
        return;
    in_slice[v->id] = true;
    for (uint32_t i = 0; i < v->def->argc; i++)
        if (v->def->args[i] != NULL)
            mark_slice(o, v->def->args[i], in_slice);
}

/// True when all that uses `v` is late; the left factor is made early.
static bool serves_late_alone(const Overlap *o, const IrValue *v)
{
    bool used = false;
    for (const IrOp *op = o->body->first; op != NULL; op = op->next)
        for (uint32_t i = 0; i < op->argc; i++) {
            if (op->args[i] != v)
                continue;
            if (op->resultc == 0 || !o->late[op->results[0]->id] || (op == o->late_dot && i == 0))
                return false;
            used = true;
        }
    return used;
}

static void mark_late(Overlap *o)
{
    o->late[o->late_dot->results[0]->id] = true;
    for (const IrOp *op = o->late_dot->prev; op != NULL; op = op->prev)
        if (op->resultc == 1 && serves_late_alone(o, op->results[0]))
            o->late[op->results[0]->id] = true;
}

/// The first product of a warpgroup that the left factor comes from.
static IrOp *find_early_dot(const Overlap *o)
{
    bool *slice = ARENA_NEW_N(o->cx->arena, bool, o->fn->value_count);
    mark_slice(o, o->late_dot->args[0], slice);
    for (IrOp *op = o->body->first; op != NULL; op = op->next)
        if (is_wgmma(op) && op != o->late_dot && slice[op->results[0]->id])
            return op;
    return NULL;
}

static bool is_late(const Overlap *o, const IrOp *op)
{
    return op->resultc == 1 && o->late[op->results[0]->id];
}

/// The running sum is read by late operations alone, and its new value by the yield alone.
static bool sum_is_late(const Overlap *o)
{
    const IrValue *sum = o->body->args[o->sum + 1], *next = o->late_dot->results[0];
    for (const IrOp *op = o->body->first; op != NULL; op = op->next)
        for (uint32_t i = 0; i < op->argc; i++) {
            if (op->args[i] == sum && !is_late(o, op))
                return false;
            if (op->args[i] == next && (op->code != IR_YIELD || i != o->sum))
                return false;
        }
    return true;
}

/* ---- what the late part takes from the early one ---- */

/// Index arithmetic on the counter and on what the loop does not change.
static bool is_recomputable(const Overlap *o, const IrValue *v, unsigned depth)
{
    if (v == NULL || v == o->body->args[0] || ir_value_block(v) != o->body)
        return true;
    if (v->def == NULL || depth == MAX_CHAIN)
        return false;
    const OpClass cls = ir_op_info[v->def->code].cls;
    if (cls != OPCLASS_CONST && cls != OPCLASS_CREATE && cls != OPCLASS_SHAPE &&
        (cls != OPCLASS_ELEMENTWISE || type_is_float(v->type)))
        return false;
    for (uint32_t i = 0; i < v->def->argc; i++)
        if (!is_recomputable(o, v->def->args[i], depth + 1))
            return false;
    return true;
}

static void add_crossing(Overlap *o, IrValue *v)
{
    for (uint32_t i = 0; i < o->crossing.len; i++)
        if (o->crossing.at[i] == v)
            return;
    // A tile that is loaded early would have to stay in registers.
    o->ok = o->ok && o->crossing.len < MAX_CROSSING &&
            (v->def == NULL || v->def->code != IR_LOAD || !type_is_block(v->type));
    VEC_PUSH(o->cx->arena, &o->crossing, v);
}

static void find_crossing(Overlap *o)
{
    for (const IrOp *op = o->body->first; op != NULL; op = op->next) {
        if (!is_late(o, op))
            continue;
        for (uint32_t i = 0; i < op->argc; i++) {
            IrValue *v = op->args[i];
            if (v == NULL || ir_value_block(v) != o->body || v == o->body->args[o->sum + 1] ||
                (v->def != NULL && o->late[v->id]) || is_recomputable(o, v, 0))
                continue;
            add_crossing(o, v);
        }
    }
}

/* ---- the new loop ---- */

/// Copies of the body's operations at one place: map by value id.
typedef struct Copy {
    IrBuilder *b;
    IrValue **map;
} Copy;

static Copy copy_begin(const Overlap *o, IrBuilder *b, IrValue *counter)
{
    Copy c = { b, ARENA_NEW_N(o->cx->arena, IrValue *, o->fn->value_count) };
    c.map[o->body->args[0]->id] = counter;
    return c;
}

static IrValue *copied(const Copy *c, IrValue *v)
{
    return c->map[v->id] != NULL ? c->map[v->id] : v;
}

enum { EARLY_FIRST = 1, EARLY_REST = 2 };

static void copy_early(const Overlap *o, const Copy *c, unsigned which)
{
    for (IrOp *op = o->body->first; op != o->body->last; op = op->next) {
        const bool first = op->resultc == 1 && o->first[op->results[0]->id];
        if (!is_late(o, op) && (which & (first ? EARLY_FIRST : EARLY_REST)) != 0)
            ir_clone(c->b, op, c->map);
    }
}

/// Copies what an operation of the late part needs of index arithmetic.
static void copy_chain(const Overlap *o, const Copy *c, IrValue *v)
{
    if (v == NULL || !is_in(o, v) || c->map[v->id] != NULL)
        return;
    for (uint32_t i = 0; i < v->def->argc; i++)
        copy_chain(o, c, v->def->args[i]);
    ir_clone(c->b, v->def, c->map);
}

/// The late part with the running sum and crossing values given; the new sum.
static IrValue *copy_late(const Overlap *o, const Copy *c, IrValue *sum, IrValue *const *crossing)
{
    c->map[o->body->args[o->sum + 1]->id] = sum;
    for (uint32_t i = 0; i < o->crossing.len; i++)
        c->map[o->crossing.at[i]->id] = crossing[i];
    for (IrOp *op = o->body->first; op != o->body->last; op = op->next) {
        if (!is_late(o, op))
            continue;
        for (uint32_t i = 0; i < op->argc; i++)
            copy_chain(o, c, op->args[i]);
        ir_clone(c->b, op, c->map);
    }
    return copied(c, o->late_dot->results[0]);
}

/// What the loop carries from here on: its own values as `c` has them after an early part, the sum as
/// given, and the crossing values.
static void next_values(const Overlap *o, const Copy *c, IrValue *sum, IrValue **out)
{
    const IrOp *yield = o->body->last;
    for (uint32_t i = 0; i < yield->argc; i++)
        out[i] = i == o->sum ? sum : copied(c, yield->args[i]);
    for (uint32_t i = 0; i < o->crossing.len; i++)
        out[yield->argc + i] = copied(c, o->crossing.at[i]);
}

/// The first iteration's early part in front of the loop; gives the initial values behind the bounds.
static void make_head(const Overlap *o, IrBuilder *b, IrValue **init)
{
    const IrOp *loop = o->loop;
    const Copy c = copy_begin(o, b, loop->args[0]);
    for (uint32_t i = 0; i < loop->resultc; i++)
        c.map[o->body->args[i + 1]->id] = loop->args[3 + i];
    copy_early(o, &c, EARLY_FIRST | EARLY_REST);
    next_values(o, &c, loop->args[3 + o->sum], init);
}

static IrOp *make_loop(const Overlap *o, IrBuilder *b, IrValue *const *init)
{
    const IrOp *old = o->loop;
    const uint32_t count = old->resultc + o->crossing.len;
    IrValue **args = ARENA_NEW_N(o->cx->arena, IrValue *, 3 + (size_t)count);
    const Type **types = ARENA_NEW_N(o->cx->arena, const Type *, count);
    args[0] = ir_binary(b, IR_ADD, old->args[0], old->args[2]);
    args[1] = old->args[1];
    args[2] = old->args[2];
    for (uint32_t i = 0; i < count; i++) {
        args[3 + i] = init[i];
        types[i] = init[i]->type;
    }
    IrOp *loop = ir_op(b, IR_FOR, 3 + count, args, count, types, 1);
    loop->attr = old->attr;
    IrBlock *body = loop->regions[0];
    IrValue *j = ir_block_arg(o->fn, body, args[0]->type, o->body->args[0]->hint);
    for (uint32_t i = 0; i < count; i++) {
        const IrValue *like = i < old->resultc ? o->body->args[i + 1]
                                               : o->crossing.at[i - old->resultc];
        ir_block_arg(o->fn, body, types[i], like->hint);
    }
    IrBuilder in = { .fn = o->fn, .block = body, .span = old->span };
    const Copy early = copy_begin(o, &in, j);
    for (uint32_t i = 0; i < old->resultc; i++)
        early.map[o->body->args[i + 1]->id] = body->args[i + 1];
    copy_early(o, &early, EARLY_FIRST);
    const Copy late = copy_begin(o, &in, ir_binary(&in, IR_SUB, j, args[2]));
    IrValue *sum = copy_late(o, &late, body->args[o->sum + 1], &body->args[old->resultc + 1]);
    copy_early(o, &early, EARLY_REST);
    IrValue **next = ARENA_NEW_N(o->cx->arena, IrValue *, count);
    next_values(o, &early, sum, next);
    ir_op(&in, IR_YIELD, count, next, 0, NULL, 0);
    return loop;
}

/// The last iteration's late part behind the loop; yields what the old loop gave.
static void make_tail(const Overlap *o, IrBuilder *b, const IrOp *loop)
{
    const IrOp *old = o->loop;
    const Type *type = old->args[0]->type;
    IrValue *span = ir_binary(b, IR_SUB, old->args[1], old->args[0]);
    IrValue *trips = ir_binary(b, IR_CDIV, span, old->args[2]);
    IrValue *before = ir_binary(b, IR_SUB, trips, ir_const_int(b, type, 1));
    IrValue *last =
        ir_binary(b, IR_ADD, old->args[0], ir_binary(b, IR_MUL, before, old->args[2]));
    const Copy c = copy_begin(o, b, last);
    IrValue **out = ARENA_NEW_N(o->cx->arena, IrValue *, old->resultc);
    for (uint32_t i = 0; i < old->resultc; i++)
        out[i] = loop->results[i];
    out[o->sum] = copy_late(o, &c, loop->results[o->sum], &loop->results[old->resultc]);
    ir_op(b, IR_YIELD, old->resultc, out, 0, NULL, 0);
}

/// Puts the new loop, behind a test that there is an iteration, in the place of the old one.
static void rebuild(Overlap *o)
{
    IrOp *old = o->loop;
    IrBuilder b = { .fn = o->fn, .block = old->block, .before = old, .span = old->span };
    const Type **types = ARENA_NEW_N(o->cx->arena, const Type *, old->resultc);
    for (uint32_t i = 0; i < old->resultc; i++)
        types[i] = old->results[i]->type;
    IrValue *any = ir_binary(&b, IR_LT, old->args[0], old->args[1]);
    IrOp *branch = ir_op(&b, IR_IF, 1, &any, old->resultc, types, 2);
    IrBuilder in = { .fn = o->fn, .block = branch->regions[0], .span = old->span };
    IrValue **init =
        ARENA_NEW_N(o->cx->arena, IrValue *, (size_t)old->resultc + o->crossing.len);
    make_head(o, &in, init);
    make_tail(o, &in, make_loop(o, &in, init));
    IrBuilder other = { .fn = o->fn, .block = branch->regions[1], .span = old->span };
    ir_op(&other, IR_YIELD, old->resultc, old->args + 3, 0, NULL, 0);
    for (uint32_t i = 0; i < old->resultc; i++) {
        branch->results[i]->hint = old->results[i]->hint;
        ir_replace(old->results[i], branch->results[i]);
    }
    ir_remove(old);
    ir_apply_replacements(o->fn);
}

/// The right factor's load, if a thread beside the others can make it: what it brings is not held in
/// registers meanwhile.
static bool is_brought(const Overlap *o, const IrOp *dot)
{
    const IrValue *v = dot->args[1];
    while (v->def != NULL && v->def->code == IR_TRANS)
        v = v->def->args[0];
    if (v->def == NULL || v->def->code != IR_LOAD || o->cx->no_tensor_copies ||
        o->cx->copies == COPY_SYNC || o->cx->copies == COPY_CP_ASYNC)
        return false;
    Tensors *t = tensor_analysis(o->fn, axis_info_compute(o->fn, o->cx->arena), o->cx->arena);
    const TensorAccess *access = tensor_access_of(t, v->def);
    return access->reason == NULL && tensor_copy_obstacle(t, access) == NULL;
}

/// Looks for a late product among what the loop carries.
static bool try_loop(Overlap *o)
{
    const IrOp *yield = o->body->last;
    for (o->sum = 0; o->sum < yield->argc; o->sum++) {
        o->late_dot = yield->args[o->sum]->def;
        if (!is_wgmma(o->late_dot) || o->late_dot->block != o->body)
            continue;
        o->late = ARENA_NEW_N(o->cx->arena, bool, o->fn->value_count);
        o->first = ARENA_NEW_N(o->cx->arena, bool, o->fn->value_count);
        o->crossing.len = 0;
        o->ok = true;
        mark_late(o);
        o->early_dot = find_early_dot(o);
        if (o->early_dot == NULL || !sum_is_late(o) || !is_brought(o, o->early_dot) ||
            !is_brought(o, o->late_dot))
            continue;
        mark_slice(o, o->early_dot->results[0], o->first);
        find_crossing(o);
        if (o->ok)
            return true;
    }
    return false;
}

static bool run_block(PassCtx *cx, IrFunc *fn, IrBlock *b)
{
    for (IrOp *op = b->first, *next; op != NULL; op = next) {
        next = op->next;
        for (uint32_t r = 0; r < op->regionc; r++)
            run_block(cx, fn, op->regions[r]);
        Overlap o = { .cx = cx, .fn = fn, .loop = op };
        if (op->code != IR_FOR || !is_plain(op))
            continue;
        o.body = op->regions[0];
        if (try_loop(&o))
            rebuild(&o);
    }
    return true;
}

bool pass_dot_overlap(PassCtx *cx, IrFunc *fn)
{
    return (cx->features & TARGET_WGMMA) == 0 || run_block(cx, fn, fn->body);
}
