// Random numbers against vectors that Triton 3.6 gives, and against Philox written anew.
#include "number.h"

typedef struct Bits {
    int64_t seed;
    uint32_t bits[8], four[4];
} Bits;

static const Bits vectors[] = {
    { 0,
      { 1713891541u, 4175744164u, 83534633u, 3381718825u, 4013802324u, 1934136315u, 3064941560u,
        2830310705u },
      { 1713891541u, 3781805453u, 3159862348u, 2600524760u } },
    { 1,
      { 3823634032u, 2886210587u, 1062581232u, 3253981089u, 1064134920u, 688389702u, 1912931825u,
        2064558333u },
      { 3823634032u, 3842641596u, 2515673792u, 3054873127u } },
    { 1234,
      { 546353992u, 2666454581u, 1070188760u, 3055983166u, 346514135u, 3391693257u, 4245463582u,
        3004048045u },
      { 546353992u, 3665621163u, 1140953199u, 3419031310u } },
};

static const uint32_t large_seed[8] = { 1583081134u, 1176386292u, 51295228u,   2917253889u,
                                        1185532207u, 1394771272u, 1825351201u, 1026233619u };

static void test_bits(RunCx *cx)
{
    uint32_t got[12];
    void *out = RUN_OUT(cx, sizeof got);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        RUN_OK(K(random_bits)(cx->device, NULL, out, vectors[i].seed));
        run_get(cx, out, got);
        run_same_bits(got, vectors[i].bits, 4, 8);
        run_same_bits(got + 8, vectors[i].four, 4, 4);
    }
    RUN_OK(K(random_bits)(cx->device, NULL, out, (INT64_C(1) << 40) + 5));
    run_get(cx, out, got);
    run_same_bits(got, large_seed, 4, 8);
}

static void test_floats(RunCx *cx)
{
    static const double uniform[8] = { 0.798092902, 0.0555175915, 0.0388988405, 0.425264418,
                                       0.130927622, 0.900652349,  0.572775304,  0.682033837 };
    static const double normal[8] = { 0.0465515293, -0.388361365, -1.63795209,  0.631531477,
                                      -1.53192794,  0.429929763,  -0.792939246, 0.752751768 };
    float u[8], n[8];
    void *du = RUN_OUT(cx, sizeof u), *dn = RUN_OUT(cx, sizeof n);
    RUN_OK(K(random_floats)(cx->device, NULL, du, dn, 0));
    run_get(cx, du, u);
    run_get(cx, dn, n);
    for (size_t i = 0; i < 8; i++) {
        run_near((double)u[i], uniform[i], 1e-7, i);
        run_near((double)n[i], normal[i], 2e-6, i);
    }
}

/// Philox of words of `bits` bits, from the paper: the products in 128-bit arithmetic.
static void philox(unsigned bits, uint64_t c[4], uint64_t k0, uint64_t k1, int rounds)
{
    const uint64_t mask = bits == 64 ? UINT64_MAX : UINT32_MAX;
    const uint64_t m0 = bits == 64 ? 0xD2E7470EE14C6C93u : 0xD2511F53u,
                   m1 = bits == 64 ? 0xCA5A826395121157u : 0xCD9E8D57u;
    for (int i = 0; i < rounds; i++) {
        __extension__ const unsigned __int128 p0 = (unsigned __int128)m0 * c[0],
                                              p1 = (unsigned __int128)m1 * c[2];
        const uint64_t high0 = (uint64_t)(p0 >> bits) & mask, high1 = (uint64_t)(p1 >> bits) & mask;
        const uint64_t next[4] = { high1 ^ c[1] ^ k0, (uint64_t)p1 & mask, high0 ^ c[3] ^ k1,
                                   (uint64_t)p0 & mask };
        memcpy(c, next, sizeof next);
        k0 = (k0 + (bits == 64 ? 0x9E3779B97F4A7C15u : 0x9E3779B9u)) & mask;
        k1 = (k1 + (bits == 64 ? 0xBB67AE8584CAA73Bu : 0xBB67AE85u)) & mask;
    }
}

