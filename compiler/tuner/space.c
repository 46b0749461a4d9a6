/// space.c - what can be chosen for a kernel: the list of @autotune, or the product of its tunables
/// with warps and stages.
#include "tuner/tuner_impl.h"
#include <inttypes.h>
#include <string.h>

static void add_value(Arena *a, Dimension *d, int64_t value, int64_t start)
{
    enum { MOST = 64 };
    if (!d->values)
        d->values = ARENA_NEW_N(a, int64_t, MOST);
    if (d->count == MOST)
        return;
    if (value == start)
        d->start = d->count;
    d->values[d->count++] = value;
}

static void add_tunable(Arena *a, const Tunable *t, Dimension *d)
{
    *d = (Dimension){ .name = t->name->text, .is_ordered = t->kind != TUNE_CHOICE };
    switch (t->kind) {
    case TUNE_POWER:
        for (int64_t v = t->lo > 0 ? t->lo : 1; v <= t->hi; v *= 2)
            add_value(a, d, v, t->start);
        break;
    case TUNE_INT:
        for (int64_t v = t->lo; v <= t->hi; v++)
            add_value(a, d, v, t->start);
        break;
    case TUNE_CHOICE:
        for (uint32_t i = 0; i < t->value_count; i++)
            add_value(a, d, t->values[i], t->start);
        break;
    }
}

typedef struct Range {
    int64_t lo, hi;
    bool doubles;
} Range;

static void add_range(Arena *a, Space *s, const char *name, Range range, int64_t start)
{
    Dimension *d = &s->dims[s->dim_count++];
    *d = (Dimension){ .name = name, .is_ordered = true };
    for (int64_t v = range.lo; v <= range.hi; v = range.doubles ? 2 * v : v + 1)
        add_value(a, d, v, start);
}

static void add_words(Arena *a, Space *s, const char *const *words, int64_t start)
{
    Dimension *d = &s->dims[s->dim_count++];
    *d = (Dimension){ .name = "", .words = words, .is_ordered = true };
    for (int64_t i = 0; i < 2; i++)
        add_value(a, d, i, start);
}

/// Pairs of blocks, how tiles of products come to shared memory, whether blocks stay for several
/// programs: what newtc chooses where nothing is said, and what else there is on the chip. In the
/// order in which newtc prints a configuration.
static void add_ways(Arena *a, const Target *target, Space *s)
{
    static const char *const pairs[] = { "", "num_ctas=2" };
    static const char *const copies[] = { "", "copy='cp_async'" };
    static const char *const stays[] = { "", "persistent=0" };
    if (target->features & TARGET_CLUSTER)
        add_words(a, s, pairs, 0);
    if (target->features & TARGET_TMA) {
        add_words(a, s, copies, 0);
        add_words(a, s, stays, 0);
    }
}

void space_of(Arena *a, const Function *f, const KernelUnit *unit, const Target *target, Space *s)
{
    enum { WAYS = 5 };  // dimensions that do not come from tunables
    *s = (Space){ .size = 1 };
    if (unit->config_count) {
        for (uint32_t i = 0; i < unit->config_count; i++)
            VEC_PUSH(a, &s->listed, unit->configs[i].text);
        s->size = unit->config_count;
        return;
    }
    for (uint32_t i = 0; i < f->tunables.len && s->dim_count < SPACE_DIMENSIONS - WAYS; i++)
        add_tunable(a, &f->tunables.at[i], &s->dims[s->dim_count++]);
    const Variant *v = &unit->variants[0];
    if (target) {
        add_range(a, s, "num_warps", (Range){ 1, 16, true }, v->num_warps);
        add_range(a, s, "num_stages", (Range){ 1, 8, false }, v->num_stages);
    }
    if (target && f->has_product)
        add_ways(a, target, s);
    for (uint32_t i = 0; i < s->dim_count; i++)
        s->size *= s->dims[i].count;
}

const char *space_text(Arena *a, const Space *s, const Point *p)
{
    if (s->listed.len)
        return s->listed.at[p->at[0]];
    Buf b = { 0 };
    for (uint32_t i = 0; i < s->dim_count; i++) {
        const Dimension *d = &s->dims[i];
        const int64_t value = d->values[p->at[i]];
        if (d->words && *d->words[value])
            buf_printf(&b, " %s", d->words[value]);
        if (!d->words)
            buf_printf(&b, "%s%s=%" PRId64, i ? " " : "", d->name, value);
    }
    const char *text = arena_strndup(a, b.at, b.len);
    buf_free(&b);
    return text;
}

bool space_is(const char *text, const char *full)
{
    const size_t len = strlen(text);
    return strncmp(text, full, len) == 0 && (full[len] == '\0' || full[len] == ' ');
}

Point space_start(const Space *s)
{
    Point p = { { 0 } };
    for (uint32_t i = 0; i < s->dim_count; i++)
        p.at[i] = (uint16_t)s->dims[i].start;
    return p;
}

Point space_at(const Space *s, uint64_t index)
{
    Point p = { { 0 } };
    if (s->listed.len)
        p.at[0] = (uint16_t)index;
    for (uint32_t i = 0; i < s->dim_count; i++) {
        p.at[i] = (uint16_t)(index % s->dims[i].count);
        index /= s->dims[i].count;
    }
    return p;
}
