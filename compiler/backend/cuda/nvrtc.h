/// nvrtc.h - NVRTC, found and loaded at run time: from CUDA C++ text to cubin or PTX.
///
/// newtc needs no CUDA toolkit to be built, and only libnvrtc and the builtins library beside it to
/// compile for GPUs. Texts may include the prelude ("newt/base.cuh" ...), which is built in. A
/// loaded library may be used by several threads at once; cuda_compile_all does.
#ifndef NEWT_BACKEND_CUDA_NVRTC_H
#define NEWT_BACKEND_CUDA_NVRTC_H
#include "support/jobserver.h"
#include "target/target.h"

/// A place that was tried, in order; what --print-nvrtc lists.
typedef struct NvrtcPlace {
    const char *path;    ///< a file, or a name for the loader to search
    const char *result;  ///< "loaded", or why not
} NvrtcPlace;

typedef struct NvrtcApi NvrtcApi;

typedef struct Nvrtc {
    bool loaded;
    const char *path;  ///< of the library that was loaded
    int major, minor;  ///< its version
    const int *archs;  ///< compute capabilities * 10 it lists
    uint32_t arch_count;
    VEC(NvrtcPlace) places;
    const NvrtcApi *api;  ///< NULL: its facts are remembered, the library is not loaded yet
    const char *memory;   ///< folder for these facts, or NULL
} Nvrtc;

/// Options that say where to look; NULL when not given.
typedef struct NvrtcPaths {
    const char *nvrtc;      ///< --nvrtc: a library or a folder
    const char *cuda_path;  ///< --cuda-path: a toolkit
} NvrtcPaths;

/// Looks in: --nvrtc, $NEWTC_NVRTC, --cuda-path, $CUDA_HOME, $CUDA_PATH, the loader's path,
/// /usr/local/cuda. An option that is given excludes what comes after it. Never NULL: `loaded`
/// tells.
Nvrtc *nvrtc_open(Arena *a, const NvrtcPaths *paths);
/// The same, but a library whose version and chips are remembered in the folder `memory` (NULL:
/// none) is not loaded before nvrtc_load.
Nvrtc *nvrtc_open_lazily(Arena *a, const NvrtcPaths *paths, const char *memory);
/// Loads what nvrtc_open_lazily only remembered. False when that does not work any more.
bool nvrtc_load(Arena *a, Nvrtc *n);

/// False after reporting why code for `t` cannot be made: no library, or one older than the chip.
bool nvrtc_check_target(const Nvrtc *n, const Target *t, Span span, DiagSink *diags);

typedef struct CudaRequest {
    const char *name;  ///< of the text in messages: "vadd.sm_90a.cu"
    const char *source;
    const Target *target;
    bool ptx;          ///< PTX for the target's virtual architecture, not a cubin
    bool line_info;    ///< -lineinfo: paths get into the image, relative ones behind `folder`
    const char *folder;  ///< with line_info: the current folder, for the cache; or NULL
    bool unoptimised;  ///< ptxas -O0
    const char *const *nvrtc_options,
        *const *ptxas_options;  ///< -Xnvrtc, -Xptxas; NULL-terminated, or NULL
} CudaRequest;

/// What ptxas says about a kernel; zeros for PTX.
typedef struct CudaUsage {
    uint32_t registers, stack, spill_stores, spill_loads, shared, barriers;
} CudaUsage;

typedef struct CudaImage {
    bool ok;
    const char *data;  ///< cubin, or PTX text with its NUL (counted in size)
    size_t size;
    const char *log;  ///< NVRTC's and ptxas's messages, "" when none
    CudaUsage usage;
    double seconds;  ///< spent in NVRTC
} CudaImage;

/// Compiles one text; results are in `a`.
CudaImage cuda_compile(const Nvrtc *n, Arena *a, const CudaRequest *request);

/// How many texts are compiled at a time.
typedef struct CudaJobs {
    unsigned threads;
    Jobserver *tokens;  ///< each thread but the caller's works while it has one of make's; NULL: none
} CudaJobs;

/// Compiles `count` texts; images[i] belongs to requests[i].
void cuda_compile_all(const Nvrtc *n, Arena *a, const CudaRequest *requests, CudaImage *images,
                      size_t count, CudaJobs jobs);

/// What ptxas says about one kernel of an image that holds several; zeros when it is not in the
/// log.
CudaUsage cuda_usage_of(const CudaImage *image, const char *entry);

/// Warns that ptxas had to mend how our text uses a warpgroup's matrix instructions, its notes
/// C75xx: right, but slow. Nothing where the user's options make it so.
void cuda_report_mended(const CudaRequest *request, const CudaImage *image, Span span,
                        DiagSink *diags);

/// Reports that NVRTC did not take our text: an internal error, with its messages, unless the user passed options to it.
void cuda_report_rejected(const CudaRequest *request, const CudaImage *image, Span span,
                          DiagSink *diags);

#endif
