/// balance.h - what a kernel asks of a multiprocessor, and so what will bound it.
#ifndef NEWT_DRIVER_BALANCE_H
#define NEWT_DRIVER_BALANCE_H
#include "backend/cuda/sass.h"
#include "ir/ir.h"
#include "target/target.h"

/// Counts by block of threads. Where a loop has products only loops with products count: what lies
/// around them is done once.
typedef struct Balance {
    double operations;   ///< of matrix products, two for each multiplication
    double bytes;        ///< that loads and stores move, masks ignored
    unsigned factor;     ///< bytes of an element of the products' left factors; 0: there are none
    double inner;        ///< the inner size of the last product, whose sum the loop makes
    bool by_warpgroups;  ///< balance_note_products: by wgmma
} Balance;

/// Of a function before layouts.
void balance_count(const IrFunc *fn, Balance *out);

/// What the products of a function with layouts are computed by.
void balance_note_products(const IrFunc *fn, Balance *out);

/// One line: "85 operations of products a byte: bound by tensor cores (from 64 on)". `sass` is what
/// the kernel became.
void balance_print(const Balance *b, const Target *t, const SassSummary *sass, unsigned threads,
                   Buf *out);

#endif
