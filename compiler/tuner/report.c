/// report.c - a search as JSON, as a picture, and in words.
#include "tuner/tuner_impl.h"
#include <string.h>

static const char *const kind_names[TRIED_KIND_COUNT] = { "not measured", "right",     "wrong",
                                                          "failed",       "too large", "refused",
                                                          "pruned",       "same code" };

static void put_text(Buf *out, const char *text)
{
    buf_json_string(out, text, strlen(text));
}

static void put_tried(const Tried *t, Buf *out)
{
    buf_puts(out, "    { \"config\": ");
    put_text(out, t->text);
    buf_printf(out, ", \"stage\": \"%s\", \"verdict\": \"%s\", \"at_seconds\": %.3f", t->stage,
               kind_names[t->kind], t->seconds);
    if (t->kind == TRIED_RIGHT)
        buf_printf(out, ", \"us\": %.6g", t->us);
    if (t->why && *t->why) {
        buf_puts(out, ", \"why\": ");
        put_text(out, t->why);
    }
    if (t->res.known)
        buf_printf(out, ", \"threads\": %u, \"registers\": %u, \"shared\": %u, \"spills\": %u",
                   t->res.threads, t->res.registers, t->res.shared, t->res.spills);
    buf_puts(out, " }");
}

void report_json(const Search *s, const char *shape, Buf *out)
{
    buf_puts(out, "  { \"kernel\": ");
    put_text(out, s->build.name);
    buf_puts(out, ", \"shape\": ");
    put_text(out, shape);
    buf_puts(out, ", \"gpu\": ");
    put_text(out, s->worker.gpu);
    buf_printf(out,
               ", \"arch\": \"%s\", \"space\": %.0f, \"seed\": %llu, \"best\": ", s->build.arch,
               s->space.size, (unsigned long long)s->opt->seed);
    put_text(out, s->best >= 0 ? s->tried.at[s->best].text : "");
    buf_puts(out, ", \"tried\": [\n");
    for (uint32_t i = 0; i < s->tried.len; i++) {
        put_tried(&s->tried.at[i], out);
        buf_puts(out, i + 1 < s->tried.len ? ",\n" : "\n");
    }
    buf_puts(out, "  ] }");
}

/* ---- picture ---- */

enum { WIDTH = 900, HEIGHT = 420, MARGIN = 60 };

typedef struct Scale {
    double least, most, seconds;
} Scale;

static double x_of(const Scale *c, double seconds)
{
    return MARGIN + (WIDTH - 2 * MARGIN) * (c->seconds > 0 ? seconds / c->seconds : 0);
}

/// Slower is higher; what is far slower than the best is drawn at the edge.
static double y_of(const Scale *c, double us)
{
    const double part = c->most > c->least ? (us - c->least) / (c->most - c->least) : 0;
    return HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * (part < 1 ? part : 1);
}

static Scale scale_of(const Search *s)
{
    Scale c = { 0, 0, 0 };
    for (uint32_t i = 0; i < s->tried.len; i++)
        c.seconds = s->tried.at[i].seconds > c.seconds ? s->tried.at[i].seconds : c.seconds;
    c.least = s->best >= 0 ? s->tried.at[s->best].us : 0;
    c.most = 4 * c.least;
    return c;
}

static void put_points(const Search *s, const Scale *c, Buf *out)
{
    double best = 0;
    for (uint32_t i = 0; i < s->tried.len; i++) {
        const Tried *t = &s->tried.at[i];
        if (t->kind == TRIED_NOT)
            continue;
        const bool is_right = t->kind == TRIED_RIGHT;
        buf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"><title>",
                   x_of(c, t->seconds), is_right ? y_of(c, t->us) : MARGIN / 2.0,
                   is_right ? (best <= 0 || t->us < best ? "#c0392b" : "#2c6fbb") : "#999999");
        for (const char *p = t->text; *p; p++)  // values may hold quotes, < and &
            buf_printf(out, *p == '<' ? "&lt;" : *p == '&' ? "&amp;" : "%c", *p);
        if (is_right)
            buf_printf(out, ": %.2f us</title></circle>\n", t->us);
        else
            buf_printf(out, ": %s</title></circle>\n", kind_names[t->kind]);
        if (is_right && (best <= 0 || t->us < best))
            best = t->us;
    }
}

