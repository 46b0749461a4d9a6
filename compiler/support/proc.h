/// proc.h - runs a child process without a shell.
#ifndef NEWT_SUPPORT_PROC_H
#define NEWT_SUPPORT_PROC_H
#include "support/buf.h"
#include <stdbool.h>

/// Runs argv[0] (looked up in PATH) and waits. Standard output and error go to `out` when it is not
/// NULL. Returns the exit status, 128 + signal, or -1 when it could not be started (errno says
/// why).
int proc_run(const char *const argv[], Buf *out);

enum { PROC_LATE = -2 };
/// The same with `out`; a process that writes and lives longer than `seconds` (0: any time is fine)
/// is killed and gives PROC_LATE.
int proc_run_for(const char *const argv[], Buf *out, double seconds);

#endif
