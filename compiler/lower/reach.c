/// reach.c - which parameters decide where and whether a kernel touches memory.
///
/// Knowing that such an integer (a row stride, the width that bounds a mask) is a multiple of a few
/// elements is what makes wide accesses provable, so the specialised variant assumes it. Integers
/// that change nothing about that are left alone, since a fact about them would only make the
/// variant fit fewer calls: what a constant factor covers, what is divided by, and bounds along
/// other axes than the one whose neighbours are neighbours in memory.
#include "lower/variants.h"

#include <assert.h>
#include <string.h>

enum { MOST_KNOWN = 64, ALL_AXES = (1 << TYPE_MAX_RANK) - 1 };

/// Sets of a block's axes along which a value differs.
typedef struct Along {
    unsigned varies;
    unsigned unit;  ///< by 1 from one element to the next, as far as is known
} Along;

typedef struct Reach {
    const IrFunc *fn;
    uint8_t *seen;        // by value id: 0, or 1 + the smallest `known` that it was met with
    bool pointers_only;   // addresses are followed, offsets are not
    unsigned need;        // what a multiple has to be a multiple of
    uint32_t largest;     // elements of the largest access
    unsigned steps;       // left for along(), which follows shared operands more than once
    const bool *assumed;  // by argument of the body: multiples of `need`; NULL: none
    bool *params;         // the same: those that were met
} Reach;

static void reach_value(Reach *r, const IrValue *v, unsigned known);

// ---- numbers that divide ----------------------------------------------------------------------

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned product(unsigned a, unsigned b)
{
    return least(a * b, MOST_KNOWN);
}

/// The largest power of two up to MOST_KNOWN that divides a constant.
static unsigned divisor_of_const(const IrValue *v)
{
    const uint64_t bits = (uint64_t)v->def->attr.konst.i, lowest = bits & (~bits + 1);
    return bits && lowest < MOST_KNOWN ? (unsigned)lowest : MOST_KNOWN;
}

/// A power of two that divides a value.
static unsigned divisor_of(const Reach *r, const IrValue *v, unsigned depth)
{
    const IrOp *op = v->def;
    if (!op)
        return r->assumed && !v->block->parent && r->assumed[v->index] ? r->need : 1;
    if (depth == 0)
        return 1;
    switch ((int)op->code) {
    case IR_CONST: return op->attr.konst.is_float ? 1 : divisor_of_const(v);
    case IR_MUL:
        return product(divisor_of(r, op->args[0], depth - 1),
                       divisor_of(r, op->args[1], depth - 1));
    case IR_ADD:
    case IR_SUB:
    case IR_MIN:
    case IR_MAX:
    case IR_REM:
        return least(divisor_of(r, op->args[0], depth - 1), divisor_of(r, op->args[1], depth - 1));
    case IR_CAST:
    case IR_SPLAT:
    case IR_BROADCAST:
    case IR_EXPAND_DIMS: return divisor_of(r, op->args[0], depth - 1);
    default: return 1;
    }
}

// ---- what values come from ----------------------------------------------------------------------

static void reach_yields(Reach *r, const IrOp *op, uint32_t result, unsigned known)
{
    for (uint32_t i = 0; i < op->regionc; i++) {
        const IrOp *last = op->regions[i]->last;
        uint32_t at = result;
        if (last && last->code == IR_YIELD && (op->code != IR_WHILE || i == 1) && at < last->argc)
            reach_value(r, last->args[at], known);
    }
}

/// A loop's variable comes from its bounds, a carried value from its start and from the body's end.
static void reach_block_arg(Reach *r, const IrValue *v, unsigned known)
{
    const IrOp *op = v->block->parent;
    if (!op) {
        r->params[v->index] = true;
        return;
    }
    if (op->code == IR_FOR && v->index == 0) {
        reach_value(r, op->args[0], known);
        reach_value(r, op->args[2], known);
        return;
    }
    uint32_t carried = op->code == IR_FOR ? v->index - 1 : v->index;
    reach_value(r, op->args[op->code == IR_FOR ? carried + 3 : carried], known);
    reach_yields(r, op, carried, known);
}

static void reach_operands(Reach *r, const IrOp *op, unsigned known)
{
    enum { DEPTH = 8 };
    switch ((int)op->code) {
    case IR_MUL:
        for (uint32_t i = 0; i < 2; i++)
            reach_value(r, op->args[i], product(known, divisor_of(r, op->args[1 - i], DEPTH)));
        return;
    case IR_IDIV:  // a part of what divides x divides x // 2; nothing is known of x // y
        if (ir_is_const(op->args[1]))
            reach_value(r, op->args[0], known);
        return;
    case IR_CDIV: return;
    case IR_SELECT:
        reach_value(r, op->args[1], known);
        reach_value(r, op->args[2], known);
        return;
    default: break;
    }
    for (uint32_t i = 0; i < op->argc; i++)
        reach_value(r, op->args[i], known);
}

