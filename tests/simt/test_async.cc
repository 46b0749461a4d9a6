// test_async.cc - the emulator's asynchronous copies, barriers and products: right kernels of planted_async.cu give what
// PTX's manual says, by arithmetic of this file, and each planted fault is found, in every order.
#include "device.h"
#include "planted.h"
#include "tensor_map.h"

#include <csetjmp>
#include <cstdarg>
#include <cstdio>
#include <set>
#include <vector>

extern "C" {
#include <cmocka.h>
}

enum { SEEDS = 12, BYTES = 1 << 16, SHARED = 100 * 1024 };

static SimtModule *module;
alignas(1024) static unsigned char out[1 << 17], in[BYTES];
// Where boxes come from and go to: 40 rows of 48 bytes, 64 bytes apart.
enum { ROWS = 40, ROW = 48, PITCH = 64 };
alignas(256) static unsigned char source[ROWS * PITCH], target[ROWS * PITCH];

static const Row rows[] = {
    { "ring", 128, RIGHT, "" },
    { "ring_wait_too_short", 128, SIMT_MISSING_WAIT, "planted.newt:10|no wait covers" },
    { "ring_no_wait", 128, SIMT_MISSING_WAIT, "planted.newt:11|started to write" },
    { "ring_no_barrier", 128, SIMT_MISSING_WAIT, "planted.newt:12" },
    { "ring_overwritten", 128, SIMT_SHARED_RACE, "planted.newt:13|starts to write|read" },
    { "copies_of_every_size", 128, RIGHT, "" },
    { "copy_misaligned", 128, SIMT_MISALIGNED, "planted.newt:20|reads 16 bytes" },
    { "copy_outside", 128, SIMT_OUT_OF_BOUNDS, "reads 16 bytes" },
    { "copy_masked_outside", 128, RIGHT, "" },
    { "barrier_of_half_a_warp", 128, SIMT_WRONG_OPERAND, "48 threads" },
    { "boxes", 128, RIGHT, "" },
    { "boxes_no_init_fence", 128, SIMT_MISSING_FENCE, "planted.newt:30|initialised with no fence" },
    { "boxes_no_full_wait", 128, either(SIMT_MISSING_WAIT, SIMT_UNWRITTEN_SHARED), "planted.newt:31" },
    { "boxes_no_empty_wait", 128, either(SIMT_SHARED_RACE, SIMT_MISSING_WAIT), "planted.newt:32" },
    { "boxes_wrong_parity", 128, either(SIMT_MISSING_WAIT, SIMT_UNWRITTEN_SHARED), "planted.newt:33" },
    { "boxes_lost_arrival", 128, SIMT_MISSING_ARRIVAL, "planted.newt:34|lacks 1 of 4 arrivals" },
    { "boxes_early_release", 128, either(SIMT_SHARED_RACE, SIMT_EXTRA_ARRIVAL), "planted.newt:35" },
    { "boxes_too_many_bytes", 128, SIMT_MISSING_ARRIVAL, "planted.newt:36|lacks 0 of 1 arrivals and 2048 bytes" },
    { "boxes_not_initialised", 128, SIMT_WRONG_OPERAND, "no initialised barrier" },
    { "boxes_no_barrier_after_init", 128, either(SIMT_SHARED_RACE, SIMT_WRONG_OPERAND), "planted.newt:38" },
    { "extra_arrival", 128, SIMT_EXTRA_ARRIVAL, "planted.newt:40|lacks 0 of 1 arrivals and 64 bytes" },
    { "box_misaligned", 128, SIMT_MISALIGNED, "no multiple of 128" },
    { "box_at_odd_column", 128, SIMT_MISALIGNED, "column 8 |multiple of 16 bytes" },
    { "box_of_other_rank", 128, SIMT_WRONG_OPERAND, "another number of axes" },
    { "round_trip", 128, RIGHT, "" },
    { "round_no_fence", 128, SIMT_MISSING_FENCE, "planted.newt:50|starts to read|no fence" },
    { "round_no_barrier", 128, either(SIMT_SHARED_RACE, SIMT_UNWRITTEN_SHARED), "planted.newt:51|starts to read" },
    { "round_no_read_wait", 128, SIMT_MISSING_WAIT, "planted.newt:52|started to read" },
    { "round_short_read_wait", 128, SIMT_MISSING_WAIT, "planted.newt:53" },
    { "store_not_waited_for", 128, SIMT_MISSING_WAIT, "ends while its stores" },
    { "matrices", 32, RIGHT, "" },
    { "matrices_of_half", 32, either(SIMT_MISSING_ARRIVAL, SIMT_WRONG_MASK), "planted.newt:46" },
    { "f16_right", 128, RIGHT, "" },
    { "f16_no_proxy_fence", 128, SIMT_MISSING_FENCE, "planted.newt:60|asynchronous proxy" },
    { "f16_no_barrier", 128, either(SIMT_SHARED_RACE, SIMT_UNWRITTEN_SHARED), "planted.newt:61|starts to read" },
    { "f16_no_fence", 128, SIMT_MISSING_FENCE, "planted.newt:62|no fence hands over" },
    { "f16_no_commit", 128, SIMT_MISSING_WAIT, "planted.newt:63|no wait covers" },
    { "f16_wait_too_short", 128, SIMT_MISSING_WAIT, "planted.newt:64|no wait covers" },
    { "f16_factor_overwritten", 128, SIMT_MISSING_WAIT, "planted.newt:65|started to read" },
    { "f16_sum_used", 128, SIMT_UNWRITTEN_REGISTER, "is stored" },
    { "f16_sum_written", 128, SIMT_MISSING_WAIT, "planted.newt:68|written before" },
    { "f16_touched_without_fence", 128, SIMT_MISSING_FENCE, "planted.newt:70|no fence hands over" },
    { "registers_kept", 128, RIGHT, "" },
    { "registers_behind_fence", 128, SIMT_MISSING_FENCE, "planted.newt:55|registers that no fence hands over" },
    { "registers_overwritten", 128, SIMT_MISSING_WAIT, "planted.newt:56|factor's registers are not kept" },
    { "registers_not_kept", 128, SIMT_MISSING_WAIT, "planted.newt:57|factor's registers are not kept" },
    { "registers_kept_too_early", 128, SIMT_MISSING_WAIT, "planted.newt:58|factor's registers are not kept" },
    { "f16_three_warps", 96, SIMT_WRONG_OPERAND, "four warps" },
    { "f16_one_warp_lacks", 128, SIMT_MISSING_ARRIVAL, "product of its warpgroup" },
    { "registers", 384, RIGHT, "" },
    { "registers_too_many", 384, SIMT_MISSING_ARRIVAL, "planted.newt:80|registers that others give back" },
    { "registers_odd", 384, SIMT_WRONG_OPERAND, "cannot have 44 registers" },
    { "registers_down_is_up", 384, SIMT_WRONG_OPERAND, "asks for 176 registers or fewer, and has 168" },
    { "registers_of_one_warp", 384, SIMT_WRONG_OPERAND, "different counts" },
};

