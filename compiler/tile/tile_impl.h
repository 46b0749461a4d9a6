/// tile_impl.h - what the files of the tile layer share: values with axes, and the state of one
/// kernel's rewriting.
///
/// The body is walked like a program: every expression gives a Value, which holds the expression
/// that stands for it in the generated kernel, and for blocks the axes and what the lanes beyond
/// an axis's end hold (Pad). Masks are not kept: an axis knows its end, so a mask can be written
/// wherever one is needed. What a loop does to pads, and which sizes are found to be equal, is
/// learned by walking the body again until nothing new comes out.
#ifndef NEWT_TILE_TILE_IMPL_H
#define NEWT_TILE_TILE_IMPL_H
#include "sema/rules.h"
#include "tile/tile.h"

enum { TILE_MAX_RANK = MODULE_TENSOR_RANK };

/// A size of a tensor. Sizes of one name are one Size; those that a program needs to be equal are
/// joined through `same`.
typedef struct Size {
    Sym name;       ///< the parameter that holds it
    int64_t fixed;  ///< the annotation's number, or -1
    uint8_t tensor, axis;
    bool is_constexpr;  ///< it is the constexpr parameter `name`
    bool is_named, is_used;
    struct Size *same;  ///< itself, or one that it equals
    struct Axis *whole;
} Size;

typedef struct TileTensor {
    Sym name;
    Span span;
    const AstNode *dtype;  ///< the annotation's element type
    ScalarKind elem;       ///< SCALAR_COUNT: it depends on constexprs
    uint8_t index;
    unsigned rank;
    Size *sizes[TILE_MAX_RANK];
    Sym strides[TILE_MAX_RANK];
    int dense_axis;  ///< its stride is 1 by the annotation; -1: none
    bool stride_used[TILE_MAX_RANK], is_stored;
} TileTensor;

/// Sizes that a number does not exceed.
typedef struct SizeBounds {
    Size *of[2];
    bool is_start;      ///< it is where `tile` begins
    bool is_edge;       ///< it is of[0], or where `tile` ends if that comes first
    struct Axis *tile;  ///< from 0 to of[0]; NULL: it is of[0]
} SizeBounds;

/// What the axis of a block runs over.
typedef struct Axis {
    const AstNode *loop;                 ///< the `for` of a tile; NULL: all of a size
    unsigned position;                   ///< among the loop's targets
    const char *text;                    ///< in messages: "tile_m", "x.shape[1]"
    Sym offs;                            ///< the vector of its indices
    AstNode *block;                      ///< how many there are: a name or a number
    AstNode *start;                      ///< the first index; NULL: 0
    AstNode *begin;                      ///< of the whole loop; NULL: 0
    AstNode *end;                        ///< of the whole loop or size; NULL: every lane counts
    AstNode *id;                         ///< number of the tile
    Size *size;                          ///< begin .. end is all of this size, or NULL
    SizeBounds at_most;                  ///< the end is none above these
    struct Axis *behind;                 ///< it ends where a tile of this axis begins
    struct Axis *near;                   ///< it may end where a tile of this axis does, too
    AstNode *edge;                       ///< what masks compare with; NULL: the end
    int64_t fixed;                       ///< of no tensor: how many indices there are; else 0
    struct Axis *beside[TILE_MAX_RANK];  ///< tiles that stand beside it in some block
    unsigned beside_count;
    bool offs_used;
    bool is_open;     ///< `block` is a parameter that a tuner may choose
    bool is_index;    ///< of grid(): its target is a number
    bool is_named;    ///< all of a constexpr: `block` is a name that gets the next power of two
    bool is_chunked;  ///< all of a size, in chunks: `start` is where one begins
    bool in_dot;      ///< an axis of a matrix product
    bool is_inside;   ///< no tile that is walked now runs beyond the end
    bool is_cut;      ///< what lies beyond the end costs a `where`, or a mask of its own
    bool is_fast;     ///< it indexes the last axis of a tensor that has several
} Axis;

/// What the lanes beyond the end of an axis hold.
typedef struct Pad {
    bool known;
    double value;
} Pad;

typedef enum ValueKind {
    VALUE_ERROR,   ///< reported; absorbs
    VALUE_SCALAR,  ///< a number, the same in all lanes
    VALUE_BLOCK,
    VALUE_TENSOR,
    VALUE_TILE,
    VALUE_TUPLE,  ///< also the shape of a tensor
    VALUE_REF     ///< a builtin, a function, a type, a text, None: something known at compile time
} ValueKind;

