// print.c - the text form of block IR; read.c has its grammar and reads it back.
//
// Values are numbered in the order in which the text defines them, with the user's name in front
// (`%acc.12`), so that the same function always gives the same text, whatever passes it went
// through. Operands that are absent are left out; the present ones of them carry their names.
#include "ir/text_impl.h"

#include <inttypes.h>
#include <string.h>

const char *const ir_text_cache[] = { "default", "ca", "cg", "cv", "wb", "cs", "wt" };
const char *const ir_text_evict[] = { "default", "first", "last" };
const char *const ir_text_precision[] = { "ieee", "tf32", "tf32x3", "bf16x3", "bf16x6" };
const char *const ir_text_reduce[] = { "sum", "max", "min", "argmax", "argmin", "xor", "or" };
const char *const ir_text_atomic[] = { "add", "max", "min", "and", "or", "xor", "xchg" };
const char *const ir_text_order[] = { "relaxed", "acquire", "release", "acq_rel" };
const char *const ir_text_scope[] = { "cta", "gpu", "sys" };

typedef struct Printer {
    Buf *out;
    const IrLayoutText *layouts;
    uint32_t *number;  // by value id: number in the text + 1; 0 before its definition
    uint32_t count;
    unsigned depth;
} Printer;

static void print_value(const Printer *p, const IrValue *v)
{
    buf_putc(p->out, '%');
    if (v->hint)
        buf_printf(p->out, "%s.", v->hint->text);
    if (p->number[v->id])
        buf_printf(p->out, "%" PRIu32, p->number[v->id] - 1);
    else
        buf_printf(p->out, "undefined_%" PRIu32, v->id);  // only in a dump of broken IR
}

static void define_value(Printer *p, const IrValue *v)
{
    p->number[v->id] = ++p->count;
    print_value(p, v);
}

static void print_type(const Printer *p, const IrValue *v)
{
    type_print(p->out, v->type);
    if (v->layout && p->layouts) {
        buf_puts(p->out, " @[");
        p->layouts->print(p->layouts->cx, v->layout, p->out);
        buf_putc(p->out, ']');
    }
}

static void print_arg(Printer *p, const IrValue *v)
{
    define_value(p, v);
    buf_puts(p->out, ": ");
    print_type(p, v);
}

static void print_const(Buf *out, const Type *type, IrConst c)
{
    if (c.is_float)
        buf_double(out, c.f);
    else if (type_is_bool(type))
        buf_puts(out, c.i ? "true" : "false");
    else if (type_is_ptr(type) || type_scalar_kind(type) == SCALAR_U64)
        buf_printf(out, "%" PRIu64, (uint64_t)c.i);
    else
        buf_printf(out, "%" PRId64, c.i);
}

/* ---- attributes: `{name=value, flag}` ---- */

typedef struct AttrList {
    Buf *out;
    bool open;
} AttrList;

