/// newt/module.h - what a generated module.c hands to libnewt. Users do not include it.
///
/// A module is read-only data: images (cubin or PTX), and kernels with their parameters, grid
/// expression, variants and host code. It holds no mutable state: what is loaded for a context
/// lives in that context's NewtDevice, keyed by the module's address and id. The generated public
/// functions only fill an argument record and call newt_launch_() or newt_preload_().
/// Any change of a struct below raises NEWT_ABI; libnewt refuses modules of another ABI.
///
///     NewtModuleDesc --> NewtImage[]            one per architecture and kind
///                    --> NewtKernel[] --> NewtParam[]
///                                     --> NewtVariant[] --> NewtPredicate[]   when it may be used
///                                                       --> NewtEntry[]       one per image that
///                                                           has it
///                                                           --> NewtTensorRecipe[]
///
/// A module.c reads, in outline (a static const object may be declared before it is defined):
///
///     static const NewtModuleDesc module;
///     static const NewtKernel kernels[1] = { { .module = &module, .name = "vadd", ... } };
///     static const NewtModuleDesc module = { .abi = NEWT_ABI, ..., .kernels = kernels };
///     const NewtKernel *const vadd_kernel = &kernels[0];
///     NewtStatus vadd(NewtDevice *device, NewtStream stream, const float *x, ..., int64_t n)
///     {
///         const struct VaddArgs args = { x, y, out, n };
///         return newt_launch_(&kernels[0], device, stream, NULL, &args);
///     }
#ifndef NEWT_MODULE_H
#define NEWT_MODULE_H
#include <newt/newt.h>
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

/// A kernel's parameters, and the predicates of one variant: newtc refuses more.
#define NEWT_PARAM_MAX 256

typedef enum NewtImageKind {
    NEWT_IMAGE_CUBIN,  ///< SASS for one architecture
    NEWT_IMAGE_PTX     ///< text, NUL-terminated, for this architecture and later ones
} NewtImageKind;

typedef enum NewtImageSet {
    NEWT_SET_COMMON = 0,  ///< sm_80, compute_80: a cubin also runs on later minors of its major
    NEWT_SET_ACCELERATED = 1,  ///< sm_90a: runs on exactly this architecture
    NEWT_SET_FAMILY = 2        ///< sm_100f: runs on this and later minors of its major
} NewtImageSet;

typedef struct NewtImage {
    NewtImageKind kind;
    NewtImageSet set;
    int32_t arch;        ///< 10 * major + minor: 80, 90, 103
    const void *data;    ///< PTX includes its final NUL; NULL: in a file
    uint64_t size;       ///< bytes of `data`, the NUL counted
    const char *sha256;  ///< of `data`, 64 hexadecimal digits
    const char *file;    ///< its name, without a folder; NULL: in `data`
    uint64_t checksum;   ///< of the file: FNV-1a, 64 bits; PTX has no NUL there
} NewtImage;

typedef enum NewtParamKind { NEWT_PARAM_SCALAR, NEWT_PARAM_POINTER } NewtParamKind;

typedef struct NewtParam {
    const char *name;
    NewtParamKind kind;
    NewtType type;      ///< of the scalar, or of what the pointer points to; I1 is one byte, 0 or 1
    uint32_t offset;    ///< in the argument record; device entries take their parameters from there
    uint32_t size;      ///< bytes there: 8 for a pointer, 1 for I1
    uint32_t is_const;  ///< pointer only: the kernel never writes through it
    uint32_t use;       ///< NEWT_USE_ bits, for the tuner
} NewtParam;

/// What a kernel does through a pointer, and how the tuner prepares the buffer before each run.
enum {
    NEWT_USE_READ = 1,
    NEWT_USE_WRITTEN = 2,
    NEWT_USE_ZEROED = 4,   ///< set to zero
    NEWT_USE_RESTORED = 8  ///< set to what the caller passed, also where nothing is read
};

/// Computes the number of programs along each axis in checked 64-bit arithmetic. libnewt checks
/// the limits, so the values may be anything. Returns NEWT_OK; NEWT_TOO_LARGE if the arithmetic
/// overflowed; NEWT_BAD_ARGUMENT if it cannot be done (a division by zero).
typedef NewtStatus (*NewtGridExpr)(const void *args, int64_t grid[3]);

