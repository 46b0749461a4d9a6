/// loops.c - statements: fused loops, control flow, memory writes.
///
/// Carried values of a loop are variables (scalars) or arrays (blocks) that the end of the body
/// assigns all at once: new values are complete before the first old one is overwritten.
#include "backend/hostc/hostc_impl.h"
#include <assert.h>
#include <string.h>

static void host_open_axis(HostEmit *e, const Type *t, unsigned axis)
{
    buf_line(e->out, "for (int32_t i%u = 0; i%u < %d; i%u++) {", axis, axis, t->shape[axis], axis);
    e->out->indent++;
}

static void host_close(HostEmit *e)
{
    e->out->indent--;
    buf_line(e->out, "}");
}

void host_open_loops(HostEmit *e, const Type *t)
{
    for (unsigned i = 0; i < type_rank(t); i++)
        if (t->shape[i] > 1)
            host_open_axis(e, t, i);
    if (!type_is_block(t) || t->numel == 1) {
        buf_line(e->out, "{");
        e->out->indent++;
    }
}

void host_close_loops(HostEmit *e, const Type *t)
{
    unsigned loops = 0;
    for (unsigned i = 0; i < type_rank(t); i++)
        loops += t->shape[i] > 1;
    for (unsigned i = 0; i < (loops ? loops : 1); i++)
        host_close(e);
}

void host_declare_array(HostEmit *e, const char *name, const Type *t)
{
    const char *type = host_ctype(t);
    size_t size = type_is_ptr(t) ? 8 : 4;
    if (!type_is_ptr(t) &&
        (type_scalar_kind(t) == SCALAR_F64 || !(type_is_float(t) || type_is_fp8(t))))
        size = scalar_info[type_scalar_kind(t)].bytes;
    buf_line(e->out, "%s *const %s = (%s *)(void *)(scratch + %llu);", type, name, type,
             (unsigned long long)e->scratch_bytes);
    e->scratch_bytes += (t->numel * size + 63) / 64 * 64;
}

void host_store(HostEmit *e, const IrOp *op, const HostCoords *c)
{
    const char *p = host_at(e, op->args[0], c), *v = host_at(e, op->args[1], c);
    const bool masked = op->args[2] && !e->straight;
    if (masked)
        buf_line(e->out, "if (%s)", host_at(e, op->args[2], c));
    buf_line(e->out, "%snth_store_%s(%s, %s);", masked ? "    " : "",
             host_suffix(op->args[1]->type), p, v);
}

void host_atomic(HostEmit *e, const IrOp *op, const HostCoords *c)
{
    static const char *const kinds[] = { "add", "max", "min", "and", "or", "xor", "xchg" };
    const char *suffix = host_suffix(op->args[1]->type);
    const char *p = host_at(e, op->args[0], c), *v = host_at(e, op->args[1], c);
    const char *old = host_name(e, op->results[0]);
    const IrValue *mask = op->code == IR_ATOMIC_RMW ? op->args[2] : NULL;
    bool block = type_is_block(op->results[0]->type);
    const char *target =
        block ? arena_printf(&e->scratch, "%s[%s]", old, host_flat(e, op->results[0]->type, c))
              : old;
    const char *call = op->code == IR_ATOMIC_CAS
                           ? arena_printf(&e->scratch, "nth_atomic_cas_%s(%s, %s, %s)", suffix, p,
                                          v, host_at(e, op->args[2], c))
                           : arena_printf(&e->scratch, "nth_atomic_%s_%s(%s, %s)",
                                          kinds[op->attr.atomic.kind], suffix, p, v);
    if (mask)
        call = arena_printf(&e->scratch, "%s ? %s : 0", host_at(e, mask, c), call);
    buf_line(e->out, "%s = %s;", target, call);
}

/// What a group computes for the element at the loops' coordinates.
static void host_members(HostEmit *e, const IrOp *first, const IrOp *last, const HostCoords *c)
{
    for (const IrOp *op = first; op != last->next; op = op->next) {
        if (!op->mark)
            continue;
        if (op->code == IR_STORE) {
            host_store(e, op, c);
            continue;
        }
        const IrValue *out = op->results[0];
        if (e->values[out->id].place == PLACE_ARRAY)
            buf_line(e->out, "%s[%s] = %s;", host_name(e, out), host_flat(e, out->type, c),
                     host_compute(e, op, c));
        else
            buf_line(e->out, "%s %s = %s;", host_ctype(out->type), host_name(e, out),
                     host_compute(e, op, c));
    }
}