/// Marks the parameters in `v`, which `known` already divides.
static void reach_value(Reach *r, const IrValue *v, unsigned known)
{
    if (!v || known >= r->need || (r->pointers_only && !type_is_ptr(v->type)) ||
        (r->seen[v->id] && r->seen[v->id] <= known + 1))
        return;
    r->seen[v->id] = (uint8_t)(known + 1);
    if (!v->def)
        reach_block_arg(r, v, known);
    else if (v->def->regionc)
        reach_yields(r, v->def, v->index, known);
    else if (ir_op_info[v->def->code].effects == EFFECT_PURE)
        reach_operands(r, v->def, known);
    // else from memory: no fact about an argument says anything about it
}

// ---- masks --------------------------------------------------------------------------------------

static unsigned with_new_axis(unsigned axes, unsigned at)
{
    const unsigned below = (1u << at) - 1;
    return (axes & below) | (axes & ~below) << 1;
}

static unsigned without_axis(unsigned axes, unsigned at)
{
    const unsigned below = (1u << at) - 1;
    return (axes & below) | (axes >> 1 & ~below);
}

static bool is_one(const IrValue *v)
{
    assert(v);
    while (v->def && (v->def->code == IR_SPLAT || v->def->code == IR_CAST))
        v = v->def->args[0];
    return v->def && ir_is_const(v) && !v->def->attr.konst.is_float && v->def->attr.konst.i == 1;
}

static Along along(Reach *r, const IrValue *v);

static Along along_op(Reach *r, const IrOp *op)
{
    const Along all = { ALL_AXES, ALL_AXES };
    Along a = { 0, 0 }, b = { 0, 0 };
    if (op->argc > 0 && op->args[0])
        a = along(r, op->args[0]);
    if (op->argc > 1 && op->args[1])
        b = along(r, op->args[1]);
    switch ((int)op->code) {
    case IR_CONST:
    case IR_SPLAT: return (Along){ 0, 0 };
    case IR_ARANGE: return (Along){ 1, 1 };
    case IR_CAST:
    case IR_BROADCAST: return a;
    case IR_EXPAND_DIMS:
        return (Along){ with_new_axis(a.varies, (unsigned)op->attr.axis),
                        with_new_axis(a.unit, (unsigned)op->attr.axis) };
    case IR_ADD:
    case IR_PTR_ADD: return (Along){ a.varies | b.varies, a.unit | b.unit };
    case IR_SUB:
    case IR_REM: return (Along){ a.varies | b.varies, a.unit };
    case IR_MUL:
        if (is_one(op->args[0]) || is_one(op->args[1]))
            return is_one(op->args[0]) ? b : a;
        return (Along){ a.varies | b.varies, 0 };
    case IR_LT:
    case IR_LE:
    case IR_GT:
    case IR_GE: return (Along){ a.varies | b.varies, 0 };
    default: return all;
    }
}

/// Along which axes a value differs. What a loop carries differs as what it begins with.
static Along along(Reach *r, const IrValue *v)
{
    const Along all = { ALL_AXES, ALL_AXES };
    if (!type_is_block(v->type))
        return (Along){ 0, 0 };
    if (r->steps == 0)
        return all;
    r->steps--;
    if (v->def)
        return v->def->regionc ? all : along_op(r, v->def);
    const IrOp *loop = v->block->parent;
    if (!loop || loop->code != IR_FOR)
        return all;
    return along(r, loop->args[v->index + 2]);  // the index has no start, three operands go before
}

/// The bounds in a mask: operands of the ordering comparisons that differ along one of `axes`.
static void reach_mask(Reach *r, const IrValue *mask, unsigned axes)
{
    if (!mask || !mask->def)
        return;
    const IrOp *op = mask->def;
    if (op->code == IR_LT || op->code == IR_LE || op->code == IR_GT || op->code == IR_GE) {
        if (!(along(r, mask).varies & axes))
            return;
        reach_value(r, op->args[0], 1);
        reach_value(r, op->args[1], 1);
        return;
    }
    if (op->code == IR_EXPAND_DIMS)
        axes = without_axis(axes, (unsigned)op->attr.axis);
    else if (op->code == IR_TRANS || op->code == IR_RESHAPE)
        axes = ALL_AXES;
    const OpClass cls = ir_op_info[op->code].cls;
    if (op->code == IR_AND || op->code == IR_OR || cls == OPCLASS_SHAPE || op->code == IR_SPLAT)
        for (uint32_t i = 0; i < op->argc; i++)
            reach_mask(r, op->args[i], axes);
}

