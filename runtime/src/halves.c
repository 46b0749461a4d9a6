/// fp16 and bf16 to and from float in integer arithmetic, so that the result does not depend on
/// the rounding mode, on flush-to-zero or on the processor. Also the dense tensor constructor.
#include <newt/newt.h>
#include <string.h>

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/// bits >> shift, rounded to nearest, ties to even; 0 < shift < 32.
static uint32_t shift_rounded(uint32_t bits, unsigned shift)
{
    uint32_t half = UINT32_C(1) << (shift - 1);
    uint32_t kept = bits >> shift;
    uint32_t rest = bits & ((half << 1) - 1);
    return kept + (rest > half || (rest == half && (kept & 1)));
}

NewtF16 newt_f16(float value)
{
    uint32_t bits = bits_of(value);
    uint32_t sign = (bits >> 16) & 0x8000;
    uint32_t size = bits & 0x7fffffff;
    uint32_t half;
    if (size > 0x7f800000) {  // NaN: quiet, with the top of the payload
        half = 0x7e00 | ((size >> 13) & 0x3ff);
    } else if (size >= 0x47800000) {  // 2^16 and more, infinity
        half = 0x7c00;
    } else if (size >= 0x38800000) {  // normal: rebias the exponent from 127 to 15; a carry out of
        half = shift_rounded(size - (UINT32_C(112) << 23), 13);  // the fraction lands there rightly
    } else if (size >= 0x33000000) {  // from half of the least subnormal, 2^-25
        half = shift_rounded((size & 0x7fffff) | 0x800000, 126 - (size >> 23));
    } else {
        half = 0;
    }
    NewtF16 result = { (uint16_t)(sign | half) };
    return result;
}

float newt_f16_to_float(NewtF16 value)
{
    uint32_t sign = (uint32_t)(value.bits & 0x8000) << 16;
    uint32_t exponent = (value.bits >> 10) & 0x1f;
    uint32_t fraction = value.bits & 0x3ff;
    if (exponent == 0) {  // a multiple of 2^-24, exact in float
        float size = (float)fraction * 0x1p-24f;
        return float_of(sign | bits_of(size));
    }
    if (exponent == 0x1f)
        return float_of(sign | 0x7f800000 | (fraction << 13));
    return float_of(sign | ((exponent + 112) << 23) | (fraction << 13));
}

NewtBf16 newt_bf16(float value)
{
    uint32_t bits = bits_of(value);
    NewtBf16 result;
    if ((bits & 0x7fffffff) > 0x7f800000)
        result.bits = (uint16_t)((bits >> 16) | 0x40);
    else
        result.bits = (uint16_t)shift_rounded(bits, 16);
    return result;
}

float newt_bf16_to_float(NewtBf16 value)
{
    return float_of((uint32_t)value.bits << 16);
}

NewtTensor newt_tensor(void *data, NewtType type, int32_t rank, const int64_t *shape)
{
    enum { RANK_MAX = sizeof((NewtTensor *)0)->shape / sizeof(int64_t) };
    NewtTensor tensor = { .data = data, .type = type };
    uint64_t stride = 1;  // wraps where sizes are impossible; kernels refuse such shapes
    if (rank < 1 || rank > RANK_MAX)
        return tensor;
    tensor.rank = rank;
    for (int32_t i = rank; i-- > 0;) {
        tensor.shape[i] = shape[i];
        tensor.stride[i] = (int64_t)stride;
        stride *= (uint64_t)shape[i];
    }
    return tensor;
}

NewtTensor newt_tensor2(void *data, NewtType type, int64_t rows, int64_t columns)
{
    return newt_tensor(data, type, 2, (const int64_t[]){ rows, columns });
}