// Maps of the source and the target, with boxes of 64 rows of 32 bytes.
static SimtTensorMap make_map(unsigned char *base, unsigned swizzle)
{
    SimtTensorMap m = {};
    m.base = (uintptr_t)base;
    m.sizes[0] = ROW;
    m.sizes[1] = ROWS;
    m.strides[0] = PITCH;
    m.box[0] = 32;
    m.box[1] = 64;
    m.elem_bytes = 1;
    m.rank = 2;
    m.swizzle = (uint8_t)swizzle;
    m.magic = SIMT_TENSOR_MAGIC;
    return m;
}

// Kernels get 128 bytes for a map.
static bool launch(const char *kernel, unsigned threads, unsigned swizzle)
{
    alignas(64) unsigned char maps[2][128] = {};
    const SimtTensorMap from = make_map(source, swizzle), to = make_map(target, 0);
    memcpy(maps[0], &from, sizeof from);
    memcpy(maps[1], &to, sizeof to);
    void *entry = simt_entry(module, kernel);
    if (!entry)
        fail_msg("no kernel '%s'", kernel);
    unsigned char *out_at = out, *in_at = in;
    void *parameters[] = { maps[0], maps[1], &out_at, &in_at };
    const SimtLaunch l = { { 1, 1, 1 }, threads, SHARED, parameters, 1 };
    memset(out, 0, sizeof out);
    memset(target, 0, sizeof target);
    return simt_launch(kernel, entry, &l);
}

