/// fs.h - whole files in, whole files out: a compile writes all its outputs or none.
///
/// Outputs go to temporaries beside their targets and are renamed together by fs_commit. An
/// OutputSet that is dropped (error, signal) leaves nothing behind.
#ifndef NEWT_SUPPORT_FS_H
#define NEWT_SUPPORT_FS_H
#include "support/vec.h"
#include <stdbool.h>

/// Reads a regular file (or pipe) whole into the arena with a NUL after it. NULL: *error says why
/// ("No such file or directory", "is a directory", ...), in the arena.
char *fs_read(Arena *a, const char *path, size_t *len, const char **error);

typedef struct OutputFile {
    const char *path;
    const char *data;  ///< borrowed until commit
    size_t len;
    bool keep_time;  ///< leave the file alone when its bytes would not change
} OutputFile;

typedef struct OutputSet {
    Arena *arena;
    VEC(OutputFile) files;
} OutputSet;

/// Adds an output; `data` must live until commit. "-" is standard output.
void fs_output(OutputSet *set, const char *path, const char *data, size_t len, bool keep_time);

/// Writes temporaries, then renames all. On failure removes what it made, leaves older outputs as
/// they were, and sets *error (path and reason). Checks write, close and rename; does not fsync.
/// Links are followed, a target that is no regular file (a device, a pipe) is written in place,
/// and a replaced file keeps its mode. One commit at a time in a process. A caller that wants
/// EPIPE as an error ignores SIGPIPE.
bool fs_commit(OutputSet *set, const char **error);

/// Temporaries of a running commit are removed by this; async-signal-safe, for the SIGINT handler.
void fs_remove_temporaries(void);

/// "dir/name.ext" -> "name"; the text before the last dot of the base name.
const char *fs_stem(Arena *a, const char *path);
/// Directory part with its slash, "" when there is none.
const char *fs_dir(Arena *a, const char *path);
bool fs_is_dir(const char *path);
/// Makes a directory and its parents; true when it exists afterwards.
bool fs_make_dirs(Arena *a, const char *path);

#endif
