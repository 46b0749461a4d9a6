/// diag_text.c - diagnostics as a person reads them: header line, source line, caret range.
///
///     add.newt:3:9: error: undefined name 'z' [undefined-name]
///         3 |     y = z + 1
///           |         ^
///
/// The header's column counts bytes; carets stand under display cells: a code point is one cell,
/// a tab reaches to the next multiple of eight. A line wider than a screen is shown around the
/// carets only, so that a generated file of one line cannot flood the terminal.
#include "support/diag_impl.h"
#include <string.h>

enum { TAB_WIDTH = 8, SHOWN_WIDTH = 200, MESSAGE_PART = 400 };

typedef struct {
    const char *bold, *note, *warning, *error, *caret, *reset;
} Palette;

static const Palette plain = { "", "", "", "", "", "" };
static const Palette colored = { "\033[1m",    "\033[1;36m", "\033[1;35m",
                                 "\033[1;31m", "\033[1;32m", "\033[0m" };

typedef struct {
    const DiagSink *sink;
    const Palette *palette;
    Buf *out;
} TextPrinter;

static const char *severity_word(Severity severity)
{
    switch (severity) {
    case SEVERITY_NOTE: return "note";
    case SEVERITY_WARNING: return "warning";
    case SEVERITY_INTERNAL: return "internal error";
    case SEVERITY_IGNORED:
    case SEVERITY_ERROR: break;
    }
    return "error";
}

static const char *severity_color(const Palette *p, Severity severity)
{
    return severity == SEVERITY_NOTE      ? p->note
           : severity == SEVERITY_WARNING ? p->warning
                                          : p->error;
}

/// A message may quote the user's bytes: control characters must not reach the terminal.
static void print_bytes(Buf *out, const char *at, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)at[i];
        bool is_control = (c < ' ' && c != '\n' && c != '\t') || c == 0x7f;
        buf_bytes(out, is_control ? "?" : at + i, 1);
    }
}

/// A name may be as long as a file: the middle of a very long line of a message is left out.
static void print_message(Buf *out, const char *text)
{
    for (size_t len; *text; text += len) {
        len = strcspn(text, "\n");
        if (len > (size_t)2 * MESSAGE_PART) {
            print_bytes(out, text, MESSAGE_PART);
            buf_puts(out, " ... ");
            print_bytes(out, text + len - MESSAGE_PART, MESSAGE_PART);
        } else {
            print_bytes(out, text, len);
        }
        if (text[len]) {
            buf_putc(out, '\n');
            len++;
        }
    }
}

/// Bytes and cells that the character at `line.at[i]` takes when it begins in cell `cell`.
static unsigned char_cells(Str line, uint32_t i, uint32_t cell, unsigned *size)
{
    *size = 1;
    if (line.at[i] == '\t')
        return TAB_WIDTH - cell % TAB_WIDTH;
    str_decode_utf8(line.at + i, line.len - i, size);
    return 1;
}

/// The cell in which byte `byte` of the line begins; bytes behind the end take one cell each.
static uint32_t cell_of(Str line, uint32_t byte)
{
    uint32_t cell = 0, i = 0;
    unsigned size;

    for (; i < line.len && i < byte; i += size)
        cell += char_cells(line, i, cell, &size);
    return i < byte ? cell + (byte - i) : cell;
}

/// The characters in cells [first, last), tabs as spaces, what is no text as U+FFFD.
static void print_cells(Buf *out, Str line, uint32_t first, uint32_t last)
{
    uint32_t cell = 0;
    unsigned size;

    for (uint32_t i = 0; i < line.len && cell < last; i += size) {
        unsigned cells = char_cells(line, i, cell, &size);
        unsigned char c = (unsigned char)line.at[i];
        for (unsigned n = 0; n < cells; n++, cell++) {
            if (cell < first || cell >= last)
                continue;
            if (c == '\t')
                buf_putc(out, ' ');
            else if (c < ' ' || c == 0x7f || (c >= 0x80 && size == 1))
                buf_puts(out, "\xef\xbf\xbd");
            else
                buf_bytes(out, line.at + i, size);
        }
    }
}

