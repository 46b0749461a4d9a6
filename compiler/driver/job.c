/// job.c - the stages of one input, in order. See job.h.
#include "backend/hostc/hostc.h"
#include "driver/crash.h"
#include "driver/job_impl.h"
#include "driver/place.h"
#include "driver/tune_db.h"
#include "front/parse.h"
#include "support/sha256.h"
#include "tile/tile.h"
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
        for (uint32_t t = 0; t < job->kernels[i].texts.len; t++) {
            JobText *text = job->kernels[i].texts.at[t];
            buf_free(&text->cuda);
            buf_free(&text->maps);
            for (uint32_t v = 0; v < text->variant_count; v++)
                buf_free(&text->accesses[v]);
        }
        buf_free(&job->kernels[i].ir);
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
    // A tile kernel with a fault was reported; the other kernels are looked at all the same.
    tile_rewrite(&job->program, job->module);
    if (job->emit & EMIT_NEWT && !outputs_write_newt(job))
        return false;
    if (!(job->emit & ~(unsigned)(EMIT_TOKENS | EMIT_AST | EMIT_NEWT)))
        job->module = NULL;  // nothing more is wanted
    job->seconds[JOB_TIME_FRONT] = job_now() - start;
    return true;  // errors so far: lowering goes on, silent about what was reported, and finds the
                  // others
}

