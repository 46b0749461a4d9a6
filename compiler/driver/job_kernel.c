/// job_kernel.c - one kernel from variants to texts: host C, and CUDA C++ for each configuration.
///
/// A text serves a group of chips: passes plan for the one with the least shared memory, and use
/// what all of them have. A configuration of @autotune that one of them cannot hold is left out
/// there, with a note, and its text is made again for the others.
#include "backend/cuda/emit.h"
#include "backend/hostc/hostc.h"
#include "driver/crash.h"
#include "driver/job_impl.h"
#include "driver/report.h"
#include "layout/layout.h"
#include "passes/pass.h"
#include <string.h>

typedef struct JobDump {
    Job *job;
    JobKernel *kernel;
    const char *wanted;
    LayoutTable *layouts;
} JobDump;

/// After each pass. For --emit=ir-after: the pass's name, or name.2 for its second run.
static void job_after_pass(void *cx, const char *pass, unsigned ordinal, const IrFunc *fn)
{
    const JobDump *dump = cx;
    const char *wanted = dump->wanted;
    crash_stage(dump->job->path, arena_printf(&dump->job->arena, "after pass %s of kernel %s", pass,
                                              fn->name->text));
    if (!wanted)
        return;
    IrLayoutText layouts = layout_ir_text(dump->layouts);
    char named[64];
    snprintf(named, sizeof named, "%s.%u", pass, ordinal);
    if (strcmp(wanted, named) == 0 || (ordinal == 1 && strcmp(wanted, pass) == 0))
        ir_print(fn, fn->has_layouts ? &layouts : NULL, &dump->kernel->ir);
}

/* ---- the launcher's tests ---- */

/// The functions of heuristics stand in the host text once, whatever forms ask them.
static const char *job_choice_symbol(Job *job, JobKernel *k, const UnitForm *form, uint32_t at,
                                     const HostcOptions *like)
{
    const IrFunc *value = form->choices[at].value;
    for (uint32_t i = 0; i < k->choices.len; i++)
        if (k->choices.at[i] == value)
            return arena_printf(&job->arena, "newt_%s_value_%u", k->c_name, i);
    HostcOptions opt = *like;
    opt.symbol = arena_printf(&job->arena, "newt_%s_value_%u", k->c_name, k->choices.len);
    VEC_PUSH(&job->arena, &k->choices, value);
    return hostc_emit_grid(value, &opt, &job->diags, &job->host) ? opt.symbol : NULL;
}

/// The tests that the launcher makes before it takes variant `v` of `form`.
static bool job_predicates(Job *job, JobKernel *k, const UnitForm *form, const Variant *v,
                           const HostcOptions *like, ArtifactVariant *out)
{
    const Function *f = k->unit->function;
    ArtifactPredicate *p = ARENA_NEW_N(&job->arena, ArtifactPredicate,
                                       3 * (size_t)k->param_count + form->choice_count + 2);
    uint32_t index = 0;
    for (uint32_t i = 0; i < form->choice_count; i++) {
        const char *symbol = job_choice_symbol(job, k, form, i, like);
        if (!symbol)
            return false;
        p[out->predicate_count++] =
            (ArtifactPredicate){ TEST_RESULT, 0, form->choices[i].equals, symbol };
    }
    for (uint32_t i = 0; i < f->param_count; i++) {
        const ParamBinding *b = &v->params[i];
        if (b->is_constexpr)
            continue;
        if (b->assumed && b->divisor > 1)
            p[out->predicate_count++] =
                (ArtifactPredicate){ b->type->kind == TYPE_PTR ? TEST_ALIGN : TEST_MULTIPLE, index,
                                     b->divisor, NULL };
        if (b->has_value)
            p[out->predicate_count++] = (ArtifactPredicate){ TEST_EQUAL, index, b->equals, NULL };
        if (b->at_most)
            p[out->predicate_count++] =
                (ArtifactPredicate){ TEST_AT_MOST, index, b->at_most, NULL };
        index++;
    }
    if (v->narrow)
        p[out->predicate_count++] = (ArtifactPredicate){ TEST_FITS_I32, k->param_count, 0, NULL };
    out->predicates = p;
    return true;
}

