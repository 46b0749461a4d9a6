/// dot.c - matrix products: rows of the result grow by one product of the inner axis at a time.
///
/// The innermost loop runs along a row of the second factor, which vectorises. Sums are kept in
/// fp32, fp64 or int32 and rounded to the result's type at the end.
#include "backend/hostc/hostc_impl.h"

/// A factor as it is multiplied: fp32 factors as tf32 where the dot says so.
static const char *host_factor(HostEmit *e, const IrOp *op, const IrValue *v, const HostCoords *c)
{
    const char *x = host_at(e, v, c);
    return op->attr.dot.precision == PRECISION_TF32
               ? arena_printf(&e->scratch, "nth_round_tf32(%s)", x)
               : x;
}

static void host_open(HostEmit *e, const char *name, int32_t extent)
{
    buf_line(e->out, "for (int32_t %s = 0; %s < %d; %s++) {", name, name, extent, name);
    e->out->indent++;
}

void host_dot(HostEmit *e, const IrOp *op)
{
    const IrValue *a = op->args[0], *b = op->args[1], *out = op->results[0];
    const unsigned rank = type_rank(out->type), m = rank - 2, n = rank - 1;
    const bool small = type_scalar_kind(out->type) == SCALAR_F16;
    const char *sum = host_ctype(out->type), *suffix = host_suffix(out->type);
    HostCoords at = { .rank = rank, .at = { "g", "g", "g" } }, left = at, right = at;
    const unsigned outer = rank == 3 ? 2 : 1;
    at.at[m] = left.at[m] = "m";
    at.at[n] = right.at[n] = "n";
    left.at[n] = right.at[m] = "k";
    const char *target =
        arena_printf(&e->scratch, "%s[%s]", host_name(e, out), host_flat(e, out->type, &at));

    host_declare_array(e, host_name(e, out), out->type);
    if (rank == 3)
        host_open(e, "g", out->type->shape[0]);
    host_open(e, "m", out->type->shape[m]);
    buf_line(e->out, "%s row[%d];", sum, out->type->shape[n]);
    buf_line(e->out, "for (int32_t n = 0; n < %d; n++)", out->type->shape[n]);
    buf_line(e->out, "    row[n] = %s;", host_at(e, op->args[2], &at));
    host_open(e, "k", a->type->shape[n]);
    buf_line(e->out, "const %s x = %s;", sum, host_factor(e, op, a, &left));
    buf_line(e->out, "for (int32_t n = 0; n < %d; n++)", out->type->shape[n]);
    const char *y = host_factor(e, op, b, &right);
    if (small)
        buf_line(e->out, "    row[n] += x * %s;", y);
    else
        buf_line(e->out, "    row[n] = nth_add_%s(row[n], nth_mul_%s(x, %s));", suffix, suffix, y);
    e->out->indent--;
    buf_line(e->out, "}");
    buf_line(e->out, "for (int32_t n = 0; n < %d; n++)", out->type->shape[n]);
    buf_line(e->out, small ? "    %s = nth_round_f16((double)row[n]);" : "    %s = row[n];",
             target);
    for (unsigned i = 0; i < outer; i++) {
        e->out->indent--;
        buf_line(e->out, "}");
    }
}
