/// sha256.h - SHA-256, for source hashes in headers and for compile cache keys.
#ifndef NEWT_SUPPORT_SHA256_H
#define NEWT_SUPPORT_SHA256_H
#include <stddef.h>
#include <stdint.h>

typedef struct Sha256 {
    uint32_t state[8];
    uint64_t length;
    unsigned char block[64];
} Sha256;

void sha256_begin(Sha256 *s);
void sha256_add(Sha256 *s, const void *at, size_t len);
/// 64 lower-case hex digits and a NUL.
void sha256_hex(Sha256 *s, char out[65]);

#endif
