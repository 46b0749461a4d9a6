// wgmma.cuh - matrix instructions of a warpgroup, four warps from a multiple of four on, sm_90a alone.
//
// nt_wgmma_m64n<N>k<K>_<sum>_<A>_<B>(sum, a, b, scale) starts sum = A B + (scale ? sum : 0) for 64 x K and K x N numbers
// in shared memory, which descriptors name; ..._rs takes A from registers, four a thread in the order of mma.sync's
// m16n8kK. 16-bit types have template arguments <A, B> (<B> in rs) that are 1 where M or N, not K, is the axis of
// neighbours. Registers of the sum are in the order of PTX's manual (wgmma, "Accumulator D"): N / 2 a thread, fp16 sums
// in N / 4 words. They, and A's, are the instruction's until nt_wgmma_wait: pass them through nt_wgmma_keep then.
//
// A text defines NT_WGMMA_N<N> for the widths it needs, before this file is included; it may be included again for more. The emulator of the tests has a
// file of this name of its own.
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#ifndef NT_WGMMA_CUH
#define NT_WGMMA_CUH
#include "newt/base.cuh"

// Before the first wgmma, and wherever registers that one reads or adds to were written by other instructions.
NT_DEV void nt_wgmma_fence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

// What was started since the last commit is a group.
NT_DEV void nt_wgmma_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits for all groups but the N newest.
template <int N> NT_DEV void nt_wgmma_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

// Keeps uses of these registers behind the wait before it.
template <int N> NT_DEV void nt_wgmma_keep(float (&sum)[N])
{
    NT_UNROLL for (int i = 0; i < N; i++)
        asm volatile("" : "+f"(sum[i])::"memory");
}

template <int N> NT_DEV void nt_wgmma_keep(int (&sum)[N])
{
    NT_UNROLL for (int i = 0; i < N; i++)
        asm volatile("" : "+r"(sum[i])::"memory");
}

template <int N> NT_DEV void nt_wgmma_keep(unsigned (&sum)[N])
{
    NT_UNROLL for (int i = 0; i < N; i++)
        asm volatile("" : "+r"(sum[i])::"memory");
}

// A descriptor: where the factor starts in shared memory, its two strides in bytes (multiples of 16), and its swizzle: 1,
// 2, 3 for 128, 64, 32 bytes, 0 for none.
NT_DEV unsigned long long nt_wgmma_desc(const void *at, unsigned leading, unsigned stride, unsigned layout)
{
    const unsigned long long start = (unsigned)__cvta_generic_to_shared(at) & 0x3ffff;
    return start >> 4 | (unsigned long long)(leading >> 4) << 16 | (unsigned long long)(stride >> 4) << 32 |
           (unsigned long long)layout << 62;
}

// Registers of the sum as operands, C their constraint.
#define NT_WGMMA_2(C, AT) "+" C(sum[AT]), "+" C(sum[AT + 1])
#define NT_WGMMA_4(C, AT) NT_WGMMA_2(C, AT), NT_WGMMA_2(C, AT + 2)
#define NT_WGMMA_8(C, AT) NT_WGMMA_4(C, AT), NT_WGMMA_4(C, AT + 4)
#define NT_WGMMA_16(C, AT) NT_WGMMA_8(C, AT), NT_WGMMA_8(C, AT + 8)
#define NT_WGMMA_24(C, AT) NT_WGMMA_16(C, AT), NT_WGMMA_8(C, AT + 16)
#define NT_WGMMA_32(C, AT) NT_WGMMA_16(C, AT), NT_WGMMA_16(C, AT + 16)
#define NT_WGMMA_48(C, AT) NT_WGMMA_32(C, AT), NT_WGMMA_16(C, AT + 32)
#define NT_WGMMA_64(C, AT) NT_WGMMA_32(C, AT), NT_WGMMA_32(C, AT + 32)
#define NT_WGMMA_96(C, AT) NT_WGMMA_64(C, AT), NT_WGMMA_32(C, AT + 64)
#define NT_WGMMA_128(C, AT) NT_WGMMA_64(C, AT), NT_WGMMA_64(C, AT + 64)

