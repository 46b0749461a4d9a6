/// ir.h - block IR: typed SSA in structured regions.
///
/// Values are scalars, pointers and blocks of them. An operation lists operands, results,
/// attributes and regions; FOR, WHILE and IF own regions and carry values explicitly. Threads do
/// not exist here until layouts are assigned (IrValue.layout). Everything is in the function's
/// arena. Read ops.def for the meaning of each operation, verify.c for the exact rules.
#ifndef NEWT_IR_IR_H
#define NEWT_IR_IR_H
#include "sema/type.h"
#include "sema/typerule.h"
#include "support/diag.h"

typedef enum IrCode {
#define OP(ID, mnemonic, surface, rule, cls, effects, attr, doc) IR_##ID,
#include "ops.def"
#undef OP
    IR_CODE_COUNT
} IrCode;

typedef enum { OPCLASS_CONST, OPCLASS_CREATE, OPCLASS_ELEMENTWISE, OPCLASS_SHAPE, OPCLASS_MEMORY, OPCLASS_ATOMIC,
               OPCLASS_REDUCE, OPCLASS_SCAN, OPCLASS_DOT, OPCLASS_CONTROL, OPCLASS_LAYOUT, OPCLASS_TILE,
               OPCLASS_DEBUG } OpClass;
typedef enum { EFFECT_PURE, EFFECT_READ, EFFECT_WRITE } OpEffect;
typedef enum { ATTR_NONE, ATTR_CONST, ATTR_RANGE, ATTR_AXIS, ATTR_PERM, ATTR_MEM, ATTR_REDUCE, ATTR_ATOMIC, ATTR_NAN,
               ATTR_CAST, ATTR_TEXT, ATTR_BARRIER, ATTR_DOT, ATTR_LOOP, ATTR_RING, ATTR_COPY, ATTR_GROUPS,
               ATTR_PIPE, ATTR_SCAN } AttrKind;

typedef struct IrOpInfo {
    const char *mnemonic, *surface;
    TypeRule rule;
    OpClass cls;
    OpEffect effects;
    AttrKind attr;
    const char *doc;
} IrOpInfo;
extern const IrOpInfo ir_op_info[IR_CODE_COUNT];

typedef struct IrOp IrOp;
typedef struct IrBlock IrBlock;
typedef struct IrValue IrValue;
struct Layout;

struct IrValue {
    const Type *type;
    const struct Layout *layout;  ///< NULL until assigned, and for scalars (held by every thread)
    IrOp *def;                    ///< NULL: an argument of `block`
    IrBlock *block;
    uint32_t index;               ///< among def's results or block's arguments
    uint32_t id;                  ///< dense within the function: index of side tables
    Sym hint;                     ///< the user's name for it, or NULL
    uint32_t slot_run;            ///< bits of a slot's number: in slots that differ only there bools are the same,
                                  ///< pointers as far apart as the elements along `run_axis`; by access
    uint8_t run_axis;
    IrValue *forward;             ///< set by ir_replace until ir_apply_replacements
};

struct IrBlock {
    IrValue **args;
    uint32_t argc;
    IrOp *first, *last;
    IrOp *parent;                 ///< NULL: the function's body
};

typedef struct IrConst {
    bool is_float;
    int64_t i;                    ///< ints, bools and pointers (uint64 by its bits); normalised to the type's range
    double f;                     ///< floats, already rounded to the type
} IrConst;

typedef enum { CACHE_DEFAULT, CACHE_CA, CACHE_CG, CACHE_CV, CACHE_WB, CACHE_CS, CACHE_WT } IrCache;
typedef enum { EVICT_DEFAULT, EVICT_FIRST, EVICT_LAST } IrEvict;
typedef enum { REDUCE_SUM, REDUCE_MAX, REDUCE_MIN, REDUCE_ARGMAX, REDUCE_ARGMIN, REDUCE_XOR, REDUCE_OR, REDUCE_KIND_COUNT } IrReduceKind;
typedef enum { ATOMIC_ADD, ATOMIC_MAX, ATOMIC_MIN, ATOMIC_AND, ATOMIC_OR, ATOMIC_XOR, ATOMIC_XCHG, ATOMIC_KIND_COUNT } IrAtomicKind;
/// How the factors of an fp32 dot are taken; the results of the last three are as good as fp32's.
typedef enum { PRECISION_IEEE, PRECISION_TF32, PRECISION_TF32X3, PRECISION_BF16X3, PRECISION_BF16X6, PRECISION_COUNT } IrPrecision;
typedef enum { ORDER_RELAXED, ORDER_ACQUIRE, ORDER_RELEASE, ORDER_ACQ_REL } IrOrder;
typedef enum { SCOPE_CTA, SCOPE_GPU, SCOPE_SYS } IrScope;

