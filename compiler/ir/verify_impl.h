/// verify_impl.h - what verify.c (structure) and verify_types.c (operands and results) share.
#ifndef NEWT_IR_VERIFY_IMPL_H
#define NEWT_IR_VERIFY_IMPL_H
#include "ir/ir.h"

typedef struct IrVerifier {
    const IrFunc *fn;
    DiagSink *diags;
    bool *defined;  ///< by value id: some operation or block defines it
    bool *visible;  ///< by value id: defined before the current place, in an enclosing block
    bool ok;
} IrVerifier;

/// Reports a fault of `op`; always false.
bool ir_verify_fault(IrVerifier *v, const IrOp *op, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/// The rules of one operation whose arity is right: types, shapes, attributes. The regions' yields
/// are there and end their blocks.
bool ir_verify_types(IrVerifier *v, const IrOp *op);

/// Of a CARRY: a block of numbers, an axis, and a bit that coordinates along it have.
bool ir_verify_carry(IrVerifier *v, const IrOp *op);

#endif
