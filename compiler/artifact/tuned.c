/// tuned.c - what an autotuned kernel has besides its launch function: in the header the list of
/// configurations, the argument record and the functions that take them; in module.c their tables.
#include "artifact/artifact_impl.h"
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

/// The prefix of the enumerators: "MATMUL_".
static void tuned_prefix(const ArtifactKernel *k, Buf *out)
{
    for (const char *p = k->name; *p; p++)
        buf_putc(out, (char)toupper((unsigned char)*p));
    buf_putc(out, '_');
}

/// "sm_80 128 threads 96 registers 32768 B shared": the generic variant in each image.
static void tuned_resources(const Artifact *art, const ArtifactKernel *k, const ArtifactConfig *c,
                            Buf *out)
{
    const ArtifactVariant *v = &k->variants[c->first_variant + c->variant_count - 1];
    for (uint32_t i = 0; i < v->entry_count; i++) {
        const ArtifactEntry *e = &v->entries[i];
        buf_printf(out, "    ///   %s: %u threads", art->images[e->image].arch, e->threads);
        if (e->registers)
            buf_printf(out, ", %u registers", e->registers);
        buf_printf(out, ", %u B shared", e->shared + e->shared_static);
        if (e->spills)
            buf_printf(out, ", %u B spilled", e->spills);
        buf_putc(out, '\n');
    }
    if (v->host_symbol)
        buf_puts(out, "    ///   host\n");
    else if (!v->entry_count)
        buf_puts(out, "    ///   fits none of the architectures\n");
}

/// The shapes that a configuration was fastest for.
static void tuned_shapes(const ArtifactKernel *k, uint32_t config, Buf *out)
{
    for (uint32_t i = 0; i < k->tuned_count; i++) {
        const ArtifactTuned *t = &k->tuned[i];
        if (t->config != config)
            continue;
        buf_puts(out, "    ///   fastest for");
        for (uint32_t p = 0, key = 0; p < k->param_count; p++)
            if (artifact_is_key(&k->params[p]))
                buf_printf(out, " %s=%" PRId64, k->params[p].name, t->values[key++]);
        buf_printf(out, " on %s\n", t->gpu);
    }
}

static void tuned_enum(const Artifact *art, const ArtifactKernel *k, Buf *out)
{
    buf_printf(out, "/// Configurations of `%s`, in the order of its @autotune.  (%s)\n", k->name,
               k->location);
    buf_printf(out,
               "typedef enum %sConfig {\n    /// tuned for this device and shape, else the "
               "default\n    ",
               k->type_name);
    tuned_prefix(k, out);
    buf_puts(out, "AUTO = -1,\n");
    for (uint32_t i = 0; i < k->config_count; i++) {
        const ArtifactConfig *c = &k->configs[i];
        buf_printf(out, "    /// %s%s\n", c->text, i ? "" : "  (the default)");
        tuned_resources(art, k, c, out);
        tuned_shapes(k, i, out);
        buf_puts(out, "    ");
        tuned_prefix(k, out);
        buf_printf(out, "%s = %u,\n", c->name, i);
    }
    buf_puts(out, "    ");
    tuned_prefix(k, out);
    buf_printf(out, "CONFIG_COUNT = %u\n} %sConfig;\n\n", k->config_count, k->type_name);
}

static void tuned_args(const ArtifactKernel *k, Buf *out)
{
    if (!k->param_count)
        return;
    buf_printf(out,
               "/// The arguments of `%s`, for callers that keep them.\ntypedef struct %sArgs {\n",
               k->name, k->type_name);
    for (uint32_t i = 0; i < k->arg_count; i++) {
        buf_puts(out, "    ");
        artifact_c_arg(out, k, i);
        buf_puts(out, ";\n");
    }
    buf_printf(out, "} %sArgs;\n\n", k->type_name);
}

/// What stands behind the stream in the functions that run something.
static const char *tuned_grid(const ArtifactKernel *k)
{
    return k->has_grid ? "" : " NewtGrid grid,";
}

void tuned_header_types(const Artifact *art, const ArtifactKernel *k, Buf *out)
{
    if (!k->config_count)
        return;
    tuned_enum(art, k, out);
    tuned_args(k, out);
}

/// "MatmulArgs", or void for a kernel without parameters.
static void tuned_args_type(const ArtifactKernel *k, Buf *out)
{
    if (k->param_count)
        buf_printf(out, "%sArgs", k->type_name);
    else
        buf_puts(out, "void");
}