/* ---- host text ---- */

/// The first form with the same constexprs: warps, stages and registers change nothing on the host.
static uint32_t job_form_origin(const KernelUnit *unit, uint32_t form)
{
    const Variant *v = &unit->variants[unit->forms[form].first_variant];
    for (uint32_t i = 0; i < form; i++) {
        const Variant *w = &unit->variants[unit->forms[i].first_variant];
        bool same = true;
        for (uint32_t p = 0; p < unit->function->param_count && same; p++)
            same = !v->params[p].is_constexpr ||
                   (v->params[p].value.kind == w->params[p].value.kind &&
                    const_equal(&v->params[p].value, &w->params[p].value));
        if (same)
            return i;
    }
    return form;
}

/// "k_grid", or "newt_k_grid_3" where a kernel has several.
static const char *job_form_symbol(Job *job, const JobKernel *k, const char *what, uint32_t form)
{
    return k->unit->form_count == 1
               ? arena_printf(&job->arena, "%s_%s", k->c_name, what)
               : arena_printf(&job->arena, "newt_%s_%s_%u", k->c_name, what, form);
}

static HostcOptions job_host_options(Job *job, const JobKernel *k)
{
    HostcParam *params = ARENA_NEW_N(&job->arena, HostcParam, k->param_count);
    for (uint32_t i = 0; i < k->param_count; i++)
        params[i] = (HostcParam){ k->params[i].c_name, k->params[i].type };
    return (HostcOptions){ .record = artifact_record(&job->arena, k->c_name,
                                                     k->unit->config_count && !k->input_count),
                           .params = params,
                           .sources = &job->sources };
}

/// Integers of tile kernels are as wide on the host as on the chips that get the variant.
static bool job_is_narrow_on_host(const Job *job, const Variant *v)
{
    return v->narrow && !job->opt->only_for;
}

/// What the launcher needs of a form before it runs anything: tests, grid.
static bool job_launch_text(Job *job, JobKernel *k, uint32_t index)
{
    const UnitForm *form = &k->unit->forms[index];
    HostcOptions opt = job_host_options(job, k);
    const uint32_t origin = job_form_origin(k->unit, index);
    for (uint32_t i = 0; i < form->variant_count; i++) {
        const uint32_t v = form->first_variant + i;
        ArtifactVariant *out = &k->variants[v];
        out->name = k->unit->variant_names[v];
        if (!job_predicates(job, k, form, &k->unit->variants[v], &opt, out))
            return false;
        out->grid_symbol = form->grid ? job_form_symbol(job, k, "grid", origin) : NULL;
        const char *what = job_is_narrow_on_host(job, &k->unit->variants[v]) ? "host32" : "host";
        out->host_symbol = job->archs->host ? job_form_symbol(job, k, what, origin) : NULL;
    }
    opt.symbol = k->variants[form->first_variant].grid_symbol;
    return !form->grid || origin != index ||
           hostc_emit_grid(form->grid, &opt, &job->diags, &job->host);
}

/// The host needs one function a form, and of tile kernels a second one for integers of 32 bits.
static bool job_host_text(Job *job, JobKernel *k, uint32_t index, bool narrow, const IrFunc *fn)
{
    const KernelUnit *unit = k->unit;
    const UnitForm *form = &unit->forms[index];
    const uint32_t origin = job_form_origin(unit, index);
    const uint32_t end = unit->forms[origin].first_variant + unit->forms[origin].variant_count;
    HostcOptions opt = job_host_options(job, k);
    // Of an earlier form: what its last variant of the same width has.
    uint64_t scratch = job->archs->host ? k->variants[end - (narrow ? 2 : 1)].host_scratch : 0;
    opt.symbol = job_form_symbol(job, k, narrow ? "host32" : "host", origin);
    if (job->archs->host && origin == index &&
        !hostc_emit_kernel(fn, &opt, &job->diags, &job->host, &scratch))
        return false;
    for (uint32_t v = form->first_variant; v < form->first_variant + form->variant_count; v++) {
        if (job_is_narrow_on_host(job, &unit->variants[v]) == narrow)
            k->variants[v].host_scratch = scratch;
    }
    return true;
}

