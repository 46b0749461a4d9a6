/// The hand-written module of the runtime's tests.
#include "sample.h"
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const NewtImage images[] = {
    { NEWT_IMAGE_CUBIN, NEWT_SET_COMMON, 80, "cubin sm_80", 12, "80" },
    { NEWT_IMAGE_CUBIN, NEWT_SET_ACCELERATED, 90, "cubin sm_90a", 13, "90" },
    { NEWT_IMAGE_PTX, NEWT_SET_COMMON, 80, "ptx compute_80", 15, "p80" },
};

static const NewtParam params[] = {
    { "x", NEWT_PARAM_POINTER, NEWT_F32, offsetof(SampleArgs, x), 8, true },
    { "y", NEWT_PARAM_POINTER, NEWT_F32, offsetof(SampleArgs, y), 8, true },
    { "out", NEWT_PARAM_POINTER, NEWT_F32, offsetof(SampleArgs, out), 8, false },
    { "n", NEWT_PARAM_SCALAR, NEWT_I64, offsetof(SampleArgs, n), 8, false },
};

static const NewtPredicate aligned[] = {
    { NEWT_TEST_ALIGN, 0, 16 },
    { NEWT_TEST_ALIGN, 1, 16 },
    { NEWT_TEST_ALIGN, 2, 16 },
    { NEWT_TEST_MULTIPLE, 3, 16 },
};
static const NewtPredicate one[] = { { NEWT_TEST_EQUAL, 3, 1 } };

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
    { &module, "add", "sample.newt:1", params, add_variants, COUNT(params), COUNT(add_variants) },
    { &module, "big", "sample.newt:9", params, big_variants, COUNT(params), 1 },
    { &module, "cluster", "sample.newt:17", params, cluster_variants, COUNT(params), 1 },
    { &module, "mark", "sample.newt:25", params, mark_variants, COUNT(params), 1 },
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
const NewtKernel *const sample_foreign = &foreign;
