/// diag.c - the sink: which reports are kept, at what severity, and which -W options change that.
/// The printers are diag_text.c (what a person reads), diag_json.c and diag_sarif.c.
#include "support/diag_impl.h"
#include <string.h>

void diag_init(DiagSink *d, Arena *a, const SourceMap *sources)
{
    *d = (DiagSink){ .arena = a, .sources = sources, .max_errors = 20 };
    for (unsigned id = 0; id < DIAG_COUNT; id++) {
        bool asked_for = diag_info[id].group != DIAG_GROUP_DEFAULT;
        d->level[id] = asked_for ? SEVERITY_IGNORED : diag_info[id].severity;
    }
}

static void set_group(DiagSink *d, DiagGroup group, bool on)
{
    for (unsigned id = 0; id < DIAG_COUNT; id++) {
        if (diag_info[id].group != group)
            continue;
        if (!on)
            d->level[id] = SEVERITY_IGNORED;
        else if (d->level[id] == SEVERITY_IGNORED)
            d->level[id] = SEVERITY_WARNING;
    }
}

/// "-Wall", "-Wno-perf", ... Groups only hold warnings.
static bool set_group_option(DiagSink *d, const char *name, bool on)
{
    static const struct {
        const char *name;
        DiagGroup group;
    } groups[] = {
        { "all", DIAG_GROUP_ALL },
        { "extra", DIAG_GROUP_EXTRA },
        { "perf", DIAG_GROUP_PERF },
    };

    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        if (strcmp(groups[i].name, name) == 0) {
            set_group(d, groups[i].group, on);
            return true;
        }
    }
    return false;
}

/// "-Werror=SLUG" also switches the warning on, as in other compilers; "-Wno-error=SLUG" does not.
static void set_error(DiagSink *d, DiagId id, bool on)
{
    d->stays_warning[id] = !on;
    if (on)
        d->level[id] = SEVERITY_ERROR;
    else if (d->level[id] == SEVERITY_ERROR)
        d->level[id] = SEVERITY_WARNING;
}

bool diag_set_option(DiagSink *d, const char *option)
{
    bool on = strncmp(option, "no-", 3) != 0;
    const char *name = on ? option : option + 3;

    if (strcmp(name, "error") == 0) {
        d->warnings_are_errors = on;
        return true;
    }
    if (set_group_option(d, name, on))
        return true;
    bool is_error = strncmp(name, "error=", 6) == 0;
    DiagId id = diag_find(is_error ? name + 6 : name);
    if (id == DIAG_COUNT || diag_info[id].severity != SEVERITY_WARNING)
        return false;
    if (is_error)
        set_error(d, id, on);
    else if (!on)
        d->level[id] = SEVERITY_IGNORED;
    else if (d->level[id] == SEVERITY_IGNORED)
        d->level[id] = SEVERITY_WARNING;
    return true;
}

static Severity severity_of(const DiagSink *d, DiagId id)
{
    Severity level = d->level[id];

    if (level != SEVERITY_WARNING)
        return level;
    if (d->no_warnings)
        return SEVERITY_IGNORED;
    return d->warnings_are_errors && !d->stays_warning[id] ? SEVERITY_ERROR : level;
}

static bool is_known(const DiagSink *d, DiagId id, Span span, const char *text)
{
    for (uint32_t i = 0; i < d->list.len; i++) {
        const Diag *old = d->list.at[i];
        if (old->id == id && old->span.lo == span.lo && old->span.hi == span.hi &&
            strcmp(old->text, text) == 0)
            return true;
    }
    return false;
}

static void count(DiagSink *d, Severity severity)
{
    d->warnings += severity == SEVERITY_WARNING;
    d->errors += severity >= SEVERITY_ERROR;
    d->internals += severity == SEVERITY_INTERNAL;
}

void diag_report(DiagSink *d, DiagId id, Span span, const char *format, ...)
{
    Severity severity = severity_of(d, id);
    bool full = d->max_errors && d->errors >= d->max_errors && severity != SEVERITY_INTERNAL;
    va_list args;

    d->current = NULL;
    if (d->muted || severity == SEVERITY_IGNORED)
        return;
    va_start(args, format);
    const char *text = arena_vprintf(d->arena, format, args);
    va_end(args);
    d->met += severity >= SEVERITY_ERROR;
    if (is_known(d, id, span, text))
        return;
    count(d, severity);
    if (full)
        return;
    Diag *diag = ARENA_NEW(d->arena, Diag);
    *diag = (Diag){ .id = id, .severity = severity, .span = span, .text = text };
    VEC_PUSH(d->arena, &d->list, diag);
    d->current = diag;
}

const char *diag_help_of(const Diag *diag)
{
    const DiagNote *note;

    VEC_EACH (note, &diag->notes)
        if (note->is_help)
            return note->text;
    return NULL;
}

void diag_note(DiagSink *d, Span span, const char *format, ...)
{
    va_list args;

    if (!d->current)
        return;
    va_start(args, format);
    DiagNote note = { .span = span, .text = arena_vprintf(d->arena, format, args) };
    va_end(args);
    VEC_PUSH(d->arena, &d->current->notes, note);
}

void diag_help(DiagSink *d, const char *format, ...)
{
    va_list args;

    if (!d->current || diag_help_of(d->current))
        return;
    va_start(args, format);
    DiagNote note = { .is_help = true, .text = arena_vprintf(d->arena, format, args) };
    va_end(args);
    VEC_PUSH(d->arena, &d->current->notes, note);
}

DiagMark diag_mark(const DiagSink *d)
{
    return (DiagMark){ d->list.len, d->errors, d->warnings, d->met, d->internals };
}

const char *diag_only_errors(const DiagSink *d, const DiagMark *mark, DiagId one, DiagId other)
{
    const char *text = NULL;
    for (uint32_t i = mark->len; i < d->list.len; i++) {
        const Diag *diag = d->list.at[i];
        if (diag->severity < SEVERITY_ERROR)
            continue;
        if (diag->id != one && diag->id != other)
            return NULL;
        text = text ? text : diag->text;
    }
    return text;
}

void diag_rollback(DiagSink *d, const DiagMark *mark)
{
    d->list.len = mark->len;
    d->errors = mark->errors;
    d->warnings = mark->warnings;
    d->met = mark->met;
    d->internals = mark->internals;
    d->current = NULL;
}

void diag_print(const DiagSink *d, DiagFormat format, bool color, Buf *out)
{
    diag_print_all(&d, 1, format, color, out);
}

void diag_print_all(const DiagSink *const *sinks, size_t count, DiagFormat format, bool color,
                    Buf *out)
{
    switch (format) {
    case DIAG_TEXT:
        for (size_t i = 0; i < count; i++)
            diag_print_text(sinks[i], color, out);
        return;
    case DIAG_JSON: diag_print_json(sinks, count, out); return;
    case DIAG_SARIF: diag_print_sarif(sinks, count, out); return;
    }
}

const char *diag_did_you_mean(const char *name, const char *const *names, size_t count)
{
    size_t len = strlen(name);
    unsigned best = len < 4 ? 1 : (unsigned)len / 3;
    const char *found = NULL;

    for (size_t i = 0; i < count; i++) {
        unsigned distance = str_distance(name, names[i], best);
        // A name with nothing in common is never meant; of equally near ones the first is taken.
        if (distance > best || distance >= len || (found && distance == best))
            continue;
        best = distance;
        found = names[i];
    }
    return found;
}
