// atom.cuh - the instructions that update global memory; each gives the old value.
//
// The emulator of the tests has a file of this name of its own.
#ifndef NT_ATOM_CUH
#define NT_ATOM_CUH
#include "newt/base.cuh"

// One instruction: INS on a register class ("r", "l", "f", "d", "h") of type T.
#define NT_ATOM(NAME, ORDER, INS, T, REG) \
    NT_DEV T NAME(T *at, T x) \
    { \
        T old; \
        asm volatile("atom" ORDER ".global." INS " %0, [%1], %2;" : "=" REG(old) : "l"(at), REG(x) : "memory"); \
        return old; \
    }

// The same on a 16-bit float.
#define NT_ATOM_HALF(NAME, ORDER, INS, T) \
    NT_DEV T NAME(T *at, T x) \
    { \
        T old; \
        asm volatile("atom" ORDER ".global." INS " %0, [%1], %2;" \
                     : "=h"(old.bits) : "l"(at), "h"(x.bits) : "memory"); \
        return old; \
    }

// Compare and swap of 2, 4 and 8 bytes.
#define NT_ATOM_CAS(NAME, ORDER) \
    template <class T> NT_DEV T NAME(T *at, T expected, T desired) \
    { \
        if constexpr (sizeof(T) == 8) { \
            unsigned long long old, e = nt_bitcast<unsigned long long>(expected); \
            asm volatile("atom" ORDER ".global.cas.b64 %0, [%1], %2, %3;" \
                         : "=l"(old) : "l"(at), "l"(e), "l"(nt_bitcast<unsigned long long>(desired)) : "memory"); \
            return nt_bitcast<T>(old); \
        } else if constexpr (sizeof(T) == 4) { \
            unsigned old, e = nt_bitcast<unsigned>(expected); \
            asm volatile("atom" ORDER ".global.cas.b32 %0, [%1], %2, %3;" \
                         : "=r"(old) : "l"(at), "r"(e), "r"(nt_bitcast<unsigned>(desired)) : "memory"); \
            return nt_bitcast<T>(old); \
        } else { \
            unsigned short old, e = nt_bitcast<unsigned short>(expected); \
            asm volatile("atom" ORDER ".global.cas.b16 %0, [%1], %2, %3;" \
                         : "=h"(old) : "l"(at), "h"(e), "h"(nt_bitcast<unsigned short>(desired)) : "memory"); \
            return nt_bitcast<T>(old); \
        } \
    }

// Where a loop of compare and swap starts from.
NT_DEV unsigned short nt_peek16(const void *at)
{
    return *(const volatile unsigned short *)at;
}

#endif
