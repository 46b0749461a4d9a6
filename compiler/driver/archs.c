/// archs.c - see archs.h.
#include "driver/archs.h"
#include <dlfcn.h>
#include <string.h>

static void archs_add(Arena *a, ArchList *out, const Target *t, bool ptx, const char *text)
{
    for (uint32_t i = 0; i < out->gpu.len; i++)
        if (strcmp(out->gpu.at[i].text, text) == 0)
            return;
    VEC_PUSH(a, &out->gpu, ((Arch){ t, ptx, text }));
}

static bool archs_fail(Arena *a, DiagSink *diags)
{
    const Diag *d = diags->list.len ? diags->list.at[diags->list.len - 1] : NULL;
    fprintf(stderr, "newtc: error: %s\n", d ? d->text : "unknown architecture");
    for (uint32_t i = 0; d && i < d->notes.len; i++)
        fprintf(stderr, "newtc: %s: %s\n", d->notes.at[i].is_help ? "help" : "note",
                d->notes.at[i].text);
    (void)a;
    return false;
}

/// Asks the CUDA driver for device 0 by the three calls that need no header.
static bool archs_native(Arena *a, ArchList *out)
{
    int (*init)(unsigned), (*get)(int *, int), (*attribute)(int *, int, int);
    int device = 0, major = 0, minor = 0;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    bool ok = false;
    if (driver) {
        // POSIX lets a data pointer from dlsym become a function pointer this way
        *(void **)&init = dlsym(driver, "cuInit");
        *(void **)&get = dlsym(driver, "cuDeviceGet");
        *(void **)&attribute = dlsym(driver, "cuDeviceGetAttribute");
        enum { MAJOR = 75, MINOR = 76 };  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*
        ok = init && get && attribute && init(0) == 0 && get(&device, 0) == 0 &&
             attribute(&major, MAJOR, device) == 0 && attribute(&minor, MINOR, device) == 0;
    }
    const Target *t = NULL;
    if (ok) {
        const char *name = arena_printf(a, "sm_%d%da", major, minor);
        t = target_find(name);
        if (!t)
            t = target_find(arena_printf(a, "sm_%d%d", major, minor));
    }
    if (driver)
        dlclose(driver);
    if (!t) {
        fprintf(stderr, "newtc: error: --arch=native: %s\n",
                ok ? "the device's architecture is not known to this newtc"
                   : "there is no CUDA driver or no device here");
        return false;
    }
    archs_add(a, out, t, false, t->name);
    return true;
}

static void archs_all_major(Arena *a, const Nvrtc *nvrtc, DiagSink *quiet, ArchList *out)
{
    size_t count;
    const Target *t = target_list(&count);
    quiet->muted = true;
    for (size_t i = 0; i < count; i++)
        if (target_is_major(&t[i]) && nvrtc_check_target(nvrtc, &t[i], (Span){ 0, 0 }, quiet))
            archs_add(a, out, &t[i], false, t[i].name);
    quiet->muted = false;
}

static bool archs_word(Arena *a, const char *word, const Nvrtc *nvrtc, DiagSink *diags,
                       ArchList *out)
{
    if (strcmp(word, "host") == 0) {
        out->host = true;
        return true;
    }
    if (strcmp(word, "native") == 0)
        return archs_native(a, out);
    if (strcmp(word, "all-major") == 0) {
        archs_all_major(a, nvrtc, diags, out);
        return true;
    }
    bool ptx = strncmp(word, "ptx:", 4) == 0;
    const char *name = word;
    if (ptx) {
        name = strncmp(word + 4, "compute_", 8) == 0 ? arena_printf(a, "sm_%s", word + 12) : word;
    }
    const Target *t = target_get(name, (Span){ 0, 0 }, diags);
    if (!t || !nvrtc_check_target(nvrtc, t, (Span){ 0, 0 }, diags))
        return archs_fail(a, diags);
    archs_add(a, out, t, ptx, ptx ? word + 4 : t->name);
    return true;
}

bool archs_need_nvrtc(const Options *opt)
{
    for (uint32_t i = 0; i < opt->archs.len; i++)
        if (strcmp(opt->archs.at[i], "host") != 0)
            return true;
    return opt->archs.len == 0;
}

bool archs_read(Arena *a, const Options *opt, const Nvrtc *nvrtc, ArchList *out)
{
    static const char *const defaults[] = { "sm_80", "sm_90a", "host" };
    SourceMap none = { .arena = a };
    DiagSink diags;
    diag_init(&diags, a, &none);
    *out = (ArchList){ .host = false };
    if (opt->archs.len == 0 && !nvrtc->loaded) {
        out->host = true;
        if (!opt->quiet && opt->format == DIAG_TEXT)
            fprintf(stderr, "newtc: note: no NVRTC was found, so only the host is compiled for; "
                            "--print-nvrtc says where it was looked for\n");
        return true;
    }
    uint32_t count = opt->archs.len ? opt->archs.len : 3;
    for (uint32_t i = 0; i < count; i++)
        if (!archs_word(a, opt->archs.len ? opt->archs.at[i] : defaults[i], nvrtc, &diags, out))
            return false;
    return true;
}
