// atomic.cuh - atomic updates of global memory; each gives the old value.
//
// NT_DEFINE_ATOMICS(suffix, ".acq_rel.gpu") makes nt_atomic_<kind>_<suffix>(at, value) for one memory
// order and scope; a kernel names those it uses. Maximum and minimum of floats are made on the bit
// patterns: right for every number and both zeros; a NaN operand counts as above infinity.
#ifndef NT_ATOMIC_CUH
#define NT_ATOMIC_CUH
#include "newt/atom.cuh"
#include "newt/convert.cuh"

// An integer that orders as the 16-bit float with these bits does.
NT_DEV short nt_order16(unsigned short bits)
{
    return (short)(bits & 0x8000 ? bits ^ 0x7fff : bits);
}

// What the 16-bit loops below write.
struct nt_op_add {
    template <class T> static NT_DEV T apply(T old, T x)
    {
        return nt_narrow<T>(__fadd_rn(nt_widen(old), nt_widen(x)));
    }
};
struct nt_op_max {
    template <class T> static NT_DEV T apply(T old, T x)
    {
        return nt_order16(x.bits) > nt_order16(old.bits) ? x : old;
    }
};
struct nt_op_min {
    template <class T> static NT_DEV T apply(T old, T x)
    {
        return nt_order16(x.bits) < nt_order16(old.bits) ? x : old;
    }
};
struct nt_op_xchg {
    template <class T> static NT_DEV T apply(T, T x)
    {
        return x;
    }
};

