/// nvrtc.c - finding and loading NVRTC.
///
/// Each place gives file names; the first that loads and has every function wins. NVRTC opens its
/// builtins library by name and ignores its own folder, so that library is loaded first.
#include "backend/cuda/nvrtc_impl.h"
#include "support/fs.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static const char *const library_names[] = { "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so" };
enum { LIBRARY_NAME_COUNT = sizeof library_names / sizeof *library_names };

static void nvrtc_note(Arena *a, Nvrtc *n, const char *path, const char *result)
{
    NvrtcPlace place = { path, arena_printf(a, "%s", result) };
    VEC_PUSH(a, &n->places, place);
}

/// Loads libnvrtc-builtins.so.* of `dir` (with its slash); a missing one shows when compiling.
static void load_builtins(Arena *a, const char *dir)
{
    DIR *d = opendir(*dir ? dir : ".");
    if (!d)
        return;
    for (struct dirent *entry; (entry = readdir(d)) != NULL;)
        if (strncmp(entry->d_name, "libnvrtc-builtins.so.", strlen("libnvrtc-builtins.so.")) == 0)
            (void)dlopen(arena_printf(a, "%s%s", dir, entry->d_name), RTLD_NOW | RTLD_GLOBAL);
    closedir(d);
}

/// Fills `api`; the name of a missing function, or NULL.
static const char *load_functions(void *library, NvrtcApi *api)
{
// A data pointer becomes a function pointer: POSIX's dlsym allows it, by way of memory.
#define NVRTC_FN(member, symbol, args)               \
    *(void **)&api->member = dlsym(library, symbol); \
    if (!api->member)                                \
        return symbol;
    NVRTC_FUNCTIONS(NVRTC_FN)
#undef NVRTC_FN
    return NULL;
}

static bool load_file(Arena *a, Nvrtc *n, const char *path)
{
    bool is_file = strchr(path, '/') != NULL;  // else a name for the loader to look for
    if (is_file && n->memory && nvrtc_recall(a, n->memory, path, n)) {
        n->path = path;
        n->loaded = true;
        nvrtc_note(a, n, path, "remembered");
        return true;
    }
    if (is_file)
        load_builtins(a, fs_dir(a, path));
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        size_t len = strlen(path);  // the loader may begin with the path, which is shown anyway
        bool repeats = strncmp(why, path, len) == 0 && strncmp(why + len, ": ", 2) == 0;
        nvrtc_note(a, n, path, repeats ? why + len + 2 : why);
        return false;
    }

    NvrtcApi *api = ARENA_NEW(a, NvrtcApi);
    const char *missing = load_functions(library, api);
    int count = 0;
    if (missing || api->version(&n->major, &n->minor) != NVRTC_OK ||
        api->arch_count(&count) != NVRTC_OK) {
        nvrtc_note(a, n, path,
                   missing ? arena_printf(a, "has no %s", missing) : "tells no version");
        dlclose(library);
        return false;
    }
    int *archs = ARENA_NEW_N(a, int, (size_t)count + 1);
    api->archs(archs);
    n->archs = archs;
    n->arch_count = (uint32_t)count;
    n->api = api;
    n->path = path;
    n->loaded = true;
    nvrtc_note(a, n, path, "loaded");
    if (is_file && n->memory)
        nvrtc_remember(a, n->memory, n);
    return true;
}

bool nvrtc_load(Arena *a, Nvrtc *n)
{
    if (n->api || !n->loaded)
        return n->loaded;
    const int major = n->major, minor = n->minor;
    n->memory = NULL;
    n->loaded = false;
    return load_file(a, n, n->path) && n->major == major && n->minor == minor;
}

/// Files of that name in a folder (with its slash).
static bool load_dir(Arena *a, Nvrtc *n, const char *dir)
{
    for (size_t i = 0; i < LIBRARY_NAME_COUNT; i++)
        if (load_file(a, n, arena_printf(a, "%s%s", dir, library_names[i])))
            return true;
    return false;
}

/// The library folders of a toolkit.
static bool load_toolkit(Arena *a, Nvrtc *n, const char *root)
{
    static const char *const folders[] = { "lib64", "lib", "targets/x86_64-linux/lib",
                                           "targets/sbsa-linux/lib", "targets/aarch64-linux/lib" };
    bool any = false;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const char *dir = arena_printf(a, "%s/%s/", root, folders[i]);
        if (!fs_is_dir(dir))
            continue;
        any = true;
        if (load_dir(a, n, dir))
            return true;
    }
    if (!any)
        nvrtc_note(a, n, root, "has no library folder");
    return false;
}

static bool load_given(Arena *a, Nvrtc *n, const char *path)
{
    return fs_is_dir(path) ? load_dir(a, n, arena_printf(a, "%s/", path)) : load_file(a, n, path);
}

/// An environment variable's value; NULL when unset or empty.
static const char *env_path(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

Nvrtc *nvrtc_open(Arena *a, const NvrtcPaths *paths)
{
    return nvrtc_open_lazily(a, paths, NULL);
}

Nvrtc *nvrtc_open_lazily(Arena *a, const NvrtcPaths *paths, const char *memory)
{
    Nvrtc *n = ARENA_NEW(a, Nvrtc);
    n->memory = memory;
    const char *file = paths->nvrtc ? paths->nvrtc : env_path("NEWTC_NVRTC");
    const char *roots[] = { paths->cuda_path, env_path("CUDA_HOME"), env_path("CUDA_PATH") };

    if (file) {  // who names a library means that one
        load_given(a, n, file);
        return n;
    }
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        if (roots[i] && (load_toolkit(a, n, roots[i]) || i == 0))
            return n;
    if (!load_dir(a, n, ""))
        load_toolkit(a, n, "/usr/local/cuda");
    return n;
}

static void list_archs(const Nvrtc *n, Buf *out)
{
    for (uint32_t i = 0; i < n->arch_count; i++)
        buf_printf(out, "%ssm_%d", i ? ", " : "", n->archs[i]);
}

bool nvrtc_check_target(const Nvrtc *n, const Target *t, Span span, DiagSink *diags)
{
    if (!n->loaded) {
        diag_report(diags, DIAG_NO_NVRTC, span, "no libnvrtc found, which compiles for '%s'",
                    t->name);
        for (uint32_t i = 0; i < n->places.len; i++)
            diag_note(diags, (Span){ 0, 0 }, "%s: %s", n->places.at[i].path,
                      n->places.at[i].result);
        diag_help(diags,
                  "give its place by --nvrtc=FILE or --cuda-path=DIR, or compile with --arch=host");
        return false;
    }
    bool listed = false;
    for (uint32_t i = 0; i < n->arch_count; i++)
        listed = listed || n->archs[i] == (int)t->sm;
    if (listed && n->major * 10 + n->minor >= (int)t->cuda)
        return true;

    Buf text = { 0 };
    list_archs(n, &text);
    if (n->major * 10 + n->minor < (int)t->cuda)
        diag_report(diags, DIAG_UNKNOWN_ARCH, span, "'%s' needs CUDA %u.%u or newer; %s is %d.%d",
                    t->name, t->cuda / 10, t->cuda % 10, n->path, n->major, n->minor);
    else
        diag_report(diags, DIAG_UNKNOWN_ARCH, span,
                    "'%s' is no longer known to %s, which is CUDA %d.%d", t->name, n->path,
                    n->major, n->minor);
    diag_help(diags, "it supports %s", text.at);
    buf_free(&text);
    return false;
}
