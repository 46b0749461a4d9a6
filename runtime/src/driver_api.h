/// The CUDA driver as a table of functions, filled from libcuda.so.1 with dlopen.
///
/// libnewt is built without cuda.h, so the few types and numbers of the driver's ABI that it uses
/// are spelled here. Tests link a newti_driver_load() of their own that fills the table with
/// functions that fail on demand.
#ifndef NEWT_SRC_DRIVER_API_H
#define NEWT_SRC_DRIVER_API_H
#include <newt/newt.h>
#include <stddef.h>
#include <stdint.h>

typedef int CudaResult;
typedef int CudaOrdinal;
typedef struct CUctx_st *CudaContext;
typedef struct CUmod_st *CudaModule;
typedef struct CUlib_st *CudaLibrary;
typedef struct CUkern_st *CudaKernel;
typedef struct CUfunc_st *CudaFunction;
typedef struct CUevent_st *CudaEvent;
typedef unsigned long long CudaAddress;

typedef struct CudaLaunchAttribute {
    int id;
    char pad[4];
    union {
        char bytes[64];
        uint32_t cluster[3];
    } value;
} CudaLaunchAttribute;

typedef struct CudaLaunchConfig {
    unsigned grid_x, grid_y, grid_z;
    unsigned block_x, block_y, block_z;
    unsigned shared;
    NewtStream stream;
    CudaLaunchAttribute *attributes;
    unsigned attribute_count;
} CudaLaunchConfig;

/// A tensor map in the device's own form, a kernel parameter.
typedef struct CudaTensorMap {
    _Alignas(64) unsigned char bytes[128];
} CudaTensorMap;

/// Those CUresults that mean more to libnewt than "failed".
enum {
    CUDA_OK = 0,
    CUDA_OUT_OF_MEMORY = 2,
    CUDA_NOT_INITIALIZED = 3,
    CUDA_STUB_LIBRARY = 34,
    CUDA_DEVICE_UNAVAILABLE = 46,
    CUDA_NO_DEVICE = 100,
    CUDA_INVALID_DEVICE = 101,
    CUDA_INVALID_IMAGE = 200,
    CUDA_NO_BINARY_FOR_GPU = 209,
    CUDA_ECC_UNCORRECTABLE = 214,
    CUDA_INVALID_PTX = 218,
    CUDA_NVLINK_UNCORRECTABLE = 220,
    CUDA_JIT_COMPILER_NOT_FOUND = 221,
    CUDA_UNSUPPORTED_PTX_VERSION = 222,
    CUDA_NOT_READY = 600,
    CUDA_ILLEGAL_ADDRESS = 700,
    CUDA_LAUNCH_OUT_OF_RESOURCES = 701,
    CUDA_LAUNCH_TIMEOUT = 702,
    CUDA_CONTEXT_IS_DESTROYED = 709,
    CUDA_ASSERT = 710,
    CUDA_HARDWARE_STACK_ERROR = 714,
    CUDA_ILLEGAL_INSTRUCTION = 715,
    CUDA_MISALIGNED_ADDRESS = 716,
    CUDA_INVALID_ADDRESS_SPACE = 717,
    CUDA_INVALID_PC = 718,
    CUDA_LAUNCH_FAILED = 719,
    CUDA_SYSTEM_DRIVER_MISMATCH = 803,
    CUDA_CAPTURE_UNSUPPORTED = 900,
    CUDA_CAPTURE_IMPLICIT = 906,
    CUDA_INVALID_CLUSTER_SIZE = 912
};

/// Attributes, options and modes, with the driver's numbers.
enum {
    CUDA_DEVICE_MULTIPROCESSORS = 16,
    CUDA_DEVICE_L2 = 38,
    CUDA_DEVICE_MAJOR = 75,
    CUDA_DEVICE_MINOR = 76,
    CUDA_DEVICE_SHARED_OPTIN = 97,  ///< per block, the system's reserved part already taken off
    CUDA_FUNCTION_SHARED_STATIC = 1,
    CUDA_FUNCTION_SHARED_DYNAMIC_MAX = 8,
    CUDA_FUNCTION_NON_PORTABLE_CLUSTER = 14,
    CUDA_JIT_ERROR_LOG = 5,
    CUDA_JIT_ERROR_LOG_SIZE = 6,
    CUDA_LAUNCH_CLUSTER = 4,
    CUDA_TENSOR_UINT8 = 0,  ///< an element type of tensor maps
    CUDA_TENSOR_UINT16 = 1,
    CUDA_TENSOR_UINT32 = 2,
    CUDA_TENSOR_INT32 = 3,
    CUDA_TENSOR_UINT64 = 4,
    CUDA_TENSOR_INT64 = 5,
    CUDA_TENSOR_FLOAT16 = 6,
    CUDA_TENSOR_FLOAT32 = 7,
    CUDA_TENSOR_FLOAT64 = 8,
    CUDA_TENSOR_BFLOAT16 = 9,
    CUDA_TENSOR_TFLOAT32 = 11,
    CUDA_TENSOR_SWIZZLE_NONE = 0,
    CUDA_TENSOR_SWIZZLE_32 = 1,
    CUDA_TENSOR_SWIZZLE_64 = 2,
    CUDA_TENSOR_SWIZZLE_128 = 3,
    CUDA_TENSOR_PROMOTE_NONE = 0,  ///< a least fetch of the L2
    CUDA_TENSOR_PROMOTE_64 = 1,
    CUDA_TENSOR_PROMOTE_128 = 2,
    CUDA_TENSOR_PROMOTE_256 = 3,
    CUDA_CAPTURE_NONE = 0,  ///< a state of a stream
    CUDA_CAPTURE_MODE_RELAXED = 2
};

typedef struct Driver {
#define DRIVER(need, name, symbol, since, parameters) CudaResult(*name) parameters;
#include "driver_api.def"
#undef DRIVER
} Driver;

/// Fills `driver` from libcuda.so.1 without calling it; the library stays loaded for good.
/// On failure nothing stays loaded: NEWT_NO_DRIVER, NEWT_OLD_DRIVER.
NewtStatus newti_driver_load(Driver *driver);
#endif
