/// header.c - the generated header: one typed launch function a kernel, documented.
///
/// The comment is the docstring plus what only the compiler knows. No date, no path, no host name:
/// the same source gives the same bytes. Must stay clean as C11 and C++11 under the strictest
/// warnings.
#include "artifact/artifact_impl.h"
#include <ctype.h>
#include <string.h>

/// "vadd.h" -> VADD_NEWT_H: headers of one module under two names can be included together.
static void header_guard(const Artifact *art, Buf *out)
{
    const char *end = strrchr(art->header_name, '.');
    size_t len = end ? (size_t)(end - art->header_name) : strlen(art->header_name);
    if (isdigit((unsigned char)art->header_name[0]))
        buf_puts(out, "NEWT_");
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)art->header_name[i];
        buf_putc(out, isalnum(c) ? (char)toupper(c) : '_');
    }
    buf_puts(out, "_NEWT_H");
}

/// The docstring as comment lines. A backslash at the end of a line would continue the comment, so
/// a full stop follows it.
static void header_doc(const ArtifactKernel *k, Buf *out)
{
    const char *p = k->doc ? k->doc : "";
    bool first = true;
    while (*p) {
        size_t len = strcspn(p, "\n");
        buf_puts(out, len ? "/// " : "///");
        for (size_t i = 0; i < len; i++) {
            bool trigraph =
                i > 0 && p[i] == '?' && p[i - 1] == '?';  // of C11: "??/" is a backslash
            buf_printf(out, trigraph ? " %c" : "%c", p[i]);
        }
        if (len && p[len - 1] == '\\')
            buf_putc(out, '.');
        buf_printf(out, first ? "  (%s)\n" : "\n", k->location);
        first = false;
        p += len + (p[len] == '\n');
    }
    if (first)
        buf_printf(out, "/// Kernel '%s'.  (%s)\n", k->name, k->location);
}

static bool header_has_pointer(const ArtifactKernel *k, bool written)
{
    for (uint32_t i = 0; i < k->param_count; i++)
        if (k->params[i].type->kind == TYPE_PTR && k->params[i].is_const != written)
            return true;
    return false;
}

/// Names of the pointers that some variant wants aligned, or nothing.
static void header_alignment(const ArtifactKernel *k, Buf *out)
{
    bool any = false;
    int64_t bytes = 0;
    for (uint32_t v = 0; v < k->variant_count && !any; v++)
        for (uint32_t i = 0; i < k->variants[v].predicate_count; i++) {
            const ArtifactPredicate *p = &k->variants[v].predicates[i];
            if (p->test != TEST_ALIGN)
                continue;
            if (!any)
                buf_puts(out, "/// Faster when ");
            buf_printf(out, "%s%s", any ? ", " : "", k->params[p->param].c_name);
            bytes = p->value;
            any = true;
        }
    if (any)
        buf_printf(out, " are %d-byte aligned; correct for any alignment of an element.\n",
                   (int)bytes);
}

static void header_facts(const ArtifactKernel *k, Buf *out)
{
    buf_puts(out, "///\n");
    if (k->input_count)
        artifact_write_input_doc(k, out);
    else if (header_has_pointer(k, true) || header_has_pointer(k, false))
        buf_puts(out, "/// Pointers are device memory (any memory on the host device). An output "
                      "may be an input\n"
                      "/// itself, element for element; no other overlap.\n");
    if (k->has_grid)
        buf_puts(out,
                 "/// The grid comes from the kernel; an empty one does nothing and succeeds.\n");
    else
        buf_puts(out, "/// `grid` is the number of programs along each axis; a zero does nothing "
                      "and succeeds.\n");
    buf_puts(out, "///\n/// Asynchronous: returns once the launch is queued on `stream` (NULL: the "
                  "default stream).\n");
    buf_printf(
        out, "/// May be called from any thread, and inside a stream capture after %s_preload().\n",
        k->name);
    header_alignment(k, out);
}

/// "NewtDevice *device, NewtStream stream, ..." broken at 100 columns under the parenthesis.
static void header_params(const ArtifactKernel *k, size_t column, Buf *out)
{
    size_t at = column, indent = column;
    Buf item = { 0 };
    uint32_t total = k->arg_count + 2 + !k->has_grid;
    for (uint32_t i = 0; i < total; i++) {
        buf_clear(&item);
        if (i == 0) {
            buf_puts(&item, "NewtDevice *device");
        } else if (i == 1) {
            buf_puts(&item, "NewtStream stream");
        } else if (i == 2 && !k->has_grid) {
            buf_puts(&item, "NewtGrid grid");
        } else {
            artifact_c_arg(&item, k, i - 2 - !k->has_grid);
        }
        if (i + 1 < total)
            buf_puts(&item, ",");
        if (i && at + item.len + 1 > 98) {
            buf_printf(out, "\n%*s", (int)indent, "");
            at = indent;
        } else if (i) {
            buf_puts(out, " ");
            at++;
        }
        buf_bytes(out, item.at, item.len);
        at += item.len;
    }
    buf_free(&item);
}

