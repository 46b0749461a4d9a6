// test_planted.cc - the emulator finds every planted fault, says where, and says nothing about right kernels.
//
// Each row runs with several seeds: a fault has to be found in every order of the warps.
#include "planted.h"

#include <csetjmp>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
#include <cmocka.h>
}

enum { SEEDS = 20, THREADS = 64 };

static const Row rows[] = {
    { "right", THREADS, RIGHT, "" },
    { "no_barrier", THREADS, SIMT_SHARED_RACE, "planted.newt:10|planted.newt:12|thread" },
    { "no_second_barrier", THREADS, SIMT_SHARED_RACE, "planted.newt:20|planted.newt:21" },
    { "warp_barrier_only", THREADS, SIMT_SHARED_RACE, "" },
    { "warp_barrier", THREADS, RIGHT, "" },
    { "shuffle_only", THREADS, SIMT_SHARED_RACE, "" },
    { "write_write", THREADS, SIMT_SHARED_RACE, "writes|wrote" },
    { "partial_overlap", THREADS, SIMT_SHARED_RACE, "" },
    { "named_barrier", THREADS, RIGHT, "" },
    { "arrive_only", THREADS, SIMT_SHARED_RACE, "" },
    { "missing_arrival", THREADS, SIMT_MISSING_ARRIVAL, "never come" },
    { "global_race", THREADS, SIMT_GLOBAL_RACE, "planted.newt:30|planted.newt:31" },
    { "global_barrier", THREADS, RIGHT, "" },
    { "global_write_write", THREADS, SIMT_GLOBAL_RACE, "writes|wrote" },
    { "atomic", THREADS, RIGHT, "" },
    { "atomic_race", THREADS, SIMT_GLOBAL_RACE, "" },
    { "release_acquire", THREADS, RIGHT, "" },
    { "relaxed_hand_over", THREADS, SIMT_SHARED_RACE, "" },
    { "unwritten_shared", THREADS, SIMT_UNWRITTEN_SHARED, "planted.newt:40: thread 63|byte 252" },
    { "unwritten_register", THREADS, SIMT_UNWRITTEN_REGISTER, "planted.newt:50|is stored" },
    { "unwritten_branch", THREADS, SIMT_UNWRITTEN_REGISTER, "planted.newt:52|branch" },
    { "unwritten_shuffle", THREADS, SIMT_UNWRITTEN_REGISTER, "planted.newt:54" },
    { "unwritten_atomic", THREADS, SIMT_UNWRITTEN_REGISTER, "planted.newt:56: thread 63|in an atomic" },
    { "unwritten_exchange", THREADS, SIMT_UNWRITTEN_REGISTER, "planted.newt:57: thread 63|in an atomic" },
    { "unwritten_vote", THREADS, SIMT_UNWRITTEN_REGISTER, "planted.newt:58: thread 63|is a mask" },
    { "global_outside", THREADS, SIMT_OUT_OF_BOUNDS, "planted.newt:60: thread 63|reads 4 bytes at byte 256 of a buffer of 256 bytes" },
    { "global_before", THREADS, SIMT_OUT_OF_BOUNDS, "thread 0 writes" },
    { "global_masked", THREADS, RIGHT, "" },
    { "shared_outside", THREADS, SIMT_OUT_OF_BOUNDS, "shared memory" },
    { "local_outside", THREADS, SIMT_OUT_OF_BOUNDS, "planted.newt:65|local array" },
    { "global_misaligned", THREADS, SIMT_MISALIGNED, "planted.newt:70|reads 16 bytes" },
    { "shared_misaligned", THREADS, SIMT_MISALIGNED, "writes 8 bytes at shared byte 4, which" },
    { "divergent_barrier", THREADS, SIMT_DIVERGENT_BARRIER, "planted.newt:80|planted.newt:82" },
    { "skipped_barrier", THREADS, SIMT_MISSING_ARRIVAL, "" },
    { "early_return", THREADS, SIMT_MISSING_ARRIVAL, "" },
    { "extra_barrier", THREADS, SIMT_DIVERGENT_BARRIER, "" },
    { "mask_without_self", THREADS, SIMT_WRONG_MASK, "own lane" },
    { "mask_of_the_absent", THREADS, either(SIMT_WRONG_MASK, SIMT_MISSING_ARRIVAL), "" },
    { "mask_of_half", THREADS, RIGHT, "" },
    { "shuffle_from_outside", THREADS, SIMT_WRONG_MASK, "does not take part" },
    { "votes", THREADS, RIGHT, "" },
    { "shuffles", THREADS, RIGHT, "" },
    { "asserts", THREADS, SIMT_ASSERTION, "planted.newt:90|tid != 9" },
};

