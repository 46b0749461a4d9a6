/// emit_impl.h - what the emitters of one backend share.
///
/// A value's Place says how a thread holds it: one expression for all its slots, or an array with
/// one element a slot. Emitters write lines into the body; what they need in front of it (prelude
/// headers, access functions, a layout's thread part) they only name, and emit.c writes it.
#ifndef NEWT_BACKEND_CUDA_EMIT_IMPL_H
#define NEWT_BACKEND_CUDA_EMIT_IMPL_H
#include "backend/cuda/emit.h"

enum {
    CUDA_ROLL_FROM =
        512,  ///< loops over so many slots stay loops: no thread has registers for them
    CUDA_ROLLED_COPIES = 8,   ///< of the body are written out then (NT_UNROLL_SOME)
    CUDA_CHECKED_SLOTS = 64,  ///< moved by one call that checks at run time
    CUDA_SLOW_SECONDS = 10    ///< of NVRTC, by estimate, from which on it is worth a warning
};

typedef enum {
    PLACE_NONE,
    PLACE_SAME,  ///< `text` is the value in every slot: a scalar, a literal, x[0]
    PLACE_ARRAY,  ///< `text`[slot]
    PLACE_SHARED  ///< a tile in shared memory: `text` points to its elements
} PlaceKind;

typedef struct Place {
    PlaceKind kind;
    const char *text;
} Place;

/// A prelude header, "newt/<name>.cuh"; ORDER cuda_headers in emit.c.
typedef enum {
    NEED_BASE = 1 << 0,
    NEED_INT = 1 << 1,
    NEED_COMPARE = 1 << 2,
    NEED_FLOAT = 1 << 3,
    NEED_CONVERT = 1 << 4,
    NEED_SMALL = 1 << 5,
    NEED_MEMORY = 1 << 6,
    NEED_SHARED = 1 << 7,
    NEED_REDUCE = 1 << 8,
    NEED_ATOMIC = 1 << 9,
    NEED_DEBUG = 1 << 10,
    NEED_DOT = 1 << 11,
    NEED_MMA = 1 << 12,
    NEED_ASYNC = 1 << 13,
    NEED_MBARRIER = 1 << 14,
    NEED_TMA = 1 << 15,
    NEED_WGMMA = 1 << 16,  ///< behind "#define NT_WGMMA_N<N>" for each width
    NEED_WARPS = 1 << 17,
    NEED_CLUSTER = 1 << 18
} EmitNeed;

/// A layout that the text mentions: L<index> in the head comment.
typedef struct EmitLayout {
    const Layout *layout;
    bool wants_at;   ///< at_L<index>: the element of slot 0
    bool wants_own;  ///< own_L<index>: this thread is no replica
} EmitLayout;

/// An asynchronous product whose first factor is in registers: they must stay until it has ended.
typedef struct EmitFlight {
    const IrOp *dot;
    const char *words;
    const char *others;  // of one that its loop carries: the words of the iterations between; else NULL
} EmitFlight;

/// Which half of its scratch an operation uses: the variable is 0 or op->smem_turn.
typedef struct EmitTurn {
    const IrOp *op;
    const char *name;
} EmitTurn;

/// Names of a pipe's barriers, and of a side's position in it.
typedef struct EmitPipe {
    const char *full, *free, *stage, *parity;
} EmitPipe;

typedef struct Emit {
    const IrFunc *fn;
    const CudaEmitOptions *opt;
    DiagSink *diags;
    Arena *arena;
    Buf body;
    Place *places;         // by value id
    const uint32_t *uses;  // by value id
    SymTable names;        // every identifier taken so far
    VEC(EmitLayout) layouts;
    VEC(const char *) access;  // lines that define access functions
    uint32_t needs;            // EmitNeed bits
    uint32_t wgmma_columns;    // widths of wgmma: powers of two
    bool wants_tid;
    VEC(EmitTurn) turns;
    VEC(EmitFlight) flights;
    const char **maps;  // names of the tensor maps; NULL: none taken yet
    EmitPipe *pipes;
    const char *grid[3];  // of a persistent kernel
    const char *rank;     // of the block among the two of a cluster; NULL: it has none
    const char *team;     // the thread's team, those of the producer behind the others; NULL: one
    const char *team_turns, *turn_parity;  // barriers of the two teams, the thread's place in its own
    const char *store_turn;  // which of its two buffers a warpgroup's next store uses: bytes; NULL: none stores
    unsigned roll_from;  // loops of so many slots stay loops
    unsigned loops;      // loops of the kernel around the operation at hand
    const SourceFile
        *file;  // source line of the operation at hand; not shown until it emits a line
    uint32_t line;
    bool shown;
    uint32_t next_line;  // the source line that the compiler takes the next line for; 0: none
} Emit;

typedef bool EmitFn(Emit *e, const IrOp *op);

