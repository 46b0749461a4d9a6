/// Tensor maps and persistent grids against the fake driver: what is encoded, what a kernel gets,
/// and which variant runs when a map cannot be made. `test_tensor old` does the last against a
/// driver without the optional functions, which stays for a process once it is loaded.
#include "fake_driver.h"
#include "sample.h"
#include <newt/newt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static bool is_old;

static int reset(void **state)
{
    (void)state;
    fake_reset();
    fake.is_old = is_old;
    fake.major = 9;
    fake.map_at = TILE_PARAMS;
    unsetenv("NEWT_LOG");
    unsetenv("NEWT_CHECK");
    return 0;
}

/// The fake copies what parameters hold only when told that they are there.
static void expect_maps(bool are_there)
{
    fake.map_count = are_there ? 2 : 0;
    fake.grid_at = are_there ? TILE_PARAMS + 2 : 0;
}

static NewtDevice *open_device(void)
{
    NewtDevice *device = NULL;
    assert_int_equal(newt_device_open("cuda:0", &device), NEWT_OK);
    return device;
}

static TileArgs tile_args(int64_t m, int64_t k, int64_t stride)
{
    return (TileArgs){ (const float *)0x1000, (const void *)0x20000, m, k, stride };
}

static void test_what_is_encoded(void **state)
{
    (void)state;
    expect_maps(true);
    NewtDevice *device = open_device();
    const TileArgs args = tile_args(1000, 48, 52);
    assert_int_equal(newt_launch_(sample_tile, device, NULL, NULL, &args), NEWT_OK);
    assert_string_equal(fake.symbol, "tile_maps_90a");

    const FakeEncode *a = &fake.encoded[0], *b = &fake.encoded[1];
    assert_int_equal(a->type, 7);  // CU_TENSOR_MAP_DATA_TYPE_FLOAT32
    assert_int_equal(a->rank, 2);
    assert_ptr_equal(a->base, args.a);
    assert_int_equal(a->sizes[0], 48);
    assert_int_equal(a->sizes[1], 1000);
    assert_int_equal(a->strides[0], 52 * 4);
    assert_int_equal(a->box_less_one[0], 31);
    assert_int_equal(a->box_less_one[1], 255);
    assert_int_equal(a->swizzle, 3);    // CU_TENSOR_MAP_SWIZZLE_128B
    assert_int_equal(a->promotion, 3);  // CU_TENSOR_MAP_L2_PROMOTION_L2_256B
    assert_int_equal(b->type, 0);       // CU_TENSOR_MAP_DATA_TYPE_UINT8
    assert_int_equal(b->rank, 3);
    assert_ptr_equal(b->base, args.b);
    assert_int_equal(b->sizes[2], 3);
    assert_int_equal(b->strides[0], 48);
    assert_int_equal(b->strides[1], 48 * 1000);
    assert_int_equal(b->box_less_one[2], 0);
    assert_int_equal(b->swizzle, 2);  // CU_TENSOR_MAP_SWIZZLE_64B
    assert_int_equal(b->promotion, 0);
    newt_device_close(device);
}

typedef struct TypeCase {
    NewtType type;
    int code;  // as in cuda.h
    uint64_t bytes;
    uint32_t tf32;
} TypeCase;

static void test_element_types(void **state)
{
    (void)state;
    static const TypeCase cases[] = {
        { NEWT_I1, 0, 1, 0 },     { NEWT_I8, 0, 1, 0 },     { NEWT_U8, 0, 1, 0 },
        { NEWT_F8E4M3, 0, 1, 0 }, { NEWT_F8E5M2, 0, 1, 0 }, { NEWT_I16, 1, 2, 0 },
        { NEWT_U16, 1, 2, 0 },    { NEWT_F16, 6, 2, 0 },    { NEWT_BF16, 9, 2, 0 },
        { NEWT_I32, 3, 4, 0 },    { NEWT_U32, 2, 4, 0 },    { NEWT_F32, 7, 4, 0 },
        { NEWT_I64, 5, 8, 0 },    { NEWT_U64, 4, 8, 0 },    { NEWT_F64, 8, 8, 0 },
        { NEWT_F32, 11, 4, 1 },
    };
    expect_maps(true);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        // A kernel like sample_tile whose first map has another type; its own id, so it loads anew.
        NewtTensorRecipe recipes[2];
        NewtVariant variant = sample_only_maps->variants[0];
        NewtEntry entry = variant.entries[0];
        NewtKernel kernel = *sample_only_maps;
        NewtModuleDesc module = *kernel.module;
        memcpy(recipes, entry.tensors, sizeof recipes);
        recipes[0].type = cases[i].type;
        recipes[0].tf32 = cases[i].tf32;
        recipes[0].box[0] = 16;
        entry.tensors = recipes;
        variant.entries = &entry;
        variant.predicate_count = 0;
        kernel.variants = &variant;
        kernel.module = &module;
        module.kernels = &kernel;
        module.kernel_count = 1;

        NewtDevice *device = open_device();
        const TileArgs args = tile_args(64, 16, 32);
        assert_int_equal(newt_launch_(&kernel, device, NULL, NULL, &args), NEWT_OK);
        assert_int_equal(fake.encoded[0].type, cases[i].code);
        assert_int_equal(fake.encoded[0].strides[0], 32 * cases[i].bytes);
        newt_device_close(device);
    }
}

