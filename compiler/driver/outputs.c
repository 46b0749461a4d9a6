/// outputs.c - names and bytes of everything a compile writes.
///
/// All outputs of one input are committed together. With -o FILE the main output has that name and the
/// others stand beside it with its stem; without, they go to the current folder as cc's do.
#include "driver/depfile.h"
#include "driver/job.h"
#include "driver/report.h"
#include "front/lex.h"
#include "front/parse.h"
#include "support/proc.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Outputs {
    Job *job;
    OutputSet set;
    StrList paths;       ///< what the dependency rule names
    const char *base;    ///< folder and stem of outputs without a name of their own
    bool single;         ///< one kind of output: -o names it
} Outputs;

static bool outputs_has_one_kind(unsigned emit)
{
    return (emit & (emit - 1)) == 0;
}

static void outputs_begin(Outputs *o, Job *job)
{
    Arena *a = &job->arena;
    const char *out = job->opt->output;
    *o = (Outputs){ .job = job, .set = { .arena = a }, .single = outputs_has_one_kind(job->emit) };
    if (!out || strcmp(out, "-") == 0)
        o->base = job->stem;
    else if (out[strlen(out) - 1] == '/' || fs_is_dir(out) || job->opt->inputs.len > 1)
        o->base = arena_printf(a, "%s%s%s", out, out[strlen(out) - 1] == '/' ? "" : "/", job->stem);
    else
        o->base = arena_printf(a, "%s%s", fs_dir(a, out), fs_stem(a, out));
}

/// The path of an output: -o when it is the main one, else base + suffix.
static const char *outputs_path(const Outputs *o, const char *suffix, bool main)
{
    const char *out = o->job->opt->output;
    if (out && strcmp(out, "-") == 0)
        return "-";
    bool folder = out && (out[strlen(out) - 1] == '/' || fs_is_dir(out) || o->job->opt->inputs.len > 1);
    if (out && main && !folder)
        return out;
    return arena_printf(&o->job->arena, "%s%s", o->base, suffix);
}

static void outputs_add(Outputs *o, const char *path, const char *data, size_t len, bool keep_time)
{
    fs_output(&o->set, path, data, len, keep_time);
    if (strcmp(path, "-") != 0)
        VEC_PUSH(&o->job->arena, &o->paths, path);
}

static void outputs_add_buf(Outputs *o, const char *path, Buf *text, bool keep_time)
{
    outputs_add(o, path, arena_strndup(&o->job->arena, text->at ? text->at : "", text->len), text->len, keep_time);
    buf_clear(text);
}

static bool outputs_commit(Outputs *o)
{
    const char *why = NULL;
    if (fs_commit(&o->set, &why))
        return true;
    fprintf(stderr, "newtc: error: %s\n", why);
    return false;
}

bool outputs_write_front(Job *job)
{
    Outputs o;
    Buf text = { 0 };
    const SourceFile *file = job->sources.files.at[0];
    outputs_begin(&o, job);
    if (job->emit & EMIT_TOKENS) {
        lex_dump(&job->arena, &job->syms, &job->sources, file, &job->diags, &text);
        outputs_add_buf(&o, outputs_path(&o, ".tokens", o.single), &text, false);
    }
    if (job->emit & EMIT_AST) {
        const AstModule *m = parse_file(&job->arena, &job->syms, &job->sources, file, &job->diags);
        ast_dump(&m->base, &text);
        outputs_add_buf(&o, outputs_path(&o, ".ast", o.single), &text, false);
    }
    buf_free(&text);
    if (diag_error_count(&job->diags))
        return false;
    bool ok = outputs_commit(&o);
    job->environment_failed |= !ok;
    return ok;
}

/// ".KERNEL.ARCH.EXT", without the kernel when the module has only one.
static const char *outputs_suffix(const Outputs *o, uint32_t kernel, const char *arch, const char *ext)
{
    const Job *job = o->job;
    const char *name = job->units.len > 1 ? job->kernels[kernel].c_name : "";
    return arena_printf(&o->job->arena, "%s%s%s%s%s", *name ? "." : "", name, *arch ? "." : "", arch, ext);
}

