/// archs.h - the --arch list as targets.
#ifndef NEWT_DRIVER_ARCHS_H
#define NEWT_DRIVER_ARCHS_H
#include "backend/cuda/nvrtc.h"
#include "driver/options.h"
#include "target/target.h"

typedef struct Arch {
    const Target *target;
    bool ptx;          ///< "ptx:compute_80": PTX instead of a cubin
    const char *text;  ///< "sm_80", "compute_80": in file names and the header
} Arch;

typedef struct ArchList {
    VEC(Arch) gpu;  ///< in the order given, each once
    bool host;
} ArchList;

/// True when some architecture of the command line, or the default, needs NVRTC.
bool archs_need_nvrtc(const Options *opt);

/// Reads Options.archs (default sm_80, sm_90a, host); `native` asks the driver, `all-major` is the
/// first chip of every generation that NVRTC knows. The default list leaves GPUs out, with a note,
/// where there is no NVRTC. False after printing the reason to standard error (a usage or
/// environment error).
bool archs_read(Arena *a, const Options *opt, const Nvrtc *nvrtc, ArchList *out);

#endif
