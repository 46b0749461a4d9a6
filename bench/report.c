/// report.c - joins our JSON lines with the peers' and prints the table of ratios.
///
///     bench_report [--svg FILE] results.jsonl...
///
/// Lines that do not begin with '{' are skipped. Several results of one program at one shape are
/// runs: the median counts, their range is printed. A ratio is the peer's time over ours: above 1
/// we are faster. Exit code 0; 2 when a file cannot be read.
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Report {
    ReportSeries *at;
    size_t count, room;
} Report;

bool report_is_rate(const char *unit)
{
    return strstr(unit, "/s") != NULL;
}

bool report_is_instance(const ReportSeries *s)
{
    return strncmp(s->who, "newt/", 5) == 0;
}

/// The text of member `name` of a flat JSON object, without quotes; "" when there is none. Our
/// lines and the peers' hold no escapes.
static void member_get(const char *line, const char *name, char *to)
{
    char key[32];
    snprintf(key, sizeof key, "\"%s\": ", name);
    const char *at = strstr(line, key);
    size_t n = 0;
    if (at) {
        at += strlen(key);
        const char *end = *at == '"' ? "\"" : ",}";
        at += *at == '"';
        n = strcspn(at, end);
        n = n < REPORT_TEXT ? n : REPORT_TEXT - 1;
        memcpy(to, at, n);
    }
    to[n] = '\0';
}

static ReportSeries *series_of(Report *r, const ReportSeries *like)
{
    for (size_t i = 0; i < r->count; i++) {
        ReportSeries *s = &r->at[i];
        if (!strcmp(s->suite, like->suite) && !strcmp(s->shape, like->shape) &&
            !strcmp(s->who, like->who))
            return s;
    }
    if (r->count == r->room) {
        r->room = r->room ? 2 * r->room : 64;
        r->at = realloc(r->at, r->room * sizeof *r->at);
        if (!r->at) {
            fprintf(stderr, "out of memory\n");
            exit(2);
        }
    }
    r->at[r->count] = *like;
    return &r->at[r->count++];
}

static void line_read(Report *r, const char *line)
{
    ReportSeries one = { .count = 0 };
    char value[REPORT_TEXT], goal[REPORT_TEXT];
    member_get(line, "suite", one.suite);
    member_get(line, "shape", one.shape);
    member_get(line, "who", one.who);
    member_get(line, "unit", one.unit);
    member_get(line, "cfg", one.cfg);
    member_get(line, "value", value);
    member_get(line, "goal", goal);
    ReportSeries *s = series_of(r, &one);
    if (s->count < REPORT_MAX_RUNS)
        s->values[s->count++] = strtod(value, NULL);
    s->goal = strtod(goal, NULL);
    memcpy(s->cfg, one.cfg, sizeof s->cfg);
}

