/// The hand-written module of the runtime's tests.
#include "sample.h"
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const NewtImage images[] = {
    { NEWT_IMAGE_CUBIN, NEWT_SET_COMMON, 80, "cubin sm_80", 12, "80", NULL, 0 },
    { NEWT_IMAGE_CUBIN, NEWT_SET_ACCELERATED, 90, "cubin sm_90a", 13, "90", NULL, 0 },
    { NEWT_IMAGE_PTX, NEWT_SET_COMMON, 80, "ptx compute_80", 15, "p80", NULL, 0 },
};

static const NewtParam params[] = {
    { "x", NEWT_PARAM_POINTER, NEWT_F32, offsetof(SampleArgs, x), 8, true, 0 },
    { "y", NEWT_PARAM_POINTER, NEWT_F32, offsetof(SampleArgs, y), 8, true, 0 },
    { "out", NEWT_PARAM_POINTER, NEWT_F32, offsetof(SampleArgs, out), 8, false, 0 },
    { "n", NEWT_PARAM_SCALAR, NEWT_I64, offsetof(SampleArgs, n), 8, false, 0 },
};

static const NewtPredicate aligned[] = {
    { NEWT_TEST_ALIGN, 0, 16, NULL },
    { NEWT_TEST_ALIGN, 1, 16, NULL },
    { NEWT_TEST_ALIGN, 2, 16, NULL },
    { NEWT_TEST_MULTIPLE, 3, 16, NULL },
};
static const NewtPredicate one[] = { { NEWT_TEST_EQUAL, 3, 1, NULL } };

static NewtStatus add_grid(const void *args, int64_t grid[3])
{
    const SampleArgs *a = args;
    if (a->n > INT64_MAX - (SAMPLE_BLOCK - 1))
        return NEWT_TOO_LARGE;
    if (a->n == -7)  // stands for a division by zero
        return NEWT_BAD_ARGUMENT;
    grid[0] = (a->n + SAMPLE_BLOCK - 1) / SAMPLE_BLOCK;
    if (a->n < 0)
        grid[0] = a->n;
    return NEWT_OK;
}

static void add_host(const void *args, const NewtHostProgram *program)
{
    const SampleArgs *a = args;
    int64_t first = (int64_t)program->id[0] * SAMPLE_BLOCK;
    for (int64_t i = first; i < first + SAMPLE_BLOCK && i < a->n; i++)
        a->out[i] = a->x[i] + a->y[i];
}

static void mark_host(const void *args, const NewtHostProgram *program)
{
    const SampleArgs *a = args;
    const int32_t *id = program->id, *grid = program->grid;
    memset(program->scratch, 1, 100);
    a->out[((int64_t)id[2] * grid[1] + id[1]) * grid[0] + id[0]] += 1.0F;
}

static const NewtEntry aligned_entries[] = {
    { .symbol = "add_aligned_80", .image = 0, .threads = 128 },
    { .symbol = "add_aligned_90a", .image = 1, .threads = 128 },
};
static const NewtEntry one_entries[] = { { .symbol = "add_one_80", .image = 0, .threads = 32 } };
static const NewtEntry generic_entries[] = {
    { .symbol = "add_80", .image = 0, .threads = 128 },
    { .symbol = "add_90a", .image = 1, .threads = 128 },
    { .symbol = "add_ptx", .image = 2, .threads = 128 },
};
static const NewtEntry big_entries[] = {
    { .symbol = "big_80", .image = 0, .threads = 256, .shared = 100 * 1024 },
};
static const NewtEntry cluster_entries[] = {
    { .symbol = "cluster_90a", .image = 1, .threads = 256, .cluster = { 16, 1, 1 } },
};

// ---- tensor maps and persistent grids --------------------------------------------------------

static const NewtParam tile_params[] = {
    { "a", NEWT_PARAM_POINTER, NEWT_F32, offsetof(TileArgs, a), 8, true, 0 },
    { "b", NEWT_PARAM_POINTER, NEWT_F8E4M3, offsetof(TileArgs, b), 8, true, 0 },
    { "m", NEWT_PARAM_SCALAR, NEWT_I64, offsetof(TileArgs, m), 8, false, 0 },
    { "k", NEWT_PARAM_SCALAR, NEWT_I64, offsetof(TileArgs, k), 8, false, 0 },
    { "stride", NEWT_PARAM_SCALAR, NEWT_I64, offsetof(TileArgs, stride), 8, false, 0 },
};
static const NewtPredicate tile_predicates[] = { { NEWT_TEST_MULTIPLE, 4, 4, NULL } };

