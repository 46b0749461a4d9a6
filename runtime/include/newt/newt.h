/// newt/newt.h - load and launch kernels compiled by newtc.  C11 / C++11.
///
/// Needs no CUDA header and no CUDA library at link time: the driver is found with dlopen when
/// the first CUDA device is opened. Every function below may be called from any thread; a
/// handle may be shared between threads, except a NewtTimer, which one thread uses at a time.
/// Nothing here prints (unless NEWT_LOG asks for it), exits, aborts, installs a handler or keeps
/// a thread. Functions that can fail return a NewtStatus and leave their outputs alone when it is
/// not NEWT_OK; newt_last_error() then says in words what went wrong.
/// Sizes are in bytes unless said otherwise; shapes and strides are in elements.
#ifndef NEWT_NEWT_H
#define NEWT_NEWT_H
#include <stddef.h>
#include <stdint.h>
#if defined(__GNUC__)
#define NEWT_NODISCARD __attribute__((warn_unused_result))
#pragma GCC visibility push(default)
#else
#define NEWT_NODISCARD
#endif
#ifdef __cplusplus
extern "C" {
#endif
#define NEWT_VERSION 100 /* 0.1.0; newt_version() gives the library's */
#define NEWT_ABI     3   /* generated modules carry the ABI they were written for */

typedef enum NewtStatus {
    NEWT_OK = 0,
    NEWT_BAD_ARGUMENT = 1,  /* a pointer, size, stride or grid that the kernel cannot take      */
    NEWT_NO_DRIVER = 2,     /* libcuda.so.1 missing, or only the toolkit's stub                 */
    NEWT_OLD_DRIVER = 3,    /* driver lacks a symbol or the PTX version that the module needs   */
    NEWT_NO_DEVICE = 4,     /* no such device, or a device that was lost                        */
    NEWT_NO_IMAGE = 5,      /* the module holds nothing for this device's architecture          */
    NEWT_BAD_IMAGE = 6,     /* damaged, or of another ABI                                       */
    NEWT_TOO_LARGE = 7,     /* grid, shared memory or cluster beyond what the device allows     */
    NEWT_NO_MEMORY = 8,     /* of the device or of the host                                     */
    NEWT_NOT_LOADED = 9,    /* first use inside a stream capture: call <kernel>_preload() before */
    NEWT_UNSUPPORTED = 10,  /* the operation does not exist on this device                      */
    NEWT_KERNEL_FAULT = 11, /* an earlier kernel faulted; the context is gone (CUDA 700 and kin) */
    NEWT_DRIVER_ERROR = 12, /* any other CUresult: newt_last_driver_error()                     */
    NEWT_BAD_FILE = 13,     /* a tuning store that cannot be read, or of another schema         */
    NEWT_WRONG_RESULT = 14  /* tuning: no configuration agreed with the reference               */
} NewtStatus;

/// "NEWT_NO_IMAGE", or "NEWT_?" for a number that is no status; never NULL, never freed.
const char *newt_status_name(NewtStatus status);

/// One sentence on what the status means and what to try; never NULL, never freed.
const char *newt_status_text(NewtStatus status);

/// The text of this thread's last failure: function, argument, value, limit and the CUresult's
/// name; "" if none. A success does not clear it. Valid until this thread's next failing call.
const char *newt_last_error(void);

/// The CUresult behind this thread's last failure; 0 if the driver was not the cause.
int newt_last_driver_error(void);

/// The library's NEWT_VERSION: 10000 * major + 100 * minor + patch.
uint32_t newt_version(void);

typedef struct NewtDevice NewtDevice;   /* one CUDA context, or the host           */
typedef struct CUstream_st *NewtStream; /* the type behind CUstream, cudaStream_t  */
typedef struct NewtGrid {
    uint32_t x, y, z; /* programs along each axis */
} NewtGrid;
typedef struct NewtF16 {
    uint16_t bits;
} NewtF16; /* strong types: no silent conversion      */
typedef struct NewtBf16 {
    uint16_t bits;
} NewtBf16;
typedef struct NewtE4m3 {
    uint8_t bits;
} NewtE4m3;
typedef struct NewtE5m2 {
    uint8_t bits;
} NewtE5m2;
typedef enum NewtType {
    NEWT_I1,
    NEWT_I8,
    NEWT_I16,
    NEWT_I32,
    NEWT_I64,
    NEWT_U8,
    NEWT_U16,
    NEWT_U32,
    NEWT_U64,
    NEWT_F8E4M3,
    NEWT_F8E5M2,
    NEWT_F16,
    NEWT_BF16,
    NEWT_F32,
    NEWT_F64
} NewtType;
typedef struct NewtTensor { /* what a tile kernel takes, by value      */
    void *data;
    NewtType type;
    int32_t rank;
    int64_t shape[5], stride[5]; /* both in elements                        */
} NewtTensor;

/// A dense row-major matrix at `data`: shape [rows, columns], stride [columns, 1]. No checks.
NewtTensor newt_tensor2(void *data, NewtType type, int64_t rows, int64_t columns);

/// The same with `rank` axes (1 to 5), the last one dense. A rank outside of that gives rank 0, which
/// no kernel takes.
NewtTensor newt_tensor(void *data, NewtType type, int32_t rank, const int64_t *shape);

/// Conversions round to nearest, ties to even; beyond the largest finite value they give
/// infinity. A NaN stays a NaN, made quiet, with its sign and as much payload as fits. The
/// conversions to float are exact.
NewtF16 newt_f16(float value);
float newt_f16_to_float(NewtF16 value);
NewtBf16 newt_bf16(float value);
float newt_bf16_to_float(NewtBf16 value);

/// Opens "cuda:N" (retains the primary context of device N, the one that cudart uses), "host"
/// (always works), or, for NULL, what the environment variable NEWT_DEVICE names, else cuda:0
/// where a driver and a device exist, else the host.
///
/// The same context gives the same handle; each open needs its own newt_device_close().
/// Does not change the calling thread's current context.
/// NEWT_BAD_ARGUMENT for any other name, NEWT_NO_DRIVER, NEWT_OLD_DRIVER, NEWT_NO_DEVICE,
/// NEWT_NO_MEMORY, NEWT_DRIVER_ERROR.
NEWT_NODISCARD NewtStatus newt_device_open(const char *name, NewtDevice **out);

/// Adopts the CUDA context that is current on the calling thread, whoever made it; its owner must
/// keep it alive until newt_device_close(). NEWT_NO_DEVICE if no context is current; otherwise as
/// newt_device_open().
NEWT_NODISCARD NewtStatus newt_device_current(NewtDevice **out);

/// Gives back one open of `device`; the last one unloads its modules and releases the context.
/// Work that is still queued on the device must have finished, and no other thread may be using
/// the handle then. NULL is fine.
void newt_device_close(NewtDevice *device);

/// The architecture to compile for to get the most out of the device: "sm_80", "sm_90a"; or "host".
/// Lives as long as the handle; "" for NULL.
const char *newt_device_arch(const NewtDevice *device);

/// The product name that the driver reports ("NVIDIA H200"), or "host". Lives as long as the
/// handle; "" for NULL.
const char *newt_device_name(const NewtDevice *device);

/// 1 if kernels run on the host's processors and pointers are host pointers, else 0.
int newt_device_is_host(const NewtDevice *device);

/// Says where the images of modules are that newtc --embed=file wrote: folders, separated by
/// colons. NULL or "": in the folders that the environment variable NEWT_IMAGE_PATH named when the
/// device was opened, else beside the program or the shared library that the module is part of, as
/// at first. Counts for images that are loaded afterwards, on every device. NEWT_NO_MEMORY.
NEWT_NODISCARD NewtStatus newt_image_path(const char *folders);

/// Allocates `bytes` on `device`, aligned to at least 256; 0 bytes give NULL and NEWT_OK.
/// The memory is not cleared. Free it with newt_free(). NEWT_NO_MEMORY, NEWT_KERNEL_FAULT.
NEWT_NODISCARD NewtStatus newt_alloc(NewtDevice *device, size_t bytes, void **out);

/// Frees what newt_alloc() gave for the same device; NULL is fine. On a CUDA device this waits
/// for the work that is queued there.
void newt_free(NewtDevice *device, void *at);

/// Copies `bytes` between any two addresses that `device` can reach (its own memory and the
/// host's), in the order of `stream`. The ranges must not overlap. On the host the copy is done
/// when the call returns; on a CUDA device a copy from or to pageable host memory may return
/// before it is done: newt_synchronize() before reading the result or reusing `from`.
NEWT_NODISCARD NewtStatus newt_copy(NewtDevice *device, NewtStream stream, void *to,
                                    const void *from, size_t bytes);

/// Waits until everything queued on `stream` (NULL: the default stream) is done. A kernel that
/// faulted since is reported here as NEWT_KERNEL_FAULT. Nothing to do on the host.
NEWT_NODISCARD NewtStatus newt_synchronize(NewtDevice *device, NewtStream stream);

/// Times what runs between two points of a stream, with CUDA events on a GPU and with the
/// monotonic clock on the host. One timer is used by one thread at a time.
typedef struct NewtTimer NewtTimer;

/// Makes a timer for `device`, which must outlive it. NEWT_NO_MEMORY, NEWT_DRIVER_ERROR.
NEWT_NODISCARD NewtStatus newt_timer_new(NewtDevice *device, NewtTimer **out);

/// Marks the beginning, after what is queued on `stream` by now. A second start replaces the first.
NEWT_NODISCARD NewtStatus newt_timer_start(NewtTimer *timer, NewtStream stream);

/// Marks the end, waits until `stream` has reached it and stores the time between the two marks,
/// in microseconds. NEWT_BAD_ARGUMENT if the timer was not started.
NEWT_NODISCARD NewtStatus newt_timer_stop(NewtTimer *timer, NewtStream stream,
                                          double *microseconds);

/// NULL is fine.
void newt_timer_free(NewtTimer *timer);

/// What tuning a kernel gave.
typedef struct NewtTuneResult {
    int config;          ///< index into the kernel's configurations; -1: none
    float microseconds;  ///< its median
    int tried;           ///< configurations that were run now; those that a store knew were not
    int wrong;           ///< gave other results than the reference
    int failed;          ///< crashed, did not end in time, or cannot run on the device
} NewtTuneResult;

/// Results that configurations are compared with, kept from one call to the next.
typedef struct NewtTuneReference NewtTuneReference;

/// How to tune; NULL or zeros: with the defaults.
typedef struct NewtTuneOptions {
    size_t size;        ///< sizeof(NewtTuneOptions), so that the struct can grow
    double seconds;     ///< budget; 0: no limit. The default configuration is always measured
    double rtol, atol;  ///< |got - want| <= atol + rtol * |want|; both 0: by type, see libnewt(3)
    const char *store;  ///< JSON file to read first and to update; NULL: memory only
    /// After each configuration: `done` of `total`, its text, and its median in microseconds; -1
    /// when it was wrong, -2 when it crashed or hung, -3 when the device cannot hold it.
    void (*progress)(void *user, int done, int total, const char *config, float us);
    void *user;
    const size_t *bytes;  ///< sizes of the buffers, one for each pointer parameter in order, 0
                          ///< where unknown; NULL: to the end of each allocation
    double timeout;       ///< seconds that one run may take; 0: 10, or 20 times the reference
    uint64_t seed;        ///< of the order of configurations; 0: as they are listed
    int again;            ///< not 0: measure also what the store knows
    /// Computes the outputs that configurations are compared with, instead of the host: `args` is
    /// the kernel's argument record with copies of the buffers, on `device`.
    NewtStatus (*reference)(void *user, NewtDevice *device, const void *args);
    /// NULL, or where the reference is kept for later calls with the same arguments (also of
    /// another module with the same kernel); holds NULL before the first. Free it in the end.
    NewtTuneReference **kept;
    double best;  ///< microseconds that have to be beaten: what is far slower is measured less
                  ///< exactly; 0: only this call's best counts
} NewtTuneOptions;
void newt_tune_reference_free(NewtTuneReference *reference); /* NULL is fine */

/// Reads a tuning store that newtc tune or <kernel>_tune() wrote: launches on `device` take the
/// best configurations that it names from now on. A store that is missing or damaged has none.
/// NEWT_BAD_FILE if it is of a newer schema, NEWT_NO_MEMORY.
NEWT_NODISCARD NewtStatus newt_tune_load(NewtDevice *device, const char *path);

/// A kernel of a generated module: read-only data written by newtc, described in newt/module.h.
typedef struct NewtKernel NewtKernel;

/// The most parameters that a NewtNodeParams carries: a kernel's, and what libnewt adds to them.
#define NEWT_NODE_PARAMETERS 288

/// One launch as a kernel node of a CUDA graph. Its head is laid out as <cuda.h>'s
/// CUDA_KERNEL_NODE_PARAMS of CUDA 12 and later, which begins as CUDA 11's does:
///
///     NewtNodeParams node;
///     newt_kernel_node_params(vadd_kernel, args, device, NULL, &node);
///     cuGraphAddKernelNode(&added, graph, NULL, 0, (CUDA_KERNEL_NODE_PARAMS *)&node);
///
/// It points into itself: not to be copied. The driver copies the arguments when a node is added.
typedef struct NewtNodeParams {
    struct CUfunc_st *func;
    uint32_t grid[3], block[3];
    uint32_t shared; /* dynamic shared memory, bytes */
    void **params;   /* `parameters` */
    void **extra;
    struct CUkern_st *kern;
    struct CUctx_st *ctx;
    /* the end of CUDA_KERNEL_NODE_PARAMS */
    uint32_t cluster[3]; /* not all 0: to be set with cuGraphKernelNodeSetAttribute */
    void *parameters[NEWT_NODE_PARAMETERS];
    uint32_t programs[3]; /* along x, y, z: a persistent grid is smaller */
    uint8_t maps[2176];   /* tensor maps, from the first multiple of 64 */
} NewtNodeParams;

/// Fills `*out` with what a launch of `kernel` with these arguments would hand to the driver: the
/// variant, the grid, the function, which is loaded as <kernel>_preload() does. Launches nothing.
///
/// `args` holds one pointer per parameter, in the order of the generated function; the values must
/// stay until the node is added or updated. `grid` is NULL exactly when the kernel has its own.
/// The same arguments give the same choice; a node is updated by calling this again.
/// NEWT_BAD_ARGUMENT also for an empty grid, NEWT_UNSUPPORTED on the host, else as a launch.
NEWT_NODISCARD NewtStatus newt_kernel_node_params(const NewtKernel *kernel, void *const args[],
                                                  NewtDevice *device, const NewtGrid *grid,
                                                  NewtNodeParams *out);
#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#endif
