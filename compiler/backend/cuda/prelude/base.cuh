// base.cuh - what every generated kernel uses: qualifiers, storage types, kinds of types, loops.
//
// The prelude includes nothing, so NVRTC needs no include path. What a kernel does not call costs
// only its parsing: the emitter includes a header only when an operation of the kernel needs it.
#ifndef NT_BASE_CUH
#define NT_BASE_CUH

// The tests, which run all this on the host, come with definitions of their own.
#ifndef NT_DEV
#define NT_DEV __device__ __forceinline__
#endif
#ifndef NT_UNROLL
#define NT_UNROLL _Pragma("unroll")
#define NT_ROLLED _Pragma("unroll 1")
#define NT_UNROLL_SOME _Pragma("unroll 8")
#endif
#ifndef NT_UNROLL_SOME
#define NT_UNROLL_SOME NT_UNROLL
#define NT_ROLLED
#endif
// NAME points to T's in the shared memory of the program, OFFSET bytes from its start.
#ifndef NT_SHARED
#define NT_SHARED(T, NAME, OFFSET) T *NAME = (T *)(nt_smem + OFFSET)
#endif

// Conversions that the chip has; without them (and on the host) the prelude computes the same bits.
#ifdef __CUDA_ARCH__
#define NT_HAS_CVT_F16 1
#define NT_HAS_CVT_BF16 (__CUDA_ARCH__ >= 800)
#define NT_HAS_CVT_FP8 (__CUDA_ARCH__ >= 890)
#else
#define NT_HAS_CVT_F16 0
#define NT_HAS_CVT_BF16 0
#define NT_HAS_CVT_FP8 0
#endif

// Storage of the floats that C++ lacks: bits, no arithmetic.
struct nt_f16 { unsigned short bits; };
struct nt_bf16 { unsigned short bits; };
struct nt_e4m3 { unsigned char bits; };
struct nt_e5m2 { unsigned char bits; };

// Two 16-bit elements in a register.
template <class T> NT_DEV unsigned nt_pack(T low, T high)
{
    return low.bits | (unsigned)high.bits << 16;
}

template <class T> NT_DEV void nt_unpack(T *to, unsigned pair)
{
    to[0].bits = (unsigned short)pair;
    to[1].bits = (unsigned short)(pair >> 16);
}

enum { NT_INT, NT_FLOAT, NT_SMALL };
template <class T> constexpr int nt_kind = NT_INT;
template <> constexpr int nt_kind<float> = NT_FLOAT;
template <> constexpr int nt_kind<double> = NT_FLOAT;
template <> constexpr int nt_kind<nt_f16> = NT_SMALL;
template <> constexpr int nt_kind<nt_bf16> = NT_SMALL;
template <> constexpr int nt_kind<nt_e4m3> = NT_SMALL;
template <> constexpr int nt_kind<nt_e5m2> = NT_SMALL;

template <class A, class B> constexpr bool nt_same = false;
template <class A> constexpr bool nt_same<A, A> = true;

// T when it is of that kind, else nothing: overloads for ints, floats and small floats side by side.
template <class T, int KIND> struct nt_only { };
template <class T> struct nt_only<T, NT_INT> { typedef T as_int; };
template <class T> struct nt_only<T, NT_FLOAT> { typedef T as_float; };
template <class T> struct nt_only<T, NT_SMALL> { typedef T as_small; };
template <class T> using nt_int = typename nt_only<T, nt_kind<T>>::as_int;
template <class T> using nt_float = typename nt_only<T, nt_kind<T>>::as_float;
template <class T> using nt_small = typename nt_only<T, nt_kind<T>>::as_small;

// The unsigned type whose arithmetic wraps for T: at least 32 bits, so that nothing is promoted to int.
template <int SIZE> struct nt_wrap { typedef unsigned type; };
template <> struct nt_wrap<8> { typedef unsigned long long type; };
template <class T> using nt_uint = typename nt_wrap<sizeof(T)>::type;

// The same bits as another type of the same size.
template <class To, class From> NT_DEV To nt_bitcast(From x)
{
    static_assert(sizeof(To) == sizeof(From), "a bitcast keeps the width");
    To to;
    memcpy(&to, &x, sizeof to);
    return to;
}

#define NT_INF_F32 __int_as_float(0x7f800000)
#define NT_NAN_F32 __int_as_float(0x7fffffff)
#define NT_INF_F64 __longlong_as_double(0x7ff0000000000000LL)
#define NT_NAN_F64 __longlong_as_double(0x7fffffffffffffffLL)

template <class T> NT_DEV T nt_select(bool c, T x, T y)
{
    return c ? x : y;
}

// A pointer moved by a count of elements: a pointer throughout, so that the compiler still knows that it
// points to global memory; the product wraps, because masked-off addresses may lie anywhere.
template <class T, class I> NT_DEV T *nt_ptr_add(T *p, I offset)
{
    return (T *)((char *)p + (long long)((unsigned long long)(long long)offset * sizeof(T)));
}

template <class T> NT_DEV long long nt_ptr_diff(T *a, T *b)
{
    return ((long long)a - (long long)b) / (long long)sizeof(T);
}

// Iterations of range(lo, hi, step); none for a step of 0 and for a negative one known only at run time.
template <class T> NT_DEV nt_uint<T> nt_trips(T lo, T hi, T step)
{
    typedef nt_uint<T> U;
    return step > 0 && lo < hi ? ((U)hi - (U)lo - 1) / (U)step + 1 : 0;
}

// The same for a negative constant step.
template <class T> NT_DEV nt_uint<T> nt_trips_down(T lo, T hi, T step)
{
    typedef nt_uint<T> U;
    return hi < lo ? ((U)lo - (U)hi - 1) / (0 - (U)step) + 1 : 0;
}

#endif