/* ---- text (emit_text.c) ---- */
void cuda_line(Emit *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *cuda_text(Emit *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
/// What comes next stems from the source at `span`; its line is shown above the first line written.
void cuda_source_line(Emit *e, Span span);
/// A linear map of the bits of `var`, as an expression: XOR of basis[k] over the set bits k < bits.
/// *image receives all bits that results may have.
const char *cuda_linear(Emit *e, const char *var, const uint32_t *basis, unsigned bits,
                        uint32_t *image);
/// `a` and `b` joined by + when their bits are disjoint, else by ^; "0" vanishes.
const char *cuda_join(Emit *e, const char *a, uint32_t a_image, const char *b, uint32_t b_image);
/// Begins a loop over slots 0, step, ... below n; gives the slot's text ("0" and no loop when one
/// iteration does).
const char *cuda_loop(Emit *e, unsigned n, unsigned step);
void cuda_loop_end(Emit *e, unsigned n, unsigned step);
/// The same for a body of several statements: braces even where no loop is needed.
const char *cuda_block_loop(Emit *e, unsigned n, unsigned step);
void cuda_block_end(Emit *e);

/* ---- names, types, values (emit_names.c) ---- */
void cuda_names_begin(Emit *e);
/// An identifier near `hint`, not taken before.
const char *cuda_name(Emit *e, const char *hint);
/// The same for a value.
const char *cuda_value_name(Emit *e, const IrValue *v);
/// "float", "const float *": of elements in registers.
const char *cuda_ctype(Emit *e, const Type *type);
/// The type that memory holds: a byte for int1.
const char *cuda_memory_type(Emit *e, const Type *type);
/// "float x[4]", "float *x".
const char *cuda_decl(Emit *e, const char *ctype, const char *name, unsigned slots);
const char *cuda_literal(Emit *e, const Type *type, IrConst value);
unsigned cuda_slots(const IrValue *v);
/// The expression for one slot of a value.
const char *cuda_ref(Emit *e, const IrValue *v, const char *slot);
static inline Place cuda_place(const Emit *e, const IrValue *v)
{
    return e->places[v->id];
}
void cuda_set_place(Emit *e, const IrValue *v, PlaceKind kind, const char *text);
/// How storage holds a value: a variable for a scalar and for one slot, else an array.
PlaceKind cuda_held_as(const IrValue *v);
const char *cuda_value_decl(Emit *e, const IrValue *v, const char *ctype, const char *name);
/// The address of `slot` of such storage of that many slots.
const char *cuda_address(Emit *e, const char *name, unsigned slots, const char *slot);
/// Declares storage for a value and makes it its place.
const char *cuda_declare(Emit *e, const IrValue *v);
/// `slot` of such storage: "x[r]", or "x" for a variable.
const char *cuda_slot_of(Emit *e, const IrValue *v, const char *name, const char *slot);

/* ---- layouts (emit_text.c) ---- */
unsigned cuda_layout_index(Emit *e, const Layout *l);
/// The element number that `slot` holds in layout l.
const char *cuda_element(Emit *e, const Layout *l, const char *slot);
/// The condition that this thread owns what it holds in `l` (NULL layout: a scalar); NULL: it
/// always does.
const char *cuda_owner(Emit *e, const Layout *l);
/// The condition that `slot` is no repetition of a lower one; NULL: it never is.
const char *cuda_first_slot(Emit *e, const Layout *l, const char *slot);
/// "tid", and has it declared.
const char *cuda_tid(Emit *e);
/// Points a new variable of that element type at op's scratch; needs op->smem. NULL after
/// reporting.
const char *cuda_scratch(Emit *e, const IrOp *op, const char *ctype, const char *hint,
                         uint32_t offset, uint32_t bytes);
/// Hands what the owners of a result have in `name` to all that hold it, through op's scratch.
bool cuda_hand_out(Emit *e, const IrOp *op, const char *name, const char *owner);

/// Where stage `slot` of a ring begins in shared memory, in bytes.
const char *cuda_tile_offset(Emit *e, const IrRing *ring, const IrValue *slot);
/// Registers that a thread may have, where the options ask for fewer than a block allows; else 0.
uint32_t cuda_register_limit(const Emit *e);
/// What to add to the place of scratch for the thread's team: " + team * 1024", or "".
const char *cuda_team_offset(Emit *e);
/// The statement that waits for all threads of the program.
const char *cuda_barrier(Emit *e);
/// Takes the names of maps, pipes and the grid, which come after the parameters'.
void cuda_name_pipes(Emit *e);
/// In front of the operations of a function, and behind them: what its TENSOR_STOREs need.
void cuda_begin_stores(Emit *e);
void cuda_end_stores(Emit *e);
/// The body of a function with a producer: barriers, then what each side does.
bool cuda_emit_sides(Emit *e);

/* ---- families ---- */
bool cuda_emit_op(Emit *e, const IrOp *op);
bool cuda_emit_ops(Emit *e, const IrBlock *b);
/// Reports a function that passes should not have let through.
bool cuda_fault(Emit *e, const IrOp *op, const char *what);

EmitFn cuda_emit_elementwise, cuda_emit_cast, cuda_emit_bitcast;
EmitFn cuda_emit_const, cuda_emit_arange, cuda_emit_splat, cuda_emit_program_id,
    cuda_emit_num_programs;
EmitFn cuda_emit_same_slots, cuda_emit_broadcast;
EmitFn cuda_emit_load, cuda_emit_store, cuda_emit_atomic_rmw, cuda_emit_atomic_cas;
EmitFn cuda_emit_reduce, cuda_emit_carry, cuda_emit_convert, cuda_emit_dot, cuda_emit_dot_wait;
EmitFn cuda_emit_tile, cuda_emit_read_tile, cuda_emit_tile_put;
EmitFn cuda_emit_async_copy, cuda_emit_async_commit, cuda_emit_async_wait;
bool cuda_emit_convert_warp(Emit *e, const IrOp *op, const ConvertPlan *plan);
EmitFn cuda_emit_pipe_skip, cuda_emit_team_id, cuda_emit_team_take, cuda_emit_team_pass;
EmitFn cuda_emit_pipe_acquire, cuda_emit_pipe_wait, cuda_emit_pipe_release, cuda_emit_tensor_load,
    cuda_emit_tensor_store, cuda_emit_block_id, cuda_emit_block_count;
EmitFn cuda_emit_for, cuda_emit_while, cuda_emit_if, cuda_emit_return, cuda_emit_barrier,
    cuda_emit_assert;

#endif
