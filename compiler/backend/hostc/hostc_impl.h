/// hostc_impl.h - shared by the files of the host backend.
#ifndef NEWT_BACKEND_HOSTC_HOSTC_IMPL_H
#define NEWT_BACKEND_HOSTC_HOSTC_IMPL_H
#include "backend/hostc/hostc.h"

/// Where a block value's elements are found.
typedef enum {
    PLACE_NONE,     ///< not decided (scalars are C variables and need no place)
    PLACE_VIRTUAL,  ///< recomputed from its operands wherever an element is wanted
    PLACE_LOCAL,    ///< a variable in the body of its group's loop
    PLACE_ARRAY     ///< an array in scratch memory
} HostPlace;

typedef struct HostValue {
    HostPlace place;
    uint32_t weight;   ///< VIRTUAL: operations in its expression
} HostValue;

/// An element's coordinates: one C expression an axis, "0" where the extent is 1.
typedef struct HostCoords {
    unsigned rank;
    const char *at[TYPE_MAX_RANK];
} HostCoords;

enum { HOST_STRAIGHT_MAX = 16 };

/// A group whose rows can run without masks and through one pointer an access (straight.c).
typedef struct HostStraight {
    uint32_t axis;                                  ///< the innermost one of more than one element
    int32_t extent;
    const IrValue *rising[HOST_STRAIGHT_MAX];       ///< offsets that must not wrap within a row
    const IrValue *masks[HOST_STRAIGHT_MAX];        ///< true for the row when true at its end
    const IrValue *pointers[HOST_STRAIGHT_MAX];     ///< addresses that rise by one element
    unsigned rising_count, mask_count, pointer_count;
    bool is_tested;                                 ///< false: it holds without a test
} HostStraight;

typedef struct HostEmit {
    const IrFunc *fn;
    const HostcOptions *opt;
    DiagSink *diags;
    Buf *out;
    Arena scratch;           ///< texts of expressions; freed at the end
    HostValue *values;       ///< by value id
    const uint32_t *uses;    ///< how often each value is read, by id
    uint64_t scratch_bytes;
    bool is_grid, failed;    ///< is_grid: arithmetic is checked, and the function returns values
    const IrTensorMap *maps; ///< ... shapes for these; NULL: extents of a grid
    unsigned map_count;
    const HostStraight *straight;  ///< the rows being written have no masks; NULL: ordinary loops
} HostEmit;

/* names.c: spelling of types and values */
const char *host_ctype(const Type *t);       ///< of an element: "float", "int32_t", "unsigned char *"
const char *host_suffix(const Type *t);      ///< of prelude functions: "f32", "i1", "ptr"
const char *host_name(HostEmit *e, const IrValue *v);
const char *host_const(HostEmit *e, const Type *t, const IrConst *c);

/* place.c: which values are recomputed, fused, or stored; numbers the loop groups in IrOp.mark */
void host_plan(HostEmit *e);

/* element.c: expressions */
HostCoords host_coords_of_loops(HostEmit *e, const Type *t);
const char *host_flat(HostEmit *e, const Type *t, const HostCoords *c);
/// The value's element at `c` (scalars ignore it).
const char *host_at(HostEmit *e, const IrValue *v, const HostCoords *c);
/// The expression that computes `op`'s element at `c` from its operands.
const char *host_compute(HostEmit *e, const IrOp *op, const HostCoords *c);

/* straight.c: rows that vectorise */
bool host_straight_plan(HostEmit *e, const IrOp *first, const IrOp *last, const Type *shape, HostStraight *s);
/// Opens the if that guards the straight rows and declares their pointers.
void host_straight_begin(HostEmit *e, HostStraight *s, const Type *shape);
/// The address of v's element in a straight row, or NULL when it is none of the row's pointers.
const char *host_straight_pointer(HostEmit *e, const IrValue *v, const HostCoords *c);

/* loops.c: statements */
void host_open_loops(HostEmit *e, const Type *t);
void host_close_loops(HostEmit *e, const Type *t);
void host_declare_array(HostEmit *e, const char *name, const Type *t);
void host_block(HostEmit *e, const IrBlock *b);
void host_reduce(HostEmit *e, const IrOp *op);
void host_dot(HostEmit *e, const IrOp *op);
void host_store(HostEmit *e, const IrOp *op, const HostCoords *c);
void host_atomic(HostEmit *e, const IrOp *op, const HostCoords *c);

#endif
