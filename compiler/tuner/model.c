/// model.c - how long a product will take against other candidates, from what lowering tells.
///
/// A multiprocessor computes and moves data at once, and the slower of the two counts. What is
/// moved is limited by the way from the L2, and by how many bytes are on their way at a time. The
/// last round of programs takes as long as a full one. The figures are those of server chips, by
/// clock, measured on an H200; only relations between candidates of one kernel matter, so the
/// length of the products' sums, which is the same for all, is 1.
#include "tuner/tuner_impl.h"
#include <math.h>

static const double l2_bytes = 60;          // a clock and multiprocessor
static const double latency = 2200;         // clocks from asking to having, under load
static const double warpgroup_rate = 7200;  // operations a clock times bytes of a factor
static const double warp_rate = 3600;       // the same, of mma
static const double by_threads = 1.15;      // what products lose to threads that copy, too
static const double warps_wanted = 8;       // that mma needs to be busy

enum { WARP = 32, REGISTERS_OF_WARPGROUPS = 168, REGISTERS_OF_OTHERS = 64 };  // a guess

/// Blocks that a multiprocessor holds.
static double blocks_of(const Draft *d, const Target *target)
{
    const char *limit;
    const unsigned registers =
        d->balance.by_warpgroups ? REGISTERS_OF_WARPGROUPS : REGISTERS_OF_OTHERS;
    const unsigned fit = target_occupancy(target, d->threads, registers, d->shared, &limit);
    const unsigned most = d->stays && d->stays < fit ? d->stays : fit;
    return most > 0 ? most : 1;
}

/// How much of the time of all rounds programs fill, inverted.
static double rounds_of(const Draft *d, double blocks, unsigned processors)
{
    const double at_once = blocks * (processors ? processors : 1);
    return d->programs > 0 ? ceil(d->programs / at_once) * at_once / d->programs : 1;
}

double model_cost(const Draft *d, const Target *target, unsigned processors)
{
    const Balance *b = &d->balance;
    if (b->bytes <= 0 || !b->factor || !d->threads)
        return 0;
    const double blocks = blocks_of(d, target);
    const double asked = (d->stages > 1 ? d->stages : 1) * b->bytes;
    const double ahead = d->shared > 0 && asked > d->shared ? d->shared : asked;
    const double moved = fmin(l2_bytes, blocks * ahead / latency);
    const double rounds = rounds_of(d, blocks, processors);
    const double warps = blocks * d->threads / WARP;
    const double busy = b->by_warpgroups || warps >= warps_wanted ? 1 : warps / warps_wanted;
    const double rate = busy * (b->by_warpgroups ? warpgroup_rate : warp_rate) / b->factor;
    const double products = (d->by_engine ? 1 : by_threads) / rate;
    const double copies = b->bytes / b->operations / moved;
    // Where both take long neither hides the other quite.
    const double work = d->programs > 0 ? d->programs * b->operations / b->inner : 1;
    return rounds * work * pow(pow(products, 6) + pow(copies, 6), 1.0 / 6);
}
