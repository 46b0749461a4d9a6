/// messages.h - what a compile says: the diagnostics of all inputs as one text, and times.
#ifndef NEWT_DRIVER_MESSAGES_H
#define NEWT_DRIVER_MESSAGES_H
#include "driver/job.h"

/// Prints the diagnostics of all jobs to standard error or -fdiagnostics-file. False when that
/// cannot be written.
bool messages_print(const Job *jobs, uint32_t count);
/// -ftime-report, to standard error.
void messages_print_times(const Job *jobs, uint32_t count, TimeReport form);

#endif
