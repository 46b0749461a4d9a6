/// The tuner: right, wrong, crashing and hanging configurations, on the host and on the fake GPU;
/// what it leaves alone, what it stores, and that a process may be killed at any moment.
#include "fake_driver.h"
#include "json.h"
#include "tuned_sample.h"
#include <newt/newt.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { N = 1000 };

static char folder[] = "/tmp/newt-tune-XXXXXX";
static char store[64];

typedef struct Seen {
    int calls;
    char last[64];
    float us[TUNED_COUNT];  // by the text "W=NAME" of the first kernel's configurations
} Seen;

static void see(void *user, int done, int total, const char *config, float us)
{
    static const char *const texts[] = { "W=SLOW",  "W=FAST", "W=WRONG",
                                         "W=CRASH", "W=HANG", "W=LARGE" };
    Seen *seen = user;
    seen->calls++;
    assert_in_range(done, 1, total);
    snprintf(seen->last, sizeof seen->last, "%s", config);
    for (int i = 0; i < TUNED_COUNT; i++)
        if (strcmp(config, texts[i]) == 0)
            seen->us[i] = us;
}

/// As the tests' GPU does it: what comes of a kernel shows when the stream is asked.
static void run(const char *symbol, void **parameters, const unsigned grid[3], float *milliseconds)
{
    tuned_run(symbol, parameters, grid, milliseconds);
    fake.query = strcmp(symbol, "hang") == 0    ? CUDA_NOT_READY
                 : strcmp(symbol, "crash") == 0 ? CUDA_ILLEGAL_ADDRESS
                                                : CUDA_OK;
}

static NewtDevice *open_named(const char *name)
{
    NewtDevice *device = NULL;
    assert_int_equal(newt_device_open(name, &device), NEWT_OK);
    return device;
}

typedef struct Buffers {
    NewtDevice *device;
    float *x, *out;
    int32_t *count;
    TunedArgs args;
} Buffers;

static Buffers buffers_new(NewtDevice *device)
{
    Buffers b = { .device = device };
    assert_int_equal(newt_alloc(device, N * sizeof *b.x, (void **)&b.x), NEWT_OK);
    assert_int_equal(newt_alloc(device, N * sizeof *b.out, (void **)&b.out), NEWT_OK);
    assert_int_equal(newt_alloc(device, sizeof *b.count, (void **)&b.count), NEWT_OK);
    for (int i = 0; i < N; i++) {
        b.x[i] = (float)i - 300.25F;
        b.out[i] = 7;
    }
    *b.count = 42;
    b.args = (TunedArgs){ b.x, b.out, b.count, N };
    return b;
}

/// Tuning works on copies.
static void check_untouched(const Buffers *b)
{
    for (int i = 0; i < N; i++) {
        assert_true(b->x[i] == (float)i - 300.25F);
        assert_true(b->out[i] == 7);
    }
    assert_int_equal(*b->count, 42);
}

static void buffers_free(Buffers *b)
{
    newt_free(b->device, b->x);
    newt_free(b->device, b->out);
    newt_free(b->device, b->count);
    newt_device_close(b->device);
}

static int reset(void **state)
{
    (void)state;
    fake_reset();
    fake.run = run;
    unlink(store);
    unsetenv("NEWT_TUNE_DB");
    unsetenv("NEWT_LOG");
    return 0;
}

/// The entry of a kernel in the store's file; it must be well formed.
static const Json *entry_of(Json **root, const char *kernel)
{
    static char text[65536];
    FILE *file = fopen(store, "r");
    assert_non_null(file);
    const size_t len = fread(text, 1, sizeof text, file);
    fclose(file);
    *root = newti_json_read(text, len);
    assert_non_null(*root);
    const Json *kernels = newti_json_get(*root, "kernels");
    for (const Json *k = kernels ? kernels->first : NULL; k; k = k->next)
        if (strcmp(newti_json_text(k, "kernel"), kernel) == 0)
            return newti_json_get(k, "entries")->first;
    return NULL;
}

