/// arrays.c - arrays of one number type on the device, with their values on the host; see bench.h.
///
/// Random numbers are a function of the seed and the index (a 64-bit mixer, then Box and Muller),
/// so that all threads fill an array together and a printed seed gives the same data again.
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// Different bytes around inputs and outputs: what a kernel makes of one is not the other.
enum { GUARD_BYTES = 256, INPUT_GUARD = 0x5a, OUTPUT_GUARD = 0xa5 };

/* ---- number types ---- */

static size_t type_size(NewtType type)
{
    return type == NEWT_F32 ? 4 : type == NEWT_F8E4M3 ? 1 : 2;
}

static float e4m3_to_float(uint8_t bits)
{
    const int exponent = bits >> 3 & 15, fraction = bits & 7;
    if ((bits & 0x7f) == 0x7f)
        return NAN;
    const float value =
        exponent ? ldexpf((float)(8 + fraction), exponent - 10) : ldexpf((float)fraction, -9);
    return bits & 0x80 ? -value : value;
}

/// To the nearest, ties to even; beyond 448 the largest.
static uint8_t e4m3_of(float value)
{
    const uint8_t sign = signbit(value) ? 0x80 : 0;
    const float size = fabsf(value);
    int exponent;
    if (isnan(value))
        return 0x7f;
    if (size >= 464.0f)
        return sign | 0x7e;
    frexpf(size, &exponent);  // size = f * 2^exponent with f in [0.5, 1)
    const int scale = exponent < -5 ? -5 : exponent;
    const int steps = (int)rintf(ldexpf(size, 4 - scale));  // of 2^(scale - 4), up to 16
    return sign | (uint8_t)(scale == -5 && steps < 8 ? steps : ((scale + 5) * 8) + steps);
}

static void encode(NewtType type, unsigned char *to, const float *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (type == NEWT_F16)
            ((NewtF16 *)(void *)to)[i] = newt_f16(from[i]);
        else if (type == NEWT_BF16)
            ((NewtBf16 *)(void *)to)[i] = newt_bf16(from[i]);
        else
            to[i] = e4m3_of(from[i]);
    }
}

static void decode(NewtType type, float *to, const unsigned char *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (type == NEWT_F16)
            to[i] = newt_f16_to_float(((const NewtF16 *)(const void *)from)[i]);
        else if (type == NEWT_BF16)
            to[i] = newt_bf16_to_float(((const NewtBf16 *)(const void *)from)[i]);
        else
            to[i] = e4m3_to_float(from[i]);
    }
}

typedef struct Recode {
    NewtType type;
    unsigned char *stored;
    float *values;
    bool is_decode_only;
} Recode;

/// Elements [from, to): values to what is stored, and what is stored back to values.
static void recode(void *user, size_t from, size_t to)
{
    const Recode *r = user;
    unsigned char *stored = r->stored + from * type_size(r->type);
    if (!r->is_decode_only)
        encode(r->type, stored, r->values + from, to - from);
    decode(r->type, r->values + from, stored, to - from);
}

/* ---- random contents ---- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

typedef struct Normal {
    float *to;
    size_t count;
    uint64_t seed;
} Normal;

/// Pairs [from, to) of random numbers.
static void normal_fill(void *user, size_t from, size_t to)
{
    const Normal *normal = user;
    for (size_t i = from; i < to; i++) {
        uint64_t bits = mix(normal->seed + i * UINT64_C(0x9e3779b97f4a7c15));
        float u = ((float)(bits >> 40) + 0.5f) * 0x1p-24f;
        float angle = (float)(bits & 0xffffff) * (6.2831853f * 0x1p-24f);
        float radius = sqrtf(-2.0f * logf(u));
        normal->to[2 * i] = radius * cosf(angle);
        if (2 * i + 1 < normal->count)
            normal->to[2 * i + 1] = radius * sinf(angle);
    }
}

/* ---- arrays ---- */

static size_t array_bytes(const BenchArray *array)
{
    return array->count * type_size(array->type);
}

