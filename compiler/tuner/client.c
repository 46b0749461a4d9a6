/// client.c - the worker as the search sees it: a process with two pipes and lines of text.
#include "support/proc.h"
#include "tuner/tuner_impl.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SILENCE_MS = 15 * 60 * 1000 };

static void close_both(int fds[2])
{
    close(fds[0]);
    close(fds[1]);
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
    proc_wait(w->pid);
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
    if (!proc_pipe(in))
        return tuner_fail("cannot make a pipe: %s", strerror(errno));
    if (!proc_pipe(out)) {
        close_both(in);
        return tuner_fail("cannot make a pipe: %s", strerror(errno));
    }
    signal(SIGPIPE, SIG_IGN);  // a worker that died is noticed where its answer is read
    w->pid = proc_spawn((const char *const *)w->argv, in[0], out[1], -1);
    const bool ok = w->pid > 0;
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
    // "ready ARCH PROCESSORS NAME", or "failed TEXT".
    const bool is_ready = read_line(&a, w, &line) && strncmp(line, "ready ", 6) == 0;
    if (is_ready) {
        const size_t len = strcspn(line + 6, " ");
        snprintf(w->arch, sizeof w->arch, "%.*s", (int)len, line + 6);
        char *name = (char *)(uintptr_t)line + 6 + len;
        w->processors = (unsigned)strtoul(name, &name, 10);
        snprintf(w->gpu, sizeof w->gpu, "%s", *name ? name + 1 : "");
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

bool client_has_line(const Worker *w)
{
    return w->line.len && memchr(w->line.at, '\n', w->line.len);
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