/// CUDA text is the same for every architecture; its name carries each, so that tools find it.
static void outputs_cuda(Outputs *o)
{
    Job *job = o->job;
    Buf all = { 0 };
    for (uint32_t i = 0; i < job->units.len; i++) {
        Buf *text = &job->kernels[i].cuda;
        const char *path = outputs_path(o, outputs_suffix(o, i, "", ".cu"), o->single && job->units.len == 1);
        if (strcmp(path, "-") == 0)
            buf_bytes(&all, text->at, text->len);
        else
            outputs_add(o, path, text->at ? text->at : "", text->len, false);
    }
    if (all.len)
        outputs_add_buf(o, "-", &all, false);
    buf_free(&all);
}

static void outputs_images(Outputs *o, unsigned kind, const char *ext)
{
    Job *job = o->job;
    for (uint32_t r = 0; r < job->request_count; r++) {
        const CudaImage *image = &job->images[r];
        uint32_t kernel = r / job->archs->gpu.len;
        const Arch *arch = &job->archs->gpu.at[r % job->archs->gpu.len];
        bool is_ptx = job->requests[r].ptx;
        if (is_ptx != (kind == EMIT_PTX))
            continue;
        const char *path = outputs_path(o, outputs_suffix(o, kernel, arch->text, ext), o->single && job->request_count == 1);
        outputs_add(o, path, image->data, is_ptx ? image->size - 1 : image->size, false);
    }
}

static void outputs_ir(Outputs *o)
{
    Job *job = o->job;
    Buf all = { 0 };
    for (uint32_t i = 0; i < job->units.len; i++)
        buf_bytes(&all, job->kernels[i].ir.at, job->kernels[i].ir.len);
    outputs_add_buf(o, outputs_path(o, ".ir", o->single), &all, false);
    buf_free(&all);
}

/// Compiles the generated C into an object with the C compiler; the text goes through a temporary folder.
static bool outputs_object(Outputs *o, const char *c_text, size_t c_len, const char *header, size_t header_len,
                           const char *header_name)
{
    Job *job = o->job;
    Arena *a = &job->arena;
    const char *tmp = getenv("TMPDIR"), *cc = job->opt->cc ? job->opt->cc : getenv("CC");
    char *dir = arena_printf(a, "%s/newtc-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(dir)) {
        fprintf(stderr, "newtc: error: cannot make a temporary folder in '%s'\n", tmp && *tmp ? tmp : "/tmp");
        return false;
    }
    const char *source = arena_printf(a, "%s/module.c", dir), *object = arena_printf(a, "%s/module.o", dir);
    const char *beside = arena_printf(a, "%s/%s", dir, header_name), *why = NULL;
    OutputSet set = { .arena = a };
    fs_output(&set, source, c_text, c_len, false);
    fs_output(&set, beside, header, header_len, false);
    const char *argv[] = { cc && *cc ? cc : "cc", "-std=c11", "-O3", "-fPIC", "-c", NULL, NULL, source, "-o", object, NULL };
    const char *include = getenv("NEWT_INCLUDE");
    argv[5] = arena_printf(a, "-I%s", include && *include ? include : NEWTC_INCLUDE_DIR);
    argv[6] = "-w";
    Buf log = { 0 };
    bool ok = fs_commit(&set, &why);
    int status = ok ? proc_run(argv, &log) : 0;
    if (!ok || status != 0)
        fprintf(stderr, "newtc: error: %s failed on the generated C: %s\n", argv[0], ok && log.at ? log.at : why ? why : "");
    ok = ok && status == 0;
    size_t len = 0;
    const char *bytes = ok ? fs_read(a, object, &len, &why) : NULL;
    if (bytes)
        outputs_add(o, outputs_path(o, ".o", true), bytes, len, false);
    buf_free(&log);
    unlink(source);
    unlink(object);
    unlink(beside);
    rmdir(dir);
    return bytes != NULL;
}