static void attr(AttrList *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void attr(AttrList *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_puts(l->out, l->open ? ", " : " {");
    buf_vprintf(l->out, format, args);
    va_end(args);
    l->open = true;
}

static void attr_flag(AttrList *l, const char *name, bool on)
{
    if (on)
        attr(l, "%s", name);
}

static void print_mem(AttrList *l, const IrMem *m)
{
    if (m->cache != CACHE_DEFAULT)
        attr(l, "cache=%s", ir_text_cache[m->cache]);
    if (m->evict != EVICT_DEFAULT)
        attr(l, "evict=%s", ir_text_evict[m->evict]);
    attr_flag(l, "volatile", m->is_volatile);
    if (m->vec)
        attr(l, "vec=%u", m->vec);
    attr_flag(l, "contiguous", m->contiguous);
    attr_flag(l, "aligned", m->aligned);
    attr_flag(l, "mask_uniform", m->mask_uniform);
    attr_flag(l, "aligned_alike", m->aligned_alike);
    attr_flag(l, "mask_falls", m->mask_falls);
}

static void print_perm(AttrList *l, const uint8_t *perm, unsigned rank)
{
    attr(l, "perm=[");
    for (unsigned k = 0; k < rank; k++)
        buf_printf(l->out, "%s%u", k ? ", " : "", perm[k]);
    buf_putc(l->out, ']');
}

static void print_copy(AttrList *l, const IrAttr *a)
{
    attr(l, "ring=%u", a->copy.ring);
    attr_flag(l, "ordered", a->copy.ordered);
    attr_flag(l, "tf32", a->copy.tf32);
    print_mem(l, &a->copy.mem);
}

static void print_pipe_use(AttrList *l, const IrOp *op)
{
    if (op->code != IR_TENSOR_STORE)
        attr(l, "pipe=%u", op->attr.pipe.pipe);
    if (op->code != IR_TENSOR_LOAD && op->code != IR_TENSOR_STORE)
        return;
    attr(l, "ring=%u", op->attr.pipe.ring);
    attr(l, "map=%u", op->attr.pipe.map);
    attr_flag(l, "evict_first", op->attr.pipe.evict_first);
    attr_flag(l, "multicast", op->attr.pipe.multicast);
}

static void print_scan(AttrList *l, const IrOp *op)
{
    attr(l, "axis=%d", op->attr.scan.axis);
    attr(l, "bit=%d", op->attr.scan.bit);
    attr_flag(l, "reverse", op->attr.scan.reverse);
}

static void print_attrs(Buf *out, const IrOp *op)
{
    AttrList l = { out, false };
    const IrAttr *a = &op->attr;
    switch (ir_op_info[op->code].attr) {
    case ATTR_AXIS: attr(&l, "axis=%d", a->axis); break;
    case ATTR_PERM: print_perm(&l, a->perm, type_rank(op->results[0]->type)); break;
    case ATTR_MEM: print_mem(&l, &a->mem); break;
    case ATTR_REDUCE:
        attr(&l, "kind=%s", ir_text_reduce[a->reduce.kind]);
        attr(&l, "axis=%d", a->reduce.axis);
        attr_flag(&l, "propagate_nan", a->reduce.propagate_nan);
        attr_flag(&l, "tie_break_left", a->reduce.tie_break_left);
        break;
    case ATTR_SCAN: print_scan(&l, op); break;
    case ATTR_ATOMIC:
        attr(&l, "kind=%s", ir_text_atomic[a->atomic.kind]);
        attr(&l, "order=%s", ir_text_order[a->atomic.order]);
        attr(&l, "scope=%s", ir_text_scope[a->atomic.scope]);
        break;
    case ATTR_NAN: attr_flag(&l, "propagate_nan", a->propagate_nan); break;
    case ATTR_CAST: attr_flag(&l, "rtz", a->round_to_zero); break;
    case ATTR_TEXT:
        attr(&l, "text=");
        buf_json_string(out, a->text ? a->text : "", a->text ? strlen(a->text) : 0);
        break;
    case ATTR_BARRIER: attr_flag(&l, "from_user", a->from_user); break;
    case ATTR_DOT:
        attr(&l, "precision=%s", ir_text_precision[a->dot.precision]);
        if (a->dot.mma)
            attr(&l, "mma=%u", a->dot.mma);
        attr_flag(&l, "wgmma", a->dot.wgmma);
        attr_flag(&l, "async", a->dot.async);
        attr_flag(&l, "carried", a->dot.carried);
        break;
    case ATTR_LOOP:
        if (a->num_stages)
            attr(&l, "num_stages=%u", a->num_stages);
        break;
    case ATTR_RING: attr(&l, "ring=%u", a->ring); break;
    case ATTR_COPY: print_copy(&l, a); break;
    case ATTR_GROUPS: attr(&l, "groups=%u", a->groups); break;
    case ATTR_PIPE: print_pipe_use(&l, op); break;
    case ATTR_NONE:
    case ATTR_CONST:  // these two stand where operands do
    case ATTR_RANGE: break;
    }
    if (op->smem >= 0) {
        attr(&l, "smem=%" PRId32, op->smem);
        attr(&l, "smem_bytes=%" PRIu32, op->smem_bytes);
        if (op->smem_turn)
            attr(&l, "smem_turn=%" PRIu32, op->smem_turn);
        attr_flag(&l, "smem_by_warp", op->smem_by_warp);
    }
    if (l.open)
        buf_putc(out, '}');
}

/* ---- operations ---- */

static void print_operands(const Printer *p, const IrOp *op)
{
    IrArity arity = ir_arity(op->code);
    const char *separator = " ";
    for (uint32_t i = 0; i < op->argc; i++) {
        if (!op->args[i])
            continue;
        buf_puts(p->out, separator);
        if (arity.optional && i >= arity.required && i < (uint32_t)arity.required + arity.optional)
            buf_printf(p->out, "%s=", arity.optional_names[i - arity.required]);
        print_value(p, op->args[i]);
        separator = ", ";
    }
    if (op->code == IR_CONST) {
        buf_putc(p->out, ' ');
        print_const(p->out, op->results[0]->type, op->attr.konst);
    } else if (op->code == IR_ARANGE) {
        buf_printf(p->out, " %" PRId64 ", %" PRId64, op->attr.range.lo, op->attr.range.hi);
    }
}

static void print_indent(const Printer *p)
{
    for (unsigned i = 0; i < p->depth; i++)
        buf_puts(p->out, "    ");
}

static void print_ops(Printer *p, const IrBlock *b);

static void print_region(Printer *p, const IrBlock *b)
{
    if (b->argc) {
        buf_puts(p->out, " (");
        for (uint32_t i = 0; i < b->argc; i++) {
            buf_puts(p->out, i ? ", " : "");
            print_arg(p, b->args[i]);
        }
        buf_putc(p->out, ')');
    }
    buf_puts(p->out, " {\n");
    p->depth++;
    print_ops(p, b);
    p->depth--;
    print_indent(p);
    buf_putc(p->out, '}');
}

static void print_op(Printer *p, const IrOp *op)
{
    print_indent(p);
    for (uint32_t i = 0; i < op->resultc; i++) {
        buf_puts(p->out, i ? ", " : "");
        define_value(p, op->results[i]);
    }
    buf_printf(p->out, "%s%s", op->resultc ? " = " : "", ir_op_info[op->code].mnemonic);
    print_operands(p, op);
    print_attrs(p->out, op);
    for (uint32_t i = 0; i < op->resultc; i++) {
        buf_puts(p->out, i ? ", " : " : ");
        print_type(p, op->results[i]);
    }
    for (uint32_t r = 0; r < op->regionc; r++) {
        if (r)
            buf_puts(p->out, op->code == IR_WHILE ? " do" : " else");
        print_region(p, op->regions[r]);
    }
    buf_putc(p->out, '\n');
}

static void print_ops(Printer *p, const IrBlock *b)
{
    for (const IrOp *op = b->first; op; op = op->next)
        print_op(p, op);
}

static void print_param(Printer *p, const IrFunc *fn, uint32_t i)
{
    const IrParam *param = &fn->params[i];
    const IrValue *v = fn->body->args[i];
    AttrList l = { p->out, false };
    print_arg(p, v);
    if (param->source_index != i)
        attr(&l, "index=%" PRIu32, param->source_index);
    if (param->divisor != 1)
        attr(&l, "divisor=%" PRId64, param->divisor);
    if (param->has_range)
        attr(&l, "range=[%" PRId64 ", %" PRId64 "]", param->lo, param->hi);
    if (param->grid_axis)
        attr(&l, "programs=%d", param->grid_axis - 1);
    attr_flag(&l, "const", param->is_const && !type_elem(v->type)->is_const);
    if (l.open)
        buf_putc(p->out, '}');
}

static void print_ring(const Printer *p, const IrRing *ring)
{
    buf_puts(p->out, " ring[");
    type_print(p->out, ring->block);
    buf_printf(p->out, " stages=%u fast=%u", ring->stages, ring->fast);
    if (ring->loose)
        buf_puts(p->out, " loose=1");
    if (ring->tf32)
        buf_puts(p->out, " tf32=1");
    if (ring->bytes)
        buf_printf(p->out, " smem=%" PRIu32 " bytes=%" PRIu32, ring->smem, ring->bytes);
    buf_putc(p->out, ']');
}

static void print_pipe(const Printer *p, const IrPipe *pipe)
{
    buf_printf(p->out, " pipe[stages=%u bytes=%" PRIu32, pipe->stages, pipe->bytes);
    if (pipe->smem)
        buf_printf(p->out, " smem=%" PRIu32, pipe->smem);
    buf_putc(p->out, ']');
}

static void print_map(const Printer *p, const IrTensorMap *map)
{
    buf_puts(p->out, " map[");
    type_print(p->out, map->elem);
    buf_printf(p->out, " param=%" PRIu32 " swizzle=%u", map->param, map->swizzle);
    for (unsigned k = 0; k < map->rank; k++)
        buf_printf(p->out, " box%u=%u", k, map->box[k]);
    if (map->tf32)
        buf_puts(p->out, " tf32=1");
    buf_putc(p->out, ']');
}

/// What stands between the parameters and the body.
static void print_options(const Printer *p, const IrFunc *fn)
{
    buf_printf(p->out, " num_warps=%u num_stages=%u", fn->num_warps, fn->num_stages);
    for (uint32_t i = 0; i < fn->ring_count; i++)
        print_ring(p, &fn->rings[i]);
    for (uint32_t i = 0; i < fn->pipe_count; i++)
        print_pipe(p, &fn->pipes[i]);
    for (uint32_t i = 0; i < fn->map_count; i++)
        print_map(p, &fn->maps[i]);
    if (fn->smem_reserved)
        buf_printf(p->out, " reserved=%" PRIu32, fn->smem_reserved);
    if (fn->smem_bytes)
        buf_printf(p->out, " smem=%" PRIu32, fn->smem_bytes);
    if (fn->teams > 1)
        buf_printf(p->out, " teams=%u", fn->teams);
    if (fn->num_ctas > 1)
        buf_printf(p->out, " num_ctas=%u", fn->num_ctas);
    buf_puts(p->out, fn->is_persistent ? " persistent" : "");
    buf_puts(p->out, fn->index64 ? " index64" : "");
    buf_puts(p->out, fn->has_layouts ? " layouts" : "");
}

void ir_print(const IrFunc *fn, const IrLayoutText *layouts, Buf *out)
{
    Arena scratch = { 0 };
    Printer p = { .out = out, .layouts = layouts, .depth = 1 };
    p.number = ARENA_NEW_N(&scratch, uint32_t, fn->value_count);
    buf_printf(out, "func @%s(", fn->name->text);
    for (uint32_t i = 0; i < fn->body->argc; i++) {
        buf_puts(out, i ? ", " : "");
        print_param(&p, fn, i);
    }
    buf_putc(out, ')');
    print_options(&p, fn);
    buf_puts(out, " {\n");
    print_ops(&p, fn->body);
    buf_puts(out, "}\n");
    arena_free(&scratch);
    if (fn->producer)
        ir_print(fn->producer, layouts, out);
    if (fn->map_host)
        ir_print(fn->map_host, NULL, out);
}
