// memory.cuh - global memory: wide accesses under a predicate, and their checked forms.
//
// NT_DEFINE_LOAD(name, "ld.global.cg") and NT_DEFINE_STORE make the functions for one set of modifiers;
// a kernel names those it uses. name<N>(to, from, mask) moves N elements (N * size is 1, 2, 4, 8 or
// 16 bytes and `from` is aligned to it) where mask is true and leaves `to` alone elsewhere.
// name_checked<N, KNOWN>(to, from, mask) takes one address and mask an element and makes the one wide
// access where the addresses are consecutive and aligned and the masks equal, N narrow ones
// where not; KNOWN (NT_CONSECUTIVE ...) names what need not be tested because it was proved.
#ifndef NT_MEMORY_CUH
#define NT_MEMORY_CUH
#include "newt/base.cuh"

enum { NT_CONSECUTIVE = 1, NT_ALIGNED = 2, NT_UNIFORM = 4 };

template <int N, int KNOWN, class T> NT_DEV bool nt_is_wide(const T *const *at)
{
    const unsigned long long first = (unsigned long long)at[0];
    bool wide = (KNOWN & NT_ALIGNED) != 0 || first % (N * sizeof(T)) == 0;
    if (!(KNOWN & NT_CONSECUTIVE)) {
        NT_UNROLL for (int i = 1; i < N; i++)
            wide = wide && (unsigned long long)at[i] == first + i * sizeof(T);
    }
    return wide;
}

template <int N, int KNOWN> NT_DEV bool nt_is_uniform(const bool *mask)
{
    bool uniform = true;
    if (!(KNOWN & NT_UNIFORM)) {
        NT_UNROLL for (int i = 1; i < N; i++)
            uniform = uniform && mask[i] == mask[0];
    }
    return uniform;
}

#define NT_DEFINE_LOAD(NAME, LD) \
    template <int N, class T> NT_DEV void NAME(T *to, const T *from, bool mask = true) \
    { \
        constexpr int bytes = N * (int)sizeof(T); \
        const unsigned p = mask; \
        unsigned w[bytes > 4 ? bytes / 4 : 1] = {}; \
        memcpy(w, to, bytes); \
        if constexpr (bytes == 16) \
            asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %5, 0;\n\t" \
                         "@p " LD ".v4.b32 {%0, %1, %2, %3}, [%4];\n\t}" \
                         : "+r"(w[0]), "+r"(w[1]), "+r"(w[2]), "+r"(w[3]) : "l"(from), "r"(p) : "memory"); \
        else if constexpr (bytes == 8) \
            asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %3, 0;\n\t" \
                         "@p " LD ".v2.b32 {%0, %1}, [%2];\n\t}" \
                         : "+r"(w[0]), "+r"(w[1]) : "l"(from), "r"(p) : "memory"); \
        else if constexpr (bytes == 4) \
            asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %2, 0;\n\t@p " LD ".b32 %0, [%1];\n\t}" \
                         : "+r"(w[0]) : "l"(from), "r"(p) : "memory"); \
        else if constexpr (bytes == 2) \
            asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %2, 0;\n\t@p " LD ".u16 %0, [%1];\n\t}" \
                         : "+r"(w[0]) : "l"(from), "r"(p) : "memory"); \
        else \
            asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %2, 0;\n\t@p " LD ".u8 %0, [%1];\n\t}" \
                         : "+r"(w[0]) : "l"(from), "r"(p) : "memory"); \
        memcpy(to, w, bytes); \
    } \
    template <int N, int KNOWN, class T, class P> \
    NT_DEV void NAME##_checked(T *to, P *const *from, const bool *mask) \
    { \
        if (nt_is_wide<N, KNOWN, T>(from) && nt_is_uniform<N, KNOWN>(mask)) { \
            NAME<N>(to, from[0], mask[0]); \
        } else { \
            NT_UNROLL for (int i = 0; i < N; i++) \
                NAME<1>(to + i, from[i], mask[i]); \
        } \
    } \
    template <int N, int KNOWN, class T, class P> NT_DEV void NAME##_checked(T *to, P *const *from) \
    { \
        if (nt_is_wide<N, KNOWN, T>(from)) { \
            NAME<N>(to, from[0]); \
        } else { \
            NT_UNROLL for (int i = 0; i < N; i++) \
                NAME<1>(to + i, from[i]); \
        } \
    }

#define NT_DEFINE_STORE(NAME, ST) \
    template <int N, class T> NT_DEV void NAME(T *to, const T *from, bool mask = true) \
    { \
        constexpr int bytes = N * (int)sizeof(T); \
        const unsigned p = mask; \
        unsigned w[bytes > 4 ? bytes / 4 : 1] = {}; \
        memcpy(w, from, bytes); \
        if constexpr (bytes == 16) \
            asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %5, 0;\n\t" \
                         "@p " ST ".v4.b32 [%0], {%1, %2, %3, %4};\n\t}" \
                         :: "l"(to), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]), "r"(p) : "memory"); \
        else if constexpr (bytes == 8) \
            asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %3, 0;\n\t" \
                         "@p " ST ".v2.b32 [%0], {%1, %2};\n\t}" \
                         :: "l"(to), "r"(w[0]), "r"(w[1]), "r"(p) : "memory"); \
        else if constexpr (bytes == 4) \
            asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %2, 0;\n\t@p " ST ".b32 [%0], %1;\n\t}" \
                         :: "l"(to), "r"(w[0]), "r"(p) : "memory"); \
        else if constexpr (bytes == 2) \
            asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %2, 0;\n\t@p " ST ".u16 [%0], %1;\n\t}" \
                         :: "l"(to), "r"(w[0]), "r"(p) : "memory"); \
        else \
            asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %2, 0;\n\t@p " ST ".u8 [%0], %1;\n\t}" \
                         :: "l"(to), "r"(w[0]), "r"(p) : "memory"); \
    } \
    template <int N, int KNOWN, class T> \
    NT_DEV void NAME##_checked(T *const *to, const T *from, const bool *mask) \
    { \
        if (nt_is_wide<N, KNOWN, T>(to) && nt_is_uniform<N, KNOWN>(mask)) { \
            NAME<N>(to[0], from, mask[0]); \
        } else { \
            NT_UNROLL for (int i = 0; i < N; i++) \
                NAME<1>(to[i], from + i, mask[i]); \
        } \
    } \
    template <int N, int KNOWN, class T> NT_DEV void NAME##_checked(T *const *to, const T *from) \
    { \
        if (nt_is_wide<N, KNOWN, T>(to)) { \
            NAME<N>(to[0], from); \
        } else { \
            NT_UNROLL for (int i = 0; i < N; i++) \
                NAME<1>(to[i], from + i); \
        } \
    }

#endif
