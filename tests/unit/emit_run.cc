// emit_run.cc - runs the kernels that test_emit.c emitted from emit/*.ir, and checks what they did.
//
// kernels.h holds each kernel as namespace <name>_w<warps>. Expected values are plain loops here.
#include "simt.h"

#include "newt/int.cuh"
#include "newt/compare.cuh"
#include "newt/small.cuh"
#include "newt/memory.cuh"
#include "newt/shared.cuh"
#include "newt/dot.cuh"
#include "newt/warps.cuh"
#include "newt/reduce.cuh"
#include "newt/atomic.cuh"
#include "kernels.h"

static int faults;

static void expect(const char *what, unsigned at, double got, double want)
{
    if (!(got == want || (got != got && want != want)) && faults++ < 30)
        printf("%s[%u]: %.17g, wanted %.17g\n", what, at, got, want);
}

static float f16_value(nt_f16 x)
{
    return nt_widen(x);
}

static nt_f16 f16_of(float x)
{
    return nt_narrow<nt_f16>(x);
}

template <class K> static void check_vadd(K kernel, unsigned threads)
{
    alignas(16) static float x[3072], y[3080], z[3072];
    for (int i = 0; i < 3072; i++)
        x[i] = i, y[i + 1] = 3 * i, z[i] = -1;
    for (unsigned pid = 0; pid < 3; pid++)
        launch(threads, pid, kernel, (const float *)x, (const float *)y + 1, z, 2064);
    for (unsigned i = 0; i < 3072; i++)
        expect("vadd", i, z[i], i < 2064 ? 4.0 * i : -1);
}

template <class K> static void check_sums(K kernel, unsigned threads)
{
    alignas(16) static float x[32 * 128], r[32], t;
    for (float &v : x)
        v = 1.0f / 128;
    launch(threads, 0, kernel, x, r, &t);
    for (unsigned i = 0; i < 32; i++)
        expect("sum of a row", i, r[i], 1);
    expect("sum of sums", 0, t, 32);
    for (unsigned i = 0; i < 32 * 128; i++)
        x[i] = (float)(i % 128 + 3 * (i / 128));
    launch(threads, 0, kernel, x, r, &t);
    for (unsigned i = 0; i < 32; i++)
        expect("sum of a row", i, r[i], 127 * 64 + 3 * 128 * (double)i);
}

template <class K> static void check_transpose(K kernel, unsigned threads)
{
    alignas(16) static nt_f16 x[4096], y[4096];
    static int z[64];
    for (int i = 0; i < 4096; i++)
        x[i] = f16_of((float)((i * 37) % 2048));
    launch(threads, 0, kernel, x, y, z);
    for (unsigned i = 0; i < 4096; i++)
        expect("transpose", i, f16_value(y[i]), f16_value(x[i % 64 * 64 + i / 64]));
    for (unsigned row = 0; row < 64; row++) {
        int best = 0;
        for (int c = 0; c < 64; c++)
            if (f16_value(x[row * 64 + c]) > f16_value(x[row * 64 + best]))
                best = c;
        expect("argmax of a row", row, z[row], best);
    }
}

template <class K> static void check_loops(K kernel, unsigned threads)
{
    alignas(16) static float x[1024];
    float y;
    int f[18], c[2] = { 0, 2 };
    for (int i = 0; i < 1024; i++)
        x[i] = i;
    launch(threads, 0, kernel, x, &y, 20, f, c);
    expect("sum of a loop", 0, y, 190);
    expect("fibonacci", 20, f[0], 6765);
    expect("if of an old value", 0, f[1], 1);  // gcd(20, 256) = 4 > 1: old value 0, plus 1
    for (unsigned i = 0; i < 16; i++)
        expect("old value", i, f[2 + i], i < 8 ? 4 : 2);
    expect("atomic", 0, c[0], 5);
    expect("atomic", 1, c[1], 3);
    launch(threads, 0, kernel, x, &y, 600, f, c);
    expect("sum of a loop", 1, y, 600 * 599 / 2);
}

