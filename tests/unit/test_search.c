// test_search.c - what a search of a product's space tries first, and what it leaves out.
#include "tuner/tuner_impl.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char kernel[] = "import deuteron as dt\n"
                             "from newt.language import float16, float32, tensor\n"
                             "\n\n"
                             "@dt.kernel\n"
                             "def product(x: tensor[float16, \"M\", \"K\"], y: tensor[float16, "
                             "\"K\", \"N\"], out: tensor[float16, \"M\", \"N\"]):\n"
                             "    for tile_m, tile_n in dt.tile([x.shape[0], y.shape[1]]):\n"
                             "        acc = dt.zeros([tile_m, tile_n], dtype=float32)\n"
                             "        for tile_k in dt.tile(x.shape[1]):\n"
                             "            acc += x[tile_m, tile_k] @ y[tile_k, tile_n]\n"
                             "        out[tile_m, tile_n] = acc\n";

enum { PROCESSORS = 132 };

/// A search for a chip of which there is only its description.
typedef struct Fixture {
    Arena arena;
    TunerOptions opt;
    Options options;
    ArchList archs;
    Job job;
    Search s;
    char path[32];
} Fixture;

static void begin(Fixture *f, long m, long n, long k)
{
    const VariantOptions variants = { .specialize = "none" };
    StrList words = { 0 };
    memset(f, 0, sizeof *f);
    strcpy(f->path, "/tmp/searchXXXXXX");
    const int fd = mkstemp(f->path);
    assert_true(fd >= 0 && write(fd, kernel, sizeof kernel - 1) == (ssize_t)sizeof kernel - 1);
    close(fd);
    VEC_PUSH(&f->arena, &words, "newtc");
    assert_true(options_parse(&f->arena, 1, (char **)(uintptr_t)words.at, &f->options));
    f->archs.host = true;
    job_init(&f->job, &f->options, &f->archs, f->path);
    assert_true(job_front(&f->job) && f->job.module &&
                lower_enumerate(&f->job.program, f->job.module, &variants, &f->job.units));
    f->opt = (TunerOptions){ .file = f->path, .shard_count = 1 };
    f->s = (Search){ .arena = &f->arena, .opt = &f->opt, .best = -1, .stage = "" };
    f->s.build =
        (Build){ .opt = &f->opt,
                 .function = "product",
                 .name = "product",
                 .symbol = "product",
                 .arch = "sm_90a",
                 .program = "newtc",
                 .values = arena_printf(
                     &f->arena,
                     "M=%ld N=%ld K=%ld x_s0=%ld x_s1=1 y_s0=%ld y_s1=1 out_s0=%ld out_s1=1", m, n,
                     k, k, n, n) };
    f->s.worker.processors = PROCESSORS;
    f->s.began = tuner_now();
    space_of(&f->arena, f->job.units.at[0].function, &f->job.units.at[0], target_find("sm_90a"),
             &f->s.space);
    assert_true(draft_begin(&f->s));
}

static void end(Fixture *f)
{
    unlink(f->path);
    job_free(&f->job);
    arena_free(&f->arena);
}

/// The value of `name` in a configuration.
static long choice(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    assert_non_null(at);
    return strtol(at + strlen(name) + 1, NULL, 10);
}

typedef struct FirstCase {
    const char *name;
    long m, n, k;
    double most_programs;  // of every candidate that the model chose first
    double least_programs;
} FirstCase;

// One product of 1024 x 1024 on 132 multiprocessors: tiles of 64 x 128 are one round of 128
// programs; smaller ones move more, larger ones leave most of the chip idle. Of 4096 x 4096 large
// tiles are several full rounds. 16 rows are one tile.
static const FirstCase first_cases[] = {
    { "one_round", 1024, 1024, 1024, 132, 100 },
    { "many_rounds", 4096, 4096, 4096, 1024, 256 },
    { "few_rows", 16, 8192, 8192, 264, 100 },
};

