// product.c - see product.h.
#include "product.h"

/// A factor's element as it is multiplied. `open`: how much less it may be, since ties of tf32 go either way.
typedef struct Factor {
    Num value, open;
} Factor;

static Factor factor(const Product *p, NewtType t, const void *at, size_t i)
{
    const Num v = num_get(t, at, i);
    if (!p->tf32)
        return (Factor){ v, 0 };
    int exponent;
    frexpl(v, &exponent);
    const Num unit = ldexpl(1, (exponent < -125 ? -125 : exponent) - 11);
    const Num rounded = roundl(v / unit) * unit;
    const bool is_tie = fabsl(rounded - v) == unit / 2;
    return (Factor){ rounded, is_tie ? unit : 0 };
}

/// `lines` lines of p->k elements each, for free(): line i begins at i * line, its elements are `step` apart.
static Factor *lines_of(const Product *p, NewtType t, const void *at, int32_t lines, size_t line, size_t step)
{
    const size_t k = (size_t)p->k;
    Factor *out = malloc(((size_t)lines * k + 1) * sizeof *out);
    assert_non_null(out);
    for (size_t i = 0; i < (size_t)lines * k; i++)
        out[i] = factor(p, t, at, i / k * line + i % k * step);
    return out;
}

static Num sum_of(const Product *p, const Factor *x, const Factor *y, Num first, Num *slack)
{
    Num sum = first, size = fabsl(first), ties = 0;
    for (int32_t k = 0; k < p->k; k++) {
        const Num product = x[k].value * y[k].value;
        sum += product;
        size += fabsl(product);
        if (p->tf32)
            ties += x[k].open * fabsl(y[k].value) + y[k].open * fabsl(x[k].value);
    }
    // Tensor cores cut what they add off: a bit more than half a unit in each step. Hopper's warpgroups
    // keep 13 bits behind the point when they add 32 products of fp8 factors to a sum.
    const bool fp8 = p->a == NEWT_F8E4M3 || p->a == NEWT_F8E5M2;
    const Num unit = p->c == NEWT_F64 ? 0x1p-53L : fp8 ? 0x1p-13L : 0x1p-23L;
    *slack = num_is_float(p->c) ? (Num)(fp8 ? p->k / 32 + 2 : p->k + 2) * size * unit : 0;
    *slack += p->lost * size + ties;
    return sum;
}

Num product_element(const Product *p, const void *a, const void *b, int32_t m, int32_t n, Num first,
                    Num *slack)
{
    const char *row = (const char *)a + (size_t)(m * p->a_row) * num_size(p->a);
    const char *column = (const char *)b + (size_t)(n * p->b_col) * num_size(p->b);
    Factor *x = lines_of(p, p->a, row, 1, 0, (size_t)p->a_col);
    Factor *y = lines_of(p, p->b, column, 1, 0, (size_t)p->b_row);
    const Num sum = sum_of(p, x, y, first, slack);
    free(x);
    free(y);
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
    const size_t k = (size_t)p->k;
    Factor *x = lines_of(p, p->a, a, p->m, (size_t)p->a_row, (size_t)p->a_col);
    Factor *y = lines_of(p, p->b, b, p->n, (size_t)p->b_col, (size_t)p->b_row);
    for (int32_t m = 0; m < p->m; m++)
        for (int32_t n = 0; n < p->n; n++) {
            const Num want = sum_of(p, x + (size_t)m * k, y + (size_t)n * k, 0, &slack);
            const Num got = num_get(p->c, c, c_at + (size_t)(m * (p->c_row ? p->c_row : p->n) + n));
            if (p->c == NEWT_F16)  // of a sum in fp32, rounded
                slack += fabsl(want) * 0x1p-11L + 0x1p-25L;
            if (!(fabsl(got - want) <= slack))
                fail_msg(
                    "%s: element (%d, %d) of %d x %d x %d is %.10Lg, should be %.10Lg within %.2Lg",
                    what, m, n, p->m, p->n, p->k, got, want, slack);
        }
    free(x);
    free(y);
}

