/// outputs.c - names and bytes of everything a compile writes.
///
/// All outputs of one input are committed together. With -o FILE the main output has that name and
/// the others stand beside it with its stem; without, they go to the current folder as cc's do.
#include "driver/depfile.h"
#include "driver/job.h"
#include "driver/place.h"
#include "driver/report.h"
#include "front/lex.h"
#include "front/parse.h"
#include "support/proc.h"
#include "tile/tile.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Outputs {
    Job *job;
    OutputSet set;
    StrList paths;     ///< what the dependency rule names
    const char *base;  ///< folder and stem of outputs without a name of their own
    bool single;       ///< one kind of output: -o names it
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
    bool folder =
        out && (out[strlen(out) - 1] == '/' || fs_is_dir(out) || o->job->opt->inputs.len > 1);
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
    outputs_add(o, path, arena_strndup(&o->job->arena, text->at ? text->at : "", text->len),
                text->len, keep_time);
    buf_clear(text);
}

const char *outputs_base(Job *job)
{
    Outputs o;
    outputs_begin(&o, job);
    return o.base;
}

static bool outputs_is_same_file(const char *left, const char *right)
{
    struct stat l, r;
    return stat(left, &l) == 0 && stat(right, &r) == 0 && l.st_dev == r.st_dev &&
           l.st_ino == r.st_ino && S_ISREG(l.st_mode);
}

/// No output replaces an input, and no two outputs have one name.
static bool outputs_check(const Outputs *o)
{
    Job *job = o->job;
    for (uint32_t i = 0; i < o->set.files.len; i++) {
        const char *path = o->set.files.at[i].path;
        if (strcmp(path, "-") == 0)
            continue;
        if (outputs_is_same_file(path, job->path)) {
            job_file_error(job, "output '%s' is the input itself", path);
            return false;
        }
        for (uint32_t j = 0; j < i; j++)
            if (strcmp(path, o->set.files.at[j].path) == 0) {
                job_file_error(job, "two outputs would be called '%s'", path);
                return false;
            }
    }
    return true;
}

static bool outputs_commit(Outputs *o)
{
    const char *why = NULL;
    if (!outputs_check(o))
        return false;
    for (uint32_t i = 0; o->job->opt->dry_run && i < o->set.files.len; i++)
        fprintf(stderr, " write %s\n", o->set.files.at[i].path);
    if (o->job->opt->dry_run || fs_commit(&o->set, &why))
        return true;
    job_file_error(o->job, "cannot write %s", why);
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
    return outputs_commit(&o);
}

bool outputs_write_newt(Job *job)
{
    Outputs o;
    Buf text = { 0 };
    if (diag_error_count(&job->diags))
        return false;
    outputs_begin(&o, job);
    tile_source(job->module, job->opt->defines.at, job->opt->defines.len, &text);
    // By itself it goes where a preprocessor's text would go; the input's own name is never taken.
    bool alone = job->emit == EMIT_NEWT;
    const char *path =
        alone && !job->opt->output ? "-" : outputs_path(&o, ".kernels.newt", o.single && alone);
    outputs_add_buf(&o, path, &text, false);
    buf_free(&text);
    return outputs_commit(&o);
}

/// ".KERNEL.CONFIG.ARCH.EXT", without the kernel when the module has only one text.
static const char *outputs_suffix(const Outputs *o, uint32_t kernel, uint32_t text,
                                  const char *arch, const char *ext)
{
    Job *job = o->job;
    const bool named = job->units.len > 1 || job->units.at[kernel].config_count > 1;
    const char *name = named ? job_text_name(job, kernel, text) : "";
    return arena_printf(&job->arena, "%s%s%s%s%s", *name ? "." : "", name, *arch ? "." : "", arch,
                        ext);
}

/// How many texts the job has.
static uint32_t outputs_texts(const Job *job)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < job->units.len; i++)
        count += job->kernels[i].texts.len;
    return count;
}

/// CUDA text is the same for every architecture of a group.
static void outputs_cuda(Outputs *o)
{
    Job *job = o->job;
    Buf all = { 0 };
    const bool alone = o->single && outputs_texts(job) == 1;
    for (uint32_t i = 0; i < job->units.len; i++)
        for (uint32_t t = 0; t < job->kernels[i].texts.len; t++) {
            const Buf *text = &job->kernels[i].texts.at[t]->cuda;
            const char *suffix = outputs_suffix(o, i, t, job_text_chips(job, i, t), ".cu");
            const char *path = outputs_path(o, suffix, alone);
            if (strcmp(path, "-") == 0)
                buf_bytes(&all, text->at, text->len);
            else
                outputs_add(o, path, text->at ? text->at : "", text->len, false);
        }
    if (all.len)
        outputs_add_buf(o, "-", &all, false);
    buf_free(&all);
}

