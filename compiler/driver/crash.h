/// crash.h - what a fault of newtc itself prints: the input, the stage, the exit code 3.
#ifndef NEWT_DRIVER_CRASH_H
#define NEWT_DRIVER_CRASH_H

/// Catches the signals of faults (on a stack of its own, for overflows) and those that interrupt; both
/// remove temporaries. A sanitizer's handlers stay.
void crash_install(void);

/// Names what is done from now on: an input and a stage, as "parsing" or "pass cse". Both must stay
/// valid until the next call.
void crash_stage(const char *input, const char *stage);

#endif
