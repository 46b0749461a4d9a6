/// cuda.h - the few driver functions that the benchmarks call beside libnewt, found with dlopen.
///
/// libnewt hides the driver; the raw launch that its launches are compared with, and the number of
/// multiprocessors, have to come from the driver itself. No header of CUDA is needed.
#ifndef NEWT_BENCH_CUDA_H
#define NEWT_BENCH_CUDA_H
#include <newt/module.h>

/// Multiprocessors of "cuda:N" (NULL: device 0). Ends the program where there is no driver.
unsigned bench_cuda_processors(const char *device);

/// A kernel of a generated module, loaded and launched without libnewt.
typedef struct BenchRaw BenchRaw;

/// Loads the image of the kernel's first variant for the device of `arch` ("sm_90a"). NULL when the
/// module has none.
BenchRaw *bench_raw_new(const NewtKernel *kernel, const char *device, const char *arch);
/// cuLaunchKernelEx on the default stream; `params` are pointers to the arguments. The CUresult.
int bench_raw_launch(BenchRaw *raw, unsigned programs, void **params);
void bench_raw_free(BenchRaw *raw);

#endif
