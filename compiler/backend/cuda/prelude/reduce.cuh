// reduce.cuh - shuffles of any type, a vote, and what reductions combine with.
//
// Every combining function is commutative to the bit, so the two sides of a butterfly agree and all
// replicas of a result are equal. nt_sum is the sum that never absorbs a product.
#ifndef NT_REDUCE_CUH
#define NT_REDUCE_CUH
#include "newt/base.cuh"

// The value of `x` in lane `lane`; all lanes of the warp take part.
template <class T> NT_DEV T nt_shfl(T x, int lane)
{
    if constexpr (sizeof(T) == 8)
        return nt_bitcast<T>(__shfl_sync(0xffffffffu, nt_bitcast<unsigned long long>(x), lane));
    else if constexpr (sizeof(T) == 4)
        return nt_bitcast<T>(__shfl_sync(0xffffffffu, nt_bitcast<unsigned>(x), lane));
    else if constexpr (sizeof(T) == 2)
        return nt_bitcast<T>((unsigned short)__shfl_sync(0xffffffffu, (unsigned)nt_bitcast<unsigned short>(x), lane));
    else
        return nt_bitcast<T>((unsigned char)__shfl_sync(0xffffffffu, (unsigned)nt_bitcast<unsigned char>(x), lane));
}

// Whether `x` is 1 in all lanes of the warp, which all take part.
NT_DEV bool nt_all_ones(float x)
{
    return __all_sync(0xffffffffu, x == 1.0f) != 0;
}

template <int N> NT_DEV bool nt_all_ones(const float (&x)[N])
{
    bool ones = true;
    NT_UNROLL for (int i = 0; i < N; i++)
        ones = ones && x[i] == 1.0f;
    return __all_sync(0xffffffffu, ones) != 0;
}

// The value of `x` in the lane whose number differs in the bits of `mask`.
template <class T> NT_DEV T nt_shfl_xor(T x, int mask)
{
    if constexpr (sizeof(T) == 8)
        return nt_bitcast<T>(__shfl_xor_sync(0xffffffffu, nt_bitcast<unsigned long long>(x), mask));
    else if constexpr (sizeof(T) == 4)
        return nt_bitcast<T>(__shfl_xor_sync(0xffffffffu, nt_bitcast<unsigned>(x), mask));
    else if constexpr (sizeof(T) == 2)
        return nt_bitcast<T>((unsigned short)__shfl_xor_sync(0xffffffffu, (unsigned)nt_bitcast<unsigned short>(x), mask));
    else
        return nt_bitcast<T>((unsigned char)__shfl_xor_sync(0xffffffffu, (unsigned)nt_bitcast<unsigned char>(x), mask));
}

enum { NT_ARGMAX, NT_ARGMIN };

// True when (x, i) is to be preferred to (y, j). Equal values: the lower index. A NaN never wins, and
// among NaNs the highest index does; with NAN_WINS a NaN beats every number, the lowest index first.
template <int KIND, bool NAN_WINS, class T> NT_DEV bool nt_arg_beats(T x, int i, T y, int j)
{
    const bool x_nan = x != x, y_nan = y != y;
    if (x_nan || y_nan) {
        if (x_nan && y_nan)
            return NAN_WINS ? i < j : i > j;
        return NAN_WINS ? x_nan : y_nan;
    }
    if (x == y)
        return i < j;
    return KIND == NT_ARGMAX ? x > y : x < y;
}

// Replaces (x, i) by (y, j) when that is the better pair.
template <int KIND, bool NAN_WINS, class T> NT_DEV void nt_arg_step(T &x, int &i, T y, int j)
{
    if (nt_arg_beats<KIND, NAN_WINS>(y, j, x, i)) {
        x = y;
        i = j;
    }
}

#endif
