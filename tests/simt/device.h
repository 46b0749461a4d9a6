// device.h - what generated device code is compiled against: CUDA's words as events of the emulator.
//
// Included before the text. A thread runs from one event to the next; the emulator, which the functions
// named simt_ belong to, decides which thread runs then. Nothing here is called by tests.
#ifndef NEWT_TESTS_SIMT_DEVICE_H
#define NEWT_TESTS_SIMT_DEVICE_H
#include "intrinsics.h"

#include <type_traits>
#include <utility>

#define __global__
#define __device__
#define __shared__
#define __forceinline__ inline
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __grid_constant__

// A call whose place in the code matters: it is neither copied nor merged nor moved. Nor are calls of what
// calls it, until they are inlined.
#ifdef __clang__
#define SIMT_EVENT __attribute__((noduplicate, nomerge, convergent))
#define SIMT_CALLER __attribute__((nomerge, convergent))
#define NT_DEV static inline __attribute__((always_inline)) SIMT_CALLER
#else  // g++, without optimisation; it takes no `static` in front of a specialisation
#define SIMT_EVENT
#define SIMT_CALLER
#define NT_DEV inline __attribute__((always_inline))
#endif
#define NT_UNROLL
#define NT_SHARED(T, NAME, OFFSET) SimtShared<T> NAME = SimtShared<T>((T *)(nt_smem + (OFFSET)))

enum { SIMT_GLOBAL, SIMT_SHARED };
enum { SIMT_SHFL_IDX, SIMT_SHFL_UP, SIMT_SHFL_DOWN, SIMT_SHFL_XOR };
// Element types of matrix instructions; tf32 is a float of which the low bits do not count.
enum { SIMT_F16, SIMT_BF16, SIMT_TF32, SIMT_E4M3, SIMT_E5M2, SIMT_S8, SIMT_F32, SIMT_S32, SIMT_F64 };
enum { SIMT_VOTE_ALL, SIMT_VOTE_ANY, SIMT_VOTE_BALLOT, SIMT_VOTE_ACTIVE };

struct SimtIndex {
    unsigned x, y, z;
};
struct SimtPlace {
    SimtIndex thread, block, block_dim, grid_dim;
};

extern "C" {
extern unsigned char nt_smem[];  // the shared memory of the program that runs
const SimtPlace *simt_place();
void simt_load(void *to, const void *from, size_t bytes, bool mask, int space);
void simt_store(void *to, const void *from, size_t bytes, bool mask, int space);
// `with`: the registers that take part. False when the address is not valid; nothing may be touched then.
bool simt_atomic(void *at, size_t bytes, const void *with, size_t with_bytes, const char *order);
SIMT_EVENT void simt_barrier(unsigned id, unsigned count, bool wait);
SIMT_EVENT void simt_cluster_barrier();
SIMT_EVENT void simt_warp_barrier(unsigned mask);
SIMT_EVENT unsigned long long simt_shuffle(unsigned long long value, unsigned mask, int mode, unsigned operand, int width);
SIMT_EVENT unsigned simt_vote(unsigned mask, int mode, bool predicate);
void simt_fence(int scope);

void simt_copy_async(void *to, const void *from, size_t bytes, bool on);
void simt_copy_commit();
void simt_copy_wait(unsigned newest);
void simt_fence_async();
void simt_mbar_init(void *bar, unsigned count);
void simt_mbar_init_fence();
void simt_mbar_arrive(void *bar, unsigned bytes);
// At the barrier that stands at the same place of another program of the cluster.
void simt_mbar_arrive_at(void *bar, unsigned rank);
void simt_mbar_wait(void *bar, unsigned parity);
void simt_tma_load(void *to, const void *map, void *bar, int rank, const int *coords);
// To the same place of each program of the cluster that the mask names, and for its barrier.
void simt_tma_load_multicast(void *to, const void *map, void *bar, unsigned mask, int rank, const int *coords);
void simt_tma_store(const void *map, const void *from, int rank, const int *coords);
void simt_tma_store_commit();
void simt_tma_store_wait(unsigned newest, bool reads);
SIMT_EVENT void simt_ldmatrix(unsigned *to, const void *row, unsigned n, bool transposed);
SIMT_EVENT void simt_stmatrix(void *row, const unsigned *from, unsigned n, bool transposed);
// kind: types of A, B and the sum, 4 bits each; from bit 16 on the rows of A, from bit 24 on K.
SIMT_EVENT void simt_mma(void *sum, const void *a, const void *b, unsigned kind);
// kind: types of A, B and the sum, 4 bits each; bits 12 and 13: M and N are the axes of neighbours in A and B; from bit
// 16 on the width. A stands in registers, or where a_at says.
SIMT_EVENT void simt_product(void *sum, const unsigned *a, unsigned long long a_at, unsigned long long b_at, unsigned kind, int scale);
void simt_product_fence();
void simt_product_commit();
void simt_product_wait(unsigned newest);
// An array of registers; words may be a factor's.
void simt_product_keep(const void *at, size_t bytes, bool is_words);
SIMT_EVENT void simt_registers(unsigned count, bool up);
[[noreturn]] void simt_assert_failed(const char *message, const char *file, unsigned line, const char *function);
}

