/// variants.h - what to compile for a module: its kernels, and for each the variants.
///
/// A kernel is a function with @newt.kernel, or one named on the command line. Each @newt.instance
/// makes a unit of its own (its own C function); without one the unit is the kernel with its
/// defaults, -D and the signature applied. The last variant of a unit relies on nothing; those
/// before it assume facts about arguments that the launcher tests.
#ifndef NEWT_LOWER_VARIANTS_H
#define NEWT_LOWER_VARIANTS_H
#include "lower/lower.h"

typedef struct VariantOptions {
    const char *const *kernels;  ///< only these functions (at least one names a plain jit
                                 ///< function); none: all kernels
    uint32_t kernel_count;
    const char *signature;   ///< Triton's syntax, for the one kernel named; or NULL
    const char *grid;        ///< newt expression over the kernel's parameters, for a kernel without
                             ///< grid=; or NULL
    const char *specialize;  ///< "auto" (also NULL), "none", or "x:align16 n:div16 stride:1"
    const char *const *defines;  ///< "NAME=VALUE", VALUE a newt literal
    uint32_t define_count;
    bool index64;
    unsigned num_warps, num_stages;  ///< 0: the kernel's own
} VariantOptions;

typedef struct KernelUnit {
    const Function *function;
    const char *c_name;          ///< exported C name
    Variant *variants;           ///< most special first; the last is generic
    const char **variant_names;  ///< "x:align16 y:align16", "generic"
    uint32_t variant_count;
    IrFunc *grid;  ///< NULL: the caller gives the grid
} KernelUnit;

typedef VEC(KernelUnit) KernelUnitVec;
typedef KernelUnitVec KernelUnits;

/// Fills `out`. False after reporting why a kernel cannot be compiled as asked.
bool lower_enumerate(Program *p, Module *m, const VariantOptions *opt, KernelUnits *out);

/// Marks the parameters (arguments of the body) that flow into addresses or into the bounds of
/// masks.
void lower_reach_addresses(IrFunc *fn, Arena *a, bool *params);

#endif
