/// report_svg.c - results as horizontal bars; see report.h.
#include "report.h"

#include <string.h>

enum { LEFT = 190, WIDTH = 640, BAR = 13, GAP = 12, TOP = 46, RIGHT = 190 };

static bool is_drawn(const ReportSeries *s)
{
    return strcmp(s->unit, "GB/s") == 0 && !report_is_instance(s);
}

static bool is_same_cell(const ReportSeries *a, const ReportSeries *b)
{
    return strcmp(a->suite, b->suite) == 0 && strcmp(a->shape, b->shape) == 0;
}

static const char *colour_of(const char *who)
{
    if (strcmp(who, "newt") == 0)
        return "#1f6fb4";
    return strcmp(who, "triton") == 0 ? "#b9a44c" : "#9a9a9a";
}

static bool is_first_of_cell(const ReportSeries *series, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (is_drawn(&series[k]) && is_same_cell(&series[k], &series[i]))
            return false;
    return true;
}

/// The bars of the cell that series[i] begins; returns the y below them.
static unsigned draw_cell(FILE *out, const ReportSeries *series, size_t count, size_t i, unsigned y,
                          double most)
{
    fprintf(out, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">%s %s</text>\n", LEFT - 8,
            y + BAR - 2, series[i].suite, series[i].shape);
    for (size_t k = i; k < count; k++) {
        const ReportSeries *s = &series[k];
        if (!is_drawn(s) || !is_same_cell(s, &series[i]))
            continue;
        double length = s->median / most * WIDTH;
        fprintf(out, "<rect x=\"%d\" y=\"%u\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", LEFT,
                y, length, BAR - 2, colour_of(s->who));
        fprintf(out, "<text x=\"%.1f\" y=\"%u\">%s %.0f</text>\n", LEFT + length + 5.0, y + BAR - 3,
                s->who, s->median);
        y += BAR;
    }
    return y + GAP;
}

void report_write_svg(FILE *out, const ReportSeries *series, size_t count, double ceiling)
{
    unsigned height = TOP + GAP, y = TOP;
    double most = ceiling;
    for (size_t i = 0; i < count; i++) {
        if (!is_drawn(&series[i]))
            continue;
        height += BAR + (is_first_of_cell(series, i) ? GAP : 0);
        most = series[i].median > most ? series[i].median : most;
    }
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
            "font-family=\"sans-serif\" "
            "font-size=\"11\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
            "<text x=\"%d\" y=\"18\" font-size=\"14\">GB/s; the line is the measured copy</text>\n",
            LEFT + WIDTH + RIGHT, height, LEFT);
    for (size_t i = 0; i < count && most > 0.0; i++)
        if (is_drawn(&series[i]) && is_first_of_cell(series, i))
            y = draw_cell(out, series, count, i, y, most);
    if (ceiling > 0.0)
        fprintf(out, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%u\" stroke=\"#c03030\"/>\n",
                LEFT + ceiling / most * WIDTH, TOP - 8, LEFT + ceiling / most * WIDTH,
                height - GAP);
    fprintf(out, "</svg>\n");
}