static void planted(void **)
{
    for (const Row &row : rows)
        planted_check(row, SEEDS, [](const Row &r) { return launch(r.kernel, r.threads, 0); });
}

static void run(const char *kernel, unsigned threads, unsigned swizzle)
{
    if (!launch(kernel, threads, swizzle))
        fail_msg("%s: %s", kernel, simt_report());
}

static void fill_bytes()
{
    uint32_t x = 1;
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (unsigned char)((x = x * 1664525u + 1013904223u) >> 24);
    for (size_t i = 0; i < sizeof source; i++)
        source[i] = (unsigned char)(i * 7 + 1);
}

static void copies_arrive(void **)
{
    fill_bytes();
    run("ring", 128, 0);
    for (int i = 0; i < 3 * 2048; i++) {
        const int thread = i % 2048 / 16 ^ 64, at = i / 2048 * 2048 + thread * 16 + i % 16;
        assert_int_equal(out[i], i / 2048 == 2 && thread >= 100 ? 0 : in[at]);
    }
    run("copies_of_every_size", 128, 0);
    for (int i = 0; i < 512; i++)
        assert_int_equal(out[i], in[i]);
    for (int i = 1024; i < 2048; i++)
        assert_int_equal(out[i], (i - 1024) / 8 == 5 ? 0 : in[i]);
}

// The byte of the source at these coordinates; 0 outside.
static unsigned char at(int x, int y)
{
    return x < 0 || y < 0 || x >= ROW || y >= ROWS ? 0 : source[y * PITCH + x];
}

// PTX's manual, "Swizzling modes": which 16-byte piece of each row of 128 bytes stands at which place. Rows of the 32-byte
// mode change by pairs of four, those of the 64-byte mode by pairs of two.
static int place_of(int byte, unsigned swizzle)
{
    const int row = byte / 128, piece = byte / 16 % 8;
    const int change = swizzle == 128 ? row % 8 : swizzle == 64 ? row % 4 : swizzle == 32 ? row % 2 : 0;
    return row * 128 + (piece ^ change) * 16 + byte % 16;
}

static void boxes_arrive(void **)
{
    fill_bytes();
    for (unsigned swizzle : { 0, 32, 64, 128 }) {
        run("boxes", 128, swizzle);
        for (int i = 0; i < 2 * 2048; i++) {
            const int box = i / 2048, byte = i % 2048;
            assert_int_equal(out[box * 2048 + place_of(byte, swizzle)], at(16 * box + byte % 32, 4 * box + byte / 32));
        }
    }
    run("round_trip", 128, 0);
    for (int byte = 0; byte < 2048; byte++)
        assert_int_equal(out[byte], at(byte % 32 - 16, byte / 32 + 5));
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < PITCH; x++)  // what is behind a row is not written
            assert_int_equal(target[y * PITCH + x], x < 32 || x >= ROW ? 0 : at(x - 32 - 16, y + 2 + 5));
}

// What copies cost: bytes and sectors of two boxes beside those of stores, and banks.
static void counts(void **)
{
    std::set<size_t> sectors[2];
    uint64_t bytes = 0;
    for (int box = 0; box < 2; box++)
        for (int y = 4 * box; y < 4 * box + 64 && y < ROWS; y++)
            for (int x = 16 * box; x < 16 * box + 32 && x < ROW; x++, bytes++)
                sectors[box].insert(((size_t)source + (size_t)(y * PITCH + x)) / 32);
    simt_counts_reset();
    run("boxes", 128, 0);
    SimtCounts c = simt_counts();
    assert_int_equal(c.global_bytes, bytes + 2 * 2048);
    assert_int_equal(c.stores[4], 2 * 2048 / 16);
    assert_int_equal(c.global_sectors, sectors[0].size() + sectors[1].size() + 2 * 2048 / 32);
    simt_counts_reset();
    run("copy_conflicts", 128, 0);
    c = simt_counts();
    assert_int_equal(c.loads[2], 128);
    assert_int_equal(c.global_sectors, 128 * 4 / 32);
    assert_int_equal(c.shared_requests, 4);
    assert_int_equal(c.bank_conflicts, 4 * 31);
}