static void check_lists(const Json *entry, const char *list, const char *name)
{
    const Json *at = newti_json_get(entry, list);
    assert_non_null(at);
    assert_non_null(at->first);
    assert_string_equal(at->first->text, name);
    assert_ptr_equal(at->first, at->last);
}

/* ---- what wins ---- */

static void test_host_finds_the_fastest_right_one(void **state)
{
    (void)state;
    Buffers b = buffers_new(open_named("host"));
    Seen seen = { 0 };
    NewtTuneResult result;
    const NewtTuneOptions options = {
        .size = sizeof options, .store = store, .progress = see, .user = &seen, .timeout = 0.5
    };
    int config = -1;
    assert_int_equal(newt_choose_(tuned_double, b.device, &b.args, &config), NEWT_OK);
    assert_int_equal(config, TUNED_SLOW);
    assert_int_equal(newt_tune_(tuned_double, b.device, NULL, &b.args, &options, &result), NEWT_OK);
    assert_int_equal(result.config, TUNED_FAST);
    assert_int_equal(result.tried, TUNED_COUNT);
    assert_int_equal(result.wrong, 1);
    assert_int_equal(result.failed, 2);
    assert_int_equal(seen.calls, TUNED_COUNT);
    assert_true(seen.us[TUNED_FAST] > 0 && seen.us[TUNED_FAST] < seen.us[TUNED_SLOW]);
    assert_true(result.microseconds == seen.us[TUNED_FAST]);
    assert_true(seen.us[TUNED_WRONG] == -1);
    assert_true(seen.us[TUNED_CRASH] == -2);
    assert_true(seen.us[TUNED_HANG] == -2);
    check_untouched(&b);
    assert_int_equal(newt_choose_(tuned_double, b.device, &b.args, &config), NEWT_OK);
    assert_int_equal(config, TUNED_FAST);

    Json *root;
    const Json *entry = entry_of(&root, "double");
    assert_string_equal(newti_json_text(entry, "best"), "FAST");
    assert_string_equal(newti_json_text(entry, "arch"), "host");
    assert_string_equal(newti_json_text(newti_json_get(entry, "class"), "n"), "1000");
    assert_string_equal(newti_json_text(newti_json_get(entry, "configs"), "FAST"), "W=FAST");
    check_lists(entry, "wrong", "WRONG");
    assert_non_null(newti_json_get(newti_json_get(entry, "us"), "SLOW"));
    assert_null(newti_json_get(newti_json_get(entry, "us"), "WRONG"));
    assert_null(newti_json_get(entry, "running"));
    newti_json_free(root);

    // What the store knows is not measured again.
    seen = (Seen){ 0 };
    assert_int_equal(newt_tune_(tuned_double, b.device, NULL, &b.args, &options, &result), NEWT_OK);
    assert_int_equal(result.tried, 0);
    assert_int_equal(result.config, TUNED_FAST);
    assert_int_equal(result.wrong, 1);
    assert_int_equal(seen.calls, TUNED_COUNT);
    buffers_free(&b);
}

typedef struct WinCase {
    const char *name;
    const NewtKernel *const *kernel;
    NewtStatus status;
    int config, wrong;
    const char *error;
} WinCase;

static const WinCase win_cases[] = {
    { "a_wrong_default_is_outvoted", &tuned_outvoted, NEWT_OK, 2, 1, NULL },
    { "two_that_differ_give_no_winner", &tuned_split, NEWT_WRONG_RESULT, -1, 0,
      "split: configurations WRONG and FAST give different results on the host" },
    { "all_crash", &tuned_hopeless, NEWT_WRONG_RESULT, -1, 0, "hopeless: the reference" },
    { "right_once_or_outside_is_wrong", &tuned_careless, NEWT_OK, 0, 2, NULL },
    { "in_place", &tuned_in_place, NEWT_OK, 0, 0, NULL },
};

