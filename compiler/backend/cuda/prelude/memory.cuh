// memory.cuh - global memory: wide accesses under a predicate, and their checked forms.
//
// NT_DEFINE_LOAD(name, "ld.global.cg") and NT_DEFINE_STORE make the functions for one set of modifiers;
// a kernel names those it uses. name<N>(to, from, mask) moves N elements (N * size is 1, 2, 4, 8 or
// 16 bytes and `from` is aligned to it) where mask is true and leaves `to` alone elsewhere.
// name_checked<N, KNOWN, SLOTS>(to, from, mask) moves SLOTS elements with an address and a mask each: as wide
// accesses of N where in every group the addresses are consecutive and aligned and the masks equal,
// one by one where not. One decision for all of them, so that a thread's loads go out together.
// KNOWN (NT_CONSECUTIVE ...) names what need not be tested because it was proved; NT_ALIKE says that all
// groups are aligned if the first is, NT_FALLING that no element is masked in behind one masked out.
// NT_WHOLE (loads) asks for a path without masks, for threads that load all: what a loop mostly takes.
// Groups of 16 bytes of small elements get a path of 8 bytes at once in between: rows of 1500 halves are
// 8-byte aligned, and every second one no better.
#ifndef NT_MEMORY_CUH
#define NT_MEMORY_CUH
#include "newt/access.cuh"

enum {
    NT_CONSECUTIVE = 1, NT_ALIGNED = 2, NT_UNIFORM = 4, NT_ALIKE = 8, NT_FALLING = 16, NT_WHOLE = 32,
    NT_PROVED = NT_CONSECUTIVE | NT_ALIGNED | NT_UNIFORM
};

template <int N, int KNOWN, int SLOTS, class T> NT_DEV bool nt_all_wide(const T *const *at)
{
    bool wide = true;
    NT_UNROLL for (int g = 0; g < SLOTS; g += N) {
        const unsigned long long first = (unsigned long long)at[g];
        if (!(KNOWN & NT_ALIGNED) && !(KNOWN & NT_ALIKE && g > 0))
            wide &= first % (N * sizeof(T)) == 0;
        if (!(KNOWN & NT_CONSECUTIVE)) {
            NT_UNROLL for (int i = 1; i < N; i++)
                wide &= (unsigned long long)at[g + i] == first + i * sizeof(T);
        }
    }
    return wide;
}

template <int N, int KNOWN, int SLOTS> NT_DEV bool nt_all_uniform(const bool *mask)
{
    bool uniform = true;
    if (!(KNOWN & NT_UNIFORM)) {
        NT_UNROLL for (int g = 0; g < SLOTS; g += N) {
            NT_UNROLL for (int i = KNOWN & NT_FALLING ? N - 1 : 1; i < N; i++)
                uniform &= mask[g + i] == mask[g];
        }
    }
    return uniform;
}

// Whether the first path of a checked load is taken: wide, and without masks for NT_WHOLE.
template <int N, int KNOWN, int SLOTS, class T> NT_DEV bool nt_is_wide(const T *const *at, const bool *mask)
{
    if constexpr (KNOWN & NT_WHOLE)
        return nt_all_wide<N, KNOWN, SLOTS>(at) & mask[SLOTS - 1];
    else
        return nt_all_wide<N, KNOWN, SLOTS>(at) & nt_all_uniform<N, KNOWN, SLOTS>(mask);
}

// The elements at once between N and one by one, or 1 for no such path.
template <int N, int KNOWN, class T> NT_DEV constexpr int nt_halfway()
{
    return N * sizeof(T) == 16 && sizeof(T) <= 2 && !(KNOWN & NT_ALIGNED) ? N / 2 : 1;
}

template <int N, int KNOWN, int SLOTS, class T> NT_DEV bool nt_is_halfway(const T *const *at, const bool *mask)
{
    if constexpr (nt_halfway<N, KNOWN, T>() == 1)
        return false;
    else
        return nt_all_wide<N / 2, KNOWN, SLOTS>(at) & (!mask || nt_all_uniform<N / 2, KNOWN, SLOTS>(mask));
}

