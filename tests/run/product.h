/// product.h - what the tests of matrix products share: the product in long double.
#ifndef NEWT_TESTS_PRODUCT_H
#define NEWT_TESTS_PRODUCT_H
#include "number.h"

/// A product of `m` by `k` and `k` by `n` numbers; element (i, j) of a factor is at i * row + j *
/// col.
typedef struct Product {
    NewtType a, b, c;
    bool tf32;
    int32_t m, n, k, a_row, a_col, b_row, b_col;
    Num lost;       ///< of each product, relative
    int32_t c_row;  ///< elements from row to row of the result; 0: n
} Product;

/// Element (m, n) with what may be added to it, and how far a sum in the result's type may be from
/// it.
Num product_element(const Product *p, const void *a, const void *b, int32_t m, int32_t n, Num first,
                    Num *slack);
/// Random elements of a factor.
void product_fill(RunCx *cx, NewtType t, void *at, size_t count);
/// Fails unless `c`, from element `c_at` on, is the product.
void product_check(const Product *p, const void *a, const void *b, const void *c, size_t c_at,
                   const char *what);

#endif
