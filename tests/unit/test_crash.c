/// crash_guard(): signals end the program although the guarded work takes them for itself, as NVRTC
/// does. Each case is a child process; what it does after the signal shows in how it ended.
#include "driver/crash.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { TAKEN = 4, SURVIVED = 5 };

typedef enum { BEFORE, DURING, DURING_IN_THREAD, AFTER } When;

typedef struct Case {
    const char *name;
    int sig;
    When when;
    bool ignored;  // as under nohup
    int wanted;    // the signal that ends the child, or minus its exit status
} Case;

static const Case cases[] = {
    { "before", SIGINT, BEFORE, false, SIGINT },
    { "while it works", SIGINT, DURING, false, SIGINT },
    { "while it works", SIGTERM, DURING, false, SIGTERM },
    { "while it works", SIGHUP, DURING, false, SIGHUP },
    { "from a thread of its own", SIGTERM, DURING_IN_THREAD, false, SIGTERM },
    { "afterwards", SIGINT, AFTER, false, SIGINT },
    { "afterwards", SIGTERM, AFTER, false, SIGTERM },
    { "ignored, before", SIGINT, BEFORE, true, -SURVIVED },
    { "ignored, while it works", SIGHUP, DURING, true, -SURVIVED },
    { "ignored, afterwards", SIGINT, AFTER, true, -SURVIVED },
    { "one that stands for nothing", SIGURG, DURING, false, -SURVIVED },
};

static void taken(int sig)
{
    (void)sig;
    _exit(TAKEN);
}

/// Sends the signal to the process and leaves it time to arrive.
static void *send(void *at)
{
    const Case *c = at;
    kill(getpid(), c->sig);
    if (c->wanted > 0)
        sleep(20);
    return NULL;
}

static void work(void *at)
{
    const Case *c = at;
    pthread_t thread;
    if (c->sig != SIGURG)
        signal(c->sig, taken);
    if (c->when == DURING)
        send(at);
    if (c->when == DURING_IN_THREAD && pthread_create(&thread, NULL, send, at) == 0)
        pthread_join(thread, NULL);
}

static void child(Case *c)
{
    static char room[CRASH_STACK];
    if (c->ignored)
        signal(c->sig, SIG_IGN);
    crash_install(room, sizeof room);
    if (c->when == BEFORE)
        raise(c->sig);
    crash_guard(work, c);
    if (c->when == AFTER)
        raise(c->sig);
    _exit(SURVIVED);
}

static void test_guard(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Case c = cases[i];
        pid_t pid = fork();
        if (pid == 0)
            child(&c);
        int status = 0;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        int got = WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
        if (got != c.wanted)
            print_error("signal %d, %s\n", c.sig, c.name);
        assert_int_equal(got, c.wanted);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = { cmocka_unit_test(test_guard) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
