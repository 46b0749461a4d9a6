/// emit_dot.h - what the emitters of matrix products share.
///
/// emit_dot.c brings the factors to shared memory and multiplies plainly; emit_mma.c and emit_wgmma.c
/// multiply by matrix instructions of a warp and of a warpgroup. All add to an array `sum` with one element a slot of the sum's layout.
#ifndef NEWT_BACKEND_CUDA_EMIT_DOT_H
#define NEWT_BACKEND_CUDA_EMIT_DOT_H
#include "backend/cuda/emit_impl.h"

typedef struct EmitDot {
    const IrOp *op;
    const DotPlan *plan;
    const Layout *layout;  // of the sum
    unsigned slots;
    const char *ctype[2];  // of the factors
    const char *sum_type;  // what is summed in
    const char *tile[2];   // the factors in shared memory
    const char *sum;       // the array
    bool swapped;          // wgmma: made as the transpose
    const char *words;     // ... the first factor's registers; NULL: it is in shared memory
} EmitDot;

/// An expression that is linear in some bits, and all bits that it may have.
typedef struct EmitIndex {
    const char *text;
    uint32_t image;
} EmitIndex;

/// The sum's elements at which factor `which` changes, by the slot's bits: position p's bit is that
/// of slot bit bits[p]. Gives how many there are.
unsigned cuda_dot_slots(const EmitDot *d, unsigned which, uint8_t *bits);
/// The place in shared memory that bits [0, count) of `var` add to: basis[k] are factor elements.
EmitIndex cuda_dot_index(Emit *e, const DotFactor *f, const char *var, const uint32_t *basis,
                         unsigned count);
EmitIndex cuda_dot_join(Emit *e, EmitIndex a, EmitIndex b);
/// Begins a loop of `var` that unrolls, with a block; gives "0" and only the block for one round.
const char *cuda_dot_loop(Emit *e, const char *var, unsigned n, unsigned step);

/// Multiplies by matrix instructions of a warp (emit_mma.c), of a warpgroup (emit_wgmma.c).
void cuda_dot_mma(Emit *e, const EmitDot *d);
void cuda_dot_wgmma(Emit *e, const EmitDot *d);
/// Fills `words` (emit_wgmma.c): what an asynchronous product reads is declared beside its sum.
void cuda_dot_words(Emit *e, EmitDot *d);
/// True when carried value `index` of a loop is a sum of products that run on into the next iteration.
bool cuda_dot_carries_sum(const IrOp *loop, uint32_t index);
/// True when carried value `index` of a loop is a sum that begins at zero in products of the loop, which is not
/// cleared in front of it. Where it made no round the sum is cleared behind the wait for it.
bool cuda_dot_begins_sum(const IrOp *loop, uint32_t index);
/// Declares, for each product of a loop's body that runs on into the next iteration and has a factor in
/// registers, words for every other iteration, since those of the one before are still read. The body is
/// printed twice then: true.
bool cuda_dot_words_in_turn(Emit *e, const IrBlock *body);
/// The other half of these words is next.
void cuda_dot_take_turns(Emit *e, const IrBlock *body);
/// True when the operation itself makes its sum begin at zero: `sum` need not hold anything.
bool cuda_dot_starts_anew(const IrOp *op);

#endif
