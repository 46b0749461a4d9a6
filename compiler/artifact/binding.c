/// binding.c - kernels that take tensors: the tables by which libnewt checks them and fills the
/// argument record, and what the header says of them.
#include "artifact/artifact.h"
#include <inttypes.h>
#include <string.h>

static void input_table(const ArtifactKernel *k, uint32_t index, Buf *out)
{
    buf_printf(out, "static const NewtTensorRule newt_inputs_%u[%u] = {\n", index, k->input_count);
    for (uint32_t i = 0; i < k->input_count; i++) {
        const ArtifactInput *x = &k->inputs[i];
        buf_printf(out, "    { \"%s\", %s, %u, %d, %u, { ", x->name, scalar_info[x->elem].newt,
                   x->rank, x->dense_axis, x->is_written ? 1u : 0u);
        for (uint32_t axis = 0; axis < x->rank; axis++)
            buf_printf(out, "%s%" PRId64, axis ? ", " : "", x->fixed[axis]);
        buf_puts(out, " } },\n");
    }
    buf_puts(out, "};\n");
}

static void rule_table(const ArtifactKernel *k, uint32_t index, Buf *out)
{
    if (!k->rule_count)
        return;
    buf_printf(out, "static const NewtSizeRule newt_rules_%u[%u] = {\n", index, k->rule_count);
    for (uint32_t i = 0; i < k->rule_count; i++) {
        const ArtifactSizeRule *r = &k->rules[i];
        buf_puts(out, "    { ");
        if (r->name)
            buf_c_string(out, r->name, strlen(r->name));
        else
            buf_puts(out, "NULL");
        buf_printf(out, ", %u, { %u, %u }, { %u, %u } },\n", r->equal ? 1u : 0u, r->input[0],
                   r->input[1], r->axis[0], r->axis[1]);
    }
    buf_puts(out, "};\n");
}

static uint32_t fill_table(const ArtifactKernel *k, uint32_t index, Buf *out)
{
    static const char *const names[] = { "", "NEWT_FILL_DATA", "NEWT_FILL_SIZE", "NEWT_FILL_STRIDE",
                                         "NEWT_FILL_REACH" };
    uint32_t count = 0;
    for (uint32_t i = 0; i < artifact_member_count(k); i++)
        count += k->params[i].source != SOURCE_GIVEN;
    buf_printf(out, "static const NewtFill newt_fills_%u[%u] = {\n", index, count);
    for (uint32_t i = 0; i < artifact_member_count(k); i++) {
        const ArtifactParam *p = &k->params[i];
        if (p->source != SOURCE_GIVEN)
            buf_printf(out, "    { %s, %u, %u, %u },\n", names[p->source], p->offset, p->input,
                       p->axis);
    }
    buf_puts(out, "};\n");
    return count;
}

void artifact_write_binding(const ArtifactKernel *k, uint32_t index, Buf *out)
{
    input_table(k, index, out);
    rule_table(k, index, out);
    uint32_t fills = fill_table(k, index, out);
    buf_printf(
        out,
        "static const NewtBinding newt_binding_%u = {\n    &newt_kernels[%u], newt_inputs_%u, ",
        index, index, index);
    if (k->rule_count)
        buf_printf(out, "newt_rules_%u", index);
    else
        buf_puts(out, "NULL");
    buf_printf(out, ", newt_fills_%u, %u, %u, %u\n};\n\n", index, k->input_count, k->rule_count,
               fills);
}

void artifact_write_bind(const ArtifactKernel *k, uint32_t index, const char *from, const char *to,
                         Buf *out)
{
    buf_printf(out, "    const NewtTensor newt_tensors[%u] = { ", k->input_count);
    for (uint32_t i = 0; i < k->input_count; i++)
        buf_printf(out, "%s%s%s", i ? ", " : "", from, k->inputs[i].c_name);
    buf_puts(out, " };\n");
    for (uint32_t i = 0; i < k->arg_count; i++)
        if (!k->args[i].is_input)
            buf_printf(out, "    %s%s = %s%s;\n", to, artifact_c_arg_name(k, i), from,
                       artifact_c_arg_name(k, i));
    buf_printf(out,
               "    const NewtStatus newt_status =\n        newt_bind_(&newt_binding_%u, device, "
               "newt_tensors, %s%.*s);\n",
               index, strchr(to, '>') ? "" : "&", (int)strcspn(to, ".-"), to);
}

/// "float16[M, K]"
static void input_text(const ArtifactInput *x, Buf *out)
{
    buf_printf(out, "%s[", scalar_info[x->elem].name);
    for (uint32_t i = 0; i < x->rank; i++) {
        buf_puts(out, i ? ", " : "");
        if (x->fixed[i] >= 0)
            buf_printf(out, "%" PRId64, x->fixed[i]);
        else if (x->sizes[i])
            buf_puts(out, x->sizes[i]);
        else
            buf_puts(out, "*");
    }
    buf_putc(out, ']');
}

void artifact_write_input_doc(const ArtifactKernel *k, Buf *out)
{
    for (uint32_t i = 0; i < k->input_count; i++) {
        const ArtifactInput *x = &k->inputs[i];
        buf_printf(out, "/// %s  ", x->c_name);
        input_text(x, out);
        if (x->dense_axis >= 0)
            buf_printf(out, ", stride[%d] is 1", x->dense_axis);
        buf_puts(out, x->is_written ? ", written\n" : "\n");
    }
    buf_puts(out,
             "///\n"
             "/// Tensors are checked: type, axes, sizes of one name. Any strides; it is faster "
             "when elements\n"
             "/// of the last axis lie side by side. A tensor that is written may be another "
             "one itself,\n"
             "/// element for element; no other overlap.\n");
}