static void header_variants(const Artifact *art, const ArtifactKernel *k, Buf *out)
{
    buf_printf(out, "/// Name, source and variants of `%s`, for tools%s\n", k->name,
               k->config_count <= 1 ? ":" : ".");
    for (uint32_t v = 0; v < k->variant_count && k->config_count <= 1; v++) {
        const ArtifactVariant *variant = &k->variants[v];
        buf_printf(out, "///   %s:", variant->name);
        for (uint32_t e = 0; e < variant->entry_count; e++) {
            const ArtifactEntry *entry = &variant->entries[e];
            buf_printf(out, "%s %s %u threads", e ? "," : "", art->images[entry->image].arch,
                       entry->threads);
            if (entry->registers)
                buf_printf(out, " %u registers", entry->registers);
            if (entry->shared + entry->shared_static)
                buf_printf(out, " %u B shared", entry->shared + entry->shared_static);
            if (entry->spills)
                buf_printf(out, " %u B spilled", entry->spills);
        }
        buf_printf(out, "%s\n",
                   variant->host_symbol ? variant->entry_count ? ", host" : " host" : "");
    }
}

static void header_preload(const ArtifactKernel *k, const char *mark, Buf *out)
{
    buf_printf(out,
               "/// Loads the images that `%s` may use on `device`, so that the first launch costs "
               "what the\n"
               "/// others do.",
               k->name);
    if (k->config_count) {
        buf_puts(out, " `config`: of that configuration; ");
        for (const char *p = k->name; *p; p++)
            buf_putc(out, (char)toupper((unsigned char)*p));
        buf_printf(
            out,
            "_AUTO: of all that fit.\n"
            "%sNEWT_NODISCARD NewtStatus %s_preload(NewtDevice *device, %sConfig config);\n\n",
            mark, k->name, k->type_name);
    } else {
        buf_printf(out, "\n%sNEWT_NODISCARD NewtStatus %s_preload(NewtDevice *device);\n\n", mark,
                   k->name);
    }
}

static void header_kernel(const Artifact *art, const ArtifactKernel *k, Buf *out)
{
    Buf mark = { 0 };
    if (art->export_macro)
        buf_printf(&mark, "%s ", art->export_macro);
    else
        buf_puts(&mark, "");

    tuned_header_types(art, k, out);
    header_doc(k, out);
    if (k->config_count)
        buf_puts(out, "///\n/// Runs the configuration that was tuned for this device and shape, "
                      "else the default.\n");
    header_facts(k, out);
    size_t start = out->len;
    buf_printf(out, "%sNEWT_NODISCARD NewtStatus %s(", mark.at, k->name);
    header_params(k, out->len - start, out);
    buf_puts(out, ");\n\n");
    tuned_header_functions(k, mark.at, out);
    header_preload(k, mark.at, out);
    header_variants(art, k, out);
    buf_printf(out, "%sextern const NewtKernel *const %s_kernel;\n\n", mark.at, k->name);
    buf_free(&mark);
}

static void header_namespace(const Artifact *art, Buf *out)
{
    if (!art->cxx_namespace)
        return;
    unsigned depth = 0;
    buf_puts(out, "#ifdef __cplusplus\n");
    for (const char *at = art->cxx_namespace; *at; depth++) {  // a::b in one go needs C++17
        size_t len = strcspn(at, ":");
        buf_printf(out, "namespace %.*s {\n", (int)len, at);
        at += len + strspn(at + len, ":");
    }
    for (uint32_t i = 0; i < art->kernel_count; i++) {
        const ArtifactKernel *k = &art->kernels[i];
        size_t start = out->len;
        buf_printf(out, "NEWT_NODISCARD inline NewtStatus %s(", k->name);
        header_params(k, out->len - start, out);
        buf_printf(out, ")\n{\n    return ::%s(device, stream", k->name);
        if (!k->has_grid)
            buf_puts(out, ", grid");
        for (uint32_t p = 0; p < k->arg_count; p++)
            buf_printf(out, ", %s", artifact_c_arg_name(k, p));
        buf_puts(out, ");\n}\n");
    }
    for (; depth; depth--)
        buf_puts(out, "}\n");
    buf_puts(out, "#endif\n\n");
}

static bool header_needs_bool(const Artifact *art)
{
    for (uint32_t i = 0; i < art->kernel_count; i++)
        for (uint32_t p = 0; p < art->kernels[i].param_count; p++) {
            const Type *t = art->kernels[i].params[p].type;
            if (t->kind == TYPE_SCALAR && t->scalar == SCALAR_I1)
                return true;
        }
    return false;
}

void artifact_write_header(const Artifact *art, Buf *out)
{
    buf_printf(out, "/* %s - generated from %s by newtc " NEWTC_VERSION ".  Do not edit.\n",
               art->header_name, art->source_name);
    buf_printf(out, " * source sha256 %s\n * images: %s   ABI 2 */\n", art->source_sha256,
               art->arch_list);
    buf_puts(out, "#ifndef ");
    header_guard(art, out);
    buf_puts(out, "\n#define ");
    header_guard(art, out);
    buf_puts(out, "\n#include <newt/newt.h>\n");
    if (header_needs_bool(art))
        buf_puts(out, "#include <stdbool.h>\n");
    buf_printf(out,
               "#if NEWT_ABI != 3\n#error \"%s was generated for libnewt ABI 3: run newtc "
               "again\"\n#endif\n",
               art->header_name);
    if (art->hidden)
        buf_puts(out, "#if defined(__GNUC__)\n#pragma GCC visibility push(hidden)\n#endif\n");
    buf_puts(out, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    for (uint32_t i = 0; i < art->kernel_count; i++)
        header_kernel(art, &art->kernels[i], out);
    buf_puts(out, "#ifdef __cplusplus\n}\n#endif\n\n");
    header_namespace(art, out);
    if (art->hidden)
        buf_puts(out, "#if defined(__GNUC__)\n#pragma GCC visibility pop\n#endif\n");
    buf_puts(out, "#endif\n");
}
