/// reduce.c - reductions along one axis.
///
/// Along the innermost axis sixteen partial results are kept and combined as a tree at the end, which is
/// what vector units and accuracy both want; along another axis whole rows are combined. argmax and
/// argmin go through the elements in order, so the lowest index wins a tie and a NaN never wins.
#include "backend/hostc/hostc_impl.h"

enum { LANES = 16 };

/// "nth_add_f32(a, b)": how two partial results combine.
static const char *host_combine(HostEmit *e, const IrOp *op, const char *a, const char *b)
{
    static const char *const names[] = { "add", "max", "min", "", "", "xor", "or" };
    const Type *t = op->args[0]->type;
    const char *nan = op->attr.reduce.propagate_nan && type_is_float(t) &&
                              (op->attr.reduce.kind == REDUCE_MAX || op->attr.reduce.kind == REDUCE_MIN)
                          ? "_nan" : "";
    return arena_printf(&e->scratch, "nth_%s%s_%s(%s, %s)", names[op->attr.reduce.kind], nan, host_suffix(t), a, b);
}

static const char *host_reduce_target(HostEmit *e, const IrOp *op, const HostCoords *c)
{
    const IrValue *out = op->results[0];
    if (!type_is_block(out->type))
        return host_name(e, out);
    HostCoords kept = { .rank = type_rank(out->type) };
    for (unsigned i = 0, k = 0; i < c->rank; i++)
        if ((int)i != op->attr.reduce.axis)
            kept.at[k++] = c->at[i];
    return arena_printf(&e->scratch, "%s[%s]", host_name(e, out), host_flat(e, out->type, &kept));
}

/// Loops over every axis but the reduced one.
static unsigned host_open_outer(HostEmit *e, const IrOp *op)
{
    const Type *t = op->args[0]->type;
    unsigned loops = 0;
    for (unsigned i = 0; i < type_rank(t); i++)
        if ((int)i != op->attr.reduce.axis && t->shape[i] > 1) {
            buf_line(e->out, "for (int32_t i%u = 0; i%u < %d; i%u++) {", i, i, t->shape[i], i);
            e->out->indent++;
            loops++;
        }
    return loops;
}

static void host_close(HostEmit *e, unsigned loops)
{
    while (loops--) {
        e->out->indent--;
        buf_line(e->out, "}");
    }
}

static void host_arg_reduce(HostEmit *e, const IrOp *op, HostCoords c)
{
    unsigned axis = (unsigned)op->attr.reduce.axis;
    const IrValue *x = op->args[0];
    const char *type = host_ctype(x->type), *suffix = host_suffix(x->type);
    const char *which = op->attr.reduce.kind == REDUCE_ARGMAX ? "argmax" : "argmin";
    c.at[axis] = "0";
    buf_line(e->out, "%s best = %s;", type, host_at(e, x, &c));
    buf_line(e->out, "int32_t at = 0;");
    buf_line(e->out, "for (int32_t k = 1; k < %d; k++) {", x->type->shape[axis]);
    c.at[axis] = "k";
    e->out->indent++;
    buf_line(e->out, "const %s next = %s;", type, host_at(e, x, &c));
    buf_line(e->out, "if (nth_%s_%s(next, best)) {", which, suffix);
    buf_line(e->out, "    best = next;");
    buf_line(e->out, "    at = k;");
    buf_line(e->out, "}");
    host_close(e, 1);
    buf_line(e->out, "%s = at;", host_reduce_target(e, op, &c));
}

/// One result from `extent` elements along `axis` at the other coordinates of `c`.
static void host_lanes_reduce(HostEmit *e, const IrOp *op, HostCoords c)
{
    unsigned axis = (unsigned)op->attr.reduce.axis;
    const IrValue *x = op->args[0];
    int32_t extent = x->type->shape[axis], lanes = extent < LANES ? extent : LANES;
    buf_line(e->out, "%s part[%d];", host_ctype(x->type), lanes);
    buf_line(e->out, "for (int32_t l = 0; l < %d; l++)", lanes);
    c.at[axis] = "l";
    buf_line(e->out, "    part[l] = %s;", host_at(e, x, &c));
    if (extent > lanes) {
        buf_line(e->out, "for (int32_t k = %d; k < %d; k += %d)", lanes, extent, lanes);
        buf_line(e->out, "    for (int32_t l = 0; l < %d; l++)", lanes);
        c.at[axis] = "(k + l)";
        buf_line(e->out, "        part[l] = %s;", host_combine(e, op, "part[l]", host_at(e, x, &c)));
    }
    for (int32_t half = lanes / 2; half; half /= 2) {
        buf_line(e->out, "for (int32_t l = 0; l < %d; l++)", half);
        buf_line(e->out, "    part[l] = %s;",
                 host_combine(e, op, "part[l]", arena_printf(&e->scratch, "part[l + %d]", half)));
    }
    buf_line(e->out, "%s = part[0];", host_reduce_target(e, op, &c));
}

/// The reduced axis outside: rows combine element by element, which vectorises along the inner axis.
static void host_rows_reduce(HostEmit *e, const IrOp *op)
{
    unsigned axis = (unsigned)op->attr.reduce.axis;
    const IrValue *x = op->args[0];
    HostCoords c = host_coords_of_loops(e, x->type);
    c.at[axis] = "0";
    unsigned loops = host_open_outer(e, op);
    buf_line(e->out, "%s = %s;", host_reduce_target(e, op, &c), host_at(e, x, &c));
    host_close(e, loops);
    buf_line(e->out, "for (int32_t k = 1; k < %d; k++) {", x->type->shape[axis]);
    e->out->indent++;
    loops = host_open_outer(e, op);
    c.at[axis] = "k";
    const char *target = host_reduce_target(e, op, &c);
    buf_line(e->out, "%s = %s;", target, host_combine(e, op, target, host_at(e, x, &c)));
    host_close(e, loops + 1);
}

void host_reduce(HostEmit *e, const IrOp *op)
{
    const IrValue *out = op->results[0];
    const Type *t = op->args[0]->type;
    unsigned axis = (unsigned)op->attr.reduce.axis;
    bool arg = op->attr.reduce.kind == REDUCE_ARGMAX || op->attr.reduce.kind == REDUCE_ARGMIN;

    if (type_is_block(out->type))
        host_declare_array(e, host_name(e, out), out->type);
    else
        buf_line(e->out, "%s %s;", host_ctype(out->type), host_name(e, out));
    if (!arg && type_is_block(out->type) && axis + 1 < type_rank(t)) {
        host_rows_reduce(e, op);
        return;
    }
    unsigned loops = host_open_outer(e, op);
    buf_line(e->out, "{");
    e->out->indent++;
    if (arg)
        host_arg_reduce(e, op, host_coords_of_loops(e, t));
    else
        host_lanes_reduce(e, op, host_coords_of_loops(e, t));
    host_close(e, loops + 1);
}
