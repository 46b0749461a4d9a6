// compare.cuh - comparisons of ints, bools, floats, doubles and pointers.
//
// C++ compares as the language does: false with a NaN, but for !=. Small floats are in small.cuh.
#ifndef NT_COMPARE_CUH
#define NT_COMPARE_CUH
#include "newt/base.cuh"

template <class T> NT_DEV bool nt_eq(T a, T b)
{
    return a == b;
}

template <class T> NT_DEV bool nt_ne(T a, T b)
{
    return a != b;
}

template <class T> NT_DEV bool nt_lt(T a, T b)
{
    return a < b;
}

template <class T> NT_DEV bool nt_le(T a, T b)
{
    return a <= b;
}

template <class T> NT_DEV bool nt_gt(T a, T b)
{
    return a > b;
}

template <class T> NT_DEV bool nt_ge(T a, T b)
{
    return a >= b;
}

#endif
