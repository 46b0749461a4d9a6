/// proc.h - runs child processes without a shell. None outlives the thread that started it.
#ifndef NEWT_SUPPORT_PROC_H
#define NEWT_SUPPORT_PROC_H
#include "support/buf.h"
#include <stdbool.h>

/// Runs argv[0] (looked up in PATH) and waits. Standard output and error go to `out` when it is not
/// NULL. Returns the exit status, 128 + signal, or -1 when it could not be started (errno says
/// why).
int proc_run(const char *const argv[], Buf *out);

enum { PROC_LATE = -2 };

/// Starts argv[0] with these descriptors as its standard input, output and error; -1 leaves one as
/// it is. What else is open stays open in it unless it closes on exec. Its id, or -1 (errno).
int proc_spawn(const char *const argv[], int in, int out, int err);
/// Waits for its end: the exit status, 128 + signal, or -1.
int proc_wait(int pid);
/// A pipe that children do not inherit unless it is given to them.
bool proc_pipe(int fds[2]);

/// A child that runs while its starter goes on.
typedef struct Proc {
    int pid;     ///< 0: there is none
    int from;    ///< readable: there is something for proc_step to do
    double end;  ///< when it is late, by CLOCK_MONOTONIC; 0: never
    Buf log;     ///< what it wrote to standard output and error; the caller frees it
} Proc;
/// `seconds` 0: any time is fine. False when it cannot be started (errno).
bool proc_start(Proc *p, const char *const argv[], double seconds);
/// Takes what was written without waiting. True when the process is over, with proc_run's status,
/// or PROC_LATE after killing it.
bool proc_step(Proc *p, int *status);
/// Ends it, if it runs, and forgets its log.
void proc_end(Proc *p);

#endif
