/// One configuration: a run that is compared, then runs that are timed.
///
/// On the host both happen in child processes, so that code that crashes or does not end takes
/// nothing along. On a GPU the stream is asked now and then whether it is done; a kernel that does
/// not end, or faults, costs the context.
#define _GNU_SOURCE  // MAP_ANONYMOUS
#include "host.h"
#include "memory.h"
#include "tune_impl.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    RUNS_MIN = 5,
    RUNS_MAX = 60,
    RUNS_NS = 60 * 1000 * 1000,  // timed runs end when they add up to this
    DEFAULT_TIMEOUT = 10,        // seconds
    POLL_NS = 200 * 1000
};

/// What a run or a series of runs needs and gives; shared with a child on the host.
typedef struct Work {
    Tuner *t;
    int config;
    float best;
    NewtStatus status;
    float us;         // of timed runs: their median
    char error[200];  // of a status other than NEWT_OK
} Work;

static double timeout_of(const Tuner *t)
{
    const double many = 20 * t->reference_seconds;
    if (t->options.timeout > 0)
        return t->options.timeout;
    return many > DEFAULT_TIMEOUT ? many : DEFAULT_TIMEOUT;
}

static void pause_ns(long ns)
{
    const struct timespec time = { .tv_nsec = ns };
    nanosleep(&time, NULL);
}

double newti_tune_left(const Tuner *t)
{
    const double spent = 1e-9 * (double)(newti_clock_ns() - t->began_ns);
    return t->options.seconds > 0 ? t->options.seconds - spent : 1e9;
}

/* ---- children ---- */

/// Waits for the child; what it ended with goes to `*state`. False when it had to be killed.
static bool child_wait(pid_t child, double seconds, int *state)
{
    const int64_t until = newti_clock_ns() + (int64_t)(seconds * 1e9);
    for (;;) {
        const pid_t ended = waitpid(child, state, WNOHANG);
        if (ended == child)
            return true;
        if (ended < 0 && errno != EINTR) {  // SIGCHLD is ignored: nobody tells how it ended
            *state = 0;
            return true;
        }
        if (newti_clock_ns() > until)
            break;
        pause_ns(POLL_NS);
    }
    kill(child, SIGKILL);
    waitpid(child, state, 0);
    return false;
}

TuneVerdict newti_tune_child(void (*work)(void *cx), void *cx, double seconds, char *why,
                             size_t why_size)
{
    int state = 0;
    char *done = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const pid_t child = done == MAP_FAILED ? -1 : fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);  // what hangs must not outlive who would have ended it
        work(cx);
        *done = 1;
        _exit(0);
    }
    bool ended = child > 0 && child_wait(child, seconds, &state);
    const bool is_done = child > 0 && *done;
    if (child < 0)
        snprintf(why, why_size, "was not run: there is no process for it");
    else if (!ended)
        snprintf(why, why_size, "did not end in %g seconds", seconds);
    else if (!is_done && WIFSIGNALED(state))
        snprintf(why, why_size, "crashed with signal %d", WTERMSIG(state));
    else if (!is_done)
        snprintf(why, why_size, "ended its process");
    if (done != MAP_FAILED)
        munmap(done, 1);
    return ended && is_done ? TUNE_RIGHT : TUNE_FAILED;
}

/* ---- runs ---- */

/// Waits for the GPU, as long as one run may take.
static NewtStatus device_wait(Tuner *t)
{
    NewtDevice *device = t->device;
    const int64_t until = newti_clock_ns() + (int64_t)(timeout_of(t) * 1e9);
    CudaResult result = CUDA_NOT_READY;
    bool pushed;
    if (!device->driver)
        return NEWT_OK;
    NewtStatus status = newti_device_enter(device, t->kernel->name, &pushed);
    if (status != NEWT_OK)
        return status;
    while (result == CUDA_NOT_READY && newti_clock_ns() < until) {
        result = device->driver->cuStreamQuery(NULL);
        if (result == CUDA_NOT_READY)
            pause_ns(POLL_NS / 10);
    }
    newti_device_leave(device, pushed);
    if (result == CUDA_OK)
        return NEWT_OK;
    if (result == CUDA_NOT_READY)  // nothing can end it but the end of the process
        newti_device_note(device, CUDA_LAUNCH_TIMEOUT);
    return newti_device_fail(device, result == CUDA_NOT_READY ? CUDA_LAUNCH_TIMEOUT : result,
                             "cuStreamQuery", t->kernel->name);
}

static void run_once(void *cx)
{
    Work *work = cx;
    Tuner *t = work->t;
    work->status =
        newt_launch_config_(t->kernel, t->device, NULL, work->config, t->given, t->record);
    if (work->status == NEWT_OK)
        work->status = device_wait(t);
    if (work->status != NEWT_OK)
        snprintf(work->error, sizeof work->error, "%s", newt_last_error());
}