typedef struct FitCase {
    const char *name;
    uintptr_t a;
    int64_t m, k, stride;
    const char *why;  // NULL: the variant with maps runs
} FitCase;

static const int64_t two_32 = INT64_C(1) << 32, two_38 = INT64_C(1) << 38;

static void test_what_fits(void **state)
{
    (void)state;
    const FitCase cases[] = {
        { "plain", 0x1000, 64, 64, 64, NULL },
        { "address", 0x1008, 64, 64, 64,
          "tensor map 0 ('a'): the address is 8 more than a multiple of 16" },
        { "no k", 0x1000, 64, 0, 64,
          "tensor map 0 ('a'): the size of axis 0 is 0, and 1 to 2^32 are possible" },
        { "largest k", 0x1000, 1, two_32, 64, NULL },
        { "k too large", 0x1000, 1, two_32 + 1, 64,
          "tensor map 0 ('a'): the size of axis 0 is 4294967297, and 1 to 2^32 are possible" },
        { "zero stride", 0x1000, 64, 64, 0,
          "tensor map 0 ('a'): the stride of axis 1 is 0 elements, and multiples of 16 bytes "
          "between 0 and 2^40 are possible" },
        { "negative stride", 0x1000, 64, 64, -64,
          "tensor map 0 ('a'): the stride of axis 1 is -64 elements, and multiples of 16 bytes "
          "between 0 and 2^40 are possible" },
        { "stride of 2^40 bytes", 0x1000, 64, 64, two_38,
          "tensor map 0 ('a'): the stride of axis 1 is 274877906944 elements, and multiples of 16 "
          "bytes between 0 and 2^40 are possible" },
        { "stride that overflows in bytes", 0x1000, 64, 64, INT64_C(1) << 62,
          "tensor map 0 ('a'): the stride of axis 1 is 4611686018427387904 elements, and multiples "
          "of 16 bytes between 0 and 2^40 are possible" },
        { "largest stride", 0x1000, 64, 64, two_38 - 4, NULL },
        { "no stride leads along one row", 0x1000, 1, 64, 0, NULL },
        { "the second map", 0x1000, 64, 60, 64,
          "tensor map 1 ('b'): the stride of axis 1 is 60 elements, and multiples of 16 bytes "
          "between 0 and 2^40 are possible" },
        { "expression", 0x1000, -1, 64, 64, "a tensor's shape overflows 64 bits" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const FitCase *c = &cases[i];
        reset(state);
        expect_maps(c->why == NULL);
        NewtDevice *device = open_device();
        TileArgs args = tile_args(c->m, c->k, c->stride);
        args.a = (const float *)c->a;
        assert_int_equal(newt_launch_(sample_tile, device, NULL, NULL, &args), NEWT_OK);
        assert_string_equal(fake.symbol, c->why ? "tile_plain_90a" : "tile_maps_90a");
        assert_int_equal(fake.launches, 1);
        NewtStatus alone = newt_launch_(sample_only_maps, device, NULL, NULL, &args);
        assert_int_equal(alone, c->why ? NEWT_BAD_ARGUMENT : NEWT_OK);
        if (c->why) {
            assert_non_null(
                strstr(newt_last_error(), "only_maps has no variant for these arguments"));
            assert_non_null(strstr(newt_last_error(), c->why));
        }
        newt_device_close(device);
    }
}

static void test_driver_without_maps(void **state)
{
    (void)state;
    NewtDevice *device = open_device();
    const TileArgs args = tile_args(64, 64, 64);
    assert_int_equal(newt_launch_(sample_tile, device, NULL, NULL, &args), NEWT_OK);
    assert_string_equal(fake.symbol, "tile_plain_90a");
    assert_int_equal(newt_launch_(sample_only_maps, device, NULL, NULL, &args), NEWT_OLD_DRIVER);
    assert_non_null(strstr(newt_last_error(), "the driver has no cuTensorMapEncodeTiled"));
    newt_device_close(device);
}

static void test_driver_refuses(void **state)
{
    (void)state;
    fake.fail_name = "cuTensorMapEncodeTiled";
    fake.fail_result = 1;
    NewtDevice *device = open_device();
    const TileArgs args = tile_args(64, 64, 64);
    assert_int_equal(newt_launch_(sample_tile, device, NULL, NULL, &args), NEWT_OK);
    assert_string_equal(fake.symbol, "tile_plain_90a");
    assert_int_equal(newt_launch_(sample_only_maps, device, NULL, NULL, &args), NEWT_BAD_ARGUMENT);
    assert_non_null(strstr(newt_last_error(), "cuTensorMapEncodeTiled returns CUresult 1"));
    newt_device_close(device);
}

typedef struct GridCase {
    int64_t m;
    unsigned programs, blocks, in_clusters;
} GridCase;

/// Two blocks on each of FAKE_SMS (6) multiprocessors; in clusters of four, three clusters at once.
static void test_persistent_grid(void **state)
{
    (void)state;
    static const GridCase cases[] = {
        { 1, 1, 1, 4 },          { 64 * 5, 5, 5, 8 },       { 64 * 12, 12, 12, 12 },
        { 64 * 13, 13, 12, 12 }, { 64 * 999, 999, 12, 12 },
    };
    expect_maps(true);
    NewtDevice *device = open_device();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const TileArgs args = tile_args(cases[i].m, 64, 64);
        assert_int_equal(newt_launch_(sample_tile, device, NULL, NULL, &args), NEWT_OK);
        assert_int_equal(fake.grid[0], cases[i].blocks);
        assert_int_equal(fake.grid[1], 1);
        assert_int_equal(fake.grid[2], 1);
        assert_int_equal(fake.true_grid[0], cases[i].programs);
        assert_int_equal(fake.true_grid[1], 1);
        assert_int_equal(fake.true_grid[2], 1);
        assert_int_equal(newt_launch_(sample_tile_clusters, device, NULL, NULL, &args), NEWT_OK);
        assert_int_equal(fake.grid[0], cases[i].in_clusters);
        assert_int_equal(fake.cluster[0], 4);
    }
    const TileArgs none = tile_args(0, 64, 64);
    int calls = fake.calls;
    assert_int_equal(newt_launch_(sample_tile, device, NULL, NULL, &none), NEWT_OK);
    assert_int_equal(fake.calls - calls, 3);  // about the context; nothing encoded or launched
    newt_device_close(device);
}

