// atom.cuh - the emulator's atomic instructions; see the prelude's file of this name.
//
// simt_atomic announces an update; until this thread's next event no other thread runs, so what follows
// is atomic.
#ifndef NT_ATOM_CUH
#define NT_ATOM_CUH
#include "newt/convert.cuh"

template <class T> NT_DEV T simt_sum(T a, T b)
{
    if constexpr (nt_kind<T> == NT_SMALL)
        return nt_narrow<T>(nt_widen(a) + nt_widen(b));
    else if constexpr (nt_kind<T> == NT_FLOAT)
        return a + b;
    else
        return (T)((nt_uint<T>)a + (nt_uint<T>)b);
}

// The result of an instruction "add.s32", "max.u64", "exch.b32" ...
template <class T> NT_DEV T simt_result(const char *ins, T old, T x)
{
    const bool is = ins[0] == 'a' && ins[1] == 'd';
    if (is)
        return simt_sum(old, x);
    if constexpr (nt_kind<T> == NT_INT)
        switch (ins[0]) {
        case 'm': return (ins[1] == 'a') == (x > old) ? x : old;
        case 'a': return (T)(old & x);
        case 'o': return (T)(old | x);
        case 'x': return (T)(old ^ x);
        }
    return x;
}

template <class T> NT_DEV T simt_update(T *at, T x, const char *order, const char *ins)
{
    if (!simt_atomic(at, sizeof(T), &x, sizeof x, order))
        return T();
    T old;
    memcpy(&old, at, sizeof old);
    const T result = simt_result(ins, old, x);
    memcpy(at, &result, sizeof result);
    return old;
}

#define NT_ATOM(NAME, ORDER, INS, T, REG) \
    NT_DEV T NAME(T *at, T x) \
    { \
        return simt_update(at, x, ORDER, INS); \
    }
#define NT_ATOM_HALF(NAME, ORDER, INS, T) NT_ATOM(NAME, ORDER, INS, T, "h")
#define NT_ATOM_CAS(NAME, ORDER) \
    template <class T> NT_DEV T NAME(T *at, T expected, T desired) \
    { \
        T old = T(); \
        const T both[] = { expected, desired }; \
        if (simt_atomic(at, sizeof(T), both, sizeof both, ORDER)) { \
            memcpy(&old, at, sizeof old); \
            if (memcmp(&old, &expected, sizeof old) == 0) \
                memcpy(at, &desired, sizeof desired); \
        } \
        return old; \
    }

NT_DEV unsigned short nt_peek16(const void *at)
{
    unsigned short bits = 0;
    if (simt_atomic((void *)at, sizeof bits, nullptr, 0, ".relaxed"))
        memcpy(&bits, at, sizeof bits);
    return bits;
}

#endif