static void print_repeated(Buf *out, char c, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        buf_putc(out, c);
}

/// The part of the line around cell `begin` that is shown, in *first and *last.
static void choose_window(uint32_t width, uint32_t begin, uint32_t *first, uint32_t *last)
{
    *first = 0;
    *last = width;
    if (width <= SHOWN_WIDTH)
        return;
    *first = begin > SHOWN_WIDTH / 2 ? begin - SHOWN_WIDTH / 2 : 0;
    if (*first > width - SHOWN_WIDTH)
        *first = width - SHOWN_WIDTH;
    *last = *first + SHOWN_WIDTH;
}

static void print_excerpt(const TextPrinter *p, SourcePos at, Span span)
{
    Str line = source_line(at.file, at.line);
    uint32_t length = span.hi > span.lo ? span.hi - span.lo : 1;
    uint32_t from = at.column - 1, first, last;

    if (line.len && line.at[line.len - 1] == '\r')
        line.len--;
    uint32_t room = line.len > from ? line.len - from : 1;  // a range ends with its first line
    uint32_t begin = cell_of(line, from);
    uint32_t end = cell_of(line, from + (length < room ? length : room));
    choose_window(cell_of(line, line.len), begin, &first, &last);
    const char *before = first ? "..." : "";

    buf_printf(p->out, "%5u | %s", (unsigned)at.line, before);
    print_cells(p->out, line, first, last);
    buf_puts(p->out, last < cell_of(line, line.len) ? "...\n" : "\n");

    buf_puts(p->out, "      | ");
    print_repeated(p->out, ' ', (uint32_t)strlen(before) + begin - first);
    buf_puts(p->out, p->palette->caret);
    buf_putc(p->out, '^');
    end = end < last ? end : last;
    print_repeated(p->out, '~', end > begin + 1 ? end - begin - 1 : 0);
    buf_printf(p->out, "%s\n", p->palette->reset);
}

static void print_entry(const TextPrinter *p, Severity severity, Span span, const char *text,
                        const char *slug)
{
    const Palette *colors = p->palette;
    SourcePos at = source_pos(p->sink->sources, span.lo);

    buf_puts(p->out, colors->bold);
    if (at.file)
        buf_printf(p->out, "%s:%u:%u: ", at.file->path, (unsigned)at.line, (unsigned)at.column);
    else if (slug)  // a note without a place speaks of the report above it
        buf_puts(p->out, "newtc: ");
    buf_printf(p->out, "%s%s%s: %s", colors->reset, severity_color(colors, severity),
               severity_word(severity), colors->reset);
    print_message(p->out, text);
    if (slug)
        buf_printf(p->out, " [%s]", slug);
    buf_putc(p->out, '\n');
    if (at.file)
        print_excerpt(p, at, span);
}

static void print_diag(const TextPrinter *p, const Diag *diag)
{
    const char *help = diag_help_of(diag);
    const DiagNote *note;

    print_entry(p, diag->severity, diag->span, diag->text, diag_info[diag->id].slug);
    VEC_EACH (note, &diag->notes)
        if (!note->is_help)
            print_entry(p, SEVERITY_NOTE, note->span, note->text, NULL);
    if (help) {
        buf_printf(p->out, "%shelp: %s", p->palette->note, p->palette->reset);
        print_message(p->out, help);
        buf_putc(p->out, '\n');
    }
}

void diag_print_text(const DiagSink *d, bool color, Buf *out)
{
    TextPrinter p = { d, color ? &colored : &plain, out };

    for (uint32_t i = 0; i < d->list.len; i++)
        print_diag(&p, d->list.at[i]);
    if (d->max_errors && d->errors > d->max_errors)
        buf_printf(out, "%snewtc: %s%serror: %stoo many errors; stopping after %u [-fmax-errors]\n",
                   p.palette->bold, p.palette->reset, p.palette->error, p.palette->reset,
                   d->max_errors);
}