static const char *outputs_image_path(const Outputs *o, uint32_t r)
{
    const Job *job = o->job;
    const JobOrigin *from = &job->origins[r];
    const Arch *arch = &job->archs->gpu.at[from->arch];
    bool is_main = o->single && job->request_count == 1 && (job->emit & (EMIT_PTX | EMIT_CUBIN));
    const char *ext = job->requests[r].ptx ? ".ptx" : ".cubin";
    return outputs_path(o, outputs_suffix(o, from->kernel, from->text, arch->text, ext), is_main);
}

/// Images as files, of the kinds that --emit names, and all that the module loads from files.
static void outputs_images(Outputs *o, bool loaded)
{
    const Job *job = o->job;
    for (uint32_t r = 0; r < job->request_count; r++) {
        const CudaImage *image = &job->images[r];
        bool is_ptx = job->requests[r].ptx;
        if (loaded || (job->emit & (is_ptx ? EMIT_PTX : EMIT_CUBIN)))
            outputs_add(o, outputs_image_path(o, r), image->data,
                        is_ptx && image->size ? image->size - 1 : image->size, false);
    }
}

/// EMBED_FILE: the names of the files, as module.c has them.
static void outputs_name_images(const Outputs *o, Artifact *art)
{
    Arena *a = &o->job->arena;
    ArtifactImage *images = ARENA_NEW_N(a, ArtifactImage, art->image_count);
    for (uint32_t r = 0; r < art->image_count; r++) {
        const char *path = outputs_image_path(o, r), *slash = strrchr(path, '/');
        images[r] = art->images[r];
        images[r].file = slash ? slash + 1 : path;
    }
    art->images = images;
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

static const char *outputs_temp(Job *job, const char *base, uint32_t kernel, uint32_t text)
{
    const char *chips = job_text_chips(job, kernel, text);
    return arena_printf(&job->arena, "%s.%s%s%s.cu", base, job_text_name(job, kernel, text),
                        *chips ? "." : "", chips);
}

/// --save-temps: the CUDA C++ of each kernel and what NVRTC said of each image.
static void outputs_temps(Outputs *o)
{
    Job *job = o->job;
    Arena *a = &job->arena;
    const char *dir = job->opt->save_temps;
    const char *base = *dir ? arena_printf(a, "%s/%s", dir, job->stem) : o->base;
    if (*dir && !job->opt->dry_run)
        fs_make_dirs(a, dir);
    for (uint32_t i = 0; i < job->units.len; i++)
        for (uint32_t t = 0; t < job->kernels[i].texts.len; t++) {
            const Buf *text = &job->kernels[i].texts.at[t]->cuda;
            if (text->len)
                fs_output(&o->set, outputs_temp(job, base, i, t), text->at, text->len, false);
        }
    for (uint32_t r = 0; r < job->request_count; r++) {
        const char *log = job->images[r].log;
        const JobOrigin *from = &job->origins[r];
        fs_output(&o->set,
                  arena_printf(a, "%s.%s.%s.log", base,
                               job_text_name(job, from->kernel, from->text),
                               job->archs->gpu.at[from->arch].text),
                  log, strlen(log), false);
    }
}

/// The command of -c: $CC and $CFLAGS are lists of words.
static const char *const *outputs_cc(Job *job, const char *dir, const char *source,
                                     const char *object)
{
    Arena *a = &job->arena;
    const char *cc = job->opt->cc ? job->opt->cc : getenv("CC"), *flags = getenv("CFLAGS");
    const char *headers = place_of_headers(a);
    StrList argv = { 0 };
    options_split(a, cc && *cc ? cc : "cc", &argv);
    // Strict C keeps the compiler from contracting a * b + c; -w: the text's warnings are tested,
    // not the user's.
    static const char *const fixed[] = { "-std=c11", "-O3", "-fPIC", "-w" };
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        VEC_PUSH(a, &argv, fixed[i]);
    if (job->opt->debug)
        VEC_PUSH(a, &argv, "-g");
    options_split(a, flags ? flags : "", &argv);
    VEC_PUSH(a, &argv, arena_printf(a, "-ffile-prefix-map=%s=.", dir));
    for (uint32_t i = 0; i < job->opt->prefix_map.len; i++)
        VEC_PUSH(a, &argv, arena_printf(a, "-ffile-prefix-map=%s", job->opt->prefix_map.at[i]));
    if (headers)
        VEC_PUSH(a, &argv, arena_printf(a, "-I%s", headers));
    if (job->opt->embed == EMBED_INCBIN)
        VEC_PUSH(a, &argv, arena_printf(a, "-Wa,-I%s", dir));
    const char *const last[] = { "-c", source, "-o", object, NULL };
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        VEC_PUSH(a, &argv, last[i]);
    return argv.at;
}

/// For -###.
static void outputs_print_command(const char *const *argv)
{
    for (; *argv; argv++)
        fprintf(stderr, " %s", *argv);
    fputc('\n', stderr);
}

/// Runs the C compiler; its messages are reported when it fails.
static bool outputs_run_cc(Job *job, const char *const *argv)
{
    Buf log = { 0 };
    int status = proc_run(argv, &log);
    if (status < 0)
        job_file_error(job, "cannot run the C compiler '%s': %s", argv[0], strerror(errno));
    else if (status > 0)
        job_file_error(job, "'%s' ended with %d on the generated C: %s", argv[0], status,
                       log.at ? log.at : "");
    buf_free(&log);
    return status == 0;
}

/// A generated text and its name where it is not the main one.
typedef struct GeneratedText {
    const char *name, *at;
    size_t len;
} GeneratedText;

/// The generated C module: `images` has a length for EMBED_INCBIN only.
typedef struct GeneratedModule {
    GeneratedText c, header, images;
} GeneratedModule;

static GeneratedText outputs_text(Job *job, const char *name, Buf *text)
{
    GeneratedText out = { name, arena_strndup(&job->arena, text->at ? text->at : "", text->len),
                          text->len };
    buf_clear(text);
    return out;
}

/// Compiles what stands in the temporary folder `dir`.
static bool outputs_compile(Outputs *o, const GeneratedModule *m, const char *dir, const char *path)
{
    Job *job = o->job;
    Arena *a = &job->arena;
    const GeneratedText *texts[] = { &m->c, &m->header, &m->images };
    const char *object = arena_printf(a, "%s/module.o", dir), *why = NULL;
    OutputSet set = { .arena = a };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i]->len)
            fs_output(&set, arena_printf(a, "%s/%s", dir, texts[i]->name), texts[i]->at,
                      texts[i]->len, false);
    bool ok = fs_commit(&set, &why);
    if (!ok)
        job_file_error(job, "cannot write %s", why);
    ok = ok && outputs_run_cc(job, outputs_cc(job, dir, set.files.at[0].path, object));
    size_t len = 0;
    const char *bytes = ok ? fs_read(a, object, &len, &why) : NULL;
    if (bytes)
        outputs_add(o, path, bytes, len, false);
    else if (ok)
        job_file_error(job, "cannot read '%s': %s", object, why);
    for (uint32_t i = 0; i < set.files.len; i++)
        unlink(set.files.at[i].path);
    unlink(object);
    return bytes != NULL;
}

