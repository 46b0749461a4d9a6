/// job.c - the stages of one input, in order. See job.h.
#include "driver/job.h"
#include "backend/cuda/emit.h"
#include "backend/hostc/hostc.h"
#include "driver/crash.h"
#include "driver/place.h"
#include "driver/report.h"
#include "front/parse.h"
#include "layout/layout.h"
#include "passes/pass.h"
#include "support/sha256.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double job_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void job_file_error(Job *job, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diag_report(&job->diags, DIAG_FILE, (Span){ 0, 0 }, "%s",
                arena_vprintf(&job->arena, format, args));
    va_end(args);
    job->environment_failed = true;
}

/// The path as diagnostics and outputs show it: -ffile-prefix-map applied, the last match wins.
static const char *job_shown_path(Job *job, const char *path)
{
    const StrList *maps = &job->opt->prefix_map;
    for (uint32_t i = maps->len; i-- > 0;) {
        const char *eq = strchr(maps->at[i], '=');
        size_t len = eq ? (size_t)(eq - maps->at[i]) : 0;
        if (eq && strncmp(path, maps->at[i], len) == 0)
            return arena_printf(&job->arena, "%s%s", eq + 1, path + len);
    }
    return path;
}

void job_init(Job *job, const Options *opt, const ArchList *archs, const char *path)
{
    memset(job, 0, sizeof *job);
    job->opt = opt;
    job->archs = archs;
    job->path = path;
    job->stem = fs_stem(&job->arena, path);
    job->emit = opt->emit
                    ? opt->emit
                    : EMIT_C | EMIT_HEADER | (opt->no_manifest ? 0u : (unsigned)EMIT_MANIFEST);
    job->no_images = opt->dep == DEP_ONLY || opt->dry_run;
    job->syms.arena = &job->arena;
    job->sources.arena = &job->arena;
    diag_init(&job->diags, &job->arena, &job->sources);
    job->diags.max_errors = (unsigned)opt->max_errors;
    for (uint32_t i = 0; i < opt->warnings.len; i++)
        diag_set_option(&job->diags, opt->warnings.at[i]);
    job->diags.no_warnings = opt->no_warnings;
    job->program = (Program){ .arena = &job->arena,
                              .syms = &job->syms,
                              .types = type_table_new(&job->arena),
                              .sources = &job->sources,
                              .diags = &job->diags,
                              .import_dirs = opt->import_dirs.at,
                              .import_dir_count = opt->import_dirs.len,
                              .no_stdlib = opt->no_stdlib };
}

void job_free(Job *job)
{
    for (uint32_t i = 0; job->kernels && i < job->units.len; i++) {
        buf_free(&job->kernels[i].cuda);
        buf_free(&job->kernels[i].ir);
        for (uint32_t v = 0; job->kernels[i].accesses && v < job->units.at[i].variant_count; v++)
            buf_free(&job->kernels[i].accesses[v]);
    }
    buf_free(&job->host);
    arena_free(&job->arena);
}

bool job_front(Job *job)
{
    double start = job_now();
    const char *why = NULL;
    crash_stage(job->path, "parsing");
    job->text = fs_read(&job->arena, job->path, &job->text_len, &why);
    if (!job->text) {
        job_file_error(job, "cannot read '%s': %s", job->path, why);
        return false;
    }
    const SourceFile *file =
        source_add(&job->sources, job_shown_path(job, job->path), job->text, job->text_len);
    if (!file) {
        job_file_error(job, "'%s' is too large: a compile takes at most 4 GiB of text", job->path);
        return false;
    }
    if (job->emit & (EMIT_TOKENS | EMIT_AST) && !outputs_write_front(job))
        return false;
    if (!(job->emit & ~(unsigned)(EMIT_TOKENS | EMIT_AST)))
        return diag_error_count(&job->diags) == 0;
    job->module = resolve_program(&job->program, file);
    job->seconds[JOB_TIME_FRONT] = job_now() - start;
    return true;  // errors so far: lowering goes on, silent about what was reported, and finds the
                  // others
}

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

