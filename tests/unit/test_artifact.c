/// The texts about entries with tensor maps, clusters and persistent grids: what stands in
/// module.c is in the order of NewtEntry's members, and the manifest is the documented JSON.
#include "artifact/artifact.h"
#include "support/arena.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const ArtifactTensor tensors[] = {
    { .param = 1,
      .elem = SCALAR_F16,
      .rank = 2,
      .swizzle = 128,
      .promotion = 256,
      .box = { 64, 128 } },
    { .param = 0, .elem = SCALAR_E4M3, .rank = 3, .swizzle = 64, .box = { 64, 16, 1 } },
};
static const ArtifactEntry entries[] = {
    { .symbol = "k_0", .image = 0, .threads = 128, .shared = 64 },
    { .symbol = "k_0",
      .image = 1,
      .threads = 384,
      .shared = 1024,
      .cluster = { 2, 1, 1 },
      .tensors = tensors,
      .tensor_count = 2,
      .tensor_symbol = "k_0_tensors",
      .blocks_per_sm = 1 },
};
static const ArtifactVariant variant = { .name = "generic", .entries = entries, .entry_count = 2 };
static const ArtifactImage images[] = {
    { .kind = IMAGE_CUBIN, .arch = "sm_80", .number = 80, .data = "12345678", .size = 8 },
    { .kind = IMAGE_CUBIN,
      .arch = "sm_90a",
      .number = 90,
      .set = 'a',
      .data = "12345678",
      .size = 8 },
};

typedef void (*Writer)(const Artifact *art, Buf *out);

static void write_text(Writer writer, Arena *arena, Buf *out)
{
    TypeTable *types = type_table_new(arena);
    ArtifactParam params[] = {
        { .name = "a",
          .c_name = "a",
          .type = type_ptr(types, type_scalar(types, SCALAR_E4M3), true) },
        { .name = "b",
          .c_name = "b",
          .type = type_ptr(types, type_scalar(types, SCALAR_F16), true) },
    };
    artifact_layout_params(params, 2);
    ArtifactKernel kernel = { .name = "k",
                              .location = "k.newt:1",
                              .params = params,
                              .param_count = 2,
                              .record_size = 16,
                              .variants = &variant,
                              .variant_count = 1 };
    const Artifact art = { .stem = "k",
                           .source_name = "k.newt",
                           .images = images,
                           .image_count = 2,
                           .kernels = &kernel,
                           .kernel_count = 1,
                           .host_text = "",
                           .header_name = "k.h",
                           .arch_list = "sm_80 sm_90a" };
    writer(&art, out);
}

static void expect(Writer writer, const char *const *texts)
{
    Arena arena = { 0 };
    Buf out = { 0 };
    write_text(writer, &arena, &out);
    for (const char *const *text = texts; *text; text++) {
        if (!strstr(out.at, *text))
            fail_msg("no\n%s\nin\n%s", *text, out.at);
    }
    buf_free(&out);
    arena_free(&arena);
}

static void test_module(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "static const NewtTensorRecipe newt_tensors_0_0_1[2] = {\n"
        "    { 1, NEWT_F16, 2, 128, 256, { 64, 128 }, 0 },\n"
        "    { 0, NEWT_F8E4M3, 3, 64, 0, { 64, 16, 1 }, 0 },\n"
        "};\n",
        "    { \"k_0\", 0, 128, 64, 0, 0, 0, { 0, 0, 0 },\n"
        "      0, NULL, NULL, 0 },\n"
        "    { \"k_0\", 1, 384, 1024, 0, 0, 0, { 2, 1, 1 },\n"
        "      2, newt_tensors_0_0_1, k_0_tensors, 1 },\n",
        NULL,
    };
    expect(artifact_write_module, texts);
}

static void test_manifest(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "\"threads\": 128, \"shared\": 64, \"shared_static\": 0, \"registers\": 0, \"spills\": 0 }",
        "\"spills\": 0, \"cluster\": [2, 1, 1], \"blocks_per_sm\": 1,\n"
        "            \"tensors\": [\n"
        "              { \"param\": \"b\", \"type\": \"float16\", \"box\": [64, 128], \"swizzle\": "
        "128, "
        "\"promotion\": 256 },\n"
        "              { \"param\": \"a\", \"type\": \"float8e4nv\", \"box\": [64, 16, 1], "
        "\"swizzle\": 64, \"promotion\": 0 }\n"
        "            ] }",
        NULL,
    };
    expect(artifact_write_manifest, texts);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_module),
        cmocka_unit_test(test_manifest),
    };
    return cmocka_run_group_tests_name("artifact", tests, NULL, NULL);
}
