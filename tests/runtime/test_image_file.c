/// Images in files: where they are looked for, and which files are taken. The fake driver runs
/// nothing, so what counts is whether a launch gets that far, and the bytes that were loaded.
#include "fake_driver.h"
#include <newt/module.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

// FNV-1a of "foobar", from the authors' list of test vectors.
#define FOOBAR UINT64_C(0x85944171f73967e8)

enum { CUBIN_SIZE = 6, PTX_SIZE = 7 };

static const NewtImage images[] = {
    { NEWT_IMAGE_CUBIN, NEWT_SET_COMMON, 80, NULL, CUBIN_SIZE, "0", "k.sm_80.cubin", FOOBAR },
    { NEWT_IMAGE_PTX, NEWT_SET_COMMON, 70, NULL, PTX_SIZE, "0", "k.compute_70.ptx", FOOBAR },
};
static const NewtEntry entries[] = {
    { .symbol = "k", .image = 0, .threads = 32 },
    { .symbol = "k", .image = 1, .threads = 32 },
};
static const NewtVariant variants[] = { { .name = "generic", .entries = entries, .entry_count = 2 } };
static const NewtModuleDesc module;
static const NewtKernel kernel = { &module, "k", "k.newt:1", NULL, variants, 0, 1, NULL, NULL };
static const NewtModuleDesc module = { NEWT_ABI, 2, 1, 11, "k.newt", "0", images, &kernel };

static char root[] = "/tmp/newt_image_file_XXXXXX";

/// Puts `text` into a file of the folder `dir` of the test's own.
static void put(const char *dir, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, dir);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/%s/%s", root, dir, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(root))
        return -1;
    put("good", "k.sm_80.cubin", "foobar");
    put("good", "k.compute_70.ptx", "foobar");
    put("longer", "k.sm_80.cubin", "foobar.");
    put("shorter", "k.sm_80.cubin", "fooba");
    put("empty_file", "k.sm_80.cubin", "");
    put("other", "k.sm_80.cubin", "foobaz");
    put("nothing", "unrelated", "");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command);
}

/// "good:other" as folders of the test's own; a name that begins with a slash stays.
static const char *list_of(const char *names, char *room, size_t size)
{
    size_t used = 0;
    room[0] = '\0';
    for (const char *at = names; at && *at;) {
        size_t len = strcspn(at, ":");
        bool own = *at != '/' && len > 0;
        used += (size_t)snprintf(room + used, size - used, "%s%s%s%.*s", used ? ":" : "",
                                 own ? root : "", own ? "/" : "", (int)len, at);
        at += len + (at[len] == ':');
    }
    return room;
}

typedef struct PathCase {
    const char *name;
    const char *given;        // to newt_image_path(); NULL: nothing
    const char *environment;  // NEWT_IMAGE_PATH; NULL: not set
    int minor;                // of the device, 8.minor or 7.minor
    int major;
    NewtStatus status;
    const char *text;  // in the error
} PathCase;

static const PathCase cases[] = {
    { "given", "good", NULL, 0, 8, NEWT_OK, NULL },
    { "the second one", "nothing:/nonexistent::good", NULL, 0, 8, NEWT_OK, NULL },
    { "environment", NULL, "nothing:good", 0, 8, NEWT_OK, NULL },
    { "given before environment", "good", "other", 0, 8, NEWT_OK, NULL },
    { "given alone counts", "nothing", "good", 0, 8, NEWT_NO_IMAGE, "cannot read the image" },
    { "ptx", "good", NULL, 5, 7, NEWT_OK, NULL },
    { "beside the program", NULL, NULL, 0, 8, NEWT_NO_IMAGE, "k.sm_80.cubin in '/" },
    { "nowhere", "/nonexistent", NULL, 0, 8, NEWT_NO_IMAGE, "NEWT_IMAGE_PATH gives its folder" },
    { "longer", "longer", NULL, 0, 8, NEWT_BAD_IMAGE, "not the image that newtc wrote" },
    { "shorter", "shorter:good", NULL, 0, 8, NEWT_BAD_IMAGE, "shorter/k.sm_80.cubin is not" },
    { "empty", "empty_file", NULL, 0, 8, NEWT_BAD_IMAGE, "not the image" },
    { "other bytes", "other", NULL, 0, 8, NEWT_BAD_IMAGE, "not the image" },
};

static void test_paths(void **state)
{
    (void)state;
    const NewtGrid grid = { 1, 1, 1 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const PathCase *c = &cases[i];
        char room[512];
        NewtDevice *device;
        fake_reset();
        fake.major = c->major;
        fake.minor = c->minor;
        if (c->environment)
            setenv("NEWT_IMAGE_PATH", list_of(c->environment, room, sizeof room), 1);
        else
            unsetenv("NEWT_IMAGE_PATH");
        assert_int_equal(newt_device_open("cuda:0", &device), NEWT_OK);
        setenv("NEWT_IMAGE_PATH", "/nonexistent", 1);  // too late
        assert_int_equal(newt_image_path(c->given ? list_of(c->given, room, sizeof room) : NULL),
                         NEWT_OK);
        NewtStatus status = newt_launch_(&kernel, device, NULL, &grid, NULL);
        if (status != c->status)
            print_error("%s: %s\n", c->name, newt_last_error());
        assert_int_equal(status, c->status);
        if (c->text)
            assert_non_null(strstr(newt_last_error(), c->text));
        else
            assert_string_equal(fake.image, "foobar");
        newt_device_close(device);
        assert_int_equal(fake.images, 0);
    }
    assert_int_equal(newt_image_path(NULL), NEWT_OK);
}

/// A failed look for a file leaves the kernel cold: the next launch looks again.
static void test_second_try(void **state)
{
    (void)state;
    const NewtGrid grid = { 1, 1, 1 };
    char room[512];
    NewtDevice *device;
    fake_reset();
    assert_int_equal(newt_device_open("cuda:0", &device), NEWT_OK);
    assert_int_equal(newt_image_path("/nonexistent"), NEWT_OK);
    assert_int_equal(newt_launch_(&kernel, device, NULL, &grid, NULL), NEWT_NO_IMAGE);
    assert_int_equal(newt_image_path(list_of("good", room, sizeof room)), NEWT_OK);
    assert_int_equal(newt_launch_(&kernel, device, NULL, &grid, NULL), NEWT_OK);
    newt_device_close(device);
    assert_int_equal(newt_image_path(NULL), NEWT_OK);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_second_try),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
