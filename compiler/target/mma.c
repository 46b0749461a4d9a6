/// mma.c - look-up in mma.def.
#include "target/mma.h"

#include <string.h>

#define MMA(name, a, b, inner, features) { name, a, b, inner, features },
static const Mma rows[] = {
#include "target/mma.def"
};
#undef MMA

enum { ROW_COUNT = sizeof rows / sizeof *rows };

static bool multiplies(const Mma *row, const char *a, const char *b)
{
    return strcmp(row->a, a) == 0 && strcmp(row->b, b) == 0;
}

const Mma *mma_best(const char *a, const char *b, uint32_t features)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (multiplies(&rows[i], a, b) && (rows[i].features & ~features) == 0)
            return &rows[i];
    return NULL;
}

const Mma *mma_find(const char *a, const char *b, unsigned inner)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (multiplies(&rows[i], a, b) && rows[i].inner == inner)
            return &rows[i];
    return NULL;
}
