/// mma.h - the matrix instructions of each chip, rows of mma.def.
///
/// Types are named as block IR writes them ("fp16", "i8"): chips are known before there are types.
#ifndef NEWT_TARGET_MMA_H
#define NEWT_TARGET_MMA_H
#include "target/target.h"

typedef struct Mma {
    const char *name;   ///< nt_mma_<name> in the prelude
    const char *a, *b;  ///< types of the factors
    uint8_t inner;      ///< K
    uint32_t features;  ///< TARGET_... bits it needs
} Mma;

/// The best instruction for factors of these types on a chip with these features, or NULL.
const Mma *mma_best(const char *a, const char *b, uint32_t features);
/// The one with this K, or NULL.
const Mma *mma_find(const char *a, const char *b, unsigned inner);

#endif
