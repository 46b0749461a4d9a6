/// run.h - what the cases of tests/run share: buffers with guards and poison, launching, comparing.
///
/// A case file defines `RUN_TESTS = { { "name", function }, ..., RUN_END };` and calls its kernels
/// as K(name)(cx->device, NULL, ...). It is compiled once for each number of warps. Expected values
/// are computed in the case, in wider floats or integers, never by newtc. Buffers are released when
/// a test ends.
#ifndef NEWT_TESTS_RUN_H
#define NEWT_TESTS_RUN_H
#include <newt/newt.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct RunBuffer RunBuffer;

typedef struct RunCx {
    NewtDevice *device;
    RunBuffer *buffers;
    RunBuffer *temps;
    uint64_t random;
    const char *name;  ///< of the test
    FILE *outputs;     ///< NULL, or what run_get notes outputs in
    unsigned got;      ///< how many it has got
    unsigned rounds;  ///< how often what is random is tried, 1 unless --rounds says more
} RunCx;

/// One test: a case file has a table of them, ended by a NULL name.
typedef struct RunTest {
    const char *name;
    void (*run)(RunCx *cx);
} RunTest;
#define RUN_END    \
    {              \
        NULL, NULL \
    }

#ifdef RUN_WARPS
#define RUN_JOIN_(a, b, c) a##b##_##c
#define RUN_JOIN(a, b, c)  RUN_JOIN_(a, b, c)
#define K(kernel)          RUN_JOIN(w, RUN_WARPS, kernel)
#define RUN_CASE           RUN_JOIN(run_w, RUN_WARPS, RUN_NAME)
extern const RunTest RUN_CASE[];
#define RUN_TESTS const RunTest RUN_CASE[]
#include RUN_HEADER
#endif

/// Device memory of `bytes` holding `data`, or poisoned with 0xFF bytes when that is NULL; `shift`
/// bytes off a 256-byte boundary. Guards stand on both sides.
void *run_buffer(RunCx *cx, const void *data, size_t bytes, size_t shift);
#define RUN_IN(cx, array)  run_buffer((cx), (array), sizeof(array), 0)
#define RUN_OUT(cx, bytes) run_buffer((cx), NULL, (bytes), 0)

/// Copies a buffer's bytes out, after waiting for the kernels; fails when a guard was overwritten.
void run_get(RunCx *cx, const void *at, void *out);

/// Releases every buffer of the test so far, for tests that loop over many sizes.
void run_release(RunCx *cx);

/// Zeroed memory of the test itself, at least one byte; released when the test ends.
void *run_temp(RunCx *cx, size_t bytes);

/// Fails with the runtime's own words.
void run_ok(NewtStatus status, const char *what);
#define RUN_OK(call) run_ok((call), #call)

/// |got - want| <= tolerance, or both NaN; else fails naming the element.
void run_near(double got, double want, double tolerance, size_t index);
/// Same bits (as NumPy's array_equal of the integer views).
void run_same_bits(const void *got, const void *want, size_t size, size_t count);

/// A random 64-bit number, and a float in [-1, 1); new ones in every run, the seed is printed.
uint64_t run_random(RunCx *cx);
float run_uniform(RunCx *cx);
/// A random integer in [low, high].
int64_t run_between(RunCx *cx, int64_t low, int64_t high);

#endif
