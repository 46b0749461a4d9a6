// number.cc - the element types of matrix instructions; see number.h.
#include "number.h"

#include "device.h"

namespace simt {

unsigned number_bytes(unsigned type)
{
    switch (type) {
    case SIMT_F16:
    case SIMT_BF16: return 2;
    case SIMT_E4M3:
    case SIMT_E5M2:
    case SIMT_S8: return 1;
    case SIMT_F64: return 8;
    default: return 4;
    }
}

// A float of `exponent` and `fraction` bits below its sign; the largest exponent is infinity and NaNs, but for e4m3, which
// has one NaN a sign and no infinity.
static double small_float(unsigned bits, unsigned exponent, unsigned fraction, bool has_infinity)
{
    const unsigned e = bits >> fraction & ((1u << exponent) - 1), f = bits & ((1u << fraction) - 1);
    const double sign = bits >> (exponent + fraction) & 1 ? -1 : 1;
    const int bias = (1 << (exponent - 1)) - 1;
    if (e == (1u << exponent) - 1 && (has_infinity || f == (1u << fraction) - 1))
        return f ? NAN : sign * INFINITY;
    const double mantissa = (e ? 1u << fraction : 0) + f;
    return sign * std::ldexp(mantissa, (e ? (int)e : 1) - bias - (int)fraction);
}

struct Tables {
    double f16[1 << 16], e4m3[256], e5m2[256];
    Tables()
    {
        for (unsigned i = 0; i < 1 << 16; i++)
            f16[i] = small_float(i, 5, 10, true);
        for (unsigned i = 0; i < 256; i++) {
            e4m3[i] = small_float(i, 4, 3, false);
            e5m2[i] = small_float(i, 5, 2, true);
        }
    }
};

double number_read(unsigned type, const void *at)
{
    static const Tables tables;
    uint64_t bits = 0;
    memcpy(&bits, at, number_bytes(type));
    switch (type) {
    case SIMT_F16: return tables.f16[bits];
    case SIMT_BF16: return simt_bits<float>((uint32_t)bits << 16);
    case SIMT_E4M3: return tables.e4m3[bits];
    case SIMT_E5M2: return tables.e5m2[bits];
    case SIMT_S8: return (int8_t)bits;
    case SIMT_S32: return (int32_t)bits;
    case SIMT_TF32: return simt_bits<float>((uint32_t)bits & ~0x1fffu);  // the other bits are not looked at
    case SIMT_F32: return simt_bits<float>((uint32_t)bits);
    default: return simt_bits<double>(bits);
    }
}

static uint16_t f16_bits(double x)
{
    const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
    const double size = std::fabs(x);
    if (x != x)
        return 0x7fff;
    if (size >= 65520)
        return sign | 0x7c00;
    const int e = size < 0x1p-14 ? -14 : std::ilogb(size);
    const uint32_t units = (uint32_t)std::nearbyint(std::ldexp(size, 10 - e));  // a carry moves to the exponent
    return (uint16_t)(sign | (((uint32_t)(e + 14) << 10) + units));
}

void number_write(unsigned type, void *at, double x)
{
    if (type == SIMT_F16) {
        const uint16_t bits = f16_bits(x);
        memcpy(at, &bits, sizeof bits);
    } else if (type == SIMT_S32) {
        const int32_t i = (int32_t)(int64_t)x;
        memcpy(at, &i, sizeof i);
    } else if (type == SIMT_F32) {
        const float f = (float)x;
        memcpy(at, &f, sizeof f);
    } else {
        memcpy(at, &x, sizeof x);
    }
}

}  // namespace simt
