/// target.h - what the compiler knows about GPU architectures.
///
/// A Target is a row of targets.def. Code asks for features, never compares numbers, so that a new
/// chip is a new row. Rows are constants: comparing addresses compares targets.
#ifndef NEWT_TARGET_TARGET_H
#define NEWT_TARGET_TARGET_H
#include "support/diag.h"

typedef enum {
    TARGET_CP_ASYNC = 1 << 0,     ///< cp.async: global to shared without registers
    TARGET_BF16 = 1 << 1,         ///< cvt and fma of bf16
    TARGET_NAN_MINMAX = 1 << 2,   ///< min.NaN and max.NaN
    TARGET_REDUX = 1 << 3,        ///< redux.sync on integers
    TARGET_CVT_FP8 = 1 << 4,      ///< cvt to and from e4m3 and e5m2
    TARGET_ATOM_BF16 = 1 << 5,    ///< atom.add on bf16
    TARGET_CLUSTER = 1 << 6,      ///< thread block clusters
    TARGET_TMA = 1 << 7,          ///< bulk tensor copies
    TARGET_MBARRIER = 1 << 8,     ///< mbarrier with transaction counts
    TARGET_WGMMA = 1 << 9,        ///< wgmma and setmaxnreg
    TARGET_TCGEN05 = 1 << 10,     ///< tcgen05 and tensor memory
    TARGET_PACKED_F32 = 1 << 11,  ///< add.f32x2 and its like
    TARGET_MMA_AMPERE = 1 << 12,  ///< mma.sync on fp16 and bf16 with K 16, on tf32
    TARGET_MMA_FP8 = 1 << 13,     ///< mma.sync on fp8
    TARGET_STMATRIX = 1 << 14,    ///< stmatrix: the reverse of ldmatrix
    TARGET_MMA_FP64 = 1 << 15     ///< mma.sync on fp64 that is faster than multiplication
} TargetFeature;

enum { TARGET_MAX_THREADS = 1024, TARGET_STATIC_SHARED = 48 * 1024, TARGET_MAX_REGISTERS = 255 };

typedef struct Target {
    const char *name;     ///< "sm_90a": also what -arch of NVRTC takes
    unsigned sm;          ///< compute capability * 10: 90
    unsigned cuda;        ///< first CUDA release that compiles for it, * 10: 120
    char suffix;          ///< 'a', 'f' or 0
    uint32_t shared_max;  ///< bytes of shared memory a block may opt in to
    uint32_t features;    ///< TARGET_... bits
} Target;

/// The row of that name ("sm_90a"), or NULL.
const Target *target_find(const char *name);
/// As target_find; NULL after reporting `unknown-arch` with the nearest name.
const Target *target_get(const char *name, Span span, DiagSink *diags);
/// All rows in order of the table.
const Target *target_list(size_t *count);

static inline bool target_has(const Target *t, TargetFeature f)
{
    return (t->features & f) != 0;
}
/// True for the first chip of a generation (what `all-major` means): sm_75, sm_80, sm_90, sm_100
/// ...
bool target_is_major(const Target *t);
/// Blocks of that many threads, registers a thread and bytes of shared memory that one
/// multiprocessor holds at once; what allows no more of them ("registers") goes to *limit.
unsigned target_occupancy(const Target *t, unsigned threads, unsigned registers, unsigned shared,
                          const char **limit);
/// "compute_90a" for "sm_90a": the architecture of PTX made for it. Writes at most 16 bytes.
void target_ptx_name(const Target *t, char out[16]);

#endif