static int float_order(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/// One timed run: buffers as the first run found them where that matters, the L2 cache overwritten.
static NewtStatus run_timed(Work *work, NewtTimer *timer, float *us)
{
    Tuner *t = work->t;
    double microseconds = 0;
    NewtStatus status = newti_tune_prepare(t, false);
    if (status == NEWT_OK && t->flush)
        status = newti_memory_set(t->device, t->flush, 0, t->flush_size);
    if (status == NEWT_OK)
        status = newt_timer_start(timer, NULL);
    if (status == NEWT_OK)
        status = newt_launch_config_(t->kernel, t->device, NULL, work->config, t->given, t->record);
    if (status == NEWT_OK)
        status = newt_timer_stop(timer, NULL, &microseconds);
    *us = (float)microseconds;
    return status;
}

/// Runs until the median is good enough, or it is clear that this is no winner.
static void run_series(void *cx)
{
    Work *work = cx;
    Tuner *t = work->t;
    NewtTimer *timer = NULL;
    float times[RUNS_MAX], least = 0;
    double total = 0;
    int count = 0;
    work->status = newt_timer_new(t->device, &timer);
    while (work->status == NEWT_OK && count < RUNS_MAX) {
        float us;
        work->status = run_timed(work, timer, &us);
        if (work->status != NEWT_OK)
            break;
        times[count++] = us;
        total += us;
        least = count == 1 || us < least ? us : least;
        const bool is_slow = work->best > 0 && count >= 3 && least > 1.5F * work->best;
        const bool is_long = count >= RUNS_MIN && total * 1000 >= RUNS_NS;
        if (is_slow || is_long || (count >= 3 && newti_tune_left(t) < 0))
            break;
    }
    if (work->status != NEWT_OK)
        snprintf(work->error, sizeof work->error, "%s", newt_last_error());
    newt_timer_free(timer);
    if (count)
        qsort(times, (size_t)count, sizeof *times, float_order);
    work->us = count ? (times[(count - 1) / 2] + times[count / 2]) / 2 : 0;
}

/* ---- the trial ---- */

/// Runs `what` where it can do no harm. False when the configuration failed.
static bool perform(Work *work, void (*what)(void *cx), double seconds, TuneTrial *out)
{
    if (work->t->device->driver)
        what(work);
    else
        out->verdict = newti_tune_child(what, work, seconds, out->why, sizeof out->why);
    if (!work->t->device->driver && out->verdict != TUNE_RIGHT)
        return false;
    out->verdict = TUNE_RIGHT;
    if (work->status == NEWT_OK)
        return true;
    out->verdict = work->status == NEWT_TOO_LARGE  ? TUNE_TOO_LARGE
                   : work->status == NEWT_NO_IMAGE ? TUNE_ABSENT
                                                   : TUNE_FAILED;
    snprintf(out->why, sizeof out->why, "%s", work->error);
    return false;
}

/// Whether every output is as it should be.
static NewtStatus compare(Tuner *t, TuneTrial *out)
{
    const TuneTolerance tolerance = { t->options.rtol, t->options.atol };
    size_t compared = 0;
    TuneMismatch bad;
    for (uint32_t i = 0; i < t->region_count; i++) {
        TuneRegion *r = &t->regions[i];
        bool whole;
        NewtStatus guards = newti_tune_guards(t, r, &whole);
        if (guards != NEWT_OK)
            return guards;
        if (!whole) {
            out->verdict = TUNE_WRONG;
            snprintf(out->why, sizeof out->why, "it writes outside of a buffer");
            return NEWT_OK;
        }
        if (!(r->use & NEWT_USE_WRITTEN))
            continue;
        if (t->device->driver) {
            NewtStatus status = newt_copy(t->device, NULL, r->got, r->work, r->size);
            if (status == NEWT_OK)
                status = newt_synchronize(t->device, NULL);
            if (status != NEWT_OK)
                return status;
        }
        const TuneComparison c = { r->type, r->got, r->want, r->size, false, tolerance };
        if (newti_tune_equal(&c, &bad, &compared))
            continue;
        out->verdict = TUNE_WRONG;
        snprintf(out->why, sizeof out->why, "element %zu of an output is %g and should be %g",
                 bad.index, bad.got, bad.want);
        return NEWT_OK;
    }
    return NEWT_OK;
}

static NewtStatus trial(Work *work, TuneTrial *out)
{
    Tuner *t = work->t;
    const double one = timeout_of(t);
    NewtStatus status = newti_tune_prepare(t, true);
    if (status != NEWT_OK)
        return status;
    if (!perform(work, run_once, one, out))
        return newti_device_check(t->device, t->kernel->name);
    status = compare(t, out);
    if (status != NEWT_OK || out->verdict != TUNE_RIGHT)
        return status;
    if (!perform(work, run_series, one + RUNS_MAX * one, out))
        return newti_device_check(t->device, t->kernel->name);
    out->us = work->us;
    // Threads that race may have been right once: the last of many runs counts, too.
    status = compare(t, out);
    return status == NEWT_OK ? newti_device_check(t->device, t->kernel->name) : status;
}

NewtStatus newti_tune_trial(Tuner *t, int config, float best, TuneTrial *out)
{
    *out = (TuneTrial){ .verdict = TUNE_FAILED };
    Work *work =
        mmap(NULL, sizeof *work, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (work == MAP_FAILED)
        return newti_fail(NEWT_NO_MEMORY, "%s: no memory to tune with", t->kernel->name);
    *work = (Work){ .t = t, .config = config, .best = best };
    NewtStatus status = trial(work, out);
    munmap(work, sizeof *work);
    return status;
}
