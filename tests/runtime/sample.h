/// A module written by hand, as newtc would write it: the subject of the launch tests.
#ifndef NEWT_TESTS_SAMPLE_H
#define NEWT_TESTS_SAMPLE_H
#include <newt/module.h>

typedef struct SampleArgs {
    const float *x, *y;
    float *out;
    int64_t n;
} SampleArgs;

enum { SAMPLE_BLOCK = 256 };

/// out = x + y, in programs of SAMPLE_BLOCK elements. Variants "aligned" (pointers and n multiples
/// of 16), "one" (n == 1), "generic"; images sm_80, sm_90a, compute_80.
extern const NewtKernel *const sample_add;

/// As sample_add without a grid expression, with 100 KiB of shared memory, for sm_80 only.
extern const NewtKernel *const sample_big;

/// As sample_add for sm_90a only, in clusters of 16 blocks.
extern const NewtKernel *const sample_cluster;

/// Writes 1 to out[program], counting what ran; scratch of 100 bytes, caller's grid; host only.
extern const NewtKernel *const sample_mark;

typedef struct TileArgs {
    const float *a;
    const void *b;  // fp8
    int64_t m, k, stride;
} TileArgs;

enum { TILE_PARAMS = 5, TILE_ROWS = 64 };

/// A program for each TILE_ROWS of m, on sm_90a. Variant "maps" (stride is a multiple of 4) makes
/// two tensor maps, of a (fp32, m x k, with its stride) and of b (fp8, 3 x m x k, dense), and has a
/// persistent grid of 2 blocks on a multiprocessor; its expression fails when m is -1. "plain" has
/// neither.
extern const NewtKernel *const sample_tile;

/// The variant "maps" alone.
extern const NewtKernel *const sample_only_maps;

/// The same in clusters of 4 blocks.
extern const NewtKernel *const sample_tile_clusters;

/// One kernel for each rule of recipes, which its only one breaks; NULL behind the last.
extern const NewtKernel *const sample_bad_recipes;
extern const char *const sample_bad_recipe_texts[];

/// A kernel of a module with another ABI number.
extern const NewtKernel *const sample_foreign;
#endif
