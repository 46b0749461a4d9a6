/// depfile.h - rules for make, as gcc's -M options write them.
#ifndef NEWT_DRIVER_DEPFILE_H
#define NEWT_DRIVER_DEPFILE_H
#include "driver/options.h"

/// `targets: inputs`, names quoted for make, long lines continued; with -MP an empty rule for every
/// input but the first. `inputs` is the source and what it imports.
void depfile_write(const StrList *targets, bool targets_are_quoted, const StrList *inputs,
                   bool phony, Buf *out);

#endif
