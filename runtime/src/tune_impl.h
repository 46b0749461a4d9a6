/// One run of the tuner: what its files share.
///
/// Buffers (tune_buffers.c) are copied, so that the caller's stay as they are; the reference
/// (tune_reference.c) is computed once; a trial (tune_trial.c) runs one configuration, compares,
/// and times it; tune.c decides about the order, the budget and the store.
#ifndef NEWT_SRC_TUNE_IMPL_H
#define NEWT_SRC_TUNE_IMPL_H
#include "launch.h"
#include "tune_compare.h"
#include "tune_store.h"

enum { TUNE_RECORD_MAX = 4096 };

/// Memory that one or more pointer parameters point into; those that overlap share a region.
typedef struct TuneRegion {
    const char *user;  ///< the caller's buffer
    size_t size;
    uint32_t use;   ///< NEWT_USE_ bits of all its parameters
    NewtType type;  ///< of the first parameter that is written through, else of the first
    void *raw;      ///< what was allocated; `work` lies in it with the alignment of `user`
    size_t raw_size;
    char *work;  ///< what configurations run on: device memory, or shared with child processes
    char *want;  ///< host memory, of written regions: what the reference left there
    char *got;   ///< host memory, of written regions of GPUs: where results are copied to
} TuneRegion;

typedef struct Tuner {
    const NewtKernel *kernel;
    NewtDevice *device;
    const NewtGrid *given;
    const void *args;
    NewtTuneOptions options;
    size_t record_size;
    TuneRegion *regions;
    uint32_t region_count;
    uint32_t *region_of;  ///< by parameter; UINT32_MAX for what is no pointer, or NULL
    int64_t began_ns;
    double reference_seconds;  ///< what one run of the reference took
    void *flush;               ///< GPU memory that is written before each timed run; or NULL
    size_t flush_size;
    _Alignas(16) char record[TUNE_RECORD_MAX];  ///< the arguments, with pointers into `work`
} Tuner;

/// What came of one configuration.
typedef enum TuneVerdict {
    TUNE_UNKNOWN,
    TUNE_RIGHT,
    TUNE_WRONG,
    TUNE_FAILED,     ///< crashed, hung, or the driver refused it
    TUNE_TOO_LARGE,  ///< the device cannot hold it
    TUNE_ABSENT      ///< not compiled for the device
} TuneVerdict;

typedef struct TuneTrial {
    TuneVerdict verdict;
    float us;       ///< RIGHT: the median
    char why[256];  ///< not RIGHT: what was seen
} TuneTrial;

/* ---- tune_buffers.c ---- */
NewtStatus newti_tune_buffers(Tuner *t);
void newti_tune_buffers_free(Tuner *t);
/// Gives every region the contents that a run begins with; `all` false: only where the last run
/// changed what the next one reads.
NewtStatus newti_tune_prepare(Tuner *t, bool all);
/// Whether the bytes in front of a copy and behind it are still what newti_tune_prepare(t, true)
/// made them.
NewtStatus newti_tune_guards(const Tuner *t, const TuneRegion *r, bool *whole);
/// Copies the argument record with each pointer moved to the same place of `at[region]`.
void newti_tune_record(const Tuner *t, char *const *at, char record[TUNE_RECORD_MAX]);
/// The bytes a region begins with when it is not copied from the caller; -1: it is.
int newti_tune_fill(const TuneRegion *region);

/* ---- tune_reference.c ---- */
/// Fills `want` of every written region.
NewtStatus newti_tune_reference(Tuner *t);

/* ---- tune_trial.c ---- */
/// Runs, compares, and times a configuration; `best` is the shortest median so far, or 0. Anything
/// but NEWT_OK means that tuning cannot go on.
NewtStatus newti_tune_trial(Tuner *t, int config, float best, TuneTrial *out);
/// Calls `work` in a child process, which sees the tuner's memory; the regions of the host are
/// shared with it. TUNE_FAILED, and why, when it crashes or is not done after `seconds`.
TuneVerdict newti_tune_child(void (*work)(void *cx), void *cx, double seconds, char *why,
                             size_t why_size);

/// Seconds of the budget that are left; a large number without one.
double newti_tune_left(const Tuner *t);
#endif
