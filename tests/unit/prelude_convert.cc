// prelude_convert.cc - checks convert.cuh and int.cuh on the host; run by test_prelude.c.
//
// The reference decodes codes by their definition (sign, exponent, fraction) into double and rounds by
// searching the neighbours of a number among all codes, so it shares nothing with what it checks.
#include "simt.h"

#include "newt/convert.cuh"
#include "newt/int.cuh"

static int faults;

static void fault(const char *what, double input, double got, double want)
{
    if (faults++ < 20)
        printf("%s of %a: %a, wanted %a\n", what, input, got, want);
}

// ---- formats by definition ----
struct Format {
    const char *name;
    int exponent_bits, fraction_bits;
    bool has_infinity, saturates;
    double decode(unsigned code) const
    {
        const int bias = (1 << (exponent_bits - 1)) - 1;
        const unsigned fraction = code & ((1u << fraction_bits) - 1);
        const unsigned exponent = code >> fraction_bits & ((1u << exponent_bits) - 1);
        const double sign = code >> (exponent_bits + fraction_bits) & 1 ? -1 : 1;
        if (exponent == (1u << exponent_bits) - 1) {
            if (has_infinity)
                return fraction ? NAN : sign * INFINITY;
            if (fraction == (1u << fraction_bits) - 1)
                return NAN;
        }
        if (exponent == 0)
            return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
        return sign * std::ldexp(fraction + (1u << fraction_bits), (int)exponent - bias - fraction_bits);
    }
    unsigned codes() const { return 1u << (exponent_bits + fraction_bits); }  // of one sign
    unsigned largest() const
    {
        unsigned code = codes() - 1;
        while (!std::isfinite(decode(code)))
            code--;
        return code;
    }
};

// The code that |x| rounds to, among the codes of positive numbers (their values rise with the code).
static unsigned round_code(const Format &f, double x, bool to_zero)
{
    unsigned lo = 0, hi = f.largest();
    const double top = f.decode(hi), step = top - f.decode(hi - 1);
    if (x >= top + step / 2 || (x > top && to_zero)) {
        const bool overflow = !to_zero || std::isinf(x);
        return f.saturates || !overflow ? hi : hi + 1;
    }
    while (lo < hi) {  // the greatest code not above x
        const unsigned mid = (lo + hi + 1) / 2;
        if (f.decode(mid) <= x)
            lo = mid;
        else
            hi = mid - 1;
    }
    if (to_zero || lo == f.largest())
        return lo;
    const double below = x - f.decode(lo), above = f.decode(lo + 1) - x;
    return below > above || (below == above && (lo & 1)) ? lo + 1 : lo;
}

template <class T> static void check_narrow(const Format &f, double x)
{
    for (int to_zero = 0; to_zero < 2; to_zero++) {
        const unsigned got = (to_zero ? nt_cast_rtz<T>(x) : nt_cast<T>(x)).bits;
        if (x != x) {
            if (f.decode(got) == f.decode(got))
                fault(f.name, x, f.decode(got), NAN);
            continue;
        }
        const unsigned want = round_code(f, std::fabs(x), to_zero) | (std::signbit(x) ? f.codes() : 0);
        if (got != want)
            fault(f.name, x, f.decode(got), f.decode(want));
        if ((double)(float)x == x) {
            const unsigned again = (to_zero ? nt_cast_rtz<T>((float)x) : nt_cast<T>((float)x)).bits;
            if (again != want)
                fault(f.name, x, f.decode(again), f.decode(want));
        }
    }
}

template <class T, class Bits> static void check_format(const Format &f)
{
    for (unsigned code = 0; code < 2 * f.codes(); code++) {
        const double want = f.decode(code), got = nt_cast<float>(T { (Bits)code });
        if (want == want ? got != want || std::signbit(got) != std::signbit(want) : got == got)
            fault("value of a code", code, got, want);
    }
    for (unsigned code = 0; code <= f.largest(); code++) {
        const double x = f.decode(code), next = code < f.largest() ? f.decode(code + 1) : x + (x - f.decode(code - 1));
        const double half = x + (next - x) / 2;
        const double near[] = { x, half, std::nextafter(half, 0), std::nextafter(half, INFINITY), std::nextafter(x, 0),
                                std::nextafter(x, INFINITY), std::nextafterf((float)half, 0),
                                std::nextafterf((float)half, INFINITY), x + (next - x) / 4 };
        for (double v : near) {
            check_narrow<T>(f, v);
            check_narrow<T>(f, -v);
        }
    }
    for (double v : { 0.0, 1e-45, 1e-310, 1e38, 3.4e38, 3.5e38, 1e300, (double)INFINITY, (double)NAN }) {
        check_narrow<T>(f, v);
        check_narrow<T>(f, -v);
    }
}

template <class T, class I> static void check_int_to(const Format &f, I x)
{
    const double got = nt_cast<float>(nt_cast<T>(x));
    const long double magnitude = std::fabs((long double)x);
    // Beyond 2^53 the double is rounded to odd first, which a rounding to fewer bits cannot see.
    double exact = (double)magnitude;
    if ((long double)exact != magnitude) {
        double below = (long double)exact > magnitude ? std::nextafter(exact, 0) : exact;
        uint64_t bits;
        memcpy(&bits, &below, 8);
        bits |= 1;
        memcpy(&exact, &bits, 8);
    }
    const double want = f.decode(round_code(f, exact, false)) * (x < 0 ? -1 : 1);
    if (got != want)
        fault("integer to float", (double)x, got, want);
}

