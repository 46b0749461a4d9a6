/// sass.h - what machine code a kernel became: instructions counted by class, read from the cubin
/// itself.
///
/// A summary answers whether accesses are wide, whether registers spill and whether the matrix
/// units are used, without NVIDIA's tools. Only the low bits of each 128-bit instruction are looked
/// at, which sm_75 to sm_121 share (sass.def).
#ifndef NEWT_BACKEND_CUDA_SASS_H
#define NEWT_BACKEND_CUDA_SASS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum SassOp {
#define SASS(opcode, mnemonic, cls, sized) SASS_OP_##opcode,
#include "backend/cuda/sass.def"
#undef SASS
    SASS_OP_COUNT
} SassOp;

typedef enum {
    SASS_LOAD_GENERIC,
    SASS_LOAD_GLOBAL,
    SASS_LOAD_LOCAL,
    SASS_LOAD_SHARED,
    SASS_STORE_GENERIC,
    SASS_STORE_GLOBAL,
    SASS_STORE_LOCAL,
    SASS_STORE_SHARED,
    SASS_MATRIX_SHARED,  ///< whole matrices between registers and shared memory
    SASS_ASYNC_COPY,     ///< global to shared memory without registers
    SASS_TENSOR_COPY,    ///< by the copy engine
    SASS_ATOMIC,
    SASS_BARRIER,
    SASS_SHUFFLE,
    SASS_MATRIX,
    SASS_SPECIAL,  ///< reciprocals, roots, exponentials, sines
    SASS_FLOAT,
    SASS_PADDING
} SassClass;

typedef struct SassInfo {
    uint16_t opcode;
    const char *mnemonic;
    SassClass cls;
    bool sized;
} SassInfo;
extern const SassInfo sass_info[SASS_OP_COUNT];

enum { SASS_WIDTH_COUNT = 8 };
/// "U8", "S8", "U16", "S16", "32", "64", "128", "256": the widths of sized instructions.
extern const char *const sass_widths[SASS_WIDTH_COUNT];

typedef struct SassSummary {
    uint32_t total;                                   ///< without the padding
    uint32_t count[SASS_OP_COUNT][SASS_WIDTH_COUNT];  ///< width 0 for those that are not sized
} SassSummary;

/// Counts the instructions of one kernel. False when the image is no cubin or has no such kernel.
bool sass_count(const void *cubin, size_t size, const char *kernel, SassSummary *out);

/// All instructions of a class, of every width.
uint32_t sass_class_count(const SassSummary *s, SassClass cls);

#endif
