// planted.h - what the tests of planted faults share: loading a file of kernels, and checking what is reported.
#ifndef NEWT_TESTS_SIMT_PLANTED_H
#define NEWT_TESTS_SIMT_PLANTED_H
#include "simt.h"

#include <functional>

enum { RIGHT = -1 };

// Two kinds of faults of which one is reported, by the order of the warps.
constexpr int either(int a, int b)
{
    return a | (b + 1) << 8;
}

struct Row {
    const char *kernel;
    unsigned threads;
    int fault;         // RIGHT: none
    const char *says;  // parts of the report, separated by '|'
};

// The kernels of a file of this folder; NULL after printing why not.
SimtModule *planted_load(const char *file);

// Launches the row with seeds 0 ... `seeds` - 1: a fault has to be found in every order of the warps.
void planted_check(const Row &row, unsigned seeds, const std::function<bool(const Row &)> &launch);

#endif
