/// crash.c - see crash.h.
///
/// A signal handler has no context argument, so the stage is file-scope state: the only one of the
/// driver.
// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): asks for sigaltstack
#define _XOPEN_SOURCE 700
#include "driver/crash.h"
#include "support/fs.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CRASH_EXIT = 3 };

static const char *volatile crash_input, *volatile crash_doing;

void crash_stage(const char *input, const char *stage)
{
    crash_input = input;
    crash_doing = stage;
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
    fs_remove_temporaries();
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
    fs_remove_temporaries();
    signal(sig, SIG_DFL);
    raise(sig);
}

void crash_install(void *room, size_t size)
{
    static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
    static const int interrupts[] = { SIGINT, SIGTERM, SIGHUP };
    stack_t stack = { .ss_sp = room, .ss_size = size };
    struct sigaction fault = { .sa_handler = crash_faulted, .sa_flags = SA_ONSTACK }, old;
    if (sigaltstack(&stack, NULL) == 0)
        for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
            if (sigaction(faults[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
                sigaction(faults[i], &fault, NULL);
    for (size_t i = 0; i < sizeof interrupts / sizeof *interrupts; i++)
        if (signal(interrupts[i], crash_interrupted) == SIG_IGN)
            signal(interrupts[i], SIG_IGN);  // as nohup wants it
    // While NVRTC compiles, its own handlers take SIGINT and SIGTERM, and call exit().
    atexit(fs_remove_temporaries);
    signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of write(),
    signal(SIGXFSZ, SIG_IGN);  // and so is a file beyond ulimit -f
}