typedef struct IrMem {
    IrCache cache;
    IrEvict evict;
    bool is_volatile;
    /* decided by the access pass for the GPU: elements per access and what was proved */
    uint8_t vec;                  ///< elements a thread moves at once (1, 2, 4 ... ); 0: not decided
    bool contiguous, aligned;     ///< proved for every group of vec elements
    bool mask_uniform;            ///< proved: one mask value per group
    bool aligned_alike;           ///< proved: one group of a thread is aligned when another is
    bool mask_falls;              ///< proved: the mask of a thread's last slot implies all its others
} IrMem;

typedef union IrAttr {
    IrConst konst;                                          ///< CONST
    struct { int64_t lo, hi; } range;                       ///< RANGE
    int axis;                                               ///< AXIS
    uint8_t perm[TYPE_MAX_RANK];                            ///< PERM: result axis k is operand axis perm[k]
    IrMem mem;                                              ///< MEM
    struct { IrReduceKind kind; int axis; bool propagate_nan, tie_break_left; } reduce;  ///< REDUCE
    struct { int axis, bit; bool reverse; } scan;           ///< SCAN
    struct { IrAtomicKind kind; IrOrder order; IrScope scope; } atomic;  ///< ATOMIC
    bool propagate_nan;                                     ///< NAN
    bool round_to_zero;                                     ///< CAST: rtz instead of rtne
    const char *text;                                       ///< TEXT
    bool from_user;                                         ///< BARRIER: debug_barrier(), never removed
    struct { IrPrecision precision; uint8_t mma; bool wgmma, async, carried; } dot;  ///< DOT; mma: inner size of the matrix
                                                            ///< instruction, 0 for plain multiplication; wgmma: a
                                                            ///< warpgroup's, not a warp's; decided by dot_select; async:
                                                            ///< the sum is there behind a DOT_WAIT; by dot_wait;
                                                            ///< carried: only behind one of the loop's next iteration
                                                            ///< or end, and in the registers of the carried sum; by dot_carry
    uint8_t num_stages;                                     ///< LOOP: of its pipeline, as range() says; 0: the function's
    uint16_t ring;                                          ///< RING: index into IrFunc.rings
    struct { IrMem mem; uint16_t ring; bool ordered, tf32; } copy;  ///< COPY; ordered: whoever made it keeps it clear of
                                                            ///< readers; tf32: fp32 elements are rounded
    uint8_t groups;                                         ///< GROUPS: that may still be under way
    struct { uint16_t pipe, ring, map; bool evict_first, multicast; } pipe;   ///< PIPE: indices into IrFunc's; ring and map: TENSOR_...
} IrAttr;

struct IrOp {
    uint16_t code, regionc;
    uint32_t argc, resultc;
    IrValue **args;               ///< optional operands are NULL
    IrValue **results;
    IrBlock **regions;
    IrAttr attr;
    IrOp *prev, *next;
    IrBlock *block;
    Span span;
    int32_t smem;                 ///< byte offset of its scratch in shared memory; -1: none
    uint32_t smem_bytes;
    uint32_t smem_turn;           ///< > 0: executions alternate between smem and smem + smem_turn
    bool smem_by_warp;            ///< each warp has its part, and no barrier is inside
    uint32_t mark;                ///< scratch of the pass that runs; holds anything between passes
};

/// What is known of a kernel parameter: by annotation, or because this variant was made for it.
typedef struct IrParam {
    Sym name;
    uint32_t source_index;        ///< position in the .newt parameter list (constexprs counted)
    int64_t divisor;              ///< pointer: alignment in bytes; int: a known divisor; >= 1
    bool has_range;
    int64_t lo, hi;               ///< int: known range, inclusive
    bool is_const;                ///< nothing is stored through it
    uint8_t grid_axis;            ///< int: 1 + the axis of the grid whose size it is; 0: none is known to be
} IrParam;

