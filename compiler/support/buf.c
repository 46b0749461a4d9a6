/// buf.c - the growing text buffer (contract in buf.h). Capacity doubles; one byte more than the
/// text is always there for the NUL.
#include "support/buf.h"
#include "support/arena.h"
#include "support/str.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Room for `more` bytes and a NUL.
static char *reserve(Buf *b, size_t more)
{
    if (more > SIZE_MAX / 4 - b->len)
        arena_exhausted();
    size_t need = b->len + more + 1;
    if (need > b->cap) {
        size_t cap = b->cap ? b->cap : 128;
        while (cap < need)
            cap *= 2;
        char *at = realloc(b->at, cap);
        if (!at)
            arena_exhausted();
        b->at = at;
        b->cap = cap;
    }
    return b->at + b->len;
}

void buf_bytes(Buf *b, const void *at, size_t len)
{
    char *end = reserve(b, len);

    if (len)
        memcpy(end, at, len);
    b->len += len;
    b->at[b->len] = 0;
}

void buf_puts(Buf *b, const char *text)
{
    buf_bytes(b, text, strlen(text));
}

void buf_putc(Buf *b, char c)
{
    buf_bytes(b, &c, 1);
}

void buf_vprintf(Buf *b, const char *format, va_list args)
{
    va_list again;

    reserve(b, 0);
    va_copy(again, args);
    int len = vsnprintf(b->at + b->len, b->cap - b->len, format, args);
    if (len < 0)  // only for a text of INT_MAX bytes or more
        arena_exhausted();
    if ((size_t)len >= b->cap - b->len) {
        reserve(b, (size_t)len);
        vsnprintf(b->at + b->len, b->cap - b->len, format, again);
    }
    va_end(again);
    b->len += (size_t)len;
}

void buf_printf(Buf *b, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    buf_vprintf(b, format, args);
    va_end(args);
}

void buf_line(Buf *b, const char *format, ...)
{
    va_list args;

    for (unsigned i = 0; i < b->indent; i++)
        buf_bytes(b, "    ", 4);
    va_start(args, format);
    buf_vprintf(b, format, args);
    va_end(args);
    buf_putc(b, '\n');
}

void buf_c_string(Buf *b, const char *at, size_t len)
{
    buf_putc(b, '"');
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)at[i];
        if (c == '\n')
            buf_puts(b, "\\n");
        else if (c == '"' || c == '\\' || c == '?')  // '?' could begin a trigraph
            buf_printf(b, "\\%c", c);
        else if (c < ' ' || c > '~')
            buf_printf(b, "\\%03o", c);  // three digits: never runs into the next character
        else
            buf_putc(b, (char)c);
    }
    buf_putc(b, '"');
}

void buf_json_string(Buf *b, const char *at, size_t len)
{
    buf_putc(b, '"');
    for (size_t i = 0; i < len;) {
        unsigned size;
        uint32_t code = str_decode_utf8(at + i, len - i, &size);
        if (code == UTF8_BAD)
            buf_puts(b, "\xef\xbf\xbd");
        else if (code == '"' || code == '\\')
            buf_printf(b, "\\%c", (int)code);
        else if (code == '\n')
            buf_puts(b, "\\n");
        else if (code < ' ' || code == 0x7f)
            buf_printf(b, "\\u%04x", (unsigned)code);
        else
            buf_bytes(b, at + i, size);
        i += size;
    }
    buf_putc(b, '"');
}

void buf_double(Buf *b, double v)
{
    char text[40];

    if (isnan(v)) {
        buf_puts(b, "nan");
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    buf_puts(b, text);
    if (!strpbrk(text, ".ein"))
        buf_puts(b, ".0");
}

void buf_clear(Buf *b)
{
    b->len = 0;
    if (b->at)
        b->at[0] = 0;
}

void buf_free(Buf *b)
{
    free(b->at);
    *b = (Buf){ 0 };
}