template <class K> static void check_softmax(K kernel, unsigned threads)
{
    alignas(16) static nt_f16 x[8 * 256], y[8 * 256];
    for (int i = 0; i < 8 * 256; i++)
        x[i] = f16_of((float)((i * 29) % 97) / 8), y[i] = f16_of(-1);
    launch(threads, 0, kernel, x, y, 200);
    for (int row = 0; row < 8; row++) {
        double sum = 0;
        for (int c = 0; c < 200; c++)
            sum += exp(f16_value(x[row * 256 + c]));
        for (int c = 0; c < 256; c++) {
            const double want = c < 200 ? exp(f16_value(x[row * 256 + c])) / sum : -1;
            const double got = f16_value(y[row * 256 + c]);
            if (fabs(got - want) > 1e-3 * fabs(want) + 6e-8)
                expect("softmax", (unsigned)(row * 256 + c), got, want);
        }
    }
}

template <class K> static void check_reduce_kinds(K kernel, unsigned threads)
{
    float x[16] = { 1, NAN, 3, 3 }, out[3];
    int at[5];
    nt_f16 h;
    for (int i = 4; i < 16; i++)
        x[i] = -INFINITY;
    launch(threads, 0, kernel, x, out, at, &h);
    expect("max", 0, out[0], 3);
    expect("min", 0, out[1], -INFINITY);
    expect("max with NaN", 0, out[2], NAN);
    expect("argmax", 0, at[0], 2);
    expect("argmin", 0, at[1], 4);
    expect("argmax with NaN", 0, at[2], 1);
    expect("xor", 0, at[3], 0);
    expect("or", 0, at[4], 15);
    expect("fp16 sum", 0, f16_value(h), 4096);
    for (float &v : x)
        v = NAN;
    launch(threads, 0, kernel, x, out, at, &h);
    expect("max of NaNs", 0, out[0], NAN);
    for (float &v : x)
        v = -0.0f;
    x[7] = 0.0f;
    launch(threads, 0, kernel, x, out, at, &h);
    expect("argmax of zeros", 0, at[0], 0);
}

template <class K> static void check_neighbours(K kernel, unsigned threads)
{
    alignas(16) static nt_f16 x[64], y[64];
    double sum = 0;
    for (int i = 0; i < 64; i++)
        x[i] = f16_of((float)(i + 1));
    launch(threads, 0, kernel, x, y);
    static const double row0[] = { 2, 4, 6, 8, 10, 12, 14, 7 }, row7[] = { 107, 166, 169, 172, 175, 178, 181, 119 };
    for (unsigned i = 0; i < 8; i++) {
        expect("neighbours, row 0", i, f16_value(y[i]), row0[i]);
        expect("neighbours, row 7", i, f16_value(y[56 + i]), row7[i]);
    }
    for (nt_f16 v : y)
        sum += f16_value(v);
    expect("neighbours, sum", 0, sum, 5236);
}

template <class K> static void check_order(K kernel, unsigned threads)
{
    static int p[129], q[128];
    static unsigned char b[128];
    for (int i = 0; i < 128; i++)
        b[i] = i % 3 == 0;
    launch(threads, 0, kernel, p, q, b);
    for (unsigned i = 0; i < 129; i++)
        expect("overlapping stores", i, p[i], i ? 2 : 1);
    for (unsigned i = 0; i < 128; i++) {
        expect("load after stores", i, q[i], 2);
        expect("bool in memory", i, b[i], i % 3 != 0);
    }
}

template <class K> static void check_casts(K kernel, unsigned threads)
{
    static float x[32] = { 1.0625001f, 1.0625f, 448, 464, 500, -0.0f, 0x1p-10f, INFINITY, -INFINITY, NAN, 300, -1, 1e20f };
    static nt_e4m3 e4[32];
    static nt_e5m2 e5[32];
    static nt_bf16 h[32];
    static signed char i8[32];
    static unsigned u[32];
    static int d[32];
    launch(threads, 0, kernel, x, e4, e5, h, i8, u, d);
    static const unsigned want4[] = { 0x39, 0x38, 0x7e, 0x7e, 0x7e, 0x80, 0x00, 0x7e, 0xfe, 0x7f };
    static const int want8[] = { 1, 1, 127, 127, 127, 0, 0, 127, -128, 0, 127, -1, 127 };
    for (unsigned i = 0; i < 10; i++)
        expect("e4m3", i, e4[i].bits, want4[i]);
    expect("e5m2 of inf", 0, e5[7].bits, 0x7b);
    expect("e5m2 of 500", 0, nt_widen(e5[4]), 512);
    expect("bf16 towards zero", 0, h[0].bits, 0x3f88);
    for (unsigned i = 0; i < 13; i++) {
        expect("int8", i, i8[i], want8[i]);
        expect("bits shifted", i, u[i], __float_as_uint(x[i]) >> 1);
    }
    expect("cdiv by 0", 0, d[0], -1);
    expect("cdiv", 2, d[2], -224);               // -448 / 2
    expect("cdiv", 8, d[8], INT32_MIN / 8);      // -INT_MIN wraps
    expect("cdiv", 12, d[12], (-2147483647LL) / 12);
}

