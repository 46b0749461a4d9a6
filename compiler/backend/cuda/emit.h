/// emit.h - CUDA C++ from block IR whose values have layouts.
///
/// One kernel, one text. The text is a product: it is indented, keeps the user's names, shows each
/// source line above what it became, has no date and no path but the source's own name, and is the
/// same bytes for the same input. It needs the prelude, which cuda_compile supplies.
#ifndef NEWT_BACKEND_CUDA_EMIT_H
#define NEWT_BACKEND_CUDA_EMIT_H
#include "ir/ir.h"
#include "layout/layout.h"
#include "target/target.h"

typedef enum {
    CUDA_LINES_NONE,
    CUDA_LINES_STATEMENT,  ///< #line once in front of what a source line became
    CUDA_LINES_EXACT       ///< #line wherever the compiler would count on: for -lineinfo
} CudaLines;

typedef struct CudaEmitOptions {
    const char *entry;     ///< C symbol of the kernel
    const char *variant;   ///< what the variant was made for, in the head comment; NULL: nothing
    LayoutTable *layouts;  ///< the one that the function's layouts are from
    const SourceMap *sources;  ///< NULL: no source lines in the text
    CudaLines lines;
    uint32_t max_registers;  ///< a thread's; 0: what the block's size leaves
    uint32_t features;  ///< TARGET_... bits of every chip that the text is for
} CudaEmitOptions;

/// Appends the kernel's text. False after reporting an operation that the backend does not support.
bool cuda_emit(const IrFunc *fn, const CudaEmitOptions *opt, DiagSink *diags, Buf *out);

static inline unsigned cuda_threads(const IrFunc *fn)
{
    return 32u * (fn->num_warps * (fn->teams > 1 ? fn->teams : 1u) + fn->producer_warps);
}

/// False after reporting that a launch would ask for more threads or shared memory than `t` has.
bool cuda_check_limits(const IrFunc *fn, const Target *t, DiagSink *diags);

/// What NVRTC will have to do, and for about how long.
typedef struct CudaEstimate {
    double statements;  ///< of one thread
    double seconds;
    unsigned registers;  ///< that the largest block takes which cannot be made again
} CudaEstimate;
CudaEstimate cuda_estimate(const IrFunc *fn);

/// Warns (slow-compile) of a kernel that NVRTC takes long for. False after reporting that it would
/// take longer than `budget` seconds (0: any time is fine), or that its registers cannot hold a
/// block that they must.
bool cuda_check_time(const IrFunc *fn, double budget, DiagSink *diags);

#endif