/// Rows in the straight form where that is found to hold, in the ordinary one where not.
static void host_rows(HostEmit *e, const IrOp *first, const IrOp *last, const Type *shape,
                      HostStraight *s)
{
    unsigned outer = 0;
    for (unsigned i = 0; i < s->axis; i++)
        if (shape->shape[i] > 1) {
            host_open_axis(e, shape, i);
            outer++;
        }
    HostCoords c = host_coords_of_loops(e, shape);
    host_straight_begin(e, s, shape);
    host_open_axis(e, shape, s->axis);
    host_members(e, first, last, &c);
    host_close(e);
    e->straight = NULL;
    if (s->is_tested) {
        e->out->indent--;
        buf_line(e->out, "} else {");
        e->out->indent++;
        host_open_axis(e, shape, s->axis);
        host_members(e, first, last, &c);
        host_close(e);
    }
    for (unsigned i = 0; i < outer + 1; i++)
        host_close(e);
}

/// The loop of group `mark`: from `first` through its last member. Scalars among them come first:
/// they cannot depend on the group.
static const IrOp *host_group(HostEmit *e, const IrOp *first)
{
    const IrOp *last = first;
    const Type *shape = first->code == IR_STORE ? first->args[0]->type : first->results[0]->type;
    for (const IrOp *op = first; op; op = op->next)
        if (op->mark == first->mark)
            last = op;
    HostCoords none = { 0 };
    for (const IrOp *op = first; op != last->next; op = op->next) {
        if (op->resultc == 1 && !type_is_block(op->results[0]->type))
            buf_line(e->out, "%s const %s = %s;", host_ctype(op->results[0]->type),
                     host_name(e, op->results[0]), host_compute(e, op, &none));
        else if (op->mark && op->resultc && e->values[op->results[0]->id].place == PLACE_ARRAY)
            host_declare_array(e, host_name(e, op->results[0]), op->results[0]->type);
    }
    HostStraight s;
    if (host_straight_plan(e, first, last, shape, &s)) {
        host_rows(e, first, last, shape, &s);
        return last;
    }
    host_open_loops(e, shape);
    HostCoords c = host_coords_of_loops(e, shape);
    host_members(e, first, last, &c);
    host_close_loops(e, shape);
    return last;
}

/// Declares storage for carried values or results; scalars are mutable variables.
static void host_declare(HostEmit *e, const char *name, const Type *t)
{
    if (type_is_block(t))
        host_declare_array(e, name, t);
    else
        buf_line(e->out, "%s %s;", host_ctype(t), name);
}

/// The same for a value of the IR; one that nothing reads is mentioned, for compilers that warn.
static void host_declare_value(HostEmit *e, const IrValue *v)
{
    host_declare(e, host_name(e, v), v->type);
    if (!e->uses[v->id])
        buf_line(e->out, "(void)%s;", host_name(e, v));
}

static void host_copy(HostEmit *e, const char *to, const IrValue *from)
{
    if (!type_is_block(from->type)) {
        buf_line(e->out, "%s = %s;", to, host_name(e, from));
        return;
    }
    host_open_loops(e, from->type);
    HostCoords c = host_coords_of_loops(e, from->type);
    buf_line(e->out, "%s[%s] = %s;", to, host_flat(e, from->type, &c), host_at(e, from, &c));
    host_close_loops(e, from->type);
}

static void host_copy_named(HostEmit *e, const char *to, const char *from, const Type *t)
{
    if (!type_is_block(t)) {
        buf_line(e->out, "%s = %s;", to, from);
        return;
    }
    host_open_loops(e, t);
    HostCoords c = host_coords_of_loops(e, t);
    const char *flat = host_flat(e, t, &c);
    buf_line(e->out, "%s[%s] = %s[%s];", to, flat, from, flat);
    host_close_loops(e, t);
}

