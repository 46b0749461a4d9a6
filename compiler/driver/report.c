/// report.c - see report.h. Accesses are told from what the access pass decided, instructions from
/// the cubin.
#include "driver/report.h"
#include "backend/cuda/sass.h"
#include "passes/axis_info.h"
#include <inttypes.h>

typedef struct AccessReport {
    const SourceMap *sources;
    const AxisInfo *axes;
    Buf *out;
} AccessReport;

/// The longest run of neighbours that is proved of a block of pointers, along any axis.
static int64_t longest_run(const AxisInfo *axes, const IrValue *pointers)
{
    int64_t run = 1;
    for (unsigned axis = 0; axis < pointers->type->rank; axis++) {
        int64_t one = axis_info_contiguity(axes, pointers, axis);
        run = one > run ? one : run;
    }
    return run;
}

/// What the emitted code must test before it takes the wide way.
static void put_tests(const IrMem *mem, int64_t bytes, bool masked, Buf *out)
{
    const char *before = "; tested at run time: ";
    if (!mem->contiguous) {
        buf_printf(out, "%sthe addresses follow each other", before);
        before = ", ";
    }
    if (!mem->aligned) {
        buf_printf(out, "%sthe address is a multiple of %" PRId64, before, bytes);
        before = ", ";
    }
    if (masked && !mem->mask_uniform)
        buf_printf(out, "%sthe mask is the same for all of them", before);
}

/// Why an access is narrow although a thread holds several elements; NULL: it holds no more.
static const char *narrow_reason(const AxisInfo *axes, const IrValue *pointers, int64_t vec)
{
    int64_t step;
    if (vec > 1 || longest_run(axes, pointers) > 1)
        return NULL;
    for (unsigned axis = 0; axis < pointers->type->rank; axis++)
        if (pointers->type->shape[axis] > 1 && axis_info_step(pointers, axis, &step) && step > 1)
            return "what is beside each other in the block is apart in memory";
    return axis_info_from_memory(axes, pointers)
               ? "the addresses depend on loaded values"
               : "what is beside each other in the block is not known to be so in memory";
}

static void put_narrow_reason(const AccessReport *r, const IrValue *pointers, int64_t vec, Buf *out)
{
    const char *reason = narrow_reason(r->axes, pointers, vec);
    buf_printf(out, "; no wider: %s", reason ? reason : "a thread holds no more neighbours");
}

static void put_place(const SourceMap *sources, Span span, bool is_load, ScalarKind elem, Buf *out)
{
    SourcePos at = source_pos(sources, span.lo);
    if (at.file)
        buf_printf(out, "      %s:%u:%u: ", at.file->path, at.line, at.column);
    else
        buf_puts(out, "      ");
    buf_printf(out, "%s of %s, ", is_load ? "load" : "store", scalar_info[elem].name);
}

void report_note_copy(void *notes, const IrOp *op, const char *reason)
{
    ReportNotes *n = notes;
    const ReportCopy copy = { .span = op->span,
                              .is_load = op->code == IR_LOAD,
                              .elem = type_scalar_kind(type_elem(op->args[0]->type)->elem),
                              .reason = reason };
    for (uint32_t i = 0; i < n->copies.len; i++) {  // what was said last holds
        ReportCopy *old = &n->copies.at[i];
        if (old->span.lo != copy.span.lo || old->is_load != copy.is_load)
            continue;
        *old = copy;
        return;
    }
    VEC_PUSH(n->arena, &n->copies, copy);
}

void report_copies(const SourceMap *sources, const ReportCopies *copies, Buf *out)
{
    for (uint32_t i = 0; i < copies->len; i++) {
        const ReportCopy *c = &copies->at[i];
        put_place(sources, c->span, c->is_load, c->elem, out);
        if (c->reason)
            buf_printf(out, "no tile for the copy engine: %s\n", c->reason);
        else
            buf_printf(out, "tiles by the copy engine%s\n",
                       c->is_load ? ", started ahead by a thread of its own" : "");
    }
}

