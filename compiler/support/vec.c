/// vec.c - growth of the typed arrays of vec.h: doubling, by copying inside the arena.
#include "support/vec.h"
#include <string.h>

void *vec_grow(Arena *a, const void *at, uint32_t len, uint32_t *cap, size_t size)
{
    if (len > UINT32_MAX / 2)
        arena_exhausted();
    uint32_t wanted = len < 4 ? 8 : len * 2;
    void *grown = arena_alloc_array(a, wanted, size, _Alignof(max_align_t));
    if (len)
        memcpy(grown, at, len * size);
    *cap = wanted;
    return grown;
}
