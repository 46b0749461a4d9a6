/// What the compiler itself costs: time from .newt to outputs beside NVRTC's own part, growth of
/// the front end with the source, sizes. Needs no GPU.
///
///     bench_compile [--quick] newtc libnewt.a vector_add.newt
///
/// Lines carry a member "goal": the value should not be above it.
#include "bench.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MAX_RUNS = 20, PATH_SIZE = 512, FUNCTION_LINES = 10 };

typedef struct Compile {
    char dir[PATH_SIZE];  // temporary files
    char log[PATH_SIZE];  // what a child wrote to standard error
    const char *newtc;
    unsigned runs;
} Compile;

static void die(const char *what)
{
    perror(what);
    exit(2);
}

/// Seconds that a child takes; its exit code in *code. Standard output goes nowhere, standard error
/// to c->log.
static double child_time(const Compile *c, const char *const *argv, int *code)
{
    posix_spawn_file_actions_t files;
    pid_t pid;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, 2, c->log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    double start = bench_seconds();
    char *args[16];
    size_t n = 0;
    for (; argv[n] && n < 15; n++)
        args[n] = (char *)argv[n];
    args[n] = NULL;
    int status = posix_spawnp(&pid, argv[0], &files, NULL, args, environ);
    posix_spawn_file_actions_destroy(&files);
    if (status != 0 || waitpid(pid, &status, 0) != pid)
        die(argv[0]);
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    return bench_seconds() - start;
}

static void print(const char *shape, double value, const char *unit, double goal, const char *more)
{
    char members[160];
    int n = 0;
    members[0] = '\0';
    if (goal > 0.0)
        n = snprintf(members, sizeof members, ", \"goal\": %.4g", goal);
    snprintf(members + n, sizeof members - (size_t)n, "%s", more);
    bench_print("compile", shape, "newt", value, unit, members);
}

/// The number after `word` in the log of the last child; negative when it is not there.
static double logged(const Compile *c, const char *word)
{
    char text[4096];
    FILE *f = fopen(c->log, "r");
    if (!f)
        die(c->log);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    const char *at = strstr(text, word);
    return at ? strtod(at + strlen(word), NULL) : -1.0;
}

static void measure_version(const Compile *c)
{
    const char *argv[] = { c->newtc, "--version", NULL };
    double seconds[MAX_RUNS];
    int code = 0;
    for (unsigned i = 0; i < c->runs; i++)
        seconds[i] = child_time(c, argv, &code);
    print("newtc --version", 1e3 * bench_median(seconds, c->runs), "ms", 3.0, "");
}

/* ---- growth ---- */

static void source_write(const char *path, unsigned lines)
{
    FILE *f = fopen(path, "w");
    if (!f)
        die(path);
    fprintf(f, "import newt.language as nl\n");
    for (unsigned i = 0; i < lines / FUNCTION_LINES; i++)
        fprintf(f,
                "@newt.jit\n"
                "def f%u(x, n: nl.int32, BLOCK: nl.constexpr = 128):\n"
                "    cols = nl.arange(0, BLOCK)\n"
                "    v = nl.load(x + cols + %u, mask=cols < n, other=0.0)\n"
                "    if n > %u:\n"
                "        v = nl.maximum(v * 2.0 - 1.0, nl.exp(v))\n"
                "    for i in range(0, n, 4):\n"
                "        v += nl.where(v > 0.5, v * i, -v)\n"
                "    return nl.sum(v, axis=0)\n"
                "\n",
                i, i, i);
    if (fclose(f) != 0)
        die(path);
}

/// Seconds through the front end.
static double measure_front(const Compile *c, unsigned lines, double goal)
{
    char source[PATH_SIZE + 16], out[PATH_SIZE + 16], shape[64], more[64];
    snprintf(source, sizeof source, "%s/big.newt", c->dir);
    snprintf(out, sizeof out, "%s/big.ast", c->dir);
    source_write(source, lines);
    const char *argv[] = { c->newtc, "--emit=ast", "-o", out, source, NULL };
    double seconds[MAX_RUNS];
    int code = 0;
    unsigned runs = c->runs < 3 ? c->runs : 3;
    for (unsigned i = 0; i < runs; i++)
        seconds[i] = child_time(c, argv, &code);
    remove(source);
    remove(out);
    if (code != 0) {
        printf("# WRONG compile: the front end gives exit code %d for %u lines\n", code, lines);
        exit(1);
    }
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);  // the largest child so far: lines only grow
    double median = bench_median(seconds, runs);
    snprintf(shape, sizeof shape, "front end, %u lines", lines);
    snprintf(more, sizeof more, ", \"kb_per_line\": %.3f", (double)usage.ru_maxrss / lines);
    print(shape, median, "s", goal, more);
    return median;
}

