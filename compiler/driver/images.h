/// images.h - compiles the images that the jobs asked for, or takes them from the cache.
#ifndef NEWT_DRIVER_IMAGES_H
#define NEWT_DRIVER_IMAGES_H
#include "backend/cuda/cache.h"
#include "driver/job.h"

/// Fills images[] of every job; NVRTC is loaded when some image is not in the cache. All requests
/// share the threads of -j.
void images_compile(Arena *a, const Options *opt, Nvrtc *nvrtc, const CudaCache *cache, Job *jobs,
                    uint32_t count);

#endif
