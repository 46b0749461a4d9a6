// classes.c - size classes: how large the blocks over whole axes of tensors are.
//
// A tile kernel that takes an axis as a whole has a block over it, and the size comes with the
// call. So there are variants with several blocks, each of which assumes that the sizes fit.
#include "lower/variants_impl.h"

typedef struct SizeClass {
    int64_t block;
    int64_t warps;  // 0: the kernel's own
} SizeClass;

// What was fastest for rows on an H200: a thread keeps 16 elements, or 32 of the longest ones.
static const SizeClass rows[] = {
    { MODULE_ROW_BLOCK, MODULE_ROW_WARPS }, { 2048, 4 }, { 4096, 8 }, { 8192, 16 }, { 16384, 16 },
};
// A factor of a matrix product may not be as long as a row.
static const SizeClass products[] = { { 64, 0 }, { 128, 0 }, { 256, 0 } };
enum { ROW_COUNT = sizeof rows / sizeof *rows, PRODUCT_COUNT = sizeof products / sizeof *products };

static const SizeClass *classes_of(const Function *f, uint32_t param, uint32_t *count)
{
    for (uint32_t i = 0; i < f->tunables.len; i++)
        if (f->tunables.at[i].name == f->params[param].name &&
            f->tunables.at[i].hi <= products[PRODUCT_COUNT - 1].block) {
            *count = PRODUCT_COUNT;
            return products;
        }
    *count = ROW_COUNT;
    return rows;
}

// What lies in chunks when no block of `rows` holds it.
static const SizeClass chunk = { 4096, 8 };

static uint32_t loop_of(const Function *f)
{
    uint32_t i = 0;
    while (i < f->param_count && !f->params[i].is_loop)
        i++;
    return i;
}

// Whether the loop along whole axes is on, as far as an instance or a configuration says.
static bool is_set(const ParamBinding *loop)
{
    return loop->value.kind != CONST_INT || loop->value.v.i != 0;
}

// Classes whose blocks a program can hold together with what stands beside them; at least one.
static uint32_t classes_that_fit(const Function *f, uint32_t param)
{
    enum { MOST_ELEMENTS = 1 << 15 };
    uint32_t n;
    const SizeClass *classes = classes_of(f, param, &n);
    while (n > 1 && classes[n - 1].block * f->params[param].beside > MOST_ELEMENTS)
        n--;
    return n;
}

uint32_t lower_size_classes(const Function *f, const Settings *s)
{
    const uint32_t loop = loop_of(f);
    uint32_t count = 1;
    for (uint32_t i = 0; i < f->param_count; i++) {
        const uint32_t fit =
            f->params[i].covers && !s->params[i].is_given ? classes_that_fit(f, i) : 1;
        count = fit > count ? fit : count;
    }
    if (loop == f->param_count)
        return count;
    if (!s->params[loop].is_given)
        return count + 1;
    return is_set(&s->params[loop]) ? 1 : count;
}

// The last class of a kernel that can go along whole axes in a loop takes any size.
static bool is_looped(const Function *f, uint32_t index, const Settings *s)
{
    const uint32_t loop = loop_of(f);
    if (loop == f->param_count)
        return false;
    return s->params[loop].is_given ? is_set(&s->params[loop])
                                    : index + 1 == lower_size_classes(f, s);
}

void lower_apply_class(const Function *f, uint32_t index, Settings *s)
{
    const bool looped = is_looped(f, index, s);
    if (looped)
        s->params[loop_of(f)].value = const_int(1);
    for (uint32_t i = 0; i < f->param_count; i++) {
        ParamBinding *block = &s->params[i];
        if (!f->params[i].covers)
            continue;
        ParamBinding *size = &s->params[f->params[i].covers - 1];
        if (!block->is_given) {
            uint32_t count;
            const uint32_t fit = classes_that_fit(f, i);
            const SizeClass *of = classes_of(f, i, &count), *c = &of[index < fit ? index : fit - 1];
            c = looped ? &chunk : c;
            int64_t length = c->block;
            while (looped && length > 16 && length * f->params[i].beside > chunk.block)
                length /= 2;
            block->value = const_int(length);
            if (c->warps && !f->num_warps)
                s->num_warps = c->warps;
        }
        if (block->value.kind == CONST_INT && !looped)
            size->at_most = (int64_t)block->value.v.i;
    }
}