static void test_too_many_programs_for_a_persistent_grid(void **state)
{
    (void)state;
    NewtKernel kernel = *sample_tile;
    NewtVariant variants[2] = { kernel.variants[0], kernel.variants[1] };
    variants[0].grid = variants[1].grid = NULL;
    NewtModuleDesc module = *kernel.module;
    kernel.variants = variants;
    kernel.module = &module;
    module.kernels = &kernel;
    module.kernel_count = 1;
    NewtDevice *device = open_device();
    const TileArgs args = tile_args(64, 64, 64);
    const NewtGrid large = { 65536, 32768, 1 }, fits = { 65535, 32768, 1 };
    assert_int_equal(newt_launch_(&kernel, device, NULL, &large, &args), NEWT_OK);
    assert_string_equal(fake.symbol, "tile_plain_90a");
    assert_int_equal(fake.grid[1], 32768);
    expect_maps(true);
    assert_int_equal(newt_launch_(&kernel, device, NULL, &fits, &args), NEWT_OK);
    assert_string_equal(fake.symbol, "tile_maps_90a");
    assert_int_equal(fake.grid[0], 12);
    assert_int_equal(fake.true_grid[0], 65535);
    assert_int_equal(fake.true_grid[1], 32768);
    newt_device_close(device);
}

/// A graph node has the maps and the true grid inside, and they outlive the call.
static void test_node(void **state)
{
    (void)state;
    NewtDevice *device = open_device();
    TileArgs args = tile_args(64 * 999, 48, 52);
    void *values[] = { &args.a, &args.b, &args.m, &args.k, &args.stride };
    NewtNodeParams node;
    memset(&node, 0xFF, sizeof node);
    assert_int_equal(newt_kernel_node_params(sample_tile, values, device, NULL, &node), NEWT_OK);
    assert_string_equal((const char *)node.func, "tile_maps_90a");
    assert_int_equal(node.grid[0], 12);
    for (int i = 0; i < TILE_PARAMS; i++)
        assert_ptr_equal(node.parameters[i], values[i]);
    for (int i = 0; i < 5; i++) {
        const char *at = node.parameters[TILE_PARAMS + i];
        assert_in_range((uintptr_t)at, (uintptr_t)&node, (uintptr_t)(&node + 1) - 1);
    }
    FakeEncode b;
    memcpy(&b, node.parameters[TILE_PARAMS + 1], sizeof b);
    assert_int_equal((uintptr_t)node.parameters[TILE_PARAMS + 1] % 64, 0);
    assert_ptr_equal(b.base, args.b);
    assert_int_equal(b.sizes[1], 64 * 999);
    assert_int_equal(*(unsigned *)node.parameters[TILE_PARAMS + 2], 999);
    assert_int_equal(*(unsigned *)node.parameters[TILE_PARAMS + 4], 1);
    args.k = 0;  // no map for it
    assert_int_equal(newt_kernel_node_params(sample_tile, values, device, NULL, &node), NEWT_OK);
    assert_string_equal((const char *)node.func, "tile_plain_90a");
    newt_device_close(device);
}

