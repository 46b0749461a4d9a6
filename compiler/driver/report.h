/// report.h - --emit=report and sass-summary: what a variant costs, in words and numbers.
#ifndef NEWT_DRIVER_REPORT_H
#define NEWT_DRIVER_REPORT_H
#include "driver/job.h"

/// Registers, spills, shared memory and threads of every variant and architecture.
void report_write(const Job *job, const Artifact *art, Buf *out);

#endif