typedef struct Value Value;
struct Value {
    ValueKind kind;
    AstNode *ast;
    ScalarKind elem;   ///< SCALAR, BLOCK; SCALAR_COUNT: not known
    bool is_weak;      ///< SCALAR: a number without a type
    ConstVal literal;  ///< weak: its value if known; REF: what it is
    unsigned rank;
    Axis *axes[TILE_MAX_RANK];  ///< NULL: size 1
    Pad pads[TILE_MAX_RANK];
    bool has_effect;  ///< an atomic: computed once and no more
    bool is_product;  ///< BLOCK: `a @ b`, of these factors
    AstNode *factors[2];
    TileTensor *tensor;
    struct OpenParam *open;  ///< SCALAR: a constant that is left to tuning
    Axis *tile;
    Size *size;  ///< SCALAR: it is this size
    SizeBounds at_most;
    struct {
        Value *at;
        uint32_t len;
    } items;
};

typedef VEC(AstNode *) TileNodes;

/// A constant that the program leaves to tuning; its name comes with its first use.
typedef struct OpenParam {
    Tunable tunable;
} OpenParam;

typedef struct Variable {
    Sym name;
    Value value;
    unsigned depth;         ///< of the block of statements that assigned it
    const Value *unmasked;  ///< what it is behind that block, when `value` is a masked copy of it
    uint32_t at;            ///< where that stands in the source
} Variable;
typedef VEC(Variable) Variables;

/// Which pads of a variable a loop does not keep.
typedef struct LoopPads {
    const AstNode *loop;
    Sym name;
    bool lost[TILE_MAX_RANK];
} LoopPads;

/// An assignment that puts 0 beyond the ends of some axes.
typedef struct ZeroedPads {
    uint32_t at;  ///< Variable.at
    bool on[TILE_MAX_RANK];
} ZeroedPads;

/// What was learned of a loop over a tile of a product.
typedef struct LoopForm {
    const AstNode *loop;
    bool is_split;  ///< it comes twice: tiles that are whole, and the last one
} LoopForm;

/// How the outer tiles are dealt out to programs.
typedef enum {
    TILE_GRID_AXES,   ///< a program axis each
    TILE_GRID_FLAT,   ///< along one axis
    TILE_GRID_GROUPS  ///< the same, the last two in groups of rows
} TileGrid;

/// What a variable of the source is called in the kernel, where that is not its own name.
typedef struct TileLocal {
    Sym name, local;
} TileLocal;
typedef VEC(TileLocal) TileLocals;

/// A value along a chunked axis that has a name.
typedef struct Definition {
    Sym name;
    AstNode *value;
    Span span;
    bool is_closed;  ///< made in a loop or branch that has ended
    bool is_late;    ///< made behind a store
} Definition;

/// The loop over chunks that was emitted last, if it stores: the next store goes into it.
typedef struct StoreLoop {
    const TileNodes *out;
    uint32_t at;       ///< its place there
    TileNodes stores;  ///< the end of its body
    const bool *has;   ///< which of the first `defined` definitions it computes
    uint32_t defined;
} StoreLoop;

/// A function that stands in place of its call.
typedef struct TileFrame {
    struct TileFrame *outer;
    const Function *function;
    unsigned depth;
    TileLocals locals;
} TileFrame;

typedef struct Tile {
    Program *program;
    Arena *arena;
    Module *module;  ///< where free names are looked up
    Module *home;    ///< of the kernel
    const Function *function;
    TileFrame *frame;  ///< NULL: the kernel itself
    VEC(TileTensor *) tensors;
    VEC(Size *) sizes;
    VEC(Axis *) axes;
    VEC(Sym) names;  ///< taken in the generated kernel
    VEC(SizeRule) rules;
    VEC(OpenParam *) opens;
    VEC(LoopPads) pads;
    VEC(LoopForm) forms;
    VEC(ZeroedPads) zeroed;
    const AstFor *outer;          ///< the loop that becomes the grid
    VEC(Axis *) grid;             ///< its axes
    unsigned depth;               ///< of the block of statements that is walked
    bool inside;                  ///< in the body of the outer loop
    bool again;                   ///< something was learned: walk the body once more
    bool has_dot, has_reduce;     ///< for default block sizes
    unsigned dot_bits;            ///< of an element of a factor
    TileGrid grid_kind;
    bool longest_first[TILE_MAX_RANK];  ///< later tiles of the grid's axis have more to do
    Sym group;
    TileLocals locals;
    bool chunk, chunk_failed;  ///< this walk takes whole axes in chunks; it cannot
    bool has_stored;
    Sym loop_param;  ///< constexpr that chooses between both forms; NULL: there is one form
    VEC(Definition) definitions;
    StoreLoop store_loop;
    unsigned errors;  ///< met before this kernel
    bool failed;      ///< a fault was met, also while reports are muted
    Variables env;
    TileNodes *out;  ///< statements being made
    Span span;       ///< of what is being rewritten
} Tile;