/// Compiles the generated C into an object with the C compiler, in a temporary folder.
static bool outputs_object(Outputs *o, const GeneratedModule *m)
{
    Job *job = o->job;
    const char *tmp = getenv("TMPDIR"), *path = outputs_path(o, ".o", true);
    char *dir = arena_printf(&job->arena, "%s/newtc-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (job->no_images || !mkdtemp(dir)) {
        outputs_add(o, path, "", 0, false);
        if (job->opt->dry_run)
            outputs_print_command(outputs_cc(job, ".", "module.c", path));
        if (!job->no_images)
            job_file_error(job, "cannot make a temporary folder '%s': %s", dir, strerror(errno));
        return job->no_images;
    }
    bool ok = outputs_compile(o, m, dir, path);
    rmdir(dir);
    return ok;
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
    if (opt->tune_db)
        VEC_PUSH(&job->arena, &inputs, opt->tune_db);
    const StrList *targets = opt->dep_targets.len ? &opt->dep_targets : &o->paths;
    depfile_write(targets, opt->dep_targets.len > 0, &inputs, opt->dep_phony, text);
    const char *path = opt->dep_file          ? opt->dep_file
                       : opt->dep == DEP_ONLY ? "-"
                                              : arena_printf(&job->arena, "%s.d", o->base);
    fs_output(&o->set, path, arena_strndup(&job->arena, text->at, text->len), text->len, false);
    buf_clear(text);
}