static SimtModule *module;
alignas(256) static int out[1024];
// between guards: a read behind the input must not land in the output, wherever the linker puts both
alignas(256) static struct {
    int before[64], in[64], behind[64];
} guarded;
static int (&in)[64] = guarded.in;
static constexpr unsigned shared_bytes = 64 * sizeof(int);

static bool launch(const char *kernel, unsigned shared)
{
    void *entry = simt_entry(module, kernel);
    assert_non_null(entry);
    int *out_at = out, *in_at = in;
    void *parameters[] = { &out_at, &in_at };
    const SimtLaunch l = { { 1, 1, 1 }, THREADS, shared, parameters, 1 };
    memset(out, 0, sizeof out);
    for (int i = 0; i < 64; i++)
        in[i] = i;
    return simt_launch(kernel, entry, &l);
}

static void planted(void **)
{
    for (const Row &row : rows)
        planted_check(row, SEEDS, [](const Row &r) { return launch(r.kernel, shared_bytes); });
}

static void endless(void **)
{
    simt_limit(10000);
    assert_false(launch("endless", shared_bytes));
    assert_int_equal(simt_fault_count(SIMT_NO_PROGRESS), 1);
    simt_limit(1 << 24);
}

static void results(void **)
{
    assert_true(launch("right", shared_bytes));
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(out[i], i ^ 32);
    assert_true(launch("atomic", shared_bytes));
    assert_int_equal(out[0], THREADS);
    for (const char *kernel : { "votes", "shuffles" }) {
        assert_true(launch(kernel, shared_bytes));
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(out[i], 1);
    }
}

static SimtCounts counts_of(const char *kernel)
{
    simt_counts_reset();
    if (!launch(kernel, 32 * 32 * sizeof(int)))
        fail_msg("%s", simt_report());
    return simt_counts();
}

static void counts(void **)
{
    SimtCounts c = counts_of("wide");
    assert_int_equal(c.programs, 1);
    assert_int_equal(c.loads[4], THREADS);
    assert_int_equal(c.stores[4], THREADS);
    assert_int_equal(c.loads[2], 0);
    assert_int_equal(c.global_requests, 4);
    assert_int_equal(c.global_bytes, 2 * THREADS * 16);
    assert_int_equal(c.global_sectors, 2 * 8 + 2 * 16);  // the loads repeat 256 bytes
    c = counts_of("strided");
    assert_int_equal(c.stores[2], THREADS);
    assert_int_equal(c.global_sectors, THREADS);
    c = counts_of("right");
    assert_int_equal(c.barriers, 1);
    assert_int_equal(c.shared_requests, 4);
    assert_int_equal(c.bank_conflicts, 0);
    assert_int_equal(counts_of("conflicts_2").bank_conflicts, 1);
    assert_int_equal(counts_of("conflicts_32").bank_conflicts, 31);
    assert_int_equal(counts_of("broadcast").bank_conflicts, 0);
    c = counts_of("shared_16");
    assert_int_equal(c.shared_wavefronts, 4);
    assert_int_equal(c.bank_conflicts, 0);
    assert_int_equal(counts_of("shuffles").warp_exchanges, 2 * 6);
}

int main()
{
    module = planted_load("planted.cu");
    if (!module)
        return 1;
    simt_expose(out, sizeof out);
    simt_expose(in, sizeof in);
    const CMUnitTest tests[] = { cmocka_unit_test(planted), cmocka_unit_test(endless), cmocka_unit_test(results), cmocka_unit_test(counts) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
