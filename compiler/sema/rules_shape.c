/// rules_shape.c - how shapes meet: missing leading axes are added, axes of size 1 stretch.
#include "sema/rules.h"
#include <string.h>

static int32_t size_at(const Type *t, unsigned rank, unsigned axis)
{
    unsigned missing = rank - type_rank(t);
    return axis < missing ? 1 : t->shape[axis - missing];
}

// Would `b` fit `a` with a new last axis of size 1?
static bool fits_with_last_axis(const Type *a, const Type *b)
{
    unsigned rank_a = type_rank(a), rank_b = type_rank(b);
    if (rank_b == 0 || rank_b + 1 > rank_a)
        return false;
    for (unsigned i = 0; i < rank_b; i++) {
        int32_t x = a->shape[rank_a - 1 - rank_b + i], y = b->shape[i];
        if (x != y && x != 1 && y != 1)
            return false;
    }
    return true;
}

RuleShape rule_broadcast(const Type *a, const Type *b)
{
    RuleShape r = { .ok = true };
    r.rank = type_rank(a) > type_rank(b) ? type_rank(a) : type_rank(b);
    for (unsigned i = 0; i < r.rank; i++) {
        int32_t x = size_at(a, r.rank, i), y = size_at(b, r.rank, i);
        r.shape[i] = x == 1 ? y : x;
        if (r.ok && x != y && x != 1 && y != 1) {
            r.ok = false;
            r.axis = i;
            r.size[0] = x;
            r.size[1] = y;
            r.lead = fits_with_last_axis(a, b) || fits_with_last_axis(b, a);
        }
    }
    return r;
}

RuleShape rule_broadcast_to(const Type *from, const Type *to)
{
    RuleShape r = { .ok = type_rank(from) <= type_rank(to), .rank = type_rank(to) };
    memcpy(r.shape, to->shape, sizeof r.shape);
    if (!r.ok)
        return r;
    for (unsigned i = 0; i < r.rank && r.ok; i++) {
        int32_t x = size_at(from, r.rank, i);
        if (x != to->shape[i] && x != 1) {
            r.ok = false;
            r.axis = i;
            r.size[0] = x;
            r.size[1] = to->shape[i];
            r.lead = fits_with_last_axis(to, from);
        }
    }
    return r;
}
