/// ctypes.c - parameters as C sees them: types, the argument record.
///
/// The record is an ordinary C struct: each member at its natural alignment. module.c asserts the
/// offsets, so a disagreement with the user's compiler is an error there and not wrong results.
#include "artifact/artifact.h"
#include <ctype.h>

void artifact_c_type(Buf *out, const ArtifactParam *p)
{
    if (p->type->kind == TYPE_PTR) {
        buf_printf(out, "%s%s *", p->is_const ? "const " : "",
                   scalar_info[type_scalar_kind(p->type->elem)].c);
        return;
    }
    ScalarKind k = type_scalar_kind(p->type);
    buf_printf(out, "%s ", k == SCALAR_I1 ? "bool" : scalar_info[k].c);
}

const char *artifact_type_name(Arena *a, const char *kernel)
{
    Buf b = { 0 };
    bool first = true;
    for (; *kernel; kernel++) {
        char c = *kernel;
        if (first)
            c = (char)toupper((unsigned char)c);
        if (c != '_')
            buf_putc(&b, c);
        first = c == '_';
    }
    const char *name = arena_strndup(a, b.at ? b.at : "", b.len);
    buf_free(&b);
    return name;
}

const char *artifact_record(Arena *a, const char *kernel, bool is_public)
{
    return is_public ? arena_printf(a, "%sArgs", artifact_type_name(a, kernel))
                     : arena_printf(a, "%s_args", kernel);
}

uint32_t artifact_member_count(const ArtifactKernel *k)
{
    return k->param_count + (k->input_count ? 1 : 0);
}

const char *artifact_c_arg_name(const ArtifactKernel *k, uint32_t i)
{
    const ArtifactArg *arg = &k->args[i];
    return arg->is_input ? k->inputs[arg->index].c_name : k->params[arg->index].c_name;
}

void artifact_c_arg(Buf *out, const ArtifactKernel *k, uint32_t i)
{
    if (k->args[i].is_input)
        buf_puts(out, "NewtTensor ");
    else
        artifact_c_type(out, &k->params[k->args[i].index]);
    buf_puts(out, artifact_c_arg_name(k, i));
}

uint32_t artifact_layout_params(ArtifactParam *params, uint32_t count)
{
    uint32_t offset = 0;
    for (uint32_t i = 0; i < count; i++) {
        ArtifactParam *p = &params[i];
        p->size = p->type->kind == TYPE_PTR ? 8 : scalar_info[type_scalar_kind(p->type)].bytes;
        offset = (offset + p->size - 1) / p->size * p->size;
        p->offset = offset;
        offset += p->size;
    }
    return (offset + 7) / 8 * 8;
}

size_t artifact_image_offset(const Artifact *art, uint32_t i)
{
    size_t at = 0;
    for (uint32_t k = 0; k < i; k++)
        at += (art->images[k].size + 63) / 64 * 64;
    return at;
}

void artifact_write_images(const Artifact *art, Buf *out)
{
    for (uint32_t i = 0; i < art->image_count; i++) {
        buf_bytes(out, art->images[i].data, art->images[i].size);
        while (out->len % 64)
            buf_putc(out, '\0');
    }
}