/// Which pointers the kernel reads and writes through; all configurations do the same.
static void job_uses(Job *job, JobKernel *k, IrFunc *generic)
{
    bool *reads = ARENA_NEW_N(&job->arena, bool, (size_t)k->param_count + 1);
    bool *writes = ARENA_NEW_N(&job->arena, bool, (size_t)k->param_count + 1);
    lower_reach_pointers(generic, &job->arena, reads, writes);
    for (uint32_t i = 0; i < k->param_count; i++) {
        k->params[i].is_read = reads[i];
        k->params[i].is_written = writes[i];
    }
}

/* ---- CUDA text ---- */

/// What passes and emitters ask for; what the prelude asks for it finds out itself.
enum {
    GROUP_FEATURES = TARGET_CP_ASYNC | TARGET_TMA | TARGET_MBARRIER | TARGET_WGMMA |
                     TARGET_MMA_AMPERE | TARGET_MMA_FP8 | TARGET_STMATRIX
};

/// The chips of the job that get one text: those that are like the first that has none yet. False
/// when every chip has one.
static bool job_group(const Job *job, bool *has_text, bool *on)
{
    const uint32_t count = job->archs->gpu.len;
    uint32_t first = 0;
    while (first < count && has_text[first])
        first++;
    for (uint32_t i = first; i < count; i++) {
        const uint32_t other = job->archs->gpu.at[first].target->features;
        on[i] = ((job->archs->gpu.at[i].target->features ^ other) & GROUP_FEATURES) == 0;
        has_text[i] = has_text[i] || on[i];
    }
    return first < count;
}

static bool job_same_text(const JobText *a, const JobText *b)
{
    bool same = a->config == b->config && a->cuda.len == b->cuda.len;
    for (uint32_t v = 0; v < a->variant_count && same; v++)
        same = a->entries[v].shared == b->entries[v].shared && a->entries[v].tensor_count == 0;
    return same && (a->cuda.len == 0 || memcmp(a->cuda.at, b->cuda.at, a->cuda.len) == 0);
}

/// Two groups may get the same text all the same: it serves both then.
static void job_merge_last(const Job *job, JobKernel *k)
{
    JobText *last = k->texts.at[k->texts.len - 1];
    for (uint32_t t = 0; t + 1 < k->texts.len && last->cuda.len > 0; t++) {
        if (!job_same_text(k->texts.at[t], last))
            continue;
        for (uint32_t i = 0; i < job->archs->gpu.len; i++)
            k->texts.at[t]->on[i] |= last->on[i];
        buf_free(&last->cuda);
        buf_free(&last->maps);
        for (uint32_t v = 0; v < last->variant_count; v++)
            buf_free(&last->accesses[v]);
        k->texts.len--;
        return;
    }
}

/// Passes plan for the chip with the least shared memory.
static const Target *job_smallest_target(const Job *job, const JobText *text)
{
    const Target *least = NULL;
    for (uint32_t i = 0; i < job->archs->gpu.len; i++) {
        const Target *t = job->archs->gpu.at[i].target;
        if (text->on[i] && (!least || t->shared_max < least->shared_max))
            least = t;
    }
    return least ? least : target_find("sm_80");
}

