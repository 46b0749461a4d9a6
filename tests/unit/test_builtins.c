/// test_builtins.c - builtins lowered to block IR, and what is said of wrong calls.
///
/// Each case is the body of one kernel. An accepted one is compared with the operations it becomes
/// (IR text without the function's head and constants); a refused one with its whole messages.
#include "ir/ir.h"
#include "lower/variants.h"
#include "sema/module.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct {
    Arena arena;
    SourceMap sources;
    SymTable syms;
    DiagSink diags;
    Program program;
    IrFunc *fn;
} Fixture;

static const char head[] =
    "@newt.kernel(grid=(1,))\n"
    "def k(x: nl.ptr[nl.float32], h: nl.ptr[nl.float16], i: nl.ptr[nl.int32], s: nl.ptr[nl.int8],\n"
    "      c: nl.ptr[nl.const[nl.float32]], n: nl.int32, u: nl.uint32, f: nl.float32, g: "
    "nl.float16,\n"
    "      B: nl.constexpr = 8):\n";

static void lower_body(Fixture *t, const char *body)
{
    memset(t, 0, sizeof *t);
    t->sources.arena = &t->arena;
    t->syms.arena = &t->arena;
    diag_init(&t->diags, &t->arena, &t->sources);
    t->program = (Program){ .arena = &t->arena,
                            .syms = &t->syms,
                            .types = type_table_new(&t->arena),
                            .sources = &t->sources,
                            .diags = &t->diags };
    Buf text = { 0 };
    buf_puts(&text, head);
    for (const char *line = body; *line;) {
        size_t len = strcspn(line, "\n");
        buf_puts(&text, "    ");
        buf_bytes(&text, line, len);
        buf_putc(&text, '\n');
        line += len + (line[len] == '\n');
    }
    SourceFile *file = source_add(&t->sources, "t.newt", text.at, text.len);
    buf_free(&text);
    Module *m = resolve_program(&t->program, file);
    KernelUnits units = { 0 };
    VariantOptions options = { .specialize = "none" };
    if (t->diags.errors || !lower_enumerate(&t->program, m, &options, &units))
        return;
    assert_int_equal(units.len, 1);
    t->fn =
        lower_kernel(&t->program, &units.at[0].variants[units.at[0].variant_count - 1], &t->arena);
    if (t->fn && !ir_verify(t->fn, &t->diags))
        t->fn = NULL;
}

/// "line: message [slug]" with lines counted in the body; help as "help: text".
static const char *messages(Fixture *t)
{
    Buf b = { 0 };
    for (uint32_t i = 0; i < t->diags.list.len; i++) {
        const Diag *d = t->diags.list.at[i];
        SourcePos pos = source_pos(&t->sources, d->span.lo);
        buf_printf(&b, "%u:%u: %s [%s]\n", pos.line - 4, pos.column - 4, d->text,
                   diag_info[d->id].slug);
        for (uint32_t k = 0; k < d->notes.len; k++)
            if (d->notes.at[k].is_help)
                buf_printf(&b, "help: %s\n", d->notes.at[k].text);
    }
    const char *text = arena_strndup(&t->arena, b.at ? b.at : "", b.len);
    buf_free(&b);
    return text;
}

static const char *attribute_text(Arena *a, const IrOp *op)
{
    static const char *const kinds[] = { "sum", "max", "min", "argmax", "argmin", "xor", "or" };
    static const char *const atomics[] = { "add", "max", "min", "and", "or", "xor", "xchg" };
    switch ((unsigned)op->code) {
    case IR_REDUCE:
        return arena_printf(a, ".%s.%d%s", kinds[op->attr.reduce.kind], op->attr.reduce.axis,
                            op->attr.reduce.tie_break_left ? "" : ".any");
    case IR_ATOMIC_RMW: return arena_printf(a, ".%s", atomics[op->attr.atomic.kind]);
    case IR_ARANGE:
        return arena_printf(a, ".%d.%d", (int)op->attr.range.lo, (int)op->attr.range.hi);
    case IR_PROGRAM_ID:
    case IR_EXPAND_DIMS: return arena_printf(a, ".%d", op->attr.axis);
    case IR_MAX:
    case IR_MIN: return op->attr.propagate_nan ? ".nan" : "";
    case IR_CAST: return op->attr.round_to_zero ? ".rtz" : "";
    default: return "";
    }
}

