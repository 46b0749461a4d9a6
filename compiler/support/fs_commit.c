/// fs_commit.c - all outputs of a compile or none (contract in fs.h).
///
/// Three steps: every output is written and closed under a temporary name in its target's folder;
/// then what cannot be renamed (standard output, devices, pipes) is written; then all temporaries
/// are renamed. A failure before the renames leaves every older output as it was. While renaming,
/// older outputs stand under a second name (a hard link), so that a failure there, which is rare
/// once the folder took the temporary, is undone too where the file system has links.
///
/// The list of temporaries is this compiler's only mutable file-scope state: a signal handler has
/// no context argument, and an interrupted compile must not leave files behind. There is one
/// commit at a time in a process.
// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): asks for realpath
#define _XOPEN_SOURCE 700
#include "support/fs.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEMPORARY_TRIES = 10000 };

/// An output on its way.
typedef struct {
    const OutputFile *file;
    const char *target;          ///< path with symbolic links followed
    const char *volatile fresh;  ///< the temporary while it exists, else NULL
    const char *volatile older;  ///< second name of the file that is replaced, else NULL
    bool direct;                 ///< written in place: not a regular file
    bool same;                   ///< nothing to do
    bool replaced;               ///< renamed over its target
    bool existed;
    mode_t mode;
} Pending;

static const Pending *volatile running;
static volatile sig_atomic_t running_count;

void fs_remove_temporaries(void)
{
    for (sig_atomic_t i = 0; i < running_count; i++) {
        const char *fresh = running[i].fresh, *older = running[i].older;
        if (fresh)
            unlink(fresh);
        if (older)
            unlink(older);
    }
}

void fs_output(OutputSet *set, const char *path, const char *data, size_t len, bool keep_time)
{
    OutputFile file = { .path = path, .data = data, .len = len, .keep_time = keep_time };
    VEC_PUSH(set->arena, &set->files, file);
}

static bool fail(OutputSet *set, const char *path, const char *why, const char **error)
{
    *error = arena_printf(set->arena, "%s: %s", strcmp(path, "-") ? path : "standard output", why);
    return false;
}

static bool write_all(int fd, const char *at, size_t len)
{
    while (len) {
        ssize_t done = write(fd, at, len);
        if (done < 0 && errno != EINTR)
            return false;
        if (done > 0) {
            at += done;
            len -= (size_t)done;
        }
    }
    return true;
}

/// A new name in the target's folder; short, so that it fits wherever the target's name does.
static const char *temporary_name(Arena *a, const char *target, unsigned n)
{
    return arena_printf(a, "%s.newtc-%ld-%u.tmp", fs_dir(a, target), (long)getpid(), n);
}

/// Creates a file that did not exist; its name is on the list before it exists.
static int create_temporary(OutputSet *set, Pending *p)
{
    for (unsigned n = 0; n < TEMPORARY_TRIES; n++) {
        p->fresh = temporary_name(set->arena, p->target, n);
        int fd = open(p->fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0)
            return fd;
        p->fresh = NULL;
        if (errno != EEXIST)
            break;
    }
    return -1;
}

static bool write_temporary(OutputSet *set, Pending *p, const char **error)
{
    int fd = create_temporary(set, p);

    if (fd < 0)
        return fail(set, p->file->path, strerror(errno), error);
    bool ok = write_all(fd, p->file->data, p->file->len);
    if (ok && p->existed)
        ok = fchmod(fd, p->mode & 0777) == 0;
    int why = errno;
    if (close(fd) < 0 && ok) {
        ok = false;
        why = errno;
    }
    return ok || fail(set, p->file->path, strerror(why), error);
}

static bool has_same_bytes(const Pending *p)
{
    Arena scratch = { 0 };
    const char *ignored;
    size_t len;

    const char *old = fs_read(&scratch, p->target, &len, &ignored);
    bool same = old && len == p->file->len && (len == 0 || memcmp(old, p->file->data, len) == 0);
    arena_free(&scratch);
    return same;
}

