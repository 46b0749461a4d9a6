// Result types of operations; most of the case is checked while its kernels compile.
#include "number.h"

static void tables(RunCx *cx)
{
    int32_t got = 0;
    void *out = RUN_OUT(cx, sizeof got);
    RUN_OK(K(promotion_table)(cx->device, NULL, out));
    RUN_OK(K(literal_table)(cx->device, NULL, out));
    RUN_OK(K(function_table)(cx->device, NULL, out));
    run_get(cx, out, &got);
    assert_int_equal(got, 1);
}

static void values(RunCx *cx)
{
    int8_t a[256];
    uint8_t b[256];
    int32_t c[256];
    uint32_t d[256];
    int64_t got[12][256];
    for (int i = 0; i < 256; i++) {
        a[i] = (int8_t)run_random(cx);
        b[i] = (uint8_t)(i * 7);
        c[i] = i == 0 ? INT32_MIN : (int32_t)run_random(cx);
        d[i] = i == 0 ? UINT32_MAX : (uint32_t)run_random(cx);
    }
    void *out = RUN_OUT(cx, sizeof got);
    RUN_OK(K(promoted_values)(cx->device, NULL, RUN_IN(cx, a), RUN_IN(cx, b), RUN_IN(cx, c),
                              RUN_IN(cx, d), out));
    run_get(cx, out, got);
    for (int i = 0; i < 256; i++) {
        const int64_t want[12] = {
            (int8_t)(a[i] + a[i]),
            (uint8_t)(a[i] + b[i]),
            (uint8_t)(b[i] - 1),
            (uint32_t)c[i] + d[i],
            (int32_t)((uint32_t)(int32_t)a[i] * (uint32_t)c[i]),
            (uint32_t)(int32_t)a[i] + d[i],
            (uint8_t)(b[i] * b[i]),
            (int32_t)((uint32_t)c[i] * (uint32_t)c[i]),
            (int64_t)((uint64_t)(int64_t)c[i] * d[i]),
            (uint8_t)(255 - b[i]),
            (int32_t)((uint32_t)b[i] + (uint32_t)c[i]),
            i < 4 ? 2 : 1,
        };
        for (int row = 0; row < 12; row++)
            if (got[row][i] != want[row])
                fail_msg("row %d, element %d is %lld, should be %lld", row, i,
                         (long long)got[row][i], (long long)want[row]);
    }
}

RUN_TESTS = { { "tables", tables }, { "values", values }, RUN_END };
