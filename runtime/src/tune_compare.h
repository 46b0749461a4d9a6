/// Whether two arrays hold the same results, by the type's tolerance.
#ifndef NEWT_SRC_TUNE_COMPARE_H
#define NEWT_SRC_TUNE_COMPARE_H
#include <newt/newt.h>
#include <stdbool.h>

typedef struct TuneTolerance {
    double rtol, atol;  ///< both 0: by type
} TuneTolerance;

typedef struct TuneMismatch {
    size_t index;
    double got, want;
} TuneMismatch;

/// What is compared. With `poison` elements of `want` whose bytes are all 0xFF are not.
typedef struct TuneComparison {
    NewtType type;
    const void *got, *want;
    size_t bytes;
    bool poison;
    TuneTolerance tolerance;
} TuneComparison;

/// Integers and bools must be equal. Floats must both be NaN, or equal, or within the tolerance.
/// That of a type is relative to |want| and, since sums are added in other orders, to the root mean
/// square of all that is wanted: 1e-9 for F64, 4e-3 for F32 (tf32) and F16, 2e-2 for BF16, 0.13 and
/// 0.25 for the fp8 types. False and the first mismatch in `*at` (may be NULL) otherwise;
/// `*compared` counts elements.
bool newti_tune_equal(const TuneComparison *c, TuneMismatch *at, size_t *compared);

size_t newti_type_size(NewtType type);
#endif