static bool put_access(IrOp *op, void *cx)
{
    const AccessReport *r = cx;
    if (op->code != IR_LOAD && op->code != IR_STORE)
        return true;
    const IrValue *pointers = op->args[0];
    const Type *elem = type_elem(pointers->type)->elem;
    const IrMem *mem = &op->attr.mem;
    const unsigned mask_index = op->code == IR_LOAD ? 1 : 2;
    const bool masked = op->argc > mask_index && op->args[mask_index];
    const int64_t bytes = type_elem_bytes(elem);
    put_place(r->sources, op->span, op->code == IR_LOAD, type_scalar_kind(elem), r->out);
    if (pointers->type->kind != TYPE_BLOCK) {
        buf_puts(r->out, "one element\n");
        return true;
    }
    const int64_t vec = mem->vec > 1 ? mem->vec : 1;
    buf_printf(r->out, "%" PRId64 " bits at once", vec * bytes * 8);
    if (vec > 1)
        put_tests(mem, vec * bytes, masked, r->out);
    if (vec * bytes < 16)
        put_narrow_reason(r, pointers, vec, r->out);
    buf_putc(r->out, '\n');
    return true;
}

void report_accesses(Arena *a, const SourceMap *sources, const IrFunc *fn, Buf *out)
{
    AccessReport r = { sources, axis_info_compute(fn, a), out };
    ir_walk_block(fn->body, put_access, &r);
    for (uint16_t i = 0; i < fn->ring_count; i++) {
        const IrRing *ring = &fn->rings[i];
        const Type *tile = ring->block;
        buf_printf(out, "      tiles of %u %s: %u stages of %u bytes\n", tile->numel,
                   scalar_info[type_scalar_kind(tile->elem)].name, ring->stages, ring->bytes);
    }
}

typedef struct NarrowWarnings {
    DiagSink *diags;
    const AxisInfo *axes;
    unsigned threads;
} NarrowWarnings;

static bool warn_narrow(IrOp *op, void *cx)
{
    const NarrowWarnings *w = cx;
    if (op->code != IR_LOAD && op->code != IR_STORE)
        return true;
    const IrValue *pointers = op->args[0];
    const int64_t bytes = type_elem_bytes(type_elem(pointers->type)->elem),
                  vec = op->attr.mem.vec > 1 ? op->attr.mem.vec : 1;
    if (!type_is_block(pointers->type) || vec * bytes >= 16 || pointers->type->numel <= w->threads)
        return true;
    const char *reason = narrow_reason(w->axes, pointers, vec);
    if (reason)
        diag_report(w->diags, DIAG_NARROW_ACCESS, op->span, "%" PRId64 " bits at once: %s",
                    vec * bytes * 8, reason);
    return true;
}

void report_narrow_accesses(Arena *a, DiagSink *diags, const IrFunc *fn)
{
    if (diags->level[DIAG_NARROW_ACCESS] == SEVERITY_IGNORED)
        return;
    NarrowWarnings w = { diags, axis_info_compute(fn, a), 32U * fn->num_warps };
    ir_walk_block(fn->body, warn_narrow, &w);
}

/// "LDG.128 2, STG.128 1, FADD 4": what was met, in the order of the table.
static void put_counts(const SassSummary *s, Buf *out)
{
    buf_printf(out, "%u instructions", s->total);
    for (unsigned i = 0; i < SASS_OP_COUNT; i++)
        for (unsigned w = 0; w < SASS_WIDTH_COUNT && sass_info[i].cls != SASS_PADDING; w++)
            if (s->count[i][w])
                buf_printf(out, ", %s%s%s %u", sass_info[i].mnemonic, sass_info[i].sized ? "." : "",
                           sass_info[i].sized ? sass_widths[w] : "", s->count[i][w]);
    buf_putc(out, '\n');
}

static void put_instructions(const Artifact *art, const ArtifactEntry *e, Buf *out)
{
    const ArtifactImage *image = &art->images[e->image];
    SassSummary s;
    if (image->kind == IMAGE_CUBIN && sass_count(image->data, image->size, e->symbol, &s))
        put_counts(&s, out);
    else
        buf_puts(out, "no machine code to look at\n");
}