/// A ring of equal tiles in shared memory. layout/tile.c says where the elements of a tile lie.
typedef struct IrRing {
    const Type *block;            ///< one tile: rank 2, or more with leading axes of 1
    uint16_t stages;              ///< >= 1
    uint8_t fast;                 ///< the axis whose neighbours are neighbours in memory: one of the last two
    bool loose;                   ///< holds nothing but between its first operation and the end of the loop that reads
                                  ///< it, so others may lie there
    bool tf32;                    ///< fp32 elements that are tf32 already
    /* decided by smem_plan */
    uint32_t smem;                ///< of stage 0, in dynamic shared memory
    uint32_t bytes;               ///< from one stage to the next; 0: not decided
} IrRing;

/// How a producer hands the stages of some rings to the other warps: a barrier a stage says that it
/// is full, another that it is free.
typedef struct IrPipe {
    uint16_t stages;              ///< as those of its rings
    uint32_t bytes;               ///< that fill a stage: of one tile of each ring
    uint32_t smem;                ///< of 2 * stages barriers of 8 bytes, the full ones first; smem_plan decides
} IrPipe;

enum { IR_MAP_MAX_RANK = 5 };

/// A tensor as the copy engine sees it, innermost dimension first. The launcher gets sizes and
/// strides from IrFunc.map_host.
typedef struct IrTensorMap {
    uint32_t param;               ///< the pointer: argument of the body
    const Type *elem;
    uint8_t rank;
    uint8_t swizzle;              ///< 0, 32, 64, 128 bytes
    uint16_t box[IR_MAP_MAX_RANK];  ///< what one copy moves; at most 256 along each dimension
    bool tf32;                    ///< copies round fp32 to tf32
} IrTensorMap;

typedef struct IrFunc IrFunc;
struct IrFunc {
    Arena *arena;
    TypeTable *types;
    SymTable *syms;
    Sym name;
    IrParam *params;              ///< as many as body->argc
    IrBlock *body;
    uint32_t value_count;         ///< ids handed out
    uint16_t num_warps, num_stages;
    uint16_t num_ctas;            ///< 2: blocks run in pairs that share copies (specialize); 1, 0: each on its own
    IrRing *rings;
    uint16_t ring_count;
    uint32_t smem_reserved;       ///< bytes at the bottom of shared memory where no scratch may lie: rings that are not loose
    uint32_t smem_bytes;          ///< dynamic shared memory after planning
    IrPipe *pipes;
    IrTensorMap *maps;
    uint16_t pipe_count, map_count;
    IrFunc *producer;             ///< NULL, or what one thread beside the num_warps does: the same parameters, no blocks;
                                  ///< its values' ids and the function's are all different
    uint16_t producer_warps;      ///< the warps of that thread, behind the num_warps
    IrFunc *map_host;             ///< with maps: returns for each its sizes, then its strides from the second dimension
                                  ///< on, in elements; last 1 where the maps can stand for the accesses, else 0
    uint16_t teams;               ///< 2: as many warps again, which run the programs between; else 1 or 0
    uint32_t turn_smem;           ///< of the two barriers with which teams take turns; smem_plan decides
    uint32_t team_bytes;          ///< from one team's scratch to the other's, the same
    bool is_persistent;           ///< blocks loop over programs: block_id and block_count, not program_id, are the launch's
    bool index64, has_layouts;
    Span span;
};

/// How many operands, results and regions an operation has.
typedef struct IrArity {
    uint8_t required;             ///< operands that are always there
    uint8_t optional;             ///< operands after them that may be NULL (argc counts them)
    uint8_t results, regions;
    bool variadic;                ///< more operands may follow, and any number of results
    const char *optional_names[2];
} IrArity;
IrArity ir_arity(IrCode code);

/* ---- construction (build.c) ---- */
typedef struct IrBuilder {
    IrFunc *fn;
    IrBlock *block;               ///< where new operations go
    IrOp *before;                 ///< in front of this one; NULL: at the end
    Span span;                    ///< given to new operations
} IrBuilder;