/// The run-time parameters of a kernel as C sees them; a variant's constants stay parameters.
static void job_params(Job *job, JobKernel *k)
{
    const Function *f = k->unit->function;
    const Variant *v = &k->unit->variants[0];
    k->params = ARENA_NEW_N(&job->arena, ArtifactParam, f->param_count);
    for (uint32_t i = 0; i < f->param_count; i++) {
        if (v->params[i].is_constexpr)
            continue;
        const char *name = f->params[i].name->text;
        k->params[k->param_count++] =
            (ArtifactParam){ .name = name,
                             .type = v->params[i].type,
                             .is_const = v->params[i].type->kind == TYPE_PTR &&
                                         v->params[i].type->is_const };
    }
    artifact_c_params(&job->arena, k->params, k->param_count);
    k->record_size = artifact_layout_params(k->params, k->param_count);
}

/// The tests that the launcher makes before it takes variant `v`.
static void job_predicates(Job *job, const JobKernel *k, const Variant *v, ArtifactVariant *out)
{
    const Function *f = k->unit->function;
    ArtifactPredicate *p =
        ARENA_NEW_N(&job->arena, ArtifactPredicate, 2 * (size_t)k->param_count + 1);
    uint32_t index = 0;
    for (uint32_t i = 0; i < f->param_count; i++) {
        const ParamBinding *b = &v->params[i];
        if (b->is_constexpr)
            continue;
        if (b->assumed && b->divisor > 1)
            p[out->predicate_count++] =
                (ArtifactPredicate){ b->type->kind == TYPE_PTR ? TEST_ALIGN : TEST_MULTIPLE, index,
                                     b->divisor };
        if (b->has_value)
            p[out->predicate_count++] = (ArtifactPredicate){ TEST_EQUAL, index, b->equals };
        index++;
    }
    out->predicates = p;
}

static bool job_host_text(Job *job, JobKernel *k, const IrFunc *fn, ArtifactVariant *out,
                          uint32_t index)
{
    HostcParam *params = ARENA_NEW_N(&job->arena, HostcParam, k->param_count);
    for (uint32_t i = 0; i < k->param_count; i++)
        params[i] = (HostcParam){ k->params[i].c_name, k->params[i].type };
    HostcOptions opt = { .record = arena_printf(&job->arena, "%s_args", k->c_name),
                         .params = params,
                         .sources = &job->sources };
    if (k->unit->grid) {
        opt.symbol = arena_printf(&job->arena, "%s_grid", k->c_name);
        if (index == 0 && !hostc_emit_grid(k->unit->grid, &opt, &job->diags, &job->host))
            return false;
        out->grid_symbol = opt.symbol;
    }
    if (!job->archs->host)
        return true;
    // The host needs one function a kernel: facts about arguments change nothing there.
    opt.symbol = arena_printf(&job->arena, "%s_host", k->c_name);
    out->host_symbol = opt.symbol;
    if (index + 1 == k->unit->variant_count &&
        !hostc_emit_kernel(fn, &opt, &job->diags, &job->host, &out->host_scratch))
        return false;
    return true;
}

