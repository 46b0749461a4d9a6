/// place.c - see place.h. The way from the program to the headers is fixed when newtc is
/// configured.
#include "driver/place.h"
#include "support/fs.h"
#include <string.h>
#include <unistd.h>

const char *place_of_program(Arena *a)
{
    enum { MOST = 1 << 16 };
    for (size_t size = 256; size <= MOST; size *= 2) {
        char *path = arena_alloc(a, size + 1, 1);
        ssize_t len = readlink("/proc/self/exe", path, size);
        if (len < 0)
            return NULL;
        if ((size_t)len < size)  // else it may have been cut
            return path;
    }
    return NULL;
}

const char *place_of_work(Arena *a)
{
    enum { MOST = 1 << 16 };
    for (size_t size = 256; size <= MOST; size *= 2) {
        char *path = arena_alloc(a, size, 1);
        if (getcwd(path, size))
            return path;
    }
    return NULL;
}

const char *place_of_headers(Arena *a)
{
    const char *program = place_of_program(a);
    if (!program)
        return NULL;
    const char *dir = arena_printf(a, "%s" NEWTC_HEADERS_FROM_PROGRAM, fs_dir(a, program));
    return access(arena_printf(a, "%s/newt/newt.h", dir), R_OK) == 0 ? dir : NULL;
}

const char *place_of_library(Arena *a)
{
    const char *program = place_of_program(a);
    return program ? arena_printf(a, "%s" NEWTC_LIBRARY_FROM_PROGRAM, fs_dir(a, program)) : NULL;
}