static void matrices_of_a_warp(void **)
{
    run("matrices", 32, 0);
    const uint16_t *x = (const uint16_t *)out;
    for (int i = 0; i < 4; i++)
        for (int row = 0; row < 8; row++)
            for (int column = 0; column < 8; column++) {
                const int lane = row * 4 + column / 2, value = lane * 2 + 64 * i + column % 2;
                assert_int_equal(x[(8 * i + row) * 8 + column], value);
                assert_int_equal(x[256 + (8 * i + column) * 8 + row], value);
                assert_int_equal(x[512 + lane * 8 + 2 * i + column % 2], value);
                assert_int_equal(x[768 + lane * 8 + 2 * i + column % 2], value);
            }
}

// ---- products ----

// Small numbers that all types have, so that sums are exact: multiples of 1 / 4 up to 3 in size.
static void put_number(unsigned type, unsigned char *to, int quarters)
{
    const float f = (float)quarters / 4;
    const uint32_t bits = simt_bits<uint32_t>(f);
    const int e = (int)(bits >> 23 & 0xff) - 127;
    const uint32_t sign = bits >> 31, fraction = bits >> 13 & 0x3ff;
    const uint16_t half = quarters ? (uint16_t)(sign << 15 | (uint32_t)(e + 15) << 10 | fraction) : 0;
    const uint16_t brain = (uint16_t)(bits >> 16);
    const int8_t integer = (int8_t)quarters;
    switch (type) {
    case SIMT_F16: memcpy(to, &half, 2); break;
    case SIMT_BF16: memcpy(to, &brain, 2); break;
    case SIMT_E5M2: *to = (unsigned char)(half >> 8); break;
    case SIMT_E4M3: *to = quarters ? (unsigned char)(sign << 7 | (uint32_t)(e + 7) << 3 | fraction >> 7) : 0; break;
    case SIMT_S8: memcpy(to, &integer, 1); break;
    default: memcpy(to, &f, 4); break;
    }
}

struct Product {
    const char *kernel;
    unsigned a, b, n, row;  // bytes of a K-major factor's row
    bool swap_a, swap_b;
    int start;  // of the sum
    bool half_sum;
};

static const Product products[] = {
    { "f16_128", SIMT_F16, SIMT_F16, 64, 128, false, false, 0, false },
    { "f16_64", SIMT_F16, SIMT_F16, 64, 64, false, false, 0, false },
    { "f16_32", SIMT_F16, SIMT_F16, 64, 32, false, false, 0, false },
    { "f16_0", SIMT_F16, SIMT_F16, 64, 32, false, false, 0, false },
    { "f16_128_b", SIMT_F16, SIMT_F16, 64, 128, false, true, 0, false },
    { "f16_64_b", SIMT_F16, SIMT_F16, 64, 64, false, true, 0, false },
    { "f16_32_b", SIMT_F16, SIMT_F16, 64, 32, false, true, 0, false },
    { "f16_0_b", SIMT_F16, SIMT_F16, 64, 32, false, true, 0, false },
    { "f16_128_ab", SIMT_F16, SIMT_F16, 128, 128, true, true, 0, false },
    { "f16_64_a", SIMT_F16, SIMT_F16, 16, 64, true, false, 0, false },
    { "f16_32_a", SIMT_F16, SIMT_F16, 16, 32, true, false, 0, false },
    { "f16_0_a", SIMT_F16, SIMT_F16, 16, 32, true, false, 0, false },
    { "f16_n256", SIMT_F16, SIMT_F16, 256, 128, false, true, 0, false },
    { "f16_n8", SIMT_F16, SIMT_F16, 8, 128, false, false, 0, false },
    { "bf16_128", SIMT_BF16, SIMT_BF16, 64, 128, false, true, 0, false },
    { "tf32_128", SIMT_TF32, SIMT_TF32, 64, 128, false, false, 0, false },
    { "e4m3_e4m3", SIMT_E4M3, SIMT_E4M3, 64, 128, false, false, 0, false },
    { "e4m3_e5m2", SIMT_E4M3, SIMT_E5M2, 64, 128, false, false, 0, false },
    { "e5m2_e4m3", SIMT_E5M2, SIMT_E4M3, 64, 128, false, false, 0, false },
    { "e5m2_e5m2", SIMT_E5M2, SIMT_E5M2, 64, 128, false, false, 0, false },
    { "s8_128", SIMT_S8, SIMT_S8, 64, 128, false, false, 0, false },
    { "f16_registers", SIMT_F16, SIMT_F16, 64, 128, false, false, 1, false },
    { "tf32_registers", SIMT_TF32, SIMT_TF32, 64, 128, false, false, 1, false },
    { "e4m3_registers", SIMT_E4M3, SIMT_E5M2, 64, 128, false, false, 1, false },
    { "s8_registers", SIMT_S8, SIMT_S8, 64, 128, false, false, 1, false },
    { "f16_sum", SIMT_F16, SIMT_F16, 64, 128, false, false, 0, true },
};

