/// diag_impl.h - what the printers of diag.c share; only diag*.c include it.
#ifndef NEWT_SUPPORT_DIAG_IMPL_H
#define NEWT_SUPPORT_DIAG_IMPL_H
#include "support/diag.h"

void diag_print_text(const DiagSink *d, bool color, Buf *out);
void diag_print_json(const DiagSink *const *sinks, size_t count, Buf *out);
void diag_print_sarif(const DiagSink *const *sinks, size_t count, Buf *out);

/// The one help of a report, NULL without.
const char *diag_help_of(const Diag *diag);

#endif
