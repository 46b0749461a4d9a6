/// module.c - the generated C module: images, tables and the launch functions.
///
/// Everything clever is in libnewt; the text here is data and functions of a few lines. Users
/// compile it with their own flags, so it stays clean under -Wall -Wextra -Wconversion -Wpedantic
/// as C11.
#include "artifact/artifact_impl.h"
#include "support/sha256.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void module_image_words(const ArtifactImage *image, uint32_t index, Buf *out)
{
    size_t words = (image->size + 7) / 8;
    buf_printf(out, "/* %s, %zu bytes */\nstatic const uint64_t newt_image_%u[%zu] = {",
               image->arch, image->size, index, words);
    for (size_t w = 0; w < words; w++) {
        uint64_t value = 0;
        for (size_t b = 0; b < 8 && w * 8 + b < image->size; b++)
            value |= (uint64_t)(unsigned char)image->data[w * 8 + b] << (8 * b);
        buf_printf(out, "%s0x%" PRIx64 ",", w % 6 ? " " : "\n    ", value);
    }
    buf_puts(out, "\n};\n\n");
}

/// The members of a NewtImage from `data` on.
static void module_image_place(const Artifact *art, uint32_t i, Buf *out)
{
    const ArtifactImage *image = &art->images[i];
    switch (art->embed) {
    case EMBED_WORDS: buf_printf(out, "newt_image_%u", i); break;
    case EMBED_INCBIN:
        buf_printf(out, "newt_images_%s + %zu", art->source_sha256, artifact_image_offset(art, i));
        break;
    case EMBED_FILE: buf_puts(out, "NULL"); break;
    }
    buf_printf(out, ", %zu,\n      \"%s\",\n      ", image->size, image->sha256);
    if (art->embed != EMBED_FILE) {
        buf_puts(out, "NULL, 0 },\n");
        return;
    }
    size_t bytes = image->size - (image->kind == IMAGE_PTX);
    buf_c_string(out, image->file, strlen(image->file));
    buf_printf(out, ", UINT64_C(0x%016" PRIx64 ") },\n", hash_bytes(HASH_SEED, image->data, bytes));
}

static void module_images(const Artifact *art, Buf *out)
{
    if (!art->image_count)
        return;
    if (art->embed == EMBED_INCBIN) {
        buf_printf(
            out,
            "/* The images stand in %s; give its folder to the assembler (-Wa,-I) when it is\n"
            " * not the current one. */\n",
            art->images_name);
        buf_printf(
            out,
            "__asm__(\".section .rodata\\n.balign 64\\nnewt_images_%s:\\n.incbin \\\"%s\\\"\\n"
            ".previous\\n\");\nextern const unsigned char newt_images_%s[];\n\n",
            art->source_sha256, art->images_name, art->source_sha256);
    } else if (art->embed == EMBED_WORDS) {
        for (uint32_t i = 0; i < art->image_count; i++)
            module_image_words(&art->images[i], i, out);
    }
    buf_printf(out, "static const NewtImage newt_images[%u] = {\n", art->image_count);
    for (uint32_t i = 0; i < art->image_count; i++) {
        const ArtifactImage *image = &art->images[i];
        buf_printf(out, "    { %s, %s, %d, ",
                   image->kind == IMAGE_PTX ? "NEWT_IMAGE_PTX" : "NEWT_IMAGE_CUBIN",
                   image->set == 'a'   ? "NEWT_SET_ACCELERATED"
                   : image->set == 'f' ? "NEWT_SET_FAMILY"
                                       : "NEWT_SET_COMMON",
                   image->number);
        module_image_place(art, i, out);
    }
    buf_puts(out, "};\n\n");
}