/// The operations in order: "load+mask (8) fp32; store". Constants and the return are left out.
static const char *operations(Fixture *t)
{
    Buf b = { 0 };
    for (const IrOp *op = t->fn ? t->fn->body->first : NULL; op; op = op->next) {
        if (op->code == IR_CONST || op->code == IR_RETURN)
            continue;
        buf_printf(&b, "%s%s%s", b.len ? "; " : "", ir_op_info[op->code].mnemonic,
                   attribute_text(&t->arena, op));
        bool memory = op->code == IR_LOAD || op->code == IR_STORE || op->code == IR_ATOMIC_RMW ||
                      op->code == IR_ASSERT;
        unsigned first = op->code == IR_LOAD || op->code == IR_ASSERT ? 1 : 2;
        for (uint32_t i = first; memory && i < op->argc; i++)
            buf_puts(&b, !op->args[i] ? "" : i == first ? "+mask" : "+other");
        if (op->resultc)
            buf_printf(&b, " %s", type_text(t->program.types, op->results[0]->type));
    }
    const char *text = arena_strndup(&t->arena, b.at ? b.at : "", b.len);
    buf_free(&b);
    return text;
}

typedef struct {
    const char *name, *body, *wanted;
} Case;

/* ---- accepted ---- */

static const Case accepted[] = {
    { "ids", "nl.store(i, nl.program_id(1) + nl.num_programs(0))",
      "program_id.1 int32; num_programs int32; add int32; store" },
    { "negative_range", "nl.store(i + nl.arange(0, 4), nl.arange(-4, 0))",
      "arange.0.4 (4) int32; splat (4) *int32; ptr_add (4) *int32; arange.-4.0 (4) int32; store" },
    { "full_of_shape_nothing", "nl.store(x, nl.full((), f, nl.float32))", "store" },
    { "full_casts", "nl.store(i, nl.full((), f, nl.int32))", "cast int32; store" },
    { "full_splats", "nl.sum(nl.full((4,), f, nl.float32))", "splat (4) fp32; reduce.sum.0 fp32" },
    { "load_masked", "nl.load(x + nl.arange(0, 8), mask=nl.arange(0, 8) < n, other=0)",
      "arange.0.8 (8) int32; splat (8) *fp32; ptr_add (8) *fp32; arange.0.8 (8) int32; splat (8) "
      "int32; lt (8) int1; "
      "load+mask+other (8) fp32" },
    { "load_mask_true", "nl.load(x, mask=True, other=1.0)", "load fp32" },
    { "load_mask_scalar", "nl.load(x + nl.arange(0, 4), mask=n < 4)",
      "arange.0.4 (4) int32; splat (4) *fp32; ptr_add (4) *fp32; lt int1; splat (4) int1; "
      "load+mask (4) fp32" },
    { "load_pointer_grows",
      "nl.load(x + nl.arange(0, 4)[:, None], mask=nl.arange(0, 8)[None, :] < n)",
      "arange.0.4 (4) int32; expand_dims.1 (4, 1) int32; splat (4, 1) *fp32; ptr_add (4, 1) *fp32; "
      "arange.0.8 (8) int32; "
      "expand_dims.0 (1, 8) int32; splat (1, 8) int32; lt (1, 8) int1; broadcast (4, 8) *fp32; "
      "broadcast (4, 8) int1; "
      "load+mask (4, 8) fp32" },
    { "store_casts_and_splats", "nl.store(h + nl.arange(0, 4), f)",
      "arange.0.4 (4) int32; splat (4) *fp16; ptr_add (4) *fp16; cast fp16; splat (4) fp16; "
      "store" },
    { "store_method", "x.store(1.0, mask=n < 4)", "lt int1; store+mask" },
    { "where_is_weak", "nl.store(h, nl.where(n < 4, g, 0.0))", "lt int1; select fp16; store" },
    { "maximum_is_strong", "nl.store(x, nl.maximum(g, 0.0))", "cast fp32; max fp32; store" },
    { "maximum_of_int_literal", "nl.store(h, nl.maximum(g, 0))", "max fp16; store" },
    { "maximum_propagates", "nl.store(x, nl.maximum(f, 0.0, propagate_nan=nl.PropagateNan.ALL))",
      "max.nan fp32; store" },
    { "clamp_of_ints", "nl.store(i, nl.clamp(n, 0, 2))", "clamp int32; store" },
    { "exp_of_half", "nl.store(h, nl.exp(g))", "exp fp16; store" },
    { "exp_as_method", "nl.store(x, f.exp())", "exp fp32; store" },
    { "libdevice", "nl.store(x, tl.extra.cuda.libdevice.tanh(f))", "tanh fp32; store" },
    { "cdiv_of_values", "nl.store(i, nl.cdiv(n, 4))", "cdiv int32; store" },
    { "cdiv_of_constants", "nl.sum(nl.zeros((nl.cdiv(B, 3) + 1,), nl.float32))",
      "reduce.sum.0 fp32" },
    { "next_power_of_2", "nl.sum(nl.zeros((nl.next_power_of_2(5),), nl.float32))",
      "reduce.sum.0 fp32" },
    { "fdiv", "nl.store(x, nl.fdiv(g, 2.0, ieee_rounding=True))", "cast fp32; div_rn fp32; store" },
    { "abs_of_constant", "nl.sum(nl.zeros((abs(-8),), nl.float32))", "reduce.sum.0 fp32" },
    { "python_max_of_constants", "nl.sum(nl.zeros((max(B, 4, 2),), nl.float32))",
      "reduce.sum.0 fp32" },
    { "python_min_of_values", "nl.store(i, min(n, 4))", "min int32; store" },
    { "python_max_of_a_block", "nl.store(x, max(nl.full((4,), f, nl.float32), axis=0))",
      "splat (4) fp32; reduce.max.0 fp32; store" },
    { "float_of_value", "nl.store(x, float(n))", "cast fp32; store" },
    { "len_and_shape",
      "a = nl.zeros((B, 4), nl.float32)\nnl.static_assert(len(a) == 8 and a.shape[1] == 4 and "
      "a.numel == 32)",
      "" },
    { "dtype_questions",
      "nl.static_assert(x.dtype.element_ty == nl.float32 and x.dtype.is_ptr() and "
      "h.dtype.element_ty.is_fp16())\n"
      "nl.static_assert(n.dtype.is_int() and not n.dtype.is_int_unsigned() and "
      "f.dtype.primitive_bitwidth == 32)",
      "" },
    { "isinstance",
      "nl.static_assert(isinstance(n, nl.tensor) and isinstance(B, nl.constexpr) and isinstance(B, "
      "int))",
      "" },
    { "to", "nl.store(i, f.to(nl.int32))", "cast int32; store" },
    { "to_truncating", "nl.store(h, f.to(nl.float16, fp_downcast_rounding='rtz'))",
      "cast.rtz fp16; store" },
    { "to_bitcast", "nl.store(i, f.to(nl.int32, bitcast=True))", "bitcast int32; store" },
    { "to_fp8_from_int", "nl.store(h, n.to(nl.float8e5).to(nl.float16))",
      "cast fp32; cast fp8e5; cast fp16; store" },
    { "pointer_cast", "nl.store(x.to(nl.pointer_type(nl.int32)), n)", "cast *int32; store" },
    { "reshape_both_ways",
      "a = nl.full((4, 4), f, nl.float32)\nnl.sum(a.reshape(2, 8)[None, :, :], "
      "0)\nnl.sum(nl.view(a, (16,)))",
      "splat (4, 4) fp32; reshape (2, 8) fp32; expand_dims.0 (1, 2, 8) fp32; reduce.sum.0 (2, 8) "
      "fp32; reshape (16) fp32; "
      "reduce.sum.0 fp32" },
    { "transpositions",
      "a = nl.full((2, 4), f, nl.float32)\nb = a.T\nc2 = nl.trans(a, 1, 0)\nd = nl.permute(a, (1, "
      "0))",
      "splat (2, 4) fp32; trans (4, 2) fp32; trans (4, 2) fp32; trans (4, 2) fp32" },
    { "expand_dims_twice", "a = nl.expand_dims(nl.arange(0, 4), (0, -1))",
      "arange.0.4 (4) int32; expand_dims.0 (1, 4) int32; expand_dims.2 (1, 4, 1) int32" },
    { "broadcast_both", "a, b = nl.broadcast(nl.arange(0, 4)[:, None], nl.arange(0, 2)[None, :])",
      "arange.0.4 (4) int32; expand_dims.1 (4, 1) int32; arange.0.2 (2) int32; expand_dims.0 (1, "
      "2) int32; "
      "broadcast (4, 2) int32; broadcast (4, 2) int32" },
    { "broadcast_to_more_axes", "a = nl.arange(0, 4).broadcast_to((2, 4))",
      "arange.0.4 (4) int32; expand_dims.0 (1, 4) int32; broadcast (2, 4) int32" },
    { "item_keeps_bits", "nl.store(x, nl.full((1, 1), f, nl.float32).item())",
      "splat (1, 1) fp32; bitcast (1, 1) uint32; reduce.xor.0 (1) uint32; reduce.xor.0 uint32; "
      "bitcast fp32; store" },
    { "sum_of_half", "nl.store(h, nl.sum(nl.full((4,), g, nl.float16)))",
      "splat (4) fp16; cast (4) fp32; reduce.sum.0 fp32; cast fp16; store" },
    { "sum_of_all_axes", "nl.sum(nl.full((2, 4), n, nl.int8))",
      "cast int8; splat (2, 4) int8; cast (2, 4) int32; reshape (8) int32; reduce.sum.0 int32" },
    { "sum_of_two_axes", "nl.sum(nl.full((2, 4, 8), f, nl.float32), axis=(0, -1))",
      "splat (2, 4, 8) fp32; reduce.sum.2 (2, 4) fp32; reduce.sum.0 (4) fp32" },
    { "sum_of_dtype", "nl.sum(nl.full((4,), f, nl.float32), dtype=nl.float64)",
      "splat (4) fp32; cast (4) fp64; reduce.sum.0 fp64" },
    { "sum_keeps_axes", "nl.sum(nl.full((2, 4), f, nl.float32), keep_dims=True)",
      "splat (2, 4) fp32; reshape (8) fp32; reduce.sum.0 fp32; splat (1, 1) fp32" },
    { "sum_of_bools", "nl.sum(nl.arange(0, 4) < n)",
      "arange.0.4 (4) int32; splat (4) int32; lt (4) int1; cast (4) uint32; reduce.sum.0 uint32" },
    { "sum_of_a_scalar", "nl.store(x, nl.sum(f))", "store" },
    { "max_of_half", "nl.max(nl.full((4,), g, nl.float16), 0)",
      "splat (4) fp16; cast (4) fp32; reduce.max.0 fp32" },
    { "max_with_indices",
      "v, k = nl.max(nl.full((2, 4), g, nl.float16), 1, return_indices=True, "
      "return_indices_tie_break_left=False)",
      "splat (2, 4) fp16; reduce.argmax.1.any (2) int32; reduce.max.1 (2) fp16" },
    { "argmin_of_all", "nl.argmin(nl.full((2, 4), f, nl.float32))",
      "splat (2, 4) fp32; reshape (8) fp32; reduce.argmin.0 int32" },
    { "xor_sum", "nl.xor_sum(nl.arange(0, 4), 0)", "arange.0.4 (4) int32; reduce.xor.0 int32" },
    { "softmax", "nl.softmax(nl.full((2, 4), f, nl.float32), 1)",
      // A maximum that is infinite takes nothing off, and exp is exp2 of a multiple.
      "splat (2, 4) fp32; reduce.max.1 (2) fp32; expand_dims.1 (2, 1) fp32; abs (2, 1) fp32; "
      "lt (2, 1) int1; select (2, 1) fp32; mul (2, 1) fp32; neg (2, 1) fp32; "
      "broadcast (2, 4) fp32; broadcast (2, 4) fp32; fma (2, 4) fp32; exp2 (2, 4) fp32; "
      "reduce.sum.1 (2) fp32; expand_dims.1 (2, 1) fp32; broadcast (2, 4) fp32; "
      "div (2, 4) fp32" },
    { "atomic_add", "nl.atomic_add(x + nl.arange(0, 4), 1, mask=nl.arange(0, 4) < n)",
      "arange.0.4 (4) int32; splat (4) *fp32; ptr_add (4) *fp32; arange.0.4 (4) int32; splat (4) "
      "int32; lt (4) int1; "
      "atomic_rmw.add+mask (4) fp32" },
    { "atomic_cas", "nl.atomic_cas(i, 0, n)", "atomic_cas int32" },
    { "logical", "nl.store(i, nl.logical_and(n, u))",
      "ne int1; ne int1; and int1; cast int32; store" },
    { "swizzle_of_constants",
      "a, b = nl.swizzle2d(3, 1, 4, 4, 2)\nnl.static_assert(a == 3 and b == 2)", "" },
    { "barrier", "nl.debug_barrier()", "barrier" },
    { "device_assert", "nl.device_assert(n, 'positive', mask=n < 4)",
      "lt int1; ne int1; assert+mask" },
    { "hints", "a = nl.max_contiguous(nl.multiple_of(nl.arange(0, 4), 4), 4)\nnl.assume(n > 0)",
      "arange.0.4 (4) int32; gt int1" },
    { "string_constants", "nl.static_assert('a' + str(B) == 'a8')", "" },
};