typedef enum NewtTest {
    NEWT_TEST_ALIGN,     ///< pointer: address is a multiple of `value` bytes, a power of two
    NEWT_TEST_MULTIPLE,  ///< integer: a multiple of `value` > 0; 0 is one
    NEWT_TEST_EQUAL,     ///< integer: == `value`
    NEWT_TEST_FITS_I32,  ///< integer: -2^31 <= it < 2^31; `value` is 0
    NEWT_TEST_RESULT,    ///< the first result of `computed` is `value`
    NEWT_TEST_AT_MOST    ///< integer: <= `value`
} NewtTest;

typedef struct NewtPredicate {
    NewtTest test;
    uint32_t param;  ///< index into the kernel's params
    int64_t value;
    NewtGridExpr computed;  ///< RESULT: a value of @heuristics
} NewtPredicate;

/// Tensor maps of one entry: newtc makes no more.
#define NEWT_TENSOR_MAX      16
#define NEWT_TENSOR_RANK_MAX 5

/// What is fixed of a tensor map (PTX: CUtensorMap, tiled) when it is compiled. Innermost axis
/// first. Neighbours along axis 0 are neighbours in memory, element strides are 1, nothing is
/// interleaved, and what is out of bounds reads as 0.
typedef struct NewtTensorRecipe {
    uint32_t param;      ///< index into the kernel's params: the pointer that is the base
    NewtType type;       ///< of an element; types of one byte are moved as bytes
    uint32_t rank;       ///< 1 to NEWT_TENSOR_RANK_MAX
    uint32_t swizzle;    ///< in shared memory: 0, 32, 64 or 128 bytes
    uint32_t promotion;  ///< what the L2 fetches at least: 0, 64, 128 or 256 bytes
    uint32_t box[NEWT_TENSOR_RANK_MAX];  ///< elements that one copy moves, 1 to 256
    uint32_t tf32;  ///< 1: copies round fp32 elements to the nearest tf32, ties to even; else 0
} NewtTensorRecipe;

/// What the arguments add to it. libnewt checks the values against the rules of tensor maps.
typedef struct NewtTensorShape {
    int64_t size[NEWT_TENSOR_RANK_MAX];    ///< elements
    int64_t stride[NEWT_TENSOR_RANK_MAX];  ///< elements; stride[0] is not read
} NewtTensorShape;

/// Fills one shape for each recipe of the entry, in checked 64-bit arithmetic; `grid` is the number
/// of programs along each axis. Anything but NEWT_OK says that there is none: the entry does not
/// fit these arguments.
typedef NewtStatus (*NewtTensorExpr)(const void *args, const uint32_t grid[3],
                                     NewtTensorShape *shapes);

/// The device function of one variant in one image. Its parameters are those of the kernel, all
/// of them and in the same order, also the ones whose value the variant folded; an int64_t that the
/// variant's predicates bound to 32 bits may be an int32_t there: its low half. Then, if any, its
/// tensor maps, 128 bytes each at 64-byte alignment; then, of a persistent grid, three uint32_t:
/// the number of programs along x, y and z.
typedef struct NewtEntry {
    const char *symbol;      ///< as in the image
    uint32_t image;          ///< index into the module's images
    uint32_t threads;        ///< per block: 32 * warps
    uint32_t shared;         ///< dynamic shared memory, bytes
    uint32_t shared_static;  ///< bytes; 0 for PTX, where the driver decides
    uint32_t registers;      ///< per thread, for reports; 0: unknown (PTX)
    uint32_t spills;         ///< bytes per thread, for reports
    uint32_t cluster[3];  ///< blocks per cluster, as a launch attribute; all 0: no cluster, or one
                          ///< that the image itself requires
    uint32_t tensor_count;            ///< at most NEWT_TENSOR_MAX
    const NewtTensorRecipe *tensors;  ///< NULL: none
    NewtTensorExpr tensor_expr;       ///< NULL: none
    uint32_t
        blocks_per_sm;  ///< 0: a block for each program; else a persistent grid, along x alone:
                        ///< at most so many blocks for each multiprocessor share the programs
} NewtEntry;

