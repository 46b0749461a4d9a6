// memory.cuh - the plain twin of the prelude's: same functions, and a misaligned wide access is a fault.
#ifndef NT_MEMORY_CUH
#define NT_MEMORY_CUH
#include "newt/base.cuh"

enum {
    NT_CONSECUTIVE = 1, NT_ALIGNED = 2, NT_UNIFORM = 4, NT_ALIKE = 8, NT_FALLING = 16, NT_WHOLE = 32,
    NT_PROVED = NT_CONSECUTIVE | NT_ALIGNED | NT_UNIFORM
};

static void simt_move(void *to, const void *from, const void *global, size_t bytes)
{
    if ((uintptr_t)global % bytes) {
        printf("misaligned access of %zu bytes\n", bytes);
        exit(1);
    }
    memcpy(to, from, bytes);
}

// Whether all groups of N are wide. Facts that the compiler claims to have proved are checked here.
template <int N, int KNOWN, int SLOTS, class T> static bool simt_is_wide(const T *const *at, const bool *mask)
{
    bool consecutive = true, uniform = true, aligned = true, alike = true, falling = true;
    for (int i = 0; i < SLOTS; i++) {
        const int g = i / N * N;
        aligned = aligned && (uintptr_t)at[g] % (N * sizeof(T)) == 0;
        consecutive = consecutive && at[i] == at[g] + (i - g);
        uniform = uniform && (!mask || mask[i] == mask[g]);
        alike = alike && ((uintptr_t)at[g] - (uintptr_t)at[0]) % (N * sizeof(T)) == 0;
        falling = falling && (!mask || ((!mask[i] || mask[g]) && (!mask[SLOTS - 1] || mask[i])));
    }
    if (((KNOWN & NT_CONSECUTIVE) && !consecutive) || ((KNOWN & NT_ALIGNED) && !aligned) ||
        ((KNOWN & NT_UNIFORM) && !uniform) || ((KNOWN & NT_ALIKE) && !alike) ||
        ((KNOWN & (NT_FALLING | NT_WHOLE)) && !falling)) {
        printf("an access is not what was proved\n");
        exit(1);
    }
    return consecutive && uniform && aligned;
}

#define NT_DEFINE_PLAIN_LOAD(NAME) NT_DEFINE_LOAD(NAME, "ld.global")

#define NT_DEFINE_LOAD(NAME, LD) \
    template <int N, class T> inline void NAME(T *to, const T *from, bool mask = true) \
    { \
        if (mask) \
            simt_move(to, from, from, N * sizeof(T)); \
    } \
    template <int N, int KNOWN, int SLOTS, class T, class P> \
    inline void NAME##_checked(T *to, P *const *from, const bool *mask = nullptr) \
    { \
        const bool wide = simt_is_wide<N, KNOWN, SLOTS, T>(from, mask); \
        for (int i = 0; i < SLOTS; i += wide ? N : 1) \
            wide ? NAME<N>(to + i, from[i], !mask || mask[i]) : NAME<1>(to + i, from[i], !mask || mask[i]); \
    }

#define NT_DEFINE_STORE(NAME, ST) \
    template <int N, class T> inline void NAME(T *to, const T *from, bool mask = true) \
    { \
        if (mask) \
            simt_move(to, from, to, N * sizeof(T)); \
    } \
    template <int N, int KNOWN, int SLOTS, int STEP, class T> \
    inline void NAME##_checked(T *const *to, const T *from, const bool *mask = nullptr) \
    { \
        const bool wide = simt_is_wide<N, KNOWN, SLOTS, T>(to, mask); \
        for (int i = 0; i < SLOTS; i += wide ? N : 1) { \
            const T *data = STEP ? from + i : wide ? from : from + i % N; \
            wide ? NAME<N>(to[i], data, !mask || mask[i]) : NAME<1>(to[i], data, !mask || mask[i]); \
        } \
    }

#endif