void tuned_header_functions(const ArtifactKernel *k, const char *mark, Buf *out)
{
    if (!k->config_count)
        return;
    Buf type = { 0 };
    tuned_args_type(k, &type);
    const char *args = type.at, *config = k->type_name;
    buf_printf(out,
               "/// `%s` with a configuration of the caller's choice: NEWT_NO_IMAGE where it was "
               "not compiled\n/// for the device, NEWT_TOO_LARGE where the device cannot hold it.\n"
               "%sNEWT_NODISCARD NewtStatus %s_with(NewtDevice *device, NewtStream stream,%s\n"
               "    %sConfig config, const %s *args);\n\n",
               k->name, mark, k->name, tuned_grid(k), config, args);
    buf_printf(out,
               "/// The configuration that `%s` would run, without running it.\n"
               "%sNEWT_NODISCARD NewtStatus %s_choose(NewtDevice *device, const %s *args,\n"
               "    %sConfig *config);\n\n",
               k->name, mark, k->name, args, config);
    buf_printf(out,
               "/// \"%s\" and so on; NULL past the end.\n"
               "%sconst char *%s_config_text(%sConfig config);\n\n",
               k->configs[0].text, mark, k->name, config);
    buf_printf(out,
               "/// Checks every configuration against the host's result, times the correct ones, "
               "and keeps the\n/// best for this device and shape class: later calls of `%s` take "
               "it. Slow, allocates copies of\n/// the buffers, leaves the buffers themselves "
               "alone; never implied by a launch.\n"
               "%sNEWT_NODISCARD NewtStatus %s_tune(NewtDevice *device,%s const %s *args,\n"
               "    const NewtTuneOptions *options, NewtTuneResult *result);\n\n",
               k->name, mark, k->name, tuned_grid(k), args);
    buf_free(&type);
}

/* ---- module.c ---- */

/// The parameters whose values make the shape class: those of `key` that are numbers.
static uint32_t tuned_keys(const ArtifactKernel *k, uint32_t index, Buf *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < k->param_count; i++) {
        if (!artifact_is_key(&k->params[i]))
            continue;
        if (count)
            buf_printf(out, ", %u", i);
        else
            buf_printf(out, "static const uint32_t newt_keys_%u[] = { %u", index, i);
        count++;
    }
    if (count)
        buf_puts(out, " };\n");
    return count;
}

/// What the build knows of shapes: the launcher takes the nearest.
static void tuned_dispatch(const ArtifactKernel *k, uint32_t index, uint32_t keys, Buf *out)
{
    if (!k->tuned_count)
        return;
    for (uint32_t i = 0; i < k->tuned_count && keys; i++) {
        buf_printf(out, "static const int64_t newt_class_%u_%u[] = { ", index, i);
        for (uint32_t key = 0; key < keys; key++)
            buf_printf(out, "%sINT64_C(%" PRId64 ")", key ? ", " : "", k->tuned[i].values[key]);
        buf_puts(out, " };\n");
    }
    buf_printf(out, "static const NewtTuned newt_tuned_%u[%u] = {\n", index, k->tuned_count);
    for (uint32_t i = 0; i < k->tuned_count; i++) {
        const ArtifactTuned *t = &k->tuned[i];
        buf_printf(out, "    { UINT64_C(0x%016" PRIx64 "), %d, %u, ",
                   hash_bytes(HASH_SEED, t->gpu, strlen(t->gpu)), t->number, t->config);
        if (keys)
            buf_printf(out, "newt_class_%u_%u", index, i);
        else
            buf_puts(out, "NULL");
        buf_printf(out, " },  /* %.60s */\n", t->arch);
    }
    buf_puts(out, "};\n");
}

void tuned_module_tables(const ArtifactKernel *k, uint32_t index, Buf *out)
{
    if (!k->config_count)
        return;
    buf_printf(out, "static const NewtConfig newt_configs_%u[%u] = {\n", index, k->config_count);
    for (uint32_t i = 0; i < k->config_count; i++) {
        const ArtifactConfig *c = &k->configs[i];
        buf_printf(out, "    { \"%s\", ", c->name);
        buf_c_string(out, c->text, strlen(c->text));
        buf_printf(out, ", %u, %u },\n", c->first_variant, c->variant_count);
    }
    buf_puts(out, "};\n");
    const uint32_t keys = tuned_keys(k, index, out);
    tuned_dispatch(k, index, keys, out);
    buf_printf(out, "static const NewtTuning newt_tuning_%u = { newt_configs_%u, ", index, index);
    if (keys)
        buf_printf(out, "newt_keys_%u", index);
    else
        buf_puts(out, "NULL");
    buf_printf(out, ", %u, %u, 0, ", k->config_count, keys);
    if (k->tuned_count)
        buf_printf(out, "newt_tuned_%u, %u };\n\n", index, k->tuned_count);
    else
        buf_puts(out, "NULL, 0 };\n\n");
}

