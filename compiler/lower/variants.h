/// variants.h - what to compile for a module: its kernels, and for each the variants.
///
/// A kernel is a function with @newt.kernel, or one named on the command line. Each @newt.instance
/// makes a unit of its own (its own C function); without one the unit is the kernel with its
/// defaults, -D and the signature applied. A unit has a form for each configuration of @autotune
/// and each combination of values of @heuristics. The last variant of a form relies on nothing;
/// those before it assume facts about arguments that the launcher tests.
#ifndef NEWT_LOWER_VARIANTS_H
#define NEWT_LOWER_VARIANTS_H
#include "lower/lower.h"

/// What was fastest for some shape: only such configurations and the default become code.
typedef struct TunedConfig {
    const char *kernel;  ///< exported name, without --prefix
    const char *text;    ///< "BLOCK=64 num_warps=8 num_stages=3"
} TunedConfig;

typedef struct VariantOptions {
    const char *const *kernels;  ///< only these functions (at least one names a plain jit
                                 ///< function); none: all kernels
    uint32_t kernel_count;
    const char *signature;   ///< Triton's syntax, for the one kernel named; or NULL
    const char *grid;        ///< newt expression over the kernel's parameters, for a kernel without
                             ///< grid=; or NULL
    const char *specialize;  ///< "auto" (also NULL), "none", or "x:align16 n:div16 stride:1"
    const char *only_for;    ///< "M=512 x_s0=512": only the variants for such a call; NULL: all
    const char *const *defines;  ///< "NAME=VALUE", VALUE a newt literal
    uint32_t define_count;
    bool index64;
    unsigned num_warps, num_stages;  ///< 0: the kernel's own
    const char *const *configs;      ///< "all", "default", names, or "BLOCK=64 num_warps=8"
    uint32_t config_count;           ///< 0: all
    const TunedConfig *winners;      ///< of a tuning store
    uint32_t winner_count;
} VariantOptions;

/// A configuration of @autotune.
typedef struct UnitConfig {
    const char *name;        ///< a C word: "M64_N64_W4_S3"
    const char *text;        ///< "BLOCK_M=64 BLOCK_N=64 num_warps=4 num_stages=3"
    uint32_t max_registers;  ///< 0: not limited
    uint8_t copies;          ///< the CopyChoice that is the best allowed; 0: any
    bool is_flat;            ///< no blocks stay for several programs
    Span span;
} UnitConfig;

/// A value of @heuristics that the launcher computes and compares.
typedef struct UnitChoice {
    const char *name;  ///< the constexpr parameter
    IrFunc *value;     ///< as lower_launch_value makes it
    int64_t equals;
} UnitChoice;

/// The variants that share all constexprs: those of one configuration and of one combination of
/// heuristics' values.
typedef struct UnitForm {
    uint32_t config;                        ///< index into the unit's configs; 0 when it has none
    uint32_t first_variant, variant_count;  ///< most special first; the last relies on no facts
    const Variant *general;                 ///< relies on no facts; none of the variants where
                                            ///< --only-for keeps another one
    IrFunc *grid;                           ///< NULL: the caller gives the grid
    const UnitChoice *choices;
    uint32_t choice_count;
} UnitForm;

typedef struct KernelUnit {
    const Function *function;
    const char *c_name;          ///< exported C name
    Variant *variants;           ///< form by form
    const char **variant_names;  ///< "x:align16 y:align16", "EVEN=1", "generic"
    uint32_t variant_count;
    const UnitForm *forms;  ///< configuration by configuration
    uint32_t form_count;
    const UnitConfig *configs;  ///< the first is the default; none: not autotuned
    uint32_t config_count;
    /* by parameter of the function */
    bool *is_key;       ///< its value makes the shape class
    bool *is_zeroed;    ///< reset_to_zero
    bool *is_restored;  ///< restore_value
} KernelUnit;

typedef VEC(KernelUnit) KernelUnitVec;
typedef KernelUnitVec KernelUnits;

/// Fills `out`. False after reporting why a kernel cannot be compiled as asked.
bool lower_enumerate(Program *p, Module *m, const VariantOptions *opt, KernelUnits *out);

/// Marks the parameters (arguments of the body) that decide whether `need` neighbours in memory can
/// be touched at once: those in addresses that nothing else makes multiples, and in the bounds of
/// masks along the axis of the neighbours.
void lower_reach_addresses(IrFunc *fn, Arena *a, unsigned need, bool *params);

/// Marks the parameters that should be 1 where memory is touched: strides that do nothing else than
/// scale coordinates, of an access without neighbours otherwise. Of several the last in the list of
/// parameters: that of a tensor's last axis, as they are commonly passed.
void lower_reach_strides(IrFunc *fn, Arena *a, bool *ones);

/// Two strides of a factor of matrix products, arguments of the body: which is 1 where it is stored
/// by rows, and which where it is stored by columns.
typedef struct ReachTurn {
    uint32_t by_rows, by_columns;
} ReachTurn;

/// The strides of loads that matrix products take, of each pair one; gives how many pairs there
/// are, and the first `most` of them.
uint32_t lower_reach_turns(IrFunc *fn, Arena *a, ReachTurn *turns, uint32_t most);

/// Marks the pointer parameters that the kernel reads or writes through (arguments of the body).
void lower_reach_pointers(IrFunc *fn, Arena *a, bool *reads, bool *writes);

#endif
