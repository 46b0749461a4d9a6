/// crash.c - see crash.h.
///
/// A signal handler has no context argument, so the stage and the tokens to return are file-scope
/// state: the only one of the driver.
// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): asks for sigaltstack
#define _XOPEN_SOURCE 700
#include "driver/crash.h"
#include "support/fs.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CRASH_EXIT = 3, CRASH_BY_SIGNAL = 128, CRASH_INTERRUPTS = 3 };

static const int crash_interrupts[CRASH_INTERRUPTS] = { SIGINT, SIGTERM, SIGHUP };

static const char *volatile crash_input, *volatile crash_doing;
static Jobserver *volatile crash_jobs;

void crash_stage(const char *input, const char *stage)
{
    crash_input = input;
    crash_doing = stage;
}

void crash_tokens(Jobserver *jobs)
{
    crash_jobs = jobs;
}

/// Leaves nothing behind; both promise to be safe in a signal handler.
static void crash_clean(void)
{
    if (crash_jobs)
        jobserver_return_all(crash_jobs);  // NOLINT(bugprone-signal-handler,cert-sig30-c)
    fs_remove_temporaries();               // NOLINT(bugprone-signal-handler,cert-sig30-c)
}

static void crash_put(const char *text)
{
    ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
    (void)ignored;  // nothing is left to be done about it
}

/// Only functions that are safe in a signal handler.
static void crash_faulted(int sig)
{
    const char *what = sig == SIGABRT  ? "an assertion failed"
                       : sig == SIGFPE ? "an arithmetic fault"
                                       : "an invalid memory access";
    crash_clean();
    crash_put(crash_input ? crash_input : "newtc");
    crash_put(": internal error: ");
    crash_put(what);
    crash_put(" in stage '");
    crash_put(crash_doing ? crash_doing : "options");
    crash_put(
        "' [internal]\nhelp: this is a fault of newtc; pack a report with --reproduce=FILE.tar\n");
    _exit(CRASH_EXIT);
}

static void crash_interrupted(int sig)
{
    crash_clean();
    signal(sig, SIG_DFL);
    raise(sig);
}

/// What crash_guard() shares with its thread.
typedef struct CrashWatch {
    sigset_t signals;  // those that interrupt and were not ignored; and CRASH_DONE
    atomic_bool done;
} CrashWatch;

enum { CRASH_DONE = SIGURG };  // ignored by default, so that a stray one does no harm

static void *crash_watch(void *at)
{
    CrashWatch *watch = at;
    int sig;
    while (!atomic_load(&watch->done)) {
        if (sigwait(&watch->signals, &sig) != 0 || sig == CRASH_DONE)
            continue;
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, sig);
        pthread_sigmask(SIG_UNBLOCK, &one, NULL);
        crash_interrupted(sig);
        _exit(CRASH_BY_SIGNAL + sig);  // another thread had just changed the handler
    }
    return NULL;
}

void crash_guard(void (*work)(void *at), void *at)
{
    CrashWatch watch = { .done = false };
    struct sigaction actions[CRASH_INTERRUPTS];
    sigset_t blocked, before;
    pthread_t thread;
    sigemptyset(&watch.signals);
    sigemptyset(&blocked);
    sigaddset(&watch.signals, CRASH_DONE);
    sigaddset(&blocked, CRASH_DONE);
    for (size_t i = 0; i < CRASH_INTERRUPTS; i++) {
        sigaction(crash_interrupts[i], NULL, &actions[i]);
        sigaddset(&blocked, crash_interrupts[i]);
        if (actions[i].sa_handler != SIG_IGN)
            sigaddset(&watch.signals, crash_interrupts[i]);
    }
    pthread_sigmask(SIG_BLOCK, &blocked, &before);  // threads of work() inherit it
    bool watched = pthread_create(&thread, NULL, crash_watch, &watch) == 0;
    if (!watched)
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    work(at);
    if (watched) {
        atomic_store(&watch.done, true);
        pthread_kill(thread, CRASH_DONE);
        pthread_join(thread, NULL);
    }
    for (size_t i = 0; i < CRASH_INTERRUPTS; i++)
        sigaction(crash_interrupts[i], &actions[i], NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void crash_install(void *room, size_t size)
{
    static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
    stack_t stack = { .ss_sp = room, .ss_size = size };
    struct sigaction fault = { .sa_handler = crash_faulted, .sa_flags = SA_ONSTACK }, old;
    if (sigaltstack(&stack, NULL) == 0)
        for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
            if (sigaction(faults[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
                sigaction(faults[i], &fault, NULL);
    for (size_t i = 0; i < CRASH_INTERRUPTS; i++)
        if (signal(crash_interrupts[i], crash_interrupted) == SIG_IGN)
            signal(crash_interrupts[i], SIG_IGN);  // as nohup wants it
    atexit(crash_clean);                           // NVRTC may exit, too
    signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of write(),
    signal(SIGXFSZ, SIG_IGN);  // and so is a file beyond ulimit -f
}