static void test_who_wins(void **state)
{
    const WinCase *c = *state;
    reset(NULL);
    Buffers b = buffers_new(open_named("host"));
    NewtTuneResult result;
    const NewtTuneOptions options = { .size = sizeof options, .timeout = 0.5 };
    assert_int_equal(newt_tune_(*c->kernel, b.device, NULL, &b.args, &options, &result), c->status);
    assert_int_equal(result.config, c->config);
    assert_int_equal(result.wrong, c->wrong);
    if (c->error)
        assert_non_null(strstr(newt_last_error(), c->error));
    check_untouched(&b);
    buffers_free(&b);
}

/// One buffer as input and output: the copies must be one buffer too.
static void test_aliases(void **state)
{
    (void)state;
    Buffers b = buffers_new(open_named("host"));
    NewtTuneResult result;
    b.args.out = b.x;
    assert_int_equal(newt_tune_(tuned_right, b.device, NULL, &b.args, NULL, &result), NEWT_OK);
    assert_int_equal(result.config, TUNED_FAST);
    check_untouched(&b);
    buffers_free(&b);
}

/* ---- arguments ---- */

static NewtStatus doubled_by_caller(void *user, NewtDevice *device, const void *args)
{
    const TunedArgs *a = args;
    (void)device;
    ++*(int *)user;
    for (int i = 0; i < a->n; i++)
        a->out[i] = a->x[i] + a->x[i];
    *a->count = a->n;
    return NEWT_OK;
}

static void test_reference_of_the_caller(void **state)
{
    (void)state;
    Buffers b = buffers_new(open_named("host"));
    NewtTuneResult result;
    int calls = 0;
    const NewtTuneOptions options = {
        .size = sizeof options, .timeout = 0.5, .reference = doubled_by_caller, .user = &calls
    };
    assert_int_equal(newt_tune_(tuned_split, b.device, NULL, &b.args, &options, &result), NEWT_OK);
    assert_int_equal(result.config, 1);
    assert_int_equal(result.wrong, 1);
    assert_int_equal(calls, 1);
    check_untouched(&b);
    buffers_free(&b);
}

static void test_sizes(void **state)
{
    (void)state;
    Buffers b = buffers_new(open_named("host"));
    NewtTuneResult result;
    float x[N], out[N];
    int32_t count = 0;
    for (int i = 0; i < N; i++)
        x[i] = (float)i;
    const TunedArgs args = { x, out, &count, N };
    const size_t bytes[] = { sizeof x, sizeof out, sizeof count };
    NewtTuneOptions options = { .size = sizeof options };
    assert_int_equal(newt_tune_(tuned_right, b.device, NULL, &args, &options, &result),
                     NEWT_BAD_ARGUMENT);
    assert_string_equal(
        newt_last_error(),
        "right: the size of x's buffer is not known: allocate it with newt_alloc(), "
        "or give its size in NewtTuneOptions.bytes");
    options.bytes = bytes;
    assert_int_equal(newt_tune_(tuned_right, b.device, NULL, &args, &options, &result), NEWT_OK);
    assert_int_equal(result.config, TUNED_FAST);
    buffers_free(&b);
}

static void test_bad_arguments(void **state)
{
    (void)state;
    Buffers b = buffers_new(open_named("host"));
    NewtTuneResult result;
    NewtTuneOptions options = { 0 };
#define TUNE(device, args, options, result) \
    newt_tune_(tuned_right, device, NULL, args, options, result)
    assert_int_equal(TUNE(b.device, &b.args, &options, &result), NEWT_BAD_ARGUMENT);
    assert_non_null(strstr(newt_last_error(), "NewtTuneOptions.size is 0"));
    options = (NewtTuneOptions){ .size = sizeof options, .seconds = -1 };
    assert_int_equal(TUNE(b.device, &b.args, &options, &result), NEWT_BAD_ARGUMENT);
    assert_int_equal(TUNE(NULL, &b.args, NULL, &result), NEWT_BAD_ARGUMENT);
    assert_int_equal(TUNE(b.device, NULL, NULL, &result), NEWT_BAD_ARGUMENT);
    assert_int_equal(TUNE(b.device, &b.args, NULL, NULL), NEWT_BAD_ARGUMENT);
    options =
        (NewtTuneOptions){ .size = sizeof options, .store = "/nonexistent/folder/store.json" };
    assert_int_equal(TUNE(b.device, &b.args, &options, &result), NEWT_BAD_FILE);
    assert_int_equal(newt_tune_load(b.device, NULL), NEWT_BAD_ARGUMENT);
    assert_int_equal(newt_tune_load(NULL, store), NEWT_BAD_ARGUMENT);
#undef TUNE
    buffers_free(&b);
}

