/// client.c - the worker as the search sees it: a process with two pipes and lines of text.
#include "tuner/tuner_impl.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { SILENCE_MS = 15 * 60 * 1000 };

static void close_both(int fds[2])
{
    close(fds[0]);
    close(fds[1]);
}

/// Starts the process with `in` as its input and `out` as its output.
static bool spawn(Worker *w, int in[2], int out[2])
{
    posix_spawn_file_actions_t actions;
    pid_t child = -1;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    bool ok = posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO) == 0 &&
              posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO) == 0 &&
              posix_spawn(&child, w->argv[0], &actions, NULL, w->argv, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    w->pid = child;
    return ok;
}

static bool pipe_closed_on_exec(int fds[2])
{
    if (pipe(fds) != 0)
        return false;
    fcntl(fds[0], F_SETFD, FD_CLOEXEC);
    fcntl(fds[1], F_SETFD, FD_CLOEXEC);
    return true;
}

/// The next line without its newline; false at the end.
static bool read_line(Arena *a, Worker *w, const char **out)
{
    for (;;) {
        const char *end = w->line.len ? memchr(w->line.at, '\n', w->line.len) : NULL;
        if (end) {
            const size_t len = (size_t)(end - w->line.at);
            *out = arena_strndup(a, w->line.at, len);
            memmove(w->line.at, end + 1, w->line.len - len - 1);
            w->line.len -= len + 1;
            return true;
        }
        // libnewt ends what hangs; a process that says nothing for so long hangs itself.
        struct pollfd ready = { .fd = w->from, .events = POLLIN };
        const int polled = poll(&ready, 1, SILENCE_MS);
        if (polled < 0 && errno == EINTR)
            continue;
        if (polled <= 0) {
            kill(w->pid, SIGKILL);
            return false;
        }
        char chunk[4096];
        const ssize_t got = read(w->from, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        buf_bytes(&w->line, chunk, (size_t)got);
    }
}

void client_stop(Worker *w)
{
    if (w->pid <= 0)
        return;
    close(w->to);
    close(w->from);
    while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    buf_free(&w->line);
    w->line = (Buf){ 0 };
    w->pid = 0;
    w->to = w->from = -1;
}

bool client_start(Worker *w)
{
    int in[2], out[2];
    Arena a = { 0 };
    const char *line = "";
    if (w->pid > 0)
        return true;
    if (!pipe_closed_on_exec(in))
        return tuner_fail("cannot make a pipe: %s", strerror(errno));
    if (!pipe_closed_on_exec(out)) {
        close_both(in);
        return tuner_fail("cannot make a pipe: %s", strerror(errno));
    }
    signal(SIGPIPE, SIG_IGN);  // a worker that died is noticed where its answer is read
    const bool ok = spawn(w, in, out);
    close(in[0]);
    close(out[1]);
    w->to = in[1];
    w->from = out[0];
    if (!ok) {
        close(w->to);
        close(w->from);
        w->pid = 0;
        return tuner_fail("cannot start '%s': %s", w->argv[0], strerror(errno));
    }
    // "ready ARCH NAME", or "failed TEXT".
    const bool is_ready = read_line(&a, w, &line) && strncmp(line, "ready ", 6) == 0;
    if (is_ready) {
        const size_t len = strcspn(line + 6, " ");
        snprintf(w->arch, sizeof w->arch, "%.*s", (int)len, line + 6);
        snprintf(w->gpu, sizeof w->gpu, "%s", line[6 + len] ? line + 7 + len : "");
    } else {
        client_stop(w);
        tuner_fail("%s",
                   strncmp(line, "failed ", 7) == 0 ? line + 7 : "the measuring process ended");
    }
    arena_free(&a);
    return is_ready;
}

bool client_send(Worker *w, const char *line)
{
    for (size_t len = strlen(line); len > 0;) {
        const ssize_t done = write(w->to, line, len);
        if (done < 0 && errno != EINTR)
            return false;
        if (done > 0) {
            line += done;
            len -= (size_t)done;
        }
    }
    return true;
}

WorkerLine client_read(Arena *a, Worker *w)
{
    const char *line;
    while (read_line(a, w, &line)) {
        char *end;
        if (strncmp(line, "result ", 7) == 0) {
            const double us = strtod(line + 7, &end);
            return (WorkerLine){ LINE_RESULT, us, end + (*end == ' ') };
        }
        if (strncmp(line, "done", 4) == 0)
            return (WorkerLine){ LINE_DONE, 0, line + 4 + (line[4] == ' ') };
    }
    client_stop(w);
    return (WorkerLine){ LINE_DEAD, 0, "" };
}
