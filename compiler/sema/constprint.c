/// constprint.c - compile-time values as text: Python's repr, and formatting with `%`.
#include "sema/builtin.h"
#include "sema/constval_impl.h"
#include "sema/module.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_int(Buf *out, Int128 v)
{
    char digits[48];
    int at = (int)sizeof digits;
    bool negative = v < 0;
    v = negative ? -v : v;
    do {
        digits[--at] = (char)('0' + (int)(v % 10));
        v /= 10;
    } while (v != 0);
    if (negative)
        digits[--at] = '-';
    buf_bytes(out, digits + at, sizeof digits - (size_t)at);
}

// Python writes the shortest digits that read back, plain from 1e-4 to below 1e16.
static void print_float(Buf *out, double v)
{
    if (!isfinite(v)) {
        buf_puts(out, isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
        return;
    }
    char text[40];
    int precision = 0;
    do
        snprintf(text, sizeof text, "%.*e", precision, v);
    while (strtod(text, NULL) != v && ++precision < 17);
    char *e = strchr(text, 'e');
    int exponent = (int)strtol(e + 1, NULL, 10);
    if (exponent < -4 || exponent >= 16) {
        *e = 0;
        buf_printf(out, "%se%c%02d", text, exponent < 0 ? '-' : '+', abs(exponent));
        return;
    }
    int decimals = precision > exponent ? precision - exponent : 1;
    buf_printf(out, "%.*f", decimals < 1 ? 1 : decimals, v);
}

static void print_str(Buf *out, Str s)
{
    bool single = memchr(s.at, '\'', s.len) != NULL, twice = memchr(s.at, '"', s.len) != NULL;
    char quote = single && !twice ? '"' : '\'';
    buf_putc(out, quote);
    for (uint32_t i = 0; i < s.len; i++) {
        char c = s.at[i];
        if (c == quote || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (c == '\n' || c == '\t' || c == '\r')
            buf_puts(out, c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r");
        else if ((unsigned char)c < 0x20 || c == 0x7f)
            buf_printf(out, "\\x%02x", (unsigned)(unsigned char)c);
        else
            buf_putc(out, c);
    }
    buf_putc(out, quote);
}

static void print_dtype(Buf *out, const Type *t)
{
    if (t->kind == TYPE_SCALAR)
        buf_puts(out, scalar_text(t->scalar));
    else if (t->kind == TYPE_PTR) {
        buf_puts(out, t->is_const ? "*const " : "*");
        print_dtype(out, t->elem);
    } else
        type_print(out, t);
}

void const_print(Buf *out, const ConstVal *v)
{
    switch (v->kind) {
    case CONST_ERROR: buf_puts(out, "<error>"); break;
    case CONST_NONE: buf_puts(out, "None"); break;
    case CONST_BOOL: buf_puts(out, v->v.b ? "True" : "False"); break;
    case CONST_INT: print_int(out, v->v.i); break;
    case CONST_FLOAT: print_float(out, v->v.f); break;
    case CONST_STR: print_str(out, v->v.s); break;
    case CONST_DTYPE: print_dtype(out, v->v.dtype); break;
    case CONST_TUPLE:
        buf_putc(out, '(');
        for (uint32_t i = 0; i < v->v.tuple.len; i++) {
            buf_puts(out, i ? ", " : "");
            const_print(out, &v->v.tuple.at[i]);
        }
        buf_puts(out, v->v.tuple.len == 1 ? ",)" : ")");
        break;
    case CONST_DICT:
        buf_putc(out, '{');
        for (uint32_t i = 0; i + 1 < v->v.tuple.len; i += 2) {
            buf_puts(out, i ? ", " : "");
            const_print(out, &v->v.tuple.at[i]);
            buf_puts(out, ": ");
            const_print(out, &v->v.tuple.at[i + 1]);
        }
        buf_putc(out, '}');
        break;
    case CONST_CONFIG:
        buf_puts(out, "Config(");
        const_print(out, &((const ConstConfig *)v->v.ref)->values);
        buf_putc(out, ')');
        break;
    case CONST_FUNC: buf_puts(out, ((const Function *)v->v.ref)->name->text); break;
    case CONST_BUILTIN:
    case CONST_ANNOTATION: buf_puts(out, ((const Builtin *)v->v.ref)->name->text); break;
    case CONST_NAMESPACE: buf_puts(out, ((const Namespace *)v->v.ref)->name); break;
    }
}

const char *const_kind_text(const ConstVal *v)
{
    switch (v->kind) {
    case CONST_ERROR: break;
    case CONST_NONE: return "None";
    case CONST_BOOL: return "a bool";
    case CONST_INT: return "an int";
    case CONST_FLOAT: return "a float";
    case CONST_STR: return "a string";
    case CONST_DTYPE: return "a dtype";
    case CONST_TUPLE: return "a tuple";
    case CONST_DICT: return "a dict";
    case CONST_CONFIG: return "a configuration";
    case CONST_FUNC: return "a function";
    case CONST_BUILTIN: return "a builtin function";
    case CONST_NAMESPACE: return "a module";
    case CONST_ANNOTATION: return "a word of parameter types";
    }
    return "an erroneous value";
}

// ---- "..." % args ---------------------------------------------------------------------------

typedef struct Directive {
    char flags[24];  // "%-08.3": everything before the conversion letter
    char letter;
} Directive;

// Reads a directive after its '%'; NULL when the text ends in it or it is not one that prints.
// Widths have at most two digits.
static const char *read_directive(const char *p, const char *end, Directive *d)
{
    size_t n = 0, digits = 0;
    d->flags[n++] = '%';
    while (p < end && *p && strchr("-+ #0123456789.", *p) && n < sizeof d->flags - 1 &&
           digits < 3) {
        digits = *p >= '0' && *p <= '9' ? digits + 1 : 0;
        d->flags[n++] = *p++;
    }
    d->flags[n] = 0;
    if (p == end || !*p || !strchr("dixXofFeEgGsr%", *p) || digits > 2)
        return NULL;
    d->letter = *p;
    return p + 1;
}

static void print_text(Buf *out, const Directive *d, const ConstVal *v)
{
    char format[32];
    Buf text = { 0 };
    if (d->letter == 's' && v->kind == CONST_STR)
        buf_bytes(&text, v->v.s.at, v->v.s.len);
    else
        const_print(&text, v);
    snprintf(format, sizeof format, "%ss", d->flags);
    buf_printf(out, format, text.at ? text.at : "");
    buf_free(&text);
}

// False when the directive wants a number and `v` is none, or one beyond long long.
static bool print_directive(Buf *out, const Directive *d, const ConstVal *v)
{
    char format[32];
    if (strchr("sr", d->letter)) {
        print_text(out, d, v);
        return true;
    }
    if (!const_is_int(v) && v->kind != CONST_FLOAT)
        return false;
    double f = v->kind == CONST_FLOAT ? v->v.f : (double)const_int_of(v);
    if (strchr("dixXo", d->letter)) {
        if (!(fabs(f) < 0x1p63))
            return false;
        long long i = v->kind == CONST_FLOAT ? (long long)f : (long long)const_int_of(v);
        snprintf(format, sizeof format, "%sll%c", d->flags, d->letter);
        buf_printf(out, format, i);
    } else {
        snprintf(format, sizeof format, "%s%c", d->flags, d->letter);
        buf_printf(out, format, f);
    }
    return true;
}

ConstVal const_format(ConstCx *cx, Str format, const ConstVal *args, Span span)
{
    const ConstVal *at = args->kind == CONST_TUPLE ? args->v.tuple.at : args;
    uint32_t count = args->kind == CONST_TUPLE ? args->v.tuple.len : 1, used = 0;
    Buf out = { 0 };
    const char *wrong = NULL, *end = format.at + format.len;
    for (const char *p = format.at; p < end && !wrong;) {
        if (*p != '%') {
            buf_putc(&out, *p++);
            continue;
        }
        Directive d;
        p = read_directive(p + 1, end, &d);
        if (!p) {
            wrong = "a '%' that begins no directive";
            break;
        }
        if (d.letter == '%')
            buf_putc(&out, '%');
        else if (used == count)
            wrong = "more directives than values";
        else if (!print_directive(&out, &d, &at[used++]))
            wrong = "a value that its directive does not take";
    }
    if (!wrong && used < count)
        wrong = "more values than directives";
    ConstVal v = const_error();
    if (wrong)
        diag_report(cx->diags, DIAG_BAD_VALUE, span, "string formatting has %s", wrong);
    else
        v = const_str(
            (Str){ arena_strndup(cx->arena, out.at ? out.at : "", out.len), (uint32_t)out.len });
    buf_free(&out);
    return v;
}