/// Whether elements of `v` are computed where they are wanted, from other elements of `of`.
static bool host_reads_others(const HostEmit *e, const IrValue *v, const IrValue *of, bool moved)
{
    if (v == of)
        return moved;
    if (!v || !v->def || !type_is_block(v->type) || e->values[v->id].place != PLACE_VIRTUAL)
        return false;
    moved |= ir_op_info[v->def->code].cls == OPCLASS_SHAPE;
    for (uint32_t i = 0; i < v->def->argc; i++)
        if (host_reads_others(e, v->def->args[i], of, moved))
            return true;
    return false;
}

/// Assigns every from[i] to to[i] at once: through copies when one assignment could disturb
/// another, or the rest of itself.
static void host_assign(HostEmit *e, IrValue *const *to, IrValue *const *from, uint32_t n)
{
    uint32_t moved = 0;
    bool is_direct = true;
    for (uint32_t i = 0; i < n; i++) {
        moved += to[i] != from[i];
        is_direct = is_direct && moved <= 1 && !host_reads_others(e, from[i], to[i], false);
    }
    for (int turn = is_direct ? 1 : 0; turn < 2; turn++)
        for (uint32_t i = 0; i < n; i++) {
            const char *name = host_name(e, to[i]);
            const char *next = arena_printf(&e->scratch, "next_%s", name);
            if (to[i] == from[i])
                continue;
            if (turn == 0) {
                host_declare(e, next, to[i]->type);
                host_copy(e, next, from[i]);
            } else if (!is_direct) {
                host_copy_named(e, name, next, to[i]->type);
            } else {
                host_copy(e, name, from[i]);
            }
        }
}

/// Declares the values and copies their starting values in.
static void host_start(HostEmit *e, IrValue *const *values, IrValue *const *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        host_declare_value(e, values[i]);
        host_copy(e, host_name(e, values[i]), from[i]);
    }
}

static void host_finish(HostEmit *e, const IrOp *op, IrValue *const *carried)
{
    for (uint32_t i = 0; i < op->resultc; i++) {
        if (!e->uses[op->results[i]->id])
            continue;
        host_declare(e, host_name(e, op->results[i]), op->results[i]->type);
        host_copy(e, host_name(e, op->results[i]), carried[i]);
    }
}

/// The trip count is computed ahead, unsigned, so that no bound near the type's limit can overflow.
static void host_for(HostEmit *e, const IrOp *op)
{
    const IrBlock *body = op->regions[0];
    const IrValue *i = body->args[0];
    const char *name = host_name(e, i), *suffix = host_suffix(i->type);
    host_start(e, body->args + 1, op->args + 3, op->resultc);
    const char *lo = host_name(e, op->args[0]), *step = host_name(e, op->args[2]);
    buf_line(e->out, "uint64_t trips_%s = nth_trips_%s(%s, %s, %s);", name, suffix, lo,
             host_name(e, op->args[1]), step);
    buf_line(e->out, "for (%s %s = %s; trips_%s > 0; trips_%s--, %s = nth_add_%s(%s, %s)) {",
             host_ctype(i->type), name, lo, name, name, name, suffix, name, step);
    e->out->indent++;
    host_block(e, body);
    host_assign(e, body->args + 1, body->last->args, op->resultc);
    e->out->indent--;
    buf_line(e->out, "}");
    host_finish(e, op, body->args + 1);
}

static void host_while(HostEmit *e, const IrOp *op)
{
    const IrBlock *cond = op->regions[0], *body = op->regions[1];
    host_start(e, cond->args, op->args, op->resultc);
    buf_line(e->out, "for (;;) {");
    e->out->indent++;
    host_block(e, cond);
    buf_line(e->out, "if (!%s)", host_name(e, cond->last->args[0]));
    buf_line(e->out, "    break;");
    host_start(e, body->args, cond->args, op->resultc);
    host_block(e, body);
    host_assign(e, cond->args, body->last->args, op->resultc);
    e->out->indent--;
    buf_line(e->out, "}");
    host_finish(e, op, cond->args);
}

