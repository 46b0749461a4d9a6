/// source.h - the texts of a compile, and the way back from a byte to file, line and column.
///
/// Every file gets a range of one global offset space, so a Span (two uint32_t) names a place in
/// any file. A file's text is held with a guaranteed final newline and a NUL after it.
#ifndef NEWT_SUPPORT_SOURCE_H
#define NEWT_SUPPORT_SOURCE_H
#include "support/str.h"
#include "support/vec.h"

typedef struct {
    uint32_t lo, hi;  ///< [lo, hi) in the SourceMap; lo == hi == 0 is "no place"
} Span;

typedef struct SourceFile {
    const char *path;    ///< as given, after -ffile-prefix-map
    const char *text;    ///< len bytes, the last a newline; text[len] == 0
    uint32_t base, len;  ///< offsets [base, base + len]
    uint32_t *lines;     ///< offset in text of each line's first byte
    uint32_t line_count;
} SourceFile;

typedef struct SourceMap {
    Arena *arena;
    VEC(SourceFile *) files;
} SourceMap;

typedef struct {
    const SourceFile *file;
    uint32_t line, column;  ///< from 1; columns count bytes
} SourcePos;

/// Adds a text (copied). NULL when the offset space (4 GiB) would overflow.
SourceFile *source_add(SourceMap *m, const char *path, const char *text, size_t len);

/// Where `offset` is; {NULL, 0, 0} for 0.
SourcePos source_pos(const SourceMap *m, uint32_t offset);

/// The bytes of line `line` (from 1) without its newline.
Str source_line(const SourceFile *f, uint32_t line);

/// The text of a span.
Str source_text(const SourceMap *m, Span span);

/// From the beginning of a to the end of b.
static inline Span span_join(Span a, Span b)
{
    return (Span){ a.lo, b.hi > a.hi ? b.hi : a.hi };
}

#endif
