// product.c - see product.h.
#include "product.h"

/// Element `i` of a factor as it is multiplied. *open: how much less it may be, since ties of tf32 go either
/// way.
static Num factor(const Product *p, NewtType t, const void *at, size_t i, Num *open)
{
    const Num v = num_get(t, at, i);
    *open = 0;
    if (!p->tf32)
        return v;
    int exponent;
    frexpl(v, &exponent);
    const Num unit = ldexpl(1, (exponent < -125 ? -125 : exponent) - 11);
    const Num rounded = roundl(v / unit) * unit;
    if (fabsl(rounded - v) == unit / 2)
        *open = unit;
    return rounded;
}

Num product_element(const Product *p, const void *a, const void *b, int32_t m, int32_t n, Num first,
                    Num *slack)
{
    Num sum = first, size = fabsl(first);
    Num ties = 0, x_open, y_open;
    for (int32_t k = 0; k < p->k; k++) {
        const Num x = factor(p, p->a, a, (size_t)(m * p->a_row + k * p->a_col), &x_open);
        const Num y = factor(p, p->b, b, (size_t)(k * p->b_row + n * p->b_col), &y_open);
        sum += x * y;
        size += fabsl(x * y);
        ties += x_open * fabsl(y) + y_open * fabsl(x);
    }
    // Tensor cores cut what they add off: a bit more than half a unit in each step. Hopper's warpgroups
    // keep 13 bits behind the point when they add 32 products of fp8 factors to a sum.
    const bool fp8 = p->a == NEWT_F8E4M3 || p->a == NEWT_F8E5M2;
    const Num unit = p->c == NEWT_F64 ? 0x1p-53L : fp8 ? 0x1p-13L : 0x1p-23L;
    *slack = num_is_float(p->c) ? (Num)(fp8 ? p->k / 32 + 2 : p->k + 2) * size * unit : 0;
    *slack += p->lost * size + ties;
    return sum;
}

void product_fill(RunCx *cx, NewtType t, void *at, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (num_is_float(t))
            num_put(t, at, i, (Num)run_uniform(cx));
        else
            num_put_int(t, at, i, run_random(cx));
    }
}

void product_check(const Product *p, const void *a, const void *b, const void *c, size_t c_at,
                  const char *what)
{
    Num slack;
    for (int32_t m = 0; m < p->m; m++)
        for (int32_t n = 0; n < p->n; n++) {
            const Num want = product_element(p, a, b, m, n, 0, &slack);
            const Num got = num_get(p->c, c, c_at + (size_t)(m * p->n + n));
            if (p->c == NEWT_F16)  // of a sum in fp32, rounded
                slack += fabsl(want) * 0x1p-11L + 0x1p-25L;
            if (!(fabsl(got - want) <= slack))
                fail_msg(
                    "%s: element (%d, %d) of %d x %d x %d is %.10Lg, should be %.10Lg within %.2Lg",
                    what, m, n, p->m, p->n, p->k, got, want, slack);
        }
}

