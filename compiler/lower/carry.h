/// carry.h - the variables that a loop carries: their arguments in the loop's regions, what each
/// iteration yields, and their values after the loop.
///
/// A loop is built inside out: regions are lowered as detached blocks with an argument for every
/// candidate; when the body is known, variables that it left alone are taken out again, and only
/// then the operation is made. So nothing has to be known in advance but who assigns what.
#ifndef NEWT_LOWER_CARRY_H
#define NEWT_LOWER_CARRY_H
#include "lower/lower_impl.h"

enum { CARRY_BODY, CARRY_COND, CARRY_REGIONS };

/// One value among those carried: a variable, or an element of a tuple.
typedef struct Leaf {
    IrValue *init, *yield;
    IrValue *arg[CARRY_REGIONS];
    IrValue *result;  ///< NULL: not carried after all
    bool dropped;
    Sym hint;
} Leaf;

typedef struct CarriedVar {
    uint32_t slot;
    Local *entry, *inside, *final;
    Val after;              ///< leaves by their number until the results exist
    uint32_t first, count;  ///< its leaves
    bool is_flag;           ///< an exit flag: false at the start of every iteration
    bool was_read;          ///< its value at the start of an iteration counts
    bool kept;              ///< the body does not change it
    bool mixed;             ///< the body gives it another type, and never reads the first
} CarriedVar;

typedef struct Carry {
    Lower *cx;
    IrBlock *block[CARRY_REGIONS], *outer;
    unsigned regions;     ///< 2 with a condition region
    uint32_t fixed_args;  ///< arguments of the body before the carried ones (the index)
    uint8_t num_stages;   ///< IrAttr.num_stages of the loop
    Span head;
    uint32_t mark;
    VEC(CarriedVar) vars;
    VEC(Leaf) leaves;
    VEC(Change) widen;  ///< --index64: entries that must start as int64 (then lower again)
    bool failed;
} Carry;

/// Begins at the current place: makes the blocks. `fixed_args` have to be added to the body by the
/// caller before carry_add is called.
void lower_carry_begin(Lower *cx, Carry *c, unsigned regions, uint32_t fixed_args, Span head);
/// Carries a variable (or flag) that has a value now.
void lower_carry_add(Carry *c, uint32_t slot);
/// Carries a value that no name has; returns its leaf.
uint32_t lower_carry_value(Carry *c, IrValue *init, Sym hint);
/// Binds the variables to their arguments in a region and goes there; lower_carry_leave comes back.
void lower_carry_enter(Carry *c, unsigned region);
void lower_carry_leave(Carry *c, Arm *changes);
/// At the end of the body, still inside: fixes what is yielded.
void lower_carry_close(Carry *c);
/// Makes the operation with `extra` operands in front of the carried ones, and binds what comes
/// after.
void lower_carry_finish(Carry *c, IrCode code, IrValue *const *extra, uint32_t extra_count,
                        IrValue *cond, const Arm *changes);

#endif
