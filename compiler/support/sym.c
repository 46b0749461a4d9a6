/// sym.c - interned names: an open-addressing table with linear probing, at most 3/4 full
/// (declared in str.h). Entries never move, so a Sym stays valid while the table grows.
#include "support/str.h"
#include <string.h>

/// The slot that holds these bytes, or the free one where they belong.
static uint32_t find_slot(const SymTable *t, uint32_t hash, const char *at, size_t len)
{
    uint32_t i = hash & (t->cap - 1);

    while (t->slots[i]) {
        Sym s = t->slots[i];
        if (s->hash == hash && s->len == len && memcmp(s->text, at, len) == 0)
            break;
        i = (i + 1) & (t->cap - 1);
    }
    return i;
}

static void grow_table(SymTable *t)
{
    SymTable grown = { .arena = t->arena, .count = t->count, .cap = t->cap ? t->cap * 2 : 256 };

    grown.slots = ARENA_NEW_N(t->arena, Sym, grown.cap);
    for (uint32_t i = 0; i < t->cap; i++) {
        Sym s = t->slots[i];
        if (s)
            grown.slots[find_slot(&grown, s->hash, s->text, s->len)] = s;
    }
    *t = grown;
}

Sym sym_intern(SymTable *t, const char *at, size_t len)
{
    if (len > UINT32_MAX - 1 || t->count > UINT32_MAX / 4)
        arena_exhausted();
    if (t->count >= t->cap / 4 * 3)
        grow_table(t);

    uint64_t wide = hash_bytes(HASH_SEED, at, len);
    uint32_t hash = (uint32_t)(wide ^ wide >> 32);
    uint32_t slot = find_slot(t, hash, at, len);
    if (!t->slots[slot]) {
        SymEntry *entry = arena_alloc(t->arena, sizeof *entry + len + 1, _Alignof(SymEntry));
        entry->len = (uint32_t)len;
        entry->hash = hash;
        if (len)
            memcpy(entry->text, at, len);
        t->slots[slot] = entry;
        t->count++;
    }
    return t->slots[slot];
}

Sym sym_of(SymTable *t, const char *text)
{
    return sym_intern(t, text, strlen(text));
}
