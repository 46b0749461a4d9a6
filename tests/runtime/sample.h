/// A module written by hand, as newtc would write it: the subject of the launch tests.
#ifndef NEWT_TESTS_SAMPLE_H
#define NEWT_TESTS_SAMPLE_H
#include <newt/module.h>

typedef struct SampleArgs {
    const float *x, *y;
    float *out;
    int64_t n;
} SampleArgs;

enum { SAMPLE_BLOCK = 256 };

/// out = x + y, in programs of SAMPLE_BLOCK elements. Variants "aligned" (pointers and n multiples
/// of 16), "one" (n == 1), "generic"; images sm_80, sm_90a, compute_80.
extern const NewtKernel *const sample_add;

/// As sample_add without a grid expression, with 100 KiB of shared memory, for sm_80 only.
extern const NewtKernel *const sample_big;

/// As sample_add for sm_90a only, in clusters of 16 blocks.
extern const NewtKernel *const sample_cluster;

/// Writes 1 to out[program], counting what ran; scratch of 100 bytes, caller's grid; host only.
extern const NewtKernel *const sample_mark;

/// A kernel of a module with another ABI number.
extern const NewtKernel *const sample_foreign;
#endif