template <class K> static void check_turns(K kernel, unsigned threads)
{
    alignas(16) static float x[5 * 256], s[5];
    int c = 2;
    for (int i = 0; i < 5 * 256; i++)
        x[i] = (float)(i / 256 + i % 256);
    launch(threads, 0, kernel, x, s, &c, 5);
    for (unsigned i = 0; i < 5; i++)
        expect("sum in its turn", i, s[i], 256.0 * i + 255 * 128);
    expect("counted until it was seen", 0, c, 5);
}

/// Two rings of two stages: rows of 128 bytes from 0 on, columns of 32 bytes from 8192 on, with the
/// swizzles of PTX's manual.
template <class K> static void check_tiles(K kernel, unsigned threads, unsigned char *shared)
{
    alignas(16) static nt_f16 x[32 * 64];
    alignas(16) static float d[32 * 16];
    for (int slot = 0; slot < 2; slot++) {
        for (int r = 0; r < 32; r++)
            for (int k = 0; k < 64; k++)
                *(nt_f16 *)(shared + slot * 4096 + r * 128 + (k / 8 ^ r % 8) * 16 + k % 8 * 2) =
                    f16_of((float)((r * 7 + k * 3 + slot) % 31));
        for (int n = 0; n < 16; n++)
            for (int k = 0; k < 64; k++)
                *(nt_f16 *)(shared + 8192 + slot * 2048 + k * 32 + (n / 8 ^ k / 4 % 2) * 16 + n % 8 * 2) =
                    f16_of((float)((n * 5 + k + slot) % 13));
        launch(threads, 0, kernel, slot, x, d);
        for (int r = 0; r < 32; r++) {
            for (int k = 0; k < 64; k++)
                expect("element of a tile", (unsigned)(r * 64 + k), f16_value(x[r * 64 + k]),
                       (r * 7 + k * 3 + slot) % 31);
            for (int n = 0; n < 16; n++) {
                double want = 1;
                for (int k = 0; k < 64; k++)
                    want += (double)((r * 7 + k * 3 + slot) % 31) * ((n * 5 + k + slot) % 13);
                expect("product of tiles", (unsigned)(r * 16 + n), d[r * 16 + n], want);
            }
        }
    }
}

/// Stage 1 of a ring of tiles of 64 x 64, in the swizzle of PTX's manual.
template <class K> static void check_matrices(K kernel, unsigned threads, const unsigned char *shared)
{
    alignas(16) static nt_f16 x[64 * 64];
    for (int i = 0; i < 64 * 64; i++)
        x[i] = f16_of((float)(i % 2039));
    launch(threads, 0, kernel, (const nt_f16 *)x);
    for (int r = 0; r < 64; r++)
        for (int c = 0; c < 64; c++)
            expect("element of a tile", (unsigned)(r * 64 + c),
                   f16_value(*(const nt_f16 *)(shared + 8192 + r * 128 + (c / 8 ^ r % 8) * 16 + c % 8 * 2)),
                   (r * 64 + c) % 2039);
}

#define RUN(K) \
    check_##K(K##_w1::K, 32); \
    check_##K(K##_w2::K, 64); \
    check_##K(K##_w8::K, 256)

int main()
{
    RUN(vadd);
    RUN(sums);
    RUN(transpose);
    RUN(loops);
    RUN(softmax);
    RUN(reduce_kinds);
    RUN(neighbours);
    RUN(order);
    RUN(casts);
    RUN(turns);
    check_tiles(tiles_w1::tiles, 32, tiles_w1::nt_smem);
    check_tiles(tiles_w2::tiles, 64, tiles_w2::nt_smem);
    check_tiles(tiles_w8::tiles, 256, tiles_w8::nt_smem);
    check_matrices(matrices_w4::matrices, 128, matrices_w4::nt_smem);
    check_transpose(pieces_w2::pieces, 64);
    check_transpose(pieces_w8::pieces, 256);
    printf("%d faults\n", faults);
    return faults != 0;
}
