/// cache.c - see cache.h. One file an image, named by its key:
///
///     newt image 1 <sha256 of what follows the line> <bytes of image> <bytes of log>\n
///     image, log
#include "backend/cuda/cache.h"
#include "backend/cuda/nvrtc_impl.h"
#include "cuda_prelude_files.h"
#include "support/fs.h"
#include "support/sha256.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char cache_suffix[] = ".image";
enum { CACHE_KEY_LEN = 64 };

static const char *default_dir(Arena *a)
{
    static const struct {
        const char *variable, *below;
    } places[] = { { "NEWT_CACHE_DIR", "" },
                   { "XDG_CACHE_HOME", "/newt" },
                   { "HOME", "/.cache/newt" } };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *value = getenv(places[i].variable);
        if (value && *value)
            return arena_printf(a, "%s%s", value, places[i].below);
    }
    return NULL;
}

void cache_open(CudaCache *c, Arena *a, const char *dir)
{
    *c = (CudaCache){ NULL, NULL };
    dir = dir ? dir : default_dir(a);
    if (!dir)
        c->why_off = "off: neither NEWT_CACHE_DIR, XDG_CACHE_HOME nor HOME is set";
    else if (!fs_make_dirs(a, dir) || access(dir, R_OK | W_OK | X_OK) != 0)
        c->why_off = arena_printf(a, "off: cannot use '%s': %s", dir, strerror(errno));
    else
        c->dir = dir;
}

/// A text with its length in front, so that no two lists of texts hash alike.
static void hash_text(Sha256 *sha, const char *text, size_t len)
{
    uint64_t size = len;
    sha256_add(sha, &size, sizeof size);
    sha256_add(sha, text, len);
}

static void hash_list(Sha256 *sha, const char *const *list)
{
    for (; list && *list; list++)
        hash_text(sha, *list, strlen(*list));
    hash_text(sha, "", 0);
}

static const char *entry_path(const CudaCache *c, const Nvrtc *n, const CudaRequest *r, Arena *a)
{
    const int numbers[] = { n->major, n->minor, r->ptx, r->line_info, r->unoptimised };
    char key[CACHE_KEY_LEN + 1];
    Sha256 sha;
    sha256_begin(&sha);
    hash_text(&sha, NEWTC_VERSION, strlen(NEWTC_VERSION));
    hash_text(&sha, (const char *)numbers, sizeof numbers);
    hash_text(&sha, r->target->name, strlen(r->target->name));
    hash_text(&sha, r->name, strlen(r->name));  // it is in the log, and with line_info in the image
    hash_text(&sha, r->folder ? r->folder : "", r->folder ? strlen(r->folder) : 0);
    hash_text(&sha, r->source, strlen(r->source));
    hash_list(&sha, r->nvrtc_options);
    hash_list(&sha, r->ptxas_options);
    for (size_t i = 0; i < cuda_prelude_files_count; i++) {
        hash_text(&sha, cuda_prelude_files[i].name, strlen(cuda_prelude_files[i].name));
        hash_text(&sha, cuda_prelude_files[i].text, cuda_prelude_files[i].len);
    }
    sha256_hex(&sha, key);
    return arena_printf(a, "%s/%s%s", c->dir, key, cache_suffix);
}

static void put_head(Buf *out, const char *payload, size_t image_len, size_t log_len)
{
    char hex[CACHE_KEY_LEN + 1];
    Sha256 sha;
    sha256_begin(&sha);
    sha256_add(&sha, payload, image_len + log_len);
    sha256_hex(&sha, hex);
    buf_printf(out, "newt image 1 %s %zu %zu\n", hex, image_len, log_len);
}

/// The two numbers of an entry's head, behind its hash; false when there are none.
static bool read_lengths(const char *text, size_t len, size_t *image_len, size_t *log_len)
{
    enum { HEX_DIGITS = 64 };
    const size_t hash_end = strlen("newt image 1 ") + HEX_DIGITS;
    char *end, *last;
    if (len <= hash_end)
        return false;
    *image_len = strtoull(text + hash_end, &end, 10);
    *log_len = strtoull(end, &last, 10);
    return end != text + hash_end && last != end;
}