/* ---- refused, and warned of ---- */

static const Case refused[] = {
    { "load_of_int", "nl.load(n)", "1:9: 'load' needs a pointer, got int32 'n' [type-mismatch]\n" },
    { "store_of_pointer", "nl.store(x, x)",
      "1:13: cannot store a pointer through *fp32 [type-mismatch]\nhelp: cast it to int64 and "
      "store it through *int64\n" },
    { "store_to_const", "nl.store(c + 4, 1.0)",
      "1:10: 'store' through parameter 'c', which is declared const [type-mismatch]\n" },
    { "atomic_on_const", "nl.atomic_add(c, 1.0)",
      "1:15: 'atomic_add' through parameter 'c', which is declared const [type-mismatch]\n" },
    { "block_mask_of_scalar_pointer", "nl.load(x, mask=nl.arange(0, 16) < 4)",
      "1:17: the pointer is a scalar but the mask has shape (16) [shape-mismatch]\nhelp: did you "
      "mean 'x + arange(0, 16)'?\n" },
    { "mask_of_another_shape", "nl.load(x + nl.arange(0, 16), mask=nl.arange(0, 8) < 4)",
      "1:36: mask shape (8) does not broadcast to pointer shape (16) [shape-mismatch]\n" },
    { "mask_of_ints", "nl.load(x + nl.arange(0, 16), mask=nl.arange(0, 16))",
      "1:36: the mask must be bool, got int32 [type-mismatch]\nhelp: write '!= 0'\n" },
    { "other_without_mask", "nl.load(x, other=0.0)",
      "1:18: 'other' has no effect without 'mask' [bad-call]\n" },
    { "infinite_other", "nl.load(i, mask=n < 1, other=-float('inf'))",
      "1:30: -inf cannot be represented in int32 [bad-value]\n" },
    { "cache_modifier", "nl.load(x, cache_modifier='.zz')",
      "1:27: unknown cache modifier '.zz'; expected .ca, .cg or .cv [bad-value]\n" },
    { "store_cache_modifier", "nl.store(x, 1.0, cache_modifier='.ca')",
      "1:33: unknown cache modifier '.ca'; expected .wb, .cg, .cs or .wt [bad-value]\n" },
    { "eviction", "nl.load(x, eviction_policy='first')",
      "1:28: unknown eviction policy 'first'; expected evict_first or evict_last [bad-value]\n" },
    { "boundary_check", "nl.load(x, boundary_check=(0,))",
      "1:27: 'boundary_check' is for block pointers; use 'mask' [bad-call]\n" },
    { "value_of_another_shape", "nl.store(x + nl.arange(0, 8), nl.zeros((16,), nl.float32))",
      "1:31: value shape (16) does not match pointer shape (8) [shape-mismatch]\n" },
    { "block_through_scalar_pointer", "nl.store(x, nl.zeros((16,), nl.float32))",
      "1:13: a block of 16 elements through one pointer [shape-mismatch]\n" },
    { "range_of_7", "nl.arange(0, 7)",
      "1:1: arange length 7 is not a power of two [bad-value]\nhelp: use 8 and a mask\n" },
    { "empty_range", "nl.arange(8, 0)", "1:1: empty range 8..0 [bad-value]\n" },
    { "range_beyond_int32", "nl.arange(3000000000, 3000000004)",
      "1:1: arange elements are int32; 3000000000..3000000004 does not fit [bad-value]\n" },
    { "zeros_of_33", "nl.zeros((33,), nl.float32)",
      "1:10: dimension 0 is 33, not a power of two [shape-mismatch]\n" },
    { "full_of_fraction", "nl.full((4,), 1.5, nl.int32)",
      "1:15: 1.5 is not an int32 value [bad-value]\n" },
    { "full_of_block", "nl.full((4,), nl.arange(0, 4), nl.int32)",
      "1:15: 'full' repeats one value, got a block of shape (4) [shape-mismatch]\n" },
    { "program_id_3", "nl.program_id(3)", "1:15: axis must be 0, 1 or 2, got 3 [bad-value]\n" },
    { "reshape_of_other_size", "nl.reshape(nl.zeros((16, 16), nl.float32), (16, 8))",
      "1:1: 256 elements do not fit shape (16, 8) = 128 [shape-mismatch]\n" },
    { "no_permutation", "nl.trans(nl.zeros((2, 2, 2), nl.float32), (2, 0, 0))",
      "1:43: axis 0 appears twice, axis 1 is missing [bad-value]\n" },
    { "broadcast_to_other_size", "nl.broadcast_to(nl.zeros((4, 1), nl.float32), (8, 8))",
      "1:1: axis 0 has size 4 and cannot become 8 [shape-mismatch]\n" },
    { "item_of_many", "nl.arange(0, 4).item()",
      "1:1: item() needs a block of one element, got shape (4) [shape-mismatch]\n" },
    { "axis_outside", "nl.sum(nl.zeros((4, 4), nl.float32), axis=2)",
      "1:43: invalid axis 2; expected -2 <= axis < 2 [bad-value]\n" },
    { "axis_twice", "nl.sum(nl.zeros((4, 4), nl.float32), axis=(0, -2))",
      "1:43: axis 0 appears twice [bad-value]\n" },
    { "argmax_of_two_axes", "nl.argmax(nl.zeros((4, 4), nl.float32), (0, 1))",
      "1:41: an index is along one axis, or along all with axis=None [bad-value]\n" },
    { "xor_of_floats", "nl.xor_sum(nl.zeros((4,), nl.float32), 0)",
      "1:12: 'xor_sum' needs integers, got fp32 [type-mismatch]\n" },
    { "softmax_of_ints", "nl.softmax(nl.arange(0, 4))",
      "1:12: 'softmax' needs floats, got (4) int32 [type-mismatch]\n" },
    { "foreign_fp8", "f.to(nl.float8e4b8)",
      "1:6: no target has the type float8e4b8; supported fp8 types: float8e4nv, float8e5 "
      "[unsupported]\n" },
    { "bitcast_of_other_width", "f.to(nl.int16, bitcast=True)",
      "1:1: cannot bitcast fp32 (32 bits) to int16 (16 bits) [type-mismatch]\n" },
    { "unknown_rounding", "f.to(nl.float16, fp_downcast_rounding='rtn')",
      "1:1: unknown rounding 'rtn'; expected rtne or rtz [bad-value]\n" },
    { "rounding_of_widening", "g.to(nl.float32, fp_downcast_rounding='rtz')",
      "1:1: a rounding mode is only for casts to a narrower float, not fp16 to fp32 "
      "[bad-value]\n" },
    { "pointer_to_int32", "x.to(nl.int32)",
      "1:1: cannot cast *fp32 to int32 [type-mismatch]\nhelp: an address fits int64 only\n" },
    { "to_a_number", "f.to(4)", "1:6: expected a dtype, got 4 [type-mismatch]\n" },
    { "unknown_attribute", "x.dtyp",
      "1:3: *fp32 value has no attribute 'dtyp' [undefined-name]\nhelp: did you mean 'dtype'?\n" },
    { "unknown_method", "f.reshap(4)",
      "1:3: fp32 value has no attribute 'reshap' [undefined-name]\nhelp: did you mean "
      "'reshape'?\n" },
    { "unknown_question", "n.dtype.is_flaoting()",
      "1:9: dtype int32 has no attribute 'is_flaoting' [undefined-name]\nhelp: did you mean "
      "'is_floating'?\n" },
    { "static_assert", "nl.static_assert(B == 16, 'tile')",
      "1:1: static assertion failed: tile (B = 8) [static-assert]\n" },
    { "static_assert_without_message", "nl.static_assert(B % 3 == 0)",
      "1:1: static assertion failed: B % 3 == 0 (B = 8) [static-assert]\n" },
    { "static_assert_at_run_time", "nl.static_assert(n > 0)",
      "1:18: 'static_assert' needs a compile-time condition, got int1 [not-constexpr]\nhelp: "
      "device_assert checks run-time values\n" },
    { "atomic_of_int8", "nl.atomic_add(s, 1)",
      "1:15: 'atomic_add' does not take int8 [type-mismatch]\n"
      "help: it takes int32, int64, uint32, uint64, fp16, bf16, fp32, fp64\n" },
    { "atomic_and_of_floats", "nl.atomic_and(x, 1)",
      "1:15: 'atomic_and' does not take fp32 [type-mismatch]\nhelp: it takes int32, int64, uint32, "
      "uint64\n" },
    { "memory_order", "nl.atomic_add(i, 1, sem='seq')",
      "1:25: unknown memory order 'seq'; expected relaxed, acquire, release or acq_rel "
      "[bad-value]\n" },
    { "scope", "nl.atomic_add(i, 1, scope='grid')",
      "1:27: unknown scope 'grid'; expected cta, gpu or sys [bad-value]\n" },
    { "len_of_scalar", "len(n)",
      "1:5: 'len' needs a tuple, a string or a block, got int32 [type-mismatch]\n" },
    { "int_of_text", "int('a')", "1:1: 'a' is not an integer [bad-value]\n" },
    { "not_compiled_yet", "nl.sort(x)",
      "1:1: 'sort' is not compiled by this version yet (sorting) [unsupported]\n" },
    { "not_compiled_yet_in_libdevice", "tl.extra.libdevice.asinh(f)",
      "1:1: 'asinh' is not compiled by this version yet (CUDA's math library) [unsupported]\n" },
    { "promise_of_two_axes", "nl.multiple_of(n, (1, 2))",
      "1:19: 'multiple_of' needs one number an axis: 1, got 2 [bad-value]\n" },
};

