/// tuner.c - newtc tune from its command line to its summary.
#include "tuner/tuner.h"
#include "driver/messages.h"
#include "driver/place.h"
#include "tuner/tuner_impl.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// The kernel, as the front end sees it.
typedef struct Subject {
    Options options;
    ArchList archs;
    Job job;
    const KernelUnit *unit;
} Subject;

static bool is_tunable(const Function *f)
{
    return f->autotune || f->tunables.len;
}

/// The kernel that --kernel names, or the only one that has something to choose.
static const KernelUnit *unit_find(const Job *job, const char *name)
{
    const KernelUnit *only = NULL;
    for (uint32_t i = 0; i < job->units.len; i++) {
        const KernelUnit *u = &job->units.at[i];
        const bool is_named =
            name && (strcmp(u->c_name, name) == 0 || strcmp(u->function->name->text, name) == 0);
        if (is_named)
            return u;
        if (name || !is_tunable(u->function))
            continue;
        if (only) {
            tuner_fail("'%s' and '%s' can be tuned; name one with --kernel", only->c_name,
                       u->c_name);
            return NULL;
        }
        only = u;
    }
    if (!only && name)
        tuner_fail("no kernel '%s' in '%s'", name, job->path);
    else if (!only)
        tuner_fail(
            "no kernel in '%s' has an @autotune or is a tile kernel; name one with --kernel to "
            "choose its warps and stages",
            job->path);
    return only;
}

/// Reads the file, and enumerates without lowering more than that needs. The exit code.
static int subject_read(Arena *a, const TunerOptions *opt, Subject *s)
{
    StrList words = { 0 };
    VEC_PUSH(a, &words, "newtc");
    for (uint32_t i = 0; i < opt->pass.len; i++)
        VEC_PUSH(a, &words, opt->pass.at[i]);
    if (!options_parse(a, (int)words.len, (char **)(uintptr_t)words.at, &s->options))
        return TUNER_ENVIRONMENT;
    VEC_PUSH(a, &s->options.inputs, opt->file);
    s->archs.host = true;
    job_init(&s->job, &s->options, &s->archs, opt->file);
    const VariantOptions variants = { .specialize = "none",
                                      .defines = s->options.defines.at,
                                      .define_count = s->options.defines.len,
                                      .index64 = s->options.index64,
                                      .num_warps = (unsigned)s->options.num_warps,
                                      .num_stages = (unsigned)s->options.num_stages };
    const bool ok = job_front(&s->job) && s->job.module &&
                    lower_enumerate(&s->job.program, s->job.module, &variants, &s->job.units) &&
                    diag_error_count(&s->job.diags) == 0;
    messages_print(&s->job, 1);
    if (!ok)
        return s->job.environment_failed ? TUNER_ENVIRONMENT : TUNER_FAILED;
    s->unit = unit_find(&s->job, opt->kernel);
    return s->unit ? TUNER_CLEAN : TUNER_ENVIRONMENT;
}

/* ---- the temporary folder ---- */

