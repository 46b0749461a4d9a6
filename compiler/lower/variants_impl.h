/// variants_impl.h - what the files that make units share.
///
/// A unit is built from Settings: what is bound so far. @autotune's configurations, then the values
/// of @heuristics, each fork a copy of them; a copy with everything bound becomes a form, and a
/// form the variants that differ in facts.
#ifndef NEWT_LOWER_VARIANTS_IMPL_H
#define NEWT_LOWER_VARIANTS_IMPL_H
#include "lower/lower_impl.h"
#include "lower/variants.h"

enum {
    UNIT_MAX_CONFIGS = 1024,
    UNIT_MAX_CHOICES = 8,  ///< heuristics of a kernel that depend on run-time arguments
    UNIT_MAX_FORMS = 4096
};

typedef struct Enumerate {
    Program *p;
    Module *m;
    const VariantOptions *opt;
    KernelUnits *out;
} Enumerate;

enum { LOWER_MOST_CTAS = 2 };  ///< blocks of a cluster

typedef struct Settings {
    int64_t num_warps, num_stages, num_ctas;
    uint32_t max_registers;  ///< 0: as many as the threads leave
    uint8_t copies;          ///< as UnitConfig has them
    bool is_flat;
    const char *name;
    ParamBinding *params;
    UnitChoice choices[UNIT_MAX_CHOICES];
    uint32_t choice_count;
} Settings;

/// A unit that grows.
typedef struct UnitBuild {
    KernelUnit unit;
    VEC(Variant) variants;
    VEC(const char *) names;
    VEC(UnitForm) forms;
    VEC(UnitConfig) configs;
    bool narrow, wide;  ///< of tensors: the next variant computes in 32 bits, in 64
} UnitBuild;

typedef VEC(const ConstConfig *) ConfigVec;

/* ---- variants.c ---- */
/// The parameter of that name, or UINT32_MAX.
uint32_t lower_param_index(const Function *f, const char *name, size_t len);
/// A copy whose bindings can be changed.
Settings lower_settings_copy(Enumerate *e, const Function *f, const Settings *s);
void lower_bind_setting(Settings *s, uint32_t at, ConstVal value);
/// num_warps, num_stages or num_ctas; false after reporting that `value` is no int from 1 to `hi`.
bool lower_want_count(Enumerate *e, ConstVal value, Span span, const char *what, int64_t hi,
                      int64_t *out);
/// `s` has everything bound: adds it as a form of the last configuration.
bool lower_add_form(Enumerate *e, UnitBuild *b, Settings *s);

/* ---- facts.c ---- */
/// Adds the variants of a form: the one that assumes facts, when there are any, and the generic
/// one, whose bindings are those of `s` without them.
bool lower_make_variants(Enumerate *e, UnitBuild *b, const Settings *s);

/* ---- only.c ---- */
/// With --only-for: of the variants from `first` on the one that such a call takes. False after
/// reporting that there is none.
bool lower_keep_fitting(Enumerate *e, UnitBuild *b, uint32_t first);

/* ---- classes.c ---- */
/// In how many size classes the blocks over whole axes of tensors come; 1 without any.
uint32_t lower_size_classes(const Function *f, const Settings *s);
/// Binds the blocks of class `index`, which its variants assume the sizes to fit.
void lower_apply_class(const Function *f, uint32_t index, Settings *s);

/* ---- configs.c ---- */
/// The configurations of the unit `name`: the command line's; of a tuning store the winners behind
/// the default; or those of @autotune.
bool lower_configs(Enumerate *e, const Function *f, const char *name, ConfigVec *out);
bool lower_apply_config(Enumerate *e, const Function *f, const ConstConfig *config, Settings *s);
/// Names `s`, which `config` was applied to. False: it equals an earlier one and is dropped.
bool lower_add_config(Enumerate *e, UnitBuild *b, const ConstConfig *config, const Settings *s);
/// What @autotune says about parameters: key, reset_to_zero, restore_value; and what makes the
/// shape class without it.
bool lower_tuned_params(Enumerate *e, const Function *f, KernelUnit *unit);

/* ---- heuristics.c ---- */
/// Adds a form for every combination of values that @heuristics can give; one without any.
bool lower_add_forms(Enumerate *e, UnitBuild *b, Settings *s);

#endif
