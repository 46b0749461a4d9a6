/// A program that tunes its kernel when it runs first, and starts at once from then on.
///
/// add_rows_tune() measures every configuration that the store does not know and keeps the answers
/// there, so calling it at each start is right: the second time it only reads. Here that is
/// checked, with a store in a new folder; a program of yours would keep it in the user's cache.
#include "autotuned_app.h"
#include "example.h"
#include <unistd.h>

typedef struct Shape {
    int32_t rows, width;
} Shape;

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void expect(int is_so, const char *what)
{
    if (is_so)
        return;
    fprintf(stderr, "it should be that %s\n", what);
    exit(1);
}

typedef struct Data {
    float *x, *y;
    Buffer on_x, on_y, on_norms;
    AddRowsArgs args;
} Data;

static Data data_new(Example *ex, Shape shape)
{
    const size_t count = (size_t)shape.rows * (size_t)shape.width;
    Data d = { .x = example_random(ex, count), .y = example_random(ex, count) };
    d.on_x = example_upload(ex, d.x, count, 0);
    d.on_y = example_upload(ex, d.y, count, 0);
    d.on_norms = example_upload(ex, NULL, (size_t)shape.rows, 0);
    d.args = (AddRowsArgs){ d.on_x.at, d.on_y.at, d.on_norms.at, 0.5f, shape.rows, shape.width };
    return d;
}

static void data_free(Example *ex, Data *d)
{
    example_free(ex, &d->on_x);
    example_free(ex, &d->on_y);
    example_free(ex, &d->on_norms);
    free(d->x);
    free(d->y);
}

/// What the launch after tuning computes, against double precision. Tuning left the buffers alone,
/// so y holds what was uploaded.
static void check(Example *ex, const Data *d, Shape shape)
{
    example_ok(add_rows(ex->device, NULL, d->args.x, d->args.y, d->args.norms, d->args.a,
                        shape.rows, shape.width),
               "add_rows");
    float *y = example_download(ex, &d->on_y), *norms = example_download(ex, &d->on_norms);
    for (size_t r = 0; r < (size_t)shape.rows; r++) {
        double sum = 0.0;
        for (size_t c = 0; c < (size_t)shape.width; c++) {
            const size_t i = r * (size_t)shape.width + c;
            const double want = (double)d->y[i] + 0.5 * (double)d->x[i];
            example_expect((double)y[i], want, 1e-6 * (1.0 + fabs(want)), "y", i);
            sum += want * want;
        }
        example_expect((double)norms[r], sum, 1e-5 * sum + 1e-6, "norms", r);
    }
    free(y);
    free(norms);
}

static void progress(void *user, int done, int total, const char *config, float us)
{
    (void)user;
    if (us >= 0)
        printf("    %d of %d: %8.2f us  %s\n", done, total, (double)us, config);
    else
        printf("    %d of %d: left out    %s\n", done, total, config);
}

/// One start of the program: tune, which is quick where the store knows the answer, and work.
static NewtTuneResult start(Example *ex, Shape shape, const char *store, int verbose)
{
    Data d = data_new(ex, shape);
    const size_t bytes[] = { d.on_x.size, d.on_y.size, d.on_norms.size };
    const NewtTuneOptions options = { .size = sizeof options,
                                      .store = store,
                                      .bytes = bytes,
                                      .progress = verbose ? progress : NULL };
    NewtTuneResult result;
    const double before = seconds_now();
    example_ok(add_rows_tune(ex->device, &d.args, &options, &result), "add_rows_tune");
    printf("  %d x %d: %s, %.2f us; %d configurations measured in %.3f s\n", (int)shape.rows,
           (int)shape.width, add_rows_config_text((AddRowsConfig)result.config),
           (double)result.microseconds, result.tried, seconds_now() - before);
    AddRowsConfig chosen;
    example_ok(add_rows_choose(ex->device, &d.args, &chosen), "add_rows_choose");
    expect((int)chosen == result.config, "launches take what was tuned");
    check(ex, &d, shape);
    data_free(ex, &d);
    return result;
}

int main(int argc, char **argv)
{
    static const Shape large[] = { { 4096, 1500 }, { 64, 65536 }, { 100000, 32 } };
    static const Shape small[] = { { 64, 300 }, { 3, 2048 } };
    Example ex = example_open(argc, argv);
    const Shape *shapes = ex.quick ? small : large;
    const int count = ex.quick ? 2 : 3;
    char folder[] = "/tmp/autotuned-app-XXXXXX", store[64], lock[80];
    if (!mkdtemp(folder)) {
        perror("mkdtemp");
        return 1;
    }
    snprintf(store, sizeof store, "%s/tune.json", folder);
    snprintf(lock, sizeof lock, "%s.lock", store);
    for (int run = 1; run <= 2; run++) {
        printf("start %d\n", run);
        for (int i = 0; i < count; i++) {
            const NewtTuneResult result = start(&ex, shapes[i], store, run == 1 && !ex.quick);
            expect(run == 1 ? result.tried == ADD_ROWS_CONFIG_COUNT : result.tried == 0,
                   "the first start measures, the second one does not");
            expect(result.wrong == 0, "every configuration is right");
        }
    }
    unlink(store);
    unlink(lock);
    rmdir(folder);
    return example_close(&ex);
}
