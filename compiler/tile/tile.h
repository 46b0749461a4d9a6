/// tile.h - the tile layer: kernels over whole tensors become kernels over blocks.
///
/// A tile kernel (@newt.tile, @deuteron.kernel) loops over tiles of its tensors and names no ids,
/// offsets, masks or block sizes. tile_rewrite makes of each the kernel that one would write by
/// hand: syntax tree to syntax tree, with the spans of the source, so that later messages and the
/// lines in generated code are the user's. tile_source prints such kernels as a file of its own.
#ifndef NEWT_TILE_TILE_H
#define NEWT_TILE_TILE_H
#include "lower/lower.h"

/// Rewrites every tile kernel of `m` in place: its Function is then a FUNC_KERNEL with parameters
/// for addresses, sizes, strides and block sizes, and the tables that the C side needs. One with a
/// fault is reported and left as it is. False when there was one.
bool tile_rewrite(Program *p, Module *m);

/// The module as newt text without tile kernels, which compiles to the same code. Of a kernel that
/// takes a whole axis in one block or in a loop it is the one that `defines` ("LOOP_N=1") ask for.
void tile_source(const Module *m, const char *const *defines, uint32_t define_count, Buf *out);

#endif
