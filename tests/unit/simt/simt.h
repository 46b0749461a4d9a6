// simt.h - runs generated kernels on the host: what CUDA supplies, one fiber a thread.
//
// A program's threads are ucontext fibers that take turns; a barrier or a shuffle yields until all
// threads of the program or warp have arrived. The prelude is compiled as it is but for memory.cuh and
// atomic.cuh, whose PTX has plain twins in this folder. For the unit tests of the emitters: it finds
// wrong addresses, wrong owners and wrong exchange, not races.
#ifndef NEWT_TESTS_SIMT_H
#define NEWT_TESTS_SIMT_H
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <ucontext.h>
#include <vector>

struct uint2 { unsigned x, y; };
struct uint4 { unsigned x, y, z, w; };
struct SimtIndex { unsigned x, y, z; };
static SimtIndex threadIdx, blockIdx, gridDim;

#define __global__
#define __shared__
#define __align__(n)
#define __launch_bounds__(n)
#define NT_DEV inline

struct Fiber {
    ucontext_t context;
    std::vector<char> stack;
    bool done;
    int barriers, shuffles;      // how many it has arrived at
    unsigned long long sent[2];  // what it shuffles, by parity of the count
};
static std::vector<Fiber> fibers;
static ucontext_t scheduler;
static unsigned current;
static std::function<void()> program;

static void simt_yield()
{
    swapcontext(&fibers[current].context, &scheduler);
    threadIdx.x = current;
}

static void __syncthreads()
{
    const int mine = ++fibers[current].barriers;
    for (bool waiting = true; waiting;) {
        waiting = false;
        for (Fiber &f : fibers)
            waiting = waiting || (!f.done && f.barriers < mine);
        if (waiting)
            simt_yield();
    }
}

template <class T> static T simt_shuffle(T x, unsigned lane)
{
    Fiber &me = fibers[current];
    const unsigned warp = current / 32 * 32;
    const int parity = me.shuffles++ & 1;
    memcpy(&me.sent[parity], &x, sizeof x);
    for (bool waiting = true; waiting;) {
        waiting = false;
        for (unsigned i = warp; i < warp + 32; i++)
            waiting = waiting || fibers[i].shuffles < me.shuffles;
        if (waiting)
            simt_yield();
    }
    T y;
    memcpy(&y, &fibers[warp + lane].sent[parity], sizeof y);
    return y;
}

template <class T> static T __shfl_sync(unsigned, T x, int lane)
{
    return simt_shuffle(x, (unsigned)lane & 31);
}

template <class T> static T __shfl_xor_sync(unsigned, T x, int mask)
{
    return simt_shuffle(x, (current & 31) ^ (unsigned)mask);
}

static void simt_entry()
{
    program();
    fibers[current].done = true;
    swapcontext(&fibers[current].context, &scheduler);
}

// One program of `threads` threads; a deadlock (threads waiting for one that ended) ends the test.
template <class... P, class... A> static void launch(unsigned threads, unsigned pid, void (*kernel)(P...), A... args)
{
    program = [=] { kernel(args...); };
    blockIdx = { pid, 0, 0 };
    gridDim = { pid + 1, 1, 1 };
    fibers.assign(threads, Fiber());
    for (unsigned i = 0; i < threads; i++) {
        fibers[i].stack.resize(256 << 10);
        getcontext(&fibers[i].context);
        fibers[i].context.uc_stack.ss_sp = fibers[i].stack.data();
        fibers[i].context.uc_stack.ss_size = fibers[i].stack.size();
        makecontext(&fibers[i].context, simt_entry, 0);
    }
    for (unsigned running = threads, rounds = 0; running > 0; rounds++) {
        if (rounds > 1000000) {
            printf("deadlock\n");
            exit(1);
        }
        for (unsigned i = 0; i < threads; i++) {
            if (fibers[i].done)
                continue;
            current = threadIdx.x = i;
            swapcontext(&scheduler, &fibers[i].context);
            running -= fibers[i].done;
        }
    }
}

// ---- intrinsics ----
static inline unsigned __float_as_uint(float x) { unsigned u; memcpy(&u, &x, 4); return u; }
static inline float __uint_as_float(unsigned u) { float x; memcpy(&x, &u, 4); return x; }
static inline float __int_as_float(int i) { return __uint_as_float((unsigned)i); }
static inline int __float_as_int(float x) { return (int)__float_as_uint(x); }
static inline double __longlong_as_double(long long i) { double x; memcpy(&x, &i, 8); return x; }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
static inline float __fsqrt_rn(float x) { return sqrtf(x); }
static inline double __dsqrt_rn(double x) { return sqrt(x); }
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
static inline float rsqrtf(float x) { return 1 / sqrtf(x); }
static inline double rsqrt(double x) { return 1 / sqrt(x); }

template <class T> static float simt_below(T x)
{
    float f = (float)x;
    return (long double)f > (long double)x ? nextafterf(f, -INFINITY) : f;
}
template <class T> static float simt_above(T x)
{
    float f = (float)x;
    return (long double)f < (long double)x ? nextafterf(f, INFINITY) : f;
}
static inline float __double2float_rd(double x) { return x != x ? (float)x : simt_below(x); }
static inline float __double2float_ru(double x) { return x != x ? (float)x : simt_above(x); }
static inline float __double2float_rz(double x) { return x < 0 ? __double2float_ru(x) : __double2float_rd(x); }
static inline float __int2float_rd(int x) { return simt_below(x); }
static inline float __int2float_ru(int x) { return simt_above(x); }
static inline float __uint2float_rd(unsigned x) { return simt_below(x); }
static inline float __uint2float_ru(unsigned x) { return simt_above(x); }
static inline float __ll2float_rd(long long x) { return simt_below(x); }
static inline float __ll2float_ru(long long x) { return simt_above(x); }
static inline float __ull2float_rd(unsigned long long x) { return simt_below(x); }
static inline float __ull2float_ru(unsigned long long x) { return simt_above(x); }
// A product of floats is exact in double, the sum all but exact in long double.
static inline float __fmaf_rd(float a, float b, float c) { return simt_below((long double)((double)a * b) + c); }
static inline float __fmaf_ru(float a, float b, float c) { return simt_above((long double)((double)a * b) + c); }

// cvt.rzi as the PTX manual has it: saturating, a NaN gives 0 or the lowest number.
template <class T, class F> static T simt_truncate(F x, T nan)
{
    typedef std::numeric_limits<T> L;
    if (x != x)
        return nan;
    if ((long double)x <= (long double)L::min())
        return L::min();
    return (long double)x >= (long double)L::max() ? L::max() : (T)x;
}
static inline int __float2int_rz(float x) { return simt_truncate<int>(x, 0); }
static inline int __double2int_rz(double x) { return simt_truncate<int>(x, INT32_MIN); }
static inline unsigned __float2uint_rz(float x) { return simt_truncate<unsigned>(x, 0); }
static inline unsigned __double2uint_rz(double x) { return simt_truncate<unsigned>(x, 1u << 31); }
static inline long long __float2ll_rz(float x) { return simt_truncate<long long>(x, INT64_MIN); }
static inline long long __double2ll_rz(double x) { return simt_truncate<long long>(x, INT64_MIN); }
static inline unsigned long long __float2ull_rz(float x) { return simt_truncate<unsigned long long>(x, 1ull << 63); }
static inline unsigned long long __double2ull_rz(double x)
{
    return simt_truncate<unsigned long long>(x, 1ull << 63);
}
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((uint64_t)a * b >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    __extension__ typedef unsigned __int128 Wide;
    return (unsigned long long)((Wide)a * b >> 64);
}

#endif
