/// source.c - the source map (contract in source.h). Bases begin at 1 so that offset 0 is no
/// place; files lie in the order they were added with one offset between them for the end of
/// file, so both look-ups (file by offset, line by offset) are binary searches.
#include "support/source.h"
#include <string.h>

static uint32_t count_lines(const char *text, uint32_t len)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < len; i++)
        count += text[i] == '\n';
    return count;
}

static void index_lines(Arena *a, SourceFile *f)
{
    uint32_t line = 0;

    f->line_count = count_lines(f->text, f->len);
    f->lines = ARENA_NEW_N(a, uint32_t, f->line_count);
    for (uint32_t i = 0; i < f->len; i++)
        if (i == 0 || f->text[i - 1] == '\n')
            f->lines[line++] = i;
}

SourceFile *source_add(SourceMap *m, const char *path, const char *text, size_t len)
{
    const SourceFile *last = m->files.len ? m->files.at[m->files.len - 1] : NULL;
    uint32_t base = last ? last->base + last->len + 1 : 1;

    if (len > UINT32_MAX - 2 || base > UINT32_MAX - 2 - (uint32_t)len)
        return NULL;
    SourceFile *f = ARENA_NEW(m->arena, SourceFile);
    char *copy = arena_alloc(m->arena, len + 2, 1);
    if (len)
        memcpy(copy, text, len);
    if (len == 0 || copy[len - 1] != '\n')
        copy[len++] = '\n';
    *f = (SourceFile){ .path = arena_strndup(m->arena, path, strlen(path)),
                       .text = copy,
                       .base = base,
                       .len = (uint32_t)len };
    index_lines(m->arena, f);
    VEC_PUSH(m->arena, &m->files, f);
    return f;
}

static const SourceFile *file_at(const SourceMap *m, uint32_t offset)
{
    uint32_t lo = 0, hi = m->files.len;

    while (lo < hi) {  // the first file that begins after the offset
        uint32_t mid = lo + (hi - lo) / 2;
        if (m->files.at[mid]->base <= offset)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == 0)
        return NULL;
    const SourceFile *f = m->files.at[lo - 1];
    return offset - f->base <= f->len ? f : NULL;
}

SourcePos source_pos(const SourceMap *m, uint32_t offset)
{
    const SourceFile *f = offset ? file_at(m, offset) : NULL;

    if (!f)
        return (SourcePos){ 0 };
    uint32_t at = offset - f->base;
    if (at == f->len)
        at--;  // the end of file is shown behind the last line
    uint32_t lo = 0, hi = f->line_count;
    while (hi - lo > 1) {  // lines[lo] <= at < lines[hi]
        uint32_t mid = lo + (hi - lo) / 2;
        if (f->lines[mid] <= at)
            lo = mid;
        else
            hi = mid;
    }
    return (SourcePos){ f, lo + 1, at - f->lines[lo] + 1 };
}

Str source_line(const SourceFile *f, uint32_t line)
{
    if (line == 0 || line > f->line_count)
        return (Str){ "", 0 };
    uint32_t begin = f->lines[line - 1];
    uint32_t end = line < f->line_count ? f->lines[line] : f->len;
    return (Str){ f->text + begin, end - 1 - begin };
}

Str source_text(const SourceMap *m, Span span)
{
    const SourceFile *f = span.lo ? file_at(m, span.lo) : NULL;

    if (!f || span.hi < span.lo)
        return (Str){ "", 0 };
    uint32_t begin = span.lo - f->base, end = span.hi - f->base;
    return (Str){ f->text + begin, (end < f->len ? end : f->len) - begin };
}
