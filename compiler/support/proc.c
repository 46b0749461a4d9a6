/// proc.c - child processes by posix_spawn (contract in proc.h): no shell, so no quoting.
#include "support/proc.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
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

static void collect(int fd, Buf *out)
{
    char chunk[4096];
    ssize_t got;

    while ((got = read(fd, chunk, sizeof chunk)) != 0) {
        if (got > 0)
            buf_bytes(out, chunk, (size_t)got);
        else if (errno != EINTR)
            break;
    }
}

static int wait_for(pid_t child)
{
    int status;

    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int proc_run(const char *const argv[], Buf *out)
{
    int fds[2] = { -1, -1 };
    pid_t child = -1;

    if (out && pipe(fds) < 0)
        return -1;
    if (out)
        fcntl(fds[0], F_SETFD, FD_CLOEXEC);
    int failed = start(argv, out ? fds : NULL, &child);
    if (out)
        close(fds[1]);
    if (!failed && out)
        collect(fds[0], out);
    if (out)
        close(fds[0]);
    if (failed) {
        errno = failed;
        return -1;
    }
    return wait_for(child);
}
