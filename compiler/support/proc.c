/// proc.c - child processes by fork and exec (contract in proc.h): no shell, so no quoting.
///
/// posix_spawn cannot ask for the signal that a child gets when its parent dies. Without it what
/// compiles goes on after a kill -9, beside whoever begins anew.
#include "support/proc.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOT_RUN = 127 };

bool proc_pipe(int fds[2])
{
    if (pipe(fds) != 0)
        return false;
    fcntl(fds[0], F_SETFD, FD_CLOEXEC);
    fcntl(fds[1], F_SETFD, FD_CLOEXEC);
    return true;
}

static bool put_at(int fd, int wanted)
{
    return fd < 0 || fd == wanted || dup2(fd, wanted) >= 0;
}

/// In the child; `told` takes errno where exec fails.
static void become(const char *const argv[], const int fds[3], int told, pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)  // it died before the line above
        _exit(NOT_RUN);
    if (put_at(fds[0], STDIN_FILENO) && put_at(fds[1], STDOUT_FILENO) &&
        put_at(fds[2], STDERR_FILENO))  // argv is not written to: the type is older than const
        execvp(argv[0], (char *const *)argv);
    const int why = errno;
    if (write(told, &why, sizeof why) < 0)
        _exit(NOT_RUN);
    _exit(NOT_RUN);
}

int proc_wait(int pid)
{
    int status;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int proc_spawn(const char *const argv[], int in, int out, int err)
{
    const int given[3] = { in, out, err };
    const pid_t self = getpid();
    int told[2], why = 0;

    if (!proc_pipe(told))
        return -1;
    const pid_t child = fork();
    if (child == 0)
        become(argv, given, told[1], self);
    close(told[1]);
    ssize_t got = -1;
    while (child > 0 && (got = read(told[0], &why, sizeof why)) < 0 && errno == EINTR)
        ;
    close(told[0]);
    if (child > 0 && got <= 0)  // closed by exec: it runs
        return child;
    if (child > 0) {
        proc_wait(child);
        errno = why;
    }
    return -1;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

bool proc_start(Proc *p, const char *const argv[], double seconds)
{
    int fds[2];

    *p = (Proc){ .from = -1, .end = seconds > 0 ? now() + seconds : 0 };
    if (!proc_pipe(fds))
        return false;
    const int pid = proc_spawn(argv, -1, fds[1], fds[1]);
    const int why = errno;
    close(fds[1]);
    if (pid < 0) {
        close(fds[0]);
        errno = why;
        return false;
    }
    fcntl(fds[0], F_SETFL, O_NONBLOCK);
    p->pid = pid;
    p->from = fds[0];
    return true;
}

static int finish(Proc *p)
{
    const int status = proc_wait(p->pid);
    close(p->from);
    p->pid = 0;
    p->from = -1;
    return status;
}

bool proc_step(Proc *p, int *status)
{
    char chunk[4096];
    ssize_t got;

    while ((got = read(p->from, chunk, sizeof chunk)) > 0)
        buf_bytes(&p->log, chunk, (size_t)got);
    const bool is_waiting = got < 0 && (errno == EAGAIN || errno == EINTR);
    if (is_waiting && (p->end <= 0 || now() < p->end))
        return false;
    if (is_waiting)
        kill(p->pid, SIGKILL);
    *status = finish(p);
    if (is_waiting)
        *status = PROC_LATE;
    return true;
}

void proc_end(Proc *p)
{
    if (p->pid > 0) {
        kill(p->pid, SIGTERM);
        finish(p);
    }
    buf_free(&p->log);
}

int proc_run(const char *const argv[], Buf *out)
{
    Proc p;
    int status;

    if (!out) {
        const int pid = proc_spawn(argv, -1, -1, -1);
        return pid < 0 ? -1 : proc_wait(pid);
    }
    if (!proc_start(&p, argv, 0))
        return -1;
    do {
        struct pollfd ready = { .fd = p.from, .events = POLLIN };
        poll(&ready, 1, -1);
    } while (!proc_step(&p, &status));
    buf_bytes(out, p.log.at ? p.log.at : "", p.log.len);
    buf_free(&p.log);
    return status;
}