/// What every chip that the text is compiled for has.
static uint32_t job_features(const Job *job, const JobText *text)
{
    uint32_t features = UINT32_MAX;
    for (uint32_t i = 0; i < job->archs->gpu.len; i++)
        if (text->on[i])
            features &= job->archs->gpu.at[i].target->features;
    return features == UINT32_MAX ? target_find("sm_80")->features : features;
}

static uint32_t job_chips(const Job *job, const JobText *text)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < job->archs->gpu.len; i++)
        count += text->on[i];
    return count;
}

/// Lays out, plans memory, and asks whether every chip that is on can hold the result.
static bool job_plan(Job *job, const JobText *text, IrFunc *fn, PassCtx *passes)
{
    if (!pass_run_all(passes, fn, PASS_LAYOUT, PASS_MEMORY))
        return false;
    for (uint32_t i = 0; i < job->archs->gpu.len; i++)
        if (text->on[i] && !cuda_check_limits(fn, job->archs->gpu.at[i].target, &job->diags))
            return false;
    return true;
}

/// After job_plan() failed for want of memory or threads: a configuration is left out on the chip
/// with the least of them. False when that is not why, or the kernel has no configurations.
static bool job_leave_out(Job *job, const JobKernel *k, JobText *text, const DiagMark *mark)
{
    const char *why = diag_only_errors(&job->diags, mark, DIAG_SHARED_MEMORY, DIAG_TOO_LARGE);
    const uint32_t least = job_smallest_target(job, text)->shared_max;
    if (!k->unit->config_count || !why || !job_chips(job, text))
        return false;
    const UnitConfig *config = &k->unit->configs[text->config];
    diag_rollback(&job->diags, mark);
    for (uint32_t i = 0; i < job->archs->gpu.len; i++) {
        const Target *t = job->archs->gpu.at[i].target;
        if (!text->on[i] || t->shared_max != least)
            continue;
        text->on[i] = false;
        diag_report(&job->diags, DIAG_CONFIG_LEFT_OUT, config->span,
                    "configuration '%s' of '%s' is left out on %s: %s", config->name, k->c_name,
                    t->name, why);
    }
    return true;
}

/// Blocks that a multiprocessor has shared memory for.
static uint32_t job_blocks_by_shared(uint32_t bytes)
{
    enum { SHARED = 228 * 1024, OF_SYSTEM = 1024 };
    const uint32_t blocks = SHARED / (bytes + OF_SYSTEM);
    return blocks > 0 ? blocks : 1;
}

static const ArtifactTensor *job_tensors(Job *job, const IrFunc *fn)
{
    enum { PROMOTION = 128 };  // bytes that the L2 fetches at least
    ArtifactTensor *tensors = ARENA_NEW_N(&job->arena, ArtifactTensor, fn->map_count);
    for (uint16_t i = 0; i < fn->map_count; i++) {
        const IrTensorMap *map = &fn->maps[i];
        tensors[i] = (ArtifactTensor){ .param = map->param,
                                       .elem = type_scalar_kind(map->elem),
                                       .rank = map->rank,
                                       .swizzle = map->swizzle,
                                       .promotion = PROMOTION,
                                       .tf32 = map->tf32 };
        for (unsigned axis = 0; axis < map->rank; axis++)
            tensors[i].box[axis] = map->box[axis];
    }
    return tensors;
}

/// How a variant is launched: block, shared memory, recipes of tensor maps and the function that
/// fills in what depends on arguments.
static bool job_launch_facts(Job *job, JobKernel *k, JobText *text, const IrFunc *fn,
                             uint32_t index)
{
    ArtifactEntry *entry = &text->entries[index - text->first_variant];
    *entry = (ArtifactEntry){ .threads = cuda_threads(fn), .shared = fn->smem_bytes };
    if (fn->num_ctas > 1)
        memcpy(entry->cluster, (uint32_t[]){ fn->num_ctas, 1, 1 }, sizeof entry->cluster);
    if (fn->is_persistent)
        entry->blocks_per_sm = job_blocks_by_shared(fn->smem_bytes);
    if (fn->map_count == 0)
        return true;
    HostcOptions opt = job_host_options(job, k);
    opt.symbol = arena_printf(&job->arena, "newt_maps_%u", job->map_functions++);
    entry->tensors = job_tensors(job, fn);
    entry->tensor_count = fn->map_count;
    entry->tensor_symbol = opt.symbol;
    return hostc_emit_maps(fn->map_host, fn->maps, fn->map_count, &opt, &job->diags, &text->maps);
}

