/// element.c - the C expression of one element of a block value.
///
/// Coordinates travel as text, one expression an axis. Shape operations rewrite coordinates; locals and
/// arrays end the recursion. All extents are powers of two, so reshapes are shifts and masks.
#include "backend/hostc/hostc_impl.h"
#include <inttypes.h>
#include <string.h>

HostCoords host_coords_of_loops(HostEmit *e, const Type *t)
{
    HostCoords c = { .rank = type_rank(t) };
    for (unsigned i = 0; i < c.rank; i++)
        c.at[i] = t->shape[i] == 1 ? "0" : arena_printf(&e->scratch, "i%u", i);
    return c;
}

static unsigned host_log2(uint32_t n)
{
    unsigned k = 0;
    while (n >> (k + 1))
        k++;
    return k;
}

const char *host_flat(HostEmit *e, const Type *t, const HostCoords *c)
{
    Buf b = { 0 };
    uint32_t stride = t->numel;
    for (unsigned i = 0; i < c->rank; i++) {
        stride /= (uint32_t)t->shape[i];
        if (strcmp(c->at[i], "0") == 0)
            continue;
        buf_puts(&b, b.len ? " + " : "");
        if (stride == 1)
            buf_puts(&b, c->at[i]);
        else
            buf_printf(&b, "%s * %u", c->at[i], stride);
    }
    const char *text = b.len ? arena_strndup(&e->scratch, b.at, b.len) : "0";
    buf_free(&b);
    return text;
}

/// The coordinates in `to` of the element at `c` in `from`, both in row-major order.
static HostCoords host_reshape_coords(HostEmit *e, const Type *from, const HostCoords *c, const Type *to)
{
    const char *flat = host_flat(e, from, c);
    HostCoords out = { .rank = type_rank(to) };
    uint32_t stride = to->numel;
    for (unsigned i = 0; i < out.rank; i++) {
        uint32_t extent = (uint32_t)to->shape[i];
        bool outermost = stride == to->numel;
        stride /= extent;
        if (extent == 1 || strcmp(flat, "0") == 0)
            out.at[i] = "0";
        else if (stride == 1 && outermost)
            out.at[i] = arena_printf(&e->scratch, "(%s)", flat);
        else if (outermost)
            out.at[i] = arena_printf(&e->scratch, "((%s) >> %u)", flat, host_log2(stride));
        else
            out.at[i] = arena_printf(&e->scratch, "((%s) >> %u & %u)", flat, host_log2(stride), extent - 1);
    }
    return out;
}

/// The operand's coordinates for a shape operation's result at `c`.
static HostCoords host_source_coords(HostEmit *e, const IrOp *op, const HostCoords *c)
{
    const Type *from = op->args[0]->type;
    HostCoords out = { .rank = type_rank(from) };
    switch (op->code) {
    case IR_BROADCAST:
        for (unsigned i = 0; i < out.rank; i++)
            out.at[i] = from->shape[i] == 1 ? "0" : c->at[i];
        return out;
    case IR_EXPAND_DIMS:
        for (unsigned i = 0, k = 0; i < c->rank; i++)
            if ((int)i != op->attr.axis)
                out.at[k++] = c->at[i];
        return out;
    case IR_TRANS:
        for (unsigned i = 0; i < c->rank; i++)
            out.at[op->attr.perm[i]] = c->at[i];
        return out;
    default: return host_reshape_coords(e, op->results[0]->type, c, from);
    }
}

/// Where an element of a CARRY comes from.
static HostCoords host_carry_coords(HostEmit *e, const IrOp *op, const HostCoords *c)
{
    HostCoords from = *c;
    const char *i = c->at[op->attr.scan.axis];
    const long half = 1L << op->attr.scan.bit;
    // The lowest bits of the index, all set in front of a half, all clear behind one.
    from.at[op->attr.scan.axis] =
        op->attr.scan.reverse
            ? arena_printf(&e->scratch, "(((%s) & %ld) ? (%s) : ((%s) | %ld) & -%ld)", i, half, i, i,
                           half, half)
            : arena_printf(&e->scratch, "(((%s) & %ld) ? ((%s) & -%ld) - 1 : (%s))", i, half, i, half,
                           i);
    return from;
}

