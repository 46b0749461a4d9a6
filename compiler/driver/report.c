/// report.c - see report.h.
#include "driver/report.h"

static void report_variant(const Artifact *art, const ArtifactVariant *v, Buf *out)
{
    buf_printf(out, "  variant %s\n", v->name);
    for (uint32_t i = 0; i < v->entry_count; i++) {
        const ArtifactEntry *e = &v->entries[i];
        const ArtifactImage *image = &art->images[e->image];
        buf_printf(out, "    %-10s %4u threads, %3u registers, %u bytes spilled, %u bytes shared, image %zu bytes\n",
                   image->arch, e->threads, e->registers, e->spills, e->shared + e->shared_static, image->size);
    }
    if (v->host_symbol)
        buf_printf(out, "    %-10s %llu bytes scratch a thread\n", "host", (unsigned long long)v->host_scratch);
}

void report_write(const Job *job, const Artifact *art, Buf *out)
{
    (void)job;
    for (uint32_t i = 0; i < art->kernel_count; i++) {
        const ArtifactKernel *k = &art->kernels[i];
        buf_printf(out, "%s (%s)\n", k->name, k->location);
        for (uint32_t v = 0; v < k->variant_count; v++)
            report_variant(art, &k->variants[v], out);
    }
}
