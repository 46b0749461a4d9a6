/// pipeline_impl.h - what the files of the pipeline pass share.
///
/// pipeline_guard.c proves more of addresses, pipeline_slice.c says what of a loop's body can be
/// computed for a later iteration, pipeline.c chooses what dots take from rings of tiles,
/// pipeline_build.c rewrites the loop, pipeline_defer.c one whose addresses cannot be advanced.
#ifndef NEWT_PASSES_PIPELINE_IMPL_H
#define NEWT_PASSES_PIPELINE_IMPL_H
#include "passes/axis_info.h"
#include "passes/pass.h"

typedef struct Pipe {
    PassCtx *cx;
    IrFunc *fn;
    const AxisInfo *axes;  ///< of the function before the loop at hand is rewritten
    uint32_t value_count;  ///< ... and how many values it had
    uint32_t scratch;      ///< bytes of shared memory that some dot needs for other factors
} Pipe;

/// A FOR, seen by its parts (or a WHILE, of which nothing advances).
typedef struct Loop {
    IrOp *op;
    IrBlock *body;
    bool *advances;  ///< by value id: later iterations' values can be computed now
} Loop;

/// Finds what advances: pure operations on what advances, and loads that no store of the loop can
/// meet. Outside values do; a carried value does if what the body yields for it does.
void pipeline_find_advancing(const Pipe *p, Loop *loop);
/// True when a load of the body may be issued iterations earlier: nothing in the loop that could
/// write what it reads, and nothing that orders memory.
bool pipeline_may_overtake(const Pipe *p, const IrOp *loop, const IrOp *load);
static inline bool pipeline_advances(const Pipe *p, const Loop *loop, const IrValue *v)
{
    return v == NULL || (v->id < p->value_count && loop->advances[v->id]);
}

/// Doubles a loop if that proves what `proved` asks of one of its loads: gives the version in which
/// it does (else the loop itself); the other one has no pipeline.
IrOp *pipeline_guard(Pipe *p, IrOp *loop, IrOp *const *loads, uint32_t count,
                     bool (*proved)(const Pipe *p, const IrOp *load));

typedef enum {
    FEED_ASYNC,  ///< a load: copied without registers
    FEED_STAGED  ///< computed in registers one iteration ahead, then put into the tile
} FeedKind;

/// A value that dots take from a tile.
typedef struct Feed {
    FeedKind kind;
    IrValue *value;  ///< of the original body; ASYNC: the result of a LOAD
    uint8_t fast;    ///< the tile's axis whose neighbours are neighbours in memory
    bool rounds;     ///< STAGED: fp32 to tf32
    uint16_t ring, stages;
} Feed;

typedef VEC(Feed) FeedVec;

/// Makes the loop carry one more value; gives it as the body sees it. What the body yields for it
/// has to be appended to the yield in the same order.
IrValue *pipeline_carry(IrFunc *fn, IrOp *loop, IrValue *initial);
void pipeline_yield_more(IrFunc *fn, IrOp *loop, IrValue *v);
/// slot + by modulo the stages.
IrValue *pipeline_turned(IrBuilder *b, IrValue *slot, unsigned by, unsigned stages);

/// True when all products of the loop (a FOR or WHILE) only sum up what the feeds bring, so that
/// they may come iterations later.
bool pipeline_can_defer(Pipe *p, const Loop *loop, const FeedVec *feeds);
/// Rewrites such a loop: its products come `stages` - 1 iterations later, the last ones behind it.
void pipeline_defer(Pipe *p, Loop *loop, const FeedVec *feeds, unsigned stages);
/// Rewrites the loop: ASYNC feeds `stages` - 1 iterations ahead, STAGED ones by one.
void pipeline_build(Pipe *p, Loop *loop, const FeedVec *feeds, unsigned stages);

#endif