static const NewtTensorRecipe tile_recipes[] = {
    { 0, NEWT_F32, 2, 128, 256, { 32, 256 }, 0 },
    { 1, NEWT_F8E4M3, 3, 64, 0, { 64, 128, 1 }, 0 },
};

static NewtStatus tile_shapes(const void *args, const uint32_t grid[3], NewtTensorShape *shapes)
{
    const TileArgs *a = args;
    (void)grid;
    if (a->m == -1)
        return NEWT_TOO_LARGE;
    shapes[0] = (NewtTensorShape){ { a->k, a->m }, { 1, a->stride } };
    shapes[1] = (NewtTensorShape){ { a->k, a->m, 3 }, { 1, a->k, a->k * a->m } };
    return NEWT_OK;
}

static NewtStatus tile_grid(const void *args, int64_t grid[3])
{
    const TileArgs *a = args;
    grid[0] = a->m == -1 ? 1 : (a->m + TILE_ROWS - 1) / TILE_ROWS;
    return NEWT_OK;
}

#define TILE_MAPS                                                                             \
    .image = 1, .threads = 384, .tensor_count = COUNT(tile_recipes), .tensors = tile_recipes, \
    .tensor_expr = tile_shapes, .blocks_per_sm = 2
static const NewtEntry map_entries[] = { { .symbol = "tile_maps_90a", TILE_MAPS } };
static const NewtEntry map_cluster_entries[] = {
    { .symbol = "tile_clusters_90a", .cluster = { 4, 1, 1 }, TILE_MAPS },
};
static const NewtEntry plain_entries[] = {
    { .symbol = "tile_plain_90a", .image = 1, .threads = 128 },
};
static const NewtVariant tile_variants[] = {
    { "maps", tile_predicates, map_entries, 1, 1, tile_grid, NULL, 0 },
    { "plain", NULL, plain_entries, 0, 1, tile_grid, NULL, 0 },
};
static const NewtVariant cluster_tile_variants[] = {
    { "maps", NULL, map_cluster_entries, 0, 1, tile_grid, NULL, 0 },
};

// A recipe, the entry with it, the variant with that; the text is the rule that it breaks.
#define BAD_RECIPES(ROW)                                                                           \
    ROW(0, "its base is no pointer parameter", { 4, NEWT_F32, 2, 0, 0, { 32, 64 }, 0 })            \
    ROW(1, "its base is no pointer parameter", { 5, NEWT_F32, 2, 0, 0, { 32, 64 }, 0 })            \
    ROW(2, "its element type is unknown", { 0, (NewtType)99, 2, 0, 0, { 32, 64 }, 0 })             \
    ROW(3, "its rank is not 1 to 5", { 0, NEWT_F32, 0, 0, 0, { 32, 64 }, 0 })                      \
    ROW(4, "its rank is not 1 to 5", { 0, NEWT_F32, 6, 0, 0, { 32, 64 }, 0 })                      \
    ROW(5, "its swizzle is not 0, 32, 64 or 128 bytes", { 0, NEWT_F32, 2, 96, 0, { 8, 64 }, 0 })   \
    ROW(6, "its L2 promotion is not 0, 64, 128 or 256 bytes",                                      \
        { 0, NEWT_F32, 2, 0, 32, { 8, 64 }, 0 })                                                   \
    ROW(7, "a side of its box is not 1 to 256 elements", { 0, NEWT_F32, 2, 0, 0, { 32, 257 }, 0 }) \
    ROW(8, "a side of its box is not 1 to 256 elements", { 0, NEWT_F32, 2, 0, 0, { 32 }, 0 })      \
    ROW(9, "the inner side of its box is no multiple of 16 bytes",                                 \
        { 0, NEWT_F32, 2, 0, 0, { 2, 64 }, 0 })                                                    \
    ROW(10, "the inner side of its box is longer than the swizzle",                                \
        { 0, NEWT_F32, 2, 64, 0, { 32, 64 }, 0 })                                                  \
    ROW(11, "it rounds to tf32 what is not fp32", { 0, NEWT_F16, 2, 64, 0, { 32, 64 }, 1 })

