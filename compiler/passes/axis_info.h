/// axis_info.h - what is known of values along each axis: runs, divisors, repeats, ranges.
///
/// The facts hold for every run of the program, wrap-around of integers included; where nothing can
/// be proved they say 1. All counts are powers of two. A pointer's divisibility is in bytes, and a
/// run of pointers is one of neighbouring elements in memory.
#ifndef NEWT_PASSES_AXIS_INFO_H
#define NEWT_PASSES_AXIS_INFO_H
#include "ir/ir.h"

/// Along one axis, with every other coordinate fixed at anything.
typedef struct AxisDim {
    int64_t contiguity;    ///< in each aligned group of so many, element j is the first plus j
    int64_t divisibility;  ///< divides the first element of each such group
    int64_t constancy;     ///< the elements of each aligned group of so many are equal
    int64_t likely;  ///< contiguity if no arithmetic wraps: for choosing layouts, proves nothing
} AxisDim;

typedef struct AxisFacts {
    uint8_t rank;  ///< of the value; `dim` has one entry for a scalar
    AxisDim *dim;
    bool has_range;  ///< integers: every element is in [lo, hi]
    int64_t lo, hi;
    bool from_memory;  ///< depends on something that was loaded
} AxisFacts;

typedef struct AxisInfo AxisInfo;

/// Analyses the whole function. The answers stay true as long as no value's definition changes.
AxisInfo *axis_info_compute(const IrFunc *fn, Arena *a);

/// The facts of a value that existed when the analysis ran.
const AxisFacts *axis_info_of(const AxisInfo *info, const IrValue *v);

static inline int64_t axis_info_contiguity(const AxisInfo *info, const IrValue *v, unsigned axis)
{
    return axis_info_of(info, v)->dim[axis].contiguity;
}

static inline bool axis_info_from_memory(const AxisInfo *info, const IrValue *v)
{
    return axis_info_of(info, v)->from_memory;
}

/// A divisor of the first element of every aligned group of `count` <= contiguity along an axis
/// (pointers: bytes). With count 1: of every element.
int64_t axis_info_divisor(const AxisInfo *info, const IrValue *v, unsigned axis, int64_t count);

/// How many pointers along an axis, at most `most` bytes together, are proved to form pieces of
/// memory everywhere: in each aligned group of so many, element j lies j behind the first, which is
/// a multiple of the piece's size, and `mask` (NULL: none) is one value.
int64_t axis_info_piece(const AxisInfo *info, const IrValue *pointer, const IrValue *mask,
                        unsigned axis, int64_t most);

/// How far neighbours along an axis are apart, modulo the width of the integers (pointers: in
/// elements); false when that is not known from the operations alone.
bool axis_info_step(const IrValue *v, unsigned axis, int64_t *step);

/// True when every element is the same known integer.
bool axis_info_constant(const AxisInfo *info, const IrValue *v, int64_t *out);

#endif