// ---- accesses -----------------------------------------------------------------------------------

static bool is_access(const IrOp *op)
{
    const OpClass cls = ir_op_info[op->code].cls;
    return cls == OPCLASS_MEMORY || cls == OPCLASS_ATOMIC;
}

static bool find_largest(IrOp *op, void *cx)
{
    Reach *r = cx;
    if (is_access(op) && op->argc > 0 && op->args[0]->type->numel > r->largest)
        r->largest = op->args[0]->type->numel;
    return true;
}

static bool reach_access(IrOp *op, void *cx)
{
    enum { STEPS = 1000, SMALL = 8 };
    Reach *r = cx;
    // How a row of numbers is moved beside a tile is not worth a fact.
    if (!is_access(op) || op->argc == 0 || op->args[0]->type->numel * SMALL < r->largest)
        return true;
    reach_value(r, op->args[0], 1);
    if (op->code != IR_LOAD && op->code != IR_STORE)
        return true;
    r->steps = STEPS;
    const unsigned neighbours = along(r, op->args[0]).unit;
    reach_mask(r, op->args[op->code == IR_LOAD ? 1 : 2], neighbours ? neighbours : ALL_AXES);
    return true;
}

/// Marks in `params` what is needed when those in `assumed` are multiples already.
static void reach_all(Reach *r, IrFunc *fn, const bool *assumed, bool *params)
{
    memset(r->seen, 0, fn->value_count + 1);
    r->assumed = assumed;
    r->params = params;
    ir_walk(fn, reach_access, r);
}

void lower_reach_addresses(IrFunc *fn, Arena *a, unsigned need, bool *params)
{
    const uint32_t count = fn->body->argc;
    bool *again = ARENA_NEW_N(a, bool, count + 1);
    Reach r = { .fn = fn,
                .seen = ARENA_NEW_N(a, uint8_t, fn->value_count + 1),
                .need = need < MOST_KNOWN ? need : MOST_KNOWN };
    ir_walk(fn, find_largest, &r);
    reach_all(&r, fn, again, params);
    // Of the factors of a product one is enough: each is left out that the others make unneeded.
    for (uint32_t i = 0; i < count; i++) {
        if (!params[i] || type_is_ptr(fn->body->args[i]->type))
            continue;
        params[i] = false;
        memset(again, 0, count * sizeof *again);
        reach_all(&r, fn, params, again);
        params[i] = again[i];
    }
}

// ---- strides ------------------------------------------------------------------------------------

/// Parameters that do nothing but scale coordinates.
typedef struct Strides {
    Reach r;
    uint32_t *of;     // by value id: 1 + the parameter that it is, converted or spread; or 0
    bool *used_else;  // by argument of the body
    bool *ones;
} Strides;

static bool passes_on(const IrOp *op)
{
    return op->code == IR_CAST || op->code == IR_SPLAT || op->code == IR_BROADCAST ||
           op->code == IR_EXPAND_DIMS;
}

static bool find_uses(IrOp *op, void *cx)
{
    Strides *s = cx;
    for (uint32_t i = 0; i < op->argc; i++) {
        const uint32_t param = op->args[i] ? s->of[op->args[i]->id] : 0;
        if (!param)
            continue;
        if (passes_on(op))
            s->of[op->results[0]->id] = param;
        else if (op->code != IR_MUL && op->code != IR_PTR_ADD)
            s->used_else[param - 1] = true;
    }
    return true;
}

/// 1 + parameters that scale coordinates which count by ones in an address, the last and the one before it; 0:
/// none.
typedef struct Scales {
    uint32_t last, before;
} Scales;

static void note_scale(Scales *found, uint32_t param)
{
    if (param > found->last) {
        found->before = found->last;
        found->last = param;
    } else if (param != found->last && param > found->before) {
        found->before = param;
    }
}

static void find_scales(Strides *s, const IrValue *v, Scales *found)
{
    const IrOp *op = v->def;
    if (!type_is_block(v->type) || s->r.steps == 0)
        return;
    s->r.steps--;
    if (!op) {
        const IrOp *loop = v->block->parent;
        if (loop && loop->code == IR_FOR)
            find_scales(s, loop->args[v->index + 2], found);
        return;
    }
    if (op->code == IR_MUL) {
        for (uint32_t i = 0; i < 2; i++)
            if (s->of[op->args[i]->id] && along(&s->r, op->args[1 - i]).unit)
                note_scale(found, s->of[op->args[i]->id]);
        return;
    }
    if (!passes_on(op) && op->code != IR_PTR_ADD && op->code != IR_ADD && op->code != IR_SUB)
        return;
    for (uint32_t i = 0; i < op->argc; i++)
        find_scales(s, op->args[i], found);
}

