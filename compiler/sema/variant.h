/// variant.h - what one compilation is for: a kernel with everything bound that is known before run
/// time.
#ifndef NEWT_SEMA_VARIANT_H
#define NEWT_SEMA_VARIANT_H
#include "sema/constval.h"
#include "sema/module.h"

/// A fact about an argument that this variant relies on; the launcher tests it.
typedef enum { FACT_NONE, FACT_DIVISIBLE, FACT_EQUALS, FACT_FITS_I32 } FactKind;

typedef struct ParamBinding {
    bool is_constexpr;
    ConstVal value;    ///< constexpr parameters
    const Type *type;  ///< run-time parameters: SCALAR or PTR
    int64_t divisor;   ///< declared or assumed: pointer alignment in bytes, integer divisor; >= 1
    bool assumed;      ///< divisor is this variant's assumption: the launcher must test it
    bool has_value;    ///< assumed equal to `equals` (also tested by the launcher)
    int64_t equals;
    int64_t at_most;  ///< assumed not to be above it (also tested by the launcher); 0: nothing is
    bool is_given;    ///< constexpr: bound by an instance, a configuration or -D
    bool has_range;
    int64_t lo, hi;
} ParamBinding;

typedef struct Variant {
    const Function *function;
    ParamBinding *params;  ///< function->param_count
    uint16_t num_warps, num_stages, num_ctas;
    bool narrow;   ///< sizes, strides and offsets of tensors fit 32 bits: the launcher tests it
    bool index64;  ///< --index64: integer offsets of pointers are computed in 64 bits
    const char *instance_name;  ///< exported C name of the instance it belongs to
} Variant;

#endif
