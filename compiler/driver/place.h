/// place.h - where this newtc stands, and what belongs to it there. A moved installation still
/// works.
#ifndef NEWT_DRIVER_PLACE_H
#define NEWT_DRIVER_PLACE_H
#include "support/arena.h"

/// The path of the running program, links followed; NULL where the system does not tell.
const char *place_of_program(Arena *a);
/// The current folder; NULL when it cannot be told.
const char *place_of_work(Arena *a);
/// The folder that holds newt/newt.h: beside the program, as it was installed or built. NULL: it is
/// not there.
const char *place_of_headers(Arena *a);
/// The library that tools load, beside the program in the same way. NULL: where the program stands
/// is not known.
const char *place_of_library(Arena *a);

#endif
