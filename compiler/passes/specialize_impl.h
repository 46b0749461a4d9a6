/// specialize_impl.h - what the files of the specialize pass share.
///
/// specialize.c chooses the loads that a producer makes and rewrites the function into what the
/// other warps do, specialize_rings.c gives them maps and shared memory, specialize_producer.c
/// makes the producer, specialize_persist.c lets blocks loop over programs, specialize_cluster.c has
/// two of them share copies.
#ifndef NEWT_PASSES_SPECIALIZE_IMPL_H
#define NEWT_PASSES_SPECIALIZE_IMPL_H
#include "passes/pass.h"
#include "passes/tensor_access.h"

/// A load that the producer makes.
typedef struct Feed {
    IrOp *load;
    const TensorAccess *access;
    uint8_t fast;      ///< the tile's axis of neighbours
    uint8_t line;      ///< the dimension of the access that has it
    uint32_t group;    ///< feeds that one wait waits for
    uint32_t shares;   ///< the group whose pipe and rings this group uses, itself or another
    bool tf32;         ///< the copy rounds to it
    bool has_own_map;  ///< no earlier feed has the same
    uint16_t ring, map, pipe;
} Feed;

typedef VEC(Feed) FeedVec;

typedef struct Special {
    PassCtx *cx;
    IrFunc *fn;
    Tensors *tensors;
    FeedVec feeds;
    FeedVec stores;  ///< of sums, that become copies: load is the STORE
    uint32_t group_count;
    unsigned teams;  ///< 2: programs run on two teams of warps in turn
    bool *written;   ///< by parameter: something may be stored through it
    const uint32_t *uses;    ///< by id, when specialize_stages counts
    const bool *depends;     ///< by id of the producer's values: differs between programs
    uint32_t depends_count;  ///< of them, when specialize_choose_pairs looked
} Special;

/// A loop over programs, or over pairs of them.
typedef struct SpecialLoop {
    IrOp *op;
    IrValue *program, *partner;  ///< in its body: the program at hand; of a pair, the other block's
} SpecialLoop;

/* ---- specialize.c ---- */
/// The load that `v` is, or is a transposition of; NULL: none.
IrOp *specialize_load_behind(IrValue *v);
/// The operation of the load's block that uses it last, or in which it is used last; NULL: none.
IrOp *specialize_last_use(const IrFunc *fn, const IrOp *load);
/// NULL when the producer does not make it.
Feed *specialize_feed_of(Special *s, const IrOp *load);

/// Tells whoever asks why an access is no copy; NULL: it is one.
void specialize_note(Special *s, const IrOp *op, const char *reason);
/// The dimension of an access whose stride is 1, an axis of the block.
unsigned specialize_line(const TensorAccess *access);

/// Why the launcher cannot bound the integers of an access; NULL: it can.
const char *specialize_unbounded(Special *s, const IrOp *op, const TensorAccess *access);

/* ---- specialize_store.c ---- */
void specialize_find_stores(Special *s);
/// Shared memory that their buffers take.
uint32_t specialize_store_bytes(const Special *s);
void specialize_make_store_maps(Special *s);
void specialize_rewrite_stores(Special *s);

/* ---- specialize_rings.c ---- */
bool specialize_in_loop(const IrOp *op);
/// Has groups use one pipe where that is possible.
void specialize_share_pipes(Special *s);
/// As many of the wanted stages as shared memory holds; 0: not even two.
unsigned specialize_stages(Special *s);
/// Gives the function the maps, rings and pipes of its feeds.
void specialize_make_rings(Special *s, unsigned stages);

/// The function reduced to scalars, with a copy for each feed; NULL with *reason set when what
/// decides over the copies is not known to a lone thread. `written`: by parameter, whether the
/// kernel may store through it.
IrFunc *specialize_producer(PassCtx *cx, const IrFunc *fn, const FeedVec *feeds,
                            const bool *written, const char **reason);

/* ---- specialize_cluster.c ---- */
/// Where blocks were to run in pairs (num_ctas) and cannot, has them run alone. Needs the producer, no loop over
/// programs yet.
void specialize_choose_pairs(Special *s, IrFunc *producer);
/// Has the blocks of a pair copy what both need once, where that can be seen.
void specialize_share_copies(const Special *s, IrFunc *producer, const SpecialLoop *loop);

/* ---- specialize_persist.c ---- */
/// True when blocks may and should loop over programs.
bool specialize_pays_to_persist(const Special *s);
/// True when two teams of warps should take turns. Needs s->feeds and what they share.
bool specialize_wants_teams(const Special *s);
/// Wraps what the function and its producer do in loops over programs, where that may pay.
void specialize_persist(Special *s);

#endif
