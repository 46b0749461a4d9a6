// run.c - runs every case of tests/run on one device.
//
//     run_tests DEVICE [-k PATTERN] [--seed N] [--rounds N] [--outputs FILE]
//
// A test's random numbers come of the seed and its name, so that all devices and programs give it the same ones. FILE gets
// a line for each output that a test looks at: the test, the output's number, its bytes and their hash; agree.sh compares.
// Exit code 77 when the device does not exist here, so that CTest shows a skipped test.
#include "run.h"
#ifdef RUN_SIMT
#include "simt.h"
#endif

#include <fnmatch.h>
#include <inttypes.h>
#include <time.h>

enum { GUARD = 512 };

struct RunBuffer {
    RunBuffer *next;
    unsigned char *base, *at;
    size_t bytes, total;
};

void run_ok(NewtStatus status, const char *what)
{
    if (status != NEWT_OK)
        fail_msg("%s: %s: %s", what, newt_status_name(status), newt_last_error());
}

void *run_buffer(RunCx *cx, const void *data, size_t bytes, size_t shift)
{
    RunBuffer *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->bytes = bytes;
    b->total = bytes + shift + 2 * GUARD;
    unsigned char *host = malloc(b->total);
    assert_non_null(host);
    memset(host, 0xff, b->total);
    if (data)
        memcpy(host + GUARD + shift, data, bytes);
    void *base = NULL;
    RUN_OK(newt_alloc(cx->device, b->total, &base));
    RUN_OK(newt_copy(cx->device, NULL, base, host, b->total));
    RUN_OK(newt_synchronize(cx->device, NULL));
    free(host);
    b->base = base;
    b->at = b->base + GUARD + shift;
#ifdef RUN_SIMT
    simt_narrow(b->at, bytes);
#endif
    b->next = cx->buffers;
    cx->buffers = b;
    return b->at;
}