/// The record as a struct, with the offsets that the tables and the kernels rely on. The header has
/// it already where there are configurations.
static void module_record(const ArtifactKernel *k, Buf *out)
{
    const bool is_public = k->config_count && !k->input_count;
    if (!k->param_count)
        return;
    if (!is_public)
        buf_printf(out, "struct %s {\n", k->record);
    for (uint32_t i = 0; i < artifact_member_count(k) && !is_public; i++) {
        buf_puts(out, "    ");
        artifact_c_type(out, &k->params[i]);
        buf_printf(out, "%s;\n", k->params[i].c_name);
    }
    if (!is_public)
        buf_puts(out, "};\n");
    for (uint32_t i = 0; i < artifact_member_count(k); i++) {
        const ArtifactParam *p = &k->params[i];
        buf_printf(out,
                   "_Static_assert(offsetof(struct %s, %s) == %u && sizeof((struct %s "
                   "*)0)->%s == %u,\n"
                   "               \"%s: this compiler lays out the arguments in another way\");\n",
                   k->record, p->c_name, p->offset, k->record, p->c_name, p->size, k->name);
    }
    buf_puts(out, "\n");
}

/// What the tuner must know of a parameter.
static void module_uses(const ArtifactParam *p, Buf *out)
{
    const struct {
        bool on;
        const char *name;
    } uses[] = { { p->is_read, "NEWT_USE_READ" },
                 { p->is_written, "NEWT_USE_WRITTEN" },
                 { p->is_zeroed, "NEWT_USE_ZEROED" },
                 { p->is_restored, "NEWT_USE_RESTORED" } };
    const char *before = "";
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        if (uses[i].on) {
            buf_printf(out, "%s%s", before, uses[i].name);
            before = " | ";
        }
    if (!*before)
        buf_putc(out, '0');
}

static void module_params(const ArtifactKernel *k, uint32_t index, Buf *out)
{
    if (!k->param_count)
        return;
    buf_printf(out, "static const NewtParam newt_params_%u[%u] = {\n", index,
               artifact_member_count(k));
    for (uint32_t i = 0; i < artifact_member_count(k); i++) {
        const ArtifactParam *p = &k->params[i];
        bool pointer = p->type->kind == TYPE_PTR;
        ScalarKind kind = type_scalar_kind(pointer ? p->type->elem : p->type);
        buf_printf(out, "    { \"%s\", %s, %s, %u, %u, %u, ", p->name,
                   pointer ? "NEWT_PARAM_POINTER" : "NEWT_PARAM_SCALAR", scalar_info[kind].newt,
                   p->offset, p->size, pointer && p->is_const ? 1u : 0u);
        module_uses(p, out);
        buf_puts(out, " },\n");
    }
    buf_puts(out, "};\n");
}

static void module_tensors(const ArtifactEntry *e, const char *table, Buf *out)
{
    buf_printf(out, "static const NewtTensorRecipe %s[%u] = {\n", table, e->tensor_count);
    for (uint32_t i = 0; i < e->tensor_count; i++) {
        const ArtifactTensor *t = &e->tensors[i];
        buf_printf(out, "    { %u, %s, %u, %u, %u, { ", t->param, scalar_info[t->elem].newt,
                   t->rank, t->swizzle, t->promotion);
        for (uint32_t axis = 0; axis < t->rank; axis++)
            buf_printf(out, "%s%u", axis ? ", " : "", t->box[axis]);
        buf_printf(out, " }, %u },\n", t->tf32 ? 1u : 0u);
    }
    buf_puts(out, "};\n");
}

static void module_entries(const ArtifactVariant *v, uint32_t kernel, uint32_t index, Buf *out)
{
    char table[64];
    for (uint32_t i = 0; i < v->entry_count; i++) {
        snprintf(table, sizeof table, "newt_tensors_%u_%u_%u", kernel, index, i);
        if (v->entries[i].tensor_count)
            module_tensors(&v->entries[i], table, out);
    }
    buf_printf(out, "static const NewtEntry newt_entries_%u_%u[%u] = {\n", kernel, index,
               v->entry_count);
    for (uint32_t i = 0; i < v->entry_count; i++) {
        const ArtifactEntry *e = &v->entries[i];
        snprintf(table, sizeof table, "newt_tensors_%u_%u_%u", kernel, index, i);
        buf_printf(out, "    { \"%s\", %u, %u, %u, %u, %u, %u, { %u, %u, %u },\n", e->symbol,
                   e->image, e->threads, e->shared, e->shared_static, e->registers, e->spills,
                   e->cluster[0], e->cluster[1], e->cluster[2]);
        buf_printf(out, "      %u, %s, %s, %u },\n", e->tensor_count,
                   e->tensor_count ? table : "NULL", e->tensor_count ? e->tensor_symbol : "NULL",
                   e->blocks_per_sm);
    }
    buf_puts(out, "};\n");
}