template <class To, class F> static void check_to_int(F x)
{
    typedef std::numeric_limits<To> L;
    To want = 0;
    if (x == x)
        want = (long double)x <= (long double)L::min()   ? L::min()
               : (long double)x >= (long double)L::max() ? L::max()
                                                         : (To)x;
    const To got = nt_cast<To>(x);
    if (got != want)
        fault("float to integer", x, (double)got, (double)want);
}

template <class F> static void check_to_ints(F x)
{
    check_to_int<signed char>(x), check_to_int<short>(x), check_to_int<int>(x), check_to_int<long long>(x);
    check_to_int<unsigned char>(x), check_to_int<unsigned short>(x), check_to_int<unsigned>(x);
    check_to_int<unsigned long long>(x);
    if (nt_cast<bool>(x) != (x != 0))
        fault("float to bool", x, nt_cast<bool>(x), x != 0);
}

template <class T> static void check_int(const char *what, T got, long long want)
{
    if (got != (T)want)
        fault(what, 0, (double)got, (double)want);
}

static void check_integer_ops()
{
    const int min = INT32_MIN;
    static const int a[] = { 7, -7, 7, -7, -8, -36, 36, 1, 0 }, b[] = { 2, 2, -2, -2, 3, 5, 5, 3, 5 };
    static const int q[] = { 3, -3, -3, 3, -2, -7, 7, 0, 0 }, r[] = { 1, -1, 1, -1, -2, -1, 1, 1, 0 };
    static const int c[] = { 4, -3, -3, 4, -2, -7, 8, 1, 0 };
    for (int i = 0; i < 9; i++) {
        check_int("idiv", nt_idiv(a[i], b[i]), q[i]);
        check_int("rem", nt_rem(a[i], b[i]), r[i]);
        check_int("cdiv", nt_cdiv(a[i], b[i]), c[i]);
    }
    check_int("idiv", nt_idiv(min, -1), min);
    check_int("rem", nt_rem(min, -1), 0);
    check_int("cdiv", nt_cdiv(min, -1), min);
    check_int("cdiv", nt_cdiv(7u, 2u), 4);
    check_int("idiv by 0", nt_idiv(5, 0), -1);
    check_int("rem by 0", nt_rem(5, 0), 5);
    check_int("shl", nt_shl(1, 32), 0);
    check_int("shl", nt_shl((signed char)1, (signed char)7), -128);
    check_int("shl", nt_shl(1LL, 64LL), 0);
    check_int("shl", nt_shl(1, -1), 0);
    check_int("shr", nt_shr(-5, 40), -1);
    check_int("shr", nt_shr(5, 40), 0);
    check_int("shr", nt_shr(0x80000000u, 31u), 1);
    check_int("shr", nt_shr(-8, 1), -4);
    check_int("add", nt_add(INT32_MAX, 1), min);
    check_int("mul", nt_mul((short)300, (short)300), (short)90000);
    check_int("mul", nt_mul((unsigned short)65535, (unsigned short)65535), 1);
    check_int("add of bool", nt_add(true, true), 0);
    check_int("not of bool", nt_not(true), 0);
    check_int("neg", nt_neg(min), min);
    check_int("abs", nt_abs((signed char)-128), -128);
    check_int("umulhi", nt_umulhi(-1, -1), (long long)0xfffffffe);
    check_int("umulhi", nt_umulhi(1LL << 40, 1LL << 30), 1 << 6);
    check_int("trips", nt_trips(0, INT32_MAX, 2), 1 << 30);
    check_int("trips", nt_trips(0, 10, 3), 4);
    check_int("trips", nt_trips(5, 5, 1), 0);
    check_int("trips", nt_trips(0, 10, -1), 0);
    check_int("trips down", nt_trips_down(10, 0, -3), 4);
    check_int("trips over the range", nt_trips(min, INT32_MAX, 1), -1);
}

int main()
{
    const Format f16 = { "float16", 5, 10, true, false }, bf16 = { "bfloat16", 8, 7, true, false };
    const Format e4m3 = { "float8e4m3", 4, 3, false, true }, e5m2 = { "float8e5m2", 5, 2, true, true };
    check_format<nt_f16, unsigned short>(f16);
    check_format<nt_bf16, unsigned short>(bf16);
    check_format<nt_e4m3, unsigned char>(e4m3);
    check_format<nt_e5m2, unsigned char>(e5m2);

    const long long ints[] = { 0, 1, -1, 255, 2049, 65519, 65520, 16777217, 16842753, 0x1010001, INT32_MAX, INT32_MIN,
                               (1LL << 40) + 1, (1LL << 62) + (1LL << 54) + 1, INT64_MAX, INT64_MIN };
    for (long long x : ints) {
        check_int_to<nt_f16>(f16, x), check_int_to<nt_bf16>(bf16, x);
        check_int_to<nt_e4m3>(e4m3, x), check_int_to<nt_e5m2>(e5m2, x);
        check_int_to<nt_bf16>(bf16, (int)x), check_int_to<nt_bf16>(bf16, (unsigned)x);
        check_int_to<nt_bf16>(bf16, (unsigned long long)x);
    }
    const double reals[] = { 0.0,    -0.0, 0.9,  -0.9,  1.5,    -1.5,   127.9, 128,  200,   255.5, 256,    300,
                             -128.9, -129, 3e4,  32768, 40000,  65536,  3e9,   -3e9, 4.3e9, 1e19,  -1e19,  1e20,
                             -1e20,  2e19, 1e30, -1e30, INFINITY, -INFINITY, NAN,  2147483647, -2147483648.0, 4294967295.0 };
    for (double x : reals) {
        check_to_ints(x);
        check_to_ints((float)x);
    }
    check_integer_ops();
    printf("%d faults\n", faults);
    return faults != 0;
}
