// test_cluster.cc - programs that run together on the emulator: the right kernel of planted_cluster.cu copies what it
// should, and each planted fault is found, in every order.
#include "device.h"
#include "planted.h"
#include "tensor_map.h"

#include <csetjmp>
#include <cstdarg>
#include <cstdio>

extern "C" {
#include <cmocka.h>
}

enum { SEEDS = 12, THREADS = 128, ROWS = 80, ROW = 48, ROUND = 4096, SHARED = 8192 };

static const Row rows[] = {
    { "pair", THREADS, RIGHT, "" },
    { "pair_no_fence", THREADS, SIMT_MISSING_FENCE, "planted.newt:10|initialised with no fence" },
    { "pair_no_first_sync", THREADS, either(SIMT_SHARED_RACE, SIMT_WRONG_OPERAND), "planted.newt:11" },
    { "pair_copies_to_itself", THREADS, SIMT_MISSING_ARRIVAL, "planted.newt:12|2048 bytes" },
    { "pair_of_three", THREADS, SIMT_WRONG_OPERAND, "planted.newt:13|2 programs|mask 0x7" },
    { "pair_too_many_bytes", THREADS, SIMT_MISSING_ARRIVAL, "planted.newt:14|4096 bytes" },
    { "pair_waits_for_own_readers", THREADS, either(SIMT_SHARED_RACE, SIMT_MISSING_WAIT), "planted.newt:15|starts to write" },
    { "pair_lost_arrivals", THREADS, SIMT_MISSING_ARRIVAL, "planted.newt:16|lacks 3 of 6 arrivals" },
    { "pair_arrives_nowhere", THREADS, SIMT_WRONG_OPERAND, "planted.newt:17|none of rank 2" },
    { "pair_arrives_twice", THREADS, either(SIMT_SHARED_RACE, SIMT_MISSING_WAIT), "planted.newt:18" },
    { "pair_no_last_sync", THREADS, SIMT_ENDED_PROGRAM, "planted.newt:19|of a program of the cluster that" },
    { "pair_one_warp_lacks", THREADS, SIMT_MISSING_ARRIVAL, "planted.newt:20|the barrier of the cluster" },
};

static SimtModule *module;
alignas(256) static unsigned char out[4 * ROUND], source[ROWS * ROW];

static bool launch(const Row &row)
{
    alignas(64) unsigned char map[128] = {};
    SimtTensorMap m = {};
    m.base = (uintptr_t)source;
    m.sizes[0] = ROW;
    m.sizes[1] = ROWS;
    m.strides[0] = ROW;
    m.box[0] = 32;
    m.box[1] = 64;
    m.elem_bytes = 1;
    m.rank = 2;
    m.magic = SIMT_TENSOR_MAGIC;
    memcpy(map, &m, sizeof m);
    void *entry = simt_entry(module, row.kernel);
    if (!entry)
        fail_msg("no kernel '%s'", row.kernel);
    unsigned char *out_at = out;
    void *parameters[] = { map, &out_at };
    const SimtLaunch l = { { 2, 1, 1 }, row.threads, SHARED, parameters, 2 };
    memset(out, 0, sizeof out);
    return simt_launch(row.kernel, entry, &l);
}

static void planted(void **)
{
    for (const Row &row : rows)
        planted_check(row, SEEDS, launch);
}

// Both programs get both halves of both rounds.
static void both_get_all(void **)
{
    for (int i = 0; i < ROWS * ROW; i++)
        source[i] = (unsigned char)(i * 7 + i / 251 + 1);
    assert_true(launch(rows[0]));
    for (int program = 0; program < 2; program++)
        for (int round = 0; round < 2; round++)
            for (int i = 0; i < ROUND; i++) {
                const int half = i / 2048, x = 16 * half + i % 32, y = 4 * round + i % 2048 / 32;
                assert_int_equal(out[(program * 2 + round) * ROUND + i], source[y * ROW + x]);
            }
}

static void a_grid_of_odd_length_is_refused(void **)
{
    unsigned char *out_at = out;
    void *parameters[] = { out_at, &out_at };
    const SimtLaunch l = { { 3, 1, 1 }, THREADS, SHARED, parameters, 2 };
    assert_false(simt_launch("pair", simt_entry(module, "pair"), &l));
}

int main()
{
    module = planted_load("planted_cluster.cu");
    if (!module)
        return 1;
    simt_expose(out, sizeof out);
    simt_expose(source, sizeof source);
    const CMUnitTest tests[] = { cmocka_unit_test(both_get_all), cmocka_unit_test(planted), cmocka_unit_test(a_grid_of_odd_length_is_refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