static unsigned size_of(unsigned type)
{
    return type == SIMT_F16 || type == SIMT_BF16 ? 2 : type == SIMT_TF32 ? 4 : 1;
}

// Numbers in quarters; those of e5m2 have two bits behind the first.
static int quarters_of(int i)
{
    static const int some[] = { 1, 2, 3, 4, 5, 6, 7, 8, 10, 12 };
    const int q = some[i * 7 % 10];
    return i % 3 == 0 ? -q : i % 11 == 5 ? 0 : q;
}

// Fills a factor's rows: of K numbers, or K rows of `count`.
static std::vector<int> fill_factor(unsigned char *to, unsigned type, unsigned count, unsigned k, bool swaps, int seed)
{
    std::vector<int> x(count * k);
    for (unsigned row = 0; row < count; row++)
        for (unsigned i = 0; i < k; i++) {
            x[row * k + i] = quarters_of((int)(row * 31 + i * 17) + seed);
            put_number(type, to + (swaps ? i * count + row : row * k + i) * size_of(type), x[row * k + i]);
        }
    return x;
}

static double half_value(uint16_t bits)
{
    const int e = bits >> 10 & 31;
    return (bits & 0x8000 ? -1 : 1) * std::ldexp((e ? 1024 : 0) + (bits & 1023), (e ? e : 1) - 25);
}

static void products_are_right(void **)
{
    for (const Product &p : products) {
        const unsigned k = p.row / size_of(p.a);
        const std::vector<int> a = fill_factor(in, p.a, 64, k, p.swap_a, 1), b = fill_factor(in + 32768, p.b, p.n, k, p.swap_b, 2);
        run(p.kernel, 128, 0);
        const bool integers = p.a == SIMT_S8;
        for (unsigned row = 0; row < 64; row++)
            for (unsigned column = 0; column < p.n; column++) {
                int sum = 0;
                for (unsigned i = 0; i < k; i++)
                    sum += a[row * k + i] * b[column * k + i];
                const unsigned char *got = out + (row * p.n + column) * (p.half_sum ? 2 : 4);
                uint32_t bits = 0;
                memcpy(&bits, got, p.half_sum ? 2 : 4);
                const double value = integers ? (double)(int32_t)bits : p.half_sum ? half_value((uint16_t)bits) : simt_bits<float>(bits);
                const double want = p.start + (integers ? (double)sum : sum / 16.0);
                // an fp16 sum is rounded in each of its four steps, by half a place of numbers below 256 at most
                if (std::fabs(value - want) > (p.half_sum ? 4 * 0.0625 : 0))
                    fail_msg("%s: row %u, column %u: %g instead of %g", p.kernel, row, column, value, want);
            }
    }
}

static void another_swizzle_is_another_product(void **)
{
    const std::vector<int> a = fill_factor(in, SIMT_F16, 64, 64, false, 1), b = fill_factor(in + 32768, SIMT_F16, 64, 64, false, 2);
    run("f16_128", 128, 0);
    const std::vector<unsigned char> right(out, out + 64 * 64 * 4);
    launch("f16_flipped", 128, 0);
    assert_memory_not_equal(out, right.data(), right.size());
}

int main()
{
    module = planted_load("planted_async.cu");
    if (!module)
        return 1;
    simt_expose(out, sizeof out);
    simt_expose(in, sizeof in);
    simt_expose(source, sizeof source);
    simt_expose(target, sizeof target);
    const CMUnitTest tests[] = { cmocka_unit_test(copies_arrive),      cmocka_unit_test(boxes_arrive),
                                 cmocka_unit_test(matrices_of_a_warp), cmocka_unit_test(counts), cmocka_unit_test(products_are_right),
                                 cmocka_unit_test(another_swizzle_is_another_product), cmocka_unit_test(planted) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
