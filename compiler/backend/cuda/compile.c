/// compile.c - runs NVRTC: options, one program a request, threads, and what ptxas says.
///
/// NVRTC compiles in parallel when called from several threads. Threads own malloc'd results; the
/// caller's thread moves them into the arena when all have ended.
#include "backend/cuda/nvrtc_impl.h"
#include "cuda_prelude_files.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CUDA_MAX_JOBS = JOBSERVER_MAX };

/// The work of one call: threads take the next request until there is none.
typedef struct CompileQueue {
    const Nvrtc *nvrtc;
    const CudaRequest *requests;
    CudaImage *images;  // text and log malloc'd here
    const char **headers, **header_names;
    int header_count;
    size_t next, count;
    pthread_mutex_t lock;
    Jobserver *tokens;  // NULL: threads need none
} CompileQueue;

typedef struct CompileWorker {
    CompileQueue *queue;
    unsigned slot;  // of its token
    pthread_t thread;
} CompileWorker;

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

typedef struct OptionList {
    Arena arena;
    VEC(const char *) list;
} OptionList;

static void add_options(OptionList *o, const char *const *extra, const char *format)
{
    for (; extra && *extra; extra++)
        VEC_PUSH(&o->arena, &o->list, arena_printf(&o->arena, format, *extra));
}

static void make_options(OptionList *o, const Nvrtc *n, const CudaRequest *r)
{
    char virtual_arch[16];
    target_ptx_name(r->target, virtual_arch);
    VEC_PUSH(&o->arena, &o->list,
             arena_printf(&o->arena, "-arch=%s", r->ptx ? virtual_arch : r->target->name));
    VEC_PUSH(&o->arena, &o->list, "--std=c++17");
    if (n->major >= 13) {
        // Leaves out declarations that the prelude does not use: 10 to 15 % of the time.
        VEC_PUSH(&o->arena, &o->list, "-minimal");
        // Variants of a kernel are optimised side by side. The image records the number, so it is
        // one for all machines; the code in it does not depend on it. What ptxas has to say of a
        // warpgroup's products does not reach the log then.
        if (!strstr(r->source, "nt_wgmma_"))
            VEC_PUSH(&o->arena, &o->list, "--split-compile=4");
    }
    if (r->line_info)
        VEC_PUSH(&o->arena, &o->list, "-lineinfo");
    if (!r->ptx) {
        VEC_PUSH(&o->arena, &o->list, "--ptxas-options=-v");
        if (r->unoptimised)
            VEC_PUSH(&o->arena, &o->list, "--ptxas-options=-O0");
        add_options(o, r->ptxas_options, "--ptxas-options=%s");
    }
    add_options(o, r->nvrtc_options, "%s");
}

/// Malloc'd bytes from one of NVRTC's pairs of size and content functions; NULL when it refuses.
static char *take(NvrtcProgram *p, int (*size_of)(NvrtcProgram *, size_t *),
                  int (*content_of)(NvrtcProgram *, char *), size_t *size)
{
    if (size_of(p, size) != NVRTC_OK)
        return NULL;
    char *at = calloc(*size + 1, 1);
    if (at && content_of(p, at) != NVRTC_OK) {
        free(at);
        return NULL;
    }
    return at;
}

static void compile_one(const CompileQueue *q, const CudaRequest *r, CudaImage *image)
{
    const NvrtcApi *api = q->nvrtc->api;
    NvrtcProgram *program = NULL;
    OptionList options = { 0 };
    const double start = seconds_now();
    size_t log_size;

    if (api->create(&program, r->source, r->name, q->header_count, q->headers, q->header_names) !=
        NVRTC_OK)
        return;
    make_options(&options, q->nvrtc, r);
    image->ok = api->compile(program, (int)options.list.len, options.list.at) == NVRTC_OK;
    image->log = take(program, api->log_size, api->log, &log_size);
    if (image->ok)
        image->data = r->ptx ? take(program, api->ptx_size, api->ptx, &image->size)
                             : take(program, api->cubin_size, api->cubin, &image->size);
    image->ok = image->data != NULL;
    api->destroy(&program);
    arena_free(&options.arena);
    image->seconds = seconds_now() - start;
}

static void compile_rest(CompileQueue *q)
{
    for (;;) {
        pthread_mutex_lock(&q->lock);
        size_t i = q->next < q->count ? q->next++ : q->count;
        pthread_mutex_unlock(&q->lock);
        if (i == q->count)
            return;
        compile_one(q, &q->requests[i], &q->images[i]);
    }
}

static void *compile_worker(void *at)
{
    const CompileWorker *worker = at;
    Jobserver *tokens = worker->queue->tokens;
    if (tokens && !jobserver_take(tokens, worker->slot))
        return NULL;
    compile_rest(worker->queue);
    if (tokens)
        jobserver_give(tokens, worker->slot);
    return NULL;
}

/// The number in front of `unit` in ptxas's log ("Used 28 registers"); 0 when it says none.
static uint32_t number_before(const char *log, const char *unit)
{
    const char *at = strstr(log, unit);
    if (!at)
        return 0;
    while (at > log && (at[-1] == ' ' || (at[-1] >= '0' && at[-1] <= '9')))
        at--;
    return (uint32_t)strtoul(at, NULL, 10);
}

CudaUsage cuda_read_usage(const char *log)
{
    return (CudaUsage){
        .registers = number_before(log, " registers"),
        .stack = number_before(log, " bytes stack frame"),
        .spill_stores = number_before(log, " bytes spill stores"),
        .spill_loads = number_before(log, " bytes spill loads"),
        .shared = number_before(log, " bytes smem"),
        .barriers = number_before(log, " barriers"),
    };
}