static const char *host_arange(HostEmit *e, const IrOp *op, const HostCoords *c)
{
    const char *i = c->at[0];
    if (op->attr.range.lo == 0)
        return arena_printf(&e->scratch, "(int32_t)(%s)", i);
    return arena_printf(&e->scratch, "(int32_t)(%" PRId64 " + %s)", op->attr.range.lo, i);
}

/// Conversions go through one function a target type; the widest source type loses nothing.
static const char *host_cast(HostEmit *e, const IrOp *op, const char *x)
{
    const Type *from = op->args[0]->type, *to = op->results[0]->type;
    bool rtz = op->attr.round_to_zero;
    if (type_is_ptr(to))
        return type_is_ptr(from) ? x : arena_printf(&e->scratch, "(unsigned char *)(uintptr_t)(%s)", x);
    if (type_is_ptr(from))
        return arena_printf(&e->scratch, type_is_bool(to) ? "(uint8_t)(%s != NULL)" : "(%s)(uintptr_t)(%s)",
                            type_is_bool(to) ? x : host_ctype(to), x);
    if (type_is_bool(to))
        return arena_printf(&e->scratch, "(uint8_t)(%s != 0)", x);
    bool from_float = type_is_float(from) || type_is_fp8(from);
    if (!type_is_float(to) && !type_is_fp8(to)) {
        if (from_float)
            return arena_printf(&e->scratch, "nth_to_%s(%s)", host_suffix(to), x);
        return arena_printf(&e->scratch, "(%s)(%s)", host_ctype(to), x);
    }
    ScalarKind k = type_scalar_kind(to);
    if (k == SCALAR_F64 || (k == SCALAR_F32 && !from_float))
        return arena_printf(&e->scratch, "(%s)(%s)", host_ctype(to), x);
    if (from_float)
        return arena_printf(&e->scratch, "nth_round_%s%s((double)%s)", host_suffix(to), rtz ? "_rtz" : "", x);
    bool is_signed = type_is_signed(from);
    return arena_printf(&e->scratch, "nth_int_to_%s_%c(%s)", host_suffix(to), is_signed ? 's' : 'u', x);
}

static const char *host_bitcast(HostEmit *e, const IrOp *op, const char *x)
{
    const Type *from = op->args[0]->type, *to = op->results[0]->type;
    if (type_is_ptr(from) || type_is_ptr(to))
        return host_cast(e, op, x);
    return arena_printf(&e->scratch, "nth_from_bits_%s(nth_to_bits_%s(%s))", host_suffix(to), host_suffix(from), x);
}

static const char *host_load(HostEmit *e, const IrOp *op, const HostCoords *c)
{
    const Type *t = op->results[0]->type;
    const char *p = host_at(e, op->args[0], c);
    if (!op->args[1] || e->straight)
        return arena_printf(&e->scratch, "nth_load_%s(%s)", host_suffix(t), p);
    const char *mask = host_at(e, op->args[1], c);
    const char *other = op->args[2] ? host_at(e, op->args[2], c) : "0";
    return arena_printf(&e->scratch, "%s ? nth_load_%s(%s) : (%s)(%s)", mask, host_suffix(t), p, host_ctype(t), other);
}

static const char *host_ptr(HostEmit *e, const IrOp *op, const char *p, const char *offset)
{
    unsigned size = type_elem_bytes(type_elem(op->args[0]->type)->elem);
    if (op->code == IR_PTR_ADD)
        return arena_printf(&e->scratch, "nth_ptr_add(%s, (int64_t)(%s), %u)", p, offset, size);
    return arena_printf(&e->scratch, "nth_ptr_diff(%s, %s, %u)", p, offset, size);
}