/// One call of a host kernel runs one program.
typedef struct NewtHostProgram {
    int32_t id[3];    ///< program_id(0..2)
    int32_t grid[3];  ///< num_programs(0..2)
    void *scratch;  ///< the variant's host_scratch bytes at 64-byte alignment, this thread's alone,
                    ///< contents undefined at entry; NULL if host_scratch is 0
} NewtHostProgram;

/// Runs program `program->id` with the argument record `args`. Called from several threads at
/// once for different programs of a launch, in no particular order.
typedef void (*NewtHostEntry)(const void *args, const NewtHostProgram *program);

/// Variants compute the same results. A launch takes, of the configuration that it runs, the first
/// one whose predicates all hold and that has an entry for the device which fits the arguments:
/// whose tensor maps can be made, and whose persistent grid has less than 2^31 programs. So the
/// most special stand first; the last has no predicates and no such entry.
typedef struct NewtVariant {
    const char *name;  ///< for logs and tools: "x:16 y:16 n:1" or "generic"
    const NewtPredicate *predicates;
    const NewtEntry *entries;  ///< at most one per image
    uint32_t predicate_count;
    uint32_t entry_count;
    NewtGridExpr grid;      ///< NULL: the caller passes the grid
    NewtHostEntry host;     ///< NULL: not compiled for the host
    uint64_t host_scratch;  ///< bytes
} NewtVariant;

/// A configuration of an autotuned kernel: values of its constexprs, warps and stages. All compute
/// the same results.
typedef struct NewtConfig {
    const char *name;  ///< "M64_N64_W4_S3"
    const char *text;  ///< "BLOCK_M=64 BLOCK_N=64 num_warps=4 num_stages=3"
    uint32_t first_variant;
    uint32_t variant_count;
} NewtConfig;

/// What the build knew of a shape class: `config` was fastest there.
typedef struct NewtTuned {
    uint64_t gpu;  ///< of its name, or the processor's: FNV-1a in 64 bits
    int32_t arch;  ///< as in NewtImage; 0: the host
    uint32_t config;
    const int64_t *values;  ///< of the keys, in their order
} NewtTuned;

/// The configurations of a kernel, which share its variants out among them in order.
typedef struct NewtTuning {
    const NewtConfig *configs;
    const uint32_t *keys;  ///< indices of the parameters whose values make the shape class
    uint32_t config_count;
    uint32_t key_count;
    uint32_t default_config;
    const NewtTuned *tuned;
    uint32_t tuned_count;
} NewtTuning;

typedef struct NewtModuleDesc NewtModuleDesc;

struct NewtKernel {
    const NewtModuleDesc *module;
    const char *name;
    const char *location;  ///< "vadd.newt:7"
    const NewtParam
        *params;  ///< those that device functions take, then those that only predicates read
    const NewtVariant *variants;
    uint32_t param_count;
    uint32_t variant_count;
    const NewtTuning *tuning;           ///< NULL: one configuration, without a name
    const struct NewtBinding *binding;  ///< NULL: C passes the parameters themselves, not tensors
};

struct NewtModuleDesc {
    uint32_t abi;  ///< NEWT_ABI of the newt.h it was written for; always first
    uint32_t image_count;
    uint32_t kernel_count;
    uint64_t id;                ///< differs whenever anything else here does: bits of a SHA-256
    const char *name;           ///< "vadd.newt"
    const char *source_sha256;  ///< of the source file, 64 hexadecimal digits
    const NewtImage *images;
    const NewtKernel *kernels;
};

/// What a tile kernel asks of one of the tensors that its C function takes.
typedef struct NewtTensorRule {
    const char *name;
    NewtType type;
    int32_t rank;                        ///< 1 to NEWT_TENSOR_RANK_MAX
    int32_t dense_axis;                  ///< the axis whose stride must be 1; -1: none
    uint32_t is_written;                 ///< 0: the kernel only reads it
    int64_t size[NEWT_TENSOR_RANK_MAX];  ///< what an axis must be; -1: anything
} NewtTensorRule;

/// Two sizes that a launch compares.
typedef struct NewtSizeRule {
    const char *name;   ///< "K", as the kernel's source names both; NULL: they have no name
    uint32_t is_equal;  ///< 0: the first is at most the second
    uint32_t tensor[2], axis[2];
} NewtSizeRule;