/// The default is measured whatever the budget is, and what was not measured is no loser.
static void test_budget(void **state)
{
    (void)state;
    Buffers b = buffers_new(open_named("host"));
    NewtTuneResult result;
    NewtTuneOptions options = { .size = sizeof options, .seconds = 1e-6, .store = store };
    assert_int_equal(newt_tune_(tuned_right, b.device, NULL, &b.args, &options, &result), NEWT_OK);
    assert_int_equal(result.tried, 1);
    assert_int_equal(result.config, TUNED_SLOW);
    options.seconds = 0;
    assert_int_equal(newt_tune_(tuned_right, b.device, NULL, &b.args, &options, &result), NEWT_OK);
    assert_int_equal(result.tried, 1);
    assert_int_equal(result.config, TUNED_FAST);
    options.again = 1;
    assert_int_equal(newt_tune_(tuned_right, b.device, NULL, &b.args, &options, &result), NEWT_OK);
    assert_int_equal(result.tried, 2);
    buffers_free(&b);
}

/// A reference that is to be kept is computed also where the store knows all verdicts, and then used.
static void test_kept_reference(void **state)
{
    (void)state;
    Buffers b = buffers_new(open_named("host"));
    NewtTuneResult result;
    NewtTuneReference *kept = NULL;
    NewtTuneOptions options = { .size = sizeof options, .store = store };
    assert_int_equal(newt_tune_(tuned_right, b.device, NULL, &b.args, &options, &result), NEWT_OK);
    options.kept = &kept;
    assert_int_equal(newt_tune_(tuned_right, b.device, NULL, &b.args, &options, &result), NEWT_OK);
    assert_int_equal(result.tried, 0);
    assert_non_null(kept);
    const NewtTuneReference *first = kept;
    options.again = 1;
    options.best = 1e-3;  // far below what is measured: fewer runs, the same verdicts
    assert_int_equal(newt_tune_(tuned_right, b.device, NULL, &b.args, &options, &result), NEWT_OK);
    assert_int_equal(result.tried, 2);
    assert_int_equal(result.config, TUNED_FAST);
    assert_ptr_equal(kept, first);
    newt_tune_reference_free(kept);
    options.best = -1;
    options.kept = NULL;
    assert_int_equal(newt_tune_(tuned_right, b.device, NULL, &b.args, &options, &result),
                     NEWT_BAD_ARGUMENT);
    buffers_free(&b);
}

/* ---- GPUs ---- */

