/// simt_case.h - compiles a C++ program of this folder against the prelude and simt/, and runs it.
#ifndef NEWT_TESTS_UNIT_SIMT_CASE_H
#define NEWT_TESTS_UNIT_SIMT_CASE_H
#include "support/proc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// A folder for what a test makes: the prelude as "newt/" with simt's twins, and the program.
typedef struct SimtCase {
    char folder[64];
    Buf log;
} SimtCase;

static inline void simt_case_shell(SimtCase *c, const char *command)
{
    const char *const argv[] = { "/bin/sh", "-c", command, "sh", c->folder, TEST_SOURCE_DIR, NULL };
    if (proc_run(argv, &c->log) != 0)
        fail_msg("%s", c->log.at);
}

static inline void simt_case_open(SimtCase *c)
{
    memset(c, 0, sizeof *c);
    snprintf(c->folder, sizeof c->folder, "/tmp/newt_simt_XXXXXX");
    assert_non_null(mkdtemp(c->folder));
    simt_case_shell(
        c, "mkdir \"$1/newt\" && cp \"$2\"/compiler/backend/cuda/prelude/*.cuh \"$1/newt\" && "
           "cp \"$2\"/tests/unit/simt/*.cuh \"$1/newt\"");
}

static inline void simt_case_close(SimtCase *c)
{
    simt_case_shell(c, "rm -r \"$1\"");
    buf_free(&c->log);
}

/// Writes a file into the folder.
static inline void simt_case_write(const SimtCase *c, const char *name, const Buf *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", c->folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text->at, 1, text->len, f), text->len);
    assert_int_equal(fclose(f), 0);
}

/// Compiles and runs tests/unit/<source>: fails the test with its output, skips it without a C++
/// compiler.
static inline void simt_case_run(SimtCase *c, const char *source)
{
    char program[128], path[512];
    snprintf(program, sizeof program, "%s/run", c->folder);
    snprintf(path, sizeof path, "%s/tests/unit/%s", TEST_SOURCE_DIR, source);
    const char *const compile[] = { "c++",
                                    "-std=c++17",
                                    "-O1",
                                    "-w",
                                    "-ffp-contract=off",
                                    "-I",
                                    c->folder,
                                    "-I",
                                    TEST_SOURCE_DIR "/tests/unit/simt",
                                    "-I",
                                    TEST_SOURCE_DIR "/tests/simt",
                                    "-o",
                                    program,
                                    path,
                                    NULL };
    const char *const run[] = { program, NULL };
    buf_clear(&c->log);
    const int compiled = proc_run(compile, &c->log);
    const int status = compiled == 0 ? proc_run(run, &c->log) : compiled;
    if (compiled == -1 || compiled == 127) {
        simt_case_close(c);
        print_message("no C++ compiler here: skipped\n");
        skip();
    }
    if (status != 0)
        fail_msg("%s", c->log.at);
}

#endif