/* ---- from source to image ---- */

static void measure_kernel(const Compile *c, const char *source)
{
    char out[PATH_SIZE + 16];
    snprintf(out, sizeof out, "%s/out/", c->dir);
    const char *argv[] = { c->newtc, "--arch=sm_90a", "--no-cache", "-ftime-report", "-o",
                           out,      source,          NULL };
    double whole[MAX_RUNS], nvrtc[MAX_RUNS], own[MAX_RUNS];
    int code = 0;
    for (unsigned i = 0; i < c->runs; i++) {
        whole[i] = 1e3 * child_time(c, argv, &code);
        nvrtc[i] = logged(c, "NVRTC ");
        if (code != 0 || nvrtc[i] < 0.0) {
            printf("# skipped: newtc makes no image here (exit code %d; no NVRTC?)\n", code);
            return;
        }
        own[i] =
            logged(c, "front end ") + logged(c, "lowering and passes ") + logged(c, "writing ");
    }
    char more[64];
    double first = whole[0], image = bench_median(nvrtc, c->runs);
    snprintf(more, sizeof more, ", \"nvrtc_ms\": %.2f", image);
    print("vector_add to .c and .h, first run", first, "ms", 0.0, "");
    print("vector_add to .c and .h", bench_median(whole, c->runs), "ms", 1.15 * image, more);
    print("vector_add, newtc's own part", bench_median(own, c->runs), "ms", 5.0, "");
}

/// The second build, with every image in the cache.
static void measure_cached(const Compile *c, const char *source)
{
    char out[PATH_SIZE + 16], cache[PATH_SIZE + 32];
    snprintf(out, sizeof out, "%s/out/", c->dir);
    snprintf(cache, sizeof cache, "--cache-dir=%s/cache", c->dir);
    const char *argv[] = { c->newtc, "--arch=sm_90a", cache, "-o", out, source, NULL };
    double seconds[MAX_RUNS];
    int code = 0;
    (void)child_time(c, argv, &code);
    for (unsigned i = 0; i < c->runs; i++)
        seconds[i] = child_time(c, argv, &code);
    if (code == 0)
        print("vector_add, images from the cache", 1e3 * bench_median(seconds, c->runs), "ms", 20.0,
              "");
}

/* ---- sizes ---- */

static void measure_size(const Compile *c, const char *what, const char *path, const char *how,
                         double goal)
{
    char stripped[PATH_SIZE + 16];
    struct stat info;
    int code = 0;
    snprintf(stripped, sizeof stripped, "%s/stripped", c->dir);
    const char *argv[] = { "strip", how, "-o", stripped, path, NULL };
    (void)child_time(c, argv, &code);
    if (code != 0 || stat(stripped, &info) != 0) {
        printf("# skipped: strip does not work on %s\n", path);
        return;
    }
    print(what, (double)info.st_size / 1024.0, "KB", goal, "");
    remove(stripped);
}

int main(int argc, char **argv)
{
    Compile c = { .runs = MAX_RUNS };
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    if (argc - quick != 4) {
        fprintf(stderr, "usage: bench_compile [--quick] newtc libnewt.a vector_add.newt\n");
        return 2;
    }
    char **files = argv + 1 + quick;
    const char *tmp = getenv("TMPDIR");
    c.newtc = files[0];
    snprintf(c.dir, sizeof c.dir - 16, "%s/bench_compile.XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(c.dir))
        die(c.dir);
    snprintf(c.log, sizeof c.log, "%.*s/log", (int)strlen(c.dir), c.dir);
    if (quick)
        c.runs = 2;

    measure_version(&c);
    unsigned lines = quick ? 1000 : 10000;
    double small = measure_front(&c, lines, quick ? 0.0 : 1.0);
    double large = measure_front(&c, 10 * lines, quick ? 0.0 : 10.0);
    print("front end, growth for ten times the lines", large / small, "x", 0.0, "");
    measure_kernel(&c, files[2]);
    measure_cached(&c, files[2]);
    measure_size(&c, "newtc, stripped", files[0], "--strip-all", 3 * 1024.0);
    measure_size(&c, "libnewt.a, stripped", files[1], "--strip-unneeded", 200.0);

    const char *remove_all[] = { "rm", "-rf", c.dir, NULL };
    int code = 0;
    snprintf(c.log, sizeof c.log, "/dev/null");
    (void)child_time(&c, remove_all, &code);
    return 0;
}