static bool job_cuda_text(Job *job, JobKernel *k, IrFunc *fn, PassCtx *passes, ArtifactVariant *out,
                          uint32_t index)
{
    if (job->archs->gpu.len == 0 && !(job->emit & (EMIT_CUDA | EMIT_IR_AFTER)))
        return true;
    if (!pass_run_all(passes, fn, PASS_LAYOUT, PASS_MEMORY))
        return false;
    const CudaEmitOptions opt = { .entry = arena_printf(&job->arena, "%s_%u", k->c_name, index),
                                  .variant = out->name,
                                  .layouts = passes->layouts,
                                  .sources = &job->sources,
                                  .lines =
                                      job->opt->debug ? CUDA_LINES_EXACT : CUDA_LINES_STATEMENT };
    for (uint32_t i = 0; i < job->archs->gpu.len; i++)
        if (!cuda_check_limits(fn, job->archs->gpu.at[i].target, &job->diags))
            return false;
    const bool is_largest = index + 1 == k->unit->variant_count;  // what was not proved it tests
    if (is_largest && !cuda_check_time(fn, job->opt->compile_budget, &job->diags))
        return false;
    if (job->emit & EMIT_REPORT)
        report_accesses(&job->arena, &job->sources, fn, &k->accesses[index]);
    k->smem[index] = fn->smem_bytes;
    k->threads[index] = cuda_threads(fn);
    return cuda_emit(fn, &opt, &job->diags, &k->cuda);
}

/// One text serves all chips, so passes plan for the one with the least shared memory.
static const Target *job_smallest_target(const Job *job)
{
    const Target *least = NULL;
    for (uint32_t i = 0; i < job->archs->gpu.len; i++) {
        const Target *t = job->archs->gpu.at[i].target;
        if (!least || t->shared_max < least->shared_max)
            least = t;
    }
    return least ? least : target_find("sm_80");
}

/// What every chip that the text is compiled for has.
static uint32_t job_features(const Job *job)
{
    uint32_t features = job->archs->gpu.len ? UINT32_MAX : target_find("sm_80")->features;
    for (uint32_t i = 0; i < job->archs->gpu.len; i++)
        features &= job->archs->gpu.at[i].target->features;
    return features;
}

