/// str.h - borrowed text slices and interned names.
///
/// A Sym is the address of the one entry for its text, so `==` compares names and `->text` is a
/// NUL-terminated string that lives as long as its table. NULL is "no name".
#ifndef NEWT_SUPPORT_STR_H
#define NEWT_SUPPORT_STR_H
#include "support/arena.h"
#include <stdbool.h>

typedef struct {
    const char *at;
    uint32_t len;
} Str;  ///< not NUL-terminated

typedef struct SymEntry {
    uint32_t len, hash;
    char text[];
} SymEntry;
typedef const SymEntry *Sym;

typedef struct SymTable {
    Arena *arena;  ///< owner of the entries
    Sym *slots;
    uint32_t count, cap;  ///< cap is a power of two
} SymTable;

/// The one Sym for these bytes, made on first sight.
Sym sym_intern(SymTable *t, const char *at, size_t len);
/// The same for a NUL-terminated string.
Sym sym_of(SymTable *t, const char *text);

bool str_equal(Str a, Str b);
bool str_is(Str s, const char *text);

/// 64-bit FNV-1a of `len` bytes, continuing from `seed` (HASH_SEED to begin).
uint64_t hash_bytes(uint64_t seed, const void *at, size_t len);
#define HASH_SEED UINT64_C(14695981039346656037)

/// Edit distance (insert, delete, replace, swap of neighbours), cut off at `limit` + 1.
/// Texts that still differ over more than 63 bytes once their common ends are gone are beyond it.
unsigned str_distance(const char *a, const char *b, unsigned limit);

/// The code point at `at` (len > 0), its bytes in *size. UTF8_BAD with *size 1 for a byte that
/// begins no valid sequence (overlong forms and surrogates are not valid).
uint32_t str_decode_utf8(const char *at, size_t len, unsigned *size);
#define UTF8_BAD UINT32_C(0xffffffff)

#endif
