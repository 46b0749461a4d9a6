// planted.cu - kernels with one fault each, as generated text has it, and a right one beside; see test_planted.cc.
#include "newt/base.cuh"
#include "newt/memory.cuh"
#include "newt/shared.cuh"
#include "newt/reduce.cuh"
#include "newt/atomic.cuh"
#include "newt/debug.cuh"
NT_DEFINE_PLAIN_LOAD(nt_load)
NT_DEFINE_STORE(nt_store, "st.global")
NT_DEFINE_ATOMICS(relaxed_gpu, ".relaxed.gpu")
NT_DEFINE_ATOMICS(acq_rel_gpu, ".acq_rel.gpu")

#define BEGIN \
    extern __shared__ __align__(16) unsigned char nt_smem[]; \
    const int tid = (int)threadIdx.x; \
    NT_SHARED(int, s, 0);
#define STORE(INDEX, VALUE) \
    { \
        const int stored = VALUE; \
        nt_store<1>(out + (INDEX), &stored); \
    }

// Each thread reads its neighbour's value from the other warp.
extern "C" __global__ void __launch_bounds__(64) right(int *out, const int *in)
{
    BEGIN
    int x;
    nt_load<1>(&x, in + tid);
    s[tid] = x;
    __syncthreads();
#line 12 "planted.newt"
    STORE(tid, s[tid ^ 32])
}

extern "C" __global__ void __launch_bounds__(64) no_barrier(int *out, const int *in)
{
    BEGIN
#line 10 "planted.newt"
    s[tid] = tid;
#line 12 "planted.newt"
    STORE(tid, s[tid ^ 32])
}

// Read, then overwritten: the second barrier is missing.
extern "C" __global__ void __launch_bounds__(64) no_second_barrier(int *out, const int *in)
{
    BEGIN
    s[tid] = tid;
    __syncthreads();
#line 20 "planted.newt"
    const int x = s[tid ^ 1];
#line 21 "planted.newt"
    s[tid] = x;
    STORE(tid, x)
}

// A warp's barrier does not order the other warp.
extern "C" __global__ void __launch_bounds__(64) warp_barrier_only(int *out, const int *in)
{
    BEGIN
    s[tid] = tid;
    __syncwarp();
    STORE(tid, s[tid ^ 32])
}

extern "C" __global__ void __launch_bounds__(64) warp_barrier(int *out, const int *in)
{
    BEGIN
    s[tid] = tid;
    __syncwarp();
    STORE(tid, s[tid ^ 1])
}

// A shuffle is no barrier.
extern "C" __global__ void __launch_bounds__(64) shuffle_only(int *out, const int *in)
{
    BEGIN
    s[tid] = tid;
    const int x = nt_shfl_xor(tid, 1);
    STORE(tid, s[tid ^ 1] + x)
}

extern "C" __global__ void __launch_bounds__(64) write_write(int *out, const int *in)
{
    BEGIN
    s[tid / 2] = tid;
    __syncthreads();
    STORE(tid, s[tid / 2])
}

extern "C" __global__ void __launch_bounds__(64) partial_overlap(int *out, const int *in)
{
    BEGIN
    int four[4] = { tid, tid, tid, tid };
    nt_put<4>(s + (tid & 15) * 4, four);
    __syncthreads();
    STORE(tid, s[tid & 15])
}

extern "C" __global__ void __launch_bounds__(64) named_barrier(int *out, const int *in)
{
    BEGIN
    s[tid] = tid;
    simt_barrier(3, 64, true);
    STORE(tid, s[tid ^ 32])
}

// Threads that only arrive do not wait: their own reads race.
extern "C" __global__ void __launch_bounds__(64) arrive_only(int *out, const int *in)
{
    BEGIN
    s[tid] = tid;
    simt_barrier(3, 64, tid < 32);
    STORE(tid, s[tid ^ 32])
}

extern "C" __global__ void __launch_bounds__(64) missing_arrival(int *out, const int *in)
{
    BEGIN
    if (tid < 32)
        simt_barrier(3, 64, true);
    STORE(tid, 1)
}

extern "C" __global__ void __launch_bounds__(64) global_race(int *out, const int *in)
{
    BEGIN
#line 30 "planted.newt"
    STORE(tid, 1)
    int x;
#line 31 "planted.newt"
    nt_load<1>(&x, out + (tid ^ 32));
    STORE(tid + 64, x)
}

extern "C" __global__ void __launch_bounds__(64) global_barrier(int *out, const int *in)
{
    BEGIN
    STORE(tid, 1)
    __syncthreads();
    int x;
    nt_load<1>(&x, out + (tid ^ 32));
    STORE(tid + 64, x)
}

extern "C" __global__ void __launch_bounds__(64) global_write_write(int *out, const int *in)
{
    BEGIN
    STORE(0, tid)
}

extern "C" __global__ void __launch_bounds__(64) atomic(int *out, const int *in)
{
    nt_atomic_add_relaxed_gpu(out, 1);
}

