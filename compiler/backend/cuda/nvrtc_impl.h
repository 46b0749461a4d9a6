/// nvrtc_impl.h - the functions of NVRTC that are used, as the library declares them.
#ifndef NEWT_BACKEND_CUDA_NVRTC_IMPL_H
#define NEWT_BACKEND_CUDA_NVRTC_IMPL_H
#include "backend/cuda/nvrtc.h"

typedef struct NvrtcProgram NvrtcProgram;  // opaque: NVRTC's _nvrtcProgram
enum { NVRTC_OK = 0 };

// NVRTC_FN(member, symbol, arguments): all return a result code, 0 for success.
#define NVRTC_FUNCTIONS(NVRTC_FN)                                                              \
    NVRTC_FN(version, "nvrtcVersion", (int *major, int *minor))                                \
    NVRTC_FN(arch_count, "nvrtcGetNumSupportedArchs", (int *count))                            \
    NVRTC_FN(archs, "nvrtcGetSupportedArchs", (int *archs))                                    \
    NVRTC_FN(create, "nvrtcCreateProgram",                                                     \
             (NvrtcProgram * *program, const char *source, const char *name, int header_count, \
              const char *const *headers, const char *const *include_names))                   \
    NVRTC_FN(destroy, "nvrtcDestroyProgram", (NvrtcProgram * *program))                        \
    NVRTC_FN(compile, "nvrtcCompileProgram",                                                   \
             (NvrtcProgram * program, int count, const char *const *options))                  \
    NVRTC_FN(log_size, "nvrtcGetProgramLogSize", (NvrtcProgram * program, size_t * size))      \
    NVRTC_FN(log, "nvrtcGetProgramLog", (NvrtcProgram * program, char *log))                   \
    NVRTC_FN(cubin_size, "nvrtcGetCUBINSize", (NvrtcProgram * program, size_t * size))         \
    NVRTC_FN(cubin, "nvrtcGetCUBIN", (NvrtcProgram * program, char *cubin))                    \
    NVRTC_FN(ptx_size, "nvrtcGetPTXSize", (NvrtcProgram * program, size_t * size))             \
    NVRTC_FN(ptx, "nvrtcGetPTX", (NvrtcProgram * program, char *ptx))

struct NvrtcApi {
#define NVRTC_FN(member, symbol, args) int(*member) args;
    NVRTC_FUNCTIONS(NVRTC_FN)
#undef NVRTC_FN
};

/// What ptxas's messages say about the only or first kernel.
CudaUsage cuda_read_usage(const char *log);

/// What the library said of itself when it was last loaded, from a file in `dir`. False: nothing is
/// known, or it is another file now.
bool nvrtc_recall(Arena *a, const char *dir, const char *library, Nvrtc *out);
/// Keeps what `n`, which is loaded, says of itself.
void nvrtc_remember(Arena *a, const char *dir, const Nvrtc *n);

#endif