#define threadIdx (simt_place()->thread)
#define blockIdx (simt_place()->block)
#define blockDim (simt_place()->block_dim)
#define gridDim (simt_place()->grid_dim)

NT_DEV void __syncthreads() { simt_barrier(0, 0, true); }
NT_DEV void __syncwarp(unsigned mask = 0xffffffffu) { simt_warp_barrier(mask); }
NT_DEV void __threadfence_block() { simt_fence(0); }
NT_DEV void __threadfence() { simt_fence(1); }
NT_DEV void __threadfence_system() { simt_fence(2); }
NT_DEV unsigned __activemask() { return simt_vote(0, SIMT_VOTE_ACTIVE, true); }
NT_DEV int __all_sync(unsigned mask, int p) { return simt_vote(mask, SIMT_VOTE_ALL, p != 0) != 0; }
NT_DEV int __any_sync(unsigned mask, int p) { return simt_vote(mask, SIMT_VOTE_ANY, p != 0) != 0; }
NT_DEV unsigned __ballot_sync(unsigned mask, int p) { return simt_vote(mask, SIMT_VOTE_BALLOT, p != 0); }
#define __assertfail(message, file, line, function, size) simt_assert_failed(message, file, line, function)

template <class T> NT_DEV T __ldg(const T *at)
{
    T x;
    simt_load(&x, at, sizeof x, true, SIMT_GLOBAL);
    return x;
}

template <class T> NT_DEV T simt_exchange(unsigned mask, T x, int mode, unsigned operand, int width)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a shuffle moves 4 or 8 bytes");
    unsigned long long bits = 0;
    memcpy(&bits, &x, sizeof x);
    bits = simt_shuffle(bits, mask, mode, operand, width);
    memcpy(&x, &bits, sizeof x);
    return x;
}
#define SIMT_SHUFFLE(NAME, MODE) \
    template <class T> NT_DEV T NAME(unsigned mask, T x, unsigned operand, int width = 32) \
    { \
        return simt_exchange(mask, x, MODE, operand, width); \
    }
SIMT_SHUFFLE(__shfl_sync, SIMT_SHFL_IDX)
SIMT_SHUFFLE(__shfl_up_sync, SIMT_SHFL_UP)
SIMT_SHUFFLE(__shfl_down_sync, SIMT_SHFL_DOWN)
SIMT_SHUFFLE(__shfl_xor_sync, SIMT_SHFL_XOR)

#define SIMT_INLINE inline __attribute__((always_inline)) SIMT_CALLER

// One T in shared memory; reading and writing it are events.
template <class T> struct SimtCell {
    T *at;
    SIMT_INLINE operator T() const
    {
        T x;
        simt_load(&x, at, sizeof x, true, SIMT_SHARED);
        return x;
    }
    SIMT_INLINE const SimtCell &operator=(T x) const
    {
        simt_store(at, &x, sizeof x, true, SIMT_SHARED);
        return *this;
    }
    SIMT_INLINE const SimtCell &operator=(const SimtCell &x) const
    {
        return *this = (T)x;
    }
};

// A pointer into shared memory.
template <class T> struct SimtShared {
    T *at;
    SIMT_INLINE explicit SimtShared(T *p) : at(p)
    {
    }
    template <class I> SIMT_INLINE SimtShared operator+(I i) const
    {
        return SimtShared((T *)((uintptr_t)at + (uintptr_t)(long long)i * sizeof(T)));
    }
    template <class I> SIMT_INLINE SimtCell<T> operator[](I i) const
    {
        return SimtCell<T> { (*this + i).at };
    }
};

// The address that a pointer into shared memory, of whatever kind, stands for.
template <class T> SIMT_INLINE T *simt_at(SimtShared<T> p)
{
    return p.at;
}
template <class T> SIMT_INLINE T *simt_at(T *p)
{
    return p;
}

// Calls an entry with the parameters that the driver hands over, whatever their alignment.
template <class T> static T simt_parameter(const void *at)
{
    T x;
    memcpy(&x, at, sizeof x);
    return x;
}
template <class... P, size_t... I>
static void simt_call(void (*entry)(P...), void **parameters, std::index_sequence<I...>)
{
    entry(simt_parameter<std::remove_const_t<P>>(parameters[I])...);
}
template <class... P> static void simt_unpack(void (*entry)(P...), void **parameters)
{
    simt_call(entry, parameters, std::index_sequence_for<P...>());
}
#define SIMT_ENTRY(NAME) \
    extern "C" void simt_entry_##NAME(void **parameters) \
    { \
        simt_unpack(NAME, parameters); \
    }

#endif
