/// Tokens from a pipe as make's: which MAKEFLAGS name one, what is taken, and that all come back.
#include "support/jobserver.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void test_flags(void **state)
{
    (void)state;
    int ends[2];
    char with_pipe[64], with_old_name[64], file[] = "/tmp/newt_jobserver_XXXXXX", with_file[64];
    assert_int_equal(pipe(ends), 0);
    int no_pipe = mkstemp(file);
    snprintf(with_pipe, sizeof with_pipe, " -j4 --jobserver-auth=%d,%d", ends[0], ends[1]);
    snprintf(with_old_name, sizeof with_old_name, "w --jobserver-fds=%d,%d -j", ends[0], ends[1]);
    snprintf(with_file, sizeof with_file, "--jobserver-auth=%d,%d", no_pipe, no_pipe);
    const struct {
        const char *flags;
        JobserverState wanted;
    } cases[] = {
        { NULL, JOBSERVER_NONE },
        { "", JOBSERVER_NONE },
        { "kw -j4", JOBSERVER_NONE },
        { " -- X=--jobserver-auth=3,4", JOBSERVER_NONE },
        { with_pipe, JOBSERVER_OPEN },
        { with_old_name, JOBSERVER_OPEN },
        { with_file, JOBSERVER_UNREACHABLE },
        { "--jobserver-auth=-2,-2", JOBSERVER_UNREACHABLE },
        { "--jobserver-auth=fifo:/nonexistent", JOBSERVER_UNREACHABLE },
        { "--jobserver-auth=fifo:/dev/null", JOBSERVER_UNREACHABLE },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Jobserver js;
        JobserverState got = jobserver_open(&js, cases[i].flags);
        if (got != cases[i].wanted)
            print_error("%s\n", cases[i].flags);
        assert_int_equal(got, cases[i].wanted);
        if (got == JOBSERVER_OPEN)
            jobserver_close(&js);
    }
    close(ends[0]);
    close(ends[1]);
    close(no_pipe);
    unlink(file);
}

typedef struct Pipe {
    int in, out;
    Jobserver js;
} Pipe;

static void pipe_open(Pipe *p, const char *tokens)
{
    int ends[2];
    char flags[64];
    assert_int_equal(pipe(ends), 0);
    p->in = ends[0];
    p->out = ends[1];
    snprintf(flags, sizeof flags, "--jobserver-auth=%d,%d", p->in, p->out);
    assert_int_equal(write(p->out, tokens, strlen(tokens)), (int)strlen(tokens));
    assert_int_equal(jobserver_open(&p->js, flags), JOBSERVER_OPEN);
}

/// Closes all and compares what is left in the pipe.
static void pipe_close(Pipe *p, const char *wanted)
{
    char left[16] = "";
    jobserver_close(&p->js);
    close(p->out);
    assert_true(read(p->in, left, sizeof left - 1) >= 0);
    close(p->in);
    assert_string_equal(left, wanted);
}

static void test_tokens_come_back(void **state)
{
    (void)state;
    Pipe p;
    pipe_open(&p, "xyz");
    assert_true(jobserver_take(&p.js, 0));
    assert_true(jobserver_take(&p.js, 7));
    jobserver_give(&p.js, 0);
    pipe_close(&p, "zxy");  // z was never taken, x came back first

    pipe_open(&p, "x");
    assert_true(jobserver_take(&p.js, 3));
    jobserver_return_all(&p.js);
    assert_false(jobserver_take(&p.js, 4));  // although one is there
    pipe_close(&p, "x");
}

static void *take(void *at)
{
    return jobserver_take(at, 1) ? at : NULL;
}

static void test_stop_ends_waiting(void **state)
{
    (void)state;
    Pipe p;
    pthread_t thread;
    void *took;
    pipe_open(&p, "");
    assert_int_equal(pthread_create(&thread, NULL, take, &p.js), 0);
    jobserver_stop(&p.js);
    assert_int_equal(pthread_join(thread, &took), 0);
    assert_null(took);
    pipe_close(&p, "");

    pipe_open(&p, "");
    assert_int_equal(pthread_create(&thread, NULL, take, &p.js), 0);
    assert_int_equal(write(p.out, "t", 1), 1);
    assert_int_equal(pthread_join(thread, &took), 0);
    assert_non_null(took);
    pipe_close(&p, "t");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_tokens_come_back),
        cmocka_unit_test(test_stop_ends_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
