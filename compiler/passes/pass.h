/// pass.h - running passes over one function.
///
/// passes.def lists them in order. A pass is `bool pass_<name>(PassCtx *, IrFunc *)`: false after
/// it reported an error. Between passes the IR is valid for its level (ir_verify).
#ifndef NEWT_PASSES_PASS_H
#define NEWT_PASSES_PASS_H
#include "ir/ir.h"

typedef enum { PASS_TILE, PASS_LAYOUT, PASS_MEMORY, PASS_LEVEL_COUNT } PassLevel;

/// The best way to compute matrix products that may be taken; where it cannot be, the next best is.
typedef enum { DOT_BEST, DOT_FMA, DOT_MMA, DOT_WGMMA } DotChoice;

/// The best way to bring tiles to shared memory that may be taken; where it cannot be, the next best is.
typedef enum { COPY_BEST, COPY_SYNC, COPY_CP_ASYNC, COPY_TMA } CopyChoice;

struct LayoutTable;
struct Target;

typedef struct PassCtx {
    Arena *arena;  ///< for what a pass needs; lives as long as the function's
    DiagSink *diags;
    struct LayoutTable *layouts;  ///< NULL: only TILE passes run
    const struct Target *target;  ///< NULL: only TILE passes run
    uint32_t features;  ///< TARGET_... bits of every chip that the function is compiled for
    DotChoice dots;
    CopyChoice copies;
    unsigned grid_axes;     ///< the grid has one program along the axes from this one on; 0: not known
    bool no_tensor_copies;  ///< the copy engine is not used
    bool is_flat;           ///< a block is one program
    /// Called for each load that specialize looks at, with why it is no copy (NULL: it is one), when
    /// not NULL.
    void (*on_copy)(void *cx, const IrOp *load, const char *reason);
    void *on_copy_cx;
    bool verify_each;   ///< ir_verify after every pass
    /// Called after every pass when not NULL. `ordinal` is 1 for the first row of that name.
    void (*dump_after)(void *cx, const char *pass, unsigned ordinal, const IrFunc *fn);
    void *dump_cx;
} PassCtx;

#define PASS(name, level, doc) bool pass_##name(PassCtx *cx, IrFunc *fn);
#include "passes/passes.def"
#undef PASS

typedef struct PassInfo {
    const char *name;
    PassLevel level;
    bool (*run)(PassCtx *cx, IrFunc *fn);
    const char *doc;
} PassInfo;

/// The rows of passes.def, ended by one without a name.
extern const PassInfo pass_info[];

/// Runs every pass whose level is from `first` to `last`, in order. False as soon as one reported
/// an error or left invalid IR (an internal diagnostic that names it).
bool pass_run_all(PassCtx *cx, IrFunc *fn, PassLevel first, PassLevel last);

/// Runs one pass, whatever its level. The name must be one of passes.def (pass_find).
bool pass_run_named(PassCtx *cx, IrFunc *fn, const char *name);

/// The first row of that name, or NULL.
const PassInfo *pass_find(const char *name);

#endif