#define RECIPE(i, text, ...) __VA_ARGS__,
static const NewtTensorRecipe bad_recipes[] = { BAD_RECIPES(RECIPE) };
#define ENTRY(i, text, ...)       \
    { .symbol = "bad_90a",        \
      .image = 1,                 \
      .threads = 128,             \
      .tensor_count = 1,          \
      .tensors = &bad_recipes[i], \
      .tensor_expr = tile_shapes },
static const NewtEntry bad_entries[] = { BAD_RECIPES(ENTRY) };
#define VARIANT(i, text, ...) { "bad", NULL, &bad_entries[i], 0, 1, tile_grid, NULL, 0 },
static const NewtVariant bad_variants[] = { BAD_RECIPES(VARIANT) };
#define TEXT(i, text, ...) text,
const char *const sample_bad_recipe_texts[] = { BAD_RECIPES(TEXT) NULL };

static const NewtVariant add_variants[] = {
    { "aligned", aligned, aligned_entries, COUNT(aligned), COUNT(aligned_entries), add_grid,
      add_host, 0 },
    { "one", one, one_entries, COUNT(one), COUNT(one_entries), add_grid, add_host, 0 },
    { "generic", NULL, generic_entries, 0, COUNT(generic_entries), add_grid, add_host, 0 },
};
static const NewtVariant big_variants[] = {
    { "generic", NULL, big_entries, 0, COUNT(big_entries), NULL, NULL, 0 },
};
static const NewtVariant cluster_variants[] = {
    { "generic", NULL, cluster_entries, 0, COUNT(cluster_entries), add_grid, NULL, 0 },
};
static const NewtVariant mark_variants[] = {
    { "generic", NULL, NULL, 0, 0, NULL, mark_host, 100 },
};

static const NewtModuleDesc module;
static const NewtModuleDesc foreign_module = { .abi = NEWT_ABI + 1 };

static const NewtKernel kernels[] = {
    { &module, "add", "sample.newt:1", params, add_variants, COUNT(params), COUNT(add_variants),
      NULL, NULL },
    { &module, "big", "sample.newt:9", params, big_variants, COUNT(params), 1, NULL, NULL },
    { &module, "cluster", "sample.newt:17", params, cluster_variants, COUNT(params), 1, NULL,
      NULL },
    { &module, "mark", "sample.newt:25", params, mark_variants, COUNT(params), 1, NULL, NULL },
    { &module, "tile", "sample.newt:33", tile_params, tile_variants, TILE_PARAMS, 2, NULL, NULL },
    { &module, "only_maps", "sample.newt:33", tile_params, tile_variants, TILE_PARAMS, 1, NULL,
      NULL },
    { &module, "clusters", "sample.newt:41", tile_params, cluster_tile_variants, TILE_PARAMS, 1,
      NULL, NULL },
#define KERNEL(i, text, ...) \
    { &module, "bad", "sample.newt:49", tile_params, &bad_variants[i], TILE_PARAMS, 1, NULL, NULL },
    BAD_RECIPES(KERNEL)
};
static const NewtKernel foreign = { .module = &foreign_module };

static const NewtModuleDesc module = {
    .abi = NEWT_ABI,
    .image_count = COUNT(images),
    .kernel_count = COUNT(kernels),
    .id = 42,
    .name = "sample.newt",
    .source_sha256 = "0",
    .images = images,
    .kernels = kernels,
};

const NewtKernel *const sample_add = &kernels[0];
const NewtKernel *const sample_big = &kernels[1];
const NewtKernel *const sample_cluster = &kernels[2];
const NewtKernel *const sample_mark = &kernels[3];
const NewtKernel *const sample_tile = &kernels[4];
const NewtKernel *const sample_only_maps = &kernels[5];
const NewtKernel *const sample_tile_clusters = &kernels[6];
const NewtKernel *const sample_bad_recipes = &kernels[7];
const NewtKernel *const sample_foreign = &foreign;
