// atomic.cuh - the plain twin of the prelude's: fibers take turns, so nothing comes between.
#ifndef NT_ATOMIC_CUH
#define NT_ATOMIC_CUH
#include "newt/small.cuh"
#include "newt/int.cuh"

#define SIMT_ATOMIC(KIND, SUFFIX, RESULT) \
    template <class T> inline T nt_atomic_##KIND##_##SUFFIX(T *at, T x) \
    { \
        T old = *at; \
        *at = RESULT; \
        return old; \
    }
#define NT_DEFINE_ATOMICS(SUFFIX, ORDER) \
    SIMT_ATOMIC(add, SUFFIX, nt_add(old, x)) \
    SIMT_ATOMIC(max, SUFFIX, nt_max(old, x)) \
    SIMT_ATOMIC(min, SUFFIX, nt_min(old, x)) \
    SIMT_ATOMIC(and, SUFFIX, nt_and(old, x)) \
    SIMT_ATOMIC(or, SUFFIX, nt_or(old, x)) \
    SIMT_ATOMIC(xor, SUFFIX, nt_xor(old, x)) \
    SIMT_ATOMIC(xchg, SUFFIX, x) \
    template <class T> inline T nt_atomic_cas_##SUFFIX(T *at, T expected, T desired) \
    { \
        T old = *at; \
        if (memcmp(&old, &expected, sizeof old) == 0) \
            *at = desired; \
        return old; \
    }

#endif
