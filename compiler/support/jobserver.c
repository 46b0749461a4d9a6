/// jobserver.c - see jobserver.h.
///
/// Tokens are read without blocking: between poll() and read() another program may take the token,
/// and a thread that blocked in read() could not be told to stop. The flag belongs to the open
/// file, which make and its other children share, so the pipe is opened anew for it.
#include "support/jobserver.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/// The value behind the last `--jobserver-auth=`, or its name before make 4.2; 0: there is none.
static size_t jobserver_value(const char *makeflags, const char **out)
{
    static const char *const names[] = { "--jobserver-auth=", "--jobserver-fds=" };
    *out = NULL;
    for (const char *at = makeflags; at; at = strchr(at, ' ')) {
        at += strspn(at, " ");
        if (strncmp(at, "-- ", 3) == 0)
            break;  // variables follow
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (strncmp(at, names[i], strlen(names[i])) == 0)
                *out = at + strlen(names[i]);
    }
    return *out ? strcspn(*out, " ") : 0;
}

static bool is_pipe(int fd)
{
    struct stat info;
    return fd >= 0 && fstat(fd, &info) == 0 && S_ISFIFO(info.st_mode);
}

/// `path` is fifo:PATH without the first five bytes.
static void open_named(Jobserver *js, const char *path, size_t len)
{
    char name[4096];
    if (len >= sizeof name)
        return;
    memcpy(name, path, len);
    name[len] = '\0';
    js->in = open(name, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    js->out = is_pipe(js->in) ? fcntl(js->in, F_DUPFD_CLOEXEC, 0) : -1;
}

static void open_numbered(Jobserver *js, const char *value)
{
    char name[64];
    char *end;
    const long in = strtol(value, &end, 10), out = *end == ',' ? strtol(end + 1, &end, 10) : -1;
    // Numbers of files that make closed may belong to others by now.
    if (in > INT_MAX || out > INT_MAX || !is_pipe((int)in) || !is_pipe((int)out))
        return;
    snprintf(name, sizeof name, "/proc/self/fd/%ld", in);
    js->in = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    js->out = fcntl((int)out, F_DUPFD_CLOEXEC, 0);
}

static void close_all(Jobserver *js)
{
    int *const files[] = { &js->in, &js->out, &js->wake[0], &js->wake[1] };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (*files[i] >= 0)
            close(*files[i]);
        *files[i] = -1;
    }
}

JobserverState jobserver_open(Jobserver *js, const char *makeflags)
{
    static const char named[] = "fifo:";
    const char *value;
    size_t len = jobserver_value(makeflags, &value);
    memset(js, 0, sizeof *js);
    js->in = js->out = js->wake[0] = js->wake[1] = -1;
    if (!len)
        return JOBSERVER_NONE;
    if (strncmp(value, named, sizeof named - 1) == 0)
        open_named(js, value + sizeof named - 1, len - (sizeof named - 1));
    else
        open_numbered(js, value);
    if (js->in < 0 || js->out < 0 || pipe(js->wake) != 0) {
        close_all(js);
        return JOBSERVER_UNREACHABLE;
    }
    return JOBSERVER_OPEN;
}

/// Reads one token if there is one. False when no token can come any more.
static bool try_take(Jobserver *js, uint32_t slot)
{
    unsigned char byte;
    atomic_fetch_add(&js->takers, 1);
    ssize_t got = atomic_load(&js->closed) ? 0 : read(js->in, &byte, 1);
    int why = errno;
    if (got == 1)
        atomic_store(&js->tokens[slot], 1 + byte);
    atomic_fetch_sub(&js->takers, 1);
    return got == 1 || (got < 0 && (why == EAGAIN || why == EINTR));
}

bool jobserver_take(Jobserver *js, uint32_t slot)
{
    struct pollfd files[] = { { .fd = js->in, .events = POLLIN }, { .fd = js->wake[0] } };
    for (;;) {
        int ready = poll(files, 2, -1);
        if (ready < 0 && errno != EINTR)
            return false;
        if (ready > 0 && (files[1].revents || !try_take(js, slot)))
            return false;
        if (atomic_load(&js->tokens[slot]))
            return true;
    }
}

void jobserver_give(Jobserver *js, uint32_t slot)
{
    int token = atomic_exchange(&js->tokens[slot], 0);
    if (!token)
        return;
    const unsigned char byte = (unsigned char)(token - 1);
    while (write(js->out, &byte, 1) < 0 && errno == EINTR)
        ;
}

void jobserver_stop(Jobserver *js)
{
    close(js->wake[1]);
    js->wake[1] = -1;
}

void jobserver_return_all(Jobserver *js)
{
    enum { PATIENCE = 100 };
    atomic_store(&js->closed, true);
    // Bounded, since the thread that takes one may be the one that faulted.
    for (int i = 0; i < PATIENCE && atomic_load(&js->takers); i++)
        poll(NULL, 0, 1);
    for (uint32_t slot = 0; slot < JOBSERVER_MAX; slot++)
        jobserver_give(js, slot);
}

void jobserver_close(Jobserver *js)
{
    jobserver_return_all(js);
    close_all(js);
}
