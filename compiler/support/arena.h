/// arena.h - bump allocation: everything a compile makes lives in an arena and dies with it.
///
/// An Arena grows by chunks taken from calloc, so fresh memory is zero and zero is the valid
/// empty state of every struct in the compiler. Running out of memory ends the process with
/// exit code 2 after a message: newtc is a batch tool. Not thread-safe; one thread, one arena.
#ifndef NEWT_SUPPORT_ARENA_H
#define NEWT_SUPPORT_ARENA_H
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ArenaChunk ArenaChunk;
typedef struct Arena {
    unsigned char *cur, *end;  ///< free space of the newest chunk
    ArenaChunk *chunks;        ///< newest first
    size_t used;               ///< bytes handed out, for -ftime-report
} Arena;

/// Returns `size` zeroed bytes at a multiple of `align` (a power of two). Never NULL.
void *arena_alloc(Arena *a, size_t size, size_t align);

/// `count * size` zeroed bytes; an overflowing product is out of memory.
void *arena_alloc_array(Arena *a, size_t count, size_t size, size_t align);

/// Copies `len` bytes of `at` and adds a NUL.
char *arena_strndup(Arena *a, const char *at, size_t len);

/// printf into the arena; the text lives as long as it.
char *arena_printf(Arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
/// The same with a va_list.
char *arena_vprintf(Arena *a, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/// What running out does, for the few that allocate elsewhere: a message and exit code 2.
_Noreturn void arena_exhausted(void);

/// Frees every chunk; the arena is empty and usable again.
void arena_free(Arena *a);

#define ARENA_NEW(a, T)      ((T *)arena_alloc((a), sizeof(T), _Alignof(T)))
#define ARENA_NEW_N(a, T, n) ((T *)arena_alloc_array((a), (n), sizeof(T), _Alignof(T)))

#endif
