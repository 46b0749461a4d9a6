/// Tuning stores: JSON as it is read and written, files that are damaged or newer, many writers at
/// once, and what launches find in them.
#include "fake_driver.h"
#include "json.h"
#include "tune_book.h"
#include "tuned_sample.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/newt-store-XXXXXX";
static char store[64];

static void file_write(const char *text)
{
    FILE *file = fopen(store, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static const char *file_read(void)
{
    static char text[1 << 20];
    FILE *file = fopen(store, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static int reset(void **state)
{
    (void)state;
    fake_reset();
    unlink(store);
    unsetenv("NEWT_TUNE_DB");
    return 0;
}

/* ---- JSON ---- */

typedef struct JsonCase {
    const char *name, *text, *written;  // NULL: it is refused
} JsonCase;

static const JsonCase json_cases[] = {
    { "words", "[null,true , false]", "[\n  null,\n  true,\n  false\n]\n" },
    { "numbers_as_written", "[1.50, -0, 1e+5]", "[\n  1.50,\n  -0,\n  1e+5\n]\n" },
    { "order_of_members", "{\"b\":1,\"a\":{\"z\":[],\"y\":{}}}",
      "{\n  \"b\": 1,\n  \"a\": { \"z\": [], \"y\": {} }\n}\n" },
    { "escapes", "\"\\\"\\\\\\/\\n\\u0041\\u00e9\\u20ac\\ud83d\\ude00\"",
      "\"\\\"\\\\/\\u000aA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"\n" },
    { "the_later_of_two_members", "{\"a\":1,\"b\":2,\"a\":3}", "{\n  \"a\": 3,\n  \"b\": 2\n}\n" },
    { "nothing", "", NULL },
    { "half", "{\"a\":", NULL },
    { "two", "1 2", NULL },
    { "comma_at_the_end", "[1,]", NULL },
    { "no_comma", "[1 2]", NULL },
    { "bare_word", "{a:1}", NULL },
    { "half_a_surrogate", "\"\\ud83d\"", NULL },
    { "line_in_a_string", "\"a\nb\"", NULL },
    { "zero_in_a_string", "\"\\u0000\"", NULL },
    { "not_a_number", "1.2.3", NULL },
    { "open_string", "\"abc\\\"", NULL },
};

static void test_json(void **state)
{
    const JsonCase *c = *state;
    Json *tree = newti_json_read(c->text, strlen(c->text));
    if (!c->written) {
        assert_null(tree);
        return;
    }
    assert_non_null(tree);
    char *text = newti_json_write(tree);
    assert_string_equal(text, c->written);
    newti_json_free(tree);
    // What was written reads as the same.
    tree = newti_json_read(text, strlen(text));
    assert_non_null(tree);
    char *again = newti_json_write(tree);
    assert_string_equal(again, text);
    free(again);
    free(text);
    newti_json_free(tree);
}

static void test_json_nested_too_deep(void **state)
{
    (void)state;
    char text[4001];
    memset(text, '[', 2000);
    memset(text + 2000, ']', 2000);
    text[4000] = '\0';
    assert_null(newti_json_read(text, 4000));
    assert_null(newti_json_read(text, 2000));
    Json *tree = newti_json_read(text + 1950, 100);
    assert_non_null(tree);
    newti_json_free(tree);
}

static void test_json_editing(void **state)
{
    (void)state;
    Json *tree = newti_json_read("{\"a\":1,\"b\":2,\"c\":3}", 19);
    newti_json_remove(tree, "c");
    newti_json_remove(tree, "a");
    newti_json_remove(tree, "absent");
    assert_true(newti_json_put_text(tree, "d", "x"));
    assert_true(newti_json_put_number(tree, "b", 0.5));
    assert_true(newti_json_put_number(tree, "n", 1.0 / 0.0));
    assert_non_null(newti_json_member(tree, "d", JSON_OBJECT));
    char *text = newti_json_write(tree);
    assert_string_equal(text, "{\n  \"b\": 0.5,\n  \"d\": {},\n  \"n\": null\n}\n");
    free(text);
    newti_json_free(tree);
}

/* ---- files ---- */

/// Stores `us` for configuration FAST at a value of n.
static NewtStatus put(int64_t n, double us)
{
    TuneStore file;
    const TuneSubject subject = {
        .kernel = tuned_right, .gpu = "G", .arch = "sm_80", .driver = "D", .class = { n }
    };
    NewtStatus status = newti_store_begin(&file, store);
    if (status != NEWT_OK)
        return status;
    Json *entry = newti_store_entry(&file, &subject);
    const bool ok = entry && newti_json_put_text(entry, "best", "FAST") &&
                    newti_json_put_number(newti_json_member(entry, "us", JSON_OBJECT), "FAST", us);
    return newti_store_end(&file, ok);
}

static void test_damaged_files_are_written_anew(void **state)
{
    static const char *const damaged[] = { "",
                                           "{",
                                           "[1,2,3]",
                                           "\x7f"
                                           "ELF",
                                           "{\"schema\": \"1\"}",
                                           "{\"schema\": 1, \"kernels\": [{\"kernel\": " };
    (void)state;
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        file_write(damaged[i]);
        NewtDevice *device;
        assert_int_equal(newt_device_open("host", &device), NEWT_OK);
        assert_int_equal(newt_tune_load(device, store), NEWT_OK);
        newt_device_close(device);
        assert_int_equal(put(7, 1.5), NEWT_OK);
        assert_non_null(strstr(file_read(), "\"us\": { \"FAST\": 1.5 }"));
    }
}

static void test_newer_schema(void **state)
{
    (void)state;
    static const char newer[] = "{ \"schema\": 2, \"kernels\": 5 }";
    file_write(newer);
    assert_int_equal(put(7, 1.5), NEWT_BAD_FILE);
    assert_string_equal(file_read(), newer);
    setenv("NEWT_TUNE_DB", store, 1);
    NewtDevice *device;
    assert_int_equal(newt_device_open("host", &device), NEWT_OK);
    assert_int_equal(newt_tune_load(device, store), NEWT_BAD_FILE);
    assert_non_null(strstr(newt_last_error(), "has schema 2, and this libnewt knows 1"));
    newt_device_close(device);
}

static void test_unknown_keys_are_kept(void **state)
{
    (void)state;
    file_write(
        "{ \"made by\": \"hand\", \"schema\": 1, \"kernels\": [ { \"kernel\": \"right\","
        " \"source\": \"sha256:5eed\", \"mood\": [1], \"entries\": ["
        " { \"gpu\": \"G\", \"arch\": \"sm_80\", \"driver\": \"D\", \"class\": { \"n\": \"7\" },"
        " \"note\": \"keep\", \"us\": { \"SLOW\": 9.25 } } ] }, { \"kernel\": \"other\" } ] }");
    assert_int_equal(put(7, 1.5), NEWT_OK);
    const char *text = file_read();
    static const char *const kept[] = { "\"made by\": \"hand\"", "\"mood\": [1]",
                                        "\"note\": \"keep\"",
                                        "\"us\": { \"SLOW\": 9.25, \"FAST\": 1.5 }",
                                        "\"kernel\": \"other\"" };
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        assert_non_null(strstr(text, kept[i]));
}

static void test_file_of_one_kernel(void **state)
{
    (void)state;
    file_write(
        "{ \"schema\": 1, \"kernel\": \"right\", \"source\": \"sha256:5eed\", \"entries\": ["
        " { \"gpu\": \"G\", \"arch\": \"sm_80\", \"driver\": \"D\", \"class\": { \"n\": \"7\" },"
        " \"us\": { \"SLOW\": 9.25 } } ] }");
    assert_int_equal(put(7, 1.5), NEWT_OK);
    assert_non_null(strstr(file_read(), "\"us\": { \"SLOW\": 9.25, \"FAST\": 1.5 }"));
    assert_null(strstr(file_read(), "kernels"));
}

static void test_another_driver_forgets_times(void **state)
{
    (void)state;
    file_write(
        "{ \"schema\": 1, \"kernel\": \"right\", \"source\": \"sha256:5eed\", \"entries\": ["
        " { \"gpu\": \"G\", \"arch\": \"sm_80\", \"driver\": \"older\","
        " \"class\": { \"n\": \"7\" }, \"failed\": [\"FAST\"], \"us\": { \"SLOW\": 9 } } ] }");
    assert_int_equal(put(7, 1.5), NEWT_OK);
    assert_non_null(strstr(file_read(), "\"driver\": \"D\""));
    assert_null(strstr(file_read(), "SLOW"));
    assert_null(strstr(file_read(), "failed"));
}

enum { PROCESSES = 4, THREADS = 3, PUTS = 12 };

static void *put_many(void *at)
{
    const int64_t first = (int64_t)(intptr_t)at;
    for (int i = 0; i < PUTS; i++)
        if (put(first + i, (double)(first + i)) != NEWT_OK)
            return at;
    return NULL;
}

static int put_in_threads(int process)
{
    pthread_t threads[THREADS];
    int failed = 0;
    for (int i = 0; i < THREADS; i++) {
        void *first = (void *)(intptr_t)(1000 * (process * THREADS + i + 1));
        failed |= pthread_create(&threads[i], NULL, put_many, first);
    }
    for (int i = 0; i < THREADS; i++) {
        void *result = NULL;
        failed |= pthread_join(threads[i], &result) != 0 || result;
    }
    return failed;
}

static void count_entry(void *cx, const Json *kernel, const Json *entry)
{
    const char *n = newti_json_text(newti_json_get(entry, "class"), "n");
    (void)kernel;
    assert_non_null(n);
    assert_true(newti_json_number(newti_json_get(entry, "us"), "FAST", -1) == strtod(n, NULL));
    ++*(int *)cx;
}

static void test_many_writers(void **state)
{
    (void)state;
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0)
            _exit(put_in_threads(i));
    }
    for (int i = 0; i < PROCESSES; i++) {
        int ended;
        assert_int_equal(waitpid(children[i], &ended, 0), children[i]);
        assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
    }
    Json *root;
    int count = 0;
    assert_int_equal(newti_store_read(store, &root), NEWT_OK);
    newti_store_each(root, count_entry, &count);
    newti_json_free(root);
    assert_int_equal(count, PROCESSES * THREADS * PUTS);
}

/* ---- what launches find ---- */

#define ENTRY(gpu, arch, n, best)                                                                 \
    "{ \"gpu\": \"" gpu "\", \"arch\": \"" arch "\", \"driver\": \"D\", \"class\": { \"n\": \"" n \
    "\" }, \"best\": \"" best "\" }"
#define STORE(source, entries)                                                              \
    "{ \"schema\": 1, \"kernels\": [ { \"kernel\": \"right\", \"source\": \"sha256:" source \
    "\", \"entries\": [ " entries " ] } ] }"

typedef struct FindCase {
    const char *name, *text;
    int32_t n;
    int config;
} FindCase;

// The kernel's default is SLOW, 0; the device is "Fake 0", an sm_80.
static const FindCase find_cases[] = {
    { "exact", STORE("5eed", ENTRY("Fake 0", "sm_80", "100", "FAST")), 100, 1 },
    { "nearest_below",
      STORE("5eed",
            ENTRY("Fake 0", "sm_80", "100", "FAST") ", " ENTRY("Fake 0", "sm_80", "1000", "SLOW")),
      300, 1 },
    { "nearest_above",
      STORE("5eed",
            ENTRY("Fake 0", "sm_80", "100", "SLOW") ", " ENTRY("Fake 0", "sm_80", "1000", "FAST")),
      320, 1 },  // 10^2.5 = 316
    { "same_gpu_before_nearer",
      STORE("5eed",
            ENTRY("Fake 0", "sm_80", "9000", "FAST") ", " ENTRY("Other", "sm_80", "100", "SLOW")),
      100, 1 },
    { "same_architecture", STORE("5eed", ENTRY("Other", "sm_80", "100", "FAST")), 5, 1 },
    { "other_architecture", STORE("5eed", ENTRY("Fake 0", "sm_90a", "100", "FAST")), 100, 0 },
    { "other_source", STORE("beef", ENTRY("Fake 0", "sm_80", "100", "FAST")), 100, 0 },
    { "not_compiled", STORE("5eed", ENTRY("Fake 0", "sm_80", "100", "GONE")), 100, 0 },
    { "not_compiled_but_another",
      STORE("5eed",
            ENTRY("Fake 0", "sm_80", "100", "GONE") ", " ENTRY("Other", "sm_80", "7", "FAST")),
      100, 1 },
    { "zero_counts_as_one",
      STORE("5eed",
            ENTRY("Fake 0", "sm_80", "1", "FAST") ", " ENTRY("Fake 0", "sm_80", "3", "SLOW")),
      0, 1 },
    { "exact_before_equally_near",
      STORE("5eed",
            ENTRY("Fake 0", "sm_80", "0", "FAST") ", " ENTRY("Fake 0", "sm_80", "1", "SLOW")),
      0, 1 },
    { "nothing", "{ \"schema\": 1 }", 100, 0 },
};

static void test_find(void **state)
{
    const FindCase *c = *state;
    const TunedArgs args = { .n = c->n };
    NewtDevice *device;
    int config = -1;
    reset(NULL);
    file_write(c->text);
    // By the environment, and by the call.
    for (int way = 0; way < 2; way++) {
        if (way == 0)
            setenv("NEWT_TUNE_DB", store, 1);
        else
            unsetenv("NEWT_TUNE_DB");
        assert_int_equal(newt_device_open("cuda:0", &device), NEWT_OK);
        if (way == 1)
            assert_int_equal(newt_tune_load(device, store), NEWT_OK);
        assert_int_equal(newt_choose_(tuned_right, device, &args, &config), NEWT_OK);
        assert_int_equal(config, c->config);
        newt_device_close(device);
    }
}

/// A launch takes what was found, and where the device cannot run that, another.
static void test_launch_takes_it(void **state)
{
    (void)state;
    NewtDevice *device;
    const TunedArgs args = { .n = 100 };
    file_write("{ \"schema\": 1, \"kernel\": \"double\", \"source\": \"sha256:5eed\", \"entries\": "
               "[ " ENTRY("Fake 0", "sm_80", "100", "WRONG") ", " ENTRY("Fake 0", "sm_80", "9000",
                                                                        "LARGE") " ] }");
    assert_int_equal(newt_device_open("cuda:0", &device), NEWT_OK);
    assert_int_equal(newt_launch_(tuned_double, device, NULL, NULL, &args), NEWT_OK);
    assert_string_equal(fake.symbol, "slow");
    assert_int_equal(newt_tune_load(device, store), NEWT_OK);
    assert_int_equal(newt_launch_(tuned_double, device, NULL, NULL, &args), NEWT_OK);
    assert_string_equal(fake.symbol, "wrong");
    const TunedArgs large = { .n = 9000 };
    assert_int_equal(newt_launch_(tuned_double, device, NULL, NULL, &large), NEWT_OK);
    assert_string_equal(fake.symbol, "slow");
    assert_int_equal(newt_launch_config_(tuned_double, device, NULL, TUNED_FAST, NULL, &args),
                     NEWT_OK);
    assert_string_equal(fake.symbol, "fast");
    assert_int_equal(newt_launch_config_(tuned_double, device, NULL, TUNED_LARGE, NULL, &args),
                     NEWT_TOO_LARGE);
    assert_int_equal(newt_launch_config_(tuned_double, device, NULL, TUNED_COUNT, NULL, &args),
                     NEWT_BAD_ARGUMENT);
    assert_string_equal(newt_last_error(), "double has no configuration 6: it has 6");
    assert_int_equal(newt_launch_config_(tuned_double, device, NULL, -2, NULL, &args),
                     NEWT_BAD_ARGUMENT);
    assert_int_equal(newt_preload_config_(tuned_double, device, TUNED_FAST), NEWT_OK);
    assert_int_equal(newt_preload_config_(tuned_double, device, TUNED_LARGE), NEWT_TOO_LARGE);
    assert_int_equal(newt_preload_config_(tuned_double, device, -1), NEWT_OK);
    newt_device_close(device);
    assert_int_equal(fake.images, 0);
}

/// The table of the build, until a store says something.
static void test_built_table(void **state)
{
    static const struct {
        int32_t n;
        int config;
    } rows[] = { { 100, 1 }, { 5, 1 }, { 900, 1 }, { 1000, 0 }, { 9000, 0 }, { 100000, 0 } };
    (void)state;
    NewtDevice *device;
    int config = -1;
    assert_int_equal(newt_device_open("cuda:0", &device), NEWT_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const TunedArgs args = { .n = rows[i].n };
        assert_int_equal(newt_choose_(tuned_built, device, &args, &config), NEWT_OK);
        assert_int_equal(config, rows[i].config);
    }
    file_write("{ \"schema\": 1, \"kernel\": \"built\", \"source\": \"sha256:5eed\", \"entries\": "
               "[ " ENTRY("Other", "sm_80", "7", "SLOW") " ] }");
    assert_int_equal(newt_tune_load(device, store), NEWT_OK);
    const TunedArgs args = { .n = 100 };
    assert_int_equal(newt_choose_(tuned_built, device, &args, &config), NEWT_OK);
    assert_int_equal(config, 0);
    newt_device_close(device);
}

#define ROWS(tests, cases, function)                                                \
    for (size_t i = 0; i < sizeof(cases) / sizeof *(cases); i++)                    \
        (tests)[i] = (struct CMUnitTest)                                            \
        {                                                                           \
            (cases)[i].name, function, NULL, NULL, (void *)(uintptr_t) & (cases)[i] \
        }

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    snprintf(store, sizeof store, "%s/store.json", folder);
    struct CMUnitTest json[sizeof json_cases / sizeof *json_cases];
    struct CMUnitTest find[sizeof find_cases / sizeof *find_cases];
    ROWS(json, json_cases, test_json);
    ROWS(find, find_cases, test_find);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_nested_too_deep),
        cmocka_unit_test(test_json_editing),
        cmocka_unit_test_setup(test_damaged_files_are_written_anew, reset),
        cmocka_unit_test_setup(test_newer_schema, reset),
        cmocka_unit_test_setup(test_unknown_keys_are_kept, reset),
        cmocka_unit_test_setup(test_file_of_one_kernel, reset),
        cmocka_unit_test_setup(test_another_driver_forgets_times, reset),
        cmocka_unit_test_setup(test_many_writers, reset),
        cmocka_unit_test_setup(test_launch_takes_it, reset),
        cmocka_unit_test_setup(test_built_table, reset),
    };
    const int failed = cmocka_run_group_tests_name("json", json, NULL, NULL) +
                       cmocka_run_group_tests_name("find", find, NULL, NULL) +
                       cmocka_run_group_tests_name("store", tests, NULL, NULL);
    fake_reset();
    unlink(store);
    char lock[80];
    snprintf(lock, sizeof lock, "%s.lock", store);
    unlink(lock);
    rmdir(folder);
    return failed;
}