static void test_philox(RunCx *cx)
{
    enum { HIGH = 3 };
    uint32_t got[32];
    uint64_t wide[16];
    void *out = RUN_OUT(cx, sizeof got), *wide_out = RUN_OUT(cx, sizeof wide);
    RUN_OK(K(random_philox)(cx->device, NULL, out, wide_out, HIGH));
    run_get(cx, out, got);
    run_get(cx, wide_out, wide);
    for (uint64_t i = 0; i < 8; i++) {
        uint64_t ten[4] = { i, HIGH, 0, 0 }, seven[4] = { i, HIGH, 0, 0 },
                 large[4] = { i, 1, 2, 3 };
        philox(32, ten, 7, 0, 10);
        philox(32, seven, 7, 0, 7);
        philox(64, large, 7, 0, 10);
        assert_int_equal(got[i], ten[0]);
        assert_int_equal(got[8 + i], ten[0]);
        assert_int_equal(got[16 + i], seven[3]);
        assert_true(wide[i] == large[0] && wide[8 + i] == large[3]);
        assert_int_equal(got[24 + i], 1);
    }
}

static void test_moments(RunCx *cx)
{
    enum { PROGRAMS = 64, COUNT = PROGRAMS * 1024 };
    float got[PROGRAMS][6];
    double sum[6] = { 0 }, low = 1, high = 0;
    void *out = RUN_OUT(cx, sizeof got);
    RUN_OK(K(random_moments)(cx->device, NULL, out));
    run_get(cx, out, got);
    for (int p = 0; p < PROGRAMS; p++) {
        for (int i = 0; i < 6; i++)
            sum[i] += (double)got[p][i];
        low = fmin(low, (double)got[p][2]);
        high = fmax(high, (double)got[p][3]);
        assert_true(p == 0 || memcmp(got[p], got[0], sizeof got[p]) != 0);
    }
    assert_true(low >= 0 && low < 0.01 && high < 1 && high > 0.99);
    // Six standard deviations of each mean: 1/sqrt(12), sqrt(4/45), 1, sqrt(2) over sqrt(COUNT).
    run_near(sum[0] / COUNT, 0.5, 6 * 0.289 / 256, 0);
    run_near(sum[1] / COUNT, 1.0 / 3, 6 * 0.298 / 256, 1);
    run_near(sum[4] / COUNT, 0, 6 * 1.0 / 256, 2);
    run_near(sum[5] / COUNT, 1, 6 * 1.415 / 256, 3);
}

static void test_tiles(RunCx *cx)
{
    enum { M = 11, N = 45, SEED = 31 };
    float u[M * N];
    int32_t small[M * N];
    void *du = RUN_OUT(cx, sizeof u), *ds = RUN_OUT(cx, sizeof small);
    RUN_OK(K(random_tiles)(cx->device, NULL, newt_tensor2(du, NEWT_F32, M, N),
                           newt_tensor2(ds, NEWT_I32, M, N), SEED));
    run_get(cx, du, u);
    run_get(cx, ds, small);
    for (uint64_t i = 0; i < M * N; i++) {
        uint64_t c[4] = { i, 0, 0, 0 };
        philox(32, c, SEED, 0, 10);
        const int32_t word = (int32_t)(uint32_t)c[0];
        run_near((double)u[i], (double)(word < 0 ? -word - 1 : word) * 0x1p-31, 1e-7, (size_t)i);
        assert_int_equal(small[i], (int32_t)((uint32_t)c[0] % 7) - 3);
    }
}

RUN_TESTS = { { "bits", test_bits },       { "floats", test_floats }, { "philox", test_philox },
              { "moments", test_moments }, { "tiles", test_tiles },   RUN_END };
