/// A device: one CUDA context with what was loaded into it, or the host.
///
/// Handles are interned: a context has one NewtDevice, counted by its opens, in a process-wide
/// registry under one mutex. A device's fields are constant after it was published, except those
/// marked atomic and `modules` and `tuned`, which grow under `load_lock` and are read without it.
#ifndef NEWT_SRC_DEVICE_H
#define NEWT_SRC_DEVICE_H
#include "driver_api.h"
#include "log.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { MODULE_BUCKETS = 64, TUNE_BUCKETS = 16 };

typedef struct LoadedModule LoadedModule;
typedef struct TuneRecord TuneRecord;
typedef struct HostBlock HostBlock;

struct NewtDevice {
    const Driver *driver;  // NULL: the host
    CudaContext context;
    unsigned long long context_id;  // tells a context from an earlier one at the same address; or 0
    CudaOrdinal ordinal;
    int arch;             // 10 * major + minor; 0 on the host
    uint32_t shared_max;  // bytes per block with the opt-in
    uint32_t sms;         // multiprocessors
    unsigned cpus;        // threads that a host launch may use
    unsigned forks;       // of the process that opened it
    Options options;
    char *image_path;  // NEWT_IMAGE_PATH, or NULL
    char label[32];    // "cuda:0", "host": for error texts and logs
    char arch_name[16];
    char name[128];
    char tune_name[128];  // in tuning stores: the GPU, or the processor
    uint64_t tune_hash;   // of it: newti_checksum

    NewtDevice *next;  // in the registry, under its mutex
    unsigned opens;    // likewise
    bool retained;     // the primary context, once; likewise

    _Atomic CudaResult fault;  // the CUresult that lost the context, or CUDA_OK
    pthread_mutex_t load_lock;
    _Atomic(LoadedModule *) modules[MODULE_BUCKETS];
    _Atomic(TuneRecord *) tuned[TUNE_BUCKETS];
    HostBlock *blocks;  // what newt_alloc() gave on the host; under load_lock
};

/// Whether `device` can be used by this process now. `who` is the function or kernel for the text.
/// NEWT_BAD_ARGUMENT for NULL, NEWT_UNSUPPORTED after fork, NEWT_KERNEL_FAULT.
NewtStatus newti_device_check(const NewtDevice *device, const char *who);

/// A malloc'd copy of what newt_image_path() was given; NULL if nothing. NEWT_NO_MEMORY.
NewtStatus newti_image_path_get(char **out);

/// Remembers that the context is lost if `result` says so.
void newti_device_note(NewtDevice *device, CudaResult result);

/// Notes and reports a failed driver call on `device`.
NewtStatus newti_device_fail(NewtDevice *device, CudaResult result, const char *call,
                             const char *who);

/// Makes the device's context current on this thread unless it is; `*pushed` says so and goes to
/// newti_device_leave(). CUDA devices only, after newti_device_check().
NewtStatus newti_device_enter(NewtDevice *device, const char *who, bool *pushed);

/// Undoes newti_device_enter().
void newti_device_leave(NewtDevice *device, bool pushed);
#endif
