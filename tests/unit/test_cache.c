/// test_cache.c - the cache of images: what is kept comes back whole, every input of a compile is
/// part of the key, and it stays within its bounds.
#include "backend/cuda/cache.h"
#include "support/fs.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct Fixture {
    Arena a;
    char dir[64];
    CudaCache cache;
    Nvrtc nvrtc;
    CudaRequest request;
} Fixture;

static int set_up(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    snprintf(f->dir, sizeof f->dir, "/tmp/newt-cache-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    cache_open(&f->cache, &f->a, f->dir);
    assert_string_equal(f->cache.dir, f->dir);
    f->nvrtc = (Nvrtc){ .major = 13 };
    f->request = (CudaRequest){ .name = "k.cu", .source = "text", .target = target_find("sm_80") };
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    Fixture *f = *state;
    DIR *d = opendir(f->dir);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        unlink(arena_printf(&f->a, "%s/%s", f->dir, e->d_name));
    closedir(d);
    rmdir(f->dir);
    arena_free(&f->a);
    free(f);
    return 0;
}

static void keep(Fixture *f, const char *data, size_t size)
{
    const CudaImage image = { .ok = true, .data = data, .size = size, .log = "Used 7 registers\n" };
    cache_store(&f->cache, &f->nvrtc, &f->request, &image);
}

static bool finds(Fixture *f)
{
    CudaImage image;
    return cache_find(&f->cache, &f->nvrtc, &f->request, &f->a, &image);
}

static void test_comes_back_whole(void **state)
{
    Fixture *f = *state;
    static const char data[] = "cubin\0with\nbytes";
    CudaImage image;
    assert_false(finds(f));
    keep(f, data, sizeof data);
    assert_true(cache_find(&f->cache, &f->nvrtc, &f->request, &f->a, &image));
    assert_true(image.ok);
    assert_int_equal(image.size, sizeof data);
    assert_memory_equal(image.data, data, sizeof data);
    assert_string_equal(image.log, "Used 7 registers\n");
    assert_int_equal(image.usage.registers, 7);
}

static void test_failures_are_not_kept(void **state)
{
    Fixture *f = *state;
    const CudaImage image = { .ok = false, .log = "error" };
    cache_store(&f->cache, &f->nvrtc, &f->request, &image);
    assert_false(finds(f));
}

/// Each line changes one thing that the image depends on.
static void test_every_input_is_in_the_key(void **state)
{
    Fixture *f = *state;
    static const char *const one[] = { "-DA", NULL }, *const other[] = { "-DB", NULL };
    const CudaRequest first = f->request;
    keep(f, "x", 1);
    const CudaRequest changed[] = {
        { .name = "other.cu", .source = "text", .target = first.target },
        { .name = "k.cu", .source = "text ", .target = first.target },
        { .name = "k.cutext", .source = "", .target = first.target },
        { .name = "k.cu", .source = "text", .target = target_find("sm_90a") },
        { .name = "k.cu", .source = "text", .target = first.target, .ptx = true },
        { .name = "k.cu", .source = "text", .target = first.target, .line_info = true },
        { .name = "k.cu", .source = "text", .target = first.target, .folder = "/a" },
        { .name = "k.cu", .source = "text", .target = first.target, .unoptimised = true },
        { .name = "k.cu", .source = "text", .target = first.target, .nvrtc_options = one },
        { .name = "k.cu", .source = "text", .target = first.target, .nvrtc_options = other },
        { .name = "k.cu", .source = "text", .target = first.target, .ptxas_options = one },
    };
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++) {
        f->request = changed[i];
        if (finds(f))
            fail_msg("request %zu gets the image of another", i);
        keep(f, "y", 1);
        assert_true(finds(f));
    }
    f->request = first;
    f->nvrtc.minor = 1;
    assert_false(finds(f));
    f->nvrtc.minor = 0;
    assert_true(finds(f));
}

/// A damaged byte anywhere, or an end anywhere: the entry counts as missing.
static void test_damage_is_found(void **state)
{
    Fixture *f = *state;
    keep(f, "some bytes of an image", 22);
    DIR *d = opendir(f->dir);
    assert_non_null(d);
    const char *path = NULL, *why = NULL;
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        if (e->d_name[0] != '.')
            path = arena_printf(&f->a, "%s/%s", f->dir, e->d_name);
    closedir(d);
    size_t len;
    const char *text = fs_read(&f->a, path, &len, &why);
    assert_non_null(text);
    for (size_t i = 0; i < 2 * len; i++) {
        char *copy = arena_strndup(&f->a, text, len);
        copy[i % len] ^= i < len ? 0x10 : 0;
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        fwrite(copy, 1, i < len ? len : i - len, file);
        fclose(file);
        if (finds(f))
            fail_msg("byte %zu of %zu: the damage is not found", i, len);
    }
}

static void test_stays_within_bounds(void **state)
{
    Fixture *f = *state;
    static char data[10000];
    uint32_t entries;
    uint64_t bytes;
    for (int i = 0; i < 10; i++) {  // ten minutes between two
        char name[16];
        snprintf(name, sizeof name, "k%d.cu", i);
        f->request.name = arena_strndup(&f->a, name, strlen(name));
        keep(f, data, sizeof data);
        DIR *d = opendir(f->dir);
        assert_non_null(d);
        for (struct dirent *e; (e = readdir(d)) != NULL;) {
            struct stat info;
            const char *path = arena_printf(&f->a, "%s/%s", f->dir, e->d_name);
            if (e->d_name[0] == '.' || stat(path, &info) != 0)
                continue;
            struct timespec times[2] = { info.st_mtim, info.st_mtim };
            times[1].tv_sec -= 600;
            assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
        }
        closedir(d);
    }
    f->request.name = "k0.cu";  // the oldest, but used now
    assert_true(finds(f));
    cache_measure(&f->cache, &entries, &bytes);
    assert_int_equal(entries, 10);
    cache_trim(&f->cache, bytes);
    cache_measure(&f->cache, &entries, &bytes);
    assert_int_equal(entries, 10);
    cache_trim(&f->cache, bytes - 1);
    cache_measure(&f->cache, &entries, &bytes);
    assert_int_equal(entries, 7);
    assert_true(finds(f));
    f->request.name = "k1.cu";
    assert_false(finds(f));
    f->request.name = "k9.cu";
    assert_true(finds(f));
}

static void test_off_is_quiet(void **state)
{
    Fixture *f = *state;
    uint32_t entries;
    uint64_t bytes;
    cache_open(&f->cache, &f->a, "/proc/nowhere");
    assert_null(f->cache.dir);
    assert_non_null(strstr(f->cache.why_off, "/proc/nowhere"));
    keep(f, "x", 1);
    assert_false(finds(f));
    cache_trim(&f->cache, 0);
    cache_measure(&f->cache, &entries, &bytes);
    assert_int_equal(entries, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_comes_back_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failures_are_not_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_every_input_is_in_the_key, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damage_is_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stays_within_bounds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_off_is_quiet, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("cache", tests, NULL, NULL);
}
