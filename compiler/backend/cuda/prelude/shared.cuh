// shared.cuh - wide accesses of shared memory.
//
// nt_put<N>(to, from) and nt_take<N>(to, from) move N elements between registers and shared memory
// in one access; N * size is at most 16 bytes, and the shared address is a multiple of it.
#ifndef NT_SHARED_CUH
#define NT_SHARED_CUH
#include "newt/base.cuh"

template <int BYTES> struct nt_access { typedef unsigned char type; };
template <> struct nt_access<2> { typedef unsigned short type; };
template <> struct nt_access<4> { typedef unsigned type; };
template <> struct nt_access<8> { typedef uint2 type; };
template <> struct nt_access<16> { typedef uint4 type; };

template <int N, class T> NT_DEV void nt_put(T *to, const T *from)
{
    typename nt_access<N * sizeof(T)>::type bits;
    memcpy(&bits, from, sizeof bits);
    *(decltype(bits) *)to = bits;
}

template <int N, class T> NT_DEV void nt_take(T *to, const T *from)
{
    auto bits = *(const typename nt_access<N * sizeof(T)>::type *)from;
    memcpy(to, &bits, sizeof bits);
}

#endif
