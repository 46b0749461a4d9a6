// access.cuh - the emulator's global accesses; see the prelude's file of this name.
#ifndef NT_ACCESS_CUH
#define NT_ACCESS_CUH
#include "newt/base.cuh"

#define NT_ACCESS_LOAD(NAME, LD) \
    template <int N, class T> NT_DEV void NAME(T *to, const T *from, bool mask = true) \
    { \
        simt_load(to, from, N * sizeof(T), mask, SIMT_GLOBAL); \
    }
#define NT_ACCESS_PLAIN_LOAD(NAME) NT_ACCESS_LOAD(NAME, "ld.global")
#define NT_ACCESS_STORE(NAME, ST) \
    template <int N, class T> NT_DEV void NAME(T *to, const T *from, bool mask = true) \
    { \
        simt_store(to, from, N * sizeof(T), mask, SIMT_GLOBAL); \
    }

#endif
