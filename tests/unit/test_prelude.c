/// test_prelude.c - the prelude's software conversions, compiled for the host and compared with
/// arithmetic in double.
///
/// convert.cuh is plain C++ where a chip lacks the instruction. The C++ program in prelude_convert.cc
/// includes it under a small shim and checks every 16-bit and 8-bit code and the floats around every
/// rounding boundary. Skipped where there is no C++ compiler.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "support/proc.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/// A folder in which the prelude is found as "newt/", and the program that is made there.
typedef struct Bench {
    char folder[64], link[80], program[80];
} Bench;

static void bench_open(Bench *b)
{
    snprintf(b->folder, sizeof b->folder, "/tmp/newt_prelude_XXXXXX");
    assert_non_null(mkdtemp(b->folder));
    snprintf(b->link, sizeof b->link, "%s/newt", b->folder);
    snprintf(b->program, sizeof b->program, "%s/check", b->folder);
    assert_int_equal(symlink(TEST_SOURCE_DIR "/compiler/backend/cuda/prelude", b->link), 0);
}

static void bench_close(Bench *b)
{
    unlink(b->program);
    unlink(b->link);
    rmdir(b->folder);
}

static void conversions_agree_with_double_arithmetic(void **state)
{
    (void)state;
    Bench b;
    Buf log = { 0 };
    bench_open(&b);
    const char *const compile[] = { "c++", "-std=c++17", "-O1", "-ffp-contract=off", "-I", b.folder, "-o", b.program,
                                    TEST_SOURCE_DIR "/tests/unit/prelude_convert.cc", NULL };
    const char *const run[] = { b.program, NULL };
    const int compiled = proc_run(compile, &log);
    const int status = compiled == 0 ? proc_run(run, &log) : compiled;
    bench_close(&b);
    if (compiled == -1 || compiled == 127) {
        buf_free(&log);
        print_message("no C++ compiler here: skipped\n");
        skip();
    }
    if (status != 0)
        fail_msg("%s", log.at);
    buf_free(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(conversions_agree_with_double_arithmetic) };
    return cmocka_run_group_tests_name("prelude", tests, NULL, NULL);
}