CudaUsage cuda_usage_of(const CudaImage *image, const char *entry)
{
    char head[160];
    snprintf(head, sizeof head, "Compiling entry function '%s'", entry);
    const char *at = strstr(image->log, head);
    if (!at)
        return (CudaUsage){ 0 };
    const char *end = strstr(at + 1, "Compiling entry function");
    size_t len = end ? (size_t)(end - at) : strlen(at);
    char *part = malloc(len + 1);
    if (!part)
        return (CudaUsage){ 0 };
    memcpy(part, at, len);
    part[len] = '\0';
    CudaUsage usage = cuda_read_usage(part);
    free(part);
    return usage;
}

/// Moves what a thread made into the arena.
static void settle(Arena *a, CudaImage *image)
{
    char *log = (char *)image->log, *data = (char *)image->data;
    image->log = log ? arena_strndup(a, log, strlen(log)) : "NVRTC ran out of memory";
    image->data = data ? arena_strndup(a, data, image->size) : NULL;
    image->usage = cuda_read_usage(image->log);
    free(log);
    free(data);
}

static void list_headers(Arena *a, CompileQueue *q)
{
    const size_t count = cuda_prelude_files_count;
    q->headers = ARENA_NEW_N(a, const char *, count);
    q->header_names = ARENA_NEW_N(a, const char *, count);
    q->header_count = (int)count;
    for (size_t i = 0; i < count; i++) {
        q->headers[i] = cuda_prelude_files[i].text;
        q->header_names[i] = arena_printf(a, "newt/%s", cuda_prelude_files[i].name);
    }
}

void cuda_compile_all(const Nvrtc *n, Arena *a, const CudaRequest *requests, CudaImage *images,
                      size_t count, CudaJobs jobs)
{
    CompileQueue q = {
        .nvrtc = n, .requests = requests, .images = images, .count = count, .tokens = jobs.tokens
    };
    CompileWorker workers[CUDA_MAX_JOBS];
    unsigned started = 0;

    memset(images, 0, count * sizeof *images);
    list_headers(a, &q);
    pthread_mutex_init(&q.lock, NULL);
    // This thread works too, so one job less is started; a thread that cannot be had is no fault.
    while (started + 1 < jobs.threads && started + 1 < count && started < CUDA_MAX_JOBS) {
        CompileWorker *worker = &workers[started];
        *worker = (CompileWorker){ .queue = &q, .slot = started };
        if (pthread_create(&worker->thread, NULL, compile_worker, worker) != 0)
            break;
        started++;
    }
    compile_rest(&q);
    if (jobs.tokens)
        jobserver_stop(jobs.tokens);
    while (started > 0)
        pthread_join(workers[--started].thread, NULL);
    pthread_mutex_destroy(&q.lock);
    for (size_t i = 0; i < count; i++)
        settle(a, &images[i]);
}

CudaImage cuda_compile(const Nvrtc *n, Arena *a, const CudaRequest *request)
{
    CudaImage image;
    cuda_compile_all(n, a, request, &image, 1, (CudaJobs){ .threads = 1 });
    return image;
}

static bool has_own_options(const CudaRequest *request)
{
    return (request->nvrtc_options && *request->nvrtc_options) ||
           (request->ptxas_options && *request->ptxas_options);
}

/// Options of the user that change what ptxas does: its own, and those for debuggers.
static bool may_hinder_ptxas(const CudaRequest *request)
{
    if (request->ptxas_options && *request->ptxas_options)
        return true;
    for (const char *const *o = request->nvrtc_options; o && *o; o++)
        if (strcmp(*o, "-G") == 0 || strcmp(*o, "--device-debug") == 0 || strstr(*o, "ptxas"))
            return true;
    return false;
}

/// ptxas's next note on a warpgroup's products, "(C75..", in a log; NULL: no other.
static const char *next_note(const char *log)
{
    return strstr(log, "(C75");
}

/// True when products wait for each other. One note tells only that ptxas put a wgmma.fence where it moved registers.
static bool tells_of_waits(const char *log)
{
    static const char fence[] = "(C7519)";
    for (const char *at = log; (at = next_note(at)) != NULL; at++)
        if (strncmp(at, fence, sizeof fence - 1) != 0)
            return true;
    return false;
}

void cuda_report_mended(const CudaRequest *request, const CudaImage *image, Span span,
                        DiagSink *diags)
{
    if (!tells_of_waits(image->log) || request->unoptimised || may_hinder_ptxas(request))
        return;
    diag_report(diags, DIAG_SERIAL_PRODUCTS, span,
                "ptxas has matrix products wait for each other in the CUDA C++ made for '%s' (%s)",
                request->target->name, request->name);
    for (const char *at = image->log; (at = next_note(at)) != NULL; at++)
        diag_note(diags, (Span){ 0, 0 }, "%.*s", (int)strcspn(at, "\n"), at);
}

void cuda_report_rejected(const CudaRequest *request, const CudaImage *image, Span span,
                          DiagSink *diags)
{
    if (has_own_options(request))
        diag_report(diags, DIAG_TOOL_OPTION, span,
                    "NVRTC does not accept the options of -Xnvrtc and -Xptxas for '%s'",
                    request->target->name);
    else
        diag_report(diags, DIAG_INTERNAL, span,
                    "NVRTC does not accept the CUDA C++ made for '%s' (%s)", request->target->name,
                    request->name);
    for (const char *at = image->log; *at;) {  // its lines name the .newt file by #line
        size_t len = strcspn(at, "\n");
        if (len > 0)
            diag_note(diags, (Span){ 0, 0 }, "%.*s", (int)len, at);
        at += len + (at[len] == '\n');
    }
}