/* ---- build.c: syntax trees, at t->span ---- */
AstNode *tile_sym(Tile *t, Sym name);
AstNode *tile_name(Tile *t, const char *name);
AstNode *tile_int(Tile *t, int64_t value);
AstNode *tile_float(Tile *t, double value);
/// nl.name
AstNode *tile_nl(Tile *t, const char *name);
AstNode *tile_binary(Tile *t, AstBinaryOp op, AstNode *a, AstNode *b);
/// NULL as `a` or `b` is left out.
AstNode *tile_both(Tile *t, AstBinaryOp op, AstNode *a, AstNode *b);
AstNode *tile_compare(Tile *t, AstNode *a, AstCompareOp op, AstNode *b);
AstNode *tile_call(Tile *t, AstNode *callee, uint32_t count, AstNode *const *args);
#define TILE_CALL(t, name, ...)                                                                    \
    tile_call((t), tile_nl((t), (name)), sizeof((AstNode *[]){ __VA_ARGS__ }) / sizeof(AstNode *), \
              (AstNode *[]){ __VA_ARGS__ })
/// The call with `name=value` behind it.
AstNode *tile_with(Tile *t, AstNode *call, const char *name, AstNode *value);
/// NULL where an item is: a list of tiles stands for nothing in the language of blocks.
AstNode *tile_list(Tile *t, AstKind kind, uint32_t count, AstNode *const *items);
/// v[:, None] and so on: axis `at` of `rank`; v itself for rank 1.
AstNode *tile_spread(Tile *t, AstNode *v, unsigned at, unsigned rank);
void tile_emit(Tile *t, AstNode *statement);
void tile_emit_assign(Tile *t, AstNode *target, AstNode *value);
/// `v` under a name: assigned to the variable `name`, or to one of its own with `is_new`.
Value tile_keep(Tile *t, Sym name, Value v, bool is_new);
/// `text`, or with a number behind it, that no name of the kernel has; it is taken then.
Sym tile_fresh(Tile *t, const char *text);
bool tile_is_int(const AstNode *n, int64_t value);

/* ---- value.c ---- */
Value tile_error(void);
Value tile_scalar(AstNode *ast, ScalarKind elem);
/// A block of the shape of `like` without what is known of its pads.
Value tile_block_like(const Value *like, AstNode *ast, ScalarKind elem);
/// "a tile", "a block of (tile_m, tile_k)", "a number", ...
const char *tile_text(Tile *t, const Value *v);
Variable *tile_find(Tile *t, Sym name);
void tile_bind(Tile *t, Sym name, Value v);
/// Common axes of `n` values into `out` (kind, rank, axes); false after a report.
bool tile_broadcast(Tile *t, const Value *v, uint32_t n, Value *out);
RuleOperand tile_operand(const Value *v);
Pad tile_pad(double value);
/// The pad of a result along its axis `at`, when every operand's is known: the operands' values.
bool tile_pads_of(const Value *v, uint32_t n, const Value *result, unsigned at, double *out);
Size *tile_size_root(Size *s);
AstNode *tile_size_ast(Tile *t, Size *s);
Value tile_size_value(Tile *t, Size *s);
/// The vector of an axis's indices.
AstNode *tile_offs(Tile *t, Axis *axis);
Sym tile_offs_name(Tile *t, const char *text);
/// "m" of "tile_m".
const char *tile_stem(const char *text);
/// The axis over 0 .. n - 1.
Axis *tile_plain_axis(Tile *t, int64_t n);
/// What a variable is called in the kernel.
Sym tile_local(Tile *t, Sym name);
/// The axis over all of a size; NULL: it is 1.
Axis *tile_whole(Tile *t, Size *s, const TileTensor *tensor, unsigned axis);
/// Sizes that are to be equal at a launch.
void tile_join_sizes(Tile *t, Size *a, Size *b);
/// `in range` of axis `at` as a mask of `rank` axes, or NULL where all lanes count.
AstNode *tile_axis_mask(Tile *t, Axis *axis, unsigned at, unsigned rank);
/// The same for a `where` around values that are not masked already.
AstNode *tile_where_mask(Tile *t, Axis *axis, unsigned at, unsigned rank);
/// Whether tiles of the axis may run beyond its end.
bool tile_has_end(const Axis *axis);
bool tile_is_within(const SizeBounds *bounds, const Size *size);
/// Bounds of the smaller one of two numbers, or of either of them.
SizeBounds tile_least(const SizeBounds *a, const SizeBounds *b);
SizeBounds tile_either(const SizeBounds *a, const SizeBounds *b);
/// The mask of a block's axes, or NULL.
AstNode *tile_mask(Tile *t, const Value *v);

