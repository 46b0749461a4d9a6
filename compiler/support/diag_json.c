/// diag_json.c - diagnostics as a JSON array for editors and scripts: one object a report with
/// file, line, column, endLine, endColumn, severity, slug, message, notes and help; every key is
/// always there, null where there is nothing to say. Columns count bytes, as in the text form.
#include "support/diag_impl.h"
#include <string.h>

static void put_string(Buf *out, const char *key, const char *text)
{
    buf_printf(out, "\"%s\":", key);
    if (text)
        buf_json_string(out, text, strlen(text));
    else
        buf_puts(out, "null");
}

static void put_place(const DiagSink *d, Span span, Buf *out)
{
    SourcePos at = source_pos(d->sources, span.lo);
    SourcePos end = source_pos(d->sources, span.hi > span.lo ? span.hi : span.lo);

    put_string(out, "file", at.file ? at.file->path : NULL);
    if (!at.file) {
        buf_puts(out, ",\"line\":null,\"column\":null,\"endLine\":null,\"endColumn\":null");
        return;
    }
    buf_printf(out, ",\"line\":%u,\"column\":%u,\"endLine\":%u,\"endColumn\":%u", (unsigned)at.line,
               (unsigned)at.column, (unsigned)end.line, (unsigned)end.column);
}

static const char *severity_name(Severity severity)
{
    return severity == SEVERITY_WARNING    ? "warning"
           : severity == SEVERITY_NOTE     ? "note"
           : severity == SEVERITY_INTERNAL ? "internal"
                                           : "error";
}

static void put_notes(const DiagSink *d, const Diag *diag, Buf *out)
{
    const char *separator = "";
    const DiagNote *note;

    buf_puts(out, "\"notes\":[");
    VEC_EACH (note, &diag->notes) {
        if (note->is_help)
            continue;
        buf_printf(out, "%s{", separator);
        put_place(d, note->span, out);
        buf_putc(out, ',');
        put_string(out, "message", note->text);
        buf_putc(out, '}');
        separator = ",";
    }
    buf_putc(out, ']');
}

static void put_diag(const DiagSink *d, const Diag *diag, Buf *out)
{
    put_place(d, diag->span, out);
    buf_printf(out, ",\"severity\":\"%s\",", severity_name(diag->severity));
    put_string(out, "slug", diag_info[diag->id].slug);
    buf_putc(out, ',');
    put_string(out, "message", diag->text);
    buf_putc(out, ',');
    put_notes(d, diag, out);
    buf_putc(out, ',');
    put_string(out, "help", diag_help_of(diag));
    buf_putc(out, '}');
}

void diag_print_json(const DiagSink *const *sinks, size_t count, Buf *out)
{
    const char *separator = "{";

    buf_putc(out, '[');
    for (size_t s = 0; s < count; s++)
        for (uint32_t i = 0; i < sinks[s]->list.len; i++) {
            buf_puts(out, separator);
            put_diag(sinks[s], sinks[s]->list.at[i], out);
            separator = ",\n {";
        }
    buf_puts(out, "]\n");
}
