// access.cuh - the instructions that move between registers and global memory.
//
// NT_ACCESS_PLAIN_LOAD(name), NT_ACCESS_LOAD(name, "ld.global.cg") and NT_ACCESS_STORE(name, "st.global") make
// name<N>(to, from, mask): N elements in one access (N * size is 1, 2, 4, 8 or 16 bytes and the address
// is aligned to it) where mask is true; a load leaves `to` alone elsewhere. The emulator of the tests has
// a file of this name of its own.
#ifndef NT_ACCESS_CUH
#define NT_ACCESS_CUH
#include "newt/base.cuh"

// Loads without modifiers are ordinary loads, which the compiler may schedule and predicate as it likes;
// stores are volatile assembly that clobbers memory, so no load moves across one.
template <int BYTES> struct nt_word;
template <> struct nt_word<1> { unsigned char w; };
template <> struct nt_word<2> { unsigned short w; };
template <> struct nt_word<4> { unsigned w; };
template <> struct __align__(8) nt_word<8> { unsigned w[2]; };
template <> struct __align__(16) nt_word<16> { unsigned w[4]; };

#define NT_ACCESS_PLAIN_LOAD(NAME) \
    template <int N, class T> NT_DEV void NAME(T *to, const T *from, bool mask = true) \
    { \
        typedef nt_word<N * (int)sizeof(T)> word; \
        if (mask) { \
            const word w = *(const word *)from; \
            memcpy(to, &w, sizeof w); \
        } \
    }

#define NT_ACCESS_LOAD(NAME, LD) \
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
    }

#define NT_ACCESS_STORE(NAME, ST) \
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
    }

#endif
