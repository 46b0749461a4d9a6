/// emit.c - one kernel as CUDA C++: dispatch over operations, then the text around the body.
///
/// The body is written first; it tells which prelude headers, access functions and layout variables
/// the text in front of it must have.
#include "backend/cuda/emit_impl.h"

#include <inttypes.h>
#include <string.h>

// ORDER EmitNeed
static const char *const cuda_headers[] = { "base",  "int",    "compare", "float",  "convert",
                                            "small", "memory", "shared",  "reduce", "atomic",
                                            "debug", "dot",    "mma",     "async",  "mbarrier",
                                            "tma",   "wgmma",  "warps",   "cluster" };

static EmitFn *const emit_by_op[IR_CODE_COUNT] = {
    [IR_CONST] = cuda_emit_const,
    [IR_ARANGE] = cuda_emit_arange,
    [IR_SPLAT] = cuda_emit_splat,
    [IR_PROGRAM_ID] = cuda_emit_program_id,
    [IR_NUM_PROGRAMS] = cuda_emit_num_programs,
    [IR_CAST] = cuda_emit_cast,
    [IR_BITCAST] = cuda_emit_bitcast,
    [IR_EXPAND_DIMS] = cuda_emit_same_slots,
    [IR_BROADCAST] = cuda_emit_broadcast,
    [IR_RESHAPE] = cuda_emit_same_slots,
    [IR_TRANS] = cuda_emit_same_slots,
    [IR_LOAD] = cuda_emit_load,
    [IR_STORE] = cuda_emit_store,
    [IR_ATOMIC_RMW] = cuda_emit_atomic_rmw,
    [IR_ATOMIC_CAS] = cuda_emit_atomic_cas,
    [IR_REDUCE] = cuda_emit_reduce,
    [IR_CARRY] = cuda_emit_carry,
    [IR_DOT] = cuda_emit_dot,
    [IR_DOT_WAIT] = cuda_emit_dot_wait,
    [IR_FOR] = cuda_emit_for,
    [IR_WHILE] = cuda_emit_while,
    [IR_IF] = cuda_emit_if,
    [IR_RETURN] = cuda_emit_return,
    [IR_BARRIER] = cuda_emit_barrier,
    [IR_ASSERT] = cuda_emit_assert,
    [IR_CONVERT] = cuda_emit_convert,
    [IR_TILE] = cuda_emit_tile,
    [IR_TILE_PUT] = cuda_emit_tile_put,
    [IR_ASYNC_COPY] = cuda_emit_async_copy,
    [IR_ASYNC_COMMIT] = cuda_emit_async_commit,
    [IR_ASYNC_WAIT] = cuda_emit_async_wait,
    [IR_PIPE_ACQUIRE] = cuda_emit_pipe_acquire,
    [IR_PIPE_WAIT] = cuda_emit_pipe_wait,
    [IR_PIPE_RELEASE] = cuda_emit_pipe_release,
    [IR_PIPE_SKIP] = cuda_emit_pipe_skip,
    [IR_TEAM_ID] = cuda_emit_team_id,
    [IR_TEAM_TAKE] = cuda_emit_team_take,
    [IR_TEAM_PASS] = cuda_emit_team_pass,
    [IR_TENSOR_LOAD] = cuda_emit_tensor_load,
    [IR_TENSOR_STORE] = cuda_emit_tensor_store,
    [IR_BLOCK_ID] = cuda_emit_block_id,
    [IR_BLOCK_COUNT] = cuda_emit_block_count,
};

static EmitFn *const emit_by_class[OPCLASS_DEBUG + 1] = { [OPCLASS_ELEMENTWISE] =
                                                              cuda_emit_elementwise };

bool cuda_fault(Emit *e, const IrOp *op, const char *what)
{
    diag_report(e->diags, DIAG_INTERNAL, op->span, "cannot emit '%s': %s",
                ir_op_info[op->code].mnemonic, what);
    return false;
}

bool cuda_emit_op(Emit *e, const IrOp *op)
{
    EmitFn *fn =
        emit_by_op[op->code] ? emit_by_op[op->code] : emit_by_class[ir_op_info[op->code].cls];
    if (!fn) {
        diag_report(e->diags, DIAG_UNSUPPORTED, op->span, "'%s' is not supported on GPUs yet",
                    ir_op_info[op->code].mnemonic);
        return false;
    }
    cuda_source_line(e, op->span);
    return fn(e, op);
}

/// All operations of a region but its yield, which the operation that owns the region takes care
/// of.
bool cuda_emit_ops(Emit *e, const IrBlock *b)
{
    for (const IrOp *op = b->first; op; op = op->next)
        if (op->code != IR_YIELD && !cuda_emit_op(e, op))
            return false;
    return true;
}

static void print_head(const Emit *e, Buf *out)
{
    const IrFunc *fn = e->fn;
    buf_printf(out, "// %s: kernel '%s'", e->opt->entry, fn->name->text);
    SourcePos pos = e->opt->sources ? source_pos(e->opt->sources, fn->span.lo) : (SourcePos){ 0 };
    if (pos.file)
        buf_printf(out, " of %s:%" PRIu32, pos.file->path, pos.line);
    buf_printf(
        out, "\n// variant: %s; num_warps %u, num_stages %u, %" PRIu32 " bytes of shared memory\n",
        e->opt->variant ? e->opt->variant : "generic", fn->num_warps, fn->num_stages,
        fn->smem_bytes);
    if (e->layouts.len)
        buf_puts(out, "// layouts, the element bits that each bit moves:\n");
    for (uint32_t i = 0; i < e->layouts.len; i++) {
        buf_printf(out, "//   L%" PRIu32 ": ", i);
        layout_print(out, e->layouts.at[i].layout);
        buf_putc(out, '\n');
    }
    buf_putc(out, '\n');
}

