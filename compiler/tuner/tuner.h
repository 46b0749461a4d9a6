/// tuner.h - newtc tune: searches the configurations of a kernel on a device.
///
/// newtc itself compiles candidates and decides which; a worker process, which is newtc again,
/// loads libnewt and measures them, so that a candidate that crashes or hangs costs one process.
/// What is measured goes into a tuning store at once (runtime/src/tune_store.h).
#ifndef NEWT_TUNER_TUNER_H
#define NEWT_TUNER_TUNER_H
#include "support/arena.h"

/// `newtc tune ...` and, in the process that it starts, `newtc tune --worker ...`. Returns the exit
/// code: 0 tuned; 1 nothing could be chosen, or diagnostics; 2 usage or environment.
int tuner_run(Arena *a, int argc, char **argv);

#endif
