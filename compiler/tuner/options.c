/// options.c - the command line of newtc tune: its own options; every other one is the compiler's.
#include "support/fs.h"
#include "tuner/tuner_impl.h"
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

bool tuner_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("newtc tune: error: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return false;
}

void tuner_help(void)
{
    fputs(
        "newtc tune [options] file.newt     finds the fastest configuration of a kernel\n"
        "\n"
        "  --kernel=NAME        the kernel (default: the only one that can be tuned)\n"
        "  --shape=N=V,N=V      values of arguments and sizes of tensors; repeat for more shapes\n"
        "  --shapes=FILE        one such list a line\n"
        "  --arg=NAME=SPEC      a number, or normal, uniform, integers, arange, zeros, empty (M, "
        "N)\n"
        "  --device=DEVICE      cuda:N or host (default: as newt_device_open(NULL))\n"
        "  -o FILE              the tuning store (default: tune.json)\n"
        "  --budget=SECONDS     time a shape\n"
        "  --timeout=SECONDS    time that one run may take\n"
        "  --seed=N             of the random part of the search\n"
        "  --resume             take what the store knows instead of measuring it again\n"
        "  --shard=I/N          search the Ith of N parts of the space, from 0\n"
        "  --merge FILE...      join stores into -o FILE\n"
        "  --list               print what the store knows\n"
        "  --report=FILE        the search as JSON\n"
        "  --svg=FILE           the search as a picture\n"
        "  --explain            say why the winner won\n"
        "  -q                   no progress\n"
        "\n"
        "Other options go to the compiler: -D, -I, --dot, --nvrtc, -j and so on.\n",
        stdout);
}

/// The value of an option that is `--name=VALUE` or `--name VALUE`; NULL when `arg` is another one.
static const char *value_of(const char *name, int argc, char **argv, int *at)
{
    assert(argv[*at]);  // arguments end at argc, not before
    const size_t len = strlen(name);
    if (strncmp(argv[*at], name, len) != 0)
        return NULL;
    if (argv[*at][len] == '=')
        return argv[*at] + len + 1;
    if (argv[*at][len] != '\0' || *at + 1 >= argc)
        return NULL;
    return argv[++*at];
}

static bool number(const char *name, const char *text, double *out)
{
    char *end;
    errno = 0;
    *out = strtod(text, &end);
    if (end != text && strcmp(end, "s") == 0)  // "60s"
        end++;
    if (end != text && *end == '\0' && !errno && *out >= 0)
        return true;
    return tuner_fail("'%s' does not fit %s: it takes a number of at least 0", text, name);
}

/// "I/N" with I from 0 to N - 1.
static bool shard_of(const char *text, TunerOptions *o)
{
    char *end, *last;
    const long shard = strtol(text, &end, 10), count = *end == '/' ? strtol(end + 1, &last, 10) : 0;
    if (end == text || *end != '/' || last == end + 1 || *last || shard < 0 || shard >= count ||
        count > INT_MAX)
        return tuner_fail("'%s' does not fit --shard: it takes I/N with I from 0 to N - 1", text);
    o->shard = (int)shard;
    o->shard_count = (int)count;
    return true;
}

static bool shapes_file(Arena *a, const char *path, StrList *out)
{
    const char *why;
    size_t len;
    char *text = fs_read(a, path, &len, &why);
    if (!text)
        return tuner_fail("cannot read '%s': %s", path, why);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (*line && *line != '#')
            VEC_PUSH(a, out, line);
    return true;
}

/// Options with a value. *taken is false for one that is not the tuner's.
static bool valued(Arena *a, int argc, char **argv, int *at, TunerOptions *o, bool *taken)
{
    const struct {
        const char *name;
        const char **text;
        StrList *list;
        double *seconds;
    } rows[] = { { "--kernel", &o->kernel, NULL, NULL },  { "--device", &o->device, NULL, NULL },
                 { "--report", &o->report, NULL, NULL },  { "--svg", &o->svg, NULL, NULL },
                 { "-o", &o->output, NULL, NULL },        { "--shape", NULL, &o->shapes, NULL },
                 { "--arg", NULL, &o->args, NULL },       { "--budget", NULL, NULL, &o->budget },
                 { "--timeout", NULL, NULL, &o->timeout } };
    const char *value;
    *taken = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!(value = value_of(rows[i].name, argc, argv, at)))
            continue;
        if (rows[i].text)
            *rows[i].text = value;
        else if (rows[i].list)
            VEC_PUSH(a, rows[i].list, value);
        return !rows[i].seconds || number(rows[i].name, value, rows[i].seconds);
    }
    if ((value = value_of("--shapes", argc, argv, at)))
        return shapes_file(a, value, &o->shapes);
    if ((value = value_of("--seed", argc, argv, at))) {
        o->seed = strtoull(value, NULL, 0);
        return true;
    }
    if ((value = value_of("--shard", argc, argv, at)))
        return shard_of(value, o);
    *taken = false;
    return true;
}

static bool flag(const char *arg, TunerOptions *o, bool *merges)
{
    const struct {
        const char *name;
        bool *at;
    } rows[] = { { "--resume", &o->resume },
                 { "--explain", &o->explain },
                 { "--list", &o->list },
                 { "-q", &o->quiet },
                 { "--merge", merges } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(arg, rows[i].name) == 0) {
            *rows[i].at = true;
            return true;
        }
    return false;
}

bool tuner_options(Arena *a, int argc, char **argv, TunerOptions *o)
{
    bool merges = false;
    *o = (TunerOptions){ .output = "tune.json", .shard_count = 1 };
    for (int i = 1; i < argc; i++) {
        bool taken;
        if (flag(argv[i], o, &merges))
            continue;
        if (!valued(a, argc, argv, &i, o, &taken))
            return false;
        if (taken)
            continue;
        if (argv[i][0] == '-')
            VEC_PUSH(a, &o->pass, argv[i]);
        else if (merges)
            VEC_PUSH(a, &o->merge, argv[i]);
        else if (o->file)
            return tuner_fail("one file at a time: '%s' and '%s'", o->file, argv[i]);
        else
            o->file = argv[i];
    }
    if (merges && !o->merge.len)
        return tuner_fail("--merge needs the stores to join");
    if (!o->file && !merges && !o->list)
        return tuner_fail("no input file; newtc tune --help shows how to call it");
    return true;
}