/// Operations whose result may not fit 64 bits: in a grid expression each tells.
static bool host_may_overflow(const IrOp *op)
{
    static const IrCode codes[] = {
        IR_ADD, IR_SUB, IR_MUL, IR_IDIV, IR_REM, IR_CDIV, IR_NEG, IR_ABS, IR_SHL
    };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (op->code == codes[i])
            return true;
    return false;
}

static const char *host_elementwise(HostEmit *e, const IrOp *op, const HostCoords *c)
{
    const char *x[3] = { "", "", "" };
    for (uint32_t i = 0; i < op->argc && i < 3; i++)
        x[i] = host_at(e, op->args[i], c);
    switch (op->code) {
    case IR_CAST: return host_cast(e, op, x[0]);
    case IR_BITCAST: return host_bitcast(e, op, x[0]);
    case IR_PTR_ADD:
    case IR_PTR_DIFF: return host_ptr(e, op, x[0], x[1]);
    case IR_SELECT: return arena_printf(&e->scratch, "(%s ? %s : %s)", x[0], x[1], x[2]);
    default: break;
    }
    const char *suffix = host_suffix(op->args[0]->type);
    const char *nan = ir_op_info[op->code].attr == ATTR_NAN && op->attr.propagate_nan && type_is_float(op->args[0]->type)
                          ? "_nan" : "";
    const char *grid = e->is_grid && host_may_overflow(op) ? "_checked" : "";
    const char *half = op->code == IR_ROUND ? "_half" : "";  // nth_round_f32 is the conversion
    Buf b = { 0 };
    buf_printf(&b, "nth_%s%s%s_%s%s(", ir_op_info[op->code].mnemonic, nan, grid, suffix, half);
    for (uint32_t i = 0; i < op->argc; i++)
        buf_printf(&b, "%s%s", i ? ", " : "", x[i]);
    buf_puts(&b, *grid ? ", &status)" : ")");
    const char *text = arena_strndup(&e->scratch, b.at, b.len);
    buf_free(&b);
    return text;
}

const char *host_compute(HostEmit *e, const IrOp *op, const HostCoords *c)
{
    switch (op->code) {
    case IR_CONST: return host_const(e, op->results[0]->type, &op->attr.konst);
    case IR_ARANGE: return host_arange(e, op, c);
    case IR_SPLAT: return host_at(e, op->args[0], c);
    case IR_PROGRAM_ID: return arena_printf(&e->scratch, "program->id[%d]", op->attr.axis);
    case IR_NUM_PROGRAMS: return arena_printf(&e->scratch, "program->grid[%d]", op->attr.axis);
    case IR_LOAD: return host_load(e, op, c);
    default: break;
    }
    if (op->code == IR_CARRY) {
        const HostCoords from = host_carry_coords(e, op, c);
        return host_at(e, op->args[0], &from);
    }
    if (ir_op_info[op->code].cls == OPCLASS_SHAPE) {
        HostCoords from = host_source_coords(e, op, c);
        return host_at(e, op->args[0], &from);
    }
    if (ir_op_info[op->code].cls == OPCLASS_ELEMENTWISE)
        return host_elementwise(e, op, c);
    diag_report(e->diags, DIAG_UNSUPPORTED, op->span, "the host target does not compile '%s' yet",
                ir_op_info[op->code].mnemonic);
    e->failed = true;
    return "0";
}

const char *host_at(HostEmit *e, const IrValue *v, const HostCoords *c)
{
    if (!type_is_block(v->type))
        return host_name(e, v);
    const char *row = host_straight_pointer(e, v, c);
    if (row)
        return row;
    switch (e->values[v->id].place) {
    case PLACE_VIRTUAL: return host_compute(e, v->def, c);
    case PLACE_ARRAY: return arena_printf(&e->scratch, "%s[%s]", host_name(e, v), host_flat(e, v->type, c));
    case PLACE_LOCAL:
    case PLACE_NONE: break;
    }
    return host_name(e, v);
}
