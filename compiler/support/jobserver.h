/// jobserver.h - make's tokens: make -jN also bounds the threads of the programs that it runs.
///
/// A program may use one thread without asking; for each further one it takes a token and gives the
/// same one back. GNU make hands them out through a pipe that it leaves open (R,W) or through a
/// named one (fifo:PATH); MAKEFLAGS says which.
#ifndef NEWT_SUPPORT_JOBSERVER_H
#define NEWT_SUPPORT_JOBSERVER_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { JOBSERVER_MAX = 256 };

typedef enum JobserverState {
    JOBSERVER_NONE,         ///< no make, or one without -j
    JOBSERVER_UNREACHABLE,  ///< its pipe was closed: the recipe has no + in front
    JOBSERVER_OPEN
} JobserverState;

typedef struct Jobserver {
    int in, out;  ///< the pipe's ends; -1: none
    int wake[2];  ///< a pipe whose writing end jobserver_stop closes
    atomic_bool closed;
    atomic_int takers;                 ///< threads between reading a token and noting it
    atomic_int tokens[JOBSERVER_MAX];  ///< 1 + the token's byte; 0: none
} Jobserver;

/// Finds the pipe that `makeflags` (the variable's value, or NULL) names. Anything but
/// JOBSERVER_OPEN leaves nothing to close.
JobserverState jobserver_open(Jobserver *js, const char *makeflags);

/// Waits for a token and notes it as that of `slot`, which has none yet. False without one when
/// jobserver_stop was called or the pipe is of no use any more.
bool jobserver_take(Jobserver *js, uint32_t slot);
void jobserver_give(Jobserver *js, uint32_t slot);

/// Ends all waiting in jobserver_take, now and later. Once.
void jobserver_stop(Jobserver *js);

/// Gives back every token; none can be taken afterwards. Async-signal-safe.
void jobserver_return_all(Jobserver *js);

/// Gives back every token and closes what was opened.
void jobserver_close(Jobserver *js);

#endif