/// True also when a configuration turned out not to fit some chip, which is then off.
static bool job_cuda_text(Job *job, JobKernel *k, JobText *text, IrFunc *fn, PassCtx *passes,
                          uint32_t index)
{
    const UnitForm *form = &k->unit->forms[text->form];
    const DiagMark mark = diag_mark(&job->diags);
    if (!job_plan(job, text, fn, passes))
        return job_leave_out(job, k, text, &mark);
    balance_note_products(fn, &k->balances[index]);
    const CudaEmitOptions opt = {
        .entry = arena_printf(&job->arena, "%s_%u", k->c_name, index),
        .variant = k->variants[index].name,
        .layouts = passes->layouts,
        .sources = &job->sources,
        .features = passes->features,
        .lines = job->opt->debug ? CUDA_LINES_EXACT : CUDA_LINES_STATEMENT,
        .max_registers = k->unit->config_count ? k->unit->configs[text->config].max_registers : 0
    };
    // What the generic variant was not proved it tests, so it is the largest.
    const bool is_largest = index + 1 == form->first_variant + form->variant_count;
    if (is_largest && !cuda_check_time(fn, job->opt->compile_budget, &job->diags))
        return false;
    if (index == form->first_variant)  // the one with the most facts
        report_narrow_accesses(&job->arena, &job->diags, fn);
    if (job->emit & EMIT_REPORT) {
        Buf *accesses = &text->accesses[index - text->first_variant];
        buf_clear(accesses);
        report_copies(&job->sources, &((const ReportNotes *)passes->on_copy_cx)->copies, accesses);
        report_accesses(&job->arena, &job->sources, fn, accesses);
    }
    return job_launch_facts(job, k, text, fn, index) &&
           cuda_emit(fn, &opt, &job->diags, &text->cuda);
}

/// How many axes of a grid may have more than one program; 0: the caller gives the grid.
static unsigned grid_axes(const IrFunc *grid)
{
    unsigned axes = grid ? 3 : 0;
    while (axes > 1) {
        const IrValue *extent = grid->body->last->args[axes - 1];
        if (!ir_is_const(extent) || extent->def->attr.konst.i != 1)
            break;
        axes--;
    }
    return axes;
}

/// What the host runs: the code that relies on no facts, of which `last` is the form's, unless
/// --only-for kept another one.
static IrFunc *job_general(Job *job, const UnitForm *form, PassCtx *passes, IrFunc *last)
{
    if (!job->opt->only_for || !job->archs->host)
        return last;
    IrFunc *fn = lower_kernel(&job->program, form->general, &job->arena);
    if (fn)
        lower_mark_grid(fn, form->grid);
    return fn && pass_run_all(passes, fn, PASS_TILE, PASS_TILE) ? fn : NULL;
}

/// What a configuration allows of what the command line does.
static void job_limit(const JobKernel *k, const JobText *text, PassCtx *passes)
{
    if (!k->unit->config_count)
        return;
    const UnitConfig *config = &k->unit->configs[text->config];
    const CopyChoice most = (CopyChoice)config->copies;
    if (most != COPY_BEST && (passes->copies == COPY_BEST || passes->copies > most))
        passes->copies = most;
    passes->is_flat = config->is_flat;
}