/// FNV-1a.
static uint64_t hash_of(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *b = bytes;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ b[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static void note_output(RunCx *cx, const void *out, size_t bytes)
{
    if (cx->outputs)
        fprintf(cx->outputs, "%s\t%u\t%zu\t%016" PRIx64 "\n", cx->name, cx->got, bytes,
                hash_of(UINT64_C(0xcbf29ce484222325), out, bytes));
    cx->got++;
}

void run_get(RunCx *cx, const void *at, void *out)
{
    RunBuffer *b = cx->buffers;
    while (b && b->at != at)
        b = b->next;
    assert_non_null(b);
    unsigned char *host = malloc(b->total);
    assert_non_null(host);
    RUN_OK(newt_synchronize(cx->device, NULL));
    RUN_OK(newt_copy(cx->device, NULL, host, b->base, b->total));
    RUN_OK(newt_synchronize(cx->device, NULL));
    size_t before = (size_t)(b->at - b->base), bad = b->total;
    for (size_t i = 0; i < b->total; i++)
        if ((i < before || i >= before + b->bytes) && host[i] != 0xff && bad == b->total)
            bad = i;
    memcpy(out, host + before, b->bytes);
    free(host);
    note_output(cx, out, b->bytes);
    if (bad != b->total)
        fail_msg("byte %td from the buffer's start was overwritten",
                 (ptrdiff_t)bad - (ptrdiff_t)before);
}

void run_near(double got, double want, double tolerance, size_t index)
{
    if (fabs(got - want) <= tolerance || (isnan(got) && isnan(want)) || got == want)
        return;
    fail_msg("element %zu is %.17g, should be %.17g within %.3g", index, got, want, tolerance);
}

void run_same_bits(const void *got, const void *want, size_t size, size_t count)
{
    const unsigned char *g = got, *w = want;
    for (size_t i = 0; i < count; i++)
        if (memcmp(g + i * size, w + i * size, size) != 0) {
            uint64_t gv = 0, wv = 0;
            memcpy(&gv, g + i * size, size);
            memcpy(&wv, w + i * size, size);
            fail_msg("element %zu has the bits 0x%" PRIx64 ", should have 0x%" PRIx64, i, gv, wv);
        }
}

uint64_t run_random(RunCx *cx)
{
    uint64_t z = cx->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

float run_uniform(RunCx *cx)
{
    return (float)(run_random(cx) >> 40) / 8388608.0f - 1.0f;
}

int64_t run_between(RunCx *cx, int64_t low, int64_t high)
{
    return low + (int64_t)(run_random(cx) % ((uint64_t)high - (uint64_t)low + 1));
}

void run_release(RunCx *cx)
{
    while (cx->buffers) {
        RunBuffer *b = cx->buffers;
        cx->buffers = b->next;
        newt_free(cx->device, b->base);
        free(b);
    }
    while (cx->temps) {
        RunBuffer *b = cx->temps;
        cx->temps = b->next;
        free(b->base);
        free(b);
    }
}

void *run_temp(RunCx *cx, size_t bytes)
{
    RunBuffer *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->base = calloc(1, bytes ? bytes : 1);
    assert_non_null(b->base);
    b->next = cx->temps;
    cx->temps = b;
    return b->base;
}

/// One case file compiled for one number of warps.
typedef struct RunFile {
    const char *name, *warps;
    const RunTest *tests;
} RunFile;

#define RUN(name, warps) extern const RunTest run_w##warps##_##name[];
#include "run_table.def"
#undef RUN

static const RunFile files[] = {
#define RUN(name, warps) { #name, "w" #warps, run_w##warps##_##name },
#include "run_table.def"
#undef RUN
};
enum { FILE_COUNT = sizeof files / sizeof *files, NAME_SIZE = 96 };

typedef struct RunState {
    NewtDevice *device;
    FILE *outputs;
    uint64_t seed;
    unsigned rounds;
    const RunTest *test;
    char name[NAME_SIZE];
} RunState;

static void run_one(void **at)
{
    const RunState *s = *at;
    RunCx cx = { .device = s->device,
                 .random = hash_of(s->seed, s->name, strlen(s->name)),
                 .name = s->name,
                 .outputs = s->outputs,
                 .rounds = s->rounds };
    s->test->run(&cx);
    run_release(&cx);
    if (s->outputs)  // what fails does not come here
        fprintf(s->outputs, "%s\tright\n", s->name);
}

/// The tests whose name ("file.test.w4", blanks as they are) matches `pattern`; returns how many.
/// `all`: what they have in common.
static size_t collect(const char *pattern, RunState all, struct CMUnitTest *tests, RunState *states)
{
    size_t count = 0;
    for (size_t i = 0; i < FILE_COUNT; i++)
        for (const RunTest *t = files[i].tests; t->name; t++) {
            char name[NAME_SIZE];
            snprintf(name, sizeof name, "%s.%s.%s", files[i].name, t->name, files[i].warps);
            if (fnmatch(pattern, name, 0) != 0)
                continue;
            if (states) {
                states[count] = all;
                states[count].test = t;
                memcpy(states[count].name, name, sizeof name);
                tests[count] =
                    (struct CMUnitTest){ states[count].name, run_one, NULL, NULL, &states[count] };
            }
            count++;
        }
    return count;
}

int main(int argc, char **argv)
{
    const char *name = "host", *pattern = "*", *outputs = NULL;
    RunState all = { .seed = (uint64_t)time(NULL), .rounds = 1 };
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-k") == 0 && i + 1 < argc)
            pattern = argv[++i];
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            all.seed = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc)
            all.rounds = (unsigned)strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--outputs") == 0 && i + 1 < argc)
            outputs = argv[++i];
        else
            name = argv[i];
    }
    NewtStatus status = newt_device_open(name, &all.device);
    if (status == NEWT_NO_DRIVER || status == NEWT_NO_DEVICE) {
        printf("skipped: %s: %s\n", name, newt_last_error());
        return 77;
    }
    if (status != NEWT_OK) {
        fprintf(stderr, "%s: %s\n", name, newt_last_error());
        return 1;
    }
    if (outputs && !(all.outputs = fopen(outputs, "w"))) {
        fprintf(stderr, "cannot write %s\n", outputs);
        return 1;
    }
    printf("device %s, seed %" PRIu64 "\n", newt_device_name(all.device), all.seed);

    size_t count = collect(pattern, all, NULL, NULL);
    struct CMUnitTest *tests = calloc(count + 1, sizeof *tests);
    RunState *states = calloc(count + 1, sizeof *states);
    if (!tests || !states)
        return 1;
    collect(pattern, all, tests, states);
    int failed = _cmocka_run_group_tests("run", tests, count, NULL, NULL);
    newt_device_close(all.device);
    if (all.outputs && fclose(all.outputs) != 0)
        failed = 1;
    free(tests);
    free(states);
    return failed != 0;
}