static void host_if(HostEmit *e, const IrOp *op)
{
    for (uint32_t i = 0; i < op->resultc; i++)
        host_declare_value(e, op->results[i]);
    for (uint32_t arm = 0; arm < 2; arm++) {
        const IrBlock *b = op->regions[arm];
        if (arm == 1 && b->first == b->last && op->resultc == 0)
            break;  // an empty else
        if (arm == 0)
            buf_line(e->out, "if (%s) {", host_name(e, op->args[0]));
        else
            buf_line(e->out, "} else {");
        e->out->indent++;
        host_block(e, b);
        for (uint32_t i = 0; i < op->resultc; i++)
            host_copy(e, host_name(e, op->results[i]), b->last->args[i]);
        e->out->indent--;
    }
    buf_line(e->out, "}");
}

/// Sizes of each map, then its strides; last, whether all is well.
static void host_return_shapes(HostEmit *e, const IrOp *op)
{
    uint32_t at = 0;
    for (unsigned m = 0; m < e->map_count; m++) {
        for (unsigned k = 0; k < e->maps[m].rank; k++)
            buf_line(e->out, "shapes[%u].size[%u] = %s;", m, k, host_name(e, op->args[at++]));
        buf_line(e->out, "shapes[%u].stride[0] = 1;", m);
        for (unsigned k = 1; k < e->maps[m].rank; k++)
            buf_line(e->out, "shapes[%u].stride[%u] = %s;", m, k, host_name(e, op->args[at++]));
    }
    buf_line(e->out, "return status == NEWT_OK && !%s ? NEWT_TOO_LARGE : status;",
             host_name(e, op->args[at]));
}

static void host_return(HostEmit *e, const IrOp *op)
{
    if (e->maps) {
        host_return_shapes(e, op);
        return;
    }
    if (!e->is_grid)
        return;
    for (uint32_t i = 0; i < op->argc; i++)
        buf_line(e->out, "grid[%u] = %s;", i, host_name(e, op->args[i]));
    for (uint32_t i = op->argc; i < 3; i++)
        buf_line(e->out, "grid[%u] = 1;", i);
    buf_line(e->out, "return status;");
}

/// An operation outside every group: scalars, accesses through one pointer, reductions, atomics.
static void host_single(HostEmit *e, const IrOp *op)
{
    HostCoords none = { 0 };
    const IrValue *out = op->resultc ? op->results[0] : NULL;
    OpClass cls = ir_op_info[op->code].cls;
    if (op->code == IR_STORE) {
        host_store(e, op, &none);
    } else if (cls == OPCLASS_ATOMIC) {
        assert(out);
        host_declare_value(e, out);
        host_open_loops(e, out->type);
        HostCoords c = host_coords_of_loops(e, out->type);
        host_atomic(e, op, &c);
        host_close_loops(e, out->type);
    } else if (op->code == IR_REDUCE) {
        host_reduce(e, op);
    } else if (op->code == IR_DOT) {
        host_dot(e, op);
    } else if (cls == OPCLASS_DEBUG) {
        return;  // one thread runs a program: it needs no barrier; asserts are a debug build's
    } else if (out && !type_is_block(out->type)) {
        buf_line(e->out, "%s const %s = %s;", host_ctype(out->type), host_name(e, out),
                 host_compute(e, op, &none));
    } else if (out && e->values[out->id].place == PLACE_ARRAY) {
        host_declare_array(e, host_name(e, out), out->type);
        host_open_loops(e, out->type);
        HostCoords c = host_coords_of_loops(e, out->type);
        buf_line(e->out, "%s[%s] = %s;", host_name(e, out), host_flat(e, out->type, &c),
                 host_compute(e, op, &c));
        host_close_loops(e, out->type);
    }
}

void host_block(HostEmit *e, const IrBlock *b)
{
    for (const IrOp *op = b->first; op; op = op->next) {
        if (op->mark) {
            op = host_group(e, op);
            continue;
        }
        switch (op->code) {
        case IR_FOR: host_for(e, op); break;
        case IR_WHILE: host_while(e, op); break;
        case IR_IF: host_if(e, op); break;
        case IR_YIELD: break;
        case IR_RETURN: host_return(e, op); break;
        default: host_single(e, op); break;
        }
    }
}
