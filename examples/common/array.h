/// array.h - arrays of any element type for the examples that multiply matrices: random values, the copy on the
/// device, and reading single elements as doubles.
///
/// Values are random in [-1, 1) and rounded to the type, so that the reference computes with what the kernel sees.
#ifndef EXAMPLE_ARRAY_H
#define EXAMPLE_ARRAY_H
#include "example.h"

typedef struct Array {
    NewtType type;
    size_t count;
    void *values;   // host memory
    Buffer buffer;  // and on the device
} Array;

static inline size_t example_size(NewtType type)
{
    switch ((int)type) {
    case NEWT_F32:
    case NEWT_I32: return 4;
    case NEWT_F16:
    case NEWT_BF16: return 2;
    case NEWT_I64: return 8;
    default: return 1;
    }
}

/// Relative error of rounding to the nearest, tf32 first.
#define EXAMPLE_TF32_ERROR 0x1p-11
static inline double example_rounding(NewtType type)
{
    return type == NEWT_F16 ? 0x1p-11 : type == NEWT_BF16 ? 0x1p-8 : 0x1p-24;
}

/// The value of an e4m3 number: 4 bits of exponent, 3 of fraction, no infinities.
static inline double example_e4m3(unsigned code)
{
    int exponent = (int)(code >> 3 & 15), fraction = (int)(code & 7);
    double size = exponent ? ldexp(8 + fraction, exponent - 10) : ldexp(fraction, -9);
    return code & 128 ? -size : size;
}

static inline double example_at(const Array *a, size_t i)
{
    switch ((int)a->type) {
    case NEWT_F32: return (double)((const float *)a->values)[i];
    case NEWT_F16: return (double)newt_f16_to_float(((const NewtF16 *)a->values)[i]);
    case NEWT_BF16: return (double)newt_bf16_to_float(((const NewtBf16 *)a->values)[i]);
    case NEWT_F8E4M3: return example_e4m3(((const NewtE4m3 *)a->values)[i].bits);
    case NEWT_I8: return ((const int8_t *)a->values)[i];
    case NEWT_I32: return ((const int32_t *)a->values)[i];
    case NEWT_I64: return (double)((const int64_t *)a->values)[i];
    default: return ((const uint8_t *)a->values)[i];
    }
}

static inline void example_set_random(Example *ex, Array *a, size_t i)
{
    float v = example_uniform(ex);
    unsigned bits = (unsigned)(ex->random >> 20);
    switch ((int)a->type) {
    case NEWT_F32: ((float *)a->values)[i] = v; break;
    case NEWT_F16: ((NewtF16 *)a->values)[i] = newt_f16(v); break;
    case NEWT_BF16: ((NewtBf16 *)a->values)[i] = newt_bf16(v); break;
    case NEWT_F8E4M3: ((NewtE4m3 *)a->values)[i].bits = (uint8_t)((bits & 128) | bits % 56); break;  // below 1
    default: ((uint8_t *)a->values)[i] = (uint8_t)bits; break;
    }
}

static inline Array example_array(Example *ex, NewtType type, size_t count, size_t shift, int is_output)
{
    Array a = { .type = type, .count = count };
    size_t size = example_size(type);
    a.values = example_memory(count * size);
    for (size_t i = 0; i < count && !is_output; i++)
        example_set_random(ex, &a, i);
    a.buffer = example_put(ex, is_output ? NULL : a.values, count * size, shift * size);
    return a;
}

/// Random values, here and on the device; `shift` elements behind a 256-byte boundary there.
static inline Array example_input(Example *ex, NewtType type, size_t count, size_t shift)
{
    return example_array(ex, type, count, shift, 0);
}

/// Poisoned on the device; example_fetch brings what a kernel has written, and checks the guards.
static inline Array example_output(Example *ex, NewtType type, size_t count, size_t shift)
{
    return example_array(ex, type, count, shift, 1);
}

static inline void example_fetch(Example *ex, Array *a)
{
    free(a->values);
    a->values = example_download(ex, &a->buffer);
}

/// Writes the host's values to the device again.
static inline void example_send(Example *ex, const Array *a)
{
    example_ok(newt_copy(ex->device, NULL, a->buffer.at, a->values, a->count * example_size(a->type)), "newt_copy");
    example_ok(newt_synchronize(ex->device, NULL), "newt_synchronize");
}

static inline void example_drop(Example *ex, Array *a)
{
    free(a->values);
    example_free(ex, &a->buffer);
}

/// A sum of products as it is computed in double precision, with the sum of their sizes.
typedef struct Sum {
    double value, size;
} Sum;

static inline void example_add(Sum *sum, double a, double b)
{
    sum->value += a * b;
    sum->size += fabs(a * b);
}

/// How far a sum in fp32 may be from it when each product is off by `products` of itself.
static inline double example_slack(const Sum *sum, double products)
{
    return sum->size * (products + 0x1p-18) + 1e-30;
}

static inline int example_is_host(const Example *ex)
{
    return strcmp(newt_device_arch(ex->device), "host") == 0;
}

#endif
