/// hostc.c - the frame of the host's functions: signature, arguments, body.
///
/// Products and sums must not contract to fma, whatever flags the user compiles with: the file carries
/// the pragma for clang and every function the attribute for gcc (prelude: NTH_KERNEL).
#include "backend/hostc/hostc_impl.h"
#include "host_prelude.h"

void hostc_prelude(Buf *out)
{
    for (size_t i = 0; i < host_prelude_count; i++)
        buf_bytes(out, host_prelude[i].text, host_prelude[i].len);
}

/// Reads the parameters out of the record; the grid function sees integers as int64.
static void hostc_params(HostEmit *e)
{
    const IrFunc *fn = e->fn;
    if (!fn->body->argc) {
        buf_line(e->out, "(void)record;");
        return;
    }
    buf_line(e->out, "const struct %s *const args = record;", e->opt->record);
    buf_line(e->out, "(void)args;");
    for (uint32_t i = 0; i < fn->body->argc; i++) {
        const IrValue *v = fn->body->args[i];
        const HostcParam *p = &e->opt->params[i];
        const char *name = host_name(e, v), *field = p->c_name, *type = host_ctype(v->type);
        if (p->type->kind == TYPE_PTR)
            buf_line(e->out, "%sconst %s = (unsigned char *)(uintptr_t)(const void *)args->%s;", type, name, field);
        else if (type_is_float(p->type) || type_is_fp8(p->type))
            buf_line(e->out, "%s const %s = nth_load_%s((const unsigned char *)&args->%s);", type, name, host_suffix(p->type),
                     field);
        else
            buf_line(e->out, "const %s %s = (%s)args->%s;", type, name, type, field);
        buf_line(e->out, "(void)%s;", name);
    }
}

static void hostc_finish(HostEmit *e)
{
    e->out->indent--;
    buf_line(e->out, "}");
    buf_putc(e->out, '\n');
    arena_free(&e->scratch);
}

bool hostc_emit_kernel(const IrFunc *fn, const HostcOptions *opt, DiagSink *diags, Buf *out, uint64_t *scratch_bytes)
{
    HostEmit e = { .fn = fn, .opt = opt, .diags = diags, .out = out };
    host_plan(&e);
    buf_line(out, "NTH_KERNEL static void %s(const void *record, const NewtHostProgram *program)", opt->symbol);
    buf_line(out, "{");
    out->indent++;
    buf_line(out, "unsigned char *const scratch = program->scratch;");
    buf_line(out, "(void)scratch;");
    hostc_params(&e);
    host_block(&e, fn->body);
    *scratch_bytes = e.scratch_bytes;
    hostc_finish(&e);
    return !e.failed;
}

bool hostc_emit_grid(const IrFunc *fn, const HostcOptions *opt, DiagSink *diags, Buf *out)
{
    HostEmit e = { .fn = fn, .opt = opt, .diags = diags, .out = out, .is_grid = true };
    host_plan(&e);
    buf_line(out, "static NewtStatus %s(const void *record, int64_t grid[3])", opt->symbol);
    buf_line(out, "{");
    out->indent++;
    buf_line(out, "NewtStatus status = NEWT_OK;");
    hostc_params(&e);
    host_block(&e, fn->body);
    hostc_finish(&e);
    return !e.failed;
}

bool hostc_emit_maps(const IrFunc *fn, const IrTensorMap *maps, unsigned count, const HostcOptions *opt,
                     DiagSink *diags, Buf *out)
{
    HostEmit e = { .fn = fn, .opt = opt, .diags = diags, .out = out, .is_grid = true, .maps = maps, .map_count = count };
    host_plan(&e);
    buf_line(out, "static NewtStatus %s(const void *record, const uint32_t grid[3], NewtTensorShape *shapes)", opt->symbol);
    buf_line(out, "{");
    out->indent++;
    buf_line(out, "NewtStatus status = NEWT_OK;");
    buf_line(out, "const NewtHostProgram launch = { .grid = { (int32_t)grid[0], (int32_t)grid[1], (int32_t)grid[2] } };");
    buf_line(out, "const NewtHostProgram *const program = &launch;");
    buf_line(out, "(void)program;");
    hostc_params(&e);
    host_block(&e, fn->body);
    hostc_finish(&e);
    return !e.failed;
}