static void put_tensors(const ArtifactKernel *k, const ArtifactEntry *e, Buf *out)
{
    for (uint32_t i = 0; i < e->tensor_count; i++) {
        const ArtifactTensor *t = &e->tensors[i];
        buf_printf(out, "      tensor map of %s: boxes of ", k->params[t->param].name);
        for (uint32_t axis = t->rank; axis > 0; axis--)
            buf_printf(out, "%u%s", t->box[axis - 1], axis > 1 ? " x " : "");
        buf_printf(out, " %s, swizzle %u%s\n", scalar_text(t->elem), t->swizzle,
                   t->tf32 ? ", rounded to tf32" : "");
    }
    if (e->blocks_per_sm)
        buf_printf(out, "      persistent: %u blocks on a multiprocessor\n", e->blocks_per_sm);
    if (e->cluster[0])
        buf_printf(out, "      clusters of %u blocks, which copy tiles that they share once\n",
                   e->cluster[0] * e->cluster[1] * e->cluster[2]);
}

/// What one multiprocessor holds of it, and what will bound it.
static void put_bound(const Artifact *art, const ArtifactEntry *e, const Balance *balance, Buf *out)
{
    const ArtifactImage *image = &art->images[e->image];
    const Target *target = target_find(image->arch);
    const char *limit;
    SassSummary s;
    if (!target || image->kind != IMAGE_CUBIN)
        return;
    const unsigned blocks =
        target_occupancy(target, e->threads, e->registers, e->shared + e->shared_static, &limit);
    buf_printf(out, "      %u block%s (%u warps) on a multiprocessor, limited by %s\n", blocks,
               blocks == 1 ? "" : "s", blocks * e->threads / 32, limit);
    if (balance->bytes > 0 && sass_count(image->data, image->size, e->symbol, &s)) {
        buf_puts(out, "      ");
        balance_print(balance, target, &s, e->threads, out);
    }
}

static void put_entry(const Artifact *art, const ArtifactKernel *k, const ArtifactEntry *e,
                      const Balance *balance, Buf *out)
{
    const ArtifactImage *image = &art->images[e->image];
    buf_printf(
        out,
        "    %s: %u threads, %u registers, %u bytes spilled, %u bytes shared, image of %zu bytes\n",
        image->arch, e->threads, e->registers, e->spills, e->shared + e->shared_static,
        image->size);
    put_bound(art, e, balance, out);
    put_tensors(k, e, out);
    buf_puts(out, "      ");
    put_instructions(art, e, out);
}

/// The accesses of each text that the variant stands in.
static void put_accesses(Job *job, uint32_t kernel, uint32_t index, Buf *out)
{
    const JobKernel *k = &job->kernels[kernel];
    for (uint32_t t = 0; t < k->texts.len; t++) {
        const JobText *text = k->texts.at[t];
        const uint32_t at = index - text->first_variant;
        if (index < text->first_variant || at >= text->variant_count || !text->accesses[at].len)
            continue;
        const char *chips = job_text_chips(job, kernel, t);
        buf_printf(out, "    accesses on %s:\n", *chips ? chips : "GPUs");
        buf_bytes(out, text->accesses[at].at, text->accesses[at].len);
    }
}

static void put_variant(Job *job, uint32_t which, const Artifact *art, uint32_t index, Buf *out)
{
    const ArtifactKernel *kernel = &art->kernels[which];
    const ArtifactVariant *v = &kernel->variants[index];
    buf_printf(out, "  variant %s\n", v->name);
    for (uint32_t i = 0; i < v->entry_count; i++)
        put_entry(art, kernel, &v->entries[i], &job->kernels[which].balances[index], out);
    put_accesses(job, which, index, out);
    if (v->host_symbol)
        buf_printf(out, "    host: %" PRIu64 " bytes of scratch a thread\n", v->host_scratch);
}

void report_write(Job *job, const Artifact *art, Buf *out)
{
    for (uint32_t i = 0; i < art->kernel_count; i++) {
        const ArtifactKernel *k = &art->kernels[i];
        buf_printf(out, "%s (%s)\n", k->name, k->location);
        for (uint32_t v = 0; v < k->variant_count; v++)
            put_variant(job, i, art, v, out);
    }
}

void report_write_sass(const Artifact *art, Buf *out)
{
    for (uint32_t i = 0; i < art->kernel_count; i++)
        for (uint32_t v = 0; v < art->kernels[i].variant_count; v++) {
            const ArtifactVariant *variant = &art->kernels[i].variants[v];
            for (uint32_t e = 0; e < variant->entry_count; e++) {
                const ArtifactEntry *entry = &variant->entries[e];
                buf_printf(out, "%s, %s, %s: ", art->kernels[i].name, variant->name,
                           art->images[entry->image].arch);
                put_instructions(art, entry, out);
            }
        }
}