static bool folder_make(Arena *a, const char **out)
{
    const char *tmp = getenv("TMPDIR");
    char *dir = arena_printf(a, "%s/newtc-tune-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    *out = dir;
    return mkdtemp(dir) ||
           tuner_fail("cannot make a temporary folder '%s': %s", dir, strerror(errno));
}

static void folder_remove(Arena *a, const char *dir)
{
    DIR *d = opendir(dir);
    const struct dirent *entry;
    while (d && (entry = readdir(d)))
        if (entry->d_name[0] != '.')
            unlink(arena_printf(a, "%s/%s", dir, entry->d_name));
    if (d)
        closedir(d);
    rmdir(dir);
}

static bool file_write(Arena *a, const char *path, const Buf *text)
{
    OutputSet set = { .arena = a };
    const char *why;
    fs_output(&set, path, text->at ? text->at : "", text->len, false);
    return fs_commit(&set, &why) || tuner_fail("cannot write %s", why);
}

/* ---- one shape ---- */

/// The C name of a kernel, as the module has it.
static const char *exported(Arena *a, const Options *opt, const char *name)
{
    const char *prefix = opt->prefix ? opt->prefix : "";
    return artifact_c_function(a, arena_printf(a, "%s%s", prefix, name));
}

static char *worker_word(Arena *a, const char *text)
{
    return arena_strndup(a, text, strlen(text));
}

static void worker_prepare(Arena *a, Search *s, const char *inputs)
{
    const TunerOptions *o = s->opt;
    const char *library = place_of_library(a);
    const char *const words[] = { s->build.program,
                                  "tune",
                                  "--worker",
                                  library,
                                  o->device ? o->device : "",
                                  s->build.symbol,
                                  o->output,
                                  arena_printf(a, "%llu", (unsigned long long)o->seed),
                                  arena_printf(a, "%.6g", o->timeout),
                                  o->resume ? "0" : "1",
                                  inputs };
    // The worker's main sees argv from "tune" on, as this one does.
    enum { COUNT = sizeof words / sizeof *words };
    char **argv = ARENA_NEW_N(a, char *, COUNT + 1);
    for (size_t i = 0; i < COUNT; i++)
        argv[i] = worker_word(a, words[i]);
    s->worker = (Worker){ .to = -1, .from = -1, .argv = argv };
}

static void summary(const Search *s, const char *shape)
{
    unsigned counts[TRIED_KIND_COUNT] = { 0 };
    for (uint32_t i = 0; i < s->tried.len; i++)
        counts[s->tried.at[i].kind]++;
    printf("%s%s%s on %s: ", s->build.name, *shape ? " " : "", shape, s->worker.gpu);
    if (s->best >= 0)
        printf("%.2f us with %s\n", s->tried.at[s->best].us, s->tried.at[s->best].text);
    else
        printf("no configuration could be chosen\n");
    printf(
        "  %u of %.0f configurations: %u right, %u wrong, %u failed, %u too large or refused, %u "
        "pruned, %u the same code as others, in %.1f s\n",
        s->tried.len, s->space.size, counts[TRIED_RIGHT], counts[TRIED_WRONG], counts[TRIED_FAILED],
        counts[TRIED_LARGE] + counts[TRIED_REFUSED], counts[TRIED_PRUNED], counts[TRIED_SAME],
        tuner_now() - s->began);
    for (uint32_t i = 0; i < s->tried.len; i++)
        if (s->tried.at[i].kind == TRIED_WRONG || s->tried.at[i].kind == TRIED_FAILED)
            printf("  %s: %s\n", s->tried.at[i].kind == TRIED_WRONG ? "wrong" : "failed",
                   s->tried.at[i].text);
}

static int tune_shape(Arena *a, const TunerOptions *opt, Subject *subject, const char *shape,
                      uint32_t index, Buf *json)
{
    Search s = { .arena = a, .opt = opt, .is_terminal = isatty(STDERR_FILENO) };
    Buf inputs = { 0 }, svg = { 0 };
    const Function *f = subject->unit->function;
    s.build = (Build){ .opt = opt,
                       .function = f->name->text,
                       .name = subject->unit->c_name,
                       .symbol = exported(a, &subject->options, subject->unit->c_name),
                       .program = place_of_program(a),
                       .headers = place_of_headers(a) };
    if (!inputs_write(a, opt, &subject->job, subject->unit, shape, &inputs) ||
        !folder_make(a, &s.build.dir)) {
        buf_free(&inputs);
        return TUNER_ENVIRONMENT;
    }
    const char *path = arena_printf(a, "%s/inputs", s.build.dir);
    int code = TUNER_ENVIRONMENT;
    if (file_write(a, path, &inputs)) {
        worker_prepare(a, &s, path);
        if (client_start(&s.worker)) {
            const bool is_host = strcmp(s.worker.arch, "host") == 0;
            const char *lines = arena_strndup(a, inputs.at ? inputs.at : "", inputs.len);
            s.build.arch = s.worker.arch;
            s.build.values = is_host ? NULL : inputs_values(a, subject->unit, lines);
            space_of(a, f, subject->unit, is_host ? NULL : target_find(s.worker.arch), &s.space);
            code = search_run(&s) && s.best >= 0 ? TUNER_CLEAN : TUNER_FAILED;
            summary(&s, shape);
            if (opt->explain)
                report_explain(&s, stdout);
            if (json->len)
                buf_puts(json, ",\n");
            report_json(&s, shape, json);
            report_svg(&s, shape, &svg);
        }
    }
    client_stop(&s.worker);
    folder_remove(a, s.build.dir);
    const char *picture = opt->svg && index ? arena_printf(a, "%s%s.%u.svg", fs_dir(a, opt->svg),
                                                           fs_stem(a, opt->svg), index)
                                            : opt->svg;
    if (picture && svg.len && !file_write(a, picture, &svg))
        code = TUNER_ENVIRONMENT;
    buf_free(&inputs);
    buf_free(&svg);
    return code;
}

static int tune(Arena *a, const TunerOptions *opt)
{
    Subject subject = { .unit = NULL };
    Buf json = { 0 };
    int code = subject_read(a, opt, &subject);
    const uint32_t count = opt->shapes.len ? opt->shapes.len : 1;
    for (uint32_t i = 0; i < count && code != TUNER_ENVIRONMENT && subject.unit; i++) {
        const int one =
            tune_shape(a, opt, &subject, opt->shapes.len ? opt->shapes.at[i] : "", i, &json);
        code = one > code ? one : code;
    }
    if (opt->report && json.len) {
        Buf text = { 0 };
        buf_puts(&text, "[\n");
        buf_bytes(&text, json.at, json.len);
        buf_puts(&text, "\n]\n");
        if (!file_write(a, opt->report, &text))
            code = TUNER_ENVIRONMENT;
        buf_free(&text);
    }
    buf_free(&json);
    job_free(&subject.job);
    return code;
}

int tuner_run(Arena *a, int argc, char **argv)
{
    TunerOptions opt;
    if (argc > 1 && strcmp(argv[1], "--worker") == 0)
        return worker_main(argc, argv);
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        tuner_help();
        return TUNER_CLEAN;
    }
    if (!tuner_options(a, argc, argv, &opt))
        return TUNER_ENVIRONMENT;
    if (opt.merge.len)
        return stores_merge(opt.output, &opt.merge);
    if (opt.list)
        return stores_list(opt.file ? opt.file : opt.output);
    return tune(a, &opt);
}
