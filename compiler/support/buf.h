/// buf.h - a growing text buffer with printf and indentation: every printer and emitter uses it.
///
/// Owns malloc'd memory; buf_free releases it. The text is always NUL-terminated.
#ifndef NEWT_SUPPORT_BUF_H
#define NEWT_SUPPORT_BUF_H
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Buf {
    char *at;
    size_t len, cap;
    unsigned indent;  ///< steps of four spaces that buf_line puts first
} Buf;

void buf_bytes(Buf *b, const void *at, size_t len);
void buf_puts(Buf *b, const char *text);
void buf_putc(Buf *b, char c);
void buf_printf(Buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(Buf *b, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

/// Indentation, the formatted text, a newline.
void buf_line(Buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/// A C string literal (quotes included) that any C or C++ compiler reads back to these bytes.
void buf_c_string(Buf *b, const char *at, size_t len);

/// A JSON string (quotes included); invalid UTF-8 becomes U+FFFD.
void buf_json_string(Buf *b, const char *at, size_t len);

/// Shortest decimal text that strtod reads back to exactly `v` ("inf", "-inf", "nan" otherwise);
/// always has a '.', an 'e' or a letter, so that it reads as a float.
void buf_double(Buf *b, double v);

void buf_clear(Buf *b);
void buf_free(Buf *b);

#endif
