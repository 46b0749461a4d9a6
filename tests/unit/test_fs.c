/// test_fs.c - all outputs or none, and children without a shell.
#include "support/fs.h"
#include "support/proc.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

typedef struct {
    Arena arena;
    const char *dir;
} Fixture;

static int set_up(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    char name[] = "/tmp/newt-test-fs-XXXXXX";

    if (!f || !mkdtemp(name))
        return -1;
    f->dir = arena_printf(&f->arena, "%s", name);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    Fixture *f = *state;
    const char *const argv[] = { "rm", "-rf", f->dir, NULL };
    int failed = proc_run(argv, NULL);

    arena_free(&f->arena);
    free(f);
    return failed;
}

static const char *in(Fixture *f, const char *name)
{
    return arena_printf(&f->arena, "%s/%s", f->dir, name);
}

static void assert_file(Fixture *f, const char *name, const char *want)
{
    size_t len;
    const char *error = NULL;
    char *text = fs_read(&f->arena, in(f, name), &len, &error);

    assert_string_equal(text ? text : error, want);
}

static bool commit_two(Fixture *f, const char *a, const char *b, const char *text,
                       const char **error)
{
    OutputSet set = { .arena = &f->arena };

    fs_output(&set, a, text, strlen(text), false);
    fs_output(&set, b, text, strlen(text), false);
    return fs_commit(&set, error);
}

/// How many entries the test's folder has: a temporary left behind would count.
static int entries(Fixture *f)
{
    Buf out = { 0 };
    const char *const argv[] = { "ls", "-A", f->dir, NULL };
    int count = 0;

    assert_int_equal(proc_run(argv, &out), 0);
    for (size_t i = 0; i < out.len; i++)
        count += out.at[i] == '\n';
    buf_free(&out);
    return count;
}

/// Waits until it is over.
static int finish(Proc *p)
{
    int status;
    while (!proc_step(p, &status)) {
        struct pollfd ready = { .fd = p->from, .events = POLLIN };
        poll(&ready, 1, 20);
    }
    return status;
}

/// As a string.
static const char *log_of(Proc *p)
{
    buf_putc(&p->log, '\0');
    return p->log.at;
}

/// A process in time, one that is late, one whose time does not matter, and none.
static void processes_beside(void **state)
{
    const char *const echo[] = { "echo", "in time", NULL };
    const char *const sleeper[] = { "sh", "-c", "echo begun; exec sleep 60", NULL };
    const char *const none[] = { "/nothing/here", NULL };
    Proc in_time, late, any;
    (void)state;
    assert_true(proc_start(&in_time, echo, 30));
    assert_true(proc_start(&late, sleeper, 0.3));
    assert_true(proc_start(&any, echo, 0));
    assert_int_equal(finish(&late), PROC_LATE);
    assert_int_equal(finish(&in_time), 0);
    assert_int_equal(finish(&any), 0);
    assert_string_equal(log_of(&late), "begun\n");
    assert_string_equal(log_of(&in_time), "in time\n");
    assert_string_equal(log_of(&any), "in time\n");
    assert_false(proc_start(&any, none, 0));
    assert_int_equal(errno, ENOENT);
    proc_end(&in_time);
    proc_end(&late);
    proc_end(&any);
}

/// Nothing goes on, and holds what it inherited, when who started it is killed.
static void children_die_with_their_parent(void **state)
{
    const char *const sleeper[] = { "sleep", "60", NULL };
    int held[2], status;
    char byte;
    (void)state;
    assert_int_equal(pipe(held), 0);  // the sleeper has its other end: its end is the pipe's
    const pid_t parent = fork();
    if (parent == 0) {
        Proc p;
        _exit(proc_start(&p, sleeper, 0) && kill(getpid(), SIGKILL) == 0 ? 1 : 2);
    }
    assert_int_equal(waitpid(parent, &status, 0), parent);
    assert_true(WIFSIGNALED(status));
    close(held[1]);
    struct pollfd ended = { .fd = held[0], .events = POLLIN };
    assert_int_equal(poll(&ended, 1, 20000), 1);
    assert_int_equal(read(held[0], &byte, 1), 0);
    close(held[0]);
}