static void test_gpu_goes_on_behind_a_fault(void **state)
{
    (void)state;
    NewtTuneResult result;
    Seen seen = { 0 };
    const NewtTuneOptions options = {
        .size = sizeof options, .store = store, .progress = see, .user = &seen, .timeout = 0.05
    };
    static const struct {
        NewtStatus status;
        const char *error;
    } runs[] = { { NEWT_KERNEL_FAULT, ", in configuration CRASH" },
                 { NEWT_KERNEL_FAULT, ", in configuration HANG" },
                 { NEWT_OK, NULL } };
    // A lost context ends the process; here the device is opened anew, as the next process would.
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        fake.query = CUDA_OK;
        Buffers b = buffers_new(open_named("cuda:0"));
        const NewtStatus status =
            newt_tune_(tuned_double, b.device, NULL, &b.args, &options, &result);
        assert_int_equal(status, runs[i].status);
        if (runs[i].error)
            assert_non_null(strstr(newt_last_error(), runs[i].error));
        else
            check_untouched(&b);
        buffers_free(&b);
        if (status != NEWT_OK)
            fake_reset(), fake.run = run;
    }
    assert_int_equal(result.config, TUNED_FAST);
    assert_true(result.microseconds == 1000.0F);  // of the fake's events
    assert_int_equal(result.wrong, 1);
    assert_int_equal(result.failed, 3);
    assert_true(seen.us[TUNED_SLOW] == 4000.0F);
    assert_true(seen.us[TUNED_LARGE] == -3);
    assert_int_equal(fake.allocations, 0);
    assert_int_equal(fake.events, 0);
    assert_int_equal(fake_pushed, 0);

    Json *root;
    const Json *entry = entry_of(&root, "double");
    assert_string_equal(newti_json_text(entry, "gpu"), "Fake 0");
    assert_string_equal(newti_json_text(entry, "driver"), "CUDA 13.0");
    check_lists(entry, "too_large", "LARGE");
    newti_json_free(root);
}

/// Where the host would take too long, it checks some programs of the most general GPU code.
static void test_gpu_samples(void **state)
{
    (void)state;
    NewtTuneResult result;
    Buffers b = buffers_new(open_named("cuda:0"));
    const NewtTuneOptions options = { .size = sizeof options, .seconds = 0.004 };
    b.args.count = NULL;  // which all programs add to
    assert_int_equal(newt_tune_(tuned_long, b.device, NULL, &b.args, &options, &result), NEWT_OK);
    assert_int_equal(result.config, TUNED_SLOW);  // the budget went to the reference
    check_untouched(&b);
    buffers_free(&b);
}

static void run_badly(const char *symbol, void **parameters, const unsigned grid[3],
                      float *milliseconds)
{
    TunedArgs a;
    memcpy(&a.out, parameters[1], sizeof a.out);
    tuned_run(symbol, parameters, grid, milliseconds);
    for (int i = 0; i < N; i++)
        a.out[i] += 100;
}

static void test_gpu_samples_find_a_wrong_reference(void **state)
{
    (void)state;
    NewtTuneResult result;
    Buffers b = buffers_new(open_named("cuda:0"));
    const NewtTuneOptions options = { .size = sizeof options, .seconds = 0.004 };
    b.args.count = NULL;
    fake.run = run_badly;
    assert_int_equal(newt_tune_(tuned_long, b.device, NULL, &b.args, &options, &result),
                     NEWT_WRONG_RESULT);
    assert_non_null(strstr(newt_last_error(), "long: the most general code gives"));
    buffers_free(&b);
}

/* ---- killed ---- */

/// Processes tune and are killed at random; what one has stored stays.
static void test_killed_at_any_moment(void **state)
{
    (void)state;
    unsigned random = (unsigned)time(NULL);
    size_t known = 0;
    for (int round = 0; round < 40; round++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            Buffers b = buffers_new(open_named("host"));
            NewtTuneResult result;
            const NewtTuneOptions options = {
                .size = sizeof options, .store = store, .again = round % 2, .timeout = 0.2
            };
            for (b.args.n = 100; b.args.n < N; b.args.n += 100)
                if (newt_tune_(tuned_right, b.device, NULL, &b.args, &options, &result) != NEWT_OK)
                    _exit(1);
            _exit(0);
        }
        random = random * 1664525U + 1013904223U;
        const struct timespec pause = { .tv_nsec = (long)(random >> 8) % 200 * 1000000 };
        nanosleep(&pause, NULL);
        kill(child, SIGKILL);
        int ended;
        assert_int_equal(waitpid(child, &ended, 0), child);
        assert_true(WIFSIGNALED(ended) || WEXITSTATUS(ended) == 0);
        if (access(store, F_OK) != 0)
            continue;
        Json *root;
        size_t now = 0;
        for (const Json *e = entry_of(&root, "right"); e; e = e->next)
            now += newti_json_get(e, "us") != NULL;
        newti_json_free(root);
        assert_true(now >= known);
        known = now;
    }
    assert_true(known > 0);
}