extern "C" __global__ void __launch_bounds__(64) atomic_race(int *out, const int *in)
{
    BEGIN
    if (tid == 0)
        STORE(0, 1)
    nt_atomic_add_relaxed_gpu(out, 1);
}

// The first thread hands a value on: a release, and acquires until it is seen.
extern "C" __global__ void __launch_bounds__(64) release_acquire(int *out, const int *in)
{
    BEGIN
    if (tid == 0)
        s[0] = 7;
    if (tid == 0)
        nt_atomic_xchg_acq_rel_gpu(out, 1);
    else
        while (nt_atomic_add_acq_rel_gpu(out, 0) == 0) {
        }
    STORE(tid + 64, s[0])
}

extern "C" __global__ void __launch_bounds__(64) relaxed_hand_over(int *out, const int *in)
{
    BEGIN
    if (tid == 0)
        s[0] = 7;
    if (tid == 0)
        nt_atomic_xchg_relaxed_gpu(out, 1);
    else
        while (nt_atomic_add_relaxed_gpu(out, 0) == 0) {
        }
    STORE(tid + 64, s[0])
}

extern "C" __global__ void __launch_bounds__(64) unwritten_shared(int *out, const int *in)
{
    BEGIN
    if (tid < 63)
        s[tid] = tid;
    __syncthreads();
#line 40 "planted.newt"
    STORE(tid, s[tid])
}

extern "C" __global__ void __launch_bounds__(64) unwritten_register(int *out, const int *in)
{
    BEGIN
    int x[4];
    for (int r = 0; r < 3; r++)
        x[r] = tid + r;
#line 50 "planted.newt"
    nt_store<4>(out + tid * 4, x);
}

extern "C" __global__ void __launch_bounds__(64) unwritten_branch(int *out, const int *in)
{
    BEGIN
    int x;
    if (tid < 32)
        nt_load<1>(&x, in + tid);
    int y = 1;
#line 52 "planted.newt"
    if (x > 3)
        nt_load<1>(&y, in);
    STORE(tid, y)
}

// What a masked-off load leaves and a shuffle passes on.
extern "C" __global__ void __launch_bounds__(64) unwritten_shuffle(int *out, const int *in)
{
    BEGIN
    int x;
    nt_load<1>(&x, in + tid, (tid & 1) == 0);
    const int y = nt_shfl_xor(x, 1);
#line 54 "planted.newt"
    STORE(tid, y)
}

extern "C" __global__ void __launch_bounds__(64) unwritten_atomic(int *out, const int *in)
{
    BEGIN
    int x;
    nt_load<1>(&x, in + tid, tid < 63);
#line 56 "planted.newt"
    nt_atomic_add_relaxed_gpu(out, x);
}

extern "C" __global__ void __launch_bounds__(64) unwritten_exchange(int *out, const int *in)
{
    BEGIN
    int x;
    nt_load<1>(&x, in + tid, tid < 63);
#line 57 "planted.newt"
    nt_atomic_cas_relaxed_gpu(out, x, 2);
}

extern "C" __global__ void __launch_bounds__(64) unwritten_vote(int *out, const int *in)
{
    BEGIN
    int x;
    nt_load<1>(&x, in + tid, tid < 63);
#line 58 "planted.newt"
    STORE(tid, __any_sync(0xffffffffu, x))
}

extern "C" __global__ void __launch_bounds__(64) global_outside(int *out, const int *in)
{
    BEGIN
    int x;
#line 60 "planted.newt"
    nt_load<1>(&x, in + tid + 1);
    STORE(tid, x)
}

extern "C" __global__ void __launch_bounds__(64) global_before(int *out, const int *in)
{
    BEGIN
    STORE(tid - 1, tid)
}

extern "C" __global__ void __launch_bounds__(64) global_masked(int *out, const int *in)
{
    BEGIN
    int x = 0;
    nt_load<1>(&x, in + tid * 1000, tid < 1);
    STORE(tid, x)
}

extern "C" __global__ void __launch_bounds__(64) shared_outside(int *out, const int *in)
{
    BEGIN
    s[tid + 1] = tid;
    __syncthreads();
    STORE(tid, s[tid + 1])
}

extern "C" __global__ void __launch_bounds__(64) local_outside(int *out, const int *in)
{
    BEGIN
    int x[4] = { tid, tid, tid, tid };
    for (int r = 0; r < 4; r++)
#line 65 "planted.newt"
        x[r] += x[r + 1 - tid % 1];
    nt_store<4>(out + tid * 4, x);
}

extern "C" __global__ void __launch_bounds__(64) global_misaligned(int *out, const int *in)
{
    BEGIN
    int x[4];
#line 70 "planted.newt"
    nt_load<4>(x, in + (tid % 2));
    STORE(tid, x[0])
}

extern "C" __global__ void __launch_bounds__(64) shared_misaligned(int *out, const int *in)
{
    BEGIN
    int x[2] = { 1, 2 };
    if (tid == 0)
        nt_put<2>(s + 1, x);
    __syncthreads();
    STORE(tid, s[1])
}

