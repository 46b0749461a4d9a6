/// occupancy.c - how many blocks of a kernel one multiprocessor holds.
#include "target/target.h"

enum { REGISTERS = 65536, BLOCKS_MAX = 32, OF_SYSTEM = 1024 };

/// Threads that are resident at most: fewer on the chips of graphics cards.
static unsigned threads_max(const Target *t)
{
    if (t->sm == 75)
        return 1024;
    return t->sm == 80 || (t->sm >= 90 && t->sm < 120) ? 2048 : 1536;
}

unsigned target_occupancy(const Target *t, unsigned threads, unsigned registers, unsigned shared,
                          const char **limit)
{
    *limit = "blocks";
    if (threads == 0)
        return BLOCKS_MAX;
    const unsigned taken = (registers + 7) / 8 * 8 * threads;
    const struct {
        unsigned blocks;
        const char *of;
    } limits[] = {
        { threads_max(t) / threads, "threads" },
        { taken ? REGISTERS / taken : BLOCKS_MAX, "registers" },
        { shared ? (t->shared_max + OF_SYSTEM) / (shared + OF_SYSTEM) : BLOCKS_MAX,
          "shared memory" },
    };
    unsigned blocks = BLOCKS_MAX;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (limits[i].blocks < blocks) {
            blocks = limits[i].blocks;
            *limit = limits[i].of;
        }
    }
    return blocks;
}
