/// simt.h - the SIMT emulator for tests: runs device code on the CPU, reports its faults, counts its work.
///
/// One launch at a time, on one thread of the host. A launch's programs, or clusters of them, run one after another in
/// random order, the warps of those by turns in random order; the seed decides all of it.
#ifndef NEWT_TESTS_SIMT_H
#define NEWT_TESTS_SIMT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SIMT_MAX_THREADS = 1024, SIMT_MAX_SHARED = 227 * 1024, SIMT_MAX_CLUSTER = 8, SIMT_MAX_TOGETHER = 2048, SIMT_WIDTHS = 5 };

/// What a launch did; sums over its warps.
typedef struct SimtCounts {
    uint64_t programs;
    uint64_t barriers;               ///< completed, of whole programs
    uint64_t warp_exchanges;         ///< shuffles and votes, one a warp
    uint64_t atomics;                ///< lanes
    uint64_t loads[SIMT_WIDTHS];     ///< lanes that read 1, 2, 4, 8, 16 bytes of global memory at once
    uint64_t stores[SIMT_WIDTHS];
    uint64_t global_requests;        ///< accesses of a warp, and boxes that are copied
    uint64_t global_bytes;           ///< moved by lanes and boxes
    uint64_t global_sectors;         ///< different pieces of 32 bytes that each request touches
    uint64_t shared_requests;        ///< accesses of a warp, and its copies to shared memory
    uint64_t shared_wavefronts;      ///< passes over the banks
    uint64_t bank_conflicts;         ///< passes more than the width of the access needs
} SimtCounts;

typedef enum SimtFault {
    SIMT_SHARED_RACE,
    SIMT_GLOBAL_RACE,
    SIMT_UNWRITTEN_SHARED,  ///< a read of shared memory that no thread wrote
    SIMT_UNWRITTEN_REGISTER,
    SIMT_OUT_OF_BOUNDS,     ///< of global, shared or local memory
    SIMT_MISALIGNED,
    SIMT_DIVERGENT_BARRIER,
    SIMT_MISSING_ARRIVAL,   ///< threads wait for others that never come
    SIMT_WRONG_MASK,        ///< of a shuffle, a vote or a warp's barrier
    SIMT_EXTRA_ARRIVAL,     ///< more threads than a barrier in shared memory waits for
    SIMT_MISSING_WAIT,      ///< an access that a copy or a product races with, as no wait covers it
    SIMT_MISSING_FENCE,     ///< of the asynchronous proxy, of a barrier's initialisation, or of a product's registers
    SIMT_WRONG_OPERAND,     ///< of a copy, a barrier, a product, or setmaxnreg
    SIMT_ENDED_PROGRAM,     ///< shared memory of a program of the cluster that has ended
    SIMT_ASSERTION,
    SIMT_NO_PROGRESS,       ///< a loop without end
    SIMT_FAULT_COUNT
} SimtFault;

/// Clusters have at most SIMT_MAX_TOGETHER threads.
typedef struct SimtLaunch {
    unsigned grid[3], threads, shared_bytes;
    void **parameters;
    unsigned cluster;  ///< programs of a cluster, neighbours along x; 0: 1
} SimtLaunch;

typedef struct SimtModule SimtModule;

/// Loads a shared object that simt_compile made; NULL after printing why not.
SimtModule *simt_open(const char *path);
void simt_close(SimtModule *module);
/// The entry as a handle for simt_launch; NULL when there is none of that name.
void *simt_entry(SimtModule *module, const char *name);

/// Makes [at, at + bytes) memory that kernels may touch; simt_forget ends that.
void simt_expose(void *at, size_t bytes);
void simt_forget(void *at);
/// Allows only a part of exposed memory, so that a test's guards count as outside.
void simt_narrow(const void *at, size_t bytes);

/// Runs all programs. False when there were faults: they are printed on standard error and kept for
/// simt_fault_count and simt_report until the next launch.
bool simt_launch(const char *name, void *entry, const SimtLaunch *launch);
size_t simt_fault_count(SimtFault kind);
/// The reports of the last launch, a line each; "" when there was none.
const char *simt_report(void);
/// Reports go to standard error (the default) or only to simt_report.
void simt_quiet(bool quiet);

/// The order in which warps and programs run from now on.
void simt_seed(uint64_t seed);

/// A program that takes more steps of a warp is a fault; 2^24 at first.
void simt_limit(uint64_t steps);

/// Sums since the last reset; of all that was done, and of what one line of a .newt file does ("softmax.newt:14"), as far as
/// its module is still loaded.
SimtCounts simt_counts(void);
SimtCounts simt_counts_at(const char *line);
void simt_counts_reset(void);

#ifdef __cplusplus
}
#endif
#endif
