/// images.c - see images.h.
#include "driver/images.h"
#include "driver/crash.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// Unless -j says how many threads there are, make does, where it runs newtc.
static Jobserver *images_tokens(const Options *opt, Jobserver *js, unsigned *threads)
{
    if (opt->jobs > 0)
        return NULL;
    switch (jobserver_open(js, getenv("MAKEFLAGS"))) {
    case JOBSERVER_OPEN: return js;
    case JOBSERVER_UNREACHABLE:
        *threads = 1;
        if (opt->verbose)
            fprintf(stderr, "newtc: one image at a time: make gave no access to its jobs; a + in "
                            "front of the recipe's line does\n");
        break;
    case JOBSERVER_NONE: break;
    }
    return NULL;
}

static unsigned images_threads(const Options *opt)
{
    long n = opt->jobs > 0 ? opt->jobs : sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : (unsigned)n;
}

/// One request and where its image goes.
typedef struct Wanted {
    Job *job;
    uint32_t index;
} Wanted;

static void images_say(const Options *opt, const char *name, bool cached)
{
    if (opt->verbose)
        fprintf(stderr, "newtc: %s %s\n", cached ? "from the cache:" : "compiling", name);
}

/// The arguments of cuda_compile_all().
typedef struct Compilation {
    const Nvrtc *nvrtc;
    Arena *arena;
    const CudaRequest *requests;
    CudaImage *images;
    size_t count;
    CudaJobs jobs;
} Compilation;

static void images_compile_all(void *at)
{
    Compilation *c = at;
    cuda_compile_all(c->nvrtc, c->arena, c->requests, c->images, c->count, c->jobs);
}

/// NVRTC puts the current folder before the paths of line information, and the time of a file that
/// it finds there: with -ffile-prefix-map neither may get into an image, so it runs where no source
/// is.
static void images_run(Arena *a, const Options *opt, Nvrtc *nvrtc, const CudaRequest *requests,
                       CudaImage *images, size_t count)
{
    if (!nvrtc_load(a, nvrtc)) {
        fprintf(stderr, "newtc: error: '%s' cannot be loaded any more; try again\n", nvrtc->path);
        exit(2);
    }
    int here =
        opt->debug && opt->prefix_map.len ? open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    bool moved = here >= 0 && chdir("/") == 0;
    Jobserver js;
    Compilation all = { nvrtc, a, requests, images, count, { images_threads(opt), NULL } };
    all.jobs.tokens = images_tokens(opt, &js, &all.jobs.threads);
    crash_tokens(all.jobs.tokens);
    crash_guard(images_compile_all, &all);
    crash_tokens(NULL);
    if (all.jobs.tokens)
        jobserver_close(all.jobs.tokens);
    if (moved && fchdir(here) != 0) {
        fprintf(stderr, "newtc: error: cannot return to the current folder: %s\n", strerror(errno));
        exit(2);
    }
    if (here >= 0)
        close(here);
}

void images_compile(Arena *a, const Options *opt, Nvrtc *nvrtc, const CudaCache *cache, Job *jobs,
                    uint32_t count)
{
    VEC(Wanted) wanted = { 0 };
    size_t total = 0;
    for (uint32_t i = 0; opt->dry_run && i < count; i++)
        for (uint32_t r = 0; r < jobs[i].request_count; r++)
            fprintf(stderr, " nvrtc -arch=%s %s\n", jobs[i].requests[r].target->name,
                    jobs[i].requests[r].name);
    for (uint32_t i = 0; i < count; i++)
        total += jobs[i].no_images ? 0 : jobs[i].request_count;
    if (!total)
        return;
    if (opt->verbose)
        fprintf(stderr, "newtc: NVRTC %d.%d from %s\nnewtc: cache %s\n", nvrtc->major, nvrtc->minor,
                nvrtc->path,
                opt->no_cache ? "off: --no-cache"
                : cache->dir  ? cache->dir
                              : cache->why_off);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t r = 0; !jobs[i].no_images && r < jobs[i].request_count; r++) {
            bool cached = cache_find(cache, nvrtc, &jobs[i].requests[r], a, &jobs[i].images[r]);
            images_say(opt, jobs[i].requests[r].name, cached);
            jobs[i].cached_count += cached;
            if (!cached)
                VEC_PUSH(a, &wanted, ((Wanted){ &jobs[i], r }));
        }
    CudaRequest *requests = ARENA_NEW_N(a, CudaRequest, wanted.len);
    CudaImage *images = ARENA_NEW_N(a, CudaImage, wanted.len);
    for (uint32_t i = 0; i < wanted.len; i++)
        requests[i] = wanted.at[i].job->requests[wanted.at[i].index];
    crash_stage(jobs[0].path, "NVRTC");
    if (wanted.len)
        images_run(a, opt, nvrtc, requests, images, wanted.len);
    for (uint32_t i = 0; i < wanted.len; i++) {
        wanted.at[i].job->images[wanted.at[i].index] = images[i];
        cache_store(cache, nvrtc, &requests[i], &images[i]);
    }
    if (wanted.len)
        cache_trim(cache, CACHE_MOST_BYTES);
}
