/// arena.c - bump allocation out of calloc'd chunks (contract in arena.h).
///
/// Chunks double from 64 KiB to 4 MiB, so a compile of any size makes few calls; a request that
/// is larger than the next chunk gets a chunk of its own size. What is left of the old chunk is
/// given up.
#include "support/arena.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_FIRST_CHUNK = 1 << 16, ARENA_LAST_CHUNK = 1 << 22 };

struct ArenaChunk {
    ArenaChunk *older;
    size_t size;  ///< bytes after this header
};

_Noreturn void arena_exhausted(void)
{
    fputs("newtc: error: out of memory\n", stderr);
    exit(2);
}

static size_t checked_add(size_t a, size_t b)
{
    if (a > SIZE_MAX - b)
        arena_exhausted();
    return a + b;
}

static void grow(Arena *a, size_t need)
{
    size_t size = a->chunks ? a->chunks->size : ARENA_FIRST_CHUNK / 2;

    size = size < ARENA_LAST_CHUNK / 2 ? size * 2 : ARENA_LAST_CHUNK;
    if (size < need)
        size = need;
    ArenaChunk *chunk = calloc(1, checked_add(size, sizeof *chunk));
    if (!chunk)
        arena_exhausted();
    *chunk = (ArenaChunk){ a->chunks, size };
    a->chunks = chunk;
    a->cur = (unsigned char *)(chunk + 1);
    a->end = a->cur + size;
}

void *arena_alloc(Arena *a, size_t size, size_t align)
{
    assert(align && (align & (align - 1)) == 0);

    size += size == 0;  // an address of its own even for nothing
    size_t pad = -(uintptr_t)a->cur & (align - 1);
    size_t room = (size_t)(a->end - a->cur);
    if (pad > room || size > room - pad) {
        grow(a, checked_add(size, align));
        pad = -(uintptr_t)a->cur & (align - 1);
    }
    unsigned char *p = a->cur + pad;
    a->cur = p + size;
    a->used += pad + size;
    return p;
}

void *arena_alloc_array(Arena *a, size_t count, size_t size, size_t align)
{
    if (size && count > SIZE_MAX / size)
        arena_exhausted();
    return arena_alloc(a, count * size, align);
}

char *arena_strndup(Arena *a, const char *at, size_t len)
{
    char *copy = arena_alloc(a, checked_add(len, 1), 1);

    if (len)
        memcpy(copy, at, len);
    return copy;
}

char *arena_vprintf(Arena *a, const char *format, va_list args)
{
    va_list again;

    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (len < 0)  // only for a text of INT_MAX bytes or more
        arena_exhausted();
    char *text = arena_alloc(a, (size_t)len + 1, 1);
    vsnprintf(text, (size_t)len + 1, format, args);
    return text;
}

char *arena_printf(Arena *a, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    char *text = arena_vprintf(a, format, args);
    va_end(args);
    return text;
}

void arena_free(Arena *a)
{
    for (ArenaChunk *chunk = a->chunks, *older; chunk; chunk = older) {
        older = chunk->older;
        free(chunk);
    }
    *a = (Arena){ 0 };
}
