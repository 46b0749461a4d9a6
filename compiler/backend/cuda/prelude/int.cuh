// int.cuh - elementwise operations on integers and bool, defined for every input.
//
// Sums and products wrap (computed in unsigned), shift counts of the width and above shift everything
// out, and no division traps: x / 0 is -1 (all bits), x % 0 is x, INT_MIN / -1 is INT_MIN.
#ifndef NT_INT_CUH
#define NT_INT_CUH
#include "newt/base.cuh"

template <class T> constexpr bool nt_is_signed = (T)-1 < (T)0;

// Back to T. A bool keeps the lowest bit: int1 is a 1-bit integer.
template <class T> NT_DEV nt_int<T> nt_wrapped(nt_uint<T> x)
{
    if constexpr (nt_same<T, bool>)
        return (x & 1) != 0;
    else
        return (T)x;
}

template <class T> NT_DEV nt_int<T> nt_neg(T x)
{
    return nt_wrapped<T>(0 - (nt_uint<T>)x);
}

template <class T> NT_DEV nt_int<T> nt_not(T x)
{
    return nt_wrapped<T>(~(nt_uint<T>)x);
}

template <class T> NT_DEV nt_int<T> nt_abs(T x)
{
    return nt_is_signed<T> && x < (T)0 ? nt_neg(x) : x;
}

template <class T> NT_DEV nt_int<T> nt_add(T a, T b)
{
    return nt_wrapped<T>((nt_uint<T>)a + (nt_uint<T>)b);
}

template <class T> NT_DEV nt_int<T> nt_sub(T a, T b)
{
    return nt_wrapped<T>((nt_uint<T>)a - (nt_uint<T>)b);
}

template <class T> NT_DEV nt_int<T> nt_mul(T a, T b)
{
    return nt_wrapped<T>((nt_uint<T>)a * (nt_uint<T>)b);
}

template <class T> NT_DEV nt_int<T> nt_and(T a, T b)
{
    return (T)(a & b);
}

template <class T> NT_DEV nt_int<T> nt_or(T a, T b)
{
    return (T)(a | b);
}

template <class T> NT_DEV nt_int<T> nt_xor(T a, T b)
{
    return (T)(a ^ b);
}

// What divides in the place of b: 1 where that cannot. Divided first and looked at then, there is no branch.
template <class T> NT_DEV nt_int<T> nt_divisor(T b)
{
    const bool is_bad = (b == (T)0) | (nt_is_signed<T> & (b == (T)-1));
    return is_bad ? (T)1 : b;
}

template <class T> NT_DEV nt_int<T> nt_idiv(T a, T b)
{
    const T q = (T)(a / nt_divisor(b)), negated = nt_is_signed<T> && b == (T)-1 ? nt_neg(q) : q;
    return b == (T)0 ? nt_wrapped<T>(~(nt_uint<T>)0) : negated;
}

// By the quotient: where both are wanted there is one division. It holds for 0 and -1, too, as products wrap.
template <class T> NT_DEV nt_int<T> nt_rem(T a, T b)
{
    return nt_sub(a, nt_mul(nt_idiv(a, b), b));
}

template <class T> NT_DEV nt_int<T> nt_cdiv(T a, T b)
{
    T q = nt_idiv(a, b), r = nt_rem(a, b);
    bool above = r != (T)0 && b != (T)0 && (!nt_is_signed<T> || (r < (T)0) == (b < (T)0));
    return above ? nt_add(q, (T)1) : q;
}

template <class T> constexpr unsigned nt_bits = nt_same<T, bool> ? 1 : 8 * sizeof(T);

template <class T> NT_DEV nt_int<T> nt_shl(T a, T count)
{
    return (nt_uint<T>)count < nt_bits<T> ? nt_wrapped<T>((nt_uint<T>)a << (nt_uint<T>)count) : (T)0;
}

template <class T> NT_DEV nt_int<T> nt_shr(T a, T count)
{
    if ((nt_uint<T>)count < nt_bits<T>)
        return (T)(a >> count);
    return nt_is_signed<T> && a < (T)0 ? (T)-1 : (T)0;
}

template <class T> NT_DEV nt_int<T> nt_max(T a, T b)
{
    return a > b ? a : b;
}

template <class T> NT_DEV nt_int<T> nt_min(T a, T b)
{
    return a < b ? a : b;
}

template <class T> NT_DEV nt_int<T> nt_clamp(T x, T lo, T hi)
{
    return nt_min(nt_max(x, lo), hi);
}

// Upper half of the product of the operands taken as unsigned.
template <class T> NT_DEV nt_int<T> nt_umulhi(T a, T b)
{
    static_assert(sizeof(T) >= 4, "umulhi takes 32 and 64 bits");
    if constexpr (sizeof(T) == 8)
        return (T)__umul64hi((unsigned long long)a, (unsigned long long)b);
    else
        return (T)__umulhi((unsigned)a, (unsigned)b);
}

// In a sum across threads; see float.cuh.
template <class T> NT_DEV nt_int<T> nt_sum(T a, T b)
{
    return nt_add(a, b);
}

#endif