void report_svg(const Search *s, const char *shape, Buf *out)
{
    const Scale c = scale_of(s);
    buf_printf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
        "<text x=\"%d\" y=\"18\" font-size=\"14\">%s, %s, on %s: %u configurations tried</text>\n",
        WIDTH, HEIGHT, MARGIN, s->build.name, *shape ? shape : "one shape", s->worker.gpu,
        s->tried.len);
    for (int i = 0; i <= 3; i++) {
        const double us = c.least + (c.most - c.least) * i / 3;
        buf_printf(out,
                   "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#dddddd\"/>"
                   "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.4g us</text>\n",
                   MARGIN, WIDTH - MARGIN, y_of(&c, us), y_of(&c, us), MARGIN - 4, y_of(&c, us) + 4,
                   us);
    }
    put_points(s, &c, out);
    buf_printf(
        out,
        "<text x=\"%d\" y=\"%d\">seconds: 0 to %.1f; red: best so far; grey, above: not right "
        "or not measured</text>\n</svg>\n",
        MARGIN, HEIGHT - 20, c.seconds);
}

/* ---- words ---- */

static unsigned blocks_of(const Resources *r, const Target *t, const char **limit)
{
    return target_occupancy(t, r->threads, r->registers, r->shared, limit);
}

static void explain_one(const Search *s, const Tried *t, const Target *target, FILE *out)
{
    const char *limit;
    fprintf(out, "  %8.2f us  %s\n", t->us, t->text);
    if (!t->res.known || !target)
        return;
    const unsigned blocks = blocks_of(&t->res, target, &limit);
    fprintf(
        out,
        "               %u threads, %u registers, %u bytes shared, %u bytes spilled; %u block%s "
        "(%u warps) a multiprocessor, limited by %s\n",
        t->res.threads, t->res.registers, t->res.shared, t->res.spills, blocks,
        blocks == 1 ? "" : "s", blocks * t->res.threads / 32, limit);
    (void)s;
}

/// What differs in `name=value` words.
static void explain_difference(const char *best, const char *other, FILE *out)
{
    bool any = false;
    while (*best) {
        const size_t len = strcspn(best, " ");
        const size_t name = strcspn(best, "=");
        for (const char *at = other; *at; at += strcspn(at, " "), at += *at == ' ')
            if (strncmp(at, best, name + 1) == 0 &&
                (strcspn(at, " ") != len || strncmp(at, best, len) != 0)) {
                fprintf(out, "%s%.*s against %.*s", any ? ", " : "    by ", (int)len, best,
                        (int)(strcspn(at, " ") - name - 1), at + name + 1);
                any = true;
            }
        best += len + (best[len] == ' ');
    }
    if (any)
        fputc('\n', out);
}

/// What the chip makes of the difference, as far as the compiler's figures tell.
static void explain_reason(const Resources *best, const Resources *other, const Target *target,
                           FILE *out)
{
    const char *limit, *other_limit;
    if (!best->known || !other->known || !target)
        return;
    const unsigned warps = blocks_of(best, target, &limit) * best->threads / 32;
    const unsigned others = blocks_of(other, target, &other_limit) * other->threads / 32;
    if (other->spills > best->spills)
        fprintf(out, "    it spills %u bytes a thread less\n", other->spills - best->spills);
    if (warps > others)
        fprintf(out, "    it has %u warps a multiprocessor in flight, where %s leave%s %u\n", warps,
                other_limit, strcmp(other_limit, "shared memory") == 0 ? "s" : "", others);
    else if (warps < others && best->registers > other->registers)
        fprintf(out,
                "    it keeps more in registers, %u a thread against %u, and does with %u warps\n",
                best->registers, other->registers, warps);
    else if (warps == others && best->shared > other->shared)
        fprintf(out, "    it has more on the way in shared memory, %u bytes against %u\n",
                best->shared, other->shared);
}

void report_explain(const Search *s, FILE *out)
{
    const Tried *shown[4] = { s->best >= 0 ? &s->tried.at[s->best] : NULL };
    const Target *target = target_find(s->build.arch);
    if (!shown[0])
        return;
    for (int k = 1; k < 4; k++)  // the next three, by time
        for (uint32_t i = 0; i < s->tried.len; i++) {
            const Tried *t = &s->tried.at[i];
            bool is_shown = t->kind != TRIED_RIGHT;
            for (int j = 0; j < k; j++)
                is_shown |= shown[j] == t;
            if (!is_shown && (!shown[k] || t->us < shown[k]->us))
                shown[k] = t;
        }
    fputs("the winner, and the next ones:\n", out);
    for (int k = 0; k < 4 && shown[k]; k++) {
        explain_one(s, shown[k], target, out);
        if (k) {
            explain_difference(shown[0]->text, shown[k]->text, out);
            explain_reason(&shown[0]->res, &shown[k]->res, target, out);
        }
    }
    if (s->tried.len && s->tried.at[0].kind == TRIED_RIGHT && s->best != 0)
        fprintf(out, "it takes %.2f of the default's time\n", shown[0]->us / s->tried.at[0].us);
}