extern "C" __global__ void __launch_bounds__(64) divergent_barrier(int *out, const int *in)
{
    BEGIN
    if (tid < 32)
#line 80 "planted.newt"
        __syncthreads();
    else
#line 82 "planted.newt"
        __syncthreads();
    STORE(tid, 1)
}

extern "C" __global__ void __launch_bounds__(64) skipped_barrier(int *out, const int *in)
{
    BEGIN
    if (tid != 5)
        __syncthreads();
    STORE(tid, 1)
}

extern "C" __global__ void __launch_bounds__(64) early_return(int *out, const int *in)
{
    BEGIN
    if (tid >= 32)
        return;
    __syncthreads();
    STORE(tid, 1)
}

extern "C" __global__ void __launch_bounds__(64) extra_barrier(int *out, const int *in)
{
    BEGIN
    __syncthreads();
    if (tid == 5)
        __syncthreads();
    __syncthreads();
    STORE(tid, 1)
}

extern "C" __global__ void __launch_bounds__(64) mask_without_self(int *out, const int *in)
{
    BEGIN
    STORE(tid, __shfl_xor_sync(0xfffffffeu, tid, 1))
}

extern "C" __global__ void __launch_bounds__(64) mask_of_the_absent(int *out, const int *in)
{
    BEGIN
    int x = 0;
    if ((tid & 31) < 16)
        x = __shfl_xor_sync(0xffffffffu, tid, 1);
    STORE(tid, x)
}

extern "C" __global__ void __launch_bounds__(64) mask_of_half(int *out, const int *in)
{
    BEGIN
    int x = 0;
    if ((tid & 31) < 16)
        x = __shfl_xor_sync(0x0000ffffu, tid, 1);
    STORE(tid, x)
}

extern "C" __global__ void __launch_bounds__(64) shuffle_from_outside(int *out, const int *in)
{
    BEGIN
    int x = 0;
    if ((tid & 31) < 16)
        x = __shfl_xor_sync(0x0000ffffu, tid, 16);
    STORE(tid, x)
}

extern "C" __global__ void __launch_bounds__(64) votes(int *out, const int *in)
{
    BEGIN
    const unsigned ballot = __ballot_sync(0xffffffffu, tid % 2);
    const bool right = ballot == 0xaaaaaaaau && __any_sync(0xffffffffu, tid == 3) == (tid < 32) &&
                       !__all_sync(0xffffffffu, tid == 3) && __activemask() == 0xffffffffu;
    STORE(tid, right)
}

extern "C" __global__ void __launch_bounds__(64) shuffles(int *out, const int *in)
{
    BEGIN
    const int lane = tid & 31;
    const bool right = __shfl_sync(0xffffffffu, lane, 40) == 8 && __shfl_up_sync(0xffffffffu, lane, 3) == (lane < 3 ? lane : lane - 3) &&
                       __shfl_down_sync(0xffffffffu, lane, 3) == (lane > 28 ? lane : lane + 3) &&
                       __shfl_xor_sync(0xffffffffu, lane, 5) == (lane ^ 5) && __shfl_sync(0xffffffffu, lane, 1, 8) == (lane & 24 | 1) &&
                       __shfl_down_sync(0xffffffffu, lane, 2, 4) == ((lane & 3) > 1 ? lane : lane + 2);
    STORE(tid, right)
}

extern "C" __global__ void __launch_bounds__(64) asserts(int *out, const int *in)
{
    BEGIN
    nt_assert(tid != 9, "tid != 9", "planted.newt", 90, "asserts");
    STORE(tid, 1)
}

extern "C" __global__ void __launch_bounds__(64) endless(int *out, const int *in)
{
    while (nt_atomic_add_relaxed_gpu(out, 0) == 0) {
    }
}

// ---- counts ----

extern "C" __global__ void __launch_bounds__(64) wide(int *out, const int *in)
{
    BEGIN
    int x[4];
    nt_load<4>(x, in + tid * 4 % 64);
    nt_store<4>(out + tid * 4, x);
}

extern "C" __global__ void __launch_bounds__(64) strided(int *out, const int *in)
{
    BEGIN
    STORE(tid * 8, tid)
}

extern "C" __global__ void __launch_bounds__(64) conflicts_2(int *out, const int *in)
{
    BEGIN
    if (tid < 32)
        s[tid * 2] = tid;
}

extern "C" __global__ void __launch_bounds__(64) conflicts_32(int *out, const int *in)
{
    BEGIN
    if (tid < 32)
        s[tid * 32] = tid;
}

extern "C" __global__ void __launch_bounds__(64) broadcast(int *out, const int *in)
{
    BEGIN
    if (tid == 0)
        s[0] = 1;
    __syncthreads();
    STORE(tid, s[0])
}

extern "C" __global__ void __launch_bounds__(64) shared_16(int *out, const int *in)
{
    BEGIN
    int x[4] = { 1, 2, 3, 4 };
    if (tid < 32)
        nt_put<4>(s + tid * 4, x);
}