// The same in the text.
#define NT_WGMMA_TEXT_2 "%0, %1"
#define NT_WGMMA_TEXT_4 NT_WGMMA_TEXT_2 ", %2, %3"
#define NT_WGMMA_TEXT_8 NT_WGMMA_TEXT_4 ", %4, %5, %6, %7"
#define NT_WGMMA_TEXT_16 NT_WGMMA_TEXT_8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define NT_WGMMA_TEXT_24 NT_WGMMA_TEXT_16 ", %16, %17, %18, %19, %20, %21, %22, %23"
#define NT_WGMMA_TEXT_32 NT_WGMMA_TEXT_24 ", %24, %25, %26, %27, %28, %29, %30, %31"
#define NT_WGMMA_TEXT_48 NT_WGMMA_TEXT_32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define NT_WGMMA_TEXT_64 NT_WGMMA_TEXT_48 ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define NT_WGMMA_TEXT_96 NT_WGMMA_TEXT_64 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define NT_WGMMA_TEXT_128 NT_WGMMA_TEXT_96 ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, " \
    "%110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, " \
    "%124, %125, %126, %127"

// INS: the instruction's shape and types; R registers of type T in the sum; TAIL: its immediates.
#define NT_WGMMA_START(INS, R, A, B, SCALE, TAIL) \
    "{\n\t.reg .pred p;\n\tsetp.ne.b32 p, " SCALE ", 0;\n\t" \
    "wgmma.mma_async.sync.aligned." INS " {" NT_WGMMA_TEXT_##R "}, " A ", " B ", p" TAIL ";\n\t}"