/// `is_first`: of the texts that the variant stands in, and so the one that gives the host's.
static bool job_variant(Job *job, JobKernel *k, JobText *text, uint32_t index, bool is_first)
{
    const UnitForm *form = &k->unit->forms[text->form];
    LayoutTable *layouts = layout_table_new(&job->arena);
    // Dumps show what the first group of chips gets.
    JobDump dump = { job, k, is_first ? job->opt->ir_after : NULL, layouts };
    PassCtx passes = { .grid_axes = grid_axes(form->grid),
                       .arena = &job->arena,
                       .diags = &job->diags,
                       .layouts = layouts,
                       .target = job_smallest_target(job, text),
                       .features = job_features(job, text),
                       .dots = job->opt->dots,
                       .copies = job->opt->copies,
                       .verify_each = job->opt->verify_each,
                       .dump_after = job_after_pass,
                       .dump_cx = &dump };
    const Variant *variant = &k->unit->variants[index];
    const uint32_t left = form->first_variant + form->variant_count - index;
    ReportNotes notes = { .arena = &job->arena };
    job_limit(k, text, &passes);
    passes.on_copy = report_note_copy;
    passes.on_copy_cx = &notes;
    // The last variant takes all arguments, those too for which there can be no tensor map.
    passes.no_tensor_copies = left == 1 && !job->opt->only_for;
    crash_stage(job->path, arena_printf(&job->arena, "lowering kernel %s", k->c_name));
    IrFunc *fn = lower_kernel(&job->program, variant, &job->arena);
    if (fn)
        lower_mark_grid(fn, form->grid);
    if (!fn || !pass_run_all(&passes, fn, PASS_TILE, PASS_TILE))
        return false;
    if (is_first && job->emit & EMIT_IR)
        ir_print(fn, NULL, &k->ir);
    balance_count(fn, &k->balances[index]);
    if (is_first && index + 1 == k->unit->variant_count)
        job_uses(job, k, fn);
    // The last one assumes nothing, the one before it, of tile kernels, only that 32 bits do.
    if (is_first && (left == 1 || (left == 2 && job_is_narrow_on_host(job, variant)))) {
        IrFunc *host = left == 1 ? job_general(job, form, &passes, fn) : fn;
        if (!host || !job_host_text(job, k, text->form, left == 2, host))
            return false;
    }
    if (job->archs->gpu.len ? !job_chips(job, text) : !(job->emit & (EMIT_CUDA | EMIT_IR_AFTER)))
        return true;
    return job_cuda_text(job, k, text, fn, &passes, index);
}

/// All variants of a configuration for the chips that are on. Where one turns out not to fit, it is
/// made anew for the others.
static bool job_text(Job *job, JobKernel *k, JobText *text, bool is_first)
{
    const KernelUnit *unit = k->unit;
    uint32_t chips = job_chips(job, text);
    for (;;) {
        for (text->form = 0; text->form < unit->form_count; text->form++) {
            const UnitForm *form = &unit->forms[text->form];
            if (form->config != text->config)
                continue;
            if (is_first && !job_launch_text(job, k, text->form))
                return false;
            for (uint32_t v = 0; v < form->variant_count; v++)
                if (!job_variant(job, k, text, form->first_variant + v, is_first))
                    return false;
        }
        const uint32_t left = job_chips(job, text);
        if (left == chips)
            return true;
        chips = left;
        is_first = false;
        buf_clear(&text->cuda);
        buf_clear(&text->maps);
        if (!left)
            return true;
    }
}

/// The range of a configuration's variants.
static void job_text_range(const KernelUnit *unit, JobText *text)
{
    text->first_variant = UINT32_MAX;
    for (uint32_t i = 0; i < unit->form_count; i++) {
        const UnitForm *form = &unit->forms[i];
        if (form->config != text->config)
            continue;
        if (text->first_variant == UINT32_MAX)
            text->first_variant = form->first_variant;
        text->variant_count = form->first_variant + form->variant_count - text->first_variant;
    }
}