static BenchArray array_new(Bench *b, NewtType type, size_t count)
{
    BenchArray array = { .count = count, .type = type };
    void *base = NULL;
    array.host = bench_memory(count * sizeof(float));
    bench_ok(newt_alloc(b->device, array_bytes(&array) + 2 * GUARD_BYTES, &base), "newt_alloc");
    array.base = base;
    array.at = array.base + GUARD_BYTES;
    return array;
}

/// Sets both guards on the device.
static void guards_write(Bench *b, const BenchArray *array, int byte)
{
    unsigned char guard[GUARD_BYTES], *end = array->base + GUARD_BYTES + array_bytes(array);
    memset(guard, byte, sizeof guard);
    bench_ok(newt_copy(b->device, NULL, array->base, guard, sizeof guard), "newt_copy");
    bench_ok(newt_copy(b->device, NULL, end, guard, sizeof guard), "newt_copy");
    bench_ok(newt_synchronize(b->device, NULL), "newt_synchronize");
}

static void array_upload(Bench *b, const BenchArray *array)
{
    const size_t bytes = array_bytes(array);
    Recode r = { array->type, NULL, array->host, false };
    if (array->type != NEWT_F32) {
        r.stored = bench_memory(bytes);
        bench_parallel(b, array->count, recode, &r);
    }
    bench_ok(
        newt_copy(b->device, NULL, array->at, r.stored ? (void *)r.stored : array->host, bytes),
        "newt_copy");
    guards_write(b, array, INPUT_GUARD);
    free(r.stored);
}

BenchArray bench_array_normal(Bench *b, NewtType type, size_t count)
{
    BenchArray array = array_new(b, type, count);
    Normal normal = { array.host, count, mix(b->seed++) };
    bench_parallel(b, (count + 1) / 2, normal_fill, &normal);
    array_upload(b, &array);
    return array;
}

BenchArray bench_array_output(Bench *b, NewtType type, size_t count)
{
    BenchArray array = array_new(b, type, count);
    bench_array_poison(b, &array);
    return array;
}

void bench_array_poison(Bench *b, BenchArray *array)
{
    enum { CHUNK = 1 << 24 };
    unsigned char *nans = bench_memory(CHUNK), *to = array->at;
    const size_t bytes = array_bytes(array);
    memset(nans, 0xff, CHUNK);
    for (size_t at = 0; at < bytes; at += CHUNK) {
        size_t size = bytes - at < CHUNK ? bytes - at : CHUNK;
        bench_ok(newt_copy(b->device, NULL, to + at, nans, size), "newt_copy");
    }
    guards_write(b, array, OUTPUT_GUARD);
    free(nans);
}

bool bench_array_fetch(Bench *b, BenchArray *array)
{
    unsigned char guards[2][GUARD_BYTES], *end = array->base + GUARD_BYTES + array_bytes(array);
    const size_t bytes = array_bytes(array);
    Recode r = { array->type, NULL, array->host, true };
    if (array->type != NEWT_F32)
        r.stored = bench_memory(bytes);
    bench_ok(
        newt_copy(b->device, NULL, r.stored ? (void *)r.stored : array->host, array->at, bytes),
        "newt_copy");
    bench_ok(newt_copy(b->device, NULL, guards[0], array->base, GUARD_BYTES), "newt_copy");
    bench_ok(newt_copy(b->device, NULL, guards[1], end, GUARD_BYTES), "newt_copy");
    bench_ok(newt_synchronize(b->device, NULL), "the kernel");
    if (r.stored)
        bench_parallel(b, array->count, recode, &r);
    free(r.stored);
    for (size_t i = 0; i < GUARD_BYTES; i++)
        if (guards[0][i] != OUTPUT_GUARD || guards[1][i] != OUTPUT_GUARD)
            return false;
    return true;
}

void bench_array_free(Bench *b, BenchArray *array)
{
    newt_free(b->device, array->base);
    free(array->host);
    *array = (BenchArray){ 0 };
}