static const Case warned[] = {
    { "float_to_int", "nl.store(i, f)",
      "1:13: fp32 becomes int32 without a cast [float-to-int]\nhelp: write .to(int32) when that is "
      "meant\n" },
    { "fraction_to_int", "nl.atomic_add(i, 1.5)",
      "1:18: fp32 becomes int32 without a cast [float-to-int]\nhelp: write .to(int32) when that is "
      "meant\n" },
    { "whole_float_to_int", "nl.store(i, 2.0)", "" },
    { "max_beside_an_axis", "max(nl.zeros((8,), nl.float32), 0)",
      "1:1: 'max' of a block and a number compares each element with it [max-axis]\n"
      "help: write 'max(x, axis=0)' for a reduction, 'maximum(x, 0)' for this\n" },
    { "static_print", "nl.static_print('B is', B, f, nl.float32, (1, 2))",
      "1:1: B is 8 fp32 fp32 (1, 2) [static-print]\n" },
};

static void check_accepted(void **state)
{
    const Case *c = *state;
    Fixture t;
    lower_body(&t, c->body);
    assert_string_equal(messages(&t), "");
    assert_non_null(t.fn);
    assert_string_equal(operations(&t), c->wanted);
    arena_free(&t.arena);
}

static void check_refused(void **state)
{
    const Case *c = *state;
    Fixture t;
    lower_body(&t, c->body);
    assert_string_equal(messages(&t), c->wanted);
    assert_null(t.fn);
    arena_free(&t.arena);
}

