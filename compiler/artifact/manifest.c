/// manifest.c - the JSON manifest: what was compiled, for build systems and tools.
///
/// Schema 1; keys are only ever added. Same Artifact, same bytes.
#include "artifact/artifact_impl.h"
#include <inttypes.h>
#include <string.h>

static void manifest_string(Buf *out, const char *text)
{
    buf_json_string(out, text, strlen(text));
}

static void manifest_param(const ArtifactParam *p, Buf *out)
{
    bool pointer = p->type->kind == TYPE_PTR;
    ScalarKind kind = type_scalar_kind(pointer ? p->type->elem : p->type);
    buf_puts(out, "        { \"name\": ");
    manifest_string(out, p->name);
    buf_printf(out,
               ", \"type\": \"%s\", \"pointer\": %s, \"const\": %s, \"offset\": %u, \"size\": %u }",
               scalar_info[kind].name, pointer ? "true" : "false",
               pointer && p->is_const ? "true" : "false", p->offset, p->size);
}

/// What a launch adds to an entry: nothing is written of what it has not.
static void manifest_launch(const ArtifactKernel *k, const ArtifactEntry *e, Buf *out)
{
    if (e->cluster[0])
        buf_printf(out, ", \"cluster\": [%u, %u, %u]", e->cluster[0], e->cluster[1], e->cluster[2]);
    if (e->blocks_per_sm)
        buf_printf(out, ", \"blocks_per_sm\": %u", e->blocks_per_sm);
    if (e->tensor_count)
        buf_puts(out, ",\n            \"tensors\": [");
    for (uint32_t i = 0; i < e->tensor_count; i++) {
        const ArtifactTensor *t = &e->tensors[i];
        buf_puts(out, i ? ",\n              { \"param\": " : "\n              { \"param\": ");
        manifest_string(out, k->params[t->param].name);
        buf_printf(out, ", \"type\": \"%s\", \"box\": [", scalar_info[t->elem].name);
        for (uint32_t axis = 0; axis < t->rank; axis++)
            buf_printf(out, "%s%u", axis ? ", " : "", t->box[axis]);
        buf_printf(out, "], \"swizzle\": %u, \"promotion\": %u%s }", t->swizzle, t->promotion,
                   t->tf32 ? ", \"rounds\": \"tf32\"" : "");
    }
    if (e->tensor_count)
        buf_puts(out, "\n            ]");
}

static void manifest_variant(const Artifact *art, const ArtifactKernel *k, const ArtifactVariant *v,
                             Buf *out)
{
    static const char *const test_names[] = { "align",    "multiple", "equal",
                                              "fits_i32", "result",   "at_most" };
    buf_puts(out, "        { \"name\": ");
    manifest_string(out, v->name);
    buf_puts(out, ", \"when\": [");
    for (uint32_t i = 0; i < v->predicate_count; i++) {
        const ArtifactPredicate *p = &v->predicates[i];
        buf_printf(out, "%s{ \"test\": \"%s\", \"param\": ", i ? ", " : "", test_names[p->test]);
        manifest_string(out, p->symbol ? p->symbol : k->params[p->param].name);
        buf_printf(out, ", \"value\": %" PRId64 " }", p->value);
    }
    buf_puts(out, "], \"entries\": [");
    for (uint32_t i = 0; i < v->entry_count; i++) {
        const ArtifactEntry *e = &v->entries[i];
        buf_printf(out,
                   "%s\n          { \"arch\": \"%s\", \"image\": %u, \"symbol\": ", i ? "," : "",
                   art->images[e->image].arch, e->image);
        manifest_string(out, e->symbol);
        buf_printf(out,
                   ", \"threads\": %u, \"shared\": %u, \"shared_static\": %u, \"registers\": %u, "
                   "\"spills\": %u",
                   e->threads, e->shared, e->shared_static, e->registers, e->spills);
        manifest_launch(k, e, out);
        buf_puts(out, " }");
    }
    buf_printf(out, "%s], \"host\": %s }", v->entry_count ? "\n        " : "",
               v->host_symbol ? "true" : "false");
}

static void manifest_kernel(const Artifact *art, const ArtifactKernel *k, Buf *out)
{
    buf_puts(out, "    { \"name\": ");
    manifest_string(out, k->name);
    buf_puts(out, ", \"location\": ");
    manifest_string(out, k->location);
    buf_printf(out, ", \"grid\": %s,\n      \"params\": [", k->has_grid ? "true" : "false");
    for (uint32_t i = 0; i < k->param_count; i++) {
        buf_puts(out, i ? ",\n" : "\n");
        manifest_param(&k->params[i], out);
    }
    buf_puts(out, "\n      ],\n      \"variants\": [");
    for (uint32_t i = 0; i < k->variant_count; i++) {
        buf_puts(out, i ? ",\n" : "\n");
        manifest_variant(art, k, &k->variants[i], out);
    }
    buf_puts(out, "\n      ]");
    tuned_manifest(k, out);
    buf_puts(out, " }");
}

void artifact_write_manifest(const Artifact *art, Buf *out)
{
    buf_puts(out, "{\n  \"schema\": 1,\n  \"newtc\": \"" NEWTC_VERSION "\",\n  \"source\": ");
    manifest_string(out, art->source_name);
    buf_printf(out, ",\n  \"source_sha256\": \"%s\",\n  \"images\": [", art->source_sha256);
    for (uint32_t i = 0; i < art->image_count; i++) {
        const ArtifactImage *image = &art->images[i];
        buf_printf(
            out, "%s\n    { \"arch\": \"%s\", \"kind\": \"%s\", \"size\": %zu, \"sha256\": \"%s\"",
            i ? "," : "", image->arch, image->kind == IMAGE_PTX ? "ptx" : "cubin", image->size,
            image->sha256);
        if (image->file) {
            buf_puts(out, ", \"file\": ");
            manifest_string(out, image->file);
        }
        buf_puts(out, " }");
    }
    buf_printf(out, "%s],\n  \"kernels\": [", art->image_count ? "\n  " : "");
    for (uint32_t i = 0; i < art->kernel_count; i++) {
        buf_puts(out, i ? ",\n" : "\n");
        manifest_kernel(art, &art->kernels[i], out);
    }
    buf_puts(out, "\n  ]\n}\n");
}