static void module_variant_tables(const ArtifactVariant *v, uint32_t kernel, uint32_t index,
                                  Buf *out)
{
    static const char *const test_names[] = { "NEWT_TEST_ALIGN",  "NEWT_TEST_MULTIPLE",
                                              "NEWT_TEST_EQUAL",  "NEWT_TEST_FITS_I32",
                                              "NEWT_TEST_RESULT", "NEWT_TEST_AT_MOST" };
    if (v->predicate_count) {
        buf_printf(out, "static const NewtPredicate newt_predicates_%u_%u[%u] = {\n", kernel, index,
                   v->predicate_count);
        for (uint32_t i = 0; i < v->predicate_count; i++)
            buf_printf(out, "    { %s, %u, INT64_C(%" PRId64 "), %s },\n",
                       test_names[v->predicates[i].test], v->predicates[i].param,
                       v->predicates[i].value,
                       v->predicates[i].symbol ? v->predicates[i].symbol : "NULL");
        buf_puts(out, "};\n");
    }
    if (v->entry_count)
        module_entries(v, kernel, index, out);
}

static void module_variants(const ArtifactKernel *k, uint32_t index, Buf *out)
{
    for (uint32_t v = 0; v < k->variant_count; v++)
        module_variant_tables(&k->variants[v], index, v, out);
    buf_printf(out, "static const NewtVariant newt_variants_%u[%u] = {\n", index, k->variant_count);
    for (uint32_t i = 0; i < k->variant_count; i++) {
        const ArtifactVariant *v = &k->variants[i];
        buf_printf(out, "    { \"%.1000s\", ", v->name);  // C99 promises strings of 4095 characters
        if (v->predicate_count)
            buf_printf(out, "newt_predicates_%u_%u, ", index, i);
        else
            buf_puts(out, "NULL, ");
        if (v->entry_count)
            buf_printf(out, "newt_entries_%u_%u", index, i);
        else
            buf_puts(out, "NULL");
        buf_printf(out, ", %u, %u, %s, %s, UINT64_C(%" PRIu64 ") },\n", v->predicate_count,
                   v->entry_count, v->grid_symbol ? v->grid_symbol : "NULL",
                   v->host_symbol ? v->host_symbol : "NULL", v->host_scratch);
    }
    buf_puts(out, "};\n\n");
}

static void module_kernel_table(const Artifact *art, Buf *out)
{
    buf_printf(
        out,
        "static const NewtModuleDesc newt_module;\nstatic const NewtKernel newt_kernels[%u];\n",
        art->kernel_count);
    for (uint32_t i = 0; i < art->kernel_count; i++)
        if (art->kernels[i].input_count)
            artifact_write_binding(&art->kernels[i], i, out);
    buf_printf(out, "static const NewtKernel newt_kernels[%u] = {\n", art->kernel_count);
    for (uint32_t i = 0; i < art->kernel_count; i++) {
        const ArtifactKernel *k = &art->kernels[i];
        buf_printf(out, "    { &newt_module, \"%s\", ", k->name);
        buf_c_string(out, k->location, strlen(k->location));
        if (k->param_count)
            buf_printf(out, ", newt_params_%u", i);
        else
            buf_puts(out, ", NULL");
        buf_printf(out, ", newt_variants_%u, %u, %u, ", i, k->param_count, k->variant_count);
        if (k->config_count)
            buf_printf(out, "&newt_tuning_%u, ", i);
        else
            buf_puts(out, "NULL, ");
        if (k->input_count)
            buf_printf(out, "&newt_binding_%u },\n", i);
        else
            buf_puts(out, "NULL },\n");
    }
    buf_puts(out, "};\n");
}