/// The rule covers every output; with -M it is all that is written.
static void outputs_depfile(Outputs *o, Buf *text)
{
    Job *job = o->job;
    const Options *opt = job->opt;
    StrList inputs = { 0 };
    for (uint32_t i = 0; i < job->sources.files.len; i++)
        if (job->sources.files.at[i]->path[0] != '<')  // not the built-in library
            VEC_PUSH(&job->arena, &inputs, job->sources.files.at[i]->path);
    const StrList *targets = opt->dep_targets.len ? &opt->dep_targets : &o->paths;
    depfile_write(targets, opt->dep_targets.len > 0, &inputs, opt->dep_phony, text);
    const char *path = opt->dep_file ? opt->dep_file : opt->dep == 1 ? "-" : arena_printf(&job->arena, "%s.d", o->base);
    fs_output(&o->set, path, arena_strndup(&job->arena, text->at, text->len), text->len, false);
    buf_clear(text);
}

static bool outputs_module(Outputs *o, Artifact *art, Buf *text)
{
    Job *job = o->job;
    const Options *opt = job->opt;
    bool to_file = (job->emit & (EMIT_C | EMIT_OBJ)) != 0;
    const char *header = opt->header ? opt->header
                                     : outputs_path(o, ".h", o->single && job->emit == EMIT_HEADER);
    const char *slash = strrchr(header, '/');
    art->header_name = strcmp(header, "-") == 0 ? arena_printf(&job->arena, "%s.h", job->stem) : slash ? slash + 1 : header;
    const char *base = strrchr(o->base, '/');
    art->images_name = arena_printf(&job->arena, "%s.images", base ? base + 1 : o->base);
    artifact_write_header(art, text);
    size_t header_len = text->len;
    const char *header_text = arena_strndup(&job->arena, text->at, text->len);
    buf_clear(text);
    if (job->emit & EMIT_HEADER)
        outputs_add(o, header, header_text, header_len, !opt->touch);
    if (!to_file)
        return true;
    artifact_write_module(art, text);
    size_t c_len = text->len;
    const char *c_text = arena_strndup(&job->arena, text->at, text->len);
    buf_clear(text);
    if (job->emit & EMIT_C) {
        outputs_add(o, outputs_path(o, ".c", true), c_text, c_len, false);
        if (art->embed == EMBED_INCBIN && art->image_count) {
            artifact_write_images(art, text);
            outputs_add_buf(o, outputs_path(o, ".images", false), text, false);
        }
    }
    return !(job->emit & EMIT_OBJ) || outputs_object(o, c_text, c_len, header_text, header_len, art->header_name);
}

bool outputs_write(Job *job, const Artifact *artifact)
{
    Artifact art = *artifact;
    Outputs o;
    Buf text = { 0 };
    outputs_begin(&o, job);
    bool ok = true;
    if (job->emit & (EMIT_IR | EMIT_IR_AFTER))
        outputs_ir(&o);
    if (job->emit & EMIT_CUDA)
        outputs_cuda(&o);
    if (job->emit & EMIT_PTX)
        outputs_images(&o, EMIT_PTX, ".ptx");
    if (job->emit & EMIT_CUBIN)
        outputs_images(&o, EMIT_CUBIN, ".cubin");
    if (job->emit & EMIT_HOST_C)
        outputs_add(&o, outputs_path(&o, ".host.c", o.single), job->host.at, job->host.len, false);
    if (job->emit & (EMIT_C | EMIT_OBJ | EMIT_HEADER))
        ok = outputs_module(&o, &art, &text);
    if (job->emit & EMIT_MANIFEST) {
        artifact_write_manifest(&art, &text);
        const char *path = job->opt->manifest ? job->opt->manifest : outputs_path(&o, ".json", o.single);
        outputs_add_buf(&o, path, &text, false);
    }
    if (job->emit & (EMIT_REPORT | EMIT_SASS)) {
        report_write(job, &art, &text);
        outputs_add_buf(&o, outputs_path(&o, ".report", o.single), &text, false);
    }
    if (job->opt->dep) {
        if (job->opt->dep == 1)
            o.set.files.len = 0;
        outputs_depfile(&o, &text);
    }
    buf_free(&text);
    return ok && outputs_commit(&o);
}