static void commits_all(void **state)
{
    Fixture *f = *state;
    const char *error = NULL;

    assert_true(commit_two(f, in(f, "a"), in(f, "b"), "one", &error));
    assert_true(commit_two(f, in(f, "a"), in(f, "b"), "two\n", &error));
    assert_file(f, "a", "two\n");
    assert_file(f, "b", "two\n");
    assert_int_equal(entries(f), 2);
}

static void failure_leaves_older_outputs(void **state)
{
    Fixture *f = *state;
    const char *error = NULL;

    assert_true(commit_two(f, in(f, "a"), in(f, "b"), "old", &error));
    assert_false(commit_two(f, in(f, "a"), in(f, "none/b"), "new", &error));
    assert_string_equal(error,
                        arena_printf(&f->arena, "%s/none/b: No such file or directory", f->dir));
    assert_false(commit_two(f, in(f, "a"), f->dir, "new", &error));
    assert_string_equal(error, arena_printf(&f->arena, "%s: is a directory", f->dir));
    assert_false(commit_two(f, in(f, "a"), "/dev/full", "new", &error));
    assert_string_equal(error, "/dev/full: No space left on device");
    assert_false(commit_two(f, in(f, "fresh"), "/dev/full", "new", &error));
    assert_file(f, "a", "old");
    assert_int_equal(entries(f), 2);
}

static void same_bytes_keep_their_time(void **state)
{
    Fixture *f = *state;
    const char *texts[] = { "text", "text", "TEXT" };
    struct stat before = { 0 }, after;
    const char *error = NULL;

    for (int i = 0; i < 3; i++) {
        OutputSet set = { .arena = &f->arena };
        fs_output(&set, in(f, "h"), texts[i], 4, true);
        assert_true(fs_commit(&set, &error));
        assert_int_equal(stat(in(f, "h"), &after), 0);
        if (i == 1)
            assert_true(before.st_ino == after.st_ino);
        before = after;
    }
    assert_file(f, "h", "TEXT");
}

