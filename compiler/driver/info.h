/// info.h - what newtc says about itself: --version, --help, --print-..., --explain.
#ifndef NEWT_DRIVER_INFO_H
#define NEWT_DRIVER_INFO_H
#include "driver/options.h"

/// Answers an information option. *handled tells whether there was one; returns the exit code.
int info_answer(Arena *a, const Options *opt, bool *handled);

#endif
