/// report.h - what a compile came to, for people who tune kernels: --emit=report and
/// --emit=sass-summary.
#ifndef NEWT_DRIVER_REPORT_H
#define NEWT_DRIVER_REPORT_H
#include "driver/job.h"

/// One line for each load and store of a variant as it goes to the emitter: how wide it is, and why
/// it is no wider.
void report_accesses(Arena *a, const SourceMap *sources, const IrFunc *fn, Buf *out);

/// Warns of the narrow ones among them that need not be (-Wperf).
void report_narrow_accesses(Arena *a, DiagSink *diags, const IrFunc *fn);

/// What became of a load or store that might be a copy of a tile by a thread of its own.
typedef struct ReportCopy {
    Span span;
    bool is_load;
    ScalarKind elem;
    const char *reason;  ///< why it is none; NULL: it is one
} ReportCopy;
typedef VEC(ReportCopy) ReportCopies;

/// PassCtx.on_copy, for a ReportNotes.
typedef struct ReportNotes {
    Arena *arena;
    ReportCopies copies;
} ReportNotes;
void report_note_copy(void *notes, const IrOp *op, const char *reason);
/// One line for each.
void report_copies(const SourceMap *sources, const ReportCopies *copies, Buf *out);

/// All of it, kernel by kernel: resources, accesses, instructions.
void report_write(Job *job, const Artifact *art, Buf *out);
/// Only the instructions.
void report_write_sass(const Artifact *art, Buf *out);

#endif