/// A generated math.h is found before C's where the program searches its folder with -I.
static void outputs_check_header(Job *job, const char *name)
{
    static const char *const standard[] = {
        "assert", "complex", "ctype",     "errno",  "fenv",   "float",    "inttypes", "iso646",
        "limits", "locale",  "math",      "setjmp", "signal", "stdalign", "stdarg",   "stdatomic",
        "stdbit", "stdbool", "stdckdint", "stddef", "stdint", "stdio",    "stdlib",   "stdnoreturn",
        "string", "tgmath",  "threads",   "time",   "uchar",  "wchar",    "wctype",
    };
    for (size_t i = 0; i < sizeof standard / sizeof *standard; i++) {
        size_t len = strlen(standard[i]);
        if (strncmp(name, standard[i], len) != 0 || strcmp(name + len, ".h") != 0)
            continue;
        diag_report(&job->diags, DIAG_STANDARD_HEADER, (Span){ 0, 0 },
                    "the header is called '%s', as one of C's", name);
        diag_help(&job->diags, "name it with --header=%s_kernels.h", standard[i]);
    }
}

static bool outputs_module(Outputs *o, Artifact *art, Buf *text)
{
    Job *job = o->job;
    const Options *opt = job->opt;
    bool to_file = (job->emit & (EMIT_C | EMIT_OBJ)) != 0;
    const char *header =
        opt->header ? opt->header : outputs_path(o, ".h", o->single && job->emit == EMIT_HEADER);
    const char *slash = strrchr(header, '/');
    art->header_name = strcmp(header, "-") == 0 ? arena_printf(&job->arena, "%s.h", job->stem)
                       : slash                  ? slash + 1
                                                : header;
    const char *base = strrchr(o->base, '/');
    art->images_name = arena_printf(&job->arena, "%s.images", base ? base + 1 : o->base);
    GeneratedModule m;
    artifact_write_header(art, text);
    m.header = outputs_text(job, art->header_name, text);
    if (to_file)
        artifact_write_module(art, text);
    m.c = outputs_text(job, "module.c", text);
    if (to_file && art->embed == EMBED_INCBIN && art->image_count)
        artifact_write_images(art, text);
    m.images = outputs_text(job, art->images_name, text);

    if (job->emit & EMIT_C)
        outputs_add(o, outputs_path(o, ".c", true), m.c.at, m.c.len, false);
    bool ok = !(job->emit & EMIT_OBJ) || outputs_object(o, &m);
    if (job->emit & EMIT_HEADER) {
        outputs_check_header(job, art->header_name);
        outputs_add(o, header, m.header.at, m.header.len, !opt->touch);
    }
    if ((job->emit & EMIT_C) && m.images.len)
        outputs_add(o, outputs_path(o, ".images", false), m.images.at, m.images.len, false);
    return ok;
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
    if (art.embed == EMBED_FILE)
        outputs_name_images(&o, &art);
    outputs_images(&o, art.embed == EMBED_FILE && (job->emit & (EMIT_C | EMIT_OBJ)));
    if (job->emit & EMIT_HOST_C)
        outputs_add(&o, outputs_path(&o, ".host.c", o.single), job->host.at, job->host.len, false);
    if (job->emit & (EMIT_C | EMIT_OBJ | EMIT_HEADER))
        ok = outputs_module(&o, &art, &text);
    if (job->emit & EMIT_MANIFEST) {
        artifact_write_manifest(&art, &text);
        const char *path =
            job->opt->manifest ? job->opt->manifest : outputs_path(&o, ".json", o.single);
        outputs_add_buf(&o, path, &text, false);
    }
    if (job->emit & EMIT_REPORT) {
        report_write(job, &art, &text);
        outputs_add_buf(&o, outputs_path(&o, ".report", o.single), &text, false);
    }
    if (job->emit & EMIT_SASS) {
        report_write_sass(&art, &text);
        outputs_add_buf(&o, outputs_path(&o, ".sass", o.single), &text, false);
    }
    if (job->opt->save_temps)
        outputs_temps(&o);
    if (job->opt->dep != DEP_NONE) {
        if (job->opt->dep == DEP_ONLY)
            o.set.files.len = 0;
        outputs_depfile(&o, &text);
    }
    buf_free(&text);
    return ok && diag_error_count(&job->diags) == 0 && outputs_commit(&o);
}