static void file_read(Report *r, const char *path)
{
    char line[1024];
    FILE *f = fopen(path, "r");
    if (!f) {
        perror(path);
        exit(2);
    }
    while (fgets(line, sizeof line, f))
        if (line[0] == '{')
            line_read(r, line);
    fclose(f);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void summarise(ReportSeries *s)
{
    qsort(s->values, s->count, sizeof *s->values, compare);
    s->median = (s->values[(s->count - 1) / 2] + s->values[s->count / 2]) / 2.0;
    s->low = s->values[0];
    s->high = s->values[s->count - 1];
}

static double ratio_of(const ReportSeries *ours, const ReportSeries *peer)
{
    return report_is_rate(ours->unit) ? ours->median / peer->median : peer->median / ours->median;
}

/// The fastest peer at the shape of `ours`; NULL: none was measured.
static const ReportSeries *best_peer(const Report *r, const ReportSeries *ours)
{
    const ReportSeries *best = NULL;
    for (size_t i = 0; i < r->count; i++) {
        const ReportSeries *s = &r->at[i];
        if (strcmp(s->suite, ours->suite) || strcmp(s->shape, ours->shape) ||
            !strncmp(s->who, "newt", 4))
            continue;
        if (!best || ratio_of(ours, s) < ratio_of(ours, best))
            best = s;
    }
    return best;
}

static void print_value(const ReportSeries *s)
{
    printf("%.*f", s->median < 10.0 ? 3 : s->median < 100.0 ? 1 : 0, s->median);
    if (s->count > 1)
        printf(" (%.1f %%)", 100.0 * (s->high - s->low) / s->median);
}

static void print_row(const Report *r, const ReportSeries *ours, double ceiling)
{
    const ReportSeries *peer = best_peer(r, ours);
    printf("| %s | %s | %s | ", ours->suite, ours->shape, ours->unit);
    print_value(ours);
    printf(" | %s | ", ours->cfg);
    if (peer) {
        printf("%s ", peer->who);
        print_value(peer);
        printf(" | **%.3f** | ", ratio_of(ours, peer));
    } else if (ours->goal > 0.0) {
        printf("goal %.4g | %s | ", ours->goal, ours->median <= ours->goal ? "met" : "**missed**");
    } else {
        printf("| | ");
    }
    if (ceiling > 0.0 && !strcmp(ours->unit, "GB/s"))
        printf("%.3f", ours->median / ceiling);
    printf(" |\n");
}

/// The geometric mean of the ratios of each suite that has peers.
static void print_means(const Report *r)
{
    for (size_t i = 0; i < r->count; i++) {
        double sum = 0.0;
        size_t n = 0, first = r->count;
        for (size_t k = 0; k < r->count; k++) {
            const ReportSeries *s = &r->at[k];
            if (strcmp(s->suite, r->at[i].suite) || strcmp(s->who, "newt"))
                continue;
            first = first < k ? first : k;
            const ReportSeries *peer = best_peer(r, s);
            if (peer) {
                sum += log(ratio_of(s, peer));
                n++;
            }
        }
        if (first == i && n > 0)
            printf("- %s: %.3f over %zu shapes\n", r->at[i].suite, exp(sum / (double)n), n);
    }
}

static bool is_tile_kernel(const ReportSeries *s)
{
    return report_is_instance(s) && strncmp(s->who + 5, "tile_", 5) == 0;
}

/// The fastest instance of the kernels of one kind at the shape of `like`; NULL: none.
static const ReportSeries *best_instance(const Report *r, const ReportSeries *like, bool of_tiles)
{
    const ReportSeries *best = NULL;
    for (size_t i = 0; i < r->count; i++) {
        const ReportSeries *s = &r->at[i];
        if (strcmp(s->suite, like->suite) || strcmp(s->shape, like->shape) ||
            !report_is_instance(s) || is_tile_kernel(s) != of_tiles)
            continue;
        if (!best || ratio_of(s, best) > 1.0)
            best = s;
    }
    return best;
}

/// Tile kernels beside those of blocks, at every shape that has both.
static void print_tiles(const Report *r)
{
    bool any = false;
    for (size_t i = 0; i < r->count; i++) {
        const ReportSeries *s = &r->at[i];
        const ReportSeries *tiles = best_instance(r, s, true), *blocks = best_instance(r, s, false);
        if (s != tiles || !blocks)
            continue;
        if (!any)
            printf(
                "\n## Tile kernels\n\n| suite | shape | unit | of tiles | instance | of blocks | "
                "instance | ratio |\n|---|---|---|---|---|---|---|---|\n");
        any = true;
        printf("| %s | %s | %s | ", s->suite, s->shape, s->unit);
        print_value(s);
        printf(" | %s | ", s->who + 5);
        print_value(blocks);
        printf(" | %s | **%.3f** |\n", blocks->who + 5, ratio_of(s, blocks));
    }
}

static void print_instances(const Report *r)
{
    printf(
        "\n## Instances\n\n| suite | shape | instance | value | unit |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < r->count; i++) {
        const ReportSeries *s = &r->at[i];
        if (!report_is_instance(s))
            continue;
        printf("| %s | %s | %s | ", s->suite, s->shape, s->who + 5);
        print_value(s);
        printf(" | %s |\n", s->unit);
    }
}

int main(int argc, char **argv)
{
    Report r = { NULL, 0, 0 };
    const char *svg = NULL;
    double ceiling = 0.0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--svg") && i + 1 < argc)
            svg = argv[++i];
        else
            file_read(&r, argv[i]);
    }
    for (size_t i = 0; i < r.count; i++) {
        summarise(&r.at[i]);
        if (!strcmp(r.at[i].suite, "copy"))
            ceiling = fmax(ceiling, r.at[i].median);
    }
    printf("Ratios are the best peer's time over ours. In brackets: the range over runs. The "
           "ceiling is a copy, "
           "%.0f GB/s.\n\n| suite | shape | unit | newt | instance | best peer | ratio | of the "
           "ceiling |\n"
           "|---|---|---|---|---|---|---|---|\n",
           ceiling);
    for (size_t i = 0; i < r.count; i++)
        if (!strcmp(r.at[i].who, "newt"))
            print_row(&r, &r.at[i], ceiling);
    printf("\n## Geometric means\n\n");
    print_means(&r);
    print_tiles(&r);
    print_instances(&r);
    FILE *f = svg ? fopen(svg, "w") : NULL;
    if (svg && !f) {
        perror(svg);
        return 2;
    }
    if (f) {
        report_write_svg(f, r.at, r.count, ceiling);
        fclose(f);
    }
    free(r.at);
    return 0;
}