/* ---- params.c ---- */
bool tile_take_params(Tile *t);
/// The generated kernel's parameters: nodes, and the tables of `f`.
void tile_make_params(Tile *t, Function *f, AstNodes *nodes);

/* ---- expr.c ---- */
Value tile_expr(Tile *t, const AstNode *n);
/// The same, where a number is wanted.
Value tile_number(Tile *t, const AstNode *n, const char *what);
Value tile_binary_value(Tile *t, AstBinaryOp op, const Value *a, const Value *b, Span span);
bool tile_constant_int(Tile *t, const Value *v, int64_t *out);
void tile_fault(Tile *t, DiagId id, Span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- call.c ---- */
/// The arguments of a call bound to a builtin's parameters; kind VALUE_ERROR and `given` false for
/// those that are absent.
enum { TILE_MAX_ARGS = 16 };
typedef struct TileArgs {
    const Builtin *builtin;
    const char *names[TILE_MAX_ARGS];
    uint32_t count;
    Value at[TILE_MAX_ARGS];
    const AstNode *nodes[TILE_MAX_ARGS];
    bool given[TILE_MAX_ARGS];
    VEC(Value) rest;     ///< of a variadic parameter
    bool of_shape;       ///< rand(shape, seed)
    bool has_own_words;  ///< its parameters are other ones than outside tile kernels
    Span span;
} TileArgs;
Value tile_call_value(Tile *t, const AstCall *n);
/// The call as it stands, with rewritten arguments.
AstNode *tile_pass_call(Tile *t, const TileArgs *args);

/// Evaluates and binds the arguments of a call of `b`; false after a report.
bool tile_bind_args(Tile *t, const Builtin *b, const AstCall *n, TileArgs *out);

/* ---- tunable.c ---- */
Value tile_register_block(Tile *t, const TileArgs *args);
Value tile_register_tunable(Tile *t, const AstCall *n);
/// Gives a constant that has no name yet that of the variable it is assigned to.
Value tile_name_open(Tile *t, Value v, Sym variable);
void tile_open_registered(Tile *t, Function *f);

/* ---- index.c ---- */
/// tensor[indices]: where it lies, and the axes of what lies there.
typedef struct Place {
    AstNode *pointer, *mask;
    Value block;  ///< kind SCALAR or BLOCK, without ast
} Place;
bool tile_place(Tile *t, TileTensor *tensor, const AstNodes *indices, Span span, Place *out);
Value tile_load(Tile *t, TileTensor *tensor, const AstNodes *indices, Span span);
void tile_store(Tile *t, TileTensor *tensor, const AstNodes *indices, const Value *v, Span span);
/// A statement that writes to `tensor` along the axes of `block`.
void tile_emit_effect(Tile *t, const TileTensor *tensor, const Value *block, AstNode *call);
Value tile_subscript(Tile *t, const AstSubscript *n);
Value tile_load_call(Tile *t, const TileArgs *args);
Value tile_store_call(Tile *t, const TileArgs *args);
Value tile_atomic_call(Tile *t, const TileArgs *args);

/* ---- reduce.c ---- */
Value tile_reduce(Tile *t, const TileArgs *args);
Value tile_softmax(Tile *t, const TileArgs *args);
/// cumsum and its kin: running values along an axis.
Value tile_scan(Tile *t, const TileArgs *args);
/// reduce(x, axis, f, other=v): v stands where there is nothing.
Value tile_reduce_by(Tile *t, const TileArgs *args);

/* ---- random.c ---- */
Value tile_random(Tile *t, const TileArgs *args);
/// Whether an argument is a list of tiles, or one.
bool tile_is_shape(Tile *t, const AstNode *n);

/* ---- shape.c ---- */
/// The block of the extents in the first argument, without a type; false after a report.
bool tile_take_extents(Tile *t, const TileArgs *args, Value *out, AstNode **shape);
Value tile_filled(Tile *t, const TileArgs *args);
Value tile_filled_like(Tile *t, const TileArgs *args);
Value tile_transposed(Tile *t, const TileArgs *args);
Value tile_transpose_last(Tile *t, const Value *v, Span span);
Value tile_matmul_call(Tile *t, const TileArgs *args);
Value tile_matmul(Tile *t, const Value *a, const Value *b, Span span);
/// v[None, :] and the like.
Value tile_reindex(Tile *t, const Value *v, const AstSubscript *n);

/* ---- axis.c ---- */
/// `for ... in tile(...)` or grid(...): which builtin, or NULL for another loop.
const AstCall *tile_loop_call(Tile *t, const AstFor *n, BuiltinId *id);
/// The axes of a tile loop, and their targets; 0 after a report.
uint32_t tile_loop_axes(Tile *t, const AstFor *n, const AstCall *call, BuiltinId id, Axis **axes,
                        AstNodes *targets);
/// The axes of the outer loop; false after a report.
bool tile_outer_axes(Tile *t);
Value tile_axis_attribute(Tile *t, const Value *tile, Sym name, Span span);

/* ---- loop.c ---- */
void tile_for(Tile *t, const AstFor *n);
void tile_while(Tile *t, const AstWhile *n);
/// Variables that `body` assigns and that stand for a size so far become variables of the kernel.
void tile_hold_sizes(Tile *t, AstNodes body);
bool tile_is_static_range(Tile *t, const AstNode *iter);
Value tile_tensor_method(Tile *t, const TileTensor *x, const AstCall *n);

/* ---- stmt.c ---- */
void tile_block(Tile *t, AstNodes body, TileNodes *out);
void tile_assign(Tile *t, const AstNode *target, Value v, Span span);

/* ---- chunk.c: whole axes in chunks ---- */
bool tile_is_chunked(const Value *v);
/// Whether an expression has the name in it.
bool tile_mentions(const AstNode *n, Sym name);
/// This walk gives no kernel.
void tile_chunk_fail(Tile *t);
/// The axis of the last walk that could be taken in chunks, or NULL.
const Axis *tile_chunk_axis(const Tile *t);
/// Names a value along the chunked axis.
Value tile_chunk_define(Tile *t, Sym name, Value v);
/// A variable of the kernel is assigned: no definition may mean its old value.
void tile_chunk_assigned(Tile *t, Sym local);
/// `tensor` is written: no definition may load from it again.
void tile_chunk_stored(Tile *t, const TileTensor *tensor);
/// Definitions from `from` on have gone out of reach.
void tile_chunk_close(Tile *t, uint32_t from);
/// Emits `statement`, which runs along the chunked axis of `v`, in a loop over chunks.
void tile_chunk_statement(Tile *t, const Value *v, AstNode *statement, bool stores);
/// A block of `kind` that collects `masked` over all chunks by `combine` (NULL: +).
Value tile_chunk_accumulate(Tile *t, const Value *v, AstNode *masked, AstNode *identity,
                            ScalarKind kind, const char *combine);

/* ---- function.c ---- */
Value tile_call_function(Tile *t, const Function *f, const AstCall *n);

/* ---- grid.c ---- */
/// Where each outer tile starts, as an expression.
void tile_place_ids(Tile *t);
/// True when the body, once walked, asks for another kind of grid.
bool tile_learn_grid(Tile *t);
/// Program ids and index vectors at the top of the kernel.
void tile_emit_ids(Tile *t);
/// offs = start + arange(0, BLOCK)
void tile_emit_offs(Tile *t, const Axis *a);
/// The grid= expression of the kernel `f`.
AstNode *tile_grid_expr(Tile *t, const Function *f);
/// Where a search for the block size of an axis begins.
int64_t tile_first_block(const Tile *t, const Axis *a);
/// Block sizes that a tuner may choose.
void tile_open_blocks(Tile *t, Function *f);

#endif