IrFunc *ir_func_new(Arena *a, TypeTable *types, SymTable *syms, Sym name);
/// Adds a parameter (an argument of the body); IrParam facts start as "nothing known".
IrValue *ir_func_param(IrFunc *fn, Sym name, const Type *type);
/// Adds a ring of tiles; gives its index.
uint16_t ir_add_ring(IrFunc *fn, const Type *block, unsigned stages, unsigned fast);
/// Stage `slot` (an int32 scalar) of a ring.
IrValue *ir_tile(IrBuilder *b, uint16_t ring, IrValue *slot);
IrBlock *ir_block_new(IrFunc *fn, IrOp *parent);
IrValue *ir_block_arg(IrFunc *fn, IrBlock *b, const Type *type, Sym hint);

/// Adds a pipe or a map; gives its index.
uint16_t ir_add_pipe(IrFunc *fn, IrPipe pipe);
uint16_t ir_add_map(IrFunc *fn, const IrTensorMap *map);

typedef struct IrResults {
    uint32_t count;
    const Type *const *types;
} IrResults;
/// Any operation: operands may hold NULL where ops.def says optional.
IrOp *ir_op(IrBuilder *b, IrCode code, uint32_t argc, IrValue *const *args, IrResults results,
            uint32_t regionc);
/// An operation without results and regions.
IrOp *ir_op0(IrBuilder *b, IrCode code, uint32_t argc, IrValue *const *args);
/// An operation with one result; returns the result.
IrValue *ir_op1(IrBuilder *b, IrCode code, const Type *type, uint32_t argc, IrValue *const *args);

IrValue *ir_const(IrBuilder *b, const Type *type, IrConst value);      ///< `value` fits the type
IrValue *ir_const_int(IrBuilder *b, const Type *type, int64_t v);      ///< wraps to the type
IrValue *ir_const_float(IrBuilder *b, const Type *type, double v);     ///< rounds to the type
IrValue *ir_unary(IrBuilder *b, IrCode code, IrValue *x);              ///< same type
IrValue *ir_binary(IrBuilder *b, IrCode code, IrValue *x, IrValue *y); ///< same type; comparisons give int1
IrValue *ir_select(IrBuilder *b, IrValue *c, IrValue *x, IrValue *y);
IrValue *ir_cast(IrBuilder *b, IrValue *x, const Type *elem);          ///< to element type; x itself when equal
IrValue *ir_splat(IrBuilder *b, IrValue *x, const Type *block);        ///< scalar to block (folds constants)
IrValue *ir_arange(IrBuilder *b, int64_t lo, int64_t hi);
IrValue *ir_expand_dims(IrBuilder *b, IrValue *x, int axis);
IrValue *ir_broadcast(IrBuilder *b, IrValue *x, const Type *to);       ///< same rank
IrValue *ir_reshape(IrBuilder *b, IrValue *x, const Type *to);
IrValue *ir_trans(IrBuilder *b, IrValue *x, const uint8_t *perm);
IrValue *ir_ptr_add(IrBuilder *b, IrValue *p, IrValue *offset);        ///< same shape
IrValue *ir_load(IrBuilder *b, IrValue *p, IrValue *mask, IrValue *other, IrMem mem);
void ir_store(IrBuilder *b, IrValue *p, IrValue *v, IrValue *mask, IrMem mem);
IrValue *ir_reduce(IrBuilder *b, IrReduceKind kind, IrValue *x, int axis);
/// How often a FOR with these bounds and a positive step runs: in the unsigned type of their width.
IrValue *ir_trip_count(IrBuilder *b, IrValue *lo, IrValue *hi, IrValue *step);
/// What reduce gives: the axis gone, int32 for argmax and argmin, else the operand's element type.
const Type *ir_reduce_type(TypeTable *types, IrReduceKind kind, const Type *operand, int axis);

