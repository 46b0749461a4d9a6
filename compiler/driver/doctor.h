/// doctor.h - `newtc doctor`: what this machine can do, and a tiny kernel compiled to prove it.
#ifndef NEWT_DRIVER_DOCTOR_H
#define NEWT_DRIVER_DOCTOR_H
#include "driver/options.h"

/// Prints to standard output. 0: everything that is there works; 2: something does not.
int doctor_run(Arena *a, const Options *opt);

#endif
