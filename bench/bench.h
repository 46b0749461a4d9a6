/// bench.h - what the benchmark programs share: data, checks, timing, one JSON line a result.
///
/// A program makes the inputs of one shape (fresh normal data, the seed is printed) and hands a
/// BenchCell to bench_cell(), which runs every instance that fits: outputs poisoned, one launch,
/// the result checked on the host in double precision. Only a right instance is timed: events
/// around the launch, 256 MiB written in front of every repetition so that the L2 holds nothing of
/// it and the host is ahead of the device, median of at least 50. A wrong one is reported, never
/// timed, and makes the program's exit code 1. Any other failure ends the program with exit code 2.
#ifndef NEWT_BENCH_BENCH_H
#define NEWT_BENCH_BENCH_H
#include <newt/newt.h>
#include <stdbool.h>

typedef struct Bench {
    NewtDevice *device;
    const char *device_name;  ///< as asked for; NULL: the default
    NewtTimer *timer;
    uint64_t seed;  ///< of the next array of random numbers
    unsigned repetitions;
    unsigned processors;  ///< multiprocessors of the GPU, or processors of the host
    unsigned threads;     ///< of the host, for making data and for checking
    bool quick;           ///< tiny shapes and few repetitions: does everything still work?
    bool is_check_only;   ///< no timing
    const char *only_shape, *only_name;  ///< run only what contains this; NULL: all
    float *flush;                        ///< device memory
    size_t flush_count;                  ///< elements there
    double flush_us;                     ///< what writing it takes
    unsigned wrong;                      ///< instances whose result was wrong
} Bench;

/// Device memory between two guards, and its values on the host.
typedef struct BenchArray {
    unsigned char *base;  ///< device: guard, elements, guard
    void *at;             ///< device: the elements, 256-byte aligned
    float *host;          ///< the elements on the host, as floats
    size_t count;
    NewtType type;  ///< of the elements on the device: F32, F16, BF16 or F8E4M3
} BenchArray;

/// Reads `[--quick] [--check] [--reps N] [--seed N] [--shape TEXT] [--name TEXT]
/// [--skip-without-device] [device]` and opens the device: the named one, else a GPU if there is
/// one, else the host.
Bench bench_open(int argc, char **argv);
/// Closes the device and gives the exit code.
int bench_close(Bench *b);

/// Ends the program unless `status` is NEWT_OK.
void bench_ok(NewtStatus status, const char *what);
/// malloc() that ends the program where there is no memory.
void *bench_memory(size_t bytes);

/// `count` normal random numbers (mean 0, deviation 1), rounded to the type, a function of b->seed,
/// on host and device.
BenchArray bench_array_normal(Bench *b, NewtType type, size_t count);
/// Room for `count` results, poisoned.
BenchArray bench_array_output(Bench *b, NewtType type, size_t count);
/// Fills the elements on the device with NaNs.
void bench_array_poison(Bench *b, BenchArray *array);
/// Brings an output's elements to the host. False when a guard has changed.
bool bench_array_fetch(Bench *b, BenchArray *array);
void bench_array_free(Bench *b, BenchArray *array);

/// What is wrong with a result: its lowest wrong element. Filled by several threads at once.
typedef struct BenchCheck BenchCheck;
/// Notes that element `index` is `got` unless |got - want| <= allowed.
void bench_expect(BenchCheck *check, size_t index, double got, double want, double allowed);

/// Everything that is measured at one shape.
typedef struct BenchCell {
    const char *suite, *shape;
    double bytes;  ///< that one launch has to move at least
    double flops;  ///< that it has to do; > 0: the result is given in TFLOP/s instead of GB/s
    unsigned instance_count;
    void *user;
    const char *(*name)(void *user, unsigned instance);
    bool (*fits)(void *user, unsigned instance);
    NewtStatus (*launch)(void *user, unsigned instance);
    BenchArray *out;  ///< poisoned before and fetched after the launch that is checked
    /// Checks out->host; elements [from, to) in units of `check_count`, by several threads at once.
    void (*check)(void *user, size_t from, size_t to, BenchCheck *check);
    size_t check_count;
} BenchCell;

/// Runs one instance on poisoned outputs and checks the result; a wrong one is reported and
/// counted.
bool bench_check(Bench *b, const BenchCell *cell, unsigned instance);

/// Checks and times every instance, prints one line for each ("newt/<instance>") and then, from a
/// second measurement of the fastest, the line of the shape ("newt").
void bench_cell(Bench *b, const BenchCell *cell);

/// One line in the form of the peers' script. `more` is "" or further members, as ", \"cfg\": 1".
void bench_print(const char *suite, const char *shape, const char *who, double value,
                 const char *unit, const char *more);

/// True when `what` contains the text asked for by --shape or --name (NULL: everything does).
bool bench_is_wanted(const char *asked, const char *what);
/// Seconds on the monotonic clock.
double bench_seconds(void);
/// The middle of the values, which are sorted in place.
double bench_median(double *values, size_t count);
/// Sorted values: the one below which the part `q` of them lies.
double bench_quantile(const double *values, size_t count, double q);
/// Runs body(user, from, to) on all the host's threads for parts of [0, count).
void bench_parallel(const Bench *b, size_t count, void (*body)(void *user, size_t from, size_t to),
                    void *user);

#endif