#define NT_WGMMA_SS(NAME, INS, T, C, R, TAIL, P0, P1, P2, P3, P4, P5, P6) \
    NT_DEV void NAME(T *sum, unsigned long long a, unsigned long long b, int scale) \
    { \
        asm volatile(NT_WGMMA_START(INS, R, P0, P1, P2, TAIL) : NT_WGMMA_##R(C, 0) : "l"(a), "l"(b), "r"(scale)); \
    } \
    NT_DEV void NAME##_rs(T *sum, const unsigned *a, unsigned long long b, int scale) \
    { \
        asm volatile(NT_WGMMA_START(INS, R, "{" P0 ", " P1 ", " P2 ", " P3 "}", P4, P5, TAIL) \
                     : NT_WGMMA_##R(C, 0) \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale)); \
    }

// 16-bit factors, in either order.
#define NT_WGMMA_SS_16(NAME, INS, T, C, R, P0, P1, P2, P3, P4, P5, P6) \
    template <int A, int B> NT_DEV void NAME(T *sum, unsigned long long a, unsigned long long b, int scale) \
    { \
        asm volatile(NT_WGMMA_START(INS, R, P0, P1, P2, ", 1, 1, " P3 ", " P4) \
                     : NT_WGMMA_##R(C, 0) : "l"(a), "l"(b), "r"(scale), "n"(A), "n"(B)); \
    } \
    template <int B> NT_DEV void NAME##_rs(T *sum, const unsigned *a, unsigned long long b, int scale) \
    { \
        asm volatile(NT_WGMMA_START(INS, R, "{" P0 ", " P1 ", " P2 ", " P3 "}", P4, P5, ", 1, 1, " P6) \
                     : NT_WGMMA_##R(C, 0) \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale), "n"(B)); \
    }

// All instructions of width N. R registers in a sum, and the operands behind them; the same of fp16 sums.
#define NT_WGMMA_ALL(N, R, ...) \
    NT_WGMMA_SS_16(nt_wgmma_m64n##N##k16_f32_f16_f16, "m64n" #N "k16.f32.f16.f16", float, "f", R, __VA_ARGS__) \
    NT_WGMMA_SS_16(nt_wgmma_m64n##N##k16_f32_bf16_bf16, "m64n" #N "k16.f32.bf16.bf16", float, "f", R, __VA_ARGS__) \
    NT_WGMMA_SS(nt_wgmma_m64n##N##k8_f32_tf32_tf32, "m64n" #N "k8.f32.tf32.tf32", float, "f", R, ", 1, 1", __VA_ARGS__) \
    NT_WGMMA_SS(nt_wgmma_m64n##N##k32_f32_e4m3_e4m3, "m64n" #N "k32.f32.e4m3.e4m3", float, "f", R, ", 1, 1", __VA_ARGS__) \
    NT_WGMMA_SS(nt_wgmma_m64n##N##k32_f32_e4m3_e5m2, "m64n" #N "k32.f32.e4m3.e5m2", float, "f", R, ", 1, 1", __VA_ARGS__) \
    NT_WGMMA_SS(nt_wgmma_m64n##N##k32_f32_e5m2_e4m3, "m64n" #N "k32.f32.e5m2.e4m3", float, "f", R, ", 1, 1", __VA_ARGS__) \
    NT_WGMMA_SS(nt_wgmma_m64n##N##k32_f32_e5m2_e5m2, "m64n" #N "k32.f32.e5m2.e5m2", float, "f", R, ", 1, 1", __VA_ARGS__) \
    NT_WGMMA_SS(nt_wgmma_m64n##N##k32_s32_s8_s8, "m64n" #N "k32.s32.s8.s8", int, "r", R, "", __VA_ARGS__)
#define NT_WGMMA_HALF(N, R, ...) \
    NT_WGMMA_SS_16(nt_wgmma_m64n##N##k16_f16_f16_f16, "m64n" #N "k16.f16.f16.f16", unsigned, "r", R, __VA_ARGS__)

#endif

// Each width once, however often the file is included.
#if defined(NT_WGMMA_N8) && !defined(NT_HAS_WGMMA_N8)
#define NT_HAS_WGMMA_N8
NT_WGMMA_ALL(8, 4, "%4", "%5", "%6", "%7", "%8", "%9", "%10")
NT_WGMMA_HALF(8, 2, "%2", "%3", "%4", "%5", "%6", "%7", "%8")
#endif
#if defined(NT_WGMMA_N16) && !defined(NT_HAS_WGMMA_N16)
#define NT_HAS_WGMMA_N16
NT_WGMMA_ALL(16, 8, "%8", "%9", "%10", "%11", "%12", "%13", "%14")
NT_WGMMA_HALF(16, 4, "%4", "%5", "%6", "%7", "%8", "%9", "%10")
#endif
#if defined(NT_WGMMA_N32) && !defined(NT_HAS_WGMMA_N32)
#define NT_HAS_WGMMA_N32
NT_WGMMA_ALL(32, 16, "%16", "%17", "%18", "%19", "%20", "%21", "%22")
NT_WGMMA_HALF(32, 8, "%8", "%9", "%10", "%11", "%12", "%13", "%14")
#endif
#if defined(NT_WGMMA_N64) && !defined(NT_HAS_WGMMA_N64)
#define NT_HAS_WGMMA_N64
NT_WGMMA_ALL(64, 32, "%32", "%33", "%34", "%35", "%36", "%37", "%38")
NT_WGMMA_HALF(64, 16, "%16", "%17", "%18", "%19", "%20", "%21", "%22")
#endif
#if defined(NT_WGMMA_N96) && !defined(NT_HAS_WGMMA_N96)
#define NT_HAS_WGMMA_N96
NT_WGMMA_ALL(96, 48, "%48", "%49", "%50", "%51", "%52", "%53", "%54")
NT_WGMMA_HALF(96, 24, "%24", "%25", "%26", "%27", "%28", "%29", "%30")
#endif
#if defined(NT_WGMMA_N128) && !defined(NT_HAS_WGMMA_N128)
#define NT_HAS_WGMMA_N128
NT_WGMMA_ALL(128, 64, "%64", "%65", "%66", "%67", "%68", "%69", "%70")
NT_WGMMA_HALF(128, 32, "%32", "%33", "%34", "%35", "%36", "%37", "%38")
#endif
#if defined(NT_WGMMA_N192) && !defined(NT_HAS_WGMMA_N192)
#define NT_HAS_WGMMA_N192
NT_WGMMA_ALL(192, 96, "%96", "%97", "%98", "%99", "%100", "%101", "%102")
NT_WGMMA_HALF(192, 48, "%48", "%49", "%50", "%51", "%52", "%53", "%54")
#endif
#if defined(NT_WGMMA_N256) && !defined(NT_HAS_WGMMA_N256)
#define NT_HAS_WGMMA_N256
NT_WGMMA_ALL(256, 128, "%128", "%129", "%130", "%131", "%132", "%133", "%134")
NT_WGMMA_HALF(256, 64, "%64", "%65", "%66", "%67", "%68", "%69", "%70")
#endif
#endif
