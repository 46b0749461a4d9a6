/// crash.h - what a fault of newtc itself prints: the input, the stage, the exit code 3.
#ifndef NEWT_DRIVER_CRASH_H
#define NEWT_DRIVER_CRASH_H
#include "support/jobserver.h"
#include <stddef.h>

enum { CRASH_STACK = 64 * 1024 };

/// Catches the signals of faults (on the stack `room`, for overflows) and those that interrupt;
/// both remove temporaries and return tokens. A sanitizer's handlers stay. `room` must live as long as the process;
/// CRASH_STACK bytes do.
void crash_install(void *room, size_t size);

/// Names what is done from now on: an input and a stage, as "parsing" or "pass cse". Both must stay
/// valid until the next call.
void crash_stage(const char *input, const char *stage);

/// From now on `jobs`, if not NULL, gets its tokens back however the program ends.
void crash_tokens(Jobserver *jobs);

/// Calls work(at). Meanwhile a thread of its own waits for the signals that interrupt, so that they
/// end the program as they do elsewhere, whatever handlers work() installs: NVRTC does, and they
/// exit with a code of its own. What was installed before stands again afterwards.
void crash_guard(void (*work)(void *at), void *at);

#endif
