/// cache.h - compiled images kept between runs, by the hash of all that they are made from.
///
/// A key covers the CUDA text, the prelude, every option, the architecture, NVRTC's version and
/// newtc's: nothing ever needs to be invalidated. Entries are written whole or not at all and
/// checked when they are read; a damaged one counts as missing. A cache that cannot be used is off,
/// which costs time and nothing else.
#ifndef NEWT_BACKEND_CUDA_CACHE_H
#define NEWT_BACKEND_CUDA_CACHE_H
#include "backend/cuda/nvrtc.h"

typedef struct CudaCache {
    const char *dir;      ///< NULL: off (also the zeroed struct)
    const char *why_off;  ///< when `dir` is NULL after cache_open
} CudaCache;

/// `dir` when given, else $NEWT_CACHE_DIR, $XDG_CACHE_HOME/newt, ~/.cache/newt; made when missing.
void cache_open(CudaCache *c, Arena *a, const char *dir);

/// The image of an equal request that compiled before. False: there is none.
bool cache_find(const CudaCache *c, const Nvrtc *n, const CudaRequest *request, Arena *a,
                CudaImage *out);

/// Keeps an image that compiled; failures are not reported.
void cache_store(const CudaCache *c, const Nvrtc *n, const CudaRequest *request,
                 const CudaImage *image);

/// When all entries together take more than `most` bytes: removes those that were not used for
/// longest, down to three quarters of that, so that the next build does not do it again.
void cache_trim(const CudaCache *c, uint64_t most);
enum { CACHE_MOST_BYTES = 256 << 20 };  ///< what newtc allows

/// Number of entries and their bytes, for `newtc doctor`.
void cache_measure(const CudaCache *c, uint32_t *entries, uint64_t *bytes);

#endif
