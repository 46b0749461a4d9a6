/// test_prelude.c - the prelude's software conversions, compiled for the host and compared with
/// arithmetic in double.
///
/// convert.cuh is plain C++ where a chip lacks the instruction. The C++ program in
/// prelude_convert.cc includes it with simt.h and checks every 16-bit and 8-bit code and the floats
/// around every rounding boundary. Skipped where there is no C++ compiler.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "simt_case.h"

static void conversions_agree_with_double_arithmetic(void **state)
{
    (void)state;
    SimtCase c;
    simt_case_open(&c);
    simt_case_run(&c, "prelude_convert.cc");
    simt_case_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(
        conversions_agree_with_double_arithmetic) };
    return cmocka_run_group_tests_name("prelude", tests, NULL, NULL);
}
