/// proc.c - child processes by posix_spawn (contract in proc.h): no shell, so no quoting.
#include "support/proc.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int start(const char *const argv[], const int *pipe_fds, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    int failed = posix_spawn_file_actions_init(&actions);

    if (failed)
        return failed;
    if (pipe_fds) {
        failed = posix_spawn_file_actions_adddup2(&actions, pipe_fds[1], STDOUT_FILENO);
        if (!failed)
            failed = posix_spawn_file_actions_adddup2(&actions, pipe_fds[1], STDERR_FILENO);
        if (!failed && pipe_fds[1] > STDERR_FILENO)
            failed = posix_spawn_file_actions_addclose(&actions, pipe_fds[1]);
    }
    if (!failed)  // argv is not written to: the parameter's type is older than const
        failed = posix_spawnp(child, argv[0], &actions, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/// Until the end of what the child writes, or the time `end` (0: none), which gives false.
static bool collect(int fd, Buf *out, double end)
{
    char chunk[4096];
    ssize_t got = 1;

    while (got != 0) {
        struct pollfd ready = { .fd = fd, .events = POLLIN };
        const double left = end > 0 ? end - now() : 3600;
        const int polled = left > 0 ? poll(&ready, 1, (int)(left * 1000) + 1) : 0;
        if (polled == 0 && end > 0)
            return false;
        if (polled <= 0 && (polled == 0 || errno == EINTR))
            continue;
        got = polled < 0 ? -1 : read(fd, chunk, sizeof chunk);
        if (got > 0)
            buf_bytes(out, chunk, (size_t)got);
        else if (got < 0 && errno != EINTR)
            break;
    }
    return true;
}

static int wait_for(pid_t child)
{
    int status;

    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int run(const char *const argv[], Buf *out, double end)
{
    int fds[2] = { -1, -1 };
    pid_t child = -1;
    bool in_time = true;

    if (out && pipe(fds) < 0)
        return -1;
    if (out)
        fcntl(fds[0], F_SETFD, FD_CLOEXEC);
    int failed = start(argv, out ? fds : NULL, &child);
    if (out)
        close(fds[1]);
    if (!failed && out)
        in_time = collect(fds[0], out, end);
    if (out)
        close(fds[0]);
    if (failed) {
        errno = failed;
        return -1;
    }
    if (!in_time)
        kill(child, SIGKILL);
    const int status = wait_for(child);
    return in_time ? status : PROC_LATE;
}

int proc_run(const char *const argv[], Buf *out)
{
    return run(argv, out, 0);
}

int proc_run_for(const char *const argv[], Buf *out, double seconds)
{
    return run(argv, out, seconds > 0 ? now() + seconds : 0);
}