static void what_comes_first(void **state)
{
    const FirstCase *c = *state;
    enum { FIRST = 8 };
    Fixture f;
    begin(&f, c->m, c->n, c->k);
    for (int i = 0; i <= FIRST; i++) {
        const int index = search_next(&f.s);
        assert_true(index >= 0);
        const Tried *t = &f.s.tried.at[index];
        if (i == 0) {
            assert_string_equal(t->stage, "default");
            continue;
        }
        const double programs = (double)((c->m + choice(t->text, "BLOCK_TILE_M") - 1) /
                                         choice(t->text, "BLOCK_TILE_M")) *
                                (double)((c->n + choice(t->text, "BLOCK_TILE_N") - 1) /
                                         choice(t->text, "BLOCK_TILE_N"));
        assert_string_equal(t->stage, "model");
        assert_true(t->draft->programs == programs);  // the grid, as the text above has it
        assert_in_range((uintmax_t)programs, (uintmax_t)c->least_programs,
                        (uintmax_t)c->most_programs);
        // Deep enough for the way from the L2, at least half of what a multiprocessor has.
        assert_in_range(t->draft->shared, 114 * 1024, 227 * 1024);
    }
    end(&f);
}

/// Nothing is tried twice, neither by its words nor by its code, and the search ends.
static void nothing_twice(void **state)
{
    Fixture f;
    (void)state;
    begin(&f, 1024, 1024, 1024);
    int index, compiled = 0;
    while ((index = search_next(&f.s)) >= 0) {
        Tried *t = &f.s.tried.at[index];
        compiled++;
        search_settle(&f.s, t, TRIED_RIGHT, t->draft->cost, "");  // as if the model were right
    }
    unsigned same = 0;
    for (uint32_t i = 0; i < f.s.tried.len; i++)
        for (uint32_t k = 0; k < i; k++) {
            const Tried *a = &f.s.tried.at[i], *b = &f.s.tried.at[k];
            assert_string_not_equal(a->text, b->text);
            assert_false(a->kind == TRIED_RIGHT && b->kind == TRIED_RIGHT &&
                         a->draft->code == b->draft->code);
            same += a->kind == TRIED_SAME && k == 0;
        }
    assert_in_range(compiled, 60, 400);
    assert_true(same > 0);  // stages that shared memory cuts
    const Tried *best = &f.s.tried.at[f.s.best];
    assert_true(choice(best->text, "BLOCK_TILE_M") * choice(best->text, "BLOCK_TILE_N") ==
                64 * 128);
    end(&f);
}

/// What the compiler refuses is known at once, and why.
static void refused_before_compiling(void **state)
{
    Fixture f;
    (void)state;
    begin(&f, 4096, 4096, 4096);
    const Draft *d = draft_of(
        &f.s, "BLOCK_TILE_M=256 BLOCK_TILE_N=256 BLOCK_TILE_K=64 GROUP=8 num_warps=4 num_stages=4");
    assert_non_null(d->why);
    assert_non_null(strstr(d->why, "registers a thread"));
    d = draft_of(
        &f.s, "BLOCK_TILE_M=128 BLOCK_TILE_N=256 BLOCK_TILE_K=64 GROUP=8 num_warps=8 num_stages=6");
    assert_null(d->why);
    assert_true(
        d->code ==
        draft_of(
            &f.s,
            "BLOCK_TILE_M=128 BLOCK_TILE_N=256 BLOCK_TILE_K=64 GROUP=8 num_warps=8 num_stages=5")
            ->code);
    assert_true(
        d->code !=
        draft_of(
            &f.s,
            "BLOCK_TILE_M=128 BLOCK_TILE_N=256 BLOCK_TILE_K=64 GROUP=8 num_warps=8 num_stages=3")
            ->code);
    end(&f);
}

int main(void)
{
    enum { COUNT = sizeof first_cases / sizeof *first_cases };
    struct CMUnitTest tests[COUNT + 2] = { cmocka_unit_test(nothing_twice),
                                           cmocka_unit_test(refused_before_compiling) };
    for (size_t i = 0; i < COUNT; i++)
        tests[2 + i] = (struct CMUnitTest){ first_cases[i].name, what_comes_first, NULL, NULL,
                                            (void *)(uintptr_t)&first_cases[i] };
    return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
