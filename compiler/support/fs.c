/// fs.c - reading whole files, and small questions about paths (contract in fs.h). The atomic
/// writing of outputs is fs_commit.c.
#include "support/fs.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *read_failed(Arena *a, const char *why, const char **error)
{
    *error = arena_strndup(a, why, strlen(why));
    return NULL;
}

/// Everything that `fd` still has; `expected` bytes are likely. NULL: errno says why.
static char *read_rest(Arena *a, int fd, size_t expected, size_t *len)
{
    size_t cap = expected + 2;  // one more than the text and its NUL: the end shows at once
    char *text = arena_alloc(a, cap, 1);

    for (*len = 0;;) {
        if (*len + 1 == cap) {
            char *grown = arena_alloc_array(a, cap, 2, 1);
            memcpy(grown, text, *len);
            text = grown;
            cap *= 2;
        }
        ssize_t got = read(fd, text + *len, cap - 1 - *len);
        if (got == 0)
            break;
        if (got > 0)
            *len += (size_t)got;
        else if (errno != EINTR)
            return NULL;
    }
    text[*len] = 0;
    return text;
}

char *fs_read(Arena *a, const char *path, size_t *len, const char **error)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    *len = 0;
    if (fd < 0)
        return read_failed(a, strerror(errno), error);
    const char *why = NULL;
    if (fstat(fd, &info) < 0)
        why = strerror(errno);
    else if (S_ISDIR(info.st_mode))
        why = "is a directory";
    else if (info.st_size >= UINT32_MAX)
        why = "is larger than 4 GiB";
    char *text = NULL;
    if (!why) {
        text = read_rest(a, fd, S_ISREG(info.st_mode) ? (size_t)info.st_size : 4096, len);
        if (!text)
            why = strerror(errno);
    }
    close(fd);
    return text ? text : read_failed(a, why, error);
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *fs_stem(Arena *a, const char *path)
{
    const char *base = base_of(path);
    const char *dot = strrchr(base, '.');
    return arena_strndup(a, base, dot && dot != base ? (size_t)(dot - base) : strlen(base));
}

const char *fs_dir(Arena *a, const char *path)
{
    return arena_strndup(a, path, (size_t)(base_of(path) - path));
}

bool fs_is_dir(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool fs_make_dirs(Arena *a, const char *path)
{
    char *part = arena_strndup(a, path, strlen(path));

    for (char *p = part + 1; *part && *p; p++) {
        if (*p != '/')
            continue;
        *p = 0;
        mkdir(part, 0777);  // a failure shows at the last part
        *p = '/';
    }
    return mkdir(part, 0777) == 0 || fs_is_dir(part);
}