/// Starts a process whose first configuration hangs, and kills it there.
static void kill_in_the_first_configuration(void)
{
    const pid_t child = fork();
    if (child == 0) {
        fake.run = NULL;
        Buffers b = buffers_new(open_named("cuda:0"));
        NewtTuneResult result;
        const NewtTuneOptions options = { .size = sizeof options,
                                          .store = store,
                                          .timeout = 60,
                                          .reference = doubled_by_caller,
                                          .user = &(int){ 0 } };
        fake.query = CUDA_NOT_READY;
        _exit((int)newt_tune_(tuned_right, b.device, NULL, &b.args, &options, &result));
    }
    bool is_running = false;
    for (int i = 0; i < 1000 && !is_running; i++) {
        const struct timespec pause = { .tv_nsec = 10000000 };
        Json *root = NULL;
        nanosleep(&pause, NULL);
        const Json *entry = access(store, F_OK) == 0 ? entry_of(&root, "right") : NULL;
        const Json *running = newti_json_get(entry, "running");
        is_running = running && newti_json_number(running, "pid", 0) == (double)child;
        if (is_running)
            assert_string_equal(newti_json_text(running, "config"), "SLOW");
        newti_json_free(root);
    }
    assert_true(is_running);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/// A configuration that takes two processes along is not tried by the next one; after one of them
/// it is, since somebody may have killed it.
static void check_after_deaths(int deaths, int tried, int failed)
{
    NewtTuneResult result;
    const NewtTuneOptions options = { .size = sizeof options, .store = store };
    for (int i = 0; i < deaths; i++)
        kill_in_the_first_configuration();
    Buffers b = buffers_new(open_named("cuda:0"));
    assert_int_equal(newt_tune_(tuned_right, b.device, NULL, &b.args, &options, &result), NEWT_OK);
    assert_int_equal(result.config, TUNED_FAST);
    assert_int_equal(result.failed, failed);
    assert_int_equal(result.tried, tried);
    buffers_free(&b);
}

static void test_a_process_that_was_killed_once(void **state)
{
    (void)state;
    check_after_deaths(1, 2, 0);
}

static void test_a_configuration_that_ends_processes(void **state)
{
    (void)state;
    check_after_deaths(2, 1, 1);
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    snprintf(store, sizeof store, "%s/store.json", folder);
    enum { WINS = sizeof win_cases / sizeof *win_cases };
    struct CMUnitTest wins[WINS];
    for (size_t i = 0; i < WINS; i++)
        wins[i] = (struct CMUnitTest){ win_cases[i].name, test_who_wins, NULL, NULL,
                                       (void *)(uintptr_t)&win_cases[i] };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_host_finds_the_fastest_right_one, reset),
        cmocka_unit_test_setup(test_aliases, reset),
        cmocka_unit_test_setup(test_reference_of_the_caller, reset),
        cmocka_unit_test_setup(test_sizes, reset),
        cmocka_unit_test_setup(test_bad_arguments, reset),
        cmocka_unit_test_setup(test_budget, reset),
        cmocka_unit_test_setup(test_kept_reference, reset),
        cmocka_unit_test_setup(test_gpu_goes_on_behind_a_fault, reset),
        cmocka_unit_test_setup(test_gpu_samples, reset),
        cmocka_unit_test_setup(test_gpu_samples_find_a_wrong_reference, reset),
        cmocka_unit_test_setup(test_killed_at_any_moment, reset),
        cmocka_unit_test_setup(test_a_process_that_was_killed_once, reset),
        cmocka_unit_test_setup(test_a_configuration_that_ends_processes, reset),
    };
    const int failed = cmocka_run_group_tests_name("who_wins", wins, NULL, NULL) +
                       cmocka_run_group_tests_name("tune", tests, NULL, NULL);
    fake_reset();
    unlink(store);
    char lock[80];
    snprintf(lock, sizeof lock, "%s.lock", store);
    unlink(lock);
    rmdir(folder);
    return failed;
}
