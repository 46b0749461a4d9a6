/// reproduce.c - see reproduce.h. The tar file is of the plain ustar form with no owner and no
/// time, so that one fault gives the same bytes everywhere.
#include "driver/reproduce.h"
#include <stdio.h>
#include <string.h>

typedef struct ReproFile {
    const char *name, *data;
    size_t len;
} ReproFile;
typedef VEC(ReproFile) ReproFiles;

static void add(Arena *a, ReproFiles *out, const char *name, const char *data, size_t len)
{
    if (data && len)
        VEC_PUSH(a, out, ((ReproFile){ name, arena_strndup(a, data, len), len }));
}

/// A path that stays below the folder it is put in.
static const char *inner_path(Arena *a, const char *path)
{
    char *copy = arena_printf(a, "%s", path + strspn(path, "/"));
    for (char *at = copy; (at = strstr(at, "..")) != NULL;)
        at[0] = at[1] = '_';
    return copy;
}

static void add_command(Arena *a, const Options *opt, const Nvrtc *nvrtc, ReproFiles *out)
{
    Buf text = { 0 };
    buf_puts(&text, "newtc");
    for (uint32_t i = 0; i < opt->words.len; i++)
        buf_printf(&text, " '%s'", opt->words.at[i]);
    buf_putc(&text, '\n');
    add(a, out, "command", text.at, text.len);
    buf_clear(&text);
    buf_printf(&text, "newtc %s\n", NEWTC_VERSION);
    if (nvrtc->loaded)
        buf_printf(&text, "NVRTC %d.%d\n", nvrtc->major, nvrtc->minor);
    add(a, out, "versions", text.at, text.len);
    buf_free(&text);
}

/// An input that no job has read yet.
static void add_input(Arena *a, const char *path, ReproFiles *out)
{
    const char *why = NULL;
    size_t len;
    const char *text = fs_read(a, path, &len, &why);
    add(a, out, arena_printf(a, "inputs/%s", inner_path(a, path)), text, len);
}

static void add_job(Arena *a, const Job *job, ReproFiles *out)
{
    for (uint32_t i = 0; i < job->sources.files.len; i++) {
        const SourceFile *f = job->sources.files.at[i];
        if (f->path[0] != '<')  // not the built-in library
            add(a, out, arena_printf(a, "inputs/%s", inner_path(a, f->path)), f->text, f->len);
    }
    for (uint32_t i = 0; job->kernels && i < job->units.len; i++) {
        const JobKernel *k = &job->kernels[i];
        for (uint32_t t = 0; t < k->texts.len; t++)
            add(a, out,
                arena_printf(a, "generated/%s.%s%s.cu", job->stem, job_text_name((Job *)job, i, t),
                             job_text_chips((Job *)job, i, t)),
                k->texts.at[t]->cuda.at, k->texts.at[t]->cuda.len);
    }
    for (uint32_t r = 0; r < job->request_count; r++)
        if (job->images[r].log)
            add(a, out, arena_printf(a, "generated/%s.log", job->requests[r].name),
                job->images[r].log, strlen(job->images[r].log));
    Buf text = { 0 };
    diag_print(&job->diags, DIAG_TEXT, false, &text);
    add(a, out, arena_printf(a, "%s.diagnostics", job->stem), text.at, text.len);
    buf_free(&text);
}

static void put_tar_header(const ReproFile *f, Buf *out)
{
    struct {
        char name[100], mode[8], uid[8], gid[8], size[12], time[12], sum[8], type, link[100],
            magic[8], rest[247];
    } h = { .type = '0' };
    _Static_assert(sizeof h == 512, "a tar header is one block");
    unsigned sum = 0;
    snprintf(h.name, sizeof h.name, "%s", f->name);
    memcpy(h.mode, "0000644", 8);
    memcpy(h.uid, "0000000", 8);
    memcpy(h.gid, "0000000", 8);
    snprintf(h.size, sizeof h.size, "%011zo", f->len);
    memcpy(h.time, "00000000000", 12);
    memcpy(h.magic, "ustar\00000", 8);
    memset(h.sum, ' ', sizeof h.sum);
    for (size_t i = 0; i < sizeof h; i++)
        sum += ((const unsigned char *)&h)[i];
    snprintf(h.sum, sizeof h.sum - 1, "%06o", sum);
    buf_bytes(out, &h, sizeof h);
}

static void pad_tar(Buf *out, size_t blocks)
{
    static const char zeros[1024];
    buf_bytes(out, zeros, (512 - out->len % 512) % 512);
    buf_bytes(out, zeros, 512 * blocks);
}

bool reproduce_write_tar(const Options *opt, const Nvrtc *nvrtc, Job *jobs, uint32_t count)
{
    Arena a = { 0 };
    ReproFiles files = { 0 };
    ReproFile *f;
    Buf tar = { 0 };
    add_command(&a, opt, nvrtc, &files);
    for (uint32_t i = 0; i < count; i++)
        add_job(&a, &jobs[i], &files);
    for (uint32_t i = count; i < opt->inputs.len; i++)
        add_input(&a, opt->inputs.at[i], &files);
    VEC_EACH (f, &files) {
        put_tar_header(f, &tar);
        buf_bytes(&tar, f->data, f->len);
        pad_tar(&tar, 0);
    }
    pad_tar(&tar, 2);
    OutputSet set = { .arena = &a };
    const char *why = NULL;
    fs_output(&set, opt->reproduce, tar.at, tar.len, false);
    bool ok = fs_commit(&set, &why);
    if (!ok)
        fprintf(stderr, "newtc: error: cannot write %s\n", why);
    buf_free(&tar);
    arena_free(&a);
    return ok;
}

void reproduce_write_folder(const Nvrtc *nvrtc, Job *job)
{
    Arena *a = &job->arena;
    ReproFiles files = { 0 };
    ReproFile *f;
    OutputSet set = { .arena = a };
    const char *dir = arena_printf(a, "%s.reproduce", outputs_base(job)),
               *why = "cannot make the folder";
    bool ok = true;
    add_command(a, job->opt, nvrtc, &files);
    add_job(a, job, &files);
    VEC_EACH (f, &files) {
        const char *path = arena_printf(a, "%s/%s", dir, f->name);
        const char *parent = fs_dir(a, path);
        ok = ok && fs_make_dirs(a, parent);
        fs_output(&set, path, f->data, f->len, false);
    }
    // Like each report, the note belongs to the sink's current one.
    job->diags.current = job->diags.list.at[job->diags.list.len - 1];
    if (ok && fs_commit(&set, &why))
        diag_note(&job->diags, (Span){ 0, 0 }, "what a report of this fault needs is in '%s'", dir);
    else
        diag_note(&job->diags, (Span){ 0, 0 },
                  "'%s' with what a report needs cannot be written: %s", dir, why);
}
