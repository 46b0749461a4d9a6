/// main.c - newtc: reads the command line, runs every input through its stages, gives the exit
/// code.
///
/// 0 clean; 1 diagnostics; 2 usage or environment; 3 internal. With several inputs the highest wins
/// and good inputs still produce outputs. All images of all inputs are compiled together, so every
/// core is used.
#include "driver/crash.h"
#include "driver/doctor.h"
#include "driver/images.h"
#include "driver/info.h"
#include "driver/messages.h"
#include "driver/reproduce.h"
#include "tuner/tuner.h"
#include <errno.h>
#include <string.h>

enum { EXIT_CLEAN, EXIT_DIAGNOSTICS, EXIT_ENVIRONMENT, EXIT_INTERNAL };

static int main_exit_code(const Job *job, bool ok)
{
    if (job->diags.internals)
        return EXIT_INTERNAL;
    if (job->environment_failed)
        return EXIT_ENVIRONMENT;
    return !ok || diag_error_count(&job->diags) ? EXIT_DIAGNOSTICS : EXIT_CLEAN;
}

/// From texts to outputs; diagnostics are left in the jobs.
static int main_run_jobs(Arena *a, const Options *opt, const ArchList *archs, Nvrtc *nvrtc,
                         const CudaCache *cache, Job *jobs)
{
    uint32_t count = opt->inputs.len;
    bool *ok = ARENA_NEW_N(a, bool, count);
    int code = EXIT_CLEAN;
    for (uint32_t i = 0; i < count; i++) {
        job_init(&jobs[i], opt, archs, opt->inputs.at[i]);
        ok[i] = job_front(&jobs[i]);
        if (opt->reproduce)  // now with imports
            reproduce_write_tar(opt, nvrtc, jobs, i + 1);
        ok[i] = ok[i] && (!jobs[i].module || (job_lower(&jobs[i]) && job_collect(&jobs[i])));
        if (!ok[i])
            jobs[i].request_count = 0;
    }
    if (opt->reproduce)  // and with the generated texts
        reproduce_write_tar(opt, nvrtc, jobs, count);
    images_compile(a, opt, nvrtc, cache, jobs, count);
    for (uint32_t i = 0; i < count; i++) {
        if (ok[i] && jobs[i].module)
            ok[i] = job_finish(&jobs[i]);
        int one = main_exit_code(&jobs[i], ok[i]);
        if (one == EXIT_INTERNAL)
            reproduce_write_folder(nvrtc, &jobs[i]);
        code = one > code ? one : code;
    }
    return code;
}

static int main_compile(Arena *a, const Options *opt)
{
    const NvrtcPaths paths = { opt->nvrtc, opt->cuda_path };
    const bool gpu = archs_need_nvrtc(opt);
    CudaCache cache = { 0 };
    if (gpu && !opt->no_cache)
        cache_open(&cache, a, opt->cache_dir);
    Nvrtc *nvrtc = gpu ? nvrtc_open_lazily(a, &paths, cache.dir) : ARENA_NEW(a, Nvrtc);
    ArchList archs;
    if (!archs_read(a, opt, nvrtc, &archs))
        return EXIT_ENVIRONMENT;
    uint32_t count = opt->inputs.len;
    Job *jobs = ARENA_NEW_N(a, Job, count);
    if (opt->reproduce &&
        !reproduce_write_tar(opt, nvrtc, jobs, 0))  // a crash leaves at least this
        return EXIT_ENVIRONMENT;
    int code = main_run_jobs(a, opt, &archs, nvrtc, &cache, jobs);
    bool written = messages_print(jobs, count);
    if (opt->reproduce)
        written = reproduce_write_tar(opt, nvrtc, jobs, count) && written;
    if (opt->time_report != TIME_NONE)
        messages_print_times(jobs, count, opt->time_report);
    for (uint32_t i = 0; i < count; i++)
        job_free(&jobs[i]);
    return code == EXIT_CLEAN && !written ? EXIT_ENVIRONMENT : code;
}

/// Words of newtc's that this version does not answer; a file of such a name is given as ./run.
static bool main_is_later(const char *word)
{
    static const char *const later[] = { "run", "test", "bench", "doc", "--lsp" };
    for (size_t i = 0; i < sizeof later / sizeof *later; i++)
        if (strcmp(word, later[i]) == 0) {
            fprintf(stderr, "newtc: error: 'newtc %s' is not part of this version; %s\n", word,
                    word[0] == '-' ? "--help shows what is"
                                   : "a file of that name is given as './NAME'");
            return true;
        }
    return false;
}

static int main_run(Arena *a, int argc, char **argv)
{
    Options opt;
    bool handled = false, doctor = argc > 1 && strcmp(argv[1], "doctor") == 0;
    if (argc > 1 && main_is_later(argv[1]))
        return EXIT_ENVIRONMENT;
    if (argc > 1 && strcmp(argv[1], "tune") == 0)
        return tuner_run(a, argc - 1, argv + 1);
    if (!options_parse(a, doctor ? argc - 1 : argc, doctor ? argv + 1 : argv, &opt))
        return EXIT_ENVIRONMENT;
    if (doctor)
        return doctor_run(a, &opt);
    int code = info_answer(a, &opt, &handled);
    if (handled)
        return code;
    return options_check(a, &opt) ? main_compile(a, &opt) : EXIT_ENVIRONMENT;
}

int main(int argc, char **argv)
{
    Arena arena = { 0 };
    char signal_stack[CRASH_STACK];
    crash_install(signal_stack, sizeof signal_stack);
    int code = main_run(&arena, argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "newtc: error: cannot write to standard output: %s\n", strerror(errno));
        code = code == EXIT_CLEAN ? EXIT_ENVIRONMENT : code;
    }
    arena_free(&arena);
    return code;
}