#define NT_DEFINE_ATOMIC_CAS(SUFFIX, ORDER) \
    NT_ATOM_CAS(nt_atomic_cas_##SUFFIX, ORDER) \
    template <class OP, class T> NT_DEV T nt_atomic_loop_##SUFFIX(T *at, T x) \
    { \
        T old = nt_bitcast<T>(nt_peek16(at)), seen; \
        do { \
            seen = old; \
            old = nt_atomic_cas_##SUFFIX(at, seen, OP::apply(seen, x)); \
        } while (old.bits != seen.bits); \
        return old; \
    }

#define NT_ATOM_INTS(KIND, SUFFIX, ORDER) \
    NT_ATOM(nt_atomic_##KIND##_##SUFFIX, ORDER, #KIND ".s32", int, "r") \
    NT_ATOM(nt_atomic_##KIND##_##SUFFIX, ORDER, #KIND ".u32", unsigned, "r") \
    NT_ATOM(nt_atomic_##KIND##_##SUFFIX, ORDER, #KIND ".s64", long long, "l") \
    NT_ATOM(nt_atomic_##KIND##_##SUFFIX, ORDER, #KIND ".u64", unsigned long long, "l")
#define NT_ATOM_BITS(KIND, SUFFIX, ORDER) \
    NT_ATOM(nt_atomic_##KIND##_##SUFFIX, ORDER, #KIND ".b32", int, "r") \
    NT_ATOM(nt_atomic_##KIND##_##SUFFIX, ORDER, #KIND ".b32", unsigned, "r") \
    NT_ATOM(nt_atomic_##KIND##_##SUFFIX, ORDER, #KIND ".b64", long long, "l") \
    NT_ATOM(nt_atomic_##KIND##_##SUFFIX, ORDER, #KIND ".b64", unsigned long long, "l")
#define NT_ATOM_LOOP(KIND, SUFFIX, T) \
    NT_DEV T nt_atomic_##KIND##_##SUFFIX(T *at, T x) \
    { \
        return nt_atomic_loop_##SUFFIX<nt_op_##KIND>(at, x); \
    }

// Floats as integers: from +0 upwards they order as signed ones, below that as unsigned ones reversed.
#define NT_ATOM_FLOAT_ORDER(KIND, OTHER, SUFFIX) \
    NT_DEV float nt_atomic_##KIND##_##SUFFIX(float *at, float x) \
    { \
        const int bits = x != x ? 0x7fffffff : __float_as_int(x); \
        return bits >= 0 ? __int_as_float(nt_atomic_##KIND##_##SUFFIX((int *)at, bits)) \
                         : __uint_as_float(nt_atomic_##OTHER##_##SUFFIX((unsigned *)at, (unsigned)bits)); \
    } \
    NT_DEV double nt_atomic_##KIND##_##SUFFIX(double *at, double x) \
    { \
        const long long bits = x != x ? 0x7fffffffffffffffLL : __double_as_longlong(x); \
        return nt_bitcast<double>( \
            bits >= 0 ? nt_atomic_##KIND##_##SUFFIX((long long *)at, bits) \
                      : (long long)nt_atomic_##OTHER##_##SUFFIX((unsigned long long *)at, (unsigned long long)bits)); \
    } \
    NT_ATOM_LOOP(KIND, SUFFIX, nt_f16) \
    NT_ATOM_LOOP(KIND, SUFFIX, nt_bf16)

#if __CUDA_ARCH__ >= 900
#define NT_ATOM_ADD_BF16(SUFFIX, ORDER) NT_ATOM_HALF(nt_atomic_add_##SUFFIX, ORDER, "add.noftz.bf16", nt_bf16)
#else
#define NT_ATOM_ADD_BF16(SUFFIX, ORDER) NT_ATOM_LOOP(add, SUFFIX, nt_bf16)
#endif

#define NT_DEFINE_ATOMIC_ADD(SUFFIX, ORDER) \
    NT_ATOM(nt_atomic_add_##SUFFIX, ORDER, "add.s32", int, "r") \
    NT_ATOM(nt_atomic_add_##SUFFIX, ORDER, "add.u32", unsigned, "r") \
    NT_ATOM(nt_atomic_add_##SUFFIX, ORDER, "add.u64", long long, "l") \
    NT_ATOM(nt_atomic_add_##SUFFIX, ORDER, "add.u64", unsigned long long, "l") \
    NT_ATOM(nt_atomic_add_##SUFFIX, ORDER, "add.f32", float, "f") \
    NT_ATOM(nt_atomic_add_##SUFFIX, ORDER, "add.f64", double, "d") \
    NT_ATOM_HALF(nt_atomic_add_##SUFFIX, ORDER, "add.noftz.f16", nt_f16) \
    NT_ATOM_ADD_BF16(SUFFIX, ORDER)

#define NT_DEFINE_ATOMIC_XCHG(SUFFIX, ORDER) \
    NT_ATOM_BITS(exch, SUFFIX, ORDER) \
    template <class T> NT_DEV T nt_atomic_xchg_##SUFFIX(T *at, T x) \
    { \
        if constexpr (sizeof(T) == 8) \
            return nt_bitcast<T>(nt_atomic_exch_##SUFFIX((long long *)at, nt_bitcast<long long>(x))); \
        else if constexpr (sizeof(T) == 4) \
            return nt_bitcast<T>(nt_atomic_exch_##SUFFIX((int *)at, nt_bitcast<int>(x))); \
        else \
            return nt_bitcast<T>(nt_atomic_loop_##SUFFIX<nt_op_xchg>((nt_f16 *)at, nt_bitcast<nt_f16>(x))); \
    }

#define NT_DEFINE_ATOMICS(SUFFIX, ORDER) \
    NT_DEFINE_ATOMIC_CAS(SUFFIX, ORDER) \
    NT_DEFINE_ATOMIC_ADD(SUFFIX, ORDER) \
    NT_DEFINE_ATOMIC_XCHG(SUFFIX, ORDER) \
    NT_ATOM_INTS(max, SUFFIX, ORDER) \
    NT_ATOM_INTS(min, SUFFIX, ORDER) \
    NT_ATOM_FLOAT_ORDER(max, min, SUFFIX) \
    NT_ATOM_FLOAT_ORDER(min, max, SUFFIX) \
    NT_ATOM_BITS(and, SUFFIX, ORDER) \
    NT_ATOM_BITS(or, SUFFIX, ORDER) \
    NT_ATOM_BITS(xor, SUFFIX, ORDER)

#endif