/* ---- constants (number.c) ---- */
/// `v` modulo 2^bits, in the type's range (int1: the low bit).
int64_t ir_wrap_int(ScalarKind kind, int64_t v);
/// The nearest value of the type, ties to even, or the nearest towards zero. Overflow gives an
/// infinity (the largest number towards zero and for fp8).
double ir_round_float(ScalarKind kind, double v, bool towards_zero);
/// The nearest value of a float type to an integer (by its bits when unsigned), rounded once.
double ir_float_of_int(ScalarKind to, int64_t v, bool is_unsigned);
/// A constant of the type's elements: wrapped, rounded; an int for a float type is converted.
IrConst ir_const_of_int(const Type *type, int64_t v);
IrConst ir_const_of_float(const Type *type, double v);
bool ir_const_equal(IrConst a, IrConst b);         ///< by bits: NaN equals itself, -0 is not 0
static inline bool ir_is_const(const IrValue *v) { return v->def && v->def->code == IR_CONST; }
/// The TILE that `v` is or is a transposition of; NULL for a value in registers.
static inline const IrOp *ir_tile_of(const IrValue *v)
{
    while (v->def && v->def->code == IR_TRANS)
        v = v->def->args[0];
    return v->def && v->def->code == IR_TILE ? v->def : NULL;
}

/* ---- walking and changing (walk.c) ---- */
/// The block that defines `v`, as an argument or by an operation.
static inline const IrBlock *ir_value_block(const IrValue *v) { return v->def ? v->def->block : v->block; }
/// Calls `visit` for every operation in program order, an operation before its regions.
/// `visit` may remove the operation it is given. False from visit stops the walk.
bool ir_walk(IrFunc *fn, bool (*visit)(IrOp *op, void *cx), void *cx);
bool ir_walk_block(IrBlock *b, bool (*visit)(IrOp *op, void *cx), void *cx);

void ir_remove(IrOp *op);                          ///< unlinks; results must be unused
void ir_move_before(IrOp *op, IrOp *where);
/// Every use of `from` becomes `to` at the next ir_apply_replacements.
void ir_replace(IrValue *from, IrValue *to);
/// What will stand for `v` (NULL for NULL).
static inline IrValue *ir_forwarded(IrValue *v)
{
    while (v && v->forward)
        v = v->forward;
    return v;
}
void ir_apply_replacements(IrFunc *fn);
/// uses[id] = number of operand slots that hold the value; in `a`, value_count long.
uint32_t *ir_count_uses(const IrFunc *fn, Arena *a);
/// Whether two operations of one code that change nothing have the same attribute.
bool ir_same_attr(const IrOp *x, const IrOp *y);
/// True when `v` is visible at `op` (defined before it in this or an enclosing block).
bool ir_dominates(const IrValue *v, const IrOp *op);
/// Copies `op` (with its regions) before b->before; operands are looked up in `map` (by value id,
/// NULL entries stay themselves); results are entered into it.
IrOp *ir_clone(IrBuilder *b, const IrOp *op, IrValue **map);
/// The parameter that a pointer value derives from by ptr_add, splat, shape ops and select-free
/// chains (loop-carried pointers too); -1 when unknown.
int ir_pointer_root(const IrFunc *fn, const IrValue *p);
static inline bool ir_has_effects(const IrOp *op) { return ir_op_info[op->code].effects == EFFECT_WRITE; }

/* ---- text (print.c, read.c) ---- */
/// How layouts are printed and read: layout/ stands to the right of ir/, so it lends these.
typedef struct IrLayoutText {
    void *cx;
    void (*print)(void *cx, const struct Layout *l, Buf *out);
    /// For a value of type `block`; NULL when malformed.
    const struct Layout *(*read)(void *cx, const char *text, size_t len, const Type *block);
} IrLayoutText;

/// The stable text form, also what ir_read takes; values are numbered in the order of the text.
/// Layouts stand after the types when `layouts` is not NULL. A producer and what belongs to maps
/// follow as functions of their own.
void ir_print(const IrFunc *fn, const IrLayoutText *layouts, Buf *out);
/// Reads one function. NULL after reporting the reason at its line. What it returns is well formed
/// as a data structure, and otherwise unchecked: ir_verify judges it.
IrFunc *ir_read(Arena *a, TypeTable *types, SymTable *syms, const SourceFile *file,
                const IrLayoutText *layouts, DiagSink *diags);
IrCode ir_code_find(const char *mnemonic);         ///< IR_CODE_COUNT if none

/* ---- rules (verify.c) ---- */
/// Checks every rule of ops.def and SSA; reports DIAG_INTERNAL and returns false on the first fault
/// of each operation.
bool ir_verify(const IrFunc *fn, DiagSink *diags);

#endif