/// Finds out what the target is now.
static bool inspect(OutputSet *set, Pending *p, const char **error)
{
    struct stat info;

    p->target = p->file->path;
    if (strcmp(p->target, "-") == 0) {
        p->direct = true;
        return true;
    }
    if (lstat(p->target, &info) == 0 && S_ISLNK(info.st_mode)) {
        char *resolved = realpath(p->target, NULL);
        if (resolved)  // else a dangling link, which the output replaces
            p->target = arena_strndup(set->arena, resolved, strlen(resolved));
        free(resolved);
    }
    p->existed = stat(p->target, &info) == 0;
    if (!p->existed)
        return true;
    if (S_ISDIR(info.st_mode))
        return fail(set, p->file->path, "is a directory", error);
    if (access(p->target, W_OK) < 0)
        return fail(set, p->file->path, strerror(errno), error);
    p->mode = info.st_mode;
    p->direct = !S_ISREG(info.st_mode);
    p->same = !p->direct && p->file->keep_time && has_same_bytes(p);
    return true;
}

static bool write_direct(OutputSet *set, const Pending *p, const char **error)
{
    bool is_stdout = strcmp(p->target, "-") == 0;

    if (is_stdout && fflush(stdout) == EOF)
        return fail(set, "-", strerror(errno), error);
    int fd = is_stdout ? STDOUT_FILENO : open(p->target, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write_all(fd, p->file->data, p->file->len);
    int why = errno;
    if (fd >= 0 && !is_stdout && close(fd) < 0 && ok) {
        ok = false;
        why = errno;
    }
    return ok || fail(set, p->file->path, strerror(why), error);
}

static bool write_everything(OutputSet *set, Pending *all, uint32_t count, const char **error)
{
    for (uint32_t i = 0; i < count; i++)
        if (!inspect(set, &all[i], error))
            return false;
    for (uint32_t i = 0; i < count; i++)
        if (!all[i].direct && !all[i].same && !write_temporary(set, &all[i], error))
            return false;
    for (uint32_t i = 0; i < count; i++)
        if (all[i].direct && !write_direct(set, &all[i], error))
            return false;
    return true;
}

/// Gives the file that is about to be replaced a second name.
static void keep_older(OutputSet *set, Pending *p)
{
    for (unsigned n = 0; p->existed && n < TEMPORARY_TRIES; n++) {
        const char *name = temporary_name(set->arena, p->target, n);
        if (link(p->target, name) == 0) {
            p->older = name;
            return;
        }
        if (errno != EEXIST)
            return;  // no links here: the rename goes without a net
    }
}

static bool rename_all(OutputSet *set, Pending *all, uint32_t count, const char **error)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!all[i].fresh)
            continue;
        keep_older(set, &all[i]);
        if (rename(all[i].fresh, all[i].target) < 0)
            return fail(set, all[i].file->path, strerror(errno), error);
        all[i].fresh = NULL;
        all[i].replaced = true;
    }
    return true;
}

/// Puts back what rename_all had replaced.
static void undo(Pending *all, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!all[i].replaced)
            continue;
        if (all[i].older && rename(all[i].older, all[i].target) == 0)
            all[i].older = NULL;
        else if (!all[i].existed)
            unlink(all[i].target);
    }
}

bool fs_commit(OutputSet *set, const char **error)
{
    uint32_t count = set->files.len;
    Pending *all = ARENA_NEW_N(set->arena, Pending, count);
    sigset_t every, before;

    for (uint32_t i = 0; i < count; i++)
        all[i].file = &set->files.at[i];
    running = all;
    running_count = (sig_atomic_t)count;
    bool ok = write_everything(set, all, count, error);
    sigfillset(&every);
    sigprocmask(SIG_BLOCK, &every, &before);  // a signal comes before or after all renames
    if (ok && !rename_all(set, all, count, error)) {
        undo(all, count);
        ok = false;
    }
    fs_remove_temporaries();
    running_count = 0;
    running = NULL;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return ok;
}
