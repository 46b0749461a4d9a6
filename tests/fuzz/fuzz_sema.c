/// fuzz_sema.c - libFuzzer: any text through everything that newtc does before NVRTC.
///
/// Whatever kernels the text has are resolved, enumerated, lowered, optimised, and written as host
/// C and as CUDA C++, their IR verified after every pass. Checks besides memory: whoever gives up
/// has reported why, what is reported is no fault of ours, and valid text stays valid.
#include "backend/cuda/emit.h"
#include "backend/hostc/hostc.h"
#include "front/parse.h"
#include "lower/variants.h"
#include "passes/pass.h"
#include "tile/tile.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
    Arena arena;
    SourceMap sources;
    SymTable syms;
    DiagSink diags;
    Program program;
    KernelUnits units;
} Fuzz;

static void fuzz_fail(Fuzz *f, const char *stage)
{
    Buf b = { 0 };

    diag_print(&f->diags, DIAG_TEXT, false, &b);
    fprintf(stderr, "%s: wrong about success or failure\n%s\n", stage, b.at ? b.at : "");
    abort();
}

/// `ok` must say whether an error was reported since there were `before`.
static bool fuzz_check(Fuzz *f, bool ok, unsigned before, const char *stage)
{
    for (uint32_t i = 0; i < f->diags.list.len; i++)
        if (f->diags.list.at[i]->id == DIAG_INTERNAL)
            fuzz_fail(f, stage);
    if (!ok && diag_error_count(&f->diags) == 0)
        fuzz_fail(f, stage);
    return ok && diag_error_met(&f->diags) == before;
}

static void fuzz_variant(Fuzz *f, const KernelUnit *unit, const UnitForm *form, const Variant *v,
                         const Target *target)
{
    unsigned before = diag_error_met(&f->diags);
    const Function *fn = unit->function;
    HostcParam *params = ARENA_NEW_N(&f->arena, HostcParam, fn->param_count);
    HostcOptions host = { "k_host", "k_args", params, &f->sources };
    PassCtx passes = { .arena = &f->arena,
                       .diags = &f->diags,
                       .layouts = layout_table_new(&f->arena),
                       .target = target,
                       .features = target->features,
                       .verify_each = true };
    CudaEmitOptions cuda = { .entry = "k_0",
                             .variant = "generic",
                             .layouts = passes.layouts,
                             .sources = &f->sources,
                             .lines = CUDA_LINES_STATEMENT,
                             .features = target->features };
    uint64_t scratch = 0;
    Buf out = { 0 };
    uint32_t n = 0;

    for (uint32_t i = 0; i < fn->param_count; i++)
        if (!v->params[i].is_constexpr)
            params[n++] = (HostcParam){ fn->params[i].name->text, v->params[i].type };
    IrFunc *ir = lower_kernel(&f->program, v, &f->arena);
    if (fuzz_check(f, ir != NULL, before, "lower") &&
        fuzz_check(f, pass_run_all(&passes, ir, PASS_TILE, PASS_TILE), before, "tile passes") &&
        (!form->grid ||
         fuzz_check(f, hostc_emit_grid(form->grid, &host, &f->diags, &out), before, "grid")) &&
        fuzz_check(f, hostc_emit_kernel(ir, &host, &f->diags, &out, &scratch), before, "host") &&
        fuzz_check(f, pass_run_all(&passes, ir, PASS_LAYOUT, PASS_MEMORY), before, "passes") &&
        fuzz_check(f, cuda_check_limits(ir, passes.target, &f->diags), before, "limits"))
        fuzz_check(f, cuda_emit(ir, &cuda, &f->diags, &out), before, "cuda");
    buf_free(&out);
}

static void fuzz_unit(Fuzz *f, const KernelUnit *unit, const Target *target)
{
    for (uint32_t i = 0; i < unit->form_count; i++) {
        const UnitForm *form = &unit->forms[i];
        for (uint32_t v = 0; v < form->variant_count; v++)
            fuzz_variant(f, unit, form, &unit->variants[form->first_variant + v], target);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Fuzz f = { 0 };
    VariantOptions opt = { .index64 = size % 4 == 0 };

    f.sources.arena = f.syms.arena = &f.arena;
    diag_init(&f.diags, &f.arena, &f.sources);
    f.program = (Program){ .arena = &f.arena,
                           .syms = &f.syms,
                           .types = type_table_new(&f.arena),
                           .sources = &f.sources,
                           .diags = &f.diags };
    const SourceFile *file = source_add(&f.sources, "fuzz.newt", (const char *)data, size);
    Module *m = resolve_program(&f.program, file);
    fuzz_check(&f, tile_rewrite(&f.program, m), diag_error_met(&f.diags), "tile");
    bool ok = lower_enumerate(&f.program, m, &opt, &f.units);
    fuzz_check(&f, ok, 0, "enumerate");
    for (uint32_t u = 0; ok && u < f.units.len; u++)
        fuzz_unit(&f, &f.units.at[u], target_find(size % 3 ? "sm_90a" : "sm_80"));
    arena_free(&f.arena);
    return 0;
}