/// A number that changes with anything in the module: bits of a hash of everything written so far.
static void module_desc(const Artifact *art, Buf *out)
{
    Sha256 sha;
    char hex[65];
    sha256_begin(&sha);
    sha256_add(&sha, out->at, out->len);
    sha256_hex(&sha, hex);
    buf_printf(out,
               "static const NewtModuleDesc newt_module = {\n    NEWT_ABI, %u, %u, "
               "UINT64_C(0x%.16s),\n    ",
               art->image_count, art->kernel_count, hex);
    buf_c_string(out, art->source_name, strlen(art->source_name));
    buf_printf(out, ",\n    \"%s\",\n    %s, newt_kernels\n};\n\n", art->source_sha256,
               art->image_count ? "newt_images" : "NULL");
}

/// The argument record `newt_args`; from tensors libnewt fills it.
static void module_record_values(const ArtifactKernel *k, uint32_t index, Buf *out)
{
    if (k->param_count && !k->input_count) {
        buf_printf(out, "    const struct %s newt_args = { ", k->record);
        for (uint32_t i = 0; i < k->param_count; i++)
            buf_printf(out, "%s%s", i ? ", " : "", k->params[i].c_name);
        buf_puts(out, " };\n");
    }
    if (!k->input_count)
        return;
    buf_printf(out, "    struct %s newt_args;\n", k->record);
    artifact_write_bind(k, index, "", "newt_args.", out);
    buf_puts(out, "    if (newt_status != NEWT_OK)\n        return newt_status;\n");
}

static void module_functions(const ArtifactKernel *k, uint32_t index, Buf *out)
{
    buf_printf(out, "const NewtKernel *const %s_kernel = &newt_kernels[%u];\n\n", k->name, index);
    buf_printf(out, "NewtStatus %s(NewtDevice *device, NewtStream stream", k->name);
    if (!k->has_grid)
        buf_puts(out, ", NewtGrid grid");
    for (uint32_t i = 0; i < k->arg_count; i++) {
        buf_puts(out, ",\n    ");
        artifact_c_arg(out, k, i);
    }
    buf_puts(out, ")\n{\n");
    module_record_values(k, index, out);
    buf_printf(out, "    return newt_launch_(&newt_kernels[%u], device, stream, %s, %s);\n}\n\n",
               index, k->has_grid ? "NULL" : "&grid", k->param_count ? "&newt_args" : "NULL");
    if (k->config_count)
        buf_printf(out,
                   "NewtStatus %s_preload(NewtDevice *device, %sConfig config)\n{\n    return "
                   "newt_preload_config_(&newt_kernels[%u], device, (int)config);\n}\n\n",
                   k->name, k->type_name, index);
    else
        buf_printf(out,
                   "NewtStatus %s_preload(NewtDevice *device)\n{\n    return "
                   "newt_preload_(&newt_kernels[%u], device);\n}\n\n",
                   k->name, index);
    tuned_module_functions(k, index, out);
}

void artifact_write_module(const Artifact *art, Buf *out)
{
    buf_printf(out, "/* Generated from %s by newtc " NEWTC_VERSION ".  Do not edit. */\n",
               art->source_name);
    buf_printf(out, "#include \"%s\"\n#include <newt/module.h>\n#include <stddef.h>\n\n",
               art->header_name);
    if (!art->kernel_count) {  // a file of helpers only
        buf_puts(out, "/* There is no kernel in it. */\n");
        return;
    }
    module_images(art, out);
    for (uint32_t i = 0; i < art->kernel_count; i++)
        module_record(&art->kernels[i], out);
    buf_puts(out, art->host_text);
    for (uint32_t i = 0; i < art->kernel_count; i++) {
        module_params(&art->kernels[i], i, out);
        module_variants(&art->kernels[i], i, out);
        tuned_module_tables(&art->kernels[i], i, out);
    }
    module_kernel_table(art, out);
    module_desc(art, out);
    for (uint32_t i = 0; i < art->kernel_count; i++)
        module_functions(&art->kernels[i], i, out);
    out->at[--out->len] = '\0';  // one newline at the end, not two
}
