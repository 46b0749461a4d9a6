/// hash.c - FNV-1a, the hash of every table and key of the compiler (declared in str.h).
#include "support/str.h"

uint64_t hash_bytes(uint64_t seed, const void *at, size_t len)
{
    const unsigned char *bytes = at;

    for (size_t i = 0; i < len; i++)
        seed = (seed ^ bytes[i]) * UINT64_C(1099511628211);
    return seed;
}
