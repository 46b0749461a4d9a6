/// diag_sarif.c - diagnostics as SARIF 2.1.0, the form that code-scanning services take.
///
/// One run with the slugs met as rules. Columns count code points (the format leaves a choice
/// only between these and UTF-16 units), so they differ from the text form's behind non-ASCII
/// characters. A help is a last line of its result's message.
#include "support/diag_impl.h"
#include <string.h>

static void put_string(Buf *out, const char *text)
{
    buf_json_string(out, text, strlen(text));
}

/// A path as a relative or absolute URI reference.
static void put_uri(Buf *out, const char *path)
{
    static const char kept[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";

    buf_putc(out, '"');
    for (const char *p = path; *p; p++) {
        if (strchr(kept, *p))
            buf_putc(out, *p);
        else
            buf_printf(out, "%%%02X", (unsigned)(unsigned char)*p);
    }
    buf_putc(out, '"');
}

static unsigned code_point_column(SourcePos at)
{
    Str line = source_line(at.file, at.line);
    uint32_t i = 0;
    unsigned column = 1, size;

    for (; i < line.len && i < at.column - 1; i += size, column++)
        str_decode_utf8(line.at + i, line.len - i, &size);
    return i < at.column - 1 ? column + (at.column - 1 - i) : column;
}

/// {"physicalLocation":...} without its closing brace, so that a message can follow; false and
/// nothing for no place.
static bool open_location(const DiagSink *d, Span span, Buf *out)
{
    SourcePos at = source_pos(d->sources, span.lo);
    SourcePos end = source_pos(d->sources, span.hi > span.lo ? span.hi : span.lo);

    if (!at.file)
        return false;
    buf_puts(out, "{\"physicalLocation\":{\"artifactLocation\":{\"uri\":");
    put_uri(out, at.file->path);
    buf_printf(
        out, "},\"region\":{\"startLine\":%u,\"startColumn\":%u,\"endLine\":%u,\"endColumn\":%u}}",
        (unsigned)at.line, code_point_column(at), (unsigned)end.line, code_point_column(end));
    return true;
}

static void put_related(const DiagSink *d, const Diag *diag, Buf *out)
{
    const char *separator = "";
    const DiagNote *note;

    buf_puts(out, ",\"relatedLocations\":[");
    VEC_EACH (note, &diag->notes) {
        if (note->is_help)
            continue;
        buf_puts(out, separator);
        buf_puts(out, open_location(d, note->span, out) ? ",\"message\":{\"text\":"
                                                        : "{\"message\":{\"text\":");
        put_string(out, note->text);
        buf_puts(out, "}}");
        separator = ",";
    }
    buf_putc(out, ']');
}

static void put_result(const DiagSink *d, const Diag *diag, Buf *out)
{
    const char *level = diag->severity == SEVERITY_WARNING ? "warning"
                        : diag->severity == SEVERITY_NOTE  ? "note"
                                                           : "error";
    const char *help = diag_help_of(diag);

    buf_puts(out, "{\"ruleId\":");
    put_string(out, diag_info[diag->id].slug);
    buf_printf(out, ",\"level\":\"%s\",\"message\":{\"text\":", level);
    put_string(out, help ? arena_printf(d->arena, "%s\nhelp: %s", diag->text, help) : diag->text);
    buf_puts(out, "},\"locations\":[");
    if (open_location(d, diag->span, out))
        buf_putc(out, '}');
    buf_putc(out, ']');
    put_related(d, diag, out);
    buf_putc(out, '}');
}

/// The slugs that were met, in the order of the table.
static void put_rules(const DiagSink *const *sinks, size_t count, Buf *out)
{
    bool met[DIAG_COUNT] = { 0 };
    const char *separator = "";

    for (size_t s = 0; s < count; s++)
        for (uint32_t i = 0; i < sinks[s]->list.len; i++)
            met[sinks[s]->list.at[i]->id] = true;
    for (unsigned id = 0; id < DIAG_COUNT; id++) {
        if (!met[id])
            continue;
        buf_printf(out, "%s\n  {\"id\":", separator);
        put_string(out, diag_info[id].slug);
        buf_puts(out, ",\"fullDescription\":{\"text\":");
        put_string(out, diag_info[id].explain);
        buf_puts(out, "}}");
        separator = ",";
    }
}

void diag_print_sarif(const DiagSink *const *sinks, size_t count, Buf *out)
{
    const char *separator = "\n  ";

    buf_puts(out, "{\"version\":\"2.1.0\",\"runs\":[{\n \"tool\":{\"driver\":{\"name\":\"newtc\","
                  "\"version\":\"" NEWTC_VERSION "\",\"rules\":[");
    put_rules(sinks, count, out);
    buf_puts(out, "]}},\n \"columnKind\":\"unicodeCodePoints\",\n \"results\":[");
    for (size_t s = 0; s < count; s++)
        for (uint32_t i = 0; i < sinks[s]->list.len; i++) {
            buf_puts(out, separator);
            put_result(sinks[s], sinks[s]->list.at[i], out);
            separator = ",\n  ";
        }
    buf_puts(out, "]}]}\n");
}