bool job_lower(Job *job)
{
    double start = job_now();
    const Options *o = job->opt;
    uint32_t winners = 0;
    if (!tune_db_read(job))
        return false;
    const VariantOptions opt = { .kernels = o->kernels.at,
                                 .kernel_count = o->kernels.len,
                                 .signature = o->signature,
                                 .grid = o->grid,
                                 .specialize = o->specialize,
                                 .only_for = o->only_for,
                                 .defines = o->defines.at,
                                 .define_count = o->defines.len,
                                 .index64 = o->index64,
                                 .num_warps = (unsigned)o->num_warps,
                                 .num_stages = (unsigned)o->num_stages,
                                 .configs = o->configs.at,
                                 .config_count = o->configs.len,
                                 .winners = tune_db_winners(job, &winners),
                                 .winner_count = job->tuned.len };
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

const char *job_text_name(Job *job, uint32_t kernel, uint32_t text)
{
    const JobKernel *k = &job->kernels[kernel];
    const KernelUnit *unit = k->unit;
    const uint32_t config = k->texts.at[text]->config;
    return unit->config_count > 1
               ? arena_printf(&job->arena, "%s.%s", k->c_name, unit->configs[config].name)
               : k->c_name;
}

const char *job_text_chips(Job *job, uint32_t kernel, uint32_t text)
{
    const JobKernel *k = &job->kernels[kernel];
    Buf b = { 0 };
    uint32_t texts = 0;
    for (uint32_t t = 0; t < k->texts.len; t++)
        texts += k->texts.at[t]->config == k->texts.at[text]->config;
    for (uint32_t i = 0; texts > 1 && i < job->archs->gpu.len; i++)
        if (k->texts.at[text]->on[i])
            buf_printf(&b, "%s%s", b.len ? "+" : "", job->archs->gpu.at[i].text);
    const char *name = arena_strndup(&job->arena, b.at ? b.at : "", b.len);
    buf_free(&b);
    return name;
}

/// A request for each chip of a text.
static void job_collect_text(Job *job, uint32_t kernel, uint32_t text, const char *folder)
{
    JobText *t = job->kernels[kernel].texts.at[text];
    const bool also_ptx = (job->emit & EMIT_PTX) != 0;
    t->first_request = job->request_count;
    for (uint32_t g = 0; g < job->archs->gpu.len; g++) {
        const Arch *arch = &job->archs->gpu.at[g];
        if (!t->on[g])
            continue;
        job->origins[job->request_count] = (JobOrigin){ kernel, text, g };
        job->requests[job->request_count++] =
            (CudaRequest){ .name = arena_printf(&job->arena, "%s.%s.%s.cu", job->stem,
                                                job_text_name(job, kernel, text), arch->text),
                           .source = t->cuda.at ? t->cuda.at : "",
                           .target = arch->target,
                           .ptx = arch->ptx || also_ptx,
                           .line_info = job->opt->debug,
                           .folder = folder,
                           .unoptimised = job->opt->opt_level == 0,
                           .nvrtc_options = job_extra(job, &job->opt->xnvrtc),
                           .ptxas_options = job_extra(job, &job->opt->xptxas) };
    }
}

bool job_collect(Job *job)
{
    if (!job_wants_images(job))
        return true;
    const uint32_t n = job->archs->gpu.len;
    const char *folder =
        job->opt->debug && !job->opt->prefix_map.len ? place_of_work(&job->arena) : NULL;
    size_t most = 0;
    for (uint32_t i = 0; i < job->units.len; i++)
        most += (size_t)job->kernels[i].texts.len * n;
    job->requests = ARENA_NEW_N(&job->arena, CudaRequest, most);
    job->origins = ARENA_NEW_N(&job->arena, JobOrigin, most);
    job->images = ARENA_NEW_N(&job->arena, CudaImage, most);
    for (uint32_t i = 0; i < job->units.len; i++)
        for (uint32_t t = 0; t < job->kernels[i].texts.len; t++)
            job_collect_text(job, i, t, folder);
    for (uint32_t r = 0; r < job->request_count; r++)
        job->images[r].log = "";
    return true;
}

static void job_image(const Job *job, uint32_t r, ArtifactImage *out)
{
    const CudaRequest *q = &job->requests[r];
    const CudaImage *image = &job->images[r];
    const Arch *arch = &job->archs->gpu.at[job->origins[r].arch];
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

/// The blocks of a persistent grid that one multiprocessor holds: passes counted by shared memory.
static void job_limit_blocks(ArtifactEntry *entry)
{
    enum { FILE_REGISTERS = 65536 };
    const uint32_t block = entry->registers * entry->threads;
    const uint32_t most = block > 0 ? FILE_REGISTERS / block : entry->blocks_per_sm;
    if (entry->blocks_per_sm > most)
        entry->blocks_per_sm = most > 0 ? most : 1;
}

/// Of each configuration the first variant counts, which runs where arguments are as usual.
static void job_check_spills(Job *job, const JobKernel *k, const ArtifactEntry *entry)
{
    if (entry->spills == 0)
        return;
    diag_report(&job->diags, DIAG_REGISTER_SPILL, k->unit->function->def->name_span,
                "'%s' moves %u bytes a thread between registers and local memory on %s", k->c_name,
                entry->spills, job->requests[entry->image].target->name);
    diag_help(&job->diags, "use smaller blocks or more warps");
}

/// A variant has an entry in each image of each text that it stands in.
static void job_entries(Job *job, const JobKernel *k, uint32_t v)
{
    ArtifactVariant *out = &k->variants[v];
    ArtifactEntry *entries = ARENA_NEW_N(&job->arena, ArtifactEntry, job->archs->gpu.len);
    const char *symbol = arena_printf(&job->arena, "%s_%u", k->c_name, v);
    for (uint32_t i = 0; i < k->texts.len; i++) {
        const JobText *text = k->texts.at[i];
        const uint32_t at = v - text->first_variant;
        uint32_t r = text->first_request;
        if (v < text->first_variant || at >= text->variant_count)
            continue;
        for (uint32_t g = 0; g < job->archs->gpu.len; g++) {
            if (!text->on[g])
                continue;
            const CudaUsage usage = cuda_usage_of(&job->images[r], symbol);
            ArtifactEntry *entry = &entries[out->entry_count++];
            *entry = text->entries[at];
            entry->symbol = symbol;
            entry->image = r++;
            entry->shared_static = usage.shared;
            entry->registers = usage.registers;
            entry->spills = usage.spill_stores + usage.spill_loads;
            job_limit_blocks(entry);
            if (at == 0)
                job_check_spills(job, k, entry);
        }
    }
    out->entries = entries;
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

/// Variants of one configuration stand together.
static const ArtifactConfig *job_configs(Job *job, const JobKernel *k)
{
    const KernelUnit *unit = k->unit;
    ArtifactConfig *out = ARENA_NEW_N(&job->arena, ArtifactConfig, (size_t)unit->config_count + 1);
    for (uint32_t i = 0; i < unit->config_count; i++) {
        out[i].name = unit->configs[i].name;
        out[i].text = unit->configs[i].text;
    }
    for (uint32_t i = 0; i < unit->form_count && unit->config_count; i++) {
        ArtifactConfig *c = &out[unit->forms[i].config];
        if (!c->variant_count)
            c->first_variant = unit->forms[i].first_variant;
        c->variant_count += unit->forms[i].variant_count;
    }
    return out;
}

static void job_artifact(Job *job, Artifact *art)
{
    ArtifactKernel *kernels = ARENA_NEW_N(&job->arena, ArtifactKernel, job->units.len);
    ArtifactImage *images = ARENA_NEW_N(&job->arena, ArtifactImage, job->request_count);
    for (uint32_t r = 0; r < job->request_count; r++)
        job_image(job, r, &images[r]);
    for (uint32_t i = 0; i < job->units.len; i++) {
        JobKernel *k = &job->kernels[i];
        for (uint32_t v = 0; job->request_count && v < k->unit->variant_count; v++)
            job_entries(job, k, v);
        SourcePos pos = source_pos(&job->sources, k->unit->function->def->name_span.lo);
        kernels[i] = (ArtifactKernel){
            .name = k->c_name,
            .doc = k->unit->function->doc,
            .location = arena_printf(&job->arena, "%s:%u", job_base_name(job->path), pos.line),
            .record =
                artifact_record(&job->arena, k->c_name, k->unit->config_count && !k->input_count),
            .type_name = artifact_type_name(&job->arena, k->c_name),
            .params = k->params,
            .param_count = k->param_count,
            .record_size = k->record_size,
            .inputs = k->inputs,
            .input_count = k->input_count,
            .rules = k->rules,
            .rule_count = k->rule_count,
            .args = k->args,
            .arg_count = k->arg_count,
            .variants = k->variants,
            .variant_count = k->unit->variant_count,
            .has_grid = k->unit->forms[0].grid != NULL,
            .configs = job_configs(job, k),
            .config_count = k->unit->config_count
        };
        kernels[i].tuned = tune_db_table(job, k, &kernels[i].tuned_count);
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
        else if (!job->no_images)
            cuda_report_mended(&job->requests[r], &job->images[r], (Span){ 0, 0 }, &job->diags);
        job->environment_failed |= !job->images[r].ok && !job->no_images;
    }
    if (diag_error_count(&job->diags))
        return false;
    Artifact art;
    job_artifact(job, &art);
    if (diag_error_count(&job->diags))  // spills
        return false;
    crash_stage(job->path, "writing");
    bool ok = outputs_write(job, &art);
    job->seconds[JOB_TIME_WRITE] = job_now() - start;
    return ok;
}
