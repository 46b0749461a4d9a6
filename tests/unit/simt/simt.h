// simt.h - runs generated kernels on the host: what CUDA supplies, one fiber a thread.
//
// A program's threads are ucontext fibers that take turns; a barrier or a shuffle yields until all
// threads of the program or warp have arrived. The prelude is compiled as it is but for memory.cuh and
// atomic.cuh, whose PTX has plain twins in this folder. For the unit tests of the emitters: it finds
// wrong addresses, wrong owners and wrong exchange, not races.
#ifndef NEWT_TESTS_SIMT_H
#define NEWT_TESTS_SIMT_H
#include "intrinsics.h"  // of tests/simt

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <ucontext.h>
#include <vector>

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

static void __syncwarp()
{
    simt_shuffle(0, 0);
}

template <class T> static T __shfl_sync(unsigned, T x, int lane)
{
    return simt_shuffle(x, (unsigned)lane & 31);
}

template <class T> static T __shfl_xor_sync(unsigned, T x, int mask)
{
    return simt_shuffle(x, (current & 31) ^ (unsigned)mask);
}

static int __all_sync(unsigned, int all)
{
    for (unsigned mask = 1; mask < 32; mask *= 2)
        all &= simt_shuffle(all, (current & 31) ^ mask);
    return all;
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

#endif
