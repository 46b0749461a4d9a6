/// A CUDA driver that runs nothing, counts what it gave out, and fails on demand.
///
/// Linked instead of runtime/src/driver_api.c. One device by default; its memory is malloc's, its
/// images are recognised by their text, its streams are what the test says they are.
#ifndef NEWT_TESTS_FAKE_DRIVER_H
#define NEWT_TESTS_FAKE_DRIVER_H
#include "driver_api.h"
#include <stdatomic.h>
#include <stdbool.h>

enum { FAKE_SMS = 6 };

/// The arguments of a cuTensorMapEncodeTiled; the fake's tensor map is these.
typedef struct FakeEncode {
    int type;
    uint32_t rank;
    const void *base;
    uint64_t sizes[5], strides[4];
    int swizzle, promotion;
    uint8_t box_less_one[5];  // 256 is a side
} FakeEncode;

typedef struct FakeDriver {
    // What the test sets.
    int fail_at;            // the call that fails, from 1; 0: none
    const char *fail_name;  // or every call of this name; NULL: none
    CudaResult fail_result;
    NewtStatus load_status;  // of newti_driver_load; NEWT_OK: a driver is there
    bool is_old;             // no optional functions
    int device_count;
    int major, minor;
    int shared_static;  // of each function
    int capture_state;  // of each stream
    CudaContext stream_context;
    CudaResult query;       // what cuStreamQuery gives
    // What a launch does to memory, and how long it takes; NULL: nothing, and 1.5 ms.
    void (*run)(const char *symbol, void **parameters, const unsigned grid[3], float *milliseconds);
    char jit_log[64];       // what loading writes to the error log when it fails
    int map_at, map_count;  // which parameters of a launch are tensor maps
    int grid_at;            // the first of the three that are the true grid; 0: none

    // What the driver did.
    atomic_int calls;
    char failed[48];  // the call that failed last
    atomic_int retained, images, functions_loaded, allocations, events;
    atomic_int loads, launches, synchronizations;
    char image[16];   // the first bytes of the last one loaded
    char symbol[64];  // of the last launch
    unsigned grid[3], threads, shared, cluster[3];
    int shared_opt_in;      // dynamic bytes asked for; -1: none
    void *parameters[4];    // the first ones
    FakeEncode encoded[4];  // what the tensor maps of the last launch were made of
    unsigned true_grid[3];  // as its parameters say
} FakeDriver;

extern FakeDriver fake;

/// Of this thread, as in CUDA: the current context, and how many pushes were not popped.
extern _Thread_local CudaContext fake_current;
extern _Thread_local int fake_pushed;

/// One device of architecture 8.0 with everything in place; forgets all counts.
void fake_reset(void);

/// The context that a primary retain gives, and another one.
extern const CudaContext fake_primary, fake_other;
#endif