static void test_a_warm_launch_asks_for_maps_only(void **state)
{
    (void)state;
    expect_maps(true);
    NewtDevice *device = open_device();
    fake_current = fake_primary;
    const TileArgs args = tile_args(64, 64, 64);
    assert_int_equal(newt_launch_(sample_tile, device, NULL, NULL, &args), NEWT_OK);
    int calls = fake.calls;
    assert_int_equal(newt_launch_(sample_tile, device, NULL, NULL, &args), NEWT_OK);
    assert_int_equal(fake.calls - calls, 4);  // cuCtxGetCurrent, two maps, cuLaunchKernel
    newt_device_close(device);
}

static void test_recipes_are_checked_when_loaded(void **state)
{
    (void)state;
    NewtDevice *device = open_device();
    const TileArgs args = tile_args(64, 64, 64);
    for (size_t i = 0; sample_bad_recipe_texts[i]; i++) {
        NewtStatus status = newt_launch_(&sample_bad_recipes[i], device, NULL, NULL, &args);
        assert_int_equal(status, NEWT_BAD_IMAGE);
        assert_non_null(strstr(newt_last_error(), "bad: tensor map 0 of bad_90a: "));
        assert_non_null(strstr(newt_last_error(), sample_bad_recipe_texts[i]));
    }
    assert_int_equal(fake.launches, 0);
    assert_int_equal(fake.loads, 0);
    newt_device_close(device);
}

static void test_log_lines(void **state)
{
    (void)state;
    char text[2048] = "";
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    int saved = dup(STDERR_FILENO);
    setenv("NEWT_LOG", "launch", 1);
    NewtDevice *device = open_device();
    const TileArgs good = tile_args(6400, 64, 64), bad = tile_args(6400, 0, 64);
    dup2(ends[1], STDERR_FILENO);
    NewtStatus first = newt_launch_(sample_tile, device, NULL, NULL, &good);
    NewtStatus second = newt_launch_(sample_tile, device, NULL, NULL, &bad);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(ends[1]);
    assert_true(read(ends[0], text, sizeof text - 1) > 0);
    close(ends[0]);
    newt_device_close(device);
    assert_int_equal(first, NEWT_OK);
    assert_int_equal(second, NEWT_OK);
    assert_string_equal(
        text,
        "newt: load sample.newt: sm_90a, 13 bytes, sha256 90, on cuda:0\n"
        "newt: choice tile [maps] tile_maps_90a on cuda:0\n"
        "newt: launch tile grid 100 1 1 by 12 blocks, 384 threads, 0 bytes shared\n"
        "newt: choice tile [maps] tile_maps_90a passed over: tensor map 0 ('a'): the size of axis "
        "0 is 0, and 1 to 2^32 are possible\n"
        "newt: choice tile [plain] tile_plain_90a on cuda:0\n"
        "newt: launch tile grid 100 1 1, 128 threads, 0 bytes shared\n");
}

int main(int argc, char **argv)
{
    is_old = argc > 1 && strcmp(argv[1], "old") == 0;
    static const struct CMUnitTest old[] = {
        cmocka_unit_test_setup(test_driver_without_maps, reset),
    };
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_what_is_encoded, reset),
        cmocka_unit_test_setup(test_element_types, reset),
        cmocka_unit_test_setup(test_what_fits, reset),
        cmocka_unit_test_setup(test_driver_refuses, reset),
        cmocka_unit_test_setup(test_persistent_grid, reset),
        cmocka_unit_test_setup(test_too_many_programs_for_a_persistent_grid, reset),
        cmocka_unit_test_setup(test_node, reset),
        cmocka_unit_test_setup(test_a_warm_launch_asks_for_maps_only, reset),
        cmocka_unit_test_setup(test_recipes_are_checked_when_loaded, reset),
        cmocka_unit_test_setup(test_log_lines, reset),
    };
    if (is_old)
        return cmocka_run_group_tests_name("runtime_tensor_old", old, NULL, NULL);
    return cmocka_run_group_tests_name("runtime_tensor", tests, NULL, NULL);
}