enum { STRIDE_STEPS = 1000 };

/// True when an axis of the block is known to have neighbours in memory.
static bool has_neighbours(Strides *s, const IrValue *address)
{
    s->r.steps = STRIDE_STEPS;
    return along(&s->r, address).unit != 0;
}

static Scales scales_of(Strides *s, const IrValue *address)
{
    Scales found = { 0, 0 };
    s->r.steps = STRIDE_STEPS;
    find_scales(s, address, &found);
    return found;
}

static bool find_stride(IrOp *op, void *cx)
{
    Strides *s = cx;
    if (!is_access(op) || op->argc == 0 || has_neighbours(s, op->args[0]))
        return true;
    const uint32_t stride = scales_of(s, op->args[0]).last;
    if (stride && !s->used_else[stride - 1])
        s->ones[stride - 1] = true;
    return true;
}

static Strides begin_strides(IrFunc *fn, Arena *a)
{
    Strides s = { .r = { .fn = fn },
                  .of = ARENA_NEW_N(a, uint32_t, fn->value_count + 1),
                  .used_else = ARENA_NEW_N(a, bool, fn->body->argc + 1) };
    for (uint32_t i = 0; i < fn->body->argc; i++) {
        const IrValue *param = fn->body->args[i];
        if (param->type->kind == TYPE_SCALAR && type_is_int(param->type))
            s.of[param->id] = i + 1;
    }
    ir_walk(fn, find_uses, &s);
    return s;
}

void lower_reach_strides(IrFunc *fn, Arena *a, bool *ones)
{
    Strides s = begin_strides(fn, a);
    s.ones = ones;
    ir_walk(fn, find_stride, &s);
}

typedef struct Turns {
    Strides strides;
    ReachTurn *at;
    uint32_t count, most;
} Turns;

/// The load that a factor is, transposed or converted; NULL: none.
static const IrOp *load_of_factor(const IrValue *v)
{
    while (v->def && (v->def->code == IR_TRANS || v->def->code == IR_CAST))
        v = v->def->args[0];
    return v->def && v->def->code == IR_LOAD ? v->def : NULL;
}

static void note_turn(Turns *t, const IrOp *load)
{
    if (has_neighbours(&t->strides, load->args[0]))
        return;
    const Scales found = scales_of(&t->strides, load->args[0]);
    if (!found.before || t->strides.used_else[found.last - 1] || t->strides.used_else[found.before - 1])
        return;
    const ReachTurn turn = { found.last - 1, found.before - 1 };
    for (uint32_t i = 0; i < t->count && i < t->most; i++)
        if (t->at[i].by_rows == turn.by_rows && t->at[i].by_columns == turn.by_columns)
            return;
    if (t->count < t->most)
        t->at[t->count] = turn;
    t->count++;
}

static bool find_turns(IrOp *op, void *cx)
{
    for (uint32_t i = 0; i < 2 && op->code == IR_DOT; i++) {
        const IrOp *load = load_of_factor(op->args[i]);
        if (load)
            note_turn(cx, load);
    }
    return true;
}

uint32_t lower_reach_turns(IrFunc *fn, Arena *a, ReachTurn *turns, uint32_t most)
{
    Turns t = { .strides = begin_strides(fn, a), .at = turns, .most = most };
    ir_walk(fn, find_turns, &t);
    return t.count;
}

typedef struct Pointers {
    Reach reads, writes;
} Pointers;

static bool reach_pointer(IrOp *op, void *cx)
{
    Pointers *p = cx;
    const OpClass cls = ir_op_info[op->code].cls;
    if (cls != OPCLASS_MEMORY && cls != OPCLASS_ATOMIC)
        return true;
    for (uint32_t i = 0; i < op->argc; i++) {
        if (op->code != IR_STORE)
            reach_value(&p->reads, op->args[i], 1);
        if (ir_op_info[op->code].effects == EFFECT_WRITE)
            reach_value(&p->writes, op->args[i], 1);
    }
    return true;
}

void lower_reach_pointers(IrFunc *fn, Arena *a, bool *reads, bool *writes)
{
    Pointers p = { .reads = { .fn = fn,
                              .seen = ARENA_NEW_N(a, uint8_t, fn->value_count + 1),
                              .need = MOST_KNOWN,
                              .pointers_only = true },
                   .writes = { .fn = fn,
                               .seen = ARENA_NEW_N(a, uint8_t, fn->value_count + 1),
                               .need = MOST_KNOWN,
                               .pointers_only = true } };
    p.reads.params = reads;
    p.writes.params = writes;
    ir_walk(fn, reach_pointer, &p);
}
