/// Autotuned kernels written by hand, as newtc would write them, with configurations that go wrong
/// in every way there is.
#ifndef NEWT_TESTS_TUNED_SAMPLE_H
#define NEWT_TESTS_TUNED_SAMPLE_H
#include <newt/module.h>

typedef struct TunedArgs {
    const float *x;
    float *out;
    int32_t *count;
    int32_t n;
} TunedArgs;

enum { TUNED_BLOCK = 64 };

/// out[i] = 2 * x[i], and count += n, in programs of TUNED_BLOCK elements; key n. Its device
/// functions are called "slow", "fast" and so on, as the configurations.
enum { TUNED_SLOW, TUNED_FAST, TUNED_WRONG, TUNED_CRASH, TUNED_HANG, TUNED_LARGE, TUNED_COUNT };
extern const NewtKernel *const tuned_double;

/// The same with only right configurations: SLOW, FAST.
extern const NewtKernel *const tuned_right;
/// Its first configuration is wrong, the other two are right.
extern const NewtKernel *const tuned_outvoted;
/// A wrong and a right configuration: nobody can tell.
extern const NewtKernel *const tuned_split;
/// All crash.
extern const NewtKernel *const tuned_hopeless;
/// x[i] = 2 * x[i] where `out` is not written: FAST, SLOW in place; param 0 is read and written.
extern const NewtKernel *const tuned_in_place;
/// SLOW is right; another is right once only, a third writes behind the end of its output.
extern const NewtKernel *const tuned_careless;
/// One host function: programs take 3 ms each.
extern const NewtKernel *const tuned_long;

/// As tuned_right, with the table of a build that had a store: FAST for 100, SLOW for 9000.
extern const NewtKernel *const tuned_built;

/// What the device functions do to memory and how long they take: for FakeDriver.run.
void tuned_run(const char *symbol, void **parameters, const unsigned grid[3], float *milliseconds);
#endif