static void print_prelude(const Emit *e, Buf *out)
{
    for (unsigned n = 8; n <= 256; n *= 2)
        if (e->wgmma_columns & n)
            buf_printf(out, "#ifndef NT_WGMMA_N%u\n#define NT_WGMMA_N%u\n#endif\n", n, n);
    for (size_t i = 0; i < sizeof cuda_headers / sizeof *cuda_headers; i++)
        if (e->needs >> i & 1)
            buf_printf(out, "#include \"newt/%s.cuh\"\n", cuda_headers[i]);
    // a text may hold several kernels, and two may want the same functions
    for (uint32_t i = 0; i < e->access.len; i++) {
        const char *name = strchr(e->access.at[i], '(') + 1;
        const int len = (int)strcspn(name, ",)");
        buf_printf(out, "#ifndef NT_HAS_%.*s\n#define NT_HAS_%.*s\n%s\n#endif\n", len, name, len,
                   name, e->access.at[i]);
    }
    buf_putc(out, '\n');
}

uint32_t cuda_register_limit(const Emit *e)
{
    enum { BLOCK_REGISTERS = 65536 };
    const uint32_t limit = e->opt->max_registers;
    return limit < BLOCK_REGISTERS / cuda_threads(e->fn) ? limit : 0;
}

static void print_signature(Emit *e, Buf *out)
{
    const IrFunc *fn = e->fn;
    const uint32_t limit = cuda_register_limit(e);
    // NVRTC takes one of the two; the registers of a block are the tighter bound or none. It moves
    // registers between warps only if it knows how many blocks share a multiprocessor.
    if (limit)
        buf_printf(out, "extern \"C\" __global__ void __maxnreg__(%" PRIu32 ")\n%s(", limit,
                   e->opt->entry);
    else
        buf_printf(out, "extern \"C\" __global__ void __launch_bounds__(%u%s)\n%s(",
                   cuda_threads(fn), fn->producer ? ", 1" : "", e->opt->entry);
    const char *comma = "";
    for (uint32_t i = 0; i < fn->body->argc; i++, comma = ", ") {
        const IrValue *v = fn->body->args[i];
        buf_printf(out, "%s%s", comma,
                   cuda_decl(e, cuda_ctype(e, v->type), cuda_place(e, v).text, 0));
    }
    for (uint16_t i = 0; i < fn->map_count; i++, comma = ", ")
        buf_printf(out, "%sconst __grid_constant__ nt_tensor_map %s", comma, e->maps[i]);
    if (fn->is_persistent)
        buf_printf(out, "%sint %s, int %s, int %s", comma, e->grid[0], e->grid[1], e->grid[2]);
    buf_puts(out, ")\n{\n");
}

/// Variables that several operations share: the thread, and what each layout makes of it.
static void print_shared(Emit *e, Buf *out)
{
    uint32_t image;
    if (e->fn->smem_bytes)
        buf_printf(out, "    extern __shared__ __align__(%d) unsigned char nt_smem[];\n",
                   e->fn->ring_count || e->wgmma_columns ? 1024 : 16);
    if (e->team)
        buf_printf(out, "    const int tid = (int)threadIdx.x %% %u, %s = (int)threadIdx.x / %u;\n",
                   32u * e->fn->num_warps, e->team, 32u * e->fn->num_warps);
    else if (e->wants_tid)
        buf_puts(out, "    const int tid = (int)threadIdx.x;\n");
    for (uint32_t i = 0; i < e->turns.len; i++)
        buf_printf(out, "    int %s = 0;\n", e->turns.at[i].name);
    for (uint32_t i = 0; i < e->layouts.len; i++) {
        const EmitLayout *x = &e->layouts.at[i];
        const Layout *l = x->layout;
        if (x->wants_at)
            buf_printf(out, "    const int at_L%" PRIu32 " = %s;\n", i,
                       cuda_linear(e, "tid", l->basis + l->reg_bits,
                                   LAYOUT_LANE_BITS + l->warp_bits, &image));
        if (x->wants_own)
            buf_printf(out, "    const bool own_L%" PRIu32 " = (tid & %" PRIu32 ") == 0;\n", i,
                       layout_replicated_threads(l));
    }
    buf_putc(out, '\n');
}

static void name_params(Emit *e)
{
    const IrFunc *fn = e->fn;
    for (uint32_t i = 0; i < fn->body->argc; i++) {
        const char *name = fn->params[i].name ? fn->params[i].name->text : "";
        cuda_set_place(e, fn->body->args[i], PLACE_SAME, cuda_name(e, name));
    }
}

bool cuda_emit(const IrFunc *fn, const CudaEmitOptions *opt, DiagSink *diags, Buf *out)
{
    Arena scratch = { 0 };
    Emit e = { .fn = fn, .opt = opt, .diags = diags, .arena = &scratch };
    e.places = ARENA_NEW_N(&scratch, Place, fn->value_count);
    e.uses = ir_count_uses(fn, &scratch);
    e.needs = NEED_BASE;
    e.body.indent = 1;
    e.roll_from = CUDA_ROLL_FROM;

    cuda_names_begin(&e);
    name_params(&e);
    cuda_name_pipes(&e);
    const bool ok = fn->producer ? cuda_emit_sides(&e) : cuda_emit_ops(&e, fn->body);
    if (ok) {
        print_head(&e, out);
        print_prelude(&e, out);
        print_signature(&e, out);
        print_shared(&e, out);
        buf_bytes(out, e.body.at, e.body.len);
        buf_puts(out, "}\n");
    }
    buf_free(&e.body);
    arena_free(&scratch);
    return ok;
}
