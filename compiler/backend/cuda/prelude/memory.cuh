// memory.cuh - global memory: wide accesses under a predicate, and their checked forms.
//
// NT_DEFINE_LOAD(name, "ld.global.cg") and NT_DEFINE_STORE make the functions for one set of modifiers;
// a kernel names those it uses. name<N>(to, from, mask) moves N elements (N * size is 1, 2, 4, 8 or
// 16 bytes and `from` is aligned to it) where mask is true and leaves `to` alone elsewhere.
// name_checked<N, KNOWN, SLOTS>(to, from, mask) moves SLOTS elements with an address and a mask each: as wide
// accesses of N where in every group the addresses are consecutive and aligned and the masks equal,
// one by one where not. One decision for all of them, so that a thread's loads go out together.
// KNOWN (NT_CONSECUTIVE ...) names what need not be tested because it was proved.
#ifndef NT_MEMORY_CUH
#define NT_MEMORY_CUH
#include "newt/base.cuh"

enum { NT_CONSECUTIVE = 1, NT_ALIGNED = 2, NT_UNIFORM = 4 };

template <int N, int KNOWN, int SLOTS, class T> NT_DEV bool nt_all_wide(const T *const *at)
{
    bool wide = true;
    NT_UNROLL for (int g = 0; g < SLOTS; g += N) {
        const unsigned long long first = (unsigned long long)at[g];
        if (!(KNOWN & NT_ALIGNED))
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
            NT_UNROLL for (int i = 1; i < N; i++)
                uniform &= mask[g + i] == mask[g];
        }
    }
    return uniform;
}

#define NT_DEFINE_LOAD_CHECKED(NAME) \
    template <int N, int KNOWN, int SLOTS, class T, class P> \
    NT_DEV void NAME##_checked(T *to, P *const *from, const bool *mask) \
    { \
        if (nt_all_wide<N, KNOWN, SLOTS, T>(from) & nt_all_uniform<N, KNOWN, SLOTS>(mask)) { \
            NT_UNROLL for (int i = 0; i < SLOTS; i += N) \
                NAME<N>(to + i, from[i], mask[i]); \
        } else { \
            NT_UNROLL for (int i = 0; i < SLOTS; i++) \
                NAME<1>(to + i, from[i], mask[i]); \
        } \
    } \
    template <int N, int KNOWN, int SLOTS, class T, class P> NT_DEV void NAME##_checked(T *to, P *const *from) \
    { \
        if (nt_all_wide<N, KNOWN, SLOTS, T>(from)) { \
            NT_UNROLL for (int i = 0; i < SLOTS; i += N) \
                NAME<N>(to + i, from[i]); \
        } else { \
            NT_UNROLL for (int i = 0; i < SLOTS; i++) \
                NAME<1>(to + i, from[i]); \
        } \
    }

// Loads without modifiers are ordinary loads, which the compiler may schedule and predicate as it likes;
// stores are volatile assembly that clobbers memory, so no load moves across one.
template <int BYTES> struct nt_word;
template <> struct nt_word<1> { unsigned char w; };
template <> struct nt_word<2> { unsigned short w; };
template <> struct nt_word<4> { unsigned w; };
template <> struct __align__(8) nt_word<8> { unsigned w[2]; };
template <> struct __align__(16) nt_word<16> { unsigned w[4]; };

#define NT_DEFINE_PLAIN_LOAD(NAME) \
    template <int N, class T> NT_DEV void NAME(T *to, const T *from, bool mask = true) \
    { \
        typedef nt_word<N * (int)sizeof(T)> word; \
        if (mask) { \
            const word w = *(const word *)from; \
            memcpy(to, &w, sizeof w); \
        } \
    } \
    NT_DEFINE_LOAD_CHECKED(NAME)

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
    NT_DEFINE_LOAD_CHECKED(NAME)

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
    template <int N, int KNOWN, int SLOTS, int STEP, class T> \
    NT_DEV void NAME##_checked(T *const *to, const T *from, const bool *mask) \
    { \
        if (nt_all_wide<N, KNOWN, SLOTS, T>(to) & nt_all_uniform<N, KNOWN, SLOTS>(mask)) { \
            NT_UNROLL for (int i = 0; i < SLOTS; i += N) \
                NAME<N>(to[i], from + i * STEP, mask[i]); \
        } else { \
            NT_UNROLL for (int i = 0; i < SLOTS; i++) \
                NAME<1>(to[i], from + (STEP ? i : i % N), mask[i]); \
        } \
    } \
    template <int N, int KNOWN, int SLOTS, int STEP, class T> NT_DEV void NAME##_checked(T *const *to, const T *from) \
    { \
        if (nt_all_wide<N, KNOWN, SLOTS, T>(to)) { \
            NT_UNROLL for (int i = 0; i < SLOTS; i += N) \
                NAME<N>(to[i], from + i * STEP); \
        } else { \
            NT_UNROLL for (int i = 0; i < SLOTS; i++) \
                NAME<1>(to[i], from + (STEP ? i : i % N)); \
        } \
    }

#endif
