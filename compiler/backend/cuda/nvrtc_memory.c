/// nvrtc_memory.c - what an NVRTC said of itself, kept beside the images of the cache.
///
/// Loading the library takes longer than a build whose images are all in the cache, and would only
/// be done to ask for its version and chips. The answers are kept with the file's size, time and
/// number: another file under the same path is asked again. One file a library:
///
///     newt nvrtc 1 <size> <seconds> <nanoseconds> <inode> <major> <minor> <chips> <chip>...
///     <path>\n
#include "backend/cuda/nvrtc_impl.h"
#include "support/fs.h"
#include "support/sha256.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *memory_path(Arena *a, const char *dir, const char *library)
{
    char hex[65];
    Sha256 sha;
    sha256_begin(&sha);
    sha256_add(&sha, library, strlen(library));
    sha256_hex(&sha, hex);
    return arena_printf(a, "%s/%s.nvrtc", dir, hex);
}

/// The part of the line that tells one file from another; NULL when there is no such file.
static const char *file_identity(Arena *a, const char *library)
{
    struct stat info;
    if (stat(library, &info) != 0)
        return NULL;
    return arena_printf(a, "newt nvrtc 1 %" PRId64 " %" PRId64 " %ld %" PRIu64,
                        (int64_t)info.st_size, (int64_t)info.st_mtim.tv_sec, info.st_mtim.tv_nsec,
                        (uint64_t)info.st_ino);
}

/// The whole line for what `n` says.
static const char *memory_line(Arena *a, const char *identity, const Nvrtc *n, const char *library)
{
    Buf line = { 0 };
    buf_printf(&line, "%s %d %d %u", identity, n->major, n->minor, n->arch_count);
    for (uint32_t i = 0; i < n->arch_count; i++)
        buf_printf(&line, " %d", n->archs[i]);
    buf_printf(&line, " %s\n", library);
    const char *text = arena_strndup(a, line.at, line.len);
    buf_free(&line);
    return text;
}

/// Takes a number in front of *at off it; false when there is none.
static bool take_number(const char **at, int *out)
{
    char *end;
    const long value = strtol(*at, &end, 10);
    const bool found = end != *at && value >= 0 && value <= INT_MAX;
    *out = found ? (int)value : 0;
    *at = end;
    return found;
}

bool nvrtc_recall(Arena *a, const char *dir, const char *library, Nvrtc *out)
{
    const char *identity = file_identity(a, library), *why = NULL;
    size_t len = 0;
    const char *text = identity ? fs_read(a, memory_path(a, dir, library), &len, &why) : NULL;
    enum { MOST_CHIPS = 256 };
    Nvrtc said = { .major = 0 };
    int arch_count;
    if (!text || strncmp(text, identity, strlen(identity)) != 0)
        return false;
    const char *at = text + strlen(identity);
    if (!take_number(&at, &said.major) || !take_number(&at, &said.minor) ||
        !take_number(&at, &arch_count) || arch_count > MOST_CHIPS)
        return false;
    said.arch_count = (uint32_t)arch_count;
    int *archs = ARENA_NEW_N(a, int, said.arch_count + 1);
    for (uint32_t i = 0; i < said.arch_count; i++)
        if (!take_number(&at, &archs[i]))
            return false;
    said.archs = archs;
    if (strcmp(text, memory_line(a, identity, &said, library)) != 0)  // not what was written
        return false;
    out->major = said.major;
    out->minor = said.minor;
    out->archs = said.archs;
    out->arch_count = said.arch_count;
    return true;
}

void nvrtc_remember(Arena *a, const char *dir, const Nvrtc *n)
{
    const char *identity = file_identity(a, n->path), *why = NULL;
    if (!identity)
        return;
    const char *line = memory_line(a, identity, n, n->path);
    OutputSet set = { .arena = a };
    fs_output(&set, memory_path(a, dir, n->path), line, strlen(line), true);
    (void)fs_commit(&set, &why);  // it is asked again then
}
