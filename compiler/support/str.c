/// str.c - comparing slices, the distance between two names, and decoding UTF-8.
#include "support/str.h"
#include <string.h>

enum { DISTANCE_MAX = 63 };

bool str_equal(Str a, Str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

bool str_is(Str s, const char *text)
{
    size_t len = strlen(text);
    return s.len == len && (len == 0 || memcmp(s.at, text, len) == 0);
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
    unsigned least = a < b ? a : b;
    return least < c ? least : c;
}

/// Optimal string alignment over three rows of the matrix: row i holds the distances between
/// the first i bytes of a and each beginning of b.
static unsigned aligned_distance(const char *a, size_t alen, const char *b, size_t blen,
                                 unsigned limit)
{
    unsigned rows[3][DISTANCE_MAX + 1];
    unsigned *before = rows[0], *last = rows[1], *row = rows[2];

    for (size_t j = 0; j <= blen; j++)
        last[j] = (unsigned)j;
    for (size_t i = 1; i <= alen; i++) {
        unsigned least = row[0] = (unsigned)i;
        for (size_t j = 1; j <= blen; j++) {
            row[j] = min3(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = row[j] < before[j - 2] + 1 ? row[j] : before[j - 2] + 1;
            least = row[j] < least ? row[j] : least;
        }
        if (least > limit)  // no later row can come back below it
            return limit + 1;
        unsigned *spare = before;
        before = last;
        last = row;
        row = spare;
    }
    return last[blen] > limit ? limit + 1 : last[blen];
}

unsigned str_distance(const char *a, const char *b, unsigned limit)
{
    while (*a && *a == *b)
        a++, b++;
    size_t alen = strlen(a), blen = strlen(b);
    while (alen && blen && a[alen - 1] == b[blen - 1])
        alen--, blen--;
    size_t apart = alen > blen ? alen - blen : blen - alen;
    if (apart > limit || alen > DISTANCE_MAX || blen > DISTANCE_MAX)
        return limit + 1;
    return aligned_distance(a, alen, b, blen, limit);
}

uint32_t str_decode_utf8(const char *at, size_t len, unsigned *size)
{
    static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char *p = (const unsigned char *)at;
    unsigned n = p[0] < 0x80       ? 1
                 : p[0] >> 5 == 6  ? 2
                 : p[0] >> 4 == 14 ? 3
                 : p[0] >> 3 == 30 ? 4
                                   : 0;

    *size = 1;
    if (n == 1)
        return p[0];
    if (n == 0 || n > len)
        return UTF8_BAD;
    uint32_t code = p[0] & (0x7fU >> n);
    for (unsigned i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return UTF8_BAD;
        code = code << 6 | (p[i] & 0x3fU);
    }
    if (code < least[n] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return UTF8_BAD;
    *size = n;
    return code;
}