static bool job_variant(Job *job, JobKernel *k, uint32_t index)
{
    const Variant *v = &k->unit->variants[index];
    ArtifactVariant *out = &k->variants[index];
    LayoutTable *layouts = layout_table_new(&job->arena);
    JobDump dump = { job, k, job->opt->ir_after, layouts };
    PassCtx passes = { .arena = &job->arena,
                       .diags = &job->diags,
                       .layouts = layouts,
                       .target = job_smallest_target(job),
                       .features = job_features(job),
                       .dots = job->opt->dots,
                       .verify_each = job->opt->verify_each,
                       .dump_after = job_after_pass,
                       .dump_cx = &dump };
    out->name = k->unit->variant_names[index];
    job_predicates(job, k, v, out);
    crash_stage(job->path, arena_printf(&job->arena, "lowering kernel %s", k->c_name));
    IrFunc *fn = lower_kernel(&job->program, v, &job->arena);
    if (!fn || !pass_run_all(&passes, fn, PASS_TILE, PASS_TILE))
        return false;
    if (job->emit & EMIT_IR)
        ir_print(fn, NULL, &k->ir);
    return job_host_text(job, k, fn, out, index) && job_cuda_text(job, k, fn, &passes, out, index);
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

static bool job_kernel(Job *job, JobKernel *k)
{
    uint32_t n = k->unit->variant_count;
    if (!job_kernel_name(job, k))
        return false;
    k->variants = ARENA_NEW_N(&job->arena, ArtifactVariant, n);
    k->accesses = ARENA_NEW_N(&job->arena, Buf, n);
    k->smem = ARENA_NEW_N(&job->arena, uint32_t, n);
    k->threads = ARENA_NEW_N(&job->arena, uint32_t, n);
    job_params(job, k);
    for (uint32_t i = 0; i < n; i++)
        if (!job_variant(job, k, i))
            return false;
    for (uint32_t i = 0; i + 1 < n; i++)
        k->variants[i].host_scratch = k->variants[n - 1].host_scratch;
    return true;
}

bool job_lower(Job *job)
{
    double start = job_now();
    const Options *o = job->opt;
    const VariantOptions opt = { .kernels = o->kernels.at,
                                 .kernel_count = o->kernels.len,
                                 .signature = o->signature,
                                 .grid = o->grid,
                                 .specialize = o->specialize,
                                 .defines = o->defines.at,
                                 .define_count = o->defines.len,
                                 .index64 = o->index64,
                                 .num_warps = (unsigned)o->num_warps,
                                 .num_stages = (unsigned)o->num_stages };
    if (!lower_enumerate(&job->program, job->module, &opt, &job->units))
        return false;
    bool ok = true;
    hostc_prelude(&job->host);
    job->kernels = ARENA_NEW_N(&job->arena, JobKernel, job->units.len);
    for (uint32_t i = 0; i < job->units.len; i++) {
        job->kernels[i].unit = &job->units.at[i];
        ok &= job_kernel(job, &job->kernels[i]);  // the others' errors are worth showing too
    }
    job->seconds[JOB_TIME_LOWER] = job_now() - start;
    return ok && diag_error_count(&job->diags) == 0;
}

bool job_wants_images(const Job *job)
{
    return (job->emit & (EMIT_PTX | EMIT_CUBIN | EMIT_SASS | EMIT_C | EMIT_OBJ | EMIT_HEADER |
                         EMIT_MANIFEST | EMIT_REPORT)) &&
           job->archs->gpu.len > 0;
}

/// -X options as the NULL-terminated array that a request takes.
static const char *const *job_extra(Job *job, const StrList *list)
{
    const char **out = ARENA_NEW_N(&job->arena, const char *, (size_t)list->len + 1);
    for (uint32_t i = 0; i < list->len; i++)
        out[i] = list->at[i];
    return out;
}

bool job_collect(Job *job)
{
    if (!job_wants_images(job))
        return true;
    uint32_t n = job->archs->gpu.len;
    bool also_ptx = (job->emit & EMIT_PTX) != 0;
    const char *folder =
        job->opt->debug && !job->opt->prefix_map.len ? place_of_work(&job->arena) : NULL;
    job->requests = ARENA_NEW_N(&job->arena, CudaRequest, (size_t)job->units.len * n);
    job->images = ARENA_NEW_N(&job->arena, CudaImage, (size_t)job->units.len * n);
    for (uint32_t r = 0; r < job->units.len * n; r++)
        job->images[r].log = "";
    for (uint32_t i = 0; i < job->units.len; i++) {
        JobKernel *k = &job->kernels[i];
        k->first_request = job->request_count;
        for (uint32_t g = 0; g < n; g++) {
            const Arch *arch = &job->archs->gpu.at[g];
            job->requests[job->request_count++] =
                (CudaRequest){ .name = arena_printf(&job->arena, "%s.%s.%s.cu", job->stem,
                                                    k->c_name, arch->text),
                               .source = k->cuda.at ? k->cuda.at : "",
                               .target = arch->target,
                               .ptx = arch->ptx || also_ptx,
                               .line_info = job->opt->debug,
                               .folder = folder,
                               .unoptimised = job->opt->opt_level == 0,
                               .nvrtc_options = job_extra(job, &job->opt->xnvrtc),
                               .ptxas_options = job_extra(job, &job->opt->xptxas) };
        }
    }
    return true;
}

static void job_image(const Job *job, uint32_t r, ArtifactImage *out)
{
    const CudaRequest *q = &job->requests[r];
    const CudaImage *image = &job->images[r];
    const Arch *arch = &job->archs->gpu.at[r % job->archs->gpu.len];
    Sha256 sha;
    *out = (ArtifactImage){ .kind = q->ptx ? IMAGE_PTX : IMAGE_CUBIN,
                            .arch = arch->text,
                            .number = (int)q->target->sm,
                            .set = q->target->suffix,
                            .data = image->data,
                            .size = image->size };
    sha256_begin(&sha);
    sha256_add(&sha, image->data, image->size);
    sha256_hex(&sha, out->sha256);
}

static void job_entries(Job *job, JobKernel *k)
{
    uint32_t archs = job->archs->gpu.len;
    for (uint32_t v = 0; v < k->unit->variant_count; v++) {
        ArtifactEntry *entries = ARENA_NEW_N(&job->arena, ArtifactEntry, archs);
        const char *symbol = arena_printf(&job->arena, "%s_%u", k->c_name, v);
        for (uint32_t g = 0; g < archs; g++) {
            uint32_t r = k->first_request + g;
            CudaUsage usage = cuda_usage_of(&job->images[r], symbol);
            entries[g] = (ArtifactEntry){ .symbol = symbol,
                                          .image = r,
                                          .threads = k->threads[v],
                                          .shared = k->smem[v],
                                          .shared_static = usage.shared,
                                          .registers = usage.registers,
                                          .spills = usage.spill_stores + usage.spill_loads };
        }
        k->variants[v].entries = entries;
        k->variants[v].entry_count = archs;
    }
}

static const char *job_arch_list(Job *job)
{
    Buf b = { 0 };
    for (uint32_t i = 0; i < job->archs->gpu.len; i++)
        buf_printf(&b, "%s%s%s", b.len ? " " : "", job->archs->gpu.at[i].text,
                   job->archs->gpu.at[i].ptx ? "(PTX)" : "");
    if (job->archs->host)
        buf_printf(&b, "%shost", b.len ? " " : "");
    const char *text = arena_strndup(&job->arena, b.at ? b.at : "", b.len);
    buf_free(&b);
    return text;
}

static const char *job_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void job_artifact(Job *job, Artifact *art)
{
    ArtifactKernel *kernels = ARENA_NEW_N(&job->arena, ArtifactKernel, job->units.len);
    ArtifactImage *images = ARENA_NEW_N(&job->arena, ArtifactImage, job->request_count);
    for (uint32_t r = 0; r < job->request_count; r++)
        job_image(job, r, &images[r]);
    for (uint32_t i = 0; i < job->units.len; i++) {
        JobKernel *k = &job->kernels[i];
        if (job->request_count)
            job_entries(job, k);
        SourcePos pos = source_pos(&job->sources, k->unit->function->def->name_span.lo);
        kernels[i] = (ArtifactKernel){ .name = k->c_name,
                                       .doc = k->unit->function->doc,
                                       .location = arena_printf(&job->arena, "%s:%u",
                                                                job_base_name(job->path), pos.line),
                                       .params = k->params,
                                       .param_count = k->param_count,
                                       .record_size = k->record_size,
                                       .variants = k->variants,
                                       .variant_count = k->unit->variant_count,
                                       .has_grid = k->unit->grid != NULL };
    }
    *art = (Artifact){ .stem = job->stem,
                       .source_name = job_base_name(job->path),
                       .images = images,
                       .image_count = job->request_count,
                       .kernels = kernels,
                       .kernel_count = job->units.len,
                       .host_text = job->host.at ? job->host.at : "",
                       .arch_list = job_arch_list(job),
                       .cxx_namespace = job->opt->cxx_namespace,
                       .export_macro = job->opt->export_macro,
                       .hidden = job->opt->hidden,
                       .embed = job->opt->embed };
    Sha256 sha;
    sha256_begin(&sha);
    sha256_add(&sha, job->text, job->text_len);
    sha256_hex(&sha, art->source_sha256);
}

bool job_finish(Job *job)
{
    double start = job_now();
    for (uint32_t r = 0; r < job->request_count; r++) {
        job->seconds[JOB_TIME_NVRTC] += job->images[r].seconds;
        if (!job->images[r].ok && !job->no_images)
            cuda_report_rejected(&job->requests[r], &job->images[r], (Span){ 0, 0 }, &job->diags);
        job->environment_failed |= !job->images[r].ok && !job->no_images;
    }
    if (diag_error_count(&job->diags))
        return false;
    Artifact art;
    job_artifact(job, &art);
    crash_stage(job->path, "writing");
    bool ok = outputs_write(job, &art);
    job->seconds[JOB_TIME_WRITE] = job_now() - start;
    return ok;
}