static void check_warned(void **state)
{
    const Case *c = *state;
    Fixture t;
    lower_body(&t, c->body);
    assert_string_equal(messages(&t), c->wanted);
    assert_non_null(t.fn);
    arena_free(&t.arena);
}

static void check_promise(void **state)
{
    (void)state;
    Fixture t;
    lower_body(
        &t, "m = nl.multiple_of(n, 16)\nif m > 4:\n    k2 = nl.multiple_of(u, 8)\nnl.store(i, m)");
    assert_string_equal(messages(&t), "");
    assert_int_equal(t.fn->params[5].divisor, 16);
    assert_int_equal(t.fn->params[6].divisor, 1);  // promised on one path only
    arena_free(&t.arena);
}

int main(void)
{
    enum {
        ACCEPTED = sizeof accepted / sizeof accepted[0],
        REFUSED = sizeof refused / sizeof refused[0],
        WARNED = sizeof warned / sizeof warned[0]
    };
    struct CMUnitTest tests[ACCEPTED + REFUSED + WARNED + 1];
    size_t n = 0;
    for (size_t i = 0; i < ACCEPTED; i++)
        tests[n++] = (struct CMUnitTest){ accepted[i].name, check_accepted, NULL, NULL,
                                          (void *)&accepted[i] };
    for (size_t i = 0; i < REFUSED; i++)
        tests[n++] =
            (struct CMUnitTest){ refused[i].name, check_refused, NULL, NULL, (void *)&refused[i] };
    for (size_t i = 0; i < WARNED; i++)
        tests[n++] =
            (struct CMUnitTest){ warned[i].name, check_warned, NULL, NULL, (void *)&warned[i] };
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_promise);
    return cmocka_run_group_tests_name("builtins", tests, NULL, NULL);
}
