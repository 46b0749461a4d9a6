/// diag.h - diagnostics: collected during a compile, printed sorted as they came, many per run.
///
/// Form: `path:line:col: error: message [slug]`, the source line, a caret range, then notes with
/// places of their own and at most one help line. Messages are lower case, without a final stop,
/// the user's names in single quotes. Each slug is a row of diags.def; -W, -Werror=, --explain
/// and the tests read that table.
#ifndef NEWT_SUPPORT_DIAG_H
#define NEWT_SUPPORT_DIAG_H
#include "support/buf.h"
#include "support/source.h"
#include <stdbool.h>
#include <stdio.h>

typedef enum DiagId {
#define DIAG(ID, slug, severity, group, explain) DIAG_##ID,
#include "support/diags.def"
#undef DIAG
    DIAG_COUNT
} DiagId;

typedef enum {
    SEVERITY_IGNORED,
    SEVERITY_NOTE,
    SEVERITY_WARNING,
    SEVERITY_ERROR,
    SEVERITY_INTERNAL
} Severity;

/// Where a warning belongs: always on, in -Wall, in -Wextra, in -Wperf.
typedef enum { DIAG_GROUP_DEFAULT, DIAG_GROUP_ALL, DIAG_GROUP_EXTRA, DIAG_GROUP_PERF } DiagGroup;

typedef struct DiagInfo {
    const char *slug;
    Severity severity;
    DiagGroup group;
    const char *explain;  ///< one paragraph for --explain
} DiagInfo;
extern const DiagInfo diag_info[DIAG_COUNT];

typedef struct DiagNote {
    bool is_help;
    Span span;  ///< {0, 0}: no place
    const char *text;
} DiagNote;

typedef struct Diag {
    DiagId id;
    Severity severity;
    Span span;
    const char *text;
    VEC(DiagNote) notes;
} Diag;

typedef enum { DIAG_TEXT, DIAG_JSON, DIAG_SARIF } DiagFormat;

typedef struct DiagSink {
    Arena *arena;
    const SourceMap *sources;
    VEC(Diag *) list;
    Severity level[DIAG_COUNT];      ///< after -W options; set by diag_init
    unsigned errors, warnings;       ///< what was reported (also beyond the limit)
    unsigned met;                    ///< errors met, also those that had been reported before
    unsigned max_errors;             ///< 0: no limit; the default is 20
    unsigned internals;              ///< how many of the errors are faults of ours (exit code 3)
    bool muted;                      ///< reports count nothing and are dropped (speculative checks)
    bool no_warnings;                ///< -w
    bool warnings_are_errors;        ///< -Werror
    bool stays_warning[DIAG_COUNT];  ///< -Wno-error=SLUG
    Diag *current;  ///< takes notes and help; NULL when the last report was dropped
} DiagSink;

/// Default levels; the sink then owns nothing but what it puts into the arena.
void diag_init(DiagSink *d, Arena *a, const SourceMap *sources);

/// Applies one -W option without its leading "-W" ("all", "no-shift-count", "error=SLUG", "error").
/// Later options win, but -Wno-error=SLUG holds against any -Werror. False when the slug is
/// unknown or is not a warning's.
bool diag_set_option(DiagSink *d, const char *option);

/// Reports at `span`. Notes and help that follow belong to it. An identical report (id, span,
/// text) is dropped with its notes: inlining and variants may meet one fault several times.
/// So is what comes after max_errors errors, except for internal errors; the errors among it count.
void diag_report(DiagSink *d, DiagId id, Span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void diag_note(DiagSink *d, Span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/// The one way out that is known; a second help of the same report is ignored.
void diag_help(DiagSink *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

/// Where an attempt began whose reports may be taken back.
typedef struct DiagMark {
    uint32_t len;
    unsigned errors, warnings, met, internals;
} DiagMark;
DiagMark diag_mark(const DiagSink *d);
/// The text of the first error since the mark when all of them are `one` or `other`; else NULL.
const char *diag_only_errors(const DiagSink *d, const DiagMark *mark, DiagId one, DiagId other);
/// Forgets what was reported since.
void diag_rollback(DiagSink *d, const DiagMark *mark);

static inline unsigned diag_error_count(const DiagSink *d)
{
    return d->errors;
}

/// How often an error was met, repeats of what is reported counted too: whoever lowers one function
/// twice asks this whether the second time went well.
static inline unsigned diag_error_met(const DiagSink *d)
{
    return d->met;
}

/// Prints everything collected: text form (with colour when `color`), or JSON/SARIF as the only
/// output. Nothing collected is no text, an empty JSON array, or a SARIF run without results.
/// Columns count bytes in the text form and in JSON, code points in SARIF; endColumn is the
/// column behind the last one.
void diag_print(const DiagSink *d, DiagFormat format, bool color, Buf *out);
/// The same for the sinks of several inputs: still one array or one run.
void diag_print_all(const DiagSink *const *sinks, size_t count, DiagFormat format, bool color,
                    Buf *out);

/// The nearest of `names` to `name` when it is near enough to be meant, else NULL.
const char *diag_did_you_mean(const char *name, const char *const *names, size_t count);

/// The id for a slug, or DIAG_COUNT.
DiagId diag_find(const char *slug);

#endif