/// From the tensors in MatmulArgs to the argument record: a function of its own.
static void tuned_record(const ArtifactKernel *k, uint32_t index, const char *args, Buf *out)
{
    buf_printf(
        out,
        "static NewtStatus newt_record_%u(NewtDevice *device, const %s *args, struct %s "
        "*newt_args)\n{\n    if (!args)\n        return newt_bind_(&newt_binding_%u, device, "
        "NULL, newt_args);\n",
        index, args, k->record, index);
    artifact_write_bind(k, index, "args->", "newt_args->", out);
    buf_puts(out, "    return newt_status;\n}\n\n");
}

/// Statements at the top of a function that takes MatmulArgs; what it hands on as the record.
static const char *tuned_take_args(const ArtifactKernel *k, uint32_t index, Buf *out)
{
    if (!k->input_count)
        return "args";
    buf_printf(out,
               "    struct %s newt_args;\n    const NewtStatus newt_bound = newt_record_%u(device, "
               "args, &newt_args);\n    if (newt_bound != NEWT_OK)\n        return newt_bound;\n",
               k->record, index);
    return "&newt_args";
}

void tuned_module_functions(const ArtifactKernel *k, uint32_t index, Buf *out)
{
    if (!k->config_count)
        return;
    Buf type = { 0 };
    tuned_args_type(k, &type);
    const char *args = type.at, *config = k->type_name;
    const char *grid = k->has_grid ? "NULL" : "&grid";
    if (k->input_count)
        tuned_record(k, index, args, out);
    buf_printf(out,
               "NewtStatus %s_with(NewtDevice *device, NewtStream stream,%s %sConfig config,\n"
               "    const %s *args)\n{\n",
               k->name, tuned_grid(k), config, args);
    const char *record = tuned_take_args(k, index, out);
    buf_printf(out,
               "    return newt_launch_config_(&newt_kernels[%u], device, stream, (int)config, %s, "
               "%s);\n}\n\n",
               index, grid, record);
    buf_printf(out,
               "NewtStatus %s_choose(NewtDevice *device, const %s *args, %sConfig *config)\n{\n",
               k->name, args, config);
    record = tuned_take_args(k, index, out);
    buf_printf(out,
               "    int newt_config = -1;\n"
               "    const NewtStatus newt_status = newt_choose_(&newt_kernels[%u], device, %s, "
               "config ? &newt_config : NULL);\n"
               "    if (newt_status == NEWT_OK)\n        *config = (%sConfig)newt_config;\n"
               "    return newt_status;\n}\n\n",
               index, record, config);
    buf_printf(out,
               "const char *%s_config_text(%sConfig config)\n{\n"
               "    return newt_config_text_(&newt_kernels[%u], (int)config);\n}\n\n",
               k->name, config, index);
    buf_printf(out,
               "NewtStatus %s_tune(NewtDevice *device,%s const %s *args,\n"
               "    const NewtTuneOptions *options, NewtTuneResult *result)\n{\n",
               k->name, tuned_grid(k), args);
    record = tuned_take_args(k, index, out);
    buf_printf(out,
               "    return newt_tune_(&newt_kernels[%u], device, %s, %s, options, result);\n}\n\n",
               index, grid, record);
    buf_free(&type);
}

/* ---- manifest ---- */

void tuned_manifest(const ArtifactKernel *k, Buf *out)
{
    if (!k->config_count)
        return;
    const char *comma = "";
    buf_puts(out, ",\n      \"key\": [");
    for (uint32_t i = 0; i < k->param_count; i++)
        if (artifact_is_key(&k->params[i])) {
            buf_puts(out, comma);
            buf_json_string(out, k->params[i].name, strlen(k->params[i].name));
            comma = ", ";
        }
    buf_puts(out, "],\n      \"configs\": [");
    for (uint32_t i = 0; i < k->config_count; i++) {
        const ArtifactConfig *c = &k->configs[i];
        buf_printf(out, "%s\n        { \"name\": \"%s\", \"text\": ", i ? "," : "", c->name);
        buf_json_string(out, c->text, strlen(c->text));
        buf_printf(out, ", \"first_variant\": %u, \"variants\": %u }", c->first_variant,
                   c->variant_count);
    }
    buf_puts(out, "\n      ]");
    for (uint32_t i = 0; i < k->tuned_count; i++) {
        const ArtifactTuned *t = &k->tuned[i];
        buf_puts(out, i ? ",\n        { \"gpu\": " : ",\n      \"tuned\": [\n        { \"gpu\": ");
        buf_json_string(out, t->gpu, strlen(t->gpu));
        buf_printf(out, ", \"arch\": \"%s\", \"config\": %u, \"class\": [", t->arch, t->config);
        for (uint32_t p = 0, key = 0; p < k->param_count; p++)
            if (artifact_is_key(&k->params[p])) {
                buf_printf(out, "%s%" PRId64, key ? ", " : "", t->values[key]);
                key++;
            }
        buf_puts(out, i + 1 < k->tuned_count ? "] }" : "] }\n      ]");
    }
}