typedef enum NewtFillKind {
    NEWT_FILL_DATA,
    NEWT_FILL_SIZE,
    NEWT_FILL_STRIDE,
    NEWT_FILL_REACH  ///< above every size, stride and offset of all tensors, and 2^20 more
} NewtFillKind;

/// A member of the argument record that comes from a tensor: a pointer, or an int64_t.
typedef struct NewtFill {
    NewtFillKind kind;
    uint32_t offset;
    uint32_t tensor, axis;
} NewtFill;

/// How the tensors of a tile kernel's C function become its argument record.
typedef struct NewtBinding {
    const NewtKernel *kernel;
    const NewtTensorRule *tensors;
    const NewtSizeRule *rules;
    const NewtFill *fills;
    uint32_t tensor_count, rule_count, fill_count;
} NewtBinding;

/// How many multiprocessors a GPU has; of the host, how many processors there are to run on.
uint32_t newt_device_processors_(const NewtDevice *device);

/// Checks `tensors` by the binding's rules and fills the members of the argument record `args` that
/// come from them. NEWT_BAD_ARGUMENT, with both values and their names in newt_last_error(), when
/// the kernel cannot take them, or `tensors` is NULL; NEWT_TOO_LARGE when an offset does not fit 62
/// bits. Thread-safe.
NEWT_NODISCARD NewtStatus newt_bind_(const NewtBinding *binding, const NewtDevice *device,
                                     const NewtTensor *tensors, void *args);

/// Launches `kernel` on `stream` of `device`; `args` is its argument record, read before the call
/// returns. `grid` is NULL exactly when the kernel's variants have a grid expression.
///
/// Returns once the work is queued (on the host: once it is done). A zero along any axis is
/// NEWT_OK and launches nothing. The first launch on a device loads the image; inside a stream
/// capture that is refused with NEWT_NOT_LOADED and the capture stays valid. Thread-safe.
NEWT_NODISCARD NewtStatus newt_launch_(const NewtKernel *kernel, NewtDevice *device,
                                       NewtStream stream, const NewtGrid *grid, const void *args);

/// The same with configuration `config` of an autotuned kernel; -1 is newt_launch_(): the one that
/// newt_choose_() gives, and where the device cannot run it the default, then the others in order.
/// NEWT_BAD_ARGUMENT for a number that no configuration has.
NEWT_NODISCARD NewtStatus newt_launch_config_(const NewtKernel *kernel, NewtDevice *device,
                                              NewtStream stream, int config, const NewtGrid *grid,
                                              const void *args);

/// The configuration that newt_launch_() would begin with: the tuned one for the device and the
/// shape class of `args`, else the default.
NEWT_NODISCARD NewtStatus newt_choose_(const NewtKernel *kernel, NewtDevice *device,
                                       const void *args, int *config);

/// The text of a configuration; NULL for a number that none has.
const char *newt_config_text_(const NewtKernel *kernel, int config);

/// Tunes `kernel` for `device` and the shape class of `args`, as <kernel>_tune(): see newt.h for
/// the options. `grid` is NULL exactly when the kernel has a grid expression.
///
/// Every configuration runs on copies of the buffers, outputs poisoned; what it writes is compared
/// with the host's result before it is timed. One that is wrong, crashes or does not end is named
/// in the log and the store and never chosen. On the host device configurations run in child
/// processes; on a GPU one that crashes takes the context along (NEWT_KERNEL_FAULT): with a store
/// the next process goes on behind it. NEWT_WRONG_RESULT if none was right; NEWT_BAD_ARGUMENT for a
/// buffer whose size nobody knows. Thread-safe; not inside a stream capture.
NEWT_NODISCARD NewtStatus newt_tune_(const NewtKernel *kernel, NewtDevice *device,
                                     const NewtGrid *grid, const void *args,
                                     const NewtTuneOptions *options, NewtTuneResult *result);

/// Loads one configuration; -1: all that `device` can hold.
NEWT_NODISCARD NewtStatus newt_preload_config_(const NewtKernel *kernel, NewtDevice *device,
                                               int config);

/// Loads every variant of `kernel` that has an entry for `device`, so that no later launch does.
/// NEWT_NO_IMAGE if there is none. Nothing to do on the host. Thread-safe.
NEWT_NODISCARD NewtStatus newt_preload_(const NewtKernel *kernel, NewtDevice *device);

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#endif