static void links_and_modes_stay(void **state)
{
    Fixture *f = *state;
    struct stat info;
    const char *error = NULL;

    assert_true(commit_two(f, in(f, "a"), in(f, "b"), "old", &error));
    assert_int_equal(symlink("a", in(f, "link")), 0);
    assert_int_equal(chmod(in(f, "a"), 0640), 0);
    assert_true(commit_two(f, in(f, "link"), "/dev/null", "new", &error));
    assert_file(f, "a", "new");
    assert_int_equal(lstat(in(f, "link"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat(in(f, "a"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
}

/// Commits "text" to `name` and standard output with descriptor 1 replaced by `fd` (-1: closed),
/// in a child; 0 when it worked, else 1 and the reason in file "why".
static int commit_to_stdout(Fixture *f, int fd)
{
    pid_t child = fork();

    if (child == 0) {
        OutputSet set = { .arena = &f->arena };
        const char *error = "";
        signal(SIGPIPE, SIG_IGN);
        close(STDOUT_FILENO);
        if (fd >= 0)
            dup2(fd, STDOUT_FILENO);
        fs_output(&set, in(f, "side"), "text", 4, false);
        fs_output(&set, "-", "text", 4, false);
        bool ok = fs_commit(&set, &error);
        set.files.len = 0;
        fs_output(&set, in(f, "why"), error, strlen(error), false);
        fs_commit(&set, &error);
        _exit(!ok);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WEXITSTATUS(status);
}

static void standard_output_is_checked(void **state)
{
    Fixture *f = *state;
    int fds[2], full = open("/dev/full", O_WRONLY);
    char got[8] = "";

    assert_int_equal(pipe(fds), 0);
    assert_int_equal(commit_to_stdout(f, fds[1]), 0);
    assert_int_equal(read(fds[0], got, sizeof got), 4);
    assert_string_equal(got, "text");
    assert_int_equal(unlink(in(f, "side")), 0);

    close(fds[0]);
    assert_int_equal(commit_to_stdout(f, fds[1]), 1);
    assert_file(f, "why", "standard output: Broken pipe");
    assert_int_equal(commit_to_stdout(f, -1), 1);
    assert_file(f, "why", "standard output: Bad file descriptor");
    assert_int_equal(commit_to_stdout(f, full), 1);
    assert_file(f, "why", "standard output: No space left on device");
    assert_int_equal(entries(f), 1);  // only "why": "side" was not left behind
    close(fds[1]);
    close(full);
}

static void remove_and_leave(int number)
{
    (void)number;
    fs_remove_temporaries();
    _exit(130);
}

/// The commit blocks on a pipe that nobody reads, with the other output's temporary written.
static void interrupted_commit_leaves_nothing(void **state)
{
    Fixture *f = *state;
    const struct timespec moment = { .tv_nsec = 1000000 };
    const char *error = NULL;
    int status = 0;

    assert_int_equal(mkfifo(in(f, "pipe"), 0600), 0);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGINT, remove_and_leave);
        commit_two(f, in(f, "side"), in(f, "pipe"), "text", &error);
        _exit(0);
    }
    for (int tries = 0; entries(f) < 2 && tries < 5000; tries++)
        nanosleep(&moment, NULL);
    assert_int_equal(entries(f), 2);
    assert_int_equal(kill(child, SIGINT), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 130);
    assert_int_equal(entries(f), 1);
}

static void reads_whole_files_or_says_why(void **state)
{
    Fixture *f = *state;
    const char *error = NULL;
    size_t len;
    Buf big = { 0 };

    for (int i = 0; i < 5000; i++)
        buf_printf(&big, "%d%c", i, i % 7 ? ' ' : 0);
    OutputSet set = { .arena = &f->arena };
    fs_output(&set, in(f, "big"), big.at, big.len, false);
    assert_true(fs_commit(&set, &error));
    char *text = fs_read(&f->arena, in(f, "big"), &len, &error);
    assert_int_equal(len, big.len);
    assert_memory_equal(text, big.at, big.len + 1);
    buf_free(&big);

    assert_null(fs_read(&f->arena, in(f, "none"), &len, &error));
    assert_string_equal(error, "No such file or directory");
    assert_null(fs_read(&f->arena, f->dir, &len, &error));
    assert_string_equal(error, "is a directory");
    text = fs_read(&f->arena, "/dev/null", &len, &error);
    assert_string_equal(text, "");
}

static void paths_are_taken_apart(void **state)
{
    static const struct {
        const char *path, *stem, *dir;
    } cases[] = {
        { "dir/add.newt", "add", "dir/" }, { "add.newt", "add", "" },    { "/a", "a", "/" },
        { "a.b.newt", "a.b", "" },         { "x.d/.rc", ".rc", "x.d/" },
    };
    Fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(fs_stem(&f->arena, cases[i].path), cases[i].stem);
        assert_string_equal(fs_dir(&f->arena, cases[i].path), cases[i].dir);
    }
    assert_true(fs_make_dirs(&f->arena, in(f, "p/q//r/")));
    assert_true(fs_is_dir(in(f, "p/q/r")));
    assert_true(fs_make_dirs(&f->arena, in(f, "p/q")));
    assert_false(fs_make_dirs(&f->arena, "/dev/null/x"));
}

static void children_report_their_end(void **state)
{
    const char *const words[] = { "printf", "%s;", "a b", "$HOME", NULL };
    const char *const both[] = { "sh", "-c", "echo out; echo err >&2; exit 3", NULL };
    const char *const killed[] = { "sh", "-c", "kill -9 $$", NULL };
    const char *const none[] = { "no-such-program-here", NULL };
    Buf out = { 0 };

    (void)state;
    assert_int_equal(proc_run(words, &out), 0);
    assert_string_equal(out.at, "a b;$HOME;");
    buf_clear(&out);
    assert_int_equal(proc_run(both, &out), 3);
    assert_string_equal(out.at, "out\nerr\n");
    assert_int_equal(proc_run(killed, NULL), 128 + 9);
    assert_int_equal(proc_run(none, &out), -1);
    assert_int_equal(errno, ENOENT);
    buf_free(&out);
}

#define FS_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FS_TEST(commits_all),
        cmocka_unit_test(processes_beside),
        cmocka_unit_test(children_die_with_their_parent),
        FS_TEST(failure_leaves_older_outputs),
        FS_TEST(same_bytes_keep_their_time),
        FS_TEST(links_and_modes_stay),
        FS_TEST(standard_output_is_checked),
        FS_TEST(interrupted_commit_leaves_nothing),
        FS_TEST(reads_whole_files_or_says_why),
        FS_TEST(paths_are_taken_apart),
        cmocka_unit_test(children_report_their_end),
    };
    return cmocka_run_group_tests_name("fs", tests, NULL, NULL);
}
