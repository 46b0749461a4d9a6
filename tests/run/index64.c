// With --index64 the offset of a pointer is computed in 64 bits.
#include "run.h"

static void wide_offset(RunCx *cx)
{
    static const int32_t strides[] = { 7864320, 1, 16, 6731987, -7864320 };
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
        int64_t got[2], full = INT64_C(319) * strides[i];
        void *out = RUN_OUT(cx, sizeof got);
        RUN_OK(K(offsets64)(cx->device, NULL, out, out, strides[i]));
        run_get(cx, out, got);
        assert_int_equal(got[0], 2 * full);
        assert_int_equal(got[1], full);
    }
}

RUN_TESTS = { { "wide offset", wide_offset }, RUN_END };
