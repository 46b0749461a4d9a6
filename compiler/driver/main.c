/// main.c - newtc: reads the command line, runs every input through its stages, gives the exit code.
///
/// 0 clean; 1 diagnostics; 2 usage or environment; 3 internal. With several inputs the highest wins and good
/// inputs still produce outputs. All images of all inputs are compiled together, so every core is used.
#include "driver/info.h"
#include "driver/job.h"
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_CLEAN, EXIT_DIAGNOSTICS, EXIT_ENVIRONMENT, EXIT_INTERNAL };

static void main_interrupted(int sig)
{
    fs_remove_temporaries();
    signal(sig, SIG_DFL);
    raise(sig);
}

static void main_signals(void)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (signal(signals[i], main_interrupted) == SIG_IGN)
            signal(signals[i], SIG_IGN);  // as nohup wants it
    signal(SIGPIPE, SIG_IGN);             // a closed pipe is an error of write()
}

static int main_usage(Arena *a, const Options *opt)
{
    if (opt->inputs.len == 0) {
        fprintf(stderr, "newtc: error: no input file; newtc --help shows how to call it\n");
        return EXIT_ENVIRONMENT;
    }
    size_t len = opt->output ? strlen(opt->output) : 0;
    bool folder = len && opt->output[len - 1] == '/';
    if (folder && !fs_make_dirs(a, opt->output)) {
        fprintf(stderr, "newtc: error: cannot make the folder '%s'\n", opt->output);
        return EXIT_ENVIRONMENT;
    }
    if (opt->inputs.len > 1 && len && !folder && !fs_is_dir(opt->output)) {
        fprintf(stderr, "newtc: error: with several inputs -o must name a folder, and '%s' is none\n", opt->output);
        return EXIT_ENVIRONMENT;
    }
    if (opt->output && strcmp(opt->output, "-") == 0 && (!opt->emit || (opt->emit & (opt->emit - 1)))) {
        fprintf(stderr, "newtc: error: -o - writes one kind of output; name it with --emit=KIND\n");
        return EXIT_ENVIRONMENT;
    }
    if (opt->num_warps && (opt->num_warps > 32 || (opt->num_warps & (opt->num_warps - 1)))) {
        fprintf(stderr, "newtc: error: --num-warps is %d; it takes 1, 2, 4, 8, 16 or 32\n", opt->num_warps);
        return EXIT_ENVIRONMENT;
    }
    if (opt->num_stages > 8) {
        fprintf(stderr, "newtc: error: --num-stages is %d; it takes 1 to 8\n", opt->num_stages);
        return EXIT_ENVIRONMENT;
    }
    if (opt->emit & EMIT_NEWT) {
        fprintf(stderr, "newtc: error: --emit=newt prints tile kernels, which this version does not compile yet\n");
        return EXIT_ENVIRONMENT;
    }
    return EXIT_CLEAN;
}

static unsigned main_jobs(const Options *opt)
{
    long n = opt->jobs > 0 ? opt->jobs : sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : (unsigned)n;
}

/// The images of all jobs in one go, each job's results copied back.
static void main_compile_images(Arena *a, const Nvrtc *nvrtc, Job *jobs, uint32_t count, unsigned threads)
{
    size_t total = 0, at = 0;
    for (uint32_t i = 0; i < count; i++)
        total += jobs[i].request_count;
    if (!total)
        return;
    CudaRequest *requests = ARENA_NEW_N(a, CudaRequest, total);
    CudaImage *images = ARENA_NEW_N(a, CudaImage, total);
    for (uint32_t i = 0; i < count; at += jobs[i++].request_count)
        if (jobs[i].request_count)
            memcpy(requests + at, jobs[i].requests, jobs[i].request_count * sizeof *requests);
    cuda_compile_all(nvrtc, a, requests, images, total, threads);
    at = 0;
    for (uint32_t i = 0; i < count; at += jobs[i++].request_count)
        if (jobs[i].request_count)
            memcpy(jobs[i].images, images + at, jobs[i].request_count * sizeof *images);
}

static int main_exit_code(const Job *job, bool ok)
{
    for (uint32_t i = 0; i < job->diags.list.len; i++)
        if (job->diags.list.at[i]->severity == SEVERITY_INTERNAL)
            return EXIT_INTERNAL;
    if (job->environment_failed)
        return EXIT_ENVIRONMENT;
    return !ok || diag_error_count(&job->diags) ? EXIT_DIAGNOSTICS : EXIT_CLEAN;
}

static void main_time_report(const Job *job)
{
    fprintf(stderr, "%s: front end %.2f ms, lowering and passes %.2f ms, NVRTC %.2f ms (all images), writing %.2f ms\n",
            job->path, job->seconds[0] * 1e3, job->seconds[1] * 1e3, job->seconds[2] * 1e3, job->seconds[3] * 1e3);
}

static int main_compile(Arena *a, const Options *opt)
{
    const NvrtcPaths paths = { opt->nvrtc, opt->cuda_path };
    const Nvrtc *nvrtc = nvrtc_open(a, &paths);
    ArchList archs;
    if (!archs_read(a, opt, nvrtc, &archs))
        return EXIT_ENVIRONMENT;
    int code = EXIT_CLEAN;
    uint32_t count = opt->inputs.len;
    Job *jobs = ARENA_NEW_N(a, Job, count);
    bool *ok = ARENA_NEW_N(a, bool, count);
    for (uint32_t i = 0; i < count; i++) {
        job_init(&jobs[i], opt, &archs, opt->inputs.at[i]);
        ok[i] = job_front(&jobs[i]) && (!jobs[i].module || (job_lower(&jobs[i]) && job_collect(&jobs[i])));
        if (!ok[i])
            jobs[i].request_count = 0;
        for (uint32_t r = 0; opt->verbose && r < jobs[i].request_count; r++)
            fprintf(stderr, "newtc: compiling %s\n", jobs[i].requests[r].name);
    }
    main_compile_images(a, nvrtc, jobs, count, main_jobs(opt));
    for (uint32_t i = 0; i < count; i++) {
        if (ok[i] && jobs[i].module)
            ok[i] = job_finish(&jobs[i]);
        job_print_diags(&jobs[i]);
        if (opt->time_report)
            main_time_report(&jobs[i]);
        int one = main_exit_code(&jobs[i], ok[i]);
        code = one > code ? one : code;
        job_free(&jobs[i]);
    }
    return code;
}

int main(int argc, char **argv)
{
    Arena arena = { 0 };
    Options opt;
    int code = EXIT_ENVIRONMENT;
    main_signals();
    if (options_parse(&arena, argc, argv, &opt)) {
        bool handled = false;
        code = info_answer(&arena, &opt, &handled);
        if (!handled) {
            code = main_usage(&arena, &opt);
            if (code == EXIT_CLEAN)
                code = main_compile(&arena, &opt);
        }
    }
    if (fflush(stdout) != 0 && code == EXIT_CLEAN) {
        fprintf(stderr, "newtc: error: cannot write to standard output\n");
        code = EXIT_ENVIRONMENT;
    }
    arena_free(&arena);
    return code;
}