#define NT_DEFINE_LOAD_CHECKED(NAME) \
    template <int N, int KNOWN, int SLOTS, class T, class P> \
    NT_DEV void NAME##_checked(T *to, P *const *from, const bool *mask) \
    { \
        constexpr int narrow = (KNOWN & NT_PROVED) == NT_PROVED ? N : 1, half = nt_halfway<N, KNOWN, T>(); \
        if (nt_is_wide<N, KNOWN, SLOTS, T>(from, mask)) { \
            NT_UNROLL for (int i = 0; i < SLOTS; i += N) \
                NAME<N>(to + i, from[i], KNOWN & NT_WHOLE || mask[i]); \
        } else if (nt_is_halfway<N, KNOWN, SLOTS, T>(from, mask)) { \
            NT_UNROLL for (int i = 0; i < SLOTS; i += half) \
                NAME<half>(to + i, from[i], mask[i]); \
        } else { \
            NT_UNROLL for (int i = 0; i < SLOTS; i += narrow) \
                NAME<narrow>(to + i, from[i], mask[i]); \
        } \
    } \
    template <int N, int KNOWN, int SLOTS, class T, class P> NT_DEV void NAME##_checked(T *to, P *const *from) \
    { \
        constexpr int half = nt_halfway<N, KNOWN, T>(); \
        if (nt_all_wide<N, KNOWN, SLOTS, T>(from)) { \
            NT_UNROLL for (int i = 0; i < SLOTS; i += N) \
                NAME<N>(to + i, from[i]); \
        } else if (nt_is_halfway<N, KNOWN, SLOTS, T>(from, nullptr)) { \
            NT_UNROLL for (int i = 0; i < SLOTS; i += half) \
                NAME<half>(to + i, from[i]); \
        } else { \
            NT_UNROLL for (int i = 0; i < SLOTS; i++) \
                NAME<1>(to + i, from[i]); \
        } \
    }

#define NT_DEFINE_PLAIN_LOAD(NAME) \
    NT_ACCESS_PLAIN_LOAD(NAME) \
    NT_DEFINE_LOAD_CHECKED(NAME)

#define NT_DEFINE_LOAD(NAME, LD) \
    NT_ACCESS_LOAD(NAME, LD) \
    NT_DEFINE_LOAD_CHECKED(NAME)

#define NT_DEFINE_STORE(NAME, ST) \
    NT_ACCESS_STORE(NAME, ST) \
    template <int N, int KNOWN, int SLOTS, int STEP, class T> \
    NT_DEV void NAME##_checked(T *const *to, const T *from, const bool *mask) \
    { \
        constexpr int half = nt_halfway<N, KNOWN, T>(); \
        if (nt_all_wide<N, KNOWN, SLOTS, T>(to) & nt_all_uniform<N, KNOWN, SLOTS>(mask)) { \
            NT_UNROLL for (int i = 0; i < SLOTS; i += N) \
                NAME<N>(to[i], from + i * STEP, mask[i]); \
        } else if (nt_is_halfway<N, KNOWN, SLOTS, T>(to, mask)) { \
            NT_UNROLL for (int i = 0; i < SLOTS; i += half) \
                NAME<half>(to[i], from + (STEP ? i : i % N), mask[i]); \
        } else { \
            NT_UNROLL for (int i = 0; i < SLOTS; i++) \
                NAME<1>(to[i], from + (STEP ? i : i % N), mask[i]); \
        } \
    } \
    template <int N, int KNOWN, int SLOTS, int STEP, class T> NT_DEV void NAME##_checked(T *const *to, const T *from) \
    { \
        constexpr int half = nt_halfway<N, KNOWN, T>(); \
        if (nt_all_wide<N, KNOWN, SLOTS, T>(to)) { \
            NT_UNROLL for (int i = 0; i < SLOTS; i += N) \
                NAME<N>(to[i], from + i * STEP); \
        } else if (nt_is_halfway<N, KNOWN, SLOTS, T>(to, nullptr)) { \
            NT_UNROLL for (int i = 0; i < SLOTS; i += half) \
                NAME<half>(to[i], from + (STEP ? i : i % N)); \
        } else { \
            NT_UNROLL for (int i = 0; i < SLOTS; i++) \
                NAME<1>(to[i], from + (STEP ? i : i % N)); \
        } \
    }

#endif