/// The texts of one configuration: one for each group of chips.
static bool job_config(Job *job, JobKernel *k, uint32_t config)
{
    Arena *a = &job->arena;
    bool is_first = true, *has_text = ARENA_NEW_N(a, bool, (size_t)job->archs->gpu.len + 1);
    do {
        JobText *text = ARENA_NEW(a, JobText);
        text->config = config;
        text->on = ARENA_NEW_N(a, bool, (size_t)job->archs->gpu.len + 1);
        job_text_range(k->unit, text);
        text->entries = ARENA_NEW_N(a, ArtifactEntry, text->variant_count);
        text->accesses = ARENA_NEW_N(a, Buf, text->variant_count);
        if (!job_group(job, has_text, text->on) && !is_first)
            return true;
        VEC_PUSH(a, &k->texts, text);
        if (!job_text(job, k, text, is_first))
            return false;
        if (!is_first)
            job_merge_last(job, k);
        is_first = false;
    } while (job->archs->gpu.len > 0);
    return true;
}

/// Every chip gets some configuration.
static bool job_check_chips(Job *job, const JobKernel *k)
{
    for (uint32_t i = 0; i < job->archs->gpu.len; i++) {
        bool any = false;
        for (uint32_t t = 0; t < k->texts.len; t++)
            any |= k->texts.at[t]->on[i];
        if (any)
            continue;
        diag_report(&job->diags, DIAG_SHARED_MEMORY, k->unit->function->def->name_span,
                    "no configuration of '%s' fits %s", k->c_name,
                    job->archs->gpu.at[i].target->name);
        diag_help(&job->diags, "add one with smaller blocks");
        return false;
    }
    return true;
}

static bool job_kernel_name(Job *job, JobKernel *k)
{
    enum { MAX_LENGTH = 255 };  // C99 promises less, compilers take more
    const Span at = k->unit->function->def->name_span;
    const char *name = arena_printf(&job->arena, "%s%s", job->opt->prefix ? job->opt->prefix : "",
                                    k->unit->c_name);
    if (strlen(name) > MAX_LENGTH) {
        diag_report(&job->diags, DIAG_LIMIT, at,
                    "a kernel's name has at most %d characters, this has %zu", MAX_LENGTH,
                    strlen(name));
        return false;
    }
    k->c_name = artifact_c_function(&job->arena, name);
    if (!k->c_name) {
        diag_report(&job->diags, DIAG_BAD_VALUE, at,
                    "'%s' cannot be exported: libnewt has the names that begin so", name);
        diag_help(&job->diags, "give the kernel a name=\"...\"");
        return false;
    }
    for (const JobKernel *other = job->kernels; other != k; other++) {
        const char *clash = other->c_name ? artifact_c_clash(other->c_name, k->c_name) : NULL;
        if (!clash)
            continue;
        diag_report(&job->diags, DIAG_BAD_VALUE, at,
                    "the C functions of '%s' and '%s' would both be called '%s'",
                    other->unit->c_name, k->unit->c_name, clash);
        diag_note(&job->diags, other->unit->function->def->name_span, "the other one");
        diag_help(&job->diags, "give one of them a name=\"...\"");
        return false;
    }
    return true;
}

bool job_kernel(Job *job, JobKernel *k)
{
    const uint32_t n = k->unit->variant_count;
    const uint32_t configs = k->unit->config_count;
    if (!job_kernel_name(job, k))
        return false;
    k->variants = ARENA_NEW_N(&job->arena, ArtifactVariant, n);
    k->balances = ARENA_NEW_N(&job->arena, Balance, n);
    job_inputs(job, k);
    for (uint32_t i = 0; i < (configs ? configs : 1); i++)
        if (!job_config(job, k, i))
            return false;
    for (uint32_t i = 0; i < k->texts.len; i++)
        buf_bytes(&job->host, k->texts.at[i]->maps.at, k->texts.at[i]->maps.len);
    return !configs || job_check_chips(job, k);
}