/// Reads an entry's text; false when it is not to the byte what was written.
static bool read_entry(const char *text, size_t len, Arena *a, CudaImage *out)
{
    size_t image_len, log_len;
    const char *end = memchr(text, '\n', len);
    if (!end || !read_lengths(text, (size_t)(end - text), &image_len, &log_len))
        return false;
    const char *payload = end + 1;
    size_t payload_len = len - (size_t)(payload - text);
    if (image_len > payload_len || log_len != payload_len - image_len)
        return false;
    Buf head = { 0 };
    put_head(&head, payload, image_len, log_len);
    bool same = head.len == (size_t)(payload - text) && memcmp(head.at, text, head.len) == 0;
    buf_free(&head);
    if (!same)
        return false;
    *out = (CudaImage){ .ok = true,
                        .data = arena_strndup(a, payload, image_len),
                        .size = image_len,
                        .log = arena_strndup(a, payload + image_len, log_len) };
    out->usage = cuda_read_usage(out->log);
    return true;
}

bool cache_find(const CudaCache *c, const Nvrtc *n, const CudaRequest *request, Arena *a,
                CudaImage *out)
{
    if (!c->dir)
        return false;
    const char *path = entry_path(c, n, request, a), *why = NULL;
    size_t len;
    const char *text = fs_read(a, path, &len, &why);
    if (!text || !read_entry(text, len, a, out))
        return false;
    utimensat(AT_FDCWD, path, NULL, 0);  // used now; a failure only makes it look older
    return true;
}

void cache_store(const CudaCache *c, const Nvrtc *n, const CudaRequest *request,
                 const CudaImage *image)
{
    if (!c->dir || !image->ok)
        return;
    Arena a = { 0 };
    Buf payload = { 0 }, entry = { 0 };
    buf_bytes(&payload, image->data, image->size);
    buf_puts(&payload, image->log);
    put_head(&entry, payload.at, image->size, payload.len - image->size);
    buf_bytes(&entry, payload.at, payload.len);
    OutputSet set = { .arena = &a };
    const char *why = NULL;
    fs_output(&set, entry_path(c, n, request, &a), entry.at, entry.len, false);
    (void)fs_commit(&set, &why);
    buf_free(&payload);
    buf_free(&entry);
    arena_free(&a);
}

typedef struct CacheEntry {
    const char *path;
    uint64_t size;
    struct timespec used;
} CacheEntry;
typedef VEC(CacheEntry) CacheEntries;

static void list_entries(const CudaCache *c, Arena *a, CacheEntries *out)
{
    DIR *d = c->dir ? opendir(c->dir) : NULL;
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        size_t len = strlen(e->d_name);
        struct stat info;
        if (len != CACHE_KEY_LEN + strlen(cache_suffix) ||
            strcmp(e->d_name + CACHE_KEY_LEN, cache_suffix) != 0)
            continue;
        const char *path = arena_printf(a, "%s/%s", c->dir, e->d_name);
        if (stat(path, &info) == 0)
            VEC_PUSH(a, out, ((CacheEntry){ path, (uint64_t)info.st_size, info.st_mtim }));
    }
    closedir(d);
}

static int compare_age(const void *left, const void *right)
{
    const CacheEntry *a = left, *b = right;
    if (a->used.tv_sec != b->used.tv_sec)
        return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
    return a->used.tv_nsec < b->used.tv_nsec ? -1 : a->used.tv_nsec > b->used.tv_nsec;
}

void cache_trim(const CudaCache *c, uint64_t most)
{
    Arena a = { 0 };
    CacheEntries all = { 0 };
    CacheEntry *e;
    uint64_t bytes = 0;
    list_entries(c, &a, &all);
    VEC_EACH (e, &all)
        bytes += e->size;
    if (bytes > most) {
        qsort(all.at, all.len, sizeof *all.at, compare_age);
        for (uint32_t i = 0; i < all.len && bytes > most / 4 * 3; i++)
            if (unlink(all.at[i].path) == 0)
                bytes -= all.at[i].size;
    }
    arena_free(&a);
}

void cache_measure(const CudaCache *c, uint32_t *entries, uint64_t *bytes)
{
    Arena a = { 0 };
    CacheEntries all = { 0 };
    CacheEntry *e;
    list_entries(c, &a, &all);
    *entries = all.len;
    *bytes = 0;
    VEC_EACH (e, &all)
        *bytes += e->size;
    arena_free(&a);
}
